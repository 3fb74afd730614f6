#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The example that propagates MPS files, as a user runs it: answers worked out by hand, exit codes, its messages for
# files that are no models.
# Usage: propagate_mps_test.sh [PROGRAM]
set -u
example=propagate_mps seconds=60
# shellcheck source=../support/example.sh
. "$(dirname "${BASH_SOURCE[0]}")/../support/example.sh"

# ---- Answers ----

# bounds MODEL OPTION...: the bounds that it writes are those on stdin.
bounds() {
    cat >want
    exits 0 "$@" --bounds bounds && diff want bounds >>err
}

for options in "" "--mode gauss-seidel" "--threads 2" "--backend cpu --driver host"; do
    # shellcheck disable=SC2086 # several options
    bounds "$models/lotsizing.mps" $options <<END
MAKE1 30 70
MAKE2 10 50
STOCK1 0 40
RUN1 1 1
RUN2 1 1
END
    result "fixed format, setups forced: ${options:-no option}" $?
done

bounds "$models/staffing.mps" <<END
a 1 1
b 1 1
c 1 1
n 3 6
x -10 4
d -15 2
END
result "free format, integers without bounds, range, free column" $?

# The same in fixed columns, which the words distinguish from free ones.
awk '/^ [NEGL] / { printf " %-2s %-8s\n", $1, $2; next }
     /MARKER/    { printf "    %-8s  %-8s                 %-8s\n", $1, $2, $3; next }
     /^ (UP|LO|FR|LI|UI) / { printf " %-2s %-8s  %-8s  %12s\n", $1, $2, $3, $4; next }
     /^ / && NF == 3 { printf "    %-8s  %-8s  %12s\n", $1, $2, $3; next }
     /^ / && NF == 5 { printf "    %-8s  %-8s  %12s   %-8s  %12s\n", $1, $2, $3, $4, $5; next }
     { print }' "$models/staffing.mps" >fixed.mps
cp bounds free_bounds
exits 0 fixed.mps --bounds bounds && diff free_bounds bounds >>err
result "the same model in fixed columns gives the same bounds" $?

# A bound of the first column, which a reader that guesses the format from the spacing can lose.
sed 's/^ UP bnd x 4/ UP bnd a 0\n UP bnd x 4/; s/rhs all 3/rhs all 2/' "$models/staffing.mps" >first.mps
exits 0 first.mps --bounds bounds && has '^a 0 0$' bounds && has '^b 1 1$' bounds
result "the first column's bound is kept" $?

printf 'NAME bounds FREE\nROWS\n N o\n L r\nCOLUMNS\n a o 1 r 1\n b o 1 r 1\n c o 1 r 1\n d o 1 r 1\n e o 1 r 1\n' >kinds.mps
printf 'RHS\n s r 1e30\nBOUNDS\n MI k a\n PL k b\n BV k c\n FX k d 2.5\n UP k e -1\nENDATA\n' >>kinds.mps
bounds kinds.mps <<END
a -inf inf
b 0 inf
c 0 1
d 2.5 2.5
e -inf -1
END
result "MI, PL, BV, FX, a negative UP; infinite sides" $?

grep -v '^NAME' "$models/lotsizing.mps" >unnamed.mps
exits 0 unnamed.mps --bounds bounds && has '^MAKE1 30 70$' bounds
result "no NAME card, fixed format" $?
grep -v '^NAME' "$models/staffing.mps" >unnamed.mps
exits 0 unnamed.mps --bounds bounds && diff free_bounds bounds >>err
result "no NAME card, free format" $?
sed 's/SETUP2 /SETUP9 /' "$models/lotsizing.mps" | grep -v '^NAME' >unnamed.mps
exits 2 unnamed.mps && has '^unnamed.mps:12: no such row' err
result "no NAME card, a mistake on line 12" $?

sed 's/^ UP BND       STOCK1            40.0/ LO BND       STOCK1            50.0\n UP BND       STOCK1            40.0/' \
    "$models/lotsizing.mps" >crossed.mps
exits 1 crossed.mps && has 'the bounds of column STOCK1 cross' out
result "bounds that cross: infeasible" $?
sed 's/^ UP BND       STOCK1            40.0/ LO BND       STOCK1       40.0000003\n UP BND       STOCK1            40.0/' \
    "$models/lotsizing.mps" >touching.mps
