/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: what a batch keeps, where it lies, and the shape of the launch.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILDREN_MEMORY_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILDREN_MEMORY_CUH

#include <algorithm>

#include "kernels.cuh"

namespace {

/* Calls slice(fours) for each slice, and longer(column) for each column that is in none: those with more entries than
 * `longest`. */
template <class Slice, class Longer>
void child_walk_slices(int cols, const int64_t *col_start, int longest, Slice slice, Longer longer) {
    for (int first = 0; first < cols; first += 32) {
        int64_t most = 0;
        for (int j = first; j < cols && j < first + 32; j++) {
            const int64_t length = col_start[j + 1] - col_start[j];
            if (length > longest) longer(j);
            else most = std::max(most, length);
        }
        slice(static_cast<int>((most + 3) / 4));
    }
}

/* Arrays that are copied together: a block in host memory, and one on the device, where each begins at a multiple of 8
 * bytes. */
struct Parcel {
    char *here = nullptr, *there = nullptr;
    size_t bytes = 0;

    /* The device's place for an array. */
    template <class Entry>
    Entry *add(size_t count) {
        char *const place = there + bytes;
        bytes += (sizeof(Entry) * count + 7) / 8 * 8;
        return reinterpret_cast<Entry *>(place);
    }
    /* The same; the caller's place gets the array. */
    template <class Entry>
    Entry *put(const Entry *from, size_t count) {
        Entry *const place = add<Entry>(count);
        if (count > 0) memcpy(on_host(place), from, sizeof(Entry) * count);
        return place;
    }
    /* The array in host memory. */
    template <class Entry>
    Entry *on_host(const Entry *place) const {
        return reinterpret_cast<Entry *>(here + (reinterpret_cast<const char *>(place) - there));
    }
};
/* Bytes of a call's input, and of its results besides those that the descriptor requests. */
int64_t child_given_bytes(const gpuopt_simplex_children_desc &desc) {
    const int64_t starts = 2 * (desc.batch_size + int64_t{1}), of_copies = 2 * (desc.batch_size / 2 + int64_t{2}),
                  of_changes = 4 * desc.changes + 4, of_roots = desc.roots / 2 + int64_t{2};
    return int64_t{8} * (starts + of_copies + of_changes + of_roots);
}
int64_t child_found_bytes(const gpuopt_simplex_children_desc &desc) { return int64_t{8} * 4 * desc.batch_size; }

/* Slices of columns or rows, as the CPU makes them. */
struct SlicesCopy {
    ChildSlice *head; /* [slices] */
    unsigned *longs;  /* [slices] */
    int *of_long;     /* [columns] */
};
/* The capacity of slices: entries, and columns that are in none. */
struct SlicesCapacity {
    int64_t entries = 0, longs = 0;
};

/* Host arrays: what the device has of the root, to compare with the root, and what is made on the
 * CPU for the device. */
struct RootCopy {
    double *x, *x_low, *reduced, *lower, *upper, *cost; /* [both] */
    double *y, *y_low;                                  /* [rows] */
    uint8_t *status, *state;                            /* [both] */
    int *head;                                          /* [rows] */
    SlicesCopy slices, row_slices;
    int *core_row, *core_position, *place_of_row, *place_of_position; /* [rows], as place_of_column [cols] */
    int *place_of_column;                                             /* see child/core.cuh */
    double *distance;                                                 /* [copies] see child_order() */
    ChildRoot *views;                                                 /* [roots], as the next ones */
    int *fault;
    char *given, *found; /* what travels: child_given_bytes() and so on */
};

/* What a block has for lines of an inverse, or of its core, from one of which it is so far to the next. */
struct LinesCapacity {
    int64_t lines, pitch, products; /* the latter: lines of V that have products behind them */
};
/* Arrays of the roots that are on the device, one root after the other: of each as in ChildRoot and ChildRootsJob. */
struct RootArrays {
    double *lines, *columns, *gram, *lower, *upper, *x, *d, *weight;
    float *singles;
    uint8_t *state, *wanted;
    int *head, *core_row, *core_position, *place_of_row, *place_of_position, *place_of_column, *core, *fault;
    int64_t line_entries; /* of lines, and of columns and singles, of one root */
};
/* Which roots have been made, and how. */
struct RootsMade {
    int first = 0, count = 0;
    int64_t version = 0, pitch = 0;
    int reach = 0;
    bool compact = false, gram = false;
};

struct CudaChildren : Queue {
    explicit CudaChildren(gpuopt_context *context) : Queue(context) {}

