# SPDX-License-Identifier: MIT
# The pictures of paper 4, from the tables of knapsack.c. `folder`: where they go.
set terminal svg size 760,420 font "sans-serif,14" background "#ffffff"
set datafile missing "-"
set grid lc rgb "#dddddd"
set key below
set style line 1 lc rgb "#444444" dt 2 lw 2 pt 4
set style line 2 lc rgb "#d55e00" lw 2 pt 7
set style line 3 lc rgb "#0072b2" lw 2 pt 5
set style line 4 lc rgb "#009e73" lw 2 pt 9

set output folder."/paper4_fig1.svg"
set title "Speed-up over one thread, means of ten instances (Table 1)"
set xlabel "items"
set ylabel "times"
set logscale y
set xrange [50:550]
set xtics 100
set yrange [0.1:2000]
plot "knapsack_table1.dat" every ::0::4 using 1:8 with linespoints ls 1 title "paper: Tesla C2050", \
     "" every ::0::4 using 1:($3/$4) with linespoints ls 2 title "CPU, threads", \
     "" every ::0::4 using 1:9 with linespoints ls 3 title "GPU, the paper's hybrid", \
     "knapsack_literal.dat" using 1:3 with linespoints ls 3 dt 3 title "the hybrid over the paper's text", \
     "knapsack_table1.dat" every ::0::4 using 1:10 with linespoints ls 4 title "GPU, all of it"

set output folder."/paper4_fig2.svg"
set title "The hybrid by the length from which lists go to the GPU"
set xlabel "nodes"
set ylabel "ms"
set logscale x 2
set xrange [200:80000]
set xtics ("256" 256, "1024" 1024, "4096" 4096, "16384" 16384, "65536" 65536)
set yrange [0.1:10000]
$paper << END
5000 0.1
5000 10000
END
plot $paper using 1:2 with lines ls 1 title "paper: 5000", \
     "knapsack_threshold.dat" using 1:3 with linespoints ls 2 title "n = 100", \
     "" using 1:4 with linespoints ls 3 title "n = 300", \
     "" using 1:5 with linespoints ls 4 title "n = 500"

set output folder."/paper4_fig3.svg"
set title "Speed-up over one thread, by the length of a step's list"
set xlabel "nodes in the list, from"
set ylabel "times"
set xrange [50:1e8]
set xtics ("64" 64, "1 Ki" 1024, "16 Ki" 16384, "256 Ki" 262144, "4 Mi" 4194304, "64 Mi" 67108864)
set yrange [0.02:2000]
plot 11 with lines ls 1 title "paper: at most", \
     "knapsack_lengths.dat" using 1:8 with linespoints ls 2 title "CPU, threads", \
     "" using 1:9 with linespoints ls 3 title "GPU, the paper's hybrid", \
     "" using 1:10 with linespoints ls 4 title "GPU, all of it"
