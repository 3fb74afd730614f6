#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Checks the pages in doc and doc/howto: every C program on them compiles as it stands, as C and as C++, and runs. The
# first program of a family page and of a guide prints exactly the text block that follows it. The family pages name the
# header of each call. doc/tutorial.md is followed as a reader does: its diffs, its commands and what they print. With
# --all the program for CUDA runs on the emulated GPU.
# Usage: pages_test.sh
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
# shellcheck source=../support/pages.sh
. "$root/tests/support/pages.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }

cp -r "$root/gpuopt.h" "$root/gpuopt" "$root/gpuopt_impl" "$root/transports" "$work"
cd "$work" || exit 1
check "the library, for the programs below" library
check "the transport for threads" cc -O1 -I. -c transports/gpuopt_threads.c -o transport.o

for page in "$root"/doc/*.md "$root"/doc/howto/*.md; do
    path=${page#"$root/"}
    name=$(echo "${path%.md}" | tr / _)
    for ((k = 1; ; k++)); do
        block c "$page" $k >"$name$k.c"
        [ -s "$name$k.c" ] || break
        check "program $k of $path compiles and runs" compiles_and_runs "$name$k" transport.o -pthread
    done
done

# begins_with_program PAGE OUTPUT: its first block is a program, and the second one is the program's output.
begins_with_program() {
    # shellcheck disable=SC2016 # no commands
    [ "$(grep -E '^```.' "$1" | head -n 2 | paste -sd' ')" = '```c ```text' ] ||
        { echo "the first two blocks are not C and text" && return 1; }
    block text "$1" | diff - "$2"
}
for name in propagation basis simplex elimination knapsack; do
    check "doc/$name.md shows what its first program prints" begins_with_program "$root/doc/$name.md" "doc_${name}1.out"
done

# names_headers PAGE FAMILY: in its table of calls, whose last column is a header, each call is declared there. `_pop`
# is a call of FAMILY, and `_batch_*` means at least one.
# shellcheck disable=SC2016 # no commands
names_headers() {
    local row header call wrong=0 rows=0
    while IFS= read -r row; do
        header=$(sed -E 's/.*`([a-z_/]+\.h)` \|$/\1/' <<<"$row")
        rows=$((rows + 1))
        while IFS= read -r call; do
            call=${call#"gpuopt_$2"}
            grep -qE "gpuopt_$2[a-z_]*${call//\*/[a-z]+}\\(" "$root/$header" ||
                { echo "$header does not declare $call" && wrong=1; }
        done < <(grep -oE '`(gpuopt)?_[a-z_]+\*?`' <<<"$row" | tr -d '`')
    done < <(grep -E '^\|.*\| `gpuopt[a-z_/]*\.h` \|$' "$1")
    [ "$rows" -gt 0 ] || { echo "it has no such table" && return 1; }
    return "$wrong"
}
for name in propagation:propagator simplex:simplex elimination:elimination knapsack:knapsack; do
    page=doc/${name%:*}.md
    check "$page names the header of each call" names_headers "$root/$page" "${name#*:}"
done
sees_wrong_header() {
    sed -E '/_push`/s|gpuopt/search.h|gpuopt/batch.h|' "$root/doc/propagation.md" >wrong.md &&
        ! names_headers wrong.md propagator
}
check "seen: a page that names another header" sees_wrong_header

for page in "$root"/doc/howto/*.md; do
    name=$(basename "$page" .md)
    [ "$name" = streams ] ||
        check "doc/howto/$name.md shows what it prints" begins_with_program "$page" "doc_howto_${name}1.out"
done

# follow PAGE: in this folder, its program is queens.c, its diffs are applied, its commands are run, and they print its
# text blocks. The library has been compiled already.
follow() {
    local language
    rm -f queens.c
    for ((n = 1; ; n++)); do
        language=$(grep -E '^```.' "$1" | sed -n "${n}s/^...//p")
        block '[a-z]+' "$1" "$n" >step
        case $language in
        '') break ;;
        c) cp step queens.c ;;
        diff) patch -p1 <step || return ;;
        sh) grep -vx 'cc -O2 -c gpuopt_impl/gpuopt.c -o gpuopt.o' step | bash -ex >step.out || return ;;
        text) diff step step.out || return ;;
        esac
    done
    [ "$n" -gt 8 ] # there were some
}
if command -v patch >/dev/null; then
    check "doc/tutorial.md, step by step" follow "$root/doc/tutorial.md"
    # With another number of solutions on the page, or a diff that does not fit, the check must fail.
    sees_wrong_tutorial() {
        sed "$1" "$root/doc/tutorial.md" >tutorial.md && ! cmp -s tutorial.md "$root/doc/tutorial.md" &&
            ! follow tutorial.md
    }
    check "seen: a tutorial that shows another output" sees_wrong_tutorial 's/^92 solutions, 783/92 solutions, 784/'
    check "seen: a diff that does not fit" sees_wrong_tutorial 's/^-    lb\[j\] = 0/-    lb[j] = 1/'
else
    skip "doc/tutorial.md, step by step" "no patch"
fi

# The CUDA program of doc/howto/streams.md on the emulated GPU: it needs the backend's frame and one family.
emulated() {
    local unit file source=$root/tests/emulated
    local options=(-std=c++17 -w -O0 -ffp-contract=off "-I$source/include" "-I$root" -DGPUOPT_CUDA_WITHOUT_LIBRARIES)
    mkdir -p emulated
    for file in "$source"/*.cpp; do
        case $file in */unit.cpp | *_test.cpp) continue ;; esac
        g++ "${options[@]}" -c "$file" -o "emulated/$(basename "$file" .cpp).o" || return
    done
    for unit in PROPAGATE SIMPLEX ELIMINATION KNAPSACK; do options+=("-DGPUOPT_CUDA_WITHOUT_$unit"); done
    for unit in gpuopt_cuda basis/basis; do
        g++ "${options[@]}" -include emulated/nvcc.h -DGPUOPT_UNIT="\"cuda/$unit.cu\"" -c "$source/unit.cpp" \
            -o "emulated/${unit##*/}_unit.o" || return
    done
    block cuda "$root/doc/howto/streams.md" >streams.c && [ -s streams.c ] &&
        g++ -std=c++17 -Wall -Wextra -Wno-missing-field-initializers "-I$source/include" -I. -x c++ streams.c -x none \
            emulated/*.o gpuopt.o -ldl -lpthread -o streams &&
        ./streams >streams.out && block text "$root/doc/howto/streams.md" | diff - streams.out
}
if runs_all; then check "doc/howto/streams.md on the emulated GPU" emulated; fi

# With the first number of the output changed, the check must fail.
sees_wrong_output() {
    awk '/^```text$/ { on = 1 } on && sub(/[0-9]/, "77") { on = 0 } { print }' "$root/doc/basis.md" >basis.md
    ! begins_with_program basis.md doc_basis1.out
}
check "seen: a page that shows another output" sees_wrong_output
summary
