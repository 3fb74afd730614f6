/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/elimination_input.h"

#include <math.h>

static unsigned take(fuzz *f) { return fuzz_take(&f->bytes); }
static int rarely(fuzz *f) { return fuzz_rarely(&f->bytes); }

/* ---- The model ---- */

static int64_t take_cost(fuzz *f) {
    static const int64_t table[] = {
        127,        128,       254,      255, 256, 32767, 65534, 65535, 65536, INT32_MAX, (int64_t)UINT32_MAX - 1,
        UINT32_MAX, INT64_MAX, INT64_MIN};
    static const int64_t wild[] = {INT64_MAX - 1,    INT64_MIN + 1,          (int64_t)1 << 62, -((int64_t)1 << 62),
                                   (int64_t)1 << 60, -((int64_t)1 << 60),    INT64_MAX / 8,    INT64_MIN / 8,
                                   (int64_t)1 << 53, ((int64_t)1 << 53) + 1, INT64_MAX,        INT64_MIN};
    unsigned tag = take(f);
    int64_t cost;
    if (f->wild && tag >= 200) cost = wild[take(f) % (sizeof wild / sizeof *wild)];
    else if (tag >= 200) cost = table[take(f) % (sizeof table / sizeof *table)];
    else cost = tag < 100 ? tag % 4 : (int64_t)take(f) - (tag < 150 ? 128 : 0);
    if (!f->wild && cost == (f->m.semiring == GPUOPT_SEMIRING_MAX_SUM ? INT64_MAX : INT64_MIN))
        cost = 0; /* not the forbidden */
    return cost;
}

static double take_value(fuzz *f) {
    static const double table[] = {0.1, 1.0 / 3, 1e-300, 4.9e-324, -0.0, 1e9, -1e9, 1e15};
    unsigned tag = take(f);
    if (tag >= 240) return (double)model_forbidden(&f->m);
    if (tag >= 200) return table[take(f) % (sizeof table / sizeof *table)] * (f->wild ? 1e293 : 1);
    return tag < 100 ? tag % 4 : ((int)take(f) - 128) * 0.125;
}

/* Draws one entry of a function, or its default; adds to the size of its largest. */
static void set_cost(fuzz *f, int64_t *cost, double *value, long double *largest) {
    long double size;
    if (f->m.type == GPUOPT_COST_DOUBLE) *value = take_value(f), size = fabsl(*value);
    else {
        *cost = take_cost(f);
        size = *cost == INT64_MAX || *cost == INT64_MIN ? f->wild * 0x1p63L : fabsl((long double)*cost);
    }
    if (isfinite(size) && size > *largest) *largest = size;
}

static void make_function(fuzz *f) {
    int32_t scope[VARIABLES], n = f->m.variables, arity = (int32_t)take(f) % (ARITY + 1), k;
    unsigned kind = take(f);
    int64_t entries, length, e;
    long double largest = 0;
    gpuopt_elimination_function *g;
    if (arity > n) arity = n;
    for (k = 0; k < n; k++) scope[k] = k;
    for (k = 0; k < arity; k++) {
        int32_t other = k + (int32_t)take(f) % (n - k), kept = scope[k];
        scope[k] = scope[other];
        scope[other] = kept;
    }
    entries = model_entries(&f->m, scope, arity);
    length = kind % 2 ? entries : (int64_t)take(f) % (entries + 3);
    g = model_add(&f->m, arity, scope, kind % 2 ? -1 : length);
    set_cost(f, &g->default_cost, &g->default_value, &largest);
    for (e = 0; e < length; e++) {
        set_cost(f, g->cost ? (int64_t *)g->cost + e : NULL, g->value ? (double *)g->value + e : NULL, &largest);
        for (k = 0; !(kind % 2) && k < arity; k++)
            ((int32_t *)g->tuple)[e * arity + k] = (int32_t)take(f) % f->m.domain[scope[k]];
    }
    if (f->m.semiring == GPUOPT_SEMIRING_MIN_COUNT && kind % 8 == 1) {
        uint64_t *count = (uint64_t *)malloc((size_t)entries * sizeof *count);
        for (e = 0; e < entries; e++) count[e] = 1 + take(f) % 5;
        g->count = count;
    }
    f->sizes += largest;
}

