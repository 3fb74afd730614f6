/* SPDX-License-Identifier: MIT
 *
 * C += U V, where C is a matrix of any size and U V has rank K. For small K the time is the time of reading and writing
 * C.
 *
 * C is divided into panels of 128 rows, and each panel into tiles of 32 columns. A block keeps its panel's part of U in
 * shared memory. If n blocks share a panel, each works on every n-th tile of it, so that tiles in work at the same time
 * are neighbours in memory. Slices of V (16 rows) are fetched into a ring buffer three slices ahead, and the next tile
 * of C is loaded into registers while tensor cores compute this one. Two blocks share a multiprocessor, so that one
 * computes while the other waits. One thread sums each element over ascending k, so devices of the same kind give the
 * same bits.
 *
 * The tensor cores compute C' += V' U'. Two neighbours in a row of an accumulator are then neighbours in a column of C:
 * 16 bytes that are loaded and stored at once.
 */
#ifndef GPUOPT_CUDA_RANK_UPDATE_CUH
#define GPUOPT_CUDA_RANK_UPDATE_CUH

#include "ptx.cuh"
#include "queue.cuh"

namespace {

/* The properties of the device that rank_update() needs. */
struct RankUpdate {
    int most = 0;                 /* largest rank of one launch, limited by shared memory */
    int blocks = 0;               /* blocks that run on the device at the same time */
    const Cublas *blas = nullptr; /* null: this kernel does all the work */
    void *workspace = nullptr;    /* of cuBLAS: RANK_WORKSPACE bytes of device memory */
    /* Whether the next launch begins at the end of C, which the previous one may have left in the cache. */
    mutable bool backwards = false;
};

enum {
    RANK_ROWS = 128,             /* of a tile of C */
    RANK_COLS = 32,              /* of a tile of C */
    RANK_SLICE = 16,             /* rows of V fetched at a time */
    RANK_SLOTS = 4,              /* of the ring buffer, a slice each */
    RANK_AHEAD = RANK_SLOTS - 1, /* slices fetched ahead */
    RANK_THREADS = 256,          /* 4 x 2 warps, each with 32 x 16 elements of the tile */
    RANK_BLOCKS = 2,             /* per multiprocessor, if their shared memory holds a rank of RANK_ENOUGH */
    RANK_ENOUGH = 64,
    RANK_TILES = 6, /* least tiles of a block, if there are enough: fewer do not pay for loading U */
    RANK_WAVES = 6, /* most waves of blocks */
    /* Distance in shared memory from one k to the next, in doubles: 4 more than a multiple of 16. The 4 x 4 elements
     * that half a warp reads are then in different banks. */
    RANK_U = RANK_ROWS + 4,
    RANK_V = RANK_COLS + 4,
    RANK_ROUND = 8, /* values of k in one step of the tensor cores */
    RANK_WORKSPACE = 4 << 20
};

/* Shared memory of a block for rank k. */
constexpr size_t rank_bytes(int k) {
    return sizeof(double) * (static_cast<size_t>(RANK_U) * static_cast<size_t>(k) +
                             static_cast<size_t>(RANK_SLOTS * RANK_SLICE * RANK_V));
}

/* ---- Memory ---- */

/* Starts copying COUNT neighbouring doubles to shared memory. Only the first `valid` exist; the others are not read and
 * become 0. */
template <int COUNT>
__device__ void rank_copy(double *shared, const double *global, int valid) {
    if (valid < COUNT) { /* an edge */
        for (int i = 0; i < COUNT; i++) shared[i] = i < valid ? global[i] : 0;
        return;
    }
    ptx_copy_async<COUNT>(shared, global, valid * static_cast<int>(sizeof(double)));
}

/* Loads two neighbours of a column of C; the first `valid` exist. Volatile, so that the load is issued here, long
 * before its result is used. */
template <bool ALIGNED>
__device__ double2 rank_load(const double *c, int valid) {
    double2 pair = make_double2(0, 0);
    if (ALIGNED && valid > 1) return ptx_load_once(reinterpret_cast<const double2 *>(c));
    if (valid > 0) pair.x = ptx_load_once(c);
    if (valid > 1) pair.y = ptx_load_once(c + 1);
    return pair;
}

/* Stores them. */
template <bool ALIGNED>
__device__ void rank_store(double *c, double2 pair, int valid) {
    if (ALIGNED && valid > 1) {
        *reinterpret_cast<double2 *>(c) = pair;
    } else {
        if (valid > 0) c[0] = pair.x;
        if (valid > 1) c[1] = pair.y;
    }
}

/* ---- Arithmetic ---- */

/* A warp's part of a tile of C: 4 pieces of 16 columns and 8 rows, distributed over the warp as the sum of
 * ptx_multiply(). */
struct RankTile {
    double piece[4][4];

