/* SPDX-License-Identifier: MIT */
#include "tests/contract/problems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *array(problem *p, size_t count, size_t size) {
    void *block = calloc(count ? count : 1, size);
    assert_non_null(block);
    assert_true(p->blocks < (int)(sizeof p->block / sizeof *p->block));
    p->block[p->blocks++] = block;
    return block;
}

/* ---- Propagation: x[0] <= n, x[j + 1] <= x[j]; a round carries the bound to at least one more column ---- */

static void chain_make(problem *p) {
    int32_t n = p->size, i;
    gpuopt_propagator_desc *d = &p->desc.propagator;
    int64_t *start = array(p, (size_t)n, sizeof *start);
    int32_t *index = array(p, 2 * (size_t)n, sizeof *index);
    double *value = array(p, 2 * (size_t)n, sizeof *value), *rhs = array(p, (size_t)n, sizeof *rhs),
           *lb = array(p, (size_t)n, sizeof *lb), *ub = array(p, (size_t)n, sizeof *ub);
    gpuopt_desc_init(d, sizeof *d);
    for (i = 0; i < n - 1; i++) {
        start[i + 1] = 2 * (i + 1);
        index[2 * i] = i, value[2 * i] = -1;
        index[2 * i + 1] = i + 1, value[2 * i + 1] = 1;
    }
    for (i = 0; i < n; i++) ub[i] = i ? 10 * n : n;
    d->matrix = (gpuopt_matrix){n - 1, n, start, index, value, GPUOPT_LAYOUT_CSR};
    d->rhs = rhs, d->lb = lb, d->ub = ub;
}

static gpuopt_status chain_step(const problem *p, void *handle, int number, void *info) {
    (void)p, (void)number;
    return gpuopt_propagator_round(handle, 50, info);
}

static int chain_check(const problem *p, void *handle) {
    double *ub = calloc((size_t)p->size, sizeof *ub);
    int32_t j, bad = gpuopt_propagator_get_bounds(handle, GPUOPT_HOST, 0, NULL, NULL, ub) != GPUOPT_OK;
    for (j = 0; j < p->size && !bad; j++) bad = !(fabs(ub[j] - p->size) <= 1e-9);
    free(ub);
    return !bad;
}

/* ---- Basis inverse: 2 I, in which columns 1, 2, 3 are replaced by 4 e_p + 2 e_0; B x = e_p gives x_p = 1/4 and
 * x_0 = -1/4 ---- */

static void column_make(problem *p) {
    gpuopt_desc_init(&p->desc.basis, sizeof p->desc.basis);
    p->desc.basis.m = p->size;
    p->desc.basis.technique = GPUOPT_TECHNIQUE_COLUMN;
}

static void deferred_make(problem *p) {
    column_make(p);
    p->desc.basis.technique = GPUOPT_TECHNIQUE_DEFERRED;
    p->desc.basis.deferred_updates = 2;
}

static gpuopt_status basis_load(int32_t m, void *handle) {
    int64_t *start = calloc((size_t)m + 1, sizeof *start);
    int32_t *index = calloc((size_t)m, sizeof *index), j;
    double *value = calloc((size_t)m, sizeof *value);
    const gpuopt_matrix b = {m, m, start, index, value, GPUOPT_LAYOUT_CSC};
    gpuopt_status status;
    for (j = 0; j < m; j++) start[j + 1] = j + 1, index[j] = j, value[j] = 2;
    status = gpuopt_basis_load(handle, &b);
    free(start), free(index), free(value);
    return status;
}

/* Only the last update fills the info; until then it reports MORE. */
static gpuopt_status basis_step(const problem *p, void *handle, int number, void *info) {
    const int32_t index[2] = {0, number};
    const double value[2] = {2, 4};
    gpuopt_status status;
    if (number == 0) return basis_load(p->size, handle);
    status = gpuopt_basis_ftran(handle, GPUOPT_HOST, 2, index, value, NULL);
    return status ? status : gpuopt_basis_update(handle, GPUOPT_HOST, number, NULL, number == 3 ? info : NULL);
}

static int basis_check(const problem *p, void *handle) {
    double *x = calloc((size_t)p->size, sizeof *x);
    int32_t i, q, bad = 0;
    for (q = 1; q <= 3 && !bad; q++) {
        bad = gpuopt_basis_ftran(handle, GPUOPT_HOST, 1, &q, (const double[]){1}, x) != GPUOPT_OK;
        for (i = 0; i < p->size && !bad; i++) bad = x[i] != (i == q ? 0.25 : i == 0 ? -0.25 : 0);
    }
    free(x);
    return !bad;
}

