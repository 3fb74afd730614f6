# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What the scripts that test an example share: run as SCRIPT [PROGRAM], they go to a folder of their own, run the
# program there, and check its output. They set `example`, the name of the program built by Bazel, and `seconds`, how
# long a run may take.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=$(realpath "${1:-$root/bazel-bin/examples/${example:?}}") || exit
# shellcheck disable=SC2034 # of the scripts
models=$root/examples/models
work=$(mktemp -d) || exit 1
# shellcheck source=check.sh
. "$root/tests/support/check.sh"
at_end() { rm -rf "$said" "$work"; }
cd "$work" || exit 1

# result NAME STATUS: counts a check that is done already; on failure, shows the program's output.
verdict() { [ "$1" -eq 0 ] || { cat out err && return 1; }; }
result() { check "$1" verdict "$2"; }

# exits CODE ARGUMENT...: runs the program; its output is in out and err.
exits() {
    local want=$1 got
    shift
    timeout "${seconds:?}" "$program" "$@" >out 2>err </dev/null
    got=$?
    [ "$got" -eq "$want" ] || { echo "exit status $got instead of $want: $*" >>err && return 1; }
}

has() { grep -q -- "$1" "$2" || { echo "no '$1' in $2" >>err && return 1; }; }

# field NAME: of the JSON in out.
field() { grep -o "\"$1\": [^,}]*" out | head -n 1 | sed 's/^[^:]*: //; s/"//g'; }

# near FIELD WANT TOLERANCE: relative above 1.
near() {
    awk -v a="$(field "$1")" -v b="$2" -v t="$3" '
        function size(v) { return v < 0 ? -v : v }
        BEGIN { exit !(a ~ /[0-9]/ && size(a - b) <= t * (size(b) > 1 ? size(b) : 1)) }' ||
        { echo "$1 is $(field "$1") instead of $2" >>err && return 1; }
}

# within FIELD LEAST MOST
within() {
    awk -v a="$(field "$1")" -v l="$2" -v m="$3" 'BEGIN { exit !(a ~ /[0-9]/ && a + 0 >= l + 0 && a + 0 <= m + 0) }' ||
        { echo "$1 is $(field "$1"), not in $2 to $3" >>err && return 1; }
}
