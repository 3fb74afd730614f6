/* SPDX-License-Identifier: MIT
 *
 * Children of one basis that end early, or would: with another pivot that does not fit, for which REFACTOR refactors,
 * and at a cutoff. Against the simplex method in exact rationals, and against CLP.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/changes.h"
#include "tests/simplex/children.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

enum { EACH = 12 };

/* Small, with finite bounds, which children may take away, and with an offset. */
static mip boxed_model(uint64_t *seed) {
    mip m = changes_model(seed, (int32_t)test_random_int(seed, 2, 9), (int32_t)test_random_int(seed, 2, 9));
    int32_t j;
    for (j = 0; j < m.columns.cols; j++) m.lb[j] = fmax(m.lb[j], -20), m.ub[j] = fmin(m.ub[j], 30);
    m.offset = 3.5;
    return m;
}

/* ---- Full ---- */

/* A child that needs more than K iterations is FULL after K, with a bound. */
static void full(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 3;
    mip m = model_load("plant:30:60:0.2:2");
    gpuopt_simplex_desc desc = children_root_desc(&m, 1);
    gpuopt_simplex *root = simplex_create(context, &desc);
    gpuopt_simplex_children *batch;
    children *all = children_draw(&seed, &m, 40, CHILDREN_BOUNDS | CHILDREN_SIDES);
    children_report *report = children_report_new(&m, 40);
    int32_t k, ended = 0;
    (void)state;
    simplex_iterate(root, 100000);
    batch = children_batch(root, 40, 2, GPUOPT_ON_PIVOT_LIMIT_END);
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 1000, &report->r));
    for (k = 0; k < 40; k++) {
        const double sign = m.maximize ? -1 : 1;
        double objective;
        assert_true(report->iterations[k] <= 2);
        if (report->outcome[k] != GPUOPT_FULL) continue;
        ended++;
        assert_int_equal(report->iterations[k], 2);
        if (children_by_clp(&m, all, k, &objective) == GPUOPT_OPTIMAL)
            assert_true(sign * report->bound[k] <= sign * objective + 1e-9 * fabs(objective));
    }
    assert_true(ended > 3);
    gpuopt_simplex_children_destroy(batch);
    children_report_free(report);
    gpuopt_simplex_destroy(root);
    free(all);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* With REFACTOR it goes on, however small K is; after a few iterations its bound holds. */
static void refactored_against_rationals(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 21;
    int model, verdicts = 0, merged = 0;
    (void)state;
    for (model = 0; model < test_times(100, 240); model++) {
        const int32_t pivots = 1 + model % 3;
        mip m = boxed_model(&seed);
        gpuopt_simplex_desc desc = children_root_desc(&m, model);
        gpuopt_simplex *root = simplex_create(context, &desc);
        gpuopt_simplex_children *batch = children_batch(root, EACH, pivots, GPUOPT_ON_PIVOT_LIMIT_REFACTOR);
        const int kinds = CHILDREN_SIDES | CHILDREN_COSTS | (model % 4 == 3 ? CHILDREN_BOUNDS : 0);
        const int may_be_imprecise = test_on("cuda") && kinds & CHILDREN_BOUNDS; /* where a column has no bound */
        children *all = children_draw(&seed, &m, EACH, kinds);
        children_report *report = children_report_new(&m, EACH);
        const int64_t few = pivots * (1 + model % 2) + 1;
        int32_t k, run;
        if (model % 3) simplex_iterate(root, 100000);
        for (run = 0; run < 2; run++) {
            must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, run ? few : 1000, &report->r));
            for (k = 0; k < EACH; k++) {
                const char *fault = children_fault(&m, all, report, k, &verdicts);
                if (!fault && !children_is_verdict(report->outcome[k]) &&
                    !(run == 1 && report->outcome[k] == GPUOPT_MORE) &&
                    !(report->outcome[k] == GPUOPT_IMPRECISE && may_be_imprecise))
                    fault = "no verdict";
                if (!fault && run == 1 && report->iterations[k] > few) fault = "too many iterations";
                if (fault) fail_msg("model %d, run %d, child %d: %s", model, (int)run, (int)k, fault);
                merged += report->iterations[k] > 2 * pivots;
            }
        }
        gpuopt_simplex_children_destroy(batch);
        children_report_free(report);
        gpuopt_simplex_destroy(root);
        free(all);
        mip_free(&m);
    }
    assert_true(verdicts & 1 << GPUOPT_OPTIMAL && verdicts & 1 << GPUOPT_INFEASIBLE);
    print_message("%d children with more than 2 K pivots\n", merged);
    assert_true(merged > 3 || test_few());
    gpuopt_context_destroy(context);
}

