/* SPDX-License-Identifier: MIT
 *
 * Shared by the threads of solve_mip: open nodes and the best solution.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/mip_search.h"

gpuopt_status tree_open(tree *t, const mip *model, const whole_rows *whole) {
    size_t cols = (size_t)model->matrix.cols;
    memset(t, 0, sizeof *t);
    t->model = model;
    t->whole = whole;
    t->unit = mip_cost_unit(model);
    t->best_objective = t->cutoff = HUGE_VAL;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    t->history = calloc(cols + 1, sizeof *t->history);
    t->lb = calloc(5 * cols + 1, sizeof *t->lb);
    t->cut_start = calloc(MOST_CUTS + 1, sizeof *t->cut_start);
    t->cut_col = malloc(MOST_CUT_ENTRIES * sizeof *t->cut_col);
    t->cut_value = malloc(MOST_CUT_ENTRIES * sizeof *t->cut_value);
    t->cut_side = malloc(MOST_CUTS * sizeof *t->cut_side);
    if (!t->lb || !t->history || !t->cut_start || !t->cut_col || !t->cut_value || !t->cut_side)
        return GPUOPT_ERROR_MEMORY;
    t->ub = t->lb + cols;
    t->best = t->ub + cols;
    t->root_x = t->best + cols;
    t->root_slope = t->root_x + cols;
    memcpy(t->lb, model->lb, cols * sizeof *t->lb);
    memcpy(t->ub, model->ub, cols * sizeof *t->ub);
    return GPUOPT_OK;
}

void tree_close(tree *t) {
    while (t->count > 0) free(t->node[--t->count]);
    free(t->node);
    free(t->lb);
    free(t->history);
    free(t->cut_start);
    free(t->cut_col);
    free(t->cut_value);
    free(t->cut_side);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
}

static int comes_before(const open_node *a, const open_node *b) {
    return a->bound != b->bound ? a->bound < b->bound : a->depth > b->depth;
}

static int put(tree *t, open_node *n) {
    size_t k = t->count;
    if (t->count == t->capacity) {
        open_node **more = realloc(t->node, (2 * t->capacity + 64) * sizeof *more);
        if (!more) return -1;
        t->node = more;
        t->capacity = 2 * t->capacity + 64;
    }
    for (t->count++; k > 0 && comes_before(n, t->node[(k - 1) / 2]); k = (k - 1) / 2) t->node[k] = t->node[(k - 1) / 2];
    t->node[k] = n;
    return 0;
}

static open_node *take(tree *t) {
    open_node *first = t->node[0], *last = t->node[--t->count];
    size_t k = 0, child;
    while ((child = 2 * k + 1) < t->count) {
        if (child + 1 < t->count && comes_before(t->node[child + 1], t->node[child])) child++;
        if (!comes_before(t->node[child], last)) break;
        t->node[k] = t->node[child];
        k = child;
    }
    if (t->count) t->node[k] = last;
    return first;
}

void tree_put(worker *w, decision d) {
    tree *t = w->tree;
    size_t basis = (size_t)w->model->matrix.cols + (size_t)w->model->matrix.rows + (size_t)t->cuts;
    int32_t depth = w->depth + 1, k;
    open_node *n = malloc(sizeof *n + sizeof d * (size_t)depth + basis);
    if (n) {
        n->bound = n->before = w->bound;
        n->depth = depth;
        n->solved = 0;
        for (k = 0; k < depth; k++) n->path[k] = k < w->depth ? w->path[k].d : d;
        n->basis = (uint8_t *)(n->path + depth);
        memcpy(n->basis, w->basis, basis);
    }
    pthread_mutex_lock(&t->lock);
    if (!n || put(t, n)) {
        free(n);
        worker_ok(w, GPUOPT_ERROR_MEMORY);
    }
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

open_node *tree_take(worker *w) {
    tree *t = w->tree;
    open_node *n = NULL;
    pthread_mutex_lock(&t->lock);
    t->busy -= w->at_node;
    if (!t->status) t->status = w->status;
    while (t->busy > 0 && t->count == 0 && !t->status && !w->late) pthread_cond_wait(&t->changed, &t->lock);
    w->late |= interrupted(NULL);
    while (t->count > 0 && t->node[0]->bound >= t->cutoff) free(take(t));
    if (t->count > 0 && !t->status && !w->late && !(t->unbounded && t->found)) n = take(t);
    w->at_node = n != NULL;
    t->busy += w->at_node;
    if (!n) pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    return n;
}

int32_t tree_take_more(worker *w, open_node **node, int32_t most) {
    enum { PASSED = 64 }; /* solved ones on the way */
    tree *t = w->tree;
    open_node *passed[PASSED];
    int32_t count = 0, others = 0;
    pthread_mutex_lock(&t->lock);
    while (t->count > 0 && count < most && others < PASSED) {
        open_node *n = take(t);
        if (n->solved) passed[others++] = n;
        else node[count++] = n;
    }
    while (others > 0) put(t, passed[--others]); /* their memory is there */
    pthread_mutex_unlock(&t->lock);
    return count;
}

void tree_put_back(worker *w, open_node **node, int32_t count) {
    tree *t = w->tree;
    int32_t k;
    pthread_mutex_lock(&t->lock);
    for (k = 0; k < count; k++)
        if (put(t, node[k])) {
            w->given_up = fmin(w->given_up, node[k]->bound);
            free(node[k]);
            worker_ok(w, GPUOPT_ERROR_MEMORY);
        }
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

void tree_offer(worker *w, const double *x, double objective) {
    tree *t = w->tree;
    pthread_mutex_lock(&t->lock);
    if (!t->found || objective < t->best_objective) {
        t->found = 1;
        memcpy(t->best, x, (size_t)w->model->matrix.cols * sizeof *x);
        t->best_objective = objective;
        t->cutoff = objective - fmax(1e-9 * fmax(1, fabs(objective)), (1 - 1e-6) * t->unit);
    }
    pthread_mutex_unlock(&t->lock);
    tree_adopt(w);
}

void tree_adopt(worker *w) {
    const mip *m = w->model;
    tree *t = w->tree;
    int64_t start[2] = {0, 0};
    gpuopt_matrix row = {1, m->matrix.cols, start, w->col, w->low, GPUOPT_LAYOUT_CSR};
    double side, none = -HUGE_VAL;
    int32_t j;
    int better;
    pthread_mutex_lock(&t->lock);
    better = t->cutoff < w->cutoff;
    if (better) memcpy(w->best, t->best, (size_t)m->matrix.cols * sizeof *w->best);
    if (better) w->cutoff = t->cutoff;
    pthread_mutex_unlock(&t->lock);
    if (!better) return;
    side = w->cutoff - m->offset;
    worker_ok(w, gpuopt_simplex_set_cutoff(w->lp, w->cutoff));
    if (w->cutoff_row >= 0) {
        worker_ok(w, gpuopt_propagator_set_sides(w->propagator, GPUOPT_HOST, 1, &w->cutoff_row, &none, &side));
        return;
    }
    for (j = 0; j < m->matrix.cols; j++)
        if (m->cost[j] != 0) w->col[start[1]] = j, w->low[start[1]++] = m->cost[j];
    worker_ok(w, gpuopt_propagator_add_rows(w->propagator, &row, &none, &side, &w->cutoff_row));
}
