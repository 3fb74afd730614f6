/* SPDX-License-Identifier: MIT */
#include "tests/bench/simplex_peers.h"

#include <coin/Clp_C_Interface.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common.h"
#include "examples/io/lp_check.h"

figures figures_of(const char *who) {
    figures f;
    snprintf(f.who, sizeof f.who, "%s", who);
    f.status = "-";
    f.iterations = -1;
    f.objective = f.seconds = f.iterating = f.primal = f.dual = f.bytes = NAN;
    return f;
}

void figures_check(figures *f, const mip *model, const double *x, const double *dual) {
    f->objective = lp_objective(model, x);
    f->primal = lp_primal_violation(model, x);
    f->dual = lp_dual_violation(model, x, dual);
}

/* ---- CLP ---- */

/* The model in CLP's types, to be freed with free_arrays. */
typedef struct clp_arrays {
    CoinBigIndex *start;
    double *lhs, *rhs, *lb, *ub;
} clp_arrays;

/* CLP's infinity is the largest double. */
static double *bounds_of(const double *bound, int32_t count) {
    double *to = malloc(sizeof *to * ((size_t)count + 1));
    int32_t k;
    for (k = 0; to && k < count; k++) to[k] = bound[k] >= 1e20 ? DBL_MAX : bound[k] <= -1e20 ? -DBL_MAX : bound[k];
    return to;
}

static void free_arrays(clp_arrays *a) {
    free(a->start);
    free(a->lhs);
    free(a->rhs);
    free(a->lb);
    free(a->ub);
}

static int make_arrays(const mip *model, clp_arrays *a) {
    int32_t m = model->columns.rows, n = model->columns.cols, j;
    a->start = malloc(sizeof *a->start * ((size_t)n + 1));
    a->lhs = bounds_of(model->lhs, m);
    a->rhs = bounds_of(model->rhs, m);
    a->lb = bounds_of(model->lb, n);
    a->ub = bounds_of(model->ub, n);
    for (j = 0; a->start && j <= n; j++) a->start[j] = (CoinBigIndex)model->columns.start[j];
    return a->start && a->lhs && a->rhs && a->lb && a->ub ? 0 : -1;
}

static const char *clp_verdict(Clp_Simplex *lp, const clp_job *job) {
    switch (Clp_status(lp)) {
    case 0: return "optimal";
    case 1: return "infeasible";
    case 2: return "unbounded"; /* or dual infeasible only */
    case 3: return job->cap && Clp_numberIterations(lp) >= job->cap ? "limit" : "over limit";
    default: return "failed";
    }
}

figures clp_run(const void *of) {
    const clp_job *job = of;
    const mip *model = job->model;
    figures f = figures_of(job->dual ? "CLP dual" : "CLP primal");
    Clp_Solve *how;
    Clp_Simplex *lp;
    clp_arrays a;
    double start;
    if (make_arrays(model, &a)) {
        f.status = "out of memory";
        free_arrays(&a);
        return f;
    }
    f.seconds = now();
    lp = Clp_newModel();
    Clp_setLogLevel(lp, 0);
    Clp_loadProblem(lp, model->columns.cols, model->columns.rows, a.start, model->columns.index, model->columns.value,
                    a.lb, a.ub, model->cost, a.lhs, a.rhs);
    Clp_setOptimizationDirection(lp, model->maximize ? -1 : 1);
    Clp_setMaximumSeconds(lp, job->limit);
    if (job->cap) Clp_setMaximumIterations(lp, (int)job->cap);
    how = ClpSolve_new();
    ClpSolve_setSolveType(how, job->dual ? 0 : 1, -1);
    ClpSolve_setPresolveType(how, 1, -1); /* off */
    start = now();
    Clp_initialSolveWithOptions(lp, how);
    f.iterating = now() - start;
    f.seconds = now() - f.seconds;
    f.iterations = Clp_numberIterations(lp);
    f.status = clp_verdict(lp, job);
    if (Clp_status(lp) == 0) figures_check(&f, model, Clp_primalColumnSolution(lp), Clp_dualRowSolution(lp));
    ClpSolve_delete(how);
    Clp_deleteModel(lp);
    free_arrays(&a);
    return f;
}

/* ---- Recorded ---- */

/* Measured earlier, one run each: one thread on the CPU of an H200 machine (16 virtual cores of an Intel Xeon), on
 * identical models, solving alone. If no kind of simplex is named, the solver chose it. */
static const struct {
    const char *model, *who, *status;
    double seconds;
    int64_t iterations;
} recorded[] = {
    {"shah:1000:1", "HiGHS primal", "optimal", .85, -1},
    {"shah:1000:1", "GLPK", "optimal", 2.75, -1},
    {"shah:2000:1", "HiGHS primal", "optimal", 5.0, 1761},
    {"shah:2000:1", "HiGHS dual", "optimal", 25.5, -1},
    {"shah:2000:1", "GLPK", "optimal", 8.3, 406},
    {"meyer:1250:6250:.04:1", "HiGHS primal", "optimal", 2.1, -1},
    {"meyer:1250:6250:.04:1", "GLPK", "optimal", 1.27, 1149},
    {"plant:750:3750:.04:1", "HiGHS dual", "optimal", 32.8, -1},
    {"plant:750:3750:.04:1", "GLPK", "optimal", 26.9, -1},
    {"netlib/dfl001", "HiGHS dual", "optimal", 8.1, -1},
    {"netlib/maros-r7", "HiGHS", "optimal", .78, -1},
    {"netlib/qap12", "HiGHS dual", "over limit", 80, -1},
    {"netlib/stocfor3", "HiGHS", "optimal", .37, -1},
    {"netlib/d2q06c", "HiGHS", "optimal", .96, -1},
    {"netlib/25fv47", "HiGHS", "optimal", .15, -1},
};

int recorded_result(const char *model, int k, figures *f) {
    size_t i;
    for (i = 0; i < sizeof recorded / sizeof *recorded; i++) {
        char who[48];
        if (strcmp(recorded[i].model, model) || k-- > 0) continue;
        snprintf(who, sizeof who, "%s (recorded)", recorded[i].who);
        *f = figures_of(who);
        f->status = recorded[i].status;
        f->seconds = recorded[i].seconds;
        f->iterating = recorded[i].iterations < 0 ? NAN : recorded[i].seconds;
        f->iterations = recorded[i].iterations;
        return 1;
    }
    return 0;
}
