/* SPDX-License-Identifier: MIT
 *
 * Propagation on the CPU: evaluation of rows, and bounds set by the caller, for one storage type (see row_sums.h).
 */

/* ---- Evaluation of rows ---- */

/* Begins to evaluate a row. Returns 0: it has no effect; 1: it may move bounds; 2: it is infeasible. */
static int GPUOPT__PROPAGATOR_NAME(open_row)(gpuopt__propagator_cpu *p, int32_t index,
                                             GPUOPT__PROPAGATOR_NAME(span) * span, gpuopt__propagator_row *row) {
    gpuopt__propagator_activities activities;
    *span = GPUOPT__PROPAGATOR_NAME(row_span)(p, index);
    if (p->kept && (!p->all_marked || p->kept[index].epoch == p->epoch)) {
        gpuopt__propagator_kept *r = &p->kept[index];
        if (r->epoch != p->epoch) GPUOPT__PROPAGATOR_NAME(keep_row)(p, *span, index);
        if (!gpuopt__propagator_kept_row_acts(r)) return 0;
        if (r->rough == 0 && r->rounded) GPUOPT__PROPAGATOR_NAME(keep_row)(p, *span, index);
        if (r->rough == 0) {
            activities = gpuopt__propagator_kept_activities(r);
        } else { /* before the costly sums: bounds have moved since its reach was computed */
            if (!GPUOPT__PROPAGATOR_NAME(keep_most)(p, *span, index)) return 0;
            activities = GPUOPT__PROPAGATOR_NAME(row_activities)(p, *span);
            gpuopt__propagator_kept_take(r, &activities, span->length);
        }
    } else {
        if (!GPUOPT__PROPAGATOR_NAME(row_filter)(p, *span, index)) return 0;
        activities = GPUOPT__PROPAGATOR_NAME(row_activities)(p, *span);
    }
    *row = gpuopt__propagator_row_make(&activities, &p->head.rules, p->lhs[index], p->rhs[index], span->length);
    return row->violated && GPUOPT__PROPAGATOR_NAME(row_infeasible)(p, *span, index, row) ? 2 : 1;
}

/* Ends the evaluation of a row. */
static inline void GPUOPT__PROPAGATOR_NAME(close_row)(gpuopt__propagator_cpu *p, int32_t index,
                                                      const gpuopt__propagator_most *most) {
    if (p->kept && p->kept[index].epoch == p->epoch)
        gpuopt__propagator_kept_set_most(&p->kept[index], &p->head.rules, p->lhs[index], p->rhs[index], most);
}

/* Tightens a side in `next` to `value` if that is better. With `shared`, other threads may do the same at the same
 * time, and the row is found later (attribute_row). Returns 1 if this call moved the side away from `base`. */
