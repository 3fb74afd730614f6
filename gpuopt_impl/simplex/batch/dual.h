/* SPDX-License-Identifier: MIT
 *
 * Batches of small linear programs: one iteration of the dual simplex method on the tableau. It replaces phase 1 as
 * long as it makes progress.
 *
 * It uses its own reduced costs, `price`, which always have the right sign. Where the true reduced cost, `d`, has the
 * wrong sign, a variable with two bounds is moved to the other bound; any other variable gets a modified cost. Phase 2
 * corrects what this leaves. The ratio test passes break points (Maros 2003), and devex weights choose the row.
 *
 * Until the next rebuild three arrays are scratch, by slots:
 *
 *     z      the step to the break point; later how far the variable flips
 *     low    how much the flip takes off the slope; later the next price
 *     point  a list of slots, and a bit for each slot
 */
#ifndef GPUOPT_IMPL_SIMPLEX_BATCH_DUAL_H
#define GPUOPT_IMPL_SIMPLEX_BATCH_DUAL_H

#include "step.h"

/* A slope is counted in this many units, whole numbers: sums of 8,192 of them are exact, in any order. */
#define GPUOPT__SIMPLEX_BATCH_SLOPE 0x1p38

enum {
    GPUOPT__SIMPLEX_BATCH_WAVER = 10,  /* iterations without a step until prices are perturbed */
    GPUOPT__SIMPLEX_BATCH_POINTS = 512 /* above this many candidate break points, the first one is taken */
};

/* Whether a price has the wrong sign for a variable with this state by more than the tolerance. */
GPUOPT__SIMPLEX_BATCH int gpuopt__simplex_batch_wrong_price(double price, int state, double tolerance) {
    return (state & GPUOPT__SIMPLEX_MAY_INCREASE && price < -tolerance) ||
           (state & GPUOPT__SIMPLEX_MAY_DECREASE && price > tolerance);
}

/* In `point`: the slots with candidate break points, in any order, and bits of the slots that flip. */
GPUOPT__SIMPLEX_BATCH int32_t *gpuopt__simplex_batch_list(const gpuopt__simplex_batch_work *w) {
    return (int32_t *)(void *)w->point;
}
GPUOPT__SIMPLEX_BATCH uint32_t *gpuopt__simplex_batch_flipping(const gpuopt__simplex_batch_work *w) {
    return (uint32_t *)(void *)w->point + w->cols;
}
/* A barrier must follow. */
GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_clear_lists(const gpuopt__simplex_batch_work *w) {
    int32_t j;
    if (GPUOPT__SIMPLEX_BATCH_ONCE) *w->listed = 0;
    GPUOPT__SIMPLEX_BATCH_EACH(j, (w->cols + 31) / 32) gpuopt__simplex_batch_flipping(w)[j] = 0;
}

/* Moves the variable in slot j to its other bound, if it has both and `wanted`; z: distance. Returns whether it did. */
GPUOPT__SIMPLEX_BATCH int gpuopt__simplex_batch_flip_slot(const gpuopt__simplex_batch_work *w, int32_t j, int wanted) {
    const double range = gpuopt__sub(w->un[j], w->ln[j]);
    const int up = w->state[j] & GPUOPT__SIMPLEX_MAY_INCREASE, flips = wanted && range < HUGE_VAL;
    if (!flips) return 0;
    w->z[j] = up ? range : -range;
    gpuopt__simplex_batch_set_bits(&gpuopt__simplex_batch_flipping(w)[j / 32], (uint32_t)1 << j % 32);
    w->xn[j] = up ? w->un[j] : w->ln[j];
    w->state[j] = (uint8_t)(up ? GPUOPT__SIMPLEX_MAY_DECREASE : GPUOPT__SIMPLEX_MAY_INCREASE);
    return 1;
}

