/* SPDX-License-Identifier: MIT
 *
 * Random linear programs: tiny programs with integer data against all bases in exact arithmetic, medium programs
 * against CLP. Answers are also checked on the model itself. There are all kinds of rows and bounds, degenerate,
 * infeasible and unbounded models, and all variants of the method.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/answer.h"
#include "tests/simplex/brute.h"
#include "tests/simplex/clp.h"
#include "tests/simplex/exact.h"

/* ---- Drawing ---- */

typedef struct recipe {
    int32_t rows, cols, most; /* entries in -most .. most */
    int percent;              /* of the entries that are not 0 */
    int fractions;            /* some data with digits after the point */
    int troubles;             /* how many of 8 intervals may miss the point around which the model is drawn */
    int bounded;              /* the costs are such that there are feasible duals */
    int spread;               /* rows and columns are in units of 10^-spread to 10^spread */
} recipe;

static double draw_number(uint64_t *seed, const recipe *r, int64_t low, int64_t high) {
    double value = (double)test_random_int(seed, low, high);
    return r->fractions && test_random_int(seed, 0, 2) ? value + (double)test_random_int(seed, 1, 999) / 1000 : value;
}

/* kind 0 .. 6: lower only, upper only, both, fixed, free, both at 0, lower at 0; near the value `at`. */
static void draw_interval(uint64_t *seed, const recipe *r, double at, double *low, double *high) {
    int kind = (int)test_random_int(seed, 0, 6);
    double down = draw_number(seed, r, test_random_int(seed, 0, 7) < r->troubles ? -2 : 0, 3);
    double up = draw_number(seed, r, test_random_int(seed, 0, 7) < r->troubles ? -2 : 0, 3);
    if (kind == 5 && (!r->troubles || test_random_int(seed, 0, 1))) kind = 6;
    if (kind == 6 && !r->troubles && at < 0) kind = 0;
    *low = kind == 1 || kind == 4 ? -no_bound : at - down;
    *high = kind == 0 || kind == 4 || kind == 6 ? no_bound : at + up;
    if (kind == 3) *high = *low;
    if (kind == 5) *low = *high = 0;
    if (kind == 6) *low = 0;
    if (*low > *high) *high = *low;
}

/* Of a minimisation: with a sign that the interval pays for. */
static double draw_dual(uint64_t *seed, const recipe *r, double low, double high) {
    double size = draw_number(seed, r, 0, 3);
    if (low > -no_bound && (high >= no_bound || test_random_int(seed, 0, 1))) return size;
    return high < no_bound ? -size : 0;
}

static void make_bounded(uint64_t *seed, const recipe *r, mip *m) {
    int32_t i, j;
    int64_t e;
    for (j = 0; j < r->cols; j++) m->cost[j] = draw_dual(seed, r, m->lb[j], m->ub[j]);
    for (i = 0; i < r->rows; i++) {
        double y = draw_dual(seed, r, m->lhs[i], m->rhs[i]);
        for (j = 0; j < r->cols; j++)
            for (e = m->columns.start[j]; e < m->columns.start[j + 1]; e++)
                if (m->columns.index[e] == i) m->cost[j] += y * m->columns.value[e];
    }
    for (j = 0; m->maximize && j < r->cols; j++) m->cost[j] = -m->cost[j];
}

static double times(double value, double factor) { return fabs(value) < no_bound ? value * factor : value; }

static void change_units(uint64_t *seed, int spread, mip *m) {
    double *val = (double *)m->columns.value;
    int32_t i, j;
    int64_t e;
    for (j = 0; j < m->columns.cols; j++) {
        double unit = pow(10, (double)test_random_int(seed, -spread, spread));
        for (e = m->columns.start[j]; e < m->columns.start[j + 1]; e++) val[e] *= unit;
        m->cost[j] *= unit;
        m->lb[j] = times(m->lb[j], 1 / unit);
        m->ub[j] = times(m->ub[j], 1 / unit);
    }
    for (i = 0; i < m->columns.rows; i++) {
        double unit = pow(10, (double)test_random_int(seed, -spread, spread));
        for (e = 0; e < m->columns.start[m->columns.cols]; e++)
            if (m->columns.index[e] == i) val[e] *= unit;
        m->lhs[i] = times(m->lhs[i], unit);
        m->rhs[i] = times(m->rhs[i], unit);
    }
}

