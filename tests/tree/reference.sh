#!/usr/bin/env bash
# reference.sh check|write README NAME COMMAND...: the part of the README between the two markers of that
# name equals (check) or becomes (write) what COMMAND prints from the program's tables.
set -euo pipefail
mode="$1" readme="$2" name="$3"
shift 3
begin="<!-- $name: begin (./dev format --reference) -->"
end="<!-- $name: end -->"
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
            echo "the README's part '$name' is out of date: ./dev format --reference" >&2
            exit 1
        fi
        ;;
    write) cat "$wanted" >"$readme" ;;
    *)
        echo "reference.sh: check or write, not '$mode'" >&2
        exit 2
        ;;
esac
