/* SPDX-License-Identifier: MIT
 *
 * Elimination on the GPU: launches of all kernels that compute jobs, and the choice between them. The picture in
 * elimination.cu shows the way of a job through this file.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_LAUNCH_CUH
#define GPUOPT_CUDA_ELIMINATION_LAUNCH_CUH

#include "general_kernel.cuh"
#include "handle.cuh"
#include "product_kernel.cuh"
#include "staged_kernel.cuh"

namespace {

constexpr int64_t elimination_most_blocks = INT32_MAX; /* of a launch */

/* ---- The product kernel ---- */

/* Copies the operands that are marked, and makes the product read the copies. scratch: the entry of the store where
 * the copies begin. */
template <class Stored>
gpuopt_status copy_operands(const Queue &queue, const EliminationView &view, const gpuopt__elimination_operand *operand,
                            int64_t scratch, Product *p) {
    const Product plain = *p;
    product_use_copies(p, scratch);
    for (int k = 0; k < p->operands; k++) {
        if (!p->copied[k]) continue;
        const int64_t most = copy_blocks * cuda_of(queue.context())->multiprocessors,
                      squares = p->copied[k] / copy_block_entries + 1;
        const unsigned blocks = static_cast<unsigned>(squares < most ? squares : most);
        const bool by_value = operand[p->operand[k]].value_stride == 1;
        queue.launch({blocks, copy_threads}, copy_operand<Stored>, view, plain, k, p->copy_at[k], by_value);
    }
    return queue.launched("copying a table");
}

template <class Stored, int Words, bool Packed>
gpuopt_status launch_product(const Queue &queue, const EliminationView &view, const Product &p) {
    auto kernel = multiply<Stored, Words, Packed>;
    const int threads = 32 * p.warps;
    const size_t bytes = product_bytes(p.warps, p.words, Packed, p.left, p.operands - p.left);
    int resident = 0;
    if (bytes > 32768) {
        gpuopt_status status = load_kernel(queue.context(), kernel);
        if (status) return status;
    }
    GPUOPT_CUDA(queue.context(), cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, bytes));
    int64_t blocks = p.row_tiles * p.column_tiles * p.total[PRODUCT_BATCH] * p.copies;
    const int64_t most = static_cast<int64_t>(resident) * cuda_of(queue.context())->multiprocessors;
    if (blocks > most) blocks = most;
    queue.launch({static_cast<unsigned>(blocks), static_cast<unsigned>(threads), bytes}, kernel, view, p);
    return queue.launched("an elimination");
}

template <class Stored, bool Packed>
gpuopt_status run_product(const Queue &queue, const EliminationView &view, const Product &p) {
    switch (p.words) {
    case 1: return launch_product<Stored, 1, Packed>(queue, view, p);
    case 2: return launch_product<Stored, 2, Packed>(queue, view, p);
    case 3: return launch_product<Stored, 3, Packed>(queue, view, p);
    case 4: return launch_product<Stored, 4, Packed>(queue, view, p);
    case 6: return launch_product<Stored, 6, Packed>(queue, view, p);
    default: return launch_product < Stored, Packed ? 6 : product_words, Packed > (queue, view, p); /* product_has() */
    }
}

/* A job for which find_product() returned true. Costs of 8 bits are always packed. operand: the plan's. scratch: the
 * entry of the store from which on product_copies() entries are free. */
inline gpuopt_status run_product(const Queue &queue, const EliminationView &view,
                                 const gpuopt__elimination_operand *operand, int64_t scratch, Product p) {
    gpuopt_status status = view.bits == 8    ? copy_operands<uint8_t>(queue, view, operand, scratch, &p)
                           : view.bits == 32 ? copy_operands<uint32_t>(queue, view, operand, scratch, &p)
                                             : copy_operands<uint16_t>(queue, view, operand, scratch, &p);
    return status            ? status
           : view.bits == 8  ? run_product<uint8_t, true>(queue, view, p)
           : view.bits == 32 ? run_product<uint32_t, false>(queue, view, p)
           : p.packed        ? run_product<uint16_t, true>(queue, view, p)
                             : run_product<uint16_t, false>(queue, view, p);
}

