/* SPDX-License-Identifier: MIT
 *
 * Elimination: the tuned constants and the limits of searches. Each comment explains the value; figures are from
 * tests/bench/results/elimination.md (NVIDIA H200). Constants of single CUDA kernels stand beside the kernels.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_BASE_TUNING_H
#define GPUOPT_IMPL_ELIMINATION_BASE_TUNING_H

#include <stdint.h>

/* ---- Limits of tables ---- */

/* Tables with more entries are refused: their bytes would not fit any machine. */
#define GPUOPT__ELIMINATION_MOST_ENTRIES ((int64_t)1 << 44)
/* Digits of an index that have two values or more: a table has at most 2^44 entries. */
#define GPUOPT__ELIMINATION_MOST_DIGITS 64
/* Tables, and the parts of a buffer, begin at multiples of this many entries: 256 bytes at least, as bulk copies need.
 */
#define GPUOPT__ELIMINATION_TABLE_ALIGN 256
/* Entries staged in host memory at a time, between a table and the caller's device memory. */
#define GPUOPT__ELIMINATION_STAGED 4096

/* ---- Tiles and rows of a job ---- */

/* Rows of a tile, at most: the sums that one GPU thread keeps in registers (three binary variables, or two with three
 * values). The general kernel has an instance for each number of rows. */
#define GPUOPT__ELIMINATION_TILE_ROWS 9
/* Entries of a row: at least half of a GPU block's 256 threads, at most four entries for each of them. Never beyond
 * LIMIT, where eight bytes an entry fill a CPU's first cache (32 KB). With this limit, 28 + 2 + 3 functions of 27
 * binary variables run at 77 to 85% of the copy bandwidth (section "The fused kernel"). */
#define GPUOPT__ELIMINATION_ROW_LEAST 128
#define GPUOPT__ELIMINATION_ROW_MOST 1024
#define GPUOPT__ELIMINATION_ROW_LIMIT 4096
/* Messages with fewer entries have tiles of one row: at 1024 entries a row, larger tiles would leave less than one
 * block for each of an H200's 132 multiprocessors. */
#define GPUOPT__ELIMINATION_TILED_FROM ((int64_t)1 << 17)

/* ---- Partial joins ---- */

/* Buckets with this many joined rows add up small functions beforehand: a launch takes 4 us (section "Exact", model
 * 404), in which a GPU joins more rows. */
#define GPUOPT__ELIMINATION_PARTIAL_FROM 1048576.0
/* Entries of such a sum, at most: 1 MB of 32-bit costs, which stays in a cache. */
#define GPUOPT__ELIMINATION_PARTIAL_MOST 262144

/* ---- Search for an order ---- */

/* The default number of runs of each greedy heuristic. One, because annealing gains more than a second run would, in
 * the same time. But up to RESTARTS while the best order has more than RESTARTS_FROM operations a variable, where some
 * milliseconds matter little. Beyond RESTARTS_TO operations the elimination is infeasible either way. Without restarts
 * the orders of pedigree7 and myciel5g-3 have 2^10 and 2.2 times as many operations. */
#define GPUOPT__ELIMINATION_RESTARTS 8
#define GPUOPT__ELIMINATION_RESTARTS_FROM 268435456.0
#define GPUOPT__ELIMINATION_RESTARTS_TO 1e18
/* Eliminations of a greedy run between two looks at the clock and the stop hook. In dense graphs of some thousand
 * variables one elimination takes a millisecond. */
#define GPUOPT__ELIMINATION_GREEDY_LOOK 64
/* Rounds of rotations. */
#define GPUOPT__ELIMINATION_ROTATIONS 2
/* Words of a set of vertices in the part of the tree with rotations: 256 vertices. */
enum { GPUOPT__ELIMINATION_CORE_WORDS = 4, GPUOPT__ELIMINATION_CORE_MOST = 64 * GPUOPT__ELIMINATION_CORE_WORDS };
/* Rotations tried in a round: FEW, plus one for every OPERATIONS operations of the elimination, and at most MANY, so
 * that a short elimination takes a short search. The limits keep the rounds at about the time of the greedy runs. */
#define GPUOPT__ELIMINATION_MOVES_FEW 200
#define GPUOPT__ELIMINATION_MOVES_MANY 2000
#define GPUOPT__ELIMINATION_MOVES_OPERATIONS 8192
#define GPUOPT__ELIMINATION_MOVES_MANY_FROM 8e7

/* The most vertices, and words of all cliques' sets together, for annealing: 8 MB of a graph's bits, and as much of a
 * tree's for each thread. */
