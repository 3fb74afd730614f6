/* SPDX-License-Identifier: MIT
 *
 * A tableau split over ranks, the CPU side: replaces the calls of one GPU for an engine that is one rank of several.
 * Exchanges go through host memory, except for columns that the group takes from device memory. The kernels are in
 * split/step.cuh.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_HANDLE_SPLIT_RUN_CUH
#define GPUOPT_CUDA_SIMPLEX_HANDLE_SPLIT_RUN_CUH

#include "split_connect.cuh"

namespace {

/* A slot as numbered in this rank's launches. All slots of other ranks get the number behind this rank's last slot. */
int split_line(const CudaSimplex *s, int64_t slot) {
    return static_cast<int>(gpuopt__simplex_split_has(&s->split, static_cast<int32_t>(slot)) ? slot - s->view.first
                                                                                             : s->view.lines);
}

/* Copies the column of a slot to s.alpha of every rank, and to s->carried if it goes through host memory. stored: see
 * split_column(). */
gpuopt_status split_share_column(CudaSimplex *s, int32_t slot, bool stored) {
    const SimplexView &v = s->view;
    const size_t bytes = bytes_of<double>(v.rows);
    const bool own = gpuopt__simplex_split_has(&s->split, slot);
    gpuopt_status status = GPUOPT_OK;
    if (own) {
        s->launch({CudaSimplex::blocks(v.rows), PRODUCT_THREADS}, split_column, v, slot - v.first, s->pending, stored);
        status = s->launched("a column");
    }
    if (s->split.columns == GPUOPT_DEVICE) {
        if (!status) status = s->wait("a column"); /* a lost device here does not make the rank lost */
        if (!status) gpuopt__simplex_split_share(&s->split, slot, v.rows, v.alpha);
        return split_status(s, status);
    }
    if (own) {
        if (!status) status = s->copy(s->carried, v.alpha, bytes);
        if (!status) status = s->wait("reading a column");
    }
    if (!status) gpuopt__simplex_split_share(&s->split, slot, v.rows, s->carried);
    status = split_status(s, status);
    return status || own ? status : s->copy(v.alpha, s->carried, bytes);
}

/* Does the same as the end of a launch of one GPU at K pivots: applies the pivots, and adds the growth by its
 * iterations to Harris' tolerance. */
void split_apply(CudaSimplex *s, gpuopt__simplex_rules *rules, int *since) {
    if (!s->deferred || s->pending < s->view.most) return;
    s->apply();
    rules->harris += rules->expand * *since;
    *since = 0;
}

gpuopt_status split_launch(CudaSimplex *s, const gpuopt__simplex_run &run,
                           const gpuopt__simplex_pivot_candidate &entering) {
    return simplex_launch(s, split_kernel(*s), simplex_shared_bytes(s->view), split_view(s->view), run, entering,
                          s->pending);
}

/* One iteration from the agreed candidate on. Adds it to the report. */
gpuopt_status split_iteration(CudaSimplex *s, const gpuopt__simplex_run &request,
                              const gpuopt__simplex_pivot_candidate &best, int since,
                              gpuopt__simplex_run_report *total) {
    const gpuopt__simplex_run_report before = *total;
    gpuopt__simplex_run run = request;
    gpuopt__simplex_pivot_candidate local = best;
    gpuopt_status status = split_share_column(s, static_cast<int32_t>(best.slot), !s->deferred);
    if (status) return status;
    local.slot = split_line(s, best.slot);
    run.rules.harris = gpuopt__simplex_harris_now(&request.rules, since);
    status = split_launch(s, run, local);
    if (status) return status;
    *total = *s->view.report;
    if (s->deferred) s->pending += total->pivots;
    if (total->pivots > 0) s->weighs = 0;
    total->entering = before.entering;
    total->score = before.score;
    total->reduced_cost = before.reduced_cost;
    total->pivots += before.pivots;
    total->flips += before.flips;
    total->bans += before.bans;
    return GPUOPT_OK;
}

