/* SPDX-License-Identifier: MIT
 *
 * Multidimensional knapsacks: optima against all subsets, dynamic programming and the search of one constraint. Numbers
 * of all sizes; the same counts and items on every backend, and for any division of the work.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/knapsack/models.h"
#include "tests/knapsack/multi_models.h"

/* Searches with a limit (0: none), at which there must be bounds on both sides. Returns the nodes, and counts the
 * searches that end. */
static int64_t searched(gpuopt_context *context, const multi *m, int32_t workers, int64_t limit, int64_t optimum,
                        int *solved) {
    gpuopt_knapsack_multidimensional_desc desc = multi_desc(m, workers);
    gpuopt_knapsack_multidimensional_info info = GPUOPT_INIT(gpuopt_knapsack_multidimensional_info);
    gpuopt_knapsack_multidimensional *k;
    desc.node_limit = limit;
    k = multi_create(context, &desc);
    info = multi_info(k);
    assert_true(info.primal_bound <= optimum && optimum <= info.dual_bound && info.nodes == 0);
    assert_true(info.outcome == GPUOPT_MORE || info.free_items == 0);
    assert_int_equal(gpuopt_knapsack_multidimensional_run(k, 0, 0, &info), GPUOPT_OK);
    assert_true(info.free_items >= 0 && info.free_items <= m->items);
    if (info.outcome == GPUOPT_LIMIT) {
        assert_true(limit > 0 && info.nodes >= limit && info.primal_bound <= optimum && optimum <= info.dual_bound);
        multi_check_items(k, m, NULL);
    } else {
        multi_finish(k, m, optimum);
        ++*solved;
    }
    gpuopt_knapsack_multidimensional_destroy(k);
    return info.nodes;
}

/* All kinds, with up to 30 rows, against all subsets. */
static void subsets(void **state) {
    gpuopt_context *context = test_context(NULL);
    multi *m = malloc(sizeof *m);
    uint64_t seed = 1;
    int64_t nodes = 0;
    int round, ended = 0;
    (void)state;
    for (round = 0; round < test_times(600, 200); round++) {
        const int32_t items = (int32_t)test_random_int(&seed, 0, test_few() ? 11 : 13);
        const int32_t rows = round % 5 == 0 ? (int32_t)test_random_int(&seed, 6, 30) : round % 5;
        multi_random(m, round % MULTI_KINDS, items, rows, round % 3 == 0 ? 5 : round % 3 == 1 ? 100 : 100000, &seed);
        nodes += searched(context, m, 1 << round % 7, 0, (int64_t)multi_by_subsets(m), &ended);
    }
    assert_true((nodes > 5 * round || test_few()) && ended == round);
    free(m);
    gpuopt_context_destroy(context);
}

/* More items than a word has bits, against dynamic programming. */
static void capacities(void **state) {
    gpuopt_context *context = test_context(NULL);
    multi *m = malloc(sizeof *m);
    uint64_t seed = 2;
    int64_t nodes = 0;
    int round, ended = 0;
    (void)state;
    for (round = 0; round < test_times(40, 20); round++) {
        const int32_t items = round % 2 ? 150 : 40;
        multi_random(m, round % 3 == 2 ? 5 : round % 3, items, 2, round % 3 == 1 ? 12 : 100, &seed);
        while (m->capacity[0] > 600 || m->capacity[1] > 600) m->capacity[0] /= 2, m->capacity[1] /= 2;
        nodes += searched(context, m, 64, test_few() ? 20000 : 200000, multi_by_capacities(m), &ended);
    }
    assert_true(nodes > 100 * round && ended > round / 4);
    free(m);
    gpuopt_context_destroy(context);
}

/* With one row it is gpuopt_knapsack's problem. */
static void one_row(void **state) {
    gpuopt_context *context = test_context(NULL);
    multi *m = malloc(sizeof *m);
    uint64_t seed = 3;
    int round, ended = 0;
    (void)state;
    for (round = 0; round < test_times(60, 30); round++) {
        int64_t optimum;
        multi_random(m, round % MULTI_KINDS, 1 + round % 60, 1, 1000, &seed);
        optimum = model_searched(context, m->items, m->weight, m->profit, m->capacity[0]);
        searched(context, m, 64, test_few() ? 20000 : 200000, optimum, &ended);
    }
    assert_true(ended > round / 2);
    free(m);
    gpuopt_context_destroy(context);
}

