/* SPDX-License-Identifier: MIT
 *
 * Knapsack problems: files, and generated instances of the literature.
 */
#ifndef EXAMPLES_IO_KNAPSACK_H
#define EXAMPLES_IO_KNAPSACK_H

#include <stddef.h>
#include <stdint.h>

typedef struct knapsack_model {
    int32_t items;
    int64_t *weight, *profit; /* [items] */
    int64_t capacity;
} knapsack_model;

/* A file or pipe (-: standard input), "n C" and then n lines "p w", integers from 0 to 2^63 - 1; or a generator:
 *     paper:N:SEED    Boukedjar, Lalami, El Baz (2012): w in 1 .. 100, p = w + 10, C = floor(sum of w / 2)
 * and, after Pisinger, Where are the hard knapsack problems? (2005), CLASS:N:R:SEED; C = floor(sum of w / 2) and, by
 * default, w in 1 .. R:
 *     uncorrelated       p in 1 .. R
 *     weak               p in max(1, w - R / 10) .. w + R / 10
 *     strong             p = w + R / 10
 *     inverse-strong     p in 1 .. R, w = p + R / 10
 *     almost-strong      p in w + R / 10 - R / 500 .. w + R / 10 + R / 500
 *     subset-sum         p = w
 *     similar            w in 100000 .. 100000 + R / 1000, p in 1 .. 1000
 *     span               span(2, 10) of strong ones: 2 strong items, weights and profits divided by 5 (rounded up);
 *                        each item is one of the two times 1 .. 10
 *     multiple-strong    mstr(3 R / 10, 2 R / 10, 6): p = w + 3 (R / 10) where 6 divides w, else w + 2 (R / 10)
 *     profit-ceiling     pceil(3): p = 3 ceil(w / 3)
 *     circle             circle(2 / 3): p = floor(2 / 3 sqrt(4 R^2 - (w - 2 R)^2))
 * Numbers are drawn by splitmix64, started at SEED, as first + next % count. Returns 0, or -1 and the error. */
int knapsack_load(const char *name, knapsack_model *model, char *error, size_t error_size);
void knapsack_free(knapsack_model *model);

#endif /* EXAMPLES_IO_KNAPSACK_H */
