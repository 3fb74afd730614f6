/* SPDX-License-Identifier: MIT
 *
 * The backends that tests and benchmarks run on, by name.
 */
#ifndef TESTS_SUPPORT_BACKENDS_H
#define TESTS_SUPPORT_BACKENDS_H

#include "gpuopt.h"

/* "cpu", "cpu-threads" (with so many) or "cuda": fills desc and returns 1, or 0 where the program is built without
 * it. */
int test_backend(const char *name, int threads, gpuopt_context_desc *desc);

#endif /* TESTS_SUPPORT_BACKENDS_H */
