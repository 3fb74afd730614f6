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
example=solve_mip seconds=300 backend=cuda
# shellcheck source=../support/example.sh
. "$root/tests/support/example.sh"
# shellcheck source=../support/solve_mip.sh
. "$root/tests/support/solve_mip.sh"

solved 0 optimal 270 "$models/lotsizing.mps" && solved 0 optimal -1 "$models/staffing.mps" &&
    solved 0 optimal 43 "$models/contract.mps" && solved 0 optimal 125 "$models/transport.mps" &&
    solved 1 infeasible null "$models/overbooked.mps" && solved 1 infeasible null "$models/shortage.mps"
result "optima worked out by hand, and infeasible models" $?
solved 1 unbounded null "$models/arbitrage.mps"
result "an unbounded model" $?
all 8 enumerated
result "8 random integer programs: what enumeration finds" $?

summary
