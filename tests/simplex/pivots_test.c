/* SPDX-License-Identifier: MIT
 *
 * Sequences of pivots: the same with any number of deferred pivots, in one call or many, stopped by the caller or not,
 * on the CPU and on the backend under test. The same bits on one backend.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/answer.h"

/* Method, pricing; steepest edge with the tableau is immediate anyway. */
enum { WAYS = 2 * 2 };

/* With integer data candidates tie, and rounding decides: then only the ends are compared. */
static const struct {
    const char *name;
    int ties;
} models[] = {
    {"shah:200:1", 0}, {"meyer:100:500:0.04:1", 0}, {"plant:100:500:0.04:1", 1}, {"plant:20:40:0.3:2", 1},
    {"shah:17:3", 0},  {"plant:90:30:0.2:5", 1},
};
enum { MODELS = sizeof models / sizeof *models };

typedef void test_of(gpuopt_context *context, const gpuopt_simplex_desc *desc, const mip *m, int ties);

static void for_each_way(test_of *f) {
    gpuopt_context *context = test_context(NULL);
    size_t k;
    int way;
    for (k = test_few() ? 3 : 0; k < MODELS; k++) { /* the small models */
        mip m = model_load(models[k].name);
        for (way = 0; way < WAYS; way += test_few() ? 5 : 1) {
            gpuopt_simplex_desc desc = tableau_desc(&m);
            variant_set(&desc, way);
            f(context, &desc, &m, models[k].ties);
        }
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

static size_t both(const mip *m) { return (size_t)m->columns.rows + (size_t)m->columns.cols; }

static void expect_same_end(const mip *m, const gpuopt_simplex_desc *desc, const answer *a, const answer *b, int ties) {
    int same = a->info.iterations == b->info.iterations && memcmp(a->basis, b->basis, both(m)) == 0;
    if (a->info.outcome != GPUOPT_OPTIMAL || b->info.outcome != GPUOPT_OPTIMAL || !(same || ties))
        fail_msg("%d x %d, %s: %s after %lld iterations, and %s after %lld", (int)m->columns.rows, (int)m->columns.cols,
                 variant_name(desc), gpuopt_outcome_string(a->info.outcome), (long long)a->info.iterations,
                 gpuopt_outcome_string(b->info.outcome), (long long)b->info.iterations);
    assert_true(fabs(a->info.objective - b->info.objective) <= 1e-9 * fmax(1, fabs(a->info.objective)));
}

static void deferred(gpuopt_context *context, const gpuopt_simplex_desc *given, const mip *m, int ties) {
    static const int32_t k[] = {1, 3, 16, 64, 256, 0};
    gpuopt_simplex_desc desc = *given;
    gpuopt_simplex_rules rules;
    answer first = {.basis = NULL}, next;
    size_t i;
    for (i = 0; i < sizeof k / sizeof *k; i++) {
        rules = rules_of(&desc);
        desc.rules = &rules;
        rules.deferred_pivots = k[i];
        next = answer_after(context, &desc, m, 1000000);
        assert_null(answer_fault(m, &next, 1e-9));
        if (k[i]) assert_int_equal(next.info.deferred_pivots, k[i]);
        else assert_true(next.info.deferred_pivots >= 1 && next.info.deferred_pivots <= 256);
        if (i == 0) {
            first = next;
            continue;
        }
        expect_same_end(m, &desc, &first, &next, ties);
        answer_free(&next);
    }
    answer_free(&first);
}

static void any_number_of_deferred_pivots(void **state) {
    (void)state;
    for_each_way(deferred);
}

static void twice(gpuopt_context *context, const gpuopt_simplex_desc *desc, const mip *m, int ties) {
    answer a = answer_after(context, desc, m, 1000000), b = answer_after(context, desc, m, 1000000);
    (void)ties;
    assert_true(answer_equal(m, &a, &b));
    answer_free(&a);
    answer_free(&b);
}

static void the_same_calls_give_the_same_bits(void **state) {
    (void)state;
    for_each_way(twice);
}

/* In calls of this many iterations; returns the end. */
static answer in_portions(gpuopt_context *context, const gpuopt_simplex_desc *desc, const mip *m, int64_t portion) {
    gpuopt_simplex *simplex = simplex_create(context, desc);
    gpuopt_simplex_info info;
    int64_t calls = 0;
    answer a;
    do {
        info = simplex_iterate(simplex, portion);
        calls++;
        if (info.outcome == GPUOPT_MORE) assert_int_equal(info.iterations, calls * portion);
    } while (info.outcome == GPUOPT_MORE && calls < 100000);
    a = answer_get(simplex, m);
    gpuopt_simplex_destroy(simplex);
    return a;
}

static void portions(gpuopt_context *context, const gpuopt_simplex_desc *desc, const mip *m, int ties) {
    answer whole = answer_after(context, desc, m, 1000000);
    int64_t portion;
    for (portion = 1; portion < 30; portion = 3 * portion + 4) {
        answer parts = in_portions(context, desc, m, portion);
        expect_same_end(m, desc, &whole, &parts, ties && test_on("cuda"));
        answer_free(&parts);
    }
    answer_free(&whole);
}

static void in_one_call_or_many(void **state) {
    (void)state;
    for_each_way(portions);
}

static int times_asked;
static int always_stop(void *user) {
    (void)user;
    return ++times_asked > 0;
}

/* A caller that stops every call as soon as its hook is called ends with the same bits, in more calls. */
static void stopped(gpuopt_context *context, const gpuopt_simplex_desc *given, const mip *m, int ties) {
    gpuopt_context_desc stopping_desc = test_context_desc(NULL);
    gpuopt_simplex_desc desc = *given;
    gpuopt_simplex_rules rules;
    gpuopt_context *stopping;
    gpuopt_simplex *simplex;
    gpuopt_simplex_info info;
    answer whole, parts;
    int64_t calls = 0;
    (void)ties;
    rules = rules_of(&desc);
    desc.rules = &rules;
    rules.rebuild_pivots = 11;
    whole = answer_after(context, &desc, m, 1000000);
    stopping_desc.stop = always_stop;
    assert_int_equal(gpuopt_context_create(&stopping_desc, &stopping), GPUOPT_OK);
    simplex = simplex_create(stopping, &desc);
    times_asked = 0;
    do {
        info = simplex_iterate(simplex, 1000000);
        calls++;
        assert_true(info.iterations <= 11 * calls);
        assert_int_equal(times_asked, info.outcome == GPUOPT_MORE ? calls : calls - 1);
        if (info.outcome == GPUOPT_MORE) assert_int_equal(simplex_info(simplex).outcome, GPUOPT_MORE);
    } while (info.outcome == GPUOPT_MORE && calls < 100000);
    parts = answer_get(simplex, m);
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    assert_true(calls > 2 && calls >= info.iterations / 11);
    assert_true(answer_equal(m, &whole, &parts));
    answer_free(&whole);
    answer_free(&parts);
    gpuopt_simplex_destroy(simplex);
    gpuopt_context_destroy(stopping);
}

static void stopped_or_not(void **state) {
    (void)state;
    for_each_way(stopped);
}

/* A plain CPU and the backend under test, side by side. */
static void side_by_side(gpuopt_context *context, const gpuopt_simplex_desc *desc, const mip *m, int ties) {
    enum { PORTION = 7 };
    gpuopt_context *cpu = test_plain_context();
    gpuopt_simplex *here, *there;
    gpuopt_simplex_info a, b;
    answer first, other;
    uint8_t *basis = malloc(both(m)), *other_basis = malloc(both(m));
    here = simplex_create(cpu, desc);
    there = simplex_create(context, desc);
    do {
        int same;
        a = simplex_iterate(here, PORTION);
        b = simplex_iterate(there, PORTION);
        assert_int_equal(gpuopt_simplex_get_basis(here, GPUOPT_HOST, basis), GPUOPT_OK);
        assert_int_equal(gpuopt_simplex_get_basis(there, GPUOPT_HOST, other_basis), GPUOPT_OK);
        same = a.outcome == b.outcome && a.iterations == b.iterations && !memcmp(basis, other_basis, both(m));
        if (!same && !(ties && test_on("cuda")))
            fail_msg("%d x %d, %s: after %lld iterations the CPU's basis is another one", (int)m->columns.rows,
                     (int)m->columns.cols, variant_name(desc), (long long)b.iterations);
    } while (a.outcome == GPUOPT_MORE || b.outcome == GPUOPT_MORE);
    first = answer_get(here, m);
    other = answer_get(there, m);
    expect_same_end(m, desc, &first, &other, ties);
    if (!test_on("cuda")) {
        first.info.deferred_pivots = other.info.deferred_pivots;
        assert_true(answer_equal(m, &first, &other));
    }
    answer_free(&first);
    answer_free(&other);
    gpuopt_simplex_destroy(here);
    gpuopt_simplex_destroy(there);
    gpuopt_context_destroy(cpu);
    free(basis);
    free(other_basis);
}

static void the_pivots_of_the_cpu(void **state) {
    (void)state;
    for_each_way(side_by_side);
}

/* The limit is of the handle's life, and is met exactly. */
static void limits(gpuopt_context *context, const gpuopt_simplex_desc *given, const mip *m, int ties) {
    gpuopt_simplex_desc desc = *given;
    gpuopt_simplex *simplex;
    gpuopt_simplex_info info;
    answer a, b;
    (void)ties;
    desc.iteration_limit = 9;
    simplex = simplex_create(context, &desc);
    info = simplex_iterate(simplex, 4);
    assert_true(info.outcome == GPUOPT_MORE && info.iterations == 4);
    info = simplex_iterate(simplex, 1000);
    assert_true(info.outcome == GPUOPT_LIMIT && info.iterations == 9);
    a = answer_get(simplex, m);
    info = simplex_iterate(simplex, 1000);
    assert_true(info.outcome == GPUOPT_LIMIT && info.iterations == 9);
    b = answer_get(simplex, m);
    assert_memory_equal(a.basis, b.basis, both(m));
    assert_memory_equal(a.x, b.x, sizeof(double) * (size_t)m->columns.cols);
    answer_free(&a);
    answer_free(&b);
    gpuopt_simplex_destroy(simplex);
}

static void iteration_limits(void **state) {
    (void)state;
    for_each_way(limits);
}

/* How often an option changed the iterations or rebuilds. */
static int moved[5];

/* Perturbed by another seed, with fewer rebuilds, without scaling: other pivots, the same optimum. */
static void options(gpuopt_context *context, const gpuopt_simplex_desc *given, const mip *m, int ties) {
    answer plain = answer_after(context, given, m, 1000000);
    int k;
    (void)ties;
    for (k = 0; k < 5; k++) {
        gpuopt_simplex_desc desc = *given;
        gpuopt_simplex_rules rules;
        gpuopt_simplex_tolerances tolerances = GPUOPT_INIT(gpuopt_simplex_tolerances);
        gpuopt_simplex_info info;
        rules = rules_of(&desc);
        desc.rules = &rules;
        if (k == 0) rules.seed = 12345;
        if (k == 1) rules.rebuild_pivots = 7;
        if (k == 2) rules.scaling = GPUOPT_OFF;
        if (k == 3) rules.perturbation = GPUOPT_OFF;
        if (k == 4) tolerances.primal = tolerances.dual = 1e-6;
        desc.tolerances = &tolerances;
        info = answer_expect(context, &desc, m, "options", GPUOPT_OPTIMAL, plain.info.objective, k == 4 ? 1e-5 : 1e-9);
        moved[k] += info.iterations != plain.info.iterations || info.rebuilds != plain.info.rebuilds;
    }
    answer_free(&plain);
}

static void options_do_not_move_the_optimum(void **state) {
    int k;
    (void)state;
    memset(moved, 0, sizeof moved);
    for_each_way(options);
    for (k = 0; k < 4; k++) assert_true(moved[k] > 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(any_number_of_deferred_pivots),
    cmocka_unit_test(the_same_calls_give_the_same_bits),
    cmocka_unit_test(in_one_call_or_many),
    cmocka_unit_test(stopped_or_not),
    cmocka_unit_test(the_pivots_of_the_cpu),
    cmocka_unit_test(iteration_limits),
    cmocka_unit_test(options_do_not_move_the_optimum),
};
TEST_MAIN(tests)
