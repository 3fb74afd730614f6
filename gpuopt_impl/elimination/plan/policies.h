/* SPDX-License-Identifier: MIT
 *
 * Elimination: tries policies until a plan fits the memory.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_PLAN_POLICIES_H
#define GPUOPT_IMPL_ELIMINATION_PLAN_POLICIES_H

#include "block.h"

/* ---- Policy ---- */

/* Bytes of the memory that the limit concerns. */
static uint64_t gpuopt__elimination_limited_bytes(const gpuopt_elimination_estimate *e) {
    return e->memory.device_bytes ? e->memory.device_bytes : e->memory.host_bytes;
}

/* Whether the entries of all tables together can be counted, so that neither offsets nor byte offsets into stores
 * overflow. */
static int gpuopt__elimination_countable(const gpuopt__elimination_draft *draft) {
    double all = 0;
    int64_t k;
    for (k = 0; k < draft->table.count; k++) {
        const gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, (int32_t)k);
        all += (double)t->entries * (t->source == -1 ? 1 : draft->plan.copies) + GPUOPT__ELIMINATION_TABLE_ALIGN;
    }
    return all < (double)((int64_t)1 << 56);
}

/* Estimates a draft with placed tables, and sets *fits. Gives up copies of tables first. */
static void gpuopt__elimination_measure_draft(gpuopt__elimination_preparation *prep, uint64_t limit,
                                              gpuopt_elimination_estimate *e, int *fits) {
    gpuopt__elimination_draft *draft = &prep->draft;
    const struct gpuopt__elimination_backend *backend = prep->scratch.context->desc.backend->elimination;
    for (draft->plan.may_copy = 1; draft->plan.may_copy >= 0; draft->plan.may_copy--) {
        gpuopt__elimination_estimate(draft, e);
        e->memory.host_bytes = gpuopt__elimination_plan_bytes(draft);
        backend->plan(prep->scratch.context, &draft->plan, &e->memory);
        *fits = gpuopt__elimination_limited_bytes(e) <= limit;
        if (*fits || draft->plan.may_copy == 0) break;
    }
}

/* Makes a draft with z, places its tables, and sets *fits to whether they fit. */
static gpuopt_status gpuopt__elimination_try_draft(gpuopt__elimination_preparation *prep, int32_t z, uint64_t limit,
                                                   int stream, gpuopt_elimination_estimate *e, int *fits) {
    gpuopt__elimination_draft *draft = &prep->draft;
    gpuopt_status status = gpuopt__elimination_draft_run(draft, z);
    *fits = 0;
    if (status || draft->too_large) return status;
    status = gpuopt__elimination_draft_jobs(draft);
    draft->too_large |= !gpuopt__elimination_countable(draft);
    if (!status && !draft->too_large)
        status = gpuopt__elimination_place_tables(draft, stream ? limit : 0, prep->desc.memory->host_bytes, fits);
    if (status || draft->too_large || (stream && !*fits)) return status;
    gpuopt__elimination_finish_jobs(draft);
    gpuopt__elimination_measure_draft(prep, limit, e, fits);
    return status;
}

/* Notes the memory of a policy, as last measured. */
static void gpuopt__elimination_note(gpuopt__elimination_preparation *prep, gpuopt_elimination_policy policy,
                                     const gpuopt_elimination_estimate *e) {
    const int counted = !prep->draft.too_large;
    prep->policy_bytes[policy] = counted ? gpuopt__elimination_limited_bytes(e) : UINT64_MAX;
    prep->policy_operations[policy] = counted ? e->operations : 0;
}

