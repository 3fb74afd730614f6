#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# --help of every script that is run by hand: it prints the usage and whole sentences, and does nothing else; an unknown
# option is refused. And doc/reference.sh, which writes only into a folder that is new, empty or its own.
# Usage: help_test.sh
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root" || exit 1
# shellcheck source=../support/check.sh
. tests/support/check.sh
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }

# ---- --help ----

# helps SCRIPT OPTION: all of the opening comment, which ends with a sentence, an entry of a list or the usage.
helps() {
    "./$1" "$2" >"$work/out" 2>"$work/err" </dev/null || return
    cat "$work/out" "$work/err"
    [ ! -s "$work/err" ] && grep -q "^ *[Uu]sage: ${1##*/}\|^Usage: *${1##*/}" "$work/out" || return
    sed -n '4,/^[^#]/s/^# \{0,1\}//p' "$1" >"$work/comment"
    [ -s "$work/comment" ] && [ "$(head -n "$(wc -l <"$work/comment")" "$work/out")" = "$(cat "$work/comment")" ]
}
# At least one word of the help is a whole sentence's last one.
has_sentence() { "./$1" --help </dev/null | grep -q '[a-z)]\.\( \|$\)'; }
refuses() {
    local status
    "./$1" --nonsense >"$work/out" 2>"$work/err" </dev/null
    status=$?
    cat "$work/out" "$work/err"
    [ $status -eq 2 ] && [ ! -s "$work/out" ] && grep -q -- --help "$work/err"
}
unchanged() { [ "$(state)" = "$before" ]; }
state() { find doc tools dist -type f -printf '%p %T@ %s\n' 2>/dev/null | LC_ALL=C sort | cksum; }
before=$(state)
for script in doc/*.sh tools/*.sh tests/run.sh examples/run.sh tests/{bench,fuzz,mutants,gpu}/*.sh; do
    case $script in *_test.sh) continue ;; esac
    [ -x "$script" ] || continue # others read it
    check "$script --help" helps "$script" --help
    check "$script -h" helps "$script" -h
    check "$script --help: in sentences" has_sentence "$script"
done
for script in doc/*.sh tools/*.sh tests/run.sh tests/{bench,fuzz,mutants}/*.sh; do
    [ ! -x "$script" ] || check "$script --nonsense" refuses "$script"
done
check "no picture or header was made" unchanged

# ---- doc/reference.sh ----

# A Doxygen that makes two pages, of which the second one is new each time.
mkdir "$work/bin"
cat >"$work/bin/doxygen" <<'END'
#!/bin/sh
to=$(sed -n 's/^OUTPUT_DIRECTORY = "\(.*\)"$/\1/p')
mkdir -p "$to/search" && echo "made $$" >"$to/index.html" && echo "$$" >"$to/search/page_$$.html"
END
chmod +x "$work/bin/doxygen"
makes() { PATH=$work/bin:$PATH doc/reference.sh "$@"; }
contents() { (cd "$1" && find . -type f ! -name '.gpuopt*' ! -name '*.svg' | LC_ALL=C sort | tr '\n' ' '); }
made() { makes "$1" && [ -s "$1/index.html" ] && [ -f "$1/.gpuopt-reference" ]; }
again() { # other files stay, old pages go
    echo mine >"$1/mine" && mkdir -p "$1/other" && echo mine >"$1/other/mine"
    local old
    old=$(find "$1/search" -name 'page_*')
    made "$1" && [ "$(cat "$1/mine" "$1/other/mine" | tr '\n' ' ')" = "mine mine " ] && [ ! -e "$old" ] &&
        [ "$(find "$1/search" -name 'page_*' | wc -l)" -eq 1 ]
}
# left_alone FOLDER ARGUMENT...: refused, with exit status 2, and nothing changes in the folder.
left_alone() {
    local folder=$1 old status
    shift
    old=$(find "$folder" -printf '%p %y %s %T@\n' 2>/dev/null | LC_ALL=C sort)
    PATH=$work/bin:$PATH doc/reference.sh "$@" >"$work/out" 2>"$work/err"
    status=$?
    cat "$work/err"
    [ $status -eq 2 ] && [ -s "$work/err" ] && [ "$old" = "$(find "$folder" -printf '%p %y %s %T@\n' 2>/dev/null | LC_ALL=C sort)" ]
}
full() { mkdir "$work/$1" && echo text >"$work/$1/$2"; }

check "reference.sh: a new folder" made "$work/new"
check "reference.sh: a new folder in a new folder" made "$work/deep/er"
mkdir "$work/empty"
check "reference.sh: an empty folder" made "$work/empty"
check "reference.sh: its own folder again, with other files in it" again "$work/new"
check "reference.sh: a name with blanks" made "$work/with blanks"
mkdir "$work/--dashes"
here() { (cd "$work/--dashes" && PATH=$work/bin:$PATH "$root/doc/reference.sh" . && [ -s index.html ]); }
check "reference.sh: . if it is empty" here
full home notes.txt
check "reference.sh: a folder with a file is left alone" left_alone "$work/home" "$work/home"
full hidden .profile
check "reference.sh: a folder with a hidden file" left_alone "$work/hidden" "$work/hidden"
mkdir -p "$work/nested/folder"
check "reference.sh: a folder with an empty folder" left_alone "$work/nested" "$work/nested"
full pages index.html
check "reference.sh: a folder with a page of another program" left_alone "$work/pages" "$work/pages"
ln -s "$work/home" "$work/link"
check "reference.sh: a link to a folder with a file" left_alone "$work/home" "$work/link"
check "reference.sh: a file" left_alone "$work/home" "$work/home/notes.txt"
check "reference.sh: the folder above" left_alone "$work/home" "$work/home/.."
check "reference.sh: no name" left_alone "$work/home" ""
check "reference.sh: two folders" left_alone "$work/home" "$work/more" "$work/home"
check "reference.sh: an option" left_alone "$work/home" --html "$work/home"
# A list that names files elsewhere deletes none of them.
list() {
    printf '%s\n' ../home/notes.txt "$work/home/notes.txt" '' . search/../../home/notes.txt >>"$work/empty/.gpuopt-reference"
    makes "$work/empty" && [ -s "$work/home/notes.txt" ]
}
check "reference.sh: a list with names of other folders" list
without_doxygen() { # what is missing is told before anything is made
    ! PATH=/nowhere "$BASH" doc/reference.sh "$work/none" 2>"$work/err" && [ ! -e "$work/none" ]
}
check "reference.sh: without Doxygen nothing is made" without_doxygen
summary
