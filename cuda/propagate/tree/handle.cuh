/* SPDX-License-Identifier: MIT
 *
 * A tree search on the GPU: the part of a handle that has a trail or spare rows; its memory, rounds, bounds and levels.
 *
 *     handle.cuh   this                                   round.cuh           the kernel that runs rounds
 *     queries.cuh  changes, reasons, added rows           added_rows.cuh      added rows; which row implies a bound
 *     view.cuh     the data of the kernels                between_rounds.cuh  the kernels between rounds
 *     calls.cuh    the backend's functions
 *
 * The CPU has the state of the trail as long as only the CPU has changed it since its last query; otherwise it queries
 * the device (know()). A round reports the state in any case.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_TREE_HANDLE_CUH
#define GPUOPT_CUDA_PROPAGATE_TREE_HANDLE_CUH

#include <algorithm>

#include "../rounds/handle.cuh"
#include "between_rounds.cuh"

namespace {

/* Host memory of a tree search, in the block of its handle. */
template <class Bound>
struct TreeHost {
    /* With a trail: */
    TreeLevel *level;    /* [capacity] */
    TreeChange *trail;   /* [capacity]: a copy */
    int *last;           /* [2 cols]: as of that copy */
    double *bounds;      /* [cols][2]: of the columns of the row that is being explained, as are the next three */
    unsigned char *kind; /* [cols] */
    int *col;            /* [cols]: its entries */
    double *val;         /* [cols] */
    /* Added rows; their entries follow one another, in the order in which the rows were added. */
    int *first, *length; /* [spare rows]; length -1: the number is free */
    int *next_free;      /* [spare rows]: links the free numbers */
    unsigned *entry_col; /* [spare nonzeros]: columns */
    Bound *entry_val;
    int *seen; /* see gpuopt_propagator */
};

template <class Val, class Bound>
class TypedTree final : public CudaTree {
  public:
    using View = Propagator<Val, Bound>;
    struct Staging { /* device memory for a piece of the caller's arrays */
        double *low, *high;
        int *index;
        int64_t count;
    };

    static uint64_t host_bytes(const PropagatorShape &shape);
    static void cut_device(const PropagatorShape &shape, gpuopt__arena &arena, Tree<Bound> &t);

    /* `memory`: host_bytes() less sizeof(TypedTree) of it. */
    TypedTree(const gpuopt_context *context, const PropagatorShape &shape, const View &view, CudaPropagator &owner,
              char *memory);
    ~TypedTree();
    /* After the device memory has been cut: loads kernels and lays out an empty trail. */
    gpuopt_status open(gpuopt__arena &device, int *slot_of, const Staging &staging);
    gpuopt_status begin(bool is_fork);
    gpuopt_status choose_grid();
    /* Copies another handle's rows. */
    gpuopt_status copy_rows(const TypedTree &from);

    const Tree<Bound> &view() const { return t_; }
    int *seen() const { return host_.seen; }
    bool has_trail() const { return t_.capacity > 0; }
    int rows() const { return p_.rows + t_.added; } /* numbers in use or free */

    gpuopt_status run(int32_t rounds);
    /* After waiting for the rounds: takes the data that they have shown, unless the state has changed since. */
    void take_round() {
        if (shown_) take_shown();
    }
    gpuopt_status set_bounds(gpuopt_memory_space where, int64_t count, const int32_t *col, const double *lb,
                             const double *ub);
    /* Sides of these rows have been set, or are about to be. row: in device memory. */
    void altering(int count, const int *row);
    /* Sides have changed: the proofs stored in the levels become invalid. */
    void altered();

    gpuopt_status push(int64_t *start) override;
    gpuopt_status pop(int32_t levels) override;
    gpuopt_status keep() override;
    gpuopt_status get_trail(gpuopt_propagator_trail &trail) override;
    gpuopt_status get_changes(gpuopt_memory_space where, int64_t from, gpuopt_propagator_changes &changes) override;
    gpuopt_status explain(int64_t change, gpuopt_propagator_reason &reason) override;
    gpuopt_status add_rows(const gpuopt_matrix &rows, const double *lhs, const double *rhs, int32_t *row) override;
    gpuopt_status remove_rows(int64_t count, const int32_t *row) override;
    bool has_row(int32_t row) const override {
        return row < p_.rows || (row < rows() && host_.length[row - p_.rows] >= 0);
    }

