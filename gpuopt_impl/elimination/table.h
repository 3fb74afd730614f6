/* SPDX-License-Identifier: MIT
 *
 * Elimination: what the plan, the public calls and both backends share. Tables, the buckets that join them, jobs (a
 * bucket as a kernel sees it, without variables), and the arithmetic of costs.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_TABLE_H
#define GPUOPT_IMPL_ELIMINATION_TABLE_H

#include "tuning.h"
#include "../common/backend.h"
#include "../common/numerics.h"

/* A sum over one slice, or over all so far. */
typedef struct gpuopt__elimination_total {
    uint64_t cost;
    uint64_t count;
    double value;
    int64_t slice; /* the first with this cost or value */
} gpuopt__elimination_total;

/* A function of the model, a message, or some functions of a bucket added up beforehand (a partial join). Its scope is
 * scope[at .. at + arity - 1], the slowest variable first: conditioned ones (functions only), then those that are
 * eliminated, in the order in which they are, then those that are left over, by number. */
typedef struct gpuopt__elimination_table {
    int64_t scope;     /* first of its variables in the pools `scope` and `stride` */
    int32_t arity;     /* of these */
    int32_t fixed;     /* the first so many are conditioned or sliced */
    int32_t source;    /* the position in the order whose message it is; -1: a function; -2: a partial join */
    int32_t bucket;    /* the position in whose bucket it is; beyond the last one: left over */
    int32_t function;  /* the host's; -1: none */
    int64_t entries;   /* of a function with all values of its conditioned variables, of others for one copy */
    int64_t at;        /* first entry in the store, of copy 0; on_host: in the store on the host */
    int64_t count_at;  /* first entry in the store of counts, likewise; -1: it has none, all count once */
    int64_t offset;    /* true cost = offset + stored cost */
    double spread;     /* its finite costs differ by this at most; LOG_SUM_EXP: 0 */
    int32_t condition; /* row in the table of conditioned offsets; -1: it has no conditioned variable */
    int32_t on_host;   /* STREAM: goes through the device in chunks */
} gpuopt__elimination_table;

/* A bucket, or a mini-bucket. */
typedef struct gpuopt__elimination_bucket {
    int32_t position; /* in the order; == steps: the join of what is left over */
    int32_t variable; /* eliminated; -1: none */
    int32_t message;  /* its table */
    int32_t level;    /* 1 + the highest level among the buckets whose messages it reads; 0: none */
    int64_t input;    /* first of its tables in the pool `input` */
    int32_t inputs;
    int32_t part;      /* of the mini-buckets of its position */
    int32_t job, jobs; /* its last job computes the message, those before partial joins */
} gpuopt__elimination_bucket;

/* One table of a job. Element i of the operand for the eliminated variable's value v is at + copy * copy_stride +
 * v * value_stride + sum of digit * stride, plus what its conditioned variables add. */
typedef struct gpuopt__elimination_operand {
    int64_t at, copy_stride, value_stride;
    int64_t count_at;  /* in the store of counts, the same offsets added; -1: all 1 */
    int32_t condition; /* row of the table of conditioned offsets; -1: none */
    int32_t table, on_host;
} gpuopt__elimination_operand;

/* One fused join and elimination: message[o] = min over v of the sum of the operands. The message's entries are a
 * mixed-radix number, the first digit slowest: tiles, then the rows of a tile, then the entries of a row. What varies
 * within a row lies close together in every operand; rows of a tile share what does not depend on them. */
typedef struct gpuopt__elimination_job {
    int64_t at, copy_stride, count_at; /* of the message, as in an operand */
    int64_t entries;
    int64_t tiles;   /* product of the sizes of the first tile_digits digits */
    int64_t size;    /* pool `digit`: size[tile_digits + row_digits + entry_digits] */
    int64_t stride;  /* pool `digit`: stride[operands + 1][digits], the last one the message's */
    int32_t operand; /* first in the pool of operands */
    int32_t operands;
    int32_t varying; /* the first so many operands depend on the row; the others are the same for all of a tile */
    int32_t values;  /* of the eliminated variable; 1 where none is */
    int32_t tile_digits, row_digits, entry_digits;
    int32_t rows;        /* of a tile */
    int32_t row_total;   /* 0, or: the last tile digit counts pieces of `rows` rows of so many in all */
    int32_t row_entries; /* entries of a row */
    int32_t level, bucket;
    int32_t table;             /* the message's */
    int32_t on_host, streamed; /* the message is on the host; it, or an operand */
    int maximum; /* LOG_SUM_EXP, all mini-buckets but a bucket's first: max in place of the sum, which bounds it */
} gpuopt__elimination_job;

