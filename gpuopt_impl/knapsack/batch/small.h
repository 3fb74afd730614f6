/* SPDX-License-Identifier: MIT
 *
 * A small knapsack of a batch: depth-first branch and bound over the numbers of copies of its items, by one thread, the
 * same in C and in CUDA.
 *
 * Items are in the order of decreasing profit per weight. A node has decided the items before `at`. From there on the
 * search takes all copies of one item after the other until the copies of one item, the break item, do not all fit.
 * Dantzig's bound fills the residual capacity with a fraction of that item. If the bound cannot beat the best solution
 * known, the node is dropped. So are the nodes with fewer copies of the item decided last, since the bound is a concave
 * function of that number and has been falling towards 0. Otherwise the search takes as many copies of the break item
 * as fit, and continues behind it. A node where no more items fit is a solution. Then the last item that has a copy
 * returns one. Profits are multiples of their greatest common divisor, and so are weights; this rounds the bound and
 * the capacity down.
 *
 * After E. Horowitz, S. Sahni: Computing Partitions with Applications to the Knapsack Problem. Journal of the ACM 21,
 * 1974; for several copies of an item S. Martello, P. Toth: Knapsack Problems. Wiley, 1990, chapter 3.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_BATCH_SMALL_H
#define GPUOPT_IMPL_KNAPSACK_BATCH_SMALL_H

#include "../../common/backend.h"
#include "../search/bound.h"

/* The knapsacks of a call, where the backend can read them. */
typedef struct gpuopt__knapsack_given {
    const int64_t *weight, *profit, *capacity;
    const int32_t *upper; /* NULL: 1 */
    int64_t weight_stride, profit_stride, capacity_stride, upper_stride;
    int32_t items;
} gpuopt__knapsack_given;

/* The arrays for the results, each [knapsacks]; NULL: not wanted. */
typedef struct gpuopt__knapsack_wanted {
    int32_t *outcome;
    int64_t *lower, *upper, *nodes;
    int32_t *taken; /* [knapsacks][items] */
} gpuopt__knapsack_wanted;

enum { GPUOPT__KNAPSACK_SMALL_ITEMS = 256 }; /* the most items */

/* The fault of a knapsack. A word holds the fault, the item and the knapsack, so that the least word belongs to the
 * first faulty knapsack. */
enum {
    GPUOPT__KNAPSACK_SMALL_CAPACITY = 0, /* is negative */
    GPUOPT__KNAPSACK_SMALL_WEIGHT,       /* a weight is negative */
    GPUOPT__KNAPSACK_SMALL_UPPER,        /* a number of copies is negative */
    GPUOPT__KNAPSACK_SMALL_PROFIT        /* the useful copies have more than 2^63 - 1 together */
};
#define GPUOPT__KNAPSACK_SMALL_NO_FAULT UINT64_MAX
GPUOPT_HD uint64_t gpuopt__knapsack_small_word(int64_t k, int32_t item, int code) {
    return (uint64_t)k << 16 | (uint64_t)item << 2 | (uint64_t)code;
}
GPUOPT_HD int64_t gpuopt__knapsack_small_word_knapsack(uint64_t word) { return (int64_t)(word >> 16); }
GPUOPT_HD int gpuopt__knapsack_small_word_item(uint64_t word) { return (int)(word >> 2 & 0x3fff); }
GPUOPT_HD int gpuopt__knapsack_small_word_code(uint64_t word) { return (int)(word & 3); }

/* A useful item, in the order of the search. */
typedef struct gpuopt__knapsack_small_item {
    int64_t weight, profit;
    int64_t least; /* least weight of this item and the following ones */
    int32_t most;  /* most copies, all of which fit: most * weight is at most the capacity */
    int32_t taken; /* in the present node, if the item is decided */
    int32_t best;  /* in the best solution */
    int32_t index; /* in the descriptor */
} gpuopt__knapsack_small_item;

