/* SPDX-License-Identifier: MIT
 *
 * The calls of batches of children: misuse, host and device memory, the plan, memory that runs out, the stop hook, and
 * where branching splits.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/children.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

enum { COUNT = 20 };

/* ---- Misuse ---- */

#define REFUSED(code, text, ...)                        \
    host.error[0] = 0;                                  \
    assert_int_equal(__VA_ARGS__, GPUOPT_ERROR_##code); \
    if (!strstr(host.error, text)) fail_msg("the log says: %s", host.error)

static void refused_descriptors(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    mip m = model_load("plant:20:40:0.3:2");
    gpuopt_simplex_desc desc = children_root_desc(&m, 0);
    gpuopt_simplex *root = simplex_create(context, &desc);
    gpuopt_simplex_children_desc bad;
    gpuopt_simplex_children *batch = (gpuopt_simplex_children *)&bad;
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    const long live = host.live;
    (void)state;
#define BAD(code, text, member, value)                                             \
    bad = children_batch_desc(COUNT);                                              \
    bad.member = value;                                                            \
    REFUSED(code, text, gpuopt_simplex_children_create(root, &bad, NULL, &batch)); \
    assert_null(batch);                                                            \
    REFUSED(code, text, gpuopt_simplex_children_create(root, &bad, &plan, NULL));  \
    assert_true(plan.host_bytes == 0 && host.live == live)
    BAD(ARGUMENT, "batch_size", batch_size, 0);
    BAD(ARGUMENT, "batch_size", batch_size, 65537);
    BAD(ARGUMENT, "pivots", pivots, -1);
    BAD(ARGUMENT, "pivots", pivots, 65537);
    BAD(ARGUMENT, "changes", changes, -1);
    BAD(ARGUMENT, "changes", changes, (int64_t)1 << 31);
    BAD(ARGUMENT, "on_pivot_limit", on_pivot_limit, (gpuopt_simplex_on_pivot_limit)2);
    BAD(ARGUMENT, "size", struct_size, 4);
    if (test_on("cuda")) {
        gpuopt_simplex *tableau;
        desc.method = GPUOPT_METHOD_TABLEAU;
        tableau = simplex_create(context, &desc);
        bad = children_batch_desc(COUNT);
        REFUSED(UNSUPPORTED, "REVISED", gpuopt_simplex_children_create(tableau, &bad, NULL, &batch));
        gpuopt_simplex_destroy(tableau);
    }
    bad = children_batch_desc(COUNT);
    REFUSED(ARGUMENT, "desc is NULL", gpuopt_simplex_children_create(root, NULL, NULL, &batch));
    REFUSED(ARGUMENT, "children and plan are NULL", gpuopt_simplex_children_create(root, &bad, NULL, NULL));
    assert_int_equal(gpuopt_simplex_children_create(NULL, &bad, NULL, &batch), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_children_create(NULL, &bad, &plan, NULL), GPUOPT_ERROR_ARGUMENT);
    gpuopt_simplex_children_destroy(NULL);
    gpuopt_simplex_destroy(root);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* Refused runs write nothing, and the next one is as if they had not been. */
static void refused_runs(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed = 6;
    mip m = model_load("plant:20:40:0.3:2");
    gpuopt_simplex_desc desc = children_root_desc(&m, 0);
    gpuopt_simplex *root = simplex_create(context, &desc);
    gpuopt_simplex_children_desc batch_of = children_batch_desc(COUNT);
    gpuopt_simplex_children *batch;
    children *all = children_draw(&seed, &m, COUNT, 7), *bad = malloc(sizeof *bad);
    children_report *before = children_report_new(&m, COUNT), *after = children_report_new(&m, COUNT);
    gpuopt_simplex_child_report wrong = after->r;
    const int32_t none = -1, far = 40;
    int kind;
    (void)state;
    simplex_iterate(root, 100000);
    must(gpuopt_simplex_children_create(root, &batch_of, NULL, &batch));
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, &before->r));
    memcpy(after->outcome, before->outcome, sizeof after->outcome); /* whatever a refused run would write over */
#define RUN(code, text, change)                                                                         \
    memcpy(bad, all, sizeof *bad);                                                                      \
    bad->c.start = bad->start[0], bad->c.side_start = bad->start[1], bad->c.cost_start = bad->start[2]; \
    bad->c.col = bad->index[0], bad->c.row = bad->index[1], bad->c.cost_col = bad->index[2];            \
    bad->c.lb = bad->low[0], bad->c.ub = bad->high[0], bad->c.lhs = bad->low[1];                        \
    bad->c.rhs = bad->high[1], bad->c.cost = bad->low[2];                                               \
    change;                                                                                             \
    REFUSED(code, text, gpuopt_simplex_children_run(batch, GPUOPT_HOST, &bad->c, 100, &after->r))
    RUN(ARGUMENT, "count", bad->c.count = -1);
    RUN(ARGUMENT, "count", bad->c.count = COUNT + 1);
    RUN(ARGUMENT, "struct_size", bad->c.struct_size = 3);
    for (kind = 0; kind < 3; kind++) {
        static const char *const start[] = {"start", "side_start", "cost_start"};
        static const char *const index[] = {"col[0]", "row[0]", "cost_col[0]"};
        assert_true(all->start[kind][COUNT] > 1);
        RUN(ARGUMENT, start[kind], bad->start[kind][0] = -1);
        RUN(ARGUMENT, start[kind], bad->start[kind][0] = 1);
        RUN(ARGUMENT, start[kind], bad->start[kind][2] = bad->start[kind][3] + 1);
        RUN(MEMORY, "more entries than", bad->start[kind][COUNT] = 9 * COUNT + 1);
        RUN(ARGUMENT, index[kind], bad->index[kind][0] = none);
        RUN(ARGUMENT, index[kind], bad->index[kind][0] = kind == 1 ? 20 : far);
    }
    RUN(ARGUMENT, "col is NULL", bad->c.col = NULL);
    RUN(ARGUMENT, "row is NULL", bad->c.row = NULL);
    RUN(ARGUMENT, "cost_col is NULL", bad->c.cost_col = NULL);
    RUN(ARGUMENT, "lhs or rhs is NULL", bad->c.lhs = NULL);
    RUN(ARGUMENT, "lhs or rhs is NULL", bad->c.rhs = NULL);
    RUN(ARGUMENT, "cost is NULL", bad->c.cost = NULL);
    RUN(ARGUMENT, "lb[1]", bad->low[0][1] = NAN);
    RUN(ARGUMENT, "ub[1]", bad->high[0][1] = NAN);
    RUN(ARGUMENT, "lb[1]", bad->low[0][1] = 1e20);
    RUN(ARGUMENT, "ub[1]", bad->high[0][1] = -1e20);
    RUN(ARGUMENT, "exceeds", (bad->low[1][1] = 2, bad->high[1][1] = 1));
    RUN(ARGUMENT, "rhs[1]", bad->high[1][1] = NAN);
    RUN(ARGUMENT, "cost[1]", bad->low[2][1] = INFINITY);
    REFUSED(ARGUMENT, "list is NULL", gpuopt_simplex_children_run(batch, GPUOPT_HOST, NULL, 100, &after->r));
    REFUSED(ARGUMENT, "iterations", gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 0, &after->r));
    REFUSED(ARGUMENT, "where", gpuopt_simplex_children_run(batch, (gpuopt_memory_space)9, &all->c, 100, &after->r));
    wrong.struct_size = 2;
    REFUSED(ARGUMENT, "report", gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, &wrong));
    if (!test_on("cuda")) {
        REFUSED(UNSUPPORTED, "device memory",
                gpuopt_simplex_children_run(batch, GPUOPT_DEVICE, &all->c, 100, &after->r));
    }
    REFUSED(ARGUMENT, "count",
            gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, -1, NULL, &far, NULL, 100, &after->r));
    REFUSED(ARGUMENT, "count",
            gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, COUNT / 2 + 1, NULL, &far, NULL, 100, &after->r));
    REFUSED(ARGUMENT, "col is NULL",
            gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, 1, NULL, NULL, NULL, 100, &after->r));
    REFUSED(ARGUMENT, "col[0]",
            gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, 1, NULL, &far, NULL, 100, &after->r));
    REFUSED(ARGUMENT, "iterations",
            gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, 0, NULL, NULL, NULL, 0, &after->r));
    must(gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, 0, NULL, NULL, NULL, 100, &after->r));
    assert_int_equal(gpuopt_simplex_children_run(NULL, GPUOPT_HOST, &all->c, 100, &after->r), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_children_strong_branch(NULL, GPUOPT_HOST, 0, NULL, NULL, NULL, 100, NULL),
                     GPUOPT_ERROR_ARGUMENT);
    assert_true(after->x[0] == 0 && after->objective[0] == 0 && after->bound[COUNT - 1] == 0); /* nothing is written */
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, NULL));
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, &after->r));
    assert_true(children_report_equal(&m, before, after));
    gpuopt_simplex_children_destroy(batch);
    if (test_on("cuda")) { /* what the batch keeps no copy of */
        batch_of.with_basis = batch_of.with_x = batch_of.with_farkas = 0;
        must(gpuopt_simplex_children_create(root, &batch_of, NULL, &batch));
        REFUSED(ARGUMENT, "with_", gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, &after->r));
        wrong = after->r;
        wrong.basis = NULL, wrong.x = wrong.farkas = wrong.farkas_low = NULL;
        must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, &wrong));
        assert_true(children_report_equal(&m, before, after));
        gpuopt_simplex_children_destroy(batch);
    }
    children_report_free(before);
    children_report_free(after);
    gpuopt_simplex_destroy(root);
    free(all), free(bad);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* ---- Device memory ---- */

