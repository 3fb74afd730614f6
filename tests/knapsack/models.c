/* SPDX-License-Identifier: MIT */
#include "tests/knapsack/models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void draw(int kind, int32_t j, int64_t range, model *m, uint64_t *state) {
    int64_t w = test_random_int(state, 1, range), p, tenth = range / 10 > 0 ? range / 10 : 1;
    int32_t base;
    switch (kind) {
    case 0: p = test_random_int(state, 1, range); break;
    case 1: p = w - tenth + test_random_int(state, 0, 2 * tenth); break;
    case 2: p = w + tenth; break;
    case 3: p = w, w += tenth; break;
    case 4: p = w + tenth + test_random_int(state, -(tenth / 10 + 1), tenth / 10 + 1); break;
    case 5: p = w; break;
    case 6: w = 10 * range + w, p = test_random_int(state, 1, range); break;
    case 7: /* multiples of the first two items */
        base = j % 2;
        if (j < 2) p = w + tenth;
        else w = m->weight[base] * test_random_int(state, 1, 3), p = m->profit[base] * (w / m->weight[base]);
        break;
    case 8: p = w + (w % 6 == 0 ? 3 * tenth : 2 * tenth); break;
    case 9: p = 3 * ((w + 2) / 3); break;
    case 10:
        p = (int64_t)(2.0 / 3.0 *
                      sqrt(4.0 * (double)range * (double)range - (double)((w - 2 * range) * (w - 2 * range))));
        break;
    default:
        w = test_random_int(state, 0, range), p = test_random_int(state, 0, 3) ? test_random_int(state, 0, range) : 0;
    }
    m->weight[j] = w;
    m->profit[j] = p > 0 ? p : kind == 11 ? 0 : 1;
}

model model_random(int kind, int32_t items, int64_t range, uint64_t *state) {
    model m;
    int64_t sum = 0;
    int32_t j;
    memset(&m, 0, sizeof m);
    m.items = items;
    for (j = 0; j < items; j++) {
        draw(kind, j, range, &m, state);
        sum += m.weight[j];
    }
    m.capacity = kind == 11 ? test_random_int(state, 0, sum + 3) : sum * test_random_int(state, 1, 9) / 10;
    return m;
}

model model_grouped(int32_t items, int groups, int64_t capacity, int more, int64_t noise, int part, uint64_t *random) {
    model m;
    int32_t j;
    memset(&m, 0, sizeof m);
    m.items = items;
    m.capacity = capacity;
    for (j = 0; j < items; j++) {
        const int last = j % 100 < part;
        const int64_t share = last ? 0 : (capacity >> (1 + j % (groups - 1))) + capacity * more / 1000;
        m.weight[j] = share + test_random_int(random, 1, noise);
        m.profit[j] = share + test_random_int(random, 1, noise);
    }
    return m;
}

/* best[c]: the most profit with weight at most c. */
static int64_t optimum_by_weight(const model *m) {
    int64_t *best = calloc((size_t)m->capacity + 1, sizeof *best), c, result;
    int32_t j;
    assert_non_null(best);
    for (j = 0; j < m->items; j++)
        for (c = m->capacity; c >= m->weight[j]; c--)
            if (best[c - m->weight[j]] + m->profit[j] > best[c]) best[c] = best[c - m->weight[j]] + m->profit[j];
    result = best[m->capacity];
    free(best);
    return result;
}

/* least[p]: the least weight with profit p; more than the capacity if that does not fit. sum: of all profits. */
static int64_t optimum_by_profit(const model *m, int64_t sum) {
    int64_t *least = malloc(((size_t)sum + 1) * sizeof *least), p, result = sum;
    int32_t j;
    assert_non_null(least);
    for (p = 1; p <= sum; p++) least[p] = m->capacity + 1;
    least[0] = 0;
    for (j = 0; j < m->items; j++)
        for (p = sum; p >= m->profit[j]; p--)
            if (m->weight[j] <= m->capacity && least[p - m->profit[j]] + m->weight[j] < least[p])
                least[p] = least[p - m->profit[j]] + m->weight[j];
    while (least[result] > m->capacity) result--;
    free(least);
    return result;
}

int64_t model_optimum(const model *m) {
    int64_t sum = 0;
    int32_t j;
    for (j = 0; j < m->items; j++) sum += m->profit[j];
    return sum < m->capacity ? optimum_by_profit(m, sum) : optimum_by_weight(m);
}