    /* Calls f(address in C, pair, how many of its two rows exist) for each pair of the thread. Counted from c on,
     * `rows` rows and `cols` columns exist. WHOLE: the whole tile does. */
    template <bool WHOLE, class F>
    __device__ void for_pairs(double *c, long long ldc, int rows, int cols, F f) {
        int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
        int row = warp % 4 * 32 + lane % 4 * 2, col = warp / 4 * 16 + lane / 4;
        c += col * ldc + row;
#pragma unroll
        for (int half = 0; half < 2; half++)
#pragma unroll
            for (int n = 0; n < 4; n++)
                f(c + half * 8 * ldc + n * 8, piece[n] + 2 * half,
                  WHOLE                   ? 2
                  : col + half * 8 < cols ? min(rows - row - n * 8, 2)
                                          : 0);
    }
};

/* A warp's part of the product with a slice of V. u: the panel's part of U, from the slice's first k on. */
__device__ void rank_slice(RankTile &tile, const double *u, const double *v) {
    int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    u += lane % 4 * RANK_U + warp % 4 * 32 + lane / 4;
    v += lane % 4 * RANK_V + warp / 4 * 16 + lane / 4;
#pragma unroll
    for (int k = 0; k < RANK_SLICE; k += RANK_ROUND) {
        double a[4], b[4][2];
#pragma unroll
        for (int e = 0; e < 4; e++) a[e] = v[(k + e / 2 * 4) * RANK_V + e % 2 * 8];
#pragma unroll
        for (int n = 0; n < 4; n++)
#pragma unroll
            for (int e = 0; e < 2; e++) b[n][e] = u[(k + e * 4) * RANK_U + n * 8];
#pragma unroll
        for (int n = 0; n < 4; n++) ptx_multiply(tile.piece[n], a, b[n]);
    }
}

/* See rank_update(). first: the k that this launch begins with; rank: how many it handles. The number of blocks is a
 * multiple of the number of panels. */
template <bool ALIGNED>
__global__ void __launch_bounds__(RANK_THREADS, RANK_BLOCKS)
    rank_update_tiles(int rows, int cols, int first, int rank, const int *most, const double *__restrict__ u,
                      long long ldu, const double *__restrict__ v, long long ldv, double *__restrict__ c, long long ldc,
                      bool backwards) {
    GPUOPT_DYNAMIC_SHARED(double, rank_shared);
    constexpr int VECTOR = ALIGNED ? 2 : 1;
    if (most) rank = min(rank, *most - first);
    if (rank <= 0) return;
    int thread = static_cast<int>(threadIdx.x);
    int slices = (rank + RANK_SLICE - 1) / RANK_SLICE;
    double *shared_v = rank_shared, *shared_u = rank_shared + RANK_SLOTS * RANK_SLICE * RANK_V;
    int strips = (cols + RANK_COLS - 1) / RANK_COLS, panels = (rows + RANK_ROWS - 1) / RANK_ROWS;
    int block = static_cast<int>(backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
    int row = block % panels * RANK_ROWS, part = block / panels, parts = static_cast<int>(gridDim.x) / panels;
    /* The block's tiles are part, part + parts, .. of the panel. */
    int left = (strips - part + parts - 1) / parts, step = backwards ? -parts : parts;
    int strip = backwards ? part + (left - 1) * parts : part;
    u += first * ldu + row;
    v += first * ldv;
    c += row;
    rows -= row;

    /* Fetches the next slice of V, if there is one. */
    int coming = strip, coming_slice = 0, coming_slot = 0, coming_left = left;
    auto fetch = [&] {
        if (coming_left) {
            int col = coming * RANK_COLS;
            double *to = shared_v + coming_slot * RANK_SLICE * RANK_V;
#pragma unroll
            for (int n = 0; n < RANK_SLICE * RANK_COLS / VECTOR / RANK_THREADS; n++) {
                int i = n * RANK_THREADS + thread, k = i / (RANK_COLS / VECTOR), j = i % (RANK_COLS / VECTOR) * VECTOR;
                int valid = coming_slice * RANK_SLICE + k < rank ? max(min(cols - col - j, +VECTOR), 0) : 0;
                rank_copy<VECTOR>(to + k * RANK_V + j, valid ? v + (coming_slice * RANK_SLICE + k) * ldv + col + j : v,
                                  valid);
            }
            if (++coming_slice == slices) coming_slice = 0, coming += step, coming_left--;
            coming_slot = (coming_slot + 1) % RANK_SLOTS;
        }
        ptx_copy_commit();
    };

    RankTile now, next;
    auto is_whole = [&](int at) { return ALIGNED && rows >= RANK_ROWS && cols - at * RANK_COLS >= RANK_COLS; };
    auto load = [&](int at) {
        auto take = [](const double *from, double *pair, int valid) {
            double2 loaded = rank_load<ALIGNED>(from, valid);
            pair[0] = loaded.x;
            pair[1] = loaded.y;
        };
        double *from = c + at * RANK_COLS * ldc;
        if (is_whole(at)) next.for_pairs<true>(from, ldc, rows, cols, take);
        else next.for_pairs<false>(from, ldc, rows, cols - at * RANK_COLS, take);
    };
    auto store = [&](int at) {
        auto put = [](double *to, const double *pair, int valid) {
            rank_store<ALIGNED>(to, make_double2(pair[0], pair[1]), valid);
        };
        double *to = c + at * RANK_COLS * ldc;
        if (is_whole(at)) now.for_pairs<true>(to, ldc, rows, cols, put);
        else now.for_pairs<false>(to, ldc, rows, cols - at * RANK_COLS, put);
    };
    load(strip);
    for (int i = thread; i < slices * RANK_SLICE * (RANK_ROWS / VECTOR); i += RANK_THREADS) {
        int k = i / (RANK_ROWS / VECTOR), r = i % (RANK_ROWS / VECTOR) * VECTOR;
        int valid = k < rank ? max(min(rows - r, +VECTOR), 0) : 0;
        rank_copy<VECTOR>(shared_u + k * RANK_U + r, valid ? u + k * ldu + r : u, valid);
    }
    for (int ahead = 0; ahead < RANK_AHEAD; ahead++) fetch();
    for (int slot = 0; left; left--, strip += step) {
        now = next;
        if (left > 1) load(strip + step);
        for (int slice = 0; slice < slices; slice++) {
            ptx_copy_wait<RANK_AHEAD - 1>();
            __syncthreads(); /* the slice is complete, and no thread reads the previous one any longer */
            fetch();
            rank_slice(now, shared_u + slice * RANK_SLICE * RANK_U, shared_v + slot * RANK_SLICE * RANK_V);
            slot = (slot + 1) % RANK_SLOTS;
        }
        store(strip);
    }
}

/* ---- On the CPU ---- */

/* Called once per handle, in _create: reads the device's properties and loads the kernels. */
gpuopt_status rank_update_open(const gpuopt_context *context, RankUpdate *device) {
    enum { RESERVED = 1024 }; /* bytes of each block's shared memory that the driver uses */
    int of_all = 0, together = RANK_BLOCKS;
    auto fits = [](int bytes) {
        auto left = static_cast<int64_t>(bytes) - static_cast<int64_t>(rank_bytes(0));
        return static_cast<int>(left / static_cast<int64_t>(sizeof(double) * RANK_U)) / RANK_SLICE * RANK_SLICE;
    };
    GPUOPT_CUDA(context,
                cudaDeviceGetAttribute(&of_all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, context->desc.device));
    device->most = fits(of_all / together - RESERVED);
    if (device->most < RANK_ENOUGH) {
        together = 1;
        device->most = fits(cuda_of(context)->block_memory);
    }
    device->blocks = cuda_of(context)->multiprocessors * together;
    return load_kernels(context, rank_update_tiles<true>, rank_update_tiles<false>);
}

/* Whether cuBLAS is faster, by the measurements on an H200 in tests/bench/results/basis.md. Its products use more of
 * the tensor cores' speed; this kernel reads and writes less. */
inline bool blas_is_faster(int rows, int cols, int rank) {
    const double entries = static_cast<double>(rows) * cols;
    if (rank > 144) return true;
    if (rank > 80) return entries > 700. * 700.;
    if (rank > 64) return entries > 1500. * 1500.;
    return rank > 48 && entries > 1500. * 1500. && entries < 2500. * 2500.;
}

/* Enqueues C += U V. C: rows x cols, column after column, ldc apart; U: rows x rank, column after column, ldu apart; V:
 * rank x cols, row after row, ldv apart; all in device memory, C not overlapping the others. Pairs of doubles are moved
 * at once, which is faster, if all three are aligned to 16 bytes and their distances are even. most: null, or in device
 * memory an upper limit of the rank if only the device has it; cuBLAS does not accept it. A rank too large for shared
 * memory (on an H200 above 80, with two blocks per multiprocessor) takes several passes over C. */
void rank_update(const RankUpdate &device, const Queue &queue, int rows, int cols, int rank, const double *u,
                 int64_t ldu, const double *v, int64_t ldv, double *c, int64_t ldc, const int *most = nullptr) {
    if (rows <= 0 || cols <= 0 || rank <= 0) return;
    if (device.blas && !most && blas_is_faster(rows, cols, rank)) {
        const double one = 1;
        const Cublas &blas = *device.blas;
        if (!blas.set_workspace(blas.handle, device.workspace, RANK_WORKSPACE) &&
            !blas.gemm(blas.handle, BLAS_PLAIN, BLAS_TRANSPOSED, rows, cols, rank, &one, u, static_cast<int>(ldu), v,
                       static_cast<int>(ldv), &one, c, static_cast<int>(ldc)))
            return;
    }
    int passes = (rank + device.most - 1) / device.most;
    int share = ((rank + passes - 1) / passes + RANK_SLICE - 1) / RANK_SLICE * RANK_SLICE;
    auto bits = reinterpret_cast<uintptr_t>(u) | reinterpret_cast<uintptr_t>(v) | reinterpret_cast<uintptr_t>(c);
    bool aligned = bits % 16 == 0 && (ldu | ldv | ldc) % 2 == 0;
    int64_t panels = (rows + RANK_ROWS - 1) / RANK_ROWS, strips = (cols + RANK_COLS - 1) / RANK_COLS;
    int64_t waves = panels * strips / (RANK_TILES * device.blocks);
    waves = waves < 1 ? 1 : waves < RANK_WAVES ? waves : +RANK_WAVES;
    int64_t parts = waves * device.blocks / panels; /* blocks that share a panel */
    parts = parts < 1 ? 1 : parts < strips ? parts : strips;
    auto blocks = static_cast<unsigned>(panels * parts);
    for (int first = 0; first < rank; first += share) {
        device.backwards = !device.backwards;
        int now = rank - first < share ? rank - first : share;
        size_t bytes = rank_bytes((now + RANK_SLICE - 1) / RANK_SLICE * RANK_SLICE);
        if (aligned)
            queue.launch({blocks, RANK_THREADS, bytes}, rank_update_tiles<true>, rows, cols, first, now, most, u, ldu,
                         v, ldv, c, ldc, device.backwards);
        else
            queue.launch({blocks, RANK_THREADS, bytes}, rank_update_tiles<false>, rows, cols, first, now, most, u, ldu,
                         v, ldv, c, ldc, device.backwards);
    }
}

} // namespace

#endif /* GPUOPT_CUDA_RANK_UPDATE_CUH */
