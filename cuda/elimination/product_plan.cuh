/* SPDX-License-Identifier: MIT
 *
 * Which jobs of elimination are min-plus products. Divide a bucket's tables into two groups, left and right, such that
 * each has digits of the message's index that the other lacks. Then the message is a batch of products. Digits of both
 * groups number the batch, digits of the left group alone number the rows of a product, digits of the right group alone
 * its columns. The values of the eliminated variable are the inner dimension. Only host code can include this file.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_PRODUCT_PLAN_CUH
#define GPUOPT_CUDA_ELIMINATION_PRODUCT_PLAN_CUH

#include "digits.cuh"

namespace {

/* Bytes of shared memory for a block: two slices of each side, then three buffers. These hold the address parts of rows
 * and columns, in the tables of their side and in the message. */
constexpr size_t product_bytes(int warps, int words, bool packed, int left, int right) {
    return sizeof(uint32_t) * 2 * product_depth * 16 * static_cast<size_t>(warps + words) +
           sizeof(int64_t) * 3 * 16 * static_cast<size_t>((left + 1) * warps + (right + 1) * words * (packed ? 2 : 1));
}

enum ProductSide { PRODUCT_BATCH, PRODUCT_LEFT, PRODUCT_RIGHT, PRODUCT_SIDES };

/* A job as a batch of products, in the form that the kernel reads. */
struct Product {
    int64_t at, copy_stride; /* of the message */
    int64_t total[PRODUCT_SIDES];
    int64_t row_tiles, column_tiles;
    int64_t size[product_digits];                         /* the batch's, then the rows', then the columns' */
    int64_t stride[product_operands + 1][product_digits]; /* of the operands in their new order, then of the message */
    int32_t first[PRODUCT_SIDES], digits[PRODUCT_SIDES];  /* of each side in these arrays */
    int32_t operand[product_operands];                    /* their numbers: the left group, then the right one */
    /* An operand may be copied first, see product_mark(): entries of the copy, or 0; its first entry in the store; the
     * distance between values in it. */
    int64_t copied[product_operands], copy_at[product_operands], value_stride[product_operands];
    int32_t operands, left, values, copies; /* left: operands of the left group; copies: of the message */
    int32_t warps, words;                   /* of a tile */
    bool packed;                            /* two sums of 16 bits in a word */
};

__host__ __device__ inline int product_rows_of(const Product &p) { return 16 * p.warps; }
__host__ __device__ inline int product_columns_of(const Product &p) { return 16 * p.words * (p.packed ? 2 : 1); }

/* The shape of a tile, and the time of the job with it, in add-min pairs of the whole device (tuning.cuh). */
struct ProductShape {
    int warps, words;
    double time;
};

struct ProductChoice {
    ProductShape shape;
    uint32_t own[PRODUCT_SIDES]; /* masks of digits */
    int side[product_operands];  /* of each operand */
};

/* head[k]: a table with a scope that contains the scope of table k. heads: the tables that are their own heads. Returns
 * the number of these, but stores only product_heads of them. */
int product_find_heads(const MessageDigits &d, int operands, int *head, int *heads) {
    int count = 0;
    for (int k = 0; k < operands; k++) {
        head[k] = k;
        for (int j = 0; j < operands; j++) {
            bool inside = (d.mask[k] & ~d.mask[j]) == 0, same = d.mask[k] == d.mask[j];
            if (inside && (!same || j < k) && head[k] == k) head[k] = j;
        }
    }
    for (int k = 0; k < operands; k++) {
        while (head[head[k]] != head[k]) head[k] = head[head[k]];
        if (head[k] == k) {
            if (count < product_heads) heads[count] = k;
            count++;
        }
    }
    return count;
}

/* The product of the sizes of some digits. */
double product_size(const MessageDigits &d, uint32_t mask) {
    double size = 1;
    for (int j = 0; j < d.count; j++) size *= mask >> j & 1 ? static_cast<double>(d.size[j]) : 1.0;
    return size;
}

