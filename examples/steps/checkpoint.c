/* SPDX-License-Identifier: MIT
 *
 * A knapsack search with open nodes that move between handles. They are packed into a checkpoint and unpacked by
 * another handle. Half of them are dealt to a helper, and the rest of its share is added back. Or handles that have
 * made the same calls keep parts of them. Solutions are passed on, too, as items and as copies.
 *
 * Build, from the repository's root:
 *     cc -O2 -I. examples/steps/checkpoint.c gpuopt_impl/gpuopt.c -lm -o checkpoint
 */
#include "examples/steps/steps.h"
#include "gpuopt/search.h"

enum { ITEMS = 60, ROOM = 15000, LEVELS = 12 };

static int64_t weight[ITEMS], profit[ITEMS], capacity;
static unsigned char bytes[1 << 16]; /* for packed nodes */

/* The oracle: dynamic programming over the weight, with 1 or 2 copies of each item. */
static int64_t optimum(int copies) {
    static int64_t value[ROOM + 1];
    int64_t c, with, k;
    memset(value, 0, sizeof value);
    for (k = 0; k < ITEMS * copies; k++)
        for (c = capacity; c >= weight[k % ITEMS]; c--) {
            with = value[c - weight[k % ITEMS]] + profit[k % ITEMS];
            if (with > value[c]) value[c] = with;
        }
    return value[capacity];
}

/* A handle after the first levels: each one has made the same steps and holds the same nodes. */
static gpuopt_knapsack *begin(const gpuopt_knapsack_desc *desc, int levels) {
    gpuopt_knapsack *knapsack = NULL;
    must(gpuopt_knapsack_create(context, desc, NULL, &knapsack));
    if (levels > 0) must(gpuopt_knapsack_expand(knapsack, 0, levels, NULL));
    return knapsack;
}

/* Searches to the end, in pieces of some nodes, and returns the best profit. */
static int64_t end(gpuopt_knapsack *knapsack) {
    gpuopt_knapsack_info info = GPUOPT_INIT(gpuopt_knapsack_info);
    do must(gpuopt_knapsack_expand(knapsack, 1000, 0, &info));
    while (info.outcome == GPUOPT_MORE);
    gpuopt_knapsack_destroy(knapsack);
    return info.primal_bound;
}

int main(int argc, char **argv) {
    gpuopt_knapsack_desc desc = GPUOPT_INIT(gpuopt_knapsack_desc);
    gpuopt_knapsack_info info = GPUOPT_INIT(gpuopt_knapsack_info);
    gpuopt_knapsack *one, *two;
    int64_t upper[ITEMS], copies[ITEMS], best, value, carried, helped, share;
    uint64_t size;
    unsigned seed = 7;
    int j, right;

    for (j = 0; j < ITEMS; j++) { /* weights and profits that go together */
        seed = seed * 1103515245u + 12345u;
        weight[j] = 100 + (seed >> 16) % 400;
        profit[j] = weight[j] + (seed >> 8) % 40;
        capacity += weight[j];
        upper[j] = 2;
    }
    capacity /= 2; /* less than ROOM */
    best = optimum(1);
    open_context(argc, argv);
    desc.items = ITEMS, desc.weight = weight, desc.profit = profit, desc.capacity = capacity;
    desc.search = GPUOPT_SEARCH_BREADTH; /* the search by dominance adds no nodes to others */
    desc.pool = 1 << 14;

    /* A checkpoint: the bytes could lie in a file, or go to another machine. */
    one = begin(&desc, LEVELS);
    must(gpuopt_knapsack_get_info(one, &info));
    printf("after %d levels: %d nodes, profit %d to %d\n", LEVELS, (int)info.alive, (int)info.primal_bound,
           (int)info.dual_bound);
    must(gpuopt_knapsack_pack(one, -1, 0, bytes, sizeof bytes, &size)); /* bytes NULL: only how many it takes */
    two = begin(&desc, 0);
    must(gpuopt_knapsack_unpack(two, bytes, size, 0));
    value = end(two);
    printf("from the checkpoint: %d\n", (int)value);
    right = info.outcome == GPUOPT_MORE && info.alive > 1 && value == best;

    /* Half of the nodes go to a helper, which returns its unfinished nodes after some levels. */
    must(gpuopt_knapsack_split(one, 2, bytes, sizeof bytes, &size));
    two = begin(&desc, 0);
    must(gpuopt_knapsack_unpack(two, bytes, size, 0));
    must(gpuopt_knapsack_expand(two, 0, 3, &info));
    must(gpuopt_knapsack_pack(two, -1, 1, bytes, sizeof bytes, &size)); /* 1: the nodes leave the pool */
    must(gpuopt_knapsack_unpack(one, bytes, size, 1));
    must(gpuopt_knapsack_get_items(two, GPUOPT_HOST, copies, &helped, NULL));
    must(gpuopt_knapsack_set_incumbent(one, GPUOPT_HOST, helped, copies)); /* its result counts here, too */
    gpuopt_knapsack_destroy(two);
    value = end(one);
    printf("with a helper: %d\n", (int)value);
    right = right && value == best;

    /* Shares without a message: three handles do the same levels, and each keeps a third. */
    for (j = 0, value = 0; j < 3; j++) {
        one = begin(&desc, LEVELS);
        must(gpuopt_knapsack_take_share(one, j, 3));
        share = end(one);
        if (share > value) value = share;
    }
    printf("three shares: %d\n", (int)value);
    right = right && value == best;

    /* With two copies of each item: an optimal set for one of each is a first solution there. */
    one = begin(&desc, ITEMS); /* the whole search */
    must(gpuopt_knapsack_get_items(one, GPUOPT_HOST, copies, &value, &carried));
    gpuopt_knapsack_destroy(one);
    right = right && value == best && carried <= capacity;
    desc.copies_max = upper;
    one = begin(&desc, 0);
    must(gpuopt_knapsack_set_incumbent(one, GPUOPT_HOST, value, copies));
    value = end(one);
    printf("one copy %d, two copies %d\n", (int)best, (int)value);
    return finish(right && value == optimum(2));
}
