/* SPDX-License-Identifier: MIT
 *
 * Elimination: operations of the preprocessing rules on tables: remove values, join tables, and eliminate a variable
 * from the join, with a record of its value.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_REDUCE_TABLES_H
#define GPUOPT_IMPL_ELIMINATION_REDUCE_TABLES_H

#include "model.h"

/* ---- Values ---- */

/* Removes a variable with one remaining value from the scopes of its functions; their tables stay as they are. */
static void gpuopt__elimination_reduce_fix(gpuopt__elimination_reduce *r, int32_t variable) {
    int32_t m, j, at;
    r->gone[variable] = 1;
    r->info.variables_fixed++;
    for (m = gpuopt__elimination_reduce_first(r, variable); m >= 0; m = gpuopt__elimination_reduce_after(r, m)) {
        const int32_t number = gpuopt__elimination_reduce_function_of(r, m);
        gpuopt__elimination_reduce_function *f = gpuopt__elimination_reduce_at(r, number);
        for (at = 0; f->scope[at] != variable;) at++;
        for (j = at + 1; j < f->arity; j++) f->scope[j - 1] = f->scope[j];
        f->arity--;
        if (f->arity == 0) {
            gpuopt__elimination_reduce_add_constant(r, f->entry[0], f->count ? f->count[0] : 1);
            gpuopt__elimination_reduce_drop(r, number);
        } else gpuopt__elimination_reduce_push(r, number);
    }
    r->head[variable] = -1;
}

/* Removes values from a variable's domain: the values v with flag[v] == 0. */
static void gpuopt__elimination_reduce_remove(gpuopt__elimination_reduce *r, int32_t variable, const uint8_t *flag) {
    const int32_t before = r->domain[variable];
    int32_t *kept = r->kept + r->kept_at[variable], left = 0, m, j, v;
    for (v = 0; v < before; v++)
        if (flag[v]) kept[left++] = kept[v];
    for (m = gpuopt__elimination_reduce_first(r, variable); m >= 0; m = gpuopt__elimination_reduce_after(r, m)) {
        const int32_t number = gpuopt__elimination_reduce_function_of(r, m);
        gpuopt__elimination_reduce_function *f = gpuopt__elimination_reduce_at(r, number);
        int64_t stride = 1, to = 0, k;
        for (j = f->arity - 1; f->scope[j] != variable; j--) stride *= r->domain[f->scope[j]];
        for (k = 0; k < f->entries; k++) {
            if (!flag[k / stride % before]) continue;
            f->entry[to] = f->entry[k];
            if (f->count) f->count[to] = f->count[k];
            to++;
        }
        r->info.work += f->entries;
        f->entries = to;
        gpuopt__elimination_reduce_push(r, number);
    }
    r->domain[variable] = left > 0 ? left : 1;
    if (left == 0) r->infeasible = 1;
    gpuopt__elimination_reduce_push_variable(r, variable);
    if (left == 1) gpuopt__elimination_reduce_fix(r, variable);
}

/* ---- Joins ---- */

/* A sum over assignments, in the model's semiring. */
typedef struct gpuopt__elimination_reduce_total {
    gpuopt__elimination_reduce_entry best;
    uint64_t count;
    gpuopt__elimination_log_sum log_sum;
    int32_t value; /* the first value that attains the best */
} gpuopt__elimination_reduce_total;

static void gpuopt__elimination_reduce_total_add(const gpuopt__elimination_reduce *r,
                                                 gpuopt__elimination_reduce_total *t, int32_t value,
                                                 gpuopt__elimination_reduce_entry e, uint64_t count) {
    const int integer = r->desc->type == GPUOPT_COST_INT64;
    if (gpuopt__elimination_reduce_forbidden(r, e)) return;
    if (r->desc->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP) {
        gpuopt__elimination_log_sum_add(&t->log_sum, e.value);
        return;
    }
    if (integer && e.cost == t->best.cost) t->count = gpuopt__elimination_saturated_sum(t->count, count);
    if (integer ? e.cost >= t->best.cost : e.value >= t->best.value) return;
    t->best = e;
    t->count = count;
    t->value = value;
}

static void gpuopt__elimination_reduce_total_start(const gpuopt__elimination_reduce *r,
                                                   gpuopt__elimination_reduce_total *t) {
    memset(t, 0, sizeof *t);
    t->best = gpuopt__elimination_reduce_none(r);
}

/* The sum of all functions of a variable, or of `only` (-1: of all), at r->value. */
static gpuopt__elimination_reduce_entry gpuopt__elimination_reduce_bucket(gpuopt__elimination_reduce *r,
                                                                          int32_t variable, int32_t only,
                                                                          uint64_t *count) {
    gpuopt__elimination_reduce_entry sum = gpuopt__elimination_reduce_zero(r);
    int32_t m;
    *count = 1;
    for (m = gpuopt__elimination_reduce_first(r, variable); m >= 0; m = gpuopt__elimination_reduce_after(r, m)) {
        const int32_t number = gpuopt__elimination_reduce_function_of(r, m);
        const gpuopt__elimination_reduce_function *f = gpuopt__elimination_reduce_at(r, number);
        int64_t index;
        if (only >= 0 && number != only) continue;
        index = gpuopt__elimination_reduce_index(r, f);
        sum = gpuopt__elimination_reduce_sum(r, sum, f->entry[index]);
        if (f->count) *count = gpuopt__elimination_count_product(*count, f->count[index]);
        r->info.work++;
    }
    return sum;
}

