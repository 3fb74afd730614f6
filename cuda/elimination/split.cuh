/* SPDX-License-Identifier: MIT
 *
 * Which jobs of elimination are min-plus products. Where a bucket's tables fall into two groups, each with digits of
 * the message's index that the other has not, the message is a batch of products: the digits of both groups number the
 * batch, those of the left group alone a product's rows, those of the right group alone its columns, and the values of
 * the eliminated variable are what is summed over (here: minimised).
 */
#ifndef GPUOPT_CUDA_ELIMINATION_SPLIT_CUH
#define GPUOPT_CUDA_ELIMINATION_SPLIT_CUH

#include "digits.cuh"

namespace {

constexpr int product_operands = digits_operands;
constexpr int product_digits = digits_most;
/* Tables whose scopes do not lie in another's: all ways to share them out are tried. */
constexpr int product_heads = 8;
/* A tile: 16 rows a warp; 16 words a row for each that a thread has, a column each, or two where costs are packed. */
constexpr int product_warps = 8;
constexpr int product_words = 8;
constexpr int product_depth = 16; /* values in a slice of them */
/* Joined rows from which on a product is worth looking for. */
constexpr double product_from = 1048576;

/* Words of a thread that there are kernels for. */
constexpr bool product_has(int words, bool packed) {
    return words <= 4 || words == 6 || (words == product_words && !packed);
}

/* Values of a slice that a half-warp fetches: what registers allow. A tile has 8 / these warps or more. */
constexpr int product_right_values(int words, bool packed) {
    return words == 1   ? 4
           : words == 2 ? (packed ? 3 : 4)
           : words == 3 ? 3
           : words == 4 ? (packed ? 2 : 4)
           : words == 6 ? (packed ? 1 : 2)
                        : 1;
}

/* Warps for which a multiprocessor has room: tiles with little to do for what they load need more of them. */
constexpr int product_resident(int words) { return product_warps * (words <= 2 ? 3 : 2); }

/* Bytes of shared memory: two slices, then three times what rows and columns add to the addresses of the tables of
 * their side, and of the message. Every device has the most that a block may take. */
constexpr size_t product_most_bytes = 60 * 1024;

constexpr size_t product_bytes(int warps, int words, bool packed, int left, int right) {
    return sizeof(uint32_t) * 2 * product_depth * 16 * static_cast<size_t>(warps + words) +
           sizeof(int64_t) * 3 * 16 * static_cast<size_t>((left + 1) * warps + (right + 1) * words * (packed ? 2 : 1));
}

enum ProductSide { PRODUCT_BATCH, PRODUCT_LEFT, PRODUCT_RIGHT, PRODUCT_SIDES };

/* A job as batches of products. What the kernel reads of it. */
struct Product {
    int64_t at, copy_stride; /* of the message */
    int64_t total[PRODUCT_SIDES];
    int64_t row_tiles, column_tiles;
    int64_t size[product_digits];                         /* the batch's, then the rows', then the columns' */
    int64_t stride[product_operands + 1][product_digits]; /* of the operands in their new order; then the message's */
    int32_t first[PRODUCT_SIDES], digits[PRODUCT_SIDES];  /* in these */
    int32_t operand[product_operands];                    /* their numbers: the left group's, then the right's */
    /* An operand that is copied before, see below: entries of the copy, or 0; where in the store it is, and how far
     * apart values are in it. */
    int64_t copied[product_operands], copy_at[product_operands], value_stride[product_operands];
    int32_t operands, left, values, copies, warps, words;
    bool packed; /* two sums in a word */
};

/* An operand whose neighbours along a side are not neighbours in memory may be copied first, into the order batch,
 * value, side. Then a warp reads whole lines of it, not a sector an entry. What that takes, in add-min pairs of the
 * device: an entry of the copy, and a launch. */
constexpr double product_copy_entry = 64, product_copy_launch = 64e6;

__host__ __device__ inline int product_rows_of(const Product &p) { return 16 * p.warps; }
__host__ __device__ inline int product_columns_of(const Product &p) { return 16 * p.words * (p.packed ? 2 : 1); }

/* The shape of a tile, and what the job takes with it, in the time of an add-min pair of the whole device. */
struct ProductShape {
    int warps, words;
    double time;
};

struct ProductChoice {
    ProductShape shape;
    uint32_t own[PRODUCT_SIDES]; /* digits */
    int side[product_operands];
};

/* head[k]: a table whose scope holds that of k; heads: the tables that are their own. */
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

double product_size(const MessageDigits &d, uint32_t mask) {
    double size = 1;
    for (int j = 0; j < d.count; j++) size *= mask >> j & 1 ? static_cast<double>(d.size[j]) : 1.0;
    return size;
}

/* The last digit of a side: what runs along the lanes of a warp. */
int product_last(uint32_t mask) {
    int last = -1;
    for (int j = 0; j < product_digits; j++)
        if (mask >> j & 1) last = j;
    return last;
}

/* What it takes to load an element of a group's tables: tables that are read in one sweep, and others. */
struct ProductLoad {
    int near, far;
};

/* may_copy: tables of the second kind are copied before. */
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

/* An add-min pair costs 1, packed a half, and more where a thread has few for what it loads. An element costs a few
 * instructions where neighbours are loaded together, else a sector of the second cache besides, and so does an entry of
 * the message that is stored without its neighbours. All of it as measured. */
double product_pair(const ProductLoad &left, const ProductLoad &right, bool apart, int32_t values, int rows,
                    int columns, int words, bool packed) {
    return (packed ? 0.5 : 1) * (1 + 3.1 / words) + (3.0 * left.near + 83.0 * left.far) / columns +
           (3.0 * right.near + 83.0 * right.far) / rows + (apart ? 400.0 / values : 0);
}

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
            double busy = tiles * warps / (8.0 * multiprocessors); /* 8 warps keep a multiprocessor busy */
            if (busy < 1) time /= busy;
            const int room = product_resident(words);
            time *= static_cast<double>(room) / (room / warps * warps);
            time += 8000.0 * multiprocessors * values; /* a slice after the other, however few tiles there are */
            if (time < best.time) best = {warps, words, time};
        }
    return best;
}

