/* SPDX-License-Identifier: MIT
 *
 * Batches of nodes whose ranks share them: what every rank gets of each node is, bit for bit, what a propagator of its
 * own finds that is given the node's bounds; the shares are even; what fails on one rank is a status on all.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/group/ranks.h"
#include "tests/propagate/batch.h"

/* What the ranks of a test are given, and what each has found. */
typedef struct work {
    const gpuopt_propagator_desc *desc;
    const node_list *list;
    int32_t most; /* nodes of the batch */
    int64_t changes;
    int rounds;
    int wrong; /* a number for the fault that rank `culprit` makes */
    int culprit;
    node_results *found; /* [MAX_RANKS] */
    int32_t (*ran_by)[NODES];
} work;

static const model_shape shape = {30, 40, 12, 0};

static gpuopt_propagator_batch_desc batch_desc(const rank *r) {
    const work *w = r->all->data;
    gpuopt_propagator_batch_desc desc = GPUOPT_INIT(gpuopt_propagator_batch_desc);
    desc.nodes = w->most;
    desc.changes = w->changes;
    desc.group = r->group;
    return desc;
}

/* A base at its fixpoint, and a batch on it. */
static void make(rank *r, gpuopt_propagator **base, gpuopt_propagator_batch **batch) {
    const work *w = r->all->data;
    gpuopt_propagator_batch_desc desc = batch_desc(r);
    *base = NULL, *batch = NULL;
    EXPECT(r, gpuopt_propagator_create(r->context, w->desc, base) == GPUOPT_OK);
    EXPECT(r, gpuopt_propagator_round(*base, 100, NULL) == GPUOPT_OK);
    EXPECT(r, gpuopt_propagator_batch_create(*base, &desc, batch) == GPUOPT_OK);
}

static gpuopt_propagator_node_report report_of(rank *r) {
    const work *w = r->all->data;
    node_results *found = &w->found[r->number];
    gpuopt_propagator_node_report report = GPUOPT_INIT(gpuopt_propagator_node_report);
    report.outcome = found->outcome;
    report.rounds = found->rounds;
    report.infeasible_row = found->row;
    report.infeasible_col = found->col;
    report.changed = found->changed;
    report.columns = found->columns;
    report.nonzeros = found->nonzeros;
    report.rank = w->ran_by[r->number];
    return report;
}

/* ---- What is found ---- */

/* The changes of all nodes, in two calls, and in one that has too little room for them. */
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

/* The rank's own nodes alone, without the others: the same changes, and bounds that go with them. */
static void read_own(rank *r, gpuopt_propagator_batch *batch, const node_results *found, const int32_t *ran_by) {
    const work *w = r->all->data;
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
    const work *w = r->all->data;
    node_results *found = &w->found[r->number];
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    gpuopt_propagator_node_report report = report_of(r);
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    make(r, &base, &batch);
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
static void run_alone(const work *w, node_results *found) {
    gpuopt_context *context = test_context(NULL);
    gpuopt_propagator *base = problem_create(context, w->desc);
    gpuopt_propagator_batch *batch = make_batch(base, NODES, 0, NODES * 40);
    problem_round(base, 100);
    run_batch(batch, w->list, w->rounds, found);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
    gpuopt_context_destroy(context);
}

static void check_found(const work *w, int ranks) {
    static const base_past past = {100, -1, 0, 0, 0};
    gpuopt_context *cpu = plain_context();
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

static work *new_work(const gpuopt_propagator_desc *desc, node_list *list) {
    work *w = calloc(1, sizeof *w);
    w->desc = desc;
    w->list = list;
    w->most = 60;
    w->changes = 60 * 40;
    w->rounds = 100;
    w->found = calloc(MAX_RANKS, sizeof *w->found);
    w->ran_by = calloc(MAX_RANKS, sizeof *w->ran_by);
    return w;
}
static void free_work(work *w) {
    free(w->found), free(w->ran_by);
    free(w);
}

/* A model, the bounds of its fixpoint, and nodes. */
static mip draw(uint64_t *seed, node_list *list, int32_t nodes) {
    mip m = model_draw(&shape, seed);
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    gpuopt_context *cpu = plain_context();
    double lb[40], ub[40];
    problem_run(cpu, &desc, 100, lb, ub);
    draw_nodes(list, nodes, 0, GIVEN, m.matrix.cols, lb, ub, seed);
    gpuopt_context_destroy(cpu);
    return m;
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
            mip m = draw(&seed, list, nodes);
            gpuopt_propagator_desc desc = mip_propagator_desc(&m);
            work *w = new_work(&desc, list);
            int k;
            if (trial % 3 == 0) desc.precision = GPUOPT_PRECISION_FP32;
            if (trial % 4 == 1) w->rounds = 2;
            if (trial % 5 == 4) list->nodes.lb = NULL;
            ranks_run(ranks, finds, w);
            check_found(w, ranks);
            for (k = 0; k < ranks; k++) free_results(&w->found[k]);
            free_work(w);
            mip_free(&m);
        }
    free(list);
}

/* ---- Shares ---- */

/* Which rank runs each of MANY nodes that are given nothing. */
enum { MANY = 14400 }; /* a multiple of the squares of 2 to 6 */
static void is_dealt(rank *r) {
    const work *w = r->all->data;
    int64_t *start = calloc(MANY + 1, sizeof *start);
    gpuopt_propagator_nodes nodes = GPUOPT_INIT(gpuopt_propagator_nodes);
    gpuopt_propagator_node_report report = GPUOPT_INIT(gpuopt_propagator_node_report);
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    make(r, &base, &batch);
    nodes.count = MANY;
    nodes.start = start;
    report.rank = w->found[r->number].changed_col;
    EXPECT(r, gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &nodes, 1, &report) == GPUOPT_OK);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
    free(start);
}

