/* SPDX-License-Identifier: MIT
 *
 * The header's promises about arguments: which are refused, and that a refused call changes nothing. Structs of other
 * versions, and the smallest bases.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/basis/basis.h"

enum { M = 4 };

typedef struct fixture {
    test_host host;
    gpuopt_context *context;
    gpuopt_basis *basis;
    basis_model b;
} fixture;

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    gpuopt_matrix columns;
    f->context = test_strict_context(&f->host);
    f->basis = basis_create(f->context, M, GPUOPT_TECHNIQUE_DEFERRED, 0);
    f->b = basis_draw(BASIS_DENSE, M, 1);
    columns = basis_columns(&f->b);
    assert_int_equal(gpuopt_basis_load(f->basis, &columns), GPUOPT_OK);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    basis_check(f->basis, &f->b, 8); /* refused calls have changed nothing */
    gpuopt_basis_destroy(f->basis);
    gpuopt_context_destroy(f->context);
    assert_int_equal(f->host.live, 0);
    basis_free(&f->b);
    free(f);
    return 0;
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

/* Checks that a call returned this status, and that the log's message contains these words. */
static void check(fixture *f, gpuopt_status found, gpuopt_status expected, const char *words) {
    test_refused(&f->host, found, expected, words);
}

static void check_create(fixture *f, const gpuopt_basis_desc *desc, const char *words) {
    TEST_CREATE_REFUSED(basis, &f->host, f->context, desc, GPUOPT_ERROR_ARGUMENT, words);
}

static void descriptors(void **state) {
    fixture *f = *state;
    gpuopt_basis_desc good, desc;
    gpuopt_basis *basis;
    gpuopt_memory_plan plan;
    memset(&plan, 0, sizeof plan);
    gpuopt_desc_init(&good, sizeof good);
    good.m = M;
    check_create(f, NULL, "desc");
    desc = good, desc.m = -1;
    check_create(f, &desc, "m is not");
    desc = good, desc.m = INT32_MAX;
    check_create(f, &desc, "m is not");
    desc = good, desc.technique = (gpuopt_basis_technique)7;
    check_create(f, &desc, "technique");
    desc = good, desc.technique = (gpuopt_basis_technique)-1;
    check_create(f, &desc, "technique");
    desc = good, desc.deferred_updates = 257;
    check_create(f, &desc, "deferred_updates");
    desc = good, desc.deferred_updates = -1;
    check_create(f, &desc, "deferred_updates");
    desc = good, desc.pivot_tolerance = 1;
    check_create(f, &desc, "pivot_tolerance");
    desc = good, desc.pivot_tolerance = -1e-9;
    check_create(f, &desc, "pivot_tolerance");
    desc = good, desc.pivot_tolerance = NAN;
    check_create(f, &desc, "pivot_tolerance");
    desc = good, desc.struct_size = sizeof(size_t) - 1;
    check_create(f, &desc, "struct_size");
    check(f, gpuopt_basis_create(f->context, &good, NULL, NULL), GPUOPT_ERROR_ARGUMENT, "basis");
    check(f, gpuopt_basis_create(f->context, &good, &plan, NULL), GPUOPT_ERROR_ARGUMENT, "struct_size");
    assert_int_equal(gpuopt_basis_create(NULL, &good, NULL, &basis), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_basis_create(NULL, &good, &plan, NULL), GPUOPT_ERROR_ARGUMENT);
    gpuopt_basis_destroy(NULL);
}

static void check_columns(fixture *f, const gpuopt_matrix *columns, const char *words) {
    gpuopt_basis_drift drift;
    gpuopt_desc_init(&drift, sizeof drift);
    drift.estimate = 5;
    check(f, gpuopt_basis_load(f->basis, columns), GPUOPT_ERROR_ARGUMENT, words);
    check(f, gpuopt_basis_get_drift(f->basis, columns, 1, &drift), GPUOPT_ERROR_ARGUMENT, words);
    assert_true(drift.estimate == 5);
}

