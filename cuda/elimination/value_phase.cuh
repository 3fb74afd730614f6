/* SPDX-License-Identifier: MIT
 *
 * The work after the messages: the result of a slice, the value phase (an assignment), bounds of the values of a
 * variable. Small kernels, and the calls that launch them.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_VALUE_PHASE_CUH
#define GPUOPT_CUDA_ELIMINATION_VALUE_PHASE_CUH

#include "handle.cuh"

namespace {

/* Adds entry `at` of a table to a total. */
__device__ void add_entry(const EliminationView &e, const gpuopt__elimination_table &t, int64_t at,
                          gpuopt__elimination_total *total) {
    if (e.type == GPUOPT_COST_DOUBLE)
        total->value = gpuopt__add(total->value, static_cast<const double *>(e.store)[at]);
    else
        total->cost = gpuopt__elimination_clamped_sum(total->cost, gpuopt__elimination_stored_cost(e.store, e.bits, at),
                                                      static_cast<uint64_t>(e.forbidden));
    if (t.count_at >= 0)
        total->count = gpuopt__elimination_count_product(total->count, e.counts[t.count_at + at - t.at]);
}

/* Adds up the totals of the lanes of a warp; lane 0 receives the sum. */
__device__ void add_lanes(const EliminationView &e, gpuopt__elimination_total *total) {
    for (int half = 16; half > 0; half /= 2) {
        total->value = gpuopt__add(total->value, __shfl_down_sync(~0u, total->value, half));
        total->cost = gpuopt__elimination_clamped_sum(total->cost, __shfl_down_sync(~0u, total->cost, half),
                                                      static_cast<uint64_t>(e.forbidden));
        total->count = gpuopt__elimination_count_product(total->count, __shfl_down_sync(~0u, total->count, half));
    }
}

/* The sum of all root tables, one warp for each copy. */
__global__ void finish_slice(EliminationView e, int64_t slice) {
    int32_t copy = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (copy >= e.copies) return;
    gpuopt__elimination_total one = {0, 1, 0, slice};
    for (int k = threadIdx.x % 32; k < e.roots; k += 32) {
        const gpuopt__elimination_table &t = e.table[e.root[k]];
        int64_t at = t.at + (t.source == -1 ? 0 : copy * t.entries);
        if (t.condition >= 0) at += e.offset[static_cast<int64_t>(copy) * e.condition_rows + t.condition];
        add_entry(e, t, at, &one);
    }
    add_lanes(e, &one);
    if (threadIdx.x % 32) return;
    if (slice == 0) e.total[copy] = one;
    else gpuopt__elimination_add_slice(e.type, e.semiring, &e.total[copy], &one);
}

/* gpuopt__elimination_table_entry() by a whole warp, with `variable` at value 0. *step: the stride of that variable. */
__device__ int64_t warp_table_entry(const EliminationView &e, const gpuopt__elimination_table &t, int32_t copy,
                                    int32_t variable, int64_t *step) {
    int64_t at = 0, own = 0;
    for (int k = threadIdx.x % 32; k < t.arity; k += 32) {
        int32_t v = e.scope[t.scope + k];
        int64_t stride = e.stride[t.scope + k];
        if (v == variable) own = stride;
        else at += e.value[v] * stride;
    }
    for (int half = 16; half > 0; half /= 2) {
        at += __shfl_xor_sync(~0u, at, half);
        own += __shfl_xor_sync(~0u, own, half);
    }
    *step = own;
    return at + t.at + (t.source == -1 ? 0 : copy * t.entries);
}

/* Whether value va with total a is better than vb with b; of equal costs the smaller value is better. */
__device__ bool better(const EliminationView &e, const gpuopt__elimination_total &a, int32_t va,
                       const gpuopt__elimination_total &b, int32_t vb) {
    if (e.type == GPUOPT_COST_DOUBLE) return a.value < b.value || (a.value == b.value && va < vb);
    return a.cost < b.cost || (a.cost == b.cost && va < vb);
}

/* Gives the variable at a position its best value, given the values of the variables above it; by a whole warp. */
__device__ void assign_variable(const EliminationView &e, int32_t copy, int32_t position, int32_t values) {
    const int32_t variable = e.order[position], lane = threadIdx.x % 32;
    gpuopt__elimination_total least = {UINT64_MAX, 1, HUGE_VAL, 0};
    int32_t best = INT32_MAX;
    for (int32_t base = 0; base < values; base += 32) {
        gpuopt__elimination_total one = {0, 1, 0, 0};
        for (int b = e.first_bucket[position]; b < e.first_bucket[position + 1]; b++)
            for (int k = 0; k < e.bucket[b].inputs; k++) {
                const gpuopt__elimination_table &t = e.table[e.input[e.bucket[b].input + k]];
                int64_t step, at = warp_table_entry(e, t, copy, variable, &step);
                if (base + lane < values) add_entry(e, t, at + (base + lane) * step, &one);
            }
        if (base + lane < values && better(e, one, base + lane, least, best)) least = one, best = base + lane;
    }
    for (int half = 16; half > 0; half /= 2) {
        gpuopt__elimination_total other = {__shfl_xor_sync(~0u, least.cost, half), 1,
                                           __shfl_xor_sync(~0u, least.value, half), 0};
        int32_t v = __shfl_xor_sync(~0u, best, half);
        if (better(e, other, v, least, best)) least = other, best = v;
    }
    if (lane == 0) e.value[variable] = best;
}

