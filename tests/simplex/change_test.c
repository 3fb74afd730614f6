/* SPDX-License-Identifier: MIT
 *
 * A handle with bounds, sides and costs that change during its life. After each change of a random sequence its verdict
 * is compared with the simplex method in exact rationals on the changed model, or, for larger models, with a fresh
 * handle. Its answers have no fault on that model, and proofs hold in rationals. Refused changes change nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/simplex/changes.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

static void small_against_rationals(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 31;
    int model, step, verdicts = 0;
    (void)state;
    for (model = 0; model < test_times(400, 12); model++) {
        mip m = changes_model(&seed, (int32_t)test_random_int(&seed, 1, 8), (int32_t)test_random_int(&seed, 1, 8));
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex_rules rules;
        gpuopt_simplex *simplex;
        variant_set(&desc, model % VARIANTS);
        rules = rules_of(&desc);
        desc.rules = &rules;
        rules.scaling = (gpuopt_switch)test_random_int(&seed, 0, 2);
        rules.perturbation = (gpuopt_switch)test_random_int(&seed, 0, 2);
        simplex = simplex_create(context, &desc);
        for (step = 0; step < 12; step++) {
            const char *fault = NULL;
            int64_t few = test_random_int(&seed, 0, 3);
            if (few) simplex_iterate(simplex, few); /* the change may happen during a solve */
            changes_make(&seed, simplex, &m);
            if (few == 1) changes_make(&seed, simplex, &m);
            if (few == 2) simplex_info(simplex); /* which rebuilds */
            simplex_iterate(simplex, 100000);
            fault = changes_fault(simplex, &m, &verdicts);
            if (fault) fail_msg("model %d, step %d, %s: %s", model, step, variant_name(&desc), fault);
        }
        gpuopt_simplex_destroy(simplex);
        mip_free(&m);
    }
    if (!test_few()) assert_int_equal(verdicts, 1 << GPUOPT_OPTIMAL | 1 << GPUOPT_INFEASIBLE | 1 << GPUOPT_UNBOUNDED);
    gpuopt_context_destroy(context);
}

/* Larger models: against a handle that is made for the changed model. */
static void against_fresh_handles(void **state) {
    static const char *const models[] = {"shah:60:1", "plant:40:80:0.2:2", "meyer:30:150:0.1:1", "plant:50:30:0.3:7"};
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 5;
    int k, step, verdicts = 0;
    (void)state;
    for (k = 0; k < 8; k++) {
        mip m = model_load(models[k % 4]);
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex *simplex;
        desc.method = k / 4 ? GPUOPT_METHOD_REVISED : GPUOPT_METHOD_TABLEAU;
        simplex = simplex_create(context, &desc);
        simplex_iterate(simplex, 100000);
        for (step = 0; step < test_times(30, 3); step++) {
            int32_t j = (int32_t)test_random_int(&seed, 0, m.columns.cols - 1);
            answer living, fresh;
            const char *fault;
            double x[200], lb = m.lb[j], ub = m.ub[j];
            must(gpuopt_simplex_get_solution(
                simplex, GPUOPT_HOST,
                &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = x}));
            m.ub[j] = fmax(lb, 0.7 * x[j]);
            must(gpuopt_simplex_set_bounds(simplex, GPUOPT_HOST, 1, &j, NULL, &m.ub[j]));
            if (step % 3 == 0) {
                m.cost[j] *= 0.5;
                must(gpuopt_simplex_set_costs(simplex, GPUOPT_HOST, 1, &j, &m.cost[j]));
            }
            simplex_iterate(simplex, 100000);
            living = answer_get(simplex, &m);
            fresh = answer_after(context, &desc, &m, 100000);
            fault = answer_fault(&m, &living, 1e-9);
            verdicts |= 1 << living.info.outcome;
            if (!fault && living.info.outcome != fresh.info.outcome) fault = "another verdict than a fresh handle's";
            if (!fault && living.info.outcome == GPUOPT_OPTIMAL &&
                fabs(living.info.objective - fresh.info.objective) > 1e-9 * fmax(1, fabs(fresh.info.objective)))
                fault = "another objective than a fresh handle's";
            if (fault) fail_msg("%s, step %d: %s", models[k % 4], step, fault);
            if (living.info.outcome == GPUOPT_INFEASIBLE || step % 5 == 4) { /* back again */
                m.ub[j] = ub;
                must(gpuopt_simplex_set_bounds(simplex, GPUOPT_HOST, 1, &j, NULL, &ub));
            }
            answer_free(&living);
            answer_free(&fresh);
        }
        gpuopt_simplex_destroy(simplex);
        mip_free(&m);
    }
    assert_true(verdicts & 1 << GPUOPT_OPTIMAL);
    gpuopt_context_destroy(context);
}

