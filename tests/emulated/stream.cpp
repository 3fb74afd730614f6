/* SPDX-License-Identifier: MIT
 *
 * Streams and events, and copies on them. Enqueued work happens at once or, with a seed, by chance later: at the latest
 * when a thread waits for it. Work after a wait for a value (cuStreamWaitValue32) happens once the value is there and a
 * call checks. A call that would wait for such work earlier is refused with a message.
 */
#include "stream.h"

#include <cstring>

#include "emulated.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace emulated {

static std::vector<cudaStream_t> &streams() {
    static auto *all = new std::vector<cudaStream_t>;
    return *all;
}

/* The stream of a handle; 0 and similar handles stand for one stream of each device. */
cudaStream_t named(cudaStream_t stream) {
    static auto *of_device = new std::vector<std::unique_ptr<CUstream_st>>(DEVICES);
    if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread) {
        CUctx_st *context = current();
        auto &one = (*of_device)[static_cast<size_t>(context->device)];
        if (!one) {
            one = std::make_unique<CUstream_st>();
            one->context = context;
            one->legacy = true;
        }
        return one.get();
    }
    for (cudaStream_t known : streams())
        if (known == stream) return stream;
    fatal("there is no stream %p", static_cast<void *>(stream));
}

/* Does the work enqueued on the stream before `position`, as far as it need not wait for a value. */
static void advance(cudaStream_t stream, uint64_t position) {
    while (stream->busy && stream->busy != &host()) lend();
    while (!stream->work.empty() && stream->done < position && !stream->work.front().waits()) {
        const Host *before = stream->busy;
        Work work = std::move(stream->work.front().work);
        stream->work.pop_front();
        stream->done++;
        stream->busy = &host();
        work();
        stream->busy = before;
    }
}

static void finish_until(cudaStream_t stream, uint64_t position) {
    advance(stream, position);
    if (!stream->work.empty() && stream->done < position)
        fatal("somebody waits for a stream that waits for a value which nobody may write");
}

void finish(cudaStream_t stream) {
    if (stream->capturing) fatal("somebody waits for a stream that is being captured");
    finish_until(stream, stream->enqueued);
}

void finish_device(int device) {
    for (size_t k = 0; k < streams().size(); k++)
        if (streams()[k]->context->device == device && !streams()[k]->capturing) finish(streams()[k]);
}

void enqueue(cudaStream_t handle, const char *what, Work work) {
    cudaStream_t stream = named(handle);
    if (stream->context != current())
        fatal("%s is enqueued on a stream of device %d while device %d is current", what, stream->context->device,
              current()->device);
    if (stream->capturing) {
        stream->capturing->steps.push_back({std::move(work), 0, nullptr});
        return;
    }
    if (stream->legacy) /* it waits for the streams that wait for it */
        for (cudaStream_t other : streams())
            if (other->context == stream->context && !other->apart && !other->capturing) finish(other);
    stream->work.push_back({std::move(work), nullptr, 0});
    stream->enqueued++;
    if (!seed() || stream->legacy || chance().one_in(4)) advance(stream, stream->enqueued);
}

/* ---- Copies ---- */

static bool on_device(const void *pointer) {
    const Allocation *a = find_allocation(pointer);
    return a && a->type == cudaMemoryTypeDevice;
}

static void check_inside(const char *what, const void *pointer, size_t bytes) {
    const Allocation *a = find_allocation(pointer);
    if (a && a->freed) fatal("%s: the memory at %p has been freed", what, pointer);
    if (a && static_cast<const char *>(pointer) + bytes > a->base + a->bytes)
        fatal("%s: %zu bytes at %p end %zu bytes after the allocation", what, bytes, pointer,
              static_cast<size_t>(static_cast<const char *>(pointer) + bytes - a->base - a->bytes));
}

