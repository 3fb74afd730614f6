/* SPDX-License-Identifier: MIT
 *
 * Random models against the long-double reference, round by round, and the promise of equal bits: every variant of the
 * backend under test against the CPU with one thread.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/propagate/model.h"

/* The longest rows of these shapes are treated differently on the GPU: by a thread, a warp, several warps, many. */
static const model_shape shapes[] = {{6, 5, 5, 300},      {40, 30, 30, 60},   {60, 300, 120, 20},
                                     {20, 1500, 1400, 4}, {5, 9000, 8000, 1}, {6, 40000, 33000, 1}};

static void check_against_reference(gpuopt_context *context, const mip *m, int rounds, const char *what) {
    size_t n = (size_t)m->matrix.cols, variants, v;
    long double *want_lb = malloc(sizeof *want_lb * (n + 1)), *want_ub = malloc(sizeof *want_ub * (n + 1));
    double *lb = malloc(sizeof *lb * (n + 1)), *ub = malloc(sizeof *ub * (n + 1));
    const problem_variant *variant = problem_variants(&variants);
    gpuopt_propagator_info want, info;
    size_t j;
    for (j = 0; j < n; j++) want_lb[j] = fmax(m->lb[j], -1e20), want_ub[j] = fmin(m->ub[j], 1e20);
    want = problem_reference(m, rounds, want_lb, want_ub);
    for (v = 0; v < variants; v++) {
        gpuopt_propagator_desc desc = mip_propagator_desc(m);
        if (variant[v].mode == GPUOPT_MODE_GAUSS_SEIDEL) continue;
        problem_apply(&variant[v], &desc);
        info = problem_run(context, &desc, rounds, lb, ub);
        if (info.outcome != want.outcome || info.rounds != want.rounds || info.changed != want.changed ||
            info.infeasible_row != want.infeasible_row || info.infeasible_col != want.infeasible_col)
            fail_msg("%s, %s: %s after %d rounds and %lld changes (row %d, column %d), expected %s, %d, %lld (%d, %d)",
                     what, variant[v].name, gpuopt_outcome_string(info.outcome), info.rounds, (long long)info.changed,
                     info.infeasible_row, info.infeasible_col, gpuopt_outcome_string(want.outcome), want.rounds,
                     (long long)want.changed, want.infeasible_row, want.infeasible_col);
        for (j = 0; j < n && info.outcome != GPUOPT_INFEASIBLE; j++) {
            double low = want_lb[j] <= -1e20L ? -INFINITY : (double)want_lb[j],
                   high = want_ub[j] >= 1e20L ? INFINITY : (double)want_ub[j];
            if (!problem_close(lb[j], low) || !problem_close(ub[j], high))
                fail_msg("%s, %s: column %zu in [%.17g, %.17g], expected [%.17g, %.17g]", what, variant[v].name, j,
                         lb[j], ub[j], low, high);
        }
    }
    free(want_lb), free(want_ub), free(lb), free(ub);
}

static void agrees_with_reference(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 1;
    size_t s;
    int trial;
    char what[64];
    (void)state;
    for (s = 0; s < sizeof shapes / sizeof *shapes - 1;
         s++) /* the last has too long rows for a reference of quadratic cost */
        for (trial = 0; trial < shapes[s].trials; trial++) {
            mip m = model_draw(&shapes[s], &seed);
            snprintf(what, sizeof what, "shape %zu, trial %d", s, trial);
            check_against_reference(context, &m, 1 + trial % 4, what);
            mip_free(&m);
        }
    gpuopt_context_destroy(context);
}

