#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The example that solves graphical models, as a user runs it: answers worked out by hand or by trying all assignments,
# with every option; solutions checked against the file by awk; exit codes. Public models: solve_wcsp_public_test.sh.
# Input that is no model: solve_wcsp_input_test.sh.
# Usage: solve_wcsp_test.sh [PROGRAM]
set -u
example=solve_wcsp seconds=120
# shellcheck source=../support/example.sh
. "$(dirname "${BASH_SOURCE[0]}")/../support/example.sh"
# shellcheck source=../support/solve_wcsp.sh
. "$root/tests/support/solve_wcsp.sh"

# ---- Answers by hand ----
# exams: the first three are pairwise different, which costs 2 at least (slots 0, 1, 2); then the fourth takes slot 1
# for nothing, and the fifth slot 0 or 2 for 1; and there is a constant of 1.
# sprinkler: its factors are a distribution, Z = 1; the likeliest state is neither rain nor sprinkler, 0.8 * 0.6. The
# grass is wet with 0.8*0.4*0.9 + 0.2*0.99*0.8 + 0.2*0.01*0.99 = 0.44838, and likeliest by the sprinkler: 0.288.

exams=$models/exams.wcsp sprinkler=$models/sprinkler.uai
for order in best min-fill weighted-min-fill min-degree; do
    for policy in auto exact; do
        optimal 4 "$exams" --order $order --policy $policy --solution solution && costs "$exams" &&
            is policy exact width 2 variables 5 functions 11 max_domain 3 z 0 slices 1 messages 5 bits 8
        result "--order $order --policy $policy" $?
    done
done
optimal 4 "$exams" --solution solution && printf '0 0\n1 1\n2 2\n3 1\n4 0\n' | diff - solution >>err
result "solution: the smallest values of equally good ones" $?
optimal 4 "$exams" --task count && is count 2 count_overflow false task count
result "--task count" $?
for z in 1 2 3; do
    bounded 4 "$exams" --z $z && [ "$(field z)" -le 3 ]
    result "--z $z" $?
done
optimal 4 "$exams" --z 3
result "mini-buckets that split nothing are exact" $?
optimal 4 "$exams" --policy slice && is policy exact slices 1 sliced 0
result "--policy slice where all fits" $?
exits 3 "$exams" --policy exact --memory 64 && has "$exams: " err
result "a model that does not fit, exit status 3" $?
optimal 4 "$exams" --threads 2 && is threads 2 backend cpu && optimal 4 "$exams" --backend auto
result "--threads 2, --backend auto" $?
optimal 4 "$exams" --restarts 3 --seed 18 --order min-fill && optimal 4 "$exams" --seed 0
result "--restarts, --seed" $?
optimal 4 "$exams" --order-seconds 0.1 && optimal 4 "$exams" --order-work 100000 --threads 2
result "--order-seconds, --order-work" $?
# The treewidth of a square grid is its side; the largest message of variables with two values has so many entries.
exits 0 grid:8:2:1 --order-work 300000 --json && is width 8 optimal true
result "--order-work finds the best order of a grid" $?
for amount in 1048576 900K 1m 1G 2T; do
    optimal 4 "$exams" --memory $amount --policy auto && is policy exact
    result "--memory $amount" $?
done

exits 0 "$sprinkler" --json && is optimal true && near upper_bound 0.733969175080201 1e-14 &&
    near lower_bound 0.733969175080201 1e-14
result "factors: the likeliest state" $?
exits 0 "$sprinkler" --task logz --json && is optimal true && near logz 0 1e-14 && near upper_bound 0 1e-14
result "--task logz" $?
for z in 1 2; do
    exits 0 "$sprinkler" --task logz --z $z --json && within logz -1e-14 10 && exits 0 "$sprinkler" --z $z --json &&
        within lower_bound -1e300 0.733969175080202
    result "factors: --z $z" $?
done

