#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The checker of answers: it accepts what the examples write with --certificate, and logs of the simplest kind; broken
# answers of every kind are refused. With GPUOPT_TEST_DATA, public linear programs: what the library calls optimal or
# infeasible is so in rationals. Prints what was proven, and how long the checker took.
# Usage: check_test.sh [--whole] [FOLDER]   with the examples, built; --whole: all models of netlib, not the quick ones
set -u
whole=
if [ "${1:-}" = --whole ]; then whole=1 && shift; fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
programs=$(realpath "${1:-$root/bazel-bin/examples}") || exit
models=$root/examples/models
work=$(mktemp -d) || exit 1
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
at_end() { rm -rf "$said" "$work"; }
strict=(-std=c11 -Wall -Wextra -Werror -O2 -I"$root")
cd "$work" || exit 1

check "the checker is built by itself" cc "${strict[@]}" "$root"/tests/check/*.c -lgmp -lm -o checker || { summary; exit 1; }
check "the writer of logs is built" cc "${strict[@]}" "$root"/tests/check/logs/write_log.c \
    "$root"/tests/check/{text,mps}.c -lgmp -lm -o write_log
shares_nothing() {
    ! grep -nE '^ *# *include *"' "$root"/tests/check/*.[ch] "$root"/tests/check/logs/*.c | grep -v '"tests/check/check.h"$'
}
check "it includes nothing of the library or the examples" shares_nothing
# It is short enough to be read: without comments and blank lines
short() {
    local lines
    lines=$(cat "$root"/tests/check/*.[ch] | grep -cvE '^ *($|/\*|\* |\*/)')
    echo "$lines lines"
    [ "$lines" -le 1300 ]
}
check "it has at most 1300 lines of code" short

# says STATUS WORD ARGUMENT...: the checker's exit status, and a word of its last line.
says() {
    local want=$1 word=$2 got last
    shift 2
    timeout 100 ./checker "$@" >out 2>&1
    got=$?
    cat out
    last=$(tail -n 1 out)
    [ "$got" -eq "$want" ] && [[ $last == *$word* ]]
}
# answer PROGRAM MODEL [OPTION...]: writes `answer`.
answer() {
    local program=$1
    shift
    rm -f answer
    timeout 100 "$programs/$program" "$@" --certificate answer >/dev/null 2>log
    [ -s answer ]
}
# answers NAME PROGRAM MODEL [OPTION...]: the example's answer is proven; it stays in NAME.answer.
answers() {
    local name=$1
    shift
    check "$name: --certificate" answer "$@" && cp answer "$name.answer" &&
        check "$name: proven" says 0 PROVEN "$2" "$name.answer"
}
# found NAME PROGRAM MODEL [OPTION...]: the same, but that nothing is better needs messages, which are not written.
found() {
    local name=$1
    shift
    check "$name: --certificate" answer "$@" && cp answer "$name.answer" &&
        check "$name: not wrong" says 3 UNPROVEN "$2" "$name.answer"
}
# broken NAME MODEL WHAT REASON SED...: NAME.answer, edited, is another one, and is refused for that reason.
broken() {
    local name=$1 model=$2 what=$3 reason=$4
    shift 4
    sed "$@" "$name.answer" >broken.answer
    check "$name: refused: $what" differs_and_says "$name.answer" 1 "$reason" "$model" broken.answer
}
differs_and_says() {
    ! cmp "$1" broken.answer && says "${@:2}"
}
# judges WHAT STATUS WORD MODEL ANSWER: the answer is text, with backslashes.
judges() {
    printf '%b' "$5" >judged.answer
    check "$1" says "$2" "$3" "$4" judged.answer
}
# without NAME VECTOR...: copies NAME.answer without some of its vectors.
without() {
    local name=$1
    shift
    awk -v names=" $* " '$1 ~ /^[a-z]+$/ && NF == 2 { drop = index(names, " " $1 " ") } !drop' "$name.answer"
}

# ---- Linear programs ----

for name in transport contract staffing lotsizing shortage overbooked arbitrage; do
    answers $name solve_lp "$models/$name.mps"
done
answers maximum solve_lp "$models/transport.mps" --max
for name in transport contract staffing lotsizing; do
    without $name dual >$name-basis.answer
    check "$name: proven by the basis alone" says 0 'basis is optimal' "$models/$name.mps" $name-basis.answer
