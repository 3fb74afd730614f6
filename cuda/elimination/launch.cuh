/* SPDX-License-Identifier: MIT
 *
 * Elimination on the GPU: which kernel computes a job, and with how many blocks.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_LAUNCH_CUH
#define GPUOPT_CUDA_ELIMINATION_LAUNCH_CUH

#include "create.cuh"
#include "product.cuh"
#include "staged.cuh"

namespace {

constexpr int64_t elimination_most_blocks = INT32_MAX; /* of a launch */

template <class Keep, int Rows, int Own>
gpuopt_status launch(const CudaElimination *e, const EliminationView &view, const int32_t *list, const int64_t *ends,
                     int64_t before, int count, int64_t blocks, int64_t most, int operands) {
    int near = operands < elimination_slab ? operands : elimination_slab;
    constexpr int held = Own <= elimination_held ? Own : 0;
    size_t slab = sizeof(uint32_t) * elimination_threads * static_cast<size_t>(near > held ? near - held : 0);
    auto kernel = eliminate<Keep, Rows, Own>;
    if (slab > 32768)
        GPUOPT_CUDA(e->head.context,
                    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(sizeof(uint32_t) * elimination_threads * elimination_slab)));
    for (int64_t first = 0; first < blocks; first += elimination_most_blocks) {
        const int64_t own = blocks - first < elimination_most_blocks ? blocks - first : elimination_most_blocks;
        kernel<<<static_cast<unsigned>(own), elimination_threads, slab, e->stream()>>>(view, list, ends, before, count,
                                                                                       most, first);
    }
    return e->check(cudaGetLastError(), "an elimination");
}

/* A job with a launch of its own. */
template <class Keep, int Rows, int Own>
gpuopt_status launch_one(const CudaElimination *e, const EliminationView &view, const int32_t *list,
                         const gpuopt__elimination_job &job) {
    JobBlocks b = job_blocks(job, e->head.plan.copies, e->alone);
    int64_t blocks = static_cast<int64_t>(b.pieces) * b.ranges * e->head.plan.copies;
    return launch<Keep, Rows, Own>(e, view, list, nullptr, 0, 1, blocks, e->alone, job.operands);
}

/* Its kernel knows when it is compiled how many operands depend on the row. */
template <class Keep, int Rows>
gpuopt_status launch_rows(const CudaElimination *e, const EliminationView &view, const int32_t *list,
                          const gpuopt__elimination_job &job) {
    return job.varying == 1   ? launch_one<Keep, Rows, 1>(e, view, list, job)
           : job.varying == 2 ? launch_one<Keep, Rows, 2>(e, view, list, job)
                              : launch_one<Keep, Rows, 3>(e, view, list, job);
}

template <class Keep>
gpuopt_status launch_held(const CudaElimination *e, const EliminationView &view, const int32_t *list,
                          const gpuopt__elimination_job &job) {
    if (job.varying > elimination_held) return launch_one<Keep, elimination_rows, 6>(e, view, list, job);
    if (job.rows <= 5) return launch_rows<Keep, 5>(e, view, list, job);
    if (job.rows <= 8) return launch_rows<Keep, 8>(e, view, list, job);
    return launch_rows<Keep, elimination_rows>(e, view, list, job);
}

template <class Keep>
gpuopt_status launch_alone(const CudaElimination *e, const EliminationView &view, const int32_t *list,
                           const gpuopt__elimination_job &job, const int64_t *pool,
                           const gpuopt__elimination_operand *operand) {
    if (job.rows == 1) return launch_one<Keep, 1, 0>(e, view, list, job);
    if constexpr (std::is_same<typename Keep::Sum, uint32_t>::value && !Keep::counted) {
        Staged staged;
        if (find_staged(job, operand, pool, e->head.plan.copies, sizeof(typename Keep::Stored),
                        cuda_of(e->head.context)->multiprocessors, &staged) &&
            staged_is_compiled())
            return run_staged(e->head.context, view, staged);
        if (job.row_total == 0 && job.varying > 0 && job.varying <= 6 && job.operands - job.varying <= 4)
            return launch_held<Keep>(e, view, list, job);
    }
    return launch_one<Keep, elimination_rows, 0>(e, view, list, job);
}

