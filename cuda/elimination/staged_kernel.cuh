/* SPDX-License-Identifier: MIT
 *
 * The staged kernel: the fused join and elimination of large tables. The parts of the tables for a tile are copied to
 * shared memory in stages (staged_plan.cuh), some stages ahead of the stage being added up. So the number of bytes in
 * flight depends neither on the width of a cost nor on the registers of a sum.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_STAGED_KERNEL_CUH
#define GPUOPT_CUDA_ELIMINATION_STAGED_KERNEL_CUH

#include "../common/mbarrier.cuh"
#include "device.cuh"
#include "staged_plan.cuh"

namespace {

/* Accumulators of an entry of the message, or of a word of entries. load(): a cost, or a word of costs if `wide`.
 * take(): accounts for the sum a + b of a value. Costs of up to 32 bits are added in 32 bits: the plan has proven that
 * the sums fit. */
template <class Cost>
struct StagedCell {
    using Stored = Cost;
    using Word = Cost;
    using Sum = uint32_t;
    static constexpr int pack = 1;
    static constexpr bool decides = false;
    uint32_t best;
    static __device__ Sum none() { return 0; }
    static __device__ Sum load(const char *at, bool) { return *reinterpret_cast<const Cost *>(at); }
    static __device__ Sum add(Sum a, Sum b) { return a + b; }
    __device__ void begin(uint32_t forbidden) { best = forbidden; }
    __device__ void take(Sum a, Sum b, int) { best = __viaddmin_u32(a, b, best); }
    __device__ Word cost() const { return static_cast<Word>(best); }
};

/* Also keeps the decision: the first value with the least sum. */
template <class Cost>
struct StagedChoice : StagedCell<Cost> {
    static constexpr bool decides = true;
    uint32_t choice;
    __device__ void begin(uint32_t forbidden) {
        this->best = forbidden;
        choice = 0;
    }
    __device__ void take(uint32_t a, uint32_t b, int value) {
        const uint32_t sum = a + b;
        if (sum < this->best) this->best = sum, choice = static_cast<uint32_t>(value);
    }
};

/* Two entries of 8 bits, added in halves of 16 bits: sums of staged_operands costs cannot overflow these. */
struct StagedPair {
    using Stored = uint8_t;
    using Word = uint16_t;
    using Sum = uint32_t;
    static constexpr int pack = 2;
    static constexpr bool decides = false;
    uint32_t best;
    static __device__ Sum none() { return 0; }
    static __device__ Sum load(const char *at, bool wide) {
        if (wide) return __byte_perm(*reinterpret_cast<const Word *>(at), 0, 0x4140);
        return *reinterpret_cast<const Stored *>(at) * 0x00010001u;
    }
    static __device__ Sum add(Sum a, Sum b) { return a + b; }
    __device__ void begin(uint32_t forbidden) { best = forbidden * 0x00010001u; }
    __device__ void take(Sum a, Sum b, int) { best = __viaddmin_u16x2(a, b, best); }
    __device__ Word cost() const { return static_cast<Word>(__byte_perm(best, 0, 0x20)); }
};

/* Four entries of 8 bits, with the even and the odd entries in separate words, or two of 16 bits. */
template <class Cost>
struct StagedWord {
    struct Sum {
        uint32_t even, odd;
    };
    using Stored = Cost;
    using Word = uint32_t;
    static constexpr bool bytes = sizeof(Cost) == 1;
    static constexpr int pack = bytes ? 4 : 2;
    static constexpr bool decides = false;
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
    __device__ void take(Sum a, Sum b, int) {
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

/* A range of neighbours that is copied at once. */
struct StagedSegment {
    int64_t at;            /* relative to the operand's address for this tile and the stage's first value */
    uint32_t place, bytes; /* offset in the stage; length */
    int32_t operand;
    int32_t first; /* index in StagedShared::place if it is the operand's first segment for its value; else -1 */
};

struct StagedShared {
    StagedSegment segment[staged_segments_most];
    uint32_t place[staged_depth][staged_segments_most]; /* [values][operands] offset in shared memory */
    MemoryBarrier full[staged_depth], empty[staged_depth];
    int64_t base[staged_producers][staged_operands]; /* addresses of the operands for a stage */
    int64_t message[staged_depth];                   /* address in the message of the stage's tile */
    int64_t outer_size[digits_most], outer_stride[staged_operands + 1][digits_most];
};

/* The part of the address in operand k for entry `entry` of a row. */
__device__ inline uint32_t staged_entry(const Staged &p, int k, uint32_t entry) {
    uint32_t at = 0;
    for (int j = 0; j < p.entry_digits; j++) {
        const uint32_t size = static_cast<uint32_t>(p.entry_size[j]);
        at += entry % size * static_cast<uint32_t>(p.entry_stride[k][j]);
        entry /= size;
    }
    return at;
}

/* Segment `number` of a stage. */
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

/* The first work of all threads. calm [operands that are the same for all rows][entries]: offsets in a segment; if the
 * operand is `wide` or `one`, only for the first entry of a word. */
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
        barrier_begin(&shared.empty[thread], staged_consumers / 32 * barrier_warp_arrivals);
    }
    __syncthreads();
}

