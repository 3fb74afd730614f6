/* SPDX-License-Identifier: MIT */
#include "tests/elimination/brute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

/* ---- All assignments ---- */

/* A function of the model with all its entries. */
typedef struct table {
    long double *entry;
    const uint64_t *count; /* NULL: once */
    int64_t stride[MODEL_VARIABLES];
    int used;
} table;

static void next_of(const model *m, const int32_t *scope, int32_t arity, int32_t *value) {
    int32_t k;
    for (k = arity - 1; k >= 0; k--) {
        if (++value[scope[k]] < m->domain[scope[k]]) return;
        value[scope[k]] = 0;
    }
}

static table table_make(const model *m, int32_t function) {
    const gpuopt_elimination_function *f = &m->function[function];
    int64_t entries = model_entries(m, f->scope, f->arity), stride = 1, e;
    int32_t value[MODEL_VARIABLES] = {0}, k;
    table t;
    memset(&t, 0, sizeof t);
    t.entry = malloc((size_t)entries * sizeof *t.entry);
    assert_non_null(t.entry);
    for (e = 0; e < entries; e++) {
        t.entry[e] = model_entry(m, function, value);
        next_of(m, f->scope, f->arity, value);
    }
    for (k = f->arity - 1; k >= 0; k--) {
        t.stride[f->scope[k]] = stride;
        stride *= m->domain[f->scope[k]];
    }
    t.count = f->count;
    return t;
}

static long double sum_of(const model *m, const table *t, const int32_t *value, int with_top, uint64_t *count) {
    long double sum = 0;
    int32_t f, v;
    *count = 1;
    for (f = 0; f < m->functions; f++) {
        int64_t entry = 0;
        if (!t[f].used) continue;
        for (v = 0; v < m->variables; v++) entry += t[f].stride[v] * value[v];
        sum += t[f].entry[entry];
        if (t[f].count) *count *= t[f].count[entry];
    }
    if (with_top && m->semiring != GPUOPT_SEMIRING_MAX_SUM && sum >= m->top) return model_forbidden(m);
    if (with_top && m->semiring == GPUOPT_SEMIRING_MAX_SUM && sum <= -(long double)m->top) return model_forbidden(m);
    return sum;
}

static void take(const model *m, brute *b, long double sum, uint64_t count, const int32_t *value, long double *scaled) {
    int better = m->semiring == GPUOPT_SEMIRING_MIN_SUM || m->semiring == GPUOPT_SEMIRING_MIN_COUNT ? sum < b->best
                                                                                                    : sum > b->best;
    if (isinf(sum)) return;
    if (!b->feasible || better) {
        *scaled *= b->feasible ? expl(b->best - sum) : 0;
        b->best = sum;
        b->count = 0;
        b->feasible = 1;
        memcpy(b->value, value, (size_t)m->variables * sizeof *value);
    }
    if (m->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP) *scaled += expl(sum - b->best);
    if (sum <= b->best && sum >= b->best) b->count += count;
}

brute brute_force(const model *m, const int32_t *order, int32_t count, const int32_t *fixed, const uint8_t *used) {
    table *t = malloc((size_t)(m->functions + 1) * sizeof *t);
    int32_t value[MODEL_VARIABLES] = {0}, reverse[MODEL_VARIABLES], v, f;
    int64_t assignments, a;
    long double scaled = 0;
    brute b;
    assert_true(t && m->variables <= MODEL_VARIABLES);
    for (f = 0; f < m->functions; f++) {
        t[f] = table_make(m, f);
        t[f].used = !used || used[f];
    }
    for (v = 0; fixed && v < m->variables; v++) value[v] = fixed[v];
    for (v = 0; v < count; v++) {
        value[order[v]] = 0;
        reverse[count - 1 - v] = order[v];
    }
    memset(&b, 0, sizeof b);
    b.best = model_forbidden(m);
    assignments = model_entries(m, order, count);
    for (a = 0; a < assignments; a++) {
        uint64_t times;
        long double sum = sum_of(m, t, value, m->type == GPUOPT_COST_INT64 && m->top && !used, &times);
        take(m, &b, sum, times, value, &scaled);
        next_of(m, reverse, count, value);
    }
    if (m->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP && b.feasible) b.best += logl(scaled);
    for (f = 0; f < m->functions; f++) free(t[f].entry);
    free(t);
    return b;
}

