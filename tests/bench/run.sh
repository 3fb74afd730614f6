#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Usage: run.sh [PROGRAM]
#        run.sh --all [FOLDER]
#
# Measures propagation on this machine as tests/bench/results reports it; PROGRAM: propagate_bench, built already.
# With --all then nodes of a tree search (CPU), batches of nodes, probing, the basis inverse, the simplex method,
# children of a basis, many small programs, elimination, orders, knapsacks (one, many, of several constraints) and
# creating handles too, on the CPU and, where there is one, the GPU; FOLDER: of the programs, built already. The public
# models are read from GPUOPT_TEST_DATA/miplib, netlib, kennington and wcsp, and left out without them.
set -u
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }
case ${1:-} in
-h | --help)
    help
    exit
    ;;
--all) ;;
-*) echo "run.sh: there is no option $1; see --help" >&2 && exit 2 ;;
esac
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# Each has a program NAME_bench here, and below a function of that name which runs it.
families=(propagate node propagator_batch probe basis simplex simplex_children simplex_batch elimination order knapsack
    knapsack_batch knapsack_multidimensional knapsack_multiple_choice create)

build() {
    (cd "$root" && bazel build --noshow_progress "${@/#/\/\/tests\/bench:}") >&2 || exit
}

propagate() {
    local program=${1:-$folder/propagate_bench} threads model count
    threads=$(nproc)
    echo "== large"
    for model in band,8000000,8,1 rand,1000000,1000000,10,1 skew,1000000,1000000,10,1; do
        "$program" --only "cpu gauss-seidel,cpu jacobi,cpu jacobi threads" --threads "$threads" --repeat 1 "gen:$model"
        "$program" --only "cuda,cuda host,cuda graph,cuda cooperative,cuda fp32" --repeat 11 "gen:$model"
    done
    echo "== small, all rounds in one call"
    "$program" --only "cpu gauss-seidel,cpu jacobi,cuda,cuda host,cuda graph" --repeat 21 gen:cascade,5000 gen:band,10000,8,1 \
        gen:rand,1000,1000,10,1 gen:rand,10000,10000,10,1 gen:skew,10000,10000,10,1 gen:cflp,200 gen:band,100000,8,1 \
        gen:rand,100000,100000,10,1
    echo "== threads"
    for count in 1 2 4 8 16; do
        [ "$count" -le "$threads" ] || continue
        "$program" --only "cpu jacobi threads" --threads "$count" --repeat 3 gen:rand,1000000,1000000,10,1 gen:band,2000000,8,1 |
            sed "s/^gen/$count threads: gen/"
    done
    [ -d "${GPUOPT_TEST_DATA:-}/miplib" ] || return 0
    echo "== public models"
    work=$(mktemp -d) || exit 1
    trap 'rm -rf "$work"' EXIT
    for model in "$GPUOPT_TEST_DATA"/miplib/*.mps.xz; do
        xz -dc "$model" >"$work/$(basename "$model" .xz)"
        "$program" --only "cpu gauss-seidel,cpu jacobi,cuda" --repeat 21 "$work/$(basename "$model" .xz)"
        rm "$work/$(basename "$model" .xz)"
    done
}

# One core, beside a plain work list.
node() {
    local model
    echo "== nodes of branch and bound, cpu"
    if [ -d "${GPUOPT_TEST_DATA:-}/miplib" ]; then
        work=${work:-$(mktemp -d)} || exit 1
        trap 'rm -rf "$work"' EXIT
        for model in "$GPUOPT_TEST_DATA"/miplib/*.mps.xz; do xz -dc "$model" >"$work/$(basename "$model" .xz)"; done
    fi
    "$folder/node_bench" gen:rand,1000,1000,10,1 gen:rand,10000,10000,10,1 gen:rand,100000,100000,10,1 \
        gen:skew,10000,10000,10,1 gen:band,10000,8,1 gen:cflp,100 ${work:+"$work"}
}

# Nodes of a search: on the GPU, and on up to 16 threads and one thread, where a large batch is left out.
propagator_batch() {
    local gpu=${backends%cpu} threads
    gpu=${gpu/ /,}
    threads=$(nproc)
    echo "== batches of nodes, ${backends// /, }"
    "$folder/propagator_batch_bench" "${gpu}cpu:$((threads < 16 ? threads : 16))"
    "$folder/propagator_batch_bench" cpu --nodes 1,1024
}

# Whole models: on the GPU, and on up to 16 threads.
probe() {
    local gpu=${backends%cpu} threads name models="gen:cover,42520,325000,1;gen:rand,10000,10000,10,1"
    gpu=${gpu/ /,}
    threads=$(nproc)
    if [ -d "${GPUOPT_TEST_DATA:-}/miplib" ]; then
        work=${work:-$(mktemp -d)} || exit 1
        trap 'rm -rf "$work"' EXIT
        for name in air05 sp98ar neos-787933 netdiversion chromaticindex1024-7; do
            xz -dc "$GPUOPT_TEST_DATA/miplib/$name.mps.xz" >"$work/$name.mps" && models+=";$work/$name.mps"
        done
    fi
    echo "== probing, ${backends// /, }"
    "$folder/probe_bench" "${gpu}cpu:$((threads < 16 ? threads : 16))" --models "$models"
}

basis() {
    local backend
    for backend in $backends; do
        echo "== basis inverse, $backend"
        "$folder/basis_bench" "$backend"
    done
}

# CLP beside the first backend, primal and dual; with a GPU, the CPU after that, by deferred pivots alone and not for
# long.
simplex() {
    echo "== simplex method, ${backends%% *}"
    "$folder/simplex_bench" "${backends%% *}" --clp both --repeat 3
    [ "$backends" != cpu ] || return 0
    echo "== simplex method, cpu"
    "$folder/simplex_bench" cpu --clp off --limit 20 --only "tableau devex,revised devex"
}

# Both sides of all fractional columns of MIPLIB roots: on the GPU, and on up to 16 threads.
simplex_children() {
    local gpu=${backends%cpu} threads name models=()
    gpu=${gpu/ /,}
    threads=$(nproc)
    [ -d "${GPUOPT_TEST_DATA:-}/miplib" ] || return 0
    work=${work:-$(mktemp -d)} || exit 1
    trap 'rm -rf "$work"' EXIT
    for name in air05 fast0507 seymour p0201 misc07 bell5 50v-10 binkar10_1 nw04 eil33-2 csched008 drayage-25-23 \
        rococoC10-001000 cost266-UUE; do
        xz -dc "$GPUOPT_TEST_DATA/miplib/$name.mps.xz" >"$work/$name.mps" && models+=("$work/$name.mps")
    done
    echo "== children of a basis, ${backends// /, }"
    "$folder/simplex_children_bench" "${models[@]}" --backend "${gpu}cpu:$((threads < 16 ? threads : 16))" --check 24
}

# Of one shape, beside CLP.
simplex_batch() {
    local gpu=${backends%cpu}
    echo "== many small programs, ${backends// /, }"
    "$folder/simplex_batch_bench" "${gpu/ /,}cpu:$(nproc)"
}

# Whole models on the GPU and beside it on one thread and all; then single buckets, on the GPU alone.
elimination() {
    local rate models=()
    [ -d "${GPUOPT_TEST_DATA:-}/wcsp" ] || models=(--models "random:20:10:0.3:1,random:20:10:0.3:2")
    echo "== elimination, ${backends// /, }"
    "$folder/elimination_bench" "${backends// /,},cpu:$(nproc)" --tables exact,mini-bucket "${models[@]}"
    [ ${#models[@]} -gt 0 ] || "$folder/elimination_bench" "${backends// /,}" --tables reduced,bounds
    [ "$backends" != cpu ] || return 0
    echo "== elimination, add-min rate"
    rate=$("$folder/add_min_rate") || return
    echo "$rate"
    "$folder/elimination_bench" cuda --tables kernels,domains --add-min "$(awk '$1 == "u32" {print $2}' <<<"$rate")"
}

# One core. Orders are found on the CPU.
order() {
    local model
    [ -d "${GPUOPT_TEST_DATA:-}/orders" ] || return 0
    work=$(mktemp -d) || exit 1
    trap 'rm -rf "$work"' EXIT
    for model in "$GPUOPT_TEST_DATA"/wcsp/reach/*.xz; do
        xz -dc "$model" >"$work/$(basename "$model" .xz)"
    done
    echo "== orders"
    "$folder/order_bench" "$GPUOPT_TEST_DATA"/orders/*.txt "$work"/* "$GPUOPT_TEST_DATA"/wcsp/{spot5,iscas89}/*.wcsp
    rm -r "$work"
}

# On the GPU, on all threads and on one, as far as a table is about them.
knapsack() {
    local gpu=${backends%cpu} threads
    gpu=${gpu/ /,}
    threads=cpu:$(nproc)
    echo "== knapsack, ${backends// /, }"
    "$folder/knapsack_bench" "${gpu}cpu" --tables paper
    "$folder/knapsack_bench" "$gpu$threads,cpu" --tables trees --nodes 400000000
    "$folder/knapsack_bench" "$gpu$threads,cpu" --tables levels --limit 12
    "$folder/knapsack_bench" "$gpu$threads" --tables classes --limit 20
}

# Small ones, many in a call.
knapsack_batch() {
    local gpu=${backends%cpu}
    echo "== batches of small knapsacks, ${backends// /, }"
    "$folder/knapsack_batch_bench" "${gpu/ /,}cpu:$(nproc)" --classes uncorrelated,weak
    "$folder/knapsack_batch_bench" "${gpu/ /,}cpu:$(nproc)" --classes strong --count 10000
}

# Several constraints.
knapsack_multidimensional() {
    local gpu=${backends%cpu}
    echo "== multidimensional knapsacks, ${backends// /, }"
    "$folder/knapsack_multidimensional_bench" "${gpu/ /,}cpu:$(nproc)"
    "$folder/knapsack_multidimensional_bench" "${gpu/ /,}cpu:$(nproc)" --items 250 --count 3
    "$folder/knapsack_multidimensional_bench" "${gpu/ /,}cpu:$(nproc)" --rows 10 --count 3
}

# One item of each class.
knapsack_multiple_choice() {
    local gpu=${backends%cpu} size
    echo "== multiple-choice knapsacks, ${backends// /, }"
    for size in 10x10 100x10 1000x10 10000x10 100x100 1000x100 1000x1000; do
        "$folder/knapsack_multiple_choice_bench" "${gpu/ /,}cpu:$(nproc)" --classes "${size%x*}" --items "${size#*x}"
    done
}

# Small handles; then, on the GPU, single primitives of the kernels.
create() {
    echo "== create, ${backends// /, }"
    "$folder/create_bench" "${backends// /,}"
    [ "$backends" != cpu ] || return 0
    echo "== primitives, beside those of CUB"
    "$folder/primitives_bench"
}

if [ "${1:-}" = --all ]; then
    folder=${2:-}
    if [ -z "$folder" ]; then
        build "${families[@]/%/_bench}"
        folder=$root/bazel-bin/tests/bench
    fi
    backends=cpu
    if "$folder/simplex_bench" cuda --models shah:9:1 --clp off >/dev/null 2>&1; then
        backends="cuda cpu"
        [ -n "${2:-}" ] || build add_min_rate primitives_bench
    fi
    for family in "${families[@]}"; do "$family"; done
else
    if [ -z "${1:-}" ]; then build propagate_bench; fi
    propagate "${1:-$root/bazel-bin/tests/bench/propagate_bench}"
fi