static void columns(void **state) {
    fixture *f = *state;
    int64_t start[M + 1] = {0, 2, 3, 4, 5};
    int32_t row[5] = {0, 1, 1, 2, 3};
    double val[5] = {1, 2, 3, 4, 5};
    gpuopt_matrix good = {M, M, NULL, NULL, NULL, GPUOPT_LAYOUT_CSC}, c;
    gpuopt_basis_drift drift;
    memset(&drift, 0, sizeof drift);
    good.start = start;
    good.index = row;
    good.value = val;
    c = good, c.rows = M - 1;
    check_columns(f, &c, "m x m");
    c = good, c.cols = M + 1;
    check_columns(f, &c, "m x m");
    c = good, c.layout = (gpuopt_layout)2;
    check_columns(f, &c, "layout");
    c = good, c.start = NULL;
    check_columns(f, &c, "start");
    c = good, c.index = NULL;
    check_columns(f, &c, "index");
    c = good, c.value = NULL;
    check_columns(f, &c, "value");
    start[0] = 1;
    check_columns(f, &good, "first entry is not 0");
    start[0] = 0, start[2] = 1;
    check_columns(f, &good, "start[2]");
    start[2] = 3, row[1] = 0;
    check_columns(f, &good, "column 0: row 0 comes twice, at index[1]");
    row[1] = M;
    check_columns(f, &good, "index[1] = 4 is not in 0..3");
    row[1] = -1;
    check_columns(f, &good, "index[1] = -1 is not in 0..3");
    row[1] = 1, val[3] = 0;
    check_columns(f, &good, "column 2: value[3] = 0 is zero");
    val[3] = NAN;
    check_columns(f, &good, "not finite");
    val[3] = -INFINITY;
    check_columns(f, &good, "not finite");
    val[3] = 4;
    check(f, gpuopt_basis_get_drift(f->basis, &good, 1, NULL), GPUOPT_ERROR_ARGUMENT, "drift");
    check(f, gpuopt_basis_get_drift(f->basis, &good, 1, &drift), GPUOPT_ERROR_ARGUMENT, "struct_size");
    gpuopt_desc_init(&drift, sizeof drift);
    check(f, gpuopt_basis_get_drift(f->basis, NULL, 1, &drift), GPUOPT_ERROR_ARGUMENT, "columns");
    assert_int_equal(gpuopt_basis_load(NULL, &good), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_basis_get_drift(NULL, &good, 1, &drift), GPUOPT_ERROR_ARGUMENT);
}

static void vectors(void **state) {
    fixture *f = *state;
    double x[M] = {1, 2, 3, 4}, y[M] = {5, 5, 5, 5};
    int32_t row[2] = {1, 3};
    const gpuopt_memory_space nowhere = (gpuopt_memory_space)2;
    int k;
    check(f, gpuopt_basis_ftran(f->basis, GPUOPT_HOST, 0, NULL, NULL, y), GPUOPT_ERROR_ARGUMENT, "rhs");
    check(f, gpuopt_basis_ftran(f->basis, nowhere, 0, NULL, x, y), GPUOPT_ERROR_ARGUMENT, "where");
    check(f, gpuopt_basis_btran(f->basis, GPUOPT_HOST, -1, NULL, y), GPUOPT_ERROR_ARGUMENT, "c is NULL");
    check(f, gpuopt_basis_btran(f->basis, GPUOPT_HOST, -1, x, NULL), GPUOPT_ERROR_ARGUMENT, "NULL");
    check(f, gpuopt_basis_btran(f->basis, nowhere, -1, x, y), GPUOPT_ERROR_ARGUMENT, "where");
    check(f, gpuopt_basis_btran(f->basis, GPUOPT_HOST, M, NULL, y), GPUOPT_ERROR_ARGUMENT, "position 4");
    check(f, gpuopt_basis_btran(f->basis, GPUOPT_HOST, -1, NULL, y), GPUOPT_ERROR_ARGUMENT, "c is NULL");
    check(f, gpuopt_basis_btran(f->basis, GPUOPT_HOST, 0, NULL, NULL), GPUOPT_ERROR_ARGUMENT, "NULL");
    check(f, gpuopt_basis_btran(f->basis, nowhere, 0, NULL, y), GPUOPT_ERROR_ARGUMENT, "where");
    check(f, gpuopt_basis_get_inverse(f->basis, GPUOPT_HOST, NULL), GPUOPT_ERROR_ARGUMENT, "NULL");
    check(f, gpuopt_basis_get_inverse(f->basis, nowhere, y), GPUOPT_ERROR_ARGUMENT, "where");
    check(f, gpuopt_basis_ftran(f->basis, GPUOPT_HOST, -1, row, x, y), GPUOPT_ERROR_ARGUMENT, "count");
    check(f, gpuopt_basis_ftran(f->basis, GPUOPT_HOST, M + 1, row, x, y), GPUOPT_ERROR_ARGUMENT, "count = 5");
    check(f, gpuopt_basis_ftran(f->basis, GPUOPT_HOST, 2, NULL, x, y), GPUOPT_ERROR_ARGUMENT, "row");
    check(f, gpuopt_basis_ftran(f->basis, GPUOPT_HOST, 2, row, NULL, y), GPUOPT_ERROR_ARGUMENT, "rhs");
    check(f, gpuopt_basis_ftran(f->basis, nowhere, 2, row, x, y), GPUOPT_ERROR_ARGUMENT, "where");
    row[1] = 1;
    check(f, gpuopt_basis_ftran(f->basis, GPUOPT_HOST, 2, row, x, y), GPUOPT_ERROR_ARGUMENT, "twice");
    row[1] = M;
    check(f, gpuopt_basis_ftran(f->basis, GPUOPT_HOST, 2, row, x, y), GPUOPT_ERROR_ARGUMENT,
          "index[1] = 4 is not in 0..3");
    row[1] = 3, x[1] = 0;
    check(f, gpuopt_basis_ftran(f->basis, GPUOPT_HOST, 2, row, x, y), GPUOPT_ERROR_ARGUMENT, "zero");
    x[1] = INFINITY;
    check(f, gpuopt_basis_ftran(f->basis, GPUOPT_HOST, 2, row, x, y), GPUOPT_ERROR_ARGUMENT, "not finite");
    check(f, gpuopt_basis_ftran(f->basis, GPUOPT_HOST, 0, NULL, x, y), GPUOPT_ERROR_ARGUMENT, "rhs[1]");
    x[1] = NAN;
    check(f, gpuopt_basis_btran(f->basis, GPUOPT_HOST, -1, x, y), GPUOPT_ERROR_ARGUMENT, "c[1]");
    for (k = 0; k < M; k++) assert_true(y[k] == 5);
    assert_int_equal(gpuopt_basis_ftran(NULL, GPUOPT_HOST, 0, NULL, x, y), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_basis_btran(NULL, GPUOPT_HOST, -1, x, y), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_basis_btran(NULL, GPUOPT_HOST, 0, NULL, y), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_basis_ftran(NULL, GPUOPT_HOST, 0, NULL, NULL, y), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_basis_get_inverse(NULL, GPUOPT_HOST, y), GPUOPT_ERROR_ARGUMENT);
}

