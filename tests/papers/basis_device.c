/* SPDX-License-Identifier: MIT */
#include "tests/papers/basis_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TEST_WITH_CUDA
#include <cuda_runtime_api.h>
#include <dlfcn.h>

/* ---- The context ---- */

int own_gpu_open(own_gpu *gpu) {
    gpuopt_context_desc desc = GPUOPT_INIT(gpuopt_context_desc);
    static struct cudaDeviceProp properties;
    cudaStream_t stream;
    int count;
    memset(gpu, 0, sizeof *gpu);
    if (cudaGetDeviceCount(&count) || count == 0 || cudaSetDevice(0)) return -1;
    if (cudaGetDeviceProperties(&properties, 0) || cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) return -1;
    snprintf(gpu->name, sizeof gpu->name, "%s", properties.name);
    gpu->multiprocessors = properties.multiProcessorCount;
    gpu->stream = stream;
    desc.backend = gpuopt_backend_cuda();
    desc.stream = stream;
    if (gpuopt_context_create(&desc, &gpu->context) == GPUOPT_OK) return 0;
    cudaStreamDestroy(stream);
    return -1;
}

void own_gpu_close(own_gpu *gpu) {
    gpuopt_context_destroy(gpu->context);
    if (gpu->stream) cudaStreamDestroy(gpu->stream);
}

void lock_memory(void *memory, size_t bytes) {
    if (cudaHostRegister(memory, bytes, cudaHostRegisterDefault)) cudaGetLastError(); /* works without, too */
}

void unlock_memory(void *memory) {
    if (cudaHostUnregister(memory)) cudaGetLastError();
}

double *device_copy(const double *from, size_t count) {
    double *to = NULL;
    if (cudaMalloc((void **)&to, sizeof *to * count)) return NULL;
    if (cudaMemcpy(to, from, sizeof *to * count, cudaMemcpyHostToDevice) == cudaSuccess) return to;
    cudaFree(to);
    return NULL;
}

void device_free(double *array) { cudaFree(array); }

/* ---- A dense model ---- */

struct dense_device {
    cudaStream_t stream;
    int32_t m, n;
    double *matrix;                  /* [n][m] */
    double *c, *y, *alpha, *product; /* [m], [m], [m], [n] */
    void *blas;                      /* cublasHandle_t */
    int (*destroy)(void *);
    int (*gemv)(void *, int, int, int, const double *, const double *, int, const double *, int, const double *,
                double *, int);
};

/* cuBLAS is opened as the library opens it, and does not have to be linked. */
static int open_blas(dense_device *d) {
    static const char *const name[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};
    int (*create)(void **), (*set_stream)(void *, cudaStream_t);
    void *library = NULL;
    int k;
    for (k = 0; k < 3 && !library; k++) library = dlopen(name[k], RTLD_NOW | RTLD_LOCAL);
    if (!library) return -1;
    *(void **)&create = dlsym(library, "cublasCreate_v2");
    *(void **)&set_stream = dlsym(library, "cublasSetStream_v2");
    *(void **)&d->destroy = dlsym(library, "cublasDestroy_v2");
    *(void **)&d->gemv = dlsym(library, "cublasDgemv_v2");
    if (!create || !set_stream || !d->destroy || !d->gemv || create(&d->blas)) return -1;
    return set_stream(d->blas, d->stream);
}

dense_device *dense_open(const own_gpu *gpu, const mip *model) {
    dense_device *d = calloc(1, sizeof *d);
    size_t m = (size_t)model->columns.rows, n = (size_t)model->columns.cols;
    if (!d) return NULL;
    d->stream = gpu->stream;
    d->m = (int32_t)m;
    d->n = (int32_t)n;
    d->matrix = device_copy(model->columns.value, m * n);
    if (!d->matrix || cudaMalloc((void **)&d->c, sizeof(double) * (3 * m + n)) || open_blas(d)) {
        dense_close(d);
        return NULL;
    }
    d->y = d->c + m;
    d->alpha = d->y + m;
    d->product = d->alpha + m;
    return d;
}

void dense_close(dense_device *d) {
    if (!d) return;
    if (d->blas) d->destroy(d->blas);
    cudaFree(d->matrix);
    cudaFree(d->c);
    free(d);
}

/* From the device, after all that was enqueued. */
static int fetch(const dense_device *d, double *to, const double *from, int32_t count) {
    return cudaMemcpyAsync(to, from, sizeof *to * (size_t)count, cudaMemcpyDeviceToHost, d->stream) != cudaSuccess;
}

int dense_price(dense_device *d, gpuopt_basis *basis, const double *c, double *y, double *product) {
    const double one = 1, zero = 0;
    if (cudaMemcpyAsync(d->c, c, sizeof *c * (size_t)d->m, cudaMemcpyHostToDevice, d->stream)) return -1;
    if (gpuopt_basis_btran(basis, GPUOPT_DEVICE, -1, d->c, d->y)) return -1;
    if (d->gemv(d->blas, 1, d->m, d->n, &one, d->matrix, d->m, d->y, 1, &zero, d->product, 1)) return -1;
    if (fetch(d, y, d->y, d->m) || fetch(d, product, d->product, d->n)) return -1;
    return cudaStreamSynchronize(d->stream) ? -1 : 0;
}

int dense_column(dense_device *d, gpuopt_basis *basis, int32_t j, double *alpha) {
    const double *column = d->matrix + (int64_t)j * d->m;
    if (gpuopt_basis_ftran(basis, GPUOPT_DEVICE, 0, NULL, column, d->alpha)) return -1;
    if (fetch(d, alpha, d->alpha, d->m)) return -1;
    return cudaStreamSynchronize(d->stream) ? -1 : 0;
}

#else /* without CUDA there is no GPU, so the others are never called */

int own_gpu_open(own_gpu *gpu) {
    memset(gpu, 0, sizeof *gpu);
    return -1;
}
void own_gpu_close(own_gpu *gpu) { (void)gpu; }
void lock_memory(void *memory, size_t bytes) { (void)memory, (void)bytes; }
void unlock_memory(void *memory) { (void)memory; }
double *device_copy(const double *from, size_t count) { return (void)from, (void)count, NULL; }
void device_free(double *array) { (void)array; }
dense_device *dense_open(const own_gpu *gpu, const mip *model) { return (void)gpu, (void)model, NULL; }
void dense_close(dense_device *dense) { (void)dense; }
int dense_price(dense_device *dense, gpuopt_basis *basis, const double *c, double *y, double *product) {
    return (void)dense, (void)basis, (void)c, (void)y, (void)product, -1;
}
int dense_column(dense_device *dense, gpuopt_basis *basis, int32_t j, double *alpha) {
    return (void)dense, (void)basis, (void)j, (void)alpha, -1;
}

#endif
