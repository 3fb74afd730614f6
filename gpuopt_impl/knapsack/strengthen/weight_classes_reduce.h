/* SPDX-License-Identifier: MIT
 *
 * Knapsack: solutions, fixed items and an upper bound from the lists of weight_classes.h, for _create. Three parts
 * bound a solution with k items of a group: a state of the list before the group, its k best items, and the best rest
 * that fits. Forcing an item in or out costs the difference between its value and the value of the item that it
 * replaces.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_STRENGTHEN_WEIGHT_CLASSES_REDUCE_H
#define GPUOPT_IMPL_KNAPSACK_STRENGTHEN_WEIGHT_CLASSES_REDUCE_H

#include "weight_classes.h"
#include "inner_search.h"

enum {
    GPUOPT__KNAPSACK_GROUP_MOST = 4096,      /* items; with more a list takes too long */
    GPUOPT__KNAPSACK_GROUP_PASSES = 12,      /* values of lambda */
    GPUOPT__KNAPSACK_GROUP_SHORT = 256,      /* states of the first lists, which take milliseconds */
    GPUOPT__KNAPSACK_GROUP_FEW = 16,         /* groups; with more, lists stay short, since each takes memory */
    GPUOPT__KNAPSACK_GROUP_GROWTH = 4,       /* of lists */
    GPUOPT__KNAPSACK_GROUP_LAST_GROWTH = 32, /* growth of the last lists, if most items are left */
    GPUOPT__KNAPSACK_GROUP_TRIALS = 256,     /* solutions tried in a pass */
    GPUOPT__KNAPSACK_GROUP_PROBE = 1024,     /* nodes an item: problems solved within them need no groups */
    GPUOPT__KNAPSACK_GROUP_PROBE_FROM = 256, /* items; with fewer, making longer lists is as fast */
    GPUOPT__KNAPSACK_GROUP_POOL = 1 << 18    /* nodes of this pool */
};

#define GPUOPT__KNAPSACK_GROUP_NONE (INT64_MIN / 4)

/* ---- A short search ---- */

/* Searches the problem for a while, and takes over the results. *closed: no solution is better. After an error, for
 * example without memory, the search has no result. */
static gpuopt_status gpuopt__knapsack_group_probe(gpuopt_knapsack *k, int *closed) {
    const gpuopt__knapsack_view *v = &k->search.view;
    gpuopt_outcome outcome;
    int64_t bound;
    gpuopt_status status = gpuopt__knapsack_inner_search(k, v->table.weight, v->capacity, GPUOPT__KNAPSACK_GROUP_POOL,
                                                         GPUOPT__KNAPSACK_GROUP_PROBE, &outcome, &bound);
    *closed = !status && (outcome == GPUOPT_OPTIMAL || outcome == GPUOPT_INFEASIBLE);
    return status;
}

/* ---- Solutions and the bound ---- */

/* Whether the best items of a state, with all items of positive value of the last group, are too heavy. If the state's
 * items alone fit, they form a solution with all other items that fit. */
static int gpuopt__knapsack_group_try(gpuopt_knapsack *k, const gpuopt__knapsack_grouping *g, int32_t state) {
    const gpuopt__knapsack_view *v = g->view;
    int64_t residual = v->capacity, profit = 0, left;
    int32_t c, i, j, last;
    for (j = 0; j < k->items; j++) k->trial[j] = k->fixed[j] == 1;
    for (c = g->groups - 1; c > 0; c--) {
        const gpuopt__knapsack_group_state *s = gpuopt__knapsack_group_list(g, c) + state;
        for (i = 0; i < s->count; i++) {
            j = g->order[g->begin[c - 1] + i];
            gpuopt__knapsack_set(k, j, 1);
            residual -= v->table.weight[j];
            profit += v->table.profit[j];
        }
        state = s->from;
    }
    left = residual - g->fill_weight[g->fills];
    for (last = 1; last >= 0 && residual >= 0; last--)
        for (j = 0; j < v->last; j++) {
            if (v->table.weight[j] > residual || k->trial[k->order[j]] || (last && g->group[j] + 1 < g->groups))
                continue;
            gpuopt__knapsack_set(k, j, 1);
            residual -= v->table.weight[j];
            profit += v->table.profit[j];
        }
    if (residual >= 0 && profit > k->search.lower)
        gpuopt__knapsack_adopt(k, k->base_profit + profit * k->unit, k->trial);
    return left < 0;
}

