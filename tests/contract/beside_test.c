/* SPDX-License-Identifier: MIT
 *
 * Handles of all families and of very different sizes at once: in one context, where their steps alternate, and in the
 * contexts of several threads. Each problem has an answer that is known without a solver, but for the knapsack's, which
 * dynamic programming finds here.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

/* What a problem is made of. It is only read once the threads run. */
typedef struct problem {
    const struct kind *kind;
    int32_t size;
    union {
        gpuopt_propagator_desc propagator;
        gpuopt_basis_desc basis;
        gpuopt_simplex_desc simplex;
        gpuopt_elimination_desc elimination;
        gpuopt_knapsack_desc knapsack;
    } desc;
    double answer;
    void *block[12]; /* the arrays, to be freed */
    int blocks;
} problem;

/* These return NULL if all went well, else what did not; they use no assertions, so any thread may call them. */
typedef struct kind {
    const char *name;
    int32_t small, large;
    void (*make)(problem *);
    const char *(*start)(gpuopt_context *, const problem *, void **handle);
    const char *(*step)(const problem *, void *handle, int number, int *more);
    const char *(*check)(const problem *, void *handle);
    void (*destroy)(void *handle);
} kind;

static void *array(problem *p, size_t count, size_t size) {
    void *block = calloc(count ? count : 1, size);
    assert_non_null(block);
    assert_true(p->blocks < (int)(sizeof p->block / sizeof *p->block));
    p->block[p->blocks++] = block;
    return block;
}

/* ---- Propagation: x[0] <= 1, x[j + 1] <= x[j]; a round carries the bound to at least one more column ---- */

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
    for (i = 0; i < n; i++) ub[i] = i ? 10 : 1;
    d->matrix = (gpuopt_matrix){n - 1, n, start, index, value, GPUOPT_LAYOUT_CSR};
    d->rhs = rhs, d->lb = lb, d->ub = ub;
}

static const char *chain_start(gpuopt_context *context, const problem *p, void **handle) {
    gpuopt_propagator *made = NULL;
    if (gpuopt_propagator_create(context, &p->desc.propagator, &made)) return "create";
    *handle = made;
    return NULL;
}

static const char *chain_step(const problem *p, void *handle, int number, int *more) {
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    (void)p, (void)number;
    if (gpuopt_propagator_round(handle, 50, &info)) return "round";
    *more = info.outcome == GPUOPT_MORE;
    return NULL;
}

static const char *chain_check(const problem *p, void *handle) {
    double *ub = calloc((size_t)p->size, sizeof *ub);
    int32_t j, bad = gpuopt_propagator_get_bounds(handle, GPUOPT_HOST, NULL, ub) != GPUOPT_OK;
    for (j = 0; j < p->size && !bad; j++) bad = !(fabs(ub[j] - 1) <= 1e-9);
    free(ub);
    return bad ? "the bounds" : NULL;
}

static void chain_destroy(void *handle) { gpuopt_propagator_destroy(handle); }

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

static const char *basis_start(gpuopt_context *context, const problem *p, void **handle) {
    gpuopt_basis *made = NULL;
    if (gpuopt_basis_create(context, &p->desc.basis, &made)) return "create";
    *handle = made;
    return NULL;
}

static const char *basis_step(const problem *p, void *handle, int number, int *more) {
    gpuopt_basis_info info = GPUOPT_INIT(gpuopt_basis_info);
    int32_t m = p->size, j;
    *more = number < 3;
    if (number == 0) {
        int64_t *start = calloc((size_t)m + 1, sizeof *start);
        int32_t *index = calloc((size_t)m, sizeof *index);
        double *value = calloc((size_t)m, sizeof *value);
        const gpuopt_matrix b = {m, m, start, index, value, GPUOPT_LAYOUT_CSC};
        gpuopt_status status;
        for (j = 0; j < m; j++) start[j + 1] = j + 1, index[j] = j, value[j] = 2;
        status = gpuopt_basis_load(handle, &b);
        free(start), free(index), free(value);
        return status ? "load" : NULL;
    }
    if (gpuopt_basis_ftran_sparse(handle, GPUOPT_HOST, 2, (const int32_t[]){0, number}, (const double[]){2, 4}, NULL))
        return "FTRAN";
    return gpuopt_basis_update(handle, GPUOPT_HOST, number, NULL, &info) ? "update" : NULL;
}

static const char *basis_check(const problem *p, void *handle) {
    double *x = calloc((size_t)p->size, sizeof *x);
    int32_t i, q, bad = 0;
    for (q = 1; q <= 3 && !bad; q++) {
        bad = gpuopt_basis_ftran_sparse(handle, GPUOPT_HOST, 1, &q, (const double[]){1}, x) != GPUOPT_OK;
        for (i = 0; i < p->size && !bad; i++) bad = x[i] != (i == q ? 0.25 : i == 0 ? -0.25 : 0);
    }
    free(x);
    return bad ? "the inverse" : NULL;
}

