/* SPDX-License-Identifier: MIT
 *
 * Features of the CUDA backend only: device arrays, the device view, the caller's own stream, capture in a CUDA graph.
 */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/propagate/problem.h"

enum { COLS = 3000, ROWS = 2000, PER_ROW = 6 };

/* Right-hand sides are slightly above the least activities, so that many bounds move. */
static mip draw(uint64_t seed) {
    mip m = problem_new(COLS, ROWS, ROWS * PER_ROW);
    int i, j, k;
    for (j = 0; j < COLS; j++) problem_col(&m, j, -10, 10 + j % 7, j % 3 == 0);
    for (i = 0; i < ROWS; i++) {
        int first = (int)test_random_int(&seed, 0, COLS - PER_ROW * 40);
        double least = 0;
        problem_row(&m, -INFINITY, 0);
        for (k = 0; k < PER_ROW; k++) {
            double a = (double)test_random_int(&seed, 1, 5) * (k % 2 ? 0.5 : 1);
            problem_entry(&m, first + k * 40 + (int)test_random_int(&seed, 0, 39), a);
            least -= 10 * a;
        }
        m.rhs[i] = least + (double)test_random_int(&seed, 5, 60);
        if (i % 2) m.lhs[i] = least + 4;
    }
    return m;
}

static void *on_device(const void *from, size_t bytes) {
    void *to = test_device_allocate(bytes);
    if (from) test_device_copy(to, from, bytes);
    return to;
}

/* A model with its propagator and host arrays to read bounds into. */
typedef struct bench {
    test_host host;
    gpuopt_context *context;
    mip model;
    gpuopt_propagator *propagator;
    double lb[COLS], ub[COLS], other_lb[COLS], other_ub[COLS];
} bench;

static bench *bench_open(gpuopt_propagator_precision precision) {
    bench *b = calloc(1, sizeof *b);
    gpuopt_propagator_desc desc;
    b->context = test_context(&b->host);
    b->model = draw(3);
    desc = mip_propagator_desc(&b->model);
    desc.precision = precision;
    b->propagator = problem_create(b->context, &desc);
    return b;
}

static void bench_close(bench *b) {
    gpuopt_propagator_destroy(b->propagator);
    gpuopt_context_destroy(b->context);
    assert_int_equal(b->host.live, 0);
    mip_free(&b->model);
    free(b);
}

static void read_bounds(bench *b, double *lb, double *ub) {
    assert_int_equal(gpuopt_propagator_get_bounds(b->propagator, GPUOPT_HOST, 0, NULL, lb, ub), GPUOPT_OK);
}

static void device_arrays_are_read_and_written(void **state) {
    bench *b = bench_open(GPUOPT_PRECISION_FP64);
    gpuopt_propagator_info info;
    double *lb = on_device(NULL, sizeof b->lb), *ub = on_device(NULL, sizeof b->ub);
    int32_t some[] = {7, 2999, 0, 41}, *device_some = on_device(some, sizeof some);
    double picked_lb[4], picked_ub[4];
    int k;
    (void)state;
    gpuopt_desc_init(&info, sizeof info);
    assert_int_equal(gpuopt_propagator_round(b->propagator, 100, &info), GPUOPT_OK);
    assert_true(info.changed > 100);
    read_bounds(b, b->lb, b->ub);
    assert_int_equal(gpuopt_propagator_get_bounds(b->propagator, GPUOPT_DEVICE, 0, NULL, lb, ub), GPUOPT_OK);
    assert_int_equal(gpuopt_context_wait(b->context), GPUOPT_OK);
    test_device_copy(b->other_lb, lb, sizeof b->lb);
    test_device_copy(b->other_ub, ub, sizeof b->ub);
    assert_memory_equal(b->lb, b->other_lb, sizeof b->lb);
    assert_memory_equal(b->ub, b->other_ub, sizeof b->ub);

    assert_int_equal(gpuopt_propagator_get_bounds(b->propagator, GPUOPT_DEVICE, 4, device_some, lb, ub), GPUOPT_OK);
    assert_int_equal(gpuopt_context_wait(b->context), GPUOPT_OK);
    test_device_copy(picked_lb, lb, sizeof picked_lb);
    test_device_copy(picked_ub, ub, sizeof picked_ub);
    for (k = 0; k < 4; k++) {
        assert_true(picked_lb[k] == b->lb[some[k]] && picked_ub[k] == b->ub[some[k]]);
        picked_lb[k] -= 1;
        picked_ub[k] += 2;
    }
    test_device_copy(lb, picked_lb, sizeof picked_lb);
    test_device_copy(ub, picked_ub, sizeof picked_ub);
    assert_int_equal(gpuopt_propagator_set_bounds(b->propagator, GPUOPT_DEVICE, 4, device_some, lb, ub), GPUOPT_OK);
    read_bounds(b, b->other_lb, b->other_ub);
    for (k = 0; k < 4; k++) b->lb[some[k]] -= 1, b->ub[some[k]] += 2;
    assert_memory_equal(b->lb, b->other_lb, sizeof b->lb);
    assert_memory_equal(b->ub, b->other_ub, sizeof b->ub);

    test_device_copy(lb, b->model.lb, sizeof b->lb);
    assert_int_equal(gpuopt_propagator_set_bounds(b->propagator, GPUOPT_DEVICE, 0, NULL, lb, NULL), GPUOPT_OK);
    read_bounds(b, b->other_lb, b->other_ub);
    assert_memory_equal(b->model.lb, b->other_lb, sizeof b->lb);
    assert_memory_equal(b->ub, b->other_ub, sizeof b->ub);
    test_device_release(lb);
    test_device_release(ub);
    test_device_release(device_some);
    bench_close(b);
}

