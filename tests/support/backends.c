/* SPDX-License-Identifier: MIT */
#include "tests/support/backends.h"

#include <string.h>

int test_backend(const char *name, int threads, gpuopt_context_desc *desc) {
    gpuopt_desc_init(desc, sizeof *desc);
    if (strcmp(name, "cpu") == 0) return 1;
    if (strcmp(name, "cpu-threads") == 0) {
        desc->threads = threads;
        return 1;
    }
#ifdef TEST_WITH_CUDA
    if (strcmp(name, "cuda") == 0) {
        desc->backend = gpuopt_backend_cuda();
        return 1;
    }
#endif
    return 0;
}
