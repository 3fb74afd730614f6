#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Runs every test there is: those of Bazel on each backend, and the scripts. Installs what is missing, as root on Debian.
# GPUOPT_TEST_DATA names a folder with the public models that some tests read; they say what they skip without it.
# The last line is "N passed, N failed"; what the machine lacks something for is said before, and counted.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1
# shellcheck source=../third_party/setup.sh
. third_party/setup.sh
# shellcheck source=support/check.sh
. tests/support/check.sh

need "${example_packages[@]}" "${test_packages[@]}"

echo "== bazel test //..."
bazel test --noshow_progress --keep_going //... >"$said" 2>&1
status=$?
# 0: all passed; 3: some tests failed; else it did not come to run them.
if [ $status -ne 0 ]; then cat "$said"; fi
if [ $status -ne 0 ] && [ $status -ne 3 ]; then failed=$((failed + 1)); fi
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
    SKIPPED) skip "$test" "needs a CUDA toolkit" ;;
    *)
        echo "FAILED: $test ($verdict)"
        failed=$((failed + 1))
        ;;
    esac
done < <(grep -E '^//[^ ]+ +(\(cached\) )?(PASSED|FAILED|SKIPPED|TIMEOUT|FLAKY|NO STATUS)' "$said")

begin tests/frame/vendoring_test.sh # minutes on one core, as are the others together
run_script "workspaces that depend on this one" tests/frame/workspace_test.sh
run_script "README" tests/frame/readme_test.sh
run_script "examples/propagate_mps" tests/examples/propagate_mps_test.sh bazel-bin/examples/propagate_mps
run_script "examples/solve_knapsack" tests/examples/solve_knapsack_test.sh bazel-bin/examples/solve_knapsack
run_script "examples/solve_lp" tests/examples/solve_lp_test.sh bazel-bin/examples/solve_lp
run_script "examples/solve_wcsp" tests/examples/solve_wcsp_test.sh bazel-bin/examples/solve_wcsp
run_script "examples/solve_wcsp, bad input" tests/examples/solve_wcsp_input_test.sh bazel-bin/examples/solve_wcsp
await
run_script "vendoring" replay

echo
summary
