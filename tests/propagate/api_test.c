/* SPDX-License-Identifier: MIT
 *
 * The promises of the calls to any caller. Bad arguments are refused with a reason and change nothing. Structs of other
 * versions are read and written within their size, and names and versions are the header's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/propagate/model.h"

/* ---- Refusals ---- */

/* Numbers that are not allowed in these places; 1e20 is infinite by default. */
enum { VAL, LHS, RHS, LB, UB };
static const struct bad_number {
    const char *named;
    int array, index;
    double value;
} bad_number[] = {
    {"value[2]", VAL, 2, 0},         {"value[2]", VAL, 2, NAN},    {"value[1]", VAL, 1, INFINITY},
    {"value[1]", VAL, 1, -INFINITY}, {"lhs[1]", RHS, 1, 0.5},      {"lhs[1]", LHS, 1, NAN},
    {"rhs[0]", RHS, 0, NAN},         {"lhs[1]", LHS, 1, INFINITY}, {"rhs[0]", RHS, 0, -INFINITY},
    {"lhs[1]", LHS, 1, 1e20},        {"lb[2]", LB, 2, NAN},        {"ub[1]", UB, 1, NAN},
    {"lb[2]", LB, 2, INFINITY},      {"ub[1]", UB, 1, -INFINITY},  {"ub[2]", UB, 2, -1e20},
};

/* Tolerances outside of their ranges. */
#define MEMBER(name) "desc->tolerances->" #name " =", offsetof(gpuopt_propagator_tolerances, name)
static const struct bad_member {
    const char *named;
    size_t offset;
    double value[3];
} bad_member[] = {
    {MEMBER(feasibility), {-1e-6, NAN, 0.2}}, {MEMBER(integrality), {-1, NAN, 0.5}},
    {MEMBER(least_change), {-1, NAN, 2e9}},   {MEMBER(least_change_relative), {-1, NAN, 1.5}},
    {MEMBER(huge_value), {1e200, NAN, 0.5}},
};
enum { NUMBERS = sizeof bad_number / sizeof *bad_number, MEMBERS = 3 * sizeof bad_member / sizeof *bad_member };

/* Inserts one fault; returns the expected words of the message, or NULL after the last fault. t: the tolerances of the
 * descriptor. */
static const char *spoil(int fault, mip *m, gpuopt_propagator_desc *d, gpuopt_propagator_tolerances *t) {
    double *array[] = {(double *)m->matrix.value, m->lhs, m->rhs, m->lb, m->ub};
    int64_t *start = (int64_t *)m->matrix.start;
    int32_t *col = (int32_t *)m->matrix.index;
    if (fault < NUMBERS) {
        const struct bad_number *bad = &bad_number[fault];
        return array[bad->array][bad->index] = bad->value, bad->named;
    }
    fault -= NUMBERS;
    if (fault < MEMBERS) {
        const struct bad_member *bad = &bad_member[fault / 3];
        memcpy((char *)t + bad->offset, &bad->value[fault % 3], sizeof(double));
        return bad->named;
    }
    switch (fault - MEMBERS) {
    case 0: return d->matrix.rows = -1, "matrix.rows";
    case 1: return d->matrix.cols = -1, "matrix.cols";
    case 2: return d->matrix.start = NULL, "matrix.start";
    case 3: return start[0] = 1, "first entry";
    case 4: return start[1] = 5, "start[2]"; /* it is less than the start before it */
    case 5: return col[3] = 3, "index[3]";
    case 6: return col[2] = -1, "index[2]";
    case 7: return col[3] = 1, "column 1";
    case 8: return d->matrix.index = NULL, "matrix.index";
    case 9: return d->matrix.value = NULL, "matrix.value";
    case 10: return d->infinity = 0.5, "infinity =";
    case 11: return d->infinity = NAN, "infinity =";
    case 12: return d->round_limit = -1, "round_limit";
    case 13: return d->precision = (gpuopt_propagator_precision)2, "precision";
    case 14: return d->mode = (gpuopt_propagator_mode)-1, "mode";
    case 15: return d->driver = (gpuopt_propagator_driver)4, "driver";
    case 16: return d->marking = (gpuopt_switch)3, "marking";
    case 17: return d->struct_size = 0, "struct_size";
    case 18: return d->struct_size = 4, "struct_size";
    case 19: return t->struct_size = 0, "gpuopt_propagator_tolerances: struct_size";
    case 20: return t->struct_size = 4, "gpuopt_propagator_tolerances: struct_size";
    case 21: return t->relative_integers = (gpuopt_switch)3, "desc->tolerances->relative_integers";
    default: return NULL;
    }
}

