/* SPDX-License-Identifier: MIT
 *
 * Loading B: comparing the inverse with one computed in extended precision, and refusing a B that has no inverse.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/basis/basis.h"

/* The error of elimination with partial pivoting is m * eps * condition times the growth of the elements, which is
 * small for matrices such as these. */
enum { FACTOR = 8 };

static gpuopt_status load(gpuopt_basis *basis, basis_model *b) {
    gpuopt_matrix columns = basis_columns(b);
    return gpuopt_basis_load(basis, &columns);
}

static void inverse_of_many_kinds(void **state) {
    static const int32_t sizes[] = {1, 2, 3, 15, 16, 17, 33, 64, 100, 131, 257};
    gpuopt_context *context = test_context(NULL);
    size_t s;
    int kind;
    (void)state;
    for (s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        gpuopt_basis *basis = basis_create(context, sizes[s], GPUOPT_TECHNIQUE_DEFERRED, 0);
        gpuopt_basis *rows = basis_create(context, sizes[s], GPUOPT_TECHNIQUE_ELEMENT_PROPOSED, 0);
        /* The last size takes as long as all others: only one kind of it on slow backends. */
        const int step = test_few() && sizes[s] > 200 ? BASIS_KINDS : 1;
        for (kind = 0; kind < BASIS_KINDS; kind += step) {
            basis_model b = basis_draw((basis_kind)kind, sizes[s], 100 * s + (unsigned)kind);
            assert_int_equal(load(basis, &b), GPUOPT_OK);
            basis_check(basis, &b, FACTOR);
            assert_int_equal(load(rows, &b), GPUOPT_OK);
            basis_check(rows, &b, FACTOR);
            basis_free(&b);
        }
        gpuopt_basis_destroy(basis);
        gpuopt_basis_destroy(rows);
    }
    gpuopt_context_destroy(context);
}

/* A load applies its pivots in groups of K: every K must give the inverse. */
static void every_k_gives_the_inverse(void **state) {
    static const int32_t k[] = {1, 2, 7, 31, 32, 64, 200, 256};
    gpuopt_context *context = test_context(NULL);
    basis_model b = basis_draw(BASIS_DENSE, 120, 5);
    size_t s;
    (void)state;
    for (s = 0; s < sizeof k / sizeof *k; s++) {
        gpuopt_basis *basis = basis_create(context, b.m, GPUOPT_TECHNIQUE_DEFERRED, k[s]);
        assert_int_equal(load(basis, &b), GPUOPT_OK);
        basis_check(basis, &b, FACTOR);
        gpuopt_basis_destroy(basis);
    }
    basis_free(&b);
    gpuopt_context_destroy(context);
}

/* The identity is loaded at the start, and by NULL. */
static void identity(void **state) {
    gpuopt_context *context = test_context(NULL);
    basis_model unit = basis_new(20), b = basis_draw(BASIS_DENSE, 20, 3);
    int technique, i;
    (void)state;
    for (i = 0; i < 20; i++) unit.entry[i * 21] = 1;
    for (technique = GPUOPT_TECHNIQUE_DEFERRED; technique <= GPUOPT_TECHNIQUE_ELEMENT_PROPOSED; technique++) {
        gpuopt_basis *basis = basis_create(context, 20, (gpuopt_basis_technique)technique, 0);
        assert_true(basis_check(basis, &unit, 0) == 0);
        assert_int_equal(load(basis, &b), GPUOPT_OK);
        basis_check(basis, &b, FACTOR);
        assert_int_equal(gpuopt_basis_load(basis, NULL), GPUOPT_OK);
        assert_true(basis_check(basis, &unit, 0) == 0);
        gpuopt_basis_destroy(basis);
    }
    basis_free(&unit);
    basis_free(&b);
    gpuopt_context_destroy(context);
}

/* Hilbert matrices up to 12 x 12: each inverse must be accurate or refused, and at least one of size 8 x 8 or more must
 * be accurate. */