static void bad_device_arrays_change_nothing(void **state) {
    bench *b = bench_open(GPUOPT_PRECISION_FP64);
    int32_t columns[] = {5, COLS, 6};
    double values[] = {1, 2, 3}, nan_among[] = {1, NAN, 3};
    int32_t good[] = {5, 6, 7}, *bad_col = on_device(columns, sizeof columns), *good_col = on_device(good, sizeof good);
    double *good_values = on_device(values, sizeof values), *bad_values = on_device(nan_among, sizeof nan_among);
    (void)state;
    read_bounds(b, b->lb, b->ub);
    assert_int_equal(gpuopt_propagator_set_bounds(b->propagator, GPUOPT_DEVICE, 3, bad_col, good_values, good_values),
                     GPUOPT_ERROR_ARGUMENT);
    assert_true(b->host.error[0] != 0);
    assert_int_equal(gpuopt_propagator_set_bounds(b->propagator, GPUOPT_DEVICE, 3, good_col, NULL, bad_values),
                     GPUOPT_ERROR_ARGUMENT);
    read_bounds(b, b->other_lb, b->other_ub);
    assert_memory_equal(b->lb, b->other_lb, sizeof b->lb);
    assert_memory_equal(b->ub, b->other_ub, sizeof b->ub);
    assert_int_equal(gpuopt_propagator_set_bounds(b->propagator, GPUOPT_DEVICE, 3, good_col, good_values, NULL),
                     GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_get_bounds(b->propagator, GPUOPT_DEVICE, 3, bad_col, bad_values, NULL),
                     GPUOPT_OK);
    assert_int_equal(gpuopt_context_wait(b->context), GPUOPT_OK);
    test_device_copy(values, bad_values, sizeof values);
    assert_true(values[0] == 1 && isnan(values[1]) && values[2] == 2); /* columns 5 and 6 as they were set */
    test_device_release(bad_col);
    test_device_release(good_col);
    test_device_release(good_values);
    test_device_release(bad_values);
    bench_close(b);
}