typedef struct gpuopt__knapsack_small_search {
    gpuopt__knapsack_small_item *item;
    int32_t items, free; /* the first `free` items have no weight, and are taken */
    int32_t decided;     /* the item decided last; free - 1: none */
    int32_t at;          /* the item to continue with */
    int32_t over;
    int64_t residual, profit; /* of the items before `at`, without the free items */
    int64_t best, upper;      /* profit of the best solution; Dantzig's bound; likewise */
    int64_t step;             /* divides all profits */
    int64_t base;             /* profit of the free items */
    int64_t nodes;
} gpuopt__knapsack_small_search;

/* Item j of knapsack k as given; `most` 0: the item is useless. */
GPUOPT_HD gpuopt__knapsack_small_item gpuopt__knapsack_small_read(const gpuopt__knapsack_given *g, int64_t k, int32_t j,
                                                                  int64_t capacity) {
    gpuopt__knapsack_small_item item;
    item.weight = g->weight[k * g->weight_stride + j];
    item.profit = g->profit[k * g->profit_stride + j];
    item.most = g->upper ? g->upper[k * g->upper_stride + j] : 1;
    item.least = 0;
    item.taken = item.best = 0;
    item.index = j;
    if (item.profit <= 0 || item.weight > capacity) item.most = 0;
    else if (item.most > 1 && item.weight > 0 && item.most > capacity / item.weight)
        item.most = (int32_t)(capacity / item.weight);
    return item;
}

/* The fault of knapsack k. */
GPUOPT_HD uint64_t gpuopt__knapsack_small_fault(const gpuopt__knapsack_given *g, int64_t k) {
    const int64_t capacity = g->capacity[k * g->capacity_stride];
    uint64_t left = INT64_MAX, high, low;
    int32_t j;
    if (capacity < 0) return gpuopt__knapsack_small_word(k, 0, GPUOPT__KNAPSACK_SMALL_CAPACITY);
    for (j = 0; j < g->items; j++) {
        gpuopt__knapsack_small_item item;
        if (g->weight[k * g->weight_stride + j] < 0)
            return gpuopt__knapsack_small_word(k, j, GPUOPT__KNAPSACK_SMALL_WEIGHT);
        if (g->upper && g->upper[k * g->upper_stride + j] < 0)
            return gpuopt__knapsack_small_word(k, j, GPUOPT__KNAPSACK_SMALL_UPPER);
        item = gpuopt__knapsack_small_read(g, k, j, capacity);
        if (item.most == 0) continue;
        gpuopt__knapsack_wide_product((uint64_t)item.profit, (uint64_t)item.most, &high, &low);
        if (high > 0 || low > left) return gpuopt__knapsack_small_word(k, j, GPUOPT__KNAPSACK_SMALL_PROFIT);
        left -= low;
    }
    return GPUOPT__KNAPSACK_SMALL_NO_FAULT;
}

/* Whether a comes before b, which has a larger index: unless b has more profit per weight. */
GPUOPT_HD int gpuopt__knapsack_small_before(const gpuopt__knapsack_small_item *a,
                                            const gpuopt__knapsack_small_item *b) {
    return gpuopt__knapsack_product_reaches((uint64_t)a->profit, (uint64_t)b->weight, (uint64_t)b->profit,
                                            (uint64_t)a->weight);
}

/* Dantzig's bound of the node that continues at `at`. */
GPUOPT_HD int64_t gpuopt__knapsack_small_bound(const gpuopt__knapsack_small_search *s, int32_t at, int64_t residual,
                                               int64_t profit) {
    const gpuopt__knapsack_small_item *item = s->item;
    int64_t fits;
    for (; at < s->items; at++) {
        fits = item[at].most * item[at].weight <= residual ? item[at].most : residual / item[at].weight;
        residual -= fits * item[at].weight;
        profit += fits * item[at].profit;
        if (fits == item[at].most) continue;
        profit += (int64_t)gpuopt__knapsack_product_quotient((uint64_t)residual, (uint64_t)item[at].profit,
                                                             (uint64_t)item[at].weight);
        break;
    }
    return profit - profit % s->step;
}

