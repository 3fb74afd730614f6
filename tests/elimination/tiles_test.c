/* SPDX-License-Identifier: MIT
 *
 * Buckets with tables so large that a GPU takes their message in tiles of several rows, with data that pass through
 * shared memory. One to three large functions that lack different variables, for few values to ten, and stored costs of
 * each width. Every entry is compared with plain loops.
 */
#include <stdlib.h>

#include "tests/elimination/handle.h"

/* The message has at least 2^LOG_ENTRIES entries, and twice as many in 8 bits: a tile is larger then. */
enum { LOG_ENTRIES = 21, MOST_VARIABLES = 25, MOST_FUNCTIONS = 3, DOMAINS = 8, WIDTHS = 3 };

static const int32_t values[DOMAINS] = {2, 3, 4, 5, 6, 7, 8, 10};
static const int32_t width[WIDTHS] = {8, 16, 32};
/* The largest sum of costs that needs `bits` bits. */
static const int64_t largest_sum[WIDTHS] = {240, 60000, 100000000};

/* More than any sum; a sum that includes it exceeds any that does not. */
static const int64_t hard = (int64_t)1 << 40;

/* ---- Buckets ---- */

/* Variable 0 and a message over the others. All have d values, except the first, which has enough for the wanted
 * entries. */
static model make_variables(int32_t d, int64_t entries) {
    int32_t domain[MOST_VARIABLES], variables = 1, v;
    int64_t product = 1, count = 0;
    for (; product * d <= entries; product *= d) count++;
    domain[0] = d;
    if (product < entries) domain[variables++] = (int32_t)((entries + product - 1) / product);
    for (v = 0; v < count; v++) domain[variables++] = d;
    return model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, variables, domain);
}

/* A function over variable 0 and first .. last without `lacking`; variable 0 is last if at_end. */
static void add_function(model *m, int32_t first, int32_t last, int32_t lacking, int at_end) {
    int32_t scope[MOST_VARIABLES], arity = 0, v;
    if (!at_end) scope[arity++] = 0;
    for (v = first; v <= last; v++)
        if (v != lacking) scope[arity++] = v;
    if (at_end) scope[arity++] = 0;
    model_add(m, arity, scope, -1);
}

/* Draws costs: the largest of all functions add up to at most `sum`, and `forbidden` entries in 100 are forbidden. */
static void fill(const model *m, int64_t sum, int forbidden, uint64_t *seed) {
    int32_t k;
    for (k = 0; k < m->functions; k++) {
        const gpuopt_elimination_function *f = &m->function[k];
        int64_t *cost = (int64_t *)f->cost, entries = model_entries(m, f->scope, f->arity), e;
        for (e = 0; e < entries; e++) cost[e] = test_random_int(seed, 0, sum / m->functions);
        for (e = 0; forbidden && e < entries; e++)
            if (test_random_int(seed, 0, 99) < forbidden) cost[e] = INT64_MAX;
    }
}

/* ---- Checking ---- */

/* Returns the first entry that is not the least sum, or -1. */
static int64_t first_wrong(const model *m, const gpuopt_elimination_message_info *info, const int64_t *message) {
    int64_t stride[MOST_FUNCTIONS][MOST_VARIABLES] = {{0}}, at[MOST_FUNCTIONS] = {0}, e;
    int32_t value[MOST_VARIABLES] = {0}, f, k, x;
    for (f = 0; f < m->functions; f++) {
        const gpuopt_elimination_function *g = &m->function[f];
        int64_t size = 1;
        for (k = g->arity - 1; k >= 0; k--) {
            stride[f][g->scope[k]] = size;
            size *= m->domain[g->scope[k]];
        }
    }
    for (e = 0; e < info->entries; e++) {
        int64_t best = hard;
        for (x = 0; x < m->domain[0]; x++) {
            int64_t sum = 0;
            for (f = 0; f < m->functions; f++) {
                int64_t cost = m->function[f].cost[at[f] + x * stride[f][0]];
                sum += cost < hard ? cost : hard;
            }
            if (sum < best) best = sum;
        }
        if (message[e] != (best < hard ? best : INT64_MAX)) return e;
        for (k = info->arity - 1; k >= 0; k--) { /* to the next entry; with a carry, back to the digit's first value */
            const int32_t v = info->scope[k];
            const int carry = ++value[v] == m->domain[v];
            const int64_t steps = carry ? 1 - m->domain[v] : 1;
            for (f = 0; f < m->functions; f++) at[f] += steps * stride[f][v];
            if (!carry) break;
            value[v] = 0;
        }
    }
    return -1;
}

