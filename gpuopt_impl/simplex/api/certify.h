/* SPDX-License-Identifier: MIT
 *
 * The calls for bounds on the objective, and for the verdict on a given basis.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_API_CERTIFY_H
#define GPUOPT_IMPL_SIMPLEX_API_CERTIFY_H

#include "handle.h"

static gpuopt_status gpuopt__simplex_set_cutoff(gpuopt_simplex *s, const char *call, double cutoff) {
    double scaled;
    if (cutoff != cutoff) return gpuopt__refuse(s->context, GPUOPT_ERROR_ARGUMENT, call, "cutoff is NaN");
    scaled = (cutoff - s->desc.offset) * (s->cost_scale * s->primal_scale);
    s->dual_method.limit = cutoff;
    s->dual_method.cutoff = s->desc.maximize ? -scaled : scaled;
    s->dual_method.short_of = 0;
    if (s->verdict == GPUOPT_CUTOFF) s->verdict = GPUOPT_MORE;
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_simplex_set_cutoff(gpuopt_simplex *simplex, double cutoff) {
    GPUOPT__SIMPLEX_CALL(gpuopt__simplex_set_cutoff(simplex, call, cutoff),
                         gpuopt__simplex_array_fingerprint(GPUOPT_HOST, &cutoff, 1, sizeof(cutoff)));
}

static gpuopt_status gpuopt__simplex_get_bound(gpuopt_simplex *simplex, const char *call, double *bound) {
    double found = 0;
    gpuopt_status status;
    if (!bound) return gpuopt__refuse(simplex->context, GPUOPT_ERROR_ARGUMENT, call, "bound is NULL");
    if (simplex->verdict == GPUOPT_INFEASIBLE || simplex->crossing >= 0) {
        *bound = simplex->desc.maximize ? -HUGE_VAL : HUGE_VAL;
        return GPUOPT_OK;
    }
    status = gpuopt__simplex_pull(simplex);
    if (!status) status = gpuopt__simplex_caller_bound(simplex, &found);
    if (!status) *bound = found;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_simplex_get_bound(gpuopt_simplex *simplex, double *bound) {
    GPUOPT__SIMPLEX_CALL(gpuopt__simplex_get_bound(simplex, call, bound), bound != NULL);
}

/* ---- Certifying ---- */

/* Looks for a proof in the rows of basic variables outside their bounds, if the duals of phase 1 are not a proof. */
static gpuopt_status gpuopt__simplex_certify_infeasible(gpuopt_simplex *s) {
    double tolerance = gpuopt__simplex_rules_now(s).primal;
    int32_t i;
    int proven;
    gpuopt_status status = gpuopt__simplex_prove_infeasible(s, &proven);
    for (i = 0; i < s->lp.rows && !status && !proven; i++) {
        int outside = gpuopt__simplex_infeasible(s->v.xb[i], s->v.lb[i], s->v.ub[i], tolerance);
        if (!outside) continue;
        status = gpuopt__simplex_prove_by_row(s, i, outside, &proven);
    }
    if (!status && proven && s->found.primal_reached > s->desc.primal_tolerance) s->verdict = GPUOPT_INFEASIBLE;
    return status;
}

/* Looks for a ray among the variables that could improve a feasible point. */
static gpuopt_status gpuopt__simplex_certify_unbounded(gpuopt_simplex *s) {
    double tolerance = gpuopt__simplex_rules_now(s).dual;
    int32_t j;
    int proven;
    gpuopt_status status = GPUOPT_OK;
    for (j = 0; j < s->lp.cols && !status && s->verdict == GPUOPT_MORE; j++) {
        gpuopt__simplex_extended c = {j, -1, s->v.d[j] < 0 ? 1 : -1, 0, 0};
        if (gpuopt__simplex_score(s->v.d[j], 1, s->v.state[j] & 3, tolerance) == 0) continue;
        status = gpuopt__simplex_extended_column(s, &c);
        if (status || c.step < HUGE_VAL) continue;
        status = gpuopt__simplex_prove_unbounded(s, j, c.direction, &proven);
        if (!status && proven && s->found.primal_reached <= s->desc.primal_tolerance) s->verdict = GPUOPT_UNBOUNDED;
    }
    return status;
}

static gpuopt_status gpuopt__simplex_certify(gpuopt_simplex *s) {
    int is = 0;
    gpuopt_status status;
    if (s->crossing >= 0) return gpuopt__simplex_conclude_crossing(s);
    status = gpuopt__simplex_pull(s);
    gpuopt__simplex_enter_exact(s);
    s->verdict = GPUOPT_MORE;
    if (!status) status = gpuopt__simplex_rebuild_to(s, GPUOPT__SIMPLEX_TWICE);
    if (status) return status;
    if (s->phase == 1) return gpuopt__simplex_certify_infeasible(s);
    status = gpuopt__simplex_is_optimal(s, &is);
    if (is) s->verdict = GPUOPT_OPTIMAL;
    return status || is ? status : gpuopt__simplex_certify_unbounded(s);
}

static gpuopt_status gpuopt__simplex_verify_basis(gpuopt_simplex *simplex, const char *call,
                                                  gpuopt_simplex_info *info) {
    gpuopt_status status = gpuopt__simplex_check_info(simplex, call, info);
    if (status) return status;
    return gpuopt__simplex_finish(simplex, gpuopt__simplex_certify(simplex), info);
}

GPUOPT_API gpuopt_status gpuopt_simplex_verify_basis(gpuopt_simplex *simplex, gpuopt_simplex_info *info) {
    GPUOPT__SIMPLEX_CALL(gpuopt__simplex_verify_basis(simplex, call, info), gpuopt__simplex_info_fingerprint(info));
}

#endif /* GPUOPT_IMPL_SIMPLEX_API_CERTIFY_H */
