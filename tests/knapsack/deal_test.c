/* SPDX-License-Identifier: MIT
 *
 * Nodes dealt out of a pool, kept in one, and added to one. Handles that pass them back and forth, or each keep a part,
 * find the optimum of dynamic programming together. Each node is in one place, halves are even at every level, and
 * faulty calls are refused.
 */
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/knapsack/models.h"

static gpuopt_knapsack_info info_of(gpuopt_knapsack *knapsack) {
    gpuopt_knapsack_info info;
    gpuopt_desc_init(&info, sizeof info);
    assert_int_equal(gpuopt_knapsack_get_info(knapsack, &info), GPUOPT_OK);
    return info;
}

/* The caller frees the bytes. too little capacity for them changes nothing. */
static unsigned char *deal(gpuopt_knapsack *knapsack, int64_t every, uint64_t *size) {
    const int64_t alive = info_of(knapsack).alive;
    unsigned char *bytes;
    uint64_t again = 0;
    assert_int_equal(gpuopt_knapsack_split(knapsack, every, NULL, 0, size), GPUOPT_OK);
    bytes = malloc(*size);
    assert_int_equal(gpuopt_knapsack_split(knapsack, every, bytes, *size - 1, &again), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(info_of(knapsack).alive, alive);
    assert_int_equal(gpuopt_knapsack_split(knapsack, every, bytes, *size, &again), GPUOPT_OK);
    assert_int_equal(again, *size);
    assert_in_range(alive - info_of(knapsack).alive, alive / every, (alive + every - 1) / every);
    return bytes;
}

static uint64_t number(const unsigned char *from, int bytes) {
    uint64_t value = 0;
    while (bytes-- > 0) value = value << 8 | from[bytes];
    return value;
}

/* ---- What is dealt ---- */

/* The packed nodes of a pool, as doc/knapsack.md describes them. */
typedef struct pool {
    int32_t lists;
    int64_t nodes, level[200], count[200];
    const unsigned char *node; /* [nodes] of 20 bytes */
} pool;

static pool read_pool(const unsigned char *bytes) {
    pool p;
    uint64_t items = number(bytes + 12, 4), decisions = number(bytes + 64, 8);
    int32_t j;
    p.lists = (int32_t)number(bytes + 8, 4);
    p.nodes = (int64_t)number(bytes + 24, 8);
    assert_in_range(p.lists, 0, 200);
    for (j = 0; j < p.lists; j++) {
        p.level[j] = (int64_t)number(bytes + 80 + items + 40 * (uint64_t)j, 8);
        p.count[j] = (int64_t)number(bytes + 80 + items + 40 * (uint64_t)j + 16, 8);
    }
    p.node = bytes + 80 + items + 40 * (uint64_t)p.lists + 4 * decisions;
    return p;
}

static int same_nodes(const unsigned char *a, const unsigned char *b) { return memcmp(a, b, 20) == 0; }

/* Every node is in one of the two, in its order; one of each `every` is in the bytes. Lists of several levels, in pools
 * that are too small and in pools that are not. */
static void every_node(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 31;
    int k, many = 0, trials = test_times(200, 200);
    (void)state;
    for (k = 0; k < trials; k++) {
        model m = model_random(k % MODEL_CLASSES, 60, 80, &random);
        gpuopt_knapsack_desc desc = model_desc(&m);
        gpuopt_knapsack *knapsack;
        unsigned char *all, *dealt, *kept;
        uint64_t size;
        const int64_t every = test_random_int(&random, 1, 5);
        pool a, d, r;
        int64_t i, at[2] = {0, 0}, here_dealt = 0;
        int32_t j, lists[2] = {0, 0};
        desc.reduction = GPUOPT_OFF;
        desc.search = k & 1 ? GPUOPT_SEARCH_BREADTH : GPUOPT_SEARCH_DOMINANCE;
        desc.pool = k & 2 ? 110 : 100000;
        knapsack = model_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, (int32_t)test_random_int(&random, 0, 40), NULL),
                         GPUOPT_OK);
        all = model_pack(knapsack, -1, 0, &size);
        dealt = deal(knapsack, every, &size);
        kept = model_pack(knapsack, -1, 0, &size);
        a = read_pool(all), d = read_pool(dealt), r = read_pool(kept);
        assert_int_equal(d.nodes + r.nodes, a.nodes);
        for (j = 0, i = 0; j < a.lists; j++) {
            const int64_t end = i + a.count[j];
            int64_t here[2] = {0, 0};
            for (; i < end; i++) {
                const unsigned char *node = a.node + 20 * i;
                int is_dealt;
                if (i % every == 0) here_dealt = 0;
                is_dealt = here_dealt == 0 && at[1] < d.nodes && same_nodes(node, d.node + 20 * at[1]);
                here_dealt += is_dealt;
                if (i % every == every - 1) assert_int_equal(here_dealt, 1);
                assert_true(same_nodes(node, (is_dealt ? d.node : r.node) + 20 * at[is_dealt]++));
                here[is_dealt]++;
            }
            if (here[0] > 0) assert_true(r.level[lists[0]] == a.level[j] && r.count[lists[0]++] == here[0]);
            if (here[1] > 0) assert_true(d.level[lists[1]] == a.level[j] && d.count[lists[1]++] == here[1]);
        }
        assert_true(lists[0] == r.lists && lists[1] == d.lists);
        many += a.lists > 2;
        gpuopt_knapsack_destroy(knapsack);
        free(all), free(dealt), free(kept);
    }
    assert_true(many > trials / 20);
    gpuopt_context_destroy(context);
}

