/* SPDX-License-Identifier: MIT
 *
 * Recomputes the basic solution and the duals from the original data, with iterative refinement.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_REBUILD_POINT_H
#define GPUOPT_IMPL_SIMPLEX_REBUILD_POINT_H

#include "certificate_margins.h"
#include "inverse.h"
#include "rules.h"

/* Sets x of a variable from the engine's value. */
static void gpuopt__simplex_set_x(gpuopt_simplex *s, int32_t variable, double value) {
    double low, x = gpuopt__two_sum(s->center[variable], value, &low);
    s->x[variable] = gpuopt__two_sum(x, low + s->center_low[variable], &s->x_low[variable]);
}

/* A bound in the engine's form. */
static double gpuopt__simplex_seen(const gpuopt_simplex *s, int32_t variable, double bound) {
    return (bound - s->center[variable]) - s->center_low[variable];
}

/* Moves nonbasic variables to the bounds of their statuses. If that bound is infinite: to the other bound, or to 0. */
static void gpuopt__simplex_place_nonbasic(gpuopt_simplex *s) {
    int32_t j;
    for (j = 0; j < s->lp.cols; j++) {
        int32_t variable = s->v.slot[j];
        double l = s->work_lower[variable], u = s->work_upper[variable];
        int upper = u < HUGE_VAL && (s->status[variable] == GPUOPT_VARIABLE_AT_UPPER || l == -HUGE_VAL);
        int state = l == u ? 0 : upper ? GPUOPT__SIMPLEX_MAY_DECREASE : GPUOPT__SIMPLEX_MAY_INCREASE;
        if (l == -HUGE_VAL && u == HUGE_VAL) state = GPUOPT__SIMPLEX_MAY_INCREASE | GPUOPT__SIMPLEX_MAY_DECREASE;
        s->v.state[j] = (uint8_t)state;
        s->status[variable] = (uint8_t)(state == 3 ? GPUOPT_VARIABLE_AT_ZERO
                                        : upper    ? GPUOPT_VARIABLE_AT_UPPER
                                                   : GPUOPT_VARIABLE_AT_LOWER);
        s->x[variable] = upper ? u : l > -HUGE_VAL ? l : 0;
        s->x_low[variable] = 0;
    }
}

/* Makes the engine's values and bounds differences from x in the stage REFINED, else from 0. */
static void gpuopt__simplex_center(gpuopt_simplex *s) {
    gpuopt__simplex_vectors *v = &s->v;
    size_t bytes = sizeof(double) * ((size_t)s->lp.rows + (size_t)s->lp.cols);
    int refined = gpuopt__simplex_is_refined(s);
    int32_t i, j;
    if (refined) {
        memcpy(s->center, s->x, bytes);
        memcpy(s->center_low, s->x_low, bytes);
    } else {
        memset(s->center, 0, bytes);
        memset(s->center_low, 0, bytes);
    }
    for (j = 0; j < s->lp.cols; j++) {
        int32_t variable = v->slot[j];
        v->ln[j] = gpuopt__simplex_seen(s, variable, s->work_lower[variable]);
        v->un[j] = gpuopt__simplex_seen(s, variable, s->work_upper[variable]);
        v->xn[j] = refined ? 0 : s->x[variable];
    }
    for (i = 0; i < s->lp.rows; i++) {
        int32_t variable = v->head[i];
        v->lb[i] = gpuopt__simplex_seen(s, variable, s->work_lower[variable]);
        v->ub[i] = gpuopt__simplex_seen(s, variable, s->work_upper[variable]);
        v->xb[i] = refined ? 0 : s->x[variable];
    }
}

/* Refinement ends when a correction no longer halves the residual, or changes no component by more than `fine`. It
 * makes at least one correction: a residual that is small relative to the largest component may be large for others. */
enum { GPUOPT__SIMPLEX_REFINEMENTS = 8, GPUOPT__SIMPLEX_FINE_REFINEMENTS = 40 };

