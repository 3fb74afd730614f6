/* SPDX-License-Identifier: MIT
 *
 * Matrices with explicit zeros and duplicates: every call that takes a matrix gives the bits of the tidied one, and
 * warns once. If the context requires it, the call refuses the matrix instead.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/contract/untidy.h"
#include "tests/contract/untidy_calls.h"

static int64_t nonzeros_of(const gpuopt_matrix *m) {
    return m->start[m->layout == GPUOPT_LAYOUT_CSR ? m->rows : m->cols];
}

static use used(gpuopt_context *context, test_host *host, int call, int option, const gpuopt_matrix *m, int fails) {
    use u = {context, host, m, option, fails, GPUOPT_OK, 0, {0}, 0};
    const long live = host->live;
    host->error[0] = host->warning[0] = 0;
    host->warnings = 0;
    untidy_calls[call].use(&u);
    assert_int_equal(host->live, live);
    return u;
}

static untidy drawn(int call, int layout, int with, double grain, uint64_t seed) {
    const int square = untidy_calls[call].square;
    return untidy_draw(square ? SQUARE : ROWS, square ? SQUARE : COLS, (gpuopt_layout)layout, PER_LINE, with, grain,
                       seed);
}

/* The bits of the tidied matrix, and one warning. Then again with every allocation failing once. */
static void check_use(int call, int option, const untidy *m) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    char want[256];
    use tidy, given, failing;
    int allocates;
    untidy_spare = nonzeros_of(&m->tidy);
    tidy = used(context, &host, call, option, &m->tidy, 0);
    assert_int_equal(tidy.status, GPUOPT_OK);
    assert_int_equal(host.warnings, 0);
    given = used(context, &host, call, option, &m->given, 0);
    if (given.status) fail_msg("%s: %s", untidy_calls[call].call, host.error);
    assert_int_equal(given.filled, tidy.filled);
    assert_memory_equal(given.out, tidy.out, sizeof tidy.out);
    allocates = m->zeros + m->duplicates > 0;
    assert_int_equal(host.warnings, allocates);
    if (allocates) {
        snprintf(want, sizeof want, "%s: zeros dropped: %d, duplicates summed: %d; %s", untidy_calls[call].call,
                 (int)m->zeros, (int)m->duplicates, m->place);
        assert_string_equal(host.warning, want);
    }
    failing = used(context, &host, call, option, &m->given, 1);
    assert_int_equal(failing.status, GPUOPT_OK);
    assert_true(failing.failed >= allocates);
    assert_memory_equal(failing.out, tidy.out, sizeof tidy.out);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

static void the_bits_of_the_tidied_matrix(void **state) {
    const int rounds = test_few() ? 1 : test_times(12, 3);
    int call, option, layout, with, round;
    (void)state;
    for (call = 0; call < UNTIDY_CALLS; call++)
        for (option = 0; option < untidy_calls[call].options; option++)
            for (layout = 0; layout < 2; layout++)
                for (with = 0; with <= (WITH_ZEROS | WITH_DUPLICATES); with++)
                    for (round = 0; round < rounds; round++) {
                        /* Sums of quarters are exact, so that FP32 causes no other warning. */
                        untidy m = drawn(call, layout, with, call < 2 && option ? 0.25 : 0.1, (uint64_t)round + 1);
                        check_use(call, option, &m);
                        untidy_free(&m);
                    }
}

