/* SPDX-License-Identifier: MIT
 *
 * Copies the caller's matrix to the GPU unchanged, in one copy; everything else happens on the device (model.cuh). If
 * the device finds a fault in the entries, the CPU searches for it again, for the message or to tidy the matrix.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_ENGINE_UPLOAD_CUH
#define GPUOPT_CUDA_SIMPLEX_ENGINE_UPLOAD_CUH

#include "../../../gpuopt_impl/simplex/model/entries.h"
#include "../../common/cub.cuh"
#include "memory.cuh"
#include "model.cuh"

namespace {

gpuopt_status simplex_load_model(const gpuopt_context *context) {
    gpuopt_status status = load_kernels(context, check_entries, find_repeated, count_dense, pack_dense, count_across,
                                        add_counts, fill_across);
    return status ? status
                  : load_kernels(context, start_scales, sample_rows, scale_rows, scale_cols, round_rows, scale_entries);
}

template <class T>
size_t bytes_of(int64_t count) {
    return sizeof(T) * static_cast<size_t>(count);
}

/* The matrix by columns or by rows, during its construction. */
struct ModelArrays {
    int lines, width;
    int64_t *start;
    int *index;
    double *val;

    ModelLines view() const { return {lines, width, start, index, val}; }
};

ModelArrays model_columns(const SimplexView &v) {
    return {v.cols, v.rows, const_cast<int64_t *>(v.col_start), const_cast<int *>(v.col_row),
            const_cast<double *>(v.col_val)};
}
ModelArrays model_rows(const SimplexView &v) {
    return {v.rows, v.cols, const_cast<int64_t *>(v.row_start), const_cast<int *>(v.row_col),
            const_cast<double *>(v.row_val)};
}

/* Blocks for a warp per line. */
unsigned blocks_of_lines(int64_t lines) { return CudaSimplex::blocks(32 * lines); }

/* A transposition: a matrix by lines, and the same matrix by lines across. The counts use memory of the inverse or
 * tableau, which is not yet in use, or from `in` to `error_sum`. */
struct Transposition {
    ModelArrays from, to;
    int *count;
    int warps;
};

Transposition plan_transposition(const SimplexView &v, const ModelArrays &from, const ModelArrays &to) {
    int64_t matrix = simplex_matrix_entries(v), products = 4 * (static_cast<int64_t>(v.rows) + v.cols);
    int64_t fitting = 2 * (matrix > products ? matrix : products) / (from.width > 0 ? from.width : 1);
    int64_t most = from.lines < fitting ? from.lines : fitting;
    return {from, to, reinterpret_cast<int *>(matrix > products ? v.matrix : v.in),
            static_cast<int>(most < 1024 ? most : 1024)};
}

/* Turns start[0 .. count - 1] from lengths of lines into starts; start[count] becomes the total. The scratch memory is
 * the products', which need it later. */
gpuopt_status add_lengths(CudaSimplex *s, int64_t *start, int count) {
    const SimplexView &v = s->view;
    const Scratch scratch = {v.partial, bytes_of<double>(v.pitch * SIMPLEX_PARTS + v.cols)};
    s->zero(start + count, sizeof *start);
    return sum_before(*s, scratch, start, static_cast<int64_t>(count) + 1);
}

/* The first half needs only indices. */
gpuopt_status count_across_lines(CudaSimplex *s, const Transposition &t) {
    int *faults = s->view.faults;
    s->launch({blocks_of_lines(t.warps), PRODUCT_THREADS}, count_across, t.from.view(), t.count, t.warps, faults);
    s->launch({CudaSimplex::blocks(t.from.width), PRODUCT_THREADS}, add_counts, t.from.width, t.count, t.warps,
              t.to.start, faults);
    return add_lengths(s, t.to.start, t.to.lines);
}
void fill_across_lines(CudaSimplex *s, const Transposition &t) {
    int *faults = s->view.faults;
    s->launch({blocks_of_lines(t.warps), PRODUCT_THREADS}, fill_across, t.from.view(), t.count, t.warps, t.to.start,
              t.to.index, t.to.val, faults);
    s->launch({blocks_of_lines(t.to.lines), PRODUCT_THREADS}, find_repeated, t.to.lines, t.to.start, t.to.index,
              faults);
}

