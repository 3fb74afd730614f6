/* SPDX-License-Identifier: MIT
 *
 * Multiple-choice knapsacks: the public calls.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_CALLS_H
#define GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_CALLS_H

#include "prepare.h"
#include "recover.h"

/* ---- Descriptors ---- */

static gpuopt_status gpuopt__knapsack_choice_check_numbers(const gpuopt_context *context, const char *call,
                                                           const gpuopt_knapsack_multiple_choice_desc *d,
                                                           int64_t *most) {
    const int64_t items = d->classes > 0 ? d->begin[d->classes] : 0;
    int64_t j;
    int32_t c;
    *most = 1;
    if (d->capacity < 0) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "capacity is negative");
    if (d->classes > 0 && d->begin[0] != 0)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "begin[0] is not 0");
    for (c = 0; c < d->classes; c++) {
        if (d->begin[c + 1] < d->begin[c] || d->begin[c + 1] > GPUOPT__KNAPSACK_CHOICE_ITEMS) {
            gpuopt__log(context, 0, "%s: begin[%d] is less than the one before, or more than %lld", call, (int)c + 1,
                        (long long)GPUOPT__KNAPSACK_CHOICE_ITEMS);
            return GPUOPT_ERROR_ARGUMENT;
        }
        if (d->begin[c + 1] - d->begin[c] + 1 > *most) *most = d->begin[c + 1] - d->begin[c] + 1;
    }
    if (items > 0 && (!d->weight || !d->profit))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "weight or profit is NULL");
    for (j = 0; j < items; j++)
        if (d->weight[j] < 0) {
            gpuopt__log(context, 0, "%s: the weight of item %lld is negative", call, (long long)j);
            return GPUOPT_ERROR_ARGUMENT;
        }
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__knapsack_choice_check(const gpuopt_context *context, const char *call,
                                                   const gpuopt_knapsack_multiple_choice_desc *desc,
                                                   gpuopt_knapsack_multiple_choice_desc *d, int64_t *most) {
    gpuopt_status status;
    memset(d, 0, sizeof *d);
    if (!desc) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "desc is NULL");
    status = GPUOPT__CHECK_STRUCT(context, call, context->desc.backend->knapsack, gpuopt_knapsack_multiple_choice_desc,
                                  desc, d);
    if (!status) {
        const gpuopt__range range[] = {
            {"classes", (double)d->classes, 1, GPUOPT__KNAPSACK_CHOICE_CLASSES},
            {"states", (double)d->states, 1, (double)GPUOPT__KNAPSACK_CHOICE_STATES},
            {"state_limit", (double)d->state_limit, 1, (double)INT64_MAX},
        };
        status = gpuopt__check_ranges(context, call, range, sizeof range / sizeof *range);
    }
    if (status) return status;
    if (d->classes > 0 && !d->begin) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "begin is NULL");
    return gpuopt__knapsack_choice_check_numbers(context, call, d, most);
}

static int64_t gpuopt__knapsack_choice_items(const gpuopt_knapsack_multiple_choice_desc *d) {
    return d->classes > 0 ? d->begin[d->classes] : 0;
}

static int64_t gpuopt__knapsack_choice_limit(const gpuopt_knapsack_multiple_choice_desc *d) {
    return d->states > 0 ? d->states : (int64_t)GPUOPT__KNAPSACK_CHOICE_FIRST;
}

static uint64_t gpuopt__knapsack_choice_cut(const gpuopt_knapsack_multiple_choice_desc *d, int64_t most, void *memory,
                                            gpuopt_knapsack_multiple_choice *k) {
    const int64_t n = gpuopt__knapsack_choice_items(d), m = d->classes;
    gpuopt__arena arena;
    arena.base = (char *)memory;
    arena.used = 0;
    gpuopt__cut(&arena, 1, sizeof *k);
    k->begin = (int64_t *)gpuopt__cut(&arena, m + 1, sizeof(int64_t));
    k->weight = (int64_t *)gpuopt__cut(&arena, n, sizeof(int64_t));
    k->profit = (int64_t *)gpuopt__cut(&arena, n, sizeof(int64_t));
    k->item = (gpuopt__knapsack_choice_item *)gpuopt__cut(&arena, n + m, sizeof *k->item);
    k->step = (gpuopt__knapsack_choice_item *)gpuopt__cut(&arena, n, sizeof *k->step);
    k->option = (gpuopt__knapsack_choice_option *)gpuopt__cut(&arena, most, sizeof *k->option);
    k->first = (int32_t *)gpuopt__cut(&arena, m + 1, sizeof(int32_t));
    k->at = (int32_t *)gpuopt__cut(&arena, m, sizeof(int32_t));
    k->step_from = (int32_t *)gpuopt__cut(&arena, n, sizeof(int32_t));
    k->head = (int32_t *)gpuopt__cut(&arena, m, sizeof(int32_t));
    k->same = (int32_t *)gpuopt__cut(&arena, n + 1, sizeof(int32_t));
    k->next = (int32_t *)gpuopt__cut(&arena, n + 3, sizeof(int32_t));
    k->previous = (int32_t *)gpuopt__cut(&arena, n + 3, sizeof(int32_t));
    k->order = (int32_t *)gpuopt__cut(&arena, m, sizeof(int32_t));
    k->chosen = (int32_t *)gpuopt__cut(&arena, m, sizeof(int32_t));
    k->trial = (int32_t *)gpuopt__cut(&arena, m, sizeof(int32_t));
    k->bits = (uint8_t *)gpuopt__cut(&arena, m, 1);
    k->pass_bits = (uint8_t *)gpuopt__cut(&arena, m, 1);
    return arena.used;
}

