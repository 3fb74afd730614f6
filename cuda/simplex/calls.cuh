/* SPDX-License-Identifier: MIT
 *
 * The simplex engine of the GPU: memory, launches, the backend's table.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CALLS_CUH
#define GPUOPT_CUDA_SIMPLEX_CALLS_CUH

#include "../common/rank_update.cuh"
#include "enter.cuh"
#include "products.cuh"
#include "run.cuh"

namespace {

struct CudaSimplex {
    gpuopt_context *context;
    const gpuopt__simplex_lp *lp;
    gpuopt__simplex_vectors *host; /* the control's */
    bool revised, deferred;
    SimplexView view;
    RankUpdate rank;
    int pending;
    unsigned launches;
    void *device;
    char *vectors; /* the device's copy, laid out as the host's */
    size_t vector_bytes;

    cudaStream_t stream() const { return cuda_of(context)->stream; }
    gpuopt_status check(cudaError_t error, const char *what) const { return cuda_status(context, error, what); }
    gpuopt_status wait(const char *what) const { return check(cudaStreamSynchronize(stream()), what); }
    gpuopt_status copy(void *to, const void *from, size_t bytes) const {
        return check(bytes ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream()) : cudaSuccess,
                     "copying between host and device");
    }
    static unsigned blocks(int64_t threads) {
        return static_cast<unsigned>(threads < 1 ? 1 : (threads + PRODUCT_THREADS - 1) / PRODUCT_THREADS);
    }
    /* M += U V: nothing is pending any more. */
    void apply() {
        rank_update(rank, stream(), view.rows, view.lines, pending, view.u, view.pitch, view.v, view.wide, view.matrix,
                    view.pitch);
        pending = 0;
    }
};

CudaSimplex *cuda_simplex(void *engine) { return static_cast<CudaSimplex *>(engine); }

/* ---- Shape and memory ---- */

/* What follows from the shape and the device. A block's own ranges are multiples of 32, so that warps are full. */
void simplex_set_shape(const gpuopt_context *context, gpuopt__simplex_shape *shape, SimplexView *view) {
    bool revised = shape->method == GPUOPT_METHOD_REVISED;
    auto padded = [](int64_t n) { return (n + 15) / 16 * 16; };
    if (shape->pricing == GPUOPT_PRICING_STEEPEST_EDGE) shape->deferred_pivots = 1;
    if (shape->deferred_pivots == 0) shape->deferred_pivots = 64;
    *view = {};
    view->rows = shape->rows;
    view->cols = shape->cols;
    view->lines = revised ? shape->rows : shape->cols;
    /* Reinversion defers in any case. */
    view->most = shape->deferred_pivots == 1 ? 64 : shape->deferred_pivots;
    view->pitch = padded(shape->rows);
    view->wide = padded(view->lines);
    int64_t longest = shape->rows > shape->cols ? shape->rows : shape->cols;
    int most = cuda_of(context)->multiprocessors < SIMPLEX_BLOCKS ? cuda_of(context)->multiprocessors : SIMPLEX_BLOCKS;
    int64_t wanted = (longest + SIMPLEX_OWN - 1) / SIMPLEX_OWN;
    view->blocks = static_cast<int>(wanted < 1 ? 1 : wanted < most ? wanted : most);
    auto own = [&](int64_t n) {
        return static_cast<int>(n < 1 ? 32 : ((n + view->blocks - 1) / view->blocks + 31) / 32 * 32);
    };
    view->group = gpuopt__simplex_ratio_group(shape->rows);
    view->groups = (shape->rows + view->group - 1) / view->group;
    view->own_rows = (view->groups + view->blocks - 1) / view->blocks * view->group;
    if (view->own_rows == 0) view->own_rows = 32;
    view->own_slots = own(view->cols);
    view->own_lines = own(view->lines);
}

