/* SPDX-License-Identifier: MIT
 *
 * The simplex engine of the CPU: its matrix, and products with the inverse. products.h has the products with the model,
 * memory.h the memory, and run.h the iterations.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CPU_ENGINE_H
#define GPUOPT_IMPL_SIMPLEX_CPU_ENGINE_H

#include "../../common/deferred.h"
#include "../model/entries.h"
#include "sparse_inverse.h"
#include "../ranks/column_split.h"

typedef struct gpuopt__simplex_cpu {
    const gpuopt__simplex_lp *lp;
    gpuopt__simplex_vectors *v;
    const gpuopt__simplex_options *desc; /* valid only during create */
    int64_t *col_start, *row_start;      /* [cols + 1], [rows + 1] */
    int32_t *col_row, *row_col;          /* [nonzeros] */
    double *col_val, *row_val;           /* [nonzeros] scaled */
    int revised, threads;
    const gpuopt_context *context; /* for parallel loops, see gpuopt__team */
    gpuopt__simplex_split split;
    gpuopt__deferred inverse;      /* TABLEAU: B^-1 N by slots of this rank */
    gpuopt__simplex_sparse sparse; /* REVISED: B^-1 */
    double *alpha;                 /* [rows] pivot column */
    double *row;                   /* [cols] pivot row */
    double *combined;              /* [cols] a sum of rows of B^-1 N */
    double *rho;                   /* [rows] a row of B^-1, or a sum of them */
    double *multiplier;            /* [rows + 8 K] factors for a sum of rows; scratch */
    int32_t *changed;              /* [rows] positions with a nonzero multiplier */
    double *by_col;                /* [cols] scratch, by columns of A */
    gpuopt__simplex_sum *sums;     /* [max(rows, cols)] sums over rows or columns of A */
    gpuopt__simplex_ratio_winner winners[128];
    /* For the dual method, see dual.h. */
    double *dual_weight; /* [rows] */
    double *tau;         /* [rows] B^-1 times the row of B^-1 in rho */
    double *moved;       /* [rows] sum of the flipped variables' columns times their steps */
    int32_t *list;       /* [cols] slots that can block */
    uint8_t *refused;    /* [rows] rows refused for a small pivot */
    double *norm;        /* [cols + rows] the last weights computed as norms, by basic variable; else 0 */
    int weighs;          /* the dual pricing of dual_weight, plus 1; 0: no weights */
    int32_t infeasible;
    int64_t version; /* grows with each change of the inverse: by 1 for an appended pivot */
} gpuopt__simplex_cpu;

/* The default K of REVISED. */
enum { GPUOPT__SIMPLEX_CPU_PIVOTS = 64 };

/* ---- Columns and rows of B^-1 N ---- */

/* alpha = B^-1 a, with the column a of the variable in one of this rank's slots. */
static void gpuopt__simplex_cpu_own_column(gpuopt__simplex_cpu *s, int32_t slot) {
    const gpuopt__simplex_lp *lp = s->lp;
    const int32_t variable = s->v->slot[slot];
    int64_t e;
    if (!s->revised) {
        gpuopt__deferred_column(&s->inverse, slot - s->split.first, s->alpha);
        return;
    }
    memset(s->alpha, 0, sizeof(double) * (size_t)lp->rows);
    if (variable >= lp->cols) s->alpha[variable - lp->cols] = 1;
    else
        for (e = s->col_start[variable]; e < s->col_start[variable + 1]; e++) s->alpha[s->col_row[e]] = s->col_val[e];
    gpuopt__simplex_sparse_ftran(&s->sparse, s->alpha);
}

/* The same for any slot. */
static void gpuopt__simplex_cpu_column(gpuopt__simplex_cpu *s, int32_t slot) {
    if (gpuopt__simplex_split_has(&s->split, slot)) gpuopt__simplex_cpu_own_column(s, slot);
    gpuopt__simplex_split_share(&s->split, slot, s->lp->rows, s->alpha);
}

