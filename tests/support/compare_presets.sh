#!/usr/bin/env bash
# Compares two builds of halfscope-cli: trains every preset, as the OLD program writes it, with both,
# and says in which presets a number of steps.csv differs. The columns of $added, which OLD may lack,
# are left out; a column beside them that only NEW writes is a difference. Exit: 0 all the same, 1
# some differ or fail.
#   tests/support/compare_presets.sh OLD NEW [STEPS]        STEPS: of each preset, 300 by default
#   PRESETS="overflow recipe-clip" tests/support/compare_presets.sh ...     these alone
set -uo pipefail
added="epoch batch" # columns that came after the first programs to compare with
if [ $# -lt 2 ] || [ $# -gt 3 ]; then sed -n '2,7s/^# \?//p' "$0" >&2; exit 2; fi
old=$1 new=$2 steps=${3:-300}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
presets=${PRESETS:-$("$old" presets | grep -oE '^ *[a-z0-9]+(-[a-z0-9]+)*  ' | tr -d ' ')}
[ -n "$presets" ] || { echo "$old lists no presets" >&2; exit 1; }

# The columns of FILE, but for those of $added that the header of OLD lacks.
headerOf() { # HEADER FILE
    head -1 "$2" | tr , '\n' | while read -r name; do
        [[ " $added " == *" $name "* && ",$1," != *",$name,"* ]] || echo "$name"
    done | paste -sd,
}
# The columns of FILE that the header of OLD has, in its order.
columnsOf() { # HEADER FILE
    awk -F, -v wanted="$1" '
        NR == 1 { n = split(wanted, names, ","); for (i = 1; i <= NF; ++i) at[$i] = i }
        { for (i = 1; i <= n; ++i) printf "%s%s", (names[i] in at) ? $(at[names[i]]) : "absent", i < n ? "," : "\n" }' "$2"
}

failed=0 count=0
for preset in $presets; do
    count=$((count + 1))
    a=$folder/$preset-old b=$folder/$preset-new
    # The device is part of the bits: the CPU is everywhere, and would take an hour for 512 pixels.
    smaller=()
    [ "$preset" = checkerboard-seed ] && smaller=(--set task.side=96)
    if ! "$old" run --preset "$preset" --steps "$steps" --device cpu --quiet --out "$a" "${smaller[@]}" ||
       ! "$new" run "$a/experiment.json" --quiet --out "$b"; then
        echo "$preset: a run failed"; failed=$((failed + 1)); continue
    fi
    header=$(head -1 "$a/steps.csv")
    if [ "$(headerOf "$header" "$b/steps.csv")" != "$header" ]; then
        echo "$preset: other columns: $(head -1 "$b/steps.csv")"; failed=$((failed + 1))
    elif difference=$(diff <(columnsOf "$header" "$b/steps.csv") "$a/steps.csv"); then
        echo "$preset: same, $(($(wc -l <"$a/steps.csv") - 1)) rows"
    else
        echo "$preset: differs"; head -5 <<<"$difference"; failed=$((failed + 1))
    fi
    rm -rf "$a" "$b"
done
echo "$((count - failed)) of $count presets have the same numbers"
[ "$failed" = 0 ]
