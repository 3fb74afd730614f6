/* SPDX-License-Identifier: MIT
 *
 * The interface between the simplex method's control, on the CPU, and a backend. Read this file first. A backend's
 * engine holds the basis inverse or the tableau and runs iterations. The control holds phases, outcomes and the
 * original data.
 *
 * The modules, each a folder, and what they include besides common/:
 *
 *     children/  the public calls for children of one basis or of several     api/  ranks/
 *     api/       the other public calls                                       control/  ranks/  model/
 *     cpu/       the CPU's engine; batches and children on the CPU, which     control/  ranks/  batch/  factor/  model/
 *                iterate as any handle does; table.h names the functions      arith/
 *     control/   the loop of runs, and what to do when a run ends             verdict/  ranks/  arith/
 *     verdict/   proofs, bounds from duals, how certain an optimum is         rebuild/  arith/
 *     rebuild/   recomputes the point, the duals and the inverse; bounds      model/
 *                and tolerances for the present stage
 *     batch/     small programs, which need no engine: the public calls,      model/  backend.h  arith/
 *                and the whole method, compiled by both backends
 *     ranks/     a group: comparing arguments, sharing a tableau              model/  backend.h
 *     model/     the handle; the model: checks, entries, scales, changes      backend.h
 *     backend.h  (this file) runs and reports; the functions of an engine     arith/
 *     arith/     the arithmetic of an iteration, written once for both
 *     factor/    triangular factors of a sparse basis, for the CPU
 *
 * tests/frame/modules/simplex.txt lists the same arrows, and a test checks them; doc/modules_simplex.svg shows them.
 *
 * A call of gpuopt_simplex_iterate passes through these files:
 *
 *     api/handle.h                   the public call; model/check.h checks its arguments
 *     control/loop.h                 the loop of runs
 *     rebuild/point.h, inverse.h     recompute x and the duals if they are stale, and the inverse
 *     rebuild/rules.h                bounds and tolerances
 *     backend.h                      a run has up to rebuild_pivots iterations
 *     rebuild/certificate_margins.h  the Farkas vector or the ray, if a run ended because no variable enters or leaves
 *
 * The GPU's engine is in cuda/simplex; simplex.cu describes it.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_BACKEND_H
#define GPUOPT_IMPL_SIMPLEX_BACKEND_H

#include "../common/backend.h"
#include "arith/step.h"

/* A checked descriptor, with defaults filled in and nested structs copied. AUTO is resolved except for the algorithm.
 * The arrays are the caller's. */
typedef struct gpuopt__simplex_options {
    gpuopt_matrix matrix;
    const double *dense, *cost, *lhs, *rhs, *lb, *ub;
    double offset, infinity, primal_tolerance, dual_tolerance, pivot_tolerance;
    gpuopt_simplex_method method_wanted, method; /* as the caller chose; TABLEAU or REVISED by the nonzeros */
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

/* The scaled entry (i, j) is row_scale[i] * a_ij * col_scale[j]. Variable cols + i is the slack of row i. Its column is
 * the unit vector e_i. The engine stores the entries. */
typedef struct gpuopt__simplex_lp {
    int32_t rows, cols;
    int64_t nonzeros;
    double *row_scale, *col_scale; /* [rows], [cols] powers of two */
} gpuopt__simplex_lp;

/* The positions of the entries, by columns and by rows, in host memory. */
typedef struct gpuopt__simplex_pattern {
    const int64_t *col_start, *row_start; /* [cols + 1], [rows + 1] */
    const int32_t *col_row, *row_col;     /* [nonzeros] */
} gpuopt__simplex_pattern;

/* The lengths of arrays: the model at create, and the capacity for growth. */
typedef struct gpuopt__simplex_shape {
    int32_t rows, cols;
    int64_t nonzeros;
    gpuopt_simplex_method method;
    gpuopt_simplex_pricing pricing;
    int32_t deferred_pivots;                           /* K; 0: the backend chooses */
    int grows;                                         /* whether arrays are longer than the model at create needs */
    int32_t rank, ranks;                               /* of the group that shares the tableau; else 0 of 1 */
    const struct gpuopt__simplex_exchanges *exchanges; /* exchanges of that group, see ranks/column_split.h */
    double time_limit;                                 /* time limit of that group, in seconds */
    gpuopt_memory_space columns;                       /* memory from which that group takes columns */
} gpuopt__simplex_shape;

/* The state of the iterations. Position i of the basis holds a basic variable, slot j a nonbasic one. */
typedef struct gpuopt__simplex_vectors {
    double *xb, *lb, *ub; /* [rows] value and bounds of the variable in position i */
    double *xn, *ln, *un; /* [cols] the same for the variable in slot j */
    double *d, *weight;   /* [cols] reduced cost in the present phase, pricing weight */
    int32_t *head, *slot; /* [rows], [cols] variables */
    uint8_t *state;       /* [cols] GPUOPT__SIMPLEX_MAY_... and GPUOPT__SIMPLEX_BANNED */
} gpuopt__simplex_vectors;

/* One block of memory, with the same layout in host and device memory. */
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
    GPUOPT__SIMPLEX_RUN_RATIO,       /* choose the leaving variable for a given entering one; dual: the reverse */
    GPUOPT__SIMPLEX_RUN_PIVOT,       /* one pivot; both variables are given */
    GPUOPT__SIMPLEX_RUN_FLIP         /* one bound flip; the entering variable is given */
} gpuopt__simplex_run_part;

