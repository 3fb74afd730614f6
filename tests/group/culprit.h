/* SPDX-License-Identifier: MIT
 *
 * One rank that errs: its caller stops it, it is late, aborts or is gone, or its transport fails.
 */
#ifndef TESTS_GROUP_CULPRIT_H
#define TESTS_GROUP_CULPRIT_H

#include "tests/group/ranks.h"

enum { CULPRIT = 1 };

/* A context other than the rank's, with a group on the same transport. */
typedef struct culprit_context {
    test_host host;
    gpuopt_context_desc desc; /* culprit_prepare() fills it; work may change it before culprit_open() */
    gpuopt_context *context;
    gpuopt_group *group;
} culprit_context;
void culprit_prepare(culprit_context *own);
void culprit_open(rank *r, culprit_context *own);
void culprit_close(rank *r, culprit_context *own); /* after the handles on it */
/* Before culprit_open(): the culprit's stop hook returns 1 at question number `at` from now on, on this thread. The
 * second function returns how many questions there were. */
void culprit_stops(const rank *r, culprit_context *own, int at);
int culprit_asked(void);

/* Ways to get lost. */
enum { CULPRIT_LATE, CULPRIT_ABORTS, CULPRIT_GONE, CULPRIT_WAYS };
/* Makes the rank's group, with a short time limit unless the culprit aborts. */
void culprit_join(rank *r, int way);
/* The culprit gets lost now. Returns whether the rank still makes calls, which must return PEER. */
int culprit_gets_lost(rank *r, int way, double *start);
/* Checks that the rank has noticed it within the time limit. */
void culprit_noticed(rank *r, double start);

/* Makes the rank's group on a transport that fails on the culprit at exchange `number`. The second function comes after
 * the last call on the group, with that call's status, which must be PEER. */
gpuopt_status culprit_join_faulty(rank *r, int number, rank_faulty *f, double *start);
void culprit_leave_faulty(rank *r, gpuopt_status last, double start);

#endif /* TESTS_GROUP_CULPRIT_H */