/* The same from stored decisions. */
__device__ void look_up_variable(const EliminationView &e, int32_t copy, int32_t position) {
    const int32_t variable = e.order[position];
    const gpuopt__elimination_table &t = e.table[e.bucket[e.first_bucket[position]].message];
    int64_t step, entry = warp_table_entry(e, t, 0, variable, &step) - t.at;
    if (threadIdx.x % 32) return;
    e.value[variable] =
        t.decision_bits
            ? gpuopt__elimination_decision(e.decision + t.decision +
                                               copy * gpuopt__elimination_decision_words(t.entries, t.decision_bits),
                                           t.decision_bits, entry)
            : 0;
}

/* Finds the decisions of a message, a word in a thread: for each entry the first value with the least sum of the job's
 * operands, added up in their order. Works on four values at a time, which share the start of an entry in each
 * operand. */
__global__ void __launch_bounds__(decide_threads) decide(EliminationView e, int32_t number) {
    const gpuopt__elimination_job &job = e.job[number];
    const int32_t bits = job.decision_bits, per_word = 32 / bits,
                  all = job.tile_digits + job.row_digits + job.entry_digits;
    const int64_t words = gpuopt__elimination_decision_words(job.entries, bits), *size = e.digit + job.size,
                  *stride = e.digit + job.stride, *own = stride + static_cast<int64_t>(job.operands) * all;
    const uint64_t forbidden = static_cast<uint64_t>(e.forbidden);
    int32_t digit[GPUOPT__ELIMINATION_MOST_DIGITS];
    for (int64_t w = blockIdx.x * static_cast<int64_t>(decide_threads) + threadIdx.x; w < words * e.copies;
         w += static_cast<int64_t>(gridDim.x) * decide_threads) {
        const int32_t copy = static_cast<int32_t>(w / words);
        const int64_t first = w % words * per_word;
        uint32_t word = 0;
        for (int32_t i = 0; i < per_word && first + i < job.entries; i++) {
            gpuopt__elimination_total least = {UINT64_MAX, 1, HUGE_VAL, 0};
            int32_t best = INT32_MAX;
            for (int32_t j = 0; j < all; j++) digit[j] = static_cast<int32_t>((first + i) / own[j] % size[j]);
            for (int32_t base = 0; base < job.values; base += 4) {
                gpuopt__elimination_total one[4] = {{0, 1, 0, 0}, {0, 1, 0, 0}, {0, 1, 0, 0}, {0, 1, 0, 0}};
                for (int32_t k = 0; k < job.operands; k++) {
                    const gpuopt__elimination_operand &o = e.operand[job.operand + k];
                    int64_t at = operand_at(e, o, copy) + base * o.value_stride;
                    for (int32_t j = 0; j < all; j++) at += digit[j] * stride[static_cast<int64_t>(k) * all + j];
                    for (int32_t v = 0; v < 4 && base + v < job.values; v++, at += o.value_stride) {
                        if (e.type == GPUOPT_COST_DOUBLE)
                            one[v].value = gpuopt__add(one[v].value, static_cast<const double *>(e.store)[at]);
                        else
                            one[v].cost = gpuopt__elimination_clamped_sum(
                                one[v].cost, gpuopt__elimination_stored_cost(e.store, e.bits, at), forbidden);
                    }
                }
                for (int32_t v = 0; v < 4 && base + v < job.values; v++)
                    if (better(e, one[v], base + v, least, best)) least = one[v], best = base + v;
            }
            word |= static_cast<uint32_t>(best) << (i * bits);
        }
        e.decision[job.decision + w] = word;
    }
}

/* The value phase by one block: depth after depth of the pseudo-tree, one warp for each variable at a position
 * from .. to - 1; then, with from == 0, the cost of the assignment. list: positions by depth. first [depths + 1]: the
 * beginning of each depth in it. domain: of each variable. */
