#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# examples/run.sh, as a user runs it: with a model, with an example's name, with what no example reads; with --all, the
# whole of it.
# Usage: run_test.sh
# Runs: alone
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=../support/check.sh
. tests/support/check.sh

run() { examples/run.sh "$@"; }
says() { # TEXT ARGUMENT...
    local text=$1
    shift
    run "$@" >"$said.out" 2>&1
    grep -q -- "$text" "$said.out" || { cat "$said.out" && return 1; }
}
at_end() { rm -f "$said" "$said.out"; }
refuses() { # TEXT ARGUMENT...: with exit status 2
    says "$@" && ! run "${@:2}" >/dev/null 2>&1
}
check "--help" says "solve_wcsp: .*uai" --help
check "a mixed-integer program goes to propagate_mps" says 'infeasible\|tighter than before' examples/models/lotsizing.mps
check "a linear program goes to solve_lp" says '"status": "optimal"' examples/models/transport.mps --json
check "a graphical model goes to solve_wcsp" says '"lower_bound": 4' examples/models/exams.wcsp --json
check "a generated knapsack goes to solve_knapsack" says '"status": "optimal"' paper:100:1 --json
check "an example by its name" says '^usage: solve_wcsp' solve_wcsp --help
check "what no example reads is refused, and says what they read" refuses 'solve_wcsp: .*\*\.uai' nonsense.txt
if runs_all; then check "the whole of it" run; fi
summary