done
without arbitrage ray >arbitrage-basis.answer
check "arbitrage: proven by the basis alone" says 0 'unbounded' "$models/arbitrage.mps" arbitrage-basis.answer
without transport dual basis >nothing.answer
check "transport: a claim alone is not proven" says 3 UNPROVEN "$models/transport.mps" nothing.answer
sed 's/^ LO bnd c -4/ LO bnd c 4/' "$models/contract.mps" >crossed.mps
answers crossed solve_lp crossed.mps

# Sums that balance only as decimals: 0.1 + 0.2 + 0.3 and 0.25 + 0.35.
cat >decimals.mps <<'END'
NAME decimals FREE
ROWS
 N cost
 E p1
 E p2
 E p3
 E t1
 E t2
COLUMNS
 x11 cost 4 p1 1
 x11 t1 1
 x12 cost 6 p1 1
 x12 t2 1
 x21 cost 5 p2 1
 x21 t1 1
 x22 cost 3 p2 1
 x22 t2 1
 x31 cost 8 p3 1
 x31 t1 1
 x32 cost 7 p3 1
 x32 t2 1
RHS
 s p1 .1 p2 .2
 s p3 .3 t1 .25
 s t2 .35
ENDATA
END
answers decimals solve_lp decimals.mps
check "decimals: optimal but for rounding" says 0 'but for rounding' decimals.mps decimals.answer
broken decimals decimals.mps "a claim to be exact" 'exact arithmetic' 's/^certainty .*/certainty exact/'
broken decimals decimals.mps "a smaller backward error" 'backward error' 's/^backward_error .*/backward_error 0/'
broken decimals decimals.mps "another point" 'backward error' '/^point /{n;s/.*/0.5/}'
# Optimal at x2 = 1. At x2 = 0 row b is violated by 2^-50, which a pivot of 2^-50 mends.
cat >tiny.mps <<'END'
NAME tiny FREE
ROWS
 N cost
 E r
 L b
COLUMNS
 x1 r 1 b 1
 x2 cost 1 r 8.8817841970012523e-16
RHS
 s r 1.0000000000000009 b 1
ENDATA
END
answers tiny solve_lp tiny.mps
check "tiny: exactly optimal" says 0 'basis is optimal' tiny.mps tiny.answer
judges "tiny: a violation that is worth 1 is no rounding" 1 'worth more' tiny.mps \
    'answer 1 lp outcome optimal objective 0 basis 4 b l l b dual 2 0 0 point 2 0x1.0000000000004p+0 0 certainty rounding backward_error 1\n'

# first_after WORD FROM TO: a sed script that changes the first line FROM after the line that begins with WORD.
first_after() { echo "/^$1 /,\$ { /^$2\$/ { s//$3/; :rest; n; b rest } }"; }
# The file as the library reads it: the first set of a section counts, BV sets both bounds, a negative UI no lower one,
# a byte order mark is skipped, a range makes of an equation -1 <= r <= 2. The bounds of propagation show what was read.
cat >reads.mps <<'END'
NAME reads FREE
ROWS
 N o
 E r
COLUMNS
 u r 1
 v r 1 o 1
 x r 1
 y r 1
RHS
 one r 2
 two r 50
RANGES
 one r -3
BOUNDS
 FX one u 0
 UP one v -1
 FX two v 7
 LO one x -9
 BV one x
 UI one y 5
