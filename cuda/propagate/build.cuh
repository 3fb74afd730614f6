/* SPDX-License-Identifier: MIT
 *
 * Propagation on the GPU: the layout of the rows for the kernels, and the memory that it takes.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_BUILD_CUH
#define GPUOPT_CUDA_PROPAGATE_BUILD_CUH

#include "../../gpuopt_impl/common/matrix.h"
#include "../common/context.cuh"
#include "resident.cuh"

namespace {

/* The sizes of a model on the device. */
struct PropagatorShape {
    int64_t rows, cols, nonzeros;
    int64_t short_rows, slices, warp_rows, split_rows, segments, longest;
    int64_t entries;                                   /* nonzeros and the padding of slices */
    int64_t of_length[GPUOPT__PROPAGATOR_SEGMENT + 1]; /* rows of each length that is not split */
    bool marking;

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

PropagatorShape shape_of(const gpuopt__propagator_model &model) {
    const gpuopt_matrix &a = model.desc.matrix;
    PropagatorShape s = {};
    s.rows = a.rows, s.cols = a.cols, s.nonzeros = model.nonzeros;
    s.marking = model.desc.marking == GPUOPT_ON || (model.desc.marking == GPUOPT_DEFAULT && s.nonzeros >= 1 << 21);
    for (int32_t i = 0; i < a.rows; i++) {
        int64_t length = a.start[i + 1] - a.start[i];
        if (length > s.longest) s.longest = length;
        if (length <= GPUOPT__PROPAGATOR_SEGMENT) s.of_length[length]++;
        if (length <= GPUOPT__PROPAGATOR_SHORT) {
            s.short_rows++;
            continue;
        }
        s.entries += length;
        if (length <= GPUOPT__PROPAGATOR_SEGMENT) {
            s.warp_rows++;
        } else {
            s.split_rows++;
            s.segments += (length + GPUOPT__PROPAGATOR_SEGMENT - 1) / GPUOPT__PROPAGATOR_SEGMENT;
        }
    }
    s.slices = (s.short_rows + WARP - 1) / WARP;
    for (int64_t slice = 0, placed = 0, length = GPUOPT__PROPAGATOR_SHORT; slice < s.slices;
         slice++) { /* as wide as its first row is long */
        while (placed + s.of_length[length] <= slice * WARP) placed += s.of_length[length--];
        s.entries += WARP * length;
    }
    return s;
}

/* Cuts all device arrays from one block, or measures that block if arena.base is null. */
template <class Val, class Bound>
void cut_device(const PropagatorShape &s, gpuopt__arena &arena, Propagator<Val, Bound> &p, int *&slot_of,
                char *&staging) {
    auto cut = [&](auto *&pointer, int64_t count) {
        using T = typename std::remove_reference<decltype(*pointer)>::type;
        pointer = static_cast<T *>(gpuopt__cut(&arena, count, sizeof(T)));
    };
    cut(p.state, 1);
    cut(p.val, s.entries);
    cut(p.col, s.entries);
    cut(p.start, s.units() + 1);
    cut(p.length, s.slots());
    cut(p.row, s.slots());
    cut(p.sides, s.slots());
    for (int i = 0; i < 2; i++) cut(p.bounds[i], 2 * (s.cols + 1));
    cut(p.kind, s.cols);
    for (int i = 0; i < 2; i++) cut(p.list[i], 2 * s.cols);
    cut(slot_of, s.rows);
    cut(staging, staging_count(s) * 32);
    p.col_start = nullptr, p.col_slot = nullptr, p.stamp = nullptr, p.marked = nullptr;
    if (s.marking) {
        cut(p.col_start, s.cols + 1);
        cut(p.col_slot, s.nonzeros);
        cut(p.stamp, s.slots());
        cut(p.marked, s.slots());
    }
    cut(p.passed, s.slots());
    cut(p.passed_segment, s.segments);
    cut(p.partial, s.segments);
    cut(p.total, s.split_rows);
    cut(p.segment_start, s.split_rows + 1);
    cut(p.segment_row, s.segments);
    cut(p.arrivals, s.split_rows);
    cut(p.arrived, 2 * MAX_BLOCKS);
}

/* The arrays in host memory from which _create fills those on the device. */
template <class Val, class Bound>
struct Draft {
    Val *val;
    unsigned *col;
    long long *start;
    int *length, *row, *slot_of;
    double2 *sides;
    Bound *bounds;
    unsigned char *kind;
    int *segment_start, *segment_row;
    long long *col_start; /* marking only */
    int *col_slot;

    void cut(const PropagatorShape &s, gpuopt__arena &arena) {
        auto piece = [&](auto *&pointer, int64_t count) {
            using T = typename std::remove_reference<decltype(*pointer)>::type;
            pointer = static_cast<T *>(gpuopt__cut(&arena, count, sizeof(T)));
        };
        piece(val, s.entries);
        piece(col, s.entries);
        piece(start, s.units() + 1);
        piece(length, s.slots());
        piece(row, s.slots());
        piece(slot_of, s.rows);
        piece(sides, s.slots());
        piece(bounds, 2 * (s.cols + 1));
        piece(kind, s.cols);
        piece(segment_start, s.split_rows + 1);
        piece(segment_row, s.segments);
        piece(col_start, s.marking ? s.cols + 1 : 0);
        piece(col_slot, s.marking ? s.nonzeros : 0);
    }

