/* SPDX-License-Identifier: MIT
 *
 * Elimination on the GPU: what a handle holds, its memory, how it is created and loaded. Also: which jobs are large
 * enough for a launch of their own, and which of these are products.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_HANDLE_CUH
#define GPUOPT_CUDA_ELIMINATION_HANDLE_CUH

#include "../../gpuopt_impl/elimination/backend.h"
#include "../common/queue.cuh"
#include "general_kernel.cuh"
#include "product_plan.cuh"
#include "streaming.cuh"

namespace {

/* The jobs in an order in which they can run: by level, or as numbered. */
struct JobList {
    const int32_t *list; /* [jobs], device */
    const int64_t *ends; /* [jobs], device: blocks of all jobs in shared launches, up to and including each */
    int64_t *host_ends;  /* [jobs] the same on the host */
};

struct CudaElimination {
    gpuopt_elimination head;
    Queue queue;
    EliminationView view;
    JobList by_level, in_order;
    const int32_t *domain, *depth_list, *depth_first; /* device */
    int32_t depths;
    int64_t alone;          /* blocks of a job that has a launch of its own, at most */
    const Product *product; /* [products] */
    int32_t *product_of;    /* [jobs] index in `product`, or -1 */
    int64_t scratch;        /* the entry of the store where copies of operands begin */
    void *device, *host;
    char *staged;          /* during create: costs of all functions, then their counts; sent by elimination_loaded() */
    int64_t staged_counts; /* offset of the counts */
    TableStream tables;    /* policy STREAM */

    int64_t cost_bytes() const { return head.plan.bits / 8; }
};

CudaElimination *cuda_elimination(gpuopt_elimination *e) { return reinterpret_cast<CudaElimination *>(e); }

uint64_t elimination_free_bytes(const gpuopt_context *context) {
    DeviceScope scope(context);
    size_t free_bytes = 0, all = 0;
    if (cudaMemGetInfo(&free_bytes, &all) != cudaSuccess) return 0;
    return free_bytes - free_bytes / 64; /* some is lost to rounding, and kernels need local memory */
}

/* Arrays of the plan that the device needs. The host block has them at the same offsets, so that one copy sends all. */
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

/* Whether a job has a launch of its own; other jobs of a call of elimination_run() share one. */
bool runs_alone(const gpuopt__elimination_job &job) {
    return job.streamed || job.rows > 1 || job.entries >= elimination_alone_entries ||
           static_cast<double>(job.entries) * job.values >= elimination_alone_from;
}

/* Whether a job is faster as a product. may_copy: its operands may be copied; not for chunks, which are not in the
 * plan. */
bool find_plan_product(const gpuopt_context *context, const gpuopt__elimination_plan &p,
                       const gpuopt__elimination_job &job, const int64_t *pool, bool may_copy, Product *product) {
    return p.type == GPUOPT_COST_INT64 &&
           (p.semiring == GPUOPT_SEMIRING_MIN_SUM || p.semiring == GPUOPT_SEMIRING_MAX_SUM) &&
           find_product(job, pool, p.copies, p.bits, p.forbidden, may_copy, cuda_of(context)->multiprocessors, product);
}

/* The products of a plan: their number, and the most entries that one of them copies. */
struct ProductCount {
    int32_t products;
    int64_t copies;
};
/* list, of: product and product_of of the handle, or NULL. */
ProductCount find_products(const gpuopt_context *context, const gpuopt__elimination_plan &p, Product *list,
                           int32_t *of) {
    ProductCount count = {0, 0};
    Product product;
    for (int32_t k = 0; k < p.jobs; k++) {
        const gpuopt__elimination_job &job = p.job[k];
        const bool found =
            runs_alone(job) && !job.streamed && find_plan_product(context, p, job, p.digit, p.may_copy != 0, &product);
        if (of) of[k] = found ? count.products : -1;
        if (!found) continue;
        if (list) list[count.products] = product;
        count.products++;
        const int64_t copies = product_copies(product);
        if (copies > count.copies) count.copies = copies;
    }
    return count;
}

/* Cuts the device's block: working arrays, then the mirror of the plan at offset *mirror_at. copies: entries for copies
 * of operands, which begin at entry *scratch of the store. base NULL: only counts bytes. */
