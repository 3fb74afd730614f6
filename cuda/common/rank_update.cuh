/* SPDX-License-Identifier: MIT
 *
 * C += U V: a matrix of any size and a product of rank K, as fast as C can be read and written while K is small.
 *
 * C is cut into panels of 128 rows and these into tiles of 32 columns. A block keeps its panel's part of U in shared
 * memory and takes every so-many-th tile of it, so that what all blocks have at a time lies together in memory. Slices
 * of V (16 rows of it) go round a ring that is filled three slices ahead; the next tile of C is on its way into
 * registers while tensor cores work on this one; and another block on the multiprocessor works while this one waits.
 * Every element is summed over ascending k by one thread: the same bits on every device of a kind.
 *
 * The tensor cores' operands are taken the other way round, C' += V' U', so that the two neighbours in a row of an
 * accumulator are neighbours in a column of C: 16 bytes, loaded and stored at once.
 */
#ifndef GPUOPT_CUDA_RANK_UPDATE_CUH
#define GPUOPT_CUDA_RANK_UPDATE_CUH

#include "context.cuh"

namespace {

/* What rank_update() needs to know of the device. */
struct RankUpdate {
    int most = 0;   /* rank of one launch: what fits into shared memory */
    int blocks = 0; /* on the device at once */
    /* Whether the next launch begins at the end of C, which the one before may have left in the cache. */
    mutable bool backwards = false;
};

enum {
    RANK_ROWS = 128, /* of a tile of C */
    RANK_COLS = 32,
    RANK_SLICE = 16, /* rows of V that come at a time */
    RANK_SLOTS = 4,  /* of the ring */
    RANK_AHEAD = RANK_SLOTS - 1,
    RANK_THREADS = 256, /* 4 x 2 warps, each with 32 x 16 of the tile */
    RANK_BLOCKS = 2,    /* of a multiprocessor, if they have room for a rank of RANK_ENOUGH */
    RANK_ENOUGH = 64,
    RANK_TILES = 6, /* of a block at least, while there are enough: U is worth its loading */
    RANK_WAVES = 6, /* of blocks at most */
    /* Doubles from one k to the next in shared memory: 4 more than a multiple of 16, so that the 4 x 4 elements that
     * half a warp reads are in different banks. */
    RANK_U = RANK_ROWS + 4,
    RANK_V = RANK_COLS + 4,
    RANK_ROUND = 8 /* k's of one step of the tensor cores */
};

constexpr size_t rank_bytes(int k) {
    return sizeof(double) * (static_cast<size_t>(RANK_U) * static_cast<size_t>(k) +
                             static_cast<size_t>(RANK_SLOTS * RANK_SLICE * RANK_V));
}

/* ---- Memory ---- */

/* COUNT neighbouring doubles on their way to shared memory, of which the first `valid` exist and the others are 0. */
template <int COUNT>
__device__ void rank_copy(double *shared, const double *global, int valid) {
#if __CUDA_ARCH__ >= 800
    auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    int bytes = valid * static_cast<int>(sizeof(double));
    if constexpr (COUNT == 2)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(bytes) : "memory");
    else asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(global), "r"(bytes) : "memory");
#else
    for (int i = 0; i < COUNT; i++) shared[i] = i < valid ? global[i] : 0;
#endif
}

__device__ void rank_commit() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Until no more than PENDING of the groups that were committed are under way. */
template <int PENDING>
__device__ void rank_wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#endif
}

/* Two neighbours of a column of C, of which the first `valid` exist. Volatile: issued here, long before it is used. */
template <bool ALIGNED>
__device__ double2 rank_load(const double *c, int valid) {
    double2 pair = make_double2(0, 0);
    if (ALIGNED && valid > 1) {
        asm volatile("ld.global.L1::no_allocate.v2.f64 {%0, %1}, [%2];" : "=d"(pair.x), "=d"(pair.y) : "l"(c));
    } else {
        if (valid > 0) asm volatile("ld.global.L1::no_allocate.f64 %0, [%1];" : "=d"(pair.x) : "l"(c));
        if (valid > 1) asm volatile("ld.global.L1::no_allocate.f64 %0, [%1];" : "=d"(pair.y) : "l"(c + 1));
    }
    return pair;
}

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

