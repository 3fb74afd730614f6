#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What the pages mention exists: names of the library, in whole or by their ends (`_expand`), options of programs, files
# in backticks, and what links lead to. CHANGELOG.md is left out, since it has names that are gone.
# Usage: names_test.sh
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }
cd "$root" || exit 1

mapfile -t pages < <(find . -name '*.md' ! -path './.*/*' ! -path './third_party/*' ! -path './CHANGELOG.md' | cut -c 3- | sort)
sources=(gpuopt.h gpuopt gpuopt_impl cuda transports examples tests cmake python tools doc packaging CMakeLists.txt meson.build)
# in_sources PATTERN: what matches it in files that are no pages, sorted.
in_sources() { find "${sources[@]}" -type f ! -name '*.md' -exec grep -hoaE -e "$1" {} + | sort -u; }
in_sources '\b(gpuopt|GPUOPT)_[A-Za-z0-9_]+' >"$work/names"
in_sources '[a-z][a-z0-9-]+' >"$work/words"
grep -hoE '\b[a-z][a-z0-9_]+' gpuopt.h gpuopt/*.h | sort -u >"$work/public"
find . -type f ! -path './.*/*' | sed 's/^\.//; s/$/|/' >"$work/files"

# none_of FILE: the words on stdin that are not lines of it; fails if there is one.
none_of() { ! comm -23 <(sort -u) "$1" | grep .; }
names_exist() { grep -hoE '\b(gpuopt|GPUOPT)_[A-Za-z][A-Za-z0-9_]*' "$@" | grep -v '_$' | none_of "$work/names"; }
ends_exist() {
    grep -hoE '(^|[^A-Za-z0-9_.>*-])_[a-z][a-z0-9_]*[a-z0-9]\b' "$@" | sed 's/^[^_]*//' | sort -u >"$work/ends"
    ! while read -r end; do grep -q -- "$end\$" "$work/public" || echo "$end"; done <"$work/ends" | grep .
}
# Those of programs that are not ours follow a program's name, or are of theirs.
options_exist() {
    grep -hoE '(^|[^a-z-])--[a-z][a-z-]+' "$@" | sed 's/^[^-]*--//' |
        grep -vxE 'cache-sim|overlay-ports|registry|toggle-collect' | none_of "$work/words"
}
files_exist() {
    # shellcheck disable=SC2016 # no commands
    grep -hoE '`[a-z0-9_./-]+/[a-z0-9_.-]+\.(c|h|cu|cuh|cpp|sh|py|awk|md)`' "$@" | tr -d '`' | grep -v '^dist/' |
        sort -u >"$work/mentioned"
    ! while read -r file; do grep -qF "/$file|" "$work/files" || echo "$file"; done <"$work/mentioned" | grep .
}

# anchors PAGE: of its headings, as GitHub makes them.
anchors() {
    awk '/^```/ { inside = !inside } !inside && /^#+ /' "$1" |
        sed -E 's/^#+ +//; s/\[([^]]*)\]\([^)]*\)/\1/g; s/[^A-Za-z0-9_ -]//g; s/ /-/g' | tr '[:upper:]' '[:lower:]'
}
# lead_somewhere PAGE...: each link to a file, and to a heading of a page.
lead_somewhere() {
    local page link path heading bad=0
    for page in "$@"; do
        while read -r link; do
            path=${link%%#*} heading=${link#"$path"}
            path=${path:+$(dirname "$page")/$path} path=${path:-$page}
            if [ ! -e "$path" ]; then
                echo "$page: $link" && bad=1
            elif [ -n "$heading" ] && ! anchors "$path" | grep -qx -- "${heading#\#}"; then
                echo "$page: no heading $link" && bad=1
            fi
        done < <(awk '/^```/ { inside = !inside } !inside' "$page" | grep -oE '\]\([^) ]+\)' | sed 's/^..//; s/.$//' |
            grep -v '://' | sort -u)
    done
    return $bad
}

check "names of the library" names_exist "${pages[@]}"
check "ends of names" ends_exist "${pages[@]}"
check "options" options_exist "${pages[@]}"
check "files" files_exist "${pages[@]}"
check "links" lead_somewhere "${pages[@]}"

# sees EDIT CHECK: a page passes the check, and after this edit fails it.
mkdir "$work/doc" && ln -s "$root"/* "$work" 2>/dev/null
ln -s "$root"/doc/* "$work/doc"
sees() {
    cp doc/knapsack.md "$work/doc/page.md"
    "$2" "$work/doc/page.md" && sed -i "$1" "$work/doc/page.md" && ! "$2" "$work/doc/page.md"
}
# shellcheck disable=SC2016 # no commands
for edit in 's/gpuopt_knapsack_expand/&ed/ names_exist' 's/`_split`/`_splinter`/ ends_exist' \
    's/knapsack_internals.md/&x/ lead_somewhere' 's/#a-full-pool/&s/ lead_somewhere' \
    's|`examples/cutting_stock.c|`examples/cutting/stock.c| files_exist' 's/^##.P\(urpose\)/--p\1s-of/ options_exist'; do
    check "seen by ${edit##* }: ${edit% *}" sees "${edit% *}" "${edit##* }"
done
summary