/* Everything known of an elimination before its tables are allocated. One block of host memory. */
typedef struct gpuopt__elimination_plan {
    int32_t variables, functions, steps; /* steps: variables to eliminate, of one slice */
    int32_t units;                       /* what _step counts, of one slice: the variables, and the join of the rest */
    int32_t tables, messages;            /* tables: functions (arity > 0), then messages, then partial joins */
    int32_t first_message;
    int32_t buckets, jobs, operands;
    int32_t levels;
    int32_t conditions; /* variables conditioned by the host, then sliced ones */
    int32_t host_conditions;
    int32_t roots;          /* tables without a free variable, the sum of which is the result */
    int32_t condition_rows; /* tables with conditioned variables */
    int32_t copies;
    int32_t z;
    int32_t bits;
    int32_t largest_domain;
    int32_t most_operands, most_rows, most_entries; /* of a job; of a tile of it; of a row of it */
    int64_t scopes, inputs, digits;                 /* lengths of the pools */
    int64_t store, counts; /* entries of the store, of counts; STREAM: with the buffers at their ends */
    int64_t function_store, function_counts; /* of these the functions', at their beginnings */
    int64_t host_store;             /* STREAM: entries of the store on the host, and with MIN_COUNT of its counts */
    int64_t buffer, buffer_at;      /* of each of the two buffers; where in the store the first one begins */
    int64_t count_shift;            /* what a buffer's entry and that of its count are apart */
    int64_t chunk_digits, gathered; /* most sizes and strides of a chunk; most entries of a bucket at one assignment */
    int64_t slices;
    int64_t staged;     /* entries that are staged at a time; 0: the backend has no device memory */
    uint64_t forbidden; /* stored costs from here on are; INT64 */
    int sign;           /* -1: MAX_SUM, costs are stored negated */
    int keep, join_rest;
    int may_copy; /* memory allows for tables that a backend copies into an order it likes */
    gpuopt_elimination_cost type;
    gpuopt_elimination_semiring semiring;
    gpuopt_elimination_policy policy;

    int32_t *domain;    /* [variables] */
    int32_t *order;     /* [steps] */
    int32_t *position;  /* [variables] in the order; steps + v: left over; -1: conditioned */
    int32_t *condition; /* [conditions] */
    gpuopt__elimination_table *table;
    gpuopt__elimination_bucket *bucket;
    int32_t *first_bucket; /* [steps + 2] of each position */
    gpuopt__elimination_job *job;
    gpuopt__elimination_operand *operand;
    int32_t *scope;                   /* [scopes] */
    int64_t *stride;                  /* [scopes] */
    int32_t *input;                   /* [inputs] */
    int64_t *digit;                   /* [digits] */
    int32_t *by_level;                /* [jobs] in the order of their levels */
    int32_t *in_order;                /* [jobs] 0, 1, 2, ... */
    int32_t *root;                    /* [roots] tables */
    int64_t *offset;                  /* [copies][condition_rows] entries that the fixed variables of a table add */
    int32_t *fixed_value;             /* [copies][conditions] */
    int32_t *value_of;                /* [variables]: scratch of assignments */
    gpuopt__elimination_total *bound; /* [largest domain]: of bounds */
    int32_t *staged_value;            /* [variables] host memory between the caller's device memory and the handle; */
    int64_t *staged_cost;             /* [staged] without device memory these three are empty */
    uint64_t *staged_count;           /* [staged] with MIN_COUNT */
} gpuopt__elimination_plan;

/* Bytes of one stored cost. */
static inline int64_t gpuopt__elimination_cost_bytes(const gpuopt__elimination_plan *plan) { return plan->bits / 8; }

/* Whether a table is there just before the variable at `position` is eliminated. */
GPUOPT_HD int gpuopt__elimination_is_pending(const gpuopt__elimination_table *t, int32_t position) {
    return t->source != -2 && t->source < position && t->bucket >= position;
}