/* Sides from device memory have the same effect as from host memory; faulty sides are refused and change nothing. */
static void device_sides_equal_host_ones(void **state) {
    bench *b = bench_open(GPUOPT_PRECISION_FP64), *twin = bench_open(GPUOPT_PRECISION_FP64);
    enum { SOME = 500 };
    int32_t row[SOME], bad_row[SOME], *device_row, *device_bad_row;
    double lhs[SOME], rhs[SOME], bad[SOME], *device_lhs, *device_rhs, *device_bad;
    static const double bad_lhs[] = {NAN, INFINITY, 1e20, 1e9}; /* the last one exceeds the rhs */
    gpuopt_propagator_info info, twin_info;
    int k;
    (void)state;
    for (k = 0; k < SOME; k++) {
        row[k] = bad_row[k] = (k * 7 + 3) % ROWS;
        lhs[k] = -INFINITY;
        rhs[k] = b->model.rhs[row[k]] - 3;
    }
    device_row = on_device(row, sizeof row);
    device_lhs = on_device(lhs, sizeof lhs);
    device_rhs = on_device(rhs, sizeof rhs);
    for (k = 0; k < 2; k++) {
        bad_row[SOME - 1] = k ? -1 : ROWS;
        device_bad_row = on_device(bad_row, sizeof bad_row);
        assert_int_equal(
            gpuopt_propagator_set_sides(b->propagator, GPUOPT_DEVICE, SOME, device_bad_row, device_lhs, device_rhs),
            GPUOPT_ERROR_ARGUMENT);
        assert_non_null(strstr(b->host.error, "gpuopt_propagator_set_sides"));
        test_device_release(device_bad_row);
    }
    for (k = 0; k < 4; k++) {
        memcpy(bad, lhs, sizeof bad);
        bad[SOME / 2] = bad_lhs[k];
        device_bad = on_device(bad, sizeof bad);
        assert_int_equal(
            gpuopt_propagator_set_sides(b->propagator, GPUOPT_DEVICE, SOME, device_row, device_bad, device_rhs),
            GPUOPT_ERROR_ARGUMENT);
        test_device_release(device_bad);
    }
    for (k = 0; k < 2; k++) { /* first after refused calls only, then after an accepted one */
        gpuopt_desc_init(&info, sizeof info);
        twin_info = info;
        assert_int_equal(gpuopt_propagator_round(b->propagator, 100, &info), GPUOPT_OK);
        assert_int_equal(gpuopt_propagator_round(twin->propagator, 100, &twin_info), GPUOPT_OK);
        assert_memory_equal(&info, &twin_info, sizeof info);
        assert_true(info.changed > 100);
        read_bounds(b, b->lb, b->ub);
        read_bounds(twin, b->other_lb, b->other_ub);
        assert_memory_equal(b->lb, b->other_lb, sizeof b->lb);
        assert_memory_equal(b->ub, b->other_ub, sizeof b->ub);
        if (k == 1) break;
        assert_int_equal(
            gpuopt_propagator_set_sides(b->propagator, GPUOPT_DEVICE, SOME, device_row, device_lhs, device_rhs),
            GPUOPT_OK);
        assert_int_equal(gpuopt_propagator_set_sides(twin->propagator, GPUOPT_HOST, SOME, row, lhs, rhs), GPUOPT_OK);
    }
    test_device_release(device_row);
    test_device_release(device_lhs);
    test_device_release(device_rhs);
    bench_close(twin);
    bench_close(b);
}

static void the_view_holds_the_bounds(void **state) {
    int precision, j;
    (void)state;
    for (precision = GPUOPT_PRECISION_FP64; precision <= GPUOPT_PRECISION_FP32; precision++) {
        bench *b = bench_open((gpuopt_propagator_precision)precision);
        gpuopt_device_view view;
        double pairs[2 * COLS];
        float single_pairs[2 * COLS];
        gpuopt_desc_init(&view, sizeof view);
        assert_int_equal(gpuopt_propagator_round(b->propagator, 3, NULL), GPUOPT_OK);
        read_bounds(b, b->lb, b->ub);
        assert_int_equal(gpuopt_propagator_device_view(b->propagator, &view), GPUOPT_OK);
        assert_int_equal(view.count, 2 * COLS);
        assert_int_equal(view.type, precision == GPUOPT_PRECISION_FP32 ? GPUOPT_TYPE_FP32 : GPUOPT_TYPE_FP64);
        if (precision == GPUOPT_PRECISION_FP64) test_device_copy(pairs, view.data, sizeof pairs);
        else test_device_copy(single_pairs, view.data, sizeof single_pairs);
        for (j = 0; j < COLS; j++) {
            double lb = precision == GPUOPT_PRECISION_FP64 ? pairs[2 * j] : (double)single_pairs[2 * j];
            double ub = precision == GPUOPT_PRECISION_FP64 ? pairs[2 * j + 1] : (double)single_pairs[2 * j + 1];
            assert_true(fmin(lb, ub) == b->lb[j] && ub == b->ub[j]);
        }
        bench_close(b);
    }
}

