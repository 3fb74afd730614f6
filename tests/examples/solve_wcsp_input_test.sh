#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The example that solves graphical models, given input that is none, files that do not go with a model, and options
# that do not go together: exit status 2; the file, line and column, what is wrong.
# Usage: solve_wcsp_input_test.sh [PROGRAM]
set -u
example=solve_wcsp seconds=120
# shellcheck source=../support/example.sh
. "$(dirname "${BASH_SOURCE[0]}")/../support/example.sh"
exams=$models/exams.wcsp sprinkler=$models/sprinkler.uai
echo 1 2 0 >early
printf '# the first exams last\n4 3 2\n1 0\n' >backwards

# broken NAME WHAT TEXT: a file of that text is refused with WHAT behind its name.
broken() {
    printf '%b' "$3" >"$1"
    exits 2 "$1" && has "^$1:$2" err && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ]
    result "refused: $1, $2" $?
}
broken empty.wcsp '1:1: truncated' ''
broken name_only.wcsp '2:1: truncated.* variables' 'x\n'
broken no_bound.wcsp '1:9: .*upper bound' 'x 1 2 1 a\n2\n'
broken huge_bound.wcsp '1:9: .*9223372036854775808 does not fit' 'x 1 2 0 9223372036854775808\n2\n'
broken negative_bound.wcsp '1:9: .*-1 is negative' 'x 1 2 0 -1\n2\n'
broken many_variables.wcsp '3:1: variable 1: truncated' 'x 2147483647 2 1 9\n2\n'
broken many_functions.wcsp '4:1: function 1: truncated' 'x 1 2 2147483646 9\n2\n1 0 0 0\n'
broken interval.wcsp '2:3: variable 1: interval domains' 'x 2 2 0 9\n2 -2\n'
broken empty_domain.wcsp '2:1: variable 0: domain size 0 ' 'x 1 2 0 9\n0\n'
broken large_domain.wcsp '2:3: variable 1: domain size 3 ' 'x 2 2 0 9\n2 3\n'
broken arity.wcsp '3:1: function 0: arity 2 ' 'x 1 2 1 9\n2\n2 0 0 0 0\n'
broken scope.wcsp '3:3: function 0: scope: variable 1 ' 'x 1 2 1 9\n2\n1 1 0 0\n'
broken negative_scope.wcsp '3:3: function 0: scope: variable -1 is negative' 'x 1 2 1 9\n2\n1 -1 0 0\n'
broken twice.wcsp '3:5: function 0: scope: variable 0 comes twice' 'x 2 2 1 9\n2 2\n2 0 0 0 0\n'
broken second.wcsp '5:3: function 1: scope: variable 2 ' 'x 2 2 2 9\n2 2\n1 0 0 1\n0 3\n2 2 0 0 0\n'
broken value.wcsp '4:3: function 0: value 2 ' 'x 2 2 1 9\n2 2\n2 0 1 0 1\n1 2 3\n'
broken negative_cost.wcsp '4:3: function 0: cost -3 is negative' 'x 1 2 1 9\n2\n1 0 0 1\n1 -3\n'
broken negative_default.wcsp '3:5: function 0: default cost -1 is negative' 'x 1 2 1 9\n2\n1 0 -1 0\n'
broken fraction.wcsp "4:3: function 0: cost '3.5' is not a whole" 'x 1 2 1 9\n2\n1 0 0 1\n1 3.5\n'
broken exponent.wcsp "4:3: function 0: cost '1e3' is not a whole" 'x 1 2 1 9\n2\n1 0 0 1\n1 1e3\n'
broken huge_cost.wcsp '4:3: function 0: cost 9223372036854775808 ' 'x 1 2 1 9\n2\n1 0 0 1\n1 9223372036854775808\n'
broken no_cost.wcsp '5:1: function 0: truncated.* cost' 'x 1 2 1 9\n2\n1 0 0 1\n1\n'
broken few_tuples.wcsp '5:1: function 0: truncated' 'x 1 2 1 9\n2\n1 0 0 4000000000000000000\n1 2\n'
broken surplus.wcsp "5:1: '7' is left over" 'x 1 2 1 9\n2\n1 0 0 1\n1 2\n7\n'
broken intention.wcsp "3:10: function 0: cost function in intention 'sgrammar' not" 'x 2 2 1 9\n2 2\n2 0 1 -1 sgrammar var 1\n'
broken unshared.wcsp '3:7: function 0: number of tuples -1 ' 'x 1 2 1 9\n2\n1 0 0 -1\n'
broken used.wcsp '5:7: function 2: number of tuples -2 ' 'x 2 2 3 9\n2 2\n-1 0 0 0\n-1 1 0 -1\n1 1 0 -2\n'
broken shared_arity.wcsp '4:9: function 1: .*another arity' 'x 2 2 2 9\n2 2\n-1 0 0 0\n2 0 1 0 -1\n'
broken shared_domain.wcsp '4:7: function 1: .*other domain' 'x 2 3 2 9\n2 3\n-1 0 0 0\n1 1 0 -1\n'
broken kind.uai "1:1: 'GRAPH' is neither" 'GRAPH\n1\n2\n0\n'
broken scope.uai '5:3: factor 0: scope: variable 1 ' 'MARKOV\n1\n2\n1\n1 1\n2\n1 1\n'
broken twice.uai '5:5: factor 0: scope: variable 0 comes twice' 'MARKOV\n2\n2 2\n1\n2 0 0\n'
broken entries.uai '6:1: factor 0: 3 entries' 'MARKOV\n1\n2\n1\n1 0\n3\n1 1 1\n'
broken negative.uai '7:3: factor 0: entry -1 is negative' 'MARKOV\n1\n2\n1\n1 0\n2\n1 -1\n'
broken nan.uai "7:3: factor 0: entry 'nan' is not" 'MARKOV\n1\n2\n1\n1 0\n2\n1 nan\n'
broken infinite.uai '7:3: factor 0: entry 1e999 does not' 'MARKOV\n1\n2\n1\n1 0\n2\n1 1e999\n'
broken vanishing.uai '7:3: factor 0: entry 1e-999 does not' 'MARKOV\n1\n2\n1\n1 0\n2\n1 1e-999\n'
broken short.uai '8:1: factor 0: truncated' 'MARKOV\n1\n2\n1\n1 0\n2\n1\n'
broken surplus.uai "8:1: '1' is left over" 'MARKOV\n1\n2\n1\n1 0\n2\n1 1\n1\n'
broken model.txt ' neither .wcsp, .cfn nor .uai' ''