static int GPUOPT__PROPAGATOR_NAME(improve)(gpuopt__propagator_cpu *p, uint32_t side, GPUOPT__PROPAGATOR_REAL base,
                                            GPUOPT__PROPAGATOR_REAL value, int32_t row) {
    GPUOPT__PROPAGATOR_REAL *target = (GPUOPT__PROPAGATOR_REAL *)p->next + side, old;
    int upper = (int)(side & 1);
    if (!p->shared) {
        old = *target;
        if (upper ? value > old : value < old) return 0;
        if (value == old) {
            if (p->reason && old != base && row < p->reason[side]) p->reason[side] = row;
            return 0;
        }
        *target = value;
        if (p->reason) p->reason[side] = row;
        return old == base;
    }
#ifdef GPUOPT__OPENMP
    for (;;) {
        __atomic_load(target, &old, __ATOMIC_RELAXED);
        if (upper ? value >= old : value <= old) return 0;
        if (__atomic_compare_exchange(target, &old, &value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return old == base;
    }
#else
    return 0;
#endif
}

/* Computes the bounds that the row implies for entry k; *lb and *ub: the column's bounds, which it tightens. Returns
 * the sides that move: LOWER + UPPER. */
GPUOPT__INLINE int GPUOPT__PROPAGATOR_NAME(tighten_entry)(const gpuopt__propagator_cpu *p,
                                                          const gpuopt__propagator_row *row, int32_t col, double a,
                                                          double *lb, double *ub) {
    double low = *lb, high = *ub, bound;
    int sides = gpuopt__propagator_reaching_sides(row, &p->head.rules, a, low, high), side, moved = 0;
    for (side = 0; sides >> side; side++) {
        int which = sides >> side & 1 ? gpuopt__propagator_tighten(&row->limit[side], &p->head.rules, side ? -a : a,
                                                                   low, high, p->kind[col], &bound)
                                      : 0;
        if (which == GPUOPT__PROPAGATOR_LOWER) *lb = bound;
        if (which == GPUOPT__PROPAGATOR_UPPER) *ub = bound;
        moved |= which;
    }
    return moved;
}

/* One row of a Jacobi round: reads `bounds`, improves `next`, and lists each side in `changed` at its first move. */
static void GPUOPT__PROPAGATOR_NAME(jacobi_row)(gpuopt__propagator_cpu *p, int32_t index,
                                                gpuopt__propagator_cpu_batch *batch, int32_t *infeasible_row) {
    const GPUOPT__PROPAGATOR_REAL *bounds = (const GPUOPT__PROPAGATOR_REAL *)p->bounds;
    const gpuopt__propagator_rules *rules = &p->head.rules;
    GPUOPT__PROPAGATOR_NAME(span) span;
    gpuopt__propagator_row row;
    gpuopt__propagator_most most = gpuopt__propagator_most_start();
    int64_t k;
    int opened = GPUOPT__PROPAGATOR_NAME(open_row)(p, index, &span, &row), any = 0;
    if (opened == 2) {
        if (index < *infeasible_row) *infeasible_row = index;
        if (p->marked) p->marked[index] = GPUOPT__PROPAGATOR_MARKED; /* see keep_infeasible */
    }
    if (opened != 1) return;
    for (k = 0; k < span.length; k++) {
        int32_t col = span.col[k];
        const GPUOPT__PROPAGATOR_REAL *pair = bounds + 2 * (int64_t)col;
        double a = (double)span.val[k], lb = (double)pair[0], ub = (double)pair[1];
        int moved = GPUOPT__PROPAGATOR_NAME(tighten_entry)(p, &row, col, a, &lb, &ub);
        gpuopt__propagator_most_add(&most, rules, GPUOPT__PROPAGATOR_ROUNDED(col), a, lb, ub);
        if (!moved) continue;
        any = 1;
        if (moved & GPUOPT__PROPAGATOR_LOWER &&
            GPUOPT__PROPAGATOR_NAME(improve)(p, 2 * (uint32_t)col, pair[0], (GPUOPT__PROPAGATOR_REAL)lb, index))
            gpuopt__propagator_cpu_append(batch, 2 * (uint32_t)col, p->changed, &p->changed_count);
        if (moved & GPUOPT__PROPAGATOR_UPPER &&
            GPUOPT__PROPAGATOR_NAME(improve)(p, 2 * (uint32_t)col + 1, pair[1], (GPUOPT__PROPAGATOR_REAL)ub, index))
            gpuopt__propagator_cpu_append(batch, 2 * (uint32_t)col + 1, p->changed, &p->changed_count);
    }
    GPUOPT__PROPAGATOR_NAME(close_row)(p, index, &most);
    if (any && p->shared && p->reason) p->marked[index] = GPUOPT__PROPAGATOR_TO_ATTRIBUTE;
}

#ifdef GPUOPT__OPENMP
/* After all rows of a round on several threads: records the row as the reason of the bounds in `next` that it implies,
 * unless a lower row is. */
static void GPUOPT__PROPAGATOR_NAME(attribute_row)(gpuopt__propagator_cpu *p, int32_t index) {
    const GPUOPT__PROPAGATOR_REAL *bounds = (const GPUOPT__PROPAGATOR_REAL *)p->bounds,
                                  *next = (const GPUOPT__PROPAGATOR_REAL *)p->next;
    GPUOPT__PROPAGATOR_NAME(span) span = GPUOPT__PROPAGATOR_NAME(row_span)(p, index);
    gpuopt__propagator_activities activities = GPUOPT__PROPAGATOR_NAME(row_activities)(p, span);
    gpuopt__propagator_row row =
        gpuopt__propagator_row_make(&activities, &p->head.rules, p->lhs[index], p->rhs[index], span.length);
    int64_t k;
    for (k = 0; k < span.length; k++) {
        int64_t at = 2 * (int64_t)span.col[k];
        double bound[2] = {(double)bounds[at], (double)bounds[at + 1]};
        int moved =
                GPUOPT__PROPAGATOR_NAME(tighten_entry)(p, &row, span.col[k], (double)span.val[k], &bound[0], &bound[1]),
            upper;
        for (upper = 0; upper < 2; upper++) {
            int32_t *reason = &p->reason[at + upper], lowest;
            if (!(moved >> upper & 1) || (GPUOPT__PROPAGATOR_REAL)bound[upper] != next[at + upper]) continue;
            lowest = __atomic_load_n(reason, __ATOMIC_RELAXED);
            while (index < lowest &&
                   !__atomic_compare_exchange_n(reason, &lowest, index, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
        }
    }
}
#endif

/* One row of a sequential sweep: moves bounds in place. Returns whether the sweep continues. */
static int GPUOPT__PROPAGATOR_NAME(sequential_row)(gpuopt__propagator_cpu *p, int32_t index) {
    GPUOPT__PROPAGATOR_REAL *bounds = (GPUOPT__PROPAGATOR_REAL *)p->bounds;
    const gpuopt__propagator_rules *rules = &p->head.rules;
    GPUOPT__PROPAGATOR_NAME(span) span;
    gpuopt__propagator_row row;
    gpuopt__propagator_most most = gpuopt__propagator_most_start();
    gpuopt__propagator_kept *r = &p->kept[index];
    int32_t seen = p->changes;
    int64_t k, before = p->info.changed;
    int opened = GPUOPT__PROPAGATOR_NAME(open_row)(p, index, &span, &row), upper;
    if (opened == 2) p->infeasible_row = index;
    if (opened == 2) gpuopt__propagator_cpu_mark_row(p, index, seen);
    if (opened != 1) return opened == 0;
    if (r->epoch == p->epoch) r->limit[0] = r->limit[1] = HUGE_VAL; /* its own moves do not mark the row during them */
    for (k = 0; k < span.length; k++) {
        int32_t col = span.col[k];
        const GPUOPT__PROPAGATOR_REAL *pair = bounds + 2 * (int64_t)col;
        double a = (double)span.val[k], bound[2] = {(double)pair[0], (double)pair[1]};
        int moved = GPUOPT__PROPAGATOR_NAME(tighten_entry)(p, &row, col, a, &bound[0], &bound[1]), crossed = 0;
        for (upper = 0; moved >> upper; upper++) {
            uint32_t side = 2 * (uint32_t)col + (uint32_t)upper;
            if (!(moved >> upper & 1)) continue;
            if (!gpuopt__propagator_cpu_record(p, side, (double)pair[upper], bound[upper], index, seen)) {
                r->epoch = 0;
                gpuopt__propagator_cpu_mark_row(p, index, seen);
                return 0;
            }
            p->shrinkage = gpuopt__max(
                p->shrinkage, gpuopt__propagator_shrinkage(upper, (double)pair[upper], bound[upper], bound[!upper]));
            crossed = GPUOPT__PROPAGATOR_NAME(move)(p, side, bound[upper], 1, p->changes);
            p->info.changed++;
        }
        gpuopt__propagator_most_add(&most, rules, GPUOPT__PROPAGATOR_ROUNDED(col), a, bound[0], bound[1]);
        if (crossed) {
            p->infeasible_col = col;
            r->epoch = 0;
            gpuopt__propagator_cpu_mark_row(p, index, p->changes);
            return 0;
        }
    }
    GPUOPT__PROPAGATOR_NAME(close_row)(p, index, &most);
    if (p->info.changed > before && r->epoch == p->epoch && gpuopt__propagator_kept_row_acts(r))
        gpuopt__propagator_cpu_mark_row(p, index, p->changes);
    return 1;
}

/* ---- State in and out ---- */

static void GPUOPT__PROPAGATOR_NAME(load_bounds)(const gpuopt__propagator_cpu *p, int32_t col, double *lb, double *ub) {
    const GPUOPT__PROPAGATOR_REAL *pair = (const GPUOPT__PROPAGATOR_REAL *)p->bounds + 2 * (int64_t)col;
    *lb = (double)pair[0];
    *ub = (double)pair[1];
}

/* Sets the caller's bounds of one column; NULL: that side stays as the caller sees it. Returns whether the changes fit
 * the trail. */
static int GPUOPT__PROPAGATOR_NAME(set_column)(gpuopt__propagator_cpu *p, int32_t col, const double *lb,
                                               const double *ub) {
    const GPUOPT__PROPAGATOR_REAL *pair = (const GPUOPT__PROPAGATOR_REAL *)p->bounds + 2 * (int64_t)col;
    double old[2] = {(double)pair[0], (double)pair[1]}, fresh[2];
    int integer = p->kind[col] & GPUOPT__PROPAGATOR_INTEGER, was_fixed = p->kind[col] & GPUOPT__PROPAGATOR_FIXED, kind,
        upper;
    fresh[0] =
        lb ? gpuopt__propagator_stored_lb(&p->head.rules, integer, *lb)
           : gpuopt__propagator_shown_lb(&p->head.rules, gpuopt__propagator_cpu_is_infeasible(p), old[0], old[1]);
    fresh[1] = ub ? gpuopt__propagator_stored_ub(&p->head.rules, integer, *ub) : old[1];
    kind = gpuopt__propagator_kind(integer, fresh[0], fresh[1]);
    for (upper = 0; upper < 2; upper++) {
        uint32_t side = 2 * (uint32_t)col + (uint32_t)upper;
        /* A column fixed at equal bounds that stay as they are: records a change of the kind only. */
        int only_kind = upper && kind != p->kind[col] && fresh[0] == old[0] && fresh[1] == old[1];
        if (fresh[upper] == old[upper] && !only_kind) continue;
        if (!gpuopt__propagator_cpu_record(p, side, old[upper], fresh[upper],
                                           was_fixed ? GPUOPT__PROPAGATOR_HOST_OF_FIXED : GPUOPT__PROPAGATOR_HOST,
                                           p->changes))
            return 0;
        GPUOPT__PROPAGATOR_NAME(move)(p, side, fresh[upper], 1, p->changes);
    }
    p->kind[col] = (uint8_t)kind;
    return 1;
}

static void GPUOPT__PROPAGATOR_NAME(store_values)(void *to, const double *val, int64_t count) {
    int64_t k;
    for (k = 0; k < count; k++) ((GPUOPT__PROPAGATOR_REAL *)to)[k] = (GPUOPT__PROPAGATOR_REAL)val[k];
}

/* A new column's bounds. */
static void GPUOPT__PROPAGATOR_NAME(first_bounds)(gpuopt__propagator_cpu *p, int32_t col, double lb, double ub) {
    int64_t at = 2 * (int64_t)col;
    GPUOPT__PROPAGATOR_REAL *pair = (GPUOPT__PROPAGATOR_REAL *)p->bounds + at,
                            *next = (GPUOPT__PROPAGATOR_REAL *)p->next;
    int integer = p->kind[col] & GPUOPT__PROPAGATOR_INTEGER;
    pair[0] = (GPUOPT__PROPAGATOR_REAL)gpuopt__propagator_stored_lb(&p->head.rules, integer, lb);
    pair[1] = (GPUOPT__PROPAGATOR_REAL)gpuopt__propagator_stored_ub(&p->head.rules, integer, ub);
    p->kind[col] = (uint8_t)gpuopt__propagator_kind(integer, (double)pair[0], (double)pair[1]);
    p->crossed += gpuopt__propagator_crossed(&p->head.rules, (double)pair[0], (double)pair[1]);
    if (next) next[at] = pair[0], next[at + 1] = pair[1];
}

/* Makes the matrix by columns. */
static void GPUOPT__PROPAGATOR_NAME(transpose)(gpuopt__propagator_cpu *p) {
    gpuopt__propagator_cpu_matrix *m = &p->matrix;
    const GPUOPT__PROPAGATOR_REAL *val = (const GPUOPT__PROPAGATOR_REAL *)m->val;
    GPUOPT__PROPAGATOR_REAL *col_val = (GPUOPT__PROPAGATOR_REAL *)m->col_val;
    int64_t k;
    int32_t j;
    gpuopt__transpose(p->head.rows, p->head.cols, m->start, m->col, NULL, m->col_start, m->col_row, NULL, NULL);
    for (j = 0; j < p->head.cols; j++) m->col_most[j] = 0;
    for (k = 0; k < p->head.nonzeros; k++) {
        double a = (double)val[k], *most = &m->col_most[m->col[k]];
        col_val[m->col_start[m->col[k]]++] = val[k]; /* moves starts to ends */
        *most = gpuopt__max(*most, fabs(a));
    }
    for (j = p->head.cols; j > 0; j--) m->col_start[j] = m->col_start[j - 1];
    m->col_start[0] = 0;
}

/* For reports. */
static gpuopt__propagator_activities GPUOPT__PROPAGATOR_NAME(whole_row)(const gpuopt__propagator_cpu *p, int32_t row) {
    return GPUOPT__PROPAGATOR_NAME(row_activities)(p, GPUOPT__PROPAGATOR_NAME(row_span)(p, row));
}
static int GPUOPT__PROPAGATOR_NAME(whole_row_infeasible)(const gpuopt__propagator_cpu *p, int32_t index,
                                                         const gpuopt__propagator_row *row) {
    return GPUOPT__PROPAGATOR_NAME(row_infeasible)(p, GPUOPT__PROPAGATOR_NAME(row_span)(p, index), index, row);
}
