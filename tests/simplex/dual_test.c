/* SPDX-License-Identifier: MIT
 *
 * The dual simplex method: verdicts, objectives and proofs against exact rationals on random models that change, the
 * verdict on unchanged bases, degenerate models, children of one basis against CLP.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/simplex/changes.h"
#include "tests/simplex/circle.h"
#include "tests/simplex/clp.h"
#include "tests/simplex/dual_ways.h"
#include "tests/simplex/exact.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

static void small_against_rationals(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 77;
    int model, step, verdicts = 0;
    int64_t dual_iterations = 0, iterations = 0;
    (void)state;
    for (model = 0; model < test_times(600, 300); model++) {
        mip m = changes_model(&seed, (int32_t)test_random_int(&seed, 1, 8), (int32_t)test_random_int(&seed, 1, 8));
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex_rules rules;
        gpuopt_simplex *simplex;
        gpuopt_simplex_info info;
        dual_set(&desc, model % DUAL_WAYS);
        rules = rules_of(&desc);
        desc.rules = &rules;
        rules.scaling = (gpuopt_switch)test_random_int(&seed, 0, 2);
        rules.perturbation = (gpuopt_switch)test_random_int(&seed, 0, 2);
        rules.rebuild_pivots = (int32_t)test_random_int(&seed, 0, 3);
        simplex = simplex_create(context, &desc);
        for (step = 0; step < 12; step++) {
            int64_t few = test_random_int(&seed, 0, 3);
            const char *fault;
            if (few) simplex_iterate(simplex, few);
            if (few == 3) must(gpuopt_simplex_rebuild(simplex, (int)test_random_int(&seed, 0, 1), NULL));
            changes_make(&seed, simplex, &m);
            if (few == 2) simplex_info(simplex);
            simplex_iterate(simplex, 100000);
            fault = changes_fault(simplex, &m, &verdicts);
            if (fault) fail_msg("model %d, step %d, %s: %s", model, step, dual_name(&desc), fault);
        }
        info = simplex_info(simplex);
        iterations += info.iterations;
        dual_iterations += info.dual_iterations;
        gpuopt_simplex_destroy(simplex);
        mip_free(&m);
    }
    print_message("%lld of %lld iterations are the dual method's\n", (long long)dual_iterations, (long long)iterations);
    assert_true(4 * dual_iterations > iterations);
    assert_int_equal(verdicts, 1 << GPUOPT_OPTIMAL | 1 << GPUOPT_INFEASIBLE | 1 << GPUOPT_UNBOUNDED);
    gpuopt_context_destroy(context);
}

/* ---- Starts that are not dual feasible ---- */

/* The fault of a basis and its point between two calls; NULL: none. The artificial box must not be visible. */
static const char *box_shows(gpuopt_simplex *simplex, const mip *m) {
    const int32_t cols = m->columns.cols, rows = m->columns.rows;
    uint8_t basis[16];
    double x[8], activity[8];
    int32_t j, basic = 0;
    must(gpuopt_simplex_get_basis(simplex, GPUOPT_HOST, basis));
    must(gpuopt_simplex_get_solution(
        simplex, GPUOPT_HOST,
        &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = x, .activity = activity}));
    for (j = 0; j < cols + rows; j++) {
        const double l = j < cols ? m->lb[j] : m->lhs[j - cols], u = j < cols ? m->ub[j] : m->rhs[j - cols];
        const double value = j < cols ? x[j] : activity[j - cols];
        const double at = basis[j] == GPUOPT_VARIABLE_AT_LOWER ? l : basis[j] == GPUOPT_VARIABLE_AT_UPPER ? u : 0;
        basic += basis[j] == GPUOPT_VARIABLE_BASIC;
        if (basis[j] == GPUOPT_VARIABLE_BASIC) continue;
        if (isinf(at)) return "at an infinite bound";
        if (fabs(value - at) > 1e-9 * fmax(1, fabs(at))) return "a nonbasic variable is not at its bound";
    }
    return basic == rows ? NULL : "another number of basic variables";
}

