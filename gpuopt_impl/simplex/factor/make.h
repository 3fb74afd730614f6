/* SPDX-License-Identifier: MIT
 *
 * Triangular factors of a basis by elimination. Each pivot is an entry with least fill (Markowitz 1957), among entries
 * that are not small relative to the largest entry of their row (Suhl and Suhl 1990). Active rows are stored with their
 * values, active columns as lists of rows. Both are linked by their number of entries. So singletons come first, and a
 * search looks only at a few of the shortest lines.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_FACTOR_MAKE_H
#define GPUOPT_IMPL_SIMPLEX_FACTOR_MAKE_H

#include "work.h"

/* The columns of a matrix, followed by the columns of the unit matrix; and which of them form the basis. */
typedef struct gpuopt__simplex_factor_basis {
    const int64_t *start; /* [cols + 1] */
    const int32_t *row;
    const double *value;
    int32_t cols;
    const int32_t *head; /* [rows] */
} gpuopt__simplex_factor_basis;

enum { GPUOPT__SIMPLEX_FACTOR_LOOK = 4 }; /* most lines with an admissible pivot per search */
#define GPUOPT__SIMPLEX_FACTOR_THRESHOLD 0.1

/* ---- The basis ---- */

/* Makes steps for the unit columns, and stores the entries: in rows of unit columns they belong to U, else they are
 * active. Returns 0 if there is not enough memory. */
static int gpuopt__simplex_factor_place(gpuopt__simplex_factor_work *w, const gpuopt__simplex_factor_basis *b) {
    gpuopt__simplex_factor *f = w->f;
    const int32_t rows = f->rows;
    int32_t i, j;
    int64_t e, in_u = 0;
    memset(f->count, 0, sizeof(int32_t) * 2 * (size_t)rows);
    for (i = 0; i < rows; i++) f->place[i] = -1; /* for now: the step of a row */
    for (j = 0; j < rows; j++) {
        if (b->head[j] < b->cols) continue;
        i = b->head[j] - b->cols;
        f->place[i] = w->done;
        f->row[w->done] = i;
        f->position[w->done] = j;
        f->pivot[w->done++] = 1;
    }
    for (j = 0; j < rows; j++)
        for (e = b->head[j] < b->cols ? b->start[b->head[j]] : 0; b->head[j] < b->cols && e < b->start[b->head[j] + 1];
             e++) {
            if (b->value[e] == 0) continue;
            f->count[b->row[e]]++;
            f->count[rows + j] += f->place[b->row[e]] < 0;
        }
    for (i = 0; i < w->done; i++) {
        f->u.start[i] = in_u;
        in_u += f->count[f->row[i]];
        f->count[f->row[i]] = 0;
    }
    f->u.start[w->done] = in_u;
    for (i = 0; i < 2 * rows; i++) {
        f->begin[i] = w->used[i >= rows];
        f->capacity_of[i] = f->count[i];
        w->used[i >= rows] += f->count[i];
        f->count[i] = 0;
    }
    return in_u <= f->capacity && w->used[0] <= f->capacity && w->used[1] <= f->capacity;
}

static void gpuopt__simplex_factor_fill(gpuopt__simplex_factor_work *w, const gpuopt__simplex_factor_basis *b) {
    gpuopt__simplex_factor *f = w->f;
    const int32_t rows = f->rows;
    int32_t i, j, k;
    int64_t e;
    for (j = 0; j < rows; j++)
        for (e = b->head[j] < b->cols ? b->start[b->head[j]] : 0; b->head[j] < b->cols && e < b->start[b->head[j] + 1];
             e++) {
            if (b->value[e] == 0) continue;
            i = b->row[e];
            if (f->place[i] >= 0) {
                const int64_t at = f->u.start[f->place[i]] + f->count[i]++;
                f->u.index[at] = j;
                f->u.value[at] = b->value[e];
                continue;
            }
            f->l_t.index[f->begin[i] + f->count[i]] = j;
            f->l_t.value[f->begin[i] + f->count[i]++] = b->value[e];
            f->u_t.index[f->begin[rows + j] + f->count[rows + j]++] = i;
        }
    for (k = 0; k < w->done; k++) f->count[f->row[k]] = 0;
    for (k = 0; k < 2 * (rows + 1); k++) f->top[k] = -1;
    for (i = 0; i < rows; i++) gpuopt__simplex_factor_measure(f, i);
    for (i = 2 * rows - 1; i >= 0; i--) {
        f->before[i] = GPUOPT__SIMPLEX_FACTOR_LOOSE;
        gpuopt__simplex_factor_link(f, i);
    }
    for (i = 0; i < rows; i++) f->seen[i] = 0, f->work[i] = 0;
}