/* ---- Linear programs: n / 3 of n items with different values; further rows bind nothing. The optimum is the sum of
 * the n / 3 largest values. ---- */

static void choice_make(problem *p) {
    int32_t n = p->size, m = 1 + n / 16, i, j;
    gpuopt_simplex_desc *d = &p->desc.simplex;
    int64_t *start = array(p, (size_t)m + 1, sizeof *start);
    int32_t *index = array(p, (size_t)(n + 2 * m), sizeof *index);
    double *value = array(p, (size_t)(n + 2 * m), sizeof *value), *cost = array(p, (size_t)n, sizeof *cost),
           *rhs = array(p, (size_t)m, sizeof *rhs), *ub = array(p, (size_t)n, sizeof *ub);
    for (j = 0; j < n; j++) {
        index[j] = j, value[j] = 1, ub[j] = 1;
        cost[j] = 1 + (double)j * 7919 / 7 - floor((double)j * 7919 / 7 / n) * n;
    }
    start[1] = n, rhs[0] = n / 3;
    for (i = 1; i < m; i++) {
        int64_t at = start[i];
        index[at] = 16 * i - 16, index[at + 1] = 16 * i - 15, value[at] = 3, value[at + 1] = 2;
        start[i + 1] = at + 2, rhs[i] = 5;
    }
    gpuopt_desc_init(d, sizeof *d);
    d->matrix = (gpuopt_matrix){m, n, start, index, value, GPUOPT_LAYOUT_CSR};
    d->cost = cost, d->rhs = rhs, d->ub = ub, d->maximize = 1;
    d->method = GPUOPT_METHOD_TABLEAU, d->algorithm = GPUOPT_ALGORITHM_PRIMAL;
    for (j = 0; j < n; j++) { /* how many have a larger value, or the same and a smaller index */
        int32_t before = 0;
        for (i = 0; i < n; i++) before += cost[i] > cost[j] || (cost[i] == cost[j] && i < j);
        if (before < n / 3) p->answer += cost[j];
    }
}

static void revised_make(problem *p) {
    choice_make(p);
    p->desc.simplex.method = GPUOPT_METHOD_REVISED;
}

static gpuopt_status choice_step(const problem *p, void *handle, int number, void *info) {
    (void)p, (void)number;
    return gpuopt_simplex_iterate(handle, 40, info);
}

static int choice_check(const problem *p, void *handle) {
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    return gpuopt_simplex_get_info(handle, &info) == GPUOPT_OK && info.outcome == GPUOPT_OPTIMAL &&
           fabs(info.objective - p->answer) <= 1e-9 * p->answer;
}

/* ---- Graphical models: a path of five variables with d values each, which costs the distance of neighbours, from
 * value 0 to value d - 1: d - 1 in all ---- */

enum { STAGES = 5 };

static void walk_make(problem *p) {
    int32_t d = p->size, k, v, w;
    gpuopt_elimination_desc *desc = &p->desc.elimination;
    gpuopt_elimination_function *function = array(p, STAGES + 1, sizeof *function);
    int32_t *domain = array(p, STAGES, sizeof *domain), *scope = array(p, 2 * STAGES, sizeof *scope),
            *order = array(p, STAGES, sizeof *order);
    int64_t *distance = array(p, (size_t)d * (size_t)d, sizeof *distance), *first = array(p, (size_t)d, sizeof *first),
            *last = array(p, (size_t)d, sizeof *last);
    for (v = 0; v < d; v++)
        for (w = 0; w < d; w++) distance[v * d + w] = v < w ? w - v : v - w;
    for (v = 0; v < d; v++) first[v] = v ? 1000 : 0, last[v] = v < d - 1 ? 1000 : 0;
    for (k = 0; k < STAGES; k++) domain[k] = d, scope[2 * k] = k, scope[2 * k + 1] = k + 1;
    for (k = 0; k <= STAGES; k++) {
        function[k].arity = k < STAGES - 1 ? 2 : 1;
        function[k].scope = k < STAGES - 1 ? scope + 2 * k : k == STAGES ? scope : scope + 2 * (STAGES - 1);
        function[k].tuples = -1;
        function[k].cost = k < STAGES - 1 ? distance : k == STAGES ? first : last;
    }
    for (k = 0; k < STAGES; k++) order[k] = (int32_t[]){2, 1, 3, 0, 4}[k]; /* the middle first: products of tables */
    gpuopt_desc_init(desc, sizeof *desc);
    desc->variables = STAGES, desc->domain = domain;
    desc->functions = STAGES + 1, desc->function = function;
    desc->order = order, desc->order_count = STAGES;
    p->answer = d - 1;
}

