/* SPDX-License-Identifier: MIT
 *
 * A caller that forks after calls with several OpenMP threads, compiled with -fopenmp. The argument selects the child's
 * work (gpuopt.h, "Forks"):
 *   after   its own context with several threads; the parent's was destroyed before the fork
 *   alone   its own context with one thread, while the parent's lives
 *   kept    every family's handles of the parent's context, which then have one thread
 *   paused  its own context with several threads, while the parent's lives: the caller has paused OpenMP
 * A child that waits for missing threads is ended after a while.
 */
#include <omp.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpuopt.h"

enum { THREADS = 4, ROWS = 20000, PATIENCE = 20 }; /* rows enough for several threads; seconds */

static int64_t start[ROWS + 1];
static int32_t col[3 * ROWS];
static double val[3 * ROWS], rhs[ROWS], lb[ROWS], ub[ROWS], low[2][ROWS], high[2][ROWS];

static void fill_model(void) {
    int k, e;
    for (k = 0; k < ROWS; k++) {
        for (e = 0; e < 3; e++) {
            col[3 * k + e] = (k * 7 + e * 31 + e) % ROWS;
            val[3 * k + e] = 1 + e;
        }
        start[k + 1] = 3 * (k + 1);
        rhs[k] = 5 + k % 7;
        ub[k] = 100;
    }
}

static gpuopt_context *context_of(int threads) {
    gpuopt_context_desc desc = GPUOPT_INIT(gpuopt_context_desc);
    gpuopt_context *context = NULL;
    desc.threads = threads;
    return gpuopt_context_create(&desc, &context) ? NULL : context;
}

static gpuopt_propagator *propagator_of(gpuopt_context *context) {
    gpuopt_propagator_desc desc = GPUOPT_INIT(gpuopt_propagator_desc);
    gpuopt_propagator *propagator = NULL;
    desc.matrix.rows = desc.matrix.cols = ROWS;
    desc.matrix.start = start;
    desc.matrix.index = col;
    desc.matrix.value = val;
    desc.rhs = rhs;
    desc.lb = lb;
    desc.ub = ub;
    return gpuopt_propagator_create(context, &desc, NULL, &propagator) ? NULL : propagator;
}

/* Propagates from the model's bounds, into low[at] and high[at]. */
static int propagates(gpuopt_propagator *propagator, int at) {
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    if (!propagator || gpuopt_propagator_set_bounds(propagator, GPUOPT_HOST, 0, NULL, lb, ub)) return 0;
    while (info.outcome == GPUOPT_MORE)
        if (gpuopt_propagator_round(propagator, 10, &info)) return 0;
    return info.outcome == GPUOPT_CONVERGED &&
           gpuopt_propagator_get_bounds(propagator, GPUOPT_HOST, 0, NULL, low[at], high[at]) == GPUOPT_OK;
}

static int propagates_anew(gpuopt_context *context, int at) {
    gpuopt_propagator *propagator = context ? propagator_of(context) : NULL;
    const int right = propagates(propagator, at);
    gpuopt_propagator_destroy(propagator);
    return right;
}

static int same_bounds(void) {
    return memcmp(low[0], low[1], sizeof low[0]) == 0 && memcmp(high[0], high[1], sizeof high[0]) == 0;
}

/* ---- Other parallel loops ---- */

/* An inverse of 512 x 512, at first the identity, and 80 updates, which are applied together on the way. */
static int updates_basis(gpuopt_context *context) {
    enum { M = 512 };
    static double column[M];
    gpuopt_basis_desc desc = GPUOPT_INIT(gpuopt_basis_desc);
    gpuopt_basis_info info = GPUOPT_INIT(gpuopt_basis_info);
    gpuopt_basis *basis = NULL;
    int k, failed;
    for (k = 0; k < M; k++) column[k] = 0.5;
    desc.m = M;
    failed = gpuopt_basis_create(context, &desc, NULL, &basis) != GPUOPT_OK;
    for (k = 0; k < 80 && !failed; k++) failed = gpuopt_basis_update(basis, GPUOPT_HOST, k, column, &info) != GPUOPT_OK;
    gpuopt_basis_destroy(basis);
    return !failed;
}

