/* SPDX-License-Identifier: MIT
 *
 * Elimination orders by simulated annealing of a contraction tree (Kalachev, Panteleev, Yung: Recursive multi-tensor
 * contraction for XEB verification of quantum circuits, arXiv 2108.05665, 2021). The leaves are the cliques of a cover,
 * and an inner node joins its two children. A variable is eliminated at the node where the last two parts with it meet.
 * A move exchanges a grandchild with the other child. It changes only two joins, at a few operations for each word of a
 * set.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_ORDER_ANNEAL_H
#define GPUOPT_IMPL_ELIMINATION_ORDER_ANNEAL_H

#include "cover.h"
#include "../base/tuning.h"

/* Counting the bits of a word takes most of the time. On x86 most machines have an instruction for it, but compilers
 * may not assume that. Unoptimised code would call a function of the compiler's library instead. */
#if defined(__GNUC__) && defined(__OPTIMIZE__) && defined(__x86_64__) && !defined(__POPCNT__)
#define GPUOPT__ELIMINATION_POPCNT
#endif

typedef struct gpuopt__elimination_anneal {
    const gpuopt__elimination_cover *cover;
    const gpuopt__elimination_logs *logs;
    int32_t leaves, nodes; /* leaves are nodes 0, 1, ...; then inner nodes, the root last */
    int32_t made;          /* nodes so far, while a tree is made */
    int32_t (*child)[2];   /* [nodes] */
    uint64_t *open;        /* [nodes][words] the columns mentioned both inside and outside */
    int32_t *joined;       /* [nodes] log2 of the rows of a join: over the columns open in either child */
    uint64_t *set;         /* [words] */
    int32_t (*best)[2];    /* [nodes] the children when the tree was best */
    int32_t best_cost;
    int32_t cap;     /* log2 of a join's rows counts twice above this */
    uint64_t random; /* not 0 */
    int32_t *left;   /* [columns] how many parts mention the column, while a tree is made */
    int32_t *part;   /* [nodes] */
    int32_t *size;   /* [nodes] log2 of the entries of the open columns, while a tree is made */
    int popcnt;      /* whether the machine has the popcnt instruction */
} gpuopt__elimination_anneal;

static int gpuopt__elimination_has_popcnt(void) {
#ifdef GPUOPT__ELIMINATION_POPCNT
    /* No header, since callers would see its macros, and no function of the compiler's library. */
    unsigned a = 1, b, c = 0, d;
    __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return (int)(c >> 23 & 1);
#else
    return 0;
#endif
}

static uint64_t *gpuopt__elimination_anneal_open(const gpuopt__elimination_anneal *a, int32_t node) {
    return a->open + (int64_t)node * a->cover->words;
}

static void gpuopt__elimination_anneal_cut(gpuopt__elimination_anneal *a, gpuopt__arena *arena) {
    const int64_t nodes = a->nodes;
    a->child = (int32_t(*)[2])gpuopt__cut(arena, nodes, sizeof *a->child);
    a->best = (int32_t(*)[2])gpuopt__cut(arena, nodes, sizeof *a->best);
    a->open = (uint64_t *)gpuopt__cut(arena, nodes * a->cover->words, sizeof(uint64_t));
    a->joined = (int32_t *)gpuopt__cut(arena, nodes, sizeof(int32_t));
    a->set = (uint64_t *)gpuopt__cut(arena, a->cover->words, sizeof(uint64_t));
    a->left = (int32_t *)gpuopt__cut(arena, a->cover->columns, sizeof(int32_t));
    a->part = (int32_t *)gpuopt__cut(arena, nodes, sizeof(int32_t));
    a->size = (int32_t *)gpuopt__cut(arena, nodes, sizeof(int32_t));
}

/* ---- Making a tree ---- */

static int32_t gpuopt__elimination_anneal_weigh(const gpuopt__elimination_anneal *a, const uint64_t *set) {
    int32_t w, sum = 0;
    for (w = 0; w < a->cover->words; w++) sum += a->cover->weight[w] * gpuopt__elimination_bits_in(set[w]);
    return sum;
}

