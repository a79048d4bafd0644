#!/usr/bin/env bash
# check_tree.sh ROOT: checks what no compiler checks: layers, layout, file length, unfinished marks, format.
# Prints every violation as "rule: place" and exits with 1 if there is one.
set -u # not -e: a grep that finds nothing is the good case
cd "${1:?usage: check_tree.sh ROOT}" || exit 2
kMaxLines=600
violations="$(mktemp)"
trap 'rm -f "$violations"' EXIT

# report RULE: each line of the input is one violation of it.
report() { sed "s|^|$1: |" >>"$violations"; }

# The project's files: tracked ones and new ones that are not ignored; all files where there is no
# checkout (an unpacked archive) or git refuses.
listFiles() {
    if [ "$(git rev-parse --show-prefix 2>/dev/null)" = "" ] &&
        git ls-files -co --exclude-standard 2>/dev/null | grep -q .; then
        git ls-files -co --exclude-standard | while IFS= read -r file; do
            if [ -e "$file" ]; then printf '%s\n' "$file"; fi
        done
    else
        find . \( -path './build*' -o -path ./out -o -path ./.git \) -prune -o -type f -print |
            sed 's|^\./||'
    fi
}
files="$(listFiles | sort)"
under() { grep -E "^($1)/" <<<"$files" | grep -E '\.(h|cpp|cu|cuh)$'; }
code="$(under 'app|engine|ui|tests')"

# search PATTERN < files: file:line:text of every match.
search() { xargs -r -d '\n' grep -nHE -e "$1"; }
# includes PATTERN < files: #include lines whose operand, with its < or ", begins like PATTERN.
includes() { search "^[[:space:]]*#[[:space:]]*include[[:space:]]*$1"; }

cut -d/ -f1 <<<"$files" | sort -u |
    grep -vE '^(app|engine|ui|resources|tests|CMakeLists\.txt|CMakePresets\.json|README\.md|LICENSE|dev|\..*)$' |
    report 'top level holds more than the agreed layout'

under engine | includes '(<Q|<Qt|"?<?qcustomplot)' | report 'Qt in the engine'
grep -E '^engine/.*CMakeLists\.txt$' <<<"$files" | search 'Qt[0-9]?::' | report 'Qt in the engine'
grep -E '^app/cli[^/]*\.(h|cpp)$' <<<"$files" | includes '(<Q|"ui/)' | report 'Qt in the command line'
under 'app|engine|ui|tests' | grep -v '^engine/cuda/' |
    includes '[<"](cuda|cublas|cudnn|nvrtc|nvToolsExt)' | report 'CUDA outside engine/cuda'
under engine | includes '"(ui|app|tests)/' | report 'include upwards'
under ui | includes '"(app|tests)/' | report 'include upwards'
under app | includes '"tests/' | report 'include upwards'
# Paths from the root, or the rules above could be walked round.
under 'app|engine|ui' | includes '"' | grep -vE 'include "(engine|ui|app)/|include "[a-z_]+\.moc"' |
    report 'include is no path from the root'
under 'engine|ui|app' | search 'case (Op|halfscope::Op)::' |
    report 'what is done for an op belongs into its row of a table'
under 'ui/models' |
    includes '(<Q(Widget|Application|GuiApplication|Painter|Pixmap|Icon|Color|Font|Image|Brush|Palette)|"ui/(look|panels|plots|images|dialogs|window)/)' |
    report 'a model that needs more than Qt Core'

# The rooms of a house in their order: each may include those before it; rooms with one number have
# nothing to do with each other. Declaring a class of a later room counts as including it.
engineRooms='core:1 io:2 scaler:3 graph:4 autocast:5 ops:6 passes:7 exec:8 cpu:9 cuda:9 devices:10 lang:11
    models:12 data:13 settings:14 step:15 runs:16 train:17 verify:18'
uiRooms='look:1 models:2 session:3 plots:4 images:4 dialogs:5 panels:6 window:7'

