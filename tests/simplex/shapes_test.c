/* SPDX-License-Identifier: MIT
 *
 * Models of every shape and with every kind of row and bound, solved by hand; the same model as dense columns, sparse
 * columns and sparse rows.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/answer.h"

static const double inf = INFINITY;

/* In every way to run. */
static void expect(const mip *m, const char *name, gpuopt_outcome outcome, double objective) {
    gpuopt_context *context = test_context(NULL);
    int variant;
    for (variant = 0; variant < VARIANTS; variant++) {
        gpuopt_simplex_desc desc = tableau_desc(m);
        variant_set(&desc, variant);
        answer_expect(context, &desc, m, name, outcome, objective, 1e-12);
    }
    gpuopt_context_destroy(context);
}

/* A single row: the kinds of its sides; x, y in [0, 10], min x + 2 y + 5. */
static void kinds_of_rows(void **state) {
    static const struct {
        const char *name;
        double a[2], lhs, rhs;
        gpuopt_outcome outcome;
        double objective;
    } c[] = {
        {"at least", {1, 1}, 3, inf, GPUOPT_OPTIMAL, 8},
        {"at most", {1, 1}, -inf, 3, GPUOPT_OPTIMAL, 5},
        {"at most, negative", {-1, -1}, -inf, -3, GPUOPT_OPTIMAL, 8},
        {"equation", {1, 1}, 12, 12, GPUOPT_OPTIMAL, 19},
        {"range", {1, -1}, -4, -2, GPUOPT_OPTIMAL, 9},
        {"range that the bounds imply", {1, 1}, -1, 100, GPUOPT_OPTIMAL, 5},
        {"free", {1, 1}, -inf, inf, GPUOPT_OPTIMAL, 5},
        {"beyond the bounds", {1, 1}, 20.5, inf, GPUOPT_INFEASIBLE, 0},
        {"just within the bounds", {1, 1}, 20, inf, GPUOPT_OPTIMAL, 35},
        {"empty, which admits 0", {0, 0}, -1, 1, GPUOPT_OPTIMAL, 5},
        {"empty, at its side", {0, 0}, 0, 0, GPUOPT_OPTIMAL, 5},
        {"empty, which does not", {0, 0}, 1, 2, GPUOPT_INFEASIBLE, 0},
        {"equation of fractions", {3, 7}, 0.5, 0.5, GPUOPT_OPTIMAL, 5 + 1. / 7},
    };
    static const double cost[] = {1, 2}, ub[] = {10, 10};
    size_t k;
    (void)state;
    for (k = 0; k < sizeof c / sizeof *c; k++) {
        mip m = model_of(1, 2, c[k].a, cost, &c[k].lhs, &c[k].rhs, NULL, ub);
        m.offset = 5;
        expect(&m, c[k].name, c[k].outcome, c[k].objective);
        mip_free(&m);
    }
}

/* A column beside y in [0, 1]: x + y in [-100, 100], max or min 2 x. */
static void kinds_of_bounds(void **state) {
    static const struct {
        const char *name;
        double lb, ub;
        double least, most;
    } c[] = {
        {"from 0", 0, inf, 0, 200},     {"to 0", -inf, 0, -202, 0},          {"boxed", -3, 7, -6, 14},
        {"fixed", 4, 4, 8, 8},          {"fixed at 0", 0, 0, 0, 0},          {"negative", -9, -2, -18, -4},
        {"free", -inf, inf, -202, 200}, {"as 1e20", -1e20, 1e20, -202, 200}, {"to -5", -inf, -5, -202, -10},
        {"from 6", 6, inf, 12, 200},
    };
    static const double a[] = {1, 1}, cost[] = {2, 0}, lhs = -100, rhs = 100;
    size_t k;
    (void)state;
    for (k = 0; k < sizeof c / sizeof *c; k++) {
        double lb[2] = {0, 0}, ub[2] = {0, 1};
        mip m;
        lb[0] = c[k].lb, ub[0] = c[k].ub;
        m = model_of(1, 2, a, cost, &lhs, &rhs, lb, ub);
        expect(&m, c[k].name, GPUOPT_OPTIMAL, c[k].least);
        m.maximize = 1;
        expect(&m, c[k].name, GPUOPT_OPTIMAL, c[k].most);
        mip_free(&m);
    }
}

