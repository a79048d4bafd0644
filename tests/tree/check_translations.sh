#!/usr/bin/env bash
# check_translations.sh ROOT [LUPDATE]: every text that the program looks up can be found by a translator.
# lupdate reads all sources without a warning, and finds texts of the engine, the window and the program.
# Exits with 77 where lupdate is not installed.
set -euo pipefail
cd "${1:?usage: check_translations.sh ROOT [LUPDATE]}"
lupdate=""
for place in ${2:+"$2"} lupdate /usr/lib/qt6/bin/lupdate; do # the first one may be that of Qt 5
    if [ -z "$lupdate" ] && "$place" -version 2>/dev/null | grep 'version 6' >/dev/null; then lupdate="$place"; fi
done
if [ -z "$lupdate" ]; then
    echo "lupdate of Qt 6 is not installed (qt6-l10n-tools)"
    exit 77
fi
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
"$lupdate" -I . -tr-function-alias QT_TRANSLATE_NOOP+=phrase app engine ui -ts "$folder/all.ts" >"$folder/log" 2>&1 ||
    { cat "$folder/log" >&2; exit 1; }
if grep -vE '^(Scanning directory|Updating|    Found [0-9]+ source text| *$)' "$folder/log" >&2; then
    echo "lupdate warns of these places: a translation would not be found there" >&2
    exit 1
fi
for context in Settings Model Files Events Metrics Devices Program halfscope::MainWindow; do
    grep -qF "<name>$context</name>" "$folder/all.ts" || { echo "no text of $context was found" >&2; exit 1; }
done
# what stands in no class of Qt's would get the name of the namespace, under which nothing is looked up
if grep -qF '<name>halfscope</name>' "$folder/all.ts"; then
    echo "a text was found under the namespace alone: use QCoreApplication::translate() there" >&2
    exit 1
fi
