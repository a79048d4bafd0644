#!/usr/bin/env bash
# reference.sh check|write PAGE NAME COMMAND...: the part of a page of the manual between the two markers
# of that name equals (check) or becomes (write) what COMMAND prints from the program's tables.
set -euo pipefail
mode="$1" page="$2" name="$3"
shift 3
begin="<!-- $name: begin (./dev format --reference) -->"
end="<!-- $name: end -->"
for marker in "$begin" "$end"; do
    if [ "$(grep -cxF -e "$marker" "$page")" != 1 ]; then
        echo "$page: the line '$marker' must stand there once" >&2
        exit 1
    fi
done
wanted="$(mktemp)"
trap 'rm -f "$wanted"' EXIT
{
    awk -v begin="$begin" '{ print } $0 == begin { exit }' "$page"
    echo
    "$@"
    echo
    awk -v end="$end" '$0 == end { on = 1 } on' "$page"
} | cat -s >"$wanted"
case "$mode" in
    check)
        if ! diff -u "$page" "$wanted"; then
            echo "the part '$name' of $page is out of date: ./dev format --reference" >&2
            exit 1
        fi
        ;;
    write) cat "$wanted" >"$page" ;;
    *)
        echo "reference.sh: check or write, not '$mode'" >&2
        exit 2
        ;;
esac
