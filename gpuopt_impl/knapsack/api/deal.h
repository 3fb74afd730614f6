/* SPDX-License-Identifier: MIT
 *
 * Knapsack: every n-th node of a pool as packed bytes, or all other nodes.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_API_DEAL_H
#define GPUOPT_IMPL_KNAPSACK_API_DEAL_H

#include "../search/pick.h"
#include "pack.h"

typedef struct gpuopt__knapsack_hand {
    int64_t nodes;   /* nodes to deal out */
    int32_t lists;   /* number of their lists */
    int32_t decided; /* decisions of the deepest of these lists */
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

/* The nodes of a list in the share. before: nodes of its side below the list; number: nodes of all lists before it. */
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

/* Packs picked nodes. Returns the place of the next node's bytes through *to. */
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

/* Drops all nodes outside the share; packs them first unless `to` is NULL. */
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

static gpuopt_status gpuopt__knapsack_split_off(gpuopt_knapsack *k, const char *call, int64_t every, void *bytes,
                                                uint64_t capacity, uint64_t *size) {
    const gpuopt__knapsack_search *s;
    gpuopt__knapsack_share share = {0, 0, 0};
    gpuopt__knapsack_hand hand;
    unsigned char *to;
    uint64_t need;
    int64_t number = 0;
    int32_t j;
    gpuopt_status status;
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

GPUOPT_API gpuopt_status gpuopt_knapsack_split(gpuopt_knapsack *knapsack, int64_t every, void *bytes, uint64_t capacity,
                                               uint64_t *size) {
    GPUOPT__CALL(knapsack, knapsack->context, gpuopt__knapsack_split_off(knapsack, call, every, bytes, capacity, size));
}

static gpuopt_status gpuopt__knapsack_take_share(gpuopt_knapsack *knapsack, const char *call, int64_t part,
                                                 int64_t parts) {
    gpuopt__knapsack_share share = {0, 0, 0};
    gpuopt_status status;
    if (parts < 1 || part < 0 || part >= parts)
        return gpuopt__refuse(knapsack->context, GPUOPT_ERROR_ARGUMENT, call,
                              parts < 1 ? "parts is less than 1" : "part is not in 0..parts - 1");
    status = gpuopt__knapsack_refuse_ranks(knapsack, call);
    if (status) return status;
    share.every = parts;
    share.part = part;
    return gpuopt__knapsack_reduce_to(knapsack, &share, NULL);
}

GPUOPT_API gpuopt_status gpuopt_knapsack_take_share(gpuopt_knapsack *knapsack, int64_t part, int64_t parts) {
    GPUOPT__CALL(knapsack, knapsack->context, gpuopt__knapsack_take_share(knapsack, call, part, parts));
}

#endif /* GPUOPT_IMPL_KNAPSACK_API_DEAL_H */
