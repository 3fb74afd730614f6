/* SPDX-License-Identifier: MIT
 *
 * A batch of nodes on the GPU: the kernel that runs nodes, each from its given bounds to its changed columns.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_BATCH_NODE_CUH
#define GPUOPT_CUDA_PROPAGATE_BATCH_NODE_CUH

#include "rows.cuh"

namespace {

/* Sizes of the tables, from the smallest. */
enum BatchTier {
    TIER_WARP,  /* in shared memory, for a warp: many nodes that change little */
    TIER_BLOCK, /* in shared memory, for a block */
    TIER_WIDE,  /* in shared memory, most of a multiprocessor's, for a large block */
    TIER_LARGE, /* in global memory, for thousands of columns; many blocks */
    TIER_MEMORY /* the same for every column and row; as many blocks as memory allows */
};
enum { NODE_WARPS = 4, WIDE_WARPS = 16 }; /* of a block, and of a large one */

/* The workers of a node, and the place of its tables. warps: of a block; workers: warps of a node; together: blocks of
 * a multiprocessor; size: of tables in shared memory. */
struct WarpNodes {
    enum { warps = NODE_WARPS, workers = 1, together = 5, is_shared = 1 };
    using Index = unsigned short;
    __host__ __device__ static constexpr TableSizes size() { return {128, 512, 88, 416}; }
};
struct BlockNodes {
    enum { warps = NODE_WARPS, workers = warps, together = 3, is_shared = 1 };
    using Index = unsigned short;
    __host__ __device__ static constexpr TableSizes size() { return {512, 4096, 340, 3072}; }
};
struct WideNodes {
    enum { warps = WIDE_WARPS, workers = warps, together = 1, is_shared = 1 };
    using Index = unsigned short;
    __host__ __device__ static constexpr TableSizes size() { return {2048, 8192, 1360, 6144}; }
};
struct MemoryNodes {
    enum { warps = NODE_WARPS, workers = warps, together = 4, is_shared = 0 };
    using Index = unsigned;
    __host__ __device__ static constexpr TableSizes size() { return {}; }
};
struct WideMemoryNodes : MemoryNodes {
    enum { warps = WIDE_WARPS, workers = warps, together = 1, is_shared = 0 };
};

/* Tables in global memory, one set a block. They are empty before and after the kernel that runs nodes. */
struct MemoryTables {
    char *memory;
    size_t bytes; /* of a set */
    TableSizes size;
    int count;
};

template <int WORKERS, class Index, class Val, class Bound>
class NodeRun : public NodeRows<WORKERS, Index, Val, Bound> {
    using Rows = NodeRows<WORKERS, Index, Val, Bound>;
    using Rows::p, Rows::m, Rows::s, Rows::tables, Rows::lane, Rows::thread, Rows::base, Rows::THREADS_;

  public:
    __device__ NodeRun(const Propagator<Val, Bound> &propagator, const BatchModel<Val, Bound> &model,
                       NodeShared &shared, const TableArrays<Index> &tables, const BatchCall &run)
        : Rows(propagator, model, shared, tables), call(run) {}

    /* Takes nodes until none is left. */
    __device__ void all(bool tables_are_empty) {
        if (!tables_are_empty) this->clear_all();
        for (;;) {
            if (thread == 0) s = {atomicAdd(&m.state->ticket, 1u), 0, 0, 0, 0, 0, 0, 0, INT_MAX, INT_MAX, 0, 0, 0};
            Rows::sync();
            const unsigned ticket = s.ticket;
            if (ticket >= static_cast<unsigned>(call.nodes)) return;
            one(call.list ? call.list[ticket] : static_cast<int>(ticket));
        }
    }

  private:
    const BatchCall &call;

