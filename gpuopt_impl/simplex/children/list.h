/* SPDX-License-Identifier: MIT
 *
 * Children of one basis: what the caller gives, checked and brought into the root's scales.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CHILDREN_LIST_H
#define GPUOPT_IMPL_SIMPLEX_CHILDREN_LIST_H

#include "../api/basis_and_solution.h"
#include "../api/change.h"

/* One of the three lists that children are given, in host memory. */
typedef struct gpuopt__simplex_given {
    const char *start_name, *index_name, *low_name, *high_name;
    const int64_t *start;
    const int32_t *index;
    const double *low, *high; /* costs: high is NULL */
    int32_t end;              /* of the indices */
} gpuopt__simplex_given;

/* Fetches a list's starts into `buffer`, and checks them; *left: entries that still fit. */
static gpuopt_status gpuopt__simplex_fetch_starts(gpuopt_simplex_children *b, const char *call,
                                                  gpuopt_memory_space where, int32_t count, gpuopt__simplex_given *g,
                                                  int64_t *buffer, int64_t *left) {
    gpuopt_context *context = b->root->context;
    const void *found = NULL;
    int32_t k;
    gpuopt_status status;
    if (!g->start) return GPUOPT_OK;
    status = gpuopt__fetch(context, where, g->start, sizeof(int64_t) * ((uint64_t)count + 1), buffer, &found);
    if (status) return status;
    g->start = (const int64_t *)found;
    for (k = 0; k < count; k++)
        if (g->start[0] != 0 || g->start[k] > g->start[k + 1]) {
            gpuopt__log(context, 0, "%s: %s[0] is not 0, or %s[%d] exceeds the next one", call, g->start_name,
                        g->start_name, (int)k);
            return GPUOPT_ERROR_ARGUMENT;
        }
    *left -= g->start[count];
    if (*left < 0)
        return gpuopt__refuse(context, GPUOPT_ERROR_MEMORY, call,
                              "the children are given more entries than the descriptor allows");
    return GPUOPT_OK;
}

/* Fetches the entries of a list into the batch's staging, and checks the indices. */
static gpuopt_status gpuopt__simplex_fetch_entries(gpuopt_simplex_children *b, const char *call,
                                                   gpuopt_memory_space where, int32_t count, gpuopt__simplex_given *g) {
    gpuopt_context *context = b->root->context;
    const int64_t entries = g->start ? g->start[count] : 0;
    const uint64_t bytes = sizeof(double) * (uint64_t)entries;
    const void *index = NULL, *low = NULL, *high = NULL;
    gpuopt_status status;
    if (entries == 0) return GPUOPT_OK;
    if (!g->index) {
        gpuopt__log(context, 0, "%s: %s is NULL", call, g->index_name);
        return GPUOPT_ERROR_ARGUMENT;
    }
    status = gpuopt__fetch(context, where, g->index, sizeof(int32_t) * (uint64_t)entries, b->index, &index);
    if (!status && g->low) status = gpuopt__fetch(context, where, g->low, bytes, b->low, &low);
    if (!status && g->high) status = gpuopt__fetch(context, where, g->high, bytes, b->high, &high);
    if (status) return status;
    g->index = (const int32_t *)index;
    g->low = (const double *)low;
    g->high = (const double *)high;
    return gpuopt__check_indices(context, call, g->index_name, entries, g->index, g->end);
}

/* The bounds of a root, -1: the handle. */
static const double *gpuopt__simplex_lower_of(const gpuopt_simplex_children *b, int32_t root) {
    const int64_t both = (int64_t)b->lp->rows + b->lp->cols;
    return root < 0 ? b->root->lower : b->roots.lower + root * both;
}
static const double *gpuopt__simplex_upper_of(const gpuopt_simplex_children *b, int32_t root) {
    const int64_t both = (int64_t)b->lp->rows + b->lp->cols;
    return root < 0 ? b->root->upper : b->roots.upper + root * both;
}

