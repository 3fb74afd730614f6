/* SPDX-License-Identifier: MIT
 *
 * The quality of OPTIMAL in batches, children of a root and many small programs. An objective that differs from the
 * duals' is no optimum, however small the reduced costs. A model that misses a feasible point by less than the
 * tolerance has an optimum. The optima follow from the models by hand.
 */
#include <math.h>
#include <stdlib.h>

#include "tests/simplex/children.h"
#include "tests/simplex/programs.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

static void expect(const char *how, int32_t outcome, int32_t certainty, double objective, double optimum) {
    if (outcome != GPUOPT_OPTIMAL || certainty != GPUOPT_CERTAINTY_TOLERANCE ||
        !(fabs(objective - optimum) <= 1.01e-9 * fmax(1, fabs(optimum))))
        fail_msg("%s: %s, certainty %d, %.17g, and not %.17g", how, gpuopt_outcome_string((gpuopt_outcome)outcome),
                 (int)certainty, objective, optimum);
}

/* A model as the only program of its shape. */
static void expect_program(gpuopt_context *context, mip m, double optimum) {
    mip *model = malloc(sizeof *model);
    programs *all;
    programs_report *r;
    gpuopt_simplex_batch *many;
    *model = m;
    all = programs_of(1, model, 0, GPUOPT_LAYOUT_CSC);
    many = programs_create(context, all);
    must(gpuopt_simplex_batch_iterate(many, INT64_MAX, NULL));
    r = programs_get(many, all);
    expect("program", r->r.outcome[0], r->r.certainty[0], r->r.objective[0], optimum);
    programs_report_free(r);
    gpuopt_simplex_batch_destroy(many);
    programs_free(all);
}

/* The only child of a root. */
static void expect_child(gpuopt_context *context, const mip *m, const gpuopt_simplex_child_list *child,
                         double optimum) {
    int way;
    for (way = 0; way < (test_on("cuda") ? 1 : 8); way++) {
        gpuopt_simplex_desc desc = children_root_desc(m, way);
        gpuopt_simplex *root = simplex_create(context, &desc);
        gpuopt_simplex_children *batch = children_batch(root, 1, 0, GPUOPT_ON_PIVOT_LIMIT_REFACTOR);
        children_report *r = children_report_new(m, 1);
        int without;
        simplex_iterate(root, INT64_MAX);
        for (without = 0; without < 2; without++) { /* whether bounds are wanted makes no difference */
            if (without) r->r.bound = NULL;
            must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, child, 1000, &r->r));
            expect("child", r->outcome[0], r->certainty[0], r->objective[0], optimum);
        }
        gpuopt_simplex_children_destroy(batch);
        gpuopt_simplex_destroy(root);
        children_report_free(r);
    }
}

static const int64_t one_entry[] = {0, 1};

/* min y - 2^-32 x, x + y <= 2^21, x <= 2^k: the cost of x is within the tolerance, and x at its bound gains 2^(k - 32).
 * A child of the same with the cost 1. */
static void small_costs_of_long_columns(void **state) {
    static const double a[] = {1, 1}, rhs[] = {0x1p21};
    static const int32_t first[] = {0};
    gpuopt_context *context = test_context(NULL);
    const double small = -0x1p-32;
    int k;
    (void)state;
    for (k = 0; k <= 20; k += 4) {
        const double range = ldexp(1, k), ub[] = {range, 1}, cost[] = {small, 1}, other[] = {1, 1};
        gpuopt_simplex_child_list child = GPUOPT_INIT(gpuopt_simplex_child_list);
        mip m = model_of(1, 2, a, other, NULL, rhs, NULL, ub);
        child.count = 1;
        child.cost_start = one_entry;
        child.cost_col = first;
        child.cost = &small;
        expect_program(context, model_of(1, 2, a, cost, NULL, rhs, NULL, ub), small * range);
        expect_child(context, &m, &child, small * range);
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* x = 1 and x = 1 + 2^-k, with 2^-k below the tolerance. */
static void nearly_feasible(void **state) {
    static const double a[] = {1, 1}, cost[] = {1}, ub[] = {2}, ones[] = {1, 1};
    static const int32_t second[] = {1};
    gpuopt_context *context = test_context(NULL);
    mip m = model_of(2, 1, a, cost, ones, ones, NULL, ub);
    int k;
    (void)state;
    for (k = 31; k <= 52; k += 3) {
        const double side = 1 + ldexp(1, -k), sides[] = {1, side};
        gpuopt_simplex_child_list child = GPUOPT_INIT(gpuopt_simplex_child_list);
        child.count = 1;
        child.side_start = one_entry;
        child.row = second;
        child.lhs = child.rhs = &side;
        expect_program(context, model_of(2, 1, a, cost, sides, sides, NULL, ub), 1);
        expect_child(context, &m, &child, 1);
    }
    mip_free(&m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(small_costs_of_long_columns),
    cmocka_unit_test(nearly_feasible),
};
TEST_MAIN(tests)
