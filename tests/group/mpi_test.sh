#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Groups whose ranks are processes: the tests of groups with transports/gpuopt_mpi.c, ranks that are killed, and
# examples/dpop_mpi.c. Built with mpicc, without Bazel, as a host would.
# Usage: mpi_test.sh
# Runs with: --all
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
for program in mpicc mpirun; do
    command -v $program >/dev/null && continue
    skip "groups over MPI" "no $program; Debian: libopenmpi-dev openmpi-bin"
    summary
    exit
done
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }
cd "$work" || exit 1

launch=(mpirun)
is_open_mpi() { mpirun --version 2>/dev/null | grep -q 'Open MPI'; }
if is_open_mpi; then launch+=(--allow-run-as-root --oversubscribe); fi
# ranks COUNT PROGRAM ARGUMENT...
ranks() { timeout 120 "${launch[@]}" -n "$@"; }

flags=(-std=c11 -O1 -g -Wall -Wextra -Wpedantic -Werror -I"$root")
check "the library" cc "${flags[@]}" -c "$root/gpuopt_impl/gpuopt.c" -o gpuopt.o
check "transports/gpuopt_mpi.c" mpicc "${flags[@]}" -c "$root/transports/gpuopt_mpi.c" -o mpi.o
for name in support backends; do
    check "tests/support/$name.c" cc "${flags[@]}" -c "$root/tests/support/$name.c" -o $name.o
done

# Five processes, of which a test uses as many as it says.
for test in calls refused lost; do
    check "$test: built" mpicc "${flags[@]}" "$root/tests/group/${test}_test.c" "$root/tests/group/ranks_mpi.c" \
        mpi.o support.o backends.o gpuopt.o -lcmocka -lm -o $test || continue
    check "$test, with ranks that are processes" ranks 5 ./$test cpu
done

# notices CALL: three ranks say that they lost the fourth, after the limit of 1 s and not much later.
notices() {
    ranks 4 --enable-recovery ./killed "$1" 1 >out 2>err
    cat out err
    [ "$(grep -c 'exchange 11, a rank of the group is lost' out)" -eq 3 ] &&
        awk '/^rank/ && ($(NF - 1) < 0.9 || $(NF - 1) > 6) { late = 1 } END { exit late }' out
}
if is_open_mpi; then
    check "killed: built" mpicc "${flags[@]}" "$root/tests/group/killed.c" mpi.o gpuopt.o -lm -o killed
    for call in all_reduce:0 broadcast:1 all_gather:2 receive:3; do
        check "a rank is killed, the others are in ${call%:*}" notices "${call#*:}"
    done
else
    skip "ranks that are killed" "this mpirun is not Open MPI's, whose --enable-recovery keeps the others alive"
fi
summary
