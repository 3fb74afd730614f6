/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/propagate_exact.h"

#include <gmp.h>
#include <math.h>
#include <stdlib.h>

typedef struct end { /* of a column's domain */
    int finite;
    mpq_t value;
} end;

static void end_start(end *e, double value, double infinity) {
    mpq_init(e->value);
    e->finite = fabs(value) < infinity && fabs(value) < INFINITY;
    if (e->finite) mpq_set_d(e->value, value);
}

static void round_inwards(mpq_t x, int upper) {
    if (upper) mpz_fdiv_q(mpq_numref(x), mpq_numref(x), mpq_denref(x));
    else mpz_cdiv_q(mpq_numref(x), mpq_numref(x), mpq_denref(x));
    mpz_set_ui(mpq_denref(x), 1);
}

/* Tightens one end of a column; returns whether its domain is empty. */
static int tighten(end *domain, int upper, mpq_t value, int integer) {
    end *e = &domain[upper];
    if (integer) round_inwards(value, upper);
    if (!e->finite || (upper ? mpq_cmp(value, e->value) < 0 : mpq_cmp(value, e->value) > 0)) {
        mpq_set(e->value, value);
        e->finite = 1;
    }
    return domain[0].finite && domain[1].finite && mpq_cmp(domain[0].value, domain[1].value) > 0;
}

/* The largest or least value of entry k's column by one side of the row (upper: the rhs), in `value`. Returns 0 if the
 * row implies none. */
static int imply(const gpuopt_matrix *m, int64_t first, int64_t last, int64_t k, int upper, double side, end *domain,
                 mpq_t value) {
    int finite = 1;
    int64_t l;
    mpq_t x;
    mpq_init(x);
    mpq_set_d(value, side);
    for (l = first; l < last && finite; l++) {
        const end *e = &domain[2 * m->index[l] + ((m->value[l] > 0) != upper)];
        if (l == k) continue;
        finite = e->finite;
        mpq_set_d(x, m->value[l]);
        if (finite) mpq_mul(x, x, e->value);
        mpq_sub(value, value, x);
    }
    if (k < last) {
        mpq_set_d(x, m->value[k]);
        mpq_div(value, value, x);
    }
    mpq_clear(x);
    return finite;
}

static int sweep_row(const gpuopt_matrix *m, int32_t row, int upper, double side, const uint8_t *integer, end *domain) {
    int64_t first = m->start[row], last = m->start[row + 1], k;
    int empty = 0;
    mpq_t value;
    mpq_init(value);
    if (first == last) empty = upper ? side < 0 : side > 0;
    for (k = first; k < last && !empty; k++)
        if (imply(m, first, last, k, upper, side, domain, value))
            empty = tighten(&domain[2 * m->index[k]], (m->value[k] > 0) == upper, value, integer[m->index[k]]);
    mpq_clear(value);
    return empty;
}

int propagate_exactly_empty(const gpuopt_matrix *m, const double *lhs, const double *rhs, const double *lb,
                            const double *ub, const uint8_t *integer, double infinity, int sweeps) {
    end *domain = (end *)malloc(sizeof *domain * 2 * ((size_t)m->cols + 1));
    int32_t i, j;
    int empty = 0;
    for (j = 0; j < m->cols; j++) {
        end_start(&domain[2 * j], lb[j], infinity);
        end_start(&domain[2 * j + 1], ub[j], infinity);
        for (i = 0; i < 2; i++)
            if (integer[j] && domain[2 * j + i].finite) round_inwards(domain[2 * j + i].value, i);
        empty |= domain[2 * j].finite && domain[2 * j + 1].finite &&
                 mpq_cmp(domain[2 * j].value, domain[2 * j + 1].value) > 0;
    }
    for (; sweeps > 0 && !empty; sweeps--)
        for (i = 0; i < m->rows && !empty; i++) {
            if (lhs && lhs[i] > -infinity) empty |= sweep_row(m, i, 0, lhs[i], integer, domain);
            if (rhs && rhs[i] < infinity && !empty) empty |= sweep_row(m, i, 1, rhs[i], integer, domain);
        }
    for (j = 0; j < 2 * m->cols; j++) mpq_clear(domain[j].value);
    free(domain);
    return empty;
}

static end *domain_of(const double *lb, const double *ub, int32_t cols, double infinity) {
    end *domain = (end *)malloc(sizeof *domain * 2 * ((size_t)cols + 1));
    int32_t j;
    for (j = 0; j < cols; j++) {
        end_start(&domain[2 * j], lb[j], infinity);
        end_start(&domain[2 * j + 1], ub[j], infinity);
    }
    return domain;
}

static void domain_end(end *domain, int32_t cols) {
    int32_t j;
    for (j = 0; j < 2 * cols; j++) mpq_clear(domain[j].value);
    free(domain);
}

int propagate_exactly_implied(const gpuopt_matrix *row, double lhs, double rhs, const double *lb, const double *ub,
                              const uint8_t *integer, double infinity, int32_t col, int upper, double bound) {
    end *domain = domain_of(lb, ub, row->cols, infinity);
    int64_t k = 0;
    int holds = 0, by_rhs;
    mpq_t value, found;
    mpq_inits(value, found, NULL);
    mpq_set_d(found, bound);
    while (k < row->start[1] && row->index[k] != col) k++;
    if (k < row->start[1]) {
        by_rhs = (row->value[k] > 0) == (upper != 0);
        holds = (by_rhs ? rhs < infinity : lhs > -infinity) &&
                imply(row, 0, row->start[1], k, by_rhs, by_rhs ? rhs : lhs, domain, value);
    }
    if (holds && integer[col]) round_inwards(value, upper);
    if (holds) holds = upper ? mpq_cmp(value, found) <= 0 : mpq_cmp(value, found) >= 0;
    mpq_clears(value, found, NULL);
    domain_end(domain, row->cols);
    return holds;
}

int propagate_exactly_violated(const gpuopt_matrix *row, double lhs, double rhs, const double *lb, const double *ub,
                               double infinity) {
    end *domain = domain_of(lb, ub, row->cols, infinity);
    int64_t end = row->start[1];
    int violated = 0;
    mpq_t value;
    mpq_init(value);
    if (rhs < infinity && imply(row, 0, end, end, 1, rhs, domain, value)) violated |= mpq_sgn(value) < 0;
    if (lhs > -infinity && imply(row, 0, end, end, 0, lhs, domain, value)) violated |= mpq_sgn(value) > 0;
    mpq_clear(value);
    domain_end(domain, row->cols);
    return violated;
}
