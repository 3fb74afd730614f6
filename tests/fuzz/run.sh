#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Usage: run.sh [SECONDS]
# Builds the propagation fuzzer, gives it the inputs that it once found (inputs/), and runs it, 60 seconds unless told
# otherwise, from a fixed seed and an empty corpus. An input that fails is kept, and the exit status is 1.
set -u

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
seconds=${1:-60}

skip() {
    echo "SKIPPED: propagate_fuzz ($1)"
    exit 0
}

command -v clang >/dev/null || skip "no clang"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/corpus"

# shellcheck disable=SC2054 # commas of an option
fuzzer=(-g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)
echo '#include <stddef.h>
int LLVMFuzzerTestOneInput(const unsigned char *d, size_t n) { return (void)d, (void)n, 0; }' >"$work/probe.c"
clang "${fuzzer[@]}" "$work/probe.c" -o "$work/probe" 2>/dev/null || skip "clang has no libFuzzer here"

clang "${fuzzer[@]}" -std=c11 -Wall -Wextra -I"$root" "$root/tests/fuzz/propagate_fuzz.c" \
    "$root/gpuopt_impl/gpuopt.c" -lm -o "$work/propagate_fuzz" || exit 1

findings=$(mktemp -d "${TMPDIR:-/tmp}/gpuopt_fuzz.XXXXXX") || exit 1
if ! "$work/propagate_fuzz" -artifact_prefix="$findings/" "$root"/tests/fuzz/inputs/* >"$findings/log" 2>&1; then
    grep -E '^Running: |does not hold|ERROR:|runtime error|SUMMARY' "$findings/log"
    echo "FAILED: propagate_fuzz, an input that it once found; the log is in $findings"
    exit 1
fi
# Long inputs: a model of 24 by 24 with a dozen calls takes about 2000 bytes.
if "$work/propagate_fuzz" -max_total_time="$seconds" -seed=1 -max_len=4096 -len_control=10 -rss_limit_mb=2048 \
    -timeout=10 -print_final_stats=1 -artifact_prefix="$findings/" "$work/corpus" >"$findings/log" 2>&1; then
    grep -E '^stat::number_of_executed_units|^Done' "$findings/log"
    echo "ok: propagate_fuzz, ${seconds} s"
    rm -rf "$findings"
    exit 0
fi
grep -E 'does not hold|ERROR:|runtime error|SUMMARY' "$findings/log"
echo "FAILED: propagate_fuzz; the input and the log are in $findings"
exit 1
