/* SPDX-License-Identifier: MIT
 *
 * Knapsack on the GPU: a step on the device, one launch.
 */
#ifndef GPUOPT_CUDA_KNAPSACK_STEPS_CUH
#define GPUOPT_CUDA_KNAPSACK_STEPS_CUH

#include "nodes.cuh"

namespace {

/* Waits for the launch just made, and reads its result. */
gpuopt_status knapsack_await(const CudaKnapsack *k, gpuopt__knapsack_found *found) {
    gpuopt_status status = k->queue.launched("launching a knapsack step");
    if (!status) status = k->queue.wait("waiting for a knapsack step");
    if (!status) *found = k->shared.found->found;
    return status;
}

/* The blocks of a launch with work for `needed`. */
unsigned knapsack_grid(const CudaKnapsack *k, int64_t needed) {
    return static_cast<unsigned>(std::min(needed, knapsack_blocks * cuda_of(k->head.context)->multiprocessors));
}

/* The blocks of a step that makes `children` children. */
Grid knapsack_grid_of(const CudaKnapsack *k, int64_t children) {
    return {knapsack_grid(k, (children + KNAPSACK_TILE - 1) / KNAPSACK_TILE), KNAPSACK_THREADS};
}

/* Prepares the words of the tiles for another launch: see KNAPSACK_EPOCHS in tile.cuh. */
gpuopt_status knapsack_next_epoch(CudaKnapsack *k) {
    k->epoch = (k->epoch + 1) % KNAPSACK_EPOCHS;
    if (k->epoch != 0) return GPUOPT_OK;
    k->epoch = 1; /* the counter has wrapped around, and words of the first epochs still exist */
    return k->queue.clear(k->shared.tile, 0, sizeof(uint64_t) * static_cast<size_t>(knapsack_tiles(k->head.pool)));
}

/* The arguments of a launch for a step. */
gpuopt_status knapsack_prepare(CudaKnapsack *k, const gpuopt__knapsack_search *s, const gpuopt__knapsack_job &job,
                               KnapsackStep *p) {
    gpuopt_status status = knapsack_next_epoch(k);
    if (status) return status;
    p->view = s->view;
    p->view.table = k->table;
    p->job = job;
    p->pool = k->pool;
    p->shared = k->shared;
    p->ratio = s->ratio;
    p->mark = reinterpret_cast<unsigned *>(k->mark);
    p->epoch = k->epoch << KNAPSACK_EPOCH;
    return GPUOPT_OK;
}

/* A step. mark: it only marks the children that stay. */
gpuopt_status knapsack_device_step(CudaKnapsack *k, const gpuopt__knapsack_search *s, const gpuopt__knapsack_job &job,
                                   bool mark, gpuopt__knapsack_found *found) {
    KnapsackStep p;
    gpuopt_status status = knapsack_prepare(k, s, job, &p);
    if (status) return status;
    const Grid grid = knapsack_grid_of(k, gpuopt__knapsack_children(&job));
    if (mark) k->queue.launch(grid, knapsack_expand<false, true>, p);
    else if (s->dominance) k->queue.launch(grid, knapsack_expand<true, false>, p);
    else k->queue.launch(grid, knapsack_expand<false, false>, p);
    return knapsack_await(k, found);
}

} // namespace

#endif /* GPUOPT_CUDA_KNAPSACK_STEPS_CUH */
