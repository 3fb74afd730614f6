#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The example that branches and bounds, as a user runs it: answers worked out by hand, or by another solver (the indices
# of GPUOPT_TEST_DATA); every option; exit codes. z is small, so that the bounds leave a search.
# Usage: branch_wcsp_test.sh [PROGRAM]
set -u
example=branch_wcsp seconds=120
# shellcheck source=../support/example.sh
. "$(dirname "${BASH_SOURCE[0]}")/../support/example.sh"

# optimal WANT ARGUMENT...: proven.
optimal() {
    local want=$1
    shift
    exits 0 "$@" --json --backend cpu && has '"status": "optimal"' out && near lower_bound "$want" 1e-9 &&
        near upper_bound "$want" 1e-9
}
is_z() { within z "$1" "$1"; }
searched() { within nodes "$1" 1e9; } # nodes at least

# complete N COLORS COST: a weighted CSP that colors the complete graph of N vertices; equal neighbours cost COST.
complete() {
    awk -v n="$1" -v d="$2" -v c="$3" 'BEGIN {
        print "complete", n, d, n * (n - 1) / 2, 1000
        for (i = 0; i < n; i++) printf "%d ", d
        print ""
        for (i = 0; i < n; i++) for (j = i + 1; j < n; j++) {
            print 2, i, j, 0, d
            for (v = 0; v < d; v++) print v, v, c
        }
    }'
}

# The classes of equal colors are as even as can be: 7 vertices in 3 colors are 3 + 2 + 2, with 3 + 1 + 1 equal pairs.
complete 7 3 1 >seven.wcsp
complete 9 4 2 >nine.wcsp # 3 + 2 + 2 + 2: 6 pairs, 2 each
complete 5 4 1000 >five.wcsp
for z in 2 3 5; do
    for relax in 0 1 20; do
        optimal 5 seven.wcsp --z $z --relax $relax && is_z $z && searched 10
        result "a complete graph of 7 vertices, --z $z --relax $relax" $?
        optimal 12 nine.wcsp --z $z --relax $relax && searched 10
        result "a complete graph of 9 vertices, --z $z --relax $relax" $?
    done
    exits 1 five.wcsp --z $z --json && has '"status": "infeasible"' out && has '"upper_bound": null' out
    result "4 colors for 5 vertices: none, --z $z" $?
done
for options in "--batch 1" "--batch 3" "--batch 5000" "--cache 1" "--cache 4 --batch 2" "--threads 2" "--order-work 1000"; do
    # shellcheck disable=SC2086 # several words
    optimal 12 nine.wcsp --z 2 --relax 3 $options && searched 10
    result "$options" $?
done
# Two models side by side: the tree has two roots, and the optima add up.
awk 'NR == FNR { a[FNR] = $0; rows = FNR; next }
    FNR == 1 { print "both", 14, 3, 42, 1000 } FNR == 2 { print a[2], $0; for (k = 3; k <= rows; k++) print a[k] }
    FNR > 2 && NF == 5 { $2 += 7; $3 += 7; print; next } FNR > 2' seven.wcsp seven.wcsp >both.wcsp
optimal 10 both.wcsp --z 2
result "a model in two parts" $?

# Two more vertices, each with one neighbour, the first of which costs 3 in any color: a reduction takes them out.
awk 'FNR == 1 { print "more", 9, 3, 24, 1000 } FNR == 2 { print $0, 3, 3 } FNR > 2 { print }
    END { for (i = 0; i < 2; i++) { print 2, 6 + i, 7 + i, 0, 3; for (v = 0; v < 3; v++) print v, v, 4 } print 1, 7, 3, 0 }' \
    seven.wcsp >more.wcsp
for options in --reduce "--reduce --batch 1" ""; do
    # shellcheck disable=SC2086 # several words
    optimal 8 more.wcsp --z 2 $options && searched 10
    result "a model with an appendix $options" $?
done
exits 0 more.wcsp --z 2 --reduce && has 'reduced *to 7 variables' out && has 'optimal *8 ' out
result "--reduce: in words" $?
exits 1 five.wcsp --z 2 --reduce --json && has '"status": "infeasible"' out
result "--reduce where there is no solution" $?