static void updates(void **state) {
    fixture *f = *state;
    double alpha[M] = {1, 2, 3, 4};
    gpuopt_basis_info info, none;
    gpuopt_desc_init(&info, sizeof info);
    memset(&none, 0, sizeof none);
    check(f, gpuopt_basis_update(f->basis, GPUOPT_HOST, M, alpha, &info), GPUOPT_ERROR_ARGUMENT, "position");
    check(f, gpuopt_basis_update(f->basis, GPUOPT_HOST, -1, alpha, &info), GPUOPT_ERROR_ARGUMENT, "position");
    check(f, gpuopt_basis_update(f->basis, (gpuopt_memory_space)5, 0, alpha, &info), GPUOPT_ERROR_ARGUMENT, "where");
    check(f, gpuopt_basis_update(f->basis, (gpuopt_memory_space)5, 0, NULL, &info), GPUOPT_ERROR_ARGUMENT, "where");
    check(f, gpuopt_basis_update(f->basis, GPUOPT_HOST, 0, alpha, NULL), GPUOPT_ERROR_ARGUMENT, "device memory");
    check(f, gpuopt_basis_update(f->basis, GPUOPT_HOST, 0, alpha, &none), GPUOPT_ERROR_ARGUMENT, "struct_size");
    check(f, gpuopt_basis_get_info(f->basis, &none), GPUOPT_ERROR_ARGUMENT, "struct_size");
    check(f, gpuopt_basis_get_info(f->basis, NULL), GPUOPT_ERROR_ARGUMENT, "info");
    alpha[2] = NAN;
    check(f, gpuopt_basis_update(f->basis, GPUOPT_HOST, 0, alpha, &info), GPUOPT_ERROR_ARGUMENT, "alpha[2]");
    assert_int_equal(gpuopt_basis_update(NULL, GPUOPT_HOST, 0, NULL, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_basis_get_info(NULL, &info), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(basis_info(f->basis).updates, 0);
}

/* The result of an FTRAN can be used for one update, and not after a load. */
static void an_update_needs_an_ftran(void **state) {
    fixture *f = *state;
    gpuopt_matrix c = basis_columns(&f->b);
    gpuopt_basis_info info;
    double column[M] = {3, 1, -1, 2};
    gpuopt_desc_init(&info, sizeof info);
    check(f, gpuopt_basis_update(f->basis, GPUOPT_HOST, 0, NULL, &info), GPUOPT_ERROR_STATE, "FTRAN");
    check(f, gpuopt_basis_update(f->basis, GPUOPT_HOST, 0, NULL, NULL), GPUOPT_ERROR_STATE, "FTRAN");
    assert_int_equal(gpuopt_basis_ftran(f->basis, GPUOPT_HOST, 0, NULL, column, NULL), GPUOPT_OK);
    assert_int_equal(gpuopt_basis_load(f->basis, &c), GPUOPT_OK);
    check(f, gpuopt_basis_update(f->basis, GPUOPT_HOST, 0, NULL, &info), GPUOPT_ERROR_STATE, "FTRAN");
    assert_int_equal(basis_replace(f->basis, &f->b, 2, column), GPUOPT_OK);
    check(f, gpuopt_basis_update(f->basis, GPUOPT_HOST, 0, NULL, &info), GPUOPT_ERROR_STATE, "FTRAN");
    basis_check(f->basis, &f->b, 1000);
    c = basis_columns(&f->b);
    assert_int_equal(gpuopt_basis_load(f->basis, &c), GPUOPT_OK);
}

/* The pivot column and the inverse survive refused calls of every kind. */
static void refused_calls_leave_nothing_behind(void **state) {
    static const int64_t start[M + 1] = {0, 0, 0, 0, 0};
    fixture *f = *state;
    gpuopt_matrix c = basis_columns(&f->b), empty = c;
    gpuopt_basis_info info = GPUOPT_INIT(gpuopt_basis_info);
    double column[M] = {1, -2, 3, 5}, other[M] = {1, 1, 1, NAN}, alpha[M], y[M] = {5, 5, 5, 5};
    int32_t row[2] = {3, 3};
    int k;
    empty.start = start;
    assert_int_equal(gpuopt_basis_ftran(f->basis, GPUOPT_HOST, 0, NULL, column, alpha), GPUOPT_OK);
    check(f, gpuopt_basis_load(f->basis, &empty), GPUOPT_ERROR_NUMERIC, "gpuopt_basis_load");
    check(f, gpuopt_basis_ftran(f->basis, GPUOPT_HOST, 0, NULL, other, y), GPUOPT_ERROR_ARGUMENT, "rhs[3]");
    check(f, gpuopt_basis_btran(f->basis, GPUOPT_HOST, -1, other, y), GPUOPT_ERROR_ARGUMENT, "c[3]");
    check(f, gpuopt_basis_ftran(f->basis, GPUOPT_HOST, 2, row, column, y), GPUOPT_ERROR_ARGUMENT, "twice");
    check(f, gpuopt_basis_btran(f->basis, GPUOPT_HOST, M, NULL, y), GPUOPT_ERROR_ARGUMENT, "position");
    check(f, gpuopt_basis_update(f->basis, GPUOPT_HOST, 1, other, &info), GPUOPT_ERROR_ARGUMENT, "alpha[3]");
    memset(other, 0, sizeof other);
    check(f, gpuopt_basis_update(f->basis, GPUOPT_HOST, 1, other, &info), GPUOPT_ERROR_NUMERIC, "position 1");
    for (k = 0; k < M; k++) assert_true(y[k] == 5);
    assert_int_equal(basis_info(f->basis).updates, 0);
    assert_int_equal(basis_info(f->basis).pending, 0);
    /* The update uses the pivot column of the FTRAN above; the model follows. */
    for (k = 0; fabs(alpha[k]) < 0.1; k++) continue;
    assert_int_equal(gpuopt_basis_update(f->basis, GPUOPT_HOST, k, NULL, &info), GPUOPT_OK);
    memcpy(f->b.entry + (size_t)k * M, column, sizeof column);
    basis_check(f->basis, &f->b, 1000);
    c = basis_columns(&f->b);
    assert_int_equal(gpuopt_basis_load(f->basis, &c), GPUOPT_OK);
}

/* _get_info before the first update. */
static void info_of_a_new_basis(void **state) {
    fixture *f = *state;
    gpuopt_basis *basis = basis_create(f->context, M, GPUOPT_TECHNIQUE_DEFERRED, 7);
    gpuopt_basis_info info = basis_info(basis);
    assert_int_equal(info.updates, 0);
    assert_int_equal(info.deferred_updates, 7);
    assert_int_equal(info.pending, 0);
    assert_int_equal(info.refused_position, -1);
    gpuopt_basis_destroy(basis);
}

/* m = 0: every call works, on nothing. */
static void no_rows(void **state) {
    static const int64_t start[1] = {0};
    fixture *f = *state;
    gpuopt_matrix none = {0, 0, NULL, NULL, NULL, GPUOPT_LAYOUT_CSC};
    gpuopt_basis_drift drift;
    double nothing[1] = {8};
    int technique;
    gpuopt_desc_init(&drift, sizeof drift);
    none.start = start;
    for (technique = GPUOPT_TECHNIQUE_DEFERRED; technique <= GPUOPT_TECHNIQUE_ELEMENT_PROPOSED; technique++) {
        gpuopt_basis *basis = basis_create(f->context, 0, (gpuopt_basis_technique)technique, 0);
        assert_int_equal(gpuopt_basis_load(basis, &none), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_load(basis, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_HOST, 0, NULL, NULL, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_HOST, 0, NULL, nothing, nothing), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_btran(basis, GPUOPT_HOST, -1, nothing, nothing), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_HOST, 0, NULL, NULL, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_get_drift(basis, &none, 1, &drift), GPUOPT_OK);
        assert_true(drift.estimate == 0 && drift.norm == 0);
        assert_int_equal(gpuopt_basis_get_inverse(basis, GPUOPT_HOST, nothing), GPUOPT_OK);
        check(f, gpuopt_basis_btran(basis, GPUOPT_HOST, 0, NULL, nothing), GPUOPT_ERROR_ARGUMENT, "position");
        check(f, gpuopt_basis_update(basis, GPUOPT_HOST, 0, NULL, NULL), GPUOPT_ERROR_ARGUMENT, "position");
        assert_int_equal(basis_info(basis).updates, 0);
        assert_true(nothing[0] == 8);
        gpuopt_basis_destroy(basis);
    }
}

/* By hand: B = [2], then [[2, 1], [4, 3]] with the inverse [[1.5, -0.5], [-2, 1]]; exact in binary. */
static void one_and_two_rows(void **state) {
    static const int64_t start[3] = {0, 1, 2}, start2[3] = {0, 2, 4};
    static const int32_t row[4] = {0, 1, 0, 1};
    static const double two[1] = {2}, val[4] = {2, 4, 1, 3}, expected[4] = {1.5, -0.5, -2, 1};
    fixture *f = *state;
    int technique, k;
    for (technique = GPUOPT_TECHNIQUE_DEFERRED; technique <= GPUOPT_TECHNIQUE_ELEMENT_PROPOSED; technique++) {
        gpuopt_basis *one = basis_create(f->context, 1, (gpuopt_basis_technique)technique, 0);
        gpuopt_basis *pair = basis_create(f->context, 2, (gpuopt_basis_technique)technique, 0);
        gpuopt_matrix c = {1, 1, NULL, NULL, NULL, GPUOPT_LAYOUT_CSC};
        gpuopt_basis_info info;
        double x[4] = {6, 0, 0, 0};
        gpuopt_desc_init(&info, sizeof info);
        c.start = start;
        c.index = row;
        c.value = two;
        assert_int_equal(gpuopt_basis_load(one, &c), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_ftran(one, GPUOPT_HOST, 0, NULL, x, x), GPUOPT_OK);
        assert_true(x[0] == 3);
        assert_int_equal(gpuopt_basis_update(one, GPUOPT_HOST, 0, NULL, &info), GPUOPT_OK); /* B = [6] */
        assert_int_equal(gpuopt_basis_btran(one, GPUOPT_HOST, -1, x, x), GPUOPT_OK);
        assert_true(fabs(x[0] - 0.5) < 1e-15);
        c.rows = c.cols = 2;
        c.start = start2;
        c.value = val;
        assert_int_equal(gpuopt_basis_load(pair, &c), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_get_inverse(pair, GPUOPT_HOST, x), GPUOPT_OK);
        for (k = 0; k < 4; k++) assert_true(fabs(x[k] - expected[k]) < 1e-14);
        gpuopt_basis_destroy(one);
        gpuopt_basis_destroy(pair);
    }
}

static const struct CMUnitTest tests[] = {
    TEST(descriptors),
    TEST(columns),
    TEST(vectors),
    TEST(updates),
    TEST(an_update_needs_an_ftran),
    TEST(refused_calls_leave_nothing_behind),
    TEST(info_of_a_new_basis),
    TEST(no_rows),
    TEST(one_and_two_rows),
};
TEST_MAIN(tests)
