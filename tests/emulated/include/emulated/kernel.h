/* SPDX-License-Identifier: MIT
 *
 * The language of kernels: keywords, the thread's place, barriers, warps, atomic operations, loads.
 */
#ifndef EMULATED_KERNEL_H
#define EMULATED_KERNEL_H

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>

#include "here.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __grid_constant__
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
/* A block has a separate thread of the system. */
#define __shared__ thread_local

/* threadIdx and the like: objects with members x, y and z, which are read from the seat of the running thread. */
namespace emulated {

template <class T, T Seat::*Of>
struct Indices {
    template <unsigned T::*Member>
    struct Index {
        operator unsigned() const { return (own.seat->*Of).*Member; }
    };
    Index<&T::x> x;
    Index<&T::y> y;
    Index<&T::z> z;
};

} // namespace emulated

inline constexpr emulated::Indices<uint3, &emulated::Seat::thread> threadIdx{};
inline constexpr emulated::Indices<uint3, &emulated::Seat::block> blockIdx{};
inline constexpr emulated::Indices<dim3, &emulated::Seat::threads> blockDim{};
inline constexpr emulated::Indices<dim3, &emulated::Seat::blocks> gridDim{};
constexpr int warpSize = 32;

/* Where a function was called from. */
#define EMULATED_FROM const char *file = __builtin_FILE(), int line = __builtin_LINE()

/* ---- Barriers ---- */

inline void __syncthreads(EMULATED_FROM) { emulated::sync_threads({"__syncthreads", file, line}); }
inline int __syncthreads_count(int yes, EMULATED_FROM) {
    return emulated::sync_threads({"__syncthreads_count", file, line}, yes != 0);
}
inline int __syncthreads_or(int yes, EMULATED_FROM) {
    return emulated::sync_threads({"__syncthreads_or", file, line}, yes != 0) > 0;
}
inline int __syncthreads_and(int yes, EMULATED_FROM) {
    return emulated::sync_threads({"__syncthreads_and", file, line}, yes == 0) == 0;
}
inline void __syncwarp(unsigned mask = ~0u, EMULATED_FROM) {
    emulated::meet(mask, nullptr, 0, {"__syncwarp", file, line});
}

/* Memory is the same for all threads, at once. */
inline void __threadfence() { emulated::may_switch(); }
inline void __threadfence_block() { emulated::may_switch(); }
inline void __threadfence_system() { emulated::may_switch(); }
inline void __nanosleep(unsigned, EMULATED_FROM) { emulated::spin({"__nanosleep", file, line}); }

/* ---- Warps ---- */

