/* SPDX-License-Identifier: MIT
 *
 * Functions and their costs: malformed functions are refused, with the function in the log; the ends of the ranges;
 * models of almost nothing.
 */
#include <math.h>
#include <string.h>

#include "tests/elimination/handle.h"

typedef struct fixture {
    test_host host;
    gpuopt_context *context;
    gpuopt_elimination_desc desc; /* two binary variables, as yet without functions */
} fixture;

static const int32_t binary[] = {2, 2};

static fixture begin(void) {
    fixture f;
    memset(&f, 0, sizeof f);
    gpuopt_desc_init(&f.desc, sizeof f.desc);
    f.desc.variables = 2;
    f.desc.domain = binary;
    return f;
}

static void refused(fixture *f, gpuopt_status expected, const char *words) {
    gpuopt_elimination *elimination = NULL;
    gpuopt_elimination_estimate e;
    long live = f->host.live;
    gpuopt_desc_init(&e, sizeof e);
    f->host.error[0] = 0;
    assert_int_equal(gpuopt_elimination_create(f->context, &f->desc, NULL, &elimination), expected);
    assert_null(elimination);
    assert_non_null(strstr(f->host.error, "gpuopt_elimination_create"));
    if (!strstr(f->host.error, words)) fail_msg("\"%s\" does not mention \"%s\"", f->host.error, words);
    assert_int_equal(gpuopt_elimination_order(f->context, &f->desc, NULL, NULL, &e), expected);
    assert_int_equal(gpuopt_elimination_order(f->context, &f->desc, NULL, NULL, NULL), expected);
    assert_int_equal(f->host.live, live);
}

/* ---- Functions ---- */

static void functions(void **state) {
    static const int32_t twice[] = {1, 1}, outside[] = {0, 2}, negative[] = {-1, 0}, scope[] = {0, 1};
    static const int32_t good_tuple[] = {0, 1}, bad_tuple[] = {0, 2}, negative_tuple[] = {-1, 0};
    static const int64_t cost[4] = {1, 2, 3, 4};
    static const uint64_t count[4] = {1, 1, 1, 1};
    const gpuopt_elimination_function good = {2, scope, -1, NULL, cost, NULL, 0, 0, NULL};
    const gpuopt_elimination_function list = {2, scope, 1, good_tuple, cost, NULL, 0, 0, NULL};
    gpuopt_elimination_function g[2];
    fixture f = begin();
    (void)state;
    f.context = test_context(&f.host);
    f.desc.functions = 2;
    f.desc.function = g;
    g[0] = good;
#define REFUSED(from, change) (g[1] = (from), change, refused(&f, GPUOPT_ERROR_ARGUMENT, "function 1"))
    REFUSED(good, g[1].arity = -1);
    REFUSED(good, g[1].arity = 3);
    REFUSED(good, g[1].scope = NULL);
    REFUSED(good, g[1].scope = twice);
    REFUSED(good, g[1].scope = outside);
    REFUSED(good, g[1].scope = negative);
    REFUSED(good, g[1].tuples = -2);
    REFUSED(list, g[1].tuples = -2);
    REFUSED(good, g[1].cost = NULL);
    REFUSED(good, g[1].count = count); /* not MIN_COUNT */
    REFUSED(list, g[1].tuple = NULL);
    REFUSED(list, g[1].tuple = bad_tuple);
    REFUSED(list, g[1].tuple = negative_tuple);
    REFUSED(list, g[1].cost = NULL);
    f.desc.semiring = GPUOPT_SEMIRING_MIN_COUNT;
    REFUSED(list, g[1].count = count); /* not dense */
#undef REFUSED
    gpuopt_context_destroy(f.context);
}

/* The description; its function 1 has no tuples, with `given` arrays (1: costs, 2: values, 4: a list's tuples). Costs
 * of the model's type alone are a table. A list's costs are refused, and so are costs of the other type. Without costs
 * the function equals its default, 3, everywhere. */
