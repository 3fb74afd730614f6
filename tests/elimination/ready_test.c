/* SPDX-License-Identifier: MIT
 *
 * The messages ready after each step. All are kept, or (keep OFF) only until they have been read. A message is ready
 * from the step that eliminates its variable to the step before its bucket's variable is eliminated. Without such a
 * variable it is ready to the end; join_rest reads such messages. A ready message has the same table in both cases.
 */
#include <stdlib.h>
#include <string.h>

#include "gpuopt/inference.h"
#include "tests/elimination/handle.h"

enum { VARIABLES = 8, MOST = 4096 };

/* The step that eliminates a variable. `left`: the result for a variable that is left over, and for no variable
 * (-1). */
static int32_t step_of(const int32_t *order, int32_t steps, int32_t variable, int32_t left) {
    int32_t k;
    for (k = 0; k < steps; k++)
        if (order[k] == variable) return k;
    return left;
}

static void check(gpuopt_elimination *kept, gpuopt_elimination *dropped, const int32_t *order, int32_t steps,
                  int32_t done, int join, const model *m) {
    static int64_t cost[2][MOST];
    static double value[2][MOST];
    int32_t k;
    for (k = 0; k < steps + join; k++) {
        gpuopt_elimination_message_info one = handle_message(kept, k), two = handle_message(dropped, k);
        int32_t made = step_of(order, steps, one.variable, steps), read = step_of(order, steps, one.parent, INT32_MAX);
        if (join && read == INT32_MAX && one.variable >= 0) read = steps;
        assert_int_equal(!!one.ready, made < done);
        assert_int_equal(!!two.ready, made < done && read >= done);
        assert_true(one.entries == two.entries && one.entries <= MOST);
        if (!two.ready) {
            assert_int_equal(gpuopt_elimination_message_get(dropped, GPUOPT_HOST, k, 0, cost[1], value[1], NULL),
                             GPUOPT_ERROR_STATE);
            continue;
        }
        assert_int_equal(gpuopt_elimination_message_get(kept, GPUOPT_HOST, k, 0, cost[0], value[0], NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_elimination_message_get(dropped, GPUOPT_HOST, k, 0, cost[1], value[1], NULL),
                         GPUOPT_OK);
        assert_memory_equal(m->type == GPUOPT_COST_DOUBLE ? (void *)value[0] : (void *)cost[0],
                            m->type == GPUOPT_COST_DOUBLE ? (void *)value[1] : (void *)cost[1],
                            sizeof(int64_t) * (size_t)one.entries);
    }
}

/* keep OFF with and without join_rest, orders that eliminate all variables or some of them, chains among them. */
static void ready(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed;
    (void)state;
    for (seed = 1; seed <= 200; seed++) {
        uint64_t random = seed;
        gpuopt_elimination *kept, *dropped;
        gpuopt_elimination_desc desc;
        gpuopt_elimination_messages messages = GPUOPT_INIT(gpuopt_elimination_messages);
        gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
        int32_t domain[VARIABLES], order[VARIABLES], steps, k;
        const int join = (int)(seed / 2 % 2);
        model m;
        for (k = 0; k < VARIABLES; k++) domain[k] = (int32_t)test_random_int(&random, 2, 3);
        m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, VARIABLES, domain);
        for (k = 1; k < VARIABLES; k++)
            model_add_distance(&m, seed % 4 ? (int32_t)test_random_int(&random, 0, k - 1) : k - 1, k, 1 + k % 3);
        draw_permutation(&random, VARIABLES, order);
        for (k = 0; k < VARIABLES && seed % 8 == 4; k++) order[k] = k; /* a chain: each step reads the last message */
        steps = seed % 3 ? VARIABLES : (int32_t)test_random_int(&random, 1, VARIABLES - 2);
        desc = model_desc(&m);
        desc.order = order;
        desc.order_count = steps;
        desc.policy = GPUOPT_POLICY_EXACT;
        desc.messages = &messages;
        messages.join_rest = join;
        kept = handle_create(context, &desc, &host);
        desc.memory = &memory;
        memory.retain_messages = GPUOPT_OFF;
        dropped = handle_create(context, &desc, &host);
        check(kept, dropped, order, steps, 0, join, &m);
        for (k = 1; k <= steps + join; k++) {
            assert_int_equal(gpuopt_elimination_step(kept, 1, NULL), GPUOPT_OK);
            assert_int_equal(gpuopt_elimination_step(dropped, 1, NULL), GPUOPT_OK);
            check(kept, dropped, order, steps, k, join, &m);
        }
        gpuopt_elimination_destroy(kept);
        gpuopt_elimination_destroy(dropped);
        model_free(&m);
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(ready),
};
TEST_MAIN(tests)
