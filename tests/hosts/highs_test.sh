#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Strong branching and dives in HiGHS: published optima, with gpuopt and without; a device that is lost in the tree.
# HiGHS's library and headers come from the Python package cyhighs, and its source from highspy. Of the source only the
# file that the patch changes is compiled, and linked before the library. With RUN_HIGHS set, the whole of HiGHS 1.16.0
# is built as its README describes, which takes half an hour on two cores.
# Runs with: --all
# Usage: [RUN_HIGHS=1] highs_test.sh
set -u
# shellcheck source=build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"

folder=$root/examples/hosts/highs
version=1.15.1 # of the library in cyhighs 0.2.2
need xz-utils zlib1g-dev cmake

# fetch FILE PIP-ARGUMENT...: a package's file.
pip() { python3 -m pip -q --disable-pip-version-check "$@"; }
# source VERSION: HiGHS's, with the patch.
source_of() {
    pip download --no-deps --no-binary highspy "highspy==$1" -d . && tar -xf "highspy-$1.tar.gz" &&
        patch -s -p1 -d "highspy-$1" <"$folder/strong_branching.patch"
}
library_of_highs() { pip install --no-deps --target cyhighs cyhighs==0.2.2 && [ -f cyhighs/lib64/libhighs.a ]; }
if ! library_of_highs >fetched 2>&1 || ! source_of $version >fetched 2>&1; then
    leave "HiGHS" "pip cannot fetch it: $(tail -n 1 fetched)"
fi

search=highspy-$version/highs/mip/HighsSearch.cpp
includes=(-isystem "highspy-$version/highs" -isystem "highspy-$version/extern" -isystem cyhighs/include/highs)
parts=("$folder"/highs_solve.cpp "$folder"/highs_branching.cpp "$folder"/highs_dives.cpp node_lp.o HighsSearch.o)
libraries=(cyhighs/lib64/libhighs.a cyhighs/lib64/libhighs_extras.a cyhighs/cyhighs.libs/libopenblas*
    "-Wl,--disable-new-dtags,-rpath,$work/cyhighs/cyhighs.libs" -lpthread -ldl -lz -lm)
options=(-O2 -Wall -Wextra -Werror -fopenmp "-I$root")
compile_parts() {
    gcc -std=c11 "${options[@]}" -c "$root/examples/hosts/node_lp.c" -o node_lp.o &&
        gcc -std=c11 "${options[@]}" -c "${lost[0]}" -o lost.o &&
        g++ -std=c++17 -O2 -DNDEBUG "${includes[@]}" -c "$search" -o HighsSearch.o
}
build() { g++ -std=c++17 "${options[@]}" "${includes[@]}" -o "$@" "${parts[@]}" "$library" "${libraries[@]}"; }
check "the patched part of HiGHS $version" compile_parts
check "the program" build highs_solve
check "the program with a device that can be lost" build highs_solve_lost lost.o "${lost[@]:1}"

# solved OPTIMUM MODEL HOW OPTION...
solved() {
    local want=$1
    shift
    timeout 300 ./highs_solve "$@" time_limit=250 >out 2>err
    if ! optimum "$want" || [ -s err ]; then wrong; fi
}
branched() { solved "$@" && { [ "$(calls)" -gt 0 ] || wrong; }; }
dived() { solved "$@" && { grep -Eq '^gpuopt: [1-9][0-9]* dives' out || wrong; }; }
# survives OPTIMUM MODEL HOW CALL STATUS: the same optimum if that call fails, after one warning.
survives() {
    LOST_AT=$4 LOST_STATUS=$5 timeout 300 ./highs_solve_lost "$2" "$3" time_limit=250 >out 2>err
    if ! optimum "$1" || ! grep -q ', failed$' out || ! warned '^gpuopt .* any more'; then wrong; fi
}
exits() {
    local want=$1
    shift
    ./highs_solve "$@" >out 2>err
    [ $? -eq "$want" ] || wrong
}

# Random models, whose optima small_mip.awk finds by enumeration. They are too small for HiGHS to branch.
random() {
    local seed answer many=0
    for seed in $(seq 1 30); do
        answer=$(awk -v seed="$seed" -v file=model.mps -f "$root/tests/examples/small_mip.awk" | head -n 1)
        case $answer in
        opti*) solved "${answer#* }" model.mps both presolve=off || return ;;
        *) exits 1 model.mps both presolve=off || return ;;
        esac
        many=$((many + $(sed -n 's/^gpuopt: [0-9]* dives, \([0-9]*\) solutions.*/\1/p' out)))
    done
    [ "$many" -ge 10 ] || { echo "$many solutions" >>err && wrong; }
}
check "random models" random
check "a model of our own: dives" dived 270 "$root/examples/models/lotsizing.mps" dives presolve=off

if has_models; then
    while read -r name want how options; do
        model "$name"
        # shellcheck disable=SC2086 # several words
        check "$name, $how $options" "$how" "$want" "$name.mps" $options
    done <<'END'
p0201 7615 solved alone
p0201 7615 branched branching
bell5 8966406.49152 branched branching presolve=off mip_heuristic_effort=0 mip_heuristic_run_feasibility_jump=false
enigma 0 branched branching presolve=off mip_heuristic_effort=0 mip_heuristic_run_feasibility_jump=false
p0201 7615 dived dives
p0201 7615 branched both
misc07 2810 branched branching
bell5 8966406.49152 branched branching
bell5 8966406.49152 dived dives
lseu 1120 branched branching
stein27 18 branched both
END
    check "p0201: a device that is lost in the tree" survives 7615 p0201.mps branching 3 device
    check "p0201: no memory in the tree" survives 7615 p0201.mps branching 2 memory
    check "p0201: a device that is lost in a dive" survives 7615 p0201.mps dives 3 device
else
    skip "published optima" "there is no GPUOPT_TEST_DATA"
fi

whole() {
    source_of 1.16.0 && cmake -S "$folder" -B whole -DHIGHS_SOURCE="$work/highspy-1.16.0" -DCMAKE_BUILD_TYPE=Release &&
        cmake --build whole --target highs_solve -j "$(nproc)" && mv whole/highs_solve .
}
if [ -n "${RUN_HIGHS:-}" ]; then
    check "HiGHS 1.16.0 with the patch" whole && check "random models" random
else
    skip "the build of the whole of HiGHS" "it takes half an hour: RUN_HIGHS=1 tests/hosts/highs_test.sh"
fi
summary
