/* SPDX-License-Identifier: MIT
 *
 * Reductions over the lanes of a warp. Every lane receives the result.
 */
#ifndef GPUOPT_CUDA_WARP_CUH
#define GPUOPT_CUDA_WARP_CUH

namespace {

/* The sum of doubles over each group of LANES lanes, in a fixed order. */
template <int LANES = 32>
__device__ double warp_sum(double sum) {
    for (int half = LANES / 2; half > 0; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
    return sum;
}

/* Maximum, minimum and sum of unsigned integers; one instruction each on compute capability 8.0 and above. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
__device__ unsigned warp_max(unsigned x) { return __reduce_max_sync(~0u, x); }
__device__ unsigned warp_min(unsigned x) { return __reduce_min_sync(~0u, x); }
__device__ unsigned warp_count(unsigned x) { return __reduce_add_sync(~0u, x); }
#else
template <class F>
__device__ unsigned warp_butterfly(unsigned x, F f) {
    for (int half = 16; half > 0; half /= 2) x = f(x, __shfl_xor_sync(~0u, x, half));
    return x;
}
__device__ unsigned warp_max(unsigned x) {
    return warp_butterfly(x, [](unsigned a, unsigned b) { return a > b ? a : b; });
}
__device__ unsigned warp_min(unsigned x) {
    return warp_butterfly(x, [](unsigned a, unsigned b) { return a < b ? a : b; });
}
__device__ unsigned warp_count(unsigned x) {
    return warp_butterfly(x, [](unsigned a, unsigned b) { return a + b; });
}
#endif

} // namespace

#endif /* GPUOPT_CUDA_WARP_CUH */
