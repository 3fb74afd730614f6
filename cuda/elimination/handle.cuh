/* SPDX-License-Identifier: MIT
 *
 * Elimination on the GPU: the contents of a handle, and its memory. Also: which jobs are large enough for a separate
 * launch, and the choice of a kernel for each of these.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_HANDLE_CUH
#define GPUOPT_CUDA_ELIMINATION_HANDLE_CUH

#include "../../gpuopt_impl/elimination/backend.h"
#include "../common/queue.cuh"
#include "kernels.cuh"
#include "streaming.cuh"

namespace {

/* The jobs in an order in which they can run: by level, or as numbered. */
struct JobList {
    const int32_t *list; /* [jobs], device */
    const int64_t *ends; /* [jobs], device: running count of the blocks of jobs in shared launches, each included */
    int64_t *host_ends;  /* [jobs] the same in host memory */
};

/* The kernel of a job that runs alone, and how the job is cut for it; both NULL: the general kernel. For a job that
 * finds decisions, `staged` describes how the message's job is cut for a kernel that computes both at once; NULL:
 * decide(). */
struct JobChoice {
    const Product *product;
    const Staged *staged;
};

struct CudaElimination {
    gpuopt_elimination head;
    Queue queue;
    EliminationView view;
    JobList by_level, in_order;
    const int32_t *domain, *depth_list, *depth_first; /* device */
    int32_t depths;
    int64_t alone;     /* most blocks of a job with a separate launch */
    JobChoice *choice; /* [jobs] */
    Product *product;  /* [products] */
    Staged *staged;    /* [staged jobs] */
    bool has_staged;   /* the device's code has the staged kernel */
    int64_t scratch;   /* the first entry of the store for copies of operands */
    void *device;
    char *upload;       /* during create: the mirror of the plan, the functions' costs, their counts */
    TableStream tables; /* policy STREAM */

    int64_t cost_bytes() const { return head.plan.bits / 8; }
};

CudaElimination *cuda_elimination(gpuopt_elimination *e) { return reinterpret_cast<CudaElimination *>(e); }

gpuopt_status elimination_free_bytes(const gpuopt_context *context, uint64_t *bytes) {
    DeviceScope scope(context);
    size_t free_bytes = 0, all = 0;
    uint64_t unused = 0;
    /* Memory released by earlier handles returns to the context's pool, or to the device, once the stream has been
     * waited for. */
    cudaError_t error = cudaStreamSynchronize(cuda_of(context)->stream);
    if (!error) error = cudaMemGetInfo(&free_bytes, &all);
    if (!error) error = unused_in_pool(context, &unused);
    unused += free_bytes;
    *bytes = unused - unused / 64; /* some is lost to rounding, and kernels need local memory */
    return cuda_status(context, error, "asking for free memory");
}

/* Arrays of the plan for the device. During create a block of host memory has them as well, at the same offsets, so
 * that one copy sends all. */
struct PlanMirror {
    gpuopt__elimination_job *job;
    gpuopt__elimination_operand *operand;
    gpuopt__elimination_table *table;
    gpuopt__elimination_bucket *bucket;
    int64_t *digit, *stride, *ends_level, *ends_order;
    int32_t *first_bucket, *scope, *input, *order, *position, *root, *list_level, *list_order, *domain, *depth_list,
        *depth_first;
};

void cut_mirror(gpuopt__arena *arena, const gpuopt__elimination_plan &p, PlanMirror *m) {
    auto cut = [arena](auto *&to, int64_t count) {
        to = static_cast<std::remove_reference_t<decltype(to)>>(gpuopt__cut(arena, count, sizeof *to));
    };
    cut(m->job, p.jobs);
    cut(m->operand, p.operands);
    cut(m->table, p.tables);
    cut(m->bucket, p.buckets);
    cut(m->digit, p.digits);
    cut(m->stride, p.scopes);
    cut(m->ends_level, p.jobs);
    cut(m->ends_order, p.jobs);
    cut(m->first_bucket, static_cast<int64_t>(p.steps) + 2);
    cut(m->scope, p.scopes);
    cut(m->input, p.inputs);
    cut(m->order, p.steps);
    cut(m->position, p.variables);
    cut(m->root, p.roots);
    cut(m->list_level, p.jobs);
    cut(m->list_order, p.jobs);
    cut(m->domain, p.variables);
    cut(m->depth_list, p.steps);
    cut(m->depth_first, static_cast<int64_t>(p.steps) + 1);
}

