/* SPDX-License-Identifier: MIT
 *
 * Basis inverse on the CPU: FTRAN, BTRAN, load, reports, create and destroy, and the backend's table. DEFERRED stores
 * the inverse as M + U V, with M by columns. The paper's techniques store one matrix by rows.
 */
#ifndef GPUOPT_IMPL_BASIS_CPU_H
#define GPUOPT_IMPL_BASIS_CPU_H

#include "cpu_update.h"

/* ---- FTRAN and BTRAN ----
 * The products are written to an array of the handle, because the caller's result may be the array of an argument. */

static void gpuopt__basis_cpu_times(const gpuopt__basis_cpu *b, const double *rhs, double *x) {
    int32_t i;
    if (b->head.technique == GPUOPT_TECHNIQUE_DEFERRED) gpuopt__deferred_times(&b->now, rhs, x);
    else
        for (i = 0; i < b->head.m; i++) x[i] = gpuopt__dot(b->head.m, gpuopt__basis_cpu_row(b, i), rhs);
}

static void gpuopt__basis_cpu_times_sparse(const gpuopt__basis_cpu *b, int32_t count, const int32_t *row,
                                           const double *val, double *x) {
    const gpuopt__deferred *d = &b->now;
    int32_t i, k, e, m = b->head.m;
    memset(x, 0, sizeof(double) * (size_t)m);
    if (b->head.technique == GPUOPT_TECHNIQUE_DEFERRED) {
        for (e = 0; e < count; e++) gpuopt__axpy(m, val[e], gpuopt__deferred_stored(d, row[e]), x);
        for (k = 0; k < d->count; k++) {
            double factor = 0;
            for (e = 0; e < count; e++) factor += d->v[(int64_t)k * m + row[e]] * val[e];
            if (factor != 0) gpuopt__axpy(m, factor, d->u + (int64_t)k * m, x);
        }
    } else {
        for (i = 0; i < m; i++)
            for (e = 0; e < count; e++) x[i] += gpuopt__basis_cpu_row(b, i)[row[e]] * val[e];
    }
}

static void gpuopt__basis_cpu_transposed_times(const gpuopt__basis_cpu *b, const double *c, double *y) {
    int32_t i, m = b->head.m;
    if (b->head.technique == GPUOPT_TECHNIQUE_DEFERRED) {
        gpuopt__deferred_transposed_times(&b->now, c, y);
        return;
    }
    memset(y, 0, sizeof(double) * (size_t)m);
    for (i = 0; i < m; i++)
        if (c[i] != 0) gpuopt__axpy(m, c[i], gpuopt__basis_cpu_row(b, i), y);
}