static void gpuopt__elimination_anneal_begin(gpuopt__elimination_anneal *a) {
    const gpuopt__elimination_cover *c = a->cover;
    int32_t k, w;
    memcpy(a->open, c->clique.data, sizeof(uint64_t) * (size_t)c->words * (size_t)a->leaves);
    memset(a->left, 0, sizeof(int32_t) * (size_t)c->columns);
    for (k = 0; k < a->leaves; k++) {
        const uint64_t *clique = gpuopt__elimination_anneal_open(a, k);
        a->size[k] = gpuopt__elimination_anneal_weigh(a, clique);
        for (w = 0; w < c->words; w++) {
            uint64_t set = clique[w];
            for (; set; set &= set - 1) a->left[64 * w + gpuopt__elimination_lowest_bit(set)]++;
        }
    }
    a->made = a->leaves;
}

/* Joins two parts; returns the new node. */
static int32_t gpuopt__elimination_anneal_join(gpuopt__elimination_anneal *a, int32_t l, int32_t r) {
    const gpuopt__elimination_cover *c = a->cover;
    const uint64_t *of_l = gpuopt__elimination_anneal_open(a, l), *of_r = gpuopt__elimination_anneal_open(a, r);
    int32_t node = a->made++, w;
    uint64_t *open = gpuopt__elimination_anneal_open(a, node);
    a->child[node][0] = l;
    a->child[node][1] = r;
    for (w = 0; w < c->words; w++) open[w] = of_l[w] | of_r[w];
    a->joined[node] = gpuopt__elimination_anneal_weigh(a, open);
    for (w = 0; w < c->words; w++) {
        uint64_t both = of_l[w] & of_r[w];
        for (; both; both &= both - 1) {
            int32_t x = 64 * w + gpuopt__elimination_lowest_bit(both);
            if (--a->left[x] == 1) gpuopt__elimination_set_remove(open, x);
        }
    }
    a->size[node] = gpuopt__elimination_anneal_weigh(a, open);
    return node;
}

/* The tree of an order [vertices]: joins the parts of a bucket one after another, the smallest first. */
static void gpuopt__elimination_anneal_from_order(gpuopt__elimination_anneal *a, const int32_t *order) {
    const gpuopt__elimination_cover *c = a->cover;
    int32_t *part = a->part, i, j, k, parts = a->leaves;
    gpuopt__elimination_anneal_begin(a);
    for (k = 0; k < parts; k++) part[k] = k;
    for (i = 0; i < c->vertices; i++) {
        int32_t x = c->column[order[i]], kept = 0;
        if (x < 0) continue;
        for (k = 0; k < parts; k++) { /* moves the parts that mention x to the end */
            int32_t p = part[k];
            if (gpuopt__elimination_set_has(gpuopt__elimination_anneal_open(a, p), x)) continue;
            part[k] = part[kept];
            part[kept++] = p;
        }
        if (kept == parts) continue; /* already eliminated, where its last two parts met */
        for (k = kept + 1; k < parts; k++)
            for (j = k; j > kept && a->size[part[j]] < a->size[part[j - 1]]; j--) {
                int32_t p = part[j];
                part[j] = part[j - 1];
                part[j - 1] = p;
            }
        for (k = kept + 1; k < parts; k++) part[kept] = gpuopt__elimination_anneal_join(a, part[kept], part[k]);
        parts = kept + 1;
    }
    for (k = 1; k < parts; k++) part[0] = gpuopt__elimination_anneal_join(a, part[0], part[k]); /* components */
}

/* The tree that joins one clique after another; clique [leaves]. */
static void gpuopt__elimination_anneal_from_row(gpuopt__elimination_anneal *a, const int32_t *clique) {
    int32_t k, whole = clique[0];
    gpuopt__elimination_anneal_begin(a);
    for (k = 1; k < a->leaves; k++) whole = gpuopt__elimination_anneal_join(a, whole, clique[k]);
}