uint64_t cut_device(const gpuopt__elimination_plan &p, int64_t copies, void *base, EliminationView *v, TableStream *s,
                    PlanMirror *m, uint64_t *mirror_at, int64_t *scratch) {
    gpuopt__arena arena = {static_cast<char *>(base), 0};
    const int64_t bytes = p.bits / 8;
    v->store = gpuopt__cut(&arena, p.store, static_cast<size_t>(bytes));
    *scratch = static_cast<int64_t>(arena.used) / bytes;
    gpuopt__cut(&arena, copies, static_cast<size_t>(bytes));
    v->counts = static_cast<uint64_t *>(gpuopt__cut(&arena, p.counts, sizeof(uint64_t)));
    v->offset =
        static_cast<int64_t *>(gpuopt__cut(&arena, static_cast<int64_t>(p.copies) * p.condition_rows, sizeof(int64_t)));
    v->total = static_cast<gpuopt__elimination_total *>(
        gpuopt__cut(&arena, p.copies + int64_t{1}, sizeof(gpuopt__elimination_total)));
    v->bound = static_cast<gpuopt__elimination_total *>(
        gpuopt__cut(&arena, p.largest_domain, sizeof(gpuopt__elimination_total)));
    v->value = static_cast<int32_t *>(gpuopt__cut(&arena, p.variables, sizeof(int32_t)));
    cut_stream_device(&arena, p, s);
    *mirror_at = arena.used;
    cut_mirror(&arena, p, m);
    return arena.used;
}

/* Bytes of all functions as stored. *costs: of their costs alone; the counts follow. */
uint64_t function_bytes(const gpuopt__elimination_plan &p, int64_t *costs) {
    *costs = p.function_store * (p.bits / 8);
    return static_cast<uint64_t>(*costs) + sizeof(uint64_t) * static_cast<uint64_t>(p.function_counts);
}

/* Cuts the host's block: the handle, the mirror at *mirror, then what only the host needs. */
uint64_t cut_host(const gpuopt__elimination_plan &p, int32_t products, uint64_t mirror_bytes, void *base,
                  CudaElimination *e, char **mirror, Product **product) {
    gpuopt__arena arena = {static_cast<char *>(base), 0};
    gpuopt__cut(&arena, 1, sizeof *e);
    *mirror = static_cast<char *>(gpuopt__cut(&arena, static_cast<int64_t>(mirror_bytes), 1));
    e->by_level.host_ends = static_cast<int64_t *>(gpuopt__cut(&arena, p.jobs, sizeof(int64_t)));
    e->in_order.host_ends = static_cast<int64_t *>(gpuopt__cut(&arena, p.jobs, sizeof(int64_t)));
    *product = static_cast<Product *>(gpuopt__cut(&arena, products, sizeof(Product)));
    e->product = *product;
    e->product_of = static_cast<int32_t *>(gpuopt__cut(&arena, p.jobs, sizeof(int32_t)));
    cut_stream_host(&arena, p, &e->tables);
    return arena.used;
}

/* Adds what a handle for a plan needs to the estimate. */
void elimination_plan(const gpuopt_context *context, const gpuopt__elimination_plan *plan, gpuopt_memory_plan *memory) {
    const ProductCount count = find_products(context, *plan, nullptr, nullptr);
    CudaElimination e;
    PlanMirror mirror;
    Product *product;
    char *at;
    uint64_t mirror_at,
        bytes = cut_device(*plan, count.copies, nullptr, &e.view, &e.tables, &mirror, &mirror_at, &e.scratch);
    int64_t costs;
    memory->device_bytes = bytes;
    memory->create_bytes += function_bytes(*plan, &costs) + 1;
    memory->host_bytes +=
        cut_host(*plan, count.products, bytes - mirror_at, nullptr, &e, &at, &product) + stream_host_bytes(*plan);
}

/* ---- Jobs ---- */

/* Fills host_ends of a JobList. */
void sum_blocks(const gpuopt__elimination_plan &p, const int32_t *list, int64_t *ends) {
    int64_t sum = 0;
    for (int32_t k = 0; k < p.jobs; k++) {
        const gpuopt__elimination_job &job = p.job[list[k]];
        JobBlocks b = job_blocks(job, p.copies, elimination_shared_blocks);
        if (!runs_alone(job)) sum += static_cast<int64_t>(b.pieces) * b.ranges * p.copies;
        ends[k] = sum;
    }
}

/* Sorts positions by their depth in the pseudo-tree: the values of one depth depend only on those of the depths before.
 * list [steps], first [steps + 1]: see assign_values(). depth [steps]: scratch. Returns the number of depths. */
