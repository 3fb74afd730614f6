/* SPDX-License-Identifier: MIT
 *
 * Propagation on the GPU: rounds, and the backend's table. Read this file first.
 *
 * A call arrives at a function of the table at the end of this file, which sets the device and calls the object of the
 * handle. _create uploads the model, checks it, lays it out on the device, and chooses a driver. _round launches the
 * kernels, which consist of the steps of a round: mark, settle, filter, sum segments, tighten. The modules, and what
 * they include of this folder:
 *
 *     propagate.cu  rounds, the table                                    create.cuh  state.cuh  probe/  tree/
 *     create.cuh    plan, create, destroy, fork, choice of a driver      tree/
 *     state.cuh     bounds, sides and rows, in and out                   tree/
 *     probe/        probing, with a batch                                batch/
 *     batch/        many nodes at once (handle.cuh lists its files)      tree/  rounds/
 *     tree/         a tree search (handle.cuh lists its files)           rounds/
 *     rounds/       the object (handle.cuh), from the caller's model (upload.cuh) to the layout of the rows
 *                   (layout.cuh); the kernels (kernels.cuh), their steps (steps.cuh), rounds out of shared memory
 *                   (resident.cuh), rows that passed (tighten.cuh), loading and filtering entries (rows.cuh), and the
 *                   data of the kernels (device.cuh)
 *
 * The arithmetic is in gpuopt_impl/propagate/arith/.
 */
#include <algorithm>

#include "../../gpuopt_impl/common/checks.h"
#include "../../gpuopt_impl/common/table.h"
#include "../common/tables.cuh"
#include "create.cuh"
#include "probe/handle.cuh"
#include "state.cuh"
#include "tree/queries.cuh"
#include "tree/calls.cuh"

