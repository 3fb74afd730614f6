/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: the inverse of a block, B^-1 = Z B0^-1 + U V, where Z sets the rows on which the
 * child has pivoted to 0.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_INVERSE_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_INVERSE_CUH

#include "block.cuh"

namespace {

struct ChildInverse {
    ChildArray<double> u, v;                         /* [most][pitch] columns of U, rows of V: ChildRoot::Inverse */
    ChildArray<double> merged_columns, merged_lines; /* [reach][pitch] for a merger; with END there are none */
    ChildArray<float> merged_singles;
    ChildArray<uint8_t> gone; /* [rows + 1] by place: whether Z is 0 there */
    /* B0^-1: the root's or, after a merger, the merged one. */
    ChildArray<const double> columns, lines;
    ChildArray<const float> singles;
    int64_t size; /* so many rows and positions of the core it has */

    template <class Cut>
    void cut(const ChildSizes &n, Cut cut) {
        cut(u, n.pitch * n.most);
        cut(v, n.v_pitch * n.products + n.pitch * (n.most - n.products));
        cut(merged_columns, n.merged), cut(merged_lines, n.merged), cut(merged_singles, n.singles);
        cut(gone, n.rows + 1);
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_INVERSE_CUH */
