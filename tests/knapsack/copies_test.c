/* SPDX-License-Identifier: MIT
 *
 * Knapsacks with several copies of items, against dynamic programming over copies: every search, pools from the smallest
 * up, in one call and level by level; nodes that are packed, dealt and kept; solutions and claims; what is refused.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/knapsack/models.h"

enum { MODELS = 60 /* of each class */, ALIKE = 200 };

/* A model with upper bounds. */
typedef struct bounded {
    model m;
    int64_t upper[MODEL_MOST];
} bounded;

/* best[c]: the most profit with weight at most c; each item with each number of copies. */
static int64_t optimum_of(const bounded *b) {
    const int64_t capacity = b->m.capacity;
    int64_t *best = calloc((size_t)capacity + 1, sizeof *best), *next = malloc(((size_t)capacity + 1) * sizeof *next);
    int64_t result, c, x;
    int32_t j;
    assert_true(best && next);
    for (j = 0; j < b->m.items; j++) {
        for (c = 0; c <= capacity; c++) {
            next[c] = best[c];
            for (x = 1; x <= b->upper[j] && x * b->m.weight[j] <= c; x++) {
                const int64_t with = best[c - x * b->m.weight[j]] + x * b->m.profit[j];
                if (with > next[c]) next[c] = with;
            }
        }
        memcpy(best, next, ((size_t)capacity + 1) * sizeof *best);
    }
    result = best[capacity];
    free(best);
    free(next);
    return result;
}

/* Copies up to `most` each; about one item in eight has none, one as many as fit and more (if it weighs anything). */
static bounded draw(int kind, int32_t items, int64_t range, int64_t most, uint64_t *state) {
    bounded b;
    int64_t sum = 0;
    int32_t j;
    memset(&b, 0, sizeof b);
    b.m = model_random(kind, items, range, state);
    for (j = 0; j < items; j++) {
        b.upper[j] = test_random_int(state, 0, most);
        if (test_random_int(state, 0, 7) == 0) b.upper[j] = 0;
        sum += b.upper[j] * b.m.weight[j];
        if (test_random_int(state, 0, 7) == 0 && b.m.weight[j] > 0) b.upper[j] = INT64_MAX - j;
    }
    b.m.capacity = sum * test_random_int(state, 1, 9) / 10;
    return b;
}

static gpuopt_knapsack_desc desc_of(const bounded *b) {
    gpuopt_knapsack_desc desc = model_desc(&b->m);
    desc.upper = b->upper;
    return desc;
}

/* Checks that the copies fit and have the profit and weight that the handle reports. Returns the profit. */
static int64_t check_copies(gpuopt_knapsack *knapsack, const bounded *b, int64_t *copies) {
    int64_t profit = -1, weight = -1, p = 0, w = 0;
    int32_t j;
    memset(copies, 9, sizeof *copies * (size_t)(b->m.items + 1));
    assert_int_equal(gpuopt_knapsack_get_copies(knapsack, GPUOPT_HOST, copies, &profit, &weight), GPUOPT_OK);
    assert_true(copies[b->m.items] == 0x0909090909090909);
    for (j = 0; j < b->m.items; j++) {
        assert_true(copies[j] >= 0 && copies[j] <= b->upper[j]);
        p += copies[j] * b->m.profit[j];
        w += copies[j] * b->m.weight[j];
    }
    assert_true(p == profit && w == weight && w <= b->m.capacity);
    return p;
}

/* Solves it, `levels` levels a call (0: in one call). */
static gpuopt_knapsack_info solve(gpuopt_context *context, const gpuopt_knapsack_desc *desc, const bounded *b,
                                  int64_t optimum, int32_t levels) {
    gpuopt_knapsack *knapsack = model_create(context, desc);
    gpuopt_knapsack_info info;
    int64_t copies[MODEL_MOST + 1];
    gpuopt_desc_init(&info, sizeof info);
    do {
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, levels, &info), GPUOPT_OK);
        assert_true(info.lower <= optimum && info.upper >= optimum);
        if (levels) assert_true(check_copies(knapsack, b, copies) <= optimum);
    } while (info.outcome == GPUOPT_MORE);
    if (info.outcome == GPUOPT_OPTIMAL) {
        assert_true(info.lower == optimum && info.upper == optimum);
        assert_true(check_copies(knapsack, b, copies) == optimum);
    } else {
        assert_true(info.outcome == GPUOPT_LIMIT && desc->node_limit > 0);
    }
    gpuopt_knapsack_destroy(knapsack);
    return info;
}

