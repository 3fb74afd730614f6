#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Groups whose ranks are processes: the tests of groups with transports/gpuopt_mpi.c, ranks that are killed, and the
# programs of examples/mpi. Built with mpicc, without Bazel, as a caller would.
# Usage: mpi_test.sh
# Runs with: --all
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
for program in mpicc mpirun; do
    command -v $program >/dev/null && continue
    leave "groups over MPI" "no $program; Debian: libopenmpi-dev openmpi-bin"
done
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }
cd "$work" || exit 1

launch=(mpirun)
is_open_mpi() { mpirun --version 2>/dev/null | grep -q 'Open MPI'; }
if is_open_mpi; then launch+=(--allow-run-as-root --oversubscribe); fi
# ranks COUNT PROGRAM ARGUMENT...
ranks() { timeout 120 "${launch[@]}" -n "$@"; }

flags=(-std=c11 -O0 -g -Wall -Wextra -Wpedantic -Werror -I"$root")
check "the library" cc "${flags[@]}" -c "$root/gpuopt_impl/gpuopt.c" -o gpuopt.o
check "transports/gpuopt_mpi.c" mpicc "${flags[@]}" -c "$root/transports/gpuopt_mpi.c" -o mpi.o
for name in support backends; do
    check "tests/support/$name.c" cc "${flags[@]}" -c "$root/tests/support/$name.c" -o $name.o
done

# Five processes, of which a test uses as many as it names.
for test in calls refused lost; do
    check "$test: built" mpicc "${flags[@]}" "$root/tests/group/${test}_test.c" "$root/tests/group/mpi/ranks.c" "$root/tests/group/rank.c" \
        mpi.o support.o backends.o gpuopt.o -lcmocka -lm -o $test || continue
    check "$test, with ranks that are processes" ranks 5 ./$test cpu
done

# A tableau split over 1 to 4 processes; with the simplex tests' checks and models, whose generators are C++.
reading=(mip.c mps.c mps_model.c mps_scan.c mps_take.c names.c text.c lp_models.c lp_check.c) # of examples/io
split_built() {
    c++ -std=c++17 -O0 -I"$root" -I"$root/examples" -c "$root/examples/io/generate.cpp" -o generate.o || return 1
    mpicc "${flags[@]}" -D_GNU_SOURCE -I"$root/examples" "$root"/tests/group/{simplex_test,script,rank,mpi/ranks}.c \
        "$root"/tests/simplex/{answer,exact,exact_proof}.c "${reading[@]/#/$root/examples/io/}" generate.o mpi.o support.o \
        backends.o gpuopt.o -lcmocka -lgmp -lz -llzma -lstdc++ -lm -o simplex
}
check "simplex: built" split_built &&
    check "simplex, with ranks that are processes" env GPUOPT_TEST_FEW=1 timeout 120 "${launch[@]}" -n 4 ./simplex cpu

# Models split over 1 to 5 processes.
if check "elimination: built" mpicc "${flags[@]}" -D_GNU_SOURCE "$root"/tests/elimination/{model,brute,handle}.c \
    "$root"/tests/group/{elimination_test,rank,mpi/ranks}.c mpi.o support.o backends.o gpuopt.o -lcmocka -lm -o elimination; then
    check "elimination, with ranks that are processes" env GPUOPT_TEST_FEW=1 timeout 120 "${launch[@]}" -n 5 ./elimination cpu
fi

# notices CALL: three ranks report that they lost the fourth, not much later than the limit of 3 s; the first of them
# has waited for that long, and those that got the message may have waited for less.
notices() {
    ranks 4 --enable-recovery ./killed "$1" 3 >out 2>err
    cat out err
    [ "$(grep -c 'exchange 11, a rank of the group is lost' out)" -eq 3 ] &&
        awk '/^rank/ && $(NF - 1) > longest { longest = $(NF - 1) } END { exit longest < 2.7 || longest > 8 }' out
}
if is_open_mpi; then
    check "killed: built" mpicc "${flags[@]}" "$root/tests/group/mpi/killed.c" mpi.o gpuopt.o -lm -o killed
    for call in all_reduce:0 receive:1; do
        check "a rank is killed, the others are in ${call%:*}" notices "${call#*:}"
    done
else
    skip "ranks that are killed" "this mpirun is not Open MPI's, whose --enable-recovery keeps the others alive"
fi

