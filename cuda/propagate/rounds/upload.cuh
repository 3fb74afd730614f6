/* SPDX-License-Identifier: MIT
 *
 * Propagation on the GPU: a model in the caller's form, in device memory while _create works. The arrays are uploaded
 * unchanged and checked there, a matrix by columns is transposed, and the rows are sorted by the layout for their
 * length (device.cuh). layout.cuh then lays them out.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_ROUNDS_UPLOAD_CUH
#define GPUOPT_CUDA_PROPAGATE_ROUNDS_UPLOAD_CUH

#include <algorithm>

#include "../../../gpuopt_impl/propagate/check/model.h"
#include "../../common/sort.cuh"
#include "device.cuh"

namespace {

/* Classes of rows, in the order of their slots: short rows by decreasing length, then rows of one warp by decreasing
 * length, then split rows. So warps that run together have about the same work. */
enum { CLASSES = GPUOPT__PROPAGATOR_SEGMENT + 2, CLASS_BITS = 10 };
static_assert(CLASSES <= 1 << CLASS_BITS, "classes are sorted by this many bits");

__host__ __device__ constexpr int class_of(long long length) {
    return length <= GPUOPT__PROPAGATOR_SHORT ? static_cast<int>(GPUOPT__PROPAGATOR_SHORT - length)
           : length <= GPUOPT__PROPAGATOR_SEGMENT
               ? static_cast<int>(GPUOPT__PROPAGATOR_SHORT + 1 + GPUOPT__PROPAGATOR_SEGMENT - length)
               : CLASSES - 1;
}
/* The length of the rows of a class, the last one excepted. */
constexpr int length_of(int row_class) {
    return row_class <= GPUOPT__PROPAGATOR_SHORT
               ? GPUOPT__PROPAGATOR_SHORT - row_class
               : GPUOPT__PROPAGATOR_SHORT + 1 + GPUOPT__PROPAGATOR_SEGMENT - row_class;
}

/* The results of a check of the numbers. */
enum {
    FOUND_FAULT = 1,      /* a number that the CPU must report */
    FOUND_DUPLICATE = 2,  /* a repeated column in a row */
    FOUND_UNORDERED = 4,  /* a line with indices that do not ascend, which may have duplicates */
    FOUND_NOT_SINGLE = 8, /* a coefficient that single precision does not represent */
    FOUND_INTEGER = 16    /* an integer column */
};
struct Census {
    unsigned found;
    int longest;        /* the longest split row */
    long long segments; /* of split rows */
    int first[CLASSES]; /* the first rank of each class; -1: there is none */
};

/* The caller's arrays, each null if the caller gave none, and scratch memory. */
struct Raw {
    long long *start; /* [lines + 1] */
    unsigned *index;  /* [nonzeros]; also the first buffer for keys, so sorting destroys it */
    double *value;    /* [nonzeros]; by rows: also the buffers for items, once the values have been stored */
    double *lhs, *rhs, *lb, *ub;
    unsigned char *integer;
    unsigned *other_key;    /* [nonzeros] */
    int *item[2];           /* [nonzeros] each */
    long long *row_start;   /* [rows + 1]; by rows: start */
    unsigned *row_class[2]; /* [rows] */
    int *row[2];            /* [rows]: in the order of slots after sorting */
    Census *census;
    Scratch scratch;
    long long nonzeros;
    int rows, cols, lines, width;
    bool by_columns;
};

__device__ void note(Census *census, unsigned found) {
    found = any_of_warp(found);
    if (found && threadIdx.x % WARP == 0) atomicOr(&census->found, found);
}

/* ---- Lines of entries ---- */

/* The last of the lines low .. high - 1 that begins at entry k or before; `low` does. */
__device__ int line_of(const long long *start, int low, int high, long long k) {
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (start[middle] <= k) low = middle;
        else high = middle;
    }
    return low;
}

/* Calls f(k, line) for every entry k, in the order of memory, for any lengths of the lines. All threads of the block
 * take part. */
