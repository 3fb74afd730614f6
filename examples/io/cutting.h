/* SPDX-License-Identifier: MIT
 *
 * Cutting stock problems: files, and generated instances.
 */
#ifndef EXAMPLES_IO_CUTTING_H
#define EXAMPLES_IO_CUTTING_H

#include <stddef.h>
#include <stdint.h>

enum { CUTTING_PIECES = 256, CUTTING_STOCKS = 64, CUTTING_COST = 1000000, CUTTING_DEMAND = 1000000 };

/* Pieces of some lengths are to be cut from stock of some lengths, of which there is any number. */
typedef struct cutting_model {
    int32_t pieces, stocks;
    int64_t length[CUTTING_PIECES], demand[CUTTING_PIECES];     /* of each kind of piece */
    int64_t stock_length[CUTTING_STOCKS], cost[CUTTING_STOCKS]; /* of each kind of stock */
} cutting_model;

/* A file or pipe (-: standard input): "pieces stocks", then for each stock "length cost", then for each piece "length
 * demand"; integers, # begins a comment. Or cutgen:PIECES:STOCKS:SEED, much like the instances of T. Gau, G. Waescher:
 * CUTGEN1: A problem generator for the standard one-dimensional cutting stock problem. European Journal of Operational
 * Research 84, 1995. These have different lengths from 100 to 7000 and demands from 1 to 19. The stock has length 10000
 * and cost 1. With several stocks, the lengths are 10000 - 500 k, and such a stock costs 100 k more than its length.
 * Returns 0, or -1 and the error. */
int cutting_load(const char *name, cutting_model *model, char *error, size_t error_size);

#endif /* EXAMPLES_IO_CUTTING_H */
