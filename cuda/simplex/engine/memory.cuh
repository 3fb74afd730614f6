/* SPDX-License-Identifier: MIT
 *
 * The simplex engine of the GPU: its shape and its memory.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_ENGINE_MEMORY_CUH
#define GPUOPT_CUDA_SIMPLEX_ENGINE_MEMORY_CUH

#include "../../common/queue.cuh"
#include "../../common/rank_update.cuh"
#include "device.cuh"
#include "products.cuh"

namespace {

/* The engine's data in host memory. */
struct SimplexMemory {
    gpuopt__simplex_pattern pattern; /* for the control, from its first request on */
    /* For handles with spare rows and columns, from the first use; else null. */
    double *col_val, *row_val; /* [nonzeros] the model's entries */
    double *scratch;           /* [rows + cols] scratch */
    int32_t *list;             /* [max(rows, cols)] scratch */
};

/* Ranks with kernels that write to each other's memory, see split/peer.cuh. */
struct SplitPeers {
    bool open = false;   /* the gate is open; else there is no mailbox */
    bool joined = false; /* iterations use mailboxes */
    PeerKey key = {};
    PeerStatus *status = nullptr;
    PeerHandle handle[PEER_MOST] = {}; /* of all ranks */
    PeerMap map = {};
};

struct CudaSimplex : Queue, SimplexMemory {
    explicit CudaSimplex(gpuopt_context *context) : Queue(context) {}

    gpuopt__simplex_lp *lp = nullptr; /* the control's, like the vectors */
    gpuopt__simplex_vectors *host = nullptr;
    bool revised = false, deferred = false;
    SimplexView view = {};
    RankUpdate rank = {};
    int pending = 0;      /* pivots in U and V */
    int weighs = 0;       /* 1 + the dual pricing that the weights are for; 0: there are no weights */
    int64_t launches = 0; /* launches of the iterations' kernel */
    int64_t models = 0;   /* number of changes of rows or columns */
    void *device = nullptr;
    char *vectors = nullptr; /* the device's copy, laid out like the caller's */
    size_t vector_bytes = 0;

    bool pattern_here = false, values_here = false;

    gpuopt__simplex_split split = {};
    double *carried = nullptr; /* [2 * rows] with several ranks: data to and from other ranks, in page-locked memory */
    bool locked = false;       /* whether this engine locked it */
    SplitPeers peers;

    static unsigned blocks(int64_t threads) {
        return static_cast<unsigned>(threads < 1 ? 1 : (threads + PRODUCT_THREADS - 1) / PRODUCT_THREADS);
    }
    /* M += U V. Afterwards no pivots are pending. */
    void apply() {
        rank_update(rank, *this, view.rows, view.lines, pending, view.u, view.pitch, view.v, view.wide, view.matrix,
                    view.pitch);
        pending = 0;
    }
};

CudaSimplex *cuda_simplex(void *engine) { return static_cast<CudaSimplex *>(engine); }

/* With several ranks: turns a failure of this rank's device into the end of all ranks' work. */
gpuopt_status split_status(CudaSimplex *s, gpuopt_status status) {
    if (s->split.ranks == 1) return status;
    gpuopt__simplex_split_ended(&s->split, status);
    return status ? status : s->split.status;
}

/* ---- Shape and memory ---- */

/* Divides rows, slots and lines among the blocks. */
void simplex_divide(SimplexView *view, int slots) {
    auto own = [&](int64_t n) {
        return static_cast<int>(n < 1 ? 32 : ((n + view->blocks - 1) / view->blocks + 31) / 32 * 32);
    };
    view->own_rows = (view->groups + view->blocks - 1) / view->blocks * view->group;
    if (view->own_rows == 0) view->own_rows = 32;
    view->own_slots = own(slots);
    view->own_lines = own(view->lines);
}

/* The pitch of lines of n numbers. */
int64_t simplex_padded(int64_t n) { return (n + 15) / 16 * 16; }

/* Sets everything that follows from the device and the shape, with its capacity for rows and columns. Ranges per block
 * are multiples of 32, so that warps are full. */
