/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "examples/interrupt.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "examples/common.h"

/* When the first signal came, in milliseconds of now(); 0: none has. A signal handler may do very little: it only sets
 * this. It is atomic, since any thread of the program may receive the signal, and every thread that calls the library
 * reads it. */
static atomic_llong signalled;
static double limit, deadline = HUGE_VAL;

enum { SAME_MS = 100 };

/* The first signal requests a stop. A second one ends the program by the default action, even in a call that does not
 * call the hook for a long time. A signal within a tenth of a second counts as a repetition of the first. timeout(1),
 * and a shell that forwards a signal that its terminal has sent to all, send each signal twice. */
static void handle(int number) {
    const long long when = (long long)(1e3 * now()) + 1; /* clock_gettime() is allowed here */
    long long first = 0;
    if (atomic_compare_exchange_strong(&signalled, &first, when) || when - first < SAME_MS) return;
    signal(number, SIG_DFL);
    raise(number); /* takes effect when this function returns */
}

void interrupt_limit(double seconds) { limit = seconds; }

void interrupt_catch(void) {
    struct sigaction action;
    if (limit > 0) deadline = now() + limit;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART; /* a signal is no error of reading or writing */
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int interrupted(void *user) {
    (void)user;
    return interrupt_cause() != NULL;
}

const char *interrupt_cause(void) {
    if (atomic_load(&signalled)) return "by a signal";
    return deadline < HUGE_VAL && now() >= deadline ? "at the limit of time" : NULL;
}

double interrupt_left(void) { return deadline - (deadline < HUGE_VAL ? now() : 0); }