/* ---- What a tree costs, and its order ---- */

/* log2 of: the joined rows of all joins, times the rows of the largest join. */
static int32_t gpuopt__elimination_anneal_cost(const gpuopt__elimination_anneal *a) {
    int32_t k, most = 0;
    double rows = 0;
    for (k = a->leaves; k < a->nodes; k++)
        if (a->joined[k] > most) most = a->joined[k];
    for (k = a->leaves; k < a->nodes; k++) rows += 1 / gpuopt__elimination_power_of_two(a->logs, most - a->joined[k]);
    return 2 * most + gpuopt__elimination_log2(rows);
}

/* Keeps the tree if it is the best so far. */
static void gpuopt__elimination_anneal_keep(gpuopt__elimination_anneal *a) {
    int32_t cost = gpuopt__elimination_anneal_cost(a);
    if (cost >= a->best_cost) return;
    a->best_cost = cost;
    memcpy(a->best, a->child, sizeof *a->child * (size_t)a->nodes);
}

/* Writes the order of the best tree: the vertices eliminated beforehand, then each variable where its last two parts
 * meet. The tree is then the best one. */
static void gpuopt__elimination_anneal_order(gpuopt__elimination_anneal *a, int32_t *order) {
    const gpuopt__elimination_cover *c = a->cover;
    int32_t *next = a->part, count = c->firsts, waiting = 1, seen = 0, low, high, w, k;
    memcpy(order, c->first, sizeof(int32_t) * (size_t)count);
    gpuopt__elimination_anneal_begin(a);
    next[0] = a->nodes - 1;
    while (seen < waiting) { /* parents before children */
        int32_t node = next[seen++];
        if (node < a->leaves) continue;
        next[waiting++] = a->best[node][0];
        next[waiting++] = a->best[node][1];
    }
    for (k = a->nodes - 1; k >= 0; k--) {
        int32_t node = next[k], l, r, made;
        if (node < a->leaves) continue;
        l = a->best[node][0];
        r = a->best[node][1];
        made = gpuopt__elimination_anneal_join(a, l < a->leaves ? l : a->best[l][0], r < a->leaves ? r : a->best[r][0]);
        for (high = c->words; high > 0; high = low) { /* large domains first, so that later messages are smaller */
            for (low = high - 1; low > 0 && c->weight[low - 1] == c->weight[high - 1]; low--) {}
            for (w = low; w < high; w++) {
                uint64_t closed = (gpuopt__elimination_anneal_open(a, a->child[made][0])[w] |
                                   gpuopt__elimination_anneal_open(a, a->child[made][1])[w]) &
                                  ~gpuopt__elimination_anneal_open(a, made)[w];
                for (; closed; closed &= closed - 1)
                    order[count++] = c->vertex[64 * w + gpuopt__elimination_lowest_bit(closed)];
            }
        }
        a->best[node][0] = made; /* no longer needed: the new number */
    }
    memcpy(a->best, a->child, sizeof *a->child * (size_t)a->nodes);
}

/* ---- Moves ---- */

static inline uint64_t gpuopt__elimination_anneal_random(gpuopt__elimination_anneal *a) { /* Marsaglia's xorshift */
    a->random ^= a->random << 13;
    a->random ^= a->random >> 7;
    return a->random ^= a->random << 17;
}

#if defined(GPUOPT__ELIMINATION_POPCNT) || (defined(__GNUC__) && defined(__POPCNT__))
#define GPUOPT__ELIMINATION_COUNT(x, fast) ((fast) ? (int32_t)__builtin_popcountll(x) : gpuopt__elimination_bits_in(x))
#else
#define GPUOPT__ELIMINATION_COUNT(x, fast) ((void)(fast), gpuopt__elimination_bits_in(x))
#endif

