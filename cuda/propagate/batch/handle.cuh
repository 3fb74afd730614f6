/* SPDX-License-Identifier: MIT
 *
 * A batch of nodes on the GPU: the handle, its memory, and the calls. A call of _run launches one kernel in which warps
 * or blocks take nodes. Nodes that outgrow their tables run again in further launches with larger tables.
 *
 *     handle.cuh   this: memory                           node.cuh    the kernel that runs nodes
 *     run.cuh      runs, changes                          tables.cuh  a node's tables
 *     kernels.cuh  layout, capacities, results            rows.cuh    a node's rows
 *                                                         state.cuh   their data, shared by threads
 *
 * In a small call latency counts. So its nodes, reports and changes go through `near`, in host memory that the GPU
 * reads and writes directly.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_BATCH_HANDLE_CUH
#define GPUOPT_CUDA_PROPAGATE_BATCH_HANDLE_CUH

#include <algorithm>

#include "kernels.cuh"
#include "../rounds/handle.cuh"

namespace {

/* Nodes as given, reports and changes. */
struct BatchArrays {
    long long *start;
    int *col;
    double *lb, *ub;
    NodeRecord *record;
    ChangeBuffer buffer;
};

/* A batch of any storage types. */
class CudaBatch {
  public:
    virtual ~CudaBatch() = default;
    virtual gpuopt_status run(gpuopt_memory_space where, const gpuopt_propagator_nodes &nodes, int32_t rounds,
                              const gpuopt_propagator_node_report &report) = 0;
    virtual gpuopt_status get_changes(const gpuopt_propagator_batch *batch, gpuopt_memory_space where,
                                      gpuopt_propagator_node_changes &changes) = 0;
    virtual gpuopt_status get_bounds(const gpuopt_propagator_batch *batch, gpuopt_memory_space where, int64_t count,
                                     const int32_t *node, double *lb, double *ub) = 0;
    virtual int64_t used() const = 0;               /* columns changed in the latest run, whether or not they fit */
    virtual const BatchArrays &results() const = 0; /* the arrays of that run */
};

struct CudaBatchHandle {
    gpuopt_propagator_batch head; /* first: the public handle points to it */
    CudaBatch *object;
};

CudaBatch *batch_of(const gpuopt_propagator_batch *batch) {
    return reinterpret_cast<const CudaBatchHandle *>(batch)->object;
}

enum { NEAR_NODES = 32, NEAR_CHANGES = 1024 }; /* limits of a small call */

template <class Val, class Bound>
class TypedBatch final : public CudaBatch {
  public:
    using View = Propagator<Val, Bound>;

    static gpuopt_status plan(const gpuopt_context *context, const View &view, const PropagatorShape &shape,
                              const gpuopt_propagator_batch_desc &desc, gpuopt_memory_plan *plan);
    /* tree: the tree of the base, or null. */
    static gpuopt_status create(gpuopt_propagator *base, const View &view, const PropagatorShape &shape,
                                const Tree<Bound> *tree, const gpuopt_propagator_batch_desc &desc,
                                gpuopt_propagator_batch **batch);
    ~TypedBatch() override;
    gpuopt_status run(gpuopt_memory_space where, const gpuopt_propagator_nodes &nodes, int32_t rounds,
                      const gpuopt_propagator_node_report &report) override;
    gpuopt_status get_changes(const gpuopt_propagator_batch *batch, gpuopt_memory_space where,
                              gpuopt_propagator_node_changes &changes) override;
    gpuopt_status get_bounds(const gpuopt_propagator_batch *batch, gpuopt_memory_space where, int64_t count,
                             const int32_t *node, double *lb, double *ub) override;
    int64_t used() const override { return static_cast<int64_t>(used_); }
    const BatchArrays &results() const override { return *from_; }

  private:
    static constexpr int64_t TABLE_BYTES = int64_t{1} << 28; /* of all tables in global memory, or the size of one
                                                              * set */

