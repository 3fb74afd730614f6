/* SPDX-License-Identifier: MIT
 *
 * Children of several bases on the GPU: how a batch brings the roots besides the handle there. As many at a time as fit
 * into the memory for them have inverses, points and weights of their own; a run takes their children, and then the
 * next ones.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILDREN_MORE_ROOTS_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILDREN_MORE_ROOTS_CUH

#include "memory.cuh"

namespace {

/* The most rows that the core of a root may get, where the handle's has so many and is kept alone. If many variables
 * enter, the pivots begin at the slack basis (child_is_far), and only columns enter. Else they begin at the
 * handle's, slacks may enter, too, and each position that is taken may join the core. */
int child_most_core(const gpuopt_simplex_children *b, const uint8_t *of_handle, int core) {
    const int both = b->lp->rows + b->lp->cols;
    int most = 0;
    for (int k = 0; k < b->roots.count; k++) {
        const uint8_t *status = b->roots.status + int64_t{both} * k;
        int columns = 0, entering = 0;
        for (int v = 0; v < both; v++) {
            if (status[v] != GPUOPT_VARIABLE_BASIC) continue;
            columns += v < b->lp->cols;
            entering += of_handle[v] != GPUOPT_VARIABLE_BASIC;
        }
        most = std::max(most, std::max(columns, child_is_far(entering, columns) ? 0 : core + entering));
    }
    return most;
}

/* Where the arrays of the roots lie, after the handle's have been laid out. */
void child_lay_out_roots(const gpuopt_simplex_children *b, CudaChildren *c) {
    const ChildRoot &r = c->root;
    if (b->desc.roots == 0) return;
    const LinesCapacity capacity = {r.core.compact ? std::max(c->most_core, 1) : b->shape->rows, r.inverse.pitch,
                                    r.core.compact ? 0 : child_products(b)};
    if (c->laid_out.lines == capacity.lines && c->laid_out.pitch == capacity.pitch &&
        c->laid_out.products == capacity.products)
        return;
    c->laid_out = capacity;
    c->made.count = 0;
    gpuopt__arena arena = {c->root_memory, 0};
    simplex_cut(&arena, &c->root_memory, c->root_bytes); /* one array again, before it is cut again */
    arena.used = 0;
    c->places = child_roots_that_fit(b, capacity, c->root_bytes);
    child_cut_roots(&arena, b, capacity, c->places, &c->roots);
}

/* Whether G of each root pays: as for the handle, by the entries of the handle's inverse. */
bool child_roots_have_gram(const gpuopt_simplex_children *b, const CudaChildren *c) {
    const double rows = c->root.rows, each = static_cast<double>(b->copies) / (+CHILD_PROCESSORS * b->roots.count);
    return !c->root.core.compact && child_products(b) > 0 && c->entries * each * +CHILD_PRODUCTS_PAY >= rows * rows;
}

/* Copies to the device where the arrays of `count` roots lie. */
gpuopt_status child_put_views(CudaChildren *c, int count, bool gram) {
    const RootArrays &a = c->roots;
    const ChildRoot &handle = c->root;
    ChildRoot *const views = c->copy_of_root.views;
    for (int k = 0; k < count; k++) {
        const int64_t rows = handle.rows * int64_t{k}, cols = handle.cols * int64_t{k}, both = rows + cols,
                      lines = a.line_entries * k;
        ChildRoot &r = views[k] = handle;
        r.inverse.lines = a.lines + lines, r.inverse.columns = a.columns + lines;
        if (handle.inverse.singles.at) r.inverse.singles = a.singles + lines;
        r.inverse.gram = gram ? a.gram + lines : nullptr;
        if (!gram) r.inverse.products = 0;
        r.start.lower = a.lower + both, r.start.upper = a.upper + both, r.start.x = a.x + both, r.start.d = a.d + both;
        r.start.state = a.state + both;
        r.start.weight = a.weight + rows;
        r.start.head = a.head + rows;
        r.core.row = a.core_row + rows, r.core.position = a.core_position + rows;
        r.core.place_of_row = a.place_of_row + rows, r.core.place_of_position = a.place_of_position + rows;
        r.core.place_of_column = a.place_of_column + cols;
    }
    return c->copy(c->views, views, sizeof(ChildRoot) * static_cast<size_t>(count));
}

/* G of each root that has been made. */
gpuopt_status child_make_grams(CudaChildren *c, int count) {
    const ChildRoot &r = c->root;
    const RootArrays &a = c->roots;
    gpuopt_status status = c->clear(a.gram, 0, sizeof(double) * static_cast<size_t>(a.line_entries * count));
    for (int k = 0; k < count && !status; k++) {
        const double *const columns = a.columns + a.line_entries * k;
        rank_update(c->simplex->rank, *c, r.rows, r.rows, r.rows, columns, r.inverse.pitch, columns, r.inverse.pitch,
                    a.gram + a.line_entries * k, r.inverse.pitch);
    }
    return status ? status : c->launched("multiplying the roots' inverses with their transposes");
}

size_t child_shared_bytes(const ChildRoot &r) {
    return std::max(child_row_bytes(r.rows, r.banks), r.core.compact ? child_row_bytes(r.cols, r.sum_banks) : 0);
}

/* Makes roots first, ..., first + count - 1, which then are at places 0, 1, ..., unless they are there already.
 * *singular: one whose basis is, or -1. */
gpuopt_status child_make_roots(const gpuopt_simplex_children *b, CudaChildren *c, int first, int count, int *singular) {
    const gpuopt__simplex_roots &from = b->roots;
    const ChildRoot &r = c->root;
    const RootArrays &to = c->roots;
    const auto both = static_cast<size_t>(r.both), entries = both * static_cast<size_t>(count);
    int *const fault = c->copy_of_root.fault;
    const bool gram = child_roots_have_gram(b, c);
    RootsMade &made = c->made;
    *singular = -1;
    gpuopt_status status = child_put_views(c, count, gram);
    if (made.first == first && made.count == count && made.version == from.version && made.pitch == r.inverse.pitch &&
        made.reach == r.core.reach && made.compact == r.core.compact && made.gram == gram)
        return status;
    made.count = 0;
    if (!status) status = c->copy(to.wanted, from.status + first * both, entries);
    if (!status) status = c->copy(to.lower, from.lower + first * both, sizeof(double) * entries);
    if (!status) status = c->copy(to.upper, from.upper + first * both, sizeof(double) * entries);
    if (status) return status;
    const ChildRootsJob job = {count, c->views, to.wanted, to.core, to.fault};
    c->launch({std::min(c->blocks, count), c->threads, child_shared_bytes(r)},
              c->threads > CHILD_FEW_THREADS ? make_roots<CHILD_THREADS> : make_roots<CHILD_FEW_THREADS>, r, job,
              c->state, c->block_bytes, int{b->desc.pivots});
    status = c->launched("making roots");
    if (!status) status = c->copy(fault, to.fault, sizeof(int) * static_cast<size_t>(count));
    if (!status) status = c->wait("making roots");
    for (int k = 0; k < count && !status && *singular < 0; k++)
        if (fault[k] >= 0) *singular = first + k;
    if (status || *singular >= 0) return status;
    if (gram) status = child_make_grams(c, count);
    if (!status) made = {first, count, from.version, r.inverse.pitch, r.core.reach, r.core.compact, gram};
    return status;
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILDREN_MORE_ROOTS_CUH */