/* row [cols] = y' N, by slots; y [rows]. */
static void gpuopt__simplex_cpu_price_out(gpuopt__simplex_cpu *s, const double *y, double *row) {
    const gpuopt__simplex_lp *lp = s->lp;
    int32_t i, j;
    int64_t e;
    memset(s->by_col, 0, sizeof(double) * (size_t)lp->cols);
    for (i = 0; i < lp->rows; i++)
        if (y[i] != 0)
            for (e = s->row_start[i]; e < s->row_start[i + 1]; e++) s->by_col[s->row_col[e]] += y[i] * s->row_val[e];
    for (j = 0; j < lp->cols; j++) {
        int32_t variable = s->v->slot[j];
        row[j] = variable < lp->cols ? s->by_col[variable] : y[variable - lp->cols];
    }
}

/* row = a position's row of B^-1 N, in this rank's slots. REVISED leaves the row of B^-1 in rho. */
static void gpuopt__simplex_cpu_row(gpuopt__simplex_cpu *s, int32_t position) {
    if (!s->revised) {
        gpuopt__deferred_row(&s->inverse, position, s->row + s->split.first);
        return;
    }
    memset(s->rho, 0, sizeof(double) * (size_t)s->lp->rows);
    s->rho[position] = 1;
    gpuopt__simplex_sparse_btran(&s->sparse, s->rho);
    gpuopt__simplex_cpu_price_out(s, s->rho, s->row);
}

/* combined = multiplier' B^-1 N, in this rank's slots. The multiplier has few nonzeros, listed in changed [count].
 * Overwrites rho. */
static void gpuopt__simplex_cpu_combine(gpuopt__simplex_cpu *s, int32_t count) {
    const gpuopt__deferred *inverse = &s->inverse;
    double *sum = s->combined + s->split.first;
    int32_t c, j, k;
    if (s->revised) {
        memset(s->rho, 0, sizeof(double) * (size_t)s->lp->rows);
        for (c = 0; c < count; c++) s->rho[s->changed[c]] = s->multiplier[s->changed[c]];
        gpuopt__simplex_sparse_btran(&s->sparse, s->rho);
        gpuopt__simplex_cpu_price_out(s, s->rho, s->combined);
        return;
    }
    for (j = 0; j < inverse->cols; j++) {
        const double *column = gpuopt__deferred_stored(inverse, j);
        sum[j] = 0;
        for (c = 0; c < count; c++) sum[j] += s->multiplier[s->changed[c]] * column[s->changed[c]];
    }
    for (k = 0; k < inverse->count; k++) {
        const double *u = inverse->u + (int64_t)k * inverse->rows;
        double factor = 0;
        for (c = 0; c < count; c++) factor += s->multiplier[s->changed[c]] * u[s->changed[c]];
        if (factor != 0) gpuopt__axpy(inverse->cols, factor, inverse->v + (int64_t)k * inverse->cols, sum);
    }
}

/* Appends the pivot with its column in alpha and its row in row, and applies all pivots if U is full. REVISED leaves
 * this to gpuopt__simplex_cpu_ready. */
static void gpuopt__simplex_cpu_append(gpuopt__simplex_cpu *s, int32_t position, int32_t slot) {
    const int replaces = gpuopt__simplex_split_has(&s->split, slot);
    s->version++;
    if (s->revised) {
        gpuopt__simplex_sparse_add(&s->sparse, s->lp->rows, s->alpha, position);
        return;
    }
    gpuopt__deferred_pivot(&s->inverse, position, replaces ? slot - s->split.first : -1, s->alpha,
                           s->row + s->split.first);
    if (s->inverse.count < s->inverse.most) return;
    gpuopt__deferred_apply(&s->inverse, gpuopt__team(s->context, s->threads));
    s->version++;
}

/* ---- Factors ---- */

static gpuopt__simplex_factor_basis gpuopt__simplex_cpu_basis(const gpuopt__simplex_cpu *s, const int32_t *head) {
    gpuopt__simplex_factor_basis b = {s->col_start, s->col_row, s->col_val, s->lp->cols, head};
    return b;
}

/* REVISED: factors the basis in head if there are no factors, or no further pivot fits. *singular: number of columns
 * left out because no entry exceeds `least`. An error changes nothing, and the next call tries again. */
static gpuopt_status gpuopt__simplex_cpu_renew(gpuopt__simplex_cpu *s, double least, int32_t *singular) {
    gpuopt__simplex_factor_basis b = gpuopt__simplex_cpu_basis(s, s->v->head);
    *singular = 0;
    if (!s->revised || !(s->sparse.lost || gpuopt__simplex_sparse_full(&s->sparse))) return GPUOPT_OK;
    s->version++;
    return gpuopt__simplex_sparse_make(&s->sparse, s->lp->rows, &b, least, 0, singular);
}

