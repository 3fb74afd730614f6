/* SPDX-License-Identifier: MIT
 *
 * The caller's floating-point environment: in any environment, results have the bits of the default one, and the
 * caller's is restored when the call returns. The same holds for the threads of the caller's OpenMP runtime, and for
 * its locale.
 */
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "gpuopt/knapsack_variants.h"
#include "gpuopt/inference.h"
#include "tests/contract/environment.h"

static void propagate(pass *p, gpuopt_propagator_precision precision) {
    gpuopt_propagator_desc d = environment_propagator();
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    gpuopt_propagator *handle;
    double low[COLS], high[COLS], least[ROWS], most[ROWS];
    gpuopt_propagator_row_report report = GPUOPT_INIT(gpuopt_propagator_row_report);
    d.precision = precision;
    report.min_activity = least, report.max_activity = most;
    CALL(gpuopt_propagator_create(p->context, &d, NULL, &handle));
    CALL(gpuopt_propagator_round(handle, 5, &info));
    CALL(gpuopt_propagator_get_bounds(handle, GPUOPT_HOST, 0, NULL, low, high));
    CALL(gpuopt_propagator_get_rows(handle, GPUOPT_HOST, &report));
    mix(p, low, sizeof low), mix(p, high, sizeof high), mix(p, least, sizeof least), mix(p, most, sizeof most);
    low[0] += (high[0] - low[0]) / 3;
    CALL(gpuopt_propagator_set_bounds(handle, GPUOPT_HOST, 0, NULL, low, high));
    CALL(gpuopt_propagator_round(handle, 5, &info));
    CALL(gpuopt_propagator_get_bounds(handle, GPUOPT_HOST, 0, NULL, low, high));
    mix(p, low, sizeof low), mix(p, high, sizeof high), mix(p, &info.changed, sizeof info.changed);
    gpuopt_propagator_destroy(handle);
}

static void invert(pass *p, gpuopt_basis_technique technique) {
    gpuopt_matrix columns = {BASIS, BASIS, model.basis_start, model.basis_index, model.basis_value, GPUOPT_LAYOUT_CSC};
    gpuopt_basis_desc d = GPUOPT_INIT(gpuopt_basis_desc);
    gpuopt_basis_info info = GPUOPT_INIT(gpuopt_basis_info);
    gpuopt_basis_drift drift = GPUOPT_INIT(gpuopt_basis_drift);
    gpuopt_basis *handle;
    double inverse[BASIS * BASIS], y[BASIS];
    int k;
    d.m = BASIS;
    d.technique = technique;
    d.deferred_updates = technique == GPUOPT_TECHNIQUE_DEFERRED ? 2 : 0;
    CALL(gpuopt_basis_create(p->context, &d, NULL, &handle));
    CALL(gpuopt_basis_load(handle, &columns));
    CALL(gpuopt_basis_btran(handle, GPUOPT_HOST, -1, model.subnormal, y));
    mix(p, y, sizeof y);
    for (k = 0; k < 3; k++) {
        CALL(gpuopt_basis_ftran(handle, GPUOPT_HOST, 0, NULL, model.vector[k], y));
        mix(p, y, sizeof y);
        CALL(gpuopt_basis_update(handle, GPUOPT_HOST, 2 * k, NULL, &info));
        CALL(gpuopt_basis_btran(handle, GPUOPT_HOST, -1, model.vector[k], y));
        mix(p, y, sizeof y);
        CALL(gpuopt_basis_btran(handle, GPUOPT_HOST, k, NULL, y));
        mix(p, y, sizeof y);
    }
    CALL(gpuopt_basis_get_drift(handle, &columns, 1, &drift));
    CALL(gpuopt_basis_get_inverse(handle, GPUOPT_HOST, inverse));
    mix(p, &drift.norm, sizeof drift.norm), mix(p, inverse, sizeof inverse);
    gpuopt_basis_destroy(handle);
}

