/* SPDX-License-Identifier: MIT
 *
 * Children of one basis, solved as a batch: against the simplex method in exact rationals, against single handles, and
 * against CLP. On the CPU each child does the pivots of a single handle, up to an optimum within the tolerances.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/changes.h"
#include "tests/simplex/children.h"
#include "tests/simplex/clp.h"
#include "tests/simplex/exact.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

/* ---- Against rationals ---- */

enum { EACH = 12 };

/* Any model, root and changes. On the GPU a child may be IMPRECISE where only the primal method could go on. */
static void any_against_rationals(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 77;
    int model, verdicts = 0, all_children = 0, imprecise = 0;
    (void)state;
    for (model = 0; model < test_times(300, 60); model++) {
        mip m = changes_model(&seed, (int32_t)test_random_int(&seed, 1, 8), (int32_t)test_random_int(&seed, 1, 8));
        gpuopt_simplex_desc desc = children_root_desc(&m, model);
        gpuopt_simplex *root = simplex_create(context, &desc);
        children *all = children_draw(&seed, &m, EACH, 1 + model % 7);
        children_report *report = children_report_new(&m, EACH);
        gpuopt_simplex_children *batch = children_batch(root, EACH, 0, GPUOPT_ON_PIVOT_LIMIT_END);
        const int64_t few = test_random_int(&seed, 0, 5);
        int32_t k;
        if (few > 0) simplex_iterate(root, few < 4 ? few : 100000);
        must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 1000, &report->r));
        for (k = 0; k < EACH; k++) {
            const char *fault = children_fault(&m, all, report, k, &verdicts);
            if (fault) fail_msg("model %d, child %d: %s", model, (int)k, fault);
            all_children++;
            imprecise += report->outcome[k] != GPUOPT_OPTIMAL && report->outcome[k] != GPUOPT_INFEASIBLE &&
                         report->outcome[k] != GPUOPT_UNBOUNDED;
        }
        gpuopt_simplex_children_destroy(batch);
        children_report_free(report);
        gpuopt_simplex_destroy(root);
        free(all);
        mip_free(&m);
    }
    assert_true(verdicts & 1 << GPUOPT_OPTIMAL && verdicts & 1 << GPUOPT_INFEASIBLE);
    print_message("%d of %d children without a verdict\n", imprecise, all_children);
    if (!test_on("cuda")) assert_int_equal(imprecise, 0);
    gpuopt_context_destroy(context);
}

/* A model with finite bounds, from its optimum: every child gets a verdict. After a few pivots its bound holds, and it
 * goes on from there as the basis requires. */
static void boxed_against_rationals(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 5;
    int model, verdicts = 0, cut_short = 0;
    (void)state;
    for (model = 0; model < test_times(150, 80); model++) {
        mip m = changes_model(&seed, (int32_t)test_random_int(&seed, 2, 8), (int32_t)test_random_int(&seed, 2, 8));
        gpuopt_simplex_desc desc;
        gpuopt_simplex *root;
        gpuopt_simplex_children *batch;
        children *all;
        children_report *report = children_report_new(&m, EACH);
        int32_t k;
        for (k = 0; k < m.columns.cols; k++) m.lb[k] = fmax(m.lb[k], -20), m.ub[k] = fmin(m.ub[k], 30);
        desc = children_root_desc(&m, model);
        root = simplex_create(context, &desc);
        simplex_iterate(root, 100000);
        batch = children_batch(root, EACH, 0, GPUOPT_ON_PIVOT_LIMIT_END);
        all = children_draw(&seed, &m, EACH, CHILDREN_SIDES);
        must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 1000, &report->r));
        for (k = 0; k < EACH; k++) {
            const char *fault = children_fault(&m, all, report, k, &verdicts);
            if (!fault && report->outcome[k] != GPUOPT_OPTIMAL && report->outcome[k] != GPUOPT_INFEASIBLE)
                fault = "no verdict";
            if (fault) fail_msg("model %d, child %d: %s", model, (int)k, fault);
        }
        must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 1 + model % 3, &report->r));
        for (k = 0; k < EACH; k++) {
            const char *fault = children_fault(&m, all, report, k, &verdicts);
            if (!fault && report->iterations[k] > 1 + model % 3) fault = "too many iterations";
            if (fault) fail_msg("model %d, child %d, cut short: %s", model, (int)k, fault);
            cut_short += report->outcome[k] == GPUOPT_MORE;
        }
        gpuopt_simplex_children_destroy(batch);
        children_report_free(report);
        gpuopt_simplex_destroy(root);
        free(all);
        mip_free(&m);
    }
    assert_true(cut_short > 0);
    gpuopt_context_destroy(context);
}

