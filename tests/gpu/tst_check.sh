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
    bench) cat <<'JSON'
{
  "rows": [
    {
      "row": "checkerboard-512-w256",
      "lane": "amp-fp16",
      "ms_per_step": 0.75,
      "peak_bytes": 1
    },
    {
      "row": "mlp-10-20-1",
      "lane": "amp-fp16",
      "ms_per_step": 0.5,
      "peak_bytes": 1
    }
  ]
}
JSON
        ;;
esac
CLI
    program tst_gpu_one <<<'exit 0'
}
# check CODE WORDS...: the exit code, and words that the output must hold
check() {
    local wanted="$1" code=0 output words
    shift
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

fresh
program tst_gpu_two <<<'exit 3'
check 1 'tst_gpu_two +failed \(3\)' 'tst_gpu_one +passed' 'Something failed'

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
check 3 'No CUDA: no driver' 'nothing can be checked'

rm "$work/programs/halfscope-cli"
check 2 'no halfscope-cli in'

[ "$failures" = 0 ] && echo "check.sh does what it says"
exit "$((failures > 0))"
