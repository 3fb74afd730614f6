/* SPDX-License-Identifier: MIT
 *
 * Propagation on the GPU: planning, creating and destroying handles, and the choice of a driver.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_CREATE_CUH
#define GPUOPT_CUDA_PROPAGATE_CREATE_CUH

#include <algorithm>

#include "handle.cuh"

namespace {

template <class Val, class Bound>
void TypedPropagator<Val, Bound>::plan(const PropagatorShape &shape, gpuopt_memory_plan *plan) {
    gpuopt__arena device = {nullptr, 0}, draft = {nullptr, 0};
    View view;
    int *slot_of;
    char *staging;
    Draft<Val, Bound> arrays;
    cut_device(shape, device, view, slot_of, staging);
    arrays.cut(shape, draft);
    plan->host_bytes = sizeof(CudaHandle) + sizeof(TypedPropagator);
    plan->device_bytes = device.used;
    plan->create_bytes = draft.used;
}

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::create(gpuopt_context *context, const gpuopt__propagator_model &model,
                                                  const PropagatorShape &shape, gpuopt_propagator **propagator) {
    static_assert(sizeof(CudaHandle) % alignof(TypedPropagator) == 0, "the object lies behind its handle");
    void *memory;
    gpuopt_status status =
        gpuopt__allocate(context, GPUOPT_HOST, sizeof(CudaHandle) + sizeof(TypedPropagator), &memory);
    if (status) return status;
    CudaHandle *handle = new (memory) CudaHandle;
    handle->head = gpuopt__propagator_head(context, &model);
    TypedPropagator *object = new (static_cast<char *>(memory) + sizeof(CudaHandle)) TypedPropagator(context, shape);
    handle->object = object;
    status = object->open(model);
    if (!status) {
        *propagator = &handle->head;
        return GPUOPT_OK;
    }
    object->~TypedPropagator();
    gpuopt__release(context, GPUOPT_HOST, memory);
    return status;
}

template <class Val, class Bound>
TypedPropagator<Val, Bound>::~TypedPropagator() {
    if (device_) cudaStreamSynchronize(queue_.stream()); /* enqueued rounds still use it */
    if (graph_exec_) cudaGraphExecDestroy(graph_exec_);
    if (graph_) cudaGraphDestroy(graph_);
    gpuopt__release(queue_.context(), GPUOPT_DEVICE, device_);
    give_pinned(queue_.context(), p_.report);
}

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::open(const gpuopt__propagator_model &model) {
    gpuopt__arena arena = {nullptr, 0};
    cut_device(shape_, arena, p_, slot_of_, staging_);
    gpuopt_status status = gpuopt__allocate(queue_.context(), GPUOPT_DEVICE, arena.used, &device_);
    if (status) return status;
    arena = {static_cast<char *>(device_), 0};
    cut_device(shape_, arena, p_, slot_of_, staging_);
    p_.nonzeros = shape_.nonzeros;
    p_.rows = static_cast<int>(shape_.rows);
    p_.cols = static_cast<int>(shape_.cols);
    p_.slices = static_cast<int>(shape_.slices);
    p_.warp_rows = static_cast<int>(shape_.warp_rows);
    p_.split_rows = static_cast<int>(shape_.split_rows);
    p_.segments = static_cast<int>(shape_.segments);
    p_.round_limit = model.desc.round_limit > 0 ? model.desc.round_limit : INT_MAX;
    double most_moved = static_cast<double>(shape_.rows) / MARKING_SHARE * static_cast<double>(shape_.cols) /
                        static_cast<double>(shape_.nonzeros + 1);
    p_.most_moved =
        static_cast<unsigned>(std::min(most_moved, 2.0 * static_cast<double>(shape_.cols))); /* as the list */
    p_.rules = model.rules;
    status = take_pinned(queue_.context(), &p_.report);
    if (!status) status = load_kernels();
    if (!status) status = upload(model);
    if (!status) status = choose_driver(model.desc.driver);
    gpuopt_propagator_info nothing;
    if (!status) status = round(0, &nothing); /* so that CUDA's setup at a first launch happens here */
    if (!status) *p_.report = {GPUOPT_MORE, 0, -1, -1, 0, 0, 0}; /* until the first round */
    return status;
}

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::load_kernels() {
    gpuopt_status status = ::load_kernels(
        queue_.context(), begin_call<Val, Bound>, mark_rows<Val, Bound>, filter_rows<Val, Bound>,
        sum_segments<Val, Bound>, tighten_rows<Val, Bound>, end_round<Val, Bound>, end_call<Val, Bound>,
        run_rounds<IN_MEMORY, Val, Bound>, run_rounds<RESIDENT, Val, Bound>, run_rounds<RESIDENT_SPLIT, Val, Bound>);
    if (status) return status;
    return ::load_kernels(queue_.context(), check_arguments, check_sides, begin_set, ::set_bounds<Val, Bound>,
                          settle_set<Val, Bound>, recheck_crossing<Val, Bound>, ::get_bounds<Val, Bound>,
                          ::set_sides<Val, Bound>, report_rows<Val, Bound>);
}

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::upload(const gpuopt__propagator_model &model) {
    Draft<Val, Bound> draft;
    gpuopt__arena arena = {nullptr, 0};
    void *memory;
    draft.cut(shape_, arena);
    gpuopt_status status = gpuopt__allocate(queue_.context(), GPUOPT_HOST, arena.used, &memory);
    if (status) return status;
    arena = {static_cast<char *>(memory), 0};
    draft.cut(shape_, arena);
    draft.fill(shape_, model);
    /* These arrays are const for the kernels only. */
    auto send = [&](const auto *to, const auto *from, int64_t count) {
        if (!status)
            status = queue_.copy(const_cast<void *>(static_cast<const void *>(to)), from,
                                 sizeof(*from) * static_cast<size_t>(count));
    };
    auto zero = [&](void *to, int64_t bytes) {
        if (!status) status = queue_.clear(to, 0, static_cast<size_t>(bytes));
    };
    send(p_.val, draft.val, shape_.entries);
    send(p_.col, draft.col, shape_.entries);
    send(p_.start, draft.start, shape_.units() + 1);
    send(p_.length, draft.length, shape_.slots());
    send(p_.row, draft.row, shape_.slots());
    send(p_.sides, draft.sides, shape_.slots());
    for (Bound *bounds : p_.bounds) send(bounds, draft.bounds, 2 * (shape_.cols + 1));
    send(p_.kind, draft.kind, shape_.cols);
    send(slot_of_, draft.slot_of, shape_.rows);
    send(p_.segment_start, draft.segment_start, shape_.split_rows + 1);
    send(p_.segment_row, draft.segment_row, shape_.segments);
    zero(p_.arrivals, sizeof(int) * shape_.split_rows);
    zero(p_.arrived, sizeof(*p_.arrived) * 2 * MAX_BLOCKS);
    if (shape_.marking) {
        send(p_.col_start, draft.col_start, shape_.cols + 1);
        send(p_.col_slot, draft.col_slot, shape_.nonzeros);
        zero(p_.stamp, sizeof(unsigned) * shape_.slots());
    }
    PropagatorState state = {};
    state.epoch = 3; /* so that earlier epochs exist and no stamp equals one of them */
    state.all_marked = 1;
    state.infeasible_row = state.infeasible_col = INT_MAX;
    state.found_row = state.found_col = INT_MAX;
    state.recheck = 1;
    send(p_.state, &state, 1);
    queue_.launch({blocks(p_.cols), THREADS}, recheck_crossing<Val, Bound>, p_);
    if (!status) status = queue_.launched("checking bounds");
    if (!status) status = queue_.wait("copying the model to the device");
    gpuopt__release(queue_.context(), GPUOPT_HOST, memory);
    return status;
}

