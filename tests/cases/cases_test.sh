#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Inputs that other solvers and readers were reported to fail on, rebuilt, and what the examples say about them.
# cases.tsv has a row a run: the command, the exit status ("0/2": the first one, with the members; the others are right,
# too), members of the JSON line (expect.c; "-": none), where the kind of fault was reported, and what is tried. A
# message on stderr belongs to exit status 2, one line of valid JSON to all others.
# Usage: cases_test.sh [FOLDER [WORD]]   the folder of the examples, built; WORD: only the rows that contain it
# Runs with: --all
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
programs=$(realpath "${1:-$root/bazel-bin/examples}") || exit
chosen=${2:-}
cases=$root/tests/cases
seconds=100 # that a run may take
work=$(mktemp -d) || exit 1
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
at_end() { rm -rf "$said" "$work"; }
cd "$work" || exit 1

check "the reader of JSON is built" cc -std=c11 -Wall -Wextra -Wpedantic -Werror -O2 "$cases/expect.c" -lm -o expect ||
    { summary; exit 1; }

# reads MEMBERS JSON, and its opposite
reads() { printf %b "$2" >json && ./expect json "$1"; }
refuses() { ! reads "$@"; }
check "it reads valid JSON" reads 'a=-1.5;b=x"\é€;c=9223372036854775807;d=null;e=true' \
    '{"a": -15E-1, "b": "x\\"\\\\\\u00e9\\u20ac", "c": 9223372036854775807, "d":null,"e" : true, "f": [{}, []]}\n'
for invalid in '{"a": inf}' '{"a": NaN}' '{"a": 01}' '{"a": .5}' '{"a": 1.}' '{"a": "\\x"}' '{"a": "\\ud800"}' '{"a": "\351"}' \
    '{"a": "\t"}' '{"a": 1,}' '{"a": 1, "a": 1}' '{"a": 1}{}' '{"a": 1,\n"b": 2}' '{"a": [1 2]}' '{"a": "' '{"a": 1' ''; do
    check "it refuses <$invalid>" refuses - "$invalid"
done
check "it compares" eval "refuses a=1 '{\"a\": 1.00001}' && refuses a=1 '{\"b\": 1}' && refuses a=no '{\"a\": \"not\"}' &&
    refuses a=9223372036854775807 '{\"a\": 9223372036854775806}' && reads a=1 '{\"a\": 1.0000001}'"

# right EXITS MEMBERS COMMAND...: runs the command in a folder of its own, and says what is not right.
right() {
    local exits=$1 members=$2 got word line=()
    shift 2
    for word in "$@"; do
        if [[ $word == */* ]]; then line+=("$cases/$word"); else line+=("$word"); fi
    done
    timeout "$seconds" "$programs/${line[0]}" "${line[@]:1}" >out 2>err </dev/null
    got=$?
    if [ $got -eq 124 ]; then echo "no end within $seconds s" && return 1; fi
    if [[ /$exits/ != */$got/* ]]; then
        echo "exit status $got, not $exits"
        cat out err
        return 1
    fi
    if [ $got -eq 2 ]; then
        [ -s err ] || { echo "no message" && return 1; }
        return
    fi
    [ "$got" = "${exits%%/*}" ] || members=-
    "$work/expect" out "$members" bounds
}
# run NUMBER ROW: leaves its exit status and what it says.
run() {
    local command exits members
    IFS=$'\t' read -r command exits members _ <<<"$2"
    mkdir "$work/$1" && cd "$work/$1" || return
    # shellcheck disable=SC2086 # the command's words
    right "$exits" "$members" $command >said 2>&1
    echo $? >status
}
verdict() { cat "$1/said" && return "$(cat "$1/status")"; }

mapfile -t rows < <(tail -n +2 "$cases/cases.tsv" | grep -F -- "$chosen")
for k in "${!rows[@]}"; do
    if [ ! -x "$programs/${rows[k]%% *}" ]; then continue; fi
    if [ "$(jobs -pr | wc -l)" -ge "$(nproc)" ]; then wait -n; fi
    run "$k" "${rows[k]}" &
done
wait
for k in "${!rows[@]}"; do
    IFS=$'\t' read -r command _ _ reported what <<<"${rows[k]}"
    if [ -d "$k" ]; then check "$command: $what ($reported)" verdict "$k"; else skip "$command" "it is not built"; fi
done
summary
