/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/propagate/tree_walk.h"

/* A bound of a column just before a position, and the position that set it (-1: level 0's). */
static double bound_before(const walk *w, int64_t position, int32_t col, int upper, int64_t *set) {
    int64_t k;
    for (k = position - 1; k >= 0; k--)
        if (w->change[k].col == col && w->change[k].upper == upper) break;
    *set = k;
    return k >= 0 ? w->change[k].new_bound : upper ? w->ub0[col] : w->lb0[col];
}

/* Sets the premises' bounds in lb and ub, which begin as level 0's. All of them come before `end`, are on columns of
 * the row (or on col), and hold there. */
static void take_premises(walk *w, const tree_row *row, int32_t col, int64_t end, const int64_t *premise, int64_t count,
                          double *lb, double *ub) {
    int64_t k, l, set;
    memcpy(lb, w->lb0, sizeof w->lb0);
    memcpy(ub, w->ub0, sizeof w->ub0);
    for (k = 0; k < count; k++) {
        const tree_change *c = &w->change[premise[k]];
        double now;
        int used = c->col == col;
        assert_true(premise[k] >= 0 && premise[k] < end && (k == 0 || premise[k] > premise[k - 1]));
        now = bound_before(w, end, c->col, c->upper, &set);
        if (c->upper ? now > c->new_bound : now < c->new_bound)
            fail_msg("premise %ld: the bound had been loosened to %.17g", (long)premise[k], now);
        for (l = 0; row && l < row->length; l++) used |= row->index[l] == c->col;
        if (!used) fail_msg("premise %ld: column %d is not in the row", (long)premise[k], c->col);
        (c->upper ? ub : lb)[c->col] = c->new_bound;
    }
}

/* The tolerances within which bounds that cross prove nothing. */
static void check_crossing(const walk *w, int32_t col, const double *lb, const double *ub) {
    if (!(lb[col] - ub[col] > 1e-6)) fail_msg("column %d: [%.17g, %.17g] do not cross", col, lb[col], ub[col]);
    assert_true(w->info.infeasible_col == col);
}

void walk_explain(walk *w, int64_t change) {
    static int64_t premise[4 * WALK_COLS];
    const tree_change *c = change < 0 ? NULL : &w->change[change];
    gpuopt_propagator_reason reason, again;
    gpuopt_status status = tree_explain(w->p, change, &reason, premise, 4 * WALK_COLS);
    double lb[WALK_COLS], ub[WALK_COLS];
    const tree_row *row;
    if (c && c->row >= 0 && w->seen[change] != w->row[c->row].changed) {
        assert_int_equal(status, GPUOPT_ERROR_STATE);
        return;
    }
    if (status) fail_msg("change %ld: %s", (long)change, gpuopt_context_last_error(w->context));
    assert_in_range(reason.count, 0, 4 * WALK_COLS);
    assert_int_equal(tree_explain(w->p, change, &again, NULL, 0), GPUOPT_OK);
    assert_int_equal(again.count, reason.count);
    row = reason.row < 0 ? NULL : &w->row[reason.row].row;
    if (row) assert_true(w->row[reason.row].present);
    take_premises(w, row, c ? -1 : reason.col, c ? change : w->changes, premise, reason.count, lb, ub);
    w->explained++;
    w->premises += reason.count;
    if (c) {
        assert_int_equal(reason.row, c->row);
        assert_int_equal(reason.col, c->col);
        if (!row) assert_int_equal(reason.count, 0);
        else if (!tree_implied(row, lb, ub, w->model.integer, c->col, c->upper, c->new_bound))
            fail_msg("change %ld: row %d does not imply the bound %.17g of column %d", (long)change, c->row,
                     c->new_bound, c->col);
        return;
    }
    w->infeasible++;
    if (row) {
        assert_int_equal(reason.row, w->info.infeasible_row);
        assert_int_equal(reason.col, -1);
        if (!tree_empty(row, lb, ub)) fail_msg("row %d has a solution with these premises", reason.row);
    } else {
        assert_in_range(reason.col, 0, WALK_COLS - 1);
        check_crossing(w, reason.col, lb, ub);
    }
}

/* The effect of this row alone on the bounds in one round. */
static void run_row(walk *w, const tree_row *row, const double *lb, const double *ub, double *new_lb, double *new_ub) {
    const int64_t start[2] = {0, row->length};
    gpuopt_propagator_desc desc = w->desc;
    desc.matrix = (gpuopt_matrix){1, WALK_COLS, start, row->index, row->value, GPUOPT_LAYOUT_CSR};
    desc.lhs = &row->lhs;
    desc.rhs = &row->rhs;
    desc.lb = lb;
    desc.ub = ub;
    desc.trail_capacity = 0;
    desc.spare = NULL;
    problem_run(w->plain, &desc, 1, new_lb, new_ub);
}

/* A handle of one row cannot distinguish a column with equal bounds from a column that the caller has fixed, and does
 * not see crossed bounds. Such columns, and rows with them, are left out. */
void walk_check_lowest(walk *w, const double *lb, const double *ub, int64_t from, int64_t to) {
    static double new_lb[MODEL_ROWS + TREE_ROWS][WALK_COLS], new_ub[MODEL_ROWS + TREE_ROWS][WALK_COLS];
    int ran[MODEL_ROWS + TREE_ROWS] = {0};
    int32_t i;
    int64_t k, l;
    for (k = from; k < to; k++) {
        const tree_change *c = &w->change[k];
        for (i = 0; i <= c->row; i++) {
            const tree_row *row = &w->row[i].row;
            int in = 0, degenerate = 0;
            double bound;
            if (!w->row[i].present) continue;
            for (l = 0; l < row->length; l++) {
                in |= row->index[l] == c->col;
                degenerate |= !(lb[row->index[l]] < ub[row->index[l]]);
            }
            if (!in || degenerate) continue;
            if (!ran[i]) run_row(w, row, lb, ub, new_lb[i], new_ub[i]);
            ran[i] = 1;
            bound = (c->upper ? new_ub : new_lb)[i][c->col];
            if (!c->upper && c->new_bound > new_ub[i][c->col]) continue; /* shown as the upper bound */
            if ((bound == c->new_bound) != (i == c->row))
                fail_msg("change %ld names row %d; row %d gives the bound %.17g, the change is to %.17g", (long)k,
                         c->row, i, bound, c->new_bound);
            w->lowest++;
        }
    }
}
