/* SPDX-License-Identifier: MIT
 *
 * Elimination as a batched min-plus product: message[s][m][n] = min over v of left[s][m][v] + right[s][n][v], where
 * left and right are sums of tables. A block computes a range of tiles of rows and columns. Slices of some values of
 * both sides lie in shared memory. During the computation with one slice the next is fetched, also from one tile to the
 * next. A thread keeps 8 rows of some columns that are 16 apart, so that a half-warp stores neighbours. Costs have up
 * to 32 bits and are added in 32 bits, or packed in 16: the plan has proven that the sums fit.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_PRODUCT_KERNEL_CUH
#define GPUOPT_CUDA_ELIMINATION_PRODUCT_KERNEL_CUH

#include "device.cuh"
#include "product_plan.cuh"

namespace {

__device__ __forceinline__ uint32_t add_min(uint32_t a, uint32_t b, uint32_t best) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    return __viaddmin_u32(a, b, best);
#else
    return min(a + b, best);
#endif
}

/* Two pairs at a time, of 16 bits each; no sum may overflow. */
__device__ __forceinline__ uint32_t add_min_halves(uint32_t a, uint32_t b, uint32_t best) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    return __viaddmin_u16x2(a, b, best);
#else
    return __vminu2(__vadd2(a, b), best);
#endif
}

/* The part of the address in operand k for index `index` of the rows, the columns or the batch; k == operands: in the
 * message. */
__device__ int64_t product_at(const Product &p, int k, int side, int64_t index) {
    const int64_t *size = p.size + p.first[side], *stride = p.stride[k] + p.first[side];
    int64_t at = 0;
#pragma unroll 1
    for (int j = p.digits[side] - 1; j > 0; j--) {
        if (index >> 32) {
            at += index % size[j] * stride[j];
            index /= size[j];
        } else {
            const uint32_t low = static_cast<uint32_t>(index), of = static_cast<uint32_t>(size[j]);
            at += static_cast<int64_t>(low % of) * stride[j];
            index = low / of;
        }
    }
    return p.digits[side] ? at + index * stride[0] : 0;
}

/* A tile: its place, and the numbers of its buffers, which hold the address parts of its rows, its columns and its
 * member of the batch. There are three buffers: while one tile is stored and the next is fetched, the addresses of the
 * following tile are computed. */
struct ProductTile {
    int64_t row, column, member;
    int32_t buffer[PRODUCT_SIDES];
};

struct ProductShared {
    ProductTile tile[3];
    int64_t base[3][product_operands + 1], value_stride[product_operands];
};

/* The work of a thread. Words: per row, each for one column; packed: for two columns, 16 * Words apart. */
template <class Stored, int Words, bool Packed>
struct Multiply {
    static constexpr int words = 16 * Words, own_columns = Packed ? 2 * Words : Words, columns = 16 * own_columns;
    /* Values of each side that a thread fetches for a slice. On the right, a half-warp takes all columns of a value. */
    static constexpr int left_values = 8, right_values = product_right_values(Words, Packed);

    const EliminationView &e;
    const Product &p;
    ProductShared &shared;
    uint32_t *left_slice, *right_slice; /* [2][depth][rows or columns of the tile] */
    int64_t *left_at, *right_at;        /* [3][operands of the side, then the message][of the tile] */
    int rows, half, lane;
    uint32_t left_next[left_values], right_next[right_values][own_columns];
    uint32_t best[product_rows][Words];

    __device__ int64_t *left_of(const ProductTile &t) const {
        return left_at + t.buffer[PRODUCT_LEFT] * (p.left + 1) * rows;
    }
    __device__ int64_t *right_of(const ProductTile &t) const {
        return right_at + t.buffer[PRODUCT_RIGHT] * (p.operands - p.left + 1) * columns;
    }

    __device__ void set_rows(const ProductTile &t) {
        int64_t *to = left_of(t);
#pragma unroll 1
        for (int k = threadIdx.x; k < (p.left + 1) * rows; k += blockDim.x) {
            int64_t of = t.row + k % rows;
            if (of >= p.total[PRODUCT_LEFT]) of = p.total[PRODUCT_LEFT] - 1;
            to[k] = product_at(p, k / rows < p.left ? k / rows : p.operands, PRODUCT_LEFT, of);
        }
    }

    __device__ void set_columns(const ProductTile &t) {
        int64_t *to = right_of(t);
#pragma unroll 1
        for (int k = threadIdx.x; k < (p.operands - p.left + 1) * columns; k += blockDim.x) {
            int64_t of = t.column + k % columns;
            if (of >= p.total[PRODUCT_RIGHT]) of = p.total[PRODUCT_RIGHT] - 1;
            to[k] = product_at(p, p.left + k / columns, PRODUCT_RIGHT, of);
        }
    }

