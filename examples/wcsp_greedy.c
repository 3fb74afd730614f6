/* SPDX-License-Identifier: MIT */
#include "gpuopt/search.h"
#include "examples/wcsp_greedy.h"

#include <math.h>
#include <stdlib.h>

gpuopt_status greedy_values(gpuopt_elimination *elimination, const gpuopt_elimination_desc *desc,
                            const int32_t *original, int32_t *value, int *found) {
    const int whole = desc->type == GPUOPT_COST_INT64;
    size_t most = 1;
    gpuopt_status status = GPUOPT_OK;
    for (int32_t k = 0; k < desc->order_count; k++)
        if ((size_t)desc->domain[k] > most) most = (size_t)desc->domain[k];
    int32_t *row = calloc((size_t)desc->variables + 1, sizeof *row);
    int64_t *cost = malloc(most * sizeof *cost);
    double *real = malloc(most * sizeof *real), *sum = malloc(most * sizeof *sum);
    *found = 1;
    if (!row || !cost || !real || !sum) status = GPUOPT_ERROR_MEMORY;
    for (int32_t last = desc->order_count - 1, first; last >= 0 && !status && *found; last = first - 1) {
        const int32_t of = original[last], values = desc->domain[last];
        int32_t best = 0, v;
        for (v = 0; v < values; v++) sum[v] = 0;
        for (first = last + 1; first > 0 && original[first - 1] == of && !status; first--) {
            status = gpuopt_elimination_get_bounds(elimination, GPUOPT_HOST, 0, first - 1, 1, 1, row,
                                                   whole ? cost : NULL, whole ? NULL : real);
            for (v = 0; v < values && !status; v++)
                sum[v] += !whole ? real[v] : cost[v] == INT64_MAX ? HUGE_VAL : (double)cost[v];
        }
        for (v = 1; v < values; v++)
            if (sum[v] < sum[best]) best = v;
        *found = sum[best] < HUGE_VAL;
        value[of] = best;
        for (v = first; v <= last; v++) row[v] = best;
    }
    free(row);
    free(cost);
    free(real);
    free(sum);
    return status;
}
