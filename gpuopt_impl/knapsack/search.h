/* SPDX-License-Identifier: MIT
 *
 * Knapsack: a search as plain data, and what surrounds a step of it on every backend: which nodes it takes, where the
 * children go, what becomes of what it found.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_SEARCH_H
#define GPUOPT_IMPL_KNAPSACK_SEARCH_H

#include "bound.h"

enum {
    GPUOPT__KNAPSACK_KNOWN = 32,    /* decisions that a node carries */
    GPUOPT__KNAPSACK_COMPLETE = 32, /* decisions after which a list is completed again, if it has not doubled before */
    GPUOPT__KNAPSACK_FILLED = -1    /* a solution is a node filled; else: with this item not as it stands by default */
};

typedef struct gpuopt__knapsack_node {
    int64_t room;
    uint64_t profit;    /* of all it takes, the items before the core included: of what may weigh twice the capacity */
    uint32_t decisions; /* the last ones, the latest lowest; 1: not as the item stood before (in, before the core) */
} gpuopt__knapsack_node;

/* Nodes, each array with as many entries as there are. */
typedef struct gpuopt__knapsack_pool {
    int64_t *room;
    uint64_t *profit;
    uint32_t *decisions;
} gpuopt__knapsack_pool;

/* The best solution so far: a node and how it became one. */
typedef struct gpuopt__knapsack_best {
    int32_t level;                           /* -1: there is none */
    int32_t flip;                            /* an item outside of the core, or FILLED */
    int32_t known;                           /* how many decisions it carries */
    int32_t decided[GPUOPT__KNAPSACK_KNOWN]; /* their levels, the latest one first */
    gpuopt__knapsack_node node;
} gpuopt__knapsack_best;

/* The nodes of a level, in a search that holds several. */
typedef struct gpuopt__knapsack_list {
    int64_t count;
    int64_t completed; /* how long it, or one that it comes from, was when it was completed last */
    double bound;      /* the largest gpuopt__knapsack_value() */
    int32_t level;
    int32_t decided; /* decisions made up to here: levels but those that were passed over */
    int32_t side;    /* of the pool */
} gpuopt__knapsack_list;

/* A search in a part of the pool. Lists are stacked from both of the part's ends towards the middle, parents and children
 * on different sides. A step takes nodes from the end of the deepest list and writes their children on top of the other
 * side: nothing is ever moved, reads and writes are contiguous. Lists of side 1 lie in memory last node first. */
typedef struct gpuopt__knapsack_search {
    gpuopt__knapsack_view view;
    int32_t levels;              /* items of the view */
    const int32_t *begin;        /* [levels + 1]: where the core of each level begins; it has as many items as levels */
    const double *least_loss;    /* [levels]: the least that flipping an item of this level or a later one costs */
    gpuopt__knapsack_list *list; /* [levels + 1] */
    int32_t *decided;            /* [levels]: the levels at which the deepest list's decisions were made */
    int32_t depth;               /* lists */
    int dominance;               /* and a core that expands from the break item; else one that grows from the front */
    int stop_when_full;
    int full;                      /* the last level would have had to be sliced, and stop_when_full */
    int64_t lower;                 /* only what has more profit is looked for */
    int64_t goal;                  /* as soon as this much is found, the search ends */
    double ratio;                  /* profit per weight of the break item */
    double margin;                 /* more than the rounding errors of a bound by `ratio` */
    int64_t first, room;           /* the part of the pool */
    int64_t home_first, home_room; /* the same while nodes are where they belong */
    int on_host;                   /* they are elsewhere: in the host's memory, near a GPU */
    int which;                     /* 1: the search that recovers items */
    int64_t used[2];               /* of each side */
    int64_t reserve;               /* nodes that are to stay free, beside one for each level that is left, and two */
    gpuopt__knapsack_best best;
    int64_t expanded, pruned, dominated, peak, steps, slices;
} gpuopt__knapsack_search;

/* The nodes are, or the first one will be, where they belong. */
static inline void gpuopt__knapsack_go_home(gpuopt__knapsack_search *s) {
    s->on_host = 0;
    s->first = s->home_first;
    s->room = s->home_room;
}

