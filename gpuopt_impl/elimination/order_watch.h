/* SPDX-License-Identifier: MIT
 *
 * When a search for an order ends early: the host says so, or its time is up. Once it has ended, it has for every part
 * of it, on all threads.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_ORDER_WATCH_H
#define GPUOPT_IMPL_ELIMINATION_ORDER_WATCH_H

#include <math.h>
#include <time.h>

#include "../common/backend.h"

typedef struct gpuopt__elimination_watch {
    const gpuopt_context *context;
    double seconds, start; /* HUGE_VAL: any; on the clock, when the search began */
    double seen;           /* seconds that had passed when the caller's thread last looked; 0 at first */
    int ended;
} gpuopt__elimination_watch;

/* Seconds, since some time. */
static double gpuopt__elimination_clock(void) {
    struct timespec now;
    return timespec_get(&now, TIME_UTC) ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec : HUGE_VAL;
}

static void gpuopt__elimination_watch_end(gpuopt__elimination_watch *watch) {
#ifdef _OPENMP
#pragma omp atomic write
#endif
    watch->ended = 1;
}

static int gpuopt__elimination_watch_has_ended(const gpuopt__elimination_watch *watch) {
    int ended;
#ifdef _OPENMP
#pragma omp atomic read
#endif
    ended = watch->ended;
    return ended;
}

/* The seconds since the search began; 0 if they are not limited. The search ends once they are used up, and also if the
 * clock fails or goes back behind *seen, which each thread keeps for itself: HUGE_VAL then. */
static double gpuopt__elimination_watch_seconds(gpuopt__elimination_watch *watch, double *seen) {
    double passed;
    if (!(watch->seconds < HUGE_VAL)) return 0;
    passed = gpuopt__elimination_clock() - watch->start;
    if (passed >= *seen && passed < watch->seconds) return *seen = passed;
    gpuopt__elimination_watch_end(watch);
    return HUGE_VAL;
}

/* Whether the search has ended. asks: whether this thread, the caller's, may ask the host. Once the host has said so, it
 * is not asked again. */
static int gpuopt__elimination_watch_ends(gpuopt__elimination_watch *watch, double *seen, int asks) {
    (void)gpuopt__elimination_watch_seconds(watch, seen);
    if (!gpuopt__elimination_watch_has_ended(watch) && asks && gpuopt__asked_to_stop(watch->context))
        gpuopt__elimination_watch_end(watch);
    return gpuopt__elimination_watch_has_ended(watch);
}

#endif /* GPUOPT_IMPL_ELIMINATION_ORDER_WATCH_H */
