/* SPDX-License-Identifier: MIT
 *
 * Basis inverse on the CPU: the handle, and the update by each technique, step by step as in the figures and equations
 * of Shah et al. (2020); see doc/basis_internals.md.
 */
#ifndef GPUOPT_IMPL_BASIS_CPU_UPDATE_H
#define GPUOPT_IMPL_BASIS_CPU_UPDATE_H

#include "load.h"
#include "../common/deferred.h"

typedef struct gpuopt__basis_cpu {
    gpuopt_basis head; /* first: the public handle points to it */
    gpuopt__basis_order order;
    gpuopt__basis_scales scales;
    gpuopt__deferred now;  /* the inverse; without DEFERRED only `matrix` is used: [m][m], by rows */
    gpuopt__deferred next; /* a load computes the inverse here; ELEMENT, MPFI and PFI use the matrix for work */
    double *product;       /* [m][m]: E of PFI, by rows; NULL with other techniques */
    double *alpha;         /* [m]: the result of the latest FTRAN */
    double *omega;         /* [m]: omega of an update; the pivot column of a load */
    double *row;           /* [m]: the pivot row; the result of a BTRAN */
    int64_t updates;
    int32_t refused_position;
    int threads;
} gpuopt__basis_cpu;

/* Columns that a thread of COLUMN takes together: eight cache lines of each row. */
#define GPUOPT__BASIS_STRIP 64

#ifdef GPUOPT__OPENMP
#define GPUOPT__BASIS_PARALLEL _Pragma("omp parallel for num_threads(threads) if (threads > 1)")
#else
#define GPUOPT__BASIS_PARALLEL
#endif

static double *gpuopt__basis_cpu_row(const gpuopt__basis_cpu *b, int32_t i) {
    return b->now.matrix + (int64_t)i * b->head.m;
}

/* The larger of two numbers, or NaN if one of them is NaN. */
static double gpuopt__basis_larger(double most, double value) { return most >= value || most != most ? most : value; }

static void gpuopt__basis_cpu_report(const gpuopt__basis_cpu *b, gpuopt_basis_info *info) {
    info->updates = b->updates;
    info->deferred_updates = b->head.technique == GPUOPT_TECHNIQUE_DEFERRED ? b->head.most : 0;
    info->pending = b->now.count;
    info->refused_position = b->refused_position;
}

/* Computes omega by equation (6). */
static void gpuopt__basis_cpu_omega(gpuopt__basis_cpu *b, int32_t p, const double *alpha) {
    int32_t i;
    for (i = 0; i < b->head.m; i++) b->omega[i] = i == p ? 1 / alpha[p] : -alpha[i] / alpha[p];
}

/* Saves the pivot row from before the update. */
static void gpuopt__basis_cpu_save_row(gpuopt__basis_cpu *b, int32_t p) {
    memcpy(b->row, gpuopt__basis_cpu_row(b, p), sizeof(double) * (size_t)b->head.m);
}

/* Figure 1: E is the identity with omega as column p. The product of E and the inverse is copied back. */
static void gpuopt__basis_cpu_pfi(gpuopt__basis_cpu *b, int32_t p, const double *alpha) {
    int32_t i, m = b->head.m;
    int threads = gpuopt__team(b->head.context, b->threads);
    size_t bytes = sizeof(double) * (size_t)m * (size_t)m;
    (void)threads;
    gpuopt__basis_cpu_omega(b, p, alpha);
    memset(b->product, 0, bytes);
    for (i = 0; i < m; i++) b->product[(int64_t)i * m + i] = 1;
    for (i = 0; i < m; i++) b->product[(int64_t)i * m + p] = b->omega[i];
    GPUOPT__BASIS_PARALLEL
    for (i = 0; i < m; i++) {
        double *result = b->next.matrix + (int64_t)i * m;
        int32_t k;
        gpuopt__environment_scope scope;
        gpuopt__environment_enter(&scope);
        memset(result, 0, sizeof(double) * (size_t)m);
        for (k = 0; k < m; k++) gpuopt__axpy(m, b->product[(int64_t)i * m + k], gpuopt__basis_cpu_row(b, k), result);
        gpuopt__environment_leave(&scope);
    }
    memcpy(b->now.matrix, b->next.matrix, bytes);
}