# A model of more than memory: 6.6 MB are wanted.
big=random:14:8:0.5:1
exits 0 $big --json && is optimal true policy exact && want=$(field lower_bound) && within peak_bytes 6e6 7e6
result "$big" $?
for memory in 1M 400K 200K; do
    optimal "$want" $big --memory $memory --task count --solution sliced && is policy slice count 1 &&
        within sliced 1 13 && within slices 8 4096 && exits 0 $big --solution whole && diff whole sliced >>err &&
        optimal "$want" $big --memory $memory --policy slice --threads 2
    result "$big --memory $memory: slices" $?
    bounded "$want" $big --memory $memory --policy mini-bucket && within z 2 7
    result "$big --memory $memory --policy mini-bucket" $?
    # An agent of 200K could not even hold the messages that it gets.
    [ $memory = 200K ] || bounded "$want" $big --memory $memory --agents each
    result "$big --memory $memory --agents each: mini-buckets" $?
done

# Ranks that share a model: the answer and the assignment of one, in about 1 / N of the memory.
for ranks in 2 4; do
    optimal "$want" $big --ranks $ranks --policy exact --memory $((8 / ranks))M --solution shared &&
        is ranks $ranks policy exact && diff whole shared >>err
    result "--ranks $ranks: what does not fit one" $?
done
exits 3 $big --policy exact --memory 4M
result "it does not" $?
optimal 4 "$exams" --ranks 3 --task count && is count 2
result "--ranks 3 --task count" $?
exits 0 "$sprinkler" --task logz --ranks 5 --json && is optimal true && near logz 0 1e-14
result "--ranks 5 --task logz, with more ranks than states" $?
exits 0 $big --ranks 2 --policy mini-bucket --z 3 --json && within lower_bound 0 "$want" && within upper_bound "$want" 1e300
result "--ranks 2 --policy mini-bucket" $?
for other in "--agents each" "--certificate x" "--backend cuda"; do
    # shellcheck disable=SC2086
    exits 2 "$exams" --ranks 2 $other
    result "--ranks with $other" $?
done
exits 3 $big --memory 1M --policy exact && has 'bytes' err
result "$big --memory 1M --policy exact does not fit" $?
exits 3 $big --policy stream --backend cpu && has 'STREAM' err
result "--policy stream on the CPU, exit status 3" $?

# ---- Evidence, orders ----

echo 1 2 1 >wet
printf '1\n1 2\n1\n' >wet2008
for file in wet wet2008; do
    exits 0 "$sprinkler" --task logz --json --evidence $file && near logz -0.802114191811883 1e-13 &&
        exits 0 "$sprinkler" --json --evidence $file --solution solution && near upper_bound 1.24479479884619 1e-13 &&
        printf '0 0\n1 1\n2 1\n' | diff - solution >>err
    result "--evidence $file" $?
done
echo 3 0 0 1 0 2 1 >dry
impossible "$sprinkler" --evidence dry && impossible "$sprinkler" --task logz --evidence dry && is logz null
result "impossible evidence on all variables: exit status 1" $?
echo 3 0 0 1 0 2 0 >all
exits 0 "$sprinkler" --evidence all --json && near upper_bound 0.733969175080201 1e-14
result "evidence on all variables" $?
echo 0 >none
optimal 4 "$exams" --evidence none
result "no evidence" $?
# The third exam in slot 0: the first two cost 6 either way (2 + 4, 5 + 1), the others nothing (slots 2, 1).
echo 1 2 0 >early
optimal 7 "$exams" --evidence early --task count --solution solution && costs "$exams" && is count 2
result "evidence on a weighted CSP" $?

printf '# the first exams last\n4 3 2\n1 0\n' >backwards
optimal 4 "$exams" --order backwards && is width 2
result "--order FILE" $?
printf '2 0 1 3 4' >badly # the third exam has three neighbours
optimal 4 "$exams" --order badly && is width 3
result "a worse order" $?
printf '4 3 1 0' >rest
optimal 7 "$exams" --order rest --evidence early
result "an order with evidence" $?

# ---- Reduction ----

optimal 4 "$exams" --reduce --solution solution && costs "$exams" && is variables 5 reduced_variables 0
result "--reduce leaves nothing of a small model" $?
optimal 4 "$exams" --reduce --task count && is count 2 && optimal 7 "$exams" --reduce --evidence early --task count &&
    is count 2 reduced_variables 1 && optimal 4 "$exams" --reduce --order badly
