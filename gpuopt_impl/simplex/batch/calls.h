/* SPDX-License-Identifier: MIT
 *
 * Batches of small linear programs: the public calls. They check the caller's data, store the pattern by rows and by
 * columns, and leave the numbers and the work to the backend (backend.h).
 */
#ifndef GPUOPT_IMPL_SIMPLEX_BATCH_CALLS_H
#define GPUOPT_IMPL_SIMPLEX_BATCH_CALLS_H

#include "pattern.h"
#include "share.h"
#include "../model/check.h"

/* Logs the number that is not allowed. */
static gpuopt_status gpuopt__simplex_batch_refuse_number(const gpuopt_context *context, const char *call, int64_t bad) {
    static const char *const name[] = {"value", "cost", "lhs", "rhs", "lb", "ub"};
    const int array = (int)(bad >> 48);
    const long long index = (long long)(bad & (((int64_t)1 << 48) - 1));
    if (array == GPUOPT__SIMPLEX_BATCH_ARRAYS)
        gpuopt__log(context, 0, "%s: lhs exceeds rhs in entry %lld of [count][rows]", call, index);
    else
        gpuopt__log(context, 0, "%s: %s[%lld] is %s", call, name[array], index,
                    array <= GPUOPT__SIMPLEX_BATCH_COST                                       ? "not finite"
                    : array == GPUOPT__SIMPLEX_BATCH_LHS || array == GPUOPT__SIMPLEX_BATCH_LB ? "not below infinity"
                                                                                              : "not above -infinity");
    return GPUOPT_ERROR_ARGUMENT;
}

/* ---- Life ---- */

/* Fills a draft. Its descriptor covers this rank's own programs; its group is NULL if unusable. */
static gpuopt_status gpuopt__simplex_batch_check(gpuopt_context *context, const char *call,
                                                 const gpuopt_simplex_batch_desc *desc, gpuopt_simplex_batch *m,
                                                 gpuopt__dealt *dealt) {
    const gpuopt__simplex_backend *family = context->desc.backend->simplex;
    gpuopt_simplex_batch_desc *own = &m->desc;
    gpuopt__simplex_batch_set *s = &m->set;
    gpuopt_simplex_tolerances tolerances;
    gpuopt_group_info group;
    gpuopt_status status;
    int k;
    memset(m, 0, sizeof *m);
    memset(dealt, 0, sizeof *dealt);
    memset(&tolerances, 0, sizeof tolerances);
    m->context = context;
    if (!desc) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "desc is NULL");
    status = GPUOPT__CHECK_STRUCT(context, call, family, gpuopt_simplex_batch_desc, desc, own);
    if (status) memset(own, 0, sizeof *own);
    if (!status) status = gpuopt__ranks_of(context, call, &own->group, &group);
    if (status) return status;
    {
        const gpuopt__range infinity = {"infinity", own->infinity, 1, HUGE_VAL};
        const gpuopt__choice layout = {"layout", (int64_t)own->layout, GPUOPT_LAYOUT_CSC};
        status = gpuopt__check_ranges(context, call, &infinity, 1);
        if (!status) status = gpuopt__simplex_check_tolerances(context, call, own->tolerances, &tolerances);
        if (!status) status = gpuopt__check_choices(context, call, &layout, 1);
    }
    if (status) return status;
    if (own->batch_size < 1 || own->batch_size > GPUOPT__SIMPLEX_BATCH_COPIES)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "batch_size is not in 1..65536");
    if (own->rows < 0 || own->rows > GPUOPT__SIMPLEX_BATCH_ROWS)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "rows is not in 0..512");
    if (own->cols < 0 || own->cols > GPUOPT__SIMPLEX_BATCH_COLS)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "cols is not in 0..8192");
    if (own->shared > 63)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "shared has a bit that is none of its enum's");
    if (own->iteration_limit < 0)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "iteration_limit is negative");
    status = gpuopt__simplex_batch_check_start(context, call, own);
    if (!status) status = gpuopt__simplex_batch_check_twice(context, call, own);
    if (status) return status;
    if (own->infinity == 0) own->infinity = 1e20;
    s->rows = own->rows, s->cols = own->cols;
    s->nonzeros = (int32_t)gpuopt__simplex_batch_nonzeros(own);
    s->maximize = own->maximize != 0;
    s->limit = own->iteration_limit < INT32_MAX ? (int32_t)own->iteration_limit : INT32_MAX;
    s->infinity = own->infinity;
    s->primal = tolerances.primal, s->dual = tolerances.dual, s->pivot = tolerances.pivot;
    for (k = 0; k < GPUOPT__SIMPLEX_BATCH_ARRAYS; k++) {
        s->length[k] = k == GPUOPT__SIMPLEX_BATCH_VALUE                                   ? s->nonzeros
                       : k == GPUOPT__SIMPLEX_BATCH_LHS || k == GPUOPT__SIMPLEX_BATCH_RHS ? s->rows
                                                                                          : s->cols;
        s->stride[k] = own->shared >> k & 1 ? 0 : s->length[k];
    }
    if (!own->group) return GPUOPT_OK;
    *dealt = gpuopt__dealt_head(own->group, &group, own->batch_size, 1, gpuopt__simplex_batch_report_bytes(s));
    own->batch_size = dealt->own;
    return GPUOPT_OK;
}

