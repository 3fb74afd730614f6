/* SPDX-License-Identifier: MIT */
#include "examples/mip_queue.h"

#include <stdlib.h>
#include <string.h>

static int comes_before(const open_node *a, const open_node *b) {
    return a->bound != b->bound ? a->bound < b->bound : a->depth > b->depth;
}

static int put(node_queue *q, open_node *n) {
    size_t k = q->count;
    if (q->count == q->room) {
        open_node **more = realloc(q->node, (2 * q->room + 64) * sizeof *more);
        if (!more) return -1;
        q->node = more;
        q->room = 2 * q->room + 64;
    }
    for (q->count++; k > 0 && comes_before(n, q->node[(k - 1) / 2]); k = (k - 1) / 2) q->node[k] = q->node[(k - 1) / 2];
    q->node[k] = n;
    return 0;
}

void queue_put(node_queue *q, search *s, decision d) {
    size_t path = sizeof d * (size_t)(s->depth + 1);
    open_node *n = malloc(sizeof *n + path + s->basis_size);
    if (n) {
        n->bound = s->bound;
        n->depth = s->depth + 1;
        if (s->depth > 0) memcpy(n->path, s->path, path - sizeof d);
        n->path[s->depth] = d;
        n->basis = (uint8_t *)(n->path + n->depth);
        memcpy(n->basis, s->now.basis, s->basis_size);
    }
    if (!n || put(q, n)) {
        free(n);
        search_ok(s, GPUOPT_ERROR_MEMORY);
    }
}

open_node *queue_take(node_queue *q) {
    open_node *first = q->count ? q->node[0] : NULL, *last = q->count ? q->node[--q->count] : NULL;
    size_t k = 0, child;
    while ((child = 2 * k + 1) < q->count) {
        if (child + 1 < q->count && comes_before(q->node[child + 1], q->node[child])) child++;
        if (!comes_before(q->node[child], last)) break;
        q->node[k] = q->node[child];
        k = child;
    }
    if (q->count) q->node[k] = last;
    return first;
}
