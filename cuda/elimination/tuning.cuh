/* SPDX-License-Identifier: MIT
 *
 * All tuned numbers of elimination on the GPU, and the limits that its kernels are compiled for. Only host code can
 * include this file.
 *
 * Each number has its reason next to it. Tables named are in tests/bench/results/elimination.md, all measured on an
 * H200 (132 multiprocessors): Exact, The fused kernel, Large domains. "By hand" means: chosen while the tables were
 * made, and confirmed by them as a whole; no recorded run varies this number alone.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_TUNING_CUH
#define GPUOPT_CUDA_ELIMINATION_TUNING_CUH

#include "../../gpuopt_impl/elimination/base/table.h"

namespace {

/* ---- Which jobs share a launch ---- */

/* A job with fewer joined rows (entries times values) and fewer entries shares its launch with others of its level. By
 * hand. A launch takes 4 us or more: model 404 in the table Exact is 58 levels in 1.04 ms. */
constexpr double elimination_alone_from = 524288;
constexpr int64_t elimination_alone_entries = 131072;
/* The most blocks of a job in a shared launch, and blocks per multiprocessor of a job with a separate launch. By
 * hand. */
constexpr int64_t elimination_shared_blocks = 1024;
constexpr int64_t elimination_blocks = 8;

/* ---- The general kernel ---- */

constexpr int elimination_threads = 256;
/* Blocks per multiprocessor that the kernel is compiled for. With three operands in registers there was only one block
 * before, which cost queen5-5-3 (table Exact) its goal. */
constexpr int elimination_resident = 2;
/* Rows of a tile with sums in a thread's registers: the plan cuts tiles accordingly. */
constexpr int elimination_rows = GPUOPT__ELIMINATION_TILE_ROWS;
/* Most operands with addresses in registers; they depend on the row. Chosen by hand. */
constexpr int elimination_held = 3;
/* Kernels are compiled for each number, up to this one, of operands that depend on the row. Chosen by hand. */
constexpr int elimination_varying = 6;
/* Most operands that are the same for all rows and are loaded together with the others. Chosen by hand. */
constexpr int elimination_calm = 4;
/* Operands with addresses in shared memory. Addresses in further operands are recomputed at every use. 64 operands take
 * 64 KB for 256 threads. */
constexpr int elimination_slab = 64;

/* ---- Digits, for the staged and the product kernel ---- */

/* Jobs with more operands, or more digits after merging neighbours, are left to the general kernel. The limits bound
 * the size of the kernels' parameters, which are at most 4 KB. */
constexpr int digits_operands = 16;
constexpr int digits_most = 16;

/* ---- The staged kernel (table The fused kernel: 22 of 30 goals met; 1 of 12 before it came) ---- */

constexpr int staged_consumers = 256; /* threads that add. By hand */
constexpr int staged_producers = 2;   /* warps that copy, taking turns. By hand */
constexpr int staged_threads = staged_consumers + 32 * staged_producers;
constexpr int staged_resident = 2; /* blocks per multiprocessor. By hand */
/* Stages in shared memory and the most bytes of one. By hand: up to 144 KB are under way to each multiprocessor.
 * Without stages, where threads load their own operands, 16 bits and two large functions reached 10 to 30% of the copy
 * speed. */
constexpr int staged_depth = 4;
constexpr int64_t staged_bytes = 18432;
/* Dynamic shared memory of a block: available on every device from sm_90 on beside the 12 KB that the kernel
 * declares. */
constexpr size_t staged_memory_most = 84 * 1024;
constexpr int staged_segments_most = 256; /* of a stage. By hand */
/* A segment may hold the gaps between its rows if they at most double it, or if it has at most this many bytes.
 * By hand. */
constexpr int64_t staged_gaps = 1024;
/* Smaller jobs are left to the general kernel. Least tiles per multiprocessor, and entries of a tile. By hand; commit
 * af2e9eb added the second, so that small jobs are refused before any tile is cut. */
constexpr int staged_tiles_least = 4;
constexpr int staged_entries_least = 1024;
/* Limits of the kernel's parameters and registers: operands; operands that depend on the row; digits of the rows; rows
 * of a tile, at the start of the search; rows of a thread; teams of threads. */
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
/* Tables with scopes that no other scope contains: all ways to divide them into two groups are tried, at most 2^7. */
constexpr int product_heads = 8;

/* Jobs with fewer joined rows, fewer values or fewer rows or columns are not tried. By hand: 2^22 joined rows at first,
 * 2^20 since commit 954b332. */
constexpr double product_from = 1048576;
constexpr int product_values_least = 8;
constexpr int product_side_least = 16;

/* Words of a thread that there are kernels for. Packed words have twice as many columns, so that 8 words have none. */
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

/* Warps that fit a multiprocessor. Tiles with little computation for their loads need more warps. */
constexpr int product_resident(int words) { return product_warps * (words <= 2 ? 3 : 2); }

/* Shared memory of a block; every supported device has it. */
constexpr size_t product_most_bytes = 60 * 1024;

/* The model of time for the choice of a tile's shape and of the product kernel. The unit is one add-min pair of the
 * whole device: 1/16.0e12 s on the H200 (tests/bench/add_min_rate.cu). Fitted to the first run of the table Large
 * domains (commit ba47b4e), except for the two floors, which were added in 954b332. */
constexpr double product_pair_words = 3.1;   /* a pair takes 1 + this / words of a thread: shared memory is read */
constexpr double product_load_near = 3;      /* an element of a table, loaded with its neighbours */
constexpr double product_load_far = 83;      /* an element alone in a sector of the L2 cache */
constexpr double product_store_apart = 400;  /* an entry of the message, stored without its neighbours */
constexpr double product_busy_warps = 8;     /* keep a multiprocessor busy */
constexpr double product_value_least = 8000; /* per value and multiprocessor, for any number of tiles: 66 ns a value */
/* A wider tile that reaches over no edge is tried only if it gains at least this factor. By hand. */
constexpr double product_tried_from = 1.02;
/* The product kernel is taken if it needs at most this share of the general kernel's time. By hand. */
constexpr double product_gain = 0.9;
/* No kernel stores the message faster than memory takes it: 4 pairs for a byte are 4.0 TB/s, where a copy reaches
 * 4.28 TB/s. */
constexpr double product_store_byte = 4;

/* An operand may be copied first if its neighbours along a side are not neighbours in memory. An entry of the copy: 64
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

/* The number of chunks of a job if its tables allow it, and the least bytes of a chunk. The link takes 80 us to move
 * these: 20 launches. The link has 55 GB/s one way (that page, STREAM). */
constexpr int64_t stream_chunks = 16, stream_least = 4194304;
/* Pages that hold tables hold no other data, so that no other data are pinned with them. */
constexpr uint64_t stream_page = 65536;
/* Two-dimensional copies have a smaller pitch than this (a limit of CUDA). */
constexpr int64_t stream_pitch = int64_t{1} << 31;

/* ---- The value phase ---- */

constexpr int decide_threads = 128; /* threads of a block, each with a word of decisions: whole warps of neighbouring
                                     * words. Not measured */
/* Threads of a block that looks up bounds. Partial assignments in host memory go through a buffer of the store's size
 * divided by bound_piece_part. It holds at most bound_piece_bytes (thousands with some hundred variables), but at least
 * bound_piece_rows assignments. Not measured. */
constexpr int bound_threads = 256;
constexpr int64_t bound_piece_part = 16, bound_piece_rows = 64, bound_piece_bytes = 4 << 20;
constexpr int value_threads = 1024; /* one block does all the work: a warp for each variable of a depth. By hand */

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_TUNING_CUH */