/* Without rows, columns, or entries. */
static void nothing_there(void **state) {
    static const double cost[] = {1, -2, 0}, lb[] = {1, -1, 2}, ub[] = {inf, 3, 2}, zeros[6] = {0};
    static const double good_lhs[] = {0, -1}, bad_lhs[] = {0, 1}, far[] = {inf, inf};
    gpuopt_context *context = test_context(NULL);
    gpuopt_simplex_desc desc;
    gpuopt_simplex_info info;
    gpuopt_simplex *simplex;
    mip m = model_of(0, 3, zeros, cost, NULL, NULL, lb, ub);
    (void)state;
    expect(&m, "no rows", GPUOPT_OPTIMAL, -5);
    m.maximize = 1;
    expect(&m, "no rows, unbounded", GPUOPT_UNBOUNDED, 0);
    mip_free(&m);
    m = model_of(2, 0, zeros, NULL, good_lhs, far, NULL, NULL);
    m.offset = 3;
    expect(&m, "no columns", GPUOPT_OPTIMAL, 3);
    mip_free(&m);
    m = model_of(2, 0, zeros, NULL, bad_lhs, far, NULL, NULL);
    expect(&m, "no columns, infeasible", GPUOPT_INFEASIBLE, 0);
    mip_free(&m);
    m = model_of(2, 3, zeros, cost, good_lhs, far, lb, ub);
    expect(&m, "no entries", GPUOPT_OPTIMAL, -5);
    mip_free(&m);
    m = model_of(0, 0, zeros, NULL, NULL, NULL, NULL, NULL);
    m.offset = -1;
    expect(&m, "nothing", GPUOPT_OPTIMAL, -1);
    mip_free(&m);
    gpuopt_desc_init(&desc, sizeof desc); /* nothing at all in the descriptor */
    simplex = simplex_create(context, &desc);
    info = simplex_iterate(simplex, 1);
    assert_true(info.outcome == GPUOPT_OPTIMAL && info.objective == 0 && info.iterations == 0);
    gpuopt_simplex_destroy(simplex);
    gpuopt_context_destroy(context);
}

/* NULL arrays: costs 0, rows free, 0 <= x. */
static void arrays_left_out(void **state) {
    static const int64_t start[] = {0, 1, 2};
    static const int32_t row[] = {0, 0};
    static const double val[] = {1, 2}, cost[] = {-1, 1}, rhs[] = {6};
    gpuopt_context *context = test_context(NULL);
    gpuopt_simplex_desc desc;
    gpuopt_simplex_info info;
    gpuopt_simplex *simplex;
    int k;
    (void)state;
    for (k = 0; k < 3; k++) {
        gpuopt_desc_init(&desc, sizeof desc);
        desc.matrix.rows = 1;
        desc.matrix.cols = 2;
        desc.matrix.start = start;
        desc.matrix.index = row;
        desc.matrix.value = val;
        desc.matrix.layout = GPUOPT_LAYOUT_CSC;
        if (k > 0) desc.cost = cost;
        if (k > 1) desc.rhs = rhs;
        simplex = simplex_create(context, &desc);
        info = simplex_iterate(simplex, 100);
        assert_int_equal(info.outcome, k == 1 ? GPUOPT_UNBOUNDED : GPUOPT_OPTIMAL);
        if (k != 1) assert_true(info.objective == (k == 0 ? 0 : -6));
        gpuopt_simplex_destroy(simplex);
    }
    gpuopt_context_destroy(context);
}

