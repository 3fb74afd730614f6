/* SPDX-License-Identifier: MIT
 *
 * The simplex engine of the GPU: the backend's table, and the calls that iterate and change bases.
 *
 * The public calls, such as gpuopt_simplex_iterate, are in gpuopt_impl/simplex. Their control on the CPU calls the
 * functions of the table below. cuda_simplex_run launches one cooperative kernel for as many iterations as fit. When U
 * and V are full, it applies the collected pivots to the matrix (common/rank_update.cuh).
 *
 * In the kernel each block keeps its share of the basic and nonbasic variables in shared memory (engine/device.cuh,
 * iterations/block.cuh). All blocks agree by exchanges of 16-byte cells (iterations/exchange.cuh). The modules, each a
 * folder, with the highest first:
 *
 *     children/    children of a handle's basis, without the control's loop: the calls, the memory, the roots
 *     child/       how a block solves one child
 *     batch/       batches of small programs, without handles
 *     handle/      create and destroy (create.cuh); FTRAN, BTRAN, residuals and reduced costs (solve.cuh); adding and
 *                  removing rows and columns (grow.cuh); the CPU side of a tableau that several ranks share: exchanges
 *                  (split_run.cuh), and ranks of one process that access each other's memory (split_connect.cuh)
 *     split/       kernels of such a tableau: with exchanges by the CPU (step.cuh) and without (peer.cuh)
 *     iterations/  kernels that iterate, see below; refactoring (enter.cuh)
 *     engine/      the shape and the memory (memory.cuh), the data of kernels (device.cuh), products (products.cuh),
 *                  copying the caller's matrix to the GPU (upload.cuh, model.cuh)
 *
 * An iteration consists of
 *
 *     iterations/run.cuh     pricing and the ratio test
 *     iterations/column.cuh  the pivot column and the step along it
 *     iterations/follow.cuh  the pivot row and the updates that depend on it
 *
 * cuda_simplex_dual_run does the same for the dual method:
 *
 *     iterations/dual_run.cuh    the kernel
 *     iterations/dual_block.cuh  a block's data
 *     iterations/dual_ratio.cuh  the choice of the leaving and the entering variable
 */
#include "../common/tables.cuh"
#include "children/calls.cuh"
#include "handle/grow.cuh"
#include "batch/calls.cuh"

namespace {

/* ---- Vectors ---- */

gpuopt_status cuda_simplex_push(void *engine) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    return split_status(s, s->copy(s->vectors, s->host->xb, s->vector_bytes));
}

gpuopt_status cuda_simplex_pull(void *engine) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    gpuopt_status status = s->copy(s->host->xb, s->vectors, s->vector_bytes);
    if (!status) status = s->wait("reading the simplex vectors");
    return s->split.ranks > 1 ? split_gather(s, status) : status;
}

/* ---- Iterations ---- */

gpuopt_status cuda_simplex_run(void *engine, const gpuopt__simplex_run *run, gpuopt__simplex_run_report *report) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    if (s->split.ranks > 1) return split_run(s, run, report);
    return simplex_launches(s, run, report, [&](const gpuopt__simplex_run &request) {
        const int64_t launch = ++s->launches;
        return simplex_launch(s, simplex_run_kernel(*s), simplex_shared_bytes(s->view), s->view, request, s->pending,
                              launch);
    });
}

/* Computes weights for the present basis, if there are none. */
gpuopt_status simplex_weigh(CudaSimplex *s, gpuopt_simplex_dual_pricing pricing) {
    const SimplexView &v = s->view;
    const int most = v.lines < SIMPLEX_PARTS ? v.lines : +SIMPLEX_PARTS;
    const int parts = pricing == GPUOPT_DUAL_PRICING_STEEPEST_EDGE ? most : 0;
    unsigned by_rows = CudaSimplex::blocks(v.rows);
    if (s->weighs == pricing + 1) return GPUOPT_OK;
    s->weighs = pricing + 1;
    if (parts > 0) {
        s->apply();
        s->launch({dim3(by_rows, static_cast<unsigned>(parts)), PRODUCT_THREADS}, square_columns, v, parts,
                  !s->revised);
    }
    s->launch({by_rows, PRODUCT_THREADS}, start_dual_weights, v, parts, !s->revised);
    return s->launched("starting the dual method's weights");
}

