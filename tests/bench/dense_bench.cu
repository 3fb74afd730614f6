/* SPDX-License-Identifier: MIT
 *
 * The dense products of the basis inverse, compared with cuBLAS and cuSOLVER: the same work, in the same run.
 *     dense_bench [M...]      (500 1000 2000 3000 4000 6000 10000)
 * Prints microseconds, each the least of three rounds:
 *   copy     of the m x m matrix on the device, with the same reads and writes as a rank update
 *   rank K   C += U V by the library's kernel, by cuBLAS, and by the library's choice
 *   rank m   the product of PFI
 *   solve    FTRAN and BTRAN of a dense vector, by both ways of keeping the inverse, and cublasDgemv
 *   inverse  milliseconds of cusolverDnDgetrf and two triangular solves with the identity, which a load does by fewer
 *            operations
 */
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "cuda/common/libraries.cuh"
#include "cuda/common/rank_update.cuh"

namespace {

void demand(bool good, const char *what) {
    if (good) return;
    std::fprintf(stderr, "dense_bench: %s failed\n", what);
    std::exit(1);
}

gpuopt_context *context;
int (*gemv)(void *, int, int, int, const double *, const double *, int, const double *, int, const double *, double *,
            int);

/* Microseconds per call of work(), which enqueues on the context's stream. */
double time_of(const std::function<void()> &work, int calls) {
    cudaStream_t stream = cuda_of(context)->stream;
    cudaEvent_t begin, end;
    float least = 1e30f, taken;
    demand(!cudaEventCreate(&begin) && !cudaEventCreate(&end), "cudaEventCreate");
    work();
    for (int round = 0; round < 3; round++) {
        cudaEventRecord(begin, stream);
        for (int k = 0; k < calls; k++) work();
        cudaEventRecord(end, stream);
        demand(!cudaEventSynchronize(end) && !cudaEventElapsedTime(&taken, begin, end), "a measurement");
        least = taken < least ? taken : least;
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return 1e3 * static_cast<double>(least) / calls;
}

__global__ void fill(double *array, long long count, double scale, long long diagonal) {
    for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < count;
         i += static_cast<long long>(gridDim.x) * blockDim.x) {
        unsigned long long hash = static_cast<unsigned long long>(i + 1) * 0x9E3779B97F4A7C15u;
        hash = (hash ^ hash >> 29) * 0xBF58476D1CE4E5B9u;
        array[i] = scale * (static_cast<double>(hash >> 11) * 0x1p-53 - 0.5);
        if (diagonal && i % (diagonal + 1) == 0) array[i] = 1;
    }
}

double *make(long long count, double scale, long long diagonal = 0) {
    double *array = nullptr;
    demand(!cudaMalloc(&array, sizeof(double) * static_cast<size_t>(count)), "cudaMalloc");
    fill<<<1024, 256, 0, cuda_of(context)->stream>>>(array, count, scale, diagonal);
    return array;
}

void products(int m, const CudaLibraries &libraries, RankUpdate chosen) {
    const Cublas &blas = libraries.blas;
    const long long pitch = (m + 15LL) / 16 * 16;
    const int ld = static_cast<int>(pitch), calls = m < 6000 ? 20 : 10;
    const double one = 1;
    double *c = make(pitch * m, 1), *d = make(pitch * m, 1e-3), *u = make(pitch * 256, 1e-3),
           *v = make(pitch * 256, 1e-3);
    RankUpdate ours = chosen;
    Queue queue(context);
    ours.blas = nullptr;
    auto row = [&](int rank, const double *left, const double *right, int times) {
        double t[3] = {
            time_of([&] { rank_update(ours, queue, m, m, rank, left, pitch, right, pitch, c, pitch); }, times)};
        if (blas.handle) {
            t[1] = time_of(
                [&] {
                    demand(!blas.gemm(blas.handle, BLAS_PLAIN, BLAS_TRANSPOSED, m, m, rank, &one, left, ld, right, ld,
                                      &one, c, ld),
                           "cublasDgemm");
                },
                times);
            t[2] = time_of([&] { rank_update(chosen, queue, m, m, rank, left, pitch, right, pitch, c, pitch); }, times);
        }
        std::printf("%6d %6d %10.1f %10.1f %10.1f\n", m, rank, t[0], t[1], t[2]);
        demand(!queue.launched("a rank update"), "a rank update");
    };
    std::printf("%6d %6s %10.1f\n", m, "copy",
                time_of(
                    [&] {
                        cudaMemcpyAsync(d, c, sizeof(double) * static_cast<size_t>(pitch * m), cudaMemcpyDeviceToDevice,
                                        cuda_of(context)->stream);
                    },
                    calls));
    for (int rank : {16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 256}) row(rank, u, v, calls);
    if (m <= 6000) row(m, d, d, 1);
    for (double *array : {c, d, u, v}) cudaFree(array);
}

void solves(int m, const CudaLibraries &libraries) {
    const int ld = (m + 15) / 16 * 16;
    const double one = 1, zero = 0;
    double *a = make(static_cast<long long>(ld) * m, 1), *x = make(m, 1), *y = make(m, 1), t[6] = {};
    for (int way = 0; way < 2; way++) {
        gpuopt_basis_desc desc;
        gpuopt_basis *basis;
        gpuopt_desc_init(&desc, sizeof desc);
        desc.m = m;
        desc.technique = way ? GPUOPT_TECHNIQUE_ELEMENT_PROPOSED : GPUOPT_TECHNIQUE_DEFERRED;
        demand(!gpuopt_basis_create(context, &desc, NULL, &basis), "create");
        t[2 * way] = time_of([&] { gpuopt_basis_ftran(basis, GPUOPT_DEVICE, 0, NULL, x, y); }, 50);
        t[2 * way + 1] = time_of([&] { gpuopt_basis_btran(basis, GPUOPT_DEVICE, -1, x, y); }, 50);
        gpuopt_basis_destroy(basis);
    }
    for (int op = 0; gemv && op < 2; op++)
        t[4 + op] = time_of(
            [&] { demand(!gemv(libraries.blas.handle, op, m, m, &one, a, ld, x, 1, &zero, y, 1), "cublasDgemv"); }, 50);
    std::printf("%6d %10.1f %10.1f %10.1f %10.1f %10.1f %10.1f\n", m, t[0], t[1], t[2], t[3], t[4], t[5]);
    for (double *array : {a, x, y}) cudaFree(array);
}

void inverse(int m, const CudaLibraries &libraries, void *workspace) {
    const Cublas &blas = libraries.blas;
    const Cusolver &solver = libraries.solver;
    const double one = 1;
    double t[2] = {1e30, 1e30}, *a = nullptr, *b = nullptr;
    int *pivots = nullptr, size = 0;
    demand(!cudaMalloc(&pivots, sizeof(int) * (static_cast<size_t>(m) + 1)), "cudaMalloc");
    for (int round = 0; round < 2; round++) {
        a = make(static_cast<long long>(m) * m, 1);
        b = make(static_cast<long long>(m) * m, 0, m);
        demand(!solver.getrf_size(solver.handle, m, m, a, m, &size) && sizeof(double) * size <= RANK_WORKSPACE,
               "cusolverDnDgetrf_bufferSize");
        cudaEvent_t mark[3];
        for (cudaEvent_t &one_mark : mark) demand(!cudaEventCreate(&one_mark), "cudaEventCreate");
        cudaEventRecord(mark[0], cuda_of(context)->stream);
        demand(!solver.getrf(solver.handle, m, m, a, m, static_cast<double *>(workspace), pivots, pivots + m),
               "cusolverDnDgetrf");
        cudaEventRecord(mark[1], cuda_of(context)->stream);
        demand(!blas.trsm(blas.handle, BLAS_LEFT, BLAS_LOWER, BLAS_PLAIN, BLAS_UNIT, m, m, &one, a, m, b, m) &&
                   !blas.trsm(blas.handle, BLAS_LEFT, BLAS_UPPER, BLAS_PLAIN, BLAS_NON_UNIT, m, m, &one, a, m, b, m),
               "cublasDtrsm");
        cudaEventRecord(mark[2], cuda_of(context)->stream);
        demand(!cudaEventSynchronize(mark[2]), "an inverse");
        for (int k = 0; k < 2; k++) {
            float taken;
            cudaEventElapsedTime(&taken, mark[k], mark[k + 1]);
            t[k] = static_cast<double>(taken) < t[k] ? static_cast<double>(taken) : t[k];
        }
        for (cudaEvent_t one_mark : mark) cudaEventDestroy(one_mark);
        cudaFree(a);
        cudaFree(b);
    }
    cudaFree(pivots);
    std::printf("%6d %10.2f %10.2f %10.2f\n", m, t[0], t[1], t[0] + t[1]);
}

} // namespace

