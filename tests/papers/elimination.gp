# SPDX-License-Identifier: MIT
#
# Draws Figures 9 and 10 of paper 3 from the tables of `elimination`, in the current folder, to the folder `folder`.
set terminal svg size 900,480 font "sans-serif,14" background "#ffffff"
set datafile missing "-"
set grid lc rgb "#dddddd"
set logscale y
set key outside top center horizontal
set bmargin 9

set output folder."/paper3_fig9.svg"
set title "The operations on the largest bucket: times as fast as one thread"
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.9
set xtics rotate by -30 scale 0 left
set ylabel "times as fast"
set yrange [0.1:10000]
# Bars start at the lower end of the range.
plot "paper3_fig9.dat" using 7:xtic(strcol(1).", ".strcol(2)) title "threads" lc rgb "#009e73", \
     "" using 8 title "GPU" lc rgb "#0072b2", \
     "" using 9 title "paper: GTX Titan" lc rgb "#999999"

set output folder."/paper3_fig10.svg"
set terminal svg size 1100,420 font "sans-serif,14" background "#ffffff"
set bmargin
set multiplot layout 1,3 title "Mini-buckets of size z: the GPU's times as fast as one thread"
unset key
set style data linespoints
set xtics norotate center 2,1,10
set xrange [2:10]
set xlabel "z"
set yrange [0.1:100000]
files = "paper3_fig10a paper3_fig10b paper3_fig10c"
titles = "random scale-free grid"
do for [k = 1:3] {
    set title word(titles, k)
    if (k == 3) { set key inside top right vertical font ",11" }
    plot word(files, k).".dat" using 1:8 title "MBE" lw 2 lc rgb "#0072b2", \
         "" using 1:12 title "ADPOP" lw 2 lc rgb "#009e73", \
         "" using 1:13 title "paper: M2075" lc rgb "#cccccc", \
         "" using 1:14 title "paper: Titan" lc rgb "#999999", \
         "" using 1:15 title "paper: Titan X" lc rgb "#555555"
    set ylabel ""
}
unset multiplot

set output folder."/paper3_fig10d.svg"
set terminal svg size 860,420 font "sans-serif,14" background "#ffffff"
set title "What a run with mini-buckets spends its time on"
unset logscale y
unset xlabel
set xrange [-1:9]
set boxwidth 0.8
set bmargin 6
set ylabel "percent"
set yrange [0:100]
set key outside top center horizontal
set style data histogram
set style histogram rowstacked
set xtics auto rotate by -30 scale 0 left
plot "paper3_fig10d.dat" using 3:xtic("z = ".strcol(1).", ".strcol(2)) title "plan" lc rgb "#999999", \
     "" using 4 title "create" lc rgb "#56b4e9", \
     "" using 5 title "eliminate" lc rgb "#0072b2", \
     "" using 6 title "assign" lc rgb "#e69f00"
