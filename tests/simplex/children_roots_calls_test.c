/* SPDX-License-Identifier: MIT
 *
 * Children of several bases in one call: misuse, singular bases, rows that come and go, and memory.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/children_roots.h"

#define REFUSED(code, text, ...)                        \
    host.error[0] = 0;                                  \
    assert_int_equal(__VA_ARGS__, GPUOPT_ERROR_##code); \
    if (!strstr(host.error, text)) fail_msg("the log says: %s", host.error)

/* Refused roots leave those of before, but for a singular basis; refused runs write nothing. */
static void refused_roots(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed = 6;
    mip m = model_load("plant:20:40:0.3:2");
    const size_t rows = 20, cols = 40;
    gpuopt_simplex_desc desc = children_root_desc(&m, 0);
    gpuopt_simplex *handle = simplex_create(context, &desc);
    gpuopt_simplex_children_desc of_batch = children_batch_desc(COUNT);
    gpuopt_simplex_children *batch, *without;
    gpuopt_simplex_root_list bad;
    roots *r = roots_draw(context, &desc, &seed, &m, CHILDREN_BOUNDS);
    children *all = children_draw(&seed, &m, COUNT, CHILDREN_BOUNDS);
    children_report *before = children_report_new(&m, COUNT), *after = children_report_new(&m, COUNT);
    int32_t root[COUNT], k, col = 1;
    double *const wrong = roots_array(ROOTS * cols, sizeof(double));
    const double one = 1;
    (void)state;
    for (k = 0; k < COUNT; k++) root[k] = k % ROOTS;
    all->c.root = root;
#define CREATE(value) (of_batch.roots = value, gpuopt_simplex_children_create(handle, &of_batch, NULL, &batch))
    REFUSED(ARGUMENT, "roots is not in", CREATE(-1));
    REFUSED(ARGUMENT, "roots is not in", CREATE(65537));
    must(CREATE(0));
    without = batch;
    must(CREATE(ROOTS));
    REFUSED(STATE, "no roots", gpuopt_simplex_children_set_roots(without, GPUOPT_HOST, &r->list));
    REFUSED(ARGUMENT, "root[35]", gpuopt_simplex_children_run(without, GPUOPT_HOST, &all->c, 100, &after->r));
    REFUSED(STATE, "no roots are set", gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, &after->r));
    must(gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &r->list));
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, &before->r));
#define SET(code, text, change) \
    bad = r->list;              \
    change;                     \
    REFUSED(code, text, gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &bad))
    SET(ARGUMENT, "count", bad.count = -1);
    SET(MEMORY, "so many roots", bad.count = ROOTS + 1);
    SET(ARGUMENT, "basis is NULL", bad.basis = NULL);
    SET(ARGUMENT, "struct_size", bad.struct_size = 3);
    memcpy(wrong, r->lb, sizeof(double) * ROOTS * cols);
    wrong[3 * cols + 2] = NAN;
    SET(ARGUMENT, "root 3: lb[2]", bad.lb = wrong);
    SET(ARGUMENT, "root 3: ub[2]", bad.ub = wrong);
    memcpy(wrong, r->lhs, sizeof(double) * ROOTS * rows);
    wrong[rows + 5] = NAN;
    SET(ARGUMENT, "root 1: lhs[5]", bad.lhs = wrong);
    for (k = 0; k < (int32_t)(ROOTS * rows); k++) wrong[k] = 1e9;
    SET(ARGUMENT, "root 0: lhs[0] = 1e+09 exceeds", bad.lhs = wrong);
    SET(ARGUMENT, "root 0: lhs[0] exceeds rhs[0]", (bad.lhs = wrong, bad.rhs = NULL));
    r->basis[2] ^= 1; /* BASIC or not: another number of basic variables */
    SET(ARGUMENT, "root 0: ", bad.count = ROOTS);
    r->basis[2] ^= 1;
    REFUSED(ARGUMENT, "list is NULL", gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, NULL));
    REFUSED(ARGUMENT, "where", gpuopt_simplex_children_set_roots(batch, (gpuopt_memory_space)9, &r->list));
    assert_int_equal(gpuopt_simplex_children_set_roots(NULL, GPUOPT_HOST, &r->list), GPUOPT_ERROR_ARGUMENT);
    root[7] = ROOTS;
    REFUSED(ARGUMENT, "root[7]", gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, &after->r));
    root[7] = -2;
    REFUSED(ARGUMENT, "root[7]", gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, &after->r));
    root[7] = 7 % ROOTS;
    assert_true(after->x[0] == 0 && after->objective[0] == 0);                 /* nothing is written */
    must(gpuopt_simplex_set_bounds(handle, GPUOPT_HOST, 1, &col, NULL, &one)); /* of the handle, not of the roots */
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, &after->r));
    assert_true(children_report_equal(&m, before, after));
    bad = r->list;
    bad.count = 0;
    must(gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &bad));
    REFUSED(STATE, "no roots are set", gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, &after->r));
    all->c.root = NULL;
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, &after->r));
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_children_destroy(without);
    gpuopt_simplex_destroy(handle);
    children_report_free(before);
    children_report_free(after);
    free(all), free(wrong);
    roots_free(r);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* Two equal columns are in no basis together. */
