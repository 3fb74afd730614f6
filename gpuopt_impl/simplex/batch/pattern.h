/* SPDX-License-Identifier: MIT
 *
 * Batches of small linear programs: the shared pattern, checked, by rows and by columns.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_BATCH_PATTERN_H
#define GPUOPT_IMPL_SIMPLEX_BATCH_PATTERN_H

#include "../../common/checks.h"

enum { GPUOPT__SIMPLEX_BATCH_COPIES = 65536, GPUOPT__SIMPLEX_BATCH_ROWS = 512, GPUOPT__SIMPLEX_BATCH_COLS = 8192 };

/* The number of entries of the pattern; -1: too many. */
static int64_t gpuopt__simplex_batch_nonzeros(const gpuopt_simplex_batch_desc *d) {
    const int32_t lines = d->layout == GPUOPT_LAYOUT_CSR ? d->rows : d->cols;
    return d->start ? d->start[lines] : (int64_t)d->rows * d->cols;
}

static gpuopt_status gpuopt__simplex_batch_check_start(const gpuopt_context *context, const char *call,
                                                       const gpuopt_simplex_batch_desc *d) {
    const int32_t lines = d->layout == GPUOPT_LAYOUT_CSR ? d->rows : d->cols;
    const int32_t width = d->layout == GPUOPT_LAYOUT_CSR ? d->cols : d->rows;
    int32_t line;
    if (!d->start) return GPUOPT_OK;
    if (d->start[0] != 0) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "start[0] is not 0");
    for (line = 0; line < lines; line++)
        if (d->start[line + 1] < d->start[line] || d->start[line + 1] - d->start[line] > width) {
            gpuopt__log(context, 0, "%s: start[%d] is less than the one before it, or a line is longer than %d", call,
                        (int)line + 1, (int)width);
            return GPUOPT_ERROR_ARGUMENT;
        }
    if (d->start[lines] > 0 && !d->index) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "index is NULL");
    return gpuopt__check_indices(context, call, "index", d->start[lines], d->index, width);
}

/* Checks that no index is repeated in a line. Uses one bit per index. */
static gpuopt_status gpuopt__simplex_batch_check_twice(const gpuopt_context *context, const char *call,
                                                       const gpuopt_simplex_batch_desc *d) {
    const int32_t lines = d->layout == GPUOPT_LAYOUT_CSR ? d->rows : d->cols;
    uint64_t seen[GPUOPT__SIMPLEX_BATCH_COLS / 64];
    int32_t line;
    int64_t e;
    for (line = 0; d->start && line < lines; line++) {
        memset(seen, 0, sizeof seen);
        for (e = d->start[line]; e < d->start[line + 1]; e++) {
            const uint64_t bit = (uint64_t)1 << d->index[e] % 64;
            if (seen[d->index[e] / 64] & bit) {
                gpuopt__log(context, 0, "%s: index[%lld] = %d comes twice in line %d", call, (long long)e,
                            (int)d->index[e], (int)line);
                return GPUOPT_ERROR_ARGUMENT;
            }
            seen[d->index[e] / 64] |= bit;
        }
    }
    return GPUOPT_OK;
}

/* Fills one direction of the pattern. `start` has one element more than there are lines. */
static void gpuopt__simplex_batch_fill_lines(const gpuopt_simplex_batch_desc *d, int by_rows, int32_t *start,
                                             int32_t *index, int32_t *at) {
    const int as_given = by_rows == (d->layout == GPUOPT_LAYOUT_CSR);
    const int32_t lines = by_rows ? d->rows : d->cols, width = by_rows ? d->cols : d->rows;
    int32_t line, other, e;
    if (!d->start || as_given) {
        for (line = e = 0; line < lines; line++) {
            const int32_t count = d->start ? (int32_t)(d->start[line + 1] - d->start[line]) : width;
            start[line] = e;
            for (other = 0; other < count; other++, e++) {
                index[e] = d->start ? d->index[e] : other;
                at[e] = as_given ? e : other * lines + line;
            }
        }
        start[lines] = e;
        return;
    }
    memset(start, 0, sizeof(int32_t) * ((size_t)lines + 1));
    for (e = 0; e < d->start[width]; e++) start[d->index[e] + 1]++;
    for (line = 0; line < lines; line++) start[line + 1] += start[line];
    for (other = 0; other < width; other++)
        for (e = (int32_t)d->start[other]; e < d->start[other + 1]; e++) {
            const int32_t to = start[d->index[e]]++;
            index[to] = other;
            at[to] = e;
        }
    for (line = lines; line > 0; line--) start[line] = start[line - 1];
    start[0] = 0;
}

#endif /* GPUOPT_IMPL_SIMPLEX_BATCH_PATTERN_H */