static void solve(pass *p, gpuopt_simplex_method method) {
    gpuopt_simplex_desc d = environment_program();
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    gpuopt_simplex_entering entering = GPUOPT_INIT(gpuopt_simplex_entering);
    gpuopt_simplex_leaving leaving = GPUOPT_INIT(gpuopt_simplex_leaving);
    gpuopt_simplex *handle;
    double x[COLS], reduced[COLS], activity[ROWS], dual[ROWS];
    uint8_t basis[ROWS + COLS];
    d.method = method;
    CALL(gpuopt_simplex_create(p->context, &d, NULL, &handle));
    CALL(gpuopt_simplex_iterate(handle, 3, &info));
    CALL(gpuopt_simplex_price(handle, &entering));
    if (entering.variable >= 0) {
        CALL(gpuopt_simplex_ratio_test(handle, entering.variable, entering.direction, &leaving));
        mix(p, &leaving.step, sizeof leaving.step), mix(p, &leaving.pivot, sizeof leaving.pivot);
    }
    mix(p, &entering.score, sizeof entering.score);
    CALL(gpuopt_simplex_get_basis(handle, GPUOPT_HOST, basis));
    CALL(gpuopt_simplex_set_basis(handle, GPUOPT_HOST, basis));
    CALL(gpuopt_simplex_rebuild(handle, 1, &info));
    CALL(gpuopt_simplex_iterate(handle, 10000, &info));
    CALL(gpuopt_simplex_get_solution(handle, GPUOPT_HOST,
                                     &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution),
                                                                .x = x,
                                                                .reduced_cost = reduced,
                                                                .activity = activity,
                                                                .dual = dual}));
    mix(p, &info.objective, sizeof info.objective), mix(p, &info.iterations, sizeof info.iterations);
    mix(p, x, sizeof x), mix(p, reduced, sizeof reduced), mix(p, activity, sizeof activity), mix(p, dual, sizeof dual);
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    gpuopt_simplex_destroy(handle);
}

/* The first `functions` tables. */
static gpuopt_elimination_desc graphical(int functions, gpuopt_elimination_semiring semiring) {
    static const int32_t domain[VARIABLES] = {DOMAIN, DOMAIN, DOMAIN, DOMAIN};
    static gpuopt_elimination_function function[TABLES];
    gpuopt_elimination_desc d = GPUOPT_INIT(gpuopt_elimination_desc);
    int k;
    memset(function, 0, sizeof function);
    for (k = 0; k < TABLES; k++) {
        function[k].arity = 2;
        function[k].scope = model.scope[k];
        function[k].tuples = -1;
        function[k].value = model.table[k];
    }
    d.variables = VARIABLES, d.domain = domain, d.functions = functions, d.function = function;
    d.type = GPUOPT_COST_DOUBLE;
    d.semiring = semiring;
    return d;
}

static void eliminate(pass *p, gpuopt_elimination_semiring semiring) {
    const gpuopt_elimination_desc d = graphical(TABLES, semiring);
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    gpuopt_elimination *handle;
    double bound[2][DOMAIN];
    int32_t value[2][VARIABLES];
    int k;
    CALL(gpuopt_elimination_create(p->context, &d, NULL, &handle));
    CALL(gpuopt_elimination_step(handle, VARIABLES, &info));
    mix(p, &info.value, sizeof info.value);
    for (k = 0; k < VARIABLES; k++) value[0][k] = k, value[1][k] = DOMAIN - 1 - k;
    for (k = 0; semiring == GPUOPT_SEMIRING_MIN_SUM && k < VARIABLES; k++) {
        CALL(gpuopt_elimination_get_bounds(handle, GPUOPT_HOST, 0, k, k % 2, 2, &value[0][0], NULL, &bound[0][0]));
        mix(p, bound, sizeof bound);
    }
    gpuopt_elimination_destroy(handle);
}

static void mix_tables(pass *p, const gpuopt_elimination_desc *d) {
    int32_t k, j;
    for (k = 0; k < d->functions; k++) {
        int64_t entries = d->function[k].tuples;
        for (j = 0; d->function[k].tuples < 0 && j < d->function[k].arity; j++)
            entries = (entries < 0 ? 1 : entries) * d->domain[d->function[k].scope[j]];
        mix(p, d->function[k].value, sizeof(double) * (size_t)(entries < 0 ? 1 : entries));
    }
}

