#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Draws one step of each family, for the family's page. The program tools/pictures/NAME.awk reads the numbers from the
# page, which shows a program and its output; NAME.c computes them with the page's model and the library.
# Usage: pictures.sh [NAME ...]                draws doc/NAME_step.dot and, from it, doc/NAME_step.svg (needs Graphviz);
#                                              NAME: propagation, basis, simplex, elimination, knapsack; none: all
#        pictures.sh --dot FOLDER [NAME ...]   only the sources, into this folder
set -eu
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }

names=(propagation basis simplex elimination knapsack)
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../tests/support/pages.sh
. "$root/tests/support/pages.sh"
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# The source of a picture, on standard output.
dot_source() { # NAME
    local parts=$root/tools/pictures page=$root/doc/$1.md
    if [ -f "$parts/$1.awk" ]; then
        { block c "$page" && block text "$page"; } | awk -v picture="$1" -f "$parts/picture.awk" -f "$parts/$1.awk"
        return
    fi
    [ -f "$work/gpuopt.o" ] || "${CC:-cc}" -O0 -c "$root/gpuopt_impl/gpuopt.c" -o "$work/gpuopt.o"
    "${CC:-cc}" -O1 -I"$root" "$parts/$1.c" "$work/gpuopt.o" -lm -o "$work/$1"
    "$work/$1"
}

# Without Graphviz's own comments and titles. The last comment names the source; tests/frame/pictures_test.sh checks it.
drawn() { # DOT
    dot -Tsvg "$1" | sed -E '/^<!--.*-->$/d; /^<!--/,/-->$/d; /<title>/d' |
        sed "\$i <!-- $(cksum <"$1" | cut -d' ' -f1) is the checksum of $(basename "$1") -->"
}

folder=
case ${1:-} in
-h | --help) help && exit ;;
--dot)
    [ -d "${2:-}" ] || { echo "pictures.sh: --dot needs a folder; see --help" >&2 && exit 2; }
    folder=$2
    shift 2
    ;;
-*)
    echo "pictures.sh: there is no option $1; see --help" >&2
    exit 2
    ;;
esac
[ $# -gt 0 ] || set -- "${names[@]}"
for name; do
    [[ " ${names[*]} " == *" $name "* ]] ||
        { echo "pictures.sh: there is no picture $name; see --help" >&2 && exit 2; }
    dot_source "$name" >"$work/source"
    cp "$work/source" "${folder:-$root/doc}/${name}_step.dot"
    [ "$folder" ] || drawn "$root/doc/${name}_step.dot" >"$root/doc/${name}_step.svg"
done
