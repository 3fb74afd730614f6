/* SPDX-License-Identifier: MIT
 *
 * Solves fixed pseudo-random models of all families and prints hashes of the results, in one line for propagation and
 * one for the others. They are the same for any compilation of this file and the library, and any processor. Packed
 * bytes must unpack. The argument is the number of threads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt.h"
#include "gpuopt/inference.h"

enum { ROWS = 200, COLS = 150, PER_ROW = 5, ROUNDS = 8 };

static int64_t start[ROWS + 1];
static int32_t col[ROWS * PER_ROW];
static double val[ROWS * PER_ROW], lhs[ROWS], rhs[ROWS], lb[COLS], ub[COLS];
static uint8_t integer[COLS];

static uint64_t random_state = 20200101;

static int draw(int low, int high) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return low + (int)((random_state >> 33) % (uint64_t)(high - low + 1));
}

/* Some point satisfies every row with slack to spare, so that rounds continue and none ends infeasible. The values are
 * quotients; a compiler can neither fold nor contract them. */
static void build(void) {
    double point[COLS];
    int i, j, k;
    for (j = 0; j < COLS; j++) {
        integer[j] = draw(0, 3) == 0;
        point[j] = integer[j] ? draw(-50, 50) : draw(-50000, 50000) / 999.7;
        lb[j] = draw(0, 9) ? point[j] - draw(1, 1000) / 7.3 : -1e30;
        ub[j] = draw(0, 9) ? point[j] + draw(1, 1000) / 3.1 : 1e30;
    }
    for (i = 0; i < ROWS; i++) {
        double activity = 0;
        for (k = 0; k < PER_ROW; k++) {
            int64_t at = start[i] + k;
            col[at] = (i * 37 + k * (COLS / PER_ROW) + draw(0, COLS / PER_ROW - 1)) % COLS;
            val[at] = draw(1, 9999) / 333.1;
            if (draw(0, 1)) val[at] = -val[at];
            activity += val[at] * point[col[at]];
        }
        start[i + 1] = start[i] + PER_ROW;
        /* Integers: the sum above may be contracted here, since this file is the caller's. */
        lhs[i] = draw(0, 1) ? (double)(int64_t)activity - draw(1, 40) : -1e30;
        rhs[i] = draw(0, 1) ? (double)(int64_t)activity + draw(1, 40) : 1e30;
    }
}

static const uint64_t none = 14695981039346656037u;

static uint64_t hash(uint64_t h, const unsigned char *byte, uint64_t bytes) {
    while (bytes-- > 0) h = (h ^ *byte++) * 1099511628211u;
    return h;
}

/* 64-bit numbers or doubles, with their bytes in the same order on every processor. */
static uint64_t hash_words(uint64_t h, const void *data, size_t bytes) {
    unsigned char byte[8];
    size_t k;
    int b;
    for (k = 0; k < bytes; k += 8) {
        uint64_t word;
        memcpy(&word, (const char *)data + k, 8);
        for (b = 0; b < 8; b++) byte[b] = (unsigned char)(word >> (8 * b));
        h = hash(h, byte, 8);
    }
    return h;
}

/* Rounds one by one, each with its bounds in the hash. Returns 0 on success. */
static int run(gpuopt_context *context, gpuopt_propagator_desc *desc, const char *name) {
    uint64_t h = none;
    int64_t changed = 0;
    int round, rounds = 0;
    gpuopt_propagator *propagator;
    gpuopt_propagator_info info;
    gpuopt_desc_init(&info, sizeof info);
    if (gpuopt_propagator_create(context, desc, NULL, &propagator)) return 1;
    for (round = 0; round < ROUNDS; round++) {
        double low[COLS], high[COLS];
        int64_t numbers[5];
        if (gpuopt_propagator_round(propagator, 1, &info) ||
            gpuopt_propagator_get_bounds(propagator, GPUOPT_HOST, 0, NULL, low, high))
            return 1;
        numbers[0] = info.outcome, numbers[1] = info.rounds, numbers[2] = info.changed;
        numbers[3] = info.infeasible_row, numbers[4] = info.infeasible_col;
        h = hash_words(h, numbers, sizeof numbers);
        h = hash_words(h, low, sizeof low);
        h = hash_words(h, high, sizeof high);
        changed += info.changed;
        rounds += info.rounds;
    }
    gpuopt_propagator_destroy(propagator);
    printf("%s %016llx rounds %d changed %lld %s; ", name, (unsigned long long)h, rounds, (long long)changed,
           gpuopt_outcome_string(info.outcome));
    return changed == 0 || info.outcome == GPUOPT_INFEASIBLE;
}

