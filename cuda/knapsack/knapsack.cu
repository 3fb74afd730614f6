/* SPDX-License-Identifier: MIT
 *
 * Knapsack on the GPU: the functions of the backend's table, and the loop of steps. A call on a handle comes from
 * gpuopt_impl/knapsack/api/calls.h, which has checked its arguments, through that table to the functions here.
 *
 *     handle.cuh    the contents of a handle, and its memory
 *     nodes.cuh     the place of the nodes, in device or in host memory, and moving them; get, put and pick
 *     steps.cuh     a step on the device
 *     peers.cuh     a step shared by ranks, on nodes of all of them; cuts if ranks cannot see these nodes
 *     kernel.cuh    the kernels: a step, and the completion of a list
 *     tile.cuh      the arguments of a step; the children of a tile
 *     batch.cuh     batches of small knapsacks: their kernels and functions
 *     multi.cuh     multidimensional knapsacks: likewise
 *     choice.cuh    multiple-choice knapsacks: likewise
 *
 * Each step is one launch. The CPU decides which nodes the next step takes, so it waits for the result of each. As long
 * as all nodes of a search form one short list, they stay in host memory and the CPU expands them
 * (gpuopt_impl/knapsack/cpu/step.h): that is faster than a launch.
 */
#include "../common/tables.cuh"
#include "batch.cuh"
#include "choice.cuh"
#include "multi.cuh"
#include "peers.cuh"

