#!/usr/bin/env bash
# The tree check must find what it looks for: each row plants one violation in a small clean tree and names the
# words that the report must hold.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
tree="$(mktemp -d)"
trap 'rm -rf "$tree"' EXIT
failures=0

clean() {
    rm -rf "${tree:?}"/*
    mkdir -p "$tree"/{app,engine/core,ui/models,resources,tests}
    cp "$here/../../.clang-format" "$tree/"
    printf '// A file.\n#pragma once\n#include <string>\n' >"$tree/engine/core/a.h"
    printf '// A file.\n#include "engine/core/a.h"\n\n#include <QString>\n' >"$tree/ui/models/m.cpp"
    printf '// A file.\n#include "engine/core/a.h"\n' >"$tree/app/cli.cpp"
    printf '# Nothing.\n' >"$tree/CMakeLists.txt"
}

# row FILE LINE WORDS [PLACE]: LINE appended to FILE (a new one begins with a comment) must be reported
# with WORDS, for PLACE (FILE when it is not given).
row() {
    local file="$tree/$1" output
    clean
    mkdir -p "$(dirname "$file")"
    if [ ! -e "$file" ]; then printf '// A file.\n' >"$file"; fi
    printf '%b\n' "$2" >>"$file"
    if output="$("$here/check_tree.sh" "$tree")"; then
        echo "FAIL: not found: $3 ($1: $2)"
        failures=$((failures + 1))
    elif ! grep -qF "$3: ${4:-$1}" <<<"$output"; then
        echo "FAIL: expected '$3: ${4:-$1}', got: $output"
        failures=$((failures + 1))
    fi
}

clean
if ! "$here/check_tree.sh" "$tree"; then
    echo "FAIL: the clean tree is not clean"
    failures=1
fi
row engine/core/b.cpp '#include <QString>' 'Qt in the engine'
row engine/core/b.cpp '#  include <QtCore>' 'Qt in the engine'
row engine/CMakeLists.txt 'target_link_libraries(e Qt6::Core)' 'Qt in the engine'
row app/cli_run.cpp '#include <QCoreApplication>' 'Qt in the command line'
row engine/train/b.cpp '#include <cuda_runtime.h>' 'CUDA outside engine/cuda'
row ui/b.cpp '#include <cublas_v2.h>' 'CUDA outside engine/cuda'
row engine/core/b.cpp '#include "ui/look/theme.h"' 'include upwards'
row engine/core/b.cpp '#include "app/cli.h"' 'include upwards'
row ui/b.cpp '#include "app/cli.h"' 'include upwards'
row app/b.cpp '#include "tests/support.h"' 'include upwards'
row engine/core/b.cpp '#include "../../ui/look/theme.h"' 'include is no path from the root'
row ui/b.cpp '#include "theme.h"' 'include is no path from the root'
row engine/core/b.cpp '#include "engine/train/trainer.h"' 'against the order of the folders' engine/core/b.cpp:2
row engine/cpu/b.cpp '#include "engine/cuda/gemm.h"' 'against the order of the folders' engine/cpu/b.cpp:2
row engine/odd/b.cpp 'int x;' 'against the order of the folders' engine/odd/b.cpp
row ui/look/b.cpp '#include "ui/window/main_window.h"' 'against the order of the folders' ui/look/b.cpp:2
row ui/plots/b.cpp '#include "ui/images/image_view.h"' 'against the order of the folders' ui/plots/b.cpp:2
row engine/passes/b.cpp '    case Op::Add: return 1;' "what is done for an op belongs into its row of a table"
row ui/models/b.cpp '#include <QWidget>' 'a model that needs more than Qt Core'
row ui/models/b.cpp '#include "ui/plots/plot_stack.h"' 'a model that needs more than Qt Core'
row engine/core/b.cpp "$(printf '// x\\n%.0s' {1..600})" 'too long'
row engine/core/b.cpp "// TO""DO: later" 'unfinished'
row tests/tst_b.cpp '// FIX''ME' 'unfinished'
row engine/core/c.h 'int x;' 'no #pragma once'
row notes/b.md 'words' 'top level holds more than the agreed layout' notes
row README.md '![a picture](resources/a.png)' 'a README links to a missing file' 'README.md: resources/a.png'
row engine/README.md '[the ops](ops/a.cpp)' 'a README links to a missing file' 'engine/README.md: ops/a.cpp'
row resources/b.txt 'see /ho''me/me/file' 'a path of one machine'

declares() { # a class of a later room, by its bare name
    clean
    mkdir -p "$tree/engine/train"
    printf '// A file.\n#pragma once\nclass Trainer;\n' >"$tree/engine/core/b.h"
    printf '// A file.\n#pragma once\nclass Trainer {\n};\n' >"$tree/engine/train/b.h"
    local output
    output="$("$here/check_tree.sh" "$tree")" || true
    if ! grep -qF 'against the order of the folders: engine/core/b.h:3: engine/core declares Trainer' <<<"$output"; then
        echo "FAIL: the declaration of a later room's class was not found, got: $output"
        failures=$((failures + 1))
    fi
}
declares

bare() { # a file without its first comment
    clean
    printf 'int x;\n' >"$tree/engine/core/b.cpp"
    local output
    output="$("$here/check_tree.sh" "$tree")" || true
    if ! grep -qF 'does not begin with a comment that says what it holds: engine/' <<<"$output"; then
        echo "FAIL: a file without its first comment was not found, got: $output"
        failures=$((failures + 1))
    fi
}
bare
if clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
    row engine/core/b.cpp 'int   x  ;' 'not formatted (./dev format)'
fi
if [ "$failures" != 0 ]; then exit 1; fi
echo 'every planted violation was found'
