/* SPDX-License-Identifier: MIT
 *
 * CUDA's vector types, for C and C++.
 */
#ifndef EMULATED_TYPES_H
#define EMULATED_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef struct uint3 {
    unsigned x, y, z;
} uint3;
typedef struct int2 {
    int x, y;
} __attribute__((aligned(8))) int2;
typedef struct int4 {
    int x, y, z, w;
} __attribute__((aligned(16))) int4;
typedef struct uint2 {
    unsigned x, y;
} __attribute__((aligned(8))) uint2;
typedef struct uint4 {
    unsigned x, y, z, w;
} __attribute__((aligned(16))) uint4;
typedef struct float2 {
    float x, y;
} __attribute__((aligned(8))) float2;
typedef struct float4 {
    float x, y, z, w;
} __attribute__((aligned(16))) float4;
typedef struct double2 {
    double x, y;
} __attribute__((aligned(16))) double2;
typedef struct longlong2 {
    long long x, y;
} __attribute__((aligned(16))) longlong2;
typedef struct ulonglong2 {
    unsigned long long x, y;
} __attribute__((aligned(16))) ulonglong2;

#ifdef __cplusplus
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline double2 make_double2(double x, double y) { return {x, y}; }
inline longlong2 make_longlong2(long long x, long long y) { return {x, y}; }
inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }
#else
typedef struct dim3 {
    unsigned x, y, z;
} dim3;
#endif

#endif /* EMULATED_TYPES_H */
