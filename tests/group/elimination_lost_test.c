/* SPDX-License-Identifier: MIT
 *
 * A model shared by ranks, one of which errs: its arguments differ, its memory fails, its caller stops, it is late,
 * aborts, or its transport fails at each exchange. All ranks return a status within the time limit, and lose no memory.
 */
#include <string.h>

#include "gpuopt/search.h"
#include "gpuopt/inference.h"
#include "tests/elimination/handle.h"
#include "tests/group/culprit.h"

typedef struct work {
    const model *m;
    int32_t order[MODEL_VARIABLES];
    int64_t cost;
    int32_t value[MODEL_VARIABLES];
    int wrong;
    long *allocations; /* of one create, for the test */
} work;

enum { COPIES = 2 };

static gpuopt_elimination_desc desc_of(const rank *r) {
    const work *w = r->all->data;
    gpuopt_elimination_desc desc = model_desc(w->m);
    desc.group = r->group;
    desc.policy = GPUOPT_POLICY_EXACT;
    desc.batch_size = COPIES;
    desc.evidence = w->order; /* the first of the order */
    desc.evidence_count = 1;
    desc.order = w->order + 1;
    desc.order_count = desc.variables - 1;
    return desc;
}

static gpuopt_elimination *make(rank *r) {
    gpuopt_elimination_desc desc = desc_of(r);
    gpuopt_elimination *e = NULL;
    EXPECT(r, gpuopt_elimination_create(r->context, &desc, NULL, &e) == GPUOPT_OK);
    return e;
}

/* From the present state to the answer, compared with all assignments with the evidence variable 0. */
static void ends_well(rank *r, gpuopt_elimination *e) {
    const work *w = r->all->data;
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    gpuopt_elimination_assignment assignment = GPUOPT_INIT(gpuopt_elimination_assignment);
    int32_t value[MODEL_VARIABLES];
    EXPECT(r, gpuopt_elimination_step(e, INT32_MAX, &info) == GPUOPT_OK);
    EXPECT(r, info.outcome == GPUOPT_OPTIMAL && info.cost == w->cost);
    EXPECT(r, gpuopt_elimination_assign(e, GPUOPT_HOST, 1, value, &assignment) == GPUOPT_OK);
    EXPECT(r, assignment.outcome == GPUOPT_OPTIMAL && assignment.cost == w->cost);
    EXPECT(r, memcmp(value, w->value, sizeof(int32_t) * (size_t)w->m->variables) == 0);
}

/* ---- Arguments that differ ---- */

enum { CALLS = 13, LATE_CALLS = 10 }; /* from LATE_CALLS on: after the last step */

/* One of the calls; the culprit passes different arguments, or too little capacity. */
static gpuopt_status call(gpuopt_elimination *e, int which, int wrong) {
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    gpuopt_elimination_assignment assignment = GPUOPT_INIT(gpuopt_elimination_assignment);
    const int32_t given = wrong, outside = wrong ? 100 : 0;
    int32_t value[MODEL_VARIABLES];
    if (wrong && which % 2) info.struct_size = assignment.struct_size = 3;
    switch (which) {
    case 0: return gpuopt_elimination_step(e, wrong ? 3 : 2, NULL);
    case 1: return gpuopt_elimination_step(e, 2, &info);
    case 2: return gpuopt_elimination_step(e, wrong ? 0 : 2, NULL);
    case 3: return gpuopt_elimination_get_info(e, 0, &info);
    case 4: return gpuopt_elimination_get_info(e, 0, wrong ? NULL : &info);
    case 5: return gpuopt_elimination_set_evidence(e, GPUOPT_HOST, wrong, &outside);
    case 6: return gpuopt_elimination_set_evidence(e, GPUOPT_HOST, 0, &given);
    case 7: return gpuopt_elimination_get_info(e, wrong, &info);
    case 8: return gpuopt_elimination_step(e, 2, wrong ? NULL : &info);
    case 9: return wrong ? gpuopt_elimination_get_info(e, 0, &info) : gpuopt_elimination_step(e, 1, &info);
    case 10: return gpuopt_elimination_assign(e, GPUOPT_HOST, wrong, value, NULL);
    case 11: return gpuopt_elimination_assign(e, GPUOPT_HOST, 0, value, &assignment);
    case 12: return gpuopt_elimination_assign(e, GPUOPT_HOST, 0, wrong ? NULL : value, NULL);
    }
    return GPUOPT_ERROR_STATE;
}

