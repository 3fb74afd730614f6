/* SPDX-License-Identifier: MIT
 *
 * Batches of nodes shared by ranks. A failure on one rank is a status on all: a wrong argument, too little capacity, a
 * lost rank, or a stop by its caller.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/group/nodes.h"

/* ---- What one rank does wrong ---- */

/* A call in which the culprit errs. Returns the status that the others must return, too. */
static gpuopt_status err(rank *r, gpuopt_propagator_batch *batch, int wrong, gpuopt_status *expected) {
    const nodes_work *w = r->all->data;
    gpuopt_propagator_nodes nodes = w->list->nodes;
    gpuopt_propagator_node_report report = nodes_report(r);
    gpuopt_memory_space where = GPUOPT_HOST;
    int rounds = 50;
    gpuopt_status status;
    int64_t start[NODES + 1];
    int32_t col[NODES * GIVEN];
    memcpy(start, w->list->start, sizeof start);
    memcpy(col, w->list->col, sizeof col);
    *expected = GPUOPT_ERROR_ARGUMENT;
    if (wrong == 8) *expected = GPUOPT_ERROR_UNSUPPORTED;
    if (r->number != w->culprit && wrong < 9) wrong = 0;
    nodes.start = start, nodes.col = col;
    switch (wrong) {
    case 1: nodes.count--; break;
    case 2: rounds = 0; break;
    case 3: rounds = 51; break;
    case 4: report.columns = NULL; break;
    case 5: start[2]++; break;
    case 6: nodes.start = NULL; break;
    case 7: report.struct_size = 3; break;
    case 8: where = GPUOPT_DEVICE; break;
    case 9: /* a column of a node that only one rank looks at */
        for (nodes.count = 0; start[nodes.count + 1] == 0; nodes.count++) continue;
        col[0] = 1000;
        nodes.count++;
        break;
    }
    status = gpuopt_propagator_batch_run(batch, where, &nodes, rounds, &report);
    return wrong == 10 ? gpuopt_propagator_batch_run(batch, GPUOPT_HOST, NULL, rounds, NULL) : status;
}

static void errs(rank *r) {
    const nodes_work *w = r->all->data;
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    gpuopt_propagator_node_report report = nodes_report(r);
    gpuopt_propagator_node_changes changes = GPUOPT_INIT(gpuopt_propagator_node_changes);
    gpuopt_status expected;
    int wrong;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    nodes_make(r, &base, &batch);
    EXPECT(r, gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes) == GPUOPT_ERROR_STATE);
    for (wrong = 1; wrong <= 10; wrong++) {
        gpuopt_status status = err(r, batch, wrong, &expected);
        EXPECT(r, status == expected);
        EXPECT(r, strstr(r->host.error, "gpuopt_propagator_batch_run") != NULL);
        EXPECT(r, gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes) == GPUOPT_ERROR_STATE);
        EXPECT(r, gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &w->list->nodes, 50, &report) == GPUOPT_OK);
        EXPECT(r, gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes) == GPUOPT_OK);
    }
    changes.capacity = r->number == w->culprit ? -1 : 0;
    EXPECT(r, gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes) == GPUOPT_ERROR_ARGUMENT);
    changes.capacity = 0;
    EXPECT(r, gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes) == GPUOPT_OK);
    EXPECT(r, gpuopt_group_agree(r->group, &changes.count, sizeof changes.count) == GPUOPT_OK);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
}

/* In _create. */
static void errs_at_first(rank *r) {
    const nodes_work *w = r->all->data;
    gpuopt_propagator_batch_desc desc;
    gpuopt_propagator_desc model = *w->desc;
    const gpuopt_propagator_tolerances loose = {.struct_size = sizeof loose, .feasibility = 1e-3};
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    gpuopt_propagator *base = NULL;
    gpuopt_propagator_batch *batch = NULL;
    gpuopt_status status, expected = GPUOPT_ERROR_ARGUMENT;
    const int is_culprit = r->number == w->culprit;
    uint64_t before[2];
    long blocks, first;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    desc = nodes_desc(r);
    if (w->wrong == 1 && is_culprit) desc.nodes++;
    if (w->wrong == 2 && is_culprit) desc.nodes = 0;
    if (w->wrong == 3 && is_culprit) model.matrix.rows--;
    if (w->wrong == 4 && is_culprit) model.tolerances = &loose;
    if (w->wrong == 5 && is_culprit) model.marking = GPUOPT_OFF;
    if (w->wrong == 5) expected = GPUOPT_ERROR_UNSUPPORTED;
    if (w->wrong >= 6) expected = GPUOPT_ERROR_MEMORY;
    EXPECT(r, gpuopt_propagator_create(r->context, &model, NULL, &base) == GPUOPT_OK);
    if (w->wrong >= 6 && is_culprit) r->host.fail_at = r->host.allocations + w->wrong - 5;
    blocks = r->host.live;
    status = gpuopt_propagator_batch_create(base, &desc, NULL, &batch);
    EXPECT(r, status == expected);
    EXPECT(r, !batch && r->host.live == blocks);
    EXPECT(r, strstr(r->host.error, "gpuopt_propagator_batch_create") != NULL || (w->wrong >= 6 && is_culprit));
    gpuopt_propagator_destroy(base);
    /* And then without a fault, in as much memory as planned. */
    r->host.fail_at = 0;
    desc = nodes_desc(r);
    EXPECT(r, gpuopt_propagator_create(r->context, w->desc, NULL, &base) == GPUOPT_OK);
    EXPECT(r, gpuopt_propagator_batch_create(base, &desc, &plan, NULL) == GPUOPT_OK);
    memcpy(before, r->host.bytes, sizeof before);
    first = r->host.allocations;
    EXPECT(r, gpuopt_propagator_batch_create(base, &desc, NULL, &batch) == GPUOPT_OK);
    EXPECT(r, r->host.bytes[GPUOPT_HOST] - before[GPUOPT_HOST] == plan.host_bytes);
    EXPECT(r, r->host.bytes[GPUOPT_DEVICE] - before[GPUOPT_DEVICE] == plan.device_bytes);
    w->ran_by[r->number][0] = (int32_t)(r->host.allocations - first);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
}

