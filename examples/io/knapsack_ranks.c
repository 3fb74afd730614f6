/* SPDX-License-Identifier: MIT */
#include "gpuopt/search.h"
#include "gpuopt/group.h"
#include "examples/io/knapsack_ranks.h"

#include <stdlib.h>
#include <string.h>

/* The data that a rank sends to the others after each round. */
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
    int adds;       /* nodes can be added to others, see gpuopt_knapsack_unpack */
    int64_t nodes;  /* of a round */
    int64_t before; /* nodes of all ranks, a round ago */
    gpuopt_knapsack_info info;
    void *waiting; /* nodes that have not fitted into the pool; NULL: none */
    uint64_t waiting_size;
} search;

/* A move makes two ranks' nodes equally many. It must move at least 4 nodes, a tenth of the richer rank's, which then
 * has a quarter more than the other, and a part of a round's. */
enum { WORTH_A_MOVE = 4, PART_WORTH_A_MOVE = 10, ROUND_WORTH_A_MOVE = 64 };
/* Nodes for each rank, at least as many as in a round, at which the ranks part: then their shares are about even. */
enum { PART_AT = 4096 };
enum { MOST_LEVELS = 8 }; /* of a round */

/* Takes one of each `every` nodes out of the pool, as bytes that the caller frees. */
static gpuopt_status take_out(gpuopt_knapsack *knapsack, int64_t every, void **bytes, uint64_t *size) {
    gpuopt_status status = gpuopt_knapsack_split(knapsack, every, NULL, 0, size);
    *bytes = status ? NULL : malloc((size_t)*size);
    if (!status && !*bytes) status = GPUOPT_ERROR_MEMORY;
    if (!status) status = gpuopt_knapsack_split(knapsack, every, *bytes, *size, size);
    return status;
}

enum { BYTES_OF_A_NODE = 20 }; /* doc/knapsack.md */

static gpuopt_status give(search *s, int32_t to, int64_t every) {
    void *bytes;
    uint64_t size;
    gpuopt_status status = take_out(s->knapsack, every, &bytes, &size);
    if (!status) status = gpuopt_group_send(s->group, GPUOPT_HOST, to, &size, sizeof size);
    if (!status) status = gpuopt_group_send(s->group, GPUOPT_HOST, to, bytes, size);
    free(bytes);
    return status;
}

static gpuopt_status get(search *s, int32_t from) {
    uint64_t size = 0;
    gpuopt_status status = gpuopt_group_receive(s->group, GPUOPT_HOST, from, &size, sizeof size);
    void *bytes = status ? NULL : malloc((size_t)size + 1);
    if (!status && !bytes) status = GPUOPT_ERROR_MEMORY;
    if (!status) status = gpuopt_group_receive(s->group, GPUOPT_HOST, from, bytes, size);
    if (!status) status = gpuopt_knapsack_unpack(s->knapsack, bytes, size, 1);
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
    status = gpuopt_knapsack_unpack(s->knapsack, s->waiting, s->waiting_size, 1);
    free(s->waiting);
    s->waiting = NULL;
    return status ? status : gpuopt_knapsack_get_info(s->knapsack, &s->info);
}

/* The rank with the fewest nodes receives as many from the rank with the most as make both equal; and so on. */
static gpuopt_status balance(search *s, knapsack_ranks_answer *answer) {
    gpuopt_status status = GPUOPT_OK;
    int32_t dry, rich, k;
    for (k = 0; k < s->ranks; k++) { /* by insertion; ranks with equal counts by their number */
        int32_t at = k;
        while (at > 0 && s->all[s->order[at - 1]].alive > s->all[k].alive) s->order[at] = s->order[at - 1], at--;
        s->order[at] = k;
    }
    for (dry = 0, rich = s->ranks - 1; dry < rich && !status; dry++, rich--) {
        const int32_t to = s->order[dry], from = s->order[rich];
        const int64_t more = s->all[from].alive - s->all[to].alive;
        if (!s->all[to].takes || more / 2 < WORTH_A_MOVE || more / 2 < s->all[from].alive / PART_WORTH_A_MOVE ||
            more / 2 < s->nodes / ROUND_WORTH_A_MOVE)
            continue;
        if (s->rank == from) status = give(s, to, (2 * s->all[from].alive + more / 2) / more); /* rounded */
        if (s->rank == to) status = get(s, from);
        answer->moves++;
        answer->moved += more / 2 * BYTES_OF_A_NODE;
    }
    return status;
}

