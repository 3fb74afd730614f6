/* SPDX-License-Identifier: MIT
 *
 * Points of solve_mip's relaxations: whether one is a solution, and the contents of a node if that is in doubt. The
 * relaxation accepts a row that is violated by 1e-9 of its side, which beside 1e9 is a whole unit. A smaller relaxation
 * without the fixed columns has smaller sides. If all integer columns are fixed, the remaining program decides.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/io/lp_check.h"
#include "examples/mip_search.h"

/* ---- Solutions ---- */

/* The rounding of a relaxation's point; and the allowed violation if no column is left to branch on. */
static const double strict = 1e-12, loose = 1e-9;

static int is_solution(const worker *w, double *x, double tolerance) {
    const mip *m = w->model;
    int32_t i, j;
    for (j = 0; j < m->matrix.cols; j++)
        x[j] = fmin(fmax(m->integer[j] ? round(w->x[j]) : w->x[j], m->lb[j]), m->ub[j]);
    for (i = 0; i < m->matrix.rows; i++)
        if (!whole_holds(w->tree->whole, m, i, x, tolerance)) return 0;
    return 1;
}

static int take(worker *w, double tolerance) {
    if (!is_solution(w, w->high, tolerance)) return 0;
    tree_offer(w, w->high, lp_objective(w->model, w->high));
    return 1;
}
int take_rounded(worker *w) { return take(w, strict); }

void take_integers(worker *w) {
    int32_t j, count = 0;
    if (take_rounded(w) || node_is_full(w)) return;
    for (j = 0; j < w->model->matrix.cols; j++)
        if (is_open(w, j)) w->col[count] = j, w->low[count++] = round(w->x[j]);
    if (node_push(w, NULL) && node_tighten(w, count, w->col, w->low, w->low) && node_relax(w)) take_rounded(w);
}

/* ---- The smaller relaxation ---- */

typedef struct smaller {
    mip model;         /* by columns */
    int32_t *col;      /* [cols]: the whole model's */
    int32_t *place;    /* [rows of the whole model]: its row, from 1; 0: all of its columns are fixed */
    int32_t *row, *in; /* [nonzeros], and per row how many columns are not fixed */
} smaller;

static void smaller_free(smaller *s) {
    mip *m = &s->model;
    void *memory[] = {m->cost, m->lhs, m->rhs,  m->lb, m->ub, (void *)m->columns.start, (void *)m->columns.value,
                      s->col,  s->row, s->place};
    size_t k;
    for (k = 0; k < sizeof memory / sizeof *memory; k++) free(memory[k]);
}

static int smaller_allocate(smaller *s, const mip *model) {
    size_t rows = (size_t)model->matrix.rows + 1, cols = (size_t)model->matrix.cols + 1,
           nonzeros = (size_t)mip_nonzeros(model) + 1;
    mip *m = &s->model;
    memset(s, 0, sizeof *s);
    m->cost = malloc(cols * sizeof *m->cost);
    m->lb = malloc(cols * sizeof *m->lb);
    m->ub = malloc(cols * sizeof *m->ub);
    m->lhs = malloc(rows * sizeof *m->lhs);
    m->rhs = malloc(rows * sizeof *m->rhs);
    s->col = malloc(cols * sizeof *s->col);
    s->row = malloc(nonzeros * sizeof *s->row);
    s->place = calloc(rows, sizeof *s->place);
    m->columns.start = calloc(cols, sizeof *m->columns.start);
    m->columns.value = malloc(nonzeros * sizeof *m->columns.value);
    return m->cost && m->lb && m->ub && m->lhs && m->rhs && s->col && s->row && s->place && m->columns.start &&
           m->columns.value;
}

/* The part of the row's sides for the columns that are not fixed. Returns whether the row may hold. */
static int smaller_row(const worker *w, int32_t row, smaller *s) {
    const mip *m = w->model;
    double lhs = m->lhs[row], rhs = m->rhs[row];
    long double sum = 0, size = 0;
    int32_t open = 0;
    int64_t k;
    for (k = m->matrix.start[row]; k < m->matrix.start[row + 1]; k++) {
        int32_t j = m->matrix.index[k];
        if (w->lb[j] < w->ub[j]) open++;
        else
            sum += (long double)m->matrix.value[k] * w->lb[j],
                size += fabsl((long double)m->matrix.value[k] * w->lb[j]);
    }
    if (w->tree->whole->scale[row] > 0) {
        if (!whole_leaves(w->tree->whole, m, row, w->lb, w->ub, &lhs, &rhs)) return 0;
    } else if (open) { /* less the possible rounding of such terms */
        if (lhs > -1e20) lhs = (double)(lhs - sum - 1e-12L * size);
        if (rhs < 1e20) rhs = (double)(rhs - sum + 1e-12L * size);
    }
    if (!open) return whole_holds(w->tree->whole, m, row, w->lb, loose);
    s->model.lhs[s->model.matrix.rows] = lhs;
    s->model.rhs[s->model.matrix.rows] = rhs;
    s->place[row] = ++s->model.matrix.rows;
    return 1;
}

static void smaller_column(const worker *w, int32_t j, smaller *s) {
    const gpuopt_matrix *from = &w->model->columns;
    mip *m = &s->model;
    int32_t to = m->matrix.cols;
    int64_t *start = (int64_t *)m->columns.start, k;
    if (!(w->lb[j] < w->ub[j])) {
        m->offset += w->tree->unbounded ? 0 : w->model->cost[j] * w->lb[j];
        return;
    }
    s->col[to] = j;
    m->cost[to] = w->tree->unbounded ? 0 : w->model->cost[j];
    m->lb[to] = w->lb[j];
    m->ub[to] = w->ub[j];
    start[to + 1] = start[to];
    for (k = from->start[j]; k < from->start[j + 1]; k++) {
        s->row[start[to + 1]] = s->place[from->index[k]] - 1;
        ((double *)m->columns.value)[start[to + 1]++] = from->value[k];
    }
    m->matrix.cols++;
}

