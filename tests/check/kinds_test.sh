#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The checker of answers of the other kinds: graphical models and knapsacks by the examples with --certificate, logs of
# the simplest kind, and broken answers of every kind, which are refused. An example says when it cannot write one.
# Usage: kinds_test.sh [FOLDER]   with the examples, built
set -u
# shellcheck source=checker.sh
. "$(dirname "${BASH_SOURCE[0]}")/checker.sh"

check "the writer of logs is built" cc "${strict[@]}" "$root"/tests/check/logs/write_log.c \
    "$root"/tests/check/{text,mps}.c -lgmp -lm -o write_log
lp=$models/transport.mps

# ---- Propagation ----

log() { ./write_log "$1" "$2" >"$3.answer"; }
# x - y = 1 and y - x <= 0 - 1/8: from 0 .. 10 each the bounds climb until none is left. Nothing is infeasible at once.
cat >climb.mps <<'END'
NAME climb FREE
ROWS
 N cost
 G up
 G down
COLUMNS
 x up 1 down -1
 y up -1 down 1
RHS
 rhs up 1 down -0.1
BOUNDS
 UP bnd x 10
 UP bnd y 10
ENDATA
END
for name in overbooked lotsizing staffing contract; do
    log propagation "$models/$name.mps" $name-log
    check "$name: a log of propagation" says 0 PROVEN "$models/$name.mps" $name-log.answer
done
log propagation climb.mps climb
check "climb: a log that ends infeasible" says 0 'bounds, and the model is infeasible' climb.mps climb.answer
broken climb climb.mps "a bound that is too tight" 'does not imply' -e '6s/ -*0x.*/ 0x1.8p+1/'
broken climb climb.mps "a step left out" 'does not imply' -e '5d'
broken climb climb.mps "another row" 'does not imply' -e '/^bound 0/s//bound 1/'
broken climb climb.mps "no infeasible row" 'no proof' -e '/^row/d'
broken climb climb.mps "a row that can be satisfied" 'no proof' -e '/^bound/d'
# One ulp: x <= 1 / 3 is not implied by the double below it.
printf 'NAME t FREE\nROWS\n N o\n L r\nCOLUMNS\n x r 3\nRHS\n s r 1\nENDATA\n' >third.mps
printf 'answer 1 propagation\nbound 0 0 upper 0x1.5555555555556p-2\n' >third.answer
check "a third, rounded up" says 0 PROVEN third.mps third.answer
broken third third.mps "a third, rounded down" 'does not imply' -e 's/5556p/5555p/'
# x - y <= 1, y = 2^53 + 2, all integer: x = 2^53 + 3 is possible, though no double
printf 'NAME t FREE\nROWS\n N o\n L r\nCOLUMNS\n m '"'MARKER'"' '"'INTORG'"'\n x r 1\n y r -1\nRHS\n s r 1\n' >large.mps
printf 'BOUNDS\n LI b x 0\n PL b x\n FX b y 9007199254740994\nENDATA\n' >>large.mps
printf 'answer 1 propagation\nbound 0 0 upper 9007199254740996\n' >large.answer
check "large: the next double" says 0 PROVEN large.mps large.answer
broken large large.mps "one whole number too tight" 'does not imply' -e 's/996/994/'

# x <= 3, y - x <= 0, x + z <= 4, x + y <= 0; x integer below 3.5, z free.
printf '%b' 'NAME s FREE\nROWS\n N o\n L a\n L b\n L c\n L d\nCOLUMNS\n m '"'MARKER' 'INTORG'"'\n x a 1 b -1\n x c 1 d 1\n' \
    ' m '"'MARKER' 'INTEND'"'\n y b 1 d 1\n z c 1\nRHS\n s a 3 c 4\nBOUNDS\n UP s x 3.5\n FR s z\nENDATA\n' >small.mps
