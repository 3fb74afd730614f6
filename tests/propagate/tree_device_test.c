/* SPDX-License-Identifier: MIT
 *
 * A tree search on the CUDA backend: arrays in device memory, enqueued rounds, drivers, batches. Everything is compared
 * with the CPU's trail.
 */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/propagate/tree.h"

enum { COLS = MODEL_COLS, MOST = 400 };

/* The model in the CUDA backend and on one thread of the CPU. */
typedef struct both {
    test_host host;
    gpuopt_context *cuda, *cpu;
    mip model;
    gpuopt_propagator_desc desc;
    gpuopt_propagator *p, *q;
    double x[COLS];
} both;

static both *open_both(gpuopt_propagator_precision precision) {
    both *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->cuda = test_context(&b->host);
    assert_int_equal(gpuopt_context_create(NULL, &b->cpu), GPUOPT_OK);
    b->model = model_random(3, b->x);
    b->desc = tree_desc(&b->model, GPUOPT_MODE_JACOBI, precision);
    b->p = problem_create(b->cuda, &b->desc);
    b->q = problem_create(b->cpu, &b->desc);
    return b;
}

static void close_both(both *b) {
    gpuopt_propagator_destroy(b->q);
    gpuopt_propagator_destroy(b->p);
    gpuopt_context_destroy(b->cpu);
    gpuopt_context_destroy(b->cuda);
    assert_int_equal(b->host.live, 0);
    mip_free(&b->model);
    free(b);
}

static void *on_device(const void *from, size_t bytes) {
    void *to = test_device_allocate(bytes);
    test_device_copy(to, from, bytes);
    return to;
}

static void check_same(both *b) {
    int64_t n, m, k;
    tree_change *of_p = tree_changes(b->p, 0, &n), *of_q = tree_changes(b->q, 0, &m);
    assert_int_equal(n, m);
    for (k = 0; k < n; k++) {
        assert_true(of_p[k].col == of_q[k].col && of_p[k].upper == of_q[k].upper && of_p[k].row == of_q[k].row);
        assert_true(of_p[k].old_bound == of_q[k].old_bound && of_p[k].new_bound == of_q[k].new_bound);
    }
    free(of_p);
    free(of_q);
    model_check_same_bounds(b->p, b->q, COLS);
}

static void wait_for(both *b) { assert_int_equal(gpuopt_context_wait(b->cuda), GPUOPT_OK); }

static void halve(both *b, int32_t col) {
    tree_set(b->p, col, b->x[col], b->x[col] + 3);
    tree_set(b->q, col, b->x[col], b->x[col] + 3);
}

