/* SPDX-License-Identifier: MIT */
#include "tests/support/backends.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/green.h"

int test_backend(const char *name, int threads, gpuopt_context_desc *desc) {
    gpuopt_desc_init(desc, sizeof *desc);
    if (strcmp(name, "cpu") == 0) return 1;
    if (strcmp(name, "cpu-threads") == 0) {
        desc->threads = threads;
        return 1;
    }
#ifdef TEST_WITH_EMULATED
    if (strcmp(name, "cuda-emulated") == 0) {
        desc->backend = gpuopt_backend_cuda();
        return 1;
    }
#elif defined TEST_WITH_CUDA
    if (strcmp(name, "cuda") == 0) {
        /* With GPUOPT_TEST_MULTIPROCESSORS=N, in a green context of about N multiprocessors. */
        static struct CUstream_st *green;
        const char *most = getenv("GPUOPT_TEST_MULTIPROCESSORS");
        if (most && !green) green = test_green_stream((unsigned)strtoul(most, NULL, 10));
        desc->backend = gpuopt_backend_cuda();
        desc->stream = green;
        return !most || green;
    }
#endif
    return 0;
}
