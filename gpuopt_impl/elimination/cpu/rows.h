/* SPDX-License-Identifier: MIT
 *
 * Elimination on the CPU: sums over pieces of a row. A bucket's tables have their variables in the message's order. So
 * a piece needs a range of neighbouring entries of each table, each repeated once for each value of the variables that
 * the table lacks. Short repetitions are written out first, so that only long runs are added.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_CPU_ROWS_H
#define GPUOPT_IMPL_ELIMINATION_CPU_ROWS_H

#include "../base/table.h"

/* How a job's rows are cut: a piece is the `inner` entries of the fastest digits, times up to `step` values of the
 * digit before them. */
typedef struct gpuopt__elimination_cpu_pieces {
    int32_t digits; /* entry digits slower than the cut digit */
    int32_t inner;
    int32_t size, step; /* values of the cut digit, in a row and in a piece */
    int64_t cuts;       /* pieces over the cut digit */
    int64_t count;      /* pieces of a row */
} gpuopt__elimination_cpu_pieces;

/* The entries of an operand that a piece needs. First `distinct` neighbours are written out: in each step, groups of
 * `unit` entries are repeated `times` times. Then come runs of `run` entries (or of one repeated entry) at the places
 * that the digits give. */
typedef struct gpuopt__elimination_cpu_shape {
    int32_t distinct; /* if `cut`, for one value of the cut digit; else for all */
    int cut;          /* the operand depends on the cut digit */
    int32_t steps, unit[2], times[2];
    int32_t run;
    int one;        /* the run is one entry, repeated */
    int32_t digits; /* slower than a run, the fastest first */
    int32_t size[GPUOPT__ELIMINATION_CPU_PIECE_DIGITS];
    int32_t stride[GPUOPT__ELIMINATION_CPU_PIECE_DIGITS];
    int64_t row[GPUOPT__ELIMINATION_TILE_ROWS]; /* offsets of the rows of a tile */
} gpuopt__elimination_cpu_shape;

/* The current piece: `step` values of the cut digit; the last piece may have fewer. */
typedef struct gpuopt__elimination_cpu_extent {
    int32_t entries, step;
    void *repeated[2]; /* [most entries of a piece] stored costs or counts: scratch */
} gpuopt__elimination_cpu_extent;

static int32_t gpuopt__elimination_cpu_padded(int32_t n) {
    return (n + GPUOPT__ELIMINATION_CPU_VECTOR - 1) / GPUOPT__ELIMINATION_CPU_VECTOR * GPUOPT__ELIMINATION_CPU_VECTOR;
}

/* Chooses how rows are cut. entry_bytes: bytes of the sum of an entry, and of its count or exponent. */
static void gpuopt__elimination_cpu_cut_pieces(const gpuopt__elimination_plan *plan, const gpuopt__elimination_job *job,
                                               size_t entry_bytes, gpuopt__elimination_cpu_pieces *p) {
    const int64_t *size = plan->digit + job->size + job->tile_digits + job->row_digits;
    int32_t most = (int32_t)(GPUOPT__ELIMINATION_CPU_PIECE_BYTES / ((size_t)job->rows * entry_bytes)) /
                   GPUOPT__ELIMINATION_CPU_VECTOR * GPUOPT__ELIMINATION_CPU_VECTOR;
    if (most > GPUOPT__ELIMINATION_CPU_PIECE_MOST) most = GPUOPT__ELIMINATION_CPU_PIECE_MOST;
    p->digits = job->entry_digits;
    p->inner = p->size = p->step = 1;
    while (p->digits > 0) {
        p->size = (int32_t)size[--p->digits];
        p->step = most / p->inner < p->size ? most / p->inner : p->size;
        if (p->step < p->size || p->digits == 0) break;
        p->inner *= p->size;
        p->size = p->step = 1;
    }
    p->cuts = (p->size + p->step - 1) / p->step;
    p->count = job->row_entries / ((int64_t)p->inner * p->size) * p->cuts;
}

/* The digits of a piece for one operand, the fastest first. Neighbouring digits are merged if the operand depends on
 * both or on neither. *has: whether it depends on the first. Returns their number. */
