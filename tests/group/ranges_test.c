/* SPDX-License-Identifier: MIT
 *
 * A knapsack search shared by ranks (gpuopt_knapsack_desc.group). The optimum is compared with dynamic programming.
 * After each call each rank's report, packed nodes and items equal a handle's without a group, node by node, for any
 * number of ranks and length of lists.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/group/ranks.h"
#include "tests/knapsack/models.h"

enum { MOST_CALLS = 200 };

/* The reports of a search after each call. */
typedef struct course {
    int calls, packed; /* the call after which `bytes` was packed */
    gpuopt_knapsack_info info[MOST_CALLS];
    unsigned char *bytes;
    uint64_t size;
    int64_t copies[MODEL_MOST]; /* of each item that are taken */
    int64_t profit;
} course;

typedef struct work {
    model m;
    int64_t upper[MODEL_MOST];
    gpuopt_knapsack_desc desc;
    int64_t nodes; /* of a call */
    int32_t levels;
    course alone;
    int packs, compares;       /* compares: counts too, not only the optimum */
    const unsigned char *from; /* a checkpoint to start from */
    uint64_t from_size;
    long shared; /* calls that began with a list of share_from nodes or more */
    int peers;   /* contexts have the library's own memory, which other ranks can access */
    long met;    /* searches with ranks that receive nodes that way */
} work;

/* How often a rank's handles logged each way of receiving nodes. */
typedef struct ways {
    int peers, host;
} ways;

static void listen(void *user, int level, const char *message) {
    ways *seen = user;
    (void)level;
    seen->peers += strstr(message, "get nodes through peer memory") != NULL;
    seen->host += strstr(message, "get nodes through host memory") != NULL;
}

/* A context of a rank's own, and its group. */
static void join_by_peers(rank *r, ways *seen, gpuopt_context **context, gpuopt_group **group) {
    gpuopt_context_desc desc = test_context_desc(NULL);
    gpuopt_group_desc limit = GPUOPT_INIT(gpuopt_group_desc);
    desc.user = seen;
    desc.log = listen;
    desc.device = rank_device(r->number);
    limit.time_limit = 30;
    EXPECT(r, gpuopt_context_create(&desc, context) == GPUOPT_OK);
    EXPECT(r, gpuopt_group_create(*context, &r->transport, &limit, group) == GPUOPT_OK);
}

static void search(rank *r, gpuopt_knapsack *k, const work *w, course *c) {
    gpuopt_knapsack_info info;
    memset(&info, 0, sizeof info);
    info.struct_size = sizeof info;
    c->calls = 0;
    c->packed = -1;
    c->size = 0;
    c->bytes = NULL;
    if (w->from) EXPECT(r, gpuopt_knapsack_unpack(k, w->from, w->from_size, 0) == GPUOPT_OK);
    do {
        EXPECT(r, gpuopt_knapsack_expand(k, w->nodes, w->levels, &info) == GPUOPT_OK);
        if (c->calls < MOST_CALLS) c->info[c->calls++] = info;
        if (w->packs && !c->bytes && info.alive > 20 && info.steps > 6) {
            EXPECT(r, gpuopt_knapsack_pack(k, -1, 0, NULL, 0, &c->size) == GPUOPT_OK);
            c->bytes = malloc((size_t)c->size);
            EXPECT(r, gpuopt_knapsack_pack(k, -1, 0, c->bytes, c->size, NULL) == GPUOPT_OK);
            c->packed = c->calls;
        }
    } while (info.outcome == GPUOPT_MORE && !r->fault[0]);
    EXPECT(r, info.outcome == GPUOPT_OPTIMAL);
    EXPECT(r, gpuopt_knapsack_get_items(k, GPUOPT_HOST, c->copies, &c->profit, NULL) == GPUOPT_OK);
}