/* A producer warp: copies its stages for tiles first .. last - 1. Each lane keeps the address of one operand, or of the
 * message. */
__device__ void staged_bring(const EliminationView &e, const Staged &p, StagedShared &shared, char *memory,
                             int64_t first, int64_t last, int32_t copy, int bytes) {
    const int lane = static_cast<int>(threadIdx.x % 32), groups = (p.values + p.group - 1) / p.group;
    const int producer = (static_cast<int>(threadIdx.x) - staged_consumers) / 32;
    const uint32_t stage_bytes = static_cast<uint32_t>(p.stage_bytes);
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
    uint32_t parity = 1; /* for empty[]: at first all slots are empty */
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
            copy_begin();
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

/* The cost of an entry, or of a word of entries, in operand k, which is the same for all rows. */
template <class Cell>
__device__ typename Cell::Sum staged_calm(const Staged &p, int k, const char *from, const uint16_t *at) {
    using Stored = typename Cell::Stored;
    using Word = typename Cell::Word;
    constexpr int bits = 8 * static_cast<int>(sizeof(Stored));
    if (Cell::pack == 1 || (p.wide | p.one) >> k & 1) return Cell::load(from + at[0], p.wide >> k & 1);
    Word several = 0; /* assembled entry by entry */
#pragma unroll
    for (int i = 0; i < Cell::pack; i++)
        several |= static_cast<Word>(static_cast<Word>(*reinterpret_cast<const Stored *>(from + at[i])) << i * bits);
    return Cell::load(reinterpret_cast<const char *>(&several), true);
}

/* The sum over these operands: loads of two at a time are in flight. */
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

/* Stores the decisions of a warp's neighbouring entries of the message, from the entry of lane 0 on. Lanes that share a
 * word combine it; a word may also have entries of other warps. decision: the words of the copy, 0 before. inside: the
 * lane has an entry, and so have all lanes before it. */
__device__ inline void staged_decide(uint32_t *decision, int bits, int64_t entry, bool inside, uint32_t choice) {
    const int lane = static_cast<int>(threadIdx.x % 32), at = static_cast<int>(entry * bits & 31);
    uint32_t word = inside ? choice << at : 0;
    for (int by = 1; by * bits < 32; by *= 2) {
        const uint32_t other = __shfl_down_sync(~0u, word, static_cast<unsigned>(by));
        if (at + by * bits < 32) word |= other; /* beyond the warp it is the lane's own word */
    }
    if (word && (lane == 0 || at == 0)) atomicOr(decision + (entry * bits >> 5), word);
}

/* The operands that depend on the row. SINGLE: one, wide. PAIR: two, both wide. MIXED: two, the first wide, the second
 * with one entry for all of a word. OTHERS: up to three of any kind. */
enum StagedShape { STAGED_SINGLE, STAGED_PAIR, STAGED_MIXED, STAGED_OTHERS };

template <class Cell, int Height, StagedShape Shape>
__global__ void __launch_bounds__(staged_threads, staged_resident)
    eliminate_staged(const EliminationView e, const __grid_constant__ Staged p, int64_t ranges) {
    using Stored = typename Cell::Stored;
    using Sum = typename Cell::Sum;
    constexpr int bytes = static_cast<int>(sizeof(Stored));
    constexpr int varying = Shape == STAGED_SINGLE ? 1 : Shape == STAGED_OTHERS ? staged_varying : 2;
    GPUOPT_DYNAMIC_SHARED(char, staged_memory);
    __shared__ StagedShared shared;
    const int thread = static_cast<int>(threadIdx.x);
    uint16_t *calm = reinterpret_cast<uint16_t *>(staged_memory + staged_depth * p.stage_bytes);
    const int64_t range = blockIdx.x % ranges, first = p.tiles * range / ranges, last = p.tiles * (range + 1) / ranges;
    const int32_t copy = static_cast<int32_t>(blockIdx.x / ranges);
    staged_begin(e, p, shared, calm, bytes);
    if (thread >= staged_consumers) {
        staged_bring(e, p, shared, staged_memory, first, last, copy, bytes);
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
                    cell[r].take(sum, last_one, value);
                }
            }
            barrier_arrive_warp(&shared.empty[slot]);
            if (++slot == staged_depth) slot = 0, parity ^= 1;
        }
        if (!Cell::decides && !inside) continue;
        to += p.team_at[team] + entry;
        Stored *const message = static_cast<Stored *>(e.store) + to;
#pragma unroll
        for (int r = 0; r < Height; r++) {
            if (r >= rows) break; /* the same for a whole warp */
            if (inside) *reinterpret_cast<typename Cell::Word *>(message + p.row_at[r]) = cell[r].cost();
            if constexpr (Cell::decides)
                staged_decide(e.decision + p.decision + copy * p.decision_words, p.decision_bits,
                              to + p.row_at[r] - p.at - copy * p.copy_stride, inside, cell[r].choice);
        }
    }
}

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_STAGED_KERNEL_CUH */