/* Node k of the list that stands on `base` others on this side. */
GPUOPT_HD int64_t gpuopt__knapsack_place(const gpuopt__knapsack_search *s, int side, int64_t base, int64_t k) {
    return side ? s->first + s->room - 1 - base - k : s->first + base + k;
}

GPUOPT_HD gpuopt__knapsack_core gpuopt__knapsack_core_of(const gpuopt__knapsack_search *s, int32_t level) {
    gpuopt__knapsack_core core;
    core.begin = s->begin[level];
    core.end = core.begin + level;
    return core;
}

/* The item that is decided at a level: the one before the core, or the one behind it. */
GPUOPT_HD int32_t gpuopt__knapsack_item_of(const gpuopt__knapsack_search *s, int32_t level) {
    return s->begin[level + 1] < s->begin[level] ? s->begin[level + 1] : s->begin[level] + level;
}

/* What a node's room and profit change by where an item outside of the core is not as it stands: out if it is before
 * the core, else in. */
GPUOPT_HD void gpuopt__knapsack_flip(const gpuopt__knapsack_items *t, int32_t item, int before, int64_t *room,
                                     uint64_t *profit) {
    *room = before ? t->weight[item] : -t->weight[item];
    *profit = before ? 0 - (uint64_t)t->profit[item] : (uint64_t)t->profit[item];
}

/* What flipping an item costs at least, in the bound by `ratio`: 0 or less, but for rounding. */
GPUOPT_HD double gpuopt__knapsack_loss(const gpuopt__knapsack_search *s, int32_t item) {
    double loss =
        gpuopt__sub((double)s->view.table.profit[item], gpuopt__mul((double)s->view.table.weight[item], s->ratio));
    return item < s->view.at ? -loss : loss;
}

/* Whether a list's nodes may have children that beat the incumbent, by the bound with `ratio`, if each loses so much. */
GPUOPT_HD int gpuopt__knapsack_may_beat(const gpuopt__knapsack_search *s, double bound, double loss) {
    return gpuopt__add(gpuopt__add(bound, loss), s->margin) >= (double)s->lower + 1;
}

/* No solution that comes from a list has more profit; rounded up. */
GPUOPT_HD double gpuopt__knapsack_list_bound(const gpuopt__knapsack_search *s, const gpuopt__knapsack_list *list) {
    const gpuopt__knapsack_items *t = &s->view.table;
    gpuopt__knapsack_core core = gpuopt__knapsack_core_of(s, list->level);
    double bound = gpuopt__add(list->bound, s->margin);
    if (core.end >= s->view.at) return bound; /* else those up to the break item are taken, too */
    return gpuopt__add(
        bound, gpuopt__sub((double)(t->profit_sum[s->view.at] - t->profit_sum[core.end]),
                           gpuopt__mul((double)(t->weight_sum[s->view.at] - t->weight_sum[core.end]), s->ratio)));
}

/* ---- A step ---- */

/* `count` nodes of a level, and where their children go. Parent k has one child as it is and, if its room is at least
 * `least`, one with the level's item flipped. */
typedef struct gpuopt__knapsack_job {
    int32_t level;
    gpuopt__knapsack_core core; /* of the children */
    int64_t count;
    int64_t from, to;           /* places of the first node and of the first child */
    int64_t from_step, to_step; /* 1 or -1, from a node to the next one */
    int64_t lower;
    int64_t least;
    int64_t room; /* what flipping adds */
    uint64_t profit;
} gpuopt__knapsack_job;

/* What a step, or a part of one, found. */
typedef struct gpuopt__knapsack_found {
    int64_t children; /* that stay */
    int64_t pruned, dominated;
    double bound; /* of the children that stay */
    int64_t most; /* profit of the best solution; `lower` where nothing is better */
    gpuopt__knapsack_node best;
} gpuopt__knapsack_found;

GPUOPT_HD gpuopt__knapsack_found gpuopt__knapsack_nothing(int64_t lower) {
    gpuopt__knapsack_found f;
    f.children = f.pruned = f.dominated = 0;
    f.bound = 0;
    f.most = lower;
    f.best.room = 0;
    f.best.profit = 0;
    f.best.decisions = 0;
    return f;
}