template <class T>
void simplex_cut(gpuopt__arena *arena, T **array, int64_t count) {
    *array = static_cast<T *>(gpuopt__cut(arena, count, sizeof(T)));
}

/* The device's block: base null measures. Returns where the vectors begin. */
uint64_t simplex_cut_device(gpuopt__arena *arena, int64_t nonzeros, SimplexView *view) {
    SimplexView &s = *view;
    int64_t both = static_cast<int64_t>(s.rows) + s.cols;
    int64_t *col_start, *row_start;
    int *col_row, *row_col;
    double *col_val, *row_val;
    simplex_cut(arena, &s.matrix, s.pitch * s.lines);
    simplex_cut(arena, &s.u, s.pitch * s.most);
    simplex_cut(arena, &s.v, s.wide * s.most);
    simplex_cut(arena, &col_start, s.cols + 1);
    simplex_cut(arena, &row_start, s.rows + 1);
    simplex_cut(arena, &col_row, nonzeros);
    simplex_cut(arena, &row_col, nonzeros);
    simplex_cut(arena, &col_val, nonzeros);
    simplex_cut(arena, &row_val, nonzeros);
    s.col_start = col_start, s.row_start = row_start;
    s.col_row = col_row, s.row_col = row_col;
    s.col_val = col_val, s.row_val = row_val;
    double **const of_rows[] = {&s.alpha, &s.rho, &s.rho_sum, &s.tau};
    for (double **array : of_rows) simplex_cut(arena, array, s.pitch);
    simplex_cut(arena, &s.changed, static_cast<int64_t>(s.blocks) * s.own_rows);
    simplex_cut(arena, &s.listed, 2 * s.blocks);
    simplex_cut(arena, &s.drifted, 1);
    simplex_cut(arena, &s.cells, 2 * s.blocks);
    simplex_cut(arena, &s.winners, 4 * s.groups);
    simplex_cut(arena, &s.records, 2 * s.blocks);
    simplex_cut(arena, &s.winner_records, 2 * s.groups);
    simplex_cut(arena, &s.number, 2);
    int **const of_cols[] = {&s.column, &s.wanted, &s.position};
    for (int **array : of_cols) simplex_cut(arena, array, s.cols);
    simplex_cut(arena, &s.open, s.rows);
    simplex_cut(arena, &s.in, both);
    simplex_cut(arena, &s.out, both);
    simplex_cut(arena, &s.partial, s.pitch * SIMPLEX_PARTS + s.cols);
    uint64_t vectors = arena->used;
    gpuopt__simplex_cut_vectors(arena, s.rows, s.cols, &s.vec);
    return vectors;
}

gpuopt_status cuda_simplex_plan(gpuopt_context *context, gpuopt__simplex_shape *shape, gpuopt_memory_plan *plan) {
    gpuopt__arena arena = {nullptr, 0};
    SimplexView view;
    simplex_set_shape(context, shape, &view);
    simplex_cut_device(&arena, shape->nonzeros, &view);
    plan->device_bytes += arena.used;
    plan->host_bytes += sizeof(CudaSimplex);
    return GPUOPT_OK;
}

/* ---- Kernels by method ---- */

using RunKernel = void (*)(SimplexView, gpuopt__simplex_run, int, int);
using EnterKernel = void (*)(SimplexView, int, int, int);

RunKernel simplex_run_kernel(const CudaSimplex &s) {
    if (s.revised) return s.deferred ? simplex_run<true, true> : simplex_run<true, false>;
    return s.deferred ? simplex_run<false, true> : simplex_run<false, false>;
}

EnterKernel simplex_enter_kernel(const CudaSimplex &s) {
    return s.revised ? simplex_enter<true> : simplex_enter<false>;
}

/* What fits into the blocks' shared memory beside the rest: their parts of U and V, or the whole pivot column. */
gpuopt_status simplex_choose_resident(CudaSimplex *s) {
    int limit = 0;
    GPUOPT_CUDA(s->context,
                cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, s->context->desc.device));
    bool &extra = s->deferred ? s->view.resident : s->view.whole;
    extra = true;
    extra = simplex_shared_bytes(s->view) <= static_cast<size_t>(limit);
    return GPUOPT_OK;
}