/* ---- The staged kernel ---- */

/* Whether the code that this device runs was compiled for sm_90 or later. A build for older devices also runs on new
 * ones, but its staged kernels are empty. */
bool staged_is_compiled(const gpuopt_context *context) {
    int version = 0;
    return code_version(context, eliminate_staged<StagedCell<uint32_t>, 9, STAGED_SINGLE>, &version) == GPUOPT_OK &&
           version >= 90;
}

template <class Cell, int Height, StagedShape Shape>
gpuopt_status launch_staged(const Queue &queue, const EliminationView &view, const Staged &p) {
    const size_t memory = staged_shared_bytes(p);
    auto kernel = eliminate_staged<Cell, Height, Shape>;
    gpuopt_status status = load_kernel(queue.context(), kernel);
    if (status) return status;
    const int64_t room = staged_resident * int64_t{cuda_of(queue.context())->multiprocessors} / p.copies;
    const int64_t ranges = room < 1 ? 1 : room < p.tiles ? room : p.tiles;
    queue.launch({static_cast<unsigned>(ranges * p.copies), staged_threads, memory}, kernel, view, p, ranges);
    return queue.launched("an elimination by stages");
}

template <class Cell, int Height>
gpuopt_status run_staged_rows(const Queue &queue, const EliminationView &view, const Staged &p) {
    const bool first_wide = p.wide & 1, second_wide = p.wide & 2;
    if (p.varying == 1 && first_wide) return launch_staged<Cell, Height, STAGED_SINGLE>(queue, view, p);
    if (p.varying == 2 && second_wide) return launch_staged<Cell, Height, STAGED_PAIR>(queue, view, p);
    if constexpr (Cell::pack > 1)
        if (p.varying == 2 && first_wide) return launch_staged<Cell, Height, STAGED_MIXED>(queue, view, p);
    return launch_staged<Cell, Height, STAGED_OTHERS>(queue, view, p);
}

template <class Cell>
gpuopt_status run_staged_cells(const Queue &queue, const EliminationView &view, const Staged &p) {
    if constexpr (Cell::pack > 1)
        return p.height == 10 ? run_staged_rows<Cell, 10>(queue, view, p) : run_staged_rows<Cell, 16>(queue, view, p);
    else
        return p.height == 9    ? run_staged_rows<Cell, 9>(queue, view, p)
               : p.height == 13 ? run_staged_rows<Cell, 13>(queue, view, p)
               : p.height == 16 ? run_staged_rows<Cell, 16>(queue, view, p)
                                : run_staged_rows<Cell, 27>(queue, view, p);
}

gpuopt_status run_staged(const Queue &queue, const EliminationView &view, const Staged &p) {
    if (view.bits == 32) return run_staged_cells<StagedCell<uint32_t>>(queue, view, p);
    if (view.bits == 16)
        return p.pack == 2 ? run_staged_cells<StagedWord<uint16_t>>(queue, view, p)
                           : run_staged_cells<StagedCell<uint16_t>>(queue, view, p);
    return p.pack == 4   ? run_staged_cells<StagedWord<uint8_t>>(queue, view, p)
           : p.pack == 2 ? run_staged_cells<StagedPair>(queue, view, p)
                         : run_staged_cells<StagedCell<uint8_t>>(queue, view, p);
}

/* ---- The general kernel ---- */

