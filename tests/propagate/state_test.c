/* SPDX-License-Identifier: MIT
 *
 * A propagator over its life: outcomes and limits; bounds and sides that change between rounds, compared with a new
 * handle for the changed data.
 */
#include <math.h>
#include <string.h>

#include "tests/propagate/model.h"

enum { ROWS = MODEL_ROWS, COLS = MODEL_COLS, MANY = MODEL_MANY };

/* ---- Checks ---- */

static void check_info(gpuopt_propagator_info info, gpuopt_outcome outcome, int rounds, int64_t changed) {
    assert_int_equal(info.outcome, outcome);
    assert_int_equal(info.rounds, rounds);
    assert_int_equal(info.changed, changed);
}

static void check_infeasible(gpuopt_propagator_info info, int rounds, int row, int col) {
    assert_int_equal(info.outcome, GPUOPT_INFEASIBLE);
    assert_int_equal(info.rounds, rounds);
    assert_int_equal(info.infeasible_row, row);
    assert_int_equal(info.infeasible_col, col);
}

/* ---- Changing bounds and sides ---- */

/* A handle in use: its bounds, and the feasible point around which its model was drawn. */
typedef struct scene {
    gpuopt_context *context;
    gpuopt_propagator *p;
    gpuopt_propagator_desc desc;
    mip model;
    double x[COLS], lb[COLS], ub[COLS];
} scene;

/* Changes data; returns how many bounds moved afterwards, which must be more than 0 over all seeds. */
typedef int64_t scenario(scene *s);

static int64_t like_fresh(scene *s, int rounds) { return model_check_like_fresh(s->context, s->p, s->desc, rounds); }

/* Sets some bounds, and checks that these and no others have changed. */
static void set_some(scene *s, int count, const int32_t *col, const double *lb, const double *ub) {
    int k;
    assert_int_equal(gpuopt_propagator_set_bounds(s->p, GPUOPT_HOST, count, col, lb, ub), GPUOPT_OK);
    for (k = 0; k < count; k++) {
        if (lb) s->lb[col[k]] = lb[k];
        if (ub) s->ub[col[k]] = ub[k];
    }
    model_check_bounds(s->p, COLS, s->lb, s->ub);
}

/* Fixes column 3 at the point, and loosens both bounds of column 5. */
static int64_t change_some(scene *s) {
    const int32_t col[2] = {5, 3};
    const double lb[2] = {s->x[5] - 25, s->x[3]}, ub[2] = {s->x[5] + 30, s->x[3]};
    set_some(s, 2, col, lb, ub);
    return like_fresh(s, 3) + like_fresh(s, MANY);
}

/* Only the upper bounds of two columns, then only the lower bound of another. */
static int64_t change_one_side_of_some(scene *s) {
    const int32_t col[2] = {7, 0};
    const double ub[2] = {s->x[7], s->x[0] + 40};
    set_some(s, 2, col, NULL, ub);
    set_some(s, 1, col + 1, s->x, NULL);
    return like_fresh(s, 2) + like_fresh(s, MANY);
}

/* Sets all lower bounds, some tighter and some looser than the model's, while the upper bounds stay as propagated; then
 * the reverse. */
static int64_t change_all_of_one_side(scene *s) {
    int64_t moved;
    int j;
    for (j = 0; j < COLS; j++) s->lb[j] = j % 4 ? s->model.lb[j] : j % 8 ? s->x[j] : s->x[j] - 33;
    assert_int_equal(gpuopt_propagator_set_bounds(s->p, GPUOPT_HOST, 0, NULL, s->lb, NULL), GPUOPT_OK);
    model_check_bounds(s->p, COLS, s->lb, s->ub);
    moved = like_fresh(s, MANY);
    problem_bounds(s->p, s->lb, NULL);
    for (j = 0; j < COLS; j++) s->ub[j] = j == 9 ? s->x[j] : s->model.ub[j] >= 1e20 ? INFINITY : s->model.ub[j];
    assert_int_equal(gpuopt_propagator_set_bounds(s->p, GPUOPT_HOST, 0, NULL, NULL, s->ub), GPUOPT_OK);
    model_check_bounds(s->p, COLS, s->lb, s->ub);
    return moved + like_fresh(s, MANY);
}

