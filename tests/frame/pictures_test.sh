#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Checks that the pictures of one step in doc/ are current: tools/pictures.sh makes the same sources again, each picture
# is drawn from its source, and its page shows it. A picture that the library computes has the model of its page. The
# pictures of doc/performance.md are current as well: speed.svg and scaling.svg by their data, size.svg by the tables.
# Usage: pictures_test.sh
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
# shellcheck source=../support/pages.sh
. "$root/tests/support/pages.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }

check "tools/pictures.sh makes the sources" "$root/tools/pictures.sh" --dot "$work"
is_new() { diff "$root/doc/$1_step.dot" "$work/$1_step.dot"; }
is_drawn() { grep -q "^<!-- $(cksum <"$root/doc/$1_step.dot" | cut -d' ' -f1) " "$root/doc/$1_step.svg"; }
# The lists of numbers in the page's first program are in the picture's program, too.
has_model() {
    local list found=0
    while read -r list; do
        found=1
        grep -qF "$list" "$root/tools/pictures/$1.c" || { echo "$1.c lacks $list" && return 1; }
    done < <(block c "$root/doc/$1.md" | grep -oE '\{[0-9]+(, [0-9]+)+\}')
    [ $found -eq 1 ]
}
shows() { grep -qF "($1_step.svg)" "$root/doc/$1.md"; }
for page in "$root"/doc/*_step.dot; do
    name=$(basename "$page" _step.dot)
    check "doc/${name}_step.dot is what tools/pictures.sh makes" is_new "$name"
    check "doc/${name}_step.svg is drawn from it" is_drawn "$name"
    [ -f "$root/tools/pictures/$name.awk" ] || check "its model is that of doc/$name.md" has_model "$name"
    check "doc/$name.md shows it" shows "$name"
done

data_of() { if [ "$1" = size ]; then "$root/tools/size.sh" --data; else cat "$root/doc/$1.dat"; fi; }
has_data() { tail -n 1 "$root/doc/$1.svg" | grep "^<!-- $(data_of "$1" | cksum | cut -d' ' -f1) "; }
is_complete() { [ "$("$root/tools/size.sh" --data | grep -cE '^[0-9]+( [0-9.-]+){4,5}$')" -eq 10 ]; }
check "tools/size.sh finds the numbers of its tables" is_complete
for name in speed size scaling; do
    check "doc/$name.svg is drawn from the present figures" has_data "$name"
    check "doc/performance.md shows it" grep -qF "($name.svg)" "$root/doc/performance.md"
done
summary