/* Begins the search of knapsack k, which has no fault. item [g->items] */
GPUOPT_HD void gpuopt__knapsack_small_begin(const gpuopt__knapsack_given *g, int64_t k,
                                            gpuopt__knapsack_small_item *item, gpuopt__knapsack_small_search *s) {
    const int64_t capacity = g->capacity[k * g->capacity_stride];
    int64_t common = 0;
    int32_t j, low, high, count = 0;
    s->item = item;
    s->step = s->base = 0;
    for (j = 0; j < g->items; j++) { /* insertion, with the place found by bisection */
        const gpuopt__knapsack_small_item next = gpuopt__knapsack_small_read(g, k, j, capacity);
        if (next.most == 0) continue;
        low = 0;
        high = count;
        while (low < high) {
            const int32_t middle = (low + high) / 2;
            if (gpuopt__knapsack_small_before(&item[middle], &next)) low = middle + 1;
            else high = middle;
        }
        for (high = count++; high > low; high--) item[high] = item[high - 1];
        item[low] = next;
    }
    for (j = 0; j < count && item[j].weight == 0; j++) {
        item[j].best = item[j].most;
        s->base += item[j].most * item[j].profit;
    }
    s->items = count;
    s->free = s->at = j;
    s->decided = j - 1;
    for (; j < count; j++) {
        s->step = gpuopt__knapsack_common_divisor(item[j].profit, s->step);
        common = gpuopt__knapsack_common_divisor(item[j].weight, common);
    }
    if (s->step == 0) s->step = common = 1; /* no items */
    for (j = count - 1; j >= s->free; j--)
        item[j].least = j + 1 < count && item[j + 1].least < item[j].weight ? item[j + 1].least : item[j].weight;
    s->residual = capacity - capacity % common;
    s->profit = s->best = s->nodes = 0;
    s->upper = gpuopt__knapsack_small_bound(s, s->at, s->residual, 0);
    s->over = s->upper == 0;
}

/* Returns `copies` copies of item j. */
GPUOPT_HD void gpuopt__knapsack_small_give_back(gpuopt__knapsack_small_search *s, int32_t j, int32_t copies) {
    gpuopt__knapsack_small_item *item = &s->item[j];
    item->taken -= copies;
    s->residual += copies * item->weight;
    s->profit -= copies * item->profit;
}

/* Stores the solution of a node if it is the best so far. The node has decided the items before `end`, and no more
 * items fit. */
GPUOPT_HD void gpuopt__knapsack_small_found(gpuopt__knapsack_small_search *s, int32_t end) {
    int32_t j;
    if (s->profit <= s->best) return;
    s->best = s->profit;
    for (j = s->free; j < s->items; j++) s->item[j].best = j < end ? s->item[j].taken : 0;
}

/* Whether Dantzig's bound of a node with that break item exceeds the best profit. */
GPUOPT_HD int gpuopt__knapsack_small_beats(const gpuopt__knapsack_small_search *s, int32_t at) {
    if (s->profit > s->best) return 1;
    return gpuopt__knapsack_product_reaches((uint64_t)s->residual, (uint64_t)s->item[at].profit,
                                            (uint64_t)(s->best - s->profit) + (uint64_t)s->step,
                                            (uint64_t)s->item[at].weight);
}