static void hilbert(void **state) {
    gpuopt_context *context = test_context(NULL);
    int32_t m, loaded = 0;
    (void)state;
    for (m = 1; m <= 12; m++) {
        basis_model b = basis_hilbert(m);
        gpuopt_basis *basis = basis_create(context, m, GPUOPT_TECHNIQUE_DEFERRED, 0);
        gpuopt_status status = load(basis, &b);
        if (status == GPUOPT_OK) {
            basis_check(basis, &b, FACTOR);
            loaded = m;
        } else {
            assert_int_equal(status, GPUOPT_ERROR_NUMERIC);
        }
        gpuopt_basis_destroy(basis);
        basis_free(&b);
    }
    assert_true(loaded >= 8); /* condition 1.5e10 */
    gpuopt_context_destroy(context);
}

/* A refused load changes nothing, and names one of the columns that depend on others. */
static void check_refused(test_host *host, gpuopt_context *context, basis_model *bad, const char *dependent) {
    int technique;
    for (technique = GPUOPT_TECHNIQUE_DEFERRED; technique <= GPUOPT_TECHNIQUE_ELEMENT_PROPOSED; technique++) {
        gpuopt_basis *basis = basis_create(context, bad->m, (gpuopt_basis_technique)technique, 5);
        basis_model good = basis_draw(BASIS_DENSE, bad->m, 77);
        uint64_t seed = 9;
        double *before = calloc((size_t)bad->m, sizeof *before), *after = calloc((size_t)bad->m, sizeof *after);
        gpuopt_basis_info info;
        assert_int_equal(load(basis, &good), GPUOPT_OK);
        basis_enqueue_random(basis, &good, bad->m / 2 + 1, &seed);
        assert_int_equal(gpuopt_basis_btran(basis, GPUOPT_HOST, 0, NULL, before), GPUOPT_OK);
        host->error[0] = 0;
        assert_int_equal(load(basis, bad), GPUOPT_ERROR_NUMERIC);
        assert_non_null(strstr(host->error, "gpuopt_basis_load"));
        info = basis_info(basis);
        assert_true(info.refused_position >= 0 && info.refused_position < bad->m);
        if (!dependent[info.refused_position]) fail_msg("column %d does not depend", (int)info.refused_position);
        assert_int_equal(info.updates, 1);
        assert_int_equal(info.pending, technique == GPUOPT_TECHNIQUE_DEFERRED);
        assert_int_equal(gpuopt_basis_btran(basis, GPUOPT_HOST, 0, NULL, after), GPUOPT_OK);
        assert_memory_equal(before, after, sizeof *after * (size_t)bad->m);
        basis_enqueue_random(basis, &good, bad->m / 2 + 1, &seed);
        basis_check(basis, &good, 1000);
        assert_int_equal(load(basis, &good), GPUOPT_OK);
        assert_int_equal(basis_info(basis).refused_position, -1);
        basis_check(basis, &good, FACTOR);
        gpuopt_basis_destroy(basis);
        basis_free(&good);
        free(before);
        free(after);
    }
}

