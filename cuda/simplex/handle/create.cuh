/* SPDX-License-Identifier: MIT
 *
 * The simplex engine of the GPU: create and destroy.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_HANDLE_CREATE_CUH
#define GPUOPT_CUDA_SIMPLEX_HANDLE_CREATE_CUH

#include "../iterations/dual_run.cuh"
#include "../iterations/enter.cuh"
#include "grow_kernels.cuh"
#include "../split/peer.cuh"
#include "../engine/upload.cuh"

namespace {

/* ---- Kernels by method ---- */

using RunKernel = void (*)(SimplexView, gpuopt__simplex_run, int, int64_t);
using EnterKernel = void (*)(SimplexView, int, int, int, double);
using SplitKernel = void (*)(SimplexView, gpuopt__simplex_run, gpuopt__simplex_pivot_candidate, int);
using PeersKernel = void (*)(SimplexView, gpuopt__simplex_run, PeerMap, int);
using DualKernel = void (*)(SimplexView, DualRequest, int);

RunKernel simplex_run_kernel(const CudaSimplex &s) {
    if (s.revised) return s.deferred ? simplex_run<true, true> : simplex_run<true, false>;
    return s.deferred ? simplex_run<false, true> : simplex_run<false, false>;
}

EnterKernel simplex_enter_kernel(const CudaSimplex &s) {
    if (s.split.ranks > 1) return simplex_enter<false, true>;
    return s.revised ? simplex_enter<true, false> : simplex_enter<false, false>;
}

SplitKernel split_kernel(const CudaSimplex &s) { return s.deferred ? split_step<true> : split_step<false>; }

PeersKernel split_peers_kernel(const CudaSimplex &s) { return s.deferred ? split_peers<true> : split_peers<false>; }

DualKernel simplex_dual_kernel(const CudaSimplex &s) { return s.revised ? simplex_dual<true> : simplex_dual<false>; }

/* Decides whether the blocks' shared memory can also hold their parts of U and V, or the whole pivot column. */
void simplex_choose_resident(CudaSimplex *s) {
    if (s->split.ranks > 1 && s->deferred) return; /* a launch has one pivot, and reads U and V once */
    bool &extra = s->deferred ? s->view.resident : s->view.whole;
    extra = true;
    extra = simplex_shared_bytes(s->view) <= static_cast<size_t>(cuda_of(s->context())->block_memory);
}

/* Loads a kernel, and allows it the shared memory that it needs. UNSUPPORTED if the device has less. */
template <class Kernel>
gpuopt_status simplex_prepare(const CudaSimplex &s, Kernel kernel, size_t bytes) {
    int fit = 0;
    gpuopt_status status = load_kernel(s.context(), kernel);
    if (status) return status;
    if (bytes <= static_cast<size_t>(cuda_of(s.context())->block_memory))
        GPUOPT_CUDA(s.context(), cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, SIMPLEX_THREADS, bytes));
    if (fit > 0 && cuda_of(s.context())->cooperative) return GPUOPT_OK;
    gpuopt__log(s.context(), 0,
                "simplex: %d rows and %d columns are too many for this device's shared memory, or it has no "
                "cooperative launches",
                s.view.rows, s.view.cols);
    return GPUOPT_ERROR_UNSUPPORTED;
}

/* Loads every kernel that the engine may launch, so that later calls load none. */
gpuopt_status simplex_load(const CudaSimplex &s) {
    gpuopt_status status = simplex_prepare(s, simplex_run_kernel(s), simplex_shared_bytes(s.view));
    if (!status) status = simplex_prepare(s, simplex_enter_kernel(s), enter_shared_bytes(s.view));
    if (!status && s.split.ranks > 1) status = simplex_prepare(s, split_kernel(s), simplex_shared_bytes(s.view));
    if (!status && s.split.ranks > 1)
        status = load_kernels(s.context(), split_column, split_sums, split_peers_kernel(s), split_trial);
    if (!status) status = simplex_prepare(s, simplex_dual_kernel(s), dual_shared_bytes(s.view));
    if (!status)
        status = load_kernels(s.context(), square_columns, start_dual_weights, scatter_column, slots_to_variables,
                              add_border, weigh_border, keep_rows, keep_lines);
    if (!status) status = simplex_load_model(s.context());
    if (!status)
        status = load_kernels(s.context(), fill_tableau, fill_identity, gather_logicals, combine_columns, add_parts,
                              dot_columns, copy_basic_logicals);
    if (!status)
        status = load_kernels(s.context(), residual_rows<FEW_LANES>, residual_rows<MANY_LANES>,
                              reduce_columns<FEW_LANES>, reduce_columns<MANY_LANES>, line_sizes);
    return status;
}

/* ---- Cooperative launches ---- */

template <class Kernel, class... Argument>
gpuopt_status simplex_launch(CudaSimplex *s, Kernel kernel, size_t bytes, const Argument &...argument) {
    s->launch({s->view.blocks, SIMPLEX_THREADS, bytes, LAUNCH_COOPERATIVE}, kernel, argument...);
    gpuopt_status status = s->launched("launching simplex iterations");
    return status ? status : s->wait("waiting for simplex iterations");
}