static void every_search(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 11;
    int k, search;
    (void)state;
    for (k = 0; k < MODELS * MODEL_CLASSES; k++) {
        const bounded b = draw(k % MODEL_CLASSES, (int32_t)test_random_int(&random, 1, 7),
                               k % MODEL_CLASSES == 6 ? 4 : 40, 1 + k % 9, &random);
        const int64_t optimum = optimum_of(&b);
        for (search = 0; search < 3; search++) {
            gpuopt_knapsack_desc desc = desc_of(&b);
            desc.search = (gpuopt_knapsack_search)search;
            desc.reduction = k & 1 ? GPUOPT_OFF : GPUOPT_ON;
            desc.pool = k & 2 ? 1 : 1 << 16;
            desc.node_limit = search || k & 2 ? 200000 : 0;
            solve(context, &desc, &b, optimum, k & 4 ? 0 : 1 + k % 3);
        }
    }
    gpuopt_context_destroy(context);
}

/* Long enough for surrogate problems and bounds from the number of pieces. */
static void more_items(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 12;
    int64_t long_ones = 0;
    int k;
    (void)state;
    for (k = 0; k < 3 * MODEL_CLASSES; k++) {
        const bounded b = draw(k % MODEL_CLASSES, 40, k % MODEL_CLASSES == 6 ? 3 : 60, 10, &random);
        gpuopt_knapsack_desc desc = desc_of(&b);
        gpuopt_knapsack_info info;
        desc.reduction = k < MODEL_CLASSES ? GPUOPT_OFF : GPUOPT_ON;
        info = solve(context, &desc, &b, optimum_of(&b), 0);
        assert_true(info.free_items > 40 || desc.reduction == GPUOPT_ON);
        if (info.expanded > 4 * 64) long_ones++;
    }
    assert_true(long_ones > 5);
    gpuopt_context_destroy(context);
}

/* Strongly correlated items are easy by bounds from the number of copies. The answer is that with an item for each copy,
 * which knows nothing of copies. */
static void strong_ones(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 16;
    int k;
    (void)state;
    for (k = 0; k < 6; k++) {
        bounded b;
        static int64_t weight[10 * 300], profit[10 * 300];
        gpuopt_knapsack_desc desc;
        gpuopt_knapsack *each;
        gpuopt_knapsack_info info;
        int32_t j, n = 0;
        int64_t x, sum = 0;
        memset(&b, 0, sizeof b);
        b.m = model_random(k % 2 ? 4 : 2, 300, 10000, &random);
        for (j = 0; j < b.m.items; j++) {
            b.upper[j] = test_random_int(&random, 5, 10);
            sum += b.upper[j] * b.m.weight[j];
            for (x = 0; x < b.upper[j]; x++, n++) weight[n] = b.m.weight[j], profit[n] = b.m.profit[j];
        }
        b.m.capacity = sum / 2;
        desc = desc_of(&b);
        desc.items = n;
        desc.weight = weight;
        desc.profit = profit;
        desc.upper = NULL;
        each = model_create(context, &desc);
        gpuopt_desc_init(&info, sizeof info);
        assert_int_equal(gpuopt_knapsack_expand(each, 0, 0, &info), GPUOPT_OK);
        assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
        gpuopt_knapsack_destroy(each);
        desc = desc_of(&b);
        desc.node_limit = k % 2 ? 0 : 200000; /* millions, if pieces are counted */
        info = solve(context, &desc, &b, info.lower, 0);
        assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    }
    gpuopt_context_destroy(context);
}

