#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The ranks of solve_wcsp are threads of one program: ThreadSanitizer sees no two of them write to the same place, with
# every way to an answer that goes with --ranks. The answers are those of one rank.
# Needs clang.
# Runs with: --all
# Usage: solve_wcsp_ranks_test.sh
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }
cd "$root" || exit 1

# The line in the example's opening comment, with its continuation lines.
build_line() {
    awk '/^ \*     cc / { on = 1 } on { sub(/^ \* */, ""); more = sub(/\\$/, ""); printf "%s", $0; if (!more) exit }' \
        examples/solve_wcsp.c
}
build() {
    local line
    line=$(build_line)
    [[ $line == "cc -O2 "*" -o solve_wcsp" ]] || return 1
    line=${line#cc -O2 }
    # shellcheck disable=SC2086 # the line's words, and its patterns of files
    clang -O0 -g -fsanitize=thread ${line% -o solve_wcsp} -o "$work/solve_wcsp"
}
cost() { grep -oE '"lower_bound": ?[-0-9.]+' "$1"; }
same_answer() {
    "$work/solve_wcsp" "$@" --backend cpu --json >"$work/alone" &&
        TSAN_OPTIONS=exitcode=66 "$work/solve_wcsp" "$@" --ranks 4 --json >"$work/shared" &&
        cost "$work/alone" >"$work/expected" && cost "$work/shared" | diff "$work/expected" -
}

if ! command -v clang >/dev/null; then
    skip "solve_wcsp with ranks under ThreadSanitizer" "no clang"
elif check "solve_wcsp builds with ThreadSanitizer" build; then
    check "exact" same_answer random:12:4:0.3:1
    check "reduced" same_answer grid:5:3:1 --reduce
    check "mini-buckets" same_answer random:12:4:0.3:1 --z 12 --policy mini-bucket
    check "slices" same_answer random:10:4:0.4:2 --policy slice --memory 24K
    check "counts" same_answer grid:4:3:2 --task count
fi
summary