/* Whatever regularity the nodes have, no rank gets much more of one kind than another: nodes at each place of any
 * period, and at each end. In the period of the ranks' own number the shares are equal. */
static void even_shares(void **state) {
    mip m = model_small();
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    int ranks, period, place, r;
    int32_t k;
    (void)state;
    for (ranks = 2; ranks <= 6; ranks++) {
        work *w = new_work(&desc, NULL);
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
        free_work(w);
    }
    mip_free(&m);
}

/* ---- What one rank does wrong ---- */

/* A call in which the culprit errs. Returns what the others must get, too. */
static gpuopt_status err(rank *r, gpuopt_propagator_batch *batch, int wrong, gpuopt_status *expected) {
    const work *w = r->all->data;
    gpuopt_propagator_nodes nodes = w->list->nodes;
    gpuopt_propagator_node_report report = report_of(r);
    gpuopt_memory where = GPUOPT_HOST;
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
    const work *w = r->all->data;
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    gpuopt_propagator_node_report report = report_of(r);
    gpuopt_propagator_node_changes changes = GPUOPT_INIT(gpuopt_propagator_node_changes);
    gpuopt_status expected;
    int wrong;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    make(r, &base, &batch);
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
    const work *w = r->all->data;
    gpuopt_propagator_batch_desc desc;
    gpuopt_propagator_desc model = *w->desc;
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    gpuopt_propagator *base = NULL;
    gpuopt_propagator_batch *batch = NULL;
    gpuopt_status status, expected = GPUOPT_ERROR_ARGUMENT;
    const int is_culprit = r->number == w->culprit;
    uint64_t before[2];
    long blocks, first;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    desc = batch_desc(r);
    if (w->wrong == 1 && is_culprit) desc.nodes++;
    if (w->wrong == 2 && is_culprit) desc.nodes = 0;
    if (w->wrong == 3 && is_culprit) model.matrix.rows--;
    if (w->wrong == 4 && is_culprit) model.feasibility_tolerance = 1e-3;
    if (w->wrong == 5 && is_culprit) model.marking = GPUOPT_OFF;
    if (w->wrong == 5) expected = GPUOPT_ERROR_UNSUPPORTED;
    if (w->wrong >= 6) expected = GPUOPT_ERROR_MEMORY;
    EXPECT(r, gpuopt_propagator_create(r->context, &model, &base) == GPUOPT_OK);
    if (w->wrong >= 6 && is_culprit) r->host.fail_at = r->host.allocations + w->wrong - 5;
    blocks = r->host.live;
    status = gpuopt_propagator_batch_create(base, &desc, &batch);
    EXPECT(r, status == expected);
    EXPECT(r, !batch && r->host.live == blocks);
    EXPECT(r, strstr(r->host.error, "gpuopt_propagator_batch_create") != NULL || (w->wrong >= 6 && is_culprit));
    gpuopt_propagator_destroy(base);
    /* And then without a fault, in as much memory as planned. */
    r->host.fail_at = 0;
    desc = batch_desc(r);
    EXPECT(r, gpuopt_propagator_create(r->context, w->desc, &base) == GPUOPT_OK);
    EXPECT(r, gpuopt_propagator_batch_plan(base, &desc, &plan) == GPUOPT_OK);
    memcpy(before, r->host.bytes, sizeof before);
    first = r->host.allocations;
    EXPECT(r, gpuopt_propagator_batch_create(base, &desc, &batch) == GPUOPT_OK);
    EXPECT(r, r->host.bytes[GPUOPT_HOST] - before[GPUOPT_HOST] == plan.host_bytes);
    EXPECT(r, r->host.bytes[GPUOPT_DEVICE] - before[GPUOPT_DEVICE] == plan.device_bytes);
    w->ran_by[r->number][0] = (int32_t)(r->host.allocations - first);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
}

static void refused(void **state) {
    node_list *list = malloc(sizeof *list);
    uint64_t seed = 5;
    mip m = draw(&seed, list, 31);
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    work *w = new_work(&desc, list);
    int last = 6;
    (void)state;
    for (w->culprit = 0; w->culprit < 3; w->culprit++) ranks_run(3, errs, w);
    for (w->wrong = 1; w->wrong <= last; w->wrong++) {
        w->culprit = w->wrong % 3;
        ranks_run(3, errs_at_first, w);
        last = 5 + w->ran_by[0][0];
    }
    assert_true(last > 6);
    free_work(w);
    mip_free(&m);
    free(list);
}

