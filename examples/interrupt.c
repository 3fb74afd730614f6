/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "examples/interrupt.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "examples/common.h"

/* A handler may do very little: it sets this flag. It is atomic since any thread of the program may get the signal, and
 * every thread that calls the library reads it. */
static atomic_int signalled;
static double limit, deadline = HUGE_VAL;

/* The first signal asks to stop. The default action is back from then on, so a second one ends the program even if it
 * is in a call that does not ask the hook for long. */
static void handle(int number) {
    (void)number;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    atomic_store(&signalled, 1);
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
    if (atomic_load(&signalled)) return "a signal";
    return deadline < HUGE_VAL && now() >= deadline ? "the limit of time" : NULL;
}

double interrupt_left(void) { return deadline - (deadline < HUGE_VAL ? now() : 0); }