static int32_t gpuopt__elimination_cpu_shape_digits(const gpuopt__elimination_plan *plan,
                                                    const gpuopt__elimination_job *job,
                                                    const gpuopt__elimination_cpu_pieces *p, const int64_t *stride,
                                                    int32_t *sizes, int *has) {
    const int64_t *size = plan->digit + job->size + job->tile_digits + job->row_digits;
    int32_t j, count = 0;
    int last = 0;
    for (j = job->entry_digits - 1; j >= p->digits; j--) {
        int32_t own = j == p->digits ? p->step : (int32_t)size[j];
        if (own == 1) continue;
        if (count > 0 && (stride[j] != 0) == last) sizes[count - 1] *= own;
        else sizes[count++] = own;
        last = stride[j] != 0;
        if (count == 1) *has = last;
    }
    return count;
}

/* Finds the shape of one operand. own: its strides, all digits. */
static void gpuopt__elimination_cpu_shape_of(const gpuopt__elimination_plan *plan, const gpuopt__elimination_job *job,
                                             const gpuopt__elimination_cpu_pieces *p, const int64_t *own,
                                             gpuopt__elimination_cpu_shape *s) {
    const int64_t *size = plan->digit + job->size, *entry = own + job->tile_digits + job->row_digits;
    int32_t sizes[GPUOPT__ELIMINATION_CPU_PIECE_DIGITS], count, first = 0, neighbours = 1, written = 1, j, r;
    int has = 0;
    memset(s, 0, sizeof *s);
    for (r = 0; r < job->rows; r++) {
        int32_t rest = r;
        for (j = job->tile_digits + job->row_digits - 1; j >= job->tile_digits; j--) {
            s->row[r] += rest % size[j] * own[j];
            rest = (int32_t)(rest / size[j]);
        }
    }
    count = gpuopt__elimination_cpu_shape_digits(plan, job, p, entry, sizes, &has);
    s->run = 1;
    s->one = count > 0 && !has && (count == 1 || sizes[0] >= GPUOPT__ELIMINATION_CPU_VECTOR);
    while (first < count && (first == 0 || has || s->run < GPUOPT__ELIMINATION_CPU_VECTOR)) { /* the digits of a run */
        if (first > 0 && s->one) break;
        if (has) neighbours *= sizes[first];
        else if (!s->one) {
            s->unit[s->steps] = s->run;
            s->times[s->steps++] = sizes[first];
        }
        s->run *= sizes[first++];
        has = !has;
    }
    for (j = 0; j < s->steps; j++) written *= s->times[j];
    for (; first < count; first++, has = !has) {
        s->size[s->digits] = sizes[first];
        s->stride[s->digits++] = has ? neighbours * written : 0;
        if (has) neighbours *= sizes[first];
    }
    s->cut = job->entry_digits > 0 && entry[p->digits] != 0;
    s->distinct = s->cut ? neighbours / p->step : neighbours;
}

/* ---- Sums ---- */

/* Repeats each group of `unit` entries `times` times. Most groups are no longer than a vector and are moved at once. */
#define GPUOPT__ELIMINATION_CPU_DEFINE_REPEAT(name, type)                                                      \
    GPUOPT_HD void name##_units(type *__restrict to, const type *__restrict from, int32_t units, int32_t unit, \
                                int32_t times) {                                                               \
        int32_t k, t, i;                                                                                       \
        for (t = 0; t < times; t++)                                                                            \
            for (k = 0; k < units; k++)                                                                        \
                for (i = 0; i < unit; i++) to[(k * times + t) * unit + i] = from[k * unit + i];                \
    }                                                                                                          \
    static void name(type *to, const type *from, int32_t count, int32_t unit, int32_t times) {                 \
        if (unit == 1 && times == 2) name##_units(to, from, count, 1, 2);                                      \
        else if (unit == 1) name##_units(to, from, count, 1, times);                                           \
        else if (unit == 2) name##_units(to, from, count / 2, 2, times);                                       \
        else if (unit == 4) name##_units(to, from, count / 4, 4, times);                                       \
        else if (unit == 8) name##_units(to, from, count / 8, 8, times);                                       \
        else name##_units(to, from, count / unit, unit, times);                                                \
    }
GPUOPT__ELIMINATION_CPU_DEFINE_REPEAT(gpuopt__elimination_cpu_repeat_8, uint8_t)
GPUOPT__ELIMINATION_CPU_DEFINE_REPEAT(gpuopt__elimination_cpu_repeat_16, uint16_t)
GPUOPT__ELIMINATION_CPU_DEFINE_REPEAT(gpuopt__elimination_cpu_repeat_32, uint32_t)
GPUOPT__ELIMINATION_CPU_DEFINE_REPEAT(gpuopt__elimination_cpu_repeat_64, uint64_t)
GPUOPT__ELIMINATION_CPU_DEFINE_REPEAT(gpuopt__elimination_cpu_repeat_values, double)

