#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# That the two files of tools/single_header.sh are the library: the same code as the many files, compiled and run as a
# caller would, from a folder that holds nothing else of it.
# Usage: single_header_test.sh [--all]
#   --all  the whole vendoring test, too, with the CUDA object where there is nvcc: minutes. tests/run.sh --all does
#          without, since it does all that with the folders, and what the compilers see of these files is the same
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }

two_files_alone() {
    [ "$(ls "$work/dist")" = $'gpuopt.h\ngpuopt_cuda.cu' ] &&
        ! grep -nE '#[[:space:]]*include[[:space:]]*"' "$work/dist/gpuopt.h" &&
        [ "$(grep -E '#[[:space:]]*include[[:space:]]*"' "$work/dist/gpuopt_cuda.cu")" = '#include "gpuopt.h"' ]
}
says_what_it_is() { head -n 4 "$1" | grep -q 'SPDX-License-Identifier: MIT' && head -n 4 "$1" | grep -q 'Copyright'; }
is_made_again() { "$root/tools/single_header.sh" "$work/again" && diff -r "$work/dist" "$work/again"; }

# tokens_are_the_same MANY SINGLE PATTERN COMMAND...: what the command preprocesses of the two files, in which PATTERN
# is found. Whatever the options for code, it comes out the same then.
tokens() { "$@" | grep -v '^# ' | tr -s '[:space:]' '\n'; }
tokens_are_the_same() {
    tokens "${@:4}" "$1" >many.txt && tokens "${@:4}" "$2" >single.txt && grep -q "$3" single.txt && cmp many.txt single.txt
}

prints_the_same() { ./quickstart >single.txt && ./quickstart_many >many.txt && [ -s single.txt ] && diff many.txt single.txt; }
quickstart() {
    local name=$1
    shift
    check "quickstart, $name" "$@" -Idist -DGPUOPT_IMPLEMENTATION quickstart.c -lm -o quickstart &&
        check "it prints what it prints elsewhere" prints_the_same
}

# A folder whose only files of gpuopt are these two.
cd "$work" || exit 1
check "tools/single_header.sh makes the two files" "$root/tools/single_header.sh" "$work/dist" || { summary && exit; }
check "they include nothing but each other and system headers" two_files_alone
check "gpuopt.h says its licence" says_what_it_is dist/gpuopt.h
check "gpuopt_cuda.cu says its licence" says_what_it_is dist/gpuopt_cuda.cu
check "they are the same when made again" is_made_again
printf '#define GPUOPT_IMPLEMENTATION\n#include "gpuopt.h"\n' >single.c
for flags in "-x c" "-x c -fopenmp" "-x c++ -fopenmp"; do
    # shellcheck disable=SC2086 # several flags
    check "to the compiler, gpuopt.h is the same as gpuopt_impl/gpuopt.c: $flags" \
        tokens_are_the_same "$root/gpuopt_impl/gpuopt.c" single.c '^gpuopt__simplex_' gcc -E -Idist $flags
done

cp "$root/examples/quickstart.c" .
check "quickstart from the many files" \
    gcc -I"$root" quickstart.c "$root/gpuopt_impl/gpuopt.c" -lm -o quickstart_many
quickstart "C" gcc -std=c11
quickstart "C++" g++ -std=c++17 -x c++

# What the compilers see of the CUDA backend.
(cd "$root" && printf "#include \"$root/%s\"\n" cuda/*.cu cuda/*/*.cu) >many.cu
cuda='^\*gpuopt_backend_cuda(void)'
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ ! -x "$nvcc" ]; then
    skip "gpuopt_cuda.cu" "no nvcc"
else
    check "to nvcc, gpuopt_cuda.cu is the same as the units of cuda/" \
        tokens_are_the_same many.cu dist/gpuopt_cuda.cu "$cuda" "$nvcc" -E -arch=sm_90
    check "to the host's compiler, too" tokens_are_the_same many.cu dist/gpuopt_cuda.cu "$cuda" \
        g++ -E -x c++ -D__CUDACC__ -I"$(dirname "$(readlink -f "$nvcc")")/../include"
fi

if [ "${1:-}" = --all ]; then
    GPUOPT_TEST_ALL=1 run_script "the vendoring test" "$root/tests/frame/vendoring_test.sh" dist
fi

summary