/* Notes the largest message of the first draft, for the log. */
static void gpuopt__elimination_note_largest(gpuopt__elimination_preparation *prep) {
    const gpuopt__elimination_draft *draft = &prep->draft;
    int64_t k;
    int32_t j;
    prep->large_variable = -1;
    prep->large_width = 0;
    prep->large_size = 0;
    for (k = 0; k < draft->bucket.count; k++) {
        const gpuopt__elimination_bucket *b = (const gpuopt__elimination_bucket *)draft->bucket.data + k;
        const gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, b->message);
        double size = 0;
        for (j = 0; j < t->arity; j++)
            size += log2((double)draft->desc->domain[gpuopt__elimination_draft_scope(draft, t)[j]]);
        if (b->variable < 0 || size < prep->large_size) continue;
        prep->large_variable = b->variable;
        prep->large_width = t->arity;
        prep->large_size = size;
    }
}

/* Whether messages are kept, or dropped; and if dropped, whether decisions are stored for the value phase. */
static void gpuopt__elimination_set_drop(gpuopt__elimination_preparation *prep, int drop) {
    gpuopt__elimination_plan *plan = &prep->draft.plan;
    plan->keep = !drop && prep->desc.memory->retain_messages != GPUOPT_OFF;
    plan->decides =
        drop && prep->desc.memory->retain_messages != GPUOPT_OFF && prep->desc.semiring != GPUOPT_SEMIRING_LOG_SUM_EXP;
}

/* Divides the value phase of a draft with decisions into as few passes as fit. */
static gpuopt_status gpuopt__elimination_try_passes(gpuopt__elimination_preparation *prep, uint64_t limit,
                                                    gpuopt_elimination_estimate *e, int *fits) {
    gpuopt__elimination_draft *draft = &prep->draft;
    gpuopt_status status;
    gpuopt__elimination_place_decisions(draft, 0);
    gpuopt__elimination_measure_draft(prep, limit, e, fits);
    if (*fits) {
        uint64_t left = (limit - gpuopt__elimination_limited_bytes(e)) / sizeof(uint32_t);
        int64_t least = draft->plan.decisions;
        int32_t tries; /* addresses are rounded: slightly more may fit, or less */
        for (tries = 0, *fits = 0; !*fits && tries < 4; tries++) { /* all decisions together did not fit: no overflow */
            gpuopt__elimination_place_decisions(draft, tries < 3 ? least + (int64_t)left + 64 - 64 * tries : 0);
            gpuopt__elimination_measure_draft(prep, limit, e, fits);
        }
    }
    *fits &= draft->plan.passes <= GPUOPT__ELIMINATION_MOST_PASSES;
    if (!*fits) return GPUOPT_OK;
    status = gpuopt__elimination_add_passes(draft, e);
    return status;
}

/* Returns the variable that, when fixed, saves the most entries of messages; -1: there is none. *all: entries of all
 * messages. */
static int32_t gpuopt__elimination_best_slice(gpuopt__elimination_preparation *prep, double *gain, double *all) {
    gpuopt__elimination_draft *draft = &prep->draft;
    int32_t v, best = -1, k, j;
    *all = 0;
    for (v = 0; v < draft->plan.variables; v++) gain[v] = 0;
    for (k = draft->plan.first_message; k < draft->plan.first_message + draft->plan.messages; k++) {
        const gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, k);
        const int32_t *scope = gpuopt__elimination_draft_scope(draft, t);
        double entries = 1;
        for (j = 0; j < t->arity && entries < 1e250; j++) entries *= draft->desc->domain[scope[j]]; /* no infinity */
        for (j = 0; j < t->arity; j++) gain[scope[j]] += entries - entries / draft->desc->domain[scope[j]];
        if (t->source < draft->plan.steps) gain[draft->plan.order[t->source]] += entries;
        *all += entries;
    }
    for (v = 0; v < draft->plan.variables; v++)
        if (draft->plan.position[v] >= 0 && draft->plan.position[v] < draft->plan.steps && draft->desc->domain[v] > 1 &&
            (best < 0 || gain[v] > gain[best]))
            best = v;
    return best;
}

