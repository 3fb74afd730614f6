/* SPDX-License-Identifier: MIT
 *
 * Knapsack: the work of _create before the search: settles trivial items, finds a first incumbent, fixes items by their
 * bounds, and puts the root into the pool.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_MODEL_PREPARE_H
#define GPUOPT_IMPL_KNAPSACK_MODEL_PREPARE_H

#include "../../common/bytes.h"
#include "copies.h"
#include "sort.h"
#include "../../common/checks.h"

enum { GPUOPT__KNAPSACK_REDUCTIONS = 8 }; /* most rounds; more hardly ever fix anything */

static const struct gpuopt__knapsack_backend *gpuopt__knapsack_of(const gpuopt_knapsack *k) {
    return k->context->desc.backend->knapsack;
}

/* ---- Incumbents ---- */

/* Converts a profit to units, without the fixed items: a solution exceeds `profit` exactly if it exceeds the result. */
static int64_t gpuopt__knapsack_units(const gpuopt_knapsack *k, int64_t profit) {
    return profit < k->base_profit ? -1 : (profit - k->base_profit) / k->unit;
}

/* A greedy solution: the items fixed in, and in order each other item that still fits. It becomes the incumbent if it
 * is better. */
static void gpuopt__knapsack_greedy(gpuopt_knapsack *k) {
    const gpuopt__knapsack_view *v = &k->search.view;
    int64_t residual = v->capacity, profit = 0;
    int32_t j;
    for (j = 0; j < k->items; j++) k->trial[j] = k->fixed[j] == 1;
    for (j = 0; j < v->last; j++) {
        if (v->table.weight[j] > residual) continue;
        gpuopt__knapsack_set(k, j, 1);
        residual -= v->table.weight[j];
        profit += v->table.profit[j];
    }
    profit = k->base_profit + profit * k->unit;
    if (profit <= k->incumbent) return;
    k->incumbent = profit;
    memcpy(k->taken, k->trial, (size_t)k->items);
}

/* ---- Reduction ---- */

/* Whether a better solution than the incumbent may differ in item j from the greedy solution up to the break item. An
 * item after the break item may be counted twice if it fits; the bound is then larger than necessary. */
static int gpuopt__knapsack_may_flip(const gpuopt__knapsack_search *s, int32_t j) {
    const gpuopt__knapsack_view *v = &s->view;
    gpuopt__knapsack_core core = {v->at, v->at};
    gpuopt__knapsack_filled f;
    int64_t residual;
    uint64_t profit;
    gpuopt__knapsack_flip(&v->table, j, j < v->at, &residual, &profit);
    residual += v->capacity - gpuopt__knapsack_weight(&v->table, v->first, v->at);
    profit += v->table.profit_sum[v->at];
    return gpuopt__knapsack_fill(v, core, residual, profit, v->at, &f) && gpuopt__knapsack_beats(v, &f, s->lower);
}

/* Fixes items in rounds, until a round fixes none. */
static void gpuopt__knapsack_reduce(gpuopt_knapsack *k, gpuopt__knapsack_item *item, int32_t count) {
    gpuopt__knapsack_search *s = &k->search;
    gpuopt__knapsack_view *v = &s->view;
    int32_t j, kept = -1, round;
    for (round = 0; round < GPUOPT__KNAPSACK_REDUCTIONS && count > 0 && kept != count; round++) {
        int64_t capacity = v->capacity;
        s->lower = gpuopt__knapsack_units(k, k->incumbent);
        for (kept = 0, j = 0; j < count; j++) {
            if (gpuopt__knapsack_may_flip(s, j)) {
                item[kept++] = item[j];
                continue;
            }
            k->fixed[item[j].index] = j < v->at;
            if (j >= v->at) continue;
            capacity -= item[j].weight;
            k->base_profit += item[j].profit * k->unit;
        }
        if (kept == count) return;
        for (count = 0, j = 0; j < kept; j++) {
            if (item[j].weight <= capacity) item[count++] = item[j];
            else k->fixed[item[j].index] = 0;
        }
        kept = -1; /* another round */
        v->capacity = capacity;
        gpuopt__knapsack_normalize(k, item, count);
        gpuopt__knapsack_tabulate(k, item, count);
        gpuopt__knapsack_greedy(k);
    }
}