/* The plan holds for the matrix as given, and the final handle is the tidied matrix's. */
static void check_plans(int simplex, int option, const untidy *m) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    gpuopt_memory_plan plan[3];
    int k;
    for (k = 0; k < 3; k++) {
        const gpuopt_matrix *a = k == 0 ? &m->tidy : &m->given;
        const gpuopt_propagator_desc model = untidy_propagator(a, option);
        const gpuopt_simplex_desc program = untidy_program(a, option);
        void *handle = NULL;
        long live = host.live;
        test_held before;
        plan[k] = GPUOPT_INIT(gpuopt_memory_plan);
        host.warnings = 0;
        if (k < 2) { /* during planning, or during creation */
            assert_int_equal(simplex ? gpuopt_simplex_create(context, &program, &plan[k], NULL)
                                     : gpuopt_propagator_create(context, &model, &plan[k], NULL),
                             GPUOPT_OK);
            assert_int_equal(host.live, live);
            assert_int_equal(host.warnings, k);
        }
        before = test_held_by(&host);
        assert_int_equal(
            simplex ? gpuopt_simplex_create(context, &program, k < 2 ? NULL : &plan[k], (gpuopt_simplex **)&handle)
                    : gpuopt_propagator_create(context, &model, k < 2 ? NULL : &plan[k], (gpuopt_propagator **)&handle),
            GPUOPT_OK);
        assert_int_equal(host.warnings, k == 0 ? 0 : k == 1 ? 2 : 1);
        if (k < 2) test_as_planned(&host, &before, &plan[k]);
        if (k < 2 && test_on("cpu"))
            assert_int_equal(host.peak[GPUOPT_HOST] - before.bytes[GPUOPT_HOST],
                             plan[k].host_bytes + plan[k].create_bytes);
        if (simplex) gpuopt_simplex_destroy(handle);
        else gpuopt_propagator_destroy(handle);
        assert_int_equal(host.live, live);
    }
    assert_memory_equal(&plan[1], &plan[2], sizeof plan[1]);
    assert_true(plan[0].host_bytes == plan[1].host_bytes && plan[0].device_bytes == plan[1].device_bytes);
    assert_true(plan[1].create_bytes > plan[0].create_bytes);
    gpuopt_context_destroy(context);
}

static void plans_are_exact(void **state) {
    int simplex, option, layout, with, large;
    (void)state;
    for (simplex = 0; simplex < 2; simplex++)
        for (option = 0; option < 2; option++)
            for (layout = 0; layout < 2; layout++)
                for (with = WITH_ZEROS; with <= (WITH_ZEROS | WITH_DUPLICATES); with++)
                    for (large = 0; large < 2; large++) {
                        untidy m =
                            untidy_draw(ROWS, COLS, (gpuopt_layout)layout, large ? 200 : PER_LINE,
                                        large ? with | WITH_DUPLICATES : with, !simplex && option ? 0.25 : 0.1, 7);
                        check_plans(simplex, option, &m);
                        untidy_free(&m);
                    }
}

/* ---- Refusals ---- */

static void a_strict_context_refuses(void **state) {
    test_host host;
    gpuopt_context *context = test_strict_context(&host);
    int call, layout, with;
    (void)state;
    for (call = 0; call < UNTIDY_CALLS; call++)
        for (layout = 0; layout < 2; layout++)
            for (with = WITH_ZEROS; with <= WITH_DUPLICATES; with++) {
                untidy m = drawn(call, layout, with, 0.1, 5);
                char place[64];
                use u;
                untidy_spare = nonzeros_of(&m.tidy);
                u = used(context, &host, call, 0, &m.given, 0);
                assert_int_equal(u.status, GPUOPT_ERROR_ARGUMENT);
                assert_int_equal(host.warnings, 0);
                assert_int_equal(strncmp(host.error, untidy_calls[call].call, strlen(untidy_calls[call].call)), 0);
                assert_non_null(strstr(host.error, with == WITH_ZEROS ? "is zero" : "comes twice"));
                snprintf(place, sizeof place, "[%d]", atoi(strchr(m.place, '[') + 1));
                assert_non_null(strstr(host.error, place));
                assert_int_equal(used(context, &host, call, 0, &m.tidy, 0).status, GPUOPT_OK);
                untidy_free(&m);
            }
    gpuopt_context_destroy(context);
}

