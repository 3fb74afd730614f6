/* SPDX-License-Identifier: MIT
 *
 * Cuts at the root of solve_mip: mixed-integer rounding of the model's rows (Marchand and Wolsey 2001), with bounds of
 * columns that depend on a binary one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/mip_search.h"

/* constant + slope * column */
typedef struct bound {
    int32_t col;
    double constant, slope;
} bound;

/* A column's distance from a bound, in a row. */
typedef struct term {
    bound from;
    int32_t col, upper;
    double a; /* below 0 */
} term;

/* A row, at most a side, as integer columns and distances. */
typedef struct cutter {
    worker *w;
    bound *implied;        /* [2 * cols] the best lower and upper bounds that depend on a column; slope 0: none */
    int32_t *list, count;  /* the columns that it has or that the cut will have */
    double *integer, *cut; /* [cols] of the listed columns: coefficients of integer columns, and in the cut */
    double side, size;     /* size: the sum of the sizes of the side's terms */
    term *term;
    int32_t terms;
} cutter;

static double at(const worker *w, bound b) { return b.constant + b.slope * w->x[b.col]; }
static int is_nearer_to_upper(const worker *w, int32_t j) { return w->ub[j] - w->x[j] < w->x[j] - w->lb[j]; }

static void begin_row(cutter *c, double side) {
    while (c->count > 0) c->w->mark[c->list[--c->count]] = 0;
    c->terms = 0;
    c->side = side;
    c->size = fabs(side);
}

static void add_integer(cutter *c, int32_t j, double a) {
    if (!c->w->mark[j]) c->w->mark[j] = 1, c->integer[j] = 0, c->list[c->count++] = j;
    c->integer[j] += a;
}

/* Writes a * column j as a bound and a distance; a distance with a positive coefficient may be left out. */
static void add_distance(cutter *c, int32_t j, int upper, bound b, double a) {
    c->side -= a * b.constant;
    c->size += fabs(a * b.constant);
    add_integer(c, j, 0);
    add_integer(c, b.col, a * b.slope);
    if ((upper ? -a : a) < 0) c->term[c->terms++] = (term){b, j, upper, upper ? -a : a};
}

/* ---- Bounds that depend on a column ---- */

/* Column k has the bound `with` where the binary column j is 1 (value 0: 0), else `without`. */
static void note(cutter *c, int32_t k, int upper, double with, double without, int32_t j, int value) {
    bound b = value ? (bound){j, without, with - without} : (bound){j, with, without - with};
    bound *best = &c->implied[2 * k + upper];
    if (k == j || fabs(b.slope) < 1e-6 || !(fabs(b.slope) < 1e6)) return;
    if (best->slope == 0 || (upper ? at(c->w, b) < at(c->w, *best) : at(c->w, b) > at(c->w, *best))) *best = b;
}

/* The bounds that sign * row i <= side implies for other columns at both values of its binary column with the largest
 * coefficient. */
static void imply(cutter *c, int32_t i, double sign, double side) {
    const worker *w = c->w;
    const gpuopt_matrix *m = &w->model->matrix;
    double least = 0, largest = 0;
    int32_t binary = -1, value;
    int64_t e;
    for (e = m->start[i]; e < m->start[i + 1]; e++) {
        int32_t j = m->index[e];
        double a = sign * m->value[e];
        least += fmin(a * w->lb[j], a * w->ub[j]);
        if (w->model->integer[j] && w->lb[j] == 0 && w->ub[j] == 1 && fabs(a) > fabs(largest)) largest = a, binary = j;
    }
    for (e = m->start[i]; e < m->start[i + 1] && binary >= 0 && least > -1e9; e++) {
        int32_t j = m->index[e];
        double a = sign * m->value[e], rest = least - fmin(0, largest) - fmin(a * w->lb[j], a * w->ub[j]);
        for (value = 0; value < 2; value++) {
            double x = (side - largest * value - rest) / a;
            if (w->model->integer[j]) x = a > 0 ? floor(x + 1e-6) : ceil(x - 1e-6);
            if (a > 0 && x < w->ub[j]) note(c, j, 1, fmax(x, w->lb[j]), w->ub[j], binary, value);
            if (a < 0 && x > w->lb[j]) note(c, j, 0, fmin(x, w->ub[j]), w->lb[j], binary, value);
        }
    }
}

