/* SPDX-License-Identifier: MIT
 *
 * Propagation on the GPU: planning, creating, forking and destroying handles, and the choice of a driver.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_CREATE_CUH
#define GPUOPT_CUDA_PROPAGATE_CREATE_CUH

#include <algorithm>

#include "tree/handle.cuh"

namespace {

/* ---- Memory ---- */

/* A handle, its object and, in the same block, the data of a tree search. */
template <class Val, class Bound>
uint64_t TypedPropagator<Val, Bound>::host_bytes(const PropagatorShape &shape) {
    return sizeof(CudaHandle) + sizeof(TypedPropagator) + (shape.tree() ? TypedTree<Val, Bound>::host_bytes(shape) : 0);
}

/* Cuts the device memory except for the part of a tree search, or measures it all. A fork shares its base's matrix. */
template <class Val, class Bound>
uint64_t TypedPropagator<Val, Bound>::cut(const PropagatorShape &shape, bool is_fork, gpuopt__arena &arena, View &p,
                                          int *&slot_of, char *&staging) {
    if (!is_fork) cut_matrix(shape, arena, p, slot_of);
    cut_state(shape, arena, p, staging);
    gpuopt__arena all = {nullptr, arena.used};
    Tree<Bound> tree;
    if (shape.tree()) TypedTree<Val, Bound>::cut_device(shape, all, tree);
    return all.used;
}

template <class Val, class Bound>
void TypedPropagator<Val, Bound>::plan(const PropagatorShape &shape, bool fork, gpuopt_memory_plan *plan) {
    gpuopt__arena device = {nullptr, 0};
    View view;
    int *slot_of;
    char *staging;
    plan->host_bytes = host_bytes(shape);
    plan->device_bytes = cut(shape, fork, device, view, slot_of, staging);
}

/* ---- Create and destroy ---- */

/* A handle with an object that has no device memory yet. */
template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::make(const gpuopt_propagator &head, const PropagatorShape &shape,
                                                CudaHandle **handle, TypedPropagator **object) {
    static_assert(sizeof(CudaHandle) % alignof(TypedPropagator) == 0, "the object lies behind its handle");
    static_assert(sizeof(TypedPropagator) % alignof(TypedTree<Val, Bound>) == 0, "and its tree behind that");
    void *memory;
    gpuopt_status status = gpuopt__allocate(head.context, GPUOPT_HOST, host_bytes(shape), &memory);
    if (status) return status;
    char *at = static_cast<char *>(memory);
    *handle = new (at) CudaHandle;
    *object = new (at += sizeof(CudaHandle)) TypedPropagator(head.context, shape);
    (*handle)->head = head;
    (*handle)->object = *object;
    at += sizeof(TypedPropagator);
    if (!shape.tree()) return GPUOPT_OK;
    (*object)->tree_ = new (at) TypedTree<Val, Bound>(head.context, (*object)->shape_, (*object)->p_, **object,
                                                      at + sizeof(TypedTree<Val, Bound>));
    (*handle)->head.seen = (*object)->tree_->seen();
    return GPUOPT_OK;
}

/* Returns the handle to the caller or, if it could not be opened, destroys it. */
template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::finish(CudaHandle *handle, gpuopt_status status,
                                                  gpuopt_propagator **propagator) {
    if (!status) {
        *propagator = &handle->head;
        return GPUOPT_OK;
    }
    const gpuopt_context *context = handle->head.context;
    handle->object->~CudaPropagator();
    gpuopt__release(context, GPUOPT_HOST, handle);
    return status;
}

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::create(gpuopt_context *context, const gpuopt__propagator_model &model,
                                                  const PropagatorShape &shape, RawModel &raw,
                                                  gpuopt_propagator **propagator) {
    CudaHandle *handle;
    TypedPropagator *object;
    gpuopt_status status = make(gpuopt__propagator_head(context, &model), shape, &handle, &object);
    return status ? status : finish(handle, object->open(model, raw), propagator);
}

template <class Val, class Bound>
TypedPropagator<Val, Bound>::~TypedPropagator() {
    if (device_) cudaStreamSynchronize(queue_.stream()); /* enqueued rounds still use it */
    if (graph_exec_) cudaGraphExecDestroy(graph_exec_);
    if (graph_) cudaGraphDestroy(graph_);
    if (tree_) tree_->~TypedTree<Val, Bound>();
    gpuopt__release(queue_.context(), GPUOPT_DEVICE, device_);
    give_pinned(queue_.context(), p_.report);
}

