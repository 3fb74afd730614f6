/* SPDX-License-Identifier: MIT
 *
 * Children of several bases: the roots that the caller describes, checked and brought into the handle's scales.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CHILDREN_ROOTS_H
#define GPUOPT_IMPL_SIMPLEX_CHILDREN_ROOTS_H

#include "list.h"

/* Cuts the arrays of the roots. */
static void gpuopt__simplex_roots_cut(gpuopt__arena *arena, const gpuopt_simplex_children *b,
                                      gpuopt__simplex_roots *r) {
    const int64_t both = (int64_t)b->shape->rows + b->shape->cols, roots = b->desc.roots, staged = roots > 0 ? both : 0;
    r->lower = (double *)gpuopt__cut(arena, roots * both, sizeof(double));
    r->upper = (double *)gpuopt__cut(arena, roots * both, sizeof(double));
    r->low = (double *)gpuopt__cut(arena, staged, sizeof(double));
    r->high = (double *)gpuopt__cut(arena, staged, sizeof(double));
    r->staging = (uint8_t *)gpuopt__cut(arena, staged, 1);
    r->status = (uint8_t *)gpuopt__cut(arena, roots * both, 1);
}

/* What the caller gives of one root, in host memory; NULL: the handle's. */
typedef struct gpuopt__simplex_given_root {
    const uint8_t *basis;
    const double *lb, *ub, *lhs, *rhs;
} gpuopt__simplex_given_root;

/* Fetches root k of the list. */
static gpuopt_status gpuopt__simplex_fetch_root(const gpuopt_simplex_children *b, gpuopt_memory_space where,
                                                const gpuopt_simplex_root_list *list, int64_t k,
                                                gpuopt__simplex_given_root *to) {
    gpuopt_context *context = b->root->context;
    const gpuopt__simplex_roots *r = &b->roots;
    const int64_t rows = b->lp->rows, cols = b->lp->cols;
    const double *const from[] = {list->lb, list->ub, list->lhs, list->rhs};
    double *const buffer[] = {r->low, r->high, r->low + cols, r->high + cols};
    const double **const into[] = {&to->lb, &to->ub, &to->lhs, &to->rhs};
    const void *found = NULL;
    int n;
    gpuopt_status status =
        gpuopt__fetch(context, where, list->basis + k * (rows + cols), (uint64_t)(rows + cols), r->staging, &found);
    to->basis = (const uint8_t *)found;
    for (n = 0; n < 4 && !status; n++) {
        const int64_t length = n < 2 ? cols : rows;
        *into[n] = NULL;
        if (!from[n]) continue;
        status =
            gpuopt__fetch(context, where, from[n] + k * length, sizeof(double) * (uint64_t)length, buffer[n], &found);
        *into[n] = (const double *)found;
    }
    return status;
}

/* Scales one bound of a root, or returns the handle's. */
static double gpuopt__simplex_bound_of_root(const gpuopt_simplex *s, const double *given, int32_t k, int32_t variable,
                                            double otherwise, int *exact) {
    if (!given) return otherwise;
    return gpuopt__simplex_scaled(gpuopt__simplex_side(given, k, 0, s->desc.infinity),
                                  gpuopt__simplex_bound_scale(s, variable), exact);
}

/* Scales the bounds of a root, a slack's from the sides of its row; with lower NULL it only checks. */
static gpuopt_status gpuopt__simplex_scale_root(const gpuopt_simplex *s, const char *call, int32_t k,
                                                const gpuopt__simplex_given_root *given, double *lower, double *upper) {
    int32_t v;
    int exact = 1;
    for (v = 0; v < s->lp.cols + s->lp.rows; v++) {
        const int is_row = v >= s->lp.cols;
        const int32_t at = is_row ? v - s->lp.cols : v;
        const double l = gpuopt__simplex_bound_of_root(s, is_row ? given->rhs : given->lb, at, v, s->lower[v], &exact),
                     u = gpuopt__simplex_bound_of_root(s, is_row ? given->lhs : given->ub, at, v, s->upper[v], &exact);
        if (is_row && l > u) {
            gpuopt__log(s->context, 0, "%s: root %d: lhs[%d] exceeds rhs[%d]", call, (int)k, (int)at, (int)at);
            return GPUOPT_ERROR_ARGUMENT;
        }
        if (lower) lower[v] = l, upper[v] = u;
    }
    if (exact) return GPUOPT_OK;
    gpuopt__log(s->context, 0, "%s: root %d: a value would overflow or lose digits when scaled", call, (int)k);
    return GPUOPT_ERROR_NUMERIC;
}

