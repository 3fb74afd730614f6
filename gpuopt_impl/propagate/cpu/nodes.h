/* SPDX-License-Identifier: MIT
 *
 * Propagation on the CPU: a batch of nodes. Each thread has a separate state with a trail. It takes a node's bounds,
 * makes the rounds, notes the changes, and goes back.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_CPU_NODES_H
#define GPUOPT_IMPL_PROPAGATE_CPU_NODES_H

#include "../../common/items.h"
#include "handle.h"

/* The result of a node's run. */
typedef struct gpuopt__propagator_cpu_node {
    int32_t outcome, rounds, infeasible_row, infeasible_col, columns;
    int64_t changed, nonzeros;
    int64_t at; /* start of its changed columns in the batch's arrays */
} gpuopt__propagator_cpu_node;

/* The data of a thread. */
typedef struct gpuopt__propagator_cpu_worker {
    gpuopt__propagator_cpu *state;
    uint64_t version; /* the version of the base that the state has copied; 0: none */
    int32_t *touched; /* [cols]: the last node that counted the column */
    int32_t *column;  /* [cols] of the node: given, moved or changed */
    int32_t columns;
    int32_t node; /* a number for the node, never used before; 0: none yet */
} gpuopt__propagator_cpu_worker;

typedef struct gpuopt__propagator_cpu_nodes {
    gpuopt_propagator_batch batch;
    gpuopt_context
        context; /* of the states: the caller's without its log and stop hooks, which other threads may not call */
    int threads;
    gpuopt__propagator_cpu_worker *worker; /* [threads] */
    gpuopt__propagator_cpu_node *node;     /* [nodes] */
    int64_t used;                          /* changed columns of the latest run, whether or not they fit */
    int32_t *col;                          /* [changes] */
    double *lb, *ub;                       /* [changes] */
} gpuopt__propagator_cpu_nodes;

/* The capacity of a worker's trail. A node with more changes continues without a trail. */
enum { GPUOPT__PROPAGATOR_NODE_TRAIL = 1 << 15 };

/* ---- Memory ---- */

static void gpuopt__propagator_cpu_cut_nodes(const gpuopt_propagator *base, const gpuopt_propagator_batch_desc *desc,
                                             gpuopt__arena *arena, gpuopt__propagator_cpu_nodes *b) {
    int threads = base->context->desc.threads, t;
    gpuopt__cut(arena, 1, sizeof *b);
    b->worker = (gpuopt__propagator_cpu_worker *)gpuopt__cut(arena, threads, sizeof *b->worker);
    b->node = (gpuopt__propagator_cpu_node *)gpuopt__cut(arena, desc->nodes, sizeof *b->node);
    b->col = (int32_t *)gpuopt__cut(arena, desc->changes, sizeof *b->col);
    b->lb = (double *)gpuopt__cut(arena, desc->changes, sizeof *b->lb);
    b->ub = (double *)gpuopt__cut(arena, desc->changes, sizeof *b->ub);
    for (t = 0; t < threads; t++) {
        int32_t *touched = (int32_t *)gpuopt__cut(arena, base->cols, sizeof *touched),
                *column = (int32_t *)gpuopt__cut(arena, base->cols, sizeof *column);
        if (arena->base) b->worker[t].touched = touched, b->worker[t].column = column;
    }
}

/* The common part of a worker's state. */
static gpuopt_propagator gpuopt__propagator_cpu_worker_head(const gpuopt_propagator *base) {
    gpuopt_propagator head = *base;
    int64_t most = 4 * (int64_t)base->cols + 64;
    head.trail_capacity = most < GPUOPT__PROPAGATOR_NODE_TRAIL ? (int32_t)most : GPUOPT__PROPAGATOR_NODE_TRAIL;
    return head;
}

