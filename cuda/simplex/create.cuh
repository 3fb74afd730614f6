/* SPDX-License-Identifier: MIT
 *
 * The simplex engine of the GPU: its shape, its memory, and how the model gets there.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CREATE_CUH
#define GPUOPT_CUDA_SIMPLEX_CREATE_CUH

#include "../common/queue.cuh"
#include "../common/rank_update.cuh"
#include "enter.cuh"
#include "products.cuh"
#include "run.cuh"

namespace {

struct CudaSimplex : Queue {
    explicit CudaSimplex(gpuopt_context *context) : Queue(context) {}

    const gpuopt__simplex_lp *lp = nullptr;
    gpuopt__simplex_vectors *host = nullptr; /* the control's */
    bool revised = false, deferred = false;
    SimplexView view = {};
    RankUpdate rank = {};
    int pending = 0;      /* pivots in U and V */
    int64_t launches = 0; /* of the iterations' kernel */
    void *device = nullptr;
    char *vectors = nullptr; /* the device's copy, laid out like the host's */
    size_t vector_bytes = 0;

    static unsigned blocks(int64_t threads) {
        return static_cast<unsigned>(threads < 1 ? 1 : (threads + PRODUCT_THREADS - 1) / PRODUCT_THREADS);
    }
    /* M += U V, after which nothing is pending. */
    void apply() {
        rank_update(rank, *this, view.rows, view.lines, pending, view.u, view.pitch, view.v, view.wide, view.matrix,
                    view.pitch);
        pending = 0;
    }
};

CudaSimplex *cuda_simplex(void *engine) { return static_cast<CudaSimplex *>(engine); }

/* ---- Shape and memory ---- */

/* Everything that follows from the shape and the device. Ranges per block are multiples of 32, so that warps are
 * full. */
void simplex_set_shape(const gpuopt_context *context, gpuopt__simplex_shape *shape, SimplexView *view) {
    bool revised = shape->method == GPUOPT_METHOD_REVISED;
    auto padded = [](int64_t n) { return (n + 15) / 16 * 16; };
    if (shape->pricing == GPUOPT_PRICING_STEEPEST_EDGE) shape->deferred_pivots = 1;
    if (shape->deferred_pivots == 0) shape->deferred_pivots = 64;
    *view = {};
    view->rows = shape->rows;
    view->cols = shape->cols;
    view->lines = revised ? shape->rows : shape->cols;
    /* reinversion always defers */
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

/* Cuts the device's block into arrays; with base null it only measures. Returns where the vectors begin. */
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
    double **const of_both[] = {&s.in, &s.in_low, &s.out, &s.doubt};
    for (double **array : of_both) simplex_cut(arena, array, both);
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

using RunKernel = void (*)(SimplexView, gpuopt__simplex_run, int, int64_t);
using EnterKernel = void (*)(SimplexView, int, int, int, double);

RunKernel simplex_run_kernel(const CudaSimplex &s) {
    if (s.revised) return s.deferred ? simplex_run<true, true> : simplex_run<true, false>;
    return s.deferred ? simplex_run<false, true> : simplex_run<false, false>;
}

EnterKernel simplex_enter_kernel(const CudaSimplex &s) {
    return s.revised ? simplex_enter<true> : simplex_enter<false>;
}

/* Whether the blocks' shared memory also has room for their parts of U and V, or for the whole pivot column. */
void simplex_choose_resident(CudaSimplex *s) {
    bool &extra = s->deferred ? s->view.resident : s->view.whole;
    extra = true;
    extra = simplex_shared_bytes(s->view) <= static_cast<size_t>(cuda_of(s->context())->block_memory);
}

/* Loads a kernel, and allows it the shared memory that it needs; UNSUPPORTED if the device has less. */
template <class Kernel>
gpuopt_status simplex_prepare(const CudaSimplex &s, Kernel kernel, size_t bytes) {
    int fit = 0;
    gpuopt_status status = load_kernel(s.context(), kernel);
    if (status) return status;
    if (bytes <= static_cast<size_t>(cuda_of(s.context())->block_memory))
        GPUOPT_CUDA(s.context(), cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, SIMPLEX_THREADS, bytes));
    if (fit > 0 && cuda_of(s.context())->cooperative) return GPUOPT_OK;
    gpuopt__log(s.context(), 0,
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
    give_pinned(context, s->view.report);
    gpuopt__release(context, GPUOPT_DEVICE, s->device);
    gpuopt__release(context, GPUOPT_HOST, s);
}

/* Copies the host's matrix, then scales and transposes it on the device. The memory of the tableau or inverse, not yet
 * in use, holds the counts. */
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
    status = s->clear(v.cells, 0, sizeof(Cell) * 2 * static_cast<size_t>(v.blocks));
    if (!status) status = s->clear(v.winners, 0, sizeof(Cell) * 4 * static_cast<size_t>(v.groups));
    if (!status) status = s->clear(v.number, 0, 2 * sizeof(unsigned));
    if (!status) status = s->clear(v.alpha, 0, sizeof(double) * static_cast<size_t>(v.pitch));
    if (!status) status = s->clear(v.drifted, 0, sizeof(int64_t));
    if (status) return status;
    int64_t most = v.lines < 512 ? v.lines : 512; /* warps; their counts fit the matrix */
    int warps = static_cast<int>(most < 1 ? 1 : most);
    auto *count = reinterpret_cast<int *>(v.matrix);
    unsigned by_warps = CudaSimplex::blocks(32 * warps), by_rows = CudaSimplex::blocks(v.rows);
    if (v.cols > 0 && v.rows > 0) {
        s->launch({CudaSimplex::blocks(32 * static_cast<int64_t>(v.cols)), PRODUCT_THREADS}, scale_columns, v, col_val,
                  v.rho, v.in);
        s->launch({by_warps, PRODUCT_THREADS}, count_rows, v, count, warps);
        s->launch({by_rows, PRODUCT_THREADS}, add_counts, v, count, warps, row_start);
        s->launch({1, 1024}, add_lengths, row_start, v.rows);
        s->launch({by_warps, PRODUCT_THREADS}, fill_rows, v, count, warps, row_col, row_val);
    } else {
        status = s->clear(row_start, 0, bytes(lp->rows + 1, sizeof(int64_t)));
    }
    if (!status) status = s->launched("transposing the model");
    return status ? status : s->wait("copying the model to the device");
}