/* Every such call is refused on all ranks, and does not affect the result. */
static void differs(rank *r) {
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    gpuopt_elimination *e;
    int which;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    e = make(r);
    for (which = 0; which < CALLS && !r->fault[0]; which++) {
        int64_t before;
        if (which == LATE_CALLS) ends_well(r, e);
        EXPECT(r, gpuopt_elimination_get_info(e, 0, &info) == GPUOPT_OK);
        before = info.eliminated;
        EXPECT(r, call(e, which, r->number == CULPRIT) == GPUOPT_ERROR_ARGUMENT);
        EXPECT(r, gpuopt_elimination_get_info(e, 0, &info) == GPUOPT_OK && info.eliminated == before);
        if (which == 4) EXPECT(r, gpuopt_elimination_step(e, 1, NULL) == GPUOPT_OK);
    }
    ends_well(r, e);
    gpuopt_elimination_destroy(e);
}

/* Calls refused on all ranks alike, and calls that do not work with a group. */
static void is_refused(rank *r) {
    const work *w = r->all->data;
    gpuopt_context *other = test_context(NULL);
    gpuopt_elimination_desc desc;
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    gpuopt_elimination_message_info message = GPUOPT_INIT(gpuopt_elimination_message_info);
    gpuopt_device_view view = GPUOPT_INIT(gpuopt_device_view);
    gpuopt_elimination *e = NULL;
    int32_t value[MODEL_VARIABLES] = {0};
    int64_t cost[64];
    uint64_t size;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    desc = desc_of(r);
    EXPECT(r, gpuopt_elimination_create(other, &desc, NULL, &e) == GPUOPT_ERROR_ARGUMENT && !e);
    gpuopt_context_destroy(other);
    desc.order_count--;
    EXPECT(r, gpuopt_elimination_create(r->context, &desc, NULL, &e) == GPUOPT_ERROR_UNSUPPORTED && !e);
    desc.order_count++;
    EXPECT(r, gpuopt_elimination_create(r->context, &desc, NULL, r->number == CULPRIT ? NULL : &e) ==
                  GPUOPT_ERROR_ARGUMENT);
    EXPECT(r, !e);
    e = make(r);
    EXPECT(r, gpuopt_elimination_assign(e, GPUOPT_HOST, 0, value, NULL) == GPUOPT_ERROR_STATE);
    EXPECT(r, gpuopt_elimination_step(e, INT32_MAX, &info) == GPUOPT_OK && info.outcome == GPUOPT_OPTIMAL);
    EXPECT(r, gpuopt_elimination_message_get_info(e, 0, &message) == GPUOPT_ERROR_UNSUPPORTED);
    EXPECT(r, gpuopt_elimination_message_get(e, GPUOPT_HOST, 0, 0, cost, NULL, NULL) == GPUOPT_ERROR_UNSUPPORTED);
    EXPECT(r, gpuopt_elimination_message_device_view(e, 0, 0, &view) == GPUOPT_ERROR_UNSUPPORTED);
    EXPECT(r, gpuopt_elimination_message_pack(e, GPUOPT_HOST, 0, 0, NULL, 0, &size) == GPUOPT_ERROR_UNSUPPORTED);
    EXPECT(r, gpuopt_elimination_get_bounds(e, GPUOPT_HOST, 0, w->order[1], 0, 1, value, cost, NULL) ==
                  GPUOPT_ERROR_UNSUPPORTED);
    gpuopt_elimination_destroy(e);
}

/* ---- _create ---- */

enum { MODELS = 12 }; /* ways in which the culprit's differs; beyond, an allocation fails */