namespace {

/* ---- Creation ---- */

void cuda_knapsack_plan(const gpuopt_context *context, const gpuopt_knapsack_desc *desc, gpuopt_memory_plan *plan) {
    CudaKnapsack k;
    plan->host_bytes += cut_knapsack_host(*desc, nullptr, &k);
    if (knapsack_needs_device(*desc)) plan->device_bytes += cut_knapsack_device(context, *desc, nullptr, &k);
}

void cuda_knapsack_destroy(gpuopt_knapsack *knapsack) {
    CudaKnapsack *k = cuda_knapsack(knapsack);
    const gpuopt_context *context = knapsack->context;
    DeviceScope scope(context);
    k->queue.wait("waiting for a knapsack search");
    if (k->open) PeerGate::close(k->gate);
    give_pinned(context, k->shared.found);
    if (k->locked) cudaHostUnregister(k->pages);
    gpuopt__release(context, GPUOPT_DEVICE, k->device);
    gpuopt__release(context, GPUOPT_HOST, k);
}

gpuopt_status cuda_knapsack_create(gpuopt_context *context, const gpuopt_knapsack_desc *desc,
                                   gpuopt_knapsack **knapsack) {
    DeviceScope scope(context);
    CudaKnapsack draft;
    void *memory;
    gpuopt_status status = gpuopt__allocate(context, GPUOPT_HOST, cut_knapsack_host(*desc, nullptr, &draft), &memory);
    if (status) return status;
    CudaKnapsack *k = new (memory) CudaKnapsack();
    cut_knapsack_host(*desc, memory, k);
    k->head.context = context;
    k->queue = Queue(context);
    k->all_on_host = knapsack_host_capacity(*desc) == desc->pool;
    k->head.host_capacity = k->all_on_host ? 0 : knapsack_host_capacity(*desc);
    status = knapsack_allocate(k, *desc);
    if (!status && desc->group && k->device) {
        k->open = PeerGate::open(&k->gate);
        status = knapsack_load_peers(context, *desc);
    }
    if (status) cuda_knapsack_destroy(&k->head);
    else *knapsack = &k->head;
    return status;
}

/* Copies the tables to the device, in one piece. */
gpuopt_status cuda_knapsack_load(gpuopt_knapsack *knapsack) {
    CudaKnapsack *k = cuda_knapsack(knapsack);
    if (!k->device) return GPUOPT_OK;
    DeviceScope scope(knapsack->context);
    const char *first = reinterpret_cast<const char *>(knapsack->sorted_weight),
               *end = reinterpret_cast<const char *>(knapsack->reach + knapsack->items + 1);
    gpuopt_status status = k->queue.copy(const_cast<int64_t *>(k->table.weight), first,
                                         static_cast<size_t>(end - first), "copying a knapsack's items");
    return status ? status : k->queue.release_host(first);
}

/* Allocates a larger block of device memory, and copies the nodes to it. HYBRID's pools, and pools that stay in host
 * memory, do not grow. */
gpuopt_status cuda_knapsack_grow(gpuopt_knapsack *knapsack, int64_t pool) {
    CudaKnapsack *k = cuda_knapsack(knapsack);
    const gpuopt__knapsack_search &s = knapsack->search;
    DeviceScope scope(knapsack->context);
    const CudaKnapsack old = *k;
    gpuopt_knapsack_desc d = {};
    if (k->hybrid() || !k->device) return GPUOPT_ERROR_MEMORY;
    d.items = knapsack->items;
    d.pool = pool;
    d.search = knapsack->kind;
    CudaKnapsack measure;
    void *device = gpuopt__try_allocate(knapsack->context, GPUOPT_DEVICE,
                                        cut_knapsack_device(knapsack->context, d, nullptr, &measure));
    if (!device) return GPUOPT_ERROR_MEMORY;
    cut_knapsack_device(knapsack->context, d, device, k);
    k->device = device;
    k->epoch = 0;
    gpuopt_status status = k->queue.clear(k->shared.tile, 0, k->cleared);
    for (int side = 0; side < 2 && !status && !s.on_host; side++) /* the nodes of side 1 lie at the pool's end */
        status = knapsack_copy(k, k->pool, side ? pool - s.used[1] : 0, old.pool, side ? knapsack->pool - s.used[1] : 0,
                               1, s.used[side]);
    if (!status) status = cuda_knapsack_load(knapsack);
    if (!status) status = k->queue.wait("enlarging a knapsack's pool");
    gpuopt__release(knapsack->context, GPUOPT_DEVICE, old.device);
    return status;
}

/* ---- Steps ---- */

/* The paper's step for a long list: the nodes are copied to the device, which branches and computes bounds; the CPU
 * then selects the children that stay. */
gpuopt_status knapsack_hybrid_step(CudaKnapsack *k, const gpuopt__knapsack_search *s, const gpuopt__knapsack_job &job,
                                   gpuopt__knapsack_found *found) {
    gpuopt_status status = knapsack_copy(k, k->pool, job.from, k->host_pool, job.from, job.from_step, job.count);
    if (!status) status = knapsack_device_step(k, s, job, true, found);
    if (!status)
        status = k->queue.copy(k->host_mark, k->mark, static_cast<size_t>(2 * job.count + 31) / 32 * sizeof(unsigned),
                               "copying the marks of a knapsack step");
    if (!status) status = k->queue.wait("copying the marks of a knapsack step");
    if (!status && found->children <= job.limit)
        gpuopt__knapsack_part(s, &job, &k->host_pool, 0, 2 * job.count, GPUOPT__KNAPSACK_COPY, k->host_mark, job.to);
    return status;
}

gpuopt_status knapsack_step(CudaKnapsack *k, const gpuopt__knapsack_search *s, const gpuopt__knapsack_job &job,
                            gpuopt__knapsack_found *found) {
    if (!knapsack_is_on_host(k, s)) return knapsack_device_step(k, s, job, false, found);
    if (k->hybrid() && !s->dominance && job.count > k->head.hybrid_threshold)
        return knapsack_hybrid_step(k, s, job, found);
    *found = gpuopt__knapsack_step(s, &job, &k->host_pool);
    return GPUOPT_OK;
}

/* Completes the deepest list, see gpuopt_impl/knapsack/search/state.h. */
gpuopt_status knapsack_complete_list(CudaKnapsack *k, gpuopt__knapsack_search *s) {
    if (knapsack_is_on_host(k, s)) {
        gpuopt__knapsack_complete(s, &k->host_pool);
        return GPUOPT_OK;
    }
    KnapsackCompletion p;
    gpuopt__knapsack_found found;
    p.search = *s;
    p.search.view.table = k->table;
    p.completion = gpuopt__knapsack_completion_of(s);
    p.pool = k->pool;
    p.shared = k->shared;
    const unsigned grid = knapsack_grid(k, (s->levels + KNAPSACK_THREADS - 1) / KNAPSACK_THREADS);
    k->queue.launch({grid, KNAPSACK_THREADS}, knapsack_complete, p);
    gpuopt_status status = knapsack_await(k, &found);
    if (status || found.most <= s->lower) return status;
    gpuopt__knapsack_improve(s, p.completion.list.level, p.completion.list.decided,
                             static_cast<int32_t>(k->shared.found->rank), &found.best, found.most);
    return GPUOPT_OK;
}

gpuopt_status cuda_knapsack_step(gpuopt_knapsack *knapsack, const gpuopt__knapsack_search *s,
                                 const gpuopt__knapsack_job *job, gpuopt__knapsack_found *found) {
    DeviceScope scope(knapsack->context);
    return knapsack_step(cuda_knapsack(knapsack), s, *job, found);
}

gpuopt_status cuda_knapsack_complete(gpuopt_knapsack *knapsack, gpuopt__knapsack_search *s) {
    DeviceScope scope(knapsack->context);
    return knapsack_complete_list(cuda_knapsack(knapsack), s);
}

gpuopt_status cuda_knapsack_run(gpuopt_knapsack *knapsack, gpuopt__knapsack_search *s, int64_t expanded,
                                int64_t steps) {
    CudaKnapsack *k = cuda_knapsack(knapsack);
    DeviceScope scope(knapsack->context);
    gpuopt_status status = GPUOPT_OK;
    while (!status && s->expanded < expanded && s->steps < steps) {
        gpuopt__knapsack_job job;
        gpuopt__knapsack_found found;
        status = knapsack_settle(k, s);
        if (status || !gpuopt__knapsack_next(s, &job)) break;
        status = knapsack_step(k, s, job, &found);
        if (status) break;
        if (gpuopt__knapsack_overflows(s, &job, &found)) {
            if (gpuopt__knapsack_has_ranks(s)) break;
            status = gpuopt__knapsack_grow_or_slice(knapsack, s);
            continue;
        }
        gpuopt__knapsack_apply(s, &job, &found, found.children);
        if (found.children > 0 && gpuopt__knapsack_completes(s)) status = knapsack_complete_list(k, s);
        if (gpuopt__knapsack_stops(knapsack, s)) break;
    }
    return status;
}

} // namespace

