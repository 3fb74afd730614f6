#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Every fuzz target, for 20 seconds.
# Usage: fuzz_test.sh
# Runs with: --all
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=../support/check.sh
. tests/support/check.sh

for target in tests/fuzz/*_fuzz.c; do
    target=${target##*/} target=${target%_fuzz.c}
    check "fuzzing $target" tests/fuzz/run.sh 20 "$target"
    if grep -q '^SKIPPED' "$said"; then
        passed=$((passed - 1))
        skip "fuzzing $target" "$(sed -n 's/^SKIPPED.*(\(.*\))/\1/p' "$said")"
    fi
done
summary
