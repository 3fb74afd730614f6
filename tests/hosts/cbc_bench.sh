#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Cbc alone and with gpuopt's strong branching, side by side. Needs GPUOPT_TEST_DATA.
# Usage: cbc_bench.sh PROGRAM [RULE...]
#   PROGRAM   examples/hosts/cbc_solve, see coin_build.sh
#   RULE      command, alone, osi, cpu or cuda (alone osi cpu cuda)
#   MODELS, SEEDS, SECONDS_EACH, JOBS (runs at a time), OPTIONS (of each run): in the environment
# Prints a line per run, and per model and seed the seconds of each rule, with the nodes in brackets, and the dual bound
# where the limit was reached. At the end there are the geometric means of the time of each rule of Cbc over that of
# gpuopt's, over the pairs of which at least one run ended within the limit.
set -u
program=$(realpath "${1:?the program}") || exit
shift
[ $# -gt 0 ] || set -- alone osi cpu cuda
# Those that spend at least a quarter of Cbc's time in strong branching, then some that spend less.
many="p0201 b1c1s1 cost266-UUE swath1 rococoC10-001000 50v-10 glass4 gmu-35-50 binkar10_1 noswot"
models=${MODELS:-"$many pk1 timtab1 misc07 stein27 roll3000 air05 eil33-2"}
seeds=${SEEDS:-"0 1"} limit=${SECONDS_EACH:-120} jobs=${JOBS:-4} options=${OPTIONS:-}
data=${GPUOPT_TEST_DATA:?the folder of the public models}/miplib
lines=$(mktemp) || exit 1
trap 'rm -f "$lines"' EXIT
# shellcheck disable=SC2016 # the inner shell expands them
for model in $models; do
    for seed in $seeds; do
        for rule in "$@"; do echo "$model $seed $rule"; done
    done
done | xargs -P "$jobs" -L 1 sh -c '
    # shellcheck disable=SC2086 # several options
    said=$(timeout $(($3 * 2 + 60)) "$1" "$2/$5.mps.xz" "$7" seconds="$3" seed="$6" $4 2>&1)
    echo "$5 $6 $7 $(echo "$said" | grep -o "status.*" | head -n 1) $(echo "$said" | grep "^gpuopt" | tr "\n" " ")"
' sh "$program" "$data" "$limit" "$options" | tee "$lines"
awk -v rules="$*" -v limit="$limit" '
    BEGIN { n = split(rules, rule, " ") }
    {
        key = $1 " " $2
        if (!(key in seen)) { order[++count] = key; seen[key] = 1 }
        for (k = 4; k < NF; k++) {
            if ($k == "seconds" && !((key, $3) in time)) time[key, $3] = $(k + 1)
            if ($k == "nodes") nodes[key, $3] = $(k + 1)
            if ($k == "status") done[key, $3] = $(k + 1) == 0
            if ($k == "dual") dual[key, $3] = $(k + 1)
        }
    }
    END {
        printf "\n%-24s", "model, seed"
        for (r = 1; r <= n; r++) printf " %26s", rule[r]
        print ""
        for (i = 1; i <= count; i++) {
            printf "%-24s", order[i]
            for (r = 1; r <= n; r++) {
                key = order[i] SUBSEP rule[r]
                cell = (key in time) ? (done[key] ? sprintf("%.1f (%d)", time[key], nodes[key]) \
                                                  : sprintf("> %d (%d; %.7g)", limit, nodes[key], dual[key])) : "-"
                printf " %26s", cell
            }
            print ""
        }
        for (a = 1; a <= n; a++) for (b = 1; b <= n; b++) {
            if ((rule[a] != "alone" && rule[a] != "osi" && rule[a] != "command") || rule[b] !~ /^(cpu|cuda)$/) continue
            sum = m = 0
            for (i = 1; i <= count; i++) {
                x = order[i] SUBSEP rule[a]; y = order[i] SUBSEP rule[b]
                if (!(x in time) || !(y in time) || !(done[x] || done[y])) continue
                sum += log((done[x] ? time[x] : limit) / (done[y] ? time[y] : limit)); m++
            }
            if (m) printf "%s / %s: %.2f (%d pairs)\n", rule[a], rule[b], exp(sum / m), m
        }
    }' "$lines"
