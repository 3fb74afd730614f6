/* SPDX-License-Identifier: MIT */
#include "gpuopt/search.h"
#include "examples/wcsp_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common.h"

void print_progress(const search *s, const char *what, int64_t cost) {
    char text[GRAPHICAL_COST_TEXT];
    if (s->json) return;
    if (s->unit == 1) graphical_cost_text(&s->model, cost, text);
    else snprintf(text, sizeof text, "%.6f", (double)cost * s->unit);
    printf("%8.2f s  %-10s %s  (%lld nodes)\n", now() - s->start, what, text, (long long)s->nodes);
    fflush(stdout);
}

void take(search *s, const int32_t *value) {
    int permitted;
    int64_t cost;
    double real;
    if (s->reduction) {
        s->status = gpuopt_elimination_preprocessing_postsolve(s->reduction, value, s->lifted);
        if (s->status) return;
        value = s->lifted;
    }
    if (s->merge.first) {
        if (value != s->lifted) memcpy(s->lifted, value, sizeof *value * (size_t)s->model.variables);
        graphical_merge_expand(&s->merge, s->lifted);
        value = s->lifted;
    }
    graphical_cost(&s->model, value, &permitted, &cost, &real);
    if (!permitted || (s->feasible && cost >= s->upper)) return;
    s->feasible = 1;
    s->upper = cost;
    memcpy(s->best, value, sizeof *value * (size_t)s->model.variables);
    print_progress(s, "incumbent", cost);
}

/* ---- The search ---- */

static uint64_t number_of(const tree_level *l, int32_t i) {
    uint64_t number = 0;
    for (int32_t k = 0; k < l->width; k++) number += l->unit[k] * (uint64_t)l->state[(int64_t)i * l->width + k];
    return number;
}

static memory *recall(const search *s, int32_t level, uint64_t number) {
    uint64_t h = (number * 0x9E3779B97F4A7C15u + (uint64_t)level) * 0xBF58476D1CE4E5B9u;
    return &s->cache[(h ^ h >> 32) & s->mask];
}

/* Looks up the rises of the bounds of `count` open states for each value of their variable: one call for each of its
 * copies. Reads only the values of the context. */
static void look_up(search *s, int32_t variable, int32_t count) {
    tree_level *l = &s->tree.level[variable];
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = 0; k < l->width; k++) {
            const int32_t of = l->context[k], value = l->state[(int64_t)l->open[i] * l->width + k];
            int32_t *at = s->row + (int64_t)i * s->relaxed + s->first_copy[of];
            for (int32_t c = 0; c < s->copies[of]; c++) at[c] = value;
        }
    for (int32_t c = 0; c < s->copies[variable] && !s->status; c++) {
        int64_t *rise = c == 0 ? l->rise : s->copy_rise;
        s->status = gpuopt_elimination_get_bounds(s->elimination, GPUOPT_HOST, 0, s->first_copy[variable] + c, 1, count,
                                                  s->row, rise, NULL);
        for (int64_t k = 0; c > 0 && k < (int64_t)count * l->values; k++)
            l->rise[k] = l->rise[k] == INT64_MAX || rise[k] == INT64_MAX ? INT64_MAX : l->rise[k] + rise[k];
        s->calls++;
        s->bounds += (int64_t)count * l->values;
    }
    s->nodes += count;
    if (s->status || interrupted(NULL) || s->bounds > s->last_bound) s->stopped = 1;
}

/* Sorts the values of an open state that may lead below its limit. */
static void sort_values(tree_level *l, int32_t i) {
    const int64_t *rise = l->rise + (int64_t)i * l->values;
    int32_t *sorted = l->sorted + (int64_t)i * (l->values + 1), found = 0, v, k;
    for (v = 0; v < l->values; v++) {
        if (rise[v] >= l->excess[l->open[i]]) continue;
        for (k = found++; k > 0 && rise[sorted[k - 1]] > rise[v]; k--) sorted[k] = sorted[k - 1];
        sorted[k] = v;
    }
    sorted[found] = -1;
    l->next[i] = 0;
}

/* Picks successors of the open states, best values first, until the batch is full. Returns their number. */
static int32_t pick(tree_level *l, int32_t open, int32_t batch) {
    int32_t picked = 0, before = -1, i;
    while (picked < batch && picked > before)
        for (before = picked, i = 0; i < open && picked < batch; i++) {
            const int32_t v = l->sorted[(int64_t)i * (l->values + 1) + l->next[i]];
            if (v < 0 || l->rise[(int64_t)i * l->values + v] >= l->excess[l->open[i]]) continue;
            l->next[i]++;
            l->owner[picked] = l->open[i];
            l->value[picked] = v;
            l->sum[picked++] = l->rise[(int64_t)i * l->values + v];
        }
    return picked;
}

/* Makes the state of a level below that follows from state i and a value. */
static void follow(const tree_level *l, int32_t i, int32_t value, tree_level *below, int32_t to) {
    for (int32_t k = 0; k < below->width; k++)
        below->state[(int64_t)to * below->width + k] =
            below->from[k] < 0 ? value : l->state[(int64_t)i * l->width + below->from[k]];
}

