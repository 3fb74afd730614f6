#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Builds the documentation site from the pages of the repository and the comments of the headers.
# Usage: site.sh [FOLDER]
#   FOLDER   gets the site and must be new, empty or a site of this script. Default: dist/site. Open FOLDER/index.html,
#            or, for the search field, run "python3 -m http.server -d FOLDER"
# Needs Doxygen and Python with venv (Debian: doxygen, python3-venv). MkDocs and its theme are installed once into
# dist/site_venv, by pip; GPUOPT_SITE_VENV names another virtual environment. A broken link is an error.
set -eu
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }
case ${1-} in
-h | --help) help && exit ;;
-*) echo "site.sh: there is no option $1; see --help" >&2 && exit 2 ;;
esac
[ $# -le 1 ] || { echo "site.sh: more than one folder; see --help" >&2 && exit 2; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
to=${1-$root/dist/site}
mark=.gpuopt-site # of the folders that are its own
if [ ! -f "$to/$mark" ] && [ -n "$(find "$to/" -mindepth 1 -print -quit 2>/dev/null)" ]; then
    echo "site.sh: $to is not empty, and this script has not made it: nothing has been changed" >&2
    exit 2
fi
parts=$root/tools/site
venv=${GPUOPT_SITE_VENV:-$root/dist/site_venv}
if ! "$venv/bin/mkdocs" --version >/dev/null 2>&1; then
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install -q --disable-pip-version-check -r "$parts/requirements.txt"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$root/doc/reference.sh" --xml "$work/xml"
mkdir "$work/docs"
"$venv/bin/python" -B "$parts/stage.py" "$root" "$work/xml" "$work/docs"
cp "$parts/mkdocs.yml" "$work"
# Without --quiet, which hides the warnings from --strict.
NO_MKDOCS_2_WARNING=1 "$venv/bin/mkdocs" build --strict -f "$work/mkdocs.yml" -d "$work/site" >"$work/said" 2>&1 || {
    cat "$work/said" >&2
    exit 1
}
mkdir -p "$to"
find "$to/" -mindepth 1 -delete
cp -R "$work/site/." "$to"
touch "$to/$mark"
echo "$to/index.html"
