/* SPDX-License-Identifier: MIT
 *
 * Elimination: the handle, and the functions that a backend provides. Read this file first.
 *
 * The modules, the lowest first; tests/frame/modules/elimination.txt lists which includes which:
 *
 *     base/    the plan's structs and the arithmetic of both backends (table.h), constants (tuning.h), the format of
 *              packed messages, and the memory used while a plan is made (scratch.h)
 *     order/   the search for an order of the variables
 *     plan/    from the functions to a plan of jobs
 *     ranks/   a rank's part of the model (share.h); agreements, and the join of the ranks' results (join.h)
 *     api/     the public calls on a handle
 *     relax/   bounds by cost shifting between mini-buckets
 *     reduce/  preprocessing
 *     cpu/     the CPU backend
 *
 * The stages of a job:
 *
 *     functions, checked and measured      plan/: check.h, input.h; messages among them: packed.h
 *        |
 *     an order of the variables            order/: search.h: graph and search; greedy.h, rotate.h: the two methods
 *        |
 *     buckets: which tables are joined     plan/: buckets.h: a bucket for each variable, or mini-buckets
 *        |
 *     jobs, without variables              plan/: jobs.h: tiles, rows and entries of a message; partial joins; levels
 *        |
 *     places of all tables                 plan/: places.h: width of a cost, one store, or (STREAM) host and device,
 *        |                                        chunks.h: then a job goes through the device in chunks
 *        |
 *     a plan that fits                     plan/: policies.h: tries one policy after another; block.h: estimates,
 *        |                                        copies the plan into the handle's block
 *     a handle, with its functions loaded  api/: create.h: _order, _create, _destroy. With a group each rank creates a
 *        |                                       handle for its part of the model
 *        |
 *     levels of jobs, slice by slice       api/: steps.h: _step hands the jobs of a level to the backend together
 *        |
 *     messages, by a backend               cpu/jobs.h, or cuda/elimination/elimination.cu
 *        |        \
 *        |         tables, views, bytes    api/: message.h: _message_*
 *        |
 *     values and bounds                    api/: values.h: _assign, _get_bounds; for dropped messages, jobs have stored
 *                                          the decisions (base/table.h), in passes with RECOMPUTE
 */
#ifndef GPUOPT_IMPL_ELIMINATION_BACKEND_H
#define GPUOPT_IMPL_ELIMINATION_BACKEND_H

#include "base/packed_format.h"
#include "base/table.h"

/* The common part of every backend's elimination. */
struct gpuopt_elimination {
    gpuopt_context *context;
    gpuopt__elimination_plan plan;
    void *block;      /* the plan's arrays */
    int64_t done;     /* completed units, over all slices */
    int64_t held;     /* the slice with complete messages up to `done`; -1: none */
    int64_t paused;   /* the slice that was stopped between two levels; -1: none */
    int32_t resume;   /* of the paused slice: the next job in plan.by_level to run */
    int32_t variable; /* eliminated last; -1: none */
    int exact;        /* no bucket was split */
    /* The value phase in passes (RECOMPUTE). */
    int repeated;      /* a pass was computed again and overwrote the final messages */
    int32_t pass;      /* the pass with stored decisions, or in computation */
    int64_t pass_unit; /* its completed units; after completion: all that the pass needs */
    int32_t assigning; /* the copy with a stopped assignment; -1: none */
    int32_t next_pass; /* of that assignment */
    uint64_t model;    /* the model number in packed messages */
    /* Elimination by several ranks: the plan covers this rank's part. */
    gpuopt_group *group; /* NULL: the whole model */
    int idle;            /* another rank has the same part, so this rank's result is ignored */
};

/* A backend's functions for a plan. Arrays are in host memory unless a comment names device memory. */
struct gpuopt__elimination_backend {
    /* Adds to host_bytes and create_bytes, and sets device_bytes; the plan's own block is not included. */
    void (*plan)(const gpuopt_context *, const gpuopt__elimination_plan *, gpuopt_memory_plan *);
    gpuopt_status (*create)(gpuopt_context *, const gpuopt__elimination_plan *, gpuopt_elimination **);
    void (*destroy)(gpuopt_elimination *);
    /* Runs the jobs list[from .. to - 1], which are independent. May return once they are enqueued. */
    gpuopt_status (*run)(gpuopt_elimination *, const int32_t *list, int32_t from, int32_t to);
    /* Adds the slice's result to the totals; slice 0 resets them first. */
    gpuopt_status (*finish)(gpuopt_elimination *, int64_t slice);
    /* Waits for a copy's total over all slices so far. */
    gpuopt_status (*total)(gpuopt_elimination *, int32_t copy, gpuopt__elimination_total *);
    /* Loads a function's whole table: stored costs of the plan's width, and counts or NULL. May be NULL, see place. */
    gpuopt_status (*load)(gpuopt_elimination *, int32_t table, const void *cost, const uint64_t *count);
    gpuopt_status (*loaded)(gpuopt_elimination *); /* after the last load */
    /* The offsets of tables with evidence: offset [copies][condition_rows]. */
    gpuopt_status (*condition)(gpuopt_elimination *, const int64_t *offset);
    /* The value phase of the variables at positions to - 1, ..., from: value [variables] goes in and out. total: the
     * cost of the assignment, if from == 0. */
    gpuopt_status (*assign)(gpuopt_elimination *, int32_t copy, int32_t from, int32_t to, int32_t *value,
                            gpuopt__elimination_total *total);
    /* Looks bounds up; its arrays are in `where`. *bad: the first partial assignment that reads a value outside its
     * domain, or INT64_MAX. Waits. */
    gpuopt_status (*bounds)(gpuopt_elimination *, gpuopt_memory_space where, const gpuopt__elimination_lookup *,
                            int64_t *bad);
    /* Reads `count` stored costs of a copy's table from entry `first` on, and their counts; either may be NULL. */
    gpuopt_status (*read)(gpuopt_elimination *, int32_t table, int32_t copy, int64_t first, int64_t count, void *cost,
                          uint64_t *counts);
    /* The copy's table in device memory. UNSUPPORTED: the table is not in device memory. */
    gpuopt_status (*view)(gpuopt_elimination *, int32_t table, int32_t copy, const void **table_data);
    /* Free bytes of the memory that desc->memory->bytes limits; UINT64_MAX: no limit. */
    gpuopt_status (*free_bytes)(const gpuopt_context *, uint64_t *bytes);
    int has_stream; /* STREAM is possible */
    /* For packed messages in device memory; NULL: there is none. Scans a message. range: also scans the costs, for a
     * model of this semiring. Waits. */
    gpuopt_status (*scan)(gpuopt_context *, const gpuopt__elimination_packed *, gpuopt_elimination_semiring, int range,
                          gpuopt__elimination_scan *);
    /* Loads a function's table from a message. After `loaded`; may only enqueue. */
    gpuopt_status (*unpack)(gpuopt_elimination *, int32_t table, const gpuopt_elimination_function *,
                            const gpuopt__elimination_packed *);
    /* Writes a copy's table into a message, at the places of its costs and counts (or NULL); may only enqueue.
     * UNSUPPORTED: not in device memory. */
    gpuopt_status (*pack)(gpuopt_elimination *, int32_t table, int32_t copy, void *cost, void *count);
    /* Instead of load: the place of a function's table in host memory, and of its counts if it has any, to be written
     * before `loaded`. NULL: call load. */
    void *(*place)(gpuopt_elimination *, int32_t table, uint64_t **count);
};

#endif /* GPUOPT_IMPL_ELIMINATION_BACKEND_H */
