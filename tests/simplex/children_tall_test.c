/* SPDX-License-Identifier: MIT
 *
 * Children of models with many more rows than columns, so that most basic variables are logicals: against CLP, with no
 * more pivots than on the CPU.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/children.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

enum { COUNT = 24, ROWS = 1030, MORE_ROWS = 1330, COLS = 90, LONG = 70, FEW = 4 };

/* Rows of two or three entries, up to signs the same or not, and some of LONG, around a point; or more rows, of one
 * entry and some of two, so that the inverse is so sparse that all of it is kept on the GPU. */
enum { FLAT = 1, SPARSE = 2 };
static mip tall_model(uint64_t *seed, int kind) {
    double *a = calloc((size_t)MORE_ROWS * COLS, sizeof *a), lhs[MORE_ROWS], rhs[MORE_ROWS];
    double cost[COLS], lb[COLS], ub[COLS], at[COLS];
    int32_t rows = kind == SPARSE ? MORE_ROWS : ROWS, i, j, k;
    mip m;
    for (j = 0; j < COLS; j++) {
        at[j] = (double)test_random_int(seed, 0, 4);
        lb[j] = at[j] - (double)test_random_int(seed, 0, 3);
        ub[j] = at[j] + (double)test_random_int(seed, 1, 5);
        cost[j] = (double)test_random_int(seed, -9, 9);
    }
    for (i = 0; i < rows; i++) {
        const int32_t entries = kind == SPARSE ? 1 + (i % 50 == 0)
                                : i % 300 == 7 ? LONG
                                               : (int32_t)test_random_int(seed, 2, 3);
        double activity = 0;
        for (k = 0; k < entries; k++) {
            j = entries == LONG ? k : (int32_t)test_random_int(seed, 0, COLS - 1);
            a[i * COLS + j] =
                (test_random_int(seed, 0, 1) ? 1 : -1) * (kind == FLAT ? 2 : (double)test_random_int(seed, 1, 5));
        }
        for (j = 0; j < COLS; j++) activity += a[i * COLS + j] * at[j];
        lhs[i] = i % 2 ? -HUGE_VAL : activity - (double)test_random_int(seed, 0, 4);
        rhs[i] = i % 2 || i % 5 == 0 ? activity + (double)test_random_int(seed, 0, 4) : HUGE_VAL;
    }
    m = model_of(rows, COLS, a, cost, lhs, rhs, lb, ub);
    free(a);
    return m;
}

/* The pivots of all children by the CPU, which finds the basis of the root, too. */
static int64_t pivots_by_cpu(const gpuopt_simplex_desc *desc, const mip *m, const children *all, uint8_t *basis) {
    gpuopt_context_desc with = test_context_desc(NULL);
    gpuopt_context *context = NULL;
    children_report *report = children_report_new(m, COUNT);
    gpuopt_simplex_children *batch;
    gpuopt_simplex *own;
    int64_t pivots = 0;
    int32_t k;
    with.backend = gpuopt_backend_cpu();
    must(gpuopt_context_create(&with, &context));
    own = simplex_create(context, desc);
    assert_int_equal(simplex_iterate(own, 100000).outcome, GPUOPT_OPTIMAL);
    must(gpuopt_simplex_get_basis(own, GPUOPT_HOST, basis));
    batch = children_batch(own, COUNT, 200, GPUOPT_ON_PIVOT_LIMIT_END);
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 10000, &report->r));
    for (k = 0; k < COUNT; k++) pivots += report->iterations[k];
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(own);
    gpuopt_context_destroy(context);
    children_report_free(report);
    return pivots;
}

/* Counts the children with more pivots than `many`; *pivots: of all of them. */
static int check(const mip *m, const children *all, const children_report *report, int many, int64_t *pivots) {
    int32_t k;
    int longer = 0;
    for (k = 0; k < COUNT; k++) {
        children_agree_with_clp(m, all, report, k);
        *pivots += report->iterations[k];
        longer += report->iterations[k] > many;
    }
    return longer;
}

/* With a limit of FEW pivots, after which a child has less capacity on the GPU. */
static void stops(gpuopt_simplex_children *batch, const children *all, const children_report *report) {
    int32_t k;
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, FEW, &report->r));
    for (k = 0; k < COUNT; k++) {
        assert_true(report->iterations[k] <= FEW);
        if (report->iterations[k] < FEW) assert_int_not_equal(report->outcome[k], GPUOPT_MORE);
    }
}