/* Items that are nearly alike: the best solutions have one copy more than the greedy one, or just as many as are needed to
 * beat it, and bounds from the number of copies decide before the search finds them. */
static void alike(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 17;
    int k, long_ones = 0;
    (void)state;
    for (k = 0; k < ALIKE; k++) {
        const int64_t range = test_random_int(&random, 0, 1) ? 60 : 200;
        int64_t sum = 0, optimum;
        gpuopt_knapsack_desc desc;
        gpuopt_knapsack_info info;
        bounded b;
        int32_t j;
        memset(&b, 0, sizeof b);
        b.m.items = (int32_t)test_random_int(&random, 16, 40);
        for (j = 0; j < b.m.items; j++) {
            if (k % 2) { /* inversely strongly correlated */
                b.m.profit[j] = range + test_random_int(&random, 0, range / 4);
                b.m.weight[j] = b.m.profit[j] + range / 10;
            } else {
                b.m.weight[j] = range + test_random_int(&random, -4, 4);
                b.m.profit[j] = b.m.weight[j] + (test_random_int(&random, 0, 1) ? 3 : -3);
            }
            b.upper[j] = test_random_int(&random, 3, 12);
            sum += b.upper[j] * b.m.weight[j];
        }
        b.m.capacity = sum * test_random_int(&random, 1, 9) / 10 + test_random_int(&random, 0, 3);
        desc = desc_of(&b);
        desc.node_limit = 1000000;
        optimum = optimum_of(&b);
        info = solve(context, &desc, &b, optimum, 0);
        if (info.expanded > 4 * (int64_t)info.free_items) long_ones++;
    }
    assert_true(long_ones > ALIKE / 2);
    gpuopt_context_destroy(context);
}

/* Two handles share the nodes; both know the same pieces. */
static void shared(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 13, size;
    int k;
    (void)state;
    for (k = 0; k < 4 * MODEL_CLASSES; k++) {
        const bounded b = draw(k % MODEL_CLASSES, 12, k % MODEL_CLASSES == 6 ? 3 : 60, 10, &random);
        const int64_t optimum = optimum_of(&b);
        gpuopt_knapsack_desc desc = desc_of(&b);
        gpuopt_knapsack *one, *two;
        gpuopt_knapsack_info i, other;
        int64_t copies[MODEL_MOST + 1];
        unsigned char *bytes;
        gpuopt_desc_init(&i, sizeof i);
        gpuopt_desc_init(&other, sizeof other);
        desc.reduction = GPUOPT_OFF;
        one = model_create(context, &desc);
        two = model_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_expand(one, 0, 6, &i), GPUOPT_OK);
        if (k & 1) { /* dealt by bytes */
            free(model_pack(two, -1, 1, &size));
            assert_int_equal(gpuopt_knapsack_deal(one, 2, NULL, 0, &size), GPUOPT_OK);
            bytes = malloc(size);
            assert_non_null(bytes);
            assert_int_equal(gpuopt_knapsack_deal(one, 2, bytes, size, &size), GPUOPT_OK);
            assert_int_equal(gpuopt_knapsack_unpack(two, bytes, size), GPUOPT_OK);
            free(bytes);
        } else { /* each keeps its own */
            assert_int_equal(gpuopt_knapsack_expand(two, 0, 6, &other), GPUOPT_OK);
            assert_int_equal(gpuopt_knapsack_keep(one, 0, 2), GPUOPT_OK);
            assert_int_equal(gpuopt_knapsack_keep(two, 1, 2), GPUOPT_OK);
        }
        assert_int_equal(gpuopt_knapsack_expand(one, 0, 0, &i), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_expand(two, 0, 0, &other), GPUOPT_OK);
        assert_true(i.lower <= optimum && other.lower <= optimum && (i.lower == optimum || other.lower == optimum));
        assert_true(check_copies(one, &b, copies) == i.lower && check_copies(two, &b, copies) == other.lower);
        /* A checkpoint of a search at its end holds the solution: a fresh handle knows it. */
        bytes = model_pack(i.lower == optimum ? one : two, -1, 0, &size);
        gpuopt_knapsack_destroy(one);
        one = model_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_unpack(one, bytes, size), GPUOPT_OK);
        assert_true(check_copies(one, &b, copies) == optimum);
        free(bytes);
        gpuopt_knapsack_destroy(one);
        gpuopt_knapsack_destroy(two);
    }
    gpuopt_context_destroy(context);
}

