/* SPDX-License-Identifier: MIT
 *
 * Batches of small linear programs: the data of all programs, the working data of a team, and the loading of a program
 * into the team's tableau. As in arith/step.h, row i has a slack cols + i, minus its activity: A x + s = 0.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_BATCH_MODEL_H
#define GPUOPT_IMPL_SIMPLEX_BATCH_MODEL_H

#include "../../common/backend.h"
#include "team.h"

/* The arrays of numbers, in the order of the GPUOPT_SHARED_... bits. */
enum {
    GPUOPT__SIMPLEX_BATCH_VALUE,
    GPUOPT__SIMPLEX_BATCH_COST,
    GPUOPT__SIMPLEX_BATCH_LHS,
    GPUOPT__SIMPLEX_BATCH_RHS,
    GPUOPT__SIMPLEX_BATCH_LB,
    GPUOPT__SIMPLEX_BATCH_UB,
    GPUOPT__SIMPLEX_BATCH_ARRAYS
};

/* The state of a program between two calls. */
typedef struct gpuopt__simplex_batch_progress {
    int32_t outcome, iterations;
    int32_t primal; /* from now on the primal method does phase 1, see dual.h */
    int32_t idle;   /* iterations since the objective last moved */
    int32_t level;  /* perturbations of its bounds; from GPUOPT__SIMPLEX_BATCH_BLAND on Bland's rule applies */
} gpuopt__simplex_batch_progress;

/* All programs, in the backend's memory. */
typedef struct gpuopt__simplex_batch_set {
    int32_t rows, cols, nonzeros;
    int32_t count; /* loaded programs */
    int32_t maximize;
    int32_t most, limit; /* iteration limits of this call, and of all calls */
    double infinity, primal, dual, pivot;
    /* The pattern by rows and by columns; at: the entry's place in the caller's order. */
    const int32_t *row_start, *row_col, *row_at; /* [rows + 1], [nonzeros], [nonzeros] */
    const int32_t *col_start, *col_row, *col_at;
    double *number[GPUOPT__SIMPLEX_BATCH_ARRAYS]; /* [copies][length], or [1][length] if shared */
    int64_t length[GPUOPT__SIMPLEX_BATCH_ARRAYS]; /* numbers per program */
    int64_t stride[GPUOPT__SIMPLEX_BATCH_ARRAYS]; /* from one program to the next: the length, or 0 */
    int32_t given[GPUOPT__SIMPLEX_BATCH_ARRAYS];  /* 0: the default, for all programs */
    gpuopt__simplex_batch_progress *progress;     /* [copies], like the next arrays */
    double *objective;
    double *x, *ray, *ray_low;            /* [copies][cols] */
    double *dual_y, *farkas, *farkas_low; /* [copies][rows] */
    uint8_t *status;                      /* [copies][cols + rows] as of gpuopt_simplex_get_basis */
} gpuopt__simplex_batch_set;

/* A team's data for its present program. Numbers are scaled except in `point`, `low` and where the comment on y names
 * the caller. Scaled x = x * unit, scaled reduced cost = the caller's / unit. */
typedef struct gpuopt__simplex_batch_work {
    int32_t rows, cols, pitch;
    double *table;                           /* [rows][pitch] B^-1 N */
    double *xb, *lb, *ub;                    /* [rows] value and bounds of the basic variable in position i */
    double *alpha, *sign, *part, *y, *y_low; /* [rows] pivot column, cost in phase 1, scratch, the caller's duals */
    double *xn, *ln, *un;                    /* [cols] the same for the nonbasic variable in slot j */
    double *d, *price, *weight, *row;        /* [cols] reduced costs in phase 2 and 1, pricing weights, pivot row */
    double *unit,
        *unit_dual; /* [cols + rows] by variable: scale; min of scaled max(1, |cost|) and max(1, |scaled cost|) */
    double *point, *z, *low; /* [cols + rows] by variable, in the caller's units; low: low words of z */
    double *error_sum;       /* the same array as low: error sums where z is a reduced cost, see arith/step.h */
    int32_t *head, *slot;    /* [rows], [cols] variables */
    uint8_t *state;          /* [cols] GPUOPT__SIMPLEX_MAY_... and _BANNED */
    double *published;       /* [3] values that one thread publishes to all */
    int32_t *listed;         /* length of a list of slots to which all threads append */
    void *exchange;          /* the team's exchange */
} gpuopt__simplex_batch_work;

/* Cuts the vectors of a team, like gpuopt__cut, but arrays begin at multiples of 16 bytes. */
GPUOPT_HD void *gpuopt__simplex_batch_cut(char *base, uint64_t *used, int64_t count, size_t size) {
    const uint64_t at = *used;
    *used += ((uint64_t)count * size + 15) & ~(uint64_t)15;
    return base ? base + at : NULL;
}

