/* SPDX-License-Identifier: MIT
 *
 * Multiple-choice knapsacks: the work of _create. First it drops items that another one of their class dominates. The
 * upper hulls of the others are the steps of the linear relaxation, which a greedy walk by decreasing profit per weight
 * solves (E. Zemel, 1980; P. Sinha, A. Zoltners, 1979). The walk continues to a first solution. Finally the classes are
 * put in the order in which the steps on both sides of the break step meet them (D. Pisinger: A minimal algorithm for
 * the multiple-choice knapsack problem, European Journal of Operational Research 83, 1995).
 *
 * Overflow: the largest weights of the classes, and likewise the profits, are at most 2^60 together.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_PREPARE_H
#define GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_PREPARE_H

#include "../../common/checks.h"
#include "handle.h"

/* ---- Sorting ---- */

static int gpuopt__knapsack_choice_lighter(const gpuopt__knapsack_choice_item *a,
                                           const gpuopt__knapsack_choice_item *b) {
    if (a->weight != b->weight) return a->weight < b->weight;
    if (a->profit != b->profit) return a->profit > b->profit;
    return a->index < b->index;
}

static int gpuopt__knapsack_choice_steeper(const gpuopt__knapsack_choice_item *a,
                                           const gpuopt__knapsack_choice_item *b) {
    return !gpuopt__knapsack_choice_reaches(b->profit, a->weight, a->profit, b->weight);
}

/* A stable merge sort; other [count] is scratch. */
static void gpuopt__knapsack_choice_sort(gpuopt__knapsack_choice_item *item, gpuopt__knapsack_choice_item *other,
                                         int64_t count,
                                         int (*before)(const gpuopt__knapsack_choice_item *,
                                                       const gpuopt__knapsack_choice_item *)) {
    gpuopt__knapsack_choice_item *from = item, *to = other, *swap;
    int64_t run, begin;
    for (run = 1; run < count; run *= 2) {
        for (begin = 0; begin < count; begin += 2 * run) {
            const int64_t middle = begin + run < count ? begin + run : count;
            const int64_t end = begin + 2 * run < count ? begin + 2 * run : count;
            int64_t a = begin, b = middle, k;
            for (k = begin; k < end; k++) {
                const int first = b >= end || (a < middle && !before(&from[b], &from[a]));
                to[k] = from[first ? a++ : b++];
            }
        }
        swap = from, from = to, to = swap;
    }
    if (from != item && count > 0) memcpy(item, from, sizeof *item * (size_t)count);
}

/* ---- Items ---- */

/* The profit of an item of a class by itself; -1: no item is taken. */
static int64_t gpuopt__knapsack_choice_weight(const gpuopt_knapsack_multiple_choice *k, int64_t item) {
    return item < 0 ? 0 : k->weight[item];
}
static int64_t gpuopt__knapsack_choice_profit(const gpuopt_knapsack_multiple_choice *k, int64_t item) {
    return item < 0 ? 0 : k->profit[item];
}

/* The items of a class that fit the capacity; -1 stands for none if none need be taken. Returns how many. */
static int32_t gpuopt__knapsack_choice_gather(const gpuopt_knapsack_multiple_choice *k, int32_t class_,
                                              gpuopt__knapsack_choice_item *item) {
    int32_t count = 0;
    int64_t j;
    for (j = k->desc.at_most_one ? k->begin[class_] - 1 : k->begin[class_]; j < k->begin[class_ + 1]; j++) {
        const int64_t index = j < k->begin[class_] ? -1 : j;
        if (gpuopt__knapsack_choice_weight(k, index) > k->desc.capacity) continue;
        item[count].weight = gpuopt__knapsack_choice_weight(k, index);
        item[count].profit = gpuopt__knapsack_choice_profit(k, index);
        item[count++].index = (int32_t)index;
    }
    return count;
}