/* ---- Against single handles ---- */

/* A new handle that has gone the root's way, with the changes of child k. A child ends with the first optimum within
 * the tolerances, which the handle goes on to refine; else both are the same to the bit. */
static void check_single(gpuopt_context *context, const gpuopt_simplex_desc *desc, const mip *m, const children *all,
                         const children_report *r, int32_t k, int64_t iterations) {
    const size_t both = (size_t)m->columns.rows + (size_t)m->columns.cols;
    gpuopt_simplex_desc own = *desc;
    gpuopt_simplex *single;
    gpuopt_simplex_info before, after;
    double bound;
    answer a;
    int same;
    if (all->start[0][k] == all->start[0][k + 1] && all->start[1][k] == all->start[1][k + 1] &&
        all->start[2][k] == all->start[2][k + 1])
        return; /* the single handle keeps its verdict */
    single = simplex_create(context, &own);
    before = simplex_iterate(single, 100000);
    children_set(all, k, single);
    after = simplex_iterate(single, iterations);
    a = answer_get(single, m);
    must(gpuopt_simplex_get_bound(single, &bound));
    if (r->outcome[k] == GPUOPT_OPTIMAL) {
        children_agree_with_clp(m, all, r, k);
        same = r->iterations[k] <= after.iterations - before.iterations &&
               (after.outcome == GPUOPT_MORE ||
                (after.outcome == GPUOPT_OPTIMAL &&
                 fabs(r->objective[k] - after.objective) <= 1e-9 * fmax(1, fabs(after.objective))));
    } else
        same = r->outcome[k] == (int32_t)after.outcome && r->iterations[k] == after.iterations - before.iterations &&
               !memcmp(&r->objective[k], &after.objective, sizeof(double)) &&
               !memcmp(&r->bound[k], &bound, sizeof bound) && !memcmp(r->basis + (size_t)k * both, a.basis, both);
    if (!same)
        fail_msg("child %d: %s, %d iterations, %.17g, bound %.17g; alone %s, %d, %.17g, bound %.17g", (int)k,
                 gpuopt_outcome_string((gpuopt_outcome)r->outcome[k]), (int)r->iterations[k], r->objective[k],
                 r->bound[k], gpuopt_outcome_string(after.outcome), (int)(after.iterations - before.iterations),
                 after.objective, bound);
    if (after.outcome == GPUOPT_INFEASIBLE && m->columns.rows > 0)
        assert_memory_equal(r->farkas + (size_t)k * (size_t)m->columns.rows, a.farkas,
                            sizeof(double) * (size_t)m->columns.rows);
    answer_free(&a);
    gpuopt_simplex_destroy(single);
}

/* The root has iterated with the dual method, or all its pivots are applied: else the weights are begun at another
 * time. */
static void as_single_handles(void **state) {
    static const char *const models[] = {"shah:40:1", "plant:30:60:0.2:2", "meyer:30:100:0.1:1", "plant:50:30:0.3:7"};
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 9;
    int way;
    (void)state;
    for (way = 0; way < 48 && !test_on("cuda"); way++) {
        mip m = model_load(models[way % 4]);
        gpuopt_simplex_desc desc = children_root_desc(&m, way);
        gpuopt_simplex_rules rules;
        gpuopt_simplex *root;
        gpuopt_simplex_children *batch;
        children *all = children_draw(&seed, &m, EACH, 1 + way % 7);
        children_report *report = children_report_new(&m, EACH);
        int64_t iterations = way % 5 == 0 ? 3 : 1000;
        int32_t k;
        desc.algorithm = way & 1 ? GPUOPT_ALGORITHM_AUTO : GPUOPT_ALGORITHM_DUAL;
        rules = rules_of(&desc);
        desc.rules = &rules;
        rules.deferred_pivots = way % 3 == 0 ? 1 : way % 3 == 1 ? 3 : 0;
        if (way & 1) rules.deferred_pivots = 1;
        root = simplex_create(context, &desc);
        simplex_iterate(root, 100000);
        batch = children_batch(root, EACH, 0, GPUOPT_ON_PIVOT_LIMIT_END);
        must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, iterations, &report->r));
        if (way % 2) must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, iterations, &report->r));
        for (k = 0; k < EACH; k++) check_single(context, &desc, &m, all, report, k, iterations);
        gpuopt_simplex_children_destroy(batch);
        children_report_free(report);
        gpuopt_simplex_destroy(root);
        free(all);
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* ---- Strong branching, against CLP ---- */

