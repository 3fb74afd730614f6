/* SPDX-License-Identifier: MIT
 *
 * Elimination: bounds by cost shifting between mini-buckets. The bound of a relaxation (model.h) is a concave
 * function of the shifts. Its subgradient at a shift shows where the copies of a variable disagree in an optimal
 * assignment of the relaxation. Each iteration eliminates the relaxation, by the context's backend, and takes a step
 * along the subgradient, of Polyak's length for a target slightly beyond the best bound so far. Beforehand, costs are
 * shifted between the functions of the model (spread.h) if this gives the better bound.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_RELAX_CALLS_H
#define GPUOPT_IMPL_ELIMINATION_RELAX_CALLS_H

#include "../plan/policies.h"
#include "spread.h"

/* The target lies this share of the first bound beyond the best one; half of that after each FAILS iterations without a
 * better bound. Of 0.005 to 0.2 this was best or near it on 404, 29, 42b and 408b. Only every ROUNDS times the steps
 * return to the best shifts. Where copies disagree in many ways, no single subgradient leads up: the bound falls first,
 * and rises above the best one after several steps. So it was on 42b and 54, where ROUNDS 1 never improved the bounds.
 * If the steps never return, they may diverge (29). */
#define GPUOPT__ELIMINATION_SHIFT_TARGET 0.05
#define GPUOPT__ELIMINATION_SHIFT_FAILS 3
#define GPUOPT__ELIMINATION_SHIFT_ROUNDS 3

/* The result of eliminating a relaxation, negated with MAX_SUM. */
typedef struct gpuopt__elimination_relax_result {
    double bound;   /* in units of the model */
    int64_t lowest; /* INT64: in units of the relaxation */
    gpuopt_outcome outcome;
} gpuopt__elimination_relax_result;

/* Rounds shifts into the relaxation's functions. The shifts of a variable's copies still add up to exactly 0. */
static void gpuopt__elimination_relax_set(gpuopt_elimination_cost_shifting *r, const double *shift) {
    const int sign = r->desc.semiring == GPUOPT_SEMIRING_MAX_SUM ? -1 : 1;
    int32_t g, k, v;
    for (g = 0; g < r->groups; g++)
        for (v = 0; v < r->domain[r->split[r->group[g]]]; v++) {
            int64_t sum = 0;
            for (k = r->group[g]; k < r->group[g + 1]; k++) {
                const int64_t at = r->shift_at[k] + v;
                double whole = floor(shift[at] / r->unit + 0.5), most = (double)r->most;
                int64_t units = !(whole > -most) ? -r->most : whole < most ? (int64_t)whole : r->most;
                if (k + 1 == r->group[g + 1]) units = -sum;
                sum += units;
                if (r->desc.type == GPUOPT_COST_DOUBLE) r->shift_value[at] = sign * (double)units * r->unit;
                else r->shift_cost[at] = sign * units;
            }
        }
}

/* Eliminates the relaxation with the present shifts; r->value receives an optimal assignment. */
static gpuopt_status gpuopt__elimination_relax_run(gpuopt_elimination_cost_shifting *r,
                                                   gpuopt__elimination_relax_result *result) {
    const int sign = r->desc.semiring == GPUOPT_SEMIRING_MAX_SUM ? -1 : 1;
    gpuopt_elimination_desc desc = r->desc;
    gpuopt_elimination *elimination = NULL;
    gpuopt_elimination_info info;
    gpuopt_elimination_assignment found;
    gpuopt_status status;
    desc.group = NULL;
    memset(&info, 0, sizeof info);
    memset(&found, 0, sizeof found);
    info.struct_size = sizeof info;
    found.struct_size = sizeof found;
    status = gpuopt_elimination_create(r->context, &desc, NULL, &elimination);
    if (!status) status = gpuopt_elimination_step(elimination, INT32_MAX, &info);
    if (!status && info.outcome == GPUOPT_OPTIMAL)
        status = gpuopt_elimination_assign(elimination, GPUOPT_HOST, 0, r->value, &found);
    gpuopt_elimination_destroy(elimination);
    result->outcome = info.outcome == GPUOPT_OPTIMAL && found.outcome == GPUOPT_MORE ? GPUOPT_MORE : info.outcome;
    result->lowest = sign * info.cost;
    result->bound = r->desc.type == GPUOPT_COST_DOUBLE ? sign * info.value : (double)result->lowest * r->unit;
    return status;
}