/* ---- Pivots ---- */

/* Compares the line's admissible pivots with the best one so far, by their possible fill. Returns whether there is an
 * admissible pivot. */
static int gpuopt__simplex_factor_look(gpuopt__simplex_factor_work *w, int32_t line, double *best) {
    const gpuopt__simplex_factor *f = w->f;
    const int32_t rows = f->rows, *index = gpuopt__simplex_factor_array(f, line >= rows) + f->begin[line];
    int32_t k, found = 0;
    for (k = 0; k < f->count[line]; k++) {
        const int32_t i = line < rows ? line : index[k], j = line < rows ? index[k] : line - rows;
        const double value = f->l_t.value[line < rows ? f->begin[line] + k : gpuopt__simplex_factor_find(f, i, j)];
        const double fill = (f->count[i] - 1.0) * (f->count[rows + j] - 1.0);
        if (!(fabs(value) > w->least) ||
            (f->count[rows + j] > 1 && fabs(value) < GPUOPT__SIMPLEX_FACTOR_THRESHOLD * f->largest[i]))
            continue;
        found = 1;
        if (fill > *best || (fill == *best && fabs(value) <= fabs(w->value))) continue;
        *best = fill;
        w->row = i;
        w->col = j;
        w->value = value;
    }
    return found;
}

/* Chooses the next pivot; 0: no entry is admissible. Lines without an admissible entry leave the lists for now. */
static int gpuopt__simplex_factor_choose(gpuopt__simplex_factor_work *w) {
    gpuopt__simplex_factor *f = w->f;
    const int32_t rows = f->rows;
    double best = HUGE_VAL;
    int32_t count, columns, looked = 0;
    w->row = -1;
    w->value = 0;
    for (count = 1; count <= rows; count++)
        for (columns = 1; columns >= 0; columns--) {
            int32_t line = f->top[(columns ? rows + 1 : 0) + count], next;
            if (best <= (count - 1.0) * (columns ? count - 1 : count)) return 1;
            for (; line >= 0; line = next) {
                next = f->next[line];
                if (!gpuopt__simplex_factor_look(w, line, &best)) {
                    gpuopt__simplex_factor_unlink(f, line);
                    continue;
                }
                if (++looked >= GPUOPT__SIMPLEX_FACTOR_LOOK || best <= (count - 1.0) * (count - 1.0)) return 1;
            }
        }
    return w->row >= 0;
}

/* Subtracts a multiple of the pivot row from row i, which has an entry in the pivot column. The pivot row has `length`
 * other entries: the last entries of U, also scattered in work. Returns 0 if there is not enough memory. */
static int gpuopt__simplex_factor_combine(gpuopt__simplex_factor_work *w, int32_t i, double factor, int64_t from,
                                          int32_t length) {
    gpuopt__simplex_factor *f = w->f;
    const int32_t rows = f->rows;
    int64_t e;
    int32_t k;
    w->stamp++;
    for (e = f->begin[i]; e < f->begin[i] + f->count[i];) {
        const int32_t j = f->l_t.index[e];
        const double value = f->l_t.value[e], less = factor * f->work[j];
        e++;
        if (f->work[j] == 0) continue;
        f->seen[j] = w->stamp;
        f->l_t.value[e - 1] = value - less;
        if (fabs(value - less) > 0x1p-50 * fabs(value)) continue;
        gpuopt__simplex_factor_take_out(w, i, --e); /* a rounding error */
        gpuopt__simplex_factor_take_out(w, rows + j, gpuopt__simplex_factor_find(f, rows + j, i));
    }
    if (!gpuopt__simplex_factor_reserve(w, i, length)) return 0;
    for (k = 0; k < length; k++) {
        const int32_t j = f->u.index[from + k];
        if (f->seen[j] == w->stamp || factor * f->work[j] == 0) continue;
        if (!gpuopt__simplex_factor_reserve(w, rows + j, 1)) return 0;
        f->l_t.index[f->begin[i] + f->count[i]] = j;
        f->l_t.value[f->begin[i] + f->count[i]++] = -factor * f->work[j];
        f->u_t.index[f->begin[rows + j] + f->count[rows + j]++] = i;
    }
    return 1;
}