static inline int32_t gpuopt__elimination_anneal_count(const gpuopt__elimination_anneal *a, int32_t joined) {
    return joined > a->cap ? 2 * joined - a->cap : joined;
}

/* Tries `moves` moves at a temperature. A move may increase the sum of the two joins' rows: an increase by a factor of
 * 2^(temperature x) is accepted with probability exp(-x). */
GPUOPT__INLINE void gpuopt__elimination_anneal_moves(gpuopt__elimination_anneal *a, int64_t moves, int32_t temperature,
                                                     int fast) {
    const gpuopt__elimination_cover *c = a->cover;
    const gpuopt__elimination_logs *logs = a->logs;
    const int32_t words = c->words, *weight = c->weight;
    const uint32_t inner = (uint32_t)(a->nodes - a->leaves);
    uint64_t *set = a->set;
    for (; moves > 0; moves--) {
        const uint64_t random = gpuopt__elimination_anneal_random(a);
        const int32_t p = a->leaves + (int32_t)((random >> 32) * inner >> 32), side = (int32_t)(random & 1),
                      other = (int32_t)(random >> 1 & 1), x = a->child[p][side];
        const int32_t luck = logs->luck[random >> 2 & (GPUOPT__ELIMINATION_LUCK_STEPS - 1)];
        const uint64_t *stays, *goes, *comes, *above;
        int32_t most, lower = 0, upper = 0, w;
        if (x < a->leaves) continue;
        most = gpuopt__elimination_logs_add(logs, gpuopt__elimination_anneal_count(a, a->joined[x]),
                                            gpuopt__elimination_anneal_count(a, a->joined[p])) +
               (int32_t)((int64_t)temperature * luck >> GPUOPT__ELIMINATION_LOG_BITS);
        stays = gpuopt__elimination_anneal_open(a, a->child[x][other]);
        goes = gpuopt__elimination_anneal_open(a, a->child[x][!other]);
        comes = gpuopt__elimination_anneal_open(a, a->child[p][!side]);
        above = gpuopt__elimination_anneal_open(a, p);
        for (w = 0; w < words; w++) {
            set[w] = stays[w] | comes[w];
            lower += weight[w] * GPUOPT__ELIMINATION_COUNT(set[w], fast);
        }
        if (lower > most) continue;
        for (w = 0; w < words; w++) {
            set[w] &= goes[w] | above[w];
            upper += weight[w] * GPUOPT__ELIMINATION_COUNT(set[w] | goes[w], fast);
        }
        if (upper > most || gpuopt__elimination_logs_add(logs, gpuopt__elimination_anneal_count(a, lower),
                                                         gpuopt__elimination_anneal_count(a, upper)) > most)
            continue;
        memcpy(gpuopt__elimination_anneal_open(a, x), set, sizeof(uint64_t) * (size_t)words);
        a->joined[x] = lower;
        a->joined[p] = upper;
        w = a->child[p][!side];
        a->child[p][!side] = a->child[x][!other];
        a->child[x][!other] = w;
    }
}

#ifdef GPUOPT__ELIMINATION_POPCNT
__attribute__((target("popcnt"))) static void gpuopt__elimination_anneal_moves_fast(gpuopt__elimination_anneal *a,
                                                                                    int64_t moves,
                                                                                    int32_t temperature) {
    gpuopt__elimination_anneal_moves(a, moves, temperature, 1);
}
#endif

static void gpuopt__elimination_anneal_try(gpuopt__elimination_anneal *a, int64_t moves, int32_t temperature) {
#ifdef GPUOPT__ELIMINATION_POPCNT
    if (a->popcnt) gpuopt__elimination_anneal_moves_fast(a, moves, temperature);
    else gpuopt__elimination_anneal_moves(a, moves, temperature, 0);
#else
    gpuopt__elimination_anneal_moves(a, moves, temperature, 1);
#endif
}

#endif /* GPUOPT_IMPL_ELIMINATION_ORDER_ANNEAL_H */