    CudaSimplex *simplex = nullptr;
    ChildRoot root = {};
    ChildJob job = {};
    Parcel given, found;
    RootCopy copy_of_root = {};
    double *lines = nullptr, *weight = nullptr, *gram = nullptr;
    float *singles = nullptr;
    unsigned long long *nonzeros = nullptr; /* of the root's inverse */
    double *model[5] = {};                  /* [both] lower, upper, cost, x, d */
    uint8_t *root_state = nullptr;
    int *head = nullptr;
    double *row_scale = nullptr, *col_scale = nullptr;
    void *device = nullptr;
    int threads = 0;        /* of a block */
    char *states = nullptr; /* of the blocks; bytes of each, and their number: */
    int64_t state_bytes = 0;
    int state_blocks = 0;
    ChildState state = {}; /* of the first block, laid out for the root; bytes of each, and blocks: */
    int64_t block_bytes = 0;
    int blocks = 0;
    SlicesCapacity of_columns, of_rows;
    int *core_row = nullptr, *core_position = nullptr, *place_of_row = nullptr, *place_of_position = nullptr,
        *place_of_column = nullptr;
    char *root_memory = nullptr; /* of the roots besides the handle; bytes: */
    int64_t root_bytes = 0;
    ChildRoot *views = nullptr; /* [roots] */
    RootArrays roots = {};      /* laid out for lines of these, so many roots at a time: */
    LinesCapacity laid_out = {};
    int places = 0;
    int most_core = 0;  /* a core of these roots has at most so many rows */
    double entries = 0; /* that a row of the handle's inverse has in the mean, if G may pay */
    RootsMade made;
    int64_t models = -1; /* the engine's count at the model that the slices are of */
    bool known = false;  /* the device has a root */
};

CudaChildren *cuda_batch(const gpuopt_simplex_children *b) { return static_cast<CudaChildren *>(b->engine); }

bool child_is_steepest(const gpuopt_simplex_children *b) {
    return b->root_desc->dual_pricing == GPUOPT_DUAL_PRICING_STEEPEST_EDGE;
}
/* The children that a multiprocessor works on, one after the other. */
int64_t child_rounds(const gpuopt_simplex_children *b) { return (b->copies + CHILD_PROCESSORS - 1) / CHILD_PROCESSORS; }
/* Whether the operands of child/weights.cuh fit: it needs m^2 numbers for all children together, and
 * pays if these are many. With a group those of all ranks count, since weights differ with it and without it. */
bool child_keeps_products(const gpuopt_simplex_children *b) {
    return child_is_steepest(b) && child_rounds(b) * CHILD_PRODUCTS_PAY >= b->shape->rows;
}
/* How many rows of V are longer, and how long. */
int child_products(const gpuopt_simplex_children *b) {
    return child_keeps_products(b) ? std::min(b->desc.pivots, int32_t{CHILD_PRODUCTS}) : 0;
}
int64_t child_v_pitch(const gpuopt_simplex_children *b, int64_t pitch) {
    return 2 * pitch + 2 * (child_products(b) / 2 + 1);
}

/* Bytes of a block's shared memory for `banks` copies of a vector. */
size_t child_row_bytes(int length, int banks) {
    return sizeof(double) * static_cast<size_t>(banks) * (static_cast<size_t>(length) + 1);
}
/* How many copies fit; 0: none. */
int child_banks(const gpuopt_simplex_children *b, int length) {
    enum { OTHER = 4096 };
    const size_t free = static_cast<size_t>(cuda_of(b->context)->block_memory) - sizeof(ChildRoot) -
                        sizeof(ChildState) - sizeof(ChildBlock::Data) - sizeof(ChildSums::Data) -
                        sizeof(ChildRatioTest::Data) - OTHER;
    int banks = CHILD_BANKS;
    while (banks > 1 && child_row_bytes(length, banks) > std::min(free, size_t{CHILD_ROW})) banks /= 2;
    return length < CHILD_MINUS && child_row_bytes(length, banks) <= free ? banks : 0;
}
/* How many copies of the columns' values fit, for sums over rows; 0: more than the core of the inverse is kept. */
int child_sum_banks(const gpuopt_simplex_children *b, int rows, int cols) {
    return rows < CHILD_TALL ? 0 : child_banks(b, cols);
}
/* The rows that arrays of child/core.cuh can hold: none, if no core can be kept alone. */
int64_t child_tall_rows(const gpuopt_simplex_children *b) {
    return child_sum_banks(b, b->shape->rows, b->shape->cols) > 0 ? b->shape->rows : 0;
}

void child_cut_state(gpuopt__arena *arena, const gpuopt_simplex_children *b, const LinesCapacity &capacity,
                     ChildState *s) {
    const bool merges = b->desc.on_pivot_limit == GPUOPT_ON_PIVOT_LIMIT_REFACTOR;
    ChildSizes n = {};
    n.rows = b->shape->rows, n.cols = b->shape->cols, n.both = n.rows + n.cols;
    n.most = b->desc.pivots, n.products = capacity.products;
    n.pitch = capacity.pitch, n.v_pitch = child_v_pitch(b, capacity.pitch);
    n.merged = merges ? capacity.pitch * capacity.lines : 0;
    n.singles = child_is_steepest(b) ? n.merged : 0;
    n.rho = capacity.products > 0 ? n.v_pitch : n.rows;
    n.tall = child_tall_rows(b);
    auto cut = [&](auto &array, int64_t count) { simplex_cut(arena, &array.at, count); };
    s->point.cut(n, cut), s->work.cut(n, cut), s->inverse.cut(n, cut), s->core.cut(n, cut);
    s->ratio.cut(n, cut), s->pricing.cut(n, cut), s->duals.cut(n, cut);
}

/* Cuts the arrays of `count` roots. */
void child_cut_roots(gpuopt__arena *arena, const gpuopt_simplex_children *b, const LinesCapacity &capacity,
                     int64_t count, RootArrays *r) {
    const int64_t rows = b->shape->rows, cols = b->shape->cols, both = rows + cols, lines = capacity.lines,
                  tall = child_tall_rows(b);
    r->line_entries = capacity.pitch * lines;
    simplex_cut(arena, &r->lines, count * r->line_entries);
    simplex_cut(arena, &r->columns, count * r->line_entries);
    simplex_cut(arena, &r->singles, child_is_steepest(b) ? count * r->line_entries : 0);
    simplex_cut(arena, &r->gram, capacity.products > 0 ? count * r->line_entries : 0);
    for (double **array : {&r->lower, &r->upper, &r->x, &r->d}) simplex_cut(arena, array, count * both);
    simplex_cut(arena, &r->weight, count * rows);
    simplex_cut(arena, &r->state, count * both);
    simplex_cut(arena, &r->wanted, count * both);
    for (int **array : {&r->core, &r->fault}) simplex_cut(arena, array, count);
    simplex_cut(arena, &r->head, count * rows);
    for (int **array : {&r->core_row, &r->core_position, &r->place_of_row, &r->place_of_position})
        simplex_cut(arena, array, count * tall);
    simplex_cut(arena, &r->place_of_column, tall > 0 ? count * cols : 0);
}
int64_t child_roots_bytes(const gpuopt_simplex_children *b, const LinesCapacity &capacity, int64_t count) {
    gpuopt__arena arena = {nullptr, 0};
    RootArrays draft;
    child_cut_roots(&arena, b, capacity, count, &draft);
    return static_cast<int64_t>(arena.used);
}
/* How many roots, up to those of the descriptor, take at most so many bytes. */
int child_roots_that_fit(const gpuopt_simplex_children *b, const LinesCapacity &capacity, int64_t bytes) {
    int fit = 0, less = b->desc.roots + 1;
    while (less - fit > 1) {
        const int middle = fit + (less - fit) / 2;
        (child_roots_bytes(b, capacity, middle) <= bytes ? fit : less) = middle;
    }
    return fit;
}

/* The device's slices of `cols` columns, or rows. */
void child_cut_slices(gpuopt__arena *arena, int64_t cols, const SlicesCapacity &capacity, ChildSlices *slices) {
    const int64_t most_slices = (cols + 31) / 32;
    simplex_cut(arena, const_cast<ChildSlice **>(&slices->head.at), most_slices);
    simplex_cut(arena, const_cast<unsigned **>(&slices->longs.at), most_slices);
    simplex_cut(arena, const_cast<uint16_t **>(&slices->row.at), capacity.entries);
    simplex_cut(arena, const_cast<double **>(&slices->val.at), capacity.entries);
    simplex_cut(arena, const_cast<double **>(&slices->factor.at), 32 * most_slices);
    simplex_cut(arena, const_cast<int **>(&slices->of_long.at), capacity.longs);
}

/* Cuts the device's block; with base null it only measures. */
void child_cut_device(gpuopt__arena *arena, const gpuopt_simplex_children *b, CudaChildren *c) {
    const int64_t rows = b->shape->rows, cols = b->shape->cols, both = rows + cols, copies = b->desc.batch_size;
    const int64_t pitch = c->simplex->view.pitch;
    simplex_cut(arena, &c->lines, pitch * rows);
    simplex_cut(arena, &c->singles, child_is_steepest(b) ? pitch * rows : 0);
    simplex_cut(arena, &c->gram, child_keeps_products(b) ? pitch * rows : 0);
    simplex_cut(arena, &c->nonzeros, 1);
    child_cut_slices(arena, cols, c->of_columns, &c->root.slices);
    const int64_t tall = child_tall_rows(b);
    child_cut_slices(arena, tall, c->of_rows, &c->root.row_slices);
    for (int **array : {&c->core_row, &c->core_position, &c->place_of_row, &c->place_of_position})
        simplex_cut(arena, array, tall);
    simplex_cut(arena, &c->place_of_column, tall > 0 ? cols : 0);
    simplex_cut(arena, &c->weight, rows);
    for (double *&array : c->model) simplex_cut(arena, &array, both);
    simplex_cut(arena, &c->root_state, both);
    simplex_cut(arena, &c->head, rows);
    simplex_cut(arena, &c->row_scale, rows);
    simplex_cut(arena, &c->col_scale, cols);
    simplex_cut(arena, &c->given.there, child_given_bytes(b->desc));
    simplex_cut(arena, &c->found.there, child_found_bytes(b->desc));
    ChildJob &job = c->job;
    simplex_cut(arena, &job.basis, b->desc.with_basis ? copies * both : 0);
    simplex_cut(arena, &job.x, b->desc.with_x ? copies * cols : 0);
    simplex_cut(arena, &job.farkas, b->desc.with_farkas ? copies * rows : 0);
    simplex_cut(arena, &job.farkas_low, b->desc.with_farkas ? copies * rows : 0);
    simplex_cut(arena, &c->states, c->state_bytes * c->state_blocks);
    simplex_cut(arena, &c->root_memory, c->root_bytes);
    simplex_cut(arena, &c->views, b->desc.roots);
}

CudaChildren *child_cut_host(gpuopt__arena *arena, const gpuopt_simplex_children *b, RootCopy *c) {
    const int64_t rows = b->shape->rows, both = rows + b->shape->cols, tall = child_tall_rows(b);
    CudaChildren *batch;
    simplex_cut(arena, &batch, 1);
    double **const of_both[] = {&c->x, &c->x_low, &c->reduced, &c->lower, &c->upper, &c->cost};
    for (double **array : of_both) simplex_cut(arena, array, both);
    simplex_cut(arena, &c->y, rows);
    simplex_cut(arena, &c->y_low, rows);
    simplex_cut(arena, &c->status, both);
    simplex_cut(arena, &c->state, both);
    simplex_cut(arena, &c->head, rows);
    auto cut = [&](int64_t count, SlicesCopy *to) {
        simplex_cut(arena, &to->head, (count + 31) / 32);
        simplex_cut(arena, &to->longs, (count + 31) / 32);
        simplex_cut(arena, &to->of_long, count);
    };
    cut(both - rows, &c->slices), cut(tall, &c->row_slices);
    for (int **array : {&c->core_row, &c->core_position, &c->place_of_row, &c->place_of_position})
        simplex_cut(arena, array, tall);
    simplex_cut(arena, &c->place_of_column, tall > 0 ? both - rows : 0);
    simplex_cut(arena, &c->distance, b->desc.batch_size);
    simplex_cut(arena, &c->views, b->desc.roots);
    simplex_cut(arena, &c->fault, b->desc.roots);
    simplex_cut(arena, &c->given, child_given_bytes(b->desc));
    simplex_cut(arena, &c->found, child_found_bytes(b->desc));
    return batch;
}

/* Most entries of a column in a slice. */
int child_longest(const gpuopt_simplex_children *b, int rows) { return child_banks(b, rows) > 0 ? +CHILD_LONG : 0; }

/* The capacity of slices: that of the model or, if rows and columns may be added, of any that fits the root's. */
SlicesCapacity child_slices_capacity(const gpuopt__simplex_shape &shape, int rows, int cols, const int64_t *col_start,
                                     int longest) {
    const int64_t slices = (cols + 31) / 32;
    SlicesCapacity capacity;
    if (shape.grows) {
        capacity.entries =
            32 * std::min(slices * std::min(int64_t{CHILD_LONG}, int64_t{rows} + 3), shape.nonzeros + 3 * slices);
        capacity.longs = cols;
    } else
        child_walk_slices(
            cols, col_start, longest, [&](int fours) { capacity.entries += 128 * int64_t{fours}; },
            [&](int) { capacity.longs++; });
    return capacity;
}
gpuopt_status child_set_capacity(const gpuopt_simplex_children *b, CudaChildren *c) {
    const gpuopt__simplex_shape &shape = *b->shape;
    gpuopt__simplex_pattern pattern;
    gpuopt_status status = cuda_simplex_pattern(b->root_engine, &pattern);
    if (status) return status;
    c->of_columns =
        child_slices_capacity(shape, shape.rows, shape.cols, pattern.col_start, child_longest(b, shape.rows));
    if (child_tall_rows(b) > 0)
        c->of_rows = child_slices_capacity(shape, shape.cols, shape.rows, pattern.row_start, CHILD_LONG);
    return GPUOPT_OK;
}

/* A multiprocessor works on two children of a tiny model. */
bool child_is_tiny(const gpuopt_simplex_children *b) { return b->shape->rows + int64_t{b->shape->cols} <= 384; }
int child_most_blocks(const gpuopt_simplex_children *b) {
    return std::min((child_is_tiny(b) ? 2 : 1) * cuda_of(b->context)->multiprocessors, int{b->desc.batch_size});
}

/* How many threads a block has, and how many blocks' states fit: they depend on the root's capacity, the batch
 * and the device alone. */
gpuopt_status child_set_shape(const gpuopt_simplex_children *b, CudaChildren *c) {
    gpuopt_status status = child_set_capacity(b, c);
    if (status) return status;
    const int64_t both = int64_t{b->shape->rows} + b->shape->cols;
    const int64_t most_bytes = int64_t{16} << 30; /* of the blocks' states together, and of the roots */
    gpuopt__arena arena = {nullptr, 0};
    ChildState draft;
    /* Where lines are short, that there are many loads on their way counts more than that there are many threads. */
    const bool small = b->shape->rows <= 2048 && both <= 8192;
    c->threads = child_is_tiny(b) ? CHILD_FEW_THREADS / 2 : small ? +CHILD_FEW_THREADS : +CHILD_THREADS;
    const LinesCapacity capacity = {b->shape->rows, c->simplex->view.pitch, child_products(b)};
    child_cut_state(&arena, b, capacity, &draft);
    c->state_bytes = static_cast<int64_t>(arena.used);
    c->state_blocks =
        static_cast<int>(std::max(int64_t{1}, std::min(most_bytes / c->state_bytes, int64_t{child_most_blocks(b)})));
    if (b->desc.roots > 0)
        c->root_bytes = child_roots_bytes(b, capacity, std::max(1, child_roots_that_fit(b, capacity, most_bytes)));
    return GPUOPT_OK;
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILDREN_MEMORY_CUH */