namespace emulated {

template <class T>
T brought(const Deposit &d) {
    T value;
    memcpy(&value, d.bytes, sizeof value);
    return value;
}

inline unsigned lane() { return own.seat->lane; }

/* from(lane): the lane from which this lane receives a value; a lane outside its `width` lanes stands for its own. */
template <class T, class From>
T shuffle(unsigned mask, T value, int width, Place place, From from) {
    static_assert(std::is_arithmetic<T>::value && (sizeof(T) == 4 || sizeof(T) == 8), "no shuffle of this type");
    const Deposit *all = meet(mask, &value, sizeof value, place);
    int mine = static_cast<int>(lane()), first = mine & ~(width - 1), source = from(mine, first);
    if (source < first || source >= first + width) return value;
    if (!(mask >> source & 1)) memset(&value, 0xCD, sizeof value); /* that lane is not there */
    else value = brought<T>(all[source]);
    return value;
}

inline unsigned reduce(unsigned mask, unsigned value, Place place, Combine combine) {
    return brought<unsigned>(meet(mask, &value, sizeof value, place, combine)[32]);
}

} // namespace emulated

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, EMULATED_FROM) {
    return emulated::shuffle(mask, value, width, {"__shfl_sync", file, line},
                             [&](int, int first) { return first + (source & (width - 1)); });
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32, EMULATED_FROM) {
    return emulated::shuffle(mask, value, width, {"__shfl_xor_sync", file, line},
                             [&](int mine, int) { return mine ^ bits; });
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32, EMULATED_FROM) {
    return emulated::shuffle(mask, value, width, {"__shfl_up_sync", file, line},
                             [&](int mine, int) { return mine - static_cast<int>(by); });
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32, EMULATED_FROM) {
    return emulated::shuffle(mask, value, width, {"__shfl_down_sync", file, line},
                             [&](int mine, int) { return mine + static_cast<int>(by); });
}
inline unsigned __ballot_sync(unsigned mask, int yes, EMULATED_FROM) {
    unsigned bit = yes ? 1u << emulated::lane() : 0;
    return emulated::reduce(mask, bit, {"__ballot_sync", file, line}, [](unsigned a, unsigned b) { return a | b; });
}
inline int __any_sync(unsigned mask, int yes, EMULATED_FROM) {
    return static_cast<int>(
        emulated::reduce(mask, yes != 0, {"__any_sync", file, line}, [](unsigned a, unsigned b) { return a | b; }));
}
inline int __all_sync(unsigned mask, int yes, EMULATED_FROM) {
    return static_cast<int>(
        emulated::reduce(mask, yes != 0, {"__all_sync", file, line}, [](unsigned a, unsigned b) { return a & b; }));
}
template <class T>
unsigned __match_any_sync(unsigned mask, T value, EMULATED_FROM) {
    const emulated::Deposit *all = emulated::meet(mask, &value, sizeof value, {"__match_any_sync", file, line});
    unsigned equal = 0;
    for (unsigned k = 0; k < 32; k++)
        if (mask >> k & 1 && emulated::brought<T>(all[k]) == value) equal |= 1u << k;
    return equal;
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned x, EMULATED_FROM) {
    return emulated::reduce(mask, x, {"__reduce_or_sync", file, line}, [](unsigned a, unsigned b) { return a | b; });
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned x, EMULATED_FROM) {
    return emulated::reduce(mask, x, {"__reduce_and_sync", file, line}, [](unsigned a, unsigned b) { return a & b; });
}
inline unsigned __reduce_add_sync(unsigned mask, unsigned x, EMULATED_FROM) {
    return emulated::reduce(mask, x, {"__reduce_add_sync", file, line}, [](unsigned a, unsigned b) { return a + b; });
}
inline unsigned __reduce_min_sync(unsigned mask, unsigned x, EMULATED_FROM) {
    return emulated::reduce(mask, x, {"__reduce_min_sync", file, line},
                            [](unsigned a, unsigned b) { return a < b ? a : b; });
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned x, EMULATED_FROM) {
    return emulated::reduce(mask, x, {"__reduce_max_sync", file, line},
                            [](unsigned a, unsigned b) { return a > b ? a : b; });
}

/* ---- Atomic operations: only one thread runs at a time, so plain operations suffice ---- */

namespace emulated {

template <class T, class F>
T atomic(T *at, F f) {
    may_switch();
    if (reinterpret_cast<uintptr_t>(at) % alignof(T))
        fatal("an atomic operation on %p, which is not aligned", static_cast<void *>(at));
    T before = *at;
    *at = f(before);
    return before;
}

} // namespace emulated

#define EMULATED_ATOMIC(name, expression)                                               \
    template <class T>                                                                  \
    T name(T *at, typename std::common_type<T>::type value) {                           \
        return emulated::atomic(at, [&](T was) { return static_cast<T>(expression); }); \
    }
EMULATED_ATOMIC(atomicAdd, was + value)
EMULATED_ATOMIC(atomicSub, was - value)
EMULATED_ATOMIC(atomicMin, value < was ? value : was)
EMULATED_ATOMIC(atomicMax, value > was ? value : was)
EMULATED_ATOMIC(atomicOr, was | value)
EMULATED_ATOMIC(atomicAnd, was &value)
EMULATED_ATOMIC(atomicXor, was ^ value)
EMULATED_ATOMIC(atomicExch, ((void)was, value))
#undef EMULATED_ATOMIC
template <class T>
T atomicCAS(T *at, typename std::common_type<T>::type expected, typename std::common_type<T>::type wanted) {
    return emulated::atomic(at, [&](T was) { return memcmp(&was, &expected, sizeof was) == 0 ? wanted : was; });
}

/* ---- Loads and stores past caches ---- */

#define EMULATED_LOAD(name) \
    template <class T>      \
    T name(const T *at) {   \
        return *at;         \
    }
EMULATED_LOAD(__ldg)
EMULATED_LOAD(__ldca)
EMULATED_LOAD(__ldcg)
EMULATED_LOAD(__ldcs)
EMULATED_LOAD(__ldcv)
#undef EMULATED_LOAD
#define EMULATED_STORE(name)                                     \
    template <class T>                                           \
    void name(T *at, typename std::common_type<T>::type value) { \
        *at = value;                                             \
    }
EMULATED_STORE(__stcg)
EMULATED_STORE(__stcs)
EMULATED_STORE(__stwt)
EMULATED_STORE(__stwb)
#undef EMULATED_STORE

#include "arithmetic.h"

#endif /* EMULATED_KERNEL_H */
