/* SPDX-License-Identifier: MIT
 *
 * Packed nodes that were damaged, or forged with knowledge of the format.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/knapsack/models.h"

/* Damaged bytes are refused, or give a search that ends. */
static void damaged(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 8, size = 0;
    model m = model_random(2, 24, 50, &random);
    gpuopt_knapsack_desc desc = model_desc(&m);
    gpuopt_knapsack *one;
    unsigned char *bytes, *bad;
    int k;
    (void)state;
    desc.pool = 2000;
    desc.reduction = GPUOPT_OFF;
    desc.search = GPUOPT_SEARCH_BREADTH;
    one = model_create(context, &desc);
    assert_int_equal(gpuopt_knapsack_expand(one, 0, 9, NULL), GPUOPT_OK);
    bytes = model_pack(one, -1, 0, &size);
    bad = malloc(size);
    assert_non_null(bad);
    for (k = 0; k < 3000; k++) {
        gpuopt_knapsack *two = model_create(context, &desc);
        memcpy(bad, bytes, size);
        bad[test_random_int(&random, 0, (int64_t)size - 1)] = (unsigned char)test_random_int(&random, 0, 255);
        if (gpuopt_knapsack_unpack(two, bad, size, 0) == GPUOPT_OK)
            assert_int_equal(gpuopt_knapsack_expand(two, 100000, 0, NULL), GPUOPT_OK);
        gpuopt_knapsack_destroy(two);
    }
    assert_int_equal(gpuopt_knapsack_unpack(one, bytes, size, 0), GPUOPT_ERROR_STATE);
    gpuopt_knapsack_destroy(one);
    gpuopt_context_destroy(context);
    free(bytes);
    free(bad);
}

/* The checksum's multiplier is odd, so that one wrong byte always changes it. */
static void flipped(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t random = 8, size = 0, k;
    model m = model_random(2, 24, 50, &random);
    gpuopt_knapsack_desc desc = model_desc(&m);
    gpuopt_knapsack *one, *two;
    unsigned char *bytes;
    (void)state;
    desc.reduction = GPUOPT_OFF;
    one = model_create(context, &desc);
    two = model_create(context, &desc);
    assert_int_equal(gpuopt_knapsack_expand(one, 0, 6, NULL), GPUOPT_OK);
    bytes = model_pack(one, -1, 0, &size);
    for (k = 0; k < 8 * size; k++) {
        bytes[k / 8] ^= (unsigned char)(1 << k % 8);
        host.error[0] = 0;
        assert_int_equal(gpuopt_knapsack_unpack(two, bytes, size, 0), GPUOPT_ERROR_ARGUMENT);
        assert_true(strlen(host.error) > 0);
        bytes[k / 8] ^= (unsigned char)(1 << k % 8);
    }
    assert_int_equal(gpuopt_knapsack_unpack(two, bytes, size, 0), GPUOPT_OK);
    model_finish(two, &m, model_optimum(&m));
    gpuopt_knapsack_destroy(two);
    gpuopt_knapsack_destroy(one);
    gpuopt_context_destroy(context);
    free(bytes);
}

static void put(unsigned char *to, uint64_t value, int bytes) {
    int k;
    for (k = 0; k < bytes; k++) to[k] = (unsigned char)(value >> 8 * k);
}

/* Writes the checksum of bytes that were changed. */
static void seal(unsigned char *bytes, uint64_t size) {
    uint64_t hash = 0xCBF29CE484222325u, k;
    put(bytes + 72, 0, 8);
    for (k = 0; k < size; k++) hash = (hash ^ bytes[k]) * 0x100000001B3u;
    put(bytes + 72, hash, 8);
}

typedef struct made_up {
    int64_t level, decided, decisions, nodes, residual, profit;
    int same;     /* all nodes are alike, else each has less capacity and more profit than the previous node */
    int twice;    /* the last decision is at the level of the previous one */
    int unlisted; /* nodes that the list does not count */
} made_up;

/* Makes bytes with the packed header and items of `head`, and one list with decisions at the levels 0, 1, ... The
 * caller frees them. */
static unsigned char *make_up(const unsigned char *head, int32_t items, const made_up *u, uint64_t *size) {
    const double bound = 1e18;
    uint64_t bits, k;
    unsigned char *bytes, *to;
    *size = 80 + (uint64_t)items + 40 + 4 * (uint64_t)u->decisions + 20 * (uint64_t)u->nodes;
    bytes = calloc(*size, 1);
    assert_non_null(bytes);
    memcpy(bytes, head, 80 + (size_t)items);
    put(bytes + 8, 1, 4);
    put(bytes + 24, (uint64_t)u->nodes, 8);
    put(bytes + 64, (uint64_t)u->decisions, 8);
    to = bytes + 80 + items;
    put(to, (uint64_t)u->level, 8);
    put(to + 8, (uint64_t)u->decided, 8);
    put(to + 16, (uint64_t)(u->nodes - u->unlisted), 8);
    put(to + 24, 1, 8);
    memcpy(&bits, &bound, sizeof bits);
    put(to + 32, bits, 8);
    to += 40;
    for (k = 0; k < (uint64_t)u->decisions; k++, to += 4) put(to, k - (u->twice && k + 1 == (uint64_t)u->decisions), 4);
    for (k = 0; k < (uint64_t)u->nodes; k++, to += 20) {
        put(to, (uint64_t)u->residual - (u->same ? 0 : k), 8);
        put(to + 8, (uint64_t)u->profit + (u->same ? 0 : k), 8);
    }
    seal(bytes, *size);
    return bytes;
}

