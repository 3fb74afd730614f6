/* SPDX-License-Identifier: MIT
 *
 * What a backend does for the simplex method: it holds the basis inverse or the tableau and runs iterations on vectors
 * that it shares with the control (simplex/control.h), which knows phases, verdicts and the original data.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_BACKEND_H
#define GPUOPT_IMPL_SIMPLEX_BACKEND_H

#include "../common/backend.h"
#include "step.h"

/* The matrix, by columns: entry (i, j), scaled, is row_scale[i] * val * col_scale[j]. Variable cols + i is the logical
 * of row i; its column is e_i. */
typedef struct gpuopt__simplex_lp {
    int32_t rows, cols;
    int64_t nonzeros;
    int64_t *col_start;            /* [cols + 1] */
    int32_t *col_row;              /* [nonzeros] */
    const double *val;             /* [nonzeros] as the host gave them; during create only */
    double *row_scale, *col_scale; /* [rows], [cols] powers of two */
} gpuopt__simplex_lp;

typedef struct gpuopt__simplex_shape {
    int32_t rows, cols;
    int64_t nonzeros;
    gpuopt_simplex_method method;
    gpuopt_simplex_pricing pricing;
    int32_t deferred_pivots; /* K; 0: the engine chooses */
} gpuopt__simplex_shape;

/* Where the iterations stand: positions i of the basis, slots j of the nonbasic variables. */
typedef struct gpuopt__simplex_vectors {
    double *xb, *lb, *ub; /* [rows] value and bounds of the variable at position i */
    double *xn, *ln, *un; /* [cols] the same of the variable in slot j */
    double *d, *weight;   /* [cols] reduced cost in the present phase, pricing weight */
    int32_t *head, *slot; /* [rows], [cols] variables */
    uint8_t *state;       /* [cols] GPUOPT__SIMPLEX_MAY_ and GPUOPT__SIMPLEX_BANNED */
} gpuopt__simplex_vectors;

/* One block, with the same layout on the host and on a device. */
static inline void gpuopt__simplex_cut_vectors(gpuopt__arena *arena, int32_t rows, int32_t cols,
                                               gpuopt__simplex_vectors *v) {
    v->xb = (double *)gpuopt__cut(arena, rows, sizeof(double));
    v->lb = (double *)gpuopt__cut(arena, rows, sizeof(double));
    v->ub = (double *)gpuopt__cut(arena, rows, sizeof(double));
    v->head = (int32_t *)gpuopt__cut(arena, rows, sizeof(int32_t));
    v->xn = (double *)gpuopt__cut(arena, cols, sizeof(double));
    v->ln = (double *)gpuopt__cut(arena, cols, sizeof(double));
    v->un = (double *)gpuopt__cut(arena, cols, sizeof(double));
    v->d = (double *)gpuopt__cut(arena, cols, sizeof(double));
    v->weight = (double *)gpuopt__cut(arena, cols, sizeof(double));
    v->slot = (int32_t *)gpuopt__cut(arena, cols, sizeof(int32_t));
    v->state = (uint8_t *)gpuopt__cut(arena, cols, 1);
}

typedef enum gpuopt__simplex_run_part {
    GPUOPT__SIMPLEX_RUN_ITERATE = 0, /* whole iterations */
    GPUOPT__SIMPLEX_RUN_PRICE,       /* only choose who enters */
    GPUOPT__SIMPLEX_RUN_RATIO,       /* only choose who leaves for the entering variable given */
    GPUOPT__SIMPLEX_RUN_PIVOT,       /* one pivot, both given */
    GPUOPT__SIMPLEX_RUN_FLIP         /* one flip, of the entering variable given */
} gpuopt__simplex_run_part;

typedef enum gpuopt__simplex_run_end {
    GPUOPT__SIMPLEX_END_LIMIT = 0, /* did what was asked */
    GPUOPT__SIMPLEX_END_NO_ENTERING,
    GPUOPT__SIMPLEX_END_FEASIBLE,   /* phase 1: nothing is infeasible any more */
    GPUOPT__SIMPLEX_END_NO_LEAVING, /* the entering variable can move without end */
    GPUOPT__SIMPLEX_END_DRIFTED,    /* the pivot, computed in two ways, differs */
    GPUOPT__SIMPLEX_END_UNSAFE      /* RUN_PIVOT: the pivot is too small; nothing was done */
} gpuopt__simplex_run_end;

