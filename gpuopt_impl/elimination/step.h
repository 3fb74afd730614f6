/* SPDX-License-Identifier: MIT
 *
 * Elimination: arithmetic that the CPU and the GPU share. Costs are unsigned, 0 is best, from `forbidden` on they are
 * forbidden; DOUBLE: as the host gave them, negated with MAX_SUM. Counts stay at 2^64 - 1 once they get there.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_STEP_H
#define GPUOPT_IMPL_ELIMINATION_STEP_H

#include "table.h"

/* a, b <= limit < 2^63. */
GPUOPT_HD uint64_t gpuopt__elimination_clamped_sum(uint64_t a, uint64_t b, uint64_t limit) {
    return a + b < limit ? a + b : limit;
}

GPUOPT_HD uint64_t gpuopt__elimination_saturated_sum(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

GPUOPT_HD uint64_t gpuopt__elimination_count_product(uint64_t a, uint64_t b) {
#ifdef __CUDA_ARCH__
    return __umul64hi(a, b) ? UINT64_MAX : a * b;
#else
    return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
#endif
}

/* ln of a running sum of exponentials: high + ln(sum), high the largest exponent so far; sum 0: none yet. */
typedef struct gpuopt__elimination_log_sum {
    double high, sum;
} gpuopt__elimination_log_sum;

GPUOPT_HD void gpuopt__elimination_log_sum_add(gpuopt__elimination_log_sum *s, double value) {
    if (value == -HUGE_VAL) return;
    if (s->sum == 0) s->high = value, s->sum = 1;
    else if (value <= s->high) s->sum = gpuopt__add(s->sum, exp(gpuopt__sub(value, s->high)));
    else {
        s->sum = gpuopt__add(gpuopt__mul(s->sum, exp(gpuopt__sub(s->high, value))), 1);
        s->high = value;
    }
}

GPUOPT_HD double gpuopt__elimination_log_sum_value(const gpuopt__elimination_log_sum *s) {
    return s->sum == 0 ? -HUGE_VAL : gpuopt__add(s->high, log(s->sum));
}

/* What forbids an assignment of DOUBLE costs. */
GPUOPT_HD double gpuopt__elimination_worst_value(gpuopt_elimination_semiring semiring) {
    return semiring == GPUOPT_SEMIRING_LOG_SUM_EXP ? -HUGE_VAL : HUGE_VAL;
}

/* Adds the result of a slice to the total of those before. */
GPUOPT_HD void gpuopt__elimination_add_slice(gpuopt_elimination_cost type, gpuopt_elimination_semiring semiring,
                                             gpuopt__elimination_total *all, const gpuopt__elimination_total *one) {
    if (semiring == GPUOPT_SEMIRING_LOG_SUM_EXP) {
        gpuopt__elimination_log_sum s = {all->value, all->value == -HUGE_VAL ? 0.0 : 1.0};
        gpuopt__elimination_log_sum_add(&s, one->value);
        all->value = gpuopt__elimination_log_sum_value(&s);
    } else if (type == GPUOPT_COST_DOUBLE ? one->value < all->value : one->cost < all->cost) *all = *one;
    else if (type == GPUOPT_COST_INT64 && one->cost == all->cost)
        all->count = gpuopt__elimination_saturated_sum(all->count, one->count);
}

/* Entry of a table for an assignment of all its variables, of a copy. */
GPUOPT_HD int64_t gpuopt__elimination_table_entry(const gpuopt__elimination_table *t, const int32_t *scope,
                                                  const int64_t *stride, const int32_t *value, int32_t copy) {
    int64_t at = t->at + (t->source == -1 ? 0 : copy * t->entries);
    int32_t k;
    for (k = 0; k < t->arity; k++) at += value[scope[t->scope + k]] * stride[t->scope + k];
    return at;
}

/* A stored cost, whatever its width. */
GPUOPT_HD uint64_t gpuopt__elimination_stored_cost(const void *store, int32_t bits, int64_t at) {
    return bits == 8    ? ((const uint8_t *)store)[at]
           : bits == 16 ? ((const uint16_t *)store)[at]
           : bits == 32 ? ((const uint32_t *)store)[at]
                        : ((const uint64_t *)store)[at];
}

#endif /* GPUOPT_IMPL_ELIMINATION_STEP_H */
