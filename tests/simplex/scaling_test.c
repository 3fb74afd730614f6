/* SPDX-License-Identifier: MIT
 *
 * The way of the matrix into a handle. Scales are compared with a plain program of the documented method, for every
 * layout and to the bit, on every backend. Faulty entries are refused at every place.
 *
 * At the first basis the scaled reduced cost of column j is its cost times a constant times its scale. The scaled pivot
 * entry of a column with one entry a in row i is a times the scales of both. So models have a cost in every column, of
 * such a size that all could enter, and after the other columns one column for each row.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/simplex/answer.h"

/* ---- Models ---- */

typedef struct columns {
    int32_t rows, cols;
    int64_t *start;
    int32_t *index;
    double *value;
} columns;

static double decades(uint64_t *state, double most) {
    double size = pow(10, (2 * test_random(state) - 1) * most) * (1 + test_random(state));
    return test_random(state) < 0.5 ? -size : size;
}

/* Columns with this many entries each, at random rows in ascending order; then one column for each row. */
static columns random_columns(int32_t rows, int32_t count, const int32_t *length, double most, uint64_t seed) {
    columns c = {rows, count + rows, NULL, NULL, NULL};
    int32_t i, j;
    int64_t e = 0, capacity = rows;
    for (j = 0; j < count; j++) capacity += length[j];
    c.start = calloc((size_t)c.cols + 1, sizeof *c.start);
    c.index = calloc((size_t)capacity, sizeof *c.index);
    c.value = calloc((size_t)capacity, sizeof *c.value);
    for (j = 0; j < count; j++) {
        int32_t missing = length[j];
        for (i = 0; i < rows; i++) {
            if (test_random(&seed) * (rows - i) >= missing) continue;
            missing--;
            c.index[e] = i;
            c.value[e++] = decades(&seed, most);
        }
        assert_int_equal(missing, 0);
        c.start[j + 1] = e;
    }
    for (i = 0; i < rows; i++) {
        c.index[e] = i;
        c.value[e++] = fabs(decades(&seed, most));
        c.start[count + i + 1] = e;
    }
    return c;
}

static void free_columns(columns *c) {
    free(c->start);
    free(c->index);
    free(c->value);
}

static void shuffle(columns *c, uint64_t seed) {
    int32_t j;
    for (j = 0; j < c->cols; j++) {
        int64_t e;
        for (e = c->start[j + 1] - 1; e > c->start[j]; e--) {
            int64_t k = test_random_int(&seed, c->start[j], e);
            int32_t index = c->index[e];
            double value = c->value[e];
            c->index[e] = c->index[k], c->value[e] = c->value[k];
            c->index[k] = index, c->value[k] = value;
        }
    }
}

static columns across(const columns *c) { /* the same by rows */
    columns r = {c->rows, c->cols, calloc((size_t)c->rows + 1, 8), NULL, NULL};
    int64_t e, count = c->start[c->cols];
    int32_t i, j;
    r.index = calloc((size_t)count, sizeof *r.index);
    r.value = calloc((size_t)count, sizeof *r.value);
    for (e = 0; e < count; e++) r.start[c->index[e] + 1]++;
    for (i = 0; i < c->rows; i++) r.start[i + 1] += r.start[i];
    for (j = 0; j < c->cols; j++)
        for (e = c->start[j]; e < c->start[j + 1]; e++) {
            int64_t at = r.start[c->index[e]]++;
            r.index[at] = j;
            r.value[at] = c->value[e];
        }
    for (i = c->rows; i > 0; i--) r.start[i] = r.start[i - 1];
    r.start[0] = 0;
    return r;
}

static double *dense_of(const columns *c) {
    double *dense = calloc((size_t)c->rows * (size_t)c->cols, sizeof *dense);
    int32_t j;
    int64_t e;
    for (j = 0; j < c->cols; j++)
        for (e = c->start[j]; e < c->start[j + 1]; e++) dense[(int64_t)j * c->rows + c->index[e]] = c->value[e];
    return dense;
}

/* x >= 0, A x <= 1, min minus'x */
static gpuopt_simplex_desc desc_of(const columns *c, gpuopt_layout layout, const double *ones, const double *minus) {
    gpuopt_simplex_desc desc;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.matrix.rows = c->rows;
    desc.matrix.cols = c->cols;
    desc.matrix.start = c->start;
    desc.matrix.index = c->index;
    desc.matrix.value = c->value;
    desc.matrix.layout = layout;
    desc.cost = minus;
    desc.rhs = ones;
    desc.method = GPUOPT_METHOD_TABLEAU;
    desc.algorithm = GPUOPT_ALGORITHM_PRIMAL;
    return desc;
}