static int64_t name_a_column_twice(scene *s) {
    const int32_t col[3] = {11, 6, 11};
    const double *x = s->x, lb[3] = {x[11] - 1, x[6], x[11] - 2}, ub[3] = {x[11] + 1, x[6], x[11] + 2};
    double some_lb[3], some_ub[3];
    assert_int_equal(gpuopt_propagator_set_bounds(s->p, GPUOPT_HOST, 3, col, lb, ub), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_get_bounds(s->p, GPUOPT_HOST, 3, col, some_lb, some_ub), GPUOPT_OK);
    assert_true(some_lb[0] == lb[0] || some_lb[0] == lb[2]);
    assert_true(some_ub[0] == ub[0] || some_ub[0] == ub[2]);
    assert_true(some_lb[2] == some_lb[0] && some_ub[2] == some_ub[0]);
    assert_true(some_lb[1] == x[6] && some_ub[1] == x[6]);
    return like_fresh(s, MANY);
}

/* Row 4 becomes an equation, row 8 free, row 1 moves. */
static int64_t change_sides(scene *s) {
    const int32_t row[3] = {8, 4, 1};
    const gpuopt_matrix *a = &s->model.matrix;
    double activity[ROWS] = {0}, lhs[3] = {-1e20, 0, 0}, rhs[3] = {INFINITY, 0, 0};
    int64_t k;
    int i;
    for (i = 0; i < ROWS; i++)
        for (k = a->start[i]; k < a->start[i + 1]; k++) activity[i] += a->value[k] * s->x[a->index[k]];
    lhs[1] = rhs[1] = activity[4];
    lhs[2] = activity[1] - 1, rhs[2] = activity[1] + 1;
    assert_int_equal(gpuopt_propagator_set_sides(s->p, GPUOPT_HOST, 3, row, lhs, rhs), GPUOPT_OK);
    for (i = 0; i < 3; i++) s->model.lhs[row[i]] = lhs[i], s->model.rhs[row[i]] = rhs[i];
    return like_fresh(s, 2) + like_fresh(s, MANY);
}

static int64_t read_some(scene *s) {
    const int32_t col[5] = {39, 0, 17, 0, 4};
    double lb[5], ub[5];
    int k;
    problem_round(s->p, 1);
    problem_bounds(s->p, s->lb, s->ub);
    assert_int_equal(gpuopt_propagator_get_bounds(s->p, GPUOPT_HOST, 5, col, lb, ub), GPUOPT_OK);
    for (k = 0; k < 5; k++) assert_true(lb[k] == s->lb[col[k]] && ub[k] == s->ub[col[k]]);
    assert_int_equal(gpuopt_propagator_get_bounds(s->p, GPUOPT_HOST, 2, col + 1, NULL, ub), GPUOPT_OK);
    assert_true(ub[0] == s->ub[0] && ub[1] == s->ub[17] && ub[2] == s->ub[17]);
    assert_int_equal(gpuopt_propagator_get_bounds(s->p, GPUOPT_HOST, 1, col + 4, lb, NULL), GPUOPT_OK);
    assert_true(lb[0] == s->lb[4] && lb[1] == s->lb[0]);
    return 1;
}

