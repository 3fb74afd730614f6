/* SPDX-License-Identifier: MIT
 *
 * The parts of the C interfaces of cuBLAS and cuSOLVER that the backend uses; libraries.cuh finds the libraries. These
 * interfaces are the same in the CUDA toolkits 11 to 13: handles are pointers, enums are ints, matrices are stored
 * column after column, 0 is success.
 */
#ifndef GPUOPT_CUDA_BLAS_CUH
#define GPUOPT_CUDA_BLAS_CUH

#include <cuda_runtime.h>

namespace {

/* cublasOperation_t, cublasSideMode_t, cublasFillMode_t, cublasDiagType_t */
enum { BLAS_PLAIN = 0, BLAS_TRANSPOSED = 1 };
enum { BLAS_LEFT = 0, BLAS_RIGHT = 1 };
enum { BLAS_LOWER = 0, BLAS_UPPER = 1 };
enum { BLAS_NON_UNIT = 0, BLAS_UNIT = 1 };

struct Cublas {
    bool tried;   /* whether the context has searched for it */
    void *handle; /* null: cuBLAS is not installed */
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, cudaStream_t stream);
    int (*set_workspace)(void *handle, void *workspace, size_t bytes);
    /* c = alpha op(a) op(b) + beta c; c: m x n, with k terms in each sum */
    int (*gemm)(void *handle, int op_a, int op_b, int m, int n, int k, const double *alpha, const double *a, int lda,
                const double *b, int ldb, const double *beta, double *c, int ldc);
    /* The same for `count` matrices each, at distances given by the strides. */
    int (*gemm_batch)(void *handle, int op_a, int op_b, int m, int n, int k, const double *alpha, const double *a,
                      int lda, long long stride_a, const double *b, int ldb, long long stride_b, const double *beta,
                      double *c, int ldc, long long stride_c, int count);
    /* b = alpha op(a)^-1 b or, from the right, alpha b op(a)^-1; b: m x n */
    int (*trsm)(void *handle, int side, int fill, int op, int diag, int m, int n, const double *alpha, const double *a,
                int lda, double *b, int ldb);
};

struct Cusolver {
    bool tried;
    void *handle; /* null: cuSOLVER is not installed */
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, cudaStream_t stream);
    int (*getrf_size)(void *handle, int m, int n, double *a, int lda, int *doubles);
    /* a = P^-1 L U. pivot[k]: row k was swapped with this one, counted from 1; info, device: 0, or the first zero
     * pivot */
    int (*getrf)(void *handle, int m, int n, double *a, int lda, double *workspace, int *pivot, int *info);
};

/* A context's libraries, on its stream. */
struct CudaLibraries {
    Cublas blas = {};
    Cusolver solver = {};
    void (*close)(CudaLibraries *) = nullptr;
};

} // namespace

#endif /* GPUOPT_CUDA_BLAS_CUH */
