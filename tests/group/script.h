/* SPDX-License-Identifier: MIT
 *
 * A caller that makes most calls of a simplex handle, and records all results: for comparing ranks of a group with a
 * separate handle.
 */
#ifndef TESTS_GROUP_SCRIPT_H
#define TESTS_GROUP_SCRIPT_H

#include "examples/io/mip.h"

/* The results, in the order of calls. */
typedef struct script_log {
    char *bytes;
    size_t size, capacity;
    int calls;
    gpuopt_simplex_info solved; /* after the first solve, and farkas or ray of _get_proof (NULL: neither) */
    double *proof, *proof_low;
} script_log;

/* Makes the handle, and the calls; iterating makes `step` iterations at a time. Returns the first status that is
 * neither OK nor NUMERIC; the handle is destroyed. No assertion, so it may run in any thread. */
gpuopt_status script_run(gpuopt_context *context, const gpuopt_simplex_desc *desc, int64_t step, script_log *log);
void script_free(script_log *log);

#endif /* TESTS_GROUP_SCRIPT_H */
