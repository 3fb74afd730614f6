/* SPDX-License-Identifier: MIT
 *
 * Forks: other states of the same model, in other contexts and threads. No action of a state changes another one, and
 * many at once give the bits that each gives alone.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/propagate/tree_walk.h"

/* ---- One at a time ---- */

/* A fork begins in the state of the original, at level 0; then they diverge. */
static void check_independence(gpuopt_context *context, gpuopt_propagator_mode mode,
                               gpuopt_propagator_precision precision) {
    gpuopt_context *other = test_context(NULL);
    mip m = model_small();
    gpuopt_propagator_desc desc = tree_desc(&m, mode, precision);
    gpuopt_propagator *p = problem_create(context, &desc), *fork, *second;
    double lb[3], ub[3];
    gpuopt_propagator_changes c = GPUOPT_INIT(gpuopt_propagator_changes);
    problem_round(p, 1);
    tree_push(p);
    tree_set(p, 2, 2, 8);
    problem_bounds(p, lb, ub);
    assert_int_equal(gpuopt_propagator_clone(p, other, NULL, &fork), GPUOPT_OK);
    model_check_bounds(fork, 3, lb, ub);
    assert_int_equal(tree_trail(fork).levels, 0);
    assert_int_equal(tree_trail(fork).changes, 0);
    assert_int_equal(gpuopt_propagator_get_changes(fork, GPUOPT_HOST, 0, &c), GPUOPT_OK);
    assert_int_equal(c.count, 0);
    assert_int_equal(gpuopt_propagator_pop(fork, 1), GPUOPT_ERROR_ARGUMENT);
    /* The original goes back; the fork continues, and is forked. */
    tree_pop(p, 1);
    model_check_bounds(fork, 3, lb, ub);
    assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
    model_check_bounds(p, 3, model_small_lb, model_small_ub);
    model_check_bounds(fork, 3, lb, ub);
    assert_int_equal(problem_round(fork, 10).outcome, GPUOPT_CONVERGED); /* x2 in [2, 3], x1 in [3, 4], x0 in [0, 1] */
    problem_bounds(fork, lb, ub);
    assert_true(lb[2] == 2 && ub[2] == 3 && lb[1] == 3 && ub[1] == 4 && lb[0] == 0 && ub[0] == 1);
    tree_push(fork);
    tree_set_one(fork, 0, 0, 1);
    assert_int_equal(gpuopt_propagator_clone(fork, context, NULL, &second), GPUOPT_OK);
    tree_pop(fork, 1);
    assert_int_equal(problem_round(second, 10).outcome, GPUOPT_CONVERGED); /* x0 = 1, x1 = 3, x2 = 2 */
    problem_bounds(second, lb, ub);
    assert_true(lb[0] == 1 && ub[1] == 3 && ub[2] == 2);
    problem_bounds(fork, lb, ub);
    assert_true(lb[0] == 0 && ub[1] == 4 && ub[2] == 3);
    model_check_bounds(p, 3, model_small_lb, model_small_ub);
    gpuopt_propagator_destroy(second);
    gpuopt_propagator_destroy(fork);
    gpuopt_propagator_destroy(p);
    mip_free(&m);
    gpuopt_context_destroy(other);
}
TREE_TEST(independence)

/* Rows and sides are each state's own. */
static void check_own_rows(gpuopt_context *context, gpuopt_propagator_mode mode,
                           gpuopt_propagator_precision precision) {
    static const int32_t index[2] = {0, 2};
    static const double value[2] = {1, 1}, free_lhs = -INFINITY, free_rhs = INFINITY;
    mip m = model_small();
    gpuopt_propagator_desc desc = tree_desc(&m, mode, precision);
    gpuopt_propagator *p = problem_create(context, &desc), *fork;
    int32_t both = tree_add(p, 3, 2, index, value, -INFINITY, 2), first = 0, mine;
    double ub[3];
    assert_int_equal(gpuopt_propagator_clone(p, context, NULL, &fork), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_remove_rows(p, 1, &both), GPUOPT_OK);
    mine = tree_add(p, 3, 1, index, value, -INFINITY, 2.5);
    assert_int_equal(gpuopt_propagator_set_sides(p, GPUOPT_HOST, 1, &first, &free_lhs, &free_rhs), GPUOPT_OK);
    assert_int_equal(problem_round(fork, 10).outcome, GPUOPT_CONVERGED);
    problem_bounds(fork, NULL, ub);
    assert_true(ub[0] == 2 && ub[1] == 4 && ub[2] == 2);
    assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
    problem_bounds(p, NULL, ub);
    assert_true(ub[0] == 2.5 && ub[1] == 10 && ub[2] == 9);
    assert_int_equal(gpuopt_propagator_remove_rows(fork, 1, &both), GPUOPT_OK);
    if (mine != both) assert_int_equal(gpuopt_propagator_remove_rows(fork, 1, &mine), GPUOPT_ERROR_ARGUMENT);
    gpuopt_propagator_destroy(fork);
    gpuopt_propagator_destroy(p);
    mip_free(&m);
}
TREE_TEST(own_rows)

