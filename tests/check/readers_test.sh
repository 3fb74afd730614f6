#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# MPS files that a reader may easily take for another model than the one that is meant: the examples' reader and the
# checker's, which share no code, both refuse a file, with its line, or both read it, and the optimum is the one by
# hand. What GLPK makes of comments is asked of glpsol where it is there.
# Usage: readers_test.sh [FOLDER]   with the examples, built
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
programs=$(realpath "${1:-$root/bazel-bin/examples}") || exit
work=$(mktemp -d) || exit 1
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
at_end() { rm -rf "$said" "$work"; }
cd "$work" || exit 1

check "the checker is built" cc -std=c11 -O1 -I"$root" "$root"/tests/check/*.c -lgmp -lm -o checker ||
    { summary; exit 1; }

# checked STATUS MODEL ANSWER
checked() {
    ./checker "$2" "$3" >out
    [ $? -eq "$1" ] || { cat out && return 1; }
}
refused_by_both() {
    printf 'answer 1 lp\noutcome optimal\n' >answer
    timeout 60 "$programs/solve_lp" "$1" >out 2>err
    if [ $? -ne 2 ] || ! grep -qE "^$1:$2: " err; then cat out err && return 1; fi
    if ! checked 2 "$1" answer || ! grep -qE "BAD INPUT: (line $2|words)" out; then cat out && return 1; fi
}
read_by_both() {
    timeout 60 "$programs/solve_lp" "$1" --json --certificate answer >out 2>err
    grep -q "\"objective\": $2," out || { cat out err && return 1; }
    checked 0 "$1" answer
}
# refused NAME LINE: the file on stdin is refused, for that line.
refused() {
    cat >"$1.mps"
    check "$1: refused by both" refused_by_both "$1.mps" "$2"
}
# means NAME OBJECTIVE: it has that optimum.
means() {
    cat >"$1.mps"
    check "$1: read by both" read_by_both "$1.mps" "$2"
}

# ---- Sections ----

# min -x, x <= 4 and x <= 10: -4. A line of the right-hand sides begins in the first column.
for word in ROWS COLUMNS RHS RANGES BOUNDS ENDATA NAME OBJSENSE; do
    refused "set_named_$word" 9 <<END
NAME t
ROWS
 N obj
 L cap
COLUMNS
 x obj -1
 x cap 1
RHS
$word cap 4
BOUNDS
 UP b x 10
ENDATA
END
done
for word in RHS RANGES BOUNDS; do
    refused "behind_$word" 5 <<END
ROWS
 N obj
COLUMNS
 x obj 1
$word cap 4
ENDATA
END
done
refused behind_ROWS 2 <<END
NAME t
ROWS N obj
COLUMNS
 x obj 1
ENDATA
END
refused behind_COLUMNS 4 <<END
NAME t
ROWS
 N obj
COLUMNS x obj 1
ENDATA
END
refused behind_ENDATA 5 <<END
ROWS
 N obj
COLUMNS
 x obj 1
ENDATA x obj 1
END
means sets_named_like_sections -4 <<END
NAME ROWS
ROWS
 N obj
 L cap
COLUMNS
 BOUNDS obj -1 cap 1
RHS
 RHS cap 4
RANGES
 ENDATA cap 3
BOUNDS
 UP RANGES BOUNDS 10
ENDATA
END
means blank_before_section_names -4 <<END
ROWS
 N obj
 L cap
COLUMNS
 x obj -1 cap 1
RHS
 ROWS cap 4
ENDATA
END

# sense NAME LINE TEXT: an OBJSENSE that is refused.
sense() { refused "$1" "$2" < <(printf 'NAME t\n%bROWS\n N o\n L r\nCOLUMNS\n x o 3 r 1\nRHS\n s r 5\nENDATA\n' "$3"); }
sense sense_missing 3 'OBJSENSE\n'
sense sense_missing_before_name 3 'OBJSENSE\nNAME u\n'
sense sense_twice 4 'OBJSENSE\n    MIN\nOBJSENSE\n    MAX\n'
sense sense_twice_on_cards 3 'OBJSENSE MIN\nOBJSENSE MAX\n'
sense sense_twice_in_section 4 'OBJSENSE\n MIN\n MAX\n'
sense sense_unknown 3 'OBJSENSE\n    MAXIMUM\n'
sense sense_of_two_words 2 'OBJSENSE MAX MIN\n'
sense name_twice 2 'NAME u\n'

# ---- Names and sets ----

# 3 x + 0 y with x >= 2, y >= 5: 6; as one column it would be 15.
twins() {
    cat <<END
NAME          TWINS
ROWS
 N  COST
 G  NEED 1
 G  NEED 2
COLUMNS
    $1  COST                 3
    $1  NEED 1               1
    $2  NEED 2               1
RHS
    RHS       NEED 1               2   NEED 2               5
ENDATA
END
}
means twin_columns 6 < <(twins 'BOX 1 12' 'BOX 11 2')
means twin_columns_two_blanks 6 < <(twins 'BOX 1   ' 'BOX  1  ')
means twin_columns_one_without 6 < <(twins 'BOX 1   ' 'BOX1    ')
means twin_columns_other_without 6 < <(twins 'BOX1    ' 'BOX 1   ')
means other_columns 6 < <(twins 'B X 1   ' 'BOX 1   ')
means twin_rows 16 <<END
NAME          TWINS
ROWS
 N  COST
 G  R 11
 G  R1 1
COLUMNS
    MY X      COST                 3   R 11                 1
    MY Y      COST                 2   R1 1                 1
RHS
    RHS       R 11                 2   R1 1                 5
ENDATA
END
printf '%s\n' 'BOX_1_12 2' 'BOX_11_2 5' >want
named_apart() {
    "$programs/solve_lp" twin_columns.mps --solution solution >/dev/null && awk 'NR <= 2 { print $1, $2 }' solution | diff want -
}
check "names that differ in their blanks: in the solution, too" named_apart
cat >twins.bas <<END
NAME          TWINS
 XL BOX 1 12  NEED 1
 XL BOX 11 2  NEED 2
ENDATA
END
certified() {
    "$programs/certify_basis" twin_columns.mps twins.bas --json >out 2>&1
    grep '"objective": 6,' out || { cat out && return 1; }
}
check "names that differ in their blanks: in a basis" certified
refused twin_columns_apart 9 <<END
NAME          TWINS
ROWS
 N  COST
 G  NEED 1
 G  NEED 2
COLUMNS
    BOX 1 12  COST                 3
    BOX 11 2  NEED 2               1
    BOX 1 12  NEED 1               1
ENDATA
END
refused number_with_a_blank 8 <<END
NAME          N
ROWS
 N  COST
 G  ROW 1
COLUMNS
    X 1       COST                 3
    X 1       ROW 1                1
    X 2       ROW 1              1 5
ENDATA
END
refused number_beyond_its_columns 7 <<END
NAME          N
ROWS
 N  COST
 G  ROW 1
 G  ROW 2
COLUMNS
    X 1       ROW 1                1   ROW 2       1.00000000001
ENDATA
END
# In words BOX has 12 in row 1; in columns BOX 1 12 has 3 in COST alone.
two_meanings() {
    cat <<END
NAME          WORDS ${1:-}
ROWS
 N  COST
 G  1
COLUMNS
    BOX 1 12  COST                 3
RHS
    RHS       1                   24
ENDATA
END
}
refused two_meanings 6 < <(two_meanings)
means two_meanings_but_free 6 < <(two_meanings FREE)
means one_meaning 0 < <(two_meanings | sed 's/BOX 1 12/BOX 2 12/; s/ 24$/ -4/')
means same_meaning_in_words 0 < <(two_meanings | sed 's/BOX 1 12/BOX  112/; s/ 24$/ -4/')
refused sets_with_and_without_names 8 <<END
ROWS
 N o
 L r
COLUMNS
 x o -1 r 1
RHS
 r 4
 s o 5
ENDATA
END

# ---- Comments ----

# like_glpk NAME FORMAT OBJECTIVE LINE...: the program with these lines in COLUMNS has that optimum in GLPK, too.
glpk_agrees() {
    rm -f glpk.out
    glpsol "--$2" "$1" -o glpk.out >out 2>&1
    grep -E "^Objective:.* = $3 " glpk.out || { cat out && return 1; }
}
like_glpk() {
    cat >"$1.mps"
    check "$1: read by both" read_by_both "$1.mps" "$3"
    if command -v glpsol >/dev/null; then
        check "$1: by GLPK, too" glpk_agrees "$1.mps" "$2" "$3"
    else
        skip "$1: by GLPK, too" "no glpsol"
    fi
}
# -x - 2 y, x + y <= 4, x <= 3, y <= 2: x = y = 2.
commented() {
    cat <<END
NAME          DOLLAR
ROWS
 N  COST$1
 L  CAP$1
COLUMNS
    X         COST                -1   $2
    X         CAP                  1$1
    Y         COST                -2   \$ pays twice, and that is said at length
    Y         CAP                  1
RHS$3
    RHS       CAP                  4   $2
BOUNDS
 UP B         X                    3$1
 UP B         Y                    2
ENDATA
END
}
like_glpk comments_in_columns mps -6 < <(commented '' '$' '')
# shellcheck disable=SC2016 # dollars are meant
like_glpk comments_that_are_no_pairs mps -6 < <(commented '' '$CAP 7' ' $ limits')
# shellcheck disable=SC2016 # dollars are meant
like_glpk comments_in_words freemps -6 < <(commented ' $t5 0' '$' '')
like_glpk comments_of_many_words freemps -6 < <(commented ' $' '$ $ $ $ $ $ $' ' $')
means names_that_begin_so -6 <<END
NAME n FREE
ROWS
 N \$cost
 L \$cap
COLUMNS
 \$x \$cost -1 \$cap 1
 \$y \$cost -2 \$cap 1 \$none
RHS
 \$rhs \$cap 4 \$rhs 5
BOUNDS
 UP \$b \$x 3 \$ 7
 UP \$b \$y 2
ENDATA
END
refused comment_for_a_number 6 <<END
ROWS
 N o
 L r
COLUMNS
 x o 1
 x r \$1
ENDATA
END
refused comment_for_a_column 9 <<END
ROWS
 N o
COLUMNS
 x o 1
 BND o 1
RHS
 s o 1
BOUNDS
 BV BND \$x
ENDATA
END

# ---- Anything ----

# Files like these, with random words put in and characters taken out: refused by both or read by both.
mutate() { # SEED FILE
    awk -v seed="$1" 'BEGIN { srand(seed); split("RHS|$|$c| |  |MAX|NAME|ENDATA|1|x|-3|COST|OBJSENSE|FREE|B X", w, "|") }
        { line[NR] = $0 }
        END {
            for (k = 0; k < 2; k++) {
                i = 1 + int(rand() * NR); at = int(rand() * length(line[i]))
                if (rand() < 0.3) at = 0
                word = rand() < 0.7 ? w[1 + int(rand() * 15)] : ""
                line[i] = substr(line[i], 1, at) word substr(line[i], at + (word == "" ? 2 : 1))
            }
            for (i = 1; i <= NR; i++) print line[i]
        }' "$2"
}
agree() {
    local k file status same=0
    printf 'answer 1 lp\noutcome imprecise\n' >claim
    for ((k = 0; k < 150; k++)); do
        file=$(printf '%s\n' twin_columns comments_in_columns sets_named_like_sections comments_in_words | sed -n "$((k % 4 + 1))p")
        mutate "$k" "$file.mps" >mutant.mps
        timeout 60 "$programs/solve_lp" mutant.mps --json --certificate answer >out 2>err
        status=$?
        if [ $status -eq 2 ]; then
            ./checker mutant.mps claim >said.out
            [ $? -eq 2 ] && same=$((same + 1)) && continue
        else
            ./checker mutant.mps answer >said.out && same=$((same + 1)) && continue
        fi
        echo "mutant $k of $file: solve_lp ends with $status" && cat err said.out mutant.mps
        return 1
    done
    [ "$same" -eq 150 ]
}
check "150 files at random: both refuse, or both read and agree" agree

summary
