/* SPDX-License-Identifier: MIT
 *
 * Batches of nodes. Random nodes of random models are compared, bit for bit, with a separate propagator on the CPU with
 * one thread and the node's bounds. (Other tests compare its results with exact rationals and other references.) Nodes
 * and batches that are FULL; a base that changes; tables that overflow.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/propagate/batch.h"

/* Runs `count` random nodes and compares each; the outcomes seen are added to `seen`. */
static void check_batch(gpuopt_context *context, gpuopt_context *cpu, const gpuopt_propagator_desc *desc,
                        const base_past *past, int32_t count, int most, int rounds, uint64_t *seed, int *seen,
                        const char *what) {
    gpuopt_propagator *base = make_base(context, desc, past);
    gpuopt_propagator_batch *batch = make_batch(base, NODES, 0, (int64_t)count * desc->matrix.cols + 1);
    node_list *list = malloc(sizeof *list);
    node_results *results = malloc(sizeof *results);
    double *lb = malloc(sizeof *lb * (size_t)desc->matrix.cols), *ub = malloc(sizeof *ub * (size_t)desc->matrix.cols);
    int32_t node;
    problem_bounds(base, lb, ub);
    /* The reference for an empty node has no changed bounds, so that its rounds count from the base's. */
    draw_nodes(list, count, desc->round_limit > 0, most, desc->matrix.cols, lb, ub, seed);
    if (test_random_int(seed, 0, 5) == 0) list->nodes.lb = NULL;
    else if (test_random_int(seed, 0, 5) == 0) list->nodes.ub = NULL;
    run_batch(batch, list, rounds, results);
    for (node = 0; node < count; node++) {
        check_node(cpu, desc, past, list, rounds, results, node, what);
        seen[results->outcome[node]]++;
    }
    free_results(results);
    free(results), free(list), free(lb), free(ub);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
}

/* ---- Tests ---- */

static const model_shape shapes[] = {{6, 5, 5, 30}, {40, 30, 30, 20}, {60, 300, 120, 8}, {20, 1500, 1400, 2}};

/* Multiplies each row by a number, so that sums are no longer exact, and sides no longer equal the activities. */
static void roughen(mip *m, uint64_t *seed) {
    static const double factor[] = {1.0 / 3, 0.1, 1e5, 1e-4 / 7};
    int32_t i;
    int64_t k;
    for (i = 0; i < m->matrix.rows; i++) {
        double by = factor[test_random_int(seed, 0, 3)];
        for (k = m->matrix.start[i]; k < m->matrix.start[i + 1]; k++) ((double *)m->matrix.value)[k] *= by;
        if (fabs(m->lhs[i]) < 1e10) m->lhs[i] *= by;
        if (fabs(m->rhs[i]) < 1e10) m->rhs[i] *= by;
    }
}

