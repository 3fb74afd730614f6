#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The example that probes binaries, as a user runs it: counts worked out by hand, and by enumeration for random models
# (small_mip.awk); the same with any number of threads; exit codes.
# Usage: probe_mps_test.sh [PROGRAM]
set -u
example=probe_mps seconds=60
# shellcheck source=../support/example.sh
. "$(dirname "${BASH_SOURCE[0]}")/../support/example.sh"

# counts: what the JSON in out says, as small_mip.awk says it.
counts() {
    local name
    for name in binaries probes infeasible fixings implications equivalences; do printf ' %s %s' $name "$(field $name)"; done
}

# model ROW...: three binaries a, b, c and a row "TYPE a b c SIDE" each, as a file named model.mps.
model() {
    printf '%s\n' "$@" | awk '
        { kind[NR] = $1; for (j = 1; j <= 3; j++) val[NR, j] = $(j + 1); side[NR] = $5 }
        END {
            print "NAME m FREE\nROWS\n N cost"
            for (i = 1; i <= NR; i++) print " " kind[i] " r" i
            print "COLUMNS\n M1 '"'MARKER' 'INTORG'"'"
            for (j = 1; j <= 3; j++) {
                name = substr("abc", j, 1)
                print " " name " cost 1"
                for (i = 1; i <= NR; i++) if (val[i, j]) print " " name " r" i " " val[i, j]
            }
            print " M2 '"'MARKER' 'INTEND'"'\nRHS"
            for (i = 1; i <= NR; i++) print " rhs r" i " " side[i]
            print "ENDATA"
        }' >model.mps
}

# finds CODE COUNTS: of model.mps.
finds() {
    exits "$1" model.mps --json || return
    [ "$(counts)" = " $2" ] || { echo "not $2" >>err && return 1; }
}

model "L 1 1 1 1"
finds 0 "binaries 3 probes 6 infeasible 0 fixings 0 implications 6 equivalences 0"
result "at most one of three: each excludes two" $?
model "E 1 -1 0 0" "E 1 0 1 1"
finds 0 "binaries 3 probes 6 infeasible 0 fixings 0 implications 12 equivalences 6"
result "a = b = 1 - c: twelve implications, six equivalences" $?
model "L 1 -1 0 0" "L 1 1 0 1"
finds 0 "binaries 3 probes 6 infeasible 1 fixings 1 implications 2 equivalences 0"
result "a = 1 would want b to be both" $?
model "L 1 -1 0 0" "G 1 1 0 1"
finds 0 "binaries 3 probes 6 infeasible 1 fixings 1 implications 2 equivalences 0"
result "b = 0 would want a to be both" $?
model "L 1 1 0 1" "L 1 -1 0 0" "G 1 1 0 1" "G 1 -1 0 0"
finds 1 "binaries 3 probes 6 infeasible 4 fixings 0 implications 0 equivalences 0"
result "neither value of a or b: infeasible, which no row is by itself" $?

# enumerated SEED: the random model's counts, and those with three threads.
enumerated() {
    local want
    awk -v seed="$1" -v file=model.mps -f "$root/tests/examples/small_mip.awk" >answer || return
    read -r _ code want < <(grep '^exit' answer)
    finds "$code" "$want" || { sed 's/^/enumeration: /' answer >>err && return 1; }
    exits "$code" model.mps --json --threads 3 && [ "$(counts)" = " $want" ]
}
all_enumerated() {
    local seed
    infeasible=0 equivalences=0 fixings=0
    for seed in $(seq 1 "$1"); do
        enumerated "$seed" || { echo "seed $seed" >>err && return 1; }
        infeasible=$((infeasible + $(field infeasible)))
        equivalences=$((equivalences + $(field equivalences)))
        fixings=$((fixings + $(field fixings)))
    done
}
models=40
runs_all && models=120
all_enumerated $models
result "$models random models: as enumerated, with one thread and with three" $?
[ "$infeasible" -ge 20 ] && [ "$equivalences" -ge 20 ] && [ "$fixings" -ge 20 ]
result "among them infeasible probes, equivalences and fixings" $?

exits 0 gen:rand,300,300,8,1 --json && alone=$(counts) && exits 0 gen:rand,300,300,8,1 --json --threads 4 && [ "$(counts)" = "$alone" ]
result "a generated model: the same counts with one thread and with four" $?
exits 0 "$root/examples/models/lotsizing.mps" && has '0 binaries probed both ways on cpu' out
result "says in words that propagation has fixed all binaries" $?
exits 1 "$root/examples/models/overbooked.mps" --json && [ "$(field binaries)" = 0 ]
result "a model that propagation refutes: exit status 1" $?
exits 2 nothing.mps && has '^nothing.mps' err
result "no such file: exit status 2" $?
exits 2 model.mps --threads 0 && has '--threads: bad value' err
result "a bad option: exit status 2" $?
summary
