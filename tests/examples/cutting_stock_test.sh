#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The example that cuts stock, as a user runs it: a published optimum, small ones by a dynamic programme in awk over all
# demands, patterns counted on the file, exit codes, and its messages for input that is no model.
# Usage: cutting_stock_test.sh [PROGRAM]
set -u
example=cutting_stock seconds=120
# shellcheck source=../support/example.sh
. "$(dirname "${BASH_SOURCE[0]}")/../support/example.sh"

# optimum FILE: the least cost of what cuts r, over all r up to the demand: the least of cost(a) + optimum(r - a) over
# all patterns a of pieces in r.
optimum() {
    awk 'function cost_of(length_, k, best) {
             best = -1
             for (k = 1; k <= stocks; k++) if (length_ <= size[k] && (best < 0 || cost[k] < best)) best = cost[k]
             return best
         }
         # try(i, rest, r, length): patterns that take from piece i on; rest: the number of what is left of state s.
         function try(i, rest, length_, t, price) {
             if (i > pieces) {
                 price = rest < s ? cost_of(length_) : -1
                 if (price >= 0 && (f[s] < 0 || f[rest] + price < f[s])) f[s] = f[rest] + price
                 return
             }
             for (t = 0; t <= digit[i]; t++) try(i + 1, rest - t * weight[i], length_ + t * piece[i])
         }
         { sub(/#.*/, "") }
         NF == 0 { next }
         !pieces { pieces = $1; stocks = $2; next }
         ++line <= stocks { size[line] = $1; cost[line] = $2; next }
         { piece[line - stocks] = $1; demand[line - stocks] = $2 }
         END {
             states = 1
             for (i = 1; i <= pieces; i++) { weight[i] = states; states *= demand[i] + 1 }
             f[0] = 0
             for (s = 1; s < states; s++) {
                 f[s] = -1
                 for (i = 1; i <= pieces; i++) digit[i] = int(s / weight[i]) % (demand[i] + 1)
                 try(1, s, 0)
             }
             print f[states - 1]
         }' "$1"
}

# cut FILE: the cost of the patterns in the file named patterns, or what is wrong with them.
cut_cost() {
    awk 'function bad(what) { print what; failed = 1; exit }
         { sub(/#.*/, "") }
         NF == 0 { next }
         NR == FNR && !pieces { pieces = $1; stocks = $2; next }
         NR == FNR && ++line <= stocks { size[line - 1] = $1; cost[line - 1] = $2; next }
         NR == FNR { piece[line - stocks] = $1; demand[line - stocks] = $2; next }
         {
             if (NF != pieces + 2) bad("columns")
             used = 0
             for (i = 1; i <= pieces; i++) { used += $(i + 2) * piece[i]; have[i] += $1 * $(i + 2) }
             if (used > size[$2]) bad("too long")
             sum += $1 * cost[$2]
         }
         END {
             for (i = 1; i <= pieces && !failed; i++) if (have[i] < demand[i]) bad("missing")
             if (!failed) print sum + 0
         }' "$1" patterns
}

# ---- Known optima ----

exits 0 "$models/paper.cutting" --backend cpu --json --patterns patterns && [ "$(field status)" = optimal ] &&
    [ "$(field cost) $(field bound)" = "73 73" ] && [ "$(cut_cost "$models/paper.cutting")" = 73 ]
result "rolls of paper: 73" $?

solved=0
for seed in {1..40}; do
    awk -v seed="$seed" 'BEGIN {
        srand(seed); pieces = 1 + seed % 4; stocks = 1 + seed % 3
        print pieces, stocks
        for (k = 0; k < stocks; k++) { l = 40 - 9 * k; print l, seed % 2 ? 1 + int(rand() * 5) : l + k }
        for (i = 0; i < pieces; i++) print 5 + int(rand() * 35), 1 + int(rand() * 5) }' >small
    want=$(optimum small)
    exits 0 small --backend cpu --json --patterns patterns && within bound 0 "$want" && within cost "$want" 1000000 &&
        [ "$(cut_cost small)" = "$(field cost)" ] &&
        { [ "$(field status)" = feasible ] || [ "$(field cost)" = "$want" ]; }
    result "small $seed: $want" $?
    [ "$(field status)" = optimal ] && solved=$((solved + 1))
done
[ "$solved" -ge 20 ]
result "$solved of 40 small ones are proven" $?

# ---- Larger ones: the bounds are close, whatever the backend and its threads ----

for name in cutgen:30:1:1 cutgen:40:5:2 cutgen:60:1:3; do
    exits 0 "$name" --backend cpu --json && cp out first && awk -v cost="$(field cost)" -v bound="$(field bound)" \
        'BEGIN { exit !(bound <= cost && cost <= bound * 1.01 + 1) }' && awk -v bound="$(field bound)" \
        -v least="$(field relaxation)" 'BEGIN { exit !(bound >= least - 1e-3 && bound <= least + 1) }'
    result "$name: within 1 %" $?
    exits 0 "$name" --backend cpu --threads 3 --json &&
        [ "$(sed 's/, "seconds.*//' out)" = "$(sed 's/, "seconds.*//' first)" ]
    result "$name: the same with three threads" $?
done

# ---- Messages ----

exits 0 "$models/paper.cutting" --backend cpu && has '^Optimal: the cost is 73\.$' out && [ ! -s err ]
result "says in words that it is done" $?
printf '%s\n' '2 1' '10 1' '4 3' '11 1' >long
exits 1 long && has '^long: piece 1 is longer than all stock' err && [ ! -s out ] &&
    exits 1 long --json && [ "$(field status)" = infeasible ]
result "a piece that is too long: exit status 1" $?
printf '%s\n' '2 1' '10 3' '4 0' '11 0' >none
exits 0 none --json --patterns patterns && [ "$(field cost) $(field bound)" = "0 0" ] && [ ! -s patterns ]
result "nothing is wanted" $?

# broken NAME WHAT LINE...: a file of these lines is refused with WHAT behind its name.
broken() {
    local name=$1 what=$2
    shift 2
    printf '%s\n' "$@" >"$name"
    exits 2 "$name" && has "^$name:$what" err && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ]
    result "refused: $name" $?
}
broken no_pieces "1:1: number of pieces 0" '0 1' '5 1'
broken many_pieces "1:1: number of pieces 257" '257 1' '5 1'
broken no_stock "1:3: number of stocks 0" '1 0' '5 1'
broken free "2:3: stock 0: cost 0" '1 1' '5 0' '3 1'
broken negative "3:3: piece 0: demand -1" '1 1' '5 1' '3 -1'
broken short "4:1: piece 0: truncated" '1 1' '5 1' '3'
broken surplus "4:1: '7' is left over" '1 1' '5 1' '3 1' '7'
for name in cutgen:0:1:1 cutgen:5:13:1 cutgen:257:1:1 cutgen:5:1 cutgen:5:1:x cutgen:5:1:1:1; do
    exits 2 "$name" && has "^$name: no such" err
    result "refused: $name" $?
done
for bad in "--threads 0" "--backend gpu" "--unknown" "--patterns"; do
    # shellcheck disable=SC2086 # an option and its value
    exits 2 cutgen:5:1:1 $bad && has '^usage' err
    result "refused: $bad" $?
done
exits 2 cutgen:5:1:1 --patterns "$work/no/such/folder" && has 'no/such/folder' err
result "refused: patterns that cannot be written" $?

summary
