/* SPDX-License-Identifier: MIT
 *
 * Dives in larger models, with long rows and, on several threads, rounds that these share. The reference is a handle
 * with a trail on one thread of the CPU, which must have the same changes. Until the first way back, a handle without a
 * trail is compared, too. Reasons are checked in rational arithmetic.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/propagate/tree.h"

enum { ROUNDS = 12, PREMISES = 4096 };

/* A propagator in use, with its bounds according to its changes. */
typedef struct dive {
    const mip *m;
    gpuopt_propagator *p, *single, *twin;
    double *lb, *ub, *lb0, *ub0;
    tree_change *change;
    int64_t changes;
    uint64_t seed;
    int precision;
    long explained, premises;
} dive;

static double *copy_bounds(const double *from, int32_t cols) {
    double *copy = malloc(sizeof *copy * (size_t)cols);
    assert_non_null(copy);
    return memcpy(copy, from, sizeof *copy * (size_t)cols);
}

static void check_same(gpuopt_propagator *a, gpuopt_propagator *b, int32_t cols) {
    size_t bytes = sizeof(double) * (size_t)cols;
    double *x = malloc(4 * bytes);
    assert_non_null(x);
    problem_bounds(a, x, x + cols);
    problem_bounds(b, x + 2 * cols, x + 3 * cols);
    assert_memory_equal(x, x + 2 * cols, 2 * bytes);
    free(x);
}

/* Reads all changes, which are the same in both. */
static void read_changes(dive *d) {
    int64_t count, k;
    tree_change *other = tree_changes(d->single, 0, &count);
    free(d->change);
    d->change = tree_changes(d->p, 0, &d->changes);
    assert_int_equal(d->changes, count);
    for (k = 0; k < count; k++) {
        const tree_change *a = &d->change[k], *b = &other[k];
        if (a->col != b->col || a->upper != b->upper || a->row != b->row ||
            memcmp(&a->new_bound, &b->new_bound, sizeof a->new_bound) != 0 ||
            memcmp(&a->old_bound, &b->old_bound, sizeof a->old_bound) != 0)
            fail_msg("change %ld: column %d, row %d; on one thread column %d, row %d", (long)k, a->col, a->row, b->col,
                     b->row);
    }
    free(other);
}

static int ascending(const int64_t *position, int64_t count, int64_t end) {
    int64_t k;
    for (k = 0; k < count; k++)
        if (position[k] < (k > 0 ? position[k - 1] + 1 : 0) || position[k] >= end) return 0;
    return 1;
}

/* Checks the reason of a change, or of infeasibility (-1). */
static void explain(dive *d, int64_t change) {
    static int64_t premise[PREMISES];
    const gpuopt_matrix *a = &d->m->matrix;
    gpuopt_propagator_reason reason;
    double *lb = copy_bounds(d->lb0, a->cols), *ub = copy_bounds(d->ub0, a->cols);
    int64_t k;
    assert_int_equal(tree_explain(d->p, change, &reason, premise, PREMISES), GPUOPT_OK);
    assert_true(reason.count <= PREMISES);
    assert_true(ascending(premise, reason.count, change < 0 ? d->changes : change));
    for (k = 0; k < reason.count; k++) {
        const tree_change *c = &d->change[premise[k]];
        (c->upper ? ub : lb)[c->col] = c->new_bound;
    }
    if (reason.row >= 0) {
        const tree_change *c = change < 0 ? NULL : &d->change[change];
        int32_t i = reason.row;
        const tree_row row = {a->start[i + 1] - a->start[i],
                              a->index + a->start[i],
                              a->value + a->start[i],
                              d->m->lhs[i],
                              d->m->rhs[i],
                              d->precision == GPUOPT_PRECISION_FP32};
        if (c && !tree_implied(&row, lb, ub, d->m->integer, c->col, c->upper, c->new_bound))
            fail_msg("change %ld: row %d does not imply it", (long)change, i);
        if (!c && !tree_empty(&row, lb, ub)) fail_msg("row %d has a solution", i);
    } else if (change < 0) assert_true(lb[reason.col] > ub[reason.col]);
    d->explained++;
    d->premises += reason.count;
    free(lb);
    free(ub);
}

/* Updates the bounds that follow from the changes, from position `from` on. */
static void replay(dive *d, int64_t from) {
    double *lb = copy_bounds(d->lb, d->m->matrix.cols), *ub = copy_bounds(d->ub, d->m->matrix.cols);
    int64_t k;
    for (k = from; k < d->changes; k++) {
        double *bound = d->change[k].upper ? d->ub : d->lb;
        assert_memory_equal(&bound[d->change[k].col], &d->change[k].old_bound, sizeof *bound);
        bound[d->change[k].col] = d->change[k].new_bound;
    }
    problem_bounds(d->p, lb, ub);
    for (k = 0; k < d->m->matrix.cols; k++)
        assert_true(ub[k] == d->ub[k] && (lb[k] == d->lb[k] || (d->lb[k] > d->ub[k] && lb[k] == ub[k])));
    free(lb);
    free(ub);
}