/* Adds what the next part of a step found. Of equally good solutions the first one stays. */
GPUOPT_HD void gpuopt__knapsack_join(gpuopt__knapsack_found *sum, const gpuopt__knapsack_found *f) {
    sum->children += f->children;
    sum->pruned += f->pruned;
    sum->dominated += f->dominated;
    sum->bound = gpuopt__max(sum->bound, f->bound);
    if (f->most <= sum->most) return;
    sum->most = f->most;
    sum->best = f->best;
}

/* How many of the `count` nodes of a level the next step takes, from the list's end, where `room` nodes are free and
 * `reserve` of them are to stay so: all where twice as many fit, else a quarter of what is free. A reserve of the
 * levels that are left, and two, is enough for single nodes to be expanded to the last level: each step takes one node
 * from the pool and adds two, and the reserve that is needed falls by one. */
GPUOPT_HD int64_t gpuopt__knapsack_slice(int64_t count, int64_t room, int64_t reserve) {
    int64_t quarter = (room - reserve) / 4;
    if (count <= (room - reserve) / 2) return count;
    if (quarter < 1) quarter = 1;
    return count < quarter ? count : quarter;
}

/* Passes over levels at which no node of the list can be flipped and beat the incumbent. 0: that is all of them. */
GPUOPT_HD int gpuopt__knapsack_pass(const gpuopt__knapsack_search *s, gpuopt__knapsack_list *list) {
    while (s->dominance && list->level < s->levels) {
        int32_t item = gpuopt__knapsack_item_of(s, list->level);
        if (gpuopt__knapsack_may_beat(s, list->bound, gpuopt__knapsack_loss(s, item))) break;
        list->level++;
        if (list->level < s->levels && !gpuopt__knapsack_may_beat(s, list->bound, s->least_loss[list->level]))
            list->level = s->levels;
    }
    return list->level < s->levels;
}

/* The next step. 0: there is none, because no node is left, the goal is reached, or the pool is full. */
GPUOPT_HD int gpuopt__knapsack_next(gpuopt__knapsack_search *s, gpuopt__knapsack_job *job) {
    gpuopt__knapsack_list *top;
    int64_t base, left;
    int32_t item;
    int before;
    s->full = 0;
    while (s->depth > 0 && !gpuopt__knapsack_pass(s, &s->list[s->depth - 1])) {
        /* Nothing is left to decide: their fillings are solutions that have been looked at. */
        top = &s->list[--s->depth];
        s->pruned += top->count;
        s->used[top->side] -= top->count;
    }
    if (s->depth == 0 || s->lower >= s->goal) return 0;
    top = &s->list[s->depth - 1];
    job->level = top->level;
    job->count =
        gpuopt__knapsack_slice(top->count, s->room - s->used[0] - s->used[1], s->reserve + s->levels - top->level + 2);
    if (job->count < top->count && s->stop_when_full) {
        s->full = 1;
        return 0;
    }
    job->core = gpuopt__knapsack_core_of(s, top->level + 1);
    item = gpuopt__knapsack_item_of(s, top->level);
    before = job->core.begin < s->begin[top->level];
    gpuopt__knapsack_flip(&s->view.table, item, before, &job->room, &job->profit);
    left = gpuopt__knapsack_weight(&s->view.table, s->view.first, job->core.begin);
    job->least = before ? INT64_MIN : s->view.table.weight[item] - left; /* else no taking out makes the child fit */
    base = s->used[top->side] - job->count;
    job->from = gpuopt__knapsack_place(s, top->side, base, 0);
    job->to = gpuopt__knapsack_place(s, !top->side, s->used[!top->side], 0);
    job->from_step = top->side ? -1 : 1;
    job->to_step = -job->from_step;
    job->lower = s->lower;
    return 1;
}

/* A better solution. */
GPUOPT_HD void gpuopt__knapsack_improve(gpuopt__knapsack_search *s, int32_t level, int32_t decided, int32_t flip,
                                        const gpuopt__knapsack_node *node, int64_t profit) {
    int32_t k;
    s->lower = profit;
    s->best.level = level;
    s->best.flip = flip;
    s->best.node = *node;
    s->best.known = decided < GPUOPT__KNAPSACK_KNOWN ? decided : GPUOPT__KNAPSACK_KNOWN;
    for (k = 0; k < s->best.known; k++) s->best.decided[k] = s->decided[decided - 1 - k];
}

