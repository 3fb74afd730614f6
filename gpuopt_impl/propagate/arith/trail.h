/* SPDX-License-Identifier: MIT
 *
 * Propagation in a tree search: the trail, and the reasons of its changes. Both backends use this code; the CUDA
 * backend first copies the necessary data to host memory.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_ARITH_TRAIL_H
#define GPUOPT_IMPL_PROPAGATE_ARITH_TRAIL_H

#include "../../common/checks.h"
#include "row.h"

/* A change in the trail. `side` is the number of a bound: 2 * col, plus 1 for ub. */
typedef struct gpuopt__propagator_change {
    double old_bound, new_bound;
    uint32_t side;
    int32_t row;      /* the row that implies it, or one of the following */
    int32_t previous; /* position of the bound's previous change; -1: none */
    int32_t seen;     /* the row has seen the changes at positions below this */
} gpuopt__propagator_change;
enum { GPUOPT__PROPAGATOR_HOST = -1, GPUOPT__PROPAGATOR_HOST_OF_FIXED = -2 /* the column was fixed before */ };

/* A level: the data that _pop restores besides the bounds. */
typedef struct gpuopt__propagator_level {
    int32_t start, due_start; /* start of its entries in the trail, and in due */
    int32_t infeasible_row, infeasible_col;
    int32_t all_marked;
    int64_t rounds_since_set;
} gpuopt__propagator_level;

/* ---- Changes ---- */

/* Writes the changes of a trail [count] from position `from` on to the caller's arrays. */
static inline gpuopt_status gpuopt__propagator_write_changes(const gpuopt_context *context,
                                                             const gpuopt__propagator_change *trail, int32_t count,
                                                             int64_t from, gpuopt_propagator_changes *changes) {
    int64_t k;
    if (from > count)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, "gpuopt_propagator_get_changes",
                              "from is beyond the end of the trail");
    changes->count = count - from;
    for (k = 0; k < changes->count && k < changes->capacity; k++) {
        const gpuopt__propagator_change *c = &trail[from + k];
        if (changes->col) changes->col[k] = (int32_t)(c->side >> 1);
        if (changes->upper) changes->upper[k] = c->side & 1;
        if (changes->old_bound) changes->old_bound[k] = c->old_bound;
        if (changes->new_bound) changes->new_bound[k] = c->new_bound;
        if (changes->row) changes->row[k] = c->row >= 0 ? c->row : -1;
    }
    return GPUOPT_OK;
}

/* ---- Reasons ---- */

/* The data for an explanation. */
typedef struct gpuopt__propagator_evidence gpuopt__propagator_evidence;
struct gpuopt__propagator_evidence {
    const gpuopt_context *context;
    const gpuopt__propagator_change *trail;
    int32_t changes;
    const int32_t *last;                    /* [2 cols]: position of a bound's latest change, or -1 */
    int32_t infeasible_row, infeasible_col; /* -1: none */
    /* Fills in the following members for a row of the explanation. */
    gpuopt_status (*open_row)(gpuopt__propagator_evidence *, int32_t row);
    void *owner;         /* the owner of these data, for open_row */
    int32_t altered;     /* changes at positions below this may come from an earlier row of this number */
    const int32_t *col;  /* [length] */
    const void *val;     /* [length] */
    const void *bounds;  /* [cols][2], at least for the row's columns: the present bounds */
    const uint8_t *kind; /* [cols], likewise */
    int single;          /* val and bounds are float, not double */
    int64_t length;
    double lhs, rhs;
};