/* Faults that tidying does not mend, behind a zero and a duplicate of line 0. */
static void faults_stay_faults(void **state) {
    static const struct {
        int32_t index;
        double value[2];
        const char *says;
    } fault[] = {
        {2, {NAN, 1}, "value[4] = "},          {2, {1, -INFINITY}, "value[5] = -inf"},
        {-1, {1, 1}, "index[4] = -1"},         {SQUARE, {1, 1}, "is not in 0.."},
        {2, {DBL_MAX, DBL_MAX}, "sum to inf"}, {2, {-DBL_MAX, -DBL_MAX}, "sum to -inf"},
    };
    test_host host;
    gpuopt_context *context = test_context(&host);
    int call, layout;
    size_t k;
    (void)state;
    for (call = 0; call < UNTIDY_CALLS; call++)
        for (layout = 0; layout < 2; layout++)
            for (k = 0; k < sizeof fault / sizeof *fault; k++) {
                int64_t start[SQUARE + 1] = {0, 3};
                const int32_t index[6] = {0, 0, 1, 1, fault[k].index, fault[k].index};
                const double value[6] = {0, 1, 0, 1, fault[k].value[0], fault[k].value[1]};
                const gpuopt_matrix m = {SQUARE, SQUARE, start, index, value, (gpuopt_layout)layout};
                const gpuopt_matrix none = {SQUARE, SQUARE, (const int64_t[SQUARE + 1]){0}, index, value, m.layout};
                int line;
                for (line = 2; line <= SQUARE; line++) start[line] = 6;
                untidy_spare = 6;
                assert_int_equal(used(context, &host, call, 0, &m, 0).status, GPUOPT_ERROR_ARGUMENT);
                if (!strstr(host.error, fault[k].says)) fail_msg("%s: '%s'", untidy_calls[call].call, host.error);
                assert_int_equal(strncmp(host.error, untidy_calls[call].call, strlen(untidy_calls[call].call)), 0);
                assert_int_equal(host.warnings, 0);
                if (!untidy_calls[call].square)
                    assert_int_equal(used(context, &host, call, 0, &none, 0).status, GPUOPT_OK);
            }
    gpuopt_context_destroy(context);
}

/* More than the spare nonzeros hold, even tidied. */
static void capacities_count_tidied_nonzeros(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int call, layout;
    (void)state;
    for (call = 0; call < UNTIDY_CALLS; call++)
        for (layout = 0; layout < 2 && strstr(untidy_calls[call].call, "_add_"); layout++) {
            untidy m = drawn(call, layout, WITH_ZEROS | WITH_DUPLICATES, 0.1, 9);
            untidy_spare = nonzeros_of(&m.tidy) - 1;
            assert_int_equal(used(context, &host, call, 0, &m.given, 0).status, GPUOPT_ERROR_MEMORY);
            untidy_free(&m);
        }
    gpuopt_context_destroy(context);
}

/* In single precision: numbers below its least normal one are refused, unless they are 0. */
static void single_precision(void **state) {
    static const double value[][3] = {{1, 1e-40, 0}, {1, FLT_MAX, FLT_MAX}, {3, 1, -1}};
    test_host host;
    gpuopt_context *context = test_context(&host);
    int k;
    (void)state;
    for (k = 0; k < 3; k++) {
        const int64_t start[] = {0, 3};
        const int32_t index[] = {0, 1, 1};
        const gpuopt_matrix m = {1, 2, start, index, value[k], GPUOPT_LAYOUT_CSR};
        assert_int_equal(used(context, &host, 0, GPUOPT_PRECISION_FP32, &m, 0).status,
                         k < 2 ? GPUOPT_ERROR_ARGUMENT : GPUOPT_OK);
        assert_int_equal(used(context, &host, 0, GPUOPT_PRECISION_FP64, &m, 0).status, GPUOPT_OK);
    }
    gpuopt_context_destroy(context);
}

static void the_option(void **state) {
    gpuopt_context_desc desc = test_context_desc(NULL);
    gpuopt_context *context;
    (void)state;
    desc.tidy_matrices = (gpuopt_switch)3;
    assert_int_equal(gpuopt_context_create(&desc, &context), GPUOPT_ERROR_ARGUMENT);
    assert_null(context);
    desc.tidy_matrices = GPUOPT_ON;
    assert_int_equal(gpuopt_context_create(&desc, &context), GPUOPT_OK);
    gpuopt_context_destroy(context);
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_bits_of_the_tidied_matrix, untidy_setup),
        cmocka_unit_test_setup(plans_are_exact, untidy_setup),
        cmocka_unit_test_setup(a_strict_context_refuses, untidy_setup),
        cmocka_unit_test_setup(faults_stay_faults, untidy_setup),
        cmocka_unit_test_setup(capacities_count_tidied_nonzeros, untidy_setup),
        cmocka_unit_test_setup(single_precision, untidy_setup),
        cmocka_unit_test(the_option),
    };
    return test_main(argc, argv, __FILE__, tests, sizeof tests / sizeof *tests);
}