void simplex_set_shape(const gpuopt_context *context, gpuopt__simplex_shape *shape, SimplexView *view) {
    bool revised = shape->method == GPUOPT_METHOD_REVISED;
    if (shape->pricing == GPUOPT_PRICING_STEEPEST_EDGE) shape->deferred_pivots = 1;
    if (shape->deferred_pivots == 0) shape->deferred_pivots = 64;
    *view = {};
    view->rows = shape->rows;
    view->cols = shape->cols;
    view->first = gpuopt__simplex_split_first(shape->cols, shape->ranks, shape->rank);
    int slots = gpuopt__simplex_split_first(shape->cols, shape->ranks, shape->rank + 1) - view->first;
    view->lines = revised ? shape->rows : slots;
    /* refactoring always defers */
    view->most = shape->deferred_pivots == 1 ? 64 : shape->deferred_pivots;
    view->pitch = simplex_padded(shape->rows);
    view->wide = simplex_padded(view->lines);
    int64_t longest = shape->rows > slots ? shape->rows : slots;
    int most = cuda_of(context)->multiprocessors < SIMPLEX_BLOCKS ? cuda_of(context)->multiprocessors : SIMPLEX_BLOCKS;
    int64_t wanted = (longest + SIMPLEX_OWN - 1) / SIMPLEX_OWN;
    view->blocks = static_cast<int>(wanted < 1 ? 1 : wanted < most ? wanted : most);
    view->group = gpuopt__simplex_ratio_group(shape->rows);
    view->groups = (shape->rows + view->group - 1) / view->group;
    simplex_divide(view, slots);
}

/* Sets how much of the capacity is in use; own_* do not change. */
void simplex_set_size(SimplexView *view, bool revised, int rows, int cols) {
    view->rows = rows;
    view->cols = cols;
    view->lines = revised ? rows : cols;
    view->groups = (rows + view->group - 1) / view->group;
}

template <class T>
void simplex_cut(gpuopt__arena *arena, T **array, int64_t count) {
    *array = static_cast<T *>(gpuopt__cut(arena, count, sizeof(T)));
}

/* Has memory for one column even if a rank has none, since the model passes through it at create. */
int64_t simplex_matrix_entries(const SimplexView &s) { return s.pitch * (s.lines > 0 ? s.lines : 1); }

/* Has memory for the lists of any number of blocks, see split_choose_blocks(). */
int64_t split_changes(const SimplexView &s) {
    const int64_t blocks = s.blocks, wide = s.group > 32 ? s.group : 32;
    return (s.groups + blocks) * wide;
}

/* Cuts the device's block into arrays; with base null it only measures. Returns where the vectors begin. */
uint64_t simplex_cut_device(gpuopt__arena *arena, int64_t nonzeros, int ranks, SimplexView *view) {
    SimplexView &s = *view;
    int64_t both = static_cast<int64_t>(s.rows) + s.cols;
    int64_t *col_start, *row_start;
    int *col_row, *row_col;
    double *col_val, *row_val;
    simplex_cut(arena, &s.matrix, simplex_matrix_entries(s));
    simplex_cut(arena, &s.u, s.pitch * s.most);
    simplex_cut(arena, &s.v, s.wide * s.most);
    simplex_cut(arena, &col_start, s.cols + 1);
    simplex_cut(arena, &row_start, s.rows + 1);
    simplex_cut(arena, &col_row, nonzeros);
    simplex_cut(arena, &row_col, nonzeros);
    simplex_cut(arena, &col_val, nonzeros);
    simplex_cut(arena, &row_val, nonzeros);
    s.col_start = col_start, s.row_start = row_start;
    s.col_row = col_row, s.row_col = row_col;
    s.col_val = col_val, s.row_val = row_val;
    double **const of_rows[] = {&s.alpha, &s.rho, &s.rho_sum, &s.tau};
    for (double **array : of_rows) simplex_cut(arena, array, s.pitch);
    simplex_cut(arena, &s.changed, ranks > 1 ? split_changes(s) : static_cast<int64_t>(s.blocks) * s.own_rows);
    simplex_cut(arena, &s.listed, 2 * s.blocks);
    simplex_cut(arena, &s.drifted, 1);
    simplex_cut(arena, &s.faults, 1);
    simplex_cut(arena, &s.cells, 2 * s.blocks);
    simplex_cut(arena, &s.winners, 4 * SIMPLEX_MOST_GROUPS);
    simplex_cut(arena, &s.records, 2 * s.blocks);
    simplex_cut(arena, &s.winner_records, 2 * SIMPLEX_MOST_GROUPS);
    simplex_cut(arena, &s.number, 2);
    int **const of_cols[] = {&s.column, &s.wanted, &s.position};
    for (int **array : of_cols) simplex_cut(arena, array, s.cols);
    simplex_cut(arena, &s.open, s.rows);
    /* Without gaps, because a transposition stores its counts across all four: see plan_transposition(). */
    const int64_t step = (both + 31) / 32 * 32;
    simplex_cut(arena, &s.in, 4 * step);
    s.in_low = s.in + step, s.out = s.in_low + step, s.error_sum = s.out + step;
    simplex_cut(arena, &s.partial, s.pitch * SIMPLEX_PARTS + s.cols);
    simplex_cut(arena, &s.dual_weight, s.rows);
    simplex_cut(arena, &s.refused, s.rows);
    simplex_cut(arena, &s.dual_factor, 2 * s.most);
    simplex_cut(arena, &s.bucket, DUAL_BUCKET_SETS * 2 * DUAL_BUCKETS);
    simplex_cut(arena, &s.candidates, ranks > 1 ? 2 * ranks * CANDIDATE_WORDS : 0);
    simplex_cut(arena, &s.columns, ranks > 1 ? s.pitch : 0);
    simplex_cut(arena, &s.agreed, ranks > 1 ? CANDIDATE_WORDS + 1 : 0);
    simplex_cut(arena, &s.lost, ranks > 1 ? 1 : 0);
    uint64_t vectors = arena->used;
    gpuopt__simplex_cut_vectors(arena, s.rows, s.cols, &s.vec);
    return vectors;
}