/* The fastest digit of a side, which runs along the lanes of a warp; -1: the side has none. */
int product_last(uint32_t mask) {
    int last = -1;
    for (int j = 0; j < product_digits; j++)
        if (mask >> j & 1) last = j;
    return last;
}

/* The tables of a group, in two kinds: with neighbours along the side that are neighbours in memory, or not. */
struct ProductLoad {
    int near, far;
};

/* may_copy: tables of the second kind are copied first, and are then of the first kind. */
ProductLoad product_load(const MessageDigits &d, const int *side, int operands, int which, uint32_t own,
                         bool may_copy) {
    ProductLoad load = {0, 0};
    int last = product_last(own);
    for (int k = 0; k < operands; k++) {
        if (side[k] != which) continue;
        if (last < 0 || d.stride[last][k] <= 1 || may_copy) load.near++;
        else load.far++;
    }
    return load;
}

/* The time per add-min pair. The pair itself takes 1, or a half if packed, and more if a thread has few pairs for its
 * reads from shared memory. A loaded element takes a few instructions, and a sector of the L2 cache if its neighbours
 * are not loaded with it. The same holds for an entry of the message. apart: such entries are stored. */
double product_pair(const ProductLoad &left, const ProductLoad &right, bool apart, int32_t values, int rows,
                    int columns, int words, bool packed) {
    return (packed ? 0.5 : 1) * (1 + product_pair_words / words) +
           (product_load_near * left.near + product_load_far * left.far) / columns +
           (product_load_near * right.near + product_load_far * right.far) / rows +
           (apart ? product_store_apart / values : 0);
}

/* The best shape of a tile. batch, rows, columns: sizes. */
ProductShape product_shape(double batch, double rows, double columns, int32_t values, const ProductLoad &left,
                           const ProductLoad &right, bool apart, bool packed, int multiprocessors) {
    ProductShape best = {0, 0, HUGE_VAL};
    for (int warps = 2; warps <= product_warps; warps++)
        for (int words = 1; words <= product_words; words++) {
            if (!product_has(words, packed) || product_right_values(words, packed) * warps < product_warps) continue;
            if (product_bytes(warps, words, packed, left.near + left.far, right.near + right.far) > product_most_bytes)
                continue;
            int width = 16 * words * (packed ? 2 : 1), height = 16 * warps;
            double tiles = batch * ceil(rows / height) * ceil(columns / width);
            double pair = product_pair(left, right, apart, values, height, width, words, packed);
            double time = tiles * height * width * values * pair;
            double busy = tiles * warps / (product_busy_warps * multiprocessors);
            if (busy < 1) time /= busy;
            const int resident = product_resident(words);
            time *= static_cast<double>(resident) / (resident / warps * warps);
            time += product_value_least * multiprocessors * values;
            if (time < best.time) best = {warps, words, time};
        }
    return best;
}

/* The time of the general kernel in the same unit, with a floor per value for any number of entries. */
double general_time(const gpuopt__elimination_job &job, int32_t bits, double entries, int multiprocessors) {
    double loads = job.varying + static_cast<double>(job.operands - job.varying) / job.rows;
    double time = entries * job.values * (loads > 1 ? loads : 1) * general_pairs(bits);
    return gpuopt__max(time, general_value_least * multiprocessors * job.values);
}

/* The best way to divide a job's tables into two groups; its time is infinite if there is none. entries: of all
 * copies. */
