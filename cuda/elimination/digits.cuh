/* SPDX-License-Identifier: MIT
 *
 * A message's digits as those kernels see them that cut a job in their own way: without the plan's tiles and rows.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_DIGITS_CUH
#define GPUOPT_CUDA_ELIMINATION_DIGITS_CUH

#include "tuning.cuh"

namespace {

/* The digits of a message, neighbours merged wherever all tables go through both in one sweep. */
struct MessageDigits {
    int64_t size[digits_most];
    int64_t stride[digits_most][digits_operands + 1];
    uint32_t mask[digits_operands]; /* digits that an operand depends on */
    int count;
};

bool gather_digits(const gpuopt__job &job, const int64_t *pool, MessageDigits *d) {
    const int digits = job.tile_digits + job.row_digits + job.entry_digits;
    const int64_t *size = pool + job.size, *stride = pool + job.stride;
    d->count = 0;
    if (job.operands > digits_operands) return false;
    for (int j = 0; j < digits; j++) {
        int64_t own = size[j];
        /* A digit cut into pieces of rows, the last one short: its rows count through. */
        if (job.row_total && j == job.tile_digits - 1) own = job.row_total, j++;
        if (own > UINT32_MAX) return false; /* kernels divide by 32 bits */
        bool joins = d->count > 0 && d->size[d->count - 1] * own <= UINT32_MAX;
        for (int k = 0; k <= job.operands && joins; k++)
            joins = d->stride[d->count - 1][k] == stride[static_cast<int64_t>(k) * digits + j] * own;
        if (!joins) {
            if (d->count == digits_most) return false;
            d->size[d->count++] = 1;
        }
        d->size[d->count - 1] *= own;
        for (int k = 0; k <= job.operands; k++)
            d->stride[d->count - 1][k] = stride[static_cast<int64_t>(k) * digits + j];
    }
    for (int k = 0; k < job.operands; k++) {
        d->mask[k] = 0;
        for (int j = 0; j < d->count; j++) d->mask[k] |= d->stride[j][k] ? 1u << j : 0;
    }
    return true;
}

/* ---- Addresses on the device ---- */

/* Where tile `tile` begins, for strides of one operand; Index: 32 bits are enough for most, and quicker to divide. */
template <class Index>
__device__ int64_t tile_at(const int64_t *size, const int64_t *stride, int digits, Index tile) {
    int64_t at = 0;
    for (int j = digits - 1; j >= 0; j--) {
        Index s = static_cast<Index>(size[j]);
        at += static_cast<int64_t>(tile % s) * stride[j];
        tile /= s;
    }
    return at;
}

/* From tile - 1 to tile: one digit is one more, and those behind it begin again. */
template <class Index>
__device__ int64_t tile_step(const int64_t *size, const int64_t *stride, int digits, Index tile) {
    int j = digits - 1;
    int64_t by = stride[j];
    while (j > 0) {
        Index s = static_cast<Index>(size[j]);
        if (tile % s) break;
        tile /= s;
        by -= size[j] * stride[j];
        by += stride[--j];
    }
    return by;
}

__device__ inline int64_t any_tile_at(const int64_t *size, const int64_t *stride, int digits, int64_t tile) {
    return tile >> 32 ? tile_at<uint64_t>(size, stride, digits, static_cast<uint64_t>(tile))
                      : tile_at<uint32_t>(size, stride, digits, static_cast<uint32_t>(tile));
}

__device__ inline int64_t any_tile_step(const int64_t *size, const int64_t *stride, int digits, int64_t tile) {
    return tile >> 32 ? tile_step<uint64_t>(size, stride, digits, static_cast<uint64_t>(tile))
                      : tile_step<uint32_t>(size, stride, digits, static_cast<uint32_t>(tile));
}

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_DIGITS_CUH */
