/* SPDX-License-Identifier: MIT
 *
 * The column to branch on in solve_mip, and bounds that follow from costs.
 */
#include <math.h>
#include <stdlib.h>

#include "examples/mip_search.h"

static const double integrality = 1e-6;

static double fraction(double x) { return x - floor(x); }

int is_open(const worker *w, int32_t j) { return w->model->integer[j] && w->lb[j] < w->ub[j]; }
int is_fractional(const worker *w, int32_t j) {
    return w->model->integer[j] && fabs(w->x[j] - round(w->x[j])) > integrality;
}

void branch_remember(tree *t, int32_t j, int up, double rise, double moved) {
    if (rise >= HUGE_VAL || moved < integrality) return;
    t->history[j].rise[up] += rise / moved;
    t->history[j].count[up]++;
    t->all.rise[up] += rise / moved;
    t->all.count[up]++;
}

/* The rise to be expected. */
static double expected(const tree *t, int32_t j, int up, double f) {
    const history *h = t->history[j].count[up] ? &t->history[j] : &t->all;
    return (h->count[up] ? h->rise[up] / h->count[up] : 1) * (up ? 1 - f : f);
}

typedef struct candidate {
    int32_t col, known; /* known: how often the column has been branched on or tried in either direction */
    double score;
} candidate;

static double score_of(double down, double up) { return fmax(down, 1e-6) * fmax(up, 1e-6); }

static int by_score(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    return x->score != y->score ? (x->score < y->score) - (x->score > y->score) : (x->col > y->col) - (x->col < y->col);
}

/* The fractional columns, the most promising first. */
static int32_t list_candidates(worker *w, candidate *list) {
    tree *t = w->tree;
    int32_t j, count = 0;
    pthread_mutex_lock(&t->lock);
    for (j = 0; j < w->model->matrix.cols; j++) {
        const int32_t *known = t->history[j].count;
        double f = fraction(w->x[j]);
        if (is_fractional(w, j))
            list[count++] = (candidate){j, known[0] < known[1] ? known[0] : known[1],
                                        score_of(expected(t, j, 0, f), expected(t, j, 1, f))};
    }
    pthread_mutex_unlock(&t->lock);
    qsort(list, (size_t)count, sizeof *list, by_score);
    return count;
}

/* Strong branching: replaces the scores of columns by the rise of the objective in their children, of some iterations
 * each. Bounds beyond which there is no better solution go into the worker's list; returns how many. */
static int32_t try_children(worker *w, candidate **tried, int32_t count) {
    gpuopt_simplex_children_desc children = GPUOPT_INIT(gpuopt_simplex_children_desc);
    gpuopt_simplex_child_report report = GPUOPT_INIT(gpuopt_simplex_child_report);
    int64_t limit = 20 + 2 * (w->iterations - w->tries) / (w->nodes + 1);
    int32_t col[MOST_TRIED], outcome[2 * MOST_TRIED], iterations[2 * MOST_TRIED], k, up, listed = 0;
    double objective[2 * MOST_TRIED], value[MOST_TRIED];
    for (k = 0; k < count; k++) col[k] = tried[k]->col, value[k] = w->x[col[k]];
    children.batch_size = 2 * MOST_TRIED;
    if (!w->batch && !worker_ok(w, gpuopt_simplex_children_create(w->lp, &children, NULL, &w->batch))) return 0;
    report.outcome = outcome;
    report.iterations = iterations;
    report.objective = objective;
    if (!worker_ok(w, gpuopt_simplex_children_strong_branch(w->batch, GPUOPT_HOST, count, NULL, col, value,
                                                            limit < 100 ? limit : 100, &report)))
        return 0;
    pthread_mutex_lock(&w->tree->lock);
    for (k = 0; k < count; k++) {
        double x = w->x[col[k]], rise[2];
        for (up = 0; up < 2; up++) {
            int c = 2 * k + up, closed = outcome[c] == GPUOPT_INFEASIBLE || outcome[c] == GPUOPT_CUTOFF ||
                                         (outcome[c] == GPUOPT_OPTIMAL && objective[c] >= w->cutoff);
            rise[up] = closed ? HUGE_VAL : fmax(0, objective[c] - w->bound);
            branch_remember(w->tree, col[k], up, rise[up], up ? ceil(x) - x : fraction(x));
            w->tries += iterations[c];
            w->iterations += iterations[c];
        }
        tried[k]->score = score_of(rise[0], rise[1]);
        if (rise[0] < HUGE_VAL && rise[1] < HUGE_VAL) continue;
        w->col[listed] = col[k];
        w->low[listed] = rise[0] < HUGE_VAL ? w->lb[col[k]] : ceil(x);
        w->high[listed++] = rise[1] < HUGE_VAL ? w->ub[col[k]] : floor(x);
    }
    pthread_mutex_unlock(&w->tree->lock);
    return listed;
}

int32_t branch_choose(worker *w) {
    enum { RELIABLE = 8 };
    candidate *list = malloc((size_t)(w->model->matrix.cols + 1) * sizeof *list), *tried[MOST_TRIED];
    int32_t count, k, n = 0, listed = 0, result = INTEGRAL;
    if (!list) return worker_ok(w, GPUOPT_ERROR_MEMORY), CLOSED;
    count = list_candidates(w, list);
    for (k = 0; k < count && k < MOST_TRIED; k++)
        if (list[k].known < RELIABLE && w->tries < w->iterations / 2 + 10000) tried[n++] = &list[k];
    if (n > 0) listed = try_children(w, tried, n);
    if (listed > 0) result = node_tighten(w, listed, w->col, w->low, w->high) ? AGAIN : CLOSED;
    else if (count > 0) {
        qsort(list, (size_t)(count < MOST_TRIED ? count : MOST_TRIED), sizeof *list, by_score);
        result = list[0].col;
    }
    free(list);
    return result;
}

int32_t tighten_by_cost(worker *w, double objective, const double *x, const double *slope) {
    int32_t j, count = 0;
    if (w->cutoff >= HUGE_VAL) return 0;
    for (j = 0; j < w->model->matrix.cols; j++) {
        double most = (w->cutoff - objective) / fabs(slope[j]) + integrality;
        double lb = slope[j] < 0 ? ceil(x[j] - most) : w->lb[j], ub = slope[j] > 0 ? floor(x[j] + most) : w->ub[j];
        if (!is_open(w, j) || fabs(slope[j]) < 1e-9 || (lb <= w->lb[j] && ub >= w->ub[j])) continue;
        w->col[count] = j;
        w->low[count] = fmax(lb, w->lb[j]);
        w->high[count++] = fmin(ub, w->ub[j]);
    }
    return count == 0 || node_tighten(w, count, w->col, w->low, w->high) ? count : CLOSED;
}