static void check_create_refuses(model_host *h, const gpuopt_propagator_desc *desc, gpuopt_status want,
                                 const char *named, int fault) {
    gpuopt_propagator *p = (gpuopt_propagator *)h; /* not NULL */
    gpuopt_memory_plan plan, untouched;
    gpuopt_status status;
    long live = h->host.live;
    h->host.error[0] = 0;
    status = gpuopt_propagator_create(h->context, desc, NULL, &p);
    if (status != want) fail_msg("fault %d: create gives %s", fault, gpuopt_status_string(status));
    assert_null(p);
    assert_int_equal(h->host.live, live);
    if (!strstr(h->host.error, "gpuopt_propagator_create") || !strstr(h->host.error, named))
        fail_msg("fault %d: '%s' does not name the call and '%s'", fault, h->host.error, named);
    memset(&plan, 0xAB, sizeof plan);
    plan.struct_size = sizeof plan;
    untouched = plan;
    h->host.error[0] = 0;
    assert_int_equal(gpuopt_propagator_create(h->context, desc, &plan, NULL), want);
    assert_memory_equal(&plan, &untouched, sizeof plan);
    assert_int_equal(h->host.live, live);
    assert_non_null(strstr(h->host.error, "gpuopt_propagator_create"));
    model_check_context(h->context);
}

static void create_refuses_bad_input(void **state) {
    model_host *h = *state;
    const char *named = "";
    int fault;
    gpuopt_context_destroy(h->context);
    h->context = test_strict_context(&h->host);
    for (fault = 0; named; fault++) {
        mip m = model_small();
        gpuopt_propagator_desc desc = mip_propagator_desc(&m);
        gpuopt_propagator_tolerances tolerances = GPUOPT_INIT(gpuopt_propagator_tolerances);
        desc.tolerances = &tolerances;
        named = spoil(fault, &m, &desc, &tolerances);
        if (named) check_create_refuses(h, &desc, GPUOPT_ERROR_ARGUMENT, named, fault);
        mip_free(&m);
    }
    assert_int_equal(fault, NUMBERS + MEMBERS + 22 + 1); /* the last one is no fault */
}

/* Within 64 of 2^31: refused before any array is read. */
static void create_refuses_too_many_rows_or_columns(void **state) {
    model_host *h = *state;
    int k;
    for (k = 0; k < 4; k++) {
        gpuopt_propagator_desc desc = h->desc;
        *(k < 2 ? &desc.matrix.rows : &desc.matrix.cols) = INT32_MAX - (k % 2 ? 63 : 0);
        check_create_refuses(h, &desc, GPUOPT_ERROR_UNSUPPORTED, k < 2 ? "rows" : "cols", k);
    }
}

/* Single precision cannot represent them: 1e39 is above its largest number, 1e-39 below its least normal one. */
static void create_refuses_coefficients_beyond_single_precision(void **state) {
    static const double beyond[] = {1e39, -1e39, 1e-39};
    model_host *h = *state;
    int k;
    for (k = 0; k < 3; k++) {
        ((double *)h->model.matrix.value)[3] = beyond[k];
        h->desc.precision = GPUOPT_PRECISION_FP64;
        gpuopt_propagator_destroy(problem_create(h->context, &h->desc)); /* double precision can */
        h->desc.precision = GPUOPT_PRECISION_FP32;
        check_create_refuses(h, &h->desc, GPUOPT_ERROR_ARGUMENT, "value[3]", k);
    }
}

