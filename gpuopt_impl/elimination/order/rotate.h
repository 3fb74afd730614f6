/* SPDX-License-Identifier: MIT
 *
 * Elimination orders improved by rotations of the elimination tree. A variable's parent is the variable of its
 * message's scope that is eliminated first. All orders with the same tree have the same messages; a rotation swaps a
 * variable with its parent and changes only their two messages. Rotations are tried only in the expensive part of the
 * tree, by threshold accepting (Dueck, Scheuer: J. Comput. Phys. 90, 1990), on sets of at most 256 vertices in four
 * words.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_ORDER_ROTATE_H
#define GPUOPT_IMPL_ELIMINATION_ORDER_ROTATE_H

#include "greedy.h"
#include "../base/tuning.h"
#include "../../common/numerics.h"

/* A variable of the core, the part of the tree with rotations. */
typedef struct gpuopt__elimination_core_node {
    uint64_t adjacent
        [GPUOPT__ELIMINATION_CORE_WORDS]; /* its neighbours after the elimination of all variables outside the core */
    uint64_t scope[GPUOPT__ELIMINATION_CORE_WORDS]; /* of its message */
    double size, rows;                              /* of its domain; of its joined bucket */
    int32_t parent, child, next, previous;          /* -1: none */
} gpuopt__elimination_core_node;

typedef struct gpuopt__elimination_tree {
    gpuopt__elimination_greedy *graph;
    int32_t *parent, *child, *next;             /* [vertices] -1: none */
    double *rows, *branch;                      /* [vertices] rows of the bucket; of all of its subtree */
    int32_t *place;                             /* [vertices] in the core, or -1 */
    int32_t *core;                              /* [GPUOPT__ELIMINATION_CORE_MOST] vertices */
    gpuopt__elimination_core_node *node, *kept; /* [GPUOPT__ELIMINATION_CORE_MOST] */
    int32_t count, words;                       /* of the core */
} gpuopt__elimination_tree;

static void gpuopt__elimination_tree_cut(gpuopt__elimination_tree *t, gpuopt__arena *arena, int32_t n) {
    t->parent = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    t->child = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    t->next = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    t->rows = (double *)gpuopt__cut(arena, n, sizeof(double));
    t->branch = (double *)gpuopt__cut(arena, n, sizeof(double));
    t->place = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    t->core = (int32_t *)gpuopt__cut(arena, GPUOPT__ELIMINATION_CORE_MOST, sizeof(int32_t));
    t->node = (gpuopt__elimination_core_node *)gpuopt__cut(arena, GPUOPT__ELIMINATION_CORE_MOST,
                                                           sizeof(gpuopt__elimination_core_node));
    t->kept = (gpuopt__elimination_core_node *)gpuopt__cut(arena, GPUOPT__ELIMINATION_CORE_MOST,
                                                           sizeof(gpuopt__elimination_core_node));
}

/* Builds the tree of an order, with the messages' scopes in the graph's lists. Gives up, with infinitely many
 * operations, once the order is worse than one with the score `known` (NULL: never), since lists of a bad order would
 * be long. */
static gpuopt_status gpuopt__elimination_tree_build(gpuopt__elimination_tree *t, const int32_t *order,
                                                    const gpuopt__elimination_order_score *known,
                                                    gpuopt__elimination_order_score *score) {
    gpuopt__elimination_greedy *g = t->graph;
    int32_t i, n = g->vertices;
    memset(score, 0, sizeof *score);
    memset(g->mark, 0, sizeof(int32_t) * (size_t)n);
    g->stamp = 0;
    for (i = 0; i < n; i++) {
        g->position[order[i]] = i;
        t->parent[i] = t->child[i] = t->next[i] = -1;
        t->branch[i] = 0;
    }
    g->pool_used = 0;
    for (i = 0; i < n; i++) {
        int32_t v = order[i], parent = -1, count = 0, c;
        double message = 1;
        int64_t k;
        gpuopt_status status = gpuopt__elimination_greedy_reserve(g, n - i);
        if (status) return status;
        g->stamp++;
        g->mark[v] = g->stamp;
        g->at[v] = g->pool_used;
        for (k = g->start[v]; k < g->start[v + 1]; k++) {
            int32_t u = g->adjacent[k];
            if (g->position[u] < i) continue;
            g->mark[u] = g->stamp;
            g->pool[g->pool_used + count++] = u;
        }
        for (c = t->child[v]; c >= 0; c = t->next[c])
            for (k = g->at[c]; k < g->at[c] + g->length[c]; k++) {
                int32_t u = g->pool[k];
                if (g->mark[u] == g->stamp) continue;
                g->mark[u] = g->stamp;
                g->pool[g->pool_used + count++] = u;
            }
        for (k = g->at[v]; k < g->at[v] + count; k++) {
            int32_t u = g->pool[k];
            message *= g->size[u];
            if (parent < 0 || g->position[u] < g->position[parent]) parent = u;
        }
        g->length[v] = count;
        g->pool_used += count;
        t->parent[v] = parent;
        t->rows[v] = gpuopt__elimination_score_bucket(score, count, message, g->size[v]);
        if (known && score->operations > known->operations && score->largest > known->largest) {
            score->operations = HUGE_VAL;
            return GPUOPT_OK;
        }
        t->branch[v] += t->rows[v];
        if (parent < 0) continue;
        t->branch[parent] += t->branch[v];
        t->next[v] = t->child[parent];
        t->child[parent] = v;
    }
    return GPUOPT_OK;
}

