#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# That the implementation, compiled with options that break IEEE arithmetic, is refused, either by the compiler or when
# a context is made, with a message that names an option; and that harmless options are not.
# What gcc tells by macros is hidden from numerics.h in some of the builds, to see that the self-test finds it as well.
# Most builds are of the frame alone (arithmetic.c); with --all some are of the library with one family.
# Needs gcc; clang is used if it is installed, else reported as skipped.
# Usage: arithmetic_test.sh
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }
cd "$work" || exit 1

# opened COMPILER FLAG...: compiles the frame, and makes a context.
opened() { "$@" -DALONE -I"$root" "$root/tests/frame/arithmetic.c" -lm -o program && ./program; }
opened_library() {
    "$@" -DGPUOPT_WITHOUT_{BASIS,SIMPLEX,ELIMINATION,KNAPSACK} -I"$root" "$root/tests/frame/arithmetic.c" \
        "$root/gpuopt_impl/gpuopt.c" -lm -o program && ./program
}

# refused REASON HOW COMPILER FLAG...: REASON is a pattern for the option that the message must name; HOW is
# opened or opened_library.
refused() {
    local reason=$1
    shift
    if "$@" >log.txt 2>&1; then
        cat log.txt && echo "a context was made"
        return 1
    fi
    grep -Eq "$reason" log.txt || { cat log.txt && return 1; }
}

can_run_fma() { grep -qw fma /proc/cpuinfo 2>/dev/null; }

error='error:.*|gpuopt_context_create: as gpuopt.c was compiled,.*'
self='gpuopt_context_create: as gpuopt.c was compiled,.*'
order='(fassociative-math|Ofast|funsafe-math-optimizations)'
hide=(-U__FAST_MATH__ -U__ASSOCIATIVE_MATH__ -U__RECIPROCAL_MATH__ -U__FINITE_MATH_ONLY__)
for compiler in gcc clang; do
    if ! command -v $compiler >/dev/null; then
        skip "$compiler" "not installed"
        continue
    fi
    for flags in -O0 -O3 "-O3 -march=native" "-O2 -fno-math-errno -fno-signed-zeros" "-O2 -ffp-contract=on"; do
        read -ra flag <<<"$flags"
        check "a context is made: $compiler $flags" opened $compiler "${flag[@]}"
    done
    for flags in -ffast-math -Ofast; do
        check "refused: $compiler $flags" refused "($error)ffast-math" opened $compiler $flags
    done
    check "refused: $compiler -ffinite-math-only" refused "($error)ffinite-math-only" opened $compiler -ffinite-math-only
    for flags in -funsafe-math-optimizations "-fassociative-math -fno-signed-zeros -fno-trapping-math" \
        "-Ofast -fno-finite-math-only"; do
        read -ra flag <<<"-O2 $flags"
        check "refused: $compiler -O2 $flags" refused "($error)$order" opened $compiler "${flag[@]}"
        check "refused by the self-test: $compiler -O2 $flags" \
            refused "$self$order" opened $compiler "${flag[@]}" "${hide[@]}"
    done
    check "refused by the self-test: $compiler -O2 -ffinite-math-only" \
        refused "${self}ffinite-math-only" opened $compiler -O2 -ffinite-math-only "${hide[@]}"
    check "refused: $compiler -O2 -freciprocal-math" \
        refused "($error)(freciprocal-math|funsafe-math)" opened $compiler -O2 -freciprocal-math
    if ! can_run_fma; then
        skip "$compiler -mfma -ffp-contract=fast" "this machine has no fused multiply-add"
    elif [ $compiler = gcc ]; then
        check "a context is made, the option being overruled: gcc -O2 -mfma -ffp-contract=fast" \
            opened gcc -O2 -mfma -ffp-contract=fast
    else
        check "refused by the self-test: clang -O2 -mfma -ffp-contract=fast" \
            refused "${self}ffp-contract=fast" opened clang -O2 -mfma -ffp-contract=fast
    fi
    if runs_all; then
        check "the library is refused by the self-test: $compiler -O1 -funsafe-math-optimizations" \
            refused "$self$order" opened_library $compiler -O1 -funsafe-math-optimizations "${hide[@]}"
    fi
done
if [ "$(uname -m)" = x86_64 ]; then
    check "refused: gcc -mfpmath=387" refused "($error)mfpmath=sse" opened gcc -O2 -mfpmath=387
    check "refused by the self-test: gcc -mfpmath=387" \
        refused "${self}mfpmath=sse" opened gcc -O2 -mfpmath=387 -U__FLT_EVAL_METHOD__ -D__FLT_EVAL_METHOD__=0
else
    skip "gcc -mfpmath=387" "not x86-64"
fi

summary
