/* SPDX-License-Identifier: MIT
 *
 * The general kernel: the fused join and elimination of any job. A block works on a range of tiles of one job, for one
 * copy and one piece of the rows. A thread has the same entry of the row in every tile, and keeps the sums of all rows
 * of a tile. So each table's part of an entry's address is computed once; from tile to tile only the tables' base
 * addresses advance, without a division.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_GENERAL_KERNEL_CUH
#define GPUOPT_CUDA_ELIMINATION_GENERAL_KERNEL_CUH

#include "device.cuh"

namespace {

/* How a job is cut into blocks: copies x ranges of tiles x pieces of the row; the last of these runs fastest. */
struct JobBlocks {
    int32_t pieces, ranges;
    int32_t split; /* threads that share an entry, each with some of the values; a power of two */
};

__host__ __device__ inline int32_t threads_of_row(int64_t entries) {
    int32_t threads = 1;
    while (threads < entries && threads < elimination_threads) threads *= 2;
    return threads;
}

/* most: more blocks than this are useless. */
__host__ __device__ inline JobBlocks job_blocks(const gpuopt__elimination_job &job, int32_t copies, int64_t most) {
    JobBlocks b;
    int32_t row = threads_of_row(job.row_entries);
    b.split = 1;
    if (job.rows == 1)
        while (row * b.split < elimination_threads && b.split * 4 <= job.values) b.split *= 2;
    int32_t width = elimination_threads / b.split;
    b.pieces = (job.row_entries + width - 1) / width;
    int64_t ranges = most / (static_cast<int64_t>(b.pieces) * copies);
    b.ranges = static_cast<int32_t>(ranges < 1 ? 1 : ranges < job.tiles ? ranges : job.tiles);
    return b;
}

/* Shared memory of a block. */
struct EliminationShared {
    /* Base addresses of the tables for a tile, then of the message. Each warp has separate addresses, so that none
     * waits for another. Two buffers: this tile and the next. */
    int64_t base[elimination_threads / 32][2][elimination_slab + 1];
    int64_t value_stride[elimination_slab];
    uint32_t row[elimination_slab + 1][elimination_rows]; /* the part of the address for a row of the tile */
    gpuopt__elimination_job job;
    int32_t found; /* see find_job() */
};

struct TileStrides {
    const int64_t *size, *stride; /* of the job */
    int digits;                   /* strides of one operand */

    __device__ const int64_t *of(int k) const { return stride + static_cast<int64_t>(k) * digits; }
};

/* The part of the address in operand k for entry `entry` of a row. */
__device__ int64_t entry_at(const gpuopt__elimination_job &job, const TileStrides &t, int k, uint32_t entry) {
    int first = job.tile_digits + job.row_digits;
    return tile_at<uint32_t>(t.size + first, t.of(k) + first, job.entry_digits, entry);
}

__device__ int64_t row_at(const gpuopt__elimination_job &job, const TileStrides &t, int k, uint32_t row) {
    return tile_at<uint32_t>(t.size + job.tile_digits, t.of(k) + job.tile_digits, job.row_digits, row);
}

/* The address in an operand beyond the slab: computed from the digits. */
__device__ int64_t far_index(const EliminationView &e, const gpuopt__elimination_job &job, const TileStrides &strides,
                             int k, int64_t tile, int32_t copy, uint32_t entry, int32_t v) {
    const gpuopt__elimination_operand &o = e.operand[job.operand + k];
    return operand_at(e, o, copy) + v * o.value_stride + entry_at(job, strides, k, entry) +
           any_tile_at(strides.size, strides.of(k), job.tile_digits, tile);
}

__device__ uint64_t count_at(const EliminationView &e, const gpuopt__elimination_job &job, int k, int64_t index) {
    const gpuopt__elimination_operand &o = e.operand[job.operand + k];
    return o.count_at < 0 ? 1 : e.counts[o.count_at + (index - o.at)];
}

/* The position of a thread in its job. */
struct Place {
    TileStrides strides;
    const uint32_t *slab; /* [operands from the first one not held][threads] the entry's part of the address */
    int64_t tile;
    int32_t copy, share, split; /* share: of the values, one of `split` */
    uint32_t entry;
    int rows;
    const int64_t *base; /* of the operands, for this tile */
};

/* The sums of one thread for all rows of a tile. All loads for a value are issued before the first of them is added.
 * Own > 0: this many operands depend on the row (at most this many if Own > elimination_held), and at most `calm` do
 * not. Own == 0: any job; other_rows() then reads the operands that depend on the row, and more() the operands beyond
 * `calm` that do not. */