enum { LP_ROWS = 30, LP_COLS = 40 };

/* The optimum in doubles, to the last bit. */
static int run_simplex(gpuopt_context *context, gpuopt_simplex_method method) {
    static double a[LP_ROWS * LP_COLS], cost[LP_COLS], most[LP_ROWS], up[LP_COLS];
    double x[LP_COLS], dual[LP_ROWS];
    gpuopt_simplex *simplex;
    gpuopt_simplex_desc desc;
    gpuopt_simplex_info info;
    int k;
    random_state = 7;
    gpuopt_desc_init(&desc, sizeof desc);
    gpuopt_desc_init(&info, sizeof info);
    for (k = 0; k < LP_ROWS * LP_COLS; k++) a[k] = draw(0, 2) ? 0 : draw(1, 9999) / 333.1;
    for (k = 0; k < LP_COLS; k++) cost[k] = draw(1, 999) / 7.7, up[k] = draw(1, 50) / 3.3;
    for (k = 0; k < LP_ROWS; k++) most[k] = draw(1000, 9999) / 7.3;
    desc.matrix.rows = LP_ROWS, desc.matrix.cols = LP_COLS;
    desc.dense = a, desc.cost = cost, desc.rhs = most, desc.ub = up;
    desc.maximize = 1;
    desc.method = method, desc.algorithm = GPUOPT_ALGORITHM_PRIMAL;
    if (gpuopt_simplex_create(context, &desc, NULL, &simplex)) return 1;
    if (gpuopt_simplex_iterate(simplex, INT64_MAX, &info) ||
        gpuopt_simplex_get_solution(
            simplex, GPUOPT_HOST,
            &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = x, .dual = dual}))
        return 1;
    gpuopt_simplex_destroy(simplex);
    printf("simplex %016llx iterations %lld %s; ",
           (unsigned long long)hash_words(hash_words(none, x, sizeof x), dual, sizeof dual), (long long)info.iterations,
           gpuopt_outcome_string(info.outcome));
    return info.outcome != GPUOPT_OPTIMAL;
}

enum { VARIABLES = 24, DOMAIN = 3, MOST_ENTRIES = 1 << 14, MOST_BYTES = 1 << 20 };

static unsigned char packed[MOST_BYTES];

/* All messages as packed, and the order found. */
static int run_elimination(gpuopt_context *context, gpuopt_elimination_cost type, const char *name) {
    static int32_t domain[VARIABLES], scope[2 * VARIABLES][2], to_scope[VARIABLES], to_domain[VARIABLES];
    static int64_t cost[2 * VARIABLES][DOMAIN * DOMAIN], to_cost[MOST_ENTRIES];
    static double value[2 * VARIABLES][DOMAIN * DOMAIN], to_value[MOST_ENTRIES];
    static gpuopt_elimination_function function[2 * VARIABLES];
    gpuopt_elimination *elimination;
    gpuopt_elimination_desc desc;
    gpuopt_elimination_info info;
    uint64_t h = none, size;
    int k, v, m;
    random_state = 8;
    gpuopt_desc_init(&desc, sizeof desc);
    gpuopt_desc_init(&info, sizeof info);
    for (v = 0; v < VARIABLES; v++) domain[v] = DOMAIN;
    for (k = 0; k < 2 * VARIABLES; k++) {
        scope[k][0] = k % VARIABLES;
        scope[k][1] = (k % VARIABLES + (k < VARIABLES ? 1 : draw(2, 5))) % VARIABLES;
        for (v = 0; v < DOMAIN * DOMAIN; v++) cost[k][v] = draw(0, 999), value[k][v] = draw(-9999, 9999) / 33.7;
        memset(&function[k], 0, sizeof function[k]);
        function[k].arity = 2, function[k].scope = scope[k], function[k].tuples = -1;
        function[k].cost = cost[k], function[k].value = value[k];
    }
    desc.variables = VARIABLES, desc.domain = domain, desc.functions = 2 * VARIABLES, desc.function = function;
    desc.type = type;
    if (gpuopt_elimination_create(context, &desc, NULL, &elimination) ||
        gpuopt_elimination_step(elimination, VARIABLES, &info))
        return 1;
    for (m = 0; m < VARIABLES; m++) {
        gpuopt_elimination_message_info message;
        gpuopt_desc_init(&message, sizeof message);
        if (gpuopt_elimination_message_get_info(elimination, m, &message) || message.entries > MOST_ENTRIES ||
            gpuopt_elimination_message_pack(elimination, GPUOPT_HOST, m, 0, packed, sizeof packed, &size) ||
            gpuopt_elimination_message_unpack(context, message.model, packed, size, to_scope, to_domain, to_cost,
                                              to_value, NULL))
            return 1;
        h = hash(h, packed, size);
    }
    gpuopt_elimination_destroy(elimination);
    printf("%s %016llx %s; ", name, (unsigned long long)h, gpuopt_outcome_string(info.outcome));
    return info.outcome != GPUOPT_OPTIMAL;
}

