/* SPDX-License-Identifier: MIT
 *
 * For shared_test.sh: a libgpuopt_cuda.so without CUDA, of VERSION and LAYOUT. It has the fault FAULT or, without that
 * macro, a backend called "fake".
 */
#include "gpuopt_impl/common/backend.h"

#ifndef VERSION
#define VERSION GPUOPT_VERSION_NUMBER
#endif
#ifndef LAYOUT
#define LAYOUT GPUOPT__LAYOUT
#endif
#ifndef FAULT
#define FAULT NULL
#endif

static const gpuopt_backend *backend(void) {
    static const gpuopt_backend fake = {.name = "fake"};
    return &fake;
}

static const char *fault(void) { return FAULT; }

const struct gpuopt__cuda_exports gpuopt__cuda_exports = {VERSION, LAYOUT, backend, fault};