/* Loads a kernel, and gives it the shared memory it asks for; UNSUPPORTED where that is more than there is. */
template <class Kernel>
gpuopt_status simplex_prepare(const CudaSimplex &s, Kernel kernel, size_t bytes) {
    int limit = 0, fit = 0;
    GPUOPT_CUDA(s.context,
                cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, s.context->desc.device));
    if (bytes <= static_cast<size_t>(limit)) {
        GPUOPT_CUDA(s.context,
                    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
        GPUOPT_CUDA(s.context, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, SIMPLEX_THREADS, bytes));
    }
    if (fit > 0 && cuda_of(s.context)->cooperative) return GPUOPT_OK;
    gpuopt__log(s.context, 0,
                "simplex: %d rows and %d columns are too many for this device's shared memory, or it has no "
                "cooperative launches",
                s.view.rows, s.view.cols);
    return GPUOPT_ERROR_UNSUPPORTED;
}

/* ---- Life ---- */

void cuda_simplex_destroy(gpuopt_context *context, void *engine) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(context);
    cudaStreamSynchronize(s->stream());
    cudaFreeHost(s->view.report);
    gpuopt__release(context, GPUOPT_DEVICE, s->device);
    gpuopt__release(context, GPUOPT_HOST, s);
}

/* The matrix as the host gave it, then scaled and transposed on the device. The tableau's or inverse's memory, not in
 * use yet, counts. */
gpuopt_status simplex_upload(CudaSimplex *s) {
    const gpuopt__simplex_lp *lp = s->lp;
    const SimplexView &v = s->view;
    auto *col_start = const_cast<int64_t *>(v.col_start), *row_start = const_cast<int64_t *>(v.row_start);
    auto *col_val = const_cast<double *>(v.col_val), *row_val = const_cast<double *>(v.row_val);
    auto *col_row = const_cast<int *>(v.col_row), *row_col = const_cast<int *>(v.row_col);
    auto bytes = [](int64_t count, size_t size) { return static_cast<size_t>(count) * size; };
    gpuopt_status status = s->copy(col_start, lp->col_start, bytes(lp->cols + 1, sizeof(int64_t)));
    if (!status) status = s->copy(col_row, lp->col_row, bytes(lp->nonzeros, sizeof(int32_t)));
    if (!status) status = s->copy(col_val, lp->val, bytes(lp->nonzeros, sizeof(double)));
    if (!status) status = s->copy(v.rho, lp->row_scale, bytes(lp->rows, sizeof(double)));
    if (!status) status = s->copy(v.in, lp->col_scale, bytes(lp->cols, sizeof(double)));
    if (status) return status;
    GPUOPT_CUDA(s->context, cudaMemsetAsync(v.cells, 0, sizeof(Cell) * 2 * static_cast<size_t>(v.blocks), s->stream()));
    GPUOPT_CUDA(s->context,
                cudaMemsetAsync(v.winners, 0, sizeof(Cell) * 4 * static_cast<size_t>(v.groups), s->stream()));
    GPUOPT_CUDA(s->context, cudaMemsetAsync(v.number, 0, 2 * sizeof(unsigned), s->stream()));
    GPUOPT_CUDA(s->context, cudaMemsetAsync(v.alpha, 0, sizeof(double) * static_cast<size_t>(v.pitch), s->stream()));
    GPUOPT_CUDA(s->context, cudaMemsetAsync(v.drifted, 0, sizeof(int), s->stream()));
    int64_t most = v.lines < 512 ? v.lines : 512; /* warps; their counts take less than the matrix */
    int warps = static_cast<int>(most < 1 ? 1 : most);
    auto *count = reinterpret_cast<int *>(v.matrix);
    unsigned by_warps = CudaSimplex::blocks(32 * warps), by_rows = CudaSimplex::blocks(v.rows);
    if (v.cols > 0 && v.rows > 0) {
        scale_columns<<<CudaSimplex::blocks(32 * static_cast<int64_t>(v.cols)), PRODUCT_THREADS, 0, s->stream()>>>(
            v, col_val, v.rho, v.in);
        count_rows<<<by_warps, PRODUCT_THREADS, 0, s->stream()>>>(v, count, warps);
        add_counts<<<by_rows, PRODUCT_THREADS, 0, s->stream()>>>(v, count, warps, row_start);
        add_lengths<<<1, 1024, 0, s->stream()>>>(row_start, v.rows);
        fill_rows<<<by_warps, PRODUCT_THREADS, 0, s->stream()>>>(v, count, warps, row_col, row_val);
    } else {
        GPUOPT_CUDA(s->context, cudaMemsetAsync(row_start, 0, bytes(lp->rows + 1, sizeof(int64_t)), s->stream()));
    }
    status = s->check(cudaGetLastError(), "transposing the model");
    return status ? status : s->wait("copying the model to the device");
}