typedef struct gpuopt__simplex_refinement {
    int round, most;
    double fine;     /* a smaller relative change ends refinement */
    double enough;   /* so does a residual of `enough` times `before` */
    double before;   /* size of the residual before the last correction */
    double change;   /* change by the last correction; relative for components above 1 */
    double absolute; /* the same, absolute */
} gpuopt__simplex_refinement;

/* The precision of a solution. ROUGH: until the residual has fallen to 1e-10 of its first size. That is enough for the
 * dual method, because other steps make the final solution. */
enum { GPUOPT__SIMPLEX_ROUGH = -1, GPUOPT__SIMPLEX_ONCE = 0, GPUOPT__SIMPLEX_TWICE = 1 };

/* TWICE: until the solution is accurate to twice the working precision. */
static gpuopt__simplex_refinement gpuopt__simplex_refinement_start(int precision) {
    gpuopt__simplex_refinement r = {0, GPUOPT__SIMPLEX_REFINEMENTS, 1e-15, 0, HUGE_VAL, 0, 0};
    if (precision == GPUOPT__SIMPLEX_TWICE) r.most = GPUOPT__SIMPLEX_FINE_REFINEMENTS, r.fine = 1e-30;
    if (precision == GPUOPT__SIMPLEX_ROUGH) r.enough = 1e-10;
    return r;
}

/* An estimate of the error: the last correction, reduced in the ratio of the residuals. */
static double gpuopt__simplex_noise(const gpuopt__simplex_refinement *r, double size) {
    return size == 0 ? 0 : r->round == 0 ? size : r->absolute * gpuopt__min(1, size / r->before);
}

static int gpuopt__simplex_enough(const gpuopt__simplex_refinement *r, double size) {
    return r->round > 0 && size <= r->enough * r->before;
}

static int gpuopt__simplex_refined(const gpuopt__simplex_refinement *r, double size) {
    return size == 0 || gpuopt__simplex_enough(r, size) || r->round == r->most ||
           (r->round > 0 && (size > 0.5 * r->before || r->change <= r->fine));
}

/* to[index ? index[i] : i] += by[i]. */
static void gpuopt__simplex_correct(gpuopt__simplex_refinement *r, double size, int32_t rows, const double *by,
                                    const int32_t *index, double *to, double *low) {
    int32_t i;
    r->round++;
    r->before = size;
    r->change = r->absolute = 0;
    for (i = 0; i < rows; i++) {
        int32_t k = index ? index[i] : i;
        double error, sum = gpuopt__two_sum(to[k], by[i], &error);
        to[k] = gpuopt__two_sum(sum, error + low[k], &low[k]);
        r->absolute = gpuopt__max(r->absolute, fabs(by[i]));
        r->change = gpuopt__max(r->change, fabs(by[i]) / gpuopt__max(1, fabs(to[k])));
    }
}

/* Solves A (x + low) + s = 0 for the basic variables' x + low. *good: the last correction was small everywhere. */
static gpuopt_status gpuopt__simplex_solve_x(gpuopt_simplex *s, double *x, double *low, int precision, int *good,
                                             double *noise) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    gpuopt__simplex_refinement r = gpuopt__simplex_refinement_start(precision);
    gpuopt_status status;
    for (;;) {
        double size;
        status = backend->residual(s->engine, x, low, s->by_row, NULL);
        if (status) return status;
        size = gpuopt__simplex_largest(s->lp.rows, s->by_row);
        *good = r.change <= 1e-9 || gpuopt__simplex_enough(&r, size);
        *noise = gpuopt__simplex_noise(&r, size);
        if (gpuopt__simplex_refined(&r, size)) return GPUOPT_OK;
        status = backend->ftran(s->engine, s->by_row);
        if (status) return status;
        gpuopt__simplex_correct(&r, size, s->lp.rows, s->by_row, s->v.head, x, low);
    }
}

static gpuopt__simplex_duals gpuopt__simplex_present_duals(const gpuopt_simplex *s) {
    gpuopt__simplex_duals duals = {s->y, s->y_low, s->reduced};
    return duals;
}

