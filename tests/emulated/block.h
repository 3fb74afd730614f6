/* SPDX-License-Identifier: MIT
 *
 * A block of threads of a kernel: fibres that run in turn, and their meetings. See emulated.h.
 */
#ifndef EMULATED_BLOCK_H
#define EMULATED_BLOCK_H

#include <cstdint>
#include <memory>
#include <vector>

#include "fibre.h"
#include "include/emulated/here.h"

namespace emulated {

struct Block;
struct Grid;

enum class State { READY, SPINS, AT_BARRIER, AT_WARP, AT_GRID, FINISHED };

/* Lanes of a warp meet: shuffles, votes, __syncwarp(). The buffers alternate, since a lane may be one meeting ahead of
 * another that still reads. */
struct Meeting {
    unsigned mask = 0, arrived = 0;
    unsigned round = 0;
    Place place = {};
    Deposit deposit[2][33]; /* the last: all of them, combined */
};

struct Warp {
    unsigned ready = 0; /* lanes */
    unsigned lanes = 0, finished = 0;
    int slot = 0; /* in the block's order of warps */
    /* By the lowest lane of the mask; and of lanes that meet while others of the warp wait for another meeting. */
    std::unique_ptr<Meeting> meeting[32], within[32];
};

/* A copy that cp.async or cp.async.bulk began. */
struct Copy {
    void *to;
    const void *from;
    uint32_t bytes, zeros; /* zeros: the number of zero bytes after the copied bytes */
    uint64_t *barrier;     /* bulk copies */
};

struct Thread : Seat {
    State state = State::FINISHED; /* what it last waited for, until it runs again */
    Place place = {};
    Block *block = nullptr;
    Warp *warp = nullptr;
    Fibre fibre;
    std::vector<Copy> copies; /* cp.async, oldest first; `group` counts the copies of each committed group */
    std::vector<unsigned> group;
};

struct Block {
    Grid *grid = nullptr;
    uint3 index = {};
    unsigned count = 0; /* threads */
    std::vector<std::unique_ptr<Thread>> thread;
    std::vector<Warp> warp;
    int warp_in_slot[32] = {};
    unsigned ready_slots = 0; /* warps with ready threads */
    unsigned waiting = 0, finished = 0, spinning = 0, at_grid = 0;
    bool preempted = false;
    unsigned long long progress = 0; /* barriers passed and threads finished */
    Place barrier = {};
    int votes[2] = {}; /* of the barriers that threads vote at, alternating */
    unsigned barriers = 0;
    std::vector<Copy> bulk;
    Fibre scheduler; /* the worker's own stack */

    /* Prepares the threads of a block for running; one Block serves one block after the other. */
    void begin(Grid *of, uint3 at);
    /* Runs threads until none can: all have finished, wait or spin; or it was preempted. */
    void run();
    void revive_spinning();
    void leave_grid_barrier();
    void describe() const; /* to stderr: where its threads wait */
    [[noreturn]] void report_stuck() const;

    void make_ready(Warp &w, unsigned lanes);
    void make_ready(Thread *t) { make_ready(*t->warp, 1u << t->lane); }
    void make_all_ready();
    Thread *next(); /* takes the next ready thread in turn off the ready ones. Null: none */
    void leave(Thread *t);
};

} // namespace emulated

#endif /* EMULATED_BLOCK_H */