static void *on_device(const void *from, size_t bytes) {
    void *memory = test_device_allocate(bytes + 1);
    if (from && bytes) test_device_copy(memory, from, bytes);
    return memory;
}

/* The same bits as in host memory; what is wrong there is found, too. */
static void device_memory(void **state) {
    gpuopt_context *context;
    uint64_t seed = 12;
    mip m;
    gpuopt_simplex_desc desc;
    gpuopt_simplex *root;
    gpuopt_simplex_children_desc batch_of = children_batch_desc(COUNT);
    gpuopt_simplex_children *batch;
    children *all;
    children_report *here, *there;
    gpuopt_simplex_child_list given;
    gpuopt_simplex_child_report report = GPUOPT_INIT(gpuopt_simplex_child_report);
    void *block[24];
    const int32_t outside = 77, column = 3;
    const double at = 0.5;
    size_t rows, cols, entries[3];
    int k = 0, kind;
    (void)state;
    if (!test_on("cuda")) return;
    context = test_context(NULL);
    m = model_load("plant:20:40:0.3:2");
    desc = children_root_desc(&m, 0);
    rows = (size_t)m.columns.rows, cols = (size_t)m.columns.cols;
    root = simplex_create(context, &desc);
    simplex_iterate(root, 100000);
    all = children_draw(&seed, &m, COUNT, 7);
    here = children_report_new(&m, COUNT), there = children_report_new(&m, COUNT);
    must(gpuopt_simplex_children_create(root, &batch_of, NULL, &batch));
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, &here->r));
    given = all->c;
    for (kind = 0; kind < 3; kind++) entries[kind] = (size_t)all->start[kind][COUNT];
    given.start = block[k++] = on_device(all->start[0], sizeof(int64_t) * (COUNT + 1));
    given.side_start = block[k++] = on_device(all->start[1], sizeof(int64_t) * (COUNT + 1));
    given.cost_start = block[k++] = on_device(all->start[2], sizeof(int64_t) * (COUNT + 1));
    given.col = block[k++] = on_device(all->index[0], sizeof(int32_t) * entries[0]);
    given.row = block[k++] = on_device(all->index[1], sizeof(int32_t) * entries[1]);
    given.cost_col = block[k++] = on_device(all->index[2], sizeof(int32_t) * entries[2]);
    given.lb = block[k++] = on_device(all->low[0], sizeof(double) * entries[0]);
    given.ub = block[k++] = on_device(all->high[0], sizeof(double) * entries[0]);
    given.lhs = block[k++] = on_device(all->low[1], sizeof(double) * entries[1]);
    given.rhs = block[k++] = on_device(all->high[1], sizeof(double) * entries[1]);
    given.cost = block[k++] = on_device(all->low[2], sizeof(double) * entries[2]);
    report.outcome = block[k++] = on_device(NULL, sizeof(int32_t) * COUNT);
    report.iterations = block[k++] = on_device(NULL, sizeof(int32_t) * COUNT);
    report.bound = block[k++] = on_device(NULL, sizeof(double) * COUNT);
    report.objective = block[k++] = on_device(NULL, sizeof(double) * COUNT);
    report.basis = block[k++] = on_device(NULL, COUNT * (rows + cols));
    report.x = block[k++] = on_device(NULL, sizeof(double) * COUNT * cols);
    report.farkas = block[k++] = on_device(NULL, sizeof(double) * COUNT * rows);
    report.farkas_low = block[k++] = on_device(NULL, sizeof(double) * COUNT * rows);
    report.certainty = block[k++] = on_device(NULL, sizeof(int32_t) * COUNT);
    must(gpuopt_simplex_children_run(batch, GPUOPT_DEVICE, &given, 100, &report));
    test_device_copy(there->outcome, report.outcome, sizeof(int32_t) * COUNT);
    test_device_copy(there->iterations, report.iterations, sizeof(int32_t) * COUNT);
    test_device_copy(there->bound, report.bound, sizeof(double) * COUNT);
    test_device_copy(there->objective, report.objective, sizeof(double) * COUNT);
    test_device_copy(there->basis, report.basis, COUNT * (rows + cols));
    test_device_copy(there->x, report.x, sizeof(double) * COUNT * cols);
    test_device_copy(there->farkas, report.farkas, sizeof(double) * COUNT * rows);
    test_device_copy(there->farkas_low, report.farkas_low, sizeof(double) * COUNT * rows);
    test_device_copy(there->certainty, report.certainty, sizeof(int32_t) * COUNT);
    assert_true(children_report_equal(&m, here, there));
    test_device_copy((void *)given.row, &outside, sizeof outside);
    assert_int_equal(gpuopt_simplex_children_run(batch, GPUOPT_DEVICE, &given, 100, &report), GPUOPT_ERROR_ARGUMENT);
    test_device_copy((void *)given.col, &column, sizeof column);
    test_device_copy((void *)given.lb, &at, sizeof at);
    must(gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, 1, NULL, &column, &at, 100, &here->r));
    must(gpuopt_simplex_children_strong_branch(batch, GPUOPT_DEVICE, 1, NULL, given.col, given.lb, 100, &report));
    test_device_copy(there->objective, report.objective, sizeof(double) * COUNT);
    assert_memory_equal(there->objective, here->objective, 2 * sizeof(double));
    while (k > 0) test_device_release(block[--k]);
    gpuopt_simplex_children_destroy(batch);
    children_report_free(here);
    children_report_free(there);
    gpuopt_simplex_destroy(root);
    free(all);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* ---- Memory ---- */

