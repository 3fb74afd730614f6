/* SPDX-License-Identifier: MIT
 *
 * Propagation on the GPU: the layout of the rows for the kernels, and its memory.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_ROUNDS_LAYOUT_CUH
#define GPUOPT_CUDA_PROPAGATE_ROUNDS_LAYOUT_CUH

#include "upload.cuh"
#include "resident.cuh"

namespace {

/* The sizes of a model on the device. */
struct PropagatorShape {
    int64_t rows, cols, nonzeros;
    int64_t short_rows, slices, warp_rows, split_rows, segments, longest;
    int64_t entries;                                   /* nonzeros and the padding of slices */
    int64_t of_length[GPUOPT__PROPAGATOR_SEGMENT + 1]; /* rows of each length that are not split */
    bool marking;
    int64_t trail_capacity, spare_rows, spare_nonzeros; /* for a tree search */

    bool tree() const { return trail_capacity > 0 || spare_rows > 0; }
    int64_t units() const { return slices + warp_rows + split_rows; }
    int64_t slots() const { return WARP * slices + warp_rows + split_rows; }

    /* The length of row `index` in the order of decreasing length, among rows of low .. high entries. */
    int length_at(int64_t index, int low, int high) const {
        while (high > low && index >= of_length[high]) index -= of_length[high--];
        return high;
    }

    /* The most segments of split rows that a warp of the resident kernel has with this many blocks. */
    int64_t resident_segments(int64_t blocks) const {
        int64_t each = (segments_of(static_cast<int>(longest)) + WARPS - 1) / WARPS;
        return (split_rows + blocks - 1) / blocks * each;
    }

    /* The most entries that a warp of the resident kernel has with this many blocks. */
    int64_t resident_entries(int64_t blocks) const {
        int64_t parts = WARP / GROUPS, warps = blocks * WARPS,
                sum = resident_segments(blocks) * GPUOPT__PROPAGATOR_SEGMENT;
        for (int64_t first = 0; first < resident_items(static_cast<int>(warp_rows), static_cast<int>(slices));
             first += warps) {
            int64_t slice = first < warp_rows ? 0 : (first - warp_rows) / parts;
            int64_t row =
                first < warp_rows ? length_at(first, GPUOPT__PROPAGATOR_SHORT + 1, GPUOPT__PROPAGATOR_SEGMENT) : 0;
            int64_t part = first + warps > warp_rows && slice < slices
                               ? int64_t{GROUPS} * length_at(slice * WARP, 0, GPUOPT__PROPAGATOR_SHORT)
                               : 0;
            sum += row > part ? row : part;
        }
        return sum;
    }
};

/* Columns or rows in one piece of an array that is copied between host and device. */
int64_t staging_count(const PropagatorShape &s) {
    int64_t most = s.rows > s.cols ? s.rows : s.cols;
    return most < (1 << 18) ? most + 1 : 1 << 18;
}

/* The number of rows of each length. */
struct RowCounts {
    int64_t of_length[GPUOPT__PROPAGATOR_SEGMENT + 1], split, segments, longest;
};

RowCounts counts_of(const gpuopt_matrix &by_rows) {
    RowCounts counts = {};
    for (int32_t i = 0; i < by_rows.rows; i++) {
        int64_t length = by_rows.start[i + 1] - by_rows.start[i];
        counts.longest = std::max(counts.longest, length);
        if (length <= GPUOPT__PROPAGATOR_SEGMENT) counts.of_length[length]++;
        else counts.split++, counts.segments += segments_of(static_cast<int>(length));
    }
    return counts;
}

RowCounts counts_of(const Census &census, int64_t rows) {
    RowCounts counts = {};
    int64_t end = rows;
    counts.segments = census.segments;
    for (int c = CLASSES - 1; c >= 0; c--) {
        int64_t count = census.first[c] < 0 ? 0 : end - census.first[c];
        end -= count;
        if (c == CLASSES - 1) counts.split = count;
        else counts.of_length[length_of(c)] = count;
    }
    for (int length = 0; length <= GPUOPT__PROPAGATOR_SEGMENT; length++)
        if (counts.of_length[length]) counts.longest = length;
    if (counts.split) counts.longest = census.longest;
    return counts;
}

