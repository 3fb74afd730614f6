#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What can be checked without running the sources: clang-format, shellcheck, lists of mutants, wordings, in half a
# minute; and cppcheck, in a minute more, for which tests/run.sh wants --all.
# Usage: sources_test.sh
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=../support/check.sh
. tests/support/check.sh

# tool NAME COMMAND...: a check by a program that may be missing.
tool() {
    if command -v "$2" >/dev/null; then check "$@"; else skip "$1" "no $2"; fi
}
if ! git rev-parse >/dev/null 2>&1; then
    leave "checks of the sources" "this is no checkout of git, which lists them"
fi
mapfile -t examples < <(git ls-files 'examples/*.c')
mapfile -t code < <(git ls-files '*.c' '*.h' '*.cpp' '*.cu' '*.cuh')
mapfile -t scripts < <(git grep -lE '^#!.*bash|^# shellcheck shell=')
cppcheck=(cppcheck --quiet --error-exitcode=1 --std=c11 --language=c --inline-suppr -I .
    "--enable=warning,performance,portability" --suppress=missingInclude)
# With a macro given, one configuration is looked at, not all; the examples without the library in each of them.
if runs_all; then
    tool "cppcheck: the library" "${cppcheck[@]}" -DGPUOPT_IMPLEMENTATION gpuopt_impl/gpuopt.c
    tool "cppcheck: the examples" "${cppcheck[@]}" -D_GNU_SOURCE -UGPUOPT_IMPLEMENTATION "${examples[@]}"
else
    skip "cppcheck" "only with tests/run.sh --all"
fi
tool "clang-format" clang-format --dry-run --Werror "${code[@]}"
tool "shellcheck" shellcheck "${scripts[@]}"
check "mutants are where their lists say" tests/mutants/run.sh --check
# has_plain_words PATTERN PATH...: none of the wordings on lines that match PATTERN is in these files.
has_plain_words() {
    local words
    words=$(grep -E "$1" tests/frame/wordings.txt | sed 's/^code: //' | paste -sd'|')
    ! git grep -niwE "$words" -- "${@:2}"
}
# doc/terms.md lists them, and so do the old names in CHANGELOG.md.
check "the public prose does without the words of tests/frame/wordings.txt" \
    has_plain_words '^[^#:]*$' gpuopt.h gpuopt/ ':(glob)*.md' 'doc/*.md' ':!doc/terms.md' ':!CHANGELOG.md'
check "so do the comments, messages and names of the library" has_plain_words '^[^#]' gpuopt_impl 'cuda/*.cu' 'cuda/*.cuh'
summary
