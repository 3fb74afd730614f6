/* SPDX-License-Identifier: MIT
 *
 * Probing. Small integer models are enumerated: the results of a pass must hold in every solution. They must be exactly
 * those that follow from single propagators on the CPU, one for each probe, compared here independently.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/propagate/probe.h"

/* Random models; with capacity for all binaries at once, and for one at a time. */
static void random_models(void **state) {
    static double point[POINTS][MOST];
    gpuopt_context *context = test_context(NULL), *cpu = test_plain_context();
    uint64_t seed = 19;
    int trial, seen[8] = {0};
    int64_t bounds = 0, equivalences = 0, implications = 0, infeasible = 0;
    (void)state;
    for (trial = 0; trial < test_times(3000, 300); trial++) {
        mip m = draw_model(&seed);
        gpuopt_propagator_desc desc = mip_propagator_desc(&m);
        int base_rounds = trial % 4 ? 100 : 0; /* a base need not be at a fixpoint */
        gpuopt_propagator *base = problem_create(context, &desc);
        gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
        double lb[MOST], ub[MOST];
        if (base_rounds) info = problem_round(base, base_rounds);
        problem_bounds(base, lb, ub);
        if (info.outcome != GPUOPT_INFEASIBLE) {
            gpuopt_propagator_probe *probe = make_probe(base, 0, 0, 1000),
                                    *narrow = make_probe(base, 2 * (1 + trial % 3), 2 * m.matrix.cols, 1000);
            found f = run_probe(probe, 0, NULL), again = run_probe(narrow, 0, NULL);
            check_same_found(&f, &again);
            check_alone(cpu, &desc, base_rounds, &f, lb, ub);
            check_points(&f, enumerate(&m, lb, ub, point), point);
            seen[f.info.outcome]++;
            bounds += f.info.bounds, equivalences += f.info.equivalences;
            implications += f.info.implications, infeasible += f.info.infeasible;
            free_found(&f), free_found(&again);
            gpuopt_propagator_probe_destroy(probe);
            gpuopt_propagator_probe_destroy(narrow);
        }
        gpuopt_propagator_destroy(base);
        mip_free(&m);
    }
    print_message("CONVERGED %d, INFEASIBLE %d; %lld bounds, %lld equivalences, %lld implications, %lld infeasible\n",
                  seen[GPUOPT_CONVERGED], seen[GPUOPT_INFEASIBLE], (long long)bounds, (long long)equivalences,
                  (long long)implications, (long long)infeasible);
    assert_true(seen[GPUOPT_CONVERGED] && seen[GPUOPT_INFEASIBLE] && bounds && equivalences && infeasible);
    gpuopt_context_destroy(cpu);
    gpuopt_context_destroy(context);
}

/* y <= 3 + 7 x and y <= 10 - 5 x: y <= 10 of each row, but y <= 5 of either value. z = 1 - x, and w only if x = 0. The
 * last column is between 0 and 1, but no integer. */
static mip model_union(void) {
    mip m = problem_new(5, 4, 8);
    problem_col(&m, 0, 0, 1, 1);
    problem_col(&m, 1, 0, 20, 0);
    problem_col(&m, 2, 0, 1, 1);
    problem_col(&m, 3, 0, 1, 1);
    problem_col(&m, 4, 0, 1, 0);
    problem_row(&m, -INFINITY, 3), problem_entry(&m, 0, -7), problem_entry(&m, 1, 1);
    problem_row(&m, -INFINITY, 10), problem_entry(&m, 0, 5), problem_entry(&m, 1, 1);
    problem_row(&m, 1, 1), problem_entry(&m, 0, 1), problem_entry(&m, 2, 1);
    problem_row(&m, -INFINITY, 1), problem_entry(&m, 0, 1), problem_entry(&m, 3, 1);
    return m;
}

/* By hand: a bound of a continuous column, an equivalence, a choice of columns, and another pass after these
 * results. */
