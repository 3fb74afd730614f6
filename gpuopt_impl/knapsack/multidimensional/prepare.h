/* SPDX-License-Identifier: MIT
 *
 * Multidimensional knapsacks: the work of _create. The multipliers of the linear relaxation give each item's preferred
 * decision. Relaxations with one capacity changed give more multipliers. With each set of multipliers, items are added
 * in two orders, for a first solution. Items are fixed if their other decision cannot lead to a better solution.
 * Finally the tables of the search are filled.
 *
 * Overflow: the weights of a row's items that fit are at most 2^58 together, and so are the profits of all. Scale times
 * the profits, and multipliers times the weights, are kept within the same limit. So a bound is at most 2^59, and so is
 * the sum that all decisions subtract from it.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_MULTIDIMENSIONAL_PREPARE_H
#define GPUOPT_IMPL_KNAPSACK_MULTIDIMENSIONAL_PREPARE_H

#include "../../common/checks.h"
#include "lp.h"
#include "../search/bound.h"

#define GPUOPT__KNAPSACK_MULTI_MOST ((int64_t)1 << 58)

/* The data that only _create needs. */
typedef struct gpuopt__knapsack_multi_draft {
    gpuopt__knapsack_multi_lp lp;
    int64_t *key;                                                                  /* [items] of a sort, by item */
    int32_t *order;                                                                /* [items] */
    int64_t multiplier[GPUOPT__KNAPSACK_MULTI_WIDTH][GPUOPT__KNAPSACK_MULTI_ROWS]; /* of each bound, in 1 / scale */
    int64_t scale[GPUOPT__KNAPSACK_MULTI_WIDTH];
    int64_t weighs[GPUOPT__KNAPSACK_MULTI_ROWS]; /* all items that fit, in each row */
    int64_t profits;                             /* of these, in units */
} gpuopt__knapsack_multi_draft;

static uint64_t gpuopt__knapsack_multi_cut_draft(void *memory, int32_t rows, int32_t items,
                                                 gpuopt__knapsack_multi_draft *d) {
    const uint64_t lp = gpuopt__knapsack_multi_cut_lp(memory, rows, items, &d->lp);
    gpuopt__arena arena;
    arena.base = (char *)memory;
    arena.used = lp;
    d->key = (int64_t *)gpuopt__cut(&arena, items, sizeof(int64_t));
    d->order = (int32_t *)gpuopt__cut(&arena, items > 0 ? items : 1, sizeof(int32_t)); /* never zero bytes */
    return arena.used;
}

/* Sorts items by decreasing keys; equal keys keep their order. */
static void gpuopt__knapsack_multi_sort(const int64_t *key, int32_t *item, int32_t count) {
    int32_t j;
    for (j = 1; j < count; j++) {
        const int32_t next = item[j];
        int32_t low = 0, high = j;
        while (low < high) {
            const int32_t middle = (low + high) / 2;
            if (key[item[middle]] >= key[next]) low = middle + 1;
            else high = middle;
        }
        memmove(item + low + 1, item + low, sizeof *item * (size_t)(j - low));
        item[low] = next;
    }
}

static int64_t gpuopt__knapsack_multi_weight(const gpuopt_knapsack_multidimensional *k, int32_t row, int32_t item) {
    return k->weight[(int64_t)row * k->desc.items + item];
}

/* ---- Multipliers ---- */

/* Rounds multipliers to integers. */
static void gpuopt__knapsack_multi_set_multipliers(const gpuopt_knapsack_multidimensional *k,
                                                   gpuopt__knapsack_multi_draft *d, int32_t which, const double *u) {
    int32_t i;
    d->scale[which] = 1;
    while (2 * d->scale[which] <= (GPUOPT__KNAPSACK_MULTI_MOST >> 8) / (d->profits > 0 ? d->profits : 1))
        d->scale[which] *= 2;
    for (i = 0; i < k->desc.rows; i++) {
        const int64_t most = GPUOPT__KNAPSACK_MULTI_MOST / k->desc.rows / (d->weighs[i] > 0 ? d->weighs[i] : 1);
        const double wanted = u[i] * (double)d->scale[which] + .5;
        d->multiplier[which][i] = wanted < (double)most ? (int64_t)wanted : most;
    }
}

