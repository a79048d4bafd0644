#!/usr/bin/env bash
# Proves and times the CUDA engine on a machine with a GPU, in parts that take under eight minutes each
# and are useful alone; what tells most comes first.
#   correct   tests by row in parallel processes, verify, compute-sanitizer on chains of many tiles
#   speed     profiles of the main steps, ncu on the longest launches, benches with PyTorch beside them
#   record    500 steps twice, benches of every row, PyTorch: results.md, the table for the README; what
#             the window costs, where it is built
# `./dev gpu-check` calls it in a build, `./check` in a bundle (see bundle.sh).
#   check.sh PROGRAMS [PART] [DIR]   PROGRAMS: folder of halfscope-cli, gpu-profile and tst_gpu_*
# Without PART all three, one after the other. The last 60 lines of a part's output have the result of
# each of its checks and the reason of each failure, also when it is ended by a signal. DIR has all that
# is known at any moment: PART.log, PART.json, PART-details.tar.gz (a log for each check; for what
# failed, the step's text and code, the compiler's log and the launch at fault); verify.json; profile.txt,
# profile.tsv, bench.json, table.txt; results.md.
# HALFSCOPE_CHECK_SECONDS: time for a part. HALFSCOPE_CHECK_JOBS: processes at once.
# Exit codes: 0 all green, 1 something failed, 2 wrong usage, 3 no CUDA device can be used.
set -uo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
programs="${1:-}"
case "${2:-}" in
    correct | speed | record) part="$2" out="${3:-gpu-check}" ;;
    "" | all) part=all out="${3:-gpu-check}" ;;
    *)
        if [ "$#" -gt 2 ]; then
            printf 'gpu-check: unknown part "%s" (correct, speed or record)\n' "$2" >&2
            exit 2
        fi
        part=all out="$2" ;;
esac
if [ ! -x "$programs/halfscope-cli" ]; then
    printf 'gpu-check: no halfscope-cli in "%s" (a build folder is wanted)\n' "$programs" >&2
    exit 2
fi
mkdir -p "$out" || exit 2
out="$(cd "$out" && pwd)"
if [ "$part" = all ]; then
    worst=0
    for each in correct speed record; do
        "${BASH_SOURCE[0]}" "$programs" "$each" "$out"
        code=$?
        if [ "$code" -gt "$worst" ]; then worst="$code"; fi
        if [ "$code" = 3 ]; then break; fi
    done
    exit "$worst"
fi
cli="$programs/halfscope-cli"
details="$(mktemp -d)" # packed into DIR after each check
exec > >(tee "$out/$part.log") 2>&1
log=$!
exec 3>&1
concluded=0
# The last lines are the most telling ones: they must be out before whoever waits sees the end.
finish() {
    pack
    rm -rf "$details"
    exec >&- 2>&- 3>&-
    for _ in $(seq 50); do # a program that cannot be killed may hold the log open
        if ! kill -0 "$log" 2>/dev/null; then break; fi
        sleep 0.1
    done
}
trap finish EXIT
ended() {
    trap '' INT TERM
    exec >&3 2>&3 # it may come while a check's output goes to a file
    # shellcheck disable=SC2046
    kill $(jobs -p | grep -vx "$log") 2>/dev/null
    for _ in $(seq 40); do # they tell what they have
        if [ -z "$(jobs -rp | grep -vx "$log")" ]; then break; fi
        sleep 0.1
    done
    if [ -n "$running" ]; then told "$running" "ended by a signal$(lastWords "$running")" 0; fi
    told "the rest" "not run: ended by a signal" 0
    conclude
    exit 1
}
trap ended INT TERM
: >"$details/checks.tsv"
running=""
started="$SECONDS"
limit="${HALFSCOPE_CHECK_SECONDS:-460}"
workers="${HALFSCOPE_CHECK_JOBS:-$(nproc 2>/dev/null || echo 4)}"
if [ "$workers" -gt 12 ]; then workers=12; fi # each has the step's memory on the device
# Where compiled steps are kept: without a folder for them each row would compile its own three times.
if [ -z "${XDG_CACHE_HOME:-}${HOME:-}" ]; then export XDG_CACHE_HOME="${TMPDIR:-/tmp}/gpu-check-cache-$UID"; fi