/* Whether a job has a separate launch; other jobs of a call of elimination_run() share one. */
bool runs_alone(const gpuopt__elimination_job &job) {
    return job.streamed || job.decision_bits || job.rows > 1 || job.entries >= elimination_alone_entries ||
           static_cast<double>(job.entries) * job.values >= elimination_alone_from;
}

/* Chooses the kernel for a job that runs alone. pool: the array with its digits. operand: the operands of the plan;
 * NULL for a chunk, which is not in the plan. may_copy: operands may be copied first. has_staged: see CudaElimination.
 * product, staged: memory for the result; `product` may lie behind the last product if the job is none. */
JobChoice choose_kernel(const gpuopt_context *context, const gpuopt__elimination_plan &p,
                        const gpuopt__elimination_job &job, const int64_t *pool,
                        const gpuopt__elimination_operand *operand, bool may_copy, bool has_staged, Product *product,
                        Staged *staged) {
    const int multiprocessors = cuda_of(context)->multiprocessors;
    if (!is_narrow(p)) return {nullptr, nullptr};
    if (find_product(job, pool, p.copies, p.bits, p.forbidden, may_copy, multiprocessors, product))
        return {product, nullptr};
    if (has_staged && find_staged(job, operand, pool, p.copies, p.bits / 8, multiprocessors, nullptr, staged))
        return {nullptr, staged};
    return {nullptr, nullptr};
}

/* The same for the job of a message's decisions. message: the job before it. Not for doubles: their decisions follow
 * the order of the sums in the value phase, but the message's job may add up some functions beforehand. */
JobChoice choose_deciding(const gpuopt_context *context, const gpuopt__elimination_plan &p,
                          const gpuopt__elimination_job &message, const gpuopt__elimination_job &decisions,
                          bool has_staged, Staged *staged) {
    if (is_narrow(p) && has_staged &&
        find_staged(message, p.operand, p.digit, p.copies, p.bits / 8, cuda_of(context)->multiprocessors, &decisions,
                    staged))
        return {nullptr, staged};
    return {nullptr, nullptr};
}

/* The memory for the choices of all jobs. */
struct ChoiceCount {
    int32_t products, staged; /* numbers of jobs; some may need no place in `staged` after all */
    int64_t copies;           /* the most entries of operands that one job copies */
};

ChoiceCount count_choices(const gpuopt_context *context, const gpuopt__elimination_plan &p) {
    const int multiprocessors = cuda_of(context)->multiprocessors;
    ChoiceCount count = {0, 0, 0};
    Product product;
    for (int32_t k = 0; k < p.jobs; k++) {
        const gpuopt__elimination_job &job = p.job[k];
        if (!runs_alone(job) || job.streamed || !is_narrow(p)) continue;
        if (job.decision_bits) {
            count.staged += staged_is_tried(p.job[k - 1], p.copies, p.bits / 8, multiprocessors);
            continue;
        }
        if (find_product(job, p.digit, p.copies, p.bits, p.forbidden, p.may_copy != 0, multiprocessors, &product)) {
            const int64_t copies = product_copies(product);
            if (copies > count.copies) count.copies = copies;
            count.products++;
        } else count.staged += staged_is_tried(job, p.copies, p.bits / 8, multiprocessors);
    }
    return count;
}

/* Bytes of a partial assignment and its bounds, and how many of these fit: arrays in host memory go through the device
 * in such pieces. None if there are no bounds. */
int64_t bound_row_bytes(const gpuopt__elimination_plan &p, int32_t values) {
    return static_cast<int64_t>(sizeof(int64_t)) * values + static_cast<int64_t>(sizeof(int32_t)) * p.variables;
}

