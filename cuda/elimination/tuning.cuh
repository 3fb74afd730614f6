/* SPDX-License-Identifier: MIT
 *
 * Every number by which elimination on the GPU was tuned, and the limits that its kernels are compiled for. Host code
 * alone can include this file.
 *
 * Each number has its reason next to it. Tables named are in tests/bench/results/elimination.md, all measured on an
 * H200 (132 multiprocessors): Exact, The fused kernel, Large domains. "By hand" means: chosen while those tables were
 * made, and confirmed by them as a whole; no run is recorded that varies this number alone.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_TUNING_CUH
#define GPUOPT_CUDA_ELIMINATION_TUNING_CUH

#include "../../gpuopt_impl/elimination/table.h"

namespace {

/* ---- Which jobs share a launch ---- */

/* A job with fewer joined rows (entries times values) and fewer entries shares its launch with others of its level. By
 * hand. A launch takes 4 us or more: model 404 in the table Exact is 58 levels in 1.04 ms. */
constexpr double elimination_alone_from = 524288;
constexpr int64_t elimination_alone_entries = 131072;
/* Blocks that a job in a shared launch is cut into at most, and blocks per multiprocessor of a job that has a launch of
 * its own. By hand. */
constexpr int64_t elimination_shared_blocks = 1024;
constexpr int64_t elimination_blocks = 8;

/* ---- The general kernel ---- */

constexpr int elimination_threads = 256;
/* Blocks per multiprocessor that the kernel is compiled for. With three operands in registers it got one block before,
 * which cost queen5-5-3 (table Exact) its goal. */
constexpr int elimination_resident = 2;
/* Rows of a tile whose sums a thread keeps in registers: the plan cuts tiles accordingly. */
constexpr int elimination_rows = GPUOPT__ELIMINATION_TILE_ROWS;
/* Most operands with addresses in registers; they depend on the row. Chosen by hand. */
constexpr int elimination_held = 3;
/* Kernels are compiled for each number, up to this one, of operands that depend on the row. Chosen by hand. */
constexpr int elimination_varying = 6;
/* Most operands that are the same for all rows and are loaded together with the others. Chosen by hand. */
constexpr int elimination_calm = 4;
/* Operands with addresses in shared memory. Later ones are recomputed at every use. 64 of them take 64 KB for 256
 * threads. */
constexpr int elimination_slab = 64;

/* ---- Digits, for the staged and the product kernel ---- */

/* Jobs with more operands, or more digits once neighbours are merged, are left to the general kernel. They bound the
 * size of the kernels' parameters, which are at most 4 KB. */
constexpr int digits_operands = 16;
constexpr int digits_most = 16;

/* ---- The staged kernel (table The fused kernel: 22 of 30 goals met; 1 of 12 before it came) ---- */

constexpr int staged_consumers = 256; /* threads that add. By hand */
constexpr int staged_producers = 2;   /* warps that copy, taking turns. By hand */
constexpr int staged_threads = staged_consumers + 32 * staged_producers;
constexpr int staged_resident = 2; /* blocks per multiprocessor. By hand */
/* Stages in shared memory and the most bytes of one. By hand: up to 144 KB are on their way to each multiprocessor,
 * where threads that load what they add reached 10 to 30% of the copy speed with 16 bits and two large functions. */
constexpr int staged_depth = 4;
constexpr int64_t staged_bytes = 18432;
/* Dynamic shared memory of a block: what every device from sm_90 on has besides the 12 KB that the kernel declares. */
constexpr size_t staged_memory_most = 84 * 1024;
constexpr int staged_segments_most = 256; /* of a stage. By hand */
/* A segment may hold the gaps between its rows if they at most double it, or if it has at most this many bytes.
 * By hand. */
constexpr int64_t staged_gaps = 1024;
/* Smaller jobs are left to the general kernel. Least tiles per multiprocessor, and entries of a tile. By hand; commit
 * af2e9eb added the second, so that small jobs are refused before any tile is cut. */
constexpr int staged_tiles_least = 4;
constexpr int staged_entries_least = 1024;
/* Limits of the kernel's parameters and registers: operands; those of them that depend on the row; digits of the rows;
 * rows of a tile, of which the search starts; rows of a thread; teams of threads, each with rows of its own. */
constexpr int staged_operands = 8;
constexpr int staged_varying = 3;
constexpr int staged_row_digits = 6;
constexpr int staged_rows_most = 64;
constexpr int staged_highest = 27;
constexpr int staged_teams = 4;

/* ---- The product kernel (table Large domains) ---- */

/* The shape of a tile: 16 rows for each warp; 16 words of columns for each word of a thread. */
constexpr int product_warps = 8;
constexpr int product_words = 8;
constexpr int product_rows = 8;   /* of a thread */
constexpr int product_depth = 16; /* values of a slice */
constexpr int product_operands = digits_operands;
constexpr int product_digits = digits_most;
/* Tables whose scopes do not lie in another's scope: all ways to divide them into two groups are tried, 2^7 at most. */
constexpr int product_heads = 8;

