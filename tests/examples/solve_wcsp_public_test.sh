#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The example that solves graphical models, on public ones (the indices of GPUOPT_TEST_DATA): answers by other solvers,
# and solutions checked against the file by awk.
# Usage: solve_wcsp_public_test.sh [PROGRAM]
set -u
example=solve_wcsp seconds=120
# shellcheck source=../support/example.sh
. "$(dirname "${BASH_SOURCE[0]}")/../support/example.sh"
# shellcheck source=../support/solve_wcsp.sh
. "$root/tests/support/solve_wcsp.sh"

data=${GPUOPT_TEST_DATA:-}
if [ -z "$data" ] || [ ! -r "$data/wcsp/index.csv" ]; then
    leave "public models" "GPUOPT_TEST_DATA names no folder with wcsp/index.csv"
fi
data=$data/wcsp
while IFS=, read -r file answer; do
    case $answer in
    error:*)
        exits 2 "$data/edge/$file" && has "${answer#error: }" err
        ;;
    LB=INF*) impossible "$data/edge/$file" --task count && is count 0 ;;
    LB=*)
        want=${answer#LB=}
        optimal "${want%% *}" "$data/edge/$file" --task count --solution solution && is count "${answer##*count=}" &&
            costs "$data/edge/$file" && optimal "${want%% *}" "$data/edge/$file" --agents each &&
            optimal "${want%% *}" "$data/edge/$file" --reduce --task count --solution solution &&
            is count "${answer##*count=}" && costs "$data/edge/$file"
        ;;
    *lnZ=*) exits 0 "$data/edge/$file" --task logz --json && near logz "${answer##*lnZ=}" 1e-11 ;;
    *) false ;;
    esac
    result "edge/$file" $?
done < <(tail -n +2 "$data/edge/expected.csv" | tr -d '\r')
# What toulbar2 1.1.1 says; without a reduction these take 2^33 operations and more.
while read -r file want; do
    if [ -r "$data/reach/$file" ]; then
        optimal "$want" "$data/reach/$file" --reduce && is reduced_variables 0
        result "reach/$file --reduce" $?
    else
        skip "reach/$file" "not in GPUOPT_TEST_DATA"
    fi
done <<END
mastermind_03_08_04.wcsp.xz 138
mastermind_04_08_04.wcsp.xz 119
END

# toulbar2's own test models: its answers, except where the file has what is refused and where toulbar2 errs.
if [ -r "$data/toulbar2/index.csv" ]; then
    while IFS=, read -r file optimum _; do
        want=0 refused=
        case $file in
        # The sum of the file's own costs; toulbar2 adds the least costs of three tables of four variables and more
        # twice.
        *_alarm.cfn.gz) optimum=3.086727 ;;
        *_randomnegfollower.cfn.xz) optimum=-3775 ;; # version 1.1.1 refuses the bound, 1.4.0 gives this
        *_default_10_1.wcsp) want=2 refused='interval domains' ;;
        *_B1-LU04-test.wcsp) want=2 refused='state 2 is out of range' ;;
        *_wdiversec.cfn | *_sgrammardp1.cfn | *_weightedcspconstraintc.cfn) want=2 refused="type '.*' is not supported" ;;
        *_sudoku.wcsp | *_cap131.wcsp) want=reduced ;; # too wide without
        esac
        case $want in
        2) exits 2 "$data/toulbar2/$file" && has "$refused" err ;;
        reduced)
            optimal "$optimum" "$data/toulbar2/$file" --reduce &&
                exits 0 "$data/toulbar2/$file" --z 2 --order min-degree --restarts 1 --json &&
                within lower_bound 0 "$optimum"
            ;;
        *)
            optimal "$optimum" "$data/toulbar2/$file" --solution solution &&
                { grep -qE '[a-z]' <(tail -n +2 "$data/toulbar2/$file") || costs "$data/toulbar2/$file"; }
            ;;
        esac
        result "toulbar2/$file" $?
    done < <(tail -n +2 "$data/toulbar2/index.csv" | tr -d '\r')
