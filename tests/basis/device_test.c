/* SPDX-License-Identifier: MIT
 *
 * Features of the CUDA backend only: arrays in device memory, updates enqueued on the caller's own stream, and the
 * limit of COLUMN. Sizes are large enough for several blocks of every kernel.
 */
#include <cuda_runtime_api.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/basis/basis.h"

static void *on_device(const void *from, size_t bytes) {
    void *to = test_device_allocate(bytes);
    if (from) test_device_copy(to, from, bytes);
    return to;
}

/* Every call gives the same bits with arrays in device memory as with arrays in host memory. */
static void device_arrays(void **state) {
    enum { M = 333 };
    static double x[M], y[M], z[M], inverse[M * M], copy[M * M];
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 3;
    int technique, k, e;
    double *device = on_device(NULL, sizeof x), *other = on_device(NULL, sizeof x),
           *whole = on_device(NULL, sizeof copy);
    int32_t row[40], *device_row;
    (void)state;
    for (k = 0; k < M; k++) x[k] = test_random(&seed);
    for (k = 0; k < 40; k++) row[k] = 8 * k + 3;
    device_row = on_device(row, sizeof row);
    for (technique = GPUOPT_TECHNIQUE_DEFERRED; technique <= GPUOPT_TECHNIQUE_ELEMENT_PROPOSED; technique++) {
        gpuopt_basis *basis = basis_create(context, M, (gpuopt_basis_technique)technique, 0);
        basis_model b = basis_draw(BASIS_DENSE, M, 4);
        gpuopt_matrix columns = basis_columns(&b);
        gpuopt_basis_info info;
        gpuopt_desc_init(&info, sizeof info);
        assert_int_equal(gpuopt_basis_load(basis, &columns), GPUOPT_OK);
        for (k = 0; k < 5; k++) basis_enqueue_random(basis, &b, M, &seed);
        assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_HOST, 0, NULL, x, y), GPUOPT_OK);
        test_device_copy(device, x, sizeof x);
        assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_DEVICE, 0, NULL, device, other), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_DEVICE, 0, NULL, device, device), GPUOPT_OK);
        assert_int_equal(gpuopt_context_wait(context), GPUOPT_OK);
        test_device_copy(z, other, sizeof z);
        assert_memory_equal(y, z, sizeof y);
        test_device_copy(z, device, sizeof z);
        assert_memory_equal(y, z, sizeof y);
        assert_int_equal(gpuopt_basis_btran(basis, GPUOPT_HOST, -1, x, y), GPUOPT_OK);
        test_device_copy(device, x, sizeof x);
        assert_int_equal(gpuopt_basis_btran(basis, GPUOPT_DEVICE, -1, device, device), GPUOPT_OK);
        assert_int_equal(gpuopt_context_wait(context), GPUOPT_OK);
        test_device_copy(z, device, sizeof z);
        assert_memory_equal(y, z, sizeof y);
        assert_int_equal(gpuopt_basis_btran(basis, GPUOPT_HOST, 100, NULL, y), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_btran(basis, GPUOPT_DEVICE, 100, NULL, device), GPUOPT_OK);
        assert_int_equal(gpuopt_context_wait(context), GPUOPT_OK);
        test_device_copy(z, device, sizeof z);
        assert_memory_equal(y, z, sizeof y);
        assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_HOST, 40, row, x, y), GPUOPT_OK);
        test_device_copy(other, x, 40 * sizeof *x);
        assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_DEVICE, 40, device_row, other, device), GPUOPT_OK);
        assert_int_equal(gpuopt_context_wait(context), GPUOPT_OK);
        test_device_copy(z, device, sizeof z);
        assert_memory_equal(y, z, sizeof y);
        /* alpha in device memory: with info, and enqueued. */
        for (k = 0; fabs(z[k]) < 0.1; k++) continue;
        memset(b.entry + (int64_t)k * M, 0, sizeof x);
        for (e = 0; e < 40; e++) b.entry[(int64_t)k * M + row[e]] = x[e];
        if (technique % 2) {
            assert_int_equal(gpuopt_basis_update(basis, GPUOPT_DEVICE, k, device, &info), GPUOPT_OK);
            assert_int_equal(info.updates, 6);
        } else {
            assert_int_equal(gpuopt_basis_update(basis, GPUOPT_DEVICE, k, device, NULL), GPUOPT_OK);
            assert_int_equal(basis_info(basis).updates, 6);
        }
        assert_int_equal(gpuopt_basis_get_inverse(basis, GPUOPT_DEVICE, whole), GPUOPT_OK);
        assert_int_equal(gpuopt_context_wait(context), GPUOPT_OK);
        test_device_copy(copy, whole, sizeof copy);
        assert_int_equal(gpuopt_basis_get_inverse(basis, GPUOPT_HOST, inverse), GPUOPT_OK);
        assert_memory_equal(inverse, copy, sizeof copy);
        basis_check(basis, &b, 1000);
        gpuopt_basis_destroy(basis);
        basis_free(&b);
    }
    test_device_release(device);
    test_device_release(other);
    test_device_release(whole);
    test_device_release(device_row);
    gpuopt_context_destroy(context);
}

