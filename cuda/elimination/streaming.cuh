/* SPDX-License-Identifier: MIT
 *
 * The STREAM policy: the largest tables lie in host memory. A job that reads or writes one of them runs in chunks,
 * which are separate jobs (gpuopt__elimination_make_chunk()). While a chunk is computed, the input of the next one is
 * copied to the device and the output of the last one back to host memory. Two buffers at the end of the store take
 * turns. The CPU never waits if its memory could be pinned.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_STREAMING_CUH
#define GPUOPT_CUDA_ELIMINATION_STREAMING_CUH

#include <cstring>

#include "../../gpuopt_impl/elimination/plan/chunks.h"
#include "device.cuh"

namespace {

/* The part of an operand that a buffer holds. */
struct StreamPart {
    int64_t at, entries; /* first entry in its table, entries of each value; at -1: empty */
};

/* A chunk in the form that the kernel reads, without its operands and digits. */
struct StreamChunk {
    gpuopt__elimination_job job;
    int32_t list; /* 0: a list of jobs with only this one */
};

struct TableStream {
    char *memory, *store; /* the block of the tables in host memory, and their beginning in it */
    uint64_t *counts;     /* after them, or NULL */
    bool pinned;          /* by this handle */
    cudaStream_t in, out;
    cudaEvent_t filled[2], computed[2], emptied[2];
    char *chunk, *device_chunk; /* [chunk_bytes], as cut_chunk() cuts them */
    uint64_t chunk_bytes;
    StreamPart *part;                     /* [2][most operands] */
    uint64_t *gathered, *device_gathered; /* [gathered] */
    int turn;                             /* the next buffer */
};

/* The parts of a chunk in memory. */
struct ChunkCut {
    StreamChunk *head;
    gpuopt__elimination_operand *operand;
    int64_t *digit;
};

/* Places them from `base` on; returns the bytes they need. */
uint64_t cut_chunk(const gpuopt__elimination_plan &p, char *base, ChunkCut *c) {
    gpuopt__arena arena = {base, 0};
    c->head = static_cast<StreamChunk *>(gpuopt__cut(&arena, 1, sizeof *c->head));
    c->operand = static_cast<gpuopt__elimination_operand *>(gpuopt__cut(&arena, p.most_operands, sizeof *c->operand));
    c->digit = static_cast<int64_t *>(gpuopt__cut(&arena, p.chunk_digits, sizeof *c->digit));
    return arena.used;
}

/* Arrays of streaming, other than the tables, in host and in device memory. None if no table is in host memory. */
void cut_stream_host(gpuopt__arena *arena, const gpuopt__elimination_plan &p, TableStream *s) {
    ChunkCut c;
    if (!p.host_store) return;
    s->chunk_bytes = cut_chunk(p, nullptr, &c);
    s->chunk = static_cast<char *>(gpuopt__cut(arena, static_cast<int64_t>(s->chunk_bytes), 1));
    s->part = static_cast<StreamPart *>(gpuopt__cut(arena, int64_t{2} * p.most_operands, sizeof *s->part));
    s->gathered = static_cast<uint64_t *>(gpuopt__cut(arena, p.gathered, sizeof *s->gathered));
}

void cut_stream_device(gpuopt__arena *arena, const gpuopt__elimination_plan &p, TableStream *s) {
    ChunkCut c;
    if (!p.host_store) return;
    s->device_chunk = static_cast<char *>(gpuopt__cut(arena, static_cast<int64_t>(cut_chunk(p, nullptr, &c)), 1));
    s->device_gathered = static_cast<uint64_t *>(gpuopt__cut(arena, p.gathered, sizeof(uint64_t)));
}

/* Bytes of the tables in host memory. *counts: the offset of their counts. */
uint64_t stream_table_bytes(const gpuopt__elimination_plan &p, uint64_t *counts) {
    *counts = static_cast<uint64_t>(p.host_store * (p.bits / 8));
    return *counts +
           (p.semiring == GPUOPT_SEMIRING_MIN_COUNT ? sizeof(uint64_t) * static_cast<uint64_t>(p.host_store) : 0);
}

uint64_t stream_host_bytes(const gpuopt__elimination_plan &p) {
    uint64_t counts;
    return p.host_store ? stream_table_bytes(p, &counts) + 2 * stream_page : 0;
}