# ms of one step: row, lane, first target, later target
targets() {
    cat <<TABLE
checkerboard-512-w256 amp-fp16 0.90 0.50
checkerboard-512-w256 amp-bf16 0.90 0.50
checkerboard-512-w256 tf32 2.0 1.1
checkerboard-512-w256 fp32 5.5 4.2
checkerboard-256-w256 amp-fp16 0.25 0.15
checkerboard-128-w256 amp-fp16 0.10 0.06
checkerboard-64-w256 amp-fp16 0.06 0.03
mlp-784-256-10 amp-fp16 0.030 0.016
mlp-10-20-1 amp-fp16 0.020 0.010
TABLE
}

# ---- checks ------------------------------------------------------------------------------------

packs=1 # 0: checks run beside others, and are packed after them
pack() {
    if [ "$packs" = 0 ]; then return 0; fi
    if [ -f "$details/profile.txt" ]; then cp "$details/profile".{txt,tsv} "$out/" 2>/dev/null; fi
    tar -C "$details" -czf "$out/$part-details.tar.gz.new" . 2>/dev/null &&
        mv "$out/$part-details.tar.gz.new" "$out/$part-details.tar.gz"
}
left() { printf '%s' "$((limit - (SECONDS - started)))"; }
told() { # NAME RESULT SECONDS
    printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$details/checks.tsv"
    printf '%-44s %s, %s s\n' "$1" "$2" "$3"
    pack
}
skipped() {
    printf '%s\tskipped: %s\t0\n' "$1" "$2" >>"$details/checks.tsv"
    printf '%-44s skipped: %s\n' "$1" "$2"
}
# What a check that was ended said last.
lastWords() {
    local words
    words="$(grep -a '[a-zA-Z]' "$details/$1.log" 2>/dev/null | tail -n 1 | tr -s ' \t' '  ' | tr -d '"\\' | sed 's/^ //' | cut -c 1-200)"
    printf '%s' "${words:+; its last words: $words}"
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
# limited SECONDS COMMAND...: so that a signal is answered while it runs
limited() {
    local most="$1"
    shift
    timeout -k 5 "$most" "$@" </dev/null &
    wait $!
}
# check NAME LIMIT COMMAND...: its output to NAME.log, one line to checks.tsv
check() {
    local name="$1" most="$2" begun="$SECONDS" code result
    shift 2
    if [ "$(left)" -lt 5 ]; then
        skipped "$name" "no time is left"
        return 1
    fi
    if [ "$most" -gt "$(left)" ]; then most="$(left)"; fi
    running="$name"
    limited "$most" "$@" >"$details/$name.log" 2>&1
    code=$?
    running=""
    case "$code" in
        0) result=passed ;;
        124 | 137) result="timed out after $most s$(lastWords "$name")" ;;
        *)
            local reason
            reason="$(reasonIn "$details/$name.log")"
            result="failed ($code)${reason:+: $reason}"
            ;;
    esac
    told "$name" "$result" "$((SECONDS - begun))"
    return "$code"
}
# debugged NAME LIMIT COMMAND...: once more, slowly, leaving the step's text and the launch at fault
debugged() {
    local name="$1" most="$2" launch
    shift 2
    if [ "$(left)" -lt 10 ]; then return 0; fi
    if [ "$most" -gt "$(left)" ]; then most="$(left)"; fi
    mkdir -p "$details/$name"
    HALFSCOPE_CUDA_DEBUG="$details/$name" limited "$most" "$@" >"$details/$name/log" 2>&1
    local code=$?
    mkdir "$details/with-code" 2>/dev/null || rm -f "$details/$name"/code-* # megabytes each: of the first alone
    if [ "$code" = 0 ]; then
        printf '    %s: passes launch by launch\n' "$name"
        return 0
    fi
    printf '    %s: %s\n' "$name" "$(reasonIn "$details/$name/log")"
    launch="$(grep -a '^launch' "$details/$name/launch.txt" 2>/dev/null | head -n 1)"
    if [ -n "$launch" ]; then printf '        at %s\n' "$launch"; fi
    # why a library is done without
    if [ -f "$details/$name/no_algorithm.txt" ]; then printf '        %s\n' "$(head -c 200 "$details/$name/no_algorithm.txt")"; fi
    if [ -f "$details/$name/failed.log" ]; then
        printf '        %s\n' "$(grep -a error "$details/$name/failed.log" | head -n 1 | cut -c 1-200)"
    fi
}
# At most so many jobs at once.
queue() {
    while [ "$(jobs -rp | grep -vcx "$log")" -ge "$workers" ]; do sleep 0.05; done
    (
        trap 'kill $(jobs -p) 2>/dev/null; exit 143' TERM
        "$@"
    ) &
}
waitForAll() {
    local job
    for job in $(jobs -p); do
        if [ "$job" != "$log" ]; then wait "$job"; fi
    done
}

