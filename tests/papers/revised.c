/* SPDX-License-Identifier: MIT
 *
 * With a variable for each row, whose column is a unit vector, the model is  min cost'x,  (A I) x = 0,  lb <= x <= ub.
 * The first basis consists of those variables. Phase 1 minimises the sum of the infeasibilities.
 */
#include "tests/papers/revised.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common.h"
#include "examples/io/lp_check.h"
#include "gpuopt/search.h"

enum state { BASIC, LOWER, UPPER, FREE };

/* The inverse is computed again when the drift exceeds MOST_DRIFT. It is measured each so many updates. */
enum { SPARSE_EVERY = 100, DENSE_EVERY = 1000 };
enum { LEAST_ITERATIONS = 3 };
static const double MOST_DRIFT = 1e-8, TOLERANCE = 1e-7, LEAST_PIVOT = 1e-7;

typedef struct revised {
    const revised_task *task;
    const gpuopt_matrix *a;
    int32_t m, n;
    gpuopt_basis *basis;
    double *block;                        /* of all arrays of doubles: */
    double *val, *row_scale, *col_scale;  /* of the scaled matrix; val is the model's if it is dense */
    double *lb, *ub, *cost, *weight, *x;  /* [n + m] */
    double *reduced;                      /* [n + m] */
    double *product;                      /* [n]: A'y */
    double *c, *y, *alpha, *entry_of_row; /* [m]; the last: a unit vector's entry, always 1 */
    int32_t *head;                        /* [m] */
    unsigned char *state;                 /* [n + m] */
    int64_t *start, capacity;             /* the basis, as a matrix */
    int32_t *row;
    double *entry;
    int phase1, fresh;                 /* fresh: no update since the inverse was computed */
    double begin, first, first_update; /* when it began; of the first iteration and update */
    revised_result result;
} revised;

const char *revised_word(revised_status status) {
    static const char *const word[] = {"optimal", "stopped", "infeasible", "unbounded", "not supported", "failed"};
    return word[status];
}

/* Ends the solve. Returns -1. */
static int end(revised *r, revised_status status, const char *call, gpuopt_status why) {
    r->result.status = status;
    if (status == REVISED_FAILED)
        fprintf(stderr, "revised simplex: %s: %s\n", call, why ? gpuopt_status_string(why) : "failed");
    return -1;
}

/* ---- Setting up ---- */

static double infinite(double bound) { return fabs(bound) >= 1e20 ? copysign(HUGE_VAL, bound) : bound; }
static double power_of_two(double scale) { return exp2(round(log2(scale))); }

/* Rows or columns by turns: the square root of smallest times largest entry becomes about 1. */
static void scale_lines(revised *r, int of_rows, double *low, double *high) {
    int32_t lines = of_rows ? r->m : r->n, j, k;
    double *scale = of_rows ? r->row_scale : r->col_scale;
    int64_t e;
    for (k = 0; k < lines; k++) low[k] = HUGE_VAL, high[k] = 0;
    for (j = 0; j < r->n; j++)
        for (e = r->a->start[j]; e < r->a->start[j + 1]; e++) {
            double size = fabs(r->a->value[e]) * r->row_scale[r->a->index[e]] * r->col_scale[j];
            k = of_rows ? r->a->index[e] : j;
            if (size > 0 && size < low[k]) low[k] = size;
            if (size > high[k]) high[k] = size;
        }
    for (k = 0; k < lines; k++)
        if (high[k] > 0) scale[k] = power_of_two(scale[k] / sqrt(low[k] * high[k]));
}

static void scale_model(revised *r) {
    int32_t j, pass;
    int64_t e;
    for (j = 0; j < r->n; j++) r->col_scale[j] = 1;
    for (j = 0; j < r->m; j++) r->row_scale[j] = 1;
    if (r->task->dense) return;
    for (pass = 0; pass < 8; pass++) scale_lines(r, pass % 2 == 0, r->x, r->reduced);
    for (j = 0; j < r->n; j++)
        for (e = r->a->start[j]; e < r->a->start[j + 1]; e++)
            r->val[e] = r->a->value[e] * r->row_scale[r->a->index[e]] * r->col_scale[j];
}

static void place_nonbasic(revised *r, int32_t j) {
    r->state[j] = isfinite(r->lb[j]) ? LOWER : isfinite(r->ub[j]) ? UPPER : FREE;
    r->x[j] = r->state[j] == LOWER ? r->lb[j] : r->state[j] == UPPER ? r->ub[j] : 0;
}

