/* SPDX-License-Identifier: MIT
 *
 * Elimination: definitions for the plan, the public calls and both backends: tables, the buckets that join them, jobs
 * (buckets as kernels see them, without variables), and arithmetic of costs.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_BASE_TABLE_H
#define GPUOPT_IMPL_ELIMINATION_BASE_TABLE_H

#include "tuning.h"
#include "../../common/backend.h"
#include "../../common/numerics.h"

/* Policies, AUTO among them. */
enum { GPUOPT__ELIMINATION_POLICIES = GPUOPT_POLICY_MINI_BUCKET + 1 };

/* The result of one slice, or of all slices so far. */
typedef struct gpuopt__elimination_total {
    uint64_t cost;
    uint64_t count;
    double value;
    int64_t slice; /* the first slice with this cost or value */
} gpuopt__elimination_total;

/* A function of the model, a message, or a partial join: a sum of some functions of a bucket, computed beforehand. Its
 * scope is scope[at .. at + arity - 1], the slowest variable first: evidence variables (of functions only), then the
 * eliminated variables in the order of elimination, then the variables left over, by number. */
typedef struct gpuopt__elimination_table {
    int64_t scope;         /* first of its variables in the pools `scope` and `stride` */
    int32_t arity;         /* of these */
    int32_t fixed;         /* number of leading variables that are evidence or sliced */
    int32_t source;        /* the position in the order that made this message; -1: a function; -2: a partial join */
    int32_t bucket;        /* the position with the bucket of this table; beyond the last one: left over */
    int32_t function;      /* the caller's number; -1: none */
    int64_t entries;       /* functions: over all values of evidence variables; others: of one copy */
    int64_t at;            /* first entry in the store, of copy 0; on_host: in the store in host memory */
    int64_t count_at;      /* first entry in the store of counts, likewise; -1: no counts, each entry counts once */
    int64_t offset;        /* true cost = offset + stored cost */
    double spread;         /* largest difference of two finite costs; LOG_SUM_EXP: 0 */
    int32_t condition;     /* row in the table of offsets; -1: no evidence variable */
    int32_t on_host;       /* STREAM: goes through the device in chunks */
    int64_t decision;      /* the first word of its decisions, of copy 0; see gpuopt__elimination_decision() */
    int32_t decision_bits; /* bits of an entry's decision; 0: there are none */
} gpuopt__elimination_table;

/* A bucket, or a mini-bucket. */
typedef struct gpuopt__elimination_bucket {
    int32_t position; /* in the order; == steps: the join of the functions left over */
    int32_t variable; /* eliminated; -1: none */
    int32_t message;  /* its table */
    int32_t level;    /* 1 + the highest level of the buckets that send it messages; 0: none */
    int64_t input;    /* first of its tables in the pool `input` */
    int32_t inputs;
    int32_t part;      /* number among the mini-buckets of its position */
    int32_t job, jobs; /* first and number: partial joins; the message; its decisions, if there are any */
    int32_t pass;      /* the pass of the value phase that gives its variable a value */
} gpuopt__elimination_bucket;

/* A table of a job. For value v of the eliminated variable, element i of the operand is at + copy * copy_stride + v *
 * value_stride + the sum of digit * stride, plus the offset of its evidence variables. */
typedef struct gpuopt__elimination_operand {
    int64_t at, copy_stride, value_stride;
    int64_t count_at;  /* in the store of counts, with the same offsets added; -1: all counts are 1 */
    int32_t condition; /* row of the table of evidence offsets; -1: none */
    int32_t table, on_host;
} gpuopt__elimination_operand;

/* A fused join and elimination: message[o] = min over v of the sum of the operands. The index of an entry of the
 * message is a mixed-radix number, the first digit slowest. The tiles come first, then the rows of a tile, then the
 * entries of a row. Entries of a row lie close together in every operand; rows of a tile share the operands that do not
 * depend on the row. */
