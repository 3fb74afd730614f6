/* SPDX-License-Identifier: MIT
 *
 * Reasons: by hand on small models. Also, premises are followed back to the caller's decisions, and their claims are
 * checked by trying all points of a small box. (On random walks every reason is checked in rational arithmetic, see
 * tree_test.c.)
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/propagate/tree.h"

static void check_reason(gpuopt_propagator *p, int64_t change, int32_t row, int32_t col, int count, int64_t first,
                         int64_t second) {
    gpuopt_propagator_reason reason;
    int64_t premise[2] = {-1, -1};
    assert_int_equal(tree_explain(p, change, &reason, premise, 2), GPUOPT_OK);
    assert_int_equal(reason.row, row);
    assert_int_equal(reason.col, col);
    assert_int_equal(reason.count, count);
    assert_int_equal(premise[0], first);
    assert_int_equal(premise[1], second);
}

/* ---- By hand ---- */

/* The changes are in tree_test.c. */
static void check_small_reasons(gpuopt_context *context, gpuopt_propagator_mode mode,
                                gpuopt_propagator_precision precision) {
    mip m = model_small();
    gpuopt_propagator_desc desc = tree_desc(&m, mode, precision);
    gpuopt_propagator *p = problem_create(context, &desc);
    gpuopt_propagator_reason reason;
    int64_t at;
    problem_round(p, 10);
    if (mode == GPUOPT_MODE_JACOBI) {
        check_reason(p, 0, 0, 0, 0, -1, -1); /* x0 <= 4 - 0 */
        check_reason(p, 1, 1, 1, 0, -1, -1); /* x1 >= 1 + 0 */
        check_reason(p, 3, 1, 2, 0, -1, -1); /* x2 <= 10 - 1 */
        check_reason(p, 4, 0, 0, 1, 1, -1);  /* x0 <= 4 - 1 */
        check_reason(p, 5, 1, 2, 1, 2, -1);  /* x2 <= 4 - 1 */
    } else {
        check_reason(p, 1, 0, 1, 0, -1, -1);
        check_reason(p, 3, 1, 2, 1, 1, -1);
        check_reason(p, 4, 0, 0, 1, 2, -1);
    }
    at = tree_push(p);
    assert_int_equal(tree_explain(p, -1, &reason, NULL, 0), GPUOPT_ERROR_STATE);
    tree_set_one(p, 0, 0, 2);
    check_reason(p, at, -1, 0, 0, -1, -1); /* the caller's */
    tree_set_one(p, 2, 0, 2.5);            /* x1 >= 3.5, x1 <= 2 */
    assert_int_equal(problem_round(p, 10).outcome, GPUOPT_INFEASIBLE);
    assert_int_equal(tree_explain(p, -1, &reason, NULL, 0), GPUOPT_OK);
    tree_pop(p, 1);
    assert_int_equal(tree_explain(p, -1, &reason, NULL, 0), GPUOPT_ERROR_STATE);
    tree_set(p, 1, 9, 8); /* two changes */
    assert_int_equal(problem_round(p, 10).outcome, GPUOPT_INFEASIBLE);
    check_reason(p, -1, -1, 1, 2, at, at + 1);
    assert_int_equal(gpuopt_propagator_commit(p), GPUOPT_OK);
    check_reason(p, -1, -1, 1, 0, -1, -1); /* so it is at level 0 */
    gpuopt_propagator_destroy(p);
    mip_free(&m);
}
TREE_TEST(small_reasons)

