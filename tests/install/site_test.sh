#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The documentation site: tools/site.sh builds it without a warning, and no link in it is broken. With a broken link on
# a page the build fails. Skipped without Doxygen, without Python's venv, or if pip cannot install MkDocs.
# Usage: site_test.sh
# Runs with: --all
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }

leaves() { leave site_test.sh "$1"; }
command -v doxygen >/dev/null || leaves "no doxygen"
export GPUOPT_SITE_VENV=${GPUOPT_SITE_VENV:-$work/venv}
if [ ! -x "$GPUOPT_SITE_VENV/bin/mkdocs" ]; then
    python3 -m venv "$GPUOPT_SITE_VENV" >"$work/venv.log" 2>&1 ||
        leaves "no python3 with venv, which Debian's python3-venv has"
    "$GPUOPT_SITE_VENV/bin/python" -m pip install -q --disable-pip-version-check \
        -r "$root/tools/site/requirements.txt" >"$work/pip.log" 2>&1 ||
        leaves "pip could not install MkDocs: $(tail -n 1 "$work/pip.log" | cut -c1-120)"
fi
python=$GPUOPT_SITE_VENV/bin/python

check "tools/site.sh builds the site, without a warning" "$root/tools/site.sh" "$work/site"
links_are_whole() { "$python" -B "$root/tests/install/site_links.py" "$work/site" "$root"; }
check "every link leads somewhere, and every call is found" links_are_whole
sees_missing() { rm "$work/site/doc/terms.html" && ! links_are_whole; }
check "seen: a link to a missing file" sees_missing

# A copy of what the site is made from, without git.
copy() {
    mkdir "$work/copy" && cd "$root" &&
        cp -r --parents ./*.md LICENSE gpuopt.h gpuopt doc examples/*.c examples/README.md examples/hosts \
            examples/steps python/README.md tests/bench/RESULTS.md tests/bench/results tools "$work/copy"
}
refuses() { # WORDS: the copy's build fails with them
    if "$work/copy/tools/site.sh" "$work/built" >"$work/refused" 2>&1; then echo "it was built" && return 1; fi
    grep -q -- "$1" "$work/refused" || { cat "$work/refused" && return 1; }
}
breaks() { echo "[a link]($1)" >>"$work/copy/doc/terms.md"; }
check "a copy without git" copy
check "a broken link" breaks nothing.md
check "a broken anchor" breaks install.md#nothing
check "seen: a page that does not exist" refuses "doc/terms.md.*nothing.md"
check "seen: an anchor that does not exist" refuses "install.md#nothing"

mkdir "$work/foreign" && touch "$work/foreign/file"
leaves_alone() { ! "$root/tools/site.sh" "$work/foreign" && [ -f "$work/foreign/file" ]; }
check "a folder with other files is left alone" leaves_alone
summary