/* The plan is exact, and a run takes no memory. */
static void memory_is_planned(void **state) {
    static const char *const models[] = {"plant:20:40:0.3:2", "meyer:20:300:0.1:1", "shah:50:1"};
    static const int32_t copies[] = {1, 7, 1000};
    uint64_t seed = 2;
    int model, k, with;
    (void)state;
    for (model = 0; model < 3; model++)
        for (k = 0; k < 3; k++)
            for (with = 0; with < 2; with++) {
                test_host host;
                gpuopt_context *context = test_context(&host);
                mip m = model_load(models[model]);
                gpuopt_simplex_desc desc = children_root_desc(&m, 0);
                gpuopt_simplex *root = simplex_create(context, &desc);
                gpuopt_simplex_children_desc batch_of = GPUOPT_INIT(gpuopt_simplex_children_desc);
                gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
                gpuopt_simplex_children *batch;
                children *all = children_draw(&seed, &m, copies[k] < 5 ? copies[k] : 5, CHILDREN_BOUNDS);
                uint64_t before[2] = {host.bytes[0], host.bytes[1]};
                long allocations, live = host.live;
                batch_of.batch_size = copies[k];
                batch_of.pivots = model == 1 ? 10 : 0;
                batch_of.on_pivot_limit = model == 1 ? GPUOPT_ON_PIVOT_LIMIT_REFACTOR : GPUOPT_ON_PIVOT_LIMIT_END;
                batch_of.with_basis = batch_of.with_x = batch_of.with_farkas = with;
                must(gpuopt_simplex_children_create(root, &batch_of, &plan, NULL));
                assert_int_equal(host.live, live);
                must(gpuopt_simplex_children_create(root, &batch_of, NULL, &batch));
                assert_int_equal(host.bytes[GPUOPT_HOST] - before[GPUOPT_HOST], plan.host_bytes);
                assert_int_equal(host.bytes[GPUOPT_DEVICE] - before[GPUOPT_DEVICE], plan.device_bytes);
                assert_true((plan.device_bytes > 0) == test_on("cuda"));
                simplex_iterate(root, 100000);
                allocations = host.allocations;
                test_forbid_allocation(1);
                must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, NULL));
                test_forbid_allocation(0);
                assert_int_equal(host.allocations, allocations);
                gpuopt_simplex_children_destroy(batch);
                assert_int_equal(host.live, live);
                gpuopt_simplex_destroy(root);
                free(all);
                mip_free(&m);
                gpuopt_context_destroy(context);
                assert_int_equal(host.live, 0);
            }
}

