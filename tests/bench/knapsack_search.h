/* SPDX-License-Identifier: MIT
 *
 * A timed search of a knapsack problem, whose items are checked against the model.
 */
#ifndef TESTS_BENCH_KNAPSACK_SEARCH_H
#define TESTS_BENCH_KNAPSACK_SEARCH_H

#include "examples/io/knapsack.h"
#include "tests/bench/bench.h"

/* A search, to its end or to a limit. */
typedef struct search_result {
    gpuopt_knapsack_info info;
    double seconds;       /* all of it: _create, search, and _get_items */
    double items_seconds; /* of these, _get_items */
} search_result;

/* Called after each step with its nodes, the children that it kept, and its time. */
typedef struct step_hook {
    void (*step)(void *data, int64_t nodes, int64_t children, double seconds);
    void *data;
} step_hook;

/* Loads or generates a model. Returns 0, or -1 after an error message. */
int search_load(const char *name, knapsack_model *model);
/* A descriptor of the model; all options are the defaults. */
gpuopt_knapsack_desc search_describe(const knapsack_model *model);
/* Searches until `limit` seconds have passed, checked after every 2^24 nodes, and checks the items. With a hook it
 * expands level by level instead, and neither asks for items nor checks them. Returns 0, or -1 after a message. */
int search_run(const machine *on, const char *name, const knapsack_model *model, const gpuopt_knapsack_desc *desc,
               double limit, const step_hook *hook, search_result *r);

#endif /* TESTS_BENCH_KNAPSACK_SEARCH_H */
