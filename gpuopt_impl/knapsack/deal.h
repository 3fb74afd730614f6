/* SPDX-License-Identifier: MIT
 *
 * Knapsack: takes one of every `every` nodes out of a pool, as packed bytes, or drops all others; and adds nodes to a
 * pool that already holds some.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_DEAL_H
#define GPUOPT_IMPL_KNAPSACK_DEAL_H

#include "unpack.h"

/* ---- Dealing ---- */

typedef struct gpuopt__knapsack_hand {
    int64_t nodes;   /* that are dealt out */
    int32_t lists;   /* from which */
    int32_t decided; /* decisions of the deepest of these */
} gpuopt__knapsack_hand;

static gpuopt__knapsack_hand gpuopt__knapsack_hand_of(const gpuopt__knapsack_search *s,
                                                      const gpuopt__knapsack_share *share) {
    gpuopt__knapsack_hand hand = {0, 0, 0};
    int64_t count = 0;
    int32_t j;
    for (j = 0; j < s->depth; j++) {
        count += s->list[j].count;
        if (gpuopt__knapsack_share_of(share, count) == hand.nodes) continue;
        hand.nodes = gpuopt__knapsack_share_of(share, count);
        hand.lists++;
        hand.decided = s->list[j].decided;
    }
    return hand;
}

/* Those nodes of a list that are in the share. before: nodes of its side below the list; number: nodes of all lists
 * before it. */
static gpuopt__knapsack_pick gpuopt__knapsack_pick_of(const gpuopt__knapsack_search *s,
                                                      const gpuopt__knapsack_share *share,
                                                      const gpuopt__knapsack_list *list, int64_t before,
                                                      int64_t number) {
    gpuopt__knapsack_pick p;
    p.share = *share;
    p.before = gpuopt__knapsack_share_of(share, number);
    p.count = gpuopt__knapsack_share_of(share, number + list->count) - p.before;
    p.number = number;
    p.from = p.to = gpuopt__knapsack_place(s, list->side, before, 0);
    p.step = list->side ? -1 : 1;
    return p;
}

/* Packs picked nodes. Returns where the next node's bytes go through *to. */
static gpuopt_status gpuopt__knapsack_pack_picked(gpuopt_knapsack *k, gpuopt__knapsack_pick p, unsigned char **to) {
    int64_t left = p.count, i;
    gpuopt_status status = GPUOPT_OK;
    for (; left > 0 && !status; left -= p.count, p.before += p.count) {
        p.count = left < k->chunk ? left : k->chunk;
        status = gpuopt__knapsack_of(k)->pick(k, &k->search, &p, k->staging);
        for (i = 0; i < p.count && !status; i++) *to = gpuopt__knapsack_pack_node(&k->staging[i], *to);
    }
    return status;
}

/* Drops all nodes that are not in the share, after it has packed them, unless `to` is NULL. */
static gpuopt_status gpuopt__knapsack_reduce_to(gpuopt_knapsack *k, const gpuopt__knapsack_share *share,
                                                unsigned char *to) {
    gpuopt__knapsack_search *s = &k->search;
    gpuopt__knapsack_share rest = *share;
    int64_t number = 0, before[2] = {0, 0}, after[2] = {0, 0};
    int32_t j, depth = 0;
    gpuopt_status status = GPUOPT_OK;
    rest.others = !share->others;
    for (j = 0; j < s->depth && !status; j++) {
        gpuopt__knapsack_list list = s->list[j];
        gpuopt__knapsack_pick p = gpuopt__knapsack_pick_of(s, &rest, &list, before[list.side], number);
        if (to) status = gpuopt__knapsack_pack_picked(k, p, &to);
        p = gpuopt__knapsack_pick_of(s, share, &list, before[list.side], number);
        p.to = gpuopt__knapsack_place(s, list.side, after[list.side], 0);
        if (!status && p.count > 0) status = gpuopt__knapsack_of(k)->pick(k, s, &p, NULL);
        number += list.count;
        before[list.side] += list.count;
        after[list.side] += p.count;
        list.count = list.own = p.count;
        if (list.count > 0) s->list[depth++] = list;
    }
    if (status) return status;
    s->depth = depth;
    s->used[0] = after[0];
    s->used[1] = after[1];
    s->full = 0;
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_split(gpuopt_knapsack *knapsack, int64_t every, void *bytes, uint64_t capacity,
                                               uint64_t *size) {
    static const char call[] = "gpuopt_knapsack_split";
    gpuopt_knapsack *k = knapsack;
    const gpuopt__knapsack_search *s;
    gpuopt__knapsack_share share = {0, 0, 0};
    gpuopt__knapsack_hand hand;
    unsigned char *to;
    uint64_t need;
    int64_t number = 0;
    int32_t j;
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_knapsack_split(knapsack, every, bytes, capacity, size));
    if (!k) return GPUOPT_ERROR_ARGUMENT;
    s = &k->search;
    if (every < 1 || (!bytes && !size))
        return gpuopt__refuse(k->context, GPUOPT_ERROR_ARGUMENT, call,
                              every < 1 ? "every is less than 1" : "bytes and size are NULL");
    status = gpuopt__knapsack_refuse_ranks(k, call);
    if (status) return status;
    share.every = every;
    hand = gpuopt__knapsack_hand_of(s, &share);
    need = gpuopt__knapsack_packed_size(k, hand.lists, hand.nodes, hand.decided);
    if (bytes && capacity < need)
        return gpuopt__refuse(k->context, GPUOPT_ERROR_ARGUMENT, call, "capacity is too small");
    status = bytes ? gpuopt__knapsack_recover(k) : GPUOPT_OK;
    if (status) return status;
    if (size) *size = need;
    if (!bytes) return GPUOPT_OK;
    to = gpuopt__knapsack_pack_head(k, hand.lists, hand.nodes, hand.decided, (unsigned char *)bytes);
    for (j = 0; j < s->depth; number += s->list[j++].count) {
        const int64_t dealt =
            gpuopt__knapsack_share_of(&share, number + s->list[j].count) - gpuopt__knapsack_share_of(&share, number);
        if (dealt > 0) to = gpuopt__knapsack_pack_list(&s->list[j], dealt, to);
    }
    for (j = 0; j < hand.decided; j++, to += 4) gpuopt__put_bytes(to, (uint64_t)s->decided[j], 4);
    share.others = 1;
    status = gpuopt__knapsack_reduce_to(k, &share, to);
    if (status) return status;
    gpuopt__seal((unsigned char *)bytes, need, GPUOPT__KNAPSACK_CHECKSUM);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_take_share(gpuopt_knapsack *knapsack, int64_t part, int64_t parts) {
    static const char call[] = "gpuopt_knapsack_take_share";
    gpuopt__knapsack_share share = {0, 0, 0};
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_knapsack_take_share(knapsack, part, parts));
    if (!knapsack) return GPUOPT_ERROR_ARGUMENT;
    if (parts < 1 || part < 0 || part >= parts)
        return gpuopt__refuse(knapsack->context, GPUOPT_ERROR_ARGUMENT, call,
                              parts < 1 ? "parts is less than 1" : "part is not in 0..parts - 1");
    status = gpuopt__knapsack_refuse_ranks(knapsack, call);
    if (status) return status;
    share.every = parts;
    share.part = part;
    return gpuopt__knapsack_reduce_to(knapsack, &share, NULL);
}

