/* SPDX-License-Identifier: MIT
 *
 * The header's promises about arguments: refusals with a message that names the fault, without any change; structs of
 * other versions.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/answer.h"

/* max 3 x0 + 2 x1 - x2 + 10 with x0 + x1 + x2 <= 4, 1 <= x0 - x1 <= 2, x2 in [-1, 5], x1 <= 3: x = (3, 1, -1). The last
 * unit of row 0 goes to x1 and x0 alike: (3.5, 1.5, -1), 24.5. */
enum { ROWS = 2, COLS = 3, BOTH = ROWS + COLS };
static const double by_rows[] = {1, 1, 1, 1, -1, 0}, cost[] = {3, 2, -1}, rhs[] = {4, 2}, lhs[] = {-INFINITY, 1};
static const double lb[] = {0, 0, -1}, ub[] = {INFINITY, 3, 5};
static const double optimum = 24.5;

typedef struct fixture {
    test_host host;
    gpuopt_context *context;
    mip model;
    gpuopt_simplex_desc desc;
    gpuopt_simplex *simplex; /* after one iteration */
    answer before;
} fixture;

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    f->context = test_strict_context(&f->host);
    f->model = model_of(ROWS, COLS, by_rows, cost, lhs, rhs, lb, ub);
    f->model.maximize = 1;
    f->model.offset = 10;
    f->desc = tableau_desc(&f->model);
    f->simplex = simplex_create(f->context, &f->desc);
    assert_int_equal(simplex_iterate(f->simplex, 1).outcome, GPUOPT_MORE);
    assert_int_equal(gpuopt_simplex_rebuild(f->simplex, 0, NULL), GPUOPT_OK); /* asking rebuilds */
    f->before = answer_get(f->simplex, &f->model);
    *state = f;
    return 0;
}

