/* SPDX-License-Identifier: MIT
 *
 * Knapsack: a search as plain data, and the parts of a step that are the same on every backend. These choose its nodes,
 * place their children, and apply its result.
 *
 * Core        With dominance the items around the break item are decided first, then the items closest to it in profit
 *             per weight (Pisinger: An expanding-core algorithm for the exact 0-1 knapsack problem, European Journal of
 *             Operational Research 87, 1995). An item is skipped if flipping it cannot lead any node of the list to a
 *             better solution. Without dominance the items are decided in their order.
 * Dominance   Of two nodes of a step, one is dropped if it weighs no less and has no more profit than the other. A list
 *             is sorted by weight, so this is a merge of two sorted lists: the unchanged and the flipped children.
 * Completion  When a list has doubled, and every 32 decisions, each undecided item is tried with the best node that
 *             leaves capacity for it. This usually finds the optimum within a few levels.
 * Slices      A step finds out by trying whether the children of a level fit the pool. If they do not fit and the pool
 *             may not grow, steps take slices from the end of the list, a quarter of the free nodes. The search
 *             continues with the deepest list: depth first. Dominance then acts only within a slice.
 * Exactness   Children are kept or dropped by exact comparisons (gpuopt__knapsack_beats). Rounded bounds decide only
 *             the levels to skip, the items to try, and `upper`, with a margin for the rounding errors.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_SEARCH_STATE_H
#define GPUOPT_IMPL_KNAPSACK_SEARCH_STATE_H

#include "bound.h"

enum {
    GPUOPT__KNAPSACK_KNOWN = 32,    /* decisions that a node stores */
    GPUOPT__KNAPSACK_COMPLETE = 32, /* decisions after which a list is completed again, unless it doubles before */
    GPUOPT__KNAPSACK_FILLED = -1    /* a solution is a filled node, without an item flipped */
};

typedef struct gpuopt__knapsack_node {
    int64_t residual;
    uint64_t profit;    /* of all items it takes, also before the core: their weight may be twice the capacity */
    uint32_t decisions; /* the last decisions, the latest in the lowest bit; 1: the item is flipped, see _flip */
} gpuopt__knapsack_node;

/* Nodes, as a structure of arrays. */
typedef struct gpuopt__knapsack_pool {
    int64_t *residual;
    uint64_t *profit;
    uint32_t *decisions;
} gpuopt__knapsack_pool;

/* The best solution so far: a node, and how it was completed. */
typedef struct gpuopt__knapsack_best {
    int32_t level;                           /* of the node; -1: there is no such solution */
    int32_t flip;                            /* completed by flipping this item outside the core, or FILLED */
    int32_t known;                           /* number of decisions stored in the node */
    int32_t decided[GPUOPT__KNAPSACK_KNOWN]; /* their levels, the latest one first */
    gpuopt__knapsack_node node;
} gpuopt__knapsack_best;

/* Nodes of one level. */
typedef struct gpuopt__knapsack_list {
    int64_t count;
    int64_t own;       /* nodes in this pool: fewer than `count` if the ranks of a group share the list */
    int64_t completed; /* its length, or its ancestor list's, at the latest completion */
    double bound;      /* the largest gpuopt__knapsack_value() */
    int32_t level;
    int32_t decided; /* number of decisions made up to here: levels that were not skipped */
    int32_t side;    /* of the pool */
    int32_t shared;  /* not 0: each rank has a range of the nodes, see ranks/ranges.h */
} gpuopt__knapsack_list;

/* A search in a part of the pool. Lists are stacked from both ends of the part towards the middle, with parents and
 * their children on different sides. A step takes nodes from the end of the deepest list and writes their children on
 * top of the other side. So no node ever moves, and reads and writes are contiguous. On side 1 the last node of a list
 * comes first in memory. */