gpuopt_status simplex_open(CudaSimplex *s, gpuopt__simplex_shape *shape) {
    gpuopt__arena arena = {nullptr, 0};
    simplex_set_shape(s->context, shape, &s->view);
    gpuopt_status status = simplex_choose_resident(s);
    if (!status) status = simplex_prepare(*s, simplex_run_kernel(*s), simplex_shared_bytes(s->view));
    if (!status) status = simplex_prepare(*s, simplex_enter_kernel(*s), enter_shared_bytes(s->view));
    if (!status) status = rank_update_open(s->context, &s->rank);
    if (status) return status;
    simplex_cut_device(&arena, shape->nonzeros, &s->view);
    status = gpuopt__allocate(s->context, GPUOPT_DEVICE, arena.used, &s->device);
    if (status) return status;
    arena.base = static_cast<char *>(s->device);
    arena.used = 0;
    uint64_t vectors = simplex_cut_device(&arena, shape->nonzeros, &s->view);
    s->vectors = arena.base + vectors;
    s->vector_bytes = static_cast<size_t>(arena.used - vectors);
    status = s->check(cudaMallocHost(&s->view.report, sizeof(gpuopt__simplex_run_report)), "allocating pinned memory");
    return status ? status : simplex_upload(s);
}

gpuopt_status cuda_simplex_create(gpuopt_context *context, const gpuopt__simplex_shape *shape,
                                  const gpuopt__simplex_lp *lp, gpuopt__simplex_vectors *vectors, void **engine) {
    DeviceScope scope(context);
    gpuopt__simplex_shape same = *shape;
    void *memory;
    gpuopt_status status = gpuopt__allocate(context, GPUOPT_HOST, sizeof(CudaSimplex), &memory);
    if (status) return status;
    CudaSimplex *s = new (memory) CudaSimplex{};
    s->context = context;
    s->lp = lp;
    s->host = vectors;
    s->revised = shape->method == GPUOPT_METHOD_REVISED;
    s->deferred = shape->deferred_pivots != 1 && shape->pricing != GPUOPT_PRICING_STEEPEST_EDGE;
    status = simplex_open(s, &same);
    if (status) cuda_simplex_destroy(context, s);
    else *engine = s;
    return status;
}

/* ---- Vectors ---- */

gpuopt_status cuda_simplex_push(void *engine) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context);
    return s->copy(s->vectors, s->host->xb, s->vector_bytes);
}

gpuopt_status cuda_simplex_pull(void *engine) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context);
    gpuopt_status status = s->copy(s->host->xb, s->vectors, s->vector_bytes);
    return status ? status : s->wait("reading the simplex vectors");
}

/* ---- Iterations ---- */

