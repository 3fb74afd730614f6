/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: what a batch brings there of its root, and where the blocks' arrays lie.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILDREN_ROOT_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILDREN_ROOT_CUH

#include "more_roots.cuh"

namespace {

/* ---- The model ---- */

/* The heads of slices, and the list of columns in none, from where the engine's columns (or rows) are. */
gpuopt_status child_make_slices(CudaChildren *c, int cols, const int64_t *col_start, int longest,
                                const SlicesCopy &host, ChildSlices *to) {
    int slices = 0, longs = 0;
    unsigned at = 0;
    std::fill_n(host.head, (cols + 31) / 32, ChildSlice{});
    std::fill_n(host.longs, (cols + 31) / 32, 0u);
    child_walk_slices(
        cols, col_start, longest,
        [&](int fours) {
            host.head[slices].begin = at, host.head[slices++].fours |= static_cast<unsigned>(fours);
            at += static_cast<unsigned>(fours);
        },
        [&](int j) {
            host.head[j / 32].fours |= CHILD_HAS_LONG;
            host.longs[j / 32] |= 1u << j % 32;
            host.of_long[longs++] = j;
        });
    to->count = slices, to->of_longs = longs;
    gpuopt_status status =
        c->copy(const_cast<ChildSlice *>(to->head.at), host.head, sizeof(ChildSlice) * static_cast<size_t>(slices));
    if (!status)
        status =
            c->copy(const_cast<unsigned *>(to->longs.at), host.longs, sizeof(unsigned) * static_cast<size_t>(slices));
    if (!status)
        status = c->copy(const_cast<int *>(to->of_long.at), host.of_long, sizeof(int) * static_cast<size_t>(longs));
    return status;
}

/* The columns in slices and, if the core of an inverse may be kept alone, the rows. */
gpuopt_status child_fill_slices(const gpuopt_simplex_children *b, CudaChildren *c) {
    const SimplexView &v = c->simplex->view;
    const gpuopt__simplex_pattern &pattern = c->simplex->pattern;
    ChildRoot &r = c->root;
    gpuopt_status status =
        child_make_slices(c, v.cols, pattern.col_start, child_longest(b, v.rows), c->copy_of_root.slices, &r.slices);
    if (!status && r.sum_banks > 0)
        status = child_make_slices(c, v.rows, pattern.row_start, CHILD_LONG, c->copy_of_root.row_slices, &r.row_slices);
    if (!status) status = c->copy(c->row_scale, b->lp->row_scale, sizeof(double) * static_cast<size_t>(v.rows));
    if (!status) status = c->copy(c->col_scale, b->lp->col_scale, sizeof(double) * static_cast<size_t>(v.cols));
    if (status) return status;
    c->launch({CudaSimplex::blocks(32 * int64_t{r.slices.count}), PRODUCT_THREADS}, fill_slices, v.rows, v.cols,
              v.col_start, v.col_row, v.col_val, c->row_scale, r.slices);
    if (r.sum_banks > 0)
        c->launch({CudaSimplex::blocks(32 * int64_t{r.row_slices.count}), PRODUCT_THREADS}, fill_slices, v.cols, v.rows,
                  v.row_start, v.row_col, v.row_val, c->col_scale, r.row_slices);
    return c->launched("slicing the columns");
}

/* The engine's model, whose size the root's arrays have from now on. */
gpuopt_status child_take_model(const gpuopt_simplex_children *b, CudaChildren *c) {
    const SimplexView &v = c->simplex->view;
    ChildRoot &r = c->root;
    const int64_t models = c->simplex->models;
    r.rows = v.rows, r.cols = v.cols, r.both = v.rows + v.cols;
    r.banks = child_banks(b, r.rows);
    r.sum_banks = child_tall_rows(b) > 0 ? child_sum_banks(b, r.rows, r.cols) : 0;
    c->known = false;
    c->models = -1;
    c->made.count = 0;
    gpuopt_status status = child_fill_slices(b, c);
    if (!status) c->models = models;
    return status;
}

/* ---- The inverse ---- */

/* How many entries a row of the inverse, or of its core, has on average. */
gpuopt_status child_count_entries(CudaChildren *c, double *entries) {
    unsigned long long nonzeros = 0;
    gpuopt_status status = c->copy(&nonzeros, c->nonzeros, sizeof nonzeros);
    if (!status) status = c->wait("counting the entries of the inverse");
    *entries = static_cast<double>(nonzeros) / std::max(c->root.core.size, 1);
    return status;
}

/* The product of the inverse with its transpose, if it pays. */
gpuopt_status child_make_gram(const gpuopt_simplex_children *b, CudaChildren *c) {
    ChildRoot &r = c->root;
    double entries = 0;
    r.inverse.gram = nullptr, r.inverse.products = 0;
    if (!child_keeps_products(b) || r.core.compact) return GPUOPT_OK;
    gpuopt_status status = child_count_entries(c, &entries);
    const double rows = r.rows;
    c->entries = entries;
    if (status || !(entries * static_cast<double>(child_rounds(b)) * +CHILD_PRODUCTS_PAY >= rows * rows)) return status;
    status = c->clear(c->gram, 0, sizeof(double) * static_cast<size_t>(r.inverse.pitch) * static_cast<size_t>(r.rows));
    if (status) return status;
    rank_update(c->simplex->rank, *c, r.rows, r.rows, r.rows, r.inverse.columns.at, r.inverse.pitch,
                r.inverse.columns.at, r.inverse.pitch, c->gram, r.inverse.pitch);
    r.inverse.gram = c->gram, r.inverse.products = child_products(b);
    return c->launched("multiplying the inverse with its transpose");
}

/* Which rows and positions are the core of the inverse. It is kept alone if it is small, for now, and those of the
 * other roots are. */
gpuopt_status child_find_core(const gpuopt_simplex_children *b, CudaChildren *c) {
    ChildRoot &r = c->root;
    const RootCopy &host = c->copy_of_root;
    r.core.compact = false, r.core.size = r.rows;
    if (r.sum_banks == 0 || r.rows == 0) return GPUOPT_OK;
    int core = 0;
    std::fill_n(host.place_of_row, r.rows, 0);
    std::fill_n(host.place_of_column, r.cols, 0);
    for (int p = 0; p < r.rows; p++) {
        const int v = host.head[p];
        if (v < r.cols) {
            host.core_position[core] = p, host.place_of_position[p] = core;
            host.place_of_column[v] = core++;
        } else host.place_of_position[p] = r.cols - 1 - v, host.place_of_row[v - r.cols] = -1 - p;
    }
    c->most_core = child_most_core(b, host.status, core);
    if (2 * std::max(core, c->most_core) > r.rows) return GPUOPT_OK;
    r.core.compact = true, r.core.size = 0;
    for (int i = 0; i < r.rows; i++)
        if (host.place_of_row[i] == 0) host.core_row[r.core.size] = i, host.place_of_row[i] = r.core.size++;
    auto put = [&](int *to, const int *from, int count) {
        return c->copy(to, from, sizeof *to * static_cast<size_t>(count));
    };
    gpuopt_status status = put(c->core_row, host.core_row, core);
    if (!status) status = put(c->core_position, host.core_position, core);
    if (!status) status = put(c->place_of_row, host.place_of_row, r.rows);
    if (!status) status = put(c->place_of_position, host.place_of_position, r.rows);
    if (!status) status = put(c->place_of_column, host.place_of_column, r.cols);
    return status;
}

/* Where the lines of the inverse and the arrays of the blocks lie, for children with a limit on iterations. There is
 * memory for as many blocks as if there were no core; with it there may be more. */
void child_lay_out(const gpuopt_simplex_children *b, CudaChildren *c) {
    ChildRoot &r = c->root;
    const int most = b->desc.roots > 0 ? INT32_MAX : b->job.most; /* roots stay where they are for any `most` */
    const int iterations = b->desc.on_pivot_limit == GPUOPT_ON_PIVOT_LIMIT_END ? std::min(b->desc.pivots, most) : most;
    const int64_t all = r.rows + r.rows % 2, reach = std::max(r.core.size, c->most_core) + int64_t{iterations};
    r.core.reach = static_cast<int>(std::min(all, reach + reach % 2));
    r.inverse.pitch = r.core.compact ? simplex_padded(r.core.reach) : c->simplex->view.pitch;
    r.inverse.v_pitch = child_v_pitch(b, r.inverse.pitch);
    gpuopt__arena arena = {c->states, 0};
    simplex_cut(&arena, &c->states, c->state_bytes * c->state_blocks); /* one array again, before it is cut again */
    arena.used = 0;
    child_cut_state(
        &arena, b,
        {r.core.compact ? r.core.reach : b->shape->rows, r.inverse.pitch, r.core.compact ? 0 : child_products(b)},
        &c->state);
    c->block_bytes = static_cast<int64_t>(arena.used);
    c->blocks =
        static_cast<int>(std::min(c->state_bytes * c->state_blocks / c->block_bytes, int64_t{child_most_blocks(b)}));
    child_lay_out_roots(b, c);
}

/* The inverse by columns and rows, and the weights of its rows. A compact one has both where the other is by rows
 * alone. */
void child_bring_inverse(const gpuopt_simplex_children *b, CudaChildren *c) {
    ChildRoot &r = c->root;
    const double *all = c->simplex->view.matrix;
    const bool norms = child_is_steepest(b);
    float *const singles = norms ? c->singles : nullptr;
    auto tiles = [](int length) { return static_cast<unsigned>((length + TILE - 1) / TILE); };
    if (r.core.compact) {
        double *const columns = c->lines + r.core.size * r.inverse.pitch;
        r.inverse.columns = columns;
        if (r.core.size > 0)
            c->launch({dim3(tiles(r.core.reach), tiles(r.core.reach)), TILE * TILE_ROWS}, take_core, r, all,
                      c->simplex->view.pitch, c->lines, columns, singles);
        c->launch({CudaSimplex::blocks(32 * int64_t{r.rows}), PRODUCT_THREADS}, weigh_logicals, r, c->lines, norms,
                  c->weight);
    } else {
        r.inverse.columns = all;
        c->launch({dim3(tiles(r.rows), tiles(r.rows)), TILE * TILE_ROWS}, transpose_inverse, r.rows, r.inverse.pitch,
                  all, c->lines, singles);
    }
    if (r.core.size > 0)
        c->launch({CudaSimplex::blocks(32 * int64_t{r.core.size}), PRODUCT_THREADS}, weigh_lines, r.core.size,
                  r.inverse.pitch, c->lines, norms, r.core.compact ? c->core_position : nullptr, c->weight,
                  c->nonzeros);
}

/* Completes a new root's inverse, whose core is present, unless the rest has more entries than must be read to
 * compute it. */
gpuopt_status child_judge_core(const gpuopt_simplex_children *b, CudaChildren *c) {
    ChildRoot &r = c->root;
    double entries = 0;
    gpuopt_status status = child_count_entries(c, &entries);
    const double outside = entries * (r.rows - r.core.size);
    if (status || outside > +CHILD_CORE_PAYS * static_cast<double>(b->lp->nonzeros + r.rows)) return status;
    r.core.compact = false, r.core.size = r.rows;
    status = c->clear(c->nonzeros, 0, sizeof *c->nonzeros);
    if (status) return status;
    child_lay_out(b, c);
    child_bring_inverse(b, c);
    return GPUOPT_OK;
}

/* ---- All of it ---- */

/* Whether the device has the root as it is now. */
bool child_root_known(const CudaChildren *c, const gpuopt__simplex_root_point &p) {
    const RootCopy &old = c->copy_of_root;
    const auto both = static_cast<size_t>(c->root.both), rows = static_cast<size_t>(c->root.rows);
    auto same = [](const auto *a, const auto *b, size_t count) { return memcmp(a, b, sizeof *a * count) == 0; };
    return c->known && same(old.status, p.status, both) && same(old.head, p.head, rows) &&
           same(old.lower, p.lower, both) && same(old.upper, p.upper, both) && same(old.cost, p.cost, both);
}

/* Brings the root to the device: its model and point if they are new, and the inverse. */
gpuopt_status child_bring_root(gpuopt_simplex_children *b, CudaChildren *c) {
    RootCopy &old = c->copy_of_root;
    ChildRoot &r = c->root;
    gpuopt__simplex_root_point p = {};
    gpuopt_status status = c->models == c->simplex->models ? GPUOPT_OK : child_take_model(b, c);
    if (status) return status;
    const auto both = static_cast<size_t>(r.both), rows = static_cast<size_t>(r.rows);
    p.x = old.x, p.x_low = old.x_low, p.reduced = old.reduced, p.y = old.y, p.y_low = old.y_low;
    status = b->find_root(b, &p);
    if (status) return status;
    r.primal_scale = p.primal_scale;
    r.cost_scale = p.cost_scale;
    r.objective.cutoff = p.cutoff;
    r.objective.limit = p.limit;
    c->simplex->apply();
    const bool known = child_root_known(c, p);
    if (!known) {
        c->known = false;
        status = b->solve_root(b, &p);
        if (status) return status;
        if (c->made.count > 0 && memcmp(old.cost, p.cost, sizeof(double) * both) != 0) c->made.count = 0;
        memcpy(old.status, p.status, both);
        memcpy(old.head, p.head, sizeof(int) * rows);
        memcpy(old.lower, p.lower, sizeof(double) * both);
        memcpy(old.upper, p.upper, sizeof(double) * both);
        memcpy(old.cost, p.cost, sizeof(double) * both);
        r.largest_cost = 0;
        for (size_t j = 0; j < both; j++) {
            r.largest_cost = gpuopt__max(r.largest_cost, fabs(old.cost[j]));
            old.state[j] = static_cast<uint8_t>(p.status[j] == GPUOPT_VARIABLE_BASIC      ? +CHILD_BASIC
                                                : p.status[j] == GPUOPT_VARIABLE_AT_UPPER ? +CHILD_UPPER
                                                                                          : 0);
        }
        const double *const from[] = {old.lower, old.upper, old.cost, old.x, old.reduced};
        for (int k = 0; k < 5 && !status; k++) status = c->copy(c->model[k], from[k], sizeof(double) * both);
        if (!status) status = c->copy(c->root_state, old.state, both);
        if (!status) status = c->copy(c->head, old.head, sizeof(int) * rows);
        if (!status) status = child_find_core(b, c);
        if (!status) status = c->clear(c->nonzeros, 0, sizeof *c->nonzeros);
        if (status) return status;
    }
    child_lay_out(b, c);
    if (r.rows == 0) return c->known = true, GPUOPT_OK;
    child_bring_inverse(b, c);
    if (!known && r.core.compact) status = child_judge_core(b, c);
    if (!status) status = c->launched("bringing the root");
    if (!status && !known) status = child_make_gram(b, c);
    c->known = !status;
    return status;
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILDREN_ROOT_CUH */
