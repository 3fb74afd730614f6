/* SPDX-License-Identifier: MIT
 *
 * Proofs of UNBOUNDED in exact rationals, on small random models with rounded rays. No column moves towards a bound,
 * the objective gains as much as the info reports, and rows move towards their sides by at most the reported amount.
 */
#include <math.h>

#include "tests/simplex/answer.h"
#include "tests/simplex/exact.h"

enum { MOST = 6 };

/* Many sides and bounds are infinite, few numbers are integers; later rows are sums of earlier ones, except for one
 * entry. */
static mip draw(uint64_t *seed) {
    int32_t rows = (int32_t)test_random_int(seed, 1, MOST), cols = (int32_t)test_random_int(seed, 2, MOST), i, j;
    double a[MOST * MOST], cost[MOST], lhs[MOST], rhs[MOST], lb[MOST], ub[MOST];
    mip m;
    for (i = 0; i < rows * cols; i++) a[i] = (double)test_random_int(seed, -20, 20) / 7;
    for (i = 1; i < rows; i++)
        for (j = 0; j < cols && i % 2; j++)
            a[i * cols + j] = a[(i - 1) * cols + j] / 3 + (j ? 0 : (double)test_random_int(seed, 0, 1) / 1000);
    for (i = 0; i < rows; i++) {
        lhs[i] = test_random_int(seed, 0, 2) ? -no_bound : -(double)test_random_int(seed, 0, 9) / 3;
        rhs[i] = test_random_int(seed, 0, 2) ? (double)test_random_int(seed, 0, 9) / 3 : no_bound;
    }
    for (j = 0; j < cols; j++) {
        cost[j] = (double)test_random_int(seed, -9, 9) / 3;
        lb[j] = test_random_int(seed, 0, 2) ? 0 : -no_bound;
        ub[j] = test_random_int(seed, 0, 3) ? no_bound : (double)test_random_int(seed, 1, 9);
    }
    m = model_of(rows, cols, a, cost, lhs, rhs, lb, ub);
    m.maximize = (int)test_random_int(seed, 0, 1);
    return m;
}

static void against_exact_rationals(void **state) {
    int models = test_times(20000, 300), k, rays = 0, rounded = 0;
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 3;
    (void)state;
    for (k = 0; k < models; k++) {
        mip m = draw(&seed);
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex_rules rules;
        gpuopt_simplex *simplex;
        gpuopt_simplex_info info;
        double ray[MOST], low[MOST], wrong;
        variant_set(&desc, k % VARIANTS);
        rules = rules_of(&desc);
        desc.rules = &rules;
        rules.scaling = GPUOPT_OFF; /* so that residuals are in the model's units */
        simplex = simplex_create(context, &desc);
        info = simplex_iterate(simplex, INT64_MAX);
        if (info.outcome == GPUOPT_UNBOUNDED) {
            assert_int_equal(gpuopt_simplex_get_proof(
                                 simplex, GPUOPT_HOST,
                                 &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .ray = ray}),
                             GPUOPT_OK);
            assert_int_equal(gpuopt_simplex_get_proof(
                                 simplex, GPUOPT_HOST,
                                 &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .ray_low = low}),
                             GPUOPT_OK);
            wrong = exact_ray_wrong(&m, ray, low);
            rays++;
            rounded += wrong > 0;
            if (!(info.certificate_margin > 0 && exact_ray_gain(&m, ray, low) >= info.certificate_margin))
                fail_msg("model %d: a gain of %.17g", k, info.certificate_margin);
            if (!(wrong <= info.certificate_residual))
                fail_msg("model %d: a row or column moves by %g, not %g", k, wrong, info.certificate_residual);
            if (!(wrong * (1e18 / info.certificate_margin) <= 1e-9)) fail_msg("model %d: %g too far", k, wrong);
        }
        gpuopt_simplex_destroy(simplex);
        mip_free(&m);
    }
    assert_true(rays > models / 10 && rounded > rays / 10);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(against_exact_rationals),
};
TEST_MAIN(tests)