/* sum [16 x 8] += a [16 x 8] b [8 x 8], spread over a warp as mma.m16n8k8 has it: with g = lane / 4 and t = lane % 4,
 * a: (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4); b: (t, g), (t + 4, g); sum: (g, 2t), (g, 2t + 1) and the same of
 * row g + 8. */
__device__ void rank_multiply(double (&sum)[4], const double (&a)[4], const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#elif __CUDA_ARCH__ >= 800
    for (int k = 0; k < 2; k++)
        for (int half = 0; half < 2; half++)
            asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                         : "+d"(sum[2 * half]), "+d"(sum[2 * half + 1])
                         : "d"(a[2 * k + half]), "d"(b[k]));
#else
    int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
    for (int k = 0; k < RANK_ROUND; k++) {
        double first = __shfl_sync(~0u, b[k / 4], 8 * t + k % 4),
               second = __shfl_sync(~0u, b[k / 4], 8 * t + 4 + k % 4);
        for (int half = 0; half < 2; half++) {
            double factor = __shfl_sync(~0u, a[k / 4 * 2 + half], 4 * g + k % 4);
            sum[2 * half] = fma(factor, first, sum[2 * half]);
            sum[2 * half + 1] = fma(factor, second, sum[2 * half + 1]);
        }
    }
#endif
}

/* A warp's part of a tile of C: 4 pieces of 16 columns and 8 rows. */
struct RankTile {
    double piece[4][4];

    /* Calls f(pair's address, pair, rows of it that exist) for each pair of the thread's; `rows` and `cols` exist from
     * c on. WHOLE: they all do. */
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

/* What a warp does with a slice of V; u: the panel's part of U from the slice's first k on. */
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
        for (int n = 0; n < 4; n++) rank_multiply(tile.piece[n], a, b[n]);
    }
}

/* See rank_update(). `first`: of the k's, what was done in launches before; `rank`: of this one. The blocks: a whole
 * number for each panel. */
template <bool ALIGNED>
__global__ void __launch_bounds__(RANK_THREADS, RANK_BLOCKS)
    rank_update_tiles(int rows, int cols, int first, int rank, const int *most, const double *__restrict__ u,
                      long long ldu, const double *__restrict__ v, long long ldv, double *__restrict__ c, long long ldc,
                      bool backwards) {
    extern __shared__ __align__(16) double rank_shared[];
    enum { VECTOR = ALIGNED ? 2 : 1 };
    if (most) rank = min(rank, *most - first);
    if (rank <= 0) return;
    int thread = static_cast<int>(threadIdx.x);
    int slices = (rank + RANK_SLICE - 1) / RANK_SLICE;
    double *shared_v = rank_shared, *shared_u = rank_shared + RANK_SLOTS * RANK_SLICE * RANK_V;
    int strips = (cols + RANK_COLS - 1) / RANK_COLS, panels = (rows + RANK_ROWS - 1) / RANK_ROWS;
    int block = static_cast<int>(backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
    int row = block % panels * RANK_ROWS, part = block / panels, parts = static_cast<int>(gridDim.x) / panels;
    /* Of the block's tiles: part, part + parts, .. */
    int left = (strips - part + parts - 1) / parts, step = backwards ? -parts : parts;
    int strip = backwards ? part + (left - 1) * parts : part;
    u += first * ldu + row;
    v += first * ldv;
    c += row;
    rows -= row;

    /* The slice that is fetched next. */
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
        rank_commit();
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
            rank_wait<RANK_AHEAD - 1>();
            __syncthreads(); /* the slice is there for all, and the one before it is no longer read */
            fetch();
            rank_slice(now, shared_u + slice * RANK_SLICE * RANK_U, shared_v + slot * RANK_SLICE * RANK_V);
            slot = (slot + 1) % RANK_SLOTS;
        }
        store(strip);
    }
}

/* ---- The host's side ---- */