/* A number of an array with the storage type of the row's values. */
static inline double gpuopt__propagator_evidence_at(const gpuopt__propagator_evidence *e, const void *array,
                                                    int64_t at) {
    return e->single ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

/* A bound of an entry's column, as a row saw it: the latest of the changes at positions below `seen`. */
typedef struct gpuopt__propagator_seen {
    double bound, first; /* at that time, and at level 0 */
    int32_t at;          /* position of the change; -1: there was none */
} gpuopt__propagator_seen;

static inline gpuopt__propagator_seen gpuopt__propagator_seen_by(const gpuopt__propagator_evidence *e, uint32_t side,
                                                                 int32_t seen) {
    gpuopt__propagator_seen result;
    int32_t at = e->last[side];
    result.bound = gpuopt__propagator_evidence_at(e, e->bounds, side);
    for (; at >= seen; at = e->trail[at].previous) result.bound = e->trail[at].old_bound;
    result.at = at;
    result.first = result.bound;
    for (; at >= 0; at = e->trail[at].previous) result.first = e->trail[at].old_bound;
    return result;
}

/* Explains the value of sum s of the row (0: the rhs limits it; 1: the lhs, negated), without the term of column `but`
 * (-1: none). */
typedef struct gpuopt__propagator_why {
    int32_t but, seen;
    int s;
    double spare; /* the value may be less by this much; below 0: it is too small already */
} gpuopt__propagator_why;

/* The coefficient of entry k in sum s. *side: the bound of the entry's column that the sum takes. */
static inline double gpuopt__propagator_why_term(const gpuopt__propagator_evidence *e,
                                                 const gpuopt__propagator_why *why, int64_t k, uint32_t *side) {
    double a = gpuopt__propagator_evidence_at(e, e->val, k), c = why->s ? -a : a;
    *side = 2 * (uint32_t)e->col[k] + (c < 0);
    return c;
}

/* The excess of the sum over `needed`, rounded down. */
static inline double gpuopt__propagator_why_spare(const gpuopt__propagator_evidence *e,
                                                  const gpuopt__propagator_why *why, double needed, double needed_low) {
    double hi = 0, lo = 0, size = fabs(needed), spare;
    int64_t k;
    for (k = 0; k < e->length; k++) {
        uint32_t side;
        double c = gpuopt__propagator_why_term(e, why, k, &side), bound, term;
        if ((int32_t)(side >> 1) == why->but) continue;
        bound = gpuopt__propagator_seen_by(e, side, why->seen).bound;
        term = gpuopt__mul(c, bound);
        if (!(fabs(term) < HUGE_VAL)) return -HUGE_VAL;
        size += fabs(term);
        gpuopt__accumulate(&hi, &lo, term, gpuopt__mul_error(c, bound, term));
    }
    gpuopt__accumulate(&hi, &lo, -needed, -needed_low);
    spare = gpuopt__add(hi, lo);
    return spare - (fabs(spare) * 0x1p-50 + (double)(e->length + 8) * 0x1p-98 * size + 0x1p-1000);
}

/* Counts the premises and, if all of them fit, writes them. */
static inline void gpuopt__propagator_why_premises(const gpuopt__propagator_evidence *e, gpuopt__propagator_why why,
                                                   gpuopt_propagator_reason *reason) {
    int64_t k;
    for (k = 0; k < e->length; k++) {
        uint32_t side;
        double c = gpuopt__propagator_why_term(e, &why, k, &side), loss;
        gpuopt__propagator_seen seen;
        if ((int32_t)(side >> 1) == why.but) continue;
        seen = gpuopt__propagator_seen_by(e, side, why.seen);
        if (seen.at < 0) continue;
        loss = gpuopt__mul(c, gpuopt__sub(seen.bound, seen.first)) * (1 + 0x1p-50) + 0x1p-1000; /* rounded up */
        if (c > 0 ? seen.bound <= seen.first : seen.bound >= seen.first) continue;
        if (loss < why.spare) {
            why.spare = (why.spare - loss) * (1 - 0x1p-50);
            continue;
        }
        if (reason->premises && reason->count < reason->capacity) reason->premises[reason->count] = seen.at;
        reason->count++;
    }
}

/* Puts positions into ascending order. */
static inline void gpuopt__propagator_sort_positions(int64_t *position, int64_t count) {
    int64_t root, end, k;
    for (root = count / 2, end = count; end > 1;) { /* a heap of the first `end` */
        int64_t value;
        if (root > 0) value = position[--root];
        else value = position[--end], position[end] = position[0];
        for (k = root; 2 * k + 1 < end;) {
            int64_t child = 2 * k + 1;
            if (child + 1 < end && position[child + 1] > position[child]) child++;
            if (position[child] <= value) break;
            position[k] = position[child];
            k = child;
        }
        position[k] = value;
    }
}

static inline gpuopt_status gpuopt__propagator_explain_change(gpuopt__propagator_evidence *e, int32_t at,
                                                              gpuopt_propagator_reason *reason) {
    const gpuopt__propagator_change *c = &e->trail[at];
    int upper = (int)(c->side & 1);
    double v = c->new_bound, a, product;
    gpuopt__propagator_why why;
    gpuopt_status status;
    uint32_t side;
    int64_t k;
    reason->col = (int32_t)(c->side >> 1);
    reason->row = c->row >= 0 ? c->row : -1;
    if (c->row < 0) return GPUOPT_OK;
    status = e->open_row(e, c->row);
    if (status) return status;
    if (at < e->altered)
        return gpuopt__refuse(e->context, GPUOPT_ERROR_STATE, "gpuopt_propagator_explain",
                              "the row was changed or removed since");
    why.but = reason->col;
    why.seen = c->seen;
    why.s = 0;
    for (k = 0; a = gpuopt__propagator_why_term(e, &why, k, &side), (int32_t)(side >> 1) != why.but; k++) {}
    if ((a > 0) != upper) why.s = 1, a = -a; /* in the sum, c x <= side - the rest gives an upper bound if c > 0 */
    if (e->kind[why.but] & GPUOPT__PROPAGATOR_INTEGER) v = gpuopt__add(v, upper ? 1 : -1);
    product = gpuopt__mul(a, v); /* needed: the rest above (integer) or at least (continuous) side - a v */
    {
        double low, high = gpuopt__two_sum(why.s ? -e->lhs : e->rhs, -product, &low);
        why.spare = gpuopt__propagator_why_spare(e, &why, high, gpuopt__sub(low, gpuopt__mul_error(a, v, product)));
    }
    gpuopt__propagator_why_premises(e, why, reason);
    return GPUOPT_OK;
}

static inline gpuopt_status gpuopt__propagator_explain_row(gpuopt__propagator_evidence *e,
                                                           gpuopt_propagator_reason *reason) {
    gpuopt__propagator_why why[2];
    gpuopt_status status = e->open_row(e, e->infeasible_row);
    int s;
    if (status) return status;
    reason->row = e->infeasible_row;
    for (s = 0; s < 2; s++) {
        double side = s ? -e->lhs : e->rhs;
        why[s].but = -1;
        why[s].seen = e->changes;
        why[s].s = s;
        why[s].spare = side < HUGE_VAL ? gpuopt__propagator_why_spare(e, &why[s], side, 0) : -HUGE_VAL;
    }
    gpuopt__propagator_why_premises(e, why[why[1].spare > why[0].spare], reason);
    return GPUOPT_OK;
}

static inline void gpuopt__propagator_explain_column(const gpuopt__propagator_evidence *e,
                                                     gpuopt_propagator_reason *reason) {
    uint32_t upper;
    reason->col = e->infeasible_col;
    for (upper = 0; upper < 2; upper++) {
        int32_t at = e->last[2 * (uint32_t)reason->col + upper];
        if (at < 0) continue;
        if (reason->premises && reason->count < reason->capacity) reason->premises[reason->count] = at;
        reason->count++;
    }
}

/* Explains a change or, if -1, the present infeasibility. */
static inline gpuopt_status gpuopt__propagator_explain(gpuopt__propagator_evidence *e, int64_t change,
                                                       gpuopt_propagator_reason *reason) {
    gpuopt_status status = GPUOPT_OK;
    reason->count = 0;
    reason->row = reason->col = -1;
    if (change >= e->changes)
        return gpuopt__refuse(e->context, GPUOPT_ERROR_ARGUMENT, "gpuopt_propagator_explain",
                              "there is no such change");
    if (change < 0 && e->infeasible_row < 0 && e->infeasible_col < 0)
        return gpuopt__refuse(e->context, GPUOPT_ERROR_STATE, "gpuopt_propagator_explain",
                              "nothing has proven infeasibility");
    if (change >= 0) status = gpuopt__propagator_explain_change(e, (int32_t)change, reason);
    else if (e->infeasible_row >= 0) status = gpuopt__propagator_explain_row(e, reason);
    else gpuopt__propagator_explain_column(e, reason);
    if (!status && reason->premises && reason->count <= reason->capacity)
        gpuopt__propagator_sort_positions(reason->premises, reason->count);
    return status;
}

#endif /* GPUOPT_IMPL_PROPAGATE_ARITH_TRAIL_H */
