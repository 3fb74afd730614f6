/* SPDX-License-Identifier: MIT
 *
 * Elimination on the GPU: launches of the kernels that compute jobs. The diagram in elimination.cu shows the way of a
 * job through this file.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_LAUNCH_CUH
#define GPUOPT_CUDA_ELIMINATION_LAUNCH_CUH

#include "handle.cuh"

namespace {

constexpr int64_t elimination_most_blocks = INT32_MAX; /* of a launch */

/* ---- The product kernel ---- */

/* Copies the marked operands, and makes the product read the copies. */
gpuopt_status copy_operands(const CudaElimination *e, const EliminationView &view, Product *p) {
    const Product plain = *p;
    const CopyKernel kernel = copy_kernel(view.bits);
    product_use_copies(p, e->scratch);
    for (int k = 0; k < p->operands; k++) {
        if (!p->copied[k]) continue;
        const int64_t most = copy_blocks * cuda_of(e->head.context)->multiprocessors,
                      squares = p->copied[k] / copy_block_entries + 1;
        const bool by_value = e->head.plan.operand[p->operand[k]].value_stride == 1;
        e->queue.launch({squares < most ? squares : most, copy_threads}, kernel, view, plain, k, p->copy_at[k],
                        by_value);
    }
    return e->queue.launched("copying a table");
}

gpuopt_status launch_product(const CudaElimination *e, const EliminationView &view, Product p) {
    gpuopt_status status = copy_operands(e, view, &p);
    if (status) return status;
    const ProductKernel kernel = product_kernel(view.bits, p);
    const int threads = 32 * p.warps;
    const size_t bytes = product_bytes(p.warps, p.words, view.bits == 8 || p.packed, p.left, p.operands - p.left);
    int resident = 0;
    GPUOPT_CUDA(e->head.context, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, bytes));
    const int64_t blocks = p.row_tiles * p.column_tiles * p.total[PRODUCT_BATCH] * p.copies,
                  most = static_cast<int64_t>(resident) * cuda_of(e->head.context)->multiprocessors;
    e->queue.launch({blocks < most ? blocks : most, threads, bytes}, kernel, view, p);
    return e->queue.launched("an elimination");
}

/* ---- The staged kernel ---- */

gpuopt_status launch_staged(const CudaElimination *e, const EliminationView &view, const Staged &p) {
    const int64_t resident = staged_resident * int64_t{cuda_of(e->head.context)->multiprocessors} / p.copies;
    const int64_t ranges = resident < 1 ? 1 : resident < p.tiles ? resident : p.tiles;
    e->queue.launch({ranges * p.copies, staged_threads, staged_shared_bytes(p)}, staged_kernel(view.bits, p), view, p,
                    ranges);
    return e->queue.launched("an elimination by stages");
}

/* ---- The general kernel ---- */

gpuopt_status launch_general(const CudaElimination *e, const EliminationView &view, const GeneralKernel &general,
                             const int32_t *list, const int64_t *ends, int64_t before, int count, int64_t blocks,
                             int64_t most, int operands) {
    const int near = operands < elimination_slab ? operands : elimination_slab;
    const size_t slab =
        sizeof(uint32_t) * elimination_threads * static_cast<size_t>(near > general.held ? near - general.held : 0);
    for (int64_t first = 0; first < blocks; first += elimination_most_blocks) {
        const int64_t own = blocks - first < elimination_most_blocks ? blocks - first : elimination_most_blocks;
        e->queue.launch({own, elimination_threads, slab}, general.kernel, view, list, ends, before, count, most, first);
    }
    return e->queue.launched("an elimination");
}

/* ---- Decisions ---- */

/* Whether the job after a message's job finds its decisions in this pass and computes the message, too. */
bool next_does_both(const CudaElimination *e, int32_t number) {
    const gpuopt__elimination_plan &p = e->head.plan;
    return number + 1 < p.jobs && p.job[number + 1].decision_bits && e->choice[number + 1].staged &&
           p.bucket[p.job[number].bucket].pass == e->head.pass;
}

