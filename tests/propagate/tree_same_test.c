/* SPDX-License-Identifier: MIT
 *
 * The trail of a search, compared with one thread of the CPU backend: the same changes in the same order, with the same
 * rows and premises. Models with rows of all lengths, and rounds with many changes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/propagate/tree.h"

typedef struct pair {
    gpuopt_context *plain;
    gpuopt_propagator *p, *q; /* q: of one thread */
    mip model;
    uint64_t seed;
    int64_t capacity;
    long changes, explained, premises, infeasible, full, most; /* most: changes of a round */
} pair;

static pair *pair_begin(gpuopt_context *context, mip model, gpuopt_propagator_precision precision, int64_t capacity) {
    pair *s = calloc(1, sizeof *s);
    gpuopt_propagator_desc desc;
    gpuopt_spare spare;
    assert_non_null(s);
    assert_int_equal(gpuopt_context_create(NULL, &s->plain), GPUOPT_OK);
    s->model = model;
    s->seed = 17;
    s->capacity = capacity;
    desc = tree_desc(&s->model, GPUOPT_MODE_JACOBI, precision);
    desc.trail_capacity = capacity;
    spare = *desc.spare;
    spare.nonzeros = 3 * (int64_t)model.matrix.cols;
    desc.spare = &spare;
    s->p = problem_create(context, &desc);
    s->q = problem_create(s->plain, &desc);
    return s;
}

static void pair_end(pair *s) {
    gpuopt_propagator_destroy(s->q);
    gpuopt_propagator_destroy(s->p);
    gpuopt_context_destroy(s->plain);
    mip_free(&s->model);
    free(s);
}

static void compare_reasons(pair *s, int64_t change) {
    enum { PREMISES = 4096 };
    static int64_t of_p[PREMISES], of_q[PREMISES];
    gpuopt_propagator_reason a, b;
    gpuopt_status status = tree_explain(s->p, change, &a, of_p, PREMISES);
    assert_int_equal(status, tree_explain(s->q, change, &b, of_q, PREMISES));
    assert_int_equal(a.count, b.count);
    assert_int_equal(a.row, b.row);
    assert_int_equal(a.col, b.col);
    if (status || a.count > PREMISES) return;
    assert_memory_equal(of_p, of_q, sizeof *of_p * (size_t)a.count);
    s->explained += a.row >= 0;
    s->premises += a.count;
}

static void compare_bounds(pair *s) {
    const size_t cols = (size_t)s->model.matrix.cols, bytes = sizeof(double) * cols;
    double *all = malloc(4 * bytes);
    assert_non_null(all);
    problem_bounds(s->p, all, all + cols);
    problem_bounds(s->q, all + 2 * cols, all + 3 * cols);
    assert_memory_equal(all, all + 2 * cols, 2 * bytes);
    free(all);
}

/* The present contents of the trails, in whole or in part. */
static void compare(pair *s) {
    gpuopt_propagator_trail a = tree_trail(s->p), b = tree_trail(s->q);
    int64_t n, m, k, from;
    tree_change *of_p, *of_q;
    assert_int_equal(a.levels, b.levels);
    assert_int_equal(a.changes, b.changes);
    assert_int_equal(a.level_start, b.level_start);
    from = a.changes > 0 ? test_random_int(&s->seed, 0, 2) * a.changes / 3 : 0;
    of_p = tree_changes(s->p, from, &n);
    of_q = tree_changes(s->q, from, &m);
    assert_int_equal(n, m);
    assert_int_equal(n, a.changes - from);
    for (k = 0; k < n; k++)
        if (of_p[k].col != of_q[k].col || of_p[k].upper != of_q[k].upper || of_p[k].row != of_q[k].row ||
            memcmp(&of_p[k].old_bound, &of_q[k].old_bound, sizeof(double)) ||
            memcmp(&of_p[k].new_bound, &of_q[k].new_bound, sizeof(double)))
            fail_msg("change %ld of %ld: column %d, side %d, %.17g to %.17g by row %d, not %d, %d, %.17g to %.17g, %d",
                     (long)(from + k), (long)a.changes, of_p[k].col, of_p[k].upper, of_p[k].old_bound,
                     of_p[k].new_bound, of_p[k].row, of_q[k].col, of_q[k].upper, of_q[k].old_bound, of_q[k].new_bound,
                     of_q[k].row);
    free(of_p);
    free(of_q);
    compare_bounds(s);
    for (k = 0; k < 6 && a.changes > 0; k++) compare_reasons(s, test_random_int(&s->seed, 0, a.changes - 1));
    s->changes += n;
}

