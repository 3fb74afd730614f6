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

/* selftest.h tests properties that no macro of the compiler reports. */
#if defined(__FAST_MATH__) || defined(_M_FP_FAST)
#error "gpuopt needs IEEE arithmetic: compile it without -ffast-math (MSVC: without /fp:fast)"
#elif defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)
#error "gpuopt needs IEEE arithmetic: compile it without -Ofast, -funsafe-math-optimizations and what they contain"
#elif defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "gpuopt needs infinities: compile it without -ffinite-math-only"
#endif
/* 16: the compiler evaluates only _Float16 in its own type. */
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

/* Unlike fmin and fmax of libm these define no order of NaN and signed zeros; nothing here needs one. Each is one
 * instruction. */
GPUOPT_HD double gpuopt__min(double a, double b) { return a < b ? a : b; }
GPUOPT_HD double gpuopt__max(double a, double b) { return a > b ? a : b; }

/* Whether fma() is a function call and x is a single-precision number. The product of two such numbers is exact, and
 * most models contain only these. */
GPUOPT_HD int gpuopt__is_short(double x) {
#if !defined(__CUDA_ARCH__) && !defined(__FMA__) && !defined(__aarch64__)
    return (double)(float)x == x;
#else
    (void)x;
    return 0;
#endif
}

/* The error of p = a * b rounded: a * b - p, exact barring underflow. */
GPUOPT_HD double gpuopt__mul_error(double a, double b, double p) {
    return gpuopt__is_short(a) && gpuopt__is_short(b) ? 0 : fma(a, b, -p);
}

/* x + y = the return value + *error, exactly (Knuth). */
GPUOPT_HD double gpuopt__two_sum(double x, double y, double *error) {
    double s = gpuopt__add(x, y);
    double t = gpuopt__sub(s, x);
    *error = gpuopt__add(gpuopt__sub(x, gpuopt__sub(s, t)), gpuopt__sub(y, t));
    return s;
}

/* ---- Pairs of numbers, in one register where the machine has registers for two ---- */

#if defined(__GNUC__) && defined(__SSE2__) && !defined(__CUDACC__)
typedef double gpuopt__pair __attribute__((vector_size(16)));
typedef long long gpuopt__pair_count __attribute__((vector_size(16)));

GPUOPT_HD gpuopt__pair gpuopt__pair_of(double first, double second) {
    gpuopt__pair p = {first, second};
    return p;
}
GPUOPT_HD double gpuopt__first(gpuopt__pair p) { return p[0]; }
GPUOPT_HD double gpuopt__second(gpuopt__pair p) { return p[1]; }
GPUOPT_HD gpuopt__pair gpuopt__pair_add(gpuopt__pair x, gpuopt__pair y) { return x + y; }
GPUOPT_HD gpuopt__pair gpuopt__pair_sub(gpuopt__pair x, gpuopt__pair y) { return x - y; }
GPUOPT_HD gpuopt__pair gpuopt__pair_mul(gpuopt__pair x, gpuopt__pair y) { return x * y; }
GPUOPT_HD gpuopt__pair gpuopt__pair_abs(gpuopt__pair p) {
    gpuopt__pair_count mask = {INT64_MAX, INT64_MAX};
    return (gpuopt__pair)((gpuopt__pair_count)p & mask);
}
GPUOPT_HD gpuopt__pair_count gpuopt__pair_count_of(int first, int second) {
    gpuopt__pair_count n = {first, second};
    return n;
}
GPUOPT_HD int gpuopt__first_count(gpuopt__pair_count n) { return (int)n[0]; }
GPUOPT_HD int gpuopt__second_count(gpuopt__pair_count n) { return (int)n[1]; }
GPUOPT_HD gpuopt__pair_count gpuopt__pair_count_add(gpuopt__pair_count m, gpuopt__pair_count n) { return m + n; }
/* -1 for each number of size `limit` or more, else 0; replaces these numbers by 0. */
GPUOPT_HD gpuopt__pair_count gpuopt__pair_beyond(gpuopt__pair p, double limit) {
    gpuopt__pair limits = {limit, limit};
    return ~(gpuopt__pair_count)(gpuopt__pair_abs(p) < limits);
}
GPUOPT_HD gpuopt__pair gpuopt__pair_unless(gpuopt__pair_count beyond, gpuopt__pair p) {
    return (gpuopt__pair)(~beyond & (gpuopt__pair_count)p);
}
/* The pair, swapped if sign < 0; without a branch, since signs are hard to predict. */
GPUOPT_HD gpuopt__pair gpuopt__pair_by_sign(double sign, gpuopt__pair p) {
    gpuopt__pair signs = {sign, sign}, zero = {0, 0}, other = {p[1], p[0]};
    gpuopt__pair_count both = (gpuopt__pair_count)p ^ (gpuopt__pair_count)other;
    return (gpuopt__pair)((gpuopt__pair_count)p ^ (both & (gpuopt__pair_count)(signs < zero)));
}
#else
typedef struct gpuopt__pair {
    double first, second;
} gpuopt__pair;
typedef struct gpuopt__pair_count {
    int first, second;
} gpuopt__pair_count;

