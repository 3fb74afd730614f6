/* SPDX-License-Identifier: MIT
 *
 * Instructions that CUDA C++ has no function for. All inline assembly is here and in mbarrier.cuh, so that the tests'
 * emulator (tests/emulated) can put C++ in its place.
 */
#ifndef GPUOPT_CUDA_PTX_CUH
#define GPUOPT_CUDA_PTX_CUH

#ifdef GPUOPT_EMULATED
#include <emulated/ptx.h>
#else

/* The block's dynamic shared memory, as an array of this type and name, with the type's alignment, at least 16
 * bytes. */
#define GPUOPT_DYNAMIC_SHARED(Type, name) \
    extern __shared__ __align__(alignof(Type) > 16 ? alignof(Type) : 16) Type name[]

namespace {

/* ---- Location of memory ---- */

/* The same pointer, marked for the compiler as pointing to global memory. */
template <class T>
__device__ T *ptx_global(T *pointer) {
    __builtin_assume(__isGlobal(pointer));
    return pointer;
}

/* ---- Asynchronous copies to shared memory: cp.async. Before sm_80 they are plain copies ---- */

/* Starts copying the first `bytes` bytes of COUNT doubles; the others become 0. */
template <int COUNT>
__device__ void ptx_copy_async(double *shared, const double *global, int bytes) {
#if __CUDA_ARCH__ >= 800
    auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    if constexpr (COUNT == 2)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(bytes) : "memory");
    else asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(global), "r"(bytes) : "memory");
#else
    for (int i = 0; i < COUNT; i++) shared[i] = i < bytes / 8 ? global[i] : 0;
#endif
}

/* Ends a group of copies. */
__device__ void ptx_copy_commit() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits until at most PENDING groups of copies are unfinished. */
template <int PENDING>
__device__ void ptx_copy_wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#endif
}

/* ---- Loads that are issued in place, long before their results are used ---- */

/* Not from the L1 cache. */
__device__ double ptx_load(const double *from) {
    double value;
    asm volatile("ld.global.cg.f64 %0, [%1];" : "=d"(value) : "l"(from));
    return value;
}

/* For data that are not needed again. */
__device__ double ptx_load_once(const double *from) {
    double value;
    asm volatile("ld.global.L1::no_allocate.f64 %0, [%1];" : "=d"(value) : "l"(from));
    return value;
}
__device__ double2 ptx_load_once(const double2 *from) {
    double2 pair;
    asm volatile("ld.global.L1::no_allocate.v2.f64 {%0, %1}, [%2];" : "=d"(pair.x), "=d"(pair.y) : "l"(from));
    return pair;
}

/* ---- 16 bytes at once, between the blocks of a grid, and between devices ---- */

/* A thread that sees this thread's next store also sees everything written earlier by this thread, or before a barrier
 * that it passed. */
__device__ void ptx_fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
__device__ void ptx_fence_system() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

__device__ void ptx_store_16(void *to, long long low, long long high) {
    asm volatile("{ .reg .b128 both; mov.b128 both, {%1, %2}; st.relaxed.gpu.global.b128 [%0], both; }" ::"l"(to),
                 "l"(low), "l"(high)
                 : "memory");
}
__device__ void ptx_store_16_system(void *to, long long low, long long high) {
    asm volatile("{ .reg .b128 both; mov.b128 both, {%1, %2}; st.relaxed.sys.global.b128 [%0], both; }" ::"l"(to),
                 "l"(low), "l"(high)
                 : "memory");
}

/* Acquire loads. */
__device__ void ptx_load_16(const void *from, long long *low, long long *high) {
    asm volatile("{ .reg .b128 both; ld.acquire.gpu.global.b128 both, [%2]; mov.b128 {%0, %1}, both; }"
                 : "=l"(*low), "=l"(*high)
                 : "l"(from)
                 : "memory");
}
__device__ void ptx_load_16_system(const void *from, long long *low, long long *high) {
    asm volatile("{ .reg .b128 both; ld.acquire.sys.global.b128 both, [%2]; mov.b128 {%0, %1}, both; }"
                 : "=l"(*low), "=l"(*high)
                 : "l"(from)
                 : "memory");
}

/* ---- Time ---- */

/* From a clock shared by all threads of a device; it moves in steps of up to a microsecond. */
__device__ unsigned long long ptx_nanoseconds() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}

/* ---- Tensor cores ---- */

/* sum [16 x 8] += a [16 x 8] b [8 x 8]. The elements are distributed over a warp as mma.m16n8k8 requires: with g = lane
 * / 4 and t = lane % 4, a: (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4); b: (t, g), (t + 4, g); sum: (g, 2t), (g, 2t
 * + 1), and the same in row g + 8. */
__device__ void ptx_multiply(double (&sum)[4], const double (&a)[4], const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#elif __CUDA_ARCH__ >= 800
    for (int k = 0; k < 2; k++)
        for (int half = 0; half < 2; half++)
            asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                         : "+d"(sum[2 * half]), "+d"(sum[2 * half + 1])
                         : "d"(a[2 * k + half]), "d"(b[k]));
#else
    int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
    for (int k = 0; k < 8; k++) {
        double first = __shfl_sync(~0u, b[k / 4], 8 * t + k % 4),
               second = __shfl_sync(~0u, b[k / 4], 8 * t + 4 + k % 4);
        for (int half = 0; half < 2; half++) {
            double factor = __shfl_sync(~0u, a[k / 4 * 2 + half], 4 * g + k % 4);
            sum[2 * half] = fma(factor, first, sum[2 * half]);
            sum[2 * half + 1] = fma(factor, second, sum[2 * half + 1]);
        }
    }
#endif
}

/* ---- Launches that overlap (from sm_90 on) ---- */

/* Waits for the end of the kernel before this one. */
__device__ void ptx_wait_for_previous() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* The kernel after this one may start when all blocks have called this. */
__device__ void ptx_let_next_start() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

} // namespace

#endif

#endif /* GPUOPT_CUDA_PTX_CUH */
