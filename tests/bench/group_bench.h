/* SPDX-License-Identifier: MIT
 *
 * The measurements of group_bench, and how ranks begin and end together.
 */
#ifndef TESTS_BENCH_GROUP_BENCH_H
#define TESTS_BENCH_GROUP_BENCH_H

#include "examples/io/graphical.h"
#include "examples/io/knapsack.h"
#include "examples/io/knapsack_ranks.h"
#include "tests/bench/propagator_batch.h"
#include "tests/bench/bench.h"
#include "transports/gpuopt_threads.h"

enum { MOST_RANKS = 16 };

typedef struct options {
    const char *backend, *ranks, *models, *decisions, *knapsack, *search, *by, *graphical, *dealt;
    int64_t device, devices, nodes, repeat, round, pool, share_from, memory;
} options;

typedef struct job job;

/* A rank of a job. */
typedef struct member {
    job *job;
    int rank, failed;
    gpuopt_transport transport;
    gpuopt_context *context;
    gpuopt_group *group;    /* NULL: alone */
    gpuopt_transport inner; /* the transport to which `transport` passes everything on */
    int64_t sent, bytes;    /* through it, from this rank to another one; without all_gather and broadcast */
    double items;           /* seconds for recovering the items of a knapsack */
    machine machine;
    char name[NAME];
} member;

/* The measured work, and the results of rank 0, or of each rank in its own place. */
struct job {
    const options *o;
    void (*work)(member *m);
    int ranks;
    double run; /* seconds */
    /* Batches. */
    const mip *model;
    int32_t decisions;
    double own, all, share; /* seconds; own: also for the items of a knapsack; share: the largest part of the work */
    uint64_t seen;          /* a hash of the results */
    /* Knapsacks. */
    knapsack_model knapsack;
    knapsack_ranks_answer answer;
    /* Eliminations. */
    graphical_model graphical;
    int32_t *order;
    double create, assign;           /* seconds */
    double rank_seconds[MOST_RANKS]; /* of a rank's own eliminating */
    gpuopt_elimination_estimate estimate[MOST_RANKS];
    gpuopt_elimination_info info;
};

/* Waits for all ranks. Returns the time. */
double begin(member *m);
/* The time until the last rank is here. */
double ended(member *m, double start);
/* Runs the ranks of a job, each with a context. Returns 0, or -1 after a message. */
int run_job(job *j);

/* Print lines of their tables, one for each number of ranks. Return 0 or an exit status. */
int measure_knapsack(const options *o, const char *name);
int measure_elimination(const options *o, const char *name);
int measure_dealt(const options *o, const char *name);

#endif /* TESTS_BENCH_GROUP_BENCH_H */