/* Sets aside the states that are solved, or equal to another one, and lists the others as open. */
static int32_t list_open(search *s, int32_t variable, int32_t count, int again) {
    tree_level *l = &s->tree.level[variable];
    int32_t open = 0;
    for (int32_t i = 0; i < count; i++) {
        l->excess[i] = l->limit[i];
        l->best[i] = l->twin[i] = -1;
        if (l->unit && !again) {
            const uint64_t number = number_of(l, i);
            memory *m = recall(s, variable, number);
            if (m->level == variable && m->number == number) {
                if (m->kind >= 0) {
                    l->twin[i] = m->kind;
                    if (l->limit[m->kind] < l->limit[i]) l->limit[m->kind] = l->excess[m->kind] = l->limit[i];
                } else if (m->kind == EXACT || m->excess >= l->limit[i]) {
                    if (m->excess < l->limit[i]) l->excess[i] = m->excess;
                    l->twin[i] = i;
                    s->recalled++;
                }
            }
            if (l->twin[i] >= 0) continue;
            *m = (memory){number, variable, i, 0};
        }
        l->open[open++] = i;
    }
    return open;
}

/* Solves the states below `count` states of a variable. excess[i]: the difference of the least cost of completing state
 * i and its bound, if that is less than limit[i]; else limit[i]. The bound is a sum over the tree. So excess is the
 * least sum, over the values, of the bound's rise and of the excess of each branch below. again: do not use remembered
 * results, since best [count] is needed. */
static void solve(search *s, int32_t variable, int32_t count, int again) {
    tree_level *l = &s->tree.level[variable];
    int32_t open = list_open(s, variable, count, again), picked, below, i, j, n;
    if (open > 0) look_up(s, variable, open);
    for (i = 0; i < open && !s->stopped; i++) sort_values(l, i);
    while (!s->stopped && (picked = pick(l, open, s->tree.batch)) > 0) {
        for (below = l->first_child; below >= 0 && !s->stopped; below = s->tree.level[below].next_sibling) {
            tree_level *b = &s->tree.level[below];
            for (j = n = 0; j < picked; j++) {
                const int32_t from = l->owner[j];
                if (l->sum[j] >= l->excess[from]) continue;
                follow(l, from, l->value[j], b, n);
                b->limit[n++] = l->excess[from] - l->sum[j];
            }
            if (n > 0) solve(s, below, n, 0);
            for (j = n = 0; j < picked; j++)
                if (l->sum[j] < l->excess[l->owner[j]]) l->sum[j] += b->excess[n++];
        }
        for (j = 0; j < picked && !s->stopped; j++)
            if (l->sum[j] < l->excess[l->owner[j]])
                l->excess[l->owner[j]] = l->sum[j], l->best[l->owner[j]] = l->value[j];
    }
    for (i = 0; i < open; i++) {
        const int32_t of = l->open[i];
        if (l->unit && !s->stopped) {
            const uint64_t number = number_of(l, of);
            *recall(s, variable, number) =
                (memory){number, variable, l->excess[of] < l->limit[of] ? EXACT : AT_LEAST, l->excess[of]};
        }
    }
    for (i = 0; i < count; i++)
        if (l->twin[i] >= 0 && l->excess[l->twin[i]] < l->excess[i]) l->excess[i] = l->excess[l->twin[i]];
}

/* Goes down the tree along the best values; the limit of state 0 is above its excess. */
static void read_answer(search *s, int32_t variable, int32_t *value) {
    tree_level *l = &s->tree.level[variable];
    int32_t below;
    solve(s, variable, 1, 1);
    value[variable] = l->best[0] < 0 ? 0 : l->best[0];
    for (below = l->first_child; below >= 0; below = s->tree.level[below].next_sibling) {
        follow(l, 0, value[variable], &s->tree.level[below], 0);
        s->tree.level[below].limit[0] = l->limit[0];
        read_answer(s, below, value);
    }
}

static int64_t rounded_up(int64_t a, int64_t b) { return a / b + (a % b > 0); }

void deepen(search *s, int64_t root, int64_t most) {
    const int64_t known = (s->lower - s->offset) * s->scale - root; /* 0 or less: from the relaxation alone */
    int64_t limit = (known > 0 ? known : 0) + s->scale, excess = 0;
    int32_t r, *value = calloc((size_t)s->tree.levels + 1, sizeof *value);
    if (!value) s->status = GPUOPT_ERROR_MEMORY;
    for (; value && !s->proven; limit += limit < most / 64 ? limit : limit / 4 + 1) {
        if (limit > most) limit = most;
        for (excess = 0, r = s->tree.root; r >= 0 && excess < limit; r = s->tree.level[r].next_sibling) {
            s->tree.level[r].limit[0] = limit - excess;
            solve(s, r, 1, 0);
            excess += s->tree.level[r].excess[0];
        }
        if (s->stopped) break;
        if (excess < limit) { /* the optimum */
            s->last_bound = INT64_MAX;
            s->lower = rounded_up(root + excess, s->scale) + s->offset;
            for (r = s->tree.root; r >= 0; r = s->tree.level[r].next_sibling) {
                s->tree.level[r].limit[0] = limit;
                read_answer(s, r, value);
            }
            if (s->stopped) break; /* by the caller, on the way to the assignment */
            take(s, value);
            if (!s->feasible) s->status = GPUOPT_ERROR_NUMERIC, s->stopped = 1;
        }
        if (s->stopped) break;
        s->lower = rounded_up(root + excess, s->scale) + s->offset;
        s->proven = excess < limit || limit == most;
        if (s->proven) s->lower = s->upper;
        else print_progress(s, "at least", s->lower);
    }
    free(value);
}
