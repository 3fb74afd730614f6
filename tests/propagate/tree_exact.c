/* SPDX-License-Identifier: MIT */
#include <gmp.h>
#include <math.h>

#include "tests/propagate/tree.h"

static double coefficient(const tree_row *row, int64_t k) {
    return row->single ? (double)(float)row->value[k] : row->value[k];
}

/* side minus the least (upper: the rhs) or greatest terms of all columns but `skip`. Returns 0 if it is infinite. */
static int rest_of_side(const tree_row *row, const double *lb, const double *ub, int upper, int32_t skip, mpq_t rest) {
    double side = upper ? row->rhs : row->lhs;
    int finite = fabs(side) < 1e20;
    mpq_t a, b;
    int64_t k;
    if (!finite) return 0;
    mpq_inits(a, b, NULL);
    mpq_set_d(rest, side);
    for (k = 0; k < row->length && finite; k++) {
        double c = coefficient(row, k), bound = (c > 0) == (upper != 0) ? lb[row->index[k]] : ub[row->index[k]];
        if (row->index[k] == skip) continue;
        finite = !isinf(bound);
        if (!finite) continue;
        mpq_set_d(a, c);
        mpq_set_d(b, bound);
        mpq_mul(a, a, b);
        mpq_sub(rest, rest, a);
    }
    mpq_clears(a, b, NULL);
    return finite;
}

int tree_implied(const tree_row *row, const double *lb, const double *ub, const uint8_t *integer, int32_t col,
                 int upper, double bound) {
    double c = 0;
    int64_t k;
    int holds;
    mpq_t most, x;
    for (k = 0; k < row->length; k++)
        if (row->index[k] == col) c = coefficient(row, k);
    if (c == 0) return 0;
    mpq_inits(most, x, NULL);
    holds = rest_of_side(row, lb, ub, (c > 0) == (upper != 0), col, most);
    if (holds) {
        mpq_set_d(x, c);
        mpq_div(most, most, x);
        if (integer[col]) {
            if (upper) mpz_fdiv_q(mpq_numref(most), mpq_numref(most), mpq_denref(most));
            else mpz_cdiv_q(mpq_numref(most), mpq_numref(most), mpq_denref(most));
            mpz_set_ui(mpq_denref(most), 1);
        }
        mpq_set_d(x, bound);
        holds = upper ? mpq_cmp(most, x) <= 0 : mpq_cmp(most, x) >= 0;
    }
    mpq_clears(most, x, NULL);
    return holds;
}

int tree_empty(const tree_row *row, const double *lb, const double *ub) {
    int empty;
    mpq_t rest;
    mpq_init(rest);
    empty = (rest_of_side(row, lb, ub, 1, -1, rest) && mpq_sgn(rest) < 0) ||
            (rest_of_side(row, lb, ub, 0, -1, rest) && mpq_sgn(rest) > 0);
    mpq_clear(rest);
    return empty;
}