/* A job that runs alone, or a chunk of one. pool: where its digits are; product: NULL if it is none. */
template <class Keep>
gpuopt_status launch_job(const CudaElimination *e, const EliminationView &view, const int32_t *list,
                         const gpuopt__elimination_job &job, const int64_t *pool,
                         const gpuopt__elimination_operand *operand, const Product *product) {
    if constexpr (std::is_same<typename Keep::Sum, uint32_t>::value && !Keep::counted)
        if (product) return run_product(e->head.context, view, e->head.plan.operand, e->scratch, *product);
    return launch_alone<Keep>(e, view, list, job, pool, operand);
}

/* A chunk of a streamed job, which is in no plan. */
template <class Keep>
gpuopt_status launch_chunk(const CudaElimination *e, const EliminationView &view, const int32_t *list,
                           const gpuopt__elimination_job &chunk, const int64_t *pool) {
    Product product;
    const bool found = find_plan_product(e->head.context, e->head.plan, chunk, pool, false, &product);
    return launch_job<Keep>(e, view, list, chunk, pool, nullptr, found ? &product : nullptr);
}

template <class Keep>
gpuopt_status run_jobs(CudaElimination *e, const int32_t *host_list, const JobList &list, int32_t from, int32_t to) {
    const gpuopt__elimination_plan &p = e->head.plan;
    int64_t before = from ? list.host_ends[from - 1] : 0, blocks = list.host_ends[to - 1] - before;
    gpuopt_status status = GPUOPT_OK;
    int operands = 0;
    for (int32_t k = from; k < to && !status; k++) {
        const gpuopt__elimination_job &job = p.job[host_list[k]];
        if (job.streamed)
            status =
                run_chunks(e->head.context, p, &e->tables, e->view, job,
                           [e](const EliminationView &view, const int32_t *own, const gpuopt__elimination_job &chunk,
                               const int64_t *pool) { return launch_chunk<Keep>(e, view, own, chunk, pool); });
        else if (runs_alone(job)) {
            const int32_t of = e->product_of[host_list[k]];
            status = launch_job<Keep>(e, e->view, list.list + k, job, p.digit, p.operand,
                                      of < 0 ? nullptr : e->product + of);
        } else if (job.operands > operands) operands = job.operands;
    }
    if (status || blocks == 0) return status;
    return launch<Keep, 1, 0>(e, e->view, list.list + from, list.ends + from, before, to - from, blocks,
                              elimination_shared_blocks, operands);
}

gpuopt_status elimination_run(gpuopt_elimination *elimination, const int32_t *list, int32_t from, int32_t to) {
    CudaElimination *e = cuda_elimination(elimination);
    DeviceScope scope(e->head.context);
    const gpuopt__elimination_plan &p = e->head.plan;
    const JobList &jobs = list == p.by_level ? e->by_level : e->in_order;
    auto run = [&](auto keep) { return run_jobs<decltype(keep)>(e, list, jobs, from, to); };
    if (p.semiring == GPUOPT_SEMIRING_LOG_SUM_EXP) return run(LogSum());
    if (p.type == GPUOPT_COST_DOUBLE) return run(LeastValue());
    if (p.semiring == GPUOPT_SEMIRING_MIN_COUNT)
        return p.bits == 8    ? run(Counted<LeastNarrow<uint8_t>>())
               : p.bits == 16 ? run(Counted<LeastNarrow<uint16_t>>())
               : p.bits == 32 ? run(Counted<LeastNarrow<uint32_t>>())
                              : run(Counted<LeastWide>());
    return p.bits == 8    ? run(LeastNarrow<uint8_t>())
           : p.bits == 16 ? run(LeastNarrow<uint16_t>())
           : p.bits == 32 ? run(LeastNarrow<uint32_t>())
                          : run(LeastWide());
}

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_LAUNCH_CUH */