# ---- the device --------------------------------------------------------------------------------

findDevice() {
    timeout 60 "$cli" devices >"$details/devices.log" 2>&1 </dev/null
    printf '== %s\n' "$part"
    cat "$details/devices.log"
    if ! grep -q '^cuda:0' "$details/devices.log"; then
        printf 'What is there:\n'
        {
            if command -v nvidia-smi >/dev/null; then nvidia-smi -L; else printf 'no nvidia-smi\n'; fi
            ls -d /dev/nvidia* /usr/local/cuda* /usr/local/nvidia*
            ldconfig -p | grep -E 'libcuda\.so|libnvrtc\.so|libcublasLt\.so|libcudnn\.so'
            printf 'LD_LIBRARY_PATH=%s\n' "${LD_LIBRARY_PATH:-}"
            if [ -f "$programs/libhalfscope_cuda.so" ]; then ldd "$programs/libhalfscope_cuda.so" | grep -i 'not found'; fi
        } 2>&1 | cut -c 1-1000 | tee "$details/nothing.log"
        printf 'gpu-check: nothing can be checked without a CUDA device (the first lines say why)\n' >&2
        exit 3
    fi
    timeout 20 nvidia-smi -q -d CLOCK,MEMORY,PERFORMANCE >"$details/nvidia-smi.log" 2>&1 </dev/null
    if grep -q Exclusive <<<"$(timeout 20 nvidia-smi --query-gpu=compute_mode --format=csv,noheader 2>/dev/null </dev/null)"; then
        workers=1
        printf 'The device takes one process at a time (compute mode exclusive): less of it fits into the time.\n'
    fi
}

# ---- correct -----------------------------------------------------------------------------------