/* ---- Shares ---- */

static int compare_nodes(const void *a, const void *b) { return memcmp(a, b, 20); }

/* The nodes of a list in a pool, sorted; NULL: the pool has no list of that level. */
static const unsigned char *list_at(const pool *p, int64_t level, int64_t *count) {
    const unsigned char *node = p->node;
    int32_t j;
    for (j = 0, *count = 0; j < p->lists; node += 20 * p->count[j++])
        if (p->level[j] == level) {
            *count = p->count[j];
            return node;
        }
    return NULL;
}

/* Handles that have made the same calls, and then each keep a part. At each level the parts form the whole, with
 * equally many nodes in each up to one. Their best solution is the optimum by dynamic programming. */
static void parts_of_a_whole(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 47, size;
    int k, h, many = 0, trials = test_times(120, 120);
    (void)state;
    for (k = 0; k < trials; k++) {
        model m = model_random(k % MODEL_CLASSES, 22, 80, &random);
        const int64_t optimum = model_optimum(&m);
        const int parts = (int)test_random_int(&random, 1, 5);
        const int32_t levels = (int32_t)test_random_int(&random, 1, 16);
        gpuopt_knapsack_desc desc = model_desc(&m);
        gpuopt_knapsack *whole, *knapsack[5];
        unsigned char *all, *share[5];
        int64_t best = 0, sum = 0;
        int32_t j;
        pool a, part[5];
        desc.reduction = GPUOPT_OFF;
        desc.search = k & 1 ? GPUOPT_SEARCH_BREADTH : GPUOPT_SEARCH_DOMINANCE;
        desc.pool = k & 2 ? 60 : 100000;
        whole = model_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_expand(whole, 0, levels, NULL), GPUOPT_OK);
        all = model_pack(whole, -1, 0, &size);
        a = read_pool(all);
        for (h = 0; h < parts; h++) {
            knapsack[h] = model_create(context, &desc);
            assert_int_equal(gpuopt_knapsack_expand(knapsack[h], 0, levels, NULL), GPUOPT_OK);
            assert_int_equal(gpuopt_knapsack_take_share(knapsack[h], h, parts), GPUOPT_OK);
            share[h] = model_pack(knapsack[h], -1, 0, &size);
            part[h] = read_pool(share[h]);
            assert_int_equal(part[h].nodes, info_of(knapsack[h]).alive);
            assert_in_range(part[h].nodes, a.nodes / parts, (a.nodes + parts - 1) / parts);
            sum += part[h].nodes;
        }
        assert_int_equal(sum, a.nodes);
        for (j = 0; j < a.lists; j++) {
            int64_t count, here = 0, more;
            const unsigned char *list = list_at(&a, a.level[j], &count);
            unsigned char *together = malloc(20 * (size_t)a.count[j] + 1);
            unsigned char *sorted = malloc(20 * (size_t)a.count[j] + 1);
            memcpy(sorted, list, 20 * (size_t)count);
            for (h = 0; h < parts; h++, here += more) {
                const unsigned char *from = list_at(&part[h], a.level[j], &more);
                assert_true(here + more <= count);
                if (from) memcpy(together + 20 * here, from, 20 * (size_t)more);
            }
            assert_int_equal(here, count);
            qsort(sorted, (size_t)count, 20, compare_nodes);
            qsort(together, (size_t)count, 20, compare_nodes);
            assert_memory_equal(sorted, together, 20 * (size_t)count);
            free(sorted), free(together);
        }
        many += a.lists > 1 && parts > 1;
        for (h = 0; h < parts; h++) {
            assert_int_equal(gpuopt_knapsack_expand(knapsack[h], 0, 0, NULL), GPUOPT_OK);
            if (model_check_items(knapsack[h], &m) > best) best = model_check_items(knapsack[h], &m);
            gpuopt_knapsack_destroy(knapsack[h]);
            free(share[h]);
        }
        assert_int_equal(best, optimum);
        gpuopt_knapsack_destroy(whole);
        free(all);
    }
    assert_true(many > trials / 20);
    gpuopt_context_destroy(context);
}

