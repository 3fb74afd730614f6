/* SPDX-License-Identifier: MIT
 *
 * A message's digits as those kernels see them that cut a job in their own way: without the plan's tiles and rows.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_DIGITS_CUH
#define GPUOPT_CUDA_ELIMINATION_DIGITS_CUH

#include "../../gpuopt_impl/elimination/table.h"

namespace {

/* Jobs with more tables, or more digits after neighbours are merged, are left to the general kernel. */
constexpr int digits_operands = 16;
constexpr int digits_most = 16;

/* The digits of a message, neighbours merged wherever all tables go through both in one sweep. */
struct MessageDigits {
    int64_t size[digits_most];
    int64_t stride[digits_most][digits_operands + 1];
    uint32_t mask[digits_operands]; /* digits that an operand depends on */
    int count;
};

bool gather_digits(const gpuopt__elimination_job &job, const int64_t *pool, MessageDigits *d) {
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

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_DIGITS_CUH */