typedef struct gpuopt__elimination_job {
    int64_t at, copy_stride, count_at; /* of the message, as in an operand */
    int64_t entries;
    int64_t tiles;   /* product of the sizes of the first tile_digits digits */
    int64_t size;    /* pool `digit`: size[tile_digits + row_digits + entry_digits] */
    int64_t stride;  /* pool `digit`: stride[operands + 1][digits], the last one the message's */
    int32_t operand; /* first in the pool of operands */
    int32_t operands;
    int32_t
        varying;    /* the first `varying` operands depend on the row; the others are the same for all rows of a tile */
    int32_t values; /* of the eliminated variable; 1 if there is none */
    int32_t tile_digits, row_digits, entry_digits;
    int32_t rows;        /* of a tile */
    int32_t row_total;   /* 0, or all rows of the last tile digit, which counts pieces of `rows` rows */
    int32_t row_entries; /* entries of a row */
    int32_t level, bucket;
    int32_t table;             /* the message's */
    int32_t on_host, streamed; /* the message is in host memory; the message or an operand is */
    int maximum; /* LOG_SUM_EXP: the maximum instead of the sum, in all mini-buckets of a position but the first */
    /* Not 0: this job computes no message but the decisions of one, from word `decision` on, of this many bits. Its
     * operands are the bucket's tables in the order in which the value phase adds them up, for the same sums. */
    int32_t decision_bits;
    int64_t decision;
} gpuopt__elimination_job;

/* The report of a rank of a group to the others: its arguments and status. */
typedef struct gpuopt__elimination_report {
    int64_t eliminated, steps;
    int64_t cost, bound; /* times the plan's sign, so that less is better */
    double value;        /* likewise */
    uint64_t count;
    int32_t variable, outcome;
    int32_t bounded;   /* _assign: there is a bound */
    int32_t duplicate; /* another rank has the same part */
} gpuopt__elimination_report;

/* The description of an elimination before its tables are allocated. It is one block of host memory. */
typedef struct gpuopt__elimination_plan {
    int32_t variables, functions, steps; /* steps: variables to eliminate in a slice */
    int32_t units;                       /* steps of _step in a slice: its variables, and the join of the rest */
    int32_t tables, messages;            /* tables: functions (arity > 0), then messages, then partial joins */
    int32_t first_message;
    int32_t first_device; /* functions from this one on are messages in device memory, up to first_message */
    int32_t buckets, jobs, operands;
    int32_t levels;
    int32_t conditions; /* the caller's evidence variables, then sliced variables */
    int32_t host_conditions;
    int32_t roots;          /* tables without a free variable; their sum is the result */
    int32_t condition_rows; /* tables with evidence variables */
    int32_t copies;
    int32_t z;
    int32_t bits;
    int32_t largest_domain;
    int32_t most_operands, most_rows, most_entries; /* of a job; of a tile; of a row */
    int64_t scopes, inputs, digits;                 /* lengths of the pools */
    int64_t store, counts; /* entries of the store, of counts; STREAM: with the buffers at their ends */
    int64_t function_store, function_counts; /* the leading part of both, for functions from the caller */
    int64_t host_store;             /* STREAM: entries of the store in host memory, and with MIN_COUNT of its counts */
    int64_t buffer, buffer_at;      /* entries of each of the two buffers; start of the first one in the store */
    int64_t count_shift;            /* distance from an entry of a buffer to its count */
    int64_t chunk_digits, gathered; /* most sizes and strides of a chunk; most entries of a bucket for one assignment */
    int64_t slices;
    int64_t staged;     /* entries staged at a time; 0: the backend has no device memory */
    uint64_t forbidden; /* stored costs of this and more are forbidden; INT64 */
    int sign;           /* -1: MAX_SUM, costs are stored negated */
    int keep, join_rest;
    int decides;         /* messages are not kept, so decisions are stored for the value phase */
    int64_t decisions;   /* words of the largest pass */
    int32_t passes;      /* of the value phase; 1 unless RECOMPUTE has more. Pass 0 has the last variables */
    int may_copy;        /* there is memory for copies of tables in an order that suits the backend */
    int32_t ranks;       /* of the group with this model, this plan being one part (ranks/share.h); 0: there is none */
    int32_t whole_steps; /* with a group: variables in whole_order */
    gpuopt_elimination_cost type;
    gpuopt_elimination_semiring semiring;
    gpuopt_elimination_policy policy;

    int32_t *domain;    /* [variables] */
    int32_t *order;     /* [steps] */
    int32_t *position;  /* [variables] in the order; steps + v: not in it; -1: evidence */
    int32_t *condition; /* [conditions] */
    gpuopt__elimination_table *table;
    gpuopt__elimination_bucket *bucket;
    int32_t *first_bucket; /* [steps + 2] of each position */
    gpuopt__elimination_job *job;
    gpuopt__elimination_operand *operand;
    int32_t *scope;         /* [scopes] */
    int64_t *stride;        /* [scopes] */
    int32_t *input;         /* [inputs] */
    int64_t *digit;         /* [digits] */
    int32_t *by_level;      /* [jobs] in the order of their levels */
    int32_t *in_order;      /* [jobs] 0, 1, 2, ... */
    int32_t *root;          /* [roots] tables */
    int64_t *offset;        /* [copies][condition_rows] offsets of entries by the fixed variables of a table */
    int32_t *fixed_value;   /* [copies][conditions] */
    int32_t *value_of;      /* [variables]: scratch of assignments */
    int32_t *staged_value;  /* [variables] host memory between the caller's device memory and the handle; */
    int64_t *staged_cost;   /* [staged] without device memory these three are empty */
    uint64_t *staged_count; /* [staged] with MIN_COUNT */
    uint8_t *needed;        /* [buckets] with several passes: whether the present pass computes the bucket */
    int32_t *assigned;      /* [variables] with several passes: values from earlier passes */
    int32_t *first;         /* [variables] with a group: the part's least value, which this plan calls 0 */
    int32_t *other;         /* [2][variables] with a group: assignments of other ranks */
    int32_t *whole_order;   /* [whole_steps] the order before slicing: the same on all ranks */
    gpuopt__elimination_report *reports; /* [ranks] */
} gpuopt__elimination_plan;