# The rows of a test program: "function" or "function:tag", those with data by row.
rowsOf() {
    timeout 20 "$1" -datatags 2>/dev/null </dev/null |
        awk '{ tag = substr($0, length($1) + length($2) + 3); print $2 (tag != "" ? ":" tag : "") }'
}
# A program's rows, dealt out so that the longest process is short: most of a row is compiling, by one
# thread. Rows of one name stay together, since they compile the same texts.
deal() { # TEST: writes $details/NAME.rows.N
    rowsOf "$1" | awk -v to="$details/$(basename "$1").rows" -v most="$workers" '
        { tag = $0; sub(/^[^:]*:/, "", tag); row[NR] = $0
          if (!(tag in order)) order[tag] = keys++; dealt[NR] = order[tag] }
        END { parts = keys < most ? keys : most
            for (i = 1; i <= NR; ++i) print row[i] >(to "." dealt[i] % parts) }'
}
runRows() { # TEST ROWS-FILE: output to NAME.log.N
    local rows=() number="${2##*.}" name
    name="$(basename "$1")"
    mapfile -t rows <"$2"
    local most
    most="$(left)"
    if [ "$most" -lt 5 ]; then return 0; fi
    limited "$((most < 240 ? most : 240))" "$1" "${rows[@]}" >"$details/$name.log.$number" 2>&1
    case $? in
        124 | 137) printf 'timed out\n' >>"$details/$name.log.$number" ;;
    esac
}
# "passed", "skipped" or "failed" and the row, for each row of a program.
results() { # LOG ROWS-FILE
    awk 'FILENAME == ARGV[1] {
            if (/^PASS/) { sub(/^PASS *: ([A-Za-z0-9_]+::)+/, ""); passed[$0] = 1 }
            if (/^SKIP/) { sub(/^SKIP *: ([A-Za-z0-9_]+::)+/, ""); skip[++skips] = $0; all = all || /^initTestCase\(\)/ }
            next
        }
        {
            colon = index($0, ":")
            name = colon ? substr($0, 1, colon - 1) "(" substr($0, colon + 1) ")" : $0 "()"
            result = name in passed ? "passed" : all ? "skipped" : "failed"
            for (i = 1; i <= skips && result == "failed"; ++i) if (index(skip[i], name) == 1) result = "skipped"
            print result "\t" $0
        }' "$1" "$2"
}
# A row that did not pass, again in a process of its own: a fault takes the context, and all rows that
# come after it in that process.
again() { # TEST ROW
    local name id said=""
    name="$(basename "$1")"
    id="$name-$(printf '%s' "$2" | tr -c 'A-Za-z0-9\n' '-')"
    firstWords "$details/$name.log" "$2" >"$details/$id.first"
    said="$(reasonIn "$details/$id.first" 160)"
    if [ "$3" = alone ] && [ "$(left)" -ge 15 ]; then
        debugged "$id" 60 "$1" "$2" >"$details/$id.said" 2>&1
        cat "$details/$id.said"
        said="${said:-it did not come to its end} | alone: $(head -n 1 "$details/$id.said" | sed 's/^ *[^:]*: //' | cut -c 1-160)"
    fi
    printf '%s\t%s\n' "$2" "${said:-it did not come to its end}" >>"$details/$name.failures"
}
# What a row said when it failed, with the values in the lines below.
firstWords() { # LOG ROW
    local name="${2%%:*}" tag=""
    if [ "$2" != "$name" ]; then tag="${2#*:}"; fi
    grep -aF -A 2 "::$name($tag) " "$1" 2>/dev/null | awk '/^FAIL!/ { on = 1 } /^(PASS|SKIP|QINFO)/ { on = 0 } on'
}
sumUp() { # TEST SECONDS: one line for all rows, from NAME.rows, NAME.log and NAME.failures
    local name all passes skips failures result
    name="$(basename "$1")"
    all="$(wc -l <"$details/$name.rows")"
    passes="$(grep -c '^passed' "$details/$name.results")"
    skips="$(grep -c '^skipped' "$details/$name.results")"
    failures=$((all - passes - skips))
    result=passed
    if [ "$failures" -gt 0 ]; then
        result="failed: $failures of $all rows"
    elif [ "$skips" -gt 0 ] && [ "$skips" = "$all" ]; then
        result="failed: all rows were skipped$(grep -ahm 1 -A 0 '^SKIP' "$details/$name.log" | head -n 1 | cut -c 1-160 | sed 's/^/: /')"
    fi
    told "$name ($all rows)" "$result" "$2"
}
runTests() {
    local test name rows row result begun="$SECONDS" tests=()
    for name in tst_gpu_ways tst_gpu_chains tst_gpu_steps tst_gpu_ops; do # the most telling first
        if [ -x "$programs/$name" ]; then tests+=("$programs/$name"); fi
    done
    for test in "$programs"/tst_gpu_*; do
        if [ -x "$test" ] && [[ " ${tests[*]##*/} " != *" ${test##*/} "* ]]; then tests+=("$test"); fi
    done
    packs=0
    queue check verify 300 bash -c verify
    for test in "${tests[@]}"; do
        name="$(basename "$test")"
        deal "$test"
        cat "$details/$name".rows.* >"$details/$name.rows" 2>/dev/null
        if [ ! -s "$details/$name.rows" ]; then
            told "$name" "failed: it lists no rows" 0
            continue
        fi
        for rows in "$details/$name".rows.*; do queue runRows "$test" "$rows"; done
    done
    waitForAll
    for test in "${tests[@]}"; do # those that failed, all beside each other
        name="$(basename "$test")"
        if [ ! -s "$details/$name.rows" ]; then continue; fi
        cat "$details/$name".log.* >"$details/$name.log" 2>/dev/null
        results "$details/$name.log" "$details/$name.rows" >"$details/$name.results"
        local failed=0
        while IFS=$'\t' read -r result row; do
            if [ "$result" != failed ]; then continue; fi
            failed=$((failed + 1))
            queue again "$test" "$row" "$([ "$failed" -le 12 ] && echo alone)"
        done <"$details/$name.results"
    done
    waitForAll
    packs=1
    for test in "${tests[@]}"; do
        if [ -s "$details/$(basename "$test").rows" ]; then sumUp "$test" "$((SECONDS - begun))"; fi
    done
    grep -q '^verify	passed' "$details/checks.tsv" || debugged verify-debugged 40 bash -c verify
}