/* Whatever has been proven, it is found again. */
static void check_infeasible_fork(gpuopt_context *context, gpuopt_propagator_mode mode,
                                  gpuopt_propagator_precision precision) {
    int by_row, proven;
    for (by_row = 0; by_row < 2; by_row++)
        for (proven = 0; proven < 2; proven++) {
            mip m = by_row ? model_infeasible() : model_one_column(3, 1, 0, 5);
            gpuopt_propagator_desc desc = tree_desc(&m, mode, precision);
            gpuopt_propagator *p = problem_create(context, &desc), *fork;
            gpuopt_propagator_info info;
            gpuopt_propagator_reason reason;
            int32_t j;
            if (proven) problem_round(p, 5);
            assert_int_equal(gpuopt_propagator_clone(p, context, NULL, &fork), GPUOPT_OK);
            info = problem_round(fork, 5);
            assert_int_equal(info.outcome, GPUOPT_INFEASIBLE);
            assert_int_equal(info.infeasible_row, by_row ? 1 : -1);
            assert_int_equal(info.infeasible_col, by_row ? -1 : 0);
            assert_int_equal(tree_explain(fork, -1, &reason, NULL, 0), GPUOPT_OK);
            for (j = 0; j < m.matrix.cols; j++) tree_set(fork, j, -10, 10);
            assert_int_equal(problem_round(fork, 1).outcome, GPUOPT_MORE);
            gpuopt_propagator_destroy(fork);
            gpuopt_propagator_destroy(p);
            mip_free(&m);
        }
}
TREE_TEST(infeasible_fork)

/* ---- At the same time ---- */

enum { STATES = 5 };
static int turns(void) { return test_few() ? 150 : 300; }

/* The results of a state, without cmocka, since its checks belong to one thread. */
typedef struct script {
    gpuopt_propagator *p;
    uint64_t seed, found; /* found: of all bounds, changes and outcomes */
    int failures;
    long infeasible, changes;
} script;

static void take(script *s, const void *data, size_t bytes) {
    const unsigned char *b = data;
    size_t k;
    for (k = 0; k < bytes; k++) s->found = (s->found ^ b[k]) * UINT64_C(0x100000001B3);
}