/* Fixes one more variable. */
static void gpuopt__elimination_slice_variable(gpuopt__elimination_preparation *prep, int32_t variable) {
    gpuopt__elimination_plan *plan = &prep->draft.plan;
    int32_t k, kept = 0;
    for (k = 0; k < plan->steps; k++)
        if (prep->order[k] != variable) prep->order[kept++] = prep->order[k];
    plan->steps = kept;
    prep->condition[plan->conditions++] = variable;
    plan->slices *= prep->desc.domain[variable];
    gpuopt__elimination_place_variables(prep);
}

/* Adds at most `most` slices until the rest fits or cannot fit. Slices shrink a message at most by a factor of their
 * number, and a cost takes at least a byte. */
static gpuopt_status gpuopt__elimination_try_slices(gpuopt__elimination_preparation *prep, uint64_t limit, int64_t most,
                                                    gpuopt_elimination_estimate *e, int *fits) {
    gpuopt__elimination_plan *plan = &prep->draft.plan;
    uint64_t bytes = sizeof(double) * (uint64_t)plan->variables;
    double *gain = (double *)gpuopt__elimination_scratch_take(&prep->scratch, bytes), entries;
    gpuopt_status status = prep->scratch.status;
    while (!status && !*fits && !prep->draft.gave_up) {
        int32_t variable = gpuopt__elimination_best_slice(prep, gain, &entries);
        if (variable < 0 || plan->slices > most / prep->desc.domain[variable]) break;
        if (entries * (double)plan->slices / (double)most > (double)limit) break;
        gpuopt__elimination_slice_variable(prep, variable);
        status = gpuopt__elimination_try_draft(prep, 0, limit, 0, e, fits);
    }
    gpuopt__elimination_scratch_give(&prep->scratch, gain, bytes);
    return status;
}

/* Undoes all slicing. */
static void gpuopt__elimination_unslice(gpuopt__elimination_preparation *prep, const int32_t *order, int32_t steps) {
    gpuopt__elimination_plan *plan = &prep->draft.plan;
    if (steps) memcpy(prep->order, order, sizeof(int32_t) * (size_t)steps);
    plan->steps = steps;
    plan->conditions = plan->host_conditions;
    plan->slices = 1;
    gpuopt__elimination_place_variables(prep);
}

/* Finds the largest z that fits. */
static gpuopt_status gpuopt__elimination_try_mini_buckets(gpuopt__elimination_preparation *prep, uint64_t limit,
                                                          gpuopt_elimination_estimate *e, int *fits) {
    int32_t low = 0, high = prep->desc.variables > 0 ? prep->desc.variables : 1,
            z;     /* low fits or is 0; nothing above high fits */
    int found = 0; /* whether some z did not fit, so that high is a limit */
    gpuopt_status status = GPUOPT_OK;
    if (prep->desc.z > 0) return gpuopt__elimination_try_draft(prep, prep->desc.z, limit, 0, e, fits);
    while (low < high && !status) {
        z = found ? low + (high - low + 1) / 2 : low ? 2 * low : 16;
        if (z > high) z = high;
        status = gpuopt__elimination_try_draft(prep, z, limit, 0, e, fits);
        if (*fits) low = z;
        else high = z - 1;
        found |= !*fits;
    }
    return status || low == 0 ? status : gpuopt__elimination_try_draft(prep, low, limit, 0, e, fits);
}

/* The log message if no policy fits. */
static gpuopt_status gpuopt__elimination_refuse_plan(const gpuopt__elimination_preparation *prep, const char *call,
                                                     uint64_t limit) {
    const gpuopt_context *context = prep->scratch.context;
    uint64_t least = UINT64_MAX;
    int k;
    for (k = 0; k < GPUOPT__ELIMINATION_POLICIES; k++)
        if (prep->policy_bytes[k] && prep->policy_bytes[k] < least) least = prep->policy_bytes[k];
    if (least == UINT64_MAX)
        gpuopt__log(context, 0,
                    "%s: the message of variable %d has %d variables and 2^%.4g entries: more than can be counted in "
                    "bytes",
                    call, (int)prep->large_variable, (int)prep->large_width, prep->large_size);
    else
        gpuopt__log(context, 0,
                    "%s: the tables need %.6g bytes, and %.6g may be used; the largest message, of variable %d, has %d "
                    "variables and 2^%.4g entries",
                    call, (double)least, (double)limit, (int)prep->large_variable, (int)prep->large_width,
                    prep->large_size);
    return GPUOPT_ERROR_UNSUPPORTED;
}

