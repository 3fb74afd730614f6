/* SPDX-License-Identifier: MIT
 *
 * What of ranks.h does not depend on how ranks reach one another.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <time.h>

#include "tests/group/ranks.h"

void seconds_wait(double seconds) {
    struct timespec wait;
    wait.tv_sec = (time_t)seconds;
    wait.tv_nsec = (long)((seconds - (double)wait.tv_sec) * 1e9);
    nanosleep(&wait, NULL);
}

void rank_expect(rank *r, int holds, const char *condition, int line) {
    if (holds || r->fault[0]) return;
    snprintf(r->fault, sizeof r->fault, "line %d: not %s; last error: %.100s", line, condition, r->host.error);
}

gpuopt_status rank_join(rank *r, double seconds) {
    gpuopt_group_desc desc = GPUOPT_INIT(gpuopt_group_desc);
    desc.time_limit = seconds;
    return gpuopt_group_create(r->context, &r->transport, &desc, &r->group);
}
