/* SPDX-License-Identifier: MIT
 *
 * The CUDA backend from a shared library that is opened at run time, so that one program runs with and without a GPU.
 *
 * Only a build with GPUOPT_LOAD_CUDA opens libraries; it may need -ldl. Others have the call, too, but nothing to link
 * with. GPUOPT_LIBDIR is the folder where the library is installed, as a string. No variable of the environment is read
 * here, but the dynamic loader has its own.
 */
#ifndef GPUOPT_IMPL_CUDA_LOAD_H
#define GPUOPT_IMPL_CUDA_LOAD_H

#include "backend.h"

#if defined(GPUOPT_LOAD_CUDA) && defined(__unix__)
#include <dlfcn.h>

/* The file's name ends with the version of the binary interface, as cmake/version.cmake and meson.build compute it. */
#define GPUOPT__DIGITS_OF(number) #number
#define GPUOPT__DIGITS(number) GPUOPT__DIGITS_OF(number)
#if GPUOPT_VERSION_MAJOR == 0
#define GPUOPT__CUDA_FILE "libgpuopt_cuda.so.0." GPUOPT__DIGITS(GPUOPT_VERSION_MINOR)
#else
#define GPUOPT__CUDA_FILE "libgpuopt_cuda.so." GPUOPT__DIGITS(GPUOPT_VERSION_MAJOR)
#endif

/* Why these exports (NULL: none) are not those of the same version, or NULL. */
static const char *gpuopt__cuda_mismatch(const struct gpuopt__cuda_exports *exports) {
    if (!exports) return "the file is not a libgpuopt_cuda.so";
    if (exports->version != GPUOPT_VERSION_NUMBER) return "libgpuopt_cuda.so is of another version than this libgpuopt";
    if (exports->layout != GPUOPT__LAYOUT) return "libgpuopt_cuda.so and this libgpuopt were built from other sources";
    return NULL;
}

/* Returns the backend of one file, or NULL with the reason, which stays as it is if the file cannot be opened. A
 * library that has called CUDA stays open: CUDA's libraries are not made to be unloaded. */
static const gpuopt_backend *gpuopt__open_cuda(const char *file, const char **reason) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    const struct gpuopt__cuda_exports *exports;
    const char *fault;
    if (!library) return NULL;
    exports = (const struct gpuopt__cuda_exports *)dlsym(library, "gpuopt__cuda_exports");
    fault = gpuopt__cuda_mismatch(exports);
    if (fault) dlclose(library);
    else fault = exports->fault();
    if (!fault) return exports->backend();
    *reason = fault;
    return NULL;
}

GPUOPT_API const gpuopt_backend *gpuopt_backend_cuda_load(const char *path, const char **reason) {
    /* The loader replaces $ORIGIN by the folder of the object that contains this code: libgpuopt.so or the program. */
    static const char *const places[] = {"$ORIGIN/" GPUOPT__CUDA_FILE,
#ifdef GPUOPT_LIBDIR
                                         GPUOPT_LIBDIR "/" GPUOPT__CUDA_FILE,
#endif
                                         GPUOPT__CUDA_FILE};
    const gpuopt_backend *backend = NULL;
    const char *fault = NULL, *first_fault = NULL;
    size_t i;
    if (path) backend = gpuopt__open_cuda(path, &first_fault);
    for (i = 0; !path && !backend && i < sizeof places / sizeof *places; i++) {
        backend = gpuopt__open_cuda(places[i], &fault);
        if (!first_fault) first_fault = fault;
    }
    if (!first_fault) first_fault = GPUOPT__CUDA_FILE " was not found, or a library that it needs was not";
    if (reason) *reason = backend ? NULL : first_fault;
    return backend;
}
#else
GPUOPT_API const gpuopt_backend *gpuopt_backend_cuda_load(const char *path, const char **reason) {
    (void)path;
    if (reason) *reason = "this libgpuopt was compiled without GPUOPT_LOAD_CUDA";
    return NULL;
}
#endif

#endif /* GPUOPT_IMPL_CUDA_LOAD_H */
