/* SPDX-License-Identifier: MIT
 *
 * The common operations of every CUDA handle on its context's stream: launch, check, copy, wait.
 */
#ifndef GPUOPT_CUDA_QUEUE_CUH
#define GPUOPT_CUDA_QUEUE_CUH

#include <utility>

#include "context.cuh"
#include "pinned.cuh"

namespace {

/* How a kernel is launched, besides the number of blocks. */
enum LaunchKind {
    LAUNCH_PLAIN,
    LAUNCH_COOPERATIVE, /* all blocks run at once, and may wait for one another */
    LAUNCH_OVERLAPPING  /* may start while the previous kernel still runs, and waits for it itself (sm_90) */
};

/* The shape of a launch. */
struct Grid {
    dim3 blocks;
    unsigned threads; /* of a block */
    size_t bytes;     /* dynamic shared memory of a block */
    LaunchKind kind;

    template <class Blocks, class Threads>
    Grid(Blocks blocks_, Threads threads_, size_t bytes_ = 0, LaunchKind kind_ = LAUNCH_PLAIN)
        : blocks(to_dim3(blocks_)), threads(static_cast<unsigned>(threads_)), bytes(bytes_), kind(kind_) {}

  private:
    static dim3 to_dim3(dim3 blocks) { return blocks; }
    template <class Number>
    static dim3 to_dim3(Number blocks) {
        return dim3(static_cast<unsigned>(blocks));
    }
};

class Queue {
  public:
    explicit Queue(const gpuopt_context *context = nullptr)
        : context_(context), stream_(context ? cuda_of(context)->stream : nullptr) {}
    /* The same on another stream. */
    Queue(const gpuopt_context *context, cudaStream_t stream) : context_(context), stream_(stream) {}

    const gpuopt_context *context() const { return context_; }
    cudaStream_t stream() const { return stream_; }

    /* Enqueues a kernel. launched() returns whether that worked. */
    template <class... Parameter, class... Argument>
    void launch(const Grid &grid, void (*kernel)(Parameter...), Argument &&...argument) const {
        cudaLaunchAttribute attribute = {};
        cudaLaunchConfig_t config = {};
        config.gridDim = grid.blocks;
        config.blockDim = dim3(grid.threads);
        config.dynamicSmemBytes = grid.bytes;
        config.stream = stream_;
        config.attrs = &attribute;
        config.numAttrs = grid.kind != LAUNCH_PLAIN;
        if (grid.kind == LAUNCH_COOPERATIVE) {
            attribute.id = cudaLaunchAttributeCooperative;
            attribute.val.cooperative = 1;
        } else if (grid.kind == LAUNCH_OVERLAPPING) {
            attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
            attribute.val.programmaticStreamSerializationAllowed = 1;
        }
        cudaError_t error = cudaLaunchKernelEx(&config, kernel, std::forward<Argument>(argument)...);
        if (!failed_) failed_ = error;
    }

    /* Enqueues zeros; errors count as errors of a launch. */
    void zero(void *memory, size_t bytes) const {
        const cudaError_t error = cudaMemsetAsync(memory, 0, bytes, stream_);
        if (!failed_) failed_ = error;
    }

    /* The status that a CUDA call's error stands for; a failure goes to the log. */
    gpuopt_status check(cudaError_t error, const char *what) const { return cuda_status(context_, error, what); }
    /* The status of the launches since the last check. */
    gpuopt_status launched(const char *what) const { return check(std::exchange(failed_, cudaSuccess), what); }
    gpuopt_status wait(const char *what) const { return check(cudaStreamSynchronize(stream_), what); }

    /* Enqueues a copy between any two places. */
    gpuopt_status copy(void *to, const void *from, size_t bytes, const char *what = "copying") const {
        return check(bytes ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_) : cudaSuccess, what);
    }
    /* The same for `lines` pieces of `bytes` bytes, at distances of a pitch. */
    gpuopt_status copy_lines(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t bytes, size_t lines,
                             const char *what) const {
        return check(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, bytes, lines, cudaMemcpyDefault, stream_), what);
    }
    gpuopt_status clear(void *memory, int byte, size_t bytes, const char *what = "clearing memory") const {
        return check(bytes ? cudaMemsetAsync(memory, byte, bytes, stream_) : cudaSuccess, what);
    }

    /* Called before a call with host arrays returns: waits for a copy from pinned memory that may still be under way.
     * Pageable memory has been staged already. */
    template <class... Array>
    gpuopt_status release_host(const Array *...array) const {
        const void *const arrays[] = {array...};
        for (const void *one : arrays) {
            cudaPointerAttributes attributes = {};
            if (!one || cudaPointerGetAttributes(&attributes, one) != cudaSuccess) continue;
            if (attributes.type != cudaMemoryTypeUnregistered) return wait("copying from host memory");
        }
        return GPUOPT_OK;
    }

  private:
    const gpuopt_context *context_;
    cudaStream_t stream_;
    mutable cudaError_t failed_ = cudaSuccess; /* the first failed launch since launched() */
};

} // namespace

#endif /* GPUOPT_CUDA_QUEUE_CUH */