gpuopt_status cuda_simplex_dual_run(void *engine, const gpuopt__simplex_dual_run *run,
                                    gpuopt__simplex_run_report *report) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    const SimplexView &v = s->view;
    const size_t both = bytes_of<double>(static_cast<int64_t>(v.rows) + v.cols);
    DualRequest request = {run->rules, run->part, run->pricing, run->most, 0, run->leaving, run->entering, run->cutoff};
    gpuopt__simplex_run_report total = {};
    gpuopt_status status = simplex_weigh(s, run->pricing);
    if (!status) status = s->copy(v.in, run->cost, both);
    if (!status) status = s->clear(v.in_low, 0, both);
    if (!status) status = s->clear(v.refused, 0, static_cast<size_t>(v.rows));
    while (!status) {
        if (s->pending == v.most) s->apply();
        status = simplex_launch(s, simplex_dual_kernel(*s), dual_shared_bytes(v), v, request, s->pending);
        if (status) break;
        int pivots = total.pivots, flips = total.flips, bans = total.bans;
        double shifted = total.shifted;
        total = *v.report;
        s->pending += total.pivots;
        request.most -= total.pivots;
        request.idle = total.idle;
        total.pivots += pivots;
        total.flips += flips;
        total.bans += bans;
        if (shifted > total.shifted) total.shifted = shifted;
        if (total.end != GPUOPT__SIMPLEX_END_LIMIT || request.most == 0 || run->part != GPUOPT__SIMPLEX_RUN_ITERATE)
            break;
    }
    if (!s->deferred) s->apply();
    if (!status && total.shifted > 0) {
        status = s->copy(run->cost, v.in, both);
        if (!status) status = s->wait("reading shifted costs");
    }
    *report = total;
    return status;
}

/* ---- Other bases ---- */

gpuopt_status cuda_simplex_reset(void *engine) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    const SimplexView &v = s->view;
    s->pending = s->weighs = 0;
    gpuopt_status status = s->clear(v.matrix, 0, bytes_of<double>(v.pitch * v.lines));
    if (status) return split_status(s, status);
    if (s->revised) s->launch({CudaSimplex::blocks(v.rows), PRODUCT_THREADS}, fill_identity, v);
    else s->launch({CudaSimplex::blocks(32 * static_cast<int64_t>(v.lines)), PRODUCT_THREADS}, fill_tableau, v);
    return split_status(s, s->launched("filling the slack basis"));
}

gpuopt_status cuda_simplex_enter(void *engine, int32_t count, const int32_t *column, const int32_t *wanted,
                                 double least, uint8_t *open, int32_t *position) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    gpuopt_status status = s->copy(s->view.column, column, bytes_of<int32_t>(count));
    return status ? split_status(s, status) : simplex_enter_listed(s, count, column, wanted, least, open, position);
}

/* Layout of a saved basis: the matrix, the columns of U and rows of V in use, and the dual method's weights, if any. */
struct SimplexKept {
    struct Head {
        int pending, weighs;
    } head;
    size_t matrix, u, v, weights; /* bytes */

    SimplexKept(const SimplexView &view, const Head &now)
        : head(now), matrix(sizeof(double) * static_cast<size_t>(view.pitch * view.lines)),
          u(sizeof(double) * static_cast<size_t>(view.pitch * now.pending)),
          v(sizeof(double) * static_cast<size_t>(view.wide * now.pending)),
          weights(now.weighs ? sizeof(double) * static_cast<size_t>(view.rows) : 0) {}
    size_t bytes() const { return sizeof head + matrix + u + v + weights; }
};

