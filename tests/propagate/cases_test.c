/* SPDX-License-Identifier: MIT
 *
 * Hard cases with answers from exact rational arithmetic: from this folder, and from the shared test data.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/propagate/problem.h"

static void check_case(const problem_case *c, const problem_variant *v, gpuopt_context *context) {
    gpuopt_propagator_desc desc = mip_propagator_desc(&c->model);
    int limit = strcmp(c->status, "ROUND_LIMIT") == 0, infeasible = strcmp(c->status, "INFEASIBLE") == 0, j;
    double *lb = malloc(sizeof *lb * (size_t)(desc.matrix.cols + 1)),
           *ub = malloc(sizeof *ub * (size_t)(desc.matrix.cols + 1));
    gpuopt_propagator_info info;
    problem_apply(v, &desc);
    info = problem_run(context, &desc, limit ? c->rounds : 100000, lb, ub);
    if ((info.outcome == GPUOPT_INFEASIBLE) != infeasible)
        fail_msg("%s, %s: outcome %s, expected %s", c->name, v->name, gpuopt_outcome_string(info.outcome), c->status);
    if (!limit && v->mode == GPUOPT_MODE_JACOBI && info.rounds != c->rounds)
        fail_msg("%s, %s: %d rounds, expected %d", c->name, v->name, info.rounds, c->rounds);
    /* The file has the bounds after Jacobi rounds. A sequential sweep stops as soon as it proves infeasibility, and
     * advances further in a limited number of rounds. */
    for (j = 0; j < desc.matrix.cols && v->mode == GPUOPT_MODE_JACOBI; j++)
        if (!problem_close(lb[j], c->lb[j]) || !problem_close(ub[j], c->ub[j]))
            fail_msg("%s, %s: column %d in [%.17g, %.17g], expected [%.17g, %.17g]", c->name, v->name, j, lb[j], ub[j],
                     c->lb[j], c->ub[j]);
    for (j = 0; j < desc.matrix.cols && v->mode == GPUOPT_MODE_GAUSS_SEIDEL && !infeasible; j++) {
        int agree = problem_close(lb[j], c->lb[j]) && problem_close(ub[j], c->ub[j]);
        int further = limit && lb[j] >= c->lb[j] && ub[j] <= c->ub[j];
        if (!agree && !further) fail_msg("%s, %s: column %d in [%.17g, %.17g]", c->name, v->name, j, lb[j], ub[j]);
    }
    free(lb);
    free(ub);
}

static int check_file(const char *path) {
    FILE *file = fopen(path, "r");
    gpuopt_context *context = test_context(NULL);
    problem_case c;
    size_t variants, v;
    int cases = 0;
    const problem_variant *variant = problem_variants(&variants);
    if (!file) fail_msg("%s cannot be opened", path);
    for (; problem_read_case(file, &c); cases++) {
        for (v = 0; v < variants; v++) check_case(&c, &variant[v], context);
        problem_free_case(&c);
    }
    fclose(file);
    gpuopt_context_destroy(context);
    return cases;
}

static void own_cases(void **state) {
    (void)state;
    assert_true(check_file("tests/propagate/cases.txt") >= 20);
}

static void shared_cases(void **state) {
    const char *path;
    (void)state;
    if (!test_data_root("the shared hard cases")) skip();
    path = test_data("propagation_cases/cases.txt");
    assert_non_null(path);
    assert_true(check_file(path) >= 20);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(own_cases),
    cmocka_unit_test(shared_cases),
};
TEST_MAIN(tests)
