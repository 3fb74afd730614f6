/* SPDX-License-Identifier: MIT
 *
 * Models shared by ranks: the answer against all assignments, for every semiring, with domains that the ranks do not
 * divide and more ranks than assignments. Copies with conditions; and tables too large for any single rank.
 */
#include <stdio.h>
#include <string.h>

#include "gpuopt/search.h"
#include "gpuopt/inference.h"
#include "tests/elimination/handle.h"
#include "tests/group/ranks.h"

/* ---- Small models ---- */

enum { MOST_MODELS = 100 };

/* A model, how it is solved, and the answer. */
typedef struct task {
    model m;
    recipe r;
    gpuopt_elimination_desc desc; /* order: the reference's */
    gpuopt_elimination_messages messages;
    int32_t order[MODEL_VARIABLES], at_once;
    brute b;
} task;

typedef struct tasks {
    int count;
    task task[MOST_MODELS];
} tasks;

/* ties: costs are 0 or 1, and functions of two variables. */
static void draw_task(uint64_t seed, const struct model_kind *kind, int ties, task *t) {
    uint64_t state = seed * 1000003 + (uint64_t)kind->semiring * 10 + (uint64_t)kind->type;
    t->r = recipe_draw(&state, kind->type, kind->semiring);
    if (ties) t->r.least = 0, t->r.largest = 1, t->r.arity = 2;
    t->m = model_draw(&state, kind->type, kind->semiring, &t->r);
    t->desc = model_desc(&t->m);
    draw_permutation(&state, t->m.variables, t->order);
    t->desc.order = t->order;
    t->desc.order_count = t->m.variables;
    t->desc.policy = test_random_int(&state, 0, 1)   ? GPUOPT_POLICY_AUTO
                     : test_random_int(&state, 0, 1) ? GPUOPT_POLICY_DROP
                                                     : GPUOPT_POLICY_EXACT;
    gpuopt_desc_init(&t->messages, sizeof t->messages);
    t->desc.messages = &t->messages;
    t->messages.join_rest = (int)test_random_int(&state, 0, 1);
    if (kind - model_kind < MODEL_BOUNDED && test_random_int(&state, 0, 4) == 0) {
        t->desc.policy = GPUOPT_POLICY_MINI_BUCKET;
        t->desc.z = (int32_t)test_random_int(&state, 1, 3);
    }
    t->at_once = (int32_t)test_random_int(&state, 2, 20);
    t->b = brute_force(&t->m, t->order, t->m.variables, NULL, NULL);
}

/* The answer of the ranks together, which is the same on all of them. */
static answer solve_together(rank *r, const task *t) {
    gpuopt_elimination_desc desc = t->desc;
    gpuopt_elimination *e = NULL;
    int64_t calls = 0;
    answer a, same;
    memset(&a, 0, sizeof a);
    gpuopt_desc_init(&a.estimate, sizeof a.estimate);
    gpuopt_desc_init(&a.info, sizeof a.info);
    gpuopt_desc_init(&a.assignment, sizeof a.assignment);
    desc.group = r->group;
    EXPECT(r, gpuopt_elimination_order(r->context, &desc, NULL, NULL, &a.estimate) == GPUOPT_OK);
    EXPECT(r, gpuopt_elimination_create(r->context, &desc, NULL, &e) == GPUOPT_OK);
    EXPECT(r, gpuopt_elimination_get_info(e, 0, &a.info) == GPUOPT_OK && a.info.outcome == GPUOPT_MORE);
    while (a.info.outcome == GPUOPT_MORE && !r->fault[0]) {
        EXPECT(r, gpuopt_elimination_step(e, t->at_once, &a.info) == GPUOPT_OK);
        EXPECT(r, ++calls <= a.info.steps);
    }
    EXPECT(r, a.info.eliminated == a.info.steps);
    if (desc.semiring != GPUOPT_SEMIRING_LOG_SUM_EXP)
        EXPECT(r, gpuopt_elimination_assign(e, GPUOPT_HOST, 0, a.value, &a.assignment) == GPUOPT_OK);
    else a.assignment.struct_size = 0;
    gpuopt_elimination_destroy(e);
    memset(&same, 0, sizeof same);
    same.info = a.info;
    same.assignment = a.assignment;
    memcpy(same.value, a.value, sizeof a.value);
    EXPECT(r, gpuopt_group_agree(r->group, &same, sizeof same) == GPUOPT_OK);
    return a;
}