/* Jobs with fewer joined rows, fewer values or fewer rows or columns are not tried. By hand: 2^22 joined rows at first,
 * 2^20 since commit 954b332. */
constexpr double product_from = 1048576;
constexpr int product_values_least = 8;
constexpr int product_side_least = 16;

/* Words of a thread that there are kernels for. Packed ones have twice as many columns, so that 8 words have none. */
constexpr bool product_has(int words, bool packed) {
    return words <= 4 || words == 6 || (words == product_words && !packed);
}

/* Values of a slice that a half-warp fetches: as many as registers allow without spills. A tile has 8 / this warps or
 * more. */
constexpr int product_right_values(int words, bool packed) {
    return words == 1   ? 4
           : words == 2 ? (packed ? 3 : 4)
           : words == 3 ? 3
           : words == 4 ? (packed ? 2 : 4)
           : words == 6 ? (packed ? 1 : 2)
                        : 1;
}

/* Warps that fit a multiprocessor. Tiles with little to compute for what they load need more of them. */
constexpr int product_resident(int words) { return product_warps * (words <= 2 ? 3 : 2); }

/* Shared memory of a block; every supported device has it. */
constexpr size_t product_most_bytes = 60 * 1024;

/* The model of time by which a tile's shape is chosen, and whether the product kernel is taken at all. The unit is one
 * add-min pair of the whole device: 1/16.0e12 s on the H200 (tests/bench/add_min_rate.cu). Fitted to the first run of
 * the table Large domains (commit ba47b4e), except for the two floors, which came with 954b332. */
constexpr double product_pair_words = 3.1;   /* a pair takes 1 + this / words of a thread: shared memory is read */
constexpr double product_load_near = 3;      /* an element of a table whose neighbours are loaded with it */
constexpr double product_load_far = 83;      /* one that is alone in a sector of the L2 cache */
constexpr double product_store_apart = 400;  /* an entry of the message that is stored without its neighbours */
constexpr double product_busy_warps = 8;     /* keep a multiprocessor busy */
constexpr double product_value_least = 8000; /* per value and multiprocessor, however few the tiles: 66 ns a value */
/* A wider tile that reaches over no edge gains at least this factor, or it is not tried. By hand. */
constexpr double product_tried_from = 1.02;
/* The product kernel is taken if it needs at most this share of the general kernel's time. By hand. */
constexpr double product_gain = 0.9;
/* No kernel stores the message faster than memory takes it: 4 pairs for a byte are 4.0 TB/s, where a copy reaches
 * 4.28 TB/s. */
constexpr double product_store_byte = 4;

/* An operand whose neighbours along a side are not neighbours in memory may be copied first. An entry of the copy: 64
 * pairs are 4 ps; a launch: 64e6 pairs are 4 us. Rows (x, a, b) + (x, b, c) of the table Large domains had 38 to 45% of
 * the add-min rate before, 54 to 64% since (32 and 16 bits). A copy may have at most this share of the message's
 * entries: more does not pay for its memory. By hand. */
constexpr double product_copy_entry = 64;
constexpr double product_copy_launch = 64e6;
constexpr double product_copy_share = 0.5;
constexpr int copy_square = 32, copy_threads = 256;
/* Blocks of a copy: entries for each, and the most per multiprocessor. By hand. */
constexpr int64_t copy_block_entries = 512, copy_blocks = 16;

/* The general kernel's time in the same unit: pairs for a joined row with 8, 16 and 32 bits, and a floor per value and
 * multiprocessor (0.41 us a value). Measured with the general kernel of commit 954b332, when it had narrow costs side
 * by side in a word. The staged kernel, which takes many such jobs today, is not in this model. */
constexpr double general_pairs(int bits) { return bits == 8 ? 3.5 : bits == 16 ? 4.5 : 6; }
constexpr double general_value_least = 50000;

/* ---- Streaming ---- */

/* The number of chunks that a job is cut into if its tables allow it, and the least bytes of a chunk, which the link
 * takes 80 us to move: 20 launches. The link has 55 GB/s one way (that page, STREAM). */
constexpr int64_t stream_chunks = 16, stream_least = 4194304;
/* Pages that hold tables hold nothing else, so that nothing else is pinned with them. */
constexpr uint64_t stream_page = 65536;
/* Two-dimensional copies have a smaller pitch than this (a limit of CUDA). */
constexpr int64_t stream_pitch = int64_t{1} << 31;

/* ---- The value phase ---- */

constexpr int decide_threads = 128; /* a word of decisions in each: whole warps of neighbouring words. Not measured */
/* Threads of a block that looks up bounds. Partial assignments in host memory go through a part of the store: a
 * buffer for this many of them, but of at most this many bytes (thousands with some hundred variables). Not
 * measured. */
constexpr int bound_threads = 256;
constexpr int64_t bound_piece_part = 16, bound_piece_rows = 64, bound_piece_bytes = 4 << 20;
constexpr int value_threads = 1024; /* one block does all of it: a warp for each variable of a depth. By hand */

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_TUNING_CUH */
