/* SPDX-License-Identifier: MIT
 *
 * Floating-point arithmetic that gives the same bits in C and in CUDA. Every operation is rounded on its own: no
 * contraction into fused multiply-adds, no extended precision. Sums of products are taken in twice the working
 * precision (Ogita, Rump, Oishi: Accurate Sum and Dot Product, SIAM J. Sci. Comput. 26(6), 2005).
 */
#ifndef GPUOPT_IMPL_NUMERICS_H
#define GPUOPT_IMPL_NUMERICS_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* What a compiler does not tell is found by selftest.h. */
#if defined(__FAST_MATH__) || defined(_M_FP_FAST)
#error "gpuopt needs IEEE arithmetic: compile it without -ffast-math (MSVC: without /fp:fast)"
#elif defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)
#error "gpuopt needs IEEE arithmetic: compile it without -Ofast, -funsafe-math-optimizations and what they contain"
#elif defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "gpuopt needs infinities: compile it without -ffinite-math-only"
#endif
/* 16: only _Float16 is evaluated in a type of its own. */
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error "gpuopt needs double arithmetic without excess precision (32-bit x86: -msse2 -mfpmath=sse; s390x: not -std=cNN)"
#endif

#ifdef __CUDACC__
#define GPUOPT_HD __host__ __device__ __forceinline__
#elif defined(__GNUC__)
#define GPUOPT_HD static inline __attribute__((always_inline))
#else
#define GPUOPT_HD static inline
#endif

#ifdef __CUDA_ARCH__
GPUOPT_HD double gpuopt__add(double a, double b) { return __dadd_rn(a, b); }
GPUOPT_HD double gpuopt__sub(double a, double b) { return __dsub_rn(a, b); }
GPUOPT_HD double gpuopt__mul(double a, double b) { return __dmul_rn(a, b); }
#else /* contraction is switched off around the implementation, see all.h */
GPUOPT_HD double gpuopt__add(double a, double b) { return a + b; }
GPUOPT_HD double gpuopt__sub(double a, double b) { return a - b; }
GPUOPT_HD double gpuopt__mul(double a, double b) { return a * b; }
#endif

/* Unlike fmin and fmax of libm these do not order NaN and zeros, which nothing here needs; each is one instruction. */
GPUOPT_HD double gpuopt__min(double a, double b) { return a < b ? a : b; }
GPUOPT_HD double gpuopt__max(double a, double b) { return a > b ? a : b; }

/* The error of p = a * b rounded: a * b - p, exact barring underflow. */
GPUOPT_HD double gpuopt__mul_error(double a, double b, double p) {
#if !defined(__CUDA_ARCH__) && !defined(__FMA__) && !defined(__aarch64__)
    /* fma() is then a call. Single-precision factors have an exact product, and most models hold nothing else. */
    if ((double)(float)a == a && (double)(float)b == b) return 0;
#endif
    return fma(a, b, -p);
}

/* x + y = the return value + *error, exactly (Knuth). */
GPUOPT_HD double gpuopt__two_sum(double x, double y, double *error) {
    double s = gpuopt__add(x, y);
    double t = gpuopt__sub(s, x);
    *error = gpuopt__add(gpuopt__sub(x, gpuopt__sub(s, t)), gpuopt__sub(y, t));
    return s;
}

/* Adds value + low to the unevaluated sum *hi + *lo. */
GPUOPT_HD void gpuopt__accumulate(double *hi, double *lo, double value, double low) {
    double error;
    *hi = gpuopt__two_sum(*hi, value, &error);
    *lo = gpuopt__add(*lo, gpuopt__add(error, low));
}

/* ---- Rounding outwards, by software: the rounding mode stays to nearest ---- */

/* The least double above a finite x. */
GPUOPT_HD double gpuopt__next_up(double x) {
    int64_t bits;
    if (x == 0) return 0x1p-1074;
    memcpy(&bits, &x, sizeof bits);
    bits += bits < 0 ? -1 : 1;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

/* high - quotient * c, exact barring underflow, where quotient is high / c rounded. */
GPUOPT_HD double gpuopt__remainder(double high, double quotient, double c) {
#if !defined(__CUDA_ARCH__) && !defined(__FMA__) && !defined(__aarch64__)
    if (c == 1 || ((double)(float)quotient == quotient && (double)(float)c == c))
        return gpuopt__sub(high, gpuopt__mul(quotient, c));
#endif
    return -fma(quotient, c, -high);
}

/* Not below (high + low + e) / c for any |e| <= doubt, where c > 0 and high = high + low rounded; quotient: high / c
 * rounded. If doubt is 0, this is the exact quotient if that is a double, else one that exceeds it by less than two units
 * in the last place. */
GPUOPT_HD double gpuopt__quotient_up(double high, double low, double doubt, double c, double quotient) {
    double error, rest = gpuopt__two_sum(gpuopt__remainder(high, quotient, c), low, &error), step;
    if (!(fabs(high) > 0x1p-960 && fabs(quotient) > 0x1p-960) && high != 0)
        doubt = gpuopt__add(doubt, 0x1p-1060); /* the remainder may have underflowed */
    if (error != 0 || doubt > 0) {
        double more = gpuopt__add(fabs(error), doubt);
        rest = gpuopt__add(gpuopt__add(rest, more), gpuopt__mul(0x1p-51, gpuopt__add(fabs(rest), more)));
    }
    step = gpuopt__next_up(quotient) - quotient; /* exact. What is left of the numerator is at most the rest: */
    if (rest < gpuopt__mul(gpuopt__mul(step, c), 1 - 0x1p-50)) return gpuopt__add(quotient, rest > 0 ? step : 0);
    step = gpuopt__add(gpuopt__mul(rest / c, 1 + 0x1p-50), 0x1p-1072);
    return gpuopt__next_up(gpuopt__add(quotient, step));
}

/* In [0, 1), from the seed and k (splitmix64). */
static inline double gpuopt__random(uint64_t seed, uint64_t k) {
    uint64_t z = (seed + k + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

#endif /* GPUOPT_IMPL_NUMERICS_H */
