/* SPDX-License-Identifier: MIT
 *
 * Elimination: the public calls that order, plan, create and destroy. They check the arguments for every backend, so a
 * backend only sees valid arguments.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_API_CREATE_H
#define GPUOPT_IMPL_ELIMINATION_API_CREATE_H

#include "../plan/policies.h"
#include "../ranks/share.h"
#include "steps.h"
#include "../../common/bytes.h"

/* ---- Plans ---- */

/* Finds parent [variables], as gpuopt_elimination_order returns it. */
static gpuopt_status gpuopt__elimination_find_parents(gpuopt__elimination_preparation *prep, const char *call,
                                                      int32_t *parent) {
    const gpuopt__elimination_draft *draft = &prep->draft;
    gpuopt_status status = gpuopt__elimination_draft_run(&prep->draft, 0);
    int32_t k;
    if (!status && draft->gave_up)
        status = gpuopt__refuse(prep->scratch.context, GPUOPT_ERROR_UNSUPPORTED, call,
                                "the elimination tree is too wide to find parents");
    for (k = 0; k < prep->desc.variables; k++) parent[k] = -1;
    for (k = 0; !status && k < (int32_t)draft->bucket.count; k++) {
        const gpuopt__elimination_bucket *b = (gpuopt__elimination_bucket *)draft->bucket.data + k;
        int32_t to = gpuopt__elimination_draft_table(draft, b->message)->bucket;
        if (b->variable >= 0 && to < draft->plan.steps) parent[b->variable] = prep->order[to];
    }
    return status;
}

