/* SPDX-License-Identifier: MIT
 *
 * Knapsack: items in the order of decreasing profit per weight, and the tables over them.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_MODEL_SORT_H
#define GPUOPT_IMPL_KNAPSACK_MODEL_SORT_H

#include "handle.h"

static int gpuopt__knapsack_ratio_before(const gpuopt__knapsack_item *a, const gpuopt__knapsack_item *b) {
    uint64_t ah, al, bh, bl;
    gpuopt__knapsack_wide_product((uint64_t)a->profit, (uint64_t)b->weight, &ah, &al);
    gpuopt__knapsack_wide_product((uint64_t)b->profit, (uint64_t)a->weight, &bh, &bl);
    if (ah != bh) return ah > bh;
    if (al != bl) return al > bl;
    return a->index < b->index;
}

/* The upper bits of the ratio as a double (its sign is 0), inverted: of two items the item with the lower key comes
 * first, unless rounding has decided. */
static uint32_t gpuopt__knapsack_ratio_key(const gpuopt__knapsack_item *item) {
    const double ratio = (double)item->profit / (double)item->weight;
    uint64_t bits;
    memcpy(&bits, &ratio, sizeof bits);
    return (uint32_t) ~(bits >> 31);
}

enum {
    GPUOPT__KNAPSACK_DIGIT = 11, /* bits of the key that one pass of the radix sort reads */
    GPUOPT__KNAPSACK_FEW = 512,  /* fewer items are only merged */
    GPUOPT__KNAPSACK_FAR = 4     /* places that insertion may move an item by on average */
};

/* Sorts by the keys, in three passes; the result is in `other`. */
static void gpuopt__knapsack_radix_sort(gpuopt__knapsack_item *item, gpuopt__knapsack_item *other, int32_t count) {
    int32_t place[1 << GPUOPT__KNAPSACK_DIGIT], j, sum, next;
    gpuopt__knapsack_item *from = item, *to = other, *swap;
    int shift;
    for (j = 0; j < count; j++) item[j].key = gpuopt__knapsack_ratio_key(&item[j]);
    for (shift = 0; shift < 32; shift += GPUOPT__KNAPSACK_DIGIT) {
        memset(place, 0, sizeof place);
        for (j = 0; j < count; j++) place[from[j].key >> shift & ((1 << GPUOPT__KNAPSACK_DIGIT) - 1)]++;
        for (sum = 0, j = 0; j < 1 << GPUOPT__KNAPSACK_DIGIT; j++) next = place[j], place[j] = sum, sum += next;
        for (j = 0; j < count; j++) to[place[from[j].key >> shift & ((1 << GPUOPT__KNAPSACK_DIGIT) - 1)]++] = from[j];
        swap = from, from = to, to = swap;
    }
    memcpy(item, other, (size_t)count * sizeof *item);
}

/* Sorts by insertion. Returns 0 if that would take long; the items are then in another order than before. */
static int gpuopt__knapsack_insertion_sort(gpuopt__knapsack_item *item, int32_t count) {
    int64_t left = GPUOPT__KNAPSACK_FAR * (int64_t)count;
    int32_t j, at;
    for (j = 1; j < count && left >= 0; j++) {
        const gpuopt__knapsack_item next = item[j];
        for (at = j; at > 0 && gpuopt__knapsack_ratio_before(&next, &item[at - 1]); at--, left--)
            item[at] = item[at - 1];
        item[at] = next;
    }
    return left >= 0;
}

/* Sorts by decreasing profit per weight, equal ratios by index. Many items are sorted by the upper bits of the ratio
 * first, then by insertion, which is fast unless many ratios are close; otherwise by merging. other [count] is scratch.
 * (qsort may allocate memory, which a step must not.) */
static void gpuopt__knapsack_ratio_sort(gpuopt__knapsack_item *item, gpuopt__knapsack_item *other, int32_t count) {
    gpuopt__knapsack_item *from = item, *to = other, *swap;
    int64_t run, begin;
    if (count >= GPUOPT__KNAPSACK_FEW) {
        gpuopt__knapsack_radix_sort(item, other, count);
        if (gpuopt__knapsack_insertion_sort(item, count)) return;
    }
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

/* Divides weights and profits by their greatest common divisors. Bounds then round down to attainable values. */
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
    s->used[0] = s->used[1] = s->remote = 0;
    s->ratio = v->at < v->last ? (double)t->profit[v->at] / (double)t->weight[v->at] : 0;
    s->margin = ((double)bound + 1) * 0x1p-46; /* a dozen roundings of numbers of at most twice the bound */
    for (level = 0; level <= s->levels; level++) {
        lists->begin[level] = s->dominance ? begin : v->first;
        if (level == s->levels) break;
        if (begin == v->first) end++;
        else if (end == v->last) begin--;
        else { /* the core grows towards the item with the nearer ratio */
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

#endif /* GPUOPT_IMPL_KNAPSACK_MODEL_SORT_H */
