/* SPDX-License-Identifier: MIT
 *
 * Elimination: the constants that were tuned, or that limit a search. Each comment explains the value; where a figure
 * is given, it is from tests/bench/results/elimination.md (NVIDIA H200). Constants of single CUDA kernels stand beside
 * the kernels.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_TUNING_H
#define GPUOPT_IMPL_ELIMINATION_TUNING_H

#include <stdint.h>

/* ---- Limits of tables ---- */

/* Tables with more entries are refused: their bytes would not fit any machine. */
#define GPUOPT__ELIMINATION_MOST_ENTRIES ((int64_t)1 << 44)
/* Digits of an index that have two values or more: a table has at most 2^44 entries. */
#define GPUOPT__ELIMINATION_MOST_DIGITS 64
/* Tables, and the parts of a buffer, begin at multiples of this many entries: 256 bytes at least, as bulk copies need.
 */
#define GPUOPT__ELIMINATION_TABLE_ALIGN 256
/* Entries that are staged in host memory at a time between a table and device memory of the caller. */
#define GPUOPT__ELIMINATION_STAGED 4096

/* ---- Tiles and rows of a job ---- */

/* Rows of a tile, at most: the sums that one GPU thread keeps in registers (three binary variables, or two with three
 * values). The general kernel has an instance for each number of rows. */
#define GPUOPT__ELIMINATION_TILE_ROWS 9
/* Entries of a row: at least half of a GPU block's 256 threads, at most four entries for each of them, and never beyond
 * LIMIT, with which eight bytes an entry fill a CPU's first cache (32 KB). With it, 28 + 2 + 3 functions of 27 binary
 * variables run at 77 to 85% of the copy bandwidth (section "The fused kernel"). */
#define GPUOPT__ELIMINATION_ROW_LEAST 128
#define GPUOPT__ELIMINATION_ROW_MOST 1024
#define GPUOPT__ELIMINATION_ROW_LIMIT 4096
/* Messages with fewer entries have tiles of one row: at 1024 entries a row that is less than one block for each of an
 * H200's 132 multiprocessors. */
#define GPUOPT__ELIMINATION_TILED_FROM ((int64_t)1 << 17)

/* ---- Partial joins ---- */

/* Buckets with this many joined rows add up small functions beforehand: a launch takes 4 us (section "Exact", model
 * 404), in which a GPU joins more rows than this. */
#define GPUOPT__ELIMINATION_PARTIAL_FROM 1048576.0
/* Entries of such a sum, at most: 1 MB of 32-bit costs, which stays in a cache. */
#define GPUOPT__ELIMINATION_PARTIAL_MOST 262144

/* ---- Search for an order ---- */

/* The default number of runs of each greedy heuristic: one, for annealing gains more than a second would, and
 * takes as long; but up to RESTARTS while the best order has more than RESTARTS_FROM operations a variable, for which
 * some milliseconds are little. Beyond RESTARTS_TO operations it is out of reach either way. Without them the orders of
 * pedigree7 and myciel5g-3 have 2^10 and 2.2 times as many operations. */
#define GPUOPT__ELIMINATION_RESTARTS 8
#define GPUOPT__ELIMINATION_RESTARTS_FROM 268435456.0
#define GPUOPT__ELIMINATION_RESTARTS_TO 1e18
/* Eliminations of a greedy run after which the clock is read and the stop hook is called. In dense graphs of some
 * thousand variables one takes a millisecond. */
#define GPUOPT__ELIMINATION_GREEDY_LOOK 64
/* Rounds of rotations. */
#define GPUOPT__ELIMINATION_ROTATIONS 2
/* Words of a set of vertices in the part of the tree that is rotated: 256 vertices. */
enum { GPUOPT__ELIMINATION_CORE_WORDS = 4, GPUOPT__ELIMINATION_CORE_MOST = 64 * GPUOPT__ELIMINATION_CORE_WORDS };
/* Rotations tried in a round: FEW, plus one for every OPERATIONS operations of the elimination, and at most MANY, so
 * that little time is spent where the elimination itself takes little. The limits keep the rounds at about the time of
 * the greedy runs. */
#define GPUOPT__ELIMINATION_MOVES_FEW 200
#define GPUOPT__ELIMINATION_MOVES_MANY 2000
#define GPUOPT__ELIMINATION_MOVES_OPERATIONS 8192
#define GPUOPT__ELIMINATION_MOVES_MANY_FROM 8e7

/* Vertices, and words of all cliques' sets together, up to which orders are annealed: 8 MB of a graph's bits, and as
 * much of a tree's for each thread. */