/* The common divisors of all items that fit, and the lightest of each class, in trial. NUMERIC: sums are too large. */
static gpuopt_status gpuopt__knapsack_choice_measure(gpuopt_knapsack_multiple_choice *k, const char *call,
                                                     gpuopt__knapsack_choice_item *item, int64_t *unit) {
    int64_t weights = 0, profits = 0, residual = k->desc.capacity;
    int32_t c, j;
    k->unit = *unit = 0;
    for (c = 0; c < k->desc.classes; c++) {
        const int32_t count = gpuopt__knapsack_choice_gather(k, c, item);
        int64_t most = 0, size = 0;
        int32_t least = 0;
        for (j = 0; j < count; j++) {
            const int64_t p = item[j].profit;
            if (item[j].weight > most) most = item[j].weight;
            if (p > size) size = p;
            if (p < -size) size = p < -GPUOPT__KNAPSACK_CHOICE_SUM ? GPUOPT__KNAPSACK_CHOICE_SUM + 1 : -p;
            if (gpuopt__knapsack_choice_lighter(&item[j], &item[least])) least = j;
        }
        if (most > GPUOPT__KNAPSACK_CHOICE_SUM - weights || size > GPUOPT__KNAPSACK_CHOICE_SUM - profits)
            return gpuopt__refuse(k->context, GPUOPT_ERROR_NUMERIC, call,
                                  "the largest weights, or profits, of the classes exceed 2^60 together");
        weights += most;
        profits += size;
        if (count == 0) k->infeasible = 1;
        if (count == 0 || k->infeasible) continue;
        for (j = 0; j < count; j++) {
            const int64_t more = item[j].profit - item[least].profit;
            *unit = gpuopt__knapsack_common_divisor(item[j].weight - item[least].weight, *unit);
            k->unit = gpuopt__knapsack_common_divisor(more < 0 ? -more : more, k->unit);
        }
        k->trial[c] = item[least].index;
        k->base += item[least].profit;
        residual -= item[least].weight;
        k->infeasible = residual < 0;
        k->residual += most - item[least].weight;
    }
    if (*unit == 0) *unit = 1;
    if (k->unit == 0) k->unit = 1;
    if (residual < k->residual) k->residual = residual;
    k->residual /= *unit;
    return GPUOPT_OK;
}

/* Fills k->item with the useful items. */
static void gpuopt__knapsack_choice_select(gpuopt_knapsack_multiple_choice *k, gpuopt__knapsack_choice_item *other,
                                           int64_t unit) {
    int32_t c, j, at = 0;
    for (c = 0; c < k->desc.classes; c++) {
        gpuopt__knapsack_choice_item *item = k->item + at;
        const int32_t count = gpuopt__knapsack_choice_gather(k, c, item);
        const int64_t weight = gpuopt__knapsack_choice_weight(k, k->trial[c]),
                      profit = gpuopt__knapsack_choice_profit(k, k->trial[c]);
        int32_t kept = 0;
        k->first[c] = at;
        for (j = 0; j < count; j++) {
            item[j].weight = (item[j].weight - weight) / unit;
            item[j].profit = (item[j].profit - profit) / k->unit;
            if (item[j].weight <= k->residual && item[j].profit >= 0) item[kept++] = item[j];
        }
        gpuopt__knapsack_choice_sort(item, other, kept, gpuopt__knapsack_choice_lighter);
        at++;
        for (j = 1; j < kept; j++)
            if (item[j].profit > k->item[at - 1].profit) k->item[at++] = item[j];
    }
    k->first[k->desc.classes] = at;
}

/* ---- The linear relaxation ---- */

