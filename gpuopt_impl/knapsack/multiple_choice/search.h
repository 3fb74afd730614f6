/* SPDX-License-Identifier: MIT
 *
 * Multiple-choice knapsacks: the search. It holds one list of states, all with the same decided classes. A step decides
 * one more class: each state with each item of the class gives another state. That state stays if it may lead to a
 * better solution and no other is as light with as much profit. Both are properties of the set of states, so the list
 * does not depend on how it was made.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_SEARCH_H
#define GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_SEARCH_H

#include "lists.h"

/* ---- The steps of undecided classes ---- */

/* No class is decided. */
static void gpuopt__knapsack_choice_link(gpuopt_knapsack_multiple_choice *k) {
    const int32_t split = k->steps + 2;
    int32_t s;
    for (s = 0; s <= k->steps; s++) {
        k->next[s] = s + 1;
        k->previous[s + 1] = s;
    }
    k->next[k->split] = split;
    k->previous[split] = k->split;
    k->next[split] = k->split + 1;
    k->previous[k->split + 1] = split;
    k->lose = 0;
    for (s = 0; s < k->levels; s++) k->lose += k->item[k->at[k->order[s]]].weight;
}

/* The class of this level is decided. */
static void gpuopt__knapsack_choice_unlink(gpuopt_knapsack_multiple_choice *k, int32_t level) {
    int32_t s;
    for (s = k->head[k->order[level]]; s >= 0; s = k->same[s]) {
        k->next[k->previous[s + 1]] = k->next[s + 1];
        k->previous[k->next[s + 1]] = k->previous[s + 1];
    }
    k->lose -= k->item[k->at[k->order[level]]].weight;
}

/* Restores the links as they are when `level` classes are decided. */
static void gpuopt__knapsack_choice_relink(gpuopt_knapsack_multiple_choice *k, int32_t level) {
    int32_t l;
    gpuopt__knapsack_choice_link(k);
    for (l = 0; l < level; l++) gpuopt__knapsack_choice_unlink(k, l);
}

static void gpuopt__knapsack_choice_fill_table(const gpuopt_knapsack_multiple_choice *k, int64_t goal,
                                               gpuopt__knapsack_choice_table *t) {
    int64_t at = 0, gain = 0;
    int32_t node, e = 0;
    memset(t, 0, sizeof *t);
    t->residual = k->residual;
    t->goal = goal;
    t->lose = k->lose;
    for (node = k->next[k->steps + 2]; node <= k->steps && e < GPUOPT__KNAPSACK_CHOICE_STEPS; node = k->next[node]) {
        const gpuopt__knapsack_choice_item *step = &k->step[node - 1];
        t->at[e] = at, t->gain[e] = gain, t->weight[e] = step->weight, t->profit[e++] = step->profit;
        at += step->weight;
        gain += step->profit;
    }
    if (node > k->steps) t->at[e] = at, t->gain[e] = gain, t->weight[e++] = 1;
    t->ups = e;
    at = gain = 0;
    for (node = k->previous[k->steps + 2]; node > 0 && t->downs < GPUOPT__KNAPSACK_CHOICE_STEPS;
         node = k->previous[node], t->downs++) {
        const gpuopt__knapsack_choice_item *step = &k->step[node - 1];
        t->at[e] = at, t->gain[e] = gain, t->weight[e] = step->weight, t->profit[e++] = step->profit;
        at -= step->weight;
        gain -= step->profit;
    }
}

/* ---- Steps ---- */

/* The items of the level's class that may lead to the goal, for any choice in the other classes. Returns their number;
 * the item of the break solution is always among them. */
static int32_t gpuopt__knapsack_choice_list_options(gpuopt_knapsack_multiple_choice *k, int32_t level, int64_t goal) {
    const int32_t c = k->order[level];
    const gpuopt__knapsack_choice_item *at = &k->item[k->at[c]], *step = &k->step[k->split];
    int32_t j, count = 0;
    for (j = k->first[c]; j < k->first[c + 1]; j++) {
        const int64_t weight = k->item[j].weight - at->weight, profit = k->item[j].profit - at->profit;
        if (j != k->at[c] &&
            !gpuopt__knapsack_choice_reaches(k->residual - weight, step->profit, goal - profit, step->weight))
            continue;
        k->option[count].weight = weight;
        k->option[count].profit = profit;
        k->option[count++].code = (uint64_t)(j - k->first[c]);
    }
    return count;
}

