/* SPDX-License-Identifier: MIT
 *
 * The handle, and the linear program in its internal form: scaled, a minimisation, with a slack for each row.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_MODEL_HANDLE_H
#define GPUOPT_IMPL_SIMPLEX_MODEL_HANDLE_H

#include "../../common/backend.h"
#include "scaling.h"

/* The stages of the primal method; control/loop.h has their transitions. */
typedef enum gpuopt__simplex_stage {
    GPUOPT__SIMPLEX_STAGE_NEW = 0,   /* true bounds; the primal method has not begun */
    GPUOPT__SIMPLEX_STAGE_PERTURBED, /* bounds are relaxed at random */
    GPUOPT__SIMPLEX_STAGE_EXACT,     /* true bounds */
    GPUOPT__SIMPLEX_STAGE_REFINED,   /* differences from a point in twice the precision, small tolerances */
    GPUOPT__SIMPLEX_STAGE_EXTENDED,  /* the same, by iterations in extended precision */
    GPUOPT__SIMPLEX_STAGE_FINAL,     /* refining has ended without an answer: the caller's tolerances again */
    GPUOPT__SIMPLEX_STAGE_UNREFINED  /* the same, where only a failure of the arithmetic can have ended it */
} gpuopt__simplex_stage;

/* What a rebuild must recompute. */
typedef enum gpuopt__simplex_stale {
    GPUOPT__SIMPLEX_FRESH = 0,
    GPUOPT__SIMPLEX_STALE_POINT,  /* x and the duals */
    GPUOPT__SIMPLEX_STALE_INVERSE /* these, and the inverse */
} gpuopt__simplex_stale;

/* Whether the dual method iterates. */
typedef enum gpuopt__simplex_dual_state {
    GPUOPT__SIMPLEX_DUAL_OFF = 0,
    GPUOPT__SIMPLEX_DUAL_TRY, /* decide at the present basis */
    GPUOPT__SIMPLEX_DUAL_ON
} gpuopt__simplex_dual_state;

typedef struct gpuopt__simplex_dual_method {
    gpuopt__simplex_dual_state state;
    int boxing;         /* phase 1, see control/dual.h: the bounds are an artificial box */
    int boxed;          /* phase 1 has ended, or must not start */
    int by_caller;      /* for single parts of an iteration: the caller chooses the method, and there is no phase 1 */
    int priced;         /* the reduced costs belong to dual_cost */
    int short_of;       /* how often the proven bound fell short of the cutoff that the engine had reached */
    double shifted;     /* largest shift of a cost */
    int32_t perturbed;  /* how often costs were perturbed */
    int32_t drifted;    /* successive runs that asked for a new inverse before any iteration */
    int64_t iterations; /* since create */
    double limit;       /* the caller's cutoff */
    double cutoff;      /* the cutoff for the scaled minimisation; infinite: none */
} gpuopt__simplex_dual_method;

/* Duals and reduced costs, in arrays of the handle. */
typedef struct gpuopt__simplex_duals {
    double *y, *y_low; /* [rows] */
    double *reduced;   /* [cols + rows] */
} gpuopt__simplex_duals;

/* Arrays for refactoring, see rebuild/inverse.h. */
typedef struct gpuopt__simplex_refactoring {
    uint8_t *open;                      /* [rows] positions to fill */
    int32_t *order, *wanted, *position; /* [cols] columns to enter; wanted, found position */
    int32_t *col_count, *row_count;     /* [cols], [rows] */
} gpuopt__simplex_refactoring;

/* Finding cycles, see rebuild/rules.h: the basis of the rebuild number `at`. */
typedef struct gpuopt__simplex_cycle {
    uint64_t state;
    int64_t iterations, at, next;
    int32_t found; /* number of cycles */
    int32_t hasty; /* successive rebuilds with few iterations between them */
} gpuopt__simplex_cycle;

/* The stages REFINED and EXTENDED. */
typedef struct gpuopt__simplex_refining {
    double primal, dual;   /* tolerances, from the last rebuild */
    double least_unit;     /* the least scaled reduced cost that corresponds to dual_tolerance in the caller's units */
    int64_t end;           /* iterations at which REFINED ends without success */
    int32_t extended_left; /* EXTENDED: remaining iterations */
} gpuopt__simplex_refining;

