/* SPDX-License-Identifier: MIT
 *
 * Operations for which the CUDA backend uses cuBLAS and cuSOLVER if installed, from m = 512 on, and its own kernels
 * otherwise: loads, rank updates, and the product of PFI. Without the libraries all ways use the same kernels, and a
 * message says so.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/basis/basis.h"

/* In cuda/basis/basis.cu. */
void gpuopt__cuda_basis_without_libraries(const gpuopt_context *context, int blas);

enum { M = 600, FACTOR = 8, WAYS = 3 };

/* A context for each way: with whatever libraries there are, without cuSOLVER, and without any. */
static const char *const way[WAYS] = {"with all libraries", "without cuSOLVER", "without libraries"};
static void make_contexts(gpuopt_context **context) {
    int k;
    for (k = 0; k < WAYS; k++) context[k] = test_context(NULL);
    gpuopt__cuda_basis_without_libraries(context[1], 0);
    gpuopt__cuda_basis_without_libraries(context[2], 1);
}

/* All ways give accurate inverses, for every kind of matrix and with two ways of storing them. */
static void inverses(void **state) {
    static const basis_kind kinds[] = {BASIS_DENSE, BASIS_SPARSE, BASIS_SLACKS, BASIS_SCALED};
    gpuopt_context *context[WAYS];
    long double *inverse = calloc((size_t)M * M, sizeof *inverse);
    double *found = calloc((size_t)M * M, sizeof *found);
    size_t n;
    int k;
    (void)state;
    make_contexts(context);
    for (n = 0; n < sizeof kinds / sizeof *kinds; n++) {
        basis_model b = basis_draw(kinds[n], M, 50 + n);
        basis_scale scale;
        gpuopt_matrix columns = basis_columns(&b);
        assert_true(basis_invert(&b, inverse));
        scale = basis_scale_of(&b, inverse);
        for (k = 0; k < 2 * WAYS; k++) {
            gpuopt_basis *basis = basis_create(
                context[k % WAYS], M, k < WAYS ? GPUOPT_TECHNIQUE_DEFERRED : GPUOPT_TECHNIQUE_ELEMENT_PROPOSED, 0);
            long double error;
            assert_int_equal(gpuopt_basis_load(basis, &columns), GPUOPT_OK);
            assert_int_equal(gpuopt_basis_get_inverse(basis, GPUOPT_HOST, found), GPUOPT_OK);
            error = basis_error(&b, &scale, inverse, found);
            if (!(error <= FACTOR * M * DBL_EPSILON * scale.condition))
                fail_msg("kind %d, %s: off by %Lg, condition %Lg", (int)kinds[n], way[k % WAYS], error,
                         scale.condition);
            gpuopt_basis_destroy(basis);
        }
        basis_scale_free(&scale);
        basis_free(&b);
    }
    free(inverse);
    free(found);
    for (k = 0; k < WAYS; k++) gpuopt_context_destroy(context[k]);
}

/* B has an integer inverse that all ways find to the bit: unit lower times unit upper triangular, with entries in so
 * few places that no sum is rounded. Rows and columns are shuffled, and single entries are among the columns. */
static void exact_inverses(void **state) {
    enum { N = 1100, STEP = 7 };
    gpuopt_context *context[WAYS];
    basis_model b = basis_new(N);
    double *found = calloc((size_t)N * N, sizeof *found);
    gpuopt_matrix columns;
    int i, j, k;
    (void)state;
    make_contexts(context);
    /* Column j has a 1 in row `at`. Unless j is a multiple of 3, it also has a 2 in the row of column j - 1, if that is
     * one. */
    for (j = 0; j < N; j++) {
        b.entry[(int64_t)j * N + j * STEP % N] = 1;
        if (j % 3) b.entry[(int64_t)j * N + j / 3 * 3 * STEP % N] = 2;
        if (j % 3 == 2) b.entry[(int64_t)j * N + (j - 1) * STEP % N] = 4;
    }
    columns = basis_columns(&b);
    for (k = 0; k < WAYS; k++) {
        gpuopt_basis *basis = basis_create(context[k], N, GPUOPT_TECHNIQUE_DEFERRED, 0);
        assert_int_equal(gpuopt_basis_load(basis, &columns), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_get_inverse(basis, GPUOPT_HOST, found), GPUOPT_OK);
        /* In blocks of three columns: the inverse of (1 2 2; 0 1 4; 0 0 1) is (1 -2 6; 0 1 -4; 0 0 1). */
        for (i = 0; i < N; i++)
            for (j = 0; j < N; j++) {
                int col = j / 3 * 3 + 0, same = i / 3 == j / 3;
                double expected = i == j ? 1 : !same || i > j ? 0 : j - i == 2 ? 6 : i == col ? -2 : -4;
                if (found[(int64_t)i * N + j * STEP % N] != expected)
                    fail_msg("%d: entry (%d, %d) is %g, not %g", k, i, j, found[(int64_t)i * N + j * STEP % N],
                             expected);
            }
        gpuopt_basis_destroy(basis);
        gpuopt_context_destroy(context[k]);
    }
    basis_free(&b);
    free(found);
}

