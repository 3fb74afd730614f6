/* SPDX-License-Identifier: MIT
 *
 * A sparse basis inverse: triangular factors of a basis (make.h makes them), and products with them.
 *
 * Each later pivot adds a column to the product form of the inverse (Dantzig and Orchard-Hays 1954). For the column
 * alpha = B^-1 a and the position p, the new inverse is E B^-1. E divides entry p by alpha_p, and subtracts the
 * quotient times alpha_i from each other entry i. So adding and removing pivots never writes to the factors.
 *
 * All loops skip zeros: each factor is stored by rows and by columns.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_FACTOR_FACTORS_H
#define GPUOPT_IMPL_SIMPLEX_FACTOR_FACTORS_H

#include "../../common/backend.h"
#include "../../common/numerics.h"

/* Lines of a sparse matrix, stored one after the other. */
typedef struct gpuopt__simplex_factor_lines {
    int64_t *start; /* [rows + 1] */
    int32_t *index; /* [capacity] */
    double *value;  /* [capacity] */
} gpuopt__simplex_factor_lines;

/* Factors of a basis. Step k of the elimination has a pivot in a row of A, and in the column of the basic variable in a
 * position. Entries of U are stored by steps: right of the pivot in its row, and above the pivot in its column. A step
 * is also a step of L if its column has entries below the pivot, which are divided by the pivot. */
typedef struct gpuopt__simplex_factor {
    void *block;      /* memory of the arrays */
    int64_t capacity; /* entries of each factor */
    int32_t rows;
    int32_t *row, *position;          /* [rows] pivot row and position of each step */
    double *pivot;                    /* [rows] */
    gpuopt__simplex_factor_lines u;   /* row of a step: by positions */
    gpuopt__simplex_factor_lines u_t; /* column of a step: by rows */
    gpuopt__simplex_factor_lines l;   /* column of a step of L: by rows */
    gpuopt__simplex_factor_lines l_t; /* row `with_l[k]`: by pivot rows */
    int32_t steps, *l_row;            /* number of steps of L; [rows] their pivot rows */
    int32_t lines, *with_l;           /* number of rows with entries in L; the rows, from the last step to the first */
    /* Scratch for the elimination. */
    int32_t *count, *capacity_of; /* [2 rows] of active rows, then columns: number of entries, and their capacity */
    int64_t *begin;               /* [2 rows] where their entries begin */
    int32_t *next, *before, *top; /* [2 rows], [2 rows], [2 (rows + 1)] lists of lines by count */
    double *largest, *work;       /* [rows] of each active row; by columns */
    int64_t *seen;                /* [rows] by columns */
    int32_t *place;               /* [rows] position of a column */
} gpuopt__simplex_factor;

/* ---- Memory ---- */

static void gpuopt__simplex_factor_cut_lines(gpuopt__arena *arena, int32_t rows, int64_t capacity,
                                             gpuopt__simplex_factor_lines *lines) {
    lines->start = (int64_t *)gpuopt__cut(arena, (int64_t)rows + 1, sizeof(int64_t));
    lines->index = (int32_t *)gpuopt__cut(arena, capacity, sizeof(int32_t));
    lines->value = (double *)gpuopt__cut(arena, capacity, sizeof(double));
}