ENDATA
END
{ printf '\xEF\xBB\xBF' && cat reads.mps; } >marked.mps
printf 'answer 1 propagation\nbound 0 1 lower -7\n' >reads.answer # v >= -1 - 0 - 1 - 5
check "reads: sets, ranges, bounds, a byte order mark" says 0 PROVEN marked.mps reads.answer
broken reads reads.mps "a bound of the second set" 'does not imply' -e 's/-7/-6.5/'
sed 's/UI one y 5/UI one y -5/' reads.mps >negative.mps
printf 'answer 1 lp\noutcome infeasible\n' >negative.answer
check "negative: a negative UI crosses the lower bound 0" says 0 'bounds of variable 3 cross' negative.mps negative.answer
sed 's/ FX one u 0/ UP one u -2/; s/ E r/ L r/; /^RANGES/,/^ one r -3/d' reads.mps >free.mps
printf 'answer 1 lp\noutcome unbounded\nbasis 5\nu\nu\nl\nl\nb\nray 4\n0\n-1\n0\n0\n' >free.answer
check "free: a negative UP makes the lower bound infinite" says 0 'by the ray' free.mps free.answer
sed 's/^ u r 1$/ u r 1 r 1 r 1/' reads.mps >wide.mps
check "bad input: a line of seven words" says 2 'neither one number nor two' wide.mps reads.answer
# 1e-350, which is 0 as a double, is a movement towards the side of a row.
printf 'NAME t FREE\nROWS\n N o\n L r\nCOLUMNS\n x o -1 r 1e-200\nRHS\n s r 1\nENDATA\n' >tiny.mps
printf 'answer 1 lp\noutcome unbounded\nbasis 2\nl\nb\nray 1\n1e-150\n' >tiny.answer
check "tiny: a ray that a row bounds far away is not proven" says 3 UNPROVEN tiny.mps tiny.answer
# Rows times 1e-30 have duals of 1e30, columns times 1e30 such entries. max x + y, x + 2 y <= 4, 3 x + y <= 6: 2.8.
scaled() { # ROWS COLUMNS
    printf 'NAME s FREE\nOBJSENSE\n MAX\nROWS\n N o\n L r\n L s\nCOLUMNS\n'
    awk -v rows="$1" -v cols="$2" 'BEGIN {
        printf " x o %.17g r %.17g\n x s %.17g\n y o %.17g r %.17g\n", cols, rows * cols, 3 * rows * cols, cols, 2 * rows * cols
        printf " y s %.17g\nRHS\n b r %.17g s %.17g\nENDATA\n", rows * cols, 4 * rows, 6 * rows
    }'
}
for scale in '1e-12 1' '1e-30 1' '1e-60 1' '1 1e30' '1 1e-30'; do
    # shellcheck disable=SC2086 # two numbers
    scaled $scale >scaled.mps
    answers "scaled by $scale" solve_lp scaled.mps
done
lp=$models/transport.mps
broken transport "$lp" "a flipped status" '' -e "$(first_after basis l u)"
broken transport "$lp" "a basic variable too few" 'the basis has' -e "$(first_after basis b l)"
broken transport "$lp" "a basic variable too many" 'the basis has' -e "$(first_after basis l b)"
sed -e "$(first_after basis l b)" -e "$(first_after basis b l)" transport-basis.answer >other.answer
check "transport: refused: another basis" says 1 '' "$lp" other.answer
printf 'NAME c FREE\nROWS\n N o\nCOLUMNS\n x o 1\n y o 1\nBOUNDS\n LO b x 2\n UP b x 1\nENDATA\n' >cross.mps
printf 'answer 1 lp\noutcome optimal\nobjective 2\nbasis 2\nl\nl\n' >cross.answer
check "refused: optimal, where bounds cross" says 1 'bounds of variable 0 cross' cross.mps cross.answer
broken transport "$lp" "another objective" 'do not belong' -e 's/^objective .*/objective 0x1p+6/'
broken transport "$lp" "the other sense" '' -e 's/^sense min/sense max/'
broken transport "$lp" "another dual" 'duals do not belong' -e '/^dual /{n;s/.*/0x1p+9/}'
broken shortage "$models/shortage.mps" "the wrong sign of the Farkas vector" 'proves nothing' \
    -e '/^farkas/,$ { s/^-0x/0x/; t; s/^0x/-0x/ }'
broken shortage "$models/shortage.mps" "a Farkas vector of zeros" 'proves nothing' -e '/^farkas/,$ s/^-*0x.*/0x0p+0/'
broken arbitrage "$models/arbitrage.mps" "the wrong sign of the ray" 'bounds the ray' \
    -e '/^ray/,$ { s/^-0x/0x/; t; s/^0x/-0x/ }'
check "crossed: bounds that do not cross are no proof" says 3 'without a Farkas vector' "$models/contract.mps" \
    crossed.answer
check "bad input: an answer to another model" says 2 'BAD INPUT' "$lp" contract.answer
head -n 20 transport.answer >short.answer
check "bad input: an answer cut short" says 2 'BAD INPUT' "$lp" short.answer
check "bad input: an answer of another kind" says 2 'BAD INPUT' "$models/exams.wcsp" transport.answer

