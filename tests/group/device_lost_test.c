/* SPDX-License-Identifier: MIT
 *
 * Ranks share a problem and the GPU of one of them fails, at each of its launches, copies and waits. That rank reports
 * it, and the others notice at once, long before their time limit. All can be destroyed, and no memory is lost. On the
 * emulated GPU, which can fail.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "examples/io/knapsack_ranks.h"
#include "tests/elimination/handle.h"
#include "tests/group/ranks.h"
#include "tests/group/script.h"

enum { RANKS = 3, CULPRIT = 1, ITEMS = 30, COLS = 20, NODES = 9 };

static const double limit = 60, at_once = 4;

typedef struct work {
    gpuopt_status (*solve)(rank *r);
    int watched;   /* a test_host's hooks give the memory: then kernels do not write to other ranks' memory */
    long fails_at; /* of the culprit's calls */
    long *calls;   /* that it had made when it had solved */
    double *over;  /* [MAX_RANKS] when each had, the culprit: when it failed */
} work;

/* Ends a solve before the destruction: the culprit's calls are counted. */
static gpuopt_status solved(const rank *r, gpuopt_status status) {
    const work *w = r->all->data;
    if (r->number == CULPRIT) *w->calls = test_device_calls();
    return status;
}

/* ---- What is shared ---- */

static mip program;
static gpuopt_simplex_desc program_desc;
static model network;
static int64_t weight[ITEMS], profit[ITEMS], capacity;

static gpuopt_status shares_a_tableau(rank *r) {
    gpuopt_simplex_desc desc = program_desc;
    script_log log = {0};
    gpuopt_status status;
    desc.group = r->group;
    status = solved(r, script_run(r->context, &desc, 5, &log));
    script_free(&log);
    return status;
}

static gpuopt_status shares_an_elimination(rank *r) {
    gpuopt_elimination_desc desc = model_desc(&network);
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    gpuopt_elimination *e = NULL;
    int32_t value[MODEL_VARIABLES];
    gpuopt_status status;
    desc.group = r->group;
    status = gpuopt_elimination_create(r->context, &desc, NULL, &e);
    if (!status) status = gpuopt_elimination_step(e, 2, NULL);
    if (!status) status = gpuopt_elimination_step(e, INT32_MAX, &info);
    if (!status) status = gpuopt_elimination_assign(e, GPUOPT_HOST, 0, value, NULL);
    if (!status) status = gpuopt_elimination_get_info(e, 0, &info);
    status = solved(r, status);
    gpuopt_elimination_destroy(e);
    return status;
}

/* x_(j + 1) <= x_j, and in node k at most 1 from x_k on. */
static gpuopt_status shares_nodes(rank *r) {
    gpuopt_propagator_desc model = GPUOPT_INIT(gpuopt_propagator_desc);
    gpuopt_propagator_nodes given = GPUOPT_INIT(gpuopt_propagator_nodes);
    gpuopt_propagator_batch_desc desc = GPUOPT_INIT(gpuopt_propagator_batch_desc);
    gpuopt_propagator_node_report report = GPUOPT_INIT(gpuopt_propagator_node_report);
    gpuopt_propagator *base = NULL;
    gpuopt_propagator_batch *batch = NULL;
    int64_t row[COLS], start[NODES + 1] = {0};
    int32_t index[2 * COLS], col[NODES], outcome[NODES], k;
    double value[2 * COLS], side[COLS] = {0}, lb[COLS] = {0}, ub[COLS], one[NODES];
    gpuopt_status status;
    for (k = 0; k < COLS; k++) {
        row[k] = 2 * (int64_t)k;
        index[2 * k] = k, index[2 * k + 1] = k + 1;
        value[2 * k] = -1, value[2 * k + 1] = 1;
        ub[k] = 9;
    }
    for (k = 0; k < NODES; k++) start[k + 1] = k + 1, col[k] = k, one[k] = 1;
    model.matrix.rows = COLS - 1;
    model.matrix.cols = COLS;
    model.matrix.start = row;
    model.matrix.index = index;
    model.matrix.value = value;
    model.rhs = side;
    model.lb = lb;
    model.ub = ub;
    given.count = desc.nodes = NODES;
    given.start = start;
    given.col = col;
    given.ub = one;
    desc.changes = 1000;
    desc.group = r->group;
    report.outcome = outcome;
    status = gpuopt_propagator_create(r->context, &model, NULL, &base);
    if (status) gpuopt_group_abort(r->group); /* a base is each rank's own */
    if (!status) status = gpuopt_propagator_batch_create(base, &desc, NULL, &batch);
    for (k = 0; k < 3 && !status; k++) status = gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &given, 9, &report);
    status = solved(r, status);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
    return status;
}