# wrong OPTION WHAT TEXT: the same of a file that goes with the model.
wrong() {
    printf '%b' "$3" >file
    exits 2 "$exams" "$1" file && has "^file:$2" err && [ ! -s out ]
    result "refused: $1, $2" $?
}
wrong --evidence '1:5: evidence 0: value 3 ' '1 2 3'
wrong --evidence '1:3: evidence 0: variable 5 ' '1 5 0'
wrong --evidence '1:7: evidence 1: variable 2 comes twice' '2 2 0 2 0'
wrong --evidence '1:7: .0. is left over' '1 2 0 0 0'
wrong --evidence '1:1: the number of samples 2 ' '2 1 2 0'
wrong --evidence '1:1: truncated.*number of samples' ''
wrong --order '3:1: position 4: truncated' '4 3 2 1\n\n'
wrong --order '1:9: position 4: variable 1 comes twice' '4 3 2 1 1'
wrong --order '1:11: .7. is left over' '4 3 2 1 0 7'
wrong --order '1:1: position 0: variable 5 ' '5 3 2 1 0'
wrong --order "1:1: position 0: variable 'x' is not" 'x'
wrong --agents '1:8: pair 2: truncated' '0 1 1 1'
wrong --agents '1:5: pair 1: variable 0 comes twice' '0 1 0 1 1 1 2 1 3 1'
wrong --agents '1:3: variable 1: agent -1 is negative' '0 -1 1 1 1'
exits 2 "$exams" --order backwards --evidence early && has '^backwards:2:5: position 2: variable 2 has evidence' err
result "refused: an order with evidence in it" $?
exits 2 missing.wcsp && has '^missing.wcsp: cannot be opened' err && exits 2 "$exams" --order missing &&
    has '^missing: cannot be opened' err
result "refused: no such file" $?
mkdir folder.wcsp && exits 2 folder.wcsp && has '^folder.wcsp: cannot be' err
result "refused: a folder" $?
exits 2 "$sprinkler" --task count && has '\--task count is for whole costs' err && exits 2 "$exams" --task logz &&
    has '\--task logz is for factors' err
result "refused: a task for other models" $?
for name in random:0:1:0.5:1 random:10:2:1.5:1 random:10:2:1 random:10:2:x:1 random:10:2:0.5:-1 scalefree:10:0:1 \
    scalefree:10:2 scalefree:10:2:1:1 grid:5000:2:1 grid:x:2:1 grid:3:2:; do
    exits 2 "$name" && has "^$name: no such" err
    result "refused: $name" $?
done
exits 2 && has '^usage' err
result "refused: no model" $?
exits 2 "$exams" "$sprinkler" && has 'two models' err
result "refused: two models" $?
for bad in "--z 0" "--z x" "--threads -1" "--backend gpu" "--policy best" "--task max" "--memory 0" "--memory 1X" \
    "--memory" "--memory 9000000T" "--hard 2" "--hard x" "--seed -1" "--restarts 0" "--unknown" "--solution" \
    "--order-seconds -1" "--order-seconds nan" "--order-seconds 2e9" "--order-work 0" "--order-work 1.5"; do
    # shellcheck disable=SC2086 # an option and its value
    exits 2 "$exams" $bad && has '^usage' err
    result "refused: $bad" $?
done
exits 2 "$exams" --z 2 --policy exact && has '\--z is for --policy mini-bucket' err
result "refused: --z with another policy" $?
exits 2 "$exams" --order min-fill --order-work 5 && has '\--order-work are for --order best' err
result "refused: a budget for another order" $?
exits 2 "$exams" --agents each --policy slice && has '\--policy slice is not for --agents' err
result "refused: agents that slice" $?
exits 2 "$exams" --solution "$work/no/such/folder" && has 'no/such/folder' err
result "refused: a solution that cannot be written" $?

summary
