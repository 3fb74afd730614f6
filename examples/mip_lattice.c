/* SPDX-License-Identifier: MIT
 *
 * Integer combinations of the columns bring the equations to a triangle (the Hermite normal form). Its unknowns are
 * computed one by one: each must be an integer. Cohen: A Course in Computational Algebraic Number Theory (1993),
 * section 2.4.
 */
#include "examples/mip_lattice.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_CELLS = 200000 };

typedef struct triangle {
    wide *cell, *side; /* [cols][rows], column after column; [rows] */
    int32_t rows, cols, done;
    int64_t work; /* that may still be done */
} triangle;

static wide size_of(wide a) { return a < 0 ? -a : a; }

/* The column from `done` on with the least nonzero entry in the row; -1: there is none. */
static int32_t least_of(const triangle *t, int32_t row) {
    int32_t j, best = -1;
    for (j = t->done; j < t->cols; j++) {
        wide a = size_of(t->cell[(int64_t)j * t->rows + row]);
        if (a != 0 && (best < 0 || a < size_of(t->cell[(int64_t)best * t->rows + row]))) best = j;
    }
    return best;
}

/* Column j -= factor * column p, from the row on. Returns whether the numbers stay small enough. */
static int subtract(triangle *t, wide *from, const wide *column, wide factor, int32_t row) {
    wide product;
    for (; row < t->rows; row++)
        if (__builtin_mul_overflow(column[row], factor, &product) ||
            __builtin_sub_overflow(from[row], product, &from[row]))
            return 0;
    return 1;
}

/* Leaves the row one entry from column `done` on, and moves it to that place. Returns 0: it has none; -1: too much. */
static int reduce_row(triangle *t, int32_t row) {
    for (;;) {
        int32_t p = least_of(t, row), j, k, others = 0;
        wide *pivot = t->cell + (int64_t)(p < 0 ? 0 : p) * t->rows;
        if (p < 0) return 0;
        for (j = t->done; j < t->cols; j++) {
            wide *column = t->cell + (int64_t)j * t->rows, a = pivot[row], q = column[row] / a, rest = column[row] % a;
            if (j == p || column[row] == 0) continue;
            if (2 * size_of(rest) > size_of(a)) q += (rest < 0) == (a < 0) ? 1 : -1; /* to the nearest */
            t->work -= t->rows - row;
            if (t->work < 0 || !subtract(t, column, pivot, q, row)) return -1;
            others += column[row] != 0;
        }
        if (others) continue;
        for (k = 0; k < t->rows; k++) {
            wide a = pivot[k], *to = t->cell + (int64_t)t->done * t->rows + k;
            pivot[k] = *to;
            *to = a;
        }
        return 1;
    }
}

/* 1: no integers satisfy the equations. */
static int refuted(triangle *t) {
    int32_t row;
    for (row = 0; row < t->rows; row++) {
        int found = reduce_row(t, row);
        const wide *column = t->cell + (int64_t)t->done * t->rows;
        if (found < 0) return 0;
        if (found == 0 && t->side[row] != 0) return 1;
        if (found == 0) continue;
        if (t->side[row] % column[row] != 0) return 1;
        if (!subtract(t, t->side, column, t->side[row] / column[row], row)) return 0;
        t->done++;
    }
    return 0;
}

static int is_listed(const mip *m, const double *scale, int32_t i) {
    return scale[i] > 0 && m->lhs[i] == m->rhs[i] && fabs(m->lhs[i]) * scale[i] < 0x1p100;
}

/* Numbers the columns that the equations have: place [cols], from 1. */
static int32_t number_columns(const mip *m, const double *scale, int32_t *place) {
    int32_t i, count = 0;
    int64_t k;
    for (i = 0; i < m->matrix.rows; i++)
        for (k = m->matrix.start[i]; is_listed(m, scale, i) && k < m->matrix.start[i + 1]; k++) {
            int32_t j = m->matrix.index[k];
            if (m->lb[j] < m->ub[j] && place[j] == 0) place[j] = ++count;
        }
    return count;
}

static int fill(triangle *t, const mip *m, const double *scale, const int32_t *place) {
    int32_t i, row = 0;
    int64_t k;
    for (i = 0; i < m->matrix.rows; i++) {
        if (!is_listed(m, scale, i)) continue;
        t->side[row] = (wide)(m->rhs[i] * scale[i]);
        for (k = m->matrix.start[i]; k < m->matrix.start[i + 1]; k++) {
            int32_t j = m->matrix.index[k];
            wide a = (wide)(m->matrix.value[k] * scale[i]), term;
            if (place[j]) t->cell[(int64_t)(place[j] - 1) * t->rows + row] += a;
            else if (__builtin_mul_overflow(a, (wide)m->lb[j], &term) ||
                     __builtin_sub_overflow(t->side[row], term, &t->side[row]))
                return 0;
        }
        row++;
    }
    return 1;
}

int lattice_refutes(const mip *m, const double *scale) {
    triangle t = {NULL, NULL, 0, 0, 0, 50000000};
    int32_t i, *place = calloc((size_t)m->matrix.cols + 1, sizeof *place);
    int result = place ? 0 : -1;
    for (i = 0; i < m->matrix.rows; i++) t.rows += is_listed(m, scale, i);
    if (place && t.rows > 0) t.cols = number_columns(m, scale, place);
    if (t.rows > 0 && (int64_t)t.rows * (t.cols + 1) <= MOST_CELLS) {
        t.cell = calloc((size_t)t.rows * ((size_t)t.cols + 1), sizeof *t.cell);
        t.side = calloc((size_t)t.rows, sizeof *t.side);
        result = !place || !t.cell || !t.side ? -1 : fill(&t, m, scale, place) && refuted(&t);
    }
    free(place);
    free(t.cell);
    free(t.side);
    return result;
}
