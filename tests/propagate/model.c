/* SPDX-License-Identifier: MIT */
#include "tests/propagate/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Models ---- */

const double model_small_lb[3] = {0, 1, 0}, model_small_ub[3] = {3, 4, 3};

mip model_dense(int32_t rows, int32_t cols, const double *a, const double *lhs, const double *rhs, double lb, double ub,
                int integer) {
    mip m = problem_new(cols, rows, (int64_t)rows * cols);
    int32_t i, j;
    for (j = 0; j < cols; j++) problem_col(&m, j, lb, ub, integer);
    for (i = 0; i < rows; i++) {
        problem_row(&m, lhs[i], rhs[i]);
        for (j = 0; j < cols; j++)
            if (a[i * cols + j] != 0) problem_entry(&m, j, a[i * cols + j]);
    }
    return m;
}

mip model_small(void) {
    static const double a[6] = {1, 1, 0, 0, 1, -1}, lhs[2] = {-INFINITY, 1}, rhs[2] = {4, INFINITY};
    return model_dense(2, 3, a, lhs, rhs, 0, 10, 0);
}

mip model_one_column(double lb, double ub, double lhs, double rhs) {
    static const double one = 1;
    return model_dense(1, 1, &one, &lhs, &rhs, lb, ub, 0);
}

mip model_infeasible(void) {
    static const double a[8] = {1, 1, 1, 1, 1, 1, 1, -1}, lhs[4] = {-INFINITY, 3, -INFINITY, 2};
    static const double rhs[4] = {2, INFINITY, INFINITY, INFINITY};
    return model_dense(4, 2, a, lhs, rhs, 0, 1, 0);
}

mip model_random(uint64_t seed, double *x) {
    mip m = problem_new(MODEL_COLS, MODEL_ROWS, (int64_t)MODEL_ROWS * 8);
    int i, j, k;
    for (j = 0; j < MODEL_COLS; j++) {
        double below = (double)test_random_int(&seed, 0, 20), above = (double)test_random_int(&seed, 0, 20);
        int kind = (int)test_random_int(&seed, 0, 7);
        x[j] = (double)test_random_int(&seed, -10, 10);
        problem_col(&m, j, kind == 0 ? -INFINITY : x[j] - below, kind == 1 ? 1e20 : x[j] + above, kind % 2);
    }
    for (i = 0; i < MODEL_ROWS; i++) {
        int length = (int)test_random_int(&seed, 2, 8), used[MODEL_COLS] = {0};
        double activity = 0, slack = (double)test_random_int(&seed, 0, 6);
        problem_row(&m, 0, 0);
        for (k = 0; k < length; k++) {
            double a = (double)test_random_int(&seed, 1, 4) * (test_random_int(&seed, 0, 1) ? 1 : -1);
            do j = (int)test_random_int(&seed, 0, MODEL_COLS - 1);
            while (used[j]);
            used[j] = 1;
            problem_entry(&m, j, a);
            activity += a * x[j];
        }
        m.lhs[i] = i % 3 == 0 ? -INFINITY : activity - slack;
        m.rhs[i] = i % 3 == 1 ? INFINITY : activity + slack;
    }
    return m;
}

mip model_draw(const model_shape *s, uint64_t *seed) {
    mip m = problem_new(s->cols, s->rows, (int64_t)s->rows * s->longest);
    double *x = malloc(sizeof *x * (size_t)s->cols); /* a point that satisfies most rows */
    int32_t *order = malloc(sizeof *order * (size_t)s->cols);
    int i, j, k;
    for (j = 0; j < s->cols; j++) {
        int kind = (int)test_random_int(seed, 0, 9);
        double low = (double)test_random_int(seed, -20, 20), width = (double)test_random_int(seed, 0, 30);
        order[j] = j;
        x[j] = low + floor(test_random(seed) * (width + 1));
        if (kind < 4) problem_col(&m, j, 0, 1, 1), x[j] = (double)test_random_int(seed, 0, 1);
        else if (kind < 6) problem_col(&m, j, low, low + width, 1);
        else if (kind == 6) problem_col(&m, j, -INFINITY, low + width, 0);
        else if (kind == 7) problem_col(&m, j, low, 1e20, 0);
        else if (kind == 8 && s->longest < 100) problem_col(&m, j, -1e30, INFINITY, 0);
        else problem_col(&m, j, low, low + width, 0);
    }
    for (i = 0; i < s->rows; i++) {
        int length = i == 0 ? s->longest : (int)test_random_int(seed, 0, s->longest);
        double activity = 0, slack = (double)test_random_int(seed, 0, 2 + length / 4), a;
        problem_row(&m, 0, 0);
        for (k = 0; k < length; k++) {
            int other = (int)test_random_int(seed, k, s->cols - 1), col = order[other];
            order[other] = order[k];
            order[k] = col;
            a = (double)test_random_int(seed, 1, 9) * (test_random_int(seed, 0, 2) ? 1 : -1) /
                (test_random_int(seed, 0, 3) ? 1 : 8);
            activity += a * x[col];
            problem_entry(&m, col, a);
        }
        switch (test_random_int(seed, 0, 5)) {
        case 0: m.lhs[i] = activity - slack, m.rhs[i] = INFINITY; break;
        case 1: m.lhs[i] = m.rhs[i] = activity; break;
        case 2: m.lhs[i] = activity - slack, m.rhs[i] = activity + slack; break;
        case 3: m.lhs[i] = -1e20, m.rhs[i] = test_random_int(seed, 0, 30) ? 1e20 : activity - 5; break;
        default: m.lhs[i] = -INFINITY, m.rhs[i] = activity + slack; break;
        }
    }
    free(x);
    free(order);
    return m;
}

