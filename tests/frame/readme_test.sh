#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# That the callers' loops in the README and in doc/ compile as they stand, as C and as C++, and run; that the README's
# prints what the README says; and that its vendoring line works.
# Usage: readme_test.sh
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }

# block LANGUAGE FILE: the first block of this language.
block() { awk -v open="^\`\`\`$1\$" '$0 ~ open { if (!done) on = 1; next } /^```$/ { if (on) done = 1; on = 0 } on' "$2"; }

strict=(-Wall -Wextra -Wpedantic -Werror -I.)
cp -r "$root/gpuopt.h" "$root/gpuopt" "$root/gpuopt_impl" "$root/cuda" "$work"
cd "$work" || exit 1
check "the library, for the hosts below" cc -O1 -c gpuopt_impl/gpuopt.c -o gpuopt.o

# compiles_and_runs NAME: NAME.c as C11 and as C++17; what the C program prints is in NAME.out.
compiles_and_runs() {
    cc -std=c11 "${strict[@]}" "$1.c" gpuopt.o -lm -o "$1" && ./"$1" >"$1.out" &&
        g++ -std=c++17 "${strict[@]}" -Wno-missing-field-initializers -x c++ "$1.c" -x none gpuopt.o -lm -o "$1_cpp" && ./"$1_cpp" >/dev/null
}

block c "$root/README.md" >host.c
short_enough() { [ "$(wc -l <host.c)" -gt 10 ] && [ "$(wc -l <host.c)" -le 42 ]; }
check "the README has a host loop of about 40 lines" short_enough
check "it compiles as C11 and C++17 without a warning, and runs" compiles_and_runs host
prints_answer() { grep -qx 'x in \[0, 3\]' host.out && grep -qx 'y in \[0, 2\]' host.out; }
check "and prints what the README says" prints_answer

block sh "$root/README.md" | grep -E '^cc ' >vendoring
check "the README has the vendoring line" test -s vendoring
rm -f host
builds_by_hand() { bash -e vendoring && ./host >/dev/null; }
check "which builds a program from what was copied" builds_by_hand

# nvcc, played by a script that notes its last argument.
mkdir played
# shellcheck disable=SC2016 # for that script to expand
printf '#!/bin/sh\nfor last; do :; done\necho "$last" >>compiled\n' >played/nvcc && chmod +x played/nvcc
awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$root/README.md" | sed -n '/nvcc/,$p' >cuda_line
compiles_each() { PATH=$work/played:$PATH bash -e cuda_line && diff <(printf '%s\n' cuda/*.cu cuda/*/*.cu | sort) <(sort compiled); }
check "the README's line for nvcc compiles each unit of cuda/ once" compiles_each

for page in "$root"/doc/*.md; do
    [ "$page" != "$root/doc/bazel.md" ] || continue # workspace_test.sh builds what it shows
    name=$(basename "$page" .md)
    block c "$page" >"$name.c"
    check "the host loop in doc/$name.md compiles and runs" compiles_and_runs "$name"
done
summary