int main(int argc, char **argv) {
    static const int sizes[] = {500, 1000, 2000, 3000, 4000, 6000, 10000};
    const int count = argc > 1 ? argc - 1 : static_cast<int>(sizeof sizes / sizeof *sizes);
    auto size = [&](int n) { return argc > 1 ? std::atoi(argv[n + 1]) : sizes[n]; };
    gpuopt_context_desc desc;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.backend = gpuopt_backend_cuda();
    desc.log = [](void *, int, const char *message) { std::fprintf(stderr, "gpuopt: %s\n", message); };
    if (gpuopt_context_create(&desc, &context)) return 1;
    RankUpdate rank;
    rank.blas = cublas_of(context);
    if (rank.blas) cusolver_of(context);
    const CudaLibraries &libraries = cuda_of(context)->libraries;
    demand(!rank_update_open(context, &rank) && !cudaMalloc(&rank.workspace, RANK_WORKSPACE), "opening");
    if (rank.blas) {
        demand(!libraries.blas.set_workspace(libraries.blas.handle, rank.workspace, RANK_WORKSPACE), "the workspace");
#ifdef GPUOPT__CUDA_OPENS_LIBRARIES
        for (size_t k = 0; k < LIBRARY_VERSIONS && !find_function(open_cublas(k), "cublasDgemv_v2", &gemv); k++) {}
        demand(gemv, "finding cublasDgemv");
#endif
    }
    std::printf("%6s %6s %10s %10s %10s\n", "m", "rank", "ours", "cuBLAS", "chosen");
    for (int n = 0; n < count; n++) products(size(n), libraries, rank);
    std::printf("%6s %10s %10s %10s %10s %10s %10s\n", "m", "ftran", "btran", "by rows: f", "b", "gemv N", "T");
    for (int n = 0; n < count; n++) solves(size(n), libraries);
    if (libraries.solver.handle) {
        std::printf("%6s %10s %10s %10s\n", "m", "getrf", "2 trsm", "sum, ms");
        for (int n = 0; n < count; n++) inverse(size(n), libraries, rank.workspace);
    }
    cudaFree(rank.workspace);
    gpuopt_context_destroy(context);
    return 0;
}
