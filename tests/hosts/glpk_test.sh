#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Strong branching in GLPK: published optima, with gpuopt and without; a device that is lost in the tree.
# Runs with: --all
# Usage: glpk_test.sh
set -u
# shellcheck source=build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"

need libglpk-dev xz-utils
if ! echo '#include <glpk.h>' | cc -E - >/dev/null 2>&1; then
    leave "GLPK" "there is no glpk.h; Debian: libglpk-dev"
fi
sources=("$root"/examples/hosts/glpk_solve.c "$root"/examples/hosts/glpk_branching.c "$root"/examples/hosts/node_lp.c)
options=(-std=c11 -O2 -Wall -Wextra -Werror -fopenmp "-I$root")
build() { gcc "${options[@]}" -o "$@" "${sources[@]}" "$library" -lglpk -lm -pthread; }
check "the program" build glpk_solve
check "the program with a device that can be lost" build glpk_solve_lost "${lost[@]}"

# solved OPTIMUM MODEL HOW OPTION...: the optimum, and batches unless GLPK is alone.
solved() {
    local want=$1
    shift
    timeout 300 ./glpk_solve "$@" seconds=250 >out 2>err
    if ! optimum "$want" || [ -s err ]; then wrong; fi || return
    [ "$2" = alone ] || [ "$(calls)" -gt 0 ] || wrong
}

# survives OPTIMUM MODEL CALL STATUS: the same optimum if that call fails, after one warning.
survives() {
    LOST_AT=$3 LOST_STATUS=$4 timeout 300 ./glpk_solve_lost "$2" cpu seconds=250 >out 2>err
    if ! optimum "$1" || ! grep -q ', failed$' out || [ "$(calls)" -ne $(($3 - 1)) ] ||
        ! warned '^gpuopt is not used any more'; then wrong; fi
}

# Random models, whose optima small_mip.awk finds by enumeration: "optimal N", "optimum N" or another word.
# random CALLS OPTION...: with at least so many batches in all.
random() {
    local seed answer status many=0 least=$1
    shift
    for seed in $(seq 1 40); do
        answer=$(awk -v seed="$seed" -v file=model.mps -f "$root/tests/examples/small_mip.awk" | head -n 1)
        timeout 60 ./glpk_solve model.mps cpu presolve=0 "$@" >out 2>err
        status=$?
        case $answer in
        opti*) [ "$status" -eq 0 ] && optimum "${answer#* }" ;;
        *) [ "$status" -eq 1 ] ;;
        esac
        # shellcheck disable=SC2181 # of the case
        [ $? -eq 0 ] || { echo "seed $seed: $answer" >>err && wrong; } || return
        many=$((many + $(calls)))
    done
    [ "$many" -ge "$least" ] || { echo "$many calls" >>err && wrong; }
}
check "random models" random 20
check "random models, with cuts" random 0 cuts=1
check "random models, one iteration a child" random 20 iterations=1

if ! has_models; then
    leave "published optima" "there is no GPUOPT_TEST_DATA"
fi
while read -r name want options; do
    model "$name"
    # shellcheck disable=SC2086 # several words
    check "$name, with gpuopt: the published optimum" solved "$want" "$name.mps" cpu $options
done <<'END' # of few seconds each; misc07 takes a minute or two
p0033 3089
egout 568.1007
enigma 0
flugpl 1201500
lseu 1120
mod008 307
stein27 18
p0201 7615 cuts=1
p0201 7615 share=1
bell5 8966406.49152
END
check "p0201: GLPK alone" solved 7615 p0201.mps alone cuts=1
check "p0201: a device that is lost at once" survives 7615 p0201.mps 1 device
check "p0201: a device that is lost in the tree" survives 7615 p0201.mps 5 device
check "p0201: no memory in the tree" survives 7615 p0201.mps 3 memory
summary
