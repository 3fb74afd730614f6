#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The example that solves mixed-integer programs, as a user runs it: optima worked out by hand, by enumeration for
# random integer programs (small_mip.awk), and by GLPK's branch and cut for random mixed ones (mixed_mip.awk, through
# the example branch_glpk); the limit; exit codes. With GPUOPT_TEST_DATA and --all, published optima.
# Usage: solve_mip_test.sh [PROGRAM]
set -u
example=solve_mip seconds=300 backend=
# shellcheck source=../support/example.sh
. "$(dirname "${BASH_SOURCE[0]}")/../support/example.sh"
# shellcheck source=../support/solve_mip.sh
. "$root/tests/support/solve_mip.sh"
peer=$(dirname "$program")/branch_glpk

solved 0 optimal 270 "$models/lotsizing.mps" && solved 0 optimal -1 "$models/staffing.mps" &&
    solved 1 infeasible null "$models/overbooked.mps" && solved 0 optimal 43 "$models/contract.mps" --backend cpu &&
    solved 1 infeasible null "$models/shortage.mps" && solved 0 optimal 125 "$models/transport.mps"
result "optima worked out by hand, and infeasible models" $?
solved 1 unbounded null "$models/arbitrage.mps"
result "an unbounded model" $?

# parity FREE-COST: three binaries of which 1.5 are 1, which propagation alone does not refute, and a column without
# bounds.
parity() {
    printf 'NAME m FREE\nROWS\n N cost\n E r\n G s\nCOLUMNS\n M M %s\n' "'MARKER' 'INTORG'" | sed "s/ M M 'MARKER'/ M 'MARKER'/"
    printf ' a r 2 s 1\n b r 2 s 1\n c r 2 s 1\n'
    printf " N 'MARKER' 'INTEND'\n"
    printf ' x cost %s\nRHS\n rhs r %s\nBOUNDS\n BV b a\n BV b b\n BV b c\n FR b x\nENDATA\n' "$1" "$2"
}
parity 1 3 >odd.mps && solved 1 infeasible null odd.mps
result "the relaxation is unbounded, but there is no integer point" $?
parity 1 4 >even.mps && solved 1 unbounded null even.mps
result "the relaxation is unbounded, and there is one" $?

# beside SEED: the random mixed program, by GLPK, too. It may say infeasible or unbounded where a model is both for the
# relaxation; and for such a relaxation it does not look for an integer point.
beside() {
    local status objective threads=$((1 + 2 * ($1 % 2)))
    awk -v seed="$1" -v file=model.mps -f "$root/tests/examples/mixed_mip.awk" || return
    "$peer" model.mps --without --json >out 2>err
    status=$(field status) objective=$(field objective)
    case $status in
    optimal) solved 0 optimal "$objective" model.mps --threads $threads && optima=$((optima + 1)) ;;
    infeasible) solved 1 infeasible null model.mps --threads $threads && infeasible=$((infeasible + 1)) ;;
    unbounded) exits 1 model.mps --json --threads $threads && unbounded=$((unbounded + 1)) ;;
    *) echo "GLPK says $status" >>err && return 1 ;;
    esac
}
many=40
runs_all && many=100
all $many enumerated
result "$many random integer programs: what enumeration finds" $?
if [ -x "$peer" ]; then
    optima=0 infeasible=0 unbounded=0
    all $((3 * many)) beside
    result "$((3 * many)) random mixed programs: what GLPK finds" $?
    [ $optima -ge $many ] && [ $infeasible -ge 5 ] && [ $unbounded -ge 3 ]
    result "among them $optima optima, $infeasible infeasible and $unbounded unbounded ones" $?
else
    skip "random mixed programs beside GLPK" "no $peer"
fi

# large SEED: the random program of large_mip.awk, in which a unit decides beside 10^8 to 10^12.
large() {
    local answer
    answer=$(awk -v seed="$1" -v file=model.mps -f "$root/tests/examples/large_mip.awk") || return
    case $answer in
    infeasible) solved 1 infeasible null model.mps && infeasible=$((infeasible + 1)) ;;
    *) solved 0 optimal "${answer#* }" model.mps ;;
    esac
}
infeasible=0
all $((3 * many)) large && [ $infeasible -ge $many ]
result "$((3 * many)) random integer programs with large numbers: what enumeration finds, $infeasible infeasible" $?

