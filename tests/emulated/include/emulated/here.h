/* SPDX-License-Identifier: MIT
 *
 * The running thread of a kernel, and its requests to the emulator. The kernels' headers need nothing else of the
 * emulator.
 */
#ifndef EMULATED_HERE_H
#define EMULATED_HERE_H

#include <cstddef>
#include <cstdint>

#include "types.h"

namespace emulated {

class Fibre;
struct Worker;
struct Host;

/* A thread of a kernel, as the kernel sees it. */
struct Seat {
    uint3 thread = {}, block = {};
    dim3 threads, blocks;
    unsigned lane = 0, rank = 0; /* in the warp, in the block */
};

/* All data of the emulator for each thread of the system. (The shared memory of kernels is thread_local, too, and is
 * overwritten as a whole, except for this.) */
struct Own {
    Seat *seat;     /* of the thread that runs, or null */
    Fibre *left;    /* the fibre that was running before the last switch */
    Worker *worker; /* that this thread of the system is, or null */
    Host *host;     /* the runtime's data for a thread of the CPU, or null */
};
extern __thread Own own; /* without the function call that C++ makes for thread_local variables of other units */

/* Where a thread waits, for messages and to distinguish barriers. */
struct Place {
    const char *what, *file;
    int line;
};

/* A lane's contribution to a meeting of its warp. */
struct alignas(16) Deposit {
    unsigned char bytes[48];
};

[[noreturn]] void fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* __syncthreads(). Sums up the votes. */
int sync_threads(Place place, int vote = 0);
using Combine = unsigned (*)(unsigned, unsigned);
/* Waits for all lanes of the mask; returns all contributions, valid until the lane's next meeting. With `combine`,
 * entry 32 has all their numbers combined. */
const Deposit *meet(unsigned mask, const void *bytes, size_t size, Place place, Combine combine = nullptr);
/* Called where a loop waits for memory to change: lets others run. */
void spin(Place place);
/* The same for memory that another grid, or the CPU, may change. */
void spin_outside(Place place);
/* Called by atomic operations: others may run here. */
void may_switch();
void sync_grid(Place place);
void *dynamic_shared();

/* cp.async: `bytes` bytes and then zeros, `all` altogether. */
void copy_async(void *to, const void *from, unsigned bytes, unsigned all);
void copy_commit();
void copy_wait(unsigned groups);
/* mbarrier and cp.async.bulk. */
void barrier_begin(uint64_t *barrier, unsigned arrivals);
void barrier_arrive(uint64_t *barrier);
void barrier_expect(uint64_t *barrier, unsigned bytes);
void barrier_wait(uint64_t *barrier, unsigned parity);
void copy_bulk(void *to, const void *from, unsigned bytes, uint64_t *barrier);

} // namespace emulated

#endif /* EMULATED_HERE_H */
