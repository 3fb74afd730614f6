/* SPDX-License-Identifier: MIT
 *
 * Batches of nodes shared by ranks. Every rank receives the results of each node, bit for bit as from a separate
 * propagator with the node's bounds; and the shares are even.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/group/nodes.h"

/* ---- What is found ---- */

/* The changes of all nodes, in two calls, and in one that has too little capacity for them. */
static void read_changes(rank *r, gpuopt_propagator_batch *batch, node_results *found) {
    gpuopt_propagator_node_changes changes = GPUOPT_INIT(gpuopt_propagator_node_changes);
    double lb[5] = {7, 7, 7, 7, 7};
    int64_t k;
    EXPECT(r, gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes) == GPUOPT_OK);
    found->count = changes.capacity = changes.count;
    changes.col = found->changed_col = malloc(sizeof *found->changed_col * (size_t)(found->count + 1));
    changes.lb = found->lb = malloc(sizeof *found->lb * (size_t)(found->count + 1));
    changes.ub = found->ub = malloc(sizeof *found->ub * (size_t)(found->count + 1));
    changes.start = found->start;
    EXPECT(r, gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes) == GPUOPT_OK);
    EXPECT(r, changes.count == found->count);
    changes.col = NULL, changes.ub = NULL, changes.start = NULL; /* which, and how many, is each rank's own affair */
    changes.lb = r->number % 2 ? lb : NULL;
    changes.capacity = r->number % 2 ? 4 : 0;
    EXPECT(r, gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes) == GPUOPT_OK);
    for (k = 0; changes.lb && k < 5; k++)
        EXPECT(r, memcmp(&lb[k], k < 4 && k < found->count ? &found->lb[k] : &(double){7}, sizeof *lb) == 0);
}

/* The rank's own nodes alone, without the others: the same changes, and the corresponding bounds. */
static void read_own(rank *r, gpuopt_propagator_batch *batch, const node_results *found, const int32_t *ran_by) {
    const nodes_work *w = r->all->data;
    const int32_t nodes = w->list->nodes.count, cols = w->desc->matrix.cols;
    gpuopt_propagator_node_changes changes = GPUOPT_INIT(gpuopt_propagator_node_changes);
    int64_t *start = malloc(sizeof *start * (NODES + 1)), k;
    int32_t *col = malloc(sizeof *col * (size_t)(found->count + 1)), node, own = 0, other = -1, mine[NODES];
    double *ub = malloc(sizeof *ub * (size_t)(found->count + 1)), *all = malloc(sizeof *all * NODES * (size_t)cols);
    changes.own = 1;
    changes.capacity = found->count;
    changes.start = start;
    changes.col = col;
    changes.ub = ub;
    EXPECT(r, gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes) == GPUOPT_OK);
    EXPECT(r, start[0] == 0 && start[nodes] == changes.count);
    for (node = 0; node < nodes; node++) {
        const int64_t count = start[node + 1] - start[node], at = found->start[node];
        if (ran_by[node] != r->number) {
            EXPECT(r, count == 0);
            other = node;
            continue;
        }
        mine[own++] = node;
        EXPECT(r, count == found->start[node + 1] - at);
        EXPECT(r, memcmp(col + start[node], found->changed_col + at, sizeof *col * (size_t)count) == 0);
        EXPECT(r, memcmp(ub + start[node], found->ub + at, sizeof *ub * (size_t)count) == 0);
    }
    EXPECT(r, gpuopt_propagator_batch_get_bounds(batch, GPUOPT_HOST, own, mine, NULL, all) == GPUOPT_OK);
    for (node = 0; node < own; node++)
        for (k = found->start[mine[node]]; k < found->start[mine[node] + 1]; k++)
            EXPECT(r, all[(int64_t)node * cols + found->changed_col[k]] == found->ub[k]);
    memset(all, 0, sizeof *all * NODES * (size_t)cols);
    EXPECT(r, gpuopt_propagator_batch_get_bounds(batch, GPUOPT_HOST, own, NULL, NULL, all) == GPUOPT_OK);
    for (node = 0; node < own; node++)
        for (k = found->start[mine[node]]; k < found->start[mine[node] + 1]; k++)
            EXPECT(r, all[(int64_t)node * cols + found->changed_col[k]] == found->ub[k]);
    if (other >= 0)
        EXPECT(r,
               gpuopt_propagator_batch_get_bounds(batch, GPUOPT_HOST, 1, &other, NULL, all) == GPUOPT_ERROR_ARGUMENT);
    EXPECT(r,
           gpuopt_propagator_batch_get_bounds(batch, GPUOPT_HOST, own + 1, NULL, NULL, all) == GPUOPT_ERROR_ARGUMENT);
    free(start), free(col), free(ub), free(all);
}

