/* SPDX-License-Identifier: MIT
 *
 * A dense matrix kept as M + U V, so that pivots can be collected. A pivot on row p sets row p of M and of U to 0 and
 * appends a column to U and the scaled pivot row to V. Once U is full, one matrix product applies all of them to M. The
 * CPU backend keeps a dense basis inverse in this form (square), and a condensed simplex tableau (where a pivot also
 * replaces the pivot column).
 */
#ifndef GPUOPT_IMPL_DEFERRED_H
#define GPUOPT_IMPL_DEFERRED_H

#include "backend.h"

typedef struct gpuopt__deferred {
    double *matrix; /* [cols][rows]: M, column after column */
    double *u;      /* [most][rows]: U, column after column */
    double *v;      /* [most][cols]: V, row after row */
    int32_t rows, cols;
    int32_t count; /* columns of U and rows of V in use */
    int32_t most;  /* the limit of count */
} gpuopt__deferred;

/* Cuts the three arrays from an arena; nothing is pending. */
static void gpuopt__deferred_cut(gpuopt__arena *arena, gpuopt__deferred *d, int32_t rows, int32_t cols, int32_t most) {
    d->rows = rows;
    d->cols = cols;
    d->most = most;
    d->count = 0;
    d->matrix = (double *)gpuopt__cut(arena, (int64_t)rows * cols, sizeof(double));
    d->u = (double *)gpuopt__cut(arena, (int64_t)rows * most, sizeof(double));
    d->v = (double *)gpuopt__cut(arena, (int64_t)cols * most, sizeof(double));
}

/* Column `col` of M. */
static double *gpuopt__deferred_stored(const gpuopt__deferred *d, int32_t col) {
    return d->matrix + (int64_t)col * d->rows;
}

/* For loops with independent iterations: vector instructions do not change the result. */
#ifdef GPUOPT__OPENMP
#define GPUOPT__SIMD _Pragma("omp simd")
#else
#define GPUOPT__SIMD
#endif

/* x += factor * y. */
static void gpuopt__axpy(int32_t n, double factor, const double *y, double *x) {
    int32_t i;
    GPUOPT__SIMD
    for (i = 0; i < n; i++) x[i] += factor * y[i];
}

/* Adds x'y to the eight interleaved parts of a sum. A longer sum is added in pieces of a multiple of 8 numbers. */
static void gpuopt__dot_parts(int32_t n, const double *x, const double *y, double *sum) {
    int32_t i, k;
    for (i = 0; i + 8 <= n; i += 8) {
        GPUOPT__SIMD
        for (k = 0; k < 8; k++) sum[k] += x[i + k] * y[i + k];
    }
    for (k = 0; i < n; i++, k++) sum[k] += x[i] * y[i];
}