/* sum[i] += the table's entry at the shape's offset, for a piece. At -O2, compilers vectorize loops over whole vectors
 * if the pointers are restrict parameters. */
#define GPUOPT__ELIMINATION_CPU_DEFINE_ADD(name, type, repeat, sum_type, ADD)                                     \
    static void name##_run(sum_type *__restrict sum, const type *__restrict from, int32_t n, uint64_t limit) {    \
        int32_t i = 0, j;                                                                                         \
        (void)limit;                                                                                              \
        for (; i + GPUOPT__ELIMINATION_CPU_VECTOR <= n; i += GPUOPT__ELIMINATION_CPU_VECTOR,                      \
                                                        sum += GPUOPT__ELIMINATION_CPU_VECTOR,                    \
                                                        from += GPUOPT__ELIMINATION_CPU_VECTOR)                   \
            for (j = 0; j < GPUOPT__ELIMINATION_CPU_VECTOR; j++) sum[j] = (sum_type)ADD(sum[j], from[j], limit);  \
        for (j = 0; j < n - i; j++) sum[j] = (sum_type)ADD(sum[j], from[j], limit);                               \
    }                                                                                                             \
    static void name##_one(sum_type *sum, type one, int32_t n, uint64_t limit) {                                  \
        int32_t i = 0, j;                                                                                         \
        (void)limit;                                                                                              \
        for (; i + GPUOPT__ELIMINATION_CPU_VECTOR <= n;                                                           \
             i += GPUOPT__ELIMINATION_CPU_VECTOR, sum += GPUOPT__ELIMINATION_CPU_VECTOR)                          \
            for (j = 0; j < GPUOPT__ELIMINATION_CPU_VECTOR; j++) sum[j] = (sum_type)ADD(sum[j], one, limit);      \
        for (j = 0; j < n - i; j++) sum[j] = (sum_type)ADD(sum[j], one, limit);                                   \
    }                                                                                                             \
    static void name(const gpuopt__elimination_cpu_shape *s, const gpuopt__elimination_cpu_extent *x, void *sums, \
                     const void *table, uint64_t limit) {                                                         \
        sum_type *sum = (sum_type *)sums;                                                                         \
        const type *from = (const type *)table;                                                                   \
        int32_t digit[GPUOPT__ELIMINATION_CPU_PIECE_DIGITS], done, j,                                             \
            count = s->cut ? s->distinct * x->step : s->distinct;                                                 \
        for (j = 0; j < s->steps; j++) {                                                                          \
            repeat((type *)x->repeated[j], from, count, s->unit[j], s->times[j]);                                 \
            count *= s->times[j];                                                                                 \
            from = (const type *)x->repeated[j];                                                                  \
        }                                                                                                         \
        for (j = 0; j < s->digits; j++) digit[j] = 0;                                                             \
        for (done = 0; done < x->entries; done += s->run) {                                                       \
            int32_t length = s->run < x->entries - done ? s->run : x->entries - done;                             \
            if (s->one) name##_one(sum + done, *from, length, limit);                                             \
            else name##_run(sum + done, from, length, limit);                                                     \
            for (j = 0; j < s->digits; j++) {                                                                     \
                from += s->stride[j];                                                                             \
                if (++digit[j] < s->size[j]) break;                                                               \
                from -= s->stride[j] * s->size[j];                                                                \
                digit[j] = 0;                                                                                     \
            }                                                                                                     \
        }                                                                                                         \
    }
#define GPUOPT__ELIMINATION_CPU_PLAIN_ADD(a, b, limit) ((a) + (b))
#define GPUOPT__ELIMINATION_CPU_COUNT_ADD(a, b, limit) gpuopt__elimination_count_product(a, b)
GPUOPT__ELIMINATION_CPU_DEFINE_ADD(gpuopt__elimination_cpu_add_8_16, uint8_t, gpuopt__elimination_cpu_repeat_8, int16_t,
                                   GPUOPT__ELIMINATION_CPU_PLAIN_ADD)