/* Whether a run of this part chooses its first variable. If not, the caller gives it. */
GPUOPT_HD int gpuopt__simplex_chooses(gpuopt__simplex_run_part part) {
    return part == GPUOPT__SIMPLEX_RUN_ITERATE || part == GPUOPT__SIMPLEX_RUN_PRICE;
}

typedef enum gpuopt__simplex_run_end {
    GPUOPT__SIMPLEX_END_LIMIT = 0,   /* everything requested is done */
    GPUOPT__SIMPLEX_END_NO_ENTERING, /* no candidate has an improving reduced cost */
    GPUOPT__SIMPLEX_END_FEASIBLE,    /* phase 1: every variable is feasible */
    GPUOPT__SIMPLEX_END_NO_LEAVING,  /* nothing blocks the entering variable */
    GPUOPT__SIMPLEX_END_DRIFTED,     /* the pivot elements from the column and from the row differ */
    GPUOPT__SIMPLEX_END_UNSAFE,      /* RUN_PIVOT: the pivot is too small; nothing has changed */
    GPUOPT__SIMPLEX_END_CUTOFF,      /* dual: the objective has reached the cutoff */
    GPUOPT__SIMPLEX_END_STALLED      /* dual: many iterations have not moved the objective */
} gpuopt__simplex_run_end;

/* The task of a run. */
typedef struct gpuopt__simplex_run {
    gpuopt__simplex_rules rules;
    gpuopt__simplex_run_part part;
    int phase;
    int32_t most;     /* limit of the iterations (pivots and flips) */
    int32_t entering; /* a slot */
    int32_t leaving;  /* a position */
    int direction;    /* direction of the entering variable, 1 or -1 */
    int to_upper;     /* the bound at which the leaving variable stops */
    int reset_weights;
} gpuopt__simplex_run;

/* The task of a run of the dual method. */
typedef struct gpuopt__simplex_dual_run {
    gpuopt__simplex_rules rules;
    gpuopt__simplex_run_part part; /* ITERATE, PRICE, RATIO or PIVOT */
    gpuopt_simplex_dual_pricing pricing;
    int32_t most;     /* limit of the pivots */
    int32_t leaving;  /* RATIO and PIVOT: a position with a variable outside its bounds */
    int32_t entering; /* PIVOT: a slot; unless the ratio test would choose it, no variable flips */
    double cutoff;    /* cutoff of the sum of reduced costs times values; infinite: none */
    double *cost;     /* [cols + rows] the reduced costs belong to these; shifted where a sign would become wrong */
} gpuopt__simplex_dual_run;

/* The result of a run. */
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
    int32_t idle;   /* dual: successive pivots with dual step 0 */
} gpuopt__simplex_run_report;

/* The end of the ratio test. The shortest step is either the entering variable's own range (a flip), or `step`, at
 * which the basic variable in position p blocks (-1: none). x, l, u, alpha: value, bounds and entry of the pivot column
 * of that variable. */
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

/* The same for a leaving variable that the caller has chosen: the step that moves it to the requested bound. */
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

/* Checked children of a batch's root: the bounds and costs that differ in each. All arrays are in host memory, and all
 * numbers are scaled. A row's sides are the bounds of its slack. */
typedef struct gpuopt__simplex_child_list {
    int32_t count;
    int64_t *bound_start, *cost_start; /* [copies + 1] */
    int32_t *variable, *col;           /* [changes] */
    double *lower, *upper, *cost;      /* [changes] */
    int32_t *root;                     /* [copies] of each child, -1: the handle; see named_roots of the job */
} gpuopt__simplex_child_list;

enum { GPUOPT__SIMPLEX_ROOTS = 65536 }; /* limit of the roots of a batch */