typedef struct gpuopt__knapsack_search {
    gpuopt__knapsack_view view;
    int32_t levels;              /* items of the view */
    const int32_t *begin;        /* [levels + 1] start of a level's core; at level l the core has l items */
    const double *least_loss;    /* [levels] the smallest loss from flipping an item of this level or a later one */
    gpuopt__knapsack_list *list; /* [levels + 1] */
    int32_t *decided;            /* [levels] the levels of the deepest list's decisions */
    int32_t depth;               /* number of lists */
    int dominance;               /* 1: and a core that grows from the break item; 0: a core that grows from the front */
    int stop_when_full;
    int full;                        /* with stop_when_full: the next level does not fit */
    int tight;                       /* the children of the deepest list were found not to fit */
    int64_t lower;                   /* the search looks only for solutions with more profit */
    int64_t goal;                    /* the search ends with a solution of this profit */
    double ratio;                    /* profit per weight of the break item */
    double margin;                   /* exceeds the rounding errors of a bound by `ratio` */
    int64_t first, capacity;         /* the part of the pool in use */
    int64_t own_first, own_capacity; /* the search's own part of the pool */
    int on_host;                     /* GPU: the nodes are in host memory instead */
    int which;                       /* 1: the search that recovers items */
    int64_t used[2];                 /* nodes on each side */
    int64_t remote;                  /* nodes of shared lists on other ranks */
    int64_t uneven;                  /* free nodes that the rank with the fewest lacks */
    int64_t share_from;              /* nodes of a list from which on ranks share its children; INT64_MAX: no ranks */
    int32_t rank, ranks;             /* of the group */
    int together;                    /* the next step, to be made by all ranks together, is being chosen */
    int64_t *part;                   /* [levels + 1][ranks] of a shared list: its nodes on lower ranks */
    int64_t reserve;                 /* nodes kept free, beyond one for each remaining level and two more */
    gpuopt__knapsack_best best;
    int64_t expanded, pruned, dominated, peak, steps, slices;
} gpuopt__knapsack_search;

/* Places of nodes refer to the search's own part of the pool from now on. */
static inline void gpuopt__knapsack_use_own_pool(gpuopt__knapsack_search *s) {
    s->on_host = 0;
    s->first = s->own_first;
    s->capacity = s->own_capacity;
}

/* The place of node k of a list that is stacked on `base` other nodes on this side. */
GPUOPT_HD int64_t gpuopt__knapsack_place(const gpuopt__knapsack_search *s, int side, int64_t base, int64_t k) {
    return side ? s->first + s->capacity - 1 - base - k : s->first + base + k;
}

GPUOPT_HD gpuopt__knapsack_core gpuopt__knapsack_core_of(const gpuopt__knapsack_search *s, int32_t level) {
    gpuopt__knapsack_core core;
    core.begin = s->begin[level];
    core.end = core.begin + level;
    return core;
}

/* The item decided at a level: directly before the core or directly after it. */
GPUOPT_HD int32_t gpuopt__knapsack_item_of(const gpuopt__knapsack_search *s, int32_t level) {
    return s->begin[level + 1] < s->begin[level] ? s->begin[level + 1] : s->begin[level] + level;
}

/* How flipping an item outside the core changes a node's residual capacity and profit: an item before the core is
 * removed, an item after it is added. */
GPUOPT_HD void gpuopt__knapsack_flip(const gpuopt__knapsack_items *t, int32_t item, int before, int64_t *residual,
                                     uint64_t *profit) {
    *residual = before ? t->weight[item] : -t->weight[item];
    *profit = before ? 0 - (uint64_t)t->profit[item] : (uint64_t)t->profit[item];
}

/* How flipping an item changes the bound by `ratio`: by 0 or less, up to rounding. */
GPUOPT_HD double gpuopt__knapsack_loss(const gpuopt__knapsack_search *s, int32_t item) {
    double loss =
        gpuopt__sub((double)s->view.table.profit[item], gpuopt__mul((double)s->view.table.weight[item], s->ratio));
    return item < s->view.at ? -loss : loss;
}

/* Whether nodes of this bound, changed by `loss`, may lead to a solution that beats the incumbent. */
GPUOPT_HD int gpuopt__knapsack_may_beat(const gpuopt__knapsack_search *s, double bound, double loss) {
    return gpuopt__add(gpuopt__add(bound, loss), s->margin) >= (double)s->lower + 1;
}

/* The remaining nodes of all ranks. */
GPUOPT_HD int64_t gpuopt__knapsack_alive(const gpuopt__knapsack_search *s) {
    return s->used[0] + s->used[1] + s->remote;
}

