/* SPDX-License-Identifier: MIT
 *
 * Propagation on the CPU: the parts of a handle, access to rows in any storage, and the marks of rows to evaluate.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_CPU_STATE_H
#define GPUOPT_IMPL_PROPAGATE_CPU_STATE_H

#include "../arith/trail.h"
#include "../backend.h"

/* Data kept for a row from one evaluation to the next, in a cache line. Index 0: the rhs with the least activity. Index
 * 1: the lhs with the greatest, both negated, so that a side limits a sum from above and a tighter bound increases the
 * sum. kept_rows.h keeps the data up to date, and explains their use. */
typedef struct gpuopt__propagator_kept {
    double sum[2];       /* of the finite terms: exact, or rounded up */
    double limit[2];     /* no effect for a sum up to this */
    double reach;        /* upper bound on |a| (ub - lb - least change) of the entries */
    int32_t infinite[2]; /* counts of the other terms */
    int32_t rough;       /* finite terms of both sums that do not add exactly */
    int32_t rounded;     /* 0: the sums are exact; 1: they have been rounded up */
    uint32_t epoch;      /* of the handle when these data were valid; any other: they are invalid */
} gpuopt__propagator_kept;
enum { GPUOPT__PROPAGATOR_ROUGH = 1 << 30 }; /* the least count of a row with coefficients that do not add exactly */

/* The matrix, which forks share. val, col_val: double or float. */
typedef struct gpuopt__propagator_cpu_matrix {
    int64_t *start;     /* [rows + 1] */
    int32_t *col;       /* [nonzeros] */
    void *val;          /* [nonzeros] */
    int64_t *col_start; /* [cols + 1]; without marking this and the next two are NULL */
    int32_t *col_row;   /* [nonzeros]: the rows of each column */
    void *col_val;      /* [nonzeros] */
    double *col_most;   /* [cols]: the largest size of a coefficient */
} gpuopt__propagator_cpu_matrix;

/* Rows added by the caller: added_rows.h. A free row has no entries and no sides. */
typedef struct gpuopt__propagator_added {
    int32_t rows;             /* numbers in use or free; the capacity is head.spare_rows */
    int32_t free_row;         /* the first free number, or -1; next_free links them */
    int32_t *next_free;       /* [spare rows] */
    int32_t *first, *length;  /* [spare rows]: of their entries; length -1: free */
    int32_t used;             /* entries in use or left behind by removed rows */
    int32_t live;             /* entries in use */
    int32_t *col, *row;       /* [spare nonzeros]; row -1: left behind */
    void *val;                /* [spare nonzeros], double or float */
    int32_t *next, *previous; /* [spare nonzeros]: the column's other entries; -1: none */
    int32_t *head;            /* [cols]: the column's first entry, or -1 */
} gpuopt__propagator_added;

enum { GPUOPT__PROPAGATOR_SWEEP_LEVELS = 6 }; /* 64^6 > 2^31 */

typedef struct gpuopt__propagator_cpu {
    gpuopt_propagator head;
    int threads, sequential;
    int shared; /* several threads work on this round */
    gpuopt__propagator_cpu_matrix matrix;
    gpuopt__propagator_added added;
    double *lhs, *rhs; /* [rows + spare rows] */
    uint8_t *kind;     /* [cols]: integer, fixed by the caller */
    void *bounds;      /* [cols][2], double or float: (lb, ub) */
    void *next;        /* the bounds that a Jacobi round writes; equal to `bounds` between rounds; else NULL */
    /* With marking: */
    gpuopt__propagator_kept *kept; /* [rows + spare rows] */
    uint32_t epoch;
    int none_kept;     /* no data of this epoch are kept yet */
    double most_exact; /* see gpuopt__propagator_most_exact() */
    uint8_t *marked;   /* [rows + spare rows], Jacobi */
    uint32_t *queue;   /* [rows + spare rows]: the marked rows, Jacobi */
    int64_t queued;
    uint64_t *sweep[GPUOPT__PROPAGATOR_SWEEP_LEVELS]; /* the marked rows, GAUSS_SEIDEL: see below */
    int sweep_levels;
    int all_marked;    /* the next round evaluates every row, marked or not */
    uint32_t *changed; /* [2 cols]: the bounds that a Jacobi round has moved */
    uint32_t *sorted;  /* [2 cols], with a trail: for sorting them */
    int64_t changed_count;
    int64_t rounds_since_set;
    int32_t infeasible_row, infeasible_col; /* the present proof of infeasibility; -1: none */
    int32_t crossed;                        /* number of columns with crossing bounds */
    int full;                               /* the trail was too short for the round's changes */
    double shrinkage;                       /* the largest of the last round's moves */
    gpuopt_propagator_info info;            /* of the last _round */
    /* With a trail: */
    gpuopt__propagator_change *trail; /* [trail capacity] */
    gpuopt__propagator_level *level;  /* [trail capacity] */
    int32_t changes, levels;
    int32_t *last;   /* [2 cols]: position of a bound's latest change, or -1 */
    int32_t *reason; /* [2 cols]: the row that moves a bound in this round, Jacobi */
    int32_t *since;  /* [rows + spare rows]: length of the trail when the row was marked; -1: for all levels */
    int32_t
        *altered; /* [rows + spare rows]: changes at positions below this may come from an earlier row of this number */
    int32_t *due; /* [rows + spare rows]: rows that _pop marks again, level by level */
    int32_t due_count;
} gpuopt__propagator_cpu;