/* ---- Checks ---- */

void model_check_bounds(gpuopt_propagator *p, int32_t cols, const double *lb, const double *ub) {
    double now_lb[MODEL_COLS], now_ub[MODEL_COLS];
    assert_true(cols <= MODEL_COLS);
    problem_bounds(p, now_lb, now_ub);
    assert_memory_equal(now_lb, lb, sizeof *lb * (size_t)cols);
    assert_memory_equal(now_ub, ub, sizeof *ub * (size_t)cols);
}

void model_check_same_bounds(gpuopt_propagator *a, gpuopt_propagator *b, int32_t cols) {
    double lb[MODEL_COLS], ub[MODEL_COLS];
    problem_bounds(b, lb, ub);
    model_check_bounds(a, cols, lb, ub);
}

void model_check_fixpoint(gpuopt_propagator *p) {
    gpuopt_propagator_info info = problem_round(p, 10);
    assert_int_equal(info.outcome, GPUOPT_CONVERGED);
    assert_int_equal(info.rounds, 3);
    model_check_bounds(p, 3, model_small_lb, model_small_ub);
}

void model_check_works(gpuopt_context *context, const gpuopt_propagator_desc *desc) {
    gpuopt_propagator *p = problem_create(context, desc);
    model_check_fixpoint(p);
    gpuopt_propagator_destroy(p);
}

void model_check_context(gpuopt_context *context) {
    mip m = model_small();
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    model_check_works(context, &desc);
    mip_free(&m);
}

void model_check_same_info(gpuopt_propagator_info a, gpuopt_propagator_info b) {
    assert_int_equal(a.outcome, b.outcome);
    assert_int_equal(a.rounds, b.rounds);
    assert_int_equal(a.changed, b.changed);
    assert_int_equal(a.infeasible_row, b.infeasible_row);
    assert_int_equal(a.infeasible_col, b.infeasible_col);
}

int64_t model_check_like_fresh(gpuopt_context *context, gpuopt_propagator *p, gpuopt_propagator_desc desc, int rounds) {
    double lb[MODEL_COLS], ub[MODEL_COLS], fresh_lb[MODEL_COLS], fresh_ub[MODEL_COLS];
    gpuopt_propagator_info info, fresh;
    int32_t j;
    assert_true(desc.matrix.cols <= MODEL_COLS);
    problem_bounds(p, lb, ub);
    desc.lb = lb;
    desc.ub = ub;
    if (desc.mode == GPUOPT_MODE_GAUSS_SEIDEL) rounds = MODEL_MANY;
    fresh = problem_run(context, &desc, rounds, fresh_lb, fresh_ub);
    info = problem_round(p, rounds);
    if (desc.mode == GPUOPT_MODE_GAUSS_SEIDEL) {
        assert_true(info.outcome == GPUOPT_CONVERGED && fresh.outcome == GPUOPT_CONVERGED);
        problem_bounds(p, lb, ub);
        for (j = 0; j < desc.matrix.cols; j++)
            assert_true(problem_close(lb[j], fresh_lb[j]) && problem_close(ub[j], fresh_ub[j]));
    } else {
        model_check_same_info(info, fresh);
        model_check_bounds(p, desc.matrix.cols, fresh_lb, fresh_ub);
    }
    return info.changed;
}

/* ---- Surroundings ---- */

void model_for_variants(model_test *test, mip m) {
    gpuopt_context *context = test_context(NULL);
    size_t variants, v;
    const problem_variant *variant = problem_variants(&variants);
    for (v = 0; v < variants; v++) {
        gpuopt_propagator_desc desc = mip_propagator_desc(&m);
        problem_apply(&variant[v], &desc);
        test(context, desc);
    }
    mip_free(&m);
    gpuopt_context_destroy(context);
}

int model_setup(void **state) {
    model_host *h = malloc(sizeof *h);
    assert_non_null(h);
    h->context = test_context(&h->host);
    h->model = model_small();
    h->desc = mip_propagator_desc(&h->model);
    h->desc.integer = NULL;
    *state = h;
    return 0;
}

int model_teardown(void **state) {
    model_host *h = *state;
    gpuopt_context_destroy(h->context);
    assert_int_equal(h->host.live, 0);
    mip_free(&h->model);
    free(h);
    return 0;
}
