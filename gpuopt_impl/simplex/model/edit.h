/* SPDX-License-Identifier: MIT
 *
 * Adds rows or columns to a model, and removes them. The model is stored both by rows and by columns, in host memory.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_MODEL_EDIT_H
#define GPUOPT_IMPL_SIMPLEX_MODEL_EDIT_H

#include "../../common/matrix.h"
#include "scaling.h"

/* The entries by rows, or by columns. */
typedef struct gpuopt__simplex_lines {
    int64_t *start;
    int32_t *index;
    double *value;
    int32_t count; /* number of lines */
} gpuopt__simplex_lines;

/* ---- New lines, behind the present ones ---- */

static inline int gpuopt__simplex_scales_exactly(double value, double by) {
    double scaled = value * by;
    return gpuopt__simplex_moderate(by) && gpuopt__simplex_moderate(scaled) && scaled / by == value;
}

/* Appends lines of the caller's and chooses their scales, scale[to->count ..]. across: the scales in the other
 * direction. *exact: whether scaling rounds no entry. */
static inline void gpuopt__simplex_take_lines(const gpuopt__simplex_lines *to, int by_rows, int scaling,
                                              const gpuopt_matrix *m, const double *across, double *scale, int *exact) {
    int32_t k, count = by_rows ? m->rows : m->cols;
    int64_t e, base = to->start[to->count], *start = to->start + to->count, end;
    if (m->layout == (by_rows ? GPUOPT_LAYOUT_CSR : GPUOPT_LAYOUT_CSC)) {
        end = m->start[count];
        memcpy(start, m->start, sizeof(int64_t) * ((size_t)count + 1));
        if (end > 0) memcpy(to->index + base, m->index, sizeof(int32_t) * (size_t)end);
        if (end > 0) memcpy(to->value + base, m->value, sizeof(double) * (size_t)end);
    } else {
        gpuopt__transpose(by_rows ? m->cols : m->rows, count, m->start, m->index, m->value, start, to->index + base,
                          to->value + base, NULL);
    }
    *exact = 1;
    for (k = 0; k <= count; k++) start[k] += base;
    for (k = 0; k < count; k++) {
        double least = HUGE_VAL, most = 0, *own = &scale[to->count + k];
        for (e = start[k]; e < start[k + 1]; e++) {
            double size = gpuopt__mul(fabs(to->value[e]), across[to->index[e]]);
            least = gpuopt__min(least, size);
            most = gpuopt__max(most, size);
        }
        *own = !scaling  ? 1
               : by_rows ? gpuopt__simplex_power_of_two(gpuopt__simplex_geometric(least, most))
                         : gpuopt__simplex_power_of_two(gpuopt__simplex_equilibrating(most));
        for (e = start[k]; e < start[k + 1] && scaling; e++) {
            double by = *own * across[to->index[e]];
            *exact &= gpuopt__simplex_scales_exactly(to->value[e], by);
            to->value[e] *= by;
        }
    }
}

/* Inserts the entries of new lines at the ends of the lines across. `from` already contains the new lines at its end.
 * added [lines across]: scratch. */
static inline void gpuopt__simplex_insert_lines(const gpuopt__simplex_lines *from, int32_t count,
                                                const gpuopt__simplex_lines *to, int32_t *added) {
    int64_t e, first = from->start[from->count], end = from->start[from->count + count], shift = end - first;
    int32_t j, k;
    memset(added, 0, sizeof(int32_t) * (size_t)to->count);
    for (e = first; e < end; e++) added[from->index[e]]++;
    for (j = to->count - 1; j >= 0; j--) {
        int64_t begin = to->start[j], length = to->start[j + 1] - begin;
        to->start[j + 1] += shift;
        shift -= added[j];
        memmove(to->index + begin + shift, to->index + begin, sizeof(int32_t) * (size_t)length);
        memmove(to->value + begin + shift, to->value + begin, sizeof(double) * (size_t)length);
    }
    for (k = 0; k < count; k++)
        for (e = from->start[from->count + k]; e < from->start[from->count + k + 1]; e++) {
            int64_t at = to->start[from->index[e] + 1] - added[from->index[e]]--;
            to->index[at] = from->count + k;
            to->value[at] = from->value[e];
        }
}

/* ---- Removing lines ---- */

/* Removes the entries of lines from both ways of storing them. */
static inline void gpuopt__simplex_take_out_lines(const gpuopt__simplex_lines *lines,
                                                  const gpuopt__simplex_lines *across, const int32_t *to) {
    int64_t e, begin = 0, end, at = 0;
    int32_t k, kept = 0;
    for (k = 0; k < lines->count; k++) {
        end = lines->start[k + 1];
        for (e = begin; e < end && to[k] >= 0; e++, at++) {
            lines->index[at] = lines->index[e];
            lines->value[at] = lines->value[e];
        }
        begin = end;
        if (to[k] >= 0) lines->start[++kept] = at;
    }
    begin = at = 0;
    for (k = 0; k < across->count; k++) {
        end = across->start[k + 1];
        for (e = begin; e < end; e++) {
            if (to[across->index[e]] < 0) continue;
            across->index[at] = to[across->index[e]];
            across->value[at++] = across->value[e];
        }
        begin = end;
        across->start[k + 1] = at;
    }
}

#endif /* GPUOPT_IMPL_SIMPLEX_MODEL_EDIT_H */