/* Prepares the inverse for products. An ill-conditioned basis has an inverse; a rebuild detects a singular basis. */
static gpuopt_status gpuopt__simplex_cpu_ready(gpuopt__simplex_cpu *s) {
    int32_t singular;
    return gpuopt__simplex_cpu_renew(s, 0, &singular);
}

/* ---- Other bases ---- */

static gpuopt_status gpuopt__simplex_cpu_reset(void *engine) {
    gpuopt__simplex_cpu *s = (gpuopt__simplex_cpu *)engine;
    gpuopt__deferred *inverse = &s->inverse;
    const gpuopt__simplex_lp *lp = s->lp;
    int32_t j;
    int64_t e;
    s->weighs = 0;
    s->version++;
    if (s->revised) {
        gpuopt__simplex_sparse_reset(&s->sparse, lp->rows);
        return GPUOPT_OK;
    }
    inverse->count = 0;
    memset(inverse->matrix, 0, sizeof(double) * (size_t)inverse->rows * (size_t)inverse->cols);
    for (j = s->split.first; j < s->split.end; j++)
        for (e = s->col_start[j]; e < s->col_start[j + 1]; e++)
            gpuopt__deferred_stored(inverse, j - s->split.first)[s->col_row[e]] = s->col_val[e];
    return GPUOPT_OK;
}

