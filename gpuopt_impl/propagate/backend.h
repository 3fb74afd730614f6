/* SPDX-License-Identifier: MIT
 *
 * Propagation: the interface between the public calls and a backend. Read this file first.
 *
 * A public call checks its arguments for all backends, and goes through the table below to the CPU (cpu/table.h) or the
 * GPU (cuda/propagate/propagate.cu). The modules, each a folder, and what they include besides common/:
 *
 *     api/       the public calls: of a handle, of a tree search, of a     check/  ranks/  backend.h
 *                batch of nodes, of probing
 *     ranks/     batches and probes dealt over a group                     check/  backend.h
 *     check/     checks of descriptors and of nodes                        backend.h
 *     cpu/       the CPU backend; table.h names its functions              arith/  backend.h
 *     backend.h  the handles' first members; the table of a backend        arith/
 *     arith/     written once for both backends: settings (rules.h),
 *                the filter (filter.h), new bounds of a row (row.h),
 *                reasons (trail.h), the probes of a binary (probe_pair.h)
 *
 * tests/frame/modules/propagate.txt lists the same arrows, and a test checks them; doc/modules_propagate.svg shows
 * them.
 *
 * A round filters the rows and sums the activities of the rows that pass. Then it computes new bounds for the columns
 * of their entries. All of this arithmetic is in arith/, so both backends return the same bits.
 *
 * On the CPU, state.h has a handle's parts and the rows to evaluate. handle.h copies bounds and reports in and out, and
 * rounds.h makes the rounds and their threads. kept_rows.h keeps data of rows between evaluations. typed.h compiles
 * row_sums.h, moves.h and tighten.h once for double and once for float. trail.h and added_rows.h serve a tree search,
 * nodes.h batches, and probe.h probing.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_BACKEND_H
#define GPUOPT_IMPL_PROPAGATE_BACKEND_H

#include "../common/tidy_matrix.h"
#include "arith/row.h"

/* A checked model with the defaults filled in and the matrix by rows. The other arrays are the caller's. If the backend
 * checks the numbers itself (checks_numbers below), create receives a model with unchecked numbers. The matrix is then
 * the caller's, by rows or by columns, and the members that gpuopt__propagator_numbers_known() fills are not set yet
 * (check/model.h). A create that finds a fault in the numbers returns UNTIDY; if the CPU side then mends it, create is
 * called again. */
typedef struct gpuopt__propagator_model {
    const char *call; /* the public call, for the log */
    gpuopt_propagator_desc desc;
    gpuopt_spare spare;
    gpuopt__propagator_rules rules;
    int64_t nonzeros;
    gpuopt__tidied tidied; /* the tidied matrix, once its numbers have been checked here */
    void *transposed;      /* memory of the matrix by rows if the caller passed it by columns, else NULL */
    int numbers_known;
    int val_single; /* single precision represents every coefficient exactly */
} gpuopt__propagator_model;

/* Every backend's propagator begins with this struct. */
struct gpuopt_propagator {
    gpuopt_context *context;
    gpuopt__propagator_rules rules;
    int32_t rows, cols;
    int64_t nonzeros;
    int32_t round_limit;
    gpuopt_propagator_precision precision;
    gpuopt_propagator_mode mode;
    int marking; /* 0: OFF; else the backend's choice for the default */
    int32_t trail_capacity, spare_rows, spare_nonzeros;
    int32_t *seen;    /* [cols or spare_rows, whichever is more, + 1], with spare rows: for checking rows to add */
    uint64_t version; /* grows with each call that may change bounds, sides, rows or results; from 1 */
};

enum { GPUOPT__PROPAGATOR_BATCH_NODES = 65536 };

/* Every backend's batch begins with this struct. */
struct gpuopt_propagator_batch {
    gpuopt_propagator *base;
    int32_t nodes, node_columns; /* node_columns: at most the base's columns */
    int64_t changes;
    int32_t ran;      /* nodes of the latest _run; -1: there are no results */
    uint64_t version; /* of the base, in that run */
    /* The public calls set the rest. With a group, the above describe this rank. */
    const struct gpuopt__propagator_batch_table *table; /* what the calls do, alone or in a group: ranks/batch_run.h */
    int32_t most, all;                                  /* nodes of a call; of the latest _run: of all ranks */
    struct gpuopt__propagator_share *share;             /* NULL without a group */
};

