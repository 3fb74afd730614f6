/* SPDX-License-Identifier: MIT
 *
 * The paper's authors took the time of each step from a profiler. Here the kernels that an update enqueues are captured
 * as a graph. A copy of the graph that keeps one of them is then launched by itself.
 */
#include <math.h>
#include <string.h>

#include "tests/papers/basis_device.h"

#ifdef TEST_WITH_CUDA
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

/* Functions of the driver, without linking it: kernels of the library are unknown to this program's own runtime. */
typedef struct driver {
    CUresult (*get)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS *);
    CUresult (*set)(CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *);
    CUresult (*function)(CUfunction *, CUkernel);
    CUresult (*occupancy)(int *, CUfunction, int, size_t);
} driver;

static int find_driver(driver *d) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return -1;
    *(void **)&d->get = dlsym(library, "cuGraphKernelNodeGetParams_v2");
    *(void **)&d->set = dlsym(library, "cuGraphKernelNodeSetParams_v2");
    *(void **)&d->function = dlsym(library, "cuKernelGetFunction");
    *(void **)&d->occupancy = dlsym(library, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    return d->get && d->set && d->function && d->occupancy ? 0 : -1;
}

/* Captures an update. Returns its number of kernels and other operations, or -1. */
static int capture(const own_gpu *gpu, gpuopt_basis *basis, int32_t position, const double *alpha, cudaGraph_t *graph,
                   cudaGraphNode_t *node) {
    size_t count = MOST_STEPS;
    gpuopt_status status;
    if (cudaStreamBeginCapture(gpu->stream, cudaStreamCaptureModeRelaxed)) return -1;
    status = gpuopt_basis_update(basis, GPUOPT_DEVICE, position, alpha, NULL);
    if (cudaStreamEndCapture(gpu->stream, graph) || status || cudaGraphGetNodes(*graph, NULL, &count)) return -1;
    if (count == 0 || count > MOST_STEPS || cudaGraphGetNodes(*graph, node, &count)) return -1;
    return (int)count;
}

/* Seconds of a launch of `repeats` copies of a graph, for one copy. */
static double time_graph(const own_gpu *gpu, cudaGraph_t graph, int repeats) {
    cudaGraph_t parent = NULL;
    cudaGraphNode_t last = NULL;
    cudaGraphExec_t exec = NULL;
    cudaEvent_t begin = NULL, end = NULL;
    float milliseconds = NAN;
    int k, error = cudaGraphCreate(&parent, 0) || cudaEventCreate(&begin) || cudaEventCreate(&end);
    for (k = 0; k < repeats && !error; k++) {
        cudaGraphNode_t before = last;
        error = cudaGraphAddChildGraphNode(&last, parent, &before, k > 0, graph);
    }
    error = error || cudaGraphInstantiate(&exec, parent, 0) || cudaGraphLaunch(exec, gpu->stream);
    error = error || cudaEventRecord(begin, gpu->stream) || cudaGraphLaunch(exec, gpu->stream) ||
            cudaEventRecord(end, gpu->stream) || cudaEventSynchronize(end);
    if (error || cudaEventElapsedTime(&milliseconds, begin, end)) milliseconds = NAN;
    if (exec) cudaGraphExecDestroy(exec);
    if (parent) cudaGraphDestroy(parent);
    if (begin) cudaEventDestroy(begin);
    if (end) cudaEventDestroy(end);
    cudaGetLastError();
    return 1e-3 * (double)milliseconds / repeats;
}

/* Makes a graph of one node of a graph. */
static int keep(cudaGraph_t graph, const cudaGraphNode_t *node, int count, int kept, cudaGraph_t *alone,
                cudaGraphNode_t *clone) {
    int k;
    if (cudaGraphClone(alone, graph)) return -1;
    for (k = 0; k < count; k++) {
        cudaGraphNode_t found;
        if (cudaGraphNodeFindInClone(&found, node[k], *alone)) return -1;
        if (k == kept) *clone = found;
        else if (cudaGraphDestroyNode(found)) return -1;
    }
    return 0;
}