/* Bytes of one stored cost. */
static inline int64_t gpuopt__elimination_cost_bytes(const gpuopt__elimination_plan *plan) { return plan->bits / 8; }

/* Whether a table exists just before the variable at `position` is eliminated. */
GPUOPT_HD int gpuopt__elimination_is_pending(const gpuopt__elimination_table *t, int32_t position) {
    return t->source != -2 && t->source < position && t->bucket >= position;
}

/* Whether a table is part of the result: it has no free variable. */
static inline int gpuopt__elimination_is_root(const gpuopt__elimination_plan *plan,
                                              const gpuopt__elimination_table *t) {
    return t->source != -2 && t->arity == t->fixed && t->bucket == plan->steps + (plan->join_rest != 0);
}

/* ---- Decisions ---- *
 * The decision of an entry of a message is the value that the value phase would choose there: the first with the least
 * sum of the bucket's tables. Decisions are packed into words of 32 bits, the first in the lowest bits. */

/* Bits of a decision: 1, 2, 4, 8, 16 or 32, so that none spans two words; 0: there is no choice. */
static inline int32_t gpuopt__elimination_decision_width(int32_t values) {
    int32_t bits = values > 1;
    while (bits && bits < 32 && values > (int64_t)1 << bits) bits *= 2;
    return bits;
}

/* Words of the decisions of one copy. */
GPUOPT_HD int64_t gpuopt__elimination_decision_words(int64_t entries, int32_t bits) {
    return bits ? (entries + 32 / bits - 1) / (32 / bits) : 0;
}

/* decision: the words of a copy's message. */
GPUOPT_HD int32_t gpuopt__elimination_decision(const uint32_t *decision, int32_t bits, int64_t entry) {
    const int64_t per_word = 32 / bits;
    const uint32_t word = decision[entry / per_word] >> (int32_t)(entry % per_word * bits);
    return (int32_t)(bits == 32 ? word : word & ((1u << bits) - 1));
}

/* ---- Arithmetic ---- *
 * Costs are unsigned, 0 is best, and costs of `forbidden` and more are forbidden. DOUBLE costs are as given by the
 * caller, negated with MAX_SUM. Counts saturate at 2^64 - 1. */

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

