/* SPDX-License-Identifier: MIT
 *
 * Mini-buckets of agents: the bound, the assignment and the number of tables of one handle with the same order and z,
 * whoever has the variables; and the number of messages (Fioretto et al. 2018: Theorem 1, Corollary 2).
 */
#include <string.h>

#include "examples/io/agents.h"
#include "examples/io/graphical.h"
#include "tests/elimination/handle.h"

typedef struct outcome {
    agents_answer answer;
    int32_t value[MODEL_VARIABLES];
} outcome;

/* An agent for every `each` variables in sequence. */
static outcome solve_by_agents(gpuopt_context *context, const gpuopt_elimination_desc *desc, int32_t each,
                               int32_t *roots) {
    int32_t parent[MODEL_VARIABLES], fixed[MODEL_VARIABLES], agent[MODEL_VARIABLES], k;
    outcome o;
    memset(&o, 0, sizeof o);
    assert_int_equal(gpuopt_elimination_order(context, desc, NULL, parent, NULL), GPUOPT_OK);
    for (k = *roots = 0; k < desc->variables; k++) {
        *roots += parent[k] < 0;
        agent[k] = k / each;
        fixed[k] = -1;
    }
    assert_int_equal(agents_solve(context, desc, parent, fixed, agent, o.value, &o.answer), GPUOPT_OK);
    return o;
}

/* Returns the fault in the agents' answer, or NULL. */
static const char *difference(const model *m, const answer *one, const outcome *o) {
    if (o->answer.estimate.messages != one->estimate.messages) return "another number of mini-buckets";
    if (o->answer.info.outcome != one->info.outcome) return "another outcome";
    if (!close_to(m, cost_of_info(m, &o->answer.info), cost_of_info(m, &one->info))) return "another bound";
    if (one->assignment.struct_size && one->assignment.outcome != GPUOPT_INFEASIBLE &&
        memcmp(o->value, one->value, sizeof *o->value * (size_t)m->variables))
        return "another assignment";
    return NULL;
}

/* All semirings with mini-buckets. Without a top: with one, a single handle forbids partial sums that agents, who do
 * not know the others' least costs, forbid later. */
static void bounds_of_one_handle(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int32_t order[MODEL_VARIABLES], k, each, z, roots;
    uint64_t seed, random;
    long split = 0;
    (void)state;
    for (seed = 1; seed <= 60; seed++)
        for (k = 0; k < MODEL_BOUNDED; k++) {
            gpuopt_elimination_desc desc;
            model m;
            random = seed * 100 + (uint64_t)k;
            m = model_draw_crowded(&random, k, 10, 25, 2, 3, order, &desc);
            desc.top = m.top = 0;
            desc.policy = GPUOPT_POLICY_MINI_BUCKET;
            for (z = 2; z <= 4; z++) {
                answer one;
                desc.z = z;
                one = handle_answer(context, &desc, &host, 3, order);
                split += one.estimate.messages > m.variables;
                for (each = 1; each <= 3; each++) {
                    const outcome o = solve_by_agents(context, &desc, each, &roots);
                    if (difference(&m, &one, &o)) must_not(difference(&m, &one, &o), &m, seed);
                    if (each == 1) assert_int_equal(o.answer.util_messages, m.variables - roots);
                }
            }
            model_free(&m);
        }
    assert_true(split > 450); /* half of them */
    gpuopt_context_destroy(context);
}

/* The paper's models, connected, in their own order: n - 1 messages up, and n - 1 down. */
static void messages_of_a_tree(void **state) {
    static const char *const names[] = {"random:12:10:0.3:1", "random:12:10:0.3:2", "scalefree:12:6:1", "grid:3:5:1"};
    gpuopt_context *context = test_context(NULL);
    int32_t order[MODEL_VARIABLES], which, k, roots;
    (void)state;
    for (k = 0; k < MODEL_VARIABLES; k++) order[k] = k;
    for (which = 0; which < 4; which++) {
        gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
        graphical_model g;
        char error[256];
        assert_int_equal(graphical_generate(names[which], 0, &g, error, sizeof error), 0);
        desc.variables = g.variables;
        desc.domain = g.domain;
        desc.functions = g.functions;
        desc.function = g.function;
        desc.order = order;
        desc.order_count = g.variables;
        desc.policy = GPUOPT_POLICY_MINI_BUCKET;
        for (desc.z = 2; desc.z <= 4; desc.z++) {
            const answer one = handle_answer(context, &desc, NULL, 3, order);
            const outcome o = solve_by_agents(context, &desc, 1, &roots);
            assert_int_equal(roots, 1);
            assert_true(o.answer.info.cost == one.info.cost);
            assert_memory_equal(o.value, one.value, sizeof *o.value * (size_t)g.variables);
            assert_int_equal(o.answer.util_messages, g.variables - 1);
            assert_int_equal(o.answer.value_messages, g.variables - 1);
        }
        graphical_free(&g);
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(bounds_of_one_handle),
    cmocka_unit_test(messages_of_a_tree),
};
TEST_MAIN(tests)