/* What is known of the present point, and of a verdict; see gpuopt_simplex_info. */
typedef struct gpuopt__simplex_findings {
    double primal_violation, dual_violation, primal_reached, dual_reached;
    double margin, certificate_residual;
    gpuopt_certainty certainty; /* of the verdict OPTIMAL */
    double backward_error;      /* of the present optimum; -1: not found */
} gpuopt__simplex_findings;

struct gpuopt_simplex {
    gpuopt_context *context;
    gpuopt__simplex_options desc; /* defaults filled in; the caller's arrays are not stored */
    gpuopt__simplex_shape shape;
    gpuopt__simplex_lp lp;
    gpuopt__simplex_vectors v;
    void *engine;
    int64_t models;       /* grows when rows or columns are added or removed */
    uint64_t fingerprint; /* with a group: hash of the descriptor and of everything given to the ranks since */

    /* Scaling: entry (i, j) is row_scale[i] * a_ij * col_scale[j], x_j is x_j * primal_scale / col_scale[j], and the
     * cost is cost_j * cost_scale * col_scale[j], negated when maximising. It is exact: scales are powers of two. */
    double primal_scale, cost_scale;
    double *cost;                    /* [cols + rows] */
    double *lower, *upper;           /* [cols + rows] true bounds */
    double *work_lower, *work_upper; /* [cols + rows] bounds of the present stage */
    double *x, *x_low;               /* [cols + rows] the present point, x + x_low */
    double *center, *center_low;     /* [cols + rows] subtracted from the engine's values and bounds */
    double *reduced;                 /* [cols + rows] at the last rebuild */
    double *phase_cost;              /* [cols + rows] */
    double *dual_cost;               /* [cols + rows] costs of the dual method, see control/dual.h */
    double *y, *y_low;               /* [rows] duals of the present phase, at the last rebuild */
    double *residual, *gap;          /* [rows] -[A I] x and -[A I] (x + x_low) at the last rebuild */
    double *by_row;                  /* [rows] scratch */
    double *farkas, *farkas_low;     /* [rows] Farkas proof, unscaled */
    double *ray, *ray_low;           /* [cols] */
    double *dual, *dual_low;         /* [rows] duals for the caller's objective in phase 1 */
    double *scratch, *scratch_low;   /* [cols + rows] */
    double *error_sum;               /* [cols + rows] scratch, see arith/step.h */
    uint8_t *status;                 /* [cols + rows] gpuopt_simplex_variable, of the scaled variables */
    double *staging;                 /* [max(rows, cols)] scratch: vectors to or from device memory */
    int32_t *queue;                  /* [max(rows, cols)] scratch: lines to visit, or their new numbers */
    gpuopt__simplex_duals shown;     /* the duals as shown to the caller */
    gpuopt__simplex_pattern pattern; /* the engine's, from its first use */
    gpuopt__simplex_refactoring refactoring;

    gpuopt__simplex_stage stage;
    int phase; /* 1, 2; 0: the reduced costs belong to no phase */
    gpuopt__simplex_dual_method dual_method;
    gpuopt__simplex_stale stale;
    int weights_of;         /* the phase in which the weights were started; 0: none */
    gpuopt_outcome verdict; /* MORE: none yet */
    int32_t crossing;       /* the first column with crossing bounds; -1: none */
    double crossing_size;   /* by how much they cross, in the caller's units */
    int64_t iterations, flips, rebuilds, refactorizations;
    int32_t since_rebuild; /* iterations since the last rebuild */
    int32_t relapses;      /* returns from phase 2 to phase 1 in this stage, see rebuild/rules.h */
    int32_t escalation;    /* how far the pivot tolerance is loosened, see rebuild/rules.h */
    int by_tolerance;      /* a child: accepts an optimum within the tolerances without refinement */
    int empty;             /* the doubles are proven to have no feasible point in exact arithmetic */
    int logged_empty;      /* `empty` was logged */
    gpuopt__simplex_cycle cycle;
    gpuopt__simplex_refining refining;
    gpuopt__simplex_findings found;
    int moderate; /* no entry is near the ends of the range of double */
#ifdef GPUOPT_DEBUG
    int misstep; /* a stage has followed one that it may not follow */
#endif
};

