/* SPDX-License-Identifier: MIT
 *
 * FTRAN, BTRAN and updates with every technique, compared with inverses computed in extended precision.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/basis/basis.h"

enum { LAST_TECHNIQUE = GPUOPT_TECHNIQUE_ELEMENT_PROPOSED };

static void draw(int32_t m, uint64_t *seed, double *vector) {
    int32_t i;
    for (i = 0; i < m; i++) vector[i] = 2 * test_random(seed) - 1;
}

/* Checks found = inverse * vector (or with the transpose), up to rounding: m eps times the sum of absolute terms. */
static void check_product(int32_t m, const double *inverse, int transposed, const double *vector, const double *found) {
    int32_t i, j;
    for (i = 0; i < m; i++) {
        long double sum = 0, size = 0, term;
        for (j = 0; j < m; j++) {
            term = (long double)inverse[transposed ? (int64_t)j * m + i : (int64_t)i * m + j] * vector[j];
            sum += term;
            size += fabsl(term);
        }
        if (!(fabsl(found[i] - sum) <= 2 * (m + 4) * (DBL_EPSILON / 2) * size))
            fail_msg("m = %d: component %d is %g, not %Lg", m, i, found[i], sum);
    }
}

/* Checks all four products. First compares pending with applied updates; these differ by rounding, of the order of eps
 * times the condition (bases here are far from singular). Then compares with the inverse. */
static void check_products(gpuopt_basis *basis, int32_t m, uint64_t *seed) {
    size_t bytes = sizeof(double) * (size_t)m;
    double *x = malloc(bytes), *ftran = malloc(bytes), *btran = malloc(bytes), *unit = malloc(bytes);
    double *sparse = malloc(bytes), *val = malloc(bytes), *inverse = malloc(bytes * (size_t)m), *scattered;
    int32_t *row = malloc(sizeof *row * (size_t)m), k, count = m / 2 + 1, p = (int32_t)test_random_int(seed, 0, m - 1);
    int pass;
    scattered = calloc((size_t)m, sizeof *scattered);
    draw(m, seed, x);
    draw(m, seed, val);
    for (k = 0; k < count; k++) {
        row[k] = m - 1 - k;
        scattered[row[k]] = val[k];
    }
    for (pass = 0; pass < 2; pass++) { /* with pending updates, then with none */
        memcpy(ftran, x, bytes);
        memcpy(btran, x, bytes);
        assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_HOST, 0, NULL, ftran, ftran), GPUOPT_OK); /* in place */
        assert_int_equal(gpuopt_basis_btran(basis, GPUOPT_HOST, -1, btran, btran), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_btran(basis, GPUOPT_HOST, p, NULL, unit), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_HOST, count, row, val, sparse), GPUOPT_OK);
        if (pass == 0) {
            double *before = malloc(4 * bytes), most = 0;
            memcpy(before, ftran, bytes);
            memcpy(before + m, btran, bytes);
            memcpy(before + 2 * m, unit, bytes);
            memcpy(before + 3 * m, sparse, bytes);
            assert_int_equal(gpuopt_basis_get_inverse(basis, GPUOPT_HOST, inverse), GPUOPT_OK);
            assert_int_equal(basis_info(basis).pending, 0);
            assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_HOST, 0, NULL, x, ftran), GPUOPT_OK);
            assert_int_equal(gpuopt_basis_btran(basis, GPUOPT_HOST, -1, x, btran), GPUOPT_OK);
            assert_int_equal(gpuopt_basis_btran(basis, GPUOPT_HOST, p, NULL, unit), GPUOPT_OK);
            assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_HOST, count, row, val, sparse), GPUOPT_OK);
            for (k = 0; k < m; k++)
                most = fmax(most, fmax(fmax(fabs(ftran[k]), fabs(btran[k])), fmax(fabs(unit[k]), fabs(sparse[k]))));
            for (k = 0; k < m; k++)
                if (!(fabs(before[k] - ftran[k]) + fabs(before[m + k] - btran[k]) + fabs(before[2 * m + k] - unit[k]) +
                          fabs(before[3 * m + k] - sparse[k]) <=
                      1e-9 * most))
                    fail_msg("m = %d: component %d changes when updates are applied", m, k);
            free(before);
        }
    }
    check_product(m, inverse, 0, x, ftran);
    check_product(m, inverse, 1, x, btran);
    check_product(m, inverse, 0, scattered, sparse);
    assert_memory_equal(unit, inverse + (int64_t)p * m, bytes);
    free(x);
    free(ftran);
    free(btran);
    free(unit);
    free(sparse);
    free(val);
    free(inverse);
    free(scattered);
    free(row);
}

