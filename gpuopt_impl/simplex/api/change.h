/* SPDX-License-Identifier: MIT
 *
 * Changes bounds, sides and costs of a handle's model. The basis and its inverse stay valid.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_API_CHANGE_H
#define GPUOPT_IMPL_SIMPLEX_API_CHANGE_H

#include "handle.h"

/* The caller's lists, in host memory. */
typedef struct gpuopt__simplex_change {
    int64_t count;
    const int32_t *index;     /* NULL: all lines */
    const double *low, *high; /* bounds or sides; for costs, low has them and high is NULL */
} gpuopt__simplex_change;

/* The line of entry k. */
static int32_t gpuopt__simplex_changed_line(const gpuopt__simplex_change *c, int64_t k) {
    return c->index ? c->index[k] : (int32_t)k;
}

/* Checks the lists' lengths and indices, and fetches the lists. Lists of values may be NULL. `name`: name of the list
 * of indices, which must be below `end`. */
static gpuopt_status gpuopt__simplex_fetch_change(gpuopt_simplex *s, const char *call, gpuopt_memory_space where,
                                                  const char *name, int32_t end, gpuopt__simplex_change *c) {
    const void *index = NULL, *low = NULL, *high = NULL;
    uint64_t bytes;
    gpuopt_status status = gpuopt__check_where(s->context, call, where);
    if (status) return status;
    if (!c->index && c->count != 0 && c->count != end) {
        gpuopt__log(s->context, 0, "%s: %s is NULL, and count = %lld is neither 0 nor %d", call, name,
                    (long long)c->count, (int)end);
        return GPUOPT_ERROR_ARGUMENT;
    }
    if (!c->index) c->count = end;
    if (c->count < 0 || c->count > end) {
        gpuopt__log(s->context, 0, "%s: count = %lld is not in 0..%d", call, (long long)c->count, (int)end);
        return GPUOPT_ERROR_ARGUMENT;
    }
    if (c->count == 0) return GPUOPT_OK;
    bytes = sizeof(double) * (uint64_t)c->count;
    if (c->index)
        status = gpuopt__fetch(s->context, where, c->index, sizeof(int32_t) * (uint64_t)c->count, s->staging, &index);
    if (!status && c->low) status = gpuopt__fetch(s->context, where, c->low, bytes, s->scratch, &low);
    if (!status && c->high) status = gpuopt__fetch(s->context, where, c->high, bytes, s->scratch_low, &high);
    if (status) return status;
    c->index = (const int32_t *)index;
    c->low = (const double *)low;
    c->high = (const double *)high;
    return c->index ? gpuopt__check_indices(s->context, call, name, c->count, c->index, end) : GPUOPT_OK;
}

/* A bound, side or cost times a power of two. Sets *exact to 0 if scaling back gives another value. */
static double gpuopt__simplex_scaled(double value, double scale, int *exact) {
    double scaled = value * scale;
    if (scaled / scale != value) *exact = 0;
    return scaled;
}

static gpuopt_status gpuopt__simplex_inexact(const gpuopt_simplex *s, const char *call, int64_t k) {
    gpuopt__log(s->context, 0, "%s: value %lld of the list would overflow or lose digits when scaled", call,
                (long long)k);
    return GPUOPT_ERROR_NUMERIC;
}

/* The scale factor of a variable's bound, and of a column's cost. */
static double gpuopt__simplex_bound_scale(const gpuopt_simplex *s, int32_t variable) {
    int32_t row = variable - s->lp.cols;
    return row < 0 ? s->primal_scale / s->lp.col_scale[variable] : -(s->lp.row_scale[row] * s->primal_scale);
}

static double gpuopt__simplex_cost_scale(const gpuopt_simplex *s, int32_t col) {
    return (s->desc.maximize ? -s->cost_scale : s->cost_scale) * s->lp.col_scale[col];
}

/* Sets bounds of the variables first + line k; both lists of values may be NULL. A slack is minus its row. */
static gpuopt_status gpuopt__simplex_set_bounds(gpuopt_simplex *s, const char *call, int32_t first, int is_row,
                                                const gpuopt__simplex_change *c) {
    double infinity = s->desc.infinity;
    int64_t k;
    int exact = 1, pass;
    gpuopt_status status;
    for (pass = 0; pass < 2; pass++) { /* first check, then set */
        for (k = 0; k < c->count; k++) {
            int32_t variable = first + gpuopt__simplex_changed_line(c, k);
            double scale = gpuopt__simplex_bound_scale(s, variable), l = s->lower[variable], u = s->upper[variable];
            if (c->low) {
                double value =
                    gpuopt__simplex_scaled(gpuopt__simplex_side(c->low, (int32_t)k, 0, infinity), scale, &exact);
                *(is_row ? &u : &l) = value;
            }
            if (c->high) {
                double value =
                    gpuopt__simplex_scaled(gpuopt__simplex_side(c->high, (int32_t)k, 0, infinity), scale, &exact);
                *(is_row ? &l : &u) = value;
            }
            if (!exact) return gpuopt__simplex_inexact(s, call, k);
            if (pass == 0) continue;
            s->lower[variable] = l;
            s->upper[variable] = u;
        }
        status = pass == 0 ? gpuopt__simplex_pull(s) : GPUOPT_OK;
        if (status) return status;
    }
    for (k = 0; k < c->count; k++) gpuopt__simplex_work_bounds(s, first + gpuopt__simplex_changed_line(c, k));
    gpuopt__simplex_find_crossing(s);
    return gpuopt__simplex_changed(s);
}