/* A group of another context; one that is not told of what the descriptor says. */
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
    assert_int_equal(gpuopt_propagator_batch_create(base, &nodes, &batch), GPUOPT_ERROR_ARGUMENT);
    assert_non_null(strstr(gpuopt_context_last_error(context), "another context"));
    gpuopt_group_destroy(group);
    gpuopt_propagator_destroy(base);
    gpuopt_context_destroy(context);
    gpuopt_context_destroy(other);
    mip_free(&m);
}

/* ---- Room ---- */

/* Each node of a chain changes many columns, and there is room for fewer. */
static void has_little_room(rank *r) {
    const work *w = r->all->data;
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    gpuopt_propagator_node_report report = report_of(r);
    gpuopt_propagator_node_changes changes = GPUOPT_INIT(gpuopt_propagator_node_changes);
    gpuopt_propagator_nodes few = w->list->nodes;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    make(r, &base, &batch);
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

static void little_room(void **state) {
    node_list *list = malloc(sizeof *list);
    mip m = model_chain(40);
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    work *w = new_work(&desc, list);
    (void)state;
    desc.marking = GPUOPT_ON;
    chain_nodes(list, 12, 30, 7);
    w->changes = 30; /* of 12 nodes on two ranks at least 6 x 10 columns; of 4 at most 2 x 13 */
    ranks_run(2, has_little_room, w);
    free_work(w);
    mip_free(&m);
    free(list);
}

static void gives_much(rank *r) {
    const work *w = r->all->data;
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    make(r, &base, &batch);
    EXPECT(r, gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &w->list->nodes, 9, NULL) == GPUOPT_ERROR_MEMORY);
    EXPECT(r, gpuopt_group_agree(r->group, NULL, 0) == GPUOPT_OK);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
}

/* Only the rank that runs node 5, which is given many bounds, has too little room. */
static void much_given(void **state) {
    node_list *list = malloc(sizeof *list);
    mip m = model_chain(40);
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    work *w = new_work(&desc, list);
    int32_t k;
    (void)state;
    desc.marking = GPUOPT_ON;
    chain_nodes(list, 20, 30, 7);
    for (k = 6; k <= 20; k++) list->start[k] += 10;
    for (k = 0; k < 40; k++) list->col[k] = k, list->ub[k] = 7;
    w->changes = 12;
    ranks_run(3, gives_much, w);
    free_work(w);
    mip_free(&m);
    free(list);
}

/* ---- Lost ranks ---- */

static void is_lost(rank *r) {
    const work *w = r->all->data;
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    gpuopt_propagator_node_report report = report_of(r);
    gpuopt_propagator_node_changes changes = GPUOPT_INIT(gpuopt_propagator_node_changes);
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    EXPECT(r, rank_join(r, w->wrong == 1 ? 0.5 : 60) == GPUOPT_OK);
    make(r, &base, &batch);
    if (w->wrong == 3) {
        EXPECT(r, gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &w->list->nodes, 9, &report) == GPUOPT_OK);
        if (r->number == w->culprit) gpuopt_group_abort(r->group);
        EXPECT(r, gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes) == GPUOPT_ERROR_PEER);
        changes.own = 1; /* which asks nobody */
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
    mip m = draw(&seed, list, 20);
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    work *w = new_work(&desc, list);
    (void)state;
    for (w->wrong = 1; w->wrong <= 3; w->wrong++)
        for (w->culprit = 0; w->culprit < 3; w->culprit += 2) ranks_run(3, is_lost, w);
    free_work(w);
    mip_free(&m);
    free(list);
}

/* ---- The stop hook ---- */

static int stops(void *user) { return (void)user, 1; }

/* The hook of rank 1 says stop: its first node runs, since that is not asked about, and the others of its share do
 * not. */
static void is_stopped(rank *r) {
    const work *w = r->all->data;
    test_host host;
    gpuopt_context_desc own = test_context_desc(&host);
    gpuopt_context *given = r->context;
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    gpuopt_propagator_node_report report = report_of(r);
    int32_t k, run = 0;
    if (r->number == 1) own.stop = stops;
    EXPECT(r, gpuopt_context_create(&own, &r->context) == GPUOPT_OK);
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    make(r, &base, &batch);
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
    work *w = new_work(&desc, list);
    (void)state;
    desc.marking = GPUOPT_ON;
    chain_nodes(list, 20, 30, 7);
    if (test_on("cpu")) ranks_run(3, is_stopped, w); /* on the GPU such a small run is one launch, without a question */
    free_work(w);
    mip_free(&m);
    free(list);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(same_bits),     cmocka_unit_test(even_shares), cmocka_unit_test(refused),
    cmocka_unit_test(other_context), cmocka_unit_test(little_room), cmocka_unit_test(much_given),
    cmocka_unit_test(lost),          cmocka_unit_test(stopped),
};
TEST_MAIN(tests)
