/* SPDX-License-Identifier: MIT
 *
 * Elimination: the handle, and the seam between the host's side and a backend. Read this file first.
 *
 * The way of a job, and the file of each step:
 *
 *     functions, checked and measured      plan_check.h, plan_input.h
 *        |
 *     an order of the variables            order.h: graph and search; order_greedy.h, order_rotate.h: the two methods
 *        |
 *     buckets: who meets whom, on scopes   plan_buckets.h: one bucket a variable, or mini-buckets of at most z variables
 *        |
 *     jobs, without variables              plan_jobs.h: tiles, rows and entries of a message; partial joins; levels
 *        |
 *     places of all tables                 plan_places.h: width of a cost, one store, or (STREAM) host and device,
 *        |                                 plan_chunks.h: then a job goes through the device in chunks
 *        |
 *     a plan that fits                     plan.h: tries one policy after another, estimates, copies the plan
 *        |                                         into the handle's block
 *     a handle, with its functions loaded  calls.h: _order, _plan, _create, _destroy
 *        |
 *     levels of jobs, slice by slice       steps.h: _step hands the jobs of a level to the backend together
 *        |
 *     messages, by a backend               cpu.h, cpu_rows.h, or cuda/elimination/calls.cuh
 *        |        \
 *        |         tables, views, bytes    message.h: _message_*
 *        |
 *     values and bounds                    steps.h: _assign, _get_bounds
 *
 * table.h has the plan's structs and the arithmetic that all share, tuning.h the constants, scratch.h the memory of a
 * plan in the making.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_BACKEND_H
#define GPUOPT_IMPL_ELIMINATION_BACKEND_H

#include "table.h"

/* The head of every backend's elimination. */
struct gpuopt_elimination {
    gpuopt_context *context;
    gpuopt__elimination_plan plan;
    void *block;      /* of the plan's arrays */
    int64_t done;     /* units, over all slices */
    int64_t held;     /* the slice whose messages the tables hold */
    int32_t variable; /* eliminated last */
    int exact;        /* no bucket was split */
};

/* What a backend does for a plan. */
struct gpuopt__elimination_backend {
    int has_stream;
    uint64_t (*free_bytes)(const gpuopt_context *); /* of the memory that memory_limit is about; UINT64_MAX: no limit */
    /* host_bytes, device_bytes, create_bytes of a handle, the plan's own block apart. */
    void (*size)(const gpuopt_context *, const gpuopt__elimination_plan *, gpuopt_elimination_estimate *);
    gpuopt_status (*create)(gpuopt_context *, const gpuopt__elimination_plan *, gpuopt_elimination **);
    void (*destroy)(gpuopt_elimination *);
    /* Stored costs of a function, and its counts or NULL: its whole table. Host arrays, of the plan's width. */
    gpuopt_status (*load)(gpuopt_elimination *, int32_t table, const void *cost, const uint64_t *count);
    gpuopt_status (*loaded)(gpuopt_elimination *); /* after the last one */
    /* The offsets of conditioned tables: offset [copies][condition_rows]. */
    gpuopt_status (*condition)(gpuopt_elimination *, const int64_t *offset);
    /* Jobs list[from .. to - 1]: none waits for another of them. */
    gpuopt_status (*run)(gpuopt_elimination *, const int32_t *list, int32_t from, int32_t to);
    /* Adds this slice's result to the totals; slice 0 begins anew. */
    gpuopt_status (*finish)(gpuopt_elimination *, int64_t slice);
    gpuopt_status (*total)(gpuopt_elimination *, int32_t copy, gpuopt__elimination_total *); /* waits */
    /* The value phase: value [variables] in and out; total: the cost of the assignment. */
    gpuopt_status (*assign)(gpuopt_elimination *, int32_t copy, int32_t *value, gpuopt__elimination_total *);
    /* value [variables] is scratch where `variable` stands. */
    gpuopt_status (*bounds)(gpuopt_elimination *, int32_t copy, int32_t variable, int32_t *value,
                            gpuopt__elimination_total *bound);
    /* `count` stored costs of a table from `first` on, for a copy; counts may be NULL. */
    gpuopt_status (*read)(gpuopt_elimination *, int32_t table, int32_t copy, int64_t first, int64_t count, void *cost,
                          uint64_t *counts);
    gpuopt_status (*view)(gpuopt_elimination *, int32_t table, int32_t copy, const void **);
};

#endif /* GPUOPT_IMPL_ELIMINATION_BACKEND_H */