/* A record of a variable's values over the scope r->list [arity]; NULL on a failure. */
static gpuopt__elimination_reduce_record *gpuopt__elimination_reduce_note(gpuopt__elimination_reduce *r,
                                                                          int32_t variable, int32_t arity) {
    gpuopt__elimination_reduce_record *record =
        (gpuopt__elimination_reduce_record *)gpuopt__elimination_list_add(&r->scratch, &r->record, 1);
    int64_t kept = 0;
    int32_t j, v;
    if (!record) return NULL;
    for (j = 0; j < arity; j++) kept += r->domain[r->list[j]];
    record->variable = variable;
    record->arity = arity;
    record->ints = 2 * (int64_t)arity + kept + gpuopt__elimination_reduce_entries(r, arity, r->list);
    record->scope = (int32_t *)gpuopt__elimination_scratch_take(&r->scratch, sizeof(int32_t) * (uint64_t)record->ints);
    if (!record->scope) return NULL;
    record->domain = record->scope + arity;
    record->kept = record->domain + arity;
    record->value = record->kept + kept;
    for (j = 0, kept = 0; j < arity; j++) {
        record->scope[j] = r->list[j];
        record->domain[j] = r->domain[r->list[j]];
        for (v = 0; v < record->domain[j]; v++) record->kept[kept++] = r->kept[r->kept_at[r->list[j]] + v];
    }
    return record;
}

/* Eliminates a variable from the join of its functions, or from function `only` (-1: all), with a record. The message,
 * over r->list [arity], is not entered yet. Returns 0 on a failure. */
static int gpuopt__elimination_reduce_message(gpuopt__elimination_reduce *r, int32_t variable, int32_t only,
                                              int32_t arity, gpuopt__elimination_reduce_function *message) {
    gpuopt__elimination_reduce_record *record = NULL;
    int64_t k;
    int32_t v;
    if (r->desc->semiring != GPUOPT_SEMIRING_LOG_SUM_EXP) {
        record = gpuopt__elimination_reduce_note(r, variable, arity);
        if (!record) return 0;
    }
    if (!gpuopt__elimination_reduce_make(r, arity, r->desc->semiring == GPUOPT_SEMIRING_MIN_COUNT, message)) return 0;
    gpuopt__elimination_reduce_start(r, arity, message->scope);
    for (k = 0; k < message->entries; k++) {
        gpuopt__elimination_reduce_total total;
        gpuopt__elimination_reduce_total_start(r, &total);
        for (v = 0; v < r->domain[variable]; v++) {
            gpuopt__elimination_reduce_entry e;
            uint64_t count;
            r->value[variable] = v;
            e = gpuopt__elimination_reduce_bucket(r, variable, only, &count);
            gpuopt__elimination_reduce_total_add(r, &total, v, e, count);
        }
        if (r->desc->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP)
            total.best.value = gpuopt__elimination_log_sum_value(&total.log_sum);
        message->entry[k] = total.best;
        if (message->count) message->count[k] = total.count;
        if (record) record->value[k] = r->kept[r->kept_at[variable] + total.value];
        gpuopt__elimination_reduce_next(r, arity, message->scope);
    }
    return 1;
}

/* Lists the variables that share functions with a variable in r->list; returns their number, or -1 if there are more
 * than `most`. *entries: of these functions. */
static int32_t gpuopt__elimination_reduce_neighbours(gpuopt__elimination_reduce *r, int32_t variable, int32_t most,
                                                     int64_t *entries) {
    int32_t found = 0, m, j;
    *entries = 0;
    r->mark[variable] = 1;
    for (m = gpuopt__elimination_reduce_first(r, variable); m >= 0 && found >= 0;
         m = gpuopt__elimination_reduce_after(r, m)) {
        const gpuopt__elimination_reduce_function *f =
            gpuopt__elimination_reduce_at(r, gpuopt__elimination_reduce_function_of(r, m));
        *entries += f->entries;
        r->info.work++;
        for (j = 0; j < f->arity && found >= 0; j++) {
            if (r->mark[f->scope[j]]) continue;
            if (found == most) {
                while (found > 0) r->mark[r->list[--found]] = 0;
                found = -1;
                break;
            }
            r->mark[f->scope[j]] = 1;
            r->list[found++] = f->scope[j];
        }
    }
    r->mark[variable] = 0;
    for (j = 0; j < found; j++) r->mark[r->list[j]] = 0;
    return found;
}

/* Removes a variable and all its functions from the model. */
static void gpuopt__elimination_reduce_leave(gpuopt__elimination_reduce *r, int32_t variable) {
    int32_t m;
    r->gone[variable] = 1;
    for (m = gpuopt__elimination_reduce_first(r, variable); m >= 0; m = gpuopt__elimination_reduce_first(r, variable))
        gpuopt__elimination_reduce_drop(r, gpuopt__elimination_reduce_function_of(r, m));
    r->domain[variable] = 1;
}

#endif /* GPUOPT_IMPL_ELIMINATION_REDUCE_TABLES_H */
