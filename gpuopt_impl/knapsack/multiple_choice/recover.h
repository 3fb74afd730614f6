/* SPDX-License-Identifier: MIT
 *
 * Multiple-choice knapsacks: the items of the best solution. A state's word has its last 64 bits of decisions. Passes
 * over the same levels find the earlier ones, with the optimum as the goal, so that lists are no longer than the
 * search's. In a pass, words hold the weight of each state's ancestor at a level in the middle. The pass divides the
 * levels into two parts, until the decisions of a part fit a word (D. S. Hirschberg: A linear space algorithm for
 * computing maximal common subsequences, Communications of the ACM 18, 1975).
 *
 * States of a level have different weights. A state that leads to the goal is in each list that starts from one of its
 * ancestors. A list that begins in the middle lacks states that dominated others, so it might be longer than the
 * search's. If it does not fit, each 64 bits take a pass from the first level; its lists do fit.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_RECOVER_H
#define GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_RECOVER_H

#include "search.h"

/* Makes the levels begin .. end - 1 again, from one state. mark: the level at which states store their weight in their
 * words; -1: words take decisions of pass_bits bits. *target: its weight identifies the wanted state. MEMORY: a list
 * does not fit. Any error leaves *target unchanged. */
static gpuopt_status gpuopt__knapsack_choice_pass(gpuopt_knapsack_multiple_choice *k, int32_t begin,
                                                  gpuopt__knapsack_choice_state from, int32_t end, int32_t mark,
                                                  gpuopt__knapsack_choice_state *target) {
    int list = (k->list + 1) % GPUOPT__KNAPSACK_CHOICE_LISTS, other = (k->list + 2) % GPUOPT__KNAPSACK_CHOICE_LISTS;
    gpuopt__knapsack_choice_job job;
    gpuopt_status status;
    int64_t count = 1;
    int32_t l;
    gpuopt__knapsack_choice_relink(k, begin);
    from.word = 0;
    gpuopt__knapsack_choice_lists_put(k, list, &from);
    for (l = begin; l < end; l++) {
        int swap;
        if (l == mark) gpuopt__knapsack_choice_lists_mark(k, list, count);
        k->pass_bits[l] = 0;
        gpuopt__knapsack_choice_set_job(list, other, count, &job);
        job.merge.options = gpuopt__knapsack_choice_list_options(k, l, k->lower);
        gpuopt__knapsack_choice_unlink(k, l);
        if (job.merge.options == 1) continue;
        gpuopt__knapsack_choice_fill_table(k, k->lower, &job.merge.table);
        if (mark < 0) job.merge.bits = k->pass_bits[l] = (uint8_t)gpuopt__knapsack_choice_bits(k, l);
        status = gpuopt__knapsack_choice_lists_step(k, &job);
        if (!status && job.found.kept > k->limit) status = GPUOPT_ERROR_MEMORY;
        if (status) return status;
        count = job.found.kept;
        swap = list, list = other, other = swap;
    }
    gpuopt__knapsack_choice_lists_find(k, list, count, target);
    return GPUOPT_OK;
}

/* Takes the decisions of the levels from `end` down to the end of the word, or to `begin`; *state goes back. Returns
 * that level. */
static int32_t gpuopt__knapsack_choice_decode(gpuopt_knapsack_multiple_choice *k, int32_t begin, int32_t end,
                                              const uint8_t *bits, gpuopt__knapsack_choice_state *state) {
    int left = 64;
    while (end > begin && bits[end - 1] <= left) {
        const int32_t c = k->order[--end];
        const gpuopt__knapsack_choice_item *at = &k->item[k->at[c]];
        if (bits[end] == 0) continue;
        k->trial[c] = k->first[c] + (int32_t)(state->word & (((uint64_t)1 << bits[end]) - 1));
        state->weight -= k->item[k->trial[c]].weight - at->weight;
        state->profit -= k->item[k->trial[c]].profit - at->profit;
        state->word >>= bits[end];
        left -= bits[end];
    }
    return end;
}

