/* SPDX-License-Identifier: MIT
 *
 * Memory of propagators with a trail and of their forks: it is planned exactly and may run out, and steps allocate
 * none.
 */
#include <math.h>
#include <stdlib.h>

#include "tests/propagate/tree.h"

typedef struct life {
    mip model;
    gpuopt_propagator_desc desc;
} life;

/* A life with all calls that may allocate. Stops at the first one that fails, and cleans up. */
static gpuopt_status whole_life(const gpuopt_context_desc *context_desc, const void *of) {
    const life *l = of;
    gpuopt_context *context = NULL, *other = NULL;
    gpuopt_propagator *p = NULL, *fork = NULL, *second = NULL;
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    int32_t row[2];
    gpuopt_status status = gpuopt_context_create(context_desc, &context);
    if (!status) status = gpuopt_context_create(context_desc, &other);
    if (!status) status = gpuopt_propagator_create(context, &l->desc, NULL, &p);
    if (!status) status = gpuopt_propagator_push(p, NULL);
    if (!status) status = gpuopt_propagator_add_rows(p, &l->model.matrix, l->model.lhs, l->model.rhs, row);
    if (!status) status = gpuopt_propagator_remove_rows(p, 2, row);
    if (!status) status = gpuopt_propagator_add_rows(p, &l->model.columns, l->model.lhs, l->model.rhs, row);
    if (p && status) { /* whatever was refused, the handle works */
        assert_int_equal(status, GPUOPT_ERROR_MEMORY);
        assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
        model_check_bounds(p, 3, model_small_lb, model_small_ub);
    }
    if (!status) status = gpuopt_propagator_round(p, 10, &info);
    if (!status) status = gpuopt_propagator_clone(p, other, &plan, NULL);
    if (!status) {
        fork = p;
        status = gpuopt_propagator_clone(p, other, NULL, &fork);
        if (status) assert_null(fork);
    }
    if (!status) status = gpuopt_propagator_clone(fork, context, NULL, &second);
    if (p && !status) {
        model_check_same_bounds(fork, p, 3);
        model_check_same_bounds(second, p, 3);
    }
    gpuopt_propagator_destroy(second);
    gpuopt_propagator_destroy(fork);
    gpuopt_propagator_destroy(p);
    gpuopt_context_destroy(other);
    gpuopt_context_destroy(context);
    return status;
}

static void check_memory_may_run_out(gpuopt_context *context, gpuopt_propagator_mode mode,
                                     gpuopt_propagator_precision precision) {
    life l = {.model = model_small()};
    (void)context;
    assert_int_equal(mip_columns(&l.model), 0);
    l.desc = tree_desc(&l.model, mode, precision);
    assert_true(test_runs_out(whole_life, &l) >= 5); /* contexts, create, forks */
    mip_free(&l.model);
}
TREE_TEST(memory_may_run_out)

static void check_plan_is_exact(gpuopt_context *unwatched, gpuopt_propagator_mode mode,
                                gpuopt_propagator_precision precision) {
    static const char *const generated[] = {"rand,300,200,12,7", "rand,300,200,40,7", "twolines"};
    uint64_t fork_bytes[3];
    int g;
    (void)unwatched;
    for (g = 0; g < 3; g++) {
        test_host host;
        gpuopt_context *context = test_context(&host);
        char error[128] = "";
        gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
        gpuopt_propagator_desc desc;
        gpuopt_propagator *p, *fork;
        uint64_t before = host.bytes[GPUOPT_HOST];
        mip m;
        if (mip_generate(generated[g], &m, error, sizeof error)) fail_msg("%s: %s", generated[g], error);
        desc = tree_desc(&m, mode, precision);
        desc.trail_capacity = 1000;
        assert_int_equal(gpuopt_propagator_create(context, &desc, &plan, NULL), GPUOPT_OK);
        assert_int_equal(host.bytes[GPUOPT_HOST], before);
        host.peak[GPUOPT_HOST] = before;
        p = problem_create(context, &desc);
        assert_int_equal(host.bytes[GPUOPT_HOST] - before, plan.host_bytes);
        assert_true(host.peak[GPUOPT_HOST] - before <= plan.host_bytes + plan.create_bytes);
        before = host.bytes[GPUOPT_HOST];
        plan = GPUOPT_INIT(gpuopt_memory_plan);
        assert_int_equal(gpuopt_propagator_clone(p, context, &plan, NULL), GPUOPT_OK);
        assert_int_equal(host.bytes[GPUOPT_HOST], before);
        host.peak[GPUOPT_HOST] = before;
        assert_int_equal(gpuopt_propagator_clone(p, context, NULL, &fork), GPUOPT_OK);
        assert_int_equal(host.bytes[GPUOPT_HOST] - before, plan.host_bytes);
        assert_true(host.peak[GPUOPT_HOST] - before <= plan.host_bytes + plan.create_bytes);
        fork_bytes[g] = plan.host_bytes;
        gpuopt_propagator_destroy(fork);
        assert_int_equal(host.bytes[GPUOPT_HOST], before);
        gpuopt_propagator_destroy(p);
        gpuopt_context_destroy(context);
        assert_int_equal(host.live, 0);
        mip_free(&m);
    }
    assert_int_equal(fork_bytes[0], fork_bytes[1]); /* the nonzeros are the original's */
}
TREE_TEST(plan_is_exact)

