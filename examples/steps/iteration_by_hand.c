/* SPDX-License-Identifier: MIT
 *
 * Primal simplex iterations with parts called by the caller: it prices, makes the ratio test, and pivots or flips,
 * until no variable improves. Then it has the basis certified, changes costs, sides and bounds, and continues from the
 * same basis. Finally it returns to the first optimum with the saved basis.
 *
 * Build, from the repository's root:
 *     cc -O2 -I. examples/steps/iteration_by_hand.c gpuopt_impl/gpuopt.c -lm -o iteration_by_hand
 */
#include "examples/steps/steps.h"
#include "gpuopt/search.h"

enum { ROWS = 2, COLS = 3 };

/* max 2 x + 3 y + z;  x + y + z <= 4,  y + 2 z <= 5;  x in [0, 1], y in [0, 2], z in [0, 3]
 * The optimum is 9, at (1, 2, 1): 4 units of the first row at a dual of 1, and 1 and 2 above it for x and y. */
static const double dense[COLS * ROWS] = {1, 0, 1, 1, 1, 2}, cost[COLS] = {2, 3, 1}, rhs[ROWS] = {4, 5};
static const double ub[COLS] = {1, 2, 3};

static void iterate(gpuopt_simplex *simplex, const char *what, gpuopt_simplex_info *info) {
    gpuopt_simplex_candidate candidates[COLS];
    int32_t found = 0;
    int rebuilt = 0;
    for (;;) {
        gpuopt_simplex_entering in = GPUOPT_INIT(gpuopt_simplex_entering);
        gpuopt_simplex_leaving out = GPUOPT_INIT(gpuopt_simplex_leaving);
        must(gpuopt_simplex_price(simplex, &in));
        if (in.variable < 0 && rebuilt) break;
        if (in.variable < 0) { /* is that still so on the original data, without perturbed bounds? */
            must(gpuopt_simplex_rebuild(simplex, 1, info));
            rebuilt = 1;
            continue;
        }
        rebuilt = 0;
        must(gpuopt_simplex_candidates(simplex, COLS, candidates, &found)); /* other candidates to enter */
        must(gpuopt_simplex_ratio_test(simplex, in.variable, in.direction, &out));
        printf("  variable %d, the first of %d, ", (int)in.variable, (int)found);
        if (out.flip) {
            printf("goes to its other bound\n");
            must(gpuopt_simplex_flip(simplex, in.variable, info));
        } else if (out.variable >= 0) {
            printf("enters for %d\n", (int)out.variable);
            must(gpuopt_simplex_pivot(simplex, in.variable, out.variable, out.to_upper, info));
        } else {
            printf("is not blocked\n"); /* unbounded or unsafe, which this program is not */
            exit(1);
        }
        if (candidates[0].variable != in.variable) exit(1);
    }
    must(gpuopt_simplex_verify_basis(simplex, info)); /* the verdict on the basis, with no pivot */
    printf("%s: %s, %g, %s\n", what, gpuopt_outcome_string(info->outcome), info->objective,
           gpuopt_certainty_string(info->certainty));
}

int main(int argc, char **argv) {
    gpuopt_simplex_desc desc = GPUOPT_INIT(gpuopt_simplex_desc);
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    gpuopt_simplex *simplex = NULL;
    double x[COLS], reduced[COLS], activity[ROWS], dual[ROWS], low_x[COLS], low_dual[ROWS];
    const int32_t col_x = 0, col_z = 2, row_0 = 0;
    const double dear = 4, cheap = 1, none = -1e30, three = 3, four = 4, zero = 0, one = 1;
    uint8_t basis[COLS + ROWS];
    int64_t iterations;
    int right;

    open_context(argc, argv);
    desc.matrix.rows = ROWS;
    desc.matrix.cols = COLS;
    desc.dense = dense;
    desc.cost = cost;
    desc.maximize = 1;
    desc.rhs = rhs;
    desc.ub = ub;
    must(gpuopt_simplex_create(context, &desc, NULL, &simplex));
    iterate(simplex, "first", &info);
    right = info.outcome == GPUOPT_OPTIMAL && near(info.objective, 9) && info.flips > 0;
    must(gpuopt_simplex_get_solution(simplex, GPUOPT_HOST,
                                     &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution),
                                                                .x = x,
                                                                .reduced_cost = reduced,
                                                                .activity = activity,
                                                                .dual = dual}));
    must(gpuopt_simplex_get_solution(simplex, GPUOPT_HOST,
                                     &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution),
                                                                .x_low = low_x,
                                                                .dual_low = low_dual})); /* x + low_x is more exact */
    printf("  x = (%g, %g, %g), duals (%g, %g)\n", x[0], x[1], x[2], dual[0], dual[1]);
    right = right && near(x[0], 1) && near(x[1], 2) && near(x[2], 1) && near(dual[0], 1) && near(dual[1], 0);
    right = right && near(activity[0], 4) && near(reduced[0], 1) && near(low_x[0], 0) && near(low_dual[0], 0);
    must(gpuopt_simplex_get_basis(simplex, GPUOPT_HOST, basis));

    /* With 4 z the optimum is 13: duals (2, 1) for right-hand sides (4, 5). */
    must(gpuopt_simplex_set_costs(simplex, GPUOPT_HOST, 1, &col_z, &dear));
    iterate(simplex, "z costs 4", &info);
    right = right && near(info.objective, 13);
    /* With x = 0 and 3 in the first row it is 11: the same duals. */
    must(gpuopt_simplex_set_sides(simplex, GPUOPT_HOST, 1, &row_0, &none, &three));
    must(gpuopt_simplex_set_bounds(simplex, GPUOPT_HOST, 1, &col_x, &zero, &zero));
    iterate(simplex, "x is 0, less capacity", &info);
    right = right && near(info.objective, 11);

    /* Back: the saved basis is optimal again, without an iteration. */
    must(gpuopt_simplex_set_costs(simplex, GPUOPT_HOST, 1, &col_z, &cheap));
    must(gpuopt_simplex_set_sides(simplex, GPUOPT_HOST, 1, &row_0, &none, &four));
    must(gpuopt_simplex_set_bounds(simplex, GPUOPT_HOST, 1, &col_x, &zero, &one));
    must(gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, basis));
    must(gpuopt_simplex_get_info(simplex, &info));
    iterations = info.iterations;
    iterate(simplex, "the saved basis", &info);
    right = right && info.outcome == GPUOPT_OPTIMAL && near(info.objective, 9) && info.iterations == iterations;
    gpuopt_simplex_destroy(simplex);
    return finish(right);
}
