/* SPDX-License-Identifier: MIT
 *
 * Functions of device code that need no other thread. Only functions that the library uses.
 */
#ifndef EMULATED_ARITHMETIC_H
#define EMULATED_ARITHMETIC_H

/* ---- Rounding; compiled without contraction and in the default rounding mode ---- */

inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __double2float_rn(double x) { return static_cast<float>(x); }
inline float __double2float_ru(double x) {
    float y = static_cast<float>(x);
    return y < x ? std::nextafterf(y, INFINITY) : y;
}
inline float __double2float_rd(double x) {
    float y = static_cast<float>(x);
    return y > x ? std::nextafterf(y, -INFINITY) : y;
}

/* ---- Bits ---- */

namespace emulated {

template <class To, class From>
To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

} // namespace emulated

inline long long __double_as_longlong(double x) { return emulated::bits_as<long long>(x); }
inline double __longlong_as_double(long long x) { return emulated::bits_as<double>(x); }
inline int __float_as_int(float x) { return emulated::bits_as<int>(x); }
inline float __int_as_float(int x) { return emulated::bits_as<float>(x); }
inline unsigned __float_as_uint(float x) { return emulated::bits_as<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return emulated::bits_as<float>(x); }
inline int __double2loint(double x) { return static_cast<int>(emulated::bits_as<uint64_t>(x)); }
inline int __double2hiint(double x) { return static_cast<int>(emulated::bits_as<uint64_t>(x) >> 32); }
inline double __hiloint2double(int high, int low) {
    return emulated::bits_as<double>(uint64_t{static_cast<unsigned>(high)} << 32 | static_cast<unsigned>(low));
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
    unsigned y = 0;
    for (int k = 0; k < 32; k++) y |= (x >> k & 1) << (31 - k);
    return y;
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    uint64_t both = uint64_t{y} << 32 | x;
    unsigned result = 0;
    for (int k = 0; k < 4; k++) {
        unsigned nibble = selector >> (4 * k) & 0xF, byte = static_cast<unsigned>(both >> (8 * (nibble & 7))) & 0xFF;
        if (nibble & 8) byte = byte & 0x80 ? 0xFF : 0;
        result |= byte << (8 * k);
    }
    return result;
}
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(uint64_t{a} * b >> 32); }
__extension__ typedef unsigned __int128 emulated_uint128;
__extension__ typedef __int128 emulated_int128;
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>(static_cast<emulated_uint128>(a) * b >> 64);
}
inline long long __mul64hi(long long a, long long b) {
    return static_cast<long long>(static_cast<emulated_int128>(a) * b >> 64);
}

/* ---- Words of 8 or 16 bits ---- */

namespace emulated {

template <class Lane, class F>
unsigned lanes(unsigned a, unsigned b, F f) {
    Lane x[4 / sizeof(Lane)], y[4 / sizeof(Lane)];
    memcpy(x, &a, 4);
    memcpy(y, &b, 4);
    for (size_t k = 0; k < 4 / sizeof(Lane); k++) x[k] = static_cast<Lane>(f(x[k], y[k]));
    memcpy(&a, x, 4);
    return a;
}

} // namespace emulated

inline unsigned __vadd2(unsigned a, unsigned b) {
    return emulated::lanes<uint16_t>(a, b, [](unsigned x, unsigned y) { return x + y; });
}
inline unsigned __vminu2(unsigned a, unsigned b) {
    return emulated::lanes<uint16_t>(a, b, [](unsigned x, unsigned y) { return x < y ? x : y; });
}
inline unsigned __vadd4(unsigned a, unsigned b) {
    return emulated::lanes<uint8_t>(a, b, [](unsigned x, unsigned y) { return x + y; });
}
inline unsigned __vminu4(unsigned a, unsigned b) {
    return emulated::lanes<uint8_t>(a, b, [](unsigned x, unsigned y) { return x < y ? x : y; });
}
inline unsigned __viaddmin_u32(unsigned a, unsigned b, unsigned c) { return a + b < c ? a + b : c; }
inline unsigned __viaddmin_u16x2(unsigned a, unsigned b, unsigned c) { return __vminu2(__vadd2(a, b), c); }

/* ---- min and max of mixed integers, as CUDA has them ---- */

template <class A, class B>
constexpr typename std::common_type<A, B>::type min(A a, B b) {
    using T = typename std::common_type<A, B>::type;
    if (std::is_floating_point<T>::value) return static_cast<T>(std::fmin(a, b));
    return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
}
template <class A, class B>
constexpr typename std::common_type<A, B>::type max(A a, B b) {
    using T = typename std::common_type<A, B>::type;
    if (std::is_floating_point<T>::value) return static_cast<T>(std::fmax(a, b));
    return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
}

#endif /* EMULATED_ARITHMETIC_H */
