/* SPDX-License-Identifier: MIT
 *
 * Bases in and out: round trips, warm starts of the same and of a changed model, singular bases.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/answer.h"

static const char *const models[] = {"shah:60:1", "plant:40:80:0.2:2", "meyer:30:150:0.1:1", "plant:50:30:0.3:7"};
enum { MODELS = sizeof models / sizeof *models };

static size_t both(const mip *m) { return (size_t)m->columns.rows + (size_t)m->columns.cols; }

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

/* A basis that was set is read back unchanged, during a solve and at its end; and another handle continues from it. */
static void round_trips(void **state) {
    gpuopt_context *context = test_context(NULL);
    int k, way, after;
    (void)state;
    for (k = 0; k < MODELS; k++)
        for (way = 0; way < 6; way += test_few() ? 5 : 1) {
            mip m = model_load(models[k]);
            gpuopt_simplex_desc desc = tableau_desc(&m);
            gpuopt_simplex *one, *other;
            uint8_t *basis = malloc(both(&m)), *same = malloc(both(&m));
            variant_set(&desc, way);
            one = simplex_create(context, &desc);
            other = simplex_create(context, &desc);
            for (after = 1; after < 60; after = 3 * after + 2) {
                simplex_iterate(one, after);
                must(gpuopt_simplex_get_basis(one, GPUOPT_HOST, basis));
                must(gpuopt_simplex_set_basis(other, GPUOPT_HOST, basis));
                must(gpuopt_simplex_get_basis(other, GPUOPT_HOST, same));
                assert_memory_equal(basis, same, both(&m));
                must(gpuopt_simplex_rebuild(one, 1, NULL)); /* the perturbation out, as in the other */
                assert_true(fabs(simplex_info(one).objective - simplex_info(other).objective) <=
                            1e-9 * fmax(1, fabs(simplex_info(one).objective)));
            }
            assert_int_equal(simplex_iterate(one, 100000).outcome, GPUOPT_OPTIMAL);
            assert_int_equal(simplex_iterate(other, 100000).outcome, GPUOPT_OPTIMAL);
            assert_true(fabs(simplex_info(one).objective - simplex_info(other).objective) <=
                        1e-9 * fmax(1, fabs(simplex_info(one).objective)));
            gpuopt_simplex_destroy(one);
            gpuopt_simplex_destroy(other);
            free(basis);
            free(same);
            mip_free(&m);
        }
    gpuopt_context_destroy(context);
}

/* From an optimal basis no iteration is needed, with the perturbation or without, whatever its origin. */
static void warm_start_at_the_optimum(void **state) {
    gpuopt_context *context = test_context(NULL);
    int k, way;
    (void)state;
    for (k = 0; k < MODELS; k++)
        for (way = 0; way < 12; way += test_few() ? 5 : 1) {
            const int by_dual = (k + way) / 3 % 2;
            mip m = model_load(models[k]);
            gpuopt_simplex_desc desc = tableau_desc(&m), finder;
            gpuopt_simplex_rules rules;
            gpuopt_simplex *warm;
            gpuopt_simplex_info info;
            answer cold;
            const char *fault;
            variant_set(&desc, way % 6);
            rules = rules_of(&desc);
            desc.rules = &rules;
            if (way >= 6) rules.perturbation = GPUOPT_OFF;
            finder = desc;
            if (by_dual) finder.algorithm = GPUOPT_ALGORITHM_DUAL;
            cold = answer_after(context, &finder, &m, 100000);
            desc.algorithm = (gpuopt_simplex_algorithm)((k + way + 1) % 3);
            warm = simplex_create(context, &desc);
            must(gpuopt_simplex_set_basis(warm, GPUOPT_HOST, cold.basis));
            info = simplex_iterate(warm, 1);
            if (info.outcome != GPUOPT_OPTIMAL || info.iterations != 0)
                fail_msg("%s, %s, algorithm %d, by the dual method %d: %s, %lld iterations", models[k],
                         variant_name(&desc), (int)desc.algorithm, by_dual, gpuopt_outcome_string(info.outcome),
                         (long long)info.iterations);
            answer_free(&cold);
            cold = answer_get(warm, &m);
            fault = answer_fault(&m, &cold, 1e-9);
            if (fault) fail_msg("%s, %s: %s", models[k], variant_name(&desc), fault);
            answer_free(&cold);
            gpuopt_simplex_destroy(warm);
            mip_free(&m);
        }
    gpuopt_context_destroy(context);
}

