/* SPDX-License-Identifier: MIT
 *
 * Searches shared by ranks (gpuopt_knapsack_desc.group), long enough that recovering the items takes further searches,
 * which are shared, too; and in pools that are too small for their lists. The items equal those of a handle without a
 * group; in a small pool, they are some items of the optimal profit.
 */
#include <string.h>

#include "tests/group/ranks.h"
#include "tests/knapsack/models.h"

typedef struct work {
    model m;
    gpuopt_knapsack_desc desc;
    int peers; /* contexts have the library's own memory, which other ranks can access */
    gpuopt_knapsack_info info;
    int64_t taken[MODEL_MOST], profit;
    int exchanges;  /* for the items, of rank 0's transport */
    int64_t slices; /* of all searches by several ranks */
} work;

static const int many = 1 << 20;

static void solve(rank *r, const gpuopt_knapsack_desc *desc, gpuopt_knapsack_info *info, int64_t *taken,
                  int64_t *profit, const rank_faulty *transport, int *exchanges) {
    gpuopt_knapsack *k = NULL;
    memset(info, 0, sizeof *info);
    info->struct_size = sizeof *info;
    EXPECT(r, gpuopt_knapsack_create(r->context, desc, NULL, &k) == GPUOPT_OK);
    if (!k) return;
    EXPECT(r, gpuopt_knapsack_expand(k, 0, 0, info) == GPUOPT_OK && info->outcome == GPUOPT_OPTIMAL);
    *exchanges = transport->left;
    EXPECT(r, gpuopt_knapsack_get_items(k, GPUOPT_HOST, taken, profit, NULL) == GPUOPT_OK);
    *exchanges -= transport->left;
    gpuopt_knapsack_destroy(k);
}

static void is_alone(rank *r) {
    work *w = (work *)r->all->data;
    const rank_faulty none = {0};
    int exchanges;
    solve(r, &w->desc, &w->info, w->taken, &w->profit, &none, &exchanges);
}

static void is_one_of_many(rank *r) {
    work *w = (work *)r->all->data;
    gpuopt_knapsack_desc desc = w->desc;
    gpuopt_knapsack_info info;
    rank_faulty transport;
    int64_t taken[MODEL_MOST] = {0}, profit = -1, weight = 0, sum = 0;
    int32_t j;
    int exchanges = 0;
    if (w->peers) rank_own_memory(r);
    rank_make_faulty(r, many, &transport);
    EXPECT(r, rank_join(r, 30) == GPUOPT_OK);
    desc.group = r->group;
    solve(r, &desc, &info, taken, &profit, &transport, &exchanges);
    for (j = 0; j < w->m.items; j++) {
        if (!taken[j]) continue;
        weight += w->m.weight[j];
        sum += w->m.profit[j];
    }
    EXPECT(r, profit == w->profit && sum == profit && weight <= w->m.capacity);
    if (r->number == 0) {
        w->exchanges = exchanges;
        w->slices += info.slices;
    }
    if (info.slices == 0 && w->info.slices == 0) {
        info.pool = w->info.pool;
        EXPECT(r, memcmp(&info, &w->info, sizeof info) == 0);
        EXPECT(r, memcmp(taken, w->taken, sizeof taken) == 0);
    }
}

static work given(const model *m, int64_t pool, int64_t share_from) {
    work w;
    memset(&w, 0, sizeof w);
    w.m = *m;
    w.desc = model_desc(&w.m);
    w.desc.reduction = GPUOPT_OFF;
    w.desc.pool = pool;
    w.desc.share_from = share_from;
    return w;
}

/* Runs the search with one rank, and then with two to four; returns the exchanges for the items. */
static int compare(work *w) {
    int ranks, exchanges = 0;
    w->desc.weight = w->m.weight;
    w->desc.profit = w->m.profit;
    ranks_run(1, is_alone, w);
    assert_int_equal(w->profit, model_optimum(&w->m));
    for (w->peers = 0; w->peers < 2; w->peers++)
        for (ranks = 2; ranks <= 4; ranks++) {
            ranks_run(ranks, is_one_of_many, w);
            exchanges += w->exchanges;
        }
    return exchanges;
}

static void items(void **state) {
    uint64_t seed;
    (void)state;
    for (seed = 1; seed <= 4; seed++) {
        uint64_t random = seed;
        const model m = model_grouped(seed % 2 ? 100 : 150, 4, 100000, 3, 90, 30, &random);
        work w = given(&m, 1 << 16, 1 + 7 * (int64_t)(seed % 3));
        const int exchanges = compare(&w);
        print_message("%d exchanges for the items\n", exchanges);
        assert_true(exchanges > 6 * 20); /* an agreement takes two */
    }
}

/* Lists too long for any pool, so that steps take slices from several pools. The least pool with nodes outside host
 * memory. */
static void slices(void **state) {
    int64_t seen = 0;
    uint64_t seed;
    (void)state;
    for (seed = 1; seed <= 4; seed++) {
        uint64_t random = seed;
        const model m = model_random(seed % 2 ? 2 : 8, 120, 30000, &random);
        work w = given(&m, 4 * 1024 + 2 * 120 + 17, 300);
        compare(&w);
        print_message("%lld slices\n", (long long)w.slices);
        seen += w.slices;
    }
    assert_true(seen > 10);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(items), cmocka_unit_test(slices)};
TEST_MAIN(tests)