/* How many copies of group g have the value v. */
static int32_t gpuopt__elimination_relax_votes(const gpuopt_elimination_cost_shifting *r, int32_t g, int32_t v) {
    int32_t votes = 0, k;
    for (k = r->group[g]; k < r->group[g + 1]; k++) votes += r->value[r->split[k]] == v;
    return votes;
}

/* Moves r->now along the subgradient so far that the bound would rise by `rise` if it were linear. Returns 0 if the
 * copies agree: the subgradient is 0, and no bound is better. */
static int gpuopt__elimination_relax_move(gpuopt_elimination_cost_shifting *r, double rise) {
    double norm = 0;
    int32_t g, v, k;
    for (g = 0; g < r->groups; g++)
        for (v = 0; v < r->domain[r->split[r->group[g]]]; v++) {
            const double parts = r->group[g + 1] - r->group[g], votes = gpuopt__elimination_relax_votes(r, g, v);
            norm += votes * (parts - votes) / parts;
        }
    if (norm == 0) return 0;
    for (g = 0; g < r->groups; g++)
        for (v = 0; v < r->domain[r->split[r->group[g]]]; v++) {
            const double parts = r->group[g + 1] - r->group[g], votes = gpuopt__elimination_relax_votes(r, g, v);
            for (k = r->group[g]; votes > 0 && k < r->group[g + 1]; k++)
                r->now[r->shift_at[k] + v] += rise / norm * ((r->value[r->split[k]] == v) - votes / parts);
        }
    return 1;
}

static void gpuopt__elimination_relax_copy(const gpuopt_elimination_cost_shifting *r, double *to, const double *from) {
    const int64_t count = r->shift_at[r->group[r->groups]];
    if (count) memcpy(to, from, sizeof(double) * (size_t)count);
}

/* Writes a result to the info, in units of the model and rounded to the side of the bound. */
static void gpuopt__elimination_relax_report(gpuopt_elimination_cost_shifting *r, gpuopt_outcome outcome,
                                             const gpuopt__elimination_relax_result *result) {
    const int sign = r->desc.semiring == GPUOPT_SEMIRING_MAX_SUM ? -1 : 1;
    const int64_t scale = r->info.scale, up = result->lowest > 0 ? scale - 1 : 0;
    r->info.outcome = outcome;
    if (outcome == GPUOPT_INFEASIBLE || outcome == GPUOPT_MORE) return;
    r->info.value = sign * result->bound;
    if (r->desc.type == GPUOPT_COST_INT64) r->info.cost = sign * ((result->lowest + up) / scale);
}

