/* SPDX-License-Identifier: MIT
 *
 * The simplex engine of the GPU: launches the products that the control on the CPU needs.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_HANDLE_SOLVE_CUH
#define GPUOPT_CUDA_SIMPLEX_HANDLE_SOLVE_CUH

#include "split_run.cuh"

namespace {

/* ---- Products ---- */

/* out = the matrix times a vector, by columns. No pivots may be pending. */
void simplex_combine(CudaSimplex *s, const double *vector) {
    const SimplexView &v = s->view;
    int parts = simplex_parts(v.lines);
    unsigned by_rows = CudaSimplex::blocks(v.rows);
    if (parts > 0)
        s->launch({dim3(by_rows, static_cast<unsigned>(parts)), PRODUCT_THREADS}, combine_columns, v, vector, v.lines,
                  parts, nullptr);
    s->launch({by_rows, PRODUCT_THREADS}, add_parts, v, parts, !s->revised);
}

gpuopt_status cuda_simplex_ftran(void *engine, double *x) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    const SimplexView &v = s->view;
    double *vector = s->revised ? v.in : v.partial + v.pitch * SIMPLEX_PARTS;
    gpuopt_status status = s->copy(v.in, x, sizeof(double) * static_cast<size_t>(v.rows));
    if (status) return split_status(s, status);
    if (s->split.ranks > 1) return split_ftran(s, x);
    s->apply();
    if (!s->revised) s->launch({CudaSimplex::blocks(v.cols), PRODUCT_THREADS}, gather_logicals, v, vector);
    simplex_combine(s, vector);
    status = s->launched("FTRAN");
    if (!status) status = s->copy(x, v.out, sizeof(double) * static_cast<size_t>(v.rows));
    return status ? status : s->wait("FTRAN");
}

gpuopt_status cuda_simplex_btran(void *engine, double *y) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    const SimplexView &v = s->view;
    gpuopt_status status = s->copy(v.in, y, sizeof(double) * static_cast<size_t>(v.rows));
    if (status) return split_status(s, status);
    if (s->split.ranks > 1) return split_btran(s, y);
    s->apply();
    s->launch({CudaSimplex::blocks(32 * static_cast<int64_t>(v.lines)), PRODUCT_THREADS}, dot_columns, v, !s->revised);
    if (!s->revised) s->launch({CudaSimplex::blocks(v.rows), PRODUCT_THREADS}, copy_basic_logicals, v);
    status = s->launched("BTRAN");
    if (!status) status = s->copy(y, v.out, sizeof(double) * static_cast<size_t>(v.rows));
    return status ? status : s->wait("BTRAN");
}

/* Whether many lanes share a line of the original data. Depends only on the model, as the sums' last bits must. */
bool batch_lanes(const CudaSimplex *s, int lines) {
    return s->lp->nonzeros >= MANY_ENTRIES * static_cast<int64_t>(lines);
}
unsigned blocks_of_sums(int64_t lines, bool many) {
    return CudaSimplex::blocks(lines * (many ? +MANY_LANES : +FEW_LANES));
}

/* Copies s.out and s.error_sum to host memory; error_sum may be null. */
gpuopt_status simplex_fetch_sums(CudaSimplex *s, const char *what, int64_t count, double *out, double *error_sum) {
    size_t bytes = sizeof(double) * static_cast<size_t>(count);
    gpuopt_status status = s->launched(what);
    if (!status) status = s->copy(out, s->view.out, bytes);
    if (!status && error_sum) status = s->copy(error_sum, s->view.error_sum, bytes);
    return split_status(s, status ? status : s->wait(what));
}

gpuopt_status cuda_simplex_residual(void *engine, const double *x, const double *x_low, double *r, double *error_sum) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    const SimplexView &v = s->view;
    size_t bytes = sizeof(double) * (static_cast<size_t>(v.rows) + static_cast<size_t>(v.cols));
    gpuopt_status status = s->copy(v.in, x, bytes);
    if (!status && x_low) status = s->copy(v.in_low, x_low, bytes);
    if (status) return split_status(s, status);
    bool many = batch_lanes(s, v.rows);
    s->launch({blocks_of_sums(v.rows, many), PRODUCT_THREADS},
              many ? residual_rows<MANY_LANES> : residual_rows<FEW_LANES>, v, x_low ? v.in_low : nullptr, v.error_sum);
    return simplex_fetch_sums(s, "the residual", v.rows, r, error_sum);
}

