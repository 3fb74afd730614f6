/* SPDX-License-Identifier: MIT
 *
 * Batches of small linear programs that the ranks of a group share (common/dealt.h), in blocks. A rank's programs are
 * read in place from the caller's arrays, and their results are written to the caller's arrays in place.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_BATCH_SHARE_H
#define GPUOPT_IMPL_SIMPLEX_BATCH_SHARE_H

#include "../../common/dealt.h"
#include "backend.h"

enum { GPUOPT__SIMPLEX_BATCH_REPORTS = 11 };

/* The arrays of a report; NULL where not wanted. */
static void gpuopt__simplex_batch_reports(const gpuopt__simplex_batch_set *s, const gpuopt_simplex_batch_report *r,
                                          gpuopt__dealt_array array[GPUOPT__SIMPLEX_BATCH_REPORTS]) {
    const size_t rows = (size_t)s->rows, cols = (size_t)s->cols;
    const gpuopt__dealt_array all[GPUOPT__SIMPLEX_BATCH_REPORTS] = {
        {r->outcome, sizeof *r->outcome},     {r->iterations, sizeof *r->iterations},
        {r->objective, sizeof *r->objective}, {r->x, sizeof *r->x * cols},
        {r->dual, sizeof *r->dual * rows},    {r->farkas, sizeof *r->farkas * rows},
        {r->farkas_low, sizeof *r->x * rows}, {r->ray, sizeof *r->ray * cols},
        {r->ray_low, sizeof *r->ray * cols},  {r->basis, sizeof *r->basis * (cols + rows)},
        {r->certainty, sizeof *r->certainty}};
    memcpy(array, all, sizeof all);
}

/* Bytes per program in all arrays of a report. */
static uint64_t gpuopt__simplex_batch_report_bytes(const gpuopt__simplex_batch_set *s) {
    gpuopt_simplex_batch_report none;
    gpuopt__dealt_array array[GPUOPT__SIMPLEX_BATCH_REPORTS];
    uint64_t bytes = 0;
    int k;
    memset(&none, 0, sizeof none);
    gpuopt__simplex_batch_reports(s, &none, array);
    for (k = 0; k < GPUOPT__SIMPLEX_BATCH_REPORTS; k++) bytes += array[k].size;
    return bytes;
}

/* The hash of everything that must be equal in the handles of a group. */
static uint64_t gpuopt__simplex_batch_share_hash(const gpuopt_simplex_batch *m) {
    const gpuopt__simplex_batch_set *s = &m->set;
    const double number[] = {s->infinity, s->primal, s->dual, s->pivot};
    const int64_t whole[] = {m->dealt->most, s->rows,     s->cols,  s->nonzeros,
                             m->desc.shared, s->maximize, s->limit, (int64_t)m->desc.layout};
    uint64_t hash = gpuopt__hash_numbers(GPUOPT__HASH_START, number, sizeof number / 8);
    int32_t e;
    hash = gpuopt__hash_numbers(hash, whole, sizeof whole / 8);
    for (e = 0; e <= s->rows; e++) hash = gpuopt__hash_number(hash, (uint64_t)s->row_start[e]);
    for (e = 0; e < s->nonzeros; e++) {
        hash = gpuopt__hash_number(hash, (uint64_t)s->row_col[e]);
        hash = gpuopt__hash_number(hash, (uint64_t)s->row_at[e]);
    }
    return hash;
}

/* Ends the creation of a batch, which had this status on this rank: returns the same status on all ranks. */
static gpuopt_status gpuopt__simplex_batch_agree_made(gpuopt_context *context, const char *call, gpuopt_status status,
                                                      gpuopt_group *group, const gpuopt_simplex_batch *m) {
    if (!group) return status;
    return gpuopt__ranks_agree(context, group, call, status, status ? 0 : gpuopt__simplex_batch_share_hash(m));
}

