/* SPDX-License-Identifier: MIT
 *
 * Long sequences of updates: how far the inverse drifts, and whether _get_drift reports it.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/basis/basis.h"

static gpuopt_basis_drift drift_of(gpuopt_basis *basis, basis_model *b, int exact) {
    gpuopt_basis_drift drift;
    gpuopt_matrix columns = basis_columns(b);
    gpuopt_desc_init(&drift, sizeof drift);
    assert_int_equal(gpuopt_basis_get_drift(basis, &columns, exact, &drift), GPUOPT_OK);
    if (!exact) assert_true(drift.norm == -1);
    return drift;
}

/* Returns max |X B - I| for the handle's inverse X, computed in extended precision. rounding: the possible difference
 * of a computation in double precision. */
static long double norm_of(gpuopt_basis *basis, const basis_model *b, long double *rounding) {
    int32_t m = b->m, i, j, k;
    double *x = malloc(sizeof *x * (size_t)m * (size_t)m);
    long double norm = 0;
    *rounding = 0;
    assert_int_equal(gpuopt_basis_get_inverse(basis, GPUOPT_HOST, x), GPUOPT_OK);
    for (i = 0; i < m; i++)
        for (j = 0; j < m; j++) {
            long double sum = i == j ? -1 : 0, size = 0;
            for (k = 0; k < m; k++) {
                long double term = (long double)x[(int64_t)i * m + k] * b->entry[(int64_t)j * m + k];
                sum += term;
                size += fabsl(term);
            }
            norm = fmaxl(norm, fabsl(sum));
            *rounding = fmaxl(*rounding, (m + 4) * DBL_EPSILON * size);
        }
    free(x);
    return norm;
}

/* Many updates. After every 500, the reported drift must be correct, and below a bound. */
static void check_long_run(int technique, int32_t m, int updates, basis_kind kind, int32_t count, double most) {
    gpuopt_context *context = test_context(NULL);
    gpuopt_basis *basis = basis_create(context, m, (gpuopt_basis_technique)technique, 0);
    basis_model b = basis_draw(kind, m, 50);
    gpuopt_matrix columns = basis_columns(&b);
    uint64_t seed = 51;
    int k;
    assert_int_equal(gpuopt_basis_load(basis, &columns), GPUOPT_OK);
    for (k = 1; k <= updates; k++) {
        basis_enqueue_random(basis, &b, count, &seed);
        if (k % 500 == 0) {
            gpuopt_basis_drift pending = drift_of(basis, &b, 1), applied;
            long double rounding, norm = norm_of(basis, &b, &rounding);
            applied = drift_of(basis, &b, 1);
            assert_true(fabsl(applied.norm - norm) <= rounding);
            assert_true(fabsl(pending.norm - norm) <=
                        norm + 64 * rounding); /* with pending updates, sums have another order */
            assert_true(applied.estimate <= m * norm + rounding * m);
            assert_true(drift_of(basis, &b, 0).estimate == applied.estimate);
            if (!(norm <= most)) fail_msg("after %d updates the inverse is off by %Lg", k, norm);
        }
    }
    assert_int_equal(basis_info(basis).updates, updates);
    /* Loading B again removes the drift. */
    columns = basis_columns(&b);
    assert_int_equal(gpuopt_basis_load(basis, &columns), GPUOPT_OK);
    basis_check(basis, &b, 8);
    gpuopt_basis_destroy(basis);
    basis_free(&b);
    gpuopt_context_destroy(context);
}

static int long_run(int updates) { return test_few() ? 500 : updates; }

static void long_runs_deferred(void **state) {
    (void)state;
    check_long_run(GPUOPT_TECHNIQUE_DEFERRED, 64, long_run(2000), BASIS_DENSE, 64, 1e-8);
    check_long_run(GPUOPT_TECHNIQUE_DEFERRED, 150, long_run(2000), BASIS_SPARSE, 5, 1e-8);
}

