#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The example that propagates in GLPK's branch and cut, as a user runs it: optima worked out by hand, and by enumeration
# for random models (small_mip.awk), with propagation and without; each reason that it logs, checked against the model
# by awk; exit codes. With GPUOPT_TEST_DATA and --all, published optima.
# Usage: branch_glpk_test.sh [PROGRAM]
set -u
example=branch_glpk seconds=300
# shellcheck source=../support/example.sh
. "$(dirname "${BASH_SOURCE[0]}")/../support/example.sh"

# solved CODE STATUS OBJECTIVE MODEL OPTION...: objective "null": none.
solved() {
    local code=$1 status=$2 objective=$3
    shift 3
    exits "$code" "$@" --json || return
    [ "$(field status)" = "$status" ] || { echo "$* is $(field status), not $status" >>err && return 1; }
    if [ "$objective" = null ]; then [ "$(field objective)" = null ]; else near objective "$objective" 1e-6; fi
}

for options in "" "--cuts" "--without" "--without --cuts" "--backend cpu"; do
    # shellcheck disable=SC2086 # several options
    solved 0 optimal 270 "$models/lotsizing.mps" $options && solved 0 optimal -1 "$models/staffing.mps" $options &&
        solved 1 infeasible null "$models/overbooked.mps" $options && solved 0 optimal 43 "$models/contract.mps" $options
    result "optima worked out by hand: ${options:-no option}" $?
done

# reasons MODEL: the reasons on stdin hold in the model of small_mip.awk: the row, with the bounds that are given and
# the model's for all other columns, implies the bound, or has no solution. Prints how many there were of each.
reasons() {
    awk -v tolerance=1e-6 '
        function bad(what) { print "does not hold: " what ": " $0; failed = 1; exit 1 }
        # The least (upper = 0) or greatest activity of the row without a column.
        function activity(row, upper, without,    j, total) {
            for (j in cols) if (j != without) total += a[row, j] * ((a[row, j] > 0) == upper ? ub[j] : lb[j])
            return total
        }
        NR == FNR && /^[A-Z]/ { section = $1; next }
        NR == FNR && section == "ROWS" { kind[$2] = $1 }
        NR == FNR && section == "COLUMNS" && !/MARKER/ { a[$2, $1] = $3; cols[$1] }
        NR == FNR && section == "RHS" { rhs[$2] = $3 }
        NR == FNR && section == "BOUNDS" { if ($1 == "LO") low[$3] = $4; else high[$3] = $4 }
        NR == FNR { next }
        !/^node/ { next }
        {
            crossing = $0 ~ / by bounds that cross of /
            refuted = $3 == "infeasible"
            split($0, parts, " with ")
            words = split(parts[1], word, " ")
            row = word[word[words - 1] == "CUTOFF" ? words - 1 : words]
            for (j in cols) { lb[j] = low[j]; ub[j] = high[j] }
            premises = split(parts[2], premise, ", ")
            for (k = 1; k <= premises; k++) {
                split(premise[k], p, " ")
                if (p[2] == ">=") { if (p[3] > lb[p[1]]) lb[p[1]] = p[3] }
                else if (p[3] < ub[p[1]]) ub[p[1]] = p[3]
            }
            if (crossing) {
                if (lb[row] <= ub[row] + tolerance) bad("bounds cross")
                count["crossing"]++
                next
            }
            if (row == "CUTOFF") { name = "cost"; kind[name] = "L"; rhs[name] = word[words] } else name = row
            if (refuted) {
                if (!(kind[name] != "G" && activity(name, 0, "") > rhs[name]) && !(kind[name] != "L" && activity(name, 1, "") < rhs[name]))
                    bad("row has no solution")
                count[row == "CUTOFF" ? "refuted by the cutoff" : "refuted"]++
                next
            }
            column = $3; upper = $4 == "<="; bound = $5; held = 0
            for (s = 0; s < 2; s++) { # s = 0: the right-hand side with the least activity
                if (s ? kind[name] == "L" : kind[name] == "G") continue
                if (!a[name, column] || (a[name, column] > 0) != (upper != s)) continue
                implied = (rhs[name] - activity(name, s, column)) / a[name, column]
                if (upper ? int(implied + 1000 + tolerance) - 1000 <= bound : -(int(1000 - implied + tolerance) - 1000) >= bound) held = 1
            }
            if (!held) bad("row implies the bound")
            count[row == "CUTOFF" ? "implied by the cutoff" : "implied"]++
        }
        END {
            if (failed) exit 1
            for (name in count) print count[name], name
        }' "$1" -
}

