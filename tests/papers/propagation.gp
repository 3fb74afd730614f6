# SPDX-License-Identifier: MIT
#
# Figures 1, 2, 5 and 6 of paper 1 as paper1_figN.svg in `folder`, from paper1_*.dat in the working folder. Without a
# GPU its columns are "-".
set datafile missing "-"
set style data linespoints
set logscale y
set grid lc rgb "#dddddd"
set key outside right top font ",11"
set xrange [0.7:8.3]
set xtics 1
set xlabel "Set"
set ylabel "speed-up over the sequential CPU program"

# Colours: ours by backend, the paper's in grey.
gpu = "#0072b2"
cpu = "#d55e00"
plain = "#009e73"
old = "#777777"

set terminal svg size 1200,450 font "sans-serif,13" background "#ffffff"
set output folder."/paper1_fig1.svg"
set multiplot
set lmargin at screen 0.07
set rmargin at screen 0.4
set title "Figure 1a: geometric mean of each set"
unset key
plot 1 lc rgb "#444444", \
     "paper1_table1.dat" every ::0::7 using ($0+1):4 lc rgb plain pt 6, \
     "" every ::0::7 using ($0+1):5 lc rgb plain pt 7, \
     "" every ::0::7 using ($0+1):6 lc rgb cpu pt 6, \
     "" every ::0::7 using ($0+1):7 lc rgb cpu pt 7, \
     "" every ::0::7 using ($0+1):8 lc rgb gpu pt 4, \
     "" every ::0::7 using ($0+1):10 lc rgb gpu pt 6, \
     "" every ::0::7 using ($0+1):11 lc rgb gpu pt 7 lw 2, \
     "" every ::0::7 using ($0+1):13 lc rgb old pt 7 dt 2, \
     "" every ::0::7 using ($0+1):14 lc rgb old pt 4 dt 2, \
     "" every ::0::7 using ($0+1):15 lc rgb old pt 6 dt 3, \
     "" every ::0::7 using ($0+1):16 lc rgb old pt 8 dt 3
set lmargin at screen 0.46
set rmargin at screen 0.78
set title "Figure 1b: all models, in ascending order"
set key outside right top font ",11"
set xrange [0:100]
set xtics 20
set xlabel "percent of the models"
unset ylabel
plot 1 lc rgb "#444444" title "sequential", \
     "paper1_fig1b.dat" using 1:2 lc rgb plain pt 6 title "Algorithm 1", \
     "" using 1:3 lc rgb plain pt 7 title "Algorithm 1, threads", \
     "" using 1:4 lc rgb cpu pt 6 title "JACOBI", \
     "" using 1:5 lc rgb cpu pt 7 title "JACOBI, threads", \
     "" using 1:6 lc rgb gpu pt 4 title "GPU HOST", \
     "" using 1:8 lc rgb gpu pt 6 title "GPU COOPERATIVE", \
     "" using 1:9 lc rgb gpu pt 7 lw 2 title "GPU AUTO", \
     "" using 1:10 with points lc rgb old pt 7 title "paper: V100", \
     "" using 1:11 with points lc rgb old pt 4 title "paper: TITAN", \
     "" using 1:12 with points lc rgb old pt 6 title "paper: cpu\\_omp, Xeon", \
     "" using 1:13 with points lc rgb old pt 8 title "paper: cpu\\_omp, i7"
unset multiplot
unset lmargin
unset rmargin

set terminal svg size 860,450 font "sans-serif,13" background "#ffffff"
set xrange [0.7:8.3]
set xtics 1
set xlabel "Set"
set ylabel "speed-up over the sequential CPU program"
set output folder."/paper1_fig2.svg"
set title "Figure 2: double and single precision"
plot 1 lc rgb "#444444" title "sequential", \
     "paper1_fig2.dat" every ::0::7 using ($0+1):3 lc rgb cpu pt 7 title "JACOBI", \
     "" every ::0::7 using ($0+1):4 lc rgb cpu pt 6 dt 2 title "JACOBI, FP32", \
     "" every ::0::7 using ($0+1):5 lc rgb gpu pt 7 title "GPU HOST", \
     "" every ::0::7 using ($0+1):6 lc rgb gpu pt 6 dt 2 title "GPU HOST, FP32", \
     "" every ::0::7 using ($0+1):7 lc rgb old pt 7 dt 2 title "paper: V100", \
     "" every ::0::7 using ($0+1):10 lc rgb old pt 4 dt 2 title "paper: TITAN"

set output folder."/paper1_fig6.svg"
set title "Figure 6: drivers"
plot 1 lc rgb "#444444" title "sequential", \
     "paper1_fig6.dat" every ::0::7 using ($0+1):3 lc rgb gpu pt 4 title "HOST (cpu\\_loop)", \
     "" every ::0::7 using ($0+1):4 lc rgb cpu pt 8 title "GRAPH (gpu\\_loop)", \
     "" every ::0::7 using ($0+1):5 lc rgb plain pt 6 title "COOPERATIVE (megakernel)", \
     "" every ::0::7 using ($0+1):6 lc rgb "#444444" pt 7 dt 2 title "AUTO"

set output folder."/paper1_fig5.svg"
set title "Figure 5: five random orders of rows and columns"
set ylabel "time relative to the model's own order"
plot 1 lc rgb "#444444" title "own order", \
     for [k = 3:7] "paper1_fig5.dat" every ::0::7 using ($0+1):k lc rgb cpu pt 6 \
         title (k == 3 ? "sequential, five orders" : ""), \
     for [k = 9:13] "" every ::0::7 using ($0+1):k lc rgb gpu pt 7 title (k == 9 ? "GPU AUTO, five orders" : "")
