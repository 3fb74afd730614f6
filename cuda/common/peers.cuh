/* SPDX-License-Identifier: MIT
 *
 * Ranks of one process with devices that see one another's memory: how they detect it, how their kernels exchange
 * messages, and how writes to freed memory are prevented.
 *
 * A message, by the PTX manual's memory consistency model
 * -------------------------------------------------------
 * Each rank has a mailbox in its own device memory. The kernels of the others write cells of 16 bytes into it: a
 * double, and the number of its message. All waiting is in a rank's own memory.
 *   1. One 128-bit operation writes a cell, and one reads it. Both are strong and at system scope, which spans the
 *      devices. No access covers a part of a cell, so no accesses of different sizes race ("Limitations on Mixed-size
 *      Data-races"), and its number and its content belong together. So a message needs no flag that has to wait until
 *      the data have arrived. Cells are cleared before the first message.
 *   2. If more than the cell is to be ordered, the sender passes a barrier of the block or warp. Its fence.acq_rel.sys
 *      and the store are then a release pattern. The receiver's ld.acquire.sys, which finds the number, synchronizes
 *      with it ("Release and Acquire Patterns", "Causality Order"). For other threads of the block this holds after a
 *      barrier of the block, and for other blocks of the device after an exchange at gpu scope, since causality order
 *      is transitive.
 * Numbers have 64 bits and only grow, so that they never repeat. The family that sends a message documents who may
 * write the next message to the same place, and why the last one has been read.
 *
 * No wait lasts for ever. A waiting thread regularly checks the clock, the `lost` word of its mailbox, and a word in
 * locked host memory. Any rank may set `lost`; by the other word a CPU thread stops the kernel.
 *
 * Freed memory: a kernel may write to a mailbox, and a copy may read another rank's memory, only while the launching
 * CPU thread holds a reference there (PeerGate). Before a rank frees its memory, it closes its gate, which waits until
 * all references are released; a rank that failed stops the others' kernels before that.
 */
#ifndef GPUOPT_CUDA_PEERS_CUH
#define GPUOPT_CUDA_PEERS_CUH

#include <atomic>
#include <cuda/atomic>
#include <thread>

#include "pinned.cuh"
#include "ptx.cuh"

namespace {

enum { PEER_MOST = 16 /* most ranks */, PEER_GATES = 1024 };

/* ---- In kernels ---- */

/* A word of a message. */
struct alignas(16) PeerCell {
    double value;
    unsigned long long number;
};

/* Status words between a kernel and the CPU thread that launched it; in locked host memory. */
struct PeerStatus {
    unsigned long long number; /* of the last message */
    int lost;                  /* a wait timed out */
    unsigned stop;             /* not 0: the kernel must stop waiting */
};

using PeerWord = cuda::atomic_ref<unsigned long long, cuda::thread_scope_system>;

__device__ void peer_send(PeerCell *to, double value, unsigned long long number) {
    ptx_store_16_system(to, __double_as_longlong(value), static_cast<long long>(number));
}

/* The conditions for giving up. */
struct PeerPatience {
    unsigned long long nanoseconds;
    unsigned long long *lost; /* in the own mailbox */
    unsigned *stop;           /* in the status words */
};

/* Waits for a cell of a message. False: gave up. A message that arrived before the request to give up is still
 * received. */
__device__ bool peer_receive(const PeerCell *from, unsigned long long number, const PeerPatience &patience,
                             double *value) {
    enum { LOOK = 64, ASK = 1024 }; /* tries; ASK reads host memory, which takes longer */
    unsigned long long start = 0;
    bool over = false;
    for (unsigned tries = 1;; tries++) {
        long long low, high;
        ptx_load_16_system(from, &low, &high);
        *value = __longlong_as_double(low);
        if (static_cast<unsigned long long>(high) == number) return true;
        if (over) return false;
        if (tries % LOOK) continue;
        const unsigned long long now = ptx_nanoseconds();
        if (start == 0) start = now;
        over = (now > start && now - start > patience.nanoseconds) ||
               PeerWord(*patience.lost).load(cuda::memory_order_relaxed) != 0;
        if (!over && tries % ASK == 0)
            over = cuda::atomic_ref<unsigned, cuda::thread_scope_system>(*patience.stop)
                       .load(cuda::memory_order_relaxed) != 0;
    }
}

/* ---- One process ---- */

/* The processor's counter of cycles or ticks. */
inline uint64_t peer_ticks() {
    uint64_t low = 0, high = 0;
#if defined(__x86_64__)
    asm volatile("rdtsc" : "=a"(low), "=d"(high));
#elif defined(__aarch64__)
    asm volatile("mrs %0, cntvct_el0" : "=r"(low));
#endif
    return high << 32 | low;
}

/* A number unique to this copy of the library in this process. It depends on the addresses of the library and of the
 * thread's stack, and on the time of the first request. */
uint64_t peer_token() {
    static std::atomic<uint64_t> token;
    uint64_t known = token.load(), mine = peer_ticks();
    if (known) return known;
    mine = gpuopt__mix(mine ^ gpuopt__mix(reinterpret_cast<uintptr_t>(&token)));
    mine = gpuopt__mix(mine ^ reinterpret_cast<uintptr_t>(&mine)) | 1;
    return token.compare_exchange_strong(known, mine) ? mine : known;
}

/* ---- Gates ---- */

/* A gate, and the number of its owner among the successive owners; 0: none. */
struct PeerKey {
    uint32_t gate, owner;
};

/* owner << 32 | closing << 31 | references; owner is odd while there is one. */
class PeerGate {
  public:
    static bool open(PeerKey *key) {
        for (uint32_t k = 0; k < PEER_GATES; k++) {
            uint64_t now = gates()[k].state_.load();
            const auto owner = static_cast<uint32_t>(now >> 32) + 1;
            if (!(owner & 1) || !gates()[k].state_.compare_exchange_strong(now, uint64_t{owner} << 32)) continue;
            *key = {k, owner};
            return true;
        }
        return false;
    }
    /* False: the owner has left, or is about to. Otherwise a leave() must follow. */
    static bool enter(const PeerKey &key) {
        std::atomic<uint64_t> &state = gates()[key.gate].state_;
        uint64_t now = state.load();
        do
            if (now >> 32 != key.owner || now & CLOSING) return false;
        while (!state.compare_exchange_weak(now, now + 1));
        return true;
    }
    static void leave(const PeerKey &key) { gates()[key.gate].state_.fetch_sub(1); }
    /* No new references from now on. */
    static void shut(const PeerKey &key) { gates()[key.gate].state_.fetch_or(CLOSING); }
    /* Waits until the last reference is released. */
    static void close(const PeerKey &key) {
        std::atomic<uint64_t> &state = gates()[key.gate].state_;
        shut(key);
        while (state.load() & (CLOSING - 1)) std::this_thread::yield();
        state.store(uint64_t{key.owner + 1} << 32);
    }