static void describe(const driver *d, cudaGraphNode_t node, update_steps *steps, int k) {
    CUDA_KERNEL_NODE_PARAMS p;
    enum cudaGraphNodeType type;
    int together, possible;
    CUfunction function;
    steps->step[k].blocks = steps->step[k].threads = 0;
    steps->step[k].occupancy = NAN;
    if (cudaGraphNodeGetType(node, &type) || type != cudaGraphNodeTypeKernel) return;
    memset(&p, 0, sizeof p);
    if (d->get(node, &p)) return;
    steps->step[k].blocks = (int)(p.gridDimX * p.gridDimY * p.gridDimZ);
    steps->step[k].threads = (int)(p.blockDimX * p.blockDimY * p.blockDimZ);
    function = p.func;
    if (!function && (!p.kern || d->function(&function, p.kern))) return;
    if (d->occupancy(&together, function, steps->step[k].threads, p.sharedMemBytes)) return;
    if (cudaDeviceGetAttribute(&possible, cudaDevAttrMaxThreadsPerMultiProcessor, 0)) return;
    steps->step[k].occupancy = (double)together * steps->step[k].threads / possible;
}

int steps_time(const own_gpu *gpu, gpuopt_basis *basis, int32_t position, const double *alpha, int samples,
               update_steps *steps) {
    cudaGraph_t graph = NULL, alone;
    cudaGraphNode_t node[MOST_STEPS], clone;
    driver d;
    int k, count = find_driver(&d) ? -1 : capture(gpu, basis, position, alpha, &graph, node);
    memset(steps, 0, sizeof *steps);
    if (count > 0 && isnan(time_graph(gpu, graph, 1))) count = -1; /* what the steps read exists from then on */
    for (k = 0; k < count; k++) {
        alone = NULL;
        steps->step[k].seconds = keep(graph, node, count, k, &alone, &clone) ? NAN : time_graph(gpu, alone, samples);
        if (isnan(steps->step[k].seconds)) count = -1;
        else describe(&d, clone, steps, k);
        if (alone) cudaGraphDestroy(alone);
    }
    if (graph) cudaGraphDestroy(graph);
    cudaGetLastError();
    steps->count = count < 0 ? 0 : count;
    return count < 0 ? -1 : 0;
}

double steps_time_with(const own_gpu *gpu, gpuopt_basis *basis, int32_t position, const double *alpha, int32_t m,
                       int threads, int samples) {
    cudaGraph_t graph = NULL, alone = NULL;
    cudaGraphNode_t node[MOST_STEPS], clone;
    CUDA_KERNEL_NODE_PARAMS p;
    driver d;
    double seconds = NAN;
    int count = find_driver(&d) ? -1 : capture(gpu, basis, position, alpha, &graph, node);
    memset(&p, 0, sizeof p);
    if (count > 0 && !isnan(time_graph(gpu, graph, 1)) && !keep(graph, node, count, count - 1, &alone, &clone) &&
        !d.get(clone, &p)) {
        p.gridDimX = (unsigned)((m + threads - 1) / threads);
        p.blockDimX = (unsigned)threads;
        if (!d.set(clone, &p)) seconds = time_graph(gpu, alone, samples);
    }
    if (alone) cudaGraphDestroy(alone);
    if (graph) cudaGraphDestroy(graph);
    cudaGetLastError();
    return seconds;
}

#else

int steps_time(const own_gpu *gpu, gpuopt_basis *basis, int32_t position, const double *alpha, int samples,
               update_steps *steps) {
    memset(steps, 0, sizeof *steps);
    return (void)gpu, (void)basis, (void)position, (void)alpha, (void)samples, -1;
}
double steps_time_with(const own_gpu *gpu, gpuopt_basis *basis, int32_t position, const double *alpha, int32_t m,
                       int threads, int samples) {
    return (void)gpu, (void)basis, (void)position, (void)alpha, (void)m, (void)threads, (void)samples, NAN;
}

#endif
