#!/usr/bin/env bash
# check.sh without a GPU: programs that only play their parts show that failures, hangs and a missing
# device are told, and that the table joins figures and targets.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
failures=0

# program NAME, its text on standard input
program() {
    { echo '#!/usr/bin/env bash'; cat; } >"$work/programs/$1"
    chmod +x "$work/programs/$1"
}
fresh() {
    rm -rf "$work/programs" "$work/out"
    mkdir -p "$work/programs"
    program halfscope-cli <<'CLI'
case "$1" in
    devices) echo "cpu  a CPU"; echo "cuda:0  Fake 9000" ;;
    verify) echo '{"device": "Fake 9000", "suites": []}' ;;
    bench) # --device cuda --only ROW --json
        case "$5" in
            mlp) row=mlp-10-20-1 ms=0.5 ;;
            checkerboard-512) row=checkerboard-512-w256 ms=0.75 ;;
            *) exit 0 ;;
        esac
        printf '{\n  "rows": [\n    {\n      "row": "%s",\n      "lane": "amp-fp16",\n      "ms_per_step": %s\n    }\n  ]\n}\n' "$row" "$ms"
        ;;
esac
CLI
    program tst_gpu_one <<<'exit 0'
    program gpu-profile <<'PROFILE'
echo "$2 ${3:-}: profiled" >>"$1/profile.txt"
echo "step	$2	${3:-}" >>"$1/profile.tsv"
PROFILE
}
# check CODE WORDS...: the exit code, and words that the output must hold
check() {
    local wanted="$1" code=0 output words
    shift
    rm -rf "$work/out"
    output="$(PATH="$work/path:$PATH" bash "$here/check.sh" "$work/programs" "$work/out" 2>&1)" || code=$?
    if [ "$code" != "$wanted" ]; then
        echo "FAIL: exit code $code, not $wanted: $output"
        failures=$((failures + 1))
    fi
    for words in "$@"; do
        if ! grep -qE "$words" <<<"$output"; then
            echo "FAIL: '$words' is not in: $output"
            failures=$((failures + 1))
        fi
    done
}
mkdir -p "$work/path"
printf '#!/bin/sh\nexit 1\n' >"$work/path/python3" # no PyTorch
printf '#!/bin/sh\nexit 0\n' >"$work/path/compute-sanitizer"
chmod +x "$work/path"/*

fresh
check 0 'tst_gpu_one +passed' 'verify +passed' 'sanitizer-racecheck +passed' 'pytorch +skipped' \
    'checkerboard-512-w256 +amp-fp16 +0.7500 +- +- +0.90 met$' 'mlp-10-20-1 .* 0.020 missed' 'All green'
if ! grep -q '"row": "mlp-10-20-1", "lane": "amp-fp16", "ms": 0.5' "$work/out/summary.json"; then
    echo "FAIL: summary.json: $(cat "$work/out/summary.json")"
    failures=$((failures + 1))
fi

# few files, whatever was run: what a machine gives back may be few
if [ "$(find "$work/out" -type f | wc -l)" -gt 8 ] || ! grep -q 'checkerboard-512-w256 amp-fp16: profiled' "$work/out/profile.txt"; then
    echo "FAIL: the folder of results: $(ls "$work/out")"
    failures=$((failures + 1))
fi
if ! python3 -c 'import json, sys; assert len(json.load(open(sys.argv[1]))) == 2' "$work/out/bench.json"; then
    echo "FAIL: bench.json: $(cat "$work/out/bench.json")"
    failures=$((failures + 1))
fi

# A fault takes the context and all rows after it: those that did not pass run again, one process
# each, and leave what is needed to mend them.
fresh
program tst_gpu_two <<'TEST'
if [ "${1:-}" = -datatags ]; then printf 'T good\nT bad float16 x\nT after\n'; exit 0; fi
if [ -z "${1:-}" ]; then printf 'PASS   : T::good()\nFAIL!  : T::bad(float16 x) illegal\nFAIL!  : T::after() given up\n'; exit 2; fi
if [ "$1" = after ]; then exit 0; fi
if [ "$1" != 'bad:float16 x' ]; then echo "who asked for $1?"; exit 7; fi
echo 'launch 3 of 9, launch3: matmul layer 1' >"$HALFSCOPE_CUDA_DEBUG/launch.txt"
echo 'the text' >"$HALFSCOPE_CUDA_DEBUG/step.cu"
echo 'FAIL!  : T::bad(float16 x) illegal'
exit 1
TEST
check 1 'tst_gpu_two +failed \(2\): 2 rows, the first: FAIL! : T::bad' 'bad-float16-x.*: FAIL!' 'at launch 3 of 9, launch3: matmul layer 1' \
    'two-after.*: passes launch by launch' 'tst_gpu_one +passed' 'Something failed'
if ! tar -xzOf "$work/out/details.tar.gz" ./tst_gpu_two-bad-float16-x-/step.cu 2>/dev/null | grep -q 'the text'; then
    echo "FAIL: the step's text is not in details.tar.gz: $(tar -tzf "$work/out/details.tar.gz")"
    failures=$((failures + 1))
fi

# Values stand below the line that says FAIL!, and what is thrown is told at the very end; what failed
# is told again after the table.
fresh
program tst_gpu_two <<'TEST'
printf 'PASS   : T::good()\nFAIL!  : T::sum() Compared values are not the same\n   Actual   (x): weights: 1 of 4 bytes differ\n   Expected ("") : nothing\n   Loc: [a.cpp(1)]\n'
exit 1
TEST
program tst_gpu_thrown <<'TEST'
printf 'FAIL!  : T::a() Caught unhandled exception\n   Loc: [b.cpp(2)]\n'
echo "  what():  loading the kernels: no kernel image" >&2
exit 134
TEST
check 1 'tst_gpu_two +failed \(1\): .*not the same \| Actual \(x\): weights: 1 of 4 bytes differ' \
    'tst_gpu_thrown +failed \(134\): .*unhandled exception \| what\(\): loading the kernels: no kernel image' \
    '^  tst_gpu_thrown failed \(134\)'
told="$(PATH="$work/path:$PATH" bash "$here/check.sh" "$work/programs" "$work/out" 2>&1 | tail -n 4)" || true
if ! grep -q '^  tst_gpu_two failed' <<<"$told" || ! grep -q 'everything is in' <<<"$told"; then
    echo "FAIL: the last lines do not say what failed: $told"
    failures=$((failures + 1))
fi

# Many rows are dealt out to several processes: each is run once, those of one name by one process.
fresh
program tst_gpu_many <<TEST
if [ "\${1:-}" = -datatags ]; then
    for i in \$(seq 60); do echo "T one name \$i"; echo "T other name \$i"; done
    exit 0
fi
printf '%s\n' "\$@" >>"$work/rows"
printf '%s\n' "\$@" >"$work/rows.\$\$"
for row in "\$@"; do
    if [ "\$row" = 'one:name 7' ]; then echo 'FAIL!  : T::one(name 7) wrong'; bad=1; else echo "PASS   : T::\${row%%:*}(\${row#*:})"; fi
done
exit "\${bad:-0}"
TEST
rm -f "$work"/rows*
check 1 'tst_gpu_many-0 ' 'tst_gpu_many-3 ' 'failed \(1\): FAIL! : T::one\(name 7\) wrong'
sort "$work/rows" | uniq -c | awk '$1 != ($2 == "one:name" && $3 == 7 ? 2 : 1)' >"$work/odd"
if [ -s "$work/odd" ] || [ "$(sort -u "$work/rows" | wc -l)" != 120 ]; then
    echo "FAIL: rows that were not run once: $(cat "$work/odd")"
    failures=$((failures + 1))
fi
for file in "$work"/rows.*; do
    if [ "$(wc -l <"$file")" -gt 1 ] && ! cmp -s <(sed -n 's/^one://p' "$file" | sort) <(sed -n 's/^other://p' "$file" | sort); then
        echo "FAIL: rows of one name are in two processes: $(cat "$file")"
        failures=$((failures + 1))
    fi
done

# Where the smallest steps are wrong, tests come before the profile of large ones, and one row alone
# is run again slowly.
fresh
program gpu-profile <<<'echo "$2: WRONG"; exit 1'
check 1 'profile-mlp-10-20-1-amp-fp16 +failed' 'profile-checkerboard-512-w256-fp32 +failed'
if [ "$(grep -nE '^(tst_gpu_one|ceilings) ' "$work/out/check.log" | cut -d' ' -f1 | cut -d: -f2 | head -n 1)" != tst_gpu_one ] ||
    [ "$(grep -c 'debugged: ' "$work/out/check.log")" != 1 ]; then
    echo "FAIL: not the tests first, or not one row debugged: $(cat "$work/out/check.log")"
    failures=$((failures + 1))
fi

# A hang costs its limit, and what was learnt before it is there.
fresh
program tst_gpu_two <<'TEST'
if [ "${1:-}" = -datatags ]; then exit 0; fi
exec sleep 60
TEST
HALFSCOPE_CHECK_SECONDS=11 check 1 'tst_gpu_one +passed' 'tst_gpu_two +timed out after' 'verify +passed' 'bench-mlp +skipped: no time is left' \
    '^  tst_gpu_two timed out'
if ! grep -q '"name": "tst_gpu_two", "result": "timed out' "$work/out/summary.json"; then
    echo "FAIL: summary.json does not tell of the hang: $(cat "$work/out/summary.json")"
    failures=$((failures + 1))
fi

# No time at all: nothing is told but that
fresh
HALFSCOPE_CHECK_SECONDS=1 check 1 'tst_gpu_one +skipped: no time is left' 'Something failed or was left out'
if grep -q 'No such file' "$work/out/check.log"; then
    echo "FAIL: parts that did not run are looked at: $(cat "$work/out/check.log")"
    failures=$((failures + 1))
fi

# A virtual machine without a debugging interface
fresh
printf '#!/bin/sh\necho "Error: Device not supported"; exit 1\n' >"$work/path/compute-sanitizer"
check 0 'sanitizer +skipped: compute-sanitizer does not support this device' 'All green'
printf '#!/bin/sh\nexit 0\n' >"$work/path/compute-sanitizer"

# PyTorch's fastest way stands beside ours, as a ratio
fresh
cat >"$work/path/python3" <<'PYTHON'
#!/bin/sh
if [ "$1" = -c ]; then exit 0; fi
printf 'mlp-10-20-1\tamp-fp16\teager\t2.0\nmlp-10-20-1\tamp-fp16\tgraph\t1.0\n' >"$2"
PYTHON
check 0 'mlp-10-20-1 +amp-fp16 +0.5000 +1.0000 +2.00 x'
if ! grep -q '"pytorch": "graph"' "$work/out/summary.json"; then
    echo "FAIL: summary.json names no way of PyTorch's"
    failures=$((failures + 1))
fi

fresh
program halfscope-cli <<<'echo "cpu  a CPU"; echo "No CUDA: no driver"'
check 3 'No CUDA: no driver' 'What is there:' '^LD_LIBRARY_PATH=' 'nothing can be checked'

rm "$work/programs/halfscope-cli"
check 2 'no halfscope-cli in'

[ "$failures" = 0 ] && echo "check.sh does what it says"
exit "$((failures > 0))"