GPUOPT__ELIMINATION_CPU_DEFINE_ADD(gpuopt__elimination_cpu_add_16_16, uint16_t, gpuopt__elimination_cpu_repeat_16,
                                   int16_t, GPUOPT__ELIMINATION_CPU_PLAIN_ADD)
GPUOPT__ELIMINATION_CPU_DEFINE_ADD(gpuopt__elimination_cpu_add_8_32, uint8_t, gpuopt__elimination_cpu_repeat_8,
                                   uint32_t, GPUOPT__ELIMINATION_CPU_PLAIN_ADD)
GPUOPT__ELIMINATION_CPU_DEFINE_ADD(gpuopt__elimination_cpu_add_16_32, uint16_t, gpuopt__elimination_cpu_repeat_16,
                                   uint32_t, GPUOPT__ELIMINATION_CPU_PLAIN_ADD)
GPUOPT__ELIMINATION_CPU_DEFINE_ADD(gpuopt__elimination_cpu_add_32_32, uint32_t, gpuopt__elimination_cpu_repeat_32,
                                   uint32_t, GPUOPT__ELIMINATION_CPU_PLAIN_ADD)
GPUOPT__ELIMINATION_CPU_DEFINE_ADD(gpuopt__elimination_cpu_add_64_64, uint64_t, gpuopt__elimination_cpu_repeat_64,
                                   uint64_t, gpuopt__elimination_clamped_sum)
GPUOPT__ELIMINATION_CPU_DEFINE_ADD(gpuopt__elimination_cpu_add_values, double, gpuopt__elimination_cpu_repeat_values,
                                   double, GPUOPT__ELIMINATION_CPU_PLAIN_ADD)
GPUOPT__ELIMINATION_CPU_DEFINE_ADD(gpuopt__elimination_cpu_multiply_counts, uint64_t, gpuopt__elimination_cpu_repeat_64,
                                   uint64_t, GPUOPT__ELIMINATION_CPU_COUNT_ADD)

/* Over whole vectors: the first sum, or the forbidden cost if the sum is forbidden; then the minimum of the best and
 * a sum. */
#define GPUOPT__ELIMINATION_CPU_DEFINE_LEAST(name, sum_type, WORST)                                              \
    static void gpuopt__elimination_cpu_least_##name##_of(sum_type *__restrict b, const sum_type *__restrict s,  \
                                                          int32_t n) {                                           \
        int32_t i, j;                                                                                            \
        for (i = 0; i < n; i += GPUOPT__ELIMINATION_CPU_VECTOR, b += GPUOPT__ELIMINATION_CPU_VECTOR,             \
            s += GPUOPT__ELIMINATION_CPU_VECTOR)                                                                 \
            for (j = 0; j < GPUOPT__ELIMINATION_CPU_VECTOR; j++) b[j] = s[j] < b[j] ? s[j] : b[j];               \
    }                                                                                                            \
    static void gpuopt__elimination_cpu_first_##name##_of(sum_type *__restrict b, const sum_type *__restrict s,  \
                                                          sum_type worst, int32_t n) {                           \
        int32_t i, j;                                                                                            \
        for (i = 0; i < n; i += GPUOPT__ELIMINATION_CPU_VECTOR, b += GPUOPT__ELIMINATION_CPU_VECTOR,             \
            s += GPUOPT__ELIMINATION_CPU_VECTOR)                                                                 \
            for (j = 0; j < GPUOPT__ELIMINATION_CPU_VECTOR; j++) b[j] = s[j] < worst ? s[j] : worst;             \
    }                                                                                                            \
    static void gpuopt__elimination_cpu_least_##name(void *best, const void *sum, int first, uint64_t forbidden, \
                                                     int32_t n) {                                                \
        (void)forbidden;                                                                                         \
        if (first) gpuopt__elimination_cpu_first_##name##_of((sum_type *)best, (const sum_type *)sum, WORST, n); \
        else gpuopt__elimination_cpu_least_##name##_of((sum_type *)best, (const sum_type *)sum, n);              \
    }
