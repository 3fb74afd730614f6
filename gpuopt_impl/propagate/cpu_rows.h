/* SPDX-License-Identifier: MIT
 *
 * Propagation on the CPU: the passes over one row, for one storage type. cpu_rounds.h includes this file twice, with
 * GPUOPT__PROPAGATOR_REAL = double and float; GPUOPT__PROPAGATOR_NAME(x) is gpuopt__propagator_cpu_x_double or _float.
 */

/* Whether a column is continuous and its bounds are stored in single precision. */
#define GPUOPT__PROPAGATOR_ROUNDED(column) \
    (sizeof(GPUOPT__PROPAGATOR_REAL) == sizeof(float) && !(p->kind[column] & GPUOPT__PROPAGATOR_INTEGER))

/* Filters a row. Long rows are added up in blocks of blocks, to keep the chain of additions short and the error bound
 * small, and in two chains at a time, to hide the latency of the additions. */
static int GPUOPT__PROPAGATOR_NAME(row_filter)(const gpuopt__propagator_cpu *p, int32_t row) {
    const GPUOPT__PROPAGATOR_REAL *val = (const GPUOPT__PROPAGATOR_REAL *)p->val,
                                  *bounds = (const GPUOPT__PROPAGATOR_REAL *)p->bounds;
    const gpuopt__propagator_rules rules = p->head.rules;
    const int32_t *col = p->col;
    int64_t k = p->start[row], end = p->start[row + 1], blocks = (end - k) / 1024;
    gpuopt__propagator_filter total = gpuopt__propagator_filter_start();
    if (end - k <= 16) {
        for (; k < end; k++) {
            const GPUOPT__PROPAGATOR_REAL *s = bounds + 2 * (int64_t)col[k];
            gpuopt__propagator_filter_add(&total, &rules, GPUOPT__PROPAGATOR_ROUNDED(col[k]), (double)val[k],
                                          (double)s[0], (double)s[1]);
        }
        return gpuopt__propagator_filter_passes(&total, &rules, p->lhs[row], p->rhs[row], 16);
    }
    while (k < end) {
        gpuopt__propagator_filter outer = gpuopt__propagator_filter_start();
        int64_t outer_stop = end - k < 1024 ? end : k + 1024;
        while (k < outer_stop) {
            int64_t stop = outer_stop - k < 32 ? outer_stop : k + 32;
            gpuopt__propagator_filter even = gpuopt__propagator_filter_start(), odd = gpuopt__propagator_filter_start();
            for (; k + 1 < stop; k += 2) {
                const GPUOPT__PROPAGATOR_REAL *s = bounds + 2 * (int64_t)col[k], *t = bounds + 2 * (int64_t)col[k + 1];
                gpuopt__propagator_filter_add(&even, &rules, GPUOPT__PROPAGATOR_ROUNDED(col[k]), (double)val[k],
                                              (double)s[0], (double)s[1]);
                gpuopt__propagator_filter_add(&odd, &rules, GPUOPT__PROPAGATOR_ROUNDED(col[k + 1]), (double)val[k + 1],
                                              (double)t[0], (double)t[1]);
            }
            if (k < stop) {
                const GPUOPT__PROPAGATOR_REAL *s = bounds + 2 * (int64_t)col[k];
                gpuopt__propagator_filter_add(&even, &rules, GPUOPT__PROPAGATOR_ROUNDED(col[k]), (double)val[k],
                                              (double)s[0], (double)s[1]);
                k++;
            }
            gpuopt__propagator_filter_merge(&even, &odd);
            gpuopt__propagator_filter_merge(&outer, &even);
        }
        gpuopt__propagator_filter_merge(&total, &outer);
    }
    return gpuopt__propagator_filter_passes(&total, &rules, p->lhs[row], p->rhs[row], 16 + 1 + 32 + (int)blocks);
}

