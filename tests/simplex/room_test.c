/* SPDX-License-Identifier: MIT
 *
 * Factors of a basis that outgrow the memory allocated at create. The programs are A x = A 1 with a random sparse
 * regular A that fills up when factored. So x = 1 is the only solution, and the optimum is the sum of the costs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/support/support.h"

enum { N = 600, EACH = 6 };

typedef struct program {
    int64_t start[N + 1];
    int32_t row[N * EACH];
    double value[N * EACH], side[N], cost[N], ub[N], optimum;
} program;

static program *new_program(void) {
    program *p = calloc(1, sizeof *p);
    uint64_t seed = 12;
    int32_t j, k;
    for (j = 0; j < N; j++) {
        uint8_t taken[N] = {0};
        p->start[j] = (int64_t)j * EACH;
        for (k = 0; k < EACH; k++) {
            int32_t i = k == 0 ? j : (int32_t)test_random_int(&seed, 0, N - 1);
            while (taken[i]) i = (i + 1) % N;
            taken[i] = 1;
            p->row[j * EACH + k] = i;
            p->value[j * EACH + k] = k == 0 ? 7 : (double)test_random_int(&seed, 1, 3);
            p->side[i] += p->value[j * EACH + k];
        }
        p->cost[j] = (double)test_random_int(&seed, -9, 9);
        p->ub[j] = 10;
        p->optimum += p->cost[j];
    }
    p->start[N] = (int64_t)N * EACH;
    return p;
}

static gpuopt_simplex_desc desc_of(const program *p) {
    gpuopt_simplex_desc desc = GPUOPT_INIT(gpuopt_simplex_desc);
    desc.matrix.rows = desc.matrix.cols = N;
    desc.matrix.layout = GPUOPT_LAYOUT_CSC;
    desc.matrix.start = p->start;
    desc.matrix.index = p->row;
    desc.matrix.value = p->value;
    desc.lhs = desc.rhs = p->side;
    desc.cost = p->cost;
    desc.ub = p->ub;
    desc.method = GPUOPT_METHOD_REVISED;
    desc.algorithm = GPUOPT_ALGORITHM_AUTO;
    return desc;
}

static void is_the_optimum(gpuopt_simplex *simplex, const program *p) {
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    double x[N];
    int32_t j;
    assert_int_equal(gpuopt_simplex_get_info(simplex, &info), GPUOPT_OK);
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    assert_true(fabs(info.objective - p->optimum) < 1e-6);
    assert_int_equal(
        gpuopt_simplex_get_solution(simplex, GPUOPT_HOST,
                                    &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = x}),
        GPUOPT_OK);
    for (j = 0; j < N; j++) assert_true(fabs(x[j] - 1) < 1e-9);
}

static void a_handle_takes_more_capacity(void **state) {
    program *p = new_program();
    gpuopt_simplex_desc desc = desc_of(p);
    test_host host;
    gpuopt_context *context = test_context(&host);
    gpuopt_simplex *simplex = NULL;
    long fails;
    (void)state;
    for (fails = 0; fails < 2; fails++) {
        const long live = host.live;
        long before;
        assert_int_equal(gpuopt_simplex_create(context, &desc, NULL, &simplex), GPUOPT_OK);
        before = host.allocations;
        host.fail_at = fails ? before + 1 : 0; /* the next run allocates once more */
        assert_int_equal(gpuopt_simplex_iterate(simplex, INT64_MAX, NULL), GPUOPT_OK);
        assert_true(host.allocations > before + fails); /* else this test tests nothing */
        assert_true(!fails || host.error[0]);
        host.fail_at = 0;
        is_the_optimum(simplex, p);
        gpuopt_simplex_destroy(simplex);
        assert_int_equal(host.live, live);
    }
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
    free(p);
}

