/* SPDX-License-Identifier: MIT
 *
 * A tableau shared by ranks, one of which errs: its arguments differ, its memory fails, its caller stops, it is late,
 * aborts, or its transport fails at each exchange. All ranks return a status within the time limit, and lose no memory.
 */
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/group/culprit.h"
#include "tests/group/script.h"
#include "tests/simplex/answer.h"

typedef struct work {
    const mip *m;
    const gpuopt_simplex_desc *desc;
    int wrong;
    long *allocations; /* of one create, for the test */
} work;

static gpuopt_simplex *make(rank *r) {
    const work *w = r->all->data;
    gpuopt_simplex_desc desc = *w->desc;
    gpuopt_simplex *simplex = NULL;
    desc.group = r->group;
    EXPECT(r, gpuopt_simplex_create(r->context, &desc, NULL, &simplex) == GPUOPT_OK);
    return simplex;
}

/* ---- Arguments that differ ---- */

enum { CALLS = 26 };

/* One of the calls; the culprit passes different arguments, or too little capacity. */
static gpuopt_status call(gpuopt_simplex *s, const mip *m, int which, int wrong) {
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    gpuopt_simplex_entering entering = GPUOPT_INIT(gpuopt_simplex_entering);
    gpuopt_simplex_leaving leaving = GPUOPT_INIT(gpuopt_simplex_leaving);
    gpuopt_simplex_candidate candidate[4];
    static const int32_t two[2] = {0, 1};
    const int32_t other[2] = {0, wrong ? 2 : 1};
    const double value[2] = {1, wrong ? 3 : 2}, more[2] = {4, 5};
    const size_t both = (size_t)m->columns.rows + (size_t)m->columns.cols;
    double *x = calloc(2 * both, sizeof *x), *none = wrong ? NULL : x;
    uint8_t *basis = calloc(both, 1);
    int32_t *list = calloc(both, sizeof *list), j, found;
    gpuopt_status status = GPUOPT_ERROR_STATE;
    for (j = m->columns.cols; j < (int32_t)both; j++) basis[j] = GPUOPT_VARIABLE_BASIC;
    if (wrong) basis[0] = GPUOPT_VARIABLE_AT_UPPER;
    if (wrong && which % 2) info.struct_size = 3;
    switch (which) {
    case 0: status = gpuopt_simplex_iterate(s, wrong ? 3 : 2, NULL); break;
    case 1: status = gpuopt_simplex_iterate(s, 2, &info); break;
    case 2: status = gpuopt_simplex_iterate(s, wrong ? 0 : 2, NULL); break;
    case 3: status = gpuopt_simplex_get_info(s, &info); break;
    case 4: status = gpuopt_simplex_rebuild(s, wrong, NULL); break;
    case 5: status = gpuopt_simplex_set_cutoff(s, wrong ? 1 : 2); break;
    case 6: status = gpuopt_simplex_get_bound(s, none); break;
    case 7: status = gpuopt_simplex_verify_basis(s, &info); break;
    case 8: status = gpuopt_simplex_price(s, wrong ? NULL : &entering); break;
    case 9: status = gpuopt_simplex_candidates(s, wrong ? 3 : 4, candidate, &found); break;
    case 10: status = gpuopt_simplex_ratio_test(s, wrong ? 1 : 0, 1, &leaving); break;
    case 11: status = gpuopt_simplex_pivot(s, 0, m->columns.cols, wrong, NULL); break;
    case 12: status = gpuopt_simplex_flip(s, wrong, NULL); break;
    case 13: status = gpuopt_simplex_set_basis(s, GPUOPT_HOST, basis); break;
    case 14: status = gpuopt_simplex_get_basis(s, GPUOPT_HOST, wrong ? NULL : basis); break;
    case 15:
        status = gpuopt_simplex_get_solution(
            s, GPUOPT_HOST,
            &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = x, .reduced_cost = none});
        break;
    case 16:
        status = gpuopt_simplex_get_solution(
            s, GPUOPT_HOST,
            &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x_low = x, .dual_low = none});
        break;
    case 17: status = gpuopt_simplex_get_basic_variables(s, GPUOPT_HOST, wrong ? NULL : list); break;
    case 18: x[1] = wrong, status = gpuopt_simplex_ftran(s, GPUOPT_HOST, 1, x); break;
    case 19: x[2] = wrong, status = gpuopt_simplex_btran(s, GPUOPT_HOST, 1, x); break;
    case 20: status = gpuopt_simplex_get_tableau_rows(s, GPUOPT_HOST, 1, other + 1, x); break;
    case 21: status = gpuopt_simplex_set_bounds(s, GPUOPT_HOST, 2, other, value, more); break;
    case 22: status = gpuopt_simplex_set_sides(s, GPUOPT_HOST, 2, two, value, more); break;
    case 23: status = gpuopt_simplex_set_costs(s, GPUOPT_HOST, 2 - wrong, two, value); break;
    case 24: status = gpuopt_simplex_set_bounds(s, wrong ? GPUOPT_DEVICE : GPUOPT_HOST, 0, NULL, NULL, NULL); break;
    case 25: status = wrong ? gpuopt_simplex_get_bound(s, x) : gpuopt_simplex_iterate(s, 1, NULL); break;
    }
    free(x), free(basis), free(list);
    return status;
}

