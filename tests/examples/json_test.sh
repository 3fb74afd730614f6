#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What the examples print with --json is JSON, whatever the file's name and the values are, and messages show bytes of a
# file that are not printable as \xNN. JSON is checked by Python's reader where there is one.
# Usage: json_test.sh [FOLDER]   with the examples, built
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
programs=$(realpath "${1:-$root/bazel-bin/examples}") || exit
work=$(mktemp -d) || exit 1
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
at_end() { rm -rf "$said" "$work"; }
cd "$work" || exit 1
models=$root/examples/models

# A quotation mark, a backslash, a tab, an escape, a delete, UTF-8 that is whole, cut off, too long, a surrogate,
# Latin-1.
odd_name=$(printf 'q"b\\t\te\033d\177\303\244\360\237\230\200-\342\202-\300\257-\355\240\200-\344')
shown='q\"b\\t\u0009e\u001bd\u007f'$(printf '\303\244\360\237\230\200')'-\\xE2\\x82-\\xC0\\xAF-\\xED\\xA0\\x80-\\xE4'

# is_json STATUS PROGRAM ARGUMENT...: ends so; one line, which is JSON.
is_json() {
    local want=$1 got
    shift
    timeout 60 "$programs/$1" "${@:2}" --json >out 2>err
    got=$?
    if [ "$got" -ne "$want" ] || [ "$(wc -l <out)" -ne 1 ]; then echo "exit status $got" && cat out err && return 1; fi
    # Outside of strings there are no such words.
    if sed 's/\\\\//g; s/\\"//g; s/"[^"]*"//g' out | grep -iE 'inf|nan'; then return 1; fi
    if command -v python3 >/dev/null; then python3 -m json.tool out /dev/null || { cat out && return 1; }; fi
}
command -v python3 >/dev/null || skip "Python's reader of JSON" "no python3"
named() { # NAME of the file that a member holds
    grep -qF "\"$1\": \"$shown$2\"" out || { cat out && return 1; }
}
odd() {
    local file=$odd_name$3
    cp "$2" "$file" || return 1
    is_json "${4:-0}" "$1" "$file" && named model "$3"
}

cat >square.bas <<'END'
NAME
 XU x r
ENDATA
END
printf 'NAME n FREE\nROWS\n N o\n L r\nCOLUMNS\n x o -1 r 1\nRHS\n s r 1\nENDATA\n' >small.mps
printf '3 10\n5 4\n4 3\n7 9\n' >small.knapsack
printf '1 1\n10 1\n3 4\n' >small.cutting
printf 'MARKOV\n2\n2 2\n1\n2 0 1\n4 0 0 0 0\n' >zero.uai
printf 'MARKOV\n2\n2 2\n1\n2 0 1\n4 1 2 0 3\n' >small.uai
printf '{problem: {name: a mustbe: "<10.0"} variables: {x: 2} functions: {f: {scope: [x] costs: [1.5 2]}}}' >small.cfn
printf 'all 1 2 1 10\n2\n1 0 10 0\n' >none.wcsp
for program in solve_lp solve_mip propagate_mps probe_mps; do
    check "$program: a file's name" odd $program small.mps .mps
done
[ ! -e "$programs/branch_glpk" ] || check "branch_glpk: a file's name" odd branch_glpk small.mps .mps
check "solve_knapsack: a file's name" odd solve_knapsack small.knapsack .knapsack
check "cutting_stock: a file's name" odd cutting_stock small.cutting .cutting
check "solve_wcsp: a file's name" odd solve_wcsp small.uai .uai
check "branch_wcsp: a file's name" odd branch_wcsp small.uai .uai
cp square.bas "$odd_name.bas"
basis_named() { is_json "$1" certify_basis "$odd_name.mps" "$odd_name.bas" && named model .mps && named basis .bas; }
check "certify_basis: names of files" basis_named 0

for model in shortage arbitrage overbooked contract; do
    check "solve_lp: $model" is_json "$([ $model = contract ] && echo 0 || echo 1)" solve_lp "$models/$model.mps"
done
printf 'NAME n FREE\nROWS\n N o\nCOLUMNS\n x o -1\nENDATA\n' >unbounded.mps
check "solve_mip: unbounded" is_json 1 solve_mip unbounded.mps
for options in '' '--relax 5' '--task logz' '--plan' '--z 1' '--agents each' '--reduce'; do
    for model in zero.uai small.uai none.wcsp small.cfn; do
        case "$model$options" in *.wcsp--task*|*.cfn--task*) continue ;; esac
        want=$(case "$model$options" in *--plan | small*) echo 0 ;; *) echo 1 ;; esac)
        # shellcheck disable=SC2086 # several options
        check "solve_wcsp $model $options" is_json "$want" solve_wcsp $model $options
    done
done

# ---- Messages ----

# says PROGRAM FILE TEXT: it refuses the file, and its message, which is printable, has that text.
says() {
    timeout 60 "$programs/$1" "$2" >out 2>err
    if [ $? -ne 2 ] || ! grep -qF -- "$3" err || LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" err ||
        ! iconv -f UTF-8 -t UTF-8 err >converted; then cat -v out err && return 1; fi
}
printf 'ROWS\n N o\nCOLUMNS\n x \344\303\244 1\nENDATA\n' >row.mps
check "solve_lp: Latin-1 in a name" says solve_lp row.mps "no such row: <\\xE4$(printf '\303\244')>"
printf 'ROWS\n N o\nCOLUMNS\n x \302\233\177 1\nENDATA\n' >control.mps
check "solve_lp: control characters of UTF-8" says solve_lp control.mps 'no such row: <\xC2\x9B\x7F>'
printf 'a 1 2 1 9\n\033[2J\n' >escape.wcsp
check "solve_wcsp: an escape" says solve_wcsp escape.wcsp "'\\x1B[2J'"
printf '3 \033]0;x\007\n' >escape.knapsack
check "solve_knapsack: an escape" says solve_knapsack escape.knapsack '\x1B]0;x\x07'
printf '1 \204\n' >byte.cutting
check "cutting_stock: a byte" says cutting_stock byte.cutting '\x84'
check "solve_lp: a file that is not there" says solve_lp "$(printf 'no\033\344')" 'no\x1B\xE4: cannot be opened'
printf 'NAME n FREE\nROWS\n N o\nCOLUMNS\n x\344 o 1\nBOUNDS\n LO b x\344 2\n UP b x\344 1\nENDATA\n' >crossed.mps
answer_shown() { "$programs/solve_lp" crossed.mps >out && return 1; grep -qF 'column x\xE4 cross' out || { cat -v out && return 1; }; }
check "solve_lp: Latin-1 in an answer" answer_shown

summary
