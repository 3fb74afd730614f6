/* SPDX-License-Identifier: MIT
 *
 * Elimination: checks a descriptor, function by function, and finds each function's least and largest finite costs.
 * These decide how narrow stored costs can be.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_PLAN_CHECK_H
#define GPUOPT_IMPL_ELIMINATION_PLAN_CHECK_H

#include "packed.h"
#include "../base/scratch.h"
#include "../base/table.h"
#include "../../common/checks.h"

/* The contribution of one function. Costs are negated first with MAX_SUM. */
typedef struct gpuopt__elimination_function_range {
    int64_t least;   /* least finite cost; 0: there is none */
    uint64_t spread; /* of finite costs */
    double weight;   /* the spread as a number, also for DOUBLE; LOG_SUM_EXP: 0 */
    double size;     /* DOUBLE: the largest finite magnitude */
} gpuopt__elimination_function_range;

/* The structs that a checked descriptor points to. */
typedef struct gpuopt__elimination_options {
    gpuopt_elimination_order_search order_search;
    gpuopt_elimination_memory memory;
    gpuopt_elimination_messages messages;
} gpuopt__elimination_options;

/* Copies a checked descriptor with these structs. */
static void gpuopt__elimination_copy_desc(const gpuopt_elimination_desc *from, gpuopt_elimination_desc *to,
                                          gpuopt__elimination_options *options) {
    options->order_search = *from->order_search;
    options->memory = *from->memory;
    options->messages = *from->messages;
    *to = *from;
    to->order_search = &options->order_search;
    to->memory = &options->memory;
    to->messages = &options->messages;
}

/* Checks each option alone, then the combinations. */
static gpuopt_status gpuopt__elimination_check_options(const gpuopt_context *context, const char *call,
                                                       const gpuopt_elimination_desc *d) {
    const gpuopt__choice choice[] = {
        {"type", (int64_t)d->type, GPUOPT_COST_DOUBLE},
        {"semiring", (int64_t)d->semiring, GPUOPT_SEMIRING_MIN_COUNT},
        {"desc->order_search->heuristic", (int64_t)d->order_search->heuristic, GPUOPT_HEURISTIC_MIN_DEGREE},
        {"policy", (int64_t)d->policy, GPUOPT_POLICY_MINI_BUCKET},
        {"desc->memory->retain_messages", (int64_t)d->memory->retain_messages, GPUOPT_OFF}};
    const gpuopt__range range[] = {{"variables", (double)d->variables, 0, INT32_MAX / 4},
                                   {"functions", (double)d->functions, 0, INT32_MAX / 4},
                                   {"desc->messages->count", (double)d->messages->count, 0, INT32_MAX / 4},
                                   {"desc->order_search->restarts", (double)d->order_search->restarts, 1, 1e6},
                                   {"desc->order_search->work", (double)d->order_search->work, 1, 9e18},
                                   {"z", (double)d->z, 1, INT32_MAX},
                                   {"batch_size", (double)d->batch_size, 1, 1 << 24},
                                   {"order_count", (double)d->order_count, 0, INT32_MAX},
                                   {"evidence_count", (double)d->evidence_count, 0, INT32_MAX}};
    const char *fault = NULL;
    gpuopt_status status = gpuopt__check_choices(context, call, choice, sizeof choice / sizeof *choice);
    if (!status) status = gpuopt__check_ranges(context, call, range, sizeof range / sizeof *range);
    if (status) return status;
    if (d->variables > 0 && !d->domain) fault = "domain is NULL";
    else if (d->functions > 0 && !d->function) fault = "function is NULL";
    else if (gpuopt__elimination_messages_fault(d)) fault = gpuopt__elimination_messages_fault(d);
    else if (d->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP && d->type != GPUOPT_COST_DOUBLE)
        fault = "LOG_SUM_EXP needs DOUBLE";
    else if (d->semiring == GPUOPT_SEMIRING_MIN_COUNT && d->type != GPUOPT_COST_INT64) fault = "MIN_COUNT needs INT64";
    else if (d->top < 0) fault = "top is negative";
    else if (d->top > 0 && d->type == GPUOPT_COST_DOUBLE) fault = "top needs INT64";
    else if (!(d->order_search->seconds >= 0 && d->order_search->seconds <= 1e9))
        fault = "desc->order_search->seconds is not in 0..1e9";
    else if ((d->order_search->seconds > 0 || d->order_search->work > 0) &&
             d->order_search->heuristic != GPUOPT_HEURISTIC_BEST)
        fault = "desc->order_search: seconds and work need the heuristic BEST";
    else if (d->order_search->seconds > 0 && !context->desc.seconds)
        fault = "desc->order_search->seconds needs the context's hook `seconds`";
    else if (!d->order && d->order_count) fault = "order is NULL, but order_count is not 0";
    else if (!d->evidence && d->evidence_count) fault = "evidence is NULL, but evidence_count is not 0";
    return fault ? gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, fault) : GPUOPT_OK;
}