/* Values of `marked`. */
enum { GPUOPT__PROPAGATOR_MARKED = 1, GPUOPT__PROPAGATOR_TO_ATTRIBUTE = 2 };
/* Special values of `since`. */
enum { GPUOPT__PROPAGATOR_NO_MARKS = -2 };

static inline int gpuopt__propagator_cpu_is_infeasible(const gpuopt__propagator_cpu *p) {
    return p->infeasible_row >= 0 || p->infeasible_col >= 0;
}

static inline int32_t gpuopt__propagator_cpu_rows(const gpuopt__propagator_cpu *p) {
    return p->head.rows + p->added.rows;
}

static inline int64_t gpuopt__propagator_cpu_row_length(const gpuopt__propagator_cpu *p, int32_t row) {
    int32_t length;
    if (row < p->head.rows) return p->matrix.start[row + 1] - p->matrix.start[row];
    length = p->added.length[row - p->head.rows];
    return length > 0 ? length : 0;
}

/* A number of an array with the storage type of the handle's bounds. */
static inline double gpuopt__propagator_cpu_stored(const gpuopt__propagator_cpu *p, const void *array, int64_t at) {
    return p->head.rules.single ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

static inline void gpuopt__propagator_cpu_copy_stored(const gpuopt__propagator_cpu *p, void *to, int64_t at,
                                                      const void *from, int64_t from_at) {
    if (p->head.rules.single) ((float *)to)[at] = ((const float *)from)[from_at];
    else ((double *)to)[at] = ((const double *)from)[from_at];
}

/* ---- Lists that several threads append to ---- */

/* Items that a thread collects before it appends them, so that it seldom updates the list's shared length. */
typedef struct gpuopt__propagator_cpu_batch {
    uint32_t item[64];
    uint32_t count;
} gpuopt__propagator_cpu_batch;

static void gpuopt__propagator_cpu_flush(gpuopt__propagator_cpu_batch *batch, uint32_t *list, int64_t *length) {
    int64_t at;
    if (batch->count == 0) return;
#ifdef GPUOPT__OPENMP
    at = __atomic_fetch_add(length, (int64_t)batch->count, __ATOMIC_RELAXED);
#else
    at = *length;
    *length += batch->count;
#endif
    memcpy(list + at, batch->item, sizeof(uint32_t) * batch->count);
    batch->count = 0;
}

static void gpuopt__propagator_cpu_append(gpuopt__propagator_cpu_batch *batch, uint32_t item, uint32_t *list,
                                          int64_t *length) {
    if (batch->count == sizeof batch->item / sizeof *batch->item) gpuopt__propagator_cpu_flush(batch, list, length);
    batch->item[batch->count++] = item;
}

/* ---- Marked rows ---- *
 * Jacobi rounds keep a queue of them. A sequential sweep takes them in their order and must find the next one quickly
 * even among few. So it has a bit for each row, above these a bit for each word that is not 0, and so on. */

/* Words of bits at each level, for `rows` rows; returns the levels. */
static inline int gpuopt__propagator_sweep_words(int64_t rows, int64_t words[GPUOPT__PROPAGATOR_SWEEP_LEVELS]) {
    int levels = 0;
    do {
        rows = (rows + 63) / 64;
        words[levels++] = rows > 0 ? rows : 1;
    } while (rows > 1);
    return levels;
}

static inline int gpuopt__propagator_sweep_has(const gpuopt__propagator_cpu *p, int32_t row) {
    return (int)(p->sweep[0][row >> 6] >> (row & 63) & 1);
}

static inline void gpuopt__propagator_sweep_set(gpuopt__propagator_cpu *p, int32_t row) {
    int level;
    for (level = 0; level < p->sweep_levels; level++, row >>= 6) {
        uint64_t *word = &p->sweep[level][row >> 6], before = *word;
        *word = before | (uint64_t)1 << (row & 63);
        if (before) return;
    }
}

static inline void gpuopt__propagator_sweep_clear(gpuopt__propagator_cpu *p, int32_t row) {
    int level;
    for (level = 0; level < p->sweep_levels; level++, row >>= 6)
        if (p->sweep[level][row >> 6] &= ~((uint64_t)1 << (row & 63))) return;
}

static inline int gpuopt__propagator_lowest_bit(uint64_t word) {
#if defined(__GNUC__)
    return __builtin_ctzll(word);
#else
    int at = 0;
    while (!(word >> at & 1)) at++;
    return at;
#endif
}

/* The first marked row from `row` on, or -1. */
static inline int32_t gpuopt__propagator_sweep_next(const gpuopt__propagator_cpu *p, int32_t row) {
    int64_t at = row, rows = gpuopt__propagator_cpu_rows(p);
    int level;
    for (level = 0; level < p->sweep_levels && at < rows; level++) {
        uint64_t word = p->sweep[level][at >> 6] >> (at & 63);
        if (word) {
            at += gpuopt__propagator_lowest_bit(word);
            while (level-- > 0) at = at * 64 + gpuopt__propagator_lowest_bit(p->sweep[level][at]);
            return (int32_t)at;
        }
        at = (at >> 6) + 1;
        rows = (rows + 63) / 64;
    }
    return -1;
}

static inline int gpuopt__propagator_cpu_is_marked(const gpuopt__propagator_cpu *p, int32_t row) {
    return p->sequential ? gpuopt__propagator_sweep_has(p, row) : p->marked[row];
}

/* Marks a row, on a single thread; since: as in the handle. */
static inline void gpuopt__propagator_cpu_mark_row(gpuopt__propagator_cpu *p, int32_t row, int32_t since) {
    if (gpuopt__propagator_cpu_is_marked(p, row)) {
        if (p->since && since < p->since[row]) p->since[row] = since;
        return;
    }
    if (p->since) p->since[row] = since;
    if (p->sequential) {
        gpuopt__propagator_sweep_set(p, row);
    } else {
        p->marked[row] = 1;
        p->queue[p->queued++] = (uint32_t)row;
    }
}

#ifdef GPUOPT__OPENMP
/* Marks a row while other threads do so, whether or not the row can act. */
static inline void gpuopt__propagator_cpu_mark_shared(gpuopt__propagator_cpu *p, int32_t row,
                                                      gpuopt__propagator_cpu_batch *batch) {
    uint8_t *mark = &p->marked[row];
    __atomic_store_n(&p->kept[row].epoch, 0, __ATOMIC_RELAXED);
    if (__atomic_load_n(mark, __ATOMIC_RELAXED) ||
        __atomic_exchange_n(mark, GPUOPT__PROPAGATOR_MARKED, __ATOMIC_RELAXED))
        return;
    if (p->since) p->since[row] = p->changes;
    gpuopt__propagator_cpu_append(batch, (uint32_t)row, p->queue, &p->queued);
}
#endif

/* Removes the mark of a row before its evaluation. If the mark is older than the present level, _pop must restore
 * it. */
static inline void gpuopt__propagator_cpu_take_mark(gpuopt__propagator_cpu *p, int32_t row) {
    if (p->sequential) gpuopt__propagator_sweep_clear(p, row);
    else p->marked[row] = 0;
    if (p->levels == 0 || p->since[row] > p->level[p->levels - 1].start) return;
    if (p->due_count < p->head.rows + p->head.spare_rows) {
        p->due[p->due_count++] = row;
    } else { /* they do not fit: then _pop marks all rows at any level */
        int32_t level;
        for (level = 0; level < p->levels; level++) p->level[level].all_marked = 1;
    }
}

/* All data kept for rows become invalid. */
static void gpuopt__propagator_cpu_forget_rows(gpuopt__propagator_cpu *p) {
    p->epoch = p->epoch == UINT32_MAX ? 1 : p->epoch + 1;
    if (p->epoch == 1 && p->kept) {
        int32_t row;
        for (row = 0; row < p->head.rows + p->head.spare_rows; row++) p->kept[row].epoch = 0;
    }
    p->none_kept = 1;
}

/* Unmarks all rows except rows marked when the trail had at most `since` changes. */
static void gpuopt__propagator_cpu_unmark(gpuopt__propagator_cpu *p, int32_t since) {
    int64_t k, kept = 0;
    int32_t row;
    for (k = 0; k < p->queued; k++) {
        row = (int32_t)p->queue[k];
        if (p->since[row] <= since) p->queue[kept++] = (uint32_t)row;
        else p->marked[row] = 0;
    }
    p->queued = kept;
    if (!p->sequential) return;
    for (row = gpuopt__propagator_sweep_next(p, 0); row >= 0; row = gpuopt__propagator_sweep_next(p, row + 1))
        if (p->since[row] > since) gpuopt__propagator_sweep_clear(p, row);
}

#endif /* GPUOPT_IMPL_PROPAGATE_CPU_STATE_H */