/* Every such call is refused on all ranks, in the middle of solving, and does not affect the result. */
static void differs(rank *r) {
    const work *w = r->all->data;
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info), alone = GPUOPT_INIT(gpuopt_simplex_info);
    gpuopt_simplex *shared, *second, *own = NULL;
    int which;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    shared = make(r);
    second = make(r);
    EXPECT(r, gpuopt_simplex_create(r->context, w->desc, NULL, &own) == GPUOPT_OK);
    for (which = 0; which < CALLS && !r->fault[0]; which++) {
        EXPECT(r, call(shared, w->m, which, r->number == CULPRIT) == GPUOPT_ERROR_ARGUMENT);
        EXPECT(r, gpuopt_simplex_iterate(shared, 1, &info) == GPUOPT_OK);
        EXPECT(r, gpuopt_simplex_iterate(own, 1, &alone) == GPUOPT_OK);
        EXPECT(r, memcmp(&info, &alone, sizeof info) == 0);
        EXPECT(r, gpuopt_simplex_iterate(r->number == CULPRIT ? second : shared, 1, NULL) == GPUOPT_ERROR_ARGUMENT);
    }
    EXPECT(r, gpuopt_simplex_iterate(shared, 1000000, &info) == GPUOPT_OK);
    EXPECT(r, gpuopt_simplex_iterate(own, 1000000, &alone) == GPUOPT_OK);
    EXPECT(r, info.outcome == GPUOPT_OPTIMAL && memcmp(&info, &alone, sizeof info) == 0);
    gpuopt_simplex_destroy(shared);
    gpuopt_simplex_destroy(second);
    gpuopt_simplex_destroy(own);
}

/* Calls refused on all ranks alike, and calls that do not work with a group. */
static void is_refused(rank *r) {
    static const gpuopt_spare spare = {sizeof spare, 0, 1, 0};
    const work *w = r->all->data;
    gpuopt_simplex_desc desc = *w->desc;
    gpuopt_simplex_children_desc children = GPUOPT_INIT(gpuopt_simplex_children_desc);
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    gpuopt_context *context = test_context(NULL);
    gpuopt_simplex *simplex = NULL;
    gpuopt_simplex_children *batch = NULL;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    desc.group = r->group;
    EXPECT(r, gpuopt_simplex_create(context, &desc, NULL, &simplex) == GPUOPT_ERROR_ARGUMENT && !simplex);
    EXPECT(r, gpuopt_simplex_create(context, &desc, &plan, NULL) == GPUOPT_ERROR_ARGUMENT);
    gpuopt_context_destroy(context);
    desc.method = GPUOPT_METHOD_REVISED;
    EXPECT(r, gpuopt_simplex_create(r->context, &desc, NULL, &simplex) == GPUOPT_ERROR_UNSUPPORTED && !simplex);
    desc.method = GPUOPT_METHOD_TABLEAU;
    desc.algorithm = GPUOPT_ALGORITHM_DUAL;
    EXPECT(r, gpuopt_simplex_create(r->context, &desc, NULL, &simplex) == GPUOPT_ERROR_UNSUPPORTED && !simplex);
    desc.algorithm = GPUOPT_ALGORITHM_PRIMAL;
    desc.spare = &spare;
    EXPECT(r, gpuopt_simplex_create(r->context, &desc, NULL, &simplex) == GPUOPT_ERROR_UNSUPPORTED && !simplex);
    desc.spare = NULL;
    EXPECT(r, gpuopt_simplex_create(r->context, &desc, NULL, r->number == CULPRIT ? NULL : &simplex) ==
                  GPUOPT_ERROR_ARGUMENT);
    simplex = make(r);
    EXPECT(r, gpuopt_simplex_remove_rows(simplex, 0, NULL) == GPUOPT_ERROR_UNSUPPORTED);
    children.batch_size = 1;
    EXPECT(r, gpuopt_simplex_children_create(simplex, &children, NULL, &batch) == GPUOPT_ERROR_UNSUPPORTED && !batch);
    gpuopt_simplex_destroy(simplex);
}

