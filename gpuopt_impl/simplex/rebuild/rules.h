/* SPDX-License-Identifier: MIT
 *
 * Bounds and tolerances of the simplex method at its present stage.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_REBUILD_RULES_H
#define GPUOPT_IMPL_SIMPLEX_REBUILD_RULES_H

#include "../model/handle.h"

/* ---- Stages ---- */

/* Perturbation relaxes the bounds of variables that are not fixed, by 1 to 2 millionths. Ties become unlikely, and so
 * does stalling, while an optimal basis mostly stays optimal. A column with crossing bounds is fixed at its lower
 * bound. Nothing is iterated then, but the point stays well defined.
 *
 * REFINED is the iterative refinement of linear programs (Gleixner, Steffy, Wolter 2016). The method continues from the
 * optimal basis on another program. Its variables are distances from the present point, which is known in twice the
 * working precision. The bounds of that program are small numbers, so tolerances can be small. For the engine it is a
 * thousandth of the caller's, and for the final iterations in extended precision the rounding of the point. The paper
 * magnifies the program; in floating point smaller tolerances suffice. */
static void gpuopt__simplex_work_bounds(gpuopt_simplex *s, int32_t variable) {
    double l = s->lower[variable], u = s->upper[variable];
    if (s->dual_method.boxing) {
        int below = l > -HUGE_VAL, above = u < HUGE_VAL;
        s->work_lower[variable] = below ? 0 : above ? -1 : -1000;
        s->work_upper[variable] = above ? 0 : below ? 1 : 1000;
        return;
    }
    if (l > u) u = l;
    if (s->stage == GPUOPT__SIMPLEX_STAGE_PERTURBED && l < u) {
        uint64_t k = 2 * (uint64_t)variable, seed = s->desc.seed + (uint64_t)s->cycle.found;
        l -= 1e-6 * (1 + gpuopt__random(seed, k)) * gpuopt__max(1, fabs(l));
        u += 1e-6 * (1 + gpuopt__random(seed, k + 1)) * gpuopt__max(1, fabs(u));
    }
    s->work_lower[variable] = l;
    s->work_upper[variable] = u;
}

/* GPUOPT_DEBUG: notes a transition that is not in the table of control/loop.h. Here are its rows, by stage; a letter is
 * a stage's initial, and X is EXTENDED. */
static void gpuopt__simplex_note_transition(gpuopt_simplex *s, gpuopt__simplex_stage to) {
#ifdef GPUOPT_DEBUG
    static const char *const followers[] = {"NE", "NPE", "NPER", "NEXFU", "NEFU", "NPE", "NPE"};
    if (!strchr(followers[s->stage], "NPERXFU"[to])) s->misstep = 1;
#else
    (void)s, (void)to;
#endif
}

static void gpuopt__simplex_enter_stage(gpuopt_simplex *s, gpuopt__simplex_stage stage) {
    int32_t j, both = s->lp.rows + s->lp.cols;
    gpuopt__simplex_note_transition(s, stage);
    s->stage = stage;
    gpuopt__simplex_mark_stale(s);
    s->escalation = 0;
    s->relapses = stage >= GPUOPT__SIMPLEX_STAGE_FINAL ? s->relapses : 0;
    for (j = 0; j < both; j++) gpuopt__simplex_work_bounds(s, j);
    if (stage == GPUOPT__SIMPLEX_STAGE_REFINED) s->refining.end = s->iterations + 100 + s->lp.rows / 2;
}

/* Back to the true bounds. */
static void gpuopt__simplex_enter_exact(gpuopt_simplex *s) {
    gpuopt__simplex_enter_stage(s, s->stage == GPUOPT__SIMPLEX_STAGE_NEW ? s->stage : GPUOPT__SIMPLEX_STAGE_EXACT);
}

/* The stage whose program and tolerances the present one has. */
static gpuopt__simplex_stage gpuopt__simplex_program(const gpuopt_simplex *s) {
    return s->stage == GPUOPT__SIMPLEX_STAGE_NEW         ? GPUOPT__SIMPLEX_STAGE_EXACT
           : s->stage == GPUOPT__SIMPLEX_STAGE_EXTENDED  ? GPUOPT__SIMPLEX_STAGE_REFINED
           : s->stage == GPUOPT__SIMPLEX_STAGE_UNREFINED ? GPUOPT__SIMPLEX_STAGE_FINAL
                                                         : s->stage;
}

static int gpuopt__simplex_is_refined(const gpuopt_simplex *s) {
    return gpuopt__simplex_program(s) == GPUOPT__SIMPLEX_STAGE_REFINED;
}

/* The tolerance of REFINED for a solution with the rounding `noise`. */
static double gpuopt__simplex_fine(double tolerance, double noise) {
    return gpuopt__min(tolerance, gpuopt__max(0x1p-60 * tolerance, 8 * noise));
}

