/* SPDX-License-Identifier: MIT
 *
 * Graphs: captured from a stream, with loops that a kernel ends.
 */
#include "stream.h"

using namespace emulated;

namespace {

struct Condition {
    unsigned value = 0, first = 0;
    bool assign = false;
};

/* Handle h is entry h - 1. */
std::vector<Condition> &conditions() {
    static auto *all = new std::vector<Condition>;
    return *all;
}
Condition &condition(cudaGraphConditionalHandle handle) {
    if (handle == 0 || handle > conditions().size()) fatal("there is no conditional handle %llu", handle);
    return conditions()[handle - 1];
}

void run(const CUgraph_st &graph) {
    for (const GraphStep &step : graph.steps) {
        if (!step.again) step.work();
        else
            while (condition(step.again).value) run(*step.body);
    }
}

} // namespace

struct CUgraphExec_st {
    cudaGraph_t graph;
};

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned) {
    Guard guard(lock());
    forbid("cudaGraphCreate");
    *graph = new CUgraph_st;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    Guard guard(lock());
    finish_device(current()->device);
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph, unsigned value,
                                             unsigned flags) {
    Guard guard(lock());
    conditions().push_back({value, value, (flags & cudaGraphCondAssignDefault) != 0});
    *handle = conditions().size();
    graph->handles.push_back(*handle);
    return cudaSuccess;
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *, const void *,
                             size_t count, cudaGraphNodeParams *parameters) {
    Guard guard(lock());
    if (parameters->type != cudaGraphNodeTypeConditional || parameters->conditional.type != cudaGraphCondTypeWhile)
        fatal("only loops are emulated as nodes of graphs");
    if (count || !graph->steps.empty()) fatal("only one explicit node of a graph is emulated");
    graph->bodies.push_back(std::make_unique<CUgraph_st>());
    static thread_local cudaGraph_t body;
    body = graph->bodies.back().get();
    graph->steps.push_back({nullptr, parameters->conditional.handle, body});
    parameters->conditional.phGraph_out = &body;
    *node = nullptr;
    return cudaSuccess;
}

/* The graph must stay until the executable one is destroyed. */
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long) {
    Guard guard(lock());
    forbid("cudaGraphInstantiate");
    *exec = new CUgraphExec_st{graph};
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
    Guard guard(lock());
    finish_device(current()->device);
    delete exec;
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
    Guard guard(lock());
    if (lost()) return failed(cudaErrorLaunchFailure);
    const CUgraph_st *graph = exec->graph;
    enqueue(stream, "a graph", [graph] {
        for (cudaGraphConditionalHandle handle : graph->handles)
            if (condition(handle).assign) condition(handle).value = condition(handle).first;
        run(*graph);
    });
    return cudaSuccess;
}

void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value) { condition(handle).value = value; }

/* ---- Capturing ---- */

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t handle, cudaGraph_t graph, const cudaGraphNode_t *, const void *,
                                          size_t count, cudaStreamCaptureMode) {
    Guard guard(lock());
    cudaStream_t stream = named(handle);
    if (stream->legacy || stream->capturing || count) return failed(cudaErrorStreamCaptureUnsupported);
    finish(stream);
    stream->capturing = graph;
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    cudaGraph_t graph;
    cudaGraphCreate(&graph, 0);
    return cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, mode);
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *graph) {
    Guard guard(lock());
    cudaStream_t stream = named(handle);
    if (!stream->capturing) return failed(cudaErrorInvalidValue);
    *graph = stream->capturing;
    stream->capturing = nullptr;
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
    Guard guard(lock());
    *status = named(stream)->capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
