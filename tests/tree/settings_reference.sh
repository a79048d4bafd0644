#!/usr/bin/env bash
# settings_reference.sh check|write README COMMAND...: the reference of settings in the README, between its
# two markers, equals (check) or becomes (write) what COMMAND prints from the field table.
set -euo pipefail
mode="$1" readme="$2"
shift 2
begin='<!-- settings: begin (./dev format --reference) -->'
end='<!-- settings: end -->'
for marker in "$begin" "$end"; do
    if [ "$(grep -cxF -e "$marker" "$readme")" != 1 ]; then
        echo "$readme: the line '$marker' must stand there once" >&2
        exit 1
    fi
done
wanted="$(mktemp)"
trap 'rm -f "$wanted"' EXIT
{
    awk -v begin="$begin" '{ print } $0 == begin { exit }' "$readme"
    echo
    "$@"
    echo
    awk -v end="$end" '$0 == end { on = 1 } on' "$readme"
} | cat -s >"$wanted"
case "$mode" in
    check)
        if ! diff -u "$readme" "$wanted"; then
            echo "the README's reference of settings is out of date: ./dev format --reference" >&2
            exit 1
        fi
        ;;
    write) cat "$wanted" >"$readme" ;;
    *)
        echo "settings_reference.sh: check or write, not '$mode'" >&2
        exit 2
        ;;
esac