static gpuopt_status gpuopt__elimination_order(gpuopt_context *context, const char *call,
                                               const gpuopt_elimination_desc *desc, int32_t *order, int32_t *parent,
                                               gpuopt_elimination_estimate *estimate) {
    gpuopt__elimination_preparation prep;
    gpuopt__elimination_share share;
    gpuopt_elimination_estimate e;
    gpuopt_status status, fault = GPUOPT_OK;
    int32_t *found = NULL, variables = 0, steps = 0, k;
    void *memory = NULL;
    memset(&e, 0, sizeof e);
    if (estimate && !GPUOPT__HAS_SIZE(context, call, gpuopt_elimination_estimate, estimate))
        fault = GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__elimination_begin_share(context, call, desc, fault, &prep, &share);
    if (!status) { /* a separate copy, since slicing changes the order; not counted, since _plan makes the estimate */
        variables = prep.desc.variables;
        steps = prep.draft.plan.steps;
        status = gpuopt__allocate(context, GPUOPT_HOST, 2 * sizeof(int32_t) * (uint64_t)variables + 1, &memory);
        found = (int32_t *)memory;
    }
    for (k = 0; !status && k < variables; k++) found[k] = k < steps ? prep.order[k] : -1;
    if (!status && estimate) status = gpuopt__elimination_plan_share(&prep, call, &share, &e);
    if (!status && parent) {
        gpuopt__elimination_unslice(&prep, found, steps);
        status = gpuopt__elimination_find_parents(&prep, call, found + variables);
    }
    status = gpuopt__elimination_share_end(context, call, &prep, &share, status);
    if (estimate) gpuopt__give(status, estimate, &e, sizeof e);
    if (!status && order && variables) memcpy(order, found, sizeof(int32_t) * (size_t)variables);
    if (!status && parent && variables) memcpy(parent, found + variables, sizeof(int32_t) * (size_t)variables);
    gpuopt__release(context, GPUOPT_HOST, memory);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_elimination_order(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                                  int32_t *order, int32_t *parent,
                                                  gpuopt_elimination_estimate *estimate) {
    GPUOPT__CALL(context, context, gpuopt__elimination_order(context, call, desc, order, parent, estimate));
}

/* All ranks of a group plan together. */
static gpuopt_status gpuopt__elimination_write_plan(gpuopt_context *context, const char *call,
                                                    const gpuopt_elimination_desc *desc, gpuopt_memory_plan *plan) {
    gpuopt__elimination_preparation prep;
    gpuopt__elimination_share share;
    gpuopt_elimination_estimate e;
    gpuopt_status status, fault = GPUOPT_OK;
    memset(&e, 0, sizeof e);
    if (!GPUOPT__HAS_SIZE(context, call, gpuopt_memory_plan, plan)) fault = GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__elimination_begin_share(context, call, desc, fault, &prep, &share);
    if (!status) status = gpuopt__elimination_plan_share(&prep, call, &share, &e);
    status = gpuopt__elimination_share_end(context, call, &prep, &share, status);
    return gpuopt__give(status, plan, &e.memory, sizeof e.memory);
}

/* ---- Loading ---- */

/* Writes one cost into a stored table. */
static void gpuopt__elimination_store_cost(const gpuopt__elimination_plan *plan, const gpuopt__elimination_table *t,
                                           void *cost, int64_t to, int64_t inner) {
    uint64_t u = inner == INT64_MAX ? plan->forbidden : (uint64_t)inner - (uint64_t)t->offset;
    if (u > plan->forbidden) u = plan->forbidden;
    if (plan->bits == 8) ((uint8_t *)cost)[to] = (uint8_t)u;
    else if (plan->bits == 16) ((uint16_t *)cost)[to] = (uint16_t)u;
    else if (plan->bits == 32) ((uint32_t *)cost)[to] = (uint32_t)u;
    else ((uint64_t *)cost)[to] = u;
}

/* A list of tuples: the default everywhere, then the tuples. */
static void gpuopt__elimination_store_list(const gpuopt_elimination_desc *d, const gpuopt__elimination_plan *plan,
                                           const gpuopt__elimination_table *t, void *cost) {
    const gpuopt_elimination_function *f = &d->function[t->function];
    const int32_t *scope = plan->scope + t->scope;
    const int doubles = d->type == GPUOPT_COST_DOUBLE;
    const int64_t inner = doubles ? 0 : gpuopt__elimination_inner_cost(d, f->default_cost);
    const double value = doubles ? gpuopt__elimination_inner_value(d, f->default_value) : 0;
    int64_t i, to;
    int32_t j, k;
    for (i = 0; i < t->entries; i++) {
        if (doubles) ((double *)cost)[i] = value;
        else gpuopt__elimination_store_cost(plan, t, cost, i, inner);
    }
    for (i = 0; i < f->tuples; i++) {
        for (j = 0, to = 0; j < f->arity; j++) {
            if (plan->domain[f->scope[j]] == 1) continue;
            for (k = 0; scope[k] != f->scope[j]; k++) {}
            to += plan->stride[t->scope + k] * f->tuple[i * f->arity + j];
        }
        if (doubles) ((double *)cost)[to] = gpuopt__elimination_inner_value(d, f->value[i]);
        else gpuopt__elimination_store_cost(plan, t, cost, to, gpuopt__elimination_inner_cost(d, f->cost[i]));
    }
}

/* Writes a function's table in the order and the width in which it is stored. */
static void gpuopt__elimination_store_function(const gpuopt_elimination_desc *d, const gpuopt__elimination_plan *plan,
                                               const gpuopt__elimination_table *t, void *cost, uint64_t *count) {
    const gpuopt_elimination_function *f = &d->function[t->function];
    const gpuopt__elimination_packed *packed = gpuopt__elimination_packed_of(f);
    const int doubles = d->type == GPUOPT_COST_DOUBLE;
    const int32_t *scope = plan->scope + t->scope;
    const int64_t *stride = plan->stride + t->scope;
    int32_t digit[GPUOPT__ELIMINATION_MOST_DIGITS], other[GPUOPT__ELIMINATION_MOST_DIGITS], j, k, free_digits = 0;
    int64_t step[GPUOPT__ELIMINATION_MOST_DIGITS], to = 0, i;
    if (!packed && !gpuopt__elimination_is_dense(f)) {
        gpuopt__elimination_store_list(d, plan, t, cost);
        return;
    }
    for (j = 0; j < f->arity; j++) { /* digits of the caller's table, without variables of one value */
        if (plan->domain[f->scope[j]] == 1) continue;
        for (k = 0; scope[k] != f->scope[j]; k++) {}
        other[free_digits] = plan->domain[f->scope[j]];
        step[free_digits] = stride[k];
        digit[free_digits++] = 0;
    }
    for (i = 0; i < t->entries; i++) {
        if (doubles)
            ((double *)cost)[to] =
                gpuopt__elimination_inner_value(d, packed ? gpuopt__elimination_packed_value(packed, i) : f->value[i]);
        else
            gpuopt__elimination_store_cost(plan, t, cost, to,
                                           packed ? gpuopt__elimination_packed_cost(packed, i)
                                                  : gpuopt__elimination_inner_cost(d, f->cost[i]));
        if (count) count[to] = packed ? gpuopt__elimination_packed_count(packed, i) : f->count[i];
        for (j = free_digits - 1; j >= 0; j--) {
            to += step[j];
            if (++digit[j] < other[j]) break;
            to -= step[j] * other[j];
            digit[j] = 0;
        }
    }
}

/* The hash of a model, apart from its functions' tables. */
static uint64_t gpuopt__elimination_hash_model(const gpuopt_elimination_desc *d, const gpuopt__elimination_plan *plan) {
    const int64_t head[] = {plan->type, plan->semiring,       d->top, plan->variables, plan->steps,
                            plan->z,    plan->host_conditions};
    uint64_t hash = GPUOPT__HASH_START;
    size_t i;
    int32_t k;
    for (i = 0; i < sizeof head / sizeof *head; i++) hash = gpuopt__hash_number(hash, (uint64_t)head[i]);
    for (k = 0; k < plan->variables; k++) hash = gpuopt__hash_number(hash, (uint64_t)plan->domain[k]);
    for (k = 0; k < plan->steps; k++) hash = gpuopt__hash_number(hash, (uint64_t)plan->order[k]);
    for (k = 0; k < plan->host_conditions; k++) hash = gpuopt__hash_number(hash, (uint64_t)plan->condition[k]);
    for (k = 0; k < d->functions; k++) {
        int64_t cost = 0;
        double value = 0;
        if (d->function[k].arity > 0) continue;
        if (d->type == GPUOPT_COST_DOUBLE) {
            value = *gpuopt__elimination_dense_values(d, &d->function[k], 1, &value);
            memcpy(&cost, &value, sizeof cost);
        } else cost = *gpuopt__elimination_dense_costs(d, &d->function[k], 1, &cost);
        hash = gpuopt__hash_number(hash, (uint64_t)cost);
        if (d->function[k].count) hash = gpuopt__hash_number(hash, d->function[k].count[0]);
    }
    return hash;
}

/* Adds a function's stored table. */
static uint64_t gpuopt__elimination_hash_table(uint64_t hash, const gpuopt__elimination_plan *plan,
                                               const gpuopt__elimination_table *t, const void *cost,
                                               const uint64_t *count) {
    int64_t k;
    hash = gpuopt__hash_number(hash, (uint64_t)t->offset);
    for (k = 0; k < t->arity; k++) hash = gpuopt__hash_number(hash, (uint64_t)plan->scope[t->scope + k]);
    for (k = 0; k < t->entries; k++) {
        uint64_t stored;
        if (plan->type == GPUOPT_COST_DOUBLE) memcpy(&stored, (const double *)cost + k, sizeof stored);
        else stored = gpuopt__elimination_stored_cost(cost, plan->bits, k);
        hash = gpuopt__hash_number(hash, stored);
    }
    for (k = 0; count && k < t->entries; k++) hash = gpuopt__hash_number(hash, count[k]);
    return hash;
}

/* A function that is a message in device memory. */
static gpuopt_status gpuopt__elimination_load_device(gpuopt_elimination *e, const gpuopt_elimination_function *f,
                                                     int32_t table) {
    return gpuopt__elimination_backend_of(e)->unpack(e, table, f, gpuopt__elimination_packed_of(f));
}

static gpuopt_status gpuopt__elimination_load_functions(gpuopt_elimination *e, gpuopt__elimination_preparation *prep) {
    const struct gpuopt__elimination_backend *backend = gpuopt__elimination_backend_of(e);
    uint64_t sizes[2];
    void *buffer[2] = {NULL, NULL};
    gpuopt_status status = GPUOPT_OK;
    int32_t k;
    gpuopt__elimination_load_sizes(e->context, &prep->draft, sizes);
    for (k = 0; k < 2; k++) buffer[k] = gpuopt__elimination_scratch_take(&prep->scratch, sizes[k]);
    status = prep->scratch.status;
    e->model = prep->desc.messages->model;
    if (!prep->desc.messages->model) e->model = gpuopt__elimination_hash_model(&prep->desc, &e->plan);
    for (k = 0; k < e->plan.first_device && !status; k++) {
        const gpuopt__elimination_table *t = &e->plan.table[k];
        uint64_t *count = t->count_at < 0 ? NULL : (uint64_t *)buffer[1];
        void *cost = backend->place ? backend->place(e, k, &count) : buffer[0];
        gpuopt__elimination_store_function(&prep->desc, &e->plan, t, cost, count);
        if (!prep->desc.messages->model) e->model = gpuopt__elimination_hash_table(e->model, &e->plan, t, cost, count);
        if (!backend->place) status = backend->load(e, k, cost, count);
    }
    if (e->model == 0) e->model = 1;
    if (!status) status = backend->loaded(e);
    for (k = e->plan.first_device; k < e->plan.first_message && !status; k++)
        status = gpuopt__elimination_load_device(e, &prep->desc.function[e->plan.table[k].function], k);
    for (k = 0; k < 2; k++) gpuopt__elimination_scratch_give(&prep->scratch, buffer[k], sizes[k]);
    return status;
}

/* ---- Life ---- */

static void gpuopt__elimination_release(gpuopt_elimination *e) {
    gpuopt_context *context = e->context;
    void *block = e->block;
    gpuopt__elimination_backend_of(e)->destroy(e);
    gpuopt__release(context, GPUOPT_HOST, block);
}

GPUOPT_API void gpuopt_elimination_destroy(gpuopt_elimination *elimination) {
    GPUOPT__CALL_DESTROYS(gpuopt_elimination, elimination, elimination->context,
                          gpuopt__elimination_release(elimination));
}

static gpuopt_status gpuopt__elimination_build(gpuopt_context *context, gpuopt__elimination_preparation *prep,
                                               const gpuopt__elimination_share *share,
                                               gpuopt_elimination **elimination) {
    gpuopt__elimination_plan plan;
    gpuopt_elimination *e = NULL;
    void *block;
    int32_t k;
    gpuopt_status status = gpuopt__allocate(context, GPUOPT_HOST, gpuopt__elimination_plan_bytes(&prep->draft), &block);
    if (status) return status;
    gpuopt__elimination_copy_plan(&prep->draft, prep->condition, block, &plan);
    status = context->desc.backend->elimination->create(context, &plan, &e);
    if (status) {
        gpuopt__release(context, GPUOPT_HOST, block);
        return status;
    }
    e->context = context;
    e->plan = plan;
    e->block = block;
    e->done = 0;
    e->held = e->paused = e->assigning = -1;
    e->pass = e->repeated = 0;
    e->variable = -1;
    e->exact = 1;
    gpuopt__elimination_share_install(share, e);
    for (k = 0; k < plan.buckets; k++) e->exact &= plan.bucket[k].part == 0;
    for (k = 0; k < plan.copies; k++) gpuopt__elimination_set_offsets(&e->plan, k, e->plan.value_of);
    status = gpuopt__elimination_load_functions(e, prep);
    if (!status) status = context->desc.backend->elimination->condition(e, plan.offset);
    if (status) gpuopt__elimination_release(e);
    else *elimination = e;
    return status;
}

static gpuopt_status gpuopt__elimination_create_handle(gpuopt_context *context, const char *call,
                                                       const gpuopt_elimination_desc *desc,
                                                       gpuopt_elimination **elimination) {
    gpuopt__elimination_preparation prep;
    gpuopt__elimination_share share;
    gpuopt_elimination_estimate e;
    gpuopt_status status, fault = GPUOPT_OK;
    if (!elimination) fault = gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "elimination and plan are NULL");
    status = gpuopt__elimination_begin_share(context, call, desc, fault, &prep, &share);
    if (!status) status = gpuopt__elimination_make_plan(&prep, call, &e);
    if (!status) status = gpuopt__elimination_build(context, &prep, &share, elimination);
    status = gpuopt__elimination_share_end(context, call, &prep, &share, status);
    if (status && elimination && *elimination) {
        gpuopt__elimination_release(*elimination);
        *elimination = NULL;
    }
    return status;
}

static gpuopt_status gpuopt__elimination_create(gpuopt_context *context, const char *call,
                                                const gpuopt_elimination_desc *desc, gpuopt_memory_plan *plan,
                                                gpuopt_elimination **elimination) {
    gpuopt_status status = plan ? gpuopt__elimination_write_plan(context, call, desc, plan) : GPUOPT_OK;
    return status || (plan && !elimination) ? status
                                            : gpuopt__elimination_create_handle(context, call, desc, elimination);
}

GPUOPT_API gpuopt_status gpuopt_elimination_create(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                                   gpuopt_memory_plan *plan, gpuopt_elimination **elimination) {
    GPUOPT__CALL_MAKES(gpuopt_elimination, context, context, elimination,
                       gpuopt__elimination_create(context, call, desc, plan, elimination));
}

#endif /* GPUOPT_IMPL_ELIMINATION_API_CREATE_H */
