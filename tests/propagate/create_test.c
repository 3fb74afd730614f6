/* SPDX-License-Identifier: MIT
 *
 * The effect of _create on a model, for any layout and order of its entries. There are rows of all the lengths at which
 * the backends change their method. Checks their sides, the rows of each column, and refusals that name the place. All
 * expected values are computed here, in integers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/propagate/model.h"

/* Rows of 0 to 40, 500 to 520 and some more entries, then short rows, in an order that mixes them. */
enum { COLS = 6000, ROWS = 41 + 21 + 5 + 233, STEP = 4999, UNIT = 1 << 30 };

static int row_length(int row) {
    static const int longer[] = {1023, 1024, 1025, 5000, 33};
    int i = (int)((int64_t)row * 77 % ROWS); /* 77 and ROWS = 300 have no common factor */
    return i < 41 ? i : i < 62 ? 500 + i - 41 : i < 67 ? longer[i - 62] : 1 + i * i % 60;
}

static int column_of(int row, int k) { return (int)(((int64_t)row * 131 + (int64_t)k * STEP) % COLS); }

/* In units of 2^-30; fine: single precision cannot hold them. */
static int64_t coefficient(int row, int k, int fine) {
    int a = (row * 31 + k * 17) % 9 - 4;
    return (int64_t)(a ? a : 5) * UNIT + (fine ? 1 : 0);
}

static int lower(int col) { return -(col * 7 % 11); }
static int upper(int col) { return 1 + col * 5 % 10; }

/* By columns, in the order of the rows from the last one to the first. */
static void by_columns(const gpuopt_matrix *rows, gpuopt_matrix *columns) {
    int64_t nonzeros = rows->start[ROWS], k, *start = calloc(COLS + 2, sizeof *start);
    int32_t *index = malloc(sizeof *index * (size_t)nonzeros), row;
    double *value = malloc(sizeof *value * (size_t)nonzeros);
    for (k = 0; k < nonzeros; k++) start[rows->index[k] + 2]++;
    for (k = 2; k <= COLS + 1; k++) start[k] += start[k - 1];
    for (row = ROWS - 1; row >= 0; row--)
        for (k = rows->start[row]; k < rows->start[row + 1]; k++) {
            int64_t at = start[rows->index[k] + 1]++;
            index[at] = row, value[at] = rows->value[k];
        }
    columns->rows = ROWS, columns->cols = COLS;
    columns->start = start, columns->index = index, columns->value = value;
    columns->layout = GPUOPT_LAYOUT_CSC;
}

/* Row 3 i has no solution: its lhs exceeds the greatest activity by 1; 3 i + 1 is redundant; 3 i + 2 is neither. */
static mip draw(int fine) {
    int64_t nonzeros = 0;
    mip m;
    int row, k, j;
    for (row = 0; row < ROWS; row++) nonzeros += row_length(row);
    m = problem_new(COLS, ROWS, nonzeros);
    for (j = 0; j < COLS; j++) problem_col(&m, j, lower(j), upper(j), j % 3 == 0);
    for (row = 0; row < ROWS; row++) {
        int64_t least = 0, greatest = 0;
        problem_row(&m, -INFINITY, INFINITY);
        for (k = 0; k < row_length(row); k++) {
            int64_t a = coefficient(row, k, fine);
            int col = column_of(row, k);
            problem_entry(&m, col, (double)a / UNIT);
            least += a * (a > 0 ? lower(col) : upper(col));
            greatest += a * (a > 0 ? upper(col) : lower(col));
        }
        if (row % 3 == 0) m.lhs[row] = (double)greatest / UNIT + 1;
        if (row % 3 == 1) m.rhs[row] = (double)greatest / UNIT;
        if (row % 3 == 2) m.lhs[row] = (double)least / UNIT + 0.5, m.rhs[row] = (double)greatest / UNIT - 0.5;
        if (row % 3 == 2 && row_length(row) == 0) m.lhs[row] = -INFINITY, m.rhs[row] = INFINITY;
    }
    mip_columns(&m);
    free((void *)m.columns.start);
    free((void *)m.columns.index);
    free((void *)m.columns.value);
    by_columns(&m.matrix, &m.columns);
    return m;
}

