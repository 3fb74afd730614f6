/* SPDX-License-Identifier: MIT */
#include "tests/contract/untidy_calls.h"

#include <string.h>

/* Makes the call until no allocation is left to fail. Each failure must leave nothing behind. */
#define CALL(u, expression)                                                                 \
    do {                                                                                    \
        const long live_before = (u)->host->live;                                           \
        for ((u)->failed = 0;; (u)->failed++) {                                             \
            (u)->host->fail_at = (u)->fails ? (u)->host->allocations + (u)->failed + 1 : 0; \
            (u)->status = (expression);                                                     \
            (u)->host->fail_at = 0;                                                         \
            if ((u)->status != GPUOPT_ERROR_MEMORY || !(u)->fails) break;                   \
            assert_int_equal((u)->host->live, live_before);                                 \
            assert_true((u)->failed < 100);                                                 \
        }                                                                                   \
    } while (0)

static void keep(use *u, const void *numbers, size_t bytes) {
    const int count = (int)((bytes + sizeof(double) - 1) / sizeof(double));
    assert_true(u->filled + count <= MOST);
    memset(u->out + u->filled, 0, sizeof(double) * (size_t)count);
    memcpy(u->out + u->filled, numbers, bytes);
    u->filled += count;
}

static double zeros[2 * ROWS + 2 * COLS], tens[2 * ROWS + 2 * COLS], rising[2 * ROWS + 2 * COLS];

int untidy_setup(void **state) {
    size_t k;
    (void)state;
    for (k = 0; k < sizeof tens / sizeof *tens; k++) tens[k] = 10, rising[k] = 1 + (double)k / 4;
    return 0;
}

gpuopt_propagator_desc untidy_propagator(const gpuopt_matrix *m, int precision) {
    gpuopt_propagator_desc desc = GPUOPT_INIT(gpuopt_propagator_desc);
    desc.matrix = *m;
    desc.rhs = rising, desc.lb = zeros, desc.ub = tens;
    desc.precision = (gpuopt_propagator_precision)precision;
    return desc;
}

gpuopt_simplex_desc untidy_program(const gpuopt_matrix *m, int method) {
    gpuopt_simplex_desc desc = GPUOPT_INIT(gpuopt_simplex_desc);
    desc.matrix = *m;
    desc.rhs = rising, desc.ub = tens, desc.cost = rising, desc.maximize = 1;
    desc.method = (gpuopt_simplex_method)method;
    return desc;
}

/* A row or a column for each line of a model, with 1 in the first place. */
static const int64_t few[3] = {0, 1, 2};
static const int32_t of_few[2] = {0, 1};
static const double ones[2] = {1, 1};

static void propagate(use *u, gpuopt_propagator *p, int32_t rows, int32_t cols) {
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    gpuopt_propagator_row_report report = GPUOPT_INIT(gpuopt_propagator_row_report);
    double lb[COLS], ub[COLS], low[2 * ROWS], high[2 * ROWS];
    assert_int_equal(gpuopt_propagator_round(p, 5, &info), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_get_bounds(p, GPUOPT_HOST, 0, NULL, lb, ub), GPUOPT_OK);
    report.min_activity = low, report.max_activity = high;
    assert_int_equal(gpuopt_propagator_get_rows(p, GPUOPT_HOST, &report), GPUOPT_OK);
    keep(u, &info, sizeof info);
    keep(u, lb, sizeof *lb * (size_t)cols);
    keep(u, ub, sizeof *ub * (size_t)cols);
    keep(u, low, sizeof *low * (size_t)rows);
    keep(u, high, sizeof *high * (size_t)rows);
    gpuopt_propagator_destroy(p);
}

static void propagator_create(use *u) {
    const gpuopt_propagator_desc desc = untidy_propagator(u->m, u->option);
    gpuopt_propagator *p = NULL;
    CALL(u, gpuopt_propagator_create(u->context, &desc, NULL, &p));
    if (!u->status) propagate(u, p, u->m->rows, u->m->cols);
}

int64_t untidy_spare;

static void propagator_add_rows(use *u) {
    const gpuopt_matrix base = {2, u->m->cols, few, of_few, ones, GPUOPT_LAYOUT_CSR};
    gpuopt_propagator_desc desc = untidy_propagator(&base, u->option);
    gpuopt_spare spare = GPUOPT_INIT(gpuopt_spare);
    gpuopt_propagator *p = NULL;
    int32_t row[ROWS];
    spare.rows = u->m->rows, spare.nonzeros = untidy_spare;
    desc.spare = &spare;
    desc.trail_capacity = 1000;
    assert_int_equal(gpuopt_propagator_create(u->context, &desc, NULL, &p), GPUOPT_OK);
    CALL(u, gpuopt_propagator_add_rows(p, u->m, NULL, rising, row));
    if (!u->status) propagate(u, p, 2 + u->m->rows, u->m->cols);
    else gpuopt_propagator_destroy(p);
}

