/* SPDX-License-Identifier: MIT
 *
 * Multiple-choice knapsacks: the lists of states, in host memory; the backend makes the steps.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_LISTS_H
#define GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_LISTS_H

#include "handle.h"

/* ---- Life ---- */

static uint64_t gpuopt__knapsack_choice_lists_cut(int64_t limit, void *memory, gpuopt__knapsack_choice_list *list) {
    gpuopt__arena arena;
    int l;
    arena.base = (char *)memory;
    arena.used = 0;
    for (l = 0; l < GPUOPT__KNAPSACK_CHOICE_LISTS; l++) {
        list[l].weight = (int64_t *)gpuopt__cut(&arena, limit, sizeof(int64_t));
        list[l].profit = (int64_t *)gpuopt__cut(&arena, limit, sizeof(int64_t));
        list[l].word = (uint64_t *)gpuopt__cut(&arena, limit, sizeof(uint64_t));
    }
    return arena.used;
}

static void gpuopt__knapsack_choice_lists_plan(const gpuopt_context *context, int64_t limit, int64_t most,
                                               gpuopt_memory_plan *plan) {
    gpuopt__knapsack_choice_list draft[GPUOPT__KNAPSACK_CHOICE_LISTS];
    plan->host_bytes += gpuopt__knapsack_choice_lists_cut(limit, NULL, draft);
    context->desc.backend->knapsack->choice_plan(context, limit, most, plan);
}

static gpuopt_status gpuopt__knapsack_choice_lists_create(gpuopt_knapsack_multiple_choice *k) {
    gpuopt_status status = gpuopt__allocate(k->context, GPUOPT_HOST,
                                            gpuopt__knapsack_choice_lists_cut(k->limit, NULL, k->lists), &k->states);
    if (status) return status;
    gpuopt__knapsack_choice_lists_cut(k->limit, k->states, k->lists);
    return k->context->desc.backend->knapsack->choice_create(k);
}

static void gpuopt__knapsack_choice_lists_destroy(gpuopt_knapsack_multiple_choice *k) {
    if (k->engine) k->context->desc.backend->knapsack->choice_destroy(k);
    gpuopt__release(k->context, GPUOPT_HOST, k->states);
}

/* Enlarges the lists to `limit` states. MEMORY: nothing has changed. */
static gpuopt_status gpuopt__knapsack_choice_lists_grow(gpuopt_knapsack_multiple_choice *k, int64_t limit) {
    gpuopt__knapsack_choice_list draft[GPUOPT__KNAPSACK_CHOICE_LISTS];
    const gpuopt__knapsack_choice_list from = k->lists[k->list], *to = &k->lists[k->list];
    const size_t bytes = sizeof(int64_t) * (size_t)k->count;
    void *states = gpuopt__try_allocate(k->context, GPUOPT_HOST, gpuopt__knapsack_choice_lists_cut(limit, NULL, draft));
    if (!states) return GPUOPT_ERROR_MEMORY;
    gpuopt__knapsack_choice_lists_cut(limit, states, k->lists);
    memcpy(to->weight, from.weight, bytes);
    memcpy(to->profit, from.profit, bytes);
    memcpy(to->word, from.word, bytes);
    gpuopt__release(k->context, GPUOPT_HOST, k->states);
    k->states = states;
    k->limit = limit;
    k->context->desc.backend->knapsack->choice_grow(k, limit);
    return GPUOPT_OK;
}

/* ---- Steps ---- */

/* Makes a step. An error comes from the device. */
static gpuopt_status gpuopt__knapsack_choice_lists_step(gpuopt_knapsack_multiple_choice *k,
                                                        gpuopt__knapsack_choice_job *job) {
    job->merge.from = k->lists[job->from];
    job->merge.to = k->lists[job->to];
    job->merge.option = k->option;
    return k->context->desc.backend->knapsack->choice_step(k, job);
}

/* ---- States ---- */

static void gpuopt__knapsack_choice_lists_put(gpuopt_knapsack_multiple_choice *k, int list,
                                              const gpuopt__knapsack_choice_state *state) {
    const gpuopt__knapsack_choice_list *to = &k->lists[list];
    to->weight[0] = state->weight;
    to->profit[0] = state->profit;
    to->word[0] = state->word;
}

static void gpuopt__knapsack_choice_lists_mark(gpuopt_knapsack_multiple_choice *k, int list, int64_t count) {
    const gpuopt__knapsack_choice_list *of = &k->lists[list];
    int64_t i;
    for (i = 0; i < count; i++) of->word[i] = (uint64_t)of->weight[i];
}

static void gpuopt__knapsack_choice_lists_find(gpuopt_knapsack_multiple_choice *k, int list, int64_t count,
                                               gpuopt__knapsack_choice_state *state) {
    const gpuopt__knapsack_choice_list *of = &k->lists[list];
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (of->weight[middle] <= state->weight) low = middle;
        else high = middle - 1;
    }
    state->profit = of->profit[low];
    state->word = of->word[low];
}

#endif /* GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_LISTS_H */