static void without_tuples(fixture *f, int given) {
    const double all = f->desc.semiring == GPUOPT_SEMIRING_LOG_SUM_EXP ? 3 + log(4) : 3;
    gpuopt_memory_plan plan;
    gpuopt_elimination *elimination;
    gpuopt_elimination_info info;
    gpuopt_desc_init(&plan, sizeof plan);
    if ((given & 3) && ((given & 4) || !(given & (f->desc.type == GPUOPT_COST_INT64 ? 1 : 2)))) {
        const char *const fault = given & 4 ? "function 1: tuples is 0" : "function 1: cost or value is NULL";
        refused(f, GPUOPT_ERROR_ARGUMENT, fault);
        assert_int_equal(gpuopt_elimination_create(f->context, &f->desc, &plan, NULL), GPUOPT_ERROR_ARGUMENT);
        assert_non_null(strstr(f->host.error, fault));
        return;
    }
    elimination = handle_create(f->context, &f->desc, &f->host);
    info = handle_finish(elimination, 9);
    gpuopt_elimination_destroy(elimination);
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    if (given & 3) { /* the table {5, 7, 6, 8}, of which a smaller arity reads the first */
        gpuopt_elimination_function *g = (gpuopt_elimination_function *)f->desc.function;
        gpuopt_elimination_info same;
        g[1].tuples = -1;
        elimination = handle_create(f->context, &f->desc, &f->host);
        same = handle_finish(elimination, 9);
        gpuopt_elimination_destroy(elimination);
        g[1].tuples = 0;
        assert_memory_equal(&same, &info, sizeof info);
        if (f->desc.type == GPUOPT_COST_INT64 && f->desc.semiring == GPUOPT_SEMIRING_MIN_SUM)
            assert_int_equal(info.cost, 5);
    } else if (f->desc.type == GPUOPT_COST_INT64) assert_int_equal(info.cost, 3);
    else assert_true(fabs(info.value - all) < 1e-12);
}

/* A table needs no tuples = -1; a list without its length is refused. */
static void costs_without_tuples(void **state) {
    static const int32_t scope[] = {0, 1}, tuple[] = {0, 1};
    static const int64_t cost[4] = {5, 7, 6, 8};
    static const double value[4] = {5, 7, 6, 8};
    gpuopt_elimination_function g[2];
    fixture f = begin();
    int semiring, arity, given;
    (void)state;
    f.context = test_context(&f.host);
    f.desc.functions = 2;
    f.desc.function = g;
    memset(g, 0, sizeof g);                      /* all zero: the constant 0 */
    for (semiring = 0; semiring < 6; semiring++) /* MIN_SUM and MAX_SUM with either type */
        for (arity = 0; arity <= 2; arity++)
            for (given = 0; given < 8; given++) { /* 1: costs, 2: values, 4: a list's tuples */
                f.desc.semiring = (gpuopt_elimination_semiring)(semiring % 4);
                f.desc.type = semiring > 3 || f.desc.semiring == GPUOPT_SEMIRING_LOG_SUM_EXP ? GPUOPT_COST_DOUBLE
                                                                                             : GPUOPT_COST_INT64;
                g[1].arity = arity;
                g[1].scope = scope;
                g[1].cost = given & 1 ? cost : NULL;
                g[1].value = given & 2 ? value : NULL;
                g[1].tuple = given & 4 ? tuple : NULL;
                g[1].default_cost = 3;
                g[1].default_value = 3;
                without_tuples(&f, given);
            }
    gpuopt_context_destroy(f.context);
}

static void reals(void **state) {
    static const gpuopt_elimination_semiring semiring[] = {GPUOPT_SEMIRING_MIN_SUM, GPUOPT_SEMIRING_MAX_SUM,
                                                           GPUOPT_SEMIRING_LOG_SUM_EXP};
    static const int32_t scope[] = {0}, tuple[] = {1};
    const double bad[3] = {NAN, HUGE_VAL, -HUGE_VAL};
    fixture f = begin();
    int s, k, way;
    (void)state;
    f.context = test_context(&f.host);
    f.desc.type = GPUOPT_COST_DOUBLE;
    f.desc.functions = 1;
    for (s = 0; s < 3; s++)
        for (k = 0; k < 3; k++)
            for (way = 0; way < 3; way++) { /* dense, in a list, its default */
                const double value[2] = {way == 1 ? bad[k] : 1, way == 0 ? bad[k] : 1};
                gpuopt_elimination_function g = {1, scope, -1, NULL, NULL, value, 0, 0, NULL};
                gpuopt_elimination *elimination;
                if (way > 0) {
                    g.tuples = 1;
                    g.tuple = tuple;
                    g.default_value = way == 2 ? bad[k] : 2;
                }
                f.desc.semiring = semiring[s];
                f.desc.function = &g;
                if (k == (s == 0 ? 1 : 2)) { /* the infinity that forbids */
                    elimination = handle_create(f.context, &f.desc, &f.host);
                    assert_int_equal(handle_finish(elimination, 3).outcome, GPUOPT_OPTIMAL);
                    gpuopt_elimination_destroy(elimination);
                } else {
                    refused(&f, GPUOPT_ERROR_ARGUMENT, "function 0");
                }
            }
    gpuopt_context_destroy(f.context);
}

static int64_t solved(const fixture *f) {
    gpuopt_elimination *elimination = handle_create(f->context, &f->desc, &f->host);
    gpuopt_elimination_info info = handle_finish(elimination, 9);
    gpuopt_elimination_destroy(elimination);
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    return info.cost;
}