static void check_message(gpuopt_elimination *elimination, const model *m, int32_t bits) {
    gpuopt_elimination_message_info info = handle_message(elimination, 0);
    int64_t *message = malloc((size_t)info.entries * sizeof *message), entries = 1, wrong;
    int32_t v;
    assert_non_null(message);
    for (v = 1; v < m->variables; v++) entries *= m->domain[v];
    assert_int_equal(info.variable, 0);
    assert_int_equal(info.arity, m->variables - 1);
    assert_int_equal(info.entries, entries);
    assert_int_equal(info.bits, bits);
    assert_int_equal(gpuopt_elimination_message_get(elimination, GPUOPT_HOST, 0, 0, message, NULL, NULL), GPUOPT_OK);
    wrong = first_wrong(m, &info, message);
    if (wrong >= 0)
        fail_msg("%d values, %d bits: entry %lld of %lld", (int)m->domain[0], (int)bits, (long long)wrong,
                 (long long)entries);
    free(message);
}

static void check_bucket(gpuopt_context *context, const test_host *host, const model *m, int32_t bits) {
    static const int32_t first = 0;
    gpuopt_elimination_desc desc = model_desc(m);
    gpuopt_elimination *elimination;
    desc.order = &first;
    desc.order_count = 1;
    desc.policy = GPUOPT_POLICY_EXACT;
    elimination = handle_create(context, &desc, host);
    handle_finish(elimination, 1);
    check_message(elimination, m, bits);
    gpuopt_elimination_destroy(elimination);
}

/* ---- Shapes ---- */

typedef enum shape { ONE_LARGE, TWO_LARGE, THREE_LARGE, TWO_WITH_FORBIDDEN } shape;

static void add_functions(model *m, shape s) {
    int32_t last = m->variables - 1, middle = (last + 1) / 2;
    if (s == ONE_LARGE) { /* over everything; and over the first; and over one in the middle and the last */
        add_function(m, 1, last, 0, 0);
        add_function(m, 1, 1, 0, 0);
        model_add(m, 3, (int32_t[]){0, middle, last}, -1);
    } else {
        add_function(m, 1, last - 1, 0, 0);
        add_function(m, 2, last, 0, 1);
        if (s == THREE_LARGE) add_function(m, 1, last, middle, 0);
    }
}

/* Every number of values; the shapes have them with different widths. */
static void buckets(shape s) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed = 11 + (uint64_t)s;
    /* Only the GPU has tiles: a CPU need not run each number of values. */
    const int step = test_on("cuda") ? 1 + test_emulated() : test_few() ? 4 : 2;
    int k;
    for (k = (int)s % step; k < DOMAINS; k += step) {
        int w = (k + (int)s) % WIDTHS;
        model m = make_variables(values[k], (int64_t)1 << (width[w] == 8 ? LOG_ENTRIES + 1 : LOG_ENTRIES));
        add_functions(&m, s);
        /* Enough for sums with one and with two of them, and entries without an allowed value. */
        fill(&m, largest_sum[w], s == TWO_WITH_FORBIDDEN ? 40 : 0, &seed);
        check_bucket(context, &host, &m, width[w]);
        model_free(&m);
    }
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

static void one_large_function(void **state) {
    (void)state;
    buckets(ONE_LARGE);
}

static void two_large_functions(void **state) {
    (void)state;
    buckets(TWO_LARGE);
}

static void three_large_functions(void **state) {
    (void)state;
    buckets(THREE_LARGE);
}

static void forbidden_tuples(void **state) {
    (void)state;
    buckets(TWO_WITH_FORBIDDEN);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_large_function),
    cmocka_unit_test(two_large_functions),
    cmocka_unit_test(three_large_functions),
    cmocka_unit_test(forbidden_tuples),
};
TEST_MAIN(tests)