static gpuopt_status gpuopt__propagator_cpu_batch_plan(gpuopt_propagator *base,
                                                       const gpuopt_propagator_batch_desc *desc,
                                                       gpuopt_memory_plan *plan) {
    gpuopt__propagator_cpu_nodes measure;
    gpuopt_propagator head = gpuopt__propagator_cpu_worker_head(base);
    gpuopt__arena arena = {NULL, 0};
    gpuopt__propagator_cpu_cut_nodes(base, desc, &arena, &measure);
    plan->host_bytes = arena.used + (uint64_t)base->context->desc.threads * gpuopt__propagator_cpu_bytes(&head, 1);
    return GPUOPT_OK;
}

static void gpuopt__propagator_cpu_batch_destroy(gpuopt_propagator_batch *batch) {
    gpuopt__propagator_cpu_nodes *b = (gpuopt__propagator_cpu_nodes *)batch;
    const gpuopt_context *context = batch->base->context;
    int t;
    for (t = 0; t < b->threads; t++) gpuopt__release(context, GPUOPT_HOST, b->worker[t].state);
    gpuopt__release(context, GPUOPT_HOST, b);
}

static gpuopt_status gpuopt__propagator_cpu_batch_create(gpuopt_propagator *base,
                                                         const gpuopt_propagator_batch_desc *desc,
                                                         gpuopt_propagator_batch **batch) {
    gpuopt_propagator head = gpuopt__propagator_cpu_worker_head(base);
    gpuopt__arena arena = {NULL, 0};
    gpuopt__propagator_cpu_nodes *b = NULL, measure;
    gpuopt_status status;
    gpuopt__propagator_cpu_cut_nodes(base, desc, &arena, &measure);
    status = gpuopt__take_block(base->context, GPUOPT_HOST, &arena);
    if (status) return status;
    b = (gpuopt__propagator_cpu_nodes *)(void *)arena.base;
    memset(b, 0, sizeof *b);
    gpuopt__propagator_cpu_cut_nodes(base, desc, &arena, b);
    b->batch.base = base;
    b->batch.nodes = desc->nodes;
    b->batch.node_columns = desc->node_columns;
    b->batch.changes = desc->changes;
    b->batch.ran = -1;
    b->context = *base->context;
    b->context.desc.log = NULL;
    b->context.desc.stop = NULL;
    b->context.last_error = NULL;
    for (; !status && b->threads < base->context->desc.threads; b->threads += !status) {
        gpuopt__propagator_cpu_worker *w = &b->worker[b->threads];
        status = gpuopt__propagator_cpu_new(&head, 1, &w->state);
        if (status) break;
        w->state->head.context = &b->context;
        w->state->threads = 1;
        w->version = 0;
        memset(w->touched, 0, sizeof *w->touched * (size_t)base->cols);
        w->node = 0;
    }
    if (status) gpuopt__propagator_cpu_batch_destroy(&b->batch);
    else *batch = &b->batch;
    return status;
}

/* ---- A node ---- */

/* Makes a worker's state equal to the base's state, from any contents. */
static void gpuopt__propagator_cpu_follow(gpuopt__propagator_cpu *p, const gpuopt__propagator_cpu *base) {
    int64_t k;
    gpuopt__propagator_cpu_keep(&p->head);
    for (k = 0; k < p->queued; k++) p->marked[p->queue[k]] = 0;
    p->queued = 0;
    gpuopt__propagator_cpu_forget_rows(p);
    gpuopt__propagator_cpu_copy_state(p, base);
}

/* Counts a column among the columns given to the node or changed by it. */
static void gpuopt__propagator_cpu_touch(gpuopt__propagator_cpu_worker *w, int32_t col) {
    if (w->touched[col] == w->node) return;
    w->touched[col] = w->node;
    w->column[w->columns++] = col;
}

/* Makes up to `rounds` rounds; if the trail becomes full, continues without a trail. If the number of columns is
 * limited, makes the rounds one by one and counts the columns. */