/* Cuts the handle's block; with base NULL it only measures. */
static gpuopt_simplex_batch *gpuopt__simplex_batch_cut_head(gpuopt__arena *arena, gpuopt_simplex_batch *m,
                                                            int32_t *lines[6], gpuopt__dealt *dealt) {
    const gpuopt__simplex_batch_set *s = &m->set;
    const int64_t lengths[] = {(int64_t)s->rows + 1, s->nonzeros, s->nonzeros,
                               (int64_t)s->cols + 1, s->nonzeros, s->nonzeros};
    gpuopt_simplex_batch *own = (gpuopt_simplex_batch *)gpuopt__cut(arena, 1, sizeof *m);
    int k;
    for (k = 0; k < 6; k++) lines[k] = (int32_t *)gpuopt__cut(arena, lengths[k], sizeof(int32_t));
    m->set.progress = (gpuopt__simplex_batch_progress *)gpuopt__cut(arena, m->desc.batch_size,
                                                                    sizeof(gpuopt__simplex_batch_progress));
    m->dealt = m->desc.group ? (gpuopt__dealt *)gpuopt__cut(arena, 1, sizeof *dealt) : NULL;
    if (m->desc.group) gpuopt__dealt_cut(arena, dealt);
    return own;
}

static const struct gpuopt__simplex_batch_backend *gpuopt__simplex_batch_backend_of(const gpuopt_context *context) {
    return context->desc.backend->simplex->many;
}

static gpuopt_status gpuopt__simplex_batch_write_plan(gpuopt_context *context, const gpuopt_simplex_batch_desc *desc,
                                                      gpuopt_memory_plan *plan) {
    static const char call[] = "gpuopt_simplex_batch_create";
    gpuopt_simplex_batch draft;
    gpuopt__dealt dealt;
    gpuopt_memory_plan result;
    gpuopt__arena arena = {NULL, 0};
    int32_t *lines[6];
    gpuopt_status status;
    if (!GPUOPT__HAS_SIZE(context, call, gpuopt_memory_plan, plan)) return GPUOPT_ERROR_ARGUMENT;
    memset(&result, 0, sizeof result);
    status = gpuopt__simplex_batch_check(context, call, desc, &draft, &dealt);
    if (!status) status = gpuopt__simplex_batch_backend_of(context)->plan(&draft, &result);
    if (status) return status;
    gpuopt__simplex_batch_cut_head(&arena, &draft, lines, &dealt);
    result.host_bytes += arena.used;
    gpuopt__copy_out(plan, plan->struct_size, &result, sizeof result);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__simplex_batch_make(gpuopt_simplex_batch *draft, gpuopt__dealt *dealt,
                                                gpuopt_simplex_batch **made) {
    gpuopt_context *context = draft->context;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_simplex_batch *m;
    int32_t *lines[6];
    gpuopt_status status;
    gpuopt__simplex_batch_cut_head(&arena, draft, lines, dealt);
    status = gpuopt__take_block(context, GPUOPT_HOST, &arena);
    if (status) return status;
    m = gpuopt__simplex_batch_cut_head(&arena, draft, lines, dealt);
    *m = *draft;
    if (m->dealt) *m->dealt = *dealt, gpuopt__dealt_deal(m->dealt);
    gpuopt__simplex_batch_fill_lines(&m->desc, 1, lines[0], lines[1], lines[2]);
    gpuopt__simplex_batch_fill_lines(&m->desc, 0, lines[3], lines[4], lines[5]);
    m->desc.start = NULL;
    m->desc.index = NULL;
    m->set.row_start = lines[0], m->set.row_col = lines[1], m->set.row_at = lines[2];
    m->set.col_start = lines[3], m->set.col_row = lines[4], m->set.col_at = lines[5];
    status = gpuopt__simplex_batch_backend_of(context)->create(m);
    if (status) gpuopt__release(context, GPUOPT_HOST, m);
    else *made = m;
    return status;
}

static gpuopt_status gpuopt__simplex_batch_create_handle(gpuopt_context *context, const gpuopt_simplex_batch_desc *desc,
                                                         gpuopt_simplex_batch **many) {
    static const char call[] = "gpuopt_simplex_batch_create";
    gpuopt_simplex_batch draft, *m = NULL;
    gpuopt__dealt dealt;
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt__simplex_batch_create_handle(context, desc, many));
    status = gpuopt__simplex_batch_check(context, call, desc, &draft, &dealt);
    if (!many) status = gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "batch and plan are NULL");
    if (!status) status = gpuopt__simplex_batch_make(&draft, &dealt, &m);
    if (draft.desc.group)
        status = gpuopt__ranks_agree(context, draft.desc.group, call, status,
                                     status ? 0 : gpuopt__simplex_batch_share_hash(m));
    if (status) gpuopt_simplex_batch_destroy(m);
    else *many = m;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_simplex_batch_create(gpuopt_context *context, const gpuopt_simplex_batch_desc *desc,
                                                     gpuopt_memory_plan *plan, gpuopt_simplex_batch **batch) {
    GPUOPT__CREATES(gpuopt_simplex_batch, context, context, batch);
    gpuopt_status status = plan ? gpuopt__simplex_batch_write_plan(context, desc, plan) : GPUOPT_OK;
    return status || (plan && !batch) ? status : gpuopt__simplex_batch_create_handle(context, desc, batch);
}

