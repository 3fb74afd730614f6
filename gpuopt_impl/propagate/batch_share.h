/* SPDX-License-Identifier: MIT
 *
 * A batch whose nodes are dealt to the ranks of a group: which nodes are a rank's own, and how each rank gets what the
 * others have found. It uses the group's public calls, and holds for every backend, which sees a batch of the rank's
 * own nodes and knows of no group.
 *
 * Of P ranks each gets one of any P nodes kP to kP + P - 1, and of any P^2 nodes one from each place of these. So the
 * two children of a node, of which one often propagates more than the other, do not always go to the same two ranks.
 * From one P^2 to the next the places change by chance, so that no longer period favours a rank either.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_BATCH_SHARE_H
#define GPUOPT_IMPL_PROPAGATE_BATCH_SHARE_H

#include "../common/ranks.h"
#include "batch_check.h"

enum { GPUOPT__PROPAGATOR_NARROW = 5, GPUOPT__PROPAGATOR_WIDE = 2, GPUOPT__PROPAGATOR_COLUMNS = 4 };

/* The arrays of a report; NULL: not wanted. */
typedef struct gpuopt__propagator_reports {
    int32_t *narrow[GPUOPT__PROPAGATOR_NARROW]; /* columns are number GPUOPT__PROPAGATOR_COLUMNS */
    int64_t *wide[GPUOPT__PROPAGATOR_WIDE];
} gpuopt__propagator_reports;

/* What a rank says of its run, before the reports of its nodes. */
typedef struct gpuopt__propagator_said {
    uint64_t hash; /* of what must be equal on all ranks */
    int64_t status;
} gpuopt__propagator_said;

struct gpuopt__propagator_share {
    gpuopt_group *group;
    int32_t rank, ranks;
    int32_t nodes;    /* most of a call, on all ranks together */
    int32_t own;      /* and on each: nodes / ranks, rounded up */
    int32_t count;    /* nodes of the latest run, on all ranks */
    int32_t *order;   /* [ranks][own] their nodes, ascending; a call's are those below its count */
    int32_t *columns; /* [nodes] of the latest run: columns that each has changed */
    int64_t *place;   /* [nodes + 1] where those begin */
    uint64_t *bytes;  /* [ranks] */
    int64_t *start;   /* [own + 1] what this rank's nodes are given, or have changed */
    double *bound;    /* [2 * changes], and in changes more places of 4 bytes the columns: likewise, or another's */
    char *send;       /* a gpuopt__propagator_said, and reports */
    char *receive;    /* [ranks] as much */
};

/* ---- Dealing ---- */

/* How far the places of ranks are turned in nodes block * ranks and after it. */
static uint32_t gpuopt__propagator_turned(uint32_t block, uint32_t ranks) {
    return (uint32_t)(gpuopt__mix(block / ranks) % ranks + block % ranks) % ranks;
}

static void gpuopt__propagator_deal(struct gpuopt__propagator_share *s) {
    const uint32_t ranks = (uint32_t)s->ranks;
    uint32_t block, r;
    for (block = 0; block < (uint32_t)s->own; block++) {
        uint32_t turned = gpuopt__propagator_turned(block, ranks);
        for (r = 0; r < ranks; r++)
            s->order[(int64_t)r * s->own + block] = (int32_t)(block * ranks + (r + turned) % ranks);
    }
}

/* How many of the first `count` nodes are a rank's. */
static int32_t gpuopt__propagator_dealt(const struct gpuopt__propagator_share *s, int32_t rank, int32_t count) {
    int32_t full = count / s->ranks;
    return full + (full < s->own && s->order[(int64_t)rank * s->own + full] < count);
}

/* ---- Memory ---- */

/* Of a rank's message about so many nodes, if all of the report is wanted. */
static uint64_t gpuopt__propagator_said_bytes(int32_t own) {
    return sizeof(gpuopt__propagator_said) + sizeof(int64_t) +
           (sizeof(int64_t) * GPUOPT__PROPAGATOR_WIDE + sizeof(int32_t) * GPUOPT__PROPAGATOR_NARROW) * (uint64_t)own;
}

/* desc: of each rank's own batch. */
static void gpuopt__propagator_share_cut(gpuopt__arena *arena, const gpuopt_propagator_batch_desc *desc, int32_t nodes,
                                         int32_t ranks, struct gpuopt__propagator_share *s) {
    const int64_t message = (int64_t)gpuopt__propagator_said_bytes(desc->nodes);
    gpuopt__cut(arena, 1, sizeof *s);
    s->order = (int32_t *)gpuopt__cut(arena, (int64_t)ranks * desc->nodes, sizeof *s->order);
    s->columns = (int32_t *)gpuopt__cut(arena, nodes, sizeof *s->columns);
    s->place = (int64_t *)gpuopt__cut(arena, (int64_t)nodes + 1, sizeof *s->place);
    s->bytes = (uint64_t *)gpuopt__cut(arena, ranks, sizeof *s->bytes);
    s->start = (int64_t *)gpuopt__cut(arena, (int64_t)desc->nodes + 1, sizeof *s->start);
    s->bound = (double *)gpuopt__cut(arena, desc->changes, 2 * sizeof(double) + sizeof(int32_t));
    s->send = (char *)gpuopt__cut(arena, 1, (size_t)message);
    s->receive = (char *)gpuopt__cut(arena, ranks, (size_t)message);
}

static uint64_t gpuopt__propagator_share_plan(const gpuopt_propagator_batch_desc *desc, int32_t nodes, int32_t ranks) {
    struct gpuopt__propagator_share measure;
    gpuopt__arena arena = {NULL, 0};
    gpuopt__propagator_share_cut(&arena, desc, nodes, ranks, &measure);
    return arena.used;
}

/* Gives a batch of a rank's own nodes its share of those of all ranks. */
static gpuopt_status gpuopt__propagator_share_create(const gpuopt_group_info *info,
                                                     const gpuopt_propagator_batch_desc *desc, int32_t nodes,
                                                     gpuopt_propagator_batch *batch) {
    gpuopt__arena arena = {NULL, 0};
    struct gpuopt__propagator_share *s;
    void *memory;
    gpuopt_status status = gpuopt__allocate(batch->base->context, GPUOPT_HOST,
                                            gpuopt__propagator_share_plan(desc, nodes, info->count), &memory);
    if (status) return status;
    s = (struct gpuopt__propagator_share *)memory;
    memset(s, 0, sizeof *s);
    arena.base = (char *)memory;
    gpuopt__propagator_share_cut(&arena, desc, nodes, info->count, s);
    s->group = desc->group;
    s->rank = info->rank;
    s->ranks = info->count;
    s->nodes = nodes;
    s->own = desc->nodes;
    gpuopt__propagator_deal(s);
    batch->share = s;
    return GPUOPT_OK;
}

/* ---- Agreeing ---- */

/* A hash of what must be equal in batches of a group. nodes: of all ranks. */
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

#endif /* GPUOPT_IMPL_PROPAGATE_BATCH_SHARE_H */