static gpuopt_status shares_a_knapsack(rank *r) {
    gpuopt_knapsack_desc desc = GPUOPT_INIT(gpuopt_knapsack_desc);
    knapsack_ranks_answer answer;
    gpuopt_knapsack *knapsack = NULL;
    int64_t taken[ITEMS];
    gpuopt_status status;
    desc.items = ITEMS;
    desc.weight = weight;
    desc.profit = profit;
    desc.capacity = capacity;
    desc.reduction = GPUOPT_OFF;
    desc.search = GPUOPT_SEARCH_HYBRID;
    desc.hybrid_threshold = 4; /* nodes that the caller expands: else these would all be */
    status = gpuopt_knapsack_create(r->context, &desc, NULL, &knapsack);
    if (status) gpuopt_group_abort(r->group);
    else status = knapsack_share_ranks(r->group, knapsack, &desc, 20, taken, &answer);
    status = solved(r, status);
    gpuopt_knapsack_destroy(knapsack);
    return status;
}

/* ---- A rank ---- */

static _Thread_local double failed_at; /* when this thread's context first logged an error; 0: not yet */

static void listen(void *user, int level, const char *message) {
    test_host *host = user;
    if (level > 0) return;
    if (failed_at == 0) failed_at = seconds_now();
    snprintf(host->error, sizeof host->error, "%s", message);
}

/* With a separate context, which is destroyed while the device is lost. */
static void loses_its_device(rank *r) {
    const work *w = r->all->data;
    rank own = *r;
    gpuopt_context_desc desc = test_context_desc(w->watched ? &own.host : NULL);
    gpuopt_status status;
    failed_at = 0;
    own.host.error[0] = 0;
    desc.user = &own.host;
    desc.log = listen;
    EXPECT(r, gpuopt_context_create(&desc, &own.context) == GPUOPT_OK);
    EXPECT(r, rank_join(&own, limit) == GPUOPT_OK);
    if (r->number == CULPRIT) test_lose_device(w->fails_at);
    status = w->solve(&own);
    w->over[r->number] = r->number == CULPRIT ? failed_at : seconds_now();
    gpuopt_group_destroy(own.group);
    gpuopt_context_destroy(own.context);
    memcpy(r->host.error, own.host.error, sizeof own.host.error);
    EXPECT(r, !w->watched || own.host.live == 0);
    EXPECT(r, !status || own.host.error[0]);
    if (r->number != CULPRIT) {
        EXPECT(r, status == GPUOPT_OK || status == GPUOPT_ERROR_PEER);
        return;
    }
    test_lose_device(-1);
    EXPECT(r, status == (*w->calls > w->fails_at ? GPUOPT_ERROR_DEVICE : GPUOPT_OK));
}

/* At each of the first `each` calls, then at growing distances, until the culprit makes fewer. */
static void loses(gpuopt_status (*solve)(rank *r), int watched, long each) {
    long at, calls = LONG_MAX, failed = 0;
    int k;
    if (!test_emulated()) skip();
    for (at = 0; at < calls; at += at < each ? 1 : 1 + at / 4) {
        double over[MAX_RANKS];
        const work w = {solve, watched, at, &calls, over};
        ranks_run(RANKS, loses_its_device, &w);
        if (at >= calls) break;
        calls = LONG_MAX;
        failed++;
        for (k = 0; k < RANKS; k++)
            if (over[k] - over[CULPRIT] > at_once)
                fail_msg("call %ld: rank %d hears of it after %g s", at, k, over[k] - over[CULPRIT]);
    }
    print_message("%ld of some %ld calls failed\n", failed, at);
    assert_true(failed > 5);
}

/* ---- The tests ---- */

static void tableau(void **state) {
    char error[256];
    (void)state;
    assert_int_equal(mip_load("plant:12:15:0.4:4", &program, error, sizeof error), 0);
    program_desc = mip_simplex_desc(&program);
    program_desc.method = GPUOPT_METHOD_TABLEAU;
    program_desc.algorithm = GPUOPT_ALGORITHM_PRIMAL;
    loses(shares_a_tableau, 1, 8);
    loses(shares_a_tableau, 0, 60);
    mip_free(&program);
}

static void elimination(void **state) {
    uint64_t seed = 3;
    (void)state;
    network = model_dense(&seed, GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, 5, 3);
    loses(shares_an_elimination, 1, 8);
    model_free(&network);
}

static void batch_of_nodes(void **state) {
    (void)state;
    loses(shares_nodes, 1, 8);
}

static void knapsack(void **state) {
    uint64_t seed = 5;
    int j;
    (void)state;
    for (j = 0, capacity = 0; j < ITEMS; j++) {
        weight[j] = test_random_int(&seed, 1, 300);
        profit[j] = weight[j] + 30;
        capacity += weight[j];
    }
    capacity /= 2;
    loses(shares_a_knapsack, 1, 8);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(tableau),
    cmocka_unit_test(elimination),
    cmocka_unit_test(batch_of_nodes),
    cmocka_unit_test(knapsack),
};

TEST_MAIN(tests)