/* ---- Core ---- */

static int gpuopt__elimination_core_has(const uint64_t *set, int32_t x) { return (int)(set[x >> 6] >> (x & 63) & 1); }

static void gpuopt__elimination_core_put(uint64_t *set, int32_t x) { set[x >> 6] |= (uint64_t)1 << (x & 63); }

static void gpuopt__elimination_core_link(gpuopt__elimination_tree *t, int32_t x, int32_t parent) {
    gpuopt__elimination_core_node *node = t->node;
    node[x].parent = parent;
    node[x].previous = node[x].next = -1;
    if (parent < 0) return;
    node[x].next = node[parent].child;
    if (node[x].next >= 0) node[node[x].next].previous = x;
    node[parent].child = x;
}

static void gpuopt__elimination_core_unlink(gpuopt__elimination_tree *t, int32_t x) {
    gpuopt__elimination_core_node *node = t->node;
    if (node[x].previous >= 0) node[node[x].previous].next = node[x].next;
    else if (node[x].parent >= 0) node[node[x].parent].child = node[x].next;
    if (node[x].next >= 0) node[node[x].next].previous = node[x].previous;
}

/* Selects the variables with `least` rows or more in their subtrees. Returns 0 if they are too many. */
static int gpuopt__elimination_core_select(gpuopt__elimination_tree *t, const int32_t *order, double least) {
    int32_t i, n = t->graph->vertices;
    t->count = 0;
    for (i = 0; i < n; i++) {
        int32_t v = order[i];
        t->place[v] = -1;
        if (t->branch[v] < least) continue;
        if (t->count == GPUOPT__ELIMINATION_CORE_MOST) return 0;
        t->place[v] = t->count;
        t->core[t->count++] = v;
    }
    return 1;
}

static void gpuopt__elimination_core_build(gpuopt__elimination_tree *t) {
    const gpuopt__elimination_greedy *g = t->graph;
    int32_t x, c, n = t->count;
    int64_t k, l;
    t->words = (n + 63) / 64;
    memset(t->node, 0, sizeof(gpuopt__elimination_core_node) * (size_t)n);
    for (x = 0; x < n; x++) {
        t->node[x].size = g->size[t->core[x]];
        t->node[x].rows = t->rows[t->core[x]];
        t->node[x].child = -1;
    }
    for (x = 0; x < n; x++) {
        int32_t v = t->core[x];
        gpuopt__elimination_core_link(t, x, t->parent[v] < 0 ? -1 : t->place[t->parent[v]]);
        for (k = g->at[v]; k < g->at[v] + g->length[v]; k++)
            gpuopt__elimination_core_put(t->node[x].scope, t->place[g->pool[k]]); /* a parent's subtree has more rows */
        for (k = g->start[v]; k < g->start[v + 1]; k++)
            if (t->place[g->adjacent[k]] >= 0)
                gpuopt__elimination_core_put(t->node[x].adjacent, t->place[g->adjacent[k]]);
        for (c = t->child[v]; c >= 0; c = t->next[c]) { /* the variables eliminated below leave a clique */
            if (t->place[c] >= 0) continue;
            for (k = g->at[c]; k < g->at[c] + g->length[c]; k++)
                for (l = g->at[c]; l < g->at[c] + g->length[c]; l++)
                    if (k != l)
                        gpuopt__elimination_core_put(t->node[t->place[g->pool[k]]].adjacent, t->place[g->pool[l]]);
        }
    }
}

/* Writes the order: first the variables outside the core, in their old order, then the core, children before
 * parents. */
