#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Bazel's targets with MPI, which no wildcard builds, since they need an installed one.
# Usage: mpi_build_test.sh
# Runs: alone
# Runs with: --all
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=../support/check.sh
. tests/support/check.sh
# shellcheck source=../../third_party/setup.sh
. third_party/setup.sh

if echo '#include <mpi/mpi.h>' | cc -E - >/dev/null 2>&1 || echo '#include <mpi.h>' | cc -E - >/dev/null 2>&1; then
    choose_all_cuda # as tests/run.sh --all, whose objects are there
    check "targets with MPI" bazel build --noshow_progress "${cuda[@]}" //transports:mpi //examples/mpi:dpop_mpi \
        //examples/mpi:solve_knapsack_mpi //tests/bench:mpi_bench
else
    skip "targets with MPI" "no mpi.h; Debian: libopenmpi-dev"
fi
summary
