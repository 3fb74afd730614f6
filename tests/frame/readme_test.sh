#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Checks the README's program: it compiles as it stands, as C and as C++, and prints what the README shows. Its line for
# vendoring works, and so does that for nvcc in doc/install.md.
# Usage: readme_test.sh
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
# shellcheck source=../support/pages.sh
. "$root/tests/support/pages.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }

cp -r "$root/gpuopt.h" "$root/gpuopt" "$root/gpuopt_impl" "$root/cuda" "$work"
cd "$work" || exit 1
check "the library, for the programs below" library

block c "$root/README.md" >program.c
short_enough() { [ "$(wc -l <program.c)" -gt 10 ] && [ "$(wc -l <program.c)" -le 42 ]; }
check "the README has a program of about 40 lines" short_enough
check "it compiles as C11 and C++17 without a warning, and runs" compiles_and_runs program
prints_answer() { grep -qx 'x in \[0, 3\]' program.out && grep -qx 'y in \[0, 2\]' program.out; }
check "and prints what the README says" prints_answer

block sh "$root/README.md" | grep -E '^cc ' >vendoring
check "the README has the vendoring line" test -s vendoring
rm -f program
builds_by_hand() { bash -e vendoring && ./program >/dev/null; }
check "which builds a program from what was copied" builds_by_hand

# nvcc, played by a script that notes its last argument.
mkdir played
# shellcheck disable=SC2016 # for that script to expand
printf '#!/bin/sh\nfor last; do :; done\necho "$last" >>compiled\n' >played/nvcc && chmod +x played/nvcc
awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$root/doc/install.md" | sed -n '/nvcc -t 0/,/sm_100/p' >cuda_line
compiles_each() {
    PATH=$work/played:$PATH bash -e cuda_line && diff <(printf '%s\n' cuda/*.cu cuda/*/*.cu | sort) <(sort compiled)
}
check "the line for nvcc in doc/install.md compiles each unit of cuda/ once" compiles_each
summary