static gpuopt_basis *basis_new(use *u) {
    gpuopt_basis_desc desc = GPUOPT_INIT(gpuopt_basis_desc);
    gpuopt_basis *basis = NULL;
    desc.m = u->m->rows;
    assert_int_equal(gpuopt_basis_create(u->context, &desc, NULL, &basis), GPUOPT_OK);
    return basis;
}

static void basis_load(use *u) {
    double inverse[SQUARE * SQUARE];
    gpuopt_basis *basis = basis_new(u);
    CALL(u, gpuopt_basis_load(basis, u->m));
    assert_int_equal(gpuopt_basis_get_inverse(basis, GPUOPT_HOST, inverse), GPUOPT_OK);
    keep(u, inverse, sizeof inverse);
    gpuopt_basis_destroy(basis);
}

static void basis_get_drift(use *u) {
    gpuopt_basis_drift drift = GPUOPT_INIT(gpuopt_basis_drift);
    gpuopt_basis *basis = basis_new(u); /* the identity: far from the matrix's inverse */
    CALL(u, gpuopt_basis_get_drift(basis, u->m, 1, &drift));
    keep(u, &drift, sizeof drift);
    gpuopt_basis_destroy(basis);
}

static void solve(use *u, gpuopt_simplex *s, int32_t rows, int32_t cols) {
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    gpuopt_simplex_solution solution = GPUOPT_INIT(gpuopt_simplex_solution);
    double x[2 * COLS + 2], dual[2 * ROWS + 2], activity[2 * ROWS + 2];
    solution.x = x, solution.dual = dual, solution.activity = activity;
    assert_int_equal(gpuopt_simplex_iterate(s, 1000, &info), GPUOPT_OK);
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    assert_int_equal(gpuopt_simplex_get_solution(s, GPUOPT_HOST, &solution), GPUOPT_OK);
    keep(u, &info, sizeof info);
    keep(u, x, sizeof *x * (size_t)cols);
    keep(u, dual, sizeof *dual * (size_t)rows);
    keep(u, activity, sizeof *activity * (size_t)rows);
    gpuopt_simplex_destroy(s);
}

static void simplex_create(use *u) {
    const gpuopt_simplex_desc desc = untidy_program(u->m, u->option);
    gpuopt_simplex *s = NULL;
    CALL(u, gpuopt_simplex_create(u->context, &desc, NULL, &s));
    if (!u->status) solve(u, s, u->m->rows, u->m->cols);
}

static void simplex_add_rows(use *u) {
    const gpuopt_matrix base = {2, u->m->cols, few, of_few, ones, GPUOPT_LAYOUT_CSR};
    gpuopt_simplex_desc desc = untidy_program(&base, u->option);
    gpuopt_spare spare = GPUOPT_INIT(gpuopt_spare);
    gpuopt_simplex *s = NULL;
    spare.rows = u->m->rows, spare.nonzeros = untidy_spare;
    desc.spare = &spare;
    assert_int_equal(gpuopt_simplex_create(u->context, &desc, NULL, &s), GPUOPT_OK);
    CALL(u, gpuopt_simplex_add_rows(s, u->m, NULL, rising));
    if (!u->status) solve(u, s, 2 + u->m->rows, u->m->cols);
    else gpuopt_simplex_destroy(s);
}

static void simplex_add_cols(use *u) {
    const gpuopt_matrix base = {u->m->rows, 2, few, of_few, ones, GPUOPT_LAYOUT_CSC};
    gpuopt_simplex_desc desc = untidy_program(&base, u->option);
    gpuopt_spare spare = GPUOPT_INIT(gpuopt_spare);
    gpuopt_simplex *s = NULL;
    spare.cols = u->m->cols, spare.nonzeros = untidy_spare;
    desc.spare = &spare;
    assert_int_equal(gpuopt_simplex_create(u->context, &desc, NULL, &s), GPUOPT_OK);
    CALL(u, gpuopt_simplex_add_cols(s, u->m, rising, NULL, tens));
    if (!u->status) solve(u, s, u->m->rows, 2 + u->m->cols);
    else gpuopt_simplex_destroy(s);
}

const untidy_call untidy_calls[UNTIDY_CALLS] = {
    {"gpuopt_propagator_create", propagator_create, 0, 2},
    {"gpuopt_propagator_add_rows", propagator_add_rows, 0, 2},
    {"gpuopt_basis_load", basis_load, 1, 1},
    {"gpuopt_basis_get_drift", basis_get_drift, 1, 1},
    {"gpuopt_simplex_create", simplex_create, 0, 2},
    {"gpuopt_simplex_add_rows", simplex_add_rows, 0, 2},
    {"gpuopt_simplex_add_cols", simplex_add_cols, 0, 2},
};