/* A caller that branches: a bound moves, a new handle is made, and starting from the last basis takes fewer iterations
 * in total than starting from the slack basis. */
static void warm_start_of_a_changed_model(void **state) {
    gpuopt_context *context = test_context(NULL);
    int k, step, verdicts = 0;
    int64_t warm_iterations = 0, cold_iterations = 0;
    (void)state;
    for (k = 0; k < MODELS; k++) {
        mip m = model_load(models[k]);
        gpuopt_simplex_desc desc = tableau_desc(&m);
        answer last = answer_after(context, &desc, &m, 100000);
        for (step = 0; step < (test_few() ? 4 : 8); step++) {
            gpuopt_simplex *warm;
            answer cold, next;
            const char *fault;
            int32_t j = (7 * step + 3) % m.columns.cols;
            while (last.basis[j] != GPUOPT_VARIABLE_BASIC) j = (j + 1) % m.columns.cols;
            m.ub[j] = 0.7 * last.x[j];
            cold = answer_after(context, &desc, &m, 100000);
            warm = simplex_create(context, &desc);
            must(gpuopt_simplex_set_basis(warm, GPUOPT_HOST, last.basis));
            simplex_iterate(warm, 100000);
            next = answer_get(warm, &m);
            fault = answer_fault(&m, &next, 1e-9);
            if (fault) fail_msg("%s, step %d: %s", models[k], step, fault);
            assert_int_equal(next.info.outcome, cold.info.outcome);
            if (next.info.outcome == GPUOPT_OPTIMAL)
                assert_true(fabs(next.info.objective - cold.info.objective) <=
                            1e-9 * fmax(1, fabs(cold.info.objective)));
            verdicts |= 1 << next.info.outcome;
            warm_iterations += next.info.iterations;
            cold_iterations += cold.info.iterations;
            gpuopt_simplex_destroy(warm);
            answer_free(&cold);
            answer_free(&last);
            last = next;
            if (last.info.outcome != GPUOPT_OPTIMAL) break;
        }
        answer_free(&last);
        mip_free(&m);
    }
    print_message("%lld iterations warm, %lld cold\n", (long long)warm_iterations, (long long)cold_iterations);
    assert_true(warm_iterations < cold_iterations);
    assert_int_equal(verdicts, 1 << GPUOPT_OPTIMAL | 1 << GPUOPT_INFEASIBLE);
    gpuopt_context_destroy(context);
}

/* Columns 0 and 1 are multiples, column 2 is empty; the basis with both, or with column 2, is singular. */
static void singular_bases(void **state) {
    static const double a[] = {1, 2, 0, 1, 3, 6, 0, 1, 0, 0, 0, 1}, cost[] = {-1, -1, 0, -1}, rhs[] = {4, 9, 3};
    static const uint8_t bad[][7] = {{0, 0, 1, 1, 1, 2, 0}, {1, 1, 0, 1, 0, 2, 0}, {0, 0, 0, 1, 1, 1, 1}};
    static const uint8_t good[7] = {0, 1, 1, 0, 2, 2, 0};
    test_host host;
    gpuopt_context *context = test_context(&host);
    mip m = model_of(3, 4, a, cost, NULL, rhs, NULL, NULL);
    int variant, k;
    (void)state;
    for (variant = 0; variant < VARIANTS; variant++) {
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex *simplex;
        variant_set(&desc, variant);
        simplex = simplex_create(context, &desc);
        must(gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, good));
        for (k = 0; k < 3; k++) {
            uint8_t kept[7];
            answer before = answer_get(simplex, &m), after;
            host.error[0] = 0;
            assert_int_equal(gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, bad[k]), GPUOPT_ERROR_NUMERIC);
            assert_non_null(strstr(host.error, "singular: column"));
            assert_non_null(strstr(host.error, k == 1 ? "column 2" : "column"));
            must(gpuopt_simplex_get_basis(simplex, GPUOPT_HOST, kept));
            assert_memory_equal(kept, good, sizeof kept);
            after = answer_get(simplex, &m);
            assert_memory_equal(before.x, after.x, sizeof(double) * 4);
            assert_memory_equal(before.dual, after.dual, sizeof(double) * 3);
            answer_free(&before);
            answer_free(&after);
        }
        assert_int_equal(simplex_iterate(simplex, 100).outcome, GPUOPT_OPTIMAL);
        assert_true(fabs(simplex_info(simplex).objective + 4) < 1e-12); /* columns 0 and 3 in row 0: x = (1, 0, 0, 3) */
        assert_int_equal(gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, bad[0]), GPUOPT_ERROR_NUMERIC);
        assert_int_equal(simplex_info(simplex).outcome, GPUOPT_OPTIMAL); /* the verdict stands */
        gpuopt_simplex_destroy(simplex);
    }
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* From one basis to others that differ in few variables: the solution equals a handle's that has loaded them. On the
 * CPU pivots lead there, without another inversion; singular bases are refused as usual. */