/* Entries of a row of the tableau: odd, so that neighbours in a column are in different banks of shared memory. */
GPUOPT_HD int32_t gpuopt__simplex_batch_pitch(int32_t cols) { return cols | 1; }

GPUOPT_HD void gpuopt__simplex_batch_cut_vectors(char *base, uint64_t *used, int32_t rows, int32_t cols,
                                                 gpuopt__simplex_batch_work *w) {
    double **const of_rows[] = {&w->xb, &w->lb, &w->ub, &w->alpha, &w->sign, &w->part, &w->y, &w->y_low};
    double **const of_cols[] = {&w->xn, &w->ln, &w->un, &w->d, &w->price, &w->weight, &w->row};
    double **const of_both[] = {&w->unit, &w->unit_dual, &w->point, &w->z, &w->low};
    int k;
    w->rows = rows;
    w->cols = cols;
    w->pitch = gpuopt__simplex_batch_pitch(cols);
    for (k = 0; k < 8; k++) *of_rows[k] = (double *)gpuopt__simplex_batch_cut(base, used, rows, sizeof(double));
    for (k = 0; k < 7; k++) *of_cols[k] = (double *)gpuopt__simplex_batch_cut(base, used, cols, sizeof(double));
    for (k = 0; k < 5; k++)
        *of_both[k] = (double *)gpuopt__simplex_batch_cut(base, used, (int64_t)rows + cols, sizeof(double));
    w->error_sum = w->low;
    w->head = (int32_t *)gpuopt__simplex_batch_cut(base, used, rows, sizeof(int32_t));
    w->slot = (int32_t *)gpuopt__simplex_batch_cut(base, used, cols, sizeof(int32_t));
    w->state = (uint8_t *)gpuopt__simplex_batch_cut(base, used, cols, 1);
    w->published = (double *)gpuopt__simplex_batch_cut(base, used, 3, sizeof(double));
    w->listed = (int32_t *)gpuopt__simplex_batch_cut(base, used, 1, sizeof(int32_t));
}

/* ---- The caller's numbers of program k ---- */

GPUOPT_HD double gpuopt__simplex_batch_number(const gpuopt__simplex_batch_set *set, int array, int32_t k, int32_t at,
                                              double otherwise) {
    return set->given[array] ? set->number[array][k * set->stride[array] + at] : otherwise;
}

/* The cost for a minimisation. */
GPUOPT_HD double gpuopt__simplex_batch_cost(const gpuopt__simplex_batch_set *set, int32_t k, int32_t col) {
    const double cost = gpuopt__simplex_batch_number(set, GPUOPT__SIMPLEX_BATCH_COST, k, col, 0);
    return set->maximize ? -cost : cost;
}

GPUOPT_HD double gpuopt__simplex_batch_entry(const gpuopt__simplex_batch_set *set, int32_t k, int32_t at) {
    return set->number[GPUOPT__SIMPLEX_BATCH_VALUE][k * set->stride[GPUOPT__SIMPLEX_BATCH_VALUE] + at];
}

/* Bounds of a column or of a slack. */
GPUOPT_HD void gpuopt__simplex_batch_bounds(const gpuopt__simplex_batch_set *set, int32_t k, int32_t variable,
                                            double *l, double *u) {
    const int32_t row = variable - set->cols;
    const int low = row < 0 ? GPUOPT__SIMPLEX_BATCH_LB : GPUOPT__SIMPLEX_BATCH_LHS,
              high = row < 0 ? GPUOPT__SIMPLEX_BATCH_UB : GPUOPT__SIMPLEX_BATCH_RHS;
    const int32_t at = row < 0 ? variable : row;
    double a = gpuopt__simplex_batch_number(set, low, k, at, row < 0 ? 0 : -HUGE_VAL);
    double b = gpuopt__simplex_batch_number(set, high, k, at, HUGE_VAL);
    if (a <= -set->infinity) a = -HUGE_VAL;
    if (b >= set->infinity) b = HUGE_VAL;
    *l = row < 0 ? a : -b;
    *u = row < 0 ? b : -a;
}

/* Scaled bounds of a column or of a slack. */
GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_scaled_bounds(const gpuopt__simplex_batch_set *set,
                                                               const gpuopt__simplex_batch_work *w, int32_t k,
                                                               int32_t variable, double *l, double *u) {
    gpuopt__simplex_batch_bounds(set, k, variable, l, u);
    *l = gpuopt__mul(*l, w->unit[variable]);
    *u = gpuopt__mul(*u, w->unit[variable]);
}

/* ---- Scaling: geometric, by powers of two ---- */

/* The largest exponent of a scale, of either sign. */
enum { GPUOPT__SIMPLEX_BATCH_SCALE = 100, GPUOPT__SIMPLEX_BATCH_SCALINGS = 2 };

