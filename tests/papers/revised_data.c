/* SPDX-License-Identifier: MIT */
#include "tests/papers/revised_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"

/* The inverse is computed again if its drift exceeds this. */
static const double MOST_DRIFT = 1e-8;

int revised_end(revised *r, revised_status status, const char *call, gpuopt_status why) {
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
    }
    for (j = 0; j < r->n + r->m; j++) r->weight[j] = 1;
}

int revised_open(revised *r, const revised_task *task) {
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
    bytes = sizeof(double) * (8 * all + 4 * m + entries + 1);
    r->block = calloc(1, bytes);
    r->head = calloc(m + 1, sizeof *r->head);
    r->state = calloc(all + 1, 1);
    r->start = calloc(m + 1, sizeof *r->start);
    if (!r->block || !r->head || !r->state || !r->start)
        return revised_end(r, REVISED_FAILED, "memory", GPUOPT_ERROR_MEMORY);
    if (task->device) lock_memory(r->block, bytes);
    at = r->block;
    {
        double **of_all[] = {&r->lb, &r->ub, &r->cost, &r->weight, &r->x, &r->reduced, &r->product, &r->col_scale};
        double **of_rows[] = {&r->c, &r->y, &r->alpha, &r->row_scale};
        size_t k;
        for (k = 0; k < sizeof of_all / sizeof *of_all; k++, at += all) *of_all[k] = at;
        for (k = 0; k < sizeof of_rows / sizeof *of_rows; k++, at += m) *of_rows[k] = at;
    }
    r->val = task->dense ? (double *)r->a->value : at;
    desc.m = r->m;
    desc.technique = task->technique;
    status = gpuopt_basis_create(task->context, &desc, NULL, &r->basis);
    if (status == GPUOPT_ERROR_UNSUPPORTED) return revised_end(r, REVISED_UNSUPPORTED, "", status);
    if (status) return revised_end(r, REVISED_FAILED, "gpuopt_basis_create", status);
    fill(r);
    return 0;
}

void revised_close(revised *r) {
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

int32_t revised_column(const revised *r, int32_t j, const int32_t **row, const double **val, int32_t *unit) {
    static const double one = 1;
    if (j >= r->n) {
        *unit = j - r->n;
        *row = unit;
        *val = &one;
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

void revised_multiply(revised *r, const double *y) {
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
        count += revised_column(r, r->head[i], &row, &val, &unit);
        r->start[i + 1] = count;
    }
    if (count > r->capacity) {
        free(r->row);
        free(r->entry);
        r->row = malloc(sizeof *r->row * (size_t)count);
        r->entry = malloc(sizeof *r->entry * (size_t)count);
        r->capacity = count;
        if (!r->row || !r->entry) return revised_end(r, REVISED_FAILED, "memory", GPUOPT_ERROR_MEMORY);
    }
    for (i = 0; i < r->m; i++) {
        const int32_t *row;
        const double *val;
        size_t size = (size_t)revised_column(r, r->head[i], &row, &val, &unit);
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

int revised_find_point(revised *r) {
    int32_t i, j, k, unit;
    gpuopt_status status;
    memset(r->c, 0, sizeof(double) * (size_t)r->m);
    for (j = 0; j < r->n + r->m; j++) {
        const int32_t *row;
        const double *val;
        int32_t count = r->state[j] != BASIC && r->x[j] != 0 ? revised_column(r, j, &row, &val, &unit) : 0;
        for (k = 0; k < count; k++) r->c[row[k]] -= val[k] * r->x[j];
    }
    status = gpuopt_basis_ftran(r->basis, GPUOPT_HOST, 0, NULL, r->c, r->y);
    if (status) return revised_end(r, REVISED_FAILED, "gpuopt_basis_ftran", status);
    for (i = 0; i < r->m; i++) r->x[r->head[i]] = r->y[i];
    return 0;
}

int revised_load(revised *r) {
    gpuopt_matrix matrix;
    gpuopt_status status;
    if (gather(r, &matrix)) return -1;
    status = gpuopt_basis_load(r->basis, &matrix);
    if (status) return revised_end(r, REVISED_FAILED, "gpuopt_basis_load", status);
    r->result.loads++;
    r->fresh = 1;
    return revised_find_point(r);
}

int revised_check_drift(revised *r, int *loaded) {
    gpuopt_basis_drift drift = GPUOPT_INIT(gpuopt_basis_drift);
    gpuopt_matrix matrix;
    gpuopt_status status;
    *loaded = 0;
    if (gather(r, &matrix)) return -1;
    status = gpuopt_basis_get_drift(r->basis, &matrix, 0, &drift);
    if (status) return revised_end(r, REVISED_FAILED, "gpuopt_basis_get_drift", status);
    if (drift.estimate > r->result.drift) r->result.drift = drift.estimate;
    if (drift.estimate <= MOST_DRIFT) return 0;
    *loaded = 1;
    return revised_load(r);
}
