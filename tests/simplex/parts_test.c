/* SPDX-License-Identifier: MIT
 *
 * Parts of an iteration beyond the textbook: pivots that are too small, pivots that leave the bounds, rebuilds.
 */
#include <math.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/simplex/answer.h"

static gpuopt_simplex_desc plain(const mip *model, int variant, gpuopt_simplex_rules *rules) {
    gpuopt_simplex_desc desc = tableau_desc(model);
    variant_set(&desc, variant);
    *rules = rules_of(&desc);
    rules->scaling = GPUOPT_OFF;
    rules->perturbation = GPUOPT_OFF;
    desc.rules = rules;
    return desc;
}

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

static int near(double found, double expected) { return fabs(found - expected) <= 1e-12 * (1 + fabs(expected)); }

/* A pivot of a billionth of its column, and one that is 0. */
static void unsafe_pivots_are_refused(void **state) {
    static const double a[] = {1e-9, 1, 1, 1, 0, 2}, rhs[] = {1, 5, 9}, cost[] = {-1, -1};
    test_host host;
    gpuopt_context *context = test_context(&host);
    mip m = model_of(3, 2, a, cost, NULL, rhs, NULL, NULL);
    int variant;
    (void)state;
    for (variant = 0; variant < VARIANTS; variant++) {
        gpuopt_simplex_rules rules;
        gpuopt_simplex_desc desc = plain(&m, variant, &rules);
        gpuopt_simplex *simplex = simplex_create(context, &desc);
        gpuopt_simplex_info info;
        answer before = answer_get(simplex, &m), after;
        gpuopt_desc_init(&info, sizeof info);
        info.iterations = 55;
        host.error[0] = 0;
        assert_int_equal(gpuopt_simplex_pivot(simplex, 0, 2, 1, &info), GPUOPT_ERROR_NUMERIC);
        assert_non_null(strstr(host.error, "pivot"));
        assert_int_equal(gpuopt_simplex_pivot(simplex, 0, 4, 1, &info), GPUOPT_ERROR_NUMERIC);
        assert_int_equal(info.iterations, 55);
        after = answer_get(simplex, &m);
        assert_true(answer_equal(&m, &before, &after));
        must(gpuopt_simplex_pivot(simplex, 0, 3, 1, &info)); /* this one is safe */
        assert_true(near(info.objective, -5));
        assert_int_equal(simplex_iterate(simplex, 100).outcome, GPUOPT_OPTIMAL);
        assert_true(near(simplex_info(simplex).objective, -5));
        answer_free(&before);
        answer_free(&after);
        gpuopt_simplex_destroy(simplex);
    }
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* Pivots that are large enough by themselves, beside an entry that is a hundred million times as large. */
static void pivots_small_beside_their_column_are_refused(void **state) {
    static const double a[] = {1e-3, 1, 1e5, 1}, rhs[] = {1, 1e9}, cost[] = {-1, -1};
    test_host host;
    gpuopt_context *context = test_context(&host);
    mip m = model_of(2, 2, a, cost, NULL, rhs, NULL, NULL);
    int variant;
    (void)state;
    for (variant = 0; variant < VARIANTS; variant++) {
        gpuopt_simplex_rules rules;
        gpuopt_simplex_desc desc = plain(&m, variant, &rules);
        gpuopt_simplex *simplex = simplex_create(context, &desc);
        gpuopt_simplex_leaving leaving = GPUOPT_INIT(gpuopt_simplex_leaving);
        must(gpuopt_simplex_ratio_test(simplex, 0, 1, &leaving)); /* row 0 after 1e3, row 1 after 1e4 */
        assert_true(leaving.unsafe && leaving.variable == -1 && !leaving.flip);
        assert_true(near(fabs(leaving.pivot), 1e-3) && near(leaving.step, 1e3));
        host.error[0] = 0;
        assert_int_equal(gpuopt_simplex_pivot(simplex, 0, 2, 1, NULL), GPUOPT_ERROR_NUMERIC);
        assert_non_null(strstr(host.error, "pivot"));
        must(gpuopt_simplex_pivot(simplex, 0, 3, 1, NULL)); /* row 1's is safe, whatever it does to row 0 */
        gpuopt_simplex_destroy(simplex);
    }
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* After a pivot the point violates bounds: the handle is in phase 1, reports that, and recovers. */
static void pivots_may_make_infeasible(void **state) {
    static const double a[] = {1, 1, 1, -1}, rhs[] = {4, 2}, cost[] = {-1, -1};
    gpuopt_context *context = test_context(NULL);
    mip m = model_of(2, 2, a, cost, NULL, rhs, NULL, NULL);
    int variant;
    (void)state;
    for (variant = 0; variant < VARIANTS; variant++) {
        gpuopt_simplex_rules rules;
        gpuopt_simplex_desc desc = plain(&m, variant, &rules);
        gpuopt_simplex *simplex = simplex_create(context, &desc);
        gpuopt_simplex_info info;
        gpuopt_desc_init(&info, sizeof info);
        must(gpuopt_simplex_pivot(simplex, 0, 2, 1, &info)); /* x_0 = 4, so that row 1 has 4 > 2 */
        assert_true(info.phase == 1 && info.infeasibility == 2 && info.iterations == 1 && info.objective == -4);
        assert_true(info.outcome == GPUOPT_MORE);
        info = simplex_iterate(simplex, 100);
        assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
        assert_true(near(info.objective, -4));
        gpuopt_simplex_destroy(simplex);
    }
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* A rebuild changes nothing but digits, and is counted. */
static void rebuild_when_asked(void **state) {
    gpuopt_context *context = test_context(NULL);
    mip m = model_load("shah:40:3");
    int variant;
    (void)state;
    for (variant = 0; variant < 6; variant++) {
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex *simplex;
        gpuopt_simplex_info before, info;
        uint8_t basis[80], same[80];
        variant_set(&desc, variant);
        simplex = simplex_create(context, &desc);
        before = simplex_iterate(simplex, 10);
        must(gpuopt_simplex_get_basis(simplex, GPUOPT_HOST, basis));
        gpuopt_desc_init(&info, sizeof info);
        must(gpuopt_simplex_rebuild(simplex, 0, &info));
        assert_int_equal(info.rebuilds, before.rebuilds + 1);
        assert_int_equal(info.refactorizations, before.refactorizations);
        assert_true(info.primal_violation >= 0 && info.iterations == before.iterations);
        must(gpuopt_simplex_rebuild(simplex, 1, NULL));
        info = simplex_info(simplex);
        assert_int_equal(info.refactorizations, before.refactorizations + 1);
        must(gpuopt_simplex_get_basis(simplex, GPUOPT_HOST, same));
        assert_memory_equal(basis, same, sizeof basis);
        assert_true(fabs(info.objective - before.objective) < 1e-4 * (1 + fabs(before.objective))); /* perturbed */
        assert_int_equal(simplex_iterate(simplex, 10000).outcome, GPUOPT_OPTIMAL);
        gpuopt_simplex_destroy(simplex);
    }
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* A pivot after which x_0 is below its bound, by a caller that passes no info: the handle continues from there, with
 * the same bits. */
static void pivots_without_info(void **state) {
    static const double a[] = {1, 1, 2, 1, 1, 3}, lhs[] = {-1, -9, -9}, rhs[] = {4, 1.5, 30}, cost[] = {-1, -1};
    gpuopt_context *context = test_context(NULL);
    mip m = model_of(3, 2, a, cost, lhs, rhs, NULL, NULL);
    int variant, with;
    (void)state;
    for (variant = 0; variant < VARIANTS; variant++) {
        gpuopt_simplex_rules rules;
        gpuopt_simplex_desc desc = plain(&m, variant, &rules);
        gpuopt_simplex_info info[2];
        for (with = 0; with < 2; with++) {
            gpuopt_simplex *simplex = simplex_create(context, &desc);
            gpuopt_simplex_info reported = GPUOPT_INIT(gpuopt_simplex_info);
            must(gpuopt_simplex_pivot(simplex, 0, 2, 0, with ? &reported : NULL)); /* x_0 = -1 */
            info[with] = simplex_iterate(simplex, 1);
            assert_int_equal(simplex_iterate(simplex, 100).outcome, GPUOPT_OPTIMAL);
            assert_true(near(simplex_info(simplex).objective, -1.5));
            gpuopt_simplex_destroy(simplex);
        }
        assert_memory_equal(&info[0], &info[1], sizeof info[0]);
    }
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* Three pivots of 2^-16, each safe by itself, lead to a basis with a factor of 2^-48. There a part reports on this
 * basis or on a repaired one. All columns have bounds, and only the cost of column 3 is not 0. */
static gpuopt_simplex *nearly_singular(gpuopt_context *context, const gpuopt_simplex_desc *desc) {
    gpuopt_simplex *simplex = simplex_create(context, desc);
    uint8_t basis[24] = {0};
    int k;
    for (k = 0; k < 24; k++) basis[k] = GPUOPT_VARIABLE_AT_LOWER;
    for (k = 0; k < desc->matrix.rows; k++) basis[k < 3 ? desc->matrix.cols + k : 1 + k] = GPUOPT_VARIABLE_BASIC;
    must(gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, basis));
    for (k = 0; k < 3; k++) {
        basis[k] = GPUOPT_VARIABLE_BASIC;
        basis[desc->matrix.cols + k] = GPUOPT_VARIABLE_AT_LOWER;
        must(gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, basis));
    }
    return simplex;
}

static void parts_at_a_basis_that_is_nearly_singular(void **state) {
    enum { ROWS = 6, COLS = 7 };
    const double e = 0x1p-16, column[4][3] = {{e, 1, 0}, {e, 1 + e, 1}, {e, 1 + e, 1 + e}, {1, 0, 0}};
    const double cost[COLS] = {0, 0, 0, -1}, side[ROWS] = {0}, ub[COLS] = {1, 1, 1, 1, 1, 1, 1};
    double a[ROWS * COLS] = {0};
    gpuopt_context *context = test_context(NULL);
    mip m;
    int variant, i, j;
    (void)state;
    for (j = 0; j < 4; j++)
        for (i = 0; i < 3; i++) a[i * COLS + j] = column[j][i];
    for (i = 3; i < ROWS; i++) a[i * COLS + 1 + i] = 1;
    m = model_of(ROWS, COLS, a, cost, side, side, NULL, ub);
    for (variant = 0; variant < VARIANTS; variant++) {
        gpuopt_simplex_rules rules;
        gpuopt_simplex_desc desc = plain(&m, variant, &rules);
        gpuopt_simplex *simplex = nearly_singular(context, &desc);
        gpuopt_simplex_entering entering = GPUOPT_INIT(gpuopt_simplex_entering);
        gpuopt_simplex_leaving leaving = GPUOPT_INIT(gpuopt_simplex_leaving);
        gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
        gpuopt_simplex_candidate candidate;
        int32_t found;
        must(gpuopt_simplex_price(simplex, &entering));
        assert_true(entering.variable == 3 && entering.reduced_cost == -1);
        gpuopt_simplex_destroy(simplex);
        simplex = nearly_singular(context, &desc);
        must(gpuopt_simplex_candidates(simplex, 1, &candidate, &found));
        assert_true(found == 1 && candidate.variable == 3);
        gpuopt_simplex_destroy(simplex);
        simplex = nearly_singular(context, &desc);
        must(gpuopt_simplex_ratio_test(simplex, 3, 1, &leaving));
        assert_true(leaving.variable >= 0 || leaving.flip || leaving.unsafe);
        gpuopt_simplex_destroy(simplex);
        simplex = nearly_singular(context, &desc);
        must(gpuopt_simplex_flip(simplex, 3, &info));
        assert_true(info.flips == 1 && info.iterations == 1 && near(info.objective, -1));
        gpuopt_simplex_destroy(simplex);
    }
    mip_free(&m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(unsafe_pivots_are_refused),  cmocka_unit_test(pivots_small_beside_their_column_are_refused),
    cmocka_unit_test(pivots_may_make_infeasible), cmocka_unit_test(pivots_without_info),
    cmocka_unit_test(rebuild_when_asked),         cmocka_unit_test(parts_at_a_basis_that_is_nearly_singular),
};
TEST_MAIN(tests)
