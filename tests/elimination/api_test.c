/* SPDX-License-Identifier: MIT
 *
 * The header's promises about each call's arguments: refusals, with messages that name the call, and without any
 * change; the ends of the ranges; structs of other versions.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "gpuopt/inference.h"
#include "tests/elimination/handle.h"

/* |x0 - x1| * 3 + |x1 - x2| * 5, and 4 for x0 = 0, 2 for x2 = 1: at x = (1, 1, 0) 5, at (0, 0, 0) 4, at (1, 1, 1) 2. */
typedef struct fixture {
    test_host host;
    gpuopt_context *context;
    model m;
    gpuopt_elimination_desc desc;
    gpuopt_elimination *elimination; /* with x2 as evidence, during it */
} fixture;

static const int32_t two[] = {0, 1}, last = 2;
enum { OPTIMUM = 2 };

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    f->context = test_context(&f->host);
    f->m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, 3, NULL);
    model_add_distance(&f->m, 0, 1, 3);
    model_add_distance(&f->m, 1, 2, 5);
    model_set(&f->m, model_add(&f->m, 1, (int32_t[]){0}, -1), 0, 4);
    model_set(&f->m, model_add(&f->m, 1, (int32_t[]){2}, -1), 1, 2);
    f->desc = model_desc(&f->m);
    f->desc.order = two;
    f->desc.order_count = 2;
    f->desc.evidence = &last;
    f->desc.evidence_count = 1;
    f->elimination = handle_create(f->context, &f->desc, &f->host);
    assert_int_equal(gpuopt_elimination_set_evidence(f->elimination, GPUOPT_HOST, 0, (int32_t[]){1}), GPUOPT_OK);
    assert_int_equal(gpuopt_elimination_step(f->elimination, 1, NULL), GPUOPT_OK);
    *state = f;
    return 0;
}