/* The error grows with each update, depending on its pivot, which is at least a tenth of the largest entry here. */
static void check_sequence(gpuopt_context *context, int32_t m, int technique, int32_t deferred, int updates) {
    gpuopt_basis *basis = basis_create(context, m, (gpuopt_basis_technique)technique, deferred);
    basis_model b = basis_draw(BASIS_DENSE, m, (unsigned)m);
    gpuopt_matrix columns = basis_columns(&b);
    gpuopt_basis_info info;
    uint64_t seed = (unsigned)technique;
    int k;
    assert_int_equal(gpuopt_basis_load(basis, &columns), GPUOPT_OK);
    for (k = 0; k < updates; k++) {
        /* Dense columns, sparse columns, and columns with a single entry. */
        basis_enqueue_random(basis, &b, k % 3 == 0 ? m : k % 3 == 1 ? (m + 5) / 6 : 1, &seed);
        info = basis_info(basis);
        assert_int_equal(info.updates, k + 1);
        assert_int_equal(info.refused_position, -1);
        if (technique == GPUOPT_TECHNIQUE_DEFERRED)
            assert_true(info.pending >= 0 && info.pending < info.deferred_updates);
        else assert_int_equal(info.pending + info.deferred_updates, 0);
        if (deferred) assert_int_equal(info.pending, (k + 1) % deferred);
    }
    check_products(basis, m, &seed);
    basis_check(basis, &b, 50.0 * (updates + 1));
    gpuopt_basis_destroy(basis);
    basis_free(&b);
}

static void every_technique(void **state) {
    static const int32_t sizes[] = {1, 2, 3, 31, 32, 65, 130};
    gpuopt_context *context = test_context(NULL);
    size_t s;
    int technique;
    (void)state;
    for (technique = 0; technique <= LAST_TECHNIQUE; technique++)
        for (s = 0; s < sizeof sizes / sizeof *sizes; s++)
            check_sequence(context, sizes[s], technique, 0, technique == GPUOPT_TECHNIQUE_PFI || test_few() ? 8 : 40);
    gpuopt_context_destroy(context);
}

static void every_k(void **state) {
    static const int32_t k[] = {1, 2, 3, 8, 33, 64, 255, 256};
    gpuopt_context *context = test_context(NULL);
    size_t s;
    (void)state;
    for (s = 0; s < sizeof k / sizeof *k && !(test_few() && k[s] > 64); s++)
        check_sequence(context, 70, GPUOPT_TECHNIQUE_DEFERRED, k[s], k[s] + 9);
    gpuopt_context_destroy(context);
}