static void memory_may_run_out(void **state) {
    mip m = model_load("plant:20:40:0.3:2");
    gpuopt_simplex_desc desc = children_root_desc(&m, 0);
    long n, failures = 0;
    (void)state;
    for (n = 1;; n++) {
        test_host host;
        gpuopt_context *context = test_context(&host);
        gpuopt_simplex *root = simplex_create(context, &desc);
        gpuopt_simplex_children_desc batch_of = children_batch_desc(COUNT);
        gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
        gpuopt_simplex_children *batch = (gpuopt_simplex_children *)&plan;
        const long live = host.live, before = host.allocations;
        gpuopt_status status;
        host.fail_at = before + n;
        status = gpuopt_simplex_children_create(root, &batch_of, &plan, NULL);
        if (!status) status = gpuopt_simplex_children_create(root, &batch_of, NULL, &batch);
        host.fail_at = 0;
        if (status) {
            assert_int_equal(status, GPUOPT_ERROR_MEMORY);
            assert_null(batch);
            assert_true(host.error[0]);
            failures++;
        } else gpuopt_simplex_children_destroy(batch);
        assert_int_equal(host.live, live);
        assert_int_equal(simplex_iterate(root, 100000).outcome, GPUOPT_OPTIMAL);
        gpuopt_simplex_destroy(root);
        gpuopt_context_destroy(context);
        assert_int_equal(host.live, 0);
        if (!status) break;
    }
    assert_true(failures >= 3); /* the head, the backend's block, and a worker or the device's */
    mip_free(&m);
}

