/* SPDX-License-Identifier: MIT
 *
 * Elimination on the GPU: the plan as kernels see it, and how a thread accumulates one entry of a message over the
 * values of the eliminated variable.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_DEVICE_CUH
#define GPUOPT_CUDA_ELIMINATION_DEVICE_CUH

#include "../../gpuopt_impl/elimination/base/table.h"
#include "../common/context.cuh"
#include "../common/ptx.cuh"
#include "digits.cuh"

namespace {

/* The plan on the device; members are named as in gpuopt__elimination_plan. */
struct EliminationView {
    void *store;
    uint64_t *counts;
    uint32_t *decision; /* the choices of the value phase, where messages are dropped */
    int64_t *offset;    /* [copies][condition_rows] */
    const gpuopt__elimination_job *job;
    const gpuopt__elimination_operand *operand;
    const int64_t *digit;
    const gpuopt__elimination_table *table;
    const gpuopt__elimination_bucket *bucket;
    const int32_t *first_bucket, *scope, *input, *order, *position, *root;
    const int64_t *stride;
    gpuopt__elimination_total *total; /* [copies] of all slices so far; then one for the cost of an assignment */
    unsigned long long *bad; /* [1]: the first partial assignment with a bad value in a look-up of bounds, or ~0 */
    void *bound_piece;       /* partial assignments of a look-up from host memory, and their bounds */
    int32_t *value;          /* [variables] of an assignment */
    int64_t forbidden;
    int32_t condition_rows, copies, bits, tables, functions, roots, decides;
    gpuopt_elimination_cost type;
    gpuopt_elimination_semiring semiring;
};

/* The start of operand k for a copy. */
__device__ int64_t operand_at(const EliminationView &e, const gpuopt__elimination_operand &o, int32_t copy) {
    int64_t at = o.at + copy * o.copy_stride;
    if (o.condition >= 0) at += e.offset[static_cast<int64_t>(copy) * e.condition_rows + o.condition];
    return at;
}

/* Accumulators of one entry of a message. add(): adds a stored cost to the sum for one value. take(): accounts for the
 * sum of one value and its number of ways. merge(): accounts for the values that another thread took. Costs of up to 32
 * bits are added in 32 bits: the plan has proven that the sums fit. */
template <class Cost>
struct LeastNarrow {
    using Stored = Cost;
    using Sum = uint32_t;
    static constexpr bool counted = false;
    uint32_t best;
    __device__ void begin(const EliminationView &e) { best = static_cast<uint32_t>(e.forbidden); }
    static __device__ Sum none() { return 0; }
    static __device__ Sum add(Sum sum, Sum cost, const EliminationView &) { return sum + cost; }
    __device__ void take(Sum sum, uint64_t, int, const EliminationView &) { best = min(best, sum); }
    __device__ void merge(const LeastNarrow &other, int, const EliminationView &) { best = min(best, other.best); }
    __device__ Stored cost(int) const { return static_cast<Stored>(best); }
    __device__ uint64_t count() const { return 0; }
};

struct LeastWide {
    using Stored = uint64_t;
    using Sum = uint64_t;
    static constexpr bool counted = false;
    uint64_t best;
    __device__ void begin(const EliminationView &e) { best = static_cast<uint64_t>(e.forbidden); }
    static __device__ Sum none() { return 0; }
    static __device__ Sum add(Sum sum, Stored cost, const EliminationView &e) {
        return gpuopt__elimination_clamped_sum(sum, cost, static_cast<uint64_t>(e.forbidden));
    }
    __device__ void take(Sum sum, uint64_t, int, const EliminationView &) { best = sum < best ? sum : best; }
    __device__ void merge(const LeastWide &other, int, const EliminationView &e) { take(other.best, 0, 0, e); }
    __device__ Stored cost(int) const { return best; }
    __device__ uint64_t count() const { return 0; }
};

struct LeastValue {
    using Stored = double;
    using Sum = double;
    static constexpr bool counted = false;
    double best;
    __device__ void begin(const EliminationView &) { best = HUGE_VAL; }
    static __device__ Sum none() { return 0; }
    static __device__ Sum add(Sum sum, Stored cost, const EliminationView &) { return gpuopt__add(sum, cost); }
    __device__ void take(Sum sum, uint64_t, int, const EliminationView &) { best = gpuopt__min(best, sum); }
    __device__ void merge(const LeastValue &other, int, const EliminationView &e) { take(other.best, 0, 0, e); }
    __device__ Stored cost(int) const { return best; }
    __device__ uint64_t count() const { return 0; }
};

/* maximum: take the largest exponent instead of the sum. */
struct LogSum {
    using Stored = double;
    using Sum = double;
    static constexpr bool counted = false;
    gpuopt__elimination_log_sum sums;
    __device__ void begin(const EliminationView &) { sums = {-HUGE_VAL, 0}; }
    static __device__ Sum none() { return 0; }
    static __device__ Sum add(Sum sum, Stored cost, const EliminationView &) { return gpuopt__add(sum, cost); }
    __device__ void take(Sum sum, uint64_t, int maximum, const EliminationView &) {
        if (maximum) sums.high = gpuopt__max(sums.high, sum);
        else gpuopt__elimination_log_sum_add(&sums, sum);
    }
    __device__ void merge(const LogSum &other, int maximum, const EliminationView &e) {
        take(maximum ? other.sums.high : gpuopt__elimination_log_sum_value(&other.sums), 0, maximum, e);
    }
    __device__ Stored cost(int maximum) const { return maximum ? sums.high : gpuopt__elimination_log_sum_value(&sums); }
    __device__ uint64_t count() const { return 0; }
};

/* Also counts the ways to reach the least sum. */
template <class Least>
struct Counted : Least {
    static constexpr bool counted = true;
    uint64_t number;
    __device__ void begin(const EliminationView &e) {
        Least::begin(e);
        number = 0;
    }
    __device__ void take(typename Least::Sum sum, uint64_t factor, int, const EliminationView &e) {
        if (sum >= static_cast<typename Least::Sum>(e.forbidden) || sum > this->best) return;
        number = sum < this->best ? factor : gpuopt__elimination_saturated_sum(number, factor);
        this->best = sum;
    }
    __device__ void merge(const Counted &other, int, const EliminationView &e) { take(other.best, other.number, 0, e); }
    __device__ uint64_t count() const { return number; }
};

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_DEVICE_CUH */