result "--reduce with --task count, evidence and an order" $?
exits 0 "$sprinkler" --reduce --json && near upper_bound 0.733969175080201 1e-14 &&
    exits 0 "$sprinkler" --reduce --task logz --json && near logz 0 1e-14 &&
    exits 0 "$sprinkler" --reduce --task logz --evidence wet --json && near logz -0.802114191811883 1e-13
result "--reduce with factors" $?
impossible "$sprinkler" --reduce --evidence dry
result "--reduce with impossible evidence" $?
exits 0 "$exams" --reduce && has '^Reduced in .* to 0 variables and 1 functions' out
result "--reduce: in words" $?
exits 2 "$exams" --reduce --agents each && has 'not for --agents' err
result "--reduce does not go with --agents, exit status 2" $?

# ---- Relaxations ----

# The optimum of the 12 variables by an exact elimination lies between the bounds, and shifts make the lower one better.
exits 0 "$exams" --z 3 --relax 2 --solution solution --json && costs "$exams" &&
    is policy mini-bucket status optimal lower_bound 4 upper_bound 4
result "--relax of mini-buckets that split nothing is exact" $?
small=random:12:6:0.5:3
exits 0 $small --json && want=$(field lower_bound) && exits 0 $small --z 3 --json && plain=$(field lower_bound) &&
    exits 0 $small --z 3 --relax 20 --solution solution --json && is status bounded relax_iterations 20 &&
    within lower_bound "$((plain + 1))" "$want" && within upper_bound "$want" 1e300 && [ -s solution ] &&
    within relax_bound "$(($(field lower_bound) - 1))" "$(field lower_bound)"
result "--relax: a better bound than without, and not above the optimum $want" $?
exits 0 $small --z 3 --relax 3 --memory 1M --reduce --json && within lower_bound "$plain" "$want" && is z 3
result "--relax with --memory and --reduce" $?
echo 1 0 2 >second
exits 0 $small --evidence second --json && want=$(field lower_bound) &&
    exits 0 $small --evidence second --z 3 --relax 5 --json && within lower_bound 1 "$want" &&
    within upper_bound "$want" 1e300
result "--relax with evidence" $?
exits 0 "$sprinkler" --z 2 --relax 5 --json && within lower_bound -1e300 0.733969175080202 &&
    within upper_bound 0.7339691750802 1e300
result "--relax with factors" $?
exits 0 $small --z 3 --relax 5 && has '^Costs shifted 5 times in .*: the bound is' out
result "--relax: in words" $?
while read -r words; do
    # shellcheck disable=SC2086 # several words
    exits 2 "$exams" $words && has '--relax is' err
    result "$words: exit status 2" $?
done <<END
--relax 3 --policy exact
--relax 3 --task count
--relax 3 --agents each
END

# ---- Plans ----

# plan POLICY NAME: of the JSON in out.
plan() { grep -o "\"$1\": {[^}]*}" out | grep -o "\"$2\": [^,}]*" | sed 's/^[^:]*: //'; }
exits 0 "$exams" --plan --json --backend cpu && [ "$(plan exact width)" = 2 ] && [ "$(plan exact messages)" = 5 ] &&
    [ "$(plan exact fits)" = true ] && is policy exact stream null && [ "$(wc -l <out)" -eq 1 ] && [ ! -s err ]
result "--plan" $?
# What is planned is what a run with that policy takes, beyond which it only reads and orders; without a plan, none.
for policy in exact drop; do
    exits 0 $big --plan --json && bytes=$(plan $policy bytes) && operations=$(plan $policy operations) &&
        width=$(plan $policy width) && exits 0 $big --policy $policy --json && is width "$width" &&
        within peak_bytes "$bytes" "$((bytes + 200000))" && near operations "$operations" 1e-9
    result "--plan of $policy, as it is then" $?