  private:
    static constexpr uint64_t CLOSING = uint64_t{1} << 31;
    std::atomic<uint64_t> state_{0};
    static PeerGate *gates() {
        static PeerGate all[PEER_GATES];
        return all;
    }
};

/* ---- Finding one another ---- */

/* The data that a rank sends to the others about itself. */
struct PeerHandle {
    uint64_t token; /* of the process: a child forked since then cannot use CUDA */
    CUcontext context;
    cudaStream_t stream;
    PeerKey key;
    PeerStatus *status;   /* null: no kernel of others waits */
    int32_t device, able; /* able: 0: it has no memory that others could access */
};

/* For a context with the library's own memory; the caller's hooks may provide any memory. */
PeerHandle peer_handle(const gpuopt_context *context, const PeerKey &key, bool open, PeerStatus *status) {
    const CudaContext *cuda = cuda_of(context);
    const PeerHandle handle = {peer_token(), cuda->context,        cuda->stream,      key,
                               status,       context->desc.device, cuda->pool && open};
    return handle;
}

/* Lets the other ranks' devices access this context's memory. Returns the reason of a failure, or null; the result may
 * differ between ranks. */
const char *peer_map(const gpuopt_context *context, const PeerHandle &own, const PeerHandle &other) {
    int can = 0;
    if (!own.able || !other.able) return "memory comes from the caller's hooks, or there is no memory pool";
    if (own.token != other.token) return "ranks are in different processes";
    if (own.stream == other.stream || own.stream == cudaStreamLegacy || other.stream == cudaStreamLegacy)
        return "ranks share a stream, so that their kernels cannot run at once";
    if (own.context == other.context) return nullptr;
    if (own.device == other.device) return "ranks are in different CUDA contexts of one device";
    if (cudaDeviceCanAccessPeer(&can, own.device, other.device) != cudaSuccess || !can)
        return "a device cannot access another's memory";
    cudaMemAccessDesc access = {};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = other.device;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    return cudaMemPoolSetAccess(cuda_of(context)->pool, &access, 1) == cudaSuccess ? nullptr
                                                                                   : "a memory pool cannot be shared";
}

/* Makes another rank's kernel give up, if there is one. */
void peer_stop(const PeerHandle &other) {
    if (!PeerGate::enter(other.key)) return; /* its status words may be freed, too */
    reinterpret_cast<std::atomic<unsigned> *>(&other.status->stop)->store(1);
    PeerGate::leave(other.key);
}

} // namespace

#endif /* GPUOPT_CUDA_PEERS_CUH */
