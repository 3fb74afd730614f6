#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Usage: reference.sh [--xml] [FOLDER]
#
# Makes the HTML reference from the comments of gpuopt.h and of its layers in gpuopt, and from the pages of the
# repository and of doc: FOLDER/index.html (doc/reference). FOLDER must be new, empty, or one that this script has made:
# of such a one, the files that it wrote are replaced, which .gpuopt-reference lists, and others stay. Needs Doxygen
# (Debian: doxygen). A warning is an error, and so is a declaration without a comment: the exit status is 1. It is 2 if
# there is something else in FOLDER, which is then left alone. --xml: only Doxygen's XML of the headers, for
# tools/site.sh.
set -eu
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }
refuse() { echo "reference.sh: $1" >&2 && exit 2; }

format=HTML
case ${1-} in
-h | --help) help && exit ;;
--xml) format=XML && shift ;;
-*) refuse "there is no option $1; see --help" ;;
esac
[ $# -le 1 ] || refuse "more than one folder; see --help"
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
to=${1-$root/doc/reference}
mark=.gpuopt-reference # of the folders that are its own, with the files that it wrote

[ -n "$to" ] || refuse "the folder has no name"
[ ! -e "$to" ] || [ -d "$to" ] || refuse "$to is no folder"
if [ -d "$to" ] && [ ! -f "$to/$mark" ] && [ -n "$(find "$to/" -mindepth 1 -print -quit)" ]; then
    refuse "$to is not empty, and this script has not made it, or an old one has: nothing has been changed"
fi
command -v doxygen >/dev/null || { echo "reference.sh: there is no doxygen (Debian: doxygen)" >&2 && exit 1; }
mkdir -p -- "$to"
to=$(cd -- "$to" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$root"
version=$(awk '$1 == "#define" && $2 ~ /^GPUOPT_VERSION_(MAJOR|MINOR|PATCH)$/ { printf "%s%s", dot, $3; dot = "." }' gpuopt.h)

# Doxygen reads what the filters make of the files, all in one folder.
pages=
for page in README.md ARCHITECTURE.md CONTRIBUTING.md doc/*.md; do
    [ $format = XML ] || [ ! -e "$page" ] || pages="$pages$page "
done
headers=
for header in gpuopt.h gpuopt/*.h; do
    [ -e "$header" ] || continue
    name=${header##*/}
    headers="$headers$name "
    awk -v map="$work/$name.lines" -v missing="$work/missing" -v header="$header" -f doc/filter.awk "$header" >"$work/$name"
done
for page in $pages; do
    awk -v pages="$pages" -v at="$(dirname "$page")" -f doc/filter_md.awk "$page" >"$work/${page##*/}"
done

made=$work/made
mkdir "$made"
[ $format = XML ] || cp doc/*.svg "$made"
cd "$work"
status=0
{
    cat "$root/doc/Doxyfile"
    echo "PROJECT_NUMBER = $version"
    echo "INPUT = $headers${pages//doc\//}"
    if [ $format = XML ]; then
        printf '%s\n' "GENERATE_HTML = NO" "GENERATE_XML = YES" "XML_OUTPUT = ." "XML_PROGRAMLISTING = NO"
    else
        echo "USE_MDFILE_AS_MAINPAGE = README.md"
    fi
    echo "HTML_EXTRA_STYLESHEET = \"$root/doc/reference.css\""
    echo "OUTPUT_DIRECTORY = \"$made\""
    echo "HTML_OUTPUT = ."
} | doxygen - >said 2>&1 || status=$?
if [ -s missing ]; then cat missing >&2 && status=1; fi

# What it wrote before goes. The list is only of names within the folder.
if [ -f "$to/$mark" ]; then
    while IFS= read -r file; do
        case /$file/ in */../* | //*) ;; *) [ ! -f "$to/$file" ] || rm -f -- "$to/$file" ;; esac
    done <"$to/$mark"
fi
(cd "$made" && find . -type f | sed 's,^\./,,' | LC_ALL=C sort) >"$to/$mark"
cp -R "$made/." "$to"

# Warnings with the headers' own lines, each once.
awk -v work="$work/" '
    FILENAME ~ /\.lines$/ { line[substr(FILENAME, 3, length(FILENAME) - 8), FNR] = $0; next }
    {
        if (index($0, work) == 1) $0 = substr($0, length(work) + 1)
        if (match($0, /^[a-z_]+\.h:[0-9]+:/)) {
            name = substr($0, 1, index($0, ":") - 1)
            number = substr($0, length(name) + 2, RLENGTH - length(name) - 2)
            if ((name, number) in line)
                $0 = (name == "gpuopt.h" ? "" : "gpuopt/") name ":" line[name, number] substr($0, RLENGTH)
        }
        if ($0 != "" && !said[$0]++) print
    }' ./*.lines said >&2
exit "$status"
