/* SPDX-License-Identifier: MIT */
#include "examples/io/knapsack_ranks.h"

#include <stdlib.h>
#include <string.h>

/* What a rank tells the others after each round. */
typedef struct standing {
    int64_t alive, profit, expanded;
    int64_t takes; /* whether it can be given nodes */
} standing;

typedef struct search {
    gpuopt_group *group;
    gpuopt_knapsack *knapsack;
    int32_t rank, ranks;
    standing *all;  /* [ranks] */
    int32_t *order; /* [ranks] from the fewest nodes to the most */
    int adds;       /* nodes can be added to others, see gpuopt_knapsack_add */
    gpuopt_knapsack_info info;
    void *waiting; /* nodes that have not fitted into the pool; NULL: none */
    uint64_t waiting_size;
} search;

/* A move makes two ranks' nodes equally many. It must be of so many, and of a part of those of the richer one. */
enum { WORTH_A_MOVE = 4, PART_WORTH_A_MOVE = 16 };

/* Takes one of each `every` nodes out of the pool, as bytes that the caller frees. */
static gpuopt_status take_out(gpuopt_knapsack *knapsack, int64_t every, void **bytes, uint64_t *size) {
    gpuopt_status status = gpuopt_knapsack_deal(knapsack, every, NULL, 0, size);
    *bytes = status ? NULL : malloc((size_t)*size);
    if (!status && !*bytes) status = GPUOPT_ERROR_MEMORY;
    if (!status) status = gpuopt_knapsack_deal(knapsack, every, *bytes, *size, size);
    return status;
}

static gpuopt_status give(search *s, int32_t to, int64_t every) {
    void *bytes;
    uint64_t size;
    gpuopt_status status = take_out(s->knapsack, every, &bytes, &size);
    if (!status) status = gpuopt_group_send(s->group, to, &size, sizeof size);
    if (!status) status = gpuopt_group_send(s->group, to, bytes, size);
    free(bytes);
    return status;
}

static gpuopt_status get(search *s, int32_t from) {
    uint64_t size = 0;
    gpuopt_status status = gpuopt_group_receive(s->group, from, &size, sizeof size);
    void *bytes = status ? NULL : malloc((size_t)size + 1);
    if (!status && !bytes) status = GPUOPT_ERROR_MEMORY;
    if (!status) status = gpuopt_group_receive(s->group, from, bytes, size);
    if (!status) status = gpuopt_knapsack_add(s->knapsack, bytes, size);
    if (status == GPUOPT_ERROR_UNSUPPORTED) { /* too many for now, but not for an empty pool */
        s->waiting = bytes;
        s->waiting_size = size;
        return GPUOPT_OK;
    }
    free(bytes);
    return status;
}

/* Nodes that have been waiting for an empty pool. */
static gpuopt_status use_waiting(search *s) {
    gpuopt_status status;
    if (!s->waiting || s->info.alive > 0) return GPUOPT_OK;
    status = gpuopt_knapsack_add(s->knapsack, s->waiting, s->waiting_size);
    free(s->waiting);
    s->waiting = NULL;
    return status ? status : gpuopt_knapsack_get_info(s->knapsack, &s->info);
}

/* The rank with the fewest nodes gets so many of the one with the most that both have equally many; and so on. */
static gpuopt_status balance(search *s, int64_t *moves) {
    gpuopt_status status = GPUOPT_OK;
    int32_t dry, rich, k;
    for (k = 0; k < s->ranks; k++) { /* by insertion; equal ones by their number */
        int32_t at = k;
        while (at > 0 && s->all[s->order[at - 1]].alive > s->all[k].alive) s->order[at] = s->order[at - 1], at--;
        s->order[at] = k;
    }
    for (dry = 0, rich = s->ranks - 1; dry < rich && !status; dry++, rich--) {
        const int32_t to = s->order[dry], from = s->order[rich];
        const int64_t more = s->all[from].alive - s->all[to].alive;
        if (!s->all[to].takes || more / 2 < WORTH_A_MOVE || more / 2 < s->all[from].alive / PART_WORTH_A_MOVE) continue;
        if (s->rank == from) status = give(s, to, (2 * s->all[from].alive + more / 2) / more); /* rounded */
        if (s->rank == to) status = get(s, from);
        ++*moves;
    }
    return status;
}