/* Forbidden sums are not counted. */
#define GPUOPT__ELIMINATION_CPU_DEFINE_COUNT(name, sum_type)                                                \
    static void gpuopt__elimination_cpu_count_##name(void *best, uint64_t *count, const void *sum,          \
                                                     const uint64_t *factor, int first, uint64_t forbidden, \
                                                     int32_t n) {                                           \
        sum_type *b = (sum_type *)best;                                                                     \
        const sum_type *s = (const sum_type *)sum;                                                          \
        int32_t i;                                                                                          \
        for (i = 0; i < n; i++) {                                                                           \
            if (first) b[i] = (sum_type)forbidden, count[i] = 0;                                            \
            if (s[i] > b[i] || (uint64_t)s[i] >= forbidden) continue;                                       \
            count[i] = s[i] < b[i] ? factor[i] : gpuopt__elimination_saturated_sum(count[i], factor[i]);    \
            b[i] = s[i];                                                                                    \
        }                                                                                                   \
    }
/* The least of the sums so far, and the first value that attains it; forbidden sums are all alike. */
#define GPUOPT__ELIMINATION_CPU_DEFINE_CHOOSE(name, sum_type, WORST)                                                  \
    static void gpuopt__elimination_cpu_choose_##name##_of(sum_type *__restrict b, uint32_t *__restrict chosen,       \
                                                           const sum_type *__restrict s, uint32_t value, int32_t n) { \
        int32_t i;                                                                                                    \
        for (i = 0; i < n; i++) {                                                                                     \
            chosen[i] = s[i] < b[i] ? value : chosen[i];                                                              \
            b[i] = s[i] < b[i] ? s[i] : b[i];                                                                         \
        }                                                                                                             \
    }                                                                                                                 \
    static void gpuopt__elimination_cpu_choose_##name(void *best, uint32_t *chosen, const void *sum, int32_t value,   \
                                                      uint64_t forbidden, int32_t n) {                                \
        (void)forbidden;                                                                                              \
        if (value == 0) {                                                                                             \
            gpuopt__elimination_cpu_first_##name##_of((sum_type *)best, (const sum_type *)sum, WORST, n);             \
            memset(chosen, 0, sizeof *chosen *(size_t)n);                                                             \
        } else                                                                                                        \
            gpuopt__elimination_cpu_choose_##name##_of((sum_type *)best, chosen, (const sum_type *)sum,               \
                                                       (uint32_t)value, n);                                           \
    }
GPUOPT__ELIMINATION_CPU_DEFINE_LEAST(16, int16_t, (int16_t)forbidden)
GPUOPT__ELIMINATION_CPU_DEFINE_LEAST(32, uint32_t, (uint32_t)forbidden)
GPUOPT__ELIMINATION_CPU_DEFINE_LEAST(64, uint64_t, forbidden)
GPUOPT__ELIMINATION_CPU_DEFINE_LEAST(values, double, HUGE_VAL)
GPUOPT__ELIMINATION_CPU_DEFINE_CHOOSE(16, int16_t, (int16_t)forbidden)
GPUOPT__ELIMINATION_CPU_DEFINE_CHOOSE(32, uint32_t, (uint32_t)forbidden)
GPUOPT__ELIMINATION_CPU_DEFINE_CHOOSE(64, uint64_t, forbidden)
GPUOPT__ELIMINATION_CPU_DEFINE_CHOOSE(values, double, HUGE_VAL)
GPUOPT__ELIMINATION_CPU_DEFINE_COUNT(16, int16_t)
GPUOPT__ELIMINATION_CPU_DEFINE_COUNT(32, uint32_t)
GPUOPT__ELIMINATION_CPU_DEFINE_COUNT(64, uint64_t)

/* Stores finished entries in the width of a table. */
#define GPUOPT__ELIMINATION_CPU_DEFINE_STORE(name, type, sum_type)                              \
    static void name##_all(type *__restrict to, const sum_type *__restrict from, int32_t n) {   \
        int32_t i = 0, j;                                                                       \
        for (; i + GPUOPT__ELIMINATION_CPU_VECTOR <= n; i += GPUOPT__ELIMINATION_CPU_VECTOR,    \
                                                        to += GPUOPT__ELIMINATION_CPU_VECTOR,   \
                                                        from += GPUOPT__ELIMINATION_CPU_VECTOR) \
            for (j = 0; j < GPUOPT__ELIMINATION_CPU_VECTOR; j++) to[j] = (type)from[j];         \
        for (j = 0; j < n - i; j++) to[j] = (type)from[j];                                      \
    }                                                                                           \
    static void name(void *message, const void *best, int32_t n) {                              \
        name##_all((type *)message, (const sum_type *)best, n);                                 \
    }