/* ---- The stop hook ---- */

static int asked;
static int stop(void *user) {
    (void)user;
    return ++asked > 3;
}

/* On the CPU, children are as without the hook, or had no turn. */
static void stopped(void **state) {
    gpuopt_context_desc context_desc = test_context_desc(NULL);
    uint64_t seed = 4;
    mip m = model_load("plant:20:40:0.3:2");
    gpuopt_simplex_desc desc = children_root_desc(&m, 0);
    gpuopt_context *context = test_context(NULL), *stopping;
    gpuopt_simplex_children_desc batch_of = children_batch_desc(COUNT);
    children *all = children_draw(&seed, &m, COUNT, CHILDREN_BOUNDS | CHILDREN_SIDES);
    children_report *whole = children_report_new(&m, COUNT), *part = children_report_new(&m, COUNT);
    int k, run, idle = 0;
    (void)state;
    context_desc.stop = stop;
    must(gpuopt_context_create(&context_desc, &stopping));
    for (run = 0; run < 2; run++) {
        gpuopt_simplex *root = simplex_create(run ? stopping : context, &desc);
        gpuopt_simplex_children *batch;
        asked = -1000000;
        simplex_iterate(root, 100000);
        must(gpuopt_simplex_children_create(root, &batch_of, NULL, &batch));
        asked = 0;
        must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100, run ? &part->r : &whole->r));
        gpuopt_simplex_children_destroy(batch);
        gpuopt_simplex_destroy(root);
    }
    for (k = 0; k < COUNT; k++) {
        if (part->outcome[k] == GPUOPT_MORE && part->iterations[k] == 0 && isnan(part->bound[k])) idle++;
        else assert_true(part->outcome[k] == whole->outcome[k] && part->iterations[k] == whole->iterations[k]);
    }
    if (test_on("cuda")) assert_int_equal(idle, 0);
    if (test_on("cpu")) assert_true(idle > 0);
    children_report_free(whole);
    children_report_free(part);
    free(all);
    mip_free(&m);
    gpuopt_context_destroy(context);
    gpuopt_context_destroy(stopping);
}

