/* SPDX-License-Identifier: MIT
 *
 * The seam between the simplex method's control, on the CPU, and a backend. A backend's engine holds the basis inverse
 * or the tableau and runs iterations; the control knows phases, outcomes and the original data.
 *
 * How a call travels: gpuopt_simplex_iterate (calls.h) checks its arguments (check.h) and calls the loop in control.h.
 * The loop recomputes x and the duals if they are stale (rebuild.h; the inverse too, refactor.h), chooses bounds and
 * tolerances for the present stage (rules.h), and has the engine run up to rebuild_pivots iterations (the table below).
 * When a run ends because no variable can enter or leave, control.h decides whether that is a proof, for which
 * certificate_margins.h makes the Farkas vector or the ray. primal_steps.h has the calls that do a single part of an
 * iteration; basis_and_solution.h reads and sets bases and reads solutions; model.h is the handle and builds the scaled
 * model. change.h changes the model of a living handle, and add_and_remove.h adds and removes rows and columns. dual.h
 * is the dual method's control, which the loop calls while it iterates; bound.h makes bounds of duals, certify.h has
 * the calls for these and for the verdict on a basis as it is, basis_solves.h those for cuts. column_split.h is what
 * the ranks of a group exchange if they share a tableau.
 *
 * Many small programs (batch.h) go another way: batch_model.h, batch_step.h, batch_point.h, batch_proof.h and
 * batch_solve.h are the whole method, which both backends compile; batch_team.h has where they need to differ.
 *
 * The engine of the CPU is in cpu.h, cpu_run.h, cpu_dual.h and cpu_add_and_remove.h, that of the GPU in cuda/simplex.
 * Both use the arithmetic in step.h and, for the dual method, dual_step.h; matrix_edit.h changes the model that rows
 * and columns go into.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_BACKEND_H
#define GPUOPT_IMPL_SIMPLEX_BACKEND_H

#include "../common/backend.h"
#include "step.h"

/* A descriptor that has been checked: with defaults, with the structs that it points to, and without AUTO but for the
 * algorithm's. The arrays are the caller's. */
typedef struct gpuopt__simplex_options {
    gpuopt_matrix matrix;
    const double *dense, *cost, *lhs, *rhs, *lb, *ub;
    double offset, infinity, primal_tolerance, dual_tolerance, pivot_tolerance;
    gpuopt_simplex_method method_wanted, method; /* as the caller asks for it; of the two, by the nonzeros */
    gpuopt_simplex_algorithm algorithm;
    gpuopt_simplex_pricing pricing;
    gpuopt_simplex_dual_pricing dual_pricing;
    gpuopt_simplex_ratio ratio;
    gpuopt_switch perturbation, scaling;
    uint64_t seed;
    int64_t iteration_limit, spare_nonzeros;
    int32_t deferred_pivots, rebuild_pivots, spare_rows, spare_cols;
    int maximize;
    gpuopt_group *group;
} gpuopt__simplex_options;

/* The scaled entry (i, j) is row_scale[i] * a_ij * col_scale[j]. Variable cols + i is the slack of row i, whose
 * column is the unit vector e_i. The entries are the engine's. */
typedef struct gpuopt__simplex_lp {
    int32_t rows, cols;
    int64_t nonzeros;
    double *row_scale, *col_scale; /* [rows], [cols] powers of two */
} gpuopt__simplex_lp;

/* Where the entries are, by columns and by rows, in host memory. */
typedef struct gpuopt__simplex_pattern {
    const int64_t *col_start, *row_start; /* [cols + 1], [rows + 1] */
    const int32_t *col_row, *row_col;     /* [nonzeros] */
} gpuopt__simplex_pattern;

