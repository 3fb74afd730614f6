/* SPDX-License-Identifier: MIT
 *
 * One bucket of two functions with a variable in common, large enough to be computed as a batch of min-plus products:
 * message(a, b, c) = min over x of f(x, a, b) + g(x, b, c). Each function has its variables in several orders. Every
 * entry is compared with plain loops.
 */
#include <stdlib.h>

#include "tests/elimination/handle.h"

enum { X, A, B, C, VARIABLES };

static int64_t stride_of(const model *m, const gpuopt_elimination_function *f, int32_t variable) {
    int64_t stride = 1;
    int32_t k;
    for (k = f->arity - 1; k >= 0; k--) {
        if (f->scope[k] == variable) return stride;
        stride *= m->domain[f->scope[k]];
    }
    return 0;
}

static gpuopt_elimination_function *add_random(model *m, const int32_t scope[3], int64_t least, int64_t most,
                                               uint64_t *seed) {
    gpuopt_elimination_function *f = model_add(m, 3, scope, -1);
    int64_t e, entries = model_entries(m, scope, 3);
    for (e = 0; e < entries; e++) ((int64_t *)f->cost)[e] = test_random_int(seed, least, most);
    return f;
}

/* The entries of the message; the library reports its scope. */
static void check_message(gpuopt_elimination *elimination, const model *m) {
    const gpuopt_elimination_function *f = &m->function[0], *g = &m->function[1];
    gpuopt_elimination_message_info info = handle_message(elimination, X);
    const int32_t *d = m->domain;
    int64_t *message = malloc((size_t)info.entries * sizeof *message), step[VARIABLES] = {0}, size = 1, a, b, c, x;
    int32_t k;
    assert_non_null(message);
    assert_int_equal(info.arity, 3);
    for (k = 2; k >= 0; k--) {
        step[info.scope[k]] = size;
        size *= d[info.scope[k]];
    }
    assert_int_equal(gpuopt_elimination_message_get(elimination, GPUOPT_HOST, X, 0, message, NULL, NULL), GPUOPT_OK);
    for (b = 0; b < d[B]; b += test_few() ? 7 : 1)
        for (a = 0; a < d[A]; a++) {
            const int64_t *left = f->cost + a * stride_of(m, f, A) + b * stride_of(m, f, B);
            const int64_t *right = g->cost + b * stride_of(m, g, B);
            const int64_t left_step = stride_of(m, f, X), right_step = stride_of(m, g, X), next = stride_of(m, g, C);
            for (c = 0; c < d[C]; c++) {
                int64_t best = left[0] + right[c * next];
                for (x = 1; x < d[X]; x++) {
                    int64_t sum = left[x * left_step] + right[c * next + x * right_step];
                    if (m->semiring == GPUOPT_SEMIRING_MAX_SUM ? sum > best : sum < best) best = sum;
                }
                if (message[a * step[A] + b * step[B] + c * step[C]] != best)
                    fail_msg("entry (%lld, %lld, %lld)", (long long)a, (long long)b, (long long)c);
            }
        }
    free(message);
}

static void shared_variable(gpuopt_elimination_semiring semiring, int64_t least, int64_t most, const int32_t left[3],
                            const int32_t right[3]) {
    static const int32_t domain[VARIABLES] = {64, 500, 24, 400}, first = X;
    test_host host;
    gpuopt_context *context = test_context(&host);
    model m = model_make(GPUOPT_COST_INT64, semiring, VARIABLES, domain);
    uint64_t seed = 5;
    gpuopt_elimination_desc desc;
    gpuopt_elimination *elimination;
    add_random(&m, left, least, most, &seed);
    add_random(&m, right, least, most, &seed);
    desc = model_desc(&m);
    desc.order = &first;
    desc.order_count = 1;
    desc.policy = GPUOPT_POLICY_EXACT;
    elimination = handle_create(context, &desc, &host);
    handle_finish(elimination, 1);
    check_message(elimination, &m);
    gpuopt_elimination_destroy(elimination);
    model_free(&m);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

static const int32_t xab[] = {X, A, B}, abx[] = {A, B, X}, bax[] = {B, A, X}, axb[] = {A, X, B};
static const int32_t xbc[] = {X, B, C}, cbx[] = {C, B, X}, bxc[] = {B, X, C};

static void costs_of_8_bits(void **state) {
    (void)state;
    shared_variable(GPUOPT_SEMIRING_MIN_SUM, 0, 100, xab, xbc);
}

static void costs_of_16_bits(void **state) {
    (void)state;
    shared_variable(GPUOPT_SEMIRING_MIN_SUM, 0, 20000, abx, xbc);
    shared_variable(GPUOPT_SEMIRING_MAX_SUM, -3000, 3000, axb, bxc);
}

static void costs_of_32_bits(void **state) {
    (void)state;
    shared_variable(GPUOPT_SEMIRING_MIN_SUM, -1000000, 1000000, xab, cbx);
    shared_variable(GPUOPT_SEMIRING_MIN_SUM, 0, 1 << 28, bax, xbc);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(costs_of_8_bits), cmocka_unit_test(costs_of_16_bits),
                                          cmocka_unit_test(costs_of_32_bits)};

TEST_MAIN(tests)
