/* SPDX-License-Identifier: MIT
 *
 * The distance of a point and duals, given as doubles, from an optimum of some program with data that differ by
 * rounding. Products of two numbers are integers times 2^-2148, of three 2^-3222.
 */
#include "tests/check/check.h"

/* A column with a reduced cost of at most this share counts as met, and adds nothing to the gap. */
static const double rounding = 0x1p-44;

typedef struct place {
    const program *p;
    mpz_t *const *bound, *x, *y; /* times 2^1074; x within its bounds, y of a minimisation */
    mpz_t *sum, *size;           /* [rows] of A x, and of the sizes of its terms */
    misfit found;
    mpz_t gap;
} place;

static double share_of(const mpz_t miss, const mpz_t size) {
    mpz_t one;
    double share;
    if (mpz_sgn(miss) == 0) return 0;
    if (mpz_sgn(size) == 0) return INFINITY;
    mpz_init_set(one, size);
    share = fabs(real(miss, one, 0));
    mpz_clear(one);
    return share;
}

static void add_rows(place *at) {
    const program *p = at->p;
    mpz_t term;
    int j, e;
    mpz_init(term);
    for (j = 0; j < p->cols; j++)
        for (e = p->start[j]; e < p->start[j + 1]; e++) {
            mpz_mul(term, p->exact[e], at->x[j]);
            mpz_add(at->sum[p->row[e]], at->sum[p->row[e]], term);
            mpz_abs(term, term);
            mpz_add(at->size[p->row[e]], at->size[p->row[e]], term);
        }
    mpz_clear(term);
}

/* The side that the dual indicates, or both. */
static void check_row(place *at, int i) {
    const int k = at->p->cols + i, sign = mpz_sgn(at->y[i]);
    mpz_t miss;
    int side;
    mpz_init(miss);
    for (side = LOWER; side <= UPPER; side++) {
        if (sign && side != (sign > 0 ? LOWER : UPPER)) continue;
        if (!isfinite(at->p->bound[side][k])) {
            if (sign) at->found.share = INFINITY;
            continue;
        }
        mpz_mul_2exp(miss, at->bound[side][k], PLACES);
        mpz_sub(miss, at->sum[i], miss);
        if (sign || mpz_sgn(miss) == (side == LOWER ? -1 : 1))
            at->found.share = fmax(at->found.share, share_of(miss, at->size[i]));
        if (sign) mpz_addmul(at->gap, at->y[i], miss);
    }
    mpz_clear(miss);
}

static void check_column(place *at, int j, int maximize) {
    const program *p = at->p;
    mpz_t d, size, term;
    int e, named;
    double share;
    if (p->bound[LOWER][j] == p->bound[UPPER][j]) return;
    mpz_inits(d, size, term, NULL);
    for (e = p->start[j]; e < p->start[j + 1]; e++) {
        if (p->row[e] == p->rows - 1) {
            mpz_mul_2exp(term, p->exact[e], PLACES);
            if (maximize) mpz_neg(term, term);
        } else {
            mpz_mul(term, p->exact[e], at->y[p->row[e]]);
            mpz_neg(term, term);
        }
        mpz_add(d, d, term);
        mpz_abs(term, term);
        mpz_add(size, size, term);
    }
    named = mpz_sgn(d) > 0 ? LOWER : UPPER;
    if (mpz_sgn(d) && !(isfinite(p->bound[named][j]) && mpz_cmp(at->x[j], at->bound[named][j]) == 0)) {
        share = share_of(d, size);
        at->found.share = fmax(at->found.share, share);
        mpz_sub(term, at->x[j], at->bound[named][j]);
        if (share > rounding && isfinite(p->bound[named][j])) mpz_addmul(at->gap, d, term);
    }
    mpz_clears(d, size, term, NULL);
}

misfit find_misfit(const program *p, mpz_t *const *bound, mpz_t *x, mpz_t *y) {
    place at = {.p = p, .bound = bound, .x = x, .y = y, .sum = zeros(p->rows), .size = zeros(p->rows)};
    mpz_t one;
    int k, side;
    mpz_init(at.gap);
    mpz_init_set_ui(one, 1);
    for (k = 0; k < p->cols; k++)
        for (side = LOWER; side <= UPPER; side++)
            if (isfinite(p->bound[side][k]) && mpz_cmp(x[k], bound[side][k]) * (side == LOWER ? 1 : -1) < 0)
                mpz_set(x[k], bound[side][k]);
    for (k = 0; k < p->rows - 1 && p->maximize; k++) mpz_neg(y[k], y[k]);
    add_rows(&at);
    for (k = 0; k < p->rows - 1; k++) check_row(&at, k);
    for (k = 0; k < p->cols; k++) check_column(&at, k, p->maximize);
    at.found.gap = fabs(real(at.gap, one, 3));
    return at.found;
}
