/* SPDX-License-Identifier: MIT
 *
 * The simplex method on the GPU: the data of its kernels. simplex.cu has an overview.
 *
 * Iterations run inside one cooperative launch. Each block owns a range of positions of the basis, of slots of the
 * nonbasic variables, and of columns of the matrix, and keeps their state in shared memory.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_ENGINE_DEVICE_CUH
#define GPUOPT_CUDA_SIMPLEX_ENGINE_DEVICE_CUH

#include <cstdint>

#include "../../../gpuopt_impl/simplex/ranks/column_split.h"
#include "../../common/context.cuh"
#include "../../common/peers.cuh"
#include "../../common/ptx.cuh"
#include "../../common/warp.cuh"

namespace {

enum {
    SIMPLEX_THREADS = 512,
    SIMPLEX_WARPS = SIMPLEX_THREADS / 32,
    SIMPLEX_GROUPS = 8,        /* partial sums per element */
    SIMPLEX_CHUNK = 256,       /* elements summed at once */
    SIMPLEX_BLOCKS = 256,      /* most blocks */
    SIMPLEX_OWN = 64,          /* least positions or slots per block: fewer blocks synchronise faster */
    SIMPLEX_PIECE = 512,       /* entries of a column per piece */
    SIMPLEX_MOST_GROUPS = 128, /* see gpuopt__simplex_ratio_group */
    SIMPLEX_LISTED = 512,      /* most changes of feasibility in shared memory */
    SIMPLEX_MOST = 256,        /* largest K: one thread for each */
    DUAL_BUCKETS = 256,        /* buckets of break points, see iterations/dual_ratio.cuh */
    DUAL_BUCKET_SETS = 3
};

/* A block's contribution to an exchange: a candidate, a limit or counts. */
struct alignas(16) Cell {
    double key;
    int index;
    unsigned number; /* number of the exchange */
};

/* The data of a candidate, published by its owner. */
enum { RECORD_WORDS = 8 };
struct alignas(64) Record {
    double word[RECORD_WORDS];
};

/* A position with changed infeasibility. */
struct Changed {
    double alpha;
    int position;
    int change; /* twice the change, plus 1 if the position's row of the matrix is dead */

    __device__ int by() const { return change >> 1; }
    __device__ bool dead() const { return change & 1; }
};

struct SimplexView {
    int rows, cols;
    int lines;                                  /* columns of the matrix: cols with TABLEAU, rows with REVISED ... */
    int first;                                  /* ... a rank of a group: columns of its slots, from this slot on */
    int most;                                   /* K */
    int blocks, own_rows, own_slots, own_lines; /* number of blocks of a cooperative launch; own_*: per block */
    int group, groups;                          /* positions per group of the ratio test, number of groups */
    bool whole;    /* immediate pivots: the whole pivot column fits into a block's shared memory */
    bool resident; /* also keep a block's own parts of U and V in its shared memory */
    int64_t pitch; /* distance between columns of the matrix, or of U */
    int64_t wide;  /* distance between rows of V */
    double *matrix, *u, *v;
    const int64_t *col_start, *row_start;
    const int *col_row, *row_col;
    const double *col_val, *row_val;
    gpuopt__simplex_vectors vec;
    double *alpha;                              /* [rows] the pivot column, if whole columns are updated at once */
    double *rho, *rho_sum;                      /* [rows] REVISED: the pivot row of the inverse, and a sum of rows */
    double *tau;                                /* [rows] REVISED: alpha' B^-1, for exact norms */
    Changed *changed;                           /* [blocks][own_rows] */
    int *listed;                                /* [2][blocks] entries in changed */
    int64_t *drifted;                           /* last launch with pivot elements that differed by row and column */
    int *faults;                                /* of the caller's matrix, see model.cuh */
    Cell *cells;                                /* [2][blocks] */
    Cell *winners;                              /* [2][SIMPLEX_MOST_GROUPS][2] for the ratio test */
    Record *records;                            /* [2][blocks] */
    Record *winner_records;                     /* [2][SIMPLEX_MOST_GROUPS] */
    unsigned *number;                           /* number of the last exchange */
    int *column, *wanted, *position;            /* [cols] for refactoring */
    uint8_t *open;                              /* [rows] */
    double *in, *in_low, *out, *error_sum;      /* [rows + cols] each: products for the CPU */
    double *partial;                            /* [SIMPLEX_PARTS][pitch] */
    double *dual_weight;                        /* [rows] for the dual method, like the next three members */
    uint8_t *refused;                           /* [rows] rows refused for a small pivot */
    double *dual_factor;                        /* [2][most] products of rows of V with vectors */
    unsigned long long *bucket;                 /* see iterations/dual_ratio.cuh */
    gpuopt__simplex_run_report *report;         /* pinned host memory, at the same address on the device */
    gpuopt__simplex_pivot_candidate *candidate; /* the same, if there are several ranks */
    PeerCell *candidates, *columns; /* [2][ranks][CANDIDATE_WORDS]; [pitch]: a mailbox, see split/peer.cuh */
    PeerCell *agreed;               /* [CANDIDATE_WORDS + 1] */
    unsigned long long *lost;       /* 1: a rank is lost */
};

