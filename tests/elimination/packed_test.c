/* SPDX-License-Identifier: MIT
 *
 * Models with packed messages as functions, in host and in device memory: the answers of trying all assignments, with
 * every policy, with conditions and copies; the planned memory; and refusals.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "gpuopt/inference.h"
#include "tests/elimination/handle.h"

enum { AGREED = 5, MOST = 64, HEADER = 72 };

/* The functions of a model as messages. */
typedef struct letters {
    gpuopt_elimination_packed message[MOST];
    int32_t count;
} letters;

static void *keep(gpuopt_memory_space where, uint8_t *bytes, uint64_t size) {
    void *on_device;
    if (where == GPUOPT_HOST) return bytes;
    on_device = test_device_allocate((size_t)size);
    test_device_copy(on_device, bytes, (size_t)size);
    free(bytes);
    return on_device;
}

static void drop(gpuopt_memory_space where, const void *bytes) {
    if (where == GPUOPT_HOST) free((void *)bytes);
    else test_device_release((void *)bytes);
}

/* Packs a function: it is the only message of a handle that has this function and eliminates nothing. */
static uint8_t *pack_function(gpuopt_context *context, const test_host *host, const model *m, int32_t function,
                              uint64_t *size) {
    static const int32_t nothing = 0;
    gpuopt_elimination_desc desc = model_desc(m);
    gpuopt_elimination_messages messages = GPUOPT_INIT(gpuopt_elimination_messages);
    gpuopt_elimination *e;
    uint8_t *bytes;
    desc.function = &m->function[function];
    desc.functions = 1;
    desc.order = &nothing;
    desc.order_count = 0;
    desc.messages = &messages;
    messages.join_rest = 1;
    messages.model = AGREED;
    e = handle_create(context, &desc, host);
    handle_finish(e, 1);
    bytes = handle_pack(e, 0, size);
    gpuopt_elimination_destroy(e);
    return bytes;
}

/* The scope of a packed message from the child; the child's variables have the same numbers here. */
static int32_t *scope_of(const uint8_t *bytes, int32_t *arity) {
    int32_t *scope, k, b;
    *arity = bytes[20];
    scope = calloc((size_t)*arity + 1, sizeof *scope);
    for (k = 0; k < *arity; k++)
        for (b = 0; b < 4; b++) scope[k] |= (int32_t)bytes[HEADER + 4 * k + b] << 8 * b;
    return scope;
}

/* All functions without a bit in `kept` become messages; every other one in device memory, on CUDA. */
static letters write_letters(gpuopt_context *context, const test_host *host, const model *m, uint64_t kept) {
    letters l;
    int32_t f;
    memset(&l, 0, sizeof l);
    for (f = 0; f < m->functions; f++) {
        gpuopt_elimination_packed *to = &l.message[l.count];
        uint8_t *bytes;
        if (kept >> f & 1) continue;
        bytes = pack_function(context, host, m, f, &to->size);
        to->scope = scope_of(bytes, &to->arity);
        to->where = test_on("cuda") && l.count % 2 ? GPUOPT_DEVICE : GPUOPT_HOST;
        to->bytes = keep(to->where, bytes, to->size);
        l.count++;
    }
    return l;
}

static void burn(letters *l) {
    while (l->count-- > 0) {
        drop(l->message[l->count].where, l->message[l->count].bytes);
        free((void *)l->message[l->count].scope);
    }
}

