/* SPDX-License-Identifier: MIT
 *
 * Checks item sets, and logs of searches that prove that no set is better.
 */

#include "tests/check/check.h"

__extension__ typedef __int128 int128;

typedef struct node {
    int parent, item;
    enum { MISSING, OPEN, DONE } state;
    int128 weight, profit;
} node;

typedef struct item {
    int index;
    int64_t weight, profit;
} item;

typedef struct search {
    int items, nodes;
    int64_t capacity, claimed;
    item *item, *by_ratio;
    char *decided; /* during the check of a node */
    node *node;
} search;

/* The most profit by weight first; items without weight before all others. */
static int compare(const void *a, const void *b) {
    const item *i = a, *j = b;
    int128 left = (int128)i->profit * j->weight, right = (int128)j->profit * i->weight;
    if (!i->weight || !j->weight) return (i->weight > 0) - (j->weight > 0);
    return left > right ? -1 : left < right;
}

static void read_model(search *s, words *w) {
    int j;
    s->items = (int)whole(w, 0, 1 << 28);
    s->capacity = whole(w, 0, INT64_MAX);
    s->item = allocate(s->items, sizeof(item));
    s->by_ratio = allocate(s->items, sizeof(item));
    s->decided = allocate(s->items, 1);
    for (j = 0; j < s->items; j++) {
        int64_t profit = whole(w, 0, INT64_MAX);
        s->by_ratio[j] = s->item[j] = (item){j, whole(w, 0, INT64_MAX), profit};
    }
    if (next(w)) unknown(w);
    qsort(s->by_ratio, (size_t)s->items, sizeof(item), compare);
}

/* Marks the items that a node has decided, or unmarks them; returns how many. */
static int mark(search *s, int k, char on) {
    int count = 0;
    for (; k > 0; k = s->node[k].parent, count++) s->decided[s->node[k].item] = on;
    return count;
}

/* Whether some set below a node might have more than the claimed profit, by the linear relaxation. */
static int may_be_better(search *s, int k) {
    int128 residual = s->capacity - s->node[k].weight, missing = s->claimed + (int128)1 - s->node[k].profit;
    const item *i;
    if (residual < 0) return 0;
    for (i = s->by_ratio; i < s->by_ratio + s->items; i++) {
        if (s->decided[i->index]) continue;
        if (i->weight > residual) return residual * i->profit >= missing * i->weight;
        residual -= i->weight;
        missing -= i->profit;
    }
    return missing <= 0;
}

/* "branch NODE ITEM LEFT TAKEN": LEFT and TAKEN are new nodes. */
static void branch(search *s, words *w, int k) {
    int item = (int)whole(w, 0, s->items - 1), taken;
    if (s->decided[item]) end(REFUSED, "line %ld: item %d is decided already", w->line, item);
    for (taken = 0; taken < 2; taken++) {
        node *to = &s->node[whole(w, 1, s->nodes - 1)];
        if (to->state) end(REFUSED, "line %ld: the node is not new", w->line);
        *to = (node){k, item, OPEN, s->node[k].weight, s->node[k].profit};
        if (taken) to->weight += s->item[item].weight, to->profit += s->item[item].profit;
    }
}

/* "dominated NODE BY": BY has decided the same items, weighs at most as much and earns at least as much; of equals the
 * lower number. */
static void check_dominated(search *s, words *w, int k) {
    const int by = (int)whole(w, 0, s->nodes - 1);
    const node *n = &s->node[k], *b = &s->node[by];
    int same = b->state && mark(s, k, 1) == mark(s, by, 0), j;
    for (j = k; j > 0 && same; j = s->node[j].parent) same = !s->decided[s->node[j].item];
    if (!same || b->weight > n->weight || b->profit < n->profit ||
        (b->weight == n->weight && b->profit == n->profit && by >= k))
        end(REFUSED, "line %ld: node %d is not dominated", w->line, k);
}

/* The whole log: "nodes COUNT", for nodes 0, the root, to COUNT - 1, and a line that ends each. */
static void check_log(search *s, words *w) {
    int k;
    s->nodes = (int)whole(w, 1, 1 << 28);
    s->node = allocate(s->nodes, sizeof(node));
    s->node[0].state = OPEN;
    while (next(w)) {
        const char *what = w->word;
        k = (int)whole(w, 0, s->nodes - 1);
        if (s->node[k].state != OPEN) end(REFUSED, "line %ld: node %d is not open", w->line, k);
        mark(s, k, 1);
        if (strcmp(what, "branch") == 0) branch(s, w, k);
        else if (strcmp(what, "dominated") == 0) check_dominated(s, w, k);
        else if (strcmp(what, "pruned")) unknown(w);
        else if (may_be_better(s, k)) end(REFUSED, "line %ld: node %d may be better", w->line, k);
        mark(s, k, 0);
        s->node[k].state = DONE;
    }
    for (k = 0; k < s->nodes; k++)
        if (s->node[k].state == OPEN) end(REFUSED, "node %d is left open", k);
}

void check_knapsack(words model, words *w) {
    search s = {.claimed = -1};
    const char *outcome = "";
    int128 weight = 0, profit = 0;
    int64_t claimed_weight = -1;
    int logged = 0, count, item;
    read_model(&s, &model);
    while (!logged && next(w)) {
        if (is(w, "outcome")) outcome = need(w);
        else if (is(w, "profit")) s.claimed = whole(w, 0, INT64_MAX);
        else if (is(w, "weight")) claimed_weight = whole(w, 0, INT64_MAX);
        else if (is(w, "items"))
            for (count = (int)whole(w, 0, s.items); count > 0; count--) {
                item = (int)whole(w, 0, s.items - 1);
                if (s.decided[item]++) end(REFUSED, "item %d comes twice", item);
                weight += s.item[item].weight;
                profit += s.item[item].profit;
            }
        else if (!(logged = is(w, "nodes"))) unknown(w);
    }
    memset(s.decided, 0, (size_t)s.items);
    if (profit != s.claimed || weight != claimed_weight || weight > s.capacity)
        end(REFUSED, "the items do not have the claimed profit and weight, or are too heavy");
    if (logged) check_log(&s, w);
    if (strcmp(outcome, "optimal")) end(PROVEN, "a solution of profit %lld", (long long)s.claimed);
    end(logged ? PROVEN : UNPROVEN, "profit %lld is optimal", (long long)s.claimed);
}
