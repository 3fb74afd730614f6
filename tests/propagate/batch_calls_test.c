/* SPDX-License-Identifier: MIT
 *
 * The calls of batches of nodes: device memory, all bounds of chosen nodes, the stop hook, misuse, memory that runs
 * out. The results are compared with a run that batch_test.c has checked.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/propagate/batch.h"

static const model_shape shape = {60, 300, 120, 8};

static void *on_device(const void *from, size_t bytes) {
    void *to = test_device_allocate(bytes + 1);
    if (from) test_device_copy(to, from, bytes);
    return to;
}

/* Copies data enqueued so far from device memory. */
static void receive(gpuopt_context *context, void *to, const void *from, size_t bytes) {
    assert_int_equal(gpuopt_context_wait(context), GPUOPT_OK);
    test_device_copy(to, from, bytes);
}

/* Nodes, reports and changes in device memory agree with host memory, and faults there are refused. */
static void device_memory(void **state) {
    enum { COUNT = 200 };
    gpuopt_context *context;
    uint64_t seed = 5;
    mip m;
    gpuopt_propagator_desc desc;
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    node_list *list;
    node_results *r;
    double lb[300], ub[300];
    gpuopt_propagator_nodes there;
    gpuopt_propagator_node_report report = GPUOPT_INIT(gpuopt_propagator_node_report);
    gpuopt_propagator_node_changes changes = GPUOPT_INIT(gpuopt_propagator_node_changes);
    int64_t given, start[COUNT + 1], wide[COUNT];
    int32_t narrow[COUNT], *col, fault = 300;
    double *bound, not_a_number = NAN;
    void *block[14];
    int k = 0;
    (void)state;
    if (!test_on("cuda")) return; /* that the CPU has no device memory, misuse() checks */
    context = test_context(NULL);
    m = model_draw(&shape, &seed);
    desc = mip_propagator_desc(&m);
    base = problem_create(context, &desc);
    problem_round(base, 100);
    problem_bounds(base, lb, ub);
    batch = make_batch(base, NODES, 0, COUNT * 300);
    list = malloc(sizeof *list), r = malloc(sizeof *r);
    draw_nodes(list, COUNT, 0, GIVEN, 300, lb, ub, &seed);
    run_batch(batch, list, 100, r);
    there = list->nodes;
    given = list->start[COUNT];
    there.start = block[k++] = on_device(list->start, sizeof start);
    there.col = block[k++] = on_device(list->col, sizeof *list->col * (size_t)given);
    there.lb = block[k++] = on_device(list->lb, sizeof *list->lb * (size_t)given);
    there.ub = block[k++] = on_device(list->ub, sizeof *list->ub * (size_t)given);
    report.outcome = block[k++] = on_device(NULL, sizeof narrow);
    report.rounds = block[k++] = on_device(NULL, sizeof narrow);
    report.infeasible_row = block[k++] = on_device(NULL, sizeof narrow);
    report.infeasible_col = block[k++] = on_device(NULL, sizeof narrow);
    report.columns = block[k++] = on_device(NULL, sizeof narrow);
    report.changed = block[k++] = on_device(NULL, sizeof wide);
    assert_int_equal(gpuopt_propagator_batch_run(batch, GPUOPT_DEVICE, &there, 100, &report), GPUOPT_OK);
#define SAME(array, buffer, wanted) \
    receive(context, buffer, array, sizeof buffer), assert_memory_equal(buffer, wanted, sizeof buffer)
    SAME(report.outcome, narrow, r->outcome);
    SAME(report.rounds, narrow, r->rounds);
    SAME(report.infeasible_row, narrow, r->row);
    SAME(report.infeasible_col, narrow, r->col);
    SAME(report.columns, narrow, r->columns);
    SAME(report.changed, wide, r->changed);
    changes.capacity = r->count - 1; /* the last column is left out */
    changes.start = block[k++] = on_device(NULL, sizeof start);
    changes.col = block[k++] = on_device(NULL, sizeof *changes.col * (size_t)r->count);
    changes.lb = block[k++] = on_device(NULL, sizeof *changes.lb * (size_t)r->count);
    changes.ub = block[k++] = on_device(NULL, sizeof *changes.ub * (size_t)r->count);
    assert_int_equal(gpuopt_propagator_batch_get_changes(batch, GPUOPT_DEVICE, &changes), GPUOPT_OK);
    assert_int_equal(changes.count, r->count);
    SAME(changes.start, start, r->start);
    col = malloc(sizeof *col * (size_t)r->count), bound = malloc(sizeof *bound * (size_t)r->count);
    receive(context, col, changes.col, sizeof *col * (size_t)changes.capacity);
    assert_memory_equal(col, r->changed_col, sizeof *col * (size_t)changes.capacity);
    receive(context, bound, changes.lb, sizeof *bound * (size_t)changes.capacity);
    assert_memory_equal(bound, r->lb, sizeof *bound * (size_t)changes.capacity);
    receive(context, bound, changes.ub, sizeof *bound * (size_t)changes.capacity);
    assert_memory_equal(bound, r->ub, sizeof *bound * (size_t)changes.capacity);
    /* Of three nodes, to device memory after a run from host memory. */
    list->nodes.count = 3;
    assert_int_equal(gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &list->nodes, 100, NULL), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_batch_get_changes(batch, GPUOPT_DEVICE, &changes), GPUOPT_OK);
    assert_int_equal(changes.count, r->start[3]);
    receive(context, bound, changes.lb, sizeof *bound * (size_t)r->start[3]);
    assert_memory_equal(bound, r->lb, sizeof *bound * (size_t)r->start[3]);
    /* A column out of range, then an invalid bound, then neither. */
    test_device_copy((void *)there.col, &fault, sizeof fault);
    assert_int_equal(gpuopt_propagator_batch_run(batch, GPUOPT_DEVICE, &there, 100, &report), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_propagator_batch_get_changes(batch, GPUOPT_DEVICE, &changes), GPUOPT_ERROR_STATE);
    test_device_copy((void *)there.col, list->col, sizeof fault);
    test_device_copy((void *)there.ub, &not_a_number, sizeof not_a_number);
    assert_int_equal(gpuopt_propagator_batch_run(batch, GPUOPT_DEVICE, &there, 100, &report), GPUOPT_ERROR_ARGUMENT);
    test_device_copy((void *)there.ub, list->ub, sizeof not_a_number);
    assert_int_equal(gpuopt_propagator_batch_run(batch, GPUOPT_DEVICE, &there, 100, &report), GPUOPT_OK);
    SAME(report.outcome, narrow, r->outcome);
    assert_int_equal(gpuopt_propagator_batch_get_changes(batch, GPUOPT_DEVICE, &changes), GPUOPT_OK);
    assert_int_equal(changes.count, r->count);
    while (k > 0) test_device_release(block[--k]);
    free_results(r);
    free(col), free(bound), free(list), free(r);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* All bounds of chosen nodes: as in single propagators, or the base's if a node has no changes. */