/* Costs at the ends of int64: each function works alone. A sum of all that does not fit is refused, unless top is below
 * it. */
static void large_costs(void **state) {
    const int64_t half = (int64_t)1 << 62;
    static const int64_t fits[] = {INT64_MAX - 1, -INT64_MAX, INT64_MAX / 2, -INT64_MAX / 2, 0, -1};
    const int64_t up[] = {half, half}, down[] = {-half, -half}, wide[] = {-half - 1, half}, to[] = {0, half};
    static const int32_t scope[] = {0};
    fixture f = begin();
    gpuopt_elimination_function g[2];
    size_t k;
    int maximise;
    (void)state;
    f.context = test_context(&f.host);
    f.desc.function = g;
    for (maximise = 0; maximise < 2; maximise++) {
        f.desc.semiring = maximise ? GPUOPT_SEMIRING_MAX_SUM : GPUOPT_SEMIRING_MIN_SUM;
        f.desc.functions = 1;
        memset(g, 0, sizeof g);
        for (k = 0; k < sizeof fits / sizeof *fits; k++) {
            g[0].default_cost = maximise ? -fits[k] : fits[k];
            assert_true(solved(&f) == g[0].default_cost);
        }
        g[0] = g[1] = (gpuopt_elimination_function){1, scope, -1, NULL, wide, NULL, 0, 0, NULL};
        refused(&f, GPUOPT_ERROR_NUMERIC, "63 bits"); /* 2^63 + 1 apart */
        f.desc.functions = 2;
        g[0].cost = g[1].cost = up;
        refused(&f, GPUOPT_ERROR_NUMERIC, "63 bits");
        g[0].cost = g[1].cost = down;
        refused(&f, GPUOPT_ERROR_NUMERIC, "63 bits");
        g[0].cost = g[1].cost = to;
        refused(&f, GPUOPT_ERROR_NUMERIC, "63 bits");
    }
    f.desc.semiring = GPUOPT_SEMIRING_MIN_SUM;
    f.desc.top = half + 1;
    assert_true(solved(&f) == 0);
    gpuopt_context_destroy(f.context);
}

/* A message of the first two functions would exceed int64, but all three together do not. */
static void large_messages(void **state) {
    const int64_t quarter = (int64_t)1 << 61;
    const int64_t first[] = {quarter, 3 * quarter - 1}, second[] = {quarter - 2, 3 * quarter - 3};
    static const int32_t scope[] = {0};
    const gpuopt_elimination_function g[] = {{1, scope, -1, NULL, first, NULL, 0, 0, NULL},
                                             {1, scope, -1, NULL, second, NULL, 0, 0, NULL},
                                             {0, NULL, 0, NULL, NULL, NULL, 1 - 2 * quarter, 0, NULL}};
    fixture f = begin();
    (void)state;
    f.context = test_context(&f.host);
    f.desc.functions = 3;
    f.desc.function = g;
    refused(&f, GPUOPT_ERROR_NUMERIC, "63 bits");
    gpuopt_context_destroy(f.context);
}

/* ---- Almost nothing ---- */

static void empty_models(void **state) {
    static const int32_t ones[] = {1, 1, 1};
    gpuopt_context *context = test_context(NULL);
    int32_t variables, semiring, constant;
    (void)state;
    for (variables = 0; variables <= 3; variables++)
        for (semiring = 0; semiring < 4; semiring++)
            for (constant = 0; constant < 3; constant++) { /* without, finite, forbidden */
                gpuopt_elimination_cost type =
                    semiring == GPUOPT_SEMIRING_LOG_SUM_EXP ? GPUOPT_COST_DOUBLE : GPUOPT_COST_INT64;
                model m = model_make(type, (gpuopt_elimination_semiring)semiring, variables, ones);
                gpuopt_elimination_desc desc;
                gpuopt_elimination_function *g;
                int32_t used[MODEL_VARIABLES];
                answer a;
                brute b;
                if (constant) {
                    g = model_add(&m, 0, NULL, 0);
                    g->default_cost = constant == 1 ? 12 : semiring == GPUOPT_SEMIRING_MAX_SUM ? INT64_MIN : INT64_MAX;
                    g->default_value = constant == 1 ? 12 : -HUGE_VAL;
                }
                desc = model_desc(&m);
                a = handle_answer(context, &desc, NULL, 1, used);
                b = brute_force(&m, used, variables, NULL, NULL);
                must_not(answer_fault(&m, &b, &a, 1), &m, 0);
                model_free(&m);
            }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(functions),   cmocka_unit_test(costs_without_tuples), cmocka_unit_test(reals),
    cmocka_unit_test(large_costs), cmocka_unit_test(large_messages),       cmocka_unit_test(empty_models),
};
TEST_MAIN(tests)
