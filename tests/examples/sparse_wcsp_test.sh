#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Weighted CSPs of few tuples over large domains: solve_wcsp and branch_wcsp take little memory and time, in every way
# that they have, and answers are those by hand. What does not fit is refused before its memory is taken.
# Usage: sparse_wcsp_test.sh [FOLDER]   with the examples, built
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
programs=$(realpath "${1:-$root/bazel-bin/examples}") || exit
work=$(mktemp -d) || exit 1
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
at_end() { rm -rf "$said" "$work"; }
cd "$work" || exit 1

# run STATUS PROGRAM ARGUMENT...: within 10 s and 300 MB, which is less than a table has.
run() {
    local want=$1 got
    shift
    (ulimit -v 300000 && timeout 10 "$programs/$1" "${@:2}" --json >out 2>err)
    got=$?
    [ "$got" -eq "$want" ] || { echo "exit status $got" && cat out err && return 1; }
}
shows() { grep -F -- "$1" out || { cat out && return 1; }; }
bounds() { run 0 "$2" "${@:3}" --backend cpu && shows "\"lower_bound\": $1, \"upper_bound\": $1"; }
valued() { # COST VALUES FILE OPTION...
    bounds "$1" solve_wcsp "${@:3}" --solution solution || return 1
    [ "$(cut -d ' ' -f 2 solution | tr '\n' ' ')" = "$2 " ] || { cat solution && return 1; }
}
counted() { run 0 solve_wcsp "$2" --task count && shows "\"count\": $1,"; }
infeasible() { run 1 "$1" "$2" && shows '"status": "infeasible"'; }

# 9, but 3 at the end of both domains and 5 inside of them.
printf 'pair 2 30000 1 100\n30000 30000\n2 0 1 9 2\n29999 29999 3\n17 4 5\n' >pair.wcsp
check "pair" valued 3 "29999 29999" pair.wcsp --memory 1M
for options in '--reduce' '--agents each' '--ranks 2' '--policy slice' '--policy mini-bucket' '--relax 3' '--policy drop'; do
    # shellcheck disable=SC2086 # several options
    check "pair $options" valued 3 "29999 29999" pair.wcsp $options
done
check "pair: branch_wcsp" bounds 3 branch_wcsp pair.wcsp
check "pair: branch_wcsp --reduce" bounds 3 branch_wcsp pair.wcsp --reduce
check "pair: how many" counted 1 pair.wcsp
printf '1\n0 17\n' >evidence
check "pair: with evidence in a tuple" valued 5 "17 4" pair.wcsp --evidence evidence
printf '1\n0 12345\n' >evidence
check "pair: with evidence in none" valued 9 "12345 0" pair.wcsp --evidence evidence
printf '2 0 29999 1 12345\n' >evidence
check "pair: with evidence for both" valued 9 "29999 12345" pair.wcsp --evidence evidence