/* What one handle found is told to another: in host and in device memory, before and after, as copies and as a claim. */
static void told(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 14;
    int k;
    (void)state;
    for (k = 0; k < 2 * MODEL_CLASSES; k++) {
        const bounded b = draw(k % MODEL_CLASSES, 10, k % MODEL_CLASSES == 6 ? 3 : 60, 10, &random);
        const int64_t optimum = optimum_of(&b);
        gpuopt_knapsack_desc desc = desc_of(&b);
        gpuopt_knapsack *one = model_create(context, &desc), *two;
        gpuopt_knapsack_info i;
        int64_t copies[MODEL_MOST + 1], again[MODEL_MOST + 1];
        desc.search = GPUOPT_SEARCH_BREADTH; /* whose first solution is not often the best */
        two = model_create(context, &desc);
        gpuopt_desc_init(&i, sizeof i);
        assert_int_equal(gpuopt_knapsack_expand(one, 0, 0, NULL), GPUOPT_OK);
        assert_true(check_copies(one, &b, copies) == optimum);
        assert_int_equal(gpuopt_knapsack_set_copies(two, GPUOPT_HOST, optimum + 1, copies), GPUOPT_ERROR_ARGUMENT);
        assert_int_equal(gpuopt_knapsack_set_copies(two, GPUOPT_HOST, optimum, copies), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_get_info(two, &i), GPUOPT_OK);
        assert_true(i.lower == optimum);
        assert_true(check_copies(two, &b, again) == optimum);
        gpuopt_knapsack_destroy(two);
        two = model_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_set_incumbent(two, GPUOPT_HOST, optimum + (k & 1), NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_expand(two, 0, 0, &i), GPUOPT_OK);
        assert_int_equal(i.outcome, k & 1 ? GPUOPT_INFEASIBLE : GPUOPT_OPTIMAL);
        gpuopt_knapsack_destroy(one);
        gpuopt_knapsack_destroy(two);
    }
    gpuopt_context_destroy(context);
}

/* Every number of copies can be said and is said back: by an item without weight all of whose copies are free to take,
 * and by items that fill the knapsack alone. */
static void every_number(void **state) {
    static const int64_t limit[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 16, 17, 31, 33};
    gpuopt_context *context = test_context(NULL);
    size_t k;
    (void)state;
    for (k = 0; k < sizeof limit / sizeof *limit; k++) {
        int64_t capacity;
        for (capacity = 0; capacity <= limit[k] + 2; capacity++) {
            const int64_t upper = limit[k], weight = 3, profit = 5, most = capacity < upper ? capacity : upper;
            int64_t copies = -1, x;
            gpuopt_knapsack_desc desc;
            gpuopt_knapsack *knapsack;
            gpuopt_desc_init(&desc, sizeof desc);
            desc.items = 1;
            desc.weight = &weight;
            desc.profit = &profit;
            desc.upper = &upper;
            desc.capacity = 3 * capacity + 2;
            knapsack = model_create(context, &desc);
            for (x = 0; x <= upper + 1; x++)
                assert_int_equal(gpuopt_knapsack_set_copies(knapsack, GPUOPT_HOST, 5 * x, &x),
                                 x <= most ? GPUOPT_OK : GPUOPT_ERROR_ARGUMENT);
            assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, NULL), GPUOPT_OK);
            assert_int_equal(gpuopt_knapsack_get_copies(knapsack, GPUOPT_HOST, &copies, NULL, NULL), GPUOPT_OK);
            assert_true(copies == most);
            gpuopt_knapsack_destroy(knapsack);
        }
    }
    gpuopt_context_destroy(context);
}