/* The ratio test lets a bound be violated by its tolerance. When the bound is restored, basic variables may move by
 * more, and the method could alternate between the two phases for ever. So at every fourth relapse the tolerance of
 * feasibility grows tenfold, to at most 1e6 times the caller's. The tolerance of the ratio test stays. */
enum { GPUOPT__SIMPLEX_RELAPSES = 4, GPUOPT__SIMPLEX_MOST_RELAPSES = 6 * GPUOPT__SIMPLEX_RELAPSES };

static double gpuopt__simplex_wider(const gpuopt_simplex *s) {
    static const double wider[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
    return wider[s->relapses / GPUOPT__SIMPLEX_RELAPSES];
}

/* Counts `by` relapses, and logs when the tolerance grows. */
static void gpuopt__simplex_relapse(gpuopt_simplex *s, int32_t by) {
    int32_t before = s->relapses;
    s->relapses = before + by < GPUOPT__SIMPLEX_MOST_RELAPSES ? before + by : GPUOPT__SIMPLEX_MOST_RELAPSES;
    if (s->relapses / GPUOPT__SIMPLEX_RELAPSES > before / GPUOPT__SIMPLEX_RELAPSES)
        gpuopt__log(s->context, 1, "simplex: the tolerances cannot be met here; they are %g times as large from now on",
                    gpuopt__simplex_wider(s));
}

static gpuopt__simplex_rules gpuopt__simplex_rules_now(const gpuopt_simplex *s) {
    /* Indexed by the escalation. Candidates banned for small pivots are tried again with smaller pivot tolerances. */
    static const double loosened[] = {1, 1, 1e-3, 1e-6};
    int refined = gpuopt__simplex_is_refined(s), fine = s->stage == GPUOPT__SIMPLEX_STAGE_EXTENDED;
    double finer = refined ? 1e-3 : gpuopt__simplex_wider(s);
    gpuopt__simplex_rules rules;
    memset(&rules, 0, sizeof rules);
    rules.primal = fine ? s->refining.primal : s->desc.primal_tolerance * finer;
    rules.dual = fine ? s->refining.dual : s->desc.dual_tolerance * finer;
    /* The caller's tolerance may be far smaller in scaled numbers. */
    if (refined && !fine)
        rules.dual = gpuopt__min(rules.dual, gpuopt__max(1e-17, 0.5 * s->desc.dual_tolerance * s->refining.least_unit));
    rules.pivot = rules.pivot_relative = s->desc.pivot_tolerance * loosened[s->escalation];
    rules.zero = 1e-9; /* as HiGHS: its pivot tolerance after a fresh factorisation */
    rules.pricing = (int)s->desc.pricing;
    rules.harris = s->desc.primal_tolerance * (refined ? 1e-3 : 1);
    if (s->desc.ratio == GPUOPT_RATIO_TEXTBOOK) rules.harris = 0;
    if (s->desc.ratio == GPUOPT_RATIO_EXPAND) { /* from half of the tolerance to the whole in 10000 iterations */
        rules.expand = 0.5 * rules.harris / 10000;
        rules.harris = 0.5 * rules.harris + rules.expand * (s->since_rebuild % 10000);
    }
    return rules;
}

/* ---- Cycles ----
 * The method does not return to a basis from which it has made progress. If two rebuilds in the same stage find the
 * same basis, with iterations in between, it cycles. The cause is degeneracy, or rounding that repeatedly makes a basis
 * singular until it is repaired. The basis is compared with the basis of one earlier rebuild, which is replaced when
 * the number of rebuilds has doubled. So a cycle of any length is found (Brent 1980). */

static uint64_t gpuopt__simplex_state(const gpuopt_simplex *s) {
    uint64_t state = 0xCBF29CE484222325u;
    int32_t k, both = s->lp.rows + s->lp.cols;
    const int32_t more[] = {(int32_t)gpuopt__simplex_program(s), s->phase, s->relapses, s->escalation, s->cycle.found};
    for (k = 0; k < 5; k++) state = (state ^ (uint64_t)more[k]) * 0x100000001B3u;
    for (k = 0; k < both; k++) state = (state ^ s->status[k]) * 0x100000001B3u;
    return state;
}

/* Called after each rebuild. Whether the method was in this state before. */
static int gpuopt__simplex_was_here(gpuopt_simplex *s) {
    uint64_t state = gpuopt__simplex_state(s);
    int was = s->cycle.at > 0 && state == s->cycle.state && s->iterations > s->cycle.iterations;
    if (s->rebuilds < s->cycle.next && !was) return 0;
    s->cycle.state = state;
    s->cycle.iterations = s->iterations;
    s->cycle.at = s->rebuilds;
    s->cycle.next = 2 * s->rebuilds;
    return was;
}

#endif /* GPUOPT_IMPL_SIMPLEX_REBUILD_RULES_H */