static gpuopt_status gpuopt__basis_cpu_ftran(gpuopt_basis *basis, gpuopt_memory_space where, const double *rhs,
                                             double *x) {
    gpuopt__basis_cpu *b = (gpuopt__basis_cpu *)basis;
    (void)where; /* host memory: this backend has no other */
    gpuopt__basis_cpu_times(b, rhs, b->alpha);
    if (x) memcpy(x, b->alpha, sizeof(double) * (size_t)basis->m);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__basis_cpu_ftran_sparse(gpuopt_basis *basis, gpuopt_memory_space where, int32_t count,
                                                    const int32_t *row, const double *val, double *x) {
    gpuopt__basis_cpu *b = (gpuopt__basis_cpu *)basis;
    (void)where; /* host memory: this backend has no other */
    gpuopt__basis_cpu_times_sparse(b, count, row, val, b->alpha);
    if (x) memcpy(x, b->alpha, sizeof(double) * (size_t)basis->m);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__basis_cpu_btran(gpuopt_basis *basis, gpuopt_memory_space where, const double *c,
                                             double *y) {
    gpuopt__basis_cpu *b = (gpuopt__basis_cpu *)basis;
    (void)where; /* host memory: this backend has no other */
    gpuopt__basis_cpu_transposed_times(b, c, b->row);
    memcpy(y, b->row, sizeof(double) * (size_t)basis->m);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__basis_cpu_btran_unit(gpuopt_basis *basis, gpuopt_memory_space where, int32_t position,
                                                  double *y) {
    gpuopt__basis_cpu *b = (gpuopt__basis_cpu *)basis;
    (void)where; /* host memory: this backend has no other */
    if (basis->technique == GPUOPT_TECHNIQUE_DEFERRED) gpuopt__deferred_row(&b->now, position, y);
    else memcpy(y, gpuopt__basis_cpu_row(b, position), sizeof(double) * (size_t)basis->m);
    return GPUOPT_OK;
}

/* ---- Load ---- */

/* Eliminates the remaining columns in `next`. Returns -1, or a column without a pivot. */
static int32_t gpuopt__basis_cpu_eliminate(gpuopt__basis_cpu *b) {
    gpuopt__basis_order *order = &b->order;
    gpuopt__deferred *d = &b->next;
    int32_t n, i;
    for (n = 0; n < order->left; n++) {
        int32_t p = -1, q = order->column[n];
        double most = b->head.pivot_tolerance;
        gpuopt__deferred_column(d, q, b->omega);
        for (i = 0; i < b->head.m; i++)
            if (order->col_of[i] < 0 && fabs(b->omega[i]) > most) {
                most = fabs(b->omega[i]);
                p = i;
            }
        if (p < 0) return q;
        order->row_of[q] = p;
        order->col_of[p] = q;
        gpuopt__deferred_row(d, p, b->row);
        gpuopt__deferred_pivot(d, p, q, b->omega, b->row);
        if (d->count == d->most) gpuopt__deferred_apply(d, gpuopt__team(b->head.context, b->threads));
    }
    gpuopt__deferred_apply(d, gpuopt__team(b->head.context, b->threads));
    return -1;
}

/* Entry (j, i) of the inverse, from the eliminated and scaled matrix in `next`. */
static double gpuopt__basis_cpu_inverse_entry(const gpuopt__basis_cpu *b, int32_t j, int32_t i) {
    return gpuopt__basis_scaled(&b->scales, i, j,
                                gpuopt__deferred_stored(&b->next, b->order.col_of[i])[b->order.row_of[j]]);
}

static gpuopt_status gpuopt__basis_cpu_refuse(gpuopt__basis_cpu *b, int32_t position) {
    b->refused_position = position;
    gpuopt__log(b->head.context, 0, GPUOPT__BASIS_SINGULAR, (int)position);
    return GPUOPT_ERROR_NUMERIC;
}

/* Loads columns that are already checked and stored by columns. */
static gpuopt_status gpuopt__basis_cpu_invert(gpuopt__basis_cpu *b, const gpuopt_matrix *columns) {
    int32_t i, j, refused, m = b->head.m;
    int64_t k;
    int deferred = b->head.technique == GPUOPT_TECHNIQUE_DEFERRED;
    double *matrix = b->now.matrix;
    for (j = 0; j < m; j++) {
        b->order.entries[j] = (int32_t)(columns->start[j + 1] - columns->start[j]);
        b->order.only[j] = b->order.entries[j] > 0 ? columns->index[columns->start[j]] : -1;
    }
    refused = gpuopt__basis_order_fill(&b->order, m);
    if (refused >= 0) return gpuopt__basis_cpu_refuse(b, refused);
    gpuopt__basis_find_scales(&b->scales, &b->order, columns);
    memset(b->next.matrix, 0, sizeof(double) * (size_t)m * (size_t)m);
    b->next.count = 0;
    for (j = 0; j < m; j++)
        for (k = columns->start[j]; k < columns->start[j + 1]; k++)
            gpuopt__deferred_stored(&b->next, j)[columns->index[k]] =
                gpuopt__basis_entry(&b->scales, &b->order, columns->index[k], j, columns->value[k]);
    refused = gpuopt__basis_cpu_eliminate(b);
    for (j = 0; j < m && refused < 0; j++)
        for (i = 0; i < m && refused < 0; i++)
            if (!(fabs(gpuopt__basis_cpu_inverse_entry(b, j, i)) < HUGE_VAL)) refused = j;
    if (refused >= 0) return gpuopt__basis_cpu_refuse(b, refused);
    for (i = 0; i < m; i++)
        for (j = 0; j < m; j++)
            matrix[deferred ? (int64_t)i * m + j : (int64_t)j * m + i] = gpuopt__basis_cpu_inverse_entry(b, j, i);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__basis_cpu_load(gpuopt_basis *basis, const gpuopt_matrix *columns) {
    gpuopt__basis_cpu *b = (gpuopt__basis_cpu *)basis;
    int32_t i, m = basis->m;
    if (columns) {
        gpuopt_matrix by_columns;
        void *transposed = NULL;
        gpuopt_status status = gpuopt__basis_check_entries(basis, "gpuopt_basis_load", columns);
        if (!status) status = gpuopt__matrix_in(basis->context, columns, GPUOPT_LAYOUT_CSC, &by_columns, &transposed);
        if (!status) status = gpuopt__basis_cpu_invert(b, &by_columns);
        gpuopt__release(basis->context, GPUOPT_HOST, transposed);
        if (status) return status;
    } else {
        memset(b->now.matrix, 0, sizeof(double) * (size_t)m * (size_t)m);
        for (i = 0; i < m; i++) b->now.matrix[(int64_t)i * m + i] = 1;
    }
    b->now.count = 0;
    b->updates = 0;
    b->refused_position = -1;
    return GPUOPT_OK;
}

/* ---- Reports ---- */

static gpuopt_status gpuopt__basis_cpu_get_info(gpuopt_basis *basis, gpuopt_basis_info *info) {
    gpuopt__basis_cpu_report((gpuopt__basis_cpu *)basis, info);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__basis_cpu_get_drift(gpuopt_basis *basis, const gpuopt_matrix *columns,
                                                 const double *product, int exact, gpuopt_basis_drift *drift) {
    gpuopt__basis_cpu *b = (gpuopt__basis_cpu *)basis;
    int32_t i, j, m = basis->m;
    drift->estimate = 0;
    gpuopt__basis_cpu_times(b, product, b->row);
    for (i = 0; i < m; i++)
        drift->estimate = gpuopt__basis_larger(drift->estimate, fabs(b->row[i] - gpuopt__basis_drift_sign(i)));
    if (!exact) return GPUOPT_OK;
    drift->norm = 0;
    for (j = 0; j < m; j++) {
        int64_t start = columns->start[j];
        gpuopt__basis_cpu_times_sparse(b, (int32_t)(columns->start[j + 1] - start), columns->index + start,
                                       columns->value + start, b->row);
        b->row[j] -= 1;
        for (i = 0; i < m; i++) drift->norm = gpuopt__basis_larger(drift->norm, fabs(b->row[i]));
    }
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__basis_cpu_get_inverse(gpuopt_basis *basis, gpuopt_memory_space where, double *inverse) {
    gpuopt__basis_cpu *b = (gpuopt__basis_cpu *)basis;
    int32_t i, j, m = basis->m;
    (void)where; /* host memory: this backend has no other */
    if (basis->technique != GPUOPT_TECHNIQUE_DEFERRED) {
        memcpy(inverse, b->now.matrix, sizeof(double) * (size_t)m * (size_t)m);
        return GPUOPT_OK;
    }
    gpuopt__deferred_apply(&b->now, gpuopt__team(b->head.context, b->threads));
    for (i = 0; i < m; i++)
        for (j = 0; j < m; j++) inverse[(int64_t)i * m + j] = gpuopt__deferred_stored(&b->now, j)[i];
    return GPUOPT_OK;
}

/* ---- Life ---- */

/* Cuts all arrays of a handle. A load works in `next`, because the inverse in `now` must survive a refused load. */
static void gpuopt__basis_cpu_cut(gpuopt__arena *arena, gpuopt__basis_cpu *b) {
    int32_t m = b->head.m;
    int deferred = b->head.technique == GPUOPT_TECHNIQUE_DEFERRED;
    gpuopt__basis_cut(arena, &b->head, &b->order);
    b->scales.row = (int32_t *)gpuopt__cut(arena, m, sizeof(int32_t));
    b->scales.col = (int32_t *)gpuopt__cut(arena, m, sizeof(int32_t));
    b->scales.pivot = (double *)gpuopt__cut(arena, m, sizeof(double));
    gpuopt__deferred_cut(arena, &b->now, m, m, deferred ? b->head.most : 0);
    gpuopt__deferred_cut(arena, &b->next, m, m, b->head.most);
    b->product =
        b->head.technique == GPUOPT_TECHNIQUE_PFI ? (double *)gpuopt__cut(arena, (int64_t)m * m, sizeof(double)) : NULL;
    b->alpha = (double *)gpuopt__cut(arena, m, sizeof(double));
    b->omega = (double *)gpuopt__cut(arena, m, sizeof(double));
    b->row = (double *)gpuopt__cut(arena, m, sizeof(double));
}

static void gpuopt__basis_cpu_head(gpuopt_context *context, const gpuopt_basis_desc *desc, gpuopt__basis_cpu *b) {
    memset(b, 0, sizeof *b);
    b->head.context = context;
    b->head.technique = desc->technique;
    b->head.m = desc->m;
    /* With 16 columns, the part of U that deferred.h uses at a time (256 rows, 32 KB) stays in the L1 cache. */
    b->head.most = desc->deferred_updates > 0 ? desc->deferred_updates : 16;
    b->head.pivot_tolerance = desc->pivot_tolerance;
    b->threads = context->desc.threads;
    b->refused_position = -1;
}

static gpuopt_status gpuopt__basis_cpu_plan(gpuopt_context *context, const gpuopt_basis_desc *desc,
                                            gpuopt_memory_plan *plan) {
    gpuopt__arena arena = {NULL, 0};
    gpuopt__basis_cpu b;
    gpuopt__basis_cpu_head(context, desc, &b);
    gpuopt__basis_cpu_cut(&arena, &b);
    plan->host_bytes = sizeof b + arena.used;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__basis_cpu_create(gpuopt_context *context, const gpuopt_basis_desc *desc,
                                              gpuopt_basis **basis) {
    gpuopt__arena arena = {NULL, 0};
    gpuopt__basis_cpu draft, *b;
    void *memory;
    gpuopt_status status;
    gpuopt__basis_cpu_head(context, desc, &draft);
    gpuopt__basis_cpu_cut(&arena, &draft);
    status = gpuopt__allocate(context, GPUOPT_HOST, sizeof draft + arena.used, &memory);
    if (status) return status;
    b = (gpuopt__basis_cpu *)memory;
    arena.base = (char *)(b + 1);
    arena.used = 0;
    gpuopt__basis_cpu_cut(&arena, &draft);
    *b = draft;
    gpuopt__basis_clear_marks(&b->head);
    *basis = &b->head;
    return gpuopt__basis_cpu_load(*basis, NULL);
}

static void gpuopt__basis_cpu_destroy(gpuopt_basis *basis) { gpuopt__release(basis->context, GPUOPT_HOST, basis); }

static const gpuopt__basis_backend gpuopt__basis_cpu_table = {
    gpuopt__basis_cpu_plan,       gpuopt__basis_cpu_create,       gpuopt__basis_cpu_destroy,
    gpuopt__basis_cpu_update,     gpuopt__basis_cpu_get_info,     gpuopt__basis_cpu_load,
    gpuopt__basis_cpu_ftran,      gpuopt__basis_cpu_ftran_sparse, gpuopt__basis_cpu_btran,
    gpuopt__basis_cpu_btran_unit, gpuopt__basis_cpu_get_drift,    gpuopt__basis_cpu_get_inverse,
};

#endif /* GPUOPT_IMPL_BASIS_CPU_H */
