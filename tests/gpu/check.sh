#!/usr/bin/env bash
# Proves and times the CUDA engine on a machine with a GPU, in under eight minutes: gpu tests, a profile
# of the main steps, verify, benches, PyTorch beside them where python3 has it, compute-sanitizer.
# `./dev gpu-check` calls it in a build, `./check` in a bundle (see bundle.sh).
#   check.sh PROGRAMS [DIR]   PROGRAMS: folder of halfscope-cli, gpu-profile and tst_gpu_*
# What tells most comes first, every part has a time limit, and DIR has all that is known at any moment:
# check.log, table.txt, summary.json, profile.txt, profile.tsv, bench.json, verify.json, details.tar.gz
# (a log for each part; for what failed, the step's text, the compiler's log and the launch at fault).
# HALFSCOPE_CHECK_SECONDS: time for all of it.
# Exit codes: 0 all green, 1 something failed, 2 wrong usage, 3 no CUDA device can be used.
set -uo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
programs="${1:-}"
out="${2:-gpu-check}"
if [ ! -x "$programs/halfscope-cli" ]; then
    printf 'gpu-check: no halfscope-cli in "%s" (a build folder is wanted)\n' "$programs" >&2
    exit 2
fi
cli="$programs/halfscope-cli"
mkdir -p "$out" || exit 2
out="$(cd "$out" && pwd)"
details="$(mktemp -d)" # packed into DIR after each part
exec > >(tee "$out/check.log") 2>&1
log=$!
# The last lines are the most telling ones: they must be out before whoever waits sees the end.
finish() {
    pack
    rm -rf "$details"
    exec >&- 2>&-
    for _ in $(seq 50); do # a program that cannot be killed may hold the log open
        if ! kill -0 "$log" 2>/dev/null; then break; fi
        sleep 0.1
    done
}
trap finish EXIT
trap 'kill $(jobs -p) 2>/dev/null; exit 1' INT TERM
: >"$details/parts.tsv"
started="$SECONDS"
limit="${HALFSCOPE_CHECK_SECONDS:-460}"

# ms of one step: row, lane, first target, later target
targets() {
    cat <<TABLE
checkerboard-512-w256 amp-fp16 0.90 0.50
checkerboard-512-w256 amp-bf16 0.90 0.50
checkerboard-512-w256 tf32 2.0 1.1
checkerboard-512-w256 fp32 5.5 4.2
checkerboard-256-w256 amp-fp16 0.25 0.25
checkerboard-128-w256 amp-fp16 0.10 0.10
checkerboard-64-w256 amp-fp16 0.06 0.06
mlp-784-256-10 amp-fp16 0.030 0.016
mlp-10-20-1 amp-fp16 0.020 0.010
TABLE
}

# ---- parts -------------------------------------------------------------------------------------

