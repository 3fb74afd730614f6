/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: the weights of the dual pricing.
 *
 * Steepest edge wants tau = B^-1 rho, where rho = B^-T e_p is the pivot row's. With the whole inverse that is by far the
 * largest product of a pivot. But B^-1 = Z B0^-1 + U V, so that rho = B0^-T Z e_p + V' f, where f = U' e_p, and
 *     B0^-1 rho = G Z e_p + W f    with G = B0^-1 B0^-T, which all children share, and W = B0^-1 V',
 *     V rho     = W' Z e_p + S f   with S = V V',
 *     tau       = Z B0^-1 rho + U V rho.
 * The new column of W and the new row of S are the first two over the pivot. So a row of V has its column of W and its row
 * of S behind it, G stands for the root beside B0^-1, and all three are summed up at once: child_products.cuh.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_WEIGHTS_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_WEIGHTS_CUH

#include "child_ratio.cuh"

namespace {

enum {
    CHILD_PRODUCTS = 64, /* pivots whose products are kept: with more, rounding makes the weights worse and worse */
    CHILD_PRODUCTS_PAY = 32768, /* G is made if the square of its rows is at most so many times the entries of a row of
                                   B0^-1, for each child that a multiprocessor is taken to get: */
    CHILD_PROCESSORS = 128      /* of so many; no device is asked, so that all ranks decide alike */
};

class ChildWeights : public ChildRatioTest {
  public:
    using ChildRatioTest::ChildRatioTest;

  protected:
    /* The weights after the pivot on p, which is `by` and stands in U and V already, but is not counted. squares: this
     * thread's part of the square of rho's norm. */
    template <bool COMPACT>
    __device__ void update_weights(int p, double by, double before, double squares) {
        if (child_root.pricing == GPUOPT_DUAL_PRICING_STEEPEST_EDGE) {
            const double norm = sum(squares);
            if (known_products) {
                append_products(by, norm);
                sum_pivots(child_own.rho + 2 * child_root.pitch, child_own.tau, child_own.alpha);
            } else { /* weights need not be exact: single precision, and what is rounding in rho is left out */
                const double least = 1e-12 * sqrt(norm);
                product<true, float>(COMPACT ? nonzeros_of_core(child_own.rho, least) : nonzeros(child_own.rho, least),
                                     child_own.tau, child_own.alpha);
            }
            struct Row {
                double alpha, tau, weight;
            };
            for_all<COMPACT ? 4 : 1>(
                child_root.rows,
                [&](int i) {
                    const double of_root =
                        known_products && !child_own.gone[i] ? child_own.rho[child_root.pitch + i] : 0;
                    return Row{child_own.alpha[i], child_own.tau[i] + of_root, child_own.weight[i]};
                },
                [&](int i, const Row &row) {
                    if (i == p) child_own.weight[i] = gpuopt__max(norm / (by * by), 1e-4);
                    else if (row.alpha != 0)
                        child_own.weight[i] = gpuopt__simplex_dual_steepest(row.weight, row.alpha / by, row.tau, norm);
                });
        } else __syncthreads();
        if (child_root.pricing == GPUOPT_DUAL_PRICING_DEVEX) {
            const bool worn = gpuopt__simplex_devex_worn(before);
            for (int i = thread(); i < child_root.rows; i += threads()) {
                if (worn) child_own.weight[i] = 1;
                else if (i == p) child_own.weight[i] = gpuopt__max(before / (by * by), 1);
                else if (child_own.alpha[i] != 0)
                    child_own.weight[i] = gpuopt__simplex_devex(child_own.weight[i], child_own.alpha[i] / by, before);
            }
        }
    }

  private:
    /* The row of S of a pivot that is `by`, behind its row of V, and its column behind the others. */
    __device__ void append_products(double by, double norm) {
        const int64_t at = 2 * child_root.pitch, v_pitch = child_root.v_pitch;
        double *const v = child_own.v + at, *const mine = v + pivots * v_pitch;
        const double inverse = 1 / by;
        for (int k = thread(); k <= pivots; k += threads()) {
            mine[k] = k < pivots ? child_own.rho[at + k] * inverse : norm * inverse * inverse;
            v[k * v_pitch + pivots] = mine[k];
            if (pivots % 2 == 0) v[k * v_pitch + pivots + 1] = 0; /* read with its neighbour */
        }
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_WEIGHTS_CUH */
