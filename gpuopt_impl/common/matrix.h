/* SPDX-License-Identifier: MIT
 *
 * Sparse matrices as the caller gives them, by rows or by columns: checked, and transposed where a family works with
 * the other layout. A line is a row (CSR) or a column (CSC).
 */
#ifndef GPUOPT_IMPL_MATRIX_H
#define GPUOPT_IMPL_MATRIX_H

#include <float.h>

#include "checks.h"

static inline int32_t gpuopt__matrix_lines(const gpuopt_matrix *m) {
    return m->layout == GPUOPT_LAYOUT_CSR ? m->rows : m->cols;
}

/* Indices are below this. */
static inline int32_t gpuopt__matrix_width(const gpuopt_matrix *m) {
    return m->layout == GPUOPT_LAYOUT_CSR ? m->cols : m->rows;
}

/* ---- Checks ---- */

#define GPUOPT__LEAST_DOUBLE 4.9406564584124654e-324 /* DBL_TRUE_MIN, which C++ lacks */

/* Internal status: a matrix has explicit zeros or duplicates to be tidied (tidy_matrix.h). A backend that checks
 * numbers itself also returns it for a fault of any kind, which the CPU side then identifies. */
#define GPUOPT__UNTIDY ((gpuopt_status)1)

/* Logs the error in an entry of a line. */
static inline gpuopt_status gpuopt__refuse_entry(const gpuopt_context *context, const char *call, gpuopt_layout layout,
                                                 int32_t line, int64_t k, int32_t i, double value, int32_t width,
                                                 int repeated) {
    const char *kind = layout == GPUOPT_LAYOUT_CSR ? "row" : "column";
    const char *other = layout == GPUOPT_LAYOUT_CSR ? "column" : "row";
    if (i < 0 || i >= width)
        gpuopt__log(context, 0, "%s: %s %d: index[%lld] = %d is not in 0..%d", call, kind, (int)line, (long long)k,
                    (int)i, (int)width - 1);
    else if (repeated)
        gpuopt__log(context, 0, "%s: %s %d: %s %d comes twice, at index[%lld]", call, kind, (int)line, other, (int)i,
                    (long long)k);
    else
        gpuopt__log(context, 0, "%s: %s %d: value[%lld] = %g is zero, not finite, or not representable", call, kind,
                    (int)line, (long long)k, value);
    return GPUOPT_ERROR_ARGUMENT;
}

/* Checks the entries first .. end - 1 of one line: indices in range and distinct, sizes of values in [least, most].
 * tidies: faults that tidying mends give UNTIDY. seen[i]: the last line that had index i. single, or NULL: is cleared
 * if a value is no single-precision number. */
static inline gpuopt_status gpuopt__check_line(const gpuopt_context *context, const char *call, gpuopt_layout layout,
                                               int32_t line, int64_t first, int64_t end, const int32_t *index,
                                               const double *value, int32_t width, double least, double most,
                                               int tidies, int32_t *seen, int *single) {
    int64_t k;
    for (k = first; k < end; k++) {
        double size = fabs(value[k]);
        int32_t i = index[k];
        int inside = i >= 0 && i < width, repeated = inside && seen[i] == line;
        if (!inside || repeated || !(size >= least && size <= most)) {
            if (tidies && inside && (repeated || size == 0)) return GPUOPT__UNTIDY;
            return gpuopt__refuse_entry(context, call, layout, line, k, i, value[k], width, repeated);
        }
        seen[i] = line;
        if (single) *single &= size <= FLT_MAX && (double)(float)value[k] == value[k];
    }
    return GPUOPT_OK;
}

static inline gpuopt_status gpuopt__check_matrix_shape(const gpuopt_context *context, const char *call,
                                                       const gpuopt_matrix *m) {
    int32_t line, lines = gpuopt__matrix_lines(m);
    const gpuopt__choice layout = {"matrix.layout", (int64_t)m->layout, GPUOPT_LAYOUT_CSC};
    gpuopt_status status = gpuopt__check_choices(context, call, &layout, 1);
    if (status) return status;
    if (m->rows < 0 || m->cols < 0)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "matrix.rows or matrix.cols is negative");
    if (m->rows > INT32_MAX - 64 || m->cols > INT32_MAX - 64) /* leaves numbers for padding */
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "matrix.rows or matrix.cols is above 2^31 - 65");
    if (!m->start || m->start[0] != 0)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call,
                              "matrix.start is NULL, or its first entry is not 0");
    for (line = 0; line < lines; line++)
        if (m->start[line + 1] < m->start[line]) {
            gpuopt__log(context, 0, "%s: matrix.start[%d] = %lld is less than the start before it", call, (int)line + 1,
                        (long long)m->start[line + 1]);
            return GPUOPT_ERROR_ARGUMENT;
        }
    if (m->start[lines] > 0 && (!m->index || !m->value))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "matrix.index or matrix.value is NULL");
    return GPUOPT_OK;
}