/* Together with the message, or by a thread for every word. */
gpuopt_status launch_decide(const CudaElimination *e, const gpuopt__elimination_job &job, int32_t number) {
    const int64_t words = gpuopt__elimination_decision_words(job.entries, job.decision_bits) * e->head.plan.copies;
    if (const Staged *both = e->choice[number].staged) {
        gpuopt_status status =
            e->queue.clear(e->view.decision + job.decision, 0, sizeof(uint32_t) * static_cast<size_t>(words));
        return status ? status : launch_staged(e, e->view, *both);
    }
    const int64_t blocks = (words + decide_threads - 1) / decide_threads;
    e->queue.launch({blocks < elimination_most_blocks ? blocks : elimination_most_blocks, decide_threads}, decide,
                    e->view, number);
    return e->queue.launched("the decisions of a message");
}

/* ---- Jobs ---- */

/* A job that runs alone, or a chunk of one. choice: the result of choose_kernel(). */
template <class Keep>
gpuopt_status launch_alone(const CudaElimination *e, const EliminationView &view, const int32_t *list,
                           const gpuopt__elimination_job &job, const JobChoice &choice) {
    if (choice.product) return launch_product(e, view, *choice.product);
    if (choice.staged) return launch_staged(e, view, *choice.staged);
    const JobBlocks b = job_blocks(job, e->head.plan.copies, e->alone);
    return launch_general(e, view, general_kernel<Keep>(job), list, nullptr, 0, 1,
                          static_cast<int64_t>(b.pieces) * b.ranges * e->head.plan.copies, e->alone, job.operands);
}

/* Runs a job with tables in host memory in chunks. The plan does not contain the chunks, so their kernels are chosen
 * here; _create has loaded them. */
template <class Keep>
gpuopt_status run_streamed(CudaElimination *e, const gpuopt__elimination_job &job) {
    return run_chunks(e->head.context, e->head.plan, &e->tables, e->view, job,
                      [e](const EliminationView &view, const int32_t *list, const gpuopt__elimination_job &chunk,
                          const int64_t *digits) {
                          Product product;
                          Staged staged;
                          const JobChoice choice = choose_kernel(e->head.context, e->head.plan, chunk, digits, nullptr,
                                                                 false, e->has_staged, &product, &staged);
                          return launch_alone<Keep>(e, view, list, chunk, choice);
                      });
}

/* Jobs host_list[from .. to - 1]; list: the same on the device. Large jobs are launched at once, small jobs together at
 * the end. */
template <class Keep>
gpuopt_status run_jobs(CudaElimination *e, const int32_t *host_list, const JobList &list, int32_t from, int32_t to) {
    const gpuopt__elimination_plan &p = e->head.plan;
    int64_t before = from ? list.host_ends[from - 1] : 0, blocks = list.host_ends[to - 1] - before;
    gpuopt_status status = GPUOPT_OK;
    int operands = 0;
    for (int32_t k = from; k < to && !status; k++) {
        const gpuopt__elimination_job &job = p.job[host_list[k]];
        if (job.streamed) status = run_streamed<Keep>(e, job);
        else if (job.decision_bits) status = launch_decide(e, job, host_list[k]);
        else if (next_does_both(e, host_list[k])) continue;
        else if (runs_alone(job)) status = launch_alone<Keep>(e, e->view, list.list + k, job, e->choice[host_list[k]]);
        else if (job.operands > operands) operands = job.operands;
    }
    if (status || blocks == 0) return status;
    return launch_general(e, e->view, shared_kernel<Keep>(), list.list + from, list.ends + from, before, to - from,
                          blocks, elimination_shared_blocks, operands);
}

gpuopt_status elimination_run(gpuopt_elimination *elimination, const int32_t *list, int32_t from, int32_t to) {
    CudaElimination *e = cuda_elimination(elimination);
    DeviceScope scope(e->head.context);
    const JobList &jobs = list == e->head.plan.by_level ? e->by_level : e->in_order;
    return with_keep(e->head.plan, [&](auto keep) { return run_jobs<decltype(keep)>(e, list, jobs, from, to); });
}

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_LAUNCH_CUH */
