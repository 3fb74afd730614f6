/* SPDX-License-Identifier: MIT
 *
 * What the violations that remain at an optimum are worth. A variable that is outside its bound by 1e-20 may have to be
 * brought back by a pivot of 1e-20, and the objective moves with it. So an optimum within the tolerances counts only if
 * the best pivot that mends a violation would hardly move the objective.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_WORTH_H
#define GPUOPT_IMPL_SIMPLEX_WORTH_H

#include "careful.h"

/* A reduced cost of the wrong sign: it times the step that the ratio test allows. */
static gpuopt_status gpuopt__simplex_worth_of_entering(gpuopt_simplex *s, int32_t slot, double *worth) {
    gpuopt__simplex_careful c = {slot, -1, s->v.d[slot] < 0 ? 1 : -1, 0, 0};
    gpuopt_status status = gpuopt__simplex_careful_column(s, &c);
    *worth = fabs(s->v.d[slot]) * c.step;
    return status;
}

/* A basic variable outside its bounds: its violation times what a unit of it costs, the least ratio of a reduced cost
 * to the entry in the pivot row. An entry below its own rounding counts as that rounding. If no variable can mend the
 * violation, the model is infeasible by no more than the tolerance, which is none. */
static gpuopt_status gpuopt__simplex_worth_of_leaving(gpuopt_simplex *s, int32_t position, double *worth) {
    gpuopt__simplex_duals to = {s->farkas, s->farkas_low, s->scratch};
    const gpuopt__simplex_vectors *v = &s->v;
    double below = v->lb[position] - v->xb[position], above = v->xb[position] - v->ub[position];
    double noise, cost = HUGE_VAL, *unit = s->scratch_low;
    int32_t j;
    int good;
    gpuopt_status status;
    memset(unit, 0, sizeof(double) * ((size_t)s->lp.rows + (size_t)s->lp.cols));
    unit[v->head[position]] = 1;
    status = gpuopt__simplex_solve_duals(s, to, unit, 1, &good, &noise);
    for (j = 0; j < s->lp.cols && !status; j++) {
        double move = below > 0 ? to.reduced[v->slot[j]] : -to.reduced[v->slot[j]]; /* by a unit of the nonbasic one */
        double size = gpuopt__max(fabs(move), 8 * noise);
        int ways = v->state[j] & 3;
        int way = move > 0 ? GPUOPT__SIMPLEX_MAY_INCREASE : GPUOPT__SIMPLEX_MAY_DECREASE;
        if (ways == 0 || size == 0 || (size == fabs(move) && !(ways & way))) continue;
        cost = gpuopt__min(cost, fabs(v->d[j]) / size);
    }
    *worth = cost < HUGE_VAL ? gpuopt__max(below, above) * cost : 0;
    return status;
}

/* The largest worth of one violation, in the host's units of the objective. What is below the rounding of numbers in
 * twice the working precision is none. */
static gpuopt_status gpuopt__simplex_worth(gpuopt_simplex *s, double *most) {
    const gpuopt__simplex_vectors *v = &s->v;
    double worth, rounding = 0x1p-92, of_y = rounding * gpuopt__simplex_largest(s->lp.rows, s->y);
    double of_x = rounding * gpuopt__simplex_largest(s->lp.rows + s->lp.cols, s->x);
    int32_t k;
    gpuopt_status status = GPUOPT_OK;
    *most = 0;
    for (k = 0; k < s->lp.cols && !status; k++) {
        double of_d = of_y + rounding * fabs(s->cost[v->slot[k]]);
        if (gpuopt__simplex_score(v->d[k], 1, v->state[k] & 3, of_d) == 0) continue;
        status = gpuopt__simplex_worth_of_entering(s, k, &worth);
        *most = gpuopt__max(*most, worth);
    }
    for (k = 0; k < s->lp.rows && !status && s->stage == GPUOPT__SIMPLEX_STAGE_REFINED; k++) {
        if (!gpuopt__simplex_infeasible(v->xb[k], v->lb[k], v->ub[k], of_x)) continue;
        status = gpuopt__simplex_worth_of_leaving(s, k, &worth);
        *most = gpuopt__max(*most, worth);
    }
    *most /= s->cost_scale * s->primal_scale;
    return status;
}

#endif /* GPUOPT_IMPL_SIMPLEX_WORTH_H */
