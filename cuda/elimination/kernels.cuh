/* SPDX-License-Identifier: MIT
 *
 * Elimination on the GPU: the choice among the compiled kernels. Each function returns a pointer to a kernel. _create
 * uses them to load the kernels of all jobs, and launch.cuh to launch them.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_KERNELS_CUH
#define GPUOPT_CUDA_ELIMINATION_KERNELS_CUH

#include "general_kernel.cuh"
#include "product_kernel.cuh"
#include "staged_kernel.cuh"

namespace {

/* ---- Sums and comparisons ---- */

/* Whether costs are integers of up to 32 bits that are minimised or maximised, without counts: the product and the
 * staged kernel accept no others. */
bool is_narrow(const gpuopt__elimination_plan &p) {
    return p.type == GPUOPT_COST_INT64 && p.bits <= 32 &&
           (p.semiring == GPUOPT_SEMIRING_MIN_SUM || p.semiring == GPUOPT_SEMIRING_MAX_SUM);
}

/* Calls f with an accumulator of the plan's kind (device.cuh). */
template <class F>
auto with_keep(const gpuopt__elimination_plan &p, F f) {
    if (p.semiring == GPUOPT_SEMIRING_LOG_SUM_EXP) return f(LogSum());
    if (p.type == GPUOPT_COST_DOUBLE) return f(LeastValue());
    if (p.semiring == GPUOPT_SEMIRING_MIN_COUNT)
        return p.bits == 8    ? f(Counted<LeastNarrow<uint8_t>>())
               : p.bits == 16 ? f(Counted<LeastNarrow<uint16_t>>())
               : p.bits == 32 ? f(Counted<LeastNarrow<uint32_t>>())
                              : f(Counted<LeastWide>());
    return p.bits == 8    ? f(LeastNarrow<uint8_t>())
           : p.bits == 16 ? f(LeastNarrow<uint16_t>())
           : p.bits == 32 ? f(LeastNarrow<uint32_t>())
                          : f(LeastWide());
}

/* ---- The general kernel ---- */

struct GeneralKernel {
    void (*kernel)(EliminationView, const int32_t *, const int64_t *, int64_t, int, int64_t, int64_t);
    int held; /* operands with addresses in registers */
};

template <class Keep, int Rows, int Own>
GeneralKernel general_of() {
    return {eliminate<Keep, Rows, Own>, Sums<Keep, Rows, Own>::held};
}

/* For the jobs that share a launch. */
template <class Keep>
GeneralKernel shared_kernel() {
    return general_of<Keep, 1, 0>();
}

/* Compiled for the number of operands that depend on the row. */
template <class Keep, int Rows>
GeneralKernel held_kernel(int varying) {
    return varying == 1   ? general_of<Keep, Rows, 1>()
           : varying == 2 ? general_of<Keep, Rows, 2>()
                          : general_of<Keep, Rows, 3>();
}

/* For a job with a separate launch. */
template <class Keep>
GeneralKernel general_kernel(const gpuopt__elimination_job &job) {
    if (job.rows == 1) return general_of<Keep, 1, 0>();
    if constexpr (std::is_same<typename Keep::Sum, uint32_t>::value && !Keep::counted) {
        if (job.row_total == 0 && job.varying > 0 && job.varying <= elimination_varying &&
            job.operands - job.varying <= elimination_calm) {
            if (job.varying > elimination_held) return general_of<Keep, elimination_rows, elimination_varying>();
            return job.rows <= 5   ? held_kernel<Keep, 5>(job.varying)
                   : job.rows <= 8 ? held_kernel<Keep, 8>(job.varying)
                                   : held_kernel<Keep, elimination_rows>(job.varying);
        }
    }
    return general_of<Keep, elimination_rows, 0>();
}

/* ---- The product kernel ---- */

using ProductKernel = void (*)(EliminationView, Product);
using CopyKernel = void (*)(EliminationView, Product, int, int64_t, bool);

template <class Stored, bool Packed>
ProductKernel product_of_words(int words) {
    switch (words) {
    case 1: return multiply<Stored, 1, Packed>;
    case 2: return multiply<Stored, 2, Packed>;
    case 3: return multiply<Stored, 3, Packed>;
    case 4: return multiply<Stored, 4, Packed>;
    case 6: return multiply<Stored, 6, Packed>;
    default: return multiply < Stored, Packed ? 6 : product_words, Packed > ; /* product_has() */
    }
}

/* Costs of 8 bits are always packed. */
inline ProductKernel product_kernel(int32_t bits, const Product &p) {
    return bits == 8    ? product_of_words<uint8_t, true>(p.words)
           : bits == 32 ? product_of_words<uint32_t, false>(p.words)
           : p.packed   ? product_of_words<uint16_t, true>(p.words)
                        : product_of_words<uint16_t, false>(p.words);
}

/* Copies an operand first. */
inline CopyKernel copy_kernel(int32_t bits) {
    return bits == 8 ? copy_operand<uint8_t> : bits == 32 ? copy_operand<uint32_t> : copy_operand<uint16_t>;
}

/* ---- The staged kernel ---- */

using StagedKernel = void (*)(EliminationView, Staged, int64_t);

template <class Cell, int Height>
StagedKernel staged_of_shape(const Staged &p) {
    const bool first_wide = p.wide & 1, second_wide = p.wide & 2;
    if (p.varying == 1 && first_wide) return eliminate_staged<Cell, Height, STAGED_SINGLE>;
    if (p.varying == 2 && second_wide) return eliminate_staged<Cell, Height, STAGED_PAIR>;
    if constexpr (Cell::pack > 1)
        if (p.varying == 2 && first_wide) return eliminate_staged<Cell, Height, STAGED_MIXED>;
    return eliminate_staged<Cell, Height, STAGED_OTHERS>;
}

/* The kernel for the plan's height, which staged_height() chooses: at most staged_highest_of(). */
template <class Cell>
StagedKernel staged_of_height(const Staged &p) {
    if constexpr (Cell::pack > 1) return p.height == 10 ? staged_of_shape<Cell, 10>(p) : staged_of_shape<Cell, 16>(p);
    else {
        if constexpr (!Cell::decides)
            if (p.height > 16) return staged_of_shape<Cell, 27>(p);
        return p.height == 9    ? staged_of_shape<Cell, 9>(p)
               : p.height == 13 ? staged_of_shape<Cell, 13>(p)
                                : staged_of_shape<Cell, 16>(p);
    }
}

inline StagedKernel staged_kernel(int32_t bits, const Staged &p) {
    if (p.decision_bits)
        return bits == 8    ? staged_of_height<StagedChoice<uint8_t>>(p)
               : bits == 16 ? staged_of_height<StagedChoice<uint16_t>>(p)
                            : staged_of_height<StagedChoice<uint32_t>>(p);
    if (bits == 32) return staged_of_height<StagedCell<uint32_t>>(p);
    if (bits == 16)
        return p.pack == 2 ? staged_of_height<StagedWord<uint16_t>>(p) : staged_of_height<StagedCell<uint16_t>>(p);
    return p.pack == 4   ? staged_of_height<StagedWord<uint8_t>>(p)
           : p.pack == 2 ? staged_of_height<StagedPair>(p)
                         : staged_of_height<StagedCell<uint8_t>>(p);
}

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_KERNELS_CUH */
