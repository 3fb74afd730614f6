#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The CPU tests under sanitizers: addresses and undefined behaviour, then threads. Without the public models, which take
# long and reach no code that the others do not.
# Usage: sanitizers_test.sh
# Runs: alone
# Runs with: --all
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=../support/check.sh
. tests/support/check.sh

# Not the kernels on the emulated GPU, which take as long again to compile: compute-sanitizer is for them (tests/gpu), or
# bazel test --config=asan --test_tag_filters=emulated,-emulated-long //tests/...
check "CPU tests under asan" bazel test --noshow_progress --build_tests_only --config=asan \
    --test_tag_filters=-data,-threads,-emulated //tests/...
if command -v clang >/dev/null; then
    # The emulated GPU's threads are contexts of one thread, which ThreadSanitizer cannot follow.
    check "tests of threads under tsan" \
        bazel test --noshow_progress --build_tests_only --config=tsan --test_tag_filters=threads,tsan,-data,-tsan-long,-emulated --test_env=OMP_THREAD_LIMIT=2 \
        //tests/...
    search_by_threads() {
        bazel build --noshow_progress --config=tsan //examples:solve_mip &&
            GPUOPT_TEST_ALL='' TSAN_OPTIONS=ignore_noninstrumented_modules=1 OMP_TOOL_LIBRARIES=libarcher.so \
                bash tests/examples/solve_mip_test.sh "$(bazel info --config=tsan bazel-bin 2>/dev/null)/examples/solve_mip"
    }
    check "solve_mip's threads under tsan" search_by_threads
else
    skip "tests of threads under tsan" "no clang"
fi
summary