int32_t sort_depths(const gpuopt__elimination_plan &p, int32_t *list, int32_t *first, int32_t *depth) {
    int32_t depths = 0;
    for (int32_t at = p.steps - 1; at >= 0; at--) {
        depth[at] = 0;
        for (int32_t b = p.first_bucket[at]; b < p.first_bucket[at + 1]; b++) {
            const gpuopt__elimination_table &t = p.table[p.bucket[b].message];
            for (int32_t k = 0; k < t.arity; k++) {
                int32_t above = p.position[p.scope[t.scope + k]];
                if (above < p.steps && depth[above] >= depth[at]) depth[at] = depth[above] + 1;
            }
        }
        if (depth[at] >= depths) depths = depth[at] + 1;
    }
    for (int32_t d = 0; d <= depths; d++) first[d] = 0;
    for (int32_t at = 0; at < p.steps; at++) first[depth[at] + 1]++;
    for (int32_t d = 0; d < depths; d++) first[d + 1] += first[d];
    for (int32_t at = 0; at < p.steps; at++) list[first[depth[at]]++] = at;
    for (int32_t d = depths; d > 0; d--) first[d] = first[d - 1];
    first[0] = 0;
    return depths;
}

void fill_mirror(CudaElimination *e, const gpuopt__elimination_plan &p, const PlanMirror &m) {
    auto fill = [](auto *to, const auto *from, int64_t count) {
        if (count) std::memcpy(to, from, sizeof *to * static_cast<size_t>(count));
    };
    fill(m.job, p.job, p.jobs);
    fill(m.operand, p.operand, p.operands);
    fill(m.table, p.table, p.tables);
    fill(m.bucket, p.bucket, p.buckets);
    fill(m.digit, p.digit, p.digits);
    fill(m.stride, p.stride, p.scopes);
    fill(m.ends_level, e->by_level.host_ends, p.jobs);
    fill(m.ends_order, e->in_order.host_ends, p.jobs);
    fill(m.first_bucket, p.first_bucket, static_cast<int64_t>(p.steps) + 2);
    fill(m.scope, p.scope, p.scopes);
    fill(m.input, p.input, p.inputs);
    fill(m.order, p.order, p.steps);
    fill(m.position, p.position, p.variables);
    fill(m.root, p.root, p.roots);
    fill(m.list_level, p.by_level, p.jobs);
    fill(m.list_order, p.in_order, p.jobs);
    fill(m.domain, p.domain, p.variables);
    /* list_order serves as scratch before it is filled. */
    e->depths = sort_depths(p, m.depth_list, m.depth_first, m.list_order);
    fill(m.list_order, p.in_order, p.jobs);
}

void set_view(CudaElimination *e, const gpuopt__elimination_plan &p, const PlanMirror &m) {
    EliminationView &v = e->view;
    v.job = m.job;
    v.operand = m.operand;
    v.digit = m.digit;
    v.table = m.table;
    v.bucket = m.bucket;
    v.first_bucket = m.first_bucket;
    v.scope = m.scope;
    v.input = m.input;
    v.order = m.order;
    v.position = m.position;
    v.root = m.root;
    v.stride = m.stride;
    v.forbidden = static_cast<int64_t>(p.forbidden);
    v.condition_rows = p.condition_rows;
    v.copies = p.copies;
    v.bits = p.bits;
    v.tables = p.tables;
    v.functions = p.first_message;
    v.roots = p.roots;
    v.type = p.type;
    v.semiring = p.semiring;
    e->by_level.list = m.list_level;
    e->by_level.ends = m.ends_level;
    e->in_order.list = m.list_order;
    e->in_order.ends = m.ends_order;
    e->domain = m.domain;
    e->depth_list = m.depth_list;
    e->depth_first = m.depth_first;
}

void elimination_destroy(gpuopt_elimination *elimination) {
    CudaElimination *e = cuda_elimination(elimination);
    gpuopt_context *context = e->head.context;
    DeviceScope scope(context);
    if (e->device) cudaStreamSynchronize(e->queue.stream());
    stream_destroy(context, &e->tables);
    gpuopt__release(context, GPUOPT_HOST, e->staged);
    gpuopt__release(context, GPUOPT_DEVICE, e->device);
    gpuopt__release(context, GPUOPT_HOST, e);
}

