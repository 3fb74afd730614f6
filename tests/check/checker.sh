# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What the tests of the checker of answers share: a folder of their own with the checker, built; answers of the examples,
# and broken ones. The script's first argument may name the folder of the examples.
# shellcheck disable=SC2034 # variables for whoever sources this

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
programs=$(realpath "${1:-$root/bazel-bin/examples}") || exit
models=$root/examples/models
work=$(mktemp -d) || exit 1
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
at_end() { rm -rf "$said" "$work"; }
strict=(-std=c11 -Wall -Wextra -Werror -O2 -I"$root")
cd "$work" || exit 1

check "the checker is built by itself" cc "${strict[@]}" "$root"/tests/check/*.c -lgmp -lm -o checker || { summary; exit 1; }

# says STATUS WORD ARGUMENT...: the checker's exit status, and a word of its last line.
says() {
    local want=$1 word=$2 got last
    shift 2
    timeout 100 ./checker "$@" >out 2>&1
    got=$?
    cat out
    last=$(tail -n 1 out)
    [ "$got" -eq "$want" ] && [[ $last == *$word* ]]
}
# answer PROGRAM MODEL [OPTION...]: writes `answer`.
answer() {
    local program=$1
    shift
    rm -f answer
    timeout 100 "$programs/$program" "$@" --certificate answer >/dev/null 2>log
    [ -s answer ]
}
# answers NAME PROGRAM MODEL [OPTION...]: the example's answer is proven; it stays in NAME.answer.
answers() {
    local name=$1
    shift
    check "$name: --certificate" answer "$@" && cp answer "$name.answer" &&
        check "$name: proven" says 0 PROVEN "$2" "$name.answer"
}
# found NAME PROGRAM MODEL [OPTION...]: the same, but that nothing is better needs messages, which are not written.
found() {
    local name=$1
    shift
    check "$name: --certificate" answer "$@" && cp answer "$name.answer" &&
        check "$name: not wrong" says 3 UNPROVEN "$2" "$name.answer"
}
# broken NAME MODEL WHAT REASON SED...: NAME.answer, edited, is another one, and is refused for that reason.
broken() {
    local name=$1 model=$2 what=$3 reason=$4
    shift 4
    sed "$@" "$name.answer" >broken.answer
    check "$name: refused: $what" differs_and_says "$name.answer" 1 "$reason" "$model" broken.answer
}
differs_and_says() {
    ! cmp "$1" broken.answer && says "${@:2}"
}
# judges WHAT STATUS WORD MODEL ANSWER: the answer is text, with backslashes.
judges() {
    printf '%b' "$5" >judged.answer
    check "$1" says "$2" "$3" "$4" judged.answer
}
# without NAME VECTOR...: copies NAME.answer without some of its vectors.
without() {
    local name=$1
    shift
    awk -v names=" $* " '$1 ~ /^[a-z]+$/ && NF == 2 { drop = index(names, " " $1 " ") } !drop' "$name.answer"
}
# first_after WORD FROM TO: a sed script that changes the first line FROM after the line that begins with WORD.
first_after() { echo "/^$1 /,\$ { /^$2\$/ { s//$3/; :rest; n; b rest } }"; }
# model NAME ROWS COLUMNS REST: a linear program whose objective is o; the sections as text.
model() { printf '%b' "NAME t FREE\nROWS\n N o\n$2COLUMNS\n$3$4ENDATA\n" >"$1.mps"; }
