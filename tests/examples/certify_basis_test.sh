#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The example that certifies bases, as a user runs it: verdicts and violations worked out by hand, in the formats of
# other solvers; singular bases; what is wrong with files; exit codes. That bases of CLP and GLPK are read right, and
# get the exact verdict, is tested in tests/simplex/bas_test.cpp.
# Usage: certify_basis_test.sh [PROGRAM]
set -u
example=certify_basis seconds=60
# shellcheck source=../support/example.sh
. "$(dirname "${BASH_SOURCE[0]}")/../support/example.sh"
bases=$root/examples/bases

# finds CODE VERDICT OBJECTIVE PRIMAL WORST DUAL WORST MODEL BASIS...: the verdict and both violations, with names.
finds() {
    local code=$1 verdict=$2 objective=$3 primal=$4 primal_worst=$5 dual=$6 dual_worst=$7
    shift 7
    exits "$code" "$@" --json || return
    [ "$(field verdict)" = "$verdict" ] || { echo "$* is $(field verdict), not $verdict" >>err && return 1; }
    near objective "$objective" 1e-12 && near primal_violation "$primal" 1e-12 && near dual_violation "$dual" 1e-12 || return
    [ "$(field primal_worst) $(field dual_worst)" = "$primal_worst $dual_worst" ] ||
        { echo "the worst are $(field primal_worst) and $(field dual_worst)" >>err && return 1; }
}

finds 0 optimal 125 0 null 0 null "$models/transport.mps" "$bases/transport.bas"
result "an optimal basis" $?
finds 3 undecided 130 0 null 1 N1 "$models/transport.mps" "$bases/transport_early.bas"
result "one that is not: CITY1 costs 3, and N1 delivers for 2" $?
printf 'NAME\nENDATA\n' >slack.bas
finds 3 undecided 0 25 CITY2 0 null "$models/transport.mps" slack.bas
result "the basis of the rows delivers nothing" $?
# STEEL and POWER are used up: P1 = 1.6, P2 = 1.2, and ORDER, at least 4, is 2.8. More STEEL would cost 0.4.
printf ' XU P1 STEEL\n XU P2 POWER\nENDATA\n' >shortage.bas
finds 1 infeasible 2.8 1.2 ORDER 0.4 STEEL "$models/shortage.mps" shortage.bas && near margin 1.2 1e-12
result "a basis that proves infeasibility" $?
# SELL = 3 uses up CREDIT; BUY and SELL together leave it and STOCK as they are, and gain 2.
printf ' XU SELL CREDIT\nENDATA\n' >arbitrage.bas
finds 1 unbounded -9 0 null 2 BUY "$models/arbitrage.mps" arbitrage.bas
result "a basis that proves unboundedness" $?
# Two plants and two cities: a cycle.
printf ' XU N1 NEAR\n XU N2 FAR\n XL F1 CITY1\n XL F2 CITY2\nENDATA\n' >singular.bas
exits 3 "$models/transport.mps" singular.bas --json && [ "$(field verdict) $(field objective)" = "singular null" ] &&
    has 'gpuopt_simplex_set_basis: .*singular' err
result "a singular basis, with a variable in the message" $?

# The same basis as HiGHS writes it, by names and in the order of the model: N1, N2, N3, F1, F2, F3; NEAR, FAR, CITY1 to
# 3.
printf 'HiGHS_basis_file v2\nValid\n# Columns 6\nN1 1\nN2 0\nN3 1\nF1 1\nF2 1\nF3 0\n# Rows 5\nNEAR 2\nFAR 1\nCITY1 0\nCITY2 0\nCITY3 0\n' >v2.bas
printf 'HiGHS v1\nValid\n# Columns 6\n1 0 1 1 1 0\n# Rows 5\n2 1 0 0 0\n' >v1.bas
gzip -c "$bases/transport.bas" >packed.bas.gz
for file in v1.bas v2.bas packed.bas.gz; do
    finds 0 optimal 125 0 null 0 null "$models/transport.mps" $file
    result "the optimal basis in $file" $?
done

# A reduced cost of the wrong sign by 2^-20: with CITY1 at 3, N1 for 3 - 2^-20 instead of 2.
sed 's/N1        COST               2.0/N1        COST  2.9999990463256836/' "$models/transport.mps" >almost.mps
finds 3 undecided 130 0 null 9.5367431640625e-07 N1 almost.mps "$bases/transport_early.bas" &&
    finds 0 optimal 130 0 null 9.5367431640625e-07 N1 almost.mps "$bases/transport_early.bas" --tolerance 1e-6
result "--tolerance" $?

exits 0 "$models/transport.mps" "$bases/transport.bas" && has '^optimal$' out && has '^objective 125$' out
result "in words" $?
exits 3 "$models/transport.mps" "$bases/transport_early.bas" && has 'at most 1, of column N1$' out
result "the worst column in words" $?
exits 1 "$models/shortage.mps" shortage.bas && has 'at most 1.2, by row ORDER$' out && has "margin is 1.2, its residual 0" out
result "the worst row and the proof in words" $?

printf 'NAME\n XU N1 NEAR\n XL N3 CITY9\nENDATA\n' >wrong.bas
exits 2 "$models/transport.mps" wrong.bas && has '^wrong.bas:3: the model has no such column or row: <CITY9>$' err
result "no such row: exit status 2, with the line" $?
exits 2 "$models/transport.mps" nothing.bas && has '^nothing.bas: cannot be opened' err
result "no such file: exit status 2" $?
exits 2 nothing.mps "$bases/transport.bas" && has '^nothing.mps' err
result "no such model: exit status 2" $?
exits 2 "$models/transport.mps" && has '^no basis' err
result "no basis: exit status 2" $?
exits 2 "$models/transport.mps" "$bases/transport.bas" third && has '^two models' err
result "three files: exit status 2" $?
exits 2 "$models/transport.mps" "$bases/transport.bas" --tolerance 0 && has '--tolerance: bad value' err
result "a bad option: exit status 2" $?
summary
