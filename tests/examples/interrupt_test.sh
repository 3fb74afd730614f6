#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Every example that may take long, stopped half way: by SIGINT, SIGTERM and --seconds it ends with exit status 3 and
# prints what it knows by then, which must be true; a second signal ends it at once. Then the options that all of them
# have, and the progress line on a terminal of some widths.
# Usage: interrupt_test.sh [FOLDER], that of the programs
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
programs=$(realpath "${1:-$root/bazel-bin/examples}") || exit
models=$root/examples/models
work=$(mktemp -d) || exit 1
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
at_end() { rm -rf "$said" "$work"; }
cd "$work" || exit 1

# is_json FILE: one value, and nothing else. Strings, then numbers and words, then lists and objects become one letter.
is_json() {
    awk '{ text = text $0 } END {
        gsub(/"([^"\\]|\\.)*"/, "S", text)
        gsub(/-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?|true|false|null/, "V", text)
        do {
            before = text
            gsub(/\{ *(S *: *[SV] *(, *S *: *[SV] *)*)?\}/, "V", text)
            gsub(/\[ *([SV] *(, *[SV] *)*)?\]/, "V", text)
        } while (text != before)
        exit text != "V"
    }' "$1" || { echo "no JSON: $(cat "$1")" && return 1; }
}
printf '{"a": [1, -2.5e+3, {"b": "}\\""}], "c": null}\n' >good && printf '{"a": inf}\n' >bad
check "the test knows JSON" is_json good
check "the test knows what is none" eval '! is_json bad'

# field NAME: of the JSON in out.
field() { grep -o "\"$1\": [^,}]*" out | head -n 1 | sed 's/^[^:]*: //; s/"//g'; }
# holds EXPRESSION: of awk, with the words that name fields of the JSON in out as variables. null is an empty text.
holds() {
    local names=() name
    while read -r name; do
        names+=(-v "$name=$(field "$name" | sed 's/null//')")
    done < <(grep -o '[a-z_]*' <<<"$1" | sort -u)
    awk "${names[@]}" "BEGIN { exit !($1) }" || { echo "$1 does not hold: $(cat out)" && return 1; }
}

# begin PROGRAM ARGUMENT...: starts it, and waits until it runs in this shell's place and catches signals (bit 2 of the
# mask is SIGINT), and a bit.
begin() {
    "$programs/$1" "${@:2}" >out 2>err &
    pid=$!
    local k
    for ((k = 0; k < 300; k++)); do
        if [ "/proc/$pid/exe" -ef "$programs/$1" ]; then
            case $(sed -n 's/^SigCgt:.*\(.\)$/\1/p' "/proc/$pid/status" 2>/dev/null) in
            [2367abef]) sleep 0.3 && return ;;
            esac
        fi
        sleep 0.1
    done
    echo "$1 does not catch signals" && kill -KILL $pid
    return 1
}
# end STATUS: of what has begun; within 20 seconds.
end() {
    local got
    { sleep 20 && kill -KILL "$pid"; } 2>/dev/null &
    local watch=$!
    wait "$pid"
    got=$?
    kill $watch 2>/dev/null
    [ $got -eq "$1" ] || { echo "exit status $got instead of $1" && cat out err && return 1; }
}

# stops SIGNAL EXPRESSION PROGRAM ARGUMENT...: with valid JSON for which the expression holds.
stops() { begin "${@:3}" --json && kill -s "$1" $pid && end 3 && is_json out && holds "$2" && [ ! -s err ]; }
# stops_in_words PROGRAM ARGUMENT...
stops_in_words() { begin "$@" && kill -s INT $pid && end 3 && grep -qi 'stopped by a signal' out; }
# times_out SECONDS EXPRESSION PROGRAM ARGUMENT...
times_out() {
    "$programs/$3" "${@:4}" --json --seconds "$1" >out 2>err &
    pid=$!
    end 3 && is_json out && holds "$2" && [ ! -s err ]
}
# twice: a second signal, of the same kind or not, ends what has begun by its default action.
twice() { # FIRST SECOND STATUS PROGRAM ARGUMENT...
    begin "${@:4}" && kill -s "$1" $pid && sleep 0.3 && kill -s "$2" $pid && end "$3"
}
# timeout(1) sends a signal to the program and then to its group, which is no second one.
by_timeout() {
    timeout --preserve-status -s "$1" 1.5 "$programs/$2" "${@:3}" --json >out 2>err &
    pid=$!
    end 3 && is_json out
}

