/* SPDX-License-Identifier: MIT
 *
 * Knapsack: packed nodes back into a pool without other nodes, after a check of all their contents.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_API_UNPACK_H
#define GPUOPT_IMPL_KNAPSACK_API_UNPACK_H

#include "pack.h"

/* The parts of packed bytes. */
typedef struct gpuopt__knapsack_packed {
    const unsigned char *taken, *list, *decided, *node;
    int32_t lists;
    int64_t decisions, nodes, incumbent, claim;
} gpuopt__knapsack_packed;

static int64_t gpuopt__knapsack_packed_number(const gpuopt__knapsack_packed *p, int32_t list, int which) {
    return (int64_t)gpuopt__take_bytes(p->list + GPUOPT__KNAPSACK_LIST_HEAD * (int64_t)list + 8 * which, 8);
}

static gpuopt__knapsack_list gpuopt__knapsack_packed_list(const gpuopt__knapsack_packed *p, int32_t j) {
    int64_t bits = gpuopt__knapsack_packed_number(p, j, 4);
    gpuopt__knapsack_list list;
    list.level = (int32_t)gpuopt__knapsack_packed_number(p, j, 0);
    list.decided = (int32_t)gpuopt__knapsack_packed_number(p, j, 1);
    list.count = gpuopt__knapsack_packed_number(p, j, 2);
    list.own = list.count;
    list.completed = gpuopt__knapsack_packed_number(p, j, 3);
    list.side = j & 1;
    list.shared = 0;
    memcpy(&list.bound, &bits, sizeof bits);
    return list;
}

/* Finds the parts of packed bytes. Returns the fault of the bytes, or NULL. */
static const char *gpuopt__knapsack_parse(const gpuopt_knapsack *k, const unsigned char *head, uint64_t size,
                                          gpuopt__knapsack_packed *p) {
    const uint64_t limit = (uint64_t)1 << 40;
    uint64_t lists, decisions, nodes;
    if (!head || size < GPUOPT__KNAPSACK_HEAD || gpuopt__take_bytes(head, 4) != GPUOPT__KNAPSACK_MAGIC)
        return "the bytes are not packed nodes";
    if (gpuopt__take_bytes(head + 4, 4) != GPUOPT__KNAPSACK_PACKED_VERSION) return "the bytes are of another version";
    if (gpuopt__take_bytes(head + 12, 4) != (uint64_t)k->items || gpuopt__take_bytes(head + 16, 8) != k->hash)
        return "the bytes are of another problem, search or reduction";
    lists = gpuopt__take_bytes(head + 8, 4);
    nodes = gpuopt__take_bytes(head + 24, 8);
    decisions = gpuopt__take_bytes(head + 64, 8);
    if (lists > (uint64_t)k->search.levels + 1 || decisions > (uint64_t)k->search.levels || nodes > limit ||
        size != GPUOPT__KNAPSACK_HEAD + (uint64_t)k->items + GPUOPT__KNAPSACK_LIST_HEAD * lists + 4 * decisions +
                    GPUOPT__KNAPSACK_NODE * nodes)
        return "the bytes are cut short";
    if (!gpuopt__is_sealed(head, size, GPUOPT__KNAPSACK_CHECKSUM)) return "the bytes are damaged";
    p->taken = head + GPUOPT__KNAPSACK_HEAD;
    p->list = p->taken + k->items;
    p->decided = p->list + GPUOPT__KNAPSACK_LIST_HEAD * lists;
    p->node = p->decided + 4 * decisions;
    p->lists = (int32_t)lists;
    p->nodes = (int64_t)nodes;
    p->decisions = (int64_t)decisions;
    p->incumbent = (int64_t)gpuopt__take_bytes(head + 32, 8);
    p->claim = (int64_t)gpuopt__take_bytes(head + 40, 8);
    return p->incumbent < 0 || p->claim < 0 ? "a profit is negative" : NULL;
}

static int64_t gpuopt__knapsack_packed_decision(const gpuopt__knapsack_packed *p, int64_t k) {
    return (int64_t)gpuopt__take_bytes(p->decided + 4 * k, 4);
}

