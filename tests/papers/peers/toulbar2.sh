#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Usage: toulbar2.sh [--quick] --data FOLDER
#
# Runs toulbar2, which the paper compares with, on the public models of Tables 6 to 10, with one thread, and prints its
# rows: the search by its defaults, and by a tree decomposition of min-fill with bounds for its clusters (-O=-3 -B=1).
# Get it: apt-get install toulbar2 (Debian has 1.1.1), or https://toulbar2.github.io/toulbar2.
# --quick  10 s a run; else 120 s
set -u
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }
limit=120 data=
bad() { echo "toulbar2.sh: $1; see --help" >&2 && exit 2; }
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help) help && exit ;;
    --quick) limit=10 ;;
    --data)
        if [ $# -lt 2 ] || [ ! -d "$2/wcsp" ]; then bad "--data needs a folder with wcsp/"; fi
        data=$2/wcsp
        shift
        ;;
    *) bad "there is no option $1" ;;
    esac
    shift
done
[ -n "$data" ] || bad "--data is missing"
command -v toulbar2 >/dev/null || { echo "toulbar2.sh: toulbar2 is not installed; see --help" && exit 0; }

# Prints optimum, seconds and backtracks of a run, or "-" and the best cost it had found by the limit.
run() {
    timeout "$limit" toulbar2 "$@" 2>/dev/null | awk -v limit="$limit" '
        /^(New solution|.*Solution)/ { if (match($0, /[0-9]+ \(/)) best = substr($0, RSTART, RLENGTH - 2) }
        /^Optimum: / {
            optimum = $2; backtracks = $4
            for (k = 1; k < NF; k++) if ($(k + 1) ~ /^seconds/) seconds = $k
        }
        END {
            if (optimum != "") printf " %s | %s | %s |", optimum, seconds, backtracks
            else printf " at most %s | > %s | - |", best == "" ? "-" : best, limit
        }'
}

echo "$(toulbar2 2>&1 | sed -n 's/.*version : \([^ ]*\).*/toulbar2 \1/p' | head -n 1), one thread; seconds"
echo
echo "| problem | optimum | search | backtracks | optimum | with -O=-3 -B=1 | backtracks |"
echo "| - | -: | -: | -: | -: | -: | -: |"
for model in celar/CELAR6-SUB0 celar/CELAR6-SUB1-24 coloring/GEOM40-2 coloring/GEOM40-3 coloring/queen5-5-3 \
    coloring/queen5-5-4 coloring/myciel5g-3 coloring/DSJC125.1.4 iscas89/s386 iscas89/s1423 iscas89/c499 iscas89/c432 \
    iscas89/c880 spot5/54 spot5/503 spot5/29 spot5/404 spot5/42b spot5/505b spot5/408b; do
    [ -f "$data/$model.wcsp" ] || continue
    printf '| %s |' "${model#*/}"
    run "$data/$model.wcsp"
    run "$data/$model.wcsp" -O=-3 -B=1
    echo
done