void product_choose(const gpuopt__elimination_job &job, const MessageDigits &d, double entries, bool packed,
                    bool may_copy, int multiprocessors, ProductChoice *best) {
    const uint32_t all = (1u << d.count) - 1;
    int head[product_operands], heads[product_heads], side[product_operands];
    const int count = product_find_heads(d, job.operands, head, heads);
    best->shape = {0, 0, HUGE_VAL};
    if (count < 2 || count > product_heads) return;
    for (uint32_t choice = 1; choice < 1u << (count - 1); choice++) {
        uint32_t group[2] = {0, 0};
        for (int h = 0; h < count; h++) group[choice >> h & 1] |= d.mask[heads[h]];
        /* The digit that runs fastest in the message belongs to the columns, so that neighbours are stored together. */
        const uint32_t left = (group[1] & ~group[0]) >> (d.count - 1) & 1 ? 0 : 1;
        const uint32_t own_left = group[left] & ~group[1 - left], own_right = all & ~group[left];
        const double rows = product_size(d, own_left), columns = product_size(d, own_right);
        if (rows < product_side_least || columns < product_side_least) continue;
        for (int h = 0; h < count; h++) side[heads[h]] = (choice >> h & 1) == left ? PRODUCT_LEFT : PRODUCT_RIGHT;
        for (int k = 0; k < job.operands; k++) side[k] = side[head[k]];
        const ProductLoad load_left = product_load(d, side, job.operands, PRODUCT_LEFT, own_left, may_copy);
        const ProductLoad load_right = product_load(d, side, job.operands, PRODUCT_RIGHT, own_right, may_copy);
        const bool apart = !(own_right >> (d.count - 1) & 1);
        const int widest = 16 * (packed ? 12 : product_words);
        /* Skip the search for a shape if even the largest tile, with none reaching over an edge, gains little. */
        const double pair =
            product_pair(load_left, load_right, apart, job.values, 16 * product_warps, widest, product_words, packed);
        if (product_tried_from * entries * job.values * pair >= best->shape.time) continue;
        ProductShape shape = product_shape(entries / (rows * columns), rows, columns, job.values, load_left, load_right,
                                           apart, packed, multiprocessors);
        if (shape.time >= best->shape.time) continue;
        best->shape = shape;
        best->own[PRODUCT_BATCH] = all & ~own_left & ~own_right;
        best->own[PRODUCT_LEFT] = own_left;
        best->own[PRODUCT_RIGHT] = own_right;
        for (int k = 0; k < job.operands; k++) best->side[k] = side[k];
    }
}

/* Writes down the product of a choice. */
void product_fill(const gpuopt__elimination_job &job, const MessageDigits &d, const ProductChoice &choice,
                  int32_t copies, bool packed, Product *p) {
    p->at = job.at;
    p->copy_stride = job.copy_stride;
    p->operands = 0;
    p->values = job.values;
    p->copies = copies;
    p->warps = choice.shape.warps;
    p->words = choice.shape.words;
    p->packed = packed;
    for (int which = PRODUCT_LEFT; which < PRODUCT_SIDES; which++) {
        for (int k = 0; k < job.operands; k++)
            if (choice.side[k] == which) p->operand[p->operands++] = k;
        if (which == PRODUCT_LEFT) p->left = p->operands;
    }
    for (int which = 0, to = 0; which < PRODUCT_SIDES; which++) {
        p->first[which] = to;
        p->total[which] = 1;
        for (int j = 0; j < d.count; j++) {
            if (!(choice.own[which] >> j & 1)) continue;
            p->size[to] = d.size[j];
            p->total[which] *= d.size[j];
            for (int k = 0; k < job.operands; k++) p->stride[k][to] = d.stride[j][p->operand[k]];
            p->stride[job.operands][to++] = d.stride[j][job.operands];
        }
        p->digits[which] = to - p->first[which];
    }
    for (int k = 0; k < job.operands; k++) {
        p->operand[k] += job.operand;
        p->copied[k] = 0;
    }
    p->row_tiles = (p->total[PRODUCT_LEFT] + product_rows_of(*p) - 1) / product_rows_of(*p);
    p->column_tiles = (p->total[PRODUCT_RIGHT] + product_columns_of(*p) - 1) / product_columns_of(*p);
}

/* How many different parts operand k has along the batch or a side: the product of the digits that it depends on. */
__host__ __device__ inline int64_t product_own(const Product &p, int k, int side) {
    int64_t count = 1;
    for (int j = p.first[side]; j < p.first[side] + p.digits[side]; j++) count *= p.stride[k][j] ? p.size[j] : 1;
    return count;
}

