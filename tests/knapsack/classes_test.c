/* SPDX-License-Identifier: MIT
 *
 * The generated instances of the literature agree with their definitions (Boukedjar et al., 2012, and Pisinger, Where
 * are the hard knapsack problems?, 2005). The search finds the optimum of dynamic programming and its items.
 */
#include <string.h>

#include "tests/knapsack/generated.h"

enum { CLASSES = 11 };

static const char *const class_name[CLASSES] = {"uncorrelated",    "weak",           "strong",  "inverse-strong",
                                                "almost-strong",   "subset-sum",     "similar", "span",
                                                "multiple-strong", "profit-ceiling", "circle"};

/* ---- Definitions ---- */

static int within(int64_t value, int64_t least, int64_t most) { return value >= least && value <= most; }

/* Whether p = floor(2 / 3 sqrt(4 R^2 - (w - 2 R)^2)), without a root. */
static int on_circle(int64_t w, int64_t p, int64_t r) {
    int64_t square = 4 * (4 * r * r - (w - 2 * r) * (w - 2 * r));
    return p >= 0 && 9 * p * p <= square && square < 9 * (p + 1) * (p + 1);
}

/* Whether an item alone may belong to the class. For span this is a weak test: see check_span. */
static int belongs(int class, int64_t w, int64_t p, int64_t r) {
    int64_t tenth = r / 10, lowest = w - tenth > 1 ? w - tenth : 1;
    switch (class) {
    case 0: return within(w, 1, r) && within(p, 1, r);
    case 1: return within(w, 1, r) && within(p, lowest, w + tenth);
    case 2: return within(w, 1, r) && p == w + tenth;
    case 3: return within(p, 1, r) && w == p + tenth;
    case 4: return within(w, 1, r) && within(p, w + tenth - r / 500, w + tenth + r / 500);
    case 5: return within(w, 1, r) && p == w;
    case 6: return within(w, 100000, 100000 + r / 1000) && within(p, 1, 1000);
    case 7: return w > 0 && p > 0;
    case 8: return within(w, 1, r) && p == w + (w % 6 ? 2 : 3) * tenth;
    case 9: return within(w, 1, r) && p % 3 == 0 && within(p - w, 0, 2);
    default: return within(w, 1, r) && on_circle(w, p, r);
    }
}

/* Whether this item is a strong item divided by 5 and rounded up. */
static int fifth_of_strong(int64_t w, int64_t p, int64_t r) {
    int64_t whole;
    for (whole = 5 * w - 4; whole <= 5 * w; whole++)
        if (within(whole, 1, r) && (whole + r / 10 + 4) / 5 == p) return 1;
    return 0;
}

/* Whether all items are 1 to 10 times one of two base items. There are enough items for each base item to be among
 * them. */
static void check_span(const model *m, int64_t r) {
    int32_t least[2] = {0, -1}, j;
    int which;
    for (j = 0; j < m->items; j++) {
        which = m->weight[j] * m->profit[0] != m->profit[j] * m->weight[0];
        if (least[which] < 0 || m->weight[j] < m->weight[least[which]]) least[which] = j;
    }
    for (j = 0; j < m->items; j++) {
        int32_t base = least[m->weight[j] * m->profit[0] != m->profit[j] * m->weight[0]];
        int64_t factor = m->weight[j] / m->weight[base];
        assert_true(within(factor, 1, 10) && m->weight[j] == factor * m->weight[base]);
        assert_true(m->profit[j] == factor * m->profit[base]);
        assert_true(fifth_of_strong(m->weight[base], m->profit[base], r));
    }
    assert_true(least[1] >= 0);
}

static void definitions(void **state) {
    static const int64_t ranges[] = {10, 1000, 99999, (int64_t)1 << 28};
    int class, seed, range;
    (void)state;
    for (class = 0; class < CLASSES; class ++)
        for (range = 0; range < 4; range++)
            for (seed = 1; seed <= 4; seed++) {
                int64_t r = ranges[range], sum = 0;
                model m = model_generated("%s:300:%lld:%d", class_name[class], (long long)r, seed);
                uint32_t seen = 0;
                int32_t j;
                assert_int_equal(m.items, 300);
                for (j = 0; j < m.items; j++) {
                    assert_true(belongs(class, m.weight[j], m.profit[j], r));
                    if (r == 10) seen |= 1u << ((class == 3 ? m.profit[j] : m.weight[j]) % 32);
                    sum += m.weight[j];
                }
                assert_true(m.capacity == sum / 2);
                if (class == 7 && r > 10) check_span(&m, r); /* with r = 10 the two base items may be equal */
                else if (class != 7 && r == 10)
                    assert_true(seen == (class == 6 ? 1u << 100000 % 32 : 0x7FE)); /* every possible weight occurs */
            }
}

