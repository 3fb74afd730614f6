/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "tests/propagate/tree_walk.h"

/* ---- Data ---- */

/* Draws a row around the point; returns its length. Beyond 32 entries, sums have another order. */
static int draw_row(walk *w, int32_t *index, double *value, double *lhs, double *rhs) {
    int length = (int)test_random_int(&w->seed, 1, 8), used[WALK_COLS] = {0}, k,
        sides = (int)test_random_int(&w->seed, 0, 2);
    double activity = 0, slack = (double)test_random_int(&w->seed, -1, 8);
    if (length == 8) length = (int)test_random_int(&w->seed, 8, WALK_COLS);
    for (k = 0; k < length; k++) {
        int32_t j;
        do j = (int32_t)test_random_int(&w->seed, 0, WALK_COLS - 1);
        while (used[j]);
        used[j] = 1;
        index[k] = j;
        value[k] = (double)test_random_int(&w->seed, 1, 4) * (test_random_int(&w->seed, 0, 1) ? 1 : -1);
        if (w->data != WALK_INTEGERS)
            value[k] += (double)test_random_int(&w->seed, 0, 8) / 10 * (value[k] < 0 ? -1 : 1);
        activity += value[k] * w->x[j];
    }
    if (slack < 0 && sides == 1) slack = 0;
    *lhs = sides == 0 ? -INFINITY : activity - slack;
    *rhs = sides == 2 ? INFINITY : activity + slack;
    return length;
}

/* Turns small integers into other data: into decimals, with sides around the point; into rows with a factor each. */
void walk_change_data(walk *w) {
    const gpuopt_matrix *a = &w->model.matrix;
    double *value = (double *)a->value;
    int32_t i;
    int64_t k;
    for (i = 0; i < a->rows && w->data != WALK_INTEGERS; i++) {
        double factor = w->data == WALK_MAGNITUDES ? pow(10, (double)test_random_int(&w->seed, -3, 6)) : 1, moved = 0;
        for (k = a->start[i]; k < a->start[i + 1]; k++) {
            double more = (double)test_random_int(&w->seed, 0, 9) / 10 * (value[k] < 0 ? -1 : 1);
            moved += more * w->x[a->index[k]];
            value[k] = (value[k] + more) * factor;
        }
        w->model.lhs[i] = (w->model.lhs[i] + moved) * factor;
        w->model.rhs[i] = (w->model.rhs[i] + moved) * factor;
    }
}

/* ---- A random call ---- */

static void set_any_bounds(walk *w) {
    int32_t col[3];
    double lb[3], ub[3];
    int count = (int)test_random_int(&w->seed, 1, 3), sides = (int)test_random_int(&w->seed, 0, 3), k, l;
    for (k = 0; k < count; k++) {
        int32_t j;
        double middle, x;
        do {
            j = (int32_t)test_random_int(&w->seed, 0, WALK_COLS - 1);
            for (l = 0; l < k && col[l] != j; l++) continue;
        } while (l < k);
        col[k] = j;
        lb[k] = w->lb[j];
        ub[k] = w->ub[j];
        x = isinf(lb[k]) ? ub[k] : lb[k];
        middle = floor(isinf(lb[k] + ub[k]) ? w->x[j] : lb[k] + (ub[k] - lb[k]) / 2);
        switch (test_random_int(&w->seed, 0, 19)) {
        case 0:
        case 1:
        case 2:
        case 3: ub[k] = middle; break;
        case 4:
        case 5:
        case 6:
        case 7: lb[k] = middle + 1; break;
        case 8:
        case 9:
        case 10: lb[k] = ub[k] = w->x[j]; break;
        case 11: lb[k] = ub[k] = isinf(x) ? 0 : x; break;
        case 12: lb[k] -= 3, ub[k] += 2; break;
        case 13: lb[k] -= 0.5; break;
        case 14: ub[k] = INFINITY; break;
        case 15: lb[k] = w->lb0[j], ub[k] = w->ub0[j]; break;
        case 16: lb[k] = middle + 2, ub[k] = middle; break;    /* crossing */
        case 17: lb[k] = middle + 1e-7, ub[k] = middle; break; /* crossing within the tolerance */
        default: ub[k] = w->x[j] + 0.5; break;
        }
    }
    walk_set_bounds(w, count, col, lb, ub, sides == 1, sides == 2);
}