/* Lists and nodes that no search makes, with a correct checksum. */
static void impossible(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 6, size;
    model m = model_random(2, 60, 300, &random);
    gpuopt_knapsack_desc desc = model_desc(&m);
    int64_t optimum = model_optimum(&m);
    const made_up made[] = {
        {(int64_t)1 << 32, 0, 0, 100000, m.capacity, 1, 0, 0, 0}, /* a level that is 0 when cut to 32 bits */
        {0, 60, 60, 1, m.capacity, 0, 0, 0, 0},                   /* decisions at later levels */
        {40, 40, 40, 1, m.capacity, 16000, 0, 0, 0},              /* more capacity than the items before leave */
        {60, 60, 60, 1, -m.capacity, 1, 0, 0, 0},                 /* too heavy, with nothing to take out */
        {60, 60, 60, 1, -1, 1, 0, 0, 0},                          /* the same, by a unit of weight */
        {1, 0, 0, 1, m.capacity + 1, 1, 0, 0, 0},                 /* lighter than nothing */
        {1, (int64_t)1 << 32, 0, 1, 0, 1, 0, 0, 0},
        {60, 60, 60, 1, m.capacity, 1, 0, 0, 0}, /* empty, and has removed nothing */
        {60, 60, 60, 2, 0, 1, 1, 0, 0},          /* dominance leaves one of equals */
        {60, 60, 60, 1, 0, 1, 0, 1, 0},
        {60, 60, 60, 2, 1, 1, 0, 0, 1}};
    unsigned char head[80 + 60 + 40 + 20], *bytes;
    const made_up possible[] = {{60, 60, 60, 1, 0, 1, 0, 0, 0},
                                {60, 60, 60, 2, 1, 1, 0, 0, 0}}; /* exactly full; and one with capacity left */
    gpuopt_knapsack *knapsack;
    size_t k;
    (void)state;
    desc.reduction = GPUOPT_OFF;
    desc.pool = 1;
    knapsack = model_create(context, &desc);
    assert_int_equal(gpuopt_knapsack_pack(knapsack, -1, 0, head, sizeof head, &size), GPUOPT_OK);
    for (k = 0; k < sizeof made / sizeof *made; k++) {
        bytes = make_up(head, m.items, &made[k], &size);
        assert_int_equal(gpuopt_knapsack_unpack(knapsack, bytes, size, 0), GPUOPT_ERROR_ARGUMENT);
        free(bytes);
    }
    model_finish(knapsack, &m, optimum);
    gpuopt_knapsack_destroy(knapsack);
    for (k = 0; k < sizeof possible / sizeof *possible; k++) {
        desc.pool = 0;
        knapsack = model_create(context, &desc);
        bytes = make_up(head, m.items, &possible[k], &size);
        assert_int_equal(gpuopt_knapsack_unpack(knapsack, bytes, size, 0), GPUOPT_OK);
        free(bytes);
        gpuopt_knapsack_destroy(knapsack);
    }
    gpuopt_context_destroy(context);
}

/* A list's bound is the largest of its nodes: rounded down to the next number, it is refused, with a correct
 * checksum. */
static void too_low_a_bound(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t random = 4, size, bits, k;
    model m = model_random(2, 60, 300, &random);
    gpuopt_knapsack_desc desc = model_desc(&m);
    gpuopt_knapsack *one, *two;
    unsigned char *bytes, *bound;
    double value;
    int lower;
    (void)state;
    desc.reduction = GPUOPT_OFF;
    one = model_create(context, &desc);
    two = model_create(context, &desc);
    assert_int_equal(gpuopt_knapsack_expand(one, 0, 6, NULL), GPUOPT_OK);
    bytes = model_pack(one, -1, 0, &size);
    assert_int_equal(bytes[8], 1); /* one list */
    bound = bytes + 80 + m.items + 32;
    for (lower = 1; lower >= 0; lower--) {
        for (bits = 0, k = 0; k < 8; k++) bits |= (uint64_t)bound[k] << 8 * k;
        memcpy(&value, &bits, sizeof value);
        value = nextafter(value, lower ? 0 : INFINITY);
        memcpy(&bits, &value, sizeof bits);
        put(bound, bits, 8);
        seal(bytes, size);
        assert_int_equal(gpuopt_knapsack_unpack(two, bytes, size, 0), lower ? GPUOPT_ERROR_ARGUMENT : GPUOPT_OK);
        if (lower) assert_non_null(strstr(host.error, "bound is too low"));
    }
    model_finish(two, &m, model_optimum(&m));
    gpuopt_knapsack_destroy(two);
    gpuopt_knapsack_destroy(one);
    gpuopt_context_destroy(context);
    free(bytes);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(damaged),
    cmocka_unit_test(flipped),
    cmocka_unit_test(impossible),
    cmocka_unit_test(too_low_a_bound),
};

TEST_MAIN(tests)
