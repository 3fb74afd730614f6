/* SPDX-License-Identifier: MIT
 *
 * A handle with rows and columns that are added and removed. After each change of a random sequence the inverse matches
 * the new basis. The verdict is compared with the simplex method in exact rationals on the changed model, or with CLP's
 * on larger models, and proofs hold. A new row leaves a dual feasible basis dual feasible, a new column a primal
 * feasible one primal feasible.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/changes.h"
#include "tests/simplex/children.h"
#include "tests/simplex/clp.h"
#include "tests/simplex/dual_ways.h"
#include "tests/simplex/growing.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

static void small_against_rationals(void **state) {
    enum { MOST = 9 };
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 71;
    int model, step, verdicts = 0;
    (void)state;
    for (model = 0; model < test_times(500, 120); model++) {
        const int32_t rows = (int32_t)test_random_int(&seed, 0, 6), cols = (int32_t)test_random_int(&seed, 0, 6);
        mip m = changes_model(&seed, rows, cols);
        growing g = growing_of(&m);
        gpuopt_spare spare;
        gpuopt_simplex_desc desc = growing_desc(&m, MOST, &spare);
        gpuopt_simplex_rules rules;
        gpuopt_simplex *s;
        if (model & 1) variant_set(&desc, model / 2 % VARIANTS);
        else dual_set(&desc, model / 2 % DUAL_WAYS);
        rules = rules_of(&desc);
        desc.rules = &rules;
        rules.scaling = (gpuopt_switch)test_random_int(&seed, 0, 2);
        rules.perturbation = (gpuopt_switch)test_random_int(&seed, 0, 2);
        s = simplex_create(context, &desc);
        mip_free(&m);
        for (step = 0; step < 14; step++) {
            const char *fault = NULL;
            int64_t few = test_random_int(&seed, 0, 3);
            if (few) simplex_iterate(s, few); /* the change may happen during a solve */
            growing_change(&seed, s, &g, MOST);
            if (few == 1) growing_change(&seed, s, &g, MOST);
            if (!(growing_inverse_error(s, &g) <= 1e-6)) fault = "the inverse is another basis's";
            if (few == 2) simplex_info(s); /* which rebuilds */
            simplex_iterate(s, 100000);
            m = growing_mip(&g);
            if (!fault) fault = changes_fault(s, &m, &verdicts);
            if (fault)
                fail_msg("model %d, step %d, %s, %s: %s", model, step, variant_name(&desc), dual_name(&desc), fault);
            mip_free(&m);
        }
        gpuopt_simplex_destroy(s);
    }
    if (!test_few()) assert_int_equal(verdicts, 1 << GPUOPT_OPTIMAL | 1 << GPUOPT_INFEASIBLE | 1 << GPUOPT_UNBOUNDED);
    gpuopt_context_destroy(context);
}

/* The optimum of the model by CLP, which must find one. */
static double clp_objective(const growing *g) {
    mip m = growing_mip(g);
    double objective;
    assert_int_equal(clp_solve(&m, &objective), GPUOPT_OPTIMAL);
    mip_free(&m);
    return objective;
}

static void is_optimal(const gpuopt_simplex_info *info, double objective) {
    assert_int_equal(info->outcome, GPUOPT_OPTIMAL);
    assert_true(fabs(info->objective - objective) <= 1e-7 * fmax(1, fabs(objective)));
}

/* Random rows that cut off the optimum are added, and rows that no longer bind are removed; against CLP. The basis
 * stays dual feasible: it proves the same bound as before. The dual method alone repairs it, without another
 * inverse. */
