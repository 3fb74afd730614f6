/* SPDX-License-Identifier: MIT
 *
 * The parts that other solvers use: every message's table against all assignments of the variables eliminated below it;
 * joins, projections, copies with evidence.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "gpuopt/inference.h"
#include "tests/elimination/handle.h"

/* A message in the caller's form. */
typedef struct read_message {
    int64_t *cost;
    double *value;
    uint64_t *count;
} read_message;

static read_message message_read(gpuopt_elimination *elimination, const model *m, int32_t message, int32_t copy) {
    size_t entries = (size_t)handle_message(elimination, message).entries;
    read_message r;
    r.cost = malloc(entries * sizeof *r.cost);
    r.value = malloc(entries * sizeof *r.value);
    r.count = malloc(entries * sizeof *r.count);
    assert_true(r.cost && r.value && r.count);
    assert_int_equal(gpuopt_elimination_message_get(elimination, GPUOPT_HOST, message, copy,
                                                    m->type == GPUOPT_COST_INT64 ? r.cost : NULL,
                                                    m->type == GPUOPT_COST_DOUBLE ? r.value : NULL,
                                                    m->semiring == GPUOPT_SEMIRING_MIN_COUNT ? r.count : NULL),
                     GPUOPT_OK);
    return r;
}

static void message_free(read_message *r) {
    free(r->cost);
    free(r->value);
    free(r->count);
}

/* The values of a message's scope at an entry. */
static void at_entry(const model *m, const gpuopt_elimination_message_info *info, int64_t entry, int32_t *value) {
    int32_t k;
    for (k = info->arity - 1; k >= 0; k--) {
        value[info->scope[k]] = (int32_t)(entry % m->domain[info->scope[k]]);
        entry /= m->domain[info->scope[k]];
    }
}

/* A cost that is forbidden below the root may be reported as such if no other function can lower it under top. */
static int entry_is(const model *m, const subtree *t, long double entry, const brute *b) {
    long double sign = m->semiring == GPUOPT_SEMIRING_MAX_SUM ? -1 : 1;
    if (close_to(m, entry, b->best)) return 1;
    if (!m->top || !b->feasible || !isinf(entry)) return 0;
    return sign * b->best - brute_offset(m, t->function) >= (long double)m->top - brute_offset(m, NULL);
}

static const char *message_fault(gpuopt_elimination *elimination, const model *m, const subtree *t,
                                 const int32_t *below, int32_t below_count, int32_t message, int32_t copy,
                                 const int32_t *condition) {
    gpuopt_elimination_message_info info = handle_message(elimination, message);
    read_message r;
    int32_t value[MODEL_VARIABLES], k, arity = 0;
    const char *fault = NULL;
    int64_t e;
    for (k = 0; k < m->variables; k++) arity += t->separator[k];
    if (info.arity != arity) return "the size of a scope";
    for (k = 0; k < arity; k++)
        if (!t->separator[info.scope[k]]) return "a scope";
    if (info.entries != model_entries(m, info.scope, arity)) return "a message's entries";
    if (!info.ready) return "a message is not ready";
    memcpy(value, condition, (size_t)m->variables * sizeof *value);
    r = message_read(elimination, m, message, copy);
    for (e = 0; e < info.entries && !fault; e++) {
        brute b;
        at_entry(m, &info, e, value);
        b = brute_force(m, below, below_count, value, t->function);
        if (!entry_is(m, t, entry_of(m, r.cost[e], r.value[e]), &b)) fault = "an entry of a message";
        else if (m->semiring == GPUOPT_SEMIRING_MIN_COUNT && r.cost[e] != INT64_MAX && r.count[e] != b.count)
            fault = "a count";
    }
    message_free(&r);
    return fault;
}

