/* SPDX-License-Identifier: MIT
 *
 * A batch of nodes on the GPU: a run, and its results.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_BATCH_RUN_CUH
#define GPUOPT_CUDA_PROPAGATE_BATCH_RUN_CUH

#include "handle.cuh"

namespace {

/* ---- A run ---- */

/* Finds the rows' capacities at the base's bounds, and the added rows, if these are new. */
template <class Val, class Bound>
gpuopt_status TypedBatch<Val, Bound>::follow_base() {
    if (version_ == base_->version) return GPUOPT_OK;
    if (tree_) m_.tree = *tree_;
    gpuopt_status status = queue_.clear(m_.base, 0, sizeof *m_.base);
    queue_.launch({blocks_for(WARP * shape_.units()), THREADS}, find_capacities<Val, Bound>, p_, m_);
    if (!status) status = queue_.launched("finding capacities");
    if (!status) version_ = base_->version, first_tier_ = TIER_WARP;
    return status;
}

/* Copies nodes from the caller's arrays; a few nodes go into the call itself. */
template <class Val, class Bound>
gpuopt_status TypedBatch<Val, Bound>::take_nodes(const gpuopt_propagator_nodes &nodes, const BatchArrays &to,
                                                 BatchCall &call) {
    const auto given = static_cast<size_t>(nodes.start[nodes.count]);
    gpuopt_status status = GPUOPT_OK;
    call.is_few = nodes.count <= FewNodes::NODES && given <= FewNodes::BOUNDS;
    auto take = [&](auto *array, const auto *from, size_t count) {
        if (call.is_few || &to == &near_) memcpy(array, from, sizeof *array * count);
        else if (!status) status = queue_.copy(array, from, sizeof *array * count);
        return array;
    };
    FewNodes &few = call.few;
    call.given.start = take(call.is_few ? few.start : to.start, nodes.start, static_cast<size_t>(nodes.count) + 1);
    call.given.col = given ? take(call.is_few ? few.col : to.col, nodes.col, given) : to.col;
    call.given.lb = given && nodes.lb ? take(call.is_few ? few.lb : to.lb, nodes.lb, given) : nullptr;
    call.given.ub = given && nodes.ub ? take(call.is_few ? few.ub : to.ub, nodes.ub, given) : nullptr;
    return status;
}

/* Launches at most `most` blocks of a tier. Returns whether there is one. */
template <class Val, class Bound>
template <class Nodes>
bool TypedBatch<Val, Bound>::launch(int most, const BatchCall &call, const MemoryTables &sets) {
    const int each = Nodes::warps / Nodes::workers, grid = std::min(most, (call.nodes + each - 1) / each);
    MemoryTables own = sets;
    if (most == 0) return false;
    if (Nodes::is_shared) own.bytes = shared_bytes<Nodes>() / each;
    queue_.launch({grid, Nodes::warps * WARP, shared_bytes<Nodes>()}, run_nodes<Nodes, Val, Bound>, p_, m_, call, own);
    return true;
}

/* Few nodes receive large blocks: a call lasts as long as its slowest node. */
template <class Val, class Bound>
bool TypedBatch<Val, Bound>::launch_in_memory(const BatchCall &call, const MemoryTables &sets) {
    return is_few(call.nodes) ? launch<WideMemoryNodes>(sets.count, call, sets)
                              : launch<MemoryNodes>(sets.count, call, sets);
}

template <class Val, class Bound>
bool TypedBatch<Val, Bound>::launch(int tier, const BatchCall &call) {
    switch (tier) {
    case TIER_WARP: return launch<WarpNodes>(warp_grid_, call, {});
    case TIER_BLOCK: return launch<BlockNodes>(block_grid_, call, {});
    case TIER_WIDE: return launch<WideNodes>(wide_grid_, call, {});
    case TIER_LARGE: return launch_in_memory(call, large_);
    default: return launch_in_memory(call, memory_);
    }
}

/* Runs the nodes of a call with ever larger tables, unless the caller requests a stop in between. `to_host`: copy their
 * reports to host memory. Once most nodes of a large call have outgrown a tier, calls on the same base begin behind it.
 * Few nodes receive large blocks, and a few more receive blocks, since a call lasts as long as the slowest node. For
 * many nodes in a tier, small blocks in global memory, several of which fit a multiprocessor, are faster than large
 * ones; measured: from about eight a multiprocessor on. */