static void branching_against_clp(void **state) {
    gpuopt_context *context = test_context(NULL);
    int model, verdicts = 0, settled = 0, total = 0;
    (void)state;
    for (model = 0; model < (test_few() ? 2 : 4); model++) {
        mip m = children_cover((uint64_t)model + 1, 20 + 20 * model, 30 + 40 * model);
        gpuopt_simplex_desc desc = children_root_desc(&m, 1);
        gpuopt_simplex *root;
        gpuopt_simplex_children *batch;
        children *all;
        children_report *report, *again;
        double x[200];
        int32_t col[200], count, k;
        root = simplex_create(context, &desc);
        assert_int_equal(simplex_iterate(root, 100000).outcome, GPUOPT_OPTIMAL);
        count = children_fractional(root, &m, col, x);
        if (count <= 3) fail_msg("model %d: %d fractional columns", model, (int)count);
        all = children_branch(&m, count, col, x);
        report = children_report_new(&m, 2 * count);
        again = children_report_new(&m, 2 * count);
        batch = children_batch(root, 2 * count, 0, GPUOPT_ON_PIVOT_LIMIT_END);
        must(gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, count, NULL, col, NULL, 1000, &report->r));
        must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 1000, &again->r));
        assert_true(children_report_equal(&m, report, again));
        for (k = 0; k < 2 * count; k++) {
            double objective;
            const gpuopt_outcome outcome = children_by_clp(&m, all, k, &objective);
            verdicts |= 1 << report->outcome[k];
            total++;
            if (report->outcome[k] == GPUOPT_IMPRECISE && test_on("cuda")) continue;
            settled++;
            if (report->outcome[k] != (int32_t)outcome) fail_msg("model %d, child %d: another outcome", model, (int)k);
            if (outcome != GPUOPT_OPTIMAL) continue;
            if (!(fabs(report->objective[k] - objective) <= 1e-9 * fmax(1, fabs(objective))))
                fail_msg("model %d, child %d: %.17g, and CLP %.17g", model, (int)k, report->objective[k], objective);
            assert_true(fabs(report->bound[k] - objective) <= 1e-8 * fmax(1, fabs(objective)));
        }
        gpuopt_simplex_children_destroy(batch);
        children_report_free(report);
        children_report_free(again);
        gpuopt_simplex_destroy(root);
        free(all);
        mip_free(&m);
    }
    assert_true(settled >= total * 9 / 10);
    assert_true(verdicts & 1 << GPUOPT_OPTIMAL);
    gpuopt_context_destroy(context);
}

/* ---- Long steps ---- */

enum { ITEMS = 300 };

/* Column j gives weight[j] at cost[j], at most most[j] times: the least cost of so much weight in all. The column with
 * the least cost of a unit of weight comes first (Dantzig 1957). */
static double cheapest(const double *weight, const double *cost, const double *most, double needed) {
    uint8_t taken[ITEMS] = {0};
    double sum = 0;
    while (needed > 0) {
        double x;
        int j, first = -1;
        for (j = 0; j < ITEMS; j++)
            if (!taken[j] && (first < 0 || cost[j] * weight[first] < cost[first] * weight[j])) first = j;
        taken[first] = 1;
        x = fmin(most[first], needed / weight[first]);
        sum += cost[first] * x;
        needed -= weight[first] * x;
    }
    return sum;
}

/* One row, and the ratio test passes up to hundreds of break points at once: way 0, all of them different; 1, at three
 * steps; 2, at one step; 3, over many orders of magnitude. */