__host__ __device__ inline int product_side(const Product &p, int k) {
    return k < p.left ? PRODUCT_LEFT : PRODUCT_RIGHT;
}

/* Marks the operands to be copied first, into the order batch, value, side, so that a warp reads whole lines of them
 * instead of a sector for each entry. Returns the time of the copies; infinite: a copy does not pay for its memory. */
double product_mark(Product *p) {
    double time = 0, entries = 1;
    for (int side = 0; side < PRODUCT_SIDES; side++) entries *= static_cast<double>(p->total[side]);
    for (int k = 0; k < p->operands; k++) {
        const int side = product_side(*p, k), last = p->first[side] + p->digits[side] - 1;
        p->copied[k] = 0;
        if (p->digits[side] == 0 || p->stride[k][last] <= 1) continue;
        p->copied[k] = product_own(*p, k, PRODUCT_BATCH) * product_own(*p, k, side) * p->values;
        if (static_cast<double>(p->copied[k]) > entries * product_copy_share) return HUGE_VAL;
        time += product_copy_launch + product_copy_entry * static_cast<double>(p->copied[k]);
    }
    return time;
}

/* Makes the product read copies of the marked operands, from entry `before` of the store on. */
void product_use_copies(Product *p, int64_t before) {
    for (int k = 0; k < p->operands; k++) {
        if (!p->copied[k]) continue;
        const int sides[] = {product_side(*p, k), PRODUCT_BATCH};
        int64_t stride = 1;
        for (int s = 0; s < 2; s++) {
            for (int j = p->first[sides[s]] + p->digits[sides[s]] - 1; j >= p->first[sides[s]]; j--) {
                if (!p->stride[k][j]) continue;
                p->stride[k][j] = stride;
                stride *= p->size[j];
            }
            if (s == 0) p->value_stride[k] = stride;
            if (s == 0) stride *= p->values;
        }
        p->copy_at[k] = before;
        before += p->copied[k];
    }
}

/* Entries of all copies of operands. */
int64_t product_copies(const Product &p) {
    int64_t entries = 0;
    for (int k = 0; k < p.operands; k++) entries += p.copied[k];
    return entries;
}

/* Whether a job is faster as a batch of products than with the general kernel, and how. pool: the array with the job's
 * digits. bits: of a stored cost. forbidden: the least stored cost that represents infinity. may_copy: operands may be
 * copied first. p stays as it is if the answer is no. */
bool find_product(const gpuopt__elimination_job &job, const int64_t *pool, int32_t copies, int32_t bits,
                  uint64_t forbidden, bool may_copy, int multiprocessors, Product *p) {
    MessageDigits d;
    ProductChoice choice, other;
    Product plain, copied, *chosen = &plain;
    const double entries = static_cast<double>(job.entries) * copies;
    if (bits > 32 || job.operands < 2 || job.values < product_values_least || entries * job.values < product_from ||
        !gather_digits(job, pool, &d))
        return false;
    const bool packed = bits <= 16 && forbidden * static_cast<uint64_t>(job.operands) <= UINT16_MAX;
    product_choose(job, d, entries, packed, false, multiprocessors, &choice);
    if (choice.shape.time < HUGE_VAL) product_fill(job, d, choice, copies, packed, &plain);
    if (choice.shape.time < HUGE_VAL && may_copy && copies == 1) {
        product_choose(job, d, entries, packed, true, multiprocessors, &other);
        product_fill(job, d, other, copies, packed, &copied);
        other.shape.time += product_mark(&copied);
        if (product_copies(copied) > 0 && other.shape.time < choice.shape.time) {
            choice = other;
            chosen = &copied;
        }
    }
    /* Neither kernel stores the message faster than memory takes it. */
    const double store = bits / 8 * product_store_byte * entries,
                 general = general_time(job, bits, entries, multiprocessors);
    if (!(gpuopt__max(choice.shape.time, store) <= product_gain * gpuopt__max(general, store))) return false;
    *p = *chosen;
    return true;
}

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_PRODUCT_PLAN_CUH */