static void sequential_is_supported_on_the_cpu_with_marking_alone(void **state) {
    model_host *h = *state;
    gpuopt_propagator *p = (gpuopt_propagator *)h;
    h->desc.mode = GPUOPT_MODE_GAUSS_SEIDEL;
    h->desc.marking = GPUOPT_OFF;
    check_create_refuses(h, &h->desc, GPUOPT_ERROR_UNSUPPORTED, "GAUSS_SEIDEL", 0);
    h->desc.marking = GPUOPT_ON;
    if (test_on("cuda")) {
        h->host.error[0] = 0;
        assert_int_equal(gpuopt_propagator_create(h->context, &h->desc, NULL, &p), GPUOPT_ERROR_UNSUPPORTED);
        assert_null(p);
        assert_non_null(strstr(h->host.error, "GAUSS_SEIDEL"));
        model_check_context(h->context);
    } else {
        model_check_works(h->context, &h->desc);
    }
}

/* The next test has the other refusals of a handle. */
static void null_arguments(void **state) {
    const gpuopt_status bad = GPUOPT_ERROR_ARGUMENT;
    model_host *h = *state;
    gpuopt_context *other = NULL;
    gpuopt_propagator *p = problem_create(h->context, &h->desc), *none = NULL;
    gpuopt_propagator_info info = {.struct_size = sizeof info};
    gpuopt_memory_plan plan = {.struct_size = sizeof plan};
    gpuopt_propagator_row_report report = {.struct_size = sizeof report};
    gpuopt_device_view view = {.struct_size = sizeof view};
    double x[3] = {0, 0, 0};
    int32_t index[1] = {0};
    gpuopt_propagator_destroy(NULL);
    gpuopt_context_destroy(NULL);
    gpuopt_desc_init(NULL, 64);
    assert_non_null(gpuopt_backend_name(NULL));
    assert_int_equal(gpuopt_context_wait(NULL), bad);
    assert_int_equal(gpuopt_context_create(NULL, NULL), bad);
    assert_int_equal(gpuopt_propagator_tolerances_tune(NULL, GPUOPT_SETTINGS_SCIP), bad);
    assert_int_equal(gpuopt_propagator_create(NULL, &h->desc, &plan, NULL), bad);
    assert_int_equal(gpuopt_propagator_create(NULL, &h->desc, NULL, &none), bad);
    assert_int_equal(gpuopt_propagator_create(h->context, NULL, NULL, &none), bad);
    assert_null(none);
    assert_int_equal(gpuopt_propagator_round(NULL, 1, &info), bad);
    assert_int_equal(gpuopt_propagator_get_info(NULL, &info), bad);
    assert_int_equal(gpuopt_propagator_get_bounds(NULL, GPUOPT_HOST, 0, NULL, x, x), bad);
    assert_int_equal(gpuopt_propagator_set_bounds(NULL, GPUOPT_HOST, 0, NULL, x, x), bad);
    assert_int_equal(gpuopt_propagator_get_bounds(NULL, GPUOPT_HOST, 1, index, x, x), bad);
    assert_int_equal(gpuopt_propagator_set_bounds(NULL, GPUOPT_HOST, 1, index, x, x), bad);
    assert_int_equal(gpuopt_propagator_set_sides(NULL, GPUOPT_HOST, 1, index, x, x), bad);
    assert_int_equal(gpuopt_propagator_get_rows(NULL, GPUOPT_HOST, &report), bad);
    assert_int_equal(gpuopt_propagator_device_view(NULL, &view), bad);
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, NULL, x, x), bad);
    assert_int_equal(gpuopt_propagator_set_sides(p, GPUOPT_HOST, 1, NULL, x, x), bad);
    assert_int_equal(gpuopt_propagator_set_sides(p, GPUOPT_HOST, 1, index, NULL, x), bad);
    assert_int_equal(gpuopt_propagator_set_sides(p, GPUOPT_HOST, 1, index, x, NULL), bad);
    /* Leaving out one side is allowed, and so is a count of 0. */
    assert_int_equal(gpuopt_propagator_get_bounds(p, GPUOPT_HOST, 0, NULL, NULL, NULL), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 0, NULL, NULL, NULL), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 0, NULL, NULL, NULL), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_get_bounds(p, GPUOPT_HOST, 0, NULL, NULL, NULL), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_set_sides(p, GPUOPT_HOST, 0, NULL, NULL, NULL), GPUOPT_OK);
    model_check_fixpoint(p);
    gpuopt_propagator_destroy(p);
    assert_int_equal(gpuopt_context_create(NULL, &other), GPUOPT_OK); /* the CPU, malloc, no log */
    model_check_context(other);
    h->model.lb[0] = NAN;
    assert_int_equal(gpuopt_propagator_create(other, &h->desc, NULL, &none), bad);
    gpuopt_context_destroy(other);
}