/* The memory that only _create needs, for sorting. */
static uint64_t gpuopt__knapsack_choice_draft(const gpuopt_knapsack_multiple_choice_desc *d) {
    return sizeof(gpuopt__knapsack_choice_item) * (uint64_t)(gpuopt__knapsack_choice_items(d) + d->classes + 1);
}

/* ---- Life ---- */

static gpuopt_status gpuopt__knapsack_choice_write_plan(gpuopt_context *context, const char *call,
                                                        const gpuopt_knapsack_multiple_choice_desc *desc,
                                                        gpuopt_memory_plan *plan) {
    gpuopt_knapsack_multiple_choice_desc d;
    gpuopt_knapsack_multiple_choice draft;
    int64_t most;
    uint64_t peak;
    gpuopt_status status;
    status = gpuopt__knapsack_choice_check(context, call, desc, &d, &most);
    if (status) return status;
    plan->host_bytes = gpuopt__knapsack_choice_cut(&d, most, NULL, &draft);
    peak = plan->host_bytes + gpuopt__knapsack_choice_draft(&d);
    gpuopt__knapsack_choice_lists_plan(context, gpuopt__knapsack_choice_limit(&d), most, plan);
    if (peak > plan->host_bytes) plan->create_bytes = peak - plan->host_bytes; /* the lists come after the draft */
    return GPUOPT_OK;
}

static void gpuopt__knapsack_choice_release(gpuopt_knapsack_multiple_choice *k) {
    gpuopt__knapsack_choice_lists_destroy(k);
    gpuopt__release(k->context, GPUOPT_HOST, k);
}

GPUOPT_API void gpuopt_knapsack_multiple_choice_destroy(gpuopt_knapsack_multiple_choice *knapsack) {
    GPUOPT__CALL_DESTROYS(gpuopt_knapsack_multiple_choice, knapsack, knapsack->context,
                          gpuopt__knapsack_choice_release(knapsack));
}

static void gpuopt__knapsack_choice_copy(gpuopt_knapsack_multiple_choice *k,
                                         const gpuopt_knapsack_multiple_choice_desc *d) {
    const size_t items = (size_t)gpuopt__knapsack_choice_items(d);
    if (d->classes > 0) memcpy(k->begin, d->begin, sizeof *k->begin * ((size_t)d->classes + 1));
    if (items > 0) {
        memcpy(k->weight, d->weight, sizeof *k->weight * items);
        memcpy(k->profit, d->profit, sizeof *k->profit * items);
    }
    k->desc.begin = k->begin;
    k->desc.weight = k->weight;
    k->desc.profit = k->profit;
}