/* Fills the roots of `count` children, one for each `every` of them, from the caller's list. */
static gpuopt_status gpuopt__simplex_take_roots(gpuopt_simplex_children *b, const char *call, gpuopt_memory_space where,
                                                int32_t count, int32_t every, const int32_t *given) {
    gpuopt_context *context = b->root->context;
    gpuopt__simplex_children_job *job = &b->job;
    int32_t *const root = job->children.root;
    const void *found = NULL;
    int32_t k;
    gpuopt_status status = GPUOPT_OK;
    job->named_roots = 0;
    if (given) status = gpuopt__fetch(context, where, given, sizeof *given * (uint64_t)(count / every), root, &found);
    if (status) return status;
    for (k = count / every - 1; k >= 0; k--) {
        const int32_t mine = given ? ((const int32_t *)found)[k] : -1;
        int32_t n;
        if (mine < -1 || (mine >= b->roots.count && b->roots.count > 0) || (mine >= 0 && b->desc.roots == 0)) {
            gpuopt__log(context, 0, "%s: root[%d] = %d is not in -1..%d", call, (int)k, (int)mine,
                        (int)b->roots.count - 1);
            return GPUOPT_ERROR_ARGUMENT;
        }
        for (n = 0; n < every; n++) root[every * k + n] = mine; /* from the end on: found may be the same array */
        job->named_roots |= mine >= 0;
    }
    if (job->named_roots && b->roots.count == 0)
        return gpuopt__refuse(context, GPUOPT_ERROR_STATE, call, "no roots are set");
    if (job->named_roots && b->roots.models != b->root->models)
        return gpuopt__refuse(context, GPUOPT_ERROR_STATE, call,
                              "rows or columns of the handle were added or removed after the roots were set");
    return GPUOPT_OK;
}

/* Appends child k's bounds of a list to the job's. A slack is minus its row. */
static void gpuopt__simplex_scale_bounds(gpuopt_simplex_children *b, const gpuopt__simplex_given *g, int32_t k,
                                         int is_row, int64_t *at, int *exact) {
    const gpuopt_simplex *s = b->root;
    gpuopt__simplex_child_list *c = &b->job.children;
    const double *const lower = gpuopt__simplex_lower_of(b, c->root[k]), *const upper =
                                                                             gpuopt__simplex_upper_of(b, c->root[k]);
    int64_t e;
    for (e = g->start ? g->start[k] : 0; g->start && e < g->start[k + 1]; e++, ++*at) {
        const int32_t variable = (is_row ? s->lp.cols : 0) + g->index[e];
        const double scale = gpuopt__simplex_bound_scale(s, variable), infinity = s->desc.infinity;
        double low = lower[variable], high = upper[variable];
        double *of_low = is_row ? &high : &low, *of_high = is_row ? &low : &high;
        if (g->low) {
            const double value = g->low[e] <= -infinity ? -HUGE_VAL : g->low[e];
            *of_low = gpuopt__simplex_scaled(value, scale, exact);
        }
        if (g->high) {
            const double value = g->high[e] >= infinity ? HUGE_VAL : g->high[e];
            *of_high = gpuopt__simplex_scaled(value, scale, exact);
        }
        c->variable[*at] = variable;
        c->lower[*at] = low;
        c->upper[*at] = high;
    }
}

/* Fills the job's children from the caller's. The lists share the staging for what is in device memory, so a list is
 * scaled before the next one is fetched. Bounds of columns come first, and those of rows behind them, so that each
 * child's entries are together. */