GPUOPT__ELIMINATION_CPU_DEFINE_STORE(gpuopt__elimination_cpu_store_8_16, uint8_t, int16_t)
GPUOPT__ELIMINATION_CPU_DEFINE_STORE(gpuopt__elimination_cpu_store_16_16, uint16_t, int16_t)
GPUOPT__ELIMINATION_CPU_DEFINE_STORE(gpuopt__elimination_cpu_store_8_32, uint8_t, uint32_t)
GPUOPT__ELIMINATION_CPU_DEFINE_STORE(gpuopt__elimination_cpu_store_16_32, uint16_t, uint32_t)
GPUOPT__ELIMINATION_CPU_DEFINE_STORE(gpuopt__elimination_cpu_store_32_32, uint32_t, uint32_t)
GPUOPT__ELIMINATION_CPU_DEFINE_STORE(gpuopt__elimination_cpu_store_64_64, uint64_t, uint64_t)
GPUOPT__ELIMINATION_CPU_DEFINE_STORE(gpuopt__elimination_cpu_store_values, double, double)

/* LOG_SUM_EXP: high is the largest exponent and best the sum relative to it; with `maximum` only high is kept. */
static void gpuopt__elimination_cpu_add_exponentials(int maximum, double *best, double *high, const double *sum,
                                                     int first, int32_t n) {
    int32_t i;
    for (i = 0; i < n; i++) {
        gpuopt__elimination_log_sum s;
        s.high = first ? -HUGE_VAL : high[i];
        s.sum = first ? 0 : best[i];
        if (maximum) s.high = gpuopt__max(s.high, sum[i]);
        else gpuopt__elimination_log_sum_add(&s, sum[i]);
        high[i] = s.high;
        best[i] = s.sum;
    }
}

static void gpuopt__elimination_cpu_store_logarithms(int maximum, double *message, const double *best,
                                                     const double *high, int32_t n) {
    int32_t i;
    for (i = 0; i < n; i++) {
        gpuopt__elimination_log_sum s;
        s.high = high[i];
        s.sum = best[i];
        message[i] = maximum ? s.high : gpuopt__elimination_log_sum_value(&s);
    }
}

/* The functions for one width of stored costs and one width of sums. */
typedef struct gpuopt__elimination_cpu_lanes {
    int32_t bytes; /* of a sum */
    void (*add)(const gpuopt__elimination_cpu_shape *, const gpuopt__elimination_cpu_extent *, void *sum,
                const void *table, uint64_t limit);
    void (*least)(void *best, const void *sum, int first, uint64_t forbidden, int32_t n);
    void (*count)(void *best, uint64_t *count, const void *sum, const uint64_t *factor, int first, uint64_t forbidden,
                  int32_t n);
    void (*store)(void *message, const void *best, int32_t n);
    void (*choose)(void *best, uint32_t *chosen, const void *sum, int32_t value, uint64_t forbidden, int32_t n);
} gpuopt__elimination_cpu_lanes;

/* Chooses the narrowest sums that hold every sum of a job, forbidden costs included. */
static const gpuopt__elimination_cpu_lanes *gpuopt__elimination_cpu_lanes_of(const gpuopt__elimination_plan *plan,
                                                                             int32_t operands) {
    static const gpuopt__elimination_cpu_lanes lanes[7] = {
        {8, gpuopt__elimination_cpu_add_values, gpuopt__elimination_cpu_least_values, NULL,
         gpuopt__elimination_cpu_store_values, gpuopt__elimination_cpu_choose_values},
        {2, gpuopt__elimination_cpu_add_8_16, gpuopt__elimination_cpu_least_16, gpuopt__elimination_cpu_count_16,
         gpuopt__elimination_cpu_store_8_16, gpuopt__elimination_cpu_choose_16},
        {2, gpuopt__elimination_cpu_add_16_16, gpuopt__elimination_cpu_least_16, gpuopt__elimination_cpu_count_16,
         gpuopt__elimination_cpu_store_16_16, gpuopt__elimination_cpu_choose_16},
        {4, gpuopt__elimination_cpu_add_8_32, gpuopt__elimination_cpu_least_32, gpuopt__elimination_cpu_count_32,
         gpuopt__elimination_cpu_store_8_32, gpuopt__elimination_cpu_choose_32},
        {4, gpuopt__elimination_cpu_add_16_32, gpuopt__elimination_cpu_least_32, gpuopt__elimination_cpu_count_32,
         gpuopt__elimination_cpu_store_16_32, gpuopt__elimination_cpu_choose_32},
        {4, gpuopt__elimination_cpu_add_32_32, gpuopt__elimination_cpu_least_32, gpuopt__elimination_cpu_count_32,
         gpuopt__elimination_cpu_store_32_32, gpuopt__elimination_cpu_choose_32},
        {8, gpuopt__elimination_cpu_add_64_64, gpuopt__elimination_cpu_least_64, gpuopt__elimination_cpu_count_64,
         gpuopt__elimination_cpu_store_64_64, gpuopt__elimination_cpu_choose_64}};
    int narrow = plan->forbidden <= INT16_MAX / (uint64_t)(operands + 1);
    if (plan->type == GPUOPT_COST_DOUBLE) return &lanes[0];
    if (plan->bits == 64) return &lanes[6];
    if (plan->bits == 32) return &lanes[5];
    return &lanes[(plan->bits == 8 ? 1 : 2) + (narrow ? 0 : 2)];
}