static void cuts_against_clp(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 19;
    int way, round;
    (void)state;
    for (way = 0; way < DUAL_WAYS; way += test_few() || test_on("cuda") ? 5 : 1) {
        mip m = model_load("meyer:12:30:0.3:1");
        growing g = growing_of(&m);
        gpuopt_spare spare;
        gpuopt_simplex_desc desc = growing_desc(&m, ROOM, &spare);
        gpuopt_simplex_info info;
        gpuopt_simplex *s;
        dual_set(&desc, way);
        s = simplex_create(context, &desc);
        mip_free(&m);
        info = simplex_iterate(s, 100000);
        assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
        for (round = 0; round < 12; round++) {
            double x[ROOM], activity[ROOM], bound, before, objective, at = 0;
            int64_t dual = info.dual_iterations, all = info.iterations, refactorizations = info.refactorizations;
            int32_t k, j, list[ROOM], count = 0;
            growing_lines l;
            must(gpuopt_simplex_get_bound(s, &before));
            must(gpuopt_simplex_get_solution(
                s, GPUOPT_HOST, &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = x}));
            k = g.rows++;
            for (j = 0; j < g.cols; j++) {
                g.a[k][j] = (double)test_random_int(&seed, 0, 5);
                at += g.a[k][j] * x[j];
            }
            g.lhs[k] = -INFINITY;
            g.rhs[k] = 0.9 * at;
            must(gpuopt_simplex_add_rows(s, growing_matrix(&l, &g, 1, k, GPUOPT_LAYOUT_CSR), NULL, g.rhs + k));
            must(gpuopt_simplex_get_bound(s, &bound));
            assert_true(fabs(bound - before) <= 1e-6 * fmax(1, fabs(before)));
            info = simplex_iterate(s, 100000);
            objective = clp_objective(&g);
            is_optimal(&info, objective);
            assert_true(info.dual_iterations > dual && info.dual_iterations - dual == info.iterations - all);
            assert_int_equal(info.refactorizations, refactorizations);
            if (round % 4 != 3) continue;
            must(gpuopt_simplex_get_solution(
                s, GPUOPT_HOST,
                &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .activity = activity}));
            for (k = g.rows - 1; k >= 12; k--) /* cuts that do not bind */
                if (activity[k] < g.rhs[k] - 1e-6) list[count++] = k;
            must(gpuopt_simplex_remove_rows(s, count, list));
            for (k = 0; k < count; k++) growing_take_out(&g, 1, list[k]);
            all = info.iterations;
            info = simplex_iterate(s, 100000);
            is_optimal(&info, objective);
            assert_int_equal(info.iterations, all); /* still optimal */
            assert_int_equal(info.refactorizations, refactorizations);
        }
        gpuopt_simplex_destroy(s);
    }
    gpuopt_context_destroy(context);
}

/* Columns with the best reduced costs of a pool are added, and unused columns removed. The basis stays primal feasible,
 * and no inverse is recomputed. */
static void columns_against_clp(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 23;
    int way, round;
    (void)state;
    for (way = 0; way < 12; way += test_few() || test_on("cuda") ? 5 : 1) {
        mip m = model_load("meyer:12:20:0.3:1");
        growing g = growing_of(&m);
        gpuopt_spare spare;
        gpuopt_simplex_desc desc = growing_desc(&m, ROOM, &spare);
        gpuopt_simplex_info info;
        gpuopt_simplex *s;
        variant_set(&desc, 3 * way);
        s = simplex_create(context, &desc);
        mip_free(&m);
        info = simplex_iterate(s, 100000);
        assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
        for (round = 0; round < 14; round++) {
            double dual[ROOM], reduced = 0, objective, before = info.objective;
            const double sign = g.maximize ? -1 : 1;
            int64_t refactorizations, iterations;
            int32_t i, j, k = g.cols, list[ROOM], count = 0;
            uint8_t basis[2 * ROOM];
            growing_lines l;
            must(gpuopt_simplex_get_solution(
                s, GPUOPT_HOST,
                &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .dual = dual}));
            for (i = 0; i < g.rows; i++) {
                g.a[i][k] = (double)test_random_int(&seed, 0, 5);
                reduced += g.a[i][k] * dual[i];
            }
            g.cost[k] = reduced - sign * 5;
            g.lb[k] = 0;
            g.ub[k] = round % 3 ? INFINITY : 2;
            g.cols++;
            must(gpuopt_simplex_add_cols(s, growing_matrix(&l, &g, 0, k, GPUOPT_LAYOUT_CSC), g.cost + k, NULL,
                                         g.ub + k));
            info = simplex_info(s);
            assert_true(info.outcome == GPUOPT_MORE && info.phase == 2 && info.primal_violation <= 1e-7);
            assert_true(fabs(info.objective - before) <= 1e-9 * fmax(1, fabs(before)));
            info = simplex_iterate(s, 100000);
            objective = clp_objective(&g);
            is_optimal(&info, objective);
            if (round % 4 != 3) continue;
            refactorizations = info.refactorizations;
            must(gpuopt_simplex_get_basis(s, GPUOPT_HOST, basis));
            for (j = g.cols - 1; j >= 0; j--)
                if (basis[j] == GPUOPT_VARIABLE_AT_LOWER && g.lb[j] == 0 && count < 5) list[count++] = j;
            must(gpuopt_simplex_remove_cols(s, count, list));
            for (j = 0; j < count; j++) growing_take_out(&g, 0, list[j]);
            iterations = info.iterations;
            info = simplex_iterate(s, 100000);
            is_optimal(&info, objective);
            assert_int_equal(info.iterations, iterations);
            assert_int_equal(info.refactorizations, refactorizations);
        }
        gpuopt_simplex_destroy(s);
    }
    gpuopt_context_destroy(context);
}

