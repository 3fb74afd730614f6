#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The pictures of one step in the pages of three families, whose numbers the library computes (tools/pictures.c).
# Usage: pictures.sh                  draws them: doc/FAMILY_step.dot and, from it, doc/FAMILY_step.svg (needs Graphviz)
#        pictures.sh --dot FOLDER     only the sources, into this folder
set -eu
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
families=(simplex elimination knapsack)

sources() { # FOLDER
    local family work
    work=$(mktemp -d)
    "${CC:-cc}" -O1 -I"$root" "$root/tools/pictures.c" "$root/gpuopt_impl/gpuopt.c" -lm -o "$work/pictures"
    for family in "${families[@]}"; do "$work/pictures" "$family" >"$1/${family}_step.dot"; done
    rm -r "$work"
}

# Without Graphviz's own comments; the first comment names the source, as tests/frame/pictures_test.sh checks.
drawn() { # DOT
    dot -Tsvg "$1" | sed -E '/^<!--.*-->$/d; /^<!--/,/-->$/d; /<title>/d' |
        sed "\$i <!-- $(cksum <"$1" | cut -d' ' -f1) is the checksum of $(basename "$1") -->"
}

case ${1:-} in
-h | --help) help ;;
--dot)
    [ $# -eq 2 ] || { echo "pictures.sh: --dot needs a folder; see --help" >&2 && exit 2; }
    sources "$2"
    ;;
'')
    sources "$root/doc"
    for family in "${families[@]}"; do drawn "$root/doc/${family}_step.dot" >"$root/doc/${family}_step.svg"; done
    ;;
*)
    echo "pictures.sh: there is no option $1; see --help" >&2
    exit 2
    ;;
esac
