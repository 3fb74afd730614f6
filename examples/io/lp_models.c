/* SPDX-License-Identifier: MIT
 *
 * The linear programs of the simplex method's measurements, to the bit: one splitmix64 stream a model, and one order
 * of draws. All are  max c'x,  A x <= b,  x >= 0.
 *   shah:M:SEED              dense, M x M, every entry a 6-digit decimal, one third negative; x = 0 is feasible (the
 *                            random set of Shah et al. 2020)
 *   meyer:M:N:DENSITY:SEED   all positive, every column has an entry; x = 0 is feasible (the set of Meyer et al. 2011)
 *   plant:M:N:DENSITY:SEED   integers of both signs around a planted, strictly complementary pair of solutions: needs
 *                            phase 1, and the optimum is known exactly
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/io/mip.h"

static const double no_bound = 1e20;

/* ---- Numbers ---- */

static uint64_t draw(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static double decimal(uint64_t *state) { return (double)(1 + draw(state) % 999999) / 1e6; } /* in (0, 1) */
static double digit(uint64_t *state) { return (double)(1 + draw(state) % 9); }

static int present(uint64_t *state, double density) {
    return draw(state) < (uint64_t)(density * 18446744073709549568.0); /* the largest double below 2^64 */
}

/* ---- Columns that grow ---- */

typedef struct builder {
    mip *model;
    int64_t *start, count, capacity;
    int32_t *row, col; /* the column being filled */
    double *val;
    uint64_t state;
    int failed; /* out of memory: later data are dropped */
} builder;

static void reserve(builder *b, int64_t capacity) {
    int32_t *row =
        (uint64_t)capacity < SIZE_MAX / sizeof(double) ? realloc(b->row, sizeof *row * (size_t)capacity) : NULL;
    double *val = row ? realloc(b->val, sizeof *val * (size_t)capacity) : NULL;
    if (row) b->row = row;
    if (val) b->val = val;
    if (val) b->capacity = capacity;
    else b->failed = 1;
}

static void put(builder *b, int32_t row, double val) {
    if (b->count == b->capacity && !b->failed) reserve(b, 2 * b->capacity);
    if (b->failed) return;
    b->row[b->count] = row;
    b->val[b->count++] = val;
}

static void end_column(builder *b) { b->start[++b->col] = b->count; }
static int column_is_empty(const builder *b) { return b->start[b->col] == b->count; }
static int32_t any_row(builder *b) { return (int32_t)(draw(&b->state) % (uint64_t)b->model->columns.rows); }

static void begin(builder *b, mip *model, int32_t m, int32_t n, uint64_t seed, double entries) {
    int32_t k;
    memset(b, 0, sizeof *b);
    b->model = model;
    b->state = seed;
    b->start = calloc((size_t)n + 1, sizeof *b->start);
    model->matrix.rows = model->columns.rows = m;
    model->matrix.cols = model->columns.cols = n;
    model->maximize = 1;
    model->cost = calloc((size_t)n, sizeof(double));
    model->lhs = calloc((size_t)m, sizeof(double));
    model->rhs = calloc((size_t)m, sizeof(double));
    model->lb = calloc((size_t)n, sizeof(double));
    model->ub = calloc((size_t)n, sizeof(double));
    model->integer = calloc((size_t)n, 1);
    reserve(b, (int64_t)entries + 16);
    if (!b->start || !model->cost || !model->lhs || !model->rhs || !model->lb || !model->ub || !model->integer)
        b->failed = 1;
    for (k = 0; k < m && !b->failed; k++) model->lhs[k] = -no_bound;
    for (k = 0; k < n && !b->failed; k++) model->ub[k] = no_bound;
}

static int end(builder *b) {
    b->model->columns.start = b->start;
    b->model->columns.index = b->row;
    b->model->columns.value = b->val;
    b->model->columns.layout = GPUOPT_LAYOUT_CSC;
    return b->failed;
}

/* ---- The models ---- */

static void draw_cost_and_sides(builder *b) {
    int32_t k;
    for (k = 0; k < b->model->columns.cols; k++) b->model->cost[k] = decimal(&b->state);
    for (k = 0; k < b->model->columns.rows; k++) b->model->rhs[k] = decimal(&b->state);
}

static int shah(mip *model, int32_t m, uint64_t seed) {
    builder b;
    int32_t i, j;
    begin(&b, model, m, m, seed, (double)m * m);
    if (!b.failed) draw_cost_and_sides(&b);
    for (j = 0; j < m && !b.failed; j++) {
        for (i = 0; i < m; i++) {
            int minus = draw(&b.state) % 3 == 0; /* this draw first */
            double size = decimal(&b.state);
            put(&b, i, minus ? -size : size);
        }
        end_column(&b);
    }
    return end(&b);
}

static int meyer(mip *model, int32_t m, int32_t n, double density, uint64_t seed) {
    builder b;
    int32_t i, j;
    begin(&b, model, m, n, seed, density * m * n);
    if (!b.failed) draw_cost_and_sides(&b);
    for (j = 0; j < n && !b.failed; j++) {
        for (i = 0; i < m; i++)
            if (present(&b.state, density)) put(&b, i, decimal(&b.state));
        if (column_is_empty(&b)) {
            i = any_row(&b);
            put(&b, i, decimal(&b.state));
        }
        end_column(&b);
    }
    return end(&b);
}

/* One of both is 0, and the other a digit. */
static void draw_pair(builder *b, int first, double *one, double *other) { *(first ? one : other) = digit(&b->state); }

static void put_planted(builder *b, int32_t row, double a, const double *x, const double *y) {
    put(b, row, a);
    b->model->cost[b->col] += a * y[row];
    b->model->rhs[row] += a * x[b->col];
}

/* x, y: the planted primal and dual solution; z: reduced costs where x = 0; slack: of the rows where y = 0. */
static int plant(mip *model, int32_t m, int32_t n, double density, uint64_t seed) {
    builder b;
    double *x = calloc((size_t)n, sizeof *x), *z = calloc((size_t)n, sizeof *z);
    double *y = calloc((size_t)m, sizeof *y), *slack = calloc((size_t)m, sizeof *slack);
    int32_t i, j;
    begin(&b, model, m, n, seed, density * m * n);
    if (!x || !z || !y || !slack) b.failed = 1;
    for (i = 0; i < m && !b.failed; i++) draw_pair(&b, draw(&b.state) & 1, &y[i], &slack[i]);
    for (j = 0; j < n && !b.failed; j++) draw_pair(&b, draw(&b.state) % (uint64_t)n < (uint64_t)m / 2, &x[j], &z[j]);
    for (j = 0; j < n && !b.failed; j++) {
        model->cost[j] = -z[j];
        for (i = 0; i < m; i++) {
            double a;
            if (!present(&b.state, density)) continue;
            a = digit(&b.state);
            put_planted(&b, i, draw(&b.state) & 1 ? -a : a, x, y);
        }
        if (column_is_empty(&b)) put_planted(&b, any_row(&b), 1, x, y);
        end_column(&b);
    }
    for (i = 0; i < m && !b.failed; i++) model->rhs[i] += slack[i];
    for (j = 0; j < n && !b.failed; j++) model->optimum += model->cost[j] * x[j];
    model->optimum_known = 1;
    free(x);
    free(z);
    free(y);
    free(slack);
    return end(&b);
}

/* ---- Names ---- */

static int whole(const char **at, double least, double most, double *value) {
    char *rest;
    if (**at < '0' || **at > '9') return 0;
    *value = strtod(*at, &rest);
    *at = rest;
    return *value == floor(*value) && *value >= least && *value <= most;
}

/* KIND:M[:N:DENSITY]:SEED; the seed has up to 64 bits. */
static int read_name(const char *name, int square, double *m, double *n, double *density, uint64_t *seed) {
    const char *at = strchr(name, ':') + 1;
    char *rest;
    const double most = 2147483647 - 64; /* rows or columns of a gpuopt_matrix */
    if (!whole(&at, 1, most, m) || *at++ != ':') return 0;
    if (!square) {
        if (!whole(&at, 1, most, n) || *at++ != ':') return 0;
        *density = strtod(at, &rest);
        if (rest == at || !(*density > 0 && *density <= 1) || *rest != ':') return 0;
        at = rest + 1;
    }
    if (*at < '0' || *at > '9') return 0;
    *seed = strtoull(at, &rest, 10);
    return *rest == 0;
}

int mip_generate_lp(const char *name, mip *model, char *error, size_t error_size) {
    double m, n = 0, density = 1;
    uint64_t seed;
    int square = strncmp(name, "shah:", 5) == 0, failed;
    memset(model, 0, sizeof *model);
    if (!read_name(name, square, &m, &n, &density, &seed)) {
        snprintf(error, error_size, "%s: no such linear program (%s)", name,
                 square ? "shah:M:SEED" : "meyer:M:N:DENSITY:SEED or plant:M:N:DENSITY:SEED, with 0 < DENSITY <= 1");
        return -1;
    }
    if (square) failed = shah(model, (int32_t)m, seed);
    else if (name[0] == 'm') failed = meyer(model, (int32_t)m, (int32_t)n, density, seed);
    else failed = plant(model, (int32_t)m, (int32_t)n, density, seed);
    if (!failed) return 0;
    mip_free(model);
    snprintf(error, error_size, "%s: out of memory", name);
    return -1;
}
