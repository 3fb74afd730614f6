#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# That the modules of gpuopt_impl and cuda include only what they may, in no circle, that private names carry their
# family, that every header of gpuopt_impl compiles by itself, and that the picture of the modules is up to date.
# Modules are found by listing the folders. A small tree, broken in one place at a time, shows first that each rule can
# fail.
# Usage: rooms_test.sh
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }

includes() { "$root/tools/rooms.sh" --includes "$1"; }

# Each rule prints what breaks it.

# An include in quotes names a file relative to its own; one in angle brackets none of the library's.
includes_are_relative() {
    local from to broken=0
    while read -r from to; do
        [ -f "$1/$to" ] || { echo "$from: there is no $to" && broken=1; }
    done < <(includes "$1")
    while IFS=: read -r from to; do
        to=${to#*<}
        [ ! -e "$1/${to%%>*}" ] || { echo "$from: <${to%%>*}> is the library's own" && broken=1; }
    done < <(cd "$1" && grep -rE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<' gpuopt.h gpuopt gpuopt_impl cuda)
    return $broken
}

# A family includes itself and common; in cuda also the same two of gpuopt_impl. The public headers are open to all.
# The files that stand directly in gpuopt_impl and cuda connect the modules.
rooms_are_kept() {
    includes "$1" | awk '
        function room(path, part, n) {
            n = split(path, part, "/")
            return n > 2 ? part[1] "/" part[2] : n == 2 ? part[1] : path
        }
        {
            from = room($1)
            to = room($2)
            family = from
            sub(/.*\//, "", family)
            if (from == to || to == "gpuopt.h" || to == "gpuopt") next
            if (from == "gpuopt.h" && $2 == "gpuopt_impl/all.h") next
            if (from == "gpuopt_impl" && to ~ /^gpuopt_impl\//) next
            if (from == "cuda" && to ~ /^cuda\//) next
            if (from ~ /^(gpuopt_impl|cuda)\// && to == "gpuopt_impl/common") next
            if (from ~ /^cuda\// && (to == "cuda/common" || to == "gpuopt_impl/" family)) next
            print $1 " may not include " $2
            broken = 1
        }
        END { exit broken }'
}

# A private name that a family of gpuopt_impl uses begins with gpuopt__FAMILY, or is one of common's. (The handle of
# propagate is the propagator.)
names_carry_family() {
    local room family names broken=0
    for room in "$1"/gpuopt_impl/*/; do
        family=$(basename "$room")
        [ "$family" != common ] || continue
        names=$(grep -rohiE '\bgpuopt__[a-z0-9_]+' "$room" | sort -u | grep -viE "^gpuopt__${family%e}" |
            while read -r name; do grep -rqw "$name" "$1/gpuopt_impl/common" || echo "$name"; done)
        [ -z "$names" ] || { echo "$family uses $names" && broken=1; }
    done
    return $broken
}

# The public header includes the implementation on demand only; that is no circle.
has_no_circle() { includes "$1" | grep -v '^gpuopt\.h ' | tsort >/dev/null; }

# A header without an include guard is a template, included several times by a file that sets its parameters.
is_template() { ! grep -qE '^#ifndef GPUOPT_[A-Z_]+$' "$1"; }

compiles_alone() {
    local header broken=0
    while read -r header; do
        is_template "$1/$header" && continue
        echo "#include \"$1/$header\"" >"$work/alone.c"
        gcc -std=c11 -Werror=implicit-function-declaration -fsyntax-only "$work/alone.c" || broken=1
    done < <(cd "$1" && find gpuopt.h gpuopt/ gpuopt_impl -name '*.h')
    return $broken
}

templates_are_used_twice() {
    local header broken=0
    while read -r header; do
        is_template "$1/$header" || continue
        [ "$(includes "$1" | grep -c " $header$")" -gt 1 ] ||
            { echo "$header has no include guard, and is included less than twice" && broken=1; }
    done < <(cd "$1" && find gpuopt_impl cuda -name '*.h' -o -name '*.cuh')
    return $broken
}

picture_is_new() { "$root/tools/rooms.sh" --dot "$root" | diff "$root/doc/rooms.dot" -; }

# ---- The rules on a small tree ----

# header PATH LINE...: a header of these lines, with an include guard.
header() {
    local path=$tree/$1 guard
    guard=GPUOPT_$(echo "$1" | tr 'a-z/.' 'A-Z__')
    shift
    mkdir -p "$(dirname "$path")"
    { printf '#ifndef %s\n#define %s\n' "$guard" "$guard" && printf '%s\n' "$@" && echo '#endif'; } >"$path"
}
plant() {
    tree=$work/tree
    rm -rf "$tree"
    header gpuopt.h 'typedef int gpuopt_type;'
    header gpuopt/layer.h '#include "../gpuopt.h"'
    header gpuopt_impl/all.h '#include "one/calls.h"' '#include "two/calls.h"'
    header gpuopt_impl/common/checks.h '#include "../../gpuopt.h"'
    header gpuopt_impl/common/bytes.h '#include "checks.h"'
    header gpuopt_impl/one/backend.h '#include "../common/checks.h"' 'typedef gpuopt_type gpuopt__one;'
    header gpuopt_impl/one/calls.h '#include "backend.h"' 'static gpuopt__one gpuopt__one_value;'
    header gpuopt_impl/two/calls.h '#include "../common/checks.h"'
    header cuda/common/context.cuh '#include <stdint.h>' '#include "../../gpuopt_impl/common/checks.h"'
    header cuda/one/calls.cuh '#include "../common/context.cuh"' '#include "../../gpuopt_impl/one/backend.h"'
    printf '#include "one/calls.cuh"\n' >"$tree/cuda/gpuopt_cuda.cu"
}

rules=(includes_are_relative rooms_are_kept names_carry_family has_no_circle compiles_alone templates_are_used_twice)
keeps_all_rules() {
    local rule
    plant
    for rule in "${rules[@]}"; do "$rule" "$tree" || return 1; done
}
# breaks RULE HEADER LINE...: with this header, the rule and only that one does not hold.
breaks() {
    local broken=$1 rule
    shift
    plant
    header "$@"
    for rule in "${rules[@]}"; do
        if "$rule" "$tree" >"$work/rule" 2>&1; then
            [ "$rule" != "$broken" ] || { echo "$rule holds" && return 1; }
        else
            [ "$rule" = "$broken" ] || { cat "$work/rule" && return 1; }
        fi
    done
}
template_used_once() {
    plant
    echo 'static int gpuopt__x;' >"$tree/gpuopt_impl/one/rows.h"
    header gpuopt_impl/one/calls.h '#include "rows.h"'
    ! templates_are_used_twice "$tree" >/dev/null
}

check "a tree in order" keeps_all_rules
check "seen: a file that is not there" breaks includes_are_relative cuda/one/extra.cuh '#include "gpuopt_impl/one/calls.h"'
check "seen: an own file in angle brackets" breaks includes_are_relative cuda/one/extra.cuh '#include <gpuopt.h>'
check "seen: a family that includes another" \
    breaks rooms_are_kept gpuopt_impl/two/extra.h '#include "../one/backend.h"'
check "seen: common that includes a family" \
    breaks rooms_are_kept gpuopt_impl/common/extra.h '#include "../one/calls.h"'
check "seen: a family that includes the list of all" \
    breaks rooms_are_kept gpuopt_impl/two/extra.h '#include "../all.h"'
check "seen: gpuopt_impl that includes cuda" \
    breaks rooms_are_kept gpuopt_impl/two/extra.h '#include "../../cuda/common/context.cuh"'
check "seen: cuda that includes another family of gpuopt_impl" \
    breaks rooms_are_kept cuda/one/extra.cuh '#include "../../gpuopt_impl/two/calls.h"'
check "seen: cuda/common that includes a family" \
    breaks rooms_are_kept cuda/common/extra.cuh '#include "../../gpuopt_impl/one/backend.h"'
check "seen: a private name without its family" \
    breaks names_carry_family gpuopt_impl/two/extra.h 'static int gpuopt__value;'
check "seen: a circle" \
    breaks has_no_circle gpuopt_impl/common/checks.h '#include "../../gpuopt.h"' '#include "bytes.h"'
check "seen: a header that does not compile by itself" \
    breaks compiles_alone gpuopt_impl/two/extra.h 'static gpuopt_nothing gpuopt__two_value;'
check "seen: a header without a guard" template_used_once

# ---- The library ----

check "includes are relative" includes_are_relative "$root"
check "families include themselves and common" rooms_are_kept "$root"
check "private names carry their family" names_carry_family "$root"
check "no file includes itself by way of others" has_no_circle "$root"
check "every header of gpuopt_impl compiles by itself" compiles_alone "$root"
check "only templates have no include guard" templates_are_used_twice "$root"
check "doc/rooms.dot is what tools/rooms.sh makes" picture_is_new

summary