/* ---- _create ---- */

static void errs_in_create(rank *r) {
    const work *w = r->all->data;
    gpuopt_simplex_desc desc = *w->desc;
    gpuopt_simplex_rules rules = rules_of(&desc);
    gpuopt_simplex *simplex = NULL;
    gpuopt_status expected = GPUOPT_ERROR_ARGUMENT;
    double *cost = malloc(sizeof *cost * (size_t)w->m->columns.cols);
    double *value = malloc(sizeof *value * (size_t)mip_nonzeros(w->m));
    const int is_culprit = r->number == CULPRIT;
    long before;
    memcpy(cost, w->m->cost, sizeof *cost * (size_t)w->m->columns.cols);
    memcpy(value, desc.matrix.value, sizeof *value * (size_t)mip_nonzeros(w->m));
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    desc.group = r->group;
    desc.rules = &rules;
    desc.cost = cost;
    desc.matrix.value = value;
    if (is_culprit) switch (w->wrong) {
        case 1: cost[1] += 1; break;
        case 2: value[3] += 1; break;
        case 3: rules.deferred_pivots = 5; break;
        case 4: rules.rebuild_pivots = -1; break;
        case 5: rules.pricing = GPUOPT_PRICING_DANTZIG; break;
        case 6: desc.ub = NULL; break;
        case 7: desc.offset = 1; break;
        case 8: desc.matrix.cols--; break;
        case 9: rules.seed = 1; break;
        }
    if (w->wrong >= 10) expected = GPUOPT_ERROR_MEMORY;
    if (w->wrong >= 10 && is_culprit) r->host.fail_at = r->host.allocations + w->wrong - 9;
    before = r->host.live;
    EXPECT(r, gpuopt_simplex_create(r->context, &desc, NULL, &simplex) == expected);
    EXPECT(r, !simplex && r->host.live == before);
    r->host.fail_at = 0;
    before = r->host.allocations;
    simplex = make(r);
    if (is_culprit) *w->allocations = r->host.allocations - before;
    gpuopt_simplex_destroy(simplex);
    free(cost), free(value);
}

/* ---- _set_basis, where memory fails ---- */

static void cannot_set_a_basis(rank *r) {
    const work *w = r->all->data;
    const size_t both = (size_t)w->m->columns.rows + (size_t)w->m->columns.cols;
    uint8_t *basis = calloc(both, 1), *near = calloc(both, 1);
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info), again = GPUOPT_INIT(gpuopt_simplex_info);
    gpuopt_simplex *simplex;
    int k;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    simplex = make(r);
    EXPECT(r, gpuopt_simplex_iterate(simplex, 20, NULL) == GPUOPT_OK);
    EXPECT(r, gpuopt_simplex_get_basis(simplex, GPUOPT_HOST, near) == GPUOPT_OK);
    EXPECT(r, gpuopt_simplex_iterate(simplex, 1, &info) == GPUOPT_OK);
    for (k = 0; k < (int)both; k++) basis[k] = k < w->m->columns.cols ? 1 : 0;
    for (k = 0; k < 2; k++) {
        const long live = r->host.live;
        if (r->number == CULPRIT) r->host.fail_at = r->host.allocations + 1;
        EXPECT(r, gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, k ? basis : near) == GPUOPT_ERROR_MEMORY);
        r->host.fail_at = 0;
        EXPECT(r, r->host.live == live);
        EXPECT(r, gpuopt_simplex_get_info(simplex, &again) == GPUOPT_OK);
        EXPECT(r, memcmp(&info, &again, sizeof info) == 0);
    }
    EXPECT(r, gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, near) == GPUOPT_OK);
    EXPECT(r, gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, basis) == GPUOPT_OK);
    EXPECT(r, gpuopt_simplex_iterate(simplex, 1000000, &info) == GPUOPT_OK && info.outcome == GPUOPT_OPTIMAL);
    gpuopt_simplex_destroy(simplex);
    free(basis), free(near);
}

/* ---- The stop hook ---- */

