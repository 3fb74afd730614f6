/* SPDX-License-Identifier: MIT
 *
 * Small hard cases with known answers, in every way to run: cycling, degenerate, badly conditioned, exponentially long,
 * infeasible, unbounded, without rows.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/simplex/answer.h"
#include "tests/simplex/index.h"

enum { MOST = 64 };

/* hilbert8's matrix has a condition number of 1e10, so its optimum 8 is found to fewer digits. Without scaling, a point
 * that violates the rows by an allowed 1e-9 has 7.99995. */
static double tolerance_of(const char *name, int scaled) {
    return strcmp(name, "hilbert8") ? 1e-8 : scaled ? 1e-7 : 1e-5;
}

/* A million pivots without scaling; with it, a few. */
static int too_long(const char *name, const gpuopt_simplex_desc *desc) {
    return strcmp(name, "kleeminty20") == 0 && desc->rules->pricing == GPUOPT_PRICING_DANTZIG &&
           desc->rules->scaling == GPUOPT_OFF;
}

static void run_all(gpuopt_switch scaling, gpuopt_switch perturbation) {
    index_entry entry[MOST];
    int count = index_read("lp_cases", entry, MOST), k, variant, wrong = 0;
    gpuopt_context *context;
    if (!count) skip();
    context = test_context(NULL);
    for (k = 0; k < count; k++) {
        mip m = model_file("lp_cases", entry[k].name);
        for (variant = 0; variant < VARIANTS; variant++) {
            gpuopt_simplex_desc desc = tableau_desc(&m);
            gpuopt_simplex_rules rules;
            gpuopt_simplex_info info;
            const char *fault;
            variant_set(&desc, variant);
            rules = rules_of(&desc);
            desc.rules = &rules;
            rules.scaling = scaling;
            rules.perturbation = perturbation;
            if (too_long(entry[k].name, &desc)) continue;
            fault = answer_try(context, &desc, &m, entry[k].outcome, entry[k].objective,
                               tolerance_of(entry[k].name, scaling != GPUOPT_OFF), &info);
            if (!fault) continue;
            printf("%s, %s: %s\n", entry[k].name, variant_name(&desc), fault);
            wrong++;
        }
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
    assert_int_equal(wrong, 0);
}

static void as_it_comes(void **state) {
    (void)state;
    run_all(GPUOPT_DEFAULT, GPUOPT_DEFAULT);
}

static void without_scaling(void **state) {
    (void)state;
    run_all(GPUOPT_OFF, GPUOPT_DEFAULT);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(as_it_comes),
    cmocka_unit_test(without_scaling),
};
TEST_MAIN(tests)