log='answer 1 propagation\n' broken_log="${log}outcome infeasible\n"
judges "small: a weaker bound after a stronger one" 0 PROVEN small.mps "${log}bound 0 0 upper 3\nbound 0 0 upper 5\nbound 1 1 upper 3\n"
judges "small: a column's own bound, rounded" 0 PROVEN small.mps "${log}bound -1 0 upper 3\n"
judges "small: refused: rounded too far" 1 'does not imply' small.mps "${log}bound -1 0 upper 2\n"
judges "small: refused: an integer that is possible" 1 'does not imply' small.mps "${log}bound 0 0 upper 2\n"
judges "small: refused: with a column that is not bounded" 1 'does not imply' small.mps "${log}bound 2 0 upper 5\n"
model first ' L r\n' ' z r 1\n x r 1\n' 'RHS\n s r 4\nBOUNDS\n FR b z\n'
judges "first: refused: where the first column is not bounded" 1 'does not imply' first.mps "${log}bound 0 1 upper 5\n"
model kinds '' " m 'MARKER' 'INTORG'\\n x o 1\\n m 'MARKER' 'INTEND'\\n v o 1\\n y o 1\\n z o 1\\n u o 1\\n" \
    'BOUNDS\n LO b x 1\n LO b v -3\n BV b v\n UP b y 3\n PL b y\n PL b z\n UP b z -1\n LI b u 0.5\n'
judges "kinds: BV after LO, LI" 0 PROVEN kinds.mps "${log}bound -1 1 lower -1\nbound -1 4 lower 1\n"
for bound in '0 upper 5' '2 upper 5' '3 lower -100'; do
    judges "kinds: refused: $bound" 1 'does not imply' kinds.mps "${log}bound -1 $bound\n"
done
judges "small: refused: a row that is satisfied by equality" 1 'no proof' small.mps "${broken_log}row 3\n"
judges "small: refused: bounds that do not cross" 1 'no proof' small.mps "${broken_log}column 0\n"
judges "small: bad input: neither upper nor lower" 2 unexpected small.mps "${log}bound 0 0 middle 3\n"
judges "small: bad input: an unknown step" 2 unexpected small.mps "${log}step 0\n"

# ---- Graphical models ----

answers exams solve_wcsp "$models/exams.wcsp"
found hard solve_wcsp "$models/exams.wcsp" --policy mini-bucket --z 2
found sliced solve_wcsp "$models/exams.wcsp" --policy slice --memory 9000
found agents solve_wcsp "$models/exams.wcsp" --agents each
printf '2 0 1 2 2\n' >evidence
answers evidence solve_wcsp "$models/exams.wcsp" --evidence evidence
wcsp=$models/exams.wcsp
check "exams: it has messages" grep -q '^message' exams.answer
first_entry='/^message/ { n; s/.*/100/; :rest; n; b rest }'
broken exams "$wcsp" "an entry that is too large" 'is too large' -e "$first_entry"
broken exams "$wcsp" "an entry that is forbidden" 'is too large' -e "${first_entry/100/forbidden}"
broken exams "$wcsp" "a message over too few variables" 'is not over' \
    -e '/^message [0-9]* 2/ { s/ 2 \([0-9]*\) .*/ 1 \1/; :rest; n; b rest }'
broken exams "$wcsp" "a message over its own variable" 'is over' \
    -e '/^message [0-9]* 2/ { s/message \([0-9]*\) 2 .* /message \1 2 \1 /; :rest; n; b rest }'
{ cat exams.answer && for _ in {1..99}; do echo message 0 0 0; done; } >many.answer
check "exams: bad input: more messages than variables" says 2 'BAD INPUT' "$wcsp" many.answer
broken exams "$wcsp" "another value" 'assignment costs' -e '/^value /{n;s/.*/2/}'
broken exams "$wcsp" "another cost" 'assignment costs' -e 's/^cost .*/cost 1/'
broken exams "$wcsp" "a bound above the cost" 'assignment costs' -e 's/^bound .*/bound 90/'
sed -e 's/^outcome .*/outcome infeasible/' -e '/^cost/d' -e '/^value/,/^message/ { /^message/!d }' exams.answer >no.answer
check "exams: not proven: nothing fits" says 3 'UNPROVEN: infeasible' "$wcsp" no.answer
broken evidence "$wcsp" "against the evidence" 'cannot have this value' -e 's/^fixed 0 1/fixed 0 2/'
printf 'none 2 2 1 9\n2 2\n2 0 1 9 0\n' >none.wcsp
answers none solve_wcsp none.wcsp
# A function that uses the tuples of another has its default cost, too: x = y = 0 costs 5 + 5.
printf 'shared 3 2 2 99\n2 2 2\n-2 0 1 5 1\n1 1 0\n2 1 2 7 -1\n' >shared.wcsp
printf 'answer 1 elimination\noutcome optimal\ncost 10\nvalue 3\n0\n0\n0\n' >shared.answer
check "shared: a default cost of another function" says 3 UNPROVEN shared.wcsp shared.answer
broken shared shared.wcsp "a cost without it" 'assignment costs 10' -e 's/^cost 10/cost 5/'

