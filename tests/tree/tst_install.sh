#!/usr/bin/env bash
# tst_install.sh BUILD: installs a finished build below an empty folder, as a package is made, and uses
# what lies there: the programs start, find the CUDA module where one was built, and need nothing else.
set -euo pipefail
build="$(cd "${1:?usage: tst_install.sh BUILD}" && pwd)"
root="$(mktemp -d)"
trap 'rm -rf "$root"' EXIT
failures=0
fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

DESTDIR="$root/" cmake --install "$build" --prefix /usr >"$root/log" || { cat "$root/log"; exit 1; }
usr="$root/usr"
id=io.github.halfscope.Halfscope
expected=(bin/halfscope-cli share/doc/halfscope/LICENSE)
if [ -e "$build/halfscope" ]; then
    expected+=(bin/halfscope share/applications/$id.desktop share/metainfo/$id.metainfo.xml
        share/icons/hicolor/scalable/apps/$id.svg)
fi
if [ -e "$build/libhalfscope_cuda.so" ]; then expected+=(lib/halfscope/libhalfscope_cuda.so); fi
found="$(cd "$usr" && find . -type f | sed 's|^\./||' | sort)"
if [ "$found" != "$(printf '%s\n' "${expected[@]}" | sort)" ]; then
    fail "installed is not what was expected, but: $found"
fi

# Elsewhere and without anything of the build's surroundings.
cd "$root"
run() { env -i HOME="$root" LANG=C.UTF-8 QT_QPA_PLATFORM=offscreen "$@" 2>&1; }
version="$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")"
for program in bin/halfscope-cli bin/halfscope; do
    if [ ! -e "$usr/$program" ]; then continue; fi
    told="$(run "$usr/$program" --version)" || fail "$program --version: $told"
    if [[ "$told" != *"$version"* ]]; then fail "$program --version says $told, not $version"; fi
    if grep -qE 'R(UN)?PATH' <<<"$(readelf -d "$usr/$program")"; then fail "$program looks into the build"; fi
done
devices="$(run "$usr/bin/halfscope-cli" devices)" || fail "devices: $devices"
if [[ "$devices" != *cpu* ]]; then fail "devices has no CPU: $devices"; fi
if [ -e "$usr/lib/halfscope/libhalfscope_cuda.so" ]; then
    # no device, no driver: all the same, the module itself was loaded
    if [[ "$devices" == *"CUDA module"* ]]; then fail "the module is not found: $devices"; fi
    mv "$usr/lib/halfscope/libhalfscope_cuda.so" "$usr/lib/halfscope/elsewhere.so"
    devices="$(run "$usr/bin/halfscope-cli" devices)" || fail "devices without module: $devices"
    if [[ "$devices" != *"CUDA module not installed"* ]]; then fail "no word on the module: $devices"; fi
fi
run "$usr/bin/halfscope-cli" run --preset regression --steps 2 --out "$root/out" --quiet >/dev/null ||
    fail "the installed program does not train"
if [ ! -s "$root/out/summary.json" ]; then fail "the installed program wrote no summary"; fi

if [ -e "$usr/bin/halfscope" ]; then
    grep -qx "Icon=$id" "$usr/share/applications/$id.desktop" || fail "the icon's name is not that of its file"
    grep -q '^Exec=halfscope ' "$usr/share/applications/$id.desktop" || fail "the desktop file starts something else"
    grep -q "<id>$id</id>" "$usr/share/metainfo/$id.metainfo.xml" || fail "the metainfo is for something else"
    if command -v desktop-file-validate >/dev/null; then
        desktop-file-validate "$usr/share/applications/$id.desktop" || fail "the desktop file is not valid"
    fi
    if command -v appstreamcli >/dev/null; then
        appstreamcli validate --no-net "$usr/share/metainfo/$id.metainfo.xml" >"$root/log" ||
            { cat "$root/log" && fail "the metainfo is not valid"; }
    fi
fi
exit "$((failures > 0))"
