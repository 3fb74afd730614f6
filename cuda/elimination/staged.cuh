/* SPDX-License-Identifier: MIT
 *
 * The fused join and elimination of large tables: what a tile needs of them is copied to shared memory in stages, some
 * of them ahead of the one that is added up (elimination/stage.cuh says what is in one). What is on its way does not
 * depend on how wide a cost is, nor on how many registers a sum takes.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_STAGED_CUH
#define GPUOPT_CUDA_ELIMINATION_STAGED_CUH

#include "kernel.cuh"
#include "stage.cuh"
#include "../common/mbarrier.cuh"

namespace {

/* An entry of the message in the making. Costs up to 32 bits wide are added in 32 bits: the plan has proven that they
 * fit. */
template <class Cost>
struct StagedCell {
    using Stored = Cost;
    using Word = Cost;
    using Sum = uint32_t;
    static constexpr int pack = 1;
    uint32_t best;
    static __device__ Sum none() { return 0; }
    static __device__ Sum load(const char *at, bool) { return *reinterpret_cast<const Cost *>(at); }
    static __device__ Sum add(Sum a, Sum b) { return a + b; }
    __device__ void begin(uint32_t forbidden) { best = forbidden; }
    __device__ void take(Sum a, Sum b) { best = __viaddmin_u32(a, b, best); }
    __device__ Word cost() const { return static_cast<Word>(best); }
};

/* Two of 8 bits, in halves of 16: a few costs cannot overflow these. */
struct StagedPair {
    using Stored = uint8_t;
    using Word = uint16_t;
    using Sum = uint32_t;
    static constexpr int pack = 2;
    uint32_t best;
    static __device__ Sum none() { return 0; }
    static __device__ Sum load(const char *at, bool wide) {
        if (wide) return __byte_perm(*reinterpret_cast<const Word *>(at), 0, 0x4140);
        return *reinterpret_cast<const Stored *>(at) * 0x00010001u;
    }
    static __device__ Sum add(Sum a, Sum b) { return a + b; }
    __device__ void begin(uint32_t forbidden) { best = forbidden * 0x00010001u; }
    __device__ void take(Sum a, Sum b) { best = __viaddmin_u16x2(a, b, best); }
    __device__ Word cost() const { return static_cast<Word>(__byte_perm(best, 0, 0x20)); }
};

/* Four of 8 bits, or two of 16 bits: of the first the even ones together, and the odd ones. */
template <class Cost>
struct StagedWord {
    struct Sum {
        uint32_t even, odd;
    };
    using Stored = Cost;
    using Word = uint32_t;
    static constexpr bool bytes = sizeof(Cost) == 1;
    static constexpr int pack = bytes ? 4 : 2;
    Sum best;
    static __device__ Sum none() { return {0, 0}; }
    static __device__ Sum load(const char *at, bool wide) {
        if (wide) {
            const uint32_t word = *reinterpret_cast<const Word *>(at);
            if (bytes) return {word & 0x00ff00ff, word >> 8 & 0x00ff00ff};
            return {word & 0xffff, word >> 16};
        }
        const uint32_t one = *reinterpret_cast<const Cost *>(at) * (bytes ? 0x00010001u : 1u);
        return {one, one};
    }
    static __device__ Sum add(Sum a, Sum b) { return {a.even + b.even, a.odd + b.odd}; }
    __device__ void begin(uint32_t forbidden) { best.even = best.odd = forbidden * (bytes ? 0x00010001u : 1u); }
    __device__ void take(Sum a, Sum b) {
        if (bytes) {
            best.even = __viaddmin_u16x2(a.even, b.even, best.even);
            best.odd = __viaddmin_u16x2(a.odd, b.odd, best.odd);
        } else {
            best.even = __viaddmin_u32(a.even, b.even, best.even);
            best.odd = __viaddmin_u32(a.odd, b.odd, best.odd);
        }
    }
    __device__ Word cost() const { return best.even | best.odd << (bytes ? 8 : 16); }
};

