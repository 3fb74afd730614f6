/* SPDX-License-Identifier: MIT */
#include "tests/knapsack/multi_models.h"

#include <stdlib.h>
#include <string.h>

void multi_random(multi *m, int kind, int32_t items, int32_t rows, int64_t range, uint64_t *seed) {
    const double tight[] = {.25, .5, .75};
    int32_t i, j;
    memset(m, 0, sizeof *m);
    m->items = items;
    m->rows = rows;
    for (j = 0; j < items; j++) {
        int64_t sum = 0;
        for (i = 0; i < rows; i++) {
            int64_t w = test_random_int(seed, kind == 5 ? 0 : 1, range);
            if (kind == 3 && i > 0) w = m->weight[j];
            if (kind == 4 && j > 0) w = m->weight[i * items];
            if (kind == 5 && test_random(seed) < .3) w = 0;
            if (kind == 7 && i > 0) w = w % 3;
            m->weight[i * items + j] = w;
            sum += w;
        }
        m->profit[j] = sum / (rows > 0 ? rows : 1) + (int64_t)((double)range / 2 * test_random(seed));
        if (kind == 1) m->profit[j] = sum;
        if (kind == 2) m->profit[j] = sum + range / 10;
        if (kind == 4) m->profit[j] = j > 0 ? m->profit[0] : 6 * range;
        if (kind == 5 && test_random(seed) < .2) m->profit[j] = 0;
        if (kind == 7) m->profit[j] = m->weight[j];
    }
    for (i = 0; i < rows; i++) {
        int64_t sum = 0;
        for (j = 0; j < items; j++) sum += m->weight[i * items + j];
        m->capacity[i] = (int64_t)((double)sum * tight[test_random_int(seed, 0, 2)]);
        if (kind == 5) m->capacity[i] = test_random_int(seed, 0, 2 * range);
        if (kind == 6 && i == rows - 1) m->capacity[i] = test_random(seed) < .5 ? 0 : sum + 1;
    }
}

multi_wide multi_by_subsets(const multi *m) {
    multi_wide best = 0;
    uint32_t set;
    assert_in_range(m->items, 0, 20);
    for (set = 0; set < 1u << m->items; set++) {
        multi_wide profit = 0;
        int32_t i, j;
        for (j = 0; j < m->items; j++)
            if (set >> j & 1) profit += m->profit[j];
        for (i = 0; i < m->rows && profit > best; i++) {
            multi_wide weight = 0;
            for (j = 0; j < m->items; j++)
                if (set >> j & 1) weight += m->weight[i * m->items + j];
            if (weight > m->capacity[i]) profit = 0;
        }
        if (profit > best) best = profit;
    }
    return best;
}

int64_t multi_by_capacities(const multi *m) {
    enum { MOST = 600 };
    int64_t(*best)[MOST + 1] = calloc(MOST + 1, sizeof *best), optimum, a, b;
    int32_t j;
    assert_true(m->rows == 2 && m->capacity[0] <= MOST && m->capacity[1] <= MOST);
    for (j = 0; j < m->items; j++) {
        const int64_t v = m->weight[j], w = m->weight[m->items + j];
        for (a = m->capacity[0]; a >= v; a--)
            for (b = m->capacity[1]; b >= w; b--)
                if (best[a - v][b - w] + m->profit[j] > best[a][b]) best[a][b] = best[a - v][b - w] + m->profit[j];
    }
    optimum = best[m->capacity[0]][m->capacity[1]];
    free(best);
    return optimum;
}

gpuopt_knapsack_multidimensional_desc multi_desc(const multi *m, int32_t workers) {
    gpuopt_knapsack_multidimensional_desc d = GPUOPT_INIT(gpuopt_knapsack_multidimensional_desc);
    d.items = m->items;
    d.rows = m->rows;
    d.weight = m->weight;
    d.profit = m->profit;
    d.capacity = m->capacity;
    d.workers = workers;
    return d;
}

gpuopt_knapsack_multidimensional *multi_create(gpuopt_context *context,
                                               const gpuopt_knapsack_multidimensional_desc *desc) {
    gpuopt_knapsack_multidimensional *k = NULL;
    assert_int_equal(gpuopt_knapsack_multidimensional_create(context, desc, NULL, &k), GPUOPT_OK);
    assert_non_null(k);
    return k;
}

gpuopt_knapsack_multidimensional_info multi_info(gpuopt_knapsack_multidimensional *knapsack) {
    gpuopt_knapsack_multidimensional_info info = GPUOPT_INIT(gpuopt_knapsack_multidimensional_info);
    assert_int_equal(gpuopt_knapsack_multidimensional_get_info(knapsack, &info), GPUOPT_OK);
    assert_true(info.primal_bound >= 0 && info.primal_bound <= info.dual_bound);
    assert_true((info.outcome == GPUOPT_OPTIMAL) == (info.busy == 0));
    assert_true(info.outcome != GPUOPT_OPTIMAL || info.primal_bound == info.dual_bound);
    return info;
}

int64_t multi_check_items(gpuopt_knapsack_multidimensional *knapsack, const multi *m, int64_t *taken) {
    int64_t own[MULTI_ITEMS + 1], *is = taken ? taken : own, reported = -1;
    multi_wide profit = 0;
    int32_t i, j;
    memset(is, 7, (size_t)m->items * sizeof *is);
    assert_int_equal(gpuopt_knapsack_multidimensional_get_items(knapsack, GPUOPT_HOST, is, &reported), GPUOPT_OK);
    for (j = 0; j < m->items; j++) {
        assert_in_range(is[j], 0, 1);
        if (is[j]) profit += m->profit[j];
    }
    for (i = 0; i < m->rows; i++) {
        multi_wide weight = 0;
        for (j = 0; j < m->items; j++)
            if (is[j]) weight += m->weight[i * m->items + j];
        assert_true(weight <= m->capacity[i]);
    }
    assert_true(profit == reported && reported == multi_info(knapsack).primal_bound);
    return reported;
}

gpuopt_knapsack_multidimensional_info multi_finish(gpuopt_knapsack_multidimensional *knapsack, const multi *m,
                                                   int64_t optimum) {
    gpuopt_knapsack_multidimensional_info info = GPUOPT_INIT(gpuopt_knapsack_multidimensional_info);
    assert_int_equal(gpuopt_knapsack_multidimensional_run(knapsack, 0, 0, &info), GPUOPT_OK);
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    assert_true(info.primal_bound == optimum && info.dual_bound == optimum);
    assert_true(multi_check_items(knapsack, m, NULL) == optimum);
    return info;
}
