#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Usage: run.sh [[EXAMPLE] MODEL [OPTION...]]
# Builds the examples and runs the main job: with a model, the example that it is for (options are passed on), or the
# one that is named before it; without, all of them on small models of our own and on generated ones large enough to see
# the speed.
set -u
here=$(dirname "${BASH_SOURCE[0]}")
root=$(cd "$here/.." && pwd)
# shellcheck source=../third_party/setup.sh
. "$root/third_party/setup.sh"

need "${example_packages[@]}"
if ! (cd "$root" && bazel build --noshow_progress //examples:all) >"${TMPDIR:-/tmp}/gpuopt-examples.log" 2>&1; then
    cat "${TMPDIR:-/tmp}/gpuopt-examples.log" >&2
    exit 3
fi
programs=$root/bazel-bin/examples

# The example for a model file or generator: propagation where columns are integer, the simplex method where none is.
example_of() {
    case $1 in
    *.mps | *.mps.gz)
        if gzip -cdf -- "$1" 2>/dev/null | grep -qE "'INTORG'|^[[:space:]]+(BV|LI|UI)[[:space:]]"; then
            echo propagate_mps
        else
            echo solve_lp
        fi
        ;;
    gen:*) echo propagate_mps ;;
    shah:* | meyer:* | plant:*) echo solve_lp ;;
    *.wcsp | *.uai | random:* | scalefree:* | grid:*) echo solve_wcsp ;;
    *.knapsack | paper:* | uncorrelated:* | weak:* | strong:* | inverse-strong:* | almost-strong:* | subset-sum:* | \
        similar:* | span:* | multiple-strong:* | profit-ceiling:* | circle:*) echo solve_knapsack ;;
    *)
        echo "$1: no example reads this; known endings: .mps .mps.gz .wcsp .uai .knapsack, and gen:NAME, shah:M:SEED," \
            "meyer:M:N:DENSITY:SEED, plant:M:N:DENSITY:SEED, random:N:D:P1:SEED, scalefree:N:D:SEED, grid:N:D:SEED," \
            "paper:N:SEED, strong:N:R:SEED, circle:N:R:SEED and other classes of knapsacks" >&2
        return 2
        ;;
    esac
}

case ${1:-} in
'') ;;
quickstart | propagate_mps | solve_lp | solve_wcsp | solve_knapsack) exec "$programs/$1" "${@:2}" ;;
*)
    example=$(example_of "$1") || exit
    exec "$programs/$example" "$@"
    ;;
esac

failed=0
# show PROGRAM ARGUMENT...: runs an example under its command line; an infeasible model (1) is an answer like others.
show() {
    local program=$1
    shift
    printf '\n$ %s %s\n' "$program" "$*"
    "$programs/$program" "$@"
    [ $? -le 1 ] || failed=1
}

cd "$root" || exit 3
show quickstart
for model in examples/models/*; do show "$(example_of "$model")" "$model"; done
for model in gen:rand,1000000,1000000,10,1 gen:band,2000000,8,1 gen:rand,10000,10000,10,1; do
    show propagate_mps "$model" --backend cpu
    show propagate_mps "$model" --backend cpu --threads "$(nproc)"
    if ls /dev/nvidia[0-9]* >/dev/null 2>&1; then show propagate_mps "$model" --backend cuda; fi
done
for model in shah:1000:1 meyer:750:3750:0.04:1 plant:500:1000:0.05:1; do
    show solve_lp "$model" --backend cpu
    if ls /dev/nvidia[0-9]* >/dev/null 2>&1; then show solve_lp "$model" --backend cuda; fi
done
for model in random:18:10:0.3:1 grid:10:4:1; do
    show solve_wcsp "$model" --backend cpu
    show solve_wcsp "$model" --backend cpu --z 3
    if ls /dev/nvidia[0-9]* >/dev/null 2>&1; then show solve_wcsp "$model" --backend cuda; fi
done
show solve_wcsp scalefree:30:4:1 --backend cpu --agents each
if ls /dev/nvidia[0-9]* >/dev/null 2>&1; then show solve_wcsp random:20:10:0.3:1 --backend cuda; fi
for model in paper:500:1 strong:10000:1000000:1 profit-ceiling:10000:1000000:1 circle:3000:1000000:1; do
    show solve_knapsack "$model" --backend cpu
    if ls /dev/nvidia[0-9]* >/dev/null 2>&1; then show solve_knapsack "$model" --backend cuda; fi
done
if ls /dev/nvidia[0-9]* >/dev/null 2>&1; then
    show solve_knapsack circle:10000:1000000:1 --backend cuda --pool 40000000
fi
ls /dev/nvidia[0-9]* >/dev/null 2>&1 || printf '\nNo NVIDIA GPU on this machine: everything ran on the CPU.\n'
exit $failed
