/* SPDX-License-Identifier: MIT
 *
 * Shared by the programs of this folder: the context, and the end of the program when a call fails.
 */
#ifndef EXAMPLES_STEPS_H
#define EXAMPLES_STEPS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt.h"

static gpuopt_context *context; /* the program's only one */

/* must(call): ends the program with the reason unless the call returns GPUOPT_OK. */
#define must(call) must_be_ok((call), #call)
static inline void must_be_ok(gpuopt_status status, const char *call) {
    if (status == GPUOPT_OK) return;
    fprintf(stderr, "%s: %s: %s\n", call, gpuopt_status_string(status), gpuopt_context_last_error(context));
    exit(3);
}

/* The same steps run on the CPU and, if the first argument is "cuda" and the build has that backend, on the GPU. */
static inline void open_context(int argc, char **argv) {
    gpuopt_context_desc desc = GPUOPT_INIT(gpuopt_context_desc);
    if (argc > 1 && strcmp(argv[1], "cuda") == 0) {
#ifdef WITH_CUDA
        desc.backend = gpuopt_backend_cuda();
#else
        fprintf(stderr, "this program was compiled without -DWITH_CUDA\n");
        exit(2);
#endif
    } else if (argc > 1) {
        printf("usage: %s [cuda]\n", argv[0]);
        exit(strcmp(argv[1], "--help") != 0);
    }
    must(gpuopt_context_create(&desc, &context));
}

static inline void *memory_for(uint64_t bytes) {
    void *memory = malloc((size_t)bytes);
    if (!memory) exit(3);
    return memory;
}

static inline int near(double a, double b) { return a - b < 1e-7 && b - a < 1e-7; }

/* The exit status: 0 if the result is the known one and could be written. */
static inline int finish(int right) {
    gpuopt_context_destroy(context);
    puts(right ? "as expected" : "WRONG");
    return fflush(stdout) ? 2 : !right;
}

#endif /* EXAMPLES_STEPS_H */
