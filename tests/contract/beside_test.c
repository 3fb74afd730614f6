/* SPDX-License-Identifier: MIT
 *
 * Handles of all families and of very different sizes at once: in one context with alternating steps, and in the
 * contexts of several threads.
 */
#include <pthread.h>

#include "tests/contract/problems.h"

/* Solves problems at the same time, a step of each in turn. Returns the failing kind and the failure, or NULL. */
static const char *solve(gpuopt_context *context, const int *chosen, int count, const char **what) {
    void *handle[PROBLEMS] = {NULL};
    int more[PROBLEMS], k, open = count, number;
    const char *fault = NULL;
    for (k = 0; k < count && !fault; k++) {
        const problem *p = &problems[chosen[k]];
        more[k] = 1;
        if (families[p->kind->family].create(context, &p->desc, &handle[k])) fault = p->kind->name, *what = "create";
    }
    for (number = 0; open > 0 && number < 10000 && !fault; number++)
        for (k = open = 0; k < count && !fault; k++) {
            const problem *p = &problems[chosen[k]];
            if (!more[k]) continue;
            if (problem_step(p, handle[k], number, &more[k])) fault = p->kind->name, *what = "a step";
            open += more[k];
        }
    if (open > 0 && !fault) fault = "all", *what = "they do not end";
    for (k = 0; k < count && !fault; k++) {
        const problem *p = &problems[chosen[k]];
        if (!p->kind->check(p, handle[k])) fault = p->kind->name, *what = "the answer";
    }
    for (k = 0; k < count; k++) families[problems[chosen[k]].kind->family].destroy(handle[k]);
    return fault;
}

static void all_in_one_context(void **state) {
    gpuopt_context *context = test_context(NULL);
    (void)state;
    for (int order = 0; order < 3; order++) { /* the large problems last, first, and in between */
        int chosen[PROBLEMS];
        const char *what = NULL, *fault;
        for (int k = 0; k < PROBLEMS; k++)
            chosen[k] = order == 0 ? k : order == 1 ? PROBLEMS - 1 - k : k % 2 ? k / 2 : KINDS + k / 2;
        fault = solve(context, chosen, PROBLEMS, &what);
        if (fault) fail_msg("order %d, %s: %s", order, fault, what);
    }
    gpuopt_context_destroy(context);
}

/* Every two problems together, each created first once. */
static void every_two(void **state) {
    gpuopt_context *context = test_context(NULL);
    (void)state;
    for (int a = 0; a < PROBLEMS; a++)
        for (int b = 0; b < PROBLEMS; b++) {
            const int chosen[2] = {a, b};
            const char *what = NULL, *fault = solve(context, chosen, 2, &what);
            if (fault)
                fail_msg("%s of size %d, then %s of size %d: %s: %s", problems[a].kind->name, (int)problems[a].size,
                         problems[b].kind->name, (int)problems[b].size, fault, what);
        }
    gpuopt_context_destroy(context);
}

typedef struct worker {
    pthread_t thread;
    gpuopt_context *context;
    int first;
    const char *fault, *what;
} worker;

static void *work(void *argument) {
    worker *w = argument;
    for (int turn = 0; turn < 3 && !w->fault; turn++) {
        int chosen[4];
        for (int k = 0; k < 4; k++) chosen[k] = (w->first + 4 * turn + 5 * k) % PROBLEMS;
        w->fault = solve(w->context, chosen, 4, &w->what);
    }
    return NULL;
}

static void contexts_of_several_threads(void **state) {
    worker workers[8];
    (void)state;
    for (int count = 2; count <= 8; count *= 2) {
        for (int k = 0; k < count; k++) workers[k] = (worker){.context = test_context(NULL), .first = 3 * k};
        for (int k = 0; k < count; k++)
            assert_int_equal(pthread_create(&workers[k].thread, NULL, work, &workers[k]), 0);
        for (int k = 0; k < count; k++) assert_int_equal(pthread_join(workers[k].thread, NULL), 0);
        for (int k = 0; k < count; k++) {
            if (workers[k].fault) fail_msg("thread %d of %d, %s: %s", k, count, workers[k].fault, workers[k].what);
            gpuopt_context_destroy(workers[k].context);
        }
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(all_in_one_context, make_problems, free_problems),
    cmocka_unit_test_setup_teardown(every_two, make_problems, free_problems),
    cmocka_unit_test_setup_teardown(contexts_of_several_threads, make_problems, free_problems),
};
TEST_MAIN(tests)