/* Fills in d and its options from the caller's descriptor, with the defaults. */
static gpuopt_status gpuopt__elimination_check_desc(const gpuopt_context *context, const char *call,
                                                    const gpuopt_elimination_desc *desc, gpuopt_elimination_desc *d,
                                                    gpuopt__elimination_options *options) {
    gpuopt_status status;
    int32_t k;
    memset(d, 0, sizeof *d);
    memset(options, 0, sizeof *options);
    status = GPUOPT__CHECK_STRUCT(context, call, context->desc.backend->elimination, gpuopt_elimination_desc, desc, d);
    if (!status)
        status =
            GPUOPT__CHECK_PART(context, call, gpuopt_elimination_order_search, d->order_search, &options->order_search);
    if (!status) status = GPUOPT__CHECK_PART(context, call, gpuopt_elimination_memory, d->memory, &options->memory);
    if (!status)
        status = GPUOPT__CHECK_PART(context, call, gpuopt_elimination_messages, d->messages, &options->messages);
    d->struct_size = sizeof *d;
    options->order_search.struct_size = sizeof options->order_search;
    options->memory.struct_size = sizeof options->memory;
    options->messages.struct_size = sizeof options->messages;
    d->order_search = &options->order_search;
    d->memory = &options->memory;
    d->messages = &options->messages;
    if (!status) status = gpuopt__elimination_check_options(context, call, d);
    if (status) return status;
    for (k = 0; k < d->variables; k++)
        if (d->domain[k] < 1) {
            gpuopt__log(context, 0, "%s: domain[%d] = %d is not positive", call, (int)k, (int)d->domain[k]);
            return GPUOPT_ERROR_ARGUMENT;
        }
    if (d->semiring == GPUOPT_SEMIRING_MIN_COUNT && d->policy == GPUOPT_POLICY_MINI_BUCKET)
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "MIN_COUNT has no mini-buckets");
    if (d->batch_size > 1 && (d->policy == GPUOPT_POLICY_SLICE || d->policy == GPUOPT_POLICY_STREAM))
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "SLICE and STREAM need a single copy");
    if (d->memory->retain_messages == GPUOPT_ON &&
        (d->policy == GPUOPT_POLICY_DROP || d->policy == GPUOPT_POLICY_RECOMPUTE))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call,
                              "DROP and RECOMPUTE do not go with desc->memory->retain_messages ON");
    if (d->batch_size == 0) d->batch_size = 1;
    return GPUOPT_OK;
}

/* Checks the entries of order or evidence: variables, each at most once in both together. mark [variables] is zero on
 * the first call. */
static gpuopt_status gpuopt__elimination_check_variables(const gpuopt_context *context, const char *call,
                                                         const char *name, const gpuopt_elimination_desc *d,
                                                         int32_t count, const int32_t *list, uint8_t *mark) {
    int32_t k;
    for (k = 0; k < count; k++) {
        int outside = list[k] < 0 || list[k] >= d->variables;
        if (outside || mark[list[k]]) {
            gpuopt__log(context, 0, "%s: %s[%d] = %d %s", call, name, (int)k, (int)list[k],
                        outside ? "is not a variable" : "occurs twice, or is conditioned");
            return GPUOPT_ERROR_ARGUMENT;
        }
        mark[list[k]] = 1;
    }
    return GPUOPT_OK;
}

/* Product of the domain sizes, or -1: more than GPUOPT__ELIMINATION_MOST_ENTRIES. */
static int64_t gpuopt__elimination_scope_entries(const int32_t *domain, int32_t arity, const int32_t *scope) {
    int64_t entries = 1;
    int32_t k;
    for (k = 0; k < arity; k++) {
        if (entries > GPUOPT__ELIMINATION_MOST_ENTRIES / domain[scope[k]]) return -1;
        entries *= domain[scope[k]];
    }
    return entries;
}

