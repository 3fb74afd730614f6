/* SPDX-License-Identifier: MIT
 *
 * The cost of a node of branch and bound with a trail, one node at a time, on either backend.
 *     tree_bench BACKEND [--nodes N] MODEL...      BACKEND: cpu or cuda; MODEL: FILE.mps or gen:NAME
 * From the fixpoint of the root, each node pushes, and sets one bound of a random column to the middle of its domain.
 * It propagates to the fixpoint, reads the changes into host memory with their rows, and pops. A line for each model,
 * with means over N nodes (1000): the time of the node and of each of its calls in us, and of explaining the last
 * change. (Calls are enqueued, so a later one waits for the work of an earlier one.)
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "examples/common.h"
#include "examples/io/mip.h"

enum { PUSH, SET, ROUND, READ, EXPLAIN, POP, CALLS, CAPACITY = 1 << 20, ROUNDS = 1000 };

static void check(int failed, const char *what) {
    if (!failed) return;
    fprintf(stderr, "tree_bench: %s\n", what);
    exit(EXIT_FAILED);
}

typedef struct search {
    gpuopt_propagator *p;
    gpuopt_propagator_changes changes;
    double *lb, *ub;
    const uint8_t *integer; /* or NULL */
    int32_t cols;
    uint64_t random;
    double seconds[CALLS];
    long rounds, moved, infeasible;
} search;

static int32_t next(search *s) {
    s->random = s->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int32_t)((s->random >> 33) % (uint64_t)s->cols);
}

/* A column that is not fixed, and a half of its domain; infinite bounds count as 10 away. */
static int32_t decide(search *s, double *lb, double *ub) {
    double middle;
    int32_t j;
    int tries = 0;
    do j = next(s);
    while (!(s->lb[j] < s->ub[j]) && ++tries < 1000);
    *lb = s->lb[j];
    *ub = s->ub[j];
    if (isinf(*lb)) *lb = isinf(*ub) ? -10 : *ub - 10;
    if (isinf(*ub)) *ub = *lb + 10;
    middle = (*lb + *ub) / 2;
    if (s->integer && s->integer[j]) middle = floor(middle);
    if (next(s) % 2) *ub = middle;
    else *lb = s->integer && s->integer[j] && middle < *ub ? middle + 1 : middle;
    return j;
}

static void node(search *s) {
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    gpuopt_propagator_reason reason = GPUOPT_INIT(gpuopt_propagator_reason);
    double lb, ub, time[CALLS + 1];
    int32_t col = decide(s, &lb, &ub);
    int64_t start;
    int k;
    s->changes.capacity = CAPACITY;
    time[PUSH] = now();
    check(gpuopt_propagator_push(s->p, &start), "push");
    time[SET] = now();
    check(gpuopt_propagator_set_bounds(s->p, GPUOPT_HOST, 1, &col, &lb, &ub), "set_bounds");
    time[ROUND] = now();
    check(gpuopt_propagator_round(s->p, ROUNDS, &info), "round");
    time[READ] = now();
    check(gpuopt_propagator_get_changes(s->p, GPUOPT_HOST, start, &s->changes), "get_changes");
    time[EXPLAIN] = now();
    if (s->changes.count > 0) check(gpuopt_propagator_explain(s->p, start + s->changes.count - 1, &reason), "explain");
    time[POP] = now();
    check(gpuopt_propagator_pop(s->p, 1), "pop");
    time[CALLS] = now();
    for (k = 0; k < CALLS; k++) s->seconds[k] += time[k + 1] - time[k];
    s->rounds += info.rounds;
    s->moved += s->changes.count;
    s->infeasible += info.outcome == GPUOPT_INFEASIBLE;
}

static void *take(int64_t count, size_t size) {
    void *array = malloc((size_t)count * size + 1);
    check(!array, "out of memory");
    return array;
}

static int measure(gpuopt_context *context, const char *name, int nodes) {
    char error[256] = "";
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    gpuopt_propagator_desc desc;
    search s;
    double all = 0;
    mip model;
    int k;
    if (mip_load(name, &model, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    if (model.matrix.cols == 0) {
        fprintf(stderr, "%s has no columns\n", name);
        mip_free(&model);
        return EXIT_BAD_INPUT;
    }
    memset(&s, 0, sizeof s);
    desc = mip_propagator_desc(&model);
    desc.trail_capacity = CAPACITY;
    check(gpuopt_propagator_create(context, &desc, NULL, &s.p), "create");
    s.cols = desc.matrix.cols;
    s.integer = desc.integer;
    s.random = 7;
    s.lb = take(s.cols, sizeof(double));
    s.ub = take(s.cols, sizeof(double));
    gpuopt_desc_init(&s.changes, sizeof s.changes);
    s.changes.col = take(CAPACITY, sizeof(int32_t));
    s.changes.row = take(CAPACITY, sizeof(int32_t));
    s.changes.upper = take(CAPACITY, 1);
    s.changes.new_bound = take(CAPACITY, sizeof(double));
    check(gpuopt_propagator_round(s.p, ROUNDS, &info), "round");
    check(gpuopt_propagator_get_bounds(s.p, GPUOPT_HOST, 0, NULL, s.lb, s.ub), "get_bounds");
    check(gpuopt_propagator_commit(s.p), "keep");
    for (k = 0; k < 20; k++) node(&s);
    memset(s.seconds, 0, sizeof s.seconds);
    s.rounds = s.moved = s.infeasible = 0;
    for (k = 0; k < nodes; k++) node(&s);
    for (k = 0; k < CALLS; k++) s.seconds[k] *= 1e6 / nodes, all += k == EXPLAIN ? 0 : s.seconds[k];
    printf(
        "%-28s %8.2f us a node: push %.2f, set %.2f, round %.2f, read %.2f, pop %.2f; explain %.2f; %.1f rounds, %.1f "
        "changes, %.0f%% infeasible\n",
        name, all, s.seconds[PUSH], s.seconds[SET], s.seconds[ROUND], s.seconds[READ], s.seconds[POP],
        s.seconds[EXPLAIN], (double)s.rounds / nodes, (double)s.moved / nodes, 100. * (double)s.infeasible / nodes);
    fflush(stdout);
    gpuopt_propagator_destroy(s.p);
    mip_free(&model);
    free(s.lb), free(s.ub), free(s.changes.col), free(s.changes.row), free(s.changes.upper), free(s.changes.new_bound);
    return 0;
}

int main(int argc, char **argv) {
    log_printer printer = {argv[0], 0};
    gpuopt_context *context;
    const char *backend;
    int64_t nodes = 1000;
    int k = 2, result = 0;
    if (argc < 3) return EXIT_BAD_INPUT;
    if (argc > 4 && strcmp(argv[2], "--nodes") == 0 && whole_number(argv[3], 1000000, &nodes)) k = 4;
    check(open_context(argv[1], 1, 1, &printer, &context, &backend), "context");
    for (; k < argc; k++) result |= measure(context, argv[k], (int)nodes);
    gpuopt_context_destroy(context);
    return result;
}
