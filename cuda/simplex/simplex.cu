/* SPDX-License-Identifier: MIT
 *
 * The simplex engine of the GPU: the backend's table, and the calls that iterate and change bases.
 *
 * How a call travels: gpuopt_simplex_iterate and the other public calls are gpuopt_impl/simplex; its control on the
 * host calls the functions of the table below. cuda_simplex_run launches one cooperative kernel for as many iterations
 * as fit (run.cuh), and applies the collected pivots to the matrix when U and V are full (common/rank_update.cuh). In
 * the kernel each block keeps its share of the basic and nonbasic variables in shared memory (block.cuh, device.cuh),
 * and all blocks agree by exchanges of 16-byte cells (exchange.cuh). An iteration is: price and ratio test (run.cuh),
 * the pivot column and the step along it (column.cuh), the pivot row and what follows from it (follow.cuh).
 *
 * Reinversion is enter.cuh; FTRAN, BTRAN, residuals and reduced costs are solve.cuh with the kernels in products.cuh;
 * batch.cuh solves children of a handle's basis, without the control's loop; many.cuh solves small programs, which have no
 * handle. create.cuh sets everything up: the engine's shape and memory are engine.cuh, the way of the host's matrix to the GPU
 * is upload.cuh with the kernels in model.cuh.
 */
#include "../common/tables.cuh"
#include "batch.cuh"
#include "many.cuh"

namespace {

/* ---- Vectors ---- */

gpuopt_status cuda_simplex_push(void *engine) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    return s->copy(s->vectors, s->host->xb, s->vector_bytes);
}

gpuopt_status cuda_simplex_pull(void *engine) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    gpuopt_status status = s->copy(s->host->xb, s->vectors, s->vector_bytes);
    return status ? status : s->wait("reading the simplex vectors");
}

/* ---- Iterations ---- */

template <class Kernel, class... Argument>
gpuopt_status simplex_launch(CudaSimplex *s, Kernel kernel, size_t bytes, const Argument &...argument) {
    s->launch({s->view.blocks, SIMPLEX_THREADS, bytes, LAUNCH_COOPERATIVE}, kernel, argument...);
    gpuopt_status status = s->launched("launching simplex iterations");
    return status ? status : s->wait("waiting for simplex iterations");
}

gpuopt_status cuda_simplex_run(void *engine, const gpuopt__simplex_run *run, gpuopt__simplex_run_report *report) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    gpuopt__simplex_run request = *run;
    gpuopt__simplex_run_report total = {};
    do {
        if (s->deferred && s->pending == s->view.most) s->apply();
        if (request.reset_weights && s->pending) s->apply();
        int64_t launch = ++s->launches;
        gpuopt_status status = simplex_launch(s, simplex_run_kernel(*s), simplex_shared_bytes(s->view), s->view,
                                              request, s->pending, launch);
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
    } while (run->part == GPUOPT__SIMPLEX_RUN_ITERATE && total.end == GPUOPT__SIMPLEX_END_LIMIT && request.most > 0);
    *report = total;
    return GPUOPT_OK;
}

/* ---- Other bases ---- */

gpuopt_status cuda_simplex_reset(void *engine) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    const SimplexView &v = s->view;
    s->pending = 0;
    gpuopt_status status = s->clear(v.matrix, 0, sizeof(double) * static_cast<size_t>(v.pitch * v.lines));
    if (status) return status;
    if (s->revised) s->launch({CudaSimplex::blocks(v.rows), PRODUCT_THREADS}, fill_identity, v);
    else s->launch({CudaSimplex::blocks(32 * static_cast<int64_t>(v.cols)), PRODUCT_THREADS}, fill_tableau, v);
    return s->launched("filling the slack basis");
}

gpuopt_status cuda_simplex_enter(void *engine, int32_t count, const int32_t *column, const int32_t *wanted,
                                 double least, uint8_t *open, int32_t *position) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    const SimplexView &v = s->view;
    size_t bytes = sizeof(int32_t) * static_cast<size_t>(count);
    gpuopt_status status = s->copy(v.column, column, bytes);
    if (!status) status = s->copy(v.wanted, wanted, bytes);
    if (!status) status = s->copy(v.open, open, static_cast<size_t>(v.rows));
    for (int first = 0; first < count && !status; first = v.report->entering) {
        if (s->pending == v.most) s->apply();
        status = simplex_launch(s, simplex_enter_kernel(*s), enter_shared_bytes(v), v, first, count, s->pending, least);
        if (!status) s->pending += v.report->pivots;
    }
    if (!status && !s->deferred) s->apply();
    if (!status) status = s->copy(position, v.position, bytes);
    if (!status) status = s->copy(open, v.open, static_cast<size_t>(v.rows));
    return status ? status : s->wait("reinverting");
}

/* The matrix, and the columns of U and rows of V in use. */
struct SimplexKept {
    int pending;
    size_t matrix, u, v; /* bytes */

    SimplexKept(const SimplexView &view, int in_use)
        : pending(in_use), matrix(sizeof(double) * static_cast<size_t>(view.pitch * view.lines)),
          u(sizeof(double) * static_cast<size_t>(view.pitch * in_use)),
          v(sizeof(double) * static_cast<size_t>(view.wide * in_use)) {}
    size_t bytes() const { return sizeof pending + matrix + u + v; }
};

uint64_t cuda_simplex_kept_bytes(const void *engine) {
    const auto *s = static_cast<const CudaSimplex *>(engine);
    return SimplexKept(s->view, s->pending).bytes();
}

gpuopt_status cuda_simplex_keep(void *engine, void *kept) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    const SimplexKept size(s->view, s->pending);
    char *to = static_cast<char *>(kept) + sizeof size.pending;
    memcpy(kept, &size.pending, sizeof size.pending);
    gpuopt_status status = s->copy(to, s->view.matrix, size.matrix);
    if (!status) status = s->copy(to + size.matrix, s->view.u, size.u);
    if (!status) status = s->copy(to + size.matrix + size.u, s->view.v, size.v);
    return status ? status : s->wait("keeping the inverse");
}

gpuopt_status cuda_simplex_bring_back(void *engine, const void *kept) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    memcpy(&s->pending, kept, sizeof s->pending);
    const SimplexKept size(s->view, s->pending);
    const char *from = static_cast<const char *>(kept) + sizeof size.pending;
    gpuopt_status status = s->copy(s->view.matrix, from, size.matrix);
    if (!status) status = s->copy(s->view.u, from + size.matrix, size.u);
    if (!status) status = s->copy(s->view.v, from + size.matrix + size.u, size.v);
    return status ? status : s->wait("bringing the inverse back");
}

} // namespace

const gpuopt__simplex_backend gpuopt__cuda_simplex = { // no dual method yet
    cuda_simplex_plan,
    cuda_simplex_create,
    cuda_simplex_scale,
    cuda_simplex_pattern,
    cuda_simplex_destroy,
    cuda_simplex_run,
    nullptr,
    cuda_simplex_reset,
    cuda_simplex_enter,
    nullptr, // bases are always loaded
    nullptr,
    cuda_simplex_kept_bytes,
    cuda_simplex_keep,
    cuda_simplex_bring_back,
    cuda_simplex_push,
    cuda_simplex_pull,
    cuda_simplex_ftran,
    cuda_simplex_btran,
    cuda_simplex_residual,
    cuda_simplex_reduce,
    cuda_simplex_batch_plan,
    cuda_simplex_batch_create,
    cuda_simplex_batch_destroy,
    cuda_simplex_batch_run,
    nullptr, /* rows and columns stay */
    nullptr,
    nullptr,
    &many_table};