/* Whether a table is a summand of the result. */
static inline int gpuopt__elimination_is_root(const gpuopt__elimination_plan *plan,
                                              const gpuopt__elimination_table *t) {
    return t->source != -2 && t->arity == t->fixed && t->bucket == plan->steps + (plan->join_rest != 0);
}

/* ---- Arithmetic ---- *
 * Costs are unsigned, 0 is best, and costs of `forbidden` and more are forbidden. DOUBLE costs are as the host gave
 * them, negated with MAX_SUM. Counts stay at 2^64 - 1 once they get there. */

/* a, b <= limit < 2^63. */
GPUOPT_HD uint64_t gpuopt__elimination_clamped_sum(uint64_t a, uint64_t b, uint64_t limit) {
    return a + b < limit ? a + b : limit;
}

GPUOPT_HD uint64_t gpuopt__elimination_saturated_sum(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

GPUOPT_HD uint64_t gpuopt__elimination_count_product(uint64_t a, uint64_t b) {
#ifdef __CUDA_ARCH__
    return __umul64hi(a, b) ? UINT64_MAX : a * b;
#else
    return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
#endif
}

/* ln of a running sum of exponentials: high + ln(sum), high the largest exponent so far; sum 0: none yet. */
typedef struct gpuopt__elimination_log_sum {
    double high, sum;
} gpuopt__elimination_log_sum;

GPUOPT_HD void gpuopt__elimination_log_sum_add(gpuopt__elimination_log_sum *s, double value) {
    if (value == -HUGE_VAL) return;
    if (s->sum == 0) s->high = value, s->sum = 1;
    else if (value <= s->high) s->sum = gpuopt__add(s->sum, exp(gpuopt__sub(value, s->high)));
    else {
        s->sum = gpuopt__add(gpuopt__mul(s->sum, exp(gpuopt__sub(s->high, value))), 1);
        s->high = value;
    }
}

GPUOPT_HD double gpuopt__elimination_log_sum_value(const gpuopt__elimination_log_sum *s) {
    return s->sum == 0 ? -HUGE_VAL : gpuopt__add(s->high, log(s->sum));
}

/* What forbids an assignment of DOUBLE costs. */
GPUOPT_HD double gpuopt__elimination_worst_value(gpuopt_elimination_semiring semiring) {
    return semiring == GPUOPT_SEMIRING_LOG_SUM_EXP ? -HUGE_VAL : HUGE_VAL;
}

/* Adds the result of a slice to the total of those before. */
GPUOPT_HD void gpuopt__elimination_add_slice(gpuopt_elimination_cost type, gpuopt_elimination_semiring semiring,
                                             gpuopt__elimination_total *all, const gpuopt__elimination_total *one) {
    if (semiring == GPUOPT_SEMIRING_LOG_SUM_EXP) {
        gpuopt__elimination_log_sum s = {all->value, all->value == -HUGE_VAL ? 0.0 : 1.0};
        gpuopt__elimination_log_sum_add(&s, one->value);
        all->value = gpuopt__elimination_log_sum_value(&s);
    } else if (type == GPUOPT_COST_DOUBLE ? one->value < all->value : one->cost < all->cost) *all = *one;
    else if (type == GPUOPT_COST_INT64 && one->cost == all->cost)
        all->count = gpuopt__elimination_saturated_sum(all->count, one->count);
}

/* Entry of a table for an assignment of all its variables, of a copy. */
GPUOPT_HD int64_t gpuopt__elimination_table_entry(const gpuopt__elimination_table *t, const int32_t *scope,
                                                  const int64_t *stride, const int32_t *value, int32_t copy) {
    int64_t at = t->at + (t->source == -1 ? 0 : copy * t->entries);
    int32_t k;
    for (k = 0; k < t->arity; k++) at += value[scope[t->scope + k]] * stride[t->scope + k];
    return at;
}

/* A stored cost, whatever its width. */
GPUOPT_HD uint64_t gpuopt__elimination_stored_cost(const void *store, int32_t bits, int64_t at) {
    return bits == 8    ? ((const uint8_t *)store)[at]
           : bits == 16 ? ((const uint16_t *)store)[at]
           : bits == 32 ? ((const uint32_t *)store)[at]
                        : ((const uint64_t *)store)[at];
}

#endif /* GPUOPT_IMPL_ELIMINATION_TABLE_H */
