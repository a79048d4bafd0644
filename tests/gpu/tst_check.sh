#!/usr/bin/env bash
# check.sh without a GPU: programs that only play their parts show that each part does its checks, and
# that failures, hangs, signals and a missing device are told in the last lines.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
failures=0
export HALFSCOPE_CHECK_JOBS=4

# program NAME, its text on standard input
program() {
    { echo '#!/usr/bin/env bash'; cat; } >"$work/programs/$1"
    chmod +x "$work/programs/$1"
}
# rows NAME CLASS ROW...: a test program of these rows, "function" or "function:tag". A row whose name
# holds BAD fails, one with GONE ends the program, one with LONG hangs.
rows() {
    local name="$1" class="$2"
    shift 2
    printf '%s\n' "$@" >"$work/$name.all"
    program "$name" <<TEST
if [ "\${1:-}" = -datatags ]; then sed 's/^\([^:]*\):/\1 /; s/^/$class /' "$work/$name.all"; exit 0; fi
bad=0
echo "\${XDG_CACHE_HOME:-none}" >"$work/$name.cache"
if [ -n "\${ALONE:-}" ] && ! mkdir "$work/busy" 2>/dev/null; then echo 'FAIL!  : the device is busy'; exit 1; fi
for row in "\$@"; do
    echo "\$row" >>"$work/$name.ran"
    name="\${row%%:*}" tag=""
    if [ "\$name" != "\$row" ]; then tag="\${row#*:}"; fi
    case "\$row" in
        *BAD*)
            if [ -n "\${HALFSCOPE_CUDA_DEBUG:-}" ]; then
                echo 'launch 3 of 9, launch3: matmul layer 1' >"\$HALFSCOPE_CUDA_DEBUG/launch.txt"
                echo 'the text' >"\$HALFSCOPE_CUDA_DEBUG/step.cu"
                echo 'the code' >"\$HALFSCOPE_CUDA_DEBUG/code-1.cubin"
            fi
            printf 'FAIL!  : $class::%s(%s) values are not the same\n   Actual   (x): 1 of 4\n   Loc: [a.cpp(1)]\n' "\$name" "\$tag"
            bad=1 ;;
        *GONE*)
            if [ -z "\${HALFSCOPE_CUDA_DEBUG:-}" ]; then
                echo "  what():  an illegal memory access" >&2
                exit 134
            fi
            echo "PASS   : $class::\$name(\$tag)" ;;
        *LONG*) exec sleep 60 ;;
        *) echo "PASS   : $class::\$name(\$tag)" ;;
    esac
