#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# CLP with its own factorisation and with gpuopt's inverse, side by side, on dense generated models.
# Usage: clp_bench.sh PROGRAM [BACKEND...]
#   PROGRAM   examples/hosts/clp_solve, see coin_build.sh
#   BACKEND   cpu or cuda (cpu cuda)
#   MODELS, SECONDS_EACH, OPTIONS (of each run): in the environment
# One run at a time. Prints a line per run, and a table: seconds and microseconds per iteration.
set -u
program=$(realpath "${1:?the program}") || exit
shift
[ $# -gt 0 ] || set -- cpu cuda
models=${MODELS:-"shah:500:1 shah:1000:1 shah:2000:1 meyer:1250:6250:.04:1 plant:750:3750:.04:1"}
limit=${SECONDS_EACH:-120} options=${OPTIONS:-}
lines=$(mktemp) || exit 1
trap 'rm -f "$lines"' EXIT
for model in $models; do
    for run in "alone auto" "alone primal" "alone dual" $(printf '%s_dual ' "$@") $(printf '%s_primal ' "$@"); do
        # shellcheck disable=SC2086 # several options
        timeout $((limit * 2 + 60)) "$program" "$model" ${run/_/ } seconds="$limit" $options 2>&1
    done
done | tee "$lines"
awk '
    / status / {
        key = $2 "," substr($3, 1, length($3) - 1)
        if (!($1 in seen)) { order[++count] = $1; seen[$1] = 1 }
        if (!(key in known)) { run[++runs] = key; known[key] = 1 }
        for (k = 4; k < NF; k++) {
            if ($k == "status") status = $(k + 1)
            if ($k == "iterations") iterations = $(k + 1)
            if ($k == "seconds") seconds = $(k + 1)
        }
        cell[$1, key] = sprintf("%s%.3f (%.0f us)", status ? ">" : "", seconds, 1e6 * seconds / (iterations + 1e-9))
    }
    END {
        printf "\n%-24s", "model"
        for (r = 1; r <= runs; r++) printf " %20s", run[r]
        print ""
        for (i = 1; i <= count; i++) {
            printf "%-24s", order[i]
            for (r = 1; r <= runs; r++) printf " %20s", cell[order[i], run[r]]
            print ""
        }
    }' "$lines"