static double *constant(int32_t count, double value) {
    double *x = malloc(sizeof *x * (size_t)count);
    while (count-- > 0) x[count] = value;
    return x;
}

/* ---- The documented method, plainly ---- */

static double closest_power(double x) {
    int exponent;
    double fraction = frexp(x, &exponent);
    return ldexp(1, fraction < sqrt(0.5) ? exponent - 1 : exponent);
}

static double geometric(double least, double most) {
    return most == 0 ? 1 : 1 / sqrt(fmax(least, ldexp(most, -30)) * most);
}

/* Six rounds of geometric scaling, rows before columns, in which no entry counts as less than 2^-30 of its line's
 * largest. Then columns are scaled to a largest entry of 1. Only every k-th entry of a column counts, k = length / 64
 * or 1. */
static void plain_scales(const columns *c, double *row, double *col) {
    int32_t i, j;
    int round;
    for (j = 0; j < c->cols; j++) col[j] = 1;
    for (round = 0; round < 7; round++) {
        for (i = 0; i < c->rows && round < 6; i++) {
            double least = HUGE_VAL, most = 0;
            for (j = 0; j < c->cols; j++) {
                int64_t e, length = c->start[j + 1] - c->start[j], step = length >= 64 ? length / 64 : 1;
                for (e = c->start[j]; e < c->start[j + 1]; e += step)
                    if (c->index[e] == i) {
                        least = fmin(least, fabs(c->value[e]) * col[j]);
                        most = fmax(most, fabs(c->value[e]) * col[j]);
                    }
            }
            row[i] = geometric(least, most);
        }
        for (j = 0; j < c->cols; j++) {
            int64_t e, length = c->start[j + 1] - c->start[j], step = length >= 64 ? length / 64 : 1;
            double least = HUGE_VAL, most = 0;
            for (e = c->start[j]; e < c->start[j + 1]; e += step) {
                least = fmin(least, fabs(c->value[e]) * row[c->index[e]]);
                most = fmax(most, fabs(c->value[e]) * row[c->index[e]]);
            }
            col[j] = round == 6 && most > 0 ? 1 / most : geometric(least, most);
        }
    }
    for (i = 0; i < c->rows; i++) row[i] = closest_power(row[i]);
    for (j = 0; j < c->cols; j++) col[j] = closest_power(col[j]);
}

/* ---- What a handle has chosen ---- */

/* Not every row of a large model is asked for. */
static int32_t row_step(const columns *c) { return c->rows > 100 ? 7 : 1; }

/* Reads the scales of columns times a common factor, and of rows over it. */
static void read_scales(gpuopt_simplex *s, const columns *c, const double *minus, double *row, double *col) {
    gpuopt_simplex_candidate *candidates = calloc((size_t)c->cols, sizeof *candidates);
    int32_t found, k, i;
    assert_int_equal(gpuopt_simplex_candidates(s, c->cols, candidates, &found), GPUOPT_OK);
    assert_int_equal(found, c->cols); /* phase 2, and all costs improve */
    for (k = 0; k < found; k++) {
        int32_t j = candidates[k].variable;
        col[j] = candidates[k].reduced_cost / minus[j];
    }
    for (i = 0; i < c->rows; i += row_step(c)) {
        gpuopt_simplex_leaving leaving;
        int32_t j = c->cols - c->rows + i;
        gpuopt_desc_init(&leaving, sizeof leaving);
        assert_int_equal(gpuopt_simplex_ratio_test(s, j, 1, &leaving), GPUOPT_OK);
        assert_int_equal(leaving.variable, c->cols + i);
        row[i] = leaving.pivot / c->value[c->start[j]] / col[j];
    }
    free(candidates);
}

/* Both backends' scales equal the plain program's: (row, col) and (row / f, col f) have the same products. */
static void expect_plain(gpuopt_context *context, gpuopt_simplex_desc *desc, const columns *c, const char *what) {
    double *row = constant(c->rows, 0), *col = constant(c->cols, 0), *plain_row = constant(c->rows, 1);
    double *plain_col = constant(c->cols, 1), *minus = constant(c->cols, -1), factor;
    gpuopt_simplex *s;
    int32_t i, j;
    if (!desc->rules || desc->rules->scaling != GPUOPT_OFF) plain_scales(c, plain_row, plain_col);
    for (j = 0; j < c->cols; j++) minus[j] = -1 / plain_col[j];
    desc->cost = minus;
    s = simplex_create(context, desc);
    read_scales(s, c, minus, row, col);
    factor = col[0] / plain_col[0];
    for (j = 0; j < c->cols; j++)
        if (col[j] != plain_col[j] * factor)
            fail_msg("%s: column %d: %g, not %g", what, j, col[j], plain_col[j] * factor);
    for (i = 0; i < c->rows; i += row_step(c))
        if (row[i] != plain_row[i] / factor) fail_msg("%s: row %d: %g, not %g", what, i, row[i], plain_row[i] / factor);
    gpuopt_simplex_destroy(s);
    free(row);
    free(col);
    free(plain_row);
    free(plain_col);
    free(minus);
}