/* A change takes effect at once in the handle's reports, without an iteration. Of several entries for a column the last
 * one counts. */
static void takes_effect_at_once(void **state) {
    static const double a[] = {1, 1, 1, -1}, cost[] = {-1, -2}, rhs[] = {10, 3}, ub[] = {8, 7};
    static const int32_t twice[] = {1, 1}, first[] = {0};
    static const double values[] = {5, 2}, minus_one[] = {-1}, no_side[] = {-INFINITY}, six[] = {6}, low[] = {9};
    gpuopt_context *context = test_context(NULL);
    mip m = model_of(2, 2, a, cost, NULL, rhs, NULL, ub);
    gpuopt_simplex_desc desc = tableau_desc(&m);
    gpuopt_simplex *simplex = simplex_create(context, &desc);
    double x[2];
    gpuopt_simplex_info info = simplex_iterate(simplex, 100);
    (void)state;
    assert_true(info.outcome == GPUOPT_OPTIMAL && info.objective == -17); /* x = (3, 7) */
    must(gpuopt_simplex_set_bounds(simplex, GPUOPT_HOST, 2, twice, NULL, values));
    must(gpuopt_simplex_get_solution(
        simplex, GPUOPT_HOST, &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = x}));
    assert_true(x[1] == 2); /* nonbasic at its upper bound, which was lowered to the last of the two values */
    assert_int_equal(simplex_info(simplex).outcome, GPUOPT_MORE);
    info = simplex_iterate(simplex, 100);
    assert_true(info.outcome == GPUOPT_OPTIMAL && info.objective == -9); /* x = (5, 2): row 1 */
    must(gpuopt_simplex_set_sides(simplex, GPUOPT_HOST, 1, first, no_side, six));
    info = simplex_iterate(simplex, 100);
    assert_true(info.outcome == GPUOPT_OPTIMAL && info.objective == -8); /* x = (4, 2): row 0 */
    must(gpuopt_simplex_set_costs(simplex, GPUOPT_HOST, 1, first, minus_one));
    must(gpuopt_simplex_set_bounds(simplex, GPUOPT_HOST, 1, first, low, NULL));
    info = simplex_iterate(simplex, 100);
    assert_true(info.outcome == GPUOPT_INFEASIBLE && info.crossing == 0 && info.certificate_margin == 1);
    gpuopt_simplex_destroy(simplex);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* An array in the memory of a test, which is device memory if `on_device`. */
static double *placed(double *list, int32_t count, int on_device) {
    double *device;
    if (!on_device) return list;
    device = test_device_allocate(sizeof *device * ((size_t)count + 1));
    test_device_copy(device, list, sizeof *list * (size_t)count);
    return device;
}

static void unplaced(double *list, int on_device) {
    if (on_device) test_device_release(list);
}

/* Without a list of columns or rows, a change equals the change with a list of all, to the bit, from host and device
 * memory. */