static void check_sides(const void *to, const void *from, cudaMemcpyKind kind) {
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind == cudaMemcpyDefault || (on_device(to) == to_device && on_device(from) == from_device)) return;
    fatal("a copy of kind %d from %s to %s memory", static_cast<int>(kind), on_device(from) ? "device" : "host",
          on_device(to) ? "device" : "host");
}

/* Unseen by the sanitizer: a handle's whole block, or several of its arrays, may be cleared or copied at once, with the
 * gaps between them. */
#if defined(__SANITIZE_ADDRESS__)
#define EMULATED_UNSEEN __attribute__((no_sanitize_address, noinline, optimize("no-tree-loop-distribute-patterns")))
#else
#define EMULATED_UNSEEN
#endif
EMULATED_UNSEEN static void fill(void *memory, int byte, size_t bytes) {
    auto *at = static_cast<unsigned char *>(memory);
    for (size_t k = 0; k < bytes; k++) at[k] = static_cast<unsigned char>(byte);
}
EMULATED_UNSEEN static void move(char *to, const char *from, size_t bytes) {
    if (to <= from)
        for (size_t k = 0; k < bytes; k++) to[k] = from[k];
    else
        for (size_t k = bytes; k-- > 0;) to[k] = from[k];
}

/* Checks host memory that is not page-locked: no part may be fenced off by the sanitizer, except the gaps (0xf7). */
EMULATED_UNSEEN static void check_host(const void *memory, size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
    size_t scale, offset;
    if (find_allocation(memory)) return;
    __asan_get_shadow_mapping(&scale, &offset);
    const uintptr_t first = reinterpret_cast<uintptr_t>(memory), last = first + bytes - 1;
    for (uintptr_t at = first >> scale; at <= last >> scale; at++) {
        const auto shadow = *reinterpret_cast<const unsigned char *>(at + offset);
        if (shadow >= 0x80 && shadow != 0xf7)
            fatal("a copy: of %zu bytes of host memory at %p some may not be touched", bytes, memory);
    }
#else
    (void)memory, (void)bytes;
#endif
}

struct Copy2D {
    char *to;
    const char *from;
    size_t to_pitch, from_pitch, width, height;
};

/* Pageable host memory is read before the call returns, and written before it returns. */
static void copy(const Copy2D &c, cudaMemcpyKind kind, cudaStream_t stream) {
    check_sides(c.to, c.from, kind);
    if (!c.width || !c.height) return;
    check_inside("a copy to", c.to, (c.height - 1) * c.to_pitch + c.width);
    check_inside("a copy from", c.from, (c.height - 1) * c.from_pitch + c.width);
    for (size_t k = 0; k < c.height; k++)
        check_host(c.to + k * c.to_pitch, c.width), check_host(c.from + k * c.from_pitch, c.width);
    auto whole = [](const Copy2D &d) {
        for (size_t k = 0; k < d.height; k++) move(d.to + k * d.to_pitch, d.from + k * d.from_pitch, d.width);
    };
    bool capturing = named(stream)->capturing != nullptr;
    if (!capturing && !find_allocation(c.from)) {
        auto staged = std::make_shared<std::vector<char>>(c.width * c.height);
        whole({staged->data(), c.from, c.width, c.from_pitch, c.width, c.height});
        enqueue(stream, "a copy", [=] { whole({c.to, staged->data(), c.to_pitch, c.width, c.width, c.height}); });
    } else {
        enqueue(stream, "a copy", [=] { whole(c); });
    }
    if (!capturing && !find_allocation(c.to)) finish(named(stream));
}

} // namespace emulated

using namespace emulated;

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    Guard guard(lock());
    if (lost()) return failed(cudaErrorLaunchFailure);
    copy({static_cast<char *>(to), static_cast<const char *>(from), bytes, bytes, bytes, 1}, kind, stream);
    return cudaSuccess;
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    Guard guard(lock());
    if (lost()) return failed(cudaErrorLaunchFailure);
    if (width > to_pitch || width > from_pitch) return failed(cudaErrorInvalidValue);
    copy({static_cast<char *>(to), static_cast<const char *>(from), to_pitch, from_pitch, width, height}, kind, stream);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}

