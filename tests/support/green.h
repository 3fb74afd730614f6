/* SPDX-License-Identifier: MIT
 *
 * CUDA's driver, for tests: functions without an equivalent in the runtime, and green contexts, which use some of a
 * device's multiprocessors.
 */
#ifndef TESTS_SUPPORT_GREEN_H
#define TESTS_SUPPORT_GREEN_H

struct CUstream_st;

/* A function of the driver as of this CUDA version; NULL if it has none. Programs are not linked with libcuda. */
void *test_driver_function(const char *name, unsigned version);

/* A stream of a new green context on device 0 with about this many multiprocessors. It lasts as long as the process.
 * NULL if green contexts are not available. */
struct CUstream_st *test_green_stream(unsigned multiprocessors);

#endif /* TESTS_SUPPORT_GREEN_H */