/* Sums entries first .. end - 1, at most a segment, over `lanes` partial sums. */
static gpuopt__propagator_activities GPUOPT__PROPAGATOR_NAME(segment_activities)(const gpuopt__propagator_cpu *p,
                                                                                 int64_t first, int64_t end,
                                                                                 int lanes) {
    const GPUOPT__PROPAGATOR_REAL *val = (const GPUOPT__PROPAGATOR_REAL *)p->val,
                                  *bounds = (const GPUOPT__PROPAGATOR_REAL *)p->bounds;
    const gpuopt__propagator_rules rules = p->head.rules;
    const int32_t *col = p->col;
    gpuopt__propagator_activities lane[GPUOPT__PROPAGATOR_LANES];
    int used = (int)(end - first < lanes ? end - first : lanes), i;
    for (i = 0; i < used; i++) {
        int64_t k = first + i;
        const GPUOPT__PROPAGATOR_REAL *pair = bounds + 2 * (int64_t)col[k];
        gpuopt__propagator_activities s =
            gpuopt__propagator_activities_of(&rules, (double)val[k], (double)pair[0], (double)pair[1]);
        for (k += lanes; k < end; k += lanes) {
            pair = bounds + 2 * (int64_t)col[k];
            gpuopt__propagator_activities_add(&s, &rules, (double)val[k], (double)pair[0], (double)pair[1]);
        }
        lane[i] = s;
    }
    return gpuopt__propagator_cpu_merge_lanes(lane, lanes, used);
}

/* A row's activities, summed in the order that row.h fixes. */
static gpuopt__propagator_activities GPUOPT__PROPAGATOR_NAME(row_activities)(const gpuopt__propagator_cpu *p,
                                                                             int32_t row) {
    int64_t k = p->start[row], end = p->start[row + 1], segment;
    gpuopt__propagator_activities lane[GPUOPT__PROPAGATOR_LANES];
    int i;
    if (end - k <= GPUOPT__PROPAGATOR_SHORT)
        return GPUOPT__PROPAGATOR_NAME(segment_activities)(p, k, end, GPUOPT__PROPAGATOR_SHORT_LANES);
    if (end - k <= GPUOPT__PROPAGATOR_SEGMENT)
        return GPUOPT__PROPAGATOR_NAME(segment_activities)(p, k, end, GPUOPT__PROPAGATOR_LANES);
    for (i = 0; i < GPUOPT__PROPAGATOR_LANES; i++) lane[i] = gpuopt__propagator_activities_start();
    for (segment = 0; k < end; k += GPUOPT__PROPAGATOR_SEGMENT, segment++) {
        int64_t stop = end - k < GPUOPT__PROPAGATOR_SEGMENT ? end : k + GPUOPT__PROPAGATOR_SEGMENT;
        gpuopt__propagator_activities part =
            GPUOPT__PROPAGATOR_NAME(segment_activities)(p, k, stop, GPUOPT__PROPAGATOR_LANES);
        gpuopt__propagator_activities_merge(&lane[segment % GPUOPT__PROPAGATOR_LANES], &part);
    }
    return gpuopt__propagator_cpu_merge_lanes(lane, GPUOPT__PROPAGATOR_LANES, GPUOPT__PROPAGATOR_LANES);
}

/* The sums of the sizes of a segment's finite terms, those of the least and of the greatest activity, in the order of the
 * activities' sums. */
