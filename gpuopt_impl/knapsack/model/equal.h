/* SPDX-License-Identifier: MIT
 *
 * Knapsack: equal items as bundles. Solutions that differ only in the choice among equal items are alike. So half of u
 * equal items (rounded up) become one item of the search, half of the rest the next, and so on. This gives about log2 u
 * bundles, as with the copies of one item (copies.h). The search then has fewer levels, and its lists fewer nodes.
 * Greedy solutions and reduction come before, since they are better with single items. (R. F. F. da Silva, T. A. de
 * Queiroz, R. C. S. Schouery report that reducing multiplicities pays: Solving Hard Instances from Knapsack and Bounded
 * Knapsack Problems, arXiv 2604.05232, 2026.)
 */
#ifndef GPUOPT_IMPL_KNAPSACK_MODEL_EQUAL_H
#define GPUOPT_IMPL_KNAPSACK_MODEL_EQUAL_H

#include "prepare.h"

/* The end of the sorted items from `begin` on with the same profit per weight. */
static int32_t gpuopt__knapsack_ratio_end(const gpuopt__knapsack_view *v, int32_t begin) {
    const gpuopt__knapsack_items *t = &v->table;
    int32_t end = begin + 1;
    while (end < v->last && gpuopt__knapsack_product_reaches((uint64_t)t->profit[end], (uint64_t)t->weight[begin],
                                                             (uint64_t)t->profit[begin], (uint64_t)t->weight[end]))
        end++;
    return end;
}

/* Makes bundles of the equal sorted items item[0 .. equal - 1]. At most as many as fit can be taken; the others are
 * fixed out. The bundles replace the items; returns their number. */
static int32_t gpuopt__knapsack_bundle(gpuopt_knapsack *k, gpuopt__knapsack_item *item, int32_t equal) {
    const gpuopt__knapsack_view *v = &k->search.view;
    const int64_t weight = v->table.weight[item->index], profit = v->table.profit[item->index],
                  fit = v->capacity / weight;
    int32_t at = 0, bundles = 0, left, j;
    while (equal > fit) k->fixed[k->order[item[--equal].index]] = 0;
    for (left = equal; left > 0;) {
        const int32_t size = (int32_t)gpuopt__knapsack_piece(left), first = k->order[item[at].index];
        for (j = 1; j < size; j++) {
            const int32_t piece = k->order[item[at + j].index];
            k->next[k->order[item[at + j - 1].index]] = piece;
            k->copies[first] += k->copies[piece];
        }
        at += size;
        left -= size;
        item[bundles].weight = size * weight;
        item[bundles].profit = size * profit;
        item[bundles++].index = first;
    }
    return bundles;
}

/* Writes the sorted items begin .. end - 1, all of one profit per weight, to item[to] and after it, equal items as
 * bundles. Returns the place after them. */
static int32_t gpuopt__knapsack_bundle_run(gpuopt_knapsack *k, int32_t begin, int32_t end, int32_t to) {
    const gpuopt__knapsack_view *v = &k->search.view;
    gpuopt__knapsack_item *item = k->scratch;
    int32_t j, from;
    for (j = begin; j < end; j++) {
        item[j].weight = v->table.weight[j];
        item[j].profit = 1; /* so that a sort by ratio is a sort by weight */
        item[j].index = j;
    }
    gpuopt__knapsack_ratio_sort(item + begin, item + v->last, end - begin);
    for (from = begin; from < end; from = j) {
        for (j = from + 1; j < end && item[j].weight == item[from].weight; j++) {}
        memmove(item + to, item + from, (size_t)(j - from) * sizeof *item);
        to += gpuopt__knapsack_bundle(k, item + to, j - from);
    }
    return to;
}

/* Makes bundles of equal items. Then the handle's tables hold the bundles. O(n log n) */
static void gpuopt__knapsack_bundle_all(gpuopt_knapsack *k) {
    const gpuopt__knapsack_view *v = &k->search.view;
    int32_t begin, end, count = 0;
    for (begin = 0; begin < v->last; begin = end) {
        end = gpuopt__knapsack_ratio_end(v, begin);
        if (end > begin + 1) count = gpuopt__knapsack_bundle_run(k, begin, end, count);
        else {
            k->scratch[count].weight = v->table.weight[begin];
            k->scratch[count].profit = v->table.profit[begin];
            k->scratch[count++].index = k->order[begin];
        }
    }
    k->bundles -= v->last - count;
    if (count < v->last) gpuopt__knapsack_tabulate(k, k->scratch, count);
    else if (!k->most) k->copies = NULL; /* one of each item */
}

#endif /* GPUOPT_IMPL_KNAPSACK_MODEL_EQUAL_H */
