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
    m->dealt = gpuopt__dealt_cut_all(arena, dealt);
    return own;
}

static const struct gpuopt__simplex_batch_backend *gpuopt__simplex_batch_backend_of(const gpuopt_context *context) {
    return context->desc.backend->simplex->many;
}

static gpuopt_status gpuopt__simplex_batch_write_plan(gpuopt_context *context, const char *call,
                                                      const gpuopt_simplex_batch_desc *desc, gpuopt_memory_plan *plan) {
    gpuopt_simplex_batch draft;
    gpuopt__dealt dealt;
    gpuopt__arena arena = {NULL, 0};
    int32_t *lines[6];
    gpuopt_status status = gpuopt__simplex_batch_check(context, call, desc, &draft, &dealt);
    if (!status) status = gpuopt__simplex_batch_backend_of(context)->plan(&draft, plan);
    if (status) return status;
    gpuopt__simplex_batch_cut_head(&arena, &draft, lines, &dealt);
    plan->host_bytes += arena.used;
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
    gpuopt__dealt_fill(m->dealt, dealt);
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

static void gpuopt__simplex_batch_release(gpuopt_simplex_batch *m) {
    if (!m) return;
    gpuopt__simplex_batch_backend_of(m->context)->destroy(m);
    gpuopt__release(m->context, GPUOPT_HOST, m);
}

static gpuopt_status gpuopt__simplex_batch_create_handle(gpuopt_context *context, const char *call,
                                                         const gpuopt_simplex_batch_desc *desc,
                                                         gpuopt_simplex_batch **many) {
    gpuopt_simplex_batch draft, *m = NULL;
    gpuopt__dealt dealt;
    gpuopt_status status = gpuopt__simplex_batch_check(context, call, desc, &draft, &dealt);
    if (!many) status = gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "batch and plan are NULL");
    if (!status) status = gpuopt__simplex_batch_make(&draft, &dealt, &m);
    status = gpuopt__simplex_batch_agree_made(context, call, status, draft.desc.group, m);
    if (status) gpuopt__simplex_batch_release(m);
    else *many = m;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_simplex_batch_create(gpuopt_context *context, const gpuopt_simplex_batch_desc *desc,
                                                     gpuopt_memory_plan *plan, gpuopt_simplex_batch **batch) {
    GPUOPT__CALL_CREATES(gpuopt_simplex_batch, context, context, plan,
                         gpuopt__simplex_batch_write_plan(context, call, desc, &planned), batch,
                         gpuopt__simplex_batch_create_handle(context, call, desc, batch));
}

GPUOPT_API void gpuopt_simplex_batch_destroy(gpuopt_simplex_batch *batch) {
    GPUOPT__CALL_DESTROYS(gpuopt_simplex_batch, batch, batch->context, gpuopt__simplex_batch_release(batch));
}

/* ---- Programs ---- */

/* Takes this rank's share of the given programs. */
static gpuopt_status gpuopt__simplex_batch_take(gpuopt_simplex_batch *m, const char *call, gpuopt_memory_space where,
                                                const gpuopt_simplex_programs *given) {
    const double *from[] = {given->value, given->cost, given->lhs, given->rhs, given->lb, given->ub};
    const int32_t first = gpuopt__simplex_batch_take_part(m, given->count);
    int64_t bad = -1;
    gpuopt_status status = GPUOPT_OK;
    int k;
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

static gpuopt_status gpuopt__simplex_batch_call_load(gpuopt_simplex_batch *batch, const char *call,
                                                     gpuopt_memory_space where,
                                                     const gpuopt_simplex_programs *programs) {
    const gpuopt_context *context = batch->context;
    gpuopt_simplex_programs given;
    gpuopt_status status;
    int64_t which;
    memset(&given, 0, sizeof given);
    if (!GPUOPT__COPY_IN(context, call, gpuopt_simplex_programs, &given, programs)) status = GPUOPT_ERROR_ARGUMENT;
    else status = gpuopt__dealt_check_where(batch->dealt, batch->context, call, where);
    if (!status && (given.count < 0 || given.count > gpuopt__simplex_batch_most(batch)))
        status = gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "count is negative, or exceeds batch_size");
    if (!status && given.count > 0 && batch->set.nonzeros > 0 && !given.value)
        status = gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "value is NULL");
    which = (given.value != NULL) + 2 * (given.cost != NULL) + 4 * (given.lhs != NULL) + 8 * (given.rhs != NULL) +
            16 * (given.lb != NULL) + 32 * (given.ub != NULL);
    status = gpuopt__simplex_batch_together(batch, call, status, given.count, which, 0);
    if (status) return status;
    return gpuopt__simplex_batch_end_load(batch, call, gpuopt__simplex_batch_take(batch, call, where, &given));
}

