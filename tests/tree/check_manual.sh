#!/usr/bin/env bash
# check_manual.sh ROOT: what the README and the manual name exists. Every file in code font that begins with a
# folder of the source, every relative link, every text of the window in bold, and every page of the manual in
# the window's resources.
set -euo pipefail
cd "$1"
failed=0
complain() { printf '%s\n' "$*" >&2; failed=1; }

for page in README.md engine/README.md resources/manual/*/*.md; do
    while IFS= read -r path; do
        compgen -G "$path" >/dev/null || complain "$page: there is no file $path"
    done < <(grep -oE '`(app|engine|resources|tests|ui)/[^` ]*`' "$page" | tr -d '`')
    while IFS= read -r link; do
        target="$(dirname "$page")/${link%%#*}"
        [ -z "${link%%#*}" ] || [ -e "$target" ] || complain "$page: the link to $link leads nowhere"
    done < <(grep -oE '\]\([^)]+\)' "$page" | sed 's/^](//; s/)$//' | grep -vE '^[a-z]+:' || true)
done
for page in resources/manual/*/*.md; do
    grep -qF "<file>${page#resources/}</file>" resources/halfscope.qrc ||
        complain "$page: not in resources/halfscope.qrc, so the window does not have it"
done
for page in resources/manual/en/*.md; do
    name="$(basename "$page")"
    [ "$name" = index.md ] || grep -qF "]($name)" resources/manual/en/index.md ||
        complain "$page: not in the list of index.md, so nobody finds it"
done
# What is bold in the pages about the window stands on the screen, but for what a colon follows. Of a menu's entry,
# its own text counts. Literals in one call are one text.
texts="$(cat ui/*/*.{h,cpp} engine/*/*.{h,cpp} | tr -d '&' | sed 's/…//g; s/\\t[^"]*"/"/g' | tr '\n' ' ' | sed 's/" *"//g')"
for page in resources/manual/en/*.md; do
    case "$(basename "$page")" in words.md | add-*) continue ;; esac # terms, and steps of work
    while IFS= read -r bold; do
        bold="${bold%…}"
        grep -qF "\"${bold##* > }" <<<"$texts" || complain "$page: the window has no text $bold"
    done < <(tr '\n' ' ' <"$page" | awk -F'[*][*]' '{for (i = 2; i < NF; i += 2) if ($i !~ /:$/ && $(i + 1) !~ /^:/) print $i}')
done
# Keys of the menus and of the pictures have a row.
while IFS= read -r key; do
    grep -qE "[ ,]${key//[+.]/\\&}[ ,]" <<<"$(sed -nE 's/^\| ([^|]+) \|.*/ \1 /p' resources/manual/en/keys.md)" ||
        complain "resources/manual/en/keys.md: $key is not told"
done < <(grep -hoE '(Qt::(CTRL|SHIFT) \| )*Qt::Key_[A-Za-z0-9]+' ui/window/window_menus.cpp ui/images/compare_view.cpp |
    sed 's/Qt::CTRL | /Ctrl+/; s/Qt::SHIFT | /Shift+/; s/Qt::Key_//; s/Period/./; s/Minus/−/; s/Plus/+/; s/Escape/Esc/' |
    grep -vE 'Equal|Key|Left|Right|Up|Down' | sort -u)
exit "$failed"
