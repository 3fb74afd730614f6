#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Usage: scaling.sh
#
# Draws doc/scaling.svg from doc/scaling.dat: how many times as fast as one GPU several would be. Needs gnuplot.
set -eu
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }
case ${1-} in
-h | --help) help && exit ;;
esac
[ $# -eq 0 ] || { echo "scaling.sh: there are no arguments but --help" >&2 && exit 2; }
cd "$(dirname "${BASH_SOURCE[0]}")/../doc"
# one2 to one6: of one GPU, the first row.
gnuplot -e "$(awk '!/^#/ { for (k = 2; k <= 6; k++) printf "one%d = %s; ", k, $k; exit }' scaling.dat)" - <<'PLOT'
set terminal svg size 900,420 font "sans-serif,14" background "#ffffff"
set output "scaling.svg"
set datafile missing "-"
set multiplot layout 1,2
set logscale xy 2
set xrange [0.9:72]
set yrange [0.2:72]
set xtics (1, 2, 4, 8, 16, 32, 64)
set ytics (0.25, 0.5, 1, 2, 4, 8, 16, 32, 64)
set grid lc rgb "#dddddd"
set xlabel "GPUs"
set key top left reverse Left samplen 2 font ",12"
set title "Pivots of a split tableau: times as fast as one GPU"
plot x with lines lc rgb "#bbbbbb" title "as many times as GPUs", \
     "scaling.dat" using 1:(one4/$4) with linespoints pt 0 lw 2 lc rgb "#0072b2" title "20000 x 100000, predicted", \
     "" using 1:(one3/$3) with linespoints pt 0 lw 2 lc rgb "#e69f00" title "10000 x 50000, predicted", \
     "" using 1:(one2/$2) with linespoints pt 0 lw 2 lc rgb "#009e73" title "2000 x 10000, predicted", \
     "" using 1:(one6/$6) with linespoints pt 0 lw 2 dt 2 lc rgb "#0072b2" title "20000 x 100000 by host memory, predicted", \
     "" using 1:(one5/$5) with linespoints pt 0 lw 2 dt 2 lc rgb "#e69f00" title "10000 x 50000 by host memory, predicted", \
     "-" with points pt 7 ps 1 lc rgb "#d55e00" title "measured on two and four"
2 1.80
2 1.52
4 2.82
4 1.95
e
set title "Eliminations shared by values: times as fast as one GPU"
plot x with lines lc rgb "#bbbbbb" title "as many times as GPUs", \
     "scaling.dat" using 1:7 with linespoints pt 0 lw 2 lc rgb "#0072b2" title "random:24:8:0.3:2, by operations", \
     "" using 1:8 with linespoints pt 0 lw 2 dt 2 lc rgb "#e69f00" title "grid:10:8:1, by operations", \
     "-" with points pt 7 ps 1 lc rgb "#d55e00" title "measured on two and four"
2 1.95
2 2.00
4 3.66
4 3.68
e
PLOT
echo "<!-- $(cksum <scaling.dat | cut -d' ' -f1) is the checksum of scaling.dat -->" >>scaling.svg