/* More columns have changed than the report can hold. */
static inline gpuopt_status gpuopt__propagator_batch_too_many(const gpuopt_propagator_batch *batch, const char *call,
                                                              int64_t count) {
    gpuopt__log(batch->base->context, 0, "%s: %lld columns have changed, and at most %lld fit", call, (long long)count,
                (long long)batch->changes);
    return GPUOPT_ERROR_MEMORY;
}

/* A probe, the same in every backend. Its batch holds some binaries at a time. */
struct gpuopt_propagator_probe {
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    int32_t nodes; /* even */
    int64_t changes, implications, equivalences;
    int ran;                                /* whether there are results */
    int stopped;                            /* the caller has requested a stop */
    gpuopt_propagator_probe_info info, all; /* all: of all ranks. With a group, all other members describe this rank */
    uint8_t *is_binary;                     /* [cols] */
    double *base_lb, *base_ub;              /* [cols] */
    /* Of the latest run. */
    double *lb, *ub;                                    /* [cols]: bounds that hold in every solution */
    int32_t *binary;                                    /* [cols] */
    const int32_t *all_binary;                          /* [cols] of all ranks */
    void *found;                                        /* implications and equivalences, in the backend's form */
    const struct gpuopt__propagator_probe_table *table; /* what the calls do, alone or in a group: ranks/probe.h */
    struct gpuopt__propagator_probe_share *share;       /* NULL without a group */
};

