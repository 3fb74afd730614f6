#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The brief tests on the emulated GPU with other orders of threads, blocks and streams: emulated.h. A failure names its
# seed; the same order again: GPUOPT_EMULATED_SEED=SEED TEST cuda-emulated.
# Usage: seeds_test.sh [SEED]...
# Runs: alone
# Runs with: --all
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=../support/check.sh
. tests/support/check.sh

[ $# -gt 0 ] || set -- 1
for seed in "$@"; do
    check "tests on the emulated GPU with seed $seed" bazel test --noshow_progress --build_tests_only \
        --test_tag_filters=emulated,-emulated-long,-data --test_env=GPUOPT_EMULATED_SEED="$seed" //tests/...
done
summary
