/* SPDX-License-Identifier: MIT
 *
 * Agents on the ranks of a group (examples/io/agents_ranks.c). The optimum is compared with all assignments, messages
 * and bytes with simulated agents. No rank needs another's tables, and a damaged message is an error on all. Messages
 * are in device memory where the group accepts it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/io/agents_ranks.h"
#include "examples/io/graphical.h"
#include "tests/group/ranks.h"

/* A model and how it is solved; the same for all ranks. */
typedef struct task {
    char model[64];
    double hard; /* the share of each table that is forbidden */
    int agents, z, variables;
    int64_t optimum; /* INT64_MAX: there is none */
    agents_answer simulated;
    int damaged; /* not 0: rank 1 receives a UTIL message with one byte changed */
} task;

typedef struct loaded {
    graphical_model model;
    gpuopt_elimination_desc desc;
    int32_t order[16], parent[16], agent[16], fixed[16], value[16];
} loaded;

/* Returns the status of the failing call, or OK. */
static gpuopt_status load(const task *t, gpuopt_context *context, loaded *l) {
    char error[256];
    int32_t k;
    gpuopt_status status;
    memset(l, 0, sizeof *l);
    if (graphical_generate(t->model, t->hard, &l->model, error, sizeof error)) return GPUOPT_ERROR_ARGUMENT;
    gpuopt_desc_init(&l->desc, sizeof l->desc);
    l->desc.variables = l->model.variables;
    l->desc.domain = l->model.domain;
    l->desc.functions = l->model.functions;
    l->desc.function = l->model.function;
    l->desc.top = l->model.top;
    l->desc.policy = t->z ? GPUOPT_POLICY_MINI_BUCKET : GPUOPT_POLICY_EXACT;
    l->desc.z = t->z;
    for (k = 0; k < l->model.variables; k++) {
        l->agent[k] = 10 * (k % t->agents); /* any numbers */
        l->fixed[k] = -1;
    }
    status = gpuopt_elimination_order(context, &l->desc, l->order, l->parent, NULL);
    l->desc.order = l->order;
    l->desc.order_count = l->model.variables;
    return status;
}

/* The least cost of all assignments. */
static int64_t try_all(const graphical_model *m) {
    int32_t value[16] = {0}, k;
    int64_t best = INT64_MAX, cost;
    double ignored;
    int permitted;
    do {
        graphical_cost(m, value, &permitted, &cost, &ignored);
        if (permitted && cost < best) best = cost;
        for (k = 0; k < m->variables && ++value[k] == m->domain[k]; k++) value[k] = 0;
    } while (k < m->variables);
    return best;
}

/* Rank 1's original transport, and one that changes a byte of each large message. */
static gpuopt_transport whole;
static gpuopt_status damaging_receive(void *user, double seconds, gpuopt_memory_space where, int32_t from, void *data,
                                      uint64_t bytes) {
    gpuopt_status status = whole.receive(user, seconds, where, from, data, bytes);
    uint8_t byte;
    if (status || bytes <= 64) return status;
    if (where == GPUOPT_HOST) ((uint8_t *)data)[bytes / 2] ^= 4;
    else {
        test_device_copy(&byte, (uint8_t *)data + bytes / 2, 1);
        byte ^= 4;
        test_device_copy((uint8_t *)data + bytes / 2, &byte, 1);
    }
    return status;
}

/* Removes the data of other ranks. */
static gpuopt_status forget_others(const rank *r, loaded *l) {
    int32_t owner[128], f;
    gpuopt_status status = agents_deal(&l->desc, l->parent, l->agent, r->all->count, owner);
    for (f = 0; f < l->model.functions && !status; f++) {
        gpuopt_elimination_function *own = &l->model.function[f];
        if (owner[f] < 0 || owner[f] >= r->all->count) return GPUOPT_ERROR_ARGUMENT;
        if (owner[f] == r->number) continue;
        free((void *)own->cost);
        free((void *)own->tuple);
        own->cost = NULL;
        own->tuple = NULL;
    }
    return status;
}

/* The cost of the assignment: each rank looks up its own functions. */
static int64_t cost_of(rank *r, loaded *l) {
    graphical_model own = l->model;
    int32_t f;
    int64_t cost;
    double ignored;
    int permitted;
    own.functions = 0;
    own.function = malloc(sizeof *own.function * (size_t)l->model.functions);
    for (f = 0; f < l->model.functions; f++)
        if (l->model.function[f].cost) own.function[own.functions++] = l->model.function[f];
    graphical_cost(&own, l->value, &permitted, &cost, &ignored);
    free(own.function);
    if (!permitted) cost = INT64_MAX / 8;
    EXPECT(r, gpuopt_group_all_reduce(r->group, GPUOPT_REDUCE_SUM, 1, &cost, NULL) == GPUOPT_OK);
    return cost;
}

