/* SPDX-License-Identifier: MIT
 *
 * Dual simplex iterations with parts called by the caller, and uses of the basis between them. The caller makes a cut
 * from a row of the inverse and removes it, prices in a column and removes it, and requests a proven bound. It also
 * checks the proofs of an infeasible and of an unbounded change.
 *
 * Build, from the repository's root:
 *     cc -O2 -I. examples/steps/dual_by_hand.c gpuopt_impl/gpuopt.c -lm -o dual_by_hand
 */
#include <math.h>

#include "examples/steps/steps.h"
#include "gpuopt/search.h"

/* max y;  3 x + 2 y <= 6,  -3 x + 2 y <= 0;  x, y in [0, 10]. The optimum is 1.5, at (1, 1.5): the rows' sum is 4 y <=
 * 6. If x and y are integers, it is 1. */
static const double dense[4] = {3, -3, 2, 2}, cost[2] = {0, 1}, rhs[2] = {6, 0}, ub[2] = {10, 10};

/* Iterates by hand, then lets _iterate give the verdict, which takes no pivot if the dual method has ended. */
static int solves(gpuopt_simplex *simplex, const char *what, gpuopt_outcome outcome, double optimum) {
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    int pivots = 0;
    for (;; pivots++) {
        gpuopt_simplex_dual_leaving out = GPUOPT_INIT(gpuopt_simplex_dual_leaving);
        gpuopt_simplex_dual_entering in = GPUOPT_INIT(gpuopt_simplex_dual_entering);
        must(gpuopt_simplex_dual_price(simplex, &out));
        if (out.variable < 0) break; /* no basic variable is outside its bounds */
        must(gpuopt_simplex_dual_ratio_test(simplex, out.variable, &in));
        if (in.variable < 0) break; /* nothing blocks: there is no feasible point */
        must(gpuopt_simplex_dual_pivot(simplex, out.variable, in.variable, &info));
    }
    must(gpuopt_simplex_iterate(simplex, INT64_MAX, &info));
    printf("%s: %d pivots, %s, %g\n", what, pivots, gpuopt_outcome_string(info.outcome), info.objective);
    return info.outcome == outcome && (outcome != GPUOPT_OPTIMAL || near(info.objective, optimum));
}

/* The least of coefficient * x for x in [lb, ub]. */
static double least(double coefficient, double lb, double ub) { return coefficient * (coefficient > 0 ? lb : ub); }

/* The cut of Chvatal and Gomory from the basic variable y: with the row u of the inverse, u'A x <= u'rhs, rounded. */
static void cut(gpuopt_simplex *simplex, double *entry, double *side) {
    int32_t head[2], position;
    double u[2] = {0, 0}, table[4], column[2] = {2, 2};
    must(gpuopt_simplex_get_basic_variables(simplex, GPUOPT_HOST, head));
    position = head[0] == 1 ? 0 : 1;
    u[position] = 1;
    must(gpuopt_simplex_btran(simplex, GPUOPT_HOST, 1, u));
    must(gpuopt_simplex_get_tableau_rows(simplex, GPUOPT_HOST, 1, &position, table)); /* u'[A -I] */
    must(gpuopt_simplex_ftran(simplex, GPUOPT_HOST, 1, column));                      /* y is basic: a unit vector */
    if (!near(column[position], 1) || !near(column[1 - position], 0)) exit(1);
    if (!near(table[2], -u[0]) || !near(table[3], -u[1]) || u[0] < 0 || u[1] < 0) exit(1);
    entry[0] = floor(table[0] + 1e-9), entry[1] = floor(table[1] + 1e-9);
    *side = floor(u[0] * rhs[0] + u[1] * rhs[1] + 1e-9);
    printf("cut: %g x + %g y <= %g\n", entry[0], entry[1], *side);
}