static double gpuopt__dot_of_parts(const double *sum) {
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

/* x'y, summed in eight interleaved parts. */
static double gpuopt__dot(int32_t n, const double *x, const double *y) {
    double sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    gpuopt__dot_parts(n, x, y, sum);
    return gpuopt__dot_of_parts(sum);
}

/* x [rows] = column `col` of M + U V. */
static void gpuopt__deferred_column(const gpuopt__deferred *d, int32_t col, double *x) {
    int32_t k;
    memcpy(x, gpuopt__deferred_stored(d, col), sizeof(double) * (size_t)d->rows);
    for (k = 0; k < d->count; k++) {
        double factor = d->v[(int64_t)k * d->cols + col];
        if (factor != 0) gpuopt__axpy(d->rows, factor, d->u + (int64_t)k * d->rows, x);
    }
}

/* y [cols] = row `row` of M + U V. */
static void gpuopt__deferred_row(const gpuopt__deferred *d, int32_t row, double *y) {
    int32_t j, k;
    for (j = 0; j < d->cols; j++) y[j] = gpuopt__deferred_stored(d, j)[row];
    for (k = 0; k < d->count; k++) {
        double factor = d->u[(int64_t)k * d->rows + row];
        if (factor != 0) gpuopt__axpy(d->cols, factor, d->v + (int64_t)k * d->cols, y);
    }
}

/* x [rows] += M g, g [cols]; x and g do not overlap. */
static void gpuopt__deferred_add_stored(const gpuopt__deferred *d, const double *g, double *x) {
    int32_t j;
    for (j = 0; j < d->cols; j++)
        if (g[j] != 0) gpuopt__axpy(d->rows, g[j], gpuopt__deferred_stored(d, j), x);
}

/* One slice of a product with more columns: adds M g to x [rows] and V g to its parts [count][8]; g [cols]. */
static void gpuopt__deferred_times_part(const gpuopt__deferred *d, const double *g, double *x, double *parts) {
    int32_t k;
    gpuopt__deferred_add_stored(d, g, x);
    for (k = 0; k < d->count; k++) gpuopt__dot_parts(d->cols, d->v + (int64_t)k * d->cols, g, parts + 8 * (int64_t)k);
}

/* x [rows] += U (V g); `parts` holds the parts of V g. */
static void gpuopt__deferred_add_pending(const gpuopt__deferred *d, const double *parts, double *x) {
    int32_t k;
    for (k = 0; k < d->count; k++) {
        double factor = gpuopt__dot_of_parts(parts + 8 * (int64_t)k);
        if (factor != 0) gpuopt__axpy(d->rows, factor, d->u + (int64_t)k * d->rows, x);
    }
}

/* x [rows] = (M + U V) g, g [cols]; x and g do not overlap. */
static void gpuopt__deferred_times(const gpuopt__deferred *d, const double *g, double *x) {
    int32_t k;
    memset(x, 0, sizeof(double) * (size_t)d->rows);
    gpuopt__deferred_add_stored(d, g, x);
    for (k = 0; k < d->count; k++) {
        double factor = gpuopt__dot(d->cols, d->v + (int64_t)k * d->cols, g);
        if (factor != 0) gpuopt__axpy(d->rows, factor, d->u + (int64_t)k * d->rows, x);
    }
}

/* Lists the nonzeros of x if there are at most 64 and few compared with n; else returns -1. */
static int32_t gpuopt__few_entries(int32_t n, const double *x, int32_t at[64]) {
    int32_t i, count = 0;
    for (i = 0; i < n; i++) {
        if (x[i] == 0) continue;
        if (count == 64 || count > n / 16) return -1;
        at[count++] = i;
    }
    return count;
}

/* y [cols] = (M + U V)' c, c [rows]; y and c do not overlap. */
static void gpuopt__deferred_transposed_times(const gpuopt__deferred *d, const double *c, double *y) {
    int32_t j, k, at[64], few = gpuopt__few_entries(d->rows, c, at);
    for (j = 0; j < d->cols; j++) {
        const double *column = gpuopt__deferred_stored(d, j);
        double sum = 0;
        for (k = 0; k < few; k++) sum += column[at[k]] * c[at[k]];
        y[j] = few >= 0 ? sum : gpuopt__dot(d->rows, column, c);
    }
    for (k = 0; k < d->count; k++) {
        double factor = gpuopt__dot(d->rows, d->u + (int64_t)k * d->rows, c);
        if (factor != 0) gpuopt__axpy(d->cols, factor, d->v + (int64_t)k * d->cols, y);
    }
}

/* M += U V in columns from .. to - 1 and rows first .. first + rows - 1. Adds four columns of U in one pass over a
 * column of M; each element still receives its terms one by one, in ascending order of k. */
static void gpuopt__deferred_apply_rows(const gpuopt__deferred *d, int32_t first, int32_t rows, int32_t from,
                                        int32_t to) {
    int32_t i, j, k;
    for (j = from; j < to; j++) {
        double *x = gpuopt__deferred_stored(d, j) + first;
        const double *u[4];
        double factor[4];
        int found = 0;
        for (k = 0; k < d->count; k++) {
            factor[found] = d->v[(int64_t)k * d->cols + j];
            u[found] = d->u + (int64_t)k * d->rows + first;
            found += factor[found] != 0;
            if (found < 4) continue;
            found = 0;
            GPUOPT__SIMD
            for (i = 0; i < rows; i++)
                x[i] =
                    (((x[i] + factor[0] * u[0][i]) + factor[1] * u[1][i]) + factor[2] * u[2][i]) + factor[3] * u[3][i];
        }
        for (k = 0; k < found; k++) gpuopt__axpy(rows, factor[k], u[k], x);
    }
}

/* M += U V; then U and V are empty. Skips the columns of M for which the column of V is 0. */
static void gpuopt__deferred_apply(gpuopt__deferred *d, int threads) {
    enum { part_rows = 256, part_cols = 32 }; /* 256 rows of 16 columns of U are 32 KB and stay in the L1 cache */
    int32_t blocks = d->cols / part_cols + (d->cols % part_cols != 0), block;
    (void)threads;
#ifdef GPUOPT__OPENMP
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1 && (int64_t)d->rows * d->cols > 4096)
#endif
    for (block = 0; block < blocks; block++) {
        int32_t from = block * part_cols, to = d->cols - from < part_cols ? d->cols : from + part_cols, first;
        gpuopt__environment_scope scope;
        gpuopt__environment_enter(&scope);
        for (first = 0; first < d->rows; first += part_rows)
            gpuopt__deferred_apply_rows(d, first, d->rows - first < part_rows ? d->rows - first : part_rows, from, to);
        gpuopt__environment_leave(&scope);
    }
    d->count = 0;
}

/* Pivots on row p. alpha [rows] and row [cols]: the pivot column and the pivot row of M + U V before the pivot. q: the
 * column to be replaced by the column of the leaving variable, which is the unit vector e_p before the pivot; -1: none.
 * Requires count < most. */
static void gpuopt__deferred_pivot(gpuopt__deferred *d, int32_t p, int32_t q, const double *alpha, const double *row) {
    double *u = d->u + (int64_t)d->count * d->rows, *v = d->v + (int64_t)d->count * d->cols;
    double inverse = 1 / alpha[p];
    int32_t i, j, k;
    for (i = 0; i < d->rows; i++) u[i] = -alpha[i];
    u[p] = 1;
    for (j = 0; j < d->cols; j++) v[j] = row[j] * inverse;
    for (j = 0; j < d->cols; j++) gpuopt__deferred_stored(d, j)[p] = 0;
    for (k = 0; k < d->count; k++) d->u[(int64_t)k * d->rows + p] = 0;
    if (q >= 0) {
        v[q] = inverse;
        memset(gpuopt__deferred_stored(d, q), 0, sizeof(double) * (size_t)d->rows);
        for (k = 0; k < d->count; k++) d->v[(int64_t)k * d->cols + q] = 0;
    }
    d->count++;
}

#endif /* GPUOPT_IMPL_DEFERRED_H */