template <class Keep, int Rows, int Own>
struct Sums {
    using Stored = typename Keep::Stored;
    using Sum = typename Keep::Sum;
    static constexpr int calm = elimination_calm;
    static constexpr int unroll = Own == 1 || Own == 2 ? 2 : 1; /* values with loads in flight together */

    static constexpr int held = Own <= elimination_held ? Own : 0;

    Keep keep[Rows];
    uint32_t entry[held ? held : 1][Rows];

    static __device__ int64_t index_of(const EliminationShared &shared, const Place &p, int k, int32_t v) {
        return p.base[k] + v * shared.value_stride[k] + p.slab[(k - held) * elimination_threads + threadIdx.x];
    }

    /* Adds operands k and k + 1 of several that depend on the row. The row's part of the address is in shared memory,
     * the same for all threads. */
    static __device__ void two_operands(const EliminationView &e, const EliminationShared &shared,
                                        const Stored *const *from, int k, Sum *sum) {
        const int varying = shared.job.varying;
        Stored cost[2][Rows];
#pragma unroll
        for (int i = 0; i < 2; i++) {
#pragma unroll
            for (int r = 0; r < Rows; r++) {
                cost[i][r] = 0;
                if (k + i < varying) cost[i][r] = __ldg(from[k + i] + shared.row[k + i][r]);
            }
        }
#pragma unroll
        for (int r = 0; r < Rows; r++) sum[r] = Keep::add(Keep::add(sum[r], cost[0][r], e), cost[1][r], e);
    }

    /* The sum of the operands from `first` on, which are the same for all rows. */
    static __device__ Sum more(const EliminationView &e, const EliminationShared &shared, const Place &p, int32_t v,
                               int first, uint64_t *factor) {
        const gpuopt__elimination_job &job = shared.job;
        Sum sum = Keep::none();
        for (int k = first; k < job.operands; k++) {
            int64_t index = k < elimination_slab ? index_of(shared, p, k, v)
                                                 : far_index(e, job, p.strides, k, p.tile, p.copy, p.entry, v);
            sum = Keep::add(sum, __ldg(static_cast<const Stored *>(e.store) + index), e);
            if (Keep::counted) *factor = gpuopt__elimination_count_product(*factor, count_at(e, job, k, index));
        }
        return sum;
    }

    /* Adds all operands that depend on the row. */
    static __device__ void other_rows(const EliminationView &e, const EliminationShared &shared, const Place &p,
                                      int32_t v, Sum *sum, uint64_t *factor) {
        const gpuopt__elimination_job &job = shared.job;
#pragma unroll 2
        for (int k = 0; k < job.varying; k++) {
            const bool far = k >= elimination_slab;
            const int64_t index =
                far ? far_index(e, job, p.strides, k, p.tile, p.copy, p.entry, v) : index_of(shared, p, k, v);
            Stored cost[Rows];
#pragma unroll
            for (int r = 0; r < Rows; r++) {
                cost[r] = 0;
                if (r >= p.rows) continue;
                int64_t of_row = index + (far ? row_at(job, p.strides, k, r) : shared.row[k][r]);
                cost[r] = __ldg(static_cast<const Stored *>(e.store) + of_row);
                if (Keep::counted)
                    factor[r] = gpuopt__elimination_count_product(factor[r], count_at(e, job, k, of_row));
            }
#pragma unroll
            for (int r = 0; r < Rows; r++) sum[r] = Keep::add(sum[r], cost[r], e);
        }
    }

