/* SPDX-License-Identifier: MIT
 *
 * Ends a search for an order early: on the caller's request or when its time is up. The search then ends in all of its
 * parts, on all threads.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_ORDER_WATCH_H
#define GPUOPT_IMPL_ELIMINATION_ORDER_WATCH_H

#include <math.h>

#include "../../common/backend.h"

typedef struct gpuopt__elimination_watch {
    const gpuopt_context *context;
    double seconds, start; /* HUGE_VAL: any; on the caller's clock, when the search began */
    double passed;         /* seconds since then, at the last look of the caller's thread; 0 at first */
    int ended;
} gpuopt__elimination_watch;

/* seconds: 0: any. */
static void gpuopt__elimination_watch_begin(gpuopt__elimination_watch *watch, const gpuopt_context *context,
                                            double seconds) {
    watch->context = context;
    watch->seconds = seconds > 0 ? seconds : HUGE_VAL;
    watch->start = seconds > 0 ? context->desc.seconds(context->desc.user) : 0;
    watch->passed = 0;
    watch->ended = 0;
}

static void gpuopt__elimination_watch_end(gpuopt__elimination_watch *watch) {
#ifdef GPUOPT__OPENMP
#pragma omp atomic write
#endif
    watch->ended = 1;
}

static int gpuopt__elimination_watch_has_ended(const gpuopt__elimination_watch *watch) {
    int ended;
#ifdef GPUOPT__OPENMP
#pragma omp atomic read
#endif
    ended = watch->ended;
    return ended;
}

/* The seconds since the search began; 0 if they are not limited. The search ends once they are used up. A clock that
 * goes back or is NaN also ends it: HUGE_VAL then. asks: whether this is the caller's thread; only this one may call
 * the caller's hooks, and the others use the time that it saw last. */
static double gpuopt__elimination_watch_seconds(gpuopt__elimination_watch *watch, int asks) {
    double passed;
    if (!(watch->seconds < HUGE_VAL)) return 0;
    if (!asks) {
#ifdef GPUOPT__OPENMP
#pragma omp atomic read
#endif
        passed = watch->passed;
        return passed;
    }
    passed = watch->context->desc.seconds(watch->context->desc.user) - watch->start;
    if (passed >= watch->passed && passed < watch->seconds) {
#ifdef GPUOPT__OPENMP
#pragma omp atomic write
#endif
        watch->passed = passed;
        return passed;
    }
    gpuopt__elimination_watch_end(watch);
    return HUGE_VAL;
}

/* Whether the search has ended. asks: as above. After a request to stop, the hook is not called again. */
static int gpuopt__elimination_watch_ends(gpuopt__elimination_watch *watch, int asks) {
    (void)gpuopt__elimination_watch_seconds(watch, asks);
    if (!gpuopt__elimination_watch_has_ended(watch) && asks && gpuopt__asked_to_stop(watch->context))
        gpuopt__elimination_watch_end(watch);
    return gpuopt__elimination_watch_has_ended(watch);
}

#endif /* GPUOPT_IMPL_ELIMINATION_ORDER_WATCH_H */