/* Numbers of all sizes; sums that exceed 2^58 are refused. */
static void large_numbers(void **state) {
    gpuopt_context *context = test_context(NULL);
    multi *m = malloc(sizeof *m);
    uint64_t seed = 4;
    int round, refused = 0, accepted = 0;
    (void)state;
    for (round = 0; round < test_times(600, 200); round++) {
        const multi_wide most = (multi_wide)1 << 58;
        const int32_t rows = 1 + round % 4;
        const int shift = (int)test_random_int(&seed, 0, 60);
        gpuopt_knapsack_multidimensional_desc desc;
        gpuopt_knapsack_multidimensional *k = NULL;
        multi_wide sum[5] = {0};
        int32_t i, j, fits;
        gpuopt_status status;
        int fine = 1;
        memset(m, 0, sizeof *m);
        m->items = 1 + round % 9;
        m->rows = rows;
        for (i = 0; i < rows; i++) {
            const int more = round % 2 ? 0 : (int)test_random_int(&seed, 0, 20);
            multi_wide all = 0;
            for (j = 0; j < m->items; j++) {
                m->weight[i * m->items + j] = test_random_int(&seed, 0, (INT64_MAX >> shift) >> more);
                all += m->weight[i * m->items + j];
            }
            m->capacity[i] = all / 2 > INT64_MAX ? INT64_MAX : (int64_t)(all / 2);
            if (test_random(&seed) < .2) m->capacity[i] = INT64_MAX - test_random_int(&seed, 0, 3);
        }
        for (j = 0; j < m->items; j++) {
            m->profit[j] = test_random_int(&seed, 0, INT64_MAX >> test_random_int(&seed, 4, 62));
            for (fits = m->profit[j] > 0, i = 0; i < rows; i++) fits &= m->weight[i * m->items + j] <= m->capacity[i];
            for (i = 0; i < rows && fits; i++) sum[i] += m->weight[i * m->items + j];
            if (fits) sum[4] += m->profit[j];
        }
        for (i = 0; i < 5; i++) fine &= sum[i] <= most;
        desc = multi_desc(m, 4);
        status = gpuopt_knapsack_multidimensional_create(context, &desc, NULL, &k);
        assert_int_equal(status, fine ? GPUOPT_OK : GPUOPT_ERROR_NUMERIC);
        refused += !fine;
        accepted += fine;
        if (fine) multi_finish(k, m, (int64_t)multi_by_subsets(m));
        gpuopt_knapsack_multidimensional_destroy(k);
    }
    assert_true(test_few() || (accepted > round / 3 && refused > round / 20));
    free(m);
    gpuopt_context_destroy(context);
}

/* The report of a search at its end. */
typedef struct ending {
    gpuopt_knapsack_multidimensional_info info;
    int64_t taken[MULTI_ITEMS];
} ending;

/* Runs to the end by calls of this many nodes or rounds; 0: no limit. */
static ending run_in_pieces(gpuopt_context *context, const gpuopt_knapsack_multidimensional_desc *desc, const multi *m,
                            int64_t nodes, int32_t rounds) {
    gpuopt_knapsack_multidimensional *k = multi_create(context, desc);
    ending e;
    memset(&e, 0, sizeof e);
    gpuopt_desc_init(&e.info, sizeof e.info);
    test_forbid_allocation(1);
    do {
        const gpuopt_knapsack_multidimensional_info was = multi_info(k);
        assert_int_equal(gpuopt_knapsack_multidimensional_run(k, nodes, rounds, &e.info), GPUOPT_OK);
        assert_true(e.info.primal_bound >= was.primal_bound && e.info.dual_bound <= was.dual_bound &&
                    e.info.nodes >= was.nodes);
        assert_true(rounds == 0 || e.info.rounds <= was.rounds + rounds);
        assert_true(e.info.outcome == GPUOPT_OPTIMAL || nodes == 0 || e.info.nodes >= was.nodes + nodes);
        multi_check_items(k, m, e.taken);
    } while (e.info.outcome == GPUOPT_MORE);
    test_forbid_allocation(0);
    gpuopt_knapsack_multidimensional_destroy(k);
    return e;
}

