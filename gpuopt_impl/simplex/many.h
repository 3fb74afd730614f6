/* SPDX-License-Identifier: MIT
 *
 * Many small linear programs: the public calls. They check what the host gives, keep the pattern by rows and by
 * columns, and leave programs and work to the backend (many_backend.h).
 */
#ifndef GPUOPT_IMPL_SIMPLEX_MANY_H
#define GPUOPT_IMPL_SIMPLEX_MANY_H

#include "../common/checks.h"
#include "many_backend.h"

enum { GPUOPT__SIMPLEX_MANY_COPIES = 65536, GPUOPT__SIMPLEX_MANY_ROWS = 512, GPUOPT__SIMPLEX_MANY_COLS = 8192 };

/* Tells the log which number is not allowed. */
static gpuopt_status gpuopt__simplex_many_refuse_number(const gpuopt_context *context, const char *call, int64_t bad) {
    static const char *const name[] = {"value", "cost", "lhs", "rhs", "lb", "ub"};
    const int array = (int)(bad >> 48);
    const long long index = (long long)(bad & (((int64_t)1 << 48) - 1));
    if (array == GPUOPT__SIMPLEX_MANY_ARRAYS)
        gpuopt__log(context, 0, "%s: lhs exceeds rhs in entry %lld of [count][rows]", call, index);
    else
        gpuopt__log(context, 0, "%s: %s[%lld] is %s", call, name[array], index,
                    array <= GPUOPT__SIMPLEX_MANY_COST                                      ? "not finite"
                    : array == GPUOPT__SIMPLEX_MANY_LHS || array == GPUOPT__SIMPLEX_MANY_LB ? "not below infinity"
                                                                                            : "not above -infinity");
    return GPUOPT_ERROR_ARGUMENT;
}

/* ---- The pattern ---- */

/* The entries of the pattern; -1: more than there can be. */
static int64_t gpuopt__simplex_many_nonzeros(const gpuopt_simplex_many_desc *d) {
    const int32_t lines = d->layout == GPUOPT_LAYOUT_CSR ? d->rows : d->cols;
    return d->start ? d->start[lines] : (int64_t)d->rows * d->cols;
}

static gpuopt_status gpuopt__simplex_many_check_start(const gpuopt_context *context, const char *call,
                                                      const gpuopt_simplex_many_desc *d) {
    const int32_t lines = d->layout == GPUOPT_LAYOUT_CSR ? d->rows : d->cols;
    const int32_t width = d->layout == GPUOPT_LAYOUT_CSR ? d->cols : d->rows;
    int32_t line;
    if (!d->start) return GPUOPT_OK;
    if (d->start[0] != 0) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "start[0] is not 0");
    for (line = 0; line < lines; line++)
        if (d->start[line + 1] < d->start[line] || d->start[line + 1] - d->start[line] > width) {
            gpuopt__log(context, 0, "%s: start[%d] is less than the one before it, or a line is longer than %d", call,
                        (int)line + 1, (int)width);
            return GPUOPT_ERROR_ARGUMENT;
        }
    if (d->start[lines] > 0 && !d->index) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "index is NULL");
    return gpuopt__check_indices(context, call, "index", d->start[lines], d->index, width);
}

/* No index twice in a line: a bit for each index that has been seen. */
static gpuopt_status gpuopt__simplex_many_check_twice(const gpuopt_context *context, const char *call,
                                                      const gpuopt_simplex_many_desc *d) {
    const int32_t lines = d->layout == GPUOPT_LAYOUT_CSR ? d->rows : d->cols;
    uint64_t seen[GPUOPT__SIMPLEX_MANY_COLS / 64];
    int32_t line;
    int64_t e;
    for (line = 0; d->start && line < lines; line++) {
        memset(seen, 0, sizeof seen);
        for (e = d->start[line]; e < d->start[line + 1]; e++) {
            const uint64_t bit = (uint64_t)1 << d->index[e] % 64;
            if (seen[d->index[e] / 64] & bit) {
                gpuopt__log(context, 0, "%s: index[%lld] = %d comes twice in line %d", call, (long long)e,
                            (int)d->index[e], (int)line);
                return GPUOPT_ERROR_ARGUMENT;
            }
            seen[d->index[e] / 64] |= bit;
        }
    }
    return GPUOPT_OK;
}