/* Moves the basic variables by the flips in z. Sets published[0] to the value at position p. */
GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_follow_flips(const gpuopt__simplex_batch_work *w, int32_t p) {
    const uint32_t *const flipping = gpuopt__simplex_batch_flipping(w);
    const int32_t words = (w->cols + 31) / 32;
    int32_t i, e;
    GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows) {
        const double *const line = w->table + (int64_t)i * w->pitch;
        double x = w->xb[i];
        for (e = 0; e < words; e++) {
            uint32_t left = flipping[e];
            for (; left; left &= left - 1) {
                const int32_t j = 32 * e + gpuopt__simplex_batch_lowest(left);
                x = gpuopt__sub(x, gpuopt__mul(line[j], w->z[j]));
            }
        }
        w->xb[i] = x;
        if (i == p) w->published[0] = x;
    }
    gpuopt__simplex_batch_sync();
}

/* Sets prices of the right sign and weights of 1. Returns whether some basic variable is outside its bounds. */
GPUOPT__SIMPLEX_BATCH_LARGE int gpuopt__simplex_batch_begin_dual(const gpuopt__simplex_batch_set *set,
                                                                 const gpuopt__simplex_batch_work *w) {
    const double dual = gpuopt__simplex_batch_within(set->dual);
    int flips = 0, outside = 0;
    int32_t i, j;
    gpuopt__simplex_batch_sync();
    gpuopt__simplex_batch_clear_lists(w);
    gpuopt__simplex_batch_sync();
    GPUOPT__SIMPLEX_BATCH_EACH(j, w->cols) {
        const double tolerance = gpuopt__mul(dual, w->unit_dual[w->slot[j]]);
        flips |=
            gpuopt__simplex_batch_flip_slot(w, j, gpuopt__simplex_batch_wrong_price(w->d[j], w->state[j], tolerance));
        w->price[j] = gpuopt__simplex_batch_wrong_price(w->d[j], w->state[j], 0) ? 0 : w->d[j];
    }
    GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows) w->y_low[i] = 1;
    if (gpuopt__simplex_batch_any(flips)) gpuopt__simplex_batch_follow_flips(w, -1);
    GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows) outside |= gpuopt__simplex_batch_sign(set, w, i);
    return gpuopt__simplex_batch_any(outside);
}

/* Moves prices away from 0 at random, by 1 to 2 millionths of max(1, |price|). */
GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_perturb_prices(const gpuopt__simplex_batch_work *w, int32_t level) {
    int32_t j;
    GPUOPT__SIMPLEX_BATCH_EACH(j, w->cols) {
        const double by = gpuopt__mul(1e-6 * (1 + gpuopt__random((uint64_t)level << 32, (uint64_t)w->slot[j])),
                                      gpuopt__max(1, fabs(w->price[j])));
        const int state = w->state[j] & 3;
        if (state == GPUOPT__SIMPLEX_MAY_INCREASE) w->price[j] = gpuopt__add(w->price[j], by);
        if (state == GPUOPT__SIMPLEX_MAY_DECREASE) w->price[j] = gpuopt__sub(w->price[j], by);
    }
    gpuopt__simplex_batch_sync();
}

/* The position of the leaving variable. */
GPUOPT__SIMPLEX_BATCH int32_t gpuopt__simplex_batch_leaving(const gpuopt__simplex_batch_work *w) {
    gpuopt__simplex_batch_best best = {0, -1};
    int32_t i;
    gpuopt__simplex_batch_clear_lists(w);
    GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows) {
        const double by = w->sign[i] < 0 ? gpuopt__sub(w->lb[i], w->xb[i]) : gpuopt__sub(w->xb[i], w->ub[i]);
        if (w->sign[i] != 0) gpuopt__simplex_batch_better(&best, gpuopt__mul(by, by) / w->y_low[i], i);
    }
    return gpuopt__simplex_batch_best_of(w->exchange, 0, best).index;
}