/* The roots that are set, besides the handle. All arrays are in host memory, and all numbers scaled. */
typedef struct gpuopt__simplex_roots {
    int32_t count;
    int64_t models;        /* the handle's count when they were set */
    int64_t version;       /* grows with each set of roots */
    uint8_t *status;       /* [roots][cols + rows] gpuopt_simplex_variable of the scaled variables */
    double *lower, *upper; /* [roots][cols + rows] */
    uint8_t *staging;      /* [8 (cols + rows)] a root of the caller in device memory, like the next two */
    double *low, *high;    /* [cols + rows] */
} gpuopt__simplex_roots;

/* The certainty of a program's outcome in a batch: OPTIMAL means that all conditions were checked. */
static inline int32_t gpuopt__simplex_children_certainty(int32_t outcome) {
    return outcome == GPUOPT_OPTIMAL ? GPUOPT_CERTAINTY_TOLERANCE : GPUOPT_CERTAINTY_NONE;
}

/* The task of a backend for these children. */
typedef struct gpuopt__simplex_children_job {
    gpuopt__simplex_child_list children;
    int named_roots;               /* not 0: a child has another root than the handle */
    int32_t most;                  /* iteration limit of each child */
    int bounds;                    /* whether bounds are wanted */
    int32_t *outcome, *iterations; /* [copies], in host memory */
    double *bound, *objective;
    int scaled;                /* not 0: the backend has filled in both scaled, for the minimisation without offset; */
    double *objective_low;     /* [copies] then add this to objective */
    gpuopt_memory_space where; /* memory of the next arrays, each of which may be NULL */
    uint8_t *basis;            /* [count][cols + rows] */
    double *x;                 /* [count][cols] */
    double *farkas, *farkas_low; /* [count][rows] */
} gpuopt__simplex_children_job;

/* The root at its present basis, with true bounds and costs, scaled, by variable. The caller owns the first arrays. */
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
    gpuopt_context *context; /* the root's, like the next four members */
    const gpuopt__simplex_shape *shape;
    const gpuopt__simplex_options *root_desc;
    const gpuopt__simplex_lp *lp;
    void *root_engine;
    int32_t copies;                    /* children of the caller; desc has this rank's children */
    gpuopt_simplex_children_desc desc; /* defaults filled in */
    struct gpuopt__dealt *dealt;       /* with a group (children/share.h): this rank's share of the children; or NULL */
    gpuopt__simplex_children_job job;  /* its host arrays of the latest call belong to the batch */
    gpuopt__simplex_roots roots;
    /* For a backend without handles: find_root gives the root's basis, solve_root solves for its point. */
    gpuopt_status (*find_root)(gpuopt_simplex_children *, gpuopt__simplex_root_point *);
    gpuopt_status (*solve_root)(gpuopt_simplex_children *, gpuopt__simplex_root_point *);
    int64_t *start[3];  /* [copies + 1] staging for data that the caller has in device memory */
    int32_t *index;     /* [changes] the same */
    double *low, *high; /* [changes] */
    void *engine;       /* the backend's */
};