/* The same loads give the same bits, and rows the same as columns, in order or not. */
static void same_bits(void **state) {
    gpuopt_context *context = test_strict_context(NULL);
    basis_model b = basis_draw(BASIS_DENSE, M, 60);
    gpuopt_basis *basis = basis_create(context, M, GPUOPT_TECHNIQUE_DEFERRED, 0);
    gpuopt_matrix columns = basis_columns(&b), rows = columns;
    double *first = calloc((size_t)M * M, sizeof *first), *found = calloc((size_t)M * M, sizeof *found);
    double *value = calloc((size_t)M * M, sizeof *value);
    int32_t *index = calloc((size_t)M * M, sizeof *index);
    int k, i, j;
    (void)state;
    rows.layout = GPUOPT_LAYOUT_CSR;
    rows.value = value;
    for (k = 0; k < 4; k++) {
        for (i = 0; k >= 2 && i < M; i++)
            for (j = 0; j < M; j++) { /* ascending, or with two neighbours swapped */
                int at = k == 3 && i == M - 1 ? j ^ 1 : j;
                value[i * M + j] = b.entry[(int64_t)at * M + i];
                index[i * M + j] = at;
            }
        rows.index = index;
        assert_int_equal(gpuopt_basis_load(basis, k < 2 ? &columns : &rows), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_get_inverse(basis, GPUOPT_HOST, k ? found : first), GPUOPT_OK);
        if (k) assert_memory_equal(first, found, sizeof *first * M * M);
    }
    /* Entries that would be misread if their indices were not examined. */
    index[5 * M + 7] = 8;
    assert_int_equal(gpuopt_basis_load(basis, &rows), GPUOPT_ERROR_ARGUMENT);
    index[5 * M + 7] = M;
    assert_int_equal(gpuopt_basis_load(basis, &rows), GPUOPT_ERROR_ARGUMENT);
    index[5 * M + 7] = 7;
    value[M * M - 1] = 0;
    assert_int_equal(gpuopt_basis_load(basis, &rows), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_basis_get_inverse(basis, GPUOPT_HOST, found), GPUOPT_OK);
    assert_memory_equal(first, found, sizeof *first * M * M);
    free(first);
    free(found);
    free(value);
    free(index);
    gpuopt_basis_destroy(basis);
    basis_free(&b);
    gpuopt_context_destroy(context);
}

/* Columns that depend on others are refused, and named, and the old inverse stays. */
static void singular(void **state) {
    gpuopt_context *context[WAYS];
    int k, n, i;
    (void)state;
    make_contexts(context);
    for (k = 0; k < WAYS; k++)
        for (n = 0; n < 3; n++) {
            basis_model b = basis_draw(n < 2 ? BASIS_DENSE : BASIS_SLACKS, M, 80 + (unsigned)n);
            gpuopt_basis *basis = basis_create(context[k], M, GPUOPT_TECHNIQUE_DEFERRED, 0);
            gpuopt_matrix columns = basis_columns(&b);
            double before[M], after[M];
            int32_t refused;
            assert_int_equal(gpuopt_basis_load(basis, &columns), GPUOPT_OK);
            assert_int_equal(gpuopt_basis_btran(basis, GPUOPT_HOST, 3, NULL, before), GPUOPT_OK);
            for (i = 0; i < M; i++)
                b.entry[70 * M + i] = n == 2 ? 0 : 2 * b.entry[200 * M + i] - 3 * b.entry[599 * M + i];
            if (n == 1) b.entry[70 * M + 5] += 1e-13;
            if (n == 2) b.entry[70 * M + 17] = b.entry[71 * M + 17] = 1; /* and the rest of 71 vanishes */
            for (i = 0; n == 2 && i < M; i++)
                if (i != 17) b.entry[71 * M + i] = 0;
            columns = basis_columns(&b);
            assert_int_equal(gpuopt_basis_load(basis, &columns), GPUOPT_ERROR_NUMERIC);
            refused = basis_info(basis).refused_position;
            assert_true(n == 2 || refused == 70 || refused == 200 || refused == 599);
            assert_true(n != 2 || b.entry[(int64_t)refused * M + 17] != 0);
            assert_int_equal(gpuopt_basis_btran(basis, GPUOPT_HOST, 3, NULL, after), GPUOPT_OK);
            assert_memory_equal(before, after, sizeof before);
            gpuopt_basis_destroy(basis);
            basis_free(&b);
        }
    for (k = 0; k < WAYS; k++) gpuopt_context_destroy(context[k]);
}

