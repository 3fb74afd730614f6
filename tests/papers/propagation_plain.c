/* SPDX-License-Identifier: MIT
 *
 * The paper's Algorithm 1 without the library, in plain double precision: on one thread its cpu_seq, on several its
 * cpu_omp (section 4.2). Threads share the rows that were marked before the round and change bounds in place, under a
 * lock for each column. Unlike the library it takes no account of rounding errors.
 */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "tests/papers/propagation.h"

/* The library's defaults. */
#define FEASIBILITY 1e-6
#define INTEGRALITY 1e-6
#define LEAST_CHANGE 1e-9

struct plain {
    const mip *model;
    int64_t *start; /* [cols + 1] */
    int32_t *row;   /* of each column's entries */
    uint8_t *marked;
    int32_t *list; /* of rows */
    omp_lock_t *lock;
    double *lb, *ub;
    int infeasible;
};

typedef struct activity {
    double min, max; /* of the finite terms */
    int min_infinite, max_infinite;
    double reach; /* the largest |a| (ub - lb) */
} activity;

static double peek(const double *x) {
    double value;
#pragma omp atomic read
    value = *x;
    return value;
}

plain *plain_new(const mip *model) {
    const gpuopt_matrix *a = &model->matrix;
    plain *s = calloc(1, sizeof *s);
    int32_t i, j;
    int64_t k;
    if (!s) abort();
    s->model = model;
    s->start = calloc((size_t)a->cols + 2, sizeof *s->start);
    s->row = malloc(sizeof *s->row * (size_t)(a->start[a->rows] + 1));
    s->marked = malloc((size_t)a->rows + 1);
    s->list = malloc(sizeof *s->list * ((size_t)a->rows + 1));
    s->lock = malloc(sizeof *s->lock * ((size_t)a->cols + 1));
    if (!s->start || !s->row || !s->marked || !s->list || !s->lock) abort();
    for (k = 0; k < a->start[a->rows]; k++) s->start[a->index[k] + 2]++;
    for (j = 0; j < a->cols; j++) s->start[j + 2] += s->start[j + 1];
    for (i = 0; i < a->rows; i++)
        for (k = a->start[i]; k < a->start[i + 1]; k++) s->row[s->start[a->index[k] + 1]++] = i;
    for (j = 0; j < a->cols; j++) omp_init_lock(&s->lock[j]);
    return s;
}

void plain_free(plain *s) {
    for (int32_t j = 0; j < s->model->matrix.cols; j++) omp_destroy_lock(&s->lock[j]);
    free(s->start);
    free(s->row);
    free(s->marked);
    free(s->list);
    free(s->lock);
    free(s);
}

/* Formulas (3a) and (3b). */
static activity row_activity(const plain *s, int32_t i) {
    const gpuopt_matrix *m = &s->model->matrix;
    activity t = {0, 0, 0, 0, 0};
    for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) {
        double a = m->value[k], lb = peek(&s->lb[m->index[k]]), ub = peek(&s->ub[m->index[k]]);
        double least = a > 0 ? lb : ub, most = a > 0 ? ub : lb, reach = fabs(a) * (ub - lb);
        if (isinf(least)) t.min_infinite++;
        else t.min += a * least;
        if (isinf(most)) t.max_infinite++;
        else t.max += a * most;
        if (reach > t.reach) t.reach = reach;
    }
    return t;
}