/* Changes are read into device memory: as many as fit, from any position, with any of the arrays. */
static void changes_in_device_memory(void **state) {
    int left_out;
    (void)state;
    for (left_out = 0; left_out < 6; left_out++) {
        both *b = open_both(left_out % 2 ? GPUOPT_PRECISION_FP32 : GPUOPT_PRECISION_FP64);
        int32_t col[MOST], row[MOST];
        double old_bound[MOST], new_bound[MOST];
        uint8_t upper[MOST];
        gpuopt_propagator_changes c = GPUOPT_INIT(gpuopt_propagator_changes);
        int64_t count, from, k;
        tree_change *want;
        problem_round(b->p, 3), problem_round(b->q, 3);
        tree_push(b->p), tree_push(b->q);
        halve(b, 4);
        problem_round(b->p, 3), problem_round(b->q, 3);
        check_same(b);
        want = tree_changes(b->p, 0, &count);
        assert_true(count > 20 && count < MOST);
        memset(col, 0x55, sizeof col);
        memset(row, 0x55, sizeof row);
        memset(upper, 0x55, sizeof upper);
        memset(old_bound, 0x55, sizeof old_bound);
        memset(new_bound, 0x55, sizeof new_bound);
        c.col = left_out == 0 ? NULL : on_device(col, sizeof col);
        c.upper = left_out == 1 ? NULL : on_device(upper, sizeof upper);
        c.old_bound = left_out == 2 ? NULL : on_device(old_bound, sizeof old_bound);
        c.new_bound = left_out == 3 ? NULL : on_device(new_bound, sizeof new_bound);
        c.row = left_out == 4 ? NULL : on_device(row, sizeof row);
        from = 7;
        c.capacity = count - from - 3;
        assert_int_equal(gpuopt_propagator_get_changes(b->p, GPUOPT_DEVICE, from, &c), GPUOPT_OK);
        assert_int_equal(c.count, count - from);
        wait_for(b);
        if (c.col) test_device_copy(col, c.col, sizeof col);
        if (c.upper) test_device_copy(upper, c.upper, sizeof upper);
        if (c.old_bound) test_device_copy(old_bound, c.old_bound, sizeof old_bound);
        if (c.new_bound) test_device_copy(new_bound, c.new_bound, sizeof new_bound);
        if (c.row) test_device_copy(row, c.row, sizeof row);
        for (k = 0; k < MOST; k++) {
            const int written = k < c.capacity;
            const tree_change w = want[written ? from + k : 0];
            assert_int_equal(col[k], written && c.col ? w.col : 0x55555555);
            assert_int_equal(row[k], written && c.row ? w.row : 0x55555555);
            assert_int_equal(upper[k], written && c.upper ? w.upper : 0x55);
            assert_true((old_bound[k] == w.old_bound) == (written && c.old_bound));
            assert_true((new_bound[k] == w.new_bound) == (written && c.new_bound));
        }
        assert_int_equal(gpuopt_propagator_get_changes(b->p, GPUOPT_DEVICE, count + 1, &c), GPUOPT_ERROR_ARGUMENT);
        test_device_release(c.col);
        test_device_release(c.upper);
        test_device_release(c.old_bound);
        test_device_release(c.new_bound);
        test_device_release(c.row);
        free(want);
        close_both(b);
    }
}

/* Bounds and sides from device memory are recorded like the caller's; a number without a row is refused. */
static void settings_in_device_memory(void **state) {
    both *b = open_both(GPUOPT_PRECISION_FP64);
    const int32_t cols[3] = {9, 2, 30}, rows[2] = {MODEL_ROWS, 1}, missing[2] = {1, MODEL_ROWS + 1}, index[2] = {5, 8};
    const double low[3] = {b->x[9] - 1, b->x[2], b->x[30] - 2}, high[3] = {b->x[9] + 1, b->x[2] + 1, b->x[30]};
    const double lhs[2] = {-INFINITY, -30}, rhs[2] = {b->x[5] + b->x[8] + 1, 1e6}, value[2] = {1, 1};
    double *device_low = on_device(low, sizeof low), *device_high = on_device(high, sizeof high);
    double *device_lhs = on_device(lhs, sizeof lhs), *device_rhs = on_device(rhs, sizeof rhs);
    int32_t *device_cols = on_device(cols, sizeof cols), *device_rows = on_device(rows, sizeof rows),
            *device_missing = on_device(missing, sizeof missing);
    int k;
    (void)state;
    for (k = 0; k < 2; k++) tree_add(k ? b->q : b->p, COLS, 2, index, value, -INFINITY, INFINITY);
    assert_int_equal(gpuopt_propagator_set_bounds(b->p, GPUOPT_DEVICE, 3, device_cols, device_low, device_high),
                     GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_set_bounds(b->q, GPUOPT_HOST, 3, cols, low, high), GPUOPT_OK);
    check_same(b);
    tree_push(b->p), tree_push(b->q);
    assert_int_equal(gpuopt_propagator_set_sides(b->p, GPUOPT_DEVICE, 2, device_rows, device_lhs, device_rhs),
                     GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_set_sides(b->q, GPUOPT_HOST, 2, rows, lhs, rhs), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_set_sides(b->p, GPUOPT_DEVICE, 2, device_missing, device_lhs, device_rhs),
                     GPUOPT_ERROR_ARGUMENT);
    model_check_same_info(problem_round(b->p, 100), problem_round(b->q, 100));
    check_same(b);
    tree_pop(b->p, 1), tree_pop(b->q, 1);
    model_check_same_info(problem_round(b->p, 100), problem_round(b->q, 100));
    check_same(b);
    test_device_release(device_low), test_device_release(device_high);
    test_device_release(device_lhs), test_device_release(device_rhs);
    test_device_release(device_cols), test_device_release(device_rows), test_device_release(device_missing);
    close_both(b);
}