/* How long arrays are: the model at create, and what it may grow to. */
typedef struct gpuopt__simplex_shape {
    int32_t rows, cols;
    int64_t nonzeros;
    gpuopt_simplex_method method;
    gpuopt_simplex_pricing pricing;
    int32_t deferred_pivots;                           /* K; 0: the backend chooses */
    int grows;                                         /* whether arrays are longer than for the model at create */
    int32_t rank, ranks;                               /* of the group that has the tableau; without one 0 of 1 */
    const struct gpuopt__simplex_exchanges *exchanges; /* of that group, see column_split.h */
    double time_limit;                                 /* of that group, in seconds */
    gpuopt_memory_space columns;                       /* where that group takes columns from */
} gpuopt__simplex_shape;

/* The state of the iterations. Position i of the basis holds a basic variable, slot j a nonbasic one. */
typedef struct gpuopt__simplex_vectors {
    double *xb, *lb, *ub; /* [rows] value and bounds of the variable in position i */
    double *xn, *ln, *un; /* [cols] the same for the variable in slot j */
    double *d, *weight;   /* [cols] reduced cost in the present phase, pricing weight */
    int32_t *head, *slot; /* [rows], [cols] variables */
    uint8_t *state;       /* [cols] GPUOPT__SIMPLEX_MAY_... and GPUOPT__SIMPLEX_BANNED */
} gpuopt__simplex_vectors;

/* One block, laid out alike in host and in device memory. */
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
    GPUOPT__SIMPLEX_RUN_PRICE,       /* choose the entering variable; dual: the leaving one */
    GPUOPT__SIMPLEX_RUN_RATIO, /* choose the leaving variable for a given entering one; dual: the other way round */
    GPUOPT__SIMPLEX_RUN_PIVOT, /* one pivot; both variables are given */
    GPUOPT__SIMPLEX_RUN_FLIP   /* one bound flip; the entering variable is given */
} gpuopt__simplex_run_part;

/* Whether a run of this part chooses the variable that it begins with; else the caller gives it. */
GPUOPT_HD int gpuopt__simplex_chooses(gpuopt__simplex_run_part part) {
    return part == GPUOPT__SIMPLEX_RUN_ITERATE || part == GPUOPT__SIMPLEX_RUN_PRICE;
}

typedef enum gpuopt__simplex_run_end {
    GPUOPT__SIMPLEX_END_LIMIT = 0,   /* all that was asked for is done */
    GPUOPT__SIMPLEX_END_NO_ENTERING, /* no candidate has an improving reduced cost */
    GPUOPT__SIMPLEX_END_FEASIBLE,    /* phase 1: no variable is infeasible any more */
    GPUOPT__SIMPLEX_END_NO_LEAVING,  /* nothing blocks the entering variable */
    GPUOPT__SIMPLEX_END_DRIFTED,     /* the pivot from its column and from its row differ */
    GPUOPT__SIMPLEX_END_UNSAFE,      /* RUN_PIVOT: the pivot is too small; nothing has changed */
    GPUOPT__SIMPLEX_END_CUTOFF,      /* dual: the objective has reached the cutoff */
    GPUOPT__SIMPLEX_END_STALLED      /* dual: many iterations have not moved the objective */
} gpuopt__simplex_run_end;

/* What a run is to do. */
typedef struct gpuopt__simplex_run {
    gpuopt__simplex_rules rules;
    gpuopt__simplex_run_part part;
    int phase;
    int32_t most;     /* limit of the iterations (pivots and flips) */
    int32_t entering; /* a slot */
    int32_t leaving;  /* a position */
    int direction;    /* of the entering variable, 1 or -1 */
    int to_upper;     /* which bound the leaving variable stops at */
    int reset_weights;
} gpuopt__simplex_run;