/* With capacity for all pivots, and with so little that they are merged again and again. */
static void against_clp(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 41;
    int64_t pivots = 0, by_cpu = 0;
    int model, some = 0, merged = 0;
    (void)state;
    for (model = 0; model < (test_few() ? 3 : 5); model++) {
        mip m = tall_model(&seed, model % 3);
        gpuopt_simplex_desc desc = children_root_desc(&m, 1);
        gpuopt_simplex *root;
        children *all =
            children_draw(&seed, &m, COUNT, CHILDREN_BOUNDS | (model % 3 ? CHILDREN_SIDES | CHILDREN_COSTS : 0));
        children_report *report = children_report_new(&m, COUNT);
        gpuopt_simplex_children *batch;
        uint8_t basis[MORE_ROWS + COLS];
        desc.algorithm = GPUOPT_ALGORITHM_DUAL;
        by_cpu += 2 * pivots_by_cpu(&desc, &m, all, basis);
        root = simplex_create(context, &desc);
        must(gpuopt_simplex_set_basis(root, GPUOPT_HOST, basis));
        assert_int_equal(simplex_iterate(root, 100000).outcome, GPUOPT_OPTIMAL);
        batch = children_batch(root, COUNT, 200, GPUOPT_ON_PIVOT_LIMIT_END);
        must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 10000, &report->r));
        some += check(&m, all, report, 2, &pivots);
        gpuopt_simplex_children_destroy(batch);
        batch = children_batch(root, COUNT, 3, GPUOPT_ON_PIVOT_LIMIT_REFACTOR);
        stops(batch, all, report);
        must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 10000, &report->r));
        merged += check(&m, all, report, 6, &pivots);
        gpuopt_simplex_children_destroy(batch);
        gpuopt_simplex_destroy(root);
        children_report_free(report);
        free(all);
        mip_free(&m);
    }
    print_message("%lld pivots, by the CPU %lld\n", (long long)pivots, (long long)by_cpu);
    assert_true(10 * pivots < 12 * by_cpu); /* weights are right, in all of a row or column */
    assert_true(some > 10 && merged > 4);
    gpuopt_context_destroy(context);
}

/* Runs COUNT children, each of `root`, where -1 is the handle's model m. The others are of_root [count], which have the
 * bases `basis` [count][rows + cols]. All must agree with CLP. */
static void run_of_roots(gpuopt_simplex *handle, const mip *m, const mip *of_root, int32_t count, const uint8_t *basis,
                         int32_t pivots, gpuopt_simplex_on_pivot_limit when_full, children *all, const int32_t *root,
                         children_report *report) {
    gpuopt_simplex_children_desc desc = children_batch_desc(COUNT);
    gpuopt_simplex_root_list list = GPUOPT_INIT(gpuopt_simplex_root_list);
    gpuopt_simplex_children *batch;
    double *lb = calloc((size_t)(2 * count * COLS), sizeof *lb), *ub = lb + count * COLS;
    int32_t k;
    for (k = 0; k < count; k++) {
        memcpy(lb + k * COLS, of_root[k].lb, sizeof *lb * COLS);
        memcpy(ub + k * COLS, of_root[k].ub, sizeof *ub * COLS);
    }
    desc.pivots = pivots, desc.on_pivot_limit = when_full, desc.roots = count;
    must(gpuopt_simplex_children_create(handle, &desc, NULL, &batch));
    list.count = count, list.basis = basis, list.lb = lb, list.ub = ub;
    must(gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &list));
    all->c.root = root;
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 10000, &report->r));
    for (k = 0; k < COUNT; k++) children_agree_with_clp(root[k] < 0 ? m : &of_root[root[k]], all, report, k);
    gpuopt_simplex_children_destroy(batch);
    free(lb);
}

/* Children of the handle and of two other roots, whose bounds are others, and so is the number of columns in the basis.
 * The second one's basis is far from the handle's: it has slacks alone. */
static void of_roots_against_clp(void **state) {
    enum { ROOTS = 2 };
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 43;
    int model, some = 0;
    (void)state;
    for (model = 0; model < (test_few() ? 2 : 3); model++) {
        mip m = tall_model(&seed, model == 1 ? 0 : FLAT), of_root[ROOTS];
        const int32_t both = m.columns.rows + m.columns.cols;
        gpuopt_simplex_desc desc = children_root_desc(&m, 1);
        gpuopt_simplex *handle, *own;
        children *all = children_draw(&seed, &m, COUNT, CHILDREN_BOUNDS);
        children_report *report = children_report_new(&m, COUNT);
        uint8_t *basis = calloc((size_t)(ROOTS * both), 1);
        int32_t root[COUNT], k, j;
        desc.algorithm = GPUOPT_ALGORITHM_DUAL;
        own = simplex_create(context, &desc);
        for (k = 0; k < ROOTS; k++) { /* each tenth column is fixed at its lower bound */
            of_root[k] = children_copy(&m);
            for (j = k; j < COLS; j += 10) of_root[k].ub[j] = m.lb[j];
            must(gpuopt_simplex_set_bounds(own, GPUOPT_HOST, COLS, NULL, of_root[k].lb, of_root[k].ub));
            if (k == 0) simplex_iterate(own, 100000);
            must(gpuopt_simplex_get_basis(own, GPUOPT_HOST, basis + k * both));
        }
        for (j = 0; j < both; j++) basis[both + j] = j < COLS ? GPUOPT_VARIABLE_AT_LOWER : GPUOPT_VARIABLE_BASIC;
        gpuopt_simplex_destroy(own);
        handle = simplex_create(context, &desc);
        if (model < 2) simplex_iterate(handle, 100000);
        for (k = 0; k < COUNT; k++) root[k] = k % (ROOTS + 1) - 1;
        run_of_roots(handle, &m, of_root, ROOTS, basis, model == 1 ? 3 : 200,
                     model == 1 ? GPUOPT_ON_PIVOT_LIMIT_REFACTOR : GPUOPT_ON_PIVOT_LIMIT_END, all, root, report);
        for (k = 0; k < COUNT; k++) some += root[k] >= 0 && report->iterations[k] > 2;
        gpuopt_simplex_destroy(handle);
        for (k = 0; k < ROOTS; k++) children_free(&of_root[k]);
        children_report_free(report);
        free(all), free(basis);
        mip_free(&m);
    }
    assert_true(some > 10);
    gpuopt_context_destroy(context);
}