# ---- Models that take long ----

# 24 vertices in 7 colors, at a cost of 1 for each pair of the same color: classes of 3 and 4, 3 * 6 + 4 * 3 = 30.
awk 'BEGIN {
    print "complete", 24, 7, 276, 1000
    for (i = 0; i < 24; i++) printf "7 "
    print ""
    for (i = 0; i < 24; i++) for (j = i + 1; j < 24; j++) {
        print 2, i, j, 0, 7
        for (v = 0; v < 7; v++) print v, v, 1
    }
}' >complete.wcsp
# x + 1 <= y <= x in integers up to 10^9: each round moves a bound by 1.
cat >crawl.mps <<'MPS'
NAME crawl
ROWS
 N cost
 L first
 L second
COLUMNS
 M1 'MARKER' 'INTORG'
 x cost 1 first 1
 x second -1
 y cost 1 first -1
 y second 1
 M2 'MARKER' 'INTEND'
RHS
 rhs first -1
BOUNDS
 UP b x 1000000000
 UP b y 1000000000
ENDATA
MPS
# Five equations over 40 binaries with entries up to 99, whose sides are half of the sums, and how far they are missed.
awk 'BEGIN {
    state = 1
    print "NAME split FREE\nROWS\n N cost"
    for (i = 0; i < 5; i++) print " E r" i
    print "COLUMNS\n M1 '"'MARKER' 'INTORG'"'"
    for (j = 0; j < 40; j++) for (i = 0; i < 5; i++) {
        state = (state * 16807) % 2147483647; a = state % 100; sum[i] += a
        print " x" j " r" i " " a
    }
    print " M2 '"'MARKER' 'INTEND'"'"
    for (i = 0; i < 5; i++) print " s" i " cost 1 r" i " 1\n t" i " cost 1 r" i " -1"
    print "RHS"
    for (i = 0; i < 5; i++) print " rhs r" i " " int(sum[i] / 2)
    print "BOUNDS"
    for (j = 0; j < 40; j++) print " BV b x" j
    print "ENDATA"
}' >split.mps

# signal / what must hold / program and arguments
declare -A seen=()
while IFS='|' read -r signal holds words; do
    read -r -a words <<<"$words"
    check "${words[0]}: $signal" stops "$signal" "$holds" "${words[@]}"
    check "${words[0]}: --seconds .3" times_out .3 "$holds" "${words[@]}"
    if ! runs_all || [ -n "${seen[${words[0]}]:-}" ]; then continue; fi
    seen[${words[0]}]=1
    check "${words[0]}: --seconds .01" times_out .01 "1" "${words[@]}"
    check "${words[0]}: in words" stops_in_words "${words[@]}"
    check "${words[0]}: timeout -s $signal" by_timeout "$signal" "${words[@]}"