/* Figure 2: stores the outer product as a matrix, zeroes row p, and adds the two matrices. */
static void gpuopt__basis_cpu_mpfi(gpuopt__basis_cpu *b, int32_t p, const double *alpha) {
    int32_t i, m = b->head.m;
    int threads = gpuopt__team(b->head.context, b->threads);
    (void)threads;
    gpuopt__basis_cpu_omega(b, p, alpha);
    GPUOPT__BASIS_PARALLEL
    for (i = 0; i < m; i++) {
        double *outer = b->next.matrix + (int64_t)i * m;
        gpuopt__environment_scope scope;
        gpuopt__environment_enter(&scope);
        memset(outer, 0, sizeof(double) * (size_t)m);
        gpuopt__axpy(m, b->omega[i], gpuopt__basis_cpu_row(b, p), outer);
        gpuopt__environment_leave(&scope);
    }
    memset(gpuopt__basis_cpu_row(b, p), 0, sizeof(double) * (size_t)m);
    GPUOPT__BASIS_PARALLEL
    for (i = 0; i < m; i++) {
        gpuopt__environment_scope scope;
        gpuopt__environment_enter(&scope);
        gpuopt__axpy(m, 1, b->next.matrix + (int64_t)i * m, gpuopt__basis_cpu_row(b, i));
        gpuopt__environment_leave(&scope);
    }
}

/* Figure 3: saves each column's entry of row p, sets it to 0, and adds omega times the saved entry to the column. A
 * thread takes neighbouring columns together, as those of a GPU do, since a single one touches a cache line an element. */
static void gpuopt__basis_cpu_column(gpuopt__basis_cpu *b, int32_t p, const double *alpha) {
    int32_t first, m = b->head.m;
    int threads = gpuopt__team(b->head.context, b->threads);
    (void)threads;
    gpuopt__basis_cpu_omega(b, p, alpha);
    gpuopt__basis_cpu_save_row(b, p);
    memset(gpuopt__basis_cpu_row(b, p), 0, sizeof(double) * (size_t)m);
    GPUOPT__BASIS_PARALLEL
    for (first = 0; first < m; first += GPUOPT__BASIS_STRIP) {
        int32_t i, count = m - first < GPUOPT__BASIS_STRIP ? m - first : GPUOPT__BASIS_STRIP;
        gpuopt__environment_scope scope;
        gpuopt__environment_enter(&scope);
        for (i = 0; i < m; i++) gpuopt__axpy(count, b->omega[i], b->row + first, gpuopt__basis_cpu_row(b, i) + first);
        gpuopt__environment_leave(&scope);
    }
}

/* Equation (13): computes row i from the old row p. The result may be row i itself. */
static void gpuopt__basis_cpu_element_row(const gpuopt__basis_cpu *b, int32_t p, const double *alpha, int32_t i,
                                          const double *pivot_row, double *result) {
    const double *from = gpuopt__basis_cpu_row(b, i);
    double theta = alpha[p], own = alpha[i];
    int32_t j;
    gpuopt__environment_scope scope;
    gpuopt__environment_enter(&scope);
    if (i == p)
        for (j = 0; j < b->head.m; j++) result[j] = pivot_row[j] / theta;
    else
        for (j = 0; j < b->head.m; j++) result[j] = from[j] - own / theta * pivot_row[j];
    gpuopt__environment_leave(&scope);
}

/* Figure 5: writes to a second matrix and copies it back. */
static void gpuopt__basis_cpu_element(gpuopt__basis_cpu *b, int32_t p, const double *alpha) {
    int32_t i, m = b->head.m;
    int threads = gpuopt__team(b->head.context, b->threads);
    (void)threads;
    GPUOPT__BASIS_PARALLEL
    for (i = 0; i < m; i++)
        gpuopt__basis_cpu_element_row(b, p, alpha, i, gpuopt__basis_cpu_row(b, p), b->next.matrix + (int64_t)i * m);
    memcpy(b->now.matrix, b->next.matrix, sizeof(double) * (size_t)m * (size_t)m);
}