/* Refused calls have changed nothing: the handle still solves the model. */
static int teardown(void **state) {
    fixture *f = *state;
    gpuopt_elimination_info info = handle_info(f->elimination, 0);
    assert_int_equal(info.eliminated, 1);
    info = handle_finish(f->elimination, 1);
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    assert_int_equal(info.cost, OPTIMUM);
    gpuopt_elimination_destroy(f->elimination);
    gpuopt_context_destroy(f->context);
    assert_int_equal(f->host.live, 0);
    model_free(&f->m);
    free(f);
    return 0;
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

/* The call was refused with this status, and the log has these words. */
static void check(fixture *f, gpuopt_status found, gpuopt_status expected, const char *words) {
    test_refused(&f->host, found, expected, words);
}

static void check_desc(fixture *f, const gpuopt_elimination_desc *desc, gpuopt_status expected, const char *what) {
    gpuopt_elimination_estimate e = GPUOPT_INIT(gpuopt_elimination_estimate);
    int32_t order[3] = {7, 7, 7};
    long live = f->host.live;
    e.memory.host_bytes = 77;
    if (gpuopt_elimination_order(f->context, desc, order, NULL, &e) != expected) fail_msg("not refused: %s", what);
    check(f, expected, expected, "gpuopt_elimination_order");
    assert_true(e.memory.host_bytes == 77 && f->host.live == live);
    TEST_CREATE_REFUSED(elimination, &f->host, f->context, desc, expected, "gpuopt_elimination_create");
    assert_true(order[0] == 7 && order[1] == 7 && order[2] == 7);
}

/* ---- Descriptors ---- */

static void pointers(void **state) {
    fixture *f = *state;
    gpuopt_elimination *elimination = NULL;
    gpuopt_elimination_estimate e = GPUOPT_INIT(gpuopt_elimination_estimate);
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    int32_t order[3];
    check_desc(f, NULL, GPUOPT_ERROR_ARGUMENT, "NULL");
    check(f, gpuopt_elimination_create(f->context, &f->desc, NULL, NULL), GPUOPT_ERROR_ARGUMENT,
          "gpuopt_elimination_create");
    check(f, gpuopt_elimination_create(f->context, &f->desc, NULL, NULL), GPUOPT_ERROR_ARGUMENT,
          "gpuopt_elimination_create");
    assert_int_equal(gpuopt_elimination_create(NULL, &f->desc, NULL, &elimination), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_create(NULL, &f->desc, &plan, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_order(NULL, &f->desc, order, NULL, NULL), GPUOPT_ERROR_ARGUMENT);
    e.struct_size = plan.struct_size = 3;
    check(f, gpuopt_elimination_create(f->context, &f->desc, &plan, NULL), GPUOPT_ERROR_ARGUMENT,
          "gpuopt_elimination_create");
    check(f, gpuopt_elimination_order(f->context, &f->desc, NULL, NULL, &e), GPUOPT_ERROR_ARGUMENT,
          "gpuopt_elimination_order");
    gpuopt_elimination_destroy(NULL);
}

static void members(void **state) {
    fixture *f = *state;
    static const int32_t twice[] = {0, 0}, outside[] = {0, 3}, negative[] = {-1, 1}, zero[] = {2, 0, 2}, overlap = 1,
                         all[] = {0, 1, 2};
    const gpuopt_elimination_desc good = f->desc;
    gpuopt_elimination_desc d;
    /* clang-format off */
#define REFUSED(change) (d = good, change, check_desc(f, &d, GPUOPT_ERROR_ARGUMENT, #change))
    REFUSED(d.struct_size = 0);
    REFUSED(d.variables = -1);
    REFUSED(d.variables = INT32_MAX);
    REFUSED(d.domain = NULL);
    REFUSED(d.domain = zero);
    REFUSED(d.domain = negative);
    REFUSED(d.functions = -1);
    REFUSED(d.function = NULL);
    REFUSED(d.type = (gpuopt_elimination_cost)2);
    REFUSED(d.type = (gpuopt_elimination_cost)-1);
    REFUSED(d.semiring = (gpuopt_elimination_semiring)4);
    REFUSED(d.semiring = (gpuopt_elimination_semiring)-1);
    REFUSED(d.semiring = GPUOPT_SEMIRING_LOG_SUM_EXP); /* of INT64 */
    REFUSED(d.top = -1);
#define SEARCH(...) (d.order_search = &(gpuopt_elimination_order_search){sizeof *d.order_search, __VA_ARGS__})
    REFUSED(SEARCH(.heuristic = (gpuopt_elimination_heuristic)4));
    REFUSED(SEARCH(.restarts = -1));
    REFUSED(SEARCH(.seconds = -1));
    REFUSED(SEARCH(.seconds = 2e9));
    REFUSED(SEARCH(.seconds = nan("")));
    REFUSED(SEARCH(.work = -1));
    REFUSED(SEARCH(.seconds = 1)); /* this caller has no clock */
    REFUSED(SEARCH(.work = 1, .heuristic = GPUOPT_HEURISTIC_MIN_FILL));
    REFUSED(SEARCH(.seconds = 1, .heuristic = GPUOPT_HEURISTIC_MIN_DEGREE));
    REFUSED(d.order_search = &(gpuopt_elimination_order_search){.struct_size = 0});
#undef SEARCH
    REFUSED(d.policy = (gpuopt_elimination_policy)7);
    REFUSED(d.z = -1);
    REFUSED(d.order_count = -1);
    REFUSED((d.order = all, d.order_count = 3)); /* the evidence variable too */
    REFUSED(d.order = NULL);
    REFUSED(d.order = twice);
    REFUSED(d.order = outside);
    REFUSED(d.order = negative);
    REFUSED(d.evidence = NULL);
    REFUSED(d.evidence_count = -1);
    REFUSED(d.evidence = &overlap);
    REFUSED(d.evidence = &outside[1]);
    REFUSED((d.evidence = twice, d.evidence_count = 2, d.order_count = 0));
    REFUSED(d.batch_size = -1);
#define MEMORY(...) (d.memory = &(gpuopt_elimination_memory){sizeof *d.memory, __VA_ARGS__})
    REFUSED(MEMORY(.retain_messages = (gpuopt_switch)3));
    REFUSED((MEMORY(.retain_messages = GPUOPT_ON), d.policy = GPUOPT_POLICY_DROP));
    REFUSED((MEMORY(.retain_messages = GPUOPT_ON), d.policy = GPUOPT_POLICY_RECOMPUTE));
    REFUSED(d.memory = &(gpuopt_elimination_memory){.struct_size = 4});
#undef MEMORY
    REFUSED(d.messages = &(gpuopt_elimination_messages){.struct_size = 0});
#undef REFUSED
#define REFUSED(change) (d = good, change, check_desc(f, &d, GPUOPT_ERROR_UNSUPPORTED, #change))
    REFUSED((d.semiring = GPUOPT_SEMIRING_MIN_COUNT, d.policy = GPUOPT_POLICY_MINI_BUCKET));
    REFUSED((d.batch_size = 2, d.policy = GPUOPT_POLICY_SLICE));
    REFUSED((d.batch_size = 2, d.policy = GPUOPT_POLICY_STREAM));
#undef REFUSED
    /* clang-format on */
}

/* ---- Handles ---- */

static void handle_arguments(void **state) {
    fixture *f = *state;
    gpuopt_elimination *e = f->elimination;
    static const int32_t outside = 2, negative = -1;
    gpuopt_elimination_info info;
    gpuopt_elimination_message_info message;
    gpuopt_elimination_assignment assignment;
    int32_t value[3] = {0, 0, 0};
    gpuopt_device_view view = GPUOPT_INIT(gpuopt_device_view);
    int64_t bound[2];
    uint64_t size;
    gpuopt_desc_init(&info, sizeof info);
    gpuopt_desc_init(&message, sizeof message);
    gpuopt_desc_init(&assignment, sizeof assignment);
#define REFUSED(call, name) check(f, call, GPUOPT_ERROR_ARGUMENT, "gpuopt_elimination_" name)
    REFUSED(gpuopt_elimination_step(e, 0, &info), "step");
    REFUSED(gpuopt_elimination_step(e, -5, NULL), "step");
    REFUSED(gpuopt_elimination_get_info(e, 1, &info), "get_info");
    REFUSED(gpuopt_elimination_get_info(e, -1, &info), "get_info");
    REFUSED(gpuopt_elimination_get_info(e, 0, NULL), "get_info");
    REFUSED(gpuopt_elimination_set_evidence(e, GPUOPT_HOST, 0, &outside), "set_evidence");
    REFUSED(gpuopt_elimination_set_evidence(e, GPUOPT_HOST, 0, &negative), "set_evidence");
    REFUSED(gpuopt_elimination_set_evidence(e, GPUOPT_HOST, 1, value), "set_evidence");
    REFUSED(gpuopt_elimination_set_evidence(e, GPUOPT_HOST, 0, NULL), "set_evidence");
    REFUSED(gpuopt_elimination_assign(e, GPUOPT_HOST, 1, value, &assignment), "assign");
    REFUSED(gpuopt_elimination_assign(e, GPUOPT_HOST, 0, NULL, &assignment), "assign");
    REFUSED(gpuopt_elimination_message_get_info(e, -1, &message), "message_get_info");
    REFUSED(gpuopt_elimination_message_get_info(e, 2, &message), "message_get_info");
    REFUSED(gpuopt_elimination_message_get_info(e, 0, NULL), "message_get_info");
    REFUSED(gpuopt_elimination_message_get(e, GPUOPT_HOST, 2, 0, bound, NULL, NULL), "message_get");
    REFUSED(gpuopt_elimination_message_get(e, GPUOPT_HOST, 0, 1, bound, NULL, NULL), "message_get");
    REFUSED(gpuopt_elimination_message_get(e, GPUOPT_HOST, 0, 0, NULL, NULL, NULL), "message_get");
    REFUSED(gpuopt_elimination_message_pack(e, GPUOPT_HOST, 0, 0, NULL, 0, NULL), "message_pack");
    REFUSED(gpuopt_elimination_message_pack(e, GPUOPT_HOST, 0, 0, bound, 3, &size), "message_pack");
    REFUSED(gpuopt_elimination_message_pack(e, GPUOPT_HOST, 9, 0, NULL, 0, &size), "message_pack");
    REFUSED(gpuopt_elimination_message_device_view(e, 9, 0, &view), "message_device_view");
    REFUSED(gpuopt_elimination_get_bounds(e, GPUOPT_HOST, 0, 3, 0, 1, value, bound, NULL), "get_bounds");
    REFUSED(gpuopt_elimination_get_bounds(e, GPUOPT_HOST, 0, 2, 0, 1, value, bound, NULL),
            "get_bounds"); /* x2 is evidence */
    REFUSED(gpuopt_elimination_get_bounds(e, GPUOPT_HOST, 0, 0, 0, 1, NULL, bound, NULL), "get_bounds");
    REFUSED(gpuopt_elimination_get_bounds(e, GPUOPT_HOST, 0, 0, 0, 1, value, NULL, NULL), "get_bounds");
    info.struct_size = 4;
    REFUSED(gpuopt_elimination_step(e, 1, &info), "step");
    REFUSED(gpuopt_elimination_get_info(e, 0, &info), "get_info");
    message.struct_size = 4;
    REFUSED(gpuopt_elimination_message_get_info(e, 0, &message), "message_get_info");
#undef REFUSED
    assert_int_equal(gpuopt_elimination_step(NULL, 1, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_get_info(NULL, 0, &info), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_set_evidence(NULL, GPUOPT_HOST, 0, value), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_assign(NULL, GPUOPT_HOST, 0, value, &assignment), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_get_bounds(NULL, GPUOPT_HOST, 0, 0, 0, 1, value, bound, NULL),
                     GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_message_get(NULL, GPUOPT_HOST, 0, 0, bound, NULL, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_message_get_info(NULL, 0, &message), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_message_pack(NULL, GPUOPT_HOST, 0, 0, NULL, 0, &size), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_message_device_view(NULL, 0, 0, &view), GPUOPT_ERROR_ARGUMENT);
}

/* Features that a semiring or policy does not support. */
static void not_to_be_had(void **state) {
    fixture *f = *state;
    gpuopt_elimination_desc d = f->desc;
    gpuopt_elimination_assignment assignment;
    gpuopt_elimination *e;
    int32_t value[3] = {0, 0, 0};
    double bound[2];
    d.type = GPUOPT_COST_DOUBLE;
    d.semiring = GPUOPT_SEMIRING_LOG_SUM_EXP;
    d.functions = 0;
    e = handle_create(f->context, &d, &f->host);
    handle_finish(e, 2);
    gpuopt_desc_init(&assignment, sizeof assignment);
    check(f, gpuopt_elimination_assign(e, GPUOPT_HOST, 0, value, &assignment), GPUOPT_ERROR_UNSUPPORTED,
          "gpuopt_elimination_assign");
    check(f, gpuopt_elimination_get_bounds(e, GPUOPT_HOST, 0, 0, 0, 1, value, NULL, bound), GPUOPT_ERROR_UNSUPPORTED,
          "gpuopt_elimination_get_bounds");
    gpuopt_elimination_destroy(e);
}

/* The caller may change its arrays after create. */
static void input_is_copied(void **state) {
    fixture *f = *state;
    int32_t domain[3] = {2, 2, 2}, order[2] = {0, 1}, condition = 2, k, value[3];
    gpuopt_elimination_desc d = f->desc;
    gpuopt_elimination_function *g = malloc(4 * sizeof *g);
    gpuopt_elimination_assignment assignment;
    gpuopt_elimination *e;
    assert_non_null(g);
    memcpy(g, f->m.function, 4 * sizeof *g);
    d.domain = domain;
    d.order = order;
    d.evidence = &condition;
    d.function = g;
    e = handle_create(f->context, &d, &f->host);
    for (k = 0; k < 3; k++) domain[k] = -1;
    order[0] = order[1] = condition = -7;
    memset(g, 0xFF, 4 * sizeof *g);
    free(g);
    memset((void *)f->m.function[0].cost, 0x77, 4 * sizeof(int64_t));
    assert_int_equal(gpuopt_elimination_set_evidence(e, GPUOPT_HOST, 0, (int32_t[]){1}), GPUOPT_OK);
    assert_int_equal(handle_finish(e, 1).cost, OPTIMUM);
    gpuopt_desc_init(&assignment, sizeof assignment);
    assert_int_equal(gpuopt_elimination_assign(e, GPUOPT_HOST, 0, value, &assignment), GPUOPT_OK);
    assert_true(assignment.cost == OPTIMUM && value[0] == 1 && value[1] == 1 && value[2] == 1);
    gpuopt_elimination_destroy(e);
}

static const struct CMUnitTest tests[] = {
    TEST(pointers), TEST(members), TEST(handle_arguments), TEST(not_to_be_had), TEST(input_is_copied),
};
TEST_MAIN(tests)