/* Replaces the loop in a launch of one GPU, and simplex_launches() around it. */
gpuopt_status split_iterate(CudaSimplex *s, const gpuopt__simplex_run *run, gpuopt__simplex_run_report *total) {
    const bool given = !gpuopt__simplex_chooses(run->part);
    const gpuopt__simplex_pivot_candidate none = {0, 0, 0, -1, 0, 0, 0, 0};
    gpuopt__simplex_run request = *run;
    gpuopt__simplex_pivot_candidate best;
    int since = 0; /* iterations since the last split_apply() */
    split_apply(s, &request.rules, &since);
    if (request.reset_weights && s->pending) s->apply();
    if (given) request.entering = split_line(s, run->entering);
    gpuopt_status status = split_launch(s, request, none);
    if (status) return status;
    *total = *s->view.report;
    request.reset_weights = 0;
    for (;;) {
        total->flip = 0;
        total->entering = total->leaving = -1;
        if (!given && run->phase == 1 && total->infeasible == 0) {
            total->end = GPUOPT__SIMPLEX_END_FEASIBLE;
            return GPUOPT_OK;
        }
        gpuopt__simplex_split_choose(&s->split, s->view.candidate, &best);
        if (s->split.status) return s->split.status;
        total->entering = static_cast<int32_t>(best.slot);
        total->score = given ? 0 : best.score;
        if (best.slot < 0) {
            total->end = GPUOPT__SIMPLEX_END_NO_ENTERING;
            return GPUOPT_OK;
        }
        total->reduced_cost = best.d;
        total->direction = given ? run->direction : best.d < 0 ? 1 : -1;
        if (run->part == GPUOPT__SIMPLEX_RUN_PRICE) return GPUOPT_OK;
        const int before = total->pivots + total->flips;
        split_apply(s, &request.rules, &since);
        status = split_iteration(s, request, best, since, total);
        since += total->pivots + total->flips - before;
        if (status || run->part != GPUOPT__SIMPLEX_RUN_ITERATE || total->end != GPUOPT__SIMPLEX_END_LIMIT ||
            total->pivots + total->flips >= run->most)
            return status;
    }
}

gpuopt_status split_run(CudaSimplex *s, const gpuopt__simplex_run *run, gpuopt__simplex_run_report *report) {
    gpuopt__simplex_run request = *run;
    *report = {};
    if (!s->peers.joined) return split_status(s, split_iterate(s, run, report));
    if (!gpuopt__simplex_chooses(run->part)) request.entering = split_line(s, run->entering);
    return split_status(s, simplex_launches(s, &request, report, [&](const gpuopt__simplex_run &part) {
                            return split_peer_launch(s, part);
                        }));
}

/* ---- Vectors ---- */

/* Adds the other ranks' parts to the copy in host memory. The device's copy does not need them. */
gpuopt_status split_gather(CudaSimplex *s, gpuopt_status pulled) {
    const gpuopt__simplex_vectors &v = *s->host;
    const gpuopt__simplex_by_slot arrays[] = {
        {v.d, sizeof *v.d},   {v.weight, sizeof *v.weight}, {v.xn, sizeof *v.xn},      {v.ln, sizeof *v.ln},
        {v.un, sizeof *v.un}, {v.slot, sizeof *v.slot},     {v.state, sizeof *v.state}};
    if (!pulled) gpuopt__simplex_split_gather(&s->split, sizeof arrays / sizeof *arrays, arrays);
    return split_status(s, pulled);
}

/* ---- Other bases ---- */

/* The device already has the lists of cuda_simplex_enter(). */
gpuopt_status split_enter(CudaSimplex *s, int count, const int32_t *slot, double least) {
    const SimplexView &v = s->view;
    gpuopt_status status = GPUOPT_OK;
    for (int k = 0; k < count && !status; k++) {
        if (s->pending == v.most) s->apply();
        status = split_share_column(s, slot[k], false);
        if (!status)
            status = simplex_launch(s, simplex_enter_kernel(*s), enter_shared_bytes(v), v, k, k + 1, s->pending, least);
        if (!status) s->pending += v.report->pivots;
    }
    return status;
}