template <class Val, class Bound>
gpuopt_status TypedBatch<Val, Bound>::run_tiers(BatchCall call, bool to_host) {
    const int all = call.nodes;
    for (int tier = first_tier_;; tier++) {
        if (is_few(call.nodes) && wide_grid_) tier = std::max(tier, +TIER_WIDE);
        else if (is_few(call.nodes / 2)) tier = std::max(tier, +TIER_BLOCK);
        if (tier == TIER_WIDE && !is_few(call.nodes / 8)) continue;
        call.left = list_[0] == call.list ? list_[1] : list_[0];
        call.last = tier == TIER_MEMORY;
        if (!launch(tier, call)) continue;
        gpuopt_status status = queue_.launched("launching nodes");
        if (!status && to_host) status = queue_.copy(copied_, call.record, sizeof *copied_ * static_cast<size_t>(all));
        if (!status) status = queue_.wait("waiting for nodes");
        if (status) return status;
        if (report_->bad) {
            status = queue_.clear(m_.state, 0, sizeof *m_.state);
            return status ? status
                          : gpuopt__refuse(queue_.context(), GPUOPT_ERROR_ARGUMENT, "gpuopt_propagator_batch_run",
                                           "a start, a column or a bound in device memory is out of range");
        }
        used_ = report_->used;
        if (report_->left == 0 || call.last) return GPUOPT_OK;
        if (gpuopt__asked_to_stop(queue_.context())) return queue_.clear(m_.state, 0, sizeof *m_.state);
        if (!is_few(all) && report_->left > static_cast<unsigned>(all) / 2) first_tier_ = tier + 1;
        call.list = call.left;
        call.nodes = static_cast<int>(report_->left);
    }
}

template <class Val, class Bound>
gpuopt_status TypedBatch<Val, Bound>::run(gpuopt_memory_space where, const gpuopt_propagator_nodes &nodes,
                                          int32_t rounds, const gpuopt_propagator_node_report &report) {
    const bool is_host = where == GPUOPT_HOST;
    bool small = is_host && nodes.count <= NEAR_NODES && nodes.start[nodes.count] <= NEAR_CHANGES;
    BatchCall call = {};
    call.given = {reinterpret_cast<const long long *>(nodes.start), nodes.col, nodes.lb, nodes.ub};
    call.changes = desc_.changes;
    call.nodes = nodes.count, call.rounds = rounds, call.node_columns = desc_.node_columns;
    call.report = report_;
    from_ = small ? &near_ : &far_;
    ran_ = nodes.count;
    gpuopt_status status = follow_base();
    if (!status && is_host) status = take_nodes(nodes, *from_, call);
    for (bool again = true; again && !status;) {
        call.record = from_->record, call.buffer = from_->buffer;
        status = run_tiers(call, is_host && from_ == &far_);
        again = from_ == &near_ && used_ > near_.buffer.capacity; /* too many changes for that buffer */
        if (again) from_ = &far_;
    }
    if (status) return status;
    if (!is_host) {
        const NodeReportArrays to = {report.outcome,
                                     report.rounds,
                                     report.infeasible_row,
                                     report.infeasible_col,
                                     report.columns,
                                     reinterpret_cast<long long *>(report.changed),
                                     reinterpret_cast<long long *>(report.nonzeros)};
        queue_.launch({blocks_for(ran_), THREADS}, write_report, from_->record, ran_, to);
        return queue_.launched("writing reports");
    }
    const NodeRecord *record = from_ == &near_ ? near_.record : copied_;
    for (int k = 0; k < ran_; k++) {
        if (report.outcome) report.outcome[k] = record[k].outcome;
        if (report.rounds) report.rounds[k] = record[k].rounds;
        if (report.infeasible_row) report.infeasible_row[k] = record[k].row;
        if (report.infeasible_col) report.infeasible_col[k] = record[k].col;
        if (report.changed) report.changed[k] = record[k].changed;
        if (report.columns) report.columns[k] = record[k].columns;
        if (report.nonzeros) report.nonzeros[k] = record[k].nonzeros;
    }
    return GPUOPT_OK;
}

/* ---- Changes ---- */

/* Of a small run: everything is in host memory. */
template <class Val, class Bound>
void TypedBatch<Val, Bound>::deliver_changes(const gpuopt_propagator_node_changes &changes) const {
    int64_t at = 0;
    for (int node = 0; node < ran_; node++) {
        const NodeRecord &one = near_.record[node];
        if (changes.start) changes.start[node] = at;
        for (int k = 0; k < one.columns; k++, at++) {
            if (at >= changes.capacity) continue;
            if (changes.col) changes.col[at] = near_.buffer.col[one.at + k];
            if (changes.lb) changes.lb[at] = near_.buffer.lb[one.at + k];
            if (changes.ub) changes.ub[at] = near_.buffer.ub[one.at + k];
        }
    }
    if (changes.start) changes.start[ran_] = at;
}