packs=1 # 0: the parts run beside others, and are packed after them
pack() {
    if [ "$packs" = 0 ]; then return 0; fi
    if [ -f "$details/profile.txt" ]; then cp "$details/profile".{txt,tsv} "$out/" 2>/dev/null; fi
    tar -C "$details" -czf "$out/details.tar.gz.new" . 2>/dev/null &&
        mv "$out/details.tar.gz.new" "$out/details.tar.gz"
}
left() { printf '%s' "$((limit - (SECONDS - started)))"; }
told() { # NAME RESULT SECONDS
    printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$details/parts.tsv"
    printf '%-44s %s, %s s\n' "$1" "$2" "$3"
    pack
}
skipped() {
    printf '%s\tskipped: %s\t0\n' "$1" "$2" >>"$details/parts.tsv"
    printf '%-44s skipped: %s\n' "$1" "$2"
}
# The words of a failure: a test's first one with the values that it tells in the lines below, or
# the first line that speaks of an error.
reasonIn() {
    awk '/FAIL!|^QFATAL/ && !found { found = 1; text = $0; next }
        found == 1 && /^   (Actual|Expected)|^%/ && ++more <= 2 { text = text " |" $0; next }
        found == 1 { found = 2 }
        /what\(\)/ && !what { what = $0 }
        !any && /failed|error|Error|not supported|WRONG/ { any = $0 }
        END { print (text != "" ? text : any) (what != "" ? " |" what : "") }' "$1" 2>/dev/null |
        tr -s ' \t' '  ' | tr -d '"\\' | cut -c 1-"${2:-320}"
}
# part NAME LIMIT COMMAND...: its output to NAME.log, one line to parts.tsv
part() {
    local name="$1" most="$2" begun="$SECONDS" code result
    shift 2
    if [ "$(left)" -lt 5 ]; then
        skipped "$name" "no time is left"
        return 1
    fi
    if [ "$most" -gt "$(left)" ]; then most="$(left)"; fi
    timeout -k 5 "$most" "$@" >"$details/$name.log" 2>&1 </dev/null
    code=$?
    case "$code" in
        0) result=passed ;;
        124 | 137) result="timed out after $most s" ;;
        *) result="failed ($code)" ;;
    esac
    if [ "$code" != 0 ]; then
        local reason count
        reason="$(reasonIn "$details/$name.log")"
        count="$(grep -ac '^FAIL!' "$details/$name.log")"
        if [ "$count" -gt 1 ]; then reason="$count rows, the first: $reason"; fi
        result="$result${reason:+: $reason}"
    fi
    told "$name" "$result" "$((SECONDS - begun))"
    return "$code"
}
# debugged NAME LIMIT COMMAND...: once more, slowly, leaving the step's text and the launch at fault
debugged() {
    local name="$1" most="$2" launch reason
    shift 2
    if [ "$(left)" -lt 10 ]; then return 0; fi
    if [ "$most" -gt "$(left)" ]; then most="$(left)"; fi
    mkdir -p "$details/$name"
    HALFSCOPE_CUDA_DEBUG="$details/$name" timeout -k 5 "$most" "$@" >"$details/$name/log" 2>&1 </dev/null
    local code=$?
    if [ "$code" = 0 ]; then
        printf '    %s: passes launch by launch\n' "$name"
        return 0
    fi
    printf '    %s: %s\n' "$name" "$(reasonIn "$details/$name/log")"
    launch="$(grep -a '^launch' "$details/$name/launch.txt" 2>/dev/null | head -n 1)"
    if [ -n "$launch" ]; then printf '        at %s\n' "$launch"; fi
    # why a library is done without
    for reason in "$details/$name"/no_*.txt; do
        if [ -f "$reason" ]; then printf '        %s\n' "$(head -c 200 "$reason")"; fi
    done
    if [ -f "$details/$name/failed.log" ]; then
        printf '        %s\n' "$(grep -a error "$details/$name/failed.log" | head -n 1 | cut -c 1-200)"
    fi
}
# The rows of a test program that did not pass, one process each: a fault takes the whole context.
dissect() {
    local name="$1" test="$2" spent="$SECONDS" row function tag id passes
    if [ ! -f "$details/$name.log" ]; then return 0; fi # there was no time for it
    passes="$(grep -a '^PASS' "$details/$name.log")"
    "$test" -datatags 2>/dev/null | while read -r _ function tag; do
        id="$function${tag:+($tag)}"
        if grep -qF "::$function(${tag:-})" <<<"$passes"; then continue; fi
        if [ "$((SECONDS - spent))" -gt 75 ] || [ "$(left)" -lt 10 ]; then
            printf '    further rows: no time for them\n'
            break
        fi
        row="$function${tag:+:$tag}"
        debugged "$name-$(printf '%s' "$id" | tr -c 'A-Za-z0-9\n' '-')" 25 "$test" "$row"
    done
}

# ---- the device --------------------------------------------------------------------------------

