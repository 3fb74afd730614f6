/* SPDX-License-Identifier: MIT
 *
 * Sweeps take the cliques of a cover one after another, from one end of the graph to the other, so that few variables
 * are open at any time. The next clique touches an open variable. Its distance to the beginning and the number of
 * variables it opens decide, weighted differently in each attempt. Grids and similar graphs have no better order.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_ORDER_SWEEP_H
#define GPUOPT_IMPL_ELIMINATION_ORDER_SWEEP_H

#include "cover.h"
#include "watch.h"
#include "../base/tuning.h"
#include "../../common/matrix.h"

typedef struct gpuopt__elimination_sweep {
    const gpuopt__elimination_cover *cover;
    const gpuopt__elimination_logs *logs;
    int64_t members;                /* of all cliques together */
    int64_t *start, *of_start;      /* [cliques + 1], [columns + 1] */
    int32_t *member, *of;           /* [members] the columns of each clique; the cliques of each column */
    int32_t *from_begin, *from_end; /* [cliques] steps from either end */
    int32_t *queue;                 /* [cliques] */
    int32_t *opens, *age, *waiting; /* [cliques] log2 of the change of the open variables; time of the first touch */
    uint8_t *state;                 /* [cliques] 0: not touched, 1: touched, 2: taken */
    int32_t *left;                  /* [columns] cliques not yet taken */
    int32_t *joined;                /* [cliques] log2 of the rows of each step */
    int32_t *row, *best;            /* [cliques] */
    int32_t best_cost;              /* INT32_MAX: none yet */
    int32_t from;                   /* the first clique of sweeps */
    /* Limits */
    gpuopt__elimination_watch *watch;
    double end;                /* in the watch's seconds */
    int64_t scans, most_scans; /* scans of waiting cliques; INT64_MAX: any */
    int64_t look;              /* scans at the next call of the watch */
} gpuopt__elimination_sweep;

static void gpuopt__elimination_sweep_cut(gpuopt__elimination_sweep *s, gpuopt__arena *arena) {
    const int64_t cliques = s->cover->cliques, columns = s->cover->columns;
    s->start = (int64_t *)gpuopt__cut(arena, cliques + 1, sizeof(int64_t));
    s->of_start = (int64_t *)gpuopt__cut(arena, columns + 1, sizeof(int64_t));
    s->member = (int32_t *)gpuopt__cut(arena, s->members, sizeof(int32_t));
    s->of = (int32_t *)gpuopt__cut(arena, s->members, sizeof(int32_t));
    s->from_begin = (int32_t *)gpuopt__cut(arena, cliques, sizeof(int32_t));
    s->from_end = (int32_t *)gpuopt__cut(arena, cliques, sizeof(int32_t));
    s->queue = (int32_t *)gpuopt__cut(arena, cliques, sizeof(int32_t));
    s->opens = (int32_t *)gpuopt__cut(arena, cliques, sizeof(int32_t));
    s->age = (int32_t *)gpuopt__cut(arena, cliques, sizeof(int32_t));
    s->waiting = (int32_t *)gpuopt__cut(arena, cliques, sizeof(int32_t));
    s->state = (uint8_t *)gpuopt__cut(arena, cliques, 1);
    s->left = (int32_t *)gpuopt__cut(arena, columns, sizeof(int32_t));
    s->joined = (int32_t *)gpuopt__cut(arena, cliques, sizeof(int32_t));
    s->row = (int32_t *)gpuopt__cut(arena, cliques, sizeof(int32_t));
    s->best = (int32_t *)gpuopt__cut(arena, cliques, sizeof(int32_t));
}

/* Counts the cliques' members; with `fill` lists them. */
static void gpuopt__elimination_sweep_members(gpuopt__elimination_sweep *s, int fill) {
    const gpuopt__elimination_cover *c = s->cover;
    int32_t k, w;
    s->members = 0;
    for (k = 0; k < c->cliques; k++) {
        const uint64_t *clique = gpuopt__elimination_cover_clique(c, k);
        if (fill) s->start[k] = s->members;
        for (w = 0; w < c->words; w++) {
            uint64_t set = clique[w];
            for (; set; set &= set - 1) {
                if (fill) s->member[s->members] = 64 * w + gpuopt__elimination_lowest_bit(set);
                s->members++;
            }
        }
    }
    if (fill) s->start[c->cliques] = s->members;
}

/* Counts scans. Returns whether the sweeps may continue. */
static int gpuopt__elimination_sweep_goes_on(gpuopt__elimination_sweep *s, int64_t scans) {
    s->scans += scans;
    if (s->scans > s->most_scans) return 0;
    if (s->scans < s->look) return 1;
    s->look = s->scans + GPUOPT__ELIMINATION_SWEEP_LOOK;
    return gpuopt__elimination_watch_seconds(s->watch, 1) < s->end && !gpuopt__elimination_watch_ends(s->watch, 1);
}

/* Finds each clique's steps from clique `from`, -1: unreachable. Returns the last clique found. */
static int32_t gpuopt__elimination_sweep_distances(gpuopt__elimination_sweep *s, int32_t from, int32_t *steps) {
    int32_t seen = 0, waiting = 1, k;
    int64_t i, j;
    for (k = 0; k < s->cover->cliques; k++) steps[k] = -1;
    memset(s->left, 0, sizeof(int32_t) * (size_t)s->cover->columns); /* not 0: all cliques of the column are found */
    steps[from] = 0;
    s->queue[0] = from;
    while (seen < waiting) {
        int32_t q = s->queue[seen++];
        for (i = s->start[q]; i < s->start[q + 1]; i++) {
            int32_t x = s->member[i];
            if (s->left[x]++) continue;
            for (j = s->of_start[x]; j < s->of_start[x + 1]; j++) {
                if (steps[s->of[j]] >= 0) continue;
                steps[s->of[j]] = steps[q] + 1;
                s->queue[waiting++] = s->of[j];
            }
        }
    }
    return s->queue[waiting - 1];
}