/* Cuts the arrays. The arrays for products come first; returns their bytes. */
static uint64_t gpuopt__simplex_factor_cut(gpuopt__arena *arena, int32_t rows, int64_t capacity,
                                           gpuopt__simplex_factor *f) {
    const int64_t both = 2 * (int64_t)rows;
    uint64_t used;
    f->capacity = capacity;
    f->row = (int32_t *)gpuopt__cut(arena, rows, sizeof(int32_t));
    f->position = (int32_t *)gpuopt__cut(arena, rows, sizeof(int32_t));
    f->pivot = (double *)gpuopt__cut(arena, rows, sizeof(double));
    f->l_row = (int32_t *)gpuopt__cut(arena, rows, sizeof(int32_t));
    f->with_l = (int32_t *)gpuopt__cut(arena, rows, sizeof(int32_t));
    gpuopt__simplex_factor_cut_lines(arena, rows, capacity, &f->u);
    gpuopt__simplex_factor_cut_lines(arena, rows, capacity, &f->u_t);
    gpuopt__simplex_factor_cut_lines(arena, rows, capacity, &f->l);
    gpuopt__simplex_factor_cut_lines(arena, rows, capacity, &f->l_t);
    used = arena->used;
    f->count = (int32_t *)gpuopt__cut(arena, both, sizeof(int32_t));
    f->capacity_of = (int32_t *)gpuopt__cut(arena, both, sizeof(int32_t));
    f->begin = (int64_t *)gpuopt__cut(arena, both, sizeof(int64_t));
    f->next = (int32_t *)gpuopt__cut(arena, both, sizeof(int32_t));
    f->before = (int32_t *)gpuopt__cut(arena, both, sizeof(int32_t));
    f->top = (int32_t *)gpuopt__cut(arena, both + 2, sizeof(int32_t));
    f->largest = (double *)gpuopt__cut(arena, rows, sizeof(double));
    f->work = (double *)gpuopt__cut(arena, rows, sizeof(double));
    f->seen = (int64_t *)gpuopt__cut(arena, rows, sizeof(int64_t));
    f->place = (int32_t *)gpuopt__cut(arena, rows, sizeof(int32_t));
    return used;
}

static uint64_t gpuopt__simplex_factor_bytes(int32_t rows, int64_t capacity) {
    gpuopt__arena arena = {NULL, 0};
    gpuopt__simplex_factor f;
    gpuopt__simplex_factor_cut(&arena, rows, capacity, &f);
    return arena.used;
}

/* The initial capacity, for a matrix of this size. Factors of a dense basis always fit. */
static inline int64_t gpuopt__simplex_factor_capacity(int32_t rows, int32_t cols, int64_t nonzeros) {
    const double column = cols > 0 ? (double)nonzeros / cols : 0;
    const double sparse = 64.0 + 24.0 * rows + 4 * gpuopt__min((double)nonzeros, 2 * column * rows);
    const double dense = (double)rows * ((double)rows + 1);
    return (int64_t)gpuopt__min(sparse, dense);
}

/* The factors of the unit matrix. */
static void gpuopt__simplex_factor_unit(gpuopt__simplex_factor *f, int32_t rows) {
    int32_t k;
    f->rows = rows;
    f->steps = f->lines = 0;
    for (k = 0; k < rows; k++) {
        f->row[k] = f->position[k] = k;
        f->pivot[k] = 1;
    }
    memset(f->u.start, 0, sizeof(int64_t) * ((size_t)rows + 1));
    memset(f->u_t.start, 0, sizeof(int64_t) * ((size_t)rows + 1));
    f->l.start[0] = f->l_t.start[0] = 0;
}

/* ---- Products ---- */

/* x[index] -= by * value over a line. */
static void gpuopt__simplex_factor_subtract(const gpuopt__simplex_factor_lines *lines, int32_t line, double by,
                                            double *x) {
    int64_t e, end = lines->start[line + 1];
    for (e = lines->start[line]; e < end; e++) x[lines->index[e]] -= by * lines->value[e];
}

/* x = B^-1 x, from rows to positions. scratch [rows]. */
static void gpuopt__simplex_factor_ftran(const gpuopt__simplex_factor *f, double *x, double *scratch) {
    int32_t k;
    for (k = 0; k < f->steps; k++)
        if (x[f->l_row[k]] != 0) gpuopt__simplex_factor_subtract(&f->l, k, x[f->l_row[k]], x);
    for (k = f->rows - 1; k >= 0; k--) {
        double value = x[f->row[k]];
        if (value != 0) {
            value /= f->pivot[k];
            gpuopt__simplex_factor_subtract(&f->u_t, k, value, x);
        }
        scratch[f->position[k]] = value;
    }
    memcpy(x, scratch, sizeof(double) * (size_t)f->rows);
}

