/* SPDX-License-Identifier: MIT
 *
 * Multiple-choice knapsacks: optima against enumeration, dynamic programming and the 0-1 search; the same counts and
 * items on every backend, and for any division of the work; numbers of all sizes.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/knapsack/choice_models.h"
#include "tests/knapsack/models.h"

static int64_t searched(gpuopt_context *context, const choice *m, int64_t optimum) {
    gpuopt_knapsack_multiple_choice_desc desc = choice_desc(m, 1 << 16);
    gpuopt_knapsack_multiple_choice *k = choice_create(context, &desc);
    gpuopt_knapsack_multiple_choice_info info = choice_info(k);
    if (info.outcome != GPUOPT_INFEASIBLE) {
        assert_true(info.primal_bound <= optimum && optimum <= info.dual_bound && info.expanded == 0);
        choice_check_items(k, m, NULL);
    }
    info = choice_finish(k, m, optimum);
    gpuopt_knapsack_multiple_choice_destroy(k);
    return info.expanded;
}

/* All kinds, against every selection; some without a solution. */
static void enumerated(void **state) {
    gpuopt_context *context = test_context(NULL);
    choice *m = malloc(sizeof *m);
    uint64_t seed = 1;
    int64_t expanded = 0;
    int round, none = 0;
    (void)state;
    for (round = 0; round < test_times(1500, 300); round++) {
        int64_t optimum;
        choice_random(m, round % CHOICE_KINDS, (int32_t)test_random_int(&seed, 0, 6),
                      (int32_t)test_random_int(&seed, 1, 5),
                      round % 3 == 0   ? 5
                      : round % 3 == 1 ? 100
                                       : 100000,
                      &seed);
        m->at_most_one = round % 4 == 0;
        if (round % 11 == 0) m->capacity /= 3;
        optimum = choice_by_enumeration(m);
        none += optimum == INT64_MIN;
        expanded += searched(context, m, optimum);
    }
    assert_true(test_few() || (none > round / 50 && expanded > round));
    free(m);
    gpuopt_context_destroy(context);
}

/* The kinds of the literature, with long lists and decisions that take many words, against dynamic programming. */
static void capacities(void **state) {
    gpuopt_context *context = test_context(NULL);
    choice *m = malloc(sizeof *m);
    uint64_t seed = 2;
    int64_t expanded = 0;
    int round;
    (void)state;
    for (round = 0; round < test_times(60, 30); round++) {
        const int32_t classes = round % 3 == 0 ? 100 : round % 3 == 1 ? 20 : 10;
        choice_random(m, round % CHOICE_KINDS, classes, classes == 100 ? 10 : 20, 100, &seed);
        m->at_most_one = round % 5 == 0;
        expanded += searched(context, m, choice_by_capacities(m));
    }
    assert_true(expanded > (test_few() ? 0 : 20 * round));
    free(m);
    gpuopt_context_destroy(context);
}

/* Classes of one item, at most one of which is taken, are gpuopt_knapsack's problem. */
static void single(void **state) {
    gpuopt_context *context = test_context(NULL);
    choice *m = malloc(sizeof *m);
    uint64_t seed = 3;
    int round;
    (void)state;
    for (round = 0; round < test_times(40, 20); round++) {
        int64_t sum = 0;
        int32_t j;
        choice_random(m, round % 4, 50 + 10 * (round % 8), 1, 1000, &seed);
        m->at_most_one = 1;
        for (j = 0; j < m->classes; j++) sum += m->weight[j];
        m->capacity = sum / 2;
        searched(context, m, model_searched(context, m->classes, m->weight, m->profit, m->capacity));
    }
    free(m);
    gpuopt_context_destroy(context);
}

/* The report of a search at its end. */
typedef struct ending {
    gpuopt_knapsack_multiple_choice_info info;
    int32_t chosen[CHOICE_CLASSES];
} ending;