  private:
    static void cut_host(const PropagatorShape &shape, gpuopt__arena &arena, TreeHost<Bound> &host);
    static int threads_for(int64_t things) {
        return static_cast<int>(
            std::min<int64_t>(TREE_MOST_THREADS, std::max<int64_t>(1, (things + WARP - 1) / WARP) * WARP));
    }
    gpuopt_status know();
    void take_shown();
    gpuopt_status bring_trail();
    void forget_copy(int32_t changes);
    gpuopt_status back_to(const TreeLevel &level);
    gpuopt_status set_piece(TreeSet set, const FewBounds &few);
    gpuopt_status open_row(gpuopt__propagator_evidence &e, int32_t row);
    gpuopt_status upload_rows(int32_t from);
    void drop_entries(int32_t index);

    Queue queue_;
    const PropagatorShape &shape_;
    const View &p_;
    CudaPropagator &owner_;
    Tree<Bound> t_ = {};
    TreeHost<Bound> host_ = {};
    TreeWindow *window_ = nullptr;
    bool locked_ = false; /* the window's pages */
    int *slot_of_ = nullptr;
    Staging staging_ = {};
    int grid_ = 1;
    TreeLevel now_ = {}; /* if known_ */
    bool known_ = false;
    bool shown_ = false; /* the latest change of the state also shows it in the window */
    int64_t most_ = 0;   /* most changes possible */
    int32_t levels_ = 0;
    int32_t copied_ = 0; /* changes in host_.trail */
    int32_t free_row_ = -1, entries_ = 0;
};

/* ---- Memory ---- */

template <class Val, class Bound>
void TypedTree<Val, Bound>::cut_device(const PropagatorShape &s, gpuopt__arena &arena, Tree<Bound> &t) {
    auto cut = [&](auto *&pointer, int64_t count) { cut_array(arena, pointer, count); };
    cut(t.state, 1);
    if (s.trail_capacity) {
        cut(t.trail, s.trail_capacity);
        cut(t.last, 2 * s.cols);
        cut(t.reason, 2 * s.cols);
        cut(t.claim, s.cols);
        cut(t.altered, s.rows + s.spare_rows);
        cut(t.block_count, MAX_BLOCKS);
    }
    cut(t.first, s.spare_rows);
    cut(t.length, s.spare_rows);
    cut(t.val, s.spare_nonzeros);
    cut(t.col, s.spare_nonzeros);
}

template <class Val, class Bound>
void TypedTree<Val, Bound>::cut_host(const PropagatorShape &s, gpuopt__arena &arena, TreeHost<Bound> &h) {
    auto cut = [&](auto *&pointer, int64_t count) { cut_array(arena, pointer, count); };
    if (s.trail_capacity) {
        cut(h.level, s.trail_capacity);
        cut(h.trail, s.trail_capacity);
        cut(h.last, 2 * s.cols);
        cut(h.bounds, 2 * s.cols);
        cut(h.kind, s.cols);
        cut(h.col, s.cols);
        cut(h.val, s.cols);
    }
    if (s.spare_rows == 0) return;
    cut(h.first, s.spare_rows);
    cut(h.length, s.spare_rows);
    cut(h.next_free, s.spare_rows);
    cut(h.entry_col, s.spare_nonzeros);
    cut(h.entry_val, s.spare_nonzeros);
    cut(h.seen, std::max(s.cols, s.spare_rows) + 1);
}

template <class Val, class Bound>
uint64_t TypedTree<Val, Bound>::host_bytes(const PropagatorShape &shape) {
    gpuopt__arena arena = {nullptr, 0};
    TreeHost<Bound> host;
    cut_host(shape, arena, host);
    return sizeof(TypedTree) + arena.used + bytes_for_pages(sizeof(TreeWindow));
}

template <class Val, class Bound>
TypedTree<Val, Bound>::TypedTree(const gpuopt_context *context, const PropagatorShape &shape, const View &view,
                                 CudaPropagator &owner, char *memory)
    : queue_(context), shape_(shape), p_(view), owner_(owner) {
    gpuopt__arena arena = {memory, 0};
    cut_host(shape, arena, host_);
    window_ = reinterpret_cast<TreeWindow *>(first_page(memory + arena.used));
    for (int64_t side = 0; shape.trail_capacity && side < 2 * shape.cols; side++) host_.last[side] = -1;
    for (int64_t row = 0; row < shape.spare_rows; row++) host_.first[row] = 0, host_.length[row] = -1;
}

