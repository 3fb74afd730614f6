#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Usage: run.sh [SECONDS [TARGET...]]
# Builds the fuzz targets (all: propagate graphical elimination knapsack knapsack_files), gives each the inputs that it
# once failed on (inputs/TARGET/), and runs it for so many seconds, 20 unless told otherwise, from a fixed seed and an
# empty corpus. An input that fails is kept, and the exit status is 1.
set -u

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
seconds=${1:-20}
shift $(($# > 0))
targets=("$@")
[ $# -gt 0 ] || targets=(propagate graphical elimination knapsack knapsack_files)

skip() {
    echo "SKIPPED: ${targets[*]} ($1)"
    exit 0
}

command -v clang >/dev/null || skip "no clang"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck disable=SC2054 # commas of an option
fuzzer=(-g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)
echo '#include <stddef.h>
int LLVMFuzzerTestOneInput(const unsigned char *d, size_t n) { return (void)d, (void)n, 0; }' >"$work/probe.c"
clang "${fuzzer[@]}" "$work/probe.c" -o "$work/probe" 2>/dev/null || skip "clang has no libFuzzer here"

compile=(clang "${fuzzer[@]}" -std=c11 -Wall -Wextra -I.)
"${compile[@]}" -c gpuopt_impl/gpuopt.c -o "$work/gpuopt.o" || exit 1

# What a target is made of beside the library; the longest input, in bytes, that it has use for. Read by name below.
# shellcheck disable=SC2034
{
    propagate=(tests/fuzz/propagate_fuzz.c)
    propagate_length=4096 # a model of 24 by 24 with a dozen calls takes about 2000
    graphical=(tests/fuzz/graphical_fuzz.c examples/io/{graphical,graphical_models,tokens,uai,wcsp,graphical_files}.c)
    graphical_length=2048
    elimination=(tests/fuzz/elimination_{fuzz,input}.c tests/elimination/{model,brute,handle}.c
        tests/support/{support,backends}.c -lcmocka)
    elimination_length=4096
    knapsack=(tests/fuzz/knapsack_fuzz.c)
    knapsack_length=512
    knapsack_files=(tests/fuzz/knapsack_files_fuzz.c examples/io/{knapsack,tokens}.c)
    knapsack_files_length=512
}

# Builds and runs one.
fuzz() {
    local target=$1 findings known=()
    declare -n parts=$target length=${target}_length
    "${compile[@]}" "${parts[@]}" "$work/gpuopt.o" -lm -o "$work/$target" || return 1
    mkdir "$work/$target.corpus"
    findings=$(mktemp -d "${TMPDIR:-/tmp}/gpuopt_fuzz.XXXXXX") || return 1
    [ -d "tests/fuzz/inputs/$target" ] && known=("tests/fuzz/inputs/$target"/*)
    if [ ${#known[@]} -gt 0 ] &&
        ! "$work/$target" -artifact_prefix="$findings/" "${known[@]}" >"$findings/log" 2>&1; then
        grep -E '^Running: |does not hold|ERROR:|runtime error|SUMMARY' "$findings/log"
        echo "FAILED: $target, an input that it once failed on; the log is in $findings"
        return 1
    fi
    if "$work/$target" -max_total_time="$seconds" -seed=1 -max_len="$length" -len_control=10 -rss_limit_mb=2048 \
        -timeout=10 -print_final_stats=1 -artifact_prefix="$findings/" "$work/$target.corpus" >"$findings/log" 2>&1; then
        grep -E '^stat::number_of_executed_units|^Done' "$findings/log"
        echo "ok: $target, ${seconds} s"
        rm -rf "$findings"
        return 0
    fi
    grep -E 'does not hold|ERROR:|runtime error|SUMMARY' "$findings/log"
    echo "FAILED: $target; the input and the log are in $findings"
    return 1
}

failed=0
for target in "${targets[@]}"; do
    case $target in
    propagate | graphical | elimination | knapsack | knapsack_files) fuzz "$target" || failed=1 ;;
    *) echo "$target is no target" >&2 && failed=1 ;;
    esac
done
exit $failed