static void as_node_by_node(void **state) {
    gpuopt_context *context = test_context(NULL), *cpu = test_plain_context();
    uint64_t seed = 31;
    int seen[8] = {0}, trial;
    size_t s;
    char what[64];
    gpuopt_propagator_tolerances highs = GPUOPT_INIT(gpuopt_propagator_tolerances);
    (void)state;
    assert_int_equal(gpuopt_propagator_tolerances_tune(&highs, GPUOPT_SETTINGS_HIGHS), GPUOPT_OK);
    for (s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (trial = 0; trial < test_times(4 * shapes[s].trials, shapes[s].trials * 10); trial++) {
            mip m = model_draw(&shapes[s], &seed);
            gpuopt_propagator_desc desc = mip_propagator_desc(&m);
            base_past past = {(int)test_random_int(&seed, 0, 3) == 0 ? (int)test_random_int(&seed, 0, 2) : 100, -1, 0,
                              0, 0};
            if (test_random_int(&seed, 0, 3) == 0) past.fixed = (int32_t)test_random_int(&seed, 0, m.matrix.cols - 1);
            if (test_random_int(&seed, 0, 2) == 0) {
                past.added = (int32_t)test_random_int(&seed, 1, m.matrix.rows);
                past.late = (int)test_random_int(&seed, 0, 1);
            }
            if (past.fixed >= 0) past.at = fmax(fmin(m.lb[past.fixed], 1e6), -1e6);
            if (test_random_int(&seed, 0, 2) == 0) desc.precision = GPUOPT_PRECISION_FP32;
            if (test_random_int(&seed, 0, 3) == 0) desc.round_limit = 2;
            if (test_random_int(&seed, 0, 3) == 0) desc.tolerances = &highs;
            if (trial % 3 == 0) roughen(&m, &seed);
            desc.marking = trial % 2 ? GPUOPT_ON : GPUOPT_DEFAULT;
            snprintf(what, sizeof what, "shape %zu, trial %d", s, trial);
            check_batch(context, cpu, &desc, &past,
                        (int32_t)test_random_int(&seed, 0,
                                                 s == 3          ? 4
                                                 : trial % 4 < 2 ? 40
                                                                 : 7),
                        GIVEN, trial % 3 ? 100 : (int)test_random_int(&seed, 1, 3), &seed, seen, what);
            mip_free(&m);
        }
    print_message("MORE %d, CONVERGED %d, INFEASIBLE %d, LIMIT %d\n", seen[GPUOPT_MORE], seen[GPUOPT_CONVERGED],
                  seen[GPUOPT_INFEASIBLE], seen[GPUOPT_LIMIT]);
    assert_true(seen[GPUOPT_MORE] && seen[GPUOPT_CONVERGED] && seen[GPUOPT_INFEASIBLE] && seen[GPUOPT_LIMIT]);
    gpuopt_context_destroy(cpu);
    gpuopt_context_destroy(context);
}

/* A node that changes more columns than it may is FULL, for any memory of the backend; with more, it runs. */
static void full_nodes(void **state) {
    enum { COLS = 2600, ROUNDS = 4000 };
    gpuopt_context *context = test_context(NULL);
    mip m = model_chain(COLS);
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    node_list *list = malloc(sizeof *list);
    node_results *r = malloc(sizeof *r);
    static const int32_t limits[] = {1, 49, 50, 51, 60, 840, COLS - 1, 0};
    size_t l;
    int32_t k;
    (void)state;
    desc.marking = GPUOPT_ON;
    base = problem_create(context, &desc);
    problem_round(base, ROUNDS);
    for (l = 0; l < sizeof limits / sizeof *limits; l++) {
        int32_t most = limits[l] ? limits[l] : COLS;
        batch = make_batch(base, NODES, limits[l], 64 * COLS);
        /* From the 50th column from the end on; one more for each further node. And the longest: all. */
        chain_nodes(list, 12, COLS - 50, 7);
        list->col[11] = 0;
        run_batch(batch, list, ROUNDS, r);
        for (k = 0; k < 12; k++) {
            int32_t columns = k == 11 ? COLS : 50 + k;
            assert_int_equal(r->outcome[k], columns > most ? GPUOPT_FULL : GPUOPT_CONVERGED);
            assert_int_equal(r->rounds[k], columns > most ? most : columns);
            assert_int_equal(r->changed[k], columns > most ? 0 : columns - 1);
            assert_int_equal(r->columns[k], columns > most ? 0 : columns);
            assert_int_equal(r->start[k + 1] - r->start[k], r->columns[k]);
            assert_true(r->columns[k] == 0 || r->changed_col[r->start[k]] == list->col[k]);
            assert_true(r->columns[k] == 0 || r->ub[r->start[k + 1] - 1] == 7);
        }
        free_results(r);
        gpuopt_propagator_batch_destroy(batch);
    }
    free(list), free(r);
    gpuopt_propagator_destroy(base);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* More changes than the batch can hold: the reports are there, the changes are not, and can be fetched in parts. */
static void little_capacity(void **state) {
    gpuopt_context *context = test_context(NULL);
    mip m = model_chain(100);
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    gpuopt_propagator_node_changes changes = GPUOPT_INIT(gpuopt_propagator_node_changes);
    gpuopt_propagator_node_report report = GPUOPT_INIT(gpuopt_propagator_node_report);
    node_list *list = malloc(sizeof *list);
    node_results *r = malloc(sizeof *r);
    int32_t columns[4];
    (void)state;
    desc.marking = GPUOPT_ON;
    base = problem_create(context, &desc);
    problem_round(base, 1000);
    batch = make_batch(base, 4, 0, 60);
    chain_nodes(list, 4, 84, 3); /* 16, 17, 18 and 19 columns */
    report.columns = columns;
    assert_int_equal(gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &list->nodes, 1000, &report), GPUOPT_OK);
    assert_int_equal(columns[0], 16);
    assert_int_equal(columns[3], 19);
    assert_int_equal(gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes), GPUOPT_ERROR_MEMORY);
    assert_int_equal(changes.count, 70);
    list->nodes.count = 3;
    run_batch(batch, list, 1000, r);
    assert_int_equal(r->count, 51);
    free_results(r);
    gpuopt_propagator_batch_destroy(batch);
    free(list), free(r);
    gpuopt_propagator_destroy(base);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* The base may change between runs: bounds, sides, rounds. */
static void follows_the_base(void **state) {
    gpuopt_context *context = test_context(NULL), *cpu = test_plain_context();
    uint64_t seed = 77;
    int trial;
    (void)state;
    for (trial = 0; trial < test_times(20, 60); trial++) {
        mip m = model_draw(&shapes[1], &seed);
        gpuopt_propagator_desc desc = mip_propagator_desc(&m);
        gpuopt_propagator *base, *same;
        gpuopt_propagator_batch *batch;
        node_list *list = malloc(sizeof *list);
        node_results *r = malloc(sizeof *r), *s = malloc(sizeof *s);
        double lb[30], ub[30];
        int step;
        desc.marking = GPUOPT_ON;
        base = problem_create(context, &desc);
        same = problem_create(cpu, &desc);
        batch = make_batch(base, NODES, 0, 20 * 30);
        for (step = 0; step < 5; step++) {
            gpuopt_propagator_batch *fresh = make_batch(same, NODES, 0, 20 * 30);
            int32_t j = (int32_t)test_random_int(&seed, 0, 29), i = (int32_t)test_random_int(&seed, 0, 39), k;
            double value = (double)test_random_int(&seed, -3, 3);
            problem_bounds(base, lb, ub);
            draw_nodes(list, 20, 0, GIVEN, 30, lb, ub, &seed);
            run_batch(batch, list, 50, r);
            run_batch(fresh, list, 50, s);
            for (k = 0; k < 20; k++) {
                assert_int_equal(r->outcome[k], s->outcome[k]);
                assert_int_equal(r->rounds[k], s->rounds[k]);
                assert_int_equal(r->row[k], s->row[k]);
                assert_int_equal(r->col[k], s->col[k]);
                assert_int_equal(r->changed[k], s->changed[k]);
            }
            assert_int_equal(r->count, s->count);
            assert_memory_equal(r->changed_col, s->changed_col, sizeof(int32_t) * (size_t)r->count);
            assert_memory_equal(r->lb, s->lb, sizeof(double) * (size_t)r->count);
            assert_memory_equal(r->ub, s->ub, sizeof(double) * (size_t)r->count);
            free_results(r), free_results(s);
            gpuopt_propagator_batch_destroy(fresh);
            switch (step) {
            case 0: problem_round(base, 1), problem_round(same, 1); break;
            case 1: problem_round(base, 100), problem_round(same, 100); break;
            case 2:
                assert_int_equal(gpuopt_propagator_set_bounds(base, GPUOPT_HOST, 1, &j, &value, &value), GPUOPT_OK);
                assert_int_equal(gpuopt_propagator_set_bounds(same, GPUOPT_HOST, 1, &j, &value, &value), GPUOPT_OK);
                break;
            default:
                assert_int_equal(gpuopt_propagator_set_sides(base, GPUOPT_HOST, 1, &i, &value, &value), GPUOPT_OK);
                assert_int_equal(gpuopt_propagator_set_sides(same, GPUOPT_HOST, 1, &i, &value, &value), GPUOPT_OK);
            }
        }
        gpuopt_propagator_batch_destroy(batch);
        gpuopt_propagator_destroy(base);
        gpuopt_propagator_destroy(same);
        free(list), free(r), free(s);
        mip_free(&m);
    }
    gpuopt_context_destroy(cpu);
    gpuopt_context_destroy(context);
}

/* Rows that were added to the base are rows of its nodes. */
static void added_rows(void **state) {
    gpuopt_context *context;
    mip m;
    gpuopt_propagator_desc desc;
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    gpuopt_matrix rows;
    int64_t start[2] = {0, 2};
    int32_t index[2] = {3, 9}, row;
    double value[2] = {1, 1}, lhs = 0, rhs = 12;
    const gpuopt_spare spare = {.struct_size = sizeof spare, .rows = 1, .nonzeros = 2};
    node_list *list;
    node_results *r;
    int pass;
    (void)state;
    context = test_context(NULL);
    m = model_chain(10);
    desc = mip_propagator_desc(&m);
    desc.spare = &spare;
    base = problem_create(context, &desc);
    problem_round(base, 100);
    batch = make_batch(base, 4, 0, 100);
    list = malloc(sizeof *list), r = malloc(sizeof *r);
    memset(&rows, 0, sizeof rows);
    rows.rows = 1, rows.cols = 10, rows.start = start, rows.index = index, rows.value = value;
    for (pass = 0; pass < 3; pass++) { /* without the row x[3] + x[9] <= 12, with it, and without it again */
        chain_nodes(list, 1, 3, 8);
        list->lb[0] = 8, list->nodes.lb = list->lb; /* x[3] = 8, so x[9] <= 4 if there is the row, else 8 */
        run_batch(batch, list, 100, r);
        assert_int_equal(r->outcome[0], GPUOPT_CONVERGED);
        assert_int_equal(r->changed_col[r->count - 1], 9);
        assert_true(r->ub[r->count - 1] == (pass == 1 ? 4 : 8));
        free_results(r);
        if (pass == 0) assert_int_equal(gpuopt_propagator_add_rows(base, &rows, &lhs, &rhs, &row), GPUOPT_OK);
        if (pass == 1) assert_int_equal(gpuopt_propagator_remove_rows(base, 1, &row), GPUOPT_OK);
    }
    free(list), free(r);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* Two given columns of a node have all rows in common: all threads take these rows at once, and find them taken.
 * `length`: entries of a row, at least 3. */
static mip model_crowded(int rows, int length) {
    mip m = problem_new(12 + length, rows, (int64_t)length * rows);
    int i, j;
    for (i = 0; i < 12 + length; i++) problem_col(&m, i, 0, i < 12, 1); /* the last columns are 0 */
    for (i = 0; i < rows; i++) {
        problem_row(&m, -INFINITY, 2);
        problem_entry(&m, 0, 1), problem_entry(&m, 1, 1), problem_entry(&m, 2 + i % 10, 1);
        for (j = 3; j < length; j++) problem_entry(&m, 12 + j, 1);
    }
    return m;
}

/* More rows than the tables of the GPU's tiers hold, all queued at once (other seeds are other schedules there). */
static void crowded_rows(void **state) {
    static const struct {
        int rows, length, count;
    } cases[] = {{500, 3, 12}, {3500, 3, 6}, {7000, 3, 2}, {7000, 40, 2}, {12000, 3, 3}};
    gpuopt_context *context = test_context(NULL);
    size_t c;
    (void)state;
    for (c = 0; c < sizeof cases / sizeof *cases; c++) {
        mip m = model_crowded(cases[c].rows, cases[c].length);
        gpuopt_propagator_desc desc = mip_propagator_desc(&m);
        gpuopt_propagator *base;
        gpuopt_propagator_batch *batch;
        node_list *list = malloc(sizeof *list);
        node_results *r = malloc(sizeof *r);
        int32_t k, j;
        desc.marking = GPUOPT_ON;
        base = problem_create(context, &desc);
        problem_round(base, 100);
        batch = make_batch(base, NODES, 0, 100 * NODES);
        chain_nodes(list, 0, 0, 0);
        for (k = 0; k <= cases[c].count; k++) list->start[k] = 2 * k;
        for (k = 0; k < 2 * cases[c].count; k++) list->col[k] = k % 2, list->lb[k] = list->ub[k] = 1;
        list->nodes.count = cases[c].count, list->nodes.lb = list->lb;
        run_batch(batch, list, 100, r);
        for (k = 0; k < cases[c].count; k++) { /* x[0] = x[1] = 1, so the ten others are 0 */
            assert_int_equal(r->outcome[k], GPUOPT_CONVERGED);
            assert_int_equal(r->columns[k], 12);
            for (j = 0; j < 12; j++) {
                assert_int_equal(r->changed_col[r->start[k] + j], j);
                assert_true(r->lb[r->start[k] + j] == (j < 2) && r->ub[r->start[k] + j] == (j < 2));
            }
        }
        free_results(r);
        gpuopt_propagator_batch_destroy(batch);
        gpuopt_propagator_destroy(base);
        mip_free(&m);
        free(list), free(r);
    }
    gpuopt_context_destroy(context);
}

/* Many nodes that outgrow the GPU's tables in shared memory, then few, then many of a changed base. */
static void many_and_few(void **state) {
    enum { COLS = 400, ROUNDS = 1000 };
    const int many = test_few() ? 40 : 100, counts[] = {many, many, 3, many};
    gpuopt_context *context = test_context(NULL);
    mip m = model_chain(COLS);
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    node_list *list = malloc(sizeof *list);
    node_results *r = malloc(sizeof *r);
    double at = 9;
    int32_t k, last = COLS - 1;
    size_t c;
    (void)state;
    desc.marking = GPUOPT_ON;
    base = problem_create(context, &desc);
    problem_round(base, ROUNDS);
    batch = make_batch(base, NODES, 0, (int64_t)NODES * COLS);
    for (c = 0; c < sizeof counts / sizeof *counts; c++) {
        if (c == 3) { /* x[COLS - 1] <= 9, which the chain from 7 moves once more */
            assert_int_equal(gpuopt_propagator_set_bounds(base, GPUOPT_HOST, 1, &last, NULL, &at), GPUOPT_OK);
            problem_round(base, ROUNDS);
        }
        chain_nodes(list, counts[c], 0, 7);
        for (k = 0; k < counts[c]; k++) list->col[k] = k % 20; /* from there to the end */
        run_batch(batch, list, ROUNDS, r);
        for (k = 0; k < counts[c]; k++) {
            assert_int_equal(r->outcome[k], GPUOPT_CONVERGED);
            assert_int_equal(r->columns[k], COLS - k % 20);
            assert_int_equal(r->rounds[k], COLS - k % 20);
            assert_int_equal(r->changed_col[r->start[k]], k % 20);
            assert_true(r->ub[r->start[k]] == 7 && r->ub[r->start[k + 1] - 1] == 7);
        }
        free_results(r);
    }
    free(list), free(r);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(as_node_by_node),  cmocka_unit_test(full_nodes), cmocka_unit_test(little_capacity),
    cmocka_unit_test(follows_the_base), cmocka_unit_test(added_rows), cmocka_unit_test(crowded_rows),
    cmocka_unit_test(many_and_few),
};

TEST_MAIN(tests)