static void without_lists(void **state) {
    enum { SIZE = 8 };
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 12;
    int round, verdicts = 0;
    (void)state;
    for (round = 0; round < test_times(200, 80); round++) {
        const int on_device = test_on("cuda") && round & 1;
        const gpuopt_memory_space where = on_device ? GPUOPT_DEVICE : GPUOPT_HOST;
        mip m =
            changes_model(&seed, (int32_t)test_random_int(&seed, 0, SIZE), (int32_t)test_random_int(&seed, 1, SIZE));
        const int32_t rows = m.columns.rows, cols = m.columns.cols;
        const int64_t all_cols = round & 2 ? cols : 0, all_rows = round & 2 ? rows : 0;
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex *listed, *whole;
        int32_t every[SIZE], k;
        double *low, *high, *cost;
        answer one, other;
        const char *fault;
        variant_set(&desc, round % VARIANTS);
        listed = simplex_create(context, &desc);
        whole = simplex_create(context, &desc);
        simplex_iterate(listed, round % 3 + 1);
        simplex_iterate(whole, round % 3 + 1);
        for (k = 0; k < SIZE; k++) every[k] = k;
        for (k = 0; k < cols; k++) {
            m.lb[k] = (double)test_random_int(&seed, -3, 1);
            m.ub[k] = m.lb[k] + (double)test_random_int(&seed, 0, 4);
            m.cost[k] = (double)test_random_int(&seed, -5, 5);
        }
        for (k = 0; k < rows; k++) {
            m.lhs[k] = (double)test_random_int(&seed, -9, 3);
            m.rhs[k] = m.lhs[k] + (double)test_random_int(&seed, 0, 9);
        }
        must(gpuopt_simplex_set_bounds(listed, GPUOPT_HOST, cols, every, m.lb, NULL));
        must(gpuopt_simplex_set_bounds(listed, GPUOPT_HOST, cols, every, NULL, m.ub));
        must(gpuopt_simplex_set_sides(listed, GPUOPT_HOST, rows, every, m.lhs, m.rhs));
        must(gpuopt_simplex_set_costs(listed, GPUOPT_HOST, cols, every, m.cost));
        low = placed(m.lb, cols, on_device), high = placed(m.ub, cols, on_device);
        cost = placed(m.cost, cols, on_device);
        must(gpuopt_simplex_set_bounds(whole, where, all_cols, NULL, low, NULL));
        must(gpuopt_simplex_set_bounds(whole, where, all_cols, NULL, NULL, high));
        must(gpuopt_simplex_set_costs(whole, where, all_cols, NULL, cost));
        unplaced(low, on_device), unplaced(high, on_device), unplaced(cost, on_device);
        low = placed(m.lhs, rows, on_device), high = placed(m.rhs, rows, on_device);
        must(gpuopt_simplex_set_sides(whole, where, all_rows, NULL, low, high));
        unplaced(low, on_device), unplaced(high, on_device);
        simplex_iterate(listed, 100000);
        simplex_iterate(whole, 100000);
        one = answer_get(listed, &m), other = answer_get(whole, &m);
        assert_true(answer_equal(&m, &one, &other));
        fault = changes_fault(whole, &m, &verdicts);
        if (fault) fail_msg("round %d: %s", round, fault);
        answer_free(&one), answer_free(&other);
        gpuopt_simplex_destroy(listed);
        gpuopt_simplex_destroy(whole);
        mip_free(&m);
    }
    assert_true((verdicts & 1 << GPUOPT_OPTIMAL) && (verdicts & 1 << GPUOPT_INFEASIBLE));
    gpuopt_context_destroy(context);
}

