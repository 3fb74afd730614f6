/* SPDX-License-Identifier: MIT
 *
 * Knapsack: nodes as bytes and back. doc/knapsack.md describes the format.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_API_PACK_H
#define GPUOPT_IMPL_KNAPSACK_API_PACK_H

#include "../pool/recover.h"

#define GPUOPT__KNAPSACK_HEAD 80
#define GPUOPT__KNAPSACK_CHECKSUM 72 /* place of the checksum */
#define GPUOPT__KNAPSACK_LIST_HEAD 40
#define GPUOPT__KNAPSACK_NODE 20
#define GPUOPT__KNAPSACK_MAGIC 0x4b555047u /* "GPUK" */
#define GPUOPT__KNAPSACK_PACKED_VERSION 2

/* The `nodes` nodes next to be expanded (-1: all): *first, the first of their lists, and *of_first, their number in
 * that list. Returns the number of nodes. */
static int64_t gpuopt__knapsack_next_lists(const gpuopt__knapsack_search *s, int64_t nodes, int32_t *first,
                                           int64_t *of_first) {
    int64_t left = nodes;
    *first = s->depth;
    *of_first = 0;
    while (*first > 0 && left != 0) {
        int64_t count = s->list[--*first].count;
        *of_first = left > 0 && left < count ? left : count;
        if (left > 0) left -= *of_first;
    }
    return nodes < 0 ? gpuopt__knapsack_alive(s) : nodes - left;
}

static uint64_t gpuopt__knapsack_packed_size(const gpuopt_knapsack *k, int32_t lists, int64_t nodes, int32_t decided) {
    return GPUOPT__KNAPSACK_HEAD + (uint64_t)k->items + GPUOPT__KNAPSACK_LIST_HEAD * (uint64_t)lists +
           4 * (uint64_t)decided + GPUOPT__KNAPSACK_NODE * (uint64_t)nodes;
}

/* Packs the part before the lists. Returns the place of the lists. */
static unsigned char *gpuopt__knapsack_pack_head(const gpuopt_knapsack *k, int32_t lists, int64_t nodes,
                                                 int32_t decided, unsigned char *head) {
    memset(head, 0, GPUOPT__KNAPSACK_HEAD);
    gpuopt__put_bytes(head, GPUOPT__KNAPSACK_MAGIC, 4);
    gpuopt__put_bytes(head + 4, GPUOPT__KNAPSACK_PACKED_VERSION, 4);
    gpuopt__put_bytes(head + 8, (uint64_t)lists, 4);
    gpuopt__put_bytes(head + 12, (uint64_t)k->items, 4);
    gpuopt__put_bytes(head + 16, k->hash, 8);
    gpuopt__put_bytes(head + 24, (uint64_t)nodes, 8);
    gpuopt__put_bytes(head + 32, (uint64_t)k->incumbent, 8);
    gpuopt__put_bytes(head + 40, (uint64_t)k->claim, 8);
    gpuopt__put_bytes(head + 48, (uint64_t)k->search.expanded, 8);
    gpuopt__put_bytes(head + 56, (uint64_t)k->search.pruned, 8);
    gpuopt__put_bytes(head + 64, (uint64_t)decided, 8);
    if (k->items > 0) memcpy(head + GPUOPT__KNAPSACK_HEAD, k->taken, (size_t)k->items);
    return head + GPUOPT__KNAPSACK_HEAD + k->items;
}

static unsigned char *gpuopt__knapsack_pack_list(const gpuopt__knapsack_list *list, int64_t count, unsigned char *to) {
    uint64_t bits;
    memcpy(&bits, &list->bound, sizeof bits);
    gpuopt__put_bytes(to, (uint64_t)list->level, 8);
    gpuopt__put_bytes(to + 8, (uint64_t)list->decided, 8);
    gpuopt__put_bytes(to + 16, (uint64_t)count, 8);
    gpuopt__put_bytes(to + 24, (uint64_t)list->completed, 8);
    gpuopt__put_bytes(to + 32, bits, 8);
    return to + GPUOPT__KNAPSACK_LIST_HEAD;
}

static unsigned char *gpuopt__knapsack_pack_node(const gpuopt__knapsack_node *node, unsigned char *to) {
    gpuopt__put_bytes(to, (uint64_t)node->residual, 8);
    gpuopt__put_bytes(to + 8, node->profit, 8);
    gpuopt__put_bytes(to + 16, node->decisions, 4);
    return to + GPUOPT__KNAPSACK_NODE;
}

/* Packs `count` nodes, from place `at` on. */
static gpuopt_status gpuopt__knapsack_pack_nodes(gpuopt_knapsack *k, int64_t at, int step, int64_t count,
                                                 unsigned char *to) {
    gpuopt__knapsack_node *node = k->staging;
    int64_t done, part, i;
    gpuopt_status status = GPUOPT_OK;
    for (done = 0; done < count && !status; done += part) {
        part = count - done < k->chunk ? count - done : k->chunk;
        status = gpuopt__knapsack_of(k)->get(k, &k->search, at + done * step, step, part, node);
        for (i = 0; i < part && !status; i++) to = gpuopt__knapsack_pack_node(&node[i], to);
    }
    return status;
}

/* Packs the last `count` nodes of list j. `before`: nodes of its side below it. If the list is shared, each rank packs
 * its own nodes, and sends them to the others. */
