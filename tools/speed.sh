#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Usage: speed.sh
#
# Draws doc/speed.svg from doc/speed.dat: how many times as fast as a peer. Needs gnuplot.
set -eu
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }
case ${1-} in
-h | --help) help && exit ;;
esac
[ $# -eq 0 ] || { echo "speed.sh: there are no arguments but --help" >&2 && exit 2; }
cd "$(dirname "${BASH_SOURCE[0]}")/../doc"
gnuplot <<'PLOT'
set terminal svg size 860,400 font "sans-serif,14" background "#ffffff"
set output "speed.svg"
set title "gpuopt on one H200: times as fast as the peer (left of 1: slower)"
set logscale x 2
set xrange [0.125:1024]
set yrange [-0.6:9.6] reverse
set xtics (0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
set grid xtics lc rgb "#dddddd"
set lmargin 32
set arrow 1 from 1,-0.6 to 1,9.6 nohead lw 2 lc rgb "#444444"
unset key
set style fill solid 0.9
set ytics scale 0
bar(x) = x
plot "speed.dat" using (1):0:(($3/$2) < 1 ? $3/$2 : 1):(($3/$2) < 1 ? 1 : $3/$2):($0-0.32):($0+0.32):(($3/$2) < 1 ? 0xd55e00 : 0x0072b2):ytic(1) \
         with boxxyerror lc rgb variable, \
     "" using (($3/$2) < 1 ? 1.1 : 1.08*$3/$2):0:(sprintf("%.2gx  %s", $3/$2, strcol(4))) with labels left font ",12"
PLOT
echo "<!-- $(cksum <speed.dat | cut -d' ' -f1) is the checksum of speed.dat -->" >>speed.svg