/* Neighbours that are copied together. */
struct StagedSegment {
    int64_t at;            /* from where the operand is for this tile and the stage's first value */
    uint32_t place, bytes; /* from the stage's beginning; how many */
    int32_t operand;
    int32_t first; /* where its place is noted, if it is the value's first segment of the operand; or -1 */
};

struct StagedShared {
    StagedSegment segment[staged_segments_most];
    uint32_t place[staged_depth][staged_segments_most]; /* [values][operands] bytes in shared memory */
    MemoryBarrier full[staged_depth], empty[staged_depth];
    int64_t base[staged_producers][staged_operands]; /* where the operands are for a stage */
    int64_t message[staged_depth];                   /* where the message is for the stage's tile */
    int64_t outer_size[digits_most], outer_stride[staged_operands + 1][digits_most];
};

/* What entry `entry` of a row adds to operand k's address. */
__device__ inline uint32_t staged_entry(const Staged &p, int k, uint32_t entry) {
    uint32_t at = 0;
    for (int j = 0; j < p.entry_digits; j++) {
        const uint32_t size = static_cast<uint32_t>(p.entry_size[j]);
        at += entry % size * static_cast<uint32_t>(p.entry_stride[k][j]);
        entry /= size;
    }
    return at;
}

/* Segment number `number` of a stage. */
__device__ StagedSegment staged_segment(const EliminationView &e, const Staged &p, int number) {
    const int value = number / p.all_segments;
    int rest = number % p.all_segments, k = 0, chunk = value * p.all_chunks;
    for (; rest >= p.segments[k]; k++) {
        rest -= p.segments[k];
        chunk += p.segments[k] * p.chunks[k];
    }
    StagedSegment s;
    s.at = value * e.operand[p.operand[k]].value_stride;
    s.place = 16 * static_cast<uint32_t>(chunk + rest * p.chunks[k]);
    s.bytes = 16 * static_cast<uint32_t>(p.chunks[k]);
    s.operand = k;
    s.first = rest ? -1 : value * p.operands + k;
    for (int j = 0; j < p.row_digits; j++) {
        if (!p.row_stride[k][j] || p.inside[k] >> j & 1) continue;
        s.at += rest % p.row_size[j] * p.row_stride[k][j];
        rest /= p.row_size[j];
    }
    return s;
}

/* What all threads do first. calm [operands that are the same for all rows][entries]; of a word's entries only the
 * first one is looked up, if its neighbours are. */
__device__ void staged_begin(const EliminationView &e, const Staged &p, StagedShared &shared, uint16_t *calm,
                             int bytes) {
    const int thread = static_cast<int>(threadIdx.x), entries = p.entries * p.pack;
    for (int i = thread; i < p.group * p.all_segments; i += staged_threads) shared.segment[i] = staged_segment(e, p, i);
    for (int k = p.varying; k < p.operands; k++, calm += entries) {
        const int step = (p.wide | p.one) >> k & 1 ? p.pack : 1;
        for (int entry = step * thread; entry < entries; entry += step * staged_threads)
            calm[entry] = static_cast<uint16_t>(bytes * staged_entry(p, k, static_cast<uint32_t>(entry)));
    }
    for (int j = thread; j < p.outer; j += staged_threads) {
        shared.outer_size[j] = p.outer_size[j];
        for (int k = 0; k <= p.operands; k++) shared.outer_stride[k][j] = p.outer_stride[k][j];
    }
    if (thread < staged_depth) {
        barrier_begin(&shared.full[thread], 32);
        barrier_begin(&shared.empty[thread], staged_consumers / 32);
    }
    __syncthreads();
}

/* The warp that brings stage after stage, for tiles first .. last - 1. A lane knows where an operand is, or the
 * message. */
