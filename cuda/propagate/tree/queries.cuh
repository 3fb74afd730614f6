/* SPDX-License-Identifier: MIT
 *
 * A tree search on the GPU: the caller's queries of a trail, and the rows that it adds.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_TREE_QUERIES_CUH
#define GPUOPT_CUDA_PROPAGATE_TREE_QUERIES_CUH

#include "handle.cuh"

namespace {

/* ---- Changes ---- */

template <class Val, class Bound>
gpuopt_status TypedTree<Val, Bound>::get_trail(gpuopt_propagator_trail &trail) {
    gpuopt_status status = know();
    if (status) return status;
    trail.levels = levels_;
    trail.changes = now_.start;
    trail.level_start = levels_ > 0 ? host_.level[levels_ - 1].start : 0;
    return GPUOPT_OK;
}

/* Cuts the copy in host memory off here. */
template <class Val, class Bound>
void TypedTree<Val, Bound>::forget_copy(int32_t changes) {
    while (copied_ > changes) {
        const TreeChange &c = host_.trail[--copied_];
        host_.last[c.side] = c.previous;
    }
}

/* Updates the copy in host memory. */
template <class Val, class Bound>
gpuopt_status TypedTree<Val, Bound>::bring_trail() {
    gpuopt_status status = know();
    if (status || copied_ == now_.start) return status;
    status = queue_.copy(host_.trail + copied_, t_.trail + copied_,
                         sizeof(TreeChange) * static_cast<size_t>(now_.start - copied_), "reading a trail");
    if (!status) status = queue_.wait("reading a trail");
    for (; !status && copied_ < now_.start; copied_++) host_.last[host_.trail[copied_].side] = copied_;
    return status;
}

template <class Val, class Bound>
gpuopt_status TypedTree<Val, Bound>::get_changes(gpuopt_memory_space where, int64_t from,
                                                 gpuopt_propagator_changes &changes) {
    gpuopt_status status = where == GPUOPT_HOST ? bring_trail() : know();
    if (status) return status;
    gpuopt_propagator_changes counted = changes;
    if (where == GPUOPT_DEVICE) counted.capacity = 0;
    status = gpuopt__propagator_write_changes(queue_.context(), host_.trail, now_.start, from, &counted);
    if (status) return status;
    changes.count = counted.count;
    const int count = static_cast<int>(std::min(changes.count, changes.capacity));
    if (where == GPUOPT_HOST || count == 0) return GPUOPT_OK;
    queue_.launch({blocks_for(count), THREADS}, copy_changes<Bound>, t_, static_cast<int>(from), count,
                  TreeChangeArrays{changes.col, changes.upper, changes.old_bound, changes.new_bound, changes.row});
    return queue_.launched("reading changes");
}

/* ---- Reasons ---- */

/* Copies a row and the bounds of its columns to host memory. */
template <class Val, class Bound>
gpuopt_status TypedTree<Val, Bound>::open_row(gpuopt__propagator_evidence &e, int32_t row) {
    e.length = 1;
    for (int32_t first = 0; first < e.length; first += TREE_NEAR) {
        queue_.launch({1, TREE_NEAR}, show_row<Val, Bound>, p_, t_, slot_of_, row, first);
        gpuopt_status status = queue_.launched("reading a row");
        if (!status) status = queue_.wait("reading a row");
        if (status) return status;
        e.length = window_->length;
        for (int32_t k = 0; k < TREE_NEAR && first + k < e.length; k++) {
            const TreeEntry &entry = window_->entry[k];
            const int col = static_cast<int>(entry.col / 2);
            host_.col[first + k] = col;
            host_.val[first + k] = entry.a;
            host_.kind[col] = entry.col & 1 ? GPUOPT__PROPAGATOR_INTEGER : 0;
            host_.bounds[2 * size_t(col)] = entry.lb;
            host_.bounds[2 * size_t(col) + 1] = entry.ub;
        }
    }
    e.altered = window_->altered;
    e.lhs = window_->lhs;
    e.rhs = window_->rhs;
    return GPUOPT_OK;
}

template <class Val, class Bound>
gpuopt_status TypedTree<Val, Bound>::explain(int64_t change, gpuopt_propagator_reason &reason) {
    gpuopt_status status = bring_trail();
    gpuopt__propagator_evidence e = {};
    if (status) return status;
    e.context = queue_.context();
    e.trail = host_.trail;
    e.changes = now_.start;
    e.last = host_.last;
    e.infeasible_row = now_.infeasible_row;
    e.infeasible_col = now_.infeasible_col;
    e.open_row = [](gpuopt__propagator_evidence *of, int32_t row) {
        return static_cast<TypedTree *>(of->owner)->open_row(*of, row);
    };
    e.owner = this;
    e.col = host_.col;
    e.val = host_.val;
    e.bounds = host_.bounds;
    e.kind = host_.kind;
    return gpuopt__propagator_explain(&e, change, &reason);
}

/* ---- Changes of rows ---- */

template <class Val, class Bound>
void TypedTree<Val, Bound>::altering(int count, const int *row) {
    if (has_trail()) queue_.launch({blocks_for(count), THREADS}, alter_rows<Bound>, t_, count, row);
}

template <class Val, class Bound>
void TypedTree<Val, Bound>::altered() {
    known_ = shown_ = false;
    for (int32_t level = 0; level < levels_; level++) {
        host_.level[level].infeasible_row = -1;
        host_.level[level].rounds_since_set = 0;
        host_.level[level].all_marked = 1;
    }
}