/* What the general kernel takes, in the same unit, as measured: it has neighbours in a word where costs are narrow. A
 * value after the other takes its time however few entries there are. */
double general_time(const gpuopt__elimination_job &job, int32_t bits, double entries, int multiprocessors) {
    double loads = job.varying + static_cast<double>(job.operands - job.varying) / job.rows;
    double time = entries * job.values * (loads > 1 ? loads : 1) * (bits == 8 ? 3.5 : bits == 16 ? 4.5 : 6);
    return gpuopt__max(time, 50000.0 * multiprocessors * job.values);
}

/* The best way to share out a job's tables: its time is infinite where there is none. entries: of all copies. */
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
        /* The digit that runs fastest in the message is no row: neighbours are stored together. */
        const uint32_t left = (group[1] & ~group[0]) >> (d.count - 1) & 1 ? 0 : 1;
        const uint32_t own_left = group[left] & ~group[1 - left], own_right = all & ~group[left];
        const double rows = product_size(d, own_left), columns = product_size(d, own_right);
        if (rows < 16 || columns < 16) continue;
        for (int h = 0; h < count; h++) side[heads[h]] = (choice >> h & 1) == left ? PRODUCT_LEFT : PRODUCT_RIGHT;
        for (int k = 0; k < job.operands; k++) side[k] = side[head[k]];
        const ProductLoad load_left = product_load(d, side, job.operands, PRODUCT_LEFT, own_left, may_copy);
        const ProductLoad load_right = product_load(d, side, job.operands, PRODUCT_RIGHT, own_right, may_copy);
        const bool apart = !(own_right >> (d.count - 1) & 1);
        const int widest = 16 * (packed ? 12 : product_words);
        /* Nothing much to be won even with the largest tile, and none that reaches over an edge. */
        const double pair =
            product_pair(load_left, load_right, apart, job.values, 16 * product_warps, widest, product_words, packed);
        if (1.02 * entries * job.values * pair >= best->shape.time) continue;
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

/* The digits of operand k that number the batch or a side, as one number less the others: how many there are. */
__host__ __device__ inline int64_t product_own(const Product &p, int k, int side) {
    int64_t count = 1;
    for (int j = p.first[side]; j < p.first[side] + p.digits[side]; j++) count *= p.stride[k][j] ? p.size[j] : 1;
    return count;
}

__host__ __device__ inline int product_side(const Product &p, int k) {
    return k < p.left ? PRODUCT_LEFT : PRODUCT_RIGHT;
}

/* Marks the operands that are to be copied. Returns the time that takes; infinite: a copy is not worth its memory. */
double product_mark(Product *p) {
    double time = 0, entries = 1;
    for (int side = 0; side < PRODUCT_SIDES; side++) entries *= static_cast<double>(p->total[side]);
    for (int k = 0; k < p->operands; k++) {
        const int side = product_side(*p, k), last = p->first[side] + p->digits[side] - 1;
        p->copied[k] = 0;
        if (p->digits[side] == 0 || p->stride[k][last] <= 1) continue;
        p->copied[k] = product_own(*p, k, PRODUCT_BATCH) * product_own(*p, k, side) * p->values;
        if (static_cast<double>(p->copied[k]) > entries / 2) return HUGE_VAL;
        time += product_copy_launch + product_copy_entry * static_cast<double>(p->copied[k]);
    }
    return time;
}

/* The product with copies in place of operands, from entry `before` of the store on. */
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

int64_t product_copies(const Product &p) {
    int64_t entries = 0;
    for (int k = 0; k < p.operands; k++) entries += p.copied[k];
    return entries;
}

/* Whether a job is better computed as a batch of products, and how. pool: the plan's digits; bits: of a stored cost;
 * may_copy: operands, too, where that pays. */
bool find_product(const gpuopt__elimination_job &job, const int64_t *pool, int32_t copies, int32_t bits,
                  uint64_t forbidden, bool may_copy, int multiprocessors, Product *p) {
    MessageDigits d;
    ProductChoice choice, other;
    Product copied;
    const double entries = static_cast<double>(job.entries) * copies;
    if (bits > 32 || job.operands < 2 || job.values < 8 || entries * job.values < product_from ||
        !gather_digits(job, pool, &d))
        return false;
    const bool packed = bits <= 16 && forbidden * static_cast<uint64_t>(job.operands) <= UINT16_MAX;
    product_choose(job, d, entries, packed, false, multiprocessors, &choice);
    if (choice.shape.time < HUGE_VAL) product_fill(job, d, choice, copies, packed, p);
    if (choice.shape.time < HUGE_VAL && may_copy && copies == 1) {
        product_choose(job, d, entries, packed, true, multiprocessors, &other);
        product_fill(job, d, other, copies, packed, &copied);
        other.shape.time += product_mark(&copied);
        if (product_copies(copied) > 0 && other.shape.time < choice.shape.time) {
            choice = other;
            *p = copied;
        }
    }
    /* No kernel stores the message faster than memory takes it, a byte in the time of 4 pairs. */
    const double store = bits / 8 * 4 * entries, general = general_time(job, bits, entries, multiprocessors);
    return gpuopt__max(choice.shape.time, store) <= 0.9 * gpuopt__max(general, store);
}

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_SPLIT_CUH */
