# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What the tests of the plug-ins for COIN-OR share, which are run as SCRIPT [PROGRAM]. They set `program`, cbc_solve or
# clp_solve. Without PROGRAM this builds it in a folder of its own, or ends with a reason for which the test is skipped.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }
out=$work/out err=$work/err
data=${GPUOPT_TEST_DATA:-}

give_up() { leave "the plug-in of ${program:?}" "$1"; }
if [ $# -gt 0 ]; then
    cp "$1" "$work/$program" || exit 1
elif ! pkg-config --exists cbc clp 2>/dev/null; then
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        give_up "no Cbc, which root can install on Debian"
    fi
    export DEBIAN_FRONTEND=noninteractive
    { apt-get -q update && apt-get -q -y --no-install-recommends install pkg-config coinor-libcbc-dev; } \
        >"$err" 2>&1 </dev/null || give_up "coinor-libcbc-dev cannot be installed"
fi
if [ $# -eq 0 ]; then
    # shellcheck source=library.sh
    . "$root/tests/hosts/library.sh"
    check "it builds" env "GPUOPT_LIBRARY=$(built_library)" "$root/tests/hosts/coin_build.sh" "$work" cpu "$program" || { summary; exit; }
fi

# runs ARGUMENT...: the program's output is in out and err.
runs() { timeout 300 "$work/$program" "$@" >"$out" 2>"$err" </dev/null; }
# word NAME: the word behind NAME in the first line of out.
word() { awk -v name="$1" 'NR == 1 { for (k = 1; k < NF; k++) if ($k == name) print $(k + 1) }' "$out"; }
# figure NAME: the number in front of NAME in the line of gpuopt.
figure() { sed -n "s/^gpuopt: //p" "$out" | tr , '\n' | sed -n "s/^ *\([0-9]*\) $1\$/\1/p"; }
# near VALUE WANT TOLERANCE: relative above 1.
near() {
    awk -v a="$1" -v b="$2" -v t="$3" '
        function size(v) { return v < 0 ? -v : v }
        BEGIN { exit !(a ~ /[0-9]/ && size(a - b) <= t * (size(b) > 1 ? size(b) : 1)) }'
}
# published FOLDER MODEL COLUMN: of the index of the public models.
published() { awk -F, -v model="$2" -v k="$3" '$1 == model { print $k }' "$data/$1/index.csv"; }
# test_of NAME COMMAND...: check, which shows the program's output, too.
shows() {
    "$@" && return
    cat "$out" "$err"
    return 1
}
test_of() {
    local name=$1
    shift
    check "$name" shows "$@"
}
# warned TIMES: how often a warning is in err.
warned() { [ "$(grep -c '^gpuopt is not used' "$err")" -eq "$1" ]; }