__device__ void staged_bring(const EliminationView &e, const Staged &p, StagedShared &shared, char *memory,
                             int64_t first, int64_t last, int32_t copy, int bytes) {
    const int lane = static_cast<int>(threadIdx.x % 32), groups = (p.values + p.group - 1) / p.group;
    const int producer = (static_cast<int>(threadIdx.x) - staged_consumers) / 32;
    const uint32_t stage_bytes = 16 * static_cast<uint32_t>(p.all_chunks * p.group);
    const int64_t *stride = shared.outer_stride[lane <= p.operands ? lane : 0];
    const int64_t run = p.outer ? p.outer_size[p.outer - 1] : 1; /* tiles until a digit carries */
    int64_t left = run - first % run, at = any_tile_at(shared.outer_size, stride, p.outer, first), value_stride = 0;
    if (lane < p.operands) {
        const gpuopt__elimination_operand &o = e.operand[p.operand[lane]];
        at += operand_at(e, o, copy);
        value_stride = o.value_stride;
    } else if (lane == p.operands) at += p.at + copy * p.copy_stride;
    int64_t *base = shared.base[producer];
    int slot = 0, turn = 0;
    uint32_t parity = 1; /* of an empty slot: at first they all are */
    for (int64_t tile = first; tile < last; tile++) {
        for (int group = 0; group < groups; group++) {
            const bool mine = turn == producer;
            const int now = slot;
            const uint32_t now_parity = parity;
            if (++turn == staged_producers) turn = 0;
            if (++slot == staged_depth) slot = 0, parity ^= 1;
            if (!mine) continue;
            const int values = min(p.group, p.values - group * p.group);
            barrier_wait(&shared.empty[now], now_parity);
            if (lane < p.operands) base[lane] = at + group * p.group * value_stride;
            if (lane == p.operands) shared.message[now] = at;
            if (lane == 0) barrier_expect(&shared.full[now], 16 * static_cast<uint32_t>(values * p.all_chunks));
            __syncwarp();
            char *to = memory + now * stage_bytes;
            for (int i = lane; i < values * p.all_segments; i += 32) {
                const StagedSegment s = shared.segment[i];
                const char *from = static_cast<const char *>(e.store) + (base[s.operand] + s.at) * bytes;
                const uint32_t beyond = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(from) & 15);
                copy_bulk(to + s.place, from - beyond, s.bytes, &shared.full[now]);
                if (s.first >= 0) shared.place[now][s.first] = now * stage_bytes + s.place + beyond;
            }
            barrier_arrive(&shared.full[now]);
            __syncwarp();
        }
        if (tile + 1 == last) break;
        if (--left > 0) at += stride[p.outer - 1];
        else {
            left = run;
            at += any_tile_step(shared.outer_size, stride, p.outer, tile + 1);
        }
    }
}

/* An entry's cost, or a word's, in operand k, which is the same for all rows. */
template <class Cell>
__device__ typename Cell::Sum staged_calm(const Staged &p, int k, const char *from, const uint16_t *at) {
    using Stored = typename Cell::Stored;
    using Word = typename Cell::Word;
    constexpr int bits = 8 * static_cast<int>(sizeof(Stored));
    if (Cell::pack == 1 || (p.wide | p.one) >> k & 1) return Cell::load(from + at[0], p.wide >> k & 1);
    Word several = 0; /* neighbours from here and there */
#pragma unroll
    for (int i = 0; i < Cell::pack; i++)
        several |= static_cast<Word>(static_cast<Word>(*reinterpret_cast<const Stored *>(from + at[i])) << i * bits);
    return Cell::load(reinterpret_cast<const char *>(&several), true);
}

/* The sum over these operands: two at a time are on their way. */
template <class Cell>
__device__ typename Cell::Sum staged_all_calm(const Staged &p, const char *memory, const uint32_t *place,
                                              const uint16_t *at) {
    const int entries = p.entries * Cell::pack;
    typename Cell::Sum sum = Cell::none();
#pragma unroll 1
    for (int k = p.varying; k < p.operands; k += 2, place += 2, at += 2 * entries) {
        const typename Cell::Sum one = staged_calm<Cell>(p, k, memory + place[0], at);
        if (k + 1 < p.operands) sum = Cell::add(sum, staged_calm<Cell>(p, k + 1, memory + place[1], at + entries));
        sum = Cell::add(sum, one);
    }
    return sum;
}