static gpuopt_status gpuopt__knapsack_pack_last(gpuopt_knapsack *k, int32_t j, int64_t before, int64_t count,
                                                unsigned char *to) {
    const gpuopt__knapsack_search *s = &k->search;
    const gpuopt__knapsack_list *list = &s->list[j];
    const int64_t *part = s->part + (int64_t)j * s->ranks, skipped = list->count - count;
    const int step = list->side ? -1 : 1;
    gpuopt_status status = GPUOPT_OK;
    int32_t r;
    if (!list->shared)
        return gpuopt__knapsack_pack_nodes(k, gpuopt__knapsack_place(s, list->side, before, skipped), step, count, to);
    for (r = 0; r < s->ranks && !status; r++) {
        const int64_t begin = gpuopt__knapsack_clip(part[r] - skipped, count);
        const int64_t end = r + 1 < s->ranks ? gpuopt__knapsack_clip(part[r + 1] - skipped, count) : count;
        unsigned char *at = to + GPUOPT__KNAPSACK_NODE * begin;
        if (begin == end) continue;
        if (r == s->rank)
            status = gpuopt__knapsack_pack_nodes(
                k, gpuopt__knapsack_place(s, list->side, before, begin + skipped - part[r]), step, end - begin, at);
        status = gpuopt__knapsack_send_packed(k, r, status, at, GPUOPT__KNAPSACK_NODE * (uint64_t)(end - begin));
    }
    return status;
}

static gpuopt__knapsack_node gpuopt__knapsack_take_node(const unsigned char *from) {
    gpuopt__knapsack_node node;
    node.residual = (int64_t)gpuopt__take_bytes(from, 8);
    node.profit = gpuopt__take_bytes(from + 8, 8);
    node.decisions = (uint32_t)gpuopt__take_bytes(from + 16, 4);
    return node;
}

static gpuopt_status gpuopt__knapsack_unpack_nodes(gpuopt_knapsack *k, int64_t at, int step, int64_t count,
                                                   const unsigned char *from) {
    gpuopt__knapsack_node *node = k->staging;
    int64_t done, part, i;
    gpuopt_status status = GPUOPT_OK;
    for (done = 0; done < count && !status; done += part) {
        part = count - done < k->chunk ? count - done : k->chunk;
        for (i = 0; i < part; i++, from += GPUOPT__KNAPSACK_NODE) node[i] = gpuopt__knapsack_take_node(from);
        status = gpuopt__knapsack_of(k)->put(k, &k->search, at + done * step, step, part, node);
    }
    return status;
}

/* Removes the packed nodes from the pool. */
static void gpuopt__knapsack_remove(gpuopt__knapsack_search *s, int32_t first, int64_t of_first) {
    while (s->depth > first) {
        gpuopt__knapsack_list *top = &s->list[s->depth - 1];
        gpuopt__knapsack_shorten(s, s->depth - 1, s->depth - 1 == first ? of_first : top->count);
        if (top->count > 0) break;
        s->depth--;
    }
    s->full = 0;
}

static gpuopt_status gpuopt__knapsack_pack(gpuopt_knapsack *k, const char *call, int64_t nodes, int remove, void *bytes,
                                           uint64_t capacity, uint64_t *size) {
    gpuopt__knapsack_search *s;
    unsigned char *head = (unsigned char *)bytes, *to = head;
    uint64_t need;
    int64_t total, of_first, base[2] = {0, 0};
    int32_t first, j, decided;
    gpuopt_status status = GPUOPT_OK;
    s = &k->search;
    if (nodes < -1 || (!bytes && !size))
        status = gpuopt__refuse(k->context, GPUOPT_ERROR_ARGUMENT, call,
                                nodes < -1 ? "nodes is less than -1" : "bytes and size are NULL");
    total = gpuopt__knapsack_next_lists(s, nodes, &first, &of_first);
    decided = first < s->depth ? s->list[s->depth - 1].decided : 0;
    need = gpuopt__knapsack_packed_size(k, s->depth - first, total, decided);
    if (!status && bytes && capacity < need)
        status = gpuopt__refuse(k->context, GPUOPT_ERROR_ARGUMENT, call, "capacity is too small");
    status = gpuopt__knapsack_agree(k, call, status,
                                    gpuopt__hash_number(gpuopt__hash_number(!!remove, (uint64_t)nodes), bytes != NULL));
    if (status) return status;
    if (!bytes) {
        *size = need;
        return GPUOPT_OK;
    }
    status = gpuopt__knapsack_all_could(k, gpuopt__knapsack_recover(k));
    if (status) return status;
    if (size) *size = need;
    to = gpuopt__knapsack_pack_head(k, s->depth - first, total, decided, head);
    for (j = first; j < s->depth; j++)
        to = gpuopt__knapsack_pack_list(&s->list[j], j == first ? of_first : s->list[j].count, to);
    for (j = 0; j < decided; j++, to += 4) gpuopt__put_bytes(to, (uint64_t)s->decided[j], 4);
    for (j = 0; j < s->depth && !status; j++) {
        int32_t side = s->list[j].side;
        int64_t count = j == first ? of_first : s->list[j].count;
        if (j >= first) {
            status = gpuopt__knapsack_pack_last(k, j, base[side], count, to);
            to += GPUOPT__KNAPSACK_NODE * count;
        }
        base[side] += s->list[j].own;
    }
    if (status) return status;
    gpuopt__seal(head, need, GPUOPT__KNAPSACK_CHECKSUM);
    if (remove && total > 0) gpuopt__knapsack_remove(s, first, of_first);
    gpuopt__knapsack_weigh(k, &k->search);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_pack(gpuopt_knapsack *knapsack, int64_t nodes, int remove, void *bytes,
                                              uint64_t capacity, uint64_t *size) {
    GPUOPT__CALL(knapsack, knapsack->context,
                 gpuopt__knapsack_pack(knapsack, call, nodes, remove, bytes, capacity, size));
}

#endif /* GPUOPT_IMPL_KNAPSACK_API_PACK_H */