/* Whether break point a is reached before break point b. */
GPUOPT__SIMPLEX_BATCH int gpuopt__simplex_batch_before(const gpuopt__simplex_batch_work *w, int32_t a, int32_t b) {
    return w->z[a] != w->z[b] ? w->z[a] < w->z[b] : a < b;
}

/* The slot of the entering variable for the leaving position p. -1: none can enter; -2: no pivot is large enough. */
GPUOPT__SIMPLEX_BATCH int32_t gpuopt__simplex_batch_dual_ratio_test(const gpuopt__simplex_batch_set *set,
                                                                    const gpuopt__simplex_batch_work *w, int32_t p) {
    const double *const line = w->table + (int64_t)p * w->pitch;
    const double sign = w->sign[p], tolerance = gpuopt__simplex_batch_within(set->dual);
    const double outside = sign < 0 ? gpuopt__sub(w->lb[p], w->xb[p]) : gpuopt__sub(w->xb[p], w->ub[p]);
    const double unit = GPUOPT__SIMPLEX_BATCH_SLOPE / outside;
    gpuopt__simplex_batch_best first = {0, -1}, cross = {0, -1}, best = {0, -1};
    int32_t *const list = gpuopt__simplex_batch_list(w);
    int32_t count, e, f, j;
    double last, at;
    GPUOPT__SIMPLEX_BATCH_EACH(j, w->cols) {
        const double a = line[j], g = sign < 0 ? a : -a;
        double units;
        w->z[j] = HUGE_VAL;
        if (!(w->state[j] & (g < 0 ? GPUOPT__SIMPLEX_MAY_INCREASE : GPUOPT__SIMPLEX_MAY_DECREASE)) || !(fabs(g) > 1e-9))
            continue;
        w->z[j] = fabs(w->price[j]) / fabs(g);
        units = gpuopt__mul(gpuopt__mul(fabs(g), gpuopt__sub(w->un[j], w->ln[j])), unit);
        if (units < GPUOPT__SIMPLEX_BATCH_SLOPE) w->low[j] = (double)(int64_t)units;
        else {
            w->low[j] = GPUOPT__SIMPLEX_BATCH_SLOPE;
            gpuopt__simplex_batch_better(&first, -(gpuopt__add(fabs(w->price[j]), tolerance) / fabs(g)), j);
        }
    }
    first = gpuopt__simplex_batch_best_of(w->exchange, 1, first);
    last = first.index < 0 ? DBL_MAX : -first.key;
    GPUOPT__SIMPLEX_BATCH_EACH(j, w->cols)
    if (w->z[j] <= last) list[gpuopt__simplex_batch_take_place(w->listed)] = j;
    gpuopt__simplex_batch_sync();
    count = *w->listed;
    GPUOPT__SIMPLEX_BATCH_EACH(e, count) {
        j = list[e];
        if (count > GPUOPT__SIMPLEX_BATCH_POINTS) gpuopt__simplex_batch_better(&cross, -w->z[j], j); /* the first one */
        else {
            const double z = w->z[j];
            double sum = 0;
            for (f = 0; f < count; f++) {
                const double other = w->z[list[f]];
                if (other < z || (other == z && list[f] < j)) sum += w->low[list[f]];
            }
            if (sum < GPUOPT__SIMPLEX_BATCH_SLOPE && sum + w->low[j] >= GPUOPT__SIMPLEX_BATCH_SLOPE) cross.index = j;
        }
    }
    cross = gpuopt__simplex_batch_best_of(w->exchange, 2, cross);
    if (cross.index < 0) return -1;
    at = gpuopt__add(w->z[cross.index], tolerance / fabs(line[cross.index]));
    GPUOPT__SIMPLEX_BATCH_EACH(e, count) {
        double size;
        j = list[e];
        size = fabs(line[j]);
        if (!(w->z[j] <= at) || !(size >= set->pivot)) continue;
        if (size >= 1e-4 && !gpuopt__simplex_batch_before(w, j, cross.index)) size = gpuopt__add(1, size);
        else size = size / gpuopt__add(1, size);
        gpuopt__simplex_batch_better(&best, size, j);
    }
    best = gpuopt__simplex_batch_best_of(w->exchange, 3, best);
    return best.index < 0 ? -2 : best.index;
}

