/* SPDX-License-Identifier: MIT
 *
 * The calls of many small linear programs: misuse, host and device memory, the plan, memory that runs out, and the stop
 * hook.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef TEST_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

#include "tests/simplex/changes.h"
#include "tests/simplex/programs.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

enum { COUNT = 9, ROWS = 6, COLS = 8 };

/* Programs of all kinds with one pattern. */
static programs *some(uint64_t seed, int pattern) {
    mip *model = calloc(COUNT, sizeof *model);
    int32_t k;
    for (k = 0; k < COUNT; k++) {
        model[k] = changes_model(&seed, ROWS, COLS);
        model[k].maximize = 0;
    }
    return programs_of(COUNT, model, pattern, GPUOPT_LAYOUT_CSR);
}

#define REFUSED(code, text, ...)                        \
    host.error[0] = 0;                                  \
    assert_int_equal(__VA_ARGS__, GPUOPT_ERROR_##code); \
    if (!strstr(host.error, text)) fail_msg("the log says: %s", host.error)

/* ---- Misuse ---- */

static void refused_descriptors(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    programs *all = some(1, 1);
    gpuopt_simplex_batch_desc bad;
    gpuopt_simplex_tolerances tolerances;
    gpuopt_simplex_batch *many = (gpuopt_simplex_batch *)&bad;
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    const long live = host.live;
    int64_t start[ROWS + 1];
    int32_t index[ROWS * COLS];
    (void)state;
#define BAD(code, text, change)                                                   \
    bad = all->desc;                                                              \
    memcpy(start, all->start, sizeof start);                                      \
    memcpy(index, all->index, sizeof *index *(size_t)all->nonzeros);              \
    bad.start = start, bad.index = index;                                         \
    gpuopt_desc_init(&tolerances, sizeof tolerances);                             \
    bad.tolerances = &tolerances;                                                 \
    change;                                                                       \
    REFUSED(code, text, gpuopt_simplex_batch_create(context, &bad, NULL, &many)); \
    assert_null(many);                                                            \
    REFUSED(code, text, gpuopt_simplex_batch_create(context, &bad, &plan, NULL)); \
    assert_true(plan.host_bytes == 0 && plan.device_bytes == 0 && host.live == live)
    BAD(ARGUMENT, "batch_size", bad.batch_size = 0);
    BAD(ARGUMENT, "batch_size", bad.batch_size = 65537);
    BAD(ARGUMENT, "rows", bad.rows = -1);
    BAD(ARGUMENT, "rows", bad.rows = 513);
    BAD(ARGUMENT, "cols", bad.cols = -1);
    BAD(ARGUMENT, "cols", bad.cols = 8193);
    BAD(ARGUMENT, "layout", bad.layout = (gpuopt_layout)2);
    BAD(ARGUMENT, "shared", bad.shared = 64);
    BAD(ARGUMENT, "infinity", bad.infinity = 0.5);
    BAD(ARGUMENT, "infinity", bad.infinity = NAN);
    BAD(ARGUMENT, "desc->tolerances->primal", tolerances.primal = 1e-13);
    BAD(ARGUMENT, "desc->tolerances->primal", tolerances.primal = NAN);
    BAD(ARGUMENT, "desc->tolerances->dual", tolerances.dual = 1e-2);
    BAD(ARGUMENT, "desc->tolerances->pivot", tolerances.pivot = 1);
    BAD(ARGUMENT, "gpuopt_simplex_tolerances: struct_size", tolerances.struct_size = 0);
    BAD(ARGUMENT, "iteration_limit", bad.iteration_limit = -1);
    BAD(ARGUMENT, "start[0]", start[0] = 1);
    BAD(ARGUMENT, "start[2]", start[2] = start[1] - 1);
    BAD(ARGUMENT, "longer than 8", start[ROWS] += COLS + 1);
    BAD(ARGUMENT, "index[1]", index[1] = COLS);
    BAD(ARGUMENT, "index[0]", index[0] = -1);
    BAD(ARGUMENT, "twice", index[1] = index[0]);
    BAD(ARGUMENT, "index is NULL", bad.index = NULL);
    BAD(ARGUMENT, "size", bad.struct_size = 4);
    REFUSED(ARGUMENT, "desc is NULL", gpuopt_simplex_batch_create(context, NULL, NULL, &many));
    REFUSED(ARGUMENT, "batch and plan are NULL", gpuopt_simplex_batch_create(context, &all->desc, NULL, NULL));
    assert_int_equal(gpuopt_simplex_batch_create(NULL, &all->desc, NULL, &many), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_batch_create(NULL, &all->desc, &plan, NULL), GPUOPT_ERROR_ARGUMENT);
    gpuopt_simplex_batch_destroy(NULL);
    programs_free(all);
    gpuopt_context_destroy(context);
}

/* Refused calls write nothing; refused numbers leave the handle without programs, and usable. */
static void refused_calls(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    programs *all = some(2, 0);
    gpuopt_simplex_batch *many = programs_create(context, all);
    gpuopt_simplex_batch_info info = GPUOPT_INIT(gpuopt_simplex_batch_info);
    programs_report *before, *after = programs_report_new(all, COUNT);
    gpuopt_simplex_batch_report wrong = after->r;
    gpuopt_simplex_programs bad;
    int array;
    (void)state;
    must(gpuopt_simplex_batch_iterate(many, INT64_MAX, NULL));
    before = programs_get(many, all);
#define LOAD(code, text, change) \
    bad = all->p;                \
    change;                      \
    REFUSED(code, text, gpuopt_simplex_batch_load(many, GPUOPT_HOST, &bad))
    LOAD(ARGUMENT, "count", bad.count = -1);
    LOAD(ARGUMENT, "count", bad.count = COUNT + 1);
    LOAD(ARGUMENT, "value is NULL", bad.value = NULL);
    LOAD(ARGUMENT, "struct_size", bad.struct_size = 2);
    REFUSED(ARGUMENT, "programs is NULL", gpuopt_simplex_batch_load(many, GPUOPT_HOST, NULL));
    REFUSED(ARGUMENT, "where", gpuopt_simplex_batch_load(many, (gpuopt_memory_space)7, &all->p));
    REFUSED(ARGUMENT, "iterations", gpuopt_simplex_batch_iterate(many, 0, &info));
    info.struct_size = 0;
    REFUSED(ARGUMENT, "struct_size", gpuopt_simplex_batch_iterate(many, 1, &info));
    REFUSED(ARGUMENT, "struct_size", gpuopt_simplex_batch_get_info(many, &info));
    REFUSED(ARGUMENT, "info is NULL", gpuopt_simplex_batch_get_info(many, NULL));
    REFUSED(ARGUMENT, "no such", gpuopt_simplex_batch_get(many, GPUOPT_HOST, -1, 1, &after->r));
    REFUSED(ARGUMENT, "no such", gpuopt_simplex_batch_get(many, GPUOPT_HOST, 1, COUNT, &after->r));
    REFUSED(ARGUMENT, "no such", gpuopt_simplex_batch_get(many, GPUOPT_HOST, 0, -1, &after->r));
    REFUSED(ARGUMENT, "where", gpuopt_simplex_batch_get(many, (gpuopt_memory_space)7, 0, 1, &after->r));
    REFUSED(ARGUMENT, "report is NULL", gpuopt_simplex_batch_get(many, GPUOPT_HOST, 0, 1, NULL));
    wrong.struct_size = 1;
    REFUSED(ARGUMENT, "struct_size", gpuopt_simplex_batch_get(many, GPUOPT_HOST, 0, 1, &wrong));
    assert_int_equal(gpuopt_simplex_batch_load(NULL, GPUOPT_HOST, &all->p), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_batch_iterate(NULL, 1, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_batch_get_info(NULL, &info), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_batch_get(NULL, GPUOPT_HOST, 0, 1, &after->r), GPUOPT_ERROR_ARGUMENT);
    if (!test_on("cuda")) {
        REFUSED(UNSUPPORTED, "device memory", gpuopt_simplex_batch_load(many, GPUOPT_DEVICE, &all->p));
        REFUSED(UNSUPPORTED, "device memory", gpuopt_simplex_batch_get(many, GPUOPT_DEVICE, 0, 1, &after->r));
    }
    must(gpuopt_simplex_batch_get(many, GPUOPT_HOST, 0, COUNT, &after->r));
    assert_true(programs_report_equal(all, before, 0, after, 0, COUNT));
    gpuopt_desc_init(&info, sizeof info);
    for (array = 0; array < 6; array++) {
        static const char *const name[] = {"value[5]", "cost[5]", "lhs[5]", "rhs[5]", "lb[5]", "ub[5]"};
        static const double infinite[] = {HUGE_VAL, -HUGE_VAL, 1e20, -1e20, 2e20, -HUGE_VAL};
        const double kept = all->number[array][5];
        all->number[array][5] = NAN;
        LOAD(ARGUMENT, name[array], (void)0);
        all->number[array][5] = infinite[array];
        LOAD(ARGUMENT, name[array], (void)0);
        all->number[array][5] = kept;
        must(gpuopt_simplex_batch_get_info(many, &info));
        assert_int_equal(info.count, 0);
        must(gpuopt_simplex_batch_iterate(many, 1, NULL));
        REFUSED(ARGUMENT, "no such", gpuopt_simplex_batch_get(many, GPUOPT_HOST, 0, 1, &after->r));
    }
    {
        const double low = all->number[2][ROWS + 1], high = all->number[3][ROWS + 1];
        all->number[2][ROWS + 1] = 3, all->number[3][ROWS + 1] = 2;
        LOAD(ARGUMENT, "lhs exceeds rhs in entry 7", (void)0);
        all->number[2][ROWS + 1] = low, all->number[3][ROWS + 1] = high;
    }
    must(gpuopt_simplex_batch_load(many, GPUOPT_HOST, &all->p));
    must(gpuopt_simplex_batch_get_info(many, &info));
    assert_true(info.count == COUNT && info.more == COUNT && info.iterations == 0);
    must(gpuopt_simplex_batch_get(many, GPUOPT_HOST, 0, COUNT, &after->r));
    assert_true(after->r.x[3] == 0 && after->r.objective[2] == 0 && after->r.dual[ROWS] == 0);
    must(gpuopt_simplex_batch_iterate(many, INT64_MAX, NULL));
    must(gpuopt_simplex_batch_get(many, GPUOPT_HOST, 0, COUNT, &after->r));
    assert_true(programs_report_equal(all, before, 0, after, 0, COUNT));
    programs_report_free(before);
    programs_report_free(after);
    gpuopt_simplex_batch_destroy(many);
    programs_free(all);
    gpuopt_context_destroy(context);
}

/* ---- Results ---- */

/* Some arrays of some programs. */
static void parts_of_results(void **state) {
    gpuopt_context *context = test_context(NULL);
    programs *all = some(4, 1);
    gpuopt_simplex_batch *many = programs_create(context, all);
    programs_report *r;
    gpuopt_simplex_batch_report two = GPUOPT_INIT(gpuopt_simplex_batch_report);
    double x[3 * COLS], farkas[3 * ROWS];
    int32_t outcome[3] = {-1, -1, -1};
    (void)state;
    must(gpuopt_simplex_batch_iterate(many, INT64_MAX, NULL));
    r = programs_get(many, all);
    x[2 * COLS] = farkas[2 * ROWS] = 77;
    two.x = x, two.farkas = farkas, two.outcome = outcome;
    must(gpuopt_simplex_batch_get(many, GPUOPT_HOST, 5, 2, &two));
    assert_memory_equal(x, r->r.x + 5 * COLS, sizeof *x * 2 * COLS);
    assert_memory_equal(farkas, r->r.farkas + 5 * ROWS, sizeof *x * 2 * ROWS);
    assert_memory_equal(outcome, r->r.outcome + 5, sizeof *outcome * 2);
    assert_true(x[2 * COLS] == 77 && farkas[2 * ROWS] == 77 && outcome[2] == -1);
    must(gpuopt_simplex_batch_get(many, GPUOPT_HOST, COUNT, 0, &two));
    programs_report_free(r);
    gpuopt_simplex_batch_destroy(many);
    programs_free(all);
    gpuopt_context_destroy(context);
}

static void *on_device(const void *from, size_t bytes) {
    void *memory = test_device_allocate(bytes + 1);
    if (from && bytes) test_device_copy(memory, from, bytes);
    return memory;
}

/* The same bits as in host memory; faults there are found, too. */
static void device_memory(void **state) {
    test_host host;
    gpuopt_context *context;
    programs *all;
    gpuopt_simplex_batch *many;
    programs_report *here, *there;
    gpuopt_simplex_programs given;
    gpuopt_simplex_batch_report r = GPUOPT_INIT(gpuopt_simplex_batch_report);
    const double **const number[] = {&given.value, &given.cost, &given.lhs, &given.rhs, &given.lb, &given.ub};
    const double nan = NAN;
    void *block[20];
    size_t cols = sizeof(double) * COUNT * COLS, rows = sizeof(double) * COUNT * ROWS;
    int k = 0, array;
    (void)state;
    if (!test_on("cuda")) return;
    context = test_context(&host);
    all = some(6, 1);
    many = programs_create(context, all);
    must(gpuopt_simplex_batch_iterate(many, INT64_MAX, NULL));
    here = programs_get(many, all);
    there = programs_report_new(all, COUNT);
    given = all->p;
    for (array = 0; array < 6; array++) {
        const size_t length = array == 0 ? (size_t)all->nonzeros : array == 2 || array == 3 ? ROWS : COLS;
        *number[array] = block[k++] = on_device(all->number[array], sizeof(double) * COUNT * length);
    }
    must(gpuopt_simplex_batch_load(many, GPUOPT_DEVICE, &given));
    must(gpuopt_simplex_batch_iterate(many, INT64_MAX, NULL));
    r.outcome = block[k++] = on_device(NULL, sizeof(int32_t) * COUNT);
    r.iterations = block[k++] = on_device(NULL, sizeof(int32_t) * COUNT);
    r.objective = block[k++] = on_device(NULL, sizeof(double) * COUNT);
    r.x = block[k++] = on_device(NULL, cols), r.ray = block[k++] = on_device(NULL, cols);
    r.ray_low = block[k++] = on_device(NULL, cols), r.dual = block[k++] = on_device(NULL, rows);
    r.farkas = block[k++] = on_device(NULL, rows), r.farkas_low = block[k++] = on_device(NULL, rows);
    r.basis = block[k++] = on_device(NULL, COUNT * (ROWS + COLS));
    r.certainty = block[k++] = on_device(NULL, sizeof(int32_t) * COUNT);
    must(gpuopt_simplex_batch_get(many, GPUOPT_DEVICE, 0, COUNT, &r));
    test_device_copy(there->r.outcome, r.outcome, sizeof(int32_t) * COUNT);
    test_device_copy(there->r.iterations, r.iterations, sizeof(int32_t) * COUNT);
    test_device_copy(there->r.objective, r.objective, sizeof(double) * COUNT);
    test_device_copy(there->r.x, r.x, cols), test_device_copy(there->r.ray, r.ray, cols);
    test_device_copy(there->r.ray_low, r.ray_low, cols), test_device_copy(there->r.dual, r.dual, rows);
    test_device_copy(there->r.farkas, r.farkas, rows), test_device_copy(there->r.farkas_low, r.farkas_low, rows);
    test_device_copy(there->r.basis, r.basis, COUNT * (ROWS + COLS));
    test_device_copy(there->r.certainty, r.certainty, sizeof(int32_t) * COUNT);
    assert_true(programs_report_equal(all, here, 0, there, 0, COUNT));
    test_device_copy((double *)given.cost + 3, &nan, sizeof nan);
    REFUSED(ARGUMENT, "cost[3]", gpuopt_simplex_batch_load(many, GPUOPT_DEVICE, &given));
    while (k > 0) test_device_release(block[--k]);
    programs_report_free(here);
    programs_report_free(there);
    gpuopt_simplex_batch_destroy(many);
    programs_free(all);
    gpuopt_context_destroy(context);
}

/* ---- Memory ---- */

/* The plan is exact, and only _create takes memory. */
static void memory_is_planned(void **state) {
    static const int32_t copies[] = {COUNT, 100, 3000};
    int k;
    (void)state;
    for (k = 0; k < 6; k++) {
        test_host host;
        gpuopt_context *context = test_context(&host);
        programs *all = some(7, k & 1);
        gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
        gpuopt_simplex_batch *many;
        uint64_t before[2];
        long allocations, live;
        all->desc.batch_size = copies[k / 2];
        all->desc.shared = k & 1 ? 0 : GPUOPT_SHARED_LB | GPUOPT_SHARED_UB;
        before[0] = host.bytes[0], before[1] = host.bytes[1];
        live = host.live;
        must(gpuopt_simplex_batch_create(context, &all->desc, &plan, NULL));
        assert_int_equal(host.live, live);
        must(gpuopt_simplex_batch_create(context, &all->desc, NULL, &many));
        assert_int_equal(host.bytes[GPUOPT_HOST] - before[GPUOPT_HOST], plan.host_bytes);
        assert_int_equal(host.bytes[GPUOPT_DEVICE] - before[GPUOPT_DEVICE], plan.device_bytes);
        assert_true((plan.device_bytes > 0) == test_on("cuda"));
        allocations = host.allocations;
        test_forbid_allocation(1);
        must(gpuopt_simplex_batch_load(many, GPUOPT_HOST, &all->p));
        must(gpuopt_simplex_batch_iterate(many, INT64_MAX, NULL));
        test_forbid_allocation(0);
        assert_int_equal(host.allocations, allocations);
        gpuopt_simplex_batch_destroy(many);
        assert_int_equal(host.live, live);
        programs_free(all);
        gpuopt_context_destroy(context);
        assert_int_equal(host.live, 0);
    }
}

#ifdef TEST_WITH_CUDA
/* Tableaus beyond shared memory: the device holds one for each multiprocessor, since a block at work fills it. */
static void memory_of_large_tableaus(void **state) {
    gpuopt_context *context = test_context(NULL);
    gpuopt_simplex_batch_desc desc = GPUOPT_INIT(gpuopt_simplex_batch_desc);
    int32_t multiprocessors, k;
    uint64_t bytes[4];
    (void)state;
    assert_int_equal(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
    desc.rows = desc.cols = 300;
    for (k = 0; k < 4; k++) {
        gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
        const int32_t copies[] = {multiprocessors - 1, multiprocessors, 4 * multiprocessors, 5 * multiprocessors};
        desc.batch_size = copies[k];
        must(gpuopt_simplex_batch_create(context, &desc, &plan, NULL));
        bytes[k] = plan.device_bytes;
    }
    /* Beyond that number a copy takes only its own numbers, up to the alignment of arrays. */
    assert_true(llabs((int64_t)(bytes[2] - bytes[1]) - 3 * (int64_t)(bytes[3] - bytes[2])) < 65536);
    assert_true(bytes[1] - bytes[0] > sizeof(double) * 300 * 300 + (bytes[3] - bytes[2]) / (uint64_t)multiprocessors);
    gpuopt_context_destroy(context);
}
#endif

/* Wherever memory runs out, nothing is lost. */
static void memory_runs_out(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    programs *all = some(8, 1);
    long live, k;
    (void)state;
    live = host.live;
    for (k = 1;; k++) {
        gpuopt_simplex_batch *many = NULL;
        gpuopt_status status;
        host.fail_at = host.allocations + k;
        status = gpuopt_simplex_batch_create(context, &all->desc, NULL, &many);
        host.fail_at = 0;
        if (status == GPUOPT_OK) {
            gpuopt_simplex_batch_destroy(many);
            break;
        }
        assert_int_equal(status, GPUOPT_ERROR_MEMORY);
        assert_null(many);
        assert_int_equal(host.live, live);
    }
    assert_int_equal(k, test_on("cuda") ? 4 : 3);
    assert_int_equal(host.live, live);
    programs_free(all);
    gpuopt_context_destroy(context);
}

/* ---- The stop hook ---- */

static int asked;
static int stop_at_third(void *user) {
    (void)user;
    return ++asked == 3;
}

/* On the CPU the hook is called between programs; programs without a turn are solved by later calls. */
static void stop_between_programs(void **state) {
    gpuopt_context_desc desc = test_context_desc(NULL);
    gpuopt_context *context;
    programs *all = some(9, 0);
    gpuopt_simplex_batch *many;
    gpuopt_simplex_batch_info info = GPUOPT_INIT(gpuopt_simplex_batch_info);
    programs_report *before, *after;
    (void)state;
    desc.stop = stop_at_third;
    asked = 3;
    must(gpuopt_context_create(&desc, &context));
    many = programs_create(context, all);
    must(gpuopt_simplex_batch_iterate(many, INT64_MAX, &info));
    assert_int_equal(info.more, 0);
    before = programs_get(many, all);
    must(gpuopt_simplex_batch_load(many, GPUOPT_HOST, &all->p));
    asked = 0;
    must(gpuopt_simplex_batch_iterate(many, INT64_MAX, &info));
    if (test_on("cpu")) assert_int_equal(info.more, COUNT - 3);
    if (test_on("cuda")) assert_int_equal(asked, 0);
    must(gpuopt_simplex_batch_iterate(many, INT64_MAX, &info));
    assert_int_equal(info.more, 0);
    after = programs_get(many, all);
    assert_true(programs_report_equal(all, before, 0, after, 0, COUNT));
    programs_report_free(before);
    programs_report_free(after);
    gpuopt_simplex_batch_destroy(many);
    programs_free(all);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
#ifdef TEST_WITH_CUDA
    cmocka_unit_test(memory_of_large_tableaus),
#endif
    cmocka_unit_test(refused_descriptors),      cmocka_unit_test(refused_calls),
    cmocka_unit_test(parts_of_results),         cmocka_unit_test(device_memory),
    cmocka_unit_test(memory_is_planned),        cmocka_unit_test(memory_runs_out),
    cmocka_unit_test(stop_between_programs),
};

TEST_MAIN(tests)
