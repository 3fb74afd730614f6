/* SPDX-License-Identifier: MIT
 *
 * Columns with a lower bound above the upper one: no error, but an infeasible model. Random tiny models, in which
 * bounds cross by chance, against all bases in exact arithmetic; and every other call on such a handle.
 */
#include <math.h>
#include <string.h>

#include "tests/simplex/answer.h"
#include "tests/simplex/brute.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

/* Bounds from -2 to 2, drawn independently: a third of the pairs cross. */
static mip draw(uint64_t *seed) {
    double a[BRUTE_MOST * BRUTE_MOST], cost[BRUTE_MOST], lb[BRUTE_MOST], ub[BRUTE_MOST], lhs[BRUTE_MOST],
        rhs[BRUTE_MOST];
    int32_t rows = (int32_t)test_random_int(seed, 0, 3), cols = (int32_t)test_random_int(seed, 1, 3), k;
    mip m;
    for (k = 0; k < rows * cols; k++) a[k] = (double)test_random_int(seed, -3, 3);
    for (k = 0; k < rows; k++) {
        lhs[k] = (double)test_random_int(seed, -4, 0);
        rhs[k] = lhs[k] + (double)test_random_int(seed, 0, 6);
    }
    for (k = 0; k < cols; k++) {
        cost[k] = (double)test_random_int(seed, -3, 3);
        lb[k] = (double)test_random_int(seed, -2, 2);
        ub[k] = (double)test_random_int(seed, -2, 2);
    }
    m = model_of(rows, cols, a, cost, lhs, rhs, lb, ub);
    m.maximize = (int)test_random_int(seed, 0, 1);
    return m;
}

static int first_crossing(const mip *m) {
    int32_t j;
    for (j = 0; j < m->columns.cols; j++)
        if (m->lb[j] > m->ub[j]) return j;
    return -1;
}

/* The outcome is available without an iteration, with the bounds themselves as its proof. */
static void check_outcome(gpuopt_simplex *simplex, const mip *m, int crossing) {
    int32_t rows = m->columns.rows, i;
    double y[BRUTE_MOST], ray[BRUTE_MOST];
    gpuopt_simplex_info info = simplex_iterate(simplex, 1), again;
    assert_int_equal(info.outcome, GPUOPT_INFEASIBLE);
    assert_true(info.iterations == 0 && info.flips == 0);
    assert_int_equal(info.crossing, crossing);
    assert_true(info.certificate_margin == m->lb[crossing] - m->ub[crossing] && info.certificate_residual == 0);
    assert_true(info.infeasibility >= info.certificate_margin / 2 &&
                info.primal_violation >= info.certificate_margin / 2);
    again = simplex_info(simplex);
    assert_memory_equal(&info, &again, sizeof info);
    memset(y, 0x55, sizeof y);
    must(gpuopt_simplex_get_proof(simplex, GPUOPT_HOST,
                                  &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .farkas = y}));
    for (i = 0; i < rows; i++) assert_true(y[i] == 0);
    assert_int_equal(
        gpuopt_simplex_get_proof(simplex, GPUOPT_HOST,
                                 &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .ray = ray}),
        GPUOPT_ERROR_STATE);
}

/* Nonbasic columns lie at a bound, columns with crossing bounds at lb; activities are computed from x. */
static void check_point(gpuopt_simplex *simplex, const mip *m) {
    int32_t rows = m->columns.rows, cols = m->columns.cols, j;
    answer a = answer_get(simplex, m);
    double activity[BRUTE_MOST] = {0};
    int64_t e;
    int basic = 0;
    for (j = 0; j < rows + cols; j++) basic += a.basis[j] == GPUOPT_VARIABLE_BASIC;
    assert_int_equal(basic, rows);
    for (j = 0; j < cols; j++) {
        for (e = m->columns.start[j]; e < m->columns.start[j + 1]; e++)
            activity[m->columns.index[e]] += m->columns.value[e] * a.x[j];
        if (a.basis[j] == GPUOPT_VARIABLE_BASIC) continue;
        if (m->lb[j] > m->ub[j]) assert_true(a.x[j] == m->lb[j]);
        else assert_true(a.x[j] == m->lb[j] || a.x[j] == m->ub[j]);
    }
    for (j = 0; j < rows; j++) assert_true(fabs(a.activity[j] - activity[j]) <= 1e-12);
    answer_free(&a);
}

/* The parts find nothing, or refuse and change nothing. */
static void check_parts(gpuopt_simplex *simplex, const mip *m, test_host *host) {
    gpuopt_simplex_entering e = GPUOPT_INIT(gpuopt_simplex_entering);
    gpuopt_simplex_leaving l = GPUOPT_INIT(gpuopt_simplex_leaving);
    gpuopt_simplex_info info = simplex_info(simplex), after;
    int j;
    e.variable = 77;
    must(gpuopt_simplex_price(simplex, &e));
    assert_int_equal(e.variable, -1);
    l.variable = 77;
    for (j = 0; j < m->columns.rows + m->columns.cols; j++) {
        assert_int_equal(gpuopt_simplex_ratio_test(simplex, j, 1, &l), GPUOPT_ERROR_STATE);
        assert_int_equal(gpuopt_simplex_flip(simplex, j, NULL), GPUOPT_ERROR_STATE);
        assert_int_equal(gpuopt_simplex_pivot(simplex, j, m->columns.cols, 0, NULL), GPUOPT_ERROR_STATE);
        assert_non_null(strstr(host->error, "cross"));
    }
    assert_int_equal(l.variable, 77);
    after = simplex_info(simplex);
    assert_memory_equal(&info, &after, sizeof info);
}