static gpuopt_status gpuopt__simplex_take_children(gpuopt_simplex_children *b, const char *call,
                                                   gpuopt_memory_space where, const gpuopt_simplex_child_list *given) {
    gpuopt_simplex *s = b->root;
    gpuopt_context *context = s->context;
    gpuopt__simplex_child_list *c = &b->job.children;
    gpuopt__simplex_given list[] = {
        {"start", "col", "lb", "ub", given->start, given->col, given->lb, given->ub, s->lp.cols},
        {"side_start", "row", "lhs", "rhs", given->side_start, given->row, given->lhs, given->rhs, s->lp.rows},
        {"cost_start", "cost_col", "cost", NULL, given->cost_start, given->cost_col, given->cost, NULL, s->lp.cols}};
    int64_t left = b->desc.changes, at = 0, e;
    int32_t k, kind;
    int exact = 1;
    gpuopt_status status = gpuopt__simplex_take_roots(b, call, where, given->count, 1, given->root);
    c->count = given->count;
    for (kind = 0; kind < 3 && !status; kind++)
        status = gpuopt__simplex_fetch_starts(b, call, where, given->count, &list[kind], b->start[kind], &left);
    if (status) return status;
    if (list[1].start && list[1].start[given->count] > 0 && (!given->lhs || !given->rhs))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "lhs or rhs is NULL");
    if (list[2].start && list[2].start[given->count] > 0 && !given->cost)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "cost is NULL");
    for (k = 0; k <= given->count; k++) {
        c->bound_start[k] = (list[0].start ? list[0].start[k] : 0) + (list[1].start ? list[1].start[k] : 0);
        c->cost_start[k] = list[2].start ? list[2].start[k] : 0;
    }
    for (kind = 0; kind < 2 && !status; kind++) {
        const gpuopt__simplex_given *g = &list[kind];
        status = gpuopt__simplex_fetch_entries(b, call, where, given->count, &list[kind]);
        if (!status && g->start)
            status = gpuopt__check_pairs(context, call, g->low_name, g->high_name, g->start[given->count], g->low,
                                         g->high, s->desc.infinity, kind == 0);
        for (k = 0; k < given->count && !status && g->start; k++) {
            at = kind == 0 ? c->bound_start[k] : c->bound_start[k + 1] - (g->start[k + 1] - g->start[k]);
            gpuopt__simplex_scale_bounds(b, g, k, kind, &at, &exact);
        }
    }
    if (!status) status = gpuopt__simplex_fetch_entries(b, call, where, given->count, &list[2]);
    if (!status) status = gpuopt__check_finite(context, call, "cost", c->cost_start[given->count], list[2].low);
    for (e = 0; !status && e < c->cost_start[given->count]; e++) {
        c->col[e] = list[2].index[e];
        c->cost[e] = gpuopt__simplex_scaled(list[2].low[e], gpuopt__simplex_cost_scale(s, c->col[e]), &exact);
    }
    if (!status && !exact)
        status =
            gpuopt__refuse(context, GPUOPT_ERROR_NUMERIC, call, "a value would overflow or lose digits when scaled");
    return status;
}

/* A value within this of an integer is none to branch at. */
#define GPUOPT__SIMPLEX_INTEGRAL 1e-6

/* The two children of the caller's column at x. If x is integral, both are the root: rounding must not make a bound of
 * -1e-17 one of -1. */
static gpuopt_status gpuopt__simplex_branch_on(gpuopt_simplex_children *b, const char *call, int32_t k, int32_t col,
                                               double x) {
    const gpuopt_simplex *s = b->root;
    gpuopt__simplex_child_list *c = &b->job.children;
    const double scale = gpuopt__simplex_bound_scale(s, col), down = floor(x);
    int exact = 1;
    c->variable[2 * k] = c->variable[2 * k + 1] = col;
    c->lower[2 * k] = c->lower[2 * k + 1] = gpuopt__simplex_lower_of(b, c->root[2 * k])[col];
    c->upper[2 * k] = c->upper[2 * k + 1] = gpuopt__simplex_upper_of(b, c->root[2 * k])[col];
    if (fabs(x - floor(x + 0.5)) <= GPUOPT__SIMPLEX_INTEGRAL) return GPUOPT_OK;
    c->upper[2 * k] = gpuopt__simplex_scaled(down, scale, &exact);
    c->lower[2 * k + 1] = gpuopt__simplex_scaled(down + 1, scale, &exact);
    return exact ? GPUOPT_OK
                 : gpuopt__refuse(s->context, GPUOPT_ERROR_NUMERIC, call,
                                  "a value would overflow or lose digits when scaled");
}

#endif /* GPUOPT_IMPL_SIMPLEX_CHILDREN_LIST_H */