static void models_of_messages(void **state) {
    static const gpuopt_elimination_policy policy[] = {GPUOPT_POLICY_AUTO, GPUOPT_POLICY_EXACT, GPUOPT_POLICY_DROP,
                                                       GPUOPT_POLICY_RECOMPUTE, GPUOPT_POLICY_STREAM};
    const int seeds = test_times(120, 30);
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed;
    int32_t k;
    (void)state;
    for (seed = 1; seed <= (uint64_t)seeds; seed++)
        for (k = 0; k < MODEL_KINDS; k++) {
            uint64_t random = seed * 23 + (uint64_t)k, kept;
            gpuopt_elimination_function own[MOST];
            int32_t order[MODEL_VARIABLES], f;
            gpuopt_elimination_desc desc;
            gpuopt_elimination_messages messages = GPUOPT_INIT(gpuopt_elimination_messages);
            recipe r = recipe_draw(&random, model_kind[k].type, model_kind[k].semiring);
            letters l;
            answer a;
            brute b;
            model m;
            r.fractions = 0;
            m = model_draw(&random, model_kind[k].type, model_kind[k].semiring, &r);
            draw_permutation(&random, m.variables, order);
            b = brute_force(&m, order, m.variables, NULL, NULL);
            kept = seed % 3 ? (uint64_t)test_random_int(&random, 0, INT64_MAX) : 0;
            if (m.functions > MOST) fail_msg("%d functions", (int)m.functions);
            l = write_letters(context, &host, &m, kept);
            desc = model_desc(&m);
            for (f = 0, desc.functions = 0; f < m.functions; f++)
                if (kept >> f & 1) own[desc.functions++] = m.function[f];
            desc.function = own;
            desc.order = order;
            desc.order_count = m.variables;
            desc.messages = &messages;
            messages.packed = l.message;
            messages.count = l.count;
            messages.model = AGREED;
            desc.policy = policy[test_random_int(&random, 0, test_on("cuda") ? 4 : 3)];
            a = handle_measured(context, &host, &desc);
            must_not(answer_fault(&m, &b, &a, 1), &m, seed);
            burn(&l);
            model_free(&m);
        }
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* Some variables are fixed, others in every copy: each copy's answer equals the answer with the original functions. */
static void with_conditions(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed;
    int32_t k;
    (void)state;
    for (seed = 1; seed <= (uint64_t)test_times(60, 20); seed++)
        for (k = 0; k < MODEL_KINDS; k++) {
            uint64_t random = seed * 29 + (uint64_t)k;
            int32_t order[MODEL_VARIABLES], fixed[MODEL_VARIABLES], value[MODEL_VARIABLES], j, copy, conditions;
            recipe r = recipe_draw(&random, model_kind[k].type, model_kind[k].semiring);
            gpuopt_elimination_desc desc;
            gpuopt_elimination_messages messages = GPUOPT_INIT(gpuopt_elimination_messages);
            gpuopt_elimination *e;
            letters l;
            model m;
            r.fractions = 0;
            m = model_draw(&random, model_kind[k].type, model_kind[k].semiring, &r);
            l = write_letters(context, &host, &m, 0);
            draw_permutation(&random, m.variables, order);
            conditions = (int32_t)test_random_int(&random, 0, m.variables);
            desc = model_desc(&m);
            desc.functions = 0;
            desc.messages = &messages;
            messages.packed = l.message;
            messages.count = l.count;
            messages.model = AGREED;
            desc.evidence = order;
            desc.evidence_count = conditions;
            desc.order = order + conditions;
            desc.order_count = m.variables - conditions;
            desc.batch_size = 3;
            e = handle_create(context, &desc, &host);
            for (copy = 0; copy < 3; copy++) {
                for (j = 0; j < conditions; j++)
                    value[j] = (int32_t)test_random_int(&random, 0, m.domain[order[j]] - 1);
                assert_int_equal(gpuopt_elimination_set_evidence(e, GPUOPT_HOST, copy, value), GPUOPT_OK);
            }
            handle_finish(e, 100);
            for (j = 0; j < m.variables; j++) fixed[j] = 0;
            for (j = 0; j < conditions; j++) fixed[order[j]] = value[j]; /* of the last copy */
            {
                const brute b = brute_force(&m, order + conditions, m.variables - conditions, fixed, NULL);
                answer a;
                memset(&a, 0, sizeof a);
                a.info = handle_info(e, 2);
                must_not(answer_fault(&m, &b, &a, 1), &m, seed);
            }
            gpuopt_elimination_destroy(e);
            burn(&l);
            model_free(&m);
        }
    gpuopt_context_destroy(context);
}

/* ---- What is refused ---- */

static void seal(uint8_t *bytes, uint64_t size) {
    uint64_t sum = 0, at, k;
    for (at = 0; at < size; at += 8) {
        uint64_t word = 0;
        for (k = 0; k < 8 && at + k < size && at != 56; k++) word |= (uint64_t)bytes[at + k] << 8 * k;
        word += (at / 8 + 1) * 0x9e3779b97f4a7c15u;
        word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
        word = (word ^ word >> 27) * 0x94d049bb133111ebu;
        sum += word ^ word >> 31;
    }
    for (k = 0; k < 8; k++) bytes[56 + k] = (uint8_t)(sum >> 8 * k);
}

/* Fault `which` of a message, its model or its use. Returns the expected words of the log; NULL: there are no more
 * faults. */
static const char *spoil(int which, const gpuopt_elimination_desc *desc, gpuopt_elimination_messages *messages,
                         gpuopt_elimination_packed *m, uint8_t *bytes) {
    static const int32_t twice[] = {1, 1}, outside[] = {0, 3}, swapped[] = {2, 0};
    const double nan = NAN, infinite = desc->semiring == GPUOPT_SEMIRING_MIN_SUM ? -HUGE_VAL : HUGE_VAL;
    switch (which) {
    case 0: return messages->packed = NULL, "desc->messages->packed is NULL";
    case 1: return messages->model = 0, "desc->messages->model";
    case 2: return messages->count = -1, "desc->messages->count";
    case 3: return messages->model = 6, "another model";
    case 4: return m->arity = 1, "another arity";
    case 5: return m->arity = 99, "arity";
    case 6: return m->scope = NULL, "scope is NULL";
    case 7: return m->scope = outside, "not a variable";
    case 8: return m->scope = twice, desc->domain[0] == desc->domain[1] ? "twice" : "domain sizes";
    case 9: return m->scope = swapped, "domain sizes";
    case 10: return m->size--, "cut short";
    case 11: return m->size = HEADER - 1, "cut short";
    case 12: return bytes[m->size - 1] ^= 1, "damaged";
    case 13: return bytes[m->size - 3] ^= 128, "damaged";
    case 14: return bytes[4] ^= 1, "another version";
    case 15: return m->bytes = NULL, "bytes is NULL";
    case 16: return m->where = (gpuopt_memory_space)9, "where";
    case 17: return bytes[12] ^= 1, seal(bytes, m->size), "semiring";
    case 18:
        if (desc->type == GPUOPT_COST_INT64) return "";
        memcpy(bytes + m->size - 8, &nan, 8);
        return seal(bytes, m->size), "NaN or infinite";
    case 19:
        if (desc->type == GPUOPT_COST_INT64) return "";
        memcpy(bytes + m->size - 16, &infinite, 8);
        return seal(bytes, m->size), "NaN or infinite";
    }
    return NULL;
}

static void refused_messages(void **state) {
    static const int32_t domain[] = {2, 3, 4}, scope[] = {0, 1};
    test_host host;
    gpuopt_context *context = test_context(&host);
    int32_t k;
    int which, device;
    (void)state;
    for (k = 0; k < MODEL_KINDS; k++)
        for (device = 0; device <= test_on("cuda"); device++)
            for (which = 0;; which++) {
                model m = model_make(model_kind[k].type, model_kind[k].semiring, 3, domain);
                gpuopt_elimination_function *f = model_add(&m, 2, scope, -1);
                gpuopt_elimination_packed message = {NULL, 0, GPUOPT_HOST, 2, scope}, kept;
                gpuopt_elimination_desc desc = model_desc(&m);
                gpuopt_elimination_messages messages = GPUOPT_INIT(gpuopt_elimination_messages);
                gpuopt_elimination *e = (gpuopt_elimination *)&m;
                gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
                uint8_t *bytes;
                const char *words;
                model_set(&m, f, 4, 7);
                bytes = pack_function(context, &host, &m, 0, &message.size);
                message.bytes = bytes;
                desc.functions = 0;
                desc.messages = &messages;
                messages.packed = &message;
                messages.count = 1;
                messages.model = AGREED;
                kept = message;
                words = spoil(which, &desc, &messages, &message, bytes);
                if (device && message.where == GPUOPT_HOST && message.bytes) {
                    message.where = GPUOPT_DEVICE;
                    message.bytes = keep(GPUOPT_DEVICE, bytes, kept.size);
                    kept = message;
                    bytes = NULL;
                }
                host.error[0] = 0;
                if (words && *words) {
                    test_refused(&host, gpuopt_elimination_create(context, &desc, NULL, &e), GPUOPT_ERROR_ARGUMENT,
                                 words);
                    assert_null(e);
                    test_refused(&host, gpuopt_elimination_create(context, &desc, &plan, NULL), GPUOPT_ERROR_ARGUMENT,
                                 words);
                }
                if (device && kept.where == GPUOPT_DEVICE) drop(GPUOPT_DEVICE, kept.bytes);
                free(bytes);
                model_free(&m);
                if (!words) break;
            }
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* Calls that accept no messages; memory that does not exist, or is at a wrong place. */
static void not_supported(void **state) {
    static const int32_t domain[] = {2, 3}, scope[] = {0, 1};
    test_host host;
    gpuopt_context *context = test_context(&host);
    gpuopt_elimination_cost_shifting *relaxation = NULL;
    gpuopt_elimination_preprocessing *reduction = NULL;
    gpuopt_elimination *e = NULL;
    gpuopt_elimination_packed_info p = GPUOPT_INIT(gpuopt_elimination_packed_info);
    model m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, 2, domain);
    gpuopt_elimination_packed message = {NULL, 0, GPUOPT_HOST, 2, scope};
    gpuopt_elimination_desc desc = model_desc(&m);
    gpuopt_elimination_messages messages = GPUOPT_INIT(gpuopt_elimination_messages);
    (void)state;
    model_add(&m, 2, scope, -1);
    message.bytes = pack_function(context, &host, &m, 0, &message.size);
    desc.messages = &messages;
    messages.packed = &message;
    messages.count = 1;
    messages.model = AGREED;
    test_refused(&host, gpuopt_elimination_preprocess(context, &desc, 0, 0, &reduction), GPUOPT_ERROR_UNSUPPORTED,
                 "messages");
    desc.policy = GPUOPT_POLICY_MINI_BUCKET;
    test_refused(&host, gpuopt_elimination_shift_costs(context, &desc, 1, &relaxation), GPUOPT_ERROR_UNSUPPORTED,
                 "messages");
    desc.policy = GPUOPT_POLICY_AUTO;
    message.where = GPUOPT_DEVICE;
    if (test_on("cuda")) {
        uint8_t *there = test_device_allocate((size_t)message.size + 4);
        const void *bytes = message.bytes;
        test_device_copy(there + 4, bytes, (size_t)message.size);
        message.bytes = there + 4;
        test_refused(&host, gpuopt_elimination_create(context, &desc, NULL, &e), GPUOPT_ERROR_ARGUMENT,
                     "multiple of 8");
        test_refused(&host, gpuopt_elimination_message_inspect(context, GPUOPT_DEVICE, there + 4, message.size, &p),
                     GPUOPT_ERROR_ARGUMENT, "multiple of 8");
        message.bytes = bytes;
        test_device_release(there);
    } else {
        test_refused(&host, gpuopt_elimination_create(context, &desc, NULL, &e), GPUOPT_ERROR_UNSUPPORTED,
                     "device memory");
        test_refused(&host, gpuopt_elimination_message_inspect(context, GPUOPT_DEVICE, message.bytes, message.size, &p),
                     GPUOPT_ERROR_UNSUPPORTED, "device memory");
    }
    free((void *)message.bytes);
    model_free(&m);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(models_of_messages),
    cmocka_unit_test(with_conditions),
    cmocka_unit_test(refused_messages),
    cmocka_unit_test(not_supported),
};
TEST_MAIN(tests)