/* The additional data of an engine with several ranks. */
struct SimplexSharing {
    gpuopt__simplex_split split;
    char *pages; /* memory that contains the page-locked part */
};
enum { SIMPLEX_SLOT_BYTES = 45 }; /* bytes of a slot's state: see cuda_simplex_pull */

/* At least one row, because 0 bytes cannot be locked. */
size_t carried_bytes(int rows) { return 2 * sizeof(double) * static_cast<size_t>(rows > 0 ? rows : 1); }

/* Cuts the block in host memory into the engine and its memory. */
CudaSimplex *simplex_cut_host(gpuopt__arena *arena, const gpuopt__simplex_shape &shape, SimplexMemory *memory,
                              SimplexSharing *sharing) {
    CudaSimplex *engine;
    int64_t *col_start, *row_start;
    int32_t *col_row, *row_col;
    simplex_cut(arena, &engine, 1);
    simplex_cut(arena, &col_start, static_cast<int64_t>(shape.cols) + 1);
    simplex_cut(arena, &row_start, static_cast<int64_t>(shape.rows) + 1);
    simplex_cut(arena, &col_row, shape.nonzeros);
    simplex_cut(arena, &row_col, shape.nonzeros);
    *memory = {{col_start, row_start, col_row, row_col}, nullptr, nullptr, nullptr, nullptr};
    gpuopt__simplex_split_cut(arena, &shape, SIMPLEX_SLOT_BYTES, &sharing->split);
    sharing->pages = nullptr;
    if (shape.ranks > 1)
        simplex_cut(arena, &sharing->pages, static_cast<int64_t>(bytes_for_pages(carried_bytes(shape.rows))));
    if (!shape.grows) return engine;
    simplex_cut(arena, &memory->col_val, shape.nonzeros);
    simplex_cut(arena, &memory->row_val, shape.nonzeros);
    simplex_cut(arena, &memory->scratch, static_cast<int64_t>(shape.rows) + shape.cols);
    simplex_cut(arena, &memory->list, shape.rows > shape.cols ? shape.rows : shape.cols);
    return engine;
}

gpuopt_status cuda_simplex_plan(gpuopt_context *context, gpuopt__simplex_shape *shape, gpuopt_memory_plan *plan) {
    gpuopt__arena device = {nullptr, 0}, host = {nullptr, 0};
    SimplexMemory memory;
    SimplexSharing sharing;
    SimplexView view;
    simplex_set_shape(context, shape, &view);
    simplex_cut_device(&device, shape->nonzeros, shape->ranks, &view);
    simplex_cut_host(&host, *shape, &memory, &sharing);
    plan->device_bytes += device.used;
    plan->host_bytes += host.used;
    return GPUOPT_OK;
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_ENGINE_MEMORY_CUH */