/* Enqueues: the changes in the order of the nodes, into arrays in device memory. */
template <class Val, class Bound>
gpuopt_status TypedBatch<Val, Bound>::order_changes(long long *start, const ChangeBuffer &to) {
    queue_.launch({blocks_for(ran_ + 1), THREADS}, count_changes, from_->record, ran_, start);
    gpuopt_status status = sum_before(queue_, scratch_, start, int64_t{ran_} + 1);
    queue_.launch({blocks_for(int64_t{ran_} * WARP), THREADS}, gather_changes, from_->record, ran_, start,
                  from_->buffer, to);
    return status ? status : queue_.launched("reading changes");
}

template <class Val, class Bound>
gpuopt_status TypedBatch<Val, Bound>::get_changes(const gpuopt_propagator_batch *batch, gpuopt_memory_space where,
                                                  gpuopt_propagator_node_changes &changes) {
    const int32_t nodes = batch->ran;
    changes.count = nodes ? static_cast<int64_t>(used_) : 0;
    if (changes.count > desc_.changes)
        return gpuopt__propagator_batch_too_many(batch, "gpuopt_propagator_batch_get_changes", changes.count);
    const size_t starts = sizeof(long long) * (static_cast<size_t>(nodes) + 1);
    auto *start = reinterpret_cast<long long *>(changes.start);
    if (nodes == 0) {
        if (start && where == GPUOPT_HOST) *start = 0;
        return start && where == GPUOPT_DEVICE ? queue_.clear(start, 0, starts) : GPUOPT_OK;
    }
    if (where == GPUOPT_HOST && from_ == &near_) {
        deliver_changes(changes);
        return GPUOPT_OK;
    }
    if (where == GPUOPT_DEVICE)
        return order_changes(start ? start : offset_,
                             {changes.col, changes.lb, changes.ub, static_cast<unsigned long long>(changes.capacity)});
    const auto count = static_cast<size_t>(std::min(changes.count, changes.capacity));
    gpuopt_status status = order_changes(offset_, ordered_);
    if (!status && start) status = queue_.copy(start, offset_, starts);
    if (!status && changes.col) status = queue_.copy(changes.col, ordered_.col, sizeof(int) * count);
    if (!status && changes.lb) status = queue_.copy(changes.lb, ordered_.lb, sizeof(double) * count);
    if (!status && changes.ub) status = queue_.copy(changes.ub, ordered_.ub, sizeof(double) * count);
    return status ? status : queue_.wait("reading changes");
}

/* Through `all_`, node by node, if the caller wants them. */
template <class Val, class Bound>
gpuopt_status TypedBatch<Val, Bound>::get_bounds(const gpuopt_propagator_batch *batch, gpuopt_memory_space where,
                                                 int64_t count, const int32_t *node, double *lb, double *ub) {
    const int ran = batch->ran; /* 0 after a run of no nodes, which ended before this */
    const int64_t cols = shape_.cols, used = ran ? static_cast<int64_t>(used_) : 0;
    const auto bytes = sizeof(double) * static_cast<size_t>(cols);
    gpuopt_status status = GPUOPT_OK;
    if (used > desc_.changes)
        return gpuopt__propagator_batch_too_many(batch, "gpuopt_propagator_batch_get_bounds", used);
    if (where == GPUOPT_DEVICE) {
        queue_.launch({blocks_for(count * THREADS), THREADS}, expand_nodes<Val, Bound>, p_, from_->record,
                      from_->buffer, ran, count, node, 0, lb, ub);
        return queue_.launched("reading bounds");
    }
    for (int64_t i = 0; i < count && !status; i++) {
        queue_.launch({1, THREADS}, expand_nodes<Val, Bound>, p_, from_->record, from_->buffer, ran, int64_t{1},
                      static_cast<const int *>(nullptr), node ? node[i] : static_cast<int>(i), all_, all_ + cols);
        status = queue_.launched("reading bounds");
        if (!status && lb) status = queue_.copy(lb + i * cols, all_, bytes);
        if (!status && ub) status = queue_.copy(ub + i * cols, all_ + cols, bytes);
    }
    return status ? status : queue_.wait("reading bounds");
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_BATCH_RUN_CUH */