/* Updates with every K that changes the method of the rank update, and by PFI. */
static void updates(void **state) {
    static const int32_t most[] = {0, 64, 90, 170, 256};
    gpuopt_context *context[WAYS];
    size_t n;
    int k, u;
    (void)state;
    make_contexts(context);
    for (k = 0; k < WAYS; k++)
        for (n = 0; n <= sizeof most / sizeof *most; n++) {
            int pfi = n == sizeof most / sizeof *most;
            basis_model b = basis_draw(BASIS_SPARSE, M, 90);
            gpuopt_basis *basis =
                basis_create(context[k], M, pfi ? GPUOPT_TECHNIQUE_PFI : GPUOPT_TECHNIQUE_DEFERRED, pfi ? 0 : most[n]);
            gpuopt_matrix columns = basis_columns(&b);
            gpuopt_basis_drift drift = GPUOPT_INIT(gpuopt_basis_drift);
            uint64_t seed = 91;
            assert_int_equal(gpuopt_basis_load(basis, &columns), GPUOPT_OK);
            for (u = 0; u < (pfi ? 20 : 300); u++) basis_enqueue_random(basis, &b, 9, &seed);
            assert_int_equal(basis_info(basis).updates, pfi ? 20 : 300);
            columns = basis_columns(&b);
            assert_int_equal(gpuopt_basis_get_drift(basis, &columns, 1, &drift), GPUOPT_OK);
            if (!(drift.norm < 1e-8)) fail_msg("K = %d, %d: drift %g", pfi ? 0 : (int)most[n], k, drift.norm);
            gpuopt_basis_destroy(basis);
            basis_free(&b);
        }
    for (k = 0; k < WAYS; k++) gpuopt_context_destroy(context[k]);
}

/* Without cuSOLVER, too, cuBLAS makes rank updates: from the identity, which no library loads, with the same bits. */
static void without_solver(void **state) {
    gpuopt_context *context[WAYS];
    double *found[WAYS];
    int k, u, i;
    (void)state;
    make_contexts(context);
    for (k = 0; k < WAYS; k++) {
        gpuopt_basis *basis = basis_create(context[k], M, GPUOPT_TECHNIQUE_DEFERRED, 256);
        basis_model b = basis_new(M);
        uint64_t seed = 97;
        for (i = 0; i < M; i++) b.entry[(int64_t)i * M + i] = 1;
        for (u = 0; u < 600; u++) basis_enqueue_random(basis, &b, 9, &seed);
        found[k] = calloc((size_t)M * M, sizeof *found[k]);
        assert_int_equal(gpuopt_basis_get_inverse(basis, GPUOPT_HOST, found[k]), GPUOPT_OK);
        gpuopt_basis_destroy(basis);
        basis_free(&b);
    }
    assert_memory_equal(found[0], found[1], sizeof **found * M * M);
    if (memcmp(found[0], found[2], sizeof **found * M * M) == 0)
        print_message("the same bits without libraries: none are in use\n");
    for (k = 0; k < WAYS; k++) {
        free(found[k]);
        gpuopt_context_destroy(context[k]);
    }
}

/* The same position repeatedly, and in turn with a second and a third. Each update needs the results of the earlier
 * ones in the rows of U that they still write. */
static void positions_in_turn(void **state) {
    static const int turns[][4] = {{5, 5, 5, 5}, {5, 9, 5, 9}, {5, 5, 9, 9}, {5, 9, 13, 5}};
    gpuopt_context *context = test_context(NULL);
    size_t n;
    int u, i;
    (void)state;
    for (n = 0; n < sizeof turns / sizeof *turns; n++) {
        basis_model b = basis_draw(BASIS_SPARSE, M, 95), original = basis_draw(BASIS_SPARSE, M, 95);
        gpuopt_basis *basis = basis_create(context, M, GPUOPT_TECHNIQUE_DEFERRED, 0);
        gpuopt_matrix columns = basis_columns(&b);
        gpuopt_basis_drift drift = GPUOPT_INIT(gpuopt_basis_drift);
        uint64_t seed = 96;
        assert_int_equal(gpuopt_basis_load(basis, &columns), GPUOPT_OK);
        for (u = 0; u < 200; u++) { /* a multiple of the first column, slightly changed: the pivot is large */
            int p = turns[n][u % 4];
            double *column = b.entry + (int64_t)p * M;
            for (i = 0; i < M; i++) column[i] = (1 + u % 3) * original.entry[(int64_t)p * M + i];
            column[test_random_int(&seed, 0, M - 1)] += 0.001;
            assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_HOST, 0, NULL, column, NULL), GPUOPT_OK);
            assert_int_equal(gpuopt_basis_update(basis, GPUOPT_HOST, p, NULL, NULL), GPUOPT_OK);
        }
        assert_int_equal(basis_info(basis).updates, 200);
        columns = basis_columns(&b);
        assert_int_equal(gpuopt_basis_get_drift(basis, &columns, 1, &drift), GPUOPT_OK);
        if (!(drift.norm < 1e-8)) fail_msg("turn %d: drift %g", (int)n, drift.norm);
        gpuopt_basis_destroy(basis);
        basis_free(&original);
        basis_free(&b);
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(inverses),       cmocka_unit_test(exact_inverses), cmocka_unit_test(same_bits),
    cmocka_unit_test(singular),       cmocka_unit_test(updates),        cmocka_unit_test(positions_in_turn),
    cmocka_unit_test(without_solver),
};
TEST_MAIN(tests)
