/* SPDX-License-Identifier: MIT
 *
 * Packed messages in device memory: their checksum and the range of their costs, and the conversion from a table to a
 * message and back. Costs keep their width on the way out; on the way in each is converted to the handle's.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_PACKED_CUH
#define GPUOPT_CUDA_ELIMINATION_PACKED_CUH

#include <cub/block/block_reduce.cuh>

#include "create.cuh"

namespace {

constexpr int packed_threads = 256;

/* Enough blocks to keep the device busy; their threads advance in steps of the grid. */
int64_t packed_blocks(const gpuopt_context *context, int64_t items) {
    const int64_t most = static_cast<int64_t>(cuda_of(context)->multiprocessors) * 8;
    const int64_t blocks = (items + packed_threads - 1) / packed_threads;
    return blocks < 1 ? 1 : std::min(blocks, most);
}

/* ---- Scan ---- */

struct PackedJoin {
    __device__ gpuopt__elimination_scan operator()(const gpuopt__elimination_scan &a,
                                                   const gpuopt__elimination_scan &b) const {
        return {a.sum + b.sum, min(a.least, b.least), max(a.largest, b.largest), a.bad | b.bad};
    }
};

/* Adds to *result, initially {0, ~0, 0, 0}. */
__global__ void __launch_bounds__(packed_threads)
    scan_packed(const gpuopt__elimination_packed p, gpuopt_elimination_semiring semiring, int range,
                unsigned long long *result) {
    using Reduce =
        cub::BlockReduce<gpuopt__elimination_scan, packed_threads, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>;
    __shared__ typename Reduce::TempStorage reduce;
    const int64_t first = static_cast<int64_t>(blockIdx.x) * packed_threads + threadIdx.x;
    const int64_t stride = static_cast<int64_t>(gridDim.x) * packed_threads;
    const int64_t words = static_cast<int64_t>(p.parts.end / 8), rest = static_cast<int64_t>(p.parts.end % 8);
    const auto *word = reinterpret_cast<const uint64_t *>(p.bytes);
    gpuopt__elimination_scan s = {0, UINT64_MAX, 0, 0};
    for (int64_t k = first; k < words; k += stride)
        s.sum += gpuopt__elimination_mix(k == GPUOPT__ELIMINATION_PACKED_CHECKSUM / 8 ? 0 : word[k],
                                         static_cast<uint64_t>(k));
    if (first == 0 && rest)
        s.sum += gpuopt__elimination_mix(gpuopt__take_bytes(p.bytes + 8 * words, static_cast<int32_t>(rest)),
                                         static_cast<uint64_t>(words));
    if (range)
        for (int64_t k = first; k < p.info.entries; k += stride)
            gpuopt__elimination_scan_one(&s, p.info.type, semiring, p.limit,
                                         gpuopt__elimination_stored_cost(p.bytes + p.parts.cost, p.info.bits, k));
    s = Reduce(reduce).Reduce(s, PackedJoin());
    if (threadIdx.x > 0) return;
    atomicAdd(&result[0], static_cast<unsigned long long>(s.sum));
    atomicMin(&result[1], static_cast<unsigned long long>(s.least));
    atomicMax(&result[2], static_cast<unsigned long long>(s.largest));
    atomicMax(&result[3], static_cast<unsigned long long>(s.bad));
}

gpuopt_status elimination_scan(gpuopt_context *context, const gpuopt__elimination_packed *p,
                               gpuopt_elimination_semiring semiring, int range, gpuopt__elimination_scan *scan) {
    DeviceScope scope(context);
    const Queue queue(context);
    const unsigned long long none[4] = {0, ~0ull, 0, 0};
    unsigned long long found[4] = {};
    void *result;
    gpuopt_status status = load_kernels(context, scan_packed);
    if (!status) status = gpuopt__allocate(context, GPUOPT_DEVICE, sizeof none, &result);
    if (status) return status;
    status = queue.copy(result, none, sizeof none);
    queue.launch({packed_blocks(context, static_cast<int64_t>(p->parts.end / 8)), packed_threads}, scan_packed, *p,
                 semiring, range, static_cast<unsigned long long *>(result));
    if (!status) status = queue.launched("scanning a message");
    if (!status) status = queue.copy(found, result, sizeof found);
    if (!status) status = queue.wait("scanning a message");
    gpuopt__release(context, GPUOPT_DEVICE, result);
    *scan = {found[0], found[1], found[2], found[3]};
    return status;
}

