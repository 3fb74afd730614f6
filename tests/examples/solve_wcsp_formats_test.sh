#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What files in toulbar2's formats mean to the example that solves graphical models: .cfn files, functions in intention,
# compressed files; answers worked out by hand. Refusals: the place, and what is wrong. Random models with functions in
# intention: tests/elimination/globals_test.c.
# Usage: solve_wcsp_formats_test.sh [PROGRAM]
set -u
example=solve_wcsp seconds=120
# shellcheck source=../support/example.sh
. "$(dirname "${BASH_SOURCE[0]}")/../support/example.sh"
exams=$models/exams.wcsp

# means NAME WANT SOLUTION TEXT: a file of that text has that optimum, or none; and, unless it says -, that solution:
# the values of variable 0, 1, ...
means() {
    printf '%b' "$4" >"$1"
    if [ "$2" = none ]; then
        exits 1 "$1" --json && has '"status": "infeasible"' out
    else
        exits 0 "$1" --json --solution solution && has "\"lower_bound\": $2, \"upper_bound\": $2, \"optimal\": true" out &&
            { [ "$3" = - ] || [ "$(cut -d ' ' -f 2 solution | tr -d '\n')" = "$3" ] || { cat solution >>err && false; }; }
    fi
    result "read as meant: $1" $?
}
# broken NAME WHAT TEXT: a file of that text is refused with WHAT behind its name.
broken() {
    printf '%b' "$3" >"$1"
    exits 2 "$1" && has "^$1:$2" err && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ]
    result "refused: $1, $2" $?
}

# ---- .cfn: how it is written ----

# The same model in four ways: costs 1.5 and 0.25 for the values of v, and 1 2 3 4 5 6 for those of v and w.
v=1.5,0.25 vw=1,2,3,4,5,6
means json.cfn 4.25 10 "{\"problem\": {\"name\": \"p\", \"mustbe\": \"<10.00\"},\n\"variables\": {\"v\": [\"a\", \"b\"],
\"w\": [\"c\", \"d\", \"e\"]},\n\"functions\": {\"f\": {\"scope\": [\"v\"], \"costs\": [3.5, \"0.25\"]},
\"g\": {\"scope\": [\"v\", \"w\"], \"costs\": [$vw]}}}\n"
means bare.cfn 2.50 00 "{problem {name p mustbe <10.00} variables {v [a b] w [c d e]}\nfunctions {f {scope [v] costs [$v]}
g {scope [v w] costs [$vw]}}}"
means tagless.cfn 2.50 00 "[[p <10.00] [v 2 w 3] [[[v] [$v]] [[0 1] [$vw]]]]"
means unnamed.cfn 2.50 00 "{problem: {p <10.00} variables: [2 [c d e]] functions: [{scope: [0] costs: [$v]}
{scope: [0 1] costs: [$vw]}]}"
means comments.cfn 2.50 00 "# p\n{problem: {name: p # the name\nmustbe: <10.00} // the bound\nvariables: {v: 2 w#: 3}
   # functions\nfunctions: {f: {scope: [v] costs: [$v]} g: {scope: [v w#] costs: [$vw]}}}\n# the end\n"
means windows.cfn 2.50 00 "{problem {p <10.00}\r\nvariables {v 2 w 3}\r\nfunctions {f {scope [v] costs [$v]}\r\n# g\r
g {scope [v w] costs [$vw]}}}\r\n"
means names_with_blanks.cfn 1 1 '{problem: {name: "a b" mustbe: <9} variables: {"v: 1": ["[", "x,y"]}
functions: {"f}": {scope: ["v: 1"] defaultcost: 3 costs: ["x,y" 1]}}}'
means nothing.cfn 0 '' '{{p <1} {} {}}'

# ---- .cfn: what it means ----