static void fill(revised *r) {
    const mip *model = r->task->model;
    int32_t j, i;
    scale_model(r);
    for (j = 0; j < r->n; j++) {
        r->lb[j] = infinite(model->lb[j]) / r->col_scale[j];
        r->ub[j] = infinite(model->ub[j]) / r->col_scale[j];
        r->cost[j] = (model->cost ? model->cost[j] : 0) * r->col_scale[j] * (model->maximize ? -1 : 1);
        place_nonbasic(r, j);
    }
    for (i = 0; i < r->m; i++) {
        r->lb[r->n + i] = -infinite(model->rhs[i]) * r->row_scale[i];
        r->ub[r->n + i] = -infinite(model->lhs[i]) * r->row_scale[i];
        r->cost[r->n + i] = 0;
        r->state[r->n + i] = BASIC;
        r->head[i] = r->n + i;
        r->entry_of_row[i] = 1;
    }
    for (j = 0; j < r->n + r->m; j++) r->weight[j] = 1;
}

static int open(revised *r, const revised_task *task) {
    gpuopt_basis_desc desc = GPUOPT_INIT(gpuopt_basis_desc);
    gpuopt_status status;
    size_t m, all, entries, bytes;
    double *at;
    memset(r, 0, sizeof *r);
    r->task = task;
    r->a = &task->model->columns;
    r->m = r->a->rows;
    r->n = r->a->cols;
    m = (size_t)r->m;
    all = m + (size_t)r->n;
    entries = task->dense ? 0 : (size_t)r->a->start[r->n];
    bytes = sizeof(double) * (8 * all + 6 * m + entries + 1);
    r->block = calloc(1, bytes);
    r->head = calloc(m + 1, sizeof *r->head);
    r->state = calloc(all + 1, 1);
    r->start = calloc(m + 1, sizeof *r->start);
    if (!r->block || !r->head || !r->state || !r->start) return end(r, REVISED_FAILED, "memory", GPUOPT_ERROR_MEMORY);
    if (task->device) lock_memory(r->block, bytes);
    at = r->block;
    {
        double **of_all[] = {&r->lb, &r->ub, &r->cost, &r->weight, &r->x, &r->reduced, &r->product, &r->col_scale};
        double **of_rows[] = {&r->c, &r->y, &r->alpha, &r->entry_of_row, &r->row_scale};
        size_t k;
        for (k = 0; k < sizeof of_all / sizeof *of_all; k++, at += all) *of_all[k] = at;
        for (k = 0; k < sizeof of_rows / sizeof *of_rows; k++, at += m) *of_rows[k] = at;
    }
    r->val = task->dense ? (double *)r->a->value : at;
    desc.m = r->m;
    desc.technique = task->technique;
    status = gpuopt_basis_create(task->context, &desc, NULL, &r->basis);
    if (status == GPUOPT_ERROR_UNSUPPORTED) return end(r, REVISED_UNSUPPORTED, "", status);
    if (status) return end(r, REVISED_FAILED, "gpuopt_basis_create", status);
    fill(r);
    return 0;
}

static void close_all(revised *r) {
    gpuopt_basis_destroy(r->basis);
    if (r->task->device && r->block) unlock_memory(r->block);
    free(r->block);
    free(r->head);
    free(r->state);
    free(r->start);
    free(r->row);
    free(r->entry);
}

/* ---- Columns ---- */

/* Column j of (A I). */
static int32_t column_of(const revised *r, int32_t j, const int32_t **row, const double **val, int32_t *unit) {
    if (j >= r->n) {
        *unit = j - r->n;
        *row = unit;
        *val = r->entry_of_row;
        return 1;
    }
    *row = r->a->index + r->a->start[j];
    *val = r->val + r->a->start[j];
    return (int32_t)(r->a->start[j + 1] - r->a->start[j]);
}

static double dot(const revised *r, int32_t j, const double *y) {
    const double *val = r->val + r->a->start[j];
    const int32_t *row = r->a->index + r->a->start[j];
    int64_t count = r->a->start[j + 1] - r->a->start[j], e = 0;
    double sum[4] = {0, 0, 0, 0};
    if (r->task->dense)
        for (; e + 4 <= count; e += 4) {
            sum[0] += val[e] * y[e];
            sum[1] += val[e + 1] * y[e + 1];
            sum[2] += val[e + 2] * y[e + 2];
            sum[3] += val[e + 3] * y[e + 3];
        }
    for (; e < count; e++) sum[0] += val[e] * y[row[e]];
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}