/* ---- Out ---- */

__global__ void __launch_bounds__(packed_threads) negate_values(double *value, int64_t count) {
    const int64_t stride = static_cast<int64_t>(gridDim.x) * packed_threads;
    for (int64_t k = static_cast<int64_t>(blockIdx.x) * packed_threads + threadIdx.x; k < count; k += stride)
        value[k] = -value[k];
}

gpuopt_status elimination_pack(gpuopt_elimination *elimination, int32_t table, int32_t copy, void *cost, void *count) {
    CudaElimination *e = cuda_elimination(elimination);
    DeviceScope scope(e->head.context);
    const gpuopt__elimination_plan &p = e->head.plan;
    const gpuopt__elimination_table &t = p.table[table];
    const char *what = "packing a message";
    if (t.on_host) return GPUOPT_ERROR_UNSUPPORTED;
    gpuopt_status status =
        e->queue.copy(cost, static_cast<char *>(e->view.store) + (t.at + copy * t.entries) * e->cost_bytes(),
                      static_cast<size_t>(t.entries * e->cost_bytes()), what);
    if (!status && count)
        status = e->queue.copy(count, e->view.counts + t.count_at + copy * t.entries,
                               static_cast<size_t>(t.entries) * sizeof(uint64_t), what);
    if (status || p.type != GPUOPT_COST_DOUBLE || p.sign > 0) return status;
    status = load_kernels(e->head.context, negate_values);
    if (status) return status;
    e->queue.launch({packed_blocks(e->head.context, t.entries), packed_threads}, negate_values,
                    static_cast<double *>(cost), t.entries);
    return e->queue.launched(what);
}

/* ---- In ---- */

/* The digits of an entry of a message, the last one fastest, and their strides in the table. */
struct PackedDigits {
    int32_t count;
    int64_t size[GPUOPT__ELIMINATION_MOST_DIGITS], stride[GPUOPT__ELIMINATION_MOST_DIGITS];
};

/* Digits that are neighbours in the table, too, are merged. */
PackedDigits packed_digits(const gpuopt__elimination_plan &p, const gpuopt__elimination_table &t,
                           const gpuopt_elimination_function &f) {
    PackedDigits d = {};
    for (int32_t j = 0; j < f.arity; j++) {
        const int64_t size = p.domain[f.scope[j]];
        int32_t k = 0;
        if (size == 1) continue;
        while (p.scope[t.scope + k] != f.scope[j]) k++;
        const int64_t stride = p.stride[t.scope + k];
        if (d.count && d.stride[d.count - 1] == stride * size) {
            d.size[d.count - 1] *= size;
            d.stride[d.count - 1] = stride;
        } else {
            d.size[d.count] = size;
            d.stride[d.count++] = stride;
        }
    }
    return d;
}

/* The place of an entry in the table. Divisions of 32 bits take a fraction of the time. */
__device__ int64_t packed_place(const PackedDigits &d, int64_t entry) {
    int64_t to = 0;
    int j = d.count - 1;
    for (; j > 0 && entry > UINT32_MAX; j--) {
        to += entry % d.size[j] * d.stride[j];
        entry /= d.size[j];
    }
    auto low = static_cast<uint32_t>(entry);
    for (; j > 0; j--) {
        const auto size = static_cast<uint32_t>(d.size[j]);
        const uint32_t next = low / size;
        to += static_cast<int64_t>(low - next * size) * d.stride[j];
        low = next;
    }
    return d.count ? to + (entry > UINT32_MAX ? entry : static_cast<int64_t>(low)) * d.stride[0] : 0;
}