timeout 60 "$cli" devices >"$details/devices.log" 2>&1
cat "$details/devices.log"
if ! grep -q '^cuda:0' "$details/devices.log"; then
    printf 'What is there:\n'
    {
        nvidia-smi -L
        ls -d /dev/nvidia* /usr/local/cuda* /usr/local/nvidia*
        ldconfig -p | grep -E 'libcuda\.so|libnvrtc\.so|libcublasLt\.so|libcudnn\.so'
        printf 'LD_LIBRARY_PATH=%s\n' "${LD_LIBRARY_PATH:-}"
        if [ -f "$programs/libhalfscope_cuda.so" ]; then ldd "$programs/libhalfscope_cuda.so" | grep -i 'not found'; fi
    } 2>&1 | cut -c 1-1000 | tee "$details/nothing.log"
    printf 'gpu-check: nothing can be checked without a CUDA device (the first lines say why)\n' >&2
    exit 3
fi
timeout 20 nvidia-smi -q -d CLOCK,MEMORY,PERFORMANCE >"$details/nvidia-smi.log" 2>&1

# ---- the smallest step, then where the time goes -----------------------------------------------

tests=("$programs"/tst_gpu_*)
healthy=1 # 0: the tests, which say what is wrong, come before the profile of large steps
if [ -x "$programs/tst_gpu_steps" ]; then
    part first-step 60 "$programs/tst_gpu_steps" smallStep || {
        healthy=0
        debugged first-step-debugged 60 "$programs/tst_gpu_steps" smallStep
    }
fi
debugs=1 # one row is run again slowly: what is wrong in many is told by the tests
profile() { # ROW LANE LIMIT
    if part "profile-$1-$2" "$3" "$programs/gpu-profile" "$details" "$1" "$2"; then return 0; fi
    if [ "$debugs" = 1 ]; then
        debugs=0
        debugged "profile-$1-$2-debugged" 60 "$programs/gpu-profile" "$details/profile-$1-$2-debugged" "$1" "$2"
    fi
    return 1
}
profileLarge() {
    if [ ! -x "$programs/gpu-profile" ]; then return 0; fi
    part ceilings 40 "$programs/gpu-profile" "$details" ceilings
    profile checkerboard-512-w256 amp-fp16 75
    profile checkerboard-512-w256 tf32 75
    profile checkerboard-512-w256 fp32 75
    profile checkerboard-64-w256 amp-fp16 45
}
if [ -x "$programs/gpu-profile" ]; then profile mlp-10-20-1 amp-fp16 30 || healthy=0; fi
if [ "$healthy" = 1 ]; then profileLarge; fi

# ---- tests -------------------------------------------------------------------------------------

# to a file of its own: the report's notes go to standard error
verify() { "$cli" verify --device cuda --json >"$out/verify.json"; }
export -f verify
export cli out
# A test program's rows, dealt out to as many processes as make the longest one short: most of a row is
# compiling, by one thread. Rows of the same name stay together, since they compile the same texts.
deal() { # TEST: writes $details/TEST.rows.N
    timeout 20 "$1" -datatags 2>/dev/null </dev/null | awk -v to="$details/$(basename "$1").rows" '
        { tag = substr($0, length($1) + length($2) + 3); row[NR] = $2 (tag != "" ? ":" tag : "")
          key = tag != "" ? tag : $2; if (!(key in order)) order[key] = keys++; dealt[NR] = order[key] }
        END { parts = int(NR / 25); if (parts > 4) parts = 4
            for (i = 1; parts > 1 && i <= NR; ++i) print row[i] >(to "." dealt[i] % parts) }'
}
testPart() { # TEST [ROWS-FILE]
    local name rows=()
    name="$(basename "$1")"
    if [ -n "${2:-}" ]; then
        mapfile -t rows <"$2"
        name="$name-${2##*.}"
    fi
    part "$name" 200 "$1" "${rows[@]}"
}
# All of a program's processes passed.
passed() {
    awk -F'\t' -v name="$1" '{ n = $1; sub(/-[0-9]$/, "", n) } n == name { if ($2 == "passed") ++good; else ++bad }
        END { exit !(good && !bad) }' "$details/parts.tsv"
}
# at the same time: nothing is timed
packs=0
for test in "${tests[@]}"; do
    if [ ! -x "$test" ]; then continue; fi
    deal "$test"
    if [ -f "$details/$(basename "$test").rows.0" ]; then
        for rows in "$details/$(basename "$test")".rows.?; do testPart "$test" "$rows" & done
    else
        testPart "$test" &
    fi