/* Finds how the state of level `begin` led to the state of level `end` with the weight of *target; fills in *target.
 * Errors as above. */
static gpuopt_status gpuopt__knapsack_choice_recover_part(gpuopt_knapsack_multiple_choice *k, int32_t begin,
                                                          gpuopt__knapsack_choice_state from, int32_t end,
                                                          gpuopt__knapsack_choice_state *target) {
    gpuopt__knapsack_choice_state middle = from;
    gpuopt_status status;
    int64_t all = 0, half = 0;
    int32_t l, mark = begin;
    for (l = begin; l < end; l++) all += gpuopt__knapsack_choice_bits(k, l);
    if (all <= 64) {
        gpuopt__knapsack_choice_state state;
        status = gpuopt__knapsack_choice_pass(k, begin, from, end, -1, target);
        if (status) return status;
        state = *target;
        gpuopt__knapsack_choice_decode(k, begin, end, k->pass_bits, &state);
        return GPUOPT_OK;
    }
    while (2 * half < all) half += gpuopt__knapsack_choice_bits(k, mark++);
    status = gpuopt__knapsack_choice_pass(k, begin, from, end, mark, target);
    if (status) return status;
    middle.weight = (int64_t)target->word;
    status = gpuopt__knapsack_choice_recover_part(k, begin, from, mark, &middle);
    return status ? status : gpuopt__knapsack_choice_recover_part(k, mark, middle, end, target);
}

/* The steps that completed the solution after its last decision. */
static void gpuopt__knapsack_choice_complete(gpuopt_knapsack_multiple_choice *k) {
    const int32_t split = k->steps + 2;
    int32_t node = split, left = k->found_steps;
    gpuopt__knapsack_choice_relink(k, k->found_level);
    for (; left > 0; left--) {
        node = k->next[node];
        k->trial[k->step[node - 1].index] = k->step[node - 1].to;
    }
    for (; left < 0; left++) {
        node = k->previous[node];
        k->trial[k->step[node - 1].index] = k->step_from[node - 1];
    }
}

/* The decisions of the levels before this one, given the state after them. */
static gpuopt_status gpuopt__knapsack_choice_recover_levels(gpuopt_knapsack_multiple_choice *k, int32_t level,
                                                            gpuopt__knapsack_choice_state state) {
    const gpuopt__knapsack_choice_state root = {0, 0, 0};
    gpuopt__knapsack_choice_state target = state;
    gpuopt_status status = level > 0 ? gpuopt__knapsack_choice_recover_part(k, 0, root, level, &target) : GPUOPT_OK;
    if (status != GPUOPT_ERROR_MEMORY) return status;
    while (level > 0) {
        status = gpuopt__knapsack_choice_pass(k, 0, root, level, -1, &state);
        if (status) return status;
        level = gpuopt__knapsack_choice_decode(k, 0, level, k->pass_bits, &state);
    }
    return GPUOPT_OK;
}

/* Fills `chosen` with the items of the best solution. An error comes from the device. */
static gpuopt_status gpuopt__knapsack_choice_recover(gpuopt_knapsack_multiple_choice *k) {
    gpuopt__knapsack_choice_state state = k->found;
    gpuopt_status status;
    int32_t c, level;
    if (k->known >= k->lower) return GPUOPT_OK;
    for (c = 0; c < k->desc.classes; c++) k->trial[c] = k->at[c];
    gpuopt__knapsack_choice_complete(k);
    level = gpuopt__knapsack_choice_decode(k, 0, k->found_level, k->bits, &state);
    status = gpuopt__knapsack_choice_recover_levels(k, level, state);
    gpuopt__knapsack_choice_relink(k, k->ready ? k->level + 1 : k->level);
    if (k->ready) k->options = gpuopt__knapsack_choice_list_options(k, k->level, k->lower + 1);
    if (status) return status;
    k->known = k->lower;
    for (c = 0; c < k->desc.classes; c++) k->chosen[c] = k->item[k->trial[c]].index;
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_RECOVER_H */
