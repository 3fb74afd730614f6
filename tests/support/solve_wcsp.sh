# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What the scripts that test solve_wcsp share, after example.sh: checks of its answers and of the memory that it takes,
# and what a solution costs by the file itself.

# is NAME WANT [NAME WANT]...: of the JSON in out.
is() {
    while [ $# -gt 0 ]; do
        [ "$(field "$1")" = "$2" ] || { echo "$1 is $(field "$1") instead of $2" >>err && return 1; }
        shift 2
    done
}

# optimal WANT ARGUMENT...: proven; and the memory is what was predicted, to 1%. Agents' handles are created one by one:
# at most what was predicted.
optimal() {
    local want=$1
    shift
    exits 0 "$@" --json && is optimal true lower_bound "$want" upper_bound "$want" status optimal && as_predicted
}
as_predicted() {
    local least
    least=$(field peak_bytes_predicted | awk '{ print 0.99 * $1 }')
    [ -z "$(field agents)" ] || least=1
    within peak_bytes "$least" "$(field peak_bytes_predicted | awk '{ print 1.01 * $1 }')"
}
# bounded WANT ARGUMENT...: the optimum lies between the bounds, the upper one being the solution's own cost.
bounded() {
    local want=$1
    shift
    exits 0 "$@" --json && is policy mini-bucket && within lower_bound 0 "$want" &&
        { [ "$(field upper_bound)" = null ] || within upper_bound "$want" 1e300; } && as_predicted
}
# impossible ARGUMENT...
impossible() {
    exits 1 "$@" --json && is optimal false status infeasible lower_bound null upper_bound null
}

# cost MODEL.wcsp SOLUTION: what the solution costs, or "forbidden": the file is read as a stream of words.
cost() {
    awk '
        function word() { return w[++at] + 0 } # a number: as words, 10 would come before 4
        NR == FNR { value[$1] = $2; next }
        { for (k = 1; k <= NF; k++) w[++words] = $k }
        END {
            word(); n = word(); word(); functions = word(); top = word()
            for (k = 0; k < n; k++)
                if (value[k] == "" || value[k] < 0 || value[k] >= word()) { print "domain"; exit }
            for (f = 0; f < functions; f++) {
                arity = word(); shares = arity < 0; if (shares) arity = -arity
                key = ""; for (k = 0; k < arity; k++) key = key " " value[word()]
                c = word(); tuples = word()
                if (tuples < 0) c = (-tuples, key) in listed ? listed[-tuples, key] : standard[-tuples]
                else if (shares) standard[++tables] = c
                for (t = 0; t < tuples; t++) {
                    row = ""; for (k = 0; k < arity; k++) row = row " " word()
                    x = word(); if (row == key) c = x
                    if (shares) listed[tables, row] = x
                }
                total += c
            }
            print (total >= top ? "forbidden" : total + 0)
        }' "$2" "$1"
}
# costs MODEL.wcsp: the file named solution costs what the program said.
costs() {
    local found
    found=$(cost "$1" solution)
    [ "$found" = "$(field upper_bound)" ] || { echo "the solution costs $found" >>err && return 1; }
}