p='problem: {name: p mustbe:' vars='variables: {v: [a b] w: [a b c]}'
means default.cfn 3 12 "{$p <9} $vars functions: {f: {scope: [v w] defaultcost: 5 costs: [0 1 4  b c 3]}}}"
# The word inf, as version 1.4.0 of toulbar2 reads it: forbidden, also beside negative costs and where costs are
# maximised.
xy='variables: {x: [p q] y: [r s]}'
means inf.cfn 1.50 01 "{problem: {p <100.00} $xy functions: {f: {scope: [x y] costs: [inf 1.5 2.25 inf]}}}"
means inf_maximised.cfn 2.25 10 "{problem: {p >-100.00} $xy functions: {f: {scope: [x y] costs: [inf 1.5 2.25 inf]}}}"
means inf_default.cfn 4.00 01 "{problem: {p <100.00} $xy functions: {f: {scope: [x y] defaultcost: inf costs: [p s 4 q r 7.5]}}}"
means inf_beside_negative.cfn -2.0 11 "{problem: {p <100.0} $xy functions: {f: {scope: [x y] costs: [-9 inf inf -2]}
g: {scope: [x] costs: [inf 0]} h: {scope: [y] costs: [0 0]}}}"
means inf_everywhere.cfn none - "{problem: {p <100.0} $xy functions: {f: {scope: [x] costs: [inf inf]} g: {scope: [y] costs: [-9 -9]}}}"
broken inf_signed.cfn '1:[0-9]*: function 0: .*-inf' "{problem: {p <9} $xy functions: {f: {scope: [x] costs: [-inf 1]}}}"
broken inf_in_capitals.cfn '1:[0-9]*: function 0: .*INF' "{problem: {p <9} $xy functions: {f: {scope: [x] costs: [INF 1]}}}"
broken inf_as_bound.cfn '1:[0-9]*: .*inf' "{problem: {p <inf} $xy functions: {}}"
means last_tuple_counts.cfn 2 00 "{$p <9} $vars functions: {f: {scope: [v] defaultcost: 5 costs: [a 1 a 2]}}}"
means constants.cfn 7 00 "{$p <9} $vars functions: {f: {scope: [] costs: [3]} g: {scope: [] defaultcost: 4 costs: []}}}"
means shared.cfn 13 10 "{$p <99} variables: {v: 2 w: 2} functions: {f: {scope: [v] costs: g} g: {scope: [w] costs: [1 7]}
h: {scope: [v] costs: g} g: {scope: [w] defaultcost: 3 costs: [1 9]} z: {scope: [v] costs: [9 0]} y: {scope: [w] costs: f}
f: {scope: [v] defaultcost: 0 costs: [0 0 1 -7]}}}"
means shared_chain.cfn 6 00 "{$p <9} variables: {v: 2 w: 2} functions: {f: {scope: [v] costs: g} g: {scope: [w] costs: h}
h: {scope: [v] costs: [2 4]}}}"
means negative.cfn -4.25 11 "{$p <9.00} $vars functions: {f: {scope: [v w] costs: [0 1 2 3 -4 5]} g: {scope: [] costs: [-.25]}}}"
means cut.cfn -1 - "{$p <9} $vars functions: {f: {scope: [v] costs: [1.9 1.9]} g: {scope: [w] costs: [-1.9 -1.9 -1.9]}
h: {scope: [w] costs: [-1.1 -1.1 -1.9]}}}"
means small.cfn 0.000000000000000001 - "{$p <1.000000000000000000} $vars functions: {f: {scope: [v] costs: [.000000000000000001 1]}}}"
means below_zero.cfn -0.05 0 "{$p <1.00} variables: [1] functions: {f: {scope: [0] costs: [-0.05]}}}"
means bound.cfn none - "{$p <2.5} $vars functions: {f: {scope: [v] costs: [2.5 3]}}}"
means bound_of_the_sum.cfn 1 00 "{$p <10} $vars functions: {f: {scope: [v] costs: [12 14]} g: {scope: [w] costs: [-11 0 0]}}}"
means negative_bound.cfn -2.7 1 "{$p <-2.5} variables: {v: 2} functions: {f: {scope: [] costs: [-3.2]} g: {scope: [v] costs: [0.7 0.5]}}}"
means negative_bound_reached.cfn none - "{$p <-2.7} variables: {v: 2} functions: {f: {scope: [v] costs: [-2.7 3]}}}"
means greatest.cfn 9223372036854775806 - "{$p <9223372036854775807} $vars functions: {f: {scope: [] costs: [9223372036854775806]}}}"
means lowest.cfn -9223372036854775807 - "{$p <0} $vars functions: {f: {scope: [] costs: [-9223372036854775807]}}}"
means maximised.cfn 6.75 02 "{$p >1.50} $vars functions: {f: {scope: [v w] costs: [1 2 7.5 0 4 5]} g: {scope: [v] costs: [-.75 1]}}}"
means maximised_below_the_bound.cfn none - "{$p >7.50} $vars functions: {f: {scope: [v w] costs: [1 2 7.5 0 4 5]}}}"
means maximised_zero.cfn 0 - "{$p >-1} $vars functions: {}}"
printf '%b' "{$p >-100.0} variables: [3 3 3] functions: {f: {scope: [0 1] costs: [1 2 3 4 5 6 7 8 9]}
g: {scope: [1 2] costs: [9 8 7 6 5 4 3 2 1]} h: {scope: [0 2] costs: [1 5 1 5 1 5 1 5 1]}}}" >max.cfn
exits 0 max.cfn && has '^Optimal: the greatest value is 20\.0\.$' out && exits 0 max.cfn --z 2 --json &&
    within upper_bound 20 23 && within lower_bound 0 20 && exits 0 max.cfn --z 2 && has '^Bounded: the greatest value is at most' out
