#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# That the pictures of one step in doc/ are current: the library computes the same numbers again, their models are those
# of the pages, and each picture is drawn from its source.
# Usage: pictures_test.sh
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }

check "tools/pictures.sh makes the sources" "$root/tools/pictures.sh" --dot "$work"
is_new() { diff "$root/doc/$1_step.dot" "$work/$1_step.dot"; }
is_drawn() { grep -q "^<!-- $(cksum <"$root/doc/$1_step.dot" | cut -d' ' -f1) " "$root/doc/$1_step.svg"; }
# The lists of numbers in the page's first program are in the pictures' program, too.
has_model() {
    local list found=0
    while read -r list; do
        found=1
        grep -qF "$list" "$root/tools/pictures.c" || { echo "pictures.c lacks $list" && return 1; }
    done < <(awk '/^```c$/ { on = 1; next } /^```$/ { if (on) exit } on' "$root/doc/$1.md" | grep -oE '\{[0-9]+(, [0-9]+)+\}')
    [ $found -eq 1 ]
}
shows() { grep -qF "($1_step.svg)" "$root/doc/$1.md"; }
for family in simplex elimination knapsack; do
    check "doc/${family}_step.dot is what tools/pictures.sh makes" is_new "$family"
    check "doc/${family}_step.svg is drawn from it" is_drawn "$family"
    check "its model is that of doc/$family.md" has_model "$family"
    check "doc/$family.md shows it" shows "$family"
done
summary