# compute-sanitizer, on chains whose blocks have several tiles
sanitize() {
    local sanitizer tool row
    sanitizer="$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | tail -n 1)"
    if [ -z "$sanitizer" ]; then
        skipped sanitizer "compute-sanitizer is not installed"
        return 0
    fi
    # some virtual machines have no debugging interface
    limited 30 "$sanitizer" "$programs/tst_gpu_device" absentIndexIsRefused >"$details/sanitizer.log" 2>&1
    if grep -aqi 'not supported' "$details/sanitizer.log"; then
        skipped sanitizer "compute-sanitizer does not support this device"
        return 0
    fi
    local rows=()
    mapfile -t rows < <(rowsOf "$programs/tst_gpu_ways" | grep '^manyTiles:')
    packs=0
    for row in "${rows[@]}"; do
        for tool in memcheck racecheck initcheck synccheck; do
            queue check "$tool-$(printf '%s' "${row#*:}" | tr ' ' '-')" 150 \
                "$sanitizer" --tool "$tool" --error-exitcode 9 "$programs/tst_gpu_ways" "$row"
        done
    done
    waitForAll
    packs=1
    check sanitizer-memcheck-small 60 "$sanitizer" --tool memcheck --error-exitcode 9 "$programs/tst_gpu_steps" smallStep
}

correct() {
    if [ -x "$programs/tst_gpu_steps" ]; then
        check first-step 60 "$programs/tst_gpu_steps" smallStep ||
            debugged first-step-debugged 60 "$programs/tst_gpu_steps" smallStep
    fi
    runTests
    sanitize
}

# to a file of its own: the report's notes go to standard error
verify() { "$cli" verify --device cuda --json >"$out/verify.json"; }
export -f verify
export cli out details

# ---- speed -------------------------------------------------------------------------------------

debugs=1 # one row is run again slowly: what is wrong in many is told by the tests
profile() { # ROW LANE LIMIT
    if check "profile-$1-$2" "$3" "$programs/gpu-profile" "$details" "$1" "$2"; then return 0; fi
    if [ "$debugs" = 1 ]; then
        debugs=0
        debugged "profile-$1-$2-debugged" 60 "$programs/gpu-profile" "$details/profile-$1-$2-debugged" "$1" "$2"
    fi
    return 1
}

# What ncu says of the longest launches of a profiled step, in the way that the profile's search chose,
# which is kept on disk. At the clock that steps run at: it would lower it, and change the device's.
counters() { # ROW LANE
    local ncu names
    ncu="$(command -v ncu || ls /usr/local/cuda*/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | tail -n 1)"
    if [ -z "$ncu" ]; then
        skipped ncu "ncu is not installed"
        return 0
    fi
    names="$(awk -F'\t' -v row="$1" -v lane="$2" '$1 == "launch" && $2 == row && $3 == lane { print $5 "\t" $4 }' \
        "$details/profile.tsv" 2>/dev/null | sort -gr | head -n 8 | awk '{ printf "%slaunch%s", (NR > 1 ? "|" : ""), $2 }')"
    if [ -z "$names" ]; then
        skipped ncu "there is no profile of $1 $2"
        return 0
    fi
    check ncu 90 env HALFSCOPE_CUDA_DEBUG="$details/ncu" "$ncu" \
        --clock-control none --kernel-name "regex:^($names)\$" --launch-count 8 --import-source yes --export "$out/ncu" --force-overwrite \
        --set full --page details "$programs/gpu-profile" "$details" "$1" "$2" step
    if grep -aqE 'ERR_NVGPUCTRPERM|not supported' "$details/ncu.log"; then
        sed -i '/^ncu\t/d' "$details/checks.tsv"
        skipped ncu "the system refuses it: $(grep -aoE 'ERR_NVGPUCTRPERM|[^.]*not supported' "$details/ncu.log" | head -n 1)"
    fi
}

# A row at a time, those with targets first: what a time limit cuts off is the least.
benchRow() { "$cli" bench --device cuda --only "$1" --json >"$details/bench-$1.json"; }
export -f benchRow
bench() { check "bench-$1" "$2" bash -c 'benchRow "$@"' bash "$1"; }

# PyTorch brings its own libraries: a bundle's are not for it.
plainPython() { LD_LIBRARY_PATH="${HALFSCOPE_PLAIN_LIBRARY_PATH-${LD_LIBRARY_PATH:-}}" python3 "$@"; }
export -f plainPython
pytorch() {
    if command -v python3 >/dev/null &&
        timeout 60 bash -c 'plainPython -c "import torch; assert torch.cuda.is_available()"' 2>/dev/null </dev/null; then
        check pytorch 120 bash -c 'plainPython "$@"' python "$here/torch_step.py" "$details/pytorch.tsv"
    else
        skipped pytorch "python3 has no torch with CUDA"
    fi
}

speed() {
    if [ -x "$programs/gpu-profile" ]; then
        check ceilings 40 "$programs/gpu-profile" "$details" ceilings
        profile checkerboard-512-w256 amp-fp16 90
        counters checkerboard-512-w256 amp-fp16
        profile checkerboard-512-w256 tf32 75
        profile mlp-10-20-1 amp-fp16 30
        profile checkerboard-512-w256 fp32 75
    fi
    bench mlp 40
    bench checkerboard-512 90
    bench checkerboard-64 50
    report
    pytorch
    report
    if [ -x "$programs/gpu-profile" ]; then
        for row in checkerboard-64-w256 checkerboard-128-w256 checkerboard-256-w256 mlp-784-256-10; do
            profile "$row" amp-fp16 45
        done
    fi
}

# ---- record ------------------------------------------------------------------------------------

# Trained twice: the same rows, and as good as PyTorch over seeds.
train() { # NUMBER
    "$cli" run --preset checkerboard-seed --lanes fp32,amp-fp16 --steps 500 --device cuda --quiet --out "$details/run-$1"
}
sameRuns() {
    train 1 && train 2 || return 1
    cp "$details/run-1/steps.csv" "$out/steps.csv"
    if ! cmp "$details/run-1/steps.csv" "$details/run-2/steps.csv"; then
        printf 'WRONG: two runs of the same settings differ\n'
        return 1
    fi
    awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
        { loss[$at["lane"]] = $at["loss"] }
        END { for (lane in loss) { n++; good = loss[lane] >= 0.076 && loss[lane] <= 0.12
                printf "%s%s: final loss %s (PyTorch: 0.076 to 0.12 over seeds)\n", good ? "" : "WRONG: ", lane, loss[lane]
                bad = bad || !good }
            exit bad || n == 0 }' "$details/run-1/steps.csv"
}
export -f train sameRuns

record() {
    check same-runs 120 bash -c sameRuns
    grep -ha 'final loss' "$details/same-runs.log" 2>/dev/null
    bench mlp 40
    bench checkerboard-512 90
    for row in checkerboard-64 checkerboard-128 checkerboard-256 checkerboard-96; do bench "$row" 60; done
    report
    pytorch
    report
    markdown >"$out/results.md"
    if [ -x "$programs/halfscope-bench-ui" ]; then
        check window 90 env QT_QPA_PLATFORM=offscreen QT_LOGGING_RULES=default.warning=false "$programs/halfscope-bench-ui"
        cat "$details/window.log" 2>/dev/null
    else
        skipped window "halfscope-bench-ui is not built"
    fi
}
# The README's table.
markdown() {
    printf '%s, driver %s, %s, commit %s\n\n' \
        "$(sed -n 's/^cuda:0 *//p' "$details/devices.log" | head -n 1)" \
        "$(timeout 10 nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null </dev/null | head -n 1)" \
        "$(date -u +%Y-%m-%d)" \
        "$(cat "$here/commit" 2>/dev/null || git -C "$here" rev-parse --short HEAD 2>/dev/null || printf unknown)"
    printf '| step | precision | ms | PyTorch, ms | ratio | target, ms |\n| --- | --- | --- | --- | --- | --- |\n'
    sed -n '3,$p' "$out/table.txt" 2>/dev/null | awk '/^peak/ { last = $0; next } NF >= 6 {
        target = $6; for (i = 7; i < NF + 1; ++i) if ($i != "") target = target " " $i
        ratio = $5; if ($6 == "x") { ratio = ratio " x"; target = $7; for (i = 8; i <= NF; ++i) target = target " " $i }
        print "| " $1 " | " $2 " | " $3 " | " $4 " | " ratio " | " target " |" }
        END { if (last != "") print "\n" last "." }'
}