/* Allocates the device memory and a slot for reports, and loads the kernels. A fork has its matrix already. */
template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::take_memory(bool is_fork) {
    gpuopt__arena arena = {nullptr, 0};
    View measure;
    int *slot_of;
    char *staging;
    uint64_t bytes = cut(shape_, is_fork, arena, measure, slot_of, staging);
    p_.report = nullptr;
    gpuopt_status status = gpuopt__allocate(queue_.context(), GPUOPT_DEVICE, bytes, &device_);
    if (status) return status;
    arena = {static_cast<char *>(device_), 0};
    cut(shape_, is_fork, arena, p_, slot_of_, staging_);
    status = take_pinned(queue_.context(), &p_.report);
    if (!status) status = load_kernels();
    if (!status && tree_)
        status = tree_->open(arena, slot_of_, {staged(0), staged(1), staged_index(), staging_count(shape_)});
    return status;
}

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::open(const gpuopt__propagator_model &model, RawModel &raw) {
    wanted_ = model.desc.driver;
    p_.nonzeros = shape_.nonzeros;
    p_.rows = static_cast<int>(shape_.rows);
    p_.cols = static_cast<int>(shape_.cols);
    p_.slices = static_cast<int>(shape_.slices);
    p_.warp_rows = static_cast<int>(shape_.warp_rows);
    p_.split_rows = static_cast<int>(shape_.split_rows);
    p_.segments = static_cast<int>(shape_.segments);
    p_.round_limit = model.desc.round_limit > 0 ? model.desc.round_limit : LLONG_MAX;
    double most_moved = static_cast<double>(shape_.rows) / +MARKING_SHARE * static_cast<double>(shape_.cols) /
                        static_cast<double>(shape_.nonzeros + 1);
    p_.most_moved =
        static_cast<unsigned>(std::min(most_moved, 2.0 * static_cast<double>(shape_.cols))); /* the size of the list */
    p_.rules = model.rules;
    gpuopt_status status = take_memory(false);
    if (!status && tree_) status = tree_->begin(false);
    if (!status) status = build(raw);
    return status ? status : first_launch();
}

/* Chooses a driver, and launches once, so that CUDA's setup at a first launch is done. */
template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::first_launch() {
    gpuopt_propagator_info nothing;
    gpuopt_status status = tree_ ? tree_->choose_grid() : choose_driver(wanted_);
    if (!status) status = round(0, &nothing);
    if (!status) *p_.report = {GPUOPT_MORE, 0, -1, -1, 0, 0, 0, 0}; /* until the first round */
    return status;
}

/* ---- Forks ---- */

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::fork(const gpuopt_propagator &head, gpuopt_propagator **fork) const {
    CudaHandle *handle;
    TypedPropagator *object;
    gpuopt_status status = make(head, shape_, &handle, &object);
    return status ? status : finish(handle, object->open_fork(*this), fork);
}

/* Copies the state of another handle. */
template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::open_fork(const TypedPropagator &from) {
    const View &other = from.p_;
    wanted_ = from.wanted_;
    p_ = other;
    slot_of_ = from.slot_of_;
    gpuopt_status status = take_memory(true);
    if (!status) status = from.queue_.wait("waiting for the original");
    auto copy = [&](auto *to, const auto *what, int64_t count) {
        if (!status) status = queue_.copy(to, what, sizeof *to * static_cast<size_t>(count));
    };
    auto clear = [&](auto *array, int64_t count) {
        if (!status) status = queue_.clear(array, 0, sizeof *array * static_cast<size_t>(count));
    };
    if (!status && tree_) status = tree_->begin(true);
    copy(p_.state, other.state, 1);
    copy(p_.sides, other.sides, shape_.slots() + shape_.spare_rows);
    for (int i = 0; i < 2; i++) copy(p_.bounds[i], other.bounds[i], 2 * (shape_.cols + 1));
    copy(p_.kind, other.kind, shape_.cols);
    if (shape_.marking) clear(p_.stamp, shape_.slots());
    clear(p_.arrivals, shape_.split_rows);
    clear(p_.arrived, 2 * MAX_BLOCKS);
    queue_.launch({1, 1}, begin_fork<Val, Bound>, p_);
    if (!status) status = queue_.launched("making a fork");
    if (!status && tree_) status = tree_->copy_rows(*from.tree_);
    if (!status) status = queue_.wait("making a fork"); /* the original may change from here on */
    return status ? status : first_launch();
}

/* ---- Layout ---- */

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::load_kernels() {
    gpuopt_status status =
        ::load_kernels(queue_.context(), begin_call<Val, Bound>, mark_rows<Val, Bound>, filter_rows<Val, Bound>,
                       sum_segments<Val, Bound>, tighten_rows<Val, Bound>, end_round<Val, Bound>, end_call<Val, Bound>,
                       report_call<Val, Bound>, run_rounds<IN_MEMORY, Val, Bound>, run_rounds<RESIDENT, Val, Bound>,
                       run_rounds<RESIDENT_SPLIT, Val, Bound>);
    if (!status)
        status = ::load_kernels(queue_.context(), place_rows<Val, Bound>, place_padding<Val, Bound>,
                                place_entries<Val, Bound>, place_sorted<Val, Bound>, place_bounds<Val, Bound>,
                                number_slots, place_slots);
#if CUDART_VERSION >= GPUOPT__PROPAGATOR_GRAPH_VERSION
    if (!status) status = ::load_kernels(queue_.context(), end_graph_round<Val, Bound>);
#endif
    if (status) return status;
    return ::load_kernels(queue_.context(), check_arguments, check_sides, begin_set, ::set_bounds<Val, Bound>,
                          settle_set<Val, Bound>, recheck_crossing<Val, Bound>, ::get_bounds<Val, Bound>,
                          ::set_sides<Val, Bound>, report_rows<Val, Bound>, begin_fork<Val, Bound>);
}

