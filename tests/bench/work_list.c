/* SPDX-License-Identifier: MIT */
#include "tests/bench/work_list.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double feasibility = 1e-6, integrality = 1e-6, least_change = 1e-9, relative_change = 0x1p-48,
                    infinite = 1e20;

typedef struct change {
    int32_t col, upper;
    double old;
} change;

struct work_list {
    int32_t rows, cols;
    const int64_t *start; /* A by rows, the model's */
    const int32_t *index;
    const double *value;
    int64_t *col_start; /* A by columns */
    int32_t *col_row;
    double *col_value;
    double *lhs, *rhs, *lb, *ub;       /* infinite bounds are IEEE infinities */
    double *least, *greatest;          /* [rows] activities, sums of the finite terms */
    int32_t *least_inf, *greatest_inf; /* [rows] counts of the other terms */
    uint8_t *integer;                  /* [cols] */
    uint8_t *queued;                   /* [rows] */
    int32_t *queue;
    int64_t queue_length, queue_capacity;
    change *trail;
    int64_t trail_length, trail_capacity;
    int infeasible;
};

static double as_infinity(double x) { return x >= infinite ? HUGE_VAL : x <= -infinite ? -HUGE_VAL : x; }

static int is_infinite(double x) { return fabs(x) > DBL_MAX; } /* isinf() also finds the sign */

static void add_term(double *sum, int32_t *count, double term) {
    if (is_infinite(term)) ++*count;
    else *sum += term;
}

static void drop_term(double *sum, int32_t *count, double term) {
    if (is_infinite(term)) --*count;
    else *sum -= term;
}

/* Makes an array longer; a benchmark gives up without memory. */
static void *grow(void *array, int64_t *capacity, size_t size) {
    *capacity = 2 * *capacity + 1024;
    array = realloc(array, (size_t)*capacity * size);
    if (!array) abort();
    return array;
}

static void enqueue(work_list *w, int32_t row) {
    w->queued[row] = 1;
    if (w->queue_length == w->queue_capacity) w->queue = grow(w->queue, &w->queue_capacity, sizeof *w->queue);
    w->queue[w->queue_length++] = row;
}

static void sum_row(work_list *w, int32_t i) {
    int64_t k;
    w->least[i] = w->greatest[i] = 0;
    w->least_inf[i] = w->greatest_inf[i] = 0;
    for (k = w->start[i]; k < w->start[i + 1]; k++) {
        double a = w->value[k], l = w->lb[w->index[k]], u = w->ub[w->index[k]];
        add_term(&w->least[i], &w->least_inf[i], a * (a > 0 ? l : u));
        add_term(&w->greatest[i], &w->greatest_inf[i], a * (a > 0 ? u : l));
    }
}

static void transpose(work_list *w) {
    int64_t k, *at = calloc((size_t)w->cols + 2, sizeof *at);
    int32_t i;
    if (!at) abort();
    for (k = 0; k < w->start[w->rows]; k++) w->col_start[w->index[k] + 1]++;
    for (i = 0; i < w->cols; i++) w->col_start[i + 1] += w->col_start[i];
    memcpy(at, w->col_start, (size_t)w->cols * sizeof *at);
    for (i = 0; i < w->rows; i++)
        for (k = w->start[i]; k < w->start[i + 1]; k++) {
            w->col_row[at[w->index[k]]] = i;
            w->col_value[at[w->index[k]]++] = w->value[k];
        }
    free(at);
}

work_list *work_list_create(const mip *model, const double *lb, const double *ub) {
    size_t rows = (size_t)model->matrix.rows + 1, cols = (size_t)model->matrix.cols + 1,
           nonzeros = (size_t)mip_nonzeros(model) + 1;
    work_list *w = calloc(1, sizeof *w);
    int32_t i;
    if (!w) return NULL;
    w->rows = model->matrix.rows;
    w->cols = model->matrix.cols;
    w->start = model->matrix.start;
    w->index = model->matrix.index;
    w->value = model->matrix.value;
    w->col_start = calloc(cols + 1, sizeof *w->col_start);
    w->col_row = malloc(nonzeros * sizeof *w->col_row);
    w->col_value = malloc(nonzeros * sizeof *w->col_value);
    w->lhs = malloc(rows * sizeof *w->lhs);
    w->rhs = malloc(rows * sizeof *w->rhs);
    w->lb = malloc(cols * sizeof *w->lb);
    w->ub = malloc(cols * sizeof *w->ub);
    w->least = calloc(rows, sizeof *w->least);
    w->greatest = calloc(rows, sizeof *w->greatest);
    w->least_inf = calloc(rows, sizeof *w->least_inf);
    w->greatest_inf = calloc(rows, sizeof *w->greatest_inf);
    w->queued = calloc(rows, 1);
    w->integer = calloc(cols, 1);
    if (!w->col_start || !w->col_row || !w->col_value || !w->lhs || !w->rhs || !w->lb || !w->ub || !w->least ||
        !w->greatest || !w->least_inf || !w->greatest_inf || !w->queued || !w->integer) {
        work_list_destroy(w);
        return NULL;
    }
    transpose(w);
    if (model->integer) memcpy(w->integer, model->integer, cols - 1);
    for (i = 0; i < w->cols; i++) w->lb[i] = as_infinity(lb[i]), w->ub[i] = as_infinity(ub[i]);
    for (i = 0; i < w->rows; i++) w->lhs[i] = as_infinity(model->lhs[i]), w->rhs[i] = as_infinity(model->rhs[i]);
    work_list_sum(w);
    return w;
}

