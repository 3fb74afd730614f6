/* SPDX-License-Identifier: MIT
 *
 * Checks item sets, and logs of searches, which prove that no set is better.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/check.h"

__extension__ typedef __int128 int128;

typedef struct node {
    int parent, item, taken, state; /* state: 0 is not there, 1 open, 2 done */
    int128 weight, profit;
} node;

typedef struct search {
    int items, *by_ratio, nodes;
    int64_t capacity, *weight, *profit, claimed;
    char *decided; /* while a node is looked at */
    node *node;
} search;

static const search *sorted; /* of which compare() compares the items */

static int compare(const void *a, const void *b) {
    int i = *(const int *)a, j = *(const int *)b;
    int128 left = (int128)sorted->profit[i] * sorted->weight[j], right = (int128)sorted->profit[j] * sorted->weight[i];
    return left > right ? -1 : left < right;
}

static void read_model(search *s, words *w) {
    int j;
    s->items = (int)whole(w, 0, 1 << 28);
    s->capacity = whole(w, 0, INT64_MAX);
    s->weight = allocate((size_t)s->items, sizeof(int64_t));
    s->profit = allocate((size_t)s->items, sizeof(int64_t));
    s->by_ratio = allocate((size_t)s->items, sizeof(int));
    s->decided = allocate((size_t)s->items, 1);
    for (j = 0; j < s->items; j++) {
        s->profit[j] = whole(w, 0, INT64_MAX);
        s->weight[j] = whole(w, 0, INT64_MAX);
        s->by_ratio[j] = j;
    }
    if (next(w)) unknown(w);
    sorted = s;
    qsort(s->by_ratio, (size_t)s->items, sizeof(int), compare);
}

/* Marks the items that a node has decided, or unmarks them; returns how many. */
static int mark(search *s, int k, char on) {
    int count = 0;
    for (; k > 0; k = s->node[k].parent, count++) s->decided[s->node[k].item] = on;
    return count;
}

/* Whether some set below a node might have more than the claimed profit, by the linear relaxation. */
static int may_be_better(search *s, int k) {
    int128 room = s->capacity - s->node[k].weight, missing = s->claimed + (int128)1 - s->node[k].profit;
    int j, item = 0, better;
    if (room < 0) return 0;
    mark(s, k, 1);
    for (j = 0; j < s->items; j++) {
        item = s->by_ratio[j];
        if (s->decided[item]) continue;
        if (s->weight[item] > room) break;
        room -= s->weight[item];
        missing -= s->profit[item];
    }
    better = missing <= 0 || (j < s->items && room * s->profit[item] >= missing * s->weight[item]);
    mark(s, k, 0);
    return better;
}

static node *open_node(search *s, words *w) {
    int k = (int)whole(w, 0, s->nodes - 1);
    if (s->node[k].state != 1) refuse("%s: line %ld: node %d is not open", w->path, w->line, k);
    return &s->node[k];
}

/* "branch NODE ITEM LEFT TAKEN": LEFT and TAKEN are new nodes. */
static void branch(search *s, words *w, node *from, int k) {
    int item = (int)whole(w, 0, s->items - 1), taken;
    mark(s, k, 1);
    if (s->decided[item]) refuse("%s: line %ld: item %d is decided already", w->path, w->line, item);
    mark(s, k, 0);
    for (taken = 0; taken < 2; taken++) {
        node *to = &s->node[whole(w, 1, s->nodes - 1)];
        if (to->state) refuse("%s: line %ld: the node is not new", w->path, w->line);
        *to = *from;
        to->parent = k;
        to->item = item;
        if (taken) to->weight += s->weight[item], to->profit += s->profit[item];
    }
    from->state = 2;
}