# ---- what is known so far ----------------------------------------------------------------------

# "row lane ms peak-MiB" of our JSON: one key a line, as the program writes it
oursTsv() {
    awk -F'"' 'function flush() { if (ms != "") print row "\t" lane "\t" ms "\t" peak; ms = peak = "" }
        /"row":/ { flush(); row = $4 } /"lane":/ { flush(); lane = $4 }
        /"ms_per_step":/ { split($3, v, /[ :,]+/); ms = v[2] }
        /"peak_bytes":/ { split($3, v, /[ :,]+/); peak = sprintf("%.0f", v[2] / 1048576) }
        END { flush() }' "$details"/bench-*.json 2>/dev/null
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
    awk -F'\t' '$1 == "checkerboard-512-w256" && $2 == "amp-fp16" && $4 != "" {
        print "peak memory of " $1 " " $2 ": " $4 " MiB, target 700 " ($4 <= 450 ? "met, and the later one" : $4 <= 700 ? "met" : "missed") }' \
        "$details/ours.tsv"
}

# The same as JSON. Names and results hold no quotes.
summary() {
    local first=1 name result seconds
    printf '{"part": "%s", "date": "%s", "device": "%s",\n "checks": [' "$part" "$(date -u +%Y-%m-%d)" \
        "$(sed -n 's/^cuda:0 *//p' "$details/devices.log" | head -n 1 | tr -d '"\\')"
    while IFS=$'\t' read -r name result seconds; do
        if [ "$first" = 0 ]; then printf ','; fi
        first=0
        printf '\n  {"name": "%s", "result": "%s", "seconds": %s}' "$name" "$result" "$seconds"
    done <"$details/checks.tsv"
    printf '],\n "steps": ['
    awk -F'\t' -v theirs="$details/theirs.tsv" '
        BEGIN { while ((getline line < theirs) > 0) { split(line, p, "\t"); torch[p[1] "\t" p[2]] = p[3]; how[p[1] "\t" p[2]] = p[4] } }
        { k = $1 "\t" $2
          printf "%s\n  {\"row\": \"%s\", \"lane\": \"%s\", \"ms\": %s", (NR > 1 ? "," : ""), $1, $2, $3
          if (k in torch) printf ", \"pytorch_ms\": %s, \"pytorch\": \"%s\"", torch[k], how[k]
          printf "}" }' "$details/ours.tsv"
    printf ']}\n'
}
report() {
    local file first=1
    if compgen -G "$details/bench-*.json" >/dev/null; then
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
    fi
    oursTsv >"$details/ours.tsv"
    theirsTsv >"$details/theirs.tsv"
    targets >"$details/targets.txt"
    if [ -s "$details/ours.tsv" ]; then table >"$out/table.txt"; fi
    summary >"$out/$part.json"
}

