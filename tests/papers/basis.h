/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of the program of paper 2: Shah, Yousaf, Ahmad, Ur Rehman, Ahmad: Accelerating Revised Simplex
 * Method Using GPU-Based Basis Update (2020).
 */
#ifndef TESTS_PAPERS_BASIS_H
#define TESTS_PAPERS_BASIS_H

#include "tests/papers/paper.h"
#include "tests/papers/revised.h"

#define PAPER_HARDWARE "Paper: GeForce GTX 960, Core i3-3220"

/* SIZES: random problems. MODELS: from Netlib. PAPERS: the paper's techniques. WAYS: with DEFERRED, the last. */
enum { SIZES = 12, MODELS = 6, PAPERS = 6, WAYS = PAPERS + 1, PFI = 0, COLUMN = 2, PROPOSED = 5, DEFERRED = 6 };
extern const gpuopt_basis_technique technique_of[WAYS];
extern const char *const way_name[WAYS];

typedef struct study {
    paper p;
    own_gpu gpu;
    int has_gpu;
    int failed; /* checks that do not hold */
} study;

/* Prints one line, and counts a check that does not hold. */
void check(study *s, const char *what, int cases, int bad);
/* A number of a table with "~" if it is an estimate, "-" if it is NaN. */
void table_estimate(table *t, double value, int estimate);
/* A whole number of a table, "-" unless it is positive. */
void table_count(table *t, int64_t value);
/* A machine of the program: 0 is the CPU with one thread, 1 with threads, 2 the GPU. */
enum { MACHINES = 3 };
gpuopt_context *context_of(const study *s, int machine); /* NULL: there is none */
int threads_of(const study *s, int machine);

/* The rows of Table 5: sizes of the random problems, in the quick mode a twentieth of the paper's. */
int32_t size_of(const study *s, int k);

void print_memory(study *s);  /* Table 2 */
void print_random(study *s);  /* Tables 5 and 9, Figure 9 */
void print_kernels(study *s); /* Tables 4, 6 and 7, Figure 8 */
void print_netlib(study *s);  /* Tables 3, 8 and 10, Figure 10 */

/* ---- The paper's numbers; NaN: it has none ---- */

typedef struct paper_random {
    int32_t m, iterations;
    double update[PAPERS], total[PAPERS]; /* seconds */
} paper_random;
extern const paper_random table5[SIZES];

typedef struct paper_netlib {
    const char *name;
    int32_t m, n, iterations[PAPERS];
    double update[PAPERS], total[PAPERS]; /* seconds */
} paper_netlib;
extern const paper_netlib table8[MODELS];

/* A step of a technique, Tables 6 and 7. */
typedef struct paper_step {
    int way, number;
    const char *what, *complexity;
    int first, last; /* of the operations that an update enqueues here; last < 0: from the end */
    double seconds;  /* Table 6 */
    double occupancy, activity, warp, flops; /* Table 7: percent, percent, instructions a warp, percent */
    double moved, computed;                  /* here, per element of the matrix: doubles moved, operations */
} paper_step;
enum { STEPS = 17 };
extern const paper_step steps_of_paper[STEPS];

extern const double table9[PAPERS][2], table10[PAPERS][2]; /* percent: update, total */

#endif /* TESTS_PAPERS_BASIS_H */