/* For every variant, in both precisions, before the first round, in the middle and at the fixpoint. */
static void for_all(scenario *test) {
    static const int rounds_before[] = {0, 2, MANY};
    scene s = {.context = test_context(NULL)};
    size_t variants, v, b;
    const problem_variant *variant = problem_variants(&variants);
    int precision, seed;
    for (v = 0; v < variants; v++)
        for (precision = GPUOPT_PRECISION_FP64; precision <= GPUOPT_PRECISION_FP32; precision++)
            for (b = 0; b < 3; b++) {
                int64_t moved = 0;
                for (seed = 1; seed <= 4; seed++) {
                    s.model = model_random((uint64_t)seed, s.x);
                    s.desc = mip_propagator_desc(&s.model);
                    problem_apply(&variant[v], &s.desc);
                    s.desc.precision = (gpuopt_propagator_precision)precision;
                    s.p = problem_create(s.context, &s.desc);
                    if (rounds_before[b])
                        assert_int_equal(problem_round(s.p, rounds_before[b]).outcome,
                                         rounds_before[b] == MANY ? GPUOPT_CONVERGED : GPUOPT_MORE);
                    problem_bounds(s.p, s.lb, s.ub);
                    moved += test(&s);
                    gpuopt_propagator_destroy(s.p);
                    mip_free(&s.model);
                }
                if (moved == 0) fail_msg("%s, %d rounds before: nothing moved", variant[v].name, rounds_before[b]);
            }
    gpuopt_context_destroy(s.context);
}

static void set_some_bounds_like_fresh(void **state) { (void)state, for_all(change_some); }
static void set_one_side_of_some_like_fresh(void **state) { (void)state, for_all(change_one_side_of_some); }
static void set_all_of_one_side_like_fresh(void **state) { (void)state, for_all(change_all_of_one_side); }
static void set_a_column_twice(void **state) { (void)state, for_all(name_a_column_twice); }
static void set_some_sides_like_fresh(void **state) { (void)state, for_all(change_sides); }
static void get_some_bounds_like_all(void **state) { (void)state, for_all(read_some); }

/* One faulty call after another, each among good entries; returns its status, or 1 after the last. */
static int bad_call(int which, gpuopt_propagator *p) {
    static const int32_t col[2] = {0, 1}, high[2] = {0, 3}, low[2] = {0, -1}, row[2] = {0, 2};
    double lb[3] = {1, 1, 1}, ub[3] = {2, 2, 2};
    const gpuopt_memory_space host = GPUOPT_HOST, unknown = (gpuopt_memory_space)2;
    switch (which) {
    case 0: return gpuopt_propagator_set_bounds(p, host, 2, high, lb, ub);
    case 1: return gpuopt_propagator_set_bounds(p, host, 2, low, lb, ub);
    case 2: return gpuopt_propagator_set_bounds(p, host, -1, col, lb, ub);
    case 3: return lb[1] = NAN, gpuopt_propagator_set_bounds(p, host, 2, col, lb, ub);
    case 4: return ub[1] = NAN, gpuopt_propagator_set_bounds(p, host, 2, col, NULL, ub);
    case 5: return lb[1] = INFINITY, gpuopt_propagator_set_bounds(p, host, 2, col, lb, NULL);
    case 6: return ub[1] = -1e20, gpuopt_propagator_set_bounds(p, host, 2, col, lb, ub);
    case 7: return gpuopt_propagator_set_bounds(p, unknown, 2, col, lb, ub);
    case 8: return lb[2] = NAN, gpuopt_propagator_set_bounds(p, host, 0, NULL, lb, NULL);
    case 9: return ub[2] = -INFINITY, gpuopt_propagator_set_bounds(p, host, 0, NULL, lb, ub);
    case 10: return lb[2] = 1e20, gpuopt_propagator_set_bounds(p, host, 0, NULL, lb, ub);
    case 11: return gpuopt_propagator_set_bounds(p, unknown, 0, NULL, lb, ub);
    case 12: return gpuopt_propagator_set_sides(p, GPUOPT_HOST, 2, row, lb, ub);
    case 13: return gpuopt_propagator_set_sides(p, GPUOPT_HOST, 2, low, lb, ub);
    case 14: return gpuopt_propagator_set_sides(p, GPUOPT_HOST, -1, col, lb, ub);
    case 15: return lb[1] = 3, gpuopt_propagator_set_sides(p, GPUOPT_HOST, 2, col, lb, ub);
    case 16: return lb[1] = NAN, gpuopt_propagator_set_sides(p, GPUOPT_HOST, 2, col, lb, ub);
    case 17: return lb[1] = ub[1] = INFINITY, gpuopt_propagator_set_sides(p, GPUOPT_HOST, 2, col, lb, ub);
    case 18: return lb[1] = ub[1] = -INFINITY, gpuopt_propagator_set_sides(p, GPUOPT_HOST, 2, col, lb, ub);
    case 19: return gpuopt_propagator_get_bounds(p, host, 2, high, lb, ub);
    case 20: return gpuopt_propagator_get_bounds(p, host, -1, col, lb, ub);
    case 21: return gpuopt_propagator_get_bounds(p, unknown, 2, col, lb, ub);
    case 22: return gpuopt_propagator_get_bounds(p, unknown, 0, NULL, lb, ub);
    case 23: return gpuopt_propagator_round(p, 0, NULL);
    default: return 1;
    }
}