# ---- DPOP ----

built() { # COMPILER FILE: by the line in the opening comment, without optimisation, and with the library from above
    local line
    line=$(awk -v compiler="$1" '$0 ~ "^ \\* +" compiler " " { on = 1 }
        on { sub(/^ \* */, ""); more = sub(/\\$/, ""); printf "%s ", $0; if (!more) exit }' "$root/$2")
    line=${line/ -O2 / -O0 } line=${line/gpuopt_impl\/gpuopt.c/$work\/gpuopt.o}
    (cd "$root" && bash -c "${line/ -o / -o $work/}")
}
field() { grep -o "\"$1\": [^,}]*" "$2" | head -n 1 | sed 's/^[^:]*: //'; }
# as_simulated MODEL OPTION...: with a process for each agent, the bounds, messages and bytes are those of the
# simulation.
as_simulated() {
    local name
    ./solve_wcsp "$@" --agents each --backend cpu --json >simulated || return 1
    ranks "$(field agents simulated)" ./dpop_mpi "$@" --json >real || return 1
    for name in status lower_bound agents parts util_messages value_messages util_bytes value_bytes message_bytes; do
        [ "$(field $name simulated)" = "$(field $name real)" ] ||
            { echo "$name is $(field $name real) instead of $(field $name simulated)" && return 1; }
    done
    same_upper
}
same_upper() { [ "$(field upper_bound simulated | sed s/null//)" = "$(field upper_bound real)" ]; }
# as_central COUNT MODEL OPTION...: so many processes find the same optimum as one without agents.
as_central() {
    ./solve_wcsp "${@:2}" --backend cpu --json >simulated && ranks "$1" ./dpop_mpi "${@:2}" --json >real &&
        [ "$(field lower_bound simulated)" = "$(field lower_bound real)" ] && same_upper && grep -q '"optimal"' real
}
refuses() { # WORD ARGUMENT...
    ! ranks 3 ./dpop_mpi "${@:2}" >out 2>err && grep -q -- "$1" err
}
exams=$root/examples/models/exams.wcsp
if check "dpop_mpi is built by the line in its comment" built mpicc examples/mpi/dpop_mpi.c &&
    check "solve_wcsp is built" built cc examples/solve_wcsp.c; then
    for model in "$exams" random:9:4:0.5:1 grid:3:3:1 scalefree:8:4:1; do
        check "dpop_mpi ${model##*/}: as simulated" as_simulated "$model"
        check "dpop_mpi ${model##*/} --z 2: as simulated" as_simulated "$model" --z 2
    done
    for count in 1 2 3 4; do
        check "dpop_mpi on $count processes: the optimum" as_central $count random:18:6:0.3:1
        check "dpop_mpi on $count processes: a file's optimum" as_central $count "$exams"
    done
    check "dpop_mpi: NCCL in a program without CUDA" refuses "built without CUDA" "$exams" --transport nccl
    check "dpop_mpi: a model that is not there" refuses "cannot be opened" nothing.wcsp
    check "dpop_mpi: real costs" as_central 3 "$root/examples/models/sprinkler.uai"
fi

# ---- Knapsacks ----

# shares COUNT MODEL OPTION...: so many processes find the optimum of one search.
shares() {
    ./solve_knapsack "${@:2}" --backend cpu --json >one && ranks "$1" ./solve_knapsack_mpi "${@:2}" --round 100 --json \
        >real &&
        [ "$(field optimum one)" = "$(field lower real)" ]
}
moves() { [ "$(field moves real)" -gt 0 ]; }
if check "solve_knapsack_mpi is built by the line in its comment" built mpicc examples/mpi/solve_knapsack_mpi.c &&
    check "solve_knapsack is built" built cc examples/solve_knapsack.c; then
    check "solve_knapsack_mpi: a file" shares 3 "$root/examples/models/luggage.knapsack"
    for count in 1 2 4; do
        check "solve_knapsack_mpi on $count processes" shares $count strong:60:1000:1 --search breadth
    done
    check "nodes went from process to process" moves
fi

# ---- What a group adds to MPI ----

tables() { ranks 3 ./mpi_bench 3 >out && [ "$(grep -c % out)" -eq 11 ]; }
check "mpi_bench is built by the line in its comment" built mpicc tests/bench/mpi_bench.c &&
    check "mpi_bench has a line for each size" tables
summary