/* product = A'y, for the columns that are not basic. */
static void multiply(revised *r, const double *y) {
    int32_t j;
#ifdef _OPENMP
#pragma omp parallel for num_threads(r->task->threads) if (r->task->threads > 1) schedule(static)
#endif
    for (j = 0; j < r->n; j++)
        if (r->state[j] != BASIC) r->product[j] = dot(r, j, y);
}

/* Brings the basis to a matrix. */
static int gather(revised *r, gpuopt_matrix *matrix) {
    int32_t i, unit;
    int64_t count = 0;
    for (i = 0; i < r->m; i++) {
        const int32_t *row;
        const double *val;
        count += column_of(r, r->head[i], &row, &val, &unit);
        r->start[i + 1] = count;
    }
    if (count > r->capacity) {
        free(r->row);
        free(r->entry);
        r->row = malloc(sizeof *r->row * (size_t)count);
        r->entry = malloc(sizeof *r->entry * (size_t)count);
        r->capacity = count;
        if (!r->row || !r->entry) return end(r, REVISED_FAILED, "memory", GPUOPT_ERROR_MEMORY);
    }
    for (i = 0; i < r->m; i++) {
        const int32_t *row;
        const double *val;
        size_t size = (size_t)column_of(r, r->head[i], &row, &val, &unit);
        memcpy(r->row + r->start[i], row, size * sizeof *row);
        memcpy(r->entry + r->start[i], val, size * sizeof *val);
    }
    matrix->rows = matrix->cols = r->m;
    matrix->start = r->start;
    matrix->index = r->row;
    matrix->value = r->entry;
    matrix->layout = GPUOPT_LAYOUT_CSC;
    return 0;
}

/* x of the basic variables from the others. */
static int find_point(revised *r) {
    int32_t i, j, k, unit;
    gpuopt_status status;
    memset(r->c, 0, sizeof(double) * (size_t)r->m);
    for (j = 0; j < r->n + r->m; j++) {
        const int32_t *row;
        const double *val;
        int32_t count = r->state[j] != BASIC && r->x[j] != 0 ? column_of(r, j, &row, &val, &unit) : 0;
        for (k = 0; k < count; k++) r->c[row[k]] -= val[k] * r->x[j];
    }
    status = gpuopt_basis_ftran(r->basis, GPUOPT_HOST, 0, NULL, r->c, r->y);
    if (status) return end(r, REVISED_FAILED, "gpuopt_basis_ftran", status);
    for (i = 0; i < r->m; i++) r->x[r->head[i]] = r->y[i];
    return 0;
}

/* Computes the inverse again. */
static int load(revised *r) {
    gpuopt_matrix matrix;
    gpuopt_status status;
    if (gather(r, &matrix)) return -1;
    status = gpuopt_basis_load(r->basis, &matrix);
    if (status) return end(r, REVISED_FAILED, "gpuopt_basis_load", status);
    r->result.loads++;
    r->fresh = 1;
    return find_point(r);
}

/* Loads if the inverse has drifted; *loaded: it has. */
static int check_drift(revised *r, int *loaded) {
    gpuopt_basis_drift drift = GPUOPT_INIT(gpuopt_basis_drift);
    gpuopt_matrix matrix;
    gpuopt_status status;
    *loaded = 0;
    if (gather(r, &matrix)) return -1;
    status = gpuopt_basis_get_drift(r->basis, &matrix, 0, &drift);
    if (status) return end(r, REVISED_FAILED, "gpuopt_basis_get_drift", status);
    if (drift.estimate > r->result.drift) r->result.drift = drift.estimate;
    if (drift.estimate <= MOST_DRIFT) return 0;
    *loaded = 1;
    return load(r);
}

/* ---- An iteration ---- */

static double beyond(const revised *r, int32_t j) { /* < 0: below its lower bound */
    if (r->x[j] > r->ub[j] + TOLERANCE) return r->x[j] - r->ub[j];
    if (r->x[j] < r->lb[j] - TOLERANCE) return r->x[j] - r->lb[j];
    return 0;
}

/* The reduced costs of the present phase. */
static int price(revised *r) {
    int32_t i, j;
    gpuopt_status status = GPUOPT_OK;
    for (i = 0, r->phase1 = 0; i < r->m; i++) r->phase1 |= beyond(r, r->head[i]) != 0;
    for (i = 0; i < r->m; i++) {
        double outside = r->phase1 ? beyond(r, r->head[i]) : 0;
        r->c[i] = !r->phase1 ? r->cost[r->head[i]] : (outside > 0) - (outside < 0);
    }
    if (r->task->device) {
        if (dense_price(r->task->device, r->basis, r->c, r->y, r->product))
            return end(r, REVISED_FAILED, "pricing on the GPU", status);
    } else {
        status = gpuopt_basis_btran(r->basis, GPUOPT_HOST, -1, r->c, r->y);
        if (status) return end(r, REVISED_FAILED, "gpuopt_basis_btran", status);
        multiply(r, r->y);
    }
    for (j = 0; j < r->n; j++) r->reduced[j] = (r->phase1 ? 0 : r->cost[j]) - r->product[j];
    for (i = 0; i < r->m; i++) r->reduced[r->n + i] = -r->y[i];
    return 0;
}

