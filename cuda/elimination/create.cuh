/* SPDX-License-Identifier: MIT
 *
 * Elimination on the GPU: creating a handle, loading its functions, and the plan of its memory.
 *
 * _create sends the plan and the functions to the device in one copy, and does not wait for it. It loads only the
 * kernels that the handle's jobs need. At their first loading in a process this takes most of a millisecond, later less
 * than a microsecond for each kernel.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_CREATE_CUH
#define GPUOPT_CUDA_ELIMINATION_CREATE_CUH

#include "value_phase.cuh"

namespace {

/* Adds the memory of a handle for a plan to the estimate. */
void elimination_plan(const gpuopt_context *context, const gpuopt__elimination_plan *plan, gpuopt_memory_plan *memory) {
    const ChoiceCount count = count_choices(context, *plan);
    CudaElimination e;
    PlanMirror mirror;
    memory->device_bytes = cut_device(*plan, count.copies, nullptr, &e.view, &e.tables, &mirror, &e.scratch);
    memory->create_bytes += cut_upload(*plan).bytes;
    memory->host_bytes += cut_host(*plan, count, nullptr, &e) + stream_host_bytes(*plan);
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

/* Sorts positions by their depth in the pseudo-tree: the values of one depth depend only on the depths before. list
 * [steps], first [steps + 1]: see assign_values(). depth [steps]: scratch. Returns the number of depths. */
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

/* Chooses the kernels of all jobs that run alone. */
void choose_kernels(CudaElimination *e, const gpuopt__elimination_plan &p) {
    Product *product = e->product;
    Staged *staged = e->staged;
    for (int32_t k = 0; k < p.jobs; k++) {
        JobChoice &choice = e->choice[k];
        choice = {nullptr, nullptr};
        if (!runs_alone(p.job[k]) || p.job[k].streamed) continue;
        choice = p.job[k].decision_bits
                     ? choose_deciding(e->head.context, p, p.job[k - 1], p.job[k], e->has_staged, staged)
                     : choose_kernel(e->head.context, p, p.job[k], p.digit, p.operand, p.may_copy != 0, e->has_staged,
                                     product, staged);
        product += choice.product != nullptr;
        staged += choice.staged != nullptr;
    }
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
    v.decides = p.decides;
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

/* ---- Kernels ---- */

/* Loads kernels, each once. */
class KernelLoader {
  public:
    explicit KernelLoader(const gpuopt_context *context) : context_(context) {}

    template <class Kernel>
    gpuopt_status load(Kernel kernel) {
        const auto same = reinterpret_cast<const void *>(kernel);
        for (int k = 0; k < count_; k++)
            if (seen_[k] == same) return GPUOPT_OK;
        if (count_ < most) seen_[count_++] = same;
        return load_kernels(context_, kernel);
    }

  private:
    enum { most = 64 }; /* more than the kernels for one width of costs */
    const gpuopt_context *context_;
    const void *seen_[most];
    int count_ = 0;
};

/* The kernels of a job that runs alone, or of a chunk. */
template <class Keep>
gpuopt_status load_alone(KernelLoader *loader, int32_t bits, const gpuopt__elimination_job &job,
                         const JobChoice &choice) {
    if (choice.staged) return loader->load(staged_kernel(bits, *choice.staged));
    if (!choice.product) return loader->load(general_kernel<Keep>(job).kernel);
    gpuopt_status status = product_copies(*choice.product) ? loader->load(copy_kernel(bits)) : GPUOPT_OK;
    return status ? status : loader->load(product_kernel(bits, *choice.product));
}

/* All kernels that the handle may launch. */
template <class Keep>
gpuopt_status load_all(CudaElimination *e, const gpuopt__elimination_plan &p) {
    const gpuopt_context *context = e->head.context;
    KernelLoader loader(context);
    gpuopt_status status = load_kernels(context, finish_slice, assign_values, bound_values);
    if (!status && p.host_store) status = load_kernels(context, put_piece, gather_bucket);
    if (!status && p.decides) status = load_kernels(context, decide);
    for (int32_t k = 0; k < p.jobs && !status; k++) {
        const gpuopt__elimination_job &job = p.job[k];
        if (job.streamed)
            status =
                for_chunk_shapes(p, &e->tables, job, [&](const gpuopt__elimination_job &chunk, const int64_t *digits) {
                    Product product;
                    Staged staged;
                    return load_alone<Keep>(
                        &loader, p.bits, chunk,
                        choose_kernel(context, p, chunk, digits, nullptr, false, e->has_staged, &product, &staged));
                });
        else if (job.decision_bits)
            status = e->choice[k].staged ? loader.load(staged_kernel(p.bits, *e->choice[k].staged)) : GPUOPT_OK;
        else if (runs_alone(job)) status = load_alone<Keep>(&loader, p.bits, job, e->choice[k]);
        else status = loader.load(shared_kernel<Keep>().kernel);
    }
    return status;
}

/* Whether the code that this device runs has the staged kernel: a build for older devices also runs on new devices, but
 * its staged kernel is empty. All kernels of this file are compiled for the same architectures. */
gpuopt_status find_code(const gpuopt_context *context, bool *has_staged) {
    int version;
    gpuopt_status status = code_version(context, finish_slice, &version);
    *has_staged = !status && version >= 90;
    return status;
}

/* ---- Life ---- */

void elimination_destroy(gpuopt_elimination *elimination) {
    CudaElimination *e = cuda_elimination(elimination);
    gpuopt_context *context = e->head.context;
    DeviceScope scope(context);
    if (e->device) e->queue.wait("waiting for an elimination");
    stream_destroy(context, &e->tables);
    gpuopt__release(context, GPUOPT_HOST, e->upload);
    gpuopt__release(context, GPUOPT_DEVICE, e->device);
    gpuopt__release(context, GPUOPT_HOST, e);
}

/* Allocates the memory, prepares the upload and loads the kernels. */
gpuopt_status elimination_fill(CudaElimination *e, const gpuopt__elimination_plan &p, const ChoiceCount &count) {
    const gpuopt_context *context = e->head.context;
    PlanMirror mirror;
    void *memory;
    gpuopt_status status = gpuopt__allocate(context, GPUOPT_HOST, cut_upload(p).bytes, &memory);
    if (status) return status;
    e->upload = static_cast<char *>(memory);
    gpuopt__arena arena = {e->upload, 0};
    cut_mirror(&arena, p, &mirror);
    sum_blocks(p, p.by_level, e->by_level.host_ends);
    sum_blocks(p, p.in_order, e->in_order.host_ends);
    fill_mirror(e, p, mirror);
    const uint64_t bytes = cut_device(p, count.copies, nullptr, &e->view, &e->tables, &mirror, &e->scratch);
    status = gpuopt__allocate(context, GPUOPT_DEVICE, bytes, &e->device);
    if (status) return status;
    cut_device(p, count.copies, e->device, &e->view, &e->tables, &mirror, &e->scratch);
    set_view(e, p, mirror);
    status = stream_create(context, p, &e->tables);
    return status ? status : with_keep(p, [&](auto keep) { return load_all<decltype(keep)>(e, p); });
}

gpuopt_status elimination_create(gpuopt_context *context, const gpuopt__elimination_plan *plan,
                                 gpuopt_elimination **elimination) {
    DeviceScope scope(context);
    const ChoiceCount count = count_choices(context, *plan);
    CudaElimination draft = CudaElimination();
    void *memory;
    gpuopt_status status = gpuopt__allocate(context, GPUOPT_HOST, cut_host(*plan, count, nullptr, &draft), &memory);
    if (status) return status;
    CudaElimination *e = new (memory) CudaElimination();
    e->head.context = context;
    e->queue = Queue(context);
    e->alone = elimination_blocks * cuda_of(context)->multiprocessors;
    cut_host(*plan, count, memory, e);
    status = find_code(context, &e->has_staged);
    if (!status) {
        choose_kernels(e, *plan);
        status = elimination_fill(e, *plan, count);
    }
    *elimination = &e->head;
    if (!status) return GPUOPT_OK;
    elimination_destroy(&e->head);
    return status;
}

gpuopt_status elimination_load(gpuopt_elimination *elimination, int32_t table, const void *cost,
                               const uint64_t *count) {
    CudaElimination *e = cuda_elimination(elimination);
    const gpuopt__elimination_table &t = e->head.plan.table[table];
    const Upload upload = cut_upload(e->head.plan);
    std::memcpy(e->upload + upload.costs + t.at * e->cost_bytes(), cost,
                static_cast<size_t>(t.entries * e->cost_bytes()));
    if (count)
        std::memcpy(e->upload + upload.counts + static_cast<uint64_t>(t.count_at) * sizeof *count, count,
                    static_cast<size_t>(t.entries) * sizeof *count);
    return GPUOPT_OK;
}

gpuopt_status elimination_loaded(gpuopt_elimination *elimination) {
    CudaElimination *e = cuda_elimination(elimination);
    DeviceScope scope(e->head.context);
    const Upload upload = cut_upload(e->head.plan);
    const char *what = "copying the plan and the functions";
    gpuopt_status status = e->queue.copy(e->device, e->upload, upload.counts, what);
    if (!status) status = e->queue.copy(e->view.counts, e->upload + upload.counts, upload.bytes - upload.counts, what);
    if (!status) status = e->queue.release_host(e->upload);
    gpuopt__release(e->head.context, GPUOPT_HOST, e->upload);
    e->upload = nullptr;
    return status;
}

gpuopt_status elimination_condition(gpuopt_elimination *elimination, const int64_t *offset) {
    CudaElimination *e = cuda_elimination(elimination);
    DeviceScope scope(e->head.context);
    const gpuopt__elimination_plan &p = e->head.plan;
    if (p.condition_rows == 0) return GPUOPT_OK;
    gpuopt_status status = e->queue.copy(
        e->view.offset, offset, sizeof(int64_t) * static_cast<size_t>(p.copies) * static_cast<size_t>(p.condition_rows),
        "copying the condition");
    return status ? status : e->queue.release_host(offset); /* the caller overwrites `offset` for the next slice */
}

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_CREATE_CUH */