static gpuopt_status gpuopt__elimination_function_fault(const gpuopt_context *context, const char *call,
                                                        int32_t function, int64_t entry, const char *fault) {
    if (entry < 0) gpuopt__log(context, 0, "%s: function %d: %s", call, (int)function, fault);
    else gpuopt__log(context, 0, "%s: function %d, entry %lld: %s", call, (int)function, (long long)entry, fault);
    return GPUOPT_ERROR_ARGUMENT;
}

/* The fault in a function's list or table, or NULL. Costs of a list of no tuples would not be read: the function would
 * be its default everywhere. */
static const char *gpuopt__elimination_costs_fault(const gpuopt_elimination_desc *d,
                                                   const gpuopt_elimination_function *f) {
    if (f->tuples < -1) return "tuples is less than -1";
    if (f->tuples == 0 && f->tuple && (f->cost || f->value))
        return "tuples is 0, but tuple is given, and cost or value: a list needs its length, a dense table has no "
               "tuple";
    if ((f->tuples != 0 || gpuopt__elimination_is_dense(f)) &&
        !(d->type == GPUOPT_COST_INT64 ? (const void *)f->cost : (const void *)f->value))
        return "cost or value is NULL";
    if (f->count && (!gpuopt__elimination_is_dense(f) || d->semiring != GPUOPT_SEMIRING_MIN_COUNT))
        return "count goes with a dense table and MIN_COUNT";
    if (f->tuples > 0 && f->arity > 0 && !f->tuple) return "tuple is NULL";
    return NULL;
}

/* Checks the shape of one function. mark [variables]: 1 + the last function in which a variable was seen. */
static gpuopt_status gpuopt__elimination_check_function(const gpuopt_context *context, const char *call,
                                                        const gpuopt_elimination_desc *d, int32_t number,
                                                        int32_t *mark) {
    const gpuopt_elimination_function *f = &d->function[number];
    const char *fault;
    int64_t entries, k;
    int32_t j;
    if (f->arity < 0 || f->arity > d->variables)
        return gpuopt__elimination_function_fault(context, call, number, -1, "arity is out of range");
    if (f->arity > 0 && !f->scope)
        return gpuopt__elimination_function_fault(context, call, number, -1, "scope is NULL");
    for (j = 0; j < f->arity; j++) {
        if (f->scope[j] < 0 || f->scope[j] >= d->variables)
            return gpuopt__elimination_function_fault(context, call, number, j,
                                                      "the scope has an entry that is not a variable");
        if (mark[f->scope[j]] == number + 1)
            return gpuopt__elimination_function_fault(context, call, number, j, "the scope has a variable twice");
        mark[f->scope[j]] = number + 1;
    }
    entries = gpuopt__elimination_scope_entries(d->domain, f->arity, f->scope);
    if (entries < 0)
        return gpuopt__elimination_function_fault(context, call, number, -1, "its table has more than 2^44 entries");
    if (number >= d->functions - d->messages->count) return GPUOPT_OK; /* messages are last and already checked */
    fault = gpuopt__elimination_costs_fault(d, f);
    if (fault) return gpuopt__elimination_function_fault(context, call, number, -1, fault);
    for (k = 0; k < f->tuples; k++)
        for (j = 0; j < f->arity; j++) {
            int32_t value = f->tuple[k * f->arity + j];
            if (value < 0 || value >= d->domain[f->scope[j]])
                return gpuopt__elimination_function_fault(context, call, number, k, "a value is outside of its domain");
        }
    return GPUOPT_OK;
}

/* ---- Costs ---- */

/* A cost as an addend: negated with MAX_SUM; INT64_MAX: forbidden. */
static int64_t gpuopt__elimination_inner_cost(const gpuopt_elimination_desc *d, int64_t cost) {
    int64_t inner = d->semiring != GPUOPT_SEMIRING_MAX_SUM ? cost : cost == INT64_MIN ? INT64_MAX : -cost;
    return d->top > 0 && inner >= d->top ? INT64_MAX : inner;
}

static double gpuopt__elimination_inner_value(const gpuopt_elimination_desc *d, double value) {
    return d->semiring == GPUOPT_SEMIRING_MAX_SUM ? -value : value;
}

/* Whether a value is NaN, or the infinity that does not mean forbidden. */
static int gpuopt__elimination_bad_value(const gpuopt_elimination_desc *d, double value) {
    return !(d->semiring == GPUOPT_SEMIRING_MIN_SUM ? value > -HUGE_VAL : value < HUGE_VAL);
}

