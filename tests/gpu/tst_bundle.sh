#!/usr/bin/env bash
# The bundle of bundle.sh, made of the one program that needs most libraries: it starts from there, and
# brings nothing of this machine's C library, which another machine's could not load.
#   tst_bundle.sh BUILD
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
failures=0
fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

mkdir "$work/build"
cp "$1/halfscope-cli" "$work/build/"
bash "$here/bundle.sh" "$work/build" "$work/bundle"
"$work/bundle/run" halfscope-cli --version >"$work/said" || fail "it does not start: $(cat "$work/said")"
if ! ls "$work/bundle/lib/"libz.so.* >/dev/null; then fail "no libraries: $(ls "$work/bundle/lib")"; fi
for library in "$work/bundle/lib/"*; do
    name="$(basename "$library")"
    # what one part of glibc has for another, of the same build alone
    if grep -qa GLIBC_PRIVATE "$library"; then fail "$name is a part of glibc"; fi
    case "$name" in
        libcuda* | libcublas* | libcudnn* | libnvrtc* | libc.so*) fail "$name belongs to the other machine" ;;
    esac
done

if [ "$failures" = 0 ]; then echo "the bundle starts, and brings no part of glibc"; fi
exit "$((failures > 0))"