/* Blocks for a kernel: a warp for each unit of work, but no more than are on the device at once. */
template <class Val, class Bound>
template <class Kernel>
gpuopt_status TypedPropagator<Val, Bound>::fit(Kernel kernel, int *grid) {
    int64_t needed = (shape_.segments + shape_.warp_rows + shape_.slices + WARPS - 1) / WARPS;
    int together = 0; /* blocks that a multiprocessor can hold */
    GPUOPT_CUDA(queue_.context(), cudaOccupancyMaxActiveBlocksPerMultiprocessor(&together, kernel, THREADS, 0));
    *grid =
        fitted(needed, std::min<int64_t>(MAX_BLOCKS, int64_t{together} * cuda_of(queue_.context())->multiprocessors));
    return GPUOPT_OK;
}

/* Small models run in one cooperative launch out of shared memory. For large models, separate kernels with just the
 * registers that each needs gain more than their launches cost; there the GPU loops by itself if it can. */
template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::choose_driver(gpuopt_propagator_driver wanted) {
    const CudaContext *cuda = cuda_of(queue_.context());
    int driver_version = 0;
    if (wanted == GPUOPT_DRIVER_COOPERATIVE && !cuda->cooperative) {
        gpuopt__log(queue_.context(), 0, "the device has no cooperative launch");
        return GPUOPT_ERROR_UNSUPPORTED;
    }
    gpuopt_status status = fit(run_rounds<IN_MEMORY, Val, Bound>, &grid_);
    if (!status) status = fit(filter_rows<Val, Bound>, &filter_grid_);
    if (!status) status = fit(tighten_rows<Val, Bound>, &tighten_grid_);
    if (status) return status;
    GPUOPT_CUDA(queue_.context(), cudaDriverGetVersion(&driver_version));
    driver_ = wanted;
    if (cuda->cooperative && (wanted == GPUOPT_DRIVER_AUTO || wanted == GPUOPT_DRIVER_COOPERATIVE) && !shape_.marking &&
        shape_.longest <= GPUOPT__PROPAGATOR_SEGMENT * SplitShared::MAX_SEGMENTS) {
        status = choose_resident();
        if (status) return status;
    }
    if (wanted == GPUOPT_DRIVER_AUTO)
        driver_ =
            resident_items_ ? GPUOPT_DRIVER_COOPERATIVE
            : CUDART_VERSION >= GPUOPT__PROPAGATOR_GRAPH_VERSION && driver_version >= GPUOPT__PROPAGATOR_GRAPH_VERSION
                ? GPUOPT_DRIVER_GRAPH
                : GPUOPT_DRIVER_HOST;
    return driver_ == GPUOPT_DRIVER_GRAPH ? build_graph() : GPUOPT_OK;
}