/* Pivots: the variable in position p leaves, the variable in slot q enters. Returns whether some basic variable is
 * outside its bounds afterwards. *step: step of the prices. */
GPUOPT__SIMPLEX_BATCH int gpuopt__simplex_batch_dual_pivot(const gpuopt__simplex_batch_set *set,
                                                           const gpuopt__simplex_batch_work *w, int32_t p, int32_t q,
                                                           double *step) {
    const int32_t rows = w->rows, cols = w->cols, leaving = w->head[p], entering = w->slot[q];
    const double *const line = w->table + (int64_t)p * w->pitch;
    const double pivot = line[q], price = w->price[q], reduced = w->d[q], weight = w->y_low[p];
    const double entering_x = w->xn[q], entering_l = w->ln[q], entering_u = w->un[q];
    const int to_upper = w->sign[p] > 0, worn = gpuopt__simplex_devex_worn(weight);
    double x = w->xb[p], l = w->lb[p], u = w->ub[p], move;
    int flips = 0, outside = 0;
    int32_t i, j;
    GPUOPT__SIMPLEX_BATCH_EACH(i, rows) w->alpha[i] = w->table[(int64_t)i * w->pitch + q];
    GPUOPT__SIMPLEX_BATCH_EACH(j, cols) {
        const double row = (j == q ? 1 : line[j]) / pivot;
        double next = gpuopt__sub(j == q ? 0 : w->price[j], gpuopt__mul(price, row));
        w->row[j] = row;
        if (j == q) next = to_upper ? gpuopt__min(next, 0) : gpuopt__max(next, 0); /* the leaving variable's */
        else {
            flips |= gpuopt__simplex_batch_flip_slot(w, j, gpuopt__simplex_batch_wrong_price(next, w->state[j], 0));
            if (gpuopt__simplex_batch_wrong_price(next, w->state[j], 0)) next = 0;
        }
        w->low[j] = next;
    }
    if (gpuopt__simplex_batch_any(flips)) {
        gpuopt__simplex_batch_follow_flips(w, p);
        x = w->published[0];
    }
    gpuopt__simplex_batch_update_table(w, p, q, reduced);
    move = gpuopt__sub(x, to_upper ? u : l) / pivot;
    x = to_upper ? u : l;
    GPUOPT__SIMPLEX_BATCH_EACH(j, cols) w->price[j] = w->low[j];
    GPUOPT__SIMPLEX_BATCH_EACH(i, rows) {
        if (i == p) {
            w->state[q] = (uint8_t)gpuopt__simplex_make_nonbasic(to_upper, &x, &l, &u);
            w->xn[q] = x, w->ln[q] = l, w->un[q] = u;
            w->slot[q] = leaving;
            w->head[p] = entering;
            w->xb[p] = gpuopt__add(entering_x, move), w->lb[p] = entering_l, w->ub[p] = entering_u;
            w->y_low[p] = worn ? 1 : gpuopt__max(1, weight / gpuopt__mul(pivot, pivot));
        } else {
            w->xb[i] = gpuopt__sub(w->xb[i], gpuopt__mul(w->alpha[i], move));
            w->y_low[i] = worn ? 1 : gpuopt__simplex_devex(w->y_low[i], w->alpha[i] / pivot, weight);
        }
        outside |= gpuopt__simplex_batch_sign(set, w, i);
    }
    *step = fabs(price / pivot);
    return gpuopt__simplex_batch_any(outside);
}

#endif /* GPUOPT_IMPL_SIMPLEX_BATCH_DUAL_H */