/* ---- Passing nodes around ---- */

enum { HANDLES = 3 };

/* Handles that deal nodes to one another, at any time and in any state, as far as they fit. */
static void passed_around(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 37;
    int k, h, added = 0, refused = 0, several = 0, trials = test_times(240, 240);
    (void)state;
    for (k = 0; k < trials; k++) {
        model m = model_random(k % MODEL_CLASSES, 24, 100, &random);
        int64_t optimum = model_optimum(&m), best = 0;
        gpuopt_knapsack_desc desc = model_desc(&m);
        gpuopt_knapsack *knapsack[HANDLES];
        int busy = 1;
        desc.reduction = k % 3 ? GPUOPT_OFF : GPUOPT_ON;
        desc.search = k & 1 ? GPUOPT_SEARCH_BREADTH : k & 2 ? GPUOPT_SEARCH_HYBRID : GPUOPT_SEARCH_DOMINANCE;
        desc.pool = k % 5 == 0 ? 1 : k % 5 == 1 ? 150 : 20000;
        for (h = 0; h < HANDLES; h++) {
            uint64_t size;
            knapsack[h] = model_create(context, &desc);
            if (h > 0) free(deal(knapsack[h], 1, &size)); /* the root is the first one's */
        }
        while (busy) {
            busy = 0;
            for (h = 0; h < HANDLES; h++) {
                const int to = (h + 1 + (int)test_random_int(&random, 0, HANDLES - 2)) % HANDLES;
                const int64_t held = info_of(knapsack[to]).alive, every = test_random_int(&random, 1, 4);
                gpuopt_knapsack_info info;
                gpuopt_status status;
                unsigned char *bytes;
                uint64_t size;
                int64_t moved;
                gpuopt_desc_init(&info, sizeof info);
                assert_int_equal(gpuopt_knapsack_expand(knapsack[h], 0, (int32_t)test_random_int(&random, 1, 6), &info),
                                 GPUOPT_OK);
                if (info.primal_bound > best) best = info.primal_bound;
                busy |= info.alive > 0;
                bytes = deal(knapsack[h], every, &size);
                moved = info.alive - info_of(knapsack[h]).alive;
                status = gpuopt_knapsack_unpack(knapsack[to], bytes, size, 1);
                if (desc.search == GPUOPT_SEARCH_DOMINANCE && held > 0) assert_int_equal(status, GPUOPT_ERROR_STATE);
                else assert_true(status == GPUOPT_OK || (status == GPUOPT_ERROR_UNSUPPORTED && desc.pool < 1000));
                assert_int_equal(info_of(knapsack[to]).alive, status ? held : held + moved);
                if (!status) {
                    assert_true(info_of(knapsack[to]).primal_bound >= info.primal_bound);
                    added += held > 0 && moved > 0;
                    several += held > 0 && read_pool(bytes).lists > 1;
                } else { /* back to where they came from, where they fit again */
                    refused++;
                    if (desc.search == GPUOPT_SEARCH_DOMINANCE && info.alive > moved) {
                        while (info_of(knapsack[h]).alive > 0) {
                            assert_int_equal(gpuopt_knapsack_expand(knapsack[h], 0, 0, &info), GPUOPT_OK);
                            if (info.primal_bound > best) best = info.primal_bound;
                        }
                    }
                    assert_int_equal(gpuopt_knapsack_unpack(knapsack[h], bytes, size, 1), GPUOPT_OK);
                }
                busy |= info_of(knapsack[to]).alive > 0 || info_of(knapsack[h]).alive > 0;
                free(bytes);
            }
        }
        assert_int_equal(best, optimum);
        for (h = 0; h < HANDLES; h++) {
            assert_true(model_check_items(knapsack[h], &m) <= optimum);
            gpuopt_knapsack_destroy(knapsack[h]);
        }
    }
    assert_true(added > trials / 4 && refused > trials / 24 && several > trials / 24);
    gpuopt_context_destroy(context);
}

