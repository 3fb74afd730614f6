#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# That each example is built by the line in its opening comment, without Bazel, from a copy of the sources; that it
# knows --help; and that it runs. The quickstart's line stands as it is; those of the others are given the library as an
# object, and no optimisation, since nearly all of the time would go into compiling the library again and again.
# Usage: build_test.sh
# Runs with: --all
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=../support/check.sh
. tests/support/check.sh

work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }
cp -r gpuopt.h gpuopt gpuopt_impl transports examples "$work"
cd "$work" || exit 1

# line EXAMPLE: what follows "cc" in its opening comment, up to a line without a backslash at its end.
line() {
    awk '/^ \*\//{ exit }
         /^ \* +cc /{ on = 1 }
         on { sub(/^ \* */, ""); more = sub(/\\$/, ""); printf "%s ", $0; if (!more) exit }' "examples/$1.c"
}
# The first of our models that its comment names as input; without such a line, the first run to show; or nothing.
model_of() {
    local patterns pattern model
    read -r -d '' -a patterns < <(sed -n 's/^ \* \(Also r\|R\)eads: *//p' "examples/$1.c")
    for pattern in "${patterns[@]%+*}"; do
        for model in examples/models/$pattern; do [ -e "$model" ] && echo "$model" && return; done
    done
    sed -n 's/^ \* Try: *//p' "examples/$1.c" | head -n 1
}
# build_line EXAMPLE: as it is run here.
build_line() {
    local line
    line=$(line "$1")
    [ "$1" = quickstart ] || line=${line/ gpuopt_impl\/gpuopt.c / gpuopt.o } line=${line/ -O2 / -O0 }
    echo "${line:-false}"
}
helps() { "./$1" --help >out 2>err && grep -q "^usage: $1" out && [ ! -s err ]; }
# The model may be infeasible, which is exit status 1.
runs() {
    local words
    read -r -d '' -a words < <(model_of "$1")
    "./$1" "${words[@]}" >out
    [ $? -le 1 ] && [ -s out ]
}
check "the library" cc -O0 -c gpuopt_impl/gpuopt.c -o gpuopt.o
for example in examples/*.c; do
    grep -q '^int main(' "$example" || continue
    example=${example#examples/} example=${example%.c}
    header=$(sed -n 's/^ \* Needs: *//p' "examples/$example.c")
    if [ -n "$header" ] && ! echo "#include <$header>" | cc -E - >/dev/null 2>&1; then
        skip "$example" "no $header"
        continue
    fi
    check "$example is built by the line in its comment" bash -c "$(build_line "$example")" || continue
    check "$example --help" helps "$example"
    check "$example runs" runs "$example"
done
summary