/* One direction of the pattern. `start` has a place more than there are lines. */
static void gpuopt__simplex_many_fill_lines(const gpuopt_simplex_many_desc *d, int by_rows, int32_t *start,
                                            int32_t *index, int32_t *at) {
    const int as_given = by_rows == (d->layout == GPUOPT_LAYOUT_CSR);
    const int32_t lines = by_rows ? d->rows : d->cols, width = by_rows ? d->cols : d->rows;
    int32_t line, other, e;
    if (!d->start || as_given) {
        for (line = e = 0; line < lines; line++) {
            const int32_t count = d->start ? (int32_t)(d->start[line + 1] - d->start[line]) : width;
            start[line] = e;
            for (other = 0; other < count; other++, e++) {
                index[e] = d->start ? d->index[e] : other;
                at[e] = as_given ? e : other * lines + line;
            }
        }
        start[lines] = e;
        return;
    }
    memset(start, 0, sizeof(int32_t) * ((size_t)lines + 1));
    for (e = 0; e < d->start[width]; e++) start[d->index[e] + 1]++;
    for (line = 0; line < lines; line++) start[line + 1] += start[line];
    for (other = 0; other < width; other++)
        for (e = (int32_t)d->start[other]; e < d->start[other + 1]; e++) {
            const int32_t to = start[d->index[e]]++;
            index[to] = other;
            at[to] = e;
        }
    for (line = lines; line > 0; line--) start[line] = start[line - 1];
    start[0] = 0;
}

/* ---- Life ---- */

static gpuopt_status gpuopt__simplex_many_check(gpuopt_context *context, const char *call,
                                                const gpuopt_simplex_many_desc *desc, gpuopt_simplex_many *m) {
    const gpuopt__simplex_backend *family = context->desc.backend->simplex;
    gpuopt_simplex_many_desc *own = &m->desc;
    gpuopt__simplex_many_set *s = &m->set;
    gpuopt_status status;
    int k;
    memset(m, 0, sizeof *m);
    m->context = context;
    if (!desc) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "desc is NULL");
    status = gpuopt__check_struct(context, call, family, desc, desc->struct_size, own, sizeof *own);
    if (status) return status;
    {
        const gpuopt__range ranges[] = {{"infinity", own->infinity, 1, HUGE_VAL},
                                        {"primal_tolerance", own->primal_tolerance, 1e-12, 1e-3},
                                        {"dual_tolerance", own->dual_tolerance, 1e-12, 1e-3},
                                        {"pivot_tolerance", own->pivot_tolerance, 1e-14, 0.5}};
        const gpuopt__choice layout = {"layout", (int64_t)own->layout, GPUOPT_LAYOUT_CSC};
        status = gpuopt__check_ranges(context, call, ranges, sizeof ranges / sizeof *ranges);
        if (!status) status = gpuopt__check_choices(context, call, &layout, 1);
    }
    if (status) return status;
    if (own->copies < 1 || own->copies > GPUOPT__SIMPLEX_MANY_COPIES)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "copies is not in 1..65536");
    if (own->rows < 0 || own->rows > GPUOPT__SIMPLEX_MANY_ROWS)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "rows is not in 0..512");
    if (own->cols < 0 || own->cols > GPUOPT__SIMPLEX_MANY_COLS)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "cols is not in 0..8192");
    if (own->shared > 63)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "shared has a bit that is none of its enum's");
    if (own->iteration_limit < 0)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "iteration_limit is negative");
    status = gpuopt__simplex_many_check_start(context, call, own);
    if (!status) status = gpuopt__simplex_many_check_twice(context, call, own);
    if (status) return status;
    if (own->infinity == 0) own->infinity = 1e20;
    if (own->primal_tolerance == 0) own->primal_tolerance = 1e-9;
    if (own->dual_tolerance == 0) own->dual_tolerance = 1e-9;
    if (own->pivot_tolerance == 0) own->pivot_tolerance = 1e-7;
    s->rows = own->rows, s->cols = own->cols;
    s->nonzeros = (int32_t)gpuopt__simplex_many_nonzeros(own);
    s->maximize = own->maximize != 0;
    s->limit = own->iteration_limit < INT32_MAX ? (int32_t)own->iteration_limit : INT32_MAX;
    s->infinity = own->infinity;
    s->primal = own->primal_tolerance, s->dual = own->dual_tolerance, s->pivot = own->pivot_tolerance;
    for (k = 0; k < GPUOPT__SIMPLEX_MANY_ARRAYS; k++) {
        s->length[k] = k == GPUOPT__SIMPLEX_MANY_VALUE                                  ? s->nonzeros
                       : k == GPUOPT__SIMPLEX_MANY_LHS || k == GPUOPT__SIMPLEX_MANY_RHS ? s->rows
                                                                                        : s->cols;
        s->stride[k] = own->shared >> k & 1 ? 0 : s->length[k];
    }
    return GPUOPT_OK;
}