/* Waits for copies under way, then frees everything. */
void stream_destroy(const gpuopt_context *context, TableStream *s) {
    const cudaStream_t streams[] = {s->in, s->out};
    for (cudaStream_t stream : streams)
        if (stream) cudaStreamSynchronize(stream);
    if (s->pinned) cudaHostUnregister(s->store);
    cudaEvent_t *const pairs[] = {s->filled, s->computed, s->emptied};
    for (cudaEvent_t *events : pairs)
        for (int k = 0; k < 2; k++)
            if (events[k]) cudaEventDestroy(events[k]);
    for (cudaStream_t stream : streams)
        if (stream) cudaStreamDestroy(stream);
    gpuopt__release(context, GPUOPT_HOST, s->memory);
}

/* Pins the tables in host memory, unless the caller's allocator has done so. Pinning touches all of the memory, which
 * takes long. */
void pin_tables(const gpuopt_context *context, uint64_t bytes, TableStream *s) {
    cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, s->store) == cudaSuccess && attributes.type == cudaMemoryTypeHost) return;
    s->pinned = cudaHostRegister(s->store, bytes, cudaHostRegisterDefault) == cudaSuccess;
    if (!s->pinned) /* copies will be slower, and the CPU will wait for them */
        gpuopt__log(context, 1, "STREAM: %llu bytes of host memory could not be pinned",
                    static_cast<unsigned long long>(bytes));
}

