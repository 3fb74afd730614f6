#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Draws doc/size.svg from the tables of tests/bench/results: how times grow with the size of a basis, and fall with the
# number of nodes in a call. Needs gnuplot.
# Usage: size.sh          draws
#        size.sh --data   only prints the numbers of the picture
set -eu
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }
case ${1-} in
-h | --help) help && exit ;;
'' | --data) ;;
*) echo "size.sh: there is no option $1; see --help" >&2 && exit 2 ;;
esac
results=$(cd "$(dirname "${BASH_SOURCE[0]}")/../tests/bench/results" && pwd)

# The rows of the first table below a heading.
rows() { # PAGE HEADING
    awk -v heading="$2" '
        /^#/ { on = index($0, heading) == 1 }
        on && /^\|/ { print; inside = 1; next }
        inside { exit }' "$results/$1"
}
# m, and us an update: deferred, proposed, element, mpfi, pfi.
updates() {
    rows basis.md "### Updates, us" |
        awk -F' *[|] *' '$2 ~ /^[0-9]+$/ && NF == 11 { print $2, $4 + 0, $10, $8, $6, $5 }'
}
# Nodes in a call, and us a node: of one model on the GPU and on 16 threads, and of a second one. 12 decisions a node.
batches() {
    rows propagation.md "## Batches of nodes" | awk -F' *[|] *' '
        $2 != "" { model = $2 }
        $3 == 12 && model ~ /^`(binary,10000,10|rand,100000,)/ {
            split($6, few, ", *"); split($7, many, ", *"); split($8, threads, ", *")
            one[++n] = $5; gpu1[n] = few[1]; gpu2[n] = many[1]; cpu1[n] = threads[1]; cpu2[n] = threads[2]
        }
        END {
            print 1, one[1], "-", one[2], "-"
            print 1024, gpu1[1], cpu1[1], gpu1[2], cpu1[2]
            print 65536, gpu2[1], cpu2[1], gpu2[2], cpu2[2]
        }'
}
# shellcheck disable=SC2016 # names of gnuplot's
data=$(printf '%s\n' '$updates << END' "$(updates)" END '$batches << END' "$(batches)" END)
if [ "${1-}" = --data ]; then echo "$data" && exit; fi

cd "$results/../../../doc"
{
    echo "$data"
    cat <<'PLOT'
set terminal svg size 900,420 font "sans-serif,14" background "#ffffff"
set output "size.svg"
set datafile missing "-"
set multiplot layout 1,2
set grid lc rgb "#dddddd"
set logscale xy
set key top left reverse Left samplen 2 font ",12"
set title "Update of a basis inverse, one H200"
set xlabel "rows"
set ylabel "microseconds"
set xrange [450:11000]
set yrange [1:200000]
set xtics (500, 1000, 2000, 5000, 10000)
plot $updates using 1:6 with linespoints pt 1 lw 2 lc rgb "#555555" title "PFI", \
     "" using 1:4 with linespoints pt 2 lw 2 lc rgb "#e69f00" title "element-wise", \
     "" using 1:3 with linespoints pt 5 lw 2 lc rgb "#d55e00" title "proposed by Shah et al.", \
     "" using 1:2 with linespoints pt 7 lw 2 lc rgb "#0072b2" title "deferred (the default)"
set title "Propagation of nodes, 12 decisions each"
set xlabel "nodes in one call"
set ylabel "microseconds a node"
set key top right noreverse Right
set xrange [0.7:120000]
set yrange [0.05:1000]
set xtics ("1" 1, "32" 32, "1024" 1024, "65536" 65536)
plot $batches using 1:5 with linespoints pt 4 dt 2 lw 2 lc rgb "#d55e00" title "rand,100000: 16 threads", \
     "" using 1:4 with linespoints pt 5 lw 2 lc rgb "#d55e00" title "one H200", \
     "" using 1:3 with linespoints pt 6 dt 2 lw 2 lc rgb "#0072b2" title "binary,10000,10: 16 threads", \
     "" using 1:2 with linespoints pt 7 lw 2 lc rgb "#0072b2" title "one H200"
PLOT
} | gnuplot
echo "<!-- $(echo "$data" | cksum | cut -d' ' -f1) is the checksum of the data that tools/size.sh prints -->" >>size.svg