static void make_model(fuzz *f) {
    const struct model_kind *kind = &model_kind[take(f) % MODEL_KINDS];
    int32_t domain[VARIABLES], n = (int32_t)take(f) % (VARIABLES + 1), functions = (int32_t)take(f) % (FUNCTIONS + 1),
                               k;
    f->wild = rarely(f);
    for (k = 0; k < n; k++) domain[k] = 1 + (int32_t)take(f) % DOMAIN;
    f->m = model_make(kind->type, kind->semiring, n, domain);
    for (k = 0; k < functions; k++) make_function(f);
    f->m.scale = (double)f->sizes;
    if (kind->type == GPUOPT_COST_INT64 && take(f) % 4 == 0) {
        int64_t top = take_cost(f);
        f->m.top = top < 1 ? 1 : top;
    }
}

static int32_t *exactly(const int32_t *from, int32_t count) {
    int32_t *copy = (int32_t *)malloc(sizeof *copy * (size_t)count + (count == 0));
    if (count) memcpy(copy, from, sizeof *copy * (size_t)count);
    return copy;
}

/* order and condition are the beginning and the end of a permutation. */
static void make_desc(fuzz *f) {
    gpuopt_elimination_desc *d = &f->desc;
    int32_t n = f->m.variables, k;
    unsigned kind = take(f);
    *d = model_desc(&f->m);
    gpuopt_desc_init(&f->search, sizeof f->search);
    gpuopt_desc_init(&f->memory, sizeof f->memory);
    gpuopt_desc_init(&f->messages, sizeof f->messages);
    d->order_search = &f->search;
    d->memory = &f->memory;
    d->messages = &f->messages;
    for (k = 0; k < n; k++) f->permutation[k] = k;
    for (k = 0; k < n; k++) {
        int32_t other = k + (int32_t)take(f) % (n - k), kept = f->permutation[k];
        f->permutation[k] = f->permutation[other];
        f->permutation[other] = kept;
    }
    if (kind % 4 == 3) d->evidence_count = (int32_t)take(f) % (n + 1);
    d->evidence = f->own_condition = exactly(f->permutation + n - d->evidence_count, d->evidence_count);
    if (kind & 4) {
        d->order_count = n - d->evidence_count;
        if (kind & 8) d->order_count = (int32_t)take(f) % (d->order_count + 1);
        d->order = f->own_order = exactly(f->permutation, d->order_count);
    }
    f->search.heuristic = (gpuopt_elimination_heuristic)(take(f) % 4);
    f->search.restarts = (int32_t)take(f) % 4;
    f->search.seed = take(f);
    if (f->search.restarts == 3 && f->search.heuristic == GPUOPT_HEURISTIC_BEST)
        f->search.work = 1000 * (int64_t)f->search.seed;
    d->policy = (gpuopt_elimination_policy)(take(f) % 7);
    if (kind & 16) f->memory.bytes = (uint64_t)take(f) * 64 + 1;
    if (kind & 32) f->memory.host_bytes = take(f);
    d->z = (int32_t)take(f) % 8;
    d->batch_size = kind & 64 ? (int32_t)take(f) % (COPIES + 1) : 0;
    f->memory.retain_messages = (gpuopt_switch)(take(f) % 8 == 1 ? GPUOPT_OFF : take(f) % 2);
    if (d->policy == GPUOPT_POLICY_DROP || d->policy == GPUOPT_POLICY_RECOMPUTE)
        f->memory.retain_messages = f->memory.retain_messages == GPUOPT_ON
                                        ? GPUOPT_DEFAULT
                                        : f->memory.retain_messages; /* these drop messages */
    f->messages.join_rest = kind >> 7;
}