/* To be called in _create, once per handle: finds out about the device and loads the kernels. */
gpuopt_status rank_update_open(const gpuopt_context *context, RankUpdate *device) {
    enum { RESERVED = 1024 }; /* bytes of a block's shared memory, the driver's */
    int of_block = 0, of_all = 0, together = RANK_BLOCKS;
    auto fits = [](int bytes) {
        auto left = static_cast<int64_t>(bytes) - static_cast<int64_t>(rank_bytes(0));
        return static_cast<int>(left / static_cast<int64_t>(sizeof(double) * RANK_U)) / RANK_SLICE * RANK_SLICE;
    };
    GPUOPT_CUDA(context,
                cudaDeviceGetAttribute(&of_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, context->desc.device));
    GPUOPT_CUDA(context,
                cudaDeviceGetAttribute(&of_all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, context->desc.device));
    device->most = fits(of_all / together - RESERVED);
    if (device->most < RANK_ENOUGH) {
        together = 1;
        device->most = fits(of_block);
    }
    device->blocks = cuda_of(context)->multiprocessors * together;
    decltype(&rank_update_tiles<true>) kernels[] = {rank_update_tiles<true>, rank_update_tiles<false>};
    for (auto *kernel : kernels) {
        cudaFuncAttributes attributes;
        GPUOPT_CUDA(context, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                  static_cast<int>(rank_bytes(device->most))));
        GPUOPT_CUDA(context, cudaFuncGetAttributes(&attributes, kernel));
    }
    return GPUOPT_OK;
}

/* Enqueues C += U V. C: rows x cols, column after column, ldc apart; U: rows x rank, column after column, ldu apart;
 * V: rank x cols, row after row, ldv apart; all in device memory, C apart from the others. Pairs are moved at once
 * where all three are 16-byte aligned and their distances even: what a host of this wants to see to. `most`, in device
 * memory, or null: the rank is no more than this. A rank beyond what shared memory holds for two blocks (80 on an H200)
 * takes several passes. */
void rank_update(const RankUpdate &device, cudaStream_t stream, int rows, int cols, int rank, const double *u,
                 int64_t ldu, const double *v, int64_t ldv, double *c, int64_t ldc, const int *most = nullptr) {
    if (rows <= 0 || cols <= 0 || rank <= 0) return;
    int passes = (rank + device.most - 1) / device.most;
    int share = ((rank + passes - 1) / passes + RANK_SLICE - 1) / RANK_SLICE * RANK_SLICE;
    auto bits = reinterpret_cast<uintptr_t>(u) | reinterpret_cast<uintptr_t>(v) | reinterpret_cast<uintptr_t>(c);
    bool aligned = bits % 16 == 0 && (ldu | ldv | ldc) % 2 == 0;
    int64_t panels = (rows + RANK_ROWS - 1) / RANK_ROWS, strips = (cols + RANK_COLS - 1) / RANK_COLS;
    int64_t waves = panels * strips / (RANK_TILES * device.blocks);
    waves = waves < 1 ? 1 : waves < RANK_WAVES ? waves : +RANK_WAVES;
    int64_t parts = waves * device.blocks / panels; /* that the tiles of a panel are shared out to */
    parts = parts < 1 ? 1 : parts < strips ? parts : strips;
    auto blocks = static_cast<unsigned>(panels * parts);
    for (int first = 0; first < rank; first += share) {
        device.backwards = !device.backwards;
        int now = rank - first < share ? rank - first : share;
        size_t bytes = rank_bytes((now + RANK_SLICE - 1) / RANK_SLICE * RANK_SLICE);
        if (aligned)
            rank_update_tiles<true><<<blocks, RANK_THREADS, bytes, stream>>>(rows, cols, first, now, most, u, ldu, v,
                                                                             ldv, c, ldc, device.backwards);
        else
            rank_update_tiles<false><<<blocks, RANK_THREADS, bytes, stream>>>(rows, cols, first, now, most, u, ldu, v,
                                                                              ldv, c, ldc, device.backwards);
    }
}

} // namespace

#endif /* GPUOPT_CUDA_RANK_UPDATE_CUH */