/* Improves the shifts that gave the first result. Never ends with a worse bound. */
static gpuopt_status gpuopt__elimination_relax_improve(gpuopt_elimination_cost_shifting *r, int32_t iterations,
                                                       const gpuopt__elimination_relax_result *first) {
    gpuopt__elimination_relax_result best = *first, now = *first;
    double reach = 0;
    int32_t fails = 0, k;
    int agree = r->groups == 0;
    gpuopt_status status = GPUOPT_OK;
    for (k = 0; k < iterations && now.outcome == GPUOPT_OPTIMAL && !gpuopt__asked_to_stop(r->context); k++) {
        if (k == 0) reach = fabs(best.bound) * GPUOPT__ELIMINATION_SHIFT_TARGET;
        /* A bound near 0 does not reflect the costs; the unit is 2^-40 of them. */
        if (k == 0 && r->desc.type == GPUOPT_COST_DOUBLE) reach = gpuopt__max(reach, ldexp(r->unit, 33));
        if (reach < 4 * r->unit) reach = r->desc.type == GPUOPT_COST_INT64 ? 1 : 4 * r->unit;
        agree = !gpuopt__elimination_relax_move(r, best.bound + reach - now.bound);
        if (agree) break;
        gpuopt__elimination_relax_set(r, r->now);
        status = gpuopt__elimination_relax_run(r, &now);
        if (status == GPUOPT_ERROR_UNSUPPORTED || status == GPUOPT_ERROR_NUMERIC) { /* shifts need wider costs */
            status = GPUOPT_OK;
            break;
        }
        if (status || now.outcome == GPUOPT_MORE) break;
        if (now.outcome == GPUOPT_INFEASIBLE || now.bound > best.bound) {
            best = now;
            fails = 0;
            gpuopt__elimination_relax_copy(r, r->best, r->now);
        } else if (++fails % GPUOPT__ELIMINATION_SHIFT_FAILS == 0) {
            reach /= 2;
            if (fails % (GPUOPT__ELIMINATION_SHIFT_FAILS * GPUOPT__ELIMINATION_SHIFT_ROUNDS) == 0)
                gpuopt__elimination_relax_copy(r, r->now, r->best);
        }
        r->info.iterations = k + 1;
    }
    gpuopt__elimination_relax_set(r, r->best);
    gpuopt__elimination_relax_report(r, best.outcome == GPUOPT_OPTIMAL && !agree ? GPUOPT_CONVERGED : best.outcome,
                                     &best);
    return status;
}

/* ---- Calls ---- */

static gpuopt_status gpuopt__elimination_relax_check(const gpuopt__elimination_preparation *prep, const char *call) {
    const gpuopt_elimination_desc *d = &prep->desc;
    const char *fault = NULL;
    if (d->semiring != GPUOPT_SEMIRING_MIN_SUM && d->semiring != GPUOPT_SEMIRING_MAX_SUM)
        fault = "costs are shifted with MIN_SUM and MAX_SUM only";
    else if (d->policy != GPUOPT_POLICY_MINI_BUCKET) fault = "the policy is not MINI_BUCKET";
    else if (d->messages->count) fault = "there are messages among the functions";
    else if (d->batch_size > 1) fault = "batch_size must be 1";
    else if (d->messages->join_rest || prep->draft.plan.steps + d->evidence_count < d->variables)
        fault = "the order leaves variables over, or join_rest is set";
    return fault ? gpuopt__refuse(prep->scratch.context, GPUOPT_ERROR_UNSUPPORTED, call, fault) : GPUOPT_OK;
}

GPUOPT_API void gpuopt_elimination_cost_shifting_destroy(gpuopt_elimination_cost_shifting *relaxation) {
    GPUOPT__CALL_DESTROYS(gpuopt_elimination_cost_shifting, relaxation, relaxation->context,
                          gpuopt__release(relaxation->context, GPUOPT_HOST, relaxation));
}

/* Makes the relaxation of a prepared model, with all shifts 0, and eliminates it. */
static gpuopt_status gpuopt__elimination_relax_begin(gpuopt_context *context, const char *call,
                                                     gpuopt__elimination_preparation *prep, int64_t scaled,
                                                     gpuopt_elimination_cost_shifting **relaxation,
                                                     gpuopt__elimination_relax_result *first) {
    gpuopt_elimination_estimate e;
    gpuopt_status status = gpuopt__elimination_make_plan(prep, call, &e);
    if (!status) status = gpuopt__elimination_draft_run(&prep->draft, e.z); /* as for the plan, without its jobs */
    if (!status) status = gpuopt__elimination_relax_make(context, prep, scaled, relaxation);
    if (status) return status;
    gpuopt__elimination_relax_set(*relaxation, (*relaxation)->best);
    return gpuopt__elimination_relax_run(*relaxation, first);
}

