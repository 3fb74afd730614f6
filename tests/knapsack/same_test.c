/* SPDX-License-Identifier: MIT
 *
 * Counts, bounds, nodes and items are the same on every backend, with any number of threads, and for any division of
 * the work between calls. The backend under test is compared with the CPU and one thread. Lists are long enough to be
 * divided among threads and blocks, list lengths are around the paper's threshold, and some pools are too small.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/knapsack/generated.h"

/* Two handles of one problem. */
typedef struct pair {
    gpuopt_context *context[2]; /* CPU with one thread; backend under test */
    gpuopt_knapsack *knapsack[2];
    gpuopt_knapsack_info info;
    const model *m;
} pair;

static void pair_start(pair *p) {
    memset(p, 0, sizeof *p);
    p->context[0] = test_plain_context();
    p->context[1] = test_context(NULL);
}

static void pair_close(pair *p) {
    int k;
    for (k = 0; k < 2; k++) {
        gpuopt_knapsack_destroy(p->knapsack[k]);
        p->knapsack[k] = NULL;
    }
}

static void same_info(pair *p) {
    gpuopt_knapsack_info info[2];
    int k;
    for (k = 0; k < 2; k++) {
        gpuopt_desc_init(&info[k], sizeof info[k]);
        assert_int_equal(gpuopt_knapsack_get_info(p->knapsack[k], &info[k]), GPUOPT_OK);
    }
    assert_memory_equal(&info[0], &info[1], sizeof info[0]);
    p->info = info[1];
}

static void pair_open(pair *p, const model *m, const gpuopt_knapsack_desc *desc) {
    int k;
    pair_close(p);
    p->m = m;
    for (k = 0; k < 2; k++) p->knapsack[k] = model_create(p->context[k], desc);
    same_info(p);
}

static void pair_end(pair *p) {
    pair_close(p);
    gpuopt_context_destroy(p->context[0]);
    gpuopt_context_destroy(p->context[1]);
}

static void expand(pair *p, int64_t nodes, int32_t levels) {
    int k;
    for (k = 0; k < 2; k++) assert_int_equal(gpuopt_knapsack_expand(p->knapsack[k], nodes, levels, NULL), GPUOPT_OK);
    same_info(p);
}

static void same_items(pair *p) {
    int64_t taken[2][MODEL_MOST], profit[2], weight[2];
    int k;
    for (k = 0; k < 2; k++) {
        model_check_items(p->knapsack[k], p->m);
        assert_int_equal(gpuopt_knapsack_get_items(p->knapsack[k], GPUOPT_HOST, taken[k], &profit[k], &weight[k]),
                         GPUOPT_OK);
    }
    assert_memory_equal(taken[0], taken[1], (size_t)p->m->items * sizeof **taken);
    assert_true(profit[0] == profit[1] && weight[0] == weight[1]);
    same_info(p);
}

/* Packs `nodes` nodes of both handles and compares the bytes. The caller frees them. */
static unsigned char *same_nodes(pair *p, int64_t nodes, uint64_t *size) {
    unsigned char *bytes[2];
    uint64_t sizes[2];
    int k;
    for (k = 0; k < 2; k++) bytes[k] = model_pack(p->knapsack[k], nodes, 0, &sizes[k]);
    assert_true(sizes[0] == sizes[1] && memcmp(bytes[0], bytes[1], sizes[0]) == 0);
    free(bytes[1]);
    *size = sizes[0];
    return bytes[0];
}

/* ---- Long lists ---- */

