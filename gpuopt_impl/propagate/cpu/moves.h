/* SPDX-License-Identifier: MIT
 *
 * Propagation on the CPU: moves of bounds, and the updates of kept rows, for one storage type (see row_sums.h).
 */

/* ---- Kept data of rows ---- */

/* Finds the slack that a row's sides must leave its sums. Returns whether the row can act. */
static int GPUOPT__PROPAGATOR_NAME(keep_most)(gpuopt__propagator_cpu *p, GPUOPT__PROPAGATOR_NAME(span) span,
                                              int32_t row) {
    const GPUOPT__PROPAGATOR_REAL *bounds = (const GPUOPT__PROPAGATOR_REAL *)p->bounds;
    const gpuopt__propagator_rules *rules = &p->head.rules;
    gpuopt__propagator_kept *r = &p->kept[row];
    gpuopt__propagator_most most = gpuopt__propagator_most_start();
    int64_t k;
    for (k = 0; k < span.length; k++) {
        const GPUOPT__PROPAGATOR_REAL *pair = bounds + 2 * (int64_t)span.col[k];
        gpuopt__propagator_most_add(&most, rules, GPUOPT__PROPAGATOR_ROUNDED(span.col[k]), (double)span.val[k],
                                    (double)pair[0], (double)pair[1]);
    }
    gpuopt__propagator_kept_set_most(r, rules, p->lhs[row], p->rhs[row], &most);
    return gpuopt__propagator_kept_row_acts(r);
}

/* Sums a row again, in plain double precision. */
static void GPUOPT__PROPAGATOR_NAME(keep_row)(gpuopt__propagator_cpu *p, GPUOPT__PROPAGATOR_NAME(span) span,
                                              int32_t row) {
    const GPUOPT__PROPAGATOR_REAL *bounds = (const GPUOPT__PROPAGATOR_REAL *)p->bounds;
    const gpuopt__propagator_rules *rules = &p->head.rules;
    gpuopt__propagator_kept r = {{0, 0}, {0, 0}, 0, {0, 0}, 0, 0, 0};
    gpuopt__propagator_most most = gpuopt__propagator_most_start();
    double size = 0;
    int64_t k;
    int plain = 1;
    for (k = 0; k < span.length; k++) {
        const GPUOPT__PROPAGATOR_REAL *pair = bounds + 2 * (int64_t)span.col[k];
        double a = (double)span.val[k];
        int upper;
        plain &= gpuopt__propagator_is_plain(a);
        for (upper = 0; upper < 2; upper++) {
            int s = (a > 0) == upper;
            double bound = (double)pair[upper], term = (s ? -a : a) * bound;
            if (!(fabs(term) < rules->huge)) {
                r.infinite[s]++;
                continue;
            }
            r.sum[s] += term;
            size += fabs(term);
            r.rough += !(gpuopt__propagator_is_whole(bound) & (fabs(term) <= p->most_exact));
        }
        gpuopt__propagator_most_add(&most, rules, GPUOPT__PROPAGATOR_ROUNDED(span.col[k]), a, (double)pair[0],
                                    (double)pair[1]);
    }
    if (!plain) r.rough += GPUOPT__PROPAGATOR_ROUGH;
    if (r.rough) {
        double error = (double)(span.length + 4) * 0x1p-51 * size + 0x1p-1000;
        r.sum[0] += error, r.sum[1] += error;
        r.rounded = 1;
    }
    r.epoch = p->epoch;
    gpuopt__propagator_kept_set_most(&r, rules, p->lhs[row], p->rhs[row], &most);
    p->kept[row] = r;
}

/* An entry of a column with a moving bound: updates its row, and marks the row if it can act. even: see kept_add. */
GPUOPT__INLINE void GPUOPT__PROPAGATOR_NAME(touch_row)(gpuopt__propagator_cpu *p, gpuopt__propagator_kept *r,
                                                       int32_t row, double a, const gpuopt__propagator_move *m,
                                                       int even, int tighter, int marks) {
    const gpuopt__propagator_rules *rules = &p->head.rules;
    if (r->epoch == m->epoch) {
        double b = fabs(a);
        int s = (a > 0) == m->upper, finite = !m->wide || b * m->size < rules->huge, recounted = 0;
        if (even) gpuopt__propagator_kept_add(r, m, s, b);
        else recounted = gpuopt__propagator_kept_replace(r, rules, m, s, b, p->most_exact);
        if (!finite || recounted)
            gpuopt__propagator_kept_infinite(r, rules, m, s, b, p->lhs[row], p->rhs[row], recounted);
        if (!tighter) {
            double reach = finite ? b * m->width : HUGE_VAL;
            if (reach > r->reach) gpuopt__propagator_kept_set_reach(r, rules, p->lhs[row], p->rhs[row], reach);
        }
        if (!marks || !(tighter ? gpuopt__propagator_kept_acts(r, s) : gpuopt__propagator_kept_row_acts(r))) return;
    }
    if (marks) gpuopt__propagator_cpu_mark_row(p, row, m->since);
}

