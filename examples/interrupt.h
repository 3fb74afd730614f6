/* SPDX-License-Identifier: MIT
 *
 * Stopping early: Ctrl-C, a request to terminate, and a limit of time, by the `stop` hook of a context. The library
 * uses no signals, no threads and no clock. It regularly calls the caller's hook to decide whether to stop; this is one
 * such hook.
 *
 *     interrupt_catch();
 *     desc.stop = interrupted;           (the desc of gpuopt_context_create)
 *     ...
 *     while (!status && info.outcome == GPUOPT_MORE && !interrupted(NULL))
 *         status = gpuopt_simplex_iterate(simplex, INT64_MAX, &info);
 *
 * A stopped call returns GPUOPT_OK with the outcome GPUOPT_MORE. The handle stays usable, so the program reads the
 * present results, prints them, and ends as usual. A second signal ends the program at once.
 */
#ifndef EXAMPLES_INTERRUPT_H
#define EXAMPLES_INTERRUPT_H

/* Limits the time to this many seconds from interrupt_catch() on; 0: no limit. */
void interrupt_limit(double seconds);

/* Catches SIGINT and SIGTERM from now on, and starts the clock. Call it once, after the model has been read: until then
 * there is nothing to print, and a signal ends the program as usual. */
void interrupt_catch(void);

/* Whether to stop: always once a signal has come or time is up. This is the hook; it ignores `user`. A program's own
 * loops call it with NULL. Any thread may call it. */
int interrupted(void *user);

/* The cause of the stop, in words: "by a signal" or "at the limit of time"; NULL: none. */
const char *interrupt_cause(void);

/* Seconds until time is up; HUGE_VAL: there is no limit. */
double interrupt_left(void);

#endif /* EXAMPLES_INTERRUPT_H */