# The default is best: all but 2 of 9 * 10^8.
printf 'rest 2 30000 1 100\n30000 30000\n2 0 1 1 2\n29999 29999 3\n17 4 5\n' >rest.wcsp
check "the default is best" bounds 1 solve_wcsp rest.wcsp
check "the default is best: how many" counted 899999998 rest.wcsp
# Costs of single values, in a list and as a default: x = 5 is free, all others cost 4; of y all cost 2, but 1 at 7.
printf 'unary 2 30000 3 100\n30000 30000\n2 0 1 1 2\n5 7 50\n17 4 0\n1 0 4 1\n5 0\n1 1 2 1\n7 1\n' >unary.wcsp
check "with costs of values" valued 3 "5 0" unary.wcsp
check "with costs of values: how many" counted 29999 unary.wcsp
check "with costs of values: branch_wcsp" bounds 3 branch_wcsp unary.wcsp
# Only tuples are permitted; the bound forbids as well.
printf 'hard 3 30000 2 100\n30000 30000 30000\n2 0 1 100 3\n1 2 7\n3 4 6\n5 29999 50\n2 1 2 1000000 2\n2 9 1\n29999 8 0\n' >hard.wcsp
check "a default that is forbidden" valued 8 "1 2 9" hard.wcsp
check "a default that is forbidden: how many" counted 1 hard.wcsp
printf 'none 2 30000 2 100\n30000 30000\n2 0 1 100 1\n1 2 7\n1 0 100 1\n3 0\n' >none.wcsp
check "no solution" infeasible solve_wcsp none.wcsp
check "no solution: branch_wcsp" infeasible branch_wcsp none.wcsp
printf 'empty 2 30000 2 9\n30000 30000\n2 0 1 9 0\n1 0 1 0\n' >empty.wcsp
check "a list without tuples, forbidden" infeasible solve_wcsp empty.wcsp
printf 'three 4 30000 3 100\n30000 30000 30000 2\n3 0 1 2 6 2\n1 2 3 2\n29999 29999 29999 1\n3 1 2 0 0 1\n29999 29999 29999 9\n2 2 3 0 1\n3 0 1\n' >three.wcsp
check "three variables, 2.7e13 tuples" valued 2 "1 2 3 1" three.wcsp
check "three variables: branch_wcsp" bounds 2 branch_wcsp three.wcsp
printf 'ends 3 2000000000 2 100\n2000000000 2000000000 2000000000\n3 0 1 2 6 1\n1999999999 0 1 2\n1 0 0 1\n5 3\n' >ends.wcsp
check "domains of 2e9 values" valued 2 "1999999999 0 1" ends.wcsp
printf '{problem: {name: p mustbe: "<9.0"} variables: {x: 30000 y: 30000} functions: {f: {scope: [x y] defaultcost: -1.5 costs: [3 4 -2.5  29999 0 inf]}}}' >pair.cfn
check ".cfn, negative costs" valued -2.5 "3 4" pair.cfn
printf '{problem: {name: p mustbe: "<9.0"} variables: {x: 30000 y: 30000} functions: {f: {scope: [x y] defaultcost: inf costs: [3 4 2.5  29999 0 3.5]}}}' >inf.cfn
check ".cfn, a default that is forbidden" valued 2.5 "3 4" inf.cfn

# 3160 pairs of 80 variables without tuples, and as many with two each.
wide() {
    awk -v tuples="$1" 'BEGIN {
        print "wide 80 30000 3160 100000"
        for (k = 0; k < 80; k++) printf "30000 "
        print ""
        for (j = 1; j < 80; j++) for (i = 0; i < j; i++) {
            print 2, i, j, 1, tuples
            if (tuples) print i, 29999 - j, 3 "\n" 29999 - j, i, 0
        } }'
}
wide 0 >wide.wcsp
wide 2 >tuples.wcsp
planned() { run 0 solve_wcsp "$1" --plan "${@:2}" && shows '"plans"'; }
check "empty pairs: the plan" planned wide.wcsp
check "empty pairs" bounds 3160 solve_wcsp wide.wcsp
check "pairs of two tuples: the plan" planned tuples.wcsp --order min-degree

# Each value is in a tuple, so that a table has 10^8 entries.
awk 'BEGIN { print "all 2 10000 1 100\n10000 10000\n2 0 1 9 10000"; for (k = 0; k < 10000; k++) print k, 9999 - k, k % 7 + 1 }' >all.wcsp
refused() { run 3 solve_wcsp all.wcsp --memory 50M && grep "may be used" err; }
check "what does not fit --memory is refused before it is taken" refused
check "and planned" planned all.wcsp --memory 50M
check "what fits takes no more than that" bounds 1 solve_wcsp all.wcsp --memory 120M
taken() { run 0 solve_wcsp all.wcsp --memory 120M && [ "$(grep -oE '"peak_bytes": [0-9]+' out | grep -oE '[0-9]+')" -le 120000000 ]; }
check "and its peak is within --memory" taken

summary