/* Takes nodes from the end of list j. */
GPUOPT_HD void gpuopt__knapsack_shorten(gpuopt__knapsack_search *s, int32_t j, int64_t nodes) {
    gpuopt__knapsack_list *list = &s->list[j];
    const int64_t before = list->own;
    list->count -= nodes;
    list->own = list->own < list->count ? list->own : list->count;
    if (list->shared) {
        int64_t *part = s->part + (int64_t)j * s->ranks;
        int32_t r;
        for (r = 0; r < s->ranks; r++) part[r] = part[r] < list->count ? part[r] : list->count;
        list->own = (s->rank + 1 < s->ranks ? part[s->rank + 1] : list->count) - part[s->rank];
        s->remote -= nodes - (before - list->own);
    }
    s->used[list->side] -= before - list->own;
}

GPUOPT_HD int gpuopt__knapsack_has_ranks(const gpuopt__knapsack_search *s) { return s->share_from < INT64_MAX; }

/* Whether the ranks of a group continue together from this list: with a shared step, or after one. */
GPUOPT_HD int gpuopt__knapsack_is_common(const gpuopt__knapsack_search *s, const gpuopt__knapsack_list *list) {
    return list->shared || list->count >= s->share_from;
}

/* An upper bound of all solutions below the nodes of a list; rounded up. */
GPUOPT_HD double gpuopt__knapsack_list_bound(const gpuopt__knapsack_search *s, const gpuopt__knapsack_list *list) {
    const gpuopt__knapsack_items *t = &s->view.table;
    gpuopt__knapsack_core core = gpuopt__knapsack_core_of(s, list->level);
    double bound = gpuopt__add(list->bound, s->margin);
    if (core.end >= s->view.at) return bound; /* otherwise add the items up to the break item */
    return gpuopt__add(
        bound, gpuopt__sub((double)(t->profit_sum[s->view.at] - t->profit_sum[core.end]),
                           gpuopt__mul((double)(t->weight_sum[s->view.at] - t->weight_sum[core.end]), s->ratio)));
}

/* ---- A step ---- */

/* `count` nodes of a level, and the places of their children. Every parent has a child that is unchanged and, if its
 * residual capacity is at least `least`, a child with the level's item flipped. */
typedef struct gpuopt__knapsack_job {
    int32_t level;
    gpuopt__knapsack_core core; /* of the children */
    int64_t count;
    int64_t from, to;       /* places of the first node and of the first child */
    int64_t before, low;    /* the first `before` nodes are not in this pool, as if the first one's place were `low` */
    int64_t same, same_end; /* the nodes with unchanged children in this job, some of which stay */
    int64_t flipped, flipped_end; /* likewise for flipped children. Without a group: all */
    int64_t from_step, to_step;   /* 1 or -1, from a node to the next */
    int64_t lower;
    int64_t limit; /* children that fit; if more stay, the step fails: see gpuopt__knapsack_overflows */
    int64_t least;
    int64_t residual; /* flipping adds this to the residual capacity */
    uint64_t profit;  /* and this to the profit */
} gpuopt__knapsack_job;

/* The place of a node of the job. */
GPUOPT_HD int64_t gpuopt__knapsack_parent(const gpuopt__knapsack_job *job, int64_t k) {
    return (k < job->before ? job->low : job->from) + k * job->from_step;
}

/* Children that a job makes, whether or not they stay. */
GPUOPT_HD int64_t gpuopt__knapsack_children(const gpuopt__knapsack_job *job) {
    return job->same_end - job->same + job->flipped_end - job->flipped;
}

/* The results of a step, or of a part of one. */
typedef struct gpuopt__knapsack_found {
    int64_t children; /* number of children kept */
    int64_t pruned, dominated;
    double bound; /* the largest of the children kept */
    int64_t most; /* profit of the best solution; `lower` if none is better */
    gpuopt__knapsack_node best;
} gpuopt__knapsack_found;

GPUOPT_HD gpuopt__knapsack_found gpuopt__knapsack_nothing(int64_t lower) {
    gpuopt__knapsack_found f;
    f.children = f.pruned = f.dominated = 0;
    f.bound = 0;
    f.most = lower;
    f.best.residual = 0;
    f.best.profit = 0;
    f.best.decisions = 0;
    return f;
}

