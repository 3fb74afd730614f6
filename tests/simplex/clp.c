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
    status = Clp_status(solver);
    *objective = Clp_getObjValue(solver) + m->offset;
    free(start);
    free(lb);
    free(ub);
    free(lhs);
    free(rhs);
    Clp_deleteModel(solver);
    return status == 0 ? GPUOPT_OPTIMAL : status == 1 ? GPUOPT_INFEASIBLE : GPUOPT_UNBOUNDED;
}