done
if [ -n "\${ALONE:-}" ]; then sleep 0.2; rmdir "$work/busy"; fi
exit "\$bad"
TEST
}
fresh() {
    rm -rf "$work/programs" "$work/out" "$work"/*.all "$work"/*.ran "$work/ran-twice"
    mkdir -p "$work/programs"
    program halfscope-cli <<'CLI'
case "$1" in
    devices) echo "cpu  a CPU"; echo "cuda:0  Fake 9000" ;;
    verify) echo '{"device": "Fake 9000", "suites": []}' ;;
    run)
        while [ "$1" != --out ]; do shift; done
        mkdir -p "$2"
        printf 'step,lane,loss,scale\n499,fp32,0.5,1\n500,fp32,0.09,1\n500,amp-fp16,0.1,1\n' >"$2/steps.csv" ;;
    bench) # --device cuda --only ROW --json
        case "$5" in
            mlp) row=mlp-10-20-1 ms=0.5 ;;
            checkerboard-512) row=checkerboard-512-w256 ms=0.75 ;;
            *) exit 0 ;;
        esac
        printf '{\n  "rows": [\n    {\n      "row": "%s",\n      "lane": "amp-fp16",\n      "ms_per_step": %s,\n      "peak_bytes": 524288000,\n      "peak_bytes_by_cause": {\n      }\n    }\n  ]\n}\n' "$row" "$ms"
        ;;
esac
CLI
    rows tst_gpu_steps tst_gpu_steps::TestGpuSteps smallStep sameBits:fp32 sameBits:amp
    rows tst_gpu_ways tst_gpu_ways::TestGpuWays 'ways:amp-fp16 usual' 'ways:fp32 usual' 'manyTiles:amp-fp16 usual' 'manyTiles:fp32 usual'
    rows tst_gpu_device tst_gpu_device::TestGpuDevice absentIndexIsRefused
    program gpu-profile <<'PROFILE'
if [ "${4:-}" = step ]; then exit 0; fi
echo "$2 ${3:-}: profiled" | tee -a "$1/profile.txt"
printf 'launch\t%s\t%s\t%s\t%s\n' "$2" "${3:-}" 0 5 "$2" "${3:-}" 7 90 "$2" "${3:-}" 3 80 >>"$1/profile.tsv"
PROFILE
}
fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}
# check PART CODE WORDS...: the exit code, and words that the last 60 lines of the output must hold
check() {
    local part="$1" wanted="$2" code=0 words
    shift 2
    rm -rf "$work/out"
    PATH="$work/path:$PATH" bash "$here/check.sh" "$work/programs" "$part" "$work/out" >"$work/said" 2>&1 || code=$?
    tail -n 60 "$work/said" >"$work/told"
    if [ "$code" != "$wanted" ]; then fail "$part: exit code $code, not $wanted: $(cat "$work/said")"; fi
    for words in "$@"; do
        if ! grep -qE -- "$words" "$work/told"; then fail "$part: '$words' is not in: $(cat "$work/said")"; fi
    done
}
has() { # FILE WORDS
    if ! grep -qE -- "$2" "$1"; then fail "'$2' is not in $1: $(cat "$1")"; fi
}
mkdir -p "$work/path"
printf '#!/bin/sh\nexit 1\n' >"$work/path/python3" # no PyTorch
printf '#!/bin/sh\nshift 4; exec "$@"\n' >"$work/path/compute-sanitizer"
printf '#!/bin/sh\necho "$@" >"%s/ncu-said"; exit 0\n' "$work" >"$work/path/ncu"
chmod +x "$work/path"/*

# ---- correct -----------------------------------------------------------------------------------

fresh
check correct 0 '^first-step +passed' '^tst_gpu_ways \(4 rows\) +passed' '^tst_gpu_steps \(3 rows\) +passed' '^verify +passed' \
    '^memcheck-amp-fp16-usual +passed' '^racecheck-fp32-usual +passed' '^synccheck-' '^initcheck-' '^All green'
python3 - "$work/out/correct.json" <<'PYTHON' || fail "correct.json: $(cat "$work/out/correct.json")"
import json, sys
told = json.load(open(sys.argv[1]))
assert told["part"] == "correct" and len(told["checks"]) > 8 and told["device"] == "Fake 9000"
PYTHON
if grep -q 'profile\|bench' "$work/said"; then fail "correct does what speed does: $(cat "$work/said")"; fi
# each row once; the sanitizers those of large chains, with four tools
for test in ways steps device; do
    sort "$work/tst_gpu_$test.ran" | uniq -c | awk -v test="$test" '
        { wanted = $2 ~ /^manyTiles/ ? 5 : $2 == "smallStep" ? 3 : 1 } $1 != wanted { print test, $0 }'
done >"$work/odd"
if [ -s "$work/odd" ]; then fail "rows that did not run as often as wanted: $(cat "$work/odd")"; fi

# What fails is told with its values, runs again alone, and leaves what is needed to mend it.
fresh
rows tst_gpu_ways tst_gpu_ways::TestGpuWays 'ways:good' 'ways:BAD one' 'ways:GONE' 'ways:after'
check correct 1 '^tst_gpu_ways \(4 rows\) +failed, ' '^  tst_gpu_ways ways:BAD one: FAIL! : .*not the same \| Actual \(x\): 1 of 4 \| alone: FAIL!' \
    '^  tst_gpu_ways ways:GONE: it did not come to its end \| alone: passes launch by launch' '^  tst_gpu_ways .4 rows. failed: 2 of 4 rows' 'Something failed'
has "$work/said" 'at launch 3 of 9, launch3: matmul layer 1'
tar -xzf "$work/out/correct-details.tar.gz" -C "$work/programs"
has "$work/programs/tst_gpu_ways-ways-BAD-one/step.cu" 'the text'
has "$work/programs/tst_gpu_ways.log" 'PASS .*ways\(good\)'

# A fault takes all rows that come after it in the process: they run alone, and pass.
fresh
rows tst_gpu_ways tst_gpu_ways::TestGpuWays 'ways:GONE' 'other:GONE' 'third:GONE'
HALFSCOPE_CHECK_JOBS=1 check correct 1 'ways:GONE: it did not' 'other:GONE: it did not .* passes launch by launch' 'third:GONE'

# Many failures: the last 60 lines still name each check.
fresh
mapfile -t many < <(seq -f 'ways:BAD %g' 60)
rows tst_gpu_ways tst_gpu_ways::TestGpuWays "${many[@]}"
rows tst_gpu_steps tst_gpu_steps::TestGpuSteps smallStep sameBits:BAD
check correct 1 '^first-step +passed' '^tst_gpu_ways \(60 rows\) +failed' 'failed: 60 of 60 rows' '^  tst_gpu_steps .* failed: 1 of 2' '^verify +passed' 'everything is in'

# All rows of one name are in one process.
fresh
mapfile -t many < <(seq -f 'one:name %g' 30; seq -f 'other:name %g' 30)
rows tst_gpu_ways tst_gpu_ways::TestGpuWays "${many[@]}"
check correct 0 '^tst_gpu_ways \(60 rows\) +passed'
awk -F'name ' '{ if (seen[$2]++ == 1 && last != $2) far++; last = $2 } END { exit far > 45 }' "$work/tst_gpu_ways.ran" || fail "rows of one name run apart"

# Compiled steps are kept where there is no home.
fresh
HOME='' XDG_CACHE_HOME='' check correct 0 '^All green'
has "$work/tst_gpu_steps.cache" '^/.*gpu-check-cache'

# A device that takes one process at a time.
fresh
printf '#!/bin/sh\necho Exclusive_Process\n' >"$work/path/nvidia-smi"
chmod +x "$work/path/nvidia-smi"
ALONE=yes check correct 0 '^tst_gpu_ways \(4 rows\) +passed' '^racecheck-fp32-usual +passed' '^All green'
has "$work/said" 'one process at a time'
rm "$work/path/nvidia-smi"

# A program that skips everything proves nothing.
fresh
program tst_gpu_ways <<'TEST'
if [ "$1" = -datatags ]; then echo 'tst_gpu_ways::TestGpuWays ways a'; exit 0; fi
echo 'SKIP   : tst_gpu_ways::TestGpuWays::initTestCase() there is no device'
TEST
check correct 1 'tst_gpu_ways .* failed: all rows were skipped: SKIP .*there is no device'

# A hang costs its limit, and what was learnt before it is there.
fresh
rows tst_gpu_ways tst_gpu_ways::TestGpuWays 'ways:LONG' 'ways:good'
HALFSCOPE_CHECK_SECONDS=12 check correct 1 '^tst_gpu_steps .* passed' '^tst_gpu_ways .* failed' '^  tst_gpu_ways ways:LONG: it did not come to its end' '^verify +passed'
has "$work/out/correct.json" '"name": "tst_gpu_ways \(2 rows\)", "result": "failed: 1 of 2 rows"'

# No time at all: nothing is told but that.
fresh
HALFSCOPE_CHECK_SECONDS=1 check correct 1 '^first-step +skipped: no time is left' 'Something failed or was left out'
if grep -q 'No such file' "$work/said"; then fail "checks that did not run are looked at: $(cat "$work/said")"; fi

# A fault that a sanitizer finds; a virtual machine without a debugging interface.
fresh
printf '#!/bin/sh\nif [ "$2" = racecheck ]; then echo "Error: Race reported"; exit 9; fi\n' >"$work/path/compute-sanitizer"
check correct 1 '^racecheck-amp-fp16-usual +failed' '^  racecheck-amp-fp16-usual failed \(9\): Error: Race reported' '^memcheck-amp-fp16-usual +passed'
printf '#!/bin/sh\necho "Error: Device not supported"; exit 1\n' >"$work/path/compute-sanitizer"
check correct 0 '^sanitizer +skipped: compute-sanitizer does not support' '^All green'
printf '#!/bin/sh\nexit 0\n' >"$work/path/compute-sanitizer"

# ---- speed -------------------------------------------------------------------------------------

fresh
check speed 0 '^ceilings +passed' '^profile-checkerboard-512-w256-amp-fp16 +passed' '^profile-mlp-784-256-10-amp-fp16 +passed' '^pytorch +skipped' '^ncu +passed' \
    'checkerboard-512-w256 +amp-fp16 +0.7500 +- +- +0.90 met$' 'mlp-10-20-1 .* 0.020 missed' \
    '^peak memory of checkerboard-512-w256 amp-fp16: 500 MiB, target 700 met$' '^All green'
if grep -q 'tst_gpu' "$work/said"; then fail "speed does what correct does: $(cat "$work/said")"; fi
has "$work/ncu-said" 'regex:\^\(launch7\|launch3\|launch0\)\$' # the longest first
has "$work/ncu-said" '--clock-control none'
has "$work/out/profile.txt" 'checkerboard-512-w256 amp-fp16: profiled'
has "$work/out/speed.json" '"row": "mlp-10-20-1", "lane": "amp-fp16", "ms": 0.5'
# few files, whatever was run: what a machine gives back may be few
if [ "$(find "$work/out" -type f | wc -l)" -gt 9 ]; then fail "the folder of results: $(ls "$work/out")"; fi
python3 -c 'import json, sys; assert len(json.load(open(sys.argv[1]))) == 2' "$work/out/bench.json" || fail "bench.json: $(cat "$work/out/bench.json")"
printf '#!/bin/sh\necho "==ERROR== ERR_NVGPUCTRPERM - no permission"; exit 1\n' >"$work/path/ncu"
check speed 0 '^ncu +skipped: the system refuses it' '^All green'

# A wrong first loss: told, one row again slowly, and the others all the same.
fresh
program gpu-profile <<<'echo "$2: WRONG"; exit 1'
check speed 1 '^profile-mlp-10-20-1-amp-fp16 +failed' '^  profile-checkerboard-512-w256-fp32 failed \(1\): checkerboard-512-w256: WRONG' '^bench-mlp +passed'
if [ "$(grep -c 'debugged: ' "$work/said")" != 1 ]; then fail "not one row debugged: $(cat "$work/said")"; fi

# A profile that is cut off tells what it has.
fresh
program gpu-profile <<'PROFILE'
if [ "$2" != mlp-10-20-1 ]; then exit 0; fi
trap 'echo "    ended while profiling launches"; exit 124' TERM
echo "0.0123 ms a step"
sleep 60 & wait $!
PROFILE
HALFSCOPE_CHECK_SECONDS=11 check speed 1 '^profile-mlp-10-20-1-amp-fp16 +timed out' '^  profile-mlp-10-20-1-amp-fp16 timed out .*last words: ended while profiling launches'

# So does the whole part that is ended by a signal.
fresh
program gpu-profile <<'PROFILE'
if [ "$2" != mlp-10-20-1 ]; then exit 0; fi
trap 'echo "    ended while running steps"; exit 124' TERM
touch "${0%/*}/profiling" # a signal may come from here on
sleep 60 & wait $!
PROFILE
PATH="$work/path:$PATH" bash "$here/check.sh" "$work/programs" speed "$work/out" >"$work/said" 2>&1 &
script=$!
for _ in $(seq 3000); do # so long only on a machine that does ten other things
    if [ -e "$work/programs/profiling" ] && grep -q '^profile-checkerboard-512-w256-tf32 ' "$work/said"; then break; fi
    sleep 0.1
done
kill -TERM "$script"
code=0
wait "$script" || code=$?
if [ "$code" != 1 ]; then fail "ended by a signal with $code"; fi
has "$work/said" '^profile-checkerboard-512-w256-tf32 +passed'
has "$work/said" '^  profile-mlp-10-20-1-amp-fp16 ended by a signal; its last words: ended while running steps'
has "$work/said" '^  the rest not run: ended by a signal'
has "$work/out/speed.json" 'ended by a signal'

# PyTorch's fastest way stands beside ours, as a ratio.
fresh
mv "$work/path/python3" "$work/no-torch"
cat >"$work/path/python3" <<'PYTHON'
#!/bin/sh
if [ "$1" = -c ]; then exit 0; fi
printf 'mlp-10-20-1\tamp-fp16\teager\t2.0\nmlp-10-20-1\tamp-fp16\tgraph\t1.0\n' >"$2"
PYTHON
chmod +x "$work/path/python3"
check speed 0 'mlp-10-20-1 +amp-fp16 +0.5000 +1.0000 +2.00 x'
has "$work/out/speed.json" '"pytorch": "graph"'

# ---- record ------------------------------------------------------------------------------------

check record 0 '^same-runs +passed' 'bench-checkerboard-96 +passed' 'mlp-10-20-1 +amp-fp16 +0.5000 +1.0000 +2.00 x' '^All green'
if git -C "$(dirname "$0")" rev-parse HEAD >/dev/null 2>&1; then commit='[0-9a-f]+'; else commit=unknown; fi
has "$work/out/results.md" "^Fake 9000, driver .*, 20[0-9-]+, commit $commit"
has "$work/out/results.md" '^\| mlp-10-20-1 \| amp-fp16 \| 0.5000 \| 1.0000 \| 2.00 x \| 0.020 missed \|$'
has "$work/out/results.md" '^peak memory of checkerboard-512-w256 amp-fp16: 500 MiB'
has "$work/said" 'window +skipped: halfscope-bench-ui is not built'
has "$work/out/results.md" '^\| checkerboard-512-w256 \| amp-fp16 \| 0.7500 \| - \| - \| 0.90 met \|$'
has "$work/out/steps.csv" '^500,fp32,0.09'
mv "$work/no-torch" "$work/path/python3"
# two runs that differ, and one that did not learn
fresh
sed -i 's/0.09,1/0.09$RANDOM,1/; s/printf .step,lane/printf "step,lane/; s/0.1,1.n. >/0.1,1\\n" >/' "$work/programs/halfscope-cli"
check record 1 '^  same-runs failed \(1\): .*(differ|WRONG)'
fresh
sed -i 's/amp-fp16,0.1,1/amp-fp16,0.9,1/' "$work/programs/halfscope-cli"
check record 1 '^  same-runs failed \(1\): WRONG: amp-fp16: final loss 0.9'

# ---- all of it, and wrong use ------------------------------------------------------------------

fresh
code=0
PATH="$work/path:$PATH" bash "$here/check.sh" "$work/programs" "$work/out" >"$work/said" 2>&1 || code=$?
if [ "$code" != 0 ] || [ "$(grep -c '^All green' "$work/said")" != 3 ]; then fail "all parts: $code: $(cat "$work/said")"; fi
if [ "$(grep -oE '^== [a-z]+$' "$work/said" | tr '\n' ' ')" != '== correct == speed == record ' ]; then fail "not in that order: $(grep '^==' "$work/said")"; fi
check fast 2 'unknown part "fast" \(correct, speed or record\)'

fresh
program halfscope-cli <<<'echo "cpu  a CPU"; echo "No CUDA: no driver"'
check correct 3 'No CUDA: no driver' 'What is there:' '^LD_LIBRARY_PATH=' 'nothing can be checked'

rm "$work/programs/halfscope-cli"
check correct 2 'no halfscope-cli in'

[ "$failures" = 0 ] && echo "check.sh does what it says"
exit "$((failures > 0))"
