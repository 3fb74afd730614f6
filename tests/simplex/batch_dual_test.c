/* SPDX-License-Identifier: MIT
 *
 * Many small programs with an infeasible first basis: at most one and a half times the pivots of CLP's dual method; and
 * none for an immediate verdict.
 */
#include <math.h>
#include <stdlib.h>

#include <coin/Clp_C_Interface.h>

#include "gpuopt/batch.h"
#include "tests/support/support.h"

enum { ROWS = 50, COLS = 100, MOST = 24 };

typedef struct drawn {
    double value[ROWS * COLS], cost[COLS], lhs[ROWS], rhs[ROWS], lb[COLS], ub[COLS];
} drawn;

/* All columns have two bounds; rows are one-sided, ranges or equations that a point within the bounds meets. */
static void draw(uint64_t *seed, drawn *d) {
    double x[COLS];
    int i, j;
    for (j = 0; j < COLS; j++) {
        d->lb[j] = test_random_int(seed, 0, 3) == 0 ? -1 : 0;
        d->ub[j] = d->lb[j] + (double)test_random_int(seed, 1, 10);
        d->cost[j] = test_random(seed) - 0.4;
        x[j] = d->lb[j] + test_random(seed) * (d->ub[j] - d->lb[j]);
    }
    for (i = 0; i < ROWS; i++) {
        const int kind = (int)test_random_int(seed, 0, 3);
        double activity = 0;
        for (j = 0; j < COLS; j++) {
            d->value[i * COLS + j] = 2 * test_random(seed) - 1;
            activity += d->value[i * COLS + j] * x[j];
        }
        d->lhs[i] = kind == 0 ? -HUGE_VAL : kind == 1 ? activity : activity - test_random(seed);
        d->rhs[i] = kind == 1 ? activity : activity + test_random(seed);
    }
}

/* CLP's optimum by its dual method; adds its iterations. */
static double clp_optimum(const drawn *d, int64_t *iterations) {
    Clp_Simplex *solver = Clp_newModel();
    int start[COLS + 1], row[ROWS * COLS], i, j;
    double value[ROWS * COLS], objective;
    for (j = 0; j < COLS; j++) {
        start[j] = j * ROWS;
        for (i = 0; i < ROWS; i++) row[j * ROWS + i] = i, value[j * ROWS + i] = d->value[i * COLS + j];
    }
    start[COLS] = ROWS * COLS;
    Clp_setLogLevel(solver, 0);
    Clp_loadProblem(solver, COLS, ROWS, start, row, value, d->lb, d->ub, d->cost, d->lhs, d->rhs);
    Clp_dual(solver, 0);
    assert_int_equal(Clp_status(solver), 0);
    objective = Clp_getObjValue(solver);
    *iterations += Clp_numberIterations(solver);
    Clp_deleteModel(solver);
    return objective;
}

static void few_pivots(void **state) {
    const int32_t count = test_emulated() ? 4 : MOST;
    gpuopt_context *context = test_context(NULL);
    gpuopt_simplex_batch_desc desc = GPUOPT_INIT(gpuopt_simplex_batch_desc);
    gpuopt_simplex_batch_info info = GPUOPT_INIT(gpuopt_simplex_batch_info);
    gpuopt_simplex_batch_report report = GPUOPT_INIT(gpuopt_simplex_batch_report);
    gpuopt_simplex_batch *many;
    drawn *d = malloc(sizeof *d);
    double objective[MOST];
    uint64_t seed = 77;
    int64_t ours = 0, clp = 0;
    int32_t k;
    (void)state;
    desc.batch_size = 1;
    desc.rows = ROWS, desc.cols = COLS;
    assert_int_equal(gpuopt_simplex_batch_create(context, &desc, NULL, &many), GPUOPT_OK);
    for (k = 0; k < count; k++) {
        gpuopt_simplex_programs p = GPUOPT_INIT(gpuopt_simplex_programs);
        double expected;
        draw(&seed, d);
        p.count = 1;
        p.value = d->value, p.cost = d->cost, p.lhs = d->lhs, p.rhs = d->rhs, p.lb = d->lb, p.ub = d->ub;
        report.objective = &objective[k];
        assert_int_equal(gpuopt_simplex_batch_load(many, GPUOPT_HOST, &p), GPUOPT_OK);
        assert_int_equal(gpuopt_simplex_batch_iterate(many, INT64_MAX, &info), GPUOPT_OK);
        assert_int_equal(gpuopt_simplex_batch_get(many, GPUOPT_HOST, 0, 1, &report), GPUOPT_OK);
        assert_int_equal(info.optimal, 1);
        ours += info.iterations;
        expected = clp_optimum(d, &clp);
        assert_true(fabs(objective[k] - expected) <= 1e-7 * fmax(1, fabs(expected)));
    }
    if (2 * ours > 3 * clp) fail_msg("%d pivots, CLP %d", (int)ours, (int)clp);
    gpuopt_simplex_batch_destroy(many);
    free(d);
    gpuopt_context_destroy(context);
}