static void refused(void **state) {
    node_list *list = malloc(sizeof *list);
    uint64_t seed = 5;
    mip m = nodes_draw(&seed, list, 31);
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    nodes_work *w = nodes_work_new(&desc, list);
    int last = 6;
    (void)state;
    for (w->culprit = 0; w->culprit < 3; w->culprit++) ranks_run(3, errs, w);
    for (w->wrong = 1; w->wrong <= last; w->wrong++) {
        w->culprit = w->wrong % 3;
        ranks_run(3, errs_at_first, w);
        last = 5 + w->ran_by[0][0];
    }
    assert_true(last > 6);
    nodes_work_free(w);
    mip_free(&m);
    free(list);
}

/* A group of another context; and one that the descriptor leaves unmentioned. */
static void other_context(void **state) {
    gpuopt_context *context = test_context(NULL), *other = test_context(NULL);
    mip m = model_small();
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    gpuopt_propagator_batch_desc nodes = GPUOPT_INIT(gpuopt_propagator_batch_desc);
    gpuopt_propagator *base = problem_create(context, &desc);
    gpuopt_propagator_batch *batch;
    gpuopt_group *group;
    (void)state;
    assert_int_equal(gpuopt_group_create(other, NULL, NULL, &group), GPUOPT_OK);
    nodes.nodes = 3;
    nodes.group = group;
    assert_int_equal(gpuopt_propagator_batch_create(base, &nodes, NULL, &batch), GPUOPT_ERROR_ARGUMENT);
    assert_non_null(strstr(gpuopt_context_last_error(context), "another context"));
    gpuopt_group_destroy(group);
    gpuopt_propagator_destroy(base);
    gpuopt_context_destroy(context);
    gpuopt_context_destroy(other);
    mip_free(&m);
}

/* ---- Capacity ---- */

/* Each node of a chain changes many columns, and fewer fit. */
static void has_little_capacity(rank *r) {
    const nodes_work *w = r->all->data;
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    gpuopt_propagator_node_report report = nodes_report(r);
    gpuopt_propagator_node_changes changes = GPUOPT_INIT(gpuopt_propagator_node_changes);
    gpuopt_propagator_nodes few = w->list->nodes;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    nodes_make(r, &base, &batch);
    EXPECT(r, gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &w->list->nodes, 100, &report) == GPUOPT_OK);
    EXPECT(r, gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes) == GPUOPT_ERROR_MEMORY);
    EXPECT(r, changes.count == 12 * 10 + 66); /* node k: 10 + k columns */
    few.count = 4;
    EXPECT(r, gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &few, 100, &report) == GPUOPT_OK);
    EXPECT(r, gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes) == GPUOPT_OK);
    EXPECT(r, changes.count == 4 * 10 + 6);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
}

static void little_capacity(void **state) {
    node_list *list = malloc(sizeof *list);
    mip m = model_chain(40);
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    nodes_work *w = nodes_work_new(&desc, list);
    (void)state;
    desc.marking = GPUOPT_ON;
    chain_nodes(list, 12, 30, 7);
    w->changes = 30; /* of 12 nodes on two ranks at least 6 x 10 columns; of 4 at most 2 x 13 */
    ranks_run(2, has_little_capacity, w);
    nodes_work_free(w);
    mip_free(&m);
    free(list);
}