result "maximised: in words, and the bounds of mini-buckets" $?

# ---- .cfn: functions in intention ----

soft="f: {scope: [0 1 2] type: salldiff params: {metric: var cost: 0.7}}"
means alldiff.cfn 1.4 000 "{$p <9.0} variables: [3 3 3] functions: {$soft g: {scope: [] costs: [0]}
h: {scope: [0] costs: [0 5 5]} i: {scope: [1] costs: [0 5 5]} j: {scope: [2] costs: [0 5 5]}}}"
means params_in_order.cfn 0.1 0 "{$p <9.0} variables: [2] functions: {f: {scope: [0] type: samong params: [var 5 0 0 [1]]} g: {scope: [0] costs: [.1 0]}}}"
# Nothing makes up for what is forbidden; a cost at the bound is made up for.
means knapsack.cfn -21 11 "{$p <9} variables: [2 2] functions: {f: {scope: [0 1] type: knapsack params: {capacity: 2 weights: [1 1]}}
g: {scope: [0] costs: [-30 9]} h: {scope: [1] costs: [-40 -30]}}}"
means made_up_for.cfn -60 00 "{$p <10} variables: [2 2] functions: {f: {scope: [0 1] type: salldiff params: {metric: var cost: 10}}
g: {scope: [0] costs: [-30 0]} h: {scope: [1] costs: [-40 0]}}}"
means wregular.cfn -1.5 01 "{$p <9.0} variables: [2 2] functions: {f: {scope: [0 1] type: wregular params: {nb_states: 2
starts: [[0 1]] ends: [[1 -2.5]] transitions: [[0 0 0 0] [0 1 1 0.0] [1 0 1 3]]}}}}"
means wregular_maximised.cfn 3.0 10 "{$p >-9.0} variables: [2 2] functions: {f: {scope: [0 1] type: wregular params: {nb_states: 1
starts: [[0 1]] ends: [[0 -2]] transitions: [[0 0 0 1] [0 1 0 3]]}} g: {scope: [1] costs: [0 -9]}}}"
printf '%b' "{$p <99.00} variables: [4 4 4 4 4 4 4] functions: {f: {scope: [0 1 2 3 4 5 6] type: wsum
params: {metric: lin cost: 1.25 comparator: == to: 20}} g: {scope: [3] costs: [0 0 0 2.5]}}}" >sum.cfn
# 7 * 3 = 21, so that at least one is less than 3; six ways of one that is not variable 3 cost 2.50, variable 3 none.
exits 0 sum.cfn --task count --json --solution solution && has '"upper_bound": 0.00, .*"count": 1,' out &&
    within hidden_variables 1 100 && [ "$(wc -l <solution)" -eq 7 ] && [ "$(field variables)" = 7 ] &&
    exits 0 sum.cfn && has '7 variables and [0-9]* hidden ones' out
result "hidden variables are not counted, and not printed" $?
echo 1 3 3 >evidence && echo 6 5 4 3 2 1 0 >order && echo 5 5 5 7 7 7 7 >agents
exits 0 sum.cfn --json --evidence evidence && is_bound=$(field upper_bound) && [ "$is_bound" = 2.50 ] &&
    exits 0 sum.cfn --json --order order && [ "$(field upper_bound)" = 0.00 ] && exits 0 sum.cfn --json --agents agents &&
    [ "$(field upper_bound)" = 0.00 ] && [ "$(field agents)" = 2 ] && exits 0 sum.cfn --json --agents each &&
    [ "$(field upper_bound)" = 0.00 ] && [ "$(field agents)" = 7 ]
result "evidence, an order and agents of the file's variables" $?
echo 1 7 0 >hidden && exits 2 sum.cfn --evidence hidden && has 'hidden:1:3: evidence 0: variable 7 is out of range' err
result "no evidence on hidden variables" $?