# model NAME ROWS COLUMNS REST: a linear program whose objective is o; the sections as text.
model() { printf '%b' "NAME t FREE\nROWS\n N o\n$2COLUMNS\n$3$4ENDATA\n" >"$1.mps"; }
lp_answer='answer 1 lp\noutcome'
model upper ' L r\n' ' x o -1 r 1\n' 'RHS\n s r 1\nBOUNDS\n UP b x 5\n'
judges "upper: optimal" 0 PROVEN upper.mps "$lp_answer optimal\nobjective -1\nbasis 2\nb\nu\n"
judges "upper: refused: beyond the side" 1 'violations of 4 of' upper.mps "$lp_answer optimal\nobjective -5\nbasis 2\nu\nb\n"
judges "upper: not refused where nothing is claimed" 3 'violations of 4 of' upper.mps "$lp_answer imprecise\nbasis 2\nu\nb\n"
judges "upper: refused: a reduced cost" 1 'and 1 of reduced' upper.mps "$lp_answer optimal\nobjective 0\nbasis 2\nl\nb\n"
judges "upper: refused: another objective than the basis has" 1 'claimed to be' upper.mps "$lp_answer optimal\nobjective -2\nbasis 2\nb\nu\n"
judges "upper: refused: nonbasic and free, with bounds" 1 'cannot be nonbasic' upper.mps "$lp_answer optimal\nbasis 2\nz\nb\n"
judges "upper: bad input: an infinite objective" 2 unexpected upper.mps "$lp_answer optimal\nobjective 1e999\n"
judges "upper: bad input: a dual that is no number" 2 unexpected upper.mps "$lp_answer optimal\ndual 1\n1x\n"
sed 's/ 5$/ 1e25/' upper.mps >beyond.mps
judges "beyond: refused: at an infinite bound" 1 'cannot be nonbasic' beyond.mps "$lp_answer optimal\nbasis 2\nu\nb\n"
model lower ' G r\n' ' x o 1 r 1\n' 'RHS\n s r 1\n'
judges "lower: refused: below the side" 1 'violations of 1 of' lower.mps "$lp_answer optimal\nobjective 0\nbasis 2\nl\nb\n"
model free ' G r\n' ' x o 1 r 1\n' 'RHS\n s r 1\nBOUNDS\n FR b x\n'
judges "free: refused: duals that leave a free column a cost" 1 'do not belong' free.mps "$lp_answer optimal\nobjective 0\ndual 1\n0\n"
model twins ' E r\n E q\n' ' x r 1 q 1\n y r 1 q 1\n' ''
judges "twins: refused: a singular basis" 1 'is singular' twins.mps "$lp_answer optimal\nbasis 4\nb\nb\nl\nl\n"
# x >= 1, x >= 0, x <= 0.5
model apart ' G r\n G q\n' ' x r 1 q 1\n' 'RHS\n s r 1\nBOUNDS\n UP b x 0.5\n'
judges "apart: a Farkas vector" 0 'PROVEN: infeasible' apart.mps "$lp_answer infeasible\nfarkas 2\n-1\n0\n"
judges "apart: refused: a multiple of a side that there is not" 1 'proves nothing' apart.mps "$lp_answer infeasible\nfarkas 2\n-1\n1e-30\n"
model nearly ' G r\n' ' x r 1\n y r 1e-30\n' 'RHS\n s r 1\nBOUNDS\n UP b x 0.5\n FR b y\n'
judges "nearly: infeasible but far away" 0 'for |x_j| < 1e24' nearly.mps "$lp_answer infeasible\nfarkas 1\n-1\n"
sed 's/1e-30/1/' nearly.mps >feasible.mps
judges "feasible: refused: a multiple of an infinite bound" 1 'proves nothing' feasible.mps "$lp_answer infeasible\nfarkas 1\n-1\n"
# x >= 1, x <= 0, x free
model gap ' G r\n L q\n' ' x r 1 q 1\n' 'RHS\n s r 1\nBOUNDS\n FR b x\n'
judges "gap: by the low part" 0 'its low part' gap.mps "$lp_answer infeasible\nfarkas 2\n-1\n0.75\nfarkas_low 2\n0\n0.25\n"
judges "gap: by the exact vector of the basis" 0 'exact Farkas vector' gap.mps \
    "$lp_answer infeasible\nfarkas 2\n-1\n0.999999999999\nbasis 3\nb\nb\nu\n"
