/* SPDX-License-Identifier: MIT
 *
 * Elimination on the GPU: what a handle holds, its memory, and how it is filled.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_CREATE_CUH
#define GPUOPT_CUDA_ELIMINATION_CREATE_CUH

#include "../../gpuopt_impl/elimination/backend.h"
#include "kernel.cuh"
#include "split.cuh"
#include "stream.cuh"

namespace {

/* A job with fewer joined rows and entries shares its launch with others of its level. */
constexpr double elimination_alone_from = 524288;
constexpr int64_t elimination_alone_entries = 131072;
/* Blocks of a job that shares its launch, and of one that does not, a multiprocessor. */
constexpr int64_t elimination_shared_blocks = 1024;
constexpr int64_t elimination_blocks = 8;

/* The jobs in an order in which they can run: by level, or as given. */
struct JobList {
    const int32_t *list; /* [jobs], device */
    const int64_t *ends; /* [jobs], device: blocks of the shared launches up to each job */
    int64_t *host_ends;  /* [jobs] */
};

struct CudaElimination {
    gpuopt_elimination head;
    EliminationView view;
    JobList by_level, in_order;
    const int32_t *domain, *depth_list, *depth_first; /* device */
    int32_t depths;
    int64_t alone;          /* blocks of a job that has a launch of its own */
    const Product *product; /* of the jobs that are products */
    int32_t *product_of;    /* [jobs]: a job's, or -1 */
    int64_t scratch;        /* where in the store operands are copied to */
    void *device, *host;
    char *staged;          /* during create: the functions' part of the store, then of the counts */
    int64_t staged_counts; /* where the counts begin in it */
    TableStream tables;    /* STREAM */

    cudaStream_t stream() const { return cuda_of(head.context)->stream; }
    gpuopt_status check(cudaError_t error, const char *what) const { return cuda_status(head.context, error, what); }
    gpuopt_status copy(void *to, const void *from, size_t bytes) const {
        return check(bytes ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream()) : cudaSuccess,
                     "copying between host and device");
    }
    gpuopt_status wait() const { return check(cudaStreamSynchronize(stream()), "waiting for an elimination"); }
    int64_t cost_bytes() const { return head.plan.bits / 8; }
};

CudaElimination *cuda_elimination(gpuopt_elimination *e) { return reinterpret_cast<CudaElimination *>(e); }

uint64_t elimination_free_bytes(const gpuopt_context *context) {
    DeviceScope scope(context);
    size_t free_bytes = 0, all = 0;
    if (cudaMemGetInfo(&free_bytes, &all) != cudaSuccess) return 0;
    return free_bytes - free_bytes / 64; /* some is lost to rounding, and kernels need local memory */
}

/* Arrays of the plan that the device has too: the same cuts for the host's copy, which is sent at once. */
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

bool runs_alone(const gpuopt__elimination_job &job) {
    return job.streamed || job.rows > 1 || job.entries >= elimination_alone_entries ||
           static_cast<double>(job.entries) * job.values >= elimination_alone_from;
}

/* Whether a job is better computed as a product; chunks of a job are not in the plan, and copy nothing. */
bool find_plan_product(const gpuopt_context *context, const gpuopt__elimination_plan &p,
                       const gpuopt__elimination_job &job, const int64_t *pool, bool may_copy, Product *product) {
    return p.type == GPUOPT_COST_INT64 &&
           (p.semiring == GPUOPT_SEMIRING_MIN_SUM || p.semiring == GPUOPT_SEMIRING_MAX_SUM) &&
           find_product(job, pool, p.copies, p.bits, p.forbidden, may_copy, cuda_of(context)->multiprocessors, product);
}

/* The plan's products: how many, and the most entries that one copies. list, of: as in the handle, or NULL. */
struct ProductCount {
    int32_t products;
    int64_t copies;
};
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

/* The device's block: what is computed with, then the mirror at *mirror. copies: entries; *scratch: where in the store
 * there is room for them. */
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

/* Bytes of the functions' tables, of stored costs and with counts. */
uint64_t function_bytes(const gpuopt__elimination_plan &p, int64_t *costs) {
    *costs = p.function_store * (p.bits / 8);
    return static_cast<uint64_t>(*costs) + sizeof(uint64_t) * static_cast<uint64_t>(p.function_counts);
}

/* The host's block: the handle, the mirror at *mirror, and what only the host has. */
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

void sum_blocks(const gpuopt__elimination_plan &p, const int32_t *list, int64_t *ends) {
    int64_t sum = 0;
    for (int32_t k = 0; k < p.jobs; k++) {
        const gpuopt__elimination_job &job = p.job[list[k]];
        JobBlocks b = job_blocks(job, p.copies, elimination_shared_blocks);
        if (!runs_alone(job)) sum += static_cast<int64_t>(b.pieces) * b.ranges * p.copies;
        ends[k] = sum;
    }
}

/* Positions by how far they are from the root of their pseudo-tree: their values depend on those before alone. Returns
 * the number of depths. depth [steps]: scratch. */
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
    /* A position's depth stands where the device's values will be: the order of depth_first is all that lasts. */
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
    if (e->device) cudaStreamSynchronize(e->stream());
    stream_destroy(context, &e->tables);
    gpuopt__release(context, GPUOPT_HOST, e->staged);
    gpuopt__release(context, GPUOPT_DEVICE, e->device);
    gpuopt__release(context, GPUOPT_HOST, e);
}

gpuopt_status elimination_create(gpuopt_context *context, const gpuopt__elimination_plan *plan,
                                 gpuopt_elimination **elimination) {
    DeviceScope scope(context);
    const ProductCount count = find_products(context, *plan, nullptr, nullptr);
    CudaElimination draft = {};
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
        status = e->copy(static_cast<char *>(e->device) + mirror_at, host, mirror_bytes);
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
    gpuopt_status status = e->copy(e->view.store, e->staged, static_cast<size_t>(costs));
    if (!status) status = e->copy(e->view.counts, e->staged + costs, bytes - static_cast<size_t>(costs));
    if (!status) status = e->wait();
    gpuopt__release(e->head.context, GPUOPT_HOST, e->staged);
    e->staged = nullptr;
    return status;
}

gpuopt_status elimination_condition(gpuopt_elimination *elimination, const int64_t *offset) {
    CudaElimination *e = cuda_elimination(elimination);
    DeviceScope scope(e->head.context);
    const gpuopt__elimination_plan &p = e->head.plan;
    if (p.condition_rows == 0) return GPUOPT_OK;
    gpuopt_status status =
        e->copy(e->view.offset, offset,
                sizeof(int64_t) * static_cast<size_t>(p.copies) * static_cast<size_t>(p.condition_rows));
    return status ? status : e->wait(); /* the next slice writes where this one is copied from */
}

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_CREATE_CUH */