/* From the slack basis of models with free and one-sided columns, iteration by iteration; against rationals. Most
 * iterations are the dual method's. */
static void phase_one_in_steps(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 41;
    int model, verdicts = 0;
    int64_t dual_iterations = 0, iterations = 0;
    (void)state;
    for (model = 0; model < test_times(400, 400); model++) {
        mip m = changes_model(&seed, (int32_t)test_random_int(&seed, 2, 8), (int32_t)test_random_int(&seed, 2, 8));
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
        gpuopt_simplex *simplex;
        const char *fault = NULL;
        int32_t j;
        for (j = 0; j < m.columns.cols; j++) { /* more infinite bounds than changes_model draws */
            if (test_random_int(&seed, 0, 1)) m.ub[j] = INFINITY;
            if (test_random_int(&seed, 0, 3) == 0) m.lb[j] = -INFINITY;
        }
        dual_set(&desc, model % DUAL_WAYS);
        desc.algorithm = GPUOPT_ALGORITHM_DUAL;
        simplex = simplex_create(context, &desc);
        for (j = 0; j < 300 && info.outcome == GPUOPT_MORE && !fault; j++) {
            info = simplex_iterate(simplex, 1 + model % 3);
            if (info.crossing < 0) fault = box_shows(simplex, &m);
        }
        if (!fault) fault = changes_fault(simplex, &m, &verdicts);
        if (fault) fail_msg("model %d, %s: %s", model, dual_name(&desc), fault);
        iterations += info.iterations;
        dual_iterations += info.dual_iterations;
        gpuopt_simplex_destroy(simplex);
        mip_free(&m);
    }
    print_message("%lld of %lld iterations are the dual method's\n", (long long)dual_iterations, (long long)iterations);
    assert_true(dual_iterations > 0.95 * (double)iterations);
    assert_int_equal(verdicts, 1 << GPUOPT_OPTIMAL | 1 << GPUOPT_INFEASIBLE | 1 << GPUOPT_UNBOUNDED);
    gpuopt_context_destroy(context);
}

/* ---- The verdict on a basis as it is ---- */

static void certified_bases(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 21;
    int model, verdicts[2] = {0, 0}, missed = 0, total = 0;
    (void)state;
    for (model = 0; model < test_times(600, 300); model++) {
        mip m = changes_model(&seed, (int32_t)test_random_int(&seed, 1, 8), (int32_t)test_random_int(&seed, 1, 8));
        gpuopt_simplex_desc desc = tableau_desc(&m);
        exact_answer e = exact_solve(&m, NULL);
        gpuopt_simplex *other;
        int end;
        variant_set(&desc, model % VARIANTS);
        for (end = 0; end < 2; end++) {
            answer last = answer_after(context, &desc, &m, end ? 100000 : 1 + model % 4), found;
            gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
            const char *fault = NULL;
            other = simplex_create(context, &desc);
            must(gpuopt_simplex_set_basis(other, GPUOPT_HOST, last.basis));
            must(gpuopt_simplex_verify_basis(other, &info));
            assert_true(info.iterations == 0);
            verdicts[end] |= 1 << info.outcome;
            total += end;
            missed += end && info.outcome != last.info.outcome;
            if (info.outcome != GPUOPT_MORE && info.outcome != e.outcome) fault = "another verdict than in rationals";
            found = answer_get(other, &m);
            if (!fault && info.outcome != GPUOPT_MORE) fault = answer_fault(&m, &found, 1e-9);
            if (!fault && memcmp(found.basis, last.basis, (size_t)m.columns.rows + (size_t)m.columns.cols) && end)
                fault = "another basis";
            if (!fault && info.outcome == GPUOPT_INFEASIBLE) {
                double low[16] = {0};
                must(gpuopt_simplex_get_proof(
                    other, GPUOPT_HOST,
                    &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .farkas_low = low}));
                if (!(exact_farkas_margin(&m, found.farkas, low, 1e24) > 0)) fault = "no proof in rationals";
            }
            if (!fault && simplex_iterate(other, 100000).outcome != e.outcome) fault = "another verdict afterwards";
            if (fault) fail_msg("model %d, end %d, %s: %s", model, end, variant_name(&desc), fault);
            answer_free(&last);
            answer_free(&found);
            gpuopt_simplex_destroy(other);
        }
        mip_free(&m);
    }
    print_message("%d of %d last bases are not certified\n", missed, total);
    assert_int_equal(verdicts[1] & ~(1 << GPUOPT_MORE),
                     1 << GPUOPT_OPTIMAL | 1 << GPUOPT_INFEASIBLE | 1 << GPUOPT_UNBOUNDED);
    assert_true(verdicts[0] & 1 << GPUOPT_MORE);
    assert_true(20 * missed <= total);
    gpuopt_context_destroy(context);
}