static gpuopt_status gpuopt__simplex_call_set_bounds(gpuopt_simplex *simplex, const char *call,
                                                     gpuopt_memory_space where, int64_t count, const int32_t *col,
                                                     const double *lb, const double *ub) {
    gpuopt__simplex_change c = {count, col, lb, ub};
    gpuopt_status status = gpuopt__simplex_fetch_change(simplex, call, where, "col", simplex->lp.cols, &c);
    if (!status)
        status =
            gpuopt__check_pairs(simplex->context, call, "lb", "ub", c.count, c.low, c.high, simplex->desc.infinity, 1);
    if (status || c.count == 0 || (!lb && !ub)) return status;
    return gpuopt__simplex_set_bounds(simplex, call, 0, 0, &c);
}

GPUOPT_API gpuopt_status gpuopt_simplex_set_bounds(gpuopt_simplex *simplex, gpuopt_memory_space where, int64_t count,
                                                   const int32_t *col, const double *lb, const double *ub) {
    GPUOPT__SIMPLEX_CALL(gpuopt__simplex_call_set_bounds(simplex, call, where, count, col, lb, ub), where, count,
                         gpuopt__simplex_change_fingerprint(where, col, count, simplex->lp.cols, lb, ub));
}

static gpuopt_status gpuopt__simplex_set_sides(gpuopt_simplex *simplex, const char *call, gpuopt_memory_space where,
                                               int64_t count, const int32_t *row, const double *lhs,
                                               const double *rhs) {
    gpuopt__simplex_change c = {count, row, lhs, rhs};
    gpuopt_status status = gpuopt__simplex_fetch_change(simplex, call, where, "row", simplex->lp.rows, &c);
    if (count == 0 && !lhs && !rhs) return status; /* nothing to set */
    if (!status && c.count > 0 && (!lhs || !rhs))
        return gpuopt__refuse(simplex->context, GPUOPT_ERROR_ARGUMENT, call, "lhs or rhs is NULL");
    if (!status)
        status = gpuopt__check_pairs(simplex->context, call, "lhs", "rhs", c.count, c.low, c.high,
                                     simplex->desc.infinity, 0);
    return status || c.count == 0 ? status : gpuopt__simplex_set_bounds(simplex, call, simplex->lp.cols, 1, &c);
}

GPUOPT_API gpuopt_status gpuopt_simplex_set_sides(gpuopt_simplex *simplex, gpuopt_memory_space where, int64_t count,
                                                  const int32_t *row, const double *lhs, const double *rhs) {
    GPUOPT__SIMPLEX_CALL(gpuopt__simplex_set_sides(simplex, call, where, count, row, lhs, rhs), where, count,
                         gpuopt__simplex_change_fingerprint(where, row, count, simplex->lp.rows, lhs, rhs));
}

static gpuopt_status gpuopt__simplex_set_costs(gpuopt_simplex *s, const char *call, gpuopt_memory_space where,
                                               int64_t count, const int32_t *col, const double *cost) {
    gpuopt__simplex_change c = {count, col, cost, NULL};
    int64_t k;
    int exact = 1;
    gpuopt_status status = gpuopt__simplex_fetch_change(s, call, where, "col", s->lp.cols, &c);
    if (count == 0 && !cost) return status; /* nothing to set */
    if (!status && c.count > 0 && !cost) return gpuopt__refuse(s->context, GPUOPT_ERROR_ARGUMENT, call, "cost is NULL");
    if (!status) status = gpuopt__check_finite(s->context, call, "cost", c.count, c.low);
    for (k = 0; k < c.count && !status; k++) {
        gpuopt__simplex_scaled(c.low[k], gpuopt__simplex_cost_scale(s, gpuopt__simplex_changed_line(&c, k)), &exact);
        if (!exact) status = gpuopt__simplex_inexact(s, call, k);
    }
    if (!status && c.count > 0) status = gpuopt__simplex_pull(s);
    if (status || c.count == 0) return status;
    for (k = 0; k < c.count; k++) {
        int32_t j = gpuopt__simplex_changed_line(&c, k);
        s->cost[j] = c.low[k] * gpuopt__simplex_cost_scale(s, j);
    }
    return gpuopt__simplex_changed(s);
}

GPUOPT_API gpuopt_status gpuopt_simplex_set_costs(gpuopt_simplex *simplex, gpuopt_memory_space where, int64_t count,
                                                  const int32_t *col, const double *cost) {
    GPUOPT__SIMPLEX_CALL(gpuopt__simplex_set_costs(simplex, call, where, count, col, cost), where, count,
                         gpuopt__simplex_change_fingerprint(where, col, count, simplex->lp.cols, cost, NULL));
}

#endif /* GPUOPT_IMPL_SIMPLEX_API_CHANGE_H */