/* ---- A thread's arrays ---- */

/* The arrays of one thread, padded to whole vectors. The first three hold all rows of a tile, the others one row. */
typedef struct gpuopt__elimination_cpu_scratch {
    char *best;      /* [rows][entries] sums, the least over all values so far */
    uint64_t *count; /* [rows][entries] MIN_COUNT: counts of best */
    double *high;    /* [rows][entries] LOG_SUM_EXP: largest exponents; best is the sum */
    char *sum[2];    /* [entries] of a value: the shared part of all rows, and one row */
    uint64_t *factor[2];
    void *repeated[2]; /* [entries] stored costs or counts */
    int64_t *at;       /* [operands] entry where the tile's piece begins */
    uint32_t *chosen;  /* [entries] with decisions: the values that gave best */
} gpuopt__elimination_cpu_scratch;

/* Cuts one thread's arrays out of the arena, large enough for every job of a plan. */
static void gpuopt__elimination_cpu_cut_scratch(const gpuopt__elimination_plan *plan, gpuopt__arena *arena,
                                                gpuopt__elimination_cpu_scratch *scratch) {
    int counted = plan->semiring == GPUOPT_SEMIRING_MIN_COUNT, logs = plan->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP;
    int32_t entries = gpuopt__elimination_cpu_padded(plan->most_entries < GPUOPT__ELIMINATION_CPU_PIECE_MOST
                                                         ? plan->most_entries
                                                         : GPUOPT__ELIMINATION_CPU_PIECE_MOST);
    size_t bytes = plan->bits < 64 ? sizeof(uint32_t) : sizeof(uint64_t),
           all = (size_t)plan->most_rows * (size_t)entries;
    int64_t first = all * bytes < GPUOPT__ELIMINATION_CPU_PIECE_BYTES ? (int64_t)(all * bytes)
                                                                      : GPUOPT__ELIMINATION_CPU_PIECE_BYTES;
    int64_t second = all * sizeof(uint64_t) < GPUOPT__ELIMINATION_CPU_PIECE_BYTES
                         ? (int64_t)all
                         : GPUOPT__ELIMINATION_CPU_PIECE_BYTES / 8;
    int k;
    scratch->best = (char *)gpuopt__cut(arena, first, 1);
    scratch->count = (uint64_t *)gpuopt__cut(arena, counted ? second : 0, sizeof(uint64_t));
    scratch->high = (double *)gpuopt__cut(arena, logs ? second : 0, sizeof(double));
    for (k = 0; k < 2; k++) {
        scratch->sum[k] = (char *)gpuopt__cut(arena, entries, bytes);
        scratch->factor[k] = (uint64_t *)gpuopt__cut(arena, counted ? entries : 0, sizeof(uint64_t));
    }
    for (k = 0; k < 2; k++)
        scratch->repeated[k] =
            gpuopt__cut(arena, entries, counted ? sizeof(uint64_t) : (size_t)gpuopt__elimination_cost_bytes(plan));
    scratch->at = (int64_t *)gpuopt__cut(arena, plan->most_operands, sizeof(int64_t));
    scratch->chosen = (uint32_t *)gpuopt__cut(arena, plan->decides ? entries : 0, sizeof(uint32_t));
}

#endif /* GPUOPT_IMPL_ELIMINATION_CPU_ROWS_H */