static void long_lists(void **state) {
    static const struct {
        const char *name;
        gpuopt_knapsack_search search;
        int64_t limit, peak; /* peak: at least this many nodes at once */
    } run[] = {{"multiple-strong:500:10000000:1", GPUOPT_SEARCH_DOMINANCE, 1000000, 200000},
               {"circle:500:10000000:2", GPUOPT_SEARCH_DOMINANCE, 1000000, 30000},
               {"almost-strong:300:1000000:1", GPUOPT_SEARCH_DOMINANCE, 0, 5000},
               {"circle:500:1000000:1", GPUOPT_SEARCH_DOMINANCE, 0, 10000},
               {"multiple-strong:300:1000000:2", GPUOPT_SEARCH_DOMINANCE, 0, 10000},
               {"paper:200:3", GPUOPT_SEARCH_BREADTH, 2000000, 300000},
               {"paper:200:3", GPUOPT_SEARCH_HYBRID, 1000000, 200000}};
    unsigned char *bytes;
    uint64_t size;
    size_t k;
    pair p;
    (void)state;
    pair_start(&p);
    for (k = 0; k < sizeof run / sizeof *run; k++) {
        model m = model_generated("%s", run[k].name);
        gpuopt_knapsack_desc desc = model_desc(&m);
        desc.search = run[k].search;
        desc.node_limit = run[k].limit;
        desc.pool = 1 << 22; /* large enough: no slices */
        pair_open(&p, &m, &desc);
        expand(&p, 0, 0);
        assert_true(p.info.outcome == GPUOPT_OPTIMAL || (p.info.outcome == GPUOPT_LIMIT && run[k].limit > 0));
        assert_true(p.info.peak >= run[k].peak && p.info.slices == 0);
        bytes = same_nodes(&p, -1, &size);
        assert_true(size >= 20 * (uint64_t)p.info.alive);
        free(bytes);
        same_items(&p);
    }
    pair_end(&p);
}

/* Every item four times, so that nodes far apart in a list give equally good solutions. The first of the best counts,
 * for any division of the list; nodes store 32 decisions, and so determine the items. Expands level by level until the
 * incumbent has risen on a long list. */
static void equals(void **state) {
    uint64_t random = 21;
    const int trials = test_few() ? 18 : 60;
    int trial, j, level, rises = 0;
    pair p;
    (void)state;
    pair_start(&p);
    for (trial = 0; trial < trials; trial++) {
        model m;
        gpuopt_knapsack_desc desc;
        m.items = 32;
        for (j = 0; j < m.items; j++) {
            m.weight[j] = j % 4 ? m.weight[j - 1] : test_random_int(&random, 1000, 2000);
            m.profit[j] = j % 4 ? m.profit[j - 1] : m.weight[j] + test_random_int(&random, 95, 105);
        }
        m.capacity = test_random_int(&random, 16000, 32000);
        desc = model_desc(&m);
        desc.search = GPUOPT_SEARCH_BREADTH;
        desc.reduction = GPUOPT_OFF;
        desc.pool = 1 << 18;
        pair_open(&p, &m, &desc);
        for (level = 0; level < m.items && p.info.alive > 0; level++) {
            gpuopt_knapsack_info before = p.info;
            expand(&p, 0, 1);
            if (p.info.primal_bound == before.primal_bound || before.alive < 10000) continue;
            same_items(&p);
            rises++;
        }
    }
    assert_true(rises > trials / 6);
    pair_end(&p);
}

/* One handle in one call, the other in many. */
static void divided(void **state) {
    static const struct {
        int64_t nodes;
        int32_t levels;
    } part[] = {{1, 0}, {0, 1}, {5000, 0}, {0, 7}, {100000, 3}};
    model m = model_generated("circle:300:100000:1");
    gpuopt_knapsack_desc desc = model_desc(&m);
    gpuopt_knapsack_info info;
    size_t k;
    int search;
    pair p;
    (void)state;
    gpuopt_desc_init(&info, sizeof info);
    pair_start(&p);
    for (search = 0; search < 3; search++)
        for (k = 0; k < sizeof part / sizeof *part; k++) {
            desc.search = (gpuopt_knapsack_search)search;
            desc.node_limit = search || k & 1 ? test_times(300000, 300000) : 0;
            desc.pool = k & 1 ? 20000 : 200000;
            pair_open(&p, &m, &desc);
            assert_int_equal(gpuopt_knapsack_expand(p.knapsack[0], 0, 0, NULL), GPUOPT_OK);
            do assert_int_equal(gpuopt_knapsack_expand(p.knapsack[1], part[k].nodes, part[k].levels, &info), GPUOPT_OK);
            while (info.outcome == GPUOPT_MORE);
            same_info(&p);
            assert_true(p.info.outcome == (desc.node_limit ? GPUOPT_LIMIT : GPUOPT_OPTIMAL));
            if (!test_few()) assert_true((p.info.slices > 0) == (k & 1)); /* it expands too few nodes */
            same_items(&p);
        }
    pair_end(&p);
}