static gpuopt_propagator_info rounds(dive *d, int64_t from) {
    const int32_t cols = d->m->matrix.cols;
    gpuopt_propagator_info info = problem_round(d->p, ROUNDS);
    int64_t k;
    model_check_same_info(info, problem_round(d->single, ROUNDS));
    check_same(d->p, d->single, cols);
    if (d->twin) {
        model_check_same_info(info, problem_round(d->twin, ROUNDS));
        check_same(d->p, d->twin, cols);
    }
    read_changes(d);
    replay(d, from);
    for (k = 0; k < 12 && d->changes > from; k++) explain(d, test_random_int(&d->seed, from, d->changes - 1));
    if (info.outcome == GPUOPT_INFEASIBLE) explain(d, -1);
    return info;
}

static void set_one(dive *d, int32_t col, int upper, double bound) {
    tree_set_one(d->p, col, upper, bound);
    tree_set_one(d->single, col, upper, bound);
    if (d->twin) tree_set_one(d->twin, col, upper, bound);
}

/* Goes down, halving the domains of a column or many at each level, until the node is infeasible or deep. */
static int64_t go_down(dive *d, int most) {
    int64_t start = d->changes;
    gpuopt_propagator_info info = {.outcome = GPUOPT_MORE};
    int level, k;
    for (level = 0; level < most && info.outcome != GPUOPT_INFEASIBLE; level++) {
        int64_t from = tree_push(d->p);
        assert_int_equal(tree_push(d->single), from);
        for (k = 0; k <= (d->m->matrix.cols > 9000 ? d->m->matrix.cols / 100 : level % 3); k++) {
            int32_t j = (int32_t)test_random_int(&d->seed, 0, d->m->matrix.cols - 1);
            double lb, ub;
            assert_int_equal(gpuopt_propagator_get_bounds(d->p, GPUOPT_HOST, 1, &j, &lb, &ub), GPUOPT_OK);
            if (isinf(lb) || isinf(ub)) set_one(d, j, isinf(ub), isinf(ub) ? (isinf(lb) ? 0 : lb + 10) : ub - 10);
            else if (lb < ub) set_one(d, j, (int)test_random_int(&d->seed, 0, 1), floor((lb + ub) / 2));
        }
        info = rounds(d, from);
    }
    return start;
}

static void dive_into(gpuopt_context *context, gpuopt_context *plain, const char *name, gpuopt_propagator_mode mode,
                      gpuopt_propagator_precision precision) {
    char error[128] = "";
    mip m;
    gpuopt_propagator_desc desc, without;
    dive d = {.m = &m, .seed = 3, .precision = precision};
    int64_t start;
    int turn;
    if (mip_generate(name, &m, error, sizeof error)) fail_msg("%s: %s", name, error);
    without = desc = tree_desc(&m, mode, precision);
    without.trail_capacity = 0;
    without.spare = NULL;
    if (mode == GPUOPT_MODE_JACOBI) without.marking = GPUOPT_OFF;
    desc.trail_capacity = 1000000;
    d.p = problem_create(context, &desc);
    d.single = problem_create(plain, &desc);
    d.twin = problem_create(plain, &without);
    d.lb = copy_bounds(m.lb, m.matrix.cols);
    d.ub = copy_bounds(m.ub, m.matrix.cols);
    problem_bounds(d.p, d.lb, d.ub);
    d.lb0 = copy_bounds(d.lb, m.matrix.cols);
    d.ub0 = copy_bounds(d.ub, m.matrix.cols);
    rounds(&d, 0);
    for (turn = 0; turn < 3; turn++) {
        double *lb = copy_bounds(d.lb, m.matrix.cols), *ub = copy_bounds(d.ub, m.matrix.cols);
        int levels;
        start = go_down(&d, 12);
        levels = tree_trail(d.p).levels;
        tree_pop(d.p, levels);
        tree_pop(d.single, levels);
        gpuopt_propagator_destroy(d.twin);
        d.twin = NULL;
        free(d.lb);
        free(d.ub);
        d.lb = lb;
        d.ub = ub;
        read_changes(&d);
        assert_int_equal(d.changes, start);
        replay(&d, start);
    }
    assert_true(d.explained > 20);
    gpuopt_propagator_destroy(d.single);
    gpuopt_propagator_destroy(d.p);
    free(d.change);
    free(d.lb);
    free(d.ub);
    free(d.lb0);
    free(d.ub0);
    mip_free(&m);
}

