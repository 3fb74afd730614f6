#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# That nvcc takes the CUDA code without a warning, unoptimised, which is a matter of seconds. With optimisation it is
# built by Bazel: for the GPU where there is one, for sm_90 by tests/run.sh --all; then this is about others.
# Usage: cuda_source_test.sh
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=../support/check.sh
. tests/support/check.sh

nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ -x "$nvcc" ]; then
    archs=(90) to=-ptx
    # The newest; vendoring_test.sh compiles for the oldest then.
    if runs_all; then archs=(120) to=-cubin; fi
    for arch in "${archs[@]}"; do
        for unit in cuda/*.cu cuda/*/*.cu; do
            check "$unit compiles for sm_$arch" "$nvcc" -std=c++17 -arch=sm_"$arch" -G $to -o "$said.code" \
                --Werror all-warnings -I. "$unit"
            rm -f "$said.code"
        done
    done
else
    skip "the CUDA code compiles" "no nvcc"
fi
summary