# ---- .wcsp: functions in intention ----

means sum.wcsp 3 30 'x 2 4 3 99\n4 4\n1 0 0 1 0 9\n1 1 0 3 1 4 2 4 3 4\n2 0 1 -1 wsum lin 3 >= 4\n'
means forbidden.wcsp 0 012 'x 3 3 4 9\n3 3 3\n3 0 1 2 -1 salldiff var 9\n1 0 1 1 0 0\n1 1 1 1 1 0\n1 2 1 1 2 0\n'
means pigeons.wcsp none - 'x 3 2 1 9\n2 2 2\n3 0 1 2 -1 walldiff hard 9\n'
means arithmetic.wcsp 1 30 'x 2 4 2 9\n4 4\n2 0 1 -1 <= 3 0\n1 0 5 1 3 1\n'
means empty_scope.wcsp 4 0 'x 1 2 2 9\n2\n0 -1 wsum lin 2 == 2\n1 0 0 1 1 1\n'
means regular_that_accepts_nothing.wcsp none - 'x 2 2 1 9\n2 2\n2 0 1 -1 wregular 2 1 0 0 1 1 0 1 0 0 0 0\n'
# At most one of two neighbours is 1, of 100 variables that pay for 0: 50 pay. A chain of hidden variables.
awk 'BEGIN {
    print "chain 100 2 101 9999"
    for (k = 0; k < 100; k++) printf "2 "
    for (k = 0; k < 100; k++) printf "\n1 %d 0 1 0 1", k
    printf "\n100"
    for (k = 0; k < 100; k++) printf " %d", k
    print " -1 wregular 2 1 0 0 2 0 0 1 0 3 0 0 0 0 0 1 1 0 1 0 0 0"
}' >chain.wcsp
exits 0 chain.wcsp --json --task count && has '"upper_bound": 50, .*"count": 51,' out && [ "$(field width)" -le 3 ]
result "an automaton over 100 variables" $?
# Weights of 1 to 30, which are costs, too, and at least half of their sum: a counter.
awk 'BEGIN {
    print "pack 30 2 31 99999"
    for (k = 0; k < 30; k++) printf "2 "
    for (k = 1; k <= 30; k++) printf "\n1 %d 0 1 1 %d", k - 1, k
    printf "\n30"
    for (k = 0; k < 30; k++) printf " %d", k
    printf " -1 knapsack 233"
    for (k = 1; k <= 30; k++) printf " %d", k
}' >pack.wcsp
exits 0 pack.wcsp --json && has '"upper_bound": 233, "optimal": true' out && [ "$(field functions)" = 60 ]
result "a knapsack over 30 variables" $?
exits 2 pack.wcsp --certificate never && has 'is for .wcsp files without functions in intention' err && [ ! -e never ] &&
    exits 2 json.cfn --certificate never && [ ! -e never ]
result "no certificate that the checker could not read" $?

# ---- Compressed ----

for kind in wcsp cfn uai; do
    case $kind in wcsp) file=$exams ;; uai) file=$models/sprinkler.uai ;; *) file=json.cfn ;; esac
    exits 0 "$file" --json && want=$(field upper_bound) && gzip -c "$file" >packed.$kind.gz && xz -c "$file" >packed.$kind.xz &&
        exits 0 packed.$kind.gz --json && [ "$(field upper_bound)" = "$want" ] && exits 0 packed.$kind.xz --json &&
        [ "$(field upper_bound)" = "$want" ]
    result "compressed: .$kind.gz, .$kind.xz" $?
    for packed in gz xz; do
        head -c 60 packed.$kind.$packed >short.$kind.$packed
        exits 2 short.$kind.$packed && has "^short.$kind.$packed: cannot be read further" err
        result "refused: truncated .$kind.$packed" $?
    done
done
cat packed.wcsp.xz packed.wcsp.xz >twice.wcsp.xz && exits 2 twice.wcsp.xz && has "'exams' is left over" err
result "xz: two parts are one file" $?
gzip -c "$exams" | "$program" - --json >out 2>err && has '"upper_bound": 4' out
result "compressed, from a pipe" $?

# ---- Bad .cfn files ----