static gpuopt__pair GPUOPT__PROPAGATOR_NAME(segment_magnitudes)(const gpuopt__propagator_cpu *p, int64_t first,
                                                                int64_t end, int lanes) {
    const GPUOPT__PROPAGATOR_REAL *val = (const GPUOPT__PROPAGATOR_REAL *)p->val,
                                  *bounds = (const GPUOPT__PROPAGATOR_REAL *)p->bounds;
    gpuopt__pair lane[GPUOPT__PROPAGATOR_LANES];
    int64_t k;
    memset(lane, 0, sizeof lane);
    for (k = first; k < end; k++) {
        const GPUOPT__PROPAGATOR_REAL *pair = bounds + 2 * (int64_t)p->col[k];
        double a = (double)val[k], low = gpuopt__propagator_term_size(&p->head.rules, a, (double)pair[0]),
               high = gpuopt__propagator_term_size(&p->head.rules, a, (double)pair[1]);
        gpuopt__pair *sum = &lane[(k - first) % lanes];
        *sum = gpuopt__pair_add(*sum, gpuopt__pair_by_sign(a, gpuopt__pair_of(low, high)));
    }
    return gpuopt__propagator_cpu_merge_pairs(lane);
}

/* Whether a row with sides that are violated (see row.h) is infeasible. Few rows come here. */
static int GPUOPT__PROPAGATOR_NAME(row_infeasible)(const gpuopt__propagator_cpu *p, int32_t index,
                                                   const gpuopt__propagator_row *row) {
    int64_t first = p->start[index], end = p->start[index + 1], k;
    gpuopt__pair lane[GPUOPT__PROPAGATOR_LANES], all;
    memset(lane, 0, sizeof lane);
    for (k = first; k < end; k += GPUOPT__PROPAGATOR_SEGMENT) {
        gpuopt__pair *sum = &lane[(k - first) / GPUOPT__PROPAGATOR_SEGMENT % GPUOPT__PROPAGATOR_LANES];
        int64_t stop = end - k < GPUOPT__PROPAGATOR_SEGMENT ? end : k + GPUOPT__PROPAGATOR_SEGMENT;
        int lanes = end - first <= GPUOPT__PROPAGATOR_SHORT ? GPUOPT__PROPAGATOR_SHORT_LANES : GPUOPT__PROPAGATOR_LANES;
        *sum = gpuopt__pair_add(*sum, GPUOPT__PROPAGATOR_NAME(segment_magnitudes)(p, k, stop, lanes));
    }
    all = gpuopt__propagator_cpu_merge_pairs(lane);
    return gpuopt__propagator_limit_violated(&row->limit[0], &p->head.rules, p->rhs[index], gpuopt__first(all)) ||
           gpuopt__propagator_limit_violated(&row->limit[1], &p->head.rules, p->lhs[index], gpuopt__second(all));
}

/* Tightens one side of a column, *target, to `value` if that is better; with `shared`, other threads may do the same at
 * the same time. Returns 1 if this call was the one that moved the side away from `base`. */