cudaError_t cudaMemsetAsync(void *memory, int byte, size_t bytes, cudaStream_t stream) {
    Guard guard(lock());
    if (lost()) return failed(cudaErrorLaunchFailure);
    const Allocation *a = find_allocation(memory);
    if (bytes && !a) fatal("a memset of host memory at %p", memory);
    check_inside("a memset", memory, bytes);
    enqueue(stream, "a memset", [=] { fill(memory, byte, bytes); });
    return cudaSuccess;
}

cudaError_t cudaMemset(void *memory, int byte, size_t bytes) { return cudaMemsetAsync(memory, byte, bytes, nullptr); }

/* ---- Streams ---- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    Guard guard(lock());
    forbid("cudaStreamCreate");
    *stream = new CUstream_st;
    (*stream)->context = current();
    (*stream)->apart = flags & cudaStreamNonBlocking;
    streams().push_back(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int) {
    return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
    Guard guard(lock());
    cudaStream_t stream = named(handle);
    finish(stream);
    std::vector<cudaStream_t> &all = streams();
    for (size_t k = 0; k < all.size(); k++)
        if (all[k] == stream) all.erase(all.begin() + static_cast<std::ptrdiff_t>(k));
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    Guard guard(lock());
    if (lost()) return failed(cudaErrorLaunchFailure);
    if (named(stream)->capturing) return failed(cudaErrorStreamCaptureUnsupported);
    finish(named(stream));
    shrink_pools();
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    Guard guard(lock());
    if (lost()) return failed(cudaErrorLaunchFailure);
    if (!named(stream)->work.empty() && chance().one_in(2)) return cudaErrorNotReady;
    if (!named(stream)->capturing) advance(named(stream), named(stream)->enqueued);
    if (!named(stream)->work.empty() && !named(stream)->capturing) return cudaErrorNotReady;
    return cudaStreamSynchronize(stream);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void *), void *argument) {
    Guard guard(lock());
    enqueue(stream, "a host function", [=] { function(argument); });
    return cudaSuccess;
}

CUresult cuStreamWaitValue32(CUstream handle, CUdeviceptr word, uint32_t value, unsigned flags) {
    Guard guard(lock());
    cudaStream_t stream = named(handle);
    if (flags != CU_STREAM_WAIT_VALUE_EQ || stream->capturing) return CUDA_ERROR_INVALID_VALUE;
    stream->work.push_back({[] {}, reinterpret_cast<const volatile uint32_t *>(word), value});
    stream->enqueued++;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
    Guard guard(lock());
    *context = named(stream)->context;
    return CUDA_SUCCESS;
}

/* ---- Events ---- */

struct CUevent_st {
    cudaStream_t stream = nullptr;
    uint64_t position = 0, number = 0;
    bool is_destroyed() const {
        for (cudaStream_t s : streams())
            if (s == stream && s->number == number) return false;
        return true;
    }
};

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
    forbid("cudaEventCreate");
    *event = new CUevent_st;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
    Guard guard(lock());
    cudaStream_t stream = named(handle);
    if (stream->capturing) fatal("an event is recorded in a stream that is being captured");
    *event = {stream, stream->enqueued, stream->number};
    return cudaSuccess;
}

static void wait_for(const CUevent_st &event) {
    if (event.stream && !event.is_destroyed()) finish_until(event.stream, event.position);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    Guard guard(lock());
    CUevent_st now = *event;
    enqueue(stream, "a wait", [now] { wait_for(now); });
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    Guard guard(lock());
    if (lost()) return failed(cudaErrorLaunchFailure);
    wait_for(*event);
    shrink_pools();
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t, cudaEvent_t) {
    *milliseconds = 0;
    return cudaSuccess;
}
