/* SPDX-License-Identifier: MIT */
#include "tests/knapsack/choice_models.h"

#include <stdlib.h>
#include <string.h>

static void draw(int kind, int64_t range, const choice *m, int64_t first, int64_t j, uint64_t *seed, int64_t *weight,
                 int64_t *profit) {
    const int64_t near = range / 10 + 1;
    *weight = test_random_int(seed, 1, range);
    *profit = test_random_int(seed, 1, range);
    if (kind == 1) *profit = *weight + test_random_int(seed, -near, near);
    if (kind == 1 && *profit < 1) *profit = 1;
    if (kind == 2) { /* w_j = w_(j-1) + u, p_j = p_(j-1) + u + 10 */
        *weight = 1 + *weight / 4;
        *profit = *weight + 10;
        if (j > first) *weight += m->weight[j - 1], *profit += m->profit[j - 1];
    }
    if (kind == 3) *profit = *weight;
    if (kind == 4) *weight = test_random_int(seed, 0, 6), *profit = test_random_int(seed, 0, 6);
    if (kind == 5) *profit -= range / 2;
    if (kind == 6) *weight = j > first ? m->weight[first + 1] : *weight, *profit = j > first ? m->profit[first + 1] : 0;
    if (kind == 6 && j == first) *weight = 0;
    if (kind == 6 && j == first + 1) *weight = test_random_int(seed, 1, range), *profit = *weight + near;
    if (kind == 6 && j > first + 1) *weight *= j - first, *profit *= j - first;
}

void choice_random(choice *m, int kind, int32_t classes, int32_t items, int64_t range, uint64_t *seed) {
    int64_t least = 0, most = 0, j;
    int32_t c;
    memset(m, 0, sizeof *m);
    m->classes = classes;
    for (c = 0; c < classes; c++) {
        const int64_t first = m->begin[c], count = kind == 4 ? test_random_int(seed, 1, items) : items;
        int64_t low = INT64_MAX, high = 0;
        assert_true(first + count <= CHOICE_ITEMS);
        m->begin[c + 1] = first + count;
        for (j = first; j < first + count; j++) {
            draw(kind, range, m, first, j, seed, &m->weight[j], &m->profit[j]);
            if (m->weight[j] < low) low = m->weight[j];
            if (m->weight[j] > high) high = m->weight[j];
        }
        least += low;
        most += high;
    }
    m->capacity = least + (int64_t)((double)(most - least) * (.2 + .6 * test_random(seed)));
}

/* From class c on, with the residual capacity. */
static int64_t enumerate(const choice *m, int32_t c, int64_t left) {
    int64_t best = INT64_MIN, j;
    if (c == m->classes) return 0;
    for (j = m->begin[c] - (m->at_most_one != 0); j < m->begin[c + 1]; j++) {
        const int64_t weight = j < m->begin[c] ? 0 : m->weight[j], profit = j < m->begin[c] ? 0 : m->profit[j];
        const int64_t rest = weight <= left ? enumerate(m, c + 1, left - weight) : INT64_MIN;
        if (rest != INT64_MIN && rest + profit > best) best = rest + profit;
    }
    return best;
}

int64_t choice_by_enumeration(const choice *m) { return enumerate(m, 0, m->capacity); }

int64_t choice_by_capacities(const choice *m) {
    const size_t size = (size_t)m->capacity + 1;
    int64_t *best = calloc(size, sizeof *best), *now = calloc(size, sizeof *now), *swap, optimum, j, w;
    int32_t c;
    assert_true(m->capacity <= 100000);
    for (c = 0; c < m->classes; c++) {
        for (w = 0; w <= m->capacity; w++) now[w] = m->at_most_one ? best[w] : INT64_MIN;
        for (j = m->begin[c]; j < m->begin[c + 1]; j++)
            for (w = m->weight[j]; w <= m->capacity; w++) {
                const int64_t before = best[w - m->weight[j]];
                if (before != INT64_MIN && before + m->profit[j] > now[w]) now[w] = before + m->profit[j];
            }
        swap = best, best = now, now = swap;
    }
    optimum = best[m->capacity];
    free(best);
    free(now);
    return optimum;
}

gpuopt_knapsack_multiple_choice_desc choice_desc(const choice *m, int64_t states) {
    gpuopt_knapsack_multiple_choice_desc d = GPUOPT_INIT(gpuopt_knapsack_multiple_choice_desc);
    d.classes = m->classes;
    d.at_most_one = m->at_most_one;
    d.begin = m->begin;
    d.weight = m->weight;
    d.profit = m->profit;
    d.capacity = m->capacity;
    d.states = states;
    return d;
}

gpuopt_knapsack_multiple_choice *choice_create(gpuopt_context *context,
                                               const gpuopt_knapsack_multiple_choice_desc *desc) {
    gpuopt_knapsack_multiple_choice *k = NULL;
    assert_int_equal(gpuopt_knapsack_multiple_choice_create(context, desc, NULL, &k), GPUOPT_OK);
    assert_non_null(k);
    return k;
}

gpuopt_knapsack_multiple_choice_info choice_info(gpuopt_knapsack_multiple_choice *knapsack) {
    gpuopt_knapsack_multiple_choice_info info = GPUOPT_INIT(gpuopt_knapsack_multiple_choice_info);
    assert_int_equal(gpuopt_knapsack_multiple_choice_get_info(knapsack, &info), GPUOPT_OK);
    assert_true(info.primal_bound <= info.dual_bound && info.level <= info.levels && info.alive <= info.states);
    assert_true(info.outcome != GPUOPT_OPTIMAL || info.primal_bound == info.dual_bound);
    return info;
}

int64_t choice_check_items(gpuopt_knapsack_multiple_choice *knapsack, const choice *m, int32_t *chosen) {
    int32_t own[CHOICE_CLASSES + 1], *is = chosen ? chosen : own, c;
    int64_t reported = -1, profit = 0, weight = 0;
    memset(is, 7, sizeof *is * (size_t)m->classes);
    assert_int_equal(gpuopt_knapsack_multiple_choice_get_items(knapsack, GPUOPT_HOST, is, &reported), GPUOPT_OK);
    for (c = 0; c < m->classes; c++) {
        if (m->at_most_one && is[c] == -1) continue;
        assert_true(is[c] >= m->begin[c] && is[c] < m->begin[c + 1]);
        profit += m->profit[is[c]];
        weight += m->weight[is[c]];
    }
    assert_true(weight <= m->capacity);
    assert_true(profit == reported && reported == choice_info(knapsack).primal_bound);
    return reported;
}

gpuopt_knapsack_multiple_choice_info choice_finish(gpuopt_knapsack_multiple_choice *knapsack, const choice *m,
                                                   int64_t optimum) {
    gpuopt_knapsack_multiple_choice_info info = GPUOPT_INIT(gpuopt_knapsack_multiple_choice_info);
    assert_int_equal(gpuopt_knapsack_multiple_choice_run(knapsack, 0, 0, &info), GPUOPT_OK);
    if (optimum == INT64_MIN) {
        assert_int_equal(info.outcome, GPUOPT_INFEASIBLE);
        assert_int_equal(gpuopt_knapsack_multiple_choice_get_items(knapsack, GPUOPT_HOST, NULL, NULL),
                         GPUOPT_ERROR_STATE);
        return info;
    }
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    assert_true(info.primal_bound == optimum && info.dual_bound == optimum);
    assert_true(choice_check_items(knapsack, m, NULL) == optimum);
    return info;
}