static void refused_changes_change_nothing(void **state) {
    model_host *h = *state;
    int which, status = GPUOPT_OK, before;
    for (which = 0; status != 1; which++)
        for (before = 0; before < 3; before++) { /* rounds done before; a third one changes nothing */
            gpuopt_propagator *p = problem_create(h->context, &h->desc), *twin = problem_create(h->context, &h->desc);
            gpuopt_propagator_info info, twin_info;
            if (before) problem_round(p, before), problem_round(twin, before);
            h->host.error[0] = 0;
            status = bad_call(which, p);
            if (status != 1 && (status != GPUOPT_ERROR_ARGUMENT || !h->host.error[0]))
                fail_msg("bad call %d: %s, '%s'", which, gpuopt_status_string((gpuopt_status)status), h->host.error);
            model_check_same_bounds(p, twin, 3);
            info = problem_round(p, 1);
            twin_info = problem_round(twin, 1);
            model_check_same_info(info, twin_info);
            assert_int_equal(info.nonzeros, twin_info.nonzeros);
            model_check_same_bounds(p, twin, 3);
            gpuopt_propagator_destroy(p);
            gpuopt_propagator_destroy(twin);
        }
    assert_int_equal(which, 25);
}

/* ---- Outcomes ---- */

static void check_more_then_converged(gpuopt_context *context, gpuopt_propagator_desc desc) {
    gpuopt_propagator *p = problem_create(context, &desc);
    gpuopt_propagator_info info = problem_round(p, 1);
    check_info(info, GPUOPT_MORE, 1, 4);
    assert_true(info.infeasible_row == -1 && info.infeasible_col == -1);
    assert_int_equal(info.nonzeros, 4);
    check_info(problem_round(p, 1), GPUOPT_MORE, 1, desc.mode == GPUOPT_MODE_GAUSS_SEIDEL ? 1 : 2);
    check_info(problem_round(p, 10), GPUOPT_CONVERGED, 1, 0);
    check_info(problem_round(p, 10), GPUOPT_CONVERGED, 1, 0); /* once more: one round, which changes nothing */
    model_check_bounds(p, 3, model_small_lb, model_small_ub);
    gpuopt_propagator_destroy(p);
}
MODEL_VARIANTS_TEST(more_then_converged, model_small())

/* The limit counts the rounds of several calls, and starts again whenever bounds or sides are set. */
static void check_round_limit(gpuopt_context *context, gpuopt_propagator_desc desc) {
    static const int32_t first = 0;
    static const double low = 0, high = 10;
    int second = desc.mode == GPUOPT_MODE_GAUSS_SEIDEL ? 1 : 2; /* bounds moved by the second round */
    gpuopt_propagator *p;
    desc.round_limit = 2;
    p = problem_create(context, &desc);
    check_info(problem_round(p, 10), GPUOPT_LIMIT, 2, 4 + second);
    check_info(problem_round(p, 10), GPUOPT_LIMIT, 0, 0);
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 0, NULL, desc.lb, desc.ub), GPUOPT_OK);
    check_info(problem_round(p, 1), GPUOPT_MORE, 1, 4);
    check_info(problem_round(p, 5), GPUOPT_LIMIT, 1, second);
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, &first, &low, &high), GPUOPT_OK);
    check_info(problem_round(p, 5), GPUOPT_CONVERGED, 2, 1); /* x0 <= 3 again, then nothing */
    assert_int_equal(gpuopt_propagator_set_sides(p, GPUOPT_HOST, 1, &first, desc.lhs, desc.rhs), GPUOPT_OK);
    check_info(problem_round(p, 5), GPUOPT_CONVERGED, 1, 0);
    gpuopt_propagator_destroy(p);
}
MODEL_VARIANTS_TEST(round_limit, model_small())