/* The random numbers are splitmix64's; its first numbers for the seed 1234567 are published. */
static void paper_stream(void **state) {
    static const uint64_t published[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                         4593380528125082431u, 16408922859458223821u};
    static const uint64_t seeds[] = {0, 1, 2, 10, 1234567, UINT64_MAX};
    model m = model_generated("paper:5:1234567");
    int32_t j, n;
    int k;
    (void)state;
    for (j = 0; j < 5; j++) assert_true(m.weight[j] == 1 + (int64_t)(published[j] % 100));
    for (k = 0; k < 6; k++)
        for (n = 1; n <= 500; n += 499) {
            uint64_t stream = seeds[k];
            int64_t sum = 0;
            m = model_generated("paper:%d:%llu", (int)n, (unsigned long long)seeds[k]);
            assert_int_equal(m.items, n);
            for (j = 0; j < n; j++) {
                assert_true(m.weight[j] == test_random_int(&stream, 1, 100) && m.profit[j] == m.weight[j] + 10);
                sum += m.weight[j];
            }
            assert_true(m.capacity == sum / 2);
        }
}

/* ---- Optima ---- */

/* Expands to the end, or to the limit, where the optimum must be between the bounds. */
static gpuopt_knapsack_info solve(gpuopt_context *context, const gpuopt_knapsack_desc *desc, const model *m,
                                  int64_t optimum) {
    gpuopt_knapsack *knapsack = model_create(context, desc);
    gpuopt_knapsack_info info;
    gpuopt_desc_init(&info, sizeof info);
    assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, &info), GPUOPT_OK);
    if (info.outcome == GPUOPT_LIMIT) {
        assert_true(desc->node_limit > 0 && info.expanded >= desc->node_limit && info.alive > 0);
        assert_true(info.primal_bound <= optimum && info.dual_bound >= optimum);
        assert_true(model_check_items(knapsack, m) >= info.primal_bound);
    } else {
        info = model_finish(knapsack, m, optimum);
    }
    assert_true(info.peak <= info.pool && info.free_items <= m->items);
    gpuopt_knapsack_destroy(knapsack);
    return info;
}

static void run_class(int class) {
    static const int32_t items[] = {1, 10, 50, 100, 200};
    static const int64_t ranges[] = {10, 100, 1000}, pools[] = {0, 30000, 4000};
    gpuopt_context *context = test_context(NULL);
    int size, range, seed, k;
    for (size = 0; size < 5; size++)
        for (range = 0; range < 3; range++)
            for (seed = 1; seed <= test_times(5, 5); seed++) {
                model m = model_generated("%s:%d:%d:%d", class_name[class], (int)items[size], (int)ranges[range], seed);
                int64_t optimum = model_optimum(&m);
                gpuopt_knapsack_desc desc = model_desc(&m);
                for (k = 0; k < 3; k++) {
                    desc.pool = pools[k];
                    assert_int_equal(solve(context, &desc, &m, optimum).outcome, GPUOPT_OPTIMAL);
                }
                desc.node_limit = 20000;
                for (k = 1; k < 3; k++) {
                    desc.search = (gpuopt_knapsack_search)k;
                    desc.pool = seed == 1 ? 0 : 3000;
                    desc.reduction = seed == 2 ? GPUOPT_ON : GPUOPT_OFF;
                    solve(context, &desc, &m, optimum);
                }
            }
    gpuopt_context_destroy(context);
}

#define CLASS(name, class)           \
    static void name(void **state) { \
        (void)state;                 \
        run_class(class);            \
    }
CLASS(uncorrelated, 0)
CLASS(weakly_correlated, 1)
CLASS(strongly_correlated, 2)
CLASS(inverse_strongly_correlated, 3)
CLASS(almost_strongly_correlated, 4)
CLASS(subset_sum, 5)
CLASS(similar_weights, 6)
CLASS(span, 7)
CLASS(multiple_strongly_correlated, 8)
CLASS(profit_ceiling, 9)
CLASS(circle, 10)

/* The instances of the paper's table. Without dominance the tree for n = 200 has more than 1e9 nodes. */
static void paper(void **state) {
    gpuopt_context *context = test_context(NULL);
    int n, seed;
    (void)state;
    for (n = 100; n <= 500; n += 100)
        for (seed = 1; seed <= test_times(10, 10); seed++) {
            model m = model_generated("paper:%d:%d", n, seed);
            gpuopt_knapsack_desc desc = model_desc(&m);
            gpuopt_knapsack_info info = solve(context, &desc, &m, model_optimum(&m));
            assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
            assert_true(info.peak * 20 <= 1 << 20); /* bytes */
        }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(definitions),
    cmocka_unit_test(paper_stream),
    cmocka_unit_test(uncorrelated),
    cmocka_unit_test(weakly_correlated),
    cmocka_unit_test(strongly_correlated),
    cmocka_unit_test(inverse_strongly_correlated),
    cmocka_unit_test(almost_strongly_correlated),
    cmocka_unit_test(subset_sum),
    cmocka_unit_test(similar_weights),
    cmocka_unit_test(span),
    cmocka_unit_test(multiple_strongly_correlated),
    cmocka_unit_test(profit_ceiling),
    cmocka_unit_test(circle),
    cmocka_unit_test(paper),
};

TEST_MAIN(tests)