/* Adds the result of the next part of a step. Of equally good solutions the first is kept. */
GPUOPT_HD void gpuopt__knapsack_join(gpuopt__knapsack_found *sum, const gpuopt__knapsack_found *f) {
    sum->children += f->children;
    sum->pruned += f->pruned;
    sum->dominated += f->dominated;
    sum->bound = gpuopt__max(sum->bound, f->bound);
    if (f->most <= sum->most) return;
    sum->most = f->most;
    sum->best = f->best;
}

/* The nodes that the next step takes of the `count` nodes of a level with too many children. `spare` nodes are free
 * beyond the reserve; the step takes a quarter of them. The reserve is one node for each remaining level, and two more.
 * It suffices to expand single nodes down to the last level: each step removes one node from the pool, adds at most
 * two, and lowers the reserve by one. */
GPUOPT_HD int64_t gpuopt__knapsack_slice(int64_t count, int64_t spare) {
    int64_t quarter = spare / 4;
    if (quarter < 1) quarter = 1;
    return count < quarter ? count : quarter;
}

/* Skips levels if flipping their item cannot lead any node of the list to a better solution. Returns 0 if no level
 * remains. */
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

/* Chooses the next step. Returns 0 if there is none: no node is left, the goal is reached, or the pool is full. */
GPUOPT_HD int gpuopt__knapsack_next(gpuopt__knapsack_search *s, gpuopt__knapsack_job *job) {
    gpuopt__knapsack_list *top;
    int64_t base, left;
    int32_t item;
    int before;
    s->full = 0;
    while (s->depth > 0 && (s->together || !s->list[s->depth - 1].shared) &&
           !gpuopt__knapsack_pass(s, &s->list[s->depth - 1])) {
        /* All items are decided: the filled nodes were examined as solutions when they were made. */
        top = &s->list[--s->depth];
        s->pruned += top->count;
        gpuopt__knapsack_shorten(s, s->depth, top->count);
        if (s->together) return 0; /* the ranks' remaining nodes have to be counted first */
    }
    if (s->depth == 0 || s->lower >= s->goal) return 0;
    top = &s->list[s->depth - 1];
    if (gpuopt__knapsack_is_common(s, top) != s->together) return 0;
    job->level = top->level;
    job->count = top->count;
    job->limit = s->capacity - s->used[0] - s->used[1] - (s->reserve + s->levels - top->level + 2);
    if (!s->on_host) job->limit -= s->uneven;
    if (s->tight) {
        s->tight = 0;
        job->count = gpuopt__knapsack_slice(top->count, job->limit);
        s->full = s->stop_when_full && job->count < top->count;
        if (s->full) return 0;
        job->limit = INT64_MAX; /* they fit, or the reserve covers them */
    }
    job->core = gpuopt__knapsack_core_of(s, top->level + 1);
    item = gpuopt__knapsack_item_of(s, top->level);
    before = job->core.begin < s->begin[top->level];
    gpuopt__knapsack_flip(&s->view.table, item, before, &job->residual, &job->profit);
    left = gpuopt__knapsack_weight(&s->view.table, s->view.first, job->core.begin);
    job->least =
        before ? INT64_MIN
               : s->view.table.weight[item] - left; /* with less: too heavy even without all items before the core */
    base = s->used[top->side] - job->count;         /* for a shared list see ranks/ranges.h */
    job->from = gpuopt__knapsack_place(s, top->side, base, 0);
    job->to = gpuopt__knapsack_place(s, !top->side, s->used[!top->side], 0);
    job->from_step = top->side ? -1 : 1;
    job->to_step = -job->from_step;
    job->before = job->low = job->same = job->flipped = 0;
    job->same_end = job->flipped_end = job->count;
    job->lower = s->lower;
    return 1;
}

/* Makes a solution the best one. */
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

/* Whether more children stay than fit. Then nothing has changed, and the next step takes a slice. */
GPUOPT_HD int gpuopt__knapsack_overflows(gpuopt__knapsack_search *s, const gpuopt__knapsack_job *job,
                                         const gpuopt__knapsack_found *f) {
    s->tight = f->children > job->limit;
    return s->tight;
}