/* The caller's own idea of infinity. */
static void other_infinities(void **state) {
    static const double a[] = {1}, cost[] = {-1}, rhs[] = {1e12}, ub[] = {1e10}, huge[] = {1e30};
    gpuopt_context *context = test_context(NULL);
    mip m = model_of(1, 1, a, cost, NULL, rhs, NULL, ub);
    gpuopt_simplex_desc desc = tableau_desc(&m);
    gpuopt_simplex *simplex;
    (void)state;
    answer_expect(context, &desc, &m, "1e20", GPUOPT_OPTIMAL, -1e10, 1e-12);
    desc.infinity = 1e10; /* the bound is none; the side is none */
    simplex = simplex_create(context, &desc);
    assert_int_equal(simplex_iterate(simplex, 100).outcome, GPUOPT_UNBOUNDED);
    gpuopt_simplex_destroy(simplex);
    desc.infinity = 1e40;
    desc.rhs = desc.ub = huge;
    simplex = simplex_create(context, &desc);
    assert_int_equal(simplex_iterate(simplex, 100).outcome, GPUOPT_OPTIMAL);
    assert_true(fabs(simplex_info(simplex).objective / -1e30 - 1) < 1e-12);
    gpuopt_simplex_destroy(simplex);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* Dense columns, with zeros among them, and sparse rows are the same model to the bit as sparse columns. */
static void dense_columns_and_rows(void **state) {
    static const char *const names[] = {"shah:30:2", "plant:25:40:0.2:4", "meyer:10:60:0.1:3"};
    gpuopt_context *context = test_context(NULL);
    int k, variant;
    (void)state;
    for (k = 0; k < 3; k++) {
        mip m = model_load(names[k]);
        double *dense = calloc((size_t)m.columns.rows * (size_t)m.columns.cols, sizeof *dense);
        int32_t j;
        int64_t e;
        for (j = 0; j < m.columns.cols; j++)
            for (e = m.columns.start[j]; e < m.columns.start[j + 1]; e++)
                dense[(int64_t)j * m.columns.rows + m.columns.index[e]] = m.columns.value[e];
        for (variant = 0; variant < 6; variant++) {
            gpuopt_simplex_desc desc = tableau_desc(&m);
            answer sparse, other, rows;
            variant_set(&desc, variant);
            sparse = answer_after(context, &desc, &m, 1000000);
            assert_int_equal(mip_rows(&m), 0);
            assert_int_equal(m.matrix.layout, GPUOPT_LAYOUT_CSR);
            desc.matrix = m.matrix;
            rows = answer_after(context, &desc, &m, 1000000);
            desc.matrix.start = NULL;
            desc.matrix.index = NULL;
            desc.matrix.value = NULL;
            desc.dense = dense;
            other = answer_after(context, &desc, &m, 1000000);
            assert_int_equal(sparse.info.outcome, GPUOPT_OPTIMAL);
            assert_true(answer_equal(&m, &sparse, &other));
            assert_true(answer_equal(&m, &sparse, &rows));
            answer_free(&sparse);
            answer_free(&rows);
            answer_free(&other);
        }
        free(dense);
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* Entries of a column in any order: the same optimum. */
static void entries_in_any_order(void **state) {
    static const int64_t start[] = {0, 3, 5};
    static const int32_t row[] = {2, 0, 1, 1, 0};
    static const double val[] = {1, 1, 3, 2, 1}, cost[] = {2.5, 2}, rhs[] = {4, 9, 2.5};
    gpuopt_context *context = test_context(NULL);
    gpuopt_simplex_desc desc;
    gpuopt_simplex *simplex;
    double x[2];
    (void)state;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.matrix.rows = 3;
    desc.matrix.cols = 2;
    desc.matrix.start = start;
    desc.matrix.index = row;
    desc.matrix.value = val;
    desc.matrix.layout = GPUOPT_LAYOUT_CSC;
    desc.cost = cost;
    desc.rhs = rhs;
    desc.maximize = 1;
    simplex = simplex_create(context, &desc);
    assert_int_equal(simplex_iterate(simplex, 100).outcome, GPUOPT_OPTIMAL);
    assert_int_equal(
        gpuopt_simplex_get_solution(simplex, GPUOPT_HOST,
                                    &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = x}),
        GPUOPT_OK);
    assert_true(fabs(x[0] - 1) < 1e-12 && fabs(x[1] - 3) < 1e-12); /* x + y = 4, 3 x + 2 y = 9 */
    gpuopt_simplex_destroy(simplex);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(kinds_of_rows),        cmocka_unit_test(kinds_of_bounds),
    cmocka_unit_test(nothing_there),        cmocka_unit_test(arrays_left_out),
    cmocka_unit_test(other_infinities),     cmocka_unit_test(dense_columns_and_rows),
    cmocka_unit_test(entries_in_any_order),
};
TEST_MAIN(tests)
