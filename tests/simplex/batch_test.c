/* SPDX-License-Identifier: MIT
 *
 * Many small linear programs: against the simplex method in exact rationals, and against CLP. Their bits do not depend
 * on their number, on the number of threads, or on the backend.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/changes.h"
#include "tests/simplex/clp.h"
#include "tests/simplex/exact.h"
#include "tests/simplex/programs.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

/* ---- Models of one shape ---- */

/* With small whole numbers, and any kinds of bounds and sides. */
static mip *draw_any(uint64_t *seed, int32_t count, int32_t rows, int32_t cols) {
    mip *model = calloc((size_t)count, sizeof *model);
    const int maximize = (int)test_random_int(seed, 0, 1);
    int32_t k;
    for (k = 0; k < count; k++) {
        model[k] = changes_model(seed, rows, cols);
        model[k].maximize = maximize;
    }
    return model;
}

enum { FRACTIONS = 1, DEGENERATE = 2, BOXED = 4, EQUATIONS = 8, FREE = 16, SCALED = 32 };

/* Larger programs: mostly feasible by construction, with these properties. */
static mip draw_large(uint64_t *seed, int32_t rows, int32_t cols, double density, int kind) {
    const size_t size = (size_t)rows * (size_t)cols + 1;
    double *a = calloc(size, sizeof *a), *x = calloc((size_t)cols + 1, sizeof *x);
    double *cost = calloc((size_t)cols + 1, sizeof *cost), *side[2], *bound[2];
    int32_t i, j;
    int k;
    mip m;
    for (k = 0; k < 2; k++) {
        side[k] = calloc((size_t)rows + 1, sizeof **side);
        bound[k] = calloc((size_t)cols + 1, sizeof **bound);
    }
    for (j = 0; j < cols; j++) {
        const int is_free = kind & FREE && test_random_int(seed, 0, 4) == 0;
        bound[0][j] = is_free ? -HUGE_VAL : 0;
        bound[1][j] = kind & BOXED ? (double)test_random_int(seed, 0, 3) : HUGE_VAL;
        x[j] = kind & DEGENERATE ? (double)test_random_int(seed, 0, 1) : 2 * test_random(seed);
        x[j] = fmin(x[j], bound[1][j]);
        cost[j] = kind & FRACTIONS ? test_random(seed) - 0.5 : (double)test_random_int(seed, -9, 9);
    }
    for (i = 0; i < rows; i++) {
        const double factor = kind & SCALED ? pow(10, (double)test_random_int(seed, -4, 4)) : 1;
        double activity = 0;
        for (j = 0; j < cols; j++)
            if (test_random(seed) < density) {
                double *entry = &a[(size_t)i * (size_t)cols + (size_t)j];
                *entry = kind & FRACTIONS ? 2 * test_random(seed) - 0.7 : (double)test_random_int(seed, -3, 9);
                *entry *= factor;
                activity += *entry * x[j];
            }
        k = (int)test_random_int(seed, 0, kind & EQUATIONS ? 3 : 2);
        side[0][i] = k == 0 ? -HUGE_VAL : activity - (k == 3 || kind & DEGENERATE ? 0 : factor * test_random(seed));
        side[1][i] = k == 1   ? HUGE_VAL
                     : k == 3 ? side[0][i]
                              : activity + (kind & DEGENERATE ? 0 : factor * test_random(seed));
        if (test_random_int(seed, 0, 400) == 0) side[0][i] = side[1][i] = activity + 1e3 * factor; /* out of reach? */
    }
    m = model_of(rows, cols, a, cost, side[0], side[1], bound[0], bound[1]);
    free(a), free(x), free(cost);
    for (k = 0; k < 2; k++) free(side[k]), free(bound[k]);
    return m;
}

/* ---- Against rationals ---- */

