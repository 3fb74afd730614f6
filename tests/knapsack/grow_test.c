/* SPDX-License-Identifier: MIT
 *
 * The default pool: it grows when nodes do not fit, and keeps them. If there is no memory for a larger pool, or the
 * caller gave one, the search continues in slices. The log reports this. The oracle is dynamic programming.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/knapsack/generated.h"
#include "tests/knapsack/models.h"

enum { DEFAULT_POOL = 1 << 20 };

static int grew, sliced; /* counts of log messages */

static void listen(void *user, int level, const char *message) {
    (void)user;
    grew += level == 2 && strstr(message, "the pool grew to") != NULL;
    sliced += level == 2 && strstr(message, "in slices") != NULL;
}

static gpuopt_context *listening_context(test_host *host) {
    gpuopt_context_desc desc = test_context_desc(host);
    gpuopt_context *context;
    desc.log = listen;
    grew = sliced = 0;
    assert_int_equal(gpuopt_context_create(&desc, &context), GPUOPT_OK);
    return context;
}

/* A problem with lists that outgrow the default pool; breadth first, so that they do so in a second. */
static model wide_model(const char *name, gpuopt_knapsack_desc *desc) {
    static model m;
    m = model_generated("%s", name);
    *desc = model_desc(&m);
    desc->search = GPUOPT_SEARCH_BREADTH;
    return m;
}

static void grows(void **state) {
    test_host host;
    gpuopt_context *context = listening_context(&host);
    gpuopt_knapsack_desc desc;
    model m = wide_model("paper:80:1", &desc);
    gpuopt_knapsack *knapsack = model_create(context, &desc);
    gpuopt_knapsack_info info;
    uint64_t before = host.bytes[0] + host.bytes[1];
    (void)state;
    info = model_finish(knapsack, &m, model_optimum(&m));
    assert_true(info.pool > DEFAULT_POOL && info.peak > DEFAULT_POOL / 2 && info.slices == 0);
    assert_true(grew > 0 && sliced == 0 && info.pool == (int64_t)DEFAULT_POOL << grew);
    /* The old pool has been given back. */
    assert_true(host.bytes[0] + host.bytes[1] > before - 1 + 20 * (uint64_t)(info.pool - DEFAULT_POOL) &&
                host.bytes[0] + host.bytes[1] < before + 24 * (uint64_t)(info.pool - DEFAULT_POOL));
    gpuopt_knapsack_destroy(knapsack);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* No memory when the pool wants to grow: slices, and the same optimum. */
static void cannot_grow(void **state) {
    test_host host;
    gpuopt_context *context = listening_context(&host);
    gpuopt_knapsack_desc desc;
    model m = wide_model("paper:80:1", &desc);
    gpuopt_knapsack *knapsack = model_create(context, &desc);
    gpuopt_knapsack_info info;
    (void)state;
    test_deny_memory(&host, 1);
    info = model_finish(knapsack, &m, model_optimum(&m));
    assert_true(test_deny_memory(&host, 0) > 0);
    assert_true(info.pool == DEFAULT_POOL && info.slices > 0 && info.peak <= info.pool);
    assert_true(grew == 0 && sliced == 1);
    assert_string_equal(gpuopt_context_last_error(context), ""); /* it is no error */
    gpuopt_knapsack_destroy(knapsack);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* A pool that was given never grows. */
static void given(void **state) {
    test_host host;
    gpuopt_context *context = listening_context(&host);
    gpuopt_knapsack_desc desc;
    model m = wide_model("paper:80:1", &desc);
    gpuopt_knapsack *knapsack;
    gpuopt_knapsack_info info;
    uint64_t before;
    (void)state;
    desc.pool = DEFAULT_POOL / 2;
    knapsack = model_create(context, &desc);
    before = host.bytes[0] + host.bytes[1];
    info = model_finish(knapsack, &m, model_optimum(&m));
    assert_true(info.pool == DEFAULT_POOL / 2 && info.slices > 0 && grew == 0 && sliced == 1);
    assert_true(host.bytes[0] + host.bytes[1] == before);
    gpuopt_knapsack_destroy(knapsack);
    gpuopt_context_destroy(context);
}

/* Children that fit are not sliced, though twice the parents would not fit. */
static void fits_just(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 77;
    int k;
    (void)state;
    for (k = 0; k < test_times(40, 40); k++) {
        model m = model_random(k % MODEL_CLASSES, 30, 1000, &random);
        gpuopt_knapsack_desc desc = model_desc(&m);
        int64_t optimum = model_optimum(&m), widest = 0, alive = 0, most = 0, pool;
        gpuopt_knapsack *knapsack;
        gpuopt_knapsack_info info = GPUOPT_INIT(gpuopt_knapsack_info);
        knapsack = model_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_get_info(knapsack, &info), GPUOPT_OK);
        do { /* parents and children of a step are in the pool at the same time */
            alive = info.alive;
            assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 1, &info), GPUOPT_OK);
            most = alive + (info.alive > 0 ? info.alive : info.peak); /* the last step's children are gone */
            if (most > widest) widest = most;
        } while (info.outcome == GPUOPT_MORE);
        gpuopt_knapsack_destroy(knapsack);
        pool = widest + 2 * 30 + 6; /* and the free nodes for _expand and _get_items */
        desc.pool = pool;
        knapsack = model_create(context, &desc);
        info = model_finish(knapsack, &m, optimum);
        assert_true(info.slices == 0);
        gpuopt_knapsack_destroy(knapsack);
    }
    gpuopt_context_destroy(context);
}

/* More packed nodes than the default pool holds. */
static void unpacked(void **state) {
    test_host host;
    gpuopt_context *context = listening_context(&host);
    gpuopt_knapsack_desc desc;
    model m = wide_model("paper:100:3", &desc);
    gpuopt_knapsack *knapsack = model_create(context, &desc), *other = model_create(context, &desc);
    gpuopt_knapsack_info info = GPUOPT_INIT(gpuopt_knapsack_info);
    unsigned char *bytes;
    uint64_t size;
    int64_t alive;
    (void)state;
    do assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 1, &info), GPUOPT_OK);
    while (info.alive <= DEFAULT_POOL && info.outcome == GPUOPT_MORE);
    assert_true(info.outcome == GPUOPT_MORE && info.alive > DEFAULT_POOL);
    alive = info.alive;
    bytes = model_pack(knapsack, -1, 1, &size);
    assert_int_equal(gpuopt_knapsack_unpack(other, bytes, size, 0), GPUOPT_OK);
    free(bytes);
    assert_int_equal(gpuopt_knapsack_get_info(other, &info), GPUOPT_OK);
    assert_true(info.alive == alive && info.pool > alive);
    if (!test_few()) model_finish(other, &m, model_optimum(&m)); /* many more nodes */
    gpuopt_knapsack_destroy(knapsack);
    gpuopt_knapsack_destroy(other);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(grows), cmocka_unit_test(cannot_grow),
                                          cmocka_unit_test(given), cmocka_unit_test(fits_just),
                                          cmocka_unit_test(unpacked)};

TEST_MAIN(tests)