gpuopt_knapsack_desc model_desc(const model *m) {
    gpuopt_knapsack_desc desc;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.items = m->items;
    desc.weight = m->weight;
    desc.profit = m->profit;
    desc.capacity = m->capacity;
    return desc;
}

gpuopt_knapsack *model_create(gpuopt_context *context, const gpuopt_knapsack_desc *desc) {
    gpuopt_knapsack *knapsack = NULL;
    assert_int_equal(gpuopt_knapsack_create(context, desc, NULL, &knapsack), GPUOPT_OK);
    return knapsack;
}

unsigned char *model_pack(gpuopt_knapsack *knapsack, int64_t nodes, int remove, uint64_t *size) {
    unsigned char *bytes;
    assert_int_equal(gpuopt_knapsack_pack(knapsack, nodes, 0, NULL, 0, size), GPUOPT_OK);
    bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(gpuopt_knapsack_pack(knapsack, nodes, remove, bytes, *size, size), GPUOPT_OK);
    return bytes;
}

int64_t model_check_items(gpuopt_knapsack *knapsack, const model *m) {
    int64_t taken[MODEL_MOST], profit = -1, weight = -1, p = 0, w = 0;
    int32_t j;
    memset(taken, 9, sizeof taken);
    assert_int_equal(gpuopt_knapsack_get_items(knapsack, GPUOPT_HOST, taken, &profit, &weight), GPUOPT_OK);
    for (j = 0; j < m->items; j++) {
        assert_true(taken[j] == 0 || taken[j] == 1);
        p += taken[j] * m->profit[j];
        w += taken[j] * m->weight[j];
    }
    assert_true(p == profit && w == weight && w <= m->capacity);
    return p;
}

gpuopt_knapsack_info model_finish(gpuopt_knapsack *knapsack, const model *m, int64_t optimum) {
    gpuopt_knapsack_info info;
    gpuopt_desc_init(&info, sizeof info);
    assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, &info), GPUOPT_OK);
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    if (info.primal_bound != optimum)
        fail_msg("%lld instead of %lld", (long long)info.primal_bound, (long long)optimum);
    assert_true(info.dual_bound == optimum && info.alive == 0 && info.level == -1);
    assert_true(model_check_items(knapsack, m) == optimum);
    return info;
}

void model_sort(model *m) {
    int32_t i, j;
    for (i = 1; i < m->items; i++)
        for (j = i; j > 0 && m->profit[j] * m->weight[j - 1] > m->profit[j - 1] * m->weight[j]; j--) {
            const int64_t weight = m->weight[j], profit = m->profit[j];
            m->weight[j] = m->weight[j - 1];
            m->profit[j] = m->profit[j - 1];
            m->weight[j - 1] = weight;
            m->profit[j - 1] = profit;
        }
}

int64_t model_search(gpuopt_context *context, const model *m, gpuopt_switch reduction, int64_t optimum) {
    gpuopt_knapsack_desc desc = model_desc(m);
    gpuopt_knapsack *knapsack;
    gpuopt_knapsack_info info = GPUOPT_INIT(gpuopt_knapsack_info);
    desc.reduction = reduction;
    knapsack = model_create(context, &desc);
    assert_int_equal(gpuopt_knapsack_get_info(knapsack, &info), GPUOPT_OK);
    assert_true(info.primal_bound <= optimum && info.dual_bound >= optimum);
    while (info.outcome == GPUOPT_MORE) {
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 1, &info), GPUOPT_OK);
        assert_true(info.primal_bound <= optimum && info.dual_bound >= optimum);
    }
    info = model_finish(knapsack, m, optimum);
    gpuopt_knapsack_destroy(knapsack);
    return info.expanded;
}

int64_t model_searched(gpuopt_context *context, int32_t items, const int64_t *weight, const int64_t *profit,
                       int64_t capacity) {
    gpuopt_knapsack_desc desc = GPUOPT_INIT(gpuopt_knapsack_desc);
    gpuopt_knapsack_info info = GPUOPT_INIT(gpuopt_knapsack_info);
    gpuopt_knapsack *k;
    desc.items = items;
    desc.weight = weight;
    desc.profit = profit;
    desc.capacity = capacity;
    desc.pool = 1 << 14;
    k = model_create(context, &desc);
    assert_int_equal(gpuopt_knapsack_expand(k, 0, 0, &info), GPUOPT_OK);
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    gpuopt_knapsack_destroy(k);
    return info.primal_bound;
}
