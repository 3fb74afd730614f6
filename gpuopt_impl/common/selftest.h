/* SPDX-License-Identifier: MIT
 *
 * Tests the assumptions that the proofs make about this build's arithmetic. Some compiler options change it and define
 * no macro that numerics.h could refuse. So opening a context tests the functions that the kernels use, in a file
 * compiled with the same options. Operands go through volatile variables, so that the compiler computes nothing.
 */
#ifndef GPUOPT_IMPL_SELFTEST_H
#define GPUOPT_IMPL_SELFTEST_H

#include <stddef.h>

#include "numerics.h"

static inline double gpuopt__opaque(double x) {
    volatile double same = x;
    return same;
}

/* A product and a sum are rounded one after the other, in any notation. Each expression has separate operands, because
 * a compiler does not fuse a product that is used twice. */
static inline int gpuopt__selftest_contracts(void) {
    double x[7], square = gpuopt__opaque(1 + 0x1p-29), sum[4];
    int k;
    for (k = 0; k < 7; k++) x[k] = gpuopt__opaque(1 + 0x1p-30);
    for (k = 0; k < 4; k++) sum[k] = gpuopt__opaque(-square);
    for (k = 0; k < 4; k++) sum[k] += x[k] * x[k];
    for (k = 0; k < 4; k++)
        if (sum[k] != 0) return 1;
    return gpuopt__add(gpuopt__mul(x[4], x[4]), -square) != 0 || gpuopt__sub(square, gpuopt__mul(x[5], x[5])) != 0 ||
           x[6] * x[6] - square != 0;
}

/* Sums are evaluated in the order of the source, and their errors are exact. */
static inline int gpuopt__selftest_reassociates(void) {
    double one = gpuopt__opaque(1), tiny = gpuopt__opaque(0x1p-60), hi = 0, lo = 0, error, other, sum = 0, part[64];
    int k;
    for (k = 0; k < 64; k++) part[k] = gpuopt__opaque(k == 0 ? 1 : 0x1p-53);
    for (k = 0; k < 64; k++) sum += part[k];
    if (sum != 1 || gpuopt__two_sum(one, tiny, &error) != 1 || error != tiny) return 1;
    if (gpuopt__two_sum(tiny, one, &other) != 1 || other != tiny) return 1;
    gpuopt__accumulate(&hi, &lo, one, tiny);
    gpuopt__accumulate(&hi, &lo, tiny, 0);
    gpuopt__accumulate(&hi, &lo, -one, 0);
    return hi + lo != 0x1p-59;
}

static inline int gpuopt__selftest_loses_product_errors(void) {
    double x = gpuopt__opaque(1 + 0x1p-30), y = gpuopt__opaque(3);
    return gpuopt__mul_error(x, x, gpuopt__mul(x, x)) != 0x1p-60 || gpuopt__mul_error(y, y, gpuopt__mul(y, y)) != 0;
}

/* x / 49 is not x * (1 / 49). */
static inline int gpuopt__selftest_multiplies_by_reciprocals(void) {
    double by = gpuopt__opaque(49), a = gpuopt__opaque(49), b = gpuopt__opaque(98), c = gpuopt__opaque(49 * 49),
           d = gpuopt__opaque(49 * 13);
    return a / by != 1 || b / by != 2 || c / by != 49 || d / by != 13;
}

/* In 64 bits of precision, 2^-53 (1 + 2^-13) is first rounded to half of a unit in the last place of 1. */
static inline int gpuopt__selftest_rounds_twice(void) {
    return gpuopt__add(gpuopt__opaque(1), gpuopt__opaque(0x1.0008p-53)) != 1 + 0x1p-52;
}

static inline int gpuopt__selftest_rounds_elsewhere(void) {
    double one = gpuopt__opaque(1), tiny = gpuopt__opaque(0x1p-60);
    return gpuopt__add(one, tiny) != 1 || gpuopt__sub(one, tiny) != 1;
}

static inline int gpuopt__selftest_flushes(void) {
    double least = gpuopt__opaque(DBL_MIN), subnormal = gpuopt__opaque(0x1p-1074);
    return gpuopt__mul(least, gpuopt__opaque(0.5)) != 0x1p-1023 || gpuopt__mul(subnormal, gpuopt__opaque(2)) == 0;
}

static inline int gpuopt__selftest_denies_infinity(void) {
    double infinite = gpuopt__opaque(HUGE_VAL), nan = gpuopt__sub(infinite, infinite);
    return fabs(infinite) < HUGE_VAL || !(infinite > DBL_MAX) || nan == nan || nan < infinite;
}

/* NULL, or the failure and the compiler option that probably caused it. */
static inline const char *gpuopt__selftest(void) {
    if (gpuopt__selftest_rounds_twice())
        return "results have excess precision and are rounded twice (on 32-bit x86: -msse2 -mfpmath=sse)";
    if (gpuopt__selftest_rounds_elsewhere()) return "results are not rounded to nearest";
    if (gpuopt__selftest_denies_infinity())
        return "infinities and NaN are assumed not to exist (-ffinite-math-only, in -Ofast and -ffast-math)";
    if (gpuopt__selftest_reassociates())
        return "sums are reordered (-fassociative-math, in -funsafe-math-optimizations, -Ofast and -ffast-math)";
    if (gpuopt__selftest_contracts())
        return "products and sums are fused (-ffp-contract=fast with -mfma or -march=...; "
               "-ffp-contract=on or off is fine)";
    if (gpuopt__selftest_loses_product_errors()) return "fma() does not give the error of a product";
    if (gpuopt__selftest_multiplies_by_reciprocals())
        return "divisions become products (-freciprocal-math, in -funsafe-math-optimizations, -Ofast and -ffast-math)";
    if (gpuopt__selftest_flushes()) return "subnormal numbers are flushed to zero";
    return NULL;
}

#endif /* GPUOPT_IMPL_SELFTEST_H */
