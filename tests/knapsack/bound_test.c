/* SPDX-License-Identifier: MIT
 *
 * The comparison of two products of 64-bit numbers, on which a node's fate depends: exact, beside GMP's, and in
 * doubles, as the GPU tries first. Many of the products differ by little or nothing.
 */
#include <gmp.h>
#include <math.h>

#include "gpuopt_impl/common/numerics.h"
#include "gpuopt_impl/knapsack/bound.h"
#include "support.h"

static void set_u64(mpz_t to, uint64_t x) {
    mpz_set_ui(to, (unsigned long)(x >> 32));
    mpz_mul_2exp(to, to, 32);
    mpz_add_ui(to, to, (unsigned long)(x & 0xffffffffu));
}

static uint64_t get_u64(const mpz_t from) {
    mpz_t high;
    uint64_t x;
    mpz_init(high);
    mpz_fdiv_q_2exp(high, from, 32);
    x = (uint64_t)mpz_get_ui(high) << 32;
    mpz_fdiv_r_2exp(high, from, 32);
    x |= mpz_get_ui(high);
    mpz_clear(high);
    return x;
}

typedef struct counts {
    int64_t all, unclear, unclear_far; /* unclear_far: although the products are not close */
} counts;

/* Compares what the functions say of a * b and c * d with GMP. */
static void check(uint64_t a, uint64_t b, uint64_t c, uint64_t d, counts *n) {
    mpz_t x, y, factor;
    int reaches, seems = gpuopt__knapsack_product_seems_to_reach(a, b, c, d);
    mpz_inits(x, y, factor, NULL);
    set_u64(x, a);
    set_u64(factor, b);
    mpz_mul(x, x, factor);
    set_u64(y, c);
    set_u64(factor, d);
    mpz_mul(y, y, factor);
    reaches = mpz_cmp(x, y) >= 0;
    assert_int_equal(reaches, gpuopt__knapsack_product_reaches(a, b, c, d) != 0);
    n->all++;
    if (seems >= 0) assert_int_equal(reaches, seems);
    else {
        n->unclear++;
        n->unclear_far += fabs(mpz_get_d(x) - mpz_get_d(y)) > 1e-14 * mpz_get_d(y);
    }
    mpz_clears(x, y, factor, NULL);
}

/* A number of 1 to 63 bits. */
static uint64_t drawn(uint64_t *seed) {
    const int bits = (int)test_random_int(seed, 1, 63);
    return (uint64_t)test_random_int(seed, 0, INT64_MAX) >> (63 - bits);
}

/* The number of which the product with c is nearest to a * b from below; UINT64_MAX: it is too large. */
static uint64_t quotient(uint64_t a, uint64_t b, uint64_t c) {
    mpz_t x, y;
    uint64_t q = UINT64_MAX;
    mpz_inits(x, y, NULL);
    set_u64(x, a);
    set_u64(y, b);
    mpz_mul(x, x, y);
    set_u64(y, c);
    mpz_fdiv_q(x, x, y);
    if (mpz_sizeinbase(x, 2) < 64) q = get_u64(x);
    mpz_clears(x, y, NULL);
    return q;
}

static void products_are_compared_exactly(void **state) {
    static const uint64_t corner[] = {0, 1, 2, 3, (uint64_t)1 << 32, ((uint64_t)1 << 53) + 1, INT64_MAX - 1, INT64_MAX};
    enum { CORNERS = sizeof corner / sizeof *corner };
    uint64_t seed = 20261122;
    counts near = {0, 0, 0}, any = {0, 0, 0};
    int k, j;
    (void)state;
    for (k = 0; k < CORNERS * CORNERS * CORNERS * CORNERS; k++)
        check(corner[k % CORNERS], corner[k / CORNERS % CORNERS], corner[k / CORNERS / CORNERS % CORNERS],
              corner[k / CORNERS / CORNERS / CORNERS], &any);
    for (k = 0; k < 100000; k++) {
        const uint64_t a = drawn(&seed), b = drawn(&seed), c = drawn(&seed), d = drawn(&seed);
        const uint64_t q = c ? quotient(a, b, c) : UINT64_MAX;
        check(a, b, c, d, &any);
        if (q == UINT64_MAX) continue;
        for (j = q > 0 ? -1 : 0; j <= 1; j++) check(a, b, c, q + (uint64_t)j, &near);
        for (j = 10; j < 60; j += 7) /* differences around what a double shows */
            check(a, b, c, q + (q >> j), &near);
    }
    assert_true(near.unclear > 10000);
    assert_true(any.unclear < any.all / 10);
    assert_true(near.unclear_far == 0 && any.unclear_far == 0); /* otherwise the test in doubles is of no use */
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(products_are_compared_exactly)};

TEST_MAIN(tests)