# By hand: solve_wcsp_test.sh.
optimal 4 "$models/exams.wcsp" --reduce && within nodes 0 0
result "exams.wcsp: a reduction leaves nothing to search" $?
optimal 4 "$models/exams.wcsp" --z 2
result "exams.wcsp" $?
exits 0 "$models/sprinkler.uai" --z 2 --json && near upper_bound 0.733969175080201 1e-5 && near lower_bound 0.733969 1e-5
result "sprinkler.uai: factors" $?
# Factors above 1: costs below 0. All three variables 1 have the largest product, 20 * 20 * 20.
printf 'MARKOV\n3\n2 2 2\n3\n2 0 1\n2 0 2\n2 1 2\n4\n1 2 3 20\n4\n1 2 3 20\n4\n1 2 3 20\n' >above.uai
exits 0 above.uai --z 2 --json --backend cpu && near upper_bound -8.987196820661973 1e-5 && near lower_bound -8.987197 1e-5
result "factors above 1" $?
# Weights of 7, 5 and 4 that must not exceed 9: the greatest value is 9 (5 + 4).
cat >load.cfn <<'CFN'
{"problem": {"name": "load", "mustbe": ">-100.0"},
 "variables": {"a": 2, "b": 2, "c": 2},
 "functions": {"va": {"scope": ["a"], "costs": [0, 7.0]}, "vb": {"scope": ["b"], "costs": [0, 5.0]},
  "vc": {"scope": ["c"], "costs": [0, 4.0]},
  "ab": {"scope": ["a", "b"], "costs": [0, 0, 0, -99]}, "ac": {"scope": ["a", "c"], "costs": [0, 0, 0, -99]}}}
CFN
optimal 9 load.cfn --z 2
result "a .cfn that is maximised" $?

# A node limit cannot be foreseen, but a second is not enough for this one.
complete 24 7 1 >large.wcsp
exits 3 large.wcsp --z 2 --seconds 0.5 --json && has '"status": "bounded"' out && within lower_bound 0 30 &&
    within upper_bound 30 1000 && exits 3 large.wcsp --z 2 --seconds 0.5 && has 'incumbent' out && has 'at least' out
result "--seconds: stopped, with both bounds" $?
optimal 5 seven.wcsp --z 2 && exits 0 seven.wcsp --z 2 --backend cpu && has 'optimal *5 ' out && has 'nodes' out
result "incumbents and nodes in words" $?

exits 0 --help && has 'usage: branch_wcsp' out
result "--help" $?
for options in "--z 0" "--relax -1" "--batch 0" "--cache 99" "--seconds 0" "--seconds x" "--backend gpu" "--nonsense 1"; do
    # shellcheck disable=SC2086 # several words
    exits 2 seven.wcsp $options && [ -s err ]
    result "$options is refused" $?
done
exits 2 missing.wcsp && has 'missing.wcsp' err
result "a file that is not there" $?

# ---- Public models ----

if [ -n "${GPUOPT_TEST_DATA:-}" ]; then
    data=$GPUOPT_TEST_DATA/wcsp
    while read -r file want options; do
        # shellcheck disable=SC2086 # several words
        optimal "$want" "$data/$file" $options && { [ "${options#*--reduce}" != "$options" ] || searched 100; }
        result "$file $options" $?
    done <<'MODELS'
small/example.wcsp 27 --z 3
small/rep_0_x_10.wcsp 124 --z 2
spot5/54.wcsp 37 --z 5
reach/90-30-5.uai.xz 30.209404 --reduce
toulbar2/validation_default_cap131.wcsp 7934385 --reduce
toulbar2/validation_default_sudoku.wcsp 0 --reduce
spot5/404.wcsp 114 --z 8
spot5/29.wcsp 8059 --z 7
spot5/42b.wcsp 155050 --z 12 --relax 0
spot5/408b.wcsp 6225
coloring/myciel5g-3.wcsp 16
MODELS
fi

summary