template <class F>
__device__ void each_entry(const long long *start, int lines, long long count, F f) {
    enum { TILE = 16 * THREADS };
    __shared__ int of_tile[2]; /* the lines of its first and last entry */
    for (long long tile = static_cast<long long>(blockIdx.x) * TILE; tile < count;
         tile += static_cast<long long>(gridDim.x) * TILE) {
        long long end = tile + TILE < count ? tile + TILE : count;
        int warp = static_cast<int>(threadIdx.x) / WARP;
        if (warp < 2) {
            int line = line_of(start, 0, lines, warp == 0 ? tile : end - 1);
            if (threadIdx.x % WARP == 0) of_tile[warp] = line;
        }
        __syncthreads();
        for (long long k = tile + threadIdx.x; k < end; k += THREADS)
            f(k, line_of(start, of_tile[0], of_tile[1] + 1, k));
        __syncthreads();
    }
}

/* starts[i]: how many of the sorted keys are below i, for i = 0 .. ends - 1. */
__global__ void __launch_bounds__(THREADS)
    find_starts(const unsigned *key, long long count, long long *starts, long long ends) {
    for (long long i = grid_thread(); i < ends; i += grid_threads()) {
        long long low = 0, high = count;
        while (low < high) {
            long long middle = low + (high - low) / 2;
            if (key[middle] < i) low = middle + 1;
            else high = middle;
        }
        starts[i] = low;
    }
}

/* ---- Checks, as gpuopt__propagator_check_numbers() does them ---- */

__global__ void __launch_bounds__(THREADS) check_entries(const __grid_constant__ Raw raw, double least, double most) {
    unsigned found = 0;
    each_entry(raw.start, raw.lines, raw.nonzeros, [&](long long k, int line) {
        double a = raw.value[k], size = fabs(a);
        unsigned i = raw.index[k];
        if (i >= static_cast<unsigned>(raw.width) || !(size >= least && size <= most)) found |= FOUND_FAULT;
        if (!(size <= FLT_MAX && static_cast<double>(static_cast<float>(a)) == a)) found |= FOUND_NOT_SINGLE;
        if (k > raw.start[line] && raw.index[k - 1] >= i) found |= FOUND_UNORDERED;
    });
    note(raw.census, found);
}

__device__ unsigned check_pair(const double *low, const double *high, long long i, double infinity, bool may_cross) {
    double l = low ? low[i] : -HUGE_VAL, h = high ? high[i] : HUGE_VAL;
    return l < infinity && h > -infinity && (may_cross || !(l > h)) ? 0u : +FOUND_FAULT;
}

__global__ void __launch_bounds__(THREADS) check_vectors(const __grid_constant__ Raw raw, double infinity) {
    unsigned found = 0;
    for (long long i = grid_thread(); i < raw.rows; i += grid_threads())
        found |= check_pair(raw.lhs, raw.rhs, i, infinity, false);
    for (long long j = grid_thread(); j < raw.cols; j += grid_threads()) {
        found |= check_pair(raw.lb, raw.ub, j, infinity, true);
        if (raw.integer && raw.integer[j]) found |= FOUND_INTEGER;
    }
    note(raw.census, found);
}

/* ---- Classes of rows ---- */

__global__ void __launch_bounds__(THREADS) classify_rows(const __grid_constant__ Raw raw) {
    for (long long i = grid_thread(); i < raw.rows; i += grid_threads()) {
        long long length = raw.row_start[i + 1] - raw.row_start[i];
        if (length < 0) length = 0; /* between indices out of range */
        raw.row_class[0][i] = static_cast<unsigned>(class_of(length));
        raw.row[0][i] = static_cast<int>(i);
        if (length <= GPUOPT__PROPAGATOR_SEGMENT) continue;
        atomicMax(&raw.census->longest, static_cast<int>(length));
        atomicAdd(reinterpret_cast<unsigned long long *>(&raw.census->segments),
                  static_cast<unsigned long long>(segments_of(static_cast<int>(length))));
    }
}

/* `sorted`: the classes in the order of slots. */
__global__ void __launch_bounds__(THREADS) find_classes(const unsigned *sorted, int rows, Census *census) {
    for (long long i = grid_thread(); i < rows; i += grid_threads())
        if (i == 0 || sorted[i] != sorted[i - 1]) census->first[sorted[i]] = static_cast<int>(i);
}

/* ---- A matrix by columns ---- */

__global__ void __launch_bounds__(THREADS) number_entries(int *item, long long count) {
    for (long long k = grid_thread(); k < count; k += grid_threads()) item[k] = static_cast<int>(k);
}

__global__ void __launch_bounds__(THREADS) number_lines(const __grid_constant__ Raw raw, unsigned *line_of_entry) {
    each_entry(raw.start, raw.lines, raw.nonzeros,
               [&](long long k, int line) { line_of_entry[k] = static_cast<unsigned>(line); });
}