__global__ void __launch_bounds__(value_threads)
    assign_values(EliminationView e, const int32_t *list, const int32_t *first, int32_t depths, int32_t copy,
                  int32_t from, int32_t to, const int32_t *domain) {
    __shared__ gpuopt__elimination_total part[value_threads / 32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int32_t depth = 0; depth < depths; depth++) {
        for (int32_t k = first[depth] + warp; k < first[depth + 1]; k += value_threads / 32) {
            if (list[k] < from || list[k] >= to) continue;
            if (e.decides) look_up_variable(e, copy, list[k]);
            else assign_variable(e, copy, list[k], domain[e.order[list[k]]]);
        }
        __syncthreads();
    }
    if (from > 0) return;
    gpuopt__elimination_total sum = {0, 1, 0, 0};
    for (int32_t k = threadIdx.x; k < e.functions; k += value_threads)
        add_entry(e, e.table[k], gpuopt__elimination_table_entry(&e.table[k], e.scope, e.stride, e.value, copy), &sum);
    add_lanes(e, &sum);
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    if (warp > 0) return;
    sum = part[lane];
    add_lanes(e, &sum);
    if (lane == 0) e.total[e.copies] = sum;
}

/* Bounds of `values` values of a variable for each of many partial assignments. A group of `lanes` lanes (a power of
 * two, at most 32) works on one of these. The lanes share the tables common to all values, and have a value each. */
__global__ void __launch_bounds__(bound_threads)
    bound_values(EliminationView e, gpuopt__elimination_lookup q, const int32_t *domain, int32_t variables,
                 int32_t values, int32_t lanes, int sign) {
    const int32_t first = e.first_bucket[q.position], buckets = e.first_bucket[q.position + 1] - first;
    const int64_t *offset = e.offset + static_cast<int64_t>(q.copy) * e.condition_rows;
    const int32_t lane = threadIdx.x % lanes, rows = blockDim.x / lanes;
    for (int64_t base = static_cast<int64_t>(blockIdx.x) * rows; base < q.count;
         base += static_cast<int64_t>(gridDim.x) * rows) {
        const int64_t wanted = base + threadIdx.x / lanes;
        const int64_t row = wanted < q.count ? wanted : q.count - 1; /* the other lanes of a warp repeat the last row */
        const int32_t *value = q.value + row * variables;
        gpuopt__elimination_total common = {0, 1, 0, 0};
        int bad = 0;
        for (int32_t k = lane; k < (q.increase ? buckets : e.tables); k += lanes) {
            const gpuopt__elimination_table &t = e.table[q.increase ? e.bucket[first + k].message : k];
            if (!gpuopt__elimination_is_common(&t, q.position, q.increase)) continue;
            add_entry(
                e, t,
                gpuopt__elimination_partial_entry(&t, e.scope, e.stride, domain, offset, value, q.copy, t.fixed, &bad),
                &common);
        }
        for (int half = lanes / 2; half > 0; half /= 2) {
            common.value = gpuopt__add(common.value, __shfl_xor_sync(~0u, common.value, half));
            common.cost = gpuopt__elimination_clamped_sum(common.cost, __shfl_xor_sync(~0u, common.cost, half),
                                                          static_cast<uint64_t>(e.forbidden));
        }
        for (int32_t v = lane; v < values; v += lanes) {
            gpuopt__elimination_total own = {0, 1, 0, 0};
            for (int32_t b = first; b < first + buckets; b++)
                for (int32_t k = 0; k < e.bucket[b].inputs; k++) {
                    const gpuopt__elimination_table &t = e.table[e.input[e.bucket[b].input + k]];
                    add_entry(e, t,
                              gpuopt__elimination_partial_entry(&t, e.scope, e.stride, domain, offset, value, q.copy,
                                                                t.fixed + 1, &bad) +
                                  v * e.stride[t.scope + t.fixed],
                              &own);
                }
            if (wanted != row) continue;
            if (e.type == GPUOPT_COST_DOUBLE)
                q.bound_value[row * values + v] = gpuopt__elimination_bound_value(&q, own.value, common.value, sign);
            else
                q.bound[row * values + v] =
                    gpuopt__elimination_bound_cost(&q, own.cost, common.cost, static_cast<uint64_t>(e.forbidden), sign);
        }
        if (bad) atomicMin(e.bad, static_cast<unsigned long long>(row));
    }
}

/* ---- Calls ---- */

gpuopt_status elimination_finish(gpuopt_elimination *elimination, int64_t slice) {
    CudaElimination *e = cuda_elimination(elimination);
    DeviceScope scope(e->head.context);
    unsigned blocks = static_cast<unsigned>((static_cast<int64_t>(e->head.plan.copies) + 7) / 8);
    e->queue.launch({blocks, 256}, finish_slice, e->view, slice);
    gpuopt_status status = e->queue.launched("the result of an elimination");
    return status ? status : stream_join(e->head.context, e->head.plan, e->tables);
}

