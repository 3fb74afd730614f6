/* SPDX-License-Identifier: MIT
 *
 * The basic solution and the duals, recomputed from the original data with iterative refinement.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_REFRESH_H
#define GPUOPT_IMPL_SIMPLEX_REFRESH_H

#include "evidence.h"
#include "reinvert.h"
#include "rules.h"

/* Puts nonbasic variables at the bound that their status says; if it is infinite, at the other one, or at 0. */
static void gpuopt__simplex_place_nonbasic(gpuopt_simplex *s) {
    gpuopt__simplex_vectors *v = &s->v;
    int32_t i, j;
    for (j = 0; j < s->lp.cols; j++) {
        int32_t variable = v->slot[j];
        double l = s->work_lower[variable], u = s->work_upper[variable];
        int upper = u < HUGE_VAL && (s->status[variable] == GPUOPT_VARIABLE_AT_UPPER || l == -HUGE_VAL);
        v->ln[j] = l;
        v->un[j] = u;
        v->xn[j] = upper ? u : l > -HUGE_VAL ? l : 0;
        v->state[j] = l == u ? 0 : upper ? GPUOPT__SIMPLEX_MAY_DECREASE : GPUOPT__SIMPLEX_MAY_INCREASE;
        if (l == -HUGE_VAL && u == HUGE_VAL) v->state[j] = GPUOPT__SIMPLEX_MAY_INCREASE | GPUOPT__SIMPLEX_MAY_DECREASE;
        s->status[variable] = (uint8_t)(v->state[j] == 3 ? GPUOPT_VARIABLE_AT_ZERO
                                        : upper          ? GPUOPT_VARIABLE_AT_UPPER
                                                         : GPUOPT_VARIABLE_AT_LOWER);
        s->x[variable] = v->xn[j];
    }
    for (i = 0; i < s->lp.rows; i++) {
        v->lb[i] = s->work_lower[v->head[i]];
        v->ub[i] = s->work_upper[v->head[i]];
        s->x[v->head[i]] = v->xb[i];
    }
}

/* Refinement ends when a correction no longer halves the residual, or changes no component by more than rounding. At
 * least one correction is made: a residual that is small beside the largest component may be large beside others. */
enum { GPUOPT__SIMPLEX_REFINEMENTS = 8 };

static int gpuopt__simplex_refined(int round, double size, double before, double change) {
    return size == 0 || (round > 0 && (size > 0.5 * before || change <= 1e-15));
}

/* *to += by. *change is the largest change so far, relative for components above 1. */
static void gpuopt__simplex_correct(double by, double *to, double *change) {
    *to += by;
    *change = gpuopt__max(*change, fabs(by) / gpuopt__max(1, fabs(*to)));
}

/* The basic variables' x from A x + s = 0. *good: the last correction was small in every component. */
static gpuopt_status gpuopt__simplex_solve_x(gpuopt_simplex *s, double *x, int *good) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    double before = HUGE_VAL, change = 0;
    int32_t i, round;
    gpuopt_status status = GPUOPT_OK;
    for (round = 0; round <= GPUOPT__SIMPLEX_REFINEMENTS && !status; round++) {
        double size;
        status = backend->residual(s->engine, x, s->residual);
        if (status) return status;
        size = gpuopt__simplex_largest(s->lp.rows, s->residual);
        *good = change <= 1e-9;
        if (gpuopt__simplex_refined(round, size, before, change) || round == GPUOPT__SIMPLEX_REFINEMENTS)
            return GPUOPT_OK;
        before = size;
        memcpy(s->by_row, s->residual, sizeof(double) * (size_t)s->lp.rows);
        status = backend->ftran(s->engine, s->by_row);
        for (i = 0, change = 0; i < s->lp.rows; i++) gpuopt__simplex_correct(s->by_row[i], x + s->v.head[i], &change);
    }
    return status;
}