/* Prepares the search, with temporary memory. */
static gpuopt_status gpuopt__knapsack_choice_start(gpuopt_knapsack_multiple_choice *k, const char *call) {
    void *memory;
    gpuopt_status status = gpuopt__allocate(k->context, GPUOPT_HOST, gpuopt__knapsack_choice_draft(&k->desc), &memory);
    if (status) return status;
    status = gpuopt__knapsack_choice_prepare(k, call, (gpuopt__knapsack_choice_item *)memory);
    gpuopt__release(k->context, GPUOPT_HOST, memory);
    if (status) return status;
    gpuopt__knapsack_choice_link(k);
    gpuopt__log(k->context, 2, "%s: %d classes to decide, of %d; %d steps", call, (int)k->levels, (int)k->desc.classes,
                (int)k->steps);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__knapsack_choice_create_handle(gpuopt_context *context, const char *call,
                                                           const gpuopt_knapsack_multiple_choice_desc *desc,
                                                           gpuopt_knapsack_multiple_choice **knapsack) {
    const gpuopt__knapsack_choice_state root = {0, 0, 0};
    gpuopt_knapsack_multiple_choice_desc d;
    gpuopt_knapsack_multiple_choice *k, measure;
    gpuopt_status status;
    int64_t most;
    uint64_t bytes;
    void *memory;
    if (!knapsack) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "knapsack and plan are NULL");
    status = gpuopt__knapsack_choice_check(context, call, desc, &d, &most);
    if (status) return status;
    bytes = gpuopt__knapsack_choice_cut(&d, most, NULL, &measure);
    status = gpuopt__allocate(context, GPUOPT_HOST, bytes, &memory);
    if (status) return status;
    k = (gpuopt_knapsack_multiple_choice *)memory;
    memset(k, 0, sizeof *k);
    gpuopt__knapsack_choice_cut(&d, most, memory, k);
    k->context = context;
    k->desc = d;
    k->most = most;
    k->limit = k->grows_to = gpuopt__knapsack_choice_limit(&d);
    if (d.states == 0) k->grows_to = GPUOPT__KNAPSACK_CHOICE_MOST;
    k->count = k->peak = 1;
    gpuopt__knapsack_choice_copy(k, &d);
    status = gpuopt__knapsack_choice_start(k, call);
    if (!status) status = gpuopt__knapsack_choice_lists_create(k);
    if (status) {
        gpuopt__knapsack_choice_release(k);
        return status;
    }
    gpuopt__knapsack_choice_lists_put(k, k->list, &root);
    *knapsack = k;
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_multiple_choice_create(gpuopt_context *context,
                                                                const gpuopt_knapsack_multiple_choice_desc *desc,
                                                                gpuopt_memory_plan *plan,
                                                                gpuopt_knapsack_multiple_choice **knapsack) {
    GPUOPT__CALL_CREATES(gpuopt_knapsack_multiple_choice, context, context, plan,
                         gpuopt__knapsack_choice_write_plan(context, call, desc, &planned), knapsack,
                         gpuopt__knapsack_choice_create_handle(context, call, desc, knapsack));
}

/* ---- The search ---- */

static int64_t gpuopt__knapsack_choice_outside(const gpuopt_knapsack_multiple_choice *k, int64_t profit) {
    return k->base + (k->break_profit + profit) * k->unit;
}

static void gpuopt__knapsack_choice_report(const gpuopt_knapsack_multiple_choice *k,
                                           gpuopt_knapsack_multiple_choice_info *info) {
    info->outcome = k->infeasible                         ? GPUOPT_INFEASIBLE
                    : k->over                             ? GPUOPT_OPTIMAL
                    : k->full                             ? GPUOPT_FULL
                    : gpuopt__knapsack_choice_at_limit(k) ? GPUOPT_LIMIT
                                                          : GPUOPT_MORE;
    info->level = k->level;
    info->levels = k->levels;
    info->expanded = k->expanded;
    info->steps = k->made;
    info->alive = k->over ? 0 : k->count;
    info->peak = k->peak;
    info->states = k->limit;
    info->primal_bound = gpuopt__knapsack_choice_outside(k, k->lower);
    info->dual_bound = gpuopt__knapsack_choice_outside(k, k->upper);
}

static gpuopt_status gpuopt__knapsack_multiple_choice_run(gpuopt_knapsack_multiple_choice *k, const char *call,
                                                          int64_t states, int32_t steps,
                                                          gpuopt_knapsack_multiple_choice_info *info) {
    int64_t most = INT64_MAX;
    gpuopt_status status;
    if (states < 0 || steps < 0)
        return gpuopt__refuse(k->context, GPUOPT_ERROR_ARGUMENT, call, "states or steps is negative");
    if (states > 0 && states < INT64_MAX - k->expanded) most = k->expanded + states;
    if (k->desc.state_limit > 0 && k->desc.state_limit < most) most = k->desc.state_limit;
    status = gpuopt__knapsack_choice_search(k, most, steps > 0 ? k->made + steps : INT64_MAX);
    if (!status && info) gpuopt__knapsack_choice_report(k, info);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_multiple_choice_run(gpuopt_knapsack_multiple_choice *knapsack, int64_t states,
                                                             int32_t steps,
                                                             gpuopt_knapsack_multiple_choice_info *info) {
    GPUOPT__CALL_MAY_FILL(knapsack, knapsack->context, gpuopt_knapsack_multiple_choice_info, info,
                          gpuopt__knapsack_multiple_choice_run(knapsack, call, states, steps, filled));
}

GPUOPT_API gpuopt_status gpuopt_knapsack_multiple_choice_get_info(gpuopt_knapsack_multiple_choice *knapsack,
                                                                  gpuopt_knapsack_multiple_choice_info *info) {
    GPUOPT__CALL_FILLS(knapsack, knapsack->context, gpuopt_knapsack_multiple_choice_info, info,
                       (gpuopt__knapsack_choice_report(knapsack, &filled), GPUOPT_OK));
}

/* ---- Solutions ---- */

/* Whether these are items of their classes that fit together; *profit: their profit. */
static gpuopt_status gpuopt__knapsack_choice_weigh(const gpuopt_knapsack_multiple_choice *k, const char *call,
                                                   const int32_t *chosen, int64_t *profit) {
    int64_t left = k->desc.capacity;
    int32_t c;
    *profit = 0;
    for (c = 0; c < k->desc.classes; c++) {
        const int32_t j = chosen[c];
        if (!(j == -1 && k->desc.at_most_one) && (j < k->begin[c] || j >= k->begin[c + 1])) {
            gpuopt__log(k->context, 0, "%s: chosen[%d] = %d is not an item of that class", call, (int)c, (int)j);
            return GPUOPT_ERROR_ARGUMENT;
        }
        if (gpuopt__knapsack_choice_weight(k, j) > left)
            return gpuopt__refuse(k->context, GPUOPT_ERROR_ARGUMENT, call, "the items are too heavy");
        left -= gpuopt__knapsack_choice_weight(k, j);
        *profit += gpuopt__knapsack_choice_profit(k, j);
    }
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__knapsack_multiple_choice_set_incumbent(gpuopt_knapsack_multiple_choice *k,
                                                                    const char *call, gpuopt_memory_space where,
                                                                    const int32_t *chosen) {
    const uint64_t bytes = sizeof *k->trial * (uint64_t)k->desc.classes;
    const void *found = NULL;
    int64_t profit;
    gpuopt_status status = gpuopt__check_where(k->context, call, where);
    if (!status && !chosen) return gpuopt__refuse(k->context, GPUOPT_ERROR_ARGUMENT, call, "chosen is NULL");
    if (!status) status = gpuopt__fetch(k->context, where, chosen, bytes, k->trial, &found);
    if (!status) status = gpuopt__knapsack_choice_weigh(k, call, (const int32_t *)found, &profit);
    if (status) return status;
    profit = (profit - k->base) / k->unit - k->break_profit;
    if (profit <= k->lower) return GPUOPT_OK;
    memcpy(k->chosen, found, (size_t)bytes);
    k->lower = k->known = profit;
    if (k->lower >= k->upper) k->over = 1;
    if (k->over) k->upper = k->lower;
    k->table.goal = k->lower + 1;
    k->full = 0;
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_multiple_choice_set_incumbent(gpuopt_knapsack_multiple_choice *knapsack,
                                                                       gpuopt_memory_space where,
                                                                       const int32_t *chosen) {
    GPUOPT__CALL(knapsack, knapsack->context,
                 gpuopt__knapsack_multiple_choice_set_incumbent(knapsack, call, where, chosen));
}

static gpuopt_status gpuopt__knapsack_multiple_choice_get_items(gpuopt_knapsack_multiple_choice *k, const char *call,
                                                                gpuopt_memory_space where, int32_t *chosen,
                                                                int64_t *profit) {
    gpuopt_status status = gpuopt__check_where(k->context, call, where);
    if (!status && k->infeasible) return gpuopt__refuse(k->context, GPUOPT_ERROR_STATE, call, "there is no solution");
    if (!status && chosen) status = gpuopt__knapsack_choice_recover(k);
    if (!status)
        status = gpuopt__deliver(k->context, where, chosen, k->chosen, sizeof *chosen * (uint64_t)k->desc.classes);
    if (!status && profit) *profit = gpuopt__knapsack_choice_outside(k, k->lower);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_multiple_choice_get_items(gpuopt_knapsack_multiple_choice *knapsack,
                                                                   gpuopt_memory_space where, int32_t *chosen,
                                                                   int64_t *profit) {
    GPUOPT__CALL(knapsack, knapsack->context,
                 gpuopt__knapsack_multiple_choice_get_items(knapsack, call, where, chosen, profit));
}

#endif /* GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_CALLS_H */
