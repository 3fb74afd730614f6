/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: the kernel, and the calls of a batch.
 *
 * How a call travels: gpuopt_impl/simplex/batch.h checks the children and scales what they change. batch_run uploads the
 * root's model and point if they are new, makes the inverse by rows, and launches solve_children: each block takes one
 * child after the other and works on it from beginning to end (child_end.cuh, with the iterations in child_dual.cuh and
 * the products in child.cuh). Blocks share nothing but the root and the number of the next child, so what is found about
 * a child depends on nothing else.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_BATCH_CUH
#define GPUOPT_CUDA_SIMPLEX_BATCH_CUH

#include "child_end.cuh"
#include "solve.cuh"

namespace {

/* ---- Kernels ---- */

/* The state of block b is so many bytes behind that of block 0. */
__device__ ChildState child_state(const ChildState &first, int64_t bytes) {
    ChildState s = first;
    auto move = [&](auto *&array) {
        array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(reinterpret_cast<char *>(array) + bytes);
    };
    move(s.xb), move(s.weight), move(s.alpha), move(s.rho), move(s.tau), move(s.moved), move(s.y), move(s.y_low);
    move(s.lower), move(s.upper), move(s.x), move(s.d), move(s.cost), move(s.shift), move(s.row), move(s.key);
    move(s.z), move(s.u), move(s.v), move(s.partial), move(s.factor), move(s.head), move(s.places), move(s.list);
    move(s.state), move(s.refused), move(s.gone);
    return s;
}

__global__ void __launch_bounds__(CHILD_THREADS)
    solve_children(const __grid_constant__ ChildRoot root, const __grid_constant__ ChildJob job,
                   const __grid_constant__ ChildState first, int64_t bytes) {
    __shared__ ChildShared shared;
    __shared__ ChildState state; /* not in each thread's own memory, where it would fill the L1 cache */
    if (threadIdx.x == 0) state = child_state(first, bytes * blockIdx.x);
    __syncthreads();
    Child child(root, state, shared);
    for (;;) {
        if (threadIdx.x == 0) shared.child = atomicAdd(job.next, 1);
        __syncthreads();
        const int k = shared.child;
        __syncthreads();
        if (k >= job.count) return;
        child.run(job, k);
    }
}

/* The inverse by rows, through tiles in shared memory. */
enum { TILE = 32, TILE_ROWS = 8 };
__global__ void __launch_bounds__(TILE *TILE_ROWS)
    transpose_inverse(int rows, int64_t pitch, const double *columns, double *lines) {
    __shared__ double tile[TILE][TILE + 1];
    const int x = static_cast<int>(threadIdx.x) % TILE, y = static_cast<int>(threadIdx.x) / TILE;
    const int row = static_cast<int>(blockIdx.x) * TILE, col = static_cast<int>(blockIdx.y) * TILE;
    for (int n = y; n < TILE; n += TILE_ROWS)
        if (row + x < rows && col + n < rows) tile[n][x] = columns[(col + n) * pitch + row + x];
    __syncthreads();
    for (int n = y; n < TILE; n += TILE_ROWS)
        if (row + n < rows && col + x < rows) lines[(row + n) * pitch + col + x] = tile[x][n];
}

/* weight[i]: the squared norm of row i of the inverse, or 1. One warp per row. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    weigh_lines(int rows, int64_t pitch, const double *lines, bool norms, double *weight) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int64_t i = product_thread() / 32;
    double sum = 0;
    if (i >= rows) return;
    for (int j = lane; norms && j < rows; j += 32) sum += lines[i * pitch + j] * lines[i * pitch + j];
    sum = warp_sum(sum);
    if (lane == 0) weight[i] = norms ? sum : 1;
}

/* Fills the slices, which have been zeroed. One thread per column. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    fill_slices(int cols, const int64_t *col_start, const int *col_row, const double *col_val,
                const __grid_constant__ ChildSlices to) {
    const int64_t j = product_thread();
    if (j >= cols || col_start[j + 1] - col_start[j] > CHILD_LONG) return;
    int64_t at = to.start[j / 32] + j % 32;
    for (int64_t e = col_start[j]; e < col_start[j + 1]; e++, at += 32) {
        const_cast<int *>(to.row)[at] = col_row[e];
        const_cast<double *>(to.val)[at] = col_val[e];
    }
}

/* ---- Memory ---- */

/* Calls slice(entries) for each slice, and longer(column) for each column that is in none. */
template <class Slice, class Longer>
void child_walk_slices(int cols, const int64_t *col_start, Slice slice, Longer longer) {
    for (int first = 0; first < cols; first += 32) {
        int64_t most = 0;
        for (int j = first; j < cols && j < first + 32; j++) {
            const int64_t length = col_start[j + 1] - col_start[j];
            if (length > CHILD_LONG) longer(j);
            else most = std::max(most, length);
        }
        slice(32 * most);
    }
}

/* Host arrays of what the device has of the root, which tell whether that is still the root's. */
struct RootCopy {
    double *x, *x_low, *reduced, *lower, *upper, *cost; /* [both] */
    double *y, *y_low;                                  /* [rows] */
    uint8_t *status, *state;                            /* [both] */
    int *head;                                          /* [rows] */
    int64_t *slice_start;                               /* [slices + 1] */
    int *of_long;                                       /* [cols] */
};

struct CudaBatch : Queue {
    explicit CudaBatch(gpuopt_context *context) : Queue(context) {}