/* Refused calls have changed nothing, and the handle still solves the model. */
static int teardown(void **state) {
    fixture *f = *state;
    answer after = answer_get(f->simplex, &f->model);
    gpuopt_simplex_info info;
    assert_true(answer_equal(&f->model, &f->before, &after));
    info = simplex_iterate(f->simplex, 100);
    assert_true(info.outcome == GPUOPT_OPTIMAL && fabs(info.objective - optimum) < 1e-12);
    answer_free(&after);
    answer_free(&f->before);
    gpuopt_simplex_destroy(f->simplex);
    gpuopt_context_destroy(f->context);
    assert_int_equal(f->host.live, 0);
    mip_free(&f->model);
    free(f);
    return 0;
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

/* The call was refused with this status, and the log has these words. */
static void check(fixture *f, gpuopt_status found, gpuopt_status expected, const char *words) {
    test_refused(&f->host, found, expected, words);
}

static void check_create(fixture *f, const gpuopt_simplex_desc *desc, const char *words) {
    TEST_CREATE_REFUSED(simplex, &f->host, f->context, desc, GPUOPT_ERROR_ARGUMENT, words);
}

/* ---- Descriptors ---- */

static void pointers(void **state) {
    fixture *f = *state;
    gpuopt_simplex *simplex;
    gpuopt_memory_plan plan;
    memset(&plan, 0, sizeof plan);
    check_create(f, NULL, "desc");
    check(f, gpuopt_simplex_create(f->context, &f->desc, NULL, NULL), GPUOPT_ERROR_ARGUMENT, "simplex");
    check(f, gpuopt_simplex_create(f->context, &f->desc, &plan, NULL), GPUOPT_ERROR_ARGUMENT, "struct_size");
    assert_int_equal(gpuopt_simplex_create(NULL, &f->desc, NULL, &simplex), GPUOPT_ERROR_ARGUMENT);
    gpuopt_desc_init(&plan, sizeof plan);
    assert_int_equal(gpuopt_simplex_create(NULL, &f->desc, &plan, NULL), GPUOPT_ERROR_ARGUMENT);
    gpuopt_simplex_destroy(NULL);
}

static void options(void **state) {
    fixture *f = *state;
    const gpuopt_simplex_desc good = f->desc;
    gpuopt_simplex_desc d;
    gpuopt_simplex_tolerances tolerances;
    gpuopt_simplex_rules rules;
    gpuopt_spare spare;
    double *const real[] = {&d.infinity, &tolerances.primal, &tolerances.dual, &tolerances.pivot};
    static const char *const name[] = {"infinity", "desc->tolerances->primal", "desc->tolerances->dual",
                                       "desc->tolerances->pivot"};
    static const double bad[4][5] = {
        {0.99, -1, NAN, 1e-300, -HUGE_VAL},
        {0.99e-12, 1.01e-3, -1e-9, NAN, HUGE_VAL},
        {0.99e-12, 1.01e-3, -1e-9, NAN, HUGE_VAL},
        {1, 2, -1e-9, NAN, HUGE_VAL},
    };
    int k, i;
#define BAD(text, ...)                                                                        \
    d = good, d.tolerances = &tolerances, d.rules = &rules, d.spare = &spare;                 \
    gpuopt_desc_init(&tolerances, sizeof tolerances), gpuopt_desc_init(&rules, sizeof rules); \
    gpuopt_desc_init(&spare, sizeof spare);                                                   \
    __VA_ARGS__;                                                                              \
    check_create(f, &d, text)
    for (k = 0; k < 4; k++)
        for (i = 0; i < 5; i++) {
            BAD(name[k], *real[k] = bad[k][i]);
        }
    BAD("desc->rules->deferred_pivots", rules.deferred_pivots = -1);
    BAD("desc->rules->deferred_pivots", rules.deferred_pivots = 257);
    BAD("desc->rules->rebuild_pivots", rules.rebuild_pivots = -1);
    BAD("iteration_limit", d.iteration_limit = -1);
    BAD("method", d.method = (gpuopt_simplex_method)3);
    BAD("method", d.method = (gpuopt_simplex_method)-1);
    BAD("algorithm", d.algorithm = (gpuopt_simplex_algorithm)3);
    BAD("desc->rules->pricing", rules.pricing = (gpuopt_simplex_pricing)3);
    BAD("desc->rules->dual_pricing", rules.dual_pricing = (gpuopt_simplex_dual_pricing)3);
    BAD("desc->rules->ratio", rules.ratio = (gpuopt_simplex_ratio)3);
    BAD("desc->rules->scaling", rules.scaling = (gpuopt_switch)3);
    BAD("desc->rules->perturbation", rules.perturbation = (gpuopt_switch)-1);
    BAD("desc->spare->rows", spare.rows = -1);
    BAD("desc->spare->cols", spare.cols = -1);
    BAD("desc->spare->nonzeros", spare.nonzeros = -1);
    BAD("gpuopt_simplex_tolerances: struct_size", tolerances.struct_size = sizeof(size_t) - 1);
    BAD("gpuopt_simplex_rules: struct_size", rules.struct_size = 0);
    BAD("gpuopt_spare: struct_size", spare.struct_size = 1);
#undef BAD
}

static void matrices(void **state) {
    fixture *f = *state;
    int64_t start[COLS + 1] = {0, 2, 4, 5};
    int32_t row[5] = {0, 1, 0, 1, 0};
    double val[5] = {1, 1, 1, -1, 1}, dense[ROWS * COLS] = {1, 1, 1, -1, 1, 0};
    gpuopt_simplex_desc good = f->desc, d;
    good.matrix.start = start;
    good.matrix.index = row;
    good.matrix.value = val;
    good.matrix.layout = GPUOPT_LAYOUT_CSC;
    d = good, d.matrix.rows = -1;
    check_create(f, &d, "rows");
    d = good, d.matrix.cols = -1;
    check_create(f, &d, "cols");
    d = good, d.matrix.index = NULL;
    check_create(f, &d, "matrix.index or matrix.value is NULL");
    d = good, d.matrix.value = NULL;
    check_create(f, &d, "matrix.index or matrix.value is NULL");
    d = good, d.matrix.start = NULL;
    check_create(f, &d, "matrix.start and dense are NULL");
    start[0] = 1;
    check_create(f, &good, "its first entry is not 0");
    start[0] = 0, start[2] = 1;
    check_create(f, &good, "matrix.start[2] = 1 is less than the start before it");
    start[2] = 4, row[3] = 0;
    check_create(f, &good, "column 1: row 0 comes twice, at index[3]");
    row[3] = ROWS;
    check_create(f, &good, "column 1: index[3] = 2 is not in 0..1");
    row[3] = -1;
    check_create(f, &good, "column 1: index[3] = -1 is not in 0..1");
    row[3] = 1, val[4] = 0;
    check_create(f, &good, "column 2: value[4] = 0 is zero");
    val[4] = NAN;
    check_create(f, &good, "not finite");
    val[4] = -INFINITY;
    check_create(f, &good, "not finite");
    d = good, d.matrix.start = NULL, d.dense = dense;
    dense[3] = NAN;
    check_create(f, &d, "dense[3]");
    dense[3] = INFINITY;
    check_create(f, &d, "dense[3]");
}

static void vectors(void **state) {
    static const double crossing[] = {0, 4, 0}, nan[] = {0, NAN, 0}, inf[] = {0, INFINITY, 0};
    static const double minus_inf[] = {0, -INFINITY, 0}, large[] = {0, 1e20, 0};
    fixture *f = *state;
    const gpuopt_simplex_desc good = f->desc;
    gpuopt_simplex_desc d;
    d = good, d.cost = nan;
    check_create(f, &d, "cost[1]");
    d = good, d.cost = inf;
    check_create(f, &d, "cost[1]");
    d = good, d.offset = NAN;
    check_create(f, &d, "offset");
    d = good, d.offset = -INFINITY;
    check_create(f, &d, "offset");
    d = good, d.lb = nan;
    check_create(f, &d, "lb[1]");
    d = good, d.lb = inf;
    check_create(f, &d, "lb[1]");
    d = good, d.ub = NULL, d.lb = large;
    check_create(f, &d, "lb[1]");
    d = good, d.ub = nan;
    check_create(f, &d, "ub[1]");
    d = good, d.ub = minus_inf;
    check_create(f, &d, "ub[1]");
    d = good, d.lhs = crossing;
    check_create(f, &d, "lhs[1] = 4 exceeds rhs[1] = 2");
    d = good, d.lhs = nan;
    check_create(f, &d, "lhs[1]");
    d = good, d.rhs = NULL, d.lhs = inf;
    check_create(f, &d, "lhs[1]");
    d = good, d.rhs = nan;
    check_create(f, &d, "rhs[1]");
    d = good, d.lhs = NULL, d.rhs = minus_inf;
    check_create(f, &d, "rhs[1]");
}

/* ---- Calls on a handle ---- */

static void iterating(void **state) {
    fixture *f = *state;
    gpuopt_simplex_info info, none;
    gpuopt_desc_init(&info, sizeof info);
    memset(&none, 0, sizeof none);
    check(f, gpuopt_simplex_iterate(f->simplex, 0, &info), GPUOPT_ERROR_ARGUMENT, "iterations");
    check(f, gpuopt_simplex_iterate(f->simplex, -5, NULL), GPUOPT_ERROR_ARGUMENT, "iterations");
    check(f, gpuopt_simplex_iterate(f->simplex, 1, &none), GPUOPT_ERROR_ARGUMENT, "struct_size");
    check(f, gpuopt_simplex_rebuild(f->simplex, 0, &none), GPUOPT_ERROR_ARGUMENT, "struct_size");
    check(f, gpuopt_simplex_get_info(f->simplex, &none), GPUOPT_ERROR_ARGUMENT, "struct_size");
    check(f, gpuopt_simplex_get_info(f->simplex, NULL), GPUOPT_ERROR_ARGUMENT, "info");
    assert_int_equal(gpuopt_simplex_iterate(NULL, 1, &info), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_rebuild(NULL, 1, &info), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_get_info(NULL, &info), GPUOPT_ERROR_ARGUMENT);
}

/* A basic and a nonbasic variable of the fixture's handle; the latter may go `direction`. */
static void find(const fixture *f, int *basic, int *nonbasic, int *direction) {
    int j;
    for (j = 0; j < BOTH; j++) {
        if (f->before.basis[j] == GPUOPT_VARIABLE_BASIC) *basic = j;
        else *nonbasic = j, *direction = f->before.basis[j] == GPUOPT_VARIABLE_AT_UPPER ? -1 : 1;
    }
}

static void parts(void **state) {
    fixture *f = *state;
    gpuopt_simplex *s = f->simplex;
    gpuopt_simplex_entering e, no_e;
    gpuopt_simplex_leaving l, no_l;
    gpuopt_simplex_info info, none;
    int basic = 0, nonbasic = 0, direction = 0;
    gpuopt_desc_init(&e, sizeof e);
    gpuopt_desc_init(&l, sizeof l);
    gpuopt_desc_init(&info, sizeof info);
    memset(&no_e, 0, sizeof no_e);
    memset(&no_l, 0, sizeof no_l);
    memset(&none, 0, sizeof none);
    find(f, &basic, &nonbasic, &direction);
    check(f, gpuopt_simplex_price(s, NULL), GPUOPT_ERROR_ARGUMENT, "entering");
    check(f, gpuopt_simplex_price(s, &no_e), GPUOPT_ERROR_ARGUMENT, "struct_size");
    check(f, gpuopt_simplex_ratio_test(s, nonbasic, direction, NULL), GPUOPT_ERROR_ARGUMENT, "leaving");
    check(f, gpuopt_simplex_ratio_test(s, nonbasic, direction, &no_l), GPUOPT_ERROR_ARGUMENT, "struct_size");
    check(f, gpuopt_simplex_ratio_test(s, nonbasic, 0, &l), GPUOPT_ERROR_ARGUMENT, "direction");
    check(f, gpuopt_simplex_ratio_test(s, nonbasic, 2, &l), GPUOPT_ERROR_ARGUMENT, "direction");
    check(f, gpuopt_simplex_ratio_test(s, nonbasic, -direction, &l), GPUOPT_ERROR_ARGUMENT, "direction");
    check(f, gpuopt_simplex_ratio_test(s, basic, 1, &l), GPUOPT_ERROR_ARGUMENT, "not nonbasic");
    check(f, gpuopt_simplex_ratio_test(s, -1, 1, &l), GPUOPT_ERROR_ARGUMENT, "not nonbasic");
    check(f, gpuopt_simplex_ratio_test(s, BOTH, 1, &l), GPUOPT_ERROR_ARGUMENT, "not nonbasic");
    check(f, gpuopt_simplex_pivot(s, basic, basic, 0, &info), GPUOPT_ERROR_ARGUMENT, "not nonbasic");
    check(f, gpuopt_simplex_pivot(s, nonbasic, nonbasic, 0, &info), GPUOPT_ERROR_ARGUMENT, "not basic");
    check(f, gpuopt_simplex_pivot(s, nonbasic, -1, 0, &info), GPUOPT_ERROR_ARGUMENT, "not basic");
    check(f, gpuopt_simplex_pivot(s, BOTH, basic, 0, &info), GPUOPT_ERROR_ARGUMENT, "not nonbasic");
    check(f, gpuopt_simplex_pivot(s, nonbasic, basic, 0, &none), GPUOPT_ERROR_ARGUMENT, "struct_size");
    check(f, gpuopt_simplex_flip(s, basic, &info), GPUOPT_ERROR_ARGUMENT, "not nonbasic");
    check(f, gpuopt_simplex_flip(s, BOTH, &info), GPUOPT_ERROR_ARGUMENT, "not nonbasic");
    check(f, gpuopt_simplex_flip(s, nonbasic, &none), GPUOPT_ERROR_ARGUMENT, "struct_size");
    assert_int_equal(gpuopt_simplex_price(NULL, &e), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_ratio_test(NULL, 0, 1, &l), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_pivot(NULL, 0, 3, 1, &info), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_flip(NULL, 0, &info), GPUOPT_ERROR_ARGUMENT);
}

/* Row 0 has no left-hand side and column 0 no upper bound; column 1 is fixed, column 2 free. */
static void bounds_that_are_not_there(void **state) {
    static const double low[] = {0, 2, -INFINITY}, high[] = {INFINITY, 2, INFINITY};
    fixture *f = *state;
    gpuopt_simplex_desc desc = f->desc;
    gpuopt_simplex *s;
    gpuopt_simplex_leaving l;
    gpuopt_simplex_info info;
    desc.lb = low;
    desc.ub = high;
    gpuopt_desc_init(&l, sizeof l);
    gpuopt_desc_init(&info, sizeof info);
    s = simplex_create(f->context, &desc);
    check(f, gpuopt_simplex_flip(s, 0, &info), GPUOPT_ERROR_ARGUMENT, "two different finite bounds");
    check(f, gpuopt_simplex_flip(s, 1, &info), GPUOPT_ERROR_ARGUMENT, "two different finite bounds");
    check(f, gpuopt_simplex_flip(s, 2, &info), GPUOPT_ERROR_ARGUMENT, "two different finite bounds");
    check(f, gpuopt_simplex_pivot(s, 0, COLS, 0, &info), GPUOPT_ERROR_ARGUMENT, "infinite");
    check(f, gpuopt_simplex_ratio_test(s, 1, 1, &l), GPUOPT_ERROR_ARGUMENT, "bound in that direction");
    check(f, gpuopt_simplex_ratio_test(s, 1, -1, &l), GPUOPT_ERROR_ARGUMENT, "bound in that direction");
    assert_int_equal(gpuopt_simplex_ratio_test(s, 2, 1, &l), GPUOPT_OK);
    assert_int_equal(gpuopt_simplex_ratio_test(s, 2, -1, &l), GPUOPT_OK);
    gpuopt_simplex_destroy(s);
}

static void bases_and_evidence(void **state) {
    fixture *f = *state;
    gpuopt_simplex *s = f->simplex;
    uint8_t basis[BOTH];
    double y[BOTH] = {7, 7, 7, 7, 7};
    int basic = 0, nonbasic = 0, direction = 0;
    find(f, &basic, &nonbasic, &direction);
    check(f, gpuopt_simplex_get_basis(s, GPUOPT_HOST, NULL), GPUOPT_ERROR_ARGUMENT, "status");
    check(f, gpuopt_simplex_set_basis(s, GPUOPT_HOST, NULL), GPUOPT_ERROR_ARGUMENT, "status");
    memcpy(basis, f->before.basis, sizeof basis);
    basis[nonbasic] = GPUOPT_VARIABLE_BASIC;
    check(f, gpuopt_simplex_set_basis(s, GPUOPT_HOST, basis), GPUOPT_ERROR_ARGUMENT, "3 variables are basic, not 2");
    basis[nonbasic] = 4;
    check(f, gpuopt_simplex_set_basis(s, GPUOPT_HOST, basis), GPUOPT_ERROR_ARGUMENT, "is not a constant of its enum");
    basis[nonbasic] = GPUOPT_VARIABLE_AT_LOWER, basis[basic] = GPUOPT_VARIABLE_AT_LOWER;
    check(f, gpuopt_simplex_set_basis(s, GPUOPT_HOST, basis), GPUOPT_ERROR_ARGUMENT, "1 variables are basic");
    check(f,
          gpuopt_simplex_get_proof(s, GPUOPT_HOST,
                                   &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .farkas = y}),
          GPUOPT_ERROR_STATE, "not INFEASIBLE");
    check(f,
          gpuopt_simplex_get_proof(s, GPUOPT_HOST,
                                   &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .ray = y}),
          GPUOPT_ERROR_STATE, "not UNBOUNDED");
    check(f, gpuopt_simplex_get_proof(s, GPUOPT_HOST, NULL), GPUOPT_ERROR_ARGUMENT, "NULL");
    check(f, gpuopt_simplex_get_proof(s, GPUOPT_HOST, &(gpuopt_simplex_proof){.struct_size = 3}), GPUOPT_ERROR_ARGUMENT,
          "struct_size");
    check(f, gpuopt_simplex_get_solution(s, GPUOPT_HOST, NULL), GPUOPT_ERROR_ARGUMENT, "NULL");
    assert_true(y[0] == 7 && y[4] == 7);
    assert_int_equal(gpuopt_simplex_get_basis(NULL, GPUOPT_HOST, basis), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_simplex_set_basis(NULL, GPUOPT_HOST, basis), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(
        gpuopt_simplex_get_solution(
            NULL, GPUOPT_HOST,
            &(gpuopt_simplex_solution){
                .struct_size = sizeof(gpuopt_simplex_solution), .x = y, .reduced_cost = y, .activity = y, .dual = y}),
        GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(
        gpuopt_simplex_get_proof(NULL, GPUOPT_HOST,
                                 &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .farkas = y}),
        GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(
        gpuopt_simplex_get_proof(NULL, GPUOPT_HOST,
                                 &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .ray = y}),
        GPUOPT_ERROR_ARGUMENT);
}