/* The index of tuple k of a list in the dense table, the last variable fastest. */
static int64_t gpuopt__elimination_tuple_index(const gpuopt_elimination_desc *d, const gpuopt_elimination_function *f,
                                               int64_t k) {
    int64_t index = 0;
    int32_t j;
    for (j = 0; j < f->arity; j++) index = index * d->domain[f->scope[j]] + f->tuple[k * f->arity + j];
    return index;
}

/* Returns a function's dense table: the caller's, or the list of tuples written out into buffer [entries]. Not for
 * messages. */
static const int64_t *gpuopt__elimination_dense_costs(const gpuopt_elimination_desc *d,
                                                      const gpuopt_elimination_function *f, int64_t entries,
                                                      int64_t *buffer) {
    int64_t k;
    if (gpuopt__elimination_is_dense(f)) return f->cost;
    for (k = 0; k < entries; k++) buffer[k] = f->default_cost;
    for (k = 0; k < f->tuples; k++) buffer[gpuopt__elimination_tuple_index(d, f, k)] = f->cost[k];
    return buffer;
}

static const double *gpuopt__elimination_dense_values(const gpuopt_elimination_desc *d,
                                                      const gpuopt_elimination_function *f, int64_t entries,
                                                      double *buffer) {
    int64_t k;
    if (gpuopt__elimination_is_dense(f)) return f->value;
    for (k = 0; k < entries; k++) buffer[k] = f->default_value;
    for (k = 0; k < f->tuples; k++) buffer[gpuopt__elimination_tuple_index(d, f, k)] = f->value[k];
    return buffer;
}

/* ---- Lists of tuples ---- */

/* Slots of a hash table for the tuples of a list; at most half are used. */
static int64_t gpuopt__elimination_list_slots(int64_t tuples) {
    int64_t slots = 2;
    while (slots < 2 * tuples) slots *= 2;
    return slots;
}

/* The number of slots for the longest list of the model. */
static int64_t gpuopt__elimination_most_slots(const gpuopt_elimination_desc *d) {
    int64_t most = 0;
    int32_t k;
    for (k = 0; k < d->functions; k++)
        if (d->function[k].tuples > most) most = d->function[k].tuples;
    return gpuopt__elimination_list_slots(most);
}

/* Whether a tuple with this index in the dense table counts. The tuples are passed from the last to the first, and of
 * equal tuples the last counts. slot [slots]: the indices so far, + 1; all 0 at first. */
static int gpuopt__elimination_tuple_counts(int64_t *slot, int64_t slots, int64_t index) {
    uint64_t at = (uint64_t)index * 0x9E3779B97F4A7C15u;
    for (at = (at ^ at >> 32) & (uint64_t)(slots - 1); slot[at]; at = (at + 1) & (uint64_t)(slots - 1))
        if (slot[at] == index + 1) return 0;
    slot[at] = index + 1;
    return 1;
}

/* The range of a function that is a message, by its scan. Its weight is the message's own spread, so that mini-buckets
 * are those of a handle with the whole model. */
static gpuopt_status gpuopt__elimination_packed_range(const gpuopt_context *context, const char *call,
                                                      const gpuopt_elimination_desc *d, int32_t number,
                                                      gpuopt__elimination_function_range *range) {
    const gpuopt__elimination_packed *p = gpuopt__elimination_packed_of(&d->function[number]);
    const gpuopt__elimination_scan *s = &p->scan;
    if (s->bad)
        return gpuopt__elimination_function_fault(context, call, number, -1, "a message's value is NaN or infinite");
    range->weight = p->spread;
    if (s->least > s->largest) return GPUOPT_OK;
    if (d->type == GPUOPT_COST_DOUBLE) {
        const double low = gpuopt__elimination_value_of_key(s->least),
                     high = gpuopt__elimination_value_of_key(s->largest);
        range->size = gpuopt__max(fabs(low), fabs(high));
    } else {
        range->least = (int64_t)((uint64_t)p->offset + s->least);
        range->spread = s->largest - s->least;
    }
    return GPUOPT_OK;
}

/* The range of a function so far, as its entries are read one by one. */
typedef struct gpuopt__elimination_entry_range {
    int any; /* not 0: there was a finite cost */
    int64_t least, largest;
    double low, high, size;
} gpuopt__elimination_entry_range;

