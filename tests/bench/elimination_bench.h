/* SPDX-License-Identifier: MIT
 *
 * What the tables of elimination_bench have in common.
 */
#ifndef TESTS_BENCH_ELIMINATION_BENCH_H
#define TESTS_BENCH_ELIMINATION_BENCH_H

#include "tests/bench/bench.h"

typedef struct options {
    const char *models; /* NULL: the usual models */
    int64_t repeat;     /* number of runs; their median is printed */
    int64_t limit;      /* seconds, of a model on the CPU */
    int64_t memory;     /* GiB, on the CPU */
    int64_t smaller;    /* how often the synthetic tables are halved */
    int64_t bits;       /* of stored costs of the synthetic tables; 0: 8, 16 and 32 */
    double domain;      /* of the synthetic tables' eliminated variable; 0: all */
    double add_min;     /* pairs a second that registers allow; 0: not known */
} options;

/* Each prints its table and returns 0, or -1 if a call failed or an answer is wrong. */
int exact_table(const machine *machines, int count, const options *o);
int mini_bucket_table(const machine *machines, int count, const options *o);
int relaxed_table(const machine *machines, int count, const options *o);
int reduced_table(const machine *on, const options *o);
int bounds_table(const machine *machines, int count, const options *o);
int handles_table(const machine *on, const options *o);
int kernel_table(const machine *on, const options *o);
int domain_table(const machine *on, const options *o);

#endif /* TESTS_BENCH_ELIMINATION_BENCH_H */