done
for policy in slice mini-bucket; do
    exits 0 $big --memory 1M --plan --json --policy $policy && is policy $policy && bytes=$(plan $policy bytes) &&
        slices=$(plan $policy slices) z=$(plan $policy z) && [ "$(plan exact fits)" = false ] &&
        [ "$bytes" -le 1048576 ] && exits 0 $big --memory 1M --policy $policy --json && is slices "$slices" z "$z"
    result "--plan of $policy within --memory 1M, as it is then" $?
done
exits 0 $big --memory 1M --plan && has '^exact .*above the limit$' out && has 'policy: slice\.' out && [ ! -s err ]
result "--plan: in words" $?
exits 0 $big --memory 64 --plan --policy exact --json && is policy null && [ "$(plan exact fits)" = false ]
result "--plan where nothing fits" $?
# So many entries are not counted.
exits 0 random:80:50:1:1 --plan --order min-degree --restarts 1 --json && is exact null
result "--plan where the tables cannot be counted" $?
exits 0 "$exams" --reduce --plan --json && is reduced_variables 0 && [ "$(plan exact messages)" = 0 ]
result "--plan after --reduce" $?
exits 2 "$exams" --plan --solution never && has '--plan solves nothing' err && [ ! -e never ]
result "--plan --solution: exit status 2" $?

# ---- Agents ----

# Agents 7 and 3 in turn: not connected in any tree of the model, so that they work in parts.
printf '0 7\n1 3\n4 7\n2 7 # the middle\n3 3\n' >pairs
printf '5 5 5 5 5\n' >same
for file in each pairs same; do
    for task in min count; do
        optimal 4 "$exams" --task $task --agents $file --solution solution && costs "$exams" &&
            within simulated_seconds 1e-9 "$(field work_seconds)" &&
            { [ $task = min ] || is count 2; }
        result "--agents $file --task $task" $?
    done
    exits 0 "$sprinkler" --task logz --json --evidence wet --agents each && near logz -0.802114191811883 1e-13
    result "--agents $file --task logz" $?
done
# Each of the five sends one message up and gets one down, but for the root; 4 and 3 have one variable as a separator.
optimal 4 "$exams" --agents each --order backwards && is agents 5 parts 5 util_messages 4 value_messages 4 &&
    is message_bytes "$(($(field util_bytes) + $(field value_bytes)))" value_bytes 40 && is width 2
result "an agent a variable: what they send" $?
optimal 4 "$exams" --agents same && is agents 1 parts 1 util_messages 0 message_bytes 0
result "one agent for all: nothing is sent" $?
for model in "$exams" scalefree:9:3:4; do
    exits 0 "$model" --json
    want=$(field lower_bound)
    for z in 1 2 3; do
        for file in each pairs; do
            [ $file = each ] || [ "$model" = "$exams" ] || continue
            bounded "$want" "$model" --agents $file --z $z && lower=$(field lower_bound) &&
                bounded "$want" "$model" --z $z && is lower_bound "$lower"
            result "$model, agents $file, --z $z: the bound of one that has all" $?
        done
    done
done
optimal 7 "$exams" --agents pairs --evidence early && optimal 4 "$exams" --agents pairs --order badly
result "agents with evidence, with an order" $?

# ---- Generated models: the same draws, and all assignments tried, by a program of its own ----

while read -r name hard functions want; do
    for options in "" "--agents each" "--order min-degree" "--policy slice" "--reduce"; do
        # shellcheck disable=SC2086 # several options
        if [ "$want" = none ]; then
            impossible "$name" --hard "$hard" $options
        else
            optimal "$want" "$name" --hard "$hard" --task count $options && is functions "$functions" count 1
        fi
        result "$name --hard $hard $options" $?
    done
done <<END
random:7:4:0.5:1 0 10 195
random:8:3:0.9:18446744073709551615 0.4 25 none
scalefree:7:4:3 0 11 277
grid:3:2:5 0.25 12 622
grid:2:6:9 0 4 31
random:6:5:0.1:2 0.7 5 72
END

# ---- Messages ----

exits 0 "$exams" && has 'exams.wcsp: 5 variables of at most 3 values, 11 functions' out &&
    has '^Optimal: the least cost is 4\.$' out && has '^Width 2, 5 messages of 8 bits' out && [ ! -s err ]