/* ---- The CPU side ---- */

/* Blocks for a kernel with a thread for each of `things`, or with fewer threads that take several each. */
int blocks_for(int64_t things) {
    int64_t needed = (things + THREADS - 1) / THREADS;
    return static_cast<int>(needed < 1 ? 1 : needed > 4096 ? 4096 : needed);
}

/* Whether _create takes a model unchanged. A matrix by columns with positions of more than 32 bits comes by rows. */
int checks_numbers(const gpuopt__propagator_model *model) {
    return model->desc.matrix.layout == GPUOPT_LAYOUT_CSR || model->nonzeros <= int64_t{UINT32_MAX};
}

/* Memory of a model's raw arrays, cut from one block, or measured if arena.base is null. */
gpuopt_status cut_raw(const Queue &queue, const gpuopt_propagator_desc &desc, bool by_columns, int64_t nonzeros,
                      gpuopt__arena &arena, Raw &raw) {
    auto cut = [&](auto *&pointer, int64_t count, bool wanted = true) {
        using T = typename std::remove_reference<decltype(*pointer)>::type;
        pointer = wanted ? static_cast<T *>(gpuopt__cut(&arena, count, sizeof(T))) : nullptr;
    };
    int64_t items = (nonzeros + 63) / 64 * 64; /* so that two arrays of items fit into one of values */
    raw.nonzeros = nonzeros;
    raw.rows = desc.matrix.rows, raw.cols = desc.matrix.cols;
    raw.by_columns = by_columns;
    raw.lines = by_columns ? raw.cols : raw.rows, raw.width = by_columns ? raw.rows : raw.cols;
    cut(raw.start, raw.lines + int64_t{1});
    cut(raw.index, nonzeros);
    cut(raw.value, items);
    cut(raw.lhs, raw.rows, desc.lhs);
    cut(raw.rhs, raw.rows, desc.rhs);
    cut(raw.lb, raw.cols, desc.lb);
    cut(raw.ub, raw.cols, desc.ub);
    cut(raw.integer, raw.cols, desc.integer);
    cut(raw.other_key, nonzeros);
    cut(raw.row_start, raw.rows + int64_t{1}, raw.by_columns);
    if (!raw.by_columns) raw.row_start = raw.start;
    cut(raw.item[0], items, raw.by_columns);
    if (!raw.by_columns) raw.item[0] = reinterpret_cast<int *>(raw.value);
    cut(raw.item[1], items, raw.by_columns);
    if (!raw.by_columns && raw.value) raw.item[1] = raw.item[0] + items;
    for (unsigned *&row_class : raw.row_class) cut(row_class, raw.rows);
    for (int *&row : raw.row) cut(row, raw.rows);
    cut(raw.census, 1);
    size_t needed[4];
    gpuopt_status status = sort_scratch(queue, nonzeros, bits_below(raw.width), &needed[0]);
    if (!status) status = sort_scratch(queue, raw.rows, CLASS_BITS, &needed[1]);
    if (!status) status = sum_scratch<long long>(queue, raw.rows + int64_t{1}, &needed[2]);
    if (!status) status = sum_scratch<int>(queue, raw.rows + int64_t{1}, &needed[3]);
    if (status) return status;
    raw.scratch.bytes = 1; /* null would be a query of the size */
    for (size_t bytes : needed)
        if (bytes > raw.scratch.bytes) raw.scratch.bytes = bytes;
    raw.scratch.memory = gpuopt__cut(&arena, static_cast<int64_t>(raw.scratch.bytes), 1);
    return GPUOPT_OK;
}

/* A raw model while _create works. */
class RawModel {
  public:
    Raw raw = {};
    Census census = {};
    /* By columns: the entries' keys (rows) and items (places in the caller's arrays), sorted by rows. By rows: as
     * uploaded, to be sorted by columns if necessary. */
    Pairs entries = {};
    Pairs rows = {}; /* keys: classes */

    explicit RawModel(const Queue &queue) : queue_(queue) {}
    ~RawModel() {
        if (memory_) cudaStreamSynchronize(queue_.stream()); /* the caller's allocator does not wait for the stream */
        gpuopt__release(queue_.context(), GPUOPT_DEVICE, memory_);
    }
    RawModel(const RawModel &) = delete;
    RawModel &operator=(const RawModel &) = delete;

