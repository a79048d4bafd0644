#!/usr/bin/env bash
# Puts what a GPU machine needs to run check.sh into one folder under 55 MB: programs, the CUDA module
# and the shared libraries beyond glibc's and CUDA's. The folder runs on any Linux with the same glibc
# or a later one, without Qt; CUDA's libraries are that machine's own.
#   bundle.sh BUILD FOLDER
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
build="$1"
folder="$2"
limit=55000000

programs=("$build/halfscope-cli")
links=() # each test of a suite is a link to its program
for test in "$build"/gpu-profile "$build"/halfscope-gpu-tests "$build"/tst_gpu_*; do
    if [ -h "$test" ]; then
        links+=("$test")
    elif [ -x "$test" ] && [ ! -d "$test" ]; then
        programs+=("$test")
    fi
done
modules=()
if [ -f "$build/libhalfscope_cuda.so" ]; then modules+=("$build/libhalfscope_cuda.so"); fi

rm -rf "$folder"
mkdir -p "$folder/programs" "$folder/lib"
for file in "${programs[@]}" "${modules[@]}"; do
    cp "$file" "$folder/programs/"
    strip --strip-unneeded "$folder/programs/$(basename "$file")"
done
if [ "${#links[@]}" -gt 0 ]; then cp -P "${links[@]}" "$folder/programs/"; fi

# All of glibc, whose parts must be of one build (libresolv calls what only its own libc has), and what
# belongs to the machine's driver and toolkit.
leftOut='^(linux-vdso|ld-linux|lib(c|m|mvec|dl|rt|pthread|resolv|util|anl|nss_[a-z]+|BrokenLocale|thread_db)\.so|libcuda|libcudart|libcublas|libcudnn|libnvrtc|libnvJitLink|libnvidia)'
ldd "${programs[@]}" "${modules[@]}" | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' | sort -u |
    while read -r name path; do
        if ! [[ "$name" =~ $leftOut ]]; then cp -L "$path" "$folder/lib/$name"; fi
    done
# Packed: most of it is oneDNN's code for other processors, ICU's data for other languages, and the
# engine in each program.
tar -C "$folder" -czf "$folder/packed.tar.gz" lib programs
rm -r "${folder:?}/lib" "${folder:?}/programs"

cp "$here/check.sh" "$here/torch_step.py" "$folder/"
git -C "$here" rev-parse --short HEAD >"$folder/commit" 2>/dev/null || rm -f "$folder/commit"
cat >"$folder/environment.sh" <<'ENVIRONMENT'
# For check and run, which source it: unpacks the programs at the first start and says where they find
# their libraries. `unpacked` is then the folder that holds lib and programs.
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
unpacked="$here"
if [ ! -d "$here/lib" ]; then
    if [ ! -w "$here" ]; then unpacked="$(mktemp -d)"; fi
    tar -C "$unpacked" -xzf "$here/packed.tar.gz"
fi
lib="$unpacked/lib"
# The later of the two C++ libraries: CUDA's may want more than ours has.
newest() { grep -ao 'GLIBCXX_3\.4\.[0-9]*' "$1" | sort -Vu | tail -n 1; }
theirs="$(ldconfig -p 2>/dev/null | awk '$1 == "libstdc++.so.6" && /x86-64|AArch64/ && !found++ { print $NF }')"
ours="$lib/libstdc++.so.6"
if [ -n "$theirs" ] && [ -f "$ours" ] &&
    [ "$(printf '%s\n' "$(newest "$ours")" "$(newest "$theirs")" | sort -V | tail -n 1)" = "$(newest "$theirs")" ]; then
    rm -f "$ours" "$lib/libgcc_s.so.1"
fi
# CUDA's own libraries: the toolkit's, else those that came with PyTorch.
cuda=""
for found in /usr/local/cuda*/lib64 /usr/local/cuda*/targets/*/lib /usr/local/cuda*/lib; do
    if [ -d "$found" ]; then cuda="$cuda:$found"; fi
done
if command -v python3 >/dev/null; then
    wheels="$(python3 -c 'import glob, site, sys
print(":".join(d for p in sys.path + site.getsitepackages() for d in glob.glob(p + "/nvidia/*/lib")))' 2>/dev/null || true)"
    cuda="$cuda${wheels:+:$wheels}"
fi
export HALFSCOPE_PLAIN_LIBRARY_PATH="${LD_LIBRARY_PATH:-}" # for programs that are not ours
export LD_LIBRARY_PATH="$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}$cuda"
ENVIRONMENT
cat >"$folder/check" <<'LAUNCHER'
#!/usr/bin/env bash
# Checks the CUDA engine on this machine: ./check [correct|speed|record] [DIR]. Results go to DIR
# (default: gpu-check).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
exec bash "$here/check.sh" "$unpacked/programs" "$@"
LAUNCHER
cat >"$folder/run" <<'LAUNCHER'
#!/usr/bin/env bash
# Starts one program of the bundle: ./run PROGRAM [ARGUMENTS], behind WITH="COMMAND ..." where that is
# set (compute-sanitizer, ncu). Without PROGRAM lists them.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
if [ "$#" = 0 ]; then
    ls "$unpacked/programs"
    exit 0
fi
program="$unpacked/programs/$1"
if [ ! -x "$program" ]; then
    printf 'run: no program "%s"; there are: %s\n' "$1" "$(cd "$unpacked/programs" && echo *)" >&2
    exit 2
fi
shift
# shellcheck disable=SC2086
exec ${WITH:-} "$program" "$@"
LAUNCHER
chmod +x "$folder/check" "$folder/run" "$folder/check.sh"

bytes="$(du -sb "$folder" | cut -f1)"
if [ "$bytes" -gt "$limit" ]; then
    printf 'gpu-bundle: %s has %s bytes, at most %s are wanted\n' "$folder" "$bytes" "$limit" >&2
    exit 1
fi
printf 'The bundle is in %s (%s bytes): copy it to a machine with a GPU and start ./check or ./run there.\n' "$folder" "$bytes"