enum { CANDIDATE_WORDS = 8 };
static_assert(sizeof(gpuopt__simplex_pivot_candidate) == CANDIDATE_WORDS * sizeof(double), "a candidate is 8 words");

/* The mailboxes of all ranks, and this rank's part. */
struct PeerMap {
    int rank, ranks;
    unsigned long long number, nanoseconds; /* number of the last message; the group's time limit */
    PeerStatus *status;
    PeerCell *candidates[PEER_MOST], *columns[PEER_MOST];
    unsigned long long *lost[PEER_MOST];
};

__device__ int simplex_lane() { return static_cast<int>(threadIdx.x) % 32; }
__device__ int simplex_warp() { return static_cast<int>(threadIdx.x) / 32; }

/* Reads data that other blocks may have written in this launch. Bypasses the L1 cache. */
template <class T>
__device__ T fresh(const T *p) {
    return __ldcg(p);
}

/* A line of the matrix that other blocks may have written in this launch. */
struct FreshLine {
    const double *at;
    __device__ double operator[](int i) const { return fresh(at + i); }
};

/* to[x] += sum over k < count of factor[k] * line(k)[x], for x < width. Sums SIMPLEX_GROUPS parts, and adds them in the
 * same order for any number of blocks. to, factor and partial are in shared memory. Ends with a barrier. */
template <class Line>
__device__ void add_lines(double *to, int width, const double *factor, int count, double *partial, Line line) {
    for (int begin = 0; begin < width; begin += SIMPLEX_CHUNK) {
        int chunk = min(width - begin, static_cast<int>(SIMPLEX_CHUNK)), pieces = (chunk + 31) / 32;
        for (int item = simplex_warp(); item < pieces * SIMPLEX_GROUPS; item += SIMPLEX_WARPS) {
            int group = item % SIMPLEX_GROUPS, x = item / SIMPLEX_GROUPS * 32 + simplex_lane();
            double sum = 0;
            if (x < chunk) {
#pragma unroll 8
                for (int k = group; k < count; k += SIMPLEX_GROUPS) sum += factor[k] * line(k)[begin + x];
                partial[group * SIMPLEX_CHUNK + x] = sum;
            }
        }
        __syncthreads();
        for (int x = static_cast<int>(threadIdx.x); x < chunk; x += SIMPLEX_THREADS) {
            double sum = to[begin + x];
#pragma unroll
            for (int group = 0; group < SIMPLEX_GROUPS; group++) sum += partial[group * SIMPLEX_CHUNK + x];
            to[begin + x] = sum;
        }
        __syncthreads();
    }
}

/* Cuts arrays out of a block's dynamic shared memory; with base null it only measures. */
struct SharedArena {
    unsigned char *base;
    size_t used;

    template <class T>
    __host__ __device__ void cut(T **array, int count) {
        *array = reinterpret_cast<T *>(base + used);
        used += (sizeof(T) * static_cast<size_t>(count) + 15) / 16 * 16;
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_ENGINE_DEVICE_CUH */