GPUOPT_API void gpuopt_simplex_batch_destroy(gpuopt_simplex_batch *batch) {
    GPUOPT__DESTROYS(gpuopt_simplex_batch, batch, batch->context);
    gpuopt__simplex_batch_backend_of(batch->context)->destroy(batch);
    gpuopt__release(batch->context, GPUOPT_HOST, batch);
}

/* ---- Programs ---- */

static gpuopt_status gpuopt__simplex_batch_check_where(const gpuopt_simplex_batch *m, const char *call,
                                                       gpuopt_memory_space where) {
    if (m->dealt && where == GPUOPT_DEVICE)
        return gpuopt__refuse(m->context, GPUOPT_ERROR_UNSUPPORTED, call,
                              "with a group, arrays must be in host memory");
    return gpuopt__check_where(m->context, call, where);
}

/* Takes this rank's share of the given programs. */
static gpuopt_status gpuopt__simplex_batch_take(gpuopt_simplex_batch *m, const char *call, gpuopt_memory_space where,
                                                const gpuopt_simplex_programs *given) {
    const double *from[] = {given->value, given->cost, given->lhs, given->rhs, given->lb, given->ub};
    int64_t bad = -1;
    int32_t first = 0;
    gpuopt_status status = GPUOPT_OK;
    int k;
    m->set.count = given->count;
    if (m->dealt) {
        gpuopt__dealt_part part;
        m->dealt->count = given->count;
        part = gpuopt__dealt_part_of(m->dealt, m->dealt->rank);
        first = part.first;
        m->set.count = part.count;
    }
    for (k = 0; k < GPUOPT__SIMPLEX_BATCH_ARRAYS; k++) {
        m->set.given[k] = from[k] != NULL;
        if (from[k]) from[k] += first * m->set.stride[k];
    }
    memset(m->set.progress, 0, sizeof *m->set.progress * (size_t)m->set.count);
    if (m->set.count > 0) status = gpuopt__simplex_batch_backend_of(m->context)->load(m, where, from, &bad);
    if (status || bad < 0) return status;
    k = (int)(bad >> 48);
    bad += first * (k == GPUOPT__SIMPLEX_BATCH_ARRAYS ? m->set.rows : m->set.stride[k]);
    return gpuopt__simplex_batch_refuse_number(m->context, call, bad);
}