static void gpuopt__elimination_core_order(const gpuopt__elimination_tree *t, int32_t *order) {
    int32_t i, root, kept = 0;
    for (i = 0; i < t->graph->vertices; i++)
        if (t->place[order[i]] < 0) order[kept++] = order[i];
    for (root = 0; root < t->count; root++) {
        int32_t x = root, down = 1;
        if (t->kept[root].parent >= 0) continue;
        for (;;) {
            while (down && t->kept[x].child >= 0) x = t->kept[x].child;
            order[kept++] = t->core[x];
            if (x == root) break;
            down = t->kept[x].next >= 0;
            x = down ? t->kept[x].next : t->kept[x].parent;
        }
    }
}

/* ---- Rotations ---- */

/* Swaps x and its parent if the sum of all rows is then at most `most`. Returns the sum. */
static double gpuopt__elimination_core_rotate(gpuopt__elimination_tree *t, int32_t x, double sum, double most) {
    gpuopt__elimination_core_node *node = t->node;
    uint64_t scope[GPUOPT__ELIMINATION_CORE_WORDS];
    int32_t p = node[x].parent, c, next, w;
    double rows_p = node[p].rows * node[x].size, rows_x = node[p].rows / node[p].size * node[x].size, after;
    for (w = 0; w < t->words; w++) scope[w] = node[p].adjacent[w];
    for (c = node[p].child; c >= 0; c = node[c].next)
        for (w = 0; w < t->words && c != x; w++) scope[w] |= node[c].scope[w];
    for (c = node[x].child; c >= 0; c = node[c].next)
        for (w = 0; w < t->words && gpuopt__elimination_core_has(node[c].scope, p); w++) scope[w] |= node[c].scope[w];
    for (w = 0; w < t->words; w++) { /* p's message gains x, and loses variables that neither p nor the nodes below it
                                      * still reach */
        uint64_t lost = node[p].scope[w] & ~scope[w];
        scope[w] &= node[p].scope[w];
        for (c = 64 * w; lost; c++, lost >>= 1)
            if (lost & 1) rows_p /= node[c].size;
    }
    after = sum - node[p].rows - node[x].rows + rows_p + rows_x;
    if (after > most) return sum;
    gpuopt__elimination_core_put(scope, x);
    for (c = node[x].child; c >= 0; c = next) {
        next = node[c].next;
        if (!gpuopt__elimination_core_has(node[c].scope, p)) continue;
        gpuopt__elimination_core_unlink(t, c);
        gpuopt__elimination_core_link(t, c, p);
    }
    gpuopt__elimination_core_unlink(t, x);
    gpuopt__elimination_core_unlink(t, p);
    gpuopt__elimination_core_link(t, x, node[p].parent);
    gpuopt__elimination_core_link(t, p, x);
    for (w = 0; w < t->words; w++) {
        node[x].scope[w] = node[p].scope[w];
        node[p].scope[w] = scope[w];
    }
    node[x].rows = rows_x;
    node[p].rows = rows_p;
    return after;
}

/* One round: tries `moves` rotations in the part of the tree that has `share` of all rows. A worse sum is accepted if
 * it is worse by at most a threshold, which starts at `heat` times the sum and falls to zero. The order never gets
 * worse. */
static gpuopt_status gpuopt__elimination_rotate_round(gpuopt__elimination_tree *t, double share, double heat,
                                                      int64_t moves, uint64_t seed, int32_t *order,
                                                      gpuopt__elimination_order_score *score) {
    gpuopt__elimination_order_score ignored;
    double sum = 0, least, first;
    int32_t x;
    int64_t k;
    gpuopt_status status = gpuopt__elimination_tree_build(t, order, NULL, &ignored);
    if (status) return status;
    while (!gpuopt__elimination_core_select(t, order, share * score->operations)) share *= 4;
    if (t->count < 2) return GPUOPT_OK;
    gpuopt__elimination_core_build(t);
    for (x = 0; x < t->count; x++) sum += t->node[x].rows;
    first = least = sum;
    for (k = 0; k < moves; k++) {
        double left = 1 - (double)k / (double)moves, at = gpuopt__random(seed, 2 * (uint64_t)k);
        double luck = gpuopt__random(seed, 2 * (uint64_t)k + 1);
        x = (int32_t)(at * t->count);
        if (t->node[x].parent < 0) continue;
        sum = gpuopt__elimination_core_rotate(t, x, sum, sum * (1 + heat * left * left * luck * luck * luck));
        if (!(sum < least)) continue;
        least = sum;
        memcpy(t->kept, t->node, sizeof(gpuopt__elimination_core_node) * (size_t)t->count);
    }
    if (!(least < first * (1 - 1e-6))) return GPUOPT_OK;
    gpuopt__elimination_core_order(t, order);
    return gpuopt__elimination_tree_build(t, order, NULL, score);
}

#endif /* GPUOPT_IMPL_ELIMINATION_ORDER_ROTATE_H */