/* Cuts the head's block; with base NULL it only measures. */
static gpuopt_simplex_many *gpuopt__simplex_many_cut_head(gpuopt__arena *arena, gpuopt_simplex_many *m,
                                                          int32_t *lines[6]) {
    const gpuopt__simplex_many_set *s = &m->set;
    const int64_t lengths[] = {(int64_t)s->rows + 1, s->nonzeros, s->nonzeros,
                               (int64_t)s->cols + 1, s->nonzeros, s->nonzeros};
    gpuopt_simplex_many *own = (gpuopt_simplex_many *)gpuopt__cut(arena, 1, sizeof *m);
    int k;
    for (k = 0; k < 6; k++) lines[k] = (int32_t *)gpuopt__cut(arena, lengths[k], sizeof(int32_t));
    m->set.progress =
        (gpuopt__simplex_many_progress *)gpuopt__cut(arena, m->desc.copies, sizeof(gpuopt__simplex_many_progress));
    return own;
}

static const struct gpuopt__simplex_many_backend *gpuopt__simplex_many_backend_of(const gpuopt_context *context) {
    return context->desc.backend->simplex->many;
}

GPUOPT_API gpuopt_status gpuopt_simplex_many_plan(gpuopt_context *context, const gpuopt_simplex_many_desc *desc,
                                                  gpuopt_memory_plan *plan) {
    static const char call[] = "gpuopt_simplex_many_plan";
    gpuopt_simplex_many draft;
    gpuopt_memory_plan result;
    gpuopt__arena arena = {NULL, 0};
    int32_t *lines[6];
    gpuopt_status status;
    if (!context) return GPUOPT_ERROR_ARGUMENT;
    if (!GPUOPT__HAS_SIZE(plan))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "plan is NULL or has no struct_size");
    memset(&result, 0, sizeof result);
    status = gpuopt__simplex_many_check(context, call, desc, &draft);
    if (!status) status = gpuopt__simplex_many_backend_of(context)->plan(&draft, &result);
    if (status) return status;
    gpuopt__simplex_many_cut_head(&arena, &draft, lines);
    result.host_bytes += arena.used;
    gpuopt__copy_out(plan, plan->struct_size, &result, sizeof result);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_simplex_many_create(gpuopt_context *context, const gpuopt_simplex_many_desc *desc,
                                                    gpuopt_simplex_many **many) {
    static const char call[] = "gpuopt_simplex_many_create";
    gpuopt_simplex_many draft, *m;
    gpuopt__arena arena = {NULL, 0};
    int32_t *lines[6];
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_simplex_many_create(context, desc, many));
    if (many) *many = NULL;
    if (!context) return GPUOPT_ERROR_ARGUMENT;
    if (!many) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "many is NULL");
    status = gpuopt__simplex_many_check(context, call, desc, &draft);
    if (status) return status;
    gpuopt__simplex_many_cut_head(&arena, &draft, lines);
    status = gpuopt__take_block(context, GPUOPT_HOST, &arena);
    if (status) return status;
    m = gpuopt__simplex_many_cut_head(&arena, &draft, lines);
    *m = draft;
    gpuopt__simplex_many_fill_lines(&m->desc, 1, lines[0], lines[1], lines[2]);
    gpuopt__simplex_many_fill_lines(&m->desc, 0, lines[3], lines[4], lines[5]);
    m->desc.start = NULL;
    m->desc.index = NULL;
    m->set.row_start = lines[0], m->set.row_col = lines[1], m->set.row_at = lines[2];
    m->set.col_start = lines[3], m->set.col_row = lines[4], m->set.col_at = lines[5];
    status = gpuopt__simplex_many_backend_of(context)->create(m);
    if (status) gpuopt__release(context, GPUOPT_HOST, m);
    else *many = m;
    return status;
}