static void all_bounds(void **state) {
    enum { COUNT = 40, COLS = 300, CHOSEN = 5 };
    static const int32_t chosen[CHOSEN] = {7, 0, COUNT - 1, 7, 3}, outside = COUNT;
    gpuopt_context *context = test_context(NULL), *cpu = test_plain_context();
    uint64_t seed = 8;
    mip m = model_draw(&shape, &seed);
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    base_past past = {100, -1, 0, 0, 0};
    gpuopt_propagator *base = make_base(context, &desc, &past);
    gpuopt_propagator_batch *batch = make_batch(base, NODES, 0, COUNT * COLS), *narrow;
    node_list *list = malloc(sizeof *list);
    node_results *r = malloc(sizeof *r);
    double *base_lb = malloc(sizeof(double) * COLS), *base_ub = malloc(sizeof(double) * COLS),
           *want_lb = malloc(sizeof(double) * COLS * COUNT), *want_ub = malloc(sizeof(double) * COLS * COUNT),
           *lb = malloc(sizeof(double) * COLS * COUNT), *ub = malloc(sizeof(double) * COLS * COUNT);
    int32_t node, k, feasible = 0;
    (void)state;
    problem_bounds(base, base_lb, base_ub);
    assert_int_equal(gpuopt_propagator_batch_get_bounds(batch, GPUOPT_HOST, 1, NULL, lb, ub), GPUOPT_ERROR_STATE);
    draw_nodes(list, COUNT, 0, GIVEN, COLS, base_lb, base_ub, &seed);
    run_batch(batch, list, 100, r);
    for (node = 0; node < COUNT; node++) {
        gpuopt_propagator *alone = make_base(cpu, &desc, &past);
        int64_t first = list->start[node];
        assert_int_equal(gpuopt_propagator_set_bounds(alone, GPUOPT_HOST, list->start[node + 1] - first,
                                                      list->col + first, list->lb + first, list->ub + first),
                         GPUOPT_OK);
        memcpy(want_lb + node * COLS, base_lb, sizeof(double) * COLS);
        memcpy(want_ub + node * COLS, base_ub, sizeof(double) * COLS);
        if (problem_round(alone, 100).outcome != GPUOPT_INFEASIBLE) {
            problem_bounds(alone, want_lb + node * COLS, want_ub + node * COLS);
            feasible++;
        }
        gpuopt_propagator_destroy(alone);
    }
    assert_true(feasible > 0 && feasible < COUNT);
    assert_int_equal(gpuopt_propagator_batch_get_bounds(batch, GPUOPT_HOST, COUNT, NULL, lb, ub), GPUOPT_OK);
    assert_memory_equal(lb, want_lb, sizeof(double) * COLS * COUNT);
    assert_memory_equal(ub, want_ub, sizeof(double) * COLS * COUNT);
    memset(lb, 0, sizeof(double) * COLS * COUNT), memset(ub, 0, sizeof(double) * COLS * COUNT);
    assert_int_equal(gpuopt_propagator_batch_get_bounds(batch, GPUOPT_HOST, CHOSEN, chosen, NULL, ub), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_batch_get_bounds(batch, GPUOPT_HOST, CHOSEN, chosen, lb, NULL), GPUOPT_OK);
    for (k = 0; k < CHOSEN; k++) {
        assert_memory_equal(lb + k * COLS, want_lb + chosen[k] * COLS, sizeof(double) * COLS);
        assert_memory_equal(ub + k * COLS, want_ub + chosen[k] * COLS, sizeof(double) * COLS);
    }
    if (test_on("cuda")) { /* into device memory; a node that there is not */
        int32_t list_of[CHOSEN];
        void *nodes, *low = on_device(NULL, sizeof(double) * COLS * CHOSEN),
                     *high = on_device(NULL, sizeof(double) * COLS * CHOSEN);
        memcpy(list_of, chosen, sizeof list_of);
        list_of[1] = COUNT;
        nodes = on_device(list_of, sizeof list_of);
        assert_int_equal(gpuopt_propagator_batch_get_bounds(batch, GPUOPT_DEVICE, CHOSEN, nodes, low, high), GPUOPT_OK);
        receive(context, lb, low, sizeof(double) * COLS * CHOSEN);
        receive(context, ub, high, sizeof(double) * COLS * CHOSEN);
        for (k = 0; k < CHOSEN; k++) {
            if (k == 1) {
                assert_true(isnan(lb[k * COLS]) && isnan(ub[k * COLS + COLS - 1]));
                continue;
            }
            assert_memory_equal(lb + k * COLS, want_lb + chosen[k] * COLS, sizeof(double) * COLS);
            assert_memory_equal(ub + k * COLS, want_ub + chosen[k] * COLS, sizeof(double) * COLS);
        }
        test_device_release(nodes), test_device_release(low), test_device_release(high);
    }
#define BOUNDS(status, count, node) \
    assert_int_equal(gpuopt_propagator_batch_get_bounds(batch, GPUOPT_HOST, count, node, lb, ub), GPUOPT_ERROR_##status)
    BOUNDS(ARGUMENT, COUNT + 1, NULL);
    BOUNDS(ARGUMENT, -1, NULL);
    BOUNDS(ARGUMENT, 1, &outside);
    assert_int_equal(gpuopt_propagator_batch_get_bounds(NULL, GPUOPT_HOST, 1, NULL, lb, ub), GPUOPT_ERROR_ARGUMENT);
    if (!test_on("cuda"))
        assert_int_equal(gpuopt_propagator_batch_get_bounds(batch, GPUOPT_DEVICE, 1, NULL, lb, ub),
                         GPUOPT_ERROR_UNSUPPORTED);
    problem_round(base, 1);
    BOUNDS(STATE, 1, NULL);
    /* As many changes as there are, less one. */
    assert_true(r->count > list->start[COUNT]);
    narrow = make_batch(base, NODES, 0, r->count - 1);
    assert_int_equal(gpuopt_propagator_batch_run(narrow, GPUOPT_HOST, &list->nodes, 100, NULL), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_batch_get_bounds(narrow, GPUOPT_HOST, 1, NULL, lb, ub), GPUOPT_ERROR_MEMORY);
    gpuopt_propagator_batch_destroy(narrow);
    free_results(r);
    free(list), free(r), free(base_lb), free(base_ub), free(want_lb), free(want_ub), free(lb), free(ub);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
    mip_free(&m);
    gpuopt_context_destroy(cpu);
    gpuopt_context_destroy(context);
}

static int stop(void *user) { return *(int *)user; }

/* A stopped run: nodes are as without the stop, or as if they had not been given. */
static void stopped(void **state) {
    enum { COLS = 1500, COUNT = 12, ROUNDS = 2000 };
    gpuopt_context_desc context_desc = test_context_desc(NULL);
    gpuopt_context *context;
    mip m = model_chain(COLS);
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    node_list *list = malloc(sizeof *list);
    node_results *all = malloc(sizeof *all), *some = malloc(sizeof *some);
    int wanted = 0, pass;
    int32_t k, undone;
    (void)state;
    context_desc.allocate = NULL, context_desc.release = NULL, context_desc.log = NULL;
    context_desc.stop = stop, context_desc.user = &wanted;
    assert_int_equal(gpuopt_context_create(&context_desc, &context), GPUOPT_OK);
    base = problem_create(context, &desc);
    problem_round(base, ROUNDS);
    batch = make_batch(base, NODES, 0, 64 * COLS);
    chain_nodes(list, COUNT, COLS - 50, 7);
    list->col[COUNT - 1] = 0; /* outgrows the tables that the GPU has in shared memory */
    run_batch(batch, list, ROUNDS, all);
    for (pass = 0; pass < 2; pass++) {
        wanted = pass == 0;
        run_batch(batch, list, ROUNDS, some);
        for (k = undone = 0; k < COUNT; k++) {
            if (some->outcome[k] == GPUOPT_MORE) {
                assert_true(some->rounds[k] == 0 && some->columns[k] == 0 && some->row[k] == -1 && some->col[k] == -1);
                assert_true(some->changed[k] == 0 && some->nonzeros[k] == 0);
                undone++;
                continue;
            }
            assert_int_equal(some->outcome[k], GPUOPT_CONVERGED);
            assert_int_equal(some->rounds[k], all->rounds[k]);
            assert_int_equal(some->columns[k], all->columns[k]);
            assert_memory_equal(some->changed_col + some->start[k], all->changed_col + all->start[k],
                                sizeof(int32_t) * (size_t)all->columns[k]);
            assert_memory_equal(some->ub + some->start[k], all->ub + all->start[k],
                                sizeof(double) * (size_t)all->columns[k]);
        }
        /* With several threads, the thread that may call the hook perhaps has no second node. */
        if (pass == 0) assert_true(undone > 0 || strcmp(test_backend_name, "cpu-threads") == 0);
        else assert_int_equal(undone, 0);
        free_results(some);
    }
    free_results(all);
    free(list), free(all), free(some);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* Faults are refused, and the batch works afterwards. */
static void misuse(void **state) {
    model_host *h = *state;
    gpuopt_propagator *base, *other;
    gpuopt_propagator_batch_desc desc = GPUOPT_INIT(gpuopt_propagator_batch_desc);
    gpuopt_propagator_batch *batch;
    gpuopt_propagator_node_changes changes = GPUOPT_INIT(gpuopt_propagator_node_changes);
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    int64_t start[3] = {0, 1, 2}, late[3] = {1, 1, 2}, falling[3] = {0, 2, 1};
    int32_t col[2] = {0, 2}, outside[2] = {0, 3}, outcome[2];
    double lb[2] = {1, 1}, ub[2] = {2, 2}, nan[2] = {1, NAN}, high[2] = {1, 1e20};
    gpuopt_propagator_nodes nodes = GPUOPT_INIT(gpuopt_propagator_nodes);
    gpuopt_propagator_node_report report = GPUOPT_INIT(gpuopt_propagator_node_report);
    h->desc.marking = GPUOPT_ON;
    base = problem_create(h->context, &h->desc);
    assert_int_equal(gpuopt_propagator_batch_create(NULL, &desc, NULL, &batch), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_propagator_batch_create(base, NULL, NULL, &batch), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_propagator_batch_create(base, &desc, NULL, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_propagator_batch_create(base, &desc, NULL, &batch), GPUOPT_ERROR_ARGUMENT); /* no nodes */
    assert_null(batch);
    desc.nodes = 65537;
    assert_int_equal(gpuopt_propagator_batch_create(base, &desc, NULL, &batch), GPUOPT_ERROR_ARGUMENT);
    desc.nodes = 2;
    desc.node_columns = -1;
    assert_int_equal(gpuopt_propagator_batch_create(base, &desc, NULL, &batch), GPUOPT_ERROR_ARGUMENT);
    desc.node_columns = 0;
    desc.changes = -1;
    assert_int_equal(gpuopt_propagator_batch_create(base, &desc, NULL, &batch), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_propagator_batch_create(base, &desc, &plan, NULL), GPUOPT_ERROR_ARGUMENT);
    desc.changes = 0;
    assert_int_equal(gpuopt_propagator_batch_create(base, &desc, NULL, NULL), GPUOPT_ERROR_ARGUMENT);
    h->desc.marking = GPUOPT_OFF;
    other = problem_create(h->context, &h->desc);
    assert_int_equal(gpuopt_propagator_batch_create(other, &desc, NULL, &batch), GPUOPT_ERROR_UNSUPPORTED);
    gpuopt_propagator_destroy(other);
    h->desc.marking = GPUOPT_ON;
    if (test_on("cpu")) {
        h->desc.mode = GPUOPT_MODE_GAUSS_SEIDEL;
        other = problem_create(h->context, &h->desc);
        assert_int_equal(gpuopt_propagator_batch_create(other, &desc, NULL, &batch), GPUOPT_ERROR_UNSUPPORTED);
        gpuopt_propagator_destroy(other);
    }
    desc.changes = 3;
    assert_int_equal(gpuopt_propagator_batch_create(base, &desc, NULL, &batch), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes), GPUOPT_ERROR_STATE);
    nodes.count = 2, nodes.start = start, nodes.col = col, nodes.lb = lb, nodes.ub = ub;
    report.outcome = outcome;
#define REFUSED(status) \
    assert_int_equal(gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &nodes, 5, &report), GPUOPT_ERROR_##status)
    assert_int_equal(gpuopt_propagator_batch_run(NULL, GPUOPT_HOST, &nodes, 5, &report), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_propagator_batch_run(batch, GPUOPT_HOST, NULL, 5, &report), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &nodes, 0, &report), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_propagator_batch_run(batch, (gpuopt_memory_space)2, &nodes, 5, &report),
                     GPUOPT_ERROR_ARGUMENT);
    if (!test_on("cuda"))
        assert_int_equal(gpuopt_propagator_batch_run(batch, GPUOPT_DEVICE, &nodes, 5, &report),
                         GPUOPT_ERROR_UNSUPPORTED);
    nodes.count = 3;
    REFUSED(ARGUMENT);
    nodes.count = -1;
    REFUSED(ARGUMENT);
    nodes.count = 2, nodes.start = NULL;
    REFUSED(ARGUMENT);
    nodes.start = late;
    REFUSED(ARGUMENT);
    nodes.start = falling;
    REFUSED(ARGUMENT);
    nodes.start = start, nodes.col = NULL;
    REFUSED(ARGUMENT);
    nodes.col = outside;
    REFUSED(ARGUMENT);
    nodes.col = col, nodes.ub = nan;
    REFUSED(ARGUMENT);
    nodes.ub = ub, nodes.lb = high;
    REFUSED(ARGUMENT);
    nodes.lb = lb, start[2] = 4;
    REFUSED(MEMORY);
    start[2] = 2;
    assert_int_equal(gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes), GPUOPT_ERROR_STATE);
    /* And now without a fault. */
    assert_int_equal(gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &nodes, 50, &report), GPUOPT_OK);
    assert_int_equal(outcome[0], GPUOPT_CONVERGED);
    changes.capacity = -1;
    assert_int_equal(gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, NULL), GPUOPT_ERROR_ARGUMENT);
    changes.capacity = 0;
    assert_int_equal(gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes), GPUOPT_ERROR_MEMORY);
    assert_int_equal(changes.count, 6);
    nodes.count = 0; /* no nodes at all */
    assert_int_equal(gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &nodes, 50, NULL), GPUOPT_OK);
    changes.start = late;
    assert_int_equal(gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes), GPUOPT_OK);
    assert_int_equal(changes.count, 0);
    assert_int_equal(late[0], 0);
    gpuopt_propagator_batch_destroy(NULL);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
}