/* The nodes of the step go, their children come. */
GPUOPT_HD void gpuopt__knapsack_apply(gpuopt__knapsack_search *s, const gpuopt__knapsack_job *job,
                                      const gpuopt__knapsack_found *f) {
    gpuopt__knapsack_list *top = &s->list[s->depth - 1], child = *top;
    int64_t alive;
    s->slices += job->count < top->count;
    top->count -= job->count;
    s->used[top->side] -= job->count;
    if (top->count == 0) s->depth--;
    s->decided[child.decided++] = job->level;
    if (f->most > s->lower)
        gpuopt__knapsack_improve(s, job->level + 1, child.decided, GPUOPT__KNAPSACK_FILLED, &f->best, f->most);
    if (f->children > 0) {
        child.level = job->level + 1;
        child.count = f->children;
        child.bound = f->bound;
        child.side = !child.side;
        s->used[child.side] += f->children;
        s->list[s->depth++] = child;
    }
    s->steps++;
    s->expanded += job->count;
    s->pruned += f->pruned;
    s->dominated += f->dominated;
    alive = s->used[0] + s->used[1];
    if (alive > s->peak) s->peak = alive;
}

/* ---- Completion ----
 * Each item outside of the core, flipped, with the best node that then fits: a binary search each in a list that is
 * sorted by room, and in long lists nearly always within a few units of the optimum. */

/* Whether the deepest list is to be completed; a step has just made it. */
GPUOPT_HD int gpuopt__knapsack_completes(gpuopt__knapsack_search *s) {
    gpuopt__knapsack_list *top;
    if (!s->dominance || s->depth == 0) return 0;
    top = &s->list[s->depth - 1];
    if (top->count < 2 * top->completed &&
        (top->decided % GPUOPT__KNAPSACK_COMPLETE != 0 || GPUOPT__KNAPSACK_COMPLETE * top->count < s->levels))
        return 0; /* it would take longer than the steps since the last time */
    top->completed = top->count;
    return 1;
}

typedef struct gpuopt__knapsack_completion {
    gpuopt__knapsack_list list;
    gpuopt__knapsack_core core;
    int64_t from; /* the first node's place */
    int64_t step;
} gpuopt__knapsack_completion;

static inline gpuopt__knapsack_completion gpuopt__knapsack_completion_of(const gpuopt__knapsack_search *s) {
    gpuopt__knapsack_completion c;
    c.list = s->list[s->depth - 1];
    c.core = gpuopt__knapsack_core_of(s, c.list.level);
    c.from = gpuopt__knapsack_place(s, c.list.side, s->used[c.list.side] - c.list.count, 0);
    c.step = c.list.side ? -1 : 1;
    return c;
}

/* How many nodes of a list that is sorted by room, and begins at `from`, have at least this one. */
GPUOPT_HD int64_t gpuopt__knapsack_with_room(const gpuopt__knapsack_pool *pool, int64_t from, int64_t step,
                                             int64_t count, int64_t least) {
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (pool->room[from + middle * step] >= least) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The best solution with this item flipped, and its node's place; -1: there is none, or none that matters. */
GPUOPT_HD int64_t gpuopt__knapsack_try(const gpuopt__knapsack_search *s, const gpuopt__knapsack_completion *c,
                                       const gpuopt__knapsack_pool *pool, int32_t item, int64_t *place) {
    int64_t room, count;
    uint64_t profit;
    if (item >= c->core.begin && item < c->core.end) return -1;
    if (!gpuopt__knapsack_may_beat(s, c->list.bound, gpuopt__knapsack_loss(s, item))) return -1;
    gpuopt__knapsack_flip(&s->view.table, item, item < c->core.begin, &room, &profit);
    count = gpuopt__knapsack_with_room(pool, c->from, c->step, c->list.count, -room);
    if (count == 0) return -1;
    *place = c->from + (count - 1) * c->step;
    return (int64_t)(pool->profit[*place] + profit);
}

#endif /* GPUOPT_IMPL_KNAPSACK_SEARCH_H */