/* "dominated NODE BY": BY has decided the same items, weighs no more and earns no less; of equals the lower number. */
static void dominate(search *s, words *w, node *n, int k) {
    int by = (int)whole(w, 0, s->nodes - 1), same, j;
    const node *b = &s->node[by];
    same = b->state && mark(s, k, 1) == mark(s, by, 0);
    for (j = k; j > 0 && same; j = s->node[j].parent) same = !s->decided[s->node[j].item];
    mark(s, k, 0);
    if (!same || b->weight > n->weight || b->profit < n->profit ||
        (b->weight == n->weight && b->profit == n->profit && by >= k))
        refuse("%s: line %ld: node %d is not dominated by %d", w->path, w->line, k, by);
    n->state = 2;
}

/* The whole log: "nodes COUNT", which are 0, the root, to COUNT - 1, and a line that ends each. */
static void check_log(search *s, words *w) {
    int k;
    s->nodes = (int)whole(w, 1, 1 << 28);
    s->node = allocate((size_t)s->nodes, sizeof(node));
    s->node[0].state = 1;
    while (next(w)) {
        const char *what = w->word;
        node *n = open_node(s, w);
        k = (int)(n - s->node);
        if (strcmp(what, "branch") == 0) branch(s, w, n, k);
        else if (strcmp(what, "dominated") == 0) dominate(s, w, n, k);
        else if (strcmp(what, "pruned")) unknown(w);
        else if (may_be_better(s, k)) refuse("%s: line %ld: node %d may be better", w->path, w->line, k);
        else n->state = 2;
    }
    for (k = 0; k < s->nodes; k++)
        if (s->node[k].state == 1) refuse("node %d is left open", k);
}

/* The optimum by dynamic programming over the capacity, or -1: that is too much. */
static int64_t optimum(const search *s) {
    int64_t *best, c;
    int128 all = 0;
    int j;
    for (j = 0; j < s->items; j++) all += s->profit[j];
    if (s->capacity > 1 << 26 || s->capacity * (int64_t)s->items > (int64_t)1 << 31 || all > INT64_MAX) return -1;
    best = allocate((size_t)s->capacity + 1, sizeof *best);
    for (j = 0; j < s->items; j++)
        for (c = s->capacity; c >= s->weight[j]; c--)
            if (best[c - s->weight[j]] + s->profit[j] > best[c]) best[c] = best[c - s->weight[j]] + s->profit[j];
    return best[s->capacity];
}

int check_knapsack(words *model, words *w) {
    search s = {0};
    const char *outcome = "";
    int64_t weight = -1, known;
    int128 total = 0, profit = 0;
    int k, count, item, logged = 0;
    read_model(&s, model);
    s.claimed = -1;
    while (!logged && next(w)) {
        if (is(w, "outcome")) outcome = need(w);
        else if (is(w, "profit")) s.claimed = whole(w, 0, INT64_MAX);
        else if (is(w, "weight")) weight = whole(w, 0, INT64_MAX);
        else if (is(w, "items")) {
            count = (int)whole(w, 0, s.items);
            for (k = 0; k < count; k++) {
                item = (int)whole(w, 0, s.items - 1);
                if (s.decided[item]++) refuse("item %d comes twice", item);
                total += s.weight[item];
                profit += s.profit[item];
            }
            memset(s.decided, 0, (size_t)s.items);
        } else if (is(w, "nodes")) {
            check_log(&s, w);
            logged = 1;
        } else unknown(w);
    }
    if (total > s.capacity) refuse("the items are too heavy");
    if (profit != s.claimed || total != weight) refuse("the items do not have the claimed profit and weight");
    if (strcmp(outcome, "optimal")) return printf("PROVEN: a solution of profit %lld\n", (long long)s.claimed), PROVEN;
    known = optimum(&s);
    if (known >= 0 && known != s.claimed) refuse("the optimum is %lld", (long long)known);
    if (!logged && known < 0) return printf("UNPROVEN: profit %lld is optimal\n", (long long)s.claimed), UNPROVEN;
    printf("PROVEN: profit %lld is optimal\n", (long long)s.claimed);
    return PROVEN;
}
