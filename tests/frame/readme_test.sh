#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# That the README's host loop compiles as it stands and does what the README says, and that its vendoring lines work.
# Usage: readme_test.sh
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }

# The first block of this language.
block() { awk -v open="^\`\`\`$1\$" '$0 ~ open { if (!done) on = 1; next } /^```$/ { if (on) done = 1; on = 0 } on' "$root/README.md"; }

block c >"$work/host.c"
cp -r "$root/gpuopt.h" "$root/gpuopt_impl" "$root/cuda" "$work"
cd "$work" || exit 1
short_enough() { [ "$(wc -l <host.c)" -gt 10 ] && [ "$(wc -l <host.c)" -le 40 ]; }
check "the README has a host loop of about 30 lines" short_enough
check "it compiles without a warning" cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I. -c host.c -o host.o
block sh | grep -E '^cc ' >vendoring
check "the README has the vendoring line" test -s vendoring
check "which builds a program from what was copied" bash -e vendoring
check "the program runs" ./host
prints_answer() { ./host >out && grep -qx 'x in \[0, 3\]' out && grep -qx 'y in \[0, 2\]' out; }
check "and prints what the README says" prints_answer
summary