static void *run(void *argument) {
    script *s = argument;
    int turn, level = 0, rows = 0;
    int32_t row[TREE_ROWS];
    for (turn = 0; turn < turns(); turn++) {
        gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
        gpuopt_propagator_changes c = GPUOPT_INIT(gpuopt_propagator_changes);
        gpuopt_propagator_reason r = GPUOPT_INIT(gpuopt_propagator_reason);
        double lb[MODEL_COLS], ub[MODEL_COLS], old_bound[64], new_bound[64];
        int32_t j = (int32_t)test_random_int(&s->seed, 0, MODEL_COLS - 1), col[64], by[64];
        int64_t start = -1, premise[16];
        uint8_t upper[64];
        s->failures += gpuopt_propagator_push(s->p, &start) != GPUOPT_OK;
        level++;
        s->failures += gpuopt_propagator_get_bounds(s->p, GPUOPT_HOST, 0, NULL, lb, ub) != GPUOPT_OK;
        if (isinf(lb[j]) || isinf(ub[j])) lb[j] = -5, ub[j] = 5;
        else if (test_random_int(&s->seed, 0, 1)) ub[j] = floor((lb[j] + ub[j]) / 2);
        else lb[j] = floor((lb[j] + ub[j]) / 2) + (lb[j] < ub[j]);
        s->failures += gpuopt_propagator_set_bounds(s->p, GPUOPT_HOST, 1, &j, &lb[j], &ub[j]) != GPUOPT_OK;
        if (turn % 7 == 3 && rows < 10) {
            const int64_t begin[2] = {0, 2};
            const int32_t index[2] = {j, (j + 1 + turn % 5) % MODEL_COLS};
            const double value[2] = {1, turn % 2 ? 1 : -1}, lhs = -INFINITY, rhs = 30;
            const gpuopt_matrix m = {1, MODEL_COLS, begin, index, value, GPUOPT_LAYOUT_CSR};
            s->failures += gpuopt_propagator_add_rows(s->p, &m, &lhs, &rhs, &row[rows++]) != GPUOPT_OK;
        } else if (turn % 7 == 5 && rows > 0) {
            s->failures += gpuopt_propagator_remove_rows(s->p, 1, &row[--rows]) != GPUOPT_OK;
        }
        s->failures += gpuopt_propagator_round(s->p, turn % 3 ? MODEL_MANY : 1, &info) != GPUOPT_OK;
        take(s, &info.outcome, sizeof info.outcome);
        take(s, &info.changed, sizeof info.changed);
        c.capacity = 64;
        c.col = col;
        c.upper = upper;
        c.old_bound = old_bound;
        c.new_bound = new_bound;
        c.row = by;
        s->failures += gpuopt_propagator_get_changes(s->p, GPUOPT_HOST, start, &c) != GPUOPT_OK;
        s->changes += c.count;
        if (c.count < c.capacity) c.capacity = c.count;
        take(s, col, sizeof *col * (size_t)c.capacity);
        take(s, by, sizeof *by * (size_t)c.capacity);
        take(s, upper, (size_t)c.capacity);
        take(s, new_bound, sizeof *new_bound * (size_t)c.capacity);
        r.premises = premise;
        r.capacity = 16;
        if (c.count > 0) {
            s->failures += gpuopt_propagator_explain(s->p, start + c.count - 1, &r) != GPUOPT_OK;
            take(s, premise, sizeof *premise * (size_t)(r.count < 16 ? r.count : 16));
        }
        s->failures += gpuopt_propagator_get_bounds(s->p, GPUOPT_HOST, 0, NULL, lb, ub) != GPUOPT_OK;
        take(s, lb, sizeof lb);
        take(s, ub, sizeof ub);
        s->infeasible += info.outcome == GPUOPT_INFEASIBLE;
        if (info.outcome == GPUOPT_INFEASIBLE || level > 12) {
            int back = 1 + (int)test_random_int(&s->seed, 0, level - 1);
            s->failures += gpuopt_propagator_pop(s->p, back) != GPUOPT_OK;
            level -= back;
        }
    }
    return NULL;
}

static void check_threads(gpuopt_context *context, gpuopt_propagator_mode mode, gpuopt_propagator_precision precision) {
    double x[MODEL_COLS];
    mip m = model_random(11, x);
    gpuopt_propagator_desc desc = tree_desc(&m, mode, precision);
    script one[STATES], many[STATES];
    int k;
    (void)context;
    for (k = 0; k < 2; k++) {
        gpuopt_context *own[STATES];
        script *s = k ? many : one;
        pthread_t thread[STATES];
        int i;
        memset(s, 0, sizeof one);
        for (i = 0; i < STATES; i++) {
            own[i] = test_context(NULL);
            s[i].seed = 100 + (uint64_t)i;
            if (i == 0) s[i].p = problem_create(own[i], &desc);
            else /* the last one is a fork of a fork */
                assert_int_equal(gpuopt_propagator_clone(s[i == STATES - 1 ? i - 1 : 0].p, own[i], NULL, &s[i].p),
                                 GPUOPT_OK);
        }
        for (i = 0; i < STATES; i++)
            if (k) assert_int_equal(pthread_create(&thread[i], NULL, run, &s[i]), 0);
            else run(&s[i]);
        for (i = 0; k && i < STATES; i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
        for (i = STATES - 1; i >= 0; i--) gpuopt_propagator_destroy(s[i].p);
        for (i = 0; i < STATES; i++) gpuopt_context_destroy(own[i]);
    }
    for (k = 0; k < STATES; k++) {
        assert_int_equal(one[k].failures, 0);
        assert_int_equal(many[k].failures, 0);
        assert_true(one[k].infeasible > 3 && one[k].changes > turns());
        assert_true(one[k].found == many[k].found && one[k].changes == many[k].changes);
        assert_true(k == 0 || one[k].found != one[k - 1].found);
    }
    mip_free(&m);
}
TREE_TEST(threads)

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(independence),
    cmocka_unit_test(own_rows),
    cmocka_unit_test(infeasible_fork),
    cmocka_unit_test(threads),
};
TEST_MAIN(tests)