/* Moves the pivot row to U, and removes it from the active columns. */
static void gpuopt__simplex_factor_take_row(gpuopt__simplex_factor_work *w) {
    gpuopt__simplex_factor *f = w->f;
    const int32_t rows = f->rows, p = w->row;
    int64_t e, to = f->u.start[w->done];
    gpuopt__simplex_factor_unlink(f, p);
    for (e = f->begin[p]; e < f->begin[p] + f->count[p]; e++) {
        const int32_t j = f->l_t.index[e];
        gpuopt__simplex_factor_unlink(f, rows + j);
        gpuopt__simplex_factor_take_out(w, rows + j, gpuopt__simplex_factor_find(f, rows + j, p));
        if (j == w->col) continue;
        f->work[j] = f->l_t.value[e];
        f->u.index[to] = j;
        f->u.value[to++] = f->l_t.value[e];
    }
    f->count[p] = 0;
    f->u.start[w->done + 1] = to;
}

/* Eliminates with the chosen pivot. Returns 0 if there is not enough memory. Returns -1 if a number exceeds the range
 * of double: then this step is void, and no further step is possible. */
static int gpuopt__simplex_factor_eliminate(gpuopt__simplex_factor_work *w) {
    gpuopt__simplex_factor *f = w->f;
    const int32_t rows = f->rows, q = w->col;
    const int64_t from = f->u.start[w->done];
    int64_t to = f->l.start[f->steps];
    int32_t k, length = f->count[w->row] - 1, below = f->count[rows + q] - 1;
    if (from + length > f->capacity || to + below > f->capacity) return 0;
    f->row[w->done] = w->row;
    f->position[w->done] = q;
    f->pivot[w->done] = w->value;
    gpuopt__simplex_factor_take_row(w);
    for (k = 0; k < below; k++) {
        const int32_t i = f->u_t.index[f->begin[rows + q] + k];
        const int64_t e = gpuopt__simplex_factor_find(f, i, q);
        const double value = f->l_t.value[e], factor = value / w->value;
        if (!(fabs(factor) < HUGE_VAL)) return -1;
        gpuopt__simplex_factor_unlink(f, i);
        gpuopt__simplex_factor_take_out(w, i, e);
        if (length > 0 && !gpuopt__simplex_factor_combine(w, i, factor, from, length)) return 0;
        if (length > 0 || fabs(value) == f->largest[i]) gpuopt__simplex_factor_measure(f, i);
        if (!(f->largest[i] < HUGE_VAL)) return -1;
        gpuopt__simplex_factor_link(f, i);
        f->l.index[to] = i;
        f->l.value[to++] = factor;
    }
    f->count[rows + q] = 0;
    for (k = 0; k < length; k++) {
        const int32_t j = f->u.index[from + k];
        f->work[j] = 0;
        gpuopt__simplex_factor_link(f, rows + j);
    }
    if (below > 0) {
        f->l_row[f->steps++] = w->row;
        f->l.start[f->steps] = to;
    }
    w->done++;
    return 1;
}

/* ---- The end ---- */

/* Gives rows without a pivot unit columns, in the positions of the columns without a pivot. by_rows: a column's
 * position becomes its pivot row. position [rows]: position of each column, -1 without a pivot. Returns the number of
 * columns without a pivot. */
