/* SPDX-License-Identifier: MIT
 *
 * Elimination by the ranks of a group, after each has eliminated its part of the model (share.h): compares the ranks'
 * arguments and combines their results.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_RANKS_JOIN_H
#define GPUOPT_IMPL_ELIMINATION_RANKS_JOIN_H

#include "../backend.h"
#include "../../common/ranks.h"
#include "../plan/packed.h"

/* ---- Arguments of the ranks ---- */

static uint64_t gpuopt__elimination_fingerprint(uint64_t hash, const void *bytes, uint64_t count) {
    return gpuopt__hash(hash + (bytes != NULL), (const unsigned char *)bytes, bytes ? count : 0);
}

/* The hash of a checked descriptor, with its arrays. Limits of memory may differ. */
static uint64_t gpuopt__elimination_desc_fingerprint(const gpuopt_elimination_desc *d) {
    const int64_t number[] = {d->variables,
                              d->functions,
                              (int64_t)d->type,
                              (int64_t)d->semiring,
                              d->top,
                              d->order_count,
                              (int64_t)d->order_search->heuristic,
                              d->order_search->restarts,
                              (int64_t)d->order_search->seed,
                              (int64_t)d->policy,
                              d->z,
                              d->evidence_count,
                              d->batch_size,
                              (int64_t)d->memory->retain_messages,
                              d->messages->join_rest != 0,
                              d->order_search->work};
    uint64_t hash = gpuopt__hash(GPUOPT__HASH_START, (const unsigned char *)number, sizeof number);
    int32_t k;
    hash = gpuopt__elimination_fingerprint(hash, &d->order_search->seconds, sizeof d->order_search->seconds);
    hash = gpuopt__elimination_fingerprint(hash, d->domain, sizeof(int32_t) * (uint64_t)d->variables);
    hash = gpuopt__elimination_fingerprint(hash, d->order, sizeof(int32_t) * (uint64_t)d->order_count);
    hash = gpuopt__elimination_fingerprint(hash, d->evidence, sizeof(int32_t) * (uint64_t)d->evidence_count);
    for (k = 0; k < d->functions; k++) {
        const gpuopt_elimination_function *f = &d->function[k];
        const int dense = gpuopt__elimination_is_dense(f);
        const int64_t head[] = {f->arity, dense ? -1 : f->tuples,
                                dense || d->type == GPUOPT_COST_DOUBLE ? 0 : f->default_cost};
        const double rest = dense || d->type == GPUOPT_COST_INT64 ? 0 : f->default_value;
        const void *entry = d->type == GPUOPT_COST_INT64 ? (const void *)f->cost : (const void *)f->value;
        int64_t entries = f->tuples, j;
        if (dense)
            for (entries = 1, j = 0; j < f->arity; j++) entries *= d->domain[f->scope[j]];
        hash = gpuopt__hash(hash, (const unsigned char *)head, sizeof head);
        hash = gpuopt__elimination_fingerprint(hash, &rest, sizeof rest);
        hash = gpuopt__elimination_fingerprint(hash, f->scope, sizeof(int32_t) * (uint64_t)f->arity);
        if (f->tuples > 0)
            hash = gpuopt__elimination_fingerprint(hash, f->tuple, sizeof(int32_t) * (uint64_t)(f->arity * f->tuples));
        for (j = 0; j < entries; j++) {
            uint64_t bits;
            memcpy(&bits, (const char *)entry + 8 * j, sizeof bits);
            hash = gpuopt__hash_number(hash, bits);
        }
        for (j = 0; f->count && j < entries; j++) hash = gpuopt__hash_number(hash, f->count[j]);
    }
    return hash;
}

/* With a group: whether all ranks have reached this point of `call`, with the same bytes and without an error. */
static gpuopt_status gpuopt__elimination_agree(const gpuopt_elimination *e, const char *call, gpuopt_status status,
                                               const void *data, size_t bytes) {
    uint64_t hash;
    if (!e->group) return status;
    hash = gpuopt__hash(GPUOPT__HASH_START, (const unsigned char *)call, strlen(call));
    return gpuopt__ranks_agree(e->context, e->group, call, status, gpuopt__elimination_fingerprint(hash, data, bytes));
}