static void basis_destroy(void *handle) { gpuopt_basis_destroy(handle); }

/* ---- Linear programs: n / 3 of n items with different values; further rows bind nothing. The optimum is the sum of the
 * n / 3 largest values. ---- */

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

static const char *choice_start(gpuopt_context *context, const problem *p, void **handle) {
    gpuopt_simplex *made = NULL;
    if (gpuopt_simplex_create(context, &p->desc.simplex, &made)) return "create";
    *handle = made;
    return NULL;
}

static const char *choice_step(const problem *p, void *handle, int number, int *more) {
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    (void)number;
    if (gpuopt_simplex_iterate(handle, 40, &info)) return "iterate";
    *more = info.outcome == GPUOPT_MORE;
    if (*more) return NULL;
    return info.outcome == GPUOPT_OPTIMAL && fabs(info.objective - p->answer) <= 1e-9 * p->answer ? NULL
                                                                                                  : "the optimum";
}

static const char *choice_check(const problem *p, void *handle) {
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    (void)p;
    return gpuopt_simplex_get_info(handle, &info) || info.outcome != GPUOPT_OPTIMAL ? "the info" : NULL;
}

static void choice_destroy(void *handle) { gpuopt_simplex_destroy(handle); }

/* ---- Graphical models: a path of five variables with d values each, which costs the distance of neighbours, from value
 * 0 to value d - 1: d - 1 in all ---- */

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

static const char *walk_start(gpuopt_context *context, const problem *p, void **handle) {
    gpuopt_elimination *made = NULL;
    if (gpuopt_elimination_create(context, &p->desc.elimination, &made)) return "create";
    *handle = made;
    return NULL;
}

static const char *walk_step(const problem *p, void *handle, int number, int *more) {
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    (void)p, (void)number;
    if (gpuopt_elimination_step(handle, 1, &info)) return "step";
    *more = info.outcome == GPUOPT_MORE;
    return NULL;
}

static const char *walk_check(const problem *p, void *handle) {
    gpuopt_elimination_assignment found = GPUOPT_INIT(gpuopt_elimination_assignment);
    int32_t value[STAGES], k;
    if (gpuopt_elimination_assign(handle, GPUOPT_HOST, 0, value, &found)) return "assign";
    for (k = 1; k < STAGES; k++)
        if (value[k] < value[k - 1]) return "the way";
    return value[0] == 0 && value[STAGES - 1] == p->size - 1 && (double)found.cost == p->answer ? NULL : "the cost";
}

static void walk_destroy(void *handle) { gpuopt_elimination_destroy(handle); }

/* ---- Knapsacks: even weights, profits equal to them, and an odd capacity, so that no bound ends the search early ---- */

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

static const char *subset_start(gpuopt_context *context, const problem *p, void **handle) {
    gpuopt_knapsack *made = NULL;
    if (gpuopt_knapsack_create(context, &p->desc.knapsack, &made)) return "create";
    *handle = made;
    return NULL;
}

static const char *subset_step(const problem *p, void *handle, int number, int *more) {
    gpuopt_knapsack_info info = GPUOPT_INIT(gpuopt_knapsack_info);
    (void)p, (void)number;
    if (gpuopt_knapsack_expand(handle, 20000, 0, &info)) return "expand";
    *more = info.outcome == GPUOPT_MORE;
    return NULL;
}

static const char *subset_check(const problem *p, void *handle) {
    uint8_t *taken = calloc((size_t)p->size, 1);
    int64_t profit = 0, weight = 0;
    gpuopt_status status = gpuopt_knapsack_get_items(handle, GPUOPT_HOST, taken, &profit, &weight);
    free(taken);
    return status == GPUOPT_OK && (double)profit == p->answer ? NULL : "the profit";
}

static void subset_destroy(void *handle) { gpuopt_knapsack_destroy(handle); }

/* ---- All of them ---- */

#define CALLS(NAME) NAME##_start, NAME##_step, NAME##_check, NAME##_destroy
static const kind kinds[] = {
    {"propagation", 8, 700, chain_make, CALLS(chain)},
    {"a basis by columns", 5, 900, column_make, CALLS(basis)},
    {"a deferred basis", 4, 500, deferred_make, CALLS(basis)},
    {"a tableau", 20, 1500, choice_make, CALLS(choice)},
    {"the revised method", 30, 700, revised_make, CALLS(choice)},
    {"elimination", 3, 150, walk_make, CALLS(walk)},
    {"a knapsack", 12, 24, subset_make, CALLS(subset)},
};
enum { KINDS = sizeof kinds / sizeof *kinds, PROBLEMS = 2 * KINDS };

static problem problems[PROBLEMS]; /* the small ones, then the large ones */

