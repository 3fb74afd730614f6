#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Makes the HTML reference from the comments of gpuopt.h and from the pages of the repository and of doc:
# doc/reference/index.html. Needs Doxygen (Debian: doxygen). A warning is an error, and so is a declaration without a
# comment.
# Usage: reference.sh [FOLDER]   default: doc/reference
set -eu

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
to=${1:-$root/doc/reference}
mkdir -p "$to"
to=$(cd "$to" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$root"
version=$(awk '$1 == "#define" && $2 ~ /^GPUOPT_VERSION_(MAJOR|MINOR|PATCH)$/ { printf "%s%s", dot, $3; dot = "." }' gpuopt.h)

# Doxygen reads what the filters make of the files, all in one folder.
pages=
for page in README.md ARCHITECTURE.md CONTRIBUTING.md doc/*.md; do
    [ ! -e "$page" ] || pages="$pages$page "
done
awk -v map="$work/lines" -v missing="$work/missing" -f doc/filter.awk gpuopt.h >"$work/gpuopt.h"
for page in $pages; do
    awk -v pages="$pages" -v at="$(dirname "$page")" -f doc/filter_md.awk "$page" >"$work/${page##*/}"
done

find "$to" -mindepth 1 -delete
cp doc/*.svg "$to"
cd "$work"
status=0
{
    cat "$root/doc/Doxyfile"
    echo "PROJECT_NUMBER = $version"
    echo "INPUT = gpuopt.h ${pages//doc\//}"
    echo "USE_MDFILE_AS_MAINPAGE = README.md"
    echo "HTML_EXTRA_STYLESHEET = \"$root/doc/reference.css\""
    echo "OUTPUT_DIRECTORY = \"$to\""
    echo "HTML_OUTPUT = ."
} | doxygen - >said 2>&1 || status=$?
if [ -s missing ]; then cat missing >&2 && status=1; fi

# Warnings with the header's own lines, each once.
awk -v work="$work/" '
    FILENAME == "lines" { line[FNR] = $0; next }
    {
        if (index($0, work) == 1) $0 = substr($0, length(work) + 1)
        if (match($0, /^gpuopt\.h:[0-9]+:/))
            $0 = "gpuopt.h:" line[substr($0, 10, RLENGTH - 10)] substr($0, RLENGTH)
        if ($0 != "" && !said[$0]++) print
    }' lines said >&2
exit "$status"