    /* Gives every row its slot: short rows by decreasing length, then warp rows by decreasing length, then split rows.
     * So warps that run together have about the same work. Rows of equal length keep their order. */
    void place_rows(const PropagatorShape &s, const gpuopt_matrix &a) {
        int64_t next[GPUOPT__PROPAGATOR_SEGMENT + 1], split = WARP * s.slices + s.warp_rows, slot = 0;
        for (int n = GPUOPT__PROPAGATOR_SHORT; n >= 0; n--) next[n] = slot, slot += s.of_length[n];
        slot = WARP * s.slices;
        for (int n = GPUOPT__PROPAGATOR_SEGMENT; n > GPUOPT__PROPAGATOR_SHORT; n--)
            next[n] = slot, slot += s.of_length[n];
        for (int64_t k = 0; k < s.slots(); k++)
            row[k] = -1, length[k] = 0, sides[k] = make_double2(-HUGE_VAL, HUGE_VAL);
        for (int32_t i = 0; i < a.rows; i++) {
            int64_t n = a.start[i + 1] - a.start[i], at = n <= GPUOPT__PROPAGATOR_SEGMENT ? next[n]++ : split++;
            slot_of[i] = static_cast<int>(at);
            row[at] = i;
            length[at] = static_cast<int>(n);
        }
    }

    static unsigned column(const gpuopt_propagator_desc &desc, int32_t j) {
        return 2 * static_cast<unsigned>(j) + (desc.integer && desc.integer[j] ? 1 : 0);
    }

    void fill(const PropagatorShape &s, const gpuopt__propagator_model &model) {
        const gpuopt_propagator_desc &desc = model.desc;
        const gpuopt_matrix &a = desc.matrix;
        place_rows(s, a);
        int64_t at = 0, shorts = WARP * s.slices;
        for (int64_t slice = 0; slice < s.slices; slice++) {
            start[slice] = at;
            int width = length[WARP * slice];
            for (int64_t k = at; k < at + int64_t{WARP} * width; k++)
                val[k] = 1, col[k] = 2 * static_cast<unsigned>(a.cols);
            for (int lane = 0; lane < WARP; lane++) {
                int64_t slot = WARP * slice + lane, from = row[slot] >= 0 ? a.start[row[slot]] : 0;
                for (int k = 0; k < length[slot]; k++) {
                    val[at + WARP * k + lane] = static_cast<Val>(a.value[from + k]);
                    col[at + WARP * k + lane] = column(desc, a.index[from + k]);
                }
            }
            at += int64_t{WARP} * width;
        }
        for (int64_t slot = shorts; slot < s.slots(); slot++) {
            start[s.slices + slot - shorts] = at;
            for (int64_t k = a.start[row[slot]]; k < a.start[row[slot] + 1]; k++, at++)
                val[at] = static_cast<Val>(a.value[k]), col[at] = column(desc, a.index[k]);
        }
        start[s.units()] = at;
        for (int64_t k = 0; k < s.slots(); k++)
            if (row[k] >= 0) {
                if (desc.lhs) sides[k].x = gpuopt__propagator_normal_low(&model.rules, desc.lhs[row[k]]);
                if (desc.rhs) sides[k].y = gpuopt__propagator_normal_high(&model.rules, desc.rhs[row[k]]);
            }
        for (int32_t j = 0; j < a.cols; j++) {
            int integer = desc.integer && desc.integer[j];
            double lb = gpuopt__propagator_stored_lb(&model.rules, integer, desc.lb[j]),
                   ub = gpuopt__propagator_stored_ub(&model.rules, integer, desc.ub[j]);
            bounds[2 * static_cast<int64_t>(j)] = static_cast<Bound>(lb);
            bounds[2 * static_cast<int64_t>(j) + 1] = static_cast<Bound>(ub);
            kind[j] = static_cast<unsigned char>(gpuopt__propagator_kind(integer, lb, ub));
        }
        bounds[2 * static_cast<int64_t>(a.cols)] = bounds[2 * static_cast<int64_t>(a.cols) + 1] = 0;
        segment_start[0] = 0;
        for (int64_t split = 0; split < s.split_rows; split++) {
            int segments =
                (length[shorts + s.warp_rows + split] + GPUOPT__PROPAGATOR_SEGMENT - 1) / GPUOPT__PROPAGATOR_SEGMENT;
            segment_start[split + 1] = segment_start[split] + segments;
            for (int k = segment_start[split]; k < segment_start[split + 1]; k++)
                segment_row[k] = static_cast<int>(split);
        }
        if (!s.marking) return;
        gpuopt__transpose(a.rows, a.cols, a.start, a.index, nullptr, reinterpret_cast<int64_t *>(col_start), col_slot,
                          nullptr, nullptr);
        for (int64_t k = 0; k < s.nonzeros; k++) col_slot[k] = slot_of[col_slot[k]];
    }
};

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_BUILD_CUH */
