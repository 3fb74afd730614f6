/* SPDX-License-Identifier: MIT
 *
 * Multiple-choice knapsacks: the lists of states, in host memory, and a step, which merges, for each option, the list
 * with the option's weight and profit added. A heap has the next state of each.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_CHOICE_LISTS_H
#define GPUOPT_IMPL_KNAPSACK_CHOICE_LISTS_H

#include "choice_head.h"

/* The next state of an option. */
typedef struct gpuopt__knapsack_choice_cursor {
    int64_t weight, profit;
    int64_t at; /* in the list of states */
    int32_t option;
} gpuopt__knapsack_choice_cursor;

typedef struct gpuopt__knapsack_choice_lists {
    gpuopt__knapsack_choice_list list[GPUOPT__KNAPSACK_CHOICE_LISTS];
    gpuopt__knapsack_choice_cursor *heap; /* [most of a class] */
    void *lists;                          /* their memory */
} gpuopt__knapsack_choice_lists;

static gpuopt__knapsack_choice_lists *gpuopt__knapsack_choice_lists_of(gpuopt_knapsack_choice *k) {
    return (gpuopt__knapsack_choice_lists *)k->engine;
}

/* ---- Life ---- */

static uint64_t gpuopt__knapsack_choice_lists_cut(int64_t most, void *memory, gpuopt__knapsack_choice_lists *c) {
    gpuopt__arena arena;
    arena.base = (char *)memory;
    arena.used = 0;
    gpuopt__cut(&arena, 1, sizeof *c);
    c->heap = (gpuopt__knapsack_choice_cursor *)gpuopt__cut(&arena, most, sizeof *c->heap);
    return arena.used;
}

