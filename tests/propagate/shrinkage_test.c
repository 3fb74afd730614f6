/* SPDX-License-Identifier: MIT
 *
 * The progress of the last round of a call: recomputed here from the bounds before and after a round; the same for
 * calls of several rounds; rounds that crawl.
 */
#include <math.h>
#include <stdlib.h>

#include "tests/propagate/model.h"

/* By how much a bound has come nearer to the other one. */
static double come_nearer(double from, double to, double other) {
    if (from == to) return 0;
    if (isinf(from)) return 1;
    if (!isinf(other)) return 1 - fabs(other - to) / fabs(other - from);
    if ((from < 0) != (to < 0)) return 1;
    return 1 - fmin(fabs(from), fabs(to)) / fmax(fabs(from), fabs(to));
}

/* A handle and its bounds. */
typedef struct watched {
    gpuopt_propagator *p;
    double *lb, *ub;
    int32_t cols;
} watched;

static watched watch(gpuopt_context *context, const gpuopt_propagator_desc *desc) {
    size_t n = (size_t)desc->matrix.cols + 1;
    watched w = {problem_create(context, desc), malloc(n * sizeof(double)), malloc(n * sizeof(double)),
                 desc->matrix.cols};
    problem_bounds(w.p, w.lb, w.ub);
    return w;
}

static void unwatch(watched w) {
    gpuopt_propagator_destroy(w.p);
    free(w.lb);
    free(w.ub);
}

/* Makes a round; checks its report, unless the round is a sweep, since not all moves of a sweep are visible from
 * outside. */
static gpuopt_propagator_info step(watched *w, int sweep) {
    size_t n = (size_t)w->cols + 1;
    double *lb = malloc(n * sizeof *lb), *ub = malloc(n * sizeof *ub), most = 0;
    gpuopt_propagator_info info = problem_round(w->p, 1), again = GPUOPT_INIT(gpuopt_propagator_info);
    int32_t j;
    problem_bounds(w->p, lb, ub);
    for (j = 0; j < w->cols; j++) {
        most = fmax(most, come_nearer(w->lb[j], lb[j], ub[j]));
        most = fmax(most, come_nearer(w->ub[j], ub[j], lb[j]));
    }
    if (info.outcome != GPUOPT_MORE && info.outcome != GPUOPT_LIMIT) most = 0;
    if (!sweep) assert_true(info.shrinkage == most);
    assert_true(info.shrinkage >= 0 && info.shrinkage <= 1 && (info.shrinkage > 0) == (most > 0));
    assert_int_equal(gpuopt_propagator_get_info(w->p, &again), GPUOPT_OK);
    assert_true(again.shrinkage == info.shrinkage);
    free(w->lb);
    free(w->ub);
    w->lb = lb;
    w->ub = ub;
    return info;
}

/* Round by round, and the same rounds in calls of several. */
static void check_rounds(gpuopt_context *context, const gpuopt_propagator_desc *desc) {
    int sweep = desc->mode == GPUOPT_MODE_GAUSS_SEIDEL, at = 0, every, positive = 0;
    watched one = watch(context, desc), some[3];
    gpuopt_propagator_info info, others;
    for (every = 2; every <= 4; every++) some[every - 2] = watch(context, desc);
    do {
        info = step(&one, sweep);
        positive += info.shrinkage > 0;
        at++;
        for (every = 2; every <= 4; every++) {
            if (at % every) continue;
            others = problem_round(some[every - 2].p, every);
            assert_int_equal(others.outcome, info.outcome);
            assert_true(others.shrinkage == info.shrinkage);
        }
    } while (info.outcome == GPUOPT_MORE && at < 16);
    assert_true(positive > 0);
    unwatch(one);
    for (every = 2; every <= 4; every++) unwatch(some[every - 2]);
}

static void check_model(mip m) {
    gpuopt_context *context = test_context(NULL);
    size_t count, v;
    const problem_variant *variant = problem_variants(&count);
    int precision, trail;
    for (v = 0; v < count; v++)
        for (precision = 0; precision < 2; precision++)
            for (trail = 0; trail < 2; trail++) {
                gpuopt_propagator_desc desc = mip_propagator_desc(&m);
                problem_apply(&variant[v], &desc);
                desc.precision = (gpuopt_propagator_precision)precision;
                if (trail && (desc.marking == GPUOPT_OFF || desc.driver == GPUOPT_DRIVER_HOST ||
                              desc.driver == GPUOPT_DRIVER_GRAPH))
                    continue;
                desc.trail_capacity = trail ? 100000 : 0;
                check_rounds(context, &desc);
            }
    gpuopt_context_destroy(context);
    mip_free(&m);
}