static void a_basis_takes_more_capacity(void **state) {
    program *p = new_program();
    gpuopt_simplex_desc desc = desc_of(p);
    test_host host;
    gpuopt_context *context = test_context(&host);
    gpuopt_simplex *simplex = NULL;
    uint8_t wanted[2 * N], first[2 * N], now[2 * N];
    int32_t j;
    long before, tries;
    gpuopt_status status = GPUOPT_ERROR_MEMORY;
    (void)state;
    assert_int_equal(gpuopt_simplex_create(context, &desc, NULL, &simplex), GPUOPT_OK);
    assert_int_equal(gpuopt_simplex_get_basis(simplex, GPUOPT_HOST, first), GPUOPT_OK);
    for (j = 0; j < 2 * N; j++) wanted[j] = j < N ? GPUOPT_VARIABLE_BASIC : GPUOPT_VARIABLE_AT_LOWER;
    for (tries = 1; status == GPUOPT_ERROR_MEMORY; tries++) { /* nothing is lost */
        before = host.allocations;
        host.fail_at = before + tries;
        status = gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, wanted);
        assert_int_equal(gpuopt_simplex_get_basis(simplex, GPUOPT_HOST, now), GPUOPT_OK);
        assert_memory_equal(now, status ? first : wanted, sizeof now);
    }
    host.fail_at = 0;
    assert_int_equal(status, GPUOPT_OK);
    assert_true(tries > 3);
    assert_int_equal(gpuopt_simplex_iterate(simplex, INT64_MAX, NULL), GPUOPT_OK);
    is_the_optimum(simplex, p);
    gpuopt_simplex_destroy(simplex);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
    free(p);
}

/* Children begin at the activities' basis, and need separate factors, with more capacity than the root's. */
static void children_take_more_capacity(void **state) {
    program *p = new_program();
    gpuopt_simplex_desc desc = desc_of(p);
    gpuopt_simplex_children_desc batch_desc = GPUOPT_INIT(gpuopt_simplex_children_desc);
    gpuopt_simplex_child_list children = GPUOPT_INIT(gpuopt_simplex_child_list);
    gpuopt_simplex_child_report report = GPUOPT_INIT(gpuopt_simplex_child_report);
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    const int64_t start[4] = {0, 0, 0, 0};
    int32_t outcome[3], iterations[3], k;
    double objective[3];
    test_host host;
    gpuopt_context *context = test_context(&host);
    gpuopt_simplex *simplex = NULL;
    gpuopt_simplex_children *batch = NULL;
    long before;
    (void)state;
    batch_desc.batch_size = 3;
    batch_desc.pivots = 65536;
    children.count = 3;
    children.start = start;
    report.outcome = outcome;
    report.iterations = iterations;
    report.objective = objective;
    assert_int_equal(gpuopt_simplex_create(context, &desc, NULL, &simplex), GPUOPT_OK);
    assert_int_equal(gpuopt_simplex_children_create(simplex, &batch_desc, NULL, &batch), GPUOPT_OK);
    before = host.allocations;
    host.fail_at = before + 1;
    assert_int_equal(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &children, 65536, &report), GPUOPT_ERROR_MEMORY);
    host.fail_at = 0;
    assert_int_equal(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &children, 65536, &report), GPUOPT_OK);
    assert_true(host.allocations > before + 1);
    assert_int_equal(gpuopt_simplex_iterate(simplex, INT64_MAX, &info), GPUOPT_OK);
    for (k = 0; k < 3; k++) {
        assert_int_equal(outcome[k], GPUOPT_OPTIMAL);
        assert_true(fabs(objective[k] - p->optimum) < 1e-6);
        assert_int_equal(iterations[k], info.iterations);
    }
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(simplex);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
    free(p);
}

/* The caller refuses all memory: calls that need memory report this, nothing is lost, and all work continues once the
 * caller gives memory again. */
