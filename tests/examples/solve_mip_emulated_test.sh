#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The example that solves mixed-integer programs, on an emulated GPU: each step of the search there, as on the CPU.
# Runs with: --all
# Runs: alone
# Usage: solve_mip_emulated_test.sh [PROGRAM]
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if [ $# -eq 0 ]; then
    (cd "$root" && bazel build --noshow_progress --ui_event_filters=-info //tests/emulated:solve_mip) || exit 1
    set -- "$root/bazel-bin/tests/emulated/solve_mip"
fi
example=solve_mip seconds=300
# shellcheck source=../support/example.sh
. "$root/tests/support/example.sh"

# solved STATUS OBJECTIVE MODEL OPTION...: objective "null": none. An optimum is its own bound.
solved() {
    local status=$1 objective=$2 code
    shift 2
    [ "$status" = optimal ] && code=0 || code=1
    exits $code "$@" --backend cuda --json && has '"backend": "cuda"' out || return
    [ "$(field status)" = "$status" ] || { echo "$* is $(field status), not $status" >>err && return 1; }
    [ "$objective" = null ] || { near objective "$objective" 1e-7 && near bound "$(field objective)" 1e-9; }
}

solved optimal 270 "$models/lotsizing.mps" && solved optimal -1 "$models/staffing.mps" &&
    solved optimal 43 "$models/contract.mps" && solved optimal 125 "$models/transport.mps" &&
    solved infeasible null "$models/overbooked.mps" && solved infeasible null "$models/shortage.mps"
result "optima worked out by hand, and infeasible models" $?
solved unbounded null "$models/arbitrage.mps"
result "an unbounded model" $?

# enumerated SEED: the random integer program of small_mip.awk; every other one by two threads.
enumerated() {
    local answer
    answer=$(awk -v seed="$1" -v file=model.mps -f "$root/tests/examples/small_mip.awk" | head -n 1) || return
    case $answer in
    infeasible) solved infeasible null model.mps --threads $((1 + $1 % 2)) ;;
    *) solved optimal "${answer#* }" model.mps --threads $((1 + $1 % 2)) ;;
    esac
}
all=0
for seed in 1 2 3 4 5 6 7 8; do enumerated $seed || { all=1 && break; }; done
result "random integer programs, by enumeration" $all

summary