/* The operands that depend on the row: one; two; or two of which the second has one entry for all of a word. OTHERS: up
 * to three of any kind. The first ones are wide, but for those of OTHERS. */
enum StagedShape { STAGED_SINGLE, STAGED_PAIR, STAGED_MIXED, STAGED_OTHERS };

template <class Cell, int Height, StagedShape Shape>
__global__ void __launch_bounds__(staged_threads, staged_resident)
    eliminate_staged(const EliminationView e, const __grid_constant__ Staged p, int64_t ranges) {
    using Stored = typename Cell::Stored;
    using Sum = typename Cell::Sum;
    constexpr int bytes = static_cast<int>(sizeof(Stored));
    constexpr int varying = Shape == STAGED_SINGLE ? 1 : Shape == STAGED_OTHERS ? staged_varying : 2;
    extern __shared__ __align__(16) char staged_memory[];
    __shared__ StagedShared shared;
    const int thread = static_cast<int>(threadIdx.x);
    uint16_t *calm =
        reinterpret_cast<uint16_t *>(staged_memory + staged_depth * 16 * p.all_chunks * p.group + p.beyond);
    const int64_t range = blockIdx.x % ranges, first = p.tiles * range / ranges, last = p.tiles * (range + 1) / ranges;
    staged_begin(e, p, shared, calm, bytes);
    if (thread >= staged_consumers) {
        staged_bring(e, p, shared, staged_memory, first, last, static_cast<int32_t>(blockIdx.x / ranges), bytes);
        return;
    }
    const int word = thread % p.width, team = thread / p.width;
    const bool inside = word < p.entries;
    const int entry = inside ? word * Cell::pack : 0;
    const char *from[varying];
    bool wide[varying];
#pragma unroll
    for (int k = 0; k < varying; k++) {
        from[k] = staged_memory;
        if (k < p.varying) from[k] += p.team_place[k][team] + bytes * staged_entry(p, k, static_cast<uint32_t>(entry));
        wide[k] = Shape == STAGED_OTHERS ? p.wide >> k & 1 : k == 0 || Shape == STAGED_PAIR;
    }
    const int rows = min(p.team_rows, p.rows - team * p.team_rows);
    int slot = 0;
    uint32_t parity = 0;
    Cell cell[Height];
    for (int64_t tile = first; tile < last; tile++) {
        int64_t to = 0;
#pragma unroll
        for (int r = 0; r < Height; r++) cell[r].begin(static_cast<uint32_t>(e.forbidden));
        for (int value = 0; value < p.values;) {
            const int end = min(value + p.group, p.values);
            barrier_wait(&shared.full[slot], parity);
            const uint32_t *place = shared.place[slot];
            to = shared.message[slot];
            for (; value < end; value++, place += p.operands) {
                const Sum same = staged_all_calm<Cell>(p, staged_memory, place + p.varying, calm + entry);
                const char *own[varying];
#pragma unroll
                for (int k = 0; k < varying; k++)
                    own[k] = from[k] + (Shape != STAGED_OTHERS || k < p.varying ? place[k] : 0);
#pragma unroll
                for (int r = 0; r < Height; r++) {
                    Sum sum = same, last_one = Cell::none();
#pragma unroll
                    for (int k = 0; k < varying; k++) {
                        if (Shape == STAGED_OTHERS && k >= p.varying) break;
                        if (k > 0) sum = Cell::add(sum, last_one);
                        last_one = Cell::load(own[k] + p.row_place[k][r], wide[k]);
                    }
                    cell[r].take(sum, last_one);
                }
            }
            __syncwarp();
            if (thread % 32 == 0) barrier_arrive(&shared.empty[slot]);
            if (++slot == staged_depth) slot = 0, parity ^= 1;
        }
        if (!inside) continue;
        Stored *const message = static_cast<Stored *>(e.store) + to + p.team_at[team] + entry;
#pragma unroll
        for (int r = 0; r < Height; r++)
            if (r < rows) *reinterpret_cast<typename Cell::Word *>(message + p.row_at[r]) = cell[r].cost();
    }
}

