/* SPDX-License-Identifier: MIT */
#include "tests/support/green.h"

#include <stddef.h>

#ifdef TEST_WITH_CUDA
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <string.h>

void *test_driver_function(const char *name, unsigned version) {
    enum cudaDriverEntryPointQueryResult result;
    void *found = NULL;
#if CUDART_VERSION >= 12050
    cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result);
#else
    (void)version;
    cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
    return found;
}

#if CUDA_VERSION >= 12050
/* Declares a pointer to a function of the driver, and finds the function. */
#define DRIVER(POINTER, NAME, VERSION, ...)                       \
    CUresult (*POINTER)(__VA_ARGS__);                             \
    do {                                                          \
        void *driver_found = test_driver_function(NAME, VERSION); \
        memcpy(&POINTER, &driver_found, sizeof driver_found);     \
        if (!driver_found) return NULL;                           \
    } while (0)

struct CUstream_st *test_green_stream(unsigned multiprocessors) {
    DRIVER(of_device, "cuDeviceGetDevResource", 12040, CUdevice, CUdevResource *, CUdevResourceType);
    DRIVER(split, "cuDevSmResourceSplitByCount", 12040, CUdevResource *, unsigned *, const CUdevResource *,
           CUdevResource *, unsigned, unsigned);
    DRIVER(describe, "cuDevResourceGenerateDesc", 12040, CUdevResourceDesc *, CUdevResource *, unsigned);
    DRIVER(create, "cuGreenCtxCreate", 12040, CUgreenCtx *, CUdevResourceDesc, CUdevice, unsigned);
    DRIVER(create_stream, "cuGreenCtxStreamCreate", 12050, CUstream *, CUgreenCtx, unsigned, int);
    CUdevResource all, few, rest;
    CUdevResourceDesc description;
    CUgreenCtx green;
    CUstream stream;
    unsigned groups = 1;
    if (of_device(0, &all, CU_DEV_RESOURCE_TYPE_SM) || split(&few, &groups, &all, &rest, 0, multiprocessors) ||
        few.sm.smCount >= all.sm.smCount || describe(&description, &few, 1) ||
        create(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM) ||
        create_stream(&stream, green, CU_STREAM_NON_BLOCKING, 0))
        return NULL;
    return stream;
}
#else
struct CUstream_st *test_green_stream(unsigned multiprocessors) {
    (void)multiprocessors;
    return NULL;
}
#endif

#else

void *test_driver_function(const char *name, unsigned version) {
    (void)name, (void)version;
    return NULL;
}

struct CUstream_st *test_green_stream(unsigned multiprocessors) {
    (void)multiprocessors;
    return NULL;
}

#endif
