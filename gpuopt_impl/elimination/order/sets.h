/* SPDX-License-Identifier: MIT
 *
 * Sets of small numbers as bits of 64-bit words, and logarithms to base 2 in whole numbers, for the search for an
 * order. With whole numbers, and doubles that are only multiplied, the search is the same on every machine.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_ORDER_SETS_H
#define GPUOPT_IMPL_ELIMINATION_ORDER_SETS_H

#include <stdint.h>
#include <math.h>

#include "../../common/numerics.h"

/* ---- Sets ---- */

static inline int gpuopt__elimination_set_has(const uint64_t *set, int32_t x) {
    return (int)(set[x >> 6] >> (x & 63) & 1);
}

static inline void gpuopt__elimination_set_add(uint64_t *set, int32_t x) { set[x >> 6] |= (uint64_t)1 << (x & 63); }

static inline void gpuopt__elimination_set_remove(uint64_t *set, int32_t x) {
    set[x >> 6] &= ~((uint64_t)1 << (x & 63));
}

/* How many bits of a word are set. */
static inline int32_t gpuopt__elimination_bits_in(uint64_t x) {
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    return (int32_t)(((x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56);
}

/* The number of the lowest bit that is set; x != 0. */
static inline int32_t gpuopt__elimination_lowest_bit(uint64_t x) {
    return gpuopt__elimination_bits_in((x & (0 - x)) - 1);
}

/* ---- Logarithms ---- */

/* Logarithms are multiples of 1 / UNIT. */
enum { GPUOPT__ELIMINATION_LOG_BITS = 10, GPUOPT__ELIMINATION_LOG_UNIT = 1 << GPUOPT__ELIMINATION_LOG_BITS };

/* log2 of x >= 1, rounded down; squaring the fraction yields its bits. Beyond every double: INT32_MAX / 4. */
static int32_t gpuopt__elimination_log2(double x) {
    int32_t whole = 0, k;
    if (!(x < HUGE_VAL)) return INT32_MAX / 4;
    for (; x >= 2; x *= 0.5) whole++;
    for (k = 0; k < GPUOPT__ELIMINATION_LOG_BITS; k++) {
        x *= x;
        whole *= 2;
        if (x >= 2) {
            x *= 0.5;
            whole++;
        }
    }
    return whole;
}

/* Tables of functions of such logarithms. */
enum { GPUOPT__ELIMINATION_LOG_STEPS = 1024, GPUOPT__ELIMINATION_LUCK_STEPS = 1024 };
typedef struct gpuopt__elimination_logs {
    double power[GPUOPT__ELIMINATION_LOG_UNIT];   /* 2^(k / UNIT) */
    int32_t sum[GPUOPT__ELIMINATION_LOG_STEPS];   /* log2(1 + 2^(-k / 64)) */
    int32_t luck[GPUOPT__ELIMINATION_LUCK_STEPS]; /* -ln((k + 1/2) / STEPS): exponentially distributed */
} gpuopt__elimination_logs;

static void gpuopt__elimination_logs_make(gpuopt__elimination_logs *logs) {
    double step = 2, shrink = 1;
    int32_t k;
    for (k = 0; k < GPUOPT__ELIMINATION_LOG_BITS; k++) step = sqrt(step);
    logs->power[0] = 1;
    for (k = 1; k < GPUOPT__ELIMINATION_LOG_UNIT; k++) logs->power[k] = logs->power[k - 1] * step;
    for (k = 0; k < GPUOPT__ELIMINATION_LOG_STEPS; k++) {
        logs->sum[k] = gpuopt__elimination_log2(1 + shrink);
        shrink /= logs->power[GPUOPT__ELIMINATION_LOG_UNIT / 64];
    }
    for (k = 0; k < GPUOPT__ELIMINATION_LUCK_STEPS; k++)
        logs->luck[k] = (int32_t)(0.6931471805599453 *
                                  gpuopt__elimination_log2((double)GPUOPT__ELIMINATION_LUCK_STEPS / (k + 0.5)));
}

/* log2(2^a + 2^b). */
static inline int32_t gpuopt__elimination_logs_add(const gpuopt__elimination_logs *logs, int32_t a, int32_t b) {
    int32_t more = a > b ? a : b, less = a > b ? b : a, k = (more - less) / (GPUOPT__ELIMINATION_LOG_UNIT / 64);
    return k < GPUOPT__ELIMINATION_LOG_STEPS ? more + logs->sum[k] : more;
}

/* 2^x, at most 2^1000. */
static inline double gpuopt__elimination_power_of_two(const gpuopt__elimination_logs *logs, int32_t x) {
    int32_t whole = x >> GPUOPT__ELIMINATION_LOG_BITS;
    return ldexp(logs->power[x & (GPUOPT__ELIMINATION_LOG_UNIT - 1)], whole < 1000 ? whole : 1000);
}

#endif /* GPUOPT_IMPL_ELIMINATION_ORDER_SETS_H */