static void errs_in_create(rank *r) {
    const work *w = r->all->data;
    gpuopt_elimination_desc desc;
    gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
    gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
    gpuopt_elimination_function function[64];
    gpuopt_elimination *e = NULL;
    gpuopt_elimination_estimate estimate = GPUOPT_INIT(gpuopt_elimination_estimate);
    gpuopt_status expected = w->wrong < MODELS ? GPUOPT_ERROR_ARGUMENT : GPUOPT_ERROR_MEMORY;
    int64_t cost[64];
    int32_t order[MODEL_VARIABLES], domain[MODEL_VARIABLES];
    const int is_culprit = r->number == CULPRIT;
    long before;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    desc = desc_of(r);
    desc.memory = &memory;
    desc.order_search = &search;
    memcpy(function, desc.function, sizeof *function * (size_t)desc.functions);
    memcpy(cost, function[0].cost, sizeof(int64_t) * (size_t)model_entries(w->m, function[0].scope, function[0].arity));
    memcpy(order, desc.order, sizeof *order * (size_t)desc.order_count);
    memcpy(domain, desc.domain, sizeof *domain * (size_t)desc.variables);
    function[0].cost = cost;
    desc.function = function;
    desc.order = order;
    desc.domain = domain;
    if (is_culprit) switch (w->wrong) {
        case 0: cost[3]++; break;
        case 1: desc.functions--; break;
        case 2: order[0] = desc.order[1], order[1] = w->order[1]; break;
        case 3: order[1] = order[0]; break;
        case 4: desc.policy = GPUOPT_POLICY_DROP; break;
        case 5: desc.batch_size = 1; break;
        case 6: desc.top = 1000000; break;
        case 7: desc.semiring = GPUOPT_SEMIRING_MAX_SUM; break;
        case 8: memory.retain_messages = GPUOPT_OFF; break;
        case 9: domain[0] = 0; break;
        case 10: desc.order = NULL, desc.order_count = 0; break;
        case 11: search.seed = 7; break;
        }
    if (w->wrong >= MODELS && is_culprit) r->host.fail_at = r->host.allocations + w->wrong - MODELS + 1;
    before = r->host.live;
    EXPECT(r, gpuopt_elimination_create(r->context, &desc, NULL, &e) == expected);
    EXPECT(r, !e && r->host.live == before);
    if (w->wrong < MODELS)
        EXPECT(r, gpuopt_elimination_order(r->context, &desc, NULL, NULL, &estimate) == GPUOPT_ERROR_ARGUMENT);
    r->host.fail_at = 0;
    before = r->host.allocations;
    e = make(r);
    if (is_culprit) *w->allocations = r->host.allocations - before;
    gpuopt_elimination_destroy(e);
}

/* ---- The stop hook ---- */

/* One rank's stop hook returns 1 at its second call: the outcome is MORE on all ranks, which then continue. */
static void is_stopped(rank *r) {
    const work *w = r->all->data;
    culprit_context own;
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    gpuopt_elimination_desc desc = desc_of(r);
    gpuopt_elimination *e = NULL;
    int32_t value[MODEL_VARIABLES];
    culprit_prepare(&own);
    culprit_stops(r, &own, 2);
    culprit_open(r, &own);
    desc.group = own.group;
    EXPECT(r, gpuopt_elimination_create(own.context, &desc, NULL, &e) == GPUOPT_OK);
    EXPECT(r, gpuopt_elimination_step(e, INT32_MAX, &info) == GPUOPT_OK);
    EXPECT(r, info.outcome == GPUOPT_MORE && info.eliminated < info.steps);
    EXPECT(r, gpuopt_elimination_assign(e, GPUOPT_HOST, 0, value, NULL) == GPUOPT_ERROR_STATE);
    EXPECT(r, gpuopt_elimination_step(e, INT32_MAX, &info) == GPUOPT_OK);
    EXPECT(r, info.outcome == GPUOPT_OPTIMAL && info.cost == w->cost);
    gpuopt_elimination_destroy(e);
    culprit_close(r, &own);
}

/* ---- Lost ranks ---- */

