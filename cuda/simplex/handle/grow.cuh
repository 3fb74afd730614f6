/* SPDX-License-Identifier: MIT
 *
 * The simplex engine of the GPU: pivots from any basis, and adding and removing rows and columns. The model changes in
 * host memory, by the CPU's functions, and is then copied to the device again. The inverse or tableau changes on the
 * device: it gets a border or loses rows and columns, as described in gpuopt_impl/simplex/cpu/add_and_remove.h.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_HANDLE_GROW_CUH
#define GPUOPT_CUDA_SIMPLEX_HANDLE_GROW_CUH

#include "../../../gpuopt_impl/simplex/model/edit.h"
#include "solve.cuh"

namespace {

/* ---- Columns of any basis, and pivots from it ---- */

gpuopt_status cuda_simplex_column(void *engine, int32_t slot, double *x) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    const SimplexView &v = s->view;
    const size_t bytes = bytes_of<double>(v.rows);
    const int variable = s->host->slot[slot];
    gpuopt_status status = GPUOPT_OK;
    if (s->split.ranks > 1) return split_get_column(s, slot, x);
    const double *column = v.matrix + v.pitch * (s->revised ? variable - v.cols : slot);
    s->apply();
    if (s->revised && variable < v.cols) {
        status = s->clear(v.in, 0, bytes);
        s->launch({CudaSimplex::blocks(v.rows), PRODUCT_THREADS}, scatter_column, v, variable);
        simplex_combine(s, v.in);
        column = v.out;
    }
    if (!status) status = s->launched("a column");
    if (!status) status = s->copy(x, column, bytes);
    return status ? status : s->wait("reading a column");
}

gpuopt_status cuda_simplex_exchange(void *engine, int32_t count, const int32_t *slot, const int32_t *wanted,
                                    double least, uint8_t *open, int32_t *position) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    const SimplexView &v = s->view;
    s->weighs = 0;
    gpuopt_status status = s->copy(v.column, slot, bytes_of<int32_t>(count));
    if (!status && s->revised) status = s->copy(v.vec.slot, s->host->slot, bytes_of<int32_t>(v.cols));
    if (!status && s->revised) s->launch({CudaSimplex::blocks(count), PRODUCT_THREADS}, slots_to_variables, v, count);
    return status ? split_status(s, status) : simplex_enter_listed(s, count, slot, wanted, least, open, position);
}

/* ---- The model in host memory ---- */

gpuopt__simplex_lines simplex_host_lines(const CudaSimplex *s, bool by_rows) {
    const gpuopt__simplex_pattern &p = s->pattern;
    return {const_cast<int64_t *>(by_rows ? p.row_start : p.col_start),
            const_cast<int32_t *>(by_rows ? p.row_col : p.col_row), by_rows ? s->row_val : s->col_val,
            by_rows ? s->view.rows : s->view.cols};
}

gpuopt_status simplex_fetch_model(CudaSimplex *s) {
    gpuopt__simplex_pattern pattern;
    gpuopt_status status = s->values_here ? GPUOPT_OK : cuda_simplex_pattern(s, &pattern);
    if (status || s->values_here) return status;
    status = s->copy(s->col_val, s->view.col_val, bytes_of<double>(s->lp->nonzeros));
    if (!status) status = s->copy(s->row_val, s->view.row_val, bytes_of<double>(s->lp->nonzeros));
    if (!status) status = s->wait("reading the matrix");
    s->values_here = !status;
    return status;
}

/* Sends the model, which now has `rows` rows and `cols` columns, to the device. */
gpuopt_status simplex_send_model(CudaSimplex *s, int rows, int cols) {
    gpuopt_status status = GPUOPT_OK;
    s->models++;
    simplex_set_size(&s->view, s->revised, rows, cols);
    for (int by_rows = 0; by_rows < 2 && !status; by_rows++) {
        const gpuopt__simplex_lines from = simplex_host_lines(s, by_rows);
        const ModelArrays to = by_rows ? model_rows(s->view) : model_columns(s->view);
        const int64_t count = from.start[from.count];
        status = s->copy(to.start, from.start, bytes_of<int64_t>(static_cast<int64_t>(from.count) + 1));
        if (!status) status = s->copy(to.index, from.index, bytes_of<int32_t>(count));
        if (!status) status = s->copy(to.val, from.value, bytes_of<double>(count));
    }
    return status ? status : s->wait("copying the matrix to the device");
}

/* ---- New rows and columns ---- */

gpuopt_status cuda_simplex_offer(void *engine, int by_rows, int scaling, const gpuopt_matrix *lines, int *exact) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    gpuopt_status status = simplex_fetch_model(s);
    if (status) return status;
    const gpuopt__simplex_lines to = simplex_host_lines(s, by_rows);
    gpuopt__simplex_take_lines(&to, by_rows, scaling, lines, by_rows ? s->lp->col_scale : s->lp->row_scale,
                               by_rows ? s->lp->row_scale : s->lp->col_scale, exact);
    return GPUOPT_OK;
}