template <class Kernel>
gpuopt_status simplex_launch(CudaSimplex *s, Kernel kernel, size_t bytes, void **arguments) {
    gpuopt_status status = s->check(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(kernel),
                                                                dim3(static_cast<unsigned>(s->view.blocks)),
                                                                dim3(SIMPLEX_THREADS), arguments, bytes, s->stream()),
                                    "launching simplex iterations");
    return status ? status : s->wait("waiting for simplex iterations");
}

gpuopt_status cuda_simplex_run(void *engine, const gpuopt__simplex_run *run, gpuopt__simplex_run_report *report) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context);
    gpuopt__simplex_run request = *run;
    gpuopt__simplex_run_report total = {};
    do {
        if (s->deferred && s->pending == s->view.most) s->apply();
        if (request.reset_weights && s->pending) s->apply();
        int launch = static_cast<int>(++s->launches);
        void *arguments[] = {&s->view, &request, &s->pending, &launch};
        gpuopt_status status = simplex_launch(s, simplex_run_kernel(*s), simplex_shared_bytes(s->view), arguments);
        if (status) return status;
        int pivots = total.pivots, flips = total.flips, bans = total.bans;
        total = *s->view.report;
        if (s->deferred) s->pending += total.pivots;
        request.most -= total.pivots + total.flips;
        request.reset_weights = 0;
        request.rules.harris += request.rules.expand * (total.pivots + total.flips);
        total.pivots += pivots;
        total.flips += flips;
        total.bans += bans;
    } while (run->part == GPUOPT__SIMPLEX_RUN_ITERATE && total.end == GPUOPT__SIMPLEX_END_LIMIT && request.most > 0);
    *report = total;
    return GPUOPT_OK;
}

/* ---- Other bases ---- */

gpuopt_status cuda_simplex_reset(void *engine) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context);
    const SimplexView &v = s->view;
    s->pending = 0;
    GPUOPT_CUDA(s->context,
                cudaMemsetAsync(v.matrix, 0, sizeof(double) * static_cast<size_t>(v.pitch * v.lines), s->stream()));
    if (s->revised) fill_identity<<<CudaSimplex::blocks(v.rows), PRODUCT_THREADS, 0, s->stream()>>>(v);
    else fill_tableau<<<CudaSimplex::blocks(32 * static_cast<int64_t>(v.cols)), PRODUCT_THREADS, 0, s->stream()>>>(v);
    return s->check(cudaGetLastError(), "filling the slack basis");
}

gpuopt_status cuda_simplex_enter(void *engine, int32_t count, const int32_t *column, const int32_t *wanted,
                                 uint8_t *open, int32_t *position) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context);
    const SimplexView &v = s->view;
    size_t bytes = sizeof(int32_t) * static_cast<size_t>(count);
    gpuopt_status status = s->copy(v.column, column, bytes);
    if (!status) status = s->copy(v.wanted, wanted, bytes);
    if (!status) status = s->copy(v.open, open, static_cast<size_t>(v.rows));
    for (int first = 0; first < count && !status; first = v.report->entering) {
        void *arguments[] = {&s->view, &first, &count, &s->pending};
        if (s->pending == v.most) s->apply();
        status = simplex_launch(s, simplex_enter_kernel(*s), enter_shared_bytes(v), arguments);
        if (!status) s->pending += v.report->pivots;
    }
    if (!status && !s->deferred) s->apply();
    if (!status) status = s->copy(position, v.position, bytes);
    if (!status) status = s->copy(open, v.open, static_cast<size_t>(v.rows));
    return status ? status : s->wait("reinverting");
}

/* ---- Products ---- */

