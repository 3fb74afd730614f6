#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# gpuopt's strong branching and probing in Cbc: the published optima of small MIPLIB models, or bounds around them, with
# calls made; with a device that is lost or missing; with threads of Cbc.
# Usage: cbc_test.sh [PROGRAM]
# Runs with: --all
set -u
program=cbc_solve
# shellcheck source=coin.sh
. "$(dirname "${BASH_SOURCE[0]}")/coin.sh"
if [ -z "$data" ]; then give_up "GPUOPT_TEST_DATA names no folder"; fi

# right MODEL ARGUMENT...: the optimum is the published one. The stated precision of some is seven digits.
right() {
    local model=$1
    shift
    runs "$data/miplib/$model.mps.xz" "$@" && [ "$(word status)" = 0 ] &&
        near "$(word primal)" "$(published miplib "$model" 8)" 1e-6 && near "$(word dual)" "$(word primal)" 1e-6
}
solves() { right "$@" && [ "$(figure calls)" -gt 0 ] && [ "$(figure children)" -gt 0 ] && warned 0; }
# between MODEL ARGUMENT...: the optimum lies between the bounds, also when the time is up.
between() {
    local model=$1
    shift
    runs "$data/miplib/$model.mps.xz" "$@" &&
        awk -v dual="$(word dual)" -v primal="$(word primal)" -v optimum="$(published miplib "$model" 8)" '
            BEGIN { slack = 1e-6 * (optimum > 0 ? optimum : -optimum)
                exit !(dual ~ /[0-9]/ && dual <= optimum + slack && primal >= optimum - slack) }'
}
bounds() { between "$1" cpu seconds=5 && [ "$(figure calls)" -gt 0 ] && warned 0; }
for model in misc07 noswot pk1; do test_of "$model: bounds" bounds $model; done
for model in p0033 p0201 bell5 lseu egout mod008 gt2 enigma flugpl stein27; do
    case $model in
    p0033 | gt2 | egout | enigma) test_of "$model" right $model cpu share=1 ;; # cuts may solve the root
    *) test_of "$model" solves $model cpu share=1 ;;
    esac
done
test_of "p0201: as many candidates as pay" right p0201 cpu
test_of "p0201: pseudo-costs decide where they are reliable" right p0201 cpu trust=1
for seed in 1 2; do test_of "p0201: columns in another order, seed $seed" solves p0201 cpu share=1 seed=$seed; done
test_of "p0201: few iterations" solves p0201 cpu share=1 iterations=5
test_of "p0201: without presolve" solves p0201 cpu share=1 presolve=0
test_of "p0201: two threads of gpuopt" solves p0201 cpu share=1 threads=2
test_of "p0201: two threads of Cbc" solves p0201 cpu share=1 cbc-threads=2

probes() { solves "$@" probing=1 && grep -qE '^gpuopt probing: [1-9]' "$out"; }
test_of "p0201: probing" probes p0201 cpu share=1
test_of "lseu: probing" probes lseu cpu share=1

lost() {
    right "$1" cpu share=1 "lose-after=$2" && [ "$(figure calls)" -eq "$2" ] && grep -q failed "$out" && warned 1
}
for calls in 0 1 5; do test_of "p0201: a device lost after $calls calls" lost p0201 $calls; done
test_of "stein27: a device lost after 20 calls" lost stein27 20
# Cbc branches on the root after two calls have tightened its bounds.
left() {
    between bell5 cpu share=1 lose-after=2 "seed=$1" seconds=3 && [ "$(figure tightened)" -eq 2 ] && warned 1
}
for seed in 0 1; do test_of "bell5: the root is left to Cbc, seed $seed" left $seed; done
without() { right p0201 cuda && grep -q failed "$out" && [ "$(wc -l <"$err")" -eq 1 ]; }
test_of "p0201: built without CUDA" without
summary
