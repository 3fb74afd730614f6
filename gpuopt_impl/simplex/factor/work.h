/* SPDX-License-Identifier: MIT
 *
 * The active rows and columns while factors are made: their entries, and lists of lines with equally many entries.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_FACTOR_WORK_H
#define GPUOPT_IMPL_SIMPLEX_FACTOR_WORK_H

#include "factors.h"

/* The elimination. Line i is row i; line rows + j is column j. The active rows and columns are stored in the arrays of
 * l_t and the indices of u_t, which get their final contents at the end. */
typedef struct gpuopt__simplex_factor_work {
    gpuopt__simplex_factor *f;
    double least;    /* entries up to this size are not pivots */
    int64_t used[2]; /* used entries of the arrays of active rows and of active columns */
    int64_t stamp;
    int32_t done;     /* steps done */
    int32_t row, col; /* row and column of the pivot */
    double value;
} gpuopt__simplex_factor_work;

/* ---- Active lines ---- */

static int32_t *gpuopt__simplex_factor_array(const gpuopt__simplex_factor *f, int columns) {
    return columns ? f->u_t.index : f->l_t.index;
}

/* Compacts the storage of active rows, or of active columns. Finds lines by a mark in place of their first index. */
static void gpuopt__simplex_factor_compact(gpuopt__simplex_factor_work *w, int columns) {
    gpuopt__simplex_factor *f = w->f;
    int32_t line, n, *index = gpuopt__simplex_factor_array(f, columns), first = columns ? f->rows : 0;
    double *value = f->l_t.value;
    int64_t at, to = 0, k;
    for (line = first; line < first + f->rows; line++) {
        if (f->count[line] == 0) {
            f->capacity_of[line] = 0;
            continue;
        }
        f->capacity_of[line] = index[f->begin[line]];
        index[f->begin[line]] = -1 - line;
    }
    for (at = 0; at < w->used[columns]; at += n) {
        n = 1;
        if (index[at] >= 0) continue;
        line = -1 - index[at];
        n = f->count[line];
        index[at] = f->capacity_of[line];
        for (k = 0; k < n; k++) {
            index[to + k] = index[at + k];
            if (!columns) value[to + k] = value[at + k];
        }
        f->begin[line] = to;
        f->capacity_of[line] = n;
        to += n;
    }
    w->used[columns] = to;
}

/* Reserves space in a line for more entries; 0: not enough memory. */
static int gpuopt__simplex_factor_reserve(gpuopt__simplex_factor_work *w, int32_t line, int32_t more) {
    gpuopt__simplex_factor *f = w->f;
    const int columns = line >= f->rows;
    const int64_t need = (int64_t)f->count[line] + more;
    int32_t k, *index = gpuopt__simplex_factor_array(f, columns);
    int64_t to, capacity;
    if (need <= f->capacity_of[line]) return 1;
    if (w->used[columns] + need > f->capacity) gpuopt__simplex_factor_compact(w, columns);
    if (w->used[columns] + need > f->capacity) return 0;
    to = w->used[columns];
    capacity = need + need / 4 + 2;
    if (capacity > f->capacity - to) capacity = f->capacity - to;
    if (capacity > f->rows) capacity = need > f->rows ? need : f->rows;
    for (k = 0; k < f->count[line]; k++) {
        index[to + k] = index[f->begin[line] + k];
        if (!columns) f->l_t.value[to + k] = f->l_t.value[f->begin[line] + k];
    }
    for (; k < capacity; k++) index[to + k] = 0; /* not a mark of a line */
    f->begin[line] = to;
    f->capacity_of[line] = (int32_t)capacity;
    w->used[columns] += capacity;
    return 1;
}

/* Removes an index from a line; the last entry takes its place. */
static void gpuopt__simplex_factor_take_out(gpuopt__simplex_factor_work *w, int32_t line, int64_t at) {
    gpuopt__simplex_factor *f = w->f;
    const int columns = line >= f->rows;
    int32_t *index = gpuopt__simplex_factor_array(f, columns);
    const int64_t last = f->begin[line] + --f->count[line];
    index[at] = index[last];
    if (!columns) f->l_t.value[at] = f->l_t.value[last];
}

/* The place of an index in a line that contains it. */
static int64_t gpuopt__simplex_factor_find(const gpuopt__simplex_factor *f, int32_t line, int32_t index) {
    const int32_t *in = gpuopt__simplex_factor_array(f, line >= f->rows);
    int64_t e = f->begin[line];
    while (in[e] != index) e++;
    return e;
}

/* The head of the list of lines with as many entries as this line. */
static int32_t *gpuopt__simplex_factor_top(const gpuopt__simplex_factor *f, int32_t line) {
    return f->top + (line < f->rows ? 0 : f->rows + 1) + f->count[line];
}

enum { GPUOPT__SIMPLEX_FACTOR_LOOSE = -2 }; /* `before` of a line outside all lists */

static void gpuopt__simplex_factor_unlink(gpuopt__simplex_factor *f, int32_t line) {
    if (f->before[line] == GPUOPT__SIMPLEX_FACTOR_LOOSE) return;
    if (f->before[line] >= 0) f->next[f->before[line]] = f->next[line];
    else *gpuopt__simplex_factor_top(f, line) = f->next[line];
    if (f->next[line] >= 0) f->before[f->next[line]] = f->before[line];
    f->before[line] = GPUOPT__SIMPLEX_FACTOR_LOOSE;
}

static void gpuopt__simplex_factor_link(gpuopt__simplex_factor *f, int32_t line) {
    int32_t *top = gpuopt__simplex_factor_top(f, line);
    if (f->count[line] == 0) return;
    f->next[line] = *top;
    f->before[line] = -1;
    if (*top >= 0) f->before[*top] = line;
    *top = line;
}

static void gpuopt__simplex_factor_measure(gpuopt__simplex_factor *f, int32_t row) {
    const double *value = f->l_t.value + f->begin[row];
    int32_t k;
    f->largest[row] = 0;
    for (k = 0; k < f->count[row]; k++) f->largest[row] = gpuopt__max(f->largest[row], fabs(value[k]));
}

#endif /* GPUOPT_IMPL_SIMPLEX_FACTOR_WORK_H */