/* The rows are built around a random point, so that many models are feasible; integers make many of them degenerate. */
static mip draw(uint64_t *seed, const recipe *r) {
    size_t entries = (size_t)r->rows * (size_t)r->cols + 1;
    double *a = calloc(entries, sizeof *a), *vector = calloc(6 * (size_t)(r->rows + r->cols + 1), sizeof *vector);
    double *cost = vector, *lb = cost + r->cols, *ub = lb + r->cols, *point = ub + r->cols, *lhs = point + r->cols;
    double *rhs = lhs + r->rows;
    int32_t i, j;
    mip m;
    for (j = 0; j < r->cols; j++) {
        cost[j] = draw_number(seed, r, -r->most, r->most);
        point[j] = draw_number(seed, r, -2, 2);
        draw_interval(seed, r, point[j], &lb[j], &ub[j]);
    }
    for (i = 0; i < r->rows; i++) {
        double at = 0;
        for (j = 0; j < r->cols; j++) {
            if (test_random_int(seed, 0, 99) >= r->percent) continue;
            a[(size_t)i * (size_t)r->cols + (size_t)j] = draw_number(seed, r, -r->most, r->most);
            at += a[(size_t)i * (size_t)r->cols + (size_t)j] * point[j];
        }
        draw_interval(seed, r, at, &lhs[i], &rhs[i]);
    }
    m = model_of(r->rows, r->cols, a, cost, lhs, rhs, lb, ub);
    m.maximize = (int)test_random_int(seed, 0, 1);
    m.offset = draw_number(seed, r, -5, 5);
    if (r->bounded) make_bounded(seed, r, &m);
    if (r->spread) change_units(seed, r->spread, &m);
    free(a);
    free(vector);
    return m;
}

static void draw_options(uint64_t *seed, gpuopt_simplex_desc *desc, gpuopt_simplex_rules *rules) {
    variant_set(desc, (int)test_random_int(seed, 0, VARIANTS - 1));
    *rules = rules_of(desc);
    desc->rules = rules;
    if (test_random_int(seed, 0, 3) == 0) rules->scaling = GPUOPT_OFF;
    if (test_random_int(seed, 0, 3) == 0) rules->perturbation = GPUOPT_OFF;
    if (test_random_int(seed, 0, 3) == 0) rules->rebuild_pivots = (int32_t)test_random_int(seed, 1, 5);
    if (test_random_int(seed, 0, 3) == 0) rules->deferred_pivots = (int32_t)test_random_int(seed, 1, 5);
    rules->seed = (uint64_t)test_random_int(seed, 0, 1000);
}

/* ---- Oracles ---- */

static mip draw_tiny(uint64_t *seed) {
    recipe r = {0, 0, 3, 70, 0, 1, 0, 0};
    r.rows = (int32_t)test_random_int(seed, 0, BRUTE_MOST);
    r.cols = (int32_t)test_random_int(seed, 0, BRUTE_MOST);
    return draw(seed, &r);
}

static void tiny_models_against_all_bases(void **state) {
    int models = test_times(40000, 1000), k, count[GPUOPT_IMPRECISE + 1] = {0};
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 1;
    (void)state;
    for (k = 0; k < models; k++) {
        mip m = draw_tiny(&seed);
        brute_answer expected = brute_solve(&m);
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex_rules rules;
        char name[32];
        snprintf(name, sizeof name, "model %d", k);
        draw_options(&seed, &desc, &rules);
        answer_expect(context, &desc, &m, name, expected.outcome, expected.objective, 1e-9);
        count[expected.outcome]++;
        mip_free(&m);
    }
    print_message("%d optimal, %d infeasible, %d unbounded\n", count[GPUOPT_OPTIMAL], count[GPUOPT_INFEASIBLE],
                  count[GPUOPT_UNBOUNDED]);
    assert_true(count[GPUOPT_OPTIMAL] > models / 4 && count[GPUOPT_INFEASIBLE] > models / 20);
    assert_true(count[GPUOPT_UNBOUNDED] > models / 20);
    gpuopt_context_destroy(context);
}