# rows LOW HIGH ROW...: integers x0, x1, ... in LOW to HIGH, and rows: a letter (E, L, G), a side, entries of x0, x1,
# ...
rows() {
    printf '%s\n' "$@" | awk '
        NR <= 2 { bound[NR] = $1; next }
        { kind[NR] = $1; side[NR] = $2; for (j = 3; j <= NF; j++) a[NR, j - 3] = $j; if (NF - 2 > cols) cols = NF - 2 }
        END {
            print "NAME rows FREE\nROWS\n N cost"
            for (i = 3; i <= NR; i++) print " " kind[i] " r" i
            print "COLUMNS\n M1 '"'MARKER' 'INTORG'"'"
            for (j = 0; j < cols; j++) {
                print " x" j " cost 1"
                for (i = 3; i <= NR; i++) if (a[i, j]) print " x" j " r" i " " a[i, j]
            }
            print " M2 '"'MARKER' 'INTEND'"'\nRHS"
            for (i = 3; i <= NR; i++) print " rhs r" i " " side[i]
            print "BOUNDS"
            for (j = 0; j < cols; j++) print " LO b x" j " " bound[1] "\n UP b x" j " " bound[2]
            print "ENDATA"
        }' >rows.mps
}
# refuted LOW HIGH ROW...: infeasible without a search, which would take for ever.
refuted() { rows "$@" && solved 1 infeasible null rows.mps --time 20 && within nodes 0 10; }
refuted 0 500000000 "E 1000000000 3 6" && refuted 0 10000 "E 1 6 -9 15" && refuted -1e30 1e30 "E 1 2 -2" &&
    refuted 0 1e9 "E 1000000.25 0.5 1.5" && refuted 0 1e9 "E 7000000001 14000000000 -21000000000"
result "a side that is no multiple of the entries' common divisor" $?
refuted 0 1e9 "G 1000000001 1000 3000" "L 1000000999 1000 3000" && refuted 0 1e9 "G 11 10 -20 30" "L 19 10 -20 30"
result "no multiple between two sides" $?
refuted 0 1e8 "E 1 1 1 2" "E 0 1 -1 0 2" && refuted -1e9 1e9 "E 1 1 2 3" "E 3 2 1 3" &&
    refuted 0 1e9 "E 0 3 5 7 1" "E 2 1 -1 1 -3" "E 1 4 2 6 2"
result "equations of which only a sum misses its side" $?
rows 0 1e9 "E 1000000 3 5" "E 0 1 -1" && solved 0 optimal 250000 rows.mps && rows 0 1e9 "G 1000000001 1000 3000" &&
    solved 0 optimal 333334 rows.mps
result "and such rows with solutions" $?

# split ROWS COLS: equations over binaries, whose sides are half of the sums (market split), and how far they are
# missed.
split() {
    awk -v rows="$1" -v cols="$2" 'BEGIN {
        state = 1
        print "NAME split FREE\nROWS\n N cost"
        for (i = 0; i < rows; i++) print " E r" i
        print "COLUMNS\n M1 '"'MARKER' 'INTORG'"'"
        for (j = 0; j < cols; j++) for (i = 0; i < rows; i++) {
            state = (state * 16807) % 2147483647; a = state % 100; sum[i] += a
            print " x" j " r" i " " a
        }
        print " M2 '"'MARKER' 'INTEND'"'"
        for (i = 0; i < rows; i++) print " s" i " cost 1 r" i " 1\n t" i " cost 1 r" i " -1"
        print "RHS"
        for (i = 0; i < rows; i++) print " rhs r" i " " int(sum[i] / 2)
        print "BOUNDS"
        for (j = 0; j < cols; j++) print " BV b x" j
        print "ENDATA"
    }' >split.mps
}
if [ -x "$peer" ]; then
    split 3 18
    "$peer" split.mps --without --json >out 2>err
    optimum=$(field objective)
    by_threads() { solved 0 optimal "$optimum" split.mps --threads "$1" && within nodes 200 1e6; }
    by_threads 1 && by_threads 2 && by_threads 5
    result "hundreds of nodes by 1, 2 and 5 threads: what GLPK finds" $?