/* Computes the duals y + y_low that make the basic variables' reduced costs 0, and all reduced costs, from `cost`. */
static gpuopt_status gpuopt__simplex_solve_duals(gpuopt_simplex *s, gpuopt__simplex_duals to, const double *cost,
                                                 int precision, int *good, double *noise) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    gpuopt__simplex_refinement r = gpuopt__simplex_refinement_start(precision);
    int32_t i;
    gpuopt_status status;
    memset(to.y, 0, sizeof(double) * (size_t)s->lp.rows);
    memset(to.y_low, 0, sizeof(double) * (size_t)s->lp.rows);
    for (;;) {
        double size;
        status = backend->reduce(s->engine, cost, to.y, to.y_low, to.reduced, NULL);
        if (status) return status;
        for (i = 0; i < s->lp.rows; i++) s->by_row[i] = to.reduced[s->v.head[i]];
        size = gpuopt__simplex_largest(s->lp.rows, s->by_row);
        *good = r.round <= 1 || r.change <= 1e-9 ||
                gpuopt__simplex_enough(&r, size); /* the first correction is the solution itself */
        *noise = gpuopt__simplex_noise(&r, size);
        if (gpuopt__simplex_refined(&r, size)) return GPUOPT_OK;
        status = backend->btran(s->engine, s->by_row);
        if (status) return status;
        gpuopt__simplex_correct(&r, size, s->lp.rows, s->by_row, NULL, to.y, to.y_low);
    }
}

/* Chooses the phase, and fills phase_cost with its costs. */
static void gpuopt__simplex_choose_phase(gpuopt_simplex *s) {
    double tolerance = gpuopt__simplex_rules_now(s).primal;
    int32_t i;
    s->phase = 2;
    memset(s->phase_cost, 0, sizeof(double) * ((size_t)s->lp.rows + (size_t)s->lp.cols));
    for (i = 0; i < s->lp.rows; i++) {
        int outside = gpuopt__simplex_infeasible(s->v.xb[i], s->v.lb[i], s->v.ub[i], tolerance);
        s->phase_cost[s->v.head[i]] = outside;
        if (outside) s->phase = 1;
    }
    if (s->phase == 2) memcpy(s->phase_cost, s->cost, sizeof(double) * ((size_t)s->lp.rows + (size_t)s->lp.cols));
}

/* Inverts the present basis. If it has become singular, other columns replace the dependent ones. */
static gpuopt_status gpuopt__simplex_repair(gpuopt_simplex *s) {
    int32_t singular = 0;
    gpuopt_status status = gpuopt__simplex_reinvert(s, &singular);
    if (status || singular == 0) return status;
    s->weights_of = 0; /* the basis changed */
    gpuopt__log(s->context, 1, "simplex: the basis has become singular; %d columns leave it", (int)singular);
    return GPUOPT_OK;
}

/* Updates the rest of the handle after a new point and its duals. */
static gpuopt_status gpuopt__simplex_settle(gpuopt_simplex *s) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    gpuopt_status status = backend->residual(s->engine, s->x, NULL, s->residual, NULL);
    int32_t j;
    gpuopt__simplex_center(s);
    for (j = 0; j < s->lp.cols; j++) s->v.d[j] = s->reduced[s->v.slot[j]];
    gpuopt__simplex_violations(s);
    return status ? status : backend->push(s->engine);
}

/* Recomputes x, duals and reduced costs from the original data, ONCE or TWICE. Also recomputes the inverse if it is
 * stale, or if refinement with the present inverse does not converge to rounding. */