#define GPUOPT__KNAPSACK_CUDA_TABLE(SET)              \
    SET(plan, cuda_knapsack_plan)                     \
    SET(create, cuda_knapsack_create)                 \
    SET(destroy, cuda_knapsack_destroy)               \
    SET(grow, cuda_knapsack_grow)                     \
    SET(run, cuda_knapsack_run)                       \
    SET(step, cuda_knapsack_step)                     \
    SET(complete, cuda_knapsack_complete)             \
    SET(residuals, cuda_knapsack_residuals)           \
    SET(before, cuda_knapsack_before)                 \
    SET(show, cuda_knapsack_show)                     \
    SET(map_peers, cuda_knapsack_map_peers)           \
    SET(step_by_peers, cuda_knapsack_step_by_peers)   \
    SET(load, cuda_knapsack_load)                     \
    SET(get, cuda_knapsack_get)                       \
    SET(put, cuda_knapsack_put)                       \
    SET(pick, cuda_knapsack_pick)                     \
    SET(batch_plan, cuda_knapsack_batch_plan)         \
    SET(batch_create, cuda_knapsack_batch_create)     \
    SET(batch_destroy, cuda_knapsack_batch_destroy)   \
    SET(batch_run, cuda_knapsack_batch_run)           \
    SET(multi_plan, cuda_knapsack_multi_plan)         \
    SET(multi_create, cuda_knapsack_multi_create)     \
    SET(multi_destroy, cuda_knapsack_multi_destroy)   \
    SET(multi_round, cuda_knapsack_multi_round)       \
    SET(multi_found, cuda_knapsack_multi_found)       \
    SET(choice_plan, cuda_knapsack_choice_plan)       \
    SET(choice_create, cuda_knapsack_choice_create)   \
    SET(choice_destroy, cuda_knapsack_choice_destroy) \
    SET(choice_grow, cuda_knapsack_choice_grow)       \
    SET(choice_step, cuda_knapsack_choice_step)       \
    SET(share_from, 1 << 22)                          \
    SET(share_by_peers, 1 << 20)

GPUOPT__TABLE(gpuopt__knapsack_backend, gpuopt__cuda_knapsack, GPUOPT__KNAPSACK_CUDA_TABLE);