done
part verify 200 bash -c verify &
for job in $(jobs -p); do
    if [ "$job" != "$log" ]; then wait "$job"; fi
done
packs=1
pack
for test in "${tests[@]}"; do
    name="$(basename "$test")"
    if [ ! -x "$test" ] || passed "$name"; then continue; fi
    if [ -f "$details/$name.rows.0" ]; then cat "$details/$name"-[0-9].log >"$details/$name.log" 2>/dev/null; fi
    dissect "$name" "$test"
done
passed verify || debugged verify-debugged 40 bash -c verify
if [ "$healthy" = 0 ]; then profileLarge; fi

# ---- speed -------------------------------------------------------------------------------------

# A row at a time, those with targets first: what a time limit cuts off is the least.
benchRow() { "$cli" bench --device cuda --only "$1" --json >"$details/bench-$1.json"; }
export -f benchRow
export details
bench() { part "bench-$1" "$2" bash -c 'benchRow "$@"' bash "$1"; }
bench mlp 40
bench checkerboard-512 90
bench checkerboard-64 50

# "row lane ms" of our JSON: one key a line, as the program writes it
oursTsv() {
    awk -F'"' '/"row":/ { row = $4 } /"lane":/ { lane = $4 }
        /"ms_per_step":/ { split($3, v, /[ :,]+/); print row "\t" lane "\t" v[2] }' "$details"/bench-*.json 2>/dev/null
}
# the fastest of PyTorch's ways for each row and lane
theirsTsv() {
    if [ ! -f "$details/pytorch.tsv" ]; then return 0; fi
    awk -F'\t' '{ k = $1 "\t" $2; if (!(k in best) || $4 < best[k]) { best[k] = $4; how[k] = $3 } }
        END { for (k in best) print k "\t" best[k] "\t" how[k] }' "$details/pytorch.tsv"
}

table() {
    printf '\n%-22s %-9s %9s %9s %7s %8s %s\n' row lane ours/ms PyTorch ratio target ""
    awk -F'\t' -v theirs="$details/theirs.tsv" -v targets="$details/targets.txt" '
        BEGIN {
            while ((getline line < theirs) > 0) { split(line, p, "\t"); torch[p[1] "\t" p[2]] = p[3] }
            while ((getline line < targets) > 0) { split(line, p, " "); want[p[1] "\t" p[2]] = p[3]; later[p[1] "\t" p[2]] = p[4] }
        }
        {
            k = $1 "\t" $2
            met = !(k in want) ? "" : ($3 <= later[k] ? "met, and the later one" : ($3 <= want[k] ? "met" : "missed"))
            printf "%-22s %-9s %9.4f %9s %7s %8s %s\n", $1, $2, $3,
                (k in torch) ? sprintf("%.4f", torch[k]) : "-",
                (k in torch) ? sprintf("%.2f x", torch[k] / $3) : "-", (k in want) ? want[k] : "-", met
        }' "$details/ours.tsv"
}

