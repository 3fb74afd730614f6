/* SPDX-License-Identifier: MIT
 *
 * What the tables on knapsacks share: searches of an instance on all machines, whose results are compared.
 */
#ifndef TESTS_PAPERS_KNAPSACK_STUDY_H
#define TESTS_PAPERS_KNAPSACK_STUDY_H

#include "tests/bench/knapsack_search.h"
#include "tests/papers/knapsack_oracle.h"
#include "tests/papers/paper.h"

enum { SIZES = 5, SEEDS = 10 };

/* Ways to search the paper's tree. */
enum { CPU_ONE, CPU_ALL, GPU_HYBRID, GPU_BREADTH, WAYS };

typedef struct check {
    const char *what;
    int64_t cases, wrong;
} check;

typedef struct study {
    paper paper;
    int64_t limit;            /* nodes of a search of the paper's tree */
    int64_t pool;             /* nodes that fit, for the same searches on all machines */
    int seeds;                /* instances of a class */
    double rate[SIZES][WAYS]; /* nodes a second in Table 1 */
    check optima, bounds, counts, literal, thresholds, easy;
} study;

/* One instance. */
typedef struct instance {
    char name[NAME];
    knapsack_model model;
    int64_t optimum;          /* by the dynamic programme */
    double programme_seconds; /* which took so long */
} instance;

/* The functions below end the program after a message if something fails, or a result is wrong. */
void instance_open(instance *of, const char *format, ...) __attribute__((format(printf, 2, 3)));
void instance_close(instance *of);

/* Counts a case of a check. `text`: what does not hold in it, for the message. */
void check_case(check *of, int holds, const char *name, const char *text);

/* Searches the instance, and checks its bounds and items. seconds: without _get_items; NaN if `on` is NULL, and then
 * nothing else is written. */
void search_one(study *s, const machine *on, const instance *of, const gpuopt_knapsack_desc *options,
                const step_hook *hook, double *seconds, gpuopt_knapsack_info *info);
/* Searches the instance in all ways, and compares their counts. options: its limit and pool; the rest is overwritten.
 * hook [WAYS] or NULL. */
void search_all(study *s, const instance *of, const gpuopt_knapsack_desc *options, const step_hook *hook,
                double seconds[WAYS], gpuopt_knapsack_info *info);
/* The study's limit and pool. */
gpuopt_knapsack_desc tree_options(const study *s);

/* The tables of knapsack_lists.c. */
void threshold_table(study *s);
void length_table(study *s);
void class_table(study *s);

#endif /* TESTS_PAPERS_KNAPSACK_STUDY_H */