/* The fault of list j, apart from its nodes, or NULL. above: the list before it; left: nodes not read yet. */
static const char *gpuopt__knapsack_list_fault(const gpuopt__knapsack_search *s, const gpuopt__knapsack_packed *p,
                                               int32_t j, const gpuopt__knapsack_list *above, int64_t left) {
    int64_t level = gpuopt__knapsack_packed_number(p, j, 0), decided = gpuopt__knapsack_packed_number(p, j, 1);
    int64_t count = gpuopt__knapsack_packed_number(p, j, 2), completed = gpuopt__knapsack_packed_number(p, j, 3);
    if (level <= above->level || level > s->levels || decided < above->decided || decided > p->decisions || count < 1 ||
        count > left || completed < 1 || completed > (int64_t)1 << 40)
        return "a list is impossible";
    if (decided > 0 && gpuopt__knapsack_packed_decision(p, decided - 1) >= level) return "the decisions are impossible";
    return NULL;
}

/* The fault of a node of a list, or NULL. best: the node, with the decisions of the list; last: the node before it, or
 * NULL. Its residual capacity is compared with the level after its last decision, at which it was made. Levels skipped
 * by its list since then may have left it too heavy, and then the next step drops it. */
static const char *gpuopt__knapsack_node_fault(const gpuopt__knapsack_search *s, const gpuopt__knapsack_list *list,
                                               const gpuopt__knapsack_best *best, const gpuopt__knapsack_node *last) {
    const gpuopt__knapsack_node *node = &best->node;
    gpuopt__knapsack_node before;
    int32_t made = best->known > 0 ? best->decided[0] + 1 : 0;
    int64_t left = gpuopt__knapsack_weight(&s->view.table, s->view.first, gpuopt__knapsack_core_of(s, made).begin);
    if (node->residual > s->view.capacity - left || node->residual < -left ||
        !gpuopt__knapsack_take_back(s, best, &before))
        return "a node has an impossible residual capacity";
    if (s->dominance && last && (node->residual >= last->residual || node->profit <= last->profit))
        return "the nodes are not sorted";
    if (!(list->bound >= gpuopt__knapsack_value(node->residual, node->profit, s->ratio)))
        return "a list's bound is too low";
    return NULL;
}

/* The fault of the lists and their nodes, or NULL. */
static const char *gpuopt__knapsack_packed_fault(const gpuopt_knapsack *k, const gpuopt__knapsack_packed *p) {
    const gpuopt__knapsack_search *s = &k->search;
    const unsigned char *from = p->node;
    gpuopt__knapsack_list list;
    gpuopt__knapsack_best best;
    const char *fault = NULL;
    int64_t left = p->nodes, last = -1, i;
    int32_t j;
    memset(&list, 0, sizeof list);
    list.level = -1;
    for (i = 0; i < p->decisions; i++) {
        int64_t next = gpuopt__knapsack_packed_decision(p, i);
        if (next <= last || next >= s->levels) return "the decisions are impossible";
        last = next;
    }
    for (j = 0; j < p->lists && !fault; j++) {
        gpuopt__knapsack_node before = {0, 0, 0};
        fault = gpuopt__knapsack_list_fault(s, p, j, &list, left);
        if (fault) break;
        list = gpuopt__knapsack_packed_list(p, j);
        left -= list.count;
        best.known = list.decided < GPUOPT__KNAPSACK_KNOWN ? list.decided : GPUOPT__KNAPSACK_KNOWN;
        for (i = 0; i < best.known; i++)
            best.decided[i] = (int32_t)gpuopt__knapsack_packed_decision(p, list.decided - 1 - i);
        for (i = 0; i < list.count && !fault; i++, from += GPUOPT__KNAPSACK_NODE, before = best.node) {
            best.node = gpuopt__knapsack_take_node(from);
            fault = gpuopt__knapsack_node_fault(s, &list, &best, i > 0 ? &before : NULL);
        }
    }
    return fault || left == 0 ? fault : "the lists hold fewer nodes than there are";
}

/* The first node that a rank keeps of a list of `count` nodes. All ranks keep a short list. */
static int64_t gpuopt__knapsack_first_own(const gpuopt__knapsack_search *s, int32_t rank, int64_t count) {
    if (count < s->share_from) return rank == s->rank ? 0 : count;
    return rank < s->ranks ? count / s->ranks * rank : count;
}