#define GPUOPT__ELIMINATION_COVER_VERTICES 8192
#define GPUOPT__ELIMINATION_COVER_WORDS ((int64_t)1 << 19)
/* Annealing: moves without a budget, and those where the elimination is as long as for RESTARTS: 20 to 80 ms more, with
 * which independentset_ksg keeps half of its joined rows (section "Orders"); chains side by side, and rounds, with a
 * budget. */
#define GPUOPT__ELIMINATION_ANNEAL_MOVES 60000
#define GPUOPT__ELIMINATION_ANNEAL_MOVES_LONG 480000
#define GPUOPT__ELIMINATION_ANNEAL_CHAINS 4
#define GPUOPT__ELIMINATION_ANNEAL_ROUNDS 2
/* Moves at a temperature, for each inner node of the tree. */
#define GPUOPT__ELIMINATION_ANNEAL_STEP 8
/* Moves after which the clock is read and the stop hook is called, at the latest: some milliseconds. */
#define GPUOPT__ELIMINATION_ANNEAL_LOOK 16384
/* The last temperature, 1/16, and the first without a budget, about 3/8: log2 of their multiples of 1/1024, in 1/1024.
 * From 1/4 to 1, what a search without a budget finds for c499 has 2^20 to 2^24 entries, as luck will have it. */
#define GPUOPT__ELIMINATION_COLD (6 * 1024)
#define GPUOPT__ELIMINATION_WARM 8800
/* How far a thread counts before it asks the caller again, while others work: some tenths of a millisecond. */
#define GPUOPT__ELIMINATION_WAIT_LOOK 262144
/* Sweeps that are tried beforehand: without a budget, if the elimination is as long as for RESTARTS; with one. */
#define GPUOPT__ELIMINATION_SWEEPS_FEW 16
#define GPUOPT__ELIMINATION_SWEEPS 64
/* Cliques that a sweep looks at in the time of a move of annealing, within a factor of a few. It looks at the clock and
 * asks the caller after every LOOK of them: about a millisecond. */
#define GPUOPT__ELIMINATION_SWEEP_SCANS 64
#define GPUOPT__ELIMINATION_SWEEP_LOOK 262144
/* Dissections, likewise, and what they may scan without a budget: some tens of milliseconds (section "Orders"). With
 * four, pedigree13 keeps 2^2.3 times as many joined rows. */
#define GPUOPT__ELIMINATION_DISSECT_FEW 8
#define GPUOPT__ELIMINATION_DISSECT_MANY 32
#define GPUOPT__ELIMINATION_DISSECT_SCANS ((int64_t)1 << 24)

/* ---- Policies ---- */

/* Variables in all scopes beyond which a draft that is too large already is not finished. */
#define GPUOPT__ELIMINATION_MOST_SCOPES ((int64_t)1 << 26)
/* Passes of the value phase at most. Each plan with several counts what all of them repeat, a job at a time. */
#define GPUOPT__ELIMINATION_MOST_PASSES 1024
/* Slices at most, with SLICE and with AUTO. AUTO also gives up slicing if it multiplies the operations by more than
 * REPEATED, and so it does with passes: mini-buckets are then the better choice. Not measured. */
#define GPUOPT__ELIMINATION_MOST_SLICES ((int64_t)1 << 32)
#define GPUOPT__ELIMINATION_AUTO_SLICES 65536
#define GPUOPT__ELIMINATION_AUTO_REPEATED 64
/* STREAM: the buffers get the memory limit divided by this, if the tables need the rest. The larger the buffers,
 * the less often a table is copied that lacks the slowest variables of the message. Model 42b with 2 GB of device
 * memory then moves 27.9 GB each way at 70 GB/s, in 0.80 s (section "The fused kernel"). */
#define GPUOPT__ELIMINATION_BUFFERS_PART 4

/* ---- CPU ---- */

/* Entries of a piece, and bytes of its best sums over all rows of a tile: both stay in a first cache of 32 KB, beside
 * the tables. Digits of a piece: each has two values or more. */
#define GPUOPT__ELIMINATION_CPU_PIECE_MOST 1024
#define GPUOPT__ELIMINATION_CPU_PIECE_BYTES 16384
#define GPUOPT__ELIMINATION_CPU_PIECE_DIGITS 10
/* Sums are padded to whole groups of this many entries, which compilers turn into vectors of any width. */
#define GPUOPT__ELIMINATION_CPU_VECTOR 16
/* Joined rows of a job from which on threads share it. At about a nanosecond a row that is 65 us, several times what
 * waking threads takes; an estimate, not a measurement. */
#define GPUOPT__ELIMINATION_CPU_THREADED_FROM 65536
/* Partial assignments from which on threads share a look-up of bounds; likewise, at 0.2 us or more each. */
#define GPUOPT__ELIMINATION_CPU_LOOKUPS_FROM 512

#endif /* GPUOPT_IMPL_ELIMINATION_TUNING_H */
