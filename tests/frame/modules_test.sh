#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Checks the modules, which are the folders of gpuopt_impl and cuda: each includes only what it may, includes form no
# cycle, private names carry their family, and every header of gpuopt_impl compiles by itself. A large family has
# modules of its own: its folders, and each file directly in it. modules/FAMILY.txt and modules/FAMILY_cuda.txt list
# them with the modules that each may include. The pictures of the modules must be up to date. Before that, a small tree
# with one defect at a time shows that each rule can fail.
# Usage: modules_test.sh
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }

# Every rule reads what the sources of this tree include: list_includes TREE, then includes.
list_includes() { "$root/tools/modules.sh" --includes "$1" >"$work/includes"; }
includes() { cat "$work/includes"; }

# Each rule prints what breaks it.

# An include in quotes names a file relative to its own; one in angle brackets none of the library's.
includes_are_relative() {
    local from to broken=0
    while read -r from to; do
        [ -f "$1/$to" ] || { echo "$from: there is no $to" && broken=1; }
    done < <(includes)
    while IFS=: read -r from to; do
        to=${to#*<}
        [ ! -e "$1/${to%%>*}" ] || { echo "$from: <${to%%>*}> is the library's own" && broken=1; }
    done < <(cd "$1" && grep -rE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<' gpuopt.h gpuopt gpuopt_impl cuda)
    return $broken
}

# A family includes itself and common; in cuda also the same two of gpuopt_impl. The public headers are open to all.
# The files directly in gpuopt_impl and cuda connect the modules.
modules_are_separate() {
    includes | awk '
        function module(path, part, n) {
            n = split(path, part, "/")
            return n > 2 ? part[1] "/" part[2] : n == 2 ? part[1] : path
        }
        {
            from = module($1)
            to = module($2)
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

# Each rule about a family's own modules goes through the tables: a line `MODULE: MODULE...` says what a module may
# include. A line `cuda:` in FAMILY.txt limits what cuda/FAMILY may include; without it, it may include all.
tables() { (cd "$1/tests/frame/modules" 2>/dev/null && ls -- *.txt 2>/dev/null); }
# table_lines ROOT TABLE
table_lines() { grep -v '^#' "$1/tests/frame/modules/$2"; }
# The folder of a table.
folder_of() {
    case $1 in
    *_cuda.txt) echo "cuda/${1%_cuda.txt}" ;;
    *) echo "gpuopt_impl/${1%.txt}" ;;
    esac
}
# Its modules as they are: folders, and files directly in it.
modules_of() { (cd "$1/$2" && find . -type f -name '*.[ch]*' | sed 's,^\./,,; s,/.*,,' | LC_ALL=C sort -u); }

# The modules of a table are those of the folder, and what a module may include is above it: the lowest comes first.
tables_are_in_order() {
    local table broken=0
    while read -r table; do
        diff <(table_lines "$1" "$table" | sed 's/:.*//' | grep -vx cuda | LC_ALL=C sort) \
            <(modules_of "$1" "$(folder_of "$table")") | sed -n "s,^<,$table: there is no,p; s,^>,$table does not list,p"
        [ "${PIPESTATUS[0]}" = 0 ] || broken=1
        table_lines "$1" "$table" | awk -v table="$table" '
            {
                for (i = 2; i <= NF; i++) if (!seen[$i]) { print table ": " $1 " " $i " is not above"; broken = 1 }
                seen[substr($1, 1, length($1) - 1)] = 1
            }
            END { exit broken }' || broken=1
    done < <(tables "$1")
    return $broken
}
# A module includes no other than its line allows.
modules_keep_to_table() {
    local table broken=0
    while read -r table; do
        includes | awk -v folder="$(folder_of "$table")" -v table="$1/tests/frame/modules/$table" '
            # The module of a path; of cuda/FAMILY, seen from gpuopt_impl/FAMILY: cuda. "": of another folder.
            function module(path, part) {
                if (index(path, folder "/") == 1) {
                    split(substr(path, length(folder) + 2), part, "/")
                    return part[1]
                }
                return folder ~ /^gpuopt_impl/ && index(path, "cuda" substr(folder, 12) "/") == 1 ? "cuda" : ""
            }
            BEGIN {
                while ((getline line < table) > 0) {
                    n = split(line, word, /:? +|:$/)
                    limited[word[1]] = 1
                    for (i = 2; i <= n; i++) may[word[1], word[i]] = 1
                }
            }
            {
                from = module($1)
                to = module($2)
                if (from == "" || to == "" || from == to || may[from, to]) next
                if (from == "cuda" && !limited[from]) next
                print $1 " may not include " $2
                broken = 1
            }
            END { exit broken }' || broken=1
    done < <(tables "$1")
    return $broken
}
# A folder of such a family has at most 20 files.
folders_are_small() {
    local table folder files broken=0
    while read -r table; do
        while read -r folder; do
            files=$(find "$1/$folder" -maxdepth 1 -type f | wc -l)
            [ "$files" -le 20 ] || { echo "$folder has $files files" && broken=1; }
        done < <(cd "$1" && find "$(folder_of "$table")" -type d)
    done < <(tables "$1")
    return $broken
}

# A private name that a family of gpuopt_impl uses begins with gpuopt__FAMILY, or is one of common's. (The handle of
# propagate is the propagator.)
names_carry_family() {
    local module family names broken=0
    for module in "$1"/gpuopt_impl/*/; do
        family=$(basename "$module")
        [ "$family" != common ] || continue
        names=$(grep -rohiE '\bgpuopt__[a-z0-9_]+' "$module" | sort -u | grep -viE "^gpuopt__${family%e}" |
            while read -r name; do grep -rqw "$name" "$1/gpuopt_impl/common" || echo "$name"; done)
        [ -z "$names" ] || { echo "$family uses $names" && broken=1; }
    done
    return $broken
}

# Groups stand behind the public calls: outside group, common and a family's ranks, nothing calls a group's functions.
# No file with public calls asks whether there is a group; a function of ranks, or one beside it, does.
groups_stay_behind() {
    local found
    found=$(cd "$1/gpuopt_impl" && grep -rnE '\bgpuopt_group_[a-z_]+' --include='*.h' . |
        grep -vE '^\./(group|common|[a-z]+/ranks)/' | grep -vE 'gpuopt_group_(info|desc)\b'
        grep -rlE '^GPUOPT_API' --include='*.h' . | grep -vE '^\./(group|common)/' |
            xargs -r grep -HnE '\bif \([^()]*(->|\.)(group|dealt)[ )]|(->|\.)(group|dealt) \?')
    [ -z "$found" ] || { echo "$found" && return 1; }
}

# The public header includes the implementation on demand only; that is no cycle.
has_no_cycle() { includes | grep -v '^gpuopt\.h ' | tsort >/dev/null; }

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
        [ "$(includes | grep -c " $header$")" -gt 1 ] ||
            { echo "$header has no include guard, and is included less than twice" && broken=1; }
    done < <(cd "$1" && find gpuopt_impl cuda -name '*.h' -o -name '*.cuh')
    return $broken
}

pictures_are_new() {
    local table family
    "$root/tools/modules.sh" --dot "$root" | diff "$root/doc/modules.dot" - || return 1
    for table in $(tables "$root" | grep -v '_cuda\.txt$'); do
        family=${table%.txt}
        "$root/tools/modules.sh" --dot "$root" "$family" | diff "$root/doc/modules_$family.dot" - || return 1
    done
}

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
    # A family with modules of its own, in the order arith, backend.h, api and cpu.
    header gpuopt_impl/three/arith/row.h '#include "../../common/checks.h"'
    header gpuopt_impl/three/backend.h '#include "arith/row.h"'
    header gpuopt_impl/three/api/calls.h '#include "../backend.h"'
    header gpuopt_impl/three/cpu/table.h '#include "../backend.h"'
    header cuda/three/rounds/kernels.cuh '#include "../../../gpuopt_impl/three/arith/row.h"'
    header cuda/three/three.cuh '#include "rounds/kernels.cuh"'
    table three '# A comment.' 'arith:' 'backend.h: arith' 'api: backend.h' 'cpu: arith backend.h' 'cuda: arith'
    table three_cuda 'rounds:' 'three.cuh: rounds'
}
# table NAME LINE...
table() {
    mkdir -p "$tree/tests/frame/modules"
    printf '%s\n' "${@:2}" >"$tree/tests/frame/modules/$1.txt"
}

rules=(includes_are_relative modules_are_separate tables_are_in_order modules_keep_to_table folders_are_small
    names_carry_family groups_stay_behind has_no_cycle compiles_alone templates_are_used_twice)
keeps_all_rules() {
    local rule
    plant
    list_includes "$tree"
    for rule in "${rules[@]}"; do "$rule" "$tree" || return 1; done
}
# breaks RULE HEADER LINE...: with this header, the rule and only that one does not hold.
breaks() { breaks_by "$1" header "${@:2}"; }
# breaks_by RULE COMMAND...: after this command, likewise.
breaks_by() {
    local broken=$1 rule
    plant
    "${@:2}"
    list_includes "$tree"
    for rule in "${rules[@]}"; do
        if "$rule" "$tree" >"$work/rule" 2>&1; then
            [ "$rule" != "$broken" ] || { echo "$rule holds" && return 1; }
        else
            [ "$rule" = "$broken" ] || { cat "$work/rule" && return 1; }
        fi
    done
}
many_files() {
    local i
    for i in {a..t}; do header "gpuopt_impl/three/api/$i.h" '#include "../backend.h"'; done
}
template_used_once() {
    plant
    echo 'static int gpuopt__x;' >"$tree/gpuopt_impl/one/rows.h"
    header gpuopt_impl/one/calls.h '#include "rows.h"'
    list_includes "$tree"
    ! templates_are_used_twice "$tree" >/dev/null
}

check "a tree in order" keeps_all_rules
check "seen: a file that is not there" breaks includes_are_relative cuda/one/extra.cuh '#include "gpuopt_impl/one/calls.h"'
check "seen: an own file in angle brackets" breaks includes_are_relative cuda/one/extra.cuh '#include <gpuopt.h>'
check "seen: a family that includes another" \
    breaks modules_are_separate gpuopt_impl/two/extra.h '#include "../one/backend.h"'
check "seen: common that includes a family" \
    breaks modules_are_separate gpuopt_impl/common/extra.h '#include "../one/calls.h"'
check "seen: a family that includes the list of all" \
    breaks modules_are_separate gpuopt_impl/two/extra.h '#include "../all.h"'
check "seen: gpuopt_impl that includes cuda" \
    breaks modules_are_separate gpuopt_impl/two/extra.h '#include "../../cuda/common/context.cuh"'
check "seen: cuda that includes another family of gpuopt_impl" \
    breaks modules_are_separate cuda/one/extra.cuh '#include "../../gpuopt_impl/two/calls.h"'
check "seen: cuda/common that includes a family" \
    breaks modules_are_separate cuda/common/extra.cuh '#include "../../gpuopt_impl/one/backend.h"'
check "seen: a module that includes one its table does not name" \
    breaks modules_keep_to_table gpuopt_impl/three/cpu/extra.h '#include "../api/calls.h"'
check "seen: a module that includes one above it" \
    breaks modules_keep_to_table gpuopt_impl/three/arith/extra.h '#include "../api/calls.h"'
check "seen: the like in cuda" breaks modules_keep_to_table cuda/three/rounds/extra.cuh '#include "../three.cuh"'
check "seen: cuda that includes a module of gpuopt_impl its table does not name" \
    breaks modules_keep_to_table cuda/three/rounds/extra.cuh '#include "../../../gpuopt_impl/three/api/calls.h"'
check "seen: a folder that its table does not list" \
    breaks tables_are_in_order gpuopt_impl/three/tree/extra.h '#include "../../common/checks.h"'
check "seen: a file that its table does not list" \
    breaks tables_are_in_order gpuopt_impl/three/extra.h '#include "../common/checks.h"'
check "seen: a table that lists what is not there" breaks_by tables_are_in_order table three_cuda 'rounds:' 'tree:' 'three.cuh: rounds'
check "seen: a table with a circle" breaks_by tables_are_in_order table three_cuda 'rounds: three.cuh' 'three.cuh: rounds'
check "seen: more than 20 files in a folder" breaks_by folders_are_small many_files
check "seen: a private name without its family" \
    breaks names_carry_family gpuopt_impl/two/extra.h 'static int gpuopt__value;'
check "seen: a call of a group in a public call" \
    breaks groups_stay_behind gpuopt_impl/two/extra.h '#include "../common/checks.h"' 'int gpuopt_group_agree(void);'
check "seen: a public call that asks for its group" \
    breaks groups_stay_behind gpuopt_impl/two/extra.h '#define GPUOPT_API' \
    'struct gpuopt_two { int group; };' 'GPUOPT_API int gpuopt_two_run(struct gpuopt_two *two);' \
    'static int gpuopt__two_run(struct gpuopt_two *two) {' '    if (two->group) return 1;' '    return 0;' '}'
check "seen: a cycle" \
    breaks has_no_cycle gpuopt_impl/common/checks.h '#include "../../gpuopt.h"' '#include "bytes.h"'
check "seen: a header that does not compile by itself" \
    breaks compiles_alone gpuopt_impl/two/extra.h 'static gpuopt_nothing gpuopt__two_value;'
check "seen: a header without a guard" template_used_once

# ---- The library ----

list_includes "$root"
check "includes are relative" includes_are_relative "$root"
check "families include themselves and common" modules_are_separate "$root"
check "the tables list the modules of their families, lowest first" tables_are_in_order "$root"
check "these include what their table allows" modules_keep_to_table "$root"
check "their folders have at most 20 files" folders_are_small "$root"
check "private names carry their family" names_carry_family "$root"
check "groups stand behind the public calls" groups_stay_behind "$root"
check "no file includes itself by way of others" has_no_cycle "$root"
check "every header of gpuopt_impl compiles by itself" compiles_alone "$root"
check "only templates have no include guard" templates_are_used_twice "$root"
check "doc/modules*.dot are what tools/modules.sh makes" pictures_are_new

summary
