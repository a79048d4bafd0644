#!/usr/bin/env bash
# tst_without_window.sh SOURCE: what HALFSCOPE_UI=OFF and HALFSCOPE_TESTS=OFF promise, as the plan of a
# build tells it: no Widgets without the window, no Qt at all without the tests too, and the programs
# for servers and GPU machines all the same.
set -euo pipefail
source="$(cd "${1:?usage: tst_without_window.sh SOURCE}" && pwd)"
root="$(mktemp -d)"
trap 'rm -rf "$root"' EXIT
failures=0
fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}
plan() { # NAME OPTIONS...: prints the plan's file
    local folder="$root/$1"
    shift
    cmake -S "$source" -B "$folder" -G Ninja "$@" >"$root/log" 2>&1 || { cat "$root/log" >&2; exit 1; }
    printf '%s' "$folder/build.ninja"
}

window="$(plan window)"
if ! grep -q Qt6 "$window"; then # the packages are missing, so that nothing could be told apart
    echo "Qt 6 was not found: nothing to leave out"
    exit 0
fi
servers="$(plan servers -DHALFSCOPE_UI=OFF)"
alone="$(plan alone -DHALFSCOPE_UI=OFF -DHALFSCOPE_TESTS=OFF)"
if grep -qE 'Qt6(Widgets|Gui|Svg|PrintSupport)|qcustomplot' -i "$servers"; then
    fail "HALFSCOPE_UI=OFF still needs the window's libraries"
fi
for target in halfscope-cli tst_gpu_ops tst_scaler; do
    if ! grep -q "^build $target: " "$servers"; then fail "HALFSCOPE_UI=OFF builds no $target"; fi
done
if grep -q Qt6 "$alone"; then fail "HALFSCOPE_TESTS=OFF still needs Qt"; fi
if ! grep -q '^build halfscope-cli: ' "$alone"; then fail "nothing is left to build"; fi
if [ "$failures" -gt 0 ]; then exit 1; fi
echo "without the window: no Qt that a server lacks"