/* The duals y, which make the reduced costs of the basic variables 0, and all reduced costs, for a cost vector. */
static gpuopt_status gpuopt__simplex_solve_duals(gpuopt_simplex *s, const double *cost, int *good) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    double before = HUGE_VAL, change = 0;
    int32_t i, round;
    gpuopt_status status = GPUOPT_OK;
    memset(s->y, 0, sizeof(double) * (size_t)s->lp.rows);
    for (round = 0; round <= GPUOPT__SIMPLEX_REFINEMENTS && !status; round++) {
        double size;
        status = backend->reduce(s->engine, cost, s->y, s->reduced);
        if (status) return status;
        for (i = 0; i < s->lp.rows; i++) s->by_row[i] = s->reduced[s->v.head[i]];
        size = gpuopt__simplex_largest(s->lp.rows, s->by_row);
        *good = round <= 1 || change <= 1e-9; /* the first correction is the solution itself */
        if (gpuopt__simplex_refined(round, size, before, change) || round == GPUOPT__SIMPLEX_REFINEMENTS)
            return GPUOPT_OK;
        before = size;
        status = backend->btran(s->engine, s->by_row);
        for (i = 0, change = 0; i < s->lp.rows; i++) gpuopt__simplex_correct(s->by_row[i], s->y + i, &change);
    }
    return status;
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

/* Recomputes x, duals and reduced costs from the original data. The inverse is recomputed too if s->stale is 2, or if
 * refinement with the present one does not converge to rounding. */
static gpuopt_status gpuopt__simplex_refresh(gpuopt_simplex *s) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    int reinvert = s->stale == 2, good_x, good_y = 0;
    int32_t i, j, singular;
    int phase = s->phase;
    gpuopt_status status = GPUOPT_OK;
    s->refreshes++;
    for (;;) {
        if (reinvert) {
            status = gpuopt__simplex_reinvert(s, &singular);
            if (!status && singular > 0) {
                s->weights_of = 0; /* another basis */
                gpuopt__log(s->context, 1, "simplex: the basis has become singular; %d columns leave it",
                            (int)singular);
            }
        }
        gpuopt__simplex_place_nonbasic(s);
        if (!status) status = backend->push(s->engine);
        if (!status) status = gpuopt__simplex_solve_x(s, s->x, &good_x);
        if (status) return status;
        for (i = 0; i < s->lp.rows; i++) s->v.xb[i] = s->x[s->v.head[i]];
        gpuopt__simplex_choose_phase(s);
        if (good_x || reinvert) status = gpuopt__simplex_solve_duals(s, s->phase_cost, &good_y);
        if (status) return status;
        if ((good_x && good_y) || reinvert) break;
        reinvert = 1;
    }
    for (j = 0; j < s->lp.cols; j++) s->v.d[j] = s->reduced[s->v.slot[j]];
    if (s->started && s->stage != GPUOPT__SIMPLEX_STAGE_PERTURBED && phase == 2 && s->phase == 1)
        gpuopt__simplex_relapse(s, 1);
    s->stale = 0;
    s->since_refresh = 0;
    gpuopt__simplex_violations(s);
    return backend->push(s->engine);
}

/* Fetches the engine's vectors, and sets status and x of all variables from them. */
static gpuopt_status gpuopt__simplex_pull(gpuopt_simplex *s) {
    gpuopt_status status = gpuopt__simplex_backend_of(s)->pull(s->engine);
    int32_t i, j;
    for (i = 0; i < s->lp.rows && !status; i++) {
        s->status[s->v.head[i]] = GPUOPT_VARIABLE_BASIC;
        s->x[s->v.head[i]] = s->v.xb[i];
    }
    for (j = 0; j < s->lp.cols && !status; j++) {
        int state = s->v.state[j] & 3;
        s->x[s->v.slot[j]] = s->v.xn[j];
        s->status[s->v.slot[j]] = (uint8_t)(state == 3                              ? GPUOPT_VARIABLE_AT_ZERO
                                            : state == GPUOPT__SIMPLEX_MAY_DECREASE ? GPUOPT_VARIABLE_AT_UPPER
                                                                                    : GPUOPT_VARIABLE_AT_LOWER);
    }
    return status;
}

/* Refreshes if anything has moved or changed since the last refresh. */
static gpuopt_status gpuopt__simplex_fresh(gpuopt_simplex *s) {
    gpuopt_status status = GPUOPT_OK;
    if (s->since_refresh > 0) {
        status = gpuopt__simplex_pull(s);
        if (!s->stale) s->stale = 1;
    }
    return status || !s->stale ? status : gpuopt__simplex_refresh(s);
}

/* The same for a call that only asks, and does not count as a refresh. */
static gpuopt_status gpuopt__simplex_fresh_to_read(gpuopt_simplex *s) {
    int64_t refreshes = s->refreshes;
    gpuopt_status status = gpuopt__simplex_fresh(s);
    s->refreshes = refreshes;
    return status;
}

#endif /* GPUOPT_IMPL_SIMPLEX_REFRESH_H */