# The same as JSON. Names and results hold no quotes.
summary() {
    local first=1 name result seconds
    printf '{"date": "%s", "device": "%s",\n "parts": [' "$(date -u +%Y-%m-%d)" \
        "$(sed -n 's/^cuda:0 *//p' "$details/devices.log" | head -n 1 | tr -d '"\\')"
    while IFS=$'\t' read -r name result seconds; do
        if [ "$first" = 0 ]; then printf ','; fi
        first=0
        printf '\n  {"name": "%s", "result": "%s", "seconds": %s}' "$name" "$result" "$seconds"
    done <"$details/parts.tsv"
    printf '],\n "steps": ['
    awk -F'\t' -v theirs="$details/theirs.tsv" '
        BEGIN { while ((getline line < theirs) > 0) { split(line, p, "\t"); torch[p[1] "\t" p[2]] = p[3]; how[p[1] "\t" p[2]] = p[4] } }
        { k = $1 "\t" $2
          printf "%s\n  {\"row\": \"%s\", \"lane\": \"%s\", \"ms\": %s", (NR > 1 ? "," : ""), $1, $2, $3
          if (k in torch) printf ", \"pytorch_ms\": %s, \"pytorch\": \"%s\"", torch[k], how[k]
          printf "}" }' "$details/ours.tsv"
    printf ']}\n'
}
# What is known so far.
report() {
    local file first=1
    {
        printf '['
        for file in "$details"/bench-*.json; do
            if [ ! -s "$file" ]; then continue; fi
            if [ "$first" = 0 ]; then printf ','; fi
            first=0
            cat "$file"
        done
        printf ']\n'
    } >"$out/bench.json"
    oursTsv >"$details/ours.tsv"
    theirsTsv >"$details/theirs.tsv"
    targets >"$details/targets.txt"
    if [ -s "$details/ours.tsv" ]; then table >"$out/table.txt"; fi
    summary >"$out/summary.json"
}
report

# PyTorch brings its own libraries: a bundle's are not for it.
plainPython() { LD_LIBRARY_PATH="${HALFSCOPE_PLAIN_LIBRARY_PATH-${LD_LIBRARY_PATH:-}}" python3 "$@"; }
export -f plainPython
if command -v python3 >/dev/null &&
    timeout 60 bash -c 'plainPython -c "import torch; assert torch.cuda.is_available()"' 2>/dev/null </dev/null; then
    part pytorch 120 bash -c 'plainPython "$@"' python "$here/torch_step.py" "$details/pytorch.tsv"
else
    skipped pytorch "python3 has no torch with CUDA"
fi
report

# ---- what is slow or tells less ----------------------------------------------------------------

sanitizer="$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | tail -n 1)"
refuses() { # some virtual machines have no debugging interface
    timeout 30 "$sanitizer" "$programs/tst_gpu_device" absentIndexIsRefused >"$details/sanitizer.log" 2>&1 </dev/null
    grep -aqi 'not supported' "$details/sanitizer.log"
}
if [ -z "$sanitizer" ]; then
    skipped sanitizer "compute-sanitizer is not installed"
elif refuses; then
    skipped sanitizer "compute-sanitizer does not support this device"
else
    for tool in memcheck racecheck initcheck synccheck; do
        part "sanitizer-$tool" 40 "$sanitizer" --tool "$tool" --error-exitcode 9 \
            "$programs/tst_gpu_steps" smallStep
    done
fi
for row in checkerboard-128 checkerboard-256 checkerboard-96; do
    if [ "$(left)" -gt 30 ]; then bench "$row" 60; fi
done
if [ -x "$programs/gpu-profile" ]; then
    for row in checkerboard-256-w256 checkerboard-128-w256 mlp-784-256-10; do
        if [ "$(left)" -gt 30 ]; then profile "$row" amp-fp16 40; fi
    done
fi

report
if [ -f "$out/table.txt" ]; then cat "$out/table.txt"; fi
notPassed="$(printf '\t')(failed|timed out|skipped: no time)"
if grep -qE "$notPassed" "$details/parts.tsv"; then
    printf '\nWhat failed or was left out:\n'
    grep -E "$notPassed" "$details/parts.tsv" | head -n 16 | awk -F'\t' '{ printf "  %s %s\n", $1, substr($2, 1, 240) }'
fi
failed=0
if grep -qE "$notPassed" "$details/parts.tsv"; then failed=1; fi
printf '\n%s in %s s; everything is in %s\n' \
    "$([ "$failed" = 0 ] && echo 'All green' || echo 'Something failed or was left out')" "$((SECONDS - started))" "$out"
exit "$failed"