/* The gain of taking an item in this bound, in 1 / scale. */
static int64_t gpuopt__knapsack_multi_gain(const gpuopt_knapsack_multidimensional *k,
                                           const gpuopt__knapsack_multi_draft *d, int32_t which, int32_t item) {
    int64_t gain = d->scale[which] * (k->profit[item] / k->unit);
    int32_t i;
    for (i = 0; i < k->desc.rows; i++) gain -= d->multiplier[which][i] * gpuopt__knapsack_multi_weight(k, i, item);
    return gain;
}

/* The bound itself for these items and k->residual. */
static int64_t gpuopt__knapsack_multi_bound(const gpuopt_knapsack_multidimensional *k,
                                            const gpuopt__knapsack_multi_draft *d, int32_t which, const int32_t *item,
                                            int32_t count) {
    int64_t bound = 0;
    int32_t i, j;
    for (i = 0; i < k->desc.rows; i++) bound += d->multiplier[which][i] * k->residual[i];
    for (j = 0; j < count; j++) {
        const int64_t gain = gpuopt__knapsack_multi_gain(k, d, which, item[j]);
        if (gain > 0) bound += gain;
    }
    return bound;
}

/* ---- A first solution ---- */

/* Takes the items in this order, as far as they fit; keeps the solution if it is better. */
static void gpuopt__knapsack_multi_fill(gpuopt_knapsack_multidimensional *k, const int32_t *item, int32_t count) {
    int64_t left[GPUOPT__KNAPSACK_MULTI_ROWS], profit = 0;
    int32_t i, j;
    for (i = 0; i < k->desc.rows; i++) left[i] = k->residual[i];
    memset(k->trial, 0, (size_t)k->desc.items);
    for (j = 0; j < count; j++) {
        int fits = 1;
        for (i = 0; i < k->desc.rows; i++) fits &= gpuopt__knapsack_multi_weight(k, i, item[j]) <= left[i];
        if (!fits) continue;
        for (i = 0; i < k->desc.rows; i++) left[i] -= gpuopt__knapsack_multi_weight(k, i, item[j]);
        profit += k->profit[item[j]] / k->unit;
        k->trial[item[j]] = 1;
    }
    if (profit <= k->lower) return;
    k->lower = profit;
    memcpy(k->taken, k->trial, (size_t)k->desc.items);
}

/* Fills by each item's gain in this bound, then by its profit per weight at the multipliers' prices. */
static void gpuopt__knapsack_multi_try(gpuopt_knapsack_multidimensional *k, gpuopt__knapsack_multi_draft *d,
                                       int32_t which, int32_t count) {
    int32_t j;
    memcpy(d->order, k->item, sizeof *d->order * (size_t)count);
    for (j = 0; j < count; j++) d->key[k->item[j]] = gpuopt__knapsack_multi_gain(k, d, which, k->item[j]);
    gpuopt__knapsack_multi_sort(d->key, d->order, count);
    gpuopt__knapsack_multi_fill(k, d->order, count);
    for (j = 0; j < count; j++) {
        const double scaled_profit = (double)(d->scale[which] * (k->profit[k->item[j]] / k->unit));
        const double price = scaled_profit - (double)d->key[k->item[j]];
        d->key[k->item[j]] =
            price * 1000 > scaled_profit ? (int64_t)(scaled_profit / price * 0x1p40) : (int64_t)1 << 60;
    }
    gpuopt__knapsack_multi_sort(d->key, d->order, count);
    gpuopt__knapsack_multi_fill(k, d->order, count);
}

/* ---- Bounds ---- */

/* Makes one bound from the linear relaxation, and more from relaxations with one capacity made smaller or larger. Each
 * relaxation gives solutions, too. */