/* ---- Mixed-integer rounding ---- */

/* Divides the row, rounds it, and writes it behind the tree's cuts. Returns how far the relaxation's point is beyond
 * it; 0: the cut is useless. */
static double round_by(cutter *c, double divisor) {
    worker *w = c->w;
    tree *t = w->tree;
    int64_t n = t->cut_start[t->cuts];
    double side = floor(c->side / divisor), f = c->side / divisor - side, sum = 0, norm = 0, least = HUGE_VAL, most = 0,
           missing = 0; /* of the side, by the rounding of coefficients, times the values of their columns */
    int32_t k;
    if (f > 0.99 || t->cuts == MOST_CUTS || n + c->count > MOST_CUT_ENTRIES) return 0;
    for (k = 0; k < c->count; k++) {
        int32_t j = c->list[k], sign = is_nearer_to_upper(w, j) ? -1 : 1;
        double a = sign * c->integer[j] / divisor;
        c->cut[j] = sign * (floor(a) + fmax(0, a - floor(a) - f) / (1 - f));
        if (c->integer[j] != 0) side += c->cut[j] * (sign < 0 ? w->ub[j] : w->lb[j]);
    }
    for (k = 0; k < c->terms; k++) {
        const term *r = &c->term[k];
        double a = (r->upper ? -1 : 1) * r->a / divisor / (1 - f);
        c->cut[r->col] += a;
        c->cut[r->from.col] -= a * r->from.slope;
        side += a * r->from.constant;
    }
    for (k = 0; k < c->count; k++) {
        int32_t j = c->list[k];
        if (fabs(c->cut[j]) < 1e-12) continue;
        least = fmin(least, fabs(c->cut[j]));
        most = fmax(most, fabs(c->cut[j]));
        if (w->model->integer[j] && c->cut[j] != floor(c->cut[j]))
            missing += 0x1p-44 * fabs(c->cut[j]) * (w->ub[j] - w->lb[j]);
        sum += c->cut[j] * w->x[j];
        norm += c->cut[j] * c->cut[j];
        t->cut_col[n] = j;
        t->cut_value[n++] = c->cut[j];
    }
    t->cut_start[t->cuts + 1] = n;
    t->cut_side[t->cuts] = side + 1e-10 * fmax(most, fabs(side)) + missing; /* for rounding */
    return least > 1e-6 * most && most > 0 && missing < HUGE_VAL ? (sum - side - missing) / sqrt(norm) : 0;
}

static const double worthwhile = 0.01;

/* Rounds the row sign * row i <= side; prefer: by bounds that depend on a column. Returns whether it made a cut. */
static int round_row(cutter *c, int32_t i, double sign, double side, int prefer) {
    worker *w = c->w;
    const gpuopt_matrix *m = &w->model->matrix;
    double best = worthwhile, by = 0, tried[8];
    int32_t k, l, n = 0;
    int64_t e;
    begin_row(c, side);
    for (e = m->start[i]; e < m->start[i + 1]; e++) {
        int32_t j = m->index[e];
        bound low = c->implied[2 * j], high = c->implied[2 * j + 1];
        int varies = (high.slope != 0) - (low.slope != 0), upper;
        if (low.slope == 0) low = (bound){j, w->lb[j], 0};
        if (high.slope == 0) high = (bound){j, w->ub[j], 0};
        upper = prefer && varies ? varies > 0 : at(w, high) - w->x[j] < w->x[j] - at(w, low);
        if (upper) low = high;
        if (!(fabs(low.constant) < 1e9)) return 0;
        if (w->model->integer[j] && low.slope == 0) add_integer(c, j, sign * m->value[e]);
        else add_distance(c, j, upper, low, sign * m->value[e]);
    }
    for (k = 0; k < c->count; k++) {
        int32_t j = c->list[k];
        double nearest = is_nearer_to_upper(w, j) ? w->ub[j] : w->lb[j];
        if (c->integer[j] != 0 && !(fabs(nearest) < 1e9)) return 0;
        if (c->integer[j] != 0) c->side -= c->integer[j] * nearest, c->size += fabs(c->integer[j] * nearest);
    }
    if (w->tree->whole->scale[i] == 0 || c->size >= 0x1p52) c->side += 0x1p-50 * c->size; /* for rounding */
    for (k = 0; k < c->count && n < 8; k++) { /* by coefficients of columns between their bounds */
        int32_t j = c->list[k];
        double divisor = fabs(c->integer[j]), beyond;
        if (divisor < 1e-6 || fmin(w->x[j] - w->lb[j], w->ub[j] - w->x[j]) < 1e-6) continue;
        for (l = 0; l < n && tried[l] != divisor; l++) {}
        if (l < n) continue;
        tried[n++] = divisor;
        beyond = round_by(c, divisor);
        if (beyond > best) best = beyond, by = divisor;
    }
    if (by == 0) return 0;
    round_by(c, by);
    c->w->tree->cuts++;
    return 1;
}