/* ---- Tests ---- */

/* Lengths about the steps of the sample, in every layout, with both methods. */
static void scales_are_the_documented_ones(void **state) {
    static const int32_t length[] = {1, 2, 63, 64, 65, 127, 128, 129, 191, 192, 300, 0, 31, 33, 299};
    static const double most[] = {0, 2, 20, 20};
    static const gpuopt_simplex_rules unscaled = {.struct_size = sizeof unscaled, .scaling = GPUOPT_OFF};
    gpuopt_context *context = test_context(NULL);
    int k;
    (void)state;
    for (k = 0; k < 4; k++) {
        columns c = random_columns(300, 15, length, most[k], (uint64_t)(7 + k)), rows = across(&c);
        double *ones = constant(c.rows, 1), *minus = constant(c.cols, -1), *dense = dense_of(&c);
        gpuopt_simplex_desc desc = desc_of(&c, GPUOPT_LAYOUT_CSC, ones, minus);
        gpuopt_simplex_desc by_rows = desc_of(&rows, GPUOPT_LAYOUT_CSR, ones, minus);
        gpuopt_simplex_desc of_all = desc;
        desc.method = by_rows.method = of_all.method = k % 2 ? GPUOPT_METHOD_REVISED : GPUOPT_METHOD_TABLEAU;
        of_all.matrix.start = NULL;
        of_all.dense = dense;
        expect_plain(context, &desc, &c, "by columns");
        expect_plain(context, &by_rows, &c, "by rows");
        expect_plain(context, &of_all, &c, "dense");
        if (most[k] < 5) { /* else pivots are too small without */
            desc.rules = &unscaled;
            expect_plain(context, &desc, &c, "without scaling");
            desc.rules = NULL;
        }
        shuffle(&c, 5);
        expect_plain(context, &desc, &c, "in any order");
        free(ones);
        free(minus);
        free(dense);
        free_columns(&rows);
        free_columns(&c);
    }
    gpuopt_context_destroy(context);
}

/* A dense matrix with many columns and few rows: with REVISED the GPU packs the matrix in pieces. */
static void wide_and_dense(void **state) {
    gpuopt_context *context = test_context(NULL);
    int32_t length[700], j;
    int method;
    columns c;
    double *ones, *minus, *dense;
    gpuopt_simplex_desc desc;
    (void)state;
    for (j = 0; j < 700; j++) length[j] = j % 8;
    c = random_columns(7, 700, length, 3, 1);
    ones = constant(c.rows, 1), minus = constant(c.cols, -1), dense = dense_of(&c);
    desc = desc_of(&c, GPUOPT_LAYOUT_CSC, ones, minus);
    desc.matrix.start = NULL;
    desc.dense = dense;
    for (method = 0; method < 2; method++) {
        desc.method = method ? GPUOPT_METHOD_REVISED : GPUOPT_METHOD_TABLEAU;
        expect_plain(context, &desc, &c, "wide and dense");
    }
    free(ones);
    free(minus);
    free(dense);
    free_columns(&c);
    gpuopt_context_destroy(context);
}