/* The backend under test agrees with one thread of the CPU, node for node, in one call or in many. */
static void same_bits(void **state) {
    gpuopt_context *context = test_context(NULL), *plain = test_plain_context();
    multi *m = malloc(sizeof *m);
    uint64_t seed = 5;
    int round;
    (void)state;
    for (round = 0; round < test_times(12, 6); round++) {
        gpuopt_knapsack_multidimensional_desc desc;
        ending one, other;
        multi_random(m, round % 3, round % 4 == 3 ? 70 : 30, round % 4 == 2 ? 12 : round % 4 == 3 ? 2 : 5, 100, &seed);
        desc = multi_desc(m, test_few() ? 64 : 1024);
        desc.node_limit = test_few() ? 40000 : 400000;
        one = run_in_pieces(context, &desc, m, 0, 0);
        other = run_in_pieces(plain, &desc, m, 0, 0);
        assert_memory_equal(&one, &other, sizeof one);
        other = run_in_pieces(context, &desc, m, 0, 1);
        assert_memory_equal(&one, &other, sizeof one);
        other = run_in_pieces(context, &desc, m, 3000, 0);
        assert_memory_equal(&one, &other, sizeof one);
    }
    free(m);
    gpuopt_context_destroy(plain);
    gpuopt_context_destroy(context);
}

/* Any number of workers finds the same optimum; many of them share the work. The model is the first that takes one
 * worker a hundred rounds. */
static void workers(void **state) {
    gpuopt_context *context = test_context(NULL);
    multi *m = malloc(sizeof *m);
    uint64_t seed = 6;
    int32_t count = 1;
    int64_t optimum = -1, alone = 0;
    (void)state;
    while (count <= 1024) {
        gpuopt_knapsack_multidimensional_desc desc;
        gpuopt_knapsack_multidimensional *k;
        gpuopt_knapsack_multidimensional_info info = GPUOPT_INIT(gpuopt_knapsack_multidimensional_info);
        int32_t busy = 0;
        if (count == 1) multi_random(m, 0, 70, 5, 1000, &seed);
        desc = multi_desc(m, count);
        k = multi_create(context, &desc);
        do {
            assert_int_equal(gpuopt_knapsack_multidimensional_run(k, 0, count < 4 ? 100 : 2, &info), GPUOPT_OK);
            if (info.busy > busy) busy = info.busy;
            assert_true(info.busy <= count && info.nodes <= info.rounds * 128 * count);
        } while (info.outcome == GPUOPT_MORE && (count > 1 || info.rounds < 800));
        if (count == 1) optimum = info.primal_bound, alone = info.rounds;
        if (count > 1 || info.outcome == GPUOPT_OPTIMAL) {
            assert_true(info.outcome == GPUOPT_OPTIMAL && info.primal_bound == optimum);
            assert_int_equal(multi_check_items(k, m, NULL), optimum);
        }
        if (count == 16) assert_true(busy > 8 && info.rounds < alone / 4);
        if (count > 1 || (info.outcome == GPUOPT_OPTIMAL && alone > 100)) count *= 4;
        gpuopt_knapsack_multidimensional_destroy(k);
    }
    free(m);
    gpuopt_context_destroy(context);
}

/* Profits that are all multiplied by a number change nothing else. */
static void unit(void **state) {
    gpuopt_context *context = test_context(NULL);
    multi *m = malloc(sizeof *m);
    uint64_t seed = 7;
    int round;
    (void)state;
    for (round = 0; round < 6; round++) {
        gpuopt_knapsack_multidimensional_desc desc;
        ending one, other;
        int32_t j;
        multi_random(m, 0, 30, 1 + round, 100, &seed);
        desc = multi_desc(m, 16);
        one = run_in_pieces(context, &desc, m, 0, 0);
        for (j = 0; j < m->items; j++) m->profit[j] *= 1000;
        other = run_in_pieces(context, &desc, m, 0, 0);
        one.info.primal_bound *= 1000, one.info.dual_bound *= 1000;
        assert_memory_equal(&one, &other, sizeof one);
    }
    free(m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(subsets),       cmocka_unit_test(capacities), cmocka_unit_test(one_row),
    cmocka_unit_test(large_numbers), cmocka_unit_test(same_bits),  cmocka_unit_test(workers),
    cmocka_unit_test(unit),
};

TEST_MAIN(tests)