# At most 60 lines: steps against their targets, the result of each check, the reason of each failure.
conclude() {
    local notPassed failed=0 file name
    if [ "$concluded" = 1 ]; then return 0; fi
    concluded=1
    report
    notPassed="$(printf '\t')(failed|timed out|ended|not run|skipped: no time)"
    printf '\n== %s: %s\n' "$part" "$(sed -n 's/^cuda:0 *//p' "$details/devices.log" | head -n 1)"
    awk -F'\t' '{ result = $2; sub(/[:;].*/, "", result); if ($2 ~ /^skipped/) result = substr($2, 1, 60)
            line = sprintf("%-40s %s, %s s", substr($1, 1, 40), substr(result, 1, 40), $3)
            if (result == "passed" && NR > 18) { more++; next } print line }
        END { if (more) print more " further checks passed" }' "$details/checks.tsv" | head -n 26
    if [ "$part" != correct ] && [ -f "$out/table.txt" ]; then head -n 12 "$out/table.txt"; fi
    if grep -qE "$notPassed" "$details/checks.tsv"; then
        failed=1
        printf '\nWhat failed or was left out:\n'
        {
            grep -E "$notPassed" "$details/checks.tsv" | awk -F'\t' '{ printf "  %s %s\n", $1, substr($2, 1, 240) }' | head -n 9
            for file in "$details"/*.failures; do
                if [ ! -f "$file" ]; then continue; fi
                name="$(basename "$file" .failures)"
                awk -F'\t' -v name="$name" '{ printf "  %s %s: %s\n", name, $1, substr($2, 1, 200) }' "$file"
            done
        } | head -n 17
    fi
    printf '\n%s in %s s; everything is in %s\n' \
        "$([ "$failed" = 0 ] && echo 'All green' || echo 'Something failed or was left out')" "$((SECONDS - started))" "$out"
    return "$failed"
}

findDevice
"$part"
conclude