static void a_caller_may_have_none(void **state) {
    program *p = new_program();
    gpuopt_simplex_desc desc = desc_of(p);
    gpuopt_simplex_children_desc batch_desc = GPUOPT_INIT(gpuopt_simplex_children_desc);
    gpuopt_simplex_child_list children = GPUOPT_INIT(gpuopt_simplex_child_list);
    gpuopt_simplex_child_report report = GPUOPT_INIT(gpuopt_simplex_child_report);
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info), again = GPUOPT_INIT(gpuopt_simplex_info);
    const int64_t start[2] = {0, 0};
    int32_t outcome, iterations, j;
    double objective;
    test_host host;
    gpuopt_context *context = test_context(&host);
    gpuopt_simplex *simplex = NULL, *other = NULL;
    gpuopt_simplex_children *batch = NULL, *second = NULL;
    uint8_t wanted[2 * N], before[2 * N], now[2 * N];
    (void)state;
    batch_desc.batch_size = children.count = 1;
    batch_desc.pivots = 65536;
    children.start = start;
    report.outcome = &outcome;
    report.iterations = &iterations;
    report.objective = &objective;
    for (j = 0; j < 2 * N; j++) wanted[j] = j < N ? GPUOPT_VARIABLE_BASIC : GPUOPT_VARIABLE_AT_LOWER;
    assert_int_equal(gpuopt_simplex_create(context, &desc, NULL, &simplex), GPUOPT_OK);
    assert_int_equal(gpuopt_simplex_children_create(simplex, &batch_desc, NULL, &batch), GPUOPT_OK);
    test_deny_memory(&host, 1);
    test_refused(&host, gpuopt_simplex_create(context, &desc, NULL, &other), GPUOPT_ERROR_MEMORY, "memory");
    test_refused(&host, gpuopt_simplex_children_create(simplex, &batch_desc, NULL, &second), GPUOPT_ERROR_MEMORY,
                 "memory");
    assert_true(!other && !second);
    test_refused(&host, gpuopt_simplex_children_run(batch, GPUOPT_HOST, &children, 65536, &report), GPUOPT_ERROR_MEMORY,
                 "memory");
    test_refused(&host, gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, wanted), GPUOPT_ERROR_MEMORY, "memory");
    for (j = 0; j < 3; j++) { /* from the second time on where the first run ended */
        test_refused(&host, gpuopt_simplex_iterate(simplex, INT64_MAX, NULL), GPUOPT_ERROR_MEMORY, "memory");
        assert_int_equal(gpuopt_simplex_get_basis(simplex, GPUOPT_HOST, now), GPUOPT_OK);
        assert_int_equal(gpuopt_simplex_get_info(simplex, &again), GPUOPT_OK);
        if (j > 0) assert_memory_equal(now, before, sizeof now);
        if (j > 0) assert_int_equal(again.iterations, info.iterations);
        memcpy(before, now, sizeof now);
        info = again;
    }
    assert_true(info.iterations > 0 && info.outcome == GPUOPT_MORE);
    test_refused(&host, gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, wanted), GPUOPT_ERROR_MEMORY, "memory");
    assert_int_equal(gpuopt_simplex_get_basis(simplex, GPUOPT_HOST, now), GPUOPT_OK);
    assert_memory_equal(now, before, sizeof now);
    assert_true(test_deny_memory(&host, 0) > 8);
    assert_int_equal(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &children, 65536, &report), GPUOPT_OK);
    assert_int_equal(outcome, GPUOPT_OPTIMAL);
    assert_true(fabs(objective - p->optimum) < 1e-6);
    assert_int_equal(gpuopt_simplex_iterate(simplex, INT64_MAX, NULL), GPUOPT_OK);
    is_the_optimum(simplex, p);
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(simplex);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
    free(p);
}

/* One basis follows another by more pivots than fit beside the factors. The factors are then recomputed in between, and
 * the basis is not inverted from the beginning. */