else
    skip "toulbar2's models" "GPUOPT_TEST_DATA names no folder with wcsp/toulbar2/index.csv"
fi

# Those with no table beyond some megabytes.
while IFS=, read -r file variables domain functions _ optimum count width _; do
    case $file in
    *.uai) continue ;;
    small/latin.wcsp) # toulbar2's answer, as that of the same file in toulbar2/
        optimal 48 "$data/$file"
        result "$file" $?
        continue
        ;;
    small/donald.wcsp) # DONALD + GERALD = ROBERT: 526485 + 197485 = 723970; variables: D O N A L G E R B T, carries
        optimal 0 "$data/$file" --solution solution &&
            [ "$(head -n 10 solution | cut -d ' ' -f 2 | tr -d '\n')" = 5264819730 ]
        result "$file" $?
        continue
        ;;
    small/* | coloring/GEOM* | spot5/54.wcsp | spot5/503.wcsp | spot5/*404.wcsp | iscas89/s386.wcsp) ;;
    spot5/29.wcsp | iscas89/c499.wcsp | iscas89/c880.wcsp | iscas89/s1423.wcsp) ;;
    *)
        # Too much for a test on a few cores: mini-buckets, for whether they are read and what is said of them.
        exits 0 "$data/$file" --z 4 --order min-degree --restarts 1 --json &&
            is variables "$variables" functions "$functions" max_domain "$domain" &&
            { [ -z "$optimum" ] || within lower_bound 0 "$optimum"; }
        result "$file: read" $?
        continue
        ;;
    esac
    optimal "$optimum" "$data/$file" --task count --solution solution && costs "$data/$file" &&
        is variables "$variables" functions "$functions" max_domain "$domain" &&
        { [ -z "$count" ] || is count "$count"; } && { [ -z "$width" ] || within width 0 "$width"; }
    result "$file" $?
done < <(tail -n +2 "$data/index.csv" | tr -d '\r')
# Mini-buckets: an agent goes by the costs that a message has, a central run by those it may have, so that they may
# split buckets in different ways.
for file in small/example.wcsp coloring/GEOM40-3.wcsp spot5/54.wcsp; do
    exits 0 "$data/$file" --json && want=$(field lower_bound) && optimal "$want" "$data/$file" --agents each &&
        within largest_message_bytes 1 "$(field message_bytes)" &&
        awk -v n="$(field variables)" 'BEGIN { for (k = 0; k < n; k++) print k, int(k / 4) }' >groups &&
        optimal "$want" "$data/$file" --agents groups && bounded "$want" "$data/$file" --z 6 &&
        exits 0 "$data/$file" --agents each --z 6 --json && within lower_bound 1 "$want"
    result "$file: agents" $?
done
exits 0 "$data/small/network.uai" --task logz --evidence "$data/small/network.uai.evid" --json &&
    near logz 375.791166 1e-8
result "small/network.uai: ln Z" $?
exits 0 "$data/pedigree/pedigree1.uai" --task logz --json && near logz -32.482958 1e-7 &&
    exits 0 "$data/pedigree/pedigree1.uai" --json && near upper_bound 104.955409 1e-8
result "pedigree/pedigree1.uai: ln Z and the likeliest state" $?
exits 0 "$data/grid/50-12-5.uai" --task logz --json && near logz 0 1e-5 # its entries are rounded
result "grid/50-12-5.uai: a Bayesian network's Z is 1" $?

# Bounds that shifts have to reach, between those of mini-buckets, which are 111, 33 and 10097, and the optimum.
while read -r file z iterations least optimum; do
    exits 0 "$data/spot5/$file.wcsp" --z "$z" --relax "$iterations" --order min-fill --restarts 1 --json &&
        within lower_bound "$least" "$optimum" && within upper_bound "$optimum" 1e300
    result "spot5/$file: --z $z --relax $iterations" $?
done <<END
404 15 10 112 114
54 5 40 35 37
503 5 10 10150 11113
END

summary