/* ---- Scopes ---- */

subtree *subtrees_make(const model *m, const int32_t *order, int32_t count, const uint8_t *conditioned) {
    subtree *trees = calloc((size_t)count + 1, sizeof *trees);
    uint8_t *taken = calloc((size_t)count + 1, 1); /* the message went into another bucket */
    int32_t k, c, f, v;
    assert_true(trees && taken);
    for (k = 0; k < count; k++) {
        subtree *t = &trees[k];
        t->function = calloc((size_t)m->functions + 1, 1);
        assert_non_null(t->function);
        t->below[order[k]] = 1;
        t->height = 1;
        for (f = 0; f < m->functions; f++) {
            int32_t a, mentions = 0;
            for (c = 0; c < k && !trees[c].function[f]; c++) continue;
            if (c < k) continue; /* in a bucket before */
            for (a = 0; a < m->function[f].arity; a++) mentions |= m->function[f].scope[a] == order[k];
            if (!mentions) continue;
            t->function[f] = 1;
            t->inputs++;
            for (a = 0; a < m->function[f].arity; a++) t->separator[m->function[f].scope[a]] = 1;
        }
        for (c = 0; c < k; c++) {
            if (taken[c] || !trees[c].separator[order[k]]) continue;
            taken[c] = 1;
            t->inputs++;
            if (trees[c].height >= t->height) t->height = trees[c].height + 1;
            for (f = 0; f < m->functions; f++) t->function[f] |= trees[c].function[f];
            for (v = 0; v < m->variables; v++) {
                t->below[v] |= trees[c].below[v];
                t->separator[v] |= trees[c].separator[v];
            }
        }
        for (v = 0; v < m->variables; v++)
            if (t->below[v] || (conditioned && conditioned[v])) t->separator[v] = 0;
    }
    free(taken);
    return trees;
}

void subtrees_free(subtree *trees, int32_t count) {
    int32_t k;
    for (k = 0; k < count; k++) free(trees[k].function);
    free(trees);
}

/* ---- Widths ---- */

/* The least allowed entry of a function, negated with MAX_SUM; 0 if there is none. */
static void extremes(const model *m, int32_t function, long double *least, long double *largest) {
    table t = table_make(m, function);
    int64_t entries = model_entries(m, m->function[function].scope, m->function[function].arity), e;
    *least = INFINITY;
    *largest = -INFINITY;
    for (e = 0; e < entries; e++) {
        long double cost = m->semiring == GPUOPT_SEMIRING_MAX_SUM ? -t.entry[e] : t.entry[e];
        if (isinf(cost)) continue;
        *least = fminl(*least, cost);
        *largest = fmaxl(*largest, cost);
    }
    free(t.entry);
    if (isinf(*least)) *least = *largest = 0;
}

long double brute_offset(const model *m, const uint8_t *used) {
    long double offset = 0, least, largest;
    int32_t f;
    for (f = 0; f < m->functions; f++) {
        if (used && !used[f]) continue;
        extremes(m, f, &least, &largest);
        offset += least;
    }
    return offset;
}

int32_t brute_bits(const model *m, int32_t inputs) {
    long double forbidden = 1, least, largest;
    int32_t bits, f;
    if (m->type == GPUOPT_COST_DOUBLE) return 64;
    for (f = 0; f < m->functions; f++) {
        extremes(m, f, &least, &largest);
        forbidden += largest - least;
    }
    if (m->top) forbidden = fminl(forbidden, m->top - brute_offset(m, NULL));
    if (forbidden * inputs > powl(2, 32) - 1) return 64;
    for (bits = 8; forbidden > powl(2, bits) - 1; bits *= 2) continue;
    return bits;
}
