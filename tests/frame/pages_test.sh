#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Checks the pages in doc: every C program on them compiles as it stands, as C and as C++, and runs. The first program
# of a family page prints exactly the text block that follows it.
# Usage: pages_test.sh
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
# shellcheck source=../support/pages.sh
. "$root/tests/support/pages.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }

cp -r "$root/gpuopt.h" "$root/gpuopt" "$root/gpuopt_impl" "$work"
cd "$work" || exit 1
check "the library, for the programs below" library

for page in "$root"/doc/*.md; do
    name=$(basename "$page" .md)
    for ((k = 1; ; k++)); do
        block c "$page" $k >"$name$k.c"
        [ -s "$name$k.c" ] || break
        check "program $k of doc/$name.md compiles and runs" compiles_and_runs "$name$k"
    done
done

# begins_with_program PAGE: its first block is a program, and the second one is the program's output.
begins_with_program() {
    # shellcheck disable=SC2016 # no commands
    [ "$(grep -E '^```.' "$1" | head -n 2 | paste -sd' ')" = '```c ```text' ] ||
        { echo "the first two blocks are not C and text" && return 1; }
    block text "$1" | diff - "$(basename "$1" .md)1.out"
}
for name in propagation basis simplex elimination knapsack; do
    check "doc/$name.md shows what its first program prints" begins_with_program "$root/doc/$name.md"
done

# With the first number of the output changed, the check must fail.
sees_wrong_output() {
    awk '/^```text$/ { on = 1 } on && sub(/[0-9]/, "77") { on = 0 } { print }' "$root/doc/basis.md" >basis.md
    ! begins_with_program basis.md
}
check "seen: a page that shows another output" sees_wrong_output
summary