/* Takes a clique, after `taken` others: opens its columns, and closes columns that no other clique has. Returns log2 of
 * the size of the open columns. */
static int32_t gpuopt__elimination_sweep_take(gpuopt__elimination_sweep *s, int32_t clique, int32_t taken, int32_t open,
                                              int32_t *touched) {
    int64_t i, j;
    s->state[clique] = 2;
    s->row[taken] = clique;
    s->joined[taken] = open;
    for (i = s->start[clique]; i < s->start[clique + 1]; i++) {
        int32_t x = s->member[i], weight = s->cover->weight[x >> 6], left = --s->left[x];
        int first = left + 1 == s->of_start[x + 1] - s->of_start[x];
        if (first) {
            open += weight;
            s->joined[taken] += weight;
        }
        if (left == 0) open -= weight;
        if (!first && left != 1) continue; /* nothing changes for its other cliques */
        for (j = s->of_start[x]; j < s->of_start[x + 1]; j++) {
            int32_t other = s->of[j];
            if (s->state[other] == 0) {
                s->state[other] = 1;
                s->age[other] = taken;
                s->waiting[(*touched)++] = other;
            }
            /* The other clique no longer opens an open column, and closes a column that only it has left. */
            s->opens[other] -= (first ? weight : 0) + (left == 1 ? weight : 0);
        }
    }
    return open;
}

/* One sweep. Each step takes the clique with the least opens + slope * (from_begin - from_end). Returns
 * whether another sweep may be made. */
static int gpuopt__elimination_sweep_run(gpuopt__elimination_sweep *s, int32_t from, int32_t slope) {
    const gpuopt__elimination_cover *c = s->cover;
    int32_t k, taken, open = 0, touched = 0, fresh = 0, most = 0, cost;
    int64_t i;
    double rows = 0;
    memset(s->state, 0, (size_t)c->cliques);
    for (k = 0; k < c->columns; k++) s->left[k] = (int32_t)(s->of_start[k + 1] - s->of_start[k]);
    for (k = 0; k < c->cliques; k++)
        for (s->opens[k] = 0, i = s->start[k]; i < s->start[k + 1]; i++) s->opens[k] += c->weight[s->member[i] >> 6];
    for (taken = 0; taken < c->cliques; taken++) {
        int32_t best = -1;
        int64_t least = INT64_MAX;
        if (touched == 0) { /* the beginning, or another component */
            if (taken > 0)
                for (from = fresh; s->state[from]; from++) {}
            fresh = taken > 0 ? from : 0;
            s->state[from] = 1;
            s->age[from] = taken;
            s->waiting[touched++] = from;
        }
        if (!gpuopt__elimination_sweep_goes_on(s, touched)) return 0;
        for (k = 0; k < touched; k++) {
            int32_t q = s->waiting[k];
            int64_t key = (int64_t)slope * (s->from_begin[q] - s->from_end[q]) + s->opens[q];
            key = key * ((int64_t)1 << 32) + s->age[q];
            if (best >= 0 && key >= least) continue;
            best = k;
            least = key;
        }
        k = s->waiting[best];
        s->waiting[best] = s->waiting[--touched];
        open = gpuopt__elimination_sweep_take(s, k, taken, open, &touched);
        if (s->joined[taken] > most) most = s->joined[taken];
        if (2 * most >= s->best_cost) return 1;
    }
    for (k = 0; k < c->cliques; k++) rows += 1 / gpuopt__elimination_power_of_two(s->logs, most - s->joined[k]);
    cost = 2 * most + gpuopt__elimination_log2(rows);
    if (cost >= s->best_cost) return 1;
    s->best_cost = cost;
    memcpy(s->best, s->row, sizeof(int32_t) * (size_t)c->cliques);
    return 1;
}

static void gpuopt__elimination_sweep_begin(gpuopt__elimination_sweep *s) {
    gpuopt__elimination_sweep_members(s, 1);
    gpuopt__transpose(s->cover->cliques, s->cover->columns, s->start, s->member, NULL, s->of_start, s->of, NULL, NULL);
}

/* Attempt k = 0, 1, ...; the best so far is s->best [cliques]. Returns whether another attempt may be made. */
static int gpuopt__elimination_sweep_try(gpuopt__elimination_sweep *s, int32_t k, uint64_t seed) {
    static const int32_t slopes[8] = {0, 128, 256, 512, 1024, 2048, 8192, 65536};
    if (k % 8 == 0) { /* other ends: a random clique and the farthest from it, or the farthest from the latter, too */
        s->from = (int32_t)(gpuopt__random(seed, (uint64_t)k) * s->cover->cliques);
        if (k / 8 % 2 == 0) s->from = gpuopt__elimination_sweep_distances(s, s->from, s->from_end);
        gpuopt__elimination_sweep_distances(s, gpuopt__elimination_sweep_distances(s, s->from, s->from_begin),
                                            s->from_end);
    }
    if (!gpuopt__elimination_sweep_goes_on(s, s->members)) return 0;
    return gpuopt__elimination_sweep_run(s, s->from, slopes[k % 8]);
}

#endif /* GPUOPT_IMPL_ELIMINATION_ORDER_SWEEP_H */