int input_spoil(fuzz *f) {
    gpuopt_elimination_desc *d = &f->desc;
    gpuopt_elimination_function *g = NULL;
    int bad = rarely(f) ? INT32_MIN : -1 - (int)take(f) % 3, far = rarely(f) ? INT32_MAX : d->variables;
    if (d->functions > 0) {
        memcpy(f->spoiled, d->function, sizeof *g * (size_t)d->functions);
        d->function = f->spoiled;
        g = &f->spoiled[take(f) % (unsigned)d->functions];
    }
    switch (take(f) % 32) {
    case 0: return d->variables = bad, 1;
    case 1: return d->functions = bad, 1;
    case 2: return d->domain = NULL, d->variables > 0;
    case 3: return d->function = NULL, d->functions > 0;
    case 4: return d->type = (gpuopt_elimination_cost)(2 + take(f)), 1;
    case 5: return d->semiring = (gpuopt_elimination_semiring)(4 + take(f)), 1;
    case 6: return d->top = bad, 1;
    case 7: return f->search.heuristic = (gpuopt_elimination_heuristic)(4 + take(f)), 1;
    case 8:
        if (bad % 2) return f->search.restarts = bad, 1;
        if (bad % 4) return f->search.work = bad, 1;
        return f->search.seconds = bad, 1;
    case 9: return d->policy = (gpuopt_elimination_policy)(7 + take(f)), 1;
    case 10: return d->z = bad, 1;
    case 11: return d->order_count = d->order ? bad : 1, 1;
    case 12: return d->evidence_count = bad, 1;
    case 13: return d->batch_size = bad, 1;
    case 14: return f->memory.retain_messages = (gpuopt_switch)(3 + take(f)), 1;
    case 15: return d->struct_size = take(f) % 8, 1;
    case 16: return d->variables > 0 ? f->m.domain[take(f) % (unsigned)d->variables] = take(f) % 2 ? bad : 0, 1 : 0;
    case 17: return d->order_count > 0 ? ((int32_t *)d->order)[0] = take(f) % 2 ? bad : far, 1 : 0;
    case 18: return d->order_count > 1 ? ((int32_t *)d->order)[1] = d->order[0], 1 : 0;
    case 19: return d->evidence_count > 0 ? ((int32_t *)d->evidence)[0] = take(f) % 2 ? bad : far, 1 : 0;
    case 20: return d->evidence_count > 1 ? ((int32_t *)d->evidence)[1] = d->evidence[0], 1 : 0;
    case 21: return d->order_count && d->evidence_count ? ((int32_t *)d->order)[0] = d->evidence[0], 1 : 0;
    case 22: return g ? g->arity = take(f) % 2 ? bad : far + (far < INT32_MAX), 1 : 0;
    case 23: return g && g->arity > 0 ? g->scope = NULL, 1 : 0;
    case 24: return g && g->arity > 0 ? ((int32_t *)g->scope)[0] = take(f) % 2 ? bad : far, 1 : 0;
    case 25: return g && g->arity > 1 ? ((int32_t *)g->scope)[1] = g->scope[0], 1 : 0;
    case 26:
        return g ? g->tuples = take(f) % 2 ? INT64_MIN : bad % 2 && g->tuple && (g->cost || g->value) ? 0 : -2, 1 : 0;
    case 27: return g ? g->cost = NULL, g->value = NULL, g->tuples != 0 : 0;
    case 28: return g && g->tuples > 0 && g->arity > 0 ? g->tuple = NULL, 1 : 0;
    case 29: return g && g->tuples > 0 && g->arity > 0 ? ((int32_t *)g->tuple)[0] = take(f) % 2 ? bad : DOMAIN, 1 : 0;
    case 30:
        return g && g->value && g->tuples ? ((double *)g->value)[0] = take(f) % 2 ? NAN : -model_forbidden(&f->m),
                                                     1 : 0;
    default: return d->type == GPUOPT_COST_DOUBLE ? d->top = 1, 1 : (d->evidence = NULL, d->evidence_count > 0);
    }
}

void input_make(fuzz *f) {
    make_model(f);
    make_desc(f);
}

void input_free(fuzz *f) {
    free(f->own_order);
    free(f->own_condition);
    model_free(&f->m);
}
