#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The branching rule and the propagator for SCIP, in SCIP 10 from PyPI's pyscipopt: its wheel has the library without
# headers, so that the plug-ins are compiled against scip_prototypes.h. Public models have their known optimum, with one
# thread and with four, also if the device is lost on the way.
# Needs the network once, and the models in the folder that GPUOPT_TEST_DATA names.
# Usage: scip_test.sh
# Runs with: --all
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root" || exit 1
version=6.3.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/gpuopt-tests/pyscipopt-$version
models=${GPUOPT_TEST_DATA:-}/miplib
work=$(mktemp -d) || exit 1
# shellcheck source=../support/check.sh
. tests/support/check.sh
at_end() { rm -rf "$said" "$work"; }

# shellcheck source=library.sh
. tests/hosts/library.sh

# The library of the wheel, which stays in the cache.
fetch() {
    library=$(find "$cache" -name 'libscip*.so*' 2>/dev/null | head -n 1)
    [ -n "$library" ] && return
    python3 -m pip download --quiet --no-deps --only-binary :all: -d "$work/wheel" "pyscipopt==$version" \
        >"$said" 2>&1 &&
        mkdir -p "$cache" && python3 -m zipfile -e "$work"/wheel/*.whl "$cache" || return
    library=$(find "$cache" -name 'libscip*.so*' | head -n 1)
    [ -n "$library" ]
}
if [ ! -d "$models" ]; then
    leave "the plug-ins for SCIP" "GPUOPT_TEST_DATA names no folder with public models"
fi
if ! fetch; then
    leave "the plug-ins for SCIP" "no SCIP: $(tail -n 1 "$said" | cut -c1-100)"
fi

build() {
    local hosts=examples/hosts gpuopt
    gpuopt=$(built_library)
    cc -std=c11 -O2 -fopenmp -Wall -Wextra -Werror -DGPUOPT_SCIP_PROTOTYPES -I. $hosts/scip_solve.c \
        $hosts/scip_branching.c $hosts/scip_implied.c $hosts/scip_propagator.c $hosts/node_budget.c $hosts/node_lp.c \
        "${gpuopt:-gpuopt_impl/gpuopt.c}" \
        "$library" "-Wl,-rpath,$(dirname "$library")" -lm -o "$work/solve"
}
check "the plug-ins compile" build || { summary; exit 1; }

# number NAME: the number after the first NAME in what SCIP and the plug-ins printed.
number() { grep -oE "$1 [-+0-9.e]+" <<<"$text" | head -n 1 | awk '{ print $NF }'; }
# optimum MODEL CONDITION HOW PARAMETERS...: solves it. The bounds are the published optimum, and the condition holds.
optimum() {
    local model=$1 condition=$2 how=$3 known
    shift 3
    known=$(awk -F, -v name="$model" '$1 == name { print $8 }' "$models/index.csv")
    [ -f "$work/$model.mps" ] || xz -dc "$models/$model.mps.xz" >"$work/$model.mps" || return
    text=$(timeout 100 "$work/solve" "$work/$model.mps" "$how" limits/time=90.0 "$@" 2>&1)
    echo "$text"
    awk -v known="$known" -v primal="$(number primal)" -v dual="$(number dual)" 'BEGIN {
        scale = known < 0 ? -known : known
        if (scale < 1) scale = 1
        exit !((primal - known) ^ 2 <= (1e-6 * scale) ^ 2 && (dual - known) ^ 2 <= (1e-6 * scale) ^ 2) }' || return
    eval "$condition"
}
# had NUMBER WORD: at least so many of what is printed as "COUNT WORD".
had() { [ "$(grep -oE "[0-9]+ $2" <<<"$text" | head -n 1 | cut -d' ' -f1)" -ge "$1" ]; }
warned() { [ "$(grep -c 'gpuopt.* is not used' <<<"$text")" -eq "$1" ]; }
lost() { grep -q ', failed' <<<"$text" && warned 1; }

same_nodes() { [ "${nodes:-$(number nodes)}" = "$(number nodes)" ]; }

# All candidates at all nodes. The clock plays no part, so that the trees do not depend on the threads.
easy=(presolving/maxrounds=0 separating/maxrounds=0 separating/maxroundsroot=0) # else the root is the whole tree
for model in p0201 bell5 enigma lseu stein27 flugpl p0033 egout gt2 mod008; do
    case $model in flugpl | p0033 | egout | gt2 | mod008) more=("${easy[@]}") ;; *) more=() ;; esac
    nodes=
    for threads in 1 4; do
        # shellcheck disable=SC2016 # evaluated by optimum
        check "$model, $threads threads, all candidates" optimum $model 'had 1 calls && warned 0 &&
            same_nodes && nodes=$(number nodes)' cpu branching/gpuopt/share=1.0 branching/gpuopt/threads=$threads \
            "${more[@]}"
    done
done
# As many as pay.
for model in p0201 misc07 bell5; do
    for seed in 0 1; do
        check "$model, seed $seed, by budget" optimum $model 'had 1 calls && warned 0' cpu \
            randomization/randomseedshift=$seed
    done
done
check "enigma: children propagated first, all candidates" optimum enigma 'had 1000 propagated && had 1 "of them"' cpu \
    branching/gpuopt/share=1.0 branching/gpuopt/propagate=16
check "bell5: no child propagated" optimum bell5 'had 1 calls && ! had 1 propagated' cpu
check "p0201: too few solutions to begin" optimum p0201 '! had 1 calls && had 1 left' cpu \
    branching/gpuopt/solutions=1000
check "misc07: the device is lost at the first call" optimum misc07 'lost && had 0 calls' cpu branching/gpuopt/fail=1
check "misc07: the device is lost at the fifth call" optimum misc07 'lost && had 4 calls' cpu branching/gpuopt/fail=5
check "p0201: there is no CUDA" optimum p0201 lost cuda
for model in p0201 misc07 bell5; do
    check "$model: the propagator" optimum $model "had 1 bounds && had 1 reasons" cpu propagating/gpuopt/freq=1
done
summary
