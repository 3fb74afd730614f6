/* SPDX-License-Identifier: MIT
 *
 * The backends that tests and benchmarks run on, by name.
 */
#ifndef TESTS_SUPPORT_BACKENDS_H
#define TESTS_SUPPORT_BACKENDS_H

#include "gpuopt.h"

/* Fills desc for "cpu", "cpu-threads" (with `threads` threads), "cuda" or "cuda-emulated" (the same kernels on the CPU:
 * tests/emulated). Returns 1, or 0 if the program is built without this backend. */
int test_backend(const char *name, int threads, gpuopt_context_desc *desc);

#endif /* TESTS_SUPPORT_BACKENDS_H */
