/* SPDX-License-Identifier: MIT
 *
 * The picture of doc/knapsack.md shows the expansion of one level: the nodes, their children, and which of them stay.
 * The library computes each number: the program runs the model of the page up to that step.
 */
#include <string.h>

#include "picture.h"

enum { ITEMS = 8, MOST_NODES = 32, MOST_BYTES = 65536 };
typedef struct {
    int64_t residual, profit;
} node;

static int64_t read_integer(const unsigned char *from, int bytes) {
    uint64_t value = 0;
    while (bytes--) value = value << 8 | from[bytes];
    return (int64_t)value;
}

/* The nodes of the pool, all of one level, from their packed bytes (doc/knapsack.md). Returns how many. */
static int nodes_of(gpuopt_knapsack *knapsack, node *to) {
    static unsigned char bytes[MOST_BYTES];
    uint64_t size;
    int64_t lists, nodes, decisions, k;
    const unsigned char *at;
    done(gpuopt_knapsack_pack(knapsack, -1, 0, bytes, sizeof bytes, &size));
    lists = read_integer(bytes + 8, 4);
    nodes = read_integer(bytes + 24, 8);
    decisions = read_integer(bytes + 64, 8);
    at = bytes + 80 + ITEMS + 40 * lists + 4 * decisions;
    if (lists != 1 || nodes > MOST_NODES || (uint64_t)(at - bytes) + 20 * (uint64_t)nodes != size) {
        fprintf(stderr, "pictures: packed nodes are not as expected\n");
        exit(1);
    }
    for (k = 0; k < nodes; k++, at += 20) to[k] = (node){read_integer(at, 8), read_integer(at + 8, 8)};
    return (int)nodes;
}

static int contains(const node *in, int count, node what) {
    while (count--)
        if (in[count].residual == what.residual && in[count].profit == what.profit) return 1;
    return 0;
}

/* Whether another child weighs no more and has no less profit. */
static int dominated(const node *child, int count, int which) {
    int k;
    for (k = 0; k < count; k++)
        if (k != which && child[k].residual >= child[which].residual && child[k].profit >= child[which].profit)
            return 1;
    return 0;
}

static void show_node(const char *name, int k, node what, const char *colour, const char *more) {
    printf("    %s%d [label=<residual %d<br/>profit %d%s>, color=\"" LINE "\", fillcolor=\"%s\"]\n", name, k,
           (int)what.residual, (int)what.profit, more, colour);
}

static void knapsack_picture(void) {
    const int64_t weight[] = {8, 2, 12, 12, 10, 5, 12, 11}, profit[] = {8, 4, 12, 13, 14, 9, 14, 12};
    enum { STEPS_BEFORE = 2 };
    gpuopt_knapsack *knapsack = NULL;
    gpuopt_knapsack_desc problem = GPUOPT_INIT(gpuopt_knapsack_desc);
    gpuopt_knapsack_info before = GPUOPT_INIT(gpuopt_knapsack_info), after = before;
    node parent[MOST_NODES], child[2 * MOST_NODES], kept[MOST_NODES];
    char more[40];
    int parents, keeps, k, i, prunings = 0, dominations = 0;

    problem.items = ITEMS;
    problem.weight = weight;
    problem.profit = profit;
    problem.capacity = 36;
    done(gpuopt_knapsack_create(context, &problem, NULL, &knapsack));
    done(gpuopt_knapsack_expand(knapsack, 0, STEPS_BEFORE, &before));
    parents = nodes_of(knapsack, parent);
    done(gpuopt_knapsack_expand(knapsack, 0, 1, &after));
    keeps = nodes_of(knapsack, kept);

    /* The step decides the item with which all kept nodes are children, changed ones among them. */
    for (k = 0; k < 2 * ITEMS; k++) {
        int64_t sign = k % 2 ? 1 : -1;
        int all = 1, flipped = 0;
        for (i = 0; i < parents; i++) {
            child[2 * i] = parent[i];
            child[2 * i + 1].residual = parent[i].residual + sign * weight[k / 2];
            child[2 * i + 1].profit = parent[i].profit - sign * profit[k / 2];
        }
        for (i = 0; i < keeps; i++) {
            all = all && contains(child, 2 * parents, kept[i]);
            flipped = flipped || !contains(parent, parents, kept[i]);
        }
        if (all && flipped) break;
    }
    begin("expansion", 0);
    printf("    label=<profit %d is known, and none exceeds %d; after this step %d and %d>; labelloc=t; fontsize=14; "
           "fontcolor=\"" INK "\"\n",
           (int)before.primal_bound, (int)before.dual_bound, (int)after.primal_bound, (int)after.dual_bound);
    for (i = 0; i < parents; i++) show_node("parent", i, parent[i], BLUE, "");
    for (i = 0; i < 2 * parents; i++) {
        const char *fate = "kept", *colour = GREEN;
        if (!contains(kept, keeps, child[i])) fate = dominated(child, 2 * parents, i) ? "dominated" : "pruned";
        if (!strcmp(fate, "dominated")) dominations++, colour = AMBER;
        if (!strcmp(fate, "pruned")) prunings++, colour = GREY;
        snprintf(more, sizeof more, "<br/><b>%s</b>", fate);
        show_node("child", i, child[i], colour, more);
        printf("    parent%d -> child%d [color=\"%s\"%s", i / 2, i, fate[0] == 'k' ? LINE : "#b9bfc9",
               i % 2 ? ", penwidth=2" : "");
        if (i < 2) printf(", label=\" %s item %d \"", k % 2 ? (i ? "drop" : "keep") : i ? "take" : "leave out", k / 2);
        printf("]\n");
    }
    printf("}\n");
    if (k == 2 * ITEMS || prunings != after.pruned - before.pruned ||
        dominations != after.dominated - before.dominated) {
        fprintf(stderr, "pictures: the library counts other children than the picture shows\n");
        exit(1);
    }
    gpuopt_knapsack_destroy(knapsack);
}

int main(void) {
    done(gpuopt_context_create(NULL, &context));
    knapsack_picture();
    gpuopt_context_destroy(context);
    return 0;
}
