/* SPDX-License-Identifier: MIT
 *
 * Operands of products that are copied first, into an order in which a warp reads whole lines: see
 * elimination/split.cuh.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_COPIES_CUH
#define GPUOPT_CUDA_ELIMINATION_COPIES_CUH

#include "kernel.cuh"
#include "split.cuh"

namespace {

constexpr int copy_square = 32, copy_threads = 256;

/* What number `index` of those that operand k has of a side's, or the batch's, adds to its address. */
__device__ int64_t copied_at(const Product &p, int k, int side, int64_t index) {
    int64_t at = 0;
    for (int j = p.first[side] + p.digits[side] - 1; j >= p.first[side]; j--) {
        if (!p.stride[k][j]) continue;
        at += index % p.size[j] * p.stride[k][j];
        index /= p.size[j];
    }
    return at;
}

/* Copies operand k into the order batch, value, side, from entry `to` of the store on: squares of the side and of what
 * is side by side in the operand, the batch or (by_value) the values, through shared memory. */
template <class Stored>
__global__ void __launch_bounds__(copy_threads)
    copy_operand(const EliminationView e, const __grid_constant__ Product p, int k, int64_t to, bool by_value) {
    __shared__ Stored square[copy_square][copy_square + 1];
    const int side = product_side(p, k), lane = threadIdx.x % copy_square, line = threadIdx.x / copy_square;
    constexpr int lines = copy_threads / copy_square;
    const int64_t rows = product_own(p, k, side), batch = product_own(p, k, PRODUCT_BATCH), values = p.values;
    const int64_t inner = by_value ? values : batch, outer = by_value ? batch : values;
    const int64_t across = (rows + copy_square - 1) / copy_square, down = (inner + copy_square - 1) / copy_square;
    const gpuopt__elimination_operand &o = e.operand[p.operand[k]];
    Stored *store = static_cast<Stored *>(e.store);
    for (int64_t n = blockIdx.x; n < across * down * outer; n += gridDim.x) {
        const int64_t row = n % across * copy_square, first = n / across % down * copy_square,
                      other = n / across / down;
        const int64_t i = first + lane;
        if (i < inner) {
            int64_t at = operand_at(e, o, 0) + copied_at(p, k, PRODUCT_BATCH, by_value ? other : i) +
                         (by_value ? i : other) * o.value_stride;
            for (int r = line; r < copy_square && row + r < rows; r += lines)
                square[r][lane] = store[at + copied_at(p, k, side, row + r)];
        }
        __syncthreads();
        for (int r = line; r < copy_square && first + r < inner; r += lines) {
            const int64_t b = by_value ? other : first + r, v = by_value ? first + r : other;
            if (row + lane < rows) store[to + (b * values + v) * rows + row + lane] = square[lane][r];
        }
        __syncthreads();
    }
}

/* Copies what the product asks for; then it reads the copies. scratch: where in the store there is room for them. */
template <class Stored>
gpuopt_status copy_operands(const gpuopt_context *context, const EliminationView &view,
                            const gpuopt__elimination_operand *operand, int64_t scratch, Product *p) {
    const Product plain = *p;
    product_use_copies(p, scratch);
    for (int k = 0; k < p->operands; k++) {
        if (!p->copied[k]) continue;
        const int64_t most = int64_t{16} * cuda_of(context)->multiprocessors, squares = p->copied[k] / 512 + 1;
        const unsigned blocks = static_cast<unsigned>(squares < most ? squares : most);
        const bool by_value = operand[p->operand[k]].value_stride == 1;
        copy_operand<Stored>
            <<<blocks, copy_threads, 0, cuda_of(context)->stream>>>(view, plain, k, p->copy_at[k], by_value);
    }
    return cuda_status(context, cudaGetLastError(), "copying a table");
}

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_COPIES_CUH */