    /* The base addresses of the tables and of the message for a member of the batch. */
    __device__ void set_member(const ProductTile &t) {
#pragma unroll 1
        for (int k = threadIdx.x; k <= p.operands; k += blockDim.x) {
            int32_t copy = static_cast<int32_t>(t.member / p.total[PRODUCT_BATCH]);
            int64_t at = product_at(p, k, PRODUCT_BATCH, t.member % p.total[PRODUCT_BATCH]);
            if (k == p.operands) at += p.at + copy * p.copy_stride;
            else at += p.copied[k] ? p.copy_at[k] : operand_at(e, e.operand[p.operand[k]], copy);
            shared.base[t.buffer[PRODUCT_BATCH]][k] = at;
        }
    }

    /* The first tile of a block. */
    __device__ void set_first(int64_t tile) {
        const int64_t members = p.total[PRODUCT_BATCH] * p.copies;
        ProductTile t = {tile / p.column_tiles / members * rows,
                         tile % p.column_tiles * columns,
                         tile / p.column_tiles % members,
                         {0, 0, 0}};
        set_rows(t);
        set_columns(t);
        set_member(t);
        if (threadIdx.x == 0) shared.tile[0] = t;
        if (static_cast<int>(threadIdx.x) < p.operands)
            shared.value_stride[threadIdx.x] =
                p.copied[threadIdx.x] ? p.value_stride[threadIdx.x] : e.operand[p.operand[threadIdx.x]].value_stride;
    }

    /* Tile number `to` from the previous tile: column tiles run fastest, then the batch, then row tiles. */
    __device__ void set_next(int to) {
        ProductTile t = shared.tile[to ? to - 1 : 2];
        auto turn = [](int32_t &buffer) { buffer = buffer == 2 ? 0 : buffer + 1; };
        if (p.column_tiles > 1) {
            t.column = t.column + columns < p.total[PRODUCT_RIGHT] ? t.column + columns : 0;
            turn(t.buffer[PRODUCT_RIGHT]);
            set_columns(t);
        }
        if (t.column == 0) {
            t.member++;
            if (t.member == p.total[PRODUCT_BATCH] * p.copies) {
                t.member = 0;
                t.row += rows;
                turn(t.buffer[PRODUCT_LEFT]);
                set_rows(t);
            }
            turn(t.buffer[PRODUCT_BATCH]);
            set_member(t);
        }
        if (threadIdx.x == 0) shared.tile[to] = t;
    }

    /* Fetches the values of one side from v on into registers. The first table is stored, the others are added. */
    __device__ void fetch_left(const ProductTile &t, int v) {
        const int64_t *base = shared.base[t.buffer[PRODUCT_BATCH]], *at = left_of(t);
        const Stored *store = static_cast<const Stored *>(e.store);
        add_left<true>(store + base[0], at, shared.value_stride[0], v);
#pragma unroll 1
        for (int k = 1; k < p.left; k++) add_left<false>(store + base[k], at += rows, shared.value_stride[k], v);
    }

    __device__ void fetch_right(const ProductTile &t, int v) {
        const int64_t *base = shared.base[t.buffer[PRODUCT_BATCH]], *at = right_of(t);
        const Stored *store = static_cast<const Stored *>(e.store);
        add_right<true>(store + base[p.left], at, shared.value_stride[p.left], v);
#pragma unroll 1
        for (int k = p.left + 1; k < p.operands; k++)
            add_right<false>(store + base[k], at += columns, shared.value_stride[k], v);
    }

    /* A thread fetches one row and every second value. Values beyond the last one are forbidden. */
    template <bool First>
    __device__ void add_left(const Stored *table, const int64_t *at, int64_t step, int v) {
        const int second = static_cast<int>(threadIdx.x) >= rows, left = p.values - v - second;
        const Stored *from = table + at[threadIdx.x - second * rows] + (v + second) * step;
#pragma unroll
        for (int i = 0; i < left_values; i++, from += 2 * step) {
            uint32_t cost = First ? static_cast<uint32_t>(e.forbidden) : 0;
            if (2 * i < left) cost = __ldg(from);
            left_next[i] = First ? cost : left_next[i] + cost;
        }
    }

    /* The half-warps take the values in turn. The lanes of one fetch the costs of neighbouring columns. */
    template <bool First>
    __device__ void add_right(const Stored *table, const int64_t *at, int64_t step, int v) {
        const int apart = blockDim.x / 16;
#pragma unroll
        for (int i = 0; i < right_values; i++) {
            const int own = half + i * apart;
            const bool inside = own < product_depth && v + own < p.values;
            const Stored *from = table + (v + own) * step;
#pragma unroll
            for (int j = 0; j < own_columns; j++) {
                uint32_t cost = inside ? __ldg(from + at[lane + 16 * j]) : 0;
                right_next[i][j] = First ? cost : right_next[i][j] + cost;
            }
        }
    }