/* Moves a bound if the candidate is better, and marks the column's rows. Returns whether it moved. */
static int move(plain *s, int32_t j, int upper, double candidate) {
    double *bound = upper ? &s->ub[j] : &s->lb[j];
    int moved;
    if (s->model->integer[j]) candidate = upper ? floor(candidate + INTEGRALITY) : ceil(candidate - INTEGRALITY);
    if (!(fabs(candidate) < 1e20)) return 0;
    if (upper ? candidate >= peek(bound) - LEAST_CHANGE : candidate <= peek(bound) + LEAST_CHANGE) return 0;
    omp_set_lock(&s->lock[j]);
    moved = upper ? candidate < *bound - LEAST_CHANGE : candidate > *bound + LEAST_CHANGE;
    if (moved) {
#pragma omp atomic write
        *bound = candidate;
    }
    if (s->lb[j] > s->ub[j] + FEASIBILITY) {
#pragma omp atomic write
        s->infeasible = 1;
    }
    omp_unset_lock(&s->lock[j]);
    for (int64_t k = s->start[j]; moved && k < s->start[j + 1]; k++) {
#pragma omp atomic write
        s->marked[s->row[k]] = 1;
    }
    return moved;
}

/* The largest a x that a side allows a term, by formulas (4a) and (4b); infinite if it allows all. `side` is an upper
 * limit on the activity, whose own term is `term`. */
static double allowed(double side, double sum, int infinite, double term) {
    if (isinf(side) || infinite > 1 || (infinite == 1 && !isinf(term))) return INFINITY;
    return side - (infinite ? sum : sum - term);
}

/* Lines 8 to 20 of Algorithm 1. Returns whether a bound moved. */
static int propagate_row(plain *s, int32_t i, double lhs, double rhs) {
    const gpuopt_matrix *m = &s->model->matrix;
    activity t = row_activity(s, i);
    int moved = 0;
    int by_rhs = !isinf(rhs) && (t.min_infinite == 1 || (t.min_infinite == 0 && rhs - t.min < t.reach));
    int by_lhs = !isinf(lhs) && (t.max_infinite == 1 || (t.max_infinite == 0 && t.max - lhs < t.reach));
    for (int64_t k = m->start[i]; (by_rhs || by_lhs) && k < m->start[i + 1]; k++) {
        int32_t j = m->index[k];
        double a = m->value[k], lb = peek(&s->lb[j]), ub = peek(&s->ub[j]);
        double high = allowed(rhs, t.min, t.min_infinite, a * (a > 0 ? lb : ub));
        double low = allowed(-lhs, -t.max, t.max_infinite, -a * (a > 0 ? ub : lb));
        if (!isinf(high)) moved |= move(s, j, a > 0, high / a);
        if (!isinf(low)) moved |= move(s, j, a < 0, -low / a);
    }
    return moved;
}

static int propagate_marked(plain *s, int32_t i) {
    const double lhs = s->model->lhs[i], rhs = s->model->rhs[i];
    return propagate_row(s, i, lhs <= -1e20 ? -INFINITY : lhs, rhs >= 1e20 ? INFINITY : rhs);
}

/* The rows in their order; a row that is marked on the way has its turn in the same round. */
static int sequential_round(plain *s) {
    int moved = 0;
    for (int32_t i = 0; i < s->model->matrix.rows && !s->infeasible; i++) {
        if (!s->marked[i]) continue;
        s->marked[i] = 0;
        moved |= propagate_marked(s, i);
    }
    return moved;
}

static int threads_round(plain *s, int threads) {
    int moved = 0, count = 0, k;
    for (int32_t i = 0; i < s->model->matrix.rows; i++)
        if (s->marked[i]) s->list[count++] = i;
    memset(s->marked, 0, (size_t)s->model->matrix.rows);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64) reduction(| : moved)
    for (k = 0; k < count; k++) moved |= propagate_marked(s, s->list[k]);
    return moved;
}

gpuopt_outcome plain_run(plain *s, int threads, int limit, double *lb, double *ub, int *rounds) {
    int moved = 1;
    s->lb = lb;
    s->ub = ub;
    s->infeasible = 0;
    memset(s->marked, 1, (size_t)s->model->matrix.rows);
    for (*rounds = 0; moved && !s->infeasible && *rounds < limit; ++*rounds)
        moved = threads > 1 ? threads_round(s, threads) : sequential_round(s);
    return s->infeasible ? GPUOPT_INFEASIBLE : moved ? GPUOPT_MORE : GPUOPT_CONVERGED;
}