/* Sparse columns of any length in device memory give the same bits as columns in host memory. Wrong entries are
 * refused, and the result is not written. */
static void sparse_columns(void **state) {
    enum { M = 600 };
    static const int32_t counts[] = {0, 1, 32, 33, 240, 241, M};
    static double val[M], x[M], y[M], bad[M];
    static int32_t row[M], wrong[M];
    test_host host;
    gpuopt_context *context = test_context(&host);
    basis_model b = basis_draw(BASIS_SPARSE, M, 40);
    gpuopt_matrix columns = basis_columns(&b);
    double *result = on_device(NULL, sizeof x), *device_val;
    int32_t *device_row;
    uint64_t seed = 41;
    int technique, k, n;
    (void)state;
    for (k = 0; k < M; k++) {
        row[k] = k * 7 % M; /* 7 and M have no common divisor */
        val[k] = 1 + test_random(&seed);
    }
    device_row = on_device(row, sizeof row);
    device_val = on_device(val, sizeof val);
    for (technique = GPUOPT_TECHNIQUE_DEFERRED; technique <= GPUOPT_TECHNIQUE_ELEMENT_PROPOSED; technique += 6) {
        gpuopt_basis *basis = basis_create(context, M, (gpuopt_basis_technique)technique, 0);
        assert_int_equal(gpuopt_basis_load(basis, &columns), GPUOPT_OK);
        for (n = 0; n < (int)(sizeof counts / sizeof *counts); n++) {
            assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_HOST, counts[n], row, val, x), GPUOPT_OK);
            assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_DEVICE, counts[n], device_row, device_val, result),
                             GPUOPT_OK);
            assert_int_equal(gpuopt_context_wait(context), GPUOPT_OK);
            test_device_copy(y, result, sizeof y);
            assert_memory_equal(x, y, sizeof x);
        }
        for (k = 0; k < 3; k++) { /* a row below the range, above it, and one that comes twice */
            memcpy(wrong, row, sizeof row);
            wrong[300] = k == 0 ? -1 : k == 1 ? M : row[5];
            test_device_copy(device_row, wrong, sizeof wrong);
            host.error[0] = 0;
            assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_DEVICE, M, device_row, device_val, result),
                             GPUOPT_ERROR_ARGUMENT);
            assert_non_null(strstr(host.error, "index[300]"));
        }
        test_device_copy(device_row, row, sizeof row);
        memcpy(bad, val, sizeof bad);
        bad[17] = NAN;
        test_device_copy(device_val, bad, sizeof bad);
        assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_DEVICE, M, device_row, device_val, result),
                         GPUOPT_ERROR_ARGUMENT);
        assert_non_null(strstr(host.error, "value[17]"));
        test_device_copy(device_val, val, sizeof val);
        test_device_copy(y, result, sizeof y);
        assert_memory_equal(x, y, sizeof x);
        gpuopt_basis_destroy(basis);
    }
    basis_free(&b);
    test_device_release(result);
    test_device_release(device_row);
    test_device_release(device_val);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* NaN and infinity in device memory are refused like pivots that are too small. */
static void alpha_that_is_not_finite(void **state) {
    enum { M = 70 };
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    gpuopt_context *context = test_context(NULL);
    gpuopt_basis *basis = basis_create(context, M, GPUOPT_TECHNIQUE_DEFERRED, 0);
    gpuopt_basis_info info;
    int k, at, i;
    (void)state;
    gpuopt_desc_init(&info, sizeof info);
    for (k = 0; k < 3; k++)
        for (at = 5; at < M; at += 60) {
            double alpha[M], *device;
            for (i = 0; i < M; i++) alpha[i] = 1;
            alpha[at] = bad[k];
            device = on_device(alpha, sizeof alpha);
            assert_int_equal(gpuopt_basis_update(basis, GPUOPT_DEVICE, 5, device, &info), GPUOPT_ERROR_NUMERIC);
            assert_int_equal(gpuopt_basis_update(basis, GPUOPT_DEVICE, 5, device, NULL), GPUOPT_OK);
            assert_int_equal(basis_info(basis).updates, 0);
            assert_int_equal(basis_info(basis).refused_position, 5);
            test_device_release(device);
        }
    gpuopt_basis_destroy(basis);
    gpuopt_context_destroy(context);
}

