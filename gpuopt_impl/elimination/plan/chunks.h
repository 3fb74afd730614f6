/* SPDX-License-Identifier: MIT
 *
 * Cuts a job into chunks, for tables in host memory (STREAM). All scopes are sorted the same way, so the slowest digits
 * of a message are the slowest digits of every table of its bucket, apart from the eliminated variable. A chunk fixes
 * these digits. Its part of each table is then one contiguous range per value of the eliminated variable. Its part of
 * the message is one contiguous range, and its tiles are consecutive. So a chunk is a job, too.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_PLAN_CHUNKS_H
#define GPUOPT_IMPL_ELIMINATION_PLAN_CHUNKS_H

#include "../base/table.h"

static int64_t gpuopt__elimination_aligned(int64_t entries) {
    return (entries + GPUOPT__ELIMINATION_TABLE_ALIGN - 1) & ~(int64_t)(GPUOPT__ELIMINATION_TABLE_ALIGN - 1);
}

/* How to cut a job: a chunk fixes the first `digit` tile digits and has `range` values of the next digit. The last of
 * the `pieces` may have fewer. */
typedef struct gpuopt__elimination_chunks {
    int32_t digit;
    int64_t range, pieces, count;
} gpuopt__elimination_chunks;

static int32_t gpuopt__elimination_job_digits(const gpuopt__elimination_job *job) {
    return job->tile_digits + job->row_digits + job->entry_digits;
}

/* The entries of operand k (operands: the message) for one value of the eliminated variable, in the digits from `digit`
 * on. If digit `digit` is a tile digit, only `range` of its values count. pool: the digits of the plan. */
static int64_t gpuopt__elimination_part_entries(const gpuopt__elimination_job *job, const int64_t *pool, int32_t k,
                                                int32_t digit, int64_t range) {
    const int32_t digits = gpuopt__elimination_job_digits(job);
    const int64_t *size = pool + job->size, *stride = pool + job->stride + (int64_t)k * digits;
    int64_t last = 0;
    int32_t j;
    for (j = digit; j < digits; j++) {
        int64_t own = j == digit && j < job->tile_digits ? range : size[j];
        if (job->row_total && j == job->tile_digits - 1) { /* pieces of rows; the last one is short */
            own = own * job->rows < job->row_total ? own * job->rows : job->row_total;
            j++;
        }
        last += (own - 1) * stride[j];
    }
    return last + 1;
}

/* The entries of a buffer for a chunk. operand: the operands of the plan. */
static int64_t gpuopt__elimination_chunk_entries(const gpuopt__elimination_job *job, const int64_t *pool,
                                                 const gpuopt__elimination_operand *operand, int32_t digit,
                                                 int64_t range) {
    int64_t sum = 0;
    int32_t k;
    for (k = 0; k < job->operands; k++)
        if (operand[job->operand + k].on_host)
            sum +=
                gpuopt__elimination_aligned(job->values * gpuopt__elimination_part_entries(job, pool, k, digit, range));
    if (job->on_host)
        sum += gpuopt__elimination_aligned(gpuopt__elimination_part_entries(job, pool, job->operands, digit, range));
    return sum;
}

/* The same for a job in one chunk, and in single tiles. */
static inline int64_t gpuopt__elimination_whole_job_entries(const gpuopt__elimination_job *job, const int64_t *pool,
                                                            const gpuopt__elimination_operand *operand) {
    return gpuopt__elimination_chunk_entries(job, pool, operand, 0, job->tile_digits ? pool[job->size] : 1);
}

static inline int64_t gpuopt__elimination_one_tile_entries(const gpuopt__elimination_job *job, const int64_t *pool,
                                                           const gpuopt__elimination_operand *operand) {
    return gpuopt__elimination_chunk_entries(job, pool, operand, job->tile_digits ? job->tile_digits - 1 : 0, 1);
}

/* Fixes as few digits as a buffer of `capacity` entries allows; the buffer holds at least one tile. Then cuts up to
 * `wanted` pieces of at least `least` entries. They copy the same amount in all, but more of it overlaps with the
 * computation of other pieces. */