/* Mini-buckets of two variables. */
static void relax(pass *p) {
    gpuopt_elimination_desc d = graphical(TABLES, GPUOPT_SEMIRING_MIN_SUM);
    gpuopt_elimination_desc relaxed = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_cost_shifting *relaxation;
    d.policy = GPUOPT_POLICY_MINI_BUCKET, d.z = 2;
    CALL(gpuopt_elimination_shift_costs(p->context, &d, 5, &relaxation));
    CALL(gpuopt_elimination_cost_shifting_get_desc(relaxation, &relaxed));
    mix_tables(p, &relaxed);
    gpuopt_elimination_cost_shifting_destroy(relaxation);
}

/* A star that preprocessing reduces to its constant. */
static void reduce(pass *p, gpuopt_elimination_semiring semiring) {
    gpuopt_elimination_desc d = graphical(3, semiring), reduced = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_preprocessing *reduction;
    CALL(gpuopt_elimination_preprocess(p->context, &d, 0, 0, &reduction));
    CALL(gpuopt_elimination_preprocessing_get_desc(reduction, &reduced));
    assert_int_equal(reduced.variables, 0);
    mix_tables(p, &reduced);
    gpuopt_elimination_preprocessing_destroy(reduction);
}

static void fill_knapsack(pass *p) {
    gpuopt_knapsack_desc d = GPUOPT_INIT(gpuopt_knapsack_desc);
    gpuopt_knapsack_info info = GPUOPT_INIT(gpuopt_knapsack_info);
    gpuopt_knapsack *handle;
    int64_t taken[ITEMS];
    void *bytes;
    uint64_t size;
    d.items = ITEMS, d.weight = model.weight, d.profit = model.profit, d.capacity = model.capacity;
    CALL(gpuopt_knapsack_create(p->context, &d, NULL, &handle));
    CALL(gpuopt_knapsack_expand(handle, 3000, 0, &info));
    mix(p, &info.primal_bound, sizeof info.primal_bound), mix(p, &info.dual_bound, sizeof info.dual_bound);
    mix(p, &info.expanded, sizeof info.expanded);
    CALL(gpuopt_knapsack_get_items(handle, GPUOPT_HOST, taken, NULL, NULL));
    mix(p, taken, sizeof taken);
    CALL(gpuopt_knapsack_take_share(handle, 1, 2));
    CALL(gpuopt_knapsack_split(handle, 1, NULL, 0, &size));
    bytes = malloc((size_t)size);
    CALL(gpuopt_knapsack_split(handle, 1, bytes, size, &size));
    mix(p, bytes, (size_t)size);
    CALL(gpuopt_knapsack_unpack(handle, bytes, size, 1));
    free(bytes);
    gpuopt_knapsack_destroy(handle);
}

/* Classes of one item, at most one of which is taken. */
static void fill_choice_knapsack(pass *p) {
    gpuopt_knapsack_multiple_choice_desc d = GPUOPT_INIT(gpuopt_knapsack_multiple_choice_desc);
    gpuopt_knapsack_multiple_choice_info info = GPUOPT_INIT(gpuopt_knapsack_multiple_choice_info);
    gpuopt_knapsack_multiple_choice *handle;
    int64_t begin[ITEMS + 1];
    int32_t chosen[ITEMS];
    int j;
    for (j = 0; j <= ITEMS; j++) begin[j] = j;
    d.classes = ITEMS, d.at_most_one = 1, d.begin = begin, d.states = 4096;
    d.weight = model.weight, d.profit = model.profit, d.capacity = model.capacity;
    CALL(gpuopt_knapsack_multiple_choice_create(p->context, &d, NULL, &handle));
    CALL(gpuopt_knapsack_multiple_choice_run(handle, 3000, 0, &info));
    CALL(gpuopt_knapsack_multiple_choice_get_items(handle, GPUOPT_HOST, chosen, NULL));
    mix(p, &info.primal_bound, sizeof info.primal_bound), mix(p, &info.dual_bound, sizeof info.dual_bound);
    mix(p, &info.expanded, sizeof info.expanded), mix(p, chosen, sizeof chosen);
    CALL(gpuopt_knapsack_multiple_choice_set_incumbent(handle, GPUOPT_HOST, chosen));
    gpuopt_knapsack_multiple_choice_destroy(handle);
}