GPUOPT_HD gpuopt__pair gpuopt__pair_of(double first, double second) {
    gpuopt__pair p;
    p.first = first;
    p.second = second;
    return p;
}
GPUOPT_HD double gpuopt__first(gpuopt__pair p) { return p.first; }
GPUOPT_HD double gpuopt__second(gpuopt__pair p) { return p.second; }
GPUOPT_HD gpuopt__pair gpuopt__pair_add(gpuopt__pair x, gpuopt__pair y) {
    return gpuopt__pair_of(gpuopt__add(x.first, y.first), gpuopt__add(x.second, y.second));
}
GPUOPT_HD gpuopt__pair gpuopt__pair_sub(gpuopt__pair x, gpuopt__pair y) {
    return gpuopt__pair_of(gpuopt__sub(x.first, y.first), gpuopt__sub(x.second, y.second));
}
GPUOPT_HD gpuopt__pair gpuopt__pair_mul(gpuopt__pair x, gpuopt__pair y) {
    return gpuopt__pair_of(gpuopt__mul(x.first, y.first), gpuopt__mul(x.second, y.second));
}
GPUOPT_HD gpuopt__pair gpuopt__pair_abs(gpuopt__pair p) { return gpuopt__pair_of(fabs(p.first), fabs(p.second)); }
GPUOPT_HD gpuopt__pair_count gpuopt__pair_count_of(int first, int second) {
    gpuopt__pair_count n;
    n.first = first;
    n.second = second;
    return n;
}
GPUOPT_HD int gpuopt__first_count(gpuopt__pair_count n) { return n.first; }
GPUOPT_HD int gpuopt__second_count(gpuopt__pair_count n) { return n.second; }
GPUOPT_HD gpuopt__pair_count gpuopt__pair_count_add(gpuopt__pair_count m, gpuopt__pair_count n) {
    return gpuopt__pair_count_of(m.first + n.first, m.second + n.second);
}
GPUOPT_HD gpuopt__pair_count gpuopt__pair_beyond(gpuopt__pair p, double limit) {
    return gpuopt__pair_count_of(fabs(p.first) < limit ? 0 : -1, fabs(p.second) < limit ? 0 : -1);
}
GPUOPT_HD gpuopt__pair gpuopt__pair_unless(gpuopt__pair_count beyond, gpuopt__pair p) {
    return gpuopt__pair_of(beyond.first ? 0 : p.first, beyond.second ? 0 : p.second);
}
GPUOPT_HD gpuopt__pair gpuopt__pair_by_sign(double sign, gpuopt__pair p) {
    return sign < 0 ? gpuopt__pair_of(p.second, p.first) : p;
}
#endif

GPUOPT_HD gpuopt__pair gpuopt__pair_two_sum(gpuopt__pair x, gpuopt__pair y, gpuopt__pair *error) {
    gpuopt__pair s = gpuopt__pair_add(x, y), t = gpuopt__pair_sub(s, x);
    *error = gpuopt__pair_add(gpuopt__pair_sub(x, gpuopt__pair_sub(s, t)), gpuopt__pair_sub(y, t));
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
    if (gpuopt__is_short(c) && (c == 1 || gpuopt__is_short(quotient)))
        return gpuopt__sub(high, gpuopt__mul(quotient, c));
    return -fma(quotient, c, -high);
}

/* Not below (high + low + e) / c for any |e| <= error_bound, where c > 0 and high = high + low rounded; quotient: high
 * / c rounded. If error_bound is 0, this is the exact quotient if that is a double, else one that exceeds it by less
 * than two units in the last place. */
GPUOPT_HD double gpuopt__quotient_up(double high, double low, double error_bound, double c, double quotient) {
    double error, rest = gpuopt__two_sum(gpuopt__remainder(high, quotient, c), low, &error), step;
    if (!(fabs(high) > 0x1p-960 && fabs(quotient) > 0x1p-960) && high != 0)
        error_bound = gpuopt__add(error_bound, 0x1p-1060); /* the remainder may have underflowed */
    if (error != 0 || error_bound > 0) {
        double more = gpuopt__add(fabs(error), error_bound);
        rest = gpuopt__add(gpuopt__add(rest, more), gpuopt__mul(0x1p-51, gpuopt__add(fabs(rest), more)));
    }
    if (rest <= 0) return quotient;              /* the rest of the numerator is at most `rest` */
    step = gpuopt__next_up(quotient) - quotient; /* exact */
    if (rest < gpuopt__mul(gpuopt__mul(step, c), 1 - 0x1p-50)) return gpuopt__add(quotient, step);
    step = gpuopt__add(gpuopt__mul(rest / c, 1 + 0x1p-50), 0x1p-1072);
    return gpuopt__next_up(gpuopt__add(quotient, step));
}

/* A bijection with results that look random: the finalizer of SplitMix64 (Steele, Lea, Flood). For results that also
 * look independent, apply it to multiples of GPUOPT__MIX_STEP, as that generator does. */
#define GPUOPT__MIX_STEP 0x9e3779b97f4a7c15u
GPUOPT_HD uint64_t gpuopt__scramble(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}
/* Maps a number to one that looks random. */
GPUOPT_HD uint64_t gpuopt__mix(uint64_t number) { return gpuopt__scramble((number + 1) * GPUOPT__MIX_STEP); }

/* A number in [0, 1) that looks random, from the seed and k. */
GPUOPT_HD double gpuopt__random(uint64_t seed, uint64_t k) { return (double)(gpuopt__mix(seed + k) >> 11) * 0x1p-53; }

#endif /* GPUOPT_IMPL_NUMERICS_H */
