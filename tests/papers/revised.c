/* SPDX-License-Identifier: MIT
 *
 * With a variable for each row, whose column is a unit vector, the model is  min cost'x,  (A I) x = 0,  lb <= x <= ub.
 * The first basis consists of those variables. Phase 1 minimises the sum of the infeasibilities.
 */
#include "tests/papers/revised_data.h"

#include <math.h>
#include <string.h>

#include "examples/common.h"
#include "examples/io/lp_check.h"

/* The drift is measured each so many updates. */
enum { SPARSE_EVERY = 100, DENSE_EVERY = 1000 };
enum { LEAST_ITERATIONS = 3 };
static const double TOLERANCE = 1e-7, LEAST_PIVOT = 1e-7;

const char *revised_word(revised_status status) {
    static const char *const word[] = {"optimal", "stopped", "infeasible", "unbounded", "not supported", "failed"};
    return word[status];
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
    for (i = 0, r->phase1 = 0; i < r->m; i++) r->phase1 |= beyond(r, r->head[i]) != 0;
    for (i = 0; i < r->m; i++) {
        double outside = r->phase1 ? beyond(r, r->head[i]) : 0;
        r->c[i] = !r->phase1 ? r->cost[r->head[i]] : (outside > 0) - (outside < 0);
    }
    if (r->task->device) {
        if (dense_price(r->task->device, r->basis, r->c, r->y, r->product))
            return revised_end(r, REVISED_FAILED, "pricing on the GPU", GPUOPT_OK);
    } else {
        gpuopt_status status = gpuopt_basis_btran(r->basis, GPUOPT_HOST, -1, r->c, r->y);
        if (status) return revised_end(r, REVISED_FAILED, "gpuopt_basis_btran", status);
        revised_multiply(r, r->y);
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
        return revised_end(r, REVISED_FAILED, "FTRAN on the GPU", GPUOPT_OK);
    }
    count = revised_column(r, q, &row, &val, &unit);
    if (r->task->dense && q < r->n) row = NULL; /* a dense vector */
    status = gpuopt_basis_ftran(r->basis, GPUOPT_HOST, count, row, val, r->alpha);
    return status ? revised_end(r, REVISED_FAILED, "gpuopt_basis_ftran", status) : 0;
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
    if (status) return revised_end(r, REVISED_FAILED, "gpuopt_basis_btran", status);
    revised_multiply(r, r->y);
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
    if (status == GPUOPT_ERROR_NUMERIC && !r->fresh) return revised_load(r);
    if (status) return revised_end(r, REVISED_FAILED, "gpuopt_basis_update", status);
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
    if (p < 0 && !isfinite(range)) return revised_end(r, REVISED_UNBOUNDED, "", GPUOPT_OK);
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
            if (revised_check_drift(r, &loaded)) return -1;
        }
        if (price(r)) return -1;
        q = choose(r, &sign);
        if (q < 0 && !r->fresh) {
            if (revised_check_drift(r, &loaded)) return -1;
            r->fresh = 1;
            if (loaded && price(r)) return -1;
            if (loaded) q = choose(r, &sign);
        }
        if (q < 0) return revised_end(r, r->phase1 ? REVISED_INFEASIBLE : REVISED_OPTIMAL, "", GPUOPT_OK);
        if (column(r, q) || move(r, q, sign)) return -1;
        if (!r->result.iterations) r->first = now() - r->begin;
    }
    return revised_end(r, REVISED_STOPPED, "", GPUOPT_OK);
}

revised_result revised_solve(const revised_task *task, double *x, double *dual) {
    revised r;
    int32_t k;
    if (!revised_open(&r, task)) {
        r.begin = now();
        if (!revised_find_point(&r)) run(&r);
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
    revised_close(&r);
    return r.result;
}