static void by_hand(void **state) {
    static const int32_t some[] = {3, 1, 0}; /* the second is no binary */
    gpuopt_context *context = test_context(NULL);
    mip m = model_union();
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    gpuopt_propagator *base = problem_create(context, &desc);
    gpuopt_propagator_probe *probe = make_probe(base, 0, 0, 100);
    gpuopt_propagator_probe_info info = GPUOPT_INIT(gpuopt_propagator_probe_info);
    found f;
    (void)state;
    problem_round(base, 10);
    f = run_probe(probe, 3, some);
    assert_int_equal(f.info.outcome, GPUOPT_CONVERGED);
    assert_int_equal(f.info.probed, 2);
    assert_int_equal(f.implications.binary[0], 3);
    assert_int_equal(f.implications.binary[1], 0);
    assert_int_equal(f.info.bounds, 1);
    assert_int_equal(f.info.fixings, 0);
    assert_int_equal(f.bounds.col[0], 1);
    assert_true(f.bounds.lb[0] == 0 && f.bounds.ub[0] == 5);
    assert_int_equal(f.info.equivalences, 1);
    assert_int_equal(f.equivalences.col[0], 0);
    assert_int_equal(f.equivalences.other[0], 2);
    assert_int_equal(f.equivalences.opposite[0], 1);
    /* w = 0: nothing. w = 1: x = 0, y <= 3, z = 1. x = 0: y <= 3, z = 1. x = 1: y <= 5, z = 0, w = 0. */
    assert_int_equal(f.info.implications, 0 + 3 + 2 + 3);
    assert_int_equal(f.info.implied_binaries, 0 + 2 + 1 + 2);
    assert_int_equal(
        gpuopt_propagator_set_bounds(base, GPUOPT_HOST, f.bounds.count, f.bounds.col, f.bounds.lb, f.bounds.ub),
        GPUOPT_OK);
    free_found(&f);
    problem_round(base, 10);
    f = run_probe(probe, 0, NULL);
    assert_int_equal(f.info.probed, 3);
    assert_int_equal(f.info.bounds, 0);
    assert_int_equal(f.info.unfinished, 0);
    free_found(&f);
    /* In one round only w = 0 ends at a fixpoint, where it begins. */
    assert_int_equal(gpuopt_propagator_probe_run(probe, 0, NULL, 1, &info), GPUOPT_OK);
    assert_int_equal(info.unfinished, 5);
    gpuopt_propagator_probe_destroy(probe);
    gpuopt_propagator_destroy(base);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* p and q are 1 if b = 0, r and s if b = 1; y >= p + q - 1 and y >= r + s - 1. So y = 1 for each value of b, and in the
 * same way y = 0 for each value of a. There is no solution; but no probe of a or b finds both. */
static void crossing(void **state) {
    static const int32_t some[] = {0, 1};
    gpuopt_context *context = test_context(NULL);
    mip m = problem_new(11, 12, 28);
    gpuopt_propagator_desc desc;
    gpuopt_propagator *base;
    gpuopt_propagator_probe *probe;
    int32_t j;
    found f;
    (void)state;
    for (j = 0; j < 11; j++) problem_col(&m, j, 0, 1, 1); /* a, b, y, p, q, r, s, and the other four */
    for (j = 3; j < 5; j++) {
        problem_row(&m, 1, INFINITY), problem_entry(&m, 1, 1), problem_entry(&m, j, 1);
        problem_row(&m, 0, INFINITY), problem_entry(&m, 1, -1), problem_entry(&m, j + 2, 1);
        problem_row(&m, -INFINITY, 0), problem_entry(&m, 0, -1), problem_entry(&m, j + 4, 1);
        problem_row(&m, -INFINITY, 1), problem_entry(&m, 0, 1), problem_entry(&m, j + 6, 1);
    }
    for (j = 3; j < 11; j += 2) {
        problem_row(&m, j < 7 ? -1 : -INFINITY, j < 7 ? INFINITY : 0), problem_entry(&m, 2, 1);
        problem_entry(&m, j, -1), problem_entry(&m, j + 1, -1);
    }
    desc = mip_propagator_desc(&m);
    base = problem_create(context, &desc);
    probe = make_probe(base, 0, 0, 100);
    f = run_probe(probe, 2, some);
    assert_int_equal(f.info.outcome, GPUOPT_INFEASIBLE);
    assert_int_equal(f.info.infeasible, 0);
    assert_int_equal(f.info.infeasible_col, 2);
    assert_int_equal(f.info.fixings, 0);
    assert_true(f.bounds.lb[0] == 1 && f.bounds.ub[0] == 0);
    free_found(&f);
    f = run_probe(probe, 1, some);
    assert_int_equal(f.info.outcome, GPUOPT_CONVERGED);
    assert_true(f.bounds.lb[0] == 0 && f.bounds.ub[0] == 0);
    free_found(&f);
    gpuopt_propagator_probe_destroy(probe);
    gpuopt_propagator_destroy(base);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* Without capacity the counts are there, and the rest may still be read; a capacity cuts off. */
static void little_capacity(void **state) {
    gpuopt_context *context = test_context(NULL);
    mip m = model_union();
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    gpuopt_propagator *base = problem_create(context, &desc);
    gpuopt_propagator_probe *probe;
    gpuopt_propagator_probe_implications implications = GPUOPT_INIT(gpuopt_propagator_probe_implications);
    gpuopt_propagator_probe_equivalences equivalences = GPUOPT_INIT(gpuopt_propagator_probe_equivalences);
    int32_t binary[3], outcome[6], col[8];
    int64_t start[7];
    static const int64_t capacities[] = {0, 12, 13};
    size_t r;
    (void)state;
    problem_round(base, 10);
    implications.binary = binary, implications.outcome = outcome, implications.start = start, implications.col = col;
    /* The binaries are x, z and w: of the three, x and z imply 2 + 3 each, w none and 3. */
    for (r = 0; r < sizeof capacities / sizeof *capacities; r++) {
        gpuopt_status status = capacities[r] < 13 ? GPUOPT_ERROR_MEMORY : GPUOPT_OK;
        probe = make_probe(base, 0, 0, capacities[r]);
        assert_int_equal(gpuopt_propagator_probe_run(probe, 0, NULL, ROUNDS, NULL), GPUOPT_OK);
        memset(col, -1, sizeof col);
        implications.capacity = 3;
        assert_int_equal(gpuopt_propagator_probe_get_implications(probe, &implications), status);
        assert_int_equal(implications.count, 13);
        assert_int_equal(binary[2], 3);
        assert_int_equal(outcome[5], GPUOPT_CONVERGED);
        assert_int_equal(start[6], 13);
        assert_int_equal(start[1], 2);
        assert_int_equal(col[2], status ? -1 : 1); /* y, by x = 1 */
        assert_int_equal(col[3], -1);
        status = capacities[r] < 2 ? GPUOPT_ERROR_MEMORY : GPUOPT_OK;
        assert_int_equal(gpuopt_propagator_probe_get_equivalences(probe, &equivalences), status);
        assert_int_equal(equivalences.count, 2); /* from both ends */
        gpuopt_propagator_probe_destroy(probe);
    }
    gpuopt_propagator_destroy(base);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* A stop hook that requests a stop from its n-th call on. */
typedef struct stopper {
    int left;
} stopper;
static int stop(void *user) { return ((stopper *)user)->left-- <= 0; }

/* A stopped pass continues where it ended, and finds the same. */
static void stopped(void **state) {
    enum { COLS = 40 };
    gpuopt_context_desc context_desc = test_context_desc(NULL);
    stopper host = {0};
    gpuopt_context *context;
    mip m = problem_new(COLS, COLS, 2 * COLS);
    gpuopt_propagator_desc desc;
    gpuopt_propagator *base;
    gpuopt_propagator_probe *probe;
    gpuopt_propagator_probe_info info = GPUOPT_INIT(gpuopt_propagator_probe_info);
    int32_t col[COLS], j, at = 0, calls = 0;
    int64_t implications = 0;
    (void)state;
    for (j = 0; j < COLS; j++) problem_col(&m, col[j] = j, 0, 1, 1);
    for (j = 0; j + 1 < COLS; j++) problem_row(&m, -INFINITY, 0), problem_entry(&m, j, 1), problem_entry(&m, j + 1, -1);
    desc = mip_propagator_desc(&m);
    context_desc.stop = stop, context_desc.user = &host;
    context_desc.allocate = NULL, context_desc.release = NULL, context_desc.log = NULL;
    host.left = 1 << 30;
    assert_int_equal(gpuopt_context_create(&context_desc, &context), GPUOPT_OK);
    base = problem_create(context, &desc);
    problem_round(base, 10);
    probe = make_probe(base, 4, 0, 0);
    do {
        host.left = 5;
        assert_int_equal(gpuopt_propagator_probe_run(probe, COLS - at, col + at, ROUNDS, &info), GPUOPT_OK);
        assert_true(info.outcome == GPUOPT_MORE || at + info.probed == COLS);
        at += info.probed;
        implications += info.implications;
        assert_true(calls++ < 10 * COLS);
    } while (info.outcome == GPUOPT_MORE);
    assert_int_equal(info.outcome, GPUOPT_CONVERGED);
    assert_int_equal(at, COLS);
    assert_true(calls > 2);
    /* x[j] <= x[j + 1]: 0 goes down to all before, 1 up to all after. */
    assert_int_equal(implications, COLS * (COLS - 1));
    gpuopt_propagator_probe_destroy(probe);
    gpuopt_propagator_destroy(base);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* Faults are refused, and probing works afterwards. */
static void misuse(void **state) {
    model_host *h = *state;
    mip m = model_union();
    gpuopt_propagator_desc model = mip_propagator_desc(&m);
    gpuopt_propagator *base = problem_create(h->context, &model);
    gpuopt_propagator_probe_desc desc = GPUOPT_INIT(gpuopt_propagator_probe_desc);
    gpuopt_propagator_probe *probe;
    gpuopt_propagator_probe_info info = GPUOPT_INIT(gpuopt_propagator_probe_info);
    gpuopt_propagator_probe_bounds bounds = GPUOPT_INIT(gpuopt_propagator_probe_bounds);
    gpuopt_propagator_probe_implications implications = GPUOPT_INIT(gpuopt_propagator_probe_implications);
    gpuopt_propagator_probe_equivalences equivalences = GPUOPT_INIT(gpuopt_propagator_probe_equivalences);
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    int32_t col[6] = {0, 1, 2, 5, 0, 0};
#define REFUSED(status, call) assert_int_equal(gpuopt_propagator_probe_##call, GPUOPT_ERROR_##status)
    REFUSED(ARGUMENT, create(NULL, &desc, NULL, &probe));
    REFUSED(ARGUMENT, create(base, NULL, NULL, &probe));
    REFUSED(ARGUMENT, create(base, &desc, NULL, NULL));
    REFUSED(ARGUMENT, create(NULL, &desc, &plan, NULL));
    REFUSED(ARGUMENT, create(base, &desc, NULL, NULL));
    desc.nodes = 3;
    REFUSED(ARGUMENT, create(base, &desc, NULL, &probe));
    desc.nodes = 65538;
    REFUSED(ARGUMENT, create(base, &desc, NULL, &probe));
    desc.nodes = 0, desc.changes = 9; /* less than 2 for each of the five columns */
    REFUSED(ARGUMENT, create(base, &desc, NULL, &probe));
    desc.changes = 0, desc.implications = -1;
    REFUSED(ARGUMENT, create(base, &desc, NULL, &probe));
    desc.implications = 0, desc.equivalences = -1;
    REFUSED(ARGUMENT, create(base, &desc, &plan, NULL));
    desc.equivalences = 0;
    model.marking = GPUOPT_OFF;
    gpuopt_propagator_destroy(base);
    base = problem_create(h->context, &model);
    REFUSED(UNSUPPORTED, create(base, &desc, NULL, &probe));
    assert_null(probe);
    gpuopt_propagator_destroy(base);
    model.marking = GPUOPT_DEFAULT;
    base = problem_create(h->context, &model);
    problem_round(base, 10);
    assert_int_equal(gpuopt_propagator_probe_create(base, &desc, NULL, &probe), GPUOPT_OK);
    REFUSED(STATE, get_bounds(probe, &bounds));
    REFUSED(STATE, get_implications(probe, &implications));
    REFUSED(STATE, get_equivalences(probe, &equivalences));
    REFUSED(ARGUMENT, run(NULL, 0, NULL, 1, &info));
    REFUSED(ARGUMENT, run(probe, 0, NULL, 0, &info));
    REFUSED(ARGUMENT, run(probe, -1, NULL, 1, &info));
    REFUSED(ARGUMENT, run(probe, 6, col, 1, &info));
    REFUSED(ARGUMENT, run(probe, 4, col, 1, &info)); /* column 5 */
    info.struct_size = 0;
    REFUSED(ARGUMENT, run(probe, 3, col, 1, &info));
    REFUSED(STATE, get_bounds(probe, &bounds));
    gpuopt_desc_init(&info, sizeof info);
    assert_int_equal(gpuopt_propagator_probe_run(probe, 3, col, ROUNDS, &info), GPUOPT_OK);
    assert_int_equal(info.probed, 2);
    REFUSED(ARGUMENT, get_bounds(NULL, &bounds));
    REFUSED(ARGUMENT, get_bounds(probe, NULL));
    REFUSED(ARGUMENT, get_implications(probe, NULL));
    REFUSED(ARGUMENT, get_equivalences(probe, NULL));
    bounds.capacity = implications.capacity = equivalences.capacity = -1;
    REFUSED(ARGUMENT, get_bounds(probe, &bounds));
    REFUSED(ARGUMENT, get_implications(probe, &implications));
    REFUSED(ARGUMENT, get_equivalences(probe, &equivalences));
    bounds.capacity = 0;
    assert_int_equal(gpuopt_propagator_probe_get_bounds(probe, &bounds), GPUOPT_OK);
    assert_int_equal(bounds.count, 1);
    gpuopt_propagator_probe_destroy(probe);
    gpuopt_propagator_probe_destroy(NULL);
    gpuopt_propagator_destroy(base);
    mip_free(&m);
}

/* Memory is as planned, and each allocation may fail. */
static void memory(void **state) {
    model_host *h = *state;
    gpuopt_propagator_probe_desc desc = GPUOPT_INIT(gpuopt_propagator_probe_desc);
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    gpuopt_propagator *base = problem_create(h->context, &h->desc);
    gpuopt_propagator_probe *probe;
    uint64_t before[2];
    long blocks = h->host.live, first = h->host.allocations, k;
    desc.implications = 1000, desc.equivalences = 10;
    assert_int_equal(gpuopt_propagator_probe_create(base, &desc, &plan, NULL), GPUOPT_OK);
    memcpy(before, h->host.bytes, sizeof before);
    assert_int_equal(gpuopt_propagator_probe_create(base, &desc, NULL, &probe), GPUOPT_OK);
    assert_int_equal(h->host.bytes[GPUOPT_HOST] - before[GPUOPT_HOST], plan.host_bytes);
    assert_int_equal(h->host.bytes[GPUOPT_DEVICE] - before[GPUOPT_DEVICE], plan.device_bytes);
    first = h->host.allocations - first;
    gpuopt_propagator_probe_destroy(probe);
    assert_int_equal(h->host.live, blocks);
    for (k = 1; k <= first; k++) {
        h->host.fail_at = h->host.allocations + k;
        assert_int_equal(gpuopt_propagator_probe_create(base, &desc, NULL, &probe), GPUOPT_ERROR_MEMORY);
        assert_null(probe);
        assert_int_equal(h->host.live, blocks);
    }
    h->host.fail_at = 0;
    assert_int_equal(gpuopt_propagator_probe_create(base, &desc, NULL, &probe), GPUOPT_OK);
    gpuopt_propagator_probe_destroy(probe);
    gpuopt_propagator_destroy(base);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(random_models),
    cmocka_unit_test(by_hand),
    cmocka_unit_test(crossing),
    cmocka_unit_test(little_capacity),
    cmocka_unit_test(stopped),
    MODEL_TEST(misuse),
    MODEL_TEST(memory),
};

TEST_MAIN(tests)
