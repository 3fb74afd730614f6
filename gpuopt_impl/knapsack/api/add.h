/* SPDX-License-Identifier: MIT
 *
 * Knapsack: the call that unpacks nodes, and the merge of these nodes into a pool.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_API_ADD_H
#define GPUOPT_IMPL_KNAPSACK_API_ADD_H

#include "unpack.h"

/* Whether all nodes, of the pool and of the bytes, have decided every item before their level. Then the lists of one
 * level form one list. */
static int gpuopt__knapsack_skips_nothing(const gpuopt__knapsack_search *s, const gpuopt__knapsack_packed *p) {
    int64_t i;
    int32_t j;
    for (j = 0; j < s->depth; j++)
        if (s->list[j].decided != s->list[j].level) return 0;
    for (i = 0; i < s->list[s->depth - 1].decided; i++)
        if (s->decided[i] != i) return 0;
    for (j = 0; j < p->lists; j++) {
        const gpuopt__knapsack_list list = gpuopt__knapsack_packed_list(p, j);
        if (list.decided != list.level) return 0;
    }
    for (i = 0; i < p->decisions; i++)
        if (gpuopt__knapsack_packed_decision(p, i) != i) return 0;
    return 1;
}

/* Moves `count` nodes of a side towards the middle, the last one first. */
static gpuopt_status gpuopt__knapsack_shift(gpuopt_knapsack *k, int side, int64_t from, int64_t to, int64_t count) {
    const gpuopt__knapsack_search *s = &k->search;
    gpuopt__knapsack_node *node = k->staging;
    gpuopt_status status = GPUOPT_OK;
    int64_t part;
    for (; count > 0 && from != to && !status; count -= part) {
        part = count < k->chunk ? count : k->chunk;
        status = gpuopt__knapsack_of(k)->get(k, s, gpuopt__knapsack_place(s, side, from, count - part), side ? -1 : 1,
                                             part, node);
        if (!status)
            status = gpuopt__knapsack_of(k)->put(k, s, gpuopt__knapsack_place(s, side, to, count - part), side ? -1 : 1,
                                                 part, node);
    }
    return status;
}

/* The levels of a list of the pool and of one in the bytes; `none` if there is no such list. */
static void gpuopt__knapsack_levels(const gpuopt__knapsack_search *s, const gpuopt__knapsack_packed *p, int32_t own,
                                    int32_t other, int32_t none, int32_t *mine, int32_t *theirs) {
    *mine = own >= 0 && own < s->depth ? s->list[own].level : none;
    *theirs = other >= 0 && other < p->lists ? gpuopt__knapsack_packed_list(p, other).level : none;
}

/* Merges the lists of the bytes with the pool's, from the deepest to the lowest. Each list's nodes go behind the nodes
 * below it on its side; `lists` of both together, `added` nodes on each side. */
static gpuopt_status gpuopt__knapsack_merge(gpuopt_knapsack *k, const gpuopt__knapsack_packed *p, int32_t lists,
                                            int side_of_even, const int64_t *added) {
    gpuopt__knapsack_search *s = &k->search;
    const unsigned char *from = p->node + GPUOPT__KNAPSACK_NODE * p->nodes;
    int64_t before[2], after[2];
    int32_t own = s->depth - 1, other = p->lists - 1, next, i;
    gpuopt_status status = GPUOPT_OK;
    for (i = 0; i < 2; i++) before[i] = s->used[i], after[i] = s->used[i] + added[i];
    for (next = lists - 1; next >= 0 && !status; next--) {
        int32_t level, packed;
        int64_t mine = 0, theirs = 0;
        gpuopt__knapsack_list list, more;
        gpuopt__knapsack_levels(s, p, own, other, -1, &level, &packed);
        memset(&list, 0, sizeof list);
        if (level >= packed) {
            list = s->list[own--];
            mine = list.count;
        }
        if (packed >= level) {
            more = gpuopt__knapsack_packed_list(p, other--);
            theirs = more.count;
            more.side = side_of_even ^ (more.level & 1);
            if (mine == 0) list = more;
            else {
                list.count += theirs;
                list.own = list.count;
                list.completed = list.completed > more.completed ? list.completed : more.completed;
                list.bound = gpuopt__max(list.bound, more.bound);
            }
        }
        before[list.side] -= mine;
        after[list.side] -= mine + theirs;
        status = gpuopt__knapsack_shift(k, list.side, before[list.side], after[list.side], mine);
        from -= GPUOPT__KNAPSACK_NODE * theirs;
        if (!status && theirs > 0)
            status = gpuopt__knapsack_unpack_nodes(k, gpuopt__knapsack_place(s, list.side, after[list.side], mine),
                                                   list.side ? -1 : 1, theirs, from);
        s->list[next] = list;
    }
    s->depth = lists;
    for (i = 0; i < s->list[lists - 1].decided; i++) s->decided[i] = i;
    for (i = 0; i < 2; i++) s->used[i] += added[i];
    if (s->used[0] + s->used[1] > s->peak) s->peak = s->used[0] + s->used[1];
    return status;
}