/* The same position again and again: rows of U and V are cleared and written again. */
static void one_position(void **state) {
    enum { M = 50 };
    gpuopt_context *context = test_context(NULL);
    int technique, k, i;
    (void)state;
    for (technique = 0; technique <= LAST_TECHNIQUE; technique++) {
        gpuopt_basis *basis = basis_create(context, M, (gpuopt_basis_technique)technique, 6);
        basis_model b = basis_draw(BASIS_SPARSE, M, 8);
        gpuopt_matrix columns = basis_columns(&b);
        uint64_t seed = 4;
        double column[M];
        assert_int_equal(gpuopt_basis_load(basis, &columns), GPUOPT_OK);
        for (k = 0; k < 20; k++) {
            draw(M, &seed, column);
            for (i = 0; i < M; i++) column[i] += 5 * b.entry[13 * M + i];
            assert_int_equal(basis_replace(basis, &b, 13, column), GPUOPT_OK);
            for (i = 0; i < M; i++) b.entry[13 * M + i] = column[i] / (k % 2 ? 7 : 1);
            if (k % 2) { /* a multiple of the column: alpha is a multiple of a unit vector */
                memcpy(column, b.entry + 13 * M, sizeof column);
                assert_int_equal(basis_replace(basis, &b, 13, column), GPUOPT_OK);
            }
        }
        basis_check(basis, &b, 2000);
        gpuopt_basis_destroy(basis);
        basis_free(&b);
    }
    gpuopt_context_destroy(context);
}

/* alpha in the caller's array gives the same bits as alpha NULL. */
static void alpha_of_the_caller(void **state) {
    enum { M = 45 };
    gpuopt_context *context = test_context(NULL);
    gpuopt_basis *own = basis_create(context, M, GPUOPT_TECHNIQUE_DEFERRED, 0);
    gpuopt_basis *given = basis_create(context, M, GPUOPT_TECHNIQUE_DEFERRED, 0);
    gpuopt_basis_info info;
    double column[M], alpha[M], first[M * M], second[M * M];
    uint64_t seed = 21;
    int k;
    (void)state;
    gpuopt_desc_init(&info, sizeof info);
    for (k = 0; k < 10; k++) {
        draw(M, &seed, column);
        column[k] += 4;
        assert_int_equal(gpuopt_basis_ftran(own, GPUOPT_HOST, 0, NULL, column, alpha), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_update(own, GPUOPT_HOST, k, NULL, &info), GPUOPT_OK);
        assert_int_equal(info.updates, k + 1);
        assert_int_equal(gpuopt_basis_update(given, GPUOPT_HOST, k, alpha, &info), GPUOPT_OK);
        assert_int_equal(info.updates, k + 1);
    }
    assert_int_equal(gpuopt_basis_get_inverse(own, GPUOPT_HOST, first), GPUOPT_OK);
    assert_int_equal(gpuopt_basis_get_inverse(given, GPUOPT_HOST, second), GPUOPT_OK);
    assert_memory_equal(first, second, sizeof first);
    gpuopt_basis_destroy(own);
    gpuopt_basis_destroy(given);
    gpuopt_context_destroy(context);
}

static void read_rows(gpuopt_basis *basis, int32_t m, double *rows) {
    int32_t i;
    for (i = 0; i < m; i++)
        assert_int_equal(gpuopt_basis_btran(basis, GPUOPT_HOST, i, NULL, rows + (int64_t)i * m), GPUOPT_OK);
}

