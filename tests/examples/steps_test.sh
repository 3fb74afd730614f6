#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# That the short programs of examples/steps/ compile without a warning, find what they know to be the answer, and print
# it; and that hardly a function of the public headers is called by no example at all. It prints those.
# Usage: steps_test.sh
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=../support/check.sh
. tests/support/check.sh

work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }

# The line that each program prints with its result.
declare -A answer=(
    [agents]="optimum 8, a = 1, b = 1"
    [checkpoint]="one copy 9319, two copies 9573"
    [dive]="optimum 12"
    [dual_by_hand]="with the cut: 1 pivots, optimal, 1"
    [iteration_by_hand]="first: optimal, 9, exact"
    [program_batch]="program 18: optimal, 36 at (2, 6)"
    [knapsack_sharing]="each owner has at least 216"
    [multidimensional_knapsack]="optimum 1158"
    [multiple_choice_knapsack]="optimum 899"
    [multiple_knapsack]="optimum 396"
    [node_batch]="node 1: converged, 4 columns: x0 in [0, 0] x1 in [0, 0] x2 in [0, 0] x3 in [0, 0]"
    [revised_simplex]="optimum 13"
    [strong_branching]="c = 0: optimal, 43.3333, no better than 43.3333"
)
builds() { cc -std=c11 -Wall -Wextra -Werror -O1 -I. "examples/steps/$1.c" "$work/gpuopt.o" -lm -o "$work/$1"; }
runs() {
    "$work/$1" >"$work/out" || { cat "$work/out" && return 1; }
    cat "$work/out"
    grep -Fxq -e "${answer[$1]:-an answer that this script knows}" "$work/out" && grep -qx "as expected" "$work/out"
}
# The line in its opening comment compiles the library, too; here it has the object.
comment_builds() {
    local line
    line=$(sed -n "s/^ \* *\(cc .*\) gpuopt_impl\/gpuopt.c /\1 GPUOPT /p" "examples/steps/$1.c")
    [ "$line" = "cc -O2 -I. examples/steps/$1.c GPUOPT -lm -o $1" ]
}
refuses_words() {
    local status
    "$work/dive" --help | grep -q "^usage: " || return 1
    "$work/dive" no_backend >/dev/null
    status=$?
    [ $status -eq 1 ]
}
check "the library" cc -std=c11 -O0 -I. -c gpuopt_impl/gpuopt.c -o "$work/gpuopt.o"
for program in examples/steps/*.c; do
    program=${program##*/} program=${program%.c}
    check "$program compiles without a warning" builds "$program" || continue
    check "$program finds its answer" runs "$program"
    check "$program says how to build it" comment_builds "$program"
done
check "a program knows --help and refuses other words" refuses_words
all_there() {
    local program
    for program in "${!answer[@]}"; do [ -e "examples/steps/$program.c" ] || return 1; done
}
check "no program is missing" all_there

# functions FILE...: the names that they declare for the caller.
functions() { cat "$@" | tr '\n' ' ' | grep -oE '\bGPUOPT_API [^;(]*\(' | grep -oE 'gpuopt_[a-z0-9_]+\($' | tr -d '(' | sort -u; }
find examples -name '*.[ch]' -exec cat {} + | grep -oE '\bgpuopt_[a-z0-9_]+\(' | tr -d '(' | sort -u >"$work/called"
# uncalled FILE MOST HEADER...: writes those that no example calls to FILE; fails if there are more, or next to no
# names.
uncalled() {
    local file=$1 most=$2
    shift 2
    functions "$@" >"$work/declared"
    comm -23 "$work/declared" "$work/called" >"$file"
    cat "$file"
    [ "$(wc -l <"$work/declared")" -gt 40 ] && [ "$(wc -l <"$file")" -le "$most" ]
}
check "some example calls each function of gpuopt.h" uncalled "$work/core" 0 gpuopt.h
check "and all but ten or fewer of the layers'" uncalled "$work/layers" 10 gpuopt/*.h
cat "$work/core" "$work/layers" | sed 's/^/    no example calls /'
summary