/* The same for the values of a copy's evidence. */
static gpuopt_status gpuopt__elimination_agree_evidence(const gpuopt_elimination *e, const char *call,
                                                        gpuopt_status status, int32_t copy, const int32_t *value) {
    const uint64_t bytes = status ? 0 : sizeof(int32_t) * (uint64_t)e->plan.host_conditions;
    uint64_t data;
    if (!e->group) return status;
    data = gpuopt__elimination_fingerprint((uint64_t)copy, value, bytes);
    return gpuopt__elimination_agree(e, call, status, &data, sizeof data);
}

/* Ends a step with this status that may fail on one rank alone. */
static gpuopt_status gpuopt__elimination_all_could(const gpuopt_elimination *e, gpuopt_status status) {
    return status && e->group ? gpuopt__ranks_give_up(e->group, status) : status;
}

/* A call that needs the messages of the whole model. */
static gpuopt_status gpuopt__elimination_whole(const gpuopt_elimination *e, const char *call) {
    return e->group ? gpuopt__refuse(e->context, GPUOPT_ERROR_UNSUPPORTED, call,
                                     "not available with a group of several ranks")
                    : GPUOPT_OK;
}

/* ---- Results of the ranks ---- */

/* Fills plan.reports with the reports of all ranks. */
static gpuopt_status gpuopt__elimination_gather_reports(const gpuopt_elimination *e, gpuopt__elimination_report *own) {
    own->duplicate = e->idle;
    return gpuopt_group_all_gather(e->group, GPUOPT_HOST, own, sizeof *own, e->plan.reports,
                                   sizeof *own * (uint64_t)e->plan.ranks, NULL);
}

/* With a group: turns the info of a rank's part into the info of the whole model. */
static gpuopt_status gpuopt__elimination_join_info(const gpuopt_elimination *e, gpuopt_elimination_info *info) {
    const gpuopt__elimination_plan *plan = &e->plan;
    const int doubles = plan->type == GPUOPT_COST_DOUBLE;
    gpuopt__elimination_total all = {UINT64_MAX, 0, 0, 0}, one = {0, 0, 0, 0};
    gpuopt__elimination_report own;
    gpuopt_status status;
    int more = 0, bound = 0, any = 0;
    int32_t r;
    if (!e->group) return GPUOPT_OK;
    memset(&own, 0, sizeof own);
    own.eliminated = info->eliminated;
    own.steps = info->steps;
    own.variable = info->variable;
    own.outcome = (int32_t)info->outcome;
    own.cost = plan->sign * info->cost;
    own.value = plan->sign * info->value;
    own.count = info->count;
    status = gpuopt__elimination_gather_reports(e, &own);
    if (status) return status;
    memset(info, 0, sizeof *info);
    info->variable = plan->reports[0].variable;
    all.value = gpuopt__elimination_worst_value(plan->semiring);
    for (r = 0; r < plan->ranks; r++) {
        const gpuopt__elimination_report *h = &plan->reports[r];
        info->eliminated += h->eliminated;
        info->steps += h->steps;
        more |= h->outcome == GPUOPT_MORE;
        bound |= h->outcome == GPUOPT_CONVERGED;
        if (h->duplicate || h->outcome == GPUOPT_MORE || h->outcome == GPUOPT_INFEASIBLE) continue;
        any = 1;
        one.cost = (uint64_t)h->cost ^ (uint64_t)1 << 63; /* in the order of signed numbers */
        one.count = h->count;
        one.value = h->value;
        gpuopt__elimination_add_slice(plan->type, plan->semiring, &all, &one);
    }
    info->outcome = more ? GPUOPT_MORE : !any ? GPUOPT_INFEASIBLE : bound ? GPUOPT_CONVERGED : GPUOPT_OPTIMAL;
    if (more) return GPUOPT_OK;
    if (doubles) info->value = plan->sign * all.value;
    else if (any) {
        info->cost = plan->sign * (int64_t)(all.cost ^ (uint64_t)1 << 63);
        info->count = all.count;
        info->count_overflow = plan->semiring == GPUOPT_SEMIRING_MIN_COUNT && all.count == UINT64_MAX;
    }
    return GPUOPT_OK;
}

/* Whether a is the assignment that the value phase finds first: it has lesser values of the variables eliminated
 * last. */