static gpuopt_outcome run(pair *s, int rounds) {
    gpuopt_propagator_info a = problem_round(s->p, rounds), b = problem_round(s->q, rounds);
    model_check_same_info(a, b);
    compare(s);
    if (a.outcome == GPUOPT_INFEASIBLE) compare_reasons(s, -1);
    s->infeasible += a.outcome == GPUOPT_INFEASIBLE;
    s->full += a.outcome == GPUOPT_FULL;
    if (a.rounds > 0 && a.changed / a.rounds > s->most) s->most = (long)(a.changed / a.rounds);
    return a.outcome;
}

static void push(pair *s) { assert_int_equal(tree_push(s->p), tree_push(s->q)); }

static void pop(pair *s, int levels) {
    tree_pop(s->p, levels);
    tree_pop(s->q, levels);
    compare(s);
}

/* Sets bounds of `count` distinct columns, at most of all; bounds that do not fit are refused by both. */
static void set(pair *s, int32_t count) {
    const int32_t cols = s->model.matrix.cols, step = cols / count;
    int32_t *col = malloc(sizeof *col * (size_t)count), k, first = (int32_t)test_random_int(&s->seed, 0, step - 1);
    double *lb = malloc(sizeof *lb * (size_t)cols), *ub = malloc(sizeof *ub * (size_t)cols);
    double *new_lb = malloc(sizeof *lb * (size_t)count), *new_ub = malloc(sizeof *ub * (size_t)count);
    gpuopt_status status;
    assert_true(col && lb && ub && new_lb && new_ub);
    problem_bounds(s->q, lb, ub);
    for (k = 0; k < count; k++) {
        const int32_t j = col[k] = first + (count - 1 - k) * step; /* descending; the trail keeps this order */
        double low = isinf(lb[j]) ? -9 : lb[j], high = isinf(ub[j]) ? 9 : ub[j], at;
        int what = (int)test_random_int(&s->seed, 0, 5);
        if (low > high) low = high;
        at = floor(low + (high - low) * (double)test_random_int(&s->seed, 0, 8) / 8);
        new_lb[k] = what == 0 ? low - 1 : what < 3 ? at : low;
        new_ub[k] = what == 1 || what == 3 ? at : high;
        if (new_lb[k] > new_ub[k]) new_lb[k] = new_ub[k];
        if (count == cols) lb[j] = new_lb[k], ub[j] = new_ub[k];
    }
    if (count == cols) {
        status = gpuopt_propagator_set_bounds(s->q, GPUOPT_HOST, 0, NULL, lb, ub);
        assert_int_equal(gpuopt_propagator_set_bounds(s->p, GPUOPT_HOST, 0, NULL, lb, ub), status);
    } else {
        const double *low = count % 2 ? new_lb : NULL;
        status = gpuopt_propagator_set_bounds(s->q, GPUOPT_HOST, count, col, low, new_ub);
        assert_int_equal(gpuopt_propagator_set_bounds(s->p, GPUOPT_HOST, count, col, low, new_ub), status);
    }
    if (status) assert_int_equal(status, GPUOPT_ERROR_MEMORY);
    free(col);
    free(lb);
    free(ub);
    free(new_lb);
    free(new_ub);
    compare(s);
}

/* A row over all columns, or over a few, which holds at a point within the bounds. */
static int32_t add(pair *s, int32_t every) {
    const int32_t cols = s->model.matrix.cols;
    int32_t *index = malloc(sizeof *index * (size_t)cols), n = 0, j, row;
    double *value = malloc(sizeof *value * (size_t)cols), *lb = malloc(sizeof *lb * (size_t)cols),
           *ub = malloc(sizeof *ub * (size_t)cols), least = 0;
    assert_true(index && value && lb && ub);
    problem_bounds(s->q, lb, ub);
    for (j = 0; j < cols; j += every) {
        if (isinf(lb[j]) || isinf(ub[j])) continue;
        index[n] = j;
        value[n] = j % 2 ? 1.1 : -0.7;
        least += value[n] * (j % 2 ? lb[j] : ub[j]);
        n++;
    }
    row = tree_add(s->p, cols, n, index, value, -INFINITY, least + 1.5);
    assert_int_equal(row, tree_add(s->q, cols, n, index, value, -INFINITY, least + 1.5));
    free(index);
    free(value);
    free(lb);
    free(ub);
    return row;
}

