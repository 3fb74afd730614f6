/* SPDX-License-Identifier: MIT
 *
 * Distributed solving with messages as bytes: agents that own a part of the variables come to the answer of one that
 * owns all.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/elimination/handle.h"
enum { AGREED = 77 }; /* the agents' number for their model */

/* A part of a model. The arrays of its functions belong to the whole model, except those from `own` on. */
typedef struct agent {
    model part;
    int32_t own;
    gpuopt_elimination *elimination;
} agent;

static void agent_free(agent *a) {
    int32_t f;
    gpuopt_elimination_destroy(a->elimination);
    for (f = 0; f < a->own; f++) {
        gpuopt_elimination_function nothing = {0};
        a->part.function[f] = nothing;
    }
    model_free(&a->part);
}

/* The functions that mention one of the first `count` variables of order, or (rest) the others. */
static agent agent_of(const model *m, const int32_t *order, int32_t count, int rest) {
    int32_t f, k, s, mentions;
    agent a;
    memset(&a, 0, sizeof a);
    a.part = model_make(m->type, m->semiring, m->variables, m->domain);
    a.part.top = m->top;
    a.part.function = calloc((size_t)m->functions + 1, sizeof *a.part.function);
    assert_non_null(a.part.function);
    for (f = 0; f < m->functions; f++) {
        for (k = mentions = 0; k < count; k++)
            for (s = 0; s < m->function[f].arity; s++) mentions |= m->function[f].scope[s] == order[k];
        if (mentions != rest) a.part.function[a.part.functions++] = m->function[f];
    }
    a.own = a.part.functions;
    return a;
}

/* Turns the messages that leave the child into functions of the parent, by way of bytes. */
static void hand_over(gpuopt_context *context, const agent *child, agent *parent, int32_t messages) {
    const model *m = &child->part;
    int32_t k;
    for (k = 0; k < messages; k++) {
        int32_t scope[MODEL_VARIABLES], domain[MODEL_VARIABLES];
        gpuopt_elimination_packed_info p;
        gpuopt_elimination_function *f;
        uint64_t *count = NULL, size;
        uint8_t *bytes;
        if (handle_message(child->elimination, k).parent >= 0) continue;
        bytes = handle_pack(child->elimination, k, &size);
        gpuopt_desc_init(&p, sizeof p);
        assert_int_equal(gpuopt_elimination_message_inspect(context, bytes, size, &p), GPUOPT_OK);
        assert_int_equal(p.arity, handle_message(child->elimination, k).arity);
        f = model_add(&parent->part, p.arity, handle_message(child->elimination, k).scope, -1);
        if (m->semiring == GPUOPT_SEMIRING_MIN_COUNT) f->count = count = malloc((size_t)p.entries * sizeof *count);
        assert_int_equal(gpuopt_elimination_message_unpack(context, AGREED, bytes, size, scope, domain,
                                                           (int64_t *)f->cost, (double *)f->value, count),
                         GPUOPT_OK);
        free(bytes);
    }
}

static int32_t agent_run(gpuopt_context *context, agent *a, const int32_t *order, int32_t count,
                         const test_host *host) {
    gpuopt_elimination_desc desc = model_desc(&a->part);
    gpuopt_elimination_estimate e;
    desc.order = order;
    desc.order_count = count;
    desc.model = AGREED;
    gpuopt_desc_init(&e, sizeof e);
    assert_int_equal(gpuopt_elimination_order(context, &desc, NULL, NULL, &e), GPUOPT_OK);
    a->elimination = handle_create(context, &desc, host);
    handle_finish(a->elimination, 3);
    return e.messages;
}

/* UTIL messages go up, VALUE messages down: the optimum, and the assignment that a single agent would find. */
static void agents_agree(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed, random;
    int32_t k, order[MODEL_VARIABLES];
    (void)state;
    for (seed = 1; seed <= 150; seed++)
        for (k = 0; k < MODEL_KINDS; k++) {
            gpuopt_elimination_assignment assignment;
            agent child, parent;
            int32_t count;
            recipe r;
            model m;
            answer a;
            brute b;
            random = seed * 19 + (uint64_t)k;
            r = recipe_draw(&random, model_kind[k].type, model_kind[k].semiring);
            if (r.top) r.least = 0; /* else what a child forbids may be paid for above */
            r.fractions = 0;
            m = model_draw(&random, model_kind[k].type, model_kind[k].semiring, &r);
            draw_permutation(&random, m.variables, order);
            b = brute_force(&m, order, m.variables, NULL, NULL);
            count = (int32_t)test_random_int(&random, 0, m.variables);
            child = agent_of(&m, order, count, 0);
            parent = agent_of(&m, order, count, 1);
            hand_over(context, &child, &parent, agent_run(context, &child, order, count, &host));
            agent_run(context, &parent, order + count, m.variables - count, &host);
            memset(&a, 0, sizeof a);
            a.info = handle_info(parent.elimination, 0);
            if (count > 0 && a.info.outcome == GPUOPT_CONVERGED) a.info.outcome = GPUOPT_OPTIMAL; /* left over */
            must_not(answer_fault(&m, &b, &a, 1), &m, seed);
            gpuopt_desc_init(&assignment, sizeof assignment);
            if (b.feasible && m.semiring != GPUOPT_SEMIRING_LOG_SUM_EXP) {
                assert_int_equal(gpuopt_elimination_assign(parent.elimination, GPUOPT_HOST, 0, a.value, &assignment),
                                 GPUOPT_OK);
                assert_int_equal(gpuopt_elimination_assign(child.elimination, GPUOPT_HOST, 0, a.value, &assignment),
                                 GPUOPT_OK);
                if (memcmp(a.value, b.value, (size_t)m.variables * sizeof *b.value))
                    must_not("not the assignment of one agent", &m, seed);
            }
            agent_free(&child);
            agent_free(&parent);
            model_free(&m);
        }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(agents_agree),
};
TEST_MAIN(tests)
