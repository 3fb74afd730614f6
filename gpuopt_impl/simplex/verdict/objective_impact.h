/* SPDX-License-Identifier: MIT
 *
 * How far the violations that remain at an optimum may move the objective. A variable that is outside its bound by
 * 1e-20 may need a pivot of 1e-20 to return, and the objective moves with it. So an optimum within the tolerances
 * counts only if the best pivot that removes a violation would hardly move the objective.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_VERDICT_OBJECTIVE_IMPACT_H
#define GPUOPT_IMPL_SIMPLEX_VERDICT_OBJECTIVE_IMPACT_H

#include "exact.h"

/* A reduced cost of the wrong sign: its impact is the reduced cost times the step that the ratio test allows. */
static gpuopt_status gpuopt__simplex_impact_of_entering(gpuopt_simplex *s, int32_t slot, double *impact) {
    gpuopt__simplex_extended c = {slot, -1, s->v.d[slot] < 0 ? 1 : -1, 0, 0};
    gpuopt_status status = gpuopt__simplex_extended_column(s, &c);
    *impact = fabs(s->v.d[slot]) * c.step;
    return status;
}

/* Pivots that could remove a violation. */
typedef struct gpuopt__simplex_mending {
    double ratio;           /* the least ratio of a reduced cost to the entry in the pivot row; infinite: none */
    double uncertain_ratio; /* the same for entries that may be 0, counted with the largest possible size */
    int32_t uncertain;      /* number of these entries; s->queue lists them */
} gpuopt__simplex_mending;

/* Reads the tableau row in s->scratch, which is accurate to `noise`. An entry that may be 0 counts only if the range of
 * its variable is large enough to remove the violation. */
static void gpuopt__simplex_find_mending(gpuopt_simplex *s, int below, double violation, double noise,
                                         gpuopt__simplex_mending *m) {
    const gpuopt__simplex_vectors *v = &s->v;
    int32_t j;
    m->ratio = m->uncertain_ratio = HUGE_VAL;
    m->uncertain = 0;
    for (j = 0; j < s->lp.cols; j++) {
        double entry = s->scratch[v->slot[j]], move = below ? entry : -entry; /* per unit of the nonbasic variable */
        double size = gpuopt__max(fabs(move), 8 * noise);
        int ways = v->state[j] & 3, way = move > 0 ? GPUOPT__SIMPLEX_MAY_INCREASE : GPUOPT__SIMPLEX_MAY_DECREASE;
        if (ways == 0 || size == 0) continue;
        if (size == fabs(move)) {
            if (ways & way) m->ratio = gpuopt__min(m->ratio, fabs(v->d[j]) / size);
        } else if (size * (v->un[j] - v->ln[j]) >= violation) {
            m->uncertain_ratio = gpuopt__min(m->uncertain_ratio, fabs(v->d[j]) / size);
            s->queue[m->uncertain++] = j;
        }
    }
}

/* Whether one of the uncertain pivots might remove the violation before another variable blocks. */
static gpuopt_status gpuopt__simplex_may_mend(gpuopt_simplex *s, const gpuopt__simplex_mending *m, double least,
                                              int *may) {
    enum { MOST = 64 }; /* most pivots to try; with more, *may is 1 */
    int32_t k, way;
    gpuopt_status status = GPUOPT_OK;
    *may = m->uncertain > MOST;
    for (k = 0; k < m->uncertain && !status && !*may; k++)
        for (way = -1; way <= 1 && !status; way += 2) {
            gpuopt__simplex_extended c = {s->queue[k], -1, way, 0, 0};
            if (!(s->v.state[c.slot] & (way > 0 ? GPUOPT__SIMPLEX_MAY_INCREASE : GPUOPT__SIMPLEX_MAY_DECREASE)))
                continue;
            status = gpuopt__simplex_extended_column(s, &c);
            *may |= c.step >= least;
        }
    return status;
}

/* A basic variable outside its bounds: its violation times the cost of a unit. If no variable can remove the violation,
 * the model is infeasible, by no more than the tolerance. Then the impact is 0. */
static gpuopt_status gpuopt__simplex_impact_of_leaving(gpuopt_simplex *s, int32_t position, double violation,
                                                       double *impact) {
    gpuopt__simplex_duals to = {s->farkas, s->farkas_low, s->scratch};
    const int32_t variable = s->v.head[position];
    int below = gpuopt__simplex_above(s->x[variable], s->x_low[variable], s->lower[variable]) < 0;
    double noise, *unit = s->scratch_low;
    gpuopt__simplex_mending m;
    int good, may = 0;
    gpuopt_status status;
    memset(unit, 0, sizeof(double) * ((size_t)s->lp.rows + (size_t)s->lp.cols));
    unit[variable] = 1;
    status = gpuopt__simplex_solve_duals(s, to, unit, 1, &good, &noise);
    if (status) return status;
    gpuopt__simplex_find_mending(s, below, violation, noise, &m);
    if (m.ratio == HUGE_VAL) status = gpuopt__simplex_may_mend(s, &m, violation / (8 * noise), &may);
    if (may || m.ratio < HUGE_VAL) m.ratio = gpuopt__min(m.ratio, m.uncertain_ratio);
    *impact = m.ratio < HUGE_VAL ? violation * m.ratio : 0;
    return status;
}

/* The largest impact of one violation, in the caller's units of the objective. Violations below the rounding of the
 * present point, and of numbers in twice the working precision, have no impact. */
static gpuopt_status gpuopt__simplex_objective_impact(gpuopt_simplex *s, double *most) {
    const gpuopt__simplex_vectors *v = &s->v;
    double impact = 0, rounding = 0x1p-92, of_y = rounding * gpuopt__simplex_largest(s->lp.rows, s->y);
    double of_x = rounding * gpuopt__simplex_largest(s->lp.rows + s->lp.cols, s->x);
    int32_t k;
    gpuopt_status status = GPUOPT_OK;
    *most = 0;
    for (k = 0; k < s->lp.cols && !status; k++) {
        double of_d = gpuopt__min(s->refining.dual, of_y + rounding * fabs(s->cost[v->slot[k]]));
        if (gpuopt__simplex_score(v->d[k], 1, v->state[k] & 3, of_d) == 0) continue;
        status = gpuopt__simplex_impact_of_entering(s, k, &impact);
        *most = gpuopt__max(*most, impact);
    }
    for (k = 0; k < s->lp.rows && !status; k++) {
        const int32_t variable = v->head[k];
        const double violation =
            gpuopt__simplex_beyond(s->x[variable], s->x_low[variable], s->lower[variable], s->upper[variable]);
        if (violation <= gpuopt__min(s->refining.primal, of_x)) continue;
        status = gpuopt__simplex_impact_of_leaving(s, k, violation, &impact);
        *most = gpuopt__max(*most, impact);
    }
    *most /= s->cost_scale * s->primal_scale;
    return status;
}

#endif /* GPUOPT_IMPL_SIMPLEX_VERDICT_OBJECTIVE_IMPACT_H */
