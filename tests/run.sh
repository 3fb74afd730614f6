#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Usage: run.sh [--all]
#
# Runs the tests. The last line is "N passed, N failed"; what the machine lacks something for is skipped, with a
# message.
#   run.sh         at most 10 minutes on two cores: every family on the CPU, with one thread and with four, and on the
#                  GPU if there is one (without: its code is compiled, hardly optimised); vendoring, Bazel workspaces,
#                  the README, the examples, format and style of the sources
#   run.sh --all   40 minutes to an hour on two cores: also what takes long, the public models in the folder that
#                  GPUOPT_TEST_DATA names, the CUDA objects, their kernels on an emulated GPU, sanitizers, fuzzers, the
#                  whole of examples/run.sh, the reference, cppcheck
# Missing Debian packages are installed, as root.
#
# A test is found by its name:
#   tests/FOLDER/NAME_test.c         a program; its BUILD file may mark it "slow" or "data", for --all: tests/defs.bzl
#   tests/FOLDER/NAME_test.sh        a script, see tests/support/check.sh; with the line "# Runs with: --all" for
#                                    --all alone, and with "# Runs: alone" if it builds in this folder with Bazel. One
#                                    that is partly long asks runs_all.
set -u
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1
case ${1:-} in
'') unset GPUOPT_TEST_ALL ;;
--all) export GPUOPT_TEST_ALL=1 ;;
-h | --help)
    help
    exit
    ;;
*)
    echo "unknown option $1; see tests/run.sh --help" >&2
    exit 2
    ;;
esac
# shellcheck source=../third_party/setup.sh
. third_party/setup.sh
# shellcheck source=support/check.sh
. tests/support/check.sh

if runs_all; then
    need "${example_packages[@]}" "${test_packages[@]}" "${all_packages[@]}"
    choose_all_cuda
    selection=()
    if ! has_gpu; then # each would be linked only to skip all of its tests
        selection=(--test_tag_filters=-gpu --build_tag_filters=-gpu)
        skip "the tests on the GPU" "there is no NVIDIA GPU here"
    fi
else
    echo "Leaving out what takes long; see tests/run.sh --help."
    unset GPUOPT_TEST_DATA
    need "${example_packages[@]}" "${test_packages[@]}"
    choose_cuda
    selection=("--test_tag_filters=-slow,-data" "--build_tag_filters=-slow,-data")
fi

echo "== bazel test //..."
bazel test --curses=no --show_progress_rate_limit=5 --keep_going "${cuda[@]}" "${selection[@]}" //... 2>&1 |
    tee "$said" | grep --line-buffered '^\[[0-9]'
status=${PIPESTATUS[0]}
# 0: all passed; 3: some tests failed; else it did not come to run them.
if [ "$status" -ne 0 ]; then grep -v '^\[[0-9]' "$said"; fi
if [ "$status" -ne 0 ] && [ "$status" -ne 3 ]; then failed=$((failed + 1)); fi
without_cuda=0
while read -r test verdict _; do
    case $verdict in
    PASSED | "(cached)")
        log=bazel-testlogs/$(echo "${test#//}" | tr : /)/test.log
        # A program may have skipped some of its tests, or all.
        while read -r reason; do skip "$test" "${reason#SKIPPED: }"; done < <(grep '^SKIPPED' "$log")
        if grep -q '^\[       OK \]' "$log"; then
            echo "ok: $test"
            passed=$((passed + 1))
        fi
        ;;
    SKIPPED) without_cuda=$((without_cuda + 1)) ;;
    *)
        echo "FAILED: $test ($verdict)"
        failed=$((failed + 1))
        ;;
    esac
done < <(grep -E '^//[^ ]+ +(\(cached\) )?(PASSED|FAILED|SKIPPED|TIMEOUT|FLAKY|NO STATUS)' "$said")
echo "== bazel test //... ended after $SECONDS s"
[ $without_cuda -eq 0 ] || skip "$without_cuda tests on the GPU" "$cuda_missing"

# The longest ones start first, so that no processor idles in the end.
longest=(frame/vendoring frame/fuzz frame/surroundings frame/workspace frame/cuda_source examples/solve_mip
    examples/interrupt frame/single_header hosts/embed hosts/highs install/site group/mpi examples/probe_mps frame/sources
    examples/branch_glpk frame/readme examples/build)
longest=("${longest[@]/%/_test.sh}")
mapfile -t in_order < <(printf '%s\n' "${longest[@]/#/tests/}" tests/*/*_test.sh | awk '!seen[$0]++')
scripts=() alone=()
for script in "${in_order[@]}"; do
    if ! runs_all && grep -q '^# Runs with: --all$' "$script"; then continue; fi
    if grep -q '^# Runs: alone$' "$script"; then alone+=("$script"); else scripts+=("$script"); fi
done
run_scripts "${scripts[@]}"
for script in "${alone[@]}"; do run_scripts "$script"; done

echo
summary