/* Nothing is written beyond the capacity, and all premises are counted. */
static void check_capacity(gpuopt_context *context, gpuopt_propagator_mode mode,
                           gpuopt_propagator_precision precision) {
    static const double a[4] = {1, 1, 1, 1}, lhs[1] = {-INFINITY}, rhs[1] = {3};
    mip m = model_dense(1, 4, a, lhs, rhs, 0, 1, 1);
    gpuopt_propagator_desc desc = tree_desc(&m, mode, precision);
    gpuopt_propagator *p = problem_create(context, &desc);
    int64_t capacity, k;
    int32_t j;
    tree_push(p);
    for (j = 3; j > 0; j--) tree_set_one(p, j, 0, 1); /* so x0 = 0 */
    assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
    assert_int_equal(tree_trail(p).changes, 4);
    for (capacity = 0; capacity <= 4; capacity++) {
        int64_t premise[5] = {-9, -9, -9, -9, -9};
        gpuopt_propagator_reason reason;
        assert_int_equal(tree_explain(p, 3, &reason, premise, capacity), GPUOPT_OK);
        assert_int_equal(reason.count, 3);
        for (k = capacity < 3 ? capacity : 3; k < 5; k++) assert_int_equal(premise[k], -9);
        for (k = 0; k < 3 && capacity >= 3; k++) assert_int_equal(premise[k], k);
        assert_int_equal(tree_explain(p, 3, &reason, NULL, capacity), GPUOPT_OK);
        assert_int_equal(reason.count, 3);
    }
    gpuopt_propagator_destroy(p);
    mip_free(&m);
}
TREE_TEST(capacity)

/* x0 + x1 + x2 + x3 <= 1 with four columns at 1: two of them suffice. 3 x0 + x1 <= 3 with x0 = 1: x1 = 0, for which x0
 * is needed; x2's bounds are in no reason, since they do not move. */
static void check_needless_premises(gpuopt_context *context, gpuopt_propagator_mode mode,
                                    gpuopt_propagator_precision precision) {
    static const double a[4] = {1, 1, 1, 1}, lhs[1] = {-INFINITY}, rhs[1] = {1}, ones[4] = {1, 1, 1, 1};
    static const int32_t col[4] = {0, 1, 2, 3};
    mip m = model_dense(1, 4, a, lhs, rhs, 0, 1, 1);
    gpuopt_propagator_desc desc = tree_desc(&m, mode, precision);
    gpuopt_propagator *p = problem_create(context, &desc);
    gpuopt_propagator_reason reason;
    int64_t premise[4];
    tree_push(p);
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 4, col, ones, NULL), GPUOPT_OK);
    assert_int_equal(problem_round(p, 10).outcome, GPUOPT_INFEASIBLE);
    assert_int_equal(tree_explain(p, -1, &reason, premise, 4), GPUOPT_OK);
    assert_int_equal(reason.count, 2);
    assert_int_equal(reason.row, 0);
    gpuopt_propagator_destroy(p);
    mip_free(&m);
}
TREE_TEST(needless_premises)

/* ---- Conflicts, by trying all points ---- */

enum { COLS = 6, ROWS = 9, MOST = 3, LIST = 1000 };

typedef struct dive {
    gpuopt_propagator *p;
    mip model;
    uint64_t seed;
    tree_change change[LIST];
    int64_t changes;
    long decisions, used;
} dive;

static mip draw_model(uint64_t *seed) {
    mip m = problem_new(COLS, ROWS, ROWS * COLS);
    int32_t i, j;
    for (j = 0; j < COLS; j++) problem_col(&m, j, 0, MOST, 1);
    for (i = 0; i < ROWS; i++) {
        double middle = 0;
        problem_row(&m, 0, 0);
        for (j = 0; j < COLS; j++) {
            double a = (double)test_random_int(seed, -3, 3);
            if (a != 0 && test_random_int(seed, 0, 1)) problem_entry(&m, j, a), middle += a * MOST / 2;
        }
        m.lhs[i] = i % 2 ? -INFINITY : floor(middle) - (double)test_random_int(seed, 0, 2);
        m.rhs[i] = i % 3 ? INFINITY : floor(middle) + (double)test_random_int(seed, 0, 2);
    }
    return m;
}

/* Whether every point of the box that satisfies the rows has x[col] <= bound (or >=); col < 0: whether there is
 * none. */
static int holds(const mip *m, const double *lb, const double *ub, int32_t col, int upper, double bound) {
    double x[COLS];
    int point, j, i;
    for (point = 0; point < 4 * 4 * 4 * 4 * 4 * 4; point++) {
        int rest = point, inside = 1;
        for (j = 0; j < COLS; j++, rest /= 4) x[j] = rest % 4, inside &= lb[j] <= x[j] && x[j] <= ub[j];
        for (i = 0; i < ROWS && inside; i++) {
            double sum = 0;
            int64_t k;
            for (k = m->matrix.start[i]; k < m->matrix.start[i + 1]; k++)
                sum += m->matrix.value[k] * x[m->matrix.index[k]];
            inside = m->lhs[i] <= sum && sum <= m->rhs[i];
        }
        if (inside && (col < 0 || (upper ? x[col] > bound : x[col] < bound))) return 0;
    }
    return 1;
}