/* The report of every row, against the sums in integers. */
static void check_rows(gpuopt_propagator *p, int fine) {
    static double least[ROWS], greatest[ROWS];
    static uint8_t status[ROWS];
    gpuopt_propagator_row_report report = GPUOPT_INIT(gpuopt_propagator_row_report);
    int row, k;
    report.min_activity = least, report.max_activity = greatest, report.status = status;
    assert_int_equal(gpuopt_propagator_get_rows(p, GPUOPT_HOST, &report), GPUOPT_OK);
    for (row = 0; row < ROWS; row++) {
        int64_t low = 0, high = 0;
        int length = row_length(row), want = GPUOPT_ROW_LHS_REDUNDANT | GPUOPT_ROW_RHS_REDUNDANT;
        for (k = 0; k < length; k++) {
            int64_t a = coefficient(row, k, fine);
            int col = column_of(row, k);
            low += a * (a > 0 ? lower(col) : upper(col));
            high += a * (a > 0 ? upper(col) : lower(col));
        }
        if (row % 3 == 0) want = GPUOPT_ROW_INFEASIBLE | GPUOPT_ROW_RHS_REDUNDANT;
        if (row % 3 == 2 && length > 0) want = 0;
        if (least[row] != (double)low / UNIT || greatest[row] != (double)high / UNIT || status[row] != want)
            fail_msg("row %d of %d entries: %.17g..%.17g, status %d, not %.17g..%.17g, %d", row, length, least[row],
                     greatest[row], status[row], (double)low / UNIT, (double)high / UNIT, want);
    }
}