static void any_against_rationals(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 2026;
    int shape, verdicts = 0;
    (void)state;
    for (shape = 0; shape < test_times(400, 100); shape++) {
        const int32_t count = (int32_t)test_random_int(&seed, 1, 14);
        const int32_t rows = (int32_t)test_random_int(&seed, 0, 9), cols = (int32_t)test_random_int(&seed, 0, 9);
        programs *all = programs_of(count, draw_any(&seed, count, rows, cols), shape & 1,
                                    shape & 2 ? GPUOPT_LAYOUT_CSC : GPUOPT_LAYOUT_CSR);
        gpuopt_simplex_batch *many = programs_create(context, all);
        gpuopt_simplex_batch_info info = GPUOPT_INIT(gpuopt_simplex_batch_info);
        programs_report *r;
        int32_t k, counted[GPUOPT_CUTOFF + 1] = {0};
        must(gpuopt_simplex_batch_iterate(many, INT64_MAX, &info));
        r = programs_get(many, all);
        for (k = 0; k < count; k++) {
            const char *fault = programs_fault(all, r, k, &verdicts);
            if (fault) fail_msg("shape %d, program %d of %d x %d: %s", shape, (int)k, (int)rows, (int)cols, fault);
            counted[r->r.outcome[k]]++;
        }
        assert_int_equal(info.count, count);
        assert_int_equal(info.optimal, counted[GPUOPT_OPTIMAL]);
        assert_int_equal(info.infeasible, counted[GPUOPT_INFEASIBLE]);
        assert_int_equal(info.unbounded, counted[GPUOPT_UNBOUNDED]);
        assert_int_equal(info.optimal + info.infeasible + info.unbounded, count);
        programs_report_free(r);
        gpuopt_simplex_batch_destroy(many);
        programs_free(all);
    }
    assert_int_equal(verdicts, 1 << GPUOPT_OPTIMAL | 1 << GPUOPT_INFEASIBLE | 1 << GPUOPT_UNBOUNDED);
    gpuopt_context_destroy(context);
}

/* ---- Against CLP ---- */

static void large_against_clp(void **state) {
    static const struct {
        int32_t rows, cols;
        double density;
        int kind;
    } shape[] = {{50, 100, 1, FRACTIONS},
                 {50, 100, 1, FRACTIONS | BOXED | EQUATIONS},
                 {50, 100, 0.2, DEGENERATE},
                 {40, 60, 0.3, DEGENERATE | BOXED | EQUATIONS},
                 {60, 30, 0.5, FRACTIONS | FREE},
                 {30, 80, 0.3, FRACTIONS | FREE | BOXED | SCALED},
                 {25, 200, 0.5, EQUATIONS | SCALED},
                 {130, 180, 0.1, FRACTIONS | BOXED | EQUATIONS}};
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 11;
    size_t s;
    int verdicts = 0;
    (void)state;
    for (s = 0; s < sizeof shape / sizeof *shape; s++) {
        const int32_t count = test_emulated() ? 2 : 24;
        mip *model = calloc((size_t)count, sizeof *model);
        programs *all;
        gpuopt_simplex_batch *many;
        programs_report *r;
        int32_t k;
        for (k = 0; k < count; k++)
            model[k] = draw_large(&seed, shape[s].rows, shape[s].cols, shape[s].density, shape[s].kind);
        all = programs_of(count, model, shape[s].density < 1, s & 1 ? GPUOPT_LAYOUT_CSC : GPUOPT_LAYOUT_CSR);
        many = programs_create(context, all);
        must(gpuopt_simplex_batch_iterate(many, INT64_MAX, NULL));
        r = programs_get(many, all);
        for (k = 0; k < count; k++) {
            double objective;
            const gpuopt_outcome outcome = clp_solve(&model[k], &objective);
            const char *fault = programs_fault_beside(all, r, k, outcome, objective);
            if (fault) fail_msg("shape %d, program %d, %d iterations: %s", (int)s, (int)k, r->r.iterations[k], fault);
            verdicts |= 1 << r->r.outcome[k];
        }
        programs_report_free(r);
        gpuopt_simplex_batch_destroy(many);
        programs_free(all);
    }
    assert_true(verdicts & 1 << GPUOPT_OPTIMAL);
    if (!test_emulated()) assert_true(verdicts & 1 << GPUOPT_INFEASIBLE && verdicts & 1 << GPUOPT_UNBOUNDED);
    gpuopt_context_destroy(context);
}

/* ---- Bits ---- */

