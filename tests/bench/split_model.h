/* SPDX-License-Identifier: MIT
 *
 * A model of the time of a pivot with a tableau split over ranks, after Meyer, Albuquerque and Chopard (2011). For m
 * rows, n columns and P ranks, threads of this process:
 *     T(m, n, P) = start + row m + column n / P + cell m n / P                            on each rank
 *                + log2(P / 2) (gather + broadcast + 8 m / speed)                         for P > 2, by host memory
 * The first four constants are fitted to one rank, or for P > 1 to two. None is negative. gather, broadcast and speed
 * are measured for the exchanges alone, on two ranks. (The four constants of two ranks include their exchanges.) By
 * peer memory a rank sends to all others at once, and there is no last term.
 */
#ifndef TESTS_BENCH_SPLIT_MODEL_H
#define TESTS_BENCH_SPLIT_MODEL_H

#include "tests/bench/split_ranks.h"

enum { COSTS = 4, MOST_KNOWN = 16 };

/* In seconds. */
typedef struct split_constants {
    double alone[COSTS], among[COSTS];  /* start, row, column, cell: of one rank, and of two */
    double gather, broadcast, per_byte; /* of two ranks */
    int peers;                          /* which exchange through peer memory */
} split_constants;

/* Measures gather, broadcast and speed. Returns 0, or -1 after a message. */
int split_exchanges(const split_machine *on, split_constants *c);
/* Sets the four constants of `ranks` ranks, 1 or 2, from the seconds of a pivot at `count` sizes, at most MOST_KNOWN.
 * They minimise the squares of the errors relative to the times. */
void split_fit(int count, const int (*size)[2], const double *time, int ranks, split_constants *c);
/* Seconds of a pivot. */
double split_predicted(const split_constants *c, double m, double n, double ranks);
double correlation(int count, const double *x, const double *y);

#endif /* TESTS_BENCH_SPLIT_MODEL_H */
