/* SPDX-License-Identifier: MIT
 *
 * A running kernel: its blocks, each on a separate thread of the system; one of these runs at a time.
 */
#ifndef EMULATED_GRID_H
#define EMULATED_GRID_H

#include <semaphore.h>

#include <functional>
#include <thread>
#include <vector>

#include "block.h"

namespace emulated {

/* splitmix64 */
struct Random {
    uint64_t state = 0;
    uint64_t next() {
        uint64_t z = (state += 0x9E3779B97F4A7C15u);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    unsigned below(unsigned n) { return static_cast<unsigned>((next() >> 32) * n >> 32); }
    bool one_in(unsigned n) { return below(n) == 0; }
};

/* The choice of the next ready thread. ASCENDING, without a seed: the first, without any chance. RANDOM: any. PRIORITY:
 * one of the first warp in an order that changes now and then, so that warps run far ahead of others. */
enum class Order { ASCENDING, DESCENDING, RANDOM, PRIORITY };

struct Grid {
    dim3 blocks, threads;
    size_t bytes = 0; /* of dynamic shared memory */
    bool cooperative = false;
    const void *kernel = nullptr;
    std::function<void()> body;

    /* Set by run_grid(): */
    Order order = Order::ASCENDING;
    Random random;
    std::vector<unsigned> sequence; /* of blocks */
    size_t started = 0;
    std::vector<Worker *> live;
    unsigned at_barrier = 0;  /* blocks */
    sem_t launcher;           /* posted when all blocks have finished, or when the grid has paused */
    Worker *paused = nullptr; /* who had the turn then */
    bool outside = false;     /* a thread has waited for memory that another grid or the CPU may change */
    unsigned long idle = 0;   /* times that a worker gave up its turn since a thread made progress */

    bool by_chance() const { return order != Order::ASCENDING; }
};

struct Range {
    char *from = nullptr;
    size_t bytes = 0;
};

/* A thread of the system that runs blocks. */
struct Worker {
    Block block;
    char *dynamic = nullptr; /* shared memory */
    Range statics;           /* likewise: the program's thread-local memory */
    sem_t turn;
    Grid *grid = nullptr;
    bool at_barrier = false; /* of the grid */
    unsigned long long seen = 0;

    void run_blocks();
    void run_block(unsigned number);
    void pass_turn();
    void pause();
    void clear_shared_memory();
    void learn_shared_memory();
    unsigned char filled = 0; /* the filling of shared memory */
};

/* Runs all blocks of a grid, `live` blocks at a time. The caller holds the runtime's lock. If the grid waits for memory
 * that others must change, it pauses, and others have the lock; at all other times it alone works. */
void run_grid(Grid *grid, unsigned live, uint64_t seed);
/* The name of code, for messages, or where it is. */
const char *name_of(const void *code);
/* From GPUOPT_EMULATED_SEED; 0: none. */
uint64_t seed();

} // namespace emulated

#endif /* EMULATED_GRID_H */
