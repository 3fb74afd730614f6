/* SPDX-License-Identifier: MIT
 *
 * Elimination on the GPU: results, and the backend's table.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_CALLS_CUH
#define GPUOPT_CUDA_ELIMINATION_CALLS_CUH

#include "launch.cuh"
#include "value_phase.cuh"

namespace {

gpuopt_status elimination_read(gpuopt_elimination *elimination, int32_t table, int32_t copy, int64_t first,
                               int64_t count, void *cost, uint64_t *counts) {
    CudaElimination *e = cuda_elimination(elimination);
    DeviceScope scope(e->head.context);
    const gpuopt__table &t = e->head.plan.table[table];
    int64_t from = copy * t.entries + first;
    const char *what = "copying a message to the host";
    gpuopt_status status = GPUOPT_OK;
    if (t.on_host) return stream_read(e->head.context, e->head.plan, e->tables, t, first, count, cost, counts);
    if (cost)
        status = e->queue.copy(cost, static_cast<char *>(e->view.store) + (t.at + from) * e->cost_bytes(),
                               static_cast<size_t>(count * e->cost_bytes()), what);
    if (!status && counts)
        status = e->queue.copy(counts, e->view.counts + t.count_at + from, static_cast<size_t>(count) * sizeof *counts,
                               what);
    return status ? status : e->queue.wait(what);
}

gpuopt_status elimination_view(gpuopt_elimination *elimination, int32_t table, int32_t copy, const void **view) {
    CudaElimination *e = cuda_elimination(elimination);
    const gpuopt__table &t = e->head.plan.table[table];
    if (t.on_host) return GPUOPT_ERROR_UNSUPPORTED;
    *view = static_cast<const char *>(e->view.store) + (t.at + copy * t.entries) * e->cost_bytes();
    return GPUOPT_OK;
}

const struct gpuopt__elimination_backend cuda_elimination_table = {1,
                                                                   elimination_free_bytes,
                                                                   elimination_size,
                                                                   elimination_create,
                                                                   elimination_destroy,
                                                                   elimination_load,
                                                                   elimination_loaded,
                                                                   elimination_condition,
                                                                   elimination_run,
                                                                   elimination_finish,
                                                                   elimination_total,
                                                                   elimination_assign,
                                                                   elimination_bounds,
                                                                   elimination_read,
                                                                   elimination_view};

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_CALLS_CUH */
