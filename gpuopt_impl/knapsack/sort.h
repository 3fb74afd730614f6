/* SPDX-License-Identifier: MIT
 *
 * Knapsack: items in the order of decreasing profit per weight, and the tables over them.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_SORT_H
#define GPUOPT_IMPL_KNAPSACK_SORT_H

#include "backend.h"

static int gpuopt__knapsack_ratio_before(const gpuopt__knapsack_item *a, const gpuopt__knapsack_item *b) {
    uint64_t ah, al, bh, bl;
    gpuopt__knapsack_wide_product((uint64_t)a->profit, (uint64_t)b->weight, &ah, &al);
    gpuopt__knapsack_wide_product((uint64_t)b->profit, (uint64_t)a->weight, &bh, &bl);
    if (ah != bh) return ah > bh;
    if (al != bl) return al > bl;
    return a->index < b->index;
}

/* Sorts by decreasing profit per weight, equal ones by index. A merge sort; other [count] is scratch. (qsort may
 * allocate memory, which a step must not.) */
static void gpuopt__knapsack_ratio_sort(gpuopt__knapsack_item *item, gpuopt__knapsack_item *other, int32_t count) {
    gpuopt__knapsack_item *from = item, *to = other, *swap;
    int64_t run, begin;
    for (run = 1; run < count; run *= 2) {
        for (begin = 0; begin < count; begin += 2 * run) {
            int64_t middle = begin + run < count ? begin + run : count;
            int64_t end = begin + 2 * run < count ? begin + 2 * run : count, a = begin, b = middle, k;
            for (k = begin; k < end; k++) {
                int first = b >= end || (a < middle && !gpuopt__knapsack_ratio_before(&from[b], &from[a]));
                to[k] = from[first ? a++ : b++];
            }
        }
        swap = from, from = to, to = swap;
    }
    if (from != item) memcpy(item, from, (size_t)count * sizeof *item);
}

static int64_t gpuopt__knapsack_common_divisor(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Divides weights and profits by their greatest common divisors. Bounds then round down to values that are possible. */
static void gpuopt__knapsack_normalize(gpuopt_knapsack *k, gpuopt__knapsack_item *item, int32_t count) {
    int64_t weight = 0, profit = 0;
    int32_t j;
    for (j = 0; j < count && (weight != 1 || profit != 1); j++) {
        weight = gpuopt__knapsack_common_divisor(item[j].weight, weight);
        profit = gpuopt__knapsack_common_divisor(item[j].profit, profit);
    }
    for (j = 0; j < count && (weight > 1 || profit > 1); j++) {
        item[j].weight /= weight;
        item[j].profit /= profit;
    }
    if (count == 0) return;
    k->unit *= profit;
    k->search.view.capacity /= weight;
}

/* Fills the tables of the handle and the view of its search. The items are sorted, and each fits the view's
 * capacity. */
static void gpuopt__knapsack_tabulate(gpuopt_knapsack *k, const gpuopt__knapsack_item *item, int32_t count) {
    gpuopt__knapsack_view *v = &k->search.view;
    int64_t used = 0;
    int32_t j, at = 0;
    k->weight_sum[0] = k->profit_sum[0] = 0;
    for (j = 0; j < count; j++) {
        k->sorted_weight[j] = item[j].weight;
        k->sorted_profit[j] = item[j].profit;
        k->order[j] = item[j].index;
        k->weight_sum[j + 1] = k->weight_sum[j] + (uint64_t)item[j].weight;
        k->profit_sum[j + 1] = k->profit_sum[j] + (uint64_t)item[j].profit;
    }
    for (j = 0; j < count; j++) { /* items j .. at - 1 weigh `used` */
        while (at < count && item[at].weight <= v->capacity - used) used += item[at++].weight;
        k->reach[j] = at;
        used -= item[j].weight;
    }
    k->reach[count] = count;
    v->table.weight_sum = k->weight_sum;
    v->table.profit_sum = k->profit_sum;
    v->table.weight = k->sorted_weight;
    v->table.profit = k->sorted_profit;
    v->table.reach = k->reach;
    v->first = 0;
    v->last = count;
    v->at = k->reach[0];
}

/* Prepares a search of its view: the order in which items are decided, the ratio of the break item, and the margin for
 * rounding errors of bounds by that ratio. bound: Dantzig's bound of the view, or more. */
static void gpuopt__knapsack_order(gpuopt__knapsack_search *s, const gpuopt__knapsack_lists *lists, int64_t bound) {
    const gpuopt__knapsack_view *v = &s->view;
    const gpuopt__knapsack_items *t = &v->table;
    int32_t level, begin = v->at, end = begin;
    s->list = lists->list;
    s->decided = lists->decided;
    s->begin = lists->begin;
    s->least_loss = lists->least_loss;
    s->levels = v->last - v->first;
    s->depth = 0;
    s->used[0] = s->used[1] = 0;
    s->ratio = v->at < v->last ? (double)t->profit[v->at] / (double)t->weight[v->at] : 0;
    s->margin = ((double)bound + 1) * 0x1p-46; /* a dozen roundings of numbers of at most twice the bound */
    for (level = 0; level <= s->levels; level++) {
        lists->begin[level] = s->dominance ? begin : v->first;
        if (level == s->levels) break;
        if (begin == v->first) end++;
        else if (end == v->last) begin--;
        else { /* the core grows towards the item whose ratio is nearer */
            double above = (double)t->profit[begin - 1] / (double)t->weight[begin - 1] - s->ratio;
            double below = s->ratio - (double)t->profit[end] / (double)t->weight[end];
            if (below < above) end++;
            else begin--;
        }
    }
    for (level = s->levels - 1; level >= 0; level--) {
        double loss = gpuopt__knapsack_loss(s, gpuopt__knapsack_item_of(s, level));
        lists->least_loss[level] = level + 1 < s->levels ? gpuopt__max(loss, lists->least_loss[level + 1])
                                                         : loss; /* losses are negative or 0 */
    }
}

#endif /* GPUOPT_IMPL_KNAPSACK_SORT_H */
