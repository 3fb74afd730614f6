#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# That nvcc takes the CUDA code without a warning: to PTX, unoptimised, which is a matter of seconds. The objects are
# built by Bazel where there is a GPU, and by tests/run.sh --all.
# Usage: cuda_source_test.sh
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=../support/check.sh
. tests/support/check.sh

nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ -x "$nvcc" ]; then
    for arch in 80 90; do
        for unit in cuda/*.cu cuda/*/*.cu; do
            check "$unit compiles for sm_$arch" "$nvcc" -std=c++17 -arch=sm_$arch -G -ptx -o "$said.ptx" \
                --Werror all-warnings -I. "$unit"
            rm -f "$said.ptx"
        done
    done
else
    skip "the CUDA code compiles" "no nvcc"
fi
summary