/* The entering variable, -1: none; *sign: 1 if it grows, else -1. The first of equals. */
static int32_t choose(const revised *r, int *sign) {
    int32_t j, best = -1;
    double most = 0;
    for (j = 0; j < r->n + r->m; j++) {
        double d = r->reduced[j], score;
        if (r->state[j] == BASIC || fabs(d) <= TOLERANCE || r->lb[j] == r->ub[j]) continue;
        if ((r->state[j] == LOWER && d > 0) || (r->state[j] == UPPER && d < 0)) continue;
        score = r->task->dense ? fabs(d) : d * d / r->weight[j];
        if (score > most) {
            most = score;
            best = j;
        }
    }
    if (best >= 0) *sign = r->reduced[best] < 0 ? 1 : -1;
    return best;
}

static int column(revised *r, int32_t q) {
    gpuopt_status status;
    int32_t unit, count;
    const int32_t *row;
    const double *val;
    if (r->task->device && q < r->n) {
        if (!dense_column(r->task->device, r->basis, q, r->alpha)) return 0;
        return end(r, REVISED_FAILED, "FTRAN on the GPU", GPUOPT_OK);
    }
    count = column_of(r, q, &row, &val, &unit);
    if (r->task->dense && q < r->n) row = NULL; /* a dense vector */
    status = gpuopt_basis_ftran(r->basis, GPUOPT_HOST, count, row, val, r->alpha);
    return status ? end(r, REVISED_FAILED, "gpuopt_basis_ftran", status) : 0;
}

/* The bound at which basic variable j stops if it changes with that rate; infinite: at none. An infeasible variable
 * stops where it becomes feasible. */
static double target(const revised *r, int32_t j, double rate) {
    double outside = r->phase1 ? beyond(r, j) : 0;
    if (rate < 0) return outside > 0 ? r->ub[j] : outside < 0 ? -HUGE_VAL : r->lb[j];
    return outside < 0 ? r->lb[j] : outside > 0 ? HUGE_VAL : r->ub[j];
}

/* The leaving position, -1: none, and the step. In two passes with a tolerance on sparse models (Harris); on dense ones
 * the first of the least ratios. */
static int32_t ratio_test(const revised *r, int sign, double *step) {
    int32_t i, pass, best = -1;
    double slack = r->task->dense ? 0 : TOLERANCE, limit = HUGE_VAL, size = 0;
    *step = HUGE_VAL;
    for (pass = 0; pass < 2; pass++)
        for (i = 0; i < r->m; i++) {
            double rate = -sign * r->alpha[i], bound, ratio;
            if (fabs(rate) <= LEAST_PIVOT) continue;
            bound = target(r, r->head[i], rate);
            if (!isfinite(bound)) continue;
            ratio = (bound - r->x[r->head[i]]) / rate;
            if (pass == 0) {
                limit = fmin(limit, ratio + slack / fabs(rate));
            } else if (ratio <= limit && (r->task->dense ? best < 0 : fabs(rate) > size)) {
                best = i;
                size = fabs(rate);
                *step = ratio;
            }
        }
    return best;
}

/* Devex: the weights after the pivot. */
static int weigh(revised *r, int32_t q, int32_t p) {
    double own = r->weight[q], pivot = r->alpha[p];
    int32_t j;
    gpuopt_status status = gpuopt_basis_btran(r->basis, GPUOPT_HOST, p, NULL, r->y);
    if (status) return end(r, REVISED_FAILED, "gpuopt_basis_btran", status);
    multiply(r, r->y);
    for (j = 0; j < r->n + r->m; j++) {
        double at = (j < r->n ? r->product[j] : r->y[j - r->n]) / pivot;
        if (r->state[j] != BASIC) r->weight[j] = fmax(r->weight[j], at * at * own);
    }
    r->weight[r->head[p]] = fmax(own / (pivot * pivot), 1);
    for (j = 0; own > 1e8 && j < r->n + r->m; j++) r->weight[j] = 1;
    return 0;
}

/* Makes q basic in place of position p, and stops there at *bound. Sets *done to 0 if the inverse was computed again
 * instead, because the pivot is too small. */
