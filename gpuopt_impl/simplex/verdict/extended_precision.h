/* SPDX-License-Identifier: MIT
 *
 * Iterations for ill-conditioned bases, in the stage REFINED. They solve for the pivot column in twice the working
 * precision, and invert the basis again. A small entry then has all its digits, while the engine's would be rounding.
 * One such iteration costs as much as a refactoring.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_VERDICT_EXTENDED_PRECISION_H
#define GPUOPT_IMPL_SIMPLEX_VERDICT_EXTENDED_PRECISION_H

#include "proof.h"

typedef struct gpuopt__simplex_extended {
    int32_t slot, position; /* entering; leaving, -1: none */
    int direction, to_upper;
    double step; /* infinite: nothing blocks */
} gpuopt__simplex_extended;

/* The most such iterations: as many as cost about 2^31 operations, or 0 if these are few. Bases of up to 162 rows get
 * EXTENDED_ALL, which is enough to end. */
enum { GPUOPT__SIMPLEX_EXTENDED_ALL = 500 };

static int32_t gpuopt__simplex_extended_most(const gpuopt_simplex *s) {
    double rows = s->lp.rows, most = gpuopt__min(GPUOPT__SIMPLEX_EXTENDED_ALL, 0x1p31 / (rows * rows * rows + 1));
    return most < 10 ? 0 : (int32_t)most;
}

/* The slot of the best candidate to enter; -1: none. */
static int32_t gpuopt__simplex_extended_best(const gpuopt_simplex *s) {
    const gpuopt__simplex_vectors *v = &s->v;
    double best = 0;
    int32_t j, slot = -1;
    for (j = 0; j < s->lp.cols; j++) {
        double score = gpuopt__simplex_score(v->d[j], 1, v->state[j], s->refining.dual);
        if (score > best) best = score, slot = j;
    }
    return slot;
}

/* Whether iterations in extended precision cannot improve the point: it is optimal except for its own rounding. */
static int gpuopt__simplex_is_exact(const gpuopt_simplex *s) {
    const gpuopt__simplex_vectors *v = &s->v;
    int32_t i;
    for (i = 0; i < s->lp.rows; i++)
        if (gpuopt__simplex_infeasible(v->xb[i], v->lb[i], v->ub[i], s->refining.primal)) return 0;
    return gpuopt__simplex_extended_best(s) < 0;
}

/* Chooses the entering variable, and bans it for the next call. Returns 0 if there is none. */
static int gpuopt__simplex_extended_price(gpuopt_simplex *s, gpuopt__simplex_extended *c) {
    int32_t slot = gpuopt__simplex_extended_best(s);
    if (slot < 0) return 0;
    c->slot = slot;
    c->direction = s->v.d[slot] < 0 ? 1 : -1;
    s->v.state[slot] |= GPUOPT__SIMPLEX_BANNED;
    return 1;
}

/* The textbook ratio test. move [cols + rows]: direction of each basic variable, accurate to `noise`. Among steps that
 * differ by less than the tolerance the larger pivot wins. */
static void gpuopt__simplex_extended_ratio(const gpuopt_simplex *s, const double *move, double noise,
                                           gpuopt__simplex_extended *c) {
    const gpuopt__simplex_vectors *v = &s->v;
    gpuopt__simplex_rules rules = gpuopt__simplex_rules_now(s);
    double size = 0;
    int32_t i;
    rules.zero = 8 * noise;
    c->position = -1;
    c->step = v->un[c->slot] - v->ln[c->slot];
    for (i = 0; i < s->lp.rows; i++) {
        double a = -move[v->head[i]], bound = gpuopt__simplex_blocking_bound(v->xb[i], v->lb[i], v->ub[i], a, &rules),
               step, tie;
        if (!(fabs(bound) < HUGE_VAL)) continue;
        step = gpuopt__max(0, (v->xb[i] - bound) / a);
        tie = rules.primal / gpuopt__max(fabs(a), size);
        if (step > c->step + tie || (step > c->step - tie && c->position >= 0 && fabs(a) <= size)) continue;
        size = fabs(a);
        c->step = step;
        c->position = i;
        c->to_upper = bound == v->ub[i] && (v->lb[i] != v->ub[i] || a < 0);
    }
}

/* Exchanges two variables in status, or flips one. The basis must then be inverted. */
static void gpuopt__simplex_extended_exchange(gpuopt_simplex *s, const gpuopt__simplex_extended *c) {
    int32_t entering = s->v.slot[c->slot];
    s->iterations++;
    if (c->position >= 0) {
        s->status[entering] = GPUOPT_VARIABLE_BASIC;
        s->status[s->v.head[c->position]] =
            (uint8_t)(c->to_upper ? GPUOPT_VARIABLE_AT_UPPER : GPUOPT_VARIABLE_AT_LOWER);
        s->stale = GPUOPT__SIMPLEX_STALE_INVERSE;
    } else {
        s->status[entering] = (uint8_t)(c->direction > 0 ? GPUOPT_VARIABLE_AT_UPPER : GPUOPT_VARIABLE_AT_LOWER);
        s->flips++;
        s->stale = GPUOPT__SIMPLEX_STALE_POINT;
    }
}

/* The ratio test for the entering variable and direction in c. Solves for its column in twice the precision. */
static gpuopt_status gpuopt__simplex_extended_column(gpuopt_simplex *s, gpuopt__simplex_extended *c) {
    size_t bytes = sizeof(double) * ((size_t)s->lp.rows + (size_t)s->lp.cols);
    double *move = s->scratch, *low = s->scratch_low, noise;
    int good;
    gpuopt_status status;
    memset(move, 0, bytes);
    memset(low, 0, bytes);
    move[s->v.slot[c->slot]] = c->direction;
    status = gpuopt__simplex_solve_x(s, move, low, 1, &good, &noise);
    if (!status) gpuopt__simplex_extended_ratio(s, move, noise, c);
    return status;
}

/* One iteration, right after a rebuild. *done: 1: made; 0: no candidate; -1: no other variable stopped any candidate,
 * and c is one of them. */
static gpuopt_status gpuopt__simplex_extended_iteration(gpuopt_simplex *s, gpuopt__simplex_extended *c, int *done) {
    *done = 0;
    while (*done < 1 && gpuopt__simplex_extended_price(s, c)) {
        gpuopt_status status = gpuopt__simplex_extended_column(s, c);
        if (status) return status;
        *done = c->step < HUGE_VAL ? 1 : -1;
    }
    if (*done > 0) gpuopt__simplex_extended_exchange(s, c);
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_SIMPLEX_VERDICT_EXTENDED_PRECISION_H */