static gpuopt_propagator_info gpuopt__propagator_cpu_node_rounds(gpuopt__propagator_cpu_worker *w, int32_t rounds,
                                                                 int32_t most_columns) {
    gpuopt__propagator_cpu *p = w->state;
    gpuopt_propagator_info all, one;
    int64_t k;
    memset(&all, 0, sizeof all);
    all.outcome = w->columns > most_columns ? GPUOPT_FULL : GPUOPT_MORE;
    all.infeasible_row = all.infeasible_col = -1;
    while (all.outcome == GPUOPT_MORE) {
        if (all.rounds == rounds) return all;
        gpuopt__propagator_cpu_round(&p->head, most_columns < p->head.cols ? 1 : rounds - all.rounds, &one);
        all.outcome = one.outcome;
        all.rounds += one.rounds;
        all.changed += one.changed;
        all.nonzeros += one.nonzeros;
        all.infeasible_row = one.infeasible_row;
        all.infeasible_col = one.infeasible_col;
        if (most_columns < p->head.cols && !p->full)
            for (k = 0; one.rounds > 0 && k < p->changed_count; k++)
                gpuopt__propagator_cpu_touch(w, (int32_t)(p->changed[k] >> 1));
        if (w->columns > most_columns) {
            all.outcome = GPUOPT_FULL;
        } else if (p->full) { /* the round was not made */
            gpuopt__propagator_cpu_keep(&p->head);
            p->trail = NULL;
            all.outcome = GPUOPT_MORE;
        }
    }
    return all;
}

/* Whether a column's bounds differ from those of the base, as the caller sees them; *lb, *ub: the node's bounds. */
static int gpuopt__propagator_cpu_differs(const gpuopt__propagator_cpu *p, const gpuopt__propagator_cpu *base,
                                          int32_t col, double *lb, double *ub) {
    double base_lb, base_ub;
    GPUOPT__PROPAGATOR_TYPED(p, load_bounds, (p, col, lb, ub));
    GPUOPT__PROPAGATOR_TYPED(p, load_bounds, (base, col, &base_lb, &base_ub));
    *lb = gpuopt__propagator_shown_lb(&p->head.rules, 0, *lb, *ub);
    base_lb = gpuopt__propagator_shown_lb(&p->head.rules, 0, base_lb, base_ub);
    return *lb != base_lb || *ub != base_ub;
}

/* Lists the columns whose bounds differ from those of the base, ordered by column. */
static void gpuopt__propagator_cpu_note_changes(gpuopt__propagator_cpu_nodes *b, gpuopt__propagator_cpu_worker *w,
                                                gpuopt__propagator_cpu_node *node) {
    gpuopt__propagator_cpu *p = w->state;
    const gpuopt__propagator_cpu *base = (const gpuopt__propagator_cpu *)b->batch.base;
    int32_t k, all = p->trail ? w->columns : p->head.cols;
    double lb, ub;
    p->changed_count = 0;
    for (k = 0; k < all; k++) {
        int32_t col = p->trail ? w->column[k] : k;
        if (gpuopt__propagator_cpu_differs(p, base, col, &lb, &ub)) p->changed[p->changed_count++] = 2 * (uint32_t)col;
    }
    gpuopt__propagator_cpu_sort_changed(p);
    node->columns = (int32_t)p->changed_count;
#ifdef GPUOPT__OPENMP
    node->at = __atomic_fetch_add(&b->used, p->changed_count, __ATOMIC_RELAXED);
#else
    node->at = b->used;
    b->used += p->changed_count;
#endif
    if (node->at + node->columns > b->batch.changes) return;
    for (k = 0; k < node->columns; k++) {
        int64_t at = node->at + k;
        b->col[at] = (int32_t)(p->changed[k] >> 1);
        gpuopt__propagator_cpu_differs(p, base, b->col[at], &b->lb[at], &b->ub[at]);
    }
}