/* After the sides of rows 3 and 1 and the bounds have been set:  x0 - x1 >= 0.5,  x0 + x1 >= 1. */
static void check_recovered(gpuopt_context *context, gpuopt_propagator *p, gpuopt_propagator_desc desc) {
    static const double lb[2] = {0.5, 0}, ub[2] = {1, 0.5};
    assert_int_equal(model_check_like_fresh(context, p, desc, 10), 2);
    model_check_bounds(p, 2, lb, ub);
}

static void check_infeasible_rows(gpuopt_context *context, gpuopt_propagator_desc desc) {
    static const int32_t row[2] = {3, 1}, col[2] = {1, 0};
    static const double lhs[2] = {0.5, 1}, rhs[2] = {INFINITY, INFINITY}, ones[2] = {1, 1}, zeros[2] = {0, 0};
    static const double new_lhs[4] = {-INFINITY, 1, -INFINITY, 0.5};
    gpuopt_propagator *p = problem_create(context, &desc);
    check_infeasible(problem_round(p, 10), 1, 1, -1);
    check_infeasible(problem_round(p, 10), 0, 1, -1);
    check_infeasible(problem_round(p, 1), 0, 1, -1);
    /* Row 3 is corrected. Row 1 is still infeasible, and is found although its data are unchanged. */
    assert_int_equal(gpuopt_propagator_set_sides(p, GPUOPT_HOST, 1, row, lhs, rhs), GPUOPT_OK);
    check_infeasible(problem_round(p, 1), 1, 1, -1);
    assert_int_equal(gpuopt_propagator_set_sides(p, GPUOPT_HOST, 2, row, lhs, rhs), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 0, NULL, desc.lb, desc.ub), GPUOPT_OK);
    desc.lhs = new_lhs;
    check_recovered(context, p, desc);
    /* Both columns cross, which is found without a round, and the lower one is named, for any order of setting. */
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 2, col, ones, zeros), GPUOPT_OK);
    check_infeasible(problem_round(p, 10), 0, -1, 0);
    check_infeasible(problem_round(p, 10), 0, -1, 0);
    /* One column is corrected, the other still crosses. */
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, col + 1, zeros, ones), GPUOPT_OK);
    check_infeasible(problem_round(p, 10), 0, -1, 1);
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, col, zeros, ones), GPUOPT_OK);
    check_recovered(context, p, desc);
    gpuopt_propagator_destroy(p);
}
MODEL_VARIANTS_TEST(infeasible_rows, model_infeasible())

/* 2 x = 5 gives an integer column x >= 3 and x <= 2. Row 0 does this to column 2 and row 1 to column 1: a Jacobi round
 * finds both, a sweep stops at the first. */
static mip crossing_model(void) {
    static const double a[6] = {0, 0, 2, 0, 2, 0}, sides[2] = {5, 5};
    return model_dense(2, 3, a, sides, sides, 0, 10, 1);
}

static void check_infeasible_columns(gpuopt_context *context, gpuopt_propagator_desc desc) {
    int want = desc.mode == GPUOPT_MODE_GAUSS_SEIDEL ? 2 : 1;
    gpuopt_propagator *p = problem_create(context, &desc);
    double lb[3], ub[3];
    check_infeasible(problem_round(p, 10), 1, -1, want);
    problem_bounds(p, lb, ub);
    assert_true(lb[want] == 3 && ub[want] == 2 && lb[0] == 0 && ub[0] == 10);
    check_infeasible(problem_round(p, 10), 0, -1, want);
    gpuopt_propagator_destroy(p);
}
MODEL_VARIANTS_TEST(infeasible_columns, crossing_model())