static void gives_much(rank *r) {
    const nodes_work *w = r->all->data;
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    nodes_make(r, &base, &batch);
    EXPECT(r, gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &w->list->nodes, 9, NULL) == GPUOPT_ERROR_MEMORY);
    EXPECT(r, gpuopt_group_agree(r->group, NULL, 0) == GPUOPT_OK);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
}

/* Node 5 is given many bounds. Only the rank that runs it has too little capacity. */
static void much_given(void **state) {
    node_list *list = malloc(sizeof *list);
    mip m = model_chain(40);
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    nodes_work *w = nodes_work_new(&desc, list);
    int32_t k;
    (void)state;
    desc.marking = GPUOPT_ON;
    chain_nodes(list, 20, 30, 7);
    for (k = 6; k <= 20; k++) list->start[k] += 10;
    for (k = 0; k < 40; k++) list->col[k] = k, list->ub[k] = 7;
    w->changes = 12;
    ranks_run(3, gives_much, w);
    nodes_work_free(w);
    mip_free(&m);
    free(list);
}

/* ---- Lost ranks ---- */

static void is_lost(rank *r) {
    const nodes_work *w = r->all->data;
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    gpuopt_propagator_node_report report = nodes_report(r);
    gpuopt_propagator_node_changes changes = GPUOPT_INIT(gpuopt_propagator_node_changes);
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    EXPECT(r, rank_join(r, w->wrong == 1 ? 0.5 : 60) == GPUOPT_OK);
    nodes_make(r, &base, &batch);
    if (w->wrong == 3) {
        EXPECT(r, gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &w->list->nodes, 9, &report) == GPUOPT_OK);
        if (r->number == w->culprit) gpuopt_group_abort(r->group);
        EXPECT(r, gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes) == GPUOPT_ERROR_PEER);
        changes.own = 1; /* which asks no other rank */
        EXPECT(r, gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes) == GPUOPT_OK);
    } else if (r->number == w->culprit) {
        if (w->wrong == 2) gpuopt_group_abort(r->group);
        else seconds_wait(1);
    }
    EXPECT(r, gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &w->list->nodes, 9, &report) == GPUOPT_ERROR_PEER);
    EXPECT(r, gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &w->list->nodes, 9, &report) == GPUOPT_ERROR_PEER);
    EXPECT(r, gpuopt_propagator_round(base, 9, &info) == GPUOPT_OK);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
}

static void lost(void **state) {
    node_list *list = malloc(sizeof *list);
    uint64_t seed = 6;
    mip m = nodes_draw(&seed, list, 20);
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    nodes_work *w = nodes_work_new(&desc, list);
    (void)state;
    for (w->wrong = 1; w->wrong <= 3; w->wrong++)
        for (w->culprit = 0; w->culprit < 3; w->culprit += 2) ranks_run(3, is_lost, w);
    nodes_work_free(w);
    mip_free(&m);
    free(list);
}

/* ---- The stop hook ---- */

static int stops(void *user) { return (void)user, 1; }

/* The hook of rank 1 requests a stop: its first node runs, since the hook is not called before it, and the others of
 * its share do not. */
static void is_stopped(rank *r) {
    const nodes_work *w = r->all->data;
    test_host host;
    gpuopt_context_desc own = test_context_desc(&host);
    gpuopt_context *given = r->context;
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    gpuopt_propagator_node_report report = nodes_report(r);
    int32_t k, run = 0;
    if (r->number == 1) own.stop = stops;
    EXPECT(r, gpuopt_context_create(&own, &r->context) == GPUOPT_OK);
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    nodes_make(r, &base, &batch);
    EXPECT(r, gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &w->list->nodes, 100, &report) == GPUOPT_OK);
    for (k = 0; k < w->list->nodes.count; k++) {
        if (report.rank[k] == 1 && run++ > 0) EXPECT(r, report.outcome[k] == GPUOPT_MORE && report.rounds[k] == 0);
        if (report.rank[k] != 1) EXPECT(r, report.outcome[k] == GPUOPT_CONVERGED && report.rounds[k] > 0);
    }
    EXPECT(r, run > 1);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
    gpuopt_group_destroy(r->group);
    gpuopt_context_destroy(r->context);
    EXPECT(r, host.live == 0);
    r->group = NULL;
    r->context = given;
}

static void stopped(void **state) {
    node_list *list = malloc(sizeof *list);
    mip m = model_chain(40);
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    nodes_work *w = nodes_work_new(&desc, list);
    (void)state;
    desc.marking = GPUOPT_ON;
    chain_nodes(list, 20, 30, 7);
    if (test_on("cpu")) ranks_run(3, is_stopped, w); /* on the GPU such a small run calls no hook */
    nodes_work_free(w);
    mip_free(&m);
    free(list);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(refused),    cmocka_unit_test(other_context), cmocka_unit_test(little_capacity),
    cmocka_unit_test(much_given), cmocka_unit_test(lost),          cmocka_unit_test(stopped),
};
TEST_MAIN(tests)
