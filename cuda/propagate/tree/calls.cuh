/* SPDX-License-Identifier: MIT
 *
 * A tree search on the GPU: the backend's functions for it, which set the device and call the object of the handle.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_TREE_CALLS_CUH
#define GPUOPT_CUDA_PROPAGATE_TREE_CALLS_CUH

#include "../rounds/handle.cuh"

namespace {

/* The public calls have checked that the handle has the necessary parts. */
CudaTree *tree_of(const gpuopt_propagator *propagator) {
    return object_of(const_cast<gpuopt_propagator *>(propagator))->tree();
}

gpuopt_status cuda_propagator_push(gpuopt_propagator *propagator, int64_t *start) {
    DeviceScope scope(propagator->context);
    return tree_of(propagator)->push(start);
}

gpuopt_status cuda_propagator_pop(gpuopt_propagator *propagator, int32_t levels) {
    DeviceScope scope(propagator->context);
    return tree_of(propagator)->pop(levels);
}

gpuopt_status cuda_propagator_keep(gpuopt_propagator *propagator) {
    DeviceScope scope(propagator->context);
    return tree_of(propagator)->keep();
}

gpuopt_status cuda_propagator_get_trail(gpuopt_propagator *propagator, gpuopt_propagator_trail *trail) {
    DeviceScope scope(propagator->context);
    return tree_of(propagator)->get_trail(*trail);
}

gpuopt_status cuda_propagator_get_changes(gpuopt_propagator *propagator, gpuopt_memory_space where, int64_t from,
                                          gpuopt_propagator_changes *changes) {
    DeviceScope scope(propagator->context);
    return tree_of(propagator)->get_changes(where, from, *changes);
}

gpuopt_status cuda_propagator_explain(gpuopt_propagator *propagator, int64_t change, gpuopt_propagator_reason *reason) {
    DeviceScope scope(propagator->context);
    return tree_of(propagator)->explain(change, *reason);
}

gpuopt_status cuda_propagator_add_rows(gpuopt_propagator *propagator, const gpuopt_matrix *rows, const double *lhs,
                                       const double *rhs, int32_t *row) {
    DeviceScope scope(propagator->context);
    return tree_of(propagator)->add_rows(*rows, lhs, rhs, row);
}

gpuopt_status cuda_propagator_remove_rows(gpuopt_propagator *propagator, int64_t count, const int32_t *row) {
    DeviceScope scope(propagator->context);
    return tree_of(propagator)->remove_rows(count, row);
}

int cuda_propagator_has_row(const gpuopt_propagator *propagator, int32_t row) {
    const CudaTree *tree = tree_of(propagator);
    return row < propagator->rows || (tree && tree->has_row(row));
}

gpuopt_status cuda_propagator_plan_fork(const gpuopt_propagator *original, gpuopt_memory_plan *plan) {
    object_of(const_cast<gpuopt_propagator *>(original))->plan_fork(plan);
    return GPUOPT_OK;
}

gpuopt_status cuda_propagator_fork(gpuopt_propagator *original, gpuopt_context *context, gpuopt_propagator **fork) {
    DeviceScope scope(context);
    gpuopt_propagator head = *original;
    head.context = context;
    head.version = 1;
    return object_of(original)->fork(head, fork);
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_TREE_CALLS_CUH */