static void device_row_reports_equal_host_ones(void **state) {
    bench *b = bench_open(GPUOPT_PRECISION_FP64);
    gpuopt_propagator_row_report report;
    static double activity[2][ROWS], other_activity[2][ROWS];
    static int32_t infinite[ROWS], other_infinite[ROWS];
    static uint8_t status[ROWS], other_status[ROWS];
    (void)state;
    assert_int_equal(gpuopt_propagator_round(b->propagator, 2, NULL), GPUOPT_OK);
    gpuopt_desc_init(&report, sizeof report);
    report.min_activity = activity[0];
    report.max_activity = activity[1];
    report.max_infinite = infinite;
    report.status = status;
    assert_int_equal(gpuopt_propagator_get_rows(b->propagator, GPUOPT_HOST, &report), GPUOPT_OK);
    report.min_activity = on_device(NULL, sizeof activity[0]);
    report.max_activity = on_device(NULL, sizeof activity[1]);
    report.max_infinite = on_device(NULL, sizeof infinite);
    report.status = on_device(NULL, sizeof status);
    assert_int_equal(gpuopt_propagator_get_rows(b->propagator, GPUOPT_DEVICE, &report), GPUOPT_OK);
    assert_int_equal(gpuopt_context_wait(b->context), GPUOPT_OK);
    test_device_copy(other_activity[0], report.min_activity, sizeof activity[0]);
    test_device_copy(other_activity[1], report.max_activity, sizeof activity[1]);
    test_device_copy(other_infinite, report.max_infinite, sizeof infinite);
    test_device_copy(other_status, report.status, sizeof status);
    assert_memory_equal(activity, other_activity, sizeof activity);
    assert_memory_equal(infinite, other_infinite, sizeof infinite);
    assert_memory_equal(status, other_status, sizeof status);
    test_device_release(report.min_activity);
    test_device_release(report.max_activity);
    test_device_release(report.max_infinite);
    test_device_release(report.status);
    bench_close(b);
}

/* The last call did one round, and the bounds are these. */
static void check_last_round(gpuopt_propagator *p, const double *want_lb, const double *want_ub) {
    static double lb[COLS], ub[COLS];
    gpuopt_propagator_info info;
    gpuopt_desc_init(&info, sizeof info);
    assert_int_equal(gpuopt_propagator_get_info(p, &info), GPUOPT_OK);
    assert_int_equal(info.rounds, 1);
    assert_int_equal(gpuopt_propagator_get_bounds(p, GPUOPT_HOST, 0, NULL, lb, ub), GPUOPT_OK);
    assert_memory_equal(lb, want_lb, sizeof lb);
    assert_memory_equal(ub, want_ub, sizeof ub);
}