/* Large enough for many tiles of a rank update, several parts of a linear combination, and several stages of a load. */
static void large(void **state) {
    enum { M = 1500, UPDATES = 150 };
    gpuopt_context *context = test_context(NULL);
    basis_model b = basis_draw(BASIS_DENSE, M, 5);
    gpuopt_matrix columns = basis_columns(&b);
    static const int techniques[] = {GPUOPT_TECHNIQUE_DEFERRED, GPUOPT_TECHNIQUE_ELEMENT_PROPOSED,
                                     GPUOPT_TECHNIQUE_COLUMN, GPUOPT_TECHNIQUE_PFI};
    static double x[M];
    int t, k, i, j;
    (void)state;
    for (t = 0; t < 4; t++) {
        gpuopt_basis *basis = basis_create(context, M, (gpuopt_basis_technique)techniques[t], 0);
        basis_model now = basis_new(M);
        gpuopt_basis_drift drift;
        gpuopt_matrix changed;
        uint64_t seed = 6;
        double worst = 0;
        gpuopt_desc_init(&drift, sizeof drift);
        memcpy(now.entry, b.entry, sizeof *b.entry * M * M);
        assert_int_equal(gpuopt_basis_load(basis, &columns), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_get_drift(basis, &columns, 1, &drift), GPUOPT_OK);
        assert_true(drift.norm < 1e-8);
        for (k = 0; k < UPDATES; k++) basis_enqueue_random(basis, &now, k % 2 ? M : 7, &seed);
        assert_int_equal(basis_info(basis).updates, UPDATES);
        changed = basis_columns(&now);
        assert_int_equal(gpuopt_basis_get_drift(basis, &changed, 1, &drift), GPUOPT_OK);
        if (!(drift.norm < 1e-7)) fail_msg("technique %d: drift %g", techniques[t], drift.norm);
        /* The FTRAN of column j of B is the unit vector e_j. */
        for (j = 0; j < M; j += 499) {
            assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_HOST, 0, NULL, now.entry + (int64_t)j * M, x), GPUOPT_OK);
            for (i = 0; i < M; i++) worst = fmax(worst, fabs(x[i] - (i == j)));
        }
        assert_true(worst < 1e-7);
        gpuopt_basis_destroy(basis);
        basis_free(&now);
    }
    basis_free(&b);
    gpuopt_context_destroy(context);
}

static void column_has_a_limit(void **state) {
    gpuopt_context *context;
    gpuopt_basis_desc desc;
    gpuopt_memory_plan plan;
    gpuopt_basis *basis;
    test_host host;
    int limit = 0;
    (void)state;
    context = test_context(&host);
    assert_int_equal(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), cudaSuccess);
    gpuopt_desc_init(&desc, sizeof desc);
    gpuopt_desc_init(&plan, sizeof plan);
    desc.technique = GPUOPT_TECHNIQUE_COLUMN;
    desc.m = limit / 8 + 1;
    assert_int_equal(gpuopt_basis_create(context, &desc, NULL, &basis), GPUOPT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(host.error, "COLUMN"));
    assert_int_equal(gpuopt_basis_create(context, &desc, &plan, NULL), GPUOPT_ERROR_UNSUPPORTED);
    desc.m = 7000; /* more than the 48 KB that a block has by default */
    if (desc.m < limit / 8) {
        static double alpha[7000];
        gpuopt_basis_info info;
        gpuopt_desc_init(&info, sizeof info);
        assert_int_equal(gpuopt_basis_create(context, &desc, NULL, &basis), GPUOPT_OK);
        alpha[6999] = 2;
        alpha[0] = 1;
        assert_int_equal(gpuopt_basis_update(basis, GPUOPT_HOST, 6999, alpha, &info), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_btran(basis, GPUOPT_HOST, 0, NULL, alpha), GPUOPT_OK);
        assert_true(alpha[0] == 1 && alpha[6999] == -0.5);
        gpuopt_basis_destroy(basis);
    }
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* On a stream of the caller, calls are ordered with the caller's own work, and none waits. */
static void own_stream(void **state) {
    enum { M = 100 };
    gpuopt_context_desc desc = test_context_desc(NULL);
    gpuopt_context *context;
    gpuopt_basis *basis;
    cudaStream_t stream;
    double x[M], y[M], *device = on_device(NULL, sizeof x);
    int i;
    (void)state;
    assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
    desc.stream = stream;
    assert_int_equal(gpuopt_context_create(&desc, &context), GPUOPT_OK);
    basis = basis_create(context, M, GPUOPT_TECHNIQUE_DEFERRED, 3);
    for (i = 0; i < M; i++) x[i] = i + 1;
    assert_int_equal(cudaMemcpyAsync(device, x, sizeof x, cudaMemcpyHostToDevice, stream), cudaSuccess);
    for (i = 0; i < 10; i++) { /* replace column 50 by x, again and again */
        assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_DEVICE, 0, NULL, device, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_update(basis, GPUOPT_DEVICE, 50, NULL, NULL), GPUOPT_OK);
    }
    assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_DEVICE, 0, NULL, device, device), GPUOPT_OK);
    assert_int_equal(cudaMemcpyAsync(y, device, sizeof y, cudaMemcpyDeviceToHost, stream), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
    for (i = 0; i < M; i++) assert_true(fabs(y[i] - (i == 50)) < 1e-12); /* x is column 50 of B */
    gpuopt_basis_destroy(basis);
    gpuopt_context_destroy(context);
    cudaStreamDestroy(stream);
    test_device_release(device);
}

