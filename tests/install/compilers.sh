#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The CPU library with other compilers and systems, as Debian 12 has them. Each compiles the library without a warning,
# and with it tests/frame/bits.c, the README's program and all programs of examples/steps/. The programs check their
# results. They must also print what they print after compilation by this machine's gcc; bits.c prints hashes of results
# of all families, with one thread and, if the compiler has OpenMP, with four.
# Prints a table. Takes about a minute for each compiler. Missing packages are installed, as root; what cannot be
# installed is skipped.
# Usage: compilers.sh [NAME...]
#   NAME   of the table's first column; default: all
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=install.sh
. "$root/tests/install/install.sh"
case ${1-} in
-h | --help)
    awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"
    exit
    ;;
esac
wanted=" $* "
cd "$work" || exit 1
export HOME=$work WINEPREFIX=$work/wine WINEDEBUG=-all
block c "$root/README.md" >readme.c && [ -s readme.c ] || exit 1
programs=("$root/tests/frame/bits.c" readme.c "$root"/examples/steps/*.c)

# builds FOLDER COMPILER...: the library, and all programs with it.
builds() {
    local program
    mkdir -p "$1" && "${@:2}" -Wall -Wextra -Werror -I"$root" -c "$root/gpuopt_impl/gpuopt.c" -o "$1/gpuopt.o" || return
    for program in "${programs[@]}"; do
        "${@:2}" -I"$root" "$program" "$1/gpuopt.o" -lm -o "$1/$(basename "$program" .c).exe" || return
    done
}
# runs FOLDER RUNNER...: keeps what the programs print.
runs() {
    local program
    for program in "$1"/*.exe; do
        "${@:2}" "./$program" </dev/null >"${program%.exe}.out" && continue
        echo "$program: exit status $?" && cat "${program%.exe}.out"
        return 1
    done
}
# is_reference PROGRAM: what it prints, on the standard input, is what gcc's program prints.
is_reference() { tr -d '\r' | diff "reference/$1.out" -; }
prints_the_same() {
    local output
    runs "$@" || return
    for output in reference/*.out; do
        output=$(basename "$output" .out)
        is_reference "$output" <"$1/$output.out" || { echo "$output differs" && return 1; }
    done
}
# four_threads FOLDER RUNNER...
four_threads() { "${@:2}" "./$1/bits.exe" 4 >four.out && is_reference bits <four.out; }

need gcc libc6-dev
check "the reference: gcc" builds reference gcc -std=c11 -O1 || { summary && exit; }
check "its programs" runs reference || { summary && exit; }
printf '#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n' >openmp.c

table=()
# row NAME PACKAGES RUNNER COMPILER OPTION...: PACKAGES and RUNNER are lists of words; RUNNER runs a program, and may be
# empty.
row() {
    local name=$1 packages runner state=failed start=$SECONDS command=("${@:4}") threads=1
    [ "$wanted" = "  " ] || [[ $wanted = *" $name "* ]] || return
    read -ra packages <<<"$2"
    read -ra runner <<<"$3"
    need "${packages[@]}"
    if ! command -v "$4" >/dev/null || { [ -n "$3" ] && ! command -v "${runner[0]}" >/dev/null; }; then
        skip "$name" "not installed: $2"
        return
    fi
    if "${command[@]}" -fopenmp openmp.c -o openmp.exe 2>/dev/null && "${runner[@]}" ./openmp.exe 2>/dev/null; then
        command+=(-fopenmp) threads="1, 4"
    fi
    if check "$name: it builds" builds "$name" "${command[@]}" &&
        check "$name: the same results" prints_the_same "$name" "${runner[@]}"; then
        state=passed
        if [ "$threads" != 1 ]; then
            check "$name: the same results with four threads" four_threads "$name" "${runner[@]}" || state=failed
        fi
    fi
    rm -rf "$name"
    table+=("| $name | \`${command[*]}\` | ${3:-this machine} | $threads | $state | $((SECONDS - start)) s |")
}

for version in 11 12; do row "gcc-$version" "gcc-$version" "" "gcc-$version" -std=c11 -O2; done
for version in 13 14 15 16; do row "clang-$version" "clang-$version" "" "clang-$version" -std=c11 -O2; done
row tcc tcc "" tcc -std=c11
row musl musl-tools "" musl-gcc -std=c11 -O2 -static
for processor in aarch64 s390x; do
    libc=${processor/aarch64/arm64}
    # gcc -std=c11 computes doubles with excess precision on s390x, which the library refuses.
    row "$processor" "gcc-$processor-linux-gnu libc6-dev-$libc-cross qemu-user" \
        "qemu-$processor -L /usr/$processor-linux-gnu" "$processor-linux-gnu-gcc" -std=gnu11 -O2
done
# All of its libraries in the program, so that wine need not find them.
row mingw64 "gcc-mingw-w64-x86-64-posix wine wine64" wine x86_64-w64-mingw32-gcc-posix -std=c11 -O2 -static
if [ -d "$WINEPREFIX" ]; then wineserver -k; fi # or it keeps its files for a while

printf '\n| compiler | command | runs on | threads | state | time |\n| --- | --- | --- | --- | --- | --- |\n'
printf '%s\n' "${table[@]}"
summary
