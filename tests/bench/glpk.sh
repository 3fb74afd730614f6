#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Usage: glpk.sh [--seconds N] [--cuts] [PROGRAM] [MODEL...]
#
# GLPK's branch and bound with propagation at its nodes and without: examples/branch_glpk (PROGRAM: built already) on
# models of GPUOPT_TEST_DATA/miplib by their names, or on files; without any: on those of that folder which GLPK solves
# within a minute, and on generated ones (glpk_models.awk). --cuts: with GLPK's cuts. N: seconds for a search (60). A
# line for each model: the published optimum, and for both the objective (or the status), nodes and seconds; then the
# processor time of propagation as a share of GLPK's own.
set -u
case ${1:-} in
-h | --help)
    sed -n '4,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    exit
    ;;
esac
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
data=${GPUOPT_TEST_DATA:-}/miplib
seconds=60 cuts=()
while :; do
    case ${1:-} in
    --seconds) seconds=$2 && shift 2 ;;
    --cuts) cuts=(--cuts) && shift ;;
    *) break ;;
    esac
done
program=${1:-}
if [ -n "$program" ]; then
    shift
else
    (cd "$root" && bazel build --noshow_progress //examples:branch_glpk) >&2 || exit
    program=$root/bazel-bin/examples/branch_glpk
fi
work=$(mktemp -d) || exit
trap 'rm -rf "$work"' EXIT

models=("$@")
if [ ${#models[@]} -eq 0 ]; then
    if [ -d "$data" ]; then
        models=(flugpl p0033 egout enigma lseu stein27 mod008 p0201)
        if [ ${#cuts[@]} -eq 0 ]; then models+=(neos859080 misc07 nw04); else models+=(bell5 gt2); fi
    fi
    for kind in cover knapsack assignment location lotsizing; do
        for seed in 1 2 3; do
            awk -v kind=$kind -v seed=$seed -f "$root/tests/bench/glpk_models.awk" >"$work/$kind-$seed.mps"
            models+=("$work/$kind-$seed.mps")
        done
    done
fi

# field NAME LINE: of a line of JSON.
field() { grep -o "\"$1\": [^,}]*" <<<"$2" | sed 's/^[^:]*: //; s/"//g'; }
# objective LINE: or the status if it is not optimal.
objective() { if [ "$(field status "$1")" = optimal ]; then field objective "$1"; else field status "$1"; fi; }

line='%-16s %16s | %16s %8s %8s | %16s %8s %8s | %8s\n'
# shellcheck disable=SC2059 # a format
printf "$line" "" "" propagation "" "" "GLPK alone" "" "" ""
# shellcheck disable=SC2059
printf "$line" model published objective nodes seconds objective nodes seconds share
for model in "${models[@]}"; do
    name=$(basename "$model" .mps) published=-
    if [ ! -e "$model" ]; then
        xz -dc "$data/$model.mps.xz" >"$work/$name.mps" || exit
        published=$(awk -F, -v name="$name" '$1 == name { print $8 }' "$data/index.csv")
        model=$work/$name.mps
    fi
    with=$("$program" "$model" "${cuts[@]}" --seconds "$seconds" --json)
    without=$("$program" "$model" "${cuts[@]}" --seconds "$seconds" --json --without)
    # shellcheck disable=SC2059
    printf "$line" "$name" "$published" "$(objective "$with")" "$(field nodes "$with")" "$(field seconds "$with")" \
        "$(objective "$without")" "$(field nodes "$without")" "$(field seconds "$without")" "$(field share "$with")"
    echo "$(objective "$with") $(objective "$without") $(field processor_seconds "$with") $(field propagation_seconds "$with")" >>"$work/all"
done
awk '{
        if ($1 == $2 || ($1 + 0 == $1 && $2 + 0 == $2 && ($1 - $2) ^ 2 <= 1e-12 * (1 + $1 ^ 2))) same++
        total += $3; propagation += $4
    }
    END {
        printf "%d models, %d with the same answer; propagation takes %.1f%% of the processor time of GLPK itself\n", NR, same,
            100 * propagation / (total - propagation)
    }' "$work/all"