static int gpuopt__elimination_is_first(const gpuopt__elimination_plan *plan, const int32_t *a, const int32_t *b) {
    int32_t p = plan->whole_steps - 1;
    while (p >= 0 && a[plan->whole_order[p]] == b[plan->whole_order[p]]) p--;
    return p >= 0 && a[plan->whole_order[p]] < b[plan->whole_order[p]];
}

/* Replaces the assignment of a rank's part, in plan.value_of, by the best of all ranks. bound: the info of the part. */
static gpuopt_status gpuopt__elimination_join_best(const gpuopt_elimination *e, const gpuopt_elimination_info *bound,
                                                   gpuopt_elimination_assignment *result) {
    const gpuopt__elimination_plan *plan = &e->plan;
    const int doubles = plan->type == GPUOPT_COST_DOUBLE;
    const size_t bytes = sizeof(int32_t) * (size_t)plan->variables;
    int32_t *came = plan->other, *best = came + plan->variables, r, k, chosen = -1;
    gpuopt__elimination_report own, *reports = plan->reports;
    gpuopt_status status;
    const int found = result->outcome != GPUOPT_MORE && result->outcome != GPUOPT_INFEASIBLE;
    int more = 0, loose = 0;
    int64_t least = INT64_MAX;
    memset(&own, 0, sizeof own);
    own.outcome = (int32_t)result->outcome;
    own.cost = plan->sign * result->cost;
    own.value = plan->sign * result->value;
    own.bounded = bound->outcome != GPUOPT_INFEASIBLE;
    own.bound = plan->sign * bound->cost;
    for (k = 0; k < plan->variables && found; k++) plan->value_of[k] += plan->first[k];
    status = gpuopt__elimination_gather_reports(e, &own);
    if (status) return status;
    for (r = 0; r < plan->ranks; r++) {
        more |= reports[r].outcome == GPUOPT_MORE;
        loose |= reports[r].bounded && reports[r].outcome != GPUOPT_OPTIMAL;
        if (reports[r].bounded && reports[r].bound < least) least = reports[r].bound;
        if (reports[r].duplicate || reports[r].outcome == GPUOPT_INFEASIBLE) continue;
        if (chosen < 0 || (doubles ? reports[r].value < reports[chosen].value : reports[r].cost < reports[chosen].cost))
            chosen = r;
    }
    memset(result, 0, sizeof *result);
    result->outcome = more ? GPUOPT_MORE : GPUOPT_INFEASIBLE;
    if (more || chosen < 0) return GPUOPT_OK;
    if (doubles) result->value = plan->sign * reports[chosen].value;
    else result->cost = plan->sign * reports[chosen].cost;
    result->outcome = (doubles ? loose : reports[chosen].cost > least) ? GPUOPT_CONVERGED : GPUOPT_OPTIMAL;
    for (r = chosen; r < plan->ranks && !status; r++) {
        if (reports[r].duplicate || reports[r].outcome == GPUOPT_INFEASIBLE ||
            reports[r].cost != reports[chosen].cost || reports[r].value != reports[chosen].value)
            continue;
        if (bytes) memcpy(came, plan->value_of, bytes);
        status = gpuopt_group_broadcast(e->group, GPUOPT_HOST, r, came, bytes);
        if (bytes && (r == chosen || gpuopt__elimination_is_first(plan, came, best))) memcpy(best, came, bytes);
    }
    if (bytes) memcpy(plan->value_of, best, bytes);
    return status;
}

/* Ends _assign, which had this status on this rank. With a group: gives all ranks the best assignment. info_of: gets
 * the info of a rank's part. */
static gpuopt_status gpuopt__elimination_join_assignment(gpuopt_elimination *e, const char *call, gpuopt_status status,
                                                         int32_t copy,
                                                         gpuopt_status (*info_of)(gpuopt_elimination *, int32_t copy,
                                                                                  gpuopt_elimination_info *),
                                                         gpuopt_elimination_assignment *result) {
    gpuopt_elimination_info bound;
    if (!e->group) return status;
    memset(&bound, 0, sizeof bound);
    if (!status) status = info_of(e, copy, &bound);
    status = gpuopt__elimination_agree(e, call, status, NULL, 0);
    return status ? status : gpuopt__elimination_join_best(e, &bound, result);
}

#endif /* GPUOPT_IMPL_ELIMINATION_RANKS_JOIN_H */