/* The device counts while the values are still being copied. */
gpuopt_status upload_sparse(CudaSimplex *s, const gpuopt_matrix &given, const Transposition &t) {
    int64_t count = s->lp->nonzeros, at_once = static_cast<int64_t>(cuda_of(s->context())->multiprocessors) * 2048;
    const Grid grid(CudaSimplex::blocks(count < at_once ? count : at_once), PRODUCT_THREADS);
    const double *no_values = nullptr;
    const int *no_indices = nullptr;
    gpuopt_status status =
        s->copy(t.from.start, given.start, bytes_of<int64_t>(static_cast<int64_t>(t.from.lines) + 1));
    if (!status) status = s->copy(t.from.index, given.index, bytes_of<int32_t>(count));
    if (status) return status;
    s->launch(grid, check_entries, count, t.from.width, t.from.index, no_values, s->view.faults);
    status = count_across_lines(s, t);
    if (!status) status = s->copy(t.from.val, given.value, bytes_of<double>(count));
    s->launch(grid, check_entries, count, t.from.width, no_indices, t.from.val, s->view.faults);
    return status ? status : s->launched("checking the matrix");
}

/* Passes a dense matrix through the memory of the inverse or tableau. If that is smaller, in several pieces, once to
 * count and once to pack. */
gpuopt_status upload_dense(CudaSimplex *s, const double *dense, const ModelArrays &to) {
    const SimplexView &v = s->view;
    int64_t rows = v.rows, share = simplex_matrix_entries(v) / rows;
    bool all = share >= v.cols;
    gpuopt_status status = GPUOPT_OK;
    for (int pass = 0; pass < 2 && !status; pass++) {
        for (int64_t first = 0; first < v.cols && !status; first += share) {
            int cols = static_cast<int>(v.cols - first < share ? v.cols - first : share);
            if (pass == 0 || !all) status = s->copy(v.matrix, dense + first * rows, bytes_of<double>(rows * cols));
            if (pass == 0)
                s->launch({blocks_of_lines(cols), PRODUCT_THREADS}, count_dense, v.rows, cols, v.matrix,
                          to.start + first, v.faults);
            else
                s->launch({blocks_of_lines(cols), PRODUCT_THREADS}, pack_dense, v.rows, cols, v.matrix,
                          to.start + first, to.index, to.val);
        }
        if (pass == 0 && !status) status = add_lengths(s, to.start, v.cols);
    }
    return status ? status : s->launched("packing the matrix");
}

/* Where scales are until the control has them: in vectors of the products, by rows and by columns. */
ModelScales model_scales(const SimplexView &v) {
    return {v.rho, v.in, reinterpret_cast<unsigned long long *>(v.rho_sum),
            reinterpret_cast<unsigned long long *>(v.tau)};
}

/* Like gpuopt__simplex_choose_scales. */
void choose_scales(CudaSimplex *s) {
    const SimplexView &v = s->view;
    const ModelLines columns = model_columns(v).view();
    const ModelScales scales = model_scales(v);
    unsigned by_columns = blocks_of_lines(v.cols), by_rows = CudaSimplex::blocks(v.rows);
    s->launch({CudaSimplex::blocks(v.rows > v.cols ? v.rows : v.cols), PRODUCT_THREADS}, start_scales, v.rows, v.cols,
              scales);
    for (int round = 0; round < GPUOPT__SIMPLEX_SCALE_ROUNDS; round++) {
        s->launch({by_columns, PRODUCT_THREADS}, sample_rows, columns, scales, v.faults);
        s->launch({by_rows, PRODUCT_THREADS}, scale_rows, v.rows, scales);
        s->launch({by_columns, PRODUCT_THREADS}, scale_cols, columns, scales, false, v.faults);
    }
    s->launch({by_columns, PRODUCT_THREADS}, scale_cols, columns, scales, true, v.faults);
    s->launch({by_rows, PRODUCT_THREADS}, round_rows, v.rows, scales);
}

