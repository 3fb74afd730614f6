/* SPDX-License-Identifier: MIT
 *
 * The emulated devices: contexts, memory, kernels; the parts of them that streams need.
 */
#ifndef EMULATED_DEVICE_H
#define EMULATED_DEVICE_H

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "grid.h"
#include "include/emulated/api.h"

struct CUctx_st {
    int device = 0, multiprocessors = 3;
    int retained = 0;
    bool active = false;
};

namespace emulated {

enum {
    DEVICES = 8, /* at most */
    MULTIPROCESSORS = 3,
    TOGETHER = 2,                 /* blocks of a multiprocessor, at most */
    BLOCK_MEMORY = 227 * 1024,    /* shared memory of a block, at most */
    DEFAULT_MEMORY = 48 * 1024,   /* without leave for more */
    PROCESSOR_MEMORY = 228 * 1024 /* of a multiprocessor */
};
/* How many there are. */
int devices();
constexpr size_t device_memory = size_t{2} << 30;

/* Every call into the emulated runtime holds this. */
class Lock {
  public:
    void lock() {
        mutex_.lock();
        depth_++;
    }
    void unlock() {
        depth_--;
        mutex_.unlock();
    }
    /* The holder, however often it has locked, lets others have the lock for a while. */
    void lend();

  private:
    std::recursive_mutex mutex_;
    int depth_ = 0;
};
Lock &lock();
void lend();
using Guard = std::lock_guard<Lock>;

/* The data of each thread of the CPU. They live until the process ends. */
struct Host {
    std::vector<CUctx_st *> stack;
    cudaError_t last = cudaSuccess;
};
Host &host();

/* Whether the device is lost to this thread; used by each call that may detect it, see emulated_lose_device(). */
bool lost();

/* Keeps the error for cudaGetLastError(), and returns it. */
cudaError_t failed(cudaError_t error);

/* The current context. The first call of a CPU thread makes the context of device 0 current. */
CUctx_st *current();
CUctx_st *primary(int device);
Random &chance(); /* of the CPU's calls */

/* ---- Memory ---- */

struct Allocation {
    const char *base;
    size_t bytes;
    cudaMemoryType type;
    int device;
    bool freed; /* by cudaFreeAsync(), which is not done yet */
    cudaMemPool_t pool;
};
/* After a wait: pools return memory beyond their thresholds to the driver. */
void shrink_pools();
/* The allocation at this address, or null: host memory that is not page-locked. */
Allocation *find_allocation(const void *pointer);
void forbid(const char *what); /* an error while allocations are forbidden */

/* ---- Streams ---- */

/* Something enqueued, which may happen at once or later. */
using Work = std::function<void()>;
void enqueue(cudaStream_t stream, const char *what, Work work);
void finish(cudaStream_t stream);
void finish_device(int device);

} // namespace emulated

#endif /* EMULATED_DEVICE_H */