/* Compares the message of each variable in the order. Returns the first fault, or NULL. */
static const char *messages_fault(gpuopt_elimination *elimination, const model *m, const gpuopt_elimination_desc *desc,
                                  int32_t messages, int32_t copy, const int32_t *condition) {
    uint8_t conditioned[MODEL_VARIABLES] = {0};
    int32_t below[MODEL_VARIABLES], k, c, v, count, seen = 0;
    const char *fault = NULL;
    subtree *trees;
    for (k = 0; k < desc->evidence_count; k++) conditioned[desc->evidence[k]] = 1;
    trees = subtrees_make(m, desc->order, desc->order_count, conditioned);
    for (k = 0; k < messages && !fault; k++) {
        gpuopt_elimination_message_info info = handle_message(elimination, k);
        if (info.variable < 0) continue;
        for (c = 0; c < desc->order_count && desc->order[c] != info.variable; c++) continue;
        if (c == desc->order_count) return "a message of no variable of the order";
        for (v = count = 0; v < desc->order_count; v++)
            if (trees[c].below[desc->order[v]]) below[count++] = desc->order[v];
        fault = message_fault(elimination, m, &trees[c], below, count, k, copy, condition);
        seen++;
    }
    if (!fault && seen != desc->order_count) fault = "the number of messages";
    subtrees_free(trees, desc->order_count);
    return fault;
}

static model small_model(uint64_t *seed, int which, recipe *r) {
    *r = recipe_draw(seed, model_kind[which].type, model_kind[which].semiring);
    r->variables = 6;
    r->domain = 3;
    if (r->functions > 8) r->functions = 8;
    return model_draw(seed, model_kind[which].type, model_kind[which].semiring, r);
}

/* The parent of a message is the first variable of the order in its scope. */
static void check_parents(gpuopt_elimination *elimination, const gpuopt_elimination_desc *desc, int32_t messages) {
    int32_t k, c, s, parent;
    for (k = 0; k < messages; k++) {
        gpuopt_elimination_message_info info = handle_message(elimination, k);
        for (c = 0, parent = -1; c < desc->order_count && parent < 0; c++)
            for (s = 0; s < info.arity; s++)
                if (info.scope[s] == desc->order[c]) parent = desc->order[c];
        assert_int_equal(info.parent, parent);
    }
}

/* Orders that leave variables over, conditions, copies: every message, and the rest of the answers of a copy. */
static void messages_are_minima(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed, random;
    int32_t k, copy, c;
    (void)state;
    for (seed = 1; seed <= (uint64_t)test_times(120, 120); seed++)
        for (k = 0; k < MODEL_KINDS; k++) {
            int32_t drawn[MODEL_VARIABLES], at[3][MODEL_VARIABLES] = {{0}}, value[3][MODEL_VARIABLES];
            gpuopt_elimination_estimate e;
            gpuopt_elimination *elimination;
            gpuopt_elimination_desc desc;
            recipe r;
            model m;
            random = seed * 31 + (uint64_t)k;
            m = small_model(&random, k, &r);
            desc = model_desc(&m);
            draw_permutation(&random, m.variables, drawn);
            desc.order = drawn;
            desc.order_count = (int32_t)test_random_int(&random, 0, m.variables);
            desc.evidence = drawn + desc.order_count;
            desc.evidence_count = (int32_t)test_random_int(&random, 0, m.variables - desc.order_count);
            desc.batch_size = (int32_t)test_random_int(&random, 0, 3);
            desc.policy = GPUOPT_POLICY_EXACT;
            gpuopt_desc_init(&e, sizeof e);
            assert_int_equal(gpuopt_elimination_order(context, &desc, NULL, NULL, &e), GPUOPT_OK);
            elimination = handle_create(context, &desc, &host);
            for (copy = 0; copy < desc.batch_size; copy++) { /* without copies it stays at 0 */
                for (c = 0; c < desc.evidence_count; c++) {
                    value[copy][c] = (int32_t)test_random_int(&random, 0, m.domain[desc.evidence[c]] - 1);
                    at[copy][desc.evidence[c]] = value[copy][c];
                }
                assert_int_equal(gpuopt_elimination_set_evidence(elimination, GPUOPT_HOST, copy, value[copy]),
                                 GPUOPT_OK);
            }
            handle_finish(elimination, (int32_t)test_random_int(&random, 1, 4));
            check_parents(elimination, &desc, e.messages);
            for (copy = 0; copy < desc.batch_size || copy < 1; copy++)
                must_not(messages_fault(elimination, &m, &desc, e.messages, copy, at[copy]), &m, seed);
            gpuopt_elimination_destroy(elimination);
            model_free(&m);
        }
    gpuopt_context_destroy(context);
}