/* Updates an inverse in long double: divides row p by alpha[p], and subtracts alpha[i] times the result from row i. */
static void replace_row(long double *inverse, int m, int p, const double *alpha) {
    int i, j;
    for (j = 0; j < m; j++) inverse[p * m + j] /= alpha[p];
    for (i = 0; i < m; i++)
        for (j = 0; i != p && j < m; j++) inverse[i * m + j] -= alpha[i] * inverse[p * m + j];
}

/* Updates enqueued one after the other, so that their kernels overlap: at other positions, at the same position, with
 * refused updates in between, and more updates than U can hold. */
static void updates_in_a_row(void **state) {
    enum { M = 700, ALPHAS = 40, UPDATES = 60 };
    static const int step[] = {0, 1, 0, 350, 0, 0, 33, 0};
    gpuopt_context *context = test_context(NULL);
    double alpha[M], *device[ALPHAS], *inverse = malloc(sizeof *inverse * M * M);
    long double *expected = malloc(sizeof *expected * M * M);
    uint64_t seed = 12;
    int technique, k, i;
    (void)state;
    assert_true(inverse && expected);
    for (technique = GPUOPT_TECHNIQUE_DEFERRED; technique <= GPUOPT_TECHNIQUE_ELEMENT_PROPOSED; technique++) {
        gpuopt_basis *basis = basis_create(context, M, (gpuopt_basis_technique)technique, 17);
        int position[ALPHAS], refused[ALPHAS], p = 5, accepted = 0;
        long double most = 0;
        for (k = 0; k < ALPHAS; k++) {
            p = (p + step[k % 8]) % M;
            position[k] = p;
            refused[k] = k % 8 == 3 || k % 8 == 4 || k % 8 == 7;
            for (i = 0; i < M; i++) alpha[i] = 0.05 * test_random(&seed);
            alpha[p] = refused[k] ? 0 : 1 + 0.1 * test_random(&seed);
            device[k] = on_device(alpha, sizeof alpha);
        }
        for (i = 0; i < M * M; i++) expected[i] = i % (M + 1) == 0;
        for (k = 0; k < UPDATES; k++)
            assert_int_equal(gpuopt_basis_update(basis, GPUOPT_DEVICE, position[k % ALPHAS], device[k % ALPHAS], NULL),
                             GPUOPT_OK);
        for (k = 0; k < UPDATES; k++) {
            if (refused[k % ALPHAS]) continue;
            test_device_copy(alpha, device[k % ALPHAS], sizeof alpha);
            replace_row(expected, M, position[k % ALPHAS], alpha);
            accepted++;
        }
        assert_int_equal(basis_info(basis).updates, accepted);
        assert_int_equal(gpuopt_basis_get_inverse(basis, GPUOPT_HOST, inverse), GPUOPT_OK);
        for (i = 0; i < M * M; i++) most = fmaxl(most, fabsl(expected[i]));
        for (i = 0; i < M * M; i++) assert_true(fabsl(inverse[i] - expected[i]) <= 1000 * DBL_EPSILON * most);
        for (k = 0; k < ALPHAS; k++) test_device_release(device[k]);
        gpuopt_basis_destroy(basis);
    }
    free(inverse);
    free(expected);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(device_arrays),
    cmocka_unit_test(sparse_columns),
    cmocka_unit_test(alpha_that_is_not_finite),
    cmocka_unit_test(large),
    cmocka_unit_test(column_has_a_limit),
    cmocka_unit_test(own_stream),
    cmocka_unit_test(updates_in_a_row),
};
TEST_MAIN(tests)