/* ---- Degenerate models ---- */

/* Beale's example, on which the primal method cycles, and its dual; minus the optimum is .05. */
static void degenerate_examples(void **state) {
    static const double beale[] = {0.25, -60, -0.04, 9, 0.5, -90, -0.02, 3, 0, 0, 1, 0};
    static const double beale_t[] = {0.25, 0.5, 0, -60, -90, 0, -0.04, -0.02, 1, 9, 3, 0};
    static const double cost[] = {-0.75, 150, -0.02, 6}, rhs[] = {0, 0, 1};
    double ub[CIRCLE_COLS];
    gpuopt_context *context = test_context(NULL);
    mip m[3];
    double optimum[] = {-0.05, 0.05, circle_optimum};
    int k, way;
    (void)state;
    for (k = 0; k < CIRCLE_COLS; k++) ub[k] = CIRCLE_MOST;
    m[0] = model_of(3, 4, beale, cost, NULL, rhs, NULL, NULL);
    m[1] = model_of(4, 3, beale_t, rhs, cost, NULL, NULL, NULL); /* min b'y, A'y >= c: costs are 0, 0, 1 */
    for (k = 0; k < 4; k++) m[1].lhs[k] = -cost[k];
    m[2] = model_of(CIRCLE_ROWS, CIRCLE_COLS, circle_a, circle_cost, circle_lhs, circle_rhs, NULL, ub);
    m[2].maximize = 1;
    for (k = 0; k < 3; k++)
        for (way = 0; way < DUAL_WAYS; way += k == 2 && test_few() ? 5 : 1) {
            gpuopt_simplex_desc desc = tableau_desc(&m[k]);
            dual_set(&desc, way);
            if (k == 2) { /* its duals, rounded to doubles, are worse than the info reports */
                answer a = answer_after(context, &desc, &m[k], 100000);
                assert_int_equal(a.info.outcome, GPUOPT_OPTIMAL);
                assert_true(fabs(a.info.objective - optimum[k]) <= 1e-9 * optimum[k]);
                answer_free(&a);
            } else answer_expect(context, &desc, &m[k], dual_name(&desc), GPUOPT_OPTIMAL, optimum[k], 1e-9);
        }
    for (k = 0; k < 3; k++) mip_free(&m[k]);
    gpuopt_context_destroy(context);
}

/* An assignment problem: n^2 columns, 2 n equations, every vertex is degenerate; costs have many ties. CLP has the
 * answer. */
static void assignment(int n, uint64_t *seed, mip *m) {
    double *a = calloc((size_t)(2 * n * n * n), sizeof *a), *cost = calloc((size_t)(n * n), sizeof *cost), *one;
    int i, j;
    one = calloc((size_t)(2 * n), sizeof *one);
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) {
            a[(size_t)i * (size_t)(n * n) + (size_t)(i * n + j)] = 1;
            a[(size_t)(n + j) * (size_t)(n * n) + (size_t)(i * n + j)] = 1;
            cost[i * n + j] = (double)test_random_int(seed, 0, 5);
        }
    for (i = 0; i < 2 * n; i++) one[i] = 1;
    *m = model_of(2 * n, n * n, a, cost, one, one, NULL, NULL);
    free(a);
    free(cost);
    free(one);
}