/* ---- Launches ---- */

/* Whether the kernels that this device runs were compiled for sm_90 or later: on a new one, a build for older ones runs,
 * too, in which they are empty. */
bool staged_is_compiled() {
    cudaFuncAttributes attributes;
    if (cudaFuncGetAttributes(&attributes, eliminate_staged<StagedCell<uint32_t>, 9, STAGED_SINGLE>) == cudaSuccess)
        return attributes.ptxVersion >= 90;
    cudaGetLastError();
    return false;
}

template <class Cell, int Height, StagedShape Shape>
gpuopt_status launch_staged(const gpuopt_context *context, const EliminationView &view, const Staged &p) {
    const size_t memory = staged_shared_bytes(p);
    auto kernel = eliminate_staged<Cell, Height, Shape>;
    GPUOPT_CUDA(context,
                cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(memory)));
    const int64_t room = staged_resident * int64_t{cuda_of(context)->multiprocessors} / p.copies;
    const int64_t ranges = room < 1 ? 1 : room < p.tiles ? room : p.tiles;
    kernel<<<static_cast<unsigned>(ranges * p.copies), staged_threads, memory, cuda_of(context)->stream>>>(view, p,
                                                                                                           ranges);
    return cuda_status(context, cudaGetLastError(), "an elimination by stages");
}

template <class Cell, int Height>
gpuopt_status run_staged_rows(const gpuopt_context *context, const EliminationView &view, const Staged &p) {
    const bool first_wide = p.wide & 1, second_wide = p.wide & 2;
    if (p.varying == 1 && first_wide) return launch_staged<Cell, Height, STAGED_SINGLE>(context, view, p);
    if (p.varying == 2 && second_wide) return launch_staged<Cell, Height, STAGED_PAIR>(context, view, p);
    if constexpr (Cell::pack > 1)
        if (p.varying == 2 && first_wide) return launch_staged<Cell, Height, STAGED_MIXED>(context, view, p);
    return launch_staged<Cell, Height, STAGED_OTHERS>(context, view, p);
}

template <class Cell>
gpuopt_status run_staged_cells(const gpuopt_context *context, const EliminationView &view, const Staged &p) {
    if constexpr (Cell::pack > 1)
        return p.height == 10 ? run_staged_rows<Cell, 10>(context, view, p)
                              : run_staged_rows<Cell, 16>(context, view, p);
    else
        return p.height == 9    ? run_staged_rows<Cell, 9>(context, view, p)
               : p.height == 13 ? run_staged_rows<Cell, 13>(context, view, p)
               : p.height == 16 ? run_staged_rows<Cell, 16>(context, view, p)
                                : run_staged_rows<Cell, 27>(context, view, p);
}

gpuopt_status run_staged(const gpuopt_context *context, const EliminationView &view, const Staged &p) {
    if (view.bits == 32) return run_staged_cells<StagedCell<uint32_t>>(context, view, p);
    if (view.bits == 16)
        return p.pack == 2 ? run_staged_cells<StagedWord<uint16_t>>(context, view, p)
                           : run_staged_cells<StagedCell<uint16_t>>(context, view, p);
    return p.pack == 4   ? run_staged_cells<StagedWord<uint8_t>>(context, view, p)
           : p.pack == 2 ? run_staged_cells<StagedPair>(context, view, p)
                         : run_staged_cells<StagedCell<uint8_t>>(context, view, p);
}

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_STAGED_CUH */