/* The tree of BREADTH with a claim is the same for any division: as many nodes in all as in one search. */
static void same_tree(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 41, size;
    int k, h;
    (void)state;
    for (k = 0; k < test_times(60, 60); k++) {
        model m = model_random(1 + k % 3, 30, 100, &random);
        const int64_t optimum = model_optimum(&m);
        gpuopt_knapsack_desc desc = model_desc(&m);
        gpuopt_knapsack *knapsack[2], *whole;
        int64_t expanded = 0;
        desc.reduction = GPUOPT_OFF;
        desc.search = GPUOPT_SEARCH_BREADTH;
        desc.pool = 1000000;
        whole = model_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_set_incumbent(whole, GPUOPT_HOST, optimum + 1, NULL), GPUOPT_OK);
        for (h = 0; h < 2; h++) {
            knapsack[h] = model_create(context, &desc);
            assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack[h], GPUOPT_HOST, optimum + 1, NULL), GPUOPT_OK);
        }
        free(deal(knapsack[1], 1, &size));
        assert_int_equal(gpuopt_knapsack_expand(whole, 0, 0, NULL), GPUOPT_OK);
        while (info_of(knapsack[0]).alive + info_of(knapsack[1]).alive > 0)
            for (h = 0; h < 2; h++) {
                unsigned char *bytes;
                assert_int_equal(gpuopt_knapsack_expand(knapsack[h], 0, 1 + h, NULL), GPUOPT_OK);
                if (info_of(knapsack[h]).alive < 2) continue;
                bytes = deal(knapsack[h], 2, &size);
                assert_int_equal(gpuopt_knapsack_unpack(knapsack[!h], bytes, size, 1), GPUOPT_OK);
                free(bytes);
            }
        for (h = 0; h < 2; h++) {
            expanded += info_of(knapsack[h]).expanded;
            gpuopt_knapsack_destroy(knapsack[h]);
        }
        assert_int_equal(expanded, info_of(whole).expanded);
        gpuopt_knapsack_destroy(whole);
    }
    gpuopt_context_destroy(context);
}

/* ---- What is refused ---- */

static void refused(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t random = 43, size, all;
    model m = model_random(2, 40, 100, &random), other = model_random(2, 40, 100, &random);
    gpuopt_knapsack_desc desc = model_desc(&m);
    gpuopt_knapsack *knapsack, *stranger, *dominance;
    unsigned char *bytes, *damaged;
    int64_t alive;
    int k;
    (void)state;
    desc.search = GPUOPT_SEARCH_BREADTH;
    knapsack = model_create(context, &desc);
    assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 12, NULL), GPUOPT_OK);
    alive = info_of(knapsack).alive;
    assert_int_equal(gpuopt_knapsack_split(NULL, 2, NULL, 0, &size), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_unpack(NULL, "GPUK", 4, 1), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_take_share(NULL, 0, 1), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_take_share(knapsack, 0, 0), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_take_share(knapsack, -1, 2), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_take_share(knapsack, 2, 2), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_split(knapsack, 0, NULL, 0, &size), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_split(knapsack, 2, NULL, 0, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_unpack(knapsack, NULL, 0, 1), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_unpack(knapsack, "GPUM", 4, 1), GPUOPT_ERROR_ARGUMENT);
    bytes = model_pack(knapsack, -1, 0, &size);
    damaged = malloc(size);
    for (k = 0; k < 300; k++) {
        memcpy(damaged, bytes, size);
        damaged[test_random_int(&random, 0, (int64_t)size - 1)] ^= (unsigned char)test_random_int(&random, 1, 255);
        assert_int_equal(gpuopt_knapsack_unpack(knapsack, damaged, size, 1), GPUOPT_ERROR_ARGUMENT);
        assert_int_equal(
            gpuopt_knapsack_unpack(knapsack, bytes, (uint64_t)test_random_int(&random, 0, (int64_t)size - 1), 1),
            GPUOPT_ERROR_ARGUMENT);
    }
    assert_int_equal(info_of(knapsack).alive, alive);
    /* One of more nodes than exist is none, and such bytes add none. */
    free(bytes);
    bytes = deal(knapsack, (int64_t)1 << 50, &all);
    assert_int_equal(info_of(knapsack).alive, alive);
    assert_int_equal(gpuopt_knapsack_unpack(knapsack, bytes, all, 1), GPUOPT_OK);
    assert_int_equal(info_of(knapsack).alive, alive);
    free(bytes);
    bytes = model_pack(knapsack, -1, 0, &size);
    desc = model_desc(&other);
    desc.search = GPUOPT_SEARCH_BREADTH;
    stranger = model_create(context, &desc);
    assert_int_equal(gpuopt_knapsack_unpack(stranger, bytes, size, 1), GPUOPT_ERROR_ARGUMENT);
    gpuopt_knapsack_destroy(stranger);
    desc = model_desc(&m);
    dominance = model_create(context, &desc);
    free(bytes);
    bytes = model_pack(dominance, -1, 0, &size);
    assert_int_equal(gpuopt_knapsack_unpack(dominance, bytes, size, 1), GPUOPT_ERROR_STATE); /* it holds the root */
    assert_non_null(strstr(host.error, "empty pool"));
    gpuopt_knapsack_destroy(dominance);
    gpuopt_knapsack_destroy(knapsack);
    free(bytes), free(damaged);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_node), cmocka_unit_test(parts_of_a_whole), cmocka_unit_test(passed_around),
    cmocka_unit_test(same_tree),  cmocka_unit_test(refused),
};
TEST_MAIN(tests)