static void check_generated(gpuopt_context *context, gpuopt_propagator_mode mode,
                            gpuopt_propagator_precision precision) {
    static const char *const name[] = {"rand,300,200,12,7",  "rand,3000,2000,12,7",  "skew,100,2000,40,3",
                                       "skew,60,6000,600,5", "band,4000,8,1",        "cflp,12",
                                       "cflp,110",           "rand,12000,10000,10,1"};
    gpuopt_context *plain = NULL;
    int k;
    assert_int_equal(gpuopt_context_create(NULL, &plain), GPUOPT_OK);
    for (k = 0; k < (test_emulated() ? 1 : 8); k++) dive_into(context, plain, name[k], mode, precision);
    gpuopt_context_destroy(plain);
}
TREE_TEST(generated)

/* ---- A round that several threads share, with bounds that cross ---- */

enum { COLS = 60000, MOVED = 11000, EVERY = 1000, LOWEST = 7 };

/* 2 x_j >= 5 and x_j <= 9 for the first columns, 2 x_j <= 5 for some of them: x_j >= 3 and x_j <= 2. */
static mip crossing_model(void) {
    mip m = problem_new(COLS, 2 * COLS, 2 * COLS);
    int32_t j;
    for (j = 0; j < COLS; j++) {
        problem_col(&m, j, 0, 9, 1);
        problem_row(&m, j < MOVED ? 5 : 0, INFINITY);
        problem_entry(&m, j, 2);
        problem_row(&m, -INFINITY, j < MOVED && j % EVERY == LOWEST ? 5 : 18);
        problem_entry(&m, j, 2);
    }
    return m;
}

static void check_crossing(gpuopt_context *context, gpuopt_propagator_mode mode,
                           gpuopt_propagator_precision precision) {
    static const int32_t index[2] = {8, 9};
    static const double value[2] = {1, 1};
    const int jacobi = mode == GPUOPT_MODE_JACOBI;
    mip m = crossing_model();
    gpuopt_propagator_desc desc = tree_desc(&m, mode, precision);
    gpuopt_propagator *p = problem_create(context, &desc);
    gpuopt_propagator_info info;
    gpuopt_propagator_reason reason;
    int64_t premise[2], count, k, turn;
    int32_t added = tree_add(p, COLS, 2, index, value, -INFINITY, 10), j;
    double lb, ub;
    for (turn = 0; turn < 2; turn++) {
        tree_change *c;
        tree_push(p);
        info = problem_round(p, 10);
        assert_int_equal(info.outcome, GPUOPT_INFEASIBLE);
        assert_int_equal(info.infeasible_row, jacobi ? -1 : 2 * LOWEST + 1); /* a sweep sees x_j >= 3 in that row */
        assert_int_equal(info.infeasible_col, jacobi ? LOWEST : -1);
        c = tree_changes(p, 0, &count);
        assert_int_equal(count, jacobi ? MOVED + MOVED / EVERY : LOWEST + 1);
        for (k = 0; k < count; k++) {
            assert_int_equal(c[k].row, 2 * c[k].col + c[k].upper);
            assert_true(c[k].new_bound == (c[k].upper ? 2 : 3));
            assert_true(k == 0 || 2 * c[k].col + c[k].upper > 2 * c[k - 1].col + c[k - 1].upper);
        }
        assert_int_equal(tree_explain(p, -1, &reason, premise, 2), GPUOPT_OK);
        assert_int_equal(reason.row, info.infeasible_row);
        assert_int_equal(reason.col, info.infeasible_col);
        assert_int_equal(reason.count, jacobi ? 2 : 1);
        assert_true(premise[0] == LOWEST && (!jacobi || premise[1] == LOWEST + 1));
        free(c);
        tree_pop(p, 1);
        assert_int_equal(tree_explain(p, -1, &reason, premise, 2), GPUOPT_ERROR_STATE);
    }
    for (j = LOWEST; j < MOVED; j += EVERY) { /* without the rows 2 x_j <= 5 */
        const int32_t row = 2 * j + 1;
        const double none = -INFINITY, all = INFINITY;
        assert_int_equal(gpuopt_propagator_set_sides(p, GPUOPT_HOST, 1, &row, &none, &all), GPUOPT_OK);
    }
    tree_push(p);
    info = problem_round(p, 10);
    assert_int_equal(info.outcome, GPUOPT_CONVERGED);
    assert_int_equal(info.changed, MOVED + 2);
    assert_int_equal(gpuopt_propagator_get_bounds(p, GPUOPT_HOST, 1, index, &lb, &ub), GPUOPT_OK);
    assert_true(lb == 3 && ub == 7); /* by the added row, which the round has marked */
    assert_int_equal(tree_explain(p, MOVED, &reason, premise, 2), GPUOPT_OK);
    assert_true(reason.row == added && reason.count == 1 && premise[0] == 9);
    gpuopt_propagator_destroy(p);
    mip_free(&m);
}
TREE_TEST(crossing)

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(generated),
    cmocka_unit_test(crossing),
};
TEST_MAIN(tests)
