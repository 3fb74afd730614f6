/* SPDX-License-Identifier: MIT
 *
 * The host's floating-point environment: whatever it is at a call, results are the bits of the default one, and the
 * host has its own back when the call returns. The same holds for the threads of the host's OpenMP runtime.
 */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <string.h>
#if defined(__SSE2__)
#include <pmmintrin.h>
#include <xmmintrin.h>
#endif

#include "tests/support/support.h"

enum { ROWS = 40, COLS = 30, PER_ROW = 4, BASIS = 72, VARIABLES = 4, DOMAIN = 32, TABLES = 6, ITEMS = 120 };

/* ---- What the arithmetic of this thread does ---- */

static double opaque(double x) {
    volatile double same = x;
    return same;
}

/* A number that tells the four rounding modes apart, and whether subnormal numbers are flushed. */
static int environment(void) {
    double one = opaque(1), tiny = opaque(0x1p-60), sum = one + tiny, difference = one - tiny, opposite = -one - tiny;
    int flushes = opaque(DBL_MIN) * opaque(0.5) == 0;
    return (sum > 1) + 2 * (difference < 1) + 4 * (opposite < -1) + 8 * flushes;
}

/* kind 0: default; 1 to 3: the other rounding modes; 4: subnormal numbers are flushed to zero. Returns whether this
 * machine has it. */