template <class Val, class Bound>
TypedTree<Val, Bound>::~TypedTree() {
    if (locked_) cudaHostUnregister(window_);
}

template <class Val, class Bound>
gpuopt_status TypedTree<Val, Bound>::open(gpuopt__arena &device, int *slot_of, const Staging &staging) {
    gpuopt_status status = lock_pages(queue_.context(), window_, whole_pages(sizeof *window_), &locked_);
    if (status) return status;
    cut_device(shape_, device, t_);
    t_.window = window_;
    t_.capacity = static_cast<int>(shape_.trail_capacity);
    t_.first_slot = static_cast<int>(shape_.slots());
    slot_of_ = slot_of;
    staging_ = staging;
    status = load_kernels(queue_.context(), run_tree_rounds<Val, Bound>, record_set<Val, Bound>, take_back<Val, Bound>,
                          forget_changes<Bound>, show_state<Val, Bound>, copy_changes<Bound>, show_row<Val, Bound>);
    if (status) return status;
    return load_kernels(queue_.context(), alter_rows<Bound>, check_added<Bound>, mark_integers<Val, Bound>,
                        report_added<Val, Bound>, begin_tree<Val, Bound>);
}

template <class Val, class Bound>
gpuopt_status TypedTree<Val, Bound>::begin(bool is_fork) {
    queue_.launch({blocks_for(std::max(2 * shape_.cols, shape_.rows + shape_.spare_rows)), THREADS},
                  begin_tree<Val, Bound>, p_, t_, is_fork ? nullptr : slot_of_, static_cast<int>(shape_.spare_rows));
    return queue_.launched("laying out a trail");
}

/* Blocks of the kernel that runs rounds. */
template <class Val, class Bound>
gpuopt_status TypedTree<Val, Bound>::choose_grid() {
    const CudaContext *cuda = cuda_of(queue_.context());
    int together = 0;
    const int64_t needed = (shape_.segments + shape_.warp_rows + shape_.slices + shape_.spare_rows + WARPS - 1) / WARPS;
    GPUOPT_CUDA(queue_.context(),
                cudaOccupancyMaxActiveBlocksPerMultiprocessor(&together, run_tree_rounds<Val, Bound>, THREADS, 0));
    const int64_t most = std::min<int64_t>(MAX_BLOCKS, int64_t{together} * cuda->multiprocessors);
    grid_ = static_cast<int>(std::max<int64_t>(1, std::min(needed, most)));
    return GPUOPT_OK;
}

/* ---- Rounds and bounds ---- */

template <class Val, class Bound>
gpuopt_status TypedTree<Val, Bound>::run(int32_t rounds) {
    cudaStreamCaptureStatus capture;
    GPUOPT_CUDA(queue_.context(), cudaStreamIsCapturing(queue_.stream(), &capture));
    if (capture != cudaStreamCaptureStatusNone) {
        gpuopt__log(queue_.context(), 0, "rounds with a trail or spare rows cannot be captured");
        return GPUOPT_ERROR_UNSUPPORTED;
    }
    known_ = false;
    shown_ = true;
    most_ = t_.capacity;
    queue_.launch({grid_, THREADS, 0, LAUNCH_COOPERATIVE}, run_tree_rounds<Val, Bound>, p_, t_, rounds, copied_);
    return queue_.launched("launching rounds");
}

/* Takes the data that a kernel has shown: the state, and the trail from copied_ on if it is near. */
template <class Val, class Bound>
void TypedTree<Val, Bound>::take_shown() {
    now_ = window_->now;
    most_ = now_.start;
    known_ = true;
    if (now_.start - copied_ > TREE_NEAR) return;
    for (int32_t from = copied_; copied_ < now_.start; copied_++) {
        host_.trail[copied_] = window_->change[copied_ - from];
        host_.last[host_.trail[copied_].side] = copied_;
    }
}

/* Finds the length and the state of the trail. */
template <class Val, class Bound>
gpuopt_status TypedTree<Val, Bound>::know() {
    if (known_) return GPUOPT_OK;
    queue_.launch({1, TREE_NEAR}, show_state<Val, Bound>, p_, t_, copied_);
    gpuopt_status status = queue_.launched("reading a trail");
    if (!status) status = queue_.wait("reading a trail");
    if (!status) take_shown();
    return status;
}

