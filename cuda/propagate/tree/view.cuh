/* SPDX-License-Identifier: MIT
 *
 * A tree search on the GPU: the data of its kernels besides the propagator's.
 *
 * The trail is in device memory. A round appends the sides that it has moved. First each side of the list finds its
 * place, by its rank among the others or, if there are many, by a sweep over all columns. Meanwhile the rows that
 * passed are evaluated again to find the lowest row that implies each new bound. So the trail depends on no order of
 * threads. The CPU keeps the levels, and a copy of the trail that it updates on demand.
 *
 * Access to shared data while a round is recorded, and its correctness by the PTX manual's memory consistency model
 * ----------------------------------------------------------------------------------------------------------------- The
 * list of moved sides, both copies of the bounds and the lists of rows that passed are complete: GridBarrier separates
 * the round's last move from the recording, and they are not written before the next barrier. Reasons are claimed by
 * atomic minima of the scope of the device and read after another GridBarrier, so the result depends on no order. The
 * thread that reads a reason resets it to INT_MAX, and the next claims are at least one barrier later. Each side of the
 * list belongs to one thread (or one block's part of a sweep), which alone writes its change, its place in `last`, and
 * its reason. The next round overwrites bounds that a sweep reads, so a sweep ends with a barrier. Ranking is finished
 * with them at the barrier that reasons need.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_TREE_VIEW_CUH
#define GPUOPT_CUDA_PROPAGATE_TREE_VIEW_CUH

#include "../../../gpuopt_impl/propagate/arith/trail.h"
#include "../rounds/steps.cuh"

namespace {

using TreeChange = gpuopt__propagator_change;
using TreeLevel = gpuopt__propagator_level; /* due_start is unused: a level that left rows to evaluate has all_marked */

enum {
    TREE_NEAR = 256,         /* changes, or entries of a row, that a kernel copies to host memory at a time */
    TREE_FEW = 16,           /* most bounds that are set as an argument of the kernel */
    TREE_RANKED = 4096,      /* most moved sides of a round that are ordered by rank; beyond, by a sweep over all
                              * columns */
    TREE_MOST_THREADS = 1024 /* of the kernels with one block */
};

struct TreeState {
    int changes; /* in the trail */
    int full;    /* the caller's bounds did not fit */
};

struct TreeEntry {
    double a, lb, ub;
    unsigned col; /* 2 * column + (1 if it is integer) */
};

/* In host memory, written by kernels. */
struct TreeWindow {
    TreeLevel now; /* as a level that begins here */
    int full;
    int length, altered; /* of a row */
    double lhs, rhs;
    TreeChange change[TREE_NEAR];
    TreeEntry entry[TREE_NEAR];
};

template <class Bound>
struct Tree {
    TreeState *state;
    TreeWindow *window;
    TreeChange *trail;     /* [capacity] */
    int *last;             /* [2 cols]: position of a bound's latest change, or -1 */
    int *reason;           /* [2 cols]: the row that moves a bound in this round; INT_MAX between rounds */
    int *claim;            /* [cols]: 0 between calls */
    int *altered;          /* [rows + spare rows]: see gpuopt__propagator_evidence */
    unsigned *block_count; /* [MAX_BLOCKS]: sides that a sweep has counted */
    int *first, *length;   /* [spare rows]: of an added row's entries; length -1: the number is free */
    Bound *val;            /* [spare nonzeros] */
    unsigned *col;         /* [spare nonzeros]: as in the matrix */
    int capacity;          /* of the trail; 0: there is none */
    int added;             /* numbers of added rows, in use or free */
    int first_slot;        /* of their sides in Propagator::sides */
};

/* The data that a level beginning now would have to restore. */
__device__ TreeLevel level_now(const PropagatorState &state, int changes) {
    const bool done = state.converged && state.rounds_since_set > 0 && !state.all_marked;
    const int row = state.infeasible_row, col = state.infeasible_col;
    return {changes, 0, row == INT_MAX ? -1 : row, col == INT_MAX ? -1 : col, !done, state.rounds_since_set};
}

/* Restores the state from when this level began. Run by one thread, between rounds. */
__device__ void restore_level(PropagatorState &state, const TreeLevel &level) {
    state.infeasible_row = level.infeasible_row < 0 ? INT_MAX : level.infeasible_row;
    state.infeasible_col = level.infeasible_col < 0 ? INT_MAX : level.infeasible_col;
    state.rounds_since_set = level.rounds_since_set;
    state.all_marked = level.all_marked;
    state.converged = !level.all_marked;
    round_of(&state, turn_before(state.turn)).count = 0;
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_TREE_VIEW_CUH */