static void every_way_to_run(void **state) {
    enum { MODELS = 400 };
    int models = test_times(MODELS, 8), k, variant;
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 77;
    (void)state;
    for (k = 0; k < models; k++) {
        mip m = draw_tiny(&seed);
        brute_answer expected = brute_solve(&m);
        for (variant = 0; variant < VARIANTS; variant++) {
            gpuopt_simplex_desc desc = tableau_desc(&m);
            variant_set(&desc, variant);
            answer_expect(context, &desc, &m, "tiny", expected.outcome, expected.objective, 1e-9);
        }
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* Infeasible and unbounded outcomes are checked by their proofs, optima against CLP's. */
static void medium_models_against_clp(void **state) {
    int models = test_times(10000, 150), k, count[GPUOPT_IMPRECISE + 1] = {0}, differ = 0;
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 4000017;
    (void)state;
    for (k = 0; k < models; k++) {
        recipe r = {0, 0, 9, 0, 0, 0, 0, 0};
        double objective;
        gpuopt_simplex_desc desc;
        gpuopt_simplex_rules rules;
        gpuopt_outcome expected;
        answer a;
        mip m;
        const char *fault;
        r.rows = (int32_t)test_random_int(&seed, 1, 40);
        r.cols = (int32_t)test_random_int(&seed, 1, 80);
        r.percent = (int)test_random_int(&seed, 1, 60);
        r.fractions = k % 2;
        r.troubles = k % 5 == 0;
        r.bounded = k % 3 != 0;
        r.spread = k % 7 == 0 ? 2 : 0;
        m = draw(&seed, &r);
        desc = tableau_desc(&m);
        draw_options(&seed, &desc, &rules);
        if (r.spread) rules.scaling = GPUOPT_DEFAULT;
        expected = clp_solve(&m, &objective);
        a = answer_after(context, &desc, &m, 1000000);
        fault = answer_fault(&m, &a, 1e-9);
        if (fault) fail_msg("model %d, %s: %s", k, variant_name(&desc), fault);
        if (a.info.outcome != expected && expected == GPUOPT_OPTIMAL) /* CLP goes by tolerances */
            expected = exact_solve(&m, a.basis).outcome;
        if (a.info.outcome == GPUOPT_MORE || (a.info.outcome != expected && expected == GPUOPT_OPTIMAL) ||
            (a.info.outcome != expected && a.info.outcome == GPUOPT_OPTIMAL))
            fail_msg("model %d, %s: %s, CLP: %s", k, variant_name(&desc), gpuopt_outcome_string(a.info.outcome),
                     gpuopt_outcome_string(expected));
        if (expected == GPUOPT_OPTIMAL && fabs(a.info.objective - objective) > 1e-7 * fmax(1, fabs(objective)))
            fail_msg("model %d, %s: objective %.17g, CLP: %.17g", k, variant_name(&desc), a.info.objective, objective);
        differ += a.info.outcome != expected;
        count[a.info.outcome]++;
        answer_free(&a);
        mip_free(&m);
    }
    print_message("%d optimal, %d infeasible, %d unbounded; CLP calls %d by another name\n", count[GPUOPT_OPTIMAL],
                  count[GPUOPT_INFEASIBLE], count[GPUOPT_UNBOUNDED], differ);
    assert_true(count[GPUOPT_OPTIMAL] > models / 4 && count[GPUOPT_INFEASIBLE] > models / 20);
    assert_true(count[GPUOPT_UNBOUNDED] > models / 20);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(tiny_models_against_all_bases),
    cmocka_unit_test(every_way_to_run),
    cmocka_unit_test(medium_models_against_clp),
};
TEST_MAIN(tests)