/* Bounds that cross at create, or when they are set, are found without a round. */
static void check_crossing_bounds_at_create(gpuopt_context *context, gpuopt_propagator_desc desc) {
    static const double lb[3] = {0, 4, 4}, ub[3] = {10, 3, 3};
    const double *good_lb = desc.lb, *good_ub = desc.ub;
    gpuopt_propagator *p;
    int k;
    desc.lb = lb, desc.ub = ub;
    p = problem_create(context, &desc);
    for (k = 0; k < 2; k++) { /* crossing at create, then set to cross */
        check_infeasible(problem_round(p, 5), 0, -1, 1);
        model_check_bounds(p, 3, lb, ub);
        assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 0, NULL, good_lb, good_ub), GPUOPT_OK);
        assert_true(model_check_like_fresh(context, p, desc, 10) > 0);
        model_check_bounds(p, 3, model_small_lb, model_small_ub);
        assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 0, NULL, lb, ub), GPUOPT_OK);
    }
    gpuopt_propagator_destroy(p);
}
MODEL_VARIANTS_TEST(crossing_bounds_at_create, model_small())

/* After a verdict of infeasibility the next round evaluates the changed rows, and the rows that led to the verdict. */
static void check_little_is_done_again(gpuopt_context *context, gpuopt_propagator_desc desc) {
    gpuopt_propagator *p = problem_create(context, &desc);
    const int32_t col[2] = {40, 60};
    const double low[2] = {0, 0}, high[2] = {4, 4}, beyond[2] = {7, 7};
    int way;
    assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
    for (way = 1; way < 3; way++) {
        gpuopt_propagator_info info;
        /* Two rows are infeasible, or the bounds of a column cross. */
        assert_int_equal(
            gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 2 - way / 2, col, beyond, way == 2 ? low : beyond), GPUOPT_OK);
        check_infeasible(problem_round(p, 10), way < 2, way < 2 ? 40 : -1, way < 2 ? -1 : 40);
        /* Only the first is taken back. */
        assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, col, low, high), GPUOPT_OK);
        info = problem_round(p, 10);
        assert_int_equal(info.outcome, way == 2 ? GPUOPT_CONVERGED : GPUOPT_INFEASIBLE);
        assert_int_equal(info.infeasible_row, way == 2 ? -1 : 60);
        if (test_on("cpu") && desc.marking != GPUOPT_OFF) assert_true(info.nonzeros <= 4);
        assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 2, col, low, high), GPUOPT_OK);
        info = problem_round(p, 10);
        assert_int_equal(info.outcome, GPUOPT_CONVERGED);
        if (test_on("cpu") && desc.marking != GPUOPT_OFF) assert_true(info.nonzeros <= 4);
    }
    gpuopt_propagator_destroy(p);
}

/* x_i <= 4 in row i. */
static mip hundred_rows(void) {
    mip m = problem_new(100, 100, 100);
    int32_t i;
    for (i = 0; i < 100; i++) {
        problem_col(&m, i, 0, 10, 0);
        problem_row(&m, -INFINITY, 4);
        problem_entry(&m, i, 1);
    }
    return m;
}
MODEL_VARIANTS_TEST(little_is_done_again, hundred_rows())

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(set_some_bounds_like_fresh),
    cmocka_unit_test(set_one_side_of_some_like_fresh),
    cmocka_unit_test(set_all_of_one_side_like_fresh),
    cmocka_unit_test(set_a_column_twice),
    cmocka_unit_test(set_some_sides_like_fresh),
    cmocka_unit_test(get_some_bounds_like_all),
    MODEL_TEST(refused_changes_change_nothing),
    cmocka_unit_test(more_then_converged),
    cmocka_unit_test(round_limit),
    cmocka_unit_test(infeasible_rows),
    cmocka_unit_test(infeasible_columns),
    cmocka_unit_test(crossing_bounds_at_create),
    cmocka_unit_test(little_is_done_again),
};
TEST_MAIN(tests)