broken empty.cfn '1:1: truncated: .*the network' ''
broken no_bracket.cfn "1:1: 'problem' where the network should begin" 'problem'
broken no_bound.cfn "1:12: the bound '}' begins neither" '{problem {p}'
broken comparator.cfn "1:5: the bound '10' begins neither" '{{p 10}'
broken bound.cfn "1:5: the bound '<x' is not a decimal" '{{p <x}'
broken empty_bound.cfn "1:5: the bound '<' is not a decimal" '{{p <}'
broken places.cfn '1:5: more than 18 decimal places' '{{p <1.0000000000000000000}'
broken huge_bound.cfn '1:5: the bound .* with 1 decimal places does not fit' '{{p <922337203685477580.8}'
broken quotation.cfn '1:3: there is no second quotation mark' '{{"p\n" <1}'
broken interval.cfn '2:2: variable 0: interval domains' '{{p <9}\n[-5]'
broken no_values.cfn '2:5: variable 0: the domain is empty' '{{p <9}\n{v []}'
broken zero_values.cfn '2:4: variable 0: the domain is empty' '{{p <9}\n{v 0}'
broken domain.cfn "2:4: variable 0: domain size 'x' is not" '{{p <9}\n{v x}'
broken twice.cfn "2:6: variable 1: variable 'v' comes twice" '{{p <9}\n{v 2 v 3}'
broken value_twice.cfn "2:7: variable 0: value 'a' comes twice" '{{p <9}\n{v [a a]}'
broken value_name.cfn "2:5: variable 0: '1' where a value" '{{p <9}\n{v [1 2]}'
broken function.cfn "2:2: function 0: '2' where a function's name" '{{p <9} {v 2}\n{2}}'
broken scope.cfn "2:4: function 0: 'v' where the scope should begin" '{{p <9} {v 2}\n{f{v}}}'
broken variable.cfn "2:11: function 0: there is no variable 'w'" '{{p <9} {v 2}\n{f{scope [w]}}}'
broken number.cfn '2:11: function 0: variable 1 is out of range' '{{p <9} {v 2}\n{f{scope [1]}}}'
broken scope_twice.cfn "2:13: function 0: scope: variable '0' comes twice" '{{p <9} {v 2}\n{f{scope [v 0]}}}'
broken costs.cfn '2:20: function 0: 3 costs, where the domain sizes make 2' '{{p <9} {v 2}\n{f{scope [v] costs [1 2 3]}}}'
broken many_tuples.cfn '1:.*: function 0: 1 costs, where the domain sizes make 2147483648' '{{p <9} [32768 65536] {f{scope [0 1] costs [1]}}}'
broken cost.cfn "2:23: function 0: cost '1e2' is not a decimal" '{{p <9} {v 2}\n{f{scope [v] costs [1 1e2]}}}'
broken huge_cost.cfn '2:21: function 0: cost 9223372036854775808 ' '{{p <9} {v 2}\n{f{scope [v] costs [9223372036854775808 2]}}}'
broken tuple.cfn "2:35: function 0: the variable has no value 'b'" '{{p <9} {v [a]}\n{f{scope [v] defaultcost 1 costs [b 1]}}}'
broken tuple_number.cfn '2:35: function 0: value 2 is out of range' '{{p <9} {v 2}\n{f{scope [v] defaultcost 1 costs [2 1]}}}'
broken tuple_cost.cfn "2:39: function 0: '1' where the list of tuples and costs should end" '{{p <9} {v 2}\n{f{scope [v] defaultcost 1 costs [0 1 1]}}}'
broken unshared.cfn "2:24: function 1: no later function with a table is named 'f'" '{{p <9} {v 2}\n{f{[v][1 2]} g{scope [v] costs f}}}'
broken shared_domain.cfn "2:12: function 0: 'g' has other domain sizes" '{{p <9} {v 2 w 3}\n{f{scope [v] costs g} g{[w][1 2 3]}}}'
broken shared_arity.cfn "2:12: function 0: 'g' has another arity" '{{p <9} {v 2 w 3}\n{f{scope [v] costs g} g{[][1]}}}'
broken type.cfn "2:19: function 0: type 'mst' is not supported" '{{p <9} {v 2}\n{f{scope [v] type mst}}}'
broken surplus.cfn "2:5: 'x' is left over" '{{p <9} {}\n{}} x'
broken unclosed.cfn '2:3: truncated.*closing bracket' '{{p <9} {}\n{}'
broken together.cfn '1:.*: the negative costs do not fit' '{{p <9} {} {{[][-9000000000000000000]}{[][-9000000000000000000]}}}'
broken with_bound.cfn '1:.*: the negative costs do not fit' '{{p <9000000000000000000} {} {{[][-9000000000000000000]}}}'