else
    skip "a larger tree beside GLPK" "no $peer"
fi
# depots: customers have random distances from depots, which cost something to open and serve all or none.
depots() {
    awk -v depots=20 -v customers=30 'BEGIN {
        state = 1
        print "NAME depots FREE\nROWS\n N cost"
        for (j = 0; j < depots; j++) print " L open" j
        for (i = 0; i < customers; i++) print " E serve" i
        print "COLUMNS\n M1 '"'MARKER' 'INTORG'"'"
        for (j = 0; j < depots; j++) print " y" j " cost 300 open" j " -" customers
        print " M2 '"'MARKER' 'INTEND'"'"
        for (j = 0; j < depots; j++) for (i = 0; i < customers; i++) {
            state = (state * 16807) % 2147483647
            print " x" j "_" i " cost " state % 100 " open" j " 1\n x" j "_" i " serve" i " 1"
        }
        print "RHS"
        for (i = 0; i < customers; i++) print " rhs serve" i " 1"
        print "BOUNDS"
        for (j = 0; j < depots; j++) print " BV b y" j
        print "ENDATA"
    }' >depots.mps
}
if [ -x "$peer" ]; then
    depots
    "$peer" depots.mps --without --cuts --json >out 2>err
    optimum=$(field objective)
    solved 0 optimal "$optimum" depots.mps && within nodes 1 100
    result "cuts leave few nodes of a model that has hundreds without: what GLPK finds" $?
else
    skip "cuts beside GLPK" "no $peer"
fi
split 5 50 # not to be had in a second
exits 3 split.mps --time 1 --json && [ "$(field status)" = feasible ] && within bound 0 0 && within objective 1 2000 &&
    within seconds 0.5 10
result "stopped in time, with a solution and a bound" $?
exits 3 split.mps --time 1 --json --threads 3 && [ "$(field status)" = feasible ] && within bound 0 0 &&
    within objective 1 2000 && within seconds 0.5 10
result "three threads stopped in time" $?
exits 0 "$models/staffing.mps" --solution solution && awk 'NF != 2 || $2 != int($2) { exit 1 } END { exit NR == 0 }' solution
result "the solution in a file: integers" $?
exits 1 "$models/overbooked.mps" --solution none && [ ! -e none ] && exits 2 "$models/staffing.mps" --solution no/where
result "no solution: no file; a file that cannot be written: exit status 2" $?
exits 0 "$models/lotsizing.mps" && has '^optimal, objective 270, bound 270; ' out
result "in words" $?
exits 2 nothing.mps && has '^nothing.mps' err
result "no such file: exit status 2" $?
exits 2 "$models/lotsizing.mps" --time 0 && has '--time: bad value' err &&
    exits 2 "$models/lotsizing.mps" --threads 257 && has '--threads: bad value' err
result "a bad option: exit status 2" $?

# published NAME OPTIMUM
published() {
    xz -dc "$GPUOPT_TEST_DATA/miplib/$1.mps.xz" >"$1.mps" || return
    if [ "$2" = infeasible ]; then solved 1 infeasible null "$1.mps"; else solved 0 optimal "$2" "$1.mps"; fi
}
if [ -d "${GPUOPT_TEST_DATA:-}/miplib" ] && runs_all; then
    while read -r name optimum; do
        published "$name" "$optimum"
        result "$name: the published optimum" $?
    done <<'END'
flugpl 1201500
p0033 3089
bell5 8966406.49152
egout 568.1007
enigma 0
lseu 1120
gt2 21166
stein27 18
mod008 307
p0201 7615
neos859080 infeasible
END
else
    skip "published optima" "only with --all and GPUOPT_TEST_DATA"
fi
summary
