/* SPDX-License-Identifier: MIT
 *
 * Children of several bases in one call: against batches over one handle for each of them (on the CPU to the bit), and
 * against the simplex method in exact rationals.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/changes.h"
#include "tests/simplex/children_roots.h"

/* The children whose root is that one; *which [EACH]: their numbers. */
static children *children_of(const children *all, const int32_t *root, int32_t wanted, int32_t *which) {
    children *some = children_new(EACH);
    int32_t k, kind, count = 0;
    for (k = 0; k < COUNT; k++)
        if (root[k] == wanted) which[count++] = k;
    for (kind = 0; kind < 3; kind++) {
        int64_t at = 0, e;
        for (k = 0; k < count; k++) {
            some->start[kind][k] = at;
            for (e = all->start[kind][which[k]]; e < all->start[kind][which[k] + 1]; e++, at++) {
                some->index[kind][at] = all->index[kind][e];
                some->low[kind][at] = all->low[kind][e];
                if (kind < 2) some->high[kind][at] = all->high[kind][e];
            }
        }
        some->start[kind][count] = at;
    }
    assert_int_equal(count, EACH);
    return some;
}

/* ---- Against batches of one root ---- */

/* Fails unless child k of `all` is as child n of a batch over its root alone. */
static int compared, left_open; /* on the GPU: children with a verdict on both sides, and others */
static void check_same(const mip *m, const children_report *r, int32_t k, const children_report *alone, int32_t n) {
    const size_t rows = (size_t)m->columns.rows, cols = (size_t)m->columns.cols, a = (size_t)k, b = (size_t)n;
    const double objective = r->objective[k], expected = alone->objective[n];
    int same = r->outcome[k] == alone->outcome[n];
    if (test_on("cuda")) {
        if (r->outcome[k] == GPUOPT_IMPRECISE || alone->outcome[n] == GPUOPT_IMPRECISE) {
            left_open++;
            return;
        }
        compared++;
        if (same && r->outcome[k] == GPUOPT_OPTIMAL)
            /* A bound charges each reduced cost's rounding with the range of its column. Pivots in another order
             * round differently, so bounds agree up to a part of what is charged. */
            same = fabs(objective - expected) <= 1e-9 * fmax(1, fabs(expected)) &&
                   fabs(r->bound[k] - alone->bound[n]) <=
                       1e-6 * fmax(1, fabs(alone->bound[n])) + 0.5 * fabs(expected - alone->bound[n]);
    } else
        same = same && r->iterations[k] == alone->iterations[n] && !memcmp(&objective, &expected, sizeof expected) &&
               !memcmp(&r->bound[k], &alone->bound[n], sizeof(double)) &&
               !memcmp(r->basis + a * (rows + cols), alone->basis + b * (rows + cols), rows + cols) &&
               !memcmp(r->x + a * cols, alone->x + b * cols, sizeof(double) * cols) &&
               !memcmp(r->farkas + a * rows, alone->farkas + b * rows, sizeof(double) * rows);
    if (!same)
        fail_msg("child %d: %s, %d iterations, %.17g, bound %.17g; alone %s, %d, %.17g, bound %.17g", (int)k,
                 gpuopt_outcome_string((gpuopt_outcome)r->outcome[k]), (int)r->iterations[k], objective, r->bound[k],
                 gpuopt_outcome_string((gpuopt_outcome)alone->outcome[n]), (int)alone->iterations[n], expected,
                 alone->bound[n]);
}