/* ---- Where branching splits ---- */

/* Bounds that are set after iterating move the point: _branch splits where _get_solution says then, and a caller that
 * wants the split of before gives its own bounds. */
static void branches_at_the_present_point(void **state) {
    gpuopt_context *context = test_context(NULL);
    int32_t col[200], some[COUNT / 2], count, j, k = 0, moved = 0;
    double x[200], now[200];
    mip m = children_cover(1, 20, 30);
    gpuopt_simplex_desc desc = children_root_desc(&m, 1);
    gpuopt_simplex *root = simplex_create(context, &desc);
    gpuopt_simplex_children *batch = children_batch(root, COUNT, 0, GPUOPT_ON_PIVOT_LIMIT_END);
    children_report *report, *again;
    children *all;
    (void)state;
    assert_int_equal(simplex_iterate(root, 100000).outcome, GPUOPT_OPTIMAL);
    children_fractional(root, &m, col, x);
    for (j = 0; j < m.columns.cols; j++) /* columns at 0, which leave their bound */
        if (x[j] == 0 && k < 6) {
            const double two = 2, three = 3;
            must(gpuopt_simplex_set_bounds(root, GPUOPT_HOST, 1, &j, &two, &three));
            m.lb[j] = 2, m.ub[j] = 3;
            k++;
        }
    count = children_fractional(root, &m, col, now);
    for (j = 0; j < m.columns.cols && count < COUNT / 2; j++) col[count++] = j;
    for (k = 0; k < COUNT / 2; k++) some[k] = col[k], moved += floor(x[some[k]]) != floor(now[some[k]]);
    assert_true(moved > 2);
    all = children_branch(&m, COUNT / 2, some, now);
    report = children_report_new(&m, COUNT), again = children_report_new(&m, COUNT);
    must(gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, COUNT / 2, NULL, some, NULL, 1000, &report->r));
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 1000, &again->r));
    assert_true(children_report_equal(&m, report, again));
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(root);
    children_report_free(report);
    children_report_free(again);
    free(all);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_descriptors),
        cmocka_unit_test(refused_runs),
        cmocka_unit_test(device_memory),
        cmocka_unit_test(memory_is_planned),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(stopped),
        cmocka_unit_test(branches_at_the_present_point),
    };
    return test_main(argc, argv, __FILE__, tests, sizeof tests / sizeof *tests);
}