int64_t bound_bytes(const gpuopt__elimination_plan &p) {
    if (!p.keep || p.slices > 1 || p.host_store || p.semiring == GPUOPT_SEMIRING_LOG_SUM_EXP) return 0;
    const int64_t part = p.store / bound_piece_part * (p.bits / 8);
    const int64_t least = bound_piece_rows * bound_row_bytes(p, p.largest_domain);
    return std::max(least, std::min(part, bound_piece_bytes));
}

/* Cuts the device's block: the mirror of the plan, then the store, which begins with the functions' costs, and other
 * working arrays. copies: entries for copies of operands, from entry *scratch of the store on. base NULL: only counts
 * bytes. */
uint64_t cut_device(const gpuopt__elimination_plan &p, int64_t copies, void *base, EliminationView *v, TableStream *s,
                    PlanMirror *m, int64_t *scratch) {
    gpuopt__arena arena = {static_cast<char *>(base), 0};
    const int64_t bytes = p.bits / 8;
    cut_mirror(&arena, p, m);
    const uint64_t store = arena.used;
    v->store = gpuopt__cut(&arena, p.store, static_cast<size_t>(bytes));
    *scratch = static_cast<int64_t>(arena.used - store) / bytes;
    gpuopt__cut(&arena, copies, static_cast<size_t>(bytes));
    v->counts = static_cast<uint64_t *>(gpuopt__cut(&arena, p.counts, sizeof(uint64_t)));
    v->decision = static_cast<uint32_t *>(gpuopt__cut(&arena, p.decisions, sizeof(uint32_t)));
    v->offset =
        static_cast<int64_t *>(gpuopt__cut(&arena, static_cast<int64_t>(p.copies) * p.condition_rows, sizeof(int64_t)));
    v->total = static_cast<gpuopt__elimination_total *>(
        gpuopt__cut(&arena, p.copies + int64_t{1}, sizeof(gpuopt__elimination_total)));
    v->bad = static_cast<unsigned long long *>(gpuopt__cut(&arena, 1, sizeof(unsigned long long)));
    v->bound_piece = gpuopt__cut(&arena, bound_bytes(p), 1);
    v->value = static_cast<int32_t *>(gpuopt__cut(&arena, p.variables, sizeof(int32_t)));
    cut_stream_device(&arena, p, s);
    return arena.used;
}

/* The data sent to the device during create: offsets in CudaElimination::upload. The first two parts are adjacent on
 * the device, too. */
struct Upload {
    uint64_t costs, counts, bytes;
};

Upload cut_upload(const gpuopt__elimination_plan &p) {
    gpuopt__arena arena = {nullptr, 0};
    PlanMirror mirror;
    Upload u;
    cut_mirror(&arena, p, &mirror);
    u.costs = arena.used;
    u.counts = u.costs + static_cast<uint64_t>(p.function_store) * static_cast<uint64_t>(p.bits / 8);
    u.counts = (u.counts + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
    u.bytes = u.counts + sizeof(uint64_t) * static_cast<uint64_t>(p.function_counts);
    return u;
}

/* Cuts the block in host memory: the handle, then data that only the CPU needs. */
uint64_t cut_host(const gpuopt__elimination_plan &p, const ChoiceCount &count, void *base, CudaElimination *e) {
    gpuopt__arena arena = {static_cast<char *>(base), 0};
    gpuopt__cut(&arena, 1, sizeof *e);
    e->by_level.host_ends = static_cast<int64_t *>(gpuopt__cut(&arena, p.jobs, sizeof(int64_t)));
    e->in_order.host_ends = static_cast<int64_t *>(gpuopt__cut(&arena, p.jobs, sizeof(int64_t)));
    e->choice = static_cast<JobChoice *>(gpuopt__cut(&arena, p.jobs, sizeof(JobChoice)));
    e->product = static_cast<Product *>(gpuopt__cut(&arena, count.products, sizeof(Product)));
    e->staged = static_cast<Staged *>(gpuopt__cut(&arena, count.staged, sizeof(Staged)));
    cut_stream_host(&arena, p, &e->tables);
    return arena.used;
}

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_HANDLE_CUH */
