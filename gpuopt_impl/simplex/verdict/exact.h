/* SPDX-License-Identifier: MIT
 *
 * Whether the basis is optimal in exact arithmetic. The basic solution and the duals are known in twice the working
 * precision. If they solve their equations without residual, they are exact. Otherwise their error is at most the
 * residual times a bound on the inverse. Signs that the error leaves open prove nothing: a degenerate vertex with
 * coordinates that are not doubles cannot be proven.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_VERDICT_EXACT_H
#define GPUOPT_IMPL_SIMPLEX_VERDICT_EXACT_H

#include "extended_precision.h"

/* x + low - bound. */
static double gpuopt__simplex_above(double x, double low, double bound) {
    double lost, difference = gpuopt__two_sum(x, -bound, &lost);
    return difference + (lost + low);
}

/* Whether an exact number is at least 0. It differs from `value` by at most `error` and the rounding of value. */
static int gpuopt__simplex_not_negative(double value, double error) {
    return error == 0 ? value >= 0 : value * (1 - 0x1p-40) >= error;
}

/* Whether no product of an entry and a component of x underflows. */
static int gpuopt__simplex_safe(const gpuopt_simplex *s, int32_t count, const double *x) {
    int32_t k;
    for (k = 0; k < count; k++)
        if (x[k] != 0 && fabs(x[k]) < 0x1p-500) return 0;
    return s->moderate;
}

/* A bound on the error of a sum of products with this error_sum. safe: no product underflows. */
static double gpuopt__simplex_off(double sum, double error_sum, int32_t terms, int safe) {
    return safe && error_sum == 0 ? 0 : gpuopt__simplex_error(sum, error_sum, terms);
}

/* The sum of the absolute residuals of `count` equations, from r and error_sum. 0: no residual. */
static double gpuopt__simplex_left(int32_t count, const double *r, const double *error_sum, const int32_t *index,
                                   int32_t terms, int safe) {
    double sum = 0;
    int32_t k;
    for (k = 0; k < count; k++) {
        int32_t at = index ? index[k] : k;
        sum += fabs(r[at]) + gpuopt__simplex_off(r[at], error_sum[at], terms, safe);
    }
    return sum * (1 + 0x1p-20);
}

/* Whether the basic variables are within their bounds if x + x_low has an error of at most `error`. */
static int gpuopt__simplex_basics_within(const gpuopt_simplex *s, double error) {
    int32_t i;
    for (i = 0; i < s->lp.rows; i++) {
        int32_t k = s->v.head[i];
        double l = s->lower[k], u = s->upper[k];
        if (l > -HUGE_VAL && !gpuopt__simplex_not_negative(gpuopt__simplex_above(s->x[k], s->x_low[k], l), error))
            return 0;
        if (u < HUGE_VAL && !gpuopt__simplex_not_negative(-gpuopt__simplex_above(s->x[k], s->x_low[k], u), error))
            return 0;
    }
    return 1;
}

/* Whether the reduced costs z of nonbasic variables have the right signs if the duals have an error of at most `error`.
 * size [cols]: the sum of |entries| of a column. */
static int gpuopt__simplex_signs_right(const gpuopt_simplex *s, const double *z, const double *size, double error,
                                       int safe) {
    const double *error_sum = s->error_sum;
    int32_t j, cols = s->lp.cols;
    for (j = 0; j < cols; j++) {
        int32_t k = s->v.slot[j];
        int state = s->v.state[j] & 3;
        double rounding = gpuopt__simplex_off(z[k], error_sum[k], s->lp.rows, safe);
        double most = (k < cols ? size[k] : 1) * error * (1 + 0x1p-20) + rounding;
        if (s->lower[k] == s->upper[k]) continue;
        if (state != GPUOPT__SIMPLEX_MAY_DECREASE && !gpuopt__simplex_not_negative(z[k], most)) return 0;
        if (state != GPUOPT__SIMPLEX_MAY_INCREASE && !gpuopt__simplex_not_negative(-z[k], most)) return 0;
    }
    return 1;
}

/* A bound on every entry of the inverse; infinite: no bound is known. With the engine's columns r_i for B^-1 and E = I
 * - B r, B^-1 = r (I - E)^-1. Its entries are at most max |r| / (1 - |E|), where |E| < 1 is the largest sum of a
 * column. The columns of basic activities are unit vectors without error. Overwrites by_row, scratch, error_sum and
 * `column` [rows]. */
