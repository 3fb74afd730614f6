/* SPDX-License-Identifier: MIT
 *
 * A knapsack search on several ranks (examples/io/knapsack_ranks.c): the optimum against dynamic programming, and the
 * items have this profit; the work is shared.
 */
#include <stdlib.h>
#include <string.h>

#include "examples/io/knapsack_ranks.h"
#include "tests/group/ranks.h"

enum { MOST_ITEMS = 60, MOST_CAPACITY = 20000 };

typedef struct problem {
    int64_t weight[MOST_ITEMS], profit[MOST_ITEMS], capacity, optimum, nodes, pool;
    int32_t items;
    gpuopt_knapsack_search search;
    int differs; /* rank 1 has 1: another capacity, 2: another search, 3: another pool; 4: all have too few items */
    knapsack_ranks_answer answer; /* of rank 0 */
} problem;

static int64_t dynamic_programming(const problem *p) {
    static int64_t best[MOST_CAPACITY + 1];
    int64_t c;
    int32_t j;
    memset(best, 0, sizeof best);
    for (j = 0; j < p->items; j++)
        for (c = p->capacity; c >= p->weight[j]; c--)
            if (best[c - p->weight[j]] + p->profit[j] > best[c]) best[c] = best[c - p->weight[j]] + p->profit[j];
    return best[p->capacity];
}

/* Strongly correlated, so that there is something to search. */
static problem draw(uint64_t seed, int32_t items) {
    problem p;
    int32_t j;
    memset(&p, 0, sizeof p);
    p.items = items;
    for (j = 0; j < items; j++) {
        p.weight[j] = test_random_int(&seed, 1, 300);
        p.profit[j] = p.weight[j] + (seed % 3 ? 30 : test_random_int(&seed, 0, 60));
        p.capacity += p.weight[j];
    }
    p.capacity = p.capacity / 2;
    p.optimum = dynamic_programming(&p);
    p.nodes = 50;
    return p;
}

static void solves(rank *r) {
    const problem *p = r->all->data;
    gpuopt_knapsack_desc desc = GPUOPT_INIT(gpuopt_knapsack_desc);
    knapsack_ranks_answer answer;
    int64_t taken[MOST_ITEMS];
    int64_t weight = 0, profit = 0;
    int32_t j;
    gpuopt_status status;
    desc.items = p->items;
    desc.weight = p->weight;
    desc.profit = p->profit;
    desc.capacity = p->capacity + (p->differs == 1 && r->number == 1);
    desc.search = p->differs == 2 && r->number == 1 ? GPUOPT_SEARCH_BREADTH : p->search;
    desc.reduction = GPUOPT_OFF;
    desc.pool = p->pool + (p->differs == 3 && r->number == 1);
    if (p->differs == 4) desc.items = -1;
    EXPECT(r, rank_join(r, 20) == GPUOPT_OK);
    memset(taken, 7, sizeof taken);
    status = knapsack_solve_ranks(r->context, r->group, &desc, p->nodes, taken, &answer);
    if (p->differs) {
        EXPECT(r, status == GPUOPT_ERROR_ARGUMENT);
        return;
    }
    EXPECT(r, status == GPUOPT_OK);
    EXPECT(r, answer.profit == p->optimum);
    for (j = 0; j < p->items; j++) {
        EXPECT(r, taken[j] == 0 || taken[j] == 1);
        weight += taken[j] * p->weight[j];
        profit += taken[j] * p->profit[j];
    }
    EXPECT(r, profit == p->optimum && weight <= p->capacity);
    EXPECT(r, gpuopt_group_agree(r->group, taken, (uint64_t)p->items * sizeof *taken) == GPUOPT_OK);
    EXPECT(r, gpuopt_group_agree(r->group, &answer, sizeof answer) == GPUOPT_OK);
    if (r->number == 0) ((problem *)p)->answer = answer;
}

static void optima(void **state) {
    uint64_t seed;
    int ranks;
    int64_t moves = 0, shared = 0;
    (void)state;
    for (seed = 1; seed <= 40; seed++)
        for (ranks = 1; ranks <= 4; ranks++) {
            problem p = draw(seed, (int32_t)(seed % 8 == 0 ? seed / 8 : 12 + seed));
            p.search = seed % 2 ? GPUOPT_SEARCH_BREADTH : GPUOPT_SEARCH_DOMINANCE;
            if (seed % 5 == 0) p.pool = 1; /* the least there is: depth first */
            ranks_run(ranks, solves, &p);
            moves += p.answer.moves;
            if (ranks == 1) assert_true(p.answer.moves == 0 && p.answer.least == p.answer.most);
            else shared += p.answer.least > 0;
        }
    assert_true(moves > 50 && shared > 20); /* else there was nothing to share */
}

/* If there is enough work, no rank does much more than another. */
static void even_shares(void **state) {
    uint64_t seed;
    int ranks, checked = 0;
    (void)state;
    for (seed = 1; seed <= 30; seed++)
        for (ranks = 2; ranks <= 4; ranks++) {
            problem p = draw(seed, 60);
            p.search = GPUOPT_SEARCH_BREADTH;
            p.nodes = 50;
            ranks_run(ranks, solves, &p);
            if (p.answer.expanded < 3000) continue;
            checked++;
            if (p.answer.least * ranks * 10 < p.answer.expanded * 7)
                fail_msg("seed %d: of %lld nodes one of %d ranks expands %lld", (int)seed, (long long)p.answer.expanded,
                         ranks, (long long)p.answer.least);
        }
    print_message("%d searches\n", checked);
    assert_true(checked >= 6);
}

static void different_problems(void **state) {
    problem p = draw(3, 30);
    (void)state;
    for (p.differs = 1; p.differs <= 4; p.differs++) ranks_run(3, solves, &p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(optima),
    cmocka_unit_test(even_shares),
    cmocka_unit_test(different_problems),
};
TEST_MAIN(tests)