static void solves(rank *r) {
    const task *t = r->all->data;
    static const agents_memory device = {GPUOPT_DEVICE, test_device_allocate, test_device_release};
    gpuopt_group_info info = GPUOPT_INIT(gpuopt_group_info);
    agents_answer a;
    loaded l;
    gpuopt_status status;
    if (t->damaged && r->number == 1) {
        whole = r->transport;
        r->transport.receive = damaging_receive;
    }
    EXPECT(r, rank_join(r, 20) == GPUOPT_OK);
    EXPECT(r, load(t, r->context, &l) == GPUOPT_OK);
    EXPECT(r, forget_others(r, &l) == GPUOPT_OK);
    EXPECT(r, gpuopt_group_get_info(r->group, &info) == GPUOPT_OK);
    status = agents_solve_ranks(r->context, r->group, info.device_memory ? &device : NULL, &l.desc, l.parent, l.fixed,
                                l.agent, l.value, &a);
    if (t->damaged) {
        EXPECT(r, status == (r->number == 1 ? GPUOPT_ERROR_ARGUMENT : GPUOPT_ERROR_PEER));
        graphical_free(&l.model);
        return;
    }
    EXPECT(r, status == GPUOPT_OK);
    if (t->z == 0) EXPECT(r, (a.info.outcome == GPUOPT_INFEASIBLE) == (t->optimum == INT64_MAX));
    if (a.info.outcome != GPUOPT_INFEASIBLE) {
        EXPECT(r, t->z ? a.info.cost <= t->optimum : a.info.cost == t->optimum);
        if (t->z == 0) EXPECT(r, a.assigned);
        if (a.assigned) {
            int64_t cost = cost_of(r, &l);
            EXPECT(r, t->z ? cost >= t->optimum : cost == t->optimum);
        }
    }
    EXPECT(r, a.info.outcome == t->simulated.info.outcome && a.info.cost == t->simulated.info.cost);
    EXPECT(r, a.assigned == t->simulated.assigned);
    EXPECT(r, a.agents == t->simulated.agents && a.parts == t->simulated.parts);
    if (r->all->count >= a.agents) { /* a rank for each agent: all messages travel */
        EXPECT(r, a.util_messages == t->simulated.util_messages && a.util_bytes == t->simulated.util_bytes);
        if (a.assigned) { /* else the simulation stops at the first agent that finds no value */
            EXPECT(r, a.value_messages == t->simulated.value_messages && a.value_bytes == t->simulated.value_bytes);
            EXPECT(r, a.largest_bytes == t->simulated.largest_bytes);
        }
    } else {
        EXPECT(r, a.util_bytes <= t->simulated.util_bytes);
        if (r->all->count == 1) EXPECT(r, a.util_messages == 0 && a.value_messages == 0);
    }
    graphical_free(&l.model);
}

/* Solves by trying all, by simulated agents, and on `ranks` ranks. */
static void solve_task(task *t, int ranks) {
    gpuopt_context *context = test_context(NULL);
    loaded l;
    assert_int_equal(load(t, context, &l), GPUOPT_OK);
    t->optimum = try_all(&l.model);
    assert_int_equal(agents_solve(context, &l.desc, l.parent, l.fixed, l.agent, l.value, &t->simulated), GPUOPT_OK);
    graphical_free(&l.model);
    gpuopt_context_destroy(context);
    ranks_run(ranks, solves, t);
}

static void draw_task(task *t, int seed) {
    static const char *const kinds[] = {"random:7:3:0.5:%d", "scalefree:8:2:%d", "grid:3:2:%d", "random:6:4:0.3:%d"};
    memset(t, 0, sizeof *t);
    snprintf(t->model, sizeof t->model, kinds[seed % 4], seed);
    t->hard = seed % 3 == 2 ? 0.4 : 0;
}

static void exact_agents(void **state) {
    int seed, feasible = 0, infeasible = 0;
    (void)state;
    for (seed = 1; seed <= 60; seed++) {
        task t;
        draw_task(&t, seed);
        t.agents = 1 + seed % 5;
        solve_task(&t, 1 + seed / 4 % 5);
        if (t.optimum == INT64_MAX) infeasible++;
        else feasible++;
    }
    assert_true(feasible > 30 && infeasible > 2);
}

static void agents_with_mini_buckets(void **state) {
    int seed, split = 0;
    (void)state;
    for (seed = 1; seed <= 60; seed++) {
        task t;
        draw_task(&t, seed);
        t.agents = 2 + seed % 4;
        t.z = 2 + seed % 2;
        solve_task(&t, 1 + seed / 4 % 5);
        split += t.simulated.info.outcome == GPUOPT_CONVERGED;
    }
    assert_true(split > 10);
}

static void damaged_messages(void **state) {
    task t;
    (void)state;
    memset(&t, 0, sizeof t);
    snprintf(t.model, sizeof t.model, "random:7:3:0.5:1");
    t.agents = 2;
    t.damaged = 1;
    ranks_run(2, solves, &t);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(exact_agents),
    cmocka_unit_test(agents_with_mini_buckets),
    cmocka_unit_test(damaged_messages),
};
TEST_MAIN(tests)
