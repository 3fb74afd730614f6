/* SPDX-License-Identifier: MIT
 *
 * Orders by dissection. A smallest vertex separator cuts a cell of vertices in two, between the vertices at one end and
 * the vertices at the other. A maximum flow of vertex-disjoint paths finds it (in the manner of Schild, Sommer: On
 * balanced separators in road networks, 2015). The parts are cut likewise. There are two ways:
 * - in a row: the vertices eliminated before the cell belong to one end, and later ones to the other. At the cut as few
 *   variables as possible are open. Grids and similar graphs have no better order.
 * - nested: the separator comes after both parts, which are then independent.
 * Both take memory in proportion to the graph, and so also serve large graphs.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_ORDER_FLOW_H
#define GPUOPT_IMPL_ELIMINATION_ORDER_FLOW_H

#include "greedy.h"
#include "watch.h"
#include "../base/tuning.h"

typedef struct gpuopt__elimination_flow {
    /* The graph */
    int32_t vertices;
    const int64_t *start;    /* [vertices + 1] */
    const int32_t *adjacent; /* [start[vertices]] */
    /* The order: the cell is place[begin], ..., place[end - 1] */
    int32_t *place, *at; /* [vertices] the vertices in order; where each is */
    int32_t begin, end;
    int nested;
    int32_t *cells; /* [2 * vertices + 2] beginnings and ends of cells to cut */
    /* Distances, in steps, within the cell */
    int32_t *before, *after, *across; /* [vertices] from the vertices before the cell; from the vertices after it; from
                                       * its side */
    int32_t *count, *other;           /* [2 * vertices + 2], [vertices] for sorting */
    /* The flow: paths from the first `source` vertices of the cell and the vertices before it, to the last `source`
     * vertices and the vertices after it */
    int32_t source;
    int32_t *next, *previous; /* [vertices] on the vertex's path, -1: none */
    uint8_t *on;              /* [vertices] whether a path goes through the vertex, or NEW, OUT */
    int32_t *reached;         /* [2 * vertices] the predecessors of states: 2v is v, entered; 2v + 1 is v, to be left.
                              * UNSEEN, or ENTRY: reached from a source */
    int32_t *queue;           /* [2 * vertices] */
    int32_t *entry, entries;  /* [vertices] the neighbours of sources */
    /* Limits */
    gpuopt__elimination_watch *watch;
    double end_at;             /* in the watch's seconds */
    int64_t scans, most_scans; /* of neighbours; INT64_MAX: any */
    int64_t look;              /* scans at the next call of the watch */
} gpuopt__elimination_flow;

enum { GPUOPT__ELIMINATION_FLOW_UNSEEN = -2, GPUOPT__ELIMINATION_FLOW_ENTRY = -1 };
enum { GPUOPT__ELIMINATION_FLOW_NEW = 2, GPUOPT__ELIMINATION_FLOW_OUT = 3 };

static void gpuopt__elimination_flow_cut(gpuopt__elimination_flow *f, gpuopt__arena *arena) {
    const int64_t n = f->vertices;
    f->place = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    f->at = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    f->cells = (int32_t *)gpuopt__cut(arena, 2 * n + 2, sizeof(int32_t));
    f->before = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    f->after = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    f->across = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    f->count = (int32_t *)gpuopt__cut(arena, 2 * n + 2, sizeof(int32_t));
    f->other = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    f->next = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    f->previous = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    f->on = (uint8_t *)gpuopt__cut(arena, n, 1);
    f->reached = (int32_t *)gpuopt__cut(arena, 2 * n, sizeof(int32_t));
    f->queue = (int32_t *)gpuopt__cut(arena, 2 * n, sizeof(int32_t));
    f->entry = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
}