    CudaSimplex *simplex = nullptr;
    ChildRoot root = {};
    ChildState state = {};
    ChildJob job = {};
    RootCopy copy_of_root = {};
    double *lines = nullptr, *weight = nullptr;
    double *model[5] = {}; /* [both] lower, upper, cost, x, d */
    uint8_t *root_state = nullptr;
    int *head = nullptr;
    double *row_scale = nullptr, *col_scale = nullptr;
    void *device = nullptr;
    int blocks = 0, threads = 0;
    int64_t state_bytes = 0; /* of a block */
    int64_t sliced = 0;      /* entries of the slices */
    bool known = false;      /* the device has a root */
};

CudaBatch *cuda_batch(const gpuopt_simplex_batch *b) { return static_cast<CudaBatch *>(b->engine); }

void child_cut_state(gpuopt__arena *arena, int64_t rows, int64_t both, int64_t pitch, int64_t most, ChildState *s) {
    double **const of_rows[] = {&s->xb, &s->weight, &s->alpha, &s->rho, &s->tau, &s->moved, &s->y, &s->y_low};
    double **const of_both[] = {&s->lower, &s->upper, &s->x, &s->d, &s->cost, &s->shift, &s->row, &s->key, &s->z};
    for (double **array : of_rows) simplex_cut(arena, array, rows);
    for (double **array : of_both) simplex_cut(arena, array, both);
    simplex_cut(arena, &s->u, pitch * most);
    simplex_cut(arena, &s->v, pitch * most);
    simplex_cut(arena, &s->partial, CHILD_THREADS);
    simplex_cut(arena, &s->factor, most);
    simplex_cut(arena, &s->head, rows);
    simplex_cut(arena, &s->places, rows);
    simplex_cut(arena, &s->list, both);
    simplex_cut(arena, &s->state, both);
    simplex_cut(arena, &s->refused, rows);
    simplex_cut(arena, &s->gone, rows);
}

/* Cuts the device's block; with base null it only measures. */
void child_cut_device(gpuopt__arena *arena, const gpuopt_simplex_batch *b, CudaBatch *c) {
    const int64_t rows = b->shape->rows, cols = b->shape->cols, both = rows + cols, copies = b->desc.copies;
    const int64_t pitch = c->simplex->view.pitch;
    int64_t *bound_start, *cost_start;
    int *variable, *col;
    double *lower, *upper, *cost;
    ChildSlices &slices = c->root.slices;
    int64_t *slice_start;
    int *slice_row, *of_long;
    double *slice_val;
    simplex_cut(arena, &c->lines, pitch * rows);
    simplex_cut(arena, &slice_start, slices.count + 1);
    simplex_cut(arena, &slice_row, c->sliced);
    simplex_cut(arena, &slice_val, c->sliced);
    simplex_cut(arena, &of_long, slices.longs);
    slices.start = slice_start, slices.row = slice_row, slices.val = slice_val, slices.of_long = of_long;
    simplex_cut(arena, &c->weight, rows);
    for (double *&array : c->model) simplex_cut(arena, &array, both);
    simplex_cut(arena, &c->root_state, both);
    simplex_cut(arena, &c->head, rows);
    simplex_cut(arena, &c->row_scale, rows);
    simplex_cut(arena, &c->col_scale, cols);
    simplex_cut(arena, &bound_start, copies + 1);
    simplex_cut(arena, &cost_start, copies + 1);
    simplex_cut(arena, &variable, b->desc.changes);
    simplex_cut(arena, &col, b->desc.changes);
    simplex_cut(arena, &lower, b->desc.changes);
    simplex_cut(arena, &upper, b->desc.changes);
    simplex_cut(arena, &cost, b->desc.changes);
    ChildJob &job = c->job;
    job.bound_start = bound_start, job.cost_start = cost_start;
    job.variable = variable, job.col = col;
    job.lower = lower, job.upper = upper, job.cost = cost;
    simplex_cut(arena, &job.next, 1);
    simplex_cut(arena, &job.outcome, copies);
    simplex_cut(arena, &job.iterations, copies);
    double **const found[] = {&job.bound, &job.objective, &job.objective_low};
    for (double **array : found) simplex_cut(arena, array, copies);
    simplex_cut(arena, &job.basis, b->desc.with_basis ? copies * both : 0);
    simplex_cut(arena, &job.x, b->desc.with_x ? copies * cols : 0);
    simplex_cut(arena, &job.farkas, b->desc.with_farkas ? copies * rows : 0);
    simplex_cut(arena, &job.farkas_low, b->desc.with_farkas ? copies * rows : 0);
    const uint64_t begin = arena->used;
    child_cut_state(arena, rows, both, pitch, b->desc.pivots, &c->state);
    c->state_bytes = static_cast<int64_t>(arena->used - begin);
    arena->used += static_cast<uint64_t>(c->state_bytes) * static_cast<uint64_t>(c->blocks - 1);
}

CudaBatch *child_cut_host(gpuopt__arena *arena, const gpuopt_simplex_batch *b, RootCopy *c) {
    const int64_t rows = b->shape->rows, both = rows + b->shape->cols;
    CudaBatch *batch;
    simplex_cut(arena, &batch, 1);
    double **const of_both[] = {&c->x, &c->x_low, &c->reduced, &c->lower, &c->upper, &c->cost};
    for (double **array : of_both) simplex_cut(arena, array, both);
    simplex_cut(arena, &c->y, rows);
    simplex_cut(arena, &c->y_low, rows);
    simplex_cut(arena, &c->status, both);
    simplex_cut(arena, &c->state, both);
    simplex_cut(arena, &c->head, rows);
    simplex_cut(arena, &c->slice_start, (both - rows + 31) / 32 + 1);
    simplex_cut(arena, &c->of_long, both - rows);
    return batch;
}

/* How many blocks, of how many threads: they depend on the model, the batch and the device alone. */
gpuopt_status child_set_shape(const gpuopt_simplex_batch *b, CudaBatch *c) {
    gpuopt__simplex_pattern pattern;
    gpuopt_status status = cuda_simplex_pattern(b->root_engine, &pattern);
    if (status) return status;
    ChildSlices &slices = c->root.slices;
    child_walk_slices(
        b->shape->cols, pattern.col_start,
        [&](int64_t entries) {
            c->sliced += entries;
            slices.count++;
        },
        [&](int) { slices.longs++; });
    const int64_t rows = b->shape->rows, both = rows + b->shape->cols;
    const int64_t most_bytes = int64_t{16} << 30; /* of the blocks' states together */
    gpuopt__arena arena = {nullptr, 0};
    ChildState draft;
    const int processors = cuda_of(b->context)->multiprocessors;
    c->threads = both <= 512 ? 128 : b->desc.copies <= processors ? +CHILD_THREADS : CHILD_THREADS / 2;
    child_cut_state(&arena, rows, both, c->simplex->view.pitch, b->desc.pivots, &draft);
    int64_t blocks = 2 * int64_t{processors};
    blocks = std::min(blocks, most_bytes / static_cast<int64_t>(arena.used));
    c->blocks = static_cast<int>(std::max(int64_t{1}, std::min(blocks, int64_t{b->desc.copies})));
    return GPUOPT_OK;
}

/* ---- Life ---- */

gpuopt_status child_supported(const gpuopt_simplex_batch *b, const char *call) {
    if (b->shape->method != GPUOPT_METHOD_REVISED)
        return gpuopt__refuse(b->context, GPUOPT_ERROR_UNSUPPORTED, call, "on the GPU the root must be REVISED");
    if (b->desc.when_full != GPUOPT_WHEN_FULL_END)
        return gpuopt__refuse(b->context, GPUOPT_ERROR_UNSUPPORTED, call, "on the GPU when_full must be END");
    return GPUOPT_OK;
}

gpuopt_status cuda_simplex_batch_plan(const gpuopt_simplex_batch *b, gpuopt_memory_plan *plan) {
    gpuopt__arena device = {nullptr, 0}, host = {nullptr, 0};
    CudaBatch draft(b->context);
    RootCopy copy;
    gpuopt_status status = child_supported(b, "gpuopt_simplex_batch_plan");
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

void cuda_simplex_batch_destroy(gpuopt_simplex_batch *b) {
    CudaBatch *c = cuda_batch(b);
    DeviceScope scope(b->context);
    cudaStreamSynchronize(c->stream());
    gpuopt__release(b->context, GPUOPT_DEVICE, c->device);
    gpuopt__release(b->context, GPUOPT_HOST, c);
}

/* The columns in slices, from the engine's. */
gpuopt_status child_fill_slices(CudaBatch *c) {
    const SimplexView &v = c->simplex->view;
    const ChildSlices &to = c->root.slices;
    const RootCopy &host = c->copy_of_root;
    const auto entries = static_cast<size_t>(c->sliced);
    int64_t at = 0;
    int slice = 0, longs = 0;
    child_walk_slices(
        v.cols, c->simplex->pattern.col_start,
        [&](int64_t more) {
            host.slice_start[slice++] = at;
            at += more;
        },
        [&](int j) { host.of_long[longs++] = j; });
    host.slice_start[slice] = at;
    gpuopt_status status =
        c->copy(const_cast<int64_t *>(to.start), host.slice_start, sizeof(int64_t) * (static_cast<size_t>(slice) + 1));
    if (!status)
        status = c->copy(const_cast<int *>(to.of_long), host.of_long, sizeof(int) * static_cast<size_t>(longs));
    if (!status) status = c->clear(const_cast<int *>(to.row), 0, sizeof(int) * entries);
    if (!status) status = c->clear(const_cast<double *>(to.val), 0, sizeof(double) * entries);
    if (status) return status;
    c->launch({CudaSimplex::blocks(v.cols), PRODUCT_THREADS}, fill_slices, v.cols, v.col_start, v.col_row, v.col_val,
              to);
    return c->launched("slicing the columns");
}

gpuopt_status child_open(const gpuopt_simplex_batch *b, CudaBatch *c) {
    gpuopt__arena arena = {nullptr, 0};
    gpuopt_status status = load_kernels(b->context, solve_children, transpose_inverse, weigh_lines, fill_slices);
    if (status) return status;
    child_cut_device(&arena, b, c);
    status = gpuopt__allocate(b->context, GPUOPT_DEVICE, arena.used, &c->device);
    if (status) return status;
    arena = {static_cast<char *>(c->device), 0};
    child_cut_device(&arena, b, c);
    const SimplexView &v = c->simplex->view;
    ChildRoot &r = c->root;
    r.rows = v.rows, r.cols = v.cols, r.both = v.rows + v.cols;
    r.pitch = v.pitch;
    r.columns = v.matrix, r.lines = c->lines;
    r.col_start = v.col_start, r.row_start = v.row_start;
    r.col_row = v.col_row, r.row_col = v.row_col;
    r.col_val = v.col_val, r.row_val = v.row_val;
    r.lower = c->model[0], r.upper = c->model[1], r.cost = c->model[2], r.x = c->model[3], r.d = c->model[4];
    r.state = c->root_state;
    r.weight = c->weight;
    r.head = c->head;
    r.row_scale = c->row_scale, r.col_scale = c->col_scale;
    r.primal = b->root_desc->primal_tolerance;
    r.dual = b->root_desc->dual_tolerance;
    r.pivot = b->root_desc->pivot_tolerance;
    r.zero = 1e-9; /* as gpuopt__simplex_rules_now */
    r.pricing = b->root_desc->dual_pricing;
    r.seed = b->root_desc->seed;
    return child_fill_slices(c);
}

gpuopt_status cuda_simplex_batch_create(gpuopt_simplex_batch *b) {
    DeviceScope scope(b->context);
    gpuopt__arena arena = {nullptr, 0};
    RootCopy copy;
    void *memory;
    gpuopt_status status = child_supported(b, "gpuopt_simplex_batch_create");
    if (status) return status;
    child_cut_host(&arena, b, &copy);
    status = gpuopt__allocate(b->context, GPUOPT_HOST, arena.used, &memory);
    if (status) return status;
    arena = {static_cast<char *>(memory), 0};
    CudaBatch *c = new (child_cut_host(&arena, b, &copy)) CudaBatch(b->context);
    c->copy_of_root = copy;
    c->simplex = cuda_simplex(b->root_engine);
    b->engine = c;
    status = child_set_shape(b, c);
    if (!status) status = child_open(b, c);
    if (status) cuda_simplex_batch_destroy(b);
    return status;
}

/* ---- Runs ---- */

/* Whether the device has the root as it is now. */
bool child_root_known(const CudaBatch *c, const gpuopt__simplex_root_point &p) {
    const RootCopy &old = c->copy_of_root;
    const auto both = static_cast<size_t>(c->root.both), rows = static_cast<size_t>(c->root.rows);
    auto same = [](const auto *a, const auto *b, size_t count) { return memcmp(a, b, sizeof *a * count) == 0; };
    return c->known && same(old.status, p.status, both) && same(old.head, p.head, rows) &&
           same(old.lower, p.lower, both) && same(old.upper, p.upper, both) && same(old.cost, p.cost, both);
}

/* Brings the root to the device: its model and point if they are new, and the inverse. */
gpuopt_status child_bring_root(gpuopt_simplex_batch *b, CudaBatch *c) {
    RootCopy &old = c->copy_of_root;
    ChildRoot &r = c->root;
    const auto both = static_cast<size_t>(r.both), rows = static_cast<size_t>(r.rows);
    gpuopt__simplex_root_point p = {};
    p.x = old.x, p.x_low = old.x_low, p.reduced = old.reduced, p.y = old.y, p.y_low = old.y_low;
    gpuopt_status status = b->find_root(b, &p);
    if (status) return status;
    c->simplex->apply();
    if (!child_root_known(c, p)) {
        c->known = false;
        status = b->solve_root(b, &p);
        if (status) return status;
        memcpy(old.status, p.status, both);
        memcpy(old.head, p.head, sizeof(int) * rows);
        memcpy(old.lower, p.lower, sizeof(double) * both);
        memcpy(old.upper, p.upper, sizeof(double) * both);
        memcpy(old.cost, p.cost, sizeof(double) * both);
        r.primal_scale = p.primal_scale;
        r.cost_scale = p.cost_scale;
        r.largest_cost = 0;
        for (size_t j = 0; j < both; j++) {
            r.largest_cost = gpuopt__max(r.largest_cost, fabs(old.cost[j]));
            old.state[j] = static_cast<uint8_t>(p.status[j] == GPUOPT_VARIABLE_BASIC      ? +CHILD_BASIC
                                                : p.status[j] == GPUOPT_VARIABLE_AT_UPPER ? +CHILD_UPPER
                                                                                          : 0);
        }
        const double *const from[] = {old.lower, old.upper, old.cost, old.x, old.reduced};
        for (int k = 0; k < 5 && !status; k++) status = c->copy(c->model[k], from[k], sizeof(double) * both);
        if (!status) status = c->copy(c->root_state, old.state, both);
        if (!status) status = c->copy(c->head, old.head, sizeof(int) * rows);
        if (!status) status = c->copy(c->row_scale, b->lp->row_scale, sizeof(double) * rows);
        if (!status) status = c->copy(c->col_scale, b->lp->col_scale, sizeof(double) * (both - rows));
        if (status) return status;
        c->known = true;
    }
    const unsigned tiles = static_cast<unsigned>((r.rows + TILE - 1) / TILE);
    if (tiles == 0) return GPUOPT_OK;
    c->launch({dim3(tiles, tiles), TILE * TILE_ROWS}, transpose_inverse, r.rows, r.pitch, r.columns, c->lines);
    c->launch({CudaSimplex::blocks(32 * int64_t{r.rows}), PRODUCT_THREADS}, weigh_lines, r.rows, r.pitch, c->lines,
              r.pricing == GPUOPT_DUAL_PRICING_STEEPEST_EDGE, c->weight);
    return c->launched("bringing the root");
}

/* Copies the children to the device. */
gpuopt_status child_upload(const gpuopt_simplex_batch *b, CudaBatch *c) {
    const gpuopt__simplex_children &from = b->job.children;
    const auto count = static_cast<size_t>(from.count);
    const auto bounds = static_cast<size_t>(from.bound_start[count]),
               costs = static_cast<size_t>(from.cost_start[count]);
    ChildJob &to = c->job;
    auto put = [&](const auto *there, const auto *here, size_t entries) {
        return c->copy(const_cast<std::remove_const_t<std::remove_pointer_t<decltype(there)>> *>(there), here,
                       sizeof *here * entries);
    };
    gpuopt_status status = put(to.bound_start, from.bound_start, count + 1);
    if (!status) status = put(to.cost_start, from.cost_start, count + 1);
    if (!status) status = put(to.variable, from.variable, bounds);
    if (!status) status = put(to.lower, from.lower, bounds);
    if (!status) status = put(to.upper, from.upper, bounds);
    if (!status) status = put(to.col, from.col, costs);
    if (!status) status = put(to.cost, from.cost, costs);
    if (!status) status = c->clear(to.next, 0, sizeof(int));
    return status;
}

gpuopt_status cuda_simplex_batch_run(gpuopt_simplex_batch *b) {
    CudaBatch *c = cuda_batch(b);
    DeviceScope scope(b->context);
    gpuopt__simplex_batch_job &wanted = b->job;
    const auto count = static_cast<size_t>(wanted.children.count), rows = static_cast<size_t>(c->root.rows),
               both = static_cast<size_t>(c->root.both);
    const gpuopt_simplex_batch_desc &kept = b->desc;
    if (wanted.where == GPUOPT_HOST && ((wanted.basis && !kept.with_basis) || (wanted.x && !kept.with_x) ||
                                        ((wanted.farkas || wanted.farkas_low) && !kept.with_farkas)))
        return gpuopt__refuse(b->context, GPUOPT_ERROR_ARGUMENT, "gpuopt_simplex_batch_run",
                              "the report asks for what the descriptor's with_... did not announce");
    gpuopt_status status = child_bring_root(b, c);
    if (!status) status = child_upload(b, c);
    if (status) return status;
    const bool here = wanted.where == GPUOPT_HOST;
    ChildJob job = c->job;
    job.count = wanted.children.count;
    job.most = wanted.most;
    job.room = b->desc.pivots;
    job.bounds = wanted.bounds;
    auto target = [&](auto *staging, auto *there) { return there == nullptr || !here ? there : staging; };
    job.basis = target(job.basis, wanted.basis);
    job.x = target(job.x, wanted.x);
    job.farkas = target(job.farkas, wanted.farkas);
    job.farkas_low = target(job.farkas_low, wanted.farkas_low);
    const size_t shared = rows <= CHILD_SHARED ? sizeof(double) * rows : 0;
    c->launch({std::min(c->blocks, job.count), c->threads, shared}, solve_children, c->root, job, c->state,
              c->state_bytes);
    status = c->launched("solving children");
    auto fetch = [&](auto *to, const auto *from, size_t entries) {
        if (!status && to) status = c->copy(to, from, sizeof *from * entries);
    };
    fetch(wanted.outcome, job.outcome, count);
    fetch(wanted.iterations, job.iterations, count);
    fetch(wanted.bound, job.bound, count);
    fetch(wanted.objective, job.objective, count);
    fetch(wanted.objective_low, job.objective_low, count);
    if (here) {
        fetch(wanted.basis, job.basis, count * both);
        fetch(wanted.x, job.x, count * (both - rows));
        fetch(wanted.farkas, job.farkas, count * rows);
        fetch(wanted.farkas_low, job.farkas_low, count * rows);
    }
    wanted.scaled = 1;
    return status ? status : c->wait("solving children");
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_BATCH_CUH */