static int pivot(revised *r, int32_t q, int32_t p, double bound, int *done) {
    gpuopt_basis_info info = GPUOPT_INIT(gpuopt_basis_info);
    int32_t leaving = r->head[p];
    double begin;
    gpuopt_status status;
    if (!r->task->dense && weigh(r, q, p)) return -1;
    begin = now();
    status = gpuopt_basis_update(r->basis, GPUOPT_HOST, p, NULL, &info);
    begin = now() - begin;
    r->result.update_seconds += begin;
    if (!r->result.updates) r->first_update = begin;
    *done = status == GPUOPT_OK;
    if (status == GPUOPT_ERROR_NUMERIC && !r->fresh) return load(r);
    if (status) return end(r, REVISED_FAILED, "gpuopt_basis_update", status);
    r->fresh = 0;
    r->result.updates++;
    r->state[leaving] = bound == r->lb[leaving] ? LOWER : UPPER;
    r->head[p] = q;
    r->state[q] = BASIC;
    return 0;
}

/* Moves along the column of q. A step as far as its other bound needs no update. */
static int move(revised *r, int32_t q, int sign) {
    double step, range = r->ub[q] - r->lb[q], bound = 0;
    int32_t i, p = ratio_test(r, sign, &step), leaving = p < 0 ? -1 : r->head[p];
    int done = 1;
    if (p < 0 && !isfinite(range)) return end(r, REVISED_UNBOUNDED, "", GPUOPT_OK);
    if (range <= step) {
        step = range;
        p = -1;
        r->state[q] = r->state[q] == LOWER ? UPPER : LOWER;
    } else {
        bound = target(r, leaving, -sign * r->alpha[p]);
        if (pivot(r, q, p, bound, &done)) return -1;
        if (!done) return 0;
    }
    for (i = 0; i < r->m; i++)
        if (i != p && r->alpha[i] != 0) r->x[r->head[i]] -= sign * step * r->alpha[i];
    r->x[q] = p < 0 ? (r->state[q] == LOWER ? r->lb[q] : r->ub[q]) : r->x[q] + sign * step;
    if (p >= 0) r->x[leaving] = bound;
    return 0;
}

/* ---- The loop ---- */

static int over_limit(const revised *r) {
    const revised_task *task = r->task;
    return (task->most && r->result.iterations >= task->most) ||
           (r->result.iterations >= LEAST_ITERATIONS && now() - r->begin > task->limit);
}

static int run(revised *r) {
    int64_t measured = 0, every = r->task->dense ? DENSE_EVERY : SPARSE_EVERY;
    int sign = 0, loaded;
    for (; !over_limit(r); r->result.iterations++) {
        int32_t q;
        if (r->result.updates - measured >= every) {
            measured = r->result.updates;
            if (check_drift(r, &loaded)) return -1;
        }
        if (price(r)) return -1;
        q = choose(r, &sign);
        if (q < 0 && !r->fresh) {
            if (check_drift(r, &loaded)) return -1;
            r->fresh = 1;
            if (loaded && price(r)) return -1;
            if (loaded) q = choose(r, &sign);
        }
        if (q < 0) return end(r, r->phase1 ? REVISED_INFEASIBLE : REVISED_OPTIMAL, "", GPUOPT_OK);
        if (column(r, q) || move(r, q, sign)) return -1;
        if (!r->result.iterations) r->first = now() - r->begin;
    }
    return end(r, REVISED_STOPPED, "", GPUOPT_OK);
}

revised_result revised_solve(const revised_task *task, double *x, double *dual) {
    revised r;
    int32_t k;
    if (!open(&r, task)) {
        r.begin = now();
        if (!find_point(&r)) run(&r);
        r.result.seconds = now() - r.begin;
    }
    r.result.per_update = (r.result.update_seconds - r.first_update) / (double)(r.result.updates - 1);
    r.result.per_iteration = (r.result.seconds - r.first) / (double)(r.result.iterations - 1);
    if (r.result.updates < 2) r.result.per_update = NAN;
    if (r.result.iterations < 2) r.result.per_iteration = NAN;
    if (r.result.status == REVISED_OPTIMAL) {
        for (k = 0; k < r.n; k++) r.product[k] = r.x[k] * r.col_scale[k];
        r.result.objective = lp_objective(task->model, r.product);
        if (x) memcpy(x, r.product, sizeof *x * (size_t)r.n);
        for (k = 0; dual && k < r.m; k++) dual[k] = r.y[k] * r.row_scale[k] * (task->model->maximize ? -1 : 1);
    }
    close_all(&r);
    return r.result;
}