static void walks_between_bases(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed = 11;
    int k, step, refused = 0, moved = 0;
    (void)state;
    for (k = 0; k < 2 * MODELS; k++) {
        mip m = model_load(models[k % MODELS]);
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex *walker, *loader;
        uint8_t *basis = malloc(both(&m));
        int32_t rows = m.columns.rows, cols = m.columns.cols;
        double *x[2], *dual[2];
        int way;
        desc.method = k / MODELS ? GPUOPT_METHOD_REVISED : GPUOPT_METHOD_TABLEAU;
        walker = simplex_create(context, &desc);
        simplex_iterate(walker, 100000);
        for (way = 0; way < 2; way++) {
            x[way] = malloc(sizeof(double) * (size_t)cols);
            dual[way] = malloc(sizeof(double) * (size_t)rows);
        }
        for (step = 0; step < test_times(40, 4); step++) {
            int64_t before = simplex_info(walker).refactorizations;
            int change, changes = (int)test_random_int(&seed, 0, 3);
            gpuopt_status status;
            double largest = 0;
            int32_t j;
            must(gpuopt_simplex_get_basis(walker, GPUOPT_HOST, basis));
            for (change = 0; change < changes; change++) {
                int32_t in, out;
                do in = (int32_t)test_random_int(&seed, 0, rows + cols - 1);
                while (basis[in] == GPUOPT_VARIABLE_BASIC);
                do out = (int32_t)test_random_int(&seed, 0, rows + cols - 1);
                while (basis[out] != GPUOPT_VARIABLE_BASIC);
                basis[in] = GPUOPT_VARIABLE_BASIC;
                basis[out] = test_random_int(&seed, 0, 1) ? GPUOPT_VARIABLE_AT_LOWER : GPUOPT_VARIABLE_AT_UPPER;
            }
            loader = simplex_create(context, &desc);
            status = gpuopt_simplex_set_basis(loader, GPUOPT_HOST, basis);
            assert_int_equal(gpuopt_simplex_set_basis(walker, GPUOPT_HOST, basis), status);
            if (status) {
                assert_int_equal(status, GPUOPT_ERROR_NUMERIC);
                refused++;
                gpuopt_simplex_destroy(loader);
                continue;
            }
            if (!test_on("cuda") && simplex_info(walker).refactorizations == before) moved += changes > 0;
            must(gpuopt_simplex_get_solution(walker, GPUOPT_HOST,
                                             &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution),
                                                                        .x = x[0],
                                                                        .dual = dual[0]}));
            must(gpuopt_simplex_get_solution(loader, GPUOPT_HOST,
                                             &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution),
                                                                        .x = x[1],
                                                                        .dual = dual[1]}));
            for (j = 0; j < cols; j++) largest = fmax(largest, fabs(x[1][j]));
            for (j = 0; j < cols; j++)
                if (fabs(x[0][j] - x[1][j]) > 1e-9 * (1 + largest))
                    fail_msg("%s: %g, not %g", models[k % MODELS], x[0][j], x[1][j]);
            for (j = 0, largest = 0; j < rows; j++) largest = fmax(largest, fabs(dual[1][j]));
            for (j = 0; j < rows; j++) assert_true(fabs(dual[0][j] - dual[1][j]) <= 1e-9 * (1 + largest));
            gpuopt_simplex_destroy(loader);
        }
        assert_int_equal(simplex_iterate(walker, 100000).outcome, GPUOPT_OPTIMAL);
        gpuopt_simplex_destroy(walker);
        for (way = 0; way < 2; way++) {
            free(x[way]);
            free(dual[way]);
        }
        free(basis);
        mip_free(&m);
    }
    print_message("%d moves by pivots, %d bases refused\n", moved, refused);
    if (!test_on("cuda") && !test_few()) assert_true(moved > 50);
    gpuopt_context_destroy(context);
}

