/* SPDX-License-Identifier: MIT */
#include "tests/simplex/clp.h"

#include <math.h>
#include <stdlib.h>

#include <coin/Clp_C_Interface.h>

#include "tests/simplex/answer.h"

static double *with_infinities(const double *from, int32_t count) {
    double *to = malloc(sizeof *to * ((size_t)count + 1));
    int32_t k;
    for (k = 0; k < count; k++) to[k] = fabs(from[k]) < no_bound ? from[k] : copysign(HUGE_VAL, from[k]);
    return to;
}

/* Of Clp_status(). */
enum { OPTIMAL, INFEASIBLE, DUAL_INFEASIBLE };

gpuopt_outcome clp_solve(const mip *m, double *objective) {
    const gpuopt_matrix *a = &m->columns;
    Clp_Simplex *solver = Clp_newModel();
    double *lb = with_infinities(m->lb, a->cols), *ub = with_infinities(m->ub, a->cols);
    double *lhs = with_infinities(m->lhs, a->rows), *rhs = with_infinities(m->rhs, a->rows);
    int *start = malloc(sizeof *start * ((size_t)a->cols + 1)), j, status;
    for (j = 0; j <= a->cols; j++) start[j] = (int)a->start[j];
    Clp_setLogLevel(solver, 0);
    Clp_loadProblem(solver, a->cols, a->rows, start, a->index, a->value, lb, ub, m->cost, lhs, rhs);
    Clp_setOptimizationDirection(solver, m->maximize ? -1 : 1);
    Clp_setPrimalTolerance(solver, 1e-9);
    Clp_setDualTolerance(solver, 1e-9);
    Clp_primal(solver, 0);
    if (Clp_status(solver) > DUAL_INFEASIBLE) Clp_dual(solver, 0); /* it has given up */
    status = Clp_status(solver);
    *objective = Clp_getObjValue(solver) + m->offset;
    if (status == DUAL_INFEASIBLE) {
        double *no_costs = calloc((size_t)a->cols + 1, sizeof *no_costs);
        Clp_chgObjCoefficients(solver, no_costs);
        Clp_primal(solver, 0);
        if (Clp_status(solver) == INFEASIBLE) status = INFEASIBLE;
        free(no_costs);
    }
    free(start);
    free(lb);
    free(ub);
    free(lhs);
    free(rhs);
    Clp_deleteModel(solver);
    switch (status) {
    case OPTIMAL: return GPUOPT_OPTIMAL;
    case INFEASIBLE: return GPUOPT_INFEASIBLE;
    case DUAL_INFEASIBLE: return GPUOPT_UNBOUNDED;
    default: return GPUOPT_IMPRECISE;
    }
}