static void searches(rank *r) {
    work *w = (work *)r->all->data;
    gpuopt_knapsack_desc desc = w->desc;
    gpuopt_knapsack *k = NULL;
    course *c = calloc(1, sizeof *c);
    const course *a = &w->alone;
    gpuopt_context *context = NULL;
    gpuopt_group *group = NULL;
    ways seen = {0, 0};
    int j;
    if (w->peers) join_by_peers(r, &seen, &context, &group);
    else EXPECT(r, rank_join(r, 30) == GPUOPT_OK);
    desc.group = w->peers ? group : r->group;
    EXPECT(r, gpuopt_knapsack_create(w->peers ? context : r->context, &desc, NULL, &k) == GPUOPT_OK);
    if (k && !r->fault[0]) {
        search(r, k, w, c);
        EXPECT(r, c->profit == a->profit);
        if (w->compares) {
            EXPECT(r, c->calls == a->calls);
            for (j = 0; j < c->calls; j++) {
                gpuopt_knapsack_info one = a->info[j];
                one.pool = c->info[j].pool; /* it grows when a rank's part does not fit */
                EXPECT(r, memcmp(&one, &c->info[j], sizeof one) == 0);
                if (r->number == 0 && c->info[j].alive >= desc.share_from) w->shared++;
            }
            EXPECT(r, memcmp(c->copies, a->copies, sizeof *c->copies * (size_t)desc.items) == 0);
            EXPECT(r, c->packed == a->packed && c->size == a->size);
            if (c->bytes && c->size == a->size) EXPECT(r, memcmp(c->bytes, a->bytes, (size_t)c->size) == 0);
        }
    }
    if (w->peers) EXPECT(r, test_on("cuda") ? !seen.host : !seen.peers);
    if (r->number == 0) w->met += seen.peers > 0;
    free(c->bytes);
    free(c);
    gpuopt_knapsack_destroy(k);
    gpuopt_group_destroy(group);
    gpuopt_context_destroy(context);
}

static void is_alone(rank *r) {
    work *w = (work *)r->all->data;
    gpuopt_knapsack_desc desc = w->desc;
    gpuopt_knapsack *k = NULL;
    desc.group = NULL;
    EXPECT(r, gpuopt_knapsack_create(r->context, &desc, NULL, &k) == GPUOPT_OK);
    if (k) search(r, k, w, &w->alone);
    gpuopt_knapsack_destroy(k);
}

static work draw(uint64_t seed, gpuopt_knapsack_search kind) {
    uint64_t state = seed;
    work w;
    memset(&w, 0, sizeof w);
    w.m = model_random((int)(seed % MODEL_CLASSES), 10 + (int32_t)(seed * 7 % 30), seed % 3 ? 300 : 3000, &state);
    w.desc.struct_size = sizeof w.desc;
    w.desc.items = w.m.items;
    w.desc.weight = w.m.weight;
    w.desc.profit = w.m.profit;
    w.desc.capacity = w.m.capacity;
    w.desc.search = kind;
    w.desc.reduction = GPUOPT_OFF;
    w.desc.pool = 1 << 16;
    w.desc.share_from = 1 + (int64_t)(seed % 5) * 7;
    w.levels = 1 + (int32_t)(seed % 4);
    w.packs = w.compares = 1;
    return w;
}

/* The model's arrays move with w. */
static void set(work *w) {
    w->desc.weight = w->m.weight;
    w->desc.profit = w->m.profit;
    if (w->desc.copies_max) w->desc.copies_max = w->upper;
}

static int64_t sum(const int64_t *x, int32_t n) {
    int64_t all = 0;
    while (n-- > 0) all += x[n];
    return all;
}

static int64_t optimum_or(const model *m, int64_t otherwise) {
    return m->capacity < 1 << 20 || sum(m->profit, m->items) < 1 << 20 ? model_optimum(m) : otherwise;
}

static void one_search_many_ranks(gpuopt_knapsack_search kind, uint64_t seeds, int64_t most, int peers) {
    uint64_t seed;
    long shared = 0, met = 0;
    for (seed = 1; seed <= seeds; seed++) {
        work w = draw(seed, kind);
        int ranks;
        if (kind == GPUOPT_SEARCH_BREADTH && w.m.items > most) w.m.items = w.desc.items = (int32_t)most;
        set(&w);
        w.peers = peers;
        ranks_run(1, is_alone, &w);
        assert_int_equal(w.alone.profit, optimum_or(&w.m, w.alone.profit));
        for (ranks = 1 + (int)(seed % 2); ranks <= 5; ranks += 2) ranks_run(ranks, searches, &w);
        shared += w.shared;
        met += w.met;
        free(w.alone.bytes);
    }
    print_message("%ld calls on shared lists, %ld searches by peer memory\n", shared, met);
    assert_true(shared > (long)seeds); /* else nothing was shared */
    assert_true(!peers || !test_on("cuda") || met > (long)seeds / 2);
}