GPUOPT_API void gpuopt_simplex_many_destroy(gpuopt_simplex_many *many) {
    if (!many) return;
    gpuopt__simplex_many_backend_of(many->context)->destroy(many);
    gpuopt__release(many->context, GPUOPT_HOST, many);
}

/* ---- Programs ---- */

GPUOPT_API gpuopt_status gpuopt_simplex_many_load(gpuopt_simplex_many *many, gpuopt_memory where,
                                                  const gpuopt_simplex_programs *programs) {
    static const char call[] = "gpuopt_simplex_many_load";
    gpuopt_simplex_programs given;
    gpuopt_context *context;
    int64_t bad = -1;
    gpuopt_status status;
    int k;
    GPUOPT__COMPUTES(gpuopt_simplex_many_load(many, where, programs));
    if (!many) return GPUOPT_ERROR_ARGUMENT;
    context = many->context;
    memset(&given, 0, sizeof given);
    if (!programs || !gpuopt__copy_in(&given, sizeof given, programs, programs->struct_size))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "programs is NULL or has a wrong size");
    status = gpuopt__check_where(context, call, where);
    if (status) return status;
    if (given.count < 0 || given.count > many->desc.copies)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "count is negative, or exceeds the copies");
    if (given.count > 0 && many->set.nonzeros > 0 && !given.value)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "value is NULL");
    {
        const double *const from[] = {given.value, given.cost, given.lhs, given.rhs, given.lb, given.ub};
        for (k = 0; k < GPUOPT__SIMPLEX_MANY_ARRAYS; k++) many->set.given[k] = from[k] != NULL;
        many->set.count = given.count;
        memset(many->set.progress, 0, sizeof *many->set.progress * (size_t)given.count);
        if (given.count > 0) status = gpuopt__simplex_many_backend_of(context)->load(many, where, from, &bad);
    }
    if (!status && bad >= 0) status = gpuopt__simplex_many_refuse_number(context, call, bad);
    if (status) many->set.count = 0;
    return status;
}

/* ---- Iterating ---- */