/* Copies the added rows to the device, their entries from this one on. */
template <class Val, class Bound>
gpuopt_status TypedTree<Val, Bound>::upload_rows(int32_t from) {
    const auto rows = static_cast<size_t>(t_.added), entries = static_cast<size_t>(entries_ - from);
    gpuopt_status status = queue_.copy(t_.first, host_.first, sizeof(int) * rows);
    if (!status) status = queue_.copy(t_.length, host_.length, sizeof(int) * rows);
    if (!status) status = queue_.copy(t_.col + from, host_.entry_col + from, sizeof(unsigned) * entries);
    if (!status) status = queue_.copy(t_.val + from, host_.entry_val + from, sizeof(Bound) * entries);
    if (entries)
        queue_.launch({blocks_for(entries_ - from), THREADS}, mark_integers<Val, Bound>, p_, t_, from, entries_);
    if (!status) status = queue_.launched("adding rows");
    return status ? status : queue_.release_host(host_.first); /* all of them are in one block */
}

template <class Val, class Bound>
gpuopt_status TypedTree<Val, Bound>::add_rows(const gpuopt_matrix &rows, const double *lhs, const double *rhs,
                                              int32_t *row) {
    const int64_t entries = rows.start[rows.rows];
    const int32_t from = entries_;
    int32_t *number = host_.seen; /* the check of these rows no longer needs it */
    int64_t spare = shape_.spare_rows - t_.added;
    for (int32_t free = free_row_; free >= 0 && spare < rows.rows; free = host_.next_free[free]) spare++;
    if (spare < rows.rows || entries > shape_.spare_nonzeros - entries_)
        return gpuopt__refuse(queue_.context(), GPUOPT_ERROR_MEMORY, "gpuopt_propagator_add_rows",
                              spare < rows.rows ? "more rows than desc->spare->rows"
                                                : "more entries than desc->spare->nonzeros");
    for (int32_t i = 0; i < rows.rows; i++) {
        const int32_t index = free_row_ >= 0 ? free_row_ : t_.added++;
        if (index == free_row_) free_row_ = host_.next_free[index];
        host_.first[index] = entries_;
        host_.length[index] = static_cast<int>(rows.start[i + 1] - rows.start[i]);
        for (int64_t k = rows.start[i]; k < rows.start[i + 1]; k++, entries_++) {
            host_.entry_col[entries_] = static_cast<unsigned>(rows.index[k]);
            host_.entry_val[entries_] = static_cast<Bound>(rows.value[k]);
        }
        number[i] = p_.rows + index;
        if (row) row[i] = number[i];
    }
    gpuopt_status status = upload_rows(from);
    return status ? status : owner_.set_sides(GPUOPT_HOST, rows.rows, number, lhs, rhs);
}

/* Removes the entries of a row. */
template <class Val, class Bound>
void TypedTree<Val, Bound>::drop_entries(int32_t index) {
    const int first = host_.first[index], length = host_.length[index], end = first + length;
    std::copy(host_.entry_col + end, host_.entry_col + entries_, host_.entry_col + first);
    std::copy(host_.entry_val + end, host_.entry_val + entries_, host_.entry_val + first);
    entries_ -= length;
    for (int32_t other = 0; other < t_.added; other++)
        if (host_.first[other] > first) host_.first[other] -= length;
}

template <class Val, class Bound>
gpuopt_status TypedTree<Val, Bound>::remove_rows(int64_t count, const int32_t *row) {
    int64_t k = 0;
    int32_t from = entries_;
    for (; k < count; k++) { /* a repeated row is found by a length below 0 */
        int &length = host_.length[row[k] - p_.rows];
        if (length < 0) break;
        length = -2 - length;
    }
    const int64_t marked = k;
    while (k-- > 0) host_.length[row[k] - p_.rows] = -2 - host_.length[row[k] - p_.rows];
    if (marked < count) {
        gpuopt__log(queue_.context(), 0, "gpuopt_propagator_remove_rows: row %d is repeated", row[marked]);
        return GPUOPT_ERROR_ARGUMENT;
    }
    for (k = 0; k < count; k++) {
        const int32_t index = row[k] - p_.rows;
        from = std::min(from, host_.first[index]);
        drop_entries(index);
        host_.first[index] = 0, host_.length[index] = -1;
        host_.next_free[index] = free_row_;
        free_row_ = index;
    }
    gpuopt_status status = upload_rows(std::min(from, entries_));
    return status ? status : owner_.set_sides(GPUOPT_HOST, count, row, nullptr, nullptr);
}

template <class Val, class Bound>
gpuopt_status TypedTree<Val, Bound>::copy_rows(const TypedTree &from) {
    t_.added = from.t_.added;
    free_row_ = from.free_row_;
    entries_ = from.entries_;
    if (t_.added == 0) return GPUOPT_OK;
    std::copy(from.host_.first, from.host_.first + t_.added, host_.first);
    std::copy(from.host_.length, from.host_.length + t_.added, host_.length);
    std::copy(from.host_.next_free, from.host_.next_free + t_.added, host_.next_free);
    std::copy(from.host_.entry_col, from.host_.entry_col + entries_, host_.entry_col);
    std::copy(from.host_.entry_val, from.host_.entry_val + entries_, host_.entry_val);
    return upload_rows(0);
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_TREE_QUERIES_CUH */