static gpuopt_status gpuopt__simplex_inverse_bound(gpuopt_simplex *s, double *column, double *bound) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    double *x = s->scratch, largest = 0, worst = 0;
    int32_t i, k, rows = s->lp.rows, cols = s->lp.cols;
    gpuopt_status status = GPUOPT_OK;
    *bound = HUGE_VAL;
    for (k = 0; k < rows && !status && worst < 0.5; k++) {
        if (s->status[cols + k] == GPUOPT_VARIABLE_BASIC) {
            largest = gpuopt__max(largest, 1);
            continue;
        }
        memset(column, 0, sizeof(double) * (size_t)rows);
        column[k] = 1;
        status = backend->ftran(s->engine, column);
        memset(x, 0, sizeof(double) * ((size_t)rows + (size_t)cols));
        for (i = 0; i < rows; i++) x[s->v.head[i]] = column[i];
        if (!status) status = backend->residual(s->engine, x, NULL, s->by_row, s->error_sum);
        if (status) return status;
        s->by_row[k] += 1;
        largest = gpuopt__max(largest, gpuopt__simplex_largest(rows, column));
        worst = gpuopt__max(worst, gpuopt__simplex_left(rows, s->by_row, s->error_sum, NULL, cols, 0) + 0x1p-50);
    }
    if (worst < 0.5 && largest < HUGE_VAL) *bound = largest / (1 - worst) * (1 + 0x1p-40);
    return status;
}

/* The residual of the basic solution's equations. */
static gpuopt_status gpuopt__simplex_left_of_x(gpuopt_simplex *s, double *left) {
    const int32_t both = s->lp.rows + s->lp.cols;
    const int safe = gpuopt__simplex_safe(s, both, s->x) && gpuopt__simplex_safe(s, both, s->x_low);
    gpuopt_status status = gpuopt__simplex_backend_of(s)->residual(s->engine, s->x, s->x_low, s->by_row, s->error_sum);
    if (!status) *left = gpuopt__simplex_left(s->lp.rows, s->by_row, s->error_sum, NULL, s->lp.cols, safe);
    return status;
}

/* The same for the duals. Fills the reduced costs z, and error_sum. */
static gpuopt_status gpuopt__simplex_left_of_y(gpuopt_simplex *s, double *z, double *left, int *safe) {
    gpuopt_status status = gpuopt__simplex_backend_of(s)->reduce(s->engine, s->cost, s->y, s->y_low, z, s->error_sum);
    *safe = gpuopt__simplex_safe(s, s->lp.rows, s->y) && gpuopt__simplex_safe(s, s->lp.rows, s->y_low);
    if (!status) *left = gpuopt__simplex_left(s->lp.rows, z, s->error_sum, s->v.head, s->lp.rows, *safe);
    return status;
}

/* *proven: whether the basis is optimal. Signs are first checked as if the inverse were small. If they are open even
 * then, the bound on the inverse is skipped: it takes as long as a refactoring. */
static gpuopt_status gpuopt__simplex_prove_optimal(gpuopt_simplex *s, int *proven) {
    double *z = s->scratch_low, *size = s->ray, of_x = 0, of_y = 0, inverse = 1;
    int32_t i;
    int safe = 0;
    gpuopt_status status = gpuopt__simplex_left_of_x(s, &of_x);
    *proven = 0;
    if (status || gpuopt__simplex_extended_most(s) == 0 || !gpuopt__simplex_basics_within(s, of_x)) return status;
    for (i = 0; i < s->lp.rows; i++) s->farkas[i] = 1;
    status = gpuopt__simplex_backend_of(s)->sizes(s->engine, NULL, s->farkas, NULL, size);
    if (!status) status = gpuopt__simplex_left_of_y(s, z, &of_y, &safe);
    *proven = !status && gpuopt__simplex_signs_right(s, z, size, of_y, safe);
    if (!*proven || (of_x == 0 && of_y == 0)) return status;
    status = gpuopt__simplex_inverse_bound(s, s->farkas, &inverse);
    if (!status) status = gpuopt__simplex_left_of_y(s, z, &of_y, &safe);
    *proven = !status && inverse < HUGE_VAL && gpuopt__simplex_basics_within(s, of_x == 0 ? 0 : of_x * inverse) &&
              gpuopt__simplex_signs_right(s, z, size, of_y == 0 ? 0 : of_y * inverse, safe);
    return status;
}

#endif /* GPUOPT_IMPL_SIMPLEX_VERDICT_EXACT_H */