/* Memory is as planned, and each allocation may fail. */
static void memory(void **state) {
    model_host *h = *state;
    gpuopt_propagator_batch_desc desc = GPUOPT_INIT(gpuopt_propagator_batch_desc);
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    gpuopt_propagator_batch *batch;
    gpuopt_propagator *base;
    uint64_t before[2];
    long blocks, first, k;
    h->desc.marking = GPUOPT_ON;
    base = problem_create(h->context, &h->desc);
    desc.nodes = 1000;
    assert_int_equal(gpuopt_propagator_batch_create(base, &desc, &plan, NULL), GPUOPT_OK);
    memcpy(before, h->host.bytes, sizeof before);
    blocks = h->host.live, first = h->host.allocations;
    assert_int_equal(gpuopt_propagator_batch_create(base, &desc, NULL, &batch), GPUOPT_OK);
    assert_int_equal(h->host.bytes[GPUOPT_HOST] - before[GPUOPT_HOST], plan.host_bytes);
    assert_int_equal(h->host.bytes[GPUOPT_DEVICE] - before[GPUOPT_DEVICE], plan.device_bytes);
    first = h->host.allocations - first;
    gpuopt_propagator_batch_destroy(batch);
    assert_int_equal(h->host.live, blocks);
    for (k = 1; k <= first; k++) {
        h->host.fail_at = h->host.allocations + k;
        assert_int_equal(gpuopt_propagator_batch_create(base, &desc, NULL, &batch), GPUOPT_ERROR_MEMORY);
        assert_null(batch);
        assert_int_equal(h->host.live, blocks);
    }
    h->host.fail_at = 0;
    assert_int_equal(gpuopt_propagator_batch_create(base, &desc, NULL, &batch), GPUOPT_OK);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(device_memory),
    cmocka_unit_test(all_bounds),
    cmocka_unit_test(stopped),
    MODEL_TEST(misuse),
    MODEL_TEST(memory),
};

TEST_MAIN(tests)