    /* Writes the fetched values into a slice. */
    __device__ void put_left(int slice) {
        uint32_t *to = left_slice + slice * product_depth * rows + threadIdx.x; /* odd values are one line further */
#pragma unroll
        for (int i = 0; i < left_values; i++) to[2 * i * rows] = Packed ? left_next[i] * 0x10001u : left_next[i];
    }

    __device__ void put_right(int slice) {
        const int apart = blockDim.x / 16;
#pragma unroll
        for (int i = 0; i < right_values; i++) {
            const int own = half + i * apart;
            if (own >= product_depth) continue;
            uint32_t *to = right_slice + (slice * product_depth + own) * words + lane;
#pragma unroll
            for (int j = 0; j < Words; j++)
                to[16 * j] =
                    Packed ? right_next[i][j] | right_next[i][own_columns - Words + j] << 16 : right_next[i][j];
        }
    }

    /* Computes with the values first .. last - 1 of a slice, and up to 3 more, which are forbidden. */
    __device__ void work(int slice, int first, int last) {
        const uint32_t *left = left_slice + (slice * product_depth + first) * rows + half * product_rows;
        const uint32_t *right = right_slice + (slice * product_depth + first) * words + lane;
#pragma unroll 1
        for (int v = first; v < last; v += 4) {
#pragma unroll
            for (int i = 0; i < 4; i++, left += rows, right += words) {
                const uint4 low = *reinterpret_cast<const uint4 *>(left);
                const uint4 high = *reinterpret_cast<const uint4 *>(left + 4);
                const uint32_t of_row[product_rows] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
                uint32_t of_column[Words];
#pragma unroll
                for (int j = 0; j < Words; j++) of_column[j] = right[16 * j];
#pragma unroll
                for (int r = 0; r < product_rows; r++)
#pragma unroll
                    for (int j = 0; j < Words; j++)
                        best[r][j] = Packed ? add_min_halves(of_row[r], of_column[j], best[r][j])
                                            : add_min(of_row[r], of_column[j], best[r][j]);
            }
        }
    }

    __device__ void begin() {
#pragma unroll
        for (int r = 0; r < product_rows; r++)
#pragma unroll
            for (int j = 0; j < Words; j++) best[r][j] = static_cast<uint32_t>(e.forbidden) * (Packed ? 0x10001u : 1u);
    }

    __device__ Stored cost(int r, int j) const {
        return static_cast<Stored>(j < Words ? (Packed ? best[r][j] & 0xffffu : best[r][j]) : best[r][j - Words] >> 16);
    }

    __device__ void store(const ProductTile &t) const {
        const int64_t *row = left_of(t) + p.left * rows + half * product_rows;
        const int64_t *column = right_of(t) + (p.operands - p.left) * columns;
        Stored *message = static_cast<Stored *>(e.store) + shared.base[t.buffer[PRODUCT_BATCH]][p.operands];
        const int64_t below = p.total[PRODUCT_LEFT] - t.row - half * product_rows;
        const int64_t beside = p.total[PRODUCT_RIGHT] - t.column;
        const int inside = beside < columns ? static_cast<int>(beside) : columns;
        /* The columns of most tiles are neighbours in the message. */
        if (column[inside - 1] - column[0] == inside - 1) {
            message += column[0] + lane;
#pragma unroll
            for (int r = 0; r < product_rows; r++) {
                if (r >= below) continue;
                Stored *to = message + row[r];
#pragma unroll
                for (int j = 0; j < own_columns; j++)
                    if (lane + 16 * j < inside) to[16 * j] = cost(r, j);
            }
        } else {
#pragma unroll
            for (int j = 0; j < own_columns; j++) {
                if (lane + 16 * j >= inside) continue;
                Stored *to = message + column[lane + 16 * j];
#pragma unroll
                for (int r = 0; r < product_rows; r++)
                    if (r < below) to[row[r]] = cost(r, j);
            }
        }
    }
};