/* With a group: checks that all ranks make a call, with this status and with these numbers equal. */
static gpuopt_status gpuopt__simplex_batch_together(const gpuopt_simplex_batch *m, const char *call,
                                                    gpuopt_status status, int64_t a, int64_t b, int64_t c) {
    const int64_t data[] = {a, b, c};
    if (!m->dealt) return status;
    return gpuopt__ranks_agree(m->context, m->dealt->group, call, status,
                               gpuopt__hash_numbers(GPUOPT__HASH_START, data, sizeof data / 8));
}

/* The most programs of a call, and those of the latest load, on all ranks. */
static int32_t gpuopt__simplex_batch_most(const gpuopt_simplex_batch *m) {
    return m->dealt ? m->dealt->most : m->desc.batch_size;
}
static int32_t gpuopt__simplex_batch_programs(const gpuopt_simplex_batch *m) {
    return m->dealt ? m->dealt->count : m->set.count;
}

/* Begins a load of programs: this rank takes m->set.count of them. Returns the first. */
static int32_t gpuopt__simplex_batch_take_part(gpuopt_simplex_batch *m, int32_t count) {
    gpuopt__dealt_part part;
    m->set.count = count;
    if (!m->dealt) return 0;
    m->dealt->count = count;
    part = gpuopt__dealt_part_of(m->dealt, m->dealt->rank);
    m->set.count = part.count;
    return part.first;
}

/* Ends the load, which had this status on this rank. */
static gpuopt_status gpuopt__simplex_batch_end_load(gpuopt_simplex_batch *m, const char *call, gpuopt_status status) {
    status = gpuopt__simplex_batch_together(m, call, status, 0, 0, 0);
    if (status) m->set.count = 0;
    if (!m->dealt) return status;
    if (status) m->dealt->count = 0;
    memset(&m->of_all, 0, sizeof m->of_all);
    m->of_all.count = m->of_all.more = m->dealt->count;
    return status;
}

/* ---- Counting ---- */

/* Counts this rank's programs by their outcomes. */
static gpuopt_simplex_batch_info gpuopt__simplex_batch_count(const gpuopt_simplex_batch *m) {
    gpuopt_simplex_batch_info result;
    int32_t k;
    memset(&result, 0, sizeof result);
    result.count = m->set.count;
    for (k = 0; k < m->set.count; k++) {
        const gpuopt__simplex_batch_progress *p = &m->set.progress[k];
        int32_t *const of = p->outcome == GPUOPT_MORE         ? &result.more
                            : p->outcome == GPUOPT_OPTIMAL    ? &result.optimal
                            : p->outcome == GPUOPT_INFEASIBLE ? &result.infeasible
                            : p->outcome == GPUOPT_UNBOUNDED  ? &result.unbounded
                            : p->outcome == GPUOPT_LIMIT      ? &result.limit
                                                              : &result.imprecise;
        ++*of;
        result.iterations += p->iterations;
    }
    return result;
}

/* The same on all ranks, in the latest call. */
static gpuopt_simplex_batch_info gpuopt__simplex_batch_count_all(const gpuopt_simplex_batch *m) {
    return m->dealt ? m->of_all : gpuopt__simplex_batch_count(m);
}

/* Ends a run, which had this status on this rank. With a group: counts the programs of all ranks by their outcomes. */
static gpuopt_status gpuopt__simplex_batch_end_run(gpuopt_simplex_batch *m, const char *call, gpuopt_status status) {
    gpuopt_simplex_batch_info *all = &m->of_all;
    int64_t sum[8];
    status = gpuopt__simplex_batch_together(m, call, status, 0, 0, 0);
    if (status || !m->dealt) return status;
    *all = gpuopt__simplex_batch_count(m);
    sum[0] = all->count, sum[1] = all->more, sum[2] = all->optimal, sum[3] = all->infeasible;
    sum[4] = all->unbounded, sum[5] = all->limit, sum[6] = all->imprecise, sum[7] = all->iterations;
    status = gpuopt__ranks_sum(m->dealt->group, sizeof sum / sizeof *sum, sum);
    all->count = (int32_t)sum[0];
    all->more = (int32_t)sum[1];
    all->optimal = (int32_t)sum[2];
    all->infeasible = (int32_t)sum[3];
    all->unbounded = (int32_t)sum[4];
    all->limit = (int32_t)sum[5];
    all->imprecise = (int32_t)sum[6];
    all->iterations = sum[7];
    return status;
}