/* Adds the new row's position: its row of the matrix and, with REVISED, its column, a unit vector. */
gpuopt_status simplex_add_border(CudaSimplex *s, int row) {
    static const double one = 1;
    const SimplexView &v = s->view;
    const gpuopt__simplex_lines rows = simplex_host_lines(s, true);
    double *by_col = s->scratch, *by_position = by_col + v.cols;
    memset(by_col, 0, bytes_of<double>(v.cols));
    for (int64_t e = rows.start[row]; e < rows.start[row + 1]; e++) by_col[rows.index[e]] = rows.value[e];
    for (int i = 0; i < v.rows; i++) by_position[i] = s->host->head[i] < v.cols ? by_col[s->host->head[i]] : 0;
    gpuopt_status status = s->copy(v.in, by_position, bytes_of<double>(v.rows));
    if (!status) status = s->copy(v.in_low, by_col, bytes_of<double>(v.cols));
    if (!status && s->revised) status = s->clear(v.matrix + row * v.pitch, 0, bytes_of<double>(v.pitch));
    if (!status && s->revised) status = s->copy(v.matrix + row * v.pitch + row, &one, sizeof one);
    if (status) return status;
    s->launch({blocks_of_lines(v.lines), PRODUCT_THREADS}, add_border, v, row, !s->revised);
    s->launch({1, 32}, weigh_border, v, row, s->weighs == GPUOPT_DUAL_PRICING_STEEPEST_EDGE + 1, !s->revised);
    status = s->launched("the border of the inverse");
    return status ? status : s->wait("the border of the inverse");
}

/* Adds the new column of the tableau. */
gpuopt_status simplex_add_slot(CudaSimplex *s, int col) {
    const SimplexView &v = s->view;
    const gpuopt__simplex_lines cols = simplex_host_lines(s, false);
    double *x = s->scratch;
    memset(x, 0, bytes_of<double>(v.rows));
    for (int64_t e = cols.start[col]; e < cols.start[col + 1]; e++) x[cols.index[e]] = cols.value[e];
    gpuopt_status status = cuda_simplex_ftran(s, x);
    if (!status) status = s->clear(v.matrix + col * v.pitch, 0, bytes_of<double>(v.pitch));
    if (!status) status = s->copy(v.matrix + col * v.pitch, x, bytes_of<double>(v.rows));
    return status ? status : s->wait("a column of the tableau");
}

gpuopt_status cuda_simplex_accept(void *engine, int by_rows, int32_t count) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    const gpuopt__simplex_lines from = simplex_host_lines(s, by_rows), to = simplex_host_lines(s, !by_rows);
    /* The kernels read the variables of positions and slots. */
    gpuopt_status status = s->copy(s->vectors, s->host->xb, s->vector_bytes);
    if (by_rows || !s->revised) s->apply();
    for (int k = 0; k < count && !status; k++)
        if (by_rows) status = simplex_add_border(s, from.count + k);
        else if (!s->revised) status = simplex_add_slot(s, from.count + k);
    if (status) return status;
    gpuopt__simplex_insert_lines(&from, count, &to, s->list);
    return simplex_send_model(s, s->view.rows + (by_rows ? count : 0), s->view.cols + (by_rows ? 0 : count));
}

/* ---- Removing rows and columns ---- */

/* Lists the indices that `stays` approves, and copies them to the device. Returns their number. */
template <class F>
gpuopt_status simplex_list_kept(CudaSimplex *s, int count, int *device, int *kept, F stays) {
    *kept = 0;
    for (int i = 0; i < count; i++)
        if (stays(i)) s->list[(*kept)++] = i;
    gpuopt_status status = s->copy(device, s->list, bytes_of<int32_t>(*kept));
    return status ? status : s->wait("copying what stays");
}

gpuopt_status cuda_simplex_drop(void *engine, int by_rows, const int32_t *to) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    const SimplexView &v = s->view;
    auto *from = reinterpret_cast<int *>(v.in); /* space for as many doubles as there are variables */
    int left = 0, lines = v.lines, kept = v.rows;
    gpuopt_status status = simplex_fetch_model(s);
    for (int k = 0; k < (by_rows ? v.rows : v.cols); k++) left += to[k] >= 0;
    if (by_rows || !s->revised) s->apply();
    if (!status && by_rows == s->revised) { /* removes columns of the matrix */
        status = simplex_list_kept(s, v.lines, from, &lines, [&](int c) {
            int line = s->revised ? c : s->host->slot[c];
            return (!s->revised && line >= v.cols) || to[line] >= 0;
        });
        if (!status) s->launch({CudaSimplex::blocks(v.rows), PRODUCT_THREADS}, keep_lines, v, from, lines);
    }
    if (!status && by_rows) {
        status = simplex_list_kept(s, v.rows, from, &kept, [&](int i) {
            return s->host->head[i] < v.cols || to[s->host->head[i] - v.cols] >= 0;
        });
        if (!status)
            s->launch({blocks_of_lines(lines), PRODUCT_THREADS}, keep_rows, v.matrix, v.pitch, lines, v.rows, from,
                      kept);
        if (!status && s->weighs) s->launch({1, 32}, keep_rows, v.dual_weight, v.pitch, 1, v.rows, from, kept);
        if (!status) status = s->clear(v.alpha, 0, bytes_of<double>(v.pitch));
    }
    if (!status) status = s->launched("removing rows and columns");
    if (status) return status;
    const gpuopt__simplex_lines gone = simplex_host_lines(s, by_rows), across = simplex_host_lines(s, !by_rows);
    gpuopt__simplex_take_out_lines(&gone, &across, to);
    return simplex_send_model(s, by_rows ? left : v.rows, by_rows ? v.cols : left);
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_HANDLE_GROW_CUH */