static gpuopt_status gpuopt__simplex_check_root(const gpuopt_simplex *s, const char *call, int32_t k,
                                                const gpuopt__simplex_given_root *given) {
    char name[80];
    gpuopt_status status;
    snprintf(name, sizeof name, "%s: root %d", call, (int)k);
    status = gpuopt__simplex_check_basis(s, name, given->basis);
    if (!status)
        status =
            gpuopt__check_pairs(s->context, name, "lb", "ub", s->lp.cols, given->lb, given->ub, s->desc.infinity, 1);
    if (!status)
        status = gpuopt__check_pairs(s->context, name, "lhs", "rhs", s->lp.rows, given->lhs, given->rhs,
                                     s->desc.infinity, 0);
    return status ? status : gpuopt__simplex_scale_root(s, call, k, given, NULL, NULL);
}

static gpuopt_status gpuopt__simplex_children_set_roots(gpuopt_simplex_children *children, const char *call,
                                                        gpuopt_memory_space where,
                                                        const gpuopt_simplex_root_list *list) {
    gpuopt_simplex_root_list given;
    gpuopt__simplex_given_root one = {NULL, NULL, NULL, NULL, NULL};
    gpuopt__simplex_roots *r = &children->roots;
    gpuopt_simplex *s = children->root;
    const int64_t both = (int64_t)s->lp.rows + s->lp.cols;
    int32_t k, j, pass, singular = -1;
    gpuopt_status status;
    memset(&given, 0, sizeof given);
    if (!GPUOPT__COPY_IN(s->context, call, gpuopt_simplex_root_list, &given, list)) return GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__check_where(s->context, call, where);
    if (status) return status;
    if (children->desc.roots == 0)
        return gpuopt__refuse(s->context, GPUOPT_ERROR_STATE, call, "the descriptor has no roots");
    if (given.count < 0) return gpuopt__refuse(s->context, GPUOPT_ERROR_ARGUMENT, call, "count is negative");
    if (given.count > children->desc.roots)
        return gpuopt__refuse(s->context, GPUOPT_ERROR_MEMORY, call, "the descriptor does not allow so many roots");
    if (given.count > 0 && !given.basis)
        return gpuopt__refuse(s->context, GPUOPT_ERROR_ARGUMENT, call, "basis is NULL");
    for (pass = 0; pass < 2; pass++) /* look, then set */
        for (k = 0; k < given.count; k++) {
            status = gpuopt__simplex_fetch_root(children, where, &given, k, &one);
            if (!status && pass == 0) status = gpuopt__simplex_check_root(s, call, k, &one);
            if (status) return status;
            if (pass == 0) continue;
            gpuopt__simplex_scale_root(s, call, k, &one, r->lower + k * both, r->upper + k * both);
            for (j = 0; j < both; j++) r->status[k * both + j] = gpuopt__simplex_given_status(s, j, one.basis[j]);
        }
    r->count = given.count;
    r->models = s->models;
    r->version++;
    if (given.count > 0) status = gpuopt__simplex_backend_of(s)->children_set_roots(children, &singular);
    if (!status && singular >= 0) {
        gpuopt__log(s->context, 0, "%s: the basis of root %d is singular", call, (int)singular);
        status = GPUOPT_ERROR_NUMERIC;
    }
    if (status) r->count = 0;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_simplex_children_set_roots(gpuopt_simplex_children *children, gpuopt_memory_space where,
                                                           const gpuopt_simplex_root_list *list) {
    GPUOPT__CALL(children, children->context, gpuopt__simplex_children_set_roots(children, call, where, list));
}

#endif /* GPUOPT_IMPL_SIMPLEX_CHILDREN_ROOTS_H */