GPUOPT_API gpuopt_status gpuopt_simplex_batch_load(gpuopt_simplex_batch *batch, gpuopt_memory_space where,
                                                   const gpuopt_simplex_programs *programs) {
    GPUOPT__ENTERS(batch, batch->context);
    static const char call[] = "gpuopt_simplex_batch_load";
    gpuopt_simplex_programs given;
    gpuopt_context *context;
    gpuopt_status status;
    int64_t which;
    int32_t most;
    GPUOPT__COMPUTES(gpuopt_simplex_batch_load(batch, where, programs));
    context = batch->context;
    most = batch->dealt ? batch->dealt->most : batch->desc.batch_size;
    memset(&given, 0, sizeof given);
    if (!GPUOPT__COPY_IN(context, call, gpuopt_simplex_programs, &given, programs)) status = GPUOPT_ERROR_ARGUMENT;
    else status = gpuopt__simplex_batch_check_where(batch, call, where);
    if (!status && (given.count < 0 || given.count > most))
        status = gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "count is negative, or exceeds batch_size");
    if (!status && given.count > 0 && batch->set.nonzeros > 0 && !given.value)
        status = gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "value is NULL");
    which = (given.value != NULL) + 2 * (given.cost != NULL) + 4 * (given.lhs != NULL) + 8 * (given.rhs != NULL) +
            16 * (given.lb != NULL) + 32 * (given.ub != NULL);
    if (batch->dealt) status = gpuopt__simplex_batch_together(batch, call, status, given.count, which, 0);
    if (status) return status;
    status = gpuopt__simplex_batch_take(batch, call, where, &given);
    if (batch->dealt) status = gpuopt__simplex_batch_together(batch, call, status, 0, 0, 0);
    if (status) batch->set.count = 0;
    if (!batch->dealt) return status;
    if (status) batch->dealt->count = 0;
    memset(&batch->of_all, 0, sizeof batch->of_all);
    batch->of_all.count = batch->of_all.more = batch->dealt->count;
    return status;
}

/* ---- Iterating ---- */

/* Counts this rank's programs by their outcomes. */
static gpuopt_simplex_batch_info gpuopt__simplex_batch_count(const gpuopt_simplex_batch *m) {
    gpuopt_simplex_batch_info result;
    int32_t k;
    memset(&result, 0, sizeof result);
    result.count = m->set.count;
    for (k = 0; k < m->set.count; k++) {
        const gpuopt__simplex_batch_progress *p = &m->set.progress[k];
        int32_t *const of = p->outcome == GPUOPT_MORE         ? &result.more
                            : p->outcome == GPUOPT_OPTIMAL    ? &result.optimal
                            : p->outcome == GPUOPT_INFEASIBLE ? &result.infeasible
                            : p->outcome == GPUOPT_UNBOUNDED  ? &result.unbounded
                            : p->outcome == GPUOPT_LIMIT      ? &result.limit
                                                              : &result.imprecise;
        ++*of;
        result.iterations += p->iterations;
    }
    return result;
}

