/* SPDX-License-Identifier: MIT
 *
 * Streams and graphs: lists of work to do.
 */
#ifndef EMULATED_STREAM_H
#define EMULATED_STREAM_H

#include "device.h"

/* A node of a graph, done after the previous node: work, or a loop. */
struct GraphStep {
    emulated::Work work;
    cudaGraphConditionalHandle again; /* 0: work */
    cudaGraph_t body;
};

struct CUgraph_st {
    std::vector<GraphStep> steps;
    std::vector<cudaGraphConditionalHandle> handles;
    std::vector<std::unique_ptr<CUgraph_st>> bodies;
};

struct CUstream_st {
    static uint64_t next() {
        static uint64_t last = 0;
        return ++last;
    }
    CUctx_st *context = nullptr;
    bool legacy = false, apart = false; /* apart: does not wait for the legacy stream */
    struct Item {
        emulated::Work work;
        const volatile uint32_t *word; /* null, or it waits until this is `value` */
        uint32_t value;
        bool waits() const { return word && __atomic_load_n(word, __ATOMIC_ACQUIRE) != value; }
    };
    std::deque<Item> work;
    uint64_t enqueued = 0, done = 0, number = next();
    const emulated::Host *busy = nullptr; /* the CPU thread that does the work under way; it may have paused */
    cudaGraph_t capturing = nullptr;
};

namespace emulated {

cudaStream_t named(cudaStream_t handle);

} // namespace emulated

#endif /* EMULATED_STREAM_H */
