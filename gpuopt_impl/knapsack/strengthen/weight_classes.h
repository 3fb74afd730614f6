/* SPDX-License-Identifier: MIT
 *
 * Knapsack: bounds from groups of items of nearly the same weight. If the weights form groups with wide gaps between
 * them, the numbers of items from each group decide most of a solution's weight. k items of a group weigh at least as
 * much as its k lightest, and have at most the value of its k best. This gives a multiple-choice knapsack of the
 * numbers of items. It has few states, since many choices weigh nearly the same. Its optimum bounds the whole problem.
 *
 * The value of an item is its profit. With a multiplier lambda it is its profit less lambda times its weight; then
 * lambda times the capacity is added to the bound. With lambda = 0 the bound is the optimum if the best items of each
 * group happen to fit; otherwise the best lambda, which a search finds, leaves a small gap.
 *
 * A list holds states (weight, value) of the first groups, heaviest first, sorted by both. Every solution of interest
 * has a state that is no heavier and of no less value than its items of these groups. Too long lists are shortened by
 * merging neighbours, which keeps that property. Exact: all rounding is upwards.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_STRENGTHEN_WEIGHT_CLASSES_H
#define GPUOPT_IMPL_KNAPSACK_STRENGTHEN_WEIGHT_CLASSES_H

#include "../model/prepare.h"

#ifndef GPUOPT__KNAPSACK_GROUP_STATES
#define GPUOPT__KNAPSACK_GROUP_STATES 16384 /* states of a list, after the short lists; a test uses fewer */
#endif

enum {
    GPUOPT__KNAPSACK_GROUP_ITEMS = 64,    /* fewer items are searched at once */
    GPUOPT__KNAPSACK_GROUPS = 64,         /* the most groups */
    GPUOPT__KNAPSACK_GROUP_GAP = 64,      /* gaps between groups are this many times as wide as gaps within */
    GPUOPT__KNAPSACK_GROUP_WORK = 4096,   /* most merged states of all passes, for each state that a list may have */
    GPUOPT__KNAPSACK_GROUP_ASK = 1 << 16, /* states between two calls of the stop hook */
    GPUOPT__KNAPSACK_GROUP_SCALE = 1024   /* value of a unit of profit */
};

/* A state of the first groups, made from a state of the previous list by taking `count` items more. */
typedef struct gpuopt__knapsack_group_state {
    int64_t weight, value;
    int32_t from, count;
} gpuopt__knapsack_group_state;

typedef struct gpuopt__knapsack_grouping {
    const gpuopt_context *context;
    const gpuopt__knapsack_view *view;
    int64_t unasked; /* states examined since the last call of the stop hook */
    int stopped;     /* by the stop hook */
    int32_t groups, fills;
    int32_t limit, states; /* of a list, now and at most */
    int shortened;         /* a list of this pass was shortened */
    int64_t lambda;
    int64_t least; /* a solution that is better than the incumbent has at least this value */
    int32_t begin[GPUOPT__KNAPSACK_GROUPS + 1];
    int32_t *group;                    /* [items] of a sorted item */
    int32_t *order, *spare;            /* [items] sorted items, group by group, the most valuable first */
    int64_t *key;                      /* [items] value of a sorted item */
    int64_t *weight, *value;           /* [items + groups] sums over the k lightest, and the k best, items of a group */
    int64_t *fill_weight, *fill_value; /* [items + 1] the relaxation of the groups from one on: sums */
    int32_t *fill;                     /* [items] and their items */
    int32_t *length;                   /* [groups] */
    int64_t *rest;                     /* [2][states] see weight_classes_reduce.h */
    int64_t *most;                     /* [items + 1] likewise */
    uint8_t *choice;                   /* [items] likewise */
    int64_t work;                      /* number of merged states */
    gpuopt__knapsack_group_state *list;    /* [groups][states] */
    gpuopt__knapsack_group_state *half[2]; /* [3 * states + 1] */
} gpuopt__knapsack_grouping;