/* Runs to the end by calls of this many states or steps; 0: no limit. between: the items are fetched after each
 * call. */
static ending run_in_pieces(gpuopt_context *context, const gpuopt_knapsack_multiple_choice_desc *desc, const choice *m,
                            int64_t states, int32_t steps, int between) {
    gpuopt_knapsack_multiple_choice *k = choice_create(context, desc);
    ending e;
    memset(&e, 0, sizeof e);
    gpuopt_desc_init(&e.info, sizeof e.info);
    test_forbid_allocation(1);
    do {
        const gpuopt_knapsack_multiple_choice_info was = choice_info(k);
        assert_int_equal(gpuopt_knapsack_multiple_choice_run(k, states, steps, &e.info), GPUOPT_OK);
        assert_true(e.info.primal_bound >= was.primal_bound && e.info.dual_bound <= was.dual_bound &&
                    e.info.expanded >= was.expanded);
        assert_true(steps == 0 || e.info.steps <= was.steps + steps);
        if (between) choice_check_items(k, m, NULL);
    } while (e.info.outcome == GPUOPT_MORE);
    assert_int_equal(e.info.outcome, GPUOPT_OPTIMAL);
    choice_check_items(k, m, e.chosen);
    test_forbid_allocation(0);
    gpuopt_knapsack_multiple_choice_destroy(k);
    return e;
}

/* The backend under test agrees with one thread of the CPU, state for state, in one call or in many. */
static void same_bits(void **state) {
    gpuopt_context *context = test_context(NULL), *plain = test_plain_context();
    choice *m = malloc(sizeof *m);
    uint64_t seed = 5;
    int round, steps = 0;
    (void)state;
    for (round = 0; round < test_times(28, 14); round++) {
        gpuopt_knapsack_multiple_choice_desc desc;
        ending one, other;
        choice_random(m, round % CHOICE_KINDS, 60, 1 + round, 1000, &seed);
        desc = choice_desc(m, 1 << 16);
        one = run_in_pieces(context, &desc, m, 0, 0, 0);
        other = run_in_pieces(plain, &desc, m, 0, 0, 0);
        assert_memory_equal(&one, &other, sizeof one);
        other = run_in_pieces(context, &desc, m, 0, 1, 0);
        assert_memory_equal(&one, &other, sizeof one);
        other = run_in_pieces(context, &desc, m, 0, 2, 1);
        assert_memory_equal(&one.info, &other.info, sizeof one.info);
        other = run_in_pieces(context, &desc, m, 1000, 0, 0);
        assert_memory_equal(&one, &other, sizeof one);
        steps += (int)one.info.steps;
    }
    assert_true(steps > 3 * round);
    free(m);
    gpuopt_context_destroy(plain);
    gpuopt_context_destroy(context);
}

