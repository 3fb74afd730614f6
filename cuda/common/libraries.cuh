/* SPDX-License-Identifier: MIT
 *
 * cuBLAS and cuSOLVER, where they are installed. A context searches for each when it creates the first handle that
 * needs it (never in a step), and keeps one handle of it on its stream. If one is missing or does not work, the
 * backend's own kernels do its work, and this is logged once.
 *
 * They are opened by dlopen. So a program without the libraries still runs, and a program that has already loaded them
 * shares its copy. With GPUOPT_CUDA_LINK_LIBRARIES they are linked (-lcublas -lcusolver) instead; with
 * GPUOPT_CUDA_WITHOUT_LIBRARIES they are never used.
 */
#ifndef GPUOPT_CUDA_LIBRARIES_CUH
#define GPUOPT_CUDA_LIBRARIES_CUH

#include "context.cuh"

#ifdef GPUOPT_CUDA_LINK_LIBRARIES
#include <cublas_v2.h>
#include <cusolverDn.h>
#elif !defined(GPUOPT_CUDA_WITHOUT_LIBRARIES) && defined(__unix__)
#include <dlfcn.h>
#define GPUOPT__CUDA_OPENS_LIBRARIES
#endif

namespace {

const char cublas_missing[] =
    "cuBLAS was not found or does not work: rank updates and loads of a basis use this library's own kernels";
const char cusolver_missing[] =
    "cuSOLVER was not found or does not work: loads of a basis use this library's own kernels";

/* ---- Finding the functions, in the newest version first ---- */

enum : size_t { LIBRARY_VERSIONS = 3 };

#ifdef GPUOPT__CUDA_OPENS_LIBRARIES
/* Opens one of the versions of a library; null: there is none. Never closes it, since another context may be using it,
 * and CUDA's libraries are not made to be unloaded. */
template <size_t COUNT>
void *open_library(const char *const (&names)[COUNT], size_t version) {
    return version < COUNT ? dlopen(names[version], RTLD_NOW | RTLD_LOCAL) : nullptr;
}

template <class Function>
bool find_function(void *library, const char *name, Function *function) {
    void *found = library ? dlsym(library, name) : nullptr;
    *function = reinterpret_cast<Function>(found);
    return found;
}

void *open_cublas(size_t version) {
    return open_library({"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"}, version);
}

bool find_cublas(Cublas *blas, size_t version) {
    void *library = open_cublas(version);
    return find_function(library, "cublasCreate_v2", &blas->create) &&
           find_function(library, "cublasDestroy_v2", &blas->destroy) &&
           find_function(library, "cublasSetStream_v2", &blas->set_stream) &&
           find_function(library, "cublasSetWorkspace_v2", &blas->set_workspace) &&
           find_function(library, "cublasDgemm_v2", &blas->gemm) &&
           find_function(library, "cublasDgemmStridedBatched", &blas->gemm_batch) &&
           find_function(library, "cublasDtrsm_v2", &blas->trsm);
}

bool find_cusolver(Cusolver *solver, size_t version) {
    void *library = open_library({"libcusolver.so.12", "libcusolver.so.11"}, version);
    return find_function(library, "cusolverDnCreate", &solver->create) &&
           find_function(library, "cusolverDnDestroy", &solver->destroy) &&
           find_function(library, "cusolverDnSetStream", &solver->set_stream) &&
           find_function(library, "cusolverDnDgetrf_bufferSize", &solver->getrf_size) &&
           find_function(library, "cusolverDnDgetrf", &solver->getrf);
}
#elif defined(GPUOPT_CUDA_LINK_LIBRARIES)
template <class Theirs, class Ours>
bool take_function(Theirs *theirs, Ours **ours) {
    *ours = reinterpret_cast<Ours *>(theirs);
    return true;
}

bool find_cublas(Cublas *blas, size_t) {
    static_assert(CUBLAS_OP_N == +BLAS_PLAIN && CUBLAS_OP_T == +BLAS_TRANSPOSED, "");
    static_assert(CUBLAS_SIDE_LEFT == +BLAS_LEFT && CUBLAS_SIDE_RIGHT == +BLAS_RIGHT, "");
    static_assert(CUBLAS_FILL_MODE_LOWER == +BLAS_LOWER && CUBLAS_FILL_MODE_UPPER == +BLAS_UPPER, "");
    static_assert(CUBLAS_DIAG_NON_UNIT == +BLAS_NON_UNIT && CUBLAS_DIAG_UNIT == +BLAS_UNIT, "");
    return take_function(cublasCreate_v2, &blas->create) && take_function(cublasDestroy_v2, &blas->destroy) &&
           take_function(cublasSetStream_v2, &blas->set_stream) &&
           take_function(cublasSetWorkspace_v2, &blas->set_workspace) && take_function(cublasDgemm_v2, &blas->gemm) &&
           take_function(cublasDgemmStridedBatched, &blas->gemm_batch) && take_function(cublasDtrsm_v2, &blas->trsm);
}

bool find_cusolver(Cusolver *solver, size_t) {
    return take_function(cusolverDnCreate, &solver->create) && take_function(cusolverDnDestroy, &solver->destroy) &&
           take_function(cusolverDnSetStream, &solver->set_stream) &&
           take_function(cusolverDnDgetrf_bufferSize, &solver->getrf_size) &&
           take_function(cusolverDnDgetrf, &solver->getrf);
}
#else
bool find_cublas(Cublas *, size_t) { return false; }
bool find_cusolver(Cusolver *, size_t) { return false; }
#endif

/* ---- Opening and closing ---- */

void close_libraries(CudaLibraries *libraries) {
    if (libraries->solver.handle) libraries->solver.destroy(libraries->solver.handle);
    if (libraries->blas.handle) libraries->blas.destroy(libraries->blas.handle);
}

/* Creates a handle on the context's stream; it stays null if that fails. */
template <class Library>
void make_library_handle(const gpuopt_context *context, Library *library) {
    if (library->create(&library->handle)) library->handle = nullptr;
    if (library->handle && library->set_stream(library->handle, cuda_of(context)->stream)) {
        library->destroy(library->handle);
        library->handle = nullptr;
    }
}

/* Searches for a library, once per context. Tries one version after the other: an installed one may be too new for the
 * driver. Returns null, and logs `missing`, if none works. */
template <class Library>
const Library *open_in_context(const gpuopt_context *context, Library *library, bool (*find)(Library *, size_t),
                               const char *missing) {
    if (!library->tried) {
        DeviceScope scope(context);
        library->tried = true;
        cuda_of(context)->libraries.close = close_libraries;
        for (size_t k = 0; k < LIBRARY_VERSIONS && !library->handle; k++)
            if (find(library, k)) make_library_handle(context, library);
        if (!library->handle) gpuopt__log(context, 1, missing);
    }
    return library->handle ? library : nullptr;
}

const Cublas *cublas_of(const gpuopt_context *context) {
    return open_in_context(context, &cuda_of(context)->libraries.blas, find_cublas, cublas_missing);
}
const Cusolver *cusolver_of(const gpuopt_context *context) {
    return open_in_context(context, &cuda_of(context)->libraries.solver, find_cusolver, cusolver_missing);
}

} // namespace

#endif /* GPUOPT_CUDA_LIBRARIES_CUH */
