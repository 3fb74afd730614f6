#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The examples as parts of a pipeline: models from pipes and from standard input, and output that cannot be written,
# which is exit status 2 in all of them.
# Usage: streams_test.sh [FOLDER], that of the programs
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
programs=$(realpath "${1:-$root/bazel-bin/examples}") || exit
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }
cd "$work" || exit 1
models=$root/examples/models

# Every example has a line here: a model, and what its answer says.
declare -A model=([quickstart]='' [propagate_mps]=lotsizing.mps [solve_lp]=transport.mps [solve_wcsp]=exams.wcsp
    [solve_knapsack]=luggage.knapsack [branch_glpk]=lotsizing.mps [probe_mps]=staffing.mps
    [certify_basis]=transport.mps [solve_mip]=lotsizing.mps [branch_wcsp]=exams.wcsp
    [cutting_stock]=paper.cutting)
declare -A answer=([propagate_mps]='"outcome": "converged"' [solve_lp]='"objective": 125' [solve_wcsp]='"upper_bound": 4,'
    [solve_knapsack]='"status": "optimal"' [branch_glpk]='"objective": 270' [probe_mps]='"binaries": 0'
    [certify_basis]='"verdict": "optimal"' [solve_mip]='"objective": 270' [branch_wcsp]='"upper_bound": 4,'
    [cutting_stock]='"cost": 73,')
declare -A second_file=([certify_basis]=$root/examples/bases/transport.bas)

# status WANT COMMAND...: within 20 seconds; not 124, as for one that waits for ever.
status() {
    local want=$1 got
    shift
    timeout 20 "$@"
    got=$?
    [ "$got" -eq "$want" ] || { echo "exit status $got instead of $want: $*" && return 1; }
}

full() { # with a message, but for the shortest host
    status 2 "$@" >/dev/full 2>err && { [ "${1##*/}" = quickstart ] || grep -q '^standard output: cannot be written' err; }
}
closed() { status 2 "$@" >&- 2>err; }
# The reader is gone before anything is written.
broken_pipe() {
    local got
    { sleep 0.2 && timeout 20 "$@" 2>err && echo 0 >got || echo $? >got; } | true
    got=$(cat got)
    [ "$got" -eq 2 ] || { echo "exit status $got instead of 2" && return 1; }
}
fifo() { # PROGRAM MODEL ANSWER SECOND-FILE...
    rm -f "$2" && mkfifo "$2" && { cat "$models/$2" >"$2" & } && status 0 "$1" "$2" "${@:4}" --json >out && grep -q "$3" out
}
stdin() { status 0 "$1" - "${@:4}" --json <"$models/$2" >out && grep -q "$3" out; }
piped() { (printf '\357\273\277' && cat "$models/$2") | status 0 "$1" - "${@:4}" --json >out && grep -q "$3" out; }

for example in "$root"/examples/*.c; do
    grep -q '^int main(' "$example" || continue
    example=${example##*/} example=${example%.c}
    program=$programs/$example file=${model[$example]?there is no model for $example} second=${second_file[$example]:-}
    for words in --help ${file:+"$models/$file $second"} "${file:+"$models/$file $second --json"}"; do
        [ -z "$words" ] || [ "$example $words" != "quickstart " ] || continue
        # shellcheck disable=SC2086 # several words
        {
            check "$example${words:+ ${words##*/}}: a full device" full "$program" $words
            check "$example${words:+ ${words##*/}}: a closed output" closed "$program" $words
            check "$example${words:+ ${words##*/}}: a broken pipe" broken_pipe "$program" $words
        }
    done
    if [ -n "$file" ]; then
        check "$example: a model from a FIFO" fifo "$program" "$file" "${answer[$example]}" ${second:+"$second"}
        check "$example: a model from standard input" stdin "$program" "$file" "${answer[$example]}" ${second:+"$second"}
        check "$example: a model from a pipe, with a byte order mark" piped "$program" "$file" "${answer[$example]}" ${second:+"$second"}
    fi
done
gzip -c "$models/transport.mps" >transport.gz
check "solve_lp: compressed, from a pipe" bash -c "cat transport.gz | '$programs/solve_lp' - | grep -q 125"
xz -c "$models/transport.mps" >transport.xz
check "solve_lp: compressed by xz, from a pipe" bash -c "cat transport.xz | '$programs/solve_lp' - | grep -q 125"
summary