exits 0 touching.mps --bounds bounds && has '^STOCK1 40 40$' bounds
result "bounds that cross within the tolerance: feasible" $?

gzip -c "$models/lotsizing.mps" >lotsizing.mps.gz
exits 0 lotsizing.mps.gz --bounds bounds && has '^MAKE1 30 70$' bounds
result "compressed" $?
xz -c "$models/lotsizing.mps" >lotsizing.mps.xz
exits 0 lotsizing.mps.xz --bounds bounds && has '^MAKE1 30 70$' bounds
result "compressed by xz" $?

sed 's/$/\r/' "$models/lotsizing.mps" >dos.mps
exits 0 dos.mps --bounds bounds && has '^MAKE1 30 70$' bounds
result "lines that end in CR LF" $?

# Lines of any length: comments, names, gaps between words, many digits, and what stands behind the columns.
long() { printf "%${1}s" '' | tr ' ' "$2"; }
a=$(long 300 a) row=$(long 5000 r)
{
    printf '* %s\nNAME %s\nROWS\n N o\n L %s\nCOLUMNS\n %s o 1%s%s ' "$(long 9000 x)" "$a" "$row" "$a" "$(long 200 ' ')" "$row"
    printf '2.%s\nRHS\n s %s 8\nENDATA\n' "$(long 700 0)" "$row"
} >long.mps
bounds long.mps <<<"$a 0 4"
result "lines and names of any length" $?
sed "12s/\$/$(long 200 ' ')x/" "$models/lotsizing.mps" >behind.mps
exits 0 behind.mps --bounds bounds && has '^MAKE1 30 70$' bounds
result "fixed columns with a comment far behind them" $?

(printf '\357\273\277' && cat "$models/lotsizing.mps") >marked.mps
exits 0 marked.mps --bounds bounds && has '^MAKE1 30 70$' bounds
result "a byte order mark" $?
(printf '\357\273\277' && sed 1d "$models/staffing.mps" | sed 1d) >marked.mps
exits 0 marked.mps --bounds bounds && diff free_bounds bounds >>err
result "a byte order mark before NAME" $?

# ---- Messages ----

exits 0 "$models/lotsizing.mps" && has 'nothing more to tighten' out && has '5 columns' out
result "says in words that it is done" $?

exits 1 "$models/overbooked.mps" && has 'infeasible' out && has 'JOBS' out
result "infeasible: said with the row's name, exit status 1" $?

json='^{"model": ".*", "backend": "cpu", .*"rows": 4, "cols": 5, "nonzeros": 8, "rounds": [0-9]*, "outcome": "converged",'
json="$json.*\"tightened_lower\": 4, \"tightened_upper\": 2, \"seconds\": [0-9.]*,.*}\$"
exits 0 "$models/lotsizing.mps" --backend cpu --json && has "$json" out && [ "$(wc -l <out)" -eq 1 ] && [ ! -s err ]
result "one line of JSON" $?

exits 1 "$models/overbooked.mps" --json && has '"outcome": "infeasible"' out && has '"infeasible_row": 0' out
result "infeasible in JSON" $?

exits 0 gen:cascade,50 --rounds 7 --json && has '"rounds": 7, "outcome": "limit"' out
result "a limit of rounds" $?

exits 0 gen:cascade,50 --json --mode gauss-seidel && has '"rounds": 2, "outcome": "converged"' out
result "Gauss-Seidel rounds" $?

exits 0 gen:rand,2000,2000,8,1 --backend auto --json
result "auto finds a backend" $?

# A terminal gets a line for each round.
if command -v script >/dev/null; then
    script -qec "'$program' gen:twolines" /dev/null >out 2>err </dev/null
    has 'round  *1: ' out && has 'round  *2: ' out
    result "progress on a terminal" $?
else
    skip "progress on a terminal" "no script"
fi

# ---- Bad input: exit status 2; the file, the line where there is one, what is wrong ----

# broken NAME WHAT SED...: the lotsizing model, edited, is refused with WHAT.
broken() {
    local name=$1 what=$2
    shift 2
    sed "$@" "$models/lotsizing.mps" >"$name.mps"
    exits 2 "$name.mps" && has "^$name.mps:.*$what" err && [ ! -s out ]
    result "refused: $name" $?
}