/* The functions of a backend. All arrays are in host memory. `engine` is the result of create. */
typedef struct gpuopt__simplex_backend {
    /* Adds the engine's memory to the plan, and sets K in the shape. */
    gpuopt_status (*plan)(gpuopt_context *, gpuopt__simplex_shape *, gpuopt_memory_plan *);
    /* Makes the engine from a checked description (but see checks_entries). If this fails, the engine is NULL. Fills
     * the scales of lp. *moderate: whether no entry is near the ends of the range of double. lp, its arrays and the
     * vectors must stay in place during the engine's life, and the description's arrays until the call of `scale`. */
    gpuopt_status (*create)(gpuopt_context *, const gpuopt__simplex_shape *, const gpuopt__simplex_options *,
                            gpuopt__simplex_lp *, gpuopt__simplex_vectors *, int *moderate, void **engine);
    /* Scales the entries, once, by the present scales in lp. */
    gpuopt_status (*scale)(void *engine);
    /* Fills the pattern, which stays valid during the engine's life. */
    gpuopt_status (*pattern)(void *engine, gpuopt__simplex_pattern *);
    void (*destroy)(gpuopt_context *, void *engine);
    gpuopt_status (*run)(void *engine, const gpuopt__simplex_run *, gpuopt__simplex_run_report *);
    /* Iterations of the dual method. `direction` in the report has a meaning only with NO_ENTERING. It shows
     * whether the variable in position `leaving` is above (1) or below (-1) its bounds. Results by part:
     *
     *     PRICE  leaving, to_upper and score, or FEASIBLE
     *     RATIO  entering, step, pivot and flips, or NO_ENTERING
     *     PIVOT  a pivot; or, with nothing changed: NO_ENTERING if the given variable cannot enter, UNSAFE if its
     *            entry is too small, or DRIFTED */
    gpuopt_status (*dual_run)(void *engine, const gpuopt__simplex_dual_run *, gpuopt__simplex_run_report *);
    /* Back to the slack basis: slot j holds variable j, and position i the slack of row i. */
    gpuopt_status (*reset)(void *engine);
    /* From the slack basis: pivots column[0 .. count - 1] in, one after the other. Each enters at the open position
     * with the largest entry, or at wanted[k] if the entry there is at least 1e-3 of the largest. position[k] becomes
     * the position of column k, which is then closed, or -1 if the column's entries are at most `least`. */
    gpuopt_status (*enter)(void *engine, int32_t count, const int32_t *column, const int32_t *wanted, double least,
                           uint8_t *open, int32_t *position);
    /* The same from any basis, for the columns in the given slots. x [rows]: the column of a slot, B^-1 a. */
    gpuopt_status (*exchange)(void *engine, int32_t count, const int32_t *slot, const int32_t *wanted, double least,
                              uint8_t *open, int32_t *position);
    gpuopt_status (*column)(void *engine, int32_t slot, double *x);
    /* Copies the data that reset and enter overwrite to kept_bytes() bytes of host memory, and back. */
    uint64_t (*kept_bytes)(const void *engine);
    gpuopt_status (*keep)(void *engine, void *kept);
    gpuopt_status (*restore)(void *engine, const void *kept);
    /* Copies the vectors to and from the engine's own memory, if it has any. */
    gpuopt_status (*push)(void *engine);
    gpuopt_status (*pull)(void *engine);
    gpuopt_status (*ftran)(void *engine, double *x); /* [rows], x = B^-1 x */
    gpuopt_status (*btran)(void *engine, double *y); /* [rows], y = B^-T y */
    /* r = -[A I] (x + x_low) and d = cost - [A I]' (y + y_low), summed in twice the working precision. A low word may
     * be NULL. error_sum, unless NULL, receives each sum's error_sum, see arith/step.h. */
    gpuopt_status (*residual)(void *engine, const double *x, const double *x_low, double *r, double *error_sum);
    gpuopt_status (*reduce)(void *engine, const double *cost, const double *y, const double *y_low, double *d,
                            double *error_sum);
    /* of_rows [rows] = |A| |x| and of_cols [cols] = |A|' |y|, in working precision. If x [cols] or y [rows] is NULL,
     * its product is not computed. */
    gpuopt_status (*sizes)(void *engine, const double *x, const double *y, double *of_rows, double *of_cols);
    /* A batch, complete except for `engine`. _plan adds what _create will take, without the handle. _run fills the
     * job's arrays; `bound` only if wanted. A batch may have no children. */
    gpuopt_status (*children_plan)(const gpuopt_simplex_children *, gpuopt_memory_plan *);
    gpuopt_status (*children_create)(gpuopt_simplex_children *);
    void (*children_destroy)(gpuopt_simplex_children *);
    gpuopt_status (*children_run)(gpuopt_simplex_children *);
    /* The batch's roots are new. Finds whether all their bases are regular: *singular is the first that is not, or
     * -1. */
    gpuopt_status (*children_set_roots)(gpuopt_simplex_children *, int32_t *singular);
    /* Add and remove rows (by_rows) or columns, within the shape. The control changes dimensions, scales, heads and
     * slots after accept and drop.
     *
     *     _offer   puts checked lines behind the present ones and chooses their scales, in lp. Nothing else has
     *              changed before _accept. *exact: whether scaling rounds no entry
     *     _accept  makes the new slacks basic, behind the present positions, or the new columns nonbasic, behind the
     *              present slots
     *     _drop    to [rows or cols] is each line's new number, -1 to remove it. Slacks of removed rows must be basic,
     *              removed columns nonbasic */
    gpuopt_status (*offer)(void *engine, int by_rows, int scaling, const gpuopt_matrix *lines, int *exact);
    gpuopt_status (*accept)(void *engine, int by_rows, int32_t count);
    gpuopt_status (*drop)(void *engine, int by_rows, const int32_t *to);
    /* Called once on all ranks of a group, after all have created their engines. NULL: not needed. */
    gpuopt_status (*connect)(void *engine);
    double tableau_from; /* METHOD_AUTO chooses the tableau from this share of nonzeros on, see model/check.h */
    /* Whether create checks the entries of a sparse matrix. It then returns UNTIDY for a fault. If the caller of create
     * can tidy the matrix, it calls create again. */
    int checks_entries;
    int drops_with_spare; /* lines are removed only from handles with spare capacity, see shape.grows */
    /* Batches of small programs, which need no engine: batch/calls.h. */
    const struct gpuopt__simplex_batch_backend *many;
} gpuopt__simplex_backend;

#endif /* GPUOPT_IMPL_SIMPLEX_BACKEND_H */
