/* SPDX-License-Identifier: MIT
 *
 * Elimination on the GPU: results, and the backend's table.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_CUH
#define GPUOPT_CUDA_ELIMINATION_CUH

#include "launch.cuh"
#include "values.cuh"

namespace {

gpuopt_status elimination_finish(gpuopt_elimination *elimination, int64_t slice) {
    CudaElimination *e = cuda_elimination(elimination);
    DeviceScope scope(e->head.context);
    unsigned blocks = static_cast<unsigned>((static_cast<int64_t>(e->head.plan.copies) + 7) / 8);
    finish_slice<<<blocks, 256, 0, e->stream()>>>(e->view, slice);
    gpuopt_status status = e->check(cudaGetLastError(), "the result of an elimination");
    return status ? status : stream_join(e->head.context, e->head.plan, e->tables);
}

gpuopt_status elimination_total(gpuopt_elimination *elimination, int32_t copy, gpuopt__elimination_total *total) {
    CudaElimination *e = cuda_elimination(elimination);
    DeviceScope scope(e->head.context);
    gpuopt_status status = e->copy(total, e->view.total + copy, sizeof *total);
    return status ? status : e->wait();
}

gpuopt_status elimination_assign(gpuopt_elimination *elimination, int32_t copy, int32_t *value,
                                 gpuopt__elimination_total *cost) {
    CudaElimination *e = cuda_elimination(elimination);
    DeviceScope scope(e->head.context);
    size_t bytes = sizeof(int32_t) * static_cast<size_t>(e->head.plan.variables);
    gpuopt_status status = e->copy(e->view.value, value, bytes);
    int32_t depths = e->depths;
    if (!status && e->head.plan.host_store) { /* what is left is what the assignment costs */
        status = stream_assign(e->head.context, e->head.plan, e->tables, e->view, value);
        depths = 0;
    }
    if (status) return status;
    assign_values<<<1, value_threads, 0, e->stream()>>>(e->view, e->depth_list, e->depth_first, depths, copy,
                                                        e->domain);
    status = e->check(cudaGetLastError(), "the value phase");
    if (!status) status = e->copy(value, e->view.value, bytes);
    if (!status) status = e->copy(cost, e->view.total + e->head.plan.copies, sizeof *cost);
    return status ? status : e->wait();
}

gpuopt_status elimination_bounds(gpuopt_elimination *elimination, int32_t copy, int32_t variable, int32_t *value,
                                 gpuopt__elimination_total *bound) {
    CudaElimination *e = cuda_elimination(elimination);
    DeviceScope scope(e->head.context);
    int32_t values = e->head.plan.domain[variable];
    gpuopt_status status = e->copy(e->view.value, value, sizeof(int32_t) * static_cast<size_t>(e->head.plan.variables));
    if (status) return status;
    bound_values<<<static_cast<unsigned>((values + 7) / 8), 256, 0, e->stream()>>>(e->view, copy, variable, values);
    status = e->check(cudaGetLastError(), "the bounds of a variable");
    if (!status) status = e->copy(bound, e->view.bound, sizeof *bound * static_cast<size_t>(values));
    return status ? status : e->wait();
}

gpuopt_status elimination_read(gpuopt_elimination *elimination, int32_t table, int32_t copy, int64_t first,
                               int64_t count, void *cost, uint64_t *counts) {
    CudaElimination *e = cuda_elimination(elimination);
    DeviceScope scope(e->head.context);
    const gpuopt__elimination_table &t = e->head.plan.table[table];
    int64_t from = copy * t.entries + first;
    gpuopt_status status = GPUOPT_OK;
    if (t.on_host) return stream_read(e->head.context, e->head.plan, e->tables, t, first, count, cost, counts);
    if (cost)
        status = e->copy(cost, static_cast<char *>(e->view.store) + (t.at + from) * e->cost_bytes(),
                         static_cast<size_t>(count * e->cost_bytes()));
    if (!status && counts)
        status = e->copy(counts, e->view.counts + t.count_at + from, static_cast<size_t>(count) * sizeof *counts);
    return status ? status : e->wait();
}

gpuopt_status elimination_view(gpuopt_elimination *elimination, int32_t table, int32_t copy, const void **view) {
    CudaElimination *e = cuda_elimination(elimination);
    const gpuopt__elimination_table &t = e->head.plan.table[table];
    if (t.on_host) return GPUOPT_ERROR_UNSUPPORTED;
    *view = static_cast<const char *>(e->view.store) + (t.at + copy * t.entries) * e->cost_bytes();
    return GPUOPT_OK;
}

const struct gpuopt__elimination_backend cuda_elimination_table = {
    elimination_plan,   elimination_create, elimination_destroy, elimination_run,        elimination_finish,
    elimination_total,  elimination_load,   elimination_loaded,  elimination_condition,  elimination_assign,
    elimination_bounds, elimination_read,   elimination_view,    elimination_free_bytes, 1};

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_CUH */
