/* SPDX-License-Identifier: MIT
 *
 * Knapsack: the arithmetic of a node, the same in C and in CUDA.
 *
 * Items are numbered in the order of decreasing profit per weight. The items of the core, begin .. end - 1, are
 * decided. A node takes some of them, and all items before the core. Its residual capacity is the capacity less the
 * weight of these items, negative if the node is too heavy. Filling a node makes it a solution. If capacity remains,
 * the items after the core are added one after the other as long as they fit. If the node is too heavy, the items
 * before the core are removed from the last one back until it fits. In either case the break item is the item of which
 * a fraction would complete the solution of the linear relaxation (Dantzig). A core that starts empty at the first item
 * gives the textbook's search; a core that grows from the break item in both directions gives Pisinger's expanding
 * core.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_SEARCH_BOUND_H
#define GPUOPT_IMPL_KNAPSACK_SEARCH_BOUND_H

#include "../../common/numerics.h"

/* The sorted items. The sums are modulo 2^64. Only differences of two sums are used, and only if they are the weight or
 * profit of a set that fits, and so below 2^64. */
typedef struct gpuopt__knapsack_items {
    const uint64_t *weight_sum, *profit_sum; /* [items + 1] of the items before */
    const int64_t *weight, *profit;          /* [items] 1 or more */
    const int32_t *reach;                    /* [items] items j .. reach[j] - 1 fit the capacity, one more does not */
} gpuopt__knapsack_items;

/* The problem to search: items first .. last - 1 and a capacity. It may be a part of the whole. */
typedef struct gpuopt__knapsack_view {
    gpuopt__knapsack_items table;
    int32_t first, last;
    int32_t at;       /* the break item when nothing is decided */
    int64_t capacity; /* for these items */
} gpuopt__knapsack_view;

typedef struct gpuopt__knapsack_core {
    int32_t begin, end;
} gpuopt__knapsack_core;

/* A filled node. */
typedef struct gpuopt__knapsack_filled {
    int64_t profit;   /* of a solution */
    int64_t residual; /* the remaining capacity, to be used by a fraction of the break item */
    int32_t at;       /* the break item; `last` of the view: there is none, and no solution below the node is better */
} gpuopt__knapsack_filled;

/* The weight of the items begin .. end - 1, which must fit the capacity. */
GPUOPT_HD int64_t gpuopt__knapsack_weight(const gpuopt__knapsack_items *t, int32_t begin, int32_t end) {
    return (int64_t)(t->weight_sum[end] - t->weight_sum[begin]);
}

/* The largest position in low .. high such that the items from `base` up to it weigh at most `limit`. The items up to
 * low must satisfy this, and the weight up to high must be below 2^64. Galloping search from the hint, then bisection:
 * O(log distance). */
GPUOPT_HD int32_t gpuopt__knapsack_seek(const uint64_t *sum, int32_t base, uint64_t limit, int32_t low, int32_t high,
                                        int32_t hint) {
    const uint64_t from = sum[base];
    int32_t step = 1, at = hint < low ? low : hint < high ? hint : high;
    if (sum[at] - from <= limit) {
        low = at;
        while (low + step <= high && sum[low + step] - from <= limit) {
            low += step;
            step += step;
        }
        if (low + step <= high) high = low + step - 1;
    } else {
        high = at;
        while (high - step > low && sum[high - step] - from > limit) {
            high -= step;
            step += step;
        }
        if (high - step > low) low = high - step;
        high--;
    }
    while (low < high) {
        int32_t middle = low + (high - low + 1) / 2;
        if (sum[middle] - from <= limit) low = middle;
        else high = middle - 1;
    }
    return low;
}

/* Fills a node. Returns 0 if it stays too heavy even without all items before the core. hint: a guess of the break
 * item. */
GPUOPT_HD int gpuopt__knapsack_fill(const gpuopt__knapsack_view *v, gpuopt__knapsack_core core, int64_t residual,
                                    uint64_t profit, int32_t hint, gpuopt__knapsack_filled *f) {
    const gpuopt__knapsack_items *t = &v->table;
    int32_t base = core.end, low = base, high = t->reach[core.end] < v->last ? t->reach[core.end] : v->last;
    int64_t limit = residual;
    if (residual < 0) {
        base = low = v->first;
        high = core.begin - 1;
        limit = gpuopt__knapsack_weight(t, base, core.begin) + residual;
        if (limit < 0) return 0;
    }
    f->at = gpuopt__knapsack_seek(t->weight_sum, base, (uint64_t)limit, low, high, hint);
    f->residual = limit - gpuopt__knapsack_weight(t, base, f->at);
    f->profit = (int64_t)(profit + t->profit_sum[f->at] - t->profit_sum[residual < 0 ? core.begin : core.end]);
    return 1;
}

/* The 128 bits of a * b. */
GPUOPT_HD void gpuopt__knapsack_wide_product(uint64_t a, uint64_t b, uint64_t *high, uint64_t *low) {
#if defined(__CUDA_ARCH__)
    *high = __umul64hi(a, b);
    *low = a * b;
#elif defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    *high = (uint64_t)(product >> 64);
    *low = (uint64_t)product;
#else
    uint64_t a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & 0xffffffffu);
    *high = a1 * b1 + (middle >> 32) + (other >> 32);
    *low = a * b;
#endif
}

/* Whether a * b >= c * d, exactly. */
GPUOPT_HD int gpuopt__knapsack_product_reaches(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    uint64_t left_high, left_low, right_high, right_low;
    gpuopt__knapsack_wide_product(a, b, &left_high, &left_low);
    gpuopt__knapsack_wide_product(c, d, &right_high, &right_low);
    return left_high != right_high ? left_high > right_high : left_low >= right_low;
}

/* Whether Dantzig's bound exceeds `lower`: floor(profit + residual * p / w) > lower, without the division. */
GPUOPT_HD int gpuopt__knapsack_beats(const gpuopt__knapsack_view *v, const gpuopt__knapsack_filled *f, int64_t lower) {
    if (f->profit > lower) return 1;
    if (f->at >= v->last) return 0;
    /* lower - profit + 1 is at most 2^63 */
    return gpuopt__knapsack_product_reaches((uint64_t)f->residual, (uint64_t)v->table.profit[f->at],
                                            (uint64_t)lower - (uint64_t)f->profit + 1,
                                            (uint64_t)v->table.weight[f->at]);
}

/* floor(a * b / c), for a < c < 2^63. */
GPUOPT_HD uint64_t gpuopt__knapsack_product_quotient(uint64_t a, uint64_t b, uint64_t c) {
    uint64_t quotient = 0, rest = 0;
    int k;
    for (k = 63; k >= 0; k--) { /* Horner's rule over the bits of b; rest < c after each */
        rest += rest;
        quotient += quotient;
        if (rest >= c) rest -= c, quotient++;
        if (b >> k & 1) rest += a;
        if (rest >= c) rest -= c, quotient++;
    }
    return quotient;
}

/* The greatest common divisor of two numbers that are not negative. */
GPUOPT_HD int64_t gpuopt__knapsack_common_divisor(int64_t a, int64_t b) {
    while (b && a != 1) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The Lagrangian bound of a node, with the break item's profit per weight (`ratio`) as the multiplier, minus a term
 * that is the same for all nodes of a level. Rounded; the margin of the search covers the error. */
GPUOPT_HD double gpuopt__knapsack_value(int64_t residual, uint64_t profit, double ratio) {
    return gpuopt__add((double)profit, gpuopt__mul((double)residual, ratio));
}

#endif /* GPUOPT_IMPL_KNAPSACK_SEARCH_BOUND_H */