/* Does the launches of a run; launch(request) does one and waits for it. */
template <class Launch>
gpuopt_status simplex_launches(CudaSimplex *s, const gpuopt__simplex_run *run, gpuopt__simplex_run_report *report,
                               Launch launch) {
    gpuopt__simplex_run request = *run;
    gpuopt__simplex_run_report total = {};
    do {
        if (s->deferred && s->pending == s->view.most) s->apply();
        if (request.reset_weights && s->pending) s->apply();
        gpuopt_status status = launch(request);
        if (status) return status;
        int pivots = total.pivots, flips = total.flips, bans = total.bans;
        total = *s->view.report;
        if (s->deferred) s->pending += total.pivots;
        request.most -= total.pivots + total.flips;
        request.reset_weights = 0;
        request.rules.harris += request.rules.expand * (total.pivots + total.flips);
        total.pivots += pivots;
        total.flips += flips;
        total.bans += bans;
        if (total.pivots > 0) s->weighs = 0;
    } while (run->part == GPUOPT__SIMPLEX_RUN_ITERATE && total.end == GPUOPT__SIMPLEX_END_LIMIT && request.most > 0);
    *report = total;
    return GPUOPT_OK;
}

/* ---- Life ---- */

void split_forget_peers(CudaSimplex *s);

void cuda_simplex_destroy(gpuopt_context *context, void *engine) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(context);
    cudaStreamSynchronize(s->stream());
    split_forget_peers(s);
    give_pinned(context, s->peers.status);
    give_pinned(context, s->view.report);
    give_pinned(context, s->view.candidate);
    if (s->locked) cudaHostUnregister(s->carried);
    gpuopt__release(context, GPUOPT_DEVICE, s->device);
    gpuopt__release(context, GPUOPT_HOST, s);
}

/* With several ranks: takes page-locked memory and an empty mailbox. */
gpuopt_status split_open(CudaSimplex *s) {
    const SimplexView &v = s->view;
    gpuopt_status status = take_pinned(s->context(), &s->view.candidate);
    if (!status) status = take_pinned(s->context(), &s->peers.status);
    if (!status) status = s->clear(v.candidates, 0, bytes_of<PeerCell>(2 * s->split.ranks * CANDIDATE_WORDS));
    if (!status) status = s->clear(v.columns, 0, bytes_of<PeerCell>(v.pitch));
    if (!status) status = s->clear(v.agreed, 0, bytes_of<PeerCell>(CANDIDATE_WORDS + 1));
    if (!status) status = s->clear(v.lost, 0, sizeof *v.lost);
    if (!status) status = lock_pages(s->context(), s->carried, whole_pages(carried_bytes(v.rows)), &s->locked);
    return status;
}

gpuopt_status simplex_open(CudaSimplex *s, gpuopt__simplex_shape *shape) {
    gpuopt__arena arena = {nullptr, 0};
    simplex_set_shape(s->context(), shape, &s->view);
    simplex_choose_resident(s);
    gpuopt_status status = simplex_load(*s);
    if (!status) status = rank_update_open(s->context(), &s->rank);
    if (status) return status;
    simplex_cut_device(&arena, shape->nonzeros, shape->ranks, &s->view);
    status = gpuopt__take_block(s->context(), GPUOPT_DEVICE, &arena);
    if (status) return status;
    s->device = arena.base;
    uint64_t vectors = simplex_cut_device(&arena, shape->nonzeros, shape->ranks, &s->view);
    s->vectors = arena.base + vectors;
    s->vector_bytes = static_cast<size_t>(arena.used - vectors);
    if (s->split.ranks == 1) simplex_set_size(&s->view, s->revised, s->lp->rows, s->lp->cols);
    const SimplexView &v = s->view;
    status = take_pinned(s->context(), &s->view.report);
    if (!status && s->split.ranks > 1) status = split_open(s);
    if (!status) status = s->clear(v.cells, 0, sizeof(Cell) * 2 * static_cast<size_t>(v.blocks));
    if (!status) status = s->clear(v.winners, 0, sizeof(Cell) * 4 * SIMPLEX_MOST_GROUPS);
    if (!status) status = s->clear(v.number, 0, 2 * sizeof(unsigned));
    if (!status) status = s->clear(v.alpha, 0, sizeof(double) * static_cast<size_t>(v.pitch));
    if (!status) status = s->clear(v.drifted, 0, sizeof(int64_t));
    /* No kernel writes the padding, but a saved basis contains it. */
    if (!status) status = s->clear(v.u, 0, bytes_of<double>(v.pitch * v.most));
    if (!status) status = s->clear(v.v, 0, bytes_of<double>(v.wide * v.most));
    return status;
}

gpuopt_status cuda_simplex_create(gpuopt_context *context, const gpuopt__simplex_shape *shape,
                                  const gpuopt__simplex_options *desc, gpuopt__simplex_lp *lp,
                                  gpuopt__simplex_vectors *vectors, int *moderate, void **engine) {
    DeviceScope scope(context);
    gpuopt__simplex_shape same = *shape;
    SimplexMemory own;
    SimplexSharing sharing;
    gpuopt__arena arena = {nullptr, 0};
    simplex_cut_host(&arena, same, &own, &sharing);
    void *memory;
    gpuopt_status status = gpuopt__allocate(context, GPUOPT_HOST, arena.used, &memory);
    if (status) return status;
    arena = {static_cast<char *>(memory), 0};
    CudaSimplex *s = new (simplex_cut_host(&arena, same, &own, &sharing)) CudaSimplex(context);
    s->lp = lp;
    s->host = vectors;
    static_cast<SimplexMemory &>(*s) = own;
    s->split = sharing.split;
    s->split.group = desc->group;
    s->peers.map.nanoseconds = static_cast<unsigned long long>(shape->time_limit * 1e9);
    if (sharing.pages) s->carried = reinterpret_cast<double *>(first_page(sharing.pages));
    s->revised = shape->method == GPUOPT_METHOD_REVISED;
    s->deferred = shape->deferred_pivots != 1 && shape->pricing != GPUOPT_PRICING_STEEPEST_EDGE;
    status = simplex_open(s, &same);
    if (!status) status = simplex_take(s, desc, moderate);
    if (status) cuda_simplex_destroy(context, s);
    else *engine = s;
    return status;
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_HANDLE_CREATE_CUH */
