/* SPDX-License-Identifier: MIT */
#include "tests/bench/knapsack_search.h"

#include <stdlib.h>
#include <string.h>

int search_load(const char *name, knapsack_model *model) {
    char error[256];
    if (knapsack_load(name, model, error, sizeof error) == 0) return 0;
    fprintf(stderr, "%s\n", error);
    return -1;
}

gpuopt_knapsack_desc search_describe(const knapsack_model *model) {
    gpuopt_knapsack_desc desc = GPUOPT_INIT(gpuopt_knapsack_desc);
    desc.items = model->items;
    desc.weight = model->weight;
    desc.profit = model->profit;
    desc.capacity = model->capacity;
    return desc;
}

/* Whether the items are a solution with this profit. */
static int right_items(const knapsack_model *model, const int64_t *taken, int64_t profit) {
    int64_t weight = 0, sum = 0;
    int32_t j;
    for (j = 0; j < model->items; j++) {
        if (!taken[j]) continue;
        weight += model->weight[j];
        sum += model->profit[j];
    }
    return weight <= model->capacity && sum == profit;
}

int search_run(const machine *on, const char *name, const knapsack_model *model, const gpuopt_knapsack_desc *desc,
               double limit, const step_hook *hook, search_result *r) {
    int64_t *taken = malloc(((size_t)model->items + 1) * sizeof *taken);
    gpuopt_knapsack *knapsack = NULL;
    double start = now(), before;
    gpuopt_status status;
    memset(r, 0, sizeof *r);
    gpuopt_desc_init(&r->info, sizeof r->info);
    status = taken ? gpuopt_knapsack_create(on->context, desc, NULL, &knapsack) : GPUOPT_ERROR_MEMORY;
    if (!status) status = gpuopt_knapsack_get_info(knapsack, &r->info);
    while (!status && r->info.outcome == GPUOPT_MORE && now() - start < limit) {
        gpuopt_knapsack_info last = r->info;
        before = now();
        status = gpuopt_knapsack_expand(knapsack, hook ? 0 : 1 << 24, hook ? 1 : 0, &r->info);
        if (!hook) continue;
        hook->step(hook->data, r->info.expanded - last.expanded,
                   r->info.alive - last.alive + r->info.expanded - last.expanded, now() - before);
    }
    before = now();
    if (!status && !hook) status = gpuopt_knapsack_get_items(knapsack, GPUOPT_HOST, taken, NULL, NULL);
    r->seconds = now() - start;
    r->items_seconds = now() - before;
    if (status) failed(on, name, "search", status);
    if (!status && !hook && !right_items(model, taken, r->info.primal_bound)) {
        fprintf(stderr, "%s, %s: wrong items\n", on->name, name);
        status = GPUOPT_ERROR_NUMERIC;
    }
    gpuopt_knapsack_destroy(knapsack);
    free(taken);
    return status ? -1 : 0;
}