enum { ITEMS = 60 };

/* The pool in the middle of a search, as packed. */
static int run_knapsack(gpuopt_context *context) {
    static int64_t weight[ITEMS], profit[ITEMS];
    gpuopt_knapsack *knapsack[2];
    gpuopt_knapsack_desc desc;
    gpuopt_knapsack_info info[2];
    uint64_t size;
    int k;
    random_state = 9;
    gpuopt_desc_init(&desc, sizeof desc);
    for (k = 0; k < ITEMS; k++) {
        weight[k] = draw(1, 1000000);
        profit[k] = weight[k] + 100000;
        desc.capacity += weight[k] / 3;
    }
    desc.items = ITEMS, desc.weight = weight, desc.profit = profit;
    desc.search = GPUOPT_SEARCH_BREADTH;
    for (k = 0; k < 2; k++) {
        gpuopt_desc_init(&info[k], sizeof info[k]);
        if (gpuopt_knapsack_create(context, &desc, NULL, &knapsack[k])) return 1;
    }
    if (gpuopt_knapsack_expand(knapsack[0], 5000, 0, &info[0]) ||
        gpuopt_knapsack_pack(knapsack[0], -1, 0, packed, sizeof packed, &size) ||
        gpuopt_knapsack_unpack(knapsack[1], packed, size, 0) || gpuopt_knapsack_get_info(knapsack[1], &info[1]))
        return 1;
    for (k = 0; k < 2; k++) gpuopt_knapsack_destroy(knapsack[k]);
    printf("knapsack %016llx nodes %lld %s; ", (unsigned long long)hash(none, packed, size), (long long)info[0].alive,
           gpuopt_outcome_string(info[0].outcome));
    return info[0].alive == 0 || info[1].alive != info[0].alive || info[1].primal_bound != info[0].primal_bound;
}

int main(int argc, char **argv) {
    int failed;
    gpuopt_context *context;
    gpuopt_context_desc context_desc;
    gpuopt_propagator_desc desc;
    build();
    gpuopt_desc_init(&context_desc, sizeof context_desc);
    context_desc.threads = argc > 1 ? atoi(argv[1]) : 1;
    if (gpuopt_context_create(&context_desc, &context)) return 1;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.matrix.rows = ROWS;
    desc.matrix.cols = COLS;
    desc.matrix.start = start;
    desc.matrix.index = col;
    desc.matrix.value = val;
    desc.lhs = lhs;
    desc.rhs = rhs;
    desc.lb = lb;
    desc.ub = ub;
    desc.integer = integer;
    failed = run(context, &desc, "fp64");
    desc.precision = GPUOPT_PRECISION_FP32;
    failed |= run(context, &desc, "fp32");
    printf("\n");
    failed |= run_simplex(context, GPUOPT_METHOD_TABLEAU);
    failed |= run_simplex(context, GPUOPT_METHOD_REVISED);
    failed |= run_elimination(context, GPUOPT_COST_INT64, "int64");
    failed |= run_elimination(context, GPUOPT_COST_DOUBLE, "double");
    failed |= run_knapsack(context);
    printf("\n");
    gpuopt_context_destroy(context);
    return failed;
}
