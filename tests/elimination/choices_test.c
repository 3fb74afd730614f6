/* SPDX-License-Identifier: MIT
 *
 * Models whose buckets take several kinds of kernels, one after the other: choosing one must not disturb the choices
 * made before. The optima are toulbar2's.
 */
#include "examples/io/graphical.h"
#include "tests/elimination/handle.h"

enum { VARIABLES = 18 };

static const struct {
    const char *name;
    int32_t order[VARIABLES];
    int64_t optimum;
} networks[] = {
    {"random:18:10:0.3:26", {14, 3, 5, 8, 6, 9, 12, 2, 7, 1, 10, 0, 4, 11, 13, 15, 16, 17}, 784},
    {"random:18:10:0.3:33", {8, 11, 6, 17, 4, 15, 0, 12, 5, 1, 14, 2, 3, 7, 9, 10, 13, 16}, 766},
};

static void several_kernels(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int32_t value[VARIABLES];
    int which;
    (void)state;
    for (which = 0; which < 2; which++) {
        gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
        gpuopt_elimination_assignment found = GPUOPT_INIT(gpuopt_elimination_assignment);
        gpuopt_elimination *elimination;
        graphical_model m;
        char error[256];
        int64_t cost;
        double ignored;
        int permitted;
        assert_int_equal(graphical_generate(networks[which].name, 0, &m, error, sizeof error), 0);
        desc.variables = desc.order_count = m.variables;
        desc.domain = m.domain;
        desc.functions = m.functions;
        desc.function = m.function;
        desc.order = networks[which].order;
        desc.policy = GPUOPT_POLICY_EXACT;
        elimination = handle_create(context, &desc, &host);
        assert_int_equal(handle_finish(elimination, VARIABLES).cost, networks[which].optimum);
        assert_int_equal(gpuopt_elimination_assign(elimination, GPUOPT_HOST, 0, value, &found), GPUOPT_OK);
        graphical_cost(&m, value, &permitted, &cost, &ignored);
        assert_true(permitted && cost == networks[which].optimum && found.cost == cost);
        gpuopt_elimination_destroy(elimination);
        graphical_free(&m);
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(several_kernels),
};
TEST_MAIN(tests)