/* Counts scans. Returns whether the search may continue. */
static int gpuopt__elimination_flow_goes_on(gpuopt__elimination_flow *f, int64_t scans) {
    f->scans += scans;
    if (f->scans > f->most_scans) return 0;
    if (f->scans < f->look) return 1;
    f->look = f->scans + GPUOPT__ELIMINATION_SWEEP_LOOK;
    return gpuopt__elimination_watch_seconds(f->watch, 1) < f->end_at && !gpuopt__elimination_watch_ends(f->watch, 1);
}

/* ---- The ends of a cell ---- */

/* Steps within the cell from the first `seeds` vertices of the queue; unreachable: the size of the cell. Returns the
 * last vertex found. */
static int32_t gpuopt__elimination_flow_distances(gpuopt__elimination_flow *f, int32_t seeds, int32_t *steps) {
    const int32_t size = f->end - f->begin;
    int32_t seen = 0, waiting = seeds, k;
    int64_t i;
    for (k = f->begin; k < f->end; k++) steps[f->place[k]] = size;
    for (k = 0; k < seeds; k++) steps[f->queue[k]] = 0;
    while (seen < waiting) {
        const int32_t v = f->queue[seen++];
        f->scans += f->start[v + 1] - f->start[v];
        for (i = f->start[v]; i < f->start[v + 1]; i++) {
            const int32_t u = f->adjacent[i];
            if (f->at[u] < f->begin || f->at[u] >= f->end || steps[u] < size || steps[u] == 0) continue;
            steps[u] = steps[v] + 1;
            f->queue[waiting++] = u;
        }
    }
    return f->queue[waiting - 1];
}

/* The vertex of the cell that is farthest from v. */
static int32_t gpuopt__elimination_flow_farthest(gpuopt__elimination_flow *f, int32_t v) {
    f->queue[0] = v;
    return gpuopt__elimination_flow_distances(f, 1, f->across);
}

/* Puts the vertices of the cell with a neighbour before it, or after it, into the queue; returns how many. */
static int32_t gpuopt__elimination_flow_border(gpuopt__elimination_flow *f, int after) {
    int32_t count = 0, k;
    int64_t i;
    for (k = f->begin; k < f->end; k++) {
        const int32_t v = f->place[k];
        for (i = f->start[v]; i < f->start[v + 1]; i++) {
            const int32_t at = f->at[f->adjacent[i]];
            if (after ? at < f->end : at >= f->begin) continue;
            f->queue[count++] = v;
            break;
        }
    }
    return count;
}

/* Sorts the cell by `key` [vertices], a number from 0 to `most`; vertices with equal keys stay in order. */
static void gpuopt__elimination_flow_sort(gpuopt__elimination_flow *f, const int32_t *key, int32_t most) {
    int32_t k;
    memset(f->count, 0, sizeof(int32_t) * (size_t)(most + 2));
    for (k = f->begin; k < f->end; k++) f->count[key[f->place[k]] + 1]++;
    for (k = 1; k <= most; k++) f->count[k] += f->count[k - 1];
    for (k = f->begin; k < f->end; k++) f->other[f->count[key[f->place[k]]]++] = f->place[k];
    for (k = f->begin; k < f->end; k++) {
        f->place[k] = f->other[k - f->begin];
        f->at[f->place[k]] = k;
    }
}

/* Sorts the cell from one end to the other; `from`: the vertex to begin with if no vertex before the cell matters. */
static void gpuopt__elimination_flow_ends(gpuopt__elimination_flow *f, int32_t from) {
    const int32_t size = f->end - f->begin;
    int32_t seeds = f->nested ? 0 : gpuopt__elimination_flow_border(f, 0), last, k;
    if (seeds == 0) {
        f->queue[0] = from;
        seeds = 1;
    }
    last = gpuopt__elimination_flow_distances(f, seeds, f->before);
    seeds = f->nested ? 0 : gpuopt__elimination_flow_border(f, 1);
    if (seeds == 0) {
        f->queue[0] = last;
        seeds = 1;
    }
    (void)gpuopt__elimination_flow_distances(f, seeds, f->after);
    for (k = f->begin; k < f->end; k++) f->before[f->place[k]] += size - f->after[f->place[k]];
    /* If both ends are equally far: from one side of the cell to the other. */
    (void)gpuopt__elimination_flow_farthest(f, gpuopt__elimination_flow_farthest(f, f->place[f->begin]));
    gpuopt__elimination_flow_sort(f, f->across, size);
    gpuopt__elimination_flow_sort(f, f->before, 2 * size);
}