/* ---- From the descriptor to the root ---- */

/* Dantzig's bound of the whole problem. NUMERIC: it exceeds 2^63 - 1, so the optimum might, too. */
static gpuopt_status gpuopt__knapsack_root_bound(const gpuopt_knapsack *k, const char *call, int64_t *bound) {
    const gpuopt__knapsack_view *v = &k->search.view;
    int64_t most = (INT64_MAX - k->base_profit) / k->unit, add, residual = v->capacity;
    int32_t j;
    *bound = 0;
    for (j = 0; j <= v->at && j < v->last; j++) {
        add = v->table.profit[j];
        if (j == v->at)
            add = (int64_t)gpuopt__knapsack_product_quotient((uint64_t)residual, (uint64_t)add,
                                                             (uint64_t)v->table.weight[j]);
        else residual -= v->table.weight[j];
        if (add > most - *bound)
            return gpuopt__refuse(k->context, GPUOPT_ERROR_NUMERIC, call,
                                  "the profit of a solution may exceed 2^63 - 1");
        *bound += add;
    }
    return GPUOPT_OK;
}

/* A hash of the problem after reduction, equal in all handles that can exchange nodes. */
static uint64_t gpuopt__knapsack_hash(const gpuopt_knapsack *k) {
    const gpuopt__knapsack_view *v = &k->search.view;
    const int64_t number[] = {v->last, v->capacity, k->base_profit, k->unit, k->search.dominance};
    uint64_t hash = gpuopt__hash_numbers(GPUOPT__HASH_START, number, sizeof number / sizeof *number);
    int32_t j;
    for (j = 0; j < v->last; j++) hash = gpuopt__hash_number(hash, (uint64_t)k->order[j]);
    hash = gpuopt__hash_numbers(hash, v->table.weight, v->last);
    return gpuopt__hash_numbers(hash, v->table.profit, v->last);
}

/* Settles trivial items; *count: the number of the others. */
static gpuopt_status gpuopt__knapsack_settle(gpuopt_knapsack *k, const char *call, gpuopt__knapsack_item *item,
                                             int32_t *count) {
    int32_t j;
    for (*count = 0, j = 0; j < k->items; j++) {
        int64_t weight = k->weight[j], profit = k->profit[j];
        k->fixed[j] = 0;
        if (profit == 0 || weight > k->capacity) continue;
        if (weight > 0) {
            k->fixed[j] = 2;
            item[*count].weight = weight;
            item[*count].profit = profit;
            item[(*count)++].index = j;
            continue;
        }
        k->fixed[j] = 1;
        if (profit > INT64_MAX - k->base_profit)
            return gpuopt__refuse(k->context, GPUOPT_ERROR_NUMERIC, call,
                                  "the profit of a solution may exceed 2^63 - 1");
        k->base_profit += profit;
    }
    return GPUOPT_OK;
}

/* Whether _create spends time on reducing the number of items. */
static int gpuopt__knapsack_reduces(const gpuopt_knapsack_desc *d) {
    return d->reduction == GPUOPT_ON || (d->reduction == GPUOPT_DEFAULT && d->search == GPUOPT_SEARCH_DOMINANCE);
}

static gpuopt_status gpuopt__knapsack_prepare(gpuopt_knapsack *k, const char *call, const gpuopt_knapsack_desc *d) {
    gpuopt__knapsack_search *s = &k->search;
    gpuopt__knapsack_item *item = k->scratch;
    gpuopt_status status;
    int32_t count;
    k->unit = 1;
    s->view.capacity = d->capacity;
    gpuopt__knapsack_divide(k, d);
    status = gpuopt__knapsack_settle(k, call, item, &count);
    if (status) return status;
    gpuopt__knapsack_ratio_sort(item, item + count, count);
    gpuopt__knapsack_normalize(k, item, count);
    gpuopt__knapsack_tabulate(k, item, count);
    status = gpuopt__knapsack_root_bound(k, call, &k->root_bound);
    if (status) return status;
    k->incumbent = -1; /* so that even a greedy solution without profit becomes the incumbent */
    gpuopt__knapsack_greedy(k);
    if (gpuopt__knapsack_reduces(d)) gpuopt__knapsack_reduce(k, item, count);
    return GPUOPT_OK;
}