static void round_rows(cutter *c) {
    const worker *w = c->w;
    const mip *m = w->model;
    int32_t i, j, upper;
    for (i = 0; i < m->matrix.rows; i++) {
        if (m->rhs[i] < 1e20) imply(c, i, 1, m->rhs[i]);
        if (m->lhs[i] > -1e20) imply(c, i, -1, -m->lhs[i]);
    }
    for (i = 0; i < m->matrix.rows; i++) {
        if (m->rhs[i] < 1e20 && !round_row(c, i, 1, m->rhs[i], 1)) round_row(c, i, 1, m->rhs[i], 0);
        if (m->lhs[i] > -1e20 && !round_row(c, i, -1, -m->lhs[i], 1)) round_row(c, i, -1, -m->lhs[i], 0);
    }
    for (j = 0; j < m->matrix.cols; j++) /* and the bounds themselves */
        for (upper = 0; upper < 2; upper++) {
            bound b = c->implied[2 * j + upper];
            if (b.slope == 0 || (upper ? w->x[j] - at(w, b) : at(w, b) - w->x[j]) < 1e-6) continue;
            begin_row(c, 0);
            add_integer(c, j, 0);
            add_integer(c, b.col, 0);
            c->term[c->terms++] = (term){b, j, upper, -1};
            if (round_by(c, 1) > worthwhile) w->tree->cuts++;
        }
    begin_row(c, 0);
}

/* Drops the tree's cuts that the relaxation's point does not need. */
static void drop_loose(worker *w) {
    tree *t = w->tree;
    uint8_t *basis = w->basis + w->model->matrix.cols + w->model->matrix.rows;
    int32_t k, kept = 0;
    int64_t e = 0, n = 0, end;
    for (k = 0; k < t->cuts; k++) {
        int keep = basis[k] != GPUOPT_VARIABLE_BASIC;
        for (end = t->cut_start[k + 1]; e < end; e++)
            if (keep) t->cut_col[n] = t->cut_col[e], t->cut_value[n++] = t->cut_value[e];
        if (!keep) continue;
        basis[kept] = basis[k];
        t->cut_side[kept] = t->cut_side[k];
        t->cut_start[++kept] = n;
    }
    t->cuts = kept;
}

int node_cut(worker *w) {
    size_t cols = (size_t)w->model->matrix.cols, own = cols + (size_t)w->model->matrix.rows;
    cutter c = {.w = w, .list = w->col, .integer = w->low, .cut = w->high};
    tree *t = w->tree;
    double until = now() + 0.1 * fmin(600, interrupt_left()), before;
    int32_t had, kept, stalls = 0, result;
    c.implied = calloc(2 * cols + 1, sizeof *c.implied);
    c.term = calloc(cols + 1, sizeof *c.term);
    result = worker_ok(w, c.implied && c.term ? GPUOPT_OK : GPUOPT_ERROR_MEMORY);
    while (result) {
        before = w->objective;
        had = t->cuts;
        drop_loose(w);
        kept = t->cuts;
        if (stalls < 3 && now() < until) round_rows(&c);
        if (kept == had && t->cuts == kept) break;
        memset(w->basis + own + kept, GPUOPT_VARIABLE_BASIC, (size_t)(t->cuts - kept));
        result = open_relaxation(w);
        if (result) node_set_basis(w, w->basis), result = node_relax(w);
        if (t->cuts == kept) break;
        stalls = w->objective - before > 1e-3 * fabs(before) ? 0 : stalls + 1;
    }
    free(c.implied);
    free(c.term);
    return result;
}