static void finds(rank *r) {
    const nodes_work *w = r->all->data;
    node_results *found = &w->found[r->number];
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    gpuopt_propagator_node_report report = nodes_report(r);
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    nodes_make(r, &base, &batch);
    if (!r->fault[0]) {
        EXPECT(r, gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &w->list->nodes, w->rounds, &report) == GPUOPT_OK);
        read_changes(r, batch, found);
        read_own(r, batch, found, report.rank);
        /* Less of a report, and the same changes. */
        report.changed = NULL, report.rounds = NULL, report.columns = NULL, report.rank = NULL;
        EXPECT(r, gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &w->list->nodes, w->rounds, &report) == GPUOPT_OK);
        free_results(found);
        read_changes(r, batch, found);
    }
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
}

/* All but nonzeros, which depend on the nodes that a thread has run before. */
static void check_same(const node_results *a, const node_results *b, int32_t nodes) {
    const size_t narrow = sizeof *a->outcome * (size_t)nodes, wide = sizeof *a->changed * (size_t)nodes;
    const size_t count = (size_t)a->count;
    assert_memory_equal(a->outcome, b->outcome, narrow);
    assert_memory_equal(a->rounds, b->rounds, narrow);
    assert_memory_equal(a->row, b->row, narrow);
    assert_memory_equal(a->col, b->col, narrow);
    assert_memory_equal(a->columns, b->columns, narrow);
    assert_memory_equal(a->changed, b->changed, wide);
    assert_memory_equal(a->start, b->start, wide + sizeof *a->start);
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->changed_col, b->changed_col, sizeof *a->changed_col * count);
    assert_memory_equal(a->lb, b->lb, sizeof *a->lb * count);
    assert_memory_equal(a->ub, b->ub, sizeof *a->ub * count);
}

/* The same nodes without a group. */
static void run_alone(const nodes_work *w, node_results *found) {
    gpuopt_context *context = test_context(NULL);
    gpuopt_propagator *base = problem_create(context, w->desc);
    gpuopt_propagator_batch *batch = make_batch(base, NODES, 0, NODES * 40);
    problem_round(base, 100);
    run_batch(batch, w->list, w->rounds, found);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
    gpuopt_context_destroy(context);
}

static void check_found(const nodes_work *w, int ranks) {
    static const base_past past = {100, -1, 0, 0, 0};
    gpuopt_context *cpu = test_plain_context();
    node_results *alone = calloc(1, sizeof *alone);
    int32_t nodes = w->list->nodes.count, k, share[MAX_RANKS] = {0};
    int r;
    for (k = 0; k < nodes; k++) check_node(cpu, w->desc, &past, w->list, w->rounds, w->found, k, "rank 0");
    run_alone(w, alone);
    for (r = 0; r < ranks; r++) {
        check_same(alone, &w->found[r], nodes);
        assert_memory_equal(w->ran_by[0], w->ran_by[r], sizeof *w->ran_by[0] * (size_t)nodes);
        assert_memory_equal(w->found[0].nonzeros, w->found[r].nonzeros, sizeof *alone->nonzeros * (size_t)nodes);
    }
    for (k = 0; k < nodes; k++) {
        assert_in_range(w->ran_by[0][k], 0, ranks - 1);
        share[w->ran_by[0][k]]++;
    }
    for (r = 0; r < ranks; r++) assert_in_range(share[r], nodes / ranks, (nodes + ranks - 1) / ranks);
    free_results(alone);
    free(alone);
    gpuopt_context_destroy(cpu);
}