/* Back to bounds around the point, from which most rows are feasible. */
static void set_all_bounds(walk *w) {
    int32_t col[WALK_COLS], j;
    double lb[WALK_COLS], ub[WALK_COLS];
    for (j = 0; j < WALK_COLS; j++) {
        col[j] = j;
        lb[j] = w->x[j] - (double)test_random_int(&w->seed, 0, 20);
        ub[j] = w->x[j] + (double)test_random_int(&w->seed, 0, 20);
    }
    walk_set_bounds(w, WALK_COLS, col, lb, ub, 0, 0);
}

/* An existing row. */
static int32_t any_row(walk *w, int added) {
    int32_t name;
    do name = (int32_t)test_random_int(&w->seed, added ? MODEL_ROWS : 0, MODEL_ROWS + w->added_count - 1);
    while (name >= MODEL_ROWS && w->added[name - MODEL_ROWS].number < 0);
    return name;
}

static int count_added(const walk *w) {
    int count = 0, k;
    for (k = 0; k < w->added_count; k++) count += w->added[k].number >= 0;
    return count;
}

static void set_any_sides(walk *w) {
    int32_t name = any_row(w, 0);
    const tree_row *row = &w->row[walk_slot(w, name)].row;
    double activity = 0, slack = (double)test_random_int(&w->seed, 0, 90) / 8, lhs, rhs;
    int64_t k;
    for (k = 0; k < row->length; k++) activity += row->value[k] * w->x[row->index[k]];
    lhs = test_random_int(&w->seed, 0, 3) ? activity - slack : -INFINITY;
    rhs = test_random_int(&w->seed, 0, 3) ? activity + slack : INFINITY;
    if (lhs == row->lhs && !isinf(lhs)) lhs -= 1; /* so that something changes */
    walk_set_sides(w, 1, &name, &lhs, &rhs);
}

static void add_any_row(walk *w) {
    int32_t index[WALK_COLS];
    double value[WALK_COLS], lhs, rhs;
    int length = draw_row(w, index, value, &lhs, &rhs);
    if (count_added(w) < TREE_ROWS && w->added_count < WALK_ADDED) walk_add_row(w, length, index, value, lhs, rhs);
}

void walk_any(walk *w, int rows) {
    static const int rounds[] = {1, 1, 1, 2, 3, 50, 50};
    int choice = (int)test_random_int(&w->seed, 0, 99), levels = (int)test_random_int(&w->seed, 1, 3);
    if (w->outcome == GPUOPT_INFEASIBLE && choice < 70) {
        if (w->levels > 0) walk_pop(w, levels <= w->levels ? levels : w->levels);
        else set_all_bounds(w);
    } else if (choice < 14 && w->levels < WALK_LEVELS) walk_push(w);
    else if (choice < 38) set_any_bounds(w);
    else if (choice < 42 && rows) set_any_sides(w);
    else if (choice < 49 && rows) add_any_row(w);
    else if (choice < 53 && rows && count_added(w) > 0) walk_remove_row(w, any_row(w, 1));
    else if (choice < 82) walk_round(w, rounds[test_random_int(&w->seed, 0, 6)]);
    else if (choice < 93 && w->levels > 0) walk_pop(w, levels <= w->levels ? levels : w->levels);
    else if (choice < 94) walk_keep(w);
    else if (choice < 95 && w->outcome != GPUOPT_INFEASIBLE && w->originals < WALK_FORKS) walk_fork(w, w->context);
    else if (choice < 96) set_all_bounds(w);
    else if (w->changes > 0) {
        walk_explain(w, test_random_int(&w->seed, 0, w->changes - 1));
        walk_check_changes(w);
    }
}