# enumerated SEED: the random model, by all options; then its reasons.
enumerated() {
    local answer code=0 status options
    answer=$(awk -v seed="$1" -v file=model.mps -f "$root/tests/examples/small_mip.awk" | head -n 1) || return
    status=${answer% *}
    [ "$status" = optimal ] || [ "$status" = optimum ] || code=1
    for options in "" "--cuts" "--without"; do
        # shellcheck disable=SC2086 # one option
        if [ $code -eq 0 ]; then solved 0 optimal "${answer#* }" model.mps $options; else solved 1 infeasible null model.mps $options; fi || return
    done
    exits $code model.mps --log && reasons model.mps <err >>counted
}
all_enumerated() {
    local seed
    : >counted
    for seed in $(seq 1 "$1"); do
        enumerated "$seed" || { echo "seed $seed" >>err && tail -n 1 counted >>err && return 1; }
    done
}
count_of() { awk -v name="$1" '{ n = $1; $1 = ""; if ($0 == " " name) sum += n } END { print sum + 0 }' counted; }
many=40
runs_all && many=400
all_enumerated $many
result "$many random models: the optimum that enumeration finds; every reason holds in the model" $?
for name in "implied" "implied by the cutoff" "refuted"; do
    [ "$(count_of "$name")" -ge 3 ]
    result "among the reasons some of the kind '$name': $(count_of "$name")" $?
done

exits 0 "$models/lotsizing.mps" --log && has '^node 1: RUN1 >= 1 by row SETUP1 with MAKE1 >= 30$' err
result "a reason in words" $?
exits 0 "$models/lotsizing.mps" && has 'propagation on cpu: 6 bounds tightened' out && has '^optimal, objective 270' out
result "says in words what it did" $?
printf 'NAME none FREE\nROWS\n N cost\n L row\nCOLUMNS\nRHS\n rhs cost -2.5 row 1\nENDATA\n' >none.mps
solved 0 optimal 2.5 none.mps && solved 0 optimal 2.5 none.mps --without
result "a model without columns" $?
# far SIDE: 3x + 6y + z = SIDE, integers up to 5 * 10^8. Branching on x and y alone moves their bounds by a unit each.
far() {
    printf 'NAME far FREE\nROWS\n N cost\n E r\nCOLUMNS\n M1 %s\n x cost 1 r 3\n y cost 1 r 6\n z r 1e-9\n M2 %s\nRHS\n rhs r %s\n' \
        "'MARKER' 'INTORG'" "'MARKER' 'INTEND'" "$1"
    printf 'BOUNDS\n UP b x 500000000\n UP b y 500000000\n UP b z 1\nENDATA\n'
}
far 1000000000 | sed 's/ z r 1e-9/ z cost 1/' >far.mps && solved 1 infeasible null far.mps
result "a side that is no multiple of the entries' common divisor" $?
far 1000000000 >far.mps && { solved 1 infeasible null far.mps --seconds 3 || solved 3 limit null far.mps --seconds 3; } && [ ! -s err ]
result "a trail that becomes full is no error" $?
exits 0 "$models/staffing.mps" --solution solution && awk 'NF != 2 || $2 != int($2) { exit 1 } END { exit NR == 0 }' solution
result "the solution in a file: integers" $?
exits 2 nothing.mps && has '^nothing.mps' err
result "no such file: exit status 2" $?
exits 2 model.mps --seconds no && has '--seconds: bad value' err
result "a bad option: exit status 2" $?

# published NAME OPTIMUM: with propagation and without.
published() {
    xz -dc "$GPUOPT_TEST_DATA/miplib/$1.mps.xz" >"$1.mps" && solved 0 optimal "$2" "$1.mps" --cuts --seconds 250 &&
        solved 0 optimal "$2" "$1.mps" --cuts --without --seconds 250
}
if [ -d "${GPUOPT_TEST_DATA:-}/miplib" ] && runs_all; then
    while read -r name optimum; do
        published "$name" "$optimum"
        result "$name: the published optimum" $?
    done <<'END'
flugpl 1201500
p0033 3089
egout 568.101
enigma 0
lseu 1120
stein27 18
mod008 307
p0201 7615
END
else
    skip "published optima" "only with --all and GPUOPT_TEST_DATA"
fi
summary