/* Lays the rows out and fills the state; waits. Also finds duplicates, see RawModel::faulty. */
template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::build(RawModel &model) {
    const Raw &raw = model.raw;
    const int *order = model.rows.item[model.rows.current];
    const int64_t units = shape_.units() + 1, splits = shape_.split_rows + 1;
    PropagatorState state = {};
    state.epoch = TURNS; /* different from all stamps */
    state.all_marked = 1;
    state.infeasible_row = state.infeasible_col = INT_MAX;
    state.found_row = state.found_col = INT_MAX;
    state.recheck = 1;
    gpuopt_status status = queue_.copy(p_.state, &state, sizeof state);
    if (!status) status = queue_.clear(p_.arrived, 0, sizeof(*p_.arrived) * 2 * MAX_BLOCKS);
    queue_.launch({blocks(shape_.slots()), THREADS}, place_rows<Val, Bound>, p_, raw, order, slot_of_,
                  static_cast<int>(shape_.short_rows));
    if (!status) status = sum_before(queue_, raw.scratch, const_cast<long long *>(p_.start), units);
    if (!status && splits > 1) status = sum_before(queue_, raw.scratch, const_cast<int *>(p_.segment_start), splits);
    queue_.launch({blocks(shape_.slots()), THREADS}, place_padding<Val, Bound>, p_);
    queue_.launch({blocks(p_.cols + int64_t{1}), THREADS}, place_bounds<Val, Bound>, p_, raw);
    queue_.launch({blocks(p_.cols), THREADS}, recheck_crossing<Val, Bound>, p_);
    if (!status) status = raw.by_columns ? build_sorted(model) : build_by_rows(model);
    if (!status) status = queue_.launched("laying out the rows");
    if (!status) status = model.count_again();
    return status;
}

/* The entries of a matrix by columns, and the slots of its columns. */
template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::build_sorted(RawModel &model) {
    const Raw &raw = model.raw;
    const Pairs &entries = model.entries;
    gpuopt_status status = GPUOPT_OK;
    queue_.launch({blocks(raw.nonzeros), THREADS}, place_sorted<Val, Bound>, p_, raw, slot_of_,
                  entries.key[entries.current], entries.item[entries.current], entries.key[!entries.current]);
    if (shape_.marking)
        status = queue_.copy(const_cast<long long *>(p_.col_start), raw.start, sizeof(long long) * (shape_.cols + 1));
    return status;
}

/* The entries and slots of a matrix by rows. It is sorted by columns if columns are marked or duplicates are
 * possible. */
template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::build_by_rows(RawModel &model) {
    const Raw &raw = model.raw;
    Pairs &entries = model.entries;
    queue_.launch({blocks(raw.nonzeros), THREADS}, place_entries<Val, Bound>, p_, raw, slot_of_);
    if (!shape_.marking && !(model.census.found & FOUND_UNORDERED)) return GPUOPT_OK;
    queue_.launch({blocks(raw.nonzeros), THREADS}, number_slots, raw, slot_of_, entries.item[0]);
    gpuopt_status status = sort_pairs(queue_, raw.scratch, entries, raw.nonzeros, bits_below(raw.cols));
    const unsigned *col = entries.key[entries.current];
    queue_.launch({blocks(raw.nonzeros), THREADS}, place_slots, raw, col, entries.item[entries.current],
                  const_cast<int *>(p_.col_slot));
    if (shape_.marking)
        queue_.launch({blocks(shape_.cols + 1), THREADS}, find_starts, col, raw.nonzeros,
                      const_cast<long long *>(p_.col_start), static_cast<long long>(shape_.cols + 1));
    return status;
}

/* Blocks for a kernel: a warp for each unit of work, but not more blocks than are on the device at once. */
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

/* Small models run in one cooperative launch, out of shared memory if they fit there. For large models, separate kernels
 * with just the registers that each needs gain more than their launches cost; there the GPU loops by itself if it can. */
template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::choose_driver(gpuopt_propagator_driver wanted) {
    enum { SMALL = 1 << 20 }; /* nonzeros */
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
        shape_.longest <= GPUOPT__PROPAGATOR_SEGMENT * +SplitShared::MAX_SEGMENTS) {
        status = choose_resident();
        if (status) return status;
    }
    const bool small = cuda->cooperative && !shape_.marking && shape_.nonzeros < SMALL;
    if (wanted == GPUOPT_DRIVER_AUTO)
        driver_ =
            resident_items_ || small ? GPUOPT_DRIVER_COOPERATIVE
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