/* Large numbers, whose answers are known by hand. */
static void large(void **state) {
    static const struct {
        int64_t weight, profit, upper, capacity, copies;
        gpuopt_status status;
    } some[] = {
        {1, 1, INT64_MAX, INT64_MAX, INT64_MAX, GPUOPT_OK},
        {1, 2, INT64_MAX, INT64_MAX / 2, INT64_MAX / 2, GPUOPT_OK},
        {1, 2, INT64_MAX, INT64_MAX / 2 + 1, 0, GPUOPT_ERROR_NUMERIC},
        {1, 2, (int64_t)1 << 40, INT64_MAX, (int64_t)1 << 40, GPUOPT_OK},
        {3, 7, INT64_MAX, 1000000000000000001, 333333333333333333, GPUOPT_OK},
        {0, 1, INT64_MAX, 0, INT64_MAX, GPUOPT_OK},
        {0, 3, INT64_MAX / 3, 5, INT64_MAX / 3, GPUOPT_OK},
        {0, 3, INT64_MAX / 3 + 1, 5, 0, GPUOPT_ERROR_NUMERIC},
        {0, 0, INT64_MAX, 5, 0, GPUOPT_OK},
        {7, INT64_MAX, INT64_MAX, 6, 0, GPUOPT_OK},
        {7, INT64_MAX, 0, 100, 0, GPUOPT_OK},
        {7, INT64_MAX, INT64_MAX, 13, 1, GPUOPT_OK},
        {7, INT64_MAX, INT64_MAX, 14, 0, GPUOPT_ERROR_NUMERIC},
    };
    gpuopt_context *context = test_context(NULL);
    size_t k;
    (void)state;
    for (k = 0; k < sizeof some / sizeof *some; k++) {
        gpuopt_knapsack_desc desc;
        gpuopt_knapsack *knapsack = NULL;
        int64_t copies = -1, profit = -1, weight = -1;
        gpuopt_desc_init(&desc, sizeof desc);
        desc.items = 1;
        desc.weight = &some[k].weight;
        desc.profit = &some[k].profit;
        desc.upper = &some[k].upper;
        desc.capacity = some[k].capacity;
        assert_int_equal(gpuopt_knapsack_create(context, &desc, &knapsack), some[k].status);
        if (!knapsack) continue;
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_get_copies(knapsack, GPUOPT_HOST, &copies, &profit, &weight), GPUOPT_OK);
        assert_true(copies == some[k].copies || some[k].profit == 0);
        assert_true(profit == copies * some[k].profit && weight == copies * some[k].weight);
        gpuopt_knapsack_destroy(knapsack);
    }
    gpuopt_context_destroy(context);
}