/* Checks the entries of a matrix after its shape. UNTIDY: the context tidies matrices, and this one needs it. seen
 * [width]: scratch. single, or NULL: whether every value is a single-precision number. */
static inline gpuopt_status gpuopt__check_entries(const gpuopt_context *context, const char *call,
                                                  const gpuopt_matrix *m, double least, double most, int32_t *seen,
                                                  int *single) {
    int32_t i, line, lines = gpuopt__matrix_lines(m), width = gpuopt__matrix_width(m);
    gpuopt_status status = GPUOPT_OK;
    if (single) *single = 1;
    for (i = 0; i < width; i++) seen[i] = -1;
    for (line = 0; !status && line < lines; line++)
        status =
            gpuopt__check_line(context, call, m->layout, line, m->start[line], m->start[line + 1], m->index, m->value,
                               width, least, most, context->desc.tidy_matrices != GPUOPT_OFF, seen, single);
    return status;
}

/* ---- Copies ---- */

/* The arrays of a matrix in the library's own memory. */
typedef struct gpuopt__matrix_arrays {
    int64_t *start; /* [lines + 1] */
    int32_t *index; /* [nonzeros], as is value */
    double *value;
} gpuopt__matrix_arrays;

static inline gpuopt__matrix_arrays gpuopt__cut_matrix(gpuopt__arena *arena, int32_t lines, int64_t nonzeros) {
    gpuopt__matrix_arrays arrays;
    arrays.start = (int64_t *)gpuopt__cut(arena, (int64_t)lines + 1, sizeof(int64_t));
    arrays.index = (int32_t *)gpuopt__cut(arena, nonzeros, sizeof(int32_t));
    arrays.value = (double *)gpuopt__cut(arena, nonzeros, sizeof(double));
    return arrays;
}

static inline void gpuopt__point_to(gpuopt_matrix *m, const gpuopt__matrix_arrays *arrays) {
    m->start = arrays->start;
    m->index = arrays->index;
    m->value = arrays->value;
}

/* ---- Transposition ---- */

/* Transposes a matrix: the lines with index j are other_index[other_start[j] .. other_start[j + 1] - 1], ascending.
 * other_value, or NULL: the values in this order. from, or NULL: the original position of each entry. */
static inline void gpuopt__transpose(int32_t lines, int32_t width, const int64_t *start, const int32_t *index,
                                     const double *value, int64_t *other_start, int32_t *other_index,
                                     double *other_value, int64_t *from) {
    int64_t k, sum = 0;
    int32_t i, j;
    memset(other_start, 0, sizeof(int64_t) * ((size_t)width + 1));
    for (k = 0; k < start[lines]; k++) other_start[index[k]]++;
    for (j = 0; j <= width; j++) { /* the start of each line; filling moves it to the end */
        int64_t count = other_start[j];
        other_start[j] = sum;
        sum += count;
    }
    for (i = 0; i < lines; i++)
        for (k = start[i]; k < start[i + 1]; k++) {
            int64_t at = other_start[index[k]]++;
            other_index[at] = i;
            if (other_value) other_value[at] = value[k];
            if (from) from[at] = k;
        }
    for (j = width; j > 0; j--) other_start[j] = other_start[j - 1];
    other_start[0] = 0;
}

/* Host memory that gpuopt__matrix_in allocates. */
static inline uint64_t gpuopt__matrix_in_bytes(const gpuopt_matrix *m, gpuopt_layout layout) {
    gpuopt__arena arena = {NULL, 0};
    if (m->layout == layout || !m->start) return 0;
    gpuopt__cut_matrix(&arena, gpuopt__matrix_width(m), m->start[gpuopt__matrix_lines(m)]);
    return arena.used;
}

/* Provides a checked matrix in the layout that a family needs: *in is the caller's matrix, or a copy in *memory that
 * the caller of this function releases. */
static inline gpuopt_status gpuopt__matrix_in(const gpuopt_context *context, const gpuopt_matrix *m,
                                              gpuopt_layout layout, gpuopt_matrix *in, void **memory) {
    gpuopt__arena arena = {NULL, 0};
    gpuopt__matrix_arrays to;
    int32_t lines = gpuopt__matrix_lines(m), width = gpuopt__matrix_width(m);
    gpuopt_status status;
    *in = *m;
    *memory = NULL;
    if (m->layout == layout) return GPUOPT_OK;
    status = gpuopt__allocate(context, GPUOPT_HOST, gpuopt__matrix_in_bytes(m, layout), memory);
    if (status) return status;
    arena.base = (char *)*memory;
    to = gpuopt__cut_matrix(&arena, width, m->start[lines]);
    gpuopt__transpose(lines, width, m->start, m->index, m->value, to.start, to.index, to.value, NULL);
    gpuopt__point_to(in, &to);
    in->layout = layout;
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_MATRIX_H */