static void set_side(pair *s, int32_t row, double lhs, double rhs) {
    assert_int_equal(gpuopt_propagator_set_sides(s->p, GPUOPT_HOST, 1, &row, &lhs, &rhs), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_set_sides(s->q, GPUOPT_HOST, 1, &row, &lhs, &rhs), GPUOPT_OK);
}

static void compare_rows(pair *s) {
    const size_t rows = (size_t)s->model.matrix.rows + TREE_ROWS;
    double *low[2], *high[2];
    uint8_t *status[2];
    int k;
    for (k = 0; k < 2; k++) {
        gpuopt_propagator_row_report report = GPUOPT_INIT(gpuopt_propagator_row_report);
        report.min_activity = low[k] = malloc(sizeof **low * rows);
        report.max_activity = high[k] = malloc(sizeof **high * rows);
        report.status = status[k] = malloc(rows);
        assert_true(low[k] && high[k] && status[k]);
        assert_int_equal(gpuopt_propagator_get_rows(k ? s->q : s->p, GPUOPT_HOST, &report), GPUOPT_OK);
    }
    assert_memory_equal(low[0], low[1], sizeof **low * rows);
    assert_memory_equal(high[0], high[1], sizeof **high * rows);
    assert_memory_equal(status[0], status[1], rows);
    for (k = 0; k < 2; k++) free(low[k]), free(high[k]), free(status[k]);
}

/* Down and back up, with rows that come, change and go. */
static void search(pair *s, int nodes) {
    const int32_t cols = s->model.matrix.cols;
    int32_t row[3];
    int k, levels = 0;
    run(s, 1);
    run(s, 2000);
    for (k = 0; k < nodes; k++) {
        const int32_t counts[] = {1, 3, 20, 1};
        push(s), levels++;
        set(s, counts[k % 4] < cols ? counts[k % 4] : cols);
        if (run(s, k % 3 ? 2000 : 1) == GPUOPT_INFEASIBLE || levels == 5) {
            const int back = (int)test_random_int(&s->seed, 1, levels);
            pop(s, back), levels -= back;
        }
        if (k == 2) row[0] = add(s, 1), row[1] = add(s, cols / 8), row[2] = add(s, cols / 100 + 1), compare(s);
        if (k == 4) set_side(s, row[1], -INFINITY, -3), compare_rows(s);
        if (k == 6) {
            assert_int_equal(gpuopt_propagator_remove_rows(s->p, 2, row), GPUOPT_OK);
            assert_int_equal(gpuopt_propagator_remove_rows(s->q, 2, row), GPUOPT_OK);
            compare_rows(s);
            assert_int_equal(row[1], add(s, 7));
        }
        if (k == 8) set(s, cols), run(s, 3);
    }
    pop(s, levels);
    run(s, 2000);
}

/* ---- Models ---- */

static mip generate(const char *name) {
    char error[128] = "";
    mip m;
    if (mip_generate(name, &m, error, sizeof error)) fail_msg("%s: %s", name, error);
    return m;
}

static void check_generated(gpuopt_context *context, gpuopt_propagator_mode mode,
                            gpuopt_propagator_precision precision) {
    static const char *const names[] = {"rand,300,200,12,7", "skew,400,300,10,1", "rand,200,150,40,3"};
    int k;
    for (k = 0; k < 3 && mode == GPUOPT_MODE_JACOBI; k++) {
        pair *s = pair_begin(context, generate(names[k]), precision, 20000);
        search(s, test_times(30, 30) * 3 + 10);
        assert_true(s->changes > 500 && s->explained > 20 && s->premises > 20);
        pair_end(s);
    }
}
TREE_TEST(generated)

/* Rows of any length up to three segments, all with an effect. */
static mip draw_long(void) {
    static const int32_t lengths[] = {1, 4, 31, 32, 33, 100, 257, 512, 513, 1030, 1500};
    enum { COLS = 1600, LENGTHS = sizeof lengths / sizeof *lengths, ROWS = 3 * LENGTHS };
    mip m = problem_new(COLS, ROWS, (int64_t)ROWS * COLS);
    uint64_t seed = 5;
    int32_t i, j, k;
    for (j = 0; j < COLS; j++) problem_col(&m, j, j % 50 ? 0 : -4, 6 + j % 5, j % 2);
    for (i = 0; i < ROWS; i++) {
        const int32_t length = lengths[i % LENGTHS], first = (int32_t)test_random_int(&seed, 0, COLS - length);
        double least = 0;
        problem_row(&m, -INFINITY, 0);
        for (k = 0; k < length; k++) {
            const double a = (double)test_random_int(&seed, 1, 9) / 4 * (test_random_int(&seed, 0, 1) ? 1 : -1);
            problem_entry(&m, first + k, a);
            least += a * (a > 0 ? m.lb[first + k] : m.ub[first + k]);
        }
        m.rhs[i] = least + (double)test_random_int(&seed, 2, 12) + (double)length / 100;
        if (i % 5 == 0) m.lhs[i] = least + 1;
    }
    return m;
}