done <<'RUNS'
INT|status == "limit" && iterations > 0|solve_lp plant:3000:6000:0.05:1 --backend cpu
TERM|status == "limit" && iterations > 0 && bound >= planted_optimum - 1e-6|solve_lp plant:3000:6000:0.05:1 --algorithm dual --backend cpu
INT|status == "limit" && iterations > 0 && ranks == 2|solve_lp shah:2500:1 --ranks 2
TERM|outcome == "limit" && rounds > 0 && tightened_lower == 2|propagate_mps crawl.mps --rounds 1000000000 --backend cpu
INT|outcome == "limit" && probes > 0 && probes < 2 * binaries|probe_mps gen:cover,20000,400000,1 --backend cpu
INT|status == "limit" && optimum > 0 && optimum <= upper_bound && nodes > 0|solve_knapsack circle:10000:1000000:1 --backend cpu
INT|status == "feasible" && objective >= 0 && bound <= objective && nodes > 10|solve_mip split.mps --backend cpu
TERM|status == "feasible" && objective >= 0 && bound <= objective|solve_mip split.mps --backend cpu --threads 2
INT|status == "limit" && nodes > 10 && bound >= -1e-9|branch_glpk split.mps --backend cpu
TERM|status == "limit" && nodes > 10 && bound >= -1e-9|branch_glpk split.mps --without
TERM|status == "limit" && bound <= cost && cost > 0|cutting_stock cutgen:256:12:1 --backend cpu
INT|status == "bounded" && lower_bound <= 30 && upper_bound >= 30|branch_wcsp complete.wcsp --z 2 --backend cpu
TERM|status == "bounded" && lower_bound <= 30|branch_wcsp complete.wcsp --relax 1000000 --backend cpu
INT|status == "limit" && optimal == "false"|solve_wcsp random:22:10:0.3:1 --memory 16M --backend cpu
TERM|status == "limit" && optimal == "false" && lower_bound <= 30|solve_wcsp complete.wcsp --z 4 --relax 1000000 --backend cpu
INT|status == "limit" && optimal == "false" && ranks == 2|solve_wcsp random:22:10:0.3:1 --memory 16M --ranks 2
TERM|status == "limit" && optimal == "false" && agents == 196|solve_wcsp grid:14:5:1 --agents each --backend cpu
RUNS

for signal in INT TERM; do
    check "solve_knapsack: timeout -s $signal" by_timeout $signal solve_knapsack circle:10000:1000000:1 --backend cpu
done

# One table of 10^10 entries: the hook is not asked for half a minute.
for signals in "INT INT 130" "INT TERM 143" "TERM TERM 143"; do
    # shellcheck disable=SC2086 # several words
    check "a second signal ends it at once: $signals" twice $signals solve_wcsp random:22:10:0.3:1 --memory 4G --backend cpu
done

# ---- The same options everywhere ----

declare -A model=([propagate_mps]=lotsizing.mps [solve_lp]=transport.mps [solve_wcsp]=exams.wcsp
    [solve_knapsack]=luggage.knapsack [branch_glpk]=lotsizing.mps [probe_mps]=staffing.mps
    [certify_basis]=transport.mps [solve_mip]=lotsizing.mps [branch_wcsp]=exams.wcsp [cutting_stock]=paper.cutting)
declare -A lines=([solve_lp]=11 [solve_wcsp]=5 [certify_basis]=11 [branch_wcsp]=5) # of --solution
version=$(awk '$1 == "#define" && $2 ~ /^GPUOPT_VERSION_(MAJOR|MINOR|PATCH)$/ { printf "%s%s", dot, $3; dot = "." }' "$root/gpuopt.h")

# runs STATUS PROGRAM ARGUMENT...
runs() {
    local want=$1 got
    timeout 30 "$programs/$2" "${@:3}" >out 2>err </dev/null
    got=$?
    [ $got -eq "$want" ] || { echo "exit status $got instead of $want" && cat out err && return 1; }
}
says_version() { runs 0 "$1" --version && [ "$(cat out)" = "$1 (gpuopt) $version" ] && [ ! -s err ]; }
lists_options() {
    local option
    runs 0 "$1" --help || return
    for option in --seconds --solution --log --json --version --help; do
        grep -q "^  $option " out || { echo "$option is not in --help" && return 1; }
    done
}
refuses() { runs 2 "$@" && [ -s err ] && [ ! -s out ]; }
writes_solution() {
    runs 0 "$1" "${@:2}" --solution answer --seconds 1000 && [ -s answer ] &&
        { [ -z "${lines[$1]:-}" ] || [ "$(wc -l <answer)" -eq "${lines[$1]}" ]; } &&
        runs 2 "$1" "${@:2}" --solution no/such/folder && grep -q 'no/such/folder' err
}
for example in "${!model[@]}"; do
    file=("$models/${model[$example]}")
    [ "$example" != certify_basis ] || file+=("$root/examples/bases/transport.bas")
    check "$example: --solution" writes_solution "$example" "${file[@]}"
    check "$example: --help lists the options" lists_options "$example"
    for bad in "--seconds 0" "--seconds -1" "--seconds x" "--seconds" "--seconds nan" "--seconds inf" "--solution" "--nonsense"; do
        # shellcheck disable=SC2086 # several words
        check "$example: $bad is refused" refuses "$example" "${file[@]}" $bad
    done
    check "$example: --version" says_version "$example"