static void gpuopt__knapsack_multi_make_bounds(gpuopt_knapsack_multidimensional *k, gpuopt__knapsack_multi_draft *d,
                                               int32_t count) {
    static const double change[] = {.9, 1.1, .95, 1.05, .8, 1.2};
    const int32_t rows = k->desc.rows;
    int32_t which, i;
    d->scale[1] = 1;
    memset(d->multiplier[1], 0, sizeof d->multiplier[1]);
    for (which = 0; which < k->table.width; which = which == 0 ? 2 + rows : which + 1) {
        const int32_t turn = which - 2 - rows;
        double factor[GPUOPT__KNAPSACK_MULTI_ROWS], u[GPUOPT__KNAPSACK_MULTI_ROWS];
        d->scale[which] = 0;
        if (which > 0 && rows == 0) continue;
        for (i = 0; i < rows; i++) factor[i] = 1;
        if (which > 0) factor[turn / 2 % rows] = change[turn % 2 + turn / (2 * rows) % 3 * 2];
        gpuopt__knapsack_multi_duals(k, &d->lp, k->item, count, factor, u);
        gpuopt__knapsack_multi_set_multipliers(k, d, which, u);
        gpuopt__knapsack_multi_try(k, d, which, count);
    }
}

/* ---- Reduction ---- */

/* Fixes items at their preferred decision if the other one could not beat the first solution; the rest are k->item, in
 * the order of the levels. Returns how many; -1: there is no better solution. */
static int32_t gpuopt__knapsack_multi_reduce(gpuopt_knapsack_multidimensional *k, gpuopt__knapsack_multi_draft *d,
                                             int32_t count, int64_t *base) {
    const int64_t bound = gpuopt__knapsack_multi_bound(k, d, 0, k->item, count),
                  left = bound - d->scale[0] * (k->lower + 1);
    int32_t i, j, free = 0;
    k->upper = bound / d->scale[0];
    *base = 0;
    if (left < 0) return -1;
    for (j = 0; j < count; j++) {
        const int32_t item = k->item[j];
        const int64_t gain = gpuopt__knapsack_multi_gain(k, d, 0, item), loss = gain < 0 ? -gain : gain;
        k->prefers[item] = gain > 0;
        d->key[item] = loss;
        if (loss <= left) {
            k->item[free++] = item;
            continue;
        }
        if (gain <= 0) continue;
        *base += k->profit[item] / k->unit;
        for (i = 0; i < k->desc.rows; i++) k->residual[i] -= gpuopt__knapsack_multi_weight(k, i, item);
    }
    for (i = 0; i < k->desc.rows; i++)
        if (k->residual[i] < 0) return -1;
    gpuopt__knapsack_multi_sort(d->key, k->item, free);
    return free;
}

/* ---- Tables ---- */

/* The amount that a decision on an item subtracts from number `which` of a node. */
static int64_t gpuopt__knapsack_multi_takes(const gpuopt_knapsack_multidimensional *k,
                                            const gpuopt__knapsack_multi_draft *d, int32_t which, int32_t item,
                                            int decision) {
    const int32_t row = which - 2;
    int64_t gain;
    if (row >= 0 && row < k->desc.rows) return decision ? gpuopt__knapsack_multi_weight(k, row, item) : 0;
    gain = gpuopt__knapsack_multi_gain(k, d, which, item);
    return decision ? (gain < 0 ? -gain : 0) : (gain > 0 ? gain : 0);
}

