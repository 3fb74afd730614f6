/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: the weights of the dual pricing.
 *
 * Steepest edge wants tau = B^-1 rho, where rho = B^-T e_p is the pivot row's. With the whole inverse that is by far
 * the largest product of a pivot. But B^-1 = Z B0^-1 + U V, so that rho = B0^-T Z e_p + V' f, where f = U' e_p, and
 *     B0^-1 rho = G Z e_p + W f    with G = B0^-1 B0^-T, which all children share, and W = B0^-1 V',
 *     V rho     = W' Z e_p + S f   with S = V V',
 *     tau       = Z B0^-1 rho + U V rho.
 * The new column of W and the new row of S are the first two, divided by the pivot element. In memory a row of V is
 * followed by its column of W and its row of S, and products.cuh adds up all three in one pass.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_WEIGHTS_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_WEIGHTS_CUH

#include "products.cuh"

namespace {

enum {
    CHILD_PRODUCTS = 64, /* pivots whose products are kept: with more, rounding makes the weights worse and worse */
    CHILD_PRODUCTS_PAY = 32768, /* G is made if the square of its rows is at most this times the entries of a row of
                                   B0^-1, for each child that a multiprocessor is taken to get: */
    CHILD_PROCESSORS = 128      /* of this many; fixed, not the device's, so that all ranks decide alike */
};

/* Of a pivot, which is `by`: the weight that its row had, and the square of rho's norm. */
struct ChildNorms {
    double by, before, square;
};

/* Has no state, and no data: weights are in ChildDual::Data. */
class ChildWeights : ChildThreads {
  public:
    /* What the weights after a pivot need besides alpha, which is in U and V already, but not yet counted. squares:
     * this thread's part of the square of rho's norm. Returns that square. */
    template <bool COMPACT>
    __device__ double prepare(ChildBlock &block, ChildProducts &products, double by, double squares) const {
        if (root->rules.pricing != GPUOPT_DUAL_PRICING_STEEPEST_EDGE) {
            __syncthreads();
            return 0;
        }
        const double norm = block.sum(squares);
        if (products.known_products) {
            append_products(products.pivots, by, norm);
            products.sum_pivots(block, work->rho + 2 * root->inverse.pitch, work->tau, work->alpha);
        } else { /* weights need not be exact: single precision, and what is rounding in rho is left out */
            const double least = 1e-12 * sqrt(norm);
            products.product<true, float>(block,
                                          COMPACT ? products.nonzeros_of_core(block, work->rho, least)
                                                  : products.nonzeros(block, work->rho, least),
                                          work->tau, work->alpha);
        }
        return norm;
    }
    /* tau, where alpha has an entry. */
    template <bool COMPACT>
    __device__ double tau_at(const ChildProducts &products, int i) const {
        const double tau = work->tau[i];
        return !COMPACT && products.known_products && !inverse->gone[i] ? tau + work->rho[root->inverse.pitch + i]
                                                                        : tau;
    }
    /* Whether all weights restart. */
    __device__ bool are_worn(const ChildNorms &norms) const {
        return root->rules.pricing == GPUOPT_DUAL_PRICING_DEVEX && gpuopt__simplex_devex_worn(norms.before);
    }
    /* The weight of another row, with an entry in alpha. */
    __device__ double after(double weight, double alpha, double tau, const ChildNorms &norms) const {
        if (root->rules.pricing == GPUOPT_DUAL_PRICING_STEEPEST_EDGE)
            return gpuopt__simplex_dual_steepest(weight, alpha / norms.by, tau, norms.square);
        if (root->rules.pricing == GPUOPT_DUAL_PRICING_DEVEX)
            return gpuopt__simplex_devex(weight, alpha / norms.by, norms.before);
        return weight;
    }
    /* That of the pivot's row. */
    __device__ double of_leaving(const ChildNorms &norms) const {
        if (root->rules.pricing == GPUOPT_DUAL_PRICING_STEEPEST_EDGE)
            return gpuopt__max(norms.square / (norms.by * norms.by), 1e-4);
        if (root->rules.pricing == GPUOPT_DUAL_PRICING_DEVEX)
            return gpuopt__max(norms.before / (norms.by * norms.by), 1);
        return norms.before;
    }

  private:
    ChildView<const ChildRoot> root;
    ChildView<ChildWork> work;
    ChildView<ChildInverse> inverse;

    /* The row of S of a pivot that is `by`, behind its row of V, and its column behind the others. */
    __device__ void append_products(int pivots, double by, double norm) const {
        const int64_t at = 2 * root->inverse.pitch, v_pitch = root->inverse.v_pitch;
        double *const v = inverse->v + at, *const mine = v + pivots * v_pitch;
        const double factor = 1 / by;
        for (int k = thread(); k <= pivots; k += threads()) {
            mine[k] = k < pivots ? work->rho[at + k] * factor : norm * factor * factor;
            v[k * v_pitch + pivots] = mine[k];
            if (pivots % 2 == 0) v[k * v_pitch + pivots + 1] = 0; /* read with its neighbour */
        }
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_WEIGHTS_CUH */