    TypedBatch(const gpuopt_context *context, const View &view, const PropagatorShape &shape,
               const gpuopt_propagator_batch_desc &desc)
        : queue_(context), p_(view), shape_(shape), desc_(desc) {}
    gpuopt_status open();
    gpuopt_status lay_out();
    gpuopt_status follow_base();
    gpuopt_status take_nodes(const gpuopt_propagator_nodes &nodes, const BatchArrays &to, BatchCall &call);
    gpuopt_status run_tiers(BatchCall call, bool to_host);
    bool launch(int tier, const BatchCall &call);
    template <class Nodes>
    bool launch(int most, const BatchCall &call, const MemoryTables &sets);
    bool launch_in_memory(const BatchCall &call, const MemoryTables &sets);
    gpuopt_status order_changes(long long *start, const ChangeBuffer &to);
    template <class Nodes>
    gpuopt_status fit(int *grid);
    template <class Nodes>
    static size_t shared_bytes();
    bool is_few(int nodes) const { return nodes <= cuda_of(queue_.context())->multiprocessors; }
    gpuopt_status cut(gpuopt__arena &device, gpuopt__arena &host);
    void deliver_changes(const gpuopt_propagator_node_changes &changes) const;

    Queue queue_;
    const View p_;
    PropagatorShape shape_;
    const gpuopt_propagator *base_ = nullptr;
    const Tree<Bound> *tree_ = nullptr;
    uint64_t version_ = 0; /* of the base, for the capacities; 0: there are none */
    gpuopt_propagator_batch_desc desc_;
    int warp_grid_ = 0, block_grid_ = 0, wide_grid_ = 0; /* blocks of each tier; 0: the device has too little memory */
    MemoryTables large_ = {}, memory_ = {};              /* of the two tiers in global memory */
    int first_tier_ = TIER_WARP; /* the tier that most nodes of the runs on this base have not outgrown */
    void *device_ = nullptr, *host_ = nullptr;
    bool locked_ = false; /* the pages in host_ are locked */
    BatchModel<Val, Bound> m_ = {};
    BatchArrays far_ = {}, near_ = {}; /* in device memory; in host memory for small calls */
    ChangeBuffer ordered_ = {};        /* changes on their way to host memory */
    NodeRecord *copied_ = nullptr;     /* the reports, in host memory */
    BatchReport *report_ = nullptr;    /* likewise */
    int *list_[2] = {};                /* nodes that have outgrown their tables */
    long long *offset_ = nullptr;      /* [nodes + 1] */
    double *all_ = nullptr;            /* [2 cols]: all bounds of a node on their way to host memory */
    Scratch scratch_ = {};
    int ran_ = 0;                     /* nodes of the latest run */
    uint64_t used_ = 0;               /* its changed columns */
    const BatchArrays *from_ = &far_; /* where its results are */
};

/* ---- Memory ---- */

/* Slots of tables that are at most two thirds full, for `count` columns and all threads of a block. At most 2^31 slots;
 * a node with that many changed columns fills them. */
inline unsigned slots_for(int64_t count) {
    unsigned slots = 1024;
    while (int64_t{2} * slots < 3 * (count + WIDE_WARPS * WARP + 1) && slots < 1U << 31) slots *= 2;
    return slots;
}

/* For a block. */
template <class Val, class Bound>
template <class Nodes>
size_t TypedBatch<Val, Bound>::shared_bytes() {
    TableArrays<typename Nodes::Index> tables;
    return Nodes::is_shared ? cut_tables(nullptr, Nodes::size(), tables) * (Nodes::warps / Nodes::workers) : 0;
}