static void gpuopt__knapsack_multi_fill_tables(gpuopt_knapsack_multidimensional *k,
                                               const gpuopt__knapsack_multi_draft *d, int64_t base) {
    gpuopt__knapsack_multi_tables *t = &k->table;
    const int32_t width = t->width;
    int32_t which, l;
    for (which = 0; which < width; which++) {
        const int row = which >= 2 && which < 2 + k->desc.rows;
        t->scale[which] = row ? 0 : d->scale[which];
        k->root[which] = row ? k->residual[which - 2]
                             : gpuopt__knapsack_multi_bound(k, d, which, k->item, t->levels) +
                                   d->scale[which] * (base - k->lower - 1);
        if (!row && t->scale[which] > 0) {
            const int64_t upper = (k->root[which] + d->scale[which] * (k->lower + 1)) / d->scale[which];
            if (upper < k->upper) k->upper = upper;
        }
        t->path[which] = 0;
        for (l = 0; l < t->levels; l++) {
            const int prefers = k->prefers[k->item[l]];
            const int64_t takes = gpuopt__knapsack_multi_takes(k, d, which, k->item[l], prefers),
                          instead = gpuopt__knapsack_multi_takes(k, d, which, k->item[l], !prefers);
            const int64_t at = (int64_t)l * width + which;
            t->path[at + width] = t->path[at] + takes;
            t->need[at] = t->path[at] + instead;
            t->diff[at] = instead - takes;
            if (which == 0) t->loss[l] = instead;
        }
    }
}

/* ---- All of the preparation ---- */

/* Finds the useful items, and the common divisor of their profits. NUMERIC: numbers are too large. */
static gpuopt_status gpuopt__knapsack_multi_read(gpuopt_knapsack_multidimensional *k, const char *call,
                                                 gpuopt__knapsack_multi_draft *d, int32_t *count) {
    const int32_t rows = k->desc.rows;
    int64_t profits = 0;
    int32_t i, j;
    *count = 0;
    k->unit = 0;
    memset(d->weighs, 0, sizeof d->weighs);
    for (j = 0; j < k->desc.items; j++) {
        int fits = k->profit[j] > 0;
        for (i = 0; i < rows; i++) fits &= gpuopt__knapsack_multi_weight(k, i, j) <= k->capacity[i];
        if (!fits) continue;
        k->item[(*count)++] = j;
        k->unit = gpuopt__knapsack_common_divisor(k->profit[j], k->unit);
        if (k->profit[j] > GPUOPT__KNAPSACK_MULTI_MOST - profits)
            return gpuopt__refuse(k->context, GPUOPT_ERROR_NUMERIC, call, "the profits exceed 2^58 together");
        profits += k->profit[j];
        for (i = 0; i < rows; i++) {
            if (gpuopt__knapsack_multi_weight(k, i, j) > GPUOPT__KNAPSACK_MULTI_MOST - d->weighs[i]) {
                gpuopt__log(k->context, 0, "%s: the weights of row %d exceed 2^58 together", call, (int)i);
                return GPUOPT_ERROR_NUMERIC;
            }
            d->weighs[i] += gpuopt__knapsack_multi_weight(k, i, j);
        }
    }
    if (k->unit == 0) k->unit = 1; /* no items */
    d->profits = profits / k->unit;
    for (i = 0; i < rows; i++) k->residual[i] = k->capacity[i] < d->weighs[i] ? k->capacity[i] : d->weighs[i];
    return GPUOPT_OK;
}

/* Fills the tables, and the root if items are left to decide. */
static gpuopt_status gpuopt__knapsack_multi_prepare(gpuopt_knapsack_multidimensional *k, const char *call,
                                                    gpuopt__knapsack_multi_draft *d) {
    int64_t base;
    int32_t count, free;
    gpuopt_status status = gpuopt__knapsack_multi_read(k, call, d, &count);
    if (status) return status;
    gpuopt__knapsack_multi_make_bounds(k, d, count);
    free = gpuopt__knapsack_multi_reduce(k, d, count, &base);
    k->busy = free >= 0;
    if (free < 0) {
        k->upper = k->lower;
        return GPUOPT_OK;
    }
    k->table.levels = free;
    gpuopt__knapsack_multi_fill_tables(k, d, base);
    if (k->upper <= k->lower) { /* the bound of the rest, after fixing */
        k->upper = k->lower;
        k->busy = 0;
        k->table.levels = 0;
    }
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_KNAPSACK_MULTIDIMENSIONAL_PREPARE_H */