static void as_batches_alone(void **state) {
    static const char *const models[] = {"shah:40:1", "plant:30:60:0.2:2", "meyer:30:100:0.1:1", "plant:50:30:0.3:7"};
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 19;
    int way;
    (void)state;
    for (way = 0; way < (test_few() ? 5 : test_times(48, 80)); way++) {
        mip m = model_load(models[way % 4]);
        gpuopt_simplex_desc desc = children_root_desc(&m, way);
        const gpuopt_simplex_on_pivot_limit when_full =
            way % 3 == 2 ? GPUOPT_ON_PIVOT_LIMIT_REFACTOR : GPUOPT_ON_PIVOT_LIMIT_END;
        const int32_t pivots = way % 3 == 2 ? 4 : 0;
        const int64_t iterations = way % 5 == 4 ? 3 : 1000;
        roots *r = roots_draw(context, &desc, &seed, &m, CHILDREN_BOUNDS | (way % 2 ? CHILDREN_SIDES : 0));
        children *all = children_draw(&seed, &m, COUNT, 1 + way % 7);
        children_report *report = children_report_new(&m, COUNT), *alone = children_report_new(&m, EACH);
        gpuopt_simplex *handle = simplex_create(context, &desc);
        gpuopt_simplex_children *batch;
        int32_t root[COUNT], which[EACH], k, n;
        for (k = 0; k < COUNT; k++) root[k] = (k * 5 + way) % (ROOTS + 1) - 1;
        all->c.root = root;
        batch = roots_batch(handle, pivots, when_full);
        if (way % 4 < 2) simplex_iterate(handle, way % 4 ? 4 : 100000);
        must(gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &r->list));
        if (way % 4 == 3) simplex_iterate(handle, 100000); /* which moves no root */
        must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, iterations, &report->r));
        for (n = 0; n < ROOTS; n++) {
            gpuopt_simplex *single = roots_alone(context, &desc, r, n);
            gpuopt_simplex_children *of_one = children_batch(single, EACH, pivots, when_full);
            children *some = children_of(all, root, n, which);
            must(gpuopt_simplex_children_run(of_one, GPUOPT_HOST, &some->c, iterations, &alone->r));
            for (k = 0; k < EACH; k++) check_same(&m, report, which[k], alone, k);
            gpuopt_simplex_children_destroy(of_one);
            gpuopt_simplex_destroy(single);
            free(some);
        }
        { /* and the handle's */
            children *some = children_of(all, root, -1, which);
            gpuopt_simplex_children *of_one = children_batch(handle, EACH, pivots, when_full);
            must(gpuopt_simplex_children_run(of_one, GPUOPT_HOST, &some->c, iterations, &alone->r));
            for (k = 0; k < EACH; k++) check_same(&m, report, which[k], alone, k);
            gpuopt_simplex_children_destroy(of_one);
            free(some);
        }
        gpuopt_simplex_children_destroy(batch);
        gpuopt_simplex_destroy(handle);
        children_report_free(report);
        children_report_free(alone);
        free(all);
        roots_free(r);
        mip_free(&m);
    }
    print_message("%d children compared on the GPU, %d left open\n", compared, left_open);
    assert_true(left_open <= compared);
    gpuopt_context_destroy(context);
}

/* ---- Against rationals ---- */

/* Any roots and children; then with other costs and a cutoff of the handle, which hold for children of all roots. */
static void any_against_rationals(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 31;
    int model, verdicts = 0, all_children = 0, imprecise = 0;
    (void)state;
    for (model = 0; model < test_times(100, 120); model++) {
        mip m = changes_model(&seed, (int32_t)test_random_int(&seed, 1, 8), (int32_t)test_random_int(&seed, 1, 8));
        gpuopt_simplex_desc desc = children_root_desc(&m, model);
        roots *r = roots_draw(context, &desc, &seed, &m, 1 + model % 3);
        children *all = children_draw(&seed, &m, COUNT, 1 + model % 7);
        children_report *report = children_report_new(&m, COUNT);
        gpuopt_simplex *handle = simplex_create(context, &desc);
        gpuopt_simplex_children *batch = roots_batch(handle, 1 + model % 4, GPUOPT_ON_PIVOT_LIMIT_REFACTOR);
        const double sign = m.maximize ? -1 : 1, cost = 3;
        const int32_t col = 0;
        int32_t root[COUNT], k, run;
        for (k = 0; k < COUNT; k++) root[k] = (int32_t)test_random_int(&seed, -1, ROOTS - 1);
        all->c.root = root;
        if (model % 3) simplex_iterate(handle, 100000);
        must(gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &r->list));
        for (run = 0; run < 2; run++) {
            if (run == 1) {
                must(gpuopt_simplex_set_costs(handle, GPUOPT_HOST, 1, &col, &cost));
                for (k = 0; k <= ROOTS; k++) r->m[k].cost[0] = cost;
                report->cutoff = sign * 5;
                must(gpuopt_simplex_set_cutoff(handle, report->cutoff));
            }
            must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 1000, &report->r));
            for (k = 0; k < COUNT; k++) {
                const char *fault = children_fault(&r->m[root[k] < 0 ? ROOTS : root[k]], all, report, k, &verdicts);
                if (fault) fail_msg("model %d, run %d, child %d: %s", model, (int)run, (int)k, fault);
                all_children++;
                imprecise += !children_is_verdict(report->outcome[k]) && report->outcome[k] != GPUOPT_CUTOFF;
            }
        }
        gpuopt_simplex_children_destroy(batch);
        gpuopt_simplex_destroy(handle);
        children_report_free(report);
        free(all);
        roots_free(r);
        mip_free(&m);
    }
    assert_true(verdicts & 1 << GPUOPT_OPTIMAL && verdicts & 1 << GPUOPT_INFEASIBLE && verdicts & 1 << GPUOPT_CUTOFF);
    print_message("%d of %d children without a verdict\n", imprecise, all_children);
    if (!test_on("cuda")) assert_int_equal(imprecise, 0);
    gpuopt_context_destroy(context);
}