static void dominance(void **state) {
    (void)state;
    one_search_many_ranks(GPUOPT_SEARCH_DOMINANCE, 60, 0, 0);
}

static void breadth(void **state) {
    (void)state;
    one_search_many_ranks(GPUOPT_SEARCH_BREADTH, 30, 22, 0);
}

/* GPUs that see one another's memory. */
static void by_peers(void **state) {
    (void)state;
    one_search_many_ranks(GPUOPT_SEARCH_DOMINANCE, 40, 0, 1);
    one_search_many_ranks(GPUOPT_SEARCH_BREADTH, 20, 22, 1);
}

/* The least possible pool: slices, and lists of both kinds. The counts then match no search without a group. */
static void depth_first(void **state) {
    uint64_t seed;
    (void)state;
    for (seed = 1; seed <= 24; seed++) {
        work w = draw(seed, seed % 4 ? GPUOPT_SEARCH_DOMINANCE : GPUOPT_SEARCH_BREADTH);
        int ranks;
        if (w.m.items > 20) w.m.items = w.desc.items = 20;
        set(&w);
        w.desc.pool = seed % 2 ? 1 : 200;
        w.levels = 0;
        w.packs = w.compares = 0;
        ranks_run(1, is_alone, &w);
        assert_int_equal(w.alone.profit, optimum_or(&w.m, w.alone.profit));
        for (ranks = 2; ranks <= 4; ranks++) ranks_run(ranks, searches, &w);
    }
}

/* A checkpoint by any number of ranks, 1 to 4, equals the checkpoint of one: and any number continues from it to the
 * same end. */
static void restart(void **state) {
    uint64_t seed;
    int begun = 0;
    (void)state;
    for (seed = 1; seed <= 40; seed++) {
        work w = draw(seed, seed % 3 ? GPUOPT_SEARCH_DOMINANCE : GPUOPT_SEARCH_BREADTH);
        unsigned char *bytes;
        int ranks;
        if (seed % 3 == 0 && w.m.items > 22) w.m.items = w.desc.items = 22;
        set(&w);
        ranks_run(1, is_alone, &w);
        bytes = w.alone.bytes;
        if (!bytes) continue;
        begun++;
        w.from = bytes;
        w.from_size = w.alone.size;
        w.packs = 0;
        ranks_run(1, is_alone, &w);
        assert_int_equal(w.alone.profit, optimum_or(&w.m, w.alone.profit));
        for (ranks = 1; ranks <= 4; ranks++) ranks_run(ranks, searches, &w);
        free(bytes);
    }
    assert_true(begun > 6);
}

/* The optimum with several copies of an item, by dynamic programming over weights and copies. */
static int64_t optimum_of_copies(const work *w) {
    const int64_t capacity = w->m.capacity;
    int64_t *best = calloc((size_t)capacity + 1, sizeof *best), optimum, c, x;
    int32_t j;
    assert_non_null(best);
    for (j = 0; j < w->m.items; j++) {
        for (c = capacity; c >= 0; c--) {
            const int64_t without = best[c];
            for (x = 1; x <= w->upper[j] && x * w->m.weight[j] <= c; x++) {
                const int64_t with = (w->m.weight[j] > 0 ? best[c - x * w->m.weight[j]] : without) + x * w->m.profit[j];
                if (with > best[c]) best[c] = with;
            }
        }
    }
    optimum = best[capacity];
    free(best);
    return optimum;
}

/* A solution offered by all ranks becomes the incumbent of all; one on which they do not agree becomes the incumbent of
 * none. The first two items are equal except for upper, 2 and 1: if they were swapped, the pieces would be the same,
 * and a copy of either would be worth as much. */
