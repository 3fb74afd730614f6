/* SPDX-License-Identifier: MIT
 *
 * Solves with the basis and rows of the tableau, checked by products with the model's own columns in long double,
 * during and after a solve, for scaled models and both methods. Queries leave no trace.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/simplex/answer.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

/* x [rows] += by times the column of the variable. */
static void add_column(const mip *m, int32_t variable, long double by, long double *x) {
    const gpuopt_matrix *a = &m->columns;
    int64_t e;
    if (variable >= a->cols) x[variable - a->cols] -= by;
    else
        for (e = a->start[variable]; e < a->start[variable + 1]; e++) x[a->index[e]] += by * (long double)a->value[e];
}

/* The product of y [rows] with the column of the variable. */
static long double dot_column(const mip *m, int32_t variable, const double *y, long double *size) {
    const gpuopt_matrix *a = &m->columns;
    long double sum = 0;
    int64_t e;
    if (variable >= a->cols) return -(long double)y[variable - a->cols];
    for (e = a->start[variable]; e < a->start[variable + 1]; e++) {
        sum += (long double)y[a->index[e]] * (long double)a->value[e];
        *size += fabsl((long double)y[a->index[e]] * (long double)a->value[e]);
    }
    return sum;
}

enum { SIDES = 3 };

static void check_ftran(gpuopt_simplex *s, const mip *m, const int32_t *head, uint64_t *seed) {
    int32_t rows = m->columns.rows, i, k;
    double *x = malloc(sizeof(double) * SIDES * (size_t)rows), *b = malloc(sizeof(double) * SIDES * (size_t)rows);
    long double *product = malloc(sizeof(long double) * (size_t)rows);
    for (i = 0; i < SIDES * rows; i++) b[i] = (double)test_random_int(seed, -9, 9);
    memcpy(x, b, sizeof(double) * SIDES * (size_t)rows);
    must(gpuopt_simplex_ftran(s, GPUOPT_HOST, SIDES, x));
    for (k = 0; k < SIDES; k++) {
        double largest = 1;
        for (i = 0; i < rows; i++) product[i] = 0;
        for (i = 0; i < rows; i++) {
            add_column(m, head[i], (long double)x[k * rows + i], product);
            largest = fmax(largest, fabs(x[k * rows + i]));
        }
        for (i = 0; i < rows; i++)
            if (fabsl(product[i] - (long double)b[k * rows + i]) > 1e-9L * (long double)largest)
                fail_msg("B x is %Lg, not %g", product[i], b[k * rows + i]);
    }
    free(x);
    free(b);
    free(product);
}

static void check_btran(gpuopt_simplex *s, const mip *m, const int32_t *head, uint64_t *seed) {
    int32_t rows = m->columns.rows, i, k;
    double *y = malloc(sizeof(double) * SIDES * (size_t)rows), *c = malloc(sizeof(double) * SIDES * (size_t)rows);
    for (i = 0; i < SIDES * rows; i++) c[i] = (double)test_random_int(seed, -9, 9);
    memcpy(y, c, sizeof(double) * SIDES * (size_t)rows);
    must(gpuopt_simplex_btran(s, GPUOPT_HOST, SIDES, y));
    for (k = 0; k < SIDES; k++)
        for (i = 0; i < rows; i++) {
            long double size = 1, product = dot_column(m, head[i], y + k * rows, &size);
            if (fabsl(product - (long double)c[k * rows + i]) > 1e-9L * size)
                fail_msg("B'y is %Lg, not %g", product, c[k * rows + i]);
        }
    free(y);
    free(c);
}

/* Each row is y'[A -I] with y = B^-T e, and is 1 and 0 at the basic variables. */
static void check_rows(gpuopt_simplex *s, const mip *m, const int32_t *head) {
    int32_t rows = m->columns.rows, both = rows + m->columns.cols, i, j;
    int32_t position[2] = {0, rows - 1};
    double *table = malloc(sizeof(double) * 2 * (size_t)both), *y = calloc((size_t)rows, sizeof *y);
    must(gpuopt_simplex_get_tableau_rows(s, GPUOPT_HOST, 2, position, table));
    for (i = 0; i < 2; i++) {
        memset(y, 0, sizeof(double) * (size_t)rows);
        y[position[i]] = 1;
        must(gpuopt_simplex_btran(s, GPUOPT_HOST, 1, y));
        for (j = 0; j < both; j++) {
            long double size = 1, product = dot_column(m, j, y, &size);
            if (fabsl(product - (long double)table[i * both + j]) > 1e-9L * size)
                fail_msg("entry %d of a row is %g, not %Lg", (int)j, table[i * both + j], product);
        }
        for (j = 0; j < rows; j++) assert_true(fabs(table[i * both + head[j]] - (j == position[i])) <= 1e-9);
    }
    free(table);
    free(y);
}

