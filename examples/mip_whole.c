/* SPDX-License-Identifier: MIT */
#include "examples/mip_whole.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/mip_lattice.h"

static const double none = 1e20, largest = 0x1p62;

/* ---- Which rows are whole ---- */

/* The least power of two up to 2^30 that makes integers of the row's entries; 0: there is none. */
static double find_scale(const mip *m, int32_t row) {
    double scale = 1;
    int64_t k;
    for (k = m->matrix.start[row]; k < m->matrix.start[row + 1]; k++) {
        double a = m->matrix.value[k];
        if (!m->integer[m->matrix.index[k]]) return 0;
        while (scale < 0x1p30 && a * scale != floor(a * scale)) scale *= 2;
        if (a * scale != floor(a * scale)) return 0;
    }
    for (k = m->matrix.start[row]; k < m->matrix.start[row + 1]; k++)
        if (fabs(m->matrix.value[k]) * scale > largest) return 0;
    return m->matrix.start[row] < m->matrix.start[row + 1] ? scale : 0;
}

/* The integers next to a side or bound. If it differs from an integer by less than decimal fractions may be wrong, the
 * result is that integer. */
static double whole_down(double x) {
    double nearest = floor(x + 0.5);
    return fabs(x - nearest) <= fmax(1e-9, 0x1p-50 * fabs(x)) ? nearest : floor(x);
}
static double whole_up(double x) { return -whole_down(-x); }

static wide divide_down(wide a, wide b) { return a / b - (a % b < 0); }

static wide divisor_of(wide a, wide b) {
    while (b != 0) {
        wide rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* ---- A row with partly fixed columns ---- */

/* The part of a whole row for the columns that are not fixed, scaled. */
typedef struct residue {
    wide divisor;   /* of their entries; 0: there are none */
    wide low, high; /* the limits of their activity */
    int below, above, overflow;
} residue;

/* lb NULL: none is fixed. */
static residue residue_of(const whole_rows *h, const mip *m, int32_t row, const double *lb, const double *ub) {
    residue r = {0, 0, 0, m->lhs[row] > -none, m->rhs[row] < none, 0};
    double scale = h->scale[row];
    wide sum = 0, term;
    int64_t k;
    for (k = m->matrix.start[row]; k < m->matrix.start[row + 1]; k++) {
        int32_t j = m->matrix.index[k];
        wide a = (wide)(m->matrix.value[k] * scale);
        if (!lb || lb[j] < ub[j]) r.divisor = divisor_of(r.divisor, a);
        else if (!(fabs(lb[j]) < none)) r.overflow = 1;
        else r.overflow |= __builtin_mul_overflow(a, (wide)lb[j], &term) || __builtin_add_overflow(sum, term, &sum);
    }
    if (r.below) r.overflow |= __builtin_sub_overflow((wide)whole_up(m->lhs[row] * scale), sum, &r.low);
    if (r.above) r.overflow |= __builtin_sub_overflow((wide)whole_down(m->rhs[row] * scale), sum, &r.high);
    if (r.overflow || r.divisor == 0) return r;
    if (r.below) r.low = -divide_down(-r.low, r.divisor) * r.divisor;
    if (r.above) r.high = divide_down(r.high, r.divisor) * r.divisor;
    return r;
}

static int is_possible(residue r) {
    if (r.overflow) return 1;
    if (r.divisor == 0) return (!r.below || r.low <= 0) && (!r.above || r.high >= 0);
    return !r.below || !r.above || r.low <= r.high;
}

/* An integer as a double that is not beyond it. */
static double double_down(wide x) {
    double y = (double)x;
    return (wide)y > x ? nextafter(y, -HUGE_VAL) : y;
}

int whole_leaves(const whole_rows *h, const mip *m, int32_t row, const double *lb, const double *ub, double *lhs,
                 double *rhs) {
    residue r = residue_of(h, m, row, lb, ub);
    if (r.overflow) return 1;
    if (r.below) *lhs = double_down(r.low) / h->scale[row];
    if (r.above) *rhs = -double_down(-r.high) / h->scale[row];
    return is_possible(r);
}

int whole_may_hold(const whole_rows *h, const mip *m, const double *lb, const double *ub) {
    int32_t k;
    for (k = 0; k < h->many; k++)
        if (!is_possible(residue_of(h, m, h->tight[k], lb, ub))) return 0;
    return 1;
}

/* ---- A point ---- */

int whole_holds(const whole_rows *h, const mip *m, int32_t row, const double *x, double tolerance) {
    long double sum = 0, size = 0;
    int64_t k;
    if (h->scale[row] > 0) {
        residue r = residue_of(h, m, row, x, x);
        return !r.overflow && is_possible(r);
    }
    for (k = m->matrix.start[row]; k < m->matrix.start[row + 1]; k++) {
        int32_t j = m->matrix.index[k];
        long double a = m->matrix.value[k];
        sum += a * x[j];
        size += fabsl(a) * (m->integer[j] ? fabsl(x[j]) : fmaxl(1, fabsl(x[j])));
    }
    return (m->lhs[row] <= -none || sum >= m->lhs[row] - tolerance * size) &&
           (m->rhs[row] >= none || sum <= m->rhs[row] + tolerance * size);
}

/* ---- The model ---- */

static int round_bounds(mip *m) {
    int32_t j, crossing = 0;
    for (j = 0; j < m->matrix.cols; j++) {
        if (m->lb[j] == m->ub[j] && m->lb[j] == floor(m->lb[j])) m->integer[j] = 1; /* as good as an integer column */
        if (m->integer[j] && m->lb[j] > -none) m->lb[j] = whole_up(m->lb[j]);
        if (m->integer[j] && m->ub[j] < none) m->ub[j] = whole_down(m->ub[j]);
        crossing |= m->integer[j] && m->lb[j] > m->ub[j];
    }
    return crossing;
}

/* Returns whether there is a multiple between them. */
static int round_sides(whole_rows *h, mip *m, int32_t row) {
    residue r = residue_of(h, m, row, NULL, NULL);
    double lhs = m->lhs[row], rhs = m->rhs[row], most = 0;
    int64_t k;
    if (r.overflow || !is_possible(r)) return r.overflow;
    whole_leaves(h, m, row, NULL, NULL, &lhs, &rhs);
    m->lhs[row] = lhs;
    m->rhs[row] = rhs;
    for (k = m->matrix.start[row]; k < m->matrix.start[row + 1]; k++) most = fmax(most, fabs(m->matrix.value[k]));
    if (r.below && r.above && rhs - lhs < most) h->tight[h->many++] = row;
    return 1;
}

int whole_open(whole_rows *h, mip *m) {
    int32_t i, infeasible = round_bounds(m);
    h->many = 0;
    h->scale = calloc((size_t)m->matrix.rows + 1, sizeof *h->scale);
    h->tight = calloc((size_t)m->matrix.rows + 1, sizeof *h->tight);
    if (!h->scale || !h->tight) return -1;
    for (i = 0; i < m->matrix.rows; i++) {
        h->scale[i] = find_scale(m, i);
        if (h->scale[i] > 0) infeasible |= !round_sides(h, m, i);
    }
    return infeasible ? 1 : lattice_refutes(m, h->scale);
}

void whole_close(whole_rows *h) {
    free(h->scale);
    free(h->tight);
}