/* Each array of a solution by itself. */
static void part_of_a_solution(void **state) {
    fixture *f = *state;
    double vector[4][COLS], *const all[4] = {f->before.x, f->before.reduced_cost, f->before.activity, f->before.dual};
    int k;
    assert_int_equal(
        gpuopt_simplex_get_solution(f->simplex, GPUOPT_HOST,
                                    &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution)}),
        GPUOPT_OK);
    for (k = 0; k < 4; k++) {
        size_t count = k < 2 ? COLS : ROWS;
        assert_int_equal(
            gpuopt_simplex_get_solution(f->simplex, GPUOPT_HOST,
                                        &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution),
                                                                   .x = k == 0 ? vector[0] : NULL,
                                                                   .reduced_cost = k == 1 ? vector[1] : NULL,
                                                                   .activity = k == 2 ? vector[2] : NULL,
                                                                   .dual = k == 3 ? vector[3] : NULL}),
            GPUOPT_OK);
        assert_memory_equal(vector[k], all[k], count * sizeof(double));
    }
}

static const struct CMUnitTest tests[] = {
    TEST(pointers),
    TEST(options),
    TEST(matrices),
    TEST(vectors),
    TEST(iterating),
    TEST(parts),
    TEST(bounds_that_are_not_there),
    TEST(bases_and_evidence),
    TEST(part_of_a_solution),
};
TEST_MAIN(tests)