/* The steps of all classes along their hulls, sorted. */
static void gpuopt__knapsack_choice_make_steps(gpuopt_knapsack_multiple_choice *k,
                                               gpuopt__knapsack_choice_item *other) {
    int32_t c, j, s, *corner = k->same;
    for (c = 0; c < k->desc.classes; c++) {
        int32_t corners = 0;
        for (j = k->first[c]; j < k->first[c + 1]; j++) {
            const gpuopt__knapsack_choice_item *to = &k->item[j];
            while (corners >= 2) {
                const gpuopt__knapsack_choice_item *a = &k->item[corner[corners - 2]],
                                                   *b = &k->item[corner[corners - 1]];
                if (!gpuopt__knapsack_choice_reaches(to->profit - b->profit, b->weight - a->weight,
                                                     b->profit - a->profit, to->weight - b->weight))
                    break;
                corners--;
            }
            corner[corners++] = j;
        }
        for (j = 1; j < corners; j++) {
            gpuopt__knapsack_choice_item *step = &k->step[k->steps++];
            step->weight = k->item[corner[j]].weight - k->item[corner[j - 1]].weight;
            step->profit = k->item[corner[j]].profit - k->item[corner[j - 1]].profit;
            step->index = c;
            step->to = corner[j];
        }
    }
    gpuopt__knapsack_choice_sort(k->step, other, k->steps, gpuopt__knapsack_choice_steeper);
    for (c = 0; c < k->desc.classes; c++) k->at[c] = k->first[c], k->head[c] = -1;
    for (s = k->steps - 1; s >= 0; s--) {
        k->same[s] = k->head[k->step[s].index];
        k->head[k->step[s].index] = s;
    }
    for (s = 0; s < k->steps; s++) {
        k->step_from[s] = k->at[k->step[s].index];
        k->at[k->step[s].index] = k->step[s].to;
    }
}

/* The break solution, and the first one that is kept. */
static void gpuopt__knapsack_choice_walk(gpuopt_knapsack_multiple_choice *k) {
    int64_t left = k->residual;
    int32_t c, s;
    for (c = 0; c < k->desc.classes; c++) k->at[c] = k->first[c];
    for (s = 0; s < k->steps && k->step[s].weight <= left; s++) {
        left -= k->step[s].weight;
        k->break_profit += k->step[s].profit;
        k->at[k->step[s].index] = k->step[s].to;
    }
    k->split = s;
    k->residual = left;
    if (s < k->steps)
        k->upper = (int64_t)gpuopt__knapsack_product_quotient((uint64_t)left, (uint64_t)k->step[s].profit,
                                                              (uint64_t)k->step[s].weight);
    for (c = 0; c < k->desc.classes; c++) k->trial[c] = k->at[c];
    for (; s < k->steps; s++) {
        const gpuopt__knapsack_choice_item *to = &k->item[k->step[s].to], *from = &k->item[k->trial[k->step[s].index]];
        if (to->weight - from->weight > left) continue;
        left -= to->weight - from->weight;
        k->lower += to->profit - from->profit;
        k->trial[k->step[s].index] = k->step[s].to;
    }
    k->known = k->lower;
    for (c = 0; c < k->desc.classes; c++) k->chosen[c] = k->item[k->trial[c]].index;
}

/* The classes in the order in which steps up and steps down meet them. */
static void gpuopt__knapsack_choice_put_in_order(gpuopt_knapsack_multiple_choice *k) {
    int32_t c, up = k->split, down = k->split - 1, *met = k->trial;
    for (c = 0; c < k->desc.classes; c++) met[c] = 0;
    while (up < k->steps || down >= 0) {
        if (up < k->steps && !met[c = k->step[up++].index]) k->order[k->levels++] = c, met[c] = 1;
        if (down >= 0 && !met[c = k->step[down--].index]) k->order[k->levels++] = c, met[c] = 1;
    }
}

/* All of the preparation. other [items + classes] is scratch. */
static gpuopt_status gpuopt__knapsack_choice_prepare(gpuopt_knapsack_multiple_choice *k, const char *call,
                                                     gpuopt__knapsack_choice_item *other) {
    int64_t unit;
    int32_t c;
    gpuopt_status status = gpuopt__knapsack_choice_measure(k, call, other, &unit);
    if (status) return status;
    if (k->infeasible) {
        for (c = 0; c < k->desc.classes; c++) k->chosen[c] = -1;
        k->base = k->residual = 0;
        k->over = 1;
        return GPUOPT_OK;
    }
    gpuopt__knapsack_choice_select(k, other, unit);
    gpuopt__knapsack_choice_make_steps(k, other);
    gpuopt__knapsack_choice_walk(k);
    gpuopt__knapsack_choice_put_in_order(k);
    k->over = k->lower >= k->upper;
    if (k->over) k->upper = k->lower;
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_PREPARE_H */