/* Tells the others where this rank stands; the best profit of all becomes what the others must exceed. */
static gpuopt_status compare(search *s, int64_t *best, int32_t *owner, int64_t *alive) {
    standing own;
    gpuopt_status status;
    int32_t k;
    own.alive = s->info.alive;
    own.profit = s->info.lower;
    own.expanded = s->info.expanded;
    own.takes = s->info.alive == 0 || (s->adds && !s->waiting);
    status = gpuopt_group_all_gather(s->group, &own, sizeof own, s->all, sizeof own * (uint64_t)s->ranks, NULL);
    *best = -1;
    *alive = 0;
    for (k = 0; k < s->ranks && !status; k++) {
        *alive += s->all[k].alive;
        if (s->all[k].profit <= *best) continue;
        *best = s->all[k].profit;
        *owner = k;
    }
    if (!status && own.profit < *best && *best < INT64_MAX)
        status = gpuopt_knapsack_set_incumbent(s->knapsack, GPUOPT_HOST, *best + 1, NULL);
    return status;
}

/* Expands this rank's nodes for a round. Ranks that can add nodes go level by level, all equally far, as one
 * breadth-first search would: who gets nodes of a level far above its own would leave them, and perhaps the optimum,
 * for the end. A rank has at most twice as many nodes after a level as before. */
static gpuopt_status expand(search *s, int64_t nodes, int64_t alive) {
    int64_t most = alive / s->ranks + 1;
    int32_t levels = 1;
    if (!s->adds || s->info.slices > 0) return gpuopt_knapsack_expand(s->knapsack, nodes, 0, &s->info);
    for (; most < nodes / 2; most *= 2) levels++;
    return gpuopt_knapsack_expand(s->knapsack, 0, levels, &s->info);
}

static gpuopt_status go(search *s, int64_t nodes, uint8_t *taken, int32_t items, knapsack_ranks_answer *answer) {
    gpuopt_status status = GPUOPT_OK;
    int64_t alive = 1;
    int32_t owner = 0, k;
    if (s->rank > 0) { /* the root is rank 0's */
        void *bytes;
        uint64_t size;
        status = take_out(s->knapsack, 1, &bytes, &size);
        free(bytes);
    }
    while (!status && alive > 0) {
        status = expand(s, nodes, alive);
        if (!status) status = use_waiting(s);
        if (!status) status = compare(s, &answer->profit, &owner, &alive);
        if (!status && alive > 0) status = balance(s, &answer->moves);
        answer->rounds++;
    }
    for (k = 0; k < s->ranks && !status; k++) {
        int64_t expanded = s->all[k].expanded;
        answer->expanded += expanded;
        if (k == 0 || expanded < answer->least) answer->least = expanded;
        if (k == 0 || expanded > answer->most) answer->most = expanded;
    }
    if (!status && s->rank == owner) status = gpuopt_knapsack_get_items(s->knapsack, GPUOPT_HOST, taken, NULL, NULL);
    if (!status) status = gpuopt_group_broadcast(s->group, owner, taken, (uint64_t)items);
    return status;
}

/* All ranks were given the same. */
static gpuopt_status agree(gpuopt_group *group, const gpuopt_knapsack_desc *desc, int64_t nodes) {
    uint64_t row = sizeof(int64_t) * (uint64_t)(desc->items > 0 ? desc->items : 0);
    int64_t number[9];
    gpuopt_status status;
    number[0] = desc->items;
    number[1] = desc->capacity;
    number[2] = desc->search;
    number[3] = desc->when_full;
    number[4] = desc->pool;
    number[5] = desc->node_limit;
    number[6] = desc->reduction;
    number[7] = desc->hybrid_threshold;
    number[8] = nodes;
    status = gpuopt_group_agree(group, number, sizeof number);
    if (!status) status = gpuopt_group_agree(group, desc->weight, row);
    if (!status) status = gpuopt_group_agree(group, desc->profit, row);
    return status;
}

gpuopt_status knapsack_solve_ranks(gpuopt_context *context, gpuopt_group *group, const gpuopt_knapsack_desc *desc,
                                   int64_t nodes, uint8_t *taken, knapsack_ranks_answer *answer) {
    gpuopt_group_info info;
    search s;
    gpuopt_status status;
    memset(&s, 0, sizeof s);
    memset(answer, 0, sizeof *answer);
    gpuopt_desc_init(&info, sizeof info);
    gpuopt_desc_init(&s.info, sizeof s.info);
    status = gpuopt_group_get_info(group, &info);
    if (status) return status;
    s.group = group;
    s.rank = info.rank;
    s.ranks = info.count;
    s.adds = desc->search != GPUOPT_SEARCH_DOMINANCE;
    s.all = calloc((size_t)s.ranks, sizeof *s.all);
    s.order = calloc((size_t)s.ranks, sizeof *s.order);
    if (!s.all || !s.order) status = GPUOPT_ERROR_MEMORY;
    if (!status) status = agree(group, desc, nodes);
    if (!status) status = gpuopt_knapsack_create(context, desc, &s.knapsack);
    if (!status) status = go(&s, nodes, taken, desc->items, answer);
    gpuopt_knapsack_destroy(s.knapsack);
    free(s.waiting);
    free(s.all);
    free(s.order);
    if (status) gpuopt_group_abort(group);
    return status;
}