/* growth: of the lists, in the course of passes; 0: only the memory for finding groups. */
static uint64_t gpuopt__knapsack_group_cut(gpuopt__knapsack_grouping *g, void *memory, int64_t items, int64_t groups,
                                           int growth) {
    gpuopt__arena arena;
    int half;
    g->states = growth * GPUOPT__KNAPSACK_GROUP_STATES;
    arena.base = (char *)memory;
    arena.used = 0;
    g->key = (int64_t *)gpuopt__cut(&arena, items, sizeof(int64_t));
    g->weight = (int64_t *)gpuopt__cut(&arena, items + groups, sizeof(int64_t));
    g->value = (int64_t *)gpuopt__cut(&arena, items + groups, sizeof(int64_t));
    g->fill_weight = (int64_t *)gpuopt__cut(&arena, items + 1, sizeof(int64_t));
    g->fill_value = (int64_t *)gpuopt__cut(&arena, items + 1, sizeof(int64_t));
    g->most = (int64_t *)gpuopt__cut(&arena, items + 1, sizeof(int64_t));
    g->rest = (int64_t *)gpuopt__cut(&arena, 2 * (int64_t)g->states, sizeof(int64_t));
    g->group = (int32_t *)gpuopt__cut(&arena, items, sizeof(int32_t));
    g->order = (int32_t *)gpuopt__cut(&arena, items, sizeof(int32_t));
    g->spare = (int32_t *)gpuopt__cut(&arena, items, sizeof(int32_t));
    g->fill = (int32_t *)gpuopt__cut(&arena, items, sizeof(int32_t));
    g->length = (int32_t *)gpuopt__cut(&arena, groups, sizeof(int32_t));
    g->choice = (uint8_t *)gpuopt__cut(&arena, items, 1);
    g->list = (gpuopt__knapsack_group_state *)gpuopt__cut(&arena, groups * g->states, sizeof *g->list);
    for (half = 0; half < 2; half++)
        g->half[half] =
            (gpuopt__knapsack_group_state *)gpuopt__cut(&arena, 3 * (int64_t)g->states + 1, sizeof *g->list);
    return arena.used;
}

/* ---- Groups ---- */

/* Sorts by decreasing key[order[k]], equal keys in their old order: a merge sort from short runs up. */
static void gpuopt__knapsack_group_sort(int32_t *order, int32_t *spare, int32_t count, const int64_t *key) {
    int32_t *from = order, *to = spare, *other, run, at, k;
    for (run = 1; run < count; run = run <= count / 2 ? 2 * run : count) {
        for (at = 0; at < count; at += 2 * run) {
            const int32_t middle = count - at < run ? count : at + run,
                          end = count - middle < run ? count : middle + run;
            int32_t a = at, b = middle;
            for (k = at; k < end; k++)
                to[k] = b == end || (a < middle && key[from[a]] >= key[from[b]]) ? from[a++] : from[b++];
            if (end == count) break;
        }
        other = from, from = to, to = other;
    }
    if (from != order) memcpy(order, from, (size_t)count * sizeof *order);
}

/* The number of groups that the weights form, and the widest gap within one; 0: there are no groups. order, gap:
 * [items] scratch; order becomes the items by decreasing weight. */
static int32_t gpuopt__knapsack_group_find(const gpuopt__knapsack_view *v, int32_t *order, int32_t *spare, int64_t *gap,
                                           int64_t *within) {
    const int64_t *weight = v->table.weight;
    int64_t widest[GPUOPT__KNAPSACK_GROUPS + 1], most = GPUOPT__KNAPSACK_GROUP_GAP - 1;
    int32_t j, k, groups = 0, count = 0;
    for (j = 0; j < v->last; j++) order[j] = j, gap[j] = weight[j];
    gpuopt__knapsack_group_sort(order, spare, v->last, gap);
    for (j = 0; j + 1 < v->last; j++) {
        const int64_t width = weight[order[j]] - weight[order[j + 1]];
        for (k = count; k > 0 && widest[k - 1] < width; k--)
            if (k <= GPUOPT__KNAPSACK_GROUPS) widest[k] = widest[k - 1];
        if (k > GPUOPT__KNAPSACK_GROUPS) continue;
        widest[k] = width;
        if (count <= GPUOPT__KNAPSACK_GROUPS) count++;
    }
    for (k = 0; k + 1 < count && k + 2 <= v->last / 4; k++) {
        if (widest[k] / (widest[k + 1] + 1) <= most) continue;
        most = widest[k] / (widest[k + 1] + 1);
        *within = widest[k + 1];
        groups = k + 2;
    }
    return groups <= GPUOPT__KNAPSACK_GROUPS ? groups : 0;
}