/* Finds out whether the model fits into shared memory with two blocks per multiprocessor (one has too few warps). */
template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::choose_resident() {
    enum { TOGETHER = 2 };
    int64_t items = resident_items(p_.warp_rows, p_.slices), processors = cuda_of(queue_.context())->multiprocessors;
    /* Few items are spread over the multiprocessors. */
    int64_t blocks = std::max(std::min(items, processors), (items + WARPS - 1) / WARPS);
    blocks = std::max(blocks, shape_.split_rows);
    blocks = std::min(TOGETHER * processors, blocks);
    blocks = std::min<int64_t>(std::max<int64_t>(blocks, 1), MAX_BLOCKS);
    if (shape_.split_rows > blocks * SplitShared::MAX_ROWS) return GPUOPT_OK;
    int64_t each = (items + blocks * WARPS - 1) / (blocks * WARPS) + shape_.resident_segments(blocks),
            entries = shape_.resident_entries(blocks);
    int limit = cuda_of(queue_.context())->block_memory, together = 0;
    limit -= static_cast<int>(sizeof(BlockShared) + sizeof(SplitShared)) + 256; /* the kernel's other shared memory */
    if (each > limit || entries > limit) return GPUOPT_OK;
    size_t bytes = resident_bytes<Val>(static_cast<int>(each), static_cast<int>(entries));
    if (bytes > static_cast<size_t>(limit)) return GPUOPT_OK;
    GPUOPT_CUDA(queue_.context(),
                cudaOccupancyMaxActiveBlocksPerMultiprocessor(&together, resident_kernel(), THREADS, bytes));
    if (together < TOGETHER) return GPUOPT_OK;
    grid_ = static_cast<int>(blocks);
    resident_items_ = static_cast<int>(each);
    resident_entries_ = static_cast<int>(entries);
    return GPUOPT_OK;
}

/* A graph that does  while (again) { one round }:  the last kernel of a round sets `again`. */
template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::build_graph() {
#if CUDART_VERSION >= GPUOPT__PROPAGATOR_GRAPH_VERSION
    cudaGraphConditionalHandle again;
    cudaGraphNode_t node;
    cudaGraphNodeParams loop = {};
    GPUOPT_CUDA(queue_.context(), cudaGraphCreate(&graph_, 0));
    GPUOPT_CUDA(queue_.context(), cudaGraphConditionalHandleCreate(&again, graph_, 1, cudaGraphCondAssignDefault));
    loop.type = cudaGraphNodeTypeConditional;
    loop.conditional.handle = again;
    loop.conditional.type = cudaGraphCondTypeWhile;
    loop.conditional.size = 1;
#if CUDART_VERSION >= 13000
    GPUOPT_CUDA(queue_.context(), cudaGraphAddNode(&node, graph_, nullptr, nullptr, 0, &loop));
#else
    GPUOPT_CUDA(queue_.context(), cudaGraphAddNode(&node, graph_, nullptr, 0, &loop));
#endif
    cudaStream_t capture;
    cudaGraph_t body = loop.conditional.phGraph_out[0], captured = nullptr;
    gpuopt_status status = GPUOPT_OK;
    GPUOPT_CUDA(queue_.context(), cudaStreamCreateWithFlags(&capture, cudaStreamNonBlocking));
    cudaError_t error =
        cudaStreamBeginCaptureToGraph(capture, body, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal);
    if (!error) {
        const Queue queue(queue_.context(), capture);
        enqueue_round(queue);
        queue.launch({1, 1}, end_graph_round<Val, Bound>, p_, again);
        status = queue.launched("capturing a round");
        error = cudaStreamEndCapture(capture, &captured);
    }
    cudaStreamDestroy(capture);
    if (status) return status;
    if (!error) error = cudaGraphInstantiate(&graph_exec_, graph_, 0);
    return queue_.check(error, "building the graph of rounds");
#else
    gpuopt__log(queue_.context(), 0, "the graph driver needs CUDA 12.4");
    return GPUOPT_ERROR_UNSUPPORTED;
#endif
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_CREATE_CUH */