/* Puts checked nodes into the pool, in place of its contents. */
static gpuopt_status gpuopt__knapsack_fill_pool(gpuopt_knapsack *k, const gpuopt__knapsack_packed *p) {
    gpuopt__knapsack_search *s = &k->search;
    const unsigned char *from = p->node;
    gpuopt_status status = GPUOPT_OK;
    int64_t i, first;
    int32_t j, r;
    s->depth = 0;
    s->used[0] = s->used[1] = s->remote = 0;
    gpuopt__knapsack_use_own_pool(s);
    for (i = 0; i < p->decisions; i++) s->decided[i] = (int32_t)gpuopt__knapsack_packed_decision(p, i);
    for (j = 0; j < p->lists && !status; j++) {
        gpuopt__knapsack_list *list = &s->list[j];
        *list = gpuopt__knapsack_packed_list(p, j);
        first = gpuopt__knapsack_first_own(s, s->rank, list->count);
        list->own = gpuopt__knapsack_first_own(s, s->rank + 1, list->count) - first;
        list->shared = list->count >= s->share_from;
        for (r = 0; r < s->ranks && list->shared; r++)
            s->part[(int64_t)j * s->ranks + r] = gpuopt__knapsack_first_own(s, r, list->count);
        status = gpuopt__knapsack_unpack_nodes(k, gpuopt__knapsack_place(s, list->side, s->used[list->side], 0),
                                               list->side ? -1 : 1, list->own, from + GPUOPT__KNAPSACK_NODE * first);
        from += GPUOPT__KNAPSACK_NODE * list->count;
        s->used[list->side] += list->own;
        s->remote += list->count - list->own;
        s->depth++;
    }
    if (p->nodes > s->peak) s->peak = p->nodes;
    return status;
}

/* Finds the parts of packed bytes and checks all of them. */
static gpuopt_status gpuopt__knapsack_check_packed(const gpuopt_knapsack *k, const char *call, const void *bytes,
                                                   uint64_t size, gpuopt__knapsack_packed *p) {
    const char *fault = gpuopt__knapsack_parse(k, (const unsigned char *)bytes, size, p);
    if (!fault) fault = gpuopt__knapsack_packed_fault(k, p);
    if (!fault) fault = gpuopt__knapsack_solution_fault(k, p->incumbent, p->taken);
    return fault ? gpuopt__refuse(k->context, GPUOPT_ERROR_ARGUMENT, call, fault) : GPUOPT_OK;
}

/* The pool that `alive` nodes need, the last of them from this level: it keeps as many nodes free as a search would
 * leave, see gpuopt__knapsack_slice. */
static int64_t gpuopt__knapsack_need(const gpuopt__knapsack_search *s, int64_t alive, int32_t level) {
    return alive + s->reserve + s->levels - level + 2;
}

/* Replaces the nodes of a pool by checked nodes, with their information on solutions. */
static gpuopt_status gpuopt__knapsack_replace(gpuopt_knapsack *k, const char *call, const gpuopt__knapsack_packed *p) {
    const gpuopt__knapsack_search *s = &k->search;
    int64_t alive = 0, needed = 0;
    int32_t j;
    gpuopt_status status;
    for (j = 0; j < p->lists; j++) {
        const gpuopt__knapsack_list list = gpuopt__knapsack_packed_list(p, j);
        alive += list.count < s->share_from ? list.count : list.count - list.count / s->ranks * (s->ranks - 1);
        if (gpuopt__knapsack_need(s, alive, list.level) > needed) needed = gpuopt__knapsack_need(s, alive, list.level);
    }
    status = gpuopt__knapsack_reach(k, call, needed);
    if (status) return status;
    k->upper = k->root_bound;
    status = gpuopt__knapsack_all_could(k, gpuopt__knapsack_fill_pool(k, p));
    if (status) return status;
    gpuopt__knapsack_weigh(k, &k->search);
    if (p->incumbent > k->incumbent) gpuopt__knapsack_adopt(k, p->incumbent, p->taken);
    gpuopt__knapsack_claim(k, p->claim);
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_KNAPSACK_API_UNPACK_H */