/* The bound, in units, and solutions of the states that may be better than the incumbent. *heavy: the relaxed solution
 * is too heavy. */
static int64_t gpuopt__knapsack_group_bound(gpuopt_knapsack *k, gpuopt__knapsack_grouping *g, int *heavy) {
    const gpuopt__knapsack_group_state *list = gpuopt__knapsack_group_list(g, g->groups - 1);
    const int64_t offset = g->lambda * g->view->capacity;
    int64_t bound, most = -1;
    int32_t s, at = g->fills, best = -1, trials = 0;
    for (s = 0; s < g->length[g->groups - 1]; s++) {
        bound = list[s].value + gpuopt__knapsack_group_fill(g, g->view->capacity - list[s].weight, &at);
        g->rest[s] = bound - list[s].value;
        if (bound + offset <= most) continue;
        most = bound + offset;
        best = s;
    }
    *heavy = best >= 0 && gpuopt__knapsack_group_try(k, g, best);
    while (s-- > 0 && trials < GPUOPT__KNAPSACK_GROUP_TRIALS)
        if ((list[s].value + g->rest[s] + offset) / GPUOPT__KNAPSACK_GROUP_SCALE > k->search.lower) {
            gpuopt__knapsack_group_try(k, g, s);
            trials++;
        }
    bound = best < 0 ? -1 : most / GPUOPT__KNAPSACK_GROUP_SCALE;
    return bound > k->search.lower ? bound : k->search.lower;
}

/* ---- Fixed items ---- */

/* About a * b / c: at least (up) or at most this; cut off at 2^60. */
static int64_t gpuopt__knapsack_group_share(int64_t a, int64_t b, int64_t c, int up) {
    const double share = gpuopt__mul((double)a / (double)c, (double)b);
    const int64_t whole = share < 0x1p60 ? (int64_t)share : (int64_t)1 << 60;
    return up ? whole + (whole >> 48) + 1 : whole - (whole >> 48) - 1;
}

/* The last group: *in, *out bound the solutions with and without the item at number `place` of the relaxation. */
static void gpuopt__knapsack_group_last(const gpuopt__knapsack_grouping *g, int32_t j, int32_t place, int64_t *in,
                                        int64_t *out) {
    const int64_t *weight = g->view->table.weight;
    int32_t t;
    *in = *out = GPUOPT__KNAPSACK_GROUP_NONE;
    for (t = 0; t <= g->fills; t++) {
        int64_t loss = 0, with = g->most[t], without = g->most[t];
        if (g->most[t] == GPUOPT__KNAPSACK_GROUP_NONE) continue;
        if (t < g->fills)
            loss = gpuopt__knapsack_group_share(weight[j], g->key[g->fill[t]], weight[g->fill[t]], place < t);
        loss -= g->key[j]; /* cost of taking it, compared with other items of the same weight */
        if (place < t && loss < 0) without += loss;
        if (place > t && loss > 0) with -= loss;
        if (with > *in) *in = with;
        if (without > *out) *out = without;
    }
}