# rooms HOUSE ROOMS < files: what reaches into a room that comes later, or beside.
rooms() {
    xargs -r -d '\n' awk -v house="$1" -v list="$2" '
        BEGIN {
            count = split(list, pairs, " ")
            for (i = 1; i <= count; i++) { split(pairs[i], pair, ":"); rank[pair[1]] = pair[2] + 0 }
        }
        FNR == 1 { split(FILENAME, part, "/"); room = part[2] }
        # a folder that the order does not know
        FNR == 1 && part[3] != "" && !(room in rank) { print FILENAME ": the order has no " house "/" room }
        match($0, "^[[:space:]]*#[[:space:]]*include[[:space:]]*\"" house "/[a-z_]+/") {
            split(substr($0, RSTART, RLENGTH), bits, "/")
            other = bits[2]
            if (other != room && rank[other] >= rank[room])
                print FILENAME ":" FNR ": " house "/" room " includes " house "/" other
        }
        # definitions and declarations of classes, at the left edge
        match($0, /^(template <[^>]*> )?(class|struct) [A-Za-z_]+/) {
            split(substr($0, RSTART, RLENGTH), bits, " ")
            name = $0; sub(/^(template <[^>]*> )?(class|struct) /, "", name); sub(/[^A-Za-z_0-9].*/, "", name)
            if ($0 ~ /;[[:space:]]*(\/\/.*)?$/ && $0 !~ /\{/) {
                declared[FILENAME ":" FNR] = name; in_[FILENAME ":" FNR] = room
            } else if (!(name in home) || rank[room] < rank[home[name]]) home[name] = room
        }
        END {
            for (at in declared) {
                name = declared[at]; room = in_[at]
                if (name in home && home[name] != room && rank[home[name]] >= rank[room])
                    print at ": " house "/" room " declares " name " of " house "/" home[name]
            }
        }'
}
under engine | rooms engine "$engineRooms" | report 'against the order of the folders'
under ui | rooms ui "$uiRooms" | report 'against the order of the folders'

while IFS= read -r file; do
    if [ -z "$file" ]; then continue; fi
    lines="$(wc -l <"$file")"
    if [ "$lines" -gt "$kMaxLines" ]; then echo "$file ($lines lines, at most $kMaxLines)"; fi
done <<<"$code" | report 'too long'
while IFS= read -r file; do
    if [ -z "$file" ]; then continue; fi
    if [ "$(head -c 2 "$file")" != // ]; then echo "$file"; fi
done <<<"$code" | report 'does not begin with a comment that says what it holds'
grep -E '\.(h|cuh)$' <<<"$code" | xargs -r -d '\n' grep -LxF '#pragma once' | report 'no #pragma once'

# Written so that this file does not match itself.
marks='TO[D]O|FIX[M]E|XX[X]|not implemente[d]|unimplemente[d]'
grep -E '^(app|engine|ui|tests)/.*\.(h|cpp|cu|cuh|sh|txt)$|^(dev|CMakeLists\.txt)$' <<<"$files" |
    search "$marks" | report 'unfinished'
grep -vE '^(LICENSE|tests/golden/)|\.(png|jpe?g)$' <<<"$files" | search '/(home|Users)/[a-z]' |
    report 'a path of one machine'

grep -E '(^|/)README\.md$' <<<"$files" | while IFS= read -r readme; do
    grep -oE '\]\([^)#:]+\)' "$readme" | sed 's/^](//; s/)$//' | while IFS= read -r link; do
        if [ ! -e "$(dirname "$readme")/$link" ]; then echo "$readme: $link"; fi
    done
done | report 'a README links to a missing file'

# Only version 14: others break lines elsewhere.
for tool in clang-format-14 clang-format; do
    if "$tool" --version 2>/dev/null | grep -q 'version 14\.'; then
        xargs -r -d '\n' "$tool" --dry-run <<<"$code" 2>&1 |
            grep -oE '^[^ :]+:[0-9]+:[0-9]+: (warning|error)' | cut -d: -f1-2 | sort -u -t: -k1,1 |
            report 'not formatted (./dev format)'
        break
    fi
done

if [ -s "$violations" ]; then
    cat "$violations"
    exit 1
fi
echo "tree: $(wc -l <<<"$files") files, no violation"