static void check_long_rows(gpuopt_context *context, gpuopt_propagator_mode mode,
                            gpuopt_propagator_precision precision) {
    pair *s;
    if (mode != GPUOPT_MODE_JACOBI) return;
    s = pair_begin(context, draw_long(), precision, 60000);
    search(s, 10);
    assert_true(s->changes > 2000 && s->explained > 20 && s->premises > 20);
    pair_end(s);
}
TREE_TEST(long_rows)

/* |x_j - x_(j + 1) / 2| <= 1 over [-100, 100]: every round moves all bounds, to about half of their previous size. */
static mip draw_chain(int32_t cols) {
    mip m = problem_new(cols, cols - 1, 2 * (int64_t)cols);
    int32_t j;
    for (j = 0; j < cols; j++) problem_col(&m, j, -100, 100, 0);
    for (j = 0; j + 1 < cols; j++) {
        problem_row(&m, -1, 1);
        problem_entry(&m, j, 1);
        problem_entry(&m, j + 1, -0.5);
    }
    return m;
}

/* Rounds that move thousands of bounds, and trails that are too short for one. */
static void check_many_changes(gpuopt_context *context, gpuopt_propagator_mode mode,
                               gpuopt_propagator_precision precision) {
    static const int64_t capacity[] = {100000, 5000, 14000};
    int k;
    for (k = 0; k < 3 && mode == GPUOPT_MODE_JACOBI; k++) {
        pair *s = pair_begin(context, draw_chain(3000), precision, capacity[k]);
        run(s, 1);
        run(s, 2);
        push(s);
        set(s, 5);
        run(s, 3);
        set(s, s->model.matrix.cols);
        run(s, 3);
        pop(s, 1);
        run(s, 1);
        assert_int_equal(gpuopt_propagator_commit(s->p), GPUOPT_OK);
        assert_int_equal(gpuopt_propagator_commit(s->q), GPUOPT_OK);
        run(s, 2);
        assert_true(k ? s->full > 0 : s->most > 5000 && s->explained > 20);
        pair_end(s);
    }
}
TREE_TEST(many_changes)

/* Sets bounds of columns in turn, each of which moves a chain of others until the trail is full; then the way back.
 * Rounds evaluate few rows; rows of a round that did not fit are evaluated again. */
static void check_after_full(gpuopt_context *context, gpuopt_propagator_mode mode,
                             gpuopt_propagator_precision precision) {
    enum { COLS = 200 };
    mip m = problem_new(COLS, COLS - 1, 2 * (COLS - 1));
    pair *s;
    int32_t j;
    if (mode != GPUOPT_MODE_JACOBI) {
        mip_free(&m);
        return;
    }
    for (j = 0; j < COLS; j++) problem_col(&m, j, 0, 100, 1);
    for (j = 0; j + 1 < COLS; j++) problem_row(&m, -INFINITY, 0), problem_entry(&m, j, -1), problem_entry(&m, j + 1, 1);
    s = pair_begin(context, m, precision, 3);
    assert_int_equal(run(s, 100), GPUOPT_CONVERGED);
    for (j = 0; j < 12; j++) {
        const int32_t col = j % 3 + j / 3;
        const double ub = 50;
        push(s);
        assert_int_equal(gpuopt_propagator_set_bounds(s->q, GPUOPT_HOST, 1, &col, NULL, &ub), GPUOPT_OK);
        assert_int_equal(gpuopt_propagator_set_bounds(s->p, GPUOPT_HOST, 1, &col, NULL, &ub), GPUOPT_OK);
        assert_int_equal(run(s, 100), GPUOPT_FULL);
        assert_int_equal(tree_trail(s->p).changes, 3);
        pop(s, 1);
    }
    pair_end(s);
}
TREE_TEST(after_full)

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(generated),
    cmocka_unit_test(long_rows),
    cmocka_unit_test(many_changes),
    cmocka_unit_test(after_full),
};
TEST_MAIN(tests)