/* Cuts the blocks of memory, or measures them. */
template <class Val, class Bound>
gpuopt_status TypedBatch<Val, Bound>::cut(gpuopt__arena &device, gpuopt__arena &host) {
    auto take = [](gpuopt__arena &arena, auto *&pointer, int64_t count) {
        using T = typename std::remove_reference<decltype(*pointer)>::type;
        pointer = static_cast<T *>(gpuopt__cut(&arena, count, sizeof(T)));
    };
    const int64_t nodes = desc_.nodes, changes = desc_.changes, cols = shape_.cols;
    size_t scratch = 0, other = 0;
    gpuopt_status status = sum_scratch<unsigned long long>(queue_, cols + 1, &scratch);
    if (!status) status = sum_scratch<long long>(queue_, nodes + 1, &other);
    if (status) return status;
    scratch_.bytes = std::max(scratch, other);
    auto take_arrays = [&](gpuopt__arena &arena, BatchArrays &a, int64_t of_nodes, int64_t of_changes) {
        take(arena, a.start, of_nodes + 1);
        take(arena, a.col, of_changes);
        take(arena, a.lb, of_changes);
        take(arena, a.ub, of_changes);
        take(arena, a.record, of_nodes);
        take(arena, a.buffer.col, of_changes);
        take(arena, a.buffer.lb, of_changes);
        take(arena, a.buffer.ub, of_changes);
        a.buffer.capacity = static_cast<unsigned long long>(of_changes);
    };
    take(device, m_.state, 1);
    take(device, m_.base, 1);
    take(device, m_.col_start, cols + 2);
    take(device, m_.entry_slot, shape_.nonzeros);
    take(device, m_.entry_val, shape_.nonzeros);
    take(device, m_.scale, shape_.slots());
    take(device, m_.active, shape_.slots());
    m_.lanes = shape_.nonzeros > 16 * cols ? +WARP : 8;
    take_arrays(device, far_, nodes, changes);
    take(device, ordered_.col, changes);
    take(device, ordered_.lb, changes);
    take(device, ordered_.ub, changes);
    ordered_.capacity = static_cast<unsigned long long>(changes);
    for (int *&list : list_) take(device, list, nodes);
    take(device, offset_, nodes + 1);
    take(device, all_, 2 * cols);
    char *memory;
    take(device, memory, static_cast<int64_t>(scratch_.bytes));
    scratch_.memory = memory;
    /* One to spare: a thread may find a table full after its own column or row has just taken the last place. */
    const auto columns = static_cast<unsigned>(std::min<int64_t>(cols, desc_.node_columns) + 1);
    const auto rows = static_cast<unsigned>(shape_.slots() + 1);
    memory_.size = {slots_for(columns), slots_for(rows), columns, rows};
    large_.size = {4096, 16384, 2400, 10600};
    const bool is_larger =
        memory_.size.col_slots > large_.size.col_slots || memory_.size.row_slots > large_.size.row_slots;
    for (MemoryTables *sets : {&large_, &memory_}) {
        TableArrays<unsigned> tables;
        const int64_t most = int64_t{MemoryNodes::together} * cuda_of(queue_.context())->multiprocessors;
        sets->bytes = (cut_tables(nullptr, sets->size, tables) + 255) / 256 * 256;
        const int64_t fitting = std::max<int64_t>(1, TABLE_BYTES / static_cast<int64_t>(sets->bytes));
        sets->count = static_cast<int>(std::min(std::min<int64_t>(nodes, most), fitting));
        if (sets == &large_ && !is_larger) sets->count = 0;
        take(device, sets->memory, static_cast<int64_t>(sets->bytes) * sets->count);
    }
    take(host, report_, 1);
    take(host, copied_, nodes);
    take_arrays(host, near_, NEAR_NODES, NEAR_CHANGES);
    return GPUOPT_OK;
}

template <class Val, class Bound>
gpuopt_status TypedBatch<Val, Bound>::plan(const gpuopt_context *context, const View &view,
                                           const PropagatorShape &shape, const gpuopt_propagator_batch_desc &desc,
                                           gpuopt_memory_plan *plan) {
    TypedBatch draft(context, view, shape, desc);
    gpuopt__arena device = {nullptr, 0}, host = {nullptr, 0};
    gpuopt_status status = draft.cut(device, host);
    plan->host_bytes = sizeof(CudaBatchHandle) + sizeof(TypedBatch) + bytes_for_pages(host.used);
    plan->device_bytes = device.used;
    return status;
}

/* ---- Create and destroy ---- */

template <class Val, class Bound>
gpuopt_status TypedBatch<Val, Bound>::create(gpuopt_propagator *base, const View &view, const PropagatorShape &shape,
                                             const Tree<Bound> *tree, const gpuopt_propagator_batch_desc &desc,
                                             gpuopt_propagator_batch **batch) {
    static_assert(sizeof(CudaBatchHandle) % alignof(TypedBatch) == 0, "the object lies behind its handle");
    const gpuopt_context *context = base->context;
    void *memory;
    gpuopt_status status =
        gpuopt__allocate(context, GPUOPT_HOST, sizeof(CudaBatchHandle) + sizeof(TypedBatch), &memory);
    if (status) return status;
    auto *handle = new (memory) CudaBatchHandle;
    auto *object = new (static_cast<char *>(memory) + sizeof(CudaBatchHandle)) TypedBatch(context, view, shape, desc);
    handle->head = {base, desc.nodes, desc.node_columns, desc.changes, -1, 0, nullptr};
    handle->object = object;
    object->base_ = base, object->tree_ = tree;
    status = object->open();
    if (!status) {
        *batch = &handle->head;
        return GPUOPT_OK;
    }
    object->~TypedBatch();
    gpuopt__release(context, GPUOPT_HOST, memory);
    return status;
}