/* ---- Adding ---- */

/* Whether the nodes of the pool, and those in the bytes, have decided every item before their level. If so, the
 * lists of a level can be merged. */
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

/* Merges the lists of the bytes with those of the pool, from the deepest to the lowest, each nodes behind what is below
 * them on their side; `lists` of both together, `added` nodes on each side. */
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

GPUOPT_API gpuopt_status gpuopt_knapsack_add(gpuopt_knapsack *knapsack, const void *bytes, uint64_t size) {
    static const char call[] = "gpuopt_knapsack_add";
    gpuopt_knapsack *k = knapsack;
    gpuopt__knapsack_search *s;
    gpuopt__knapsack_packed p;
    int64_t alive = 0, needed = 0, added[2] = {0, 0};
    int32_t lists = 0, own = 0, other = 0;
    int side_of_even;
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_knapsack_add(knapsack, bytes, size));
    if (!k) return GPUOPT_ERROR_ARGUMENT;
    s = &k->search;
    status = gpuopt__knapsack_refuse_ranks(k, call);
    if (!status) status = gpuopt__knapsack_check_packed(k, call, bytes, size, &p);
    if (status) return status;
    if (s->depth == 0) return gpuopt__knapsack_replace(k, call, &p);
    if (s->dominance || !gpuopt__knapsack_skips_nothing(s, &p))
        return gpuopt__refuse(k->context, GPUOPT_ERROR_STATE, call,
                              "with DOMINANCE nodes can be added to an empty pool only");
    side_of_even = s->list[0].side ^ (s->list[0].level & 1); /* as a search in which no side had to wait */
    for (; own < s->depth || other < p.lists; lists++) {
        int32_t level, packed;
        int side = -1;
        gpuopt__knapsack_levels(s, &p, own, other, INT32_MAX, &level, &packed);
        if (level <= packed) {
            side = s->list[own].side;
            alive += s->list[own++].count;
        }
        if (packed <= level) {
            const int64_t count = gpuopt__knapsack_packed_list(&p, other++).count;
            if (side < 0) side = side_of_even ^ (packed & 1);
            alive += count;
            added[side] += count;
            level = packed;
        }
        if (gpuopt__knapsack_need(s, alive, level) > needed) needed = gpuopt__knapsack_need(s, alive, level);
    }
    status = gpuopt__knapsack_reach(k, call, needed);
    if (!status) status = gpuopt__knapsack_move_to_own_pool(k, s);
    if (!status && p.lists > 0) status = gpuopt__knapsack_merge(k, &p, lists, side_of_even, added);
    if (status) return status;
    k->upper = k->root_bound;
    if (p.incumbent > k->incumbent) gpuopt__knapsack_adopt(k, p.incumbent, p.taken);
    gpuopt__knapsack_claim(k, p.claim);
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_KNAPSACK_DEAL_H */
