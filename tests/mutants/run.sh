#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Usage: run.sh [--check] [NAME...]
#
# Breaks the library in one place at a time, as the lists tests/mutants/FAMILY.txt specify, and runs the tests that
# shall notice. NAME: only mutants whose names begin with it. Prints a line for each, in no order, and the score; the
# exit status is 1 if one survives, is not where its list has it, or does not compile, or if there is none of this name.
# Works in a copy of the tree for each processor; takes about ten seconds of one for each mutant. To be run by hand;
# reads no public models. --check only looks whether each text is where its list has it, in seconds.
#
# An entry of a list is
#   mutant: NAME
#   in: FUNCTION          of gpuopt_impl/, in whatever file; or a macro, or the first constant of an enum on one line.
#                         Exactly one definition of it must exist. A function of a template: MACRO(NAME)
#   old: TEXT             of one line; must be in the definition exactly once
#   new: TEXT             what stands there instead
#   tests: FOLDER/NAME... of tests/FOLDER/NAME_test.c, run on the CPU; NAME:threads runs cpu-threads, and NAME:debug
#                         has the library compiled with -DGPUOPT_DEBUG. Or, for a mutant
#   equivalent: REASON    that no test can notice
# and a blank line.
set -u
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }
case ${1:-} in
-h | --help)
    help
    exit
    ;;
--check) check=1 && shift ;;
-*) echo "run.sh: there is no option $1; see --help" >&2 && exit 2 ;;
*) check='' ;;
esac
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
all=$(mktemp -d) || exit 1
trap 'rm -rf "$all"' EXIT
renice -n 10 $$ >/dev/null

flags=(-O1 -fopenmp -I. -Iexamples)
library() { gcc "${flags[@]}" -O0 -c gpuopt_impl/gpuopt.c -o "$work/$1.o"; }

# Objects are compiled once, but for tests that include a part of the library.
object() {
    local to
    to=$work/objects/${1//\//_}.o
    ! grep -q '#include "gpuopt_impl/' "$1" || rm -f "$to"
    [ -e "$to" ] || case $1 in
    *.cpp) g++ -std=c++17 "${flags[@]}" -c "$1" -o "$to" ;;
    *) gcc -std=c11 -D_GNU_SOURCE "${flags[@]}" -c "$1" -o "$to" ;;
    esac || exit 1
    made+=("$to")
}

# helpers FOLDER: an archive of the folder's own helpers (group: also the simplex tests'), the tests' support, the
# examples' readers and a transport.
helpers() {
    local file made=() other=()
    [ ! -e "$work/$1.a" ] || return 0
    if [ "$1" = group ]; then other=(tests/simplex/*.c); fi
    for file in tests/"$1"/*.c "${other[@]}" tests/support/*.c examples/io/*.c examples/io/*.cpp transports/gpuopt_threads.c; do
        case $file in *_test.c) ;; *) object "$file" ;; esac
    done
    ar rcs "$work/$1.a" "${made[@]}"
}

# passes LIBRARY TEST: links it with that object, and runs it.
passes() {
    local library=$1 folder=${2%%/*} name=${2#*/} backend=cpu made=()
    case $name in
    *:threads) name=${name%:threads} backend=cpu-threads ;;
    *:debug)
        name=${name%:debug}
        gcc "${flags[@]}" -O0 -DGPUOPT_DEBUG -c gpuopt_impl/gpuopt.c -o "$work/debug.o" || exit 1
        library=debug
        ;;
    esac
    helpers "$folder"
    object "tests/$folder/${name}_test.c"
    g++ -fopenmp "${made[0]}" "$work/$folder.a" "$work/$library.o" -lcmocka -lgmp -lClp -lCoinUtils -lz -llzma -lm \
        -o "$work/program" || exit 1
    (unset GPUOPT_TEST_DATA && ulimit -v 8000000 && timeout 60 "$work/program" "$backend") >"$work/log" 2>&1
}

declare -A sound=() # tests that pass without a mutant
complain() { echo "WRONG      $name: $1"; }