/* The logarithm of a running sum of exponentials: high + ln(sum). high: the largest exponent so far; sum == 0: none
 * yet. */
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

/* The result of DOUBLE costs if every assignment is forbidden. */
GPUOPT_HD double gpuopt__elimination_worst_value(gpuopt_elimination_semiring semiring) {
    return semiring == GPUOPT_SEMIRING_LOG_SUM_EXP ? -HUGE_VAL : HUGE_VAL;
}

/* Adds the result of a slice to the total of the slices before it. */
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

/* The entry of a table for an assignment of all its variables, for a copy. */
GPUOPT_HD int64_t gpuopt__elimination_table_entry(const gpuopt__elimination_table *t, const int32_t *scope,
                                                  const int64_t *stride, const int32_t *value, int32_t copy) {
    int64_t at = t->at + (t->source == -1 ? 0 : copy * t->entries);
    int32_t k;
    for (k = 0; k < t->arity; k++) at += value[scope[t->scope + k]] * stride[t->scope + k];
    return at;
}

/* A batch of partial assignments to look up bounds for: the arguments of the public call. */
typedef struct gpuopt__elimination_lookup {
    int32_t copy, variable, position, increase;
    int64_t count;
    int64_t offset; /* true bound = offset + stored one; INT64 */
    const int32_t *value;
    int64_t *bound;
    double *bound_value;
} gpuopt__elimination_lookup;

/* Whether a table contributes equally to the bounds of all values of the variable at `position`. */
GPUOPT_HD int gpuopt__elimination_is_common(const gpuopt__elimination_table *t, int32_t position, int increase) {
    return increase ? t->source == position : t->bucket > position && gpuopt__elimination_is_pending(t, position);
}

/* The entry of a table for a partial assignment, from variable `first` of the scope on; offset: [condition_rows], of
 * the copy. Sets *bad for a value outside its domain, and takes 0 instead. */
GPUOPT_HD int64_t gpuopt__elimination_partial_entry(const gpuopt__elimination_table *t, const int32_t *scope,
                                                    const int64_t *stride, const int32_t *domain, const int64_t *offset,
                                                    const int32_t *value, int32_t copy, int32_t first, int *bad) {
    int64_t at = t->at + (t->source == -1 ? 0 : copy * t->entries);
    int32_t k;
    if (t->condition >= 0) at += offset[t->condition];
    for (k = first; k < t->arity; k++) {
        const int32_t variable = scope[t->scope + k], v = value[variable];
        if (v >= 0 && v < domain[variable]) at += v * stride[t->scope + k];
        else *bad = 1;
    }
    return at;
}

/* The bound in the caller's form: the sum of its variable's tables, plus the sum of the tables common to all values. */
GPUOPT_HD int64_t gpuopt__elimination_bound_cost(const gpuopt__elimination_lookup *q, uint64_t own, uint64_t common,
                                                 uint64_t forbidden, int sign) {
    const uint64_t sum = own < forbidden && common < forbidden && !q->increase ? own + common : own;
    if (sum >= forbidden || common >= forbidden) return sign < 0 ? INT64_MIN : INT64_MAX;
    return sign * (q->offset + (int64_t)sum - (q->increase ? (int64_t)common : 0));
}

GPUOPT_HD double gpuopt__elimination_bound_value(const gpuopt__elimination_lookup *q, double own, double common,
                                                 int sign) {
    const double sum = q->increase && common < HUGE_VAL ? gpuopt__sub(own, common) : gpuopt__add(own, common);
    return sign < 0 ? -sum : sum;
}

/* Reads a stored cost of any width. */
GPUOPT_HD uint64_t gpuopt__elimination_stored_cost(const void *store, int32_t bits, int64_t at) {
    return bits == 8    ? ((const uint8_t *)store)[at]
           : bits == 16 ? ((const uint16_t *)store)[at]
           : bits == 32 ? ((const uint32_t *)store)[at]
                        : ((const uint64_t *)store)[at];
}

#endif /* GPUOPT_IMPL_ELIMINATION_BASE_TABLE_H */