/* The same for iterations of the dual method. */
typedef struct gpuopt__simplex_dual_run {
    gpuopt__simplex_rules rules;
    gpuopt__simplex_run_part part; /* ITERATE, PRICE, RATIO or PIVOT */
    gpuopt_simplex_dual_pricing pricing;
    int32_t most;     /* limit of the pivots */
    int32_t leaving;  /* RATIO and PIVOT: a position whose variable is outside its bounds */
    int32_t entering; /* PIVOT: a slot. If it is not the one of the ratio test, no variable flips */
    double cutoff;    /* of the sum of reduced costs times values; infinite: none */
    double *cost;     /* [cols + rows] to which the reduced costs belong; shifted where one would get the wrong sign */
} gpuopt__simplex_dual_run;

/* What a run did. */
typedef struct gpuopt__simplex_run_report {
    gpuopt__simplex_run_end end;
    int32_t pivots, flips, bans;
    int32_t infeasible;        /* number of basic variables outside their bounds */
    int32_t entering, leaving; /* slot and position of the last iteration; -1: none */
    int direction, flip, to_upper;
    double step, pivot;
    double largest; /* absolute value in the pivot column */
    double score, reduced_cost;
    double shifted; /* dual: the largest shift of a cost */
    int32_t idle;   /* dual: successive pivots whose dual step was 0 */
} gpuopt__simplex_run_report;

/* The end of the ratio test. Either the entering variable's own range is the shortest step (a flip), or the basic
 * variable in position p (-1: none) blocks at `step`; x, l, u and alpha are its value, bounds and entry in the pivot
 * column. */
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

/* The same where the caller has chosen the leaving variable: the step that takes it to the requested bound. */
GPUOPT_HD void gpuopt__simplex_given_leaving(const gpuopt__simplex_run *run, double x, double l, double u, double alpha,
                                             gpuopt__simplex_run_report *report) {
    double step = gpuopt__sub(x, run->to_upper ? u : l) / alpha;
    report->leaving = run->leaving;
    report->to_upper = run->to_upper;
    report->direction = step < 0 ? -1 : 1;
    report->step = fabs(step);
    report->pivot = alpha;
}

/* ---- A batch of children ---- */

/* Children of a batch's root, checked: which bounds and costs are different in each. All arrays are in host memory, and
 * all numbers scaled. A row's sides are the bounds of its slack. */
typedef struct gpuopt__simplex_child_list {
    int32_t count;
    int64_t *bound_start, *cost_start; /* [copies + 1] */
    int32_t *variable, *col;           /* [changes] */
    double *lower, *upper, *cost;      /* [changes] */
} gpuopt__simplex_child_list;

/* How certain the outcome of one of many programs is: all conditions are checked before it is OPTIMAL. */
static inline int32_t gpuopt__simplex_children_certainty(int32_t outcome) {
    return outcome == GPUOPT_OPTIMAL ? GPUOPT_CERTAINTY_TOLERANCE : GPUOPT_CERTAINTY_NONE;
}

/* What a backend is to find out about them. */
typedef struct gpuopt__simplex_children_job {
    gpuopt__simplex_child_list children;
    int32_t most;                  /* iterations of each */
    int bounds;                    /* bounds are wanted */
    int32_t *outcome, *iterations; /* [copies], in host memory */
    double *bound, *objective;
    int scaled;            /* not 0: the backend has filled in both scaled, and for the minimisation without offset; */
    double *objective_low; /* [copies] then this is to be added to objective */
    gpuopt_memory_space where;   /* of the next ones, each of which may be NULL */
    uint8_t *basis;              /* [count][cols + rows] */
    double *x;                   /* [count][cols] */
    double *farkas, *farkas_low; /* [count][rows] */
} gpuopt__simplex_children_job;

/* The root at its present basis, with true bounds and costs, scaled, all by variable. The first arrays are the
 * caller's. */
typedef struct gpuopt__simplex_root_point {
    double *x, *x_low, *reduced;        /* [cols + rows]; filled in */
    double *y, *y_low;                  /* [rows] the same */
    const double *lower, *upper, *cost; /* [cols + rows] the root's */
    const uint8_t *status;              /* [cols + rows] gpuopt_simplex_variable of the scaled variables */
    const int32_t *head;                /* [rows] */
    double primal_scale, cost_scale;
    double cutoff, limit; /* of the scaled minimisation, and in the caller's units; infinite: none */
} gpuopt__simplex_root_point;