/* Finds the group of each item: gaps between groups are wider than `within`. */
static void gpuopt__knapsack_group_divide(gpuopt__knapsack_grouping *g, int64_t within) {
    const gpuopt__knapsack_view *v = g->view;
    int32_t j, c = 0;
    for (j = 0; j < v->last; j++) g->order[j] = j, g->key[j] = v->table.weight[j];
    gpuopt__knapsack_group_sort(g->order, g->spare, v->last, g->key);
    for (j = 0; j < v->last; j++) {
        if (j > 0 && g->key[g->order[j - 1]] - g->key[g->order[j]] > within) c++;
        g->group[g->order[j]] = c;
    }
}

/* Sorts the items into their groups. A common divisor may have divided their weights in the meantime. */
static void gpuopt__knapsack_group_begin(gpuopt__knapsack_grouping *g) {
    const gpuopt__knapsack_view *v = g->view;
    int64_t sum;
    int32_t j, k, c, at = 0;
    for (j = 0; j < v->last; j++) g->key[j] = -v->table.weight[j];
    for (c = 0; c < g->groups; c++) {
        g->begin[c] = at;
        for (j = 0; j < v->last; j++)
            if (g->group[j] == c) g->order[at++] = j;
        gpuopt__knapsack_group_sort(g->order + g->begin[c], g->spare, at - g->begin[c], g->key);
        for (sum = 0, k = g->begin[c]; k <= at; k++) {
            g->weight[k + c] = sum;
            if (k < at) sum += v->table.weight[g->order[k]];
        }
    }
    g->begin[c] = at;
}

/* Sets the multiplier, and the data that depend on it. */
static void gpuopt__knapsack_group_price(gpuopt__knapsack_grouping *g, int64_t lambda) {
    const gpuopt__knapsack_view *v = g->view;
    int64_t sum;
    int32_t j, k, c;
    g->lambda = lambda;
    for (j = 0; j < v->last; j++)
        g->key[j] = GPUOPT__KNAPSACK_GROUP_SCALE * v->table.profit[j] - lambda * v->table.weight[j];
    for (c = 0; c < g->groups; c++) {
        gpuopt__knapsack_group_sort(g->order + g->begin[c], g->spare, g->begin[c + 1] - g->begin[c], g->key);
        for (sum = 0, k = g->begin[c]; k <= g->begin[c + 1]; k++) {
            g->value[k + c] = sum;
            if (k < g->begin[c + 1]) sum += g->key[g->order[k]];
        }
    }
}

/* ---- The relaxation of the last groups: single items, the last one in part ---- */

/* Of the groups from `first` on. Items are sorted by profit per weight, so that items of positive value come first. */
static void gpuopt__knapsack_group_relax(gpuopt__knapsack_grouping *g, int32_t first) {
    const gpuopt__knapsack_view *v = g->view;
    int32_t j;
    g->fills = 0;
    g->fill_weight[0] = g->fill_value[0] = 0;
    for (j = 0; j < v->last; j++) {
        if (g->group[j] < first || g->key[j] <= 0) continue;
        g->fill[g->fills] = j;
        g->fill_weight[g->fills + 1] = g->fill_weight[g->fills] + v->table.weight[j];
        g->fill_value[g->fills + 1] = g->fill_value[g->fills] + g->key[j];
        g->fills++;
    }
}

/* At least a * b / c, for a <= c. */
static int64_t gpuopt__knapsack_group_part(int64_t a, int64_t b, int64_t c) {
    const int64_t part = (int64_t)gpuopt__mul((double)a / (double)c, (double)b);
    return part + (part >> 48) + 1;
}

/* An upper bound of the value that fits. *at: a number of items that is not too small; becomes the number that fits. */
static int64_t gpuopt__knapsack_group_fill(const gpuopt__knapsack_grouping *g, int64_t residual, int32_t *at) {
    while (g->fill_weight[*at] > residual) --*at;
    if (*at == g->fills) return g->fill_value[*at];
    return g->fill_value[*at] + gpuopt__knapsack_group_part(residual - g->fill_weight[*at], g->key[g->fill[*at]],
                                                            g->view->table.weight[g->fill[*at]]);
}

/* ---- Lists ---- */

static gpuopt__knapsack_group_state *gpuopt__knapsack_group_list(const gpuopt__knapsack_grouping *g, int32_t c) {
    return g->list + (int64_t)c * g->states;
}

/* Shortens a list: states within `width` of the first become one, with the weight of the first and the value of the
 * last.
 * *width: grows until they fit. */