/* At least one of three to six columns in each row, at the least cost. Most rows of children_cover have two, and then the
 * cores below stay smaller. */
static mip cover_model(uint64_t *seed) {
    double *a = calloc((size_t)ROWS * COLS, sizeof *a), cost[COLS], lb[COLS], ub[COLS], lhs[ROWS], rhs[ROWS];
    int32_t i, j;
    mip m;
    for (j = 0; j < COLS; j++) lb[j] = 0, ub[j] = 1, cost[j] = (double)test_random_int(seed, 5, 9);
    for (i = 0; i < ROWS; i++) {
        int entries = (int)test_random_int(seed, 3, 6);
        while (entries-- > 0) a[i * COLS + test_random_int(seed, 0, COLS - 1)] = 1;
        lhs[i] = 1, rhs[i] = HUGE_VAL;
    }
    m = model_of(ROWS, COLS, a, cost, lhs, rhs, lb, ub);
    free(a);
    return m;
}

/* Roots of a covering problem: from the handle's basis slacks enter as well as columns, so that the core of a root's
 * inverse has more rows than columns are basic. */
static void of_covers_against_clp(void **state) {
    enum { ROOTS = 5 };
    gpuopt_context *context = test_context(NULL), *cpu = test_plain_context();
    uint64_t seed = 47;
    mip m = cover_model(&seed), of_root[ROOTS];
    const int32_t both = ROWS + COLS;
    gpuopt_simplex_desc desc = children_root_desc(&m, 1);
    gpuopt_simplex *handle, *own;
    children *all = children_draw(&seed, &m, COUNT, CHILDREN_BOUNDS);
    children_report *report = children_report_new(&m, COUNT);
    uint8_t *basis = calloc((size_t)((1 + ROOTS) * both), 1);
    int32_t root[COUNT], k, j;
    (void)state;
    desc.algorithm = GPUOPT_ALGORITHM_DUAL;
    own = simplex_create(cpu, &desc);
    for (k = -1; k < ROOTS; k++) { /* the handle, then roots with some columns at 1 */
        mip *const of = k < 0 ? &m : &of_root[k];
        if (k >= 0) {
            of_root[k] = children_copy(&m);
            for (j = k; j < COLS; j += 20) of->lb[j] = 1;
        }
        must(gpuopt_simplex_set_bounds(own, GPUOPT_HOST, COLS, NULL, of->lb, of->ub));
        assert_int_equal(simplex_iterate(own, 100000).outcome, GPUOPT_OPTIMAL);
        must(gpuopt_simplex_get_basis(own, GPUOPT_HOST, basis + (k + 1) * both));
    }
    gpuopt_simplex_destroy(own);
    handle = simplex_create(context, &desc);
    must(gpuopt_simplex_set_basis(handle, GPUOPT_HOST, basis));
    assert_int_equal(simplex_iterate(handle, 100000).outcome, GPUOPT_OPTIMAL);
    for (k = 0; k < COUNT; k++) root[k] = k % ROOTS;
    run_of_roots(handle, &m, of_root, ROOTS, basis + both, 1000, GPUOPT_ON_PIVOT_LIMIT_END, all, root, report);
    gpuopt_simplex_destroy(handle);
    for (k = 0; k < ROOTS; k++) children_free(&of_root[k]);
    children_report_free(report);
    free(all), free(basis);
    mip_free(&m);
    gpuopt_context_destroy(cpu);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(against_clp), cmocka_unit_test(of_roots_against_clp),
                                          cmocka_unit_test(of_covers_against_clp)};

TEST_MAIN(tests)