/* Called after the arrays are cut. After a failure stream_destroy() frees everything allocated. */
gpuopt_status stream_create(const gpuopt_context *context, const gpuopt__elimination_plan &p, TableStream *s) {
    uint64_t counts, bytes = stream_table_bytes(p, &counts);
    void *memory;
    if (!p.host_store) return GPUOPT_OK;
    gpuopt_status status = gpuopt__allocate(context, GPUOPT_HOST, stream_host_bytes(p), &memory);
    if (status) return status;
    s->memory = static_cast<char *>(memory);
    s->store = s->memory + (stream_page - reinterpret_cast<uintptr_t>(memory) % stream_page);
    if (p.semiring == GPUOPT_SEMIRING_MIN_COUNT) s->counts = reinterpret_cast<uint64_t *>(s->store + counts);
    pin_tables(context, (bytes + stream_page - 1) / stream_page * stream_page, s);
    cudaStream_t *const streams[] = {&s->in, &s->out};
    for (cudaStream_t *stream : streams) GPUOPT_CUDA(context, cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    cudaEvent_t *const pairs[] = {s->filled, s->computed, s->emptied};
    for (cudaEvent_t *events : pairs)
        for (int k = 0; k < 2; k++) GPUOPT_CUDA(context, cudaEventCreateWithFlags(&events[k], cudaEventDisableTiming));
    /* The first copies on the other streams must follow the allocation of the device memory, which is in the order of
     * the context's stream. */
    for (cudaEvent_t event : s->computed) GPUOPT_CUDA(context, cudaEventRecord(event, cuda_of(context)->stream));
    return GPUOPT_OK;
}

/* Makes the context's stream wait until the tables in host memory are complete. */
gpuopt_status stream_join(const gpuopt_context *context, const gpuopt__elimination_plan &p, const TableStream &s) {
    for (int k = 0; k < 2 && p.host_store; k++)
        GPUOPT_CUDA(context, cudaStreamWaitEvent(cuda_of(context)->stream, s.emptied[k], 0));
    return GPUOPT_OK;
}

/* ---- Chunks ---- */

/* A piece of a chunk, passed as a parameter of a kernel: it does not queue behind copies, and the CPU may overwrite its
 * own copy at once. */
struct ChunkPiece {
    uint32_t word[1000];
};

__global__ void put_piece(uint32_t *to, const __grid_constant__ ChunkPiece piece, int words) {
    for (int k = threadIdx.x; k < words; k += blockDim.x) to[k] = piece.word[k];
}

/* Sends the present chunk to the device. */
gpuopt_status put_chunk(const gpuopt_context *context, const TableStream &s) {
    const Queue queue(context);
    ChunkPiece piece;
    for (uint64_t at = 0; at < s.chunk_bytes; at += sizeof piece) {
        const uint64_t bytes = s.chunk_bytes - at < sizeof piece ? s.chunk_bytes - at : sizeof piece;
        std::memcpy(&piece, s.chunk + at, bytes);
        queue.launch({1, 256}, put_piece, reinterpret_cast<uint32_t *>(s.device_chunk + at), piece,
                     static_cast<int>(bytes / sizeof *piece.word));
    }
    return queue.launched("sending a chunk's description");
}

gpuopt__elimination_chunks cut_job(const gpuopt__elimination_plan &p, const TableStream &s,
                                   const gpuopt__elimination_job &job) {
    const int64_t bytes = p.bits / 8 + (s.counts ? static_cast<int64_t>(sizeof(uint64_t)) : 0);
    gpuopt__elimination_chunks cut;
    gpuopt__elimination_cut_chunks(&job, p.digit, p.operand, p.buffer, stream_least / bytes, stream_chunks, &cut);
    return cut;
}

/* Calls visit(chunk, digits) for a chunk of each shape in a job, as long as that returns GPUOPT_OK. All chunks of a job
 * are alike except for the last piece, which may be shorter. Overwrites the caller's chunk. */
template <class Visit>
gpuopt_status for_chunk_shapes(const gpuopt__elimination_plan &p, TableStream *s, const gpuopt__elimination_job &job,
                               Visit visit) {
    const gpuopt__elimination_chunks cut = cut_job(p, *s, job);
    gpuopt_status status = GPUOPT_OK;
    ChunkCut host;
    cut_chunk(p, s->chunk, &host);
    for (int64_t number = 0; number < cut.pieces && !status; number += cut.pieces > 1 ? cut.pieces - 1 : 1) {
        gpuopt__elimination_make_chunk(&job, p.digit, p.operand, &cut, number, p.buffer_at, p.count_shift,
                                       &host.head->job, host.operand, host.digit);
        status = visit(host.head->job, host.digit);
    }
    return status;
}

/* Runs a job in chunks. launch(view, list, chunk, digits): enqueues the kernel of a chunk; digits: in host memory. */
template <class Launch>
struct ChunkRun {
    const gpuopt_context *context;
    const gpuopt__elimination_plan &p;
    TableStream *s;
    const EliminationView &view;
    const gpuopt__elimination_job &job;
    Launch launch;
    gpuopt__elimination_chunks cut;
    ChunkCut host;

    cudaStream_t stream() const { return cuda_of(context)->stream; }

    /* Copies `entries` entries of each value, side by side, to entry `to` of the store. size: bytes of an entry. */
    gpuopt_status copy_part(void *store, const void *host_store, int64_t size, int64_t to, int64_t from,
                            int64_t value_stride, int64_t entries) const {
        char *target = static_cast<char *>(store) + to * size;
        const char *source = static_cast<const char *>(host_store) + from * size;
        const size_t width = static_cast<size_t>(entries * size), pitch = static_cast<size_t>(value_stride * size);
        if (job.values == 1 || width == pitch)
            GPUOPT_CUDA(context, cudaMemcpyAsync(target, source, width * static_cast<size_t>(job.values),
                                                 cudaMemcpyHostToDevice, s->in));
        else if (value_stride * size < stream_pitch)
            GPUOPT_CUDA(context, cudaMemcpy2DAsync(target, width, source, pitch, width, static_cast<size_t>(job.values),
                                                   cudaMemcpyHostToDevice, s->in));
        else
            for (int32_t v = 0; v < job.values; v++, target += width, source += pitch)
                GPUOPT_CUDA(context, cudaMemcpyAsync(target, source, width, cudaMemcpyHostToDevice, s->in));
        return GPUOPT_OK;
    }

    /* Copies the input of a chunk to its buffer, except data that are there since the chunk before the last. */
    gpuopt_status fill(int64_t number, int set) const {
        for (int32_t k = 0; k < job.operands; k++) {
            const gpuopt__elimination_operand &of = p.operand[job.operand + k], &to = host.operand[k];
            StreamPart part = {gpuopt__elimination_chunk_at(&job, p.digit, k, &cut, number), to.value_stride};
            StreamPart *held = s->part + static_cast<int64_t>(set) * p.most_operands + k;
            if (!of.on_host || (held->at == part.at && held->entries == part.entries)) continue;
            *held = part;
            gpuopt_status status =
                copy_part(view.store, s->store, p.bits / 8, to.at, of.at + part.at, of.value_stride, part.entries);
            if (!status && s->counts)
                status = copy_part(view.counts, s->counts, sizeof(uint64_t), to.count_at, of.count_at + part.at,
                                   of.value_stride, part.entries);
            if (status) return status;
        }
        return GPUOPT_OK;
    }

    /* Copies the output of a chunk to host memory. */
    gpuopt_status empty(int64_t number, const gpuopt__elimination_job &chunk) const {
        const int64_t bytes = p.bits / 8,
                      from = gpuopt__elimination_chunk_at(&job, p.digit, job.operands, &cut, number);
        const size_t entries = static_cast<size_t>(chunk.entries);
        GPUOPT_CUDA(context, cudaMemcpyAsync(s->store + (job.at + from) * bytes,
                                             static_cast<const char *>(view.store) + chunk.at * bytes,
                                             entries * static_cast<size_t>(bytes), cudaMemcpyDeviceToHost, s->out));
        if (s->counts)
            GPUOPT_CUDA(context, cudaMemcpyAsync(s->counts + job.count_at + from, view.counts + chunk.count_at,
                                                 entries * sizeof(uint64_t), cudaMemcpyDeviceToHost, s->out));
        return GPUOPT_OK;
    }

    /* Enqueues one chunk: copies in, kernel, copies out. */
    gpuopt_status one(int64_t number) {
        const int set = s->turn;
        s->turn ^= 1;
        gpuopt__elimination_make_chunk(&job, p.digit, p.operand, &cut, number, p.buffer_at + set * p.buffer,
                                       p.count_shift, &host.head->job, host.operand, host.digit);
        const gpuopt__elimination_job &chunk = host.head->job;
        GPUOPT_CUDA(context, cudaStreamWaitEvent(s->in, s->computed[set], 0));
        gpuopt_status status = fill(number, set);
        if (status) return status;
        GPUOPT_CUDA(context, cudaEventRecord(s->filled[set], s->in));
        GPUOPT_CUDA(context, cudaStreamWaitEvent(stream(), s->filled[set], 0));
        if (job.on_host) GPUOPT_CUDA(context, cudaStreamWaitEvent(stream(), s->emptied[set], 0));
        EliminationView own = view;
        ChunkCut device;
        cut_chunk(p, s->device_chunk, &device);
        own.job = &device.head->job;
        own.operand = device.operand;
        own.digit = device.digit;
        status = put_chunk(context, *s);
        if (!status) status = launch(own, &device.head->list, chunk, host.digit);
        if (status) return status;
        GPUOPT_CUDA(context, cudaEventRecord(s->computed[set], stream()));
        if (!job.on_host) return GPUOPT_OK;
        GPUOPT_CUDA(context, cudaStreamWaitEvent(s->out, s->computed[set], 0));
        status = empty(number, chunk);
        if (status) return status;
        GPUOPT_CUDA(context, cudaEventRecord(s->emptied[set], s->out));
        return GPUOPT_OK;
    }

    /* Waits for earlier copies to host memory: their data may be input here, and their parts of the buffers become
     * free. */
    gpuopt_status run() {
        cut_chunk(p, s->chunk, &host);
        host.head->list = 0;
        cut = cut_job(p, *s, job);
        for (int64_t k = 0; k < int64_t{2} * p.most_operands; k++) s->part[k].at = -1;
        for (int k = 0; k < 2; k++) GPUOPT_CUDA(context, cudaStreamWaitEvent(s->in, s->emptied[k], 0));
        for (int64_t number = 0; number < cut.count; number++) {
            gpuopt_status status = one(number);
            if (status) return status;
        }
        return GPUOPT_OK;
    }
};

template <class Launch>
gpuopt_status run_chunks(const gpuopt_context *context, const gpuopt__elimination_plan &p, TableStream *s,
                         const EliminationView &view, const gpuopt__elimination_job &job, Launch launch) {
    ChunkRun<Launch> run = {context, p, s, view, job, launch, {}, {}};
    return run.run();
}

/* ---- Reading tables in host memory ---- */

/* `count` entries of a table from `first` on. */
gpuopt_status stream_read(const gpuopt_context *context, const gpuopt__elimination_plan &p, const TableStream &s,
                          const gpuopt__elimination_table &t, int64_t first, int64_t count, void *cost,
                          uint64_t *counts) {
    const int64_t bytes = p.bits / 8;
    GPUOPT_CUDA(context, cudaStreamSynchronize(s.out));
    if (cost) std::memcpy(cost, s.store + (t.at + first) * bytes, static_cast<size_t>(count * bytes));
    if (counts) std::memcpy(counts, s.counts + t.count_at + first, static_cast<size_t>(count) * sizeof *counts);
    return GPUOPT_OK;
}

/* The entries of a bucket's tables at an assignment, for each value of its variable: to [inputs][values], 8 bytes each.
 * Entries of tables in host memory are 0 here; gather_host_table() fills them in. */
__global__ void gather_bucket(EliminationView e, int32_t position, int32_t values, uint64_t *to) {
    const gpuopt__elimination_bucket &bucket = e.bucket[e.first_bucket[position]];
    const int32_t variable = e.order[position];
    for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
         i < static_cast<int64_t>(bucket.inputs) * values; i += static_cast<int64_t>(gridDim.x) * blockDim.x) {
        const gpuopt__elimination_table &t = e.table[e.input[bucket.input + i / values]];
        if (t.on_host) {
            to[i] = 0;
            continue;
        }
        int64_t at = t.at;
        for (int32_t k = 0; k < t.arity; k++) {
            int32_t v = e.scope[t.scope + k];
            at += e.stride[t.scope + k] * (v == variable ? static_cast<int32_t>(i % values) : e.value[v]);
        }
        to[i] = gpuopt__elimination_stored_cost(e.store, e.bits, at);
    }
}

