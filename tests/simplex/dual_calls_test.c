/* SPDX-License-Identifier: MIT
 *
 * The calls of the dual simplex method: AUTO's choice of the method, the parts of the primal method in between, memory,
 * and refusals.
 */
#include <math.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/simplex/changes.h"
#include "tests/simplex/clp.h"
#include "tests/simplex/dual_ways.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

/* AUTO uses the dual method from a dual feasible basis, and the primal method from a feasible one. */
static void auto_chooses(void **state) {
    uint64_t seed = 4;
    gpuopt_context *context = test_context(NULL);
    mip cover = changes_tree_model(&seed, 20, 80), pack = model_load("shah:20:1");
    gpuopt_simplex_desc desc = tableau_desc(&cover);
    gpuopt_simplex *simplex;
    gpuopt_simplex_info info;
    (void)state;
    desc.algorithm = GPUOPT_ALGORITHM_AUTO;
    simplex = simplex_create(context, &desc);
    info = simplex_iterate(simplex, 100000);
    if (info.outcome != GPUOPT_OPTIMAL || info.dual_iterations == 0)
        fail_msg("%s after %lld iterations", gpuopt_outcome_string(info.outcome), (long long)info.dual_iterations);
    gpuopt_simplex_destroy(simplex);
    desc = tableau_desc(&pack);
    desc.algorithm = GPUOPT_ALGORITHM_AUTO;
    simplex = simplex_create(context, &desc);
    info = simplex_iterate(simplex, 100000);
    assert_true(info.outcome == GPUOPT_OPTIMAL && info.dual_iterations == 0 && info.iterations > 0);
    gpuopt_simplex_destroy(simplex);
    mip_free(&cover);
    mip_free(&pack);
    { /* max x, 1 <= x <= 5 by rows: neither feasible */
        static const double a[] = {1, 1}, cost[] = {-1}, lhs[] = {1, -INFINITY}, rhs[] = {INFINITY, 5};
        mip neither = model_of(2, 1, a, cost, lhs, rhs, NULL, NULL);
        desc = tableau_desc(&neither);
        desc.algorithm = GPUOPT_ALGORITHM_AUTO;
        simplex = simplex_create(context, &desc);
        info = simplex_iterate(simplex, 100);
        assert_true(info.outcome == GPUOPT_OPTIMAL && info.objective == -5 && info.dual_iterations == 0);
        gpuopt_simplex_destroy(simplex);
        desc.algorithm = GPUOPT_ALGORITHM_DUAL;
        simplex = simplex_create(context, &desc);
        info = simplex_iterate(simplex, 100);
        assert_true(info.outcome == GPUOPT_OPTIMAL && info.objective == -5 && info.dual_iterations > 0);
        gpuopt_simplex_destroy(simplex);
        mip_free(&neither);
    }
    gpuopt_context_destroy(context);
}