one='answer 1 elimination\noutcome' # answers to models of a function or two
printf 'm 1 1 1 9\n1\n1 0 9 0\n' >top.wcsp
judges "top: refused: an assignment that is forbidden" 1 'assignment costs' top.wcsp "$one optimal\ncost 9\nvalue 1\n0\n"
printf 'm 1 1 2 9\n1\n1 0 9 0\n1 0 9 0\n' >tops.wcsp
judges "tops: more than forbidden is forbidden" 0 PROVEN tops.wcsp "$one infeasible\n"
printf 'm 2 2 2 9\n2 1\n1 0 5 0\n2 0 1 5 0\n' >pair.wcsp
judges "pair: a message not over a variable of one value" 0 PROVEN pair.wcsp "$one infeasible\nmessage 0 0 forbidden\n"
judges "pair: refused: a value that there is not" 1 'cannot have' pair.wcsp "$one optimal\ncost 8\nvalue 2\n2\n0\n"
printf 'm 2 2 2 9\n2 2\n1 0 5 0\n1 1 5 0\n' >rest.wcsp
judges "rest: forbidden because of the rest" 0 PROVEN rest.wcsp "$one infeasible\nmessage 0 0 forbidden\n"
judges "rest: refused: a message over evidence" 1 'is over 1' rest.wcsp "$one infeasible\nfixed 1 0\nmessage 0 1 1 5 5\n"
printf 'm 2 2 1 9\n2 2\n2 0 0 5 0\n' >twice.wcsp
judges "bad input: a scope with a variable twice" 2 unexpected twice.wcsp "$one optimal\n"
printf 'm 1 1 1 9\n1\n1 0 9 0\n7\n' >longer.wcsp
judges "bad input: a model that is too long" 2 unexpected longer.wcsp "$one optimal\n"
printf 'm 2 2 2 9\n2 2\n-2 0 1 5 0\n1 0 0 -1\n' >sizes.wcsp
judges "bad input: the tuples of a function of another size" 2 unexpected sizes.wcsp "$one optimal\n"

# ---- Knapsacks ----

found luggage solve_knapsack "$models/luggage.knapsack"
bag=$models/luggage.knapsack
log knapsack "$bag" luggage-log
check "luggage: a log of the search" says 0 PROVEN "$bag" luggage-log.answer
item=$(tail -n 1 luggage.answer)
broken luggage "$bag" "a wrong item" '' -e "\$s/.*/$((item - 1))/"
broken luggage "$bag" "an item too few" 'claimed profit' -e "\$d" -e "s/^items .*/items $(($(grep -c '^[0-9]' luggage.answer) - 1))/"
broken luggage "$bag" "more profit" 'claimed profit' -e 's/^profit .*/profit 1000/'
broken luggage "$bag" "less weight" 'claimed profit' -e 's/^weight .*/weight 1/'
broken luggage-log "$bag" "a node left open" 'is left open' -e "\$d"
broken luggage-log "$bag" "a node pruned too early" 'may be better' -e '/^branch/ { s/branch \([0-9]*\).*/pruned \1/; :rest; n; b rest }'
broken luggage-log "$bag" "a node that does not dominate" 'is not dominated' -e '/^dominated/ { s/ [0-9]*$/ 0/; :rest; n; b rest }'
broken luggage-log "$bag" "an item decided twice" 'is decided already' -e 's/^branch \([0-9]*\) 3 /branch \1 2 /'
# An item without weight and profit has the ratio of every other; it may not come between the others' order.
printf '3 2\n1 2\n0 0\n2 1\n' >nothing.knapsack
printf 'answer 1 knapsack\noutcome optimal\nprofit 1\nweight 2\nitems 1\n0\nnodes 1\npruned 0\n' >nothing.answer
check "nothing: refused: pruned, where an item is nothing" says 1 'may be better' nothing.knapsack nothing.answer
printf '2 5\n3 5\n3 5\n' >two.knapsack
two='answer 1 knapsack\noutcome optimal\nprofit 3\nweight 5\nitems 1\n0\n'
tree="${two}nodes 7\nbranch 0 0 1 2\nbranch 1 1 3 4\nbranch 2 1 5 6\npruned 3\npruned 6\n"
judges "two: a log" 0 PROVEN two.knapsack "${tree}dominated 5 4\npruned 4\n"
judges "two: a log that prunes by the relaxation" 0 PROVEN two.knapsack \
    "${two}nodes 5\nbranch 0 0 1 2\npruned 2\nbranch 1 1 3 4\npruned 3\npruned 4\n"