    /* All values of one tile. */
    __device__ void tile(const EliminationView &e, const EliminationShared &shared, const Place &p) {
        const gpuopt__elimination_job &job = shared.job;
        const Stored *from[Own ? Own : 1], *also[calm];
        int64_t step[Own ? Own : 1], also_step[calm];
        const int first = held ? held : job.varying;
        /* With counts, or with operands beyond the slab, more() looks each operand up. */
        int others = Keep::counted || job.operands > elimination_slab ? 0 : job.operands - first;
        if (!Own && others > calm) others = calm;
#pragma unroll
        for (int k = 0; k < Own; k++) {
            const bool there = held || k < job.varying;
            step[k] = there ? shared.value_stride[k] * p.split : 0;
            from[k] = static_cast<const Stored *>(e.store);
            if (held) from[k] += p.base[k] + shared.value_stride[k] * p.share;
            else if (there) from[k] += index_of(shared, p, k, p.share);
        }
#pragma unroll
        for (int k = 0; k < calm; k++) {
            also_step[k] = k < others ? shared.value_stride[first + k] * p.split : 0;
            also[k] = static_cast<const Stored *>(e.store) + (k < others ? index_of(shared, p, first + k, p.share) : 0);
        }
        const bool some_more = first + others < job.operands;
#pragma unroll
        for (int r = 0; r < Rows; r++) keep[r].begin(e);
        for (int32_t v = p.share; v < job.values; v += p.split * unroll) {
            Stored cost[unroll][held ? held : 1][Rows], also_cost[unroll][calm];
#pragma unroll
            for (int u = 0; u < unroll; u++) {
                const bool there = u == 0 || v + u * p.split < job.values;
#pragma unroll
                for (int k = 0; k < held; k++) {
#pragma unroll
                    for (int r = 0; r < Rows; r++) cost[u][k][r] = there ? __ldg(from[k] + entry[k][r]) : 0;
                    from[k] += step[k];
                }
#pragma unroll
                for (int k = 0; k < calm; k++) {
                    also_cost[u][k] = there && k < others ? __ldg(also[k]) : 0;
                    also[k] += also_step[k];
                }
            }
#pragma unroll
            for (int u = 0; u < unroll; u++) {
                if (u > 0 && v + u * p.split >= job.values) break;
                uint64_t factor[Rows], same_factor = 1;
                Sum sum[Rows], same = Keep::none();
#pragma unroll
                for (int k = 0; k < calm; k++) same = Keep::add(same, also_cost[u][k], e);
                if constexpr (Own == 0) {
                    if (some_more) {
                        Sum of_all = more(e, shared, p, v, first + others, &same_factor);
                        same = others ? Keep::add(same, of_all, e) : of_all;
                    }
                }
#pragma unroll
                for (int r = 0; r < Rows; r++) {
                    sum[r] = same;
                    factor[r] = same_factor;
                }
                if constexpr (Own == 0) {
                    if (job.varying > 0) other_rows(e, shared, p, v, sum, factor);
                } else if constexpr (Own > held) {
#pragma unroll
                    for (int k = 0; k < Own; k += 2) two_operands(e, shared, from, k, sum);
#pragma unroll
                    for (int k = 0; k < Own; k++) from[k] += step[k];
                }
#pragma unroll
                for (int r = 0; r < Rows; r++) {
#pragma unroll
                    for (int k = 0; k < held; k++) sum[r] = Keep::add(sum[r], cost[u][k][r], e);
                    keep[r].take(sum[r], factor[r], job.maximum, e);
                }
            }
        }
    }
};

/* The position in the list of the job that block `block` works on. ends [count]: for each job, the number of blocks of
 * all jobs up to it. */
__device__ inline int find_job(EliminationShared &shared, const int64_t *ends, int count, int64_t block) {
    for (int k = threadIdx.x; k < count; k += blockDim.x)
        if (block < ends[k] && (k == 0 || block >= ends[k - 1])) shared.found = k;
    __syncthreads();
    return shared.found;
}

/* list [count]: jobs. ends: as for find_job(), counted from `before`, or NULL with count 1. most: see job_blocks().
 * first_block: the first block of this launch, if there are more blocks than a launch takes. */