/* The same for one table in host memory; the bucket's variable is its slowest. */
void gather_host_table(const gpuopt__elimination_plan &p, const TableStream &s, const gpuopt__elimination_table &t,
                       int32_t values, const int32_t *value, uint64_t *to) {
    int64_t at = t.at;
    for (int32_t k = 1; k < t.arity; k++) at += p.stride[t.scope + k] * value[p.scope[t.scope + k]];
    for (int32_t v = 0; v < values; v++)
        to[v] = gpuopt__elimination_stored_cost(s.store, p.bits, at + v * p.stride[t.scope]);
}

/* The value with the least sum, the smallest of equal values, by the same additions as in assign_variable(). */
int32_t best_value(const gpuopt__elimination_plan &p, int32_t inputs, int32_t values, const uint64_t *entry) {
    gpuopt__elimination_total least = {UINT64_MAX, 1, HUGE_VAL, 0};
    int32_t best = 0;
    for (int32_t v = 0; v < values; v++) {
        gpuopt__elimination_total sum = {0, 1, 0, 0};
        for (int32_t k = 0; k < inputs; k++) {
            const uint64_t cost = entry[static_cast<int64_t>(k) * values + v];
            double own;
            std::memcpy(&own, &cost, sizeof own);
            if (p.type == GPUOPT_COST_DOUBLE) sum.value = gpuopt__add(sum.value, own);
            else sum.cost = gpuopt__elimination_clamped_sum(sum.cost, cost, p.forbidden);
        }
        if (p.type == GPUOPT_COST_DOUBLE ? sum.value < least.value : sum.cost < least.cost) least = sum, best = v;
    }
    return best;
}

