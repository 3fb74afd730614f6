/* SPDX-License-Identifier: MIT
 *
 * Measures how many pairs of an addition and a minimum the GPU does per second in registers: the upper limit for a
 * min-plus product of tables.
 *     add_min_rate
 * Each thread keeps `Chains` numbers x[i] and costs c[i], and repeats x[i] = min(x[i], x[i + 1] + c[i]). Each pair
 * depends on the previous pair, so the compiler can drop none. For each data type it tries several numbers of chains
 * and warps. It prints the largest rate, per second and per clock and multiprocessor (with the device's reported clock
 * rate). One thread's numbers are compared with the CPU's.
 */
#include <cstdint>
#include <cstdio>

#include <cuda_runtime.h>

namespace {

constexpr int steps = 2048;

/* One instruction on compute capability 9.0 and above, two on others. */
struct Whole {
    static constexpr const char *name = "u32";
    static constexpr int pairs = 1;
    __host__ __device__ static uint32_t step(uint32_t a, uint32_t b, uint32_t least) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        return __viaddmin_u32(a, b, least);
#else
        return a + b < least ? a + b : least;
#endif
    }
};

/* Two 16-bit numbers in a register; their sums must fit into 16 bits. */
struct Halves {
    static constexpr const char *name = "u16x2";
    static constexpr int pairs = 2;
    __host__ __device__ static uint32_t step(uint32_t a, uint32_t b, uint32_t least) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        return __viaddmin_u16x2(a, b, least);
#elif defined(__CUDA_ARCH__)
        return __vminu2(__vadd2(a, b), least);
#else
        uint32_t low = (a + b) & 0xFFFF, high = (a >> 16) + (b >> 16);
        return (high < least >> 16 ? high : least >> 16) << 16 | (low < (least & 0xFFFF) ? low : least & 0xFFFF);
#endif
    }
};

/* A pseudorandom number with halves so small that no sum below has a carry. */
__host__ __device__ uint32_t drawn(uint32_t k) {
    k = (k ^ 61) * 0x9E3779B1u;
    k = (k ^ (k >> 15)) * 0x85EBCA6Bu;
    return (k ^ (k >> 13)) & 0x3FFF3FFFu;
}

template <class Kind, int Chains>
__global__ void repeat(uint32_t *result) {
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t x[Chains], c[Chains], sum = 0;
#pragma unroll
    for (int i = 0; i < Chains; i++) {
        x[i] = drawn(thread * Chains + i) | 0x40004000u;
        c[i] = drawn(~(thread * Chains + i)) & 0x00FF00FFu;
    }
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
#pragma unroll
        for (int i = 0; i < Chains; i++) x[i] = Kind::step(x[(i + 1) % Chains], c[i], x[i]);
    }
#pragma unroll
    for (int i = 0; i < Chains; i++) sum = sum * 31 + x[i];
    result[thread] = sum;
}

template <class Kind, int Chains>
uint32_t on_the_cpu(uint32_t thread) {
    uint32_t x[Chains], c[Chains], sum = 0;
    for (int i = 0; i < Chains; i++) {
        x[i] = drawn(thread * Chains + i) | 0x40004000u;
        c[i] = drawn(~(thread * Chains + i)) & 0x00FF00FFu;
    }
    for (int step = 0; step < steps; step++)
        for (int i = 0; i < Chains; i++) x[i] = Kind::step(x[(i + 1) % Chains], c[i], x[i]);
    for (int i = 0; i < Chains; i++) sum = sum * 31 + x[i];
    return sum;
}

struct Device {
    int multiprocessors;
    uint32_t *result; /* [threads] */
    cudaEvent_t begin, end;
};

/* Pairs per second in the fastest of ten launches; 0: something failed. */
template <class Kind, int Chains>
double rate_of(const Device &d, int threads, int blocks) {
    float least = 0;
    uint32_t first = 0;
    blocks *= d.multiprocessors;
    for (int run = 0; run < 10; run++) {
        float taken = 0;
        cudaEventRecord(d.begin);
        repeat<Kind, Chains><<<blocks, threads>>>(d.result);
        cudaEventRecord(d.end);
        if (cudaEventSynchronize(d.end) || cudaEventElapsedTime(&taken, d.begin, d.end)) return 0;
        if (run == 0 || taken < least) least = taken;
    }
    if (cudaMemcpy(&first, d.result + threads, sizeof first, cudaMemcpyDeviceToHost)) return 0;
    if (first != on_the_cpu<Kind, Chains>(static_cast<uint32_t>(threads))) {
        std::fprintf(stderr, "add_min_rate: %s: the GPU's numbers differ from the host's\n", Kind::name);
        return 0;
    }
    return 1e3 / least * blocks * threads * steps * Chains * Kind::pairs;
}

/* Prints the largest rate. Returns false if a measurement failed. */
template <class Kind>
bool print_rate(const Device &d, double clock) {
    double best = 0;
    for (int threads = 128; threads <= 512; threads *= 2) {
        for (int blocks = 2; blocks <= 2048 / threads; blocks *= 2) {
            const double rates[] = {rate_of<Kind, 8>(d, threads, blocks), rate_of<Kind, 16>(d, threads, blocks),
                                    rate_of<Kind, 32>(d, threads, blocks)};
            for (double rate : rates) {
                if (rate == 0) return false;
                if (rate > best) best = rate;
            }
        }
    }
    std::printf("%-10s %.4e pairs per second, %.1f per clock and multiprocessor\n", Kind::name, best,
                best / clock / d.multiprocessors);
    return true;
}

} // namespace

int main() {
    Device d = {};
    int kilohertz = 0;
    bool good =
        cudaDeviceGetAttribute(&d.multiprocessors, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess &&
        cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0) == cudaSuccess &&
        cudaMalloc(&d.result, sizeof *d.result * 2048 * static_cast<size_t>(d.multiprocessors)) == cudaSuccess &&
        cudaEventCreate(&d.begin) == cudaSuccess && cudaEventCreate(&d.end) == cudaSuccess;
    if (good) {
        const double clock = 1e3 * kilohertz;
        good = print_rate<Whole>(d, clock) && print_rate<Halves>(d, clock);
    }
    if (!good) std::fprintf(stderr, "add_min_rate: no GPU, or it failed: %s\n", cudaGetErrorString(cudaGetLastError()));
    return good ? 0 : 1;
}