static const gpuopt__simplex_backend *gpuopt__simplex_backend_of(const gpuopt_simplex *s) {
    return s->context->desc.backend->simplex;
}

/* At least the point is stale. */
static void gpuopt__simplex_mark_stale(gpuopt_simplex *s) {
    if (!s->stale) s->stale = GPUOPT__SIMPLEX_STALE_POINT;
}

/* ---- Scaling ---- */

/* Accumulates a power of two that brings the geometric mean of the added nonzero finite values close to 1. Values below
 * 2^-40 times the largest value, `largest`, count as that bound: a few tiny values do not represent the others. */
typedef struct gpuopt__simplex_mean {
    double largest, log_sum;
    int64_t count;
} gpuopt__simplex_mean;

/* The largest finite absolute value of two arrays. */
static double gpuopt__simplex_largest_finite(int32_t n, const double *a, const double *b) {
    double largest = 0;
    int32_t i;
    for (i = 0; i < n; i++) {
        if (fabs(a[i]) < HUGE_VAL) largest = gpuopt__max(largest, fabs(a[i]));
        if (fabs(b[i]) < HUGE_VAL) largest = gpuopt__max(largest, fabs(b[i]));
    }
    return largest;
}

static void gpuopt__simplex_mean_add(gpuopt__simplex_mean *mean, double value) {
    if (value == 0 || fabs(value) == HUGE_VAL) return;
    mean->log_sum += log2(gpuopt__max(fabs(value), 0x1p-40 * mean->largest));
    mean->count++;
}

/* At most 2^300, so that products of scales and data do not overflow needlessly. */
static double gpuopt__simplex_mean_scale(const gpuopt__simplex_mean *mean) {
    double exponent = mean->count ? floor(mean->log_sum / (double)mean->count + 0.5) : 0;
    return ldexp(1.0, -(int)gpuopt__max(-300, gpuopt__min(exponent, 300)));
}

/* A slack is minus the row's activity: its lower bound is the row's right-hand side. */
static uint8_t gpuopt__simplex_mirrored(uint8_t status) {
    return status == GPUOPT_VARIABLE_AT_LOWER   ? (uint8_t)GPUOPT_VARIABLE_AT_UPPER
           : status == GPUOPT_VARIABLE_AT_UPPER ? (uint8_t)GPUOPT_VARIABLE_AT_LOWER
                                                : status;
}

/* ---- From the caller's descriptor ---- */

/* The bound or side, with values beyond the caller's infinity made infinite. */
static double gpuopt__simplex_side(const double *side, int32_t k, double otherwise, double infinity) {
    double value = side ? side[k] : otherwise;
    return value >= infinity ? HUGE_VAL : value <= -infinity ? -HUGE_VAL : value;
}

/* Finds the first column with crossing bounds. Scales are powers of two, so the scaled bounds decide. */
static void gpuopt__simplex_find_crossing(gpuopt_simplex *s) {
    int32_t j;
    s->crossing = -1;
    s->crossing_size = 0;
    for (j = 0; j < s->lp.cols && s->crossing < 0; j++) {
        if (s->lower[j] <= s->upper[j]) continue;
        s->crossing = j;
        s->crossing_size = (s->lower[j] - s->upper[j]) / s->primal_scale * s->lp.col_scale[j];
    }
}

