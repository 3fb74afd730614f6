/* SPDX-License-Identifier: MIT
 *
 * Indices as mixed-radix numbers, one digit for each variable or group of variables. On the CPU: the digits of a
 * message without the plan's division into tiles and rows, for kernels that cut a job in their own way. On the device:
 * the part of an address for the number of a tile. All of this also compiles as host code if __device__ is defined
 * empty.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_DIGITS_CUH
#define GPUOPT_CUDA_ELIMINATION_DIGITS_CUH

#include "tuning.cuh"

namespace {

/* The digits of a message, slowest first. Neighbours are merged if every table can be stepped through both as one. */
struct MessageDigits {
    int64_t size[digits_most];
    int64_t stride[digits_most][digits_operands + 1]; /* of each operand, then of the message */
    uint32_t mask[digits_operands];                   /* digits that an operand depends on */
    int count;
};

/* pool: the array with the job's digits. False: there are too many operands or digits, or too large ones. */
bool gather_digits(const gpuopt__elimination_job &job, const int64_t *pool, MessageDigits *d) {
    const int digits = job.tile_digits + job.row_digits + job.entry_digits;
    const int64_t *size = pool + job.size, *stride = pool + job.stride;
    d->count = 0;
    if (job.operands > digits_operands) return false;
    for (int j = 0; j < digits; j++) {
        int64_t own = size[j];
        /* The plan cut this digit into pieces of rows, the last one shorter; here it is whole. */
        if (job.row_total && j == job.tile_digits - 1) own = job.row_total, j++;
        if (own > UINT32_MAX) return false; /* kernels divide in 32 bits */
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

/* The start of tile `tile`, by the strides of one operand. Index: 32 bits suffice for most, and divide faster. */
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

/* The step from tile - 1 to tile: one digit increases by one, and the faster digits return to 0. */
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

/* The same for a number of any size. */
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
