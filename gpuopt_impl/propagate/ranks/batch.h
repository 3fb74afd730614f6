/* SPDX-License-Identifier: MIT
 *
 * A batch with nodes dealt to the ranks of a group (common/dealt.h): its memory, and the comparison of its arguments. A
 * backend sees a batch of the rank's own nodes and no group.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_RANKS_BATCH_H
#define GPUOPT_IMPL_PROPAGATE_RANKS_BATCH_H

#include "../../common/dealt.h"
#include "../check/nodes.h"

enum { GPUOPT__PROPAGATOR_NARROW = 5, GPUOPT__PROPAGATOR_WIDE = 2, GPUOPT__PROPAGATOR_COLUMNS = 4 };

/* The arrays of a report; NULL: not wanted. */
typedef struct gpuopt__propagator_reports {
    int32_t *narrow[GPUOPT__PROPAGATOR_NARROW]; /* columns are number GPUOPT__PROPAGATOR_COLUMNS */
    int64_t *wide[GPUOPT__PROPAGATOR_WIDE];
} gpuopt__propagator_reports;

/* What the calls on a batch do after the checks, whose result is `status`. A group's ranks need that status, too. */
struct gpuopt__propagator_batch_table {
    int host_only; /* arrays must be in host memory */
    gpuopt_status (*run)(gpuopt_propagator_batch *, const char *call, gpuopt_status status, gpuopt_memory_space,
                         const gpuopt_propagator_nodes *, int32_t rounds, const gpuopt_propagator_node_report *);
    gpuopt_status (*get_changes)(gpuopt_propagator_batch *, const char *call, gpuopt_status status, gpuopt_memory_space,
                                 gpuopt_propagator_node_changes *);
    gpuopt_status (*get_bounds)(gpuopt_propagator_batch *, const char *call, gpuopt_memory_space, int64_t count,
                                const int32_t *node, double *lb, double *ub);
};

struct gpuopt__propagator_share {
    gpuopt__dealt dealt;
    gpuopt__propagator_reports found; /* [nodes] of the latest run; the numbers of columns changed by each node in any
                                       * case */
    int64_t *place;                   /* [nodes + 1] start of each node's columns */
    int64_t *start;                   /* [own + 1] of the columns that this rank's nodes are given, or have changed */
    double *bound; /* [2 * changes], and the columns in `changes` more places of 4 bytes: of this rank or another */
};

/* ---- Memory ---- */

/* A rank's share of `nodes` nodes. */
static gpuopt__dealt gpuopt__propagator_share_head(gpuopt_group *group, const gpuopt_group_info *info, int32_t nodes) {
    return gpuopt__dealt_head(group, info, nodes, 0,
                              sizeof(int64_t) * GPUOPT__PROPAGATOR_WIDE + sizeof(int32_t) * GPUOPT__PROPAGATOR_NARROW);
}

/* desc: of each rank's own batch. The common part of the batch has been filled in. */
static void gpuopt__propagator_share_cut(gpuopt__arena *arena, const gpuopt_propagator_batch_desc *desc,
                                         struct gpuopt__propagator_share *s) {
    const int32_t nodes = s->dealt.most;
    int k;
    gpuopt__cut(arena, 1, sizeof *s);
    gpuopt__dealt_cut(arena, &s->dealt);
    for (k = 0; k < GPUOPT__PROPAGATOR_WIDE; k++)
        s->found.wide[k] = (int64_t *)gpuopt__cut(arena, nodes, sizeof(int64_t));
    for (k = 0; k < GPUOPT__PROPAGATOR_NARROW; k++)
        s->found.narrow[k] = (int32_t *)gpuopt__cut(arena, nodes, sizeof(int32_t));
    s->place = (int64_t *)gpuopt__cut(arena, (int64_t)nodes + 1, sizeof *s->place);
    s->start = (int64_t *)gpuopt__cut(arena, (int64_t)desc->nodes + 1, sizeof *s->start);
    s->bound = (double *)gpuopt__cut(arena, desc->changes, 2 * sizeof(double) + sizeof(int32_t));
}

static uint64_t gpuopt__propagator_share_plan(const gpuopt_group_info *info, const gpuopt_propagator_batch_desc *desc,
                                              int32_t nodes) {
    struct gpuopt__propagator_share measure;
    gpuopt__arena arena = {NULL, 0};
    if (!desc->group) return 0;
    memset(&measure, 0, sizeof measure);
    measure.dealt = gpuopt__propagator_share_head(desc->group, info, nodes);
    gpuopt__propagator_share_cut(&arena, desc, &measure);
    return arena.used;
}

/* Gives a batch of a rank's own nodes its share of the nodes of all ranks. */
static gpuopt_status gpuopt__propagator_share_create(const gpuopt_group_info *info,
                                                     const gpuopt_propagator_batch_desc *desc, int32_t nodes,
                                                     gpuopt_propagator_batch *batch) {
    gpuopt__arena arena = {NULL, 0};
    struct gpuopt__propagator_share *s;
    void *memory;
    gpuopt_status status =
        gpuopt__allocate(batch->base->context, GPUOPT_HOST, gpuopt__propagator_share_plan(info, desc, nodes), &memory);
    if (status) return status;
    s = (struct gpuopt__propagator_share *)memory;
    memset(s, 0, sizeof *s);
    arena.base = (char *)memory;
    s->dealt = gpuopt__propagator_share_head(desc->group, info, nodes);
    gpuopt__propagator_share_cut(&arena, desc, s);
    gpuopt__dealt_deal(&s->dealt);
    batch->share = s;
    return GPUOPT_OK;
}

/* ---- Agreeing ---- */

/* A hash of the data that must be equal in batches of a group. nodes: of all ranks. */
static uint64_t gpuopt__propagator_share_hash(const gpuopt_propagator *base, const gpuopt_propagator_batch_desc *own,
                                              int32_t nodes) {
    const gpuopt__propagator_rules *rules = &base->rules;
    const double number[] = {rules->infinity,     rules->feasibility,           rules->integrality,
                             rules->least_change, rules->least_change_relative, rules->huge};
    const int64_t whole[] = {base->rows,      base->cols,        base->nonzeros, base->round_limit,
                             base->precision, base->spare_rows,  rules->single,  rules->relative_integers,
                             nodes,           own->node_columns, own->changes};
    uint64_t hash = gpuopt__hash(GPUOPT__HASH_START, (const unsigned char *)number, sizeof number);
    return gpuopt__hash(hash, (const unsigned char *)whole, sizeof whole);
}

#endif /* GPUOPT_IMPL_PROPAGATE_RANKS_BATCH_H */
