#!/usr/bin/env bash
# Proves and times the CUDA engine on a machine with a GPU, in under eight minutes: gpu tests, verify,
# compute-sanitizer, benches, and PyTorch beside them where python3 has it. `./dev gpu-check` calls it
# in a build, `./check` in a bundle (see bundle.sh). A part that hangs costs its own time limit only.
#   check.sh PROGRAMS [DIR]   PROGRAMS: folder of halfscope-cli and tst_gpu_*; results go to DIR
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
: >"$out/parts.tsv"
failed=0
started="$SECONDS"

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

# part NAME LIMIT COMMAND...: its output to NAME.log, one line to parts.tsv
part() {
    local name="$1" limit="$2" begun="$SECONDS" code result
    shift 2
    timeout -k 5 "$limit" "$@" >"$out/$name.log" 2>&1
    code=$?
    case "$code" in
        0) result=passed ;;
        124 | 137) result="timed out after $limit s" ;;
        *) result="failed ($code)" ;;
    esac
    if [ "$code" != 0 ]; then failed=1; fi
    printf '%s\t%s\t%s\n' "$name" "$result" "$((SECONDS - begun))" >>"$out/parts.tsv"
    printf '%-28s %s, %s s\n' "$name" "$result" "$((SECONDS - begun))"
    return "$code"
}
skipped() {
    printf '%s\tskipped: %s\t0\n' "$1" "$2" >>"$out/parts.tsv"
    printf '%-28s skipped: %s\n' "$1" "$2"
}

# ---- the device --------------------------------------------------------------------------------

devices="$(timeout 60 "$cli" devices 2>&1)"
printf '%s\n' "$devices" | tee "$out/devices.log"
if ! grep -q '^cuda:0' "$out/devices.log"; then
    printf 'gpu-check: nothing can be checked without a CUDA device (see the line above)\n' >&2
    exit 3
fi

# ---- tests -------------------------------------------------------------------------------------

for test in "$programs"/tst_gpu_*; do
    if [ -x "$test" ]; then part "$(basename "$test")" 90 "$test"; fi
done
# to a file of its own: the report's notes go to standard error
verify() { "$cli" verify --device cuda --json >"$out/verify.json"; }
export -f verify
export cli out
part verify 60 bash -c verify

sanitizer="$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | tail -n 1)"
if [ -n "$sanitizer" ]; then
    for tool in memcheck racecheck initcheck synccheck; do
        part "sanitizer-$tool" 45 "$sanitizer" --tool "$tool" --error-exitcode 9 \
            "$programs/tst_gpu_steps" smallStep
    done
else
    skipped sanitizer "compute-sanitizer is not installed"
fi

# ---- speed -------------------------------------------------------------------------------------

bench() { "$cli" bench --device cuda --json >"$out/bench.json"; }
export -f bench
part bench 90 bash -c bench
# PyTorch brings its own libraries: a bundle's are not for it.
plainPython() { LD_LIBRARY_PATH="${HALFSCOPE_PLAIN_LIBRARY_PATH-${LD_LIBRARY_PATH:-}}" python3 "$@"; }
export -f plainPython
if command -v python3 >/dev/null &&
    plainPython -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
    part pytorch 170 bash -c 'plainPython "$@"' python "$here/torch_step.py" "$out/pytorch.tsv"
else
    skipped pytorch "python3 has no torch with CUDA"
fi

# "row lane ms" of our JSON: one key a line, as the program writes it
oursTsv() {
    awk -F'"' '/"row":/ { row = $4 } /"lane":/ { lane = $4 }
        /"ms_per_step":/ { split($3, v, /[ :,]+/); print row "\t" lane "\t" v[2] }' "$out/bench.json"
}
# the fastest of PyTorch's ways for each row and lane
theirsTsv() {
    if [ ! -f "$out/pytorch.tsv" ]; then return 0; fi
    awk -F'\t' '{ k = $1 "\t" $2; if (!(k in best) || $4 < best[k]) { best[k] = $4; how[k] = $3 } }
        END { for (k in best) print k "\t" best[k] "\t" how[k] }' "$out/pytorch.tsv"
}

table() {
    printf '\n%-22s %-9s %9s %9s %7s %8s %s\n' row lane ours/ms PyTorch ratio target ""
    oursTsv >"$out/ours.tsv"
    theirsTsv >"$out/theirs.tsv"
    targets >"$out/targets.txt"
    awk -F'\t' -v theirs="$out/theirs.tsv" -v targets="$out/targets.txt" '
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
        }' "$out/ours.tsv"
}

# The same as JSON. Names and results hold no quotes.
summary() {
    local first=1 name result seconds
    printf '{"date": "%s", "device": "%s",\n "parts": [' "$(date -u +%Y-%m-%d)" \
        "$(sed -n 's/^cuda:0 *//p' "$out/devices.log" | head -n 1 | tr -d '"\\')"
    while IFS=$'\t' read -r name result seconds; do
        if [ "$first" = 0 ]; then printf ','; fi
        first=0
        printf '\n  {"name": "%s", "result": "%s", "seconds": %s}' "$name" "$result" "$seconds"
    done <"$out/parts.tsv"
    printf '],\n "steps": ['
    awk -F'\t' -v theirs="$out/theirs.tsv" '
        BEGIN { while ((getline line < theirs) > 0) { split(line, p, "\t"); torch[p[1] "\t" p[2]] = p[3]; how[p[1] "\t" p[2]] = p[4] } }
        { k = $1 "\t" $2
          printf "%s\n  {\"row\": \"%s\", \"lane\": \"%s\", \"ms\": %s", (NR > 1 ? "," : ""), $1, $2, $3
          if (k in torch) printf ", \"pytorch_ms\": %s, \"pytorch\": \"%s\"", torch[k], how[k]
          printf "}" }' "$out/ours.tsv"
    printf ']}\n'
}

if [ -s "$out/bench.json" ]; then
    table | tee "$out/table.txt"
    summary >"$out/summary.json"
fi
printf '\n%s in %s s; everything is in %s\n' \
    "$([ "$failed" = 0 ] && echo 'All green' || echo 'Something failed')" "$((SECONDS - started))" "$out"
exit "$failed"