/* Tries the model with its costs spread over its functions, and keeps that relaxation if its bound is better. */
static gpuopt_status gpuopt__elimination_relax_again(gpuopt_context *context, const char *call,
                                                     gpuopt__elimination_preparation *prep, int32_t passes,
                                                     gpuopt_elimination_cost_shifting **relaxation,
                                                     gpuopt__elimination_relax_result *first) {
    gpuopt__elimination_preparation again;
    gpuopt__elimination_relax_result result;
    gpuopt_elimination_cost_shifting *r = NULL;
    gpuopt_elimination_desc desc;
    void *memory = NULL;
    const int64_t scale = (*relaxation)->info.scale;
    gpuopt_status status = gpuopt__elimination_spread_costs(prep, scale, passes, &desc, &memory);
    if (status || !memory) return status;
    memset(&result, 0, sizeof result);
    status = gpuopt__elimination_prepare(context, call, &desc, &again);
    if (!status) status = gpuopt__elimination_relax_begin(context, call, &again, scale, &r, &result);
    gpuopt__elimination_preparation_end(&again);
    gpuopt__release(context, GPUOPT_HOST, memory);
    if (!status &&
        (result.outcome == GPUOPT_INFEASIBLE || (result.outcome == GPUOPT_OPTIMAL && result.bound > first->bound))) {
        gpuopt__release(context, GPUOPT_HOST, *relaxation);
        *relaxation = r;
        *first = result;
    } else gpuopt__release(context, GPUOPT_HOST, r);
    return status == GPUOPT_ERROR_UNSUPPORTED || status == GPUOPT_ERROR_NUMERIC ? GPUOPT_OK : status;
}

static gpuopt_status gpuopt__elimination_shift_costs(gpuopt_context *context, const char *call,
                                                     const gpuopt_elimination_desc *desc, int32_t iterations,
                                                     gpuopt_elimination_cost_shifting **relaxation) {
    gpuopt__elimination_preparation prep;
    gpuopt__elimination_relax_result first;
    gpuopt_elimination_cost_shifting *r = NULL;
    gpuopt_status status;
    if (iterations < 0) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "iterations is negative");
    if (!relaxation) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "relaxation is NULL");
    status = gpuopt__elimination_begin(context, call, desc, GPUOPT_OK, &prep);
    if (!status) status = gpuopt__elimination_relax_check(&prep, call);
    if (!status) status = gpuopt__elimination_relax_begin(context, call, &prep, 0, &r, &first);
    if (!status && iterations > 0 && r->groups > 0 && first.outcome == GPUOPT_OPTIMAL &&
        r->desc.type == GPUOPT_COST_INT64)
        status = gpuopt__elimination_relax_again(
            context, call, &prep,
            iterations < GPUOPT__ELIMINATION_SPREAD_PASSES ? iterations : GPUOPT__ELIMINATION_SPREAD_PASSES, &r,
            &first);
    gpuopt__elimination_preparation_end(&prep);
    if (!status) status = gpuopt__elimination_relax_improve(r, iterations, &first);
    if (status) gpuopt__release(context, GPUOPT_HOST, r);
    else *relaxation = r;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_elimination_shift_costs(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                                        int32_t iterations,
                                                        gpuopt_elimination_cost_shifting **relaxation) {
    GPUOPT__CALL_MAKES(gpuopt_elimination_cost_shifting, context, context, relaxation,
                       gpuopt__elimination_shift_costs(context, call, desc, iterations, relaxation));
}

static gpuopt_status gpuopt__elimination_cost_shifting_get_info(gpuopt_elimination_cost_shifting *relaxation,
                                                                gpuopt_elimination_cost_shifting_info *info) {
    *info = relaxation->info;
    info->variables = relaxation->desc.variables;
    info->original = relaxation->original;
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_elimination_cost_shifting_get_info(gpuopt_elimination_cost_shifting *relaxation,
                                                                   gpuopt_elimination_cost_shifting_info *info) {
    GPUOPT__CALL_FILLS(relaxation, relaxation->context, gpuopt_elimination_cost_shifting_info, info,
                       gpuopt__elimination_cost_shifting_get_info(relaxation, &filled));
}

GPUOPT_API gpuopt_status gpuopt_elimination_cost_shifting_get_desc(gpuopt_elimination_cost_shifting *relaxation,
                                                                   gpuopt_elimination_desc *desc) {
    GPUOPT__CALL_FILLS(relaxation, relaxation->context, gpuopt_elimination_desc, desc,
                       (filled = relaxation->desc, GPUOPT_OK));
}

#endif /* GPUOPT_IMPL_ELIMINATION_RELAX_CALLS_H */