/* The columns and the slacks of the rows that are not open form a basis. Its factors determine the positions. */
static gpuopt_status gpuopt__simplex_cpu_enter_all(gpuopt__simplex_cpu *s, int32_t count, const int32_t *column,
                                                   double least, uint8_t *open, int32_t *position) {
    int32_t *head = s->changed, i, k, n = count, singular;
    gpuopt__simplex_factor_basis b = gpuopt__simplex_cpu_basis(s, head);
    gpuopt_status status;
    for (k = 0; k < count; k++) head[k] = s->v->slot[column[k]];
    for (i = 0; i < s->lp->rows; i++)
        if (!open[i]) head[n++] = s->lp->cols + i;
    status = gpuopt__simplex_sparse_make(&s->sparse, s->lp->rows, &b, least, 1, &singular);
    if (status) return status;
    for (k = 0; k < count; k++) {
        position[k] = s->sparse.head[k];
        if (position[k] >= 0) open[position[k]] = 0;
    }
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__simplex_cpu_enter(void *engine, int32_t count, const int32_t *column,
                                               const int32_t *wanted, double least, uint8_t *open, int32_t *position) {
    gpuopt__simplex_cpu *s = (gpuopt__simplex_cpu *)engine;
    int32_t *head = s->changed, i, k, rows = s->lp->rows, places = 0, singular;
    for (i = 0; i < rows; i++) places += open[i] != 0;
    if (s->revised && s->sparse.slack && places == count)
        return gpuopt__simplex_cpu_enter_all(s, count, column, least, open, position);
    memcpy(head, s->v->head, sizeof(int32_t) * (size_t)rows); /* the control updates its copy at the end */
    for (k = 0; k < count; k++) {
        double best = 0, largest = 0;
        int32_t p = -1;
        position[k] = -1;
        if (s->revised && gpuopt__simplex_sparse_full(&s->sparse)) { /* no further pivot fits */
            const gpuopt__simplex_factor_basis b = gpuopt__simplex_cpu_basis(s, head);
            const gpuopt_status status = gpuopt__simplex_sparse_make(&s->sparse, rows, &b, 0, 0, &singular);
            if (status) return status;
        }
        gpuopt__simplex_cpu_column(s, column[k]);
        if (s->split.status) break;
        for (i = 0; i < rows; i++) {
            double size = fabs(s->alpha[i]);
            largest = gpuopt__max(largest, size);
            if (open[i] && size > best) best = size, p = i;
        }
        p = gpuopt__simplex_entry_position(p, best, largest, wanted[k],
                                           wanted[k] >= 0 && open[wanted[k]] ? s->alpha[wanted[k]] : 0, least);
        position[k] = p;
        if (p < 0) continue;
        open[p] = 0;
        if (!s->revised) gpuopt__deferred_row(&s->inverse, p, s->row + s->split.first);
        gpuopt__simplex_cpu_append(s, p, column[k]);
        head[p] = s->v->slot[column[k]];
    }
    return s->split.status;
}

static gpuopt_status gpuopt__simplex_cpu_exchange_some(void *engine, int32_t count, const int32_t *slot,
                                                       const int32_t *wanted, double least, uint8_t *open,
                                                       int32_t *position) {
    gpuopt__simplex_cpu *s = (gpuopt__simplex_cpu *)engine;
    gpuopt_status status = gpuopt__simplex_cpu_ready(s);
    if (status) return status;
    s->weighs = 0;
    s->sparse.slack = 0; /* columns enter one by one */
    return gpuopt__simplex_cpu_enter(engine, count, slot, wanted, least, open, position);
}

static gpuopt_status gpuopt__simplex_cpu_get_column(void *engine, int32_t slot, double *x) {
    gpuopt__simplex_cpu *s = (gpuopt__simplex_cpu *)engine;
    gpuopt_status status = gpuopt__simplex_cpu_ready(s);
    if (status) return status;
    gpuopt__simplex_cpu_column(s, slot);
    memcpy(x, s->alpha, sizeof(double) * (size_t)s->lp->rows);
    return s->split.status;
}

/* ---- Products for the control ---- */

/* multiplier = B^-1 N g, with g in by_col. Each rank continues the sums of the previous rank. */
static void gpuopt__simplex_cpu_times(gpuopt__simplex_cpu *s) {
    const gpuopt__deferred *inverse = &s->inverse;
    double *parts = s->multiplier + inverse->rows;
    const int64_t count = inverse->rows + 8 * (int64_t)inverse->count;
    memset(s->multiplier, 0, sizeof(double) * (size_t)count);
    gpuopt__simplex_split_wait_for(&s->split, count, s->multiplier);
    gpuopt__deferred_times_part(inverse, s->by_col + s->split.first, s->multiplier, parts);
    gpuopt__simplex_split_pass_on(&s->split, count, s->multiplier);
    gpuopt__deferred_add_pending(inverse, parts, s->multiplier);
}

/* With the tableau, the column of B^-1 for a nonbasic slack is in its slot; for a basic slack it is a unit vector. */
static gpuopt_status gpuopt__simplex_cpu_ftran(void *engine, double *x) {
    gpuopt__simplex_cpu *s = (gpuopt__simplex_cpu *)engine;
    int32_t i, j, rows = s->lp->rows, cols = s->lp->cols;
    if (s->revised) {
        gpuopt_status status = gpuopt__simplex_cpu_ready(s);
        if (!status) gpuopt__simplex_sparse_ftran(&s->sparse, x);
        return status;
    }
    for (j = 0; j < cols; j++) s->by_col[j] = s->v->slot[j] < cols ? 0 : x[s->v->slot[j] - cols];
    gpuopt__simplex_cpu_times(s);
    for (i = 0; i < rows; i++)
        if (s->v->head[i] >= cols) s->multiplier[i] += x[s->v->head[i] - cols];
    memcpy(x, s->multiplier, sizeof(double) * (size_t)rows);
    return s->split.status;
}

static gpuopt_status gpuopt__simplex_cpu_btran(void *engine, double *y) {
    gpuopt__simplex_cpu *s = (gpuopt__simplex_cpu *)engine;
    const gpuopt__simplex_by_slot by_slot = {s->by_col, sizeof *s->by_col};
    int32_t i, j, rows = s->lp->rows, cols = s->lp->cols;
    if (s->revised) {
        gpuopt_status status = gpuopt__simplex_cpu_ready(s);
        if (!status) gpuopt__simplex_sparse_btran(&s->sparse, y);
        return status;
    }
    gpuopt__deferred_transposed_times(&s->inverse, y, s->by_col + s->split.first);
    gpuopt__simplex_split_gather(&s->split, 1, &by_slot);
    for (i = 0; i < rows; i++)
        if (s->v->head[i] >= cols) s->multiplier[s->v->head[i] - cols] = y[i];
    for (j = 0; j < cols; j++)
        if (s->v->slot[j] >= cols) s->multiplier[s->v->slot[j] - cols] = s->by_col[j];
    memcpy(y, s->multiplier, sizeof(double) * (size_t)rows);
    return s->split.status;
}

static gpuopt_status gpuopt__simplex_cpu_nothing(void *engine) {
    (void)engine;
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_SIMPLEX_CPU_ENGINE_H */