#define GPUOPT__ELIMINATION_COVER_VERTICES 8192
#define GPUOPT__ELIMINATION_COVER_WORDS ((int64_t)1 << 19)
/* Annealing: moves without a budget; moves where the elimination is as long as for RESTARTS. These take 20 to 80 ms
 * more, with which independentset_ksg keeps half of its joined rows (section "Orders"). With a budget: chains side by
 * side, and rounds. */
#define GPUOPT__ELIMINATION_ANNEAL_MOVES 60000
#define GPUOPT__ELIMINATION_ANNEAL_MOVES_LONG 480000
#define GPUOPT__ELIMINATION_ANNEAL_CHAINS 4
#define GPUOPT__ELIMINATION_ANNEAL_ROUNDS 2
/* Moves at a temperature, for each inner node of the tree. */
#define GPUOPT__ELIMINATION_ANNEAL_STEP 8
/* The most moves between two looks at the clock and the stop hook: some milliseconds. */
#define GPUOPT__ELIMINATION_ANNEAL_LOOK 16384
/* The last temperature, 1/16, and the first without a budget, about 3/8: log2 of their multiples of 1/1024, in 1/1024.
 * From 1/4 to 1, orders of a search without a budget for c499 have 2^20 to 2^24 entries, at random. */
#define GPUOPT__ELIMINATION_COLD (6 * 1024)
#define GPUOPT__ELIMINATION_WARM 8800
/* How far a waiting thread counts between two calls of the caller's hooks: some tenths of a millisecond. */
#define GPUOPT__ELIMINATION_WAIT_LOOK 262144
/* Sweeps tried beforehand: without a budget, if the elimination is as long as for RESTARTS; with one. */
#define GPUOPT__ELIMINATION_SWEEPS_FEW 16
#define GPUOPT__ELIMINATION_SWEEPS 64
/* Cliques that a sweep scans in the time of a move of annealing, within a factor of a few. After every LOOK of them,
 * about a millisecond, the sweep looks at the clock and calls the stop hook. */
#define GPUOPT__ELIMINATION_SWEEP_SCANS 64
#define GPUOPT__ELIMINATION_SWEEP_LOOK 262144
/* Dissections, likewise, and their scans without a budget: some tens of milliseconds (section "Orders"). With four,
 * pedigree13 keeps 2^2.3 times as many joined rows. */
#define GPUOPT__ELIMINATION_DISSECT_FEW 8
#define GPUOPT__ELIMINATION_DISSECT_MANY 32
#define GPUOPT__ELIMINATION_DISSECT_SCANS ((int64_t)1 << 24)

/* ---- Policies ---- */

/* Variables in all scopes beyond which an already too large draft is not finished. */
#define GPUOPT__ELIMINATION_MOST_SCOPES ((int64_t)1 << 26)
/* The most passes of the value phase. Each plan with several passes counts the repeated work, a job at a time. */
#define GPUOPT__ELIMINATION_MOST_PASSES 1024
/* The most slices, with SLICE and with AUTO. AUTO also gives up slicing, and passes, if they multiply the operations by
 * more than REPEATED: mini-buckets are then the better choice. Not measured. */
#define GPUOPT__ELIMINATION_MOST_SLICES ((int64_t)1 << 32)
#define GPUOPT__ELIMINATION_AUTO_SLICES 65536
#define GPUOPT__ELIMINATION_AUTO_REPEATED 64
/* STREAM: the buffers take the memory limit divided by this, if the tables need the rest. With larger buffers, tables
 * without the slowest variables of the message are copied less often. Model 42b with 2 GB of device memory then moves
 * 27.9 GB each way at 70 GB/s, in 0.80 s (section "The fused kernel"). */
#define GPUOPT__ELIMINATION_BUFFERS_PART 4

/* ---- CPU ---- */

/* Entries of a piece, and bytes of its best sums over all rows of a tile: both fit in a first cache of 32 KB, beside
 * the tables. Digits of a piece: each has two values or more. */
#define GPUOPT__ELIMINATION_CPU_PIECE_MOST 1024
#define GPUOPT__ELIMINATION_CPU_PIECE_BYTES 16384
#define GPUOPT__ELIMINATION_CPU_PIECE_DIGITS 10
/* Sums are padded to whole groups of this many entries; compilers turn these into vectors of any width. */
#define GPUOPT__ELIMINATION_CPU_VECTOR 16
/* Joined rows of a job from which on threads share it. At about a nanosecond a row this is 65 us, several times the
 * cost of waking threads; an estimate, not a measurement. */
#define GPUOPT__ELIMINATION_CPU_THREADED_FROM 65536
/* Partial assignments from which on threads share a look-up of bounds; likewise, at 0.2 us or more each. */
#define GPUOPT__ELIMINATION_CPU_LOOKUPS_FROM 512

#endif /* GPUOPT_IMPL_ELIMINATION_BASE_TUNING_H */