/* Fills the device's matrix, without scales, and the control's scales. */
gpuopt_status simplex_take(CudaSimplex *s, const gpuopt__simplex_options *desc, int *moderate) {
    const SimplexView &v = s->view;
    const ModelArrays columns = model_columns(v), rows = model_rows(v);
    bool by_rows = desc->matrix.start && desc->matrix.layout == GPUOPT_LAYOUT_CSR;
    const Transposition transposition = plan_transposition(v, by_rows ? rows : columns, by_rows ? columns : rows);
    int faults = 0;
    *moderate = 1;
    gpuopt__simplex_no_scales(s->lp);
    if (s->lp->nonzeros == 0) {
        gpuopt_status status = s->clear(columns.start, 0, bytes_of<int64_t>(static_cast<int64_t>(v.cols) + 1));
        return status ? status : s->clear(rows.start, 0, bytes_of<int64_t>(static_cast<int64_t>(v.rows) + 1));
    }
    gpuopt_status status = s->clear(v.faults, 0, sizeof(int));
    if (!status)
        status =
            desc->matrix.start ? upload_sparse(s, desc->matrix, transposition) : upload_dense(s, desc->dense, columns);
    if (!status && !desc->matrix.start) status = count_across_lines(s, transposition);
    if (status) return status;
    fill_across_lines(s, transposition);
    if (desc->scaling != GPUOPT_OFF) {
        choose_scales(s);
        status = s->copy(s->lp->row_scale, v.rho, bytes_of<double>(v.rows));
        if (!status) status = s->copy(s->lp->col_scale, v.in, bytes_of<double>(v.cols));
    }
    if (!status) status = s->launched("transposing and scaling the matrix");
    if (!status) status = s->copy(&faults, v.faults, sizeof faults);
    if (!status) status = s->wait("copying the matrix to the device");
    *moderate = !(faults & MODEL_EXTREME);
    if (status || !(faults & MODEL_REFUSED)) return status;
    if (desc->matrix.start) return GPUOPT__UNTIDY;
    gpuopt__log(s->context(), 0, "gpuopt_simplex_create: the matrix is not the same on the device");
    return GPUOPT_ERROR_DEVICE;
}

gpuopt_status cuda_simplex_scale(void *engine) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    const SimplexView &v = s->view;
    const ModelArrays columns = model_columns(v), rows = model_rows(v);
    if (s->lp->nonzeros == 0) return GPUOPT_OK;
    gpuopt_status status = s->copy(v.rho, s->lp->row_scale, bytes_of<double>(v.rows));
    if (!status) status = s->copy(v.in, s->lp->col_scale, bytes_of<double>(v.cols));
    if (status) return status;
    s->launch({blocks_of_lines(v.cols), PRODUCT_THREADS}, scale_entries, columns.view(), columns.val, v.in, v.rho);
    s->launch({blocks_of_lines(v.rows), PRODUCT_THREADS}, scale_entries, rows.view(), rows.val, v.rho, v.in);
    return s->launched("scaling the matrix");
}

gpuopt_status cuda_simplex_pattern(void *engine, gpuopt__simplex_pattern *pattern) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    const SimplexView &v = s->view;
    auto fetch = [&](auto *to, const auto *from, int64_t count) {
        return s->copy(const_cast<std::remove_const_t<std::remove_pointer_t<decltype(to)>> *>(to), from,
                       sizeof *from * static_cast<size_t>(count));
    };
    *pattern = s->pattern;
    if (s->pattern_here) return GPUOPT_OK;
    gpuopt_status status = fetch(s->pattern.col_start, v.col_start, static_cast<int64_t>(v.cols) + 1);
    if (!status) status = fetch(s->pattern.row_start, v.row_start, static_cast<int64_t>(v.rows) + 1);
    if (!status) status = fetch(s->pattern.col_row, v.col_row, s->lp->nonzeros);
    if (!status) status = fetch(s->pattern.row_col, v.row_col, s->lp->nonzeros);
    if (!status) status = s->wait("reading the pattern");
    s->pattern_here = !status;
    return split_status(s, status);
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_ENGINE_UPLOAD_CUH */