/* A basis is set and read back, and the outcome is found again. */
static void check_bases(gpuopt_simplex *simplex, const mip *m, int crossing) {
    int32_t rows = m->columns.rows, cols = m->columns.cols, both = rows + cols, j;
    unsigned set;
    for (set = 0; set < 1u << both; set++) {
        uint8_t status[2 * BRUTE_MOST], got[2 * BRUTE_MOST];
        int basic = 0;
        gpuopt_status result;
        for (j = 0; j < both; j++) {
            basic += set >> j & 1;
            status[j] = set >> j & 1 ? GPUOPT_VARIABLE_BASIC : GPUOPT_VARIABLE_AT_UPPER;
        }
        if (basic != rows) continue;
        result = gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, status);
        if (result == GPUOPT_ERROR_NUMERIC) continue; /* singular */
        must(result);
        assert_int_equal(simplex_info(simplex).outcome, GPUOPT_MORE);
        must(gpuopt_simplex_get_basis(simplex, GPUOPT_HOST, got));
        for (j = 0; j < both; j++)
            assert_int_equal(got[j] == GPUOPT_VARIABLE_BASIC, status[j] == GPUOPT_VARIABLE_BASIC);
        check_point(simplex, m);
        check_outcome(simplex, m, crossing);
    }
}

static void random_models(void **state) {
    int models = test_times(5000, 200), k, crossed = 0, optimal = 0, infeasible = 0;
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed = 5;
    (void)state;
    for (k = 0; k < models; k++) {
        mip m = draw(&seed);
        brute_answer expected = brute_solve(&m);
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex_rules rules;
        int crossing = first_crossing(&m);
        variant_set(&desc, k % VARIANTS);
        rules = rules_of(&desc);
        desc.rules = &rules;
        if (test_random_int(&seed, 0, 1)) rules.scaling = GPUOPT_OFF;
        if (crossing < 0) {
            answer_expect(context, &desc, &m, "bounds that do not cross", expected.outcome, expected.objective, 1e-9);
            optimal += expected.outcome == GPUOPT_OPTIMAL;
            infeasible += expected.outcome == GPUOPT_INFEASIBLE;
        } else {
            gpuopt_simplex *simplex = simplex_create(context, &desc);
            gpuopt_simplex_info info = simplex_info(simplex);
            assert_int_equal(expected.outcome, GPUOPT_INFEASIBLE);
            assert_true(info.outcome == GPUOPT_MORE && info.crossing == crossing);
            assert_int_equal(
                gpuopt_simplex_get_proof(simplex, GPUOPT_HOST,
                                         &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof),
                                                                 .farkas = (double[BRUTE_MOST]){0}}),
                GPUOPT_ERROR_STATE);
            if (k % 2) check_parts(simplex, &m, &host);
            check_point(simplex, &m);
            check_outcome(simplex, &m, crossing);
            must(gpuopt_simplex_rebuild(simplex, k % 3 == 0, &info));
            assert_int_equal(info.outcome, GPUOPT_INFEASIBLE);
            check_point(simplex, &m);
            check_parts(simplex, &m, &host);
            check_bases(simplex, &m, crossing);
            gpuopt_simplex_destroy(simplex);
            crossed++;
        }
        mip_free(&m);
    }
    print_message("%d with crossing bounds; of the others %d optimal, %d infeasible\n", crossed, optimal, infeasible);
    assert_true(crossed > models / 4 && optimal > models / 8 && infeasible > models / 40);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* lb NULL is 0, so that a negative ub crosses it; infinite bounds by the caller's limit do not cross. */
static void bounds_left_out(void **state) {
    static const double a[] = {1, 1}, rhs[] = {10}, ub[] = {3, -2}, far[] = {-1e12, 1};
    gpuopt_context *context = test_context(NULL);
    mip m = model_of(1, 2, a, NULL, NULL, rhs, NULL, NULL);
    gpuopt_simplex_desc desc = tableau_desc(&m);
    gpuopt_simplex *simplex;
    gpuopt_simplex_info info;
    (void)state;
    desc.lb = NULL;
    desc.ub = ub;
    simplex = simplex_create(context, &desc);
    info = simplex_iterate(simplex, 5);
    assert_true(info.outcome == GPUOPT_INFEASIBLE && info.crossing == 1 && info.certificate_margin == 2);
    gpuopt_simplex_destroy(simplex);
    desc.lb = far; /* and no ub: nothing crosses */
    desc.ub = NULL;
    simplex = simplex_create(context, &desc);
    info = simplex_iterate(simplex, 5);
    assert_true(info.outcome == GPUOPT_OPTIMAL && info.crossing == -1);
    gpuopt_simplex_destroy(simplex);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(random_models),
    cmocka_unit_test(bounds_left_out),
};
TEST_MAIN(tests)