/* Tries the policies that discard messages: DROP, then RECOMPUTE. */
static gpuopt_status gpuopt__elimination_try_drop(gpuopt__elimination_preparation *prep, uint64_t limit,
                                                  gpuopt_elimination_policy *policy, double direct,
                                                  gpuopt_elimination_estimate *e, int *fits) {
    const gpuopt_elimination_policy wanted = prep->desc.policy;
    gpuopt_status status;
    gpuopt__elimination_set_drop(prep, 1);
    *policy = GPUOPT_POLICY_DROP;
    status = gpuopt__elimination_try_draft(prep, 0, limit, 0, e, fits);
    if (status) return status;
    if (wanted != GPUOPT_POLICY_RECOMPUTE) gpuopt__elimination_note(prep, GPUOPT_POLICY_DROP, e);
    if (wanted != GPUOPT_POLICY_RECOMPUTE && (*fits || wanted == GPUOPT_POLICY_DROP)) return GPUOPT_OK;
    if (!prep->draft.plan.decides && wanted == GPUOPT_POLICY_AUTO) return GPUOPT_OK;
    *policy = GPUOPT_POLICY_RECOMPUTE;
    if (!*fits && prep->draft.plan.decides && !prep->draft.too_large)
        status = gpuopt__elimination_try_passes(prep, limit, e, fits);
    gpuopt__elimination_note(prep, GPUOPT_POLICY_RECOMPUTE, e);
    if (wanted == GPUOPT_POLICY_AUTO && e->operations > GPUOPT__ELIMINATION_AUTO_REPEATED * direct) *fits = 0;
    return status;
}