static int32_t gpuopt__simplex_factor_finish(gpuopt__simplex_factor_work *w, int by_rows, int32_t *position) {
    gpuopt__simplex_factor *f = w->f;
    const int32_t rows = f->rows, found = w->done;
    int32_t i, j = 0, k;
    int64_t e, from = 0, to = 0;
    for (k = 0; k < rows; k++) f->place[k] = -1, f->count[k] = -1;
    for (k = 0; k < found; k++) {
        f->count[f->row[k]] = k; /* from here on: the step of a row */
        f->place[f->position[k]] = by_rows ? f->row[k] : f->position[k];
    }
    if (position) memcpy(position, f->place, sizeof(int32_t) * (size_t)rows);
    for (k = 0; k < found; k++) {
        const int64_t end = f->u.start[k + 1];
        f->u.start[k] = to;
        for (e = from; e < end; e++) {
            if (f->place[f->u.index[e]] < 0) continue; /* a column without a pivot */
            f->u.index[to] = f->place[f->u.index[e]];
            f->u.value[to++] = f->u.value[e];
        }
        from = end;
        f->position[k] = f->place[f->position[k]];
    }
    for (i = 0; i < rows; i++) {
        if (f->count[i] >= 0) continue;
        while (f->place[j] >= 0) j++;
        f->count[i] = w->done;
        f->row[w->done] = i;
        f->position[w->done] = by_rows ? i : j;
        f->u.start[w->done] = to;
        f->pivot[w->done++] = 1;
        j++;
    }
    f->u.start[rows] = to;
    return rows - found;
}

/* Fills the other copies of U and of L. */
static void gpuopt__simplex_factor_transpose(gpuopt__simplex_factor *f) {
    const int32_t rows = f->rows, *step = f->count;
    int32_t i, k, *step_at = f->place; /* [rows] step of a position */
    int64_t e, *to = f->begin;
    for (k = 0; k < rows; k++) step_at[f->position[k]] = k;
    memset(to, 0, sizeof(int64_t) * 2 * (size_t)rows);
    for (e = 0; e < f->u.start[rows]; e++) to[step_at[f->u.index[e]]]++;
    for (e = 0; e < f->l.start[f->steps]; e++) to[rows + step[f->l.index[e]]]++;
    f->u_t.start[0] = f->l_t.start[0] = 0;
    f->lines = 0;
    for (k = 0; k < rows; k++) {
        f->u_t.start[k + 1] = f->u_t.start[k] + to[k];
        to[k] = f->u_t.start[k];
    }
    for (k = rows - 1; k >= 0; k--) {
        const int64_t entries = to[rows + k];
        if (entries == 0) continue;
        to[rows + k] = f->l_t.start[f->lines];
        f->with_l[f->lines++] = f->row[k];
        f->l_t.start[f->lines] = to[rows + k] + entries;
    }
    for (k = 0; k < rows; k++)
        for (e = f->u.start[k]; e < f->u.start[k + 1]; e++) {
            const int64_t at = to[step_at[f->u.index[e]]]++;
            f->u_t.index[at] = f->row[k];
            f->u_t.value[at] = f->u.value[e];
        }
    for (i = 0; i < f->steps; i++)
        for (e = f->l.start[i]; e < f->l.start[i + 1]; e++) {
            const int64_t at = to[rows + step[f->l.index[e]]]++;
            f->l_t.index[at] = f->l_row[i];
            f->l_t.value[at] = f->l.value[e];
        }
}

/* Factors of the columns in head. Entries up to `least` and overflowing numbers are not pivots. by_rows: the position
 * of a column is its pivot row, else its place in head. position [rows], unless NULL: position of each column, -1 if it
 * depends on others; unit columns then replace it. Returns the number of replaced columns. -1: not enough memory; the
 * factors are then invalid. */
static int32_t gpuopt__simplex_factor_make(gpuopt__simplex_factor *f, const gpuopt__simplex_factor_basis *b,
                                           double least, int by_rows, int32_t *position) {
    gpuopt__simplex_factor_work w = {f, least, {0, 0}, 0, 0, -1, -1, 0};
    int32_t singular;
    int done = 1;
    f->steps = 0;
    f->l.start[0] = 0;
    if (!gpuopt__simplex_factor_place(&w, b)) return -1;
    gpuopt__simplex_factor_fill(&w, b);
    while (done > 0 && w.done < f->rows && gpuopt__simplex_factor_choose(&w))
        done = gpuopt__simplex_factor_eliminate(&w);
    if (done == 0) return -1;
    singular = gpuopt__simplex_factor_finish(&w, by_rows, position);
    gpuopt__simplex_factor_transpose(f);
    return singular;
}

#endif /* GPUOPT_IMPL_SIMPLEX_FACTOR_MAKE_H */