/* ---- Strong branching ---- */

/* Both children of columns of several roots are those that _run makes of their bounds. The second root differs by its
 * bounds alone, and has the handle's sides. */
static void branches_of_roots(void **state) {
    enum { COLUMNS = COUNT / 2 };
    gpuopt_context *context = test_context(NULL);
    mip m = children_cover(3, 40, 70);
    gpuopt_simplex_desc desc = children_root_desc(&m, 1);
    gpuopt_simplex *handle = simplex_create(context, &desc);
    gpuopt_simplex_children *batch = roots_batch(handle, 0, GPUOPT_ON_PIVOT_LIMIT_END);
    const size_t rows = (size_t)m.columns.rows, cols = (size_t)m.columns.cols;
    gpuopt_simplex_root_list list = GPUOPT_INIT(gpuopt_simplex_root_list);
    children_report *report = children_report_new(&m, COUNT), *again = children_report_new(&m, COUNT);
    children *all = children_new(COUNT);
    uint8_t *basis = roots_array(2 * (rows + cols), 1);
    double *ub = roots_array(2 * cols, sizeof *ub), x[200], value[COLUMNS];
    int32_t col[200], of_column[COLUMNS], root[COUNT], fixed, k;
    (void)state;
    assert_int_equal(simplex_iterate(handle, 100000).outcome, GPUOPT_OPTIMAL);
    assert_true(children_fractional(handle, &m, col, x) > 3);
    fixed = col[0];
    for (k = 0; k < 2; k++) {
        must(gpuopt_simplex_get_basis(handle, GPUOPT_HOST, basis + (size_t)k * (rows + cols)));
        memcpy(ub + (size_t)k * cols, m.ub, sizeof *ub * cols);
    }
    ub[cols + (size_t)fixed] = 0;
    list.count = 2, list.basis = basis, list.ub = ub;
    must(gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &list));
    for (k = 0; k < COLUMNS; k++) {
        of_column[k] = k % 3 - 1;
        col[k] = col[k % 3 + 1];
        value[k] = x[col[k]];
    }
    for (k = 0; k < COUNT; k++) {
        const int32_t j = all->index[0][k] = col[k / 2];
        all->start[0][k] = k;
        all->low[0][k] = k % 2 ? floor(x[j]) + 1 : m.lb[j];
        all->high[0][k] = k % 2 ? m.ub[j] : floor(x[j]);
        root[k] = of_column[k / 2];
    }
    all->start[0][COUNT] = COUNT;
    all->c.root = root;
    must(gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, COLUMNS, of_column, col, value, 1000, &report->r));
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 1000, &again->r));
    assert_true(children_report_equal(&m, report, again));
    for (k = 0; k < COUNT; k++) {
        mip of_root = children_copy(&m);
        if (root[k] == 1) of_root.ub[fixed] = 0;
        children_agree_with_clp(&of_root, all, report, k);
        children_free(&of_root);
    }
    assert_int_equal(gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, 1, of_column, col, NULL, 10, NULL),
                     GPUOPT_ERROR_ARGUMENT);
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(handle);
    children_report_free(report);
    children_report_free(again);
    free(all), free(basis), free(ub);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(as_batches_alone),
    cmocka_unit_test(any_against_rationals),
    cmocka_unit_test(branches_of_roots),
};
TEST_MAIN(tests)