/* ---- Flow ---- */

/* Whether a path that reaches v ends there. */
static int gpuopt__elimination_flow_is_target(const gpuopt__elimination_flow *f, int32_t v) {
    return f->at[v] >= f->end - f->source;
}

/* Resets the flow: no paths, no states reached. */
static void gpuopt__elimination_flow_clear(gpuopt__elimination_flow *f, int32_t v, uint8_t on) {
    f->on[v] = on;
    f->next[v] = f->previous[v] = -1;
    f->reached[2 * v] = f->reached[2 * v + 1] = GPUOPT__ELIMINATION_FLOW_UNSEEN;
}

/* Finds the neighbours of sources, where paths can begin. Vertices after the cell with a neighbour before it stay open
 * in any case and are left out. If cells are nested, so are all vertices after the cell. */
static void gpuopt__elimination_flow_entries(gpuopt__elimination_flow *f) {
    const int32_t inside = f->begin + f->source;
    int32_t k;
    int64_t i, j;
    f->entries = 0;
    for (k = f->begin; k < f->end; k++) {
        const int32_t v = f->place[k];
        gpuopt__elimination_flow_clear(f, v, 0);
        for (i = f->start[v]; i < f->start[v + 1]; i++)
            if (f->at[f->adjacent[i]] >= f->end)
                gpuopt__elimination_flow_clear(f, f->adjacent[i], GPUOPT__ELIMINATION_FLOW_NEW);
        f->scans += 3 * (f->start[v + 1] - f->start[v]);
    }
    for (k = f->begin; k < f->end; k++) {
        const int32_t v = f->place[k];
        int entry = 0;
        for (i = f->start[v]; i < f->start[v + 1]; i++) {
            const int32_t u = f->adjacent[i];
            if (f->at[u] < inside) entry = 1;
            if (f->at[u] < f->end || f->on[u] != GPUOPT__ELIMINATION_FLOW_NEW) continue;
            for (j = f->start[u]; j < f->start[u + 1] && f->at[f->adjacent[j]] >= f->begin; j++) {}
            f->on[u] = f->nested || j < f->start[u + 1] ? GPUOPT__ELIMINATION_FLOW_OUT : 0;
            f->scans += j - f->start[u];
        }
        if (entry && k >= inside) f->entry[f->entries++] = v;
    }
    for (k = f->begin; k < inside; k++) {
        const int32_t v = f->place[k];
        for (i = f->start[v]; i < f->start[v + 1]; i++) {
            const int32_t u = f->adjacent[i];
            if (f->at[u] < f->end || f->on[u] || f->reached[2 * u] != GPUOPT__ELIMINATION_FLOW_UNSEEN) continue;
            f->reached[2 * u] = GPUOPT__ELIMINATION_FLOW_ENTRY;
            f->entry[f->entries++] = u;
        }
    }
}

/* Changes the flow along the states that lead to `state`, the end of a path. */
static void gpuopt__elimination_flow_augment(gpuopt__elimination_flow *f, int32_t state) {
    int32_t later = -1, from;
    f->on[state >> 1] = 1;
    for (; state != GPUOPT__ELIMINATION_FLOW_ENTRY; later = state, state = from) {
        const int32_t v = state >> 1;
        from = f->reached[state];
        if (state & 1) {
            if ((from >> 1) == v) f->on[v] = 1; /* entered and left, as before without a path */
            if (later == (state ^ 1)) continue; /* goes back along the path */
            f->next[v] = later >> 1;
            f->previous[later >> 1] = v;
        } else {
            if (from == GPUOPT__ELIMINATION_FLOW_ENTRY) f->previous[v] = -1;
            else if ((from >> 1) == v) { /* no path goes through v now */ f->on[v] = 0;
                f->next[v] = f->previous[v] = -1;
            }
        }
    }
}