static void solves_with_the_basis(void **state) {
    static const char *const models[] = {"shah:30:1", "plant:40:80:0.2:2", "meyer:30:150:0.1:1", "plant:50:30:0.3:7"};
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 12;
    int k, way;
    (void)state;
    for (k = 0; k < 4; k++)
        for (way = 0; way < 4; way += test_few() ? 3 : 1) {
            mip m = model_load(models[k]);
            gpuopt_simplex_desc desc = tableau_desc(&m);
            gpuopt_simplex_rules rules;
            gpuopt_simplex *s;
            int32_t *head = malloc(sizeof(int32_t) * (size_t)m.columns.rows), i;
            int stop;
            int64_t e;
            for (e = 0; e < m.columns.start[m.columns.cols]; e++) /* so that there is something to scale */
                ((double *)(uintptr_t)m.columns.value)[e] *= ldexp(1, (int)(m.columns.index[e] % 5) * 3);
            desc.method = way % 2 ? GPUOPT_METHOD_REVISED : GPUOPT_METHOD_TABLEAU;
            rules = rules_of(&desc);
            desc.rules = &rules;
            rules.scaling = way / 2 ? GPUOPT_OFF : GPUOPT_DEFAULT;
            s = simplex_create(context, &desc);
            for (stop = 0; stop < 4; stop++) {
                answer before, after;
                uint8_t *basis = malloc((size_t)(m.columns.rows + m.columns.cols));
                must(gpuopt_simplex_get_basic_variables(s, GPUOPT_HOST, head));
                must(gpuopt_simplex_get_basis(s, GPUOPT_HOST, basis));
                for (i = 0; i < m.columns.rows; i++) assert_int_equal(basis[head[i]], GPUOPT_VARIABLE_BASIC);
                before = answer_get(s, &m); /* which rebuilds */
                answer_free(&before);
                before = answer_get(s, &m);
                check_ftran(s, &m, head, &seed);
                check_btran(s, &m, head, &seed);
                check_rows(s, &m, head);
                after = answer_get(s, &m);
                assert_true(answer_equal(&m, &before, &after));
                answer_free(&before);
                answer_free(&after);
                free(basis);
                simplex_iterate(s, stop < 2 ? 7 : 100000);
            }
            gpuopt_simplex_destroy(s);
            free(head);
            mip_free(&m);
        }
    gpuopt_context_destroy(context);
}

static void refused(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    mip m = model_load("shah:5:1");
    gpuopt_simplex_desc desc = tableau_desc(&m);
    gpuopt_simplex *s = simplex_create(context, &desc);
    int32_t head[5], beyond = 5, at = 0;
    double x[10];
    (void)state;
    assert_int_equal(gpuopt_simplex_get_basic_variables(NULL, GPUOPT_HOST, head), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_get_basic_variables(s, GPUOPT_HOST, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_get_basic_variables(s, (gpuopt_memory_space)7, head), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_ftran(NULL, GPUOPT_HOST, 1, x), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_ftran(s, GPUOPT_HOST, -1, x), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_ftran(s, GPUOPT_HOST, 1, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_btran(s, GPUOPT_HOST, -1, x), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_btran(s, GPUOPT_HOST, 1, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_get_tableau_rows(s, GPUOPT_HOST, -1, &at, x), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_get_tableau_rows(s, GPUOPT_HOST, 1, NULL, x), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_get_tableau_rows(s, GPUOPT_HOST, 1, &at, NULL), GPUOPT_ERROR_ARGUMENT);
    host.error[0] = 0;
    assert_int_equal(gpuopt_simplex_get_tableau_rows(s, GPUOPT_HOST, 1, &beyond, x), GPUOPT_ERROR_ARGUMENT);
    assert_non_null(strstr(host.error, "position[0] = 5"));
    if (!test_on("cuda")) assert_int_equal(gpuopt_simplex_ftran(s, GPUOPT_DEVICE, 1, x), GPUOPT_ERROR_UNSUPPORTED);
    must(gpuopt_simplex_ftran(s, GPUOPT_HOST, 0, NULL));
    must(gpuopt_simplex_btran(s, GPUOPT_HOST, 0, NULL));
    must(gpuopt_simplex_get_tableau_rows(s, GPUOPT_HOST, 0, NULL, NULL));
    gpuopt_simplex_destroy(s);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(solves_with_the_basis),
    cmocka_unit_test(refused),
};
TEST_MAIN(tests)
