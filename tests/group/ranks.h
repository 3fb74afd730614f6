/* SPDX-License-Identifier: MIT
 *
 * Ranks for tests: threads, each with a separate context and watched caller.
 */
#ifndef TESTS_GROUP_RANKS_H
#define TESTS_GROUP_RANKS_H

#include "gpuopt/group.h"
#include "tests/support/support.h"

enum { MAX_RANKS = 8 };

typedef struct ranks ranks;
typedef struct rank {
    const ranks *all;
    int number;
    gpuopt_transport transport; /* of this rank; work may change it before it makes a group */
    gpuopt_context *context;
    test_host host;
    gpuopt_group *group; /* made by work; destroyed after it */
    char fault[256];     /* the first EXPECT that failed, or "" */
} rank;

struct ranks {
    int count;
    void (*work)(rank *r); /* in a thread for each rank; must not use cmocka, since failed checks end the main thread's
                            * test */
    const void *data;      /* for work */
    rank rank[MAX_RANKS];
};

/* Runs work on each of `count` ranks, then destroys the groups that work made, and the contexts. Fails the test if a
 * rank found a fault, or if memory of a rank is still allocated. */
void ranks_run(int count, void (*work)(rank *r), const void *data);

/* The device of a rank's context: 0, or with GPUOPT_TEST_DEVICES=N on CUDA the devices 0 to N - 1 in turn. */
int32_t rank_device(int number);

/* Gives a rank, before it has a group, a context with the library's own memory, which others can access; its messages
 * are lost. */
void rank_own_memory(rank *r);

/* Makes the group of a rank, with this time limit. */
gpuopt_status rank_join(rank *r, double seconds);

/* A transport that passes everything on, but for one exchange, which fails. */
typedef struct rank_faulty {
    gpuopt_transport inner;
    int left;
} rank_faulty;
/* From now on this rank's transport fails at exchange `number`, the first one being 0. *f must outlive the group. */
void rank_make_faulty(rank *r, int number, rank_faulty *f);

double seconds_now(void); /* of a monotonic clock */
void seconds_wait(double seconds);

/* Notes the first condition of a rank that does not hold. */
void rank_expect(rank *r, int holds, const char *condition, int line);
#define EXPECT(r, condition) rank_expect(r, (condition) != 0, #condition, __LINE__)

#endif /* TESTS_GROUP_RANKS_H */