/* store, counts: the start of the table. shift: from the message's stored costs to the table's. */
template <class Stored>
__global__ void __launch_bounds__(packed_threads)
    unpack_costs(const gpuopt__elimination_packed p, const __grid_constant__ PackedDigits digits, Stored *store,
                 uint64_t *counts, uint64_t shift, uint64_t forbidden) {
    const int64_t stride = static_cast<int64_t>(gridDim.x) * packed_threads;
    for (int64_t k = static_cast<int64_t>(blockIdx.x) * packed_threads + threadIdx.x; k < p.info.entries; k += stride) {
        const uint64_t stored = gpuopt__elimination_stored_cost(p.bytes + p.parts.cost, p.info.bits, k);
        const int64_t to = packed_place(digits, k);
        store[to] = static_cast<Stored>(stored >= p.limit ? forbidden : min(stored + shift, forbidden));
        if (counts) counts[to] = gpuopt__elimination_take_word(p.bytes + p.parts.count + 8 * k);
    }
}

__global__ void __launch_bounds__(packed_threads)
    unpack_values(const gpuopt__elimination_packed p, const __grid_constant__ PackedDigits digits, double *store,
                  int sign) {
    const int64_t stride = static_cast<int64_t>(gridDim.x) * packed_threads;
    const auto *value = reinterpret_cast<const double *>(p.bytes + p.parts.cost);
    for (int64_t k = static_cast<int64_t>(blockIdx.x) * packed_threads + threadIdx.x; k < p.info.entries; k += stride)
        store[packed_place(digits, k)] = sign < 0 ? -value[k] : value[k];
}

template <class Stored>
gpuopt_status elimination_unpack_costs(CudaElimination *e, const gpuopt__elimination_table &t,
                                       const gpuopt__elimination_packed &message, const PackedDigits &digits) {
    gpuopt_status status = load_kernels(e->head.context, unpack_costs<Stored>);
    if (status) return status;
    e->queue.launch({packed_blocks(e->head.context, t.entries), packed_threads}, unpack_costs<Stored>, message, digits,
                    static_cast<Stored *>(e->view.store) + t.at, t.count_at < 0 ? nullptr : e->view.counts + t.count_at,
                    static_cast<uint64_t>(message.offset) - static_cast<uint64_t>(t.offset), e->head.plan.forbidden);
    return e->queue.launched("unpacking a message");
}

gpuopt_status elimination_unpack(gpuopt_elimination *elimination, int32_t table, const gpuopt_elimination_function *f,
                                 const gpuopt__elimination_packed *message) {
    CudaElimination *e = cuda_elimination(elimination);
    DeviceScope scope(e->head.context);
    const gpuopt__elimination_plan &p = e->head.plan;
    const gpuopt__elimination_table &t = p.table[table];
    const PackedDigits digits = packed_digits(p, t, *f);
    if (p.type != GPUOPT_COST_DOUBLE)
        return p.bits == 8    ? elimination_unpack_costs<uint8_t>(e, t, *message, digits)
               : p.bits == 16 ? elimination_unpack_costs<uint16_t>(e, t, *message, digits)
               : p.bits == 32 ? elimination_unpack_costs<uint32_t>(e, t, *message, digits)
                              : elimination_unpack_costs<uint64_t>(e, t, *message, digits);
    gpuopt_status status = load_kernels(e->head.context, unpack_values);
    if (status) return status;
    e->queue.launch({packed_blocks(e->head.context, t.entries), packed_threads}, unpack_values, *message, digits,
                    static_cast<double *>(e->view.store) + t.at, p.sign);
    return e->queue.launched("unpacking a message");
}

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_PACKED_CUH */