template <class Val, class Bound>
gpuopt_status TypedTree<Val, Bound>::set_piece(TreeSet set, const FewBounds &few) {
    queue_.launch({1, threads_for(set.count)}, record_set<Val, Bound>, p_, t_, set, few);
    return queue_.launched("setting bounds");
}

template <class Val, class Bound>
gpuopt_status TypedTree<Val, Bound>::set_bounds(gpuopt_memory_space where, int64_t count, const int32_t *col,
                                                const double *lb, const double *ub) {
    const bool is_host = where == GPUOPT_HOST;
    bool fits = 2 * count <= t_.capacity - most_;
    FewBounds few = {};
    gpuopt_status status = fits ? GPUOPT_OK : know();
    const TreeLevel before = now_; /* if it is needed */
    if (status) return status;
    if (is_host && col && count <= TREE_FEW) {
        few.count = static_cast<int>(count), few.has_lb = lb != nullptr, few.has_ub = ub != nullptr;
        for (int k = 0; k < few.count; k++) {
            few.col[k] = col[k];
            if (lb) few.lb[k] = lb[k];
            if (ub) few.ub[k] = ub[k];
        }
    }
    const int64_t piece = is_host && !few.count ? staging_.count : int64_t{1} << 30;
    for (int64_t k = 0; (k < count || k == 0) && !status; k += piece) {
        const int n = static_cast<int>(std::min(count - k, piece));
        TreeSet set = {static_cast<int>(col ? 0 : k),
                       n,
                       col == nullptr,
                       k == 0,
                       k + n == count,
                       col ? col + k : nullptr,
                       lb ? lb + k : nullptr,
                       ub ? ub + k : nullptr};
        if (is_host && !few.count) {
            auto stage = [&](auto *&array, auto *to) {
                if (array && !status) status = queue_.copy(to, array, sizeof *array * static_cast<size_t>(n));
                if (array) array = to;
            };
            stage(set.col, staging_.index);
            stage(set.lb, staging_.low);
            stage(set.ub, staging_.high);
        }
        if (!status) status = set_piece(set, few);
    }
    known_ = shown_ = false;
    most_ += 2 * count;
    if (!status && !fits) {
        status = know();
        if (!status && window_->full) {
            status = back_to(before);
            return status ? status
                          : gpuopt__refuse(queue_.context(), GPUOPT_ERROR_MEMORY, "gpuopt_propagator_set_bounds",
                                           "the trail is too short for these changes");
        }
    }
    return status || !is_host || few.count ? status : queue_.release_host(lb, ub, col);
}

/* ---- Levels ---- */

template <class Val, class Bound>
gpuopt_status TypedTree<Val, Bound>::back_to(const TreeLevel &level) {
    const int64_t changes = known_ ? now_.start : most_;
    queue_.launch({1, threads_for(changes - level.start)}, take_back<Val, Bound>, p_, t_, level);
    gpuopt_status status = queue_.launched("taking changes back");
    now_ = level;
    known_ = true;
    shown_ = false;
    most_ = level.start;
    forget_copy(level.start);
    return status;
}

template <class Val, class Bound>
gpuopt_status TypedTree<Val, Bound>::push(int64_t *start) {
    gpuopt_status status = know();
    if (status) return status;
    if (levels_ == t_.capacity)
        return gpuopt__refuse(queue_.context(), GPUOPT_ERROR_MEMORY, "gpuopt_propagator_push",
                              "there are as many levels as trail_capacity");
    host_.level[levels_++] = now_;
    if (start) *start = now_.start;
    return GPUOPT_OK;
}

template <class Val, class Bound>
gpuopt_status TypedTree<Val, Bound>::pop(int32_t levels) {
    if (levels > levels_)
        return gpuopt__refuse(queue_.context(), GPUOPT_ERROR_ARGUMENT, "gpuopt_propagator_pop",
                              "there are not so many levels");
    if (levels == 0) return GPUOPT_OK;
    return back_to(host_.level[levels_ -= levels]);
}

template <class Val, class Bound>
gpuopt_status TypedTree<Val, Bound>::keep() {
    queue_.launch({1, threads_for(most_)}, forget_changes<Bound>, t_);
    levels_ = 0;
    now_.start = 0; /* the other members stay valid, if they were */
    shown_ = false;
    most_ = 0;
    forget_copy(0);
    return queue_.launched("emptying a trail");
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_TREE_HANDLE_CUH */