/* A ring of variables; neighbours cost |a - b|: 0 in total. */
static int eliminates(gpuopt_context *context) {
    enum { VARIABLES = 4, VALUES = 300 };
    static int32_t domain[VARIABLES], scope[VARIABLES][2];
    static int64_t cost[VALUES * VALUES];
    gpuopt_elimination_function function[VARIABLES];
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    gpuopt_elimination *elimination = NULL;
    int k, failed;
    memset(function, 0, sizeof function);
    for (k = 0; k < VALUES * VALUES; k++)
        cost[k] = k % VALUES > k / VALUES ? k % VALUES - k / VALUES : k / VALUES - k % VALUES;
    for (k = 0; k < VARIABLES; k++) {
        domain[k] = VALUES;
        scope[k][0] = k;
        scope[k][1] = (k + 1) % VARIABLES;
        function[k].arity = 2;
        function[k].scope = scope[k];
        function[k].tuples = -1;
        function[k].cost = cost;
    }
    desc.variables = VARIABLES;
    desc.domain = domain;
    desc.functions = VARIABLES;
    desc.function = function;
    failed = gpuopt_elimination_create(context, &desc, NULL, &elimination) != GPUOPT_OK ||
             gpuopt_elimination_step(elimination, VARIABLES, &info) != GPUOPT_OK;
    gpuopt_elimination_destroy(elimination);
    return !failed && info.outcome == GPUOPT_OPTIMAL && info.cost == 0;
}

/* A hundred items with profits equal to their weights, and half of all weights as the capacity. */
static int expands_knapsack(gpuopt_context *context) {
    enum { ITEMS = 100 };
    static int64_t profit[ITEMS], weight[ITEMS];
    gpuopt_knapsack_desc desc = GPUOPT_INIT(gpuopt_knapsack_desc);
    gpuopt_knapsack_info info = GPUOPT_INIT(gpuopt_knapsack_info);
    gpuopt_knapsack *knapsack = NULL;
    int k, failed;
    for (k = 0; k < ITEMS; k++) profit[k] = weight[k] = 1000 + 37 * k;
    desc.items = ITEMS;
    desc.profit = profit;
    desc.weight = weight;
    desc.capacity = 100000;
    failed = gpuopt_knapsack_create(context, &desc, NULL, &knapsack) != GPUOPT_OK;
    for (k = 0; k < 20 && !failed && info.outcome == GPUOPT_MORE; k++)
        failed = gpuopt_knapsack_expand(knapsack, 1 << 20, 4, &info) != GPUOPT_OK;
    gpuopt_knapsack_destroy(knapsack);
    return !failed;
}

static int all_families(gpuopt_context *context) {
    return updates_basis(context) && eliminates(context) && expands_knapsack(context);
}

/* ---- The child ---- */

static int child_is_right(const char *what, gpuopt_context *context, gpuopt_propagator *propagator) {
    gpuopt_context *own = strcmp(what, "kept") == 0 ? NULL : context_of(strcmp(what, "alone") == 0 ? 1 : THREADS);
    int right;
    alarm(PATIENCE);
    if (own) right = propagates_anew(own, 1) && all_families(own);
    else right = propagates(propagator, 1) && propagates_anew(context, 1) && all_families(context);
    gpuopt_context_destroy(own);
    if (!own) {
        gpuopt_propagator_destroy(propagator);
        gpuopt_context_destroy(context);
    }
    return right && same_bounds();
}

int main(int arguments, char **argument) {
    const char *what = arguments > 1 ? argument[1] : "";
    gpuopt_context *context;
    gpuopt_propagator *propagator;
    int status = 0;
    pid_t child;
    fill_model();
    context = context_of(THREADS);
    propagator = context ? propagator_of(context) : NULL;
    if (!propagates(propagator, 0) || !all_families(context)) return 1;
    if (strcmp(what, "after") == 0) {
        gpuopt_propagator_destroy(propagator);
        gpuopt_context_destroy(context);
        propagator = NULL;
        context = NULL;
    }
    if (strcmp(what, "paused") == 0 && omp_pause_resource_all(omp_pause_soft)) return 2;
    child = fork();
    if (child == 0) _exit(child_is_right(what, context, propagator) ? 0 : 3);
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status)) return 4;
    if (context && (!propagates(propagator, 1) || !same_bounds())) return 5; /* the parent continues as before */
    gpuopt_propagator_destroy(propagator);
    gpuopt_context_destroy(context);
    return 0;
}
