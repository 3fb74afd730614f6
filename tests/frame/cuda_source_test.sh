#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# That nvcc takes the CUDA code without a warning, hardly optimised, which is a matter of seconds. With tests/run.sh
# --all it is compiled to machine code for the newest GPU: by Bazel if the machine has no GPU, else by this script.
# Usage: cuda_source_test.sh
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=../support/check.sh
. tests/support/check.sh
# shellcheck source=../../third_party/setup.sh
. third_party/setup.sh

if runs_all && ! has_gpu; then leave "the CUDA code compiles" "tests/run.sh --all has compiled it"; fi
if nvcc=$(find_nvcc); then
    arch=90 to=-ptx
    # The newest; vendoring_test.sh compiles for the oldest then.
    if runs_all; then arch=120 to=-cubin; fi
    fast=$(fast_compile "$nvcc")
    for unit in cuda/*.cu cuda/*/*.cu; do
        check "$unit compiles for sm_$arch" "$nvcc" -std=c++17 -arch=sm_"$arch" "$fast" $to -o "$said.code" \
            --Werror all-warnings -I. "$unit"
        rm -f "$said.code"
    done
else
    skip "the CUDA code compiles" "no nvcc"
fi
summary
