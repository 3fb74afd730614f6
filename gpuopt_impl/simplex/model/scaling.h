/* SPDX-License-Identifier: MIT
 *
 * Chooses the scales of a matrix: geometric scaling, then equilibration of the columns, rounded to powers of two. Both
 * backends share this arithmetic. Smallest and largest sizes do not depend on an order, and every operation is rounded
 * separately. So the CPU and the GPU choose bitwise equal scales.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_MODEL_SCALING_H
#define GPUOPT_IMPL_SIMPLEX_MODEL_SCALING_H

#include "../backend.h"

/* After six rounds the factors hardly change. Curtis and Reid's optimum is little better (Tomlin 1975). */
enum { GPUOPT__SIMPLEX_SCALE_ROUNDS = 6 };

/* Scales are chosen from all entries of a column, or from about SAMPLE evenly spaced ones if it has more. */
enum { GPUOPT__SIMPLEX_SAMPLE = 64 };

/* The distance between entries of the sample, and their number, for a column of this length. */
GPUOPT_HD int64_t gpuopt__simplex_sample_step(int64_t length) {
    int64_t step = length / GPUOPT__SIMPLEX_SAMPLE;
    return step > 1 ? step : 1;
}
GPUOPT_HD int64_t gpuopt__simplex_sample_size(int64_t length) {
    int64_t step = gpuopt__simplex_sample_step(length);
    return (length + step - 1) / step;
}

/* A function of its own, so that no compiler merges it with a root into one approximate operation. */
GPUOPT_HD double gpuopt__simplex_inverse(double x) {
#ifdef __CUDA_ARCH__
    return __ddiv_rn(1, x);
#else
    return 1 / x;
#endif
}

/* The factor of a line with this smallest and largest entry; scaled by it, they are each other's reciprocals. most: 0
 * for an empty line. A smallest entry below 1e-9 of the largest is taken as 1e-9 of it: a remainder of 1e-15 from two
 * numbers that should have cancelled must not matter. The factor is limited, so that no product with an entry is NaN
 * and the order of comparisons never matters. */
GPUOPT_HD double gpuopt__simplex_geometric(double least, double most) {
    if (most == 0) return 1;
    least = gpuopt__max(least, gpuopt__mul(0x1p-30, most));
    return gpuopt__min(gpuopt__max(gpuopt__simplex_inverse(sqrt(gpuopt__mul(least, most))), 0x1p-500), 0x1p500);
}

/* The factor that makes the largest entry 1. */
GPUOPT_HD double gpuopt__simplex_equilibrating(double most) { return most == 0 ? 1 : gpuopt__simplex_inverse(most); }

/* The power of two closest to x > 0 in ratio; infinite if x is not a normal number. */
GPUOPT_HD double gpuopt__simplex_power_of_two(double x) {
    const uint64_t fraction = 0x000FFFFFFFFFFFFFu, root_two = 0x0006A09E667F3BCDu; /* the fraction of sqrt(2) */
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits >> 52) - 1 >= 2046) return HUGE_VAL;
    bits = (bits & ~fraction) + ((bits & fraction) < root_two ? 0 : fraction + 1);
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Whether a number is 0 or has an exponent within -300 .. 300. Products then neither overflow nor lose digits as
 * subnormal numbers. */
GPUOPT_HD int gpuopt__simplex_moderate(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return ((uint32_t)(bits >> 52) & 0x7FF) - (1023 - 300) <= 600 || x == 0;
}

/* ---- On the CPU ---- */

/* The sample of every column: rows and sizes, one column after the other. */
typedef struct gpuopt__simplex_sample {
    int32_t *row;
    double *size;
} gpuopt__simplex_sample;

static inline void gpuopt__simplex_gather_sample(const gpuopt__simplex_lp *lp, const int64_t *col_start,
                                                 const int32_t *col_row, const double *col_val,
                                                 gpuopt__simplex_sample *sample) {
    int64_t e, step, to = 0;
    int32_t j;
    for (j = 0; j < lp->cols; j++) {
        step = gpuopt__simplex_sample_step(col_start[j + 1] - col_start[j]);
        for (e = col_start[j]; e < col_start[j + 1]; e += step, to++) {
            sample->row[to] = col_row[e];
            sample->size[to] = fabs(col_val[e]);
        }
    }
}

/* One half of a round. least, most [rows]: scratch. */
static inline void gpuopt__simplex_scale_rows(gpuopt__simplex_lp *lp, const int64_t *col_start,
                                              const gpuopt__simplex_sample *sample, double *least, double *most) {
    int64_t k = 0, end;
    int32_t i, j;
    for (i = 0; i < lp->rows; i++) least[i] = HUGE_VAL, most[i] = 0;
    for (j = 0; j < lp->cols; j++)
        for (end = k + gpuopt__simplex_sample_size(col_start[j + 1] - col_start[j]); k < end; k++) {
            double size = gpuopt__mul(sample->size[k], lp->col_scale[j]);
            i = sample->row[k];
            least[i] = gpuopt__min(least[i], size);
            most[i] = gpuopt__max(most[i], size);
        }
    for (i = 0; i < lp->rows; i++) lp->row_scale[i] = gpuopt__simplex_geometric(least[i], most[i]);
}

/* The other half; equilibrate: the last one. */
static inline void gpuopt__simplex_scale_cols(gpuopt__simplex_lp *lp, const int64_t *col_start,
                                              const gpuopt__simplex_sample *sample, int equilibrate) {
    int64_t k = 0, end;
    int32_t j;
    for (j = 0; j < lp->cols; j++) {
        double least = HUGE_VAL, most = 0;
        for (end = k + gpuopt__simplex_sample_size(col_start[j + 1] - col_start[j]); k < end; k++) {
            double size = gpuopt__mul(sample->size[k], lp->row_scale[sample->row[k]]);
            least = gpuopt__min(least, size);
            most = gpuopt__max(most, size);
        }
        lp->col_scale[j] = equilibrate ? gpuopt__simplex_equilibrating(most) : gpuopt__simplex_geometric(least, most);
    }
}

static inline void gpuopt__simplex_no_scales(gpuopt__simplex_lp *lp) {
    int32_t i, j;
    for (i = 0; i < lp->rows; i++) lp->row_scale[i] = 1;
    for (j = 0; j < lp->cols; j++) lp->col_scale[j] = 1;
}

static inline void gpuopt__simplex_choose_scales(gpuopt__simplex_lp *lp, const int64_t *col_start,
                                                 const gpuopt__simplex_sample *sample, double *least, double *most) {
    int32_t i, j, round;
    gpuopt__simplex_no_scales(lp);
    for (round = 0; round < GPUOPT__SIMPLEX_SCALE_ROUNDS; round++) {
        gpuopt__simplex_scale_rows(lp, col_start, sample, least, most);
        gpuopt__simplex_scale_cols(lp, col_start, sample, 0);
    }
    gpuopt__simplex_scale_cols(lp, col_start, sample, 1);
    for (i = 0; i < lp->rows; i++) lp->row_scale[i] = gpuopt__simplex_power_of_two(lp->row_scale[i]);
    for (j = 0; j < lp->cols; j++) lp->col_scale[j] = gpuopt__simplex_power_of_two(lp->col_scale[j]);
}

#endif /* GPUOPT_IMPL_SIMPLEX_MODEL_SCALING_H */