static void gpuopt__elimination_flow_reach(gpuopt__elimination_flow *f, int32_t state, int32_t from, int32_t *waiting) {
    if (f->reached[state] != GPUOPT__ELIMINATION_FLOW_UNSEEN) return;
    f->reached[state] = from;
    f->queue[(*waiting)++] = state;
}

/* Searches for one more path. Returns whether there is one; else marks all reachable states. */
static int gpuopt__elimination_flow_search(gpuopt__elimination_flow *f) {
    const int32_t inside = f->begin + f->source;
    int32_t seen = 0, waiting = 0, k;
    int64_t i;
    for (k = 0; k < f->entries; k++) {
        f->reached[2 * f->entry[k]] = GPUOPT__ELIMINATION_FLOW_ENTRY;
        f->queue[waiting++] = 2 * f->entry[k];
    }
    while (seen < waiting) {
        const int32_t state = f->queue[seen++], v = state >> 1;
        if (state & 1) {
            if (f->on[v]) gpuopt__elimination_flow_reach(f, 2 * v, state, &waiting);
            f->scans += f->start[v + 1] - f->start[v];
            for (i = f->start[v]; i < f->start[v + 1]; i++) {
                const int32_t u = f->adjacent[i];
                if (f->at[u] < inside || f->on[u] == GPUOPT__ELIMINATION_FLOW_OUT) continue;
                gpuopt__elimination_flow_reach(f, 2 * u, state, &waiting);
            }
        } else if (f->on[v]) {
            if (f->previous[v] >= 0) gpuopt__elimination_flow_reach(f, 2 * f->previous[v] + 1, state, &waiting);
        } else if (gpuopt__elimination_flow_is_target(f, v)) {
            gpuopt__elimination_flow_augment(f, state);
            for (k = 0; k < waiting; k++) f->reached[f->queue[k]] = GPUOPT__ELIMINATION_FLOW_UNSEEN;
            return 1;
        } else gpuopt__elimination_flow_reach(f, 2 * v + 1, state, &waiting);
    }
    return 0;
}

/* Cuts the cell in two: the vertices that sources reach come first, then the others. Returns the number of the first,
 * or 0: there was no time. */
static int32_t gpuopt__elimination_flow_divide(gpuopt__elimination_flow *f) {
    const int32_t inside = f->begin + f->source;
    int32_t k, kept = inside, rest = 0;
    gpuopt__elimination_flow_entries(f);
    do {
        if (!gpuopt__elimination_flow_goes_on(f, 1)) return 0;
    } while (gpuopt__elimination_flow_search(f));
    for (k = inside; k < f->end; k++) {
        const int32_t v = f->place[k];
        if (f->reached[2 * v + 1] != GPUOPT__ELIMINATION_FLOW_UNSEEN) f->place[kept++] = v;
        else f->other[rest++] = v;
    }
    memcpy(f->place + kept, f->other, sizeof(int32_t) * (size_t)rest);
    for (k = f->begin; k < f->end; k++) f->at[f->place[k]] = k;
    return kept - f->begin;
}

/* Nested: moves the separator, the vertices of the second part next to the first, to the end. Returns its size. */
static int32_t gpuopt__elimination_flow_separate(gpuopt__elimination_flow *f, int32_t first) {
    int32_t k, kept = f->begin + first, count = 0;
    int64_t i;
    for (k = f->begin + first; k < f->end; k++) {
        const int32_t v = f->place[k];
        for (i = f->start[v]; i < f->start[v + 1]; i++) {
            const int32_t at = f->at[f->adjacent[i]];
            if (at >= f->begin && at < f->begin + first) break;
        }
        if (i < f->start[v + 1]) f->other[count++] = v;
        else f->place[kept++] = v;
    }
    memcpy(f->place + kept, f->other, sizeof(int32_t) * (size_t)count);
    for (k = f->begin + first; k < f->end; k++) f->at[f->place[k]] = k;
    return count;
}

