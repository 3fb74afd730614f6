/* SPDX-License-Identifier: MIT
 *
 * Tidies values and duals that are 0 up to rounding. If all terms of a row are such values, its violation is as large
 * as its terms, however small they are. So these values become 0, unless that makes the relative violation of a row or
 * column larger than before.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_VERDICT_TIDY_H
#define GPUOPT_IMPL_SIMPLEX_VERDICT_TIDY_H

#include "exact.h"

/* TINY: values up to this, relative to the larger of 1 and the largest value, may become 0. FINE_SHARE: relative
 * violations up to this are rounding in twice the precision. */
#define GPUOPT__SIMPLEX_TINY 0x1p-80
#define GPUOPT__SIMPLEX_FINE_SHARE 0x1p-90

static double gpuopt__simplex_share(double miss, double size) { return miss == 0 ? 0 : miss / size; }

/* The largest relative violation of a row by x + x_low. Writes the residuals to s->gap. */
static gpuopt_status gpuopt__simplex_share_of_x(gpuopt_simplex *s, double *share) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    double *size = s->by_row;
    int32_t i;
    gpuopt_status status = backend->sizes(s->engine, s->x, NULL, size, NULL);
    if (!status) status = backend->residual(s->engine, s->x, s->x_low, s->gap, NULL);
    *share = 0;
    for (i = 0; i < s->lp.rows && !status; i++)
        *share = gpuopt__max(*share, gpuopt__simplex_share(fabs(s->gap[i]), size[i] + fabs(s->x[s->lp.cols + i])));
    return status;
}

/* The same for the duals and the reduced costs of basic columns. Writes all reduced costs to s->reduced. */
static gpuopt_status gpuopt__simplex_share_of_y(gpuopt_simplex *s, double *share) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    double *size = s->ray;
    int32_t i;
    gpuopt_status status = backend->sizes(s->engine, NULL, s->y, NULL, size);
    if (!status) status = backend->reduce(s->engine, s->cost, s->y, s->y_low, s->reduced, NULL);
    *share = 0;
    for (i = 0; i < s->lp.rows && !status; i++) {
        int32_t j = s->v.head[i];
        double of = j < s->lp.cols ? fabs(s->cost[j]) + size[j] : fabs(s->y[j - s->lp.cols]);
        *share = gpuopt__max(*share, gpuopt__simplex_share(fabs(s->reduced[j]), of));
    }
    return status;
}

/* Sets tiny values among value[index ? index[i] : i] to 0, unless share_of then finds a larger share than before.
 * *changed: whether it did. */
static gpuopt_status gpuopt__simplex_without_tiny(gpuopt_simplex *s, double *value, double *low, const int32_t *index,
                                                  double tiny, gpuopt_status (*share_of)(gpuopt_simplex *, double *),
                                                  int *changed) {
    double *kept = s->dual_low, *kept_low = s->staging, before, after;
    int32_t i, rows = s->lp.rows, found = 0;
    gpuopt_status status = GPUOPT_OK;
    for (i = 0; i < rows; i++) {
        int32_t k = index ? index[i] : i;
        kept[i] = value[k];
        kept_low[i] = low[k];
        found += value[k] != 0 && fabs(value[k]) <= tiny;
    }
    if (found == 0) return GPUOPT_OK;
    status = share_of(s, &before);
    for (i = 0; i < rows; i++) {
        int32_t k = index ? index[i] : i;
        if (fabs(value[k]) <= tiny) value[k] = low[k] = 0;
    }
    if (!status) status = share_of(s, &after);
    if (!status && after <= gpuopt__max(before, GPUOPT__SIMPLEX_FINE_SHARE)) {
        *changed = 1;
        return GPUOPT_OK;
    }
    for (i = 0; i < rows; i++) {
        int32_t k = index ? index[i] : i;
        value[k] = kept[i];
        low[k] = kept_low[i];
    }
    return status ? status : share_of(s, &before);
}

/* *changed: whether values became 0. The point and duals are then in the state after a rebuild. */
static gpuopt_status gpuopt__simplex_tidy(gpuopt_simplex *s, int *changed) {
    double of_x = GPUOPT__SIMPLEX_TINY * gpuopt__max(1, gpuopt__simplex_largest(s->lp.rows + s->lp.cols, s->x));
    double of_y = GPUOPT__SIMPLEX_TINY * gpuopt__max(1, gpuopt__simplex_largest(s->lp.rows, s->y));
    gpuopt_status status =
        gpuopt__simplex_without_tiny(s, s->x, s->x_low, s->v.head, of_x, gpuopt__simplex_share_of_x, changed);
    if (!status)
        status = gpuopt__simplex_without_tiny(s, s->y, s->y_low, NULL, of_y, gpuopt__simplex_share_of_y, changed);
    return status || !*changed ? status : gpuopt__simplex_settle(s);
}

#endif /* GPUOPT_IMPL_SIMPLEX_VERDICT_TIDY_H */
