#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# gpuopt's basis inverse in CLP: the published optima of Netlib's small models and planted ones, by the dual and the
# primal method; with a device that is lost at any moment, or missing; singular bases.
# Usage: clp_test.sh [PROGRAM]
# Runs with: --all
set -u
program=clp_solve
# shellcheck source=coin.sh
. "$(dirname "${BASH_SOURCE[0]}")/coin.sh"

# right OPTIMUM TOLERANCE ARGUMENT...
right() {
    local optimum=$1 tolerance=$2
    shift 2
    runs "$@" && [ "$(word status)" = 0 ] && near "$(word objective)" "$optimum" "$tolerance"
}
# solves OPTIMUM TOLERANCE ARGUMENT...: and calls were made.
solves() {
    local optimum=$1 tolerance=$2
    shift 2
    right "$optimum" "$tolerance" "$@" && [ "$(figure ftran)" -gt 0 ] && [ "$(figure updates)" -gt 0 ]
}

# precise OPTIMUM TOLERANCE ARGUMENT...: solves, and CLP did not find the inverse wrong, as it loads the basis no more
# often than after rows / 2.45 + 20 updates.
precise() { solves "$@" && [ "$(figure loads)" -le $(($(word iterations) / 60 + 3)) ]; }

# The optimum of a generated model is CLP's own.
for model in shah:150:1 meyer:200:1000:.05:1 plant:120:600:.04:1; do
    runs "$model" alone && optimum=$(word objective)
    for method in dual primal; do
        test_of "$model, $method" precise "$optimum" 1e-9 "$model" cpu $method
    done
    test_of "$model, two threads" precise "$optimum" 1e-9 "$model" cpu dual threads=2
done

# lost OPTIMUM MODEL METHOD CALLS: the device is lost after so many calls, CLP goes on, and there is one warning.
lost() { right "$1" 1e-7 "$2" cpu "$3" "lose-after=$4" && grep -q "failed" "$out" && warned 1; }
# same OPTIMUM MODEL METHOD CALLS: and CLP makes the same pivots, but for rounding.
same() { lost "$@" && near "$(word iterations)" "$pivots" .02; }
for method in dual primal; do
    runs plant:120:600:.04:1 cpu $method && optimum=$(word objective) pivots=$(word iterations)
    for calls in 1 2 3 4 5 6 7 300 301 302 303 304 305 306; do
        test_of "a device lost after $calls calls, $method" same "$optimum" plant:120:600:.04:1 $method "$calls"
    done
done
without() { right "$optimum" 1e-9 plant:120:600:.04:1 cuda && grep -q "failed" "$out" && warned 1; }
test_of "built without CUDA" without
test_of "a device lost at once" lost "$optimum" plant:120:600:.04:1 dual 0

if [ -z "$data" ]; then
    skip "Netlib" "GPUOPT_TEST_DATA names no folder"
else
    for model in afiro sc50b kb2 adlittle stocfor1 blend share2b lotfi brandy israel etamacro e226 scfxm1 degen2 bnl1 \
        forplan; do
        optimum=$(published netlib $model 8)
        test_of "$model" solves "$optimum" 1e-7 "$data/netlib/$model.mps.xz" cpu
        test_of "$model, primal" solves "$optimum" 1e-7 "$data/netlib/$model.mps.xz" cpu primal
        test_of "$model, device lost" lost "$optimum" "$data/netlib/$model.mps.xz" dual 20
    done
fi
summary