/* A program alone, among others, and at another place has the same bits, as on the CPU with one thread. */
static void same_bits(void **state) {
    gpuopt_context *context = test_context(NULL), *cpu;
    uint64_t seed = 5;
    int round;
    (void)state;
    must(gpuopt_context_create(NULL, &cpu));
    for (round = 0; round < test_times(12, 12); round++) {
        const int32_t count = round % 3 == 0 ? 7 : 5, rows = (int32_t)test_random_int(&seed, 1, 40),
                      cols = (int32_t)test_random_int(&seed, 1, 50);
        mip *model = calloc((size_t)count, sizeof *model);
        programs *all, *other;
        gpuopt_simplex_batch *many, *beside;
        programs_report *first, *second;
        int32_t k;
        for (k = 0; k < count; k++) model[k] = draw_large(&seed, rows, cols, 0.4, round * 7 % 64);
        all = programs_of(count, model, round & 1, GPUOPT_LAYOUT_CSR);
        many = programs_create(context, all);
        beside = programs_create(cpu, all);
        must(gpuopt_simplex_batch_iterate(many, INT64_MAX, NULL));
        must(gpuopt_simplex_batch_iterate(beside, INT64_MAX, NULL));
        first = programs_get(many, all);
        second = programs_get(beside, all);
        if (!programs_report_equal(all, first, 0, second, 0, count)) fail_msg("round %d: not the CPU's bits", round);
        other = malloc(sizeof *other); /* program 3 alone */
        *other = *all;
        other->p.count = 1;
        other->p.value += 3 * all->nonzeros;
        other->p.cost += 3 * cols, other->p.lb += 3 * cols, other->p.ub += 3 * cols;
        other->p.lhs += 3 * rows, other->p.rhs += 3 * rows;
        must(gpuopt_simplex_batch_load(many, GPUOPT_HOST, &other->p));
        must(gpuopt_simplex_batch_iterate(many, INT64_MAX, NULL));
        programs_report_free(second);
        second = programs_get(many, other);
        if (!programs_report_equal(all, first, 3, second, 0, 1)) fail_msg("round %d: alone it differs", round);
        programs_report_free(first);
        programs_report_free(second);
        gpuopt_simplex_batch_destroy(many);
        gpuopt_simplex_batch_destroy(beside);
        free(other);
        programs_free(all);
    }
    gpuopt_context_destroy(cpu);
    gpuopt_context_destroy(context);
}

/* ---- Limits ---- */

/* A few iterations at a time: points and bases are always available, and the verdicts are right. */
static void little_by_little(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 99;
    int shape, verdicts = 0;
    (void)state;
    for (shape = 0; shape < test_times(100, 30); shape++) {
        const int32_t count = 6, rows = (int32_t)test_random_int(&seed, 1, 8);
        programs *all = programs_of(count, draw_any(&seed, count, rows, (int32_t)test_random_int(&seed, 1, 8)),
                                    shape & 1, GPUOPT_LAYOUT_CSC);
        gpuopt_simplex_batch *many = programs_create(context, all);
        gpuopt_simplex_batch_info info = GPUOPT_INIT(gpuopt_simplex_batch_info), again = info;
        const int64_t each = 1 + shape % 3;
        int32_t k, calls = 0;
        programs_report *r;
        do {
            const int64_t before = info.iterations;
            must(gpuopt_simplex_batch_iterate(many, each, &info));
            assert_true(info.iterations - before <= each * count);
            if (++calls > 1000) fail_msg("shape %d: no end", shape);
            if (info.more > 0 && calls < 4) {
                r = programs_get(many, all);
                for (k = 0; k < count; k++) {
                    const char *fault =
                        r->r.outcome[k] == GPUOPT_MORE ? programs_fault_beside(all, r, k, GPUOPT_MORE, 0) : NULL;
                    if (fault) fail_msg("shape %d, call %d, program %d: %s", shape, (int)calls, (int)k, fault);
                }
                programs_report_free(r);
            }
        } while (info.more > 0);
        r = programs_get(many, all);
        for (k = 0; k < count; k++) {
            const char *fault = programs_fault(all, r, k, &verdicts);
            if (fault) fail_msg("shape %d, program %d: %s", shape, (int)k, fault);
        }
        must(gpuopt_simplex_batch_iterate(many, 5, &again)); /* nothing is left to do */
        assert_memory_equal(&again, &info, sizeof info);
        programs_report_free(r);
        gpuopt_simplex_batch_destroy(many);
        programs_free(all);
    }
    assert_int_equal(verdicts, 1 << GPUOPT_OPTIMAL | 1 << GPUOPT_INFEASIBLE | 1 << GPUOPT_UNBOUNDED);
    gpuopt_context_destroy(context);
}