/* Entries near the ends of the range turn scaling off, and only these. */
static void extreme_entries(void **state) {
    static const double value[] = {0x1p300, 0x1.8p300, 0x1p301, 0x1p-300, 0x1.8p-301, 1e-310};
    static const int off[] = {0, 0, 1, 0, 1, 1};
    static const int32_t length[] = {3, 2};
    gpuopt_context *context = test_context(NULL);
    int k, layout;
    (void)state;
    for (k = 0; k < 6; k++) {
        columns c = random_columns(4, 2, length, 1, 3), rows;
        double *ones = constant(c.rows, 1), *minus = constant(c.cols, -1), *dense, plain_row[4], plain_col[6];
        int32_t j;
        c.value[1] = value[k];
        plain_scales(&c, plain_row, plain_col);
        for (j = 0; j < c.cols && !off[k]; j++) minus[j] = -1 / plain_col[j];
        rows = across(&c), dense = dense_of(&c);
        for (layout = 0; layout < 3; layout++) {
            gpuopt_simplex_desc desc = layout == 1 ? desc_of(&rows, GPUOPT_LAYOUT_CSR, ones, minus)
                                                   : desc_of(&c, GPUOPT_LAYOUT_CSC, ones, minus);
            double row[4], col[6];
            gpuopt_simplex *s;
            if (layout == 2) desc.matrix.start = NULL, desc.dense = dense;
            s = simplex_create(context, &desc);
            read_scales(s, &c, minus, row, col);
            for (j = 0; j < c.cols; j++) assert_true(col[j] / col[0] == (off[k] ? 1 : plain_col[j] / plain_col[0]));
            gpuopt_simplex_destroy(s);
        }
        free(ones);
        free(minus);
        free(dense);
        free_columns(&rows);
        free_columns(&c);
    }
    gpuopt_context_destroy(context);
}

/* Creates with one entry changed, and expects that a message contains this. */
static void expect_refused(gpuopt_context *context, test_host *host, const gpuopt_simplex_desc *desc,
                           const char *text) {
    gpuopt_simplex *s = NULL;
    long live = host->live;
    host->error[0] = 0;
    assert_int_equal(gpuopt_simplex_create(context, desc, NULL, &s), GPUOPT_ERROR_ARGUMENT);
    assert_null(s);
    assert_int_equal(host->live, live);
    if (!strstr(host->error, text)) fail_msg("\"%s\" says nothing of \"%s\"", host->error, text);
}

static void entries_are_refused_wherever_they_are(void **state) {
    static const int32_t length[] = {40, 300, 1, 0, 299, 7};
    static const double values[] = {0, -0.0, HUGE_VAL, -HUGE_VAL, NAN};
    test_host host;
    gpuopt_context *context = test_strict_context(&host);
    columns c[2];
    int layout, k;
    (void)state;
    c[0] = random_columns(300, 6, length, 2, 11);
    c[1] = across(&c[0]);
    for (layout = 0; layout < 2; layout++) {
        columns *m = &c[layout];
        int32_t width = layout ? m->cols : m->rows, lines = layout ? m->rows : m->cols;
        double *ones = constant(m->rows, 1), *minus = constant(m->cols, -1);
        gpuopt_simplex_desc desc = desc_of(m, layout ? GPUOPT_LAYOUT_CSR : GPUOPT_LAYOUT_CSC, ones, minus);
        int64_t last = m->start[lines] - 1, at[] = {0, 1, 77, 345, 0, 0};
        int32_t indices[] = {-1, 0, INT32_MIN, INT32_MAX};
        gpuopt_simplex *s;
        indices[1] = width;
        at[4] = last - 1, at[5] = last;
        for (k = 0; k < 6; k++) {
            int32_t index = m->index[at[k]];
            double value = m->value[at[k]];
            char place[64];
            int bad;
            snprintf(place, sizeof place, "index[%d] = ", (int)at[k]);
            for (bad = 0; bad < 4; bad++) {
                m->index[at[k]] = indices[bad];
                expect_refused(context, &host, &desc, place);
            }
            m->index[at[k]] = index;
            snprintf(place, sizeof place, "value[%d] = ", (int)at[k]);
            for (bad = 0; bad < 5; bad++) {
                m->value[at[k]] = values[bad];
                expect_refused(context, &host, &desc, place);
            }
            m->value[at[k]] = value;
        }
        { /* twice in a line: neighbours, and far from one another */
            int32_t long_line = layout ? 0 : 1;
            int64_t first = m->start[long_line], end = m->start[long_line + 1];
            int32_t kept = m->index[end - 1];
            m->index[end - 1] = m->index[end - 2];
            expect_refused(context, &host, &desc, "comes twice");
            m->index[end - 1] = m->index[first];
            expect_refused(context, &host, &desc, "comes twice");
            m->index[end - 1] = kept;
        }
        assert_int_equal(gpuopt_simplex_create(context, &desc, NULL, &s),
                         GPUOPT_OK); /* the context is as good as before */
        gpuopt_simplex_destroy(s);
        free(ones);
        free(minus);
    }
    free_columns(&c[0]);
    free_columns(&c[1]);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(scales_are_the_documented_ones),
    cmocka_unit_test(wide_and_dense),
    cmocka_unit_test(extreme_entries),
    cmocka_unit_test(entries_are_refused_wherever_they_are),
};
TEST_MAIN(tests)
