/* SPDX-License-Identifier: MIT
 *
 * Multiple-choice knapsacks: a step, or a part of one. It merges, for each option, the list with the option's weight
 * and profit added; a heap holds the next state of each. A state is dropped only because of lighter or equally light
 * states. A part has all new states of some weights. So it only needs the most profit of lighter states, found just
 * before its own, option by option. Parts together thus give the same result as one merge.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_MERGE_H
#define GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_MERGE_H

#include "state.h"

/* Each state of `from` with each option, to list `to`. */
typedef struct gpuopt__knapsack_choice_merge {
    gpuopt__knapsack_choice_table table;
    gpuopt__knapsack_choice_list from, to;
    const gpuopt__knapsack_choice_option *option; /* by increasing weight */
    int64_t count;                                /* states of `from` */
    int32_t options;
    int32_t bits; /* bits of a decision in the states' words; 0: words stay */
} gpuopt__knapsack_choice_merge;

/* States that stay, whether or not they fit; the profit of the best solution from the states that fit; the first state
 * that gives it; its number of steps. */
typedef struct gpuopt__knapsack_choice_found {
    int64_t kept, best;
    gpuopt__knapsack_choice_state finder;
    int32_t steps;
} gpuopt__knapsack_choice_found;

/* The next state of an option. */
typedef struct gpuopt__knapsack_choice_cursor {
    int64_t weight, profit;
    int64_t at; /* in the list of states */
    int32_t option;
} gpuopt__knapsack_choice_cursor;

GPUOPT_HD int gpuopt__knapsack_choice_cursor_before(const gpuopt__knapsack_choice_cursor *a,
                                                    const gpuopt__knapsack_choice_cursor *b) {
    if (a->weight != b->weight) return a->weight < b->weight;
    if (a->profit != b->profit) return a->profit > b->profit;
    return a->option < b->option;
}

GPUOPT_HD void gpuopt__knapsack_choice_sift_down(gpuopt__knapsack_choice_cursor *heap, int32_t at, int32_t count) {
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

/* Moves to a state of the option. Returns 0 if there is none before `end`. */
GPUOPT_HD int gpuopt__knapsack_choice_go(const gpuopt__knapsack_choice_merge *m, int64_t at, int64_t end,
                                         gpuopt__knapsack_choice_cursor *cursor) {
    const gpuopt__knapsack_choice_option *option = &m->option[cursor->option];
    if (at >= m->count) return 0;
    cursor->at = at;
    cursor->weight = m->from.weight[at] + option->weight;
    cursor->profit = m->from.profit[at] + option->profit;
    return cursor->weight < end;
}

/* How many of an option's states are lighter. */
GPUOPT_HD int64_t gpuopt__knapsack_choice_lighter_states(const gpuopt__knapsack_choice_merge *m, int32_t option,
                                                         int64_t weight) {
    int64_t low = 0, high = m->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (m->from.weight[middle] + m->option[option].weight < weight) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Puts the first state of each option that weighs `first` or more, and less than `end`, into the heap. Returns their
 * number; *most: the most profit of a lighter state. */
GPUOPT_HD int32_t gpuopt__knapsack_choice_fill_heap(const gpuopt__knapsack_choice_merge *m, int64_t first, int64_t end,
                                                    gpuopt__knapsack_choice_cursor *heap, int64_t *most) {
    int32_t left = 0, j;
    *most = INT64_MIN;
    for (j = 0; j < m->options; j++) {
        const int64_t at = gpuopt__knapsack_choice_lighter_states(m, j, first);
        heap[left].option = j;
        if (at > 0 && m->from.profit[at - 1] + m->option[j].profit > *most)
            *most = m->from.profit[at - 1] + m->option[j].profit;
        left += gpuopt__knapsack_choice_go(m, at, end, &heap[left]);
    }
    for (j = left / 2 - 1; j >= 0; j--) gpuopt__knapsack_choice_sift_down(heap, j, left);
    return left;
}

/* Makes the new states that weigh `first` or more, and less than `end`. The states that stay go to the places from `to`
 * on, up to the capacity. heap [options] is scratch. */
GPUOPT_HD gpuopt__knapsack_choice_found gpuopt__knapsack_choice_part(const gpuopt__knapsack_choice_merge *m,
                                                                     gpuopt__knapsack_choice_cursor *heap,
                                                                     int64_t first, int64_t end, int64_t to,
                                                                     int64_t capacity) {
    gpuopt__knapsack_choice_found f = {0, INT64_MIN, {0, 0, 0}, 0};
    int64_t most;
    int32_t left = gpuopt__knapsack_choice_fill_heap(m, first, end, heap, &most);
    while (left > 0) {
        gpuopt__knapsack_choice_cursor state = heap[0];
        int64_t profit;
        uint64_t word;
        int32_t steps = 0;
        if (!gpuopt__knapsack_choice_go(m, state.at + 1, end, &heap[0])) heap[0] = heap[--left];
        if (left > 1) gpuopt__knapsack_choice_sift_down(heap, 0, left);
        if (state.profit <= most) continue;
        most = state.profit; /* a dropped state dominates, too: dominated states have no better bounds */
        if (!gpuopt__knapsack_choice_stays(&m->table, state.weight, state.profit)) continue;
        if (f.kept++ >= capacity) continue;
        word = m->from.word[state.at];
        if (m->bits > 0) word = word << m->bits | m->option[state.option].code;
        m->to.weight[to] = state.weight;
        m->to.profit[to] = state.profit;
        m->to.word[to++] = word;
        profit = gpuopt__knapsack_choice_completed(&m->table, state.weight, state.profit, &steps);
        if (profit <= f.best) continue;
        f.best = profit;
        f.steps = steps;
        f.finder.weight = state.weight;
        f.finder.profit = state.profit;
        f.finder.word = word;
    }
    return f;
}

/* Adds the results of the next part. */
GPUOPT_HD void gpuopt__knapsack_choice_join(gpuopt__knapsack_choice_found *sum,
                                            const gpuopt__knapsack_choice_found *next) {
    const int64_t kept = sum->kept + next->kept;
    if (next->best > sum->best) *sum = *next;
    sum->kept = kept;
}

/* The start of a part: the least weight with `rank` lighter new states, found by halving a range. The backends count
 * these states, see lighter_states. */
typedef struct gpuopt__knapsack_choice_range {
    int64_t low, high, rank;
} gpuopt__knapsack_choice_range;

/* Part p of `parts`; p = parts: the end of the last one. */
GPUOPT_HD gpuopt__knapsack_choice_range gpuopt__knapsack_choice_range_of(const gpuopt__knapsack_choice_merge *m, int p,
                                                                         int parts) {
    gpuopt__knapsack_choice_range r;
    r.low = m->from.weight[0] + m->option[0].weight;
    r.high = m->from.weight[m->count - 1] + m->option[m->options - 1].weight + 1;
    r.rank = m->count * m->options / parts * p;
    if (p == 0) r.low = r.high = INT64_MIN;
    if (p == parts) r.low = r.high = INT64_MAX;
    return r;
}

GPUOPT_HD int64_t gpuopt__knapsack_choice_range_middle(const gpuopt__knapsack_choice_range *r) {
    return r->low + (r->high - r->low) / 2;
}

GPUOPT_HD void gpuopt__knapsack_choice_range_halve(gpuopt__knapsack_choice_range *r, int64_t lighter) {
    const int64_t middle = gpuopt__knapsack_choice_range_middle(r);
    if (lighter < r->rank) r->low = middle + 1;
    else r->high = middle;
}

#endif /* GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_MERGE_H */