static int32_t gpuopt__knapsack_group_shorten(gpuopt__knapsack_group_state *list, int32_t count, int32_t limit,
                                              int64_t *width) {
    while (count > limit) {
        int32_t kept = 0, j = 0;
        while (j < count) {
            const int64_t weight = list[j].weight;
            while (j + 1 < count && list[j + 1].weight - weight <= *width) j++;
            list[kept] = list[j++];
            list[kept++].weight = weight;
        }
        count = kept;
        if (count > limit) *width = 2 * *width + 1;
    }
    return count;
}

/* Merges the states of list c with `count` items more of the group into `old`, and writes `merged`. */
static int32_t gpuopt__knapsack_group_merge(const gpuopt__knapsack_grouping *g, int32_t c, int32_t count,
                                            const gpuopt__knapsack_group_state *old, int32_t olds,
                                            gpuopt__knapsack_group_state *merged) {
    const gpuopt__knapsack_group_state *list = gpuopt__knapsack_group_list(g, c);
    const int64_t capacity = g->view->capacity, weight = g->weight[g->begin[c] + c + count],
                  value = g->value[g->begin[c] + c + count];
    int64_t most = INT64_MIN;
    int32_t j, o = 0, kept = 0, at = g->fills;
    for (j = 0; j < g->length[c] && list[j].weight <= capacity - weight; j++) {
        gpuopt__knapsack_group_state state;
        state.weight = list[j].weight + weight;
        state.value = list[j].value + value;
        state.from = j;
        state.count = count;
        if (state.value + gpuopt__knapsack_group_fill(g, capacity - state.weight, &at) < g->least) continue;
        for (; o < olds &&
               (old[o].weight < state.weight || (old[o].weight == state.weight && old[o].value >= state.value));
             o++)
            if (old[o].value > most) most = old[o].value, merged[kept++] = old[o];
        if (state.value > most) most = state.value, merged[kept++] = state;
    }
    for (; o < olds; o++)
        if (old[o].value > most) most = old[o].value, merged[kept++] = old[o];
    return kept;
}

/* Counts examined states: returns whether the stop hook ends the passes. */
static int gpuopt__knapsack_group_stops(gpuopt__knapsack_grouping *g, int64_t states) {
    g->unasked += states;
    if (g->stopped || g->unasked < GPUOPT__KNAPSACK_GROUP_ASK) return g->stopped;
    g->unasked = 0;
    g->stopped = gpuopt__asked_to_stop(g->context);
    return g->stopped;
}

/* Makes list c + 1, unless stopped. */
static void gpuopt__knapsack_group_step(gpuopt__knapsack_grouping *g, int32_t c) {
    const int64_t *weight = g->weight + g->begin[c] + c;
    const int32_t items = g->begin[c + 1] - g->begin[c], limit = g->limit;
    int64_t width = 0;
    int32_t count, kept = 0;
    gpuopt__knapsack_group_relax(g, c + 1);
    for (count = 0; count <= items && weight[count] <= g->view->capacity; count++) {
        gpuopt__knapsack_group_state *to = g->half[count % 2];
        kept = gpuopt__knapsack_group_merge(g, c, count, g->half[(count + 1) % 2], kept, to);
        g->work += kept;
        if (gpuopt__knapsack_group_stops(g, kept + g->length[c])) return;
        kept = gpuopt__knapsack_group_shorten(to, kept, 2 * limit, &width);
    }
    kept = gpuopt__knapsack_group_shorten(g->half[(count + 1) % 2], kept, limit, &width);
    memcpy(gpuopt__knapsack_group_list(g, c + 1), g->half[(count + 1) % 2], (size_t)kept * sizeof *g->list);
    g->length[c + 1] = kept;
    if (width > 0) g->shortened = 1;
}

/* Makes all lists, and leaves the relaxation of the last group. Returns 0 if it takes too long, or is stopped. */
static int gpuopt__knapsack_group_lists(gpuopt__knapsack_grouping *g, int64_t lower) {
    int32_t c;
    g->least = GPUOPT__KNAPSACK_GROUP_SCALE * (lower + 1) - g->lambda * g->view->capacity;
    memset(g->list, 0, sizeof *g->list);
    g->length[0] = 1;
    g->shortened = 0;
    for (c = 0; c + 1 < g->groups; c++) {
        if (g->work / g->states > GPUOPT__KNAPSACK_GROUP_WORK) return 0;
        gpuopt__knapsack_group_step(g, c);
        if (g->stopped) return 0;
    }
    gpuopt__knapsack_group_relax(g, g->groups - 1);
    return 1;
}

#endif /* GPUOPT_IMPL_KNAPSACK_STRENGTHEN_WEIGHT_CLASSES_H */