/* A node. */
GPUOPT_HD void gpuopt__knapsack_small_advance(gpuopt__knapsack_small_search *s) {
    gpuopt__knapsack_small_item *item = s->item;
    int32_t at = s->at, last;
    s->nodes++;
    for (; at < s->items && item[at].most * item[at].weight <= s->residual; at++) {
        item[at].taken = item[at].most;
        s->residual -= item[at].most * item[at].weight;
        s->profit += item[at].most * item[at].profit;
    }
    last = at;
    if (at < s->items && gpuopt__knapsack_small_beats(s, at)) {
        item[at].taken = item[at].weight > s->residual ? 0 : (int32_t)(s->residual / item[at].weight);
        s->residual -= item[at].taken * item[at].weight;
        s->profit += item[at].taken * item[at].profit;
        s->decided = at++;
        s->at = at;
        if (at < s->items && item[at].least <= s->residual) return;
        gpuopt__knapsack_small_found(s, at);
    } else {
        if (at == s->items) gpuopt__knapsack_small_found(s, at);
        while (--last > s->decided) gpuopt__knapsack_small_give_back(s, last, item[last].taken);
        if (last >= s->free) gpuopt__knapsack_small_give_back(s, last, item[last].taken);
        at = last;
    }
    s->over = s->best >= s->upper;
    while (!s->over && --at >= s->free && item[at].taken == 0) continue;
    if (s->over || at < s->free) {
        s->over = 1;
        return;
    }
    gpuopt__knapsack_small_give_back(s, at, 1);
    s->decided = at;
    s->at = at + 1;
}

/* No solution has more profit than the present one; ends the search. */
GPUOPT_HD int64_t gpuopt__knapsack_small_upper(gpuopt__knapsack_small_search *s) {
    int64_t upper = s->best, bound;
    int32_t j;
    if (s->over) return upper;
    bound = gpuopt__knapsack_small_bound(s, s->at, s->residual, s->profit);
    for (j = s->at; j >= s->free; j--) {
        if (bound > upper) upper = bound;
        if (j == s->free) break;
        bound = 0;
        if (s->item[j - 1].taken == 0) continue;
        gpuopt__knapsack_small_give_back(s, j - 1, 1);
        bound = gpuopt__knapsack_small_bound(s, j, s->residual, s->profit);
        gpuopt__knapsack_small_give_back(s, j - 1, s->item[j - 1].taken);
    }
    return upper < s->upper ? upper : s->upper;
}

/* The results of knapsack k; s is the state of its search. */
GPUOPT_HD void gpuopt__knapsack_small_report(const gpuopt__knapsack_given *g, int64_t k,
                                             gpuopt__knapsack_small_search *s, const gpuopt__knapsack_wanted *w) {
    int32_t j;
    if (w->outcome) w->outcome[k] = s->over ? GPUOPT_OPTIMAL : GPUOPT_LIMIT;
    if (w->lower) w->lower[k] = s->base + s->best;
    if (w->nodes) w->nodes[k] = s->nodes;
    if (w->upper) w->upper[k] = s->base + gpuopt__knapsack_small_upper(s);
    if (!w->taken) return;
    for (j = 0; j < g->items; j++) w->taken[k * g->items + j] = 0;
    for (j = 0; j < s->items; j++) w->taken[k * g->items + s->item[j].index] = s->item[j].best;
}

/* The results of a knapsack that was not started. */
GPUOPT_HD void gpuopt__knapsack_small_skip(const gpuopt__knapsack_given *g, int64_t k,
                                           const gpuopt__knapsack_wanted *w) {
    int32_t j;
    if (w->outcome) w->outcome[k] = GPUOPT_MORE;
    if (w->lower) w->lower[k] = 0;
    if (w->nodes) w->nodes[k] = 0;
    if (w->upper) w->upper[k] = INT64_MAX;
    for (j = 0; w->taken && j < g->items; j++) w->taken[k * g->items + j] = 0;
}

/* Solves knapsack k, in up to `limit` nodes. item [g->items] and s are scratch. */
GPUOPT_HD void gpuopt__knapsack_small_solve(const gpuopt__knapsack_given *g, int64_t k, int64_t limit,
                                            gpuopt__knapsack_small_item *item, gpuopt__knapsack_small_search *s,
                                            const gpuopt__knapsack_wanted *w) {
    gpuopt__knapsack_small_begin(g, k, item, s);
    while (!s->over && s->nodes < limit) gpuopt__knapsack_small_advance(s);
    gpuopt__knapsack_small_report(g, k, s, w);
}

#endif /* GPUOPT_IMPL_KNAPSACK_BATCH_SMALL_H */