template <class Keep, int Rows, int Own>
gpuopt_status launch(const CudaElimination *e, const EliminationView &view, const int32_t *list, const int64_t *ends,
                     int64_t before, int count, int64_t blocks, int64_t most, int operands) {
    int near = operands < elimination_slab ? operands : elimination_slab;
    constexpr int held = Own <= elimination_held ? Own : 0;
    size_t slab = sizeof(uint32_t) * elimination_threads * static_cast<size_t>(near > held ? near - held : 0);
    auto kernel = eliminate<Keep, Rows, Own>;
    if (slab > 32768) {
        gpuopt_status status = load_kernel(e->head.context, kernel);
        if (status) return status;
    }
    for (int64_t first = 0; first < blocks; first += elimination_most_blocks) {
        const int64_t own = blocks - first < elimination_most_blocks ? blocks - first : elimination_most_blocks;
        e->queue.launch({static_cast<unsigned>(own), elimination_threads, slab}, kernel, view, list, ends, before,
                        count, most, first);
    }
    return e->queue.launched("an elimination");
}

/* One job in a launch of its own. */
template <class Keep, int Rows, int Own>
gpuopt_status launch_one(const CudaElimination *e, const EliminationView &view, const int32_t *list,
                         const gpuopt__elimination_job &job) {
    JobBlocks b = job_blocks(job, e->head.plan.copies, e->alone);
    int64_t blocks = static_cast<int64_t>(b.pieces) * b.ranges * e->head.plan.copies;
    return launch<Keep, Rows, Own>(e, view, list, nullptr, 0, 1, blocks, e->alone, job.operands);
}

/* A kernel compiled for the number of operands that depend on the row. */
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
    if (job.varying > elimination_held)
        return launch_one<Keep, elimination_rows, elimination_varying>(e, view, list, job);
    if (job.rows <= 5) return launch_rows<Keep, 5>(e, view, list, job);
    if (job.rows <= 8) return launch_rows<Keep, 8>(e, view, list, job);
    return launch_rows<Keep, elimination_rows>(e, view, list, job);
}

/* ---- Which kernel ---- */

template <class Keep>
gpuopt_status launch_alone(const CudaElimination *e, const EliminationView &view, const int32_t *list,
                           const gpuopt__elimination_job &job, const int64_t *pool,
                           const gpuopt__elimination_operand *operand) {
    if (job.rows == 1) return launch_one<Keep, 1, 0>(e, view, list, job);
    if constexpr (std::is_same<typename Keep::Sum, uint32_t>::value && !Keep::counted) {
        Staged staged;
        if (find_staged(job, operand, pool, e->head.plan.copies, sizeof(typename Keep::Stored),
                        cuda_of(e->head.context)->multiprocessors, &staged) &&
            staged_is_compiled(e->head.context))
            return run_staged(e->queue, view, staged);
        if (job.row_total == 0 && job.varying > 0 && job.varying <= elimination_varying &&
            job.operands - job.varying <= elimination_calm)
            return launch_held<Keep>(e, view, list, job);
    }
    return launch_one<Keep, elimination_rows, 0>(e, view, list, job);
}

/* A job that runs alone, or a chunk of one. pool: where its digits are. operand: the plan's, NULL for a chunk. product:
 * NULL if the job is not one. */
template <class Keep>
gpuopt_status launch_job(const CudaElimination *e, const EliminationView &view, const int32_t *list,
                         const gpuopt__elimination_job &job, const int64_t *pool,
                         const gpuopt__elimination_operand *operand, const Product *product) {
    if constexpr (std::is_same<typename Keep::Sum, uint32_t>::value && !Keep::counted)
        if (product) return run_product(e->queue, view, e->head.plan.operand, e->scratch, *product);
    return launch_alone<Keep>(e, view, list, job, pool, operand);
}

/* A chunk of a streamed job. The plan does not know it, so whether it is a product is decided here. */
template <class Keep>
gpuopt_status launch_chunk(const CudaElimination *e, const EliminationView &view, const int32_t *list,
                           const gpuopt__elimination_job &chunk, const int64_t *pool) {
    Product product;
    const bool found = find_plan_product(e->head.context, e->head.plan, chunk, pool, false, &product);
    return launch_job<Keep>(e, view, list, chunk, pool, nullptr, found ? &product : nullptr);
}

/* Jobs host_list[from .. to - 1]; list: the same on the device. Large ones are launched at once, small ones together at
 * the end. */
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
