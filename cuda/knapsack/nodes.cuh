/* SPDX-License-Identifier: MIT
 *
 * Knapsack on the GPU: the place of the nodes, in device or in host memory, and moves between the two.
 */
#ifndef GPUOPT_CUDA_KNAPSACK_NODES_CUH
#define GPUOPT_CUDA_KNAPSACK_NODES_CUH

#include <cstdlib>

#include "../../gpuopt_impl/knapsack/cpu/step.h"
#include "handle.cuh"

namespace {

/* Enqueues a copy of `count` nodes between host and device arrays. step: 1 or -1, from the place of a node to the place
 * of the next. */
gpuopt_status knapsack_copy(const CudaKnapsack *k, const gpuopt__knapsack_pool &to, int64_t to_place,
                            const gpuopt__knapsack_pool &from, int64_t from_place, int64_t step, int64_t count) {
    const size_t nodes = static_cast<size_t>(count);
    if (count == 0) return GPUOPT_OK;
    if (step < 0) {
        to_place -= count - 1;
        from_place -= count - 1;
    }
    const char *what = "copying knapsack nodes";
    gpuopt_status status =
        k->queue.copy(to.residual + to_place, from.residual + from_place, nodes * sizeof(int64_t), what);
    if (!status) status = k->queue.copy(to.profit + to_place, from.profit + from_place, nodes * sizeof(uint64_t), what);
    if (!status)
        status = k->queue.copy(to.decisions + to_place, from.decisions + from_place, nodes * sizeof(uint32_t), what);
    return status;
}

/* Moves a search's only list between device and host memory. */
gpuopt_status knapsack_move(CudaKnapsack *k, gpuopt__knapsack_search *s, bool to_host) {
    const int side = s->list[0].side, step = side ? -1 : 1;
    const int64_t from = gpuopt__knapsack_place(s, side, 0, 0);
    if (to_host) gpuopt__knapsack_use_host_pool(&k->head, s);
    else gpuopt__knapsack_use_own_pool(s);
    gpuopt_status status = knapsack_copy(k, to_host ? k->host_pool : k->pool, gpuopt__knapsack_place(s, side, 0, 0),
                                         to_host ? k->pool : k->host_pool, from, step, s->list[0].count);
    return status ? status : k->queue.wait("moving knapsack nodes");
}

/* Before a step: moves the nodes to the memory in which the step will be faster. */
gpuopt_status knapsack_settle(CudaKnapsack *k, gpuopt__knapsack_search *s) {
    if (s->depth != 1 || k->all_on_host || gpuopt__knapsack_is_common(s, &s->list[0])) return GPUOPT_OK;
    if (s->on_host) return s->list[0].count > knapsack_short ? knapsack_move(k, s, false) : GPUOPT_OK;
    return s->list[0].count <= knapsack_short / 2 && s->own_capacity >= k->head.host_capacity
               ? knapsack_move(k, s, true)
               : GPUOPT_OK;
}

/* Reads or writes (put) up to head.chunk nodes on the device through the window, which `visit` empties or fills. */
template <class Visit>
gpuopt_status knapsack_pass(CudaKnapsack *k, int64_t at, int step, int64_t count, bool put, Visit visit) {
    const int64_t low = at - (step < 0 ? count - 1 : 0);
    if (put) visit(k->window);
    gpuopt_status status = put ? knapsack_copy(k, k->pool, low, k->window, 0, 1, count)
                               : knapsack_copy(k, k->window, 0, k->pool, low, 1, count);
    if (!status) status = k->queue.wait("copying knapsack nodes");
    if (!put && !status) visit(k->window);
    return status;
}

bool knapsack_is_on_host(const CudaKnapsack *k, const gpuopt__knapsack_search *s) {
    return k->all_on_host || s->on_host;
}

gpuopt_status cuda_knapsack_get(gpuopt_knapsack *knapsack, const gpuopt__knapsack_search *s, int64_t at, int step,
                                int64_t count, gpuopt__knapsack_node *node) {
    CudaKnapsack *k = cuda_knapsack(knapsack);
    DeviceScope scope(knapsack->context);
    if (knapsack_is_on_host(k, s)) {
        gpuopt__knapsack_read(&k->host_pool, at, step, count, node);
        return GPUOPT_OK;
    }
    return knapsack_pass(k, at, step, count, false, [=](const gpuopt__knapsack_pool &window) {
        gpuopt__knapsack_read(&window, step < 0 ? count - 1 : 0, step, count, node);
    });
}

gpuopt_status cuda_knapsack_residuals(gpuopt_knapsack *knapsack, const gpuopt__knapsack_search *s, int64_t at,
                                      int64_t stride, int64_t count, int64_t *residual) {
    CudaKnapsack *k = cuda_knapsack(knapsack);
    DeviceScope scope(knapsack->context);
    if (knapsack_is_on_host(k, s)) {
        for (int64_t i = 0; i < count; i++) residual[i] = k->host_pool.residual[at + i * stride];
        return GPUOPT_OK;
    }
    const int64_t low = stride < 0 ? at + (count - 1) * stride : at;
    gpuopt_status status =
        k->queue.copy_lines(k->window.residual, sizeof *residual, k->pool.residual + low,
                            static_cast<size_t>(std::abs(stride)) * sizeof *residual, sizeof *residual,
                            static_cast<size_t>(count), "copying residual capacities of knapsack nodes");
    if (!status) status = k->queue.wait("copying residual capacities of knapsack nodes");
    for (int64_t i = 0; i < count; i++) residual[stride < 0 ? count - 1 - i : i] = k->window.residual[i];
    return status;
}

gpuopt_status cuda_knapsack_put(gpuopt_knapsack *knapsack, const gpuopt__knapsack_search *s, int64_t at, int step,
                                int64_t count, const gpuopt__knapsack_node *node) {
    CudaKnapsack *k = cuda_knapsack(knapsack);
    DeviceScope scope(knapsack->context);
    if (knapsack_is_on_host(k, s)) {
        gpuopt__knapsack_store(&k->host_pool, at, step, count, node);
        return GPUOPT_OK;
    }
    return knapsack_pass(k, at, step, count, true, [=](const gpuopt__knapsack_pool &window) {
        gpuopt__knapsack_store(&window, step < 0 ? count - 1 : 0, step, count, node);
    });
}

/* Picks as many nodes at a time as there are free places between the two sides, and gathers them there. In place,
 * blocks, which run in any order, would overwrite nodes that others still have to read. */
gpuopt_status cuda_knapsack_pick(gpuopt_knapsack *knapsack, const gpuopt__knapsack_search *s,
                                 const gpuopt__knapsack_pick *pick, gpuopt__knapsack_node *node) {
    CudaKnapsack *k = cuda_knapsack(knapsack);
    DeviceScope scope(knapsack->context);
    if (knapsack_is_on_host(k, s)) {
        gpuopt__knapsack_pick_nodes(&k->host_pool, pick, node);
        return GPUOPT_OK;
    }
    const int64_t free = s->own_capacity - s->used[0] - s->used[1], first = gpuopt__knapsack_place(s, 0, s->used[0], 0);
    gpuopt__knapsack_pick p = *pick;
    gpuopt_status status = GPUOPT_OK;
    for (int64_t done = 0; done < pick->count && !status; done += p.count, p.before += p.count) {
        p.count = std::min(free, pick->count - done);
        p.to = p.step < 0 ? first + p.count - 1 : first;
        k->queue.launch(
            {std::min((p.count + KNAPSACK_THREADS - 1) / KNAPSACK_THREADS, knapsack_gather_blocks), KNAPSACK_THREADS},
            knapsack_gather, k->pool, p);
        status = k->queue.launched("picking knapsack nodes");
        if (status) break;
        status = node ? cuda_knapsack_get(knapsack, s, p.to, static_cast<int>(p.step), p.count, node + done)
                      : knapsack_copy(k, k->pool, pick->to + done * p.step, k->pool, p.to, p.step, p.count);
    }
    return status;
}

} // namespace

#endif /* GPUOPT_CUDA_KNAPSACK_NODES_CUH */
