/* SPDX-License-Identifier: MIT */
#include <gmp.h>
#include <math.h>

#include "tests/simplex/exact.h"

/* A sum and the sum of its terms' sizes. */
typedef struct sized {
    mpq_t sum, size;
} sized;

static void sized_init(sized *s) { mpq_inits(s->sum, s->size, NULL); }

static void sized_clear(sized *s) { mpq_clears(s->sum, s->size, NULL); }

static void sized_start(sized *s, double value) {
    mpq_set_d(s->sum, value);
    mpq_abs(s->size, s->sum);
}

static void sized_add(sized *s, double a, double b) {
    mpq_t term, factor;
    mpq_inits(term, factor, NULL);
    mpq_set_d(term, a);
    mpq_set_d(factor, b);
    mpq_mul(term, term, factor);
    mpq_add(s->sum, s->sum, term);
    mpq_abs(term, term);
    mpq_add(s->size, s->size, term);
    mpq_clears(term, factor, NULL);
}

/* |miss| / size, where 0 / 0 is 0. */
static double share_of(const mpq_t miss, const sized *s) {
    double share;
    mpq_t ratio;
    if (mpq_sgn(miss) == 0) return 0;
    if (mpq_sgn(s->size) == 0) return HUGE_VAL;
    mpq_init(ratio);
    mpq_div(ratio, miss, s->size);
    share = fabs(mpq_get_d(ratio));
    mpq_clear(ratio);
    return share;
}

/* By how much the sum misses the side that the dual names (of a minimisation: positive the lower one), or that it
 * violates. */
static double row_share(const sized *s, double dual, double lower, double upper) {
    double named = dual > 0 ? lower : upper, share = 0;
    mpq_t miss, side;
    if (dual != 0 && fabs(named) >= 1e20) return HUGE_VAL;
    mpq_inits(miss, side, NULL);
    if (dual != 0 || lower > -1e20) {
        mpq_set_d(side, dual != 0 ? named : lower);
        mpq_sub(miss, side, s->sum);
        if (dual != 0 || mpq_sgn(miss) > 0) share = share_of(miss, s);
    }
    if (dual == 0 && upper < 1e20) {
        mpq_set_d(side, upper);
        mpq_sub(miss, s->sum, side);
        if (mpq_sgn(miss) > 0) share = fmax(share, share_of(miss, s));
    }
    mpq_clears(miss, side, NULL);
    return share;
}

/* The wrong part of a reduced cost of a minimisation. */
static double column_share(sized *s, double x, double lower, double upper) {
    int sign = mpq_sgn(s->sum);
    if (lower == upper || (x == lower && sign >= 0) || (x == upper && sign <= 0)) return 0;
    return share_of(s->sum, s);
}

/* x between its finite bounds. */
static double clipped(const mip *model, const double *x, int32_t j) {
    double value = model->ub[j] < 1e20 ? fmin(x[j], model->ub[j]) : x[j];
    return model->lb[j] > -1e20 ? fmax(value, model->lb[j]) : value;
}

double exact_backward_error(const mip *model, const double *x, const double *y) {
    const gpuopt_matrix *m = &model->columns;
    double most = 0, sign = model->maximize ? -1 : 1;
    int32_t i, j;
    int64_t e;
    sized s;
    sized_init(&s);
    for (i = 0; i < m->rows; i++) {
        sized_start(&s, 0);
        for (j = 0; j < m->cols; j++)
            for (e = m->start[j]; e < m->start[j + 1]; e++)
                if (m->index[e] == i) sized_add(&s, m->value[e], clipped(model, x, j));
        most = fmax(most, row_share(&s, sign * y[i], model->lhs[i], model->rhs[i]));
    }
    for (j = 0; j < m->cols; j++) {
        sized_start(&s, model->cost ? sign * model->cost[j] : 0);
        for (e = m->start[j]; e < m->start[j + 1]; e++) sized_add(&s, -sign * m->value[e], y[m->index[e]]);
        most = fmax(most, column_share(&s, clipped(model, x, j), model->lb[j], model->ub[j]));
    }
    sized_clear(&s);
    return most;
}