/* Models of one structure each: chains, bands, flows, empty rows, a few long rows, a limit that is never reached. */
static void structured_models_agree_with_reference(void **state) {
    static const char *const names[] = {"cascade,60", "band,1500,8,1",     "cflp,15",           "emptyrows,300",
                                        "twolines",   "rand,400,300,10,3", "skew,300,400,12,5", "rand,50,40,30,8,0.3"};
    gpuopt_context *context = test_context(NULL);
    size_t k;
    (void)state;
    for (k = 0; k < sizeof names / sizeof *names; k++) {
        char error[128];
        mip m;
        if (mip_generate(names[k], &m, error, sizeof error)) fail_msg("%s", error);
        check_against_reference(context, &m, 1, names[k]);
        check_against_reference(context, &m, 25, names[k]);
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

static void same_bits(void **state) {
    gpuopt_context *context = test_context(NULL), *plain = test_plain_context();
    uint64_t seed = 77;
    size_t s, v, variants;
    const problem_variant *variant = problem_variants(&variants);
    (void)state;
    for (s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        mip m = model_draw(&shapes[s], &seed);
        size_t bytes = sizeof(double) * (size_t)m.matrix.cols;
        double *lb = malloc(bytes), *ub = malloc(bytes), *want_lb = malloc(bytes), *want_ub = malloc(bytes);
        int precision;
        for (precision = GPUOPT_PRECISION_FP64; precision <= GPUOPT_PRECISION_FP32; precision++)
            for (v = test_few() ? s % 2 : 0; v < variants; v += test_few() ? 2 : 1) {
                int rounds;
                for (rounds = 1; rounds < 40; rounds *= 3) {
                    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
                    gpuopt_propagator_info want, info;
                    desc.precision = (gpuopt_propagator_precision)precision;
                    want = problem_run(plain, &desc, rounds, want_lb, want_ub);
                    problem_apply(&variant[v], &desc);
                    if (desc.mode == GPUOPT_MODE_GAUSS_SEIDEL) continue;
                    info = problem_run(context, &desc, rounds, lb, ub);
                    assert_int_equal(info.outcome, want.outcome);
                    assert_int_equal(info.rounds, want.rounds);
                    assert_int_equal(info.changed, want.changed);
                    assert_int_equal(info.infeasible_row, want.infeasible_row);
                    assert_int_equal(info.infeasible_col, want.infeasible_col);
                    assert_memory_equal(lb, want_lb, bytes);
                    assert_memory_equal(ub, want_ub, bytes);
                }
            }
        free(lb), free(ub), free(want_lb), free(want_ub);
        mip_free(&m);
    }
    gpuopt_context_destroy(plain);
    gpuopt_context_destroy(context);
}

/* The result does not depend on the order of rows, or on the order of entries in short rows of exact terms. Nor does it
 * depend on whether one call makes all rounds. */
static void order_does_not_matter(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 5;
    mip m = model_draw(&shapes[1], &seed),
        turned = problem_new(shapes[1].cols, shapes[1].rows, (int64_t)shapes[1].rows * shapes[1].longest);
    size_t bytes = sizeof(double) * (size_t)m.matrix.cols;
    double *lb = malloc(bytes), *ub = malloc(bytes), *other_lb = malloc(bytes), *other_ub = malloc(bytes);
    gpuopt_propagator_desc desc;
    gpuopt_propagator_info all, step;
    gpuopt_propagator *p;
    int32_t i, j;
    int64_t k, changed = 0;
    (void)state;
    for (j = 0; j < m.matrix.cols; j++) problem_col(&turned, j, m.lb[j], m.ub[j], m.integer[j]);
    for (i = m.matrix.rows - 1; i >= 0; i--) {
        problem_row(&turned, m.lhs[i], m.rhs[i]);
        for (k = m.matrix.start[i + 1] - 1; k >= m.matrix.start[i]; k--)
            problem_entry(&turned, m.matrix.index[k], m.matrix.value[k]);
    }
    desc = mip_propagator_desc(&m);
    all = problem_run(context, &desc, 12, lb, ub);
    desc = mip_propagator_desc(&turned);
    problem_run(context, &desc, 12, other_lb, other_ub);
    assert_memory_equal(lb, other_lb, bytes);
    assert_memory_equal(ub, other_ub, bytes);
    desc = mip_propagator_desc(&m);
    p = problem_create(context, &desc);
    gpuopt_desc_init(&step, sizeof step);
    for (i = 0; i < all.rounds; i++) {
        assert_int_equal(gpuopt_propagator_round(p, 1, &step), GPUOPT_OK);
        assert_int_equal(step.rounds, 1);
        changed += step.changed;
    }
    assert_int_equal(step.outcome, all.outcome);
    assert_int_equal(changed, all.changed);
    assert_int_equal(gpuopt_propagator_get_bounds(p, GPUOPT_HOST, 0, NULL, other_lb, other_ub), GPUOPT_OK);
    assert_memory_equal(lb, other_lb, bytes);
    assert_memory_equal(ub, other_ub, bytes);
    gpuopt_propagator_destroy(p);
    free(lb), free(ub), free(other_lb), free(other_ub);
    mip_free(&m);
    mip_free(&turned);
    gpuopt_context_destroy(context);
}

static void check_same_run(gpuopt_context *context, const gpuopt_propagator_desc *a, const gpuopt_propagator_desc *b,
                           int rounds) {
    size_t bytes = sizeof(double) * (size_t)a->matrix.cols;
    double *lb = malloc(bytes), *ub = malloc(bytes), *other_lb = malloc(bytes), *other_ub = malloc(bytes);
    gpuopt_propagator_info info = problem_run(context, a, rounds, lb, ub);
    gpuopt_propagator_info other = problem_run(context, b, rounds, other_lb, other_ub);
    assert_int_equal(info.outcome, other.outcome);
    assert_int_equal(info.rounds, other.rounds);
    assert_int_equal(info.changed, other.changed);
    assert_int_equal(info.nonzeros, other.nonzeros);
    assert_int_equal(info.infeasible_row, other.infeasible_row);
    assert_int_equal(info.infeasible_col, other.infeasible_col);
    assert_memory_equal(lb, other_lb, bytes);
    assert_memory_equal(ub, other_ub, bytes);
    free(lb), free(ub), free(other_lb), free(other_ub);
}

/* A matrix by columns gives the same bits as the same matrix by rows, with its entries in the order of the columns. */
static void columns_give_the_same_bits(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 31;
    size_t s, v, variants;
    const problem_variant *variant = problem_variants(&variants);
    (void)state;
    for (s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        mip m = model_draw(&shapes[s], &seed), sorted;
        int precision;
        assert_int_equal(mip_columns(&m), 0);
        memset(&sorted, 0, sizeof sorted);
        sorted.columns = m.columns;
        sorted.matrix.rows = m.matrix.rows;
        sorted.matrix.cols = m.matrix.cols;
        assert_int_equal(mip_rows(&sorted), 0);
        for (precision = GPUOPT_PRECISION_FP64; precision <= GPUOPT_PRECISION_FP32; precision++)
            for (v = test_few() ? s % 2 : 0; v < variants; v += test_few() ? 2 : 1) {
                gpuopt_propagator_desc rows = mip_propagator_desc(&m), columns;
                rows.precision = (gpuopt_propagator_precision)precision;
                problem_apply(&variant[v], &rows);
                columns = rows;
                rows.matrix = sorted.matrix;
                columns.matrix = m.columns;
                check_same_run(context, &rows, &columns, 1);
                check_same_run(context, &rows, &columns, 30);
            }
        memset(&sorted.columns, 0, sizeof sorted.columns); /* they belong to m */
        mip_free(&sorted);
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(agrees_with_reference),
    cmocka_unit_test(structured_models_agree_with_reference),
    cmocka_unit_test(same_bits),
    cmocka_unit_test(order_does_not_matter),
    cmocka_unit_test(columns_give_the_same_bits),
};
TEST_MAIN(tests)
