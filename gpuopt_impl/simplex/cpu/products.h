/* SPDX-License-Identifier: MIT
 *
 * Products of the CPU's engine with the original matrix.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CPU_PRODUCTS_H
#define GPUOPT_IMPL_SIMPLEX_CPU_PRODUCTS_H

#include "engine.h"

/* ---- Sums in twice the working precision ---- */

/* The input of both products with A. */
typedef struct gpuopt__simplex_cpu_sums {
    const gpuopt__simplex_cpu *s;
    const double *cost, *x, *low; /* cost NULL: residual */
    double *result, *error_sum;
} gpuopt__simplex_cpu_sums;

/* The sum over row k, or with `cost` over column k, of the entries times x + low. */
static gpuopt__simplex_sum gpuopt__simplex_cpu_line(const gpuopt__simplex_cpu_sums *p, int32_t k) {
    const gpuopt__simplex_cpu *s = p->s;
    const int64_t *start = p->cost ? s->col_start : s->row_start;
    const int32_t *index = p->cost ? s->col_row : s->row_col;
    const double *value = p->cost ? s->col_val : s->row_val;
    gpuopt__simplex_sum sum = {0, 0, 0};
    int64_t e;
    for (e = start[k]; e < start[k + 1]; e++) {
        double b = p->x[index[e]], low = p->low ? p->low[index[e]] : 0;
        if (b != 0 || low != 0) gpuopt__simplex_add_product(&sum, value[e], b, low); /* many are 0 */
    }
    return sum;
}

/* The same for all lines, in s->sums. Zeros of x, which are often the majority, are skipped. */
static void gpuopt__simplex_cpu_lines_of(const gpuopt__simplex_cpu_sums *p) {
    const gpuopt__simplex_cpu *s = p->s;
    const int64_t *start = p->cost ? s->row_start : s->col_start;
    const int32_t *index = p->cost ? s->row_col : s->col_row;
    const double *value = p->cost ? s->row_val : s->col_val;
    const int32_t rows = s->lp->rows, cols = s->lp->cols, lines = p->cost ? rows : cols;
    int64_t e;
    int32_t k;
    memset(s->sums, 0, sizeof *s->sums * (size_t)(p->cost ? cols : rows));
    for (k = 0; k < lines; k++) {
        const double b = p->x[k], low = p->low ? p->low[k] : 0;
        for (e = start[k]; (b != 0 || low != 0) && e < start[k + 1]; e++)
            gpuopt__simplex_add_product(&s->sums[index[e]], value[e], b, low);
    }
}

static void gpuopt__simplex_cpu_residual_of(const gpuopt__simplex_cpu_sums *p, int32_t i, gpuopt__simplex_sum sum) {
    int32_t logical = p->s->lp->cols + i;
    gpuopt__simplex_add(&sum, p->x[logical], p->low ? p->low[logical] : 0, 0);
    p->result[i] = -gpuopt__simplex_total(&sum);
    if (p->error_sum) p->error_sum[i] = sum.error_sum;
}

static void gpuopt__simplex_cpu_reduce_of(const gpuopt__simplex_cpu_sums *p, int32_t j, gpuopt__simplex_sum sum) {
    int32_t row = j - p->s->lp->cols;
    if (row >= 0) gpuopt__simplex_add(&sum, p->x[row], p->low ? p->low[row] : 0, 0);
    gpuopt__simplex_add(&sum, -p->cost[j], 0, 0);
    p->result[j] = -gpuopt__simplex_total(&sum);
    if (p->error_sum) p->error_sum[j] = sum.error_sum;
}

/* In small models all lines together take less time than single lines. In large models threads share the lines. The
 * order of a sum depends only on the model, so the number of threads does not affect the result. */
static void gpuopt__simplex_cpu_sum_all(const gpuopt__simplex_cpu_sums *p, int32_t count) {
    enum { AT_ONCE = 64, SMALL = 16384 };
    const gpuopt__simplex_sum zero = {0, 0, 0};
    const int little = p->s->lp->nonzeros <= SMALL;
    const int32_t lines = p->cost ? p->s->lp->cols : count;
    int32_t part, parts = count / AT_ONCE + (count % AT_ONCE != 0);
    if (little) gpuopt__simplex_cpu_lines_of(p);
#ifdef GPUOPT__OPENMP
#pragma omp parallel for num_threads(gpuopt__team(p->s->context, p->s->threads)) \
    schedule(dynamic, 1) if (p->s->threads > 1 && !little)
#endif
    for (part = 0; part < parts; part++) {
        int32_t k, end = count - part * AT_ONCE < AT_ONCE ? count : (part + 1) * AT_ONCE;
        gpuopt__environment_scope scope;
        gpuopt__environment_enter(&scope);
        for (k = part * AT_ONCE; k < end; k++) {
            const gpuopt__simplex_sum sum = k >= lines ? zero : little ? p->s->sums[k] : gpuopt__simplex_cpu_line(p, k);
            if (p->cost) gpuopt__simplex_cpu_reduce_of(p, k, sum);
            else gpuopt__simplex_cpu_residual_of(p, k, sum);
        }
        gpuopt__environment_leave(&scope);
    }
}

static gpuopt_status gpuopt__simplex_cpu_residual(void *engine, const double *x, const double *x_low, double *r,
                                                  double *error_sum) {
    const gpuopt__simplex_cpu *s = (const gpuopt__simplex_cpu *)engine;
    gpuopt__simplex_cpu_sums sums = {s, NULL, x, x_low, r, error_sum};
    gpuopt__simplex_cpu_sum_all(&sums, s->lp->rows);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__simplex_cpu_reduce(void *engine, const double *cost, const double *y, const double *y_low,
                                                double *d, double *error_sum) {
    const gpuopt__simplex_cpu *s = (const gpuopt__simplex_cpu *)engine;
    gpuopt__simplex_cpu_sums sums = {s, cost, y, y_low, d, error_sum};
    gpuopt__simplex_cpu_sum_all(&sums, s->lp->cols + s->lp->rows);
    return GPUOPT_OK;
}

/* ---- Sizes of sums ---- */

/* size[k] = the sum of |entry times x| over row k, or over column k. */
static void gpuopt__simplex_cpu_line_sizes(int32_t lines, const int64_t *start, const int32_t *index,
                                           const double *value, const double *x, double *size) {
    int32_t k;
    for (k = 0; k < lines; k++) {
        double sum = 0;
        int64_t e;
        for (e = start[k]; e < start[k + 1]; e++) sum += fabs(value[e] * x[index[e]]);
        size[k] = sum;
    }
}

static gpuopt_status gpuopt__simplex_cpu_sizes(void *engine, const double *x, const double *y, double *of_rows,
                                               double *of_cols) {
    const gpuopt__simplex_cpu *s = (const gpuopt__simplex_cpu *)engine;
    if (x) gpuopt__simplex_cpu_line_sizes(s->lp->rows, s->row_start, s->row_col, s->row_val, x, of_rows);
    if (y) gpuopt__simplex_cpu_line_sizes(s->lp->cols, s->col_start, s->col_row, s->col_val, y, of_cols);
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_SIMPLEX_CPU_PRODUCTS_H */