static void singular_roots(void **state) {
    static const double a[] = {1, 1, 0, 2, 2, 1}, cost[] = {1, 2, 3}, lhs[] = {1, 1}, ub[] = {9, 9, 9};
    static const uint8_t basis[] = {GPUOPT_VARIABLE_BASIC,    GPUOPT_VARIABLE_AT_LOWER, GPUOPT_VARIABLE_BASIC,
                                    GPUOPT_VARIABLE_AT_LOWER, GPUOPT_VARIABLE_AT_LOWER, /* */
                                    GPUOPT_VARIABLE_BASIC,    GPUOPT_VARIABLE_BASIC,    GPUOPT_VARIABLE_AT_LOWER,
                                    GPUOPT_VARIABLE_AT_LOWER, GPUOPT_VARIABLE_AT_LOWER};
    test_host host;
    gpuopt_context *context = test_context(&host);
    mip m = model_of(2, 3, a, cost, lhs, NULL, NULL, ub);
    gpuopt_simplex_desc desc = children_root_desc(&m, 0);
    gpuopt_simplex *handle = simplex_create(context, &desc);
    gpuopt_simplex_children *batch = roots_batch(handle, 0, GPUOPT_ON_PIVOT_LIMIT_END);
    gpuopt_simplex_root_list list = GPUOPT_INIT(gpuopt_simplex_root_list);
    gpuopt_simplex_child_list one = GPUOPT_INIT(gpuopt_simplex_child_list);
    gpuopt_simplex_child_report report = GPUOPT_INIT(gpuopt_simplex_child_report);
    const int32_t first = 0;
    int32_t outcome = -1;
    double objective = 0;
    (void)state;
    list.count = 2, list.basis = basis;
    one.count = 1, one.root = &first;
    report.outcome = &outcome, report.objective = &objective;
    REFUSED(NUMERIC, "root 1 is singular", gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &list));
    REFUSED(STATE, "no roots are set", gpuopt_simplex_children_run(batch, GPUOPT_HOST, &one, 100, &report));
    list.count = 1;
    must(gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &list));
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &one, 100, &report));
    assert_int_equal(outcome, GPUOPT_OPTIMAL);
    assert_true(fabs(objective - 1) <= 1e-9); /* the first column at 1 suffices for both rows */
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(handle);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* After rows were added, roots must be set again. A row of another node has infinite sides in a root. */
static void rows_come_and_go(void **state) {
    static const double a[] = {1, 1}, cost[] = {-1, -2}, rhs[] = {4}, ub[] = {3, 3}, cut[] = {1, 2}, most[] = {5};
    static const int64_t start[] = {0, 2};
    static const int32_t index[] = {0, 1}, root[] = {0, 1, -1};
    static const gpuopt_spare spare = {.struct_size = sizeof spare, .rows = 2, .cols = 1, .nonzeros = 8};
    test_host host;
    gpuopt_context *context = test_context(&host);
    mip m = model_of(1, 2, a, cost, NULL, rhs, NULL, ub);
    gpuopt_simplex_desc desc = children_root_desc(&m, 0);
    gpuopt_simplex *handle;
    gpuopt_simplex_children *batch;
    gpuopt_simplex_root_list list = GPUOPT_INIT(gpuopt_simplex_root_list);
    gpuopt_simplex_child_list three = GPUOPT_INIT(gpuopt_simplex_child_list);
    gpuopt_simplex_child_report report = GPUOPT_INIT(gpuopt_simplex_child_report);
    gpuopt_matrix row = {0};
    uint8_t basis[8];
    double objective[3], sides[4] = {4, 1e30, 4, 5};
    int32_t outcome[3];
    (void)state;
    desc.spare = &spare;
    handle = simplex_create(context, &desc);
    batch = roots_batch(handle, 0, GPUOPT_ON_PIVOT_LIMIT_REFACTOR);
    simplex_iterate(handle, 100);
    must(gpuopt_simplex_get_basis(handle, GPUOPT_HOST, basis));
    list.count = 1, list.basis = basis;
    three.count = 3, three.root = root;
    report.outcome = outcome, report.objective = objective;
    must(gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &list));
    row.rows = 1, row.cols = 2, row.start = start, row.index = index, row.value = cut;
    must(gpuopt_simplex_add_rows(handle, &row, NULL, most));
    REFUSED(ARGUMENT, "root[1]", gpuopt_simplex_children_run(batch, GPUOPT_HOST, &three, 100, &report));
    three.count = 1;
    REFUSED(STATE, "after the roots were set", gpuopt_simplex_children_run(batch, GPUOPT_HOST, &three, 100, &report));
    must(gpuopt_simplex_get_basis(handle, GPUOPT_HOST, basis));
    must(gpuopt_simplex_get_basis(handle, GPUOPT_HOST, basis + 4));
    list.count = 2, list.rhs = sides;
    three.count = 3;
    must(gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &list));
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &three, 100, &report));
    /* max x + 2 y: 1 + 6 without the cut x + 2 y <= 5, which bounds the others */
    assert_true(outcome[0] == GPUOPT_OPTIMAL && outcome[1] == GPUOPT_OPTIMAL && outcome[2] == GPUOPT_OPTIMAL);
    assert_true(fabs(objective[0] + 7) <= 1e-9 && fabs(objective[1] + 5) <= 1e-9 && fabs(objective[2] + 5) <= 1e-9);
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(handle);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* The plan is exact, and neither setting roots nor a run takes memory. */
static void memory_is_planned(void **state) {
    static const char *const models[] = {"plant:20:40:0.3:2", "shah:40:1"};
    uint64_t seed = 2;
    int model;
    (void)state;
    for (model = 0; model < 2; model++) {
        test_host host;
        gpuopt_context *context = test_context(&host);
        mip m = model_load(models[model]);
        gpuopt_simplex_desc desc = children_root_desc(&m, 0);
        roots *r = roots_draw(context, &desc, &seed, &m, CHILDREN_BOUNDS);
        children *all = children_draw(&seed, &m, COUNT, CHILDREN_BOUNDS);
        gpuopt_simplex *handle = simplex_create(context, &desc);
        gpuopt_simplex_children_desc of_batch = children_batch_desc(COUNT);
        gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan), none = GPUOPT_INIT(gpuopt_memory_plan);
        gpuopt_simplex_children *batch;
        const uint64_t before[2] = {host.bytes[0], host.bytes[1]};
        const long live = host.live;
        int32_t root[COUNT], k;
        for (k = 0; k < COUNT; k++) root[k] = k % (ROOTS + 1) - 1;
        all->c.root = root;
        must(gpuopt_simplex_children_create(handle, &of_batch, &none, NULL));
        of_batch.roots = ROOTS;
        must(gpuopt_simplex_children_create(handle, &of_batch, &plan, NULL));
        assert_true(plan.host_bytes > none.host_bytes && (plan.device_bytes > none.device_bytes) == test_on("cuda"));
        must(gpuopt_simplex_children_create(handle, &of_batch, NULL, &batch));
        assert_int_equal(host.bytes[GPUOPT_HOST] - before[GPUOPT_HOST], plan.host_bytes);
        assert_int_equal(host.bytes[GPUOPT_DEVICE] - before[GPUOPT_DEVICE], plan.device_bytes);
        simplex_iterate(handle, 100000);
        test_forbid_allocation(1);
        must(gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &r->list));
        must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, NULL));
        test_forbid_allocation(0);
        gpuopt_simplex_children_destroy(batch);
        assert_int_equal(host.live, live);
        gpuopt_simplex_destroy(handle);
        free(all);
        roots_free(r);
        mip_free(&m);
        gpuopt_context_destroy(context);
        assert_int_equal(host.live, 0);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(refused_roots),
    cmocka_unit_test(singular_roots),
    cmocka_unit_test(rows_come_and_go),
    cmocka_unit_test(memory_is_planned),
};
TEST_MAIN(tests)