model ray ' L r\n' ' x o 1 r -1\n' 'RHS\n s r 1\n'
start="$lp_answer unbounded\nbasis 2\nl\nb\n"
judges "ray: maximising" 0 'by the ray' ray.mps "${start}sense max\nray 1\n1\n"
judges "ray: refused: minimising" 1 'does not improve' ray.mps "${start}ray 1\n1\n"
judges "ray: not proven without a basis" 3 'without a basis' ray.mps "$lp_answer unbounded\nsense max\nray 1\n1\n"
sed 's/s r 1/s r -1/' ray.mps >away.mps
judges "away: refused: a ray from an infeasible point" 1 'violations of 1 at' away.mps "${start}sense max\nray 1\n1\n"
judges "away: refused: an infeasible point alone" 1 'violations of 1 at' away.mps "${start}sense max\n"
sed 's/r -1/r 1/' ray.mps >stopped.mps
judges "stopped: refused: a ray that a row stops" 1 'unbounded but' stopped.mps "${start}sense max\nray 1\n1\n"
model ended ' L r\n' ' x o 1 r -1\n' 'RHS\n s r 1\nBOUNDS\n UP b x 5\n'
judges "ended: refused: a column that its bound stops" 1 'unbounded but' ended.mps "${start}sense max\n"

# Files that are no models; a free row that is dropped
refuses() { judges "bad input: $1" 2 "$2" "$3.mps" "$lp_answer optimal\n"; }
model infinite ' L r\n' ' x o 1 r 1e999\n' '' && refuses "an infinite coefficient" infinite infinite
model names ' L r\n L r\n' ' x o 1\n' '' && refuses "two rows of one name" 'two rows' names
model places ' L r\n' ' x o 1\n y o 1\n x r 1\n' '' && refuses "a column in two places" 'two places' places
model nowhere ' L r\n' ' x o 1\n' 'BOUNDS\n LO b x 1e25\n' && refuses "an infinite lower bound" 'is infinite' nowhere
sed '$d' upper.mps >ends.mps && refuses "no ENDATA" 'no ENDATA' ends
sed -e 's/^ L r$/ N p\n L r/' -e 's/^ x o -1 r 1$/ x p 7\n&/' upper.mps >dropped.mps
judges "dropped: a second free row" 0 PROVEN dropped.mps "$lp_answer optimal\nobjective -1\nbasis 2\nb\nu\n"

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

# ---- Public models ----

# agrees STATUS PUBLISHED: proven, or within the tolerance, and the exact objective is the published one.
agrees() {
    cat out
    [ "$1" -eq 0 ] || [ "$1" -eq 3 ] || return 1
    if [ "$2" = infeasible ]; then grep -q '^PROVEN: .*infeasible' out && return; fi
    awk -v want="$2" '/^objective of the basis: / { sub(/,/, "", $5); got = $5 }
        END { d = got - want; s = want < 0 ? -want : want; exit !(got != "" && (d < 0 ? -d : d) <= 1e-7 * (s > 1 ? s : 1)) }' out
}
data=${GPUOPT_TEST_DATA:-}
quick=' afiro sc50b kb2 adlittle stocfor1 blend share2b lotfi brandy israel e226 scfxm1 forplan degen2 etamacro bnl1 pilot4'
quick="$quick fit1p galenet itest2 bgprtr ex72a box1 klein1 klein2 cplex1 "
for folder in netlib netlib_infeas; do
    if [ -z "$data" ] || [ ! -r "$data/$folder/index.csv" ] || ! command -v xz >/dev/null; then
        skip "$folder" "GPUOPT_TEST_DATA names no folder with it, or no xz"
        continue
    fi
    left_out=0
    while IFS=, read -r name _ _ _ _ _ _ published _; do
        if [ -z "$whole" ] && [[ $quick != *" $name "* ]]; then left_out=$((left_out + 1)) && continue; fi
        xz -dc "$data/$folder/$name.mps.xz" >model.mps
        timeout 600 "$programs/solve_lp" model.mps --certificate answer >/dev/null 2>log
        start=$(date +%s%N)
        timeout 300 ./checker model.mps answer >out 2>&1
        got=$?
        echo "$folder/$name: $(grep -hE '^(PROVEN|UNPROVEN|REFUSED|BAD INPUT)' out | tr '\n' ';') $((($(date +%s%N) - start) / 1000000)) ms"
        check "$folder/$name" agrees $got "$published"
    done < <(tail -n +2 "$data/$folder/index.csv")
    [ $left_out -eq 0 ] || skip "$left_out models of $folder" "not with --whole"
done

summary