/* Larger ones, with several mergers. The GPU does not find that a child is unbounded. */
static void refactored_against_clp(void **state) {
    static const char *const models[] = {"plant:30:60:0.2:2", "meyer:30:100:0.1:1", "plant:50:30:0.3:7", "shah:40:1"};
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 8;
    int model, merged = 0;
    (void)state;
    for (model = 0; model < (test_few() ? 2 : 4); model++) {
        const int32_t pivots = 2 + model;
        mip m = model_load(models[model]);
        gpuopt_simplex_desc desc = children_root_desc(&m, 1);
        gpuopt_simplex *root = simplex_create(context, &desc);
        gpuopt_simplex_children *batch = children_batch(root, 40, pivots, GPUOPT_ON_PIVOT_LIMIT_REFACTOR);
        children *all = children_draw(&seed, &m, 40, CHILDREN_BOUNDS | CHILDREN_SIDES | CHILDREN_COSTS);
        children_report *report = children_report_new(&m, 40);
        int32_t k;
        simplex_iterate(root, 100000);
        must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 10000, &report->r));
        for (k = 0; k < 40; k++) {
            merged += report->iterations[k] > 3 * pivots;
            if (!children_left_unbounded(&m, all, report, k)) children_agree_with_clp(&m, all, report, k);
        }
        gpuopt_simplex_children_destroy(batch);
        children_report_free(report);
        gpuopt_simplex_destroy(root);
        free(all);
        mip_free(&m);
    }
    print_message("%d children with more than 3 K pivots\n", merged);
    assert_true(merged > 10);
    gpuopt_context_destroy(context);
}

/* ---- Cutoffs ---- */

/* A child is CUTOFF only where its bound has reached the cutoff, which no point of its model is beyond, and mostly
 * where the optimum is. Without the cutoff it gets its verdict again. */
static void cutoffs_against_rationals(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 35;
    int model, verdicts = 0, cut = 0, missed = 0;
    (void)state;
    for (model = 0; model < test_times(150, 120); model++) {
        mip m = boxed_model(&seed);
        const double sign = m.maximize ? -1 : 1;
        gpuopt_simplex_desc desc = children_root_desc(&m, model);
        gpuopt_simplex *root = simplex_create(context, &desc);
        gpuopt_simplex_children *batch = children_batch(
            root, EACH, 1 + model % 5, model % 2 ? GPUOPT_ON_PIVOT_LIMIT_REFACTOR : GPUOPT_ON_PIVOT_LIMIT_END);
        children *all = children_draw(&seed, &m, EACH, 1 + model % 7);
        children_report *report = children_report_new(&m, EACH), *without = children_report_new(&m, EACH);
        const gpuopt_simplex_info info = simplex_iterate(root, 100000);
        int32_t k;
        report->cutoff = sign * (double)test_random_int(&seed, 0, 40) / 2;
        if (info.outcome == GPUOPT_OPTIMAL) report->cutoff += info.objective;
        must(gpuopt_simplex_set_cutoff(root, report->cutoff));
        must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 1000, &report->r));
        must(gpuopt_simplex_set_cutoff(root, sign * HUGE_VAL));
        must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 1000, &without->r));
        for (k = 0; k < EACH; k++) {
            const char *fault = children_fault(&m, all, report, k, &verdicts);
            const double beyond = sign * (without->objective[k] - report->cutoff);
            if (!fault) fault = children_fault(&m, all, without, k, &verdicts);
            if (!fault && report->outcome[k] == GPUOPT_CUTOFF && without->outcome[k] == GPUOPT_OPTIMAL &&
                beyond < -1e-9 * fmax(1, fabs(report->cutoff)))
                fault = "cut off before the cutoff";
            if (fault) fail_msg("model %d, child %d: %s", model, (int)k, fault);
            cut += report->outcome[k] == GPUOPT_CUTOFF;
            missed += report->outcome[k] == GPUOPT_OPTIMAL && beyond > 1e-6;
        }
        gpuopt_simplex_children_destroy(batch);
        children_report_free(report);
        children_report_free(without);
        gpuopt_simplex_destroy(root);
        free(all);
        mip_free(&m);
    }
    print_message("%d children cut off, %d solved beyond the cutoff\n", cut, missed);
    assert_true(cut > 5 && missed <= cut / 2);
    gpuopt_context_destroy(context);
}

