# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What the tests of the plug-ins share: a folder of their own, the library, and models.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d) || exit 1
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
# shellcheck source=../../third_party/setup.sh
. "$root/third_party/setup.sh"
at_end() { rm -rf "$said" "$work"; }
cd "$work" || exit 1

# shellcheck source=library.sh
. "$root/tests/hosts/library.sh"
library=$(built_library)
if [ -z "$library" ]; then
    library=$work/gpuopt.o
    check "the library" gcc -std=c11 -O2 -fopenmp -I"$root" -c "$root/gpuopt_impl/gpuopt.c" -o "$library"
fi

# shellcheck source=lost.sh
. "$root/tests/hosts/lost.sh"

# model NAME: unpacks a model of GPUOPT_TEST_DATA.
has_models() { [ -d "${GPUOPT_TEST_DATA:-}/miplib" ]; }
model() { xz -dc "$GPUOPT_TEST_DATA/miplib/$1.mps.xz" >"$1.mps"; }

# wrong: fails, and shows what a program has printed to out and err.
wrong() {
    cat out err
    return 1
}

# optimum WANT: the objective in the line that a program has printed to out, up to 1e-6 of it.
optimum() {
    awk -v b="$1" '
        function size(v) { return v < 0 ? -v : v }
        /objective/ { sub(/.*objective /, ""); sub(/,.*/, ""); a = $0 }
        END { exit !(a ~ /[0-9]/ && size(a - b) <= 1e-6 * (size(b) > 1 ? size(b) : 1)) }' out
}

# calls: how many batches of children there were.
calls() { sed -n 's/^gpuopt: \([0-9]*\) calls.*/\1/p' out; }
# warned TEXT: there is one line on stderr, with this.
warned() { [ "$(wc -l <err)" -eq 1 ] && grep -q "$1" err; }