static void exchanges(rank *r) {
    work *w = (work *)r->all->data;
    gpuopt_knapsack_desc desc = w->desc;
    gpuopt_knapsack *k = NULL;
    gpuopt_knapsack_info info;
    int64_t copies[MODEL_MOST], swapped[MODEL_MOST], one[MODEL_MOST] = {0}, profit = -1;
    const int64_t *best = w->alone.copies;
    memset(&info, 0, sizeof info);
    info.struct_size = sizeof info;
    EXPECT(r, rank_join(r, 30) == GPUOPT_OK);
    desc.group = r->group;
    memcpy(swapped, w->upper, sizeof swapped);
    swapped[0] = w->upper[1];
    swapped[1] = w->upper[0];
    if (r->number == 1) desc.copies_max = swapped;
    EXPECT(r, gpuopt_knapsack_create(r->context, &desc, NULL, &k) == GPUOPT_ERROR_ARGUMENT && !k);
    desc.copies_max = w->upper;
    EXPECT(r, gpuopt_knapsack_create(r->context, &desc, NULL, &k) == GPUOPT_OK);
    if (k) {
        EXPECT(r, gpuopt_knapsack_get_info(k, &info) == GPUOPT_OK);
        profit = info.primal_bound;
        one[r->number == 1] = 1;
        EXPECT(r, gpuopt_knapsack_set_incumbent(k, GPUOPT_HOST, w->m.profit[0], one) == GPUOPT_ERROR_ARGUMENT);
        EXPECT(r, gpuopt_knapsack_set_incumbent(k, GPUOPT_HOST, w->alone.profit, r->number == 1 ? NULL : best) ==
                      GPUOPT_ERROR_ARGUMENT);
        EXPECT(r, gpuopt_knapsack_get_info(k, &info) == GPUOPT_OK && info.primal_bound == profit);
        EXPECT(r, gpuopt_knapsack_set_incumbent(k, GPUOPT_HOST, w->alone.profit, best) == GPUOPT_OK);
        EXPECT(r, gpuopt_knapsack_get_items(k, r->number == 1 ? (gpuopt_memory_space)9 : GPUOPT_HOST, copies, NULL,
                                            NULL) == GPUOPT_ERROR_ARGUMENT);
        EXPECT(r, gpuopt_knapsack_get_items(k, GPUOPT_HOST, copies, &profit, NULL) == GPUOPT_OK);
        EXPECT(r, profit == w->alone.profit && memcmp(copies, best, sizeof *copies * (size_t)desc.items) == 0);
    }
    gpuopt_knapsack_destroy(k);
}

static void several_copies(void **state) {
    uint64_t seed;
    long shared = 0;
    (void)state;
    for (seed = 1; seed <= 24; seed++) {
        work w = draw(seed, seed % 4 ? GPUOPT_SEARCH_DOMINANCE : GPUOPT_SEARCH_BREADTH);
        const int32_t most = seed % 4 ? 16 : 7;
        int64_t weight = 0;
        int ranks;
        int32_t j;
        if (w.m.items > most) w.m.items = w.desc.items = most;
        for (j = 0; j < w.m.items; j++) {
            w.upper[j] = 1 + (int64_t)(seed + 3 * (uint64_t)j) % 6;
        }
        w.m.weight[1] = w.m.weight[0];
        w.m.profit[1] = w.m.profit[0];
        w.upper[0] = 2;
        w.upper[1] = 1;
        for (j = 0; j < w.m.items; j++) weight += w.upper[j] * w.m.weight[j];
        w.m.capacity = w.desc.capacity = weight / 2;
        w.desc.copies_max = w.upper;
        set(&w);
        ranks_run(1, is_alone, &w);
        assert_int_equal(w.alone.profit, optimum_of_copies(&w));
        for (ranks = 1; ranks <= 3; ranks++) ranks_run(ranks, searches, &w);
        if (seed % 8 == 1) ranks_run(3, exchanges, &w);
        shared += w.shared;
        free(w.alone.bytes);
    }
    print_message("%ld calls on shared lists\n", shared);
    assert_true(shared > 24);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(dominance),   cmocka_unit_test(breadth), cmocka_unit_test(by_peers),
    cmocka_unit_test(depth_first), cmocka_unit_test(restart), cmocka_unit_test(several_copies),
};
TEST_MAIN(tests)