gpuopt_status cuda_simplex_ftran(void *engine, double *x) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context);
    const SimplexView &v = s->view;
    double *vector = s->revised ? v.in : v.partial + v.pitch * SIMPLEX_PARTS;
    int parts = v.lines < 8 * SIMPLEX_PARTS ? (v.lines + 7) / 8 : static_cast<int>(SIMPLEX_PARTS);
    unsigned by_rows = CudaSimplex::blocks(v.rows);
    gpuopt_status status = s->copy(v.in, x, sizeof(double) * static_cast<size_t>(v.rows));
    if (status) return status;
    s->apply();
    if (!s->revised) gather_logicals<<<CudaSimplex::blocks(v.cols), PRODUCT_THREADS, 0, s->stream()>>>(v, vector);
    if (parts > 0)
        combine_columns<<<dim3(by_rows, static_cast<unsigned>(parts)), PRODUCT_THREADS, 0, s->stream()>>>(v, vector,
                                                                                                          parts);
    add_parts<<<by_rows, PRODUCT_THREADS, 0, s->stream()>>>(v, parts, !s->revised);
    status = s->check(cudaGetLastError(), "FTRAN");
    if (!status) status = s->copy(x, v.out, sizeof(double) * static_cast<size_t>(v.rows));
    return status ? status : s->wait("FTRAN");
}

gpuopt_status cuda_simplex_btran(void *engine, double *y) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context);
    const SimplexView &v = s->view;
    gpuopt_status status = s->copy(v.in, y, sizeof(double) * static_cast<size_t>(v.rows));
    if (status) return status;
    s->apply();
    dot_columns<<<CudaSimplex::blocks(32 * static_cast<int64_t>(v.lines)), PRODUCT_THREADS, 0, s->stream()>>>(
        v, !s->revised);
    if (!s->revised) copy_basic_logicals<<<CudaSimplex::blocks(v.rows), PRODUCT_THREADS, 0, s->stream()>>>(v);
    status = s->check(cudaGetLastError(), "BTRAN");
    if (!status) status = s->copy(y, v.out, sizeof(double) * static_cast<size_t>(v.rows));
    return status ? status : s->wait("BTRAN");
}

gpuopt_status cuda_simplex_residual(void *engine, const double *x, double *r) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context);
    const SimplexView &v = s->view;
    int64_t both = static_cast<int64_t>(v.rows) + v.cols;
    gpuopt_status status = s->copy(v.in, x, sizeof(double) * static_cast<size_t>(both));
    if (status) return status;
    residual_rows<<<CudaSimplex::blocks(8 * static_cast<int64_t>(v.rows)), PRODUCT_THREADS, 0, s->stream()>>>(v);
    status = s->check(cudaGetLastError(), "the residual");
    if (!status) status = s->copy(r, v.out, sizeof(double) * static_cast<size_t>(v.rows));
    return status ? status : s->wait("the residual");
}

gpuopt_status cuda_simplex_reduce(void *engine, const double *cost, const double *y, double *d) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context);
    const SimplexView &v = s->view;
    int64_t both = static_cast<int64_t>(v.rows) + v.cols;
    gpuopt_status status = s->copy(v.in, cost, sizeof(double) * static_cast<size_t>(both));
    if (!status) status = s->copy(v.rho, y, sizeof(double) * static_cast<size_t>(v.rows));
    if (status) return status;
    reduce_columns<<<CudaSimplex::blocks(8 * both), PRODUCT_THREADS, 0, s->stream()>>>(v, v.rho);
    status = s->check(cudaGetLastError(), "reduced costs");
    if (!status) status = s->copy(d, v.out, sizeof(double) * static_cast<size_t>(both));
    return status ? status : s->wait("reduced costs");
}

const gpuopt__simplex_backend cuda_simplex_table = {
    cuda_simplex_plan,  cuda_simplex_create, cuda_simplex_destroy,  cuda_simplex_push,
    cuda_simplex_pull,  cuda_simplex_run,    cuda_simplex_reset,    cuda_simplex_enter,
    cuda_simplex_ftran, cuda_simplex_btran,  cuda_simplex_residual, cuda_simplex_reduce,
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CALLS_CUH */
