/* SPDX-License-Identifier: MIT
 *
 * Stopping early: Ctrl-C, a request to terminate, and a limit of time, by the `stop` hook of a context. The library has
 * no signals, no threads and no clock. It asks its caller now and then whether to stop; this is one answer.
 *
 *     interrupt_catch();
 *     desc.stop = interrupted;           (the desc of gpuopt_context_create)
 *     ...
 *     while (!status && info.outcome == GPUOPT_MORE && !interrupted(NULL))
 *         status = gpuopt_simplex_iterate(simplex, INT64_MAX, &info);
 *
 * A call that is stopped returns GPUOPT_OK with the outcome GPUOPT_MORE. The handle stays as good as before, so the
 * program reads what is known by then, prints it, and ends as usual. A second signal ends it at once.
 */
#ifndef EXAMPLES_INTERRUPT_H
#define EXAMPLES_INTERRUPT_H

/* Limits the time to this many seconds from interrupt_catch() on; 0: no limit. */
void interrupt_limit(double seconds);

/* Catches SIGINT and SIGTERM from now on, and starts the clock. To be called once, when the model has been read: until
 * then there is nothing to print, and a signal ends the program as it always does. */
void interrupt_catch(void);

/* Whether to stop: once a signal has come or time is up, always. This is the hook; `user` is not used. A program's own
 * loops ask the same, with NULL. Any thread may call it. */
int interrupted(void *user);

/* What has made it stop, in words: "by a signal" or "at the limit of time"; NULL: nothing has. */
const char *interrupt_cause(void);

/* Seconds until time is up; HUGE_VAL: there is no limit. */
double interrupt_left(void);

#endif /* EXAMPLES_INTERRUPT_H */
