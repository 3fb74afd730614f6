/* SPDX-License-Identifier: MIT
 *
 * Shows a report of synccheck for a barrier in a conditional node of a CUDA graph: "divergent thread(s) in warp", for a
 * kernel in which all threads reach both barriers. In a stream it reports nothing for the same kernel.
 * tests/gpu/sanitize.sh counts such reports as explained.
 *
 * Build: nvcc -O2 -arch=sm_90 tests/gpu/while_graph.cu -o while_graph
 * Run:   compute-sanitizer --tool synccheck ./while_graph [graph]
 */
#include <cstdio>
#include <cuda_runtime.h>

static __global__ void count_threads(int *threads) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, 1);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(threads, sum);
}

/* Ends a round; in a graph, sets whether there is another. */
static __global__ void end_round(int *rounds, cudaGraphConditionalHandle again, bool in_graph) {
    const bool more = ++*rounds < 5;
    if (in_graph) cudaGraphSetConditional(again, more);
}

static cudaError_t launch_graph(cudaStream_t stream, int *threads, int *rounds) {
    cudaGraph_t graph, body;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    cudaGraphConditionalHandle again;
    cudaGraphNodeParams loop = {};
    cudaError_t error = cudaGraphCreate(&graph, 0);
    if (!error) error = cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault);
    loop.type = cudaGraphNodeTypeConditional;
    loop.conditional.handle = again;
    loop.conditional.type = cudaGraphCondTypeWhile;
    loop.conditional.size = 1;
    if (!error) error = cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &loop);
    if (!error)
        error = cudaStreamBeginCaptureToGraph(stream, loop.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                              cudaStreamCaptureModeThreadLocal);
    if (error) return error;
    count_threads<<<4, 256, 0, stream>>>(threads);
    end_round<<<1, 1, 0, stream>>>(rounds, again, true);
    error = cudaStreamEndCapture(stream, &body);
    if (!error) error = cudaGraphInstantiate(&exec, graph, 0);
    return error ? error : cudaGraphLaunch(exec, stream);
}

int main(int argc, char **) {
    const bool in_graph = argc > 1;
    int *device, counted[2] = {0, 0};
    cudaStream_t stream;
    cudaError_t error = cudaMalloc(&device, sizeof counted);
    if (!error) error = cudaMemset(device, 0, sizeof counted);
    if (!error) error = cudaStreamCreate(&stream);
    if (!error && in_graph) error = launch_graph(stream, device, device + 1);
    for (int round = 0; round < 5 && !error && !in_graph; round++) {
        count_threads<<<4, 256, 0, stream>>>(device);
        end_round<<<1, 1, 0, stream>>>(device + 1, cudaGraphConditionalHandle(), false);
    }
    if (!error) error = cudaStreamSynchronize(stream);
    if (!error) error = cudaMemcpy(counted, device, sizeof counted, cudaMemcpyDeviceToHost);
    std::printf("%s: %s, %d rounds, %d threads\n", in_graph ? "graph" : "stream", cudaGetErrorString(error), counted[1],
                counted[0]);
    return error != cudaSuccess;
}