/* One rank's stop hook returns 1 at its second call: all ranks stop there. */
static void is_stopped(rank *r) {
    const work *w = r->all->data;
    culprit_context own;
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    gpuopt_simplex_desc desc = *w->desc;
    gpuopt_simplex_rules rules = rules_of(&desc);
    gpuopt_simplex *simplex = NULL;
    culprit_prepare(&own);
    culprit_stops(r, &own, 2);
    culprit_open(r, &own);
    desc.group = own.group;
    desc.rules = &rules;
    rules.rebuild_pivots = 5;
    EXPECT(r, gpuopt_simplex_create(own.context, &desc, NULL, &simplex) == GPUOPT_OK);
    EXPECT(r, gpuopt_simplex_iterate(simplex, 1000000, &info) == GPUOPT_OK);
    EXPECT(r, info.outcome == GPUOPT_MORE && info.iterations == 10);
    gpuopt_simplex_destroy(simplex);
    culprit_close(r, &own);
}

/* ---- Lost ranks ---- */

/* After some iterations the culprit gets lost. */
static void is_lost(rank *r) {
    const work *w = r->all->data;
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    gpuopt_simplex *simplex;
    double start;
    culprit_join(r, w->wrong);
    simplex = make(r);
    EXPECT(r, gpuopt_simplex_iterate(simplex, 7, &info) == GPUOPT_OK);
    if (culprit_gets_lost(r, w->wrong, &start)) {
        EXPECT(r, gpuopt_simplex_iterate(simplex, 7, &info) == GPUOPT_ERROR_PEER);
        EXPECT(r, gpuopt_simplex_get_info(simplex, &info) == GPUOPT_ERROR_PEER);
        culprit_noticed(r, start);
    }
    gpuopt_simplex_destroy(simplex);
}

/* The culprit's transport fails at exchange number `wrong`, wherever that is. */
static void loses_its_transport(rank *r) {
    const work *w = r->all->data;
    gpuopt_simplex_desc desc = *w->desc;
    double start;
    gpuopt_status status;
    script_log log = {0};
    rank_faulty f;
    status = culprit_join_faulty(r, w->wrong, &f, &start);
    desc.group = r->group;
    if (!status) status = script_run(r->context, &desc, 1, &log);
    script_free(&log);
    culprit_leave_faulty(r, status, start);
}

/* ---- The tests ---- */

static mip model;
static gpuopt_simplex_desc model_desc;

static void run(int ranks, void (*work_of)(rank *), int wrong, long *allocations) {
    const work w = {&model, &model_desc, wrong, allocations};
    ranks_run(ranks, work_of, &w);
}

static int set_up(void **state) {
    (void)state;
    model = model_load("plant:40:60:0.3:4");
    model_desc = tableau_desc(&model);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    mip_free(&model);
    return 0;
}

static void arguments_that_differ(void **state) {
    (void)state;
    run(2, differs, 0, NULL);
    run(4, differs, 0, NULL);
    run(2, is_refused, 0, NULL);
}

static void errors_in_create(void **state) {
    long allocations = 1;
    int wrong;
    (void)state;
    for (wrong = 1; wrong < 10 + allocations; wrong++) run(2 + wrong % 2, errs_in_create, wrong, &allocations);
    assert_true(allocations >= 2);
}

static void memory_for_a_basis(void **state) {
    (void)state;
    run(3, cannot_set_a_basis, 0, NULL);
}

static void stopped(void **state) {
    (void)state;
    run(3, is_stopped, 0, NULL);
}

static void lost(void **state) {
    int wrong;
    (void)state;
    for (wrong = 0; wrong < CULPRIT_WAYS; wrong++) run(3, is_lost, wrong, NULL);
}

static void transports_that_fail(void **state) {
    int k;
    (void)state;
    for (k = 0; k < 30; k += test_emulated() ? 4 : 1) run(3, loses_its_transport, k, NULL);
    for (; k < 600; k += test_emulated() ? 213 : 71) run(3, loses_its_transport, k, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(arguments_that_differ, set_up, tear_down),
    cmocka_unit_test_setup_teardown(errors_in_create, set_up, tear_down),
    cmocka_unit_test_setup_teardown(memory_for_a_basis, set_up, tear_down),
    cmocka_unit_test_setup_teardown(stopped, set_up, tear_down),
    cmocka_unit_test_setup_teardown(lost, set_up, tear_down),
    cmocka_unit_test_setup_teardown(transports_that_fail, set_up, tear_down),
};

TEST_MAIN(tests)