static inline void gpuopt__elimination_cut_chunks(const gpuopt__elimination_job *job, const int64_t *pool,
                                                  const gpuopt__elimination_operand *operand, int64_t capacity,
                                                  int64_t least, int64_t wanted, gpuopt__elimination_chunks *c) {
    int64_t outer = 1, size, low, high, most;
    for (c->digit = 0;; c->digit++) {
        size = job->tile_digits ? pool[job->size + c->digit] : 1;
        low = 0;
        high = size;
        while (low < high) {
            int64_t range = low + (high - low + 1) / 2;
            if (gpuopt__elimination_chunk_entries(job, pool, operand, c->digit, range) <= capacity) low = range;
            else high = range - 1;
        }
        if (low > 0 || c->digit + 1 >= job->tile_digits) break;
        outer *= size;
    }
    if (low < 1) low = 1;
    c->pieces = (size + low - 1) / low;
    most = gpuopt__elimination_chunk_entries(job, pool, operand, c->digit, size) / least;
    if (most > size) most = size;
    wanted = (wanted + outer - 1) / outer;
    if (wanted > most) wanted = most;
    if (c->pieces < wanted) c->pieces = wanted;
    c->range = (size + c->pieces - 1) / c->pieces;
    c->pieces = (size + c->range - 1) / c->range;
    c->count = outer * c->pieces;
}

/* The start of chunk `number` in operand k. */
static inline int64_t gpuopt__elimination_chunk_at(const gpuopt__elimination_job *job, const int64_t *pool, int32_t k,
                                                   const gpuopt__elimination_chunks *c, int64_t number) {
    const int64_t *size = pool + job->size,
                  *stride = pool + job->stride + (int64_t)k * gpuopt__elimination_job_digits(job);
    int64_t at = 0;
    int32_t j;
    if (job->tile_digits) at = number % c->pieces * c->range * stride[c->digit];
    number /= c->pieces;
    for (j = c->digit - 1; j >= 0; j--) {
        at += number % size[j] * stride[j];
        number /= size[j];
    }
    return at;
}

/* Makes the job of chunk `number`, with its digits and operands in `digits` and `part`; digits is long enough for the
 * digits of the whole job. The parts of tables in host memory lie one after the other in the store from entry `buffer`
 * on, the message last. Their counts are count_shift entries further on in the store of counts. */
static inline void gpuopt__elimination_make_chunk(const gpuopt__elimination_job *job, const int64_t *pool,
                                                  const gpuopt__elimination_operand *operand,
                                                  const gpuopt__elimination_chunks *c, int64_t number, int64_t buffer,
                                                  int64_t count_shift, gpuopt__elimination_job *chunk,
                                                  gpuopt__elimination_operand *part, int64_t *digits) {
    const int32_t all = gpuopt__elimination_job_digits(job), own = all - c->digit;
    const int64_t first = number % c->pieces * c->range;
    int64_t range = 1;
    int32_t j, k;
    *chunk = *job;
    chunk->operand = 0;
    chunk->tile_digits -= c->digit;
    chunk->size = 0;
    chunk->stride = own;
    for (k = 0; k < job->operands + 2; k++) /* the sizes, then all strides */
        for (j = 0; j < own; j++) digits[(int64_t)k * own + j] = pool[job->size + (int64_t)k * all + c->digit + j];
    if (chunk->tile_digits) {
        range = digits[0] - first < c->range ? digits[0] - first : c->range;
        digits[0] = range;
        if (job->row_total && chunk->tile_digits == 1) {
            int64_t rows = job->row_total - first * job->rows;
            chunk->row_total = (int32_t)(rows < range * job->rows ? rows : range * job->rows);
        }
    }
    chunk->tiles = 1;
    for (j = 0; j < chunk->tile_digits; j++) chunk->tiles *= digits[j];
    chunk->entries = gpuopt__elimination_part_entries(chunk, digits, job->operands, 0, range);
    for (k = 0; k < job->operands; k++) {
        int64_t by = gpuopt__elimination_chunk_at(job, pool, k, c, number);
        part[k] = operand[job->operand + k];
        part[k].at += by;
        if (part[k].count_at >= 0) part[k].count_at += by;
        if (!part[k].on_host) continue;
        part[k].at = buffer;
        part[k].value_stride = gpuopt__elimination_part_entries(chunk, digits, k, 0, range);
        if (part[k].count_at >= 0) part[k].count_at = buffer + count_shift;
        buffer += gpuopt__elimination_aligned(job->values *
                                              gpuopt__elimination_part_entries(job, pool, k, c->digit, c->range));
    }
    chunk->at = job->on_host ? buffer : job->at + gpuopt__elimination_chunk_at(job, pool, job->operands, c, number);
    if (job->count_at >= 0) chunk->count_at = job->on_host ? buffer + count_shift : job->count_at + chunk->at - job->at;
}

#endif /* GPUOPT_IMPL_ELIMINATION_PLAN_CHUNKS_H */