static void singular_columns(void **state) {
    enum { M = 40 };
    test_host host;
    gpuopt_context *context = test_context(&host);
    char dependent[M];
    basis_model b;
    int i;
    (void)state;
    /* Three columns, each of which depends on the other two. */
    b = basis_draw(BASIS_DENSE, M, 1);
    memset(dependent, 0, sizeof dependent);
    for (i = 0; i < M; i++) b.entry[7 * M + i] = 2 * b.entry[20 * M + i] - 3 * b.entry[31 * M + i];
    dependent[7] = dependent[20] = dependent[31] = 1;
    check_refused(&host, context, &b, dependent);
    /* The same with a difference in the 13th digit. */
    b.entry[7 * M + 3] += 1e-13;
    check_refused(&host, context, &b, dependent);
    basis_free(&b);
    /* A column without entries. */
    b = basis_draw(BASIS_SPARSE, M, 2);
    memset(dependent, 0, sizeof dependent);
    for (i = 0; i < M; i++) b.entry[11 * M + i] = 0;
    dependent[11] = 1;
    check_refused(&host, context, &b, dependent);
    basis_free(&b);
    /* Two columns with a single entry each, in the same row. */
    b = basis_draw(BASIS_DENSE, M, 3);
    memset(dependent, 0, sizeof dependent);
    for (i = 0; i < M; i++) b.entry[5 * M + i] = b.entry[39 * M + i] = 0;
    b.entry[5 * M + 17] = 1e-5;
    b.entry[39 * M + 17] = -4e6;
    dependent[5] = dependent[39] = 1;
    check_refused(&host, context, &b, dependent);
    basis_free(&b);
    /* A row without entries: every column depends on the others. */
    b = basis_draw(BASIS_DENSE, M, 4);
    memset(dependent, 1, sizeof dependent);
    for (i = 0; i < M; i++) b.entry[i * M + 9] = 0;
    check_refused(&host, context, &b, dependent);
    basis_free(&b);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* A load discards pending updates. */
static void load_discards_updates(void **state) {
    gpuopt_context *context = test_context(NULL);
    basis_model b = basis_draw(BASIS_DENSE, 30, 11), changed = basis_draw(BASIS_DENSE, 30, 11);
    gpuopt_basis *basis = basis_create(context, 30, GPUOPT_TECHNIQUE_DEFERRED, 8);
    uint64_t seed = 12;
    int k, round;
    (void)state;
    for (round = 0; round < 2; round++) {
        assert_int_equal(load(basis, &b), GPUOPT_OK);
        assert_int_equal(basis_info(basis).updates + basis_info(basis).pending, 0);
        basis_check(basis, &b, FACTOR);
        memcpy(changed.entry, b.entry, sizeof *b.entry * 30 * 30);
        for (k = 0; k < 11; k++) basis_enqueue_random(basis, &changed, 30, &seed);
        assert_int_equal(basis_info(basis).pending, 3);
    }
    assert_int_equal(gpuopt_basis_load(basis, NULL), GPUOPT_OK);
    memset(b.entry, 0, sizeof *b.entry * 30 * 30);
    for (k = 0; k < 30; k++) b.entry[31 * k] = 1;
    assert_true(basis_check(basis, &b, 0) == 0);
    gpuopt_basis_destroy(basis);
    basis_free(&b);
    basis_free(&changed);
    gpuopt_context_destroy(context);
}

/* A smaller tolerance accepts bases that the default refuses, and a larger one refuses bases that the default
 * accepts. */
static void pivot_tolerance(void **state) {
    gpuopt_context *context = test_context(NULL);
    basis_model b = basis_new(2);
    gpuopt_basis_desc desc;
    gpuopt_basis *basis;
    static const double gap[] = {1e-13, 1e-10, 1e-10}, tolerance[] = {1e-15, 0, 1e-6};
    static const gpuopt_status expected[] = {GPUOPT_OK, GPUOPT_OK, GPUOPT_ERROR_NUMERIC};
    int k;
    (void)state;
    for (k = 0; k < 3; k++) {
        gpuopt_desc_init(&desc, sizeof desc);
        desc.m = 2;
        desc.pivot_tolerance = tolerance[k];
        assert_int_equal(gpuopt_basis_create(context, &desc, NULL, &basis), GPUOPT_OK);
        b.entry[0] = b.entry[1] = b.entry[2] = 1;
        b.entry[3] = 1 + gap[k];
        assert_int_equal(load(basis, &b), expected[k]);
        if (!expected[k]) basis_check(basis, &b, FACTOR);
        gpuopt_basis_destroy(basis);
    }
    basis_free(&b);
    gpuopt_context_destroy(context);
}

/* B by rows, in the caller's arrays: start [m + 1], index and value [m * m]. */
static gpuopt_matrix by_rows(const basis_model *b, int64_t *start, int32_t *index, double *value) {
    gpuopt_matrix rows = {0, 0, NULL, NULL, NULL, GPUOPT_LAYOUT_CSR};
    int64_t k = 0;
    int32_t i, j;
    start[0] = 0;
    for (i = 0; i < b->m; i++) {
        for (j = b->m - 1; j >= 0; j--) /* any order in a line is allowed */
            if (b->entry[(int64_t)j * b->m + i] != 0) {
                index[k] = j;
                value[k++] = b->entry[(int64_t)j * b->m + i];
            }
        start[i + 1] = k;
    }
    rows.rows = rows.cols = b->m;
    rows.start = start;
    rows.index = index;
    rows.value = value;
    return rows;
}

/* A matrix by rows gives the same bits as by columns. The transposed copy is released, also after a failure. */
static void rows_or_columns(void **state) {
    enum { M = 45 };
    static double by_col[M * M], by_row[M * M], value[M * M];
    static int32_t index[M * M];
    static int64_t start[M + 1];
    test_host host;
    gpuopt_context *context = test_context(&host);
    int kind, exact;
    (void)state;
    for (kind = 0; kind < BASIS_KINDS; kind++) {
        gpuopt_basis *basis = basis_create(context, M, GPUOPT_TECHNIQUE_DEFERRED, 0);
        basis_model b = basis_draw((basis_kind)kind, M, 70u + (unsigned)kind);
        gpuopt_matrix columns = basis_columns(&b), rows = by_rows(&b, start, index, value);
        gpuopt_basis_drift drift[2] = {GPUOPT_INIT(gpuopt_basis_drift), GPUOPT_INIT(gpuopt_basis_drift)};
        long live = host.live, allocations;
        assert_int_equal(gpuopt_basis_load(basis, &columns), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_get_inverse(basis, GPUOPT_HOST, by_col), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_load(basis, NULL), GPUOPT_OK);
        allocations = host.allocations;
        assert_int_equal(gpuopt_basis_load(basis, &rows), GPUOPT_OK);
        allocations = host.allocations - allocations; /* of a transposed copy, on the CPU */
        assert_int_equal(gpuopt_basis_get_inverse(basis, GPUOPT_HOST, by_row), GPUOPT_OK);
        assert_memory_equal(by_col, by_row, sizeof by_col);
        basis_check(basis, &b, FACTOR);
        for (exact = 0; exact < 2; exact++) {
            assert_int_equal(gpuopt_basis_get_drift(basis, &columns, exact, &drift[0]), GPUOPT_OK);
            assert_int_equal(gpuopt_basis_get_drift(basis, &rows, exact, &drift[1]), GPUOPT_OK);
            assert_true(drift[0].estimate == drift[1].estimate && drift[0].norm == drift[1].norm);
        }
        assert_int_equal(host.live, live);
        host.fail_at = host.allocations + 1; /* no memory for the transposed copy */
        drift[0].estimate = 5;
        assert_int_equal(gpuopt_basis_load(basis, &rows), allocations ? GPUOPT_ERROR_MEMORY : GPUOPT_OK);
        host.fail_at = host.allocations + 1;
        assert_int_equal(gpuopt_basis_get_drift(basis, &rows, 1, &drift[0]), GPUOPT_ERROR_MEMORY);
        host.fail_at = 0;
        assert_true(drift[0].estimate == 5);
        basis_check(basis, &b, FACTOR);
        start[M] = start[M - 1]; /* the last row has no entries: singular */
        assert_int_equal(gpuopt_basis_load(basis, &rows), GPUOPT_ERROR_NUMERIC);
        assert_int_equal(host.live, live);
        basis_check(basis, &b, FACTOR);
        gpuopt_basis_destroy(basis);
        basis_free(&b);
    }
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* If a row of the inverse is beyond the range of double, the load is refused, naming the column of B for that row. */
static void not_representable(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    gpuopt_basis *basis = basis_create(context, 3, GPUOPT_TECHNIQUE_DEFERRED, 0);
    basis_model b = basis_new(3);
    (void)state;
    b.entry[0] = b.entry[8] = 1;
    b.entry[4] = 0x1p-1060;
    assert_int_equal(load(basis, &b), GPUOPT_ERROR_NUMERIC);
    assert_int_equal(basis_info(basis).refused_position, 1);
    b.entry[4] = 0x1p-1000;
    assert_int_equal(load(basis, &b), GPUOPT_OK);
    basis_check(basis, &b, FACTOR);
    basis_free(&b);
    gpuopt_basis_destroy(basis);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(inverse_of_many_kinds),
    cmocka_unit_test(every_k_gives_the_inverse),
    cmocka_unit_test(identity),
    cmocka_unit_test(hilbert),
    cmocka_unit_test(singular_columns),
    cmocka_unit_test(pivot_tolerance),
    cmocka_unit_test(rows_or_columns),
    cmocka_unit_test(not_representable),
    cmocka_unit_test(load_discards_updates),
};
TEST_MAIN(tests)