static void degenerate_assignments(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 3;
    int k;
    (void)state;
    for (k = 0; k < DUAL_WAYS; k++) {
        double objective;
        gpuopt_simplex_desc desc;
        mip m;
        assignment(4 + k, &seed, &m);
        assert_int_equal(clp_solve(&m, &objective), GPUOPT_OPTIMAL);
        desc = tableau_desc(&m);
        dual_set(&desc, k);
        answer_expect(context, &desc, &m, dual_name(&desc), GPUOPT_OPTIMAL, objective, 1e-9);
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* ---- Children of one basis ---- */

static void children_against_clp(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 17;
    int way, verdicts = 0, j, side;
    int64_t warm = 0, fresh = 0;
    (void)state;
    for (way = 0; way < DUAL_WAYS; way += test_few() || test_on("cuda") ? 5 : 1) {
        mip m = test_few() ? changes_tree_model(&seed, 20, 30) : changes_tree_model(&seed, 60, 90);
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex *simplex;
        answer root;
        dual_set(&desc, way);
        simplex = simplex_create(context, &desc);
        simplex_iterate(simplex, 100000);
        root = answer_get(simplex, &m);
        for (j = 0; root.info.outcome == GPUOPT_OPTIMAL && j < m.columns.cols; j++)
            for (side = 0; side < 2; side++) {
                double lb = m.lb[j], ub = m.ub[j], objective, at = root.x[j];
                int64_t before = simplex_info(simplex).iterations, primal;
                gpuopt_outcome outcome;
                answer child;
                const char *fault;
                if (fabs(at - round(at)) < 1e-6) continue;
                if (side) m.lb[j] = ceil(at);
                else m.ub[j] = floor(at);
                must(gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, root.basis));
                must(gpuopt_simplex_set_bounds(simplex, GPUOPT_HOST, 1, &j, &m.lb[j], &m.ub[j]));
                simplex_iterate(simplex, 100000);
                child = answer_get(simplex, &m);
                fault = answer_fault(&m, &child, 1e-9);
                outcome = clp_solve(&m, &objective);
                verdicts |= 1 << outcome;
                if (child.info.outcome != outcome) fault = "another verdict than CLP's";
                if (!fault && outcome == GPUOPT_OPTIMAL &&
                    fabs(child.info.objective - objective) > 1e-7 * fmax(1, fabs(objective)))
                    fault = "another objective than CLP's";
                if (fault) fail_msg("%s, column %d: %s", dual_name(&desc), j, fault);
                warm += child.info.iterations - before;
                desc.algorithm = GPUOPT_ALGORITHM_PRIMAL;
                answer_free(&child);
                child = answer_after(context, &desc, &m, 100000);
                primal = child.info.iterations;
                fresh += primal;
                assert_int_equal(child.info.outcome, outcome);
                answer_free(&child);
                m.lb[j] = lb;
                m.ub[j] = ub;
                must(gpuopt_simplex_set_bounds(simplex, GPUOPT_HOST, 1, &j, &lb, &ub));
            }
        answer_free(&root);
        gpuopt_simplex_destroy(simplex);
        mip_free(&m);
    }
    print_message("%lld iterations warm, %lld by fresh primal handles\n", (long long)warm, (long long)fresh);
    assert_true(5 * warm < fresh || (test_few() && 2 * warm < fresh));
    assert_true(verdicts & 1 << GPUOPT_OPTIMAL);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(small_against_rationals), cmocka_unit_test(phase_one_in_steps),
    cmocka_unit_test(certified_bases),         cmocka_unit_test(degenerate_examples),
    cmocka_unit_test(degenerate_assignments),  cmocka_unit_test(children_against_clp),
};
TEST_MAIN(tests)
