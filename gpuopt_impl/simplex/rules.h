/* SPDX-License-Identifier: MIT
 *
 * The bounds and tolerances that the simplex method works with at its present stage.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_RULES_H
#define GPUOPT_IMPL_SIMPLEX_RULES_H

#include "model.h"

/* ---- Stages ---- */

/* Perturbation relaxes the bounds of variables that are not fixed by 1 to 2 millionths. That makes ties, and with them
 * stalling, unlikely, and an optimal basis mostly stays optimal. A column whose bounds cross is fixed at its lower one:
 * nothing is iterated then, but the point stays well defined. */
static void gpuopt__simplex_enter_stage(gpuopt_simplex *s, gpuopt__simplex_stage stage) {
    int32_t j, both = s->lp.rows + s->lp.cols;
    s->stage = stage;
    s->stale = s->stale ? s->stale : 1;
    s->escalation = 0;
    s->relapses = stage == GPUOPT__SIMPLEX_STAGE_FINAL ? s->relapses : 0;
    for (j = 0; j < both; j++) {
        double l = s->lower[j], u = s->upper[j];
        if (l > u) u = l;
        if (stage == GPUOPT__SIMPLEX_STAGE_PERTURBED && l < u) {
            uint64_t k = 2 * (uint64_t)j;
            l -= 1e-6 * (1 + gpuopt__random(s->desc.seed, k)) * gpuopt__max(1, fabs(l));
            u += 1e-6 * (1 + gpuopt__random(s->desc.seed, k + 1)) * gpuopt__max(1, fabs(u));
        }
        s->work_lower[j] = l;
        s->work_upper[j] = u;
    }
}

/* The ratio test lets a bound give way by its tolerance. When the bound is restored, basic variables may move by more
 * than that, and the method could alternate between the two phases for ever. So the tolerance within which a variable
 * counts as feasible grows tenfold every fourth time that this happens, to at most 1e6 times the host's; the tolerance
 * of the ratio test stays. */
enum { GPUOPT__SIMPLEX_RELAPSES = 4, GPUOPT__SIMPLEX_MOST_RELAPSES = 6 * GPUOPT__SIMPLEX_RELAPSES };

static double gpuopt__simplex_wider(const gpuopt_simplex *s) {
    static const double wider[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
    return wider[s->relapses / GPUOPT__SIMPLEX_RELAPSES];
}

/* Counts `by` relapses, and tells the log when the tolerance grows. */
static void gpuopt__simplex_relapse(gpuopt_simplex *s, int32_t by) {
    int32_t before = s->relapses;
    s->relapses = before + by < GPUOPT__SIMPLEX_MOST_RELAPSES ? before + by : GPUOPT__SIMPLEX_MOST_RELAPSES;
    if (s->relapses / GPUOPT__SIMPLEX_RELAPSES > before / GPUOPT__SIMPLEX_RELAPSES)
        gpuopt__log(s->context, 1, "simplex: the tolerances cannot be met here; they are %g times as large from now on",
                    gpuopt__simplex_wider(s));
}

static gpuopt__simplex_rules gpuopt__simplex_rules_now(const gpuopt_simplex *s) {
    /* Indexed by the escalation. Candidates that were banned because their pivots are too small are tried again with
     * smaller pivot tolerances. */
    static const double loosened[] = {1, 1, 1e-3, 1e-6};
    gpuopt__simplex_rules rules;
    double finer = s->stage == GPUOPT__SIMPLEX_STAGE_POLISH ? 1e-3 : 1;
    memset(&rules, 0, sizeof rules);
    rules.primal = s->desc.primal_tolerance * finer * gpuopt__simplex_wider(s);
    rules.dual = s->desc.dual_tolerance * finer * gpuopt__simplex_wider(s);
    rules.pivot = rules.pivot_relative = s->desc.pivot_tolerance * loosened[s->escalation];
    rules.zero = 1e-9; /* as HiGHS: its pivot tolerance after a fresh factorisation */
    rules.pricing = (int)s->desc.pricing;
    rules.harris = s->desc.primal_tolerance * finer;
    if (s->desc.ratio == GPUOPT_RATIO_TEXTBOOK) rules.harris = 0;
    if (s->desc.ratio == GPUOPT_RATIO_EXPAND) { /* from half of the tolerance to all of it in 10000 iterations */
        rules.expand = 0.5 * rules.harris / 10000;
        rules.harris = 0.5 * rules.harris + rules.expand * (s->since_refresh % 10000);
    }
    return rules;
}

#endif /* GPUOPT_IMPL_SIMPLEX_RULES_H */