static int GPUOPT__PROPAGATOR_NAME(move_shared)(GPUOPT__PROPAGATOR_REAL *target, int upper,
                                                GPUOPT__PROPAGATOR_REAL base, GPUOPT__PROPAGATOR_REAL value,
                                                int shared) {
    if (!shared) {
        GPUOPT__PROPAGATOR_REAL old = *target;
        if (upper ? value >= old : value <= old) return 0;
        *target = value;
        return old == base;
    }
#ifdef _OPENMP
    for (;;) {
        GPUOPT__PROPAGATOR_REAL old;
        __atomic_load(target, &old, __ATOMIC_RELAXED);
        if (upper ? value >= old : value <= old) return 0;
        if (__atomic_compare_exchange(target, &old, &value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return old == base;
    }
#else
    return 0;
#endif
}

/* One row of a Jacobi round: reads `bounds`, improves `next`, and lists in `changed` each side that it moves first. */
static void GPUOPT__PROPAGATOR_NAME(jacobi_row)(gpuopt__propagator_cpu *p, int32_t index,
                                                gpuopt__propagator_cpu_batch *batch, int32_t *infeasible_row) {
    const GPUOPT__PROPAGATOR_REAL *val = (const GPUOPT__PROPAGATOR_REAL *)p->val,
                                  *bounds = (const GPUOPT__PROPAGATOR_REAL *)p->bounds;
    GPUOPT__PROPAGATOR_REAL *next = (GPUOPT__PROPAGATOR_REAL *)p->next;
    int64_t k, first = p->start[index], end = p->start[index + 1];
    int shared = p->threads > 1;
    gpuopt__propagator_activities activities;
    gpuopt__propagator_row row;
    if (!GPUOPT__PROPAGATOR_NAME(row_filter)(p, index)) return;
    activities = GPUOPT__PROPAGATOR_NAME(row_activities)(p, index);
    row = gpuopt__propagator_row_make(&activities, &p->head.rules, p->lhs[index], p->rhs[index], end - first);
    if (row.violated && GPUOPT__PROPAGATOR_NAME(row_infeasible)(p, index, &row)) {
        if (index < *infeasible_row) *infeasible_row = index;
        if (p->marked) p->marked[index] = 1; /* see keep_infeasible */
        return;
    }
    for (k = first; k < end; k++) {
        int32_t col = p->col[k];
        const GPUOPT__PROPAGATOR_REAL *pair = bounds + 2 * (int64_t)col;
        int sides = gpuopt__propagator_reaching_sides(&row, &p->head.rules, (double)val[k], (double)pair[0],
                                                      (double)pair[1]),
            side;
        if (!sides) continue;
        for (side = 0; side < 2; side++) {
            double bound, c = side ? -(double)val[k] : (double)val[k];
            int moved = sides >> side & 1
                            ? gpuopt__propagator_tighten(&row.limit[side], &p->head.rules, c, (double)pair[0],
                                                         (double)pair[1], p->kind[col], &bound)
                            : 0;
            int upper = moved == GPUOPT__PROPAGATOR_UPPER;
            if (moved && GPUOPT__PROPAGATOR_NAME(move_shared)(next + 2 * (int64_t)col + upper, upper, pair[upper],
                                                              (GPUOPT__PROPAGATOR_REAL)bound, shared))
                gpuopt__propagator_cpu_append(batch, 2 * (uint32_t)col + (uint32_t)upper, p->changed,
                                              &p->changed_count);
        }
    }
}

/* After a Jacobi round: copies one listed side from `next` to `bounds`; returns whether the column's bounds cross. */
static int GPUOPT__PROPAGATOR_NAME(jacobi_settle)(gpuopt__propagator_cpu *p, uint32_t side) {
    GPUOPT__PROPAGATOR_REAL *bounds = (GPUOPT__PROPAGATOR_REAL *)p->bounds, *next = (GPUOPT__PROPAGATOR_REAL *)p->next;
    const GPUOPT__PROPAGATOR_REAL *pair = next + (side & ~(uint32_t)1);
    bounds[side] = next[side];
    return gpuopt__propagator_crossed(&p->head.rules, (double)pair[0], (double)pair[1]);
}

/* One row of a sequential sweep: moves bounds in place. Returns 0 if it has proven infeasibility. */
static int GPUOPT__PROPAGATOR_NAME(sequential_row)(gpuopt__propagator_cpu *p, int32_t index) {
    const GPUOPT__PROPAGATOR_REAL *val = (const GPUOPT__PROPAGATOR_REAL *)p->val;
    GPUOPT__PROPAGATOR_REAL *bounds = (GPUOPT__PROPAGATOR_REAL *)p->bounds;
    int64_t k, at, first = p->start[index], end = p->start[index + 1];
    gpuopt__propagator_activities activities;
    gpuopt__propagator_row row;
    if (!GPUOPT__PROPAGATOR_NAME(row_filter)(p, index)) return 1;
    activities = GPUOPT__PROPAGATOR_NAME(row_activities)(p, index);
    row = gpuopt__propagator_row_make(&activities, &p->head.rules, p->lhs[index], p->rhs[index], end - first);
    if (row.violated && GPUOPT__PROPAGATOR_NAME(row_infeasible)(p, index, &row)) {
        p->infeasible_row = index;
        p->marked[index] = 1;
        return 0;
    }
    for (k = first; k < end; k++) {
        int32_t col = p->col[k];
        GPUOPT__PROPAGATOR_REAL *pair = bounds + 2 * (int64_t)col;
        double lb = (double)pair[0], ub = (double)pair[1], bound;
        int sides = gpuopt__propagator_reaching_sides(&row, &p->head.rules, (double)val[k], lb, ub), side, changed = 0;
        if (!sides) continue;
        for (side = 0; side < 2; side++) {
            double c = side ? -(double)val[k] : (double)val[k];
            int moved = sides >> side & 1 ? gpuopt__propagator_tighten(&row.limit[side], &p->head.rules, c, lb, ub,
                                                                       p->kind[col], &bound)
                                          : 0;
            if (moved) pair[moved == GPUOPT__PROPAGATOR_UPPER] = (GPUOPT__PROPAGATOR_REAL)bound, changed++;
        }
        if (!changed) continue;
        p->info.changed += changed;
        for (at = p->col_start[col]; at < p->col_start[col + 1]; at++) p->marked[p->col_row[at]] = 1;
        if (gpuopt__propagator_crossed(&p->head.rules, (double)pair[0], (double)pair[1])) {
            p->infeasible_col = col;
            return 0;
        }
    }
    return 1;
}

static void GPUOPT__PROPAGATOR_NAME(store_matrix)(gpuopt__propagator_cpu *p, const double *val) {
    GPUOPT__PROPAGATOR_REAL *to = (GPUOPT__PROPAGATOR_REAL *)p->val;
    int64_t k;
    for (k = 0; k < p->head.nonzeros; k++) to[k] = (GPUOPT__PROPAGATOR_REAL)val[k];
}

/* Stores the host's bounds of one column (NULL: that side stays as the host sees it), rounded outwards in single
 * precision. Returns whether they changed. */
static int GPUOPT__PROPAGATOR_NAME(store_bounds)(gpuopt__propagator_cpu *p, int32_t col, const double *lb,
                                                 const double *ub) {
    GPUOPT__PROPAGATOR_REAL *pair = (GPUOPT__PROPAGATOR_REAL *)p->bounds + 2 * (int64_t)col,
                            *next = p->next ? (GPUOPT__PROPAGATOR_REAL *)p->next + 2 * (int64_t)col : pair;
    GPUOPT__PROPAGATOR_REAL old_lb = pair[0], old_ub = pair[1];
    int integer = p->kind[col] & GPUOPT__PROPAGATOR_INTEGER;
    pair[0] = lb ? (GPUOPT__PROPAGATOR_REAL)gpuopt__propagator_stored_lb(&p->head.rules, integer, *lb)
                 : (GPUOPT__PROPAGATOR_REAL)gpuopt__propagator_shown_lb(
                       &p->head.rules, gpuopt__propagator_cpu_is_infeasible(p), (double)old_lb, (double)old_ub);
    if (ub) pair[1] = (GPUOPT__PROPAGATOR_REAL)gpuopt__propagator_stored_ub(&p->head.rules, integer, *ub);
    p->kind[col] = (uint8_t)gpuopt__propagator_kind(integer, (double)pair[0], (double)pair[1]);
    next[0] = pair[0];
    next[1] = pair[1];
    return pair[0] != old_lb || pair[1] != old_ub;
}

static void GPUOPT__PROPAGATOR_NAME(load_bounds)(const gpuopt__propagator_cpu *p, int32_t col, double *lb, double *ub) {
    const GPUOPT__PROPAGATOR_REAL *pair = (const GPUOPT__PROPAGATOR_REAL *)p->bounds + 2 * (int64_t)col;
    *lb = (double)pair[0];
    *ub = (double)pair[1];
}

#undef GPUOPT__PROPAGATOR_ROUNDED
