#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# That the HTML reference can be made from the header without a warning, that every function, struct, member, constant
# and macro of the header has a comment, and that the text of the comments comes out as it was written.
# Needs Doxygen, or is skipped.
# Usage: reference_test.sh
# Runs with: --all
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }

if ! command -v doxygen >/dev/null; then
    leave "the reference" "no doxygen"
fi

# ---- The filter on a small header ----

copy() {
    mkdir -p "$work/copy/doc" && cp "$root"/doc/{Doxyfile,filter.awk,filter_md.awk,reference.css,reference.sh,modules.svg} \
        "$work/copy/doc" && cp "$root/README.md" "$root/ARCHITECTURE.md" "$work/copy"
}
# Text of which each piece would be markup to Doxygen.
hostile='lb <= x < ub, a < b > c, [rows][2], _create and _destroy, 5% of #1, *not* bold, \n a_b_c, a & b, @brief -- x|y'
small_header() {
    cat >"$work/copy/gpuopt.h" <<END
/* SPDX-License-Identifier: MIT
 *
 * A header for the filter
 *
 * Label     $hostile
 *           and more text of the same paragraph.
 *
 *     set   as it is   <here>
 */
#ifndef GPUOPT_H
#define GPUOPT_H
#define GPUOPT_VERSION_MAJOR 1 /* a number */

/* ---- First section ---- *
 * Of a < b. */

/* What this returns. $hostile. */
GPUOPT_API int gpuopt_first(int argument);

/* A struct. */
typedef struct gpuopt_pair {
    size_t struct_size;
    int32_t left, right;  /* shared by two: $hostile */
    const double *behind; /* begins here
                             and ends here */
    /* Stands before. */
    int32_t before;
} gpuopt_pair;

/* Text between declarations. */

/* One line. */
typedef enum gpuopt_kind { GPUOPT_KIND_A = 0, GPUOPT_KIND_B } gpuopt_kind;
$1
#endif
END
}
makes() { small_header "$1" && "$work/copy/doc/reference.sh" "$work/small"; }
# Without tags and line breaks.
plain_text() {
    sed -e 's/<[^>]*>//g; s/&#160;/ /g; s/&ensp;/ /g; s/\xe2\x80\x82/ /g' \
        -e 's/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g; s/&amp;/\&/g' "$work/small/$1" | tr -s ' \n' ' '
}
shows() { plain_text "$1" | grep -qF -- "$2" || { plain_text "$1" | tail -c 1500 && return 1; }; }
shows_twice() { [ "$(plain_text "$1" | grep -oF -- "$2" | wc -l)" -ge 2 ]; }
reports() {
    if makes "$1" >"$work/reported" 2>&1; then echo "was made" && return 1; fi
    grep -q "gpuopt\.h:[0-9]*: error: .*$2.*not documented" "$work/reported" || { cat "$work/reported" && return 1; }
}

check "a small copy of doc" copy
check "a small header" makes ""
check "text of a call stands as it was written" shows group__section1.html "What this returns. $hostile."
check "text of the file's head does" shows group__overview.html "Label $hostile and more text of the same paragraph."
check "indented lines stay as they are set" shows group__overview.html 'set as it is <here>'
check "text of a section does" shows group__section1.html 'Of a < b.'
check "text between declarations belongs to the section" shows group__section1.html 'Text between declarations.'
check "members of one line share its comment" shows_twice group__section1.html "shared by two: $hostile"
check "a comment behind a member may take two lines" shows group__section1.html 'begins here and ends here'
check "constants of one line share the enum's" shows_twice group__section1.html 'One line.'
check "reported: a call without a comment" reports 'GPUOPT_API int gpuopt_bare(void);' gpuopt_bare
check "reported: a member" reports $'/* . */\ntypedef struct gpuopt_s {\n    int bare;\n} gpuopt_s;' 'bare (variable)'
check "reported: a struct" reports $'typedef struct gpuopt_s {\n    int x; /* x */\n} gpuopt_s;' gpuopt_s
check "reported: a constant" \
    reports $'/* . */\ntypedef enum gpuopt_e {\n    GPUOPT_E_A, /* a */\n    GPUOPT_E_BARE\n} gpuopt_e;' GPUOPT_E_BARE
check "reported: a macro" reports '#define GPUOPT_BARE 1' GPUOPT_BARE

# ---- The library's ----

has_all_calls() {
    local call missing=0
    while read -r call; do
        grep -rqF ">$call<" "$work"/reference/group__*.html || { echo "$call is missing" && missing=1; }
    done < <(grep -ohE '^(GPUOPT_API|extern) .*gpuopt_[a-z_]+\(' "$root/gpuopt.h" "$root"/gpuopt/*.h | grep -oE 'gpuopt_[a-z_]+\($' | tr -d '(')
    return $missing
}
check "doc/reference.sh, without a warning" "$root/doc/reference.sh" "$work/reference"
check "every call of the headers is in it" has_all_calls

summary