/* Every call that has a context logs why it refuses. */
#define REFUSED(want, call)                                                                            \
    do {                                                                                               \
        gpuopt_status refused_status;                                                                  \
        h->host.error[0] = 0;                                                                          \
        refused_status = (call);                                                                       \
        if (refused_status != (want)) fail_msg("%s: %s", #call, gpuopt_status_string(refused_status)); \
        if (!h->host.error[0]) silent++, print_error("not logged: %s\n", #call);                       \
    } while (0)

static void every_refusal_is_logged(void **state) {
    const gpuopt_status bad = GPUOPT_ERROR_ARGUMENT;
    model_host *h = *state;
    gpuopt_propagator *p = problem_create(h->context, &h->desc), *none;
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info), sizeless_info = {0};
    gpuopt_memory_plan plan = {.struct_size = sizeof plan}, sizeless_plan = {0};
    gpuopt_propagator_row_report report = {.struct_size = sizeof report}, sizeless_report = {0};
    gpuopt_device_view sizeless_view = {0};
    double x[3] = {0, 0, 0};
    int32_t out[1] = {3};
    int silent = 0;
    REFUSED(bad, gpuopt_propagator_round(p, 0, &info));
    REFUSED(bad, gpuopt_propagator_round(p, -1, NULL));
    REFUSED(bad, gpuopt_propagator_round(p, 1, &sizeless_info));
    model_check_fixpoint(p);
    REFUSED(bad, gpuopt_propagator_get_info(p, &sizeless_info));
    REFUSED(bad, gpuopt_propagator_get_info(p, NULL));
    REFUSED(bad, gpuopt_propagator_create(h->context, &h->desc, &sizeless_plan, NULL));
    REFUSED(bad, gpuopt_propagator_create(h->context, &h->desc, NULL, NULL));
    REFUSED(bad, gpuopt_propagator_create(h->context, NULL, &plan, NULL));
    REFUSED(bad, gpuopt_propagator_create(h->context, NULL, NULL, &none));
    REFUSED(bad, gpuopt_propagator_create(h->context, &h->desc, NULL, NULL));
    REFUSED(bad, gpuopt_propagator_get_rows(p, GPUOPT_HOST, &sizeless_report));
    REFUSED(bad, gpuopt_propagator_get_rows(p, GPUOPT_HOST, NULL));
    REFUSED(bad, gpuopt_propagator_get_rows(p, (gpuopt_memory_space)2, &report));
    REFUSED(bad, gpuopt_propagator_device_view(p, &sizeless_view));
    REFUSED(bad, gpuopt_propagator_device_view(p, NULL));
    REFUSED(bad, gpuopt_propagator_get_bounds(p, (gpuopt_memory_space)2, 0, NULL, x, x));
    REFUSED(bad, gpuopt_propagator_set_bounds(p, (gpuopt_memory_space)-1, 0, NULL, x, x));
    REFUSED(bad, gpuopt_propagator_get_bounds(p, GPUOPT_HOST, 1, NULL, x, x));
    REFUSED(bad, gpuopt_propagator_get_bounds(p, GPUOPT_HOST, 1, out, x, x));
    REFUSED(bad, gpuopt_propagator_set_bounds(p, GPUOPT_HOST, -1, out, x, x));
    REFUSED(bad, gpuopt_propagator_set_sides(p, GPUOPT_HOST, 1, out, x, x));
    REFUSED(bad, gpuopt_propagator_set_sides(p, GPUOPT_HOST, 1, out, NULL, x));
    REFUSED(bad, gpuopt_propagator_set_sides(p, (gpuopt_memory_space)2, 0, NULL, NULL, NULL));
    gpuopt_propagator_destroy(p);
    if (silent) fail_msg("%d refusals were not logged", silent);
}

static void context_refuses_bad_descriptors(void **state) {
    static const char *const named[] = {"threads", "allocate", "allocate", "",
                                        ""}; /* without a size the log hook is not known */
    test_host host;
    gpuopt_context_desc good = test_context_desc(&host), desc;
    gpuopt_context *context;
    int fault;
    (void)state;
    for (fault = 0; fault < 5; fault++) {
        desc = good;
        if (fault == 0) desc.threads = -1;
        if (fault == 1) desc.allocate = NULL;
        if (fault == 2) desc.release = NULL;
        if (fault >= 3) desc.struct_size = fault == 3 ? 0 : 4;
        host.error[0] = 0;
        context = (gpuopt_context *)&host;
        assert_int_equal(gpuopt_context_create(&desc, &context), GPUOPT_ERROR_ARGUMENT);
        assert_null(context);
        assert_int_equal(host.live, 0);
        assert_non_null(strstr(host.error, named[fault]));
    }
    assert_int_equal(gpuopt_context_create(&good, &context), GPUOPT_OK);
    assert_int_equal(gpuopt_context_wait(context), GPUOPT_OK);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* ---- Structs of other versions ---- */

enum { BLOCK = 256, PAINT = 0xAB };

static void check_paint(const unsigned char *block, size_t from) {
    for (; from < BLOCK; from++) assert_int_equal(block[from], PAINT);
}

/* ---- Names ---- */

static void names_and_versions(void **state) {
    const char *name[14];
    _Alignas(16) unsigned char block[BLOCK];
    gpuopt_context_desc desc = test_context_desc(NULL);
    size_t size = 32;
    int i, j;
    (void)state;
    for (i = 0; i <= 7; i++) name[i] = gpuopt_status_string((gpuopt_status)-i);
    for (i = 0; i <= 5; i++) name[8 + i] = gpuopt_outcome_string((gpuopt_outcome)i);
    for (i = 0; i < 14; i++) {
        assert_true(name[i] && name[i][0]);
        for (j = i < 8 ? 0 : 8; j < i; j++) assert_string_not_equal(name[i], name[j]);
    }
    assert_true(gpuopt_status_string((gpuopt_status)99) && gpuopt_status_string((gpuopt_status)-99));
    assert_true(gpuopt_outcome_string((gpuopt_outcome)99) && gpuopt_outcome_string((gpuopt_outcome)-1));
    assert_int_equal(gpuopt_version_number(), GPUOPT_VERSION_NUMBER);
    assert_string_equal(gpuopt_backend_name(gpuopt_backend_cpu()), "cpu");
    if (test_on("cuda")) assert_string_equal(gpuopt_backend_name(desc.backend), "cuda");
    memset(block, PAINT, BLOCK);
    gpuopt_desc_init(block, size);
    assert_memory_equal(block, &size, sizeof size);
    for (i = (int)sizeof size; i < (int)size; i++) assert_int_equal(block[i], 0);
    check_paint(block, size);
}

static const struct CMUnitTest tests[] = {
    MODEL_TEST(create_refuses_bad_input),
    MODEL_TEST(create_refuses_too_many_rows_or_columns),
    MODEL_TEST(create_refuses_coefficients_beyond_single_precision),
    MODEL_TEST(sequential_is_supported_on_the_cpu_with_marking_alone),
    MODEL_TEST(null_arguments),
    MODEL_TEST(every_refusal_is_logged),
    cmocka_unit_test(context_refuses_bad_descriptors),
    cmocka_unit_test(names_and_versions),
};
TEST_MAIN(tests)