PropagatorShape shape_of(const gpuopt__propagator_model &model, const RowCounts &counts) {
    PropagatorShape s = {};
    s.rows = model.desc.matrix.rows, s.cols = model.desc.matrix.cols, s.nonzeros = model.nonzeros;
    s.trail_capacity = model.desc.trail_capacity;
    s.spare_rows = model.spare.rows, s.spare_nonzeros = model.spare.nonzeros;
    s.marking = model.desc.marking == GPUOPT_ON ||
                (model.desc.marking == GPUOPT_DEFAULT && (s.tree() || s.nonzeros >= 1 << 21));
    s.split_rows = counts.split, s.segments = counts.segments, s.longest = counts.longest;
    s.entries = s.nonzeros;
    for (int length = 0; length <= GPUOPT__PROPAGATOR_SEGMENT; length++) {
        int64_t count = s.of_length[length] = counts.of_length[length];
        if (length <= GPUOPT__PROPAGATOR_SHORT) s.short_rows += count, s.entries -= count * length;
        else s.warp_rows += count;
    }
    s.slices = (s.short_rows + WARP - 1) / WARP;
    for (int64_t slice = 0, placed = 0, length = GPUOPT__PROPAGATOR_SHORT; slice < s.slices;
         slice++) { /* as wide as its first row is long */
        while (placed + s.of_length[length] <= slice * WARP) placed += s.of_length[length--];
        s.entries += WARP * length;
    }
    return s;
}

template <class T>
void cut_array(gpuopt__arena &arena, T *&pointer, int64_t count) {
    pointer = static_cast<T *>(gpuopt__cut(&arena, count, sizeof(T)));
}

/* Cuts the arrays of the matrix, which forks share, from one block, or measures that block if arena.base is null. */
template <class Val, class Bound>
void cut_matrix(const PropagatorShape &s, gpuopt__arena &arena, Propagator<Val, Bound> &p, int *&slot_of) {
    auto cut = [&](auto *&pointer, int64_t count) { cut_array(arena, pointer, count); };
    cut(p.val, s.entries);
    cut(p.col, s.entries);
    cut(p.start, s.units() + 1);
    cut(p.length, s.slots());
    cut(p.row, s.slots());
    cut(slot_of, s.rows + s.spare_rows);
    p.col_start = nullptr, p.col_slot = nullptr;
    if (s.marking) {
        cut(p.col_start, s.cols + 1);
        cut(p.col_slot, s.nonzeros);
    }
    cut(p.segment_start, s.split_rows + 1);
    cut(p.segment_row, s.segments);
}

/* The same of all other arrays. */
template <class Val, class Bound>
void cut_state(const PropagatorShape &s, gpuopt__arena &arena, Propagator<Val, Bound> &p, char *&staging) {
    auto cut = [&](auto *&pointer, int64_t count) { cut_array(arena, pointer, count); };
    cut(p.state, 1);
    cut(p.sides, s.slots() + s.spare_rows);
    for (int i = 0; i < 2; i++) cut(p.bounds[i], 2 * (s.cols + 1));
    cut(p.kind, s.cols);
    for (int i = 0; i < 2; i++) cut(p.list[i], 2 * s.cols);
    cut(staging, staging_count(s) * 32);
    p.stamp = nullptr, p.marked = nullptr;
    if (s.marking) {
        cut(p.stamp, s.slots());
        cut(p.marked, s.slots());
    }
    cut(p.passed, s.slots());
    cut(p.passed_segment, s.segments);
    cut(p.partial, s.segments);
    cut(p.total, s.split_rows);
    cut(p.arrivals, s.split_rows);
    cut(p.arrived, 2 * MAX_BLOCKS);
}

/* ---- Filling the arrays ---- */

/* The kernels of a round only read most arrays; the kernels below write them. */
template <class T>
__device__ T *writable(const T *array) {
    return const_cast<T *>(array);
}

/* Gives every row its slot, and fills the arrays with one element for each slot. p.start and p.segment_start: the
 * lengths, to be added up. */
template <class Val, class Bound>
__global__ void __launch_bounds__(THREADS)
    place_rows(const __grid_constant__ Propagator<Val, Bound> p, const __grid_constant__ Raw raw,
               const int *sorted_rows, int *slot_of, int short_rows) {
    const int slots = p.first_split_slot() + p.split_rows;
    long long *start = writable(p.start);
    if (grid_thread() == 0) {
        start[p.slices + p.warp_rows + p.split_rows] = 0;
        writable(p.segment_start)[p.split_rows] = 0;
    }
    for (long long at = grid_thread(); at < slots; at += grid_threads()) {
        int slot = static_cast<int>(at), length = 0, row = -1, split = slot - p.first_split_slot();
        bool is_short = slot < p.first_warp_slot();
        double2 side = make_double2(-HUGE_VAL, HUGE_VAL);
        if (!is_short || slot < short_rows) {
            row = sorted_rows[is_short ? slot : slot - (p.first_warp_slot() - short_rows)];
            length = static_cast<int>(raw.row_start[row + 1] - raw.row_start[row]);
            if (raw.lhs) side.x = gpuopt__propagator_normal_low(&p.rules, raw.lhs[row]);
            if (raw.rhs) side.y = gpuopt__propagator_normal_high(&p.rules, raw.rhs[row]);
            slot_of[row] = slot;
        }
        writable(p.row)[slot] = row;
        writable(p.length)[slot] = length;
        p.sides[slot] = side;
        if (p.stamp) p.stamp[slot] = 0;
        if (is_short && slot % WARP == 0) start[slot / WARP] = WARP * length; /* as wide as its first row is long */
        if (!is_short) start[slot - (WARP - 1) * p.slices] = length;
        if (split >= 0) writable(p.segment_start)[split] = segments_of(length), p.arrivals[split] = 0;
    }
}