/* After reduction. */
static gpuopt_status gpuopt__knapsack_finish_model(gpuopt_knapsack *k, const char *call) {
    gpuopt__knapsack_search *s = &k->search;
    gpuopt_status status = gpuopt__knapsack_root_bound(k, call, &k->root_bound);
    k->upper = k->root_bound;
    s->lower = gpuopt__knapsack_units(k, k->incumbent);
    k->hash = gpuopt__knapsack_hash(k);
    return status ? status : gpuopt__knapsack_of(k)->load(k);
}

/* The solution of the view with nothing decided. */
static gpuopt__knapsack_filled gpuopt__knapsack_root(const gpuopt__knapsack_search *s, gpuopt__knapsack_node *root) {
    const gpuopt__knapsack_view *v = &s->view;
    gpuopt__knapsack_core core = gpuopt__knapsack_core_of(s, 0);
    gpuopt__knapsack_filled f;
    root->residual = v->capacity - gpuopt__knapsack_weight(&v->table, v->first, core.begin);
    root->profit = v->table.profit_sum[core.begin] - v->table.profit_sum[v->first];
    root->decisions = 0;
    gpuopt__knapsack_fill(v, core, root->residual, root->profit, v->at, &f); /* it fits */
    return f;
}

/* Puts the root into the pool, unless a bound proves the incumbent optimal. */
static gpuopt_status gpuopt__knapsack_plant(gpuopt_knapsack *k, gpuopt__knapsack_search *s) {
    gpuopt__knapsack_node root;
    gpuopt__knapsack_filled f = gpuopt__knapsack_root(s, &root);
    gpuopt__knapsack_list *list = &s->list[0];
    if (s->lower >= s->goal || !gpuopt__knapsack_beats(&s->view, &f, s->lower)) return GPUOPT_OK;
    list->count = list->own = list->completed = 1;
    list->level = list->decided = list->side = list->shared = 0;
    list->bound = gpuopt__knapsack_value(root.residual, root.profit, s->ratio);
    s->depth = 1;
    s->used[0] = 1;
    if (s->peak < 1) s->peak = 1;
    if (k->host_capacity > 0 && k->host_capacity <= s->own_capacity) gpuopt__knapsack_use_host_pool(k, s);
    else gpuopt__knapsack_use_own_pool(s);
    return gpuopt__knapsack_of(k)->put(k, s, s->first, 1, 1, &root);
}

/* Moves the nodes of a search out of host memory, where the CUDA backend keeps short lists. */
static gpuopt_status gpuopt__knapsack_move_to_own_pool(gpuopt_knapsack *k, gpuopt__knapsack_search *s) {
    gpuopt__knapsack_node *node = k->staging;
    gpuopt_status status = GPUOPT_OK;
    int64_t done, part;
    int side;
    if (!s->on_host) return GPUOPT_OK;
    for (side = 0; side < 2; side++)
        for (done = 0; done < s->used[side] && !status; done += part) {
            part = s->used[side] - done < k->chunk ? s->used[side] - done : k->chunk;
            gpuopt__knapsack_use_host_pool(k, s);
            status =
                gpuopt__knapsack_of(k)->get(k, s, gpuopt__knapsack_place(s, side, 0, done), side ? -1 : 1, part, node);
            gpuopt__knapsack_use_own_pool(s);
            if (!status)
                status = gpuopt__knapsack_of(k)->put(k, s, gpuopt__knapsack_place(s, side, 0, done), side ? -1 : 1,
                                                     part, node);
        }
    gpuopt__knapsack_use_own_pool(s);
    return status;
}

#endif /* GPUOPT_IMPL_KNAPSACK_MODEL_PREPARE_H */