# Prints "NAME FILE FIRST LAST" for each definition in gpuopt_impl/: its lines. Relies on clang-format: what begins at
# the left margin is a definition or a declaration, and a body of several lines ends with a } there.
definitions() {
    find gpuopt_impl -name '*.[ch]' -exec awk '
        function print_definition() {
            if (name != "") print name, FILENAME, first, FNR
            first = 0
            head = name = ""
        }
        FNR == 1 { first = macro = body = 0; head = name = "" }
        macro || /^#define/ {
            if (!macro) { first = FNR; name = $2; sub(/\(.*/, "", name) }
            macro = /\\$/
            if (!macro) print_definition()
            next
        }
        body { if (/^}/) { body = 0; print_definition() } next }
        !first && !/^[A-Za-z_]/ || /^extern "C"/ { next }
        !first { first = FNR }
        { head = head " " $0 }
        /{/ {
            if (match(head, /^ enum { [A-Za-z_0-9]+/)) name = substr(head, 9, RLENGTH - 8)
            else if (head !~ /^ (typedef|struct|enum|union) [^(]*{/ &&
                     match(head, /[A-Za-z_0-9]+(\([a-z_]+\))?\(/)) name = substr(head, RSTART, RLENGTH - 1)
            body = /{$/
            if (!body) print_definition()
            next
        }
        /;$/ { print_definition() }' {} +
}

try() {
    local place=${defined[$in]:-} file first last text rest count one by=
    [ -n "$place" ] || { complain "no definition of $in" && return; }
    case $place in *$'\n'*) complain "$in has several definitions" && return ;; esac
    read -r file first last <<<"$place"
    text=$(sed -n "$first,${last}p" "$root/$file")
    rest=${text//"$old"/}
    count=$(((${#text} - ${#rest}) / ${#old}))
    [ "$count" -eq 1 ] || { complain "the text is $count times in $in of $file" && return; }
    [ "$old" != "$new" ] || { complain "it changes nothing" && return; }
    for one in $tests; do
        [ -e "tests/${one%:*}_test.c" ] || { complain "no test $one" && return; }
    done
    if [ -n "$check" ]; then
        echo "in-place   $name"
        return
    fi
    if [ -n "$reason" ]; then
        echo "equivalent $name: $reason"
        return
    fi
    for one in $tests; do
        [ -z "${sound[$one]:-}" ] || continue
        passes sound "$one" || { complain "$one fails without it" && tail -5 "$work/log" && return; }
        sound[$one]=1
    done
    {
        head -n $((first - 1)) "$root/$file"
        printf '%s\n' "${text/"$old"/"$new"}"
        tail -n +$((last + 1)) "$root/$file"
    } >"$file"
    if library mutant 2>"$work/errors"; then
        for one in $tests; do
            passes mutant "$one" || { by=$one && break; }
        done
        if [ -n "$by" ]; then echo "killed     $name: $by"; else echo "SURVIVED   $name: $tests"; fi
    else
        complain "it does not compile" && head -3 "$work/errors"
    fi
    cp "$root/$file" "$file"
}

wanted=("$@")
chosen() {
    local one
    [ ${#wanted[@]} -gt 0 ] || return 0
    for one in "${wanted[@]}"; do case $name in "$one"*) return 0 ;; esac; done
    return 1
}

# entry: one has been read. Every worker reads them all, and tries those that are its own.
entry() {
    [ -n "$name" ] && chosen && [ $((number++ % workers)) -eq "$worker" ] || return 0
    if [ -z "$in" ] || [ -z "$old" ] || [ -z "$tests$reason" ]; then complain "its entry is not complete"; else try; fi
}

# work WORKER: in a subshell.
work() {
    local worker=$1 number=0 line place name='' in='' old='' new='' tests='' reason=''
    declare -A defined=()
    work=$all/$worker
    mkdir -p "$work/tree" "$work/objects" || exit 1
    cp -r "$root"/{gpuopt.h,gpuopt,gpuopt_impl,examples,tests,transports} "$work/tree" && cd "$work/tree" || exit 1
    [ -n "$check" ] || library sound || exit 1
    while read -r name place; do
        defined[$name]=${defined[$name]:+${defined[$name]}$'\n'}$place
    done < <(definitions)
    name=''
    while IFS= read -r line; do
        case $line in
        '#'*) ;;
        'mutant: '*) name=${line#*: } in='' old='' new='' tests='' reason='' ;;
        'in: '*) in=${line#*: } ;;
        'old: '*) old=${line#*: } ;;
        'new: '*) new=${line#*: } ;;
        'new:') new='' ;;
        'tests: '*) tests=${line#*: } ;;
        'equivalent: '*) reason=${line#*: } ;;
        '')
            entry
            name=''
            ;;
        *) [ "$worker" -gt 0 ] || complain "not a line of an entry: $line" ;;
        esac
    done < <(for file in "$root"/tests/mutants/*.txt; do cat "$file" && echo; done)
}

workers=$(nproc)
for ((one = 0; one < workers; one++)); do
    (work "$one") || echo "WRONG      worker $one stopped" &
done | tee "$all/said"

count() { grep -c "^$1 " "$all/said"; }
wrong=$(count WRONG)
if [ -n "$check" ]; then
    echo "$(count in-place) in place, $wrong wrong"
    [ "$(count in-place)" -gt 0 ] && [ "$wrong" -eq 0 ]
    exit
fi
killed=$(count killed) survived=$(count SURVIVED) equivalent=$(count equivalent)
echo "$killed killed, $survived survived, $equivalent equivalent, $wrong wrong: $killed of $((killed + survived + wrong))"
[ $((killed + equivalent)) -gt 0 ] && [ $((survived + wrong)) -eq 0 ]
