/* SPDX-License-Identifier: MIT
 *
 * Many small linear programs of one shape: they share the matrix and the costs, and each has separate right-hand sides.
 * The caller makes a few iterations of all of them at a time, and queries how many are still open. It reads the
 * results, with the proof of an infeasible and of an unbounded program.
 *
 * Build, from the repository's root:
 *     cc -O2 -I. examples/steps/program_batch.c gpuopt_impl/gpuopt.c -lm -o program_batch
 */
#include "examples/steps/steps.h"
#include "gpuopt/batch.h"

enum { ROWS = 3, COLS = 2, COPIES = 40 };

/* max 3 x + 5 y;  x <= 4,  2 y <= 12,  3 x + 2 y <= r;  x, y >= 0.  A unit of r is worth 5/2 in y and 1 in x. */
static double optimum(double r) {
    double y = r / 2 < 6 ? r / 2 : 6, x = (r - 2 * y) / 3 < 4 ? (r - 2 * y) / 3 : 4;
    return 3 * x + 5 * y;
}

int main(int argc, char **argv) {
    gpuopt_simplex_batch_desc desc = GPUOPT_INIT(gpuopt_simplex_batch_desc);
    gpuopt_simplex_batch_info info = GPUOPT_INIT(gpuopt_simplex_batch_info);
    gpuopt_simplex_programs programs = GPUOPT_INIT(gpuopt_simplex_programs);
    gpuopt_simplex_batch_report report = GPUOPT_INIT(gpuopt_simplex_batch_report);
    gpuopt_simplex_batch *batch = NULL;
    const double matrix[ROWS * COLS] = {1, 0, 0, 2, 3, 2}, cost[COLS] = {3, 5}; /* row after row */
    double rhs[COPIES][ROWS], objective[COPIES], farkas[COPIES][ROWS], ray[COPIES][COLS], x[COPIES][COLS];
    int32_t outcome[COPIES];
    int k, calls = 0, right;

    open_context(argc, argv);
    for (k = 0; k < COPIES; k++) rhs[k][0] = 4, rhs[k][1] = 12, rhs[k][2] = k;
    rhs[0][2] = -1;               /* infeasible: 3 x + 2 y >= 0 */
    rhs[1][1] = rhs[1][2] = 1e30; /* unbounded: nothing limits y */
    desc.batch_size = COPIES;
    desc.rows = ROWS;
    desc.cols = COLS; /* no pattern: dense */
    desc.shared = GPUOPT_SHARED_MATRIX | GPUOPT_SHARED_COST;
    desc.maximize = 1;
    must(gpuopt_simplex_batch_create(context, &desc, NULL, &batch));
    programs.count = COPIES;
    programs.value = matrix;
    programs.cost = cost;
    programs.rhs = rhs[0];
    must(gpuopt_simplex_batch_load(batch, GPUOPT_HOST, &programs));
    must(gpuopt_simplex_batch_get_info(batch, &info));
    for (; info.more > 0; calls++) { /* your loop */
        must(gpuopt_simplex_batch_iterate(batch, 1, &info));
        printf("%d optimal, %d infeasible, %d unbounded, %d open\n", (int)info.optimal, (int)info.infeasible,
               (int)info.unbounded, (int)info.more);
    }
    report.outcome = outcome;
    report.objective = objective;
    report.x = x[0];
    report.farkas = farkas[0];
    report.ray = ray[0];
    must(gpuopt_simplex_batch_get(batch, GPUOPT_HOST, 0, COPIES, &report));
    right = calls > 1 && info.optimal == COPIES - 2 && info.infeasible == 1 && info.unbounded == 1;
    for (k = 2; k < COPIES; k++) {
        right = right && outcome[k] == GPUOPT_OPTIMAL && near(objective[k], optimum(k));
        right = right && near(3 * x[k][0] + 5 * x[k][1], optimum(k)) && x[k][0] <= 4 + 1e-9 && x[k][1] <= 6 + 1e-9;
    }
    /* Infeasible: weights y >= 0 of the rows with y'A >= 0 and y'rhs < 0. Unbounded: a ray that only y needs. */
    right = right && outcome[0] == GPUOPT_INFEASIBLE && farkas[0][0] >= 0 && farkas[0][1] >= 0 && farkas[0][2] >= 0;
    right = right && 4 * farkas[0][0] + 12 * farkas[0][1] - farkas[0][2] < 0;
    right = right && outcome[1] == GPUOPT_UNBOUNDED && near(ray[1][0], 0) && ray[1][1] > 0;
    printf("program 18: %s, %g at (%g, %g)\n", gpuopt_outcome_string((gpuopt_outcome)outcome[18]), objective[18],
           x[18][0], x[18][1]);
    gpuopt_simplex_batch_destroy(batch);
    return finish(right);
}
