/* SPDX-License-Identifier: MIT */
#include "tests/simplex/exact.h"

#include <gmp.h>
#include <math.h>
#include <stdlib.h>

/* The constraints are A x - r = 0 with the activities r as variables cols .. cols + rows - 1. The tableau is integer
 * with a common denominator (Edmonds 1967): entry (i, v) of B^-1 [A -I] is z[i][v] / d. */
typedef struct exact {
    const mip *m;
    int rows, cols, both;
    mpz_t *z, d;        /* [rows][both] */
    mpz_t product, sum; /* scratch */
    mpq_t *lower, *upper, *x, term;
    int *has_lower, *has_upper; /* [both] */
    int *head, *row_of;         /* [rows], [both]: -1 for nonbasic variables */
    int *at_upper;              /* [both] */
    mpz_t *cost, *reduced;      /* [both]; in phase 2 costs are scaled to integers */
} exact;

static mpz_t *integers(int count) {
    mpz_t *z = malloc(sizeof *z * (size_t)(count + 1));
    int k;
    for (k = 0; k <= count; k++) mpz_init(z[k]);
    return z;
}

static void integers_free(mpz_t *z, int count) {
    int k;
    for (k = 0; k <= count; k++) mpz_clear(z[k]);
    free(z);
}

static mpq_t *rationals(int count) {
    mpq_t *q = malloc(sizeof *q * (size_t)(count + 1));
    int k;
    for (k = 0; k <= count; k++) mpq_init(q[k]);
    return q;
}

static void rationals_free(mpq_t *q, int count) {
    int k;
    for (k = 0; k <= count; k++) mpq_clear(q[k]);
    free(q);
}

/* The least k such that value * 2^k is an integer; 0 for 0. */
static int binary_places(double value) {
    int exponent;
    double fraction = frexp(value, &exponent);
    if (value == 0) return -5000;
    while (fraction != floor(fraction)) fraction *= 2, exponent--;
    return -exponent;
}

static void shifted(mpz_t z, double value, int places) {
    int exponent;
    double fraction = frexp(value, &exponent);
    mpz_set_d(z, ldexp(fraction, 60));
    exponent += places - 60;
    if (exponent >= 0) mpz_mul_2exp(z, z, (mp_bitcnt_t)exponent);
    else mpz_tdiv_q_2exp(z, z, (mp_bitcnt_t)-exponent); /* exact */
}

static void set_bound(mpq_t q, int *has, double value) {
    *has = fabs(value) < 1e20;
    mpq_set_d(q, *has ? value : 0);
}

static mpz_t *entry(const exact *e, int i, int v) { return &e->z[(size_t)i * (size_t)e->both + (size_t)v]; }

static void exact_init(exact *e, const mip *m) {
    int i, v, rows = m->columns.rows, cols = m->columns.cols, places = -5000;
    int64_t k;
    int *row_places = calloc((size_t)rows + 1, sizeof *row_places);
    e->m = m;
    e->rows = rows, e->cols = cols, e->both = rows + cols;
    e->z = integers(rows * e->both);
    mpz_init_set_si(e->d, 1);
    mpz_inits(e->product, e->sum, NULL);
    mpq_init(e->term);
    e->lower = rationals(e->both), e->upper = rationals(e->both), e->x = rationals(e->both);
    e->cost = integers(e->both), e->reduced = integers(e->both);
    e->has_lower = calloc((size_t)e->both + 1, sizeof(int)), e->has_upper = calloc((size_t)e->both + 1, sizeof(int));
    e->head = calloc((size_t)rows + 1, sizeof(int)), e->row_of = calloc((size_t)e->both + 1, sizeof(int));
    e->at_upper = calloc((size_t)e->both + 1, sizeof(int));
    for (k = 0; k < m->columns.start[cols]; k++) {
        int most = binary_places(m->columns.value[k]);
        i = m->columns.index[k];
        if (most > row_places[i]) row_places[i] = most;
    }
    /* Row i times -2^places: the activity's column is then 2^places, and column operations make it 1. */
    for (v = 0; v < cols; v++)
        for (k = m->columns.start[v]; k < m->columns.start[v + 1]; k++) {
            i = m->columns.index[k];
            shifted(*entry(e, i, v), -m->columns.value[k], row_places[i]);
        }
    for (i = 0; i < rows; i++) {
        mpz_set_si(*entry(e, i, cols + i), 1);
        mpz_mul_2exp(*entry(e, i, cols + i), *entry(e, i, cols + i), (mp_bitcnt_t)row_places[i]);
    }
    for (v = 0; v < cols; v++) {
        set_bound(e->lower[v], &e->has_lower[v], m->lb[v]);
        set_bound(e->upper[v], &e->has_upper[v], m->ub[v]);
        if (m->cost && binary_places(m->cost[v]) > places) places = binary_places(m->cost[v]);
        e->row_of[v] = -1;
    }
    for (v = 0; m->cost && v < cols; v++) {
        shifted(e->cost[v], m->cost[v], places);
        if (m->maximize) mpz_neg(e->cost[v], e->cost[v]);
    }
    for (i = 0; i < rows; i++) {
        set_bound(e->lower[cols + i], &e->has_lower[cols + i], m->lhs[i]);
        set_bound(e->upper[cols + i], &e->has_upper[cols + i], m->rhs[i]);
        e->row_of[cols + i] = -1;
        e->head[i] = -1;
    }
    free(row_places);
}