static gpuopt_status gpuopt__elimination_choose_policy(gpuopt__elimination_preparation *prep, const char *call,
                                                       uint64_t limit, gpuopt_elimination_estimate *e) {
    const gpuopt_elimination_desc *d = &prep->desc;
    const struct gpuopt__elimination_backend *backend = prep->scratch.context->desc.backend->elimination;
    const int drops = d->policy == GPUOPT_POLICY_DROP || d->policy == GPUOPT_POLICY_RECOMPUTE;
    int automatic = d->policy == GPUOPT_POLICY_AUTO, fits = 0;
    int32_t steps = prep->draft.plan.steps, *order;
    uint64_t bytes = sizeof(int32_t) * (uint64_t)steps;
    double direct = HUGE_VAL;
    gpuopt_status status = GPUOPT_OK;
    gpuopt_elimination_policy policy = d->policy;
    if (policy == GPUOPT_POLICY_STREAM && !backend->has_stream)
        return gpuopt__refuse(prep->scratch.context, GPUOPT_ERROR_UNSUPPORTED, call,
                              "STREAM: this backend's tables are in host memory already");
    order = (int32_t *)gpuopt__elimination_scratch_take(&prep->scratch, bytes);
    if (!order) return prep->scratch.status;
    if (steps) memcpy(order, prep->order, (size_t)bytes);
    gpuopt__elimination_set_drop(prep, 0);
    if (policy != GPUOPT_POLICY_MINI_BUCKET && !drops) {
        policy = GPUOPT_POLICY_EXACT;
        status = gpuopt__elimination_try_draft(prep, 0, limit, 0, e, &fits);
        gpuopt__elimination_note(prep, GPUOPT_POLICY_EXACT, e);
        if (!prep->draft.too_large) direct = e->operations;
    }
    if (!status) gpuopt__elimination_note_largest(prep);
    if (!status && !fits && (automatic ? d->memory->retain_messages == GPUOPT_DEFAULT : drops)) {
        status = gpuopt__elimination_try_drop(prep, limit, &policy, direct, e, &fits);
        if (!status && drops) gpuopt__elimination_note_largest(prep);
        if (!fits) gpuopt__elimination_set_drop(prep, 0);
    }
    /* Not if variables are left over: the best slice could change with their values. */
    if (!status && !fits && d->batch_size == 1 && steps + d->evidence_count == d->variables &&
        (automatic || d->policy == GPUOPT_POLICY_SLICE)) {
        policy = GPUOPT_POLICY_SLICE;
        status = gpuopt__elimination_try_slices(
            prep, limit, automatic ? GPUOPT__ELIMINATION_AUTO_SLICES : GPUOPT__ELIMINATION_MOST_SLICES, e, &fits);
        gpuopt__elimination_note(prep, GPUOPT_POLICY_SLICE, e);
        if (automatic && e->operations > GPUOPT__ELIMINATION_AUTO_REPEATED * direct) fits = 0;
        if (!status && !fits) gpuopt__elimination_unslice(prep, order, steps);
    }
    /* AUTO needs a limit: the free host memory is unknown here, and STREAM touches all memory that it allocates. */
    if (!status && !fits && d->batch_size == 1 && backend->has_stream &&
        (automatic ? d->memory->host_bytes > 0 : d->policy == GPUOPT_POLICY_STREAM)) {
        policy = GPUOPT_POLICY_STREAM;
        status = gpuopt__elimination_try_draft(prep, 0, limit, 1, e, &fits);
        if (fits) gpuopt__elimination_note(prep, GPUOPT_POLICY_STREAM, e);
    }
    if (!status && !fits && d->semiring != GPUOPT_SEMIRING_MIN_COUNT &&
        (automatic || d->policy == GPUOPT_POLICY_MINI_BUCKET)) {
        policy = GPUOPT_POLICY_MINI_BUCKET;
        status = gpuopt__elimination_try_mini_buckets(prep, limit, e, &fits);
        gpuopt__elimination_note(prep, GPUOPT_POLICY_MINI_BUCKET, e);
        if (!status && !automatic && !fits) gpuopt__elimination_note_largest(prep);
    }
    gpuopt__elimination_scratch_give(&prep->scratch, order, bytes);
    if (!status && !fits) status = gpuopt__elimination_refuse_plan(prep, call, limit);
    prep->draft.plan.policy = e->policy = policy;
    return status;
}

/* Completes a prepared plan with a policy that fits. create_bytes is host memory: the peak while the plan is made, or
 * the memory kept while functions are loaded together with the handle's. */
static gpuopt_status gpuopt__elimination_make_plan(gpuopt__elimination_preparation *prep, const char *call,
                                                   gpuopt_elimination_estimate *e) {
    const gpuopt_context *context = prep->scratch.context;
    uint64_t limit = prep->desc.memory->bytes, sizes[2];
    gpuopt_status status;
    int k;
    memset(e, 0, sizeof *e);
    status = limit ? GPUOPT_OK : context->desc.backend->elimination->free_bytes(context, &limit);
    if (!status) status = gpuopt__elimination_choose_policy(prep, call, limit, e);
    if (status) return status;
    memcpy(e->policy_bytes, prep->policy_bytes, sizeof e->policy_bytes);
    memcpy(e->policy_operations, prep->policy_operations, sizeof e->policy_operations);
    gpuopt__elimination_load_sizes(context, &prep->draft, sizes);
    e->memory.create_bytes += prep->scratch.bytes;
    for (k = 0; k < 2; k++) e->memory.create_bytes += gpuopt__elimination_scratch_size(sizes[k]);
    if (e->memory.host_bytes + e->memory.create_bytes < prep->scratch.most)
        e->memory.create_bytes = prep->scratch.most - e->memory.host_bytes;
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_ELIMINATION_PLAN_POLICIES_H */
