/* SPDX-License-Identifier: MIT
 *
 * A depth-first search with levels of a trail as nodes: it pushes, decides, propagates, reads changes and reasons, and
 * pops. The cutoff is an added row with a side that follows the best solution. At the end a fork of the propagator goes
 * to the solution, and the rows' activities show that it satisfies them.
 *
 * Build, from the repository's root:
 *     cc -O2 -I. examples/steps/dive.c gpuopt_impl/gpuopt.c -lm -o dive
 */
#include "examples/steps/steps.h"
#include "gpuopt/search.h"

enum { ROWS = 5, COLS = 6, ROUNDS = 1000 };

/* Cover each of five elements by some of six sets, at the least cost. 64 choices, which main() tries one by one. */
static const int64_t start[ROWS + 1] = {0, 3, 5, 8, 10, 13};
static const int32_t columns[13] = {0, 1, 3, 1, 4, 0, 2, 5, 2, 3, 3, 4, 5};
static const double ones[13] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, lhs[ROWS] = {1, 1, 1, 1, 1};
static const double zeros[COLS] = {0}, cost[COLS] = {4, 3, 5, 6, 4, 7};

static double best = 1e30, best_x[COLS];
static int32_t cutoff;
static int nodes, failures, premises;

static void dive(gpuopt_propagator *propagator, int64_t level_start) {
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    gpuopt_propagator_trail trail = GPUOPT_INIT(gpuopt_propagator_trail);
    gpuopt_propagator_changes changes = GPUOPT_INIT(gpuopt_propagator_changes);
    gpuopt_propagator_reason reason = GPUOPT_INIT(gpuopt_propagator_reason);
    int32_t col[2 * COLS] = {0}, row[2 * COLS] = {0}, j, pick = -1, k;
    int64_t position[4 * COLS], child;
    double lb[COLS], ub[COLS], sum = 0, none = -1e30, below;

    nodes++;
    must(gpuopt_propagator_round(propagator, ROUNDS, &info));
    reason.capacity = 4 * COLS, reason.premises = position;
    if (info.outcome == GPUOPT_INFEASIBLE) { /* a solver would learn a conflict from this */
        must(gpuopt_propagator_explain(propagator, -1, &reason));
        failures++, premises += (int)reason.count;
        return;
    }
    changes.capacity = 2 * COLS, changes.col = col, changes.row = row;
    must(gpuopt_propagator_get_changes(propagator, GPUOPT_HOST, level_start, &changes));
    must(gpuopt_propagator_get_trail(propagator, &trail));
    for (k = 0; k < changes.count; k++) { /* every change has the row named by the trail, or -1 for a decision */
        must(gpuopt_propagator_explain(propagator, level_start + k, &reason));
        if (reason.row != row[k] || reason.col != col[k]) exit(1);
    }
    printf("%*s%d changes\n", 2 * (int)trail.levels, "", (int)changes.count);
    must(gpuopt_propagator_get_bounds(propagator, GPUOPT_HOST, 0, NULL, lb, ub));
    for (j = COLS - 1; j >= 0; j--) {
        sum += cost[j] * lb[j];
        if (lb[j] < ub[j]) pick = j;
    }
    if (pick < 0) { /* a better solution, for the cutoff lets no other one through */
        best = sum, below = best - 1;
        memcpy(best_x, lb, sizeof lb);
        must(gpuopt_propagator_set_sides(propagator, GPUOPT_HOST, 1, &cutoff, &none, &below));
        printf("%*ssolution of cost %g\n", 2 * (int)trail.levels, "", best);
        return;
    }
    for (k = 0; k <= 1; k++) {
        double side = k;
        must(gpuopt_propagator_push(propagator, &child));
        must(gpuopt_propagator_set_bounds(propagator, GPUOPT_HOST, 1, &pick, &side, &side));
        dive(propagator, child);
        must(gpuopt_propagator_pop(propagator, 1));
    }
}

int main(int argc, char **argv) {
    gpuopt_propagator_desc desc = GPUOPT_INIT(gpuopt_propagator_desc);
    gpuopt_spare spare = GPUOPT_INIT(gpuopt_spare);
    gpuopt_propagator_row_report report = GPUOPT_INIT(gpuopt_propagator_row_report);
    gpuopt_propagator_trail trail = GPUOPT_INIT(gpuopt_propagator_trail);
    gpuopt_propagator *propagator = NULL, *fork = NULL;
    const uint8_t integer[COLS] = {1, 1, 1, 1, 1, 1};
    const int64_t cost_start[] = {0, COLS};
    const int32_t all[COLS] = {0, 1, 2, 3, 4, 5};
    const gpuopt_matrix cost_row = {1, COLS, cost_start, all, cost, GPUOPT_LAYOUT_CSR};
    double optimum = 1e30, top = 1e30, activity[ROWS + 1] = {0};
    uint8_t status[ROWS + 1] = {0};
    int set, i, j, right;
    int64_t k;

    for (set = 0; set < 1 << COLS; set++) { /* the oracle */
        double sum = 0, covered = 1;
        for (i = 0; i < ROWS; i++) {
            int hit = 0;
            for (k = start[i]; k < start[i + 1]; k++) hit |= set >> columns[k] & 1;
            covered *= hit;
        }
        for (j = 0; j < COLS; j++) sum += (set >> j & 1) * cost[j];
        if (covered != 0 && sum < optimum) optimum = sum;
    }
    open_context(argc, argv);
    desc.matrix = (gpuopt_matrix){ROWS, COLS, start, columns, ones, GPUOPT_LAYOUT_CSR};
    desc.lhs = lhs, desc.lb = zeros, desc.ub = ones, desc.integer = integer;
    spare.rows = 1, spare.nonzeros = COLS;
    desc.trail_capacity = 1000, desc.spare = &spare;
    must(gpuopt_propagator_create(context, &desc, NULL, &propagator));
    must(gpuopt_propagator_add_rows(propagator, &cost_row, NULL, &top, &cutoff));
    must(gpuopt_propagator_round(propagator, ROUNDS, NULL));
    must(gpuopt_propagator_commit(propagator)); /* bounds that hold at the root need no place in the trail */
    dive(propagator, 0);
    must(gpuopt_propagator_get_trail(propagator, &trail));
    printf("%d nodes, %d failures of %d premises together\n", nodes, failures, premises);

    must(gpuopt_propagator_remove_rows(propagator, 1, &cutoff));
    must(gpuopt_propagator_clone(propagator, context, NULL, &fork));
    must(gpuopt_propagator_set_bounds(fork, GPUOPT_HOST, 0, NULL, best_x, best_x));
    report.min_activity = activity, report.status = status;
    must(gpuopt_propagator_get_rows(fork, GPUOPT_HOST, &report));
    right = near(best, optimum) && trail.levels == 0 && failures > 0;
    for (i = 0; i < ROWS; i++) right = right && activity[i] >= 1 && status[i] == GPUOPT_ROW_REDUNDANT;
    printf("optimum %g\n", best);
    gpuopt_propagator_destroy(fork);
    gpuopt_propagator_destroy(propagator);
    return finish(right);
}