static void gpuopt__knapsack_group_fix_last(gpuopt__knapsack_grouping *g, uint8_t *choice) {
    const int32_t c = g->groups - 1;
    const gpuopt__knapsack_group_state *list = gpuopt__knapsack_group_list(g, c);
    int64_t in, out;
    int32_t s, k, t = g->fills, place = 0;
    for (k = 0; k <= g->fills; k++) g->most[k] = GPUOPT__KNAPSACK_GROUP_NONE;
    for (s = 0; s < g->length[c]; s++) {
        g->rest[s] = gpuopt__knapsack_group_fill(g, g->view->capacity - list[s].weight, &t);
        if (list[s].value + g->rest[s] > g->most[t]) g->most[t] = list[s].value + g->rest[s];
    }
    for (k = 0; k < g->view->last; k++) {
        if (g->group[k] != c) continue;
        while (place < g->fills && g->fill[place] < k) place++;
        gpuopt__knapsack_group_last(g, k, place < g->fills && g->fill[place] == k ? place : g->fills + 1, &in, &out);
        choice[k] = in < g->least ? 0 : out < g->least ? 1 : 2;
    }
}

/* rest: on entry of list c + 1, on return of list c. most[k] bounds the solutions with k items of group c. After a stop
 * both are invalid. */
static void gpuopt__knapsack_group_rest(gpuopt__knapsack_grouping *g, int32_t c, const int64_t *rest, int64_t *before) {
    const gpuopt__knapsack_group_state *from = gpuopt__knapsack_group_list(g, c),
                                       *to = gpuopt__knapsack_group_list(g, c + 1);
    const int64_t *weight = g->weight + g->begin[c] + c, *value = g->value + g->begin[c] + c;
    const int32_t items = g->begin[c + 1] - g->begin[c], states = g->length[c], last = g->length[c + 1] - 1;
    int32_t count, s, t;
    for (s = 0; s < states; s++) before[s] = GPUOPT__KNAPSACK_GROUP_NONE;
    for (count = 0; count <= items && !gpuopt__knapsack_group_stops(g, states + last + 1); count++) {
        const int64_t more = weight[count], gain = value[count], residual = g->view->capacity - more;
        int64_t most = GPUOPT__KNAPSACK_GROUP_NONE;
        for (s = 0, t = -1; s < states && from[s].weight <= residual; s++) {
            const int64_t heavy = from[s].weight + more, valued = from[s].value + gain;
            int64_t bound;
            while (t < last && to[t + 1].weight <= heavy) t++;
            /* No state is as light with this value: the state was dropped, and no solution is better. */
            if (t < 0 || to[t].value < valued) continue;
            bound = gain + rest[t];
            if (bound > before[s]) before[s] = bound;
            if (valued + rest[t] > most) most = valued + rest[t];
        }
        g->most[count] = most;
    }
}

/* Fixes items of group c by most[]. In the order of value, the item of rank r is among the best `count` if r < count.
 * Otherwise it replaces the last of these; and without it the next item takes its place. */
static void gpuopt__knapsack_group_fix(const gpuopt__knapsack_grouping *g, int32_t c, uint8_t *choice) {
    const int32_t items = g->begin[c + 1] - g->begin[c], *order = g->order + g->begin[c];
    int64_t *many = g->fill_weight, *next = g->fill_value; /* no longer needed */
    int64_t few = GPUOPT__KNAPSACK_GROUP_NONE, swapped = few, in, out;
    int32_t r;
    many[items] = g->most[items]; /* the most with more than r items */
    next[items] = few;            /* and without the item of rank r, apart from its value */
    for (r = items - 1; r > 0; r--) {
        many[r] = g->most[r] > many[r + 1] ? g->most[r] : many[r + 1];
        next[r] = g->most[r] + g->key[order[r]] > next[r + 1] ? g->most[r] + g->key[order[r]] : next[r + 1];
    }
    for (r = 0; r < items; r++) {
        if (g->most[r] > few) few = g->most[r];
        if (r > 0 && g->most[r] - g->key[order[r - 1]] > swapped) swapped = g->most[r] - g->key[order[r - 1]];
        in = swapped + g->key[order[r]] > many[r + 1] ? swapped + g->key[order[r]] : many[r + 1];
        out = next[r + 1] - g->key[order[r]] > few ? next[r + 1] - g->key[order[r]] : few;
        choice[order[r]] = in < g->least ? 0 : out < g->least ? 1 : 2;
    }
}