/* Single iterations, with the parts of the primal method and queries in between, reach the same optimum. */
static void mixed_with_the_parts(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 8;
    int way;
    (void)state;
    for (way = 0; way < DUAL_WAYS; way++) {
        mip m = changes_tree_model(&seed, 20, 30);
        gpuopt_simplex_desc desc = tableau_desc(&m);
        double objective, x[30];
        gpuopt_outcome outcome = clp_solve(&m, &objective);
        gpuopt_simplex *simplex;
        gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
        int step;
        dual_set(&desc, way);
        simplex = simplex_create(context, &desc);
        for (step = 0; info.outcome == GPUOPT_MORE; step++) {
            gpuopt_simplex_entering entering = GPUOPT_INIT(gpuopt_simplex_entering);
            gpuopt_simplex_leaving leaving = GPUOPT_INIT(gpuopt_simplex_leaving);
            assert_true(step < 10000);
            info = simplex_iterate(simplex, 1);
            if (step % 4 == 1)
                must(gpuopt_simplex_get_solution(
                    simplex, GPUOPT_HOST,
                    &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = x}));
            if (step % 4 != 3 || step > 100 || info.outcome != GPUOPT_MORE) continue;
            must(gpuopt_simplex_price(simplex, &entering));
            if (entering.variable < 0) continue;
            must(gpuopt_simplex_ratio_test(simplex, entering.variable, entering.direction, &leaving));
            if (leaving.flip) must(gpuopt_simplex_flip(simplex, entering.variable, &info));
            else if (leaving.variable >= 0)
                must(gpuopt_simplex_pivot(simplex, entering.variable, leaving.variable, leaving.to_upper, &info));
        }
        if (info.outcome != outcome) fail_msg("%s: %s", dual_name(&desc), gpuopt_outcome_string(info.outcome));
        if (outcome == GPUOPT_OPTIMAL) assert_true(fabs(info.objective - objective) <= 1e-7 * fmax(1, fabs(objective)));
        gpuopt_simplex_destroy(simplex);
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* Steps, changes and queries allocate nothing; a move to another basis that finds no memory leaves no trace. */
static void without_memory(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed = 6;
    int way, moves = 0;
    (void)state;
    for (way = 0; way < DUAL_WAYS; way += test_few() ? 5 : 1) {
        mip m = changes_tree_model(&seed, 40, 90);
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex *s;
        answer root, before, after;
        int32_t j, children = 0;
        double bound;
        dual_set(&desc, way);
        s = simplex_create(context, &desc);
        host.fail_at = host.allocations + 1;
        simplex_iterate(s, 100000);
        root = answer_get(s, &m);
        for (j = 0; j < m.columns.cols && children < 8; j++) {
            double ub = floor(root.x[j]);
            if (root.x[j] - ub < 1e-6) continue;
            children++;
            must(gpuopt_simplex_set_bounds(s, GPUOPT_HOST, 1, &j, NULL, &ub));
            must(gpuopt_simplex_set_cutoff(s, 1e9));
            simplex_iterate(s, 100000);
            must(gpuopt_simplex_get_bound(s, &bound));
            must(gpuopt_simplex_verify_basis(s, NULL));
            before = answer_get(s, &m);
            if (gpuopt_simplex_set_basis(s, GPUOPT_HOST, root.basis)) { /* else the basis is the same */
                after = answer_get(s, &m);
                assert_true(answer_equal(&m, &before, &after));
                answer_free(&after);
                host.fail_at = 0;
                must(gpuopt_simplex_set_basis(s, GPUOPT_HOST, root.basis));
                host.fail_at = host.allocations + 1;
                moves++;
            }
            answer_free(&before);
            must(gpuopt_simplex_set_bounds(s, GPUOPT_HOST, 1, &j, NULL, &m.ub[j]));
        }
        host.fail_at = 0;
        answer_free(&root);
        gpuopt_simplex_destroy(s);
        mip_free(&m);
    }
    assert_true(moves > 20 || (test_few() && moves > 3));
    gpuopt_context_destroy(context);
}

static void refused(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    mip m = model_load("shah:20:1");
    gpuopt_simplex_desc desc = tableau_desc(&m);
    gpuopt_simplex_rules rules = GPUOPT_INIT(gpuopt_simplex_rules);
    gpuopt_simplex *s = NULL;
    gpuopt_simplex_info info;
    double bound = 7;
    (void)state;
    desc.algorithm = (gpuopt_simplex_algorithm)3;
    assert_int_equal(gpuopt_simplex_create(context, &desc, NULL, &s), GPUOPT_ERROR_ARGUMENT);
    assert_non_null(strstr(host.error, "algorithm = 3"));
    desc.algorithm = GPUOPT_ALGORITHM_DUAL;
    desc.rules = &rules;
    rules.dual_pricing = (gpuopt_simplex_dual_pricing)3;
    assert_int_equal(gpuopt_simplex_create(context, &desc, NULL, &s), GPUOPT_ERROR_ARGUMENT);
    assert_non_null(strstr(host.error, "desc->rules->dual_pricing = 3"));
    rules.dual_pricing = GPUOPT_DUAL_PRICING_DEVEX;
    s = simplex_create(context, &desc);
    assert_int_equal(gpuopt_simplex_set_cutoff(s, NAN), GPUOPT_ERROR_ARGUMENT);
    assert_non_null(strstr(host.error, "cutoff is NaN"));
    assert_int_equal(gpuopt_simplex_get_bound(s, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_non_null(strstr(host.error, "bound is NULL"));
    memset(&info, 0, sizeof info);
    assert_int_equal(gpuopt_simplex_verify_basis(s, &info), GPUOPT_ERROR_ARGUMENT);
    assert_non_null(strstr(host.error, "struct_size"));
    assert_int_equal(gpuopt_simplex_set_cutoff(NULL, 0), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_get_bound(NULL, &bound), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_verify_basis(NULL, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_true(bound == 7);
    must(gpuopt_simplex_verify_basis(s, NULL));
    gpuopt_simplex_destroy(s);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(auto_chooses),
    cmocka_unit_test(mixed_with_the_parts),
    cmocka_unit_test(without_memory),
    cmocka_unit_test(refused),
};

TEST_MAIN(tests)
