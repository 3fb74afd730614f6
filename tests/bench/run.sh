#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Usage: run.sh [PROGRAM]
# Measures propagation on this machine as tests/bench/RESULTS.md reports it; PROGRAM: propagate_bench, built already. The public
# models are read from GPUOPT_TEST_DATA/miplib, and left out without it.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=${1:-}
if [ -z "$program" ]; then
    (cd "$root" && bazel build --noshow_progress //tests/bench:propagate_bench) >&2 || exit
    program=$root/bazel-bin/tests/bench/propagate_bench
fi
threads=$(nproc)

echo "== large"
for model in band,8000000,8,1 rand,1000000,1000000,10,1 skew,1000000,1000000,10,1; do
    "$program" --only "cpu sequential,cpu jacobi,cpu jacobi threads" --threads "$threads" --repeat 1 "gen:$model"
    "$program" --only "cuda,cuda host,cuda graph,cuda cooperative,cuda fp32" --repeat 11 "gen:$model"
done
echo "== small, all rounds in one call"
"$program" --only "cpu sequential,cpu jacobi,cuda,cuda host,cuda graph" --repeat 21 gen:cascade,5000 gen:band,10000,8,1 \
    gen:rand,1000,1000,10,1 gen:rand,10000,10000,10,1 gen:skew,10000,10000,10,1 gen:cflp,200 gen:band,100000,8,1 \
    gen:rand,100000,100000,10,1
echo "== threads"
for count in 1 2 4 8 16; do
    [ "$count" -le "$threads" ] || continue
    "$program" --only "cpu jacobi threads" --threads "$count" --repeat 3 gen:rand,1000000,1000000,10,1 gen:band,2000000,8,1 |
        sed "s/^gen/$count threads: gen/"
done
[ -d "${GPUOPT_TEST_DATA:-}/miplib" ] || exit 0
echo "== public models"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
for model in "$GPUOPT_TEST_DATA"/miplib/*.mps.xz; do
    xz -dc "$model" >"$work/$(basename "$model" .xz)"
    "$program" --only "cpu sequential,cpu jacobi,cuda" --repeat 21 "$work/$(basename "$model" .xz)"
    rm "$work/$(basename "$model" .xz)"
done