/* Lists so long that a step is divided: the results of one thread of the CPU, also if the lists only just fit. */
static void long_lists(void **state) {
    gpuopt_context *context = test_context(NULL), *plain = test_plain_context();
    choice *m = malloc(sizeof *m);
    uint64_t seed = 6;
    int round, many = 0;
    (void)state;
    for (round = 0; round < test_times(8, 2); round++) {
        const int32_t steps = 3;
        gpuopt_knapsack_multiple_choice_desc desc;
        gpuopt_knapsack_multiple_choice_info info = GPUOPT_INIT(gpuopt_knapsack_multiple_choice_info), other = info;
        gpuopt_knapsack_multiple_choice *one, *two;
        int32_t chosen[CHOICE_CLASSES], also[CHOICE_CLASSES];
        int64_t j, peak = 320000;
        int tight;
        choice_random(m, round % 4 == 1 ? 2 : 0, 20, 68, INT64_C(1) << (round % 4 == 3 ? 14 : 44 + round), &seed);
        for (j = 0; j < m->begin[m->classes] && round % 4 != 1; j++) m->profit[j] = m->weight[j] + (round % 4 == 2);
        for (j = 0; j < m->begin[m->classes] && round % 4 == 3; j++)
            m->profit[j] += test_random_int(&seed, 0, 99); /* some are dominated */
        for (tight = 0; tight < 3; tight++) {              /* capacity for many; just enough; one too few */
            desc = choice_desc(m, peak - (tight == 2));
            one = choice_create(context, &desc);
            two = choice_create(plain, &desc);
            assert_int_equal(gpuopt_knapsack_multiple_choice_run(one, 0, steps, &info), GPUOPT_OK);
            assert_int_equal(gpuopt_knapsack_multiple_choice_run(two, 0, steps, &other), GPUOPT_OK);
            assert_memory_equal(&info, &other, sizeof info);
            assert_int_equal(choice_check_items(one, m, chosen), choice_check_items(two, m, also));
            assert_memory_equal(chosen, also, sizeof *chosen * (size_t)m->classes);
            gpuopt_knapsack_multiple_choice_destroy(one);
            gpuopt_knapsack_multiple_choice_destroy(two);
            if (tight < 2) peak = info.peak;
        }
        many += peak > 1 << 17;
    }
    assert_true(many > round / 2);
    free(m);
    gpuopt_context_destroy(plain);
    gpuopt_context_destroy(context);
}

/* Numbers of all sizes; sums that exceed 2^60 are refused. */
static void large_numbers(void **state) {
    const int64_t most = (int64_t)1 << 60;
    gpuopt_context *context = test_context(NULL);
    choice *m = malloc(sizeof *m);
    uint64_t seed = 4;
    int round, refused = 0, accepted = 0;
    (void)state;
    for (round = 0; round < test_times(600, 150); round++) {
        const int weight_bits = (int)test_random_int(&seed, 0, 62), profit_bits = (int)test_random_int(&seed, 0, 62);
        gpuopt_knapsack_multiple_choice_desc desc;
        gpuopt_knapsack_multiple_choice *k = NULL;
        __extension__ __int128 weights = 0, profits = 0;
        int32_t c;
        int64_t j;
        choice_random(m, 0, 1 + round % 5, 1 + round % 4, 100, &seed);
        for (j = 0; j < m->begin[m->classes]; j++) {
            m->weight[j] = test_random_int(&seed, 0, INT64_MAX >> weight_bits);
            m->profit[j] = test_random_int(&seed, 0, INT64_MAX >> profit_bits);
            if (test_random(&seed) < .5) m->profit[j] = -m->profit[j];
        }
        m->capacity = test_random_int(&seed, 0, INT64_MAX >> weight_bits);
        if (round % 2) m->capacity = INT64_MAX - test_random_int(&seed, 0, 3);
        m->at_most_one = round % 3 == 0;
        for (c = 0; c < m->classes; c++) {
            int64_t weight = 0, profit = 0;
            for (j = m->begin[c]; j < m->begin[c + 1]; j++) {
                if (m->weight[j] > m->capacity) continue;
                if (m->weight[j] > weight) weight = m->weight[j];
                if (llabs(m->profit[j]) > profit) profit = llabs(m->profit[j]);
            }
            weights += weight;
            profits += profit;
        }
        desc = choice_desc(m, 4096);
        if (weights > most || profits > most) {
            assert_int_equal(gpuopt_knapsack_multiple_choice_create(context, &desc, NULL, &k), GPUOPT_ERROR_NUMERIC);
            refused++;
            continue;
        }
        accepted++;
        searched(context, m, choice_by_enumeration(m));
    }
    assert_true(test_few() || (accepted > round / 3 && refused > round / 20));
    free(m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(enumerated), cmocka_unit_test(capacities),    cmocka_unit_test(single),
    cmocka_unit_test(same_bits),  cmocka_unit_test(large_numbers), cmocka_unit_test(long_lists),
};

TEST_MAIN(tests)