enum { KINDS = 5 };
static int set_environment(int kind) {
    static const int mode[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
#if defined(__SSE2__)
    _MM_SET_FLUSH_ZERO_MODE(kind == 4 ? _MM_FLUSH_ZERO_ON : _MM_FLUSH_ZERO_OFF);
    _MM_SET_DENORMALS_ZERO_MODE(kind == 4 ? _MM_DENORMALS_ZERO_ON : _MM_DENORMALS_ZERO_OFF);
#else
    if (kind == 4) return 0;
#endif
    return fesetround(mode[kind]) == 0;
}

/* In all threads that a parallel region of this program has. */
static void set_everywhere(int kind) {
#ifdef _OPENMP
#pragma omp parallel num_threads(8)
    set_environment(kind);
#endif
    set_environment(kind);
}

/* ---- Models; quotients, so that nearly every operation rounds ---- */

static double matrix_value[ROWS * PER_ROW], lhs[ROWS], rhs[ROWS], lb[COLS], ub[COLS], cost[COLS];
static int64_t matrix_start[ROWS + 1], basis_start[BASIS + 1];
static int32_t matrix_index[ROWS * PER_ROW], basis_index[BASIS * BASIS], scope[TABLES][2];
static double basis_value[BASIS * BASIS], table[TABLES][DOMAIN * DOMAIN], vector[3][BASIS], subnormal[BASIS];
static int64_t weight[ITEMS], profit[ITEMS], capacity;

static void make_models(void) {
    static const int32_t pair[TABLES][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    uint64_t random = 7;
    int i, j, k;
    for (j = 0; j < COLS; j++) {
        lb[j] = -test_random(&random) * 3;
        ub[j] = test_random(&random) * 5 + 1e-310; /* and a subnormal part in what follows from it */
        cost[j] = test_random(&random) - 0.4;
    }
    for (i = 0; i < ROWS; i++) {
        for (k = 0; k < PER_ROW; k++) {
            matrix_index[i * PER_ROW + k] = (int32_t)((i * 7 + k * 8) % COLS);
            matrix_value[i * PER_ROW + k] = (double)test_random_int(&random, 1, 999) / 333.1 - 1.2;
        }
        matrix_start[i + 1] = matrix_start[i] + PER_ROW;
        lhs[i] = -2 - test_random(&random);
        rhs[i] = 1 + test_random(&random);
    }
    for (j = 0; j < BASIS; j++) {
        for (i = 0; i < BASIS; i++) {
            basis_index[j * BASIS + i] = i;
            basis_value[j * BASIS + i] = test_random(&random) / 3 + (i == j ? 4 : 0.01);
        }
        basis_start[j + 1] = basis_start[j] + BASIS;
        subnormal[j] = (double)test_random_int(&random, -9, 9) * 1e-310;
        for (k = 0; k < 3; k++) vector[k][j] = test_random(&random) + 0.01;
    }
    for (k = 0; k < TABLES; k++) {
        memcpy(scope[k], pair[k], sizeof scope[k]);
        for (j = 0; j < DOMAIN * DOMAIN; j++) table[k][j] = test_random(&random) * 3;
    }
    for (i = 0; i < ITEMS; i++) {
        weight[i] = test_random_int(&random, 1, 100000);
        profit[i] = weight[i] + 1000;
        capacity += weight[i];
    }
    capacity /= 3;
}

/* ---- One pass over all families, to a hash of all that they return ---- */

typedef struct pass {
    gpuopt_context *context;
    uint64_t hash;
    int environment; /* which the host has, and keeps */
} pass;

static void mix(pass *p, const void *data, size_t bytes) {
    const unsigned char *byte = data;
    while (bytes-- > 0) p->hash = (p->hash ^ *byte++) * 1099511628211u;
}

/* After every call: it worked, and the environment is the host's. */
static void done(const pass *p, gpuopt_status status) {
    int now = environment();
    set_environment(0); /* cmocka computes, too */
    assert_int_equal(status, GPUOPT_OK);
    assert_int_equal(now, p->environment);
}
#define CALL(call)                      \
    do {                                \
        gpuopt_status status_;          \
        set_everywhere(kind);           \
        p->environment = environment(); \
        status_ = call;                 \
        done(p, status_);               \
    } while (0)

static void propagate(pass *p, int kind, gpuopt_propagator_precision precision) {
    gpuopt_propagator_desc d = GPUOPT_INIT(gpuopt_propagator_desc);
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    gpuopt_propagator *handle;
    double low[COLS], high[COLS], least[ROWS], most[ROWS];
    gpuopt_propagator_row_report report = GPUOPT_INIT(gpuopt_propagator_row_report);
    d.matrix = (gpuopt_matrix){ROWS, COLS, matrix_start, matrix_index, matrix_value, GPUOPT_LAYOUT_CSR};
    d.lhs = lhs, d.rhs = rhs, d.lb = lb, d.ub = ub;
    d.precision = precision;
    report.min_activity = least, report.max_activity = most;
    CALL(gpuopt_propagator_create(p->context, &d, &handle));
    CALL(gpuopt_propagator_round(handle, 5, &info));
    CALL(gpuopt_propagator_get_bounds(handle, GPUOPT_HOST, low, high));
    CALL(gpuopt_propagator_get_rows(handle, GPUOPT_HOST, &report));
    mix(p, low, sizeof low), mix(p, high, sizeof high), mix(p, least, sizeof least), mix(p, most, sizeof most);
    low[0] += (high[0] - low[0]) / 3;
    CALL(gpuopt_propagator_set_bounds(handle, GPUOPT_HOST, low, high));
    CALL(gpuopt_propagator_round(handle, 5, &info));
    CALL(gpuopt_propagator_get_bounds(handle, GPUOPT_HOST, low, high));
    mix(p, low, sizeof low), mix(p, high, sizeof high), mix(p, &info.changed, sizeof info.changed);
    gpuopt_propagator_destroy(handle);
}

static void invert(pass *p, int kind, gpuopt_basis_technique technique) {
    gpuopt_matrix columns = {BASIS, BASIS, basis_start, basis_index, basis_value, GPUOPT_LAYOUT_CSC};
    gpuopt_basis_desc d = GPUOPT_INIT(gpuopt_basis_desc);
    gpuopt_basis_info info = GPUOPT_INIT(gpuopt_basis_info);
    gpuopt_basis_drift drift = GPUOPT_INIT(gpuopt_basis_drift);
    gpuopt_basis *handle;
    double inverse[BASIS * BASIS], y[BASIS];
    int k;
    d.m = BASIS;
    d.technique = technique;
    d.deferred_updates = technique == GPUOPT_TECHNIQUE_DEFERRED ? 2 : 0;
    CALL(gpuopt_basis_create(p->context, &d, &handle));
    CALL(gpuopt_basis_load(handle, &columns));
    CALL(gpuopt_basis_btran(handle, GPUOPT_HOST, subnormal, y));
    mix(p, y, sizeof y);
    for (k = 0; k < 3; k++) {
        CALL(gpuopt_basis_ftran(handle, GPUOPT_HOST, vector[k], y));
        mix(p, y, sizeof y);
        CALL(gpuopt_basis_update(handle, GPUOPT_HOST, 2 * k, NULL, &info));
        CALL(gpuopt_basis_btran(handle, GPUOPT_HOST, vector[k], y));
        mix(p, y, sizeof y);
        CALL(gpuopt_basis_btran_unit(handle, GPUOPT_HOST, k, y));
        mix(p, y, sizeof y);
    }
    CALL(gpuopt_basis_get_drift(handle, &columns, 1, &drift));
    CALL(gpuopt_basis_get_inverse(handle, GPUOPT_HOST, inverse));
    mix(p, &drift.norm, sizeof drift.norm), mix(p, inverse, sizeof inverse);
    gpuopt_basis_destroy(handle);
}

static void solve(pass *p, int kind, gpuopt_simplex_method method) {
    gpuopt_simplex_desc d = GPUOPT_INIT(gpuopt_simplex_desc);
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    gpuopt_simplex_entering entering = GPUOPT_INIT(gpuopt_simplex_entering);
    gpuopt_simplex_leaving leaving = GPUOPT_INIT(gpuopt_simplex_leaving);
    gpuopt_simplex *handle;
    double x[COLS], reduced[COLS], activity[ROWS], dual[ROWS];
    uint8_t basis[ROWS + COLS];
    d.matrix = (gpuopt_matrix){ROWS, COLS, matrix_start, matrix_index, matrix_value, GPUOPT_LAYOUT_CSR};
    d.lhs = lhs, d.rhs = rhs, d.lb = lb, d.ub = ub, d.cost = cost;
    d.method = method;
    CALL(gpuopt_simplex_create(p->context, &d, &handle));
    CALL(gpuopt_simplex_iterate(handle, 3, &info));
    CALL(gpuopt_simplex_price(handle, &entering));
    if (entering.variable >= 0) {
        CALL(gpuopt_simplex_ratio_test(handle, entering.variable, entering.direction, &leaving));
        mix(p, &leaving.step, sizeof leaving.step), mix(p, &leaving.pivot, sizeof leaving.pivot);
    }
    mix(p, &entering.score, sizeof entering.score);
    CALL(gpuopt_simplex_get_basis(handle, GPUOPT_HOST, basis));
    CALL(gpuopt_simplex_set_basis(handle, GPUOPT_HOST, basis));
    CALL(gpuopt_simplex_refresh(handle, 1, &info));
    CALL(gpuopt_simplex_iterate(handle, 10000, &info));
    CALL(gpuopt_simplex_get_solution(handle, GPUOPT_HOST, x, reduced, activity, dual));
    mix(p, &info.objective, sizeof info.objective), mix(p, &info.iterations, sizeof info.iterations);
    mix(p, x, sizeof x), mix(p, reduced, sizeof reduced), mix(p, activity, sizeof activity), mix(p, dual, sizeof dual);
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    gpuopt_simplex_destroy(handle);
}

/* Two programs, so that a second thread has work. */
static void solve_many(pass *p, int kind) {
    gpuopt_simplex_many_desc d = GPUOPT_INIT(gpuopt_simplex_many_desc);
    gpuopt_simplex_programs programs = GPUOPT_INIT(gpuopt_simplex_programs);
    gpuopt_simplex_many_info info = GPUOPT_INIT(gpuopt_simplex_many_info);
    gpuopt_simplex_many_report report = GPUOPT_INIT(gpuopt_simplex_many_report);
    gpuopt_simplex_many *handle;
    double x[2 * COLS], dual[2 * ROWS], objective[2];
    d.copies = 2, d.rows = ROWS, d.cols = COLS, d.start = matrix_start, d.index = matrix_index;
    d.shared = GPUOPT_SHARED_MATRIX | GPUOPT_SHARED_COST | GPUOPT_SHARED_LHS | GPUOPT_SHARED_RHS | GPUOPT_SHARED_LB |
               GPUOPT_SHARED_UB;
    programs.count = 2, programs.value = matrix_value, programs.cost = cost;
    programs.lhs = lhs, programs.rhs = rhs, programs.lb = lb, programs.ub = ub;
    report.x = x, report.dual = dual, report.objective = objective;
    CALL(gpuopt_simplex_many_create(p->context, &d, &handle));
    CALL(gpuopt_simplex_many_load(handle, GPUOPT_HOST, &programs));
    CALL(gpuopt_simplex_many_iterate(handle, INT64_MAX, &info));
    CALL(gpuopt_simplex_many_get(handle, GPUOPT_HOST, 0, 2, &report));
    assert_int_equal(info.optimal, 2);
    mix(p, objective, sizeof objective), mix(p, x, sizeof x), mix(p, dual, sizeof dual);
    gpuopt_simplex_many_destroy(handle);
}

static void eliminate(pass *p, int kind, gpuopt_elimination_semiring semiring) {
    static const int32_t domain[VARIABLES] = {DOMAIN, DOMAIN, DOMAIN, DOMAIN};
    gpuopt_elimination_function function[TABLES];
    gpuopt_elimination_desc d = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    gpuopt_elimination *handle;
    int k;
    memset(function, 0, sizeof function);
    for (k = 0; k < TABLES; k++) {
        function[k].arity = 2;
        function[k].scope = scope[k];
        function[k].tuples = -1;
        function[k].value = table[k];
    }
    d.variables = VARIABLES, d.domain = domain, d.functions = TABLES, d.function = function;
    d.type = GPUOPT_COST_DOUBLE;
    d.semiring = semiring;
    CALL(gpuopt_elimination_create(p->context, &d, &handle));
    CALL(gpuopt_elimination_step(handle, VARIABLES, &info));
    mix(p, &info.value, sizeof info.value);
    gpuopt_elimination_destroy(handle);
}

static void fill_knapsack(pass *p, int kind) {
    gpuopt_knapsack_desc d = GPUOPT_INIT(gpuopt_knapsack_desc);
    gpuopt_knapsack_info info = GPUOPT_INIT(gpuopt_knapsack_info);
    gpuopt_knapsack *handle;
    d.items = ITEMS, d.weight = weight, d.profit = profit, d.capacity = capacity;
    CALL(gpuopt_knapsack_create(p->context, &d, &handle));
    CALL(gpuopt_knapsack_expand(handle, 3000, 0, &info));
    mix(p, &info.lower, sizeof info.lower), mix(p, &info.upper, sizeof info.upper);
    mix(p, &info.expanded, sizeof info.expanded);
    gpuopt_knapsack_destroy(handle);
}

static uint64_t everything(int kind) {
    gpuopt_context_desc desc = test_context_desc(NULL);
    pass made = {NULL, 14695981039346656037u, 0}, *p = &made;
    int k;
    CALL(gpuopt_context_create(&desc, &p->context));
    propagate(p, kind, GPUOPT_PRECISION_FP64);
    propagate(p, kind, GPUOPT_PRECISION_FP32);
    for (k = GPUOPT_TECHNIQUE_DEFERRED; k <= GPUOPT_TECHNIQUE_ELEMENT_PROPOSED; k++)
        invert(p, kind, (gpuopt_basis_technique)k);
    solve(p, kind, GPUOPT_METHOD_TABLEAU);
    solve(p, kind, GPUOPT_METHOD_REVISED);
    solve_many(p, kind);
    eliminate(p, kind, GPUOPT_SEMIRING_MIN_SUM);
    eliminate(p, kind, GPUOPT_SEMIRING_LOG_SUM_EXP);
    fill_knapsack(p, kind);
    gpuopt_context_destroy(p->context);
    return made.hash;
}

static void same_bits_in_any_environment(void **state) {
    uint64_t expected;
    int kind;
    (void)state;
    make_models();
    expected = everything(0);
    for (kind = 1; kind < KINDS; kind++) {
        int differs, has = set_environment(kind);
        differs = environment() != 0;
        set_everywhere(0);
        if (!has || !differs) print_message("[ SKIPPED  ] environment %d: this machine lacks it\n", kind);
        else assert_true(everything(kind) == expected);
    }
    set_everywhere(0);
    assert_true(everything(0) == expected);
}

/* A refusal leaves the environment alone, too, and is said once. */
static void refusals_restore(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    gpuopt_basis_desc d = GPUOPT_INIT(gpuopt_basis_desc);
    gpuopt_basis *basis;
    int before, after;
    gpuopt_status status;
    (void)state;
    d.m = 2;
    assert_int_equal(gpuopt_basis_create(context, &d, &basis), GPUOPT_OK);
    host.messages = 0;
    set_environment(2);
    before = environment();
    status = gpuopt_basis_btran_unit(basis, GPUOPT_HOST, 2, vector[0]);
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