static void solve_all(rank *r) {
    const tasks *all = r->all->data;
    int k;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    for (k = 0; k < all->count && !r->fault[0]; k++) {
        const task *t = &all->task[k];
        const int exact = t->desc.policy != GPUOPT_POLICY_MINI_BUCKET;
        const answer a = solve_together(r, t);
        const char *fault = answer_fault(&t->m, &t->b, &a, exact);
        char message[200];
        /* In eighths no sum is rounded, and exactly one assignment comes first. */
        if (!fault && exact && t->b.feasible && a.assignment.struct_size && !t->r.fractions &&
            memcmp(a.value, t->b.value, sizeof(int32_t) * (size_t)t->m.variables))
            fault = "another optimal assignment";
        if (!fault && a.estimate.split > t->m.variables) fault = "more variables are split than there are";
        if (fault && r->number == 0) model_print(&t->m);
        snprintf(message, sizeof message, "the answer of model %d, which has no fault (%s)", k, fault ? fault : "");
        rank_expect(r, !fault, message, __LINE__);
    }
}

static void every_kind(void **state) {
    static tasks all;
    int kind, ranks, k, feasible = 0;
    (void)state;
    all.count = test_times(16, 6);
    for (kind = 0; kind < MODEL_KINDS; kind++) {
        for (k = 0; k < all.count; k++) {
            draw_task((uint64_t)k + 1, &model_kind[kind], 0, &all.task[k]);
            feasible += all.task[k].b.feasible;
        }
        for (ranks = 1; ranks <= 5; ranks++) ranks_run(ranks, solve_all, &all);
        for (k = 0; k < all.count; k++) model_free(&all.task[k].m);
    }
    assert_true(feasible > MODEL_KINDS * all.count / 3 && feasible < MODEL_KINDS * all.count);
}

/* Variable 3 is in most buckets, and so is split. Either 3 or 4 is 0; the value phase begins with 4. */
static void draw_hub(task *t) {
    int32_t v;
    gpuopt_elimination_function *f;
    memset(t, 0, sizeof *t);
    t->m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, 5, NULL);
    for (v = 0; v < 3; v++) model_add(&t->m, 2, (int32_t[]){v, 3}, -1);
    f = model_add(&t->m, 2, (int32_t[]){3, 4}, -1);
    model_set(&t->m, f, 0, 1);
    model_set(&t->m, f, 3, 1);
    t->desc = model_desc(&t->m);
    for (v = 0; v < 5; v++) t->order[v] = v;
    t->desc.order = t->order;
    t->desc.order_count = 5;
    t->at_once = 2;
    t->b = brute_force(&t->m, t->order, 5, NULL, NULL);
}

/* Ranks with equally good assignments in their parts: the assignment that one rank would find is not always in the
 * first part. */
static void ties(void **state) {
    static tasks all;
    int k;
    (void)state;
    all.count = 1;
    draw_hub(&all.task[0]);
    assert_true(all.task[0].b.value[3] == 1 && all.task[0].b.value[4] == 0); /* the second rank's */
    ranks_run(2, solve_all, &all);
    model_free(&all.task[0].m);
    all.count = test_times(20, 10);
    for (k = 0; k < all.count; k++) draw_task((uint64_t)k + 1, &model_kind[0], 1, &all.task[k]);
    ranks_run(2, solve_all, &all);
    ranks_run(4, solve_all, &all);
    for (k = 0; k < all.count; k++) model_free(&all.task[k].m);
}

/* ---- Copies and conditions ---- */

enum { COPIES = 3, FIXED = 2 };