/* Pivots that are too small: NUMERIC, and nothing changes. Enqueued updates are left out, and _get_info names them. */
static void refused_updates(void **state) {
    enum { M = 33, K = 4 };
    test_host host;
    gpuopt_context *context = test_context(&host);
    double before[M * M], after[M * M], alpha[M];
    gpuopt_basis_info info;
    int technique, k, i;
    (void)state;
    gpuopt_desc_init(&info, sizeof info);
    for (technique = 0; technique <= LAST_TECHNIQUE; technique++) {
        gpuopt_basis *basis = basis_create(context, M, (gpuopt_basis_technique)technique, K);
        basis_model b = basis_draw(BASIS_DENSE, M, 6);
        gpuopt_matrix columns = basis_columns(&b);
        uint64_t seed = 2;
        int32_t pending;
        assert_int_equal(gpuopt_basis_load(basis, &columns), GPUOPT_OK);
        for (k = 0; k < 2; k++) basis_enqueue_random(basis, &b, M, &seed);
        pending = basis_info(basis).pending;
        read_rows(basis, M, before);
        /* Column 3 of B at position 5: its pivot is 0, up to rounding. */
        assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_HOST, 0, NULL, b.entry + 3 * M, alpha), GPUOPT_OK);
        host.error[0] = 0;
        info.updates = 99;
        assert_int_equal(gpuopt_basis_update(basis, GPUOPT_HOST, 5, NULL, &info), GPUOPT_ERROR_NUMERIC);
        assert_int_equal(info.updates, 99);
        assert_non_null(strstr(host.error, "position 5"));
        assert_int_equal(gpuopt_basis_update(basis, GPUOPT_HOST, 6, alpha, &info), GPUOPT_ERROR_NUMERIC);
        info = basis_info(basis);
        assert_int_equal(info.refused_position, 6);
        assert_int_equal(info.updates, 2);
        assert_int_equal(info.pending, pending);
        read_rows(basis, M, after);
        assert_memory_equal(before, after, sizeof before);
        /* The pivot column of the FTRAN can still be used for another position. */
        assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_HOST, 0, NULL, b.entry + 3 * M, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_update(basis, GPUOPT_HOST, 5, NULL, &info), GPUOPT_ERROR_NUMERIC);
        assert_int_equal(gpuopt_basis_update(basis, GPUOPT_HOST, 3, NULL, &info), GPUOPT_OK);
        assert_int_equal(info.updates, 3);
        /* Enqueued among accepted updates, more than U can hold. */
        for (k = 0; k < 3 * K; k++) {
            if (k % 3 == 1) {
                assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_HOST, 0, NULL, b.entry + 8 * M, NULL), GPUOPT_OK);
                assert_int_equal(gpuopt_basis_update(basis, GPUOPT_HOST, 9 + k, NULL, NULL), GPUOPT_OK);
            } else {
                basis_enqueue_random(basis, &b, M, &seed);
            }
        }
        info = basis_info(basis);
        assert_int_equal(info.updates, 3 + 2 * K);
        assert_int_equal(info.refused_position, 9 + 3 * K - 2);
        basis_check(basis, &b, 2000);
        /* A pivot column of zeros has no pivot. */
        for (i = 0; i < M; i++) alpha[i] = 0;
        assert_int_equal(gpuopt_basis_update(basis, GPUOPT_HOST, 0, alpha, &info), GPUOPT_ERROR_NUMERIC);
        assert_int_equal(basis_info(basis).refused_position, 0);
        gpuopt_basis_destroy(basis);
        basis_free(&b);
    }
    gpuopt_context_destroy(context);
}

/* A refused update does not affect the next one: at the same position, at the previous update's, or at another. */
static void updates_after_a_refused_one(void **state) {
    enum { M = 40, PENDING = 5 };
    static const int next[] = {20, 3, 21};
    gpuopt_context *context = test_context(NULL);
    int technique, pending, again, k, i;
    (void)state;
    for (technique = 0; technique <= LAST_TECHNIQUE; technique++)
        for (pending = 0; pending <= PENDING; pending += test_few() ? 2 : 1)
            for (again = 0; again < 3; again++) {
                gpuopt_basis *basis = basis_create(context, M, (gpuopt_basis_technique)technique, 12);
                basis_model b = basis_draw(BASIS_DENSE, M, 31);
                gpuopt_matrix columns = basis_columns(&b);
                gpuopt_basis_info info = GPUOPT_INIT(gpuopt_basis_info);
                uint64_t seed = 7;
                double column[M];
                assert_int_equal(gpuopt_basis_load(basis, &columns), GPUOPT_OK);
                for (k = 0; k < pending + 3; k++) {
                    int position = k < pending ? 4 + k : k == pending + 1 ? 30 : next[again] + (again == 1) * pending;
                    if (k == pending) { /* column 25 of B, unchanged so far, at position 20 */
                        assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_HOST, 0, NULL, b.entry + 25 * M, NULL),
                                         GPUOPT_OK);
                        assert_int_equal(gpuopt_basis_update(basis, GPUOPT_HOST, 20, NULL, &info),
                                         GPUOPT_ERROR_NUMERIC);
                    }
                    /* Near a multiple of the present column, so that the pivot is large. */
                    draw(M, &seed, column);
                    for (i = 0; i < M; i++) column[i] += 5 * b.entry[position * M + i];
                    assert_int_equal(basis_replace(basis, &b, position, column), GPUOPT_OK);
                }
                assert_int_equal(basis_info(basis).updates, pending + 3);
                basis_check(basis, &b, 5000);
                gpuopt_basis_destroy(basis);
                basis_free(&b);
            }
    gpuopt_context_destroy(context);
}

