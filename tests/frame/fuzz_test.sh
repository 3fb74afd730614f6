#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Every fuzz target, for 3 seconds.
# Usage: fuzz_test.sh
# Runs with: --all
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=../support/check.sh
. tests/support/check.sh

tests/fuzz/run.sh 3 2>&1 | tee "$said"
status=${PIPESTATUS[0]}
passed=$(grep -c '^ok: ' "$said")
failed=$(grep -c '^FAILED: ' "$said")
skipped=$(grep -c '^SKIPPED: ' "$said")
if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
summary