/* Columns without an upper bound, many of them with a reduced cost of 0 in a proof: INFEASIBLE as in CLP. */
static void infeasible_without_bounds(void **state) {
    enum { HEIGHT = 30, WIDTH = 60 };
    const int32_t count = test_emulated() ? 10 : 400;
    gpuopt_context *context = test_context(NULL);
    gpuopt_simplex_batch_desc desc = GPUOPT_INIT(gpuopt_simplex_batch_desc);
    gpuopt_simplex_batch_info info = GPUOPT_INIT(gpuopt_simplex_batch_info);
    gpuopt_simplex_programs p = GPUOPT_INIT(gpuopt_simplex_programs);
    gpuopt_simplex_batch *many;
    double value[HEIGHT * WIDTH], side[HEIGHT], entry[HEIGHT * WIDTH], cost[WIDTH] = {0}, none[WIDTH] = {0}, ub[WIDTH];
    int start[WIDTH + 1], row[HEIGHT * WIDTH];
    uint64_t seed = 5;
    int32_t k, i, j;
    (void)state;
    p.count = 1;
    p.value = value, p.lhs = side, p.rhs = side;
    desc.batch_size = 1;
    desc.rows = HEIGHT, desc.cols = WIDTH;
    for (j = 0; j < WIDTH; j++) ub[j] = HUGE_VAL;
    assert_int_equal(gpuopt_simplex_batch_create(context, &desc, NULL, &many), GPUOPT_OK);
    for (k = 0; k < count; k++) {
        Clp_Simplex *solver = Clp_newModel();
        const int64_t density = test_random_int(&seed, 5, 30);
        int entries = 0;
        for (i = 0; i < HEIGHT * WIDTH; i++)
            value[i] = test_random_int(&seed, 0, 99) < density ? (double)test_random_int(&seed, -1, 1) : 0;
        for (i = 0; i < HEIGHT; i++) side[i] = test_random_int(&seed, 0, 9) != 0;
        for (j = 0; j < WIDTH; j++)
            for (start[j] = entries, i = 0; i < HEIGHT; i++)
                if (value[i * WIDTH + j] != 0) row[entries] = i, entry[entries++] = value[i * WIDTH + j];
        start[WIDTH] = entries;
        Clp_setLogLevel(solver, 0);
        Clp_loadProblem(solver, WIDTH, HEIGHT, start, row, entry, none, ub, cost, side, side);
        Clp_dual(solver, 0);
        assert_int_equal(gpuopt_simplex_batch_load(many, GPUOPT_HOST, &p), GPUOPT_OK);
        assert_int_equal(gpuopt_simplex_batch_iterate(many, INT64_MAX, &info), GPUOPT_OK);
        if (info.optimal != (Clp_status(solver) == 0) || info.infeasible != (Clp_status(solver) == 1))
            fail_msg("program %d: imprecise %d, CLP %d", (int)k, (int)info.imprecise, Clp_status(solver));
        Clp_deleteModel(solver);
    }
    gpuopt_simplex_batch_destroy(many);
    gpuopt_context_destroy(context);
}

/* A verdict that needs no further pivot does not need one that the limit forbids. */
static void infeasible_at_the_limit(void **state) {
    /* x0 + x1 >= 3 and x0 + x1 <= 2 for 0 <= x: one pivot, and the other row has none. */
    static const double value[] = {1, 1, 1, 1}, lhs[] = {3, -HUGE_VAL}, rhs[] = {HUGE_VAL, 2}, cost[] = {1, 2};
    gpuopt_context *context = test_context(NULL);
    gpuopt_simplex_batch_desc desc = GPUOPT_INIT(gpuopt_simplex_batch_desc);
    gpuopt_simplex_batch_info info = GPUOPT_INIT(gpuopt_simplex_batch_info);
    gpuopt_simplex_programs p = GPUOPT_INIT(gpuopt_simplex_programs);
    gpuopt_simplex_batch *many;
    (void)state;
    p.count = 1;
    p.value = value, p.cost = cost, p.lhs = lhs, p.rhs = rhs;
    desc.batch_size = 1;
    desc.rows = desc.cols = 2;
    desc.iteration_limit = 1;
    assert_int_equal(gpuopt_simplex_batch_create(context, &desc, NULL, &many), GPUOPT_OK);
    assert_int_equal(gpuopt_simplex_batch_load(many, GPUOPT_HOST, &p), GPUOPT_OK);
    assert_int_equal(gpuopt_simplex_batch_iterate(many, INT64_MAX, &info), GPUOPT_OK);
    assert_int_equal(info.infeasible, 1);
    assert_int_equal(info.iterations, 1);
    gpuopt_simplex_batch_destroy(many);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(few_pivots),
    cmocka_unit_test(infeasible_at_the_limit),
    cmocka_unit_test(infeasible_without_bounds),
};

TEST_MAIN(tests)
