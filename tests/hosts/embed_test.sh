#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The pages of doc/embed, followed as a reader does: each begins with a program and changes it by seven diffs. After
# each step the program compiles with the page's own command and without warnings, finds the known optimum, and prints
# the lines that the page shows. Numbers other than the optimum depend on the solver's version: here a 0 must be a 0,
# and any other number may be any other one. With GPUOPT_TEST_DATA, the last step also solves p0201.
# A solver that is not installed is skipped. For SCIP, GPUOPT_SCIP may name its shared library; else that of PyPI's
# pyscipopt is used, which needs the network once.
# Usage: embed_test.sh
# Runs with: --all
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
# shellcheck source=lost.sh
. "$root/tests/hosts/lost.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }
cd "$work" || exit 1
cp -r "$root/gpuopt.h" "$root/gpuopt" "$root/gpuopt_impl" . # vendoring
mkdir -p examples include/scip lib && cp -r "$root/examples/hosts" examples
cp "$root/doc/embed/caps.mps" .

# ---- A page ----

# Every block of the page as a file: 01.c, 02.sh, 03.text, ...
split_blocks() {
    rm -rf blocks && mkdir blocks
    awk '/^```./ { file = sprintf("blocks/%02d.%s", ++n, substr($0, 4)); printf "" >file; next }
        /^```$/ { file = ""; next }
        file { print >file }' "$1"
}

# Numbers by their shape.
shape() { sed -E '/^optimum/!{ s/[0-9.e-]+ s\>/T s/g; s/[0-9]+\.[0-9]+/D/g; s/\<0\>/Z/g; s/[0-9]+/N/g; }'; }
shows() { diff <(shape <"$1") <(shape <out); }

# What the blocks of commands mean: "-c" compiles an object once, "./" is how the program is run from now on, and other
# lines are how it is compiled from now on.
compile="" run=""
take_commands() {
    local line compiles="" runs=""
    sed -e ':a' -e '/\\$/{ N; s/ *\\\n */ /; ba' -e '}' "$1" >commands
    while read -r line; do
        case $line in
        *" -c "*)
            if [ ! -e gpuopt.o ]; then bash -c "$line" || return; fi
            ;;
        ./*) runs="$runs$line"$'\n' ;;
        *) compiles="$compiles$line"$'\n' ;;
        esac
    done <commands
    [ -z "$compiles" ] || compile=$compiles
    [ -z "$runs" ] || run=$runs
}
is_strict() { [[ $compile == *"-Wall -Wextra -Werror"* ]] || { echo "$compile" && return 1; }; }

# step TEXT: compiles and runs what there is by now.
finds() { grep -qx "optimum $1" out || { cat out && return 1; }; }
step() {
    is_strict && bash -e -c "$compile" || return
    if ! timeout 300 bash -e -c "$run" >out 2>&1; then cat out && return 1; fi
    finds "$optimum" && shows "$1"
}
small() { [ "$(grep -c '^+[^+]' "$1")" -le 35 ]; }
apply() { small "$1" && patch --fuzz=0 -s "$program" "$1"; }

# follow PAGE PROGRAM OPTIMUM: all blocks in their order.
follow() {
    local page=$1 steps=0 text
    program=$2 optimum=$3 compile="" run=""
    split_blocks "$root/doc/embed/$page"
    for text in blocks/*; do
        case $text in
        *.c | *.cpp) cp "$text" "$program" ;;
        *.sh) take_commands "$text" || check "$page: commands" false ;;
        *.diff)
            steps=$((steps + 1))
            check "$page, step $steps: the diff is small, and applies" apply "$text"
            ;;
        *.text) check "$page, step $steps: $(head -n 1 <<<"$run")" step "$text" ;;
        esac
    done
    check "$page: seven steps" [ "$steps" -eq 7 ]
}

# fails_later: the last program of a page with a device that is lost after ten calls.
fails_later() {
    [ -e lost.o ] || cc -O1 -I. -c "${lost[0]}" -o lost.o || return
    bash -e -c "${compile/ -I. / -I. lost.o ${lost[*]:1} }" && LOST_AT=11 ./solver caps.mps >out 2>&1
    grep -q "goes on alone" out && finds "$optimum"
}

# on_public_model OPTIMUM: the last program of a page, with gpuopt and alone.
solves() {
    timeout 300 ./solver "${@:2}" >out 2>&1
    finds "$1"
}
on_public_model() {
    local file=${GPUOPT_TEST_DATA:-}/miplib/p0201.mps.xz
    if [ -e "$file" ]; then
        xz -dc "$file" >p0201.mps
        check "p0201 with the program of the last step" solves "$1" p0201.mps
        check "p0201 without gpuopt" solves "$1" p0201.mps 0
    else
        skip "p0201" "GPUOPT_TEST_DATA does not have it"
    fi
}

# ---- The solvers ----

can_include() { echo "#include <$1>" | g++ -isystem /usr/include/coin -x c++ -E - >/dev/null 2>&1; }

if ! command -v patch >/dev/null; then
    leave "the pages" "no patch"
fi
if can_include glpk.h; then
    follow glpk.md solver.c 18
    # With another optimum, or another word, on the page, the check must fail.
    sed 's/^optimum 18/optimum 17/' out >other
    check "seen: a page that shows another optimum" eval '! shows other'
    sed 's/nodes/leaves/' out >other
    check "seen: a page that shows another word" eval '! shows other'
    on_public_model 7615
    check "glpk.md: a call fails in the middle" fails_later
else
    skip "glpk.md" "no glpk.h"
fi

if can_include ClpFactorization.hpp; then
    follow clp.md solver.cpp 9
    on_public_model 6875
    check "clp.md: a call fails in the middle" fails_later
else
    skip "clp.md" "no ClpFactorization.hpp"
fi

# The path of the library, or nothing. The wheel stays in the cache.
version=6.3.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/gpuopt-tests/pyscipopt-$version
scip_library() {
    if [ -n "${GPUOPT_SCIP:-}" ]; then echo "$GPUOPT_SCIP" && return; fi
    if [ ! -d "$cache" ]; then
        python3 -m pip -q download --no-deps --only-binary :all: -d wheel "pyscipopt==$version" >/dev/null 2>&1 &&
            mkdir -p "$cache" && python3 -m zipfile -e wheel/*.whl "$cache"
    fi
    find "$cache" -name 'libscip*.so*' 2>/dev/null | head -n 1
}
scip=$(scip_library)
if [ -e "$scip" ]; then
    ln -s "$scip" lib/libscip.so
    LD_LIBRARY_PATH=$(dirname "$scip")
    export LIBRARY_PATH=$work/lib LD_LIBRARY_PATH C_INCLUDE_PATH=$work/include
    echo "#include \"$root/tests/hosts/scip_prototypes.h\"" >include/scip/scip.h
    touch include/scip/scipdefplugins.h
    follow scip.md solver.c 18
    on_public_model 7615
    check "scip.md: a call fails in the middle" fails_later
else
    skip "scip.md" "no SCIP, and no pyscipopt from PyPI"
fi
summary