/* y = B^-T y, from positions to rows. scratch [rows]. */
static void gpuopt__simplex_factor_btran(const gpuopt__simplex_factor *f, double *y, double *scratch) {
    int32_t k;
    for (k = 0; k < f->rows; k++) {
        double value = y[f->position[k]];
        if (value != 0) {
            value /= f->pivot[k];
            gpuopt__simplex_factor_subtract(&f->u, k, value, y);
        }
        scratch[f->row[k]] = value;
    }
    memcpy(y, scratch, sizeof(double) * (size_t)f->rows);
    for (k = 0; k < f->lines; k++)
        if (y[f->with_l[k]] != 0) gpuopt__simplex_factor_subtract(&f->l_t, k, y[f->with_l[k]], y);
}

/* ---- Pivots beside the factors ---- */

typedef struct gpuopt__simplex_etas {
    int32_t count, most;
    int64_t *start; /* [most + 1] */
    int32_t *pivot; /* [most] positions */
    double *at;     /* [most] entries there */
    int32_t *index; /* [rows * most] the other entries */
    double *value;
} gpuopt__simplex_etas;

static void gpuopt__simplex_etas_cut(gpuopt__arena *arena, int32_t rows, int32_t most, gpuopt__simplex_etas *e) {
    e->most = most;
    e->count = 0;
    e->start = (int64_t *)gpuopt__cut(arena, (int64_t)most + 1, sizeof(int64_t));
    e->pivot = (int32_t *)gpuopt__cut(arena, most, sizeof(int32_t));
    e->at = (double *)gpuopt__cut(arena, most, sizeof(double));
    e->index = (int32_t *)gpuopt__cut(arena, (int64_t)rows * most, sizeof(int32_t));
    e->value = (double *)gpuopt__cut(arena, (int64_t)rows * most, sizeof(double));
}

/* Adds the pivot of the column alpha [rows] at a position. The capacity must suffice. */
static void gpuopt__simplex_etas_add(gpuopt__simplex_etas *e, int32_t rows, const double *alpha, int32_t position) {
    int64_t end = e->count == 0 ? 0 : e->start[e->count];
    int32_t i;
    e->start[e->count] = end;
    e->pivot[e->count] = position;
    e->at[e->count] = alpha[position];
    for (i = 0; i < rows; i++) {
        if (alpha[i] == 0 || i == position) continue;
        e->index[end] = i;
        e->value[end++] = alpha[i];
    }
    e->start[++e->count] = end;
}

/* Makes e a copy of `from`. The first `kept` pivots are already in e. */
static inline void gpuopt__simplex_etas_copy(gpuopt__simplex_etas *e, const gpuopt__simplex_etas *from, int32_t kept) {
    const int64_t begin = kept > 0 ? from->start[kept] : 0, end = from->count > 0 ? from->start[from->count] : 0;
    const size_t more = (size_t)(from->count - kept);
    e->count = from->count;
    if (more == 0) return;
    memcpy(e->start + kept, from->start + kept, sizeof(int64_t) * (more + 1));
    memcpy(e->pivot + kept, from->pivot + kept, sizeof(int32_t) * more);
    memcpy(e->at + kept, from->at + kept, sizeof(double) * more);
    memcpy(e->index + begin, from->index + begin, sizeof(int32_t) * (size_t)(end - begin));
    memcpy(e->value + begin, from->value + begin, sizeof(double) * (size_t)(end - begin));
}

static void gpuopt__simplex_etas_ftran(const gpuopt__simplex_etas *e, double *x) {
    int32_t k;
    int64_t n;
    for (k = 0; k < e->count; k++) {
        double value = x[e->pivot[k]];
        if (value == 0) continue;
        value /= e->at[k];
        x[e->pivot[k]] = value;
        for (n = e->start[k]; n < e->start[k + 1]; n++) x[e->index[n]] -= value * e->value[n];
    }
}

static void gpuopt__simplex_etas_btran(const gpuopt__simplex_etas *e, double *y) {
    int32_t k;
    int64_t n;
    for (k = e->count - 1; k >= 0; k--) {
        double sum = y[e->pivot[k]];
        for (n = e->start[k]; n < e->start[k + 1]; n++) sum -= e->value[n] * y[e->index[n]];
        y[e->pivot[k]] = sum == 0 ? 0 : sum / e->at[k];
    }
}

#endif /* GPUOPT_IMPL_SIMPLEX_FACTOR_FACTORS_H */