/* Rounds that are enqueued one by one without waiting find the same as that many rounds in one call. */
static void rounds_can_be_enqueued(void **state) {
    static double want_lb[COLS], want_ub[COLS];
    gpuopt_context *context = test_context(NULL);
    mip m = draw(12);
    size_t variants, v;
    const problem_variant *variant = problem_variants(&variants);
    (void)state;
    for (v = 0; v < variants; v++) {
        gpuopt_propagator_desc desc = mip_propagator_desc(&m);
        gpuopt_propagator *p;
        int k;
        problem_apply(&variant[v], &desc);
        problem_run(context, &desc, 6, want_lb, want_ub);
        p = problem_create(context, &desc);
        for (k = 0; k < 6; k++) assert_int_equal(gpuopt_propagator_round(p, 1, NULL), GPUOPT_OK);
        check_last_round(p, want_lb, want_ub);
        gpuopt_propagator_destroy(p);
    }
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* Pinned arrays, too, may be reused as soon as the call returns, although copies from them are asynchronous. */
static void pinned_arrays_may_be_reused(void **state) {
    bench *b = bench_open(GPUOPT_PRECISION_FP64);
    double *lb;
    int j, trial;
    (void)state;
    assert_int_equal(cudaMallocHost((void **)&lb, sizeof b->lb), cudaSuccess);
    for (trial = 0; trial < 20; trial++) {
        for (j = 0; j < COLS; j++) lb[j] = -10 - trial;
        assert_int_equal(gpuopt_propagator_round(b->propagator, 5, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_propagator_set_bounds(b->propagator, GPUOPT_HOST, 0, NULL, lb, b->model.ub), GPUOPT_OK);
        for (j = 0; j < COLS; j++) lb[j] = 1e6;
        read_bounds(b, b->lb, b->ub);
        for (j = 0; j < COLS; j++) assert_true(b->lb[j] == -10 - trial);
    }
    cudaFreeHost(lb);
    bench_close(b);
}

/* More changes than their list can hold, on an almost empty model: none is lost. */
static void many_sets_without_a_round(void **state) {
    static const double lb[4] = {0, 0, 0, 0}, ub[4] = {10, 10, 10, 10};
    test_host host;
    gpuopt_context *context = test_context(&host);
    mip m;
    gpuopt_propagator_desc desc;
    gpuopt_propagator *p;
    char error[128];
    double got_lb[4], got_ub[4];
    int k;
    (void)state;
    assert_int_equal(mip_generate("emptyrows,100000", &m, error, sizeof error), 0); /* x0 + x1 <= 3, x2 + x3 <= 4 */
    desc = mip_propagator_desc(&m);
    desc.marking = GPUOPT_ON;
    desc.lb = lb;
    desc.ub = ub;
    p = problem_create(context, &desc);
    problem_round(p, 9);
    for (k = 0; k < 40; k++) {
        int32_t col = k < 39 ? 0 : 2;
        double low = k < 39 ? k % 2 : 1;
        assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, &col, &low, NULL), GPUOPT_OK);
    }
    problem_round(p, 9);
    assert_int_equal(gpuopt_propagator_get_bounds(p, GPUOPT_HOST, 0, NULL, got_lb, got_ub), GPUOPT_OK);
    assert_true(got_ub[3] == 3 && got_lb[2] == 1); /* from x2 >= 1 */
    gpuopt_propagator_destroy(p);
    mip_free(&m);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* Rounds captured on the caller's own stream and replayed have the same results as called rounds. */
static void rounds_can_be_captured(void **state) {
    static const gpuopt_propagator_driver drivers[] = {GPUOPT_DRIVER_HOST, GPUOPT_DRIVER_COOPERATIVE};
    static double want_lb[COLS], want_ub[COLS];
    size_t d;
    (void)state;
    for (d = 0; d < sizeof drivers / sizeof *drivers; d++) {
        cudaStream_t stream;
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        gpuopt_context_desc desc = test_context_desc(NULL);
        gpuopt_context *context;
        gpuopt_propagator *p;
        gpuopt_propagator_desc model;
        mip m = draw(11);
        int k;
        assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
        desc.stream = stream;
        assert_int_equal(gpuopt_context_create(&desc, &context), GPUOPT_OK);
        model = mip_propagator_desc(&m);
        model.driver = drivers[d];
        problem_run(context, &model, 3, want_lb, want_ub);
        p = problem_create(context, &model);
        assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
        assert_int_equal(gpuopt_propagator_round(p, 1, NULL), GPUOPT_OK);
        assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
        assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
        for (k = 0; k < 3; k++) assert_int_equal(cudaGraphLaunch(exec, stream), cudaSuccess);
        check_last_round(p, want_lb, want_ub);
        cudaGraphExecDestroy(exec);
        cudaGraphDestroy(graph);
        gpuopt_propagator_destroy(p);
        gpuopt_context_destroy(context);
        cudaStreamDestroy(stream);
        mip_free(&m);
    }
}

/* A pending error of CUDA neither disturbs a call nor is lost in it. */
static void earlier_errors_are_the_callers(void **state) {
    gpuopt_context *context = test_context(NULL);
    mip m = draw(5);
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    gpuopt_propagator *p;
    double lb[2][COLS];
    void *none;
    int pending;
    (void)state;
    desc.marking = GPUOPT_ON;
    for (pending = 0; pending < 2; pending++) {
        cudaError_t error = pending ? cudaMalloc(&none, SIZE_MAX) : cudaSuccess;
        assert_int_equal(error != cudaSuccess, pending);
        p = problem_create(context, &desc);
        assert_int_equal(cudaPeekAtLastError(), error);
        assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 0, NULL, m.lb, m.ub), GPUOPT_OK);
        problem_round(p, 100);
        problem_bounds(p, lb[pending], NULL);
        gpuopt_propagator_destroy(p);
        assert_int_equal(cudaGetLastError(), error);
    }
    assert_memory_equal(lb[0], lb[1], sizeof lb[0]);
    gpuopt_context_destroy(context);
    mip_free(&m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(device_arrays_are_read_and_written),
    cmocka_unit_test(bad_device_arrays_change_nothing),
    cmocka_unit_test(device_sides_equal_host_ones),
    cmocka_unit_test(the_view_holds_the_bounds),
    cmocka_unit_test(device_row_reports_equal_host_ones),
    cmocka_unit_test(rounds_can_be_captured),
    cmocka_unit_test(rounds_can_be_enqueued),
    cmocka_unit_test(pinned_arrays_may_be_reused),
    cmocka_unit_test(earlier_errors_are_the_callers),
    cmocka_unit_test(many_sets_without_a_round),
};
TEST_MAIN(tests)