# ---- Bad functions in intention ----

# wrong NAME WHAT FUNCTION: in a .wcsp of three variables with three values, behind the scope.
wrong() { broken "$1.wcsp" "3:$2" "x 3 3 1 9\n3 3 3\n3 0 1 2 -1 $3\n"; }
wrong unknown "12: function 0: cost function in intention 'smst' not supported" 'smst'
wrong edit "21: function 0: metric 'edit' of 'sregular' is not supported" 'sregular edit 1 1 1 0 1 0 0'
wrong metric "21: function 0: metric 'lin' of 'salldiff' is not supported" 'salldiff lin 3'
wrong short '23: function 0: .* is not a whole number\|4:1: function 0: truncated' 'salldiff var'
wrong negative '25: function 0: cost -3 is negative' 'salldiff var -3'
wrong fraction "25: function 0: cost '1.5' is not a whole number" 'salldiff var 1.5'
wrong comparator "23: function 0: comparator '=' of 'wsum' is not supported" 'wsum lin 3 = 2'
wrong state '31: function 0: state 1 is out of range, 0 to 0' 'wregular 1 1 0 0 1 1 0 1 0 0 0 0'
wrong binary '17: function 0: .>=. is for two variables' '>= 1 1'
wrong odd '23: function 0: .wsame. is for an even number' 'wsame hard 1'
wrong lists '.*: function 0: the two lists have different lengths' 'ssame 1 1 2 0 1 2'
wrong outside '.*: function 0: variable 3 is out of range' 'ssame 1 1 1 0 3'
wrong booleans '.*: function 0: .knapsack. over variable 0, which has more than two values' 'knapsack 1 1 1 1'
wrong clique '.*: function 0: .clique. with a right-hand side other than 1' 'clique 2 1 0 1 0 1 0'
wrong clique_value '.*: function 0: .*clique. has a value that its variable does not have' 'clique 1 1 0 1 0 1 3'
broken odd_max.wcsp '3:.*: function 0: variable 1 is not in the scope' 'x 2 2 1 9\n2 2\n1 0 -1 max 1 1 1 0 3\n'
awk 'BEGIN {
    print "wide 40 40 1 9"
    for (k = 0; k < 40; k++) printf "40 "
    printf "\n40"
    for (k = 0; k < 40; k++) printf " %d", k
    printf " -1 sgcc var 1 40"
    for (k = 0; k < 40; k++) printf " %d 1 2", k
}' >wide.wcsp
exits 2 wide.wcsp && has "^wide.wcsp:3:[0-9]*: function 0: cost function in intention 'sgcc' takes tables that are too large" err
result "refused: more states than fit" $?
for n in 2 14; do
    awk -v n=$n 'BEGIN {
        print "states", n, 2, 1, 9
        for (k = 0; k < n; k++) printf "2 "
        printf "\n%d", n
        for (k = 0; k < n; k++) printf " %d", k
        print " -1 wregular 2000000000 1 0 0 1 0 0 0"
    }' >states.wcsp
    exits 2 states.wcsp && has "^states.wcsp:3:[0-9]*: function 0: .*'wregular' takes tables that are too large" err
    result "refused: too many states, over $n variables" $?
done
# fault NAME WHAT FUNCTION: the same of a .cfn.
fault() { broken "$1.cfn" "2:$2" "{{p $4} [3 3 3]\n{f{scope [0 1 2] type $3}}}"; }
fault no_params "27: function 0: '}' where the parameters should begin" 'wsum' '<9'
fault no_value '.*: function 0: .closed. where the parameters should end' 'wamong params {hard 1 [1] 0 1 closed}' '<9'
fault tuple "61: function 0: cost ']' is not" 'max params {defaultcost 1 tuples [[0 0]]}' '<9'
fault negative '.*: function 0: cost -1 is negative' 'salldiff params {metric var cost -1}' '<9'
fault maximised "35: function 0: 'wsum' is not supported where costs are maximised" 'wsum params {lin 1 == 2}' '>0'
broken decimals.cfn "2:.*: function 0: '>=' is for whole costs" '{{p <9.0} [3 3]\n{f{scope [0 1] type ">=" params [1 2]}}}'
broken late.cfn "2:.*: function 1: 'clique' has a value" '{{p <9} [2 2]\n{{[][0]} {scope [0 1] type clique params {rhs 1 values [[2][0]]}}}}'

summary