/* Both children of columns: those beyond the cutoff take fewer iterations, the others as many as without it. */
static void cutoffs_against_clp(void **state) {
    gpuopt_context *context = test_context(NULL);
    int model, verdicts = 0;
    (void)state;
    for (model = 0; model < (test_few() ? 2 : 4); model++) {
        mip m = children_cover((uint64_t)model + 1, 20 + 20 * model, 30 + 40 * model);
        gpuopt_simplex_desc desc = children_root_desc(&m, 1);
        gpuopt_simplex *root = simplex_create(context, &desc);
        gpuopt_simplex_children *batch;
        children_report *report, *without;
        children *all;
        double x[200], of_root, cutoff;
        int32_t col[200], count, k, cut = 0, beyond = 0;
        of_root = simplex_iterate(root, 100000).objective;
        count = children_fractional(root, &m, col, x);
        assert_true(count > 3);
        batch = children_batch(root, 2 * count, 3, GPUOPT_ON_PIVOT_LIMIT_REFACTOR);
        all = children_branch(&m, count, col, x);
        report = children_report_new(&m, 2 * count), without = children_report_new(&m, 2 * count);
        must(gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, count, NULL, col, NULL, 1000, &without->r));
        for (cutoff = of_root, k = 0; k < 2 * count; k++) /* half of the largest rise */
            if (without->outcome[k] == GPUOPT_OPTIMAL) cutoff = fmax(cutoff, (of_root + without->objective[k]) / 2);
        must(gpuopt_simplex_set_cutoff(root, cutoff));
        must(gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, count, NULL, col, NULL, 1000, &report->r));
        for (k = 0; k < 2 * count; k++) {
            double objective;
            const gpuopt_outcome outcome = children_by_clp(&m, all, k, &objective);
            const int is_beyond = outcome == GPUOPT_INFEASIBLE || objective > cutoff + 1e-7;
            verdicts |= 1 << report->outcome[k];
            beyond += is_beyond;
            cut += report->outcome[k] == GPUOPT_CUTOFF;
            assert_true(report->iterations[k] <= without->iterations[k]);
            if (report->outcome[k] == GPUOPT_CUTOFF) assert_true(is_beyond || objective > cutoff - 1e-9);
            else
                assert_true(report->outcome[k] == without->outcome[k] &&
                            report->iterations[k] == without->iterations[k]);
            if (report->outcome[k] == GPUOPT_OPTIMAL)
                assert_true(fabs(report->objective[k] - objective) <= 1e-9 * fmax(1, fabs(objective)));
        }
        if (cut < beyond - beyond / 4) fail_msg("model %d: %d of %d are cut off", model, (int)cut, (int)beyond);
        must(gpuopt_simplex_set_cutoff(root, HUGE_VAL));
        must(gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, count, NULL, col, NULL, 1000, &report->r));
        assert_true(children_report_equal(&m, report, without));
        gpuopt_simplex_children_destroy(batch);
        children_report_free(report);
        children_report_free(without);
        gpuopt_simplex_destroy(root);
        free(all);
        mip_free(&m);
    }
    assert_true(verdicts & 1 << GPUOPT_CUTOFF && verdicts & 1 << GPUOPT_OPTIMAL);
    gpuopt_context_destroy(context);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full),
        cmocka_unit_test(refactored_against_rationals),
        cmocka_unit_test(refactored_against_clp),
        cmocka_unit_test(cutoffs_against_rationals),
        cmocka_unit_test(cutoffs_against_clp),
    };
    return test_main(argc, argv, __FILE__, tests, sizeof tests / sizeof *tests);
}
