/* SPDX-License-Identifier: MIT
 *
 * A batch of nodes on the GPU: the data of the kernels, and the tables of one node.
 *
 * A node's bounds are the base's, except for the columns in a hash table. A row can only have an effect on the node if
 * the bounds of its columns have moved by more than its capacity. That is the slack of its side less the reach of its
 * entries, see the filter (gpuopt_impl/propagate/arith/filter.h); it is computed for each row at the base's bounds. A
 * change of a bound is applied to the rows of its column. A second hash table holds the share of its capacity that each
 * row has used up in this node, an integer. Only rows with a full share, and added rows, are read. Shares are rounded
 * up, so that a row that is not read would not have passed the filter. As integers they do not depend on the order of
 * the changes.
 *
 * A table's size depends on the threads that work on the node. A warp, a block or a large block may have tables in
 * shared memory, and a block or a large block tables in global memory. A node that outgrows its tables is put on a
 * list, and restarts with the next larger ones.
 *
 * Synchronisation of the threads of a node
 * ----------------------------------------
 * The work has phases: give, settle, mark, evaluate, write. A barrier of the node's threads (a warp or a block)
 * separates any two, and orders their writes. Within a phase threads share only
 *   - the keys of the tables. These change from EMPTY to a column or a row by compare-and-exchange and are read by
 *     relaxed atomic loads. A column that rows have just moved has the mark NEW. Until the next phase all threads take
 *     its bounds from the base, so none reads data that another thread, which has taken the key, has yet to write;
 *   - `next`, the bounds of the next round, by atomic minima and maxima, and shares and counters, by atomic
 *     read-modify-writes. All of these commute, so that results do not depend on the order of threads.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_BATCH_STATE_CUH
#define GPUOPT_CUDA_PROPAGATE_BATCH_STATE_CUH

#include "../rounds/upload.cuh"
#include "../rounds/rows.cuh"
#include "../tree/added_rows.cuh"

namespace {

/* ---- Data shared by all nodes ---- */

/* Counters of a run, 0 before it; the last block of its last launch resets them. */
struct BatchState {
    unsigned ticket;         /* nodes taken */
    unsigned done;           /* blocks that have ended */
    unsigned left;           /* nodes that have outgrown their tables */
    unsigned bad;            /* an argument in device memory is out of range */
    unsigned long long used; /* changed columns, including those that did not fit into the buffer */
};

/* The data that the CPU reads after a run; in host memory. */
struct BatchReport {
    unsigned left, bad;
    unsigned long long used;
};

/* Data about the base since it last changed. */
struct BatchBase {
    unsigned short_active, long_active; /* rows that may act at the base's bounds */
    int pending;                        /* whether these must be evaluated */
};

/* The matrix by columns, the rows' capacities, and added rows. */
template <class Val, class Bound>
struct BatchModel {
    unsigned long long *col_start; /* [cols + 2]; the last is used while the matrix is laid out */
    int *entry_slot;               /* [nonzeros] */
    Val *entry_val;                /* [nonzeros] */
    float2 *scale; /* [slots]: SHARES / capacity of the rhs and of the lhs, rounded up; see scale_of() */
    int *active;   /* [slots]: active short rows, from 0; others, from 32 * slices */
    BatchBase *base;
    BatchState *state;
    unsigned lanes;   /* lanes that share a column to apply its change to rows: 8, or 32 if columns are long */
    Tree<Bound> tree; /* of the base, for the added rows: every round of a node evaluates them */
};

/* The result of a node's run. */
struct alignas(16) NodeRecord {
    int outcome, rounds, row, col;
    long long changed, nonzeros;
    long long at; /* the start of its changed columns in the buffer of changes */
    int columns, unused;
};

/* The changed columns of nodes, in the order in which nodes ended. */
struct ChangeBuffer {
    int *col;
    double *lb, *ub;
    unsigned long long capacity;
};

/* Nodes as given. */
struct GivenNodes {
    const long long *start;
    const int *col;
    const double *lb, *ub;
};

/* A few nodes as an argument of the kernel, which reads them sooner than from host memory. */
struct FewNodes {
    enum { NODES = 4, BOUNDS = 16 };
    long long start[NODES + 1];
    int col[BOUNDS];
    double lb[BOUNDS], ub[BOUNDS];
};

/* A run. */
struct BatchCall {
    GivenNodes given; /* for few nodes: only shows which arrays exist */
    bool is_few;
    FewNodes few;
    const int *list; /* of nodes to run; null: all of them */
    int *left;       /* list of nodes that outgrow their tables */
    NodeRecord *record;
    BatchReport *report;
    ChangeBuffer buffer;
    long long changes; /* most bounds given to all nodes together */
    int nodes, rounds, node_columns;
    int last; /* whether there are no larger tables: a node that outgrows these is FULL */
};

/* ---- The tables of a node ---- */

enum : unsigned { KEY_EMPTY = ~0u, KEY_NEW = 1u << 31 };

/* Shares of a row: 15 bits for each side, and whether the row is in the queue. */
enum : unsigned { SHARES = 0x7fff, SHARE_BITS = 15, SHARE_QUEUED = 1u << 31 };