/* A model of rows alone. */
static void rows_without_columns(void **state) {
    static const double lhs[] = {-5}, rhs[] = {7}, zero[] = {0}, ten[] = {10}, one[] = {1};
    static const int32_t at[] = {0};
    gpuopt_context *context = test_context(NULL);
    mip m = model_of(1, 0, NULL, NULL, lhs, rhs, NULL, NULL);
    gpuopt_simplex_desc desc = tableau_desc(&m);
    gpuopt_simplex *simplex = simplex_create(context, &desc);
    (void)state;
    assert_int_equal(simplex_iterate(simplex, 9).outcome, GPUOPT_OPTIMAL);
    must(gpuopt_simplex_set_sides(simplex, GPUOPT_HOST, 1, at, zero, ten));
    assert_int_equal(simplex_iterate(simplex, 9).outcome, GPUOPT_OPTIMAL);
    must(gpuopt_simplex_set_sides(simplex, GPUOPT_HOST, 1, at, one, ten));
    assert_int_equal(simplex_iterate(simplex, 9).outcome, GPUOPT_INFEASIBLE);
    gpuopt_simplex_destroy(simplex);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* Refused calls name the reason, and leave the handle unchanged, to the bit. */
static void refused(void **state) {
    static const double nan_value[] = {NAN}, one[] = {1}, zero[] = {0}, big[] = {1e21}, small[] = {-1e21};
    static const double tiny[] = {5e-324}, no_number[] = {INFINITY};
    static const int32_t at[] = {0}, beyond[] = {99};
    test_host host;
    gpuopt_context *context = test_context(&host);
    mip m = model_load("shah:20:1");
    gpuopt_simplex_desc desc = tableau_desc(&m);
    gpuopt_simplex *s = simplex_create(context, &desc);
    answer before, after;
    (void)state;
    simplex_iterate(s, 100000);
    before = answer_get(s, &m);
#define REFUSED(code, text, ...)                        \
    host.error[0] = 0;                                  \
    assert_int_equal(__VA_ARGS__, GPUOPT_ERROR_##code); \
    if (!strstr(host.error, text)) fail_msg("the log says: %s", host.error)
    REFUSED(ARGUMENT, "not in 0..", gpuopt_simplex_set_bounds(s, GPUOPT_HOST, -1, at, one, one));
    REFUSED(ARGUMENT, "not in 0..", gpuopt_simplex_set_bounds(s, GPUOPT_HOST, 21, at, one, one));
    REFUSED(ARGUMENT, "col is NULL", gpuopt_simplex_set_bounds(s, GPUOPT_HOST, 1, NULL, one, one));
    REFUSED(ARGUMENT, "col is NULL", gpuopt_simplex_set_bounds(s, GPUOPT_HOST, -1, NULL, one, one));
    REFUSED(ARGUMENT, "row is NULL", gpuopt_simplex_set_sides(s, GPUOPT_HOST, 19, NULL, one, one));
    REFUSED(ARGUMENT, "col is NULL", gpuopt_simplex_set_costs(s, GPUOPT_HOST, 21, NULL, one));
    REFUSED(ARGUMENT, "lhs or rhs is NULL", gpuopt_simplex_set_sides(s, GPUOPT_HOST, 0, NULL, one, NULL));
    REFUSED(ARGUMENT, "cost is NULL", gpuopt_simplex_set_costs(s, GPUOPT_HOST, 20, NULL, NULL));
    REFUSED(ARGUMENT, "col[0] = 99", gpuopt_simplex_set_bounds(s, GPUOPT_HOST, 1, beyond, one, one));
    REFUSED(ARGUMENT, "lb[0]", gpuopt_simplex_set_bounds(s, GPUOPT_HOST, 1, at, nan_value, one));
    REFUSED(ARGUMENT, "ub[0]", gpuopt_simplex_set_bounds(s, GPUOPT_HOST, 1, at, NULL, nan_value));
    REFUSED(ARGUMENT, "lb[0]", gpuopt_simplex_set_bounds(s, GPUOPT_HOST, 1, at, big, NULL));
    REFUSED(ARGUMENT, "ub[0]", gpuopt_simplex_set_bounds(s, GPUOPT_HOST, 1, at, NULL, small));
    REFUSED(ARGUMENT, "where", gpuopt_simplex_set_bounds(s, (gpuopt_memory_space)7, 1, at, one, one));
    REFUSED(ARGUMENT, "not in 0..", gpuopt_simplex_set_sides(s, GPUOPT_HOST, -1, at, one, one));
    REFUSED(ARGUMENT, "lhs or rhs is NULL", gpuopt_simplex_set_sides(s, GPUOPT_HOST, 1, at, NULL, one));
    REFUSED(ARGUMENT, "lhs or rhs is NULL", gpuopt_simplex_set_sides(s, GPUOPT_HOST, 1, at, one, NULL));
    REFUSED(ARGUMENT, "row[0] = 99", gpuopt_simplex_set_sides(s, GPUOPT_HOST, 1, beyond, zero, one));
    REFUSED(ARGUMENT, "exceeds", gpuopt_simplex_set_sides(s, GPUOPT_HOST, 1, at, one, zero));
    REFUSED(ARGUMENT, "not in 0..", gpuopt_simplex_set_costs(s, GPUOPT_HOST, 21, at, one));
    REFUSED(ARGUMENT, "cost is NULL", gpuopt_simplex_set_costs(s, GPUOPT_HOST, 1, at, NULL));
    REFUSED(ARGUMENT, "col[0] = 99", gpuopt_simplex_set_costs(s, GPUOPT_HOST, 1, beyond, one));
    REFUSED(ARGUMENT, "cost[0]", gpuopt_simplex_set_costs(s, GPUOPT_HOST, 1, at, no_number));
    if (!test_on("cuda")) {
        REFUSED(UNSUPPORTED, "device memory", gpuopt_simplex_set_bounds(s, GPUOPT_DEVICE, 1, at, one, one));
        REFUSED(UNSUPPORTED, "device memory", gpuopt_simplex_set_sides(s, GPUOPT_DEVICE, 1, at, zero, one));
        REFUSED(UNSUPPORTED, "device memory", gpuopt_simplex_set_costs(s, GPUOPT_DEVICE, 1, at, one));
    }
    assert_int_equal(gpuopt_simplex_set_bounds(NULL, GPUOPT_HOST, 1, at, one, one), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_set_sides(NULL, GPUOPT_HOST, 1, at, zero, one), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_set_costs(NULL, GPUOPT_HOST, 1, at, one), GPUOPT_ERROR_ARGUMENT);
    must(gpuopt_simplex_set_bounds(s, GPUOPT_HOST, 0, NULL, NULL, NULL));
    must(gpuopt_simplex_set_sides(s, GPUOPT_HOST, 0, NULL, NULL, NULL));
    must(gpuopt_simplex_set_costs(s, GPUOPT_HOST, 0, NULL, NULL));
    must(gpuopt_simplex_set_bounds(s, GPUOPT_HOST, 1, at, NULL, NULL));
    after = answer_get(s, &m);
    assert_true(answer_equal(&m, &before, &after));
    answer_free(&before);
    answer_free(&after);
    gpuopt_simplex_destroy(s);
    mip_free(&m);

    { /* the first row is scaled down, by a power of two: a subnormal number would lose digits */
        static const double a[] = {1048576, 1048576, 1, 1}, rhs[] = {1, 1};
        mip scaled = model_of(2, 2, a, NULL, NULL, rhs, NULL, NULL);
        desc = tableau_desc(&scaled);
        s = simplex_create(context, &desc);
        REFUSED(NUMERIC, "lose digits", gpuopt_simplex_set_sides(s, GPUOPT_HOST, 1, at, tiny, one));
        gpuopt_simplex_destroy(s);
        mip_free(&scaled);
    }
    gpuopt_context_destroy(context);
}

/* Bound, verdict and cutoff after each method. */
static void after_each_method(void **state) {
    gpuopt_context *context = test_context(NULL);
    mip m = model_load("shah:20:1");
    int algorithm;
    (void)state;
    for (algorithm = 0; algorithm < 3; algorithm++) {
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex *s;
        gpuopt_simplex_info info;
        double bound;
        desc.algorithm = (gpuopt_simplex_algorithm)algorithm;
        s = simplex_create(context, &desc);
        info = simplex_iterate(s, 100000);
        assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
        must(gpuopt_simplex_get_bound(s, &bound));
        assert_true(bound <= info.objective + 1e-9 || m.maximize);
        assert_true(fabs(bound - info.objective) <= 1e-6 * fmax(1, fabs(info.objective)));
        gpuopt_desc_init(&info, sizeof info);
        must(gpuopt_simplex_verify_basis(s, &info));
        assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
        must(gpuopt_simplex_set_cutoff(s, 0));
        gpuopt_simplex_destroy(s);
    }
    mip_free(&m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(small_against_rationals), cmocka_unit_test(against_fresh_handles),
    cmocka_unit_test(takes_effect_at_once),    cmocka_unit_test(without_lists),
    cmocka_unit_test(rows_without_columns),    cmocka_unit_test(refused),
    cmocka_unit_test(after_each_method),
};
TEST_MAIN(tests)