/* The value phase without the cost of the assignment: value [variables] in and out, and on the device. Takes one
 * exchange with the device for each variable. */
gpuopt_status stream_assign(const gpuopt_context *context, const gpuopt__elimination_plan &p, const TableStream &s,
                            const EliminationView &view, int32_t *value) {
    const Queue queue(context);
    const cudaStream_t stream = queue.stream();
    GPUOPT_CUDA(context, cudaStreamSynchronize(s.out));
    for (int32_t position = p.steps - 1; position >= 0; position--) {
        const gpuopt__elimination_bucket &bucket = p.bucket[p.first_bucket[position]];
        const int32_t variable = p.order[position], values = p.domain[variable];
        const int64_t entries = static_cast<int64_t>(bucket.inputs) * values;
        value[variable] = 0;
        if (entries) {
            const unsigned blocks = static_cast<unsigned>(entries < 65536 ? (entries + 255) / 256 : 256);
            queue.launch({blocks, 256}, gather_bucket, view, position, values, s.device_gathered);
            gpuopt_status status = queue.launched("gathering a bucket's entries");
            if (status) return status;
            GPUOPT_CUDA(context,
                        cudaMemcpyAsync(s.gathered, s.device_gathered, static_cast<size_t>(entries) * sizeof(uint64_t),
                                        cudaMemcpyDeviceToHost, stream));
            GPUOPT_CUDA(context, cudaStreamSynchronize(stream));
            for (int32_t k = 0; k < bucket.inputs; k++) {
                const gpuopt__elimination_table &t = p.table[p.input[bucket.input + k]];
                if (t.on_host) gather_host_table(p, s, t, values, value, s.gathered + static_cast<int64_t>(k) * values);
            }
            value[variable] = best_value(p, bucket.inputs, values, s.gathered);
        }
        GPUOPT_CUDA(context, cudaMemcpyAsync(view.value + variable, value + variable, sizeof *value,
                                             cudaMemcpyHostToDevice, stream));
    }
    return GPUOPT_OK;
}

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_STREAMING_CUH */