/* Updates the rows of a column after its bound has moved. */
static void GPUOPT__PROPAGATOR_NAME(touch_rows)(gpuopt__propagator_cpu *p, uint32_t side, double from, int32_t since) {
    const gpuopt__propagator_cpu_matrix *matrix = &p->matrix;
    const gpuopt__propagator_rules *rules = &p->head.rules;
    gpuopt__propagator_kept *kept = p->kept;
    const int32_t *row = matrix->col_row;
    const GPUOPT__PROPAGATOR_REAL *val = (const GPUOPT__PROPAGATOR_REAL *)matrix->col_val,
                                  *pair = (const GPUOPT__PROPAGATOR_REAL *)p->bounds + (side & ~(uint32_t)1);
    double lb = (double)pair[0], ub = (double)pair[1];
    int32_t col = (int32_t)(side >> 1), e;
    int64_t k, end = matrix->col_start[col + 1];
    int even, tighter, marks;
    gpuopt__propagator_move m;
    marks = since != GPUOPT__PROPAGATOR_NO_MARKS && !(p->all_marked && !p->sequential);
    if (p->none_kept && !marks) return;
    m.since = since;
    m.epoch = p->epoch;
    m.upper = (int)(side & 1);
    m.from = m.upper ? -from : from;
    m.to = m.upper ? -ub : lb;
    m.other = m.upper ? lb : -ub;
    m.step = m.to - m.from;
    m.size = fabs(lb) + fabs(ub);
    tighter = m.to > m.from;
    m.width = tighter ? 0 : gpuopt__propagator_kept_width(rules, GPUOPT__PROPAGATOR_ROUNDED(col), lb, ub);
    m.was_rough = !gpuopt__propagator_is_whole(from);
    m.is_rough = !gpuopt__propagator_is_whole(m.to);
    m.wide = !(matrix->col_most[col] * m.size < rules->huge);
    even = matrix->col_most[col] * (fabs(from) + fabs(m.to)) < gpuopt__min(p->most_exact, rules->huge);
    if (even && tighter && marks) { /* nearly all moves are of one of these two kinds */
        for (k = matrix->col_start[col]; k < end; k++) {
            if (k + 8 < end) GPUOPT__PREFETCH(&kept[row[k + 8]]);
            GPUOPT__PROPAGATOR_NAME(touch_row)(p, &kept[row[k]], row[k], (double)val[k], &m, 1, 1, 1);
        }
    } else if (even && !tighter && !marks) {
        for (k = matrix->col_start[col]; k < end; k++) {
            if (k + 8 < end) GPUOPT__PREFETCH(&kept[row[k + 8]]);
            GPUOPT__PROPAGATOR_NAME(touch_row)(p, &kept[row[k]], row[k], (double)val[k], &m, 1, 0, 0);
        }
    } else {
        for (k = matrix->col_start[col]; k < end; k++)
            GPUOPT__PROPAGATOR_NAME(touch_row)(p, &kept[row[k]], row[k], (double)val[k], &m, 0, tighter, marks);
    }
    if (!p->added.head) return;
    m.wide = 1;
    for (e = p->added.head[col]; e >= 0; e = p->added.next[e]) {
        double a = (double)((const GPUOPT__PROPAGATOR_REAL *)p->added.val)[e];
        GPUOPT__PROPAGATOR_NAME(touch_row)(p, &kept[p->added.row[e]], p->added.row[e], a, &m, 0, tighter, marks);
    }
}

/* Moves a bound. touch: also mark its rows; since: for the rows it marks, or NO_MARKS. Returns whether the column's
 * bounds cross now. */
static int GPUOPT__PROPAGATOR_NAME(move)(gpuopt__propagator_cpu *p, uint32_t side, double value, int touch,
                                         int32_t since) {
    GPUOPT__PROPAGATOR_REAL *pair = (GPUOPT__PROPAGATOR_REAL *)p->bounds + (side & ~(uint32_t)1);
    double from = (double)pair[side & 1];
    int before = gpuopt__propagator_crossed(&p->head.rules, (double)pair[0], (double)pair[1]), now;
    pair[side & 1] = (GPUOPT__PROPAGATOR_REAL)value;
    if (p->next) ((GPUOPT__PROPAGATOR_REAL *)p->next)[side] = (GPUOPT__PROPAGATOR_REAL)value;
    now = gpuopt__propagator_crossed(&p->head.rules, (double)pair[0], (double)pair[1]);
    p->crossed += now - before;
    if (touch && p->kept) GPUOPT__PROPAGATOR_NAME(touch_rows)(p, side, from, since);
    return now;
}