static void same_bits(void **state) {
    static const int32_t counts[] = {0, 1, 2, 3, 4, 5, 7, 24, 25, 60};
    node_list *list = malloc(sizeof *list);
    uint64_t seed = 11;
    int ranks, trial, trials = test_times(10, 4);
    (void)state;
    for (ranks = 1; ranks <= 5; ranks++)
        for (trial = 0; trial < trials; trial++) {
            int32_t nodes = trial < 10 && trials >= 10 ? counts[trial] : (int32_t)test_random_int(&seed, 0, 20);
            mip m = nodes_draw(&seed, list, nodes);
            gpuopt_propagator_desc desc = mip_propagator_desc(&m);
            nodes_work *w = nodes_work_new(&desc, list);
            int k;
            if (trial % 3 == 0) desc.precision = GPUOPT_PRECISION_FP32;
            if (trial % 4 == 1) w->rounds = 2;
            if (trial % 5 == 4) list->nodes.lb = NULL;
            ranks_run(ranks, finds, w);
            check_found(w, ranks);
            for (k = 0; k < ranks; k++) free_results(&w->found[k]);
            nodes_work_free(w);
            mip_free(&m);
        }
    free(list);
}

/* ---- Shares ---- */

/* The rank that runs each of MANY nodes without given bounds. */
enum { MANY = 14400 }; /* a multiple of the squares of 2 to 6 */
static void is_dealt(rank *r) {
    const nodes_work *w = r->all->data;
    int64_t *start = calloc(MANY + 1, sizeof *start);
    gpuopt_propagator_nodes nodes = GPUOPT_INIT(gpuopt_propagator_nodes);
    gpuopt_propagator_node_report report = GPUOPT_INIT(gpuopt_propagator_node_report);
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    nodes_make(r, &base, &batch);
    nodes.count = MANY;
    nodes.start = start;
    report.rank = w->found[r->number].changed_col;
    EXPECT(r, gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &nodes, 1, &report) == GPUOPT_OK);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
    free(start);
}

/* For any regularity of the nodes, no rank receives many more of one kind than another: nodes at each place of any
 * period, and at each end. If the period is the number of ranks, the shares are equal. */
static void even_shares(void **state) {
    mip m = model_small();
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    int ranks, period, place, r;
    int32_t k;
    (void)state;
    for (ranks = 2; ranks <= 6; ranks++) {
        nodes_work *w = nodes_work_new(&desc, NULL);
        const int32_t *ran_by;
        w->most = MANY;
        for (r = 0; r < ranks; r++) w->found[r].changed_col = calloc(MANY, sizeof(int32_t));
        ranks_run(ranks, is_dealt, w);
        ran_by = w->found[0].changed_col;
        for (period = 1; period <= 12; period++)
            for (place = 0; place < period; place++) {
                int32_t share[MAX_RANKS] = {0}, early[MAX_RANKS] = {0};
                int32_t even = MANY / period / ranks;
                for (k = place; k < MANY; k += period) share[ran_by[k]]++, early[ran_by[k]] += k < MANY / 2;
                for (r = 0; r < ranks; r++) {
                    if (period == 1 || period == ranks) assert_int_equal(share[r], even);
                    assert_in_range(share[r], even * 3 / 4, even * 5 / 4);
                    assert_in_range(early[r], even / 2 * 3 / 5, even / 2 * 7 / 5);
                }
            }
        for (r = ranks - 1; r >= 0; r--) {
            assert_memory_equal(ran_by, w->found[r].changed_col, sizeof *ran_by * MANY);
            free(w->found[r].changed_col);
        }
        nodes_work_free(w);
    }
    mip_free(&m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(same_bits),
    cmocka_unit_test(even_shares),
};
TEST_MAIN(tests)