/* A batch. */
struct gpuopt_simplex_children {
    gpuopt_simplex *root;
    gpuopt_context *context; /* the root's, and so are the next four */
    const gpuopt__simplex_shape *shape;
    const gpuopt__simplex_options *root_desc;
    const gpuopt__simplex_lp *lp;
    void *root_engine;
    int32_t copies;                    /* of the caller; desc has those of this rank */
    gpuopt_simplex_children_desc desc; /* defaults filled in */
    struct gpuopt__dealt *dealt;       /* with a group (children_share.h): which children are this rank's; or NULL */
    gpuopt__simplex_children_job job;  /* the host arrays of the latest call are the batch's */
    /* For a backend that does not work with handles: where the root stands; and its point, which is solved for. */
    gpuopt_status (*find_root)(gpuopt_simplex_children *, gpuopt__simplex_root_point *);
    gpuopt_status (*solve_root)(gpuopt_simplex_children *, gpuopt__simplex_root_point *);
    int64_t *start[3];  /* [copies + 1] staging: what the caller has in device memory */
    int32_t *index;     /* [changes] the same */
    double *low, *high; /* [changes] */
    void *engine;       /* the backend's */
};

/* What a backend provides. All arrays are in host memory. `engine` is what create made. */
typedef struct gpuopt__simplex_backend {
    /* Adds the engine's memory to the plan, and sets K in the shape. */
    gpuopt_status (*plan)(gpuopt_context *, gpuopt__simplex_shape *, gpuopt_memory_plan *);
    /* Makes the engine from a description that has been checked, but see checks_entries; an engine that fails is NULL.
     * Fills the scales of lp. *moderate: whether no entry is near the ends of the range of double. lp, its arrays and
     * the vectors stay where they are as long as the engine lives; the description's arrays are read until `scale` has
     * been called. */
    gpuopt_status (*create)(gpuopt_context *, const gpuopt__simplex_shape *, const gpuopt__simplex_options *,
                            gpuopt__simplex_lp *, gpuopt__simplex_vectors *, int *moderate, void **engine);
    /* Scales the entries, once, with the scales that are in lp now. */
    gpuopt_status (*scale)(void *engine);
    /* Fills the pattern; it stays as long as the engine lives. */
    gpuopt_status (*pattern)(void *engine, gpuopt__simplex_pattern *);
    void (*destroy)(gpuopt_context *, void *engine);
    gpuopt_status (*run)(void *engine, const gpuopt__simplex_run *, gpuopt__simplex_run_report *);
    /* Iterations of the dual method; in the report direction is of no meaning, but where the end is NO_ENTERING it
     * shows whether the variable in position `leaving` is above (1) or below (-1) its bounds. PRICE: leaving, to_upper
     * and score, or the end FEASIBLE. RATIO: entering, step, pivot and flips, or NO_ENTERING. PIVOT: NO_ENTERING if the
     * given variable cannot enter, UNSAFE if its entry is too small, and DRIFTED; then nothing has changed. */
    gpuopt_status (*dual_run)(void *engine, const gpuopt__simplex_dual_run *, gpuopt__simplex_run_report *);
    /* Back to the slack basis, where slot j holds variable j and position i the slack of row i. */
    gpuopt_status (*reset)(void *engine);
    /* From the slack basis: pivots column[0 .. count - 1] in, one after the other, each on the open position with the
     * largest entry, or on wanted[k] if the entry there is at least 1e-3 of that. position[k] becomes the position that
     * column k took, which is then closed, or -1 if its entries are at most `least`. */
    gpuopt_status (*enter)(void *engine, int32_t count, const int32_t *column, const int32_t *wanted, double least,
                           uint8_t *open, int32_t *position);
    /* The same from any basis, for columns in some slots. x [rows]: the column of a slot,
     * B^-1 a. */
    gpuopt_status (*exchange)(void *engine, int32_t count, const int32_t *slot, const int32_t *wanted, double least,
                              uint8_t *open, int32_t *position);
    gpuopt_status (*column)(void *engine, int32_t slot, double *x);
    /* What reset and enter overwrite, as that many bytes of host memory: copied there, and back. */
    uint64_t (*kept_bytes)(const void *engine);
    gpuopt_status (*keep)(void *engine, void *kept);
    gpuopt_status (*restore)(void *engine, const void *kept);
    /* Copies the vectors to and from the engine's own memory, if it has any. */
    gpuopt_status (*push)(void *engine);
    gpuopt_status (*pull)(void *engine);
    gpuopt_status (*ftran)(void *engine, double *x); /* [rows], x = B^-1 x */
    gpuopt_status (*btran)(void *engine, double *y); /* [rows], y = B^-T y */
    /* r = -[A I] (x + x_low) and d = cost - [A I]' (y + y_low), summed in twice the working precision; a low part may
     * be NULL. error_sum, if not NULL: that of each sum, see step.h. */
    gpuopt_status (*residual)(void *engine, const double *x, const double *x_low, double *r, double *error_sum);
    gpuopt_status (*reduce)(void *engine, const double *cost, const double *y, const double *y_low, double *d,
                            double *error_sum);
    /* of_rows [rows] = |A| |x| and of_cols [cols] = |A|' |y|, in working precision; x [cols] or y [rows] may be NULL,
     * and then its product is not wanted. */
    gpuopt_status (*sizes)(void *engine, const double *x, const double *y, double *of_rows, double *of_cols);
    /* A batch, of which all but `engine` is filled in; _plan adds what _create will take, but for the head. _run fills
     * the job's arrays; bound only if it is wanted. There may be no children. */
    gpuopt_status (*children_plan)(const gpuopt_simplex_children *, gpuopt_memory_plan *);
    gpuopt_status (*children_create)(gpuopt_simplex_children *);
    void (*children_destroy)(gpuopt_simplex_children *);
    gpuopt_status (*children_run)(gpuopt_simplex_children *);
    /* Rows (by_rows) or columns come and go, within the shape. The dimensions, scales,
     * heads and slots are the control's, which changes them after accept and drop. _offer takes checked lines behind
     * the present ones and chooses their scales, in lp; nothing has changed before _accept. *exact: whether scaling
     * rounds no entry. _accept: the new slacks become basic, behind the present positions, or the new columns
     * nonbasic, in slots behind the present ones. _drop: to [rows or cols] is each line's new number, -1 if it goes;
     * the slacks of rows that go are basic, columns that go are not. */
    gpuopt_status (*offer)(void *engine, int by_rows, int scaling, const gpuopt_matrix *lines, int *exact);
    gpuopt_status (*accept)(void *engine, int by_rows, int32_t count);
    gpuopt_status (*drop)(void *engine, int by_rows, const int32_t *to);
    /* Called once on all ranks of a group, when all have created theirs; NULL: there is nothing to be done then. */
    gpuopt_status (*connect)(void *engine);
    double tableau_from; /* METHOD_AUTO takes the tableau from this share of nonzeros on, see check.h */
    /* Whether create checks the entries of a sparse matrix itself. It returns UNTIDY for a fault; if the CPU side then
     * mends it, create is called again. */
    int checks_entries;
    int drops_with_spare; /* lines are removed only from handles with spare capacity, see shape.grows */
    /* Many small programs, which have no engine: batch.h. */
    const struct gpuopt__simplex_batch_backend *many;
} gpuopt__simplex_backend;

#endif /* GPUOPT_IMPL_SIMPLEX_BACKEND_H */