static void exact_clear(exact *e) {
    integers_free(e->z, e->rows * e->both);
    mpz_clears(e->d, e->product, e->sum, NULL);
    mpq_clear(e->term);
    rationals_free(e->lower, e->both), rationals_free(e->upper, e->both), rationals_free(e->x, e->both);
    integers_free(e->cost, e->both), integers_free(e->reduced, e->both);
    free(e->has_lower), free(e->has_upper), free(e->head), free(e->row_of), free(e->at_upper);
}

/* Variable v becomes basic in row r; its entry there is not 0. */
static void pivot(exact *e, int r, int v) {
    mpz_t p;
    int i, j;
    mpz_init_set(p, *entry(e, r, v));
    for (i = 0; i < e->rows; i++) {
        mpz_t *row = entry(e, i, 0), *from = entry(e, r, 0), *factor = entry(e, i, v);
        if (i == r) continue;
        mpz_set(e->sum, *factor);
        for (j = 0; j < e->both; j++) {
            mpz_mul(e->product, row[j], p);
            mpz_submul(e->product, e->sum, from[j]);
            mpz_divexact(row[j], e->product, e->d);
        }
    }
    mpz_set(e->d, p);
    mpz_clear(p);
    if (e->head[r] >= 0) e->row_of[e->head[r]] = -1;
    e->head[r] = v;
    e->row_of[v] = r;
}

/* Into a row that has no basic variable yet. */
static void enter(exact *e, int v) {
    int i, best = -1;
    for (i = 0; i < e->rows; i++)
        if (e->head[i] < 0 && mpz_sgn(*entry(e, i, v)) &&
            (best < 0 || mpz_cmpabs(*entry(e, i, v), *entry(e, best, v)) < 0))
            best = i;
    if (best >= 0) pivot(e, best, v);
}

static void set_basis(exact *e, const uint8_t *basis) {
    int v;
    for (v = 0; basis && v < e->both; v++) {
        e->at_upper[v] = basis[v] == GPUOPT_VARIABLE_AT_UPPER;
        if (basis[v] == GPUOPT_VARIABLE_BASIC) enter(e, v);
    }
    for (v = 0; v < e->both; v++) /* the missing ones: the activities of rows */
        if (e->row_of[v] < 0 && v >= e->cols) enter(e, v);
}

/* ---- Solutions ---- */

static void find_x(exact *e) {
    int i, v;
    mpq_t sum;
    mpq_init(sum);
    for (v = 0; v < e->both; v++) {
        int upper = e->has_upper[v] && (e->at_upper[v] || !e->has_lower[v]);
        if (e->row_of[v] >= 0) continue;
        e->at_upper[v] = upper;
        mpq_set_ui(e->x[v], 0, 1);
        if (upper) mpq_set(e->x[v], e->upper[v]);
        else if (e->has_lower[v]) mpq_set(e->x[v], e->lower[v]);
    }
    for (i = 0; i < e->rows; i++) {
        mpq_set_ui(sum, 0, 1);
        for (v = 0; v < e->both; v++) {
            if (e->row_of[v] >= 0 || !mpz_sgn(*entry(e, i, v)) || !mpq_sgn(e->x[v])) continue;
            mpq_set_z(e->term, *entry(e, i, v));
            mpq_mul(e->term, e->term, e->x[v]);
            mpq_sub(sum, sum, e->term);
        }
        mpq_set_z(e->term, e->d);
        mpq_div(e->x[e->head[i]], sum, e->term);
    }
    mpq_clear(sum);
}

/* -1 below its lower bound, 1 above its upper one. */
static int outside(const exact *e, int v) {
    if (e->has_lower[v] && mpq_cmp(e->x[v], e->lower[v]) < 0) return -1;
    return e->has_upper[v] && mpq_cmp(e->x[v], e->upper[v]) > 0;
}

