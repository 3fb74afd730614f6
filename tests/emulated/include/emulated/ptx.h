/* SPDX-License-Identifier: MIT
 *
 * Replaces the inline assembly of cuda/common/ptx.cuh.
 */
#ifndef EMULATED_PTX_H
#define EMULATED_PTX_H

#include <ctime>

#include "kernel.h"

#define GPUOPT_DYNAMIC_SHARED(Type, name) auto *const name = static_cast<Type *>(emulated::dynamic_shared())

template <class T>
T *ptx_global(T *pointer) {
    return pointer;
}

template <int COUNT>
void ptx_copy_async(double *shared, const double *global, int bytes) {
    emulated::copy_async(shared, global, static_cast<unsigned>(bytes), COUNT * sizeof(double));
}
inline void ptx_copy_commit() { emulated::copy_commit(); }
template <int PENDING>
void ptx_copy_wait() {
    emulated::copy_wait(PENDING);
}

template <class T>
T ptx_load(const T *from) {
    return *from;
}
template <class T>
T ptx_load_once(const T *from) {
    return *from;
}

inline unsigned long long ptx_nanoseconds() {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<unsigned long long>(now.tv_sec) * 1000000000u + static_cast<unsigned long long>(now.tv_nsec);
}

inline void ptx_fence() { emulated::may_switch(); }
inline void ptx_fence_system() { emulated::may_switch(); }
inline void ptx_store_16(void *to, long long low, long long high) {
    const long long both[] = {low, high};
    emulated::may_switch();
    memcpy(__builtin_assume_aligned(to, 16), both, 16);
    emulated::may_switch();
}
inline void ptx_take_16(const void *from, long long *low, long long *high) {
    long long both[2];
    memcpy(both, __builtin_assume_aligned(from, 16), 16);
    *low = both[0];
    *high = both[1];
}
inline void ptx_load_16(const void *from, long long *low, long long *high, EMULATED_FROM) {
    emulated::spin({"a 16-byte load", file, line});
    ptx_take_16(from, low, high);
}
/* For other devices, too. */
inline void ptx_store_16_system(void *to, long long low, long long high) { ptx_store_16(to, low, high); }
inline void ptx_load_16_system(const void *from, long long *low, long long *high, EMULATED_FROM) {
    emulated::spin_outside({"a 16-byte load", file, line});
    ptx_take_16(from, low, high);
}

inline void ptx_multiply(double (&sum)[4], const double (&a)[4], const double (&b)[2], EMULATED_FROM) {
    const double mine[6] = {a[0], a[1], a[2], a[3], b[0], b[1]};
    const emulated::Deposit *all = emulated::meet(~0u, mine, sizeof mine, {"mma.m16n8k8", file, line});
    auto of = [&](unsigned lane, int which) {
        double value;
        memcpy(&value, all[lane].bytes + 8 * which, sizeof value);
        return value;
    };
    const unsigned g = emulated::lane() / 4, t = emulated::lane() % 4;
    for (unsigned k = 0; k < 8; k++)
        for (int half = 0; half < 2; half++) {
            const double factor = of(4 * g + k % 4, static_cast<int>(k / 4) * 2 + half);
            for (unsigned j = 0; j < 2; j++) {
                const double other = of(4 * (2 * t + j) + k % 4, 4 + static_cast<int>(k / 4));
                sum[2 * half + static_cast<int>(j)] = std::fma(factor, other, sum[2 * half + static_cast<int>(j)]);
            }
        }
}

/* Kernels do not overlap here: the previous kernel has ended. */
inline void ptx_wait_for_previous() {}
inline void ptx_let_next_start() {}

#endif /* EMULATED_PTX_H */
