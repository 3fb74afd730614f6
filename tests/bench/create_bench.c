/* SPDX-License-Identifier: MIT
 *
 * Times creating and destroying small handles of elimination and knapsacks.
 *     create_bench BACKEND,... [--repeat N]      BACKEND: cpu (one thread), cpu:N (N threads), cuda; N: handles (1000)
 * Prints, in Markdown, microseconds of the first create of a kind in this process, which loads kernels. Then medians
 * over all other handles: of create, of destroy, and of a first step with its result.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/bench/bench.h"

enum { MOST_HANDLES = 100000, SIDE = 6, VALUES = 3, FUNCTIONS = 2 * SIDE * (SIDE - 1), ITEMS = 200 };

/* A kind of handle. create: makes one; step: makes its first step, with the result; destroy: destroys it. */
typedef struct kind {
    const char *name;
    gpuopt_status (*create)(gpuopt_context *, int64_t size, void **handle);
    gpuopt_status (*step)(void *handle);
    void (*destroy)(void *handle);
    int64_t size;
} kind;

/* ---- Elimination: a grid of SIDE x SIDE variables with costs between neighbours; size: values of each ---- */

static gpuopt_status create_elimination(gpuopt_context *context, int64_t size, void **handle) {
    int32_t domain[SIDE * SIDE], scope[FUNCTIONS][2], order[SIDE * SIDE], count = 0, k, i;
    int64_t cost[VALUES * VALUES];
    gpuopt_elimination_function function[FUNCTIONS];
    gpuopt_elimination_desc desc;
    gpuopt_elimination *e = NULL;
    gpuopt_status status;
    memset(function, 0, sizeof function);
    for (i = 0; i < size * size; i++) cost[i] = (i * 7919 + 13) % 100;
    for (k = 0; k < SIDE * SIDE; k++) {
        domain[k] = (int32_t)size;
        order[k] = k;
        for (i = 0; i < 2; i++) { /* the neighbour to the right, the one below */
            if (i ? k + SIDE >= SIDE * SIDE : (k + 1) % SIDE == 0) continue;
            scope[count][0] = k;
            scope[count][1] = i ? k + SIDE : k + 1;
            function[count].arity = 2;
            function[count].scope = scope[count];
            function[count++].cost = cost;
        }
    }
    gpuopt_desc_init(&desc, sizeof desc);
    desc.variables = desc.order_count = SIDE * SIDE;
    desc.domain = domain;
    desc.functions = count;
    desc.function = function;
    desc.order = order;
    status = gpuopt_elimination_create(context, &desc, NULL, &e);
    *handle = e;
    return status;
}

static gpuopt_status step_elimination(void *handle) {
    gpuopt_elimination_info info;
    gpuopt_desc_init(&info, sizeof info);
    return gpuopt_elimination_step((gpuopt_elimination *)handle, SIDE * SIDE, &info);
}

static void destroy_elimination(void *handle) { gpuopt_elimination_destroy((gpuopt_elimination *)handle); }

/* ---- Knapsack: ITEMS strongly correlated items; size: nodes of the pool, 0: the default ---- */

static gpuopt_status create_knapsack(gpuopt_context *context, int64_t size, void **handle) {
    int64_t weight[ITEMS], profit[ITEMS];
    gpuopt_knapsack_desc desc;
    gpuopt_knapsack *knapsack = NULL;
    gpuopt_status status;
    int k;
    gpuopt_desc_init(&desc, sizeof desc);
    for (k = 0; k < ITEMS; k++) {
        weight[k] = 1 + (k * (int64_t)7919 + 4057) % 10000;
        profit[k] = weight[k] + 1000;
        desc.capacity += weight[k] / 2;
    }
    desc.items = ITEMS;
    desc.weight = weight;
    desc.profit = profit;
    desc.pool = size;
    status = gpuopt_knapsack_create(context, &desc, NULL, &knapsack);
    *handle = knapsack;
    return status;
}

static gpuopt_status step_knapsack(void *handle) {
    gpuopt_knapsack_info info;
    gpuopt_desc_init(&info, sizeof info);
    return gpuopt_knapsack_expand((gpuopt_knapsack *)handle, 1000, 0, &info);
}

static void destroy_knapsack(void *handle) { gpuopt_knapsack_destroy((gpuopt_knapsack *)handle); }

static const kind kinds[] = {
    {"elimination: grid 6 x 6, 2 values", create_elimination, step_elimination, destroy_elimination, 2},
    {"elimination: grid 6 x 6, 3 values", create_elimination, step_elimination, destroy_elimination, VALUES},
    {"knapsack: 200 items, pool 2^12", create_knapsack, step_knapsack, destroy_knapsack, 1 << 12},
    {"knapsack: 200 items, pool 2^20", create_knapsack, step_knapsack, destroy_knapsack, 0}};

/* ---- Measuring ---- */

/* Prints a row. taken [3][handles + 1]: receives the times. Returns 0 or -1. */
static int measure(const machine *m, const kind *of, int handles, double *taken) {
    double *create = taken, *step = create + handles + 1, *destroy = step + handles + 1;
    int k;
    for (k = 0; k <= handles; k++) {
        void *handle = NULL;
        gpuopt_status status;
        double at[4];
        at[0] = now();
        status = of->create(m->context, of->size, &handle);
        at[1] = now();
        if (status) return failed(m, of->name, "create", status);
        status = of->step(handle);
        at[2] = now();
        of->destroy(handle);
        at[3] = now();
        if (status) return failed(m, of->name, "the first step", status);
        create[k] = 1e6 * (at[1] - at[0]);
        step[k] = 1e6 * (at[2] - at[1]);
        destroy[k] = 1e6 * (at[3] - at[2]);
    }
    printf("| %s | %s | %.0f | %.1f | %.1f | %.1f |\n", of->name, m->name, create[0], median(create + 1, handles),
           median(step + 1, handles), median(destroy + 1, handles));
    return 0;
}

int main(int argc, char **argv) {
    machine machines[MOST_MACHINES];
    char name[MOST_MACHINES][NAME];
    int64_t handles = 1000;
    int count, k, result = 0;
    size_t of;
    double *taken;
    if ((argc != 2 && (argc != 4 || strcmp(argv[2], "--repeat") || !whole_number(argv[3], MOST_HANDLES, &handles)))) {
        fprintf(stderr, "usage: create_bench BACKEND,... [--repeat N]\n");
        return EXIT_BAD_INPUT;
    }
    count = open_machines("create_bench", argv[1], machines, name);
    if (count < 0) return EXIT_BAD_INPUT;
    taken = (double *)malloc(3 * sizeof *taken * ((size_t)handles + 1));
    if (!taken) return EXIT_FAILED;
    printf("| handle | backend | first create, us | create | first step | destroy |\n| --- | --- | --- | --- | --- | "
           "--- |\n");
    for (of = 0; of < sizeof kinds / sizeof *kinds; of++)
        for (k = 0; k < count; k++)
            if (measure(&machines[k], &kinds[of], (int)handles, taken)) result = EXIT_FAILED;
    free(taken);
    close_machines(machines, count);
    return finish_output(result);
}
