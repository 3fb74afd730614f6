/* SPDX-License-Identifier: MIT
 *
 * Distributed solving with messages as bytes: agents that own parts of the variables find the same answer as one that
 * owns all.
 */
#include <stdlib.h>
#include <string.h>

#include "gpuopt/inference.h"
#include "tests/elimination/handle.h"
enum { AGREED = 77 }; /* the agents' number for their model */

/* The ways in which a message becomes a function of the parent: unpacked, or as bytes, in host or in device memory. */
enum { UNPACKED, AS_BYTES, ON_DEVICE, WAYS };

/* A part of a model. The arrays of its functions belong to the whole model, except the functions from `own` on. */
typedef struct agent {
    model part;
    int32_t own;
    gpuopt_elimination *elimination;
    gpuopt_elimination_packed message[MODEL_VARIABLES + 1];
    int32_t messages;
} agent;

static void agent_free(agent *a) {
    int32_t f;
    gpuopt_elimination_destroy(a->elimination);
    for (f = 0; f < a->messages; f++) {
        if (a->message[f].where == GPUOPT_DEVICE) test_device_release((void *)a->message[f].bytes);
        else free((void *)a->message[f].bytes);
        free((void *)a->message[f].scope);
    }
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

/* Packs a message in device memory. It has the same bytes as in host memory, and nothing behind it is written. */
static void *pack_on_device(gpuopt_elimination *elimination, int32_t message, const uint8_t *bytes, uint64_t size) {
    uint8_t *on_device = test_device_allocate((size_t)size + 16), *copy = malloc((size_t)size + 16);
    uint64_t written = 0, k;
    memset(copy, 0x5a, (size_t)size + 16);
    test_device_copy(on_device, copy, (size_t)size + 16);
    assert_int_equal(
        gpuopt_elimination_message_pack(elimination, GPUOPT_DEVICE, message, 0, on_device, size - 1, &written),
        GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(
        gpuopt_elimination_message_pack(elimination, GPUOPT_DEVICE, message, 0, on_device + 4, size, &written),
        GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_message_pack(elimination, GPUOPT_DEVICE, message, 0, on_device, size, &written),
                     GPUOPT_OK);
    assert_true(written == size);
    test_device_copy(copy, on_device, (size_t)size + 16);
    assert_memory_equal(copy, bytes, (size_t)size);
    for (k = 0; k < 16; k++) assert_int_equal(copy[size + k], 0x5a);
    free(copy);
    return on_device;
}

/* Gives the parent a message as it is. */
static void hand_over_bytes(gpuopt_context *context, const agent *child, agent *parent, int32_t number, int way) {
    const gpuopt_elimination_message_info info = handle_message(child->elimination, number);
    gpuopt_elimination_packed *to = &parent->message[parent->messages++];
    gpuopt_elimination_packed_info p;
    int32_t *scope = malloc(sizeof *scope * (size_t)info.arity + 1);
    uint8_t *bytes = handle_pack(child->elimination, number, &to->size);
    if (info.arity) memcpy(scope, info.scope, sizeof *scope * (size_t)info.arity);
    to->arity = info.arity;
    to->scope = scope;
    to->where = way == ON_DEVICE ? GPUOPT_DEVICE : GPUOPT_HOST;
    to->bytes = bytes;
    if (way == ON_DEVICE) {
        to->bytes = pack_on_device(child->elimination, number, bytes, to->size);
        free(bytes);
    }
    gpuopt_desc_init(&p, sizeof p);
    assert_int_equal(gpuopt_elimination_message_inspect(context, to->where, to->bytes, to->size, &p), GPUOPT_OK);
    assert_true(p.arity == info.arity && p.entries == info.entries && p.bits == info.bits && p.model == AGREED);
}

/* Turns the messages that leave the child into functions of the parent, by way of bytes. */
static void hand_over(gpuopt_context *context, const agent *child, agent *parent, int32_t messages, int way) {
    const model *m = &child->part;
    int32_t k;
    for (k = 0; k < messages; k++) {
        int32_t scope[MODEL_VARIABLES], domain[MODEL_VARIABLES];
        gpuopt_elimination_packed_info p;
        gpuopt_elimination_function *f;
        uint64_t *count = NULL, size;
        uint8_t *bytes;
        if (handle_message(child->elimination, k).parent >= 0) continue;
        if (way != UNPACKED) {
            hand_over_bytes(context, child, parent, k, way);
            continue;
        }
        bytes = handle_pack(child->elimination, k, &size);
        gpuopt_desc_init(&p, sizeof p);
        assert_int_equal(gpuopt_elimination_message_inspect(context, GPUOPT_HOST, bytes, size, &p), GPUOPT_OK);
        assert_int_equal(p.arity, handle_message(child->elimination, k).arity);
        f = model_add(&parent->part, p.arity, handle_message(child->elimination, k).scope, -1);
        if (m->semiring == GPUOPT_SEMIRING_MIN_COUNT) f->count = count = malloc((size_t)p.entries * sizeof *count);
        assert_int_equal(gpuopt_elimination_message_unpack(context, AGREED, bytes, size, scope, domain,
                                                           (int64_t *)f->cost, (double *)f->value, count),
                         GPUOPT_OK);
        free(bytes);
    }
}

static gpuopt_elimination_estimate agent_run(gpuopt_context *context, agent *a, const int32_t *order, int32_t count,
                                             const test_host *host) {
    gpuopt_elimination_desc desc = model_desc(&a->part);
    gpuopt_elimination_messages messages = GPUOPT_INIT(gpuopt_elimination_messages);
    gpuopt_elimination_estimate e;
    desc.order = order;
    desc.order_count = count;
    desc.messages = &messages;
    messages.model = AGREED;
    messages.packed = a->message;
    messages.count = a->messages;
    gpuopt_desc_init(&e, sizeof e);
    assert_int_equal(gpuopt_elimination_order(context, &desc, NULL, NULL, &e), GPUOPT_OK);
    a->elimination = handle_create(context, &desc, host);
    handle_finish(a->elimination, 3);
    return e;
}

/* Solves a model by two agents; the first has `count` variables. Returns the second one's estimate. */
static gpuopt_elimination_estimate solve(gpuopt_context *context, const test_host *host, const model *m, const brute *b,
                                         const int32_t *order, int32_t count, int way, uint64_t seed) {
    gpuopt_elimination_assignment assignment;
    gpuopt_elimination_estimate e;
    agent child = agent_of(m, order, count, 0), parent = agent_of(m, order, count, 1);
    answer a;
    hand_over(context, &child, &parent, agent_run(context, &child, order, count, host).messages, way);
    e = agent_run(context, &parent, order + count, m->variables - count, host);
    memset(&a, 0, sizeof a);
    a.info = handle_info(parent.elimination, 0);
    if (count > 0 && a.info.outcome == GPUOPT_CONVERGED) a.info.outcome = GPUOPT_OPTIMAL; /* left over */
    must_not(answer_fault(m, b, &a, 1), m, seed);
    gpuopt_desc_init(&assignment, sizeof assignment);
    if (b->feasible && m->semiring != GPUOPT_SEMIRING_LOG_SUM_EXP) {
        assert_int_equal(gpuopt_elimination_assign(parent.elimination, GPUOPT_HOST, 0, a.value, &assignment),
                         GPUOPT_OK);
        assert_int_equal(gpuopt_elimination_assign(child.elimination, GPUOPT_HOST, 0, a.value, &assignment), GPUOPT_OK);
        if (memcmp(a.value, b->value, (size_t)m->variables * sizeof *b->value))
            must_not("not the assignment of one agent", m, seed);
    }
    agent_free(&child);
    agent_free(&parent);
    return e;
}

/* UTIL messages go up, VALUE messages down. The result is the optimum, and the same assignment as a single agent's, for
 * all ways in which messages become functions. */
static void agents_agree(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed, random;
    int32_t k, order[MODEL_VARIABLES];
    (void)state;
    for (seed = 1; seed <= 150; seed++)
        for (k = 0; k < MODEL_KINDS; k++) {
            gpuopt_elimination_estimate e, other;
            int32_t count, way;
            recipe r;
            model m;
            brute b;
            random = seed * 19 + (uint64_t)k;
            r = recipe_draw(&random, model_kind[k].type, model_kind[k].semiring);
            if (r.top) r.least = 0; /* else costs that a child forbids may be paid above */
            r.fractions = 0;
            m = model_draw(&random, model_kind[k].type, model_kind[k].semiring, &r);
            draw_permutation(&random, m.variables, order);
            b = brute_force(&m, order, m.variables, NULL, NULL);
            count = (int32_t)test_random_int(&random, 0, m.variables);
            e = solve(context, &host, &m, &b, order, count, UNPACKED, seed);
            for (way = AS_BYTES; way < (test_on("cuda") ? WAYS : ON_DEVICE); way++) {
                other = solve(context, &host, &m, &b, order, count, way, seed);
                if (other.bits != e.bits || other.policy != e.policy ||
                    other.memory.device_bytes != e.memory.device_bytes)
                    must_not("another plan than with a function", &m, seed);
            }
            model_free(&m);
        }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(agents_agree),
};
TEST_MAIN(tests)
