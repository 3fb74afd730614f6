/* SPDX-License-Identifier: MIT
 *
 * Messages as bytes: by the format in the header; with any bit flipped, cut, or forged with knowledge of the format.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/inference.h"
#include "tests/elimination/handle.h"
enum { HEADER = 72, CHECKSUM = 56, SPREAD = 64 };

static uint64_t little_endian(const uint8_t *bytes, int count) {
    uint64_t value = 0;
    while (count-- > 0) value = value << 8 | bytes[count];
    return value;
}

/* Of each word a hash, from its definition, and the sum. */
static uint64_t checksum(const uint8_t *bytes, uint64_t size) {
    uint64_t sum = 0, step = 0, at;
    for (at = 0; at < size; at += 8) {
        uint64_t word = at == CHECKSUM ? 0 : little_endian(bytes + at, size - at < 8 ? (int)(size - at) : 8);
        step += 0x9e3779b97f4a7c15u;
        word += step;
        word ^= word >> 30;
        word *= 0xbf58476d1ce4e5b9u;
        word ^= word >> 27;
        word *= 0x94d049bb133111ebu;
        word ^= word >> 31;
        sum += word;
    }
    return sum;
}

static void seal(uint8_t *bytes, uint64_t size) {
    uint64_t hash = checksum(bytes, size);
    int k;
    for (k = 0; k < 8; k++) bytes[CHECKSUM + k] = (uint8_t)(hash >> 8 * k);
}

/* Whether no two costs differ by more than the spread; LOG_SUM_EXP: whether it is 0. */
static int spread_holds(const model *m, const uint8_t *bytes, uint64_t entries, const int64_t *cost,
                        const double *value) {
    const uint64_t bits = little_endian(bytes + SPREAD, 8);
    double spread, least = HUGE_VAL, largest = -HUGE_VAL;
    uint64_t e;
    memcpy(&spread, &bits, sizeof spread);
    if (m->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP) return spread == 0;
    for (e = 0; e < entries; e++) {
        const double entry = (double)entry_of(m, cost ? cost[e] : 0, value ? value[e] : 0);
        if (!isfinite(entry)) continue;
        if (entry < least) least = entry;
        if (entry > largest) largest = entry;
    }
    return largest - least <= spread * (1 + 1e-12);
}

