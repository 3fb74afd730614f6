/* SPDX-License-Identifier: MIT
 *
 * Propagation on the CPU: the sums over one row, for one storage type. typed.h includes this file twice, with
 * GPUOPT__PROPAGATOR_REAL = double and float; GPUOPT__PROPAGATOR_NAME(x) is gpuopt__propagator_cpu_x_double or _float.
 */

/* The entries of a row: of the matrix, or added. */
typedef struct GPUOPT__PROPAGATOR_NAME(span) {
    const int32_t *col; /* [length] */
    const GPUOPT__PROPAGATOR_REAL *val;
    int64_t length;
} GPUOPT__PROPAGATOR_NAME(span);

static inline GPUOPT__PROPAGATOR_NAME(span)
    GPUOPT__PROPAGATOR_NAME(row_span)(const gpuopt__propagator_cpu *p, int32_t row) {
    GPUOPT__PROPAGATOR_NAME(span) span;
    const void *val = p->matrix.val;
    int64_t first;
    if (row < p->head.rows) {
        first = p->matrix.start[row];
        span.length = p->matrix.start[row + 1] - first;
        span.col = p->matrix.col + first;
    } else {
        row -= p->head.rows;
        first = p->added.first[row];
        span.length = p->added.length[row] > 0 ? p->added.length[row] : 0;
        span.col = p->added.col + first;
        val = p->added.val;
    }
    span.val = (const GPUOPT__PROPAGATOR_REAL *)val + first;
    return span;
}

/* Filters a row. Long rows are added up in nested blocks, to keep the chain of additions short and the error bound
 * small. Two chains run at a time, to hide the latency of the additions. */
static int GPUOPT__PROPAGATOR_NAME(row_filter)(const gpuopt__propagator_cpu *p, GPUOPT__PROPAGATOR_NAME(span) span,
                                               int32_t row) {
    const GPUOPT__PROPAGATOR_REAL *val = span.val, *bounds = (const GPUOPT__PROPAGATOR_REAL *)p->bounds;
    const gpuopt__propagator_rules rules = p->head.rules;
    const int32_t *col = span.col;
    int64_t k = 0, end = span.length, blocks = end / 1024;
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
                                                                                 GPUOPT__PROPAGATOR_NAME(span) span,
                                                                                 int64_t first, int64_t end,
                                                                                 int lanes) {
    const GPUOPT__PROPAGATOR_REAL *val = span.val, *bounds = (const GPUOPT__PROPAGATOR_REAL *)p->bounds;
    const gpuopt__propagator_rules rules = p->head.rules;
    const int32_t *col = span.col;
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
                                                                             GPUOPT__PROPAGATOR_NAME(span) span) {
    int64_t k = 0, end = span.length, segment;
    gpuopt__propagator_activities lane[GPUOPT__PROPAGATOR_LANES];
    int i;
    if (end - k <= GPUOPT__PROPAGATOR_SHORT)
        return GPUOPT__PROPAGATOR_NAME(segment_activities)(p, span, k, end, GPUOPT__PROPAGATOR_SHORT_LANES);
    if (end - k <= GPUOPT__PROPAGATOR_SEGMENT)
        return GPUOPT__PROPAGATOR_NAME(segment_activities)(p, span, k, end, GPUOPT__PROPAGATOR_LANES);
    for (i = 0; i < GPUOPT__PROPAGATOR_LANES; i++) lane[i] = gpuopt__propagator_activities_start();
    for (segment = 0; k < end; k += GPUOPT__PROPAGATOR_SEGMENT, segment++) {
        int64_t stop = end - k < GPUOPT__PROPAGATOR_SEGMENT ? end : k + GPUOPT__PROPAGATOR_SEGMENT;
        gpuopt__propagator_activities part =
            GPUOPT__PROPAGATOR_NAME(segment_activities)(p, span, k, stop, GPUOPT__PROPAGATOR_LANES);
        gpuopt__propagator_activities_merge(&lane[segment % GPUOPT__PROPAGATOR_LANES], &part);
    }
    return gpuopt__propagator_cpu_merge_lanes(lane, GPUOPT__PROPAGATOR_LANES, GPUOPT__PROPAGATOR_LANES);
}

/* The sums of the sizes of a segment's finite terms, for the least and for the greatest activity, in the order of the
 * activities' sums. */
static gpuopt__pair GPUOPT__PROPAGATOR_NAME(segment_magnitudes)(const gpuopt__propagator_cpu *p,
                                                                GPUOPT__PROPAGATOR_NAME(span) span, int64_t first,
                                                                int64_t end, int lanes) {
    const GPUOPT__PROPAGATOR_REAL *bounds = (const GPUOPT__PROPAGATOR_REAL *)p->bounds;
    gpuopt__pair lane[GPUOPT__PROPAGATOR_LANES];
    int64_t k;
    memset(lane, 0, sizeof lane);
    for (k = first; k < end; k++) {
        const GPUOPT__PROPAGATOR_REAL *pair = bounds + 2 * (int64_t)span.col[k];
        double a = (double)span.val[k], low = gpuopt__propagator_term_size(&p->head.rules, a, (double)pair[0]),
               high = gpuopt__propagator_term_size(&p->head.rules, a, (double)pair[1]);
        gpuopt__pair *sum = &lane[(k - first) % lanes];
        *sum = gpuopt__pair_add(*sum, gpuopt__pair_by_sign(a, gpuopt__pair_of(low, high)));
    }
    return gpuopt__propagator_cpu_merge_pairs(lane);
}

/* Whether a row with violated sides (see row.h) is infeasible. Few rows reach this point. */
static int GPUOPT__PROPAGATOR_NAME(row_infeasible)(const gpuopt__propagator_cpu *p, GPUOPT__PROPAGATOR_NAME(span) span,
                                                   int32_t index, const gpuopt__propagator_row *row) {
    int64_t end = span.length, k;
    gpuopt__pair lane[GPUOPT__PROPAGATOR_LANES], all;
    memset(lane, 0, sizeof lane);
    for (k = 0; k < end; k += GPUOPT__PROPAGATOR_SEGMENT) {
        gpuopt__pair *sum = &lane[k / GPUOPT__PROPAGATOR_SEGMENT % GPUOPT__PROPAGATOR_LANES];
        int64_t stop = end - k < GPUOPT__PROPAGATOR_SEGMENT ? end : k + GPUOPT__PROPAGATOR_SEGMENT;
        int lanes = end <= GPUOPT__PROPAGATOR_SHORT ? GPUOPT__PROPAGATOR_SHORT_LANES : GPUOPT__PROPAGATOR_LANES;
        *sum = gpuopt__pair_add(*sum, GPUOPT__PROPAGATOR_NAME(segment_magnitudes)(p, span, k, stop, lanes));
    }
    all = gpuopt__propagator_cpu_merge_pairs(lane);
    return gpuopt__propagator_limit_violated(&row->limit[0], &p->head.rules, p->rhs[index], gpuopt__first(all)) ||
           gpuopt__propagator_limit_violated(&row->limit[1], &p->head.rules, p->lhs[index], gpuopt__second(all));
}
