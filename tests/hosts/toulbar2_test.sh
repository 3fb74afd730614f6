#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# gpuopt before toulbar2: what both find together is what toulbar2 finds alone, and the published optimum; a device that
# is lost; a model that toulbar2 need not search.
# Runs with: --all
# Usage: toulbar2_test.sh
set -u
# shellcheck source=build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"

need toulbar2 xz-utils zlib1g-dev liblzma-dev
if ! command -v toulbar2 >/dev/null; then
    leave "toulbar2" "it is not installed; Debian: toulbar2"
fi
options=(-std=c11 -O2 -Wall -Wextra -Werror -fopenmp "-I$root")
sources=("$root"/examples/hosts/toulbar2_reduce.c "$root"/examples/wcsp_greedy.c "$root"/examples/common.c
    "$root"/examples/interrupt.c "$root"/examples/io/c*.c "$root"/examples/io/global*.c "$root"/examples/io/graphical*.c
    "$root"/examples/io/names.c "$root"/examples/io/t*.c "$root"/examples/io/uai.c "$root"/examples/io/wcsp*.c)
build() { gcc "${options[@]}" -o "$@" "${sources[@]}" "$library" -lz -llzma -lm; }
check "the program" build toulbar2_reduce
check "the program with a device that can be lost" build toulbar2_reduce_lost "${lost[@]}"

field() { grep -o "\"$1\": [^,}]*" out | head -n 1 | sed 's/^[^:]*: //; s/"//g'; }

# solved STATUS COST MODEL OPTION...
solved() {
    local status=$1 cost=$2
    shift 2
    timeout 300 ./toulbar2_reduce "$@" --json >out 2>err
    if [ "$(field status)" != "$status" ] || [ "$(field cost)" != "$cost" ]; then wrong; fi
}
both() { solved "$@" && solved "$@" --without; }
# same MODEL: both ways find the same cost.
same() {
    timeout 300 ./toulbar2_reduce "$1" --without --json >out 2>err || wrong || return
    solved "$(field status)" "$(field cost)" "$@"
}

check "a model of our own" both optimal 4 "$root/examples/models/exams.wcsp"
searched=0
for seed in $(seq 1 6); do
    check "random model $seed: the cost that toulbar2 finds alone" same "random:20:5:0.4:$seed"
    check "grid $seed" same "grid:9:4:$seed" --memory 20000
    searched=$((searched + $(field searched)))
done
check "toulbar2 had to search in some of the grids" [ "$searched" -gt 0 ]
exits() {
    local want=$1
    shift
    "$@" >out 2>err
    [ $? -eq "$want" ] || wrong
}
check "no such program: exit status 2" exits 2 ./toulbar2_reduce random:20:5:0.4:1 --without --toulbar2 /nowhere/none
check "no such model: exit status 2" exits 2 ./toulbar2_reduce nothing.wcsp

# survives CALL STATUS: toulbar2 gets the model as it is, after one warning.
survives() {
    LOST_AT=$1 LOST_STATUS=$2 timeout 300 ./toulbar2_reduce_lost random:20:5:0.4:1 --json >out 2>err
    if [ "$(field cost)" != "$cost" ] || [ "$(grep -c 'gpuopt is not used' err)" -ne 1 ]; then wrong; fi
}
./toulbar2_reduce random:20:5:0.4:1 --without --json >out
cost=$(field cost)
check "a device that is lost at once" survives 1 device
check "a device that is lost later" survives 2 device
check "no memory" survives 2 memory

if [ -d "${GPUOPT_TEST_DATA:-}/wcsp" ]; then
    while read -r name want; do
        check "$name: the published optimum" both optimal "$want" "$GPUOPT_TEST_DATA/wcsp/$name"
    done <<'END'
small/example.wcsp 27
spot5/54.wcsp 37
spot5/29.wcsp 8059
coloring/GEOM40-2.wcsp 22
celar/CELAR6-SUB0.wcsp 159
END
    spot5=$GPUOPT_TEST_DATA/wcsp/spot5
    check "spot5/404.wcsp: no search" solved optimal 114 "$spot5/404.wcsp" --memory 134217728 --toulbar2 false
    check "spot5/503.wcsp: no search" solved optimal 11113 "$spot5/503.wcsp" --toulbar2 false
else
    skip "published optima" "there is no GPUOPT_TEST_DATA"
fi
summary