static void gpuopt__elimination_take_value(gpuopt__elimination_entry_range *r, double value) {
    if (value == HUGE_VAL || value == -HUGE_VAL) return;
    r->size = gpuopt__max(r->size, fabs(value));
    r->low = gpuopt__min(r->low, value);
    r->high = gpuopt__max(r->high, value);
}

static gpuopt_status gpuopt__elimination_take_cost(const gpuopt_context *context, const char *call,
                                                   const gpuopt_elimination_desc *d, int64_t cost,
                                                   gpuopt__elimination_entry_range *r) {
    const int64_t inner = gpuopt__elimination_inner_cost(d, cost);
    if (inner == INT64_MAX) { /* forbidden; or, with MAX_SUM, a cost with the forbidden one as its negation */
        if (cost == -INT64_MAX && d->top == 0)
            return gpuopt__refuse(context, GPUOPT_ERROR_NUMERIC, call,
                                  "the sum of the largest costs does not fit 63 bits");
        return GPUOPT_OK;
    }
    if (!r->any || inner < r->least) r->least = inner;
    if (!r->any || inner > r->largest) r->largest = inner;
    r->any = 1;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__elimination_take_entry(const gpuopt_context *context, const char *call,
                                                    const gpuopt_elimination_desc *d, int32_t number, int64_t k,
                                                    gpuopt__elimination_entry_range *r) { /* k -1: the default */
    const gpuopt_elimination_function *f = &d->function[number];
    if (d->type != GPUOPT_COST_DOUBLE)
        return gpuopt__elimination_take_cost(context, call, d, k < 0 ? f->default_cost : f->cost[k], r);
    if (gpuopt__elimination_bad_value(d, k < 0 ? f->default_value : f->value[k]))
        return gpuopt__elimination_function_fault(
            context, call, number, k, k < 0 ? "the default value is NaN or infinite" : "the value is NaN or infinite");
    gpuopt__elimination_take_value(r, k < 0 ? f->default_value : f->value[k]);
    return GPUOPT_OK;
}

/* slot: for the largest list. A list is never written out, since its table may be far larger. */
static gpuopt_status gpuopt__elimination_function_range_of(const gpuopt_context *context, const char *call,
                                                           const gpuopt_elimination_desc *d, int32_t number,
                                                           int64_t *slot, gpuopt__elimination_function_range *range) {
    const gpuopt_elimination_function *f = &d->function[number];
    const int64_t entries = gpuopt__elimination_scope_entries(d->domain, f->arity, f->scope),
                  slots = gpuopt__elimination_list_slots(f->tuples);
    const int dense = gpuopt__elimination_is_dense(f);
    const int64_t count = dense ? entries : f->tuples;
    gpuopt__elimination_entry_range r = {0, 0, 0, HUGE_VAL, -HUGE_VAL, 0};
    gpuopt_status status = GPUOPT_OK;
    int64_t i, k, distinct = 0;
    memset(range, 0, sizeof *range);
    if (gpuopt__elimination_packed_of(f)) return gpuopt__elimination_packed_range(context, call, d, number, range);
    for (k = 0; k < f->tuples && d->type == GPUOPT_COST_DOUBLE; k++) /* including tuples that do not count */
        if (gpuopt__elimination_bad_value(d, f->value[k]))
            return gpuopt__elimination_function_fault(context, call, number, k, "the value is NaN or infinite");
    if (f->tuples > 0) memset(slot, 0, sizeof *slot * (size_t)slots);
    for (i = 0; i < count && !status; i++) {
        k = dense ? i : count - 1 - i;
        if (!dense && !gpuopt__elimination_tuple_counts(slot, slots, gpuopt__elimination_tuple_index(d, f, k)))
            continue;
        distinct++;
        status = gpuopt__elimination_take_entry(context, call, d, number, k, &r);
    }
    if (!status && distinct < entries) status = gpuopt__elimination_take_entry(context, call, d, number, -1, &r);
    if (status) return status;
    if (d->type == GPUOPT_COST_DOUBLE) {
        range->size = r.size;
        range->weight = r.low < r.high && d->semiring != GPUOPT_SEMIRING_LOG_SUM_EXP ? r.high - r.low : 0;
    } else {
        range->least = r.least;
        range->spread = r.any ? (uint64_t)r.largest - (uint64_t)r.least : 0;
        range->weight = (double)range->spread;
    }
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_ELIMINATION_PLAN_CHECK_H */