/* Without info no call waits; and get_info reports the results of the last rounds, later, too. */
static void enqueued(void **state) {
    both *b = open_both(GPUOPT_PRECISION_FP64);
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info), again = info;
    int64_t start;
    (void)state;
    assert_int_equal(gpuopt_propagator_round(b->p, 2, NULL), GPUOPT_OK);
    problem_round(b->q, 2);
    assert_int_equal(gpuopt_propagator_push(b->p, &start), GPUOPT_OK);
    assert_int_equal(start, tree_push(b->q));
    halve(b, 1);
    assert_int_equal(gpuopt_propagator_round(b->p, 50, NULL), GPUOPT_OK);
    info = problem_round(b->q, 50);
    tree_pop(b->p, 1), tree_pop(b->q, 1);
    assert_int_equal(gpuopt_propagator_get_info(b->p, &again), GPUOPT_OK); /* of the rounds, after the pop */
    model_check_same_info(again, info);
    assert_int_equal(tree_trail(b->p).changes, start);
    assert_int_equal(tree_trail(b->p).levels, 0);
    check_same(b);
    assert_int_equal(gpuopt_propagator_round(b->p, 1, NULL), GPUOPT_OK);
    problem_round(b->q, 1);
    assert_int_equal(gpuopt_propagator_commit(b->p), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_commit(b->q), GPUOPT_OK);
    assert_int_equal(tree_trail(b->p).changes, 0);
    halve(b, 3);
    assert_int_equal(gpuopt_propagator_round(b->p, 50, NULL), GPUOPT_OK);
    problem_round(b->q, 50);
    check_same(b);
    close_both(b);
}

/* Rounds with a trail run by one driver, and not in a captured graph. */
static void drivers(void **state) {
    both *b = open_both(GPUOPT_PRECISION_FP64);
    gpuopt_propagator_driver driver;
    int fault;
    (void)state;
    for (driver = GPUOPT_DRIVER_AUTO; driver <= GPUOPT_DRIVER_GRAPH; driver++)
        for (fault = 0; fault < 2; fault++) {
            const int good = driver == GPUOPT_DRIVER_AUTO || driver == GPUOPT_DRIVER_COOPERATIVE;
            gpuopt_propagator_desc desc = b->desc;
            gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
            gpuopt_propagator *p = NULL;
            desc.driver = driver;
            if (fault) desc.trail_capacity = 0;
            else desc.spare = NULL;
            b->host.error[0] = 0;
            assert_int_equal(gpuopt_propagator_create(b->cuda, &desc, &plan, NULL),
                             good ? GPUOPT_OK : GPUOPT_ERROR_UNSUPPORTED);
            assert_int_equal(gpuopt_propagator_create(b->cuda, &desc, NULL, &p),
                             good ? GPUOPT_OK : GPUOPT_ERROR_UNSUPPORTED);
            assert_true(good || strstr(b->host.error, "COOPERATIVE"));
            gpuopt_propagator_destroy(p);
        }
    close_both(b);
}

static void capture_is_refused(void **state) {
    cudaStream_t stream;
    cudaGraph_t graph;
    test_host host;
    gpuopt_context_desc context_desc = test_context_desc(&host);
    gpuopt_context *context;
    mip m = model_small();
    gpuopt_propagator_desc desc = tree_desc(&m, GPUOPT_MODE_JACOBI, GPUOPT_PRECISION_FP64);
    gpuopt_propagator *p;
    (void)state;
    assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    context_desc.stream = stream;
    assert_int_equal(gpuopt_context_create(&context_desc, &context), GPUOPT_OK);
    p = problem_create(context, &desc);
    assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    assert_int_equal(gpuopt_propagator_round(p, 2, NULL), GPUOPT_ERROR_UNSUPPORTED);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    model_check_fixpoint(p);
    gpuopt_propagator_destroy(p);
    gpuopt_context_destroy(context);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
    assert_int_equal(host.live, 0);
    mip_free(&m);
}

