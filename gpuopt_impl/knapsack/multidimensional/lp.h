/* SPDX-License-Identifier: MIT
 *
 * Multidimensional knapsacks: multipliers of the rows, as duals of the linear relaxation. The method is the primal
 * simplex method with bounds on a dense table, in doubles. Nothing depends on its accuracy: any multipliers give a
 * bound, and they are rounded to integers.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_MULTIDIMENSIONAL_LP_H
#define GPUOPT_IMPL_KNAPSACK_MULTIDIMENSIONAL_LP_H

#include "handle.h"

/* Columns belong to the items, with bounds 0 and 1, then to the rows' slacks. */
typedef struct gpuopt__knapsack_multi_lp {
    int32_t rows, items, columns;
    double *table;  /* [rows][columns] */
    double *cost;   /* [columns] reduced */
    double *value;  /* [rows] of the basic columns */
    int32_t *basic; /* [rows] */
    uint8_t *place; /* [columns] 0: at its lower bound, 1: at its upper bound, 2: basic */
} gpuopt__knapsack_multi_lp;

static uint64_t gpuopt__knapsack_multi_cut_lp(void *memory, int32_t rows, int32_t items,
                                              gpuopt__knapsack_multi_lp *lp) {
    const int64_t m = rows, columns = (int64_t)items + rows;
    gpuopt__arena arena;
    arena.base = (char *)memory;
    arena.used = 0;
    lp->table = (double *)gpuopt__cut(&arena, m * columns, sizeof(double));
    lp->cost = (double *)gpuopt__cut(&arena, columns, sizeof(double));
    lp->value = (double *)gpuopt__cut(&arena, m, sizeof(double));
    lp->basic = (int32_t *)gpuopt__cut(&arena, m, sizeof(int32_t));
    lp->place = (uint8_t *)gpuopt__cut(&arena, columns, 1);
    return arena.used;
}

/* The column to enter; -1: the basis is optimal. */
static int32_t gpuopt__knapsack_multi_lp_enter(const gpuopt__knapsack_multi_lp *lp) {
    double most = 1e-9;
    int32_t j, enter = -1;
    for (j = 0; j < lp->columns; j++) {
        const double gain = lp->place[j] == 2 ? 0 : lp->place[j] ? -lp->cost[j] : lp->cost[j];
        if (gain > most) most = gain, enter = j;
    }
    return enter;
}

/* The column enters the basis, or goes to its other bound. */
static void gpuopt__knapsack_multi_lp_pivot(gpuopt__knapsack_multi_lp *lp, int32_t enter) {
    const double sign = lp->place[enter] ? -1 : 1;
    double step = enter < lp->items ? 1 : HUGE_VAL, factor;
    int32_t i, j, leave = -1, upper = 0;
    for (i = 0; i < lp->rows; i++) {
        const double a = sign * lp->table[(int64_t)i * lp->columns + enter];
        const double slack = a > 0 ? lp->value[i] : lp->basic[i] < lp->items ? 1 - lp->value[i] : HUGE_VAL;
        if (fabs(a) < 1e-9 || !(slack < fabs(a) * step)) continue;
        step = slack > 0 ? slack / fabs(a) : 0;
        leave = i;
        upper = a < 0;
    }
    if (!(step < HUGE_VAL)) return;
    for (i = 0; i < lp->rows; i++) lp->value[i] -= sign * step * lp->table[(int64_t)i * lp->columns + enter];
    if (leave < 0) {
        lp->place[enter] = !lp->place[enter];
        return;
    }
    lp->place[lp->basic[leave]] = (uint8_t)upper;
    lp->value[leave] = (lp->place[enter] ? 1 : 0) + sign * step;
    lp->basic[leave] = enter;
    lp->place[enter] = 2;
    factor = 1 / lp->table[(int64_t)leave * lp->columns + enter];
    for (j = 0; j < lp->columns; j++) lp->table[(int64_t)leave * lp->columns + j] *= factor;
    for (i = 0; i <= lp->rows; i++) {
        double *row = i < lp->rows ? lp->table + (int64_t)i * lp->columns : lp->cost;
        const double *by = lp->table + (int64_t)leave * lp->columns;
        factor = row[enter];
        if (i == leave || factor == 0) continue;
        for (j = 0; j < lp->columns; j++) row[j] -= factor * by[j];
    }
}

/* Multipliers u [rows], units of profit per weight, for items [count] with the capacities k->residual, each times
 * factor [rows]. */
static void gpuopt__knapsack_multi_duals(const gpuopt_knapsack_multidimensional *k, gpuopt__knapsack_multi_lp *lp,
                                         const int32_t *item, int32_t count, const double *factor, double *u) {
    const int32_t rows = k->desc.rows, columns = count + rows;
    double most = 1;
    int64_t pivots = 20 * (int64_t)columns + 100; /* more than the method ever takes, unless it cycles */
    int32_t i, j, enter;
    lp->rows = rows;
    lp->items = count;
    lp->columns = columns;
    for (j = 0; j < count; j++) most = gpuopt__max(most, (double)(k->profit[item[j]] / k->unit));
    memset(lp->table, 0, sizeof *lp->table * (size_t)rows * (size_t)columns);
    memset(lp->place, 0, (size_t)columns);
    for (j = 0; j < columns; j++) lp->cost[j] = j < count ? (double)(k->profit[item[j]] / k->unit) / most : 0;
    for (i = 0; i < rows; i++) {
        const double capacity = k->residual[i] > 0 ? (double)k->residual[i] : 1;
        for (j = 0; j < count; j++)
            lp->table[(int64_t)i * columns + j] = (double)k->weight[(int64_t)i * k->desc.items + item[j]] / capacity;
        lp->table[(int64_t)i * columns + count + i] = 1;
        lp->basic[i] = count + i;
        lp->place[count + i] = 2;
        lp->value[i] = k->residual[i] > 0 ? factor[i] : 0;
    }
    while (pivots-- > 0 && (enter = gpuopt__knapsack_multi_lp_enter(lp)) >= 0)
        gpuopt__knapsack_multi_lp_pivot(lp, enter);
    for (i = 0; i < rows; i++) {
        const double y = gpuopt__max(-lp->cost[count + i], 0);
        u[i] = y * most / (k->residual[i] > 0 ? (double)k->residual[i] : 1);
    }
}

#endif /* GPUOPT_IMPL_KNAPSACK_MULTIDIMENSIONAL_LP_H */