    /* Runs a node. The tables are empty before and after. */
    __device__ void one(int node) {
        const long long limit = min(static_cast<long long>(call.rounds), p.round_limit);
        NodeRecord record = {GPUOPT_MORE, 0, -1, -1, 0, 0, 0, 0, 0};
        const int base_row = p.state->infeasible_row, base_col = p.state->infeasible_col;
        const bool hopeless = base_row != INT_MAX || base_col != INT_MAX;
        bool moved = true;
        this->evaluated = 0;
        give(node);
        NodeFound found = this->settle(true);
        while (!found.over && !found.infeasible && !hopeless && moved && record.rounds < limit && !is_full(found)) {
            this->evaluate(record.rounds == 0 && m.base->pending);
            found = this->settle(false);
            record.rounds++;
            record.changed += found.moved;
            moved = found.moved > 0;
        }
        if (s.bad && thread == 0) atomicExch(&m.state->bad, 1u);
        if (found.over && !call.last) {
            if (thread == 0) {
                call.left[atomicAdd(&m.state->left, 1u)] = node;
                call.record[node] = {GPUOPT_MORE, 0, -1, -1, 0, 0, 0, 0, 0}; /* in case the caller stops here */
            }
            Rows::sync();
            this->clear_all();
            return;
        }
        const int row = hopeless ? base_row : s.found_row, col = hopeless ? base_col : s.found_col;
        if (found.over || is_full(found)) record.outcome = GPUOPT_FULL, record.changed = 0;
        else if (hopeless || found.infeasible) record.outcome = GPUOPT_INFEASIBLE;
        else if (!moved) record.outcome = GPUOPT_CONVERGED;
        else if (record.rounds >= p.round_limit) record.outcome = GPUOPT_LIMIT;
        if (record.outcome == GPUOPT_INFEASIBLE) {
            if (row != INT_MAX) record.row = row;
            if (col != INT_MAX) record.col = col;
        }
        if (this->evaluated) atomicAdd(&s.nonzeros, this->evaluated);
        if (record.outcome != GPUOPT_INFEASIBLE && record.outcome != GPUOPT_FULL) write_changes();
        else Rows::sync();
        if (thread == 0) {
            record.nonzeros = static_cast<long long>(s.nonzeros);
            record.columns = static_cast<int>(s.count);
            record.at = static_cast<long long>(s.at);
            call.record[node] = record;
        }
        if (found.over) this->clear_all();
        else this->clear_used();
        Rows::sync();
    }

    __device__ bool is_full(const NodeFound &found) const {
        return found.columns > static_cast<unsigned>(call.node_columns);
    }

    /* Gives the node its bounds. Notes faults in them, which can only occur in device memory. */
    __device__ void give(int node) {
        const GivenNodes from = call.is_few
                                    ? GivenNodes{call.few.start, call.few.col, call.given.lb ? call.few.lb : nullptr,
                                                 call.given.ub ? call.few.ub : nullptr}
                                    : call.given;
        const long long first = from.start[node], end = from.start[node + 1];
        if (first < 0 || end < first || end > call.changes || (node == 0 && first != 0) || (end > first && !from.col)) {
            raise_flag<cuda::thread_scope_block>(s.bad);
            return;
        }
        for (long long i = first + thread; i < end; i += THREADS_) {
            const int col = from.col[i];
            if (col < 0 || col >= p.cols || (from.lb && !(from.lb[i] < p.rules.infinity)) ||
                (from.ub && !(from.ub[i] > -p.rules.infinity)))
                raise_flag<cuda::thread_scope_block>(s.bad);
            else
                Rows::give(static_cast<unsigned>(col), from.lb ? from.lb + i : nullptr,
                           from.ub ? from.ub + i : nullptr);
        }
    }

    /* The bounds of a column as the caller sees them. */
    __device__ double2 shown(double2 pair) const {
        return make_double2(gpuopt__propagator_shown_lb(&p.rules, 0, pair.x, pair.y), pair.y);
    }
    /* Whether a column's bounds differ from the base's, as the caller sees them. */
    __device__ bool differs(unsigned place) const {
        const double2 now = shown(tables.now[place]), was = shown(load_pair(base, 2 * tables.key[place]));
        return now.x != was.x || now.y != was.y;
    }

    /* Writes the columns whose bounds differ from those of the base to the buffer of changes, ordered by column. Begins
     * and ends with a barrier. */
    __device__ void write_changes() {
        Rows::sync();
        place_changes();
        Rows::sync();
    }