/* The cell is the whole graph. */
static void gpuopt__elimination_flow_begin(gpuopt__elimination_flow *f) {
    int32_t k;
    for (k = 0; k < f->vertices; k++) f->place[k] = f->at[k] = k;
    f->begin = 0;
    f->end = f->vertices;
}

/* Marks v as mentioned. Appends vertices to the queue that are mentioned themselves and have only mentioned
 * neighbours. */
static void gpuopt__elimination_flow_mention(gpuopt__elimination_flow *f, int32_t v, int32_t *waiting) {
    int64_t i;
    if (f->on[v]) return;
    f->on[v] = 1;
    f->scans += f->start[v + 1] - f->start[v];
    for (i = f->start[v]; i < f->start[v + 1]; i++) {
        const int32_t u = f->adjacent[i];
        if (--f->count[u] == 0 && f->on[u]) f->queue[(*waiting)++] = u;
    }
    if (f->count[v] == 0) f->queue[(*waiting)++] = v;
}

/* In a row: moves vertices forward to the place where all of their neighbours are mentioned; there they can be
 * eliminated without mentioning a new vertex. */
static void gpuopt__elimination_flow_hasten(gpuopt__elimination_flow *f) {
    int32_t k, seen = 0, waiting = 0, taken = 0;
    int64_t i;
    for (k = 0; k < f->vertices; k++) {
        f->on[k] = 0;
        f->count[k] = (int32_t)(f->start[k + 1] - f->start[k]);
    }
    for (k = 0; k < f->vertices; k++) {
        int32_t v = f->place[k];
        for (;; v = f->queue[seen++]) {
            if (f->on[v] < 2) {
                gpuopt__elimination_flow_mention(f, v, &waiting);
                for (i = f->start[v]; i < f->start[v + 1]; i++)
                    gpuopt__elimination_flow_mention(f, f->adjacent[i], &waiting);
                f->on[v] = 2;
                f->other[taken++] = v;
            }
            if (seen == waiting) break;
        }
    }
    memcpy(f->place, f->other, sizeof(int32_t) * (size_t)f->vertices);
}

/* Finds an order, f->place, after flow_begin. `from`: where to begin; share: the part of a cell's vertices at either
 * end that stays apart, in 1/256. Returns whether there was time. */
static int gpuopt__elimination_flow_run(gpuopt__elimination_flow *f, int32_t from, int32_t share) {
    int32_t waiting = 0;
    f->cells[waiting++] = 0;
    f->cells[waiting++] = f->vertices;
    while (waiting > 0) {
        int32_t size, first;
        f->end = f->cells[--waiting];
        f->begin = f->cells[--waiting];
        size = f->end - f->begin;
        if (size < 2) continue;
        if (size < f->vertices) from = gpuopt__elimination_flow_farthest(f, f->place[f->begin]);
        gpuopt__elimination_flow_ends(f, from);
        f->source = (int32_t)((int64_t)size * share / 256);
        if (f->source < 1) f->source = 1;
        first = gpuopt__elimination_flow_divide(f);
        if (first == 0) return 0;
        f->cells[waiting++] = f->begin + first;
        f->cells[waiting++] = f->nested ? f->end - gpuopt__elimination_flow_separate(f, first) : f->end;
        f->cells[waiting++] = f->begin;
        f->cells[waiting++] = f->begin + first;
    }
    if (!f->nested) gpuopt__elimination_flow_hasten(f);
    return 1;
}

#endif /* GPUOPT_IMPL_ELIMINATION_ORDER_FLOW_H */
