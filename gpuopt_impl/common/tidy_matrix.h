/* SPDX-License-Identifier: MIT
 *
 * Sparse matrices with explicit zeros and duplicates, as SciPy and other programs pass them. A tidied copy replaces
 * such a matrix during a call. Tidying drops zeros and adds up duplicates in their order, each sum rounded to nearest.
 * Sums that are 0 are dropped, too. The other entries keep their order; a sum takes the place of the first duplicate.
 */
#ifndef GPUOPT_IMPL_TIDY_MATRIX_H
#define GPUOPT_IMPL_TIDY_MATRIX_H

#include "matrix.h"
#include "numerics.h"

/* A matrix in the form in which a call uses it. */
typedef struct gpuopt__tidied {
    gpuopt_matrix matrix;      /* the given one, or its tidied copy */
    void *memory;              /* the memory of the copy; NULL: there is no copy, since the given matrix is tidy */
    int64_t zeros, duplicates; /* entries that are 0; entries that were added to an earlier one */
    int64_t first;             /* position of the first zero or duplicate */
    int32_t line, index;       /* line and index of that entry */
} gpuopt__tidied;

/* Host memory for a tidied copy. */
static inline uint64_t gpuopt__tidy_bytes(const gpuopt_matrix *m) {
    gpuopt__arena arena = {NULL, 0};
    gpuopt__cut_matrix(&arena, gpuopt__matrix_lines(m), m->start[gpuopt__matrix_lines(m)]);
    return arena.used;
}

/* Copies a line. seen[i]: the position of index i among the entries copied; anything if it is not there. */
static inline gpuopt_status gpuopt__tidy_line(const gpuopt_context *context, const char *call, const gpuopt_matrix *m,
                                              int32_t line, double least, double most, int32_t *seen, int *single,
                                              const gpuopt__matrix_arrays *to, gpuopt__tidied *t) {
    const int32_t width = gpuopt__matrix_width(m);
    int32_t *index = to->index + to->start[line], count = 0, kept = 0, i, e;
    double *value = to->value + to->start[line];
    int64_t k;
    for (k = m->start[line]; k < m->start[line + 1]; k++) {
        double given = m->value[k];
        int repeated;
        i = m->index[k];
        if (i < 0 || i >= width || (given != 0 && !(fabs(given) >= least && fabs(given) <= most)))
            return gpuopt__refuse_entry(context, call, m->layout, line, k, i, given, width, 0);
        repeated = seen[i] >= 0 && seen[i] < count && index[seen[i]] == i;
        if ((given == 0 || repeated) && t->zeros + t->duplicates == 0) t->first = k, t->line = line, t->index = i;
        if (given == 0) t->zeros++;
        else if (repeated) {
            t->duplicates++;
            value[seen[i]] = gpuopt__add(value[seen[i]], given);
        } else {
            seen[i] = count;
            index[count] = i;
            value[count++] = given;
        }
    }
    for (e = 0; e < count; e++) {
        double size = fabs(value[e]);
        if (size == 0) continue;
        if (!(size >= least && size <= most)) {
            const int by_rows = m->layout == GPUOPT_LAYOUT_CSR;
            gpuopt__log(context, 0, "%s: %s %d: the entries of %s %d sum to %g, which is not representable", call,
                        by_rows ? "row" : "column", (int)line, by_rows ? "column" : "row", (int)index[e], value[e]);
            return GPUOPT_ERROR_ARGUMENT;
        }
        if (single) *single &= size <= FLT_MAX && (double)(float)value[e] == value[e];
        index[kept] = index[e];
        value[kept++] = value[e];
    }
    to->start[line + 1] = to->start[line] + kept;
    return GPUOPT_OK;
}

static inline void gpuopt__tidied_release(const gpuopt_context *context, gpuopt__tidied *t) {
    gpuopt__release(context, GPUOPT_HOST, t->memory);
    t->memory = NULL;
}

/* Checks a matrix as gpuopt__check_entries does, and tidies it if necessary. After any return value, call
 * gpuopt__tidied_end() or _release(). */
static inline gpuopt_status gpuopt__tidy_matrix(const gpuopt_context *context, const char *call, const gpuopt_matrix *m,
                                                double least, double most, int32_t *seen, int *single,
                                                gpuopt__tidied *t) {
    gpuopt__arena arena = {NULL, 0};
    gpuopt__matrix_arrays to;
    int32_t line, lines = gpuopt__matrix_lines(m);
    gpuopt_status status = gpuopt__check_entries(context, call, m, least, most, seen, single);
    memset(t, 0, sizeof *t);
    t->matrix = *m;
    if (status != GPUOPT__UNTIDY) return status;
    status = gpuopt__allocate(context, GPUOPT_HOST, gpuopt__tidy_bytes(m), &t->memory);
    if (status) return status;
    arena.base = (char *)t->memory;
    to = gpuopt__cut_matrix(&arena, lines, m->start[lines]);
    to.start[0] = 0;
    if (single) *single = 1;
    for (line = 0; line < lines && !status; line++)
        status = gpuopt__tidy_line(context, call, m, line, least, most, seen, single, &to, t);
    if (status) gpuopt__tidied_release(context, t);
    else gpuopt__point_to(&t->matrix, &to);
    return status;
}

/* Logs a warning about tidied entries, once for each call. */
static inline void gpuopt__warn_of_tidied(const gpuopt_context *context, const char *call, const gpuopt__tidied *t) {
    const int by_rows = t->matrix.layout == GPUOPT_LAYOUT_CSR;
    if (!t->memory) return;
    gpuopt__log(context, 1,
                "%s: zeros dropped: %lld, duplicates summed: %lld; the first is index[%lld], in row %d and column %d",
                call, (long long)t->zeros, (long long)t->duplicates, (long long)t->first,
                (int)(by_rows ? t->line : t->index), (int)(by_rows ? t->index : t->line));
}

static inline void gpuopt__tidied_end(const gpuopt_context *context, const char *call, gpuopt__tidied *t) {
    gpuopt__warn_of_tidied(context, call, t);
    gpuopt__tidied_release(context, t);
}

/* The final status of a call: a backend may find a fault where the CPU side found none. */
static inline gpuopt_status gpuopt__settled(const gpuopt_context *context, const char *call, gpuopt_status status) {
    return status != GPUOPT__UNTIDY
               ? status
               : gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "the arrays changed during the call");
}

#endif /* GPUOPT_IMPL_TIDY_MATRIX_H */