/* The exponent of a nonzero number. */
GPUOPT__SIMPLEX_BATCH int gpuopt__simplex_batch_exponent(double x) {
    int exponent;
    frexp(x, &exponent);
    return exponent;
}

/* 2 to minus the mean of both exponents, like gpuopt__simplex_geometric. Ignores entries far below the largest. */
GPUOPT__SIMPLEX_BATCH double gpuopt__simplex_batch_scale(int least, int most) {
    int by = -((least < most - 30 ? most - 30 : least) + most) / 2;
    if (least > most) by = 0; /* no entry */
    if (by > GPUOPT__SIMPLEX_BATCH_SCALE) by = GPUOPT__SIMPLEX_BATCH_SCALE;
    if (by < -GPUOPT__SIMPLEX_BATCH_SCALE) by = -GPUOPT__SIMPLEX_BATCH_SCALE;
    return ldexp(1.0, by);
}

/* The scale of one line of the raw table: `count` entries at this stride, each scaled in the other direction. */
GPUOPT__SIMPLEX_BATCH double gpuopt__simplex_batch_scale_line(const double *entry, int32_t count, int64_t stride,
                                                              const double *other) {
    int least = 100000, most = -100000;
    int32_t e;
    for (e = 0; e < count; e++) {
        const double a = gpuopt__mul(entry[e * stride], other[e]);
        int exponent;
        if (a == 0) continue;
        exponent = gpuopt__simplex_batch_exponent(a);
        if (exponent < least) least = exponent;
        if (exponent > most) most = exponent;
    }
    return gpuopt__simplex_batch_scale(least, most);
}

/* Fills the table with the scaled A, and sets the units. */
GPUOPT__SIMPLEX_BATCH_LARGE void gpuopt__simplex_batch_load(const gpuopt__simplex_batch_set *set,
                                                            const gpuopt__simplex_batch_work *w, int32_t k) {
    const int32_t rows = w->rows, cols = w->cols;
    double *const row_scale = w->part, *const col_scale = w->row;
    int32_t i, j;
    int pass;
    GPUOPT__SIMPLEX_BATCH_EACH_GROUP(i, rows) {
        GPUOPT__SIMPLEX_BATCH_EACH_LANE(j, cols) w->table[(int64_t)i * w->pitch + j] = 0;
    }
    GPUOPT__SIMPLEX_BATCH_EACH(j, cols) col_scale[j] = 1;
    gpuopt__simplex_batch_sync();
    GPUOPT__SIMPLEX_BATCH_EACH_GROUP(i, rows) {
        const int32_t first = set->row_start[i], count = set->row_start[i + 1] - first;
        double *const line = w->table + (int64_t)i * w->pitch;
        GPUOPT__SIMPLEX_BATCH_EACH_LANE(j, count)
        line[set->row_col[first + j]] = gpuopt__simplex_batch_entry(set, k, set->row_at[first + j]);
    }
    for (pass = 0; pass < GPUOPT__SIMPLEX_BATCH_SCALINGS; pass++) {
        gpuopt__simplex_batch_sync();
        GPUOPT__SIMPLEX_BATCH_EACH(i, rows)
        row_scale[i] = gpuopt__simplex_batch_scale_line(w->table + (int64_t)i * w->pitch, cols, 1, col_scale);
        gpuopt__simplex_batch_sync();
        GPUOPT__SIMPLEX_BATCH_EACH(j, cols)
        col_scale[j] = gpuopt__simplex_batch_scale_line(w->table + j, rows, w->pitch, row_scale);
    }
    gpuopt__simplex_batch_sync();
    GPUOPT__SIMPLEX_BATCH_EACH_GROUP(i, rows) {
        double *const line = w->table + (int64_t)i * w->pitch;
        GPUOPT__SIMPLEX_BATCH_EACH_LANE(j, cols)
        line[j] = gpuopt__mul(gpuopt__mul(line[j], row_scale[i]), col_scale[j]);
    }
    GPUOPT__SIMPLEX_BATCH_EACH(j, cols) {
        const double cost = fabs(gpuopt__simplex_batch_cost(set, k, j));
        w->unit[j] = 1 / col_scale[j];
        w->unit_dual[j] = gpuopt__min(gpuopt__mul(col_scale[j], gpuopt__max(1, cost)),
                                      gpuopt__max(1, gpuopt__mul(col_scale[j], cost)));
    }
    GPUOPT__SIMPLEX_BATCH_EACH(i, rows) {
        w->unit[cols + i] = row_scale[i];
        w->unit_dual[cols + i] = gpuopt__min(1, 1 / row_scale[i]);
    }
    gpuopt__simplex_batch_sync();
}

#endif /* GPUOPT_IMPL_SIMPLEX_BATCH_MODEL_H */