/* Finds the items that every better solution takes (1) or leaves out (0); 2: undecided. choice: [items of the view].
 * Returns 0 after a stop. */
static int gpuopt__knapsack_group_choose(gpuopt__knapsack_grouping *g, uint8_t *choice) {
    int64_t *rest = g->rest, *before = g->rest + g->states, *other;
    int32_t c;
    gpuopt__knapsack_group_fix_last(g, choice);
    for (c = g->groups - 2; c >= 0; c--) {
        gpuopt__knapsack_group_rest(g, c, rest, before);
        if (g->stopped) return 0;
        gpuopt__knapsack_group_fix(g, c, choice);
        other = rest, rest = before, before = other;
    }
    return 1;
}

/* ---- All of the reduction ---- */

/* Applies the choices. Returns the number of items left; -1: the items that every better solution takes do not fit. */
static int32_t gpuopt__knapsack_group_apply(gpuopt_knapsack *k, gpuopt__knapsack_grouping *g,
                                            gpuopt__knapsack_item *item, const uint8_t *choice) {
    gpuopt__knapsack_view *v = &k->search.view;
    int64_t capacity = v->capacity;
    int32_t j, count = 0;
    for (j = 0; j < v->last && capacity >= 0; j++)
        if (choice[j] == 1) capacity -= item[j].weight;
    if (capacity < 0) return -1;
    for (j = 0; j < v->last; j++) {
        if (choice[j] == 2 && item[j].weight <= capacity) {
            g->group[count] = g->group[j];
            item[count++] = item[j];
            continue;
        }
        k->fixed[item[j].index] = choice[j] == 1;
        if (choice[j] == 1) k->base_profit += item[j].profit * k->unit;
    }
    v->capacity = capacity;
    gpuopt__knapsack_normalize(k, item, count);
    gpuopt__knapsack_tabulate(k, item, count);
    gpuopt__knapsack_greedy(k);
    k->search.lower = gpuopt__knapsack_units(k, k->incumbent);
    return count;
}

/* The largest useful lambda: a little more than the profit per weight of the break item; -1: sums might overflow. */
static int64_t gpuopt__knapsack_group_largest(const gpuopt__knapsack_view *v) {
    const int32_t at = v->at < v->last ? v->at : v->last - 1;
    const double ratio = (double)v->table.profit[at] / (double)v->table.weight[at];
    const double largest = gpuopt__mul(GPUOPT__KNAPSACK_GROUP_SCALE, ratio);
    double profit = 0, weight = (double)v->capacity;
    int32_t j;
    for (j = 0; j < v->last; j++) {
        profit = gpuopt__add(profit, (double)v->table.profit[j]);
        weight = gpuopt__add(weight, (double)v->table.weight[j]);
    }
    profit =
        gpuopt__add(gpuopt__mul(profit, GPUOPT__KNAPSACK_GROUP_SCALE), gpuopt__mul(weight, gpuopt__add(largest, 1)));
    return profit < 0x1p58 ? (int64_t)largest + 1 : -1;
}

/* ---- The best lambda ---- */

/* A search for the lambda of the least bound. The bound is convex in lambda except for changes by merged states and
 * fixed items. So the search compares values, and stays at the least one. */
typedef struct gpuopt__knapsack_group_line {
    int64_t low, best, high;                           /* other lambdas are worse; high is at first too large */
    int64_t bound;                                     /* of the best lambda */
    int low_shortened, best_shortened, high_shortened; /* whether lists were shortened, so that longer lists may give
                                                        * less */
    int up;                                            /* whether to search above the best lambda first */
} gpuopt__knapsack_group_line;