int main(int argc, char **argv) {
    gpuopt_simplex_desc desc = GPUOPT_INIT(gpuopt_simplex_desc);
    gpuopt_spare spare = GPUOPT_INIT(gpuopt_spare);
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    gpuopt_simplex *simplex = NULL;
    const int64_t one[] = {0, 1}, two[] = {0, 2};
    const int32_t col_y = 1, col_z = 2, new_row = 2, rows[] = {0, 1};
    const double ones[] = {1, 1}, low = 2, ten = 10, zero = 0, none = -1e30, down = -1;
    double entry[2], side, bound, proof[2] = {0, 0};
    gpuopt_matrix added = {1, 2, one, &col_y, entry + 1, GPUOPT_LAYOUT_CSR};
    uint8_t slacks[4] = {GPUOPT_VARIABLE_AT_LOWER, GPUOPT_VARIABLE_AT_LOWER}; /* and the rows' activities are basic */
    int right;

    open_context(argc, argv);
    desc.matrix.rows = desc.matrix.cols = 2;
    desc.dense = dense, desc.cost = cost, desc.maximize = 1;
    desc.rhs = rhs, desc.ub = ub;
    desc.method = GPUOPT_METHOD_REVISED, desc.algorithm = GPUOPT_ALGORITHM_DUAL;
    spare.rows = spare.cols = 1, spare.nonzeros = 4;
    desc.spare = &spare;
    must(gpuopt_simplex_create(context, &desc, NULL, &simplex));
    right = solves(simplex, "relaxation", GPUOPT_OPTIMAL, 1.5);
    must(gpuopt_simplex_get_bound(simplex, &bound)); /* no solution is better, rounding included */
    right = right && bound >= 1.5 && near(bound, 1.5);

    cut(simplex, entry, &side);
    right = right && near(entry[0], 0); /* the row to be added is y's alone */
    must(gpuopt_simplex_add_rows(simplex, &added, NULL, &side));
    right = solves(simplex, "with the cut", GPUOPT_OPTIMAL, 1) && right;
    must(gpuopt_simplex_remove_rows(simplex, 1, &new_row));
    right = solves(simplex, "without it", GPUOPT_OPTIMAL, 1.5) && right;

    /* A column z of cost 1 with entries 1: y + z <= 2 y + z <= 3. */
    added = (gpuopt_matrix){2, 1, two, rows, ones, GPUOPT_LAYOUT_CSC};
    must(gpuopt_simplex_add_cols(simplex, &added, ones, &zero, &ten));
    right = solves(simplex, "with a column", GPUOPT_OPTIMAL, 3) && right;
    must(gpuopt_simplex_remove_cols(simplex, 1, &col_z));
    right = solves(simplex, "without it", GPUOPT_OPTIMAL, 1.5) && right;

    /* A caller that already has a solution of 2 needs no optimum, only the proof that no solution is better. */
    must(gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, slacks));
    must(gpuopt_simplex_set_cutoff(simplex, 2));
    must(gpuopt_simplex_iterate(simplex, INT64_MAX, &info));
    must(gpuopt_simplex_get_bound(simplex, &bound));
    printf("cutoff 2: %s, bound %g\n", gpuopt_outcome_string(info.outcome), bound);
    right = right && bound <= 2 && (info.outcome == GPUOPT_CUTOFF || info.outcome == GPUOPT_OPTIMAL);
    must(gpuopt_simplex_set_cutoff(simplex, -HUGE_VAL));

    /* y >= 2: the sum of the rows, each times its entry of the proof, needs more than the sum of their sides. */
    must(gpuopt_simplex_set_bounds(simplex, GPUOPT_HOST, 1, &col_y, &low, &ten));
    right = solves(simplex, "y >= 2", GPUOPT_INFEASIBLE, 0) && right;
    must(gpuopt_simplex_get_proof(
        simplex, GPUOPT_HOST, &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .farkas = proof}));
    right = right && proof[0] >= 0 && proof[1] >= 0;
    right = right && least(3 * (proof[0] - proof[1]), 0, 10) + least(2 * (proof[0] + proof[1]), 2, 10) > 6 * proof[0];
    printf("proof (%g, %g)\n", proof[0], proof[1]);

    /* max -y without a lower bound: along the ray y decreases for ever, and no row prevents it. */
    must(gpuopt_simplex_set_bounds(simplex, GPUOPT_HOST, 1, &col_y, &none, &ten));
    must(gpuopt_simplex_set_costs(simplex, GPUOPT_HOST, 1, &col_y, &down));
    right = solves(simplex, "max -y", GPUOPT_UNBOUNDED, 0) && right;
    must(gpuopt_simplex_get_proof(simplex, GPUOPT_HOST,
                                  &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .ray = proof}));
    printf("ray (%g, %g)\n", proof[0], proof[1]);
    right = right && proof[1] < 0 && near(proof[0], 0);
    gpuopt_simplex_destroy(simplex);
    return finish(right);
}