static void long_steps(void **state) {
    enum { ASKED = 24 };
    gpuopt_context *context = test_context(NULL);
    int way;
    (void)state;
    for (way = 0; way < 4; way++) {
        double weight[ITEMS], cost[ITEMS], most[ITEMS], none = 0, total = 0, lhs[ASKED], rhs[ASKED];
        int32_t row[ASKED] = {0}, j, k, iterations = 0;
        int64_t start[ASKED + 1];
        uint64_t seed = 4;
        mip m;
        gpuopt_simplex_desc desc;
        gpuopt_simplex *root;
        gpuopt_simplex_children *batch;
        children_report *report;
        gpuopt_simplex_child_list asked = GPUOPT_INIT(gpuopt_simplex_child_list);
        for (j = 0; j < ITEMS; j++) {
            const double random = (double)test_random_int(&seed, 1, 100000);
            weight[j] = (double)test_random_int(&seed, 1, 50);
            most[j] = (double)test_random_int(&seed, 1, 3);
            cost[j] = way == 0 ? random : weight[j] * (way == 1 ? 1 + j % 3 : way == 2 ? 1 : ldexp(random, -j % 40));
            total += weight[j] * most[j];
        }
        m = model_of(1, ITEMS, weight, cost, &none, NULL, NULL, most);
        desc = children_root_desc(&m, 1);
        root = simplex_create(context, &desc);
        simplex_iterate(root, 1000);
        for (k = 0; k < ASKED; k++) {
            lhs[k] = k == ASKED - 1 ? total + 1 : total * (k + 1) / ASKED - 0.375;
            rhs[k] = HUGE_VAL;
            start[k] = k;
        }
        start[ASKED] = ASKED;
        asked.count = ASKED;
        asked.side_start = start;
        asked.row = row;
        asked.lhs = lhs;
        asked.rhs = rhs;
        report = children_report_new(&m, ASKED);
        batch = children_batch(root, ASKED, 0, GPUOPT_ON_PIVOT_LIMIT_END);
        must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &asked, 1000, &report->r));
        for (k = 0; k < ASKED - 1; k++) {
            const double least = cheapest(weight, cost, most, lhs[k]);
            assert_int_equal(report->outcome[k], GPUOPT_OPTIMAL);
            if (!(fabs(report->objective[k] - least) <= 1e-9 * least))
                fail_msg("way %d, child %d: %.17g, not %.17g", way, (int)k, report->objective[k], least);
            iterations = report->iterations[k] > iterations ? report->iterations[k] : iterations;
        }
        assert_int_equal(report->outcome[ASKED - 1], GPUOPT_INFEASIBLE);
        if (iterations > (way % 3 == 0 ? 1 : 60)) fail_msg("way %d: %d iterations", way, (int)iterations);
        gpuopt_simplex_children_destroy(batch);
        children_report_free(report);
        gpuopt_simplex_destroy(root);
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* ---- Many and few ---- */

/* A child does not depend on what is run beside it, nor on how many there are; a root that changes in between counts as
 * it is when it runs. */