static uint64_t gpuopt__knapsack_choice_lists_cut_states(int64_t limit, void *memory,
                                                         gpuopt__knapsack_choice_list *list) {
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

static void gpuopt__knapsack_choice_lists_plan(int64_t limit, int64_t most, gpuopt_memory_plan *plan) {
    gpuopt__knapsack_choice_lists draft;
    plan->host_bytes += gpuopt__knapsack_choice_lists_cut(most, NULL, &draft);
    plan->host_bytes += gpuopt__knapsack_choice_lists_cut_states(limit, NULL, draft.list);
}

static gpuopt_status gpuopt__knapsack_choice_lists_create(gpuopt_knapsack_choice *k) {
    gpuopt__knapsack_choice_lists draft, *c;
    gpuopt_status status =
        gpuopt__allocate(k->context, GPUOPT_HOST, gpuopt__knapsack_choice_lists_cut(k->most, NULL, &draft), &k->engine);
    if (status) return status;
    c = gpuopt__knapsack_choice_lists_of(k);
    memset(c, 0, sizeof *c);
    gpuopt__knapsack_choice_lists_cut(k->most, k->engine, c);
    status = gpuopt__allocate(k->context, GPUOPT_HOST,
                              gpuopt__knapsack_choice_lists_cut_states(k->limit, NULL, draft.list), &c->lists);
    if (!status) gpuopt__knapsack_choice_lists_cut_states(k->limit, c->lists, c->list);
    return status;
}

static void gpuopt__knapsack_choice_lists_destroy(gpuopt_knapsack_choice *k) {
    if (!k->engine) return;
    gpuopt__release(k->context, GPUOPT_HOST, gpuopt__knapsack_choice_lists_of(k)->lists);
    gpuopt__release(k->context, GPUOPT_HOST, k->engine);
}

static gpuopt_status gpuopt__knapsack_choice_lists_grow(gpuopt_knapsack_choice *k, int64_t limit) {
    gpuopt__knapsack_choice_lists *c = gpuopt__knapsack_choice_lists_of(k);
    const gpuopt__knapsack_choice_list from = c->list[k->list], *to = &c->list[k->list];
    const size_t bytes = sizeof(int64_t) * (size_t)k->count;
    void *lists =
        gpuopt__try_allocate(k->context, GPUOPT_HOST, gpuopt__knapsack_choice_lists_cut_states(limit, NULL, c->list));
    if (!lists) {
        gpuopt__knapsack_choice_lists_cut_states(k->limit, c->lists, c->list);
        return GPUOPT_ERROR_MEMORY;
    }
    gpuopt__knapsack_choice_lists_cut_states(limit, lists, c->list);
    memcpy(to->weight, from.weight, bytes);
    memcpy(to->profit, from.profit, bytes);
    memcpy(to->word, from.word, bytes);
    gpuopt__release(k->context, GPUOPT_HOST, c->lists);
    c->lists = lists;
    return GPUOPT_OK;
}

/* ---- Steps ---- */

static int gpuopt__knapsack_choice_cursor_before(const gpuopt__knapsack_choice_cursor *a,
                                                 const gpuopt__knapsack_choice_cursor *b) {
    if (a->weight != b->weight) return a->weight < b->weight;
    if (a->profit != b->profit) return a->profit > b->profit;
    return a->option < b->option;
}

static void gpuopt__knapsack_choice_sift_down(gpuopt__knapsack_choice_cursor *heap, int32_t at, int32_t count) {
    const gpuopt__knapsack_choice_cursor cursor = heap[at];
    for (;;) {
        int32_t child = 2 * at + 1;
        if (child >= count) break;
        if (child + 1 < count && gpuopt__knapsack_choice_cursor_before(&heap[child + 1], &heap[child])) child++;
        if (!gpuopt__knapsack_choice_cursor_before(&heap[child], &cursor)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = cursor;
}

/* Goes on to the option's next state. Returns 0 if there is none. */
static int gpuopt__knapsack_choice_advance(const gpuopt_knapsack_choice *k, const gpuopt__knapsack_choice_list *from,
                                           int64_t count, gpuopt__knapsack_choice_cursor *cursor) {
    if (++cursor->at >= count) return 0;
    cursor->weight = from->weight[cursor->at] + k->option[cursor->option].weight;
    cursor->profit = from->profit[cursor->at] + k->option[cursor->option].profit;
    return 1;
}

static void gpuopt__knapsack_choice_lists_step(gpuopt_knapsack_choice *k, gpuopt__knapsack_choice_job *job) {
    const gpuopt__knapsack_choice_lists *c = gpuopt__knapsack_choice_lists_of(k);
    const gpuopt__knapsack_choice_list *from = &c->list[job->from], *to = &c->list[job->to];
    gpuopt__knapsack_choice_cursor *heap = c->heap;
    int64_t kept = 0, most = INT64_MIN;
    int32_t left = job->options, j;
    for (j = 0; j < left; j++) {
        heap[j].at = -1;
        heap[j].option = j;
        gpuopt__knapsack_choice_advance(k, from, job->count, &heap[j]);
    }
    for (j = left / 2 - 1; j >= 0; j--) gpuopt__knapsack_choice_sift_down(heap, j, left);
    while (left > 0) {
        const gpuopt__knapsack_choice_cursor state = heap[0];
        int64_t profit;
        int32_t steps = 0;
        if (!gpuopt__knapsack_choice_advance(k, from, job->count, &heap[0])) heap[0] = heap[--left];
        if (left > 1) gpuopt__knapsack_choice_sift_down(heap, 0, left);
        if (state.profit <= most) continue;
        most = state.profit; /* what does not stay rules out the same states: they have no better bounds */
        if (!gpuopt__knapsack_choice_stays(&job->table, state.weight, state.profit)) continue;
        if (kept++ >= job->limit) continue;
        to->weight[kept - 1] = state.weight;
        to->profit[kept - 1] = state.profit;
        to->word[kept - 1] =
            job->bits > 0 ? from->word[state.at] << job->bits | k->option[state.option].code : from->word[state.at];
        profit = gpuopt__knapsack_choice_completed(&job->table, state.weight, state.profit, &steps);
        if (profit <= job->best) continue;
        job->best = profit;
        job->steps = steps;
        job->finder.weight = state.weight;
        job->finder.profit = state.profit;
        job->finder.word = to->word[kept - 1];
    }
    job->kept = kept;
}

/* ---- States ---- */

static void gpuopt__knapsack_choice_lists_put(gpuopt_knapsack_choice *k, int list,
                                              const gpuopt__knapsack_choice_state *state) {
    const gpuopt__knapsack_choice_list *to = &gpuopt__knapsack_choice_lists_of(k)->list[list];
    to->weight[0] = state->weight;
    to->profit[0] = state->profit;
    to->word[0] = state->word;
}

static void gpuopt__knapsack_choice_lists_mark(gpuopt_knapsack_choice *k, int list, int64_t count) {
    const gpuopt__knapsack_choice_list *of = &gpuopt__knapsack_choice_lists_of(k)->list[list];
    int64_t i;
    for (i = 0; i < count; i++) of->word[i] = (uint64_t)of->weight[i];
}

static void gpuopt__knapsack_choice_lists_find(gpuopt_knapsack_choice *k, int list, int64_t count,
                                               gpuopt__knapsack_choice_state *state) {
    const gpuopt__knapsack_choice_list *of = &gpuopt__knapsack_choice_lists_of(k)->list[list];
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (of->weight[middle] <= state->weight) low = middle;
        else high = middle - 1;
    }
    state->profit = of->profit[low];
    state->word = of->word[low];
}

#endif /* GPUOPT_IMPL_KNAPSACK_CHOICE_LISTS_H */