/* Returns whether the rows without other columns hold. */
static int smaller_make(const worker *w, smaller *s) {
    mip *m = &s->model;
    int32_t i, j;
    m->offset = w->tree->unbounded ? 0 : w->model->offset;
    for (i = 0; i < w->model->matrix.rows; i++)
        if (!smaller_row(w, i, s)) return 0;
    for (j = 0; j < w->model->matrix.cols; j++) smaller_column(w, j, s);
    m->columns.rows = m->matrix.rows;
    m->columns.cols = m->matrix.cols;
    m->columns.index = s->row;
    m->columns.layout = GPUOPT_LAYOUT_CSC;
    return 1;
}

/* Solves it: the node's point and bound are then its. */
static int smaller_solve(worker *w, const smaller *s) {
    gpuopt_simplex_desc desc = mip_simplex_desc(&s->model);
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    gpuopt_simplex *lp = NULL;
    int32_t k;
    desc.method = GPUOPT_METHOD_REVISED;
    desc.algorithm = GPUOPT_ALGORITHM_AUTO;
    if (!worker_ok(w, gpuopt_simplex_create(w->context, &desc, NULL, &lp))) return 0;
    worker_ok(w, gpuopt_simplex_set_cutoff(lp, w->cutoff));
    do {
        if (!worker_ok(w, gpuopt_simplex_iterate(lp, 200, &info))) break;
        w->late |= interrupted(NULL);
    } while (info.outcome == GPUOPT_MORE && !w->late);
    w->iterations += info.iterations;
    w->uncertain += info.iterations;
    if (!w->status && info.outcome != GPUOPT_INFEASIBLE && info.outcome != GPUOPT_CUTOFF && !w->late) {
        worker_ok(w, gpuopt_simplex_get_solution(
                         lp, GPUOPT_HOST,
                         &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = w->low}));
        if (info.outcome != GPUOPT_OPTIMAL) worker_ok(w, gpuopt_simplex_get_bound(lp, &info.objective));
        memcpy(w->x, w->lb, (size_t)w->model->matrix.cols * sizeof *w->x);
        for (k = 0; k < s->model.matrix.cols; k++) w->x[s->col[k]] = w->low[k];
    }
    gpuopt_simplex_destroy(lp);
    if (w->status || info.outcome == GPUOPT_INFEASIBLE || info.outcome == GPUOPT_CUTOFF || w->late) return 0;
    w->outcome = info.outcome;
    w->bound = fmax(w->bound, info.objective);
    return w->bound < w->cutoff;
}

/* Solves the node's relaxation without the fixed columns. Returns whether there may be a better solution. */
static int solve_smaller(worker *w) {
    smaller s;
    int may = worker_ok(w, smaller_allocate(&s, w->model) ? GPUOPT_OK : GPUOPT_ERROR_MEMORY) && smaller_make(w, &s);
    if (may && s.model.matrix.cols > 0) {
        may = smaller_solve(w, &s);
    } else if (may) {
        memcpy(w->x, w->lb, (size_t)w->model->matrix.cols * sizeof *w->x);
        w->outcome = GPUOPT_OPTIMAL;
        w->bound = fmax(w->bound, s.model.offset);
    }
    smaller_free(&s);
    return may;
}

/* ---- What to do with the node ---- */

/* A column to branch on if the relaxation's point is no solution, or no proof. It is a fractional column, else the
 * column with the fewest values, in a row that the integers violate if there is one; -1: all are fixed. */
static int32_t any_open(worker *w) {
    const mip *m = w->model;
    double *x = w->high, least = HUGE_VAL;
    int32_t i, j, best = -1;
    int64_t k;
    for (j = 0; j < m->matrix.cols; j++) {
        if (is_fractional(w, j)) return j;
        x[j] = m->integer[j] ? round(w->x[j]) : w->x[j];
    }
    for (i = 0; i < m->matrix.rows; i++) {
        int64_t end = whole_holds(w->tree->whole, m, i, x, strict) ? m->matrix.start[i] : m->matrix.start[i + 1];
        for (k = m->matrix.start[i]; k < end; k++) w->mark[m->matrix.index[k]] = 1;
    }
    for (j = 0; j < m->matrix.cols; j++) {
        double worth = w->ub[j] - w->lb[j] - 0.5 * fabs(w->x[j] - x[j]);
        if (is_open(w, j) && (best < 0 || w->mark[j] > w->mark[best] || (w->mark[j] == w->mark[best] && worth < least)))
            best = j, least = worth;
    }
    memset(w->mark, 0, (size_t)m->matrix.cols);
    return best;
}

int32_t settle_uncertain(worker *w, int taken) {
    int32_t col = any_open(w);
    if (taken && w->outcome == GPUOPT_OPTIMAL) return col < 0 ? CLOSED : col;
    if (col >= 0 && 4 * w->uncertain > w->iterations + 10000) return col;
    if (!solve_smaller(w)) return CLOSED;
    col = any_open(w);
    taken = take(w, col < 0 ? loose : strict);
    if (w->bound >= w->cutoff) return CLOSED;
    if (col < 0 && (!taken || w->outcome != GPUOPT_OPTIMAL)) w->given_up = fmin(w->given_up, w->bound);
    return col < 0 ? CLOSED : col;
}