static void gpuopt__propagator_cpu_run_node(gpuopt__propagator_cpu_nodes *b, gpuopt__propagator_cpu_worker *w,
                                            const gpuopt_propagator_nodes *nodes, int32_t index, int32_t rounds) {
    const gpuopt__propagator_cpu *base = (const gpuopt__propagator_cpu *)b->batch.base;
    gpuopt__propagator_cpu *p = w->state;
    gpuopt__propagator_cpu_node *node = &b->node[index];
    gpuopt__propagator_change *trail = p->trail;
    int64_t first = nodes->start[index], given = nodes->start[index + 1] - first, k;
    const double *lb = nodes->lb ? nodes->lb + first : NULL, *ub = nodes->ub ? nodes->ub + first : NULL;
    gpuopt_propagator_info info;
    if (w->node == INT32_MAX) {
        memset(w->touched, 0, sizeof *w->touched * (size_t)p->head.cols);
        w->node = 0;
    }
    w->node++;
    w->columns = 0;
    for (k = 0; k < given; k++) gpuopt__propagator_cpu_touch(w, nodes->col[first + k]);
    gpuopt__propagator_cpu_push(&p->head, NULL);
    if (gpuopt__propagator_cpu_is_infeasible(base)) {
        memset(&info, 0, sizeof info);
        info.outcome = w->columns > b->batch.node_columns ? GPUOPT_FULL : GPUOPT_INFEASIBLE;
        info.infeasible_row = base->infeasible_row;
        info.infeasible_col = base->infeasible_col;
    } else {
        const int32_t *col = given > 0 ? nodes->col + first : NULL;
        if (gpuopt__propagator_cpu_set_bounds(&p->head, GPUOPT_HOST, given, col, lb, ub)) { /* too many for the trail */
            gpuopt__propagator_cpu_keep(&p->head);
            p->trail = NULL;
            gpuopt__propagator_cpu_set_bounds(&p->head, GPUOPT_HOST, given, col, lb, ub);
        }
        info = gpuopt__propagator_cpu_node_rounds(w, rounds, b->batch.node_columns);
    }
    node->outcome = (int32_t)info.outcome;
    node->rounds = info.rounds;
    node->changed = info.outcome == GPUOPT_FULL ? 0 : info.changed;
    node->nonzeros = info.nonzeros;
    node->infeasible_row = info.outcome == GPUOPT_INFEASIBLE ? info.infeasible_row : -1;
    node->infeasible_col = info.outcome == GPUOPT_INFEASIBLE ? info.infeasible_col : -1;
    node->columns = 0;
    node->at = 0;
    if (info.outcome != GPUOPT_INFEASIBLE && info.outcome != GPUOPT_FULL) {
        for (k = 0; p->trail && k < p->changes; k++) gpuopt__propagator_cpu_touch(w, (int32_t)(p->trail[k].side >> 1));
        gpuopt__propagator_cpu_note_changes(b, w, node);
    }
    if (p->trail) {
        gpuopt__propagator_cpu_pop(&p->head, 1);
    } else { /* no way back */
        p->trail = trail;
        gpuopt__propagator_cpu_follow(p, base);
    }
}

/* ---- Calls ---- */

/* The data shared by the nodes of a run. */
typedef struct gpuopt__propagator_cpu_nodes_run {
    gpuopt__propagator_cpu_nodes *b;
    const gpuopt_propagator_nodes *nodes;
    int32_t rounds;
} gpuopt__propagator_cpu_nodes_run;

static void gpuopt__propagator_cpu_next_node(void *of, int thread, int64_t k, int stopped) {
    const gpuopt__propagator_cpu_nodes_run *run = (const gpuopt__propagator_cpu_nodes_run *)of;
    const gpuopt_propagator *base = run->b->batch.base;
    gpuopt__propagator_cpu_worker *w = &run->b->worker[thread];
    gpuopt__propagator_cpu_node *node = &run->b->node[k];
    if (!stopped) {
        if (w->version != base->version) gpuopt__propagator_cpu_follow(w->state, (const gpuopt__propagator_cpu *)base);
        w->version = base->version;
        gpuopt__propagator_cpu_run_node(run->b, w, run->nodes, (int32_t)k, run->rounds);
        return;
    }
    memset(node, 0, sizeof *node);
    node->outcome = GPUOPT_MORE;
    node->infeasible_row = node->infeasible_col = -1;
}

