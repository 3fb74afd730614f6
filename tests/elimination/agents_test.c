/* SPDX-License-Identifier: MIT
 *
 * Messages as bytes, to the layout that the header states; and distributed solving with them: agents that own a part of
 * the variables come to the answer of one that owns all.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/elimination/handle.h"
enum { HEADER = 48 };

static uint8_t *packed(gpuopt_elimination *elimination, int32_t message, uint64_t *size) {
    uint8_t *bytes;
    assert_int_equal(gpuopt_elimination_message_pack(elimination, message, 0, NULL, 0, size), GPUOPT_OK);
    bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(gpuopt_elimination_message_pack(elimination, message, 0, bytes, *size - 1, size),
                     GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_message_pack(elimination, message, 0, bytes, *size, size), GPUOPT_OK);
    return bytes;
}

static uint64_t little_endian(const uint8_t *bytes, int count) {
    uint64_t value = 0;
    while (count-- > 0) value = value << 8 | bytes[count];
    return value;
}

/* ---- Bytes ---- */

/* By hand from the header's words. */
static const char *layout_fault(const model *m, const uint8_t *bytes, uint64_t size,
                                const gpuopt_elimination_message_info *info, const int64_t *cost, const double *value,
                                const uint64_t *count) {
    uint64_t width = (uint64_t)info->bits / 8, entries = (uint64_t)info->entries, e;
    const uint8_t *stored = bytes + HEADER + 8 * info->arity;
    int32_t k;
    if (memcmp(bytes, "GPUM", 4) || little_endian(bytes + 4, 4) != 1) return "magic or version";
    if (little_endian(bytes + 8, 4) != m->type || little_endian(bytes + 12, 4) != m->semiring) return "type, semiring";
    if (little_endian(bytes + 16, 4) != (uint64_t)info->bits) return "bits";
    if (little_endian(bytes + 20, 4) != (uint64_t)info->arity) return "arity";
    if (little_endian(bytes + 24, 8) != entries) return "entries";
    if (little_endian(bytes + 32, 8) != (uint64_t)info->offset) return "offset";
    if (little_endian(bytes + 40, 8) != info->forbidden) return "forbidden";
    if (size != (uint64_t)HEADER + 8 * (uint64_t)info->arity + entries * (width + (count ? 8 : 0))) return "the size";
    for (k = 0; k < info->arity; k++) {
        if (little_endian(bytes + HEADER + 4 * k, 4) != (uint64_t)info->scope[k]) return "the scope";
        if (little_endian(bytes + HEADER + 4 * (info->arity + k), 4) != (uint64_t)m->domain[info->scope[k]])
            return "a domain's size";
    }
    for (e = 0; e < entries; e++) {
        uint64_t u = little_endian(stored + e * width, (int)width);
        double read;
        memcpy(&read, &u, sizeof read);
        if (m->type == GPUOPT_COST_DOUBLE) {
            if (memcmp(&read, &value[e], sizeof read)) return "a value";
        } else if (u >= info->forbidden) {
            if (cost[e] != (m->semiring == GPUOPT_SEMIRING_MAX_SUM ? INT64_MIN : INT64_MAX)) return "a forbidden cost";
        } else if (cost[e] != (m->semiring == GPUOPT_SEMIRING_MAX_SUM ? -1 : 1) * (info->offset + (int64_t)u)) {
            return "a cost";
        }
        if (count && little_endian(stored + entries * width + 8 * e, 8) != count[e]) return "a count";
    }
    return NULL;
}