    /* Uploads the arrays and takes the census; waits. */
    gpuopt_status open(const gpuopt__propagator_model &model) {
        gpuopt__arena arena = {nullptr, 0};
        gpuopt_status loaded = load_kernels(queue_.context(), check_entries, check_vectors, classify_rows, find_classes,
                                            number_entries, number_lines, find_starts);
        if (loaded) return loaded;
        const bool by_columns = model.desc.matrix.layout == GPUOPT_LAYOUT_CSC;
        gpuopt_status status = cut_raw(queue_, model.desc, by_columns, model.nonzeros, arena, raw);
        if (!status) status = gpuopt__allocate(queue_.context(), GPUOPT_DEVICE, arena.used, &memory_);
        if (status) return status;
        arena = {static_cast<char *>(memory_), 0};
        status = cut_raw(queue_, model.desc, by_columns, model.nonzeros, arena, raw);
        entries = {{raw.index, raw.other_key}, {raw.item[0], raw.item[1]}, 0};
        rows = {{raw.row_class[0], raw.row_class[1]}, {raw.row[0], raw.row[1]}, 0};
        if (!status) status = upload(model.desc);
        if (!status) status = take_census(model);
        return status;
    }

    /* Waits until the layout is made. If only the layout shows duplicates, reads the results again. */
    gpuopt_status count_again() {
        gpuopt_status status = GPUOPT_OK;
        if (raw.by_columns || census.found & FOUND_UNORDERED) status = queue_.copy(&census, raw.census, sizeof census);
        return status ? status : queue_.wait("laying out the rows");
    }

    bool faulty() const { return census.found & (FOUND_FAULT | FOUND_DUPLICATE); }

  private:
    const Queue &queue_;
    void *memory_ = nullptr;

    gpuopt_status upload(const gpuopt_propagator_desc &desc) {
        gpuopt_status status = GPUOPT_OK;
        auto send = [&](void *to, const auto *from, int64_t count) {
            if (!status && from) status = queue_.copy(to, from, sizeof(*from) * static_cast<size_t>(count));
        };
        send(raw.start, desc.matrix.start, raw.lines + int64_t{1});
        send(raw.index, desc.matrix.index, raw.nonzeros);
        send(raw.value, desc.matrix.value, raw.nonzeros);
        send(raw.lhs, desc.lhs, raw.rows);
        send(raw.rhs, desc.rhs, raw.rows);
        send(raw.lb, desc.lb, raw.cols);
        send(raw.ub, desc.ub, raw.cols);
        send(raw.integer, desc.integer, raw.cols);
        return status;
    }

    gpuopt_status take_census(const gpuopt__propagator_model &model) {
        for (int &first : census.first) first = -1;
        gpuopt_status status = queue_.copy(raw.census, &census, sizeof census);
        if (status) return status;
        queue_.launch({blocks_for(raw.nonzeros), THREADS}, check_entries, raw, gpuopt__propagator_least_value(&model),
                      gpuopt__propagator_most_value(&model));
        queue_.launch({blocks_for(std::max(raw.rows, raw.cols)), THREADS}, check_vectors, raw, model.rules.infinity);
        if (raw.by_columns) status = transpose();
        queue_.launch({blocks_for(raw.rows), THREADS}, classify_rows, raw);
        if (!status) status = sort_pairs(queue_, raw.scratch, rows, raw.rows, CLASS_BITS);
        queue_.launch({blocks_for(raw.rows), THREADS}, find_classes, rows.key[rows.current], raw.rows, raw.census);
        if (!status) status = queue_.launched("checking the model");
        if (!status) status = queue_.copy(&census, raw.census, sizeof census);
        return status ? status : queue_.wait("copying the model to the device");
    }

    /* Sorts the entries by rows. Leaves the entries' columns in the buffer for keys that is then free. */
    gpuopt_status transpose() {
        queue_.launch({blocks_for(raw.nonzeros), THREADS}, number_entries, raw.item[0], raw.nonzeros);
        gpuopt_status status = sort_pairs(queue_, raw.scratch, entries, raw.nonzeros, bits_below(raw.rows));
        queue_.launch({blocks_for(raw.rows + int64_t{1}), THREADS}, find_starts, entries.key[entries.current],
                      raw.nonzeros, raw.row_start, raw.rows + int64_t{1});
        queue_.launch({blocks_for(raw.nonzeros), THREADS}, number_lines, raw, entries.key[!entries.current]);
        return status;
    }
};

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_ROUNDS_UPLOAD_CUH */