/* Applies the result of a step: removes its nodes and adds their children. own: the children in this pool. */
GPUOPT_HD void gpuopt__knapsack_apply(gpuopt__knapsack_search *s, const gpuopt__knapsack_job *job,
                                      const gpuopt__knapsack_found *f, int64_t own) {
    gpuopt__knapsack_list *top = &s->list[s->depth - 1], child = *top;
    int64_t alive;
    s->slices += job->count < top->count;
    gpuopt__knapsack_shorten(s, s->depth - 1, job->count);
    if (top->count == 0) s->depth--;
    s->decided[child.decided++] = job->level;
    if (f->most > s->lower)
        gpuopt__knapsack_improve(s, job->level + 1, child.decided, GPUOPT__KNAPSACK_FILLED, &f->best, f->most);
    if (f->children > 0) {
        child.level = job->level + 1;
        child.count = f->children;
        child.own = own;
        child.bound = f->bound;
        child.side = !child.side;
        child.shared = 0;
        s->used[child.side] += own;
        s->remote += f->children - own;
        s->list[s->depth++] = child;
    }
    s->steps++;
    s->expanded += job->count;
    s->pruned += f->pruned;
    s->dominated += f->dominated;
    alive = gpuopt__knapsack_alive(s);
    if (alive > s->peak) s->peak = alive;
}

/* ---- Completion ----
 * Each item outside the core is flipped in the best node that then fits. A binary search finds the node, since the list
 * is sorted by residual capacity. In long lists the best solution of this kind is nearly always within a few units of
 * the optimum. */

/* Whether to complete the deepest list, which a step has just made. */
GPUOPT_HD int gpuopt__knapsack_completes(gpuopt__knapsack_search *s) {
    gpuopt__knapsack_list *top;
    if (!s->dominance || s->depth == 0) return 0;
    top = &s->list[s->depth - 1];
    if (top->count < 2 * top->completed &&
        (top->decided % GPUOPT__KNAPSACK_COMPLETE != 0 || GPUOPT__KNAPSACK_COMPLETE * top->count < s->levels))
        return 0; /* completion would take longer than the steps since the latest one */
    top->completed = top->count;
    return 1;
}

typedef struct gpuopt__knapsack_completion {
    gpuopt__knapsack_list list;
    gpuopt__knapsack_core core;
    int64_t from; /* place of the first node */
    int64_t step;
} gpuopt__knapsack_completion;

static inline gpuopt__knapsack_completion gpuopt__knapsack_completion_of(const gpuopt__knapsack_search *s) {
    gpuopt__knapsack_completion c;
    c.list = s->list[s->depth - 1];
    c.list.count = c.list.own;
    c.core = gpuopt__knapsack_core_of(s, c.list.level);
    c.from = gpuopt__knapsack_place(s, c.list.side, s->used[c.list.side] - c.list.count, 0);
    c.step = c.list.side ? -1 : 1;
    return c;
}

/* How many nodes of a list, sorted by residual capacity and starting at place `from`, have at least this one. */
GPUOPT_HD int64_t gpuopt__knapsack_with_residual(const gpuopt__knapsack_pool *pool, int64_t from, int64_t step,
                                                 int64_t count, int64_t least) {
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (pool->residual[from + middle * step] >= least) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The profit of the best solution with this item flipped, and the place of its node; -1: there is none, or it cannot
 * beat the incumbent. */
GPUOPT_HD int64_t gpuopt__knapsack_try(const gpuopt__knapsack_search *s, const gpuopt__knapsack_completion *c,
                                       const gpuopt__knapsack_pool *pool, int32_t item, int64_t *place) {
    int64_t residual, count;
    uint64_t profit;
    if (item >= c->core.begin && item < c->core.end) return -1;
    if (!gpuopt__knapsack_may_beat(s, c->list.bound, gpuopt__knapsack_loss(s, item))) return -1;
    gpuopt__knapsack_flip(&s->view.table, item, item < c->core.begin, &residual, &profit);
    count = gpuopt__knapsack_with_residual(pool, c->from, c->step, c->list.count, -residual);
    if (count == 0) return -1;
    *place = c->from + (count - 1) * c->step;
    return (int64_t)(pool->profit[*place] + profit);
}

#endif /* GPUOPT_IMPL_KNAPSACK_SEARCH_STATE_H */