static int make_problems(void **state) {
    (void)state;
    for (int k = 0; k < PROBLEMS; k++) {
        problem *p = &problems[k];
        memset(p, 0, sizeof *p);
        p->kind = &kinds[k % KINDS];
        p->size = k < KINDS ? p->kind->small : p->kind->large;
        if (test_emulated() && k >= KINDS) p->size = p->kind->small + (p->kind->large - p->kind->small) / 8;
        p->kind->make(p);
    }
    return 0;
}

static int free_problems(void **state) {
    (void)state;
    for (int k = 0; k < PROBLEMS; k++)
        while (problems[k].blocks > 0) free(problems[k].block[--problems[k].blocks]);
    return 0;
}

/* Solves problems at the same time, a step of each in turn. Returns the kind at fault and what, or NULL. */
static const char *solve(gpuopt_context *context, const int *chosen, int count, const char **what) {
    void *handle[PROBLEMS] = {NULL};
    int more[PROBLEMS], k, open = count, number;
    const char *fault = NULL;
    for (k = 0; k < count && !fault; k++) {
        const problem *p = &problems[chosen[k]];
        more[k] = 1;
        if ((*what = p->kind->start(context, p, &handle[k]))) fault = p->kind->name;
    }
    for (number = 0; open > 0 && number < 10000 && !fault; number++)
        for (k = open = 0; k < count && !fault; k++) {
            const problem *p = &problems[chosen[k]];
            if (!more[k]) continue;
            if ((*what = p->kind->step(p, handle[k], number, &more[k]))) fault = p->kind->name;
            open += more[k];
        }
    if (open > 0 && !fault) fault = "all", *what = "they do not end";
    for (k = 0; k < count && !fault; k++) {
        const problem *p = &problems[chosen[k]];
        if ((*what = p->kind->check(p, handle[k]))) fault = p->kind->name;
    }
    for (k = 0; k < count; k++)
        if (handle[k]) problems[chosen[k]].kind->destroy(handle[k]);
    return fault;
}

static void all_in_one_context(void **state) {
    gpuopt_context *context = test_context(NULL);
    (void)state;
    for (int order = 0; order < 3; order++) { /* the large ones last, first, and in between */
        int chosen[PROBLEMS];
        const char *what = NULL, *fault;
        for (int k = 0; k < PROBLEMS; k++)
            chosen[k] = order == 0 ? k : order == 1 ? PROBLEMS - 1 - k : k % 2 ? k / 2 : KINDS + k / 2;
        fault = solve(context, chosen, PROBLEMS, &what);
        if (fault) fail_msg("order %d, %s: %s", order, fault, what);
    }
    gpuopt_context_destroy(context);
}

/* Every two problems beside each other, each created first once. */
static void every_two(void **state) {
    gpuopt_context *context = test_context(NULL);
    (void)state;
    for (int a = 0; a < PROBLEMS; a++)
        for (int b = 0; b < PROBLEMS; b++) {
            const int chosen[2] = {a, b};
            const char *what = NULL, *fault = solve(context, chosen, 2, &what);
            if (fault)
                fail_msg("%s of size %d, then %s of size %d: %s: %s", problems[a].kind->name, (int)problems[a].size,
                         problems[b].kind->name, (int)problems[b].size, fault, what);
        }
    gpuopt_context_destroy(context);
}

typedef struct worker {
    pthread_t thread;
    gpuopt_context *context;
    int first;
    const char *fault, *what;
} worker;

static void *work(void *argument) {
    worker *w = argument;
    for (int turn = 0; turn < 3 && !w->fault; turn++) {
        int chosen[4];
        for (int k = 0; k < 4; k++) chosen[k] = (w->first + 4 * turn + 5 * k) % PROBLEMS;
        w->fault = solve(w->context, chosen, 4, &w->what);
    }
    return NULL;
}

static void contexts_of_several_threads(void **state) {
    worker workers[8];
    (void)state;
    for (int count = 2; count <= 8; count *= 2) {
        for (int k = 0; k < count; k++) workers[k] = (worker){.context = test_context(NULL), .first = 3 * k};
        for (int k = 0; k < count; k++)
            assert_int_equal(pthread_create(&workers[k].thread, NULL, work, &workers[k]), 0);
        for (int k = 0; k < count; k++) assert_int_equal(pthread_join(workers[k].thread, NULL), 0);
        for (int k = 0; k < count; k++) {
            if (workers[k].fault) fail_msg("thread %d of %d, %s: %s", k, count, workers[k].fault, workers[k].what);
            gpuopt_context_destroy(workers[k].context);
        }
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(all_in_one_context, make_problems, free_problems),
    cmocka_unit_test_setup_teardown(every_two, make_problems, free_problems),
    cmocka_unit_test_setup_teardown(contexts_of_several_threads, make_problems, free_problems),
};
TEST_MAIN(tests)