/* ---- The paper's threshold ---- */

/* The threshold is set to one below the length of a list, to its length, and to one above it. */
static void every_threshold(void **state) {
    model m = model_generated("paper:100:6");
    gpuopt_knapsack_desc desc = model_desc(&m);
    gpuopt_knapsack_info breadth;
    int64_t list[256];
    int lists = 0, k, off;
    pair p;
    (void)state;
    pair_start(&p);
    desc.search = GPUOPT_SEARCH_BREADTH;
    desc.node_limit = 200000;
    pair_open(&p, &m, &desc);
    for (expand(&p, 0, 1); p.info.outcome == GPUOPT_MORE && lists < 256; expand(&p, 0, 1)) list[lists++] = p.info.alive;
    expand(&p, 0, 0);
    breadth = p.info;
    assert_true(lists > 80 && lists < 256 && p.info.slices == 0);
    desc.search = GPUOPT_SEARCH_HYBRID;
    for (k = 1; k < lists; k += test_few() ? 40 : 5)
        for (off = -1; off <= 1; off++) {
            if (list[k] + off < 1) continue;
            desc.hybrid_threshold = (int32_t)(list[k] + off);
            pair_open(&p, &m, &desc);
            expand(&p, 0, 0);
            assert_memory_equal(&p.info, &breadth, sizeof breadth);
            same_items(&p);
        }
    pair_end(&p);
}

/* The default threshold, 5000: searches that continue from lists of 4999, 5000 and 5001 nodes. */
static void default_threshold(void **state) {
    model m = model_generated("paper:200:3");
    gpuopt_knapsack_desc desc = model_desc(&m);
    int64_t nodes;
    int k;
    pair p;
    (void)state;
    pair_start(&p);
    desc.search = GPUOPT_SEARCH_HYBRID;
    desc.pool = 400000;
    desc.node_limit = 100000;
    for (nodes = 4999; nodes <= 5001; nodes++) {
        unsigned char *bytes;
        uint64_t size;
        pair_open(&p, &m, &desc);
        while (p.info.alive <= 5001) expand(&p, 0, 1);
        bytes = same_nodes(&p, nodes, &size);
        pair_open(&p, &m, &desc);
        for (k = 0; k < 2; k++) assert_int_equal(gpuopt_knapsack_unpack(p.knapsack[k], bytes, size, 0), GPUOPT_OK);
        free(bytes);
        same_info(&p);
        assert_true(p.info.alive == nodes);
        expand(&p, 0, 1);
        assert_true(p.info.expanded == nodes && p.info.steps == 1);
        free(same_nodes(&p, -1, &size));
        expand(&p, 0, 0);
        assert_int_equal(p.info.outcome, GPUOPT_LIMIT);
        same_items(&p);
    }
    pair_end(&p);
}

/* ---- Small pools ---- */

static void small_pools(void **state) {
    static const char *const name[] = {"strong:100:10000:2", "paper:300:4", "circle:100:100000:3"};
    static const int64_t pool[] = {700, 5000, 40000, 90000};
    size_t k, size;
    int search, full;
    pair p;
    (void)state;
    pair_start(&p);
    for (k = 0; k < 3; k++) {
        model m = model_generated("%s", name[k]);
        gpuopt_knapsack_desc desc = model_desc(&m);
        for (search = 0; search < 3; search++)
            for (size = 0; size < 4; size++)
                for (full = 0; full < 2; full++) {
                    desc.search = (gpuopt_knapsack_search)search;
                    desc.on_pool_full = full ? GPUOPT_ON_POOL_FULL_STOP : GPUOPT_ON_POOL_FULL_DEPTH_FIRST;
                    desc.pool = pool[size];
                    desc.node_limit = test_times(300000, 300000);
                    pair_open(&p, &m, &desc);
                    expand(&p, 0, 0);
                    assert_true(p.info.slices == 0 || !full);
                    free(same_nodes(&p, -1, &(uint64_t){0}));
                    same_items(&p);
                }
    }
    pair_end(&p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(long_lists),        cmocka_unit_test(equals),
    cmocka_unit_test(divided),           cmocka_unit_test(every_threshold),
    cmocka_unit_test(default_threshold), cmocka_unit_test(small_pools),
};

TEST_MAIN(tests)
