#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Usage: netlib.sh [--backend B] [--rows N] [--seconds N] [--check N] [--jobs N] [--results FILE] FOLDER [MODEL...]
#                  [-- OPTION...]
#
# The public linear programs of GPUOPT_TEST_DATA/netlib, netlib_infeas, kennington and lp_large, by the primal simplex
# method and by the dual one, each answer checked in exact rationals. FOLDER has the programs, built already:
# examples/solve_lp and tests/check's checker. MODEL: as netlib/afiro; without any, all with up to --rows rows (3200).
# --backend: cpu or cuda (cpu). --seconds, --check: limits of a solution (300) and of its check (600). --jobs: so many
# at a time (1; seconds of more than one are those of a busy machine). Each end of a run is appended to FILE, and what
# FILE has already is not run again. OPTION: for solve_lp.
#
# A line for each model: for both methods the seconds, the iterations, and the checker's verdict on the final basis:
# proven (optimal or infeasible), the largest violation if it is optimal within tolerances only, or what went wrong. A
# run has passed if the checker does not refuse it, and the exact objective is the published one to seven digits.
set -u
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }
case ${1:-} in
-h | --help)
    help
    exit
    ;;
esac
backend=cpu rows=3200 seconds=300 check=600 jobs=1 results=
while [[ ${1:-} == --* ]]; do
    case $1 in
    --backend) backend=$2 ;;
    --rows) rows=$2 ;;
    --seconds) seconds=$2 ;;
    --check) check=$2 ;;
    --jobs) jobs=$2 ;;
    --results) results=$2 ;;
    *) echo "netlib.sh: there is no option $1; see --help" >&2 && exit 2 ;;
    esac
    shift 2
done
programs=$(realpath "${1:?FOLDER is missing}") || exit 2
shift
data=${GPUOPT_TEST_DATA:?names no folder with models}
models=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do models+=("$1") && shift; done
[ "${1:-}" != -- ] || shift
options="$*"
for program in solve_lp checker; do
    [ -x "$programs/$program" ] || { echo "netlib.sh: $programs/$program: no program" >&2 && exit 2; }
done
work=$(mktemp -d) || exit
trap 'rm -rf "$work"' EXIT
results=$(realpath "${results:-$work/results}")
touch "$results" || exit 2
export backend seconds check programs data options work results

# field NAME FILE: of a line of JSON.
field() { grep -o "\"$1\": [^,}]*" "$2" | sed 's/^[^:]*: //; s/"//g'; }
# unpack FILE.xz
unpack() {
    if command -v xz >/dev/null; then xz -dc "$1"; else python3 -c 'import lzma, sys; sys.stdout.buffer.write(lzma.open(sys.argv[1]).read())' "$1"; fi
}
# verdict STATUS PUBLISHED: of the checker's output on standard input.
verdict() {
    awk -v status="$1" -v want="$2" '
        /^objective of the basis: / { sub(/,/, "", $5); got = $5 }
        { last = $0 }
        END {
            off = got - want
            near = got != "" && off * off <= 1e-14 * (want * want > 1 ? want * want : 1)
            if (want == "infeasible") near = last ~ /^PROVEN: .*infeasible/
            violation = last
            sub(/.*violations of /, "", violation)
            split(violation, part, / of the variables and | of reduced costs/)
            if (status == 124) print "not checked in time"
            else if (status != 0 && status != 3) print last
            else if (!near) print "another objective: " got
            else if (status == 0) print "proven"
            else if (part[2] != "") printf("%.1e\n", part[1] + 0 > part[2] + 0 ? part[1] : part[2])
            else print last
        }'
}
# one MODEL ROWS COLS PUBLISHED ALGORITHM: a line of the results.
one() {
    local name=$1 published=$4 algorithm=$5 at got said status iterations=- time=-
    at=$work/${name//\//_}-$algorithm
    unpack "$data/$name.mps.xz" >"$at.mps" || return
    # shellcheck disable=SC2086 # options
    timeout "$seconds" "$programs/solve_lp" "$at.mps" --algorithm "$algorithm" --backend "$backend" --json --certificate "$at.answer" \
        $options >"$at.json" 2>"$at.log"
    got=$?
    status=$(field status "$at.json")
    if [ -n "$status" ]; then
        iterations=$(field iterations "$at.json")
        time=$(field seconds "$at.json")
    fi
    case $status in
    optimal | infeasible)
        timeout "$check" "$programs/checker" "$at.mps" "$at.answer" >"$at.said" 2>&1
        said=$(verdict $? "$published" <"$at.said")
        ;;
    "") if [ $got -eq 124 ]; then said="not solved in time"; else said="exit status $got: $(tail -n 1 "$at.log")"; fi ;;
    *) said=$status ;;
    esac
    rm -f "$at".*
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$2" "$3" "$algorithm" "$time" "$iterations" "$said" >>"$results"
}
export -f field unpack verdict one

for folder in netlib netlib_infeas kennington lp_large; do
    [ -r "$data/$folder/index.csv" ] || continue
    # A comma in quotes does not come before the objective. Infeasible models have it in the same column.
    tail -n +2 "$data/$folder/index.csv" | awk -F, -v folder=$folder '{ print folder "/" $1, $2, $3, $8 }'
done >"$work/all"
if [ ${#models[@]} -gt 0 ]; then
    for name in "${models[@]}"; do
        grep "^$name " "$work/all" || { echo "netlib.sh: $name: no model" >&2 && exit 2; }
    done >"$work/list" || exit 2
else
    awk -v rows="$rows" '$2 <= rows' "$work/all" >"$work/list"
fi
while read -r name size; do
    for algorithm in primal dual; do
        cut -f 1,4 "$results" | grep -q "^$name	$algorithm\$" || echo "$name $size $algorithm"
    done
done <"$work/list" | xargs -r -P "$jobs" -I{} bash -c 'one {}'

awk -F '\t' '
    FNR == NR { line[$1, $4] = sprintf("| %9s | %8s | %s ", $5 == "-" ? $5 : sprintf("%.3g", $5), $6, $7); said[$1, $4] = $7; next }
    FNR == 1 {
        print "| model | rows | columns | primal, s | iterations | exact check | dual, s | iterations | exact check |"
        print "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    }
    {
        split($0, of, " ")
        printf "| `%s` | %d | %d ", of[1], of[2], of[3]
        for (k = 1; k <= 2; k++) {
            printf "%s", line[of[1], k == 1 ? "primal" : "dual"]
            if (said[of[1], k == 1 ? "primal" : "dual"] ~ /^(proven|[0-9.]+e-[0-9]+)$/) passed++; else failed++
        }
        print "|"
    }
    END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 }' "$results" "$work/list"