gpuopt_status split_get_column(CudaSimplex *s, int32_t slot, double *x) {
    s->apply();
    gpuopt_status status = split_share_column(s, slot, true);
    if (!status && s->split.columns == GPUOPT_DEVICE)
        status = s->copy(s->carried, s->view.alpha, bytes_of<double>(s->view.rows));
    if (!status) status = s->wait("a column"); /* it may still be on its way from s->carried */
    status = split_status(s, status);
    if (!status) memcpy(x, s->carried, bytes_of<double>(s->view.rows));
    return status;
}

/* ---- Products ---- */

/* Copies s.out and s.in_low to host memory or back. */
gpuopt_status split_copy_carried(CudaSimplex *s, bool back) {
    const SimplexView &v = s->view;
    const size_t bytes = bytes_of<double>(v.rows);
    double *const device[] = {v.out, v.in_low};
    gpuopt_status status = GPUOPT_OK;
    for (int k = 0; k < 2 && !status; k++) {
        double *host = s->carried + k * static_cast<int64_t>(v.rows);
        status = back ? s->copy(device[k], host, bytes) : s->copy(host, device[k], bytes);
    }
    return status;
}

/* From s.in to x. The sum over all ranks' columns passes from one rank to the next. */
gpuopt_status split_ftran(CudaSimplex *s, double *x) {
    const SimplexView &v = s->view;
    const int parts = simplex_parts(v.cols);
    const int64_t count = 2 * static_cast<int64_t>(v.rows);
    const unsigned by_rows = CudaSimplex::blocks(v.rows);
    double *vector = v.partial + v.pitch * SIMPLEX_PARTS;
    s->apply();
    s->launch({CudaSimplex::blocks(v.lines), PRODUCT_THREADS}, gather_logicals, v, vector);
    gpuopt_status status = s->launched("FTRAN");
    memset(s->carried, 0, carried_bytes(v.rows));
    if (!status) gpuopt__simplex_split_wait_for(&s->split, count, s->carried);
    if (!status) status = s->split.status;
    if (!status) status = split_copy_carried(s, true);
    if (parts > 0)
        s->launch({dim3(by_rows, static_cast<unsigned>(parts)), PRODUCT_THREADS}, combine_columns, v, vector, v.cols,
                  parts, v.in_low);
    s->launch({by_rows, PRODUCT_THREADS}, split_sums, v, parts, s->split.rank == s->split.ranks - 1);
    if (!status) status = s->launched("FTRAN");
    if (!status) status = split_copy_carried(s, false);
    if (!status) status = s->wait("FTRAN");
    if (!status) gpuopt__simplex_split_pass_on(&s->split, count, s->carried);
    status = split_status(s, status);
    if (!status) memcpy(x, s->carried, bytes_of<double>(v.rows));
    return status;
}

/* From s.in to y. Each number belongs to one rank; the other ranks add -0, which does not change it. */
gpuopt_status split_btran(CudaSimplex *s, double *y) {
    const SimplexView &v = s->view;
    const size_t bytes = bytes_of<double>(v.rows);
    s->apply();
    for (int i = 0; i < v.rows; i++) s->carried[i] = -0.0;
    gpuopt_status status = s->copy(v.out, s->carried, bytes);
    s->launch({CudaSimplex::blocks(32 * static_cast<int64_t>(v.lines)), PRODUCT_THREADS}, dot_columns, v, true);
    if (s->split.rank == 0) s->launch({CudaSimplex::blocks(v.rows), PRODUCT_THREADS}, copy_basic_logicals, v);
    if (!status) status = s->launched("BTRAN");
    if (!status) status = s->copy(s->carried, v.out, bytes);
    if (!status) status = s->wait("BTRAN");
    if (!status) status = s->split.calls->all_reduce(s->split.group, GPUOPT_REDUCE_SUM, v.rows, nullptr, s->carried);
    status = split_status(s, status);
    if (!status) memcpy(y, s->carried, bytes);
    return status;
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_HANDLE_SPLIT_RUN_CUH */