/* Records a bound. heavy: the relaxed solution would usually fit with a larger lambda. */
static void gpuopt__knapsack_group_note(gpuopt__knapsack_group_line *l, int64_t lambda, int64_t bound, int shortened,
                                        int heavy) {
    if (bound < l->bound) {
        if (lambda > l->best) l->low = l->best, l->low_shortened = l->best_shortened;
        if (lambda < l->best) l->high = l->best, l->high_shortened = l->best_shortened;
        l->best = lambda;
        l->bound = bound;
        l->best_shortened = shortened;
        l->up = heavy;
    } else if (lambda > l->best) {
        l->high = lambda;
        l->high_shortened = shortened;
        l->up = l->high - l->best > 4 * (l->best - l->low);
    } else {
        l->low = lambda;
        l->low_shortened = shortened;
        l->up = l->best - l->low <= 4 * (l->high - l->best);
    }
}

/* The next lambda; -1: there is none. A larger lambda gives shorter lists, so the first lambdas are near top. */
static int64_t gpuopt__knapsack_group_next(const gpuopt__knapsack_group_line *l, int64_t top) {
    const int up = l->low + 1 >= l->best || (l->up && l->best + 1 < l->high);
    const int64_t low = up ? l->best : l->low, high = up ? l->high : l->best;
    int64_t less = 1, most = top - low;
    if (low + 1 >= high) return -1;
    while (high == top && less < most) less *= 2, most /= 2;
    return high < top || top - less <= low ? high - (high - low) / 2 : top - less;
}

/* Passes with one lambda each, until they gain little. *upper: the least bound, of all profit. Returns whether longer
 * lists may give a better one. */
static int gpuopt__knapsack_group_passes(gpuopt_knapsack *k, gpuopt__knapsack_grouping *g, int64_t top, int32_t most,
                                         int64_t *upper) {
    gpuopt__knapsack_search *s = &k->search;
    gpuopt__knapsack_group_line line = {-1, 0, top, INT64_MAX, 0, 1, 0, 1};
    int64_t lambda = 0, bound, before;
    int32_t pass, items;
    int heavy;
    for (pass = 0; pass < GPUOPT__KNAPSACK_GROUP_PASSES && lambda >= 0; pass++) {
        items = s->view.last;
        before = line.bound;
        if (items < GPUOPT__KNAPSACK_GROUP_ITEMS) return 0;
        gpuopt__knapsack_group_begin(g);
        gpuopt__knapsack_group_price(g, lambda);
        if (!gpuopt__knapsack_group_lists(g, s->lower)) return g->shortened;
        bound = k->base_profit + gpuopt__knapsack_group_bound(k, g, &heavy) * k->unit;
        if (bound < *upper) *upper = bound;
        if (*upper <= k->incumbent) return 0;
        if (g->shortened && g->limit < most) g->limit *= 2;
        g->least = GPUOPT__KNAPSACK_GROUP_SCALE * (s->lower + 1) - g->lambda * s->view.capacity;
        if (!gpuopt__knapsack_group_choose(g, g->choice)) return 0;
        if (gpuopt__knapsack_group_apply(k, g, k->scratch, g->choice) < 0) {
            *upper = k->incumbent;
            return 0;
        }
        gpuopt__knapsack_group_note(&line, lambda, bound, g->shortened, heavy);
        if (lambda == 0 && !heavy) break;
        lambda = gpuopt__knapsack_group_next(&line, top);
        if (!g->shortened || g->limit < most || s->view.last < items || bound >= before) continue;
        if (bound - k->incumbent > (before - k->incumbent) / 4 * 3) break;
    }
    return line.low_shortened || line.best_shortened || line.high_shortened;
}

/* Allocates lists, and keeps the groups. Returns 0 if there is no memory. */
static int gpuopt__knapsack_group_take(const gpuopt_knapsack *k, gpuopt__knapsack_grouping *g, int growth,
                                       void **memory) {
    const int32_t items = k->search.view.last;
    const int32_t *group = g->group;
    void *old = *memory;
    *memory =
        gpuopt__try_allocate(k->context, GPUOPT_HOST, gpuopt__knapsack_group_cut(g, NULL, items, g->groups, growth));
    if (*memory) gpuopt__knapsack_group_cut(g, *memory, items, g->groups, growth);
    if (*memory && old) memcpy(g->group, group, (size_t)items * sizeof *group);
    gpuopt__release(k->context, GPUOPT_HOST, old);
    g->work = 0;
    return *memory != NULL;
}

