#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# tests/papers/run.sh --quick prints the tables of each paper, whose programs check what they print against each other,
# published optima and plain algorithms; gnuplot draws the figures of doc/papers.md from them.
# Usage: run_test.sh [FOLDER], that of the programs
# Runs with: --all
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
programs=$(realpath "${1:-$root/bazel-bin/tests/papers}") || exit
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }

pictures=()
if command -v gnuplot >/dev/null; then pictures=(--pictures "$work"); else skip "the figures" "no gnuplot"; fi
# prints PAPER: its tables, of which each has its own numbers somewhere.
prints() {
    "$root/tests/papers/run.sh" "$1" --quick --programs "$programs" "${pictures[@]}" >"$work/tables" || return
    [ "$(grep -c '^| -' "$work/tables")" -ge 4 ] && grep -q '^|.*| *paper' "$work/tables"
}
# checks: the program has made some, on at least one case each.
checks() { grep -q '^check: .*holds.*([1-9]' "$work/tables"; }
# draws PAPER: what doc/papers.md shows of it.
draws() {
    local picture shown=0
    while read -r picture; do
        shown=1
        grep -q '<svg' "$work/$picture" || { echo "no $picture" && return 1; }
    done < <(grep -oE "paper$1_fig[a-z0-9_]*\.svg" "$root/doc/papers.md" | sort -u)
    [ $shown -eq 1 ]
}
for paper in 1 2 3 4 5; do
    check "paper $paper: its tables" prints "$paper" || continue
    check "paper $paper: they agree with something else" checks
    if [ ${#pictures[@]} -gt 0 ]; then check "paper $paper: its figures" draws "$paper"; fi
done

# refuses WORDS ARGUMENT...
refuses() { ! "$root/tests/papers/run.sh" "${@:2}" 2>"$work/message" && grep -q "$1" "$work/message"; }
check "a sixth paper is refused" refuses "no option 6" 6
check "a missing folder is refused" refuses "needs a folder" 1 --data "$work/none"
summary
