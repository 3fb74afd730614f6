#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Usage: run.sh [SECONDS [TARGET...]]
#
# Builds the fuzz targets (default: all, every TARGET_fuzz.c here), gives each its stored inputs (inputs/TARGET/: what
# it once failed on, and files that are read), and runs it for SECONDS (20), from a fixed seed and an empty corpus. An
# input that fails is kept, and the exit status is 1.
#
# The opening comment of each target has these lines for this script:
#   With: ARGUMENT...         what it is compiled with beside the library: source files and libraries
#   Longest input: BYTES
set -u
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }
case ${1:-} in
-h | --help)
    help
    exit
    ;;
-*) echo "run.sh: there is no option $1; see --help" >&2 && exit 2 ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
seconds=${1:-20}
shift $(($# > 0))
targets=("$@")
if [ $# -eq 0 ]; then
    targets=(tests/fuzz/*_fuzz.c)
    targets=("${targets[@]##*/}")
    targets=("${targets[@]%_fuzz.c}")
fi

skip() {
    echo "SKIPPED: ${targets[*]} ($1)"
    exit 0
}

command -v clang >/dev/null || skip "no clang"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# For a short run the library is not optimised: that takes longer than all the targets together.
optimised=-O1
[ "$seconds" -ge 20 ] || optimised=-O0
# shellcheck disable=SC2054 # commas of an option
fuzzer=(-g1 "$optimised" -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)
echo '#include <stddef.h>
int LLVMFuzzerTestOneInput(const unsigned char *d, size_t n) { return (void)d, (void)n, 0; }' >"$work/probe.c"
clang "${fuzzer[@]}" "$work/probe.c" -o "$work/probe" 2>/dev/null || skip "clang has no libFuzzer here"

compile=(clang "${fuzzer[@]}" -std=c11 -Wall -Wextra -I.)
"${compile[@]}" -c gpuopt_impl/gpuopt.c -o "$work/gpuopt.o" || exit 1

# declared WHAT TARGET: the lines of that name in its opening comment.
declared() { sed -n "s/^ \* $1: *//p" "tests/fuzz/$2_fuzz.c"; }

# Builds and runs one.
fuzz() {
    local target=$1 with length findings known=()
    # Unquoted: names of files may be patterns.
    # shellcheck disable=SC2207
    with=($(declared With "$target"))
    length=$(declared 'Longest input' "$target" | cut -d ' ' -f 1)
    "${compile[@]}" "tests/fuzz/${target}_fuzz.c" "${with[@]}" "$work/gpuopt.o" -lm -o "$work/$target" || return 1
    mkdir "$work/$target.corpus"
    findings=$(mktemp -d "${TMPDIR:-/tmp}/gpuopt_fuzz.XXXXXX") || return 1
    [ -d "tests/fuzz/inputs/$target" ] && known=("tests/fuzz/inputs/$target"/*)
    if [ ${#known[@]} -gt 0 ] &&
        ! "$work/$target" -artifact_prefix="$findings/" "${known[@]}" >"$findings/log" 2>&1; then
        grep -E '^Running: |does not hold|ERROR:|runtime error|SUMMARY' "$findings/log"
        echo "FAILED: $target, a stored input; the log is in $findings"
        return 1
    fi
    if "$work/$target" -max_total_time="$seconds" -seed=1 -max_len="${length:?}" -len_control=10 -rss_limit_mb=2048 \
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
    if [ -f "tests/fuzz/${target}_fuzz.c" ]; then
        fuzz "$target" || failed=1
    else
        echo "there is no tests/fuzz/${target}_fuzz.c" >&2
        failed=1
    fi
done
exit $failed