/* 64 bytes each, as in the descriptor. */
static void check_capacity_of_changes(gpuopt_context *context, gpuopt_propagator_mode mode,
                                      gpuopt_propagator_precision precision) {
    mip m = model_small();
    gpuopt_propagator_desc desc = tree_desc(&m, mode, precision);
    gpuopt_memory_plan few = GPUOPT_INIT(gpuopt_memory_plan), many = few;
    desc.trail_capacity = 10000;
    assert_int_equal(gpuopt_propagator_create(context, &desc, &few, NULL), GPUOPT_OK);
    desc.trail_capacity = 1010000;
    assert_int_equal(gpuopt_propagator_create(context, &desc, &many, NULL), GPUOPT_OK);
    assert_in_range(many.host_bytes - few.host_bytes, 63900000, 64100000);
    mip_free(&m);
}
TREE_TEST(capacity_of_changes)

static void check_steps_allocate_nothing(gpuopt_context *unwatched, gpuopt_propagator_mode mode,
                                         gpuopt_propagator_precision precision) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    mip m = model_small();
    gpuopt_propagator_desc desc = tree_desc(&m, mode, precision);
    gpuopt_propagator *original = problem_create(context, &desc), *fork;
    gpuopt_propagator_reason reason;
    int64_t premise[8], count, k;
    int32_t row[2], turn;
    long allocations;
    (void)unwatched;
    assert_int_equal(gpuopt_propagator_clone(original, context, NULL, &fork), GPUOPT_OK);
    allocations = host.allocations;
    for (turn = 0; turn < 6; turn++) {
        gpuopt_propagator *p = turn % 2 ? fork : original;
        tree_push(p);
        assert_int_equal(gpuopt_propagator_add_rows(p, &m.matrix, m.lhs, m.rhs, row), GPUOPT_OK);
        problem_round(p, 1);
        tree_push(p);
        tree_set(p, 0, 1, 2);
        problem_round(p, 10);
        free(tree_changes(p, 0, &count));
        for (k = 0; k < count; k++) assert_int_equal(tree_explain(p, k, &reason, premise, 8), GPUOPT_OK);
        tree_set(p, 2, 5, 4);
        problem_round(p, 10);
        assert_int_equal(tree_explain(p, -1, &reason, premise, 8), GPUOPT_OK);
        assert_int_equal(gpuopt_propagator_remove_rows(p, 2, row), GPUOPT_OK);
        tree_pop(p, 1);
        tree_trail(p);
        assert_int_equal(gpuopt_propagator_commit(p), GPUOPT_OK);
    }
    assert_int_equal(host.allocations, allocations);
    gpuopt_propagator_destroy(fork);
    gpuopt_propagator_destroy(original);
    gpuopt_context_destroy(context);
    mip_free(&m);
}
TREE_TEST(steps_allocate_nothing)

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(memory_may_run_out),
    cmocka_unit_test(plan_is_exact),
    cmocka_unit_test(capacity_of_changes),
    cmocka_unit_test(steps_allocate_nothing),
};
TEST_MAIN(tests)