static gpuopt_status gpuopt__simplex_batch_fill_info(const gpuopt_simplex_batch *m, const char *call,
                                                     gpuopt_simplex_batch_info *info) {
    gpuopt_simplex_batch_info result;
    if (!GPUOPT__HAS_SIZE(m->context, call, gpuopt_simplex_batch_info, info)) return GPUOPT_ERROR_ARGUMENT;
    result = m->dealt ? m->of_all : gpuopt__simplex_batch_count(m);
    gpuopt__copy_out(info, info->struct_size, &result, sizeof result);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_simplex_batch_iterate(gpuopt_simplex_batch *batch, int64_t iterations,
                                                      gpuopt_simplex_batch_info *info) {
    GPUOPT__ENTERS(batch, batch->context);
    static const char call[] = "gpuopt_simplex_batch_iterate";
    gpuopt_status status = GPUOPT_OK;
    GPUOPT__COMPUTES(gpuopt_simplex_batch_iterate(batch, iterations, info));
    if (iterations < 1)
        status = gpuopt__refuse(batch->context, GPUOPT_ERROR_ARGUMENT, call, "iterations is less than 1");
    if (info && !GPUOPT__HAS_SIZE(batch->context, call, gpuopt_simplex_batch_info, info))
        status = GPUOPT_ERROR_ARGUMENT;
    if (batch->dealt) status = gpuopt__simplex_batch_together(batch, call, status, iterations, 0, 0);
    if (status) return status;
    batch->set.most = iterations < INT32_MAX ? (int32_t)iterations : INT32_MAX;
    if (batch->set.count > 0) status = gpuopt__simplex_batch_backend_of(batch->context)->run(batch);
    if (batch->dealt) status = gpuopt__simplex_batch_together(batch, call, status, 0, 0, 0);
    if (batch->dealt && !status) {
        const gpuopt_simplex_batch_info own = gpuopt__simplex_batch_count(batch);
        status = gpuopt__simplex_batch_sum_up(batch, &own);
    }
    return status || !info ? status : gpuopt__simplex_batch_fill_info(batch, call, info);
}

GPUOPT_API gpuopt_status gpuopt_simplex_batch_get_info(gpuopt_simplex_batch *batch, gpuopt_simplex_batch_info *info) {
    GPUOPT__ENTERS(batch, batch->context);
    return batch ? gpuopt__simplex_batch_fill_info(batch, "gpuopt_simplex_batch_get_info", info)
                 : GPUOPT_ERROR_ARGUMENT;
}

/* ---- Results ---- */

enum { GPUOPT__SIMPLEX_BATCH_OUTCOME, GPUOPT__SIMPLEX_BATCH_ITERATIONS, GPUOPT__SIMPLEX_BATCH_CERTAINTY };

/* Reads outcomes and other members of the progress. They are interleaved: a small array on the stack collects them. */
static gpuopt_status gpuopt__simplex_batch_get_progress(const gpuopt_simplex_batch *m,
                                                        const gpuopt__simplex_batch_wanted *wanted, int what,
                                                        int32_t *to) {
    enum { AT_ONCE = 1024 };
    int32_t some[AT_ONCE], done, k, count;
    gpuopt_status status = GPUOPT_OK;
    for (done = 0; to && !status && done < wanted->count; done += count) {
        const gpuopt__simplex_batch_progress *from = m->set.progress + wanted->first + done;
        count = wanted->count - done < AT_ONCE ? wanted->count - done : AT_ONCE;
        for (k = 0; k < count; k++)
            some[k] = what == GPUOPT__SIMPLEX_BATCH_ITERATIONS ? from[k].iterations
                      : what == GPUOPT__SIMPLEX_BATCH_OUTCOME  ? from[k].outcome
                                                               : gpuopt__simplex_children_certainty(from[k].outcome);
        if (wanted->where == GPUOPT_HOST) memcpy(to + done, some, sizeof *some * (size_t)count);
        else status = gpuopt__deliver(m->context, wanted->where, to + done, some, sizeof *some * (uint64_t)count);
    }
    return status;
}

static gpuopt_status gpuopt__simplex_batch_get_own(gpuopt_simplex_batch *m,
                                                   const gpuopt__simplex_batch_wanted *wanted) {
    const gpuopt_simplex_batch_report *r = &wanted->report;
    gpuopt_status status = gpuopt__simplex_batch_get_progress(m, wanted, GPUOPT__SIMPLEX_BATCH_OUTCOME, r->outcome);
    if (!status)
        status = gpuopt__simplex_batch_get_progress(m, wanted, GPUOPT__SIMPLEX_BATCH_ITERATIONS, r->iterations);
    if (!status) status = gpuopt__simplex_batch_get_progress(m, wanted, GPUOPT__SIMPLEX_BATCH_CERTAINTY, r->certainty);
    return status ? status : gpuopt__simplex_batch_backend_of(m->context)->get(m, wanted);
}

GPUOPT_API gpuopt_status gpuopt_simplex_batch_get(gpuopt_simplex_batch *batch, gpuopt_memory_space where, int32_t first,
                                                  int32_t count, const gpuopt_simplex_batch_report *report) {
    GPUOPT__ENTERS(batch, batch->context);
    static const char call[] = "gpuopt_simplex_batch_get";
    gpuopt__simplex_batch_wanted wanted, own;
    gpuopt_status status;
    int32_t loaded;
    loaded = batch->dealt ? batch->dealt->count : batch->set.count;
    memset(&wanted, 0, sizeof wanted);
    if (!GPUOPT__COPY_IN(batch->context, call, gpuopt_simplex_batch_report, &wanted.report, report))
        status = GPUOPT_ERROR_ARGUMENT;
    else status = gpuopt__simplex_batch_check_where(batch, call, where);
    if (!status && (first < 0 || count < 0 || first > loaded - count))
        status = gpuopt__refuse(batch->context, GPUOPT_ERROR_ARGUMENT, call, "there are no such programs");
    if (batch->dealt)
        status = gpuopt__simplex_batch_together(batch, call, status, first, count,
                                                gpuopt__simplex_batch_wanted_mask(batch, &wanted));
    if (status || count == 0) return status;
    wanted.where = where, wanted.first = first, wanted.count = count;
    if (!batch->dealt) return gpuopt__simplex_batch_get_own(batch, &wanted);
    if (gpuopt__simplex_batch_wanted_here(batch, &wanted, &own)) status = gpuopt__simplex_batch_get_own(batch, &own);
    return gpuopt__simplex_batch_share_results(batch, call, status, &wanted);
}

#endif /* GPUOPT_IMPL_SIMPLEX_BATCH_CALLS_H */