for by in '4 5: its equal of a higher number' '5 3: one of less profit' '5 6: a heavier one' '5 2: one with fewer items decided'; do
    judges "two: refused: dominated by ${by#*: }" 1 'is not dominated' two.knapsack "${tree}dominated ${by%%:*}\n"
done
judges "two: refused: dominated by one with more items decided" 1 'is not dominated' two.knapsack \
    "${two}nodes 6\nbranch 0 0 4 5\nbranch 4 1 1 2\ndominated 5 2\n"
judges "two: refused: dominated by a node that is not there" 1 'is not dominated' two.knapsack \
    "${two}nodes 4\nbranch 0 0 2 3\ndominated 2 1\npruned 3\n"
judges "two: refused: a node twice" 1 'is not new' two.knapsack "${two}nodes 3\nbranch 0 0 1 1\n"
judges "two: refused: a node that is done" 1 'is not open' two.knapsack "${tree}pruned 3\n"
judges "two: bad input: a number with more behind it" 2 unexpected two.knapsack 'answer 1 knapsack\nprofit 3x\n'
judges "two: bad input: a number that is too small" 2 unexpected two.knapsack 'answer 1 knapsack\nprofit -1\n'
judges "two: bad input: an item that there is not" 2 unexpected two.knapsack 'answer 1 knapsack\nitems 1\n2\n'
judges "two: bad input: an unknown end of a node" 2 unexpected two.knapsack "${tree}cut 4\n"
judges "two: refused: items that are too heavy" 1 'too heavy' two.knapsack \
    'answer 1 knapsack\noutcome optimal\nprofit 6\nweight 10\nitems 2\n0\n1\n'
printf '2 10\n1 5\n3 5\n' >all.knapsack
all='answer 1 knapsack\noutcome optimal\n'
judges "all: refused: an item twice" 1 'comes twice' all.knapsack "${all}profit 2\nweight 10\nitems 2\n0\n0\n"
judges "all: refused: pruned, where all items fit" 1 'may be better' all.knapsack "${all}profit 3\nweight 5\nitems 1\n1\nnodes 1\npruned 0\n"
printf '2 5\n1 5\n3 5\n' >left.knapsack
judges "left: refused: pruned, where an item is left out" 1 'may be better' left.knapsack \
    "${all}profit 1\nweight 5\nitems 1\n0\nnodes 3\nbranch 0 0 1 2\npruned 1\npruned 2\n"
printf '3 10\n6 5\n6 5\n9 10\n' >three.knapsack
judges "three: refused: dominated by one with other items decided" 1 'is not dominated' three.knapsack \
    "${all}profit 12\nweight 10\nitems 2\n0\n1\nnodes 7\nbranch 0 0 1 2\nbranch 1 1 3 4\nbranch 2 2 5 6\ndominated 5 4\n"
printf 'answer 1 knapsack\noutcome optimal\nprofit 9\nweight 10\nitems 1\n2\n' >three.answer
check "three: not proven without a log" says 3 UNPROVEN three.knapsack three.answer

# ---- Where no certificate can be written ----

cannot_write() {
    timeout 100 "$programs/$1" "$2" --certificate "$work/no/such/folder" >out 2>err
    [ $? -eq 2 ] && grep -q 'no/such/folder: cannot be written' err
}
check "solve_lp says that it cannot write" cannot_write solve_lp "$lp"
check "solve_wcsp says that it cannot write" cannot_write solve_wcsp "$wcsp"
check "solve_knapsack says that it cannot write" cannot_write solve_knapsack "$bag"
summary