template <class Keep, int Rows, int Own>
__global__ void __launch_bounds__(elimination_threads, elimination_resident)
    eliminate(const EliminationView e, const int32_t *list, const int64_t *ends, int64_t before, int count,
              int64_t most, int64_t first_block) {
    using Stored = typename Keep::Stored;
    GPUOPT_DYNAMIC_SHARED(uint32_t, slab); /* [operands][threads], see Place */
    __shared__ EliminationShared shared;
    __shared__ Keep split_keep[Rows == 1 ? elimination_threads : 1];
    const int thread = threadIdx.x;
    int64_t block = before + first_block + blockIdx.x;
    int which = count > 1 ? find_job(shared, ends, count, block) : 0;
    if (ends) block -= which ? ends[which - 1] : before;
    {
        const int32_t *from = reinterpret_cast<const int32_t *>(e.job + list[which]);
        for (int k = thread; k < static_cast<int>(sizeof(gpuopt__elimination_job) / sizeof(int32_t));
             k += elimination_threads)
            reinterpret_cast<int32_t *>(&shared.job)[k] = from[k];
    }
    __syncthreads();
    const gpuopt__elimination_job &job = shared.job;
    const JobBlocks cut = job_blocks(job, e.copies, most);
    const int piece = static_cast<int>(block % cut.pieces);
    const int range = static_cast<int>(block / cut.pieces % cut.ranges);
    const int32_t copy = static_cast<int32_t>(block / cut.pieces / cut.ranges);
    const int64_t first = job.tiles * range / cut.ranges, last = job.tiles * (range + 1) / cut.ranges;
    const int width = elimination_threads / cut.split;
    const int share = thread / width; /* index of its share of the values */
    uint32_t at = piece * width + thread % width;
    const bool inside = at < static_cast<uint32_t>(job.row_entries);
    if (!inside) at = 0;
    TileStrides strides = {e.digit + job.size, e.digit + job.stride,
                           job.tile_digits + job.row_digits + job.entry_digits};
    const int near = job.operands < elimination_slab ? job.operands : elimination_slab;

    for (int k = thread; k <= near; k += elimination_threads) { /* then the message */
        int from = k < near ? k : job.operands;
        int64_t base = any_tile_at(strides.size, strides.of(from), job.tile_digits, first);
        if (k < near) {
            const gpuopt__elimination_operand &o = e.operand[job.operand + k];
            base += operand_at(e, o, copy);
            shared.value_stride[k] = o.value_stride;
        } else base += job.at + copy * job.copy_stride;
        for (int warp = 0; warp < elimination_threads / 32; warp++) shared.base[warp][0][k] = base;
    }
    for (int k = thread; k < (near + 1) * Rows; k += elimination_threads) {
        int of = k / Rows < near ? k / Rows : job.operands;
        shared.row[k / Rows][k % Rows] = k % Rows < job.rows ? static_cast<uint32_t>(row_at(job, strides, of, k % Rows))
                                                             : 0; /* no such row: row 0 again */
    }
    Sums<Keep, Rows, Own> sums;
    constexpr int held = Sums<Keep, Rows, Own>::held;
    for (int k = held; k < near; k++)
        slab[(k - held) * elimination_threads + thread] = static_cast<uint32_t>(entry_at(job, strides, k, at));
    const int64_t target = entry_at(job, strides, job.operands, at);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < held; k++) {
        const uint32_t entry = static_cast<uint32_t>(entry_at(job, strides, k, at));
#pragma unroll
        for (int r = 0; r < Rows; r++) sums.entry[k][r] = entry + shared.row[k][r < job.rows ? r : 0];
    }
    Place place = {strides, slab, first, copy, share, cut.split, at, job.rows, nullptr};
    int64_t(*base)[elimination_slab + 1] = shared.base[thread / 32];
    const int64_t run = job.tile_digits ? strides.size[job.tile_digits - 1] : 1; /* tiles until a digit carries */
    int64_t left = run - first % run;
    for (int64_t tile = first; tile < last; tile++) {
        const int buffer = static_cast<int>(tile - first) & 1;
        if (tile + 1 < last) {
            const bool carries = --left == 0;
            if (carries) left = run;
            for (int k = thread % 32; k <= near; k += 32) {
                const int64_t *stride = strides.of(k < near ? k : job.operands);
                base[buffer ^ 1][k] =
                    base[buffer][k] + (carries ? any_tile_step(strides.size, stride, job.tile_digits, tile + 1)
                                               : stride[job.tile_digits - 1]);
            }
        }
        if (job.row_total) {
            int64_t rest = job.row_total - tile % run * job.rows;
            place.rows = rest < job.rows ? static_cast<int>(rest) : job.rows;
        }
        place.tile = tile;
        place.base = base[buffer];
        sums.tile(e, shared, place);
        if constexpr (Rows == 1) {
            for (int half = cut.split / 2; half > 0; half /= 2) { /* join the shares of an entry */
                split_keep[thread] = sums.keep[0];
                __syncthreads();
                if (share < half) sums.keep[0].merge(split_keep[thread + half * width], job.maximum, e);
                __syncthreads();
            }
        }
        if (inside && share == 0) {
            const int64_t to = base[buffer][near] + target;
#pragma unroll
            for (int r = 0; r < Rows; r++) {
                if (r >= place.rows) continue;
                const int64_t entry = to + shared.row[near][r];
                static_cast<Stored *>(e.store)[entry] = sums.keep[r].cost(job.maximum);
                if (Keep::counted) e.counts[job.count_at + (entry - job.at)] = sums.keep[r].count();
            }
        }
        __syncwarp();
    }
}

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_GENERAL_KERNEL_CUH */