/* Two constraints: the weights, and the same in reverse order. */
static void fill_multi_knapsack(pass *p) {
    gpuopt_knapsack_multidimensional_desc d = GPUOPT_INIT(gpuopt_knapsack_multidimensional_desc);
    gpuopt_knapsack_multidimensional_info info = GPUOPT_INIT(gpuopt_knapsack_multidimensional_info);
    gpuopt_knapsack_multidimensional *handle;
    int64_t weight[2 * ITEMS], capacity[2] = {model.capacity, model.capacity};
    int64_t taken[ITEMS];
    int j;
    for (j = 0; j < ITEMS; j++) weight[j] = weight[2 * ITEMS - 1 - j] = model.weight[j];
    d.items = ITEMS, d.rows = 2, d.weight = weight, d.profit = model.profit, d.capacity = capacity, d.workers = 64;
    CALL(gpuopt_knapsack_multidimensional_create(p->context, &d, NULL, &handle));
    CALL(gpuopt_knapsack_multidimensional_run(handle, 3000, 0, &info));
    CALL(gpuopt_knapsack_multidimensional_get_items(handle, GPUOPT_HOST, taken, NULL));
    mix(p, &info.primal_bound, sizeof info.primal_bound), mix(p, &info.dual_bound, sizeof info.dual_bound);
    mix(p, &info.nodes, sizeof info.nodes), mix(p, taken, sizeof taken);
    CALL(gpuopt_knapsack_multidimensional_set_incumbent(handle, GPUOPT_HOST, taken));
    assert_true(info.nodes > 0);
    gpuopt_knapsack_multidimensional_destroy(handle);
}

static uint64_t everything(int kind) {
    gpuopt_context_desc desc = test_context_desc(NULL);
    pass made = {NULL, 14695981039346656037u, kind, 0}, *p = &made;
    int k;
    CALL(gpuopt_context_create(&desc, &p->context));
    propagate(p, GPUOPT_PRECISION_FP64);
    propagate(p, GPUOPT_PRECISION_FP32);
    for (k = GPUOPT_TECHNIQUE_DEFERRED; k <= GPUOPT_TECHNIQUE_ELEMENT_PROPOSED; k++)
        invert(p, (gpuopt_basis_technique)k);
    solve(p, GPUOPT_METHOD_TABLEAU);
    solve(p, GPUOPT_METHOD_REVISED);
    eliminate(p, GPUOPT_SEMIRING_MIN_SUM);
    eliminate(p, GPUOPT_SEMIRING_LOG_SUM_EXP);
    relax(p);
    reduce(p, GPUOPT_SEMIRING_MIN_SUM);
    reduce(p, GPUOPT_SEMIRING_LOG_SUM_EXP);
    fill_knapsack(p);
    fill_multi_knapsack(p);
    fill_choice_knapsack(p);
    environment_batches(p);
    gpuopt_context_destroy(p->context);
    return made.hash;
}

static void same_bits_in_any_environment(void **state) {
    uint64_t expected;
    int kind;
    (void)state;
    make_environment_models();
    expected = everything(0);
    for (kind = 1; kind < ENVIRONMENTS; kind++) {
        int differs, has = set_environment(kind);
        differs = environment() != 0;
        set_environment_everywhere(0);
        if (!has || !differs) print_message("[ SKIPPED  ] environment %d: this machine lacks it\n", kind);
        else assert_true(everything(kind) == expected);
    }
    set_environment_everywhere(0);
    assert_true(everything(0) == expected);
}

/* A refusal leaves the environment alone, too, and is logged once. */
static void refusals_restore(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    gpuopt_basis_desc d = GPUOPT_INIT(gpuopt_basis_desc);
    gpuopt_basis *basis;
    int before, after;
    gpuopt_status status;
    (void)state;
    d.m = 2;
    assert_int_equal(gpuopt_basis_create(context, &d, NULL, &basis), GPUOPT_OK);
    host.messages = 0;
    set_environment(2);
    before = environment();
    status = gpuopt_basis_btran(basis, GPUOPT_HOST, 2, NULL, model.vector[0]);
    after = environment();
    set_environment(0);
    assert_int_equal(status, GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(after, before);
    assert_int_equal(host.messages, 1);
    gpuopt_basis_destroy(basis);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(same_bits_in_any_environment),
    cmocka_unit_test(refusals_restore),
};

TEST_MAIN(tests)
