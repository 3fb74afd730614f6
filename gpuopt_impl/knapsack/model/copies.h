/* SPDX-License-Identifier: MIT
 *
 * Knapsack: items of which several copies may be taken. If u copies of an item fit, half of them (rounded up) become
 * one item of the 0-1 problem, half of the rest the next, and so on: log2 u + 1 pieces. Any number of copies up to u is
 * a sum of some pieces, since each piece has at most one copy more than the smaller pieces together. So the two
 * problems have the same optimum, and the search only sees pieces. Pieces of an item have equal ratios, thus the
 * relaxations are equal, too. All copies of an item fit together, so no sum over its pieces exceeds the capacity. Nor
 * does it exceed 2^63 - 1 if profits of solutions do not.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_MODEL_COPIES_H
#define GPUOPT_IMPL_KNAPSACK_MODEL_COPIES_H

#include "handle.h"

/* The size of the largest piece of `copies` copies. With the rest as its argument, it returns the next piece. */
static int64_t gpuopt__knapsack_piece(int64_t copies) { return copies - copies / 2; }

/* The most copies of item j in a solution. */
static int64_t gpuopt__knapsack_copies_of(const gpuopt_knapsack_desc *d, int32_t j) {
    int64_t fit;
    if (!d->copies_max) return 1;
    if (d->weight[j] == 0) return d->copies_max[j];
    fit = d->capacity / d->weight[j];
    return d->copies_max[j] < fit ? d->copies_max[j] : fit;
}

/* Counts the pieces of all items. */
static gpuopt_status gpuopt__knapsack_count_pieces(const gpuopt_context *context, const char *call,
                                                   const gpuopt_knapsack_desc *d, int32_t *pieces) {
    int64_t count = 0, copies;
    int32_t j;
    for (j = 0; j < d->items; j++) {
        copies = gpuopt__knapsack_copies_of(d, j);
        if (copies > 1 && d->profit[j] > INT64_MAX / copies) {
            gpuopt__log(context, 0, "%s: the profit of %lld copies of item %d exceeds 2^63 - 1", call,
                        (long long)copies, (int)j);
            return GPUOPT_ERROR_NUMERIC;
        }
        for (; copies > 0; copies /= 2) count++;
    }
    *pieces = (int32_t)count;
    if (count <= GPUOPT__KNAPSACK_PIECES) return GPUOPT_OK;
    gpuopt__log(context, 0, "%s: the copies of the items become %lld pieces, more than 2^28", call, (long long)count);
    return GPUOPT_ERROR_UNSUPPORTED;
}

/* Fills the handle's weights and profits from the pieces. */
static void gpuopt__knapsack_divide(gpuopt_knapsack *k, const gpuopt_knapsack_desc *d) {
    int32_t j, piece = 0;
    for (j = 0; j < d->items; j++) {
        int64_t left = gpuopt__knapsack_copies_of(d, j), copies;
        if (k->most) k->most[j] = left;
        for (; left > 0; left -= copies, piece++) {
            copies = gpuopt__knapsack_piece(left);
            if (k->copies) k->copies[piece] = copies;
            k->next[piece] = -1;
            k->weight[piece] = copies * d->weight[j];
            k->profit[piece] = copies * d->profit[j];
        }
    }
}

/* Marks sorted item j in `trial`: all of its bundle. */
static void gpuopt__knapsack_set(gpuopt_knapsack *k, int32_t j, uint8_t taken) {
    int32_t piece;
    for (piece = k->order[j]; piece >= 0; piece = k->next[piece]) k->trial[piece] = taken;
}

/* Copies of sorted item j. */
static int64_t gpuopt__knapsack_copies(const gpuopt_knapsack *k, int32_t j) {
    return k->copies ? k->copies[k->order[j]] : 1;
}

/* Copies in all sorted items, or INT64_MAX if there are more. */
static int64_t gpuopt__knapsack_all_copies(const gpuopt_knapsack *k) {
    int64_t sum = 0;
    int32_t j;
    for (j = 0; j < k->search.view.last; j++) {
        const int64_t copies = gpuopt__knapsack_copies(k, j);
        sum = copies > INT64_MAX - sum ? INT64_MAX : sum + copies;
    }
    return sum;
}

/* How many copies of a piece fit, if all of them do not. */
static int64_t gpuopt__knapsack_part_of(int64_t residual, int64_t copies, int64_t weight) {
    return (int64_t)gpuopt__knapsack_product_quotient((uint64_t)residual, (uint64_t)copies, (uint64_t)weight);
}

/* Adds up the pieces taken. copies: [given] */
static void gpuopt__knapsack_to_copies(const gpuopt_knapsack *k, const uint8_t *taken, int64_t *copies) {
    int32_t j, piece = 0;
    for (j = 0; j < k->given; j++) {
        int64_t left = k->most ? k->most[j] : 1, size;
        for (copies[j] = 0; left > 0; left -= size) {
            size = gpuopt__knapsack_piece(left);
            if (taken[piece++]) copies[j] += size;
        }
    }
}

/* The inverse. Returns 0 if an item has fewer copies, or they do not fit. */
static int gpuopt__knapsack_of_copies(const gpuopt_knapsack *k, const int64_t *copies, uint8_t *taken) {
    int32_t j, piece = 0;
    for (j = 0; j < k->given; j++) {
        int64_t left = k->most ? k->most[j] : 1, wanted = copies[j], size;
        if (wanted < 0 || wanted > left) return 0;
        for (; left > 0; left -= size) {
            size = gpuopt__knapsack_piece(left);
            taken[piece] = size <= wanted;
            if (taken[piece++]) wanted -= size;
        }
    }
    return 1;
}

#endif /* GPUOPT_IMPL_KNAPSACK_MODEL_COPIES_H */