/* The limit over all calls. */
static void iteration_limit(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 12;
    mip *model = calloc(4, sizeof *model);
    gpuopt_simplex_batch_info info = GPUOPT_INIT(gpuopt_simplex_batch_info);
    programs *all;
    gpuopt_simplex_batch *many;
    programs_report *r;
    int32_t k;
    (void)state;
    for (k = 0; k < 4; k++) model[k] = draw_large(&seed, 20, 30, 0.5, FRACTIONS | BOXED);
    all = programs_of(4, model, 0, GPUOPT_LAYOUT_CSR);
    all->desc.iteration_limit = 5;
    many = programs_create(context, all);
    must(gpuopt_simplex_batch_iterate(many, 3, &info));
    assert_int_equal(info.more, 4);
    assert_int_equal(info.iterations, 12);
    must(gpuopt_simplex_batch_iterate(many, 3, &info));
    assert_int_equal(info.limit, 4);
    assert_int_equal(info.iterations, 20);
    r = programs_get(many, all);
    for (k = 0; k < 4; k++) {
        const char *fault = programs_fault_beside(all, r, k, GPUOPT_LIMIT, 0);
        if (fault) fail_msg("program %d: %s", (int)k, fault);
        assert_int_equal(r->r.iterations[k], 5);
    }
    programs_report_free(r);
    gpuopt_simplex_batch_destroy(many);
    programs_free(all);
    gpuopt_context_destroy(context);
}

/* ---- What all programs share ---- */

/* Each array that may be shared, given once or once for each program: the same bits. NULL: the default. */
static void shared_arrays(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 3;
    int array;
    (void)state;
    for (array = 0; array < 6; array++) {
        const int32_t count = 5, rows = 12, cols = 15;
        mip *model = calloc((size_t)count, sizeof *model);
        programs *all;
        gpuopt_simplex_batch *many;
        programs_report *first, *second;
        int32_t k;
        int64_t length;
        for (k = 0; k < count; k++) model[k] = draw_large(&seed, rows, cols, 1, FRACTIONS);
        all = programs_of(count, model, 0, GPUOPT_LAYOUT_CSC);
        length = array == 0 ? all->nonzeros : array == 2 || array == 3 ? rows : cols;
        for (k = 1; k < count; k++)
            memcpy(all->number[array] + k * length, all->number[array], sizeof(double) * (size_t)length);
        for (k = 0; k < count * rows; k++) /* sides that do not cross */
            if (all->number[2][k] > all->number[3][k]) all->number[array == 2 ? 3 : 2][k] = array == 2 ? 1e20 : -1e20;
        many = programs_create(context, all);
        must(gpuopt_simplex_batch_iterate(many, INT64_MAX, NULL));
        first = programs_get(many, all);
        gpuopt_simplex_batch_destroy(many);
        all->desc.shared = 1u << array;
        many = programs_create(context, all);
        must(gpuopt_simplex_batch_iterate(many, INT64_MAX, NULL));
        second = programs_get(many, all);
        if (!programs_report_equal(all, first, 0, second, 0, count)) fail_msg("array %d: other bits", array);
        programs_report_free(second);
        if (array > 0) { /* the default in its place */
            static const double stands[] = {0, 0, -HUGE_VAL, HUGE_VAL, 0, HUGE_VAL};
            const double **const given[] = {NULL, &all->p.cost, &all->p.lhs, &all->p.rhs, &all->p.lb, &all->p.ub};
            for (k = 0; k < length; k++) all->number[array][k] = stands[array];
            must(gpuopt_simplex_batch_load(many, GPUOPT_HOST, &all->p));
            must(gpuopt_simplex_batch_iterate(many, INT64_MAX, NULL));
            programs_report_free(first);
            first = programs_get(many, all);
            *given[array] = NULL;
            must(gpuopt_simplex_batch_load(many, GPUOPT_HOST, &all->p));
            must(gpuopt_simplex_batch_iterate(many, INT64_MAX, NULL));
            second = programs_get(many, all);
            if (!programs_report_equal(all, first, 0, second, 0, count)) fail_msg("array %d: no default", array);
            programs_report_free(second);
        }
        programs_report_free(first);
        gpuopt_simplex_batch_destroy(many);
        programs_free(all);
    }
    gpuopt_context_destroy(context);
}