/* Each copy gives the answer of its own model, also after a second condition on the same handle. */
static void copies_are_models(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed, random;
    int32_t k, copy, c, round;
    const int models = test_times(100, 100);
    long different = 0;
    (void)state;
    for (seed = 1; seed <= (uint64_t)models; seed++)
        for (k = 0; k < MODEL_KINDS; k++) {
            int32_t drawn[MODEL_VARIABLES], at[5][MODEL_VARIABLES], value[MODEL_VARIABLES];
            gpuopt_elimination *elimination;
            gpuopt_elimination_desc desc;
            gpuopt_elimination_messages messages = GPUOPT_INIT(gpuopt_elimination_messages);
            long double first = 0;
            recipe r;
            model m;
            random = seed * 131 + (uint64_t)k;
            r = recipe_draw(&random, model_kind[k].type, model_kind[k].semiring);
            r.counts = 0;
            m = model_draw(&random, model_kind[k].type, model_kind[k].semiring, &r);
            desc = model_desc(&m);
            draw_permutation(&random, m.variables, drawn);
            desc.order_count = (int32_t)test_random_int(&random, 0, m.variables);
            desc.order = drawn;
            desc.evidence = drawn + desc.order_count;
            desc.evidence_count = m.variables - desc.order_count;
            desc.batch_size = 5;
            desc.messages = &messages;
            messages.join_rest = (int)test_random_int(&random, 0, 1);
            elimination = handle_create(context, &desc, &host);
            for (round = 0; round < 2; round++) {
                for (copy = 0; copy < 5; copy++) {
                    for (c = 0; c < m.variables; c++) at[copy][c] = -1;
                    for (c = 0; c < desc.evidence_count; c++)
                        at[copy][desc.evidence[c]] = value[c] =
                            (int32_t)test_random_int(&random, 0, m.domain[desc.evidence[c]] - 1);
                    assert_int_equal(gpuopt_elimination_set_evidence(elimination, GPUOPT_HOST, copy, value), GPUOPT_OK);
                    assert_int_equal(handle_info(elimination, copy).eliminated, 0);
                }
                handle_finish(elimination, 2);
                for (copy = 0; copy < 5; copy++) {
                    model restricted = model_restricted(&m, at[copy]);
                    brute b = brute_force(&restricted, drawn, desc.order_count, NULL, NULL);
                    answer a;
                    memset(&a, 0, sizeof a);
                    a.info = handle_info(elimination, copy);
                    gpuopt_desc_init(&a.assignment, sizeof a.assignment);
                    if (m.semiring == GPUOPT_SEMIRING_LOG_SUM_EXP) a.assignment.struct_size = 0;
                    else
                        assert_int_equal(
                            gpuopt_elimination_assign(elimination, GPUOPT_HOST, copy, a.value, &a.assignment),
                            GPUOPT_OK);
                    for (c = 0; c < m.variables && a.assignment.outcome == GPUOPT_OPTIMAL; c++)
                        if (at[copy][c] >= 0) {
                            if (a.value[c] != at[copy][c]) must_not("a conditioned variable's value", &m, seed);
                            a.value[c] = 0;
                        }
                    must_not(answer_fault(&restricted, &b, &a, 1), &restricted, seed);
                    if (copy == 0) first = b.best;
                    different += b.feasible && !close_to(&m, first, b.best);
                    model_free(&restricted);
                }
            }
            gpuopt_elimination_destroy(elimination);
            model_free(&m);
        }
    assert_true(different > 2 * models);
    gpuopt_context_destroy(context);
}

/* ---- Joins ---- */

/* The functions left over become one table: with the rest of the cost, the model over the variables left over. */
static const char *join_fault(gpuopt_elimination *elimination, const model *m, const gpuopt_elimination_desc *desc,
                              int32_t messages, uint64_t *seed) {
    gpuopt_elimination_message_info info = handle_message(elimination, messages - 1);
    gpuopt_elimination_info end = handle_info(elimination, 0);
    int32_t value[MODEL_VARIABLES], v;
    const char *fault = NULL;
    read_message r;
    int64_t e;
    if (info.variable != -1 || info.parent != -1) return "the last message is not what was joined";
    r = message_read(elimination, m, messages - 1, 0);
    for (e = 0; e < info.entries && !fault; e++) {
        long double sum = entry_of(m, r.cost[e], r.value[e]);
        uint64_t count = info.arity ? r.count[e] * end.count : end.count;
        brute b;
        for (v = 0; v < m->variables; v++) value[v] = (int32_t)test_random_int(seed, 0, m->domain[v] - 1);
        at_entry(m, &info, e, value);
        b = brute_force(m, desc->order, desc->order_count, value, NULL);
        if (end.outcome == GPUOPT_INFEASIBLE) sum = model_forbidden(m);
        else if (info.arity == 0) sum = cost_of_info(m, &end);
        else sum += cost_of_info(m, &end);
        if (m->top && (m->semiring == GPUOPT_SEMIRING_MAX_SUM ? sum <= -(long double)m->top : sum >= m->top))
            sum = model_forbidden(m);
        if (!close_to(m, sum, b.best)) fault = "an entry of what was joined";
        else if (m->semiring == GPUOPT_SEMIRING_MIN_COUNT && b.feasible && count != b.count)
            fault = "a count of what was joined";
    }
    message_free(&r);
    return fault;
}

