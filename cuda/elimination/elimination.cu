/* SPDX-License-Identifier: MIT
 *
 * Elimination on the GPU. Start reading here: this file ends with the backend's table of functions, by which the public
 * calls (gpuopt_impl/elimination) reach the GPU.
 *
 * The plan has turned buckets into jobs: a job computes one message, message[o] = min over v of the sum of its tables
 * (gpuopt_impl/elimination/base/table.h). A call of elimination_run() receives jobs that do not depend on one another,
 * mostly the jobs of one level. It launches the most suitable kernel for each of them:
 *
 *   elimination_run() -> run_jobs()                        launch.cuh
 *     |
 *     |   question, asked in this order    decided in          when          answer "yes"
 *     |
 *     +-- is a table in host memory? ----- job.streamed        by the plan   run_chunks(), streaming.cuh: the job is
 *     |                                                                      cut into chunks, each a job for the
 *     |                                                                      questions 3 to 5
 *     +-- is it small? ------------------- runs_alone(),       at create     eliminate(), general_kernel.cuh, in one
 *     |                                    handle.cuh                        launch for all small jobs of the call
 *     +-- is it a min-plus product? ------ find_product(),     at create;    copy_operand() for some tables, then
 *     |                                    product_plan.cuh    chunks: here  multiply(), product_kernel.cuh
 *     +-- is it large, its tables cut ---- find_staged(),      at create;    eliminate_staged(), staged_kernel.cuh
 *     |   into regular segments?           staged_plan.cuh     chunks: here
 *     +-- any other ------------------------------------------------------- eliminate(), general_kernel.cuh
 *
 * Where messages are dropped, the job after a message's job finds the decisions for the value phase. If the staged
 * kernel suits the message's job (choose_deciding(), handle.cuh), one launch computes the message and the decisions,
 * and the message's own job is skipped. Otherwise decide(), value_phase.cuh, scans the tables again.
 *
 * Reasons: a product reuses loaded data and is limited by arithmetic. Other large jobs are limited by memory. The
 * staged kernel keeps the most bytes in flight, but needs sm_90, costs of at most 32 bits and few tables. The product
 * and the staged kernel only minimise and maximise integers. The general kernel takes every job: counts, doubles, 64
 * bits, log-sum-exp, any number of tables. Small jobs share a launch because a launch takes longer than such a job.
 *
 * Files:
 *   handle.cuh          the contents of a handle, its memory; which jobs are small, and the choice between the kernels
 *   create.cuh          create, load, destroy; which kernels are loaded
 *   kernels.cuh         the compiled kernels, by the widths and shapes that they are compiled for
 *   launch.cuh          launches of all three kernels
 *   general_kernel.cuh  the kernel for any job
 *   staged_plan.cuh     how a job is cut for the staged kernel (CPU)
 *   staged_kernel.cuh   tables come through shared memory in stages
 *   product_plan.cuh    which jobs are products, and the shape of their tiles (CPU)
 *   product_kernel.cuh  the batched min-plus product, and the copy of its operands
 *   streaming.cuh       the STREAM policy: tables in host memory
 *   packed.cuh          packed messages in device memory
 *   value_phase.cuh     the result of a slice, the assignment, bounds of a variable
 *   device.cuh          the plan as kernels see it, and the sum over the values of the eliminated variable
 *   digits.cuh          indices as mixed-radix numbers, on both sides
 *   tuning.cuh          every tuned number, with the measurement that set it
 *
 * Known limitation: find_product() compares a product with the general kernel, but the staged kernel takes many of
 * these jobs today.
 */
#include "../common/tables.cuh"
#include "create.cuh"
#include "launch.cuh"
#include "packed.cuh"

namespace {

gpuopt_status elimination_read(gpuopt_elimination *elimination, int32_t table, int32_t copy, int64_t first,
                               int64_t count, void *cost, uint64_t *counts) {
    CudaElimination *e = cuda_elimination(elimination);
    DeviceScope scope(e->head.context);
    const gpuopt__elimination_table &t = e->head.plan.table[table];
    int64_t from = copy * t.entries + first;
    const char *what = "copying a message to host memory";
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
    const gpuopt__elimination_table &t = e->head.plan.table[table];
    if (t.on_host) return GPUOPT_ERROR_UNSUPPORTED;
    *view = static_cast<const char *>(e->view.store) + (t.at + copy * t.entries) * e->cost_bytes();
    return GPUOPT_OK;
}

} // namespace

/* Without `place`: functions are loaded. */
#define GPUOPT__ELIMINATION_CUDA_TABLE(SET) \
    SET(plan, elimination_plan)             \
    SET(create, elimination_create)         \
    SET(destroy, elimination_destroy)       \
    SET(run, elimination_run)               \
    SET(finish, elimination_finish)         \
    SET(total, elimination_total)           \
    SET(load, elimination_load)             \
    SET(loaded, elimination_loaded)         \
    SET(condition, elimination_condition)   \
    SET(assign, elimination_assign)         \
    SET(bounds, elimination_bounds)         \
    SET(read, elimination_read)             \
    SET(view, elimination_view)             \
    SET(free_bytes, elimination_free_bytes) \
    SET(has_stream, 1)                      \
    SET(scan, elimination_scan)             \
    SET(unpack, elimination_unpack)         \
    SET(pack, elimination_pack)

GPUOPT__TABLE(gpuopt__elimination_backend, gpuopt__cuda_elimination, GPUOPT__ELIMINATION_CUDA_TABLE);