gpuopt_status simplex_open(CudaSimplex *s, gpuopt__simplex_shape *shape) {
    gpuopt__arena arena = {nullptr, 0};
    simplex_set_shape(s->context(), shape, &s->view);
    simplex_choose_resident(s);
    gpuopt_status status = simplex_prepare(*s, simplex_run_kernel(*s), simplex_shared_bytes(s->view));
    if (!status) status = simplex_prepare(*s, simplex_enter_kernel(*s), enter_shared_bytes(s->view));
    if (!status) status = rank_update_open(s->context(), &s->rank);
    if (status) return status;
    simplex_cut_device(&arena, shape->nonzeros, &s->view);
    status = gpuopt__allocate(s->context(), GPUOPT_DEVICE, arena.used, &s->device);
    if (status) return status;
    arena.base = static_cast<char *>(s->device);
    arena.used = 0;
    uint64_t vectors = simplex_cut_device(&arena, shape->nonzeros, &s->view);
    s->vectors = arena.base + vectors;
    s->vector_bytes = static_cast<size_t>(arena.used - vectors);
    status = take_pinned(s->context(), &s->view.report);
    return status ? status : simplex_upload(s);
}

gpuopt_status cuda_simplex_create(gpuopt_context *context, const gpuopt__simplex_shape *shape,
                                  const gpuopt__simplex_lp *lp, gpuopt__simplex_vectors *vectors, void **engine) {
    DeviceScope scope(context);
    gpuopt__simplex_shape same = *shape;
    void *memory;
    gpuopt_status status = gpuopt__allocate(context, GPUOPT_HOST, sizeof(CudaSimplex), &memory);
    if (status) return status;
    CudaSimplex *s = new (memory) CudaSimplex(context);
    s->lp = lp;
    s->host = vectors;
    s->revised = shape->method == GPUOPT_METHOD_REVISED;
    s->deferred = shape->deferred_pivots != 1 && shape->pricing != GPUOPT_PRICING_STEEPEST_EDGE;
    status = simplex_open(s, &same);
    if (status) cuda_simplex_destroy(context, s);
    else *engine = s;
    return status;
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CREATE_CUH */