typedef struct gpuopt__simplex_run {
    gpuopt__simplex_rules rules;
    gpuopt__simplex_run_part part;
    int phase;
    int32_t most;     /* iterations: pivots and flips */
    int32_t entering; /* a slot */
    int32_t leaving;  /* a position */
    int direction;    /* of entering, 1 or -1 */
    int to_upper;     /* where leaving stops */
    int reset_weights;
} gpuopt__simplex_run;

typedef struct gpuopt__simplex_run_report {
    gpuopt__simplex_run_end end;
    int32_t pivots, flips, bans;
    int32_t infeasible;        /* positions out of their bounds */
    int32_t entering, leaving; /* of the last iteration; -1: none */
    int direction, flip, to_upper;
    double step, pivot;
    double largest; /* entry of the pivot column, in size */
    double score, reduced_cost;
} gpuopt__simplex_run_report;

/* The end of the ratio test: the entering variable's own range, or the basic variable at p (-1: none blocks), that
 * blocks at `step` and whose value, bounds and entry in the pivot column come along. */
GPUOPT_HD void gpuopt__simplex_choose_leaving(const gpuopt__simplex_rules *rules, double range, int32_t p, double step,
                                              double x, double l, double u, double alpha,
                                              gpuopt__simplex_run_report *report) {
    double a = report->direction > 0 ? alpha : -alpha;
    if (p < 0) step = HUGE_VAL;
    else {
        step = gpuopt__max(step, 0);
        if (rules->expand > 0) step = gpuopt__max(step, rules->expand / fabs(a));
        report->to_upper = gpuopt__simplex_blocking_bound(x, l, u, a, rules) == u && (l != u || a < 0);
    }
    report->flip = range <= step && range < HUGE_VAL;
    report->leaving = report->flip ? -1 : p;
    report->step = report->flip ? range : step;
    report->pivot = alpha;
}

/* The same where the host has chosen: the step that takes position `leaving` to the bound asked for. */
GPUOPT_HD void gpuopt__simplex_given_leaving(const gpuopt__simplex_run *run, double x, double l, double u, double alpha,
                                             gpuopt__simplex_run_report *report) {
    double step = gpuopt__sub(x, run->to_upper ? u : l) / alpha;
    report->leaving = run->leaving;
    report->to_upper = run->to_upper;
    report->direction = step < 0 ? -1 : 1;
    report->step = fabs(step);
    report->pivot = alpha;
}

/* All arrays are host memory. `engine` is what create made. */
typedef struct gpuopt__simplex_backend {
    /* Adds what the engine takes to the plan, and puts K into the shape. */
    gpuopt_status (*plan)(gpuopt_context *, gpuopt__simplex_shape *, gpuopt_memory_plan *);
    /* lp and vectors stay where they are for the engine's life, but for lp->val. */
    gpuopt_status (*create)(gpuopt_context *, const gpuopt__simplex_shape *, const gpuopt__simplex_lp *,
                            gpuopt__simplex_vectors *, void **engine);
    void (*destroy)(gpuopt_context *, void *engine);
    /* The vectors to and from the engine's own copy, if it has one. */
    gpuopt_status (*push)(void *engine);
    gpuopt_status (*pull)(void *engine);
    gpuopt_status (*run)(void *engine, const gpuopt__simplex_run *, gpuopt__simplex_run_report *);
    /* Back to the slack basis, where slot j holds variable j and position i the logical of row i. */
    gpuopt_status (*reset)(void *engine);
    /* From there: pivots column [count] in, one after the other, each on the open position with the largest entry, or
     * on `wanted` if that is no less than 1e-3 of it. position[k] becomes where column k went, no longer open, or
     * -1. */
    gpuopt_status (*enter)(void *engine, int32_t count, const int32_t *column, const int32_t *wanted, uint8_t *open,
                           int32_t *position);
    gpuopt_status (*ftran)(void *engine, double *x);                     /* [rows], B^-1 x, in place */
    gpuopt_status (*btran)(void *engine, double *y);                     /* [rows], B^-T y, in place */
    gpuopt_status (*residual)(void *engine, const double *x, double *r); /* r = -[A I] x, twice the precision inside */
    gpuopt_status (*reduce)(void *engine, const double *cost, const double *y,
                            double *d); /* d = cost - [A I]' y, too */
} gpuopt__simplex_backend;

#endif /* GPUOPT_IMPL_SIMPLEX_BACKEND_H */
