#!/usr/bin/env bash
# check_manual_commands.sh ROOT CLI: what the manual says of the command line holds. Commands that need no file run
# for a step; options, commands and settings exist, and those of `run` and the files that it writes are all told.
set -euo pipefail
root="$1" cli="$2" failed=0
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
complain() { printf '%s\n' "$*" >&2; failed=1; }
manual="$root/resources/manual/en"
pages=("$root/README.md" "$manual"/*.md)
cd "$work"

optionsOf() { "$cli" "$1" --help | grep -oE '^ +(-h,)?--[a-z-]+' | grep -oE -- '--[a-z-]+'; }
# Prints what stands in code font in a section of a page, up to the next heading of its size.
codeIn() { awk -v title="## $2" '/^## /{on = $0 == title} on' "$manual/$1" | grep -oE '`[^`]+`' | tr -d '`'; }

commands="$("$cli" --help | awk '/^Subcommands:/{on = 1; next} /^$/{on = 0} on && /^  [a-z]/{print $1}')"
told="$(sed -nE 's/^\| `([a-z]+)` \|.*/\1/p' "$manual/command-line.md")"
[ "$(sort <<<"$commands")" = "$(sort <<<"$told")" ] || complain "command-line.md has other commands than --help"
table="$(codeIn command-line.md "What run takes")"
for option in $(optionsOf run); do
    [ "$option" = --help ] || grep -q -- "^$option" <<<"$table" || complain "command-line.md: run has $option too"
done

# every command line in a block of code or in code font, without what a shell does to it
grep -hoE '^(  )?halfscope-cli [^|>]+|`halfscope-cli [^`]+`' "${pages[@]}" | sed 's/`//g; s/^ *halfscope-cli //; s/ >.*//' |
    grep -v '^COMMAND' | sort -u >lines
[ "$(wc -l <lines)" -gt 20 ] || complain "few commands were found in the manual"
while IFS= read -r line; do
    command="${line%% *}"
    grep -qx -- "$command" <<<"$commands" || { complain "there is no command: $line"; continue; }
    for option in $(sed 's/"[^"]*"//g' <<<"$line" | grep -oE -- ' --[a-z-]+'); do
        grep -qx -- "$option" <<<"$(optionsOf "$command")" || [ "$option" = --help ] ||
            complain "$command has no $option: $line"
    done
    eval "words=($(sed 's/\$scale/1/g' <<<"$line"))" # words as a shell reads them; the lines are our own
    case "${words[1]-}" in --preset | --lanes | --set) ;; *) continue ;; esac
    arguments=()
    for ((i = 1; i < ${#words[@]}; ++i)); do # a step is enough
        if [ "${words[i]}" = --epochs ] || [ "${words[i]}" = --steps ]; then ((++i)); else arguments+=("${words[i]}"); fi
    done
    case "$command $line" in
        *FOLDER* | *data.x=*.npy* | *--resume* | *NAME*) continue ;; # files of the reader
        run*) arguments+=(--steps 1 --quiet --device cpu) ;;
        pytorch* | describe*) ;;
        *) continue ;;
    esac
    "$cli" "$command" "${arguments[@]}" >output 2>&1 || complain "this fails: $line: $(tail -n 1 output)"
done <lines

# settings in code font, alone or after --set; optimizer.maximize is a setting that a page adds to try itself
keys="$("$cli" settings | sed -nE 's/^\* Key: `([a-z_.0-9]+)`;.*/\1/p')"
while IFS= read -r key; do
    grep -qx "$key" <<<"$keys" || [[ "$key" =~ \.(csv|json|maximize)$ ]] || complain "there is no setting $key in the program"
done < <(grep -hoE '(`|--set "?)(lanes\.[0-9]\.)?(task|model|data|validation|optimizer|schedule|gradients|run|precision|scaler)\.[a-z_0-9]+(`|=)' \
    "${pages[@]}" | sed -E 's/^(`|--set "?)(lanes\.[0-9]\.)?//; s/[`=]$//' | sort -u)

# bases of policy files
printf '{"version": 1, "name": "x", "base": ""}' >policy.json
bases="$("$cli" describe --preset overflow --lanes user --set precision.policy=policy.json 2>&1 || true)"
[[ "$bases" == *"one of none, "* ]] || complain "no list of bases: $bases"
while IFS= read -r base; do
    grep -qx -- "$base" <<<"$(codeIn precisions.md "Policy files")" || complain "precisions.md: the base $base is not told"
done < <(sed 's/.*one of //; s/, /\n/g' <<<"$bases")

# what is in the files of a run: with validation, every table and every key of a lane
"$cli" run --preset moons --epochs 2 --gradients 5 --out out --quiet --device cpu
for name in steps events timing gradients; do
    codes="$(codeIn files.md "$name.csv")"
    for column in $(head -n 1 "out/$name.csv" | tr ',' ' '); do
        [[ "$column" == 2^* ]] || grep -qx -- "$column" <<<"$codes" || complain "files.md, $name.csv: $column is not told"
    done
done
for name in summary manifest; do
    codes="$(codeIn files.md "$name.json" | sed 's/^lanes\[\]\.//')"
    for key in $(sed -nE 's/^( {4}| {12})"([a-z_]+)":.*/\2/p' "out/$name.json" | sort -u); do
        [ "$key" = lanes ] || grep -qx "$key" <<<"$codes" || complain "files.md, $name.json: $key is not told"
    done
done
exit "$failed"