void work_list_sum(work_list *w) {
    int32_t i;
    for (i = 0; i < w->rows; i++) sum_row(w, i);
}

void work_list_destroy(work_list *w) {
    if (!w) return;
    free(w->col_start);
    free(w->col_row);
    free(w->col_value);
    free(w->lhs);
    free(w->rhs);
    free(w->lb);
    free(w->ub);
    free(w->least);
    free(w->greatest);
    free(w->least_inf);
    free(w->greatest_inf);
    free(w->queued);
    free(w->integer);
    free(w->queue);
    free(w->trail);
    free(w);
}

/* Moves a bound, and the activities with it. Backwards, nothing is recorded or queued. */
static void move(work_list *w, int32_t j, int upper, double bound, int backwards) {
    double *of = upper ? &w->ub[j] : &w->lb[j], old = *of;
    const int32_t *row = w->col_row;
    const double *value = w->col_value;
    int64_t k, end = w->col_start[j + 1];
    if (!backwards) {
        if (w->trail_length == w->trail_capacity) w->trail = grow(w->trail, &w->trail_capacity, sizeof *w->trail);
        w->trail[w->trail_length++] = (change){j, upper, old};
    }
    *of = bound;
    for (k = w->col_start[j]; k < end; k++) {
        int32_t i = row[k];
        double a = value[k];
        int is_least = (a > 0) != upper;
        double *sum = is_least ? &w->least[i] : &w->greatest[i];
        int32_t *count = is_least ? &w->least_inf[i] : &w->greatest_inf[i];
        drop_term(sum, count, a * old);
        add_term(sum, count, a * bound);
        if (!backwards && !w->queued[i] && (is_least ? w->rhs[i] < HUGE_VAL : w->lhs[i] > -HUGE_VAL) && *count <= 1)
            enqueue(w, i);
    }
    if (!backwards && w->lb[j] > w->ub[j] + feasibility) w->infeasible = 1;
}

/* The bound that the row's side (0: rhs, 1: lhs) implies for the column of an entry. */
static void tighten(work_list *w, int32_t i, int32_t j, double a, int side) {
    int upper = (a > 0) == (side == 0);
    double term = a * (upper ? w->lb[j] : w->ub[j]), rest = side ? w->greatest[i] : w->least[i], bound, old, least;
    int32_t count = side ? w->greatest_inf[i] : w->least_inf[i];
    if (is_infinite(term)) {
        if (count != 1) return;
    } else {
        if (count) return;
        rest -= term;
    }
    bound = ((side ? w->lhs[i] : w->rhs[i]) - rest) / a;
    if (fabs(bound) >= infinite) return;
    if (w->integer[j]) bound = upper ? floor(bound + integrality) : ceil(bound - integrality);
    old = upper ? w->ub[j] : w->lb[j];
    least = is_infinite(old) ? 0 : least_change + relative_change * fabs(old);
    if (upper ? !(bound < old - least) : !(bound > old + least)) return;
    if (upper && bound < w->lb[j] && bound > w->lb[j] - feasibility) bound = w->lb[j];
    if (!upper && bound > w->ub[j] && bound < w->ub[j] + feasibility) bound = w->ub[j];
    if (bound != old) move(w, j, upper, bound, 0);
}

static void propagate(work_list *w, int32_t i) {
    int right = w->rhs[i] < HUGE_VAL && w->least_inf[i] <= 1, left = w->lhs[i] > -HUGE_VAL && w->greatest_inf[i] <= 1,
        side;
    int64_t k;
    if ((right && !w->least_inf[i] && w->least[i] > w->rhs[i] + feasibility) ||
        (left && !w->greatest_inf[i] && w->greatest[i] < w->lhs[i] - feasibility)) {
        w->infeasible = 1;
        return;
    }
    if ((!right || (!w->greatest_inf[i] && w->greatest[i] <= w->rhs[i])) &&
        (!left || (!w->least_inf[i] && w->least[i] >= w->lhs[i])))
        return; /* redundant */
    for (k = w->start[i]; k < w->start[i + 1] && !w->infeasible; k++) {
        int32_t j = w->index[k];
        if (w->lb[j] == w->ub[j]) continue;
        for (side = 0; side < 2 && !w->infeasible; side++)
            if (side ? left : right) tighten(w, i, j, w->value[k], side); /* one call, so that it is inlined */
    }
}

void work_list_set(work_list *w, int32_t col, int upper, double bound) { move(w, col, upper, bound, 0); }

gpuopt_outcome work_list_run(work_list *w, int64_t most) {
    int64_t k, count;
    for (k = 0; k < w->queue_length; k++) {
        w->queued[w->queue[k]] = 0;
        if (!w->infeasible && k < most) propagate(w, w->queue[k]);
    }
    count = w->queue_length;
    w->queue_length = 0;
    return w->infeasible ? GPUOPT_INFEASIBLE : count <= most ? GPUOPT_CONVERGED : GPUOPT_MORE;
}

int64_t work_list_changes(const work_list *w) { return w->trail_length; }

void work_list_undo(work_list *w, int64_t changes) {
    while (w->trail_length > changes) {
        change c = w->trail[--w->trail_length];
        move(w, c.col, c.upper, c.old, 1);
    }
    w->infeasible = 0;
}

const double *work_list_lb(const work_list *w) { return w->lb; }
const double *work_list_ub(const work_list *w) { return w->ub; }