/* What is refused, with its message; the handle stays usable, and nothing of memory is left. */
static void refused(void **state) {
    static const int64_t weight[] = {5, 2, 0}, profit[] = {6, 3, 1}, upper[] = {2, 4, 3}, negative[] = {2, -1, 3};
    static const int64_t too_many[] = {0, 5, 0}, below[] = {0, -1, 0}, heavy[] = {2, 2, 0}, good[] = {2, 0, 1};
    gpuopt_knapsack_desc desc;
    gpuopt_memory_plan plan;
    gpuopt_knapsack *knapsack = NULL;
    int64_t copies[3], total, p;
    uint8_t taken[3];
    test_host host;
    gpuopt_context *context = test_context(&host);
    test_held before = test_held_by(&host);
    (void)state;
    gpuopt_desc_init(&desc, sizeof desc);
    gpuopt_desc_init(&plan, sizeof plan);
    desc.items = 3;
    desc.weight = weight;
    desc.profit = profit;
    desc.capacity = 11;
    desc.upper = negative;
    assert_int_equal(gpuopt_knapsack_create(context, &desc, &knapsack), GPUOPT_ERROR_ARGUMENT);
    assert_true(strstr(host.error, "upper of item 1 is negative") && !knapsack);
    desc.upper = upper;
    assert_int_equal(gpuopt_knapsack_plan(context, &desc, &plan), GPUOPT_OK);
    assert_int_equal(gpuopt_knapsack_create(context, &desc, &knapsack), GPUOPT_OK);
    test_as_planned(&host, &before, &plan);
    assert_int_equal(gpuopt_knapsack_get_items(knapsack, GPUOPT_HOST, taken, &p, NULL), GPUOPT_ERROR_STATE);
    assert_non_null(strstr(host.error, "gpuopt_knapsack_get_copies"));
    assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_HOST, 3, taken), GPUOPT_ERROR_STATE);
    assert_int_equal(gpuopt_knapsack_set_copies(knapsack, GPUOPT_HOST, 3, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_set_copies(knapsack, GPUOPT_HOST, 15, too_many), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_set_copies(knapsack, GPUOPT_HOST, -3, below), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_set_copies(knapsack, GPUOPT_HOST, 18, heavy), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_set_copies(knapsack, GPUOPT_HOST, 13, good), GPUOPT_OK);
    assert_int_equal(gpuopt_knapsack_set_copies(NULL, GPUOPT_HOST, 13, good), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_get_copies(NULL, GPUOPT_HOST, copies, NULL, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, NULL), GPUOPT_OK);
    assert_int_equal(gpuopt_knapsack_get_copies(knapsack, GPUOPT_HOST, copies, NULL, NULL), GPUOPT_OK);
    assert_true(copies[0] == 1 && copies[1] == 3 && copies[2] == 3); /* 6 + 9 + 3; all others have less */
    assert_int_equal(gpuopt_knapsack_get_items(knapsack, GPUOPT_HOST, NULL, &p, &total), GPUOPT_OK);
    assert_true(p == 18 && total == 11);
    gpuopt_knapsack_destroy(knapsack);
    gpuopt_context_destroy(context);
}

/* 2^28 pieces are the most: 2^28 / 63 items of 63 pieces each are just too many. */
static void too_many_pieces(void **state) {
    const int32_t items = (1 << 28) / 63 + 1;
    int64_t *none = calloc((size_t)items, sizeof *none), *upper = malloc((size_t)items * sizeof *upper);
    gpuopt_context *context = test_context(NULL);
    gpuopt_knapsack_desc desc;
    gpuopt_knapsack *knapsack = NULL;
    int32_t j;
    (void)state;
    assert_true(none && upper);
    for (j = 0; j < items; j++) upper[j] = INT64_MAX;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.items = items;
    desc.weight = desc.profit = none;
    desc.upper = upper;
    assert_int_equal(gpuopt_knapsack_create(context, &desc, &knapsack), GPUOPT_ERROR_UNSUPPORTED);
    assert_null(knapsack);
    free(none);
    free(upper);
    gpuopt_context_destroy(context);
}

/* Without `upper` the copies are the items. */
static void one_of_each(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 15;
    const model m = model_random(2, 20, 50, &random);
    gpuopt_knapsack_desc desc = model_desc(&m);
    gpuopt_knapsack *knapsack = model_create(context, &desc);
    uint8_t taken[MODEL_MOST];
    int64_t copies[MODEL_MOST];
    int32_t j;
    (void)state;
    model_finish(knapsack, &m, model_optimum(&m));
    assert_int_equal(gpuopt_knapsack_get_items(knapsack, GPUOPT_HOST, taken, NULL, NULL), GPUOPT_OK);
    assert_int_equal(gpuopt_knapsack_get_copies(knapsack, GPUOPT_HOST, copies, NULL, NULL), GPUOPT_OK);
    for (j = 0; j < m.items; j++) assert_true(copies[j] == taken[j]);
    assert_int_equal(gpuopt_knapsack_set_copies(knapsack, GPUOPT_HOST, model_optimum(&m), copies), GPUOPT_OK);
    gpuopt_knapsack_destroy(knapsack);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_search),    cmocka_unit_test(more_items),  cmocka_unit_test(strong_ones),
    cmocka_unit_test(alike),           cmocka_unit_test(shared),      cmocka_unit_test(told),
    cmocka_unit_test(every_number),    cmocka_unit_test(large),       cmocka_unit_test(refused),
    cmocka_unit_test(too_many_pieces), cmocka_unit_test(one_of_each),
};

TEST_MAIN(tests)