/* Members as in the other families: plan, create, destroy, the step, get_info, the rest. */
typedef struct gpuopt__propagator_backend {
    gpuopt_status (*plan)(gpuopt_context *, const gpuopt__propagator_model *, gpuopt_memory_plan *);
    gpuopt_status (*create)(gpuopt_context *, gpuopt__propagator_model *, gpuopt_propagator **);
    void (*destroy)(gpuopt_propagator *);
    gpuopt_status (*round)(gpuopt_propagator *, int32_t rounds, gpuopt_propagator_info *info); /* info may be NULL */
    gpuopt_status (*get_info)(gpuopt_propagator *, gpuopt_propagator_info *);
    /* col == NULL: all columns. The public calls have checked arrays in host memory; the backend checks arrays in
     * device memory. */
    gpuopt_status (*get_bounds)(gpuopt_propagator *, gpuopt_memory_space, int64_t count, const int32_t *col, double *lb,
                                double *ub);
    gpuopt_status (*set_bounds)(gpuopt_propagator *, gpuopt_memory_space, int64_t count, const int32_t *col,
                                const double *lb, const double *ub);
    gpuopt_status (*set_sides)(gpuopt_propagator *, gpuopt_memory_space, int64_t count, const int32_t *row,
                               const double *lhs, const double *rhs);
    gpuopt_status (*get_rows)(gpuopt_propagator *, gpuopt_memory_space, const gpuopt_propagator_row_report *);
    gpuopt_status (*device_view)(gpuopt_propagator *, gpuopt_device_view *);
    /* A tree search, for handles with a trail; the three functions for rows also need spare rows. */
    gpuopt_status (*push)(gpuopt_propagator *, int64_t *start);
    gpuopt_status (*pop)(gpuopt_propagator *, int32_t levels);
    gpuopt_status (*keep)(gpuopt_propagator *);
    gpuopt_status (*get_trail)(gpuopt_propagator *, gpuopt_propagator_trail *);
    gpuopt_status (*get_changes)(gpuopt_propagator *, gpuopt_memory_space, int64_t from, gpuopt_propagator_changes *);
    gpuopt_status (*explain)(gpuopt_propagator *, int64_t change, gpuopt_propagator_reason *);
    /* The matrix is by rows. row may be NULL. */
    gpuopt_status (*add_rows)(gpuopt_propagator *, const gpuopt_matrix *, const double *lhs, const double *rhs,
                              int32_t *row);
    gpuopt_status (*remove_rows)(gpuopt_propagator *, int64_t count, const int32_t *row);
    int (*has_row)(const gpuopt_propagator *, int32_t row); /* whether the number of an added row is in use */
    gpuopt_status (*plan_fork)(const gpuopt_propagator *, gpuopt_memory_plan *);
    gpuopt_status (*fork)(gpuopt_propagator *, gpuopt_context *, gpuopt_propagator **);
    /* Whether create checks the numbers in the arrays of this model itself, and takes the matrix as given. NULL:
     * never. */
    int (*checks_numbers)(const gpuopt__propagator_model *);
    /* A batch of nodes. Descriptors have their defaults filled in; nodes in host memory have been checked, and there is
     * at least one. */
    gpuopt_status (*batch_plan)(gpuopt_propagator *, const gpuopt_propagator_batch_desc *, gpuopt_memory_plan *);
    gpuopt_status (*batch_create)(gpuopt_propagator *, const gpuopt_propagator_batch_desc *,
                                  gpuopt_propagator_batch **);
    void (*batch_destroy)(gpuopt_propagator_batch *);
    gpuopt_status (*batch_run)(gpuopt_propagator_batch *, gpuopt_memory_space, const gpuopt_propagator_nodes *,
                               int32_t rounds, const gpuopt_propagator_node_report *);
    /* Fills in the count for any status. There may be no nodes. */
    gpuopt_status (*batch_get_changes)(gpuopt_propagator_batch *, gpuopt_memory_space,
                                       gpuopt_propagator_node_changes *);
    /* node == NULL: the first nodes. Nodes in host memory have been checked. */
    gpuopt_status (*batch_get_bounds)(gpuopt_propagator_batch *, gpuopt_memory_space, int64_t count,
                                      const int32_t *node, double *lb, double *ub);
    /* Columns that have changed in the latest run, whether or not they fit. */
    int64_t (*batch_used)(const gpuopt_propagator_batch *);
    /* kind [cols]: GPUOPT__PROPAGATOR_INTEGER and other bits. */
    gpuopt_status (*get_kinds)(gpuopt_propagator *, uint8_t *kind);
    /* Probing, of a handle with a batch. plan and open receive a probe with its sizes and base filled in; plan adds to
     * the given plan. */
    gpuopt_status (*probe_plan)(const gpuopt_propagator_probe *, gpuopt_memory_plan *);
    gpuopt_status (*probe_open)(gpuopt_propagator_probe *);
    void (*probe_close)(gpuopt_propagator_probe *);
    /* A run: begin, with the number of binaries; pieces, of the next `count` of them, until all are probed or a piece
     * did fewer than `count` (*done); end. *done is -1, and the piece is discarded, if more columns have changed than
     * fit. lb, ub and info are up to date after the end, info.probed after each piece. */
    gpuopt_status (*probe_begin)(gpuopt_propagator_probe *, int32_t chosen);
    gpuopt_status (*probe_piece)(gpuopt_propagator_probe *, int32_t count, int32_t rounds, int32_t *done);
    gpuopt_status (*probe_end)(gpuopt_propagator_probe *);
    /* Writes the first `count` items to the arrays that are not NULL, and outcome and start, but no counts. */
    gpuopt_status (*probe_read_implications)(const gpuopt_propagator_probe *, int64_t count,
                                             const gpuopt_propagator_probe_implications *);
    gpuopt_status (*probe_read_equivalences)(const gpuopt_propagator_probe *, int64_t count,
                                             const gpuopt_propagator_probe_equivalences *);
} gpuopt__propagator_backend;

static inline gpuopt_propagator gpuopt__propagator_head(gpuopt_context *context,
                                                        const gpuopt__propagator_model *model) {
    gpuopt_propagator head;
    head.context = context;
    head.rules = model->rules;
    head.rows = model->desc.matrix.rows;
    head.cols = model->desc.matrix.cols;
    head.nonzeros = model->nonzeros;
    head.round_limit = model->desc.round_limit;
    head.precision = model->desc.precision;
    head.mode = model->desc.mode;
    head.marking = model->desc.marking != GPUOPT_OFF;
    head.trail_capacity = (int32_t)model->desc.trail_capacity;
    head.spare_rows = model->spare.rows;
    head.spare_nonzeros = (int32_t)model->spare.nonzeros;
    head.seen = NULL; /* for the backend */
    head.version = 1;
    return head;
}

#endif /* GPUOPT_IMPL_PROPAGATE_BACKEND_H */