static void rest_is_joined(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed, random;
    int32_t k;
    (void)state;
    for (seed = 1; seed <= (uint64_t)test_times(150, 150); seed++)
        for (k = 0; k < MODEL_KINDS; k++) {
            int32_t drawn[MODEL_VARIABLES];
            gpuopt_elimination_estimate e;
            gpuopt_elimination *elimination;
            gpuopt_elimination_desc desc;
            gpuopt_elimination_messages messages = GPUOPT_INIT(gpuopt_elimination_messages);
            recipe r;
            model m;
            random = seed * 59 + (uint64_t)k;
            m = small_model(&random, k, &r);
            desc = model_desc(&m);
            draw_permutation(&random, m.variables, drawn);
            desc.order = drawn;
            desc.order_count = test_random_int(&random, 0, 1) ? 0 : (int32_t)test_random_int(&random, 0, m.variables);
            desc.messages = &messages;
            messages.join_rest = 1;
            gpuopt_desc_init(&e, sizeof e);
            assert_int_equal(gpuopt_elimination_order(context, &desc, NULL, NULL, &e), GPUOPT_OK);
            assert_int_equal(e.messages, desc.order_count + 1);
            elimination = handle_create(context, &desc, &host);
            handle_finish(elimination, 1);
            must_not(join_fault(elimination, &m, &desc, e.messages, &random), &m, seed);
            gpuopt_elimination_destroy(elimination);
            model_free(&m);
        }
    gpuopt_context_destroy(context);
}

/* Eliminates a variable of one table by hand: 2 x 3 x 2, costs 10 a + (b - 1)^2 + 5 c (b - a). */
static void one_projection(void **state) {
    static const int32_t domain[] = {2, 3, 2}, scope[] = {2, 0, 1}, over = 1;
    gpuopt_context *context = test_context(NULL);
    int32_t a, b, c, v[3];
    gpuopt_elimination *elimination;
    gpuopt_elimination_desc desc;
    gpuopt_elimination_message_info info;
    int64_t cost[4], e;
    model m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, 3, domain);
    gpuopt_elimination_function *f = model_add(&m, 3, scope, -1);
    (void)state;
    for (c = 0, e = 0; c < 2; c++)
        for (a = 0; a < 2; a++)
            for (b = 0; b < 3; b++) model_set(&m, f, e++, 10 * a + (b - 1) * (b - 1) + 5 * c * (b - a));
    desc = model_desc(&m);
    desc.order = &over;
    desc.order_count = 1;
    elimination = handle_create(context, &desc, NULL);
    assert_int_equal(handle_finish(elimination, 1).outcome, GPUOPT_CONVERGED);
    info = handle_message(elimination, 0);
    assert_int_equal(info.variable, 1);
    assert_int_equal(info.arity, 2);
    assert_int_equal(gpuopt_elimination_message_get(elimination, GPUOPT_HOST, 0, 0, cost, NULL, NULL), GPUOPT_OK);
    for (e = 0; e < 4; e++) {
        static const int64_t least[2][2] = {{0, 1}, {10, 6}}; /* [a][c]: c = 1: b = 0 gives 1 - 5 a */
        at_entry(&m, &info, e, v);
        assert_int_equal(cost[e], least[v[0]][v[2]]);
    }
    gpuopt_elimination_destroy(elimination);
    model_free(&m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(messages_are_minima),
    cmocka_unit_test(copies_are_models),
    cmocka_unit_test(rest_is_joined),
    cmocka_unit_test(one_projection),
};
TEST_MAIN(tests)
