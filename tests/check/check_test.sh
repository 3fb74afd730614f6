#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The checker of answers to linear programs: it accepts what solve_lp writes with --certificate; broken answers are
# refused. With GPUOPT_TEST_DATA, public linear programs: what the library calls optimal or infeasible is so in
# rationals. Prints what was proven, and how long the checker took.
# Usage: check_test.sh [--whole] [FOLDER]   with the examples, built; --whole: all models of netlib, not the quick ones
set -u
whole=
if [ "${1:-}" = --whole ]; then whole=1 && shift; fi
# shellcheck source=checker.sh
. "$(dirname "${BASH_SOURCE[0]}")/checker.sh"

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