result "says in words that it is done" $?
exits 0 "$exams" --task count && has '^2 assignments attain it\.$' out
result "the number of optima: in words" $?
exits 0 "$exams" --z 1 && has '^Bounded: the least cost is at least' out && has 'with z = ' out
result "bounds: in words" $?
exits 0 "$sprinkler" --task logz && has '^ln Z is ' out
result "ln Z: in words" $?
exits 1 "$sprinkler" --evidence dry && has '^No solution' out
result "no solution: in words, exit status 1" $?
exits 0 "$exams" --agents pairs && has '^2 agents: ' out
result "agents: in words" $?

json='^{"model": ".*exams.wcsp", "backend": "cpu", "threads": 1, "task": "min", "policy": "exact", "bits": 8,'
json="$json \"variables\": 5, \"functions\": 11, \"max_domain\": 3, \"width\": 2,"
json="$json \"z\": 0, \"sliced\": 0, \"slices\": 1, \"messages\": 5, \"operations\": [0-9]*,"
json="$json \"peak_bytes_predicted\": [0-9]*, \"peak_bytes\": [0-9]*,"
json="$json \"status\": \"optimal\", \"lower_bound\": 4, \"upper_bound\": 4, \"optimal\": true,"
json="$json \"order_seconds\": [0-9.]*, \"seconds\": [0-9.]*, \"eliminate_seconds\": [0-9.]*,"
json="$json \"read_seconds\": [0-9.]*}\$"
exits 0 "$exams" --backend cpu --json && has "$json" out && [ "$(wc -l <out)" -eq 1 ] && [ ! -s err ]
result "one line of JSON" $?
exits 1 "$sprinkler" --evidence dry --solution never && [ ! -e never ]
result "no solution is written where there is none" $?
if command -v script >/dev/null; then
    script -qec "'$program' '$exams'" /dev/null >out 2>err </dev/null
    has 'of 5 eliminations' out && grep -q $'\r' out
    result "progress on a terminal" $?
else
    skip "progress on a terminal" "no script"
fi

# ---- What a file means ----

# means WANT NAME TEXT: a .wcsp of that text has that optimum and, where it says so, count.
means() {
    printf '%b' "$3" >"$2.wcsp"
    if [ "$1" = none ]; then
        impossible "$2.wcsp"
    else
        optimal "$1" "$2.wcsp" --solution solution && costs "$2.wcsp"
    fi
    result "read as meant: $2" $?
}
means 3 one_line 'x 1 2 1 9 2 1 0 3 1 1 4'
means 4 last_tuple_counts 'x 1 1 1 9\n1\n1 0 5 3\n0 1\n0 2\n0 4\n'
means 7 constant_by_tuple 'x 1 1 1 9\n1\n0 5 1\n7\n'
means 5 costs_beyond_the_bound 'x 1 2 1 9\n2\n1 0 9223372036854775807 1\n1 5\n'
means none bound_of_zero 'x 1 2 1 0\n2\n1 0 0 0\n'
means none bound_of_one 'x 1 2 1 1\n2\n1 0 1 0\n'
printf 'x 1 1 1 9223372036854775807\n1\n1 0 9223372036854775806 0\n' >greatest.wcsp
optimal 9223372036854775806 greatest.wcsp
result "read as meant: the greatest bound" $?
# toulbar2 1.1.1's behaviour: a shared function has its own default cost wherever it is used, and its use has no number.
means 8 shared_with_default 'x 2 2 2 50\n2 2\n-1 0 9 1\n1 4\n1 1 2 -1\n'
means 11 shared_and_used 'x 2 2 3 50\n2 2\n-1 0 9 1\n1 4\n-1 1 2 -1\n1 1 0 1\n1 3\n'
means 10 shared_twice 'x 4 2 4 50\n2 2 2 2\n-1 0 9 1\n1 4\n-1 1 2 -1\n-1 2 1 1\n0 2\n1 3 0 -2\n'
means 0 windows_line_ends 'x 1 2 1 9\r\n2\r\n1 0 0 1\r\n0 4\r\n'

summary