/* A status without a finite bound is replaced by the other one, or by 0. */
static void statuses_give_way(void **state) {
    static const double lb[] = {-INFINITY, -INFINITY, 1}, ub[] = {5, INFINITY, INFINITY};
    static const double a[] = {1, 1, 1};
    static const uint8_t set[4] = {GPUOPT_VARIABLE_AT_LOWER, GPUOPT_VARIABLE_AT_UPPER, GPUOPT_VARIABLE_AT_ZERO,
                                   GPUOPT_VARIABLE_BASIC};
    gpuopt_context *context = test_context(NULL);
    double rhs = 100;
    mip m = model_of(1, 3, a, NULL, NULL, &rhs, lb, ub);
    gpuopt_simplex_desc desc = tableau_desc(&m);
    gpuopt_simplex *simplex = simplex_create(context, &desc);
    double x[3];
    uint8_t got[4];
    (void)state;
    must(gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, set));
    must(gpuopt_simplex_get_solution(
        simplex, GPUOPT_HOST, &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = x}));
    must(gpuopt_simplex_get_basis(simplex, GPUOPT_HOST, got));
    assert_true(x[0] == 5 && x[1] == 0 && x[2] == 1);
    assert_true(got[0] == GPUOPT_VARIABLE_AT_UPPER && got[1] == GPUOPT_VARIABLE_AT_ZERO &&
                got[2] == GPUOPT_VARIABLE_AT_LOWER);
    assert_int_equal(simplex_iterate(simplex, 9).outcome, GPUOPT_OPTIMAL);
    gpuopt_simplex_destroy(simplex);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* AT_ZERO of a variable that is not free is AT_LOWER, for a row's activity, too. */
static void at_zero_is_at_lower(void **state) {
    static const double a[] = {1, 1}, lb[] = {0, 2}, ub[] = {10, 5}, lhs[] = {3}, rhs[] = {7};
    static const uint8_t set[] = {GPUOPT_VARIABLE_BASIC, GPUOPT_VARIABLE_AT_ZERO, GPUOPT_VARIABLE_AT_ZERO};
    static const uint8_t expected[] = {GPUOPT_VARIABLE_BASIC, GPUOPT_VARIABLE_AT_LOWER, GPUOPT_VARIABLE_AT_LOWER};
    gpuopt_context *context = test_context(NULL);
    mip m = model_of(1, 2, a, NULL, lhs, rhs, lb, ub);
    gpuopt_simplex_desc desc = tableau_desc(&m);
    gpuopt_simplex *simplex = simplex_create(context, &desc);
    double x[2], activity;
    uint8_t got[3];
    (void)state;
    must(gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, set));
    must(gpuopt_simplex_get_basis(simplex, GPUOPT_HOST, got));
    assert_memory_equal(got, expected, sizeof got);
    must(gpuopt_simplex_get_solution(
        simplex, GPUOPT_HOST,
        &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = x, .activity = &activity}));
    assert_true(activity == 3 && x[0] == 1 && x[1] == 2);
    gpuopt_simplex_destroy(simplex);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(round_trips),
    cmocka_unit_test(warm_start_at_the_optimum),
    cmocka_unit_test(warm_start_of_a_changed_model),
    cmocka_unit_test(singular_bases),
    cmocka_unit_test(walks_between_bases),
    cmocka_unit_test(statuses_give_way),
    cmocka_unit_test(at_zero_is_at_lower),
};
TEST_MAIN(tests)