/* Copies the arrays from the engine to the saved basis, or back. */
gpuopt_status simplex_copy_kept(CudaSimplex *s, char *kept, bool back) {
    const SimplexKept size(s->view, {s->pending, s->weighs});
    void *const own[] = {s->view.matrix, s->view.u, s->view.v, s->view.dual_weight};
    const size_t bytes[] = {size.matrix, size.u, size.v, size.weights};
    gpuopt_status status = GPUOPT_OK;
    kept += sizeof size.head;
    for (int k = 0; k < 4 && !status; k++) {
        status = back ? s->copy(own[k], kept, bytes[k]) : s->copy(kept, own[k], bytes[k]);
        kept += bytes[k];
    }
    return split_status(s, status ? status : s->wait("keeping the inverse"));
}

uint64_t cuda_simplex_kept_bytes(const void *engine) {
    const auto *s = static_cast<const CudaSimplex *>(engine);
    return SimplexKept(s->view, {s->pending, s->weighs}).bytes();
}

gpuopt_status cuda_simplex_keep(void *engine, void *kept) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    const SimplexKept::Head now = {s->pending, s->weighs};
    memcpy(kept, &now, sizeof now);
    return simplex_copy_kept(s, static_cast<char *>(kept), false);
}

gpuopt_status cuda_simplex_restore(void *engine, const void *kept) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    SimplexKept::Head then;
    memcpy(&then, kept, sizeof then);
    s->pending = then.pending;
    s->weighs = then.weighs;
    return simplex_copy_kept(s, static_cast<char *>(const_cast<void *>(kept)), true);
}

} // namespace

#define GPUOPT__SIMPLEX_CUDA_TABLE(SET)                      \
    SET(plan, cuda_simplex_plan)                             \
    SET(create, cuda_simplex_create)                         \
    SET(scale, cuda_simplex_scale)                           \
    SET(pattern, cuda_simplex_pattern)                       \
    SET(destroy, cuda_simplex_destroy)                       \
    SET(run, cuda_simplex_run)                               \
    SET(dual_run, cuda_simplex_dual_run)                     \
    SET(reset, cuda_simplex_reset)                           \
    SET(enter, cuda_simplex_enter)                           \
    SET(exchange, cuda_simplex_exchange)                     \
    SET(column, cuda_simplex_column)                         \
    SET(kept_bytes, cuda_simplex_kept_bytes)                 \
    SET(keep, cuda_simplex_keep)                             \
    SET(restore, cuda_simplex_restore)                       \
    SET(push, cuda_simplex_push)                             \
    SET(pull, cuda_simplex_pull)                             \
    SET(ftran, cuda_simplex_ftran)                           \
    SET(btran, cuda_simplex_btran)                           \
    SET(residual, cuda_simplex_residual)                     \
    SET(reduce, cuda_simplex_reduce)                         \
    SET(sizes, cuda_simplex_sizes)                           \
    SET(children_plan, cuda_simplex_children_plan)           \
    SET(children_create, cuda_simplex_children_create)       \
    SET(children_destroy, cuda_simplex_children_destroy)     \
    SET(children_run, cuda_simplex_children_run)             \
    SET(children_set_roots, cuda_simplex_children_set_roots) \
    SET(offer, cuda_simplex_offer)                           \
    SET(accept, cuda_simplex_accept)                         \
    SET(drop, cuda_simplex_drop)                             \
    SET(connect, split_find_peers)                           \
    SET(tableau_from, 0.02)                                  \
    SET(checks_entries, 1)                                   \
    SET(drops_with_spare, 1)                                 \
    SET(many, &batch_table)

GPUOPT__TABLE(gpuopt__simplex_backend, gpuopt__cuda_simplex, GPUOPT__SIMPLEX_CUDA_TABLE);
