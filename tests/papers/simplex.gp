# SPDX-License-Identifier: MIT
#
# Draws the figures of the simplex paper from simplex_*.dat in this folder to `folder`.
set terminal svg size 860,480 font "sans-serif,14" background "#ffffff"
set datafile missing "-"
set grid lc rgb "#dddddd"
set key outside right top
set logscale xy
set format y "10^{%L}"
clp = 0x444444; cpu = 0x009e73; one = 0x0072b2; two = 0x56b4e9; four = 0xcc79a7; red = 0xd55e00

set output folder."/paper5_fig2.svg"
set title "Meyer et al., figure 2: seconds to the optimum, density 4%, 5 columns a row"
set xlabel "rows"
set ylabel "seconds"
plot "simplex_fig2.dat" using 1:5 with linespoints lw 2 pt 4 lc rgb clp title "CLP primal", \
     "" using 1:6 with linespoints lw 1 dt 2 pt 4 lc rgb clp title "CLP dual", \
     "" using 1:7 with linespoints lw 1 dt 2 pt 6 lc rgb cpu title "1 thread, immediate", \
     "" using 1:12 with linespoints lw 2 pt 7 lc rgb cpu title "1 thread, deferred", \
     "" using 1:9 with linespoints lw 1 dt 2 pt 6 lc rgb one title "GPU, immediate", \
     "" using 1:10 with linespoints lw 1 dt 2 pt 6 lc rgb two title "2 GPUs, immediate", \
     "" using 1:11 with linespoints lw 1 dt 2 pt 6 lc rgb four title "4 GPUs, immediate", \
     "" using 1:14 with linespoints lw 2 pt 7 lc rgb one title "GPU, deferred", \
     "" using 1:15 with linespoints lw 2 pt 7 lc rgb two title "2 GPUs, deferred", \
     "" using 1:16 with linespoints lw 2 pt 7 lc rgb four title "4 GPUs, deferred"

set output folder."/paper5_fig3.svg"
set title "Meyer et al., figure 3: time of an iteration against density"
set xlabel "density, %"
set ylabel "microseconds an iteration"
set arrow 1 from 5, graph 0 to 5, graph 1 nohead dt 3 lc rgb red
set label 1 "paper: CLP loses" at 5.3, graph 0.95 tc rgb red
plot "simplex_fig3.dat" using 1:3 with linespoints lw 2 pt 4 lc rgb clp title "CLP primal", \
     "" using 1:4 with linespoints lw 1 dt 2 pt 4 lc rgb clp title "CLP dual", \
     "" using 1:5 with linespoints lw 1 dt 2 pt 6 lc rgb cpu title "1 thread, immediate", \
     "" using 1:8 with linespoints lw 2 pt 7 lc rgb cpu title "1 thread, deferred", \
     "" using 1:7 with linespoints lw 1 dt 2 pt 6 lc rgb one title "GPU, immediate", \
     "" using 1:10 with linespoints lw 2 pt 7 lc rgb one title "GPU, deferred"
unset arrow 1
unset label 1

set output folder."/paper5_speedup.svg"
set title "Meyer et al., section 6: predicted speed-ups, not measured"
set xlabel "ranks"
set ylabel "times as fast as one"
set format y "%g"
unset logscale
set logscale xy 2
set xrange [1.8:44]
set xtics (1, 2, 4, 8, 16, 32, 40)
plot x with lines dt 3 lc rgb red title "the paper: nearly this", \
     "simplex_speedup.dat" using ($1 == 10000 ? $3 : NaN):5 with linespoints lw 1 dt 2 pt 6 lc rgb one \
         title "10000 x 50000, immediate", \
     "" using ($1 == 20000 ? $3 : NaN):5 with linespoints lw 1 dt 2 pt 6 lc rgb four title "20000 x 100000, immediate", \
     "" using ($1 == 10000 ? $3 : NaN):6 with linespoints lw 1 dt 2 pt 4 lc rgb two \
         title "10000 x 50000, immediate, host memory", \
     "" using ($1 == 10000 ? $3 : NaN):7 with linespoints lw 2 pt 7 lc rgb one title "10000 x 50000, deferred", \
     "" using ($1 == 20000 ? $3 : NaN):7 with linespoints lw 2 pt 7 lc rgb four title "20000 x 100000, deferred", \
     "" using ($1 == 10000 ? $3 : NaN):8 with linespoints lw 2 pt 5 lc rgb two \
         title "10000 x 50000, deferred, host memory"