/* A batch over a handle that grows afterwards has children of the new model, by the simplex method in exact rationals.
 * On the GPU an unbounded child is IMPRECISE. */
static void batches_go_on(void **state) {
    enum { EACH = 10 };
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 3;
    int method, round, verdicts = 0;
    (void)state;
    for (method = 0; method < 2; method++) {
        mip m = model_load("meyer:12:30:0.3:1");
        growing g = growing_of(&m);
        gpuopt_spare spare;
        gpuopt_simplex_desc desc = growing_desc(&m, ROOM, &spare);
        gpuopt_simplex_children_desc batch_of = GPUOPT_INIT(gpuopt_simplex_children_desc);
        gpuopt_simplex *s;
        gpuopt_simplex_children *batch;
        desc.method = method ? GPUOPT_METHOD_REVISED : GPUOPT_METHOD_TABLEAU;
        desc.algorithm = GPUOPT_ALGORITHM_AUTO;
        s = simplex_create(context, &desc);
        mip_free(&m);
        batch_of.batch_size = EACH;
        batch_of.changes = 9 * EACH;
        batch_of.with_basis = batch_of.with_x = batch_of.with_farkas = 1;
        if (test_on("cuda") && desc.method == GPUOPT_METHOD_TABLEAU) {
            assert_int_equal(gpuopt_simplex_children_create(s, &batch_of, NULL, &batch), GPUOPT_ERROR_UNSUPPORTED);
            gpuopt_simplex_destroy(s);
            continue;
        }
        must(gpuopt_simplex_children_create(s, &batch_of, NULL, &batch));
        for (round = 0; round < 12; round++) {
            children *all;
            children_report *report;
            int32_t child;
            m = growing_mip(&g);
            all = children_draw(&seed, &m, EACH, 1 + round % 7);
            report = children_report_new(&m, EACH);
            if (round % 4 != 3) simplex_iterate(s, 100000);
            must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100000, &report->r));
            for (child = 0; child < EACH; child++) {
                const char *fault = children_fault(&m, all, report, child, &verdicts);
                const int outcome = report->outcome[child];
                if (!fault && outcome != GPUOPT_OPTIMAL && outcome != GPUOPT_INFEASIBLE &&
                    outcome != GPUOPT_UNBOUNDED && !(test_on("cuda") && outcome == GPUOPT_IMPRECISE))
                    fault = "no verdict";
                if (fault) fail_msg("method %d, round %d, child %d: %s", method, round, (int)child, fault);
            }
            children_report_free(report);
            free(all);
            mip_free(&m);
            if (round % 3 == 2) growing_remove(&seed, s, &g, round / 3 & 1, 3);
            else growing_add(&seed, s, &g, round % 3, 1 + round % 2);
        }
        gpuopt_simplex_children_destroy(batch);
        gpuopt_simplex_destroy(s);
    }
    assert_true(verdicts & 1 << GPUOPT_OPTIMAL && verdicts & 1 << GPUOPT_INFEASIBLE);
    gpuopt_context_destroy(context);
}

/* Down to nothing, and up again from nothing. */
static void from_nothing(void **state) {
    gpuopt_context *context = test_context(NULL);
    int method, round, verdicts = 0;
    uint64_t seed = 2;
    (void)state;
    for (method = 0; method < 2; method++) {
        growing g;
        mip m;
        gpuopt_simplex_desc desc;
        gpuopt_spare spare;
        gpuopt_simplex *s;
        memset(&g, 0, sizeof g);
        m = growing_mip(&g);
        desc = growing_desc(&m, 8, &spare);
        desc.method = method ? GPUOPT_METHOD_REVISED : GPUOPT_METHOD_TABLEAU;
        s = simplex_create(context, &desc);
        mip_free(&m);
        for (round = 0; round < 20; round++) {
            const char *fault;
            growing_add(&seed, s, &g, 1, round % 5);
            growing_add(&seed, s, &g, 0, (round + 2) % 5);
            simplex_iterate(s, 1000);
            m = growing_mip(&g);
            fault = changes_fault(s, &m, &verdicts);
            if (fault) fail_msg("method %d, round %d: %s", method, round, fault);
            mip_free(&m);
            growing_remove(&seed, s, &g, round & 1, round & 1 ? g.rows : g.cols);
            growing_remove(&seed, s, &g, !(round & 1), round & 1 ? g.cols : g.rows);
            assert_int_equal(simplex_iterate(s, 1000).outcome, GPUOPT_OPTIMAL);
        }
        gpuopt_simplex_destroy(s);
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(small_against_rationals),
    cmocka_unit_test(cuts_against_clp),
    cmocka_unit_test(columns_against_clp),
    cmocka_unit_test(batches_go_on),
    cmocka_unit_test(from_nothing),
};
TEST_MAIN(tests)