gpuopt_status cuda_simplex_reduce(void *engine, const double *cost, const double *y, const double *y_low, double *d,
                                  double *error_sum) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    const SimplexView &v = s->view;
    int64_t both = static_cast<int64_t>(v.rows) + v.cols;
    size_t of_rows = sizeof(double) * static_cast<size_t>(v.rows);
    gpuopt_status status = s->copy(v.in, cost, sizeof(double) * static_cast<size_t>(both));
    if (!status) status = s->copy(v.rho, y, of_rows);
    if (!status && y_low) status = s->copy(v.in_low, y_low, of_rows);
    if (status) return split_status(s, status);
    bool many = batch_lanes(s, v.cols);
    s->launch({blocks_of_sums(both, many), PRODUCT_THREADS},
              many ? reduce_columns<MANY_LANES> : reduce_columns<FEW_LANES>, v, v.rho, y_low ? v.in_low : nullptr,
              v.error_sum);
    return simplex_fetch_sums(s, "reduced costs", both, d, error_sum);
}

/* of_rows = |A| |x|, and of_cols = |A|' |y|. */
gpuopt_status cuda_simplex_sizes(void *engine, const double *x, const double *y, double *of_rows, double *of_cols) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    const SimplexView &v = s->view;
    gpuopt_status status = GPUOPT_OK;
    if (x) {
        status = s->copy(v.in, x, bytes_of<double>(v.cols));
        if (status) return split_status(s, status);
        s->launch({CudaSimplex::blocks(32 * static_cast<int64_t>(v.rows)), PRODUCT_THREADS}, line_sizes, v.rows,
                  v.row_start, v.row_col, v.row_val, v.in, v.out);
        status = simplex_fetch_sums(s, "sizes of rows", v.rows, of_rows, nullptr);
    }
    if (!status && y) {
        status = s->copy(v.in, y, bytes_of<double>(v.rows));
        if (status) return split_status(s, status);
        s->launch({CudaSimplex::blocks(32 * static_cast<int64_t>(v.cols)), PRODUCT_THREADS}, line_sizes, v.cols,
                  v.col_start, v.col_row, v.col_val, v.in, v.out);
        status = simplex_fetch_sums(s, "sizes of columns", v.cols, of_cols, nullptr);
    }
    return status;
}

/* ---- Other bases ---- */

/* Pivots the columns in s.column in. With several ranks s.column has slots, and `slot` is its copy in host memory. */
gpuopt_status simplex_enter_listed(CudaSimplex *s, int count, const int32_t *slot, const int32_t *wanted, double least,
                                   uint8_t *open, int32_t *position) {
    const bool alone = s->split.ranks == 1;
    const SimplexView &v = s->view;
    size_t bytes = bytes_of<int32_t>(count);
    gpuopt_status status = s->copy(v.wanted, wanted, bytes);
    if (!status) status = s->copy(v.open, open, static_cast<size_t>(v.rows));
    if (!status && !alone) status = split_enter(s, count, slot, least);
    for (int first = 0; alone && first < count && !status; first = v.report->entering) {
        if (s->pending == v.most) s->apply();
        status = simplex_launch(s, simplex_enter_kernel(*s), enter_shared_bytes(v), v, first, count, s->pending, least);
        if (!status) s->pending += v.report->pivots;
    }
    if (!status && !s->deferred) s->apply();
    if (!status) status = s->copy(position, v.position, bytes);
    if (!status) status = s->copy(open, v.open, static_cast<size_t>(v.rows));
    return split_status(s, status ? status : s->wait("pivoting"));
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_HANDLE_SOLVE_CUH */