template <class Stored, int Words, bool Packed>
__global__ void __launch_bounds__(32 * product_warps, product_resident(Words) / product_warps)
    multiply(const __grid_constant__ EliminationView e, const __grid_constant__ Product p) {
    GPUOPT_DYNAMIC_SHARED(uint4, product_memory);
    __shared__ ProductShared shared;
    const int64_t tiles = p.row_tiles * p.column_tiles * p.total[PRODUCT_BATCH] * p.copies;
    const int64_t first = tiles * blockIdx.x / gridDim.x;
    /* Fits: a message on the device has far fewer than 2^40 entries, and a tile has 512 or more. */
    int left = static_cast<int>(tiles * (blockIdx.x + int64_t{1}) / gridDim.x - first);
    Multiply<Stored, Words, Packed> m = {e, p, shared};
    m.rows = blockDim.x / 2;
    m.half = threadIdx.x / 16;
    m.lane = threadIdx.x % 16;
    m.left_slice = reinterpret_cast<uint32_t *>(product_memory);
    m.right_slice = m.left_slice + 2 * product_depth * m.rows;
    m.left_at = reinterpret_cast<int64_t *>(m.right_slice + 2 * product_depth * m.words);
    m.right_at = m.left_at + 3 * (p.left + 1) * m.rows;
    m.set_first(first);
    __syncthreads();
    m.fetch_left(shared.tile[0], 0);
    m.fetch_right(shared.tile[0], 0);
    if (left > 1) m.set_next(1);
    m.put_left(0);
    m.put_right(0);
    __syncthreads();
    int slice = 0, now = 0; /* slice: of two; now: tile, of three */
    for (; left > 0; left--) {
        const int next = now == 2 ? 0 : now + 1;
        m.begin();
        for (int v = 0; v < p.values; v += product_depth) {
            const bool ends = v + product_depth >= p.values, more = !ends || left > 1;
            const ProductTile &of = shared.tile[ends ? next : now];
            const int then = ends ? 0 : v + product_depth, depth = ends ? p.values - v : product_depth;
            /* One side after the other: there are not enough registers for both. */
            if (more) m.fetch_left(of, then);
            m.work(slice, 0, depth < product_depth / 2 ? depth : product_depth / 2);
            if (more) m.put_left(slice ^ 1);
            if (more) m.fetch_right(of, then);
            m.work(slice, product_depth / 2, depth);
            if (more) m.put_right(slice ^ 1);
            slice ^= 1;
            if (ends) {
                m.store(shared.tile[now]);
                if (left > 2) m.set_next(next == 2 ? 0 : next + 1);
            }
            __syncthreads();
        }
        now = next;
    }
}

/* ---- Copies of operands ---- */

/* The part of the address of operand k for part `index` along a side or the batch (see product_own()). */
__device__ int64_t copied_at(const Product &p, int k, int side, int64_t index) {
    int64_t at = 0;
    for (int j = p.first[side] + p.digits[side] - 1; j >= p.first[side]; j--) {
        if (!p.stride[k][j]) continue;
        at += index % p.size[j] * p.stride[k][j];
        index /= p.size[j];
    }
    return at;
}

/* Copies operand k into the order batch, value, side, from entry `to` of the store on. Squares go through shared
 * memory. One edge runs along the side, the other along the contiguous dimension of the operand: the values if
 * by_value, else the batch. */
template <class Stored>
__global__ void __launch_bounds__(copy_threads)
    copy_operand(const EliminationView e, const __grid_constant__ Product p, int k, int64_t to, bool by_value) {
    __shared__ Stored square[copy_square][copy_square + 1];
    const int side = product_side(p, k), lane = threadIdx.x % copy_square, line = threadIdx.x / copy_square;
    constexpr int lines = copy_threads / copy_square;
    const int64_t rows = product_own(p, k, side), batch = product_own(p, k, PRODUCT_BATCH), values = p.values;
    const int64_t inner = by_value ? values : batch, outer = by_value ? batch : values;
    const int64_t across = (rows + copy_square - 1) / copy_square, down = (inner + copy_square - 1) / copy_square;
    const gpuopt__elimination_operand &o = e.operand[p.operand[k]];
    Stored *store = static_cast<Stored *>(e.store);
    for (int64_t n = blockIdx.x; n < across * down * outer; n += gridDim.x) {
        const int64_t row = n % across * copy_square, first = n / across % down * copy_square,
                      other = n / across / down;
        const int64_t i = first + lane;
        if (i < inner) {
            int64_t at = operand_at(e, o, 0) + copied_at(p, k, PRODUCT_BATCH, by_value ? other : i) +
                         (by_value ? i : other) * o.value_stride;
            for (int r = line; r < copy_square && row + r < rows; r += lines)
                square[r][lane] = store[at + copied_at(p, k, side, row + r)];
        }
        __syncthreads();
        for (int r = line; r < copy_square && first + r < inner; r += lines) {
            const int64_t b = by_value ? other : first + r, v = by_value ? first + r : other;
            if (row + lane < rows) store[to + (b * values + v) * rows + row + lane] = square[lane][r];
        }
        __syncthreads();
    }
}

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_PRODUCT_KERNEL_CUH */