template <class Val, class Bound>
TypedBatch<Val, Bound>::~TypedBatch() {
    if (device_) cudaStreamSynchronize(queue_.stream()); /* a copy of changes may still be under way */
    if (locked_) cudaHostUnregister(first_page(host_));
    gpuopt__release(queue_.context(), GPUOPT_HOST, host_);
    gpuopt__release(queue_.context(), GPUOPT_DEVICE, device_);
}

template <class Val, class Bound>
gpuopt_status TypedBatch<Val, Bound>::open() {
    const gpuopt_context *context = queue_.context();
    gpuopt__arena device = {nullptr, 0}, host = {nullptr, 0};
    gpuopt_status status = cut(device, host);
    if (!status) status = gpuopt__allocate(context, GPUOPT_DEVICE, device.used, &device_);
    if (!status) status = gpuopt__allocate(context, GPUOPT_HOST, bytes_for_pages(host.used), &host_);
    if (status) return status;
    status = lock_pages(context, first_page(host_), whole_pages(host.used), &locked_);
    if (status) return status;
    device = {static_cast<char *>(device_), 0};
    host = {first_page(host_), 0};
    status = cut(device, host);
    if (!status)
        status = load_kernels(context, run_nodes<WarpNodes, Val, Bound>, run_nodes<BlockNodes, Val, Bound>,
                              run_nodes<WideNodes, Val, Bound>, run_nodes<MemoryNodes, Val, Bound>,
                              run_nodes<WideMemoryNodes, Val, Bound>, count_columns<Val, Bound>,
                              place_columns<Val, Bound>, find_capacities<Val, Bound>, clear_memory_tables,
                              expand_nodes<Val, Bound>, write_report, count_changes, gather_changes);
    if (!status) status = fit<WarpNodes>(&warp_grid_);
    if (!status) status = fit<BlockNodes>(&block_grid_);
    if (!status) status = fit<WideNodes>(&wide_grid_);
    return status ? status : lay_out();
}

/* Blocks of a tier that the device holds at once; 0: its tables do not fit into a block's shared memory. */
template <class Val, class Bound>
template <class Nodes>
gpuopt_status TypedBatch<Val, Bound>::fit(int *grid) {
    const CudaContext *cuda = cuda_of(queue_.context());
    int together = 0;
    cudaFuncAttributes attributes;
    GPUOPT_CUDA(queue_.context(), cudaFuncGetAttributes(&attributes, run_nodes<Nodes, Val, Bound>));
    const size_t bytes = shared_bytes<Nodes>();
    *grid = 0;
    if (bytes + attributes.sharedSizeBytes > static_cast<size_t>(cuda->block_memory)) return GPUOPT_OK;
    GPUOPT_CUDA(queue_.context(), cudaOccupancyMaxActiveBlocksPerMultiprocessor(&together, run_nodes<Nodes, Val, Bound>,
                                                                                Nodes::warps * WARP, bytes));
    *grid = together * cuda->multiprocessors;
    return GPUOPT_OK;
}

/* The matrix by columns, and empty tables. */
template <class Val, class Bound>
gpuopt_status TypedBatch<Val, Bound>::lay_out() {
    const int grid = blocks_for(WARP * shape_.units());
    gpuopt_status status = queue_.clear(m_.state, 0, sizeof *m_.state);
    if (!status) status = queue_.clear(m_.col_start, 0, sizeof *m_.col_start * static_cast<size_t>(shape_.cols + 2));
    queue_.launch({grid, THREADS}, count_columns<Val, Bound>, p_, m_);
    if (!status) status = sum_before(queue_, scratch_, m_.col_start + 1, shape_.cols + 1);
    queue_.launch({grid, THREADS}, place_columns<Val, Bound>, p_, m_);
    if (large_.count) queue_.launch({large_.count, NODE_WARPS * WARP}, clear_memory_tables, large_);
    queue_.launch({memory_.count, NODE_WARPS * WARP}, clear_memory_tables, memory_);
    if (!status) status = queue_.launched("laying out a batch");
    return status ? status : queue_.wait("laying out a batch");
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_BATCH_HANDLE_CUH */