/* ---- Results ---- */

/* Cuts a request to this rank's programs: *own is for the backend. False if no program is left. */
static int gpuopt__simplex_batch_wanted_here(const gpuopt_simplex_batch *m, const gpuopt__simplex_batch_wanted *wanted,
                                             gpuopt__simplex_batch_wanted *own) {
    const gpuopt__dealt_part part = gpuopt__dealt_part_within(m->dealt, m->dealt->rank, wanted->first, wanted->count);
    gpuopt__dealt_array array[GPUOPT__SIMPLEX_BATCH_REPORTS];
    gpuopt_simplex_batch_report *r = &own->report;
    int k;
    if (part.count == 0) return 0;
    *own = *wanted;
    own->first = wanted->first + part.first - gpuopt__dealt_block(m->dealt, m->dealt->rank);
    own->count = part.count;
    gpuopt__simplex_batch_reports(&m->set, &wanted->report, array);
    for (k = 0; k < GPUOPT__SIMPLEX_BATCH_REPORTS; k++)
        if (array[k].at) array[k].at = (char *)array[k].at + array[k].size * (size_t)part.first;
    r->outcome = (int32_t *)array[0].at, r->iterations = (int32_t *)array[1].at;
    r->objective = (double *)array[2].at, r->x = (double *)array[3].at, r->dual = (double *)array[4].at;
    r->farkas = (double *)array[5].at, r->farkas_low = (double *)array[6].at;
    r->ray = (double *)array[7].at, r->ray_low = (double *)array[8].at;
    r->basis = (uint8_t *)array[9].at, r->certainty = (int32_t *)array[10].at;
    return 1;
}

/* A mask of the wanted arrays. */
static int64_t gpuopt__simplex_batch_wanted_mask(const gpuopt_simplex_batch *m,
                                                 const gpuopt__simplex_batch_wanted *wanted) {
    gpuopt__dealt_array array[GPUOPT__SIMPLEX_BATCH_REPORTS];
    int64_t mask = 0;
    int k;
    gpuopt__simplex_batch_reports(&m->set, &wanted->report, array);
    for (k = 0; k < GPUOPT__SIMPLEX_BATCH_REPORTS; k++) mask |= (int64_t)(array[k].at != NULL) << k;
    return mask;
}

/* Exchanges the results of all ranks. This rank's results are already in place unless computing them failed. */
static gpuopt_status gpuopt__simplex_batch_share_results(const gpuopt_simplex_batch *m, const char *call,
                                                         gpuopt_status status,
                                                         const gpuopt__simplex_batch_wanted *wanted) {
    gpuopt__dealt_array array[GPUOPT__SIMPLEX_BATCH_REPORTS];
    int k, count = 0;
    gpuopt__simplex_batch_reports(&m->set, &wanted->report, array);
    for (k = 0; k < GPUOPT__SIMPLEX_BATCH_REPORTS; k++)
        if (array[k].at && array[k].size > 0) array[count++] = array[k];
    return gpuopt__dealt_exchange(m->dealt, m->context, call, status, 0, wanted->first, wanted->count, array, count);
}

/* Gives the results of checked arguments. get: of this rank's programs. */
static gpuopt_status gpuopt__simplex_batch_get_all(gpuopt_simplex_batch *m, const char *call,
                                                   const gpuopt__simplex_batch_wanted *wanted,
                                                   gpuopt_status (*get)(gpuopt_simplex_batch *,
                                                                        const gpuopt__simplex_batch_wanted *)) {
    gpuopt__simplex_batch_wanted own;
    gpuopt_status status = GPUOPT_OK;
    if (!m->dealt) return get(m, wanted);
    if (gpuopt__simplex_batch_wanted_here(m, wanted, &own)) status = get(m, &own);
    return gpuopt__simplex_batch_share_results(m, call, status, wanted);
}

#endif /* GPUOPT_IMPL_SIMPLEX_BATCH_SHARE_H */