/* Bits that distinguish the items of a level's class. */
static int gpuopt__knapsack_choice_bits(const gpuopt_knapsack_multiple_choice *k, int32_t level) {
    const int32_t c = k->order[level];
    int bits = 0;
    while ((int64_t)1 << bits < k->first[c + 1] - k->first[c]) bits++;
    return bits;
}

/* The search's next step, from the first level with a choice. Returns 0 if the search is over. */
static int gpuopt__knapsack_choice_next(gpuopt_knapsack_multiple_choice *k) {
    if (k->ready) return 1;
    while (!k->over) {
        k->over = k->level == k->levels || k->count == 0 || k->lower >= k->upper;
        if (k->over) break;
        k->options = gpuopt__knapsack_choice_list_options(k, k->level, k->lower + 1);
        gpuopt__knapsack_choice_unlink(k, k->level);
        k->bits[k->level] = 0;
        if (k->options == 1) {
            k->level++;
            continue;
        }
        gpuopt__knapsack_choice_fill_table(k, k->lower + 1, &k->table);
        k->bits[k->level] = (uint8_t)gpuopt__knapsack_choice_bits(k, k->level);
        k->ready = 1;
        return 1;
    }
    k->upper = k->lower;
    return 0;
}

static void gpuopt__knapsack_choice_set_job(int from, int to, int64_t count, gpuopt__knapsack_choice_job *job) {
    memset(job, 0, sizeof *job);
    job->from = from;
    job->to = to;
    job->merge.count = count;
}

static void gpuopt__knapsack_choice_apply(gpuopt_knapsack_multiple_choice *k, const gpuopt__knapsack_choice_job *job) {
    k->expanded += k->count;
    k->made++;
    k->count = job->found.kept;
    k->list = job->to;
    k->level++;
    k->ready = 0;
    if (k->count > k->peak) k->peak = k->count;
    if (job->found.best <= k->lower) return;
    k->lower = job->found.best;
    k->found = job->found.finder;
    k->found_steps = job->found.steps;
    k->found_level = k->level;
}

/* A step; `full` if its states do not fit. */
static gpuopt_status gpuopt__knapsack_choice_step(gpuopt_knapsack_multiple_choice *k) {
    for (;;) {
        gpuopt__knapsack_choice_job job;
        gpuopt_status status;
        int64_t limit = k->limit;
        gpuopt__knapsack_choice_set_job(k->list, (k->list + 1) % GPUOPT__KNAPSACK_CHOICE_LISTS, k->count, &job);
        job.merge.table = k->table;
        job.merge.options = k->options;
        job.merge.bits = k->bits[k->level];
        status = gpuopt__knapsack_choice_lists_step(k, &job);
        if (status) return status;
        if (job.found.kept <= k->limit) {
            gpuopt__knapsack_choice_apply(k, &job);
            return GPUOPT_OK;
        }
        while (limit < job.found.kept && limit < k->grows_to) limit = limit < k->grows_to / 2 ? 2 * limit : k->grows_to;
        status = limit > k->limit ? gpuopt__knapsack_choice_lists_grow(k, limit) : GPUOPT_ERROR_MEMORY;
        if (status) { /* the next call repeats the step */
            k->full = 1;
            return GPUOPT_OK;
        }
        gpuopt__log(k->context, 2, "knapsack: lists grew to %lld states", (long long)limit);
    }
}

static int gpuopt__knapsack_choice_at_limit(const gpuopt_knapsack_multiple_choice *k) {
    return k->desc.state_limit > 0 && k->expanded >= k->desc.state_limit;
}

/* Steps until `expanded` states are expanded and `made` steps made, or the search ends. */
static gpuopt_status gpuopt__knapsack_choice_search(gpuopt_knapsack_multiple_choice *k, int64_t expanded,
                                                    int64_t made) {
    gpuopt_status status = GPUOPT_OK;
    k->full = 0; /* try the step again */
    while (!status && !k->full && k->expanded < expanded && k->made < made && gpuopt__knapsack_choice_next(k)) {
        status = gpuopt__knapsack_choice_step(k);
        if (!status && !k->full && gpuopt__asked_to_stop(k->context)) break;
    }
    if (!status && !k->full && !k->ready) gpuopt__knapsack_choice_next(k);
    return status;
}

#endif /* GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_SEARCH_H */