/* Follows the premises of a change (-1: of infeasibility) back to the caller's decisions, and checks that these alone
 * imply it. */
static void follow(dive *d, int64_t change) {
    int64_t premise[2 * COLS], k, l;
    char needed[LIST] = {0};
    double lb[COLS] = {0}, ub[COLS];
    gpuopt_propagator_reason reason;
    for (k = 0; k < COLS; k++) ub[k] = MOST;
    for (k = change < 0 ? d->changes : change;; k--) { /* k == d->changes: infeasibility */
        int64_t asked = k == d->changes ? -1 : k;
        if (k < 0) break;
        if (k != (change < 0 ? d->changes : change) && !needed[k]) continue;
        assert_int_equal(tree_explain(d->p, asked, &reason, premise, 2 * COLS), GPUOPT_OK);
        assert_true(reason.count <= 2 * COLS);
        for (l = 0; l < reason.count; l++) {
            assert_in_range(premise[l], 0, k - 1);
            needed[premise[l]] = 1;
        }
        if (asked >= 0 && reason.row < 0) {
            const tree_change *c = &d->change[k];
            assert_int_equal(reason.count, 0);
            if (c->upper) ub[c->col] = fmin(ub[c->col], c->new_bound);
            else lb[c->col] = fmax(lb[c->col], c->new_bound);
            d->used++;
        }
    }
    for (k = 0; k < d->changes && (change < 0 || k < change); k++) d->decisions += d->change[k].row < 0;
    if (change < 0
            ? !holds(&d->model, lb, ub, -1, 0, 0)
            : !holds(&d->model, lb, ub, d->change[change].col, d->change[change].upper, d->change[change].new_bound))
        fail_msg("change %ld is not implied by the decisions that it leads back to", (long)change);
}

static void check_conflicts(gpuopt_context *context, gpuopt_propagator_mode mode,
                            gpuopt_propagator_precision precision) {
    static dive d; /* too large for the stack */
    int trial, infeasible = 0, implied = 0;
    memset(&d, 0, sizeof d);
    d.seed = 5;
    for (trial = 0; trial < test_times(60, 20); trial++) {
        gpuopt_propagator_desc desc;
        gpuopt_propagator_info info;
        tree_change *list;
        int64_t k;
        int step;
        d.model = draw_model(&d.seed);
        desc = tree_desc(&d.model, mode, precision);
        d.p = problem_create(context, &desc);
        info = problem_round(d.p, 100);
        for (step = 0; step < 8 && info.outcome == GPUOPT_CONVERGED; step++) {
            int32_t j = (int32_t)test_random_int(&d.seed, 0, COLS - 1);
            double lb[COLS], ub[COLS];
            problem_bounds(d.p, lb, ub);
            if (lb[j] == ub[j]) continue;
            tree_push(d.p);
            if (test_random_int(&d.seed, 0, 1)) tree_set_one(d.p, j, 0, ub[j]);
            else tree_set_one(d.p, j, 1, floor((lb[j] + ub[j]) / 2));
            info = problem_round(d.p, 100);
        }
        list = tree_changes(d.p, 0, &d.changes);
        assert_true(d.changes < LIST);
        if (d.changes) memcpy(d.change, list, sizeof *list * (size_t)d.changes);
        free(list);
        for (k = 0; k < d.changes; k++)
            if (d.change[k].row >= 0) follow(&d, k), implied++;
        if (info.outcome == GPUOPT_INFEASIBLE) follow(&d, -1), infeasible++;
        gpuopt_propagator_destroy(d.p);
        mip_free(&d.model);
    }
    assert_true(infeasible >= trial / 10 && implied > 3 * trial);
    assert_true(d.used < d.decisions); /* reasons name less than all decisions */
}
TREE_TEST(conflicts)

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(small_reasons),
    cmocka_unit_test(capacity),
    cmocka_unit_test(needless_premises),
    cmocka_unit_test(conflicts),
};
TEST_MAIN(tests)
