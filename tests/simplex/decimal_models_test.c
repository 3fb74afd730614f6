/* SPDX-License-Identifier: MIT
 *
 * Public models with decimal data that do not balance as doubles. The linear programs scorpion and wood1p are OPTIMAL
 * by every method and algorithm, with the published objective. Children of the roots of mas74 and ran14x18-disj-8 have
 * the verdicts of CLP.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/children.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

static int is_left_out(void) { return test_data_root("public models with decimal data") == NULL; }

/* The larger models take minutes on the emulated GPU. */
static void linear_programs(void **state) {
    static const struct {
        const char *name;
        double objective;
    } model[] = {{"scorpion", 1878.124822738107}, {"wood1p", 1.4429024115734}};
    static const gpuopt_simplex_algorithm algorithm[] = {GPUOPT_ALGORITHM_PRIMAL, GPUOPT_ALGORITHM_DUAL,
                                                         GPUOPT_ALGORITHM_AUTO};
    gpuopt_context *context;
    size_t k;
    int way;
    (void)state;
    if (is_left_out() || test_emulated()) return;
    context = test_context(NULL);
    for (k = 0; k < sizeof model / sizeof *model; k++) {
        mip m = model_file("imprecise", model[k].name);
        for (way = 0; way < 6; way++) {
            gpuopt_simplex_desc desc = tableau_desc(&m);
            desc.method = way % 2 ? GPUOPT_METHOD_REVISED : GPUOPT_METHOD_TABLEAU;
            desc.algorithm = algorithm[way / 2];
            answer_expect(context, &desc, &m, model[k].name, GPUOPT_OPTIMAL, model[k].objective, 1e-9);
        }
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* Two entries of var-smallemery-m6j6 are 8.9e-16, the rest of numbers that should have cancelled, beside others of up
 * to 1e4. The two must not decide anything, least of all the scales. The reference is HiGHS's. */
static void cancelled_entries(void **state) {
    gpuopt_context *context;
    gpuopt_simplex_desc desc;
    mip m;
    (void)state;
    if (is_left_out() || test_emulated()) return;
    context = test_context(NULL);
    m = model_file("miplib", "var-smallemery-m6j6");
    desc = tableau_desc(&m);
    desc.algorithm = GPUOPT_ALGORITHM_DUAL;
    desc.method = GPUOPT_METHOD_REVISED;
    answer_expect(context, &desc, &m, "var-smallemery-m6j6", GPUOPT_OPTIMAL, -156.05626812253524, 1e-9);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* Both children of each column with a fractional value at the optimum. */
static void strong_branching(gpuopt_context *context, const char *folder, const char *name, int way) {
    mip m = model_file(folder, name);
    gpuopt_simplex_desc desc = children_root_desc(&m, way);
    gpuopt_simplex *root = simplex_create(context, &desc);
    double *x = calloc((size_t)m.columns.cols, sizeof *x);
    int32_t *col = calloc((size_t)m.columns.cols, sizeof *col), count, k;
    children *all;
    children_report *report;
    gpuopt_simplex_children *batch;
    int none = 0;
    assert_int_equal(simplex_iterate(root, INT64_MAX).outcome, GPUOPT_OPTIMAL);
    count = children_fractional(root, &m, col, x);
    assert_true(count >= 10 && 2 * count <= CHILDREN_MOST);
    all = children_branch(&m, count, col, x);
    report = children_report_new(&m, 2 * count);
    batch = children_batch(root, 2 * count, 0, GPUOPT_ON_PIVOT_LIMIT_REFACTOR);
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100000, &report->r));
    for (k = 0; k < 2 * count; k++)
        if (children_is_verdict(report->outcome[k])) children_agree_with_clp(&m, all, report, k);
        else none++;
    if (none > 0) fail_msg("%s: %d of %d children without a verdict", name, none, (int)(2 * count));
    gpuopt_simplex_children_destroy(batch);
    children_report_free(report);
    gpuopt_simplex_destroy(root);
    free(all), free(col), free(x);
    mip_free(&m);
}

static void children_of_roots(void **state) {
    gpuopt_context *context;
    int way;
    (void)state;
    if (is_left_out()) return;
    context = test_context(NULL);
    for (way = 0; way < (test_on("cuda") ? 1 : 8); way++) strong_branching(context, "imprecise", "mas74", way);
    if (!test_emulated())
        strong_branching(context, "imprecise", "ran14x18-disj-8", 1); /* CLP takes 20 s for its children */
    strong_branching(context, "miplib", "mas76", 1);
    strong_branching(context, "miplib", "egout", 1); /* infeasible by little, beside columns without bounds */
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(linear_programs),
    cmocka_unit_test(cancelled_entries),
    cmocka_unit_test(children_of_roots),
};
TEST_MAIN(tests)