static const char *round_trip_fault(gpuopt_context *context, gpuopt_elimination *elimination, const model *m,
                                    int32_t message) {
    gpuopt_elimination_message_info info = handle_message(elimination, message);
    size_t entries = (size_t)info.entries;
    int counted = m->semiring == GPUOPT_SEMIRING_MIN_COUNT, exact = m->type == GPUOPT_COST_INT64;
    int64_t *cost = malloc(2 * entries * sizeof *cost), *cost_again = cost + entries;
    double *value = malloc(2 * entries * sizeof *value), *value_again = value + entries;
    uint64_t *count = malloc(2 * entries * sizeof *count), *count_again = count + entries, size, length;
    int32_t scope[MODEL_VARIABLES], domain[MODEL_VARIABLES];
    gpuopt_elimination_packed_info p;
    const char *fault;
    uint8_t *bytes, *cut;
    assert_true(cost && value && count);
    assert_int_equal(gpuopt_elimination_message_get(elimination, GPUOPT_HOST, message, 0, exact ? cost : NULL,
                                                    exact ? NULL : value, counted ? count : NULL),
                     GPUOPT_OK);
    bytes = packed(elimination, message, &size);
    fault = layout_fault(m, bytes, size, &info, cost, value, counted ? count : NULL);
    gpuopt_desc_init(&p, sizeof p);
    assert_int_equal(gpuopt_elimination_message_inspect(context, bytes, size, &p), GPUOPT_OK);
    if (p.type != m->type || p.semiring != m->semiring || p.bits != info.bits || p.arity != info.arity ||
        p.entries != info.entries)
        fault = "inspect";
    assert_int_equal(gpuopt_elimination_message_unpack(context, bytes, size, scope, domain, exact ? cost_again : NULL,
                                                       exact ? NULL : value_again, counted ? count_again : NULL),
                     GPUOPT_OK);
    if (memcmp(scope, info.scope, (size_t)info.arity * sizeof *scope)) fault = "the unpacked scope";
    if (exact && memcmp(cost, cost_again, entries * sizeof *cost)) fault = "unpacked costs";
    if (!exact && memcmp(value, value_again, entries * sizeof *value)) fault = "unpacked values";
    if (counted && memcmp(count, count_again, entries * sizeof *count)) fault = "unpacked counts";
    for (length = 0; length < size; length += 1 + length / 64) { /* in a block of its own, for the address sanitizer */
        cut = malloc(length + 1);
        assert_non_null(cut);
        memcpy(cut, bytes, length);
        cut = realloc(cut, length ? length : 1);
        if (gpuopt_elimination_message_inspect(context, cut, length, &p) != GPUOPT_ERROR_ARGUMENT)
            fault = "cut short, and accepted";
        free(cut);
    }
    free(bytes);
    free(cost);
    free(value);
    free(count);
    return fault;
}

static void bytes_are_as_stated(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed, random;
    int32_t k, message, order[MODEL_VARIABLES];
    (void)state;
    for (seed = 1; seed <= 60; seed++)
        for (k = 0; k < MODEL_KINDS; k++) {
            gpuopt_elimination *elimination;
            gpuopt_elimination_desc desc;
            recipe r;
            model m;
            random = seed * 17 + (uint64_t)k;
            r = recipe_draw(&random, model_kind[k].type, model_kind[k].semiring);
            m = model_draw(&random, model_kind[k].type, model_kind[k].semiring, &r);
            desc = model_desc(&m);
            draw_permutation(&random, m.variables, order);
            desc.order = order;
            desc.order_count = m.variables;
            desc.policy = GPUOPT_POLICY_EXACT;
            elimination = handle_create(context, &desc, &host);
            handle_finish(elimination, 5);
            for (message = 0; message < m.variables; message++)
                must_not(round_trip_fault(context, elimination, &m, message), &m, seed);
            gpuopt_elimination_destroy(elimination);
            model_free(&m);
        }
    gpuopt_context_destroy(context);
}

