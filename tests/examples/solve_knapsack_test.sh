#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The example that solves knapsack problems, as a user runs it: optima by an awk dynamic programme, every class and search
# mode, items added up on the file, exit codes, and what it says of input that is no model.
# Usage: solve_knapsack_test.sh PROGRAM
set -u

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=$(realpath "${1:?usage: solve_knapsack_test.sh PROGRAM}")
work=$(mktemp -d) || exit 1
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
at_end() { rm -rf "$said" "$work"; }
cd "$work" || exit 1

verdict() { [ "$1" -eq 0 ] || { cat out err && return 1; }; }
result() { check "$1" verdict "$2"; }

# exits CODE ARGUMENT...: runs the program; out and err keep what it says.
exits() {
    local want=$1 got
    shift
    timeout 120 "$program" "$@" >out 2>err </dev/null
    got=$?
    [ "$got" -eq "$want" ] || { echo "exit status $got instead of $want: $*" >>err && return 1; }
}

has() { grep -q -- "$1" "$2" || { echo "no '$1' in $2" >>err && return 1; }; }

# field NAME: of the JSON in out.
field() { grep -o "\"$1\": [^,}]*" out | head -n 1 | sed 's/^[^:]*: //; s/"//g'; }

# optimum FILE: by dynamic programming.
optimum() {
    awk 'NR == 1 { n = $1; c = $2; next }
         { for (w = c; w >= $2; w--) if (best[w - $2] + $1 > best[w]) best[w] = best[w - $2] + $1 }
         END { print best[c] + 0 }' "$1"
}

# earned FILE ITEMS: profit and weight of the items.
earned() { awk 'NR == FNR { in_[$1 + 2] = 1; next } FNR in in_ { p += $1; w += $2 } END { print p + 0, w + 0 }' "$2" "$1"; }

# ---- Files ----

awk 'BEGIN { srand(7); print 40, 500; for (k = 0; k < 40; k++) { w = 1 + int(rand() * 60); print w + 6, w } }' >strong
awk 'BEGIN { srand(8); print 30, 300; for (k = 0; k < 30; k++) print int(rand() * 50), int(rand() * 60) }' >any
printf '3 9000000000000000000\n4000000000000000000 4000000000000000000\n3000000000000000000 3000000000000000001\n' >large
printf '1000000000000000000 5000000000000000000\n' >>large
for file in strong any; do
    want=$(optimum $file)
    for search in dominance breadth hybrid; do
        exits 0 $file --backend cpu --search $search --items items --json &&
            [ "$(field optimum) $(field status)" = "$want optimal" ] && [ "$(field upper_bound)" = "$want" ] &&
            [ "$(earned $file items)" = "$want $(field weight)" ] && [ "$(wc -l <items)" = "$(field items_chosen)" ]
        result "$file, $search: $want" $?
    done
done
exits 0 large --backend cpu --json && [ "$(field optimum)" = 7000000000000000000 ]
result "sums beyond 2^63" $?

# ---- Generated ones ----

for name in paper:100:1 paper:500:18446744073709551615 uncorrelated:200:1000:1 weak:200:1000:1 strong:100:1000:1 \
    inverse-strong:100:1000:1 almost-strong:100:1000:1 subset-sum:200:1000:1 similar:100:1000:1 span:50:1000:1 \
    multiple-strong:50:1000:1 profit-ceiling:50:1000:1 circle:100:1000:1; do
    exits 0 $name --backend cpu --json && [ "$(field status)" = optimal ] && first=$(field optimum) &&
        exits 0 $name --backend cpu --json --pool 3000 --threads 2 && [ "$(field optimum)" = "$first" ]
    result "$name" $?
done

# ---- What it says ----

want=$(optimum strong)
exits 0 strong --backend cpu && has "^Optimal: the profit is $want\\.$" out && [ ! -s err ]
result "says in words that it is done" $?
exits 0 strong --incumbent "$want" --json && [ "$(field optimum)" = "$want" ]
result "an incumbent that is the optimum" $?
exits 1 strong --incumbent $((want + 1)) --json && [ "$(field status)" = infeasible ]
result "an incumbent above the optimum: exit status 1" $?
exits 3 paper:200:3 --search breadth --nodes 100000 --backend cpu && has '^Stopped at the limit' out
result "a limit of nodes: exit status 3" $?
json='^{"model": "strong", "backend": "cpu", "search": "dominance", "items": 40, "optimum": [0-9]*, "upper_bound": [0-9]*,'
json="$json \"status\": \"optimal\", \"nodes\": [0-9]*, \"pruned\": [0-9]*, \"dominated\": [0-9]*, \"peak_nodes\": [0-9]*,"
json="$json \"levels\": [0-9]*, \"steps\": [0-9]*, \"items_chosen\": [0-9]*, \"weight\": [0-9]*, \"seconds\": [0-9.]*}\$"
exits 0 strong --backend cpu --json && has "$json" out && [ "$(wc -l <out)" -eq 1 ] && [ ! -s err ]
result "one line of JSON" $?

# ---- Bad input: exit status 2 ----

# broken NAME PLACE TEXT...: lines that are refused at line:column.
broken() {
    local name=$1 place=$2
    shift 2
    printf '%s\n' "$@" >"$name"
    exits 2 "$name" && has "^$name:$place" err && [ ! -s out ]
    result "refused: $name" $?
}
broken negative 2:3 '2 10' '5 -3' '1 1'
broken fraction 2:1 '2 10' '5.5 3' '1 1'
broken too_large 3:3 '2 10' '5 3' '1 9223372036854775808'
broken missing '' '3 10' '5 3' '1 1'
broken surplus 3: '1 10' '5 3' '1 1'
broken no_capacity '' '3'
broken word 1:1 'items 10'
: >empty
exits 2 empty && has '^empty:' err
result "refused: empty" $?
exits 2 no_such_file && has '^no_such_file: cannot be opened' err
result "refused: no such file" $?
for name in paper:0:1 paper:5 paper:5:x strong:5:1 strong:5:0:1 circle:5:999999999999:1 weak:-1:5:1 weak:5:5:5:5; do
    exits 2 "$name" && has "^$name: no such" err
    result "refused: $name" $?
done
exits 2 && has '^usage' err
result "refused: no model" $?
for bad in "--pool 0" "--nodes x" "--incumbent -1" "--search depth" "--backend gpu" "--unknown" "--items"; do
    # shellcheck disable=SC2086 # an option and its value
    exits 2 paper:5:1 $bad && has 'usage' err
    result "refused: $bad" $?
done

summary
