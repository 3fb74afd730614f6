/* SPDX-License-Identifier: MIT
 *
 * The number of optimal assignments, where it is known in closed form, up to the last that 64 bits hold and beyond.
 */
#include <string.h>

#include "tests/elimination/handle.h"

static gpuopt_elimination_info solve(gpuopt_context *context, const model *m) {
    gpuopt_elimination_desc desc = model_desc(m);
    gpuopt_elimination *elimination = handle_create(context, &desc, NULL);
    gpuopt_elimination_info info = handle_finish(elimination, 1000);
    gpuopt_elimination_destroy(elimination);
    return info;
}

static model counted(int32_t variables, const int32_t *domain) {
    return model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_COUNT, variables, domain);
}

static void without_functions(void **state) {
    gpuopt_context *context = test_context(NULL);
    int32_t variables;
    (void)state;
    for (variables = 0; variables <= 70; variables++) {
        model m = counted(variables, NULL);
        gpuopt_elimination_info info = solve(context, &m);
        assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
        assert_int_equal(info.cost, 0);
        assert_int_equal(info.count_overflow != 0, variables >= 64);
        if (variables < 64) assert_true(info.count == (uint64_t)1 << variables);
        model_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* Colorings of a circle: (q - 1)^n + (-1)^n (q - 1); of a path: q (q - 1)^(n - 1). With soft constraints, the number
 * of colorings with the fewest conflicts. */
static void colourings(void **state) {
    gpuopt_context *context = test_context(NULL);
    int32_t n, q, v, a, circle, domain[80];
    (void)state;
    for (circle = 0; circle < 2; circle++)
        for (q = 2; q <= 4; q++)
            for (n = 3; n <= 70; n++) {
                gpuopt_elimination_info info;
                long double expected = q;
                model m;
                for (v = 0; v < n; v++) domain[v] = q;
                m = counted(n, domain);
                for (v = 1 - circle; v < n; v++) {
                    gpuopt_elimination_function *f = model_add(&m, 2, (int32_t[]){(v + n - 1) % n, v}, q);
                    for (a = 0; a < q; a++) {
                        ((int32_t *)f->tuple)[2 * a] = ((int32_t *)f->tuple)[2 * a + 1] = a;
                        model_set(&m, f, a, 1);
                    }
                }
                for (v = 1; v < n; v++) expected *= q - 1;
                if (circle) expected = expected / q * (q - 1) + (n % 2 ? -(q - 1) : q - 1);
                info = solve(context, &m);
                assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
                if (circle && q == 2 && n % 2) { /* one conflict, on any of n edges, the colours either way */
                    assert_int_equal(info.cost, 1);
                    assert_true(info.count == 2 * (uint64_t)n && !info.count_overflow);
                } else {
                    assert_int_equal(info.cost, 0);
                    assert_int_equal(info.count_overflow != 0, expected >= 0x1p64L - 1);
                    if (!info.count_overflow)
                        assert_true((long double)info.count >= expected && (long double)info.count <= expected);
                }
                model_free(&m);
            }
    gpuopt_context_destroy(context);
}

/* Counts that the caller gives, at the end of the range. */
static void at_the_edge(void **state) {
    static const struct {
        uint64_t count[2];
        int overflow;
    } sum[] = {{{UINT64_MAX, 0}, 1},
               {{(uint64_t)1 << 63, ((uint64_t)1 << 63) - 1}, 1},
               {{(uint64_t)1 << 63, ((uint64_t)1 << 63) - 2}, 0},
               {{(uint64_t)1 << 63, (uint64_t)1 << 63}, 1},
               {{UINT64_MAX - 1, 0}, 0},
               {{1, UINT64_MAX - 2}, 0}};
    gpuopt_context *context = test_context(NULL);
    static const int32_t scope = 0;
    size_t k;
    (void)state;
    for (k = 0; k < sizeof sum / sizeof *sum; k++) {
        model m = counted(1, NULL);
        gpuopt_elimination_info info;
        gpuopt_elimination_function *f = model_add(&m, 1, &scope, -1);
        const uint64_t *given = sum[k].count;
        if (!given[1]) ((int64_t *)f->cost)[1] = 1;
        f->count = given;
        info = solve(context, &m);
        f = &m.function[0];
        f->count = NULL;
        assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
        assert_int_equal(info.count_overflow != 0, sum[k].overflow);
        if (!sum[k].overflow) assert_true(info.count == given[0] + given[1]);
        model_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* 2^32 times the count of the other function. */
static void products(void **state) {
    gpuopt_context *context = test_context(NULL);
    int over;
    (void)state;
    for (over = 0; over < 2; over++) {
        const uint64_t first = (uint64_t)1 << 32, second = first - 1 + (uint64_t)over;
        model m = counted(0, NULL);
        gpuopt_elimination_info info;
        model_add(&m, 0, NULL, -1)->count = &first;
        model_add(&m, 0, NULL, -1)->count = &second;
        info = solve(context, &m);
        m.function[0].count = m.function[1].count = NULL;
        assert_int_equal(info.count_overflow != 0, over);
        if (!over) assert_true(info.count == first * second);
        model_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* A count that overflows temporarily, but is not optimal in the end, has no effect. */
static void only_optima_count(void **state) {
    gpuopt_context *context = test_context(NULL);
    int32_t v, worse;
    (void)state;
    for (worse = 0; worse < 2; worse++) { /* 80 variables, free if x0 == 1, and all 0 if x0 == 0 */
        model m = counted(81, NULL);
        gpuopt_elimination_info info;
        gpuopt_elimination_function *f;
        for (v = 1; v <= 80; v++) {
            f = model_add(&m, 2, (int32_t[]){0, v}, -1);
            model_set(&m, f, 1, 1);
        }
        f = model_add(&m, 1, (int32_t[]){0}, -1);
        model_set(&m, f, 1, worse);
        info = solve(context, &m);
        assert_int_equal(info.cost, 0);
        assert_int_equal(info.count_overflow != 0, !worse);
        if (worse) assert_true(info.count == 1);
        model_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* Every assignment is forbidden: the count is 0. */
static void of_none(void **state) {
    gpuopt_context *context = test_context(NULL);
    model m = counted(70, NULL);
    gpuopt_elimination_info info;
    (void)state;
    model_add(&m, 0, NULL, -1);
    model_add(&m, 0, NULL, 0)->default_cost = INT64_MAX;
    info = solve(context, &m);
    assert_int_equal(info.outcome, GPUOPT_INFEASIBLE);
    assert_true(info.count == 0 && !info.count_overflow);
    model_free(&m);
    gpuopt_context_destroy(context);
}

/* Placements of n queens. */
static void queens(void **state) {
    static const uint64_t placements[] = {1, 0, 0, 2, 10, 4, 40};
    gpuopt_context *context = test_context(NULL);
    int32_t n, x, y, a, b, domain[7];
    (void)state;
    for (n = 1; n <= 7; n++) {
        gpuopt_elimination_info info;
        model m;
        for (x = 0; x < n; x++) domain[x] = n;
        m = counted(n, domain);
        m.top = 1;
        for (x = 0; x < n; x++)
            for (y = x + 1; y < n; y++) {
                gpuopt_elimination_function *f = model_add(&m, 2, (int32_t[]){y, x}, -1);
                for (a = 0; a < n; a++)
                    for (b = 0; b < n; b++)
                        model_set(&m, f, (int64_t)a * n + b, a == b || a - b == y - x || b - a == y - x);
            }
        info = solve(context, &m);
        assert_int_equal(info.outcome, placements[n - 1] ? GPUOPT_OPTIMAL : GPUOPT_INFEASIBLE);
        assert_true(info.count == placements[n - 1] && !info.count_overflow);
        model_free(&m);
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(without_functions),
    cmocka_unit_test(colourings),
    cmocka_unit_test(at_the_edge),
    cmocka_unit_test(products),
    cmocka_unit_test(only_optima_count),
    cmocka_unit_test(of_none),
    cmocka_unit_test(queens),
};
TEST_MAIN(tests)