namespace {

/* ---- Rounds ---- */

template <class Val, class Bound>
void TypedPropagator<Val, Bound>::enqueue_round(const Queue &queue) {
    if (shape_.marking) queue.launch({tighten_grid_, THREADS}, mark_rows<Val, Bound>, p_);
    queue.launch({filter_grid_, THREADS}, filter_rows<Val, Bound>, p_);
    if (shape_.split_rows) queue.launch({tighten_grid_, THREADS}, sum_segments<Val, Bound>, p_);
    queue.launch({tighten_grid_, THREADS}, tighten_rows<Val, Bound>, p_);
}

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::round(int32_t rounds, gpuopt_propagator_info *info) {
    gpuopt_status status = GPUOPT_OK;
    if (tree_) {
        status = tree_->run(rounds);
    } else if (driver_ == GPUOPT_DRIVER_COOPERATIVE) {
        auto kernel = resident_items_ ? resident_kernel() : run_rounds<IN_MEMORY, Val, Bound>;
        queue_.launch({grid_, THREADS, resident_bytes<Val>(resident_items_, resident_entries_), LAUNCH_COOPERATIVE},
                      kernel, p_, rounds, resident_items_, resident_entries_);
        status = queue_.launched("launching rounds");
    } else {
        rounds = static_cast<int32_t>(std::min<long long>(rounds, p_.round_limit));
        queue_.launch({1, 1}, begin_call<Val, Bound>, p_, rounds);
        if (driver_ == GPUOPT_DRIVER_GRAPH)
            status = queue_.check(cudaGraphLaunch(graph_exec_, queue_.stream()), "launching the graph of rounds");
        for (int32_t r = 0; driver_ == GPUOPT_DRIVER_HOST && r < rounds; r++) {
            if (r > 0 && gpuopt__asked_to_stop(queue_.context())) break;
            enqueue_round(queue_);
            queue_.launch({1, 1}, end_round<Val, Bound>, p_);
            if (!info) continue;
            status = queue_.wait("waiting for a round");
            if (status || p_.report->done) break;
        }
        queue_.launch({tighten_grid_, THREADS}, end_call<Val, Bound>, p_);
        queue_.launch({1, 1}, report_call<Val, Bound>, p_);
        if (!status) status = queue_.launched("launching rounds");
    }
    return status || !info ? status : get_info(info);
}

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::get_info(gpuopt_propagator_info *info) {
    gpuopt_status status = queue_.wait("waiting for rounds");
    if (status) return status;
    if (tree_) tree_->take_round();
    const CallReport &report = *p_.report;
    info->outcome = static_cast<gpuopt_outcome>(report.outcome);
    info->rounds = report.rounds;
    info->changed = static_cast<int64_t>(report.changed);
    info->nonzeros = static_cast<int64_t>(report.nonzeros);
    info->infeasible_row = report.infeasible_row;
    info->infeasible_col = report.infeasible_col;
    info->shrinkage = report.shrinkage;
    return GPUOPT_OK;
}

/* ---- Batches of nodes ---- */

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::get_kinds(uint8_t *kind) {
    gpuopt_status status = queue_.copy(kind, p_.kind, static_cast<size_t>(shape_.cols));
    return status ? status : queue_.wait("reading columns");
}

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::plan_batch(const gpuopt_propagator_batch_desc &desc,
                                                      gpuopt_memory_plan *plan) const {
    return TypedBatch<Val, Bound>::plan(queue_.context(), p_, shape_, desc, plan);
}

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::create_batch(gpuopt_propagator *base,
                                                        const gpuopt_propagator_batch_desc &desc,
                                                        gpuopt_propagator_batch **batch) const {
    return TypedBatch<Val, Bound>::create(base, p_, shape_, tree_ ? &tree_->view() : nullptr, desc, batch);
}

/* ---- The table ---- */

/* Calls f with a null pointer of the handle's type. Coefficients are stored in single precision if that is exact. */
template <class F>
auto with_type(const gpuopt__propagator_model &model, F f) {
    if (model.rules.single) return f(static_cast<TypedPropagator<float, float> *>(nullptr));
    if (model.val_single) return f(static_cast<TypedPropagator<float, double> *>(nullptr));
    return f(static_cast<TypedPropagator<double, double> *>(nullptr));
}

gpuopt_status cuda_propagator_refuses(gpuopt_context *context, const gpuopt__propagator_model &model) {
    const gpuopt_propagator_driver driver = model.desc.driver;
    const char *missing = nullptr;
    if (model.desc.mode == GPUOPT_MODE_GAUSS_SEIDEL) missing = "the CUDA backend has no GAUSS_SEIDEL mode";
    if ((model.desc.trail_capacity > 0 || model.spare.rows > 0) &&
        (!cuda_of(context)->cooperative || driver == GPUOPT_DRIVER_HOST || driver == GPUOPT_DRIVER_GRAPH))
        missing = "a trail and spare rows need the driver COOPERATIVE, and a device that has it";
    if (!missing) return GPUOPT_OK;
    gpuopt__log(context, 0, "%s", missing);
    return GPUOPT_ERROR_UNSUPPORTED;
}

gpuopt_status cuda_propagator_plan(gpuopt_context *context, const gpuopt__propagator_model *model,
                                   gpuopt_memory_plan *plan) {
    DeviceScope scope(context);
    gpuopt__arena arena = {nullptr, 0};
    Raw raw = {};
    gpuopt_status status = cuda_propagator_refuses(context, *model);
    if (!status) /* here the matrix is by rows, but _create may receive it by columns */
        status = cut_raw(Queue(context), model->desc, model->transposed && model->nonzeros <= int64_t{UINT32_MAX},
                         model->nonzeros, arena, raw);
    if (status) return status;
    PropagatorShape shape = shape_of(*model, counts_of(model->desc.matrix));
    with_type(*model, [&](auto *type) { std::remove_pointer<decltype(type)>::type::plan(shape, false, plan); });
    plan->create_device_bytes = arena.used;
    return GPUOPT_OK;
}

void cuda_propagator_destroy(gpuopt_propagator *propagator) {
    gpuopt_context *context = propagator->context;
    DeviceScope scope(context);
    object_of(propagator)->~CudaPropagator();
    gpuopt__release(context, GPUOPT_HOST, propagator);
}

gpuopt_status cuda_propagator_create(gpuopt_context *context, gpuopt__propagator_model *model,
                                     gpuopt_propagator **propagator) {
    DeviceScope scope(context);
    const Queue queue(context);
    RawModel raw(queue);
    gpuopt_status status = cuda_propagator_refuses(context, *model);
    if (!status) status = raw.open(*model);
    if (status) return status;
    if (raw.faulty()) return GPUOPT__UNTIDY; /* the CPU side then reads the matrix again, for the log or to tidy it */
    if (!model->numbers_known)
        gpuopt__propagator_numbers_known(model, !(raw.census.found & FOUND_NOT_SINGLE),
                                         (raw.census.found & FOUND_INTEGER) != 0);
    PropagatorShape shape = shape_of(*model, counts_of(raw.census, raw.raw.rows));
    status = with_type(*model, [&](auto *type) {
        return std::remove_pointer<decltype(type)>::type::create(context, *model, shape, raw, propagator);
    });
    if (status || !raw.faulty()) return status;
    cuda_propagator_destroy(*propagator);
    *propagator = nullptr;
    return GPUOPT__UNTIDY;
}

gpuopt_status cuda_propagator_round(gpuopt_propagator *propagator, int32_t rounds, gpuopt_propagator_info *info) {
    DeviceScope scope(propagator->context);
    return object_of(propagator)->round(rounds, info);
}

gpuopt_status cuda_propagator_get_info(gpuopt_propagator *propagator, gpuopt_propagator_info *info) {
    DeviceScope scope(propagator->context);
    return object_of(propagator)->get_info(info);
}

gpuopt_status cuda_propagator_get_bounds(gpuopt_propagator *propagator, gpuopt_memory_space where, int64_t count,
                                         const int32_t *col, double *lb, double *ub) {
    DeviceScope scope(propagator->context);
    return object_of(propagator)->get_bounds(where, count, col, lb, ub);
}

gpuopt_status cuda_propagator_set_bounds(gpuopt_propagator *propagator, gpuopt_memory_space where, int64_t count,
                                         const int32_t *col, const double *lb, const double *ub) {
    DeviceScope scope(propagator->context);
    return object_of(propagator)->set_bounds(where, count, col, lb, ub);
}

gpuopt_status cuda_propagator_set_sides(gpuopt_propagator *propagator, gpuopt_memory_space where, int64_t count,
                                        const int32_t *row, const double *lhs, const double *rhs) {
    DeviceScope scope(propagator->context);
    return object_of(propagator)->set_sides(where, count, row, lhs, rhs);
}

gpuopt_status cuda_propagator_get_rows(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                       const gpuopt_propagator_row_report *report) {
    DeviceScope scope(propagator->context);
    return object_of(propagator)->get_rows(where, *report);
}

gpuopt_status cuda_propagator_device_view(gpuopt_propagator *propagator, gpuopt_device_view *view) {
    DeviceScope scope(propagator->context);
    return object_of(propagator)->device_view(view);
}

gpuopt_status cuda_propagator_batch_plan(gpuopt_propagator *base, const gpuopt_propagator_batch_desc *desc,
                                         gpuopt_memory_plan *plan) {
    DeviceScope scope(base->context);
    return object_of(base)->plan_batch(*desc, plan);
}

gpuopt_status cuda_propagator_batch_create(gpuopt_propagator *base, const gpuopt_propagator_batch_desc *desc,
                                           gpuopt_propagator_batch **batch) {
    DeviceScope scope(base->context);
    return object_of(base)->create_batch(base, *desc, batch);
}

void cuda_propagator_batch_destroy(gpuopt_propagator_batch *batch) {
    gpuopt_context *context = batch->base->context;
    DeviceScope scope(context);
    batch_of(batch)->~CudaBatch();
    gpuopt__release(context, GPUOPT_HOST, batch);
}

gpuopt_status cuda_propagator_batch_run(gpuopt_propagator_batch *batch, gpuopt_memory_space where,
                                        const gpuopt_propagator_nodes *nodes, int32_t rounds,
                                        const gpuopt_propagator_node_report *report) {
    DeviceScope scope(batch->base->context);
    return batch_of(batch)->run(where, *nodes, rounds, *report);
}

gpuopt_status cuda_propagator_batch_get_changes(gpuopt_propagator_batch *batch, gpuopt_memory_space where,
                                                gpuopt_propagator_node_changes *changes) {
    DeviceScope scope(batch->base->context);
    return batch_of(batch)->get_changes(batch, where, *changes);
}

gpuopt_status cuda_propagator_batch_get_bounds(gpuopt_propagator_batch *batch, gpuopt_memory_space where, int64_t count,
                                               const int32_t *node, double *lb, double *ub) {
    DeviceScope scope(batch->base->context);
    return batch_of(batch)->get_bounds(batch, where, count, node, lb, ub);
}

int64_t cuda_propagator_batch_used(const gpuopt_propagator_batch *batch) { return batch_of(batch)->used(); }

gpuopt_status cuda_propagator_get_kinds(gpuopt_propagator *propagator, uint8_t *kind) {
    DeviceScope scope(propagator->context);
    return object_of(propagator)->get_kinds(kind);
}

} // namespace