gpuopt_status elimination_total(gpuopt_elimination *elimination, int32_t copy, gpuopt__elimination_total *total) {
    CudaElimination *e = cuda_elimination(elimination);
    DeviceScope scope(e->head.context);
    gpuopt_status status = e->queue.copy(total, e->view.total + copy, sizeof *total);
    return status ? status : e->queue.wait("waiting for an elimination");
}

gpuopt_status elimination_assign(gpuopt_elimination *elimination, int32_t copy, int32_t from, int32_t to,
                                 int32_t *value, gpuopt__elimination_total *cost) {
    CudaElimination *e = cuda_elimination(elimination);
    DeviceScope scope(e->head.context);
    size_t bytes = sizeof(int32_t) * static_cast<size_t>(e->head.plan.variables);
    gpuopt_status status = e->queue.copy(e->view.value, value, bytes);
    int32_t depths = e->depths;
    if (!status && e->head.plan.host_store) { /* then only the cost of the assignment remains */
        status = stream_assign(e->head.context, e->head.plan, e->tables, e->view, value);
        depths = 0;
    }
    if (status) return status;
    e->queue.launch({1, value_threads}, assign_values, e->view, e->depth_list, e->depth_first, depths, copy, from, to,
                    e->domain);
    status = e->queue.launched("the value phase");
    if (!status) status = e->queue.copy(value, e->view.value, bytes);
    if (!status && from == 0) status = e->queue.copy(cost, e->view.total + e->head.plan.copies, sizeof *cost);
    return status ? status : e->queue.wait("waiting for an elimination");
}

/* Looks up bounds with arrays in device memory. */
gpuopt_status bounds_on_device(CudaElimination *e, const gpuopt__elimination_lookup &q, int64_t *bad) {
    const gpuopt__elimination_plan &p = e->head.plan;
    const int32_t values = p.domain[q.variable];
    unsigned long long found = 0;
    int32_t lanes = 1;
    while (lanes < 32 && lanes < values) lanes *= 2;
    const int64_t rows = bound_threads / lanes, most = 64 * static_cast<int64_t>(e->alone);
    const int64_t blocks = (q.count + rows - 1) / rows;
    gpuopt_status status = e->queue.clear(e->view.bad, 0xff, sizeof found);
    if (status) return status;
    e->queue.launch({blocks < most ? blocks : most, bound_threads}, bound_values, e->view, q, e->domain, p.variables,
                    values, lanes, p.sign);
    status = e->queue.launched("the bounds of a variable");
    if (!status) status = e->queue.copy(&found, e->view.bad, sizeof found);
    if (!status) status = e->queue.wait("waiting for bounds");
    *bad = found == ~0ull ? INT64_MAX : static_cast<int64_t>(found);
    return status;
}

/* Arrays in host memory go through device memory, a piece after the other. */
gpuopt_status elimination_bounds(gpuopt_elimination *elimination, gpuopt_memory_space where,
                                 const gpuopt__elimination_lookup *lookup, int64_t *bad) {
    CudaElimination *e = cuda_elimination(elimination);
    const gpuopt__elimination_plan &p = e->head.plan;
    DeviceScope scope(e->head.context);
    if (where == GPUOPT_DEVICE) return bounds_on_device(e, *lookup, bad);
    const int64_t values = p.domain[lookup->variable];
    const int64_t piece = std::min(bound_bytes(p) / bound_row_bytes(p, p.domain[lookup->variable]), lookup->count);
    gpuopt_status status = GPUOPT_OK;
    *bad = INT64_MAX;
    for (int64_t first = 0; first < lookup->count && !status && *bad == INT64_MAX; first += piece) {
        gpuopt__elimination_lookup q = *lookup;
        q.count = lookup->count - first < piece ? lookup->count - first : piece;
        q.bound = static_cast<int64_t *>(e->view.bound_piece);
        q.bound_value = static_cast<double *>(e->view.bound_piece);
        int32_t *value = reinterpret_cast<int32_t *>(q.bound + piece * values);
        q.value = value;
        const size_t cells = static_cast<size_t>(q.count) * static_cast<size_t>(values);
        status = e->queue.copy(value, lookup->value + first * p.variables,
                               sizeof *value * static_cast<size_t>(q.count) * static_cast<size_t>(p.variables));
        if (!status) status = bounds_on_device(e, q, bad);
        if (!status && *bad != INT64_MAX) *bad += first;
        if (!status && p.type == GPUOPT_COST_DOUBLE)
            status = e->queue.copy(lookup->bound_value + first * values, q.bound_value, sizeof(double) * cells);
        else if (!status) status = e->queue.copy(lookup->bound + first * values, q.bound, sizeof(int64_t) * cells);
        if (!status) status = e->queue.wait("waiting for bounds");
    }
    return status;
}

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_VALUE_PHASE_CUH */