static gpuopt_status gpuopt__simplex_many_fill_info(const gpuopt_simplex_many *m, const char *call,
                                                    gpuopt_simplex_many_info *info) {
    gpuopt_simplex_many_info result;
    int32_t k;
    if (!GPUOPT__HAS_SIZE(info))
        return gpuopt__refuse(m->context, GPUOPT_ERROR_ARGUMENT, call, "info is NULL or has no struct_size");
    memset(&result, 0, sizeof result);
    result.count = m->set.count;
    for (k = 0; k < m->set.count; k++) {
        const gpuopt__simplex_many_progress *p = &m->set.progress[k];
        int32_t *const of = p->outcome == GPUOPT_MORE         ? &result.more
                            : p->outcome == GPUOPT_OPTIMAL    ? &result.optimal
                            : p->outcome == GPUOPT_INFEASIBLE ? &result.infeasible
                            : p->outcome == GPUOPT_UNBOUNDED  ? &result.unbounded
                            : p->outcome == GPUOPT_LIMIT      ? &result.limit
                                                              : &result.imprecise;
        ++*of;
        result.iterations += p->iterations;
    }
    gpuopt__copy_out(info, info->struct_size, &result, sizeof result);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_simplex_many_iterate(gpuopt_simplex_many *many, int64_t iterations,
                                                     gpuopt_simplex_many_info *info) {
    static const char call[] = "gpuopt_simplex_many_iterate";
    gpuopt_status status = GPUOPT_OK;
    GPUOPT__COMPUTES(gpuopt_simplex_many_iterate(many, iterations, info));
    if (!many) return GPUOPT_ERROR_ARGUMENT;
    if (iterations < 1) return gpuopt__refuse(many->context, GPUOPT_ERROR_ARGUMENT, call, "iterations is less than 1");
    if (info && !GPUOPT__HAS_SIZE(info))
        return gpuopt__refuse(many->context, GPUOPT_ERROR_ARGUMENT, call, "info has no struct_size");
    many->set.most = iterations < INT32_MAX ? (int32_t)iterations : INT32_MAX;
    if (many->set.count > 0) status = gpuopt__simplex_many_backend_of(many->context)->run(many);
    return status || !info ? status : gpuopt__simplex_many_fill_info(many, call, info);
}

GPUOPT_API gpuopt_status gpuopt_simplex_many_get_info(gpuopt_simplex_many *many, gpuopt_simplex_many_info *info) {
    return many ? gpuopt__simplex_many_fill_info(many, "gpuopt_simplex_many_get_info", info) : GPUOPT_ERROR_ARGUMENT;
}

/* ---- Results ---- */

/* Outcomes and iterations go through a few numbers on the stack, since they lie between others. */
static gpuopt_status gpuopt__simplex_many_get_progress(const gpuopt_simplex_many *m,
                                                       const gpuopt__simplex_many_wanted *wanted, int iterations,
                                                       int32_t *to) {
    enum { AT_ONCE = 1024 };
    int32_t some[AT_ONCE], done, k, count;
    gpuopt_status status = GPUOPT_OK;
    for (done = 0; to && !status && done < wanted->count; done += count) {
        const gpuopt__simplex_many_progress *from = m->set.progress + wanted->first + done;
        count = wanted->count - done < AT_ONCE ? wanted->count - done : AT_ONCE;
        for (k = 0; k < count; k++) some[k] = iterations ? from[k].iterations : from[k].outcome;
        if (wanted->where == GPUOPT_HOST) memcpy(to + done, some, sizeof *some * (size_t)count);
        else status = gpuopt__deliver(m->context, wanted->where, to + done, some, sizeof *some * (uint64_t)count);
    }
    return status;
}

GPUOPT_API gpuopt_status gpuopt_simplex_many_get(gpuopt_simplex_many *many, gpuopt_memory where, int32_t first,
                                                 int32_t count, const gpuopt_simplex_many_report *report) {
    static const char call[] = "gpuopt_simplex_many_get";
    gpuopt__simplex_many_wanted wanted;
    gpuopt_status status;
    if (!many) return GPUOPT_ERROR_ARGUMENT;
    memset(&wanted, 0, sizeof wanted);
    if (!report || !gpuopt__copy_in(&wanted.report, sizeof wanted.report, report, report->struct_size))
        return gpuopt__refuse(many->context, GPUOPT_ERROR_ARGUMENT, call, "report is NULL or has a wrong size");
    status = gpuopt__check_where(many->context, call, where);
    if (status) return status;
    if (first < 0 || count < 0 || first > many->set.count - count)
        return gpuopt__refuse(many->context, GPUOPT_ERROR_ARGUMENT, call, "there are no such programs");
    wanted.where = where, wanted.first = first, wanted.count = count;
    if (count == 0) return GPUOPT_OK;
    status = gpuopt__simplex_many_get_progress(many, &wanted, 0, wanted.report.outcome);
    if (!status) status = gpuopt__simplex_many_get_progress(many, &wanted, 1, wanted.report.iterations);
    return status ? status : gpuopt__simplex_many_backend_of(many->context)->get(many, &wanted);
}

#endif /* GPUOPT_IMPL_SIMPLEX_MANY_H */