#define GPUOPT__PROPAGATOR_CUDA_TABLE(SET)                                \
    SET(plan, cuda_propagator_plan)                                       \
    SET(create, cuda_propagator_create)                                   \
    SET(destroy, cuda_propagator_destroy)                                 \
    SET(round, cuda_propagator_round)                                     \
    SET(get_info, cuda_propagator_get_info)                               \
    SET(get_bounds, cuda_propagator_get_bounds)                           \
    SET(set_bounds, cuda_propagator_set_bounds)                           \
    SET(set_sides, cuda_propagator_set_sides)                             \
    SET(get_rows, cuda_propagator_get_rows)                               \
    SET(device_view, cuda_propagator_device_view)                         \
    SET(push, cuda_propagator_push)                                       \
    SET(pop, cuda_propagator_pop)                                         \
    SET(keep, cuda_propagator_keep)                                       \
    SET(get_trail, cuda_propagator_get_trail)                             \
    SET(get_changes, cuda_propagator_get_changes)                         \
    SET(explain, cuda_propagator_explain)                                 \
    SET(add_rows, cuda_propagator_add_rows)                               \
    SET(remove_rows, cuda_propagator_remove_rows)                         \
    SET(has_row, cuda_propagator_has_row)                                 \
    SET(plan_fork, cuda_propagator_plan_fork)                             \
    SET(fork, cuda_propagator_fork)                                       \
    SET(checks_numbers, checks_numbers)                                   \
    SET(batch_plan, cuda_propagator_batch_plan)                           \
    SET(batch_create, cuda_propagator_batch_create)                       \
    SET(batch_destroy, cuda_propagator_batch_destroy)                     \
    SET(batch_run, cuda_propagator_batch_run)                             \
    SET(batch_get_changes, cuda_propagator_batch_get_changes)             \
    SET(batch_get_bounds, cuda_propagator_batch_get_bounds)               \
    SET(batch_used, cuda_propagator_batch_used)                           \
    SET(get_kinds, cuda_propagator_get_kinds)                             \
    SET(probe_plan, cuda_propagator_probe_plan)                           \
    SET(probe_open, cuda_propagator_probe_open)                           \
    SET(probe_close, cuda_propagator_probe_close)                         \
    SET(probe_begin, cuda_propagator_probe_begin)                         \
    SET(probe_piece, cuda_propagator_probe_piece)                         \
    SET(probe_end, cuda_propagator_probe_end)                             \
    SET(probe_read_implications, cuda_propagator_probe_read_implications) \
    SET(probe_read_equivalences, cuda_propagator_probe_read_equivalences)

GPUOPT__TABLE(gpuopt__propagator_backend, gpuopt__cuda_propagator, GPUOPT__PROPAGATOR_CUDA_TABLE);