static void more_pivots_than_fit(void **state) {
    enum { FIRST = 400, MORE = 21 };
    program *p = new_program();
    gpuopt_simplex_desc desc = desc_of(p);
    gpuopt_simplex_rules rules = GPUOPT_INIT(gpuopt_simplex_rules);
    gpuopt_simplex_info before = GPUOPT_INIT(gpuopt_simplex_info), after = GPUOPT_INIT(gpuopt_simplex_info);
    gpuopt_context *context = test_context(NULL);
    gpuopt_simplex *simplex = NULL;
    uint8_t basis[2 * N], found[2 * N];
    int32_t j, count;
    (void)state;
    desc.rules = &rules;
    rules.deferred_pivots = 4;
    assert_int_equal(gpuopt_simplex_create(context, &desc, NULL, &simplex), GPUOPT_OK);
    for (count = FIRST; count <= FIRST + MORE; count += MORE) {
        for (j = 0; j < 2 * N; j++)
            basis[j] = (j < N) == (j % N < count) ? GPUOPT_VARIABLE_BASIC : GPUOPT_VARIABLE_AT_LOWER;
        before = after;
        assert_int_equal(gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, basis), GPUOPT_OK);
        assert_int_equal(gpuopt_simplex_get_basis(simplex, GPUOPT_HOST, found), GPUOPT_OK);
        assert_memory_equal(found, basis, sizeof basis);
        assert_int_equal(gpuopt_simplex_get_info(simplex, &after), GPUOPT_OK);
    }
    assert_int_equal(after.refactorizations, before.refactorizations);
    assert_int_equal(gpuopt_simplex_iterate(simplex, INT64_MAX, NULL), GPUOPT_OK);
    is_the_optimum(simplex, p);
    gpuopt_simplex_destroy(simplex);
    gpuopt_context_destroy(context);
    free(p);
}

/* Stops at the fourth call: one thread calls the hook twice before the last child of three, and then before each child
 * that is solved again. */
static int stops(void *user) { return ++*(int *)user > 3; }

static void children_end_at_a_stop(void **state) {
    program *p = new_program();
    gpuopt_simplex_desc desc = desc_of(p);
    gpuopt_simplex_children_desc batch_desc = GPUOPT_INIT(gpuopt_simplex_children_desc);
    gpuopt_simplex_child_list children = GPUOPT_INIT(gpuopt_simplex_child_list);
    gpuopt_simplex_child_report report = GPUOPT_INIT(gpuopt_simplex_child_report);
    gpuopt_context_desc context_desc = test_context_desc(NULL);
    const int64_t start[4] = {0, 0, 0, 0};
    int32_t outcome[3], iterations[3];
    double objective[3];
    gpuopt_context *context;
    gpuopt_simplex *simplex = NULL;
    gpuopt_simplex_children *batch = NULL;
    int asked = 0;
    (void)state;
    context_desc.threads = 1;
    context_desc.user = &asked;
    context_desc.stop = stops;
    batch_desc.batch_size = 3;
    batch_desc.pivots = 65536;
    children.count = 3;
    children.start = start;
    report.outcome = outcome;
    report.iterations = iterations;
    report.objective = objective;
    assert_int_equal(gpuopt_context_create(&context_desc, &context), GPUOPT_OK);
    assert_int_equal(gpuopt_simplex_create(context, &desc, NULL, &simplex), GPUOPT_OK);
    assert_int_equal(gpuopt_simplex_children_create(simplex, &batch_desc, NULL, &batch), GPUOPT_OK);
    asked = 0;
    assert_int_equal(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &children, 65536, &report), GPUOPT_OK);
    assert_int_equal(outcome[0], GPUOPT_OPTIMAL);
    assert_true(fabs(objective[0] - p->optimum) < 1e-6);
    assert_int_equal(outcome[1], GPUOPT_MORE);
    assert_int_equal(outcome[2], GPUOPT_MORE);
    assert_int_equal(iterations[1], 0);
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(simplex);
    gpuopt_context_destroy(context);
    free(p);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handle_takes_more_capacity), cmocka_unit_test(a_basis_takes_more_capacity),
        cmocka_unit_test(children_take_more_capacity),  cmocka_unit_test(a_caller_may_have_none),
        cmocka_unit_test(more_pivots_than_fit),         cmocka_unit_test(children_end_at_a_stop),
    };
    return test_main(argc, argv, __FILE__, tests, sizeof tests / sizeof *tests);
}