/* After some steps the culprit gets lost. */
static void is_lost(rank *r) {
    const work *w = r->all->data;
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    gpuopt_elimination *e;
    double start;
    culprit_join(r, w->wrong);
    e = make(r);
    EXPECT(r, gpuopt_elimination_step(e, 2, &info) == GPUOPT_OK);
    if (culprit_gets_lost(r, w->wrong, &start)) {
        EXPECT(r, gpuopt_elimination_step(e, 1, &info) == GPUOPT_ERROR_PEER);
        EXPECT(r, gpuopt_elimination_get_info(e, 0, &info) == GPUOPT_ERROR_PEER);
        culprit_noticed(r, start);
    }
    gpuopt_elimination_destroy(e);
}

/* The culprit's transport fails at exchange number `wrong`, wherever that is. */
static void loses_its_transport(rank *r) {
    const work *w = r->all->data;
    const int32_t given = 0;
    double start;
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    gpuopt_elimination_desc desc;
    gpuopt_elimination *e = NULL;
    gpuopt_status status;
    int32_t value[MODEL_VARIABLES];
    rank_faulty f;
    status = culprit_join_faulty(r, w->wrong, &f, &start);
    desc = desc_of(r);
    if (!status) status = gpuopt_elimination_create(r->context, &desc, NULL, &e);
    EXPECT(r, !status == !!e);
    if (!status) status = gpuopt_elimination_set_evidence(e, GPUOPT_HOST, 0, &given);
    if (!status) status = gpuopt_elimination_step(e, 1, NULL);
    if (!status) status = gpuopt_elimination_step(e, INT32_MAX, &info);
    if (!status) status = gpuopt_elimination_assign(e, GPUOPT_HOST, 0, value, NULL);
    while (!status && w->wrong >= 0) status = gpuopt_elimination_get_info(e, 0, &info);
    gpuopt_elimination_destroy(e);
    culprit_leave_faulty(r, status, start);
}

/* ---- The tests ---- */

static model m;
static work shared;

static void run(int ranks, void (*work_of)(rank *), int wrong, long *allocations) {
    shared.wrong = wrong;
    shared.allocations = allocations;
    ranks_run(ranks, work_of, &shared);
}

static int set_up(void **state) {
    const int32_t fixed[MODEL_VARIABLES] = {0};
    uint64_t seed = 3;
    brute b;
    (void)state;
    m = model_dense(&seed, GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, 5, 3);
    memset(&shared, 0, sizeof shared);
    shared.m = &m;
    draw_permutation(&seed, m.variables, shared.order);
    b = brute_force(&m, shared.order + 1, m.variables - 1, fixed, NULL);
    shared.cost = (int64_t)b.best;
    memcpy(shared.value, b.value, sizeof b.value);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    model_free(&m);
    return 0;
}

static void arguments_that_differ(void **state) {
    (void)state;
    run(2, differs, 0, NULL);
    run(4, differs, 0, NULL);
    run(2, is_refused, 0, NULL);
}

static void errors_in_create(void **state) {
    long allocations = 1;
    int wrong;
    (void)state;
    for (wrong = 0; wrong < MODELS + allocations; wrong++) run(2 + wrong % 2, errs_in_create, wrong, &allocations);
    assert_true(allocations >= 10);
}

static void stopped(void **state) {
    (void)state;
    run(3, is_stopped, 0, NULL);
}

static void lost(void **state) {
    int wrong;
    (void)state;
    for (wrong = 0; wrong < CULPRIT_WAYS; wrong++) run(3, is_lost, wrong, NULL);
}

static void transports_that_fail(void **state) {
    int k;
    (void)state;
    for (k = 0; k < 45; k++) run(3, loses_its_transport, k, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(arguments_that_differ, set_up, tear_down),
    cmocka_unit_test_setup_teardown(errors_in_create, set_up, tear_down),
    cmocka_unit_test_setup_teardown(stopped, set_up, tear_down),
    cmocka_unit_test_setup_teardown(lost, set_up, tear_down),
    cmocka_unit_test_setup_teardown(transports_that_fail, set_up, tear_down),
};

TEST_MAIN(tests)