broken nan_coefficient '10: nan is not' 's/MAKE1     COST               2.0   DEMAND1            1.0/MAKE1     COST               2.0   DEMAND1            nan/'
broken nan_side '21: NaN is not' 's/DEMAND1           30.0/DEMAND1            NaN/'
broken nan_bound '23: nan is not' 's/STOCK1            40.0/STOCK1             nan/'
broken infinite_coefficient '10: 1e999 is not' 's/2.0   DEMAND1            1.0/2.0   DEMAND1          1e999/'
broken no_number '21: ' 's/DEMAND1           30.0/DEMAND1           3x.0/'
broken unknown_row 'no such row' 's/MAKE2     SETUP2 /MAKE2     SETUP9 /'
broken unknown_column 'no such column' 's/STOCK1            40.0/STOCK9            40.0/'
broken repeated_entry 'twice' 's/MAKE2     SETUP2  /MAKE2     DEMAND2 /'
broken repeated_row 'two rows are named SETUP1' 's/^ L  SETUP1/ L  SETUP1\n L  SETUP1/'
broken unknown_bound '23: ' 's/ UP BND       STOCK1/ QQ BND       STOCK1/'
broken unknown_section '22: ' 's/^BOUNDS/BUNDS/'
broken missing_number '11: ' 's/MAKE1     SETUP1             1.0/MAKE1     SETUP1/'
# shellcheck disable=SC2016 # of sed
broken truncated 'ENDATA' '20,$d'
broken no_end 'ENDATA' '/^ENDATA/d'
broken empty 'empty' 'd'
broken blank 'empty' 's/.*//'
head -c 100 lotsizing.mps.gz >short.mps.gz
exits 2 short.mps.gz && has '^short.mps.gz:' err
result "refused: truncated compression" $?
head -c 100 lotsizing.mps.xz >short.mps.xz
exits 2 short.mps.xz && has '^short.mps.xz: cannot be read further' err
result "refused: truncated compression by xz" $?
head -c 4096 /dev/urandom >noise.mps
exits 2 noise.mps && has '^noise.mps:' err
result "refused: noise" $?
# is_no_mps NAME WHAT: the file of that name is refused, with WHAT in the message.
is_no_mps() {
    exits 2 "$1" && has "^$1: this is $2" err && [ ! -s out ]
    result "refused: $1 is $2" $?
}
printf '\\ a comment\nMinimize\n obj: x\nEnd\n' >lp_comment.mps
printf '\nMAXIMIZE\n obj: x\nEnd\n' >lp.mps
printf 'min: x + y;\n' >lp_solve.mps
printf 'BZh91AY' >bzip2.mps
printf '\050\265\057\375..' >zstd.mps
printf 'PK\003\004...' >zip.mps
printf '\377\376N\000A\000' >utf16.mps
is_no_mps lp_comment.mps 'in LP format'
is_no_mps lp.mps 'in LP format'
is_no_mps lp_solve.mps 'in LP format'
is_no_mps bzip2.mps 'compressed by bzip2'
is_no_mps zstd.mps 'compressed by zstd'
is_no_mps zip.mps 'a zip archive'
is_no_mps utf16.mps 'UTF-16'
mkdir folder.mps
exits 2 folder.mps && has '^folder.mps: cannot be read' err
result "refused: a folder" $?
exits 2 missing.mps && has '^missing.mps: cannot be opened' err
result "refused: no such file" $?
exits 2 gen:unknown,3 && has '^gen:unknown,3: ' err
result "refused: no such generated model" $?
exits 2 gen:rand,10,10,0,1 && has '^gen:rand,10,10,0,1: ' err
result "refused: a generated model without entries" $?
exits 2 && has '^usage' err
result "refused: no model" $?
exits 2 gen:twolines gen:twolines && has 'two models' err
result "refused: two models" $?
for bad in "--rounds 0" "--rounds x" "--threads -1" "--backend gpu" "--mode fast" "--driver none" "--unknown" "--bounds"; do
    # shellcheck disable=SC2086 # an option and its value
    exits 2 gen:twolines $bad && has '^usage' err
    result "refused: $bad" $?
done
exits 2 gen:twolines --bounds "$work/no/such/folder" && has 'no/such/folder' err
result "refused: bounds that cannot be written" $?

summary
