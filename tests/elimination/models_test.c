/* SPDX-License-Identifier: MIT
 *
 * The number of a model, by which packed messages of other models are refused.
 */
#include <stdlib.h>
#include <string.h>

#include "gpuopt/inference.h"
#include "tests/elimination/handle.h"

enum {
    SAME,
    AGAIN,
    AS_TUPLES,
    COST,
    CONSTANT,
    DEFAULT,
    SCOPE,
    SIZES,
    TOP,
    SEMIRING,
    ORDER,
    CONDITION,
    GIVEN,
    VARIANTS
};

/* Message 0 of one variant of a model. The caller frees the bytes. */
static uint8_t *variant(gpuopt_context *context, int which, uint64_t *number, uint64_t *size) {
    static const int32_t pair[] = {0, 1}, other[] = {1, 2}, last = 3, tuple[] = {0, 0, 0, 1, 1, 0, 1, 1};
    int32_t domain[] = {2, 2, 3, 2}, order[] = {0, 1, 2};
    int64_t cost[] = {4, 1, 0, 3}, constant = 6, single = 2;
    gpuopt_elimination_function function[3] = {{0}};
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_messages messages = GPUOPT_INIT(gpuopt_elimination_messages);
    gpuopt_elimination *elimination = NULL;
    uint8_t *bytes;
    if (which == COST) cost[3] = 2;
    if (which == CONSTANT) constant = 7;
    if (which == SIZES) domain[2] = 4;
    if (which == ORDER) order[1] = 2, order[2] = 1;
    function[0].arity = 2;
    function[0].scope = pair;
    function[0].tuples = which == AS_TUPLES ? 4 : -1;
    function[0].tuple = tuple;
    function[0].cost = cost;
    function[1].tuples = -1;
    function[1].cost = &constant;
    function[2].arity = 2;
    function[2].scope = which == SCOPE ? &other[0] : pair;
    if (which == SCOPE) domain[2] = 2;
    function[2].tuple = tuple;
    function[2].tuples = 1;
    function[2].cost = &single;
    function[2].default_cost = which == DEFAULT;
    desc.variables = 4;
    desc.domain = domain;
    desc.functions = 3;
    desc.function = function;
    desc.order = order;
    desc.order_count = 3;
    desc.top = which == TOP ? 90 : 80;
    desc.semiring = which == SEMIRING ? GPUOPT_SEMIRING_MIN_COUNT : GPUOPT_SEMIRING_MIN_SUM;
    desc.evidence = &last;
    desc.evidence_count = which == CONDITION;
    desc.messages = &messages;
    messages.model = which == GIVEN ? 5 : 0;
    assert_int_equal(gpuopt_elimination_create(context, &desc, NULL, &elimination), GPUOPT_OK);
    handle_finish(elimination, 1);
    *number = handle_message(elimination, 0).model;
    bytes = handle_pack(elimination, 0, size);
    gpuopt_elimination_destroy(elimination);
    return bytes;
}

/* A message is accepted if its model's number is the same, and refused by others. */
static void other_models(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t number[VARIANTS], size[VARIANTS];
    uint8_t *bytes[VARIANTS];
    int a, b;
    (void)state;
    for (a = 0; a < VARIANTS; a++) bytes[a] = variant(context, a, &number[a], &size[a]);
    assert_true(number[GIVEN] == 5);
    for (a = 0; a < VARIANTS; a++)
        for (b = 0; b < VARIANTS; b++) {
            int32_t scope[4] = {9, 9, 9, 9}, domain[4];
            int64_t cost[64];
            const int same = a == b || (a <= AS_TUPLES && b <= AS_TUPLES);
            gpuopt_status status = gpuopt_elimination_message_unpack(context, number[b], bytes[a], size[a], scope,
                                                                     domain, cost, NULL, NULL);
            if (status != (same ? GPUOPT_OK : GPUOPT_ERROR_ARGUMENT)) fail_msg("message of %d for %d", a, b);
            assert_true(same || (strstr(host.error, "the message is of another model") && scope[0] == 9));
        }
    for (a = 0; a < VARIANTS; a++) free(bytes[a]);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(other_models),
};
TEST_MAIN(tests)