static gpuopt_status gpuopt__propagator_cpu_batch_run(gpuopt_propagator_batch *batch, gpuopt_memory_space where,
                                                      const gpuopt_propagator_nodes *nodes, int32_t rounds,
                                                      const gpuopt_propagator_node_report *report) {
    gpuopt__propagator_cpu_nodes *b = (gpuopt__propagator_cpu_nodes *)batch;
    gpuopt__propagator_cpu_nodes_run run = {b, nodes, rounds};
    int32_t k;
    (void)where; /* host memory: the public calls refuse any other */
    b->used = 0;
    gpuopt__each_item(batch->base->context, nodes->count, 4, gpuopt__propagator_cpu_next_node, &run);
    for (k = 0; k < nodes->count; k++) {
        const gpuopt__propagator_cpu_node *node = &b->node[k];
        if (report->outcome) report->outcome[k] = node->outcome;
        if (report->rounds) report->rounds[k] = node->rounds;
        if (report->infeasible_row) report->infeasible_row[k] = node->infeasible_row;
        if (report->infeasible_col) report->infeasible_col[k] = node->infeasible_col;
        if (report->changed) report->changed[k] = node->changed;
        if (report->columns) report->columns[k] = node->columns;
        if (report->nonzeros) report->nonzeros[k] = node->nonzeros;
    }
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_batch_get_changes(gpuopt_propagator_batch *batch, gpuopt_memory_space where,
                                                              gpuopt_propagator_node_changes *changes) {
    gpuopt__propagator_cpu_nodes *b = (gpuopt__propagator_cpu_nodes *)batch;
    int64_t to = 0, k;
    int32_t node;
    (void)where;
    changes->count = batch->ran > 0 ? b->used : 0;
    if (changes->count > batch->changes)
        return gpuopt__propagator_batch_too_many(batch, "gpuopt_propagator_batch_get_changes", changes->count);
    for (node = 0; node < batch->ran; node++) {
        if (changes->start) changes->start[node] = to;
        for (k = b->node[node].at; k < b->node[node].at + b->node[node].columns; k++, to++) {
            if (to >= changes->capacity) continue;
            if (changes->col) changes->col[to] = b->col[k];
            if (changes->lb) changes->lb[to] = b->lb[k];
            if (changes->ub) changes->ub[to] = b->ub[k];
        }
    }
    if (changes->start) changes->start[batch->ran] = to;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_batch_get_bounds(gpuopt_propagator_batch *batch, gpuopt_memory_space where,
                                                             int64_t count, const int32_t *node, double *lb,
                                                             double *ub) {
    const gpuopt__propagator_cpu_nodes *b = (const gpuopt__propagator_cpu_nodes *)batch;
    const int64_t cols = batch->base->cols;
    int64_t i, k;
    if (b->used > batch->changes)
        return gpuopt__propagator_batch_too_many(batch, "gpuopt_propagator_batch_get_bounds", b->used);
    for (i = 0; i < count; i++) {
        const gpuopt__propagator_cpu_node *one = &b->node[node ? node[i] : i];
        gpuopt__propagator_cpu_get_bounds(batch->base, where, cols, NULL, lb ? lb + i * cols : NULL,
                                          ub ? ub + i * cols : NULL);
        for (k = one->at; k < one->at + one->columns; k++) {
            if (lb) lb[i * cols + b->col[k]] = b->lb[k];
            if (ub) ub[i * cols + b->col[k]] = b->ub[k];
        }
    }
    return GPUOPT_OK;
}

static int64_t gpuopt__propagator_cpu_batch_used(const gpuopt_propagator_batch *batch) {
    return ((const gpuopt__propagator_cpu_nodes *)batch)->used;
}

#endif /* GPUOPT_IMPL_PROPAGATE_CPU_NODES_H */