gpuopt_status elimination_create(gpuopt_context *context, const gpuopt__elimination_plan *plan,
                                 gpuopt_elimination **elimination) {
    DeviceScope scope(context);
    const ProductCount count = find_products(context, *plan, nullptr, nullptr);
    CudaElimination draft = CudaElimination();
    PlanMirror mirror;
    Product *product;
    char *host;
    uint64_t mirror_at;
    const uint64_t bytes =
        cut_device(*plan, count.copies, nullptr, &draft.view, &draft.tables, &mirror, &mirror_at, &draft.scratch);
    const uint64_t mirror_bytes = bytes - mirror_at;
    void *memory;
    gpuopt_status status = gpuopt__allocate(
        context, GPUOPT_HOST, cut_host(*plan, count.products, mirror_bytes, nullptr, &draft, &host, &product), &memory);
    if (status) return status;
    CudaElimination *e = new (memory) CudaElimination();
    e->head.context = context;
    e->queue = Queue(context);
    e->alone = elimination_blocks * cuda_of(context)->multiprocessors;
    cut_host(*plan, count.products, mirror_bytes, memory, e, &host, &product);
    find_products(context, *plan, product, e->product_of);
    sum_blocks(*plan, plan->by_level, e->by_level.host_ends);
    sum_blocks(*plan, plan->in_order, e->in_order.host_ends);
    gpuopt__arena arena = {host, 0};
    cut_mirror(&arena, *plan, &mirror);
    fill_mirror(e, *plan, mirror);
    status = gpuopt__allocate(context, GPUOPT_DEVICE, bytes, &e->device);
    if (!status) {
        cut_device(*plan, count.copies, e->device, &e->view, &e->tables, &mirror, &mirror_at, &e->scratch);
        set_view(e, *plan, mirror);
        status = e->queue.copy(static_cast<char *>(e->device) + mirror_at, host, mirror_bytes, "copying the plan");
    }
    if (!status) status = gpuopt__allocate(context, GPUOPT_HOST, function_bytes(*plan, &e->staged_counts) + 1, &memory);
    if (!status) e->staged = static_cast<char *>(memory);
    if (!status) status = stream_create(context, *plan, &e->tables);
    *elimination = &e->head;
    if (!status) return GPUOPT_OK;
    elimination_destroy(&e->head);
    return status;
}

gpuopt_status elimination_load(gpuopt_elimination *elimination, int32_t table, const void *cost,
                               const uint64_t *count) {
    CudaElimination *e = cuda_elimination(elimination);
    const gpuopt__elimination_table &t = e->head.plan.table[table];
    std::memcpy(e->staged + t.at * e->cost_bytes(), cost, static_cast<size_t>(t.entries * e->cost_bytes()));
    if (count)
        std::memcpy(e->staged + e->staged_counts + t.count_at * static_cast<int64_t>(sizeof *count), count,
                    static_cast<size_t>(t.entries) * sizeof *count);
    return GPUOPT_OK;
}

gpuopt_status elimination_loaded(gpuopt_elimination *elimination) {
    CudaElimination *e = cuda_elimination(elimination);
    DeviceScope scope(e->head.context);
    int64_t costs;
    const size_t bytes = function_bytes(e->head.plan, &costs);
    const char *what = "copying the functions";
    gpuopt_status status = e->queue.copy(e->view.store, e->staged, static_cast<size_t>(costs), what);
    if (!status) status = e->queue.copy(e->view.counts, e->staged + costs, bytes - static_cast<size_t>(costs), what);
    if (!status) status = e->queue.wait(what);
    gpuopt__release(e->head.context, GPUOPT_HOST, e->staged);
    e->staged = nullptr;
    return status;
}

gpuopt_status elimination_condition(gpuopt_elimination *elimination, const int64_t *offset) {
    CudaElimination *e = cuda_elimination(elimination);
    DeviceScope scope(e->head.context);
    const gpuopt__elimination_plan &p = e->head.plan;
    const char *what = "copying the condition";
    if (p.condition_rows == 0) return GPUOPT_OK;
    gpuopt_status status =
        e->queue.copy(e->view.offset, offset,
                      sizeof(int64_t) * static_cast<size_t>(p.copies) * static_cast<size_t>(p.condition_rows), what);
    return status ? status : e->queue.wait(what); /* the caller overwrites `offset` for the next slice */
}

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_HANDLE_CUH */
