#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The example that solves knapsack problems, as a user runs it: optima by a dynamic programme in awk, every class and
# search mode, items added up on the file, exit codes, and its messages for input that is no model.
# Usage: solve_knapsack_test.sh [PROGRAM]
set -u
example=solve_knapsack seconds=120
# shellcheck source=../support/example.sh
. "$(dirname "${BASH_SOURCE[0]}")/../support/example.sh"

# optimum FILE: by dynamic programming.
optimum() {
    awk 'NR == 1 { c = $2; next }
         { for (w = c; w >= $2; w--) if (best[w - $2] + $1 > best[w]) best[w] = best[w - $2] + $1 }
         END { print best[c] + 0 }' "$1"
}
# earned FILE: profit and weight of what the file named items has of it.
earned() {
    awk 'NR == FNR { chosen[$1 + 2]; next }
         FNR in chosen { p += $1; w += $2 }
         END { print p + 0, w + 0 }' items "$1"
}

# solved WANT FILE ARGUMENT...: proven, and the items hold.
solved() {
    local want=$1
    shift
    exits 0 "$@" --items items --json && [ "$(field status)" = optimal ] &&
        [ "$(field optimum) $(field upper_bound)" = "$want $want" ] &&
        [ "$(earned "$1")" = "$want $(field weight)" ] && [ "$(wc -l <items)" = "$(field items_chosen)" ]
}

# ---- Files ----

awk 'BEGIN { srand(7); print 40, 500; for (k = 0; k < 40; k++) { w = 1 + int(rand() * 60); print w + 6, w } }' >strong
awk 'BEGIN { srand(8); print 30, 300; for (k = 0; k < 30; k++) print int(rand() * 50), int(rand() * 60) }' >any
echo 0 9 >nothing
for file in strong any nothing "$models/luggage.knapsack"; do
    want=$(optimum "$file")
    for search in dominance breadth hybrid; do
        solved "$want" "$file" --backend cpu --search $search
        result "${file##*/}, $search: $want" $?
    done
done
printf '%s\n' '3 9000000000000000000' '4000000000000000000 4000000000000000000' \
    '3000000000000000000 3000000000000000001' '1000000000000000000 5000000000000000000' >large
exits 0 large --json && [ "$(field optimum)" = 7000000000000000000 ]
result "sums beyond 2^63" $?
printf '%s\n' '2 9' '9223372036854775807 4' '1 5' >rich
exits 2 rich && has '2^63 - 1' err && [ ! -s out ]
result "a profit beyond 2^63" $?

# ---- Generated ones ----

for name in paper:100:1 paper:500:18446744073709551615 {uncorrelated,weak,subset-sum}:200:1000:1 circle:100:1000:1 \
    {strong,inverse-strong,almost-strong,similar}:100:1000:1 {span,multiple-strong,profit-ceiling}:50:1000:1; do
    exits 0 "$name" --json && [ "$(field status)" = optimal ] && first=$(field optimum) &&
        exits 0 "$name" --json --backend cpu --pool 3000 --threads 2 && [ "$(field optimum)" = "$first" ]
    result "$name" $?
done

# ---- Messages ----

want=$(optimum strong)
exits 0 strong --backend cpu && has "^Optimal: the profit is $want\\.$" out && [ ! -s err ]
result "says in words that it is done" $?
exits 0 strong --incumbent "$want" --json && [ "$(field optimum)" = "$want" ]
result "an incumbent that is the optimum" $?
exits 1 strong --incumbent $((want + 1)) --json && [ "$(field status)" = infeasible ]
result "an incumbent above the optimum: exit status 1" $?
exits 3 paper:200:3 --search breadth --nodes 100000 --backend cpu && has '^Stopped at the limit' out
result "a limit of nodes: exit status 3" $?
json='^{"model": "strong", "backend": "cpu", "search": "dominance", "items": 40,'
json="$json \"optimum\": [0-9]*, \"upper_bound\": [0-9]*, \"status\": \"optimal\""
for name in nodes pruned dominated peak_nodes levels free_items items_chosen weight; do
    json="$json, \"$name\": [0-9]*"
done
json="$json, \"seconds\": [0-9.]*}\$"
exits 0 strong --backend cpu --json && has "$json" out && [ "$(wc -l <out)" -eq 1 ] && [ ! -s err ]
result "one line of JSON" $?

# ---- Bad input: exit status 2 ----

# broken NAME WHAT LINE...: a file of these lines is refused with WHAT behind its name.
broken() {
    local name=$1 what=$2
    shift 2
    printf '%s\n' "$@" >"$name"
    exits 2 "$name" && has "^$name:$what" err && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ]
    result "refused: $name" $?
}
broken negative '2:3: item 0: weight -3' '2 10' '5 -3' '1 1'
broken negative_capacity '1:3: capacity -1' '1 -1' '1 1'
broken fraction "2:1: item 0: profit '5.5'" '2 10' '5.5 3' '1 1'
broken too_large '3:3: item 1: weight 9223372036854775808' '2 10' '5 3' '1 9223372036854775808'
broken too_many '1:1: number of items 268435457' '268435457 10' '1 1'
broken missing_weight '4:1: item 1: truncated' '2 10' '5 3' '1'
broken missing '1:3: there are fewer than 9 items' '9 10' '5 3' '1 1'
broken surplus "3:1: '1' is left over" '1 10' '5 3' '1 1'
broken no_capacity '2:1: truncated' '3'
broken word "1:1: number of items 'items'" 'items 10'
broken empty '2:1: truncated' ''
exits 2 no_such_file && has '^no_such_file: cannot be opened' err
result "refused: no such file" $?
for name in paper:0:1 paper:5 paper:5:x strong:5:1 strong:5:0:1 circle:5:999999999999:1 weak:-1:5:1 weak:5:5:5:5; do
    exits 2 "$name" && has "^$name: no such" err
    result "refused: $name" $?
done
exits 2 && has '^usage' err
result "refused: no model" $?
exits 2 strong any && has 'two models' err
result "refused: two models" $?
for bad in "--pool 0" "--nodes x" "--incumbent -1" "--search depth" "--backend gpu" "--unknown" "--items"; do
    # shellcheck disable=SC2086 # an option and its value
    exits 2 paper:5:1 $bad && has '^usage' err
    result "refused: $bad" $?
done
exits 2 strong --items "$work/no/such/folder" && has 'no/such/folder' err
result "refused: items that cannot be written" $?

summary