/* The sizes of the tables: slots, powers of two, and the limit of slots in use. The difference lets all threads of a
 * node take a slot at once without filling the table. */
struct TableSizes {
    unsigned col_slots, row_slots, columns, rows;
};

/* Index: holds 2 * col_slots and row_slots. */
template <class Index>
struct TableArrays {
    unsigned *key;        /* [col_slots]: a column, perhaps NEW, or EMPTY */
    double2 *now, *next;  /* [col_slots]: the bounds of this round; bounds implied by rows, or infinite */
    unsigned char *given; /* [col_slots]: 1: the node was given the column's bounds; 2: and they are equal */
    unsigned *row_key;    /* [row_slots]: a row's slot, or EMPTY */
    unsigned *share;      /* [row_slots] */
    Index *col_used;      /* [columns]: places in the table */
    Index *side;          /* [2 columns]: 2 * place + (1 for ub) of the sides that have moved */
    Index *row_used;      /* [rows]: places in the table */
    Index *queue;         /* [rows]: places of rows to evaluate; short rows from the front, others from the end */
    TableSizes size;
};

/* Cuts tables from memory that is aligned to 16 bytes, and returns its bytes; null only measures. */
template <class Index>
__host__ __device__ size_t cut_tables(char *memory, const TableSizes &size, TableArrays<Index> &tables) {
    size_t at = 0;
    auto cut = [&](auto *&pointer, size_t count) {
        using T = typename std::remove_reference<decltype(*pointer)>::type;
        pointer = memory ? reinterpret_cast<T *>(memory + at) : nullptr;
        at += (count * sizeof(T) + 15) / 16 * 16;
    };
    tables.size = size;
    cut(tables.now, size.col_slots);
    cut(tables.next, size.col_slots);
    cut(tables.key, size.col_slots);
    cut(tables.row_key, size.row_slots);
    cut(tables.share, size.row_slots);
    cut(tables.given, size.col_slots);
    cut(tables.col_used, size.columns);
    cut(tables.side, 2 * size_t{size.columns});
    cut(tables.row_used, size.rows);
    cut(tables.queue, size.rows);
    return at;
}

/* Data shared by the threads of a node besides its tables. */
struct NodeShared {
    unsigned ticket;
    unsigned columns, rows;      /* in use in the tables */
    unsigned sides;              /* sides that have moved */
    unsigned shorts, longs;      /* queued rows */
    int over;                    /* a table is full */
    int bad;                     /* an argument is out of range */
    int found_row, found_col;    /* INT_MAX: none */
    unsigned count;              /* of changed columns */
    unsigned long long nonzeros; /* of evaluated rows */
    unsigned long long at;
};

/* Data that all threads of a node have after a round. */
struct NodeFound {
    unsigned moved;   /* bounds moved by the rows */
    unsigned columns; /* in the table */
    bool infeasible, over;
};

/* The slot at which the search for a key begins. */
__device__ unsigned hash_of(unsigned key) {
    key *= 2654435769u;
    return key ^ key >> 15;
}

__device__ unsigned load_relaxed(unsigned &word) {
    return cuda::atomic_ref<unsigned, cuda::thread_scope_block>(word).load(cuda::memory_order_relaxed);
}

/* ---- Capacities ---- */

/* SHARES / capacity of one side of a row, rounded up, from its slack in the filter, which has been reduced by the
 * margin for rounding. 0: the side is infinite, and no change has an effect; infinite: any change may have one.
 *
 * The slack in a node is the base's less the changes' contribution to the activity. While this contribution is less
 * than the capacity, the slack exceeds the reach of every entry, and so the row cannot act. Bounds within the base's
 * have a smaller reach, and sums of sizes that are at most twice as large, for which the margin is doubled. A capacity
 * is a difference. If it is small relative to its two numbers, their relative errors would matter; so the share is then
 * rounded up by more. */
__device__ float scale_of(const gpuopt__propagator_rules &rules, double slack, double reach, double magnitude,
                          int infinite) {
    const float always = static_cast<float>(HUGE_VAL);
    reach = gpuopt__max(reach, -rules.feasibility);
    double capacity = slack - reach;
    if (slack == HUGE_VAL) return 0;
    if (infinite > 1) return FLT_MIN; /* only a change of an infinite term, which takes all shares */
    if (infinite || !(capacity > 0x1p-20 * (fabs(slack) + fabs(reach)) + 0x1p-40 * magnitude)) return always;
    return __double2float_ru(+SHARES / capacity * (1 + 0x1p-40));
}

/* The shares that a bound's move from `from` to `to` takes from a row in which its column has the coefficient a. */
__device__ unsigned shares_of(const gpuopt__propagator_rules &rules, double a, float scale, double from, double to) {
    double size = fabs(a), taken = size * fabs(to - from) * static_cast<double>(scale);
    if (scale == 0) return 0;
    if (!(size * fabs(from) < rules.huge)) return SHARES; /* the term was infinite */
    return taken < SHARES - 2 ? static_cast<unsigned>(taken) + 2 : +SHARES;
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_BATCH_STATE_CUH */