static gpuopt_status walk_step(const problem *p, void *handle, int number, void *info) {
    (void)p, (void)number;
    return gpuopt_elimination_step(handle, 1, info);
}

static int walk_check(const problem *p, void *handle) {
    gpuopt_elimination_assignment found = GPUOPT_INIT(gpuopt_elimination_assignment);
    int32_t value[STAGES], k;
    if (gpuopt_elimination_assign(handle, GPUOPT_HOST, 0, value, &found)) return 0;
    for (k = 1; k < STAGES; k++)
        if (value[k] < value[k - 1]) return 0;
    return value[0] == 0 && value[STAGES - 1] == p->size - 1 && (double)found.cost == p->answer;
}

/* ---- Knapsacks: even weights, profits equal to them, and an odd capacity, so that no bound ends the search
 * early ---- */

static void subset_make(problem *p) {
    int32_t n = p->size, j;
    int64_t capacity = 0, c;
    uint64_t seed = 1;
    gpuopt_knapsack_desc *d = &p->desc.knapsack;
    int64_t *weight = array(p, (size_t)n, sizeof *weight);
    char *reached;
    for (j = 0; j < n; j++) capacity += weight[j] = 2 * test_random_int(&seed, 1, 50 * n);
    capacity = capacity / 4 * 2 + 1;
    reached = array(p, (size_t)capacity + 1, 1);
    reached[0] = 1;
    for (j = 0; j < n; j++)
        for (c = capacity; c >= weight[j]; c--) reached[c] |= reached[c - weight[j]];
    for (c = capacity; !reached[c];) c--;
    p->answer = (double)c;
    gpuopt_desc_init(d, sizeof *d);
    d->items = n, d->weight = weight, d->profit = weight, d->capacity = capacity;
    d->search = GPUOPT_SEARCH_BREADTH;
    d->pool = 1 << 16;
}

static gpuopt_status subset_step(const problem *p, void *handle, int number, void *info) {
    (void)p, (void)number;
    return gpuopt_knapsack_expand(handle, 20000, 3, info);
}

static int subset_check(const problem *p, void *handle) {
    int64_t *taken = calloc((size_t)p->size, sizeof *taken);
    int64_t profit = 0, weight = 0;
    gpuopt_status status = gpuopt_knapsack_get_items(handle, GPUOPT_HOST, taken, &profit, &weight);
    free(taken);
    return status == GPUOPT_OK && (double)profit == p->answer;
}

/* ---- All of them ---- */

static const kind kinds[] = {
    {"propagation", PROPAGATOR, 8, 700, chain_make, chain_step, chain_check},
    {"a basis by columns", BASIS, 5, 900, column_make, basis_step, basis_check},
    {"a deferred basis", BASIS, 4, 500, deferred_make, basis_step, basis_check},
    {"a tableau", SIMPLEX, 20, 1500, choice_make, choice_step, choice_check},
    {"the revised method", SIMPLEX, 30, 700, revised_make, choice_step, choice_check},
    {"elimination", ELIMINATION, 3, 150, walk_make, walk_step, walk_check},
    {"a knapsack", KNAPSACK, 12, 24, subset_make, subset_step, subset_check},
};
_Static_assert(sizeof kinds / sizeof *kinds == KINDS, "KINDS");

problem problems[PROBLEMS];

int make_problems(void **state) {
    (void)state;
    for (int k = 0; k < PROBLEMS; k++) {
        problem *p = &problems[k];
        memset(p, 0, sizeof *p);
        p->kind = &kinds[k % KINDS];
        p->size = k < KINDS ? p->kind->small : p->kind->large;
        if (test_few() && k >= KINDS) p->size = p->kind->small + (p->kind->large - p->kind->small) / 8;
        p->kind->make(p);
    }
    return 0;
}

int free_problems(void **state) {
    (void)state;
    for (int k = 0; k < PROBLEMS; k++)
        while (problems[k].blocks > 0) free(problems[k].block[--problems[k].blocks]);
    return 0;
}

gpuopt_status problem_step(const problem *p, void *handle, int number, int *more) {
    const family *f = &families[p->kind->family];
    anything info = sized(f->info_size);
    gpuopt_status status = p->kind->step(p, handle, number, &info);
    *more = f->outcome(&info) == GPUOPT_MORE;
    return status;
}