static void solve_copies(rank *r) {
    const tasks *all = r->all->data;
    int k;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    for (k = 0; k < all->count && !r->fault[0]; k++) {
        const task *t = &all->task[k];
        gpuopt_elimination_desc desc = t->desc;
        gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
        gpuopt_elimination_assignment assignment = GPUOPT_INIT(gpuopt_elimination_assignment);
        gpuopt_elimination *e = NULL;
        int32_t copy, j, value[MODEL_VARIABLES], given[FIXED];
        uint64_t state = (uint64_t)k;
        desc.group = r->group;
        desc.policy = GPUOPT_POLICY_EXACT;
        desc.batch_size = COPIES;
        desc.evidence = t->order; /* the first two of the order */
        desc.evidence_count = FIXED;
        desc.order = t->order + FIXED;
        desc.order_count -= FIXED;
        EXPECT(r, gpuopt_elimination_create(r->context, &desc, NULL, &e) == GPUOPT_OK);
        for (copy = 0; copy < 2 * COPIES && !r->fault[0]; copy++) {
            int32_t fixed[MODEL_VARIABLES] = {0};
            answer a;
            brute b;
            for (j = 0; j < FIXED; j++)
                given[j] = fixed[t->order[j]] = (int32_t)test_random_int(&state, 0, t->m.domain[t->order[j]] - 1);
            EXPECT(r, gpuopt_elimination_set_evidence(e, GPUOPT_HOST, copy % COPIES, given) == GPUOPT_OK);
            EXPECT(r, gpuopt_elimination_step(e, INT32_MAX, NULL) == GPUOPT_OK);
            EXPECT(r, gpuopt_elimination_get_info(e, copy % COPIES, &info) == GPUOPT_OK);
            EXPECT(r, gpuopt_elimination_assign(e, GPUOPT_HOST, copy % COPIES, value, &assignment) == GPUOPT_OK);
            memset(&a, 0, sizeof a);
            a.info = info;
            a.assignment = assignment;
            memcpy(a.value, value, sizeof value);
            b = brute_force(&t->m, desc.order, desc.order_count, fixed, NULL);
            EXPECT(r, !answer_fault(&t->m, &b, &a, 1));
            EXPECT(r, !b.feasible || memcmp(value, b.value, sizeof(int32_t) * (size_t)t->m.variables) == 0);
        }
        gpuopt_elimination_destroy(e);
    }
}

static void copies_with_conditions(void **state) {
    static tasks all;
    const int models = test_times(8, 4);
    uint64_t seed;
    int k;
    (void)state;
    for (seed = 1; all.count < models; seed++) {
        task *t = &all.task[all.count];
        draw_task(seed, &model_kind[0], 0, t);
        if (t->m.variables >= FIXED) all.count++;
        else model_free(&t->m);
    }
    ranks_run(1, solve_copies, &all);
    ranks_run(3, solve_copies, &all);
    for (k = 0; k < all.count; k++) model_free(&all.task[k].m);
}

/* ---- Tables that fit no rank alone ---- */

typedef struct large {
    model m;
    int32_t order[MODEL_VARIABLES];
    uint64_t alone, limit; /* bytes that one rank would take, and may take */
    double largest;        /* entries of its largest message */
    int64_t cost;
    int32_t value[MODEL_VARIABLES];
} large;

static uint64_t planned(const gpuopt_elimination_estimate *e) {
    return e->memory.device_bytes ? e->memory.device_bytes : e->memory.host_bytes;
}