static void gpuopt__simplex_fill_bounds(gpuopt_simplex *s, const gpuopt__simplex_options *desc) {
    int32_t i, j, rows = s->lp.rows, cols = s->lp.cols;
    double infinity = s->desc.infinity, sign = desc->maximize ? -1 : 1;
    gpuopt__simplex_mean bounds = {0, 0, 0}, costs = {0, 0, 0};
    for (j = 0; j < cols; j++) {
        s->lower[j] = gpuopt__simplex_side(desc->lb, j, 0, infinity) / s->lp.col_scale[j];
        s->upper[j] = gpuopt__simplex_side(desc->ub, j, HUGE_VAL, infinity) / s->lp.col_scale[j];
        s->cost[j] = desc->cost ? sign * desc->cost[j] * s->lp.col_scale[j] : 0;
    }
    for (i = 0; i < rows; i++) {
        s->lower[cols + i] = -gpuopt__simplex_side(desc->rhs, i, HUGE_VAL, infinity) * s->lp.row_scale[i];
        s->upper[cols + i] = -gpuopt__simplex_side(desc->lhs, i, -HUGE_VAL, infinity) * s->lp.row_scale[i];
        s->cost[cols + i] = 0;
    }
    bounds.largest = gpuopt__simplex_largest_finite(cols + rows, s->lower, s->upper);
    costs.largest = gpuopt__simplex_largest_finite(cols, s->cost, s->cost);
    for (j = 0; j < cols; j++) gpuopt__simplex_mean_add(&costs, s->cost[j]);
    for (j = 0; j < cols + rows; j++) {
        gpuopt__simplex_mean_add(&bounds, s->lower[j]);
        if (s->upper[j] != s->lower[j]) gpuopt__simplex_mean_add(&bounds, s->upper[j]);
    }
    s->primal_scale = s->desc.scaling == GPUOPT_OFF ? 1 : gpuopt__simplex_mean_scale(&bounds);
    s->cost_scale = s->desc.scaling == GPUOPT_OFF ? 1 : gpuopt__simplex_mean_scale(&costs);
    for (j = 0; j < cols; j++) s->cost[j] *= s->cost_scale;
    for (j = 0; j < cols + rows; j++) s->lower[j] *= s->primal_scale, s->upper[j] *= s->primal_scale;
}

/* Cuts the handle's block into arrays for its capacity of rows and columns. With base NULL it only measures. */
static void gpuopt__simplex_cut(gpuopt__arena *arena, gpuopt_simplex *s) {
    int64_t rows = s->shape.rows, cols = s->shape.cols, both = rows + cols, more = rows > cols ? rows : cols;
    gpuopt__simplex_lp *lp = &s->lp;
    gpuopt__simplex_vectors *v = &s->v;
    double **const of_both[] = {&s->cost,       &s->lower,     &s->upper,   &s->work_lower,  &s->work_upper,
                                &s->x,          &s->x_low,     &s->center,  &s->center_low,  &s->reduced,
                                &s->phase_cost, &s->dual_cost, &s->scratch, &s->scratch_low, &s->error_sum};
    double **const of_rows[] = {&lp->row_scale, &s->y,      &s->y_low,      &s->residual, &s->gap,
                                &s->by_row,     &s->farkas, &s->farkas_low, &s->dual,     &s->dual_low};
    double **const of_cols[] = {&lp->col_scale, &s->ray, &s->ray_low};
    size_t k;
    for (k = 0; k < sizeof of_both / sizeof *of_both; k++)
        *of_both[k] = (double *)gpuopt__cut(arena, both, sizeof(double));
    for (k = 0; k < sizeof of_rows / sizeof *of_rows; k++)
        *of_rows[k] = (double *)gpuopt__cut(arena, rows, sizeof(double));
    for (k = 0; k < sizeof of_cols / sizeof *of_cols; k++)
        *of_cols[k] = (double *)gpuopt__cut(arena, cols, sizeof(double));
    s->status = (uint8_t *)gpuopt__cut(arena, both, 1);
    s->refactoring.open = (uint8_t *)gpuopt__cut(arena, rows, 1);
    s->refactoring.order = (int32_t *)gpuopt__cut(arena, cols, sizeof(int32_t));
    s->refactoring.wanted = (int32_t *)gpuopt__cut(arena, cols, sizeof(int32_t));
    s->refactoring.position = (int32_t *)gpuopt__cut(arena, cols, sizeof(int32_t));
    s->refactoring.col_count = (int32_t *)gpuopt__cut(arena, cols, sizeof(int32_t));
    s->refactoring.row_count = (int32_t *)gpuopt__cut(arena, rows, sizeof(int32_t));
    s->queue = (int32_t *)gpuopt__cut(arena, more, sizeof(int32_t));
    s->staging = (double *)gpuopt__cut(arena, more, sizeof(double));
    gpuopt__simplex_cut_vectors(arena, s->shape.rows, s->shape.cols, v);
}

#endif /* GPUOPT_IMPL_SIMPLEX_MODEL_HANDLE_H */
