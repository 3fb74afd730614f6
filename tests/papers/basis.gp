# SPDX-License-Identifier: MIT
#
# Draws Figures 8, 9a, 9b and 10 of paper 2, and the times of updates alone, from the tables of tests/papers/basis.c.
# See run.sh; `folder` is where the pictures go.
set terminal svg size 860,480 font "sans-serif,14" background "#ffffff"
set datafile missing "-"
set key outside right
set grid lc rgb "#dddddd"
set style data linespoints
array name[6] = ["MPFI", "COLUMN", "ELEMENT", "MODIFIED", "PROPOSED", "DEFERRED"]
array color[6] = [0xe69f00, 0x56b4e9, 0x009e73, 0xcc79a7, 0xd55e00, 0x0072b2]

set xlabel "rows and columns, m"
set logscale y
set format y "10^{%L}"

set output folder."/paper2_fig8.svg"
set title "Figure 8. COLUMN's step 2 by threads of a block, us"
array threads[8] = [32, 64, 128, 256, 384, 512, 672, 1024]
stats "paper2_fig8.dat" using 1 nooutput
set xrange [0:1.05 * STATS_max]
set yrange [1:10000]
plot for [k = 1:8] "paper2_fig8.dat" using 1:k+4 lw 2 title sprintf("%d", threads[k])

set autoscale y
do for [part in "a b"] {
    set output folder."/paper2_fig9".part.".svg"
    set title "Figure 9".part.". Speed-up over PFI, percent: ".(part eq "a" ? "update" : "total time")
    plot for [k = 1:5] "paper2_fig9".part.".dat" using 1:k+1 dt 3 lc rgb color[k] title "paper ".name[k], \
         for [k = 1:6] "" using 1:k+6 dt 2 lc rgb color[k] title "CPU ".name[k], \
         for [k = 1:6] "" using 1:k+12 lw 2 lc rgb color[k] title "GPU ".name[k]
}

set output folder."/paper2_updates.svg"
set title "Updates alone, us"
plot "paper2_updates.dat" using 1:2 dt 2 lc rgb "#444444" title "copy of the matrix", \
     "" using 1:3 lw 2 lc rgb "#999999" title "PFI", \
     "" using 1:4 lw 2 lc rgb color[1] title name[1], \
     "" using 1:5 dt 2 lc rgb color[2] title "COLUMN before", \
     for [k = 2:6] "" using 1:k+4 lw 2 lc rgb color[k] title name[k]

set output folder."/paper2_fig10.svg"
set title "Figure 10. Times, PROPOSED = 1: update (filled) and total (open), paper's to the left"
unset xlabel
set autoscale x
set format y "%g"
set yrange [0.01:100]
set xtics rotate by -60 font ",10"
set style data points
plot "paper2_fig10.dat" using ($0-0.15):3 pt 5 ps 0.6 lc rgb "#999999" title "paper, update", \
     "" using ($0-0.15):5 pt 4 ps 0.6 lc rgb "#999999" title "paper, total", \
     "" using ($0+0.15):4:xtic(strcol(1)." ".strcol(2)) pt 5 ps 0.6 lc rgb color[6] title "update", \
     "" using ($0+0.15):6 pt 4 ps 0.6 lc rgb color[6] title "total"