/* The tolerance is relative to the largest entry of the column, and the caller can set it. */
static void pivot_tolerance(void **state) {
    static const double pivot[] = {1e-9, 1e-12, 1e-12, 0.4, 0.6}, tolerance[] = {0, 0, 1e-13, 0.5, 0.5};
    static const gpuopt_status expected[] = {GPUOPT_OK, GPUOPT_ERROR_NUMERIC, GPUOPT_OK, GPUOPT_ERROR_NUMERIC,
                                             GPUOPT_OK};
    gpuopt_context *context = test_context(NULL);
    int k, scale;
    (void)state;
    for (k = 0; k < 5; k++)
        for (scale = -200; scale <= 200; scale += 100) {
            gpuopt_basis_desc desc;
            gpuopt_basis *basis;
            gpuopt_basis_info info;
            double alpha[3] = {1, 0, -0.5};
            int i;
            gpuopt_desc_init(&desc, sizeof desc);
            gpuopt_desc_init(&info, sizeof info);
            desc.m = 3;
            desc.pivot_tolerance = tolerance[k];
            alpha[1] = -pivot[k];
            for (i = 0; i < 3; i++) alpha[i] = ldexp(alpha[i], scale);
            assert_int_equal(gpuopt_basis_create(context, &desc, NULL, &basis), GPUOPT_OK);
            assert_int_equal(gpuopt_basis_update(basis, GPUOPT_HOST, 1, alpha, &info), expected[k]);
            gpuopt_basis_destroy(basis);
        }
    gpuopt_context_destroy(context);
}

/* The same calls give the same bits; on the CPU with any number of threads. */
static void same_bits(void **state) {
    enum { M = 180 };
    static double inverse[3][M * M];
    const int runs = test_few() ? 2 : 3;
    int run, technique, k;
    (void)state;
    for (technique = 0; technique <= LAST_TECHNIQUE; technique++) {
        for (run = 0; run < runs; run++) {
            gpuopt_context_desc desc = test_context_desc(NULL);
            gpuopt_context *context;
            gpuopt_basis *basis;
            basis_model b = basis_draw(BASIS_DENSE, M, 14);
            gpuopt_matrix columns = basis_columns(&b);
            uint64_t seed = 1;
            if (desc.threads > 1) desc.threads = 1 + run;
            assert_int_equal(gpuopt_context_create(&desc, &context), GPUOPT_OK);
            basis = basis_create(context, M, (gpuopt_basis_technique)technique, 0);
            assert_int_equal(gpuopt_basis_load(basis, &columns), GPUOPT_OK);
            for (k = 0; k < (technique == GPUOPT_TECHNIQUE_PFI || test_few() ? 3 : 20); k++)
                basis_enqueue_random(basis, &b, M, &seed);
            assert_int_equal(gpuopt_basis_get_inverse(basis, GPUOPT_HOST, inverse[run]), GPUOPT_OK);
            gpuopt_basis_destroy(basis);
            gpuopt_context_destroy(context);
            basis_free(&b);
        }
        for (run = 1; run < runs; run++) assert_memory_equal(inverse[0], inverse[run], sizeof inverse[0]);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_technique), cmocka_unit_test(every_k),
    cmocka_unit_test(one_position),    cmocka_unit_test(alpha_of_the_caller),
    cmocka_unit_test(refused_updates), cmocka_unit_test(updates_after_a_refused_one),
    cmocka_unit_test(pivot_tolerance), cmocka_unit_test(same_bits),
};
TEST_MAIN(tests)
