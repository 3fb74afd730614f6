/* SPDX-License-Identifier: MIT
 *
 * Models around a planted, strictly complementary pair of solutions: the optimum is known exactly, in every way to run.
 */
#include <math.h>
#include <stdio.h>

#include "tests/simplex/answer.h"

typedef struct shape {
    int rows, cols;
    const char *density;
} shape;

static void every_shape(void **state) {
    static const shape shapes[] = {{1, 1, "1"},     {1, 40, "0.5"},    {40, 1, "0.5"},    {10, 10, "1"},
                                   {60, 60, "0.1"}, {50, 200, "0.05"}, {200, 50, "0.05"}, {120, 120, "1"}};
    /* On the CPU each way meets two of the six models of a shape; on the GPU, both. With few repetitions, each way
     * meets one or two models in all. */
    int seeds = test_times(6, 2), step = test_on("cuda") ? 1 : test_few() ? 9 : 3, seed, variant;
    gpuopt_context *context = test_context(NULL);
    size_t k;
    (void)state;
    for (k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (seed = 1; seed <= seeds; seed++) {
            char name[64];
            mip m;
            snprintf(name, sizeof name, "plant:%d:%d:%s:%d", shapes[k].rows, shapes[k].cols, shapes[k].density, seed);
            m = model_load(name);
            for (variant = (seed + (int)k) % step; variant < VARIANTS; variant += step) {
                gpuopt_simplex_desc desc = tableau_desc(&m);
                variant_set(&desc, variant);
                answer_expect(context, &desc, &m, name, GPUOPT_OPTIMAL, m.optimum, 1e-9);
            }
            mip_free(&m);
        }
    gpuopt_context_destroy(context);
}

static void larger_ones(void **state) {
    static const char *const names[] = {"plant:300:600:0.05:1", "plant:500:250:0.05:2", "plant:150:1500:0.1:3"};
    gpuopt_context *context = test_context(NULL);
    int k, way;
    (void)state;
    for (k = 0; k < 3; k++) {
        mip m = model_load(names[k]);
        for (way = 0; way < 6; way += test_few() ? 5 : 1) {
            gpuopt_simplex_desc desc = tableau_desc(&m);
            gpuopt_simplex_info info;
            variant_set(&desc, way);
            info = answer_expect(context, &desc, &m, names[k], GPUOPT_OPTIMAL, m.optimum, 1e-9);
            print_message("%s, %s: %lld iterations\n", names[k], variant_name(&desc), (long long)info.iterations);
        }
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_shape),
    cmocka_unit_test(larger_ones),
};
TEST_MAIN(tests)