/* Adds checked nodes, and their information on solutions, to a pool that contains some. */
static gpuopt_status gpuopt__knapsack_add(gpuopt_knapsack *k, const char *call, const gpuopt__knapsack_packed *p) {
    gpuopt__knapsack_search *s = &k->search;
    int64_t alive = 0, needed = 0, added[2] = {0, 0};
    int32_t lists = 0, own = 0, other = 0;
    int side_of_even;
    gpuopt_status status;
    if (s->dominance || !gpuopt__knapsack_skips_nothing(s, p))
        return gpuopt__refuse(k->context, GPUOPT_ERROR_STATE, call,
                              "with DOMINANCE nodes can be added to an empty pool only");
    side_of_even = s->list[0].side ^ (s->list[0].level & 1); /* as in a search where no side had to wait */
    for (; own < s->depth || other < p->lists; lists++) {
        int32_t level, packed;
        int side = -1;
        gpuopt__knapsack_levels(s, p, own, other, INT32_MAX, &level, &packed);
        if (level <= packed) {
            side = s->list[own].side;
            alive += s->list[own++].count;
        }
        if (packed <= level) {
            const int64_t count = gpuopt__knapsack_packed_list(p, other++).count;
            if (side < 0) side = side_of_even ^ (packed & 1);
            alive += count;
            added[side] += count;
            level = packed;
        }
        if (gpuopt__knapsack_need(s, alive, level) > needed) needed = gpuopt__knapsack_need(s, alive, level);
    }
    status = gpuopt__knapsack_reach(k, call, needed);
    if (!status) status = gpuopt__knapsack_move_to_own_pool(k, s);
    if (!status && p->lists > 0) status = gpuopt__knapsack_merge(k, p, lists, side_of_even, added);
    if (status) return status;
    k->upper = k->root_bound;
    if (p->incumbent > k->incumbent) gpuopt__knapsack_adopt(k, p->incumbent, p->taken);
    gpuopt__knapsack_claim(k, p->claim);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__knapsack_unpack(gpuopt_knapsack *k, const char *call, const void *bytes, uint64_t size,
                                             int add) {
    const gpuopt__knapsack_search *s;
    gpuopt__knapsack_packed p;
    gpuopt_status status;
    s = &k->search;
    memset(&p, 0, sizeof p);
    status = add ? gpuopt__knapsack_refuse_ranks(k, call) : GPUOPT_OK;
    if (!status) status = gpuopt__knapsack_check_packed(k, call, bytes, size, &p);
    if (!status && !add && (s->depth > 1 || (s->depth == 1 && (s->list[0].decided != 0 || s->list[0].count != 1))))
        status = gpuopt__refuse(k->context, GPUOPT_ERROR_STATE, call, "the pool holds nodes besides the root");
    status = gpuopt__knapsack_agree(
        k, call, status, status ? 0 : gpuopt__take_bytes((const unsigned char *)bytes + GPUOPT__KNAPSACK_CHECKSUM, 8));
    if (status) return status;
    return add && s->depth > 0 ? gpuopt__knapsack_add(k, call, &p) : gpuopt__knapsack_replace(k, call, &p);
}

GPUOPT_API gpuopt_status gpuopt_knapsack_unpack(gpuopt_knapsack *knapsack, const void *bytes, uint64_t size, int add) {
    GPUOPT__CALL(knapsack, knapsack->context, gpuopt__knapsack_unpack(knapsack, call, bytes, size, add));
}

#endif /* GPUOPT_IMPL_KNAPSACK_API_ADD_H */