done

# The weights of the items that were chosen by then fit, and their profits add up.
writes_incumbent() {
    "$programs/solve_knapsack" "$models/luggage.knapsack" --json --solution items >out &&
        awk -v want="$(field optimum)" 'NR == FNR { taken[$1]; next } FNR == 1 { capacity = $2; next }
            FNR - 2 in taken { profit += $1; weight += $2 } END { exit profit != want || weight > capacity }' \
            items "$models/luggage.knapsack"
}
check "solve_knapsack: --solution adds up" writes_incumbent
assigns() { # the same assignment costs what branch_wcsp says
    "$programs/branch_wcsp" complete.wcsp --z 2 --json --seconds .5 --solution values >out
    [ $? -eq 3 ] && awk -v want="$(field upper_bound)" '{ color[NR] = $2 } END {
        for (i = 1; i <= NR; i++) for (j = i + 1; j <= NR; j++) cost += color[i] == color[j]
        exit NR != 24 || cost != want }' values
}
check "branch_wcsp: --solution of the incumbent" assigns

# --log adds what the library reports at level 2; without it stderr is empty.
logs() { runs 0 "$1" "${@:2}" --log; }
check "solve_lp: --log" logs solve_lp "$models/transport.mps"

# ---- The progress line ----

# widest COLUMNS COMMAND...: the longest line that is shown on a terminal of that width, where \r begins a line, too.
widest() {
    script -qec "stty cols $1 2>/dev/null; COLUMNS= ${*:2} >/dev/null" /dev/null </dev/null | tr '\r' '\n' |
        awk '{ if (length($0) > most) most = length($0) } END { print most + 0 }'
}
fits() { # COLUMNS COMMAND...
    local most
    most=$(widest "$@")
    if [ "$most" -ge "$1" ] || [ "$most" -lt $(($1 < 50 ? $1 - 1 : 30)) ]; then echo "$most of $1 columns" && return 1; fi
}
if command -v script >/dev/null; then
    widths=(20 80)
    if runs_all; then widths+=(40 200); fi
    for columns in "${widths[@]}"; do
        check "a progress line of solve_lp in $columns columns" fits "$columns" "$programs/solve_lp" plant:3000:6000:0.05:1 --backend cpu --seconds .8
        check "a progress line of solve_mip in $columns columns" fits "$columns" "$programs/solve_mip" split.mps --seconds .8
        check "a progress line of branch_glpk in $columns columns" fits "$columns" "$programs/branch_glpk" split.mps --seconds .8
        check "a progress line of solve_knapsack in $columns columns" fits "$columns" "$programs/solve_knapsack" circle:10000:1000000:1 --backend cpu --seconds .8
    done
    # A terminal that does not know its width: COLUMNS gives it.
    narrow() {
        local most
        most=$(script -qec "stty cols 0 2>/dev/null; COLUMNS=30 $programs/solve_knapsack circle:10000:1000000:1 --backend cpu --seconds .8 >/dev/null" /dev/null </dev/null |
            tr '\r' '\n' | awk '{ if (length($0) > most) most = length($0) } END { print most + 0 }')
        [ "$most" -eq 29 ] || { echo "$most" && return 1; }
    }
    check "a progress line where COLUMNS is 30" narrow
else
    skip "the progress line" "no script(1)"
fi
silent() { runs 3 solve_knapsack circle:10000:1000000:1 --backend cpu --seconds .5 && [ ! -s err ]; }
check "no progress line where stderr is no terminal" silent

summary