/* Sends this rank's counts to the others; the best profit of all becomes the profit that the others must exceed. */
static gpuopt_status compare(search *s, int64_t *best, int32_t *owner, int64_t *alive) {
    standing own;
    gpuopt_status status;
    int32_t k;
    own.alive = s->info.alive;
    own.profit = s->info.primal_bound;
    own.expanded = s->info.expanded;
    own.takes = s->info.alive == 0 || (s->adds && !s->waiting);
    status =
        gpuopt_group_all_gather(s->group, GPUOPT_HOST, &own, sizeof own, s->all, sizeof own * (uint64_t)s->ranks, NULL);
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
 * breadth-first search would. Otherwise a rank that receives nodes of a level far above its own would leave them, and
 * perhaps the optimum, for the end. If nodes have become more in the last round, a rank may have twice as many after
 * each level. */
static gpuopt_status expand(search *s, int64_t alive) {
    const int64_t most = alive / s->ranks + 1, factor = alive > s->before ? 2 : 1;
    int64_t next = most, sum = 0;
    int32_t levels = 0;
    s->before = alive;
    if (!s->adds || s->info.slices > 0) return gpuopt_knapsack_expand(s->knapsack, s->nodes, 0, &s->info);
    for (; levels == 0 || (levels < MOST_LEVELS && sum + next <= s->nodes); levels++) sum += next, next *= factor;
    return gpuopt_knapsack_expand(s->knapsack, 0, levels, &s->info);
}

/* The first steps, the same on all ranks, and the parting. */
static gpuopt_status begin(search *s, knapsack_ranks_answer *answer) {
    const int64_t many = s->nodes / s->ranks < PART_AT ? s->nodes : PART_AT * (int64_t)s->ranks;
    gpuopt_status status = gpuopt_knapsack_get_info(s->knapsack, &s->info);
    while (!status && s->info.alive > 0 && s->info.alive < many && s->info.expanded < 4 * many)
        status = gpuopt_knapsack_expand(s->knapsack, 0, 1, &s->info);
    answer->common = s->info.expanded;
    return status;
}

static gpuopt_status go(search *s, int64_t *copies, int32_t items, knapsack_ranks_answer *answer) {
    gpuopt_status status = gpuopt_knapsack_take_share(s->knapsack, s->rank, s->ranks);
    int64_t alive = s->info.alive;
    int32_t owner = 0, k;
    if (!status) status = gpuopt_knapsack_get_info(s->knapsack, &s->info);
    do {
        if (!status) status = expand(s, alive);
        if (!status) status = use_waiting(s);
        if (!status) status = compare(s, &answer->profit, &owner, &alive);
        if (!status && alive > 0) status = balance(s, answer);
        answer->rounds++;
    } while (!status && alive > 0);
    answer->expanded = answer->common;
    for (k = 0; k < s->ranks && !status; k++) {
        const int64_t expanded = s->all[k].expanded - answer->common;
        answer->expanded += expanded;
        if (k == 0 || expanded < answer->least) answer->least = expanded;
        if (k == 0 || expanded > answer->most) answer->most = expanded;
    }
    if (!status && s->rank == owner) status = gpuopt_knapsack_get_items(s->knapsack, GPUOPT_HOST, copies, NULL, NULL);
    if (!status)
        status = gpuopt_group_broadcast(s->group, GPUOPT_HOST, owner, copies, (uint64_t)items * sizeof *copies);
    return status;
}

/* All ranks had the same input, and have reached the same nodes. */
static gpuopt_status agree(const search *s, const gpuopt_knapsack_desc *desc) {
    const size_t row = sizeof(int64_t) * (size_t)desc->items;
    const int64_t number[] = {desc->items,   desc->capacity,   desc->search,    desc->on_pool_full,
                              desc->pool,    desc->node_limit, desc->reduction, desc->hybrid_threshold,
                              s->nodes,      s->info.expanded, s->info.alive,   s->info.primal_bound,
                              s->info.slices};
    char *all = malloc(sizeof number + 2 * row);
    gpuopt_status status = GPUOPT_ERROR_MEMORY;
    if (!all) return status;
    memcpy(all, number, sizeof number);
    if (row > 0) memcpy(all + sizeof number, desc->weight, row), memcpy(all + sizeof number + row, desc->profit, row);
    status = gpuopt_group_agree(s->group, all, sizeof number + 2 * row);
    free(all);
    return status;
}

gpuopt_status knapsack_share_ranks(gpuopt_group *group, gpuopt_knapsack *knapsack, const gpuopt_knapsack_desc *desc,
                                   int64_t nodes, int64_t *copies, knapsack_ranks_answer *answer) {
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
    s.knapsack = knapsack;
    s.rank = info.rank;
    s.ranks = info.count;
    s.nodes = nodes;
    s.adds = desc->search != GPUOPT_SEARCH_DOMINANCE;
    s.all = calloc((size_t)s.ranks, sizeof *s.all);
    s.order = calloc((size_t)s.ranks, sizeof *s.order);
    if (!s.all || !s.order) status = GPUOPT_ERROR_MEMORY;
    if (!status) status = begin(&s, answer);
    if (!status) status = agree(&s, desc);
    if (!status) status = go(&s, copies, desc->items, answer);
    free(s.waiting);
    free(s.all);
    free(s.order);
    if (status) gpuopt_group_abort(group);
    return status;
}

gpuopt_status knapsack_solve_ranks(gpuopt_context *context, gpuopt_group *group, const gpuopt_knapsack_desc *desc,
                                   int64_t nodes, int64_t *copies, knapsack_ranks_answer *answer) {
    gpuopt_knapsack *knapsack = NULL;
    gpuopt_status status = gpuopt_knapsack_create(context, desc, NULL, &knapsack);
    memset(answer, 0, sizeof *answer);
    if (status) gpuopt_group_abort(group);
    else status = knapsack_share_ranks(group, knapsack, desc, nodes, copies, answer);
    gpuopt_knapsack_destroy(knapsack);
    return status;
}