/* Packs a message by hand, by the format that the header describes. */
static const char *layout_fault(const model *m, const uint8_t *bytes, uint64_t size,
                                const gpuopt_elimination_message_info *info, const int64_t *cost, const double *value,
                                const uint64_t *count) {
    uint64_t width = (uint64_t)info->bits / 8, entries = (uint64_t)info->entries, e;
    const uint8_t *stored = bytes + HEADER + 8 * info->arity;
    int32_t k;
    if (memcmp(bytes, "GPUM", 4) || little_endian(bytes + 4, 4) != 4) return "magic or version";
    if (little_endian(bytes + 8, 4) != m->type || little_endian(bytes + 12, 4) != m->semiring) return "type, semiring";
    if (little_endian(bytes + 16, 4) != (uint64_t)info->bits) return "bits";
    if (little_endian(bytes + 20, 4) != (uint64_t)info->arity) return "arity";
    if (little_endian(bytes + 24, 8) != entries) return "entries";
    if (little_endian(bytes + 32, 8) != (uint64_t)info->offset) return "offset";
    if (little_endian(bytes + 40, 8) != info->forbidden) return "forbidden";
    if (little_endian(bytes + 48, 8) != info->model || info->model == 0) return "the model";
    if (little_endian(bytes + CHECKSUM, 8) != checksum(bytes, size)) return "the checksum";
    if (!spread_holds(m, bytes, entries, cost, value)) return "the spread";
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
    bytes = handle_pack(elimination, message, &size);
    fault = layout_fault(m, bytes, size, &info, exact ? cost : NULL, exact ? NULL : value, counted ? count : NULL);
    gpuopt_desc_init(&p, sizeof p);
    assert_int_equal(gpuopt_elimination_message_inspect(context, GPUOPT_HOST, bytes, size, &p), GPUOPT_OK);
    if (p.type != m->type || p.semiring != m->semiring || p.bits != info.bits || p.arity != info.arity ||
        p.entries != info.entries || p.model != info.model)
        fault = "inspect";
    assert_int_equal(gpuopt_elimination_message_unpack(context, info.model, bytes, size, scope, domain,
                                                       exact ? cost_again : NULL, exact ? NULL : value_again,
                                                       counted ? count_again : NULL),
                     GPUOPT_OK);
    if (memcmp(scope, info.scope, (size_t)info.arity * sizeof *scope)) fault = "the unpacked scope";
    if (exact && memcmp(cost, cost_again, entries * sizeof *cost)) fault = "unpacked costs";
    if (!exact && memcmp(value, value_again, entries * sizeof *value)) fault = "unpacked values";
    if (counted && memcmp(count, count_again, entries * sizeof *count)) fault = "unpacked counts";
    for (length = 0; length < size; length += 1 + length / 64) { /* in a separate block, for the address sanitizer */
        cut = malloc(length + 1);
        assert_non_null(cut);
        memcpy(cut, bytes, length);
        cut = realloc(cut, length ? length : 1);
        if (gpuopt_elimination_message_inspect(context, GPUOPT_HOST, cut, length, &p) != GPUOPT_ERROR_ARGUMENT)
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

/* ---- Damaged and made up ---- */

/* A message over two variables, of 2 and 3 values: 6 costs of a byte each. The caller frees the bytes. */
static uint8_t *small_message(gpuopt_context *context, const test_host *host, uint64_t *size) {
    static const int32_t domain[] = {2, 3, 4}, over = 2;
    model m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, 3, domain);
    gpuopt_elimination_desc desc;
    gpuopt_elimination_messages messages = GPUOPT_INIT(gpuopt_elimination_messages);
    gpuopt_elimination *elimination;
    uint8_t *bytes;
    model_add_distance(&m, 0, 2, 3);
    model_add_distance(&m, 1, 2, 2);
    desc = model_desc(&m);
    desc.order = &over;
    desc.order_count = 1;
    desc.messages = &messages;
    messages.model = 5;
    elimination = handle_create(context, &desc, host);
    handle_finish(elimination, 1);
    bytes = handle_pack(elimination, 0, size);
    assert_int_equal(*size, HEADER + 16 + 6);
    gpuopt_elimination_destroy(elimination);
    model_free(&m);
    return bytes;
}

/* Both calls refuse the bytes, and log the reason. */
static void refused(gpuopt_context *context, test_host *host, const uint8_t *bytes, uint64_t size, const char *why) {
    gpuopt_elimination_packed_info p = GPUOPT_INIT(gpuopt_elimination_packed_info);
    int32_t scope[2] = {9, 9}, domain[2] = {9, 9};
    int64_t cost[6] = {9};
    host->error[0] = 0;
    assert_int_equal(gpuopt_elimination_message_inspect(context, GPUOPT_HOST, bytes, size, &p), GPUOPT_ERROR_ARGUMENT);
    assert_non_null(strstr(host->error, "gpuopt_elimination_message_inspect"));
    if (!strstr(host->error, why)) fail_msg("%s, not: %s", host->error, why);
    host->error[0] = 0;
    assert_int_equal(gpuopt_elimination_message_unpack(context, 5, bytes, size, scope, domain, cost, NULL, NULL),
                     GPUOPT_ERROR_ARGUMENT);
    assert_non_null(strstr(host->error, "gpuopt_elimination_message_unpack"));
    assert_true(p.arity == 0 && scope[0] == 9 && domain[0] == 9 && cost[0] == 9);
}

static void flipped_and_cut(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t size, k;
    uint8_t *bytes = small_message(context, &host, &size), *other = malloc(size + 1);
    (void)state;
    assert_non_null(other);
    for (k = 0; k < 8 * size; k++) {
        memcpy(other, bytes, size);
        other[k / 8] ^= (uint8_t)(1 << k % 8);
        refused(context, &host, other, size, "");
        if (k / 8 >= HEADER + 16) refused(context, &host, other, size, "damaged");
    }
    for (k = 0; k < size; k++) {
        memcpy(other, bytes, k);
        refused(context, &host, other, k, "cut short");
    }
    memcpy(other, bytes, size);
    other[size] = 0;
    refused(context, &host, other, size + 1, "bytes after the message");
    free(other);
    free(bytes);
    gpuopt_context_destroy(context);
}

/* A wrong field, behind a correct checksum. */
static void wrong_fields(void **state) {
    static const char size_of[] = "size of the message", domains[] = "domain sizes of the message";
    const struct {
        int at, bytes;
        uint64_t to;
        const char *why;
    } wrong[] = {{0, 1, 'g', "not a message"},
                 {4, 4, 1, "another version"},
                 {4, 4, 2, "another version"},
                 {4, 4, 3, "another version"},
                 {4, 4, 4 << 24, "another version"},
                 {8, 4, 2, "type or semiring is unknown"},
                 {8, 4, UINT32_MAX, "type or semiring is unknown"},
                 {12, 4, 4, "type or semiring is unknown"},
                 {12, 4, 2, "does not fit its type"},
                 {16, 4, 0, "width"},
                 {16, 4, 7, "width"},
                 {16, 4, 128, "width"},
                 {20, 4, UINT32_MAX, size_of},
                 {20, 4, 1, domains},
                 {20, 4, 3, "cut short"},
                 {20, 4, 1 << 30, "cut short"},
                 {24, 8, 0, size_of},
                 {24, 8, 5, domains},
                 {24, 8, 7, domains},
                 {24, 8, UINT64_MAX, size_of},
                 {24, 8, (uint64_t)1 << 61, size_of},
                 {24, 8, 6 + ((uint64_t)1 << 61), size_of},
                 {32, 8, (uint64_t)1 << 63, "63 bits"},
                 {32, 8, INT64_MAX, "63 bits"},
                 {40, 8, UINT64_MAX, "63 bits"},
                 {40, 8, (uint64_t)1 << 63, "63 bits"},
                 {SPREAD, 8, (uint64_t)0xbff << 52, "spread"},
                 {SPREAD, 8, (uint64_t)0x7ff8 << 48, "spread"},
                 {HEADER + 0, 4, UINT32_MAX, "scope"},
                 {HEADER + 8, 4, 0, domains},
                 {HEADER + 8, 4, UINT32_MAX, domains},
                 {HEADER + 8, 4, 1, domains},
                 {HEADER + 12, 4, 4, domains},
                 {HEADER + 12, 4, 3 + ((uint32_t)1 << 31), domains}};
    test_host host;
    gpuopt_context *context = test_context(&host);
    gpuopt_elimination_packed_info p = GPUOPT_INIT(gpuopt_elimination_packed_info);
    uint64_t size, forbidden, offset;
    uint8_t *bytes = small_message(context, &host, &size), *other = malloc(size);
    size_t k;
    int b;
    (void)state;
    assert_non_null(other);
    for (k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        memcpy(other, bytes, size);
        for (b = 0; b < wrong[k].bytes; b++) other[wrong[k].at + b] = (uint8_t)(wrong[k].to >> (8 * b));
        seal(other, size);
        refused(context, &host, other, size, wrong[k].why);
    }
    /* The largest possible cost, offset + forbidden, is 2^63 - 1; one more is refused. */
    memcpy(other, bytes, size);
    forbidden = little_endian(bytes + 40, 8);
    assert_true(forbidden > 0);
    for (offset = INT64_MAX - forbidden; offset <= INT64_MAX - forbidden + 1; offset++) {
        for (b = 0; b < 8; b++) other[32 + b] = (uint8_t)(offset >> 8 * b);
        seal(other, size);
        if (offset > INT64_MAX - forbidden) refused(context, &host, other, size, "63 bits");
        else assert_int_equal(gpuopt_elimination_message_inspect(context, GPUOPT_HOST, other, size, &p), GPUOPT_OK);
    }
    free(other);
    free(bytes);
    gpuopt_context_destroy(context);
}

/* A message of 8-bit costs with these domain sizes, the header of `head`, and a correct checksum. */
static uint8_t *make_up(const uint8_t *head, int32_t arity, const int32_t *domain, int64_t entries, uint64_t *size) {
    uint8_t *bytes;
    int k, b;
    *size = HEADER + 8 * (uint64_t)arity + (uint64_t)entries;
    bytes = calloc(*size, 1);
    assert_non_null(bytes);
    memcpy(bytes, head, HEADER);
    for (b = 0; b < 8; b++) bytes[24 + b] = (uint8_t)(entries >> 8 * b);
    for (b = 0; b < 4; b++) bytes[20 + b] = (uint8_t)(arity >> 8 * b);
    for (k = 0; k < arity; k++) {
        bytes[HEADER + 4 * k] = (uint8_t)k;
        for (b = 0; b < 4; b++) bytes[HEADER + 4 * (arity + k) + b] = (uint8_t)(domain[k] >> 8 * b);
    }
    seal(bytes, *size);
    return bytes;
}

/* Domain sizes with a product that differs from the number of entries, which matches the rest of the message. The
 * product is too small, too large, or 1 only modulo 2^64 (the factors of 2^64 - 1, twice). */
static void wrong_products(void **state) {
    static const int32_t factors[] = {3, 5, 17, 257, 641, 65537, 6700417, 3, 5, 17, 257, 641, 65537, 6700417};
    static const int32_t good[] = {2, 3}, large[] = {2, 4}, small[] = {2, 3};
    static const struct {
        const int32_t *domain;
        int32_t arity;
        int64_t entries;
    } made[] = {{good, 2, 6}, {large, 2, 7}, {small, 2, 7}, {factors, 14, 1}};
    test_host host;
    gpuopt_context *context = test_context(&host);
    gpuopt_elimination_packed_info p = GPUOPT_INIT(gpuopt_elimination_packed_info);
    uint64_t size;
    uint8_t *head = small_message(context, &host, &size), *bytes;
    size_t k;
    (void)state;
    for (k = 0; k < sizeof made / sizeof *made; k++) {
        bytes = make_up(head, made[k].arity, made[k].domain, made[k].entries, &size);
        if (k == 0)
            assert_int_equal(gpuopt_elimination_message_inspect(context, GPUOPT_HOST, bytes, size, &p), GPUOPT_OK);
        else refused(context, &host, bytes, size, "domain sizes of the message do not give its size");
        free(bytes);
    }
    free(head);
    gpuopt_context_destroy(context);
}

/* For any change, with a correct checksum or not, nothing is read or written out of bounds. */
static void changed_at_random(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t size, random = 3;
    uint8_t *bytes = small_message(context, &host, &size), *other = malloc(size);
    int k, accepted = 0;
    (void)state;
    assert_non_null(other);
    for (k = 0; k < 20000; k++) {
        gpuopt_elimination_packed_info p = GPUOPT_INIT(gpuopt_elimination_packed_info);
        int changes = (int)test_random_int(&random, 1, 4);
        memcpy(other, bytes, size);
        while (changes-- > 0)
            other[test_random_int(&random, 0, (int64_t)size - 1)] = (uint8_t)test_random_int(&random, 0, 255);
        if (k % 8) seal(other, size);
        if (gpuopt_elimination_message_inspect(context, GPUOPT_HOST, other, size, &p))
            refused(context, &host, other, size, "");
        else {
            int32_t *s = malloc((size_t)p.arity * sizeof *s + 1), *d = malloc((size_t)p.arity * sizeof *d + 1);
            int64_t *c = malloc((size_t)p.entries * sizeof *c);
            uint64_t *n = malloc((size_t)p.entries * sizeof *n);
            double *v = malloc((size_t)p.entries * sizeof *v);
            assert_true(s && d && c && n && v);
            assert_true(k % 8 || memcmp(bytes, other, size) == 0);
            assert_int_equal(gpuopt_elimination_message_unpack(context, p.model, other, size, s, d, p.type ? NULL : c,
                                                               p.type ? v : NULL,
                                                               p.semiring == GPUOPT_SEMIRING_MIN_COUNT ? n : NULL),
                             GPUOPT_OK);
            free(s);
            free(d);
            free(c);
            free(n);
            free(v);
            accepted++;
        }
    }
    assert_true(accepted > 100);
    free(other);
    free(bytes);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(bytes_are_as_stated), cmocka_unit_test(flipped_and_cut),   cmocka_unit_test(wrong_fields),
    cmocka_unit_test(wrong_products),      cmocka_unit_test(changed_at_random),
};
TEST_MAIN(tests)