/* The sign of the reduced cost of a nonbasic variable: d_v = c_v - sum c_B T_v. */
static int reduced_sign(exact *e, int v, int phase) {
    int i;
    mpz_set_si(e->sum, 0);
    if (phase == 2) mpz_mul(e->sum, e->cost[v], e->d);
    for (i = 0; i < e->rows; i++) {
        int side = phase == 1 ? outside(e, e->head[i]) : 0;
        if (phase == 2) mpz_submul(e->sum, e->cost[e->head[i]], *entry(e, i, v));
        else if (side > 0) mpz_sub(e->sum, e->sum, *entry(e, i, v));
        else if (side < 0) mpz_add(e->sum, e->sum, *entry(e, i, v));
    }
    return mpz_sgn(e->sum) * mpz_sgn(e->d);
}

/* The first variable (Bland) that improves; its direction in *up. -1: none. */
static int entering(exact *e, int phase, int *up) {
    int v;
    for (v = 0; v < e->both; v++) {
        int sign, fixed = e->has_lower[v] && e->has_upper[v] && mpq_equal(e->lower[v], e->upper[v]);
        if (e->row_of[v] >= 0 || fixed) continue;
        sign = reduced_sign(e, v, phase);
        *up = sign < 0;
        if (sign < 0 && !(e->at_upper[v] && e->has_upper[v])) return v;
        if (sign > 0 && !(e->has_lower[v] && !e->at_upper[v])) return v;
    }
    return -1;
}

/* Moves v. Returns 0 if nothing stops it. */
static int move(exact *e, int v, int up) {
    mpq_t step, best;
    int i, leaving = -1, to_upper = 0, found = 0;
    mpq_inits(step, best, NULL);
    if (e->has_lower[v] && e->has_upper[v]) {
        mpq_sub(best, e->upper[v], e->lower[v]);
        found = 1;
    }
    for (i = 0; i < e->rows; i++) {
        int b = e->head[i], side = outside(e, b), sign = mpz_sgn(*entry(e, i, v)) * mpz_sgn(e->d);
        int rises = up ? sign < 0 : sign > 0, at_upper;
        if (!sign) continue;
        if (rises) {
            at_upper = side >= 0;
            if (side > 0 || (side == 0 && !e->has_upper[b])) continue;
        } else {
            at_upper = side > 0;
            if (side < 0 || (side == 0 && !e->has_lower[b])) continue;
        }
        mpq_sub(step, at_upper ? e->upper[b] : e->lower[b], e->x[b]);
        mpq_set_num(e->term, e->d);
        mpq_set_den(e->term, *entry(e, i, v));
        mpq_canonicalize(e->term);
        mpq_mul(step, step, e->term);
        mpq_abs(step, step);
        if (!found || mpq_cmp(step, best) < 0 || (mpq_equal(step, best) && leaving >= 0 && b < e->head[leaving])) {
            mpq_set(best, step);
            leaving = i;
            to_upper = at_upper;
            found = 1;
        }
    }
    if (found && leaving < 0) e->at_upper[v] = !e->at_upper[v];
    else if (found) {
        e->at_upper[e->head[leaving]] = to_upper;
        pivot(e, leaving, v);
    }
    mpq_clears(step, best, NULL);
    return found;
}

static int phase_of(const exact *e) {
    int i;
    for (i = 0; i < e->rows; i++)
        if (outside(e, e->head[i])) return 1;
    return 2;
}

static double objective_of(exact *e) {
    double objective;
    int v;
    mpq_t sum;
    mpq_init(sum);
    mpq_set_d(sum, e->m->offset);
    for (v = 0; e->m->cost && v < e->cols; v++) {
        mpq_set_d(e->term, e->m->cost[v]);
        mpq_mul(e->term, e->term, e->x[v]);
        mpq_add(sum, sum, e->term);
    }
    objective = mpq_get_d(sum);
    mpq_clear(sum);
    return objective;
}

exact_answer exact_solve(const mip *model, const uint8_t *basis) {
    exact_answer answer = {GPUOPT_MORE, 0, 0};
    exact e;
    int v;
    for (v = 0; v < model->columns.cols; v++)
        if (model->lb[v] > model->ub[v]) answer.outcome = GPUOPT_INFEASIBLE;
    if (answer.outcome) return answer;
    exact_init(&e, model);
    set_basis(&e, basis);
    for (; answer.pivots < 10000 && !answer.outcome; answer.pivots++) {
        int phase, up;
        find_x(&e);
        phase = phase_of(&e);
        v = entering(&e, phase, &up);
        if (v < 0) answer.outcome = phase == 1 ? GPUOPT_INFEASIBLE : GPUOPT_OPTIMAL;
        else if (!move(&e, v, up)) answer.outcome = GPUOPT_UNBOUNDED;
    }
    answer.pivots--;
    if (answer.outcome == GPUOPT_OPTIMAL) answer.objective = objective_of(&e);
    exact_clear(&e);
    return answer;
}