/* The padding of short rows, and the rows of segments. */
template <class Val, class Bound>
__global__ void __launch_bounds__(THREADS) place_padding(const __grid_constant__ Propagator<Val, Bound> p) {
    for (long long slot = grid_thread(); slot < p.first_warp_slot(); slot += grid_threads()) {
        long long at = p.start[slot / WARP], end = p.start[slot / WARP + 1];
        for (at += slot % WARP + WARP * p.length[slot]; at < end; at += WARP)
            writable(p.val)[at] = 1, writable(p.col)[at] = 2 * static_cast<unsigned>(p.cols);
    }
    for (int split = grid_warp(); split < p.split_rows; split += grid_warps())
        for (int k = p.segment_start[split] + static_cast<int>(threadIdx.x) % WARP; k < p.segment_start[split + 1];
             k += WARP)
            writable(p.segment_row)[k] = split;
}

template <class Val, class Bound>
__device__ void place_entry(const Propagator<Val, Bound> &p, const Raw &raw, int slot, long long place, double a,
                            unsigned col) {
    long long at = p.start_of(slot) + place * (slot < p.first_warp_slot() ? WARP : 1);
    writable(p.val)[at] = static_cast<Val>(a);
    writable(p.col)[at] = 2 * col + (raw.integer && raw.integer[col] ? 1 : 0);
}

/* For a matrix by rows. */
template <class Val, class Bound>
__global__ void __launch_bounds__(THREADS) place_entries(const __grid_constant__ Propagator<Val, Bound> p,
                                                         const __grid_constant__ Raw raw, const int *slot_of) {
    each_entry(raw.start, raw.lines, raw.nonzeros, [&](long long k, int row) {
        place_entry(p, raw, slot_of[row], k - raw.start[row], raw.value[k], raw.index[k]);
    });
}

/* For a matrix by columns with entries sorted by rows. row and from are in the order of the sorted entries, col is in
 * the caller's order. */
template <class Val, class Bound>
__global__ void __launch_bounds__(THREADS)
    place_sorted(const __grid_constant__ Propagator<Val, Bound> p, const __grid_constant__ Raw raw, const int *slot_of,
                 const unsigned *row, const int *from, const unsigned *col) {
    unsigned found = 0;
    for (long long k = grid_thread(); k < raw.nonzeros; k += grid_threads()) {
        unsigned source = static_cast<unsigned>(from[k]), j = col[source];
        int slot = slot_of[row[k]];
        place_entry(p, raw, slot, k - raw.row_start[row[k]], raw.value[source], j);
        if (p.col_slot) writable(p.col_slot)[source] = slot;
        if (k > 0 && row[k - 1] == row[k] && col[static_cast<unsigned>(from[k - 1])] == j) found = FOUND_DUPLICATE;
    }
    note(raw.census, found);
}

/* The slots of entries, to be sorted by columns. */
__global__ void __launch_bounds__(THREADS)
    number_slots(const __grid_constant__ Raw raw, const int *slot_of, int *slot) {
    each_entry(raw.start, raw.lines, raw.nonzeros, [&](long long k, int row) { slot[k] = slot_of[row]; });
}

/* For entries sorted by columns. col_slot may be null. */
__global__ void __launch_bounds__(THREADS)
    place_slots(const __grid_constant__ Raw raw, const unsigned *col, const int *slot, int *col_slot) {
    unsigned found = 0;
    for (long long k = grid_thread(); k < raw.nonzeros; k += grid_threads()) {
        if (col_slot) col_slot[k] = slot[k];
        if (k > 0 && col[k - 1] == col[k] && slot[k - 1] == slot[k]) found = FOUND_DUPLICATE;
    }
    note(raw.census, found);
}

template <class Val, class Bound>
__global__ void __launch_bounds__(THREADS)
    place_bounds(const __grid_constant__ Propagator<Val, Bound> p, const __grid_constant__ Raw raw) {
    for (long long j = grid_thread(); j <= p.cols; j += grid_threads()) {
        double lb = 0, ub = 0; /* of the column that pads short rows */
        if (j < p.cols) {
            int integer = raw.integer && raw.integer[j];
            lb = gpuopt__propagator_stored_lb(&p.rules, integer, raw.lb ? raw.lb[j] : 0);
            ub = gpuopt__propagator_stored_ub(&p.rules, integer, raw.ub ? raw.ub[j] : HUGE_VAL);
            p.kind[j] = static_cast<unsigned char>(gpuopt__propagator_kind(integer, lb, ub));
        }
        for (Bound *bounds : p.bounds)
            bounds[2 * j] = static_cast<Bound>(lb), bounds[2 * j + 1] = static_cast<Bound>(ub);
    }
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_ROUNDS_LAYOUT_CUH */