/* Passes with short lists. If longer lists may give more: a short search, then passes with lists of the usual growth
 * and, if most items are left, with the longest. Returns 0 if memory was missing anywhere. */
static int gpuopt__knapsack_group_all(gpuopt_knapsack *k, gpuopt__knapsack_grouping *g, int64_t largest, int64_t *upper,
                                      void **memory) {
    const int few = g->groups <= GPUOPT__KNAPSACK_GROUP_FEW;
    int32_t items;
    int longer, closed = 0, whole = 1;
    if (!gpuopt__knapsack_group_take(k, g, few ? GPUOPT__KNAPSACK_GROUP_GROWTH : 1, memory)) return 0;
    g->limit = GPUOPT__KNAPSACK_GROUP_SHORT < g->states ? GPUOPT__KNAPSACK_GROUP_SHORT : g->states;
    longer = gpuopt__knapsack_group_passes(k, g, largest, g->limit, upper);
    if (!longer || g->stopped) return 1;
    items = k->search.view.last;
    if (items >= GPUOPT__KNAPSACK_GROUP_PROBE_FROM) {
        whole = !gpuopt__knapsack_group_probe(k, &closed);
        if (closed) *upper = k->incumbent;
        g->stopped = !closed && gpuopt__asked_to_stop(k->context);
    }
    if (closed || g->stopped) return whole;
    g->limit = GPUOPT__KNAPSACK_GROUP_STATES;
    longer = gpuopt__knapsack_group_passes(k, g, largest, g->states, upper);
    if (!few || !longer || g->stopped || 2 * k->search.view.last <= items) return whole;
    if (!gpuopt__knapsack_group_take(k, g, GPUOPT__KNAPSACK_GROUP_LAST_GROWTH, memory)) return 0;
    g->limit = g->states;
    gpuopt__knapsack_group_passes(k, g, largest, g->states, upper);
    return whole;
}

/* Called after other reductions: if there are groups, finds better solutions, fewer items, and a goal. The handle's
 * tables and its scratch hold the items that are left. Returns 0 if parts were left out, for lack of memory or because
 * of a stop; earlier results stay. */
static int gpuopt__knapsack_group(gpuopt_knapsack *k) {
    gpuopt__knapsack_search *s = &k->search;
    const gpuopt__knapsack_view *v = &s->view;
    gpuopt__knapsack_grouping g;
    int64_t upper = INT64_MAX, within = 0, largest;
    int whole = 1;
    void *memory = NULL;
    memset(&g, 0, sizeof g);
    s->lower = gpuopt__knapsack_units(k, k->incumbent);
    if (v->last < GPUOPT__KNAPSACK_GROUP_ITEMS || v->last > GPUOPT__KNAPSACK_GROUP_MOST) return 1;
    largest = gpuopt__knapsack_group_largest(v);
    if (largest < 0) return 1;
    if (!gpuopt__knapsack_group_take(k, &g, 0, &memory)) return 0;
    g.context = k->context;
    g.view = v;
    g.groups = gpuopt__knapsack_group_find(v, g.order, g.spare, g.key, &within);
    if (g.groups > 0) {
        gpuopt__knapsack_group_divide(&g, within);
        whole = gpuopt__knapsack_group_all(k, &g, largest, &upper, &memory);
    }
    gpuopt__release(k->context, GPUOPT_HOST, memory);
    s->goal = gpuopt__knapsack_units(k, upper > k->incumbent ? upper : k->incumbent);
    return whole && !g.stopped;
}

#endif /* GPUOPT_IMPL_KNAPSACK_STRENGTHEN_WEIGHT_CLASSES_REDUCE_H */