GPUOPT_API gpuopt_status gpuopt_simplex_batch_load(gpuopt_simplex_batch *batch, gpuopt_memory_space where,
                                                   const gpuopt_simplex_programs *programs) {
    GPUOPT__CALL(batch, batch->context, gpuopt__simplex_batch_call_load(batch, call, where, programs));
}

/* ---- Iterating ---- */

static gpuopt_status gpuopt__simplex_batch_call_iterate(gpuopt_simplex_batch *batch, const char *call,
                                                        int64_t iterations, gpuopt_simplex_batch_info *info) {
    gpuopt_simplex_batch_info all;
    gpuopt_status status = GPUOPT_OK;
    if (iterations < 1)
        status = gpuopt__refuse(batch->context, GPUOPT_ERROR_ARGUMENT, call, "iterations is less than 1");
    if (info && !GPUOPT__HAS_SIZE(batch->context, call, gpuopt_simplex_batch_info, info))
        status = GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__simplex_batch_together(batch, call, status, iterations, 0, 0);
    if (status) return status;
    batch->set.most = iterations < INT32_MAX ? (int32_t)iterations : INT32_MAX;
    if (batch->set.count > 0) status = gpuopt__simplex_batch_backend_of(batch->context)->run(batch);
    status = gpuopt__simplex_batch_end_run(batch, call, status);
    if (status || !info) return status;
    all = gpuopt__simplex_batch_count_all(batch);
    return gpuopt__give(GPUOPT_OK, info, &all, sizeof all);
}

GPUOPT_API gpuopt_status gpuopt_simplex_batch_iterate(gpuopt_simplex_batch *batch, int64_t iterations,
                                                      gpuopt_simplex_batch_info *info) {
    GPUOPT__CALL(batch, batch->context, gpuopt__simplex_batch_call_iterate(batch, call, iterations, info));
}

GPUOPT_API gpuopt_status gpuopt_simplex_batch_get_info(gpuopt_simplex_batch *batch, gpuopt_simplex_batch_info *info) {
    GPUOPT__CALL_FILLS(batch, batch->context, gpuopt_simplex_batch_info, info,
                       (filled = gpuopt__simplex_batch_count_all(batch), GPUOPT_OK));
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

static gpuopt_status gpuopt__simplex_batch_get(gpuopt_simplex_batch *batch, const char *call, gpuopt_memory_space where,
                                               int32_t first, int32_t count,
                                               const gpuopt_simplex_batch_report *report) {
    gpuopt__simplex_batch_wanted wanted;
    gpuopt_status status;
    memset(&wanted, 0, sizeof wanted);
    if (!GPUOPT__COPY_IN(batch->context, call, gpuopt_simplex_batch_report, &wanted.report, report))
        status = GPUOPT_ERROR_ARGUMENT;
    else status = gpuopt__dealt_check_where(batch->dealt, batch->context, call, where);
    if (!status && (first < 0 || count < 0 || first > gpuopt__simplex_batch_programs(batch) - count))
        status = gpuopt__refuse(batch->context, GPUOPT_ERROR_ARGUMENT, call, "there are no such programs");
    status = gpuopt__simplex_batch_together(batch, call, status, first, count,
                                            gpuopt__simplex_batch_wanted_mask(batch, &wanted));
    if (status || count == 0) return status;
    wanted.where = where, wanted.first = first, wanted.count = count;
    return gpuopt__simplex_batch_get_all(batch, call, &wanted, gpuopt__simplex_batch_get_own);
}

GPUOPT_API gpuopt_status gpuopt_simplex_batch_get(gpuopt_simplex_batch *batch, gpuopt_memory_space where, int32_t first,
                                                  int32_t count, const gpuopt_simplex_batch_report *report) {
    GPUOPT__CALL(batch, batch->context, gpuopt__simplex_batch_get(batch, call, where, first, count, report));
}

#endif /* GPUOPT_IMPL_SIMPLEX_BATCH_CALLS_H */