/* A batch of a base with a trail follows it up and down, and follows added and removed rows. */
static void batches(void **state) {
    both *b = open_both(GPUOPT_PRECISION_FP64);
    gpuopt_propagator_batch_desc few = GPUOPT_INIT(gpuopt_propagator_batch_desc);
    gpuopt_propagator_batch *of_p = NULL, *of_q = NULL;
    int64_t entries[2] = {0, 2};
    int32_t pair[2] = {7, 12}, row[2] = {-1, -1};
    double value[2] = {1, 1}, lhs = -INFINITY, rhs = b->x[7] + b->x[12];
    gpuopt_matrix cut;
    int turn, seen = 0;
    (void)state;
    memset(&cut, 0, sizeof cut);
    cut.rows = 1, cut.cols = b->desc.matrix.cols, cut.start = entries, cut.index = pair, cut.value = value;
    few.nodes = 4;
    assert_int_equal(gpuopt_propagator_batch_create(b->p, &few, NULL, &of_p), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_batch_create(b->q, &few, NULL, &of_q), GPUOPT_OK);
    for (turn = 0; turn < 6; turn++) {
        const int64_t start[3] = {0, 1, 2};
        const int32_t col[2] = {7, 12};
        const double lb[2] = {b->x[7], b->x[12] - 1}, ub[2] = {b->x[7] + 1, b->x[12]};
        gpuopt_propagator_nodes nodes = {sizeof nodes, 2, start, col, lb, ub};
        int32_t outcome[2][2], rounds[2][2], columns[2][2];
        int k;
        for (k = 0; k < 2; k++) {
            gpuopt_propagator_node_report report = GPUOPT_INIT(gpuopt_propagator_node_report);
            report.outcome = outcome[k];
            report.rounds = rounds[k];
            report.columns = columns[k];
            assert_int_equal(gpuopt_propagator_batch_run(k ? of_q : of_p, GPUOPT_HOST, &nodes, 1000, &report),
                             GPUOPT_OK);
        }
        assert_memory_equal(outcome[0], outcome[1], sizeof outcome[0]);
        assert_memory_equal(rounds[0], rounds[1], sizeof rounds[0]);
        assert_memory_equal(columns[0], columns[1], sizeof columns[0]);
        if (turn == 0 || turn == 3) model_check_same_info(problem_round(b->p, 1000), problem_round(b->q, 1000));
        if (turn == 1) tree_push(b->p), tree_push(b->q), halve(b, 3);
        if (turn == 4) tree_pop(b->p, 1), tree_pop(b->q, 1);
        if (turn == 2) problem_round(b->p, 1), problem_round(b->q, 1);
        for (k = 0; k < 2 && turn % 3 != 2;
             k++) { /* added at the root and within a level, removed there and after it */
            gpuopt_propagator *base = k ? b->q : b->p;
            if (row[k] < 0) assert_int_equal(gpuopt_propagator_add_rows(base, &cut, &lhs, &rhs, &row[k]), GPUOPT_OK);
            else assert_int_equal(gpuopt_propagator_remove_rows(base, 1, &row[k]), GPUOPT_OK), row[k] = -1;
        }
        seen |= columns[0][0] != columns[0][1] || rounds[0][0] > 1;
    }
    assert_true(seen);
    gpuopt_propagator_batch_destroy(of_p);
    gpuopt_propagator_batch_destroy(of_q);
    close_both(b);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(changes_in_device_memory),
    cmocka_unit_test(settings_in_device_memory),
    cmocka_unit_test(enqueued),
    cmocka_unit_test(drivers),
    cmocka_unit_test(capture_is_refused),
    cmocka_unit_test(batches),
};
TEST_MAIN(tests)