/* Every byte of the header and of the domain sizes matters; whatever is changed, nothing is read or written beyond. */
static void altered_bytes(void **state) {
    static const struct {
        int at, bytes;
        uint64_t to;
    } wrong[] = {{0, 1, 'g'},
                 {4, 4, 0},
                 {4, 4, 2},
                 {4, 4, 1 << 24},
                 {8, 4, 2},
                 {8, 4, UINT32_MAX},
                 {12, 4, 4},
                 {12, 4, 2} /* of INT64 */,
                 {16, 4, 0},
                 {16, 4, 7},
                 {16, 4, 128},
                 {20, 4, UINT32_MAX},
                 {20, 4, 1},
                 {20, 4, 3},
                 {20, 4, 1 << 30},
                 {24, 8, 0},
                 {24, 8, 5},
                 {24, 8, 7},
                 {24, 8, UINT64_MAX},
                 {24, 8, (uint64_t)1 << 61},
                 {24, 8, 6 + ((uint64_t)1 << 61)},
                 {HEADER + 0, 4, UINT32_MAX},
                 {HEADER + 8, 4, 0},
                 {HEADER + 8, 4, UINT32_MAX},
                 {HEADER + 8, 4, 1},
                 {HEADER + 12, 4, 4},
                 {HEADER + 12, 4, 3 + ((uint32_t)1 << 31)}};
    static const int32_t domain[] = {2, 3, 4}, over = 2;
    test_host host;
    gpuopt_context *context = test_context(&host);
    model m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, 3, domain);
    gpuopt_elimination_desc desc;
    gpuopt_elimination *elimination;
    gpuopt_elimination_packed_info p;
    uint64_t size, random = 3;
    uint8_t *bytes, *other;
    size_t k;
    int b;
    (void)state;
    model_add_distance(&m, 0, 2, 3);
    model_add_distance(&m, 1, 2, 2);
    desc = model_desc(&m);
    desc.order = &over;
    desc.order_count = 1;
    elimination = handle_create(context, &desc, &host);
    handle_finish(elimination, 1);
    bytes = packed(elimination, 0, &size);
    other = malloc(size + 1);
    assert_non_null(other);
    gpuopt_desc_init(&p, sizeof p);
    for (k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        memcpy(other, bytes, size);
        for (b = 0; b < wrong[k].bytes; b++) other[wrong[k].at + b] = (uint8_t)(wrong[k].to >> (8 * b));
        host.error[0] = 0;
        if (gpuopt_elimination_message_inspect(context, other, size, &p) != GPUOPT_ERROR_ARGUMENT)
            fail_msg("change %zu", k);
        assert_non_null(strstr(host.error, "gpuopt_elimination_message_inspect"));
    }
    memcpy(other, bytes, size);
    assert_int_equal(gpuopt_elimination_message_inspect(context, other, size + 1, &p),
                     GPUOPT_ERROR_ARGUMENT); /* surplus */
    for (k = 0; k < 20000; k++) {
        int changes = (int)test_random_int(&random, 1, 4);
        memcpy(other, bytes, size);
        while (changes-- > 0)
            other[test_random_int(&random, 0, (int64_t)size - 1)] = (uint8_t)test_random_int(&random, 0, 255);
        if (gpuopt_elimination_message_inspect(context, other, size, &p)) {
            int32_t s[64], d[64];
            int64_t c[64];
            assert_int_equal(gpuopt_elimination_message_unpack(context, other, size, s, d, c, NULL, NULL),
                             GPUOPT_ERROR_ARGUMENT);
        } else {
            int32_t *s = malloc((size_t)p.arity * sizeof *s + 1), *d = malloc((size_t)p.arity * sizeof *d + 1);
            int64_t *c = malloc((size_t)p.entries * sizeof *c);
            uint64_t *n = malloc((size_t)p.entries * sizeof *n);
            double *v = malloc((size_t)p.entries * sizeof *v);
            assert_true(s && d && c && n && v);
            assert_int_equal(gpuopt_elimination_message_unpack(context, other, size, s, d, p.type ? NULL : c,
                                                               p.type ? v : NULL,
                                                               p.semiring == GPUOPT_SEMIRING_MIN_COUNT ? n : NULL),
                             GPUOPT_OK);
            free(s);
            free(d);
            free(c);
            free(n);
            free(v);
        }
    }
    free(other);
    free(bytes);
    gpuopt_elimination_destroy(elimination);
    model_free(&m);
    gpuopt_context_destroy(context);
}

/* ---- Agents ---- */

/* A part of a model; its functions' arrays stay the other's, but for those from `own` on. */
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

/* The messages that leave the child become functions of the parent, through bytes. */
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
        bytes = packed(child->elimination, k, &size);
        gpuopt_desc_init(&p, sizeof p);
        assert_int_equal(gpuopt_elimination_message_inspect(context, bytes, size, &p), GPUOPT_OK);
        assert_int_equal(p.arity, handle_message(child->elimination, k).arity);
        f = model_add(&parent->part, p.arity, handle_message(child->elimination, k).scope, -1);
        if (m->semiring == GPUOPT_SEMIRING_MIN_COUNT) f->count = count = malloc((size_t)p.entries * sizeof *count);
        assert_int_equal(gpuopt_elimination_message_unpack(context, bytes, size, scope, domain, (int64_t *)f->cost,
                                                           (double *)f->value, count),
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
    gpuopt_desc_init(&e, sizeof e);
    assert_int_equal(gpuopt_elimination_order(context, &desc, NULL, NULL, &e), GPUOPT_OK);
    a->elimination = handle_create(context, &desc, host);
    handle_finish(a->elimination, 3);
    return e.messages;
}

/* UTIL upwards, VALUE downwards: the optimum, and the assignment that one agent with everything would take. */
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
    cmocka_unit_test(bytes_are_as_stated),
    cmocka_unit_test(altered_bytes),
    cmocka_unit_test(agents_agree),
};
TEST_MAIN(tests)
