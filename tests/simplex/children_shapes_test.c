/* SPDX-License-Identifier: MIT
 *
 * Batches of children of models without rows or columns, and with long columns.
 */
#define _POSIX_C_SOURCE 200809L /* setenv */

#include <stdlib.h>

#include "tests/simplex/children.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

enum { COUNT = 20 };

/* The same model with the first half of its rows, and capacity for the other one. */
static gpuopt_simplex *half_of(gpuopt_context *context, int32_t rows, int32_t cols, const double *a, const double *cost,
                               const double *lhs, const double *lb, const double *ub) {
    mip half = model_of(rows / 2, cols, a, cost, lhs, NULL, lb, ub);
    gpuopt_simplex_desc desc = children_root_desc(&half, 0);
    const gpuopt_spare spare = {sizeof spare, rows - rows / 2, 0, (int64_t)rows * cols + 1};
    gpuopt_simplex_rules rules = rules_of(&desc);
    gpuopt_simplex *root;
    rules.scaling = GPUOPT_OFF;
    desc.rules = &rules;
    desc.spare = &spare;
    root = simplex_create(context, &desc);
    mip_free(&half);
    return root;
}
static void add_other_half(gpuopt_simplex *root, int32_t rows, int32_t cols, const double *a, const double *lhs) {
    const int32_t first = rows / 2;
    int64_t start[101];
    int32_t index[200], k;
    gpuopt_matrix more = {0};
    for (k = 0; k <= rows - first; k++) start[k] = (int64_t)k * cols;
    for (k = 0; k < (rows - first) * cols; k++) index[k] = k % cols;
    more.layout = GPUOPT_LAYOUT_CSR;
    more.rows = rows - first, more.cols = cols;
    more.start = start, more.index = index, more.value = a + first * cols;
    must(gpuopt_simplex_add_rows(root, &more, lhs + first, NULL));
}

/* No rows, no columns, one of each, and a column of more entries than most; the second time half of the rows come after
 * the batch, and the long column becomes so then. */
static void shapes(void **state) {
    static const int32_t shape[][2] = {{0, 0}, {0, 3}, {3, 0}, {1, 1}, {100, 2}};
    gpuopt_context *context = test_context(NULL);
    int k;
    (void)state;
    for (k = 0; k < 10; k++) {
        const int32_t rows = shape[k % 5][0], cols = shape[k % 5][1];
        const int grown = k >= 5;
        double a[200], cost[] = {1, 2, 3}, lb[] = {0, 0, 0}, ub[] = {4, 5, 6}, lhs[100];
        int32_t i, verdicts = 0;
        uint64_t seed = 3;
        mip m;
        gpuopt_simplex_desc desc;
        gpuopt_simplex *root;
        gpuopt_simplex_children_desc batch_of = children_batch_desc(COUNT);
        gpuopt_simplex_children *batch;
        children *all;
        children_report *report;
        for (i = 0; i < rows; i++) lhs[i] = 1;
        for (i = 0; i < rows * cols; i++) a[i] = 1 + i % 2;
        m = model_of(rows, cols, a, cost, lhs, NULL, lb, ub);
        desc = children_root_desc(&m, 0);
        root = grown ? half_of(context, rows, cols, a, cost, lhs, lb, ub) : simplex_create(context, &desc);
        must(gpuopt_simplex_children_create(root, &batch_of, NULL, &batch));
        if (grown) add_other_half(root, rows, cols, a, lhs);
        simplex_iterate(root, 1000);
        all = children_draw(&seed, &m, COUNT, (cols ? 5 : 0) + (rows ? 2 : 0));
        report = children_report_new(&m, COUNT);
        must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 1000, &report->r));
        for (i = 0; i < COUNT; i++) {
            const char *fault = children_fault(&m, all, report, i, &verdicts);
            if (!fault && !children_is_verdict(report->outcome[i]) && !children_left_unbounded(&m, all, report, i))
                fault = "no verdict";
            if (fault) fail_msg("%d x %d, child %d: %s", (int)rows, (int)cols, (int)i, fault);
        }
        gpuopt_simplex_children_destroy(batch);
        gpuopt_simplex_destroy(root);
        children_report_free(report);
        free(all);
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* The same where the block of a GPU, if it is an emulated one, has place for 50 numbers beside what it always holds: so
 * that 100 rows are too many for a row of the inverse. */
static void narrow(void **state) {
    setenv("GPUOPT_EMULATED_BLOCK_MEMORY", "50312", 1);
    shapes(state);
    unsetenv("GPUOPT_EMULATED_BLOCK_MEMORY");
}

/* Many long columns, against CLP. */
static void long_columns(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 17;
    mip m = model_load("plant:90:60:0.9:7");
    gpuopt_simplex_desc desc = children_root_desc(&m, 1);
    gpuopt_simplex *root;
    gpuopt_simplex_children *batch;
    children *all = children_draw(&seed, &m, COUNT, CHILDREN_BOUNDS | CHILDREN_SIDES);
    children_report *report = children_report_new(&m, COUNT);
    int64_t pivots = 0;
    int32_t k;
    (void)state;
    desc.algorithm = GPUOPT_ALGORITHM_DUAL;
    root = simplex_create(context, &desc);
    assert_int_equal(simplex_iterate(root, 100000).outcome, GPUOPT_OPTIMAL);
    batch = children_batch(root, COUNT, 200, GPUOPT_ON_PIVOT_LIMIT_END);
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 1000, &report->r));
    for (k = 0; k < COUNT; k++) {
        children_agree_with_clp(&m, all, report, k);
        pivots += report->iterations[k];
    }
    print_message("%lld pivots\n", (long long)pivots);
    assert_true(pivots > 2 * COUNT);
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(root);
    children_report_free(report);
    free(all);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(shapes), cmocka_unit_test(narrow),
                                          cmocka_unit_test(long_columns)};

TEST_MAIN(tests)