/* ---- Scales ---- */

/* Coefficients far from 1: a tolerance only in the caller's numbers would exceed all of them. */
static void far_from_one(void **state) {
    static const double a[] = {-900000, 1e-10}, cost[] = {-0.0004, 1}, lhs[] = {-HUGE_VAL, 1e-10},
                        rhs[] = {-100, HUGE_VAL}, ub[] = {HUGE_VAL, 0.5};
    static const int32_t outcome[] = {GPUOPT_UNBOUNDED, GPUOPT_INFEASIBLE};
    gpuopt_context *context = test_context(NULL);
    int32_t k;
    (void)state;
    for (k = 0; k < 2; k++) {
        mip *model = calloc(1, sizeof *model);
        programs *all;
        gpuopt_simplex_batch *many;
        programs_report *r;
        model[0] = model_of(1, 1, &a[k], &cost[k], &lhs[k], &rhs[k], NULL, &ub[k]);
        all = programs_of(1, model, 1, GPUOPT_LAYOUT_CSR);
        many = programs_create(context, all);
        must(gpuopt_simplex_batch_iterate(many, INT64_MAX, NULL));
        r = programs_get(many, all);
        assert_int_equal(r->r.outcome[0], outcome[k]);
        programs_report_free(r);
        gpuopt_simplex_batch_destroy(many);
        programs_free(all);
    }
    gpuopt_context_destroy(context);
}

/* ---- Circles ---- */

/* Beale's example, on which the textbook's rules cycle, and programs with many ties. */
static void degenerate(void **state) {
    static const double a[] = {0.25, -60, -0.04, 9, 0.5, -90, -0.02, 3, 0, 0, 1, 0}, cost[] = {-0.75, 150, -0.02, 6},
                        rhs[] = {0, 0, 1};
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 8;
    int round;
    (void)state;
    for (round = 0; round < test_times(30, 10); round++) {
        mip *model = calloc(3, sizeof *model);
        programs *all;
        gpuopt_simplex_batch *many;
        programs_report *r;
        int32_t k, i, j;
        for (k = 0; k < 3; k++) {
            const int32_t n = 12; /* an assignment of n to n with costs that are mostly equal */
            double *by_rows = calloc((size_t)(2 * n * n * n), sizeof *by_rows),
                   *of = calloc((size_t)(n * n), sizeof *of);
            double *one = calloc((size_t)(2 * n), sizeof *one);
            for (i = 0; i < n; i++)
                for (j = 0; j < n; j++) {
                    by_rows[i * n * n + i * n + j] = by_rows[(n + j) * n * n + i * n + j] = 1;
                    of[i * n + j] = (double)test_random_int(&seed, 0, 2);
                }
            for (i = 0; i < 2 * n; i++) one[i] = 1;
            model[k] = round == 0 ? model_of(3, 4, a, cost, NULL, rhs, NULL, NULL)
                                  : model_of(2 * n, n * n, by_rows, of, one, one, NULL, NULL);
            free(by_rows), free(of), free(one);
        }
        all = programs_of(3, model, 1, GPUOPT_LAYOUT_CSR);
        many = programs_create(context, all);
        must(gpuopt_simplex_batch_iterate(many, INT64_MAX, NULL));
        r = programs_get(many, all);
        for (k = 0; k < 3; k++) {
            double objective = -0.05;
            const gpuopt_outcome outcome = round == 0 ? GPUOPT_OPTIMAL : clp_solve(&model[k], &objective);
            const char *fault = programs_fault_beside(all, r, k, outcome, objective);
            if (fault) fail_msg("round %d, program %d: %s", round, (int)k, fault);
        }
        programs_report_free(r);
        gpuopt_simplex_batch_destroy(many);
        programs_free(all);
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(any_against_rationals), cmocka_unit_test(large_against_clp), cmocka_unit_test(same_bits),
    cmocka_unit_test(little_by_little),      cmocka_unit_test(iteration_limit),   cmocka_unit_test(shared_arrays),
    cmocka_unit_test(far_from_one),          cmocka_unit_test(degenerate),
};

TEST_MAIN(tests)