/* Figure 6: works in place, with a copy of row p. */
static void gpuopt__basis_cpu_element_modified(gpuopt__basis_cpu *b, int32_t p, const double *alpha) {
    int32_t i;
    int threads = gpuopt__team(b->head.context, b->threads);
    (void)threads;
    gpuopt__basis_cpu_save_row(b, p);
    GPUOPT__BASIS_PARALLEL
    for (i = 0; i < b->head.m; i++) gpuopt__basis_cpu_element_row(b, p, alpha, i, b->row, gpuopt__basis_cpu_row(b, i));
}

/* Figure 7: saves and zeroes row p and computes omega first, so that equation (19) is the same for all elements. */
static void gpuopt__basis_cpu_element_proposed(gpuopt__basis_cpu *b, int32_t p, const double *alpha) {
    int32_t i, m = b->head.m;
    int threads = gpuopt__team(b->head.context, b->threads);
    (void)threads;
    gpuopt__basis_cpu_save_row(b, p);
    memset(gpuopt__basis_cpu_row(b, p), 0, sizeof(double) * (size_t)m);
    gpuopt__basis_cpu_omega(b, p, alpha);
    GPUOPT__BASIS_PARALLEL
    for (i = 0; i < m; i++) {
        gpuopt__environment_scope scope;
        gpuopt__environment_enter(&scope);
        gpuopt__axpy(m, b->omega[i], b->row, gpuopt__basis_cpu_row(b, i));
        gpuopt__environment_leave(&scope);
    }
}

static gpuopt_status gpuopt__basis_cpu_update(gpuopt_basis *basis, gpuopt_memory_space where, int32_t p,
                                              const double *alpha, gpuopt_basis_info *info) {
    gpuopt__basis_cpu *b = (gpuopt__basis_cpu *)basis;
    double most = 0;
    int32_t i;
    (void)where; /* host memory: this backend has no other */
    if (!alpha) alpha = b->alpha;
    for (i = 0; i < basis->m; i++) most = gpuopt__basis_larger(most, fabs(alpha[i]));
    if (!(fabs(alpha[p]) > basis->pivot_tolerance * most) || !(most < HUGE_VAL)) {
        b->refused_position = p;
        if (!info) return GPUOPT_OK; /* an enqueued update: _get_info reports it */
        gpuopt__log(basis->context, 0, GPUOPT__BASIS_SMALL_PIVOT, (int)p);
        return GPUOPT_ERROR_NUMERIC;
    }
    switch (basis->technique) {
    case GPUOPT_TECHNIQUE_DEFERRED:
        gpuopt__deferred_row(&b->now, p, b->row);
        gpuopt__deferred_pivot(&b->now, p, -1, alpha, b->row);
        if (b->now.count == b->now.most) gpuopt__deferred_apply(&b->now, gpuopt__team(b->head.context, b->threads));
        break;
    case GPUOPT_TECHNIQUE_PFI: gpuopt__basis_cpu_pfi(b, p, alpha); break;
    case GPUOPT_TECHNIQUE_MPFI: gpuopt__basis_cpu_mpfi(b, p, alpha); break;
    case GPUOPT_TECHNIQUE_COLUMN: gpuopt__basis_cpu_column(b, p, alpha); break;
    case GPUOPT_TECHNIQUE_ELEMENT: gpuopt__basis_cpu_element(b, p, alpha); break;
    case GPUOPT_TECHNIQUE_ELEMENT_MODIFIED: gpuopt__basis_cpu_element_modified(b, p, alpha); break;
    case GPUOPT_TECHNIQUE_ELEMENT_PROPOSED: gpuopt__basis_cpu_element_proposed(b, p, alpha); break;
    }
    b->updates++;
    if (info) gpuopt__basis_cpu_report(b, info);
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_BASIS_CPU_UPDATE_H */
