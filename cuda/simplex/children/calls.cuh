/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: the calls of a batch.
 *
 * How a call travels: gpuopt_impl/simplex/children/calls.h checks the children and scales what they change.
 * children_run uploads the handle's model and point if they are new, makes the inverse by rows (root.cuh), and makes
 * the other roots (more_roots.cuh). Then it launches solve_children. Each block takes one child after the other and
 * works on it from beginning to end: child/solve.cuh, with the iterations in child/dual.cuh and the products in
 * child/products.cuh. Blocks share nothing but the roots and the number of the next child, so what is found about a
 * child depends on nothing else.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILDREN_CALLS_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILDREN_CALLS_CUH

#include "root.cuh"

namespace {

/* ---- Life ---- */

gpuopt_status child_supported(const gpuopt_simplex_children *b, const char *call) {
    if (b->shape->method != GPUOPT_METHOD_REVISED)
        return gpuopt__refuse(
            b->context, GPUOPT_ERROR_UNSUPPORTED, call,
            "on the GPU the root must be REVISED, and this one has a TABLEAU: ask for GPUOPT_METHOD_REVISED");
    return GPUOPT_OK;
}

gpuopt_status cuda_simplex_children_plan(const gpuopt_simplex_children *b, gpuopt_memory_plan *plan) {
    gpuopt__arena device = {nullptr, 0}, host = {nullptr, 0};
    CudaChildren draft(b->context);
    RootCopy copy;
    gpuopt_status status = child_supported(b, "gpuopt_simplex_children_create");
    if (status) return status;
    draft.simplex = cuda_simplex(b->root_engine);
    status = child_set_shape(b, &draft);
    if (status) return status;
    child_cut_device(&device, b, &draft);
    child_cut_host(&host, b, &copy);
    plan->device_bytes += device.used;
    plan->host_bytes += host.used;
    return GPUOPT_OK;
}

void cuda_simplex_children_destroy(gpuopt_simplex_children *b) {
    CudaChildren *c = cuda_batch(b);
    DeviceScope scope(b->context);
    cudaStreamSynchronize(c->stream());
    gpuopt__release(b->context, GPUOPT_DEVICE, c->device);
    gpuopt__release(b->context, GPUOPT_HOST, c);
}

gpuopt_status child_open(const gpuopt_simplex_children *b, CudaChildren *c) {
    gpuopt__arena arena = {nullptr, 0};
    gpuopt_status status = load_kernels(b->context, solve_children<CHILD_THREADS>, solve_children<CHILD_FEW_THREADS>,
                                        make_roots<CHILD_THREADS>, make_roots<CHILD_FEW_THREADS>, transpose_inverse,
                                        take_core, weigh_lines, weigh_logicals, fill_slices);
    if (status) return status;
    child_cut_device(&arena, b, c);
    status = gpuopt__allocate(b->context, GPUOPT_DEVICE, arena.used, &c->device);
    if (status) return status;
    arena = {static_cast<char *>(c->device), 0};
    child_cut_device(&arena, b, c);
    const SimplexView &v = c->simplex->view;
    const auto inverse = static_cast<size_t>(v.pitch) * static_cast<size_t>(b->shape->rows);
    status =
        c->clear(c->lines, 0, sizeof(double) * inverse); /* the last entry of a line may be read with its neighbour */
    if (!status && child_is_steepest(b)) status = c->clear(c->singles, 0, sizeof(float) * inverse);
    if (status) return status;
    ChildRoot &r = c->root;
    r.inverse.lines = c->lines;
    if (child_is_steepest(b)) r.inverse.singles = c->singles;
    r.col_start = v.col_start, r.row_start = v.row_start;
    r.col_row = v.col_row, r.row_col = v.row_col;
    r.col_val = v.col_val, r.row_val = v.row_val;
    r.start.lower = c->model[0], r.start.upper = c->model[1], r.start.cost = c->model[2], r.start.x = c->model[3],
    r.start.d = c->model[4];
    r.start.state = c->root_state;
    r.start.weight = c->weight;
    r.start.head = c->head;
    r.core.row = c->core_row, r.core.position = c->core_position, r.core.place_of_row = c->place_of_row;
    r.core.place_of_position = c->place_of_position, r.core.place_of_column = c->place_of_column;
    r.row_scale = c->row_scale, r.col_scale = c->col_scale;
    r.rules.primal = b->root_desc->primal_tolerance;
    r.rules.dual = b->root_desc->dual_tolerance;
    r.rules.pivot = b->root_desc->pivot_tolerance;
    r.rules.zero = 1e-9; /* as gpuopt__simplex_rules_now */
    r.rules.pricing = b->root_desc->dual_pricing;
    r.inverse.most = b->desc.on_pivot_limit == GPUOPT_ON_PIVOT_LIMIT_REFACTOR ? b->desc.pivots : INT32_MAX;
    r.rules.seed = b->root_desc->seed;
    r.objective.offset = b->root_desc->offset;
    r.objective.maximize = b->root_desc->maximize;
    return child_take_model(b, c);
}

gpuopt_status cuda_simplex_children_create(gpuopt_simplex_children *b) {
    DeviceScope scope(b->context);
    gpuopt__arena arena = {nullptr, 0};
    RootCopy copy;
    void *memory;
    gpuopt_status status = child_supported(b, "gpuopt_simplex_children_create");
    if (status) return status;
    child_cut_host(&arena, b, &copy);
    status = gpuopt__allocate(b->context, GPUOPT_HOST, arena.used, &memory);
    if (status) return status;
    arena = {static_cast<char *>(memory), 0};
    CudaChildren *c = new (child_cut_host(&arena, b, &copy)) CudaChildren(b->context);
    c->copy_of_root = copy;
    c->given.here = copy.given, c->found.here = copy.found;
    c->simplex = cuda_simplex(b->root_engine);
    b->engine = c;
    status = child_set_shape(b, c);
    if (!status) status = child_open(b, c);
    if (status) cuda_simplex_children_destroy(b);
    return status;
}

gpuopt_status cuda_simplex_children_set_roots(gpuopt_simplex_children *b, int32_t *singular) {
    CudaChildren *c = cuda_batch(b);
    DeviceScope scope(b->context);
    if (c->root.sum_banks > 0) c->known = false; /* the roots, too, decide whether cores are kept alone */
    gpuopt_status status = child_bring_root(b, c);
    for (int first = 0; first < b->roots.count && !status && *singular < 0; first += c->places)
        status = child_make_roots(b, c, first, std::min(c->places, b->roots.count - first), singular);
    return status;
}

/* ---- Runs ---- */

/* The order in which blocks take the children. Those of one root come together, so that its inverse stays in the cache.
 * Of these, the first have bounds that are farthest from the handle's point. They tend to take the most pivots, and the
 * call ends when the last one does. */
void child_order(const gpuopt_simplex_children *b, const RootCopy &root, int *order) {
    const gpuopt__simplex_child_list &from = b->job.children;
    for (int k = 0; k < from.count; k++) {
        double distance = 0;
        for (int64_t e = from.bound_start[k]; e < from.bound_start[k + 1]; e++) {
            const int v = from.variable[e];
            const double unit = v < b->lp->cols ? b->lp->col_scale[v] : 1 / b->lp->row_scale[v - b->lp->cols];
            distance += unit * std::max(0., std::max(from.lower[e] - root.x[v], root.x[v] - from.upper[e]));
        }
        root.distance[k] = distance < HUGE_VAL ? distance : HUGE_VAL; /* a number, in any case */
        order[k] = k;
    }
    std::sort(order, order + from.count, [&](int a, int b) {
        if (from.root[a] != from.root[b]) return from.root[a] < from.root[b];
        return root.distance[a] != root.distance[b] ? root.distance[a] > root.distance[b] : a < b;
    });
}

/* A run takes the children of so many roots at a time as there are places: how often. */
int child_passes(const gpuopt_simplex_children *b, const CudaChildren *c) {
    return b->job.named_roots ? (b->roots.count + c->places - 1) / c->places : 1;
}

/* Copies the children to the device, and finds places for what is found of them. */
gpuopt_status child_upload(const gpuopt_simplex_children *b, CudaChildren *c) {
    const gpuopt__simplex_child_list &from = b->job.children;
    const auto count = static_cast<size_t>(from.count);
    const auto bounds = static_cast<size_t>(from.bound_start[count]),
               costs = static_cast<size_t>(from.cost_start[count]);
    ChildJob &to = c->job;
    Parcel &given = c->given, &found = c->found;
    given.bytes = found.bytes = 0;
    to.bound_start = given.put(from.bound_start, count + 1), to.cost_start = given.put(from.cost_start, count + 1);
    to.lower = given.put(from.lower, bounds), to.upper = given.put(from.upper, bounds);
    to.cost = given.put(from.cost, costs);
    to.variable = given.put(from.variable, bounds), to.col = given.put(from.col, costs);
    int *const order = given.add<int>(count);
    child_order(b, c->copy_of_root, given.on_host(order));
    to.order = order;
    const auto passes = static_cast<size_t>(child_passes(b, c));
    to.next = given.add<int>(passes);
    std::fill_n(given.on_host(to.next), passes, 0);
    int *const place = b->job.named_roots ? given.add<int>(count) : nullptr;
    for (size_t k = 0; k < count && place; k++)
        given.on_host(place)[k] = from.root[k] < 0 ? -1 : from.root[k] % c->places;
    to.place = place;
    to.bound = found.add<double>(count), to.objective = found.add<double>(count);
    to.objective_low = found.add<double>(count);
    to.outcome = found.add<int>(2 * count), to.iterations = to.outcome + count; /* no gap between them */
    return c->copy(given.there, given.here, given.bytes);
}
/* Copies what was found of them to the job's arrays. */
gpuopt_status child_download(CudaChildren *c, const gpuopt__simplex_children_job &wanted) {
    const auto count = static_cast<size_t>(wanted.children.count);
    const Parcel &found = c->found;
    gpuopt_status status = c->copy(found.here, found.there, found.bytes);
    if (!status) status = c->wait("solving children");
    if (status) return status;
    auto take = [&](auto *to, const auto *place) { memcpy(to, found.on_host(place), sizeof *to * count); };
    take(wanted.outcome, c->job.outcome), take(wanted.iterations, c->job.iterations);
    take(wanted.bound, c->job.bound);
    take(wanted.objective, c->job.objective), take(wanted.objective_low, c->job.objective_low);
    return GPUOPT_OK;
}

/* Solves the children of the job, which are in the order of their roots. */
gpuopt_status child_solve(const gpuopt_simplex_children *b, CudaChildren *c, ChildJob job) {
    const gpuopt__simplex_child_list &list = b->job.children;
    const int *const order = c->given.on_host(job.order), all = job.count, passes = child_passes(b, c);
    int done = 0;
    for (int pass = 0; pass < passes; pass++) {
        const int first = pass * c->places, end = b->job.named_roots ? first + c->places : INT32_MAX;
        int count = 0, singular = -1;
        while (done + count < all && list.root[order[done + count]] < end) count++;
        if (count == 0) continue;
        if (b->job.named_roots) {
            const int present = std::min(c->places, b->roots.count - first);
            const gpuopt_status status = child_make_roots(b, c, first, present, &singular);
            if (status) return status;
            if (singular >= 0) {
                gpuopt__log(b->context, 0, "gpuopt_simplex_children_run: the basis of root %d is singular", singular);
                return GPUOPT_ERROR_NUMERIC;
            }
        }
        ChildJob part = job;
        part.count = count;
        part.order += done;
        part.next += pass;
        c->launch({std::min(c->blocks, count), c->threads, child_shared_bytes(c->root)},
                  c->threads > CHILD_FEW_THREADS ? solve_children<CHILD_THREADS> : solve_children<CHILD_FEW_THREADS>,
                  c->root, part, c->state, c->block_bytes, static_cast<const ChildRoot *>(c->views),
                  static_cast<const int *>(c->roots.core));
        done += count;
    }
    return c->launched("solving children");
}

gpuopt_status cuda_simplex_children_run(gpuopt_simplex_children *b) {
    CudaChildren *c = cuda_batch(b);
    DeviceScope scope(b->context);
    gpuopt__simplex_children_job &wanted = b->job;
    const gpuopt_simplex_children_desc &kept = b->desc;
    if (wanted.where == GPUOPT_HOST && ((wanted.basis && !kept.with_basis) || (wanted.x && !kept.with_x) ||
                                        ((wanted.farkas || wanted.farkas_low) && !kept.with_farkas)))
        return gpuopt__refuse(b->context, GPUOPT_ERROR_ARGUMENT, "gpuopt_simplex_children_run",
                              "the report asks for what the descriptor's with_... did not announce");
    gpuopt_status status = child_bring_root(b, c);
    if (status || wanted.children.count == 0)
        return status; /* then the root has been worked on like the other ranks' */
    status = child_upload(b, c);
    if (status) return status;
    const bool here = wanted.where == GPUOPT_HOST;
    const auto count = static_cast<size_t>(wanted.children.count), rows = static_cast<size_t>(c->root.rows),
               both = static_cast<size_t>(c->root.both);
    ChildJob job = c->job;
    job.count = wanted.children.count;
    job.most = wanted.most;
    job.pivot_limit = b->desc.on_pivot_limit == GPUOPT_ON_PIVOT_LIMIT_END ? b->desc.pivots : INT32_MAX;
    job.bounds = wanted.bounds;
    auto target = [&](auto *staging, auto *there) { return there == nullptr || !here ? there : staging; };
    job.basis = target(job.basis, wanted.basis);
    job.x = target(job.x, wanted.x);
    job.farkas = target(job.farkas, wanted.farkas);
    job.farkas_low = target(job.farkas_low, wanted.farkas_low);
    status = child_solve(b, c, job);
    auto fetch = [&](auto *to, const auto *from, size_t entries) {
        if (!status && to) status = c->copy(to, from, sizeof *from * entries);
    };
    if (here) {
        fetch(wanted.basis, job.basis, count * both);
        fetch(wanted.x, job.x, count * (both - rows));
        fetch(wanted.farkas, job.farkas, count * rows);
        fetch(wanted.farkas_low, job.farkas_low, count * rows);
    }
    wanted.scaled = 1;
    return status ? status : child_download(c, wanted);
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILDREN_CALLS_CUH */
