/* SPDX-License-Identifier: MIT
 *
 * Knapsack: a run of a search, for callers and for inner searches.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_POOL_RUN_H
#define GPUOPT_IMPL_KNAPSACK_POOL_RUN_H

#include "../ranks/steps.h"

static gpuopt_outcome gpuopt__knapsack_outcome(const gpuopt_knapsack *k) {
    const gpuopt__knapsack_search *s = &k->search;
    if (s->depth == 0) return k->incumbent >= k->claim ? GPUOPT_OPTIMAL : GPUOPT_INFEASIBLE;
    if (k->node_limit > 0 && s->expanded >= k->node_limit) return GPUOPT_LIMIT;
    return s->full ? GPUOPT_FULL : GPUOPT_MORE;
}

/* Ends the search: no node in the pool can beat the incumbent. */
static void gpuopt__knapsack_finish(gpuopt__knapsack_search *s) {
    s->pruned += gpuopt__knapsack_alive(s);
    s->used[0] = s->used[1] = s->remote = 0;
    s->depth = 0;
    s->full = 0;
}

/* Expands up to `nodes` nodes in up to `levels` steps; 0: any number. strengthen: called whenever a better bound of the
 * whole problem may be due; returns 1 if it has computed one. */
static gpuopt_status gpuopt__knapsack_run(gpuopt_knapsack *k, int64_t nodes, int32_t levels,
                                          int (*strengthen)(gpuopt_knapsack *)) {
    gpuopt__knapsack_search *s = &k->search;
    const int64_t lower = s->lower;
    int64_t expanded = INT64_MAX, steps = INT64_MAX;
    gpuopt_status status = GPUOPT_OK;
    int again;
    if (nodes > 0 && nodes < INT64_MAX - s->expanded) expanded = s->expanded + nodes;
    if (levels > 0) steps = s->steps + levels;
    if (k->node_limit > 0 && k->node_limit < expanded) expanded = k->node_limit;
    k->stopped = 0;
    do {
        const int64_t until = k->strengthen_at < expanded ? k->strengthen_at : expanded;
        status = gpuopt__knapsack_run_steps(k, s, until, steps);
        again = !status && !k->stopped && strengthen(k);
        if (again) status = gpuopt__knapsack_level(k);
    } while (again && !status);
    if (!status && s->lower >= s->goal) gpuopt__knapsack_finish(s);
    gpuopt__knapsack_weigh(k, s);
    if (!status && s->lower > lower) k->incumbent = k->base_profit + s->lower * k->unit;
    return status;
}

#endif /* GPUOPT_IMPL_KNAPSACK_POOL_RUN_H */