static void rows_of_all_lengths(void **state) {
    gpuopt_context *context = test_context(NULL);
    int fine, columns, marking, precision;
    (void)state;
    for (fine = 0; fine < 2; fine++) {
        mip m = draw(fine);
        gpuopt_propagator_desc desc = mip_propagator_desc(&m);
        for (columns = 0; columns < 2; columns++)
            for (marking = GPUOPT_ON; marking <= GPUOPT_OFF; marking++)
                for (precision = 0; precision < 2 - fine; precision++) {
                    gpuopt_propagator *p;
                    desc.matrix = columns ? m.columns : m.matrix;
                    desc.marking = (gpuopt_switch)marking;
                    desc.precision = (gpuopt_propagator_precision)precision;
                    p = problem_create(context, &desc);
                    check_rows(p, fine);
                    gpuopt_propagator_destroy(p);
                }
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* After a change of one column, a round evaluates the rows that have it; on the CPU perhaps not, since rows without
 * sides have no effect. */
static void rows_of_each_column(void **state) {
    gpuopt_context *context = test_context(NULL);
    mip m = draw(0);
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    int columns, row, k;
    (void)state;
    for (columns = 0; columns < 2; columns++) {
        gpuopt_propagator *p;
        int32_t col;
        desc.matrix = columns ? m.columns : m.matrix;
        desc.lhs = desc.rhs = NULL;
        desc.marking = GPUOPT_ON;
        p = problem_create(context, &desc);
        assert_int_equal(problem_round(p, 1).nonzeros, m.matrix.start[ROWS]);
        for (col = 0; col < COLS; col += 37) {
            double lb = lower(col) - 1;
            int64_t want = 0;
            for (row = 0; row < ROWS; row++)
                for (k = 0; k < row_length(row); k++) want += column_of(row, k) == col ? row_length(row) : 0;
            assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, &col, &lb, NULL), GPUOPT_OK);
            assert_in_range(problem_round(p, 1).nonzeros, test_on("cuda") ? want : 0, want);
        }
        gpuopt_propagator_destroy(p);
    }
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* A fault in the middle of a large model, alone or with another behind it. */
static void check_refusal(test_host *host, gpuopt_context *context, mip *m, int columns, int line, int fault,
                          int another) {
    gpuopt_propagator_desc desc = mip_propagator_desc(m);
    gpuopt_propagator *p;
    char want[160];
    long live = host->live;
    const gpuopt_matrix *a = columns ? &m->columns : &m->matrix;
    int32_t *index = (int32_t *)a->index, kept;
    double *value = (double *)a->value, kept_value;
    int64_t at = a->start[line + 1] - 1;
    const char *kind = columns ? "column" : "row", *other = columns ? "row" : "column";
    desc.matrix = *a;
    kept = index[at], kept_value = value[at];
    if (fault == 0) {
        index[at] = columns ? ROWS : COLS;
        snprintf(want, sizeof want, "%s %d: index[%lld] = %d is not in 0..%d", kind, line, (long long)at,
                 (int)index[at], (int)index[at] - 1);
    } else if (fault == 1) {
        index[at] = index[a->start[line]];
        snprintf(want, sizeof want, "%s %d: %s %d comes twice, at index[%lld]", kind, line, other, (int)index[at],
                 (long long)at);
    } else {
        value[at] = -INFINITY;
        snprintf(want, sizeof want, "%s %d: value[%lld] = -inf is zero, not finite", kind, line, (long long)at);
    }
    if (another) m->lb[COLS - 1] = NAN;
    host->error[0] = 0;
    assert_int_equal(gpuopt_propagator_create(context, &desc, NULL, &p), GPUOPT_ERROR_ARGUMENT);
    assert_null(p);
    assert_int_equal(host->live, live);
    if (!strstr(host->error, want)) fail_msg("'%s' instead of '%s'", host->error, want);
    index[at] = kept, value[at] = kept_value;
    m->lb[COLS - 1] = lower(COLS - 1);
}

/* The small model's fixpoint follows from lower bounds of 0 alone. */
static void check_bounds_left_out(gpuopt_context *context, gpuopt_propagator_desc desc) {
    static const double zero[3], infinite[3] = {INFINITY, INFINITY, INFINITY};
    static const uint8_t integer[3] = {1, 0, 1};
    mip m = model_small();
    int k;
    assert_int_equal(mip_columns(&m), 0);
    for (k = 0; k < 32; k++) {
        double lb[3], ub[3];
        gpuopt_propagator *p;
        desc.lb = k & 1 ? zero : NULL;
        desc.ub = k & 2 ? infinite : NULL;
        desc.integer = k & 4 ? integer : NULL;
        desc.matrix = k & 8 ? m.columns : m.matrix;
        desc.precision = k & 16 ? GPUOPT_PRECISION_FP32 : GPUOPT_PRECISION_FP64;
        p = problem_create(context, &desc);
        problem_bounds(p, lb, ub);
        assert_memory_equal(lb, zero, sizeof lb);
        assert_memory_equal(ub, infinite, sizeof ub);
        assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
        model_check_bounds(p, 3, model_small_lb, model_small_ub);
        gpuopt_propagator_destroy(p);
    }
    mip_free(&m);
}
MODEL_VARIANTS_TEST(bounds_left_out, model_small())

/* A bound of 0 or infinity that is left out is compared with the other one like any other. */
static void crossing_bounds_left_out(void **state) {
    static const double low[3] = {0, -1, 0}, nan[3] = {0, NAN, 0}, infinite[3] = {0, INFINITY, 0};
    model_host *h = *state;
    gpuopt_propagator_desc desc = h->desc;
    gpuopt_propagator_info info;
    gpuopt_propagator *p = NULL;
    desc.lb = NULL, desc.ub = low;
    info = problem_run(h->context, &desc, 1, NULL, NULL);
    assert_int_equal(info.outcome, GPUOPT_INFEASIBLE);
    desc.ub = nan;
    assert_int_equal(gpuopt_propagator_create(h->context, &desc, NULL, &p), GPUOPT_ERROR_ARGUMENT);
    assert_non_null(strstr(h->host.error, "ub[1]"));
    desc.lb = infinite, desc.ub = NULL;
    assert_int_equal(gpuopt_propagator_create(h->context, &desc, NULL, &p), GPUOPT_ERROR_ARGUMENT);
    assert_non_null(strstr(h->host.error, "lb[1]"));
}

static void refusals_name_the_place(void **state) {
    test_host host;
    gpuopt_context *context = test_strict_context(&host);
    mip m = draw(0);
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    gpuopt_propagator *p;
    int columns, line, fault, another;
    (void)state;
    for (columns = 0; columns < 2; columns++) {
        const int64_t *start = columns ? m.columns.start : m.matrix.start;
        for (line = 0; line < (columns ? COLS : ROWS); line += columns ? 1201 : 7)
            for (fault = start[line + 1] - start[line] > 1 ? 0 : 3; fault < 3; fault++)
                for (another = 0; another < 2; another++)
                    check_refusal(&host, context, &m, columns, line, fault, another);
    }
    p = problem_create(context, &desc);
    check_rows(p, 0);
    gpuopt_propagator_destroy(p);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(rows_of_all_lengths),     cmocka_unit_test(rows_of_each_column),
    cmocka_unit_test(refusals_name_the_place), cmocka_unit_test(bounds_left_out),
    MODEL_TEST(crossing_bounds_left_out),
};
TEST_MAIN(tests)