static void long_runs_proposed(void **state) {
    (void)state;
    check_long_run(GPUOPT_TECHNIQUE_ELEMENT_PROPOSED, 64, long_run(2000), BASIS_DENSE, 64, 1e-8);
    check_long_run(GPUOPT_TECHNIQUE_ELEMENT_PROPOSED, 150, long_run(2000), BASIS_SPARSE, 5, 1e-8);
}

static void long_runs_of_the_others(void **state) {
    int technique;
    (void)state;
    for (technique = GPUOPT_TECHNIQUE_MPFI; technique < GPUOPT_TECHNIQUE_ELEMENT_PROPOSED; technique++)
        check_long_run(technique, 40, long_run(1000), BASIS_DENSE, 40, 1e-8);
    check_long_run(GPUOPT_TECHNIQUE_PFI, 20, long_run(1000), BASIS_DENSE, 20, 1e-8);
}

/* If one entry of `columns` differs from B, the drift is that difference times a column of the inverse. */
static void other_columns(void **state) {
    enum { M = 37, J = 22, I = 4 };
    gpuopt_context *context = test_context(NULL);
    gpuopt_basis *basis = basis_create(context, M, GPUOPT_TECHNIQUE_DEFERRED, 0);
    basis_model b = basis_draw(BASIS_DENSE, M, 60);
    gpuopt_matrix columns = basis_columns(&b);
    gpuopt_basis_drift drift;
    long double *inverse = malloc(sizeof *inverse * M * M), most = 0;
    int i;
    (void)state;
    assert_int_equal(gpuopt_basis_load(basis, &columns), GPUOPT_OK);
    assert_true(drift_of(basis, &b, 1).norm < 1e-11);
    assert_true(basis_invert(&b, inverse));
    for (i = 0; i < M; i++) most = fmaxl(most, fabsl(inverse[i * M + I]));
    b.entry[J * M + I] += 1e-3;
    drift = drift_of(basis, &b, 1);
    assert_true(fabsl(drift.norm - 1e-3L * most) <= 1e-9);
    assert_true(fabsl(drift.estimate - 1e-3L * most) <= 1e-9); /* the other columns cancel */
    free(inverse);
    basis_free(&b);
    gpuopt_basis_destroy(basis);
    gpuopt_context_destroy(context);
}

/* Measuring the drift changes neither the inverse nor the pivot column. */
static void measuring_changes_nothing(void **state) {
    enum { M = 30 };
    gpuopt_context *context = test_context(NULL);
    gpuopt_basis *basis = basis_create(context, M, GPUOPT_TECHNIQUE_DEFERRED, 8);
    basis_model b = basis_draw(BASIS_SPARSE, M, 61);
    gpuopt_matrix columns = basis_columns(&b);
    gpuopt_basis_info info;
    uint64_t seed = 5;
    double column[M];
    int i;
    (void)state;
    gpuopt_desc_init(&info, sizeof info);
    assert_int_equal(gpuopt_basis_load(basis, &columns), GPUOPT_OK);
    for (i = 0; i < 5; i++) basis_enqueue_random(basis, &b, M, &seed);
    for (i = 0; i < M; i++) column[i] = test_random(&seed) + (i == 2);
    assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_HOST, 0, NULL, column, NULL), GPUOPT_OK);
    drift_of(basis, &b, 1);
    assert_int_equal(basis_info(basis).pending, 5);
    assert_int_equal(gpuopt_basis_update(basis, GPUOPT_HOST, 2, NULL, &info), GPUOPT_OK);
    assert_int_equal(info.pending, 6);
    memcpy(b.entry + 2 * M, column, sizeof column);
    basis_check(basis, &b, 500);
    basis_free(&b);
    gpuopt_basis_destroy(basis);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(long_runs_deferred),        cmocka_unit_test(long_runs_proposed),
    cmocka_unit_test(long_runs_of_the_others),   cmocka_unit_test(other_columns),
    cmocka_unit_test(measuring_changes_nothing),
};
TEST_MAIN(tests)