static void many_and_few(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 15;
    mip m = model_load("plant:20:40:0.3:2"), changed;
    const int32_t most = test_few() ? 40 : CHILDREN_MOST;
    gpuopt_simplex_desc desc = children_root_desc(&m, 1);
    gpuopt_simplex *root = simplex_create(context, &desc), *other;
    gpuopt_simplex_children *batch, *of_other;
    children *all = children_draw(&seed, &m, most, 7);
    children_report *report = children_report_new(&m, most), *one = children_report_new(&m, 1);
    const size_t rows = (size_t)m.columns.rows, cols = (size_t)m.columns.cols;
    double half;
    int32_t k, j = 0;
    (void)state;
    simplex_iterate(root, 100000);
    batch = children_batch(root, most, 0, GPUOPT_ON_PIVOT_LIMIT_END);
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 1000, &report->r));
    for (k = 0; k < most; k += 7) {
        children *single = calloc(1, sizeof *single);
        int kind;
        single->c = all->c;
        single->c.count = 1;
        for (kind = 0; kind < 3; kind++) single->start[kind][1] = all->start[kind][k + 1] - all->start[kind][k];
        single->c.start = single->start[0], single->c.side_start = single->start[1];
        single->c.cost_start = single->start[2];
        single->c.col += all->start[0][k], single->c.lb += all->start[0][k], single->c.ub += all->start[0][k];
        single->c.row += all->start[1][k], single->c.lhs += all->start[1][k], single->c.rhs += all->start[1][k];
        single->c.cost_col += all->start[2][k], single->c.cost += all->start[2][k];
        must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &single->c, 1000, &one->r));
        assert_int_equal(one->outcome[0], report->outcome[k]);
        assert_int_equal(one->iterations[0], report->iterations[k]);
        assert_memory_equal(one->objective, &report->objective[k], sizeof(double));
        assert_memory_equal(one->bound, &report->bound[k], sizeof(double));
        assert_memory_equal(one->basis, report->basis + (size_t)k * (rows + cols), rows + cols);
        free(single);
    }
    /* None at all, and those without a change: the root's verdict. */
    all->c.count = 0;
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 1000, &report->r));
    all->c.count = 1;
    all->c.start = all->c.side_start = all->c.cost_start = NULL;
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 1000, &one->r));
    assert_int_equal(one->outcome[0], GPUOPT_OPTIMAL);
    assert_true(fabs(one->objective[0] - simplex_info(root).objective) <= 1e-12 * fabs(one->objective[0]));
    /* The root gets another bound. */
    half = 0.25;
    changed = children_copy(&m);
    changed.ub[j] = half;
    must(gpuopt_simplex_set_bounds(root, GPUOPT_HOST, 1, &j, NULL, &half));
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 1000, &one->r));
    assert_int_equal(one->outcome[0], clp_solve(&changed, &half));
    assert_true(fabs(one->objective[0] - half) <= 1e-9 * fmax(1, fabs(half)));
    simplex_iterate(root, 100000);
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 1000, &one->r));
    assert_true(fabs(one->objective[0] - half) <= 1e-9 * fmax(1, fabs(half)));
    assert_int_equal(one->iterations[0], 0);
    /* Two batches over one root, and a batch over another handle, do not mind each other. */
    other = simplex_create(context, &desc);
    of_other = children_batch(other, 3, 0, GPUOPT_ON_PIVOT_LIMIT_END);
    must(gpuopt_simplex_children_run(of_other, GPUOPT_HOST, &all->c, 1000, &one->r));
    gpuopt_simplex_children_destroy(of_other);
    gpuopt_simplex_destroy(other);
    gpuopt_simplex_children_destroy(batch);
    children_report_free(report);
    children_report_free(one);
    gpuopt_simplex_destroy(root);
    children_free(&changed);
    free(all);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* min -x - y, x + y <= 2.5, 0 <= x, y <= 2: the optimum is an edge, of which a caller may know another end than the
 * root. Rounding of a bound, as -1e-17, is no value to branch at. */
static void branching_at_own_values(void **state) {
    static const double a[] = {1, 1}, cost[] = {-1, -1}, rhs[] = {2.5}, ub[] = {2, 2};
    static const int32_t col[] = {0, 0, 1, 0}, bad_col[] = {0};
    static const double value[] = {0.5, -1e-17, 1.7, 1 - 1e-9}, bad_value[] = {NAN};
    static const double expected[] = {-2, -2.5, -2.5, -2.5, -2.5, -2.5, -2.5, -2.5};
    gpuopt_context *context = test_context(NULL);
    mip m = model_of(1, 2, a, cost, NULL, rhs, NULL, ub);
    gpuopt_simplex_desc desc = children_root_desc(&m, 1);
    gpuopt_simplex *root = simplex_create(context, &desc);
    gpuopt_simplex_children *batch;
    children_report *report = children_report_new(&m, 8);
    int k;
    (void)state;
    assert_int_equal(simplex_iterate(root, 100).outcome, GPUOPT_OPTIMAL);
    batch = children_batch(root, 8, 0, GPUOPT_ON_PIVOT_LIMIT_END);
    must(gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, 4, NULL, col, value, 100, &report->r));
    for (k = 0; k < 8; k++) {
        assert_int_equal(report->outcome[k], GPUOPT_OPTIMAL);
        assert_true(fabs(report->objective[k] - expected[k]) <= 1e-9);
    }
    assert_int_equal(
        gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, 1, NULL, bad_col, bad_value, 100, &report->r),
        GPUOPT_ERROR_ARGUMENT);
    gpuopt_simplex_children_destroy(batch);
    children_report_free(report);
    gpuopt_simplex_destroy(root);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_against_rationals),
        cmocka_unit_test(boxed_against_rationals),
        cmocka_unit_test(as_single_handles),
        cmocka_unit_test(branching_against_clp),
        cmocka_unit_test(branching_at_own_values),
        cmocka_unit_test(long_steps),
        cmocka_unit_test(many_and_few),
    };
    return test_main(argc, argv, __FILE__, tests, sizeof tests / sizeof *tests);
}