    __device__ void place_changes() {
        for (unsigned i = thread; i < s.columns; i += THREADS_)
            if (differs(tables.col_used[i])) tables.side[atomicAdd(&s.count, 1u)] = tables.col_used[i];
        Rows::sync();
        if (thread == 0 && s.count) s.at = atomicAdd(&m.state->used, static_cast<unsigned long long>(s.count));
        Rows::sync();
        const unsigned count = s.count;
        if (s.at + count > call.buffer.capacity) return;
        if (static_cast<unsigned long long>(count) * count > 256ull * static_cast<unsigned>(p.cols)) {
            write_by_sweep();
            return;
        }
        for (unsigned i = thread; i < count; i += THREADS_) {
            const unsigned place = tables.side[i], col = tables.key[place];
            unsigned before = 0;
#pragma unroll 8
            for (unsigned k = 0; k < count; k++) before += tables.key[tables.side[k]] < col;
            write(s.at + before, place);
        }
    }

    __device__ void write(unsigned long long at, unsigned place) const {
        const double2 pair = shown(tables.now[place]);
        call.buffer.col[at] = static_cast<int>(tables.key[place]);
        call.buffer.lb[at] = pair.x;
        call.buffer.ub[at] = pair.y;
    }

    /* The same by a pass over all columns in their order, for a node that changes very many. The first warp does it. */
    __device__ void write_by_sweep() const {
        unsigned long long at = s.at;
        for (int first = 0; thread < WARP && first < p.cols; first += WARP) {
            const int col = first + lane, place = col < p.cols ? this->find(static_cast<unsigned>(col)) : -1;
            const bool is_changed = place >= 0 && differs(static_cast<unsigned>(place));
            const unsigned mask = __ballot_sync(~0u, is_changed);
            if (is_changed)
                write(at + static_cast<unsigned>(__popc(mask & ((1u << lane) - 1))), static_cast<unsigned>(place));
            at += static_cast<unsigned>(__popc(mask));
        }
    }
};

/* The last block of a launch to end reports all results to the CPU, and resets the counters for the next launch. Each
 * block's end is a read-modify-write that releases and acquires, so the last one sees the counts of the others. The
 * barrier before it makes the whole block's counts precede it. */
__device__ void end_run(BatchState *state, BatchReport *report) {
    __syncthreads();
    if (threadIdx.x) return;
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> done(state->done);
    if (done.fetch_add(1, cuda::memory_order_acq_rel) + 1 < gridDim.x) return;
    *report = {__ldcg(&state->left), __ldcg(&state->bad), __ldcg(&state->used)};
    state->ticket = 0;
    if (__ldcg(&state->left) == 0) state->bad = 0, state->used = 0; /* else another launch continues */
    state->left = 0;
    done.store(0, cuda::memory_order_relaxed);
}

/* Runs the nodes of a call, or the nodes on its list. Tables that are not in shared memory are in these sets. */
template <class Nodes, class Val, class Bound>
__global__ void __launch_bounds__(Nodes::warps *WARP, Nodes::together)
    run_nodes(const __grid_constant__ Propagator<Val, Bound> p, const __grid_constant__ BatchModel<Val, Bound> m,
              const __grid_constant__ BatchCall call, const __grid_constant__ MemoryTables sets) {
    GPUOPT_DYNAMIC_SHARED(char, table_memory);
    __shared__ NodeShared shared[Nodes::warps / Nodes::workers];
    const unsigned worker = threadIdx.x / (Nodes::workers * WARP);
    TableArrays<typename Nodes::Index> tables;
    if (Nodes::is_shared) {
        constexpr TableSizes fixed = Nodes::size();
        cut_tables(table_memory + sets.bytes * worker, fixed, tables);
    } else {
        cut_tables(sets.memory + sets.bytes * blockIdx.x, sets.size, tables);
    }
    NodeRun<Nodes::workers, typename Nodes::Index, Val, Bound>(p, m, shared[worker], tables, call)
        .all(!Nodes::is_shared);
    end_run(m.state, call.report);
}

/* Empties tables in global memory: a block takes a set. */
__global__ void __launch_bounds__(NODE_WARPS *WARP) clear_memory_tables(const __grid_constant__ MemoryTables sets) {
    for (int k = static_cast<int>(blockIdx.x); k < sets.count; k += static_cast<int>(gridDim.x)) {
        TableArrays<unsigned> tables;
        cut_tables(sets.memory + sets.bytes * static_cast<size_t>(k), sets.size, tables);
        clear_tables<NODE_WARPS * WARP>(tables, threadIdx.x);
    }
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_BATCH_NODE_CUH */