static gpuopt_status gpuopt__simplex_rebuild_to(gpuopt_simplex *s, int precision) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    int refactors = s->stale == GPUOPT__SIMPLEX_STALE_INVERSE, good_x, good_y = 0, phase = s->phase;
    double noise_x = 0, noise_y = 0;
    gpuopt_status status = GPUOPT_OK;
    s->rebuilds++;
    s->dual_method.priced = 0;
    for (;;) {
        if (refactors) status = gpuopt__simplex_repair(s);
        if (status) return status;
        gpuopt__simplex_place_nonbasic(s);
        status = backend->push(s->engine);
        if (!status) status = gpuopt__simplex_solve_x(s, s->x, s->x_low, precision, &good_x, &noise_x);
        if (status) return status;
        memcpy(s->gap, s->by_row, sizeof(double) * (size_t)s->lp.rows);
        s->refining.primal = gpuopt__simplex_fine(s->desc.primal_tolerance, noise_x);
        gpuopt__simplex_center(s);
        gpuopt__simplex_choose_phase(s);
        if (good_x || refactors)
            status = gpuopt__simplex_solve_duals(s, gpuopt__simplex_present_duals(s), s->phase_cost, precision, &good_y,
                                                 &noise_y);
        if (status) return status;
        if ((good_x && good_y) || refactors) break;
        refactors = 1;
    }
    s->refining.dual = gpuopt__simplex_fine(s->desc.dual_tolerance, noise_y);
    if ((s->stage == GPUOPT__SIMPLEX_STAGE_EXACT || s->stage >= GPUOPT__SIMPLEX_STAGE_FINAL) && phase == 2 &&
        s->phase == 1)
        gpuopt__simplex_relapse(s, 1);
    s->stale = GPUOPT__SIMPLEX_FRESH;
    s->since_rebuild = 0;
    return gpuopt__simplex_settle(s);
}

static gpuopt_status gpuopt__simplex_rebuild(gpuopt_simplex *s) {
    return gpuopt__simplex_rebuild_to(s, s->stage >= GPUOPT__SIMPLEX_STAGE_REFINED ? GPUOPT__SIMPLEX_TWICE
                                                                                   : GPUOPT__SIMPLEX_ONCE);
}

/* Fetches the engine's vectors. If the engine has moved any variable, sets status and x of all variables. */
static gpuopt_status gpuopt__simplex_pull(gpuopt_simplex *s) {
    gpuopt_status status = gpuopt__simplex_backend_of(s)->pull(s->engine);
    int32_t i, j;
    if (status || s->since_rebuild == 0) return status;
    for (i = 0; i < s->lp.rows; i++) {
        s->status[s->v.head[i]] = GPUOPT_VARIABLE_BASIC;
        gpuopt__simplex_set_x(s, s->v.head[i], s->v.xb[i]);
    }
    for (j = 0; j < s->lp.cols; j++) {
        int state = s->v.state[j] & 3;
        gpuopt__simplex_set_x(s, s->v.slot[j], s->v.xn[j]);
        s->status[s->v.slot[j]] = (uint8_t)(state == 3                              ? GPUOPT_VARIABLE_AT_ZERO
                                            : state == GPUOPT__SIMPLEX_MAY_DECREASE ? GPUOPT_VARIABLE_AT_UPPER
                                                                                    : GPUOPT_VARIABLE_AT_LOWER);
    }
    return GPUOPT_OK;
}

/* Rebuilds if anything has moved or changed since the last rebuild. */
static gpuopt_status gpuopt__simplex_fresh(gpuopt_simplex *s) {
    gpuopt_status status = GPUOPT_OK;
    if (s->since_rebuild > 0) {
        status = gpuopt__simplex_pull(s);
        gpuopt__simplex_mark_stale(s);
    }
    return status || !s->stale ? status : gpuopt__simplex_rebuild(s);
}

/* The same for a call that only reads; does not count as a rebuild. */
static gpuopt_status gpuopt__simplex_fresh_to_read(gpuopt_simplex *s) {
    int64_t rebuilds = s->rebuilds;
    gpuopt_status status = gpuopt__simplex_fresh(s);
    s->rebuilds = rebuilds;
    return status;
}

#endif /* GPUOPT_IMPL_SIMPLEX_REBUILD_POINT_H */