static void solve_large(rank *r) {
    const large *l = r->all->data;
    gpuopt_elimination_desc desc = model_desc(&l->m);
    gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
    gpuopt_elimination_estimate estimate = GPUOPT_INIT(gpuopt_elimination_estimate);
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    gpuopt_elimination_assignment assignment = GPUOPT_INIT(gpuopt_elimination_assignment);
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    gpuopt_elimination *e = NULL;
    int32_t value[MODEL_VARIABLES];
    uint64_t before[2], peak;
    long allocations;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    desc.policy = GPUOPT_POLICY_EXACT;
    desc.order = l->order;
    desc.order_count = desc.variables;
    desc.memory = &memory;
    memory.bytes = l->limit;
    EXPECT(r, gpuopt_elimination_create(r->context, &desc, NULL, &e) == GPUOPT_ERROR_UNSUPPORTED && !e);
    desc.group = r->group;
    EXPECT(r, gpuopt_elimination_order(r->context, &desc, NULL, NULL, &estimate) == GPUOPT_OK);
    EXPECT(r, gpuopt_elimination_create(r->context, &desc, &plan, NULL) == GPUOPT_OK);
    EXPECT(r, memcmp(&plan, &estimate.memory, sizeof plan) == 0);
    EXPECT(r, estimate.policy == GPUOPT_POLICY_EXACT && estimate.split >= 1 && estimate.exchanged > 0);
    EXPECT(r, planned(&estimate) <= l->limit);
    EXPECT(r, estimate.largest <= 1.3 * l->largest / r->all->count); /* domains of 8 to 11, in 2 or 4 parts */
    for (int where = 0; where < 2; where++) before[where] = r->host.peak[where] = r->host.bytes[where];
    EXPECT(r, gpuopt_elimination_create(r->context, &desc, NULL, &e) == GPUOPT_OK);
    EXPECT(r, r->host.bytes[GPUOPT_HOST] - before[GPUOPT_HOST] == plan.host_bytes);
    EXPECT(r, r->host.bytes[GPUOPT_DEVICE] - before[GPUOPT_DEVICE] == plan.device_bytes);
    peak = r->host.peak[GPUOPT_HOST] - before[GPUOPT_HOST];
    EXPECT(r, peak <= plan.host_bytes + plan.create_bytes);
    allocations = r->host.allocations;
    EXPECT(r, gpuopt_elimination_step(e, INT32_MAX, &info) == GPUOPT_OK);
    EXPECT(r, info.outcome == GPUOPT_OPTIMAL && info.cost == l->cost);
    EXPECT(r, gpuopt_elimination_assign(e, GPUOPT_HOST, 0, value, &assignment) == GPUOPT_OK);
    EXPECT(r, assignment.outcome == GPUOPT_OPTIMAL && assignment.cost == l->cost);
    EXPECT(r, memcmp(value, l->value, sizeof(int32_t) * (size_t)l->m.variables) == 0);
    EXPECT(r, r->host.allocations == allocations);
    gpuopt_elimination_destroy(e);
}

/* Without a group and a limit the same model has the same answer. */
static void more_memory_than_a_rank_has(void **state) {
    gpuopt_context *context = test_context(NULL);
    gpuopt_elimination_desc desc;
    gpuopt_elimination_estimate estimate = GPUOPT_INIT(gpuopt_elimination_estimate);
    gpuopt_elimination *e;
    gpuopt_elimination_info info;
    const int few = test_emulated();
    uint64_t seed = 5;
    large l;
    (void)state;
    memset(&l, 0, sizeof l);
    l.m = model_dense(&seed, GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, 6, few ? 6 : 8);
    draw_permutation(&seed, l.m.variables, l.order);
    desc = model_desc(&l.m);
    desc.policy = GPUOPT_POLICY_EXACT;
    desc.order = l.order;
    desc.order_count = desc.variables;
    assert_int_equal(gpuopt_elimination_order(context, &desc, NULL, NULL, &estimate), GPUOPT_OK);
    assert_true(estimate.split == 0 && estimate.exchanged <= 0);
    l.alone = planned(&estimate);
    l.largest = estimate.largest;
    e = handle_create(context, &desc, NULL);
    info = handle_finish(e, INT32_MAX);
    l.cost = info.cost;
    assert_int_equal(gpuopt_elimination_assign(e, GPUOPT_HOST, 0, l.value, NULL), GPUOPT_OK);
    gpuopt_elimination_destroy(e);
    l.limit = l.alone / 20 * (few ? 17 : 14);
    ranks_run(2, solve_large, &l);
    l.limit = l.alone / 20 * (few ? 14 : 8);
    ranks_run(4, solve_large, &l);
    model_free(&l.m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_kind),
    cmocka_unit_test(ties),
    cmocka_unit_test(copies_with_conditions),
    cmocka_unit_test(more_memory_than_a_rank_has),
};

TEST_MAIN(tests)