static void small_models(void **state) {
    double x[MODEL_COLS];
    uint64_t seed;
    (void)state;
    check_model(model_small());
    for (seed = 1; seed <= 3; seed++) check_model(model_random(seed, x));
}

/* Enough for several blocks and, on the GPU, for warps that move more bounds than they remember. */
static void larger_models(void **state) {
    static const char *const name[] = {"rand,400,300,8,1", "rand,200,60,40,2", "band,500,8,1", "skew,200,300,6,3"};
    size_t k;
    (void)state;
    for (k = 0; k < sizeof name / sizeof *name; k++) {
        char error[256];
        mip m;
        assert_int_equal(mip_generate(name[k], &m, error, sizeof error), 0);
        check_model(m);
    }
}

/* x <= y - 1, y <= x + least over [low, high]: bounds move by a unit a round. */
static mip crawling(double low, double high, double least) {
    static const double a[] = {1, -1, -1, 1}, lhs[] = {-INFINITY, -INFINITY};
    double rhs[] = {-1, 0};
    rhs[1] = least;
    return model_dense(2, 2, a, lhs, rhs, low, high, 1);
}

static void check_crawl(gpuopt_context *context, gpuopt_propagator_desc desc) {
    gpuopt_propagator *p = problem_create(context, &desc);
    gpuopt_propagator_info info = problem_round(p, 50);
    assert_int_equal(info.outcome, GPUOPT_MORE);
    assert_true(info.shrinkage > 1e-7 && info.shrinkage < 3e-6);
    gpuopt_propagator_destroy(p);
}
MODEL_VARIANTS_TEST(crawl, crawling(0, 1e6, 0))

/* Without upper bounds the lower bounds double at first, roughly, and then crawl. */
static void check_open_crawl(gpuopt_context *context, gpuopt_propagator_desc desc) {
    gpuopt_propagator *p = problem_create(context, &desc);
    gpuopt_propagator_info info = problem_round(p, 1);
    assert_true(info.shrinkage == 1);
    info = problem_round(p, 100);
    assert_int_equal(info.outcome, GPUOPT_MORE);
    assert_true(info.shrinkage > 0.004 && info.shrinkage < 0.03);
    info = problem_round(p, 2000);
    assert_true(info.outcome == GPUOPT_MORE && info.shrinkage > 0 && info.shrinkage < 1e-3);
    gpuopt_propagator_destroy(p);
}
MODEL_VARIANTS_TEST(open_crawl, crawling(0, INFINITY, 0))

static void check_ends(gpuopt_context *context, gpuopt_propagator_desc desc) {
    gpuopt_propagator *p;
    gpuopt_propagator_info info;
    desc.round_limit = 1;
    p = problem_create(context, &desc);
    info = problem_round(p, 5);
    assert_int_equal(info.outcome, GPUOPT_LIMIT);
    assert_true(info.shrinkage > 0);
    info = problem_round(p, 5);
    assert_int_equal(info.outcome, GPUOPT_LIMIT);
    assert_true(info.rounds == 0 && info.shrinkage == 0);
    gpuopt_propagator_destroy(p);
    desc.round_limit = 0;
    p = problem_create(context, &desc);
    info = problem_round(p, MODEL_MANY);
    assert_true(info.outcome == GPUOPT_CONVERGED && info.shrinkage == 0);
    gpuopt_propagator_destroy(p);
}
MODEL_VARIANTS_TEST(ends, model_small())

static void check_refuted(gpuopt_context *context, gpuopt_propagator_desc desc) {
    gpuopt_propagator *p = problem_create(context, &desc);
    gpuopt_propagator_info info = problem_round(p, 5);
    assert_true(info.outcome == GPUOPT_INFEASIBLE && info.shrinkage == 0);
    gpuopt_propagator_destroy(p);
}
MODEL_VARIANTS_TEST(refuted, model_infeasible())

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(small_models), cmocka_unit_test(larger_models), cmocka_unit_test(crawl),
    cmocka_unit_test(open_crawl),   cmocka_unit_test(ends),          cmocka_unit_test(refuted),
};
TEST_MAIN(tests)
