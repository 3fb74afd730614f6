/* SPDX-License-Identifier: MIT
 *
 * Propagation on the GPU: the handle. A class for each pair of storage types does its work; create.cuh and propagate.cu
 * define the members.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_ROUNDS_HANDLE_CUH
#define GPUOPT_CUDA_PROPAGATE_ROUNDS_HANDLE_CUH

#include "../../common/queue.cuh"
#include "layout.cuh"
#include "kernels.cuh"

namespace {

/* The additional data of a handle with a trail or spare rows. */
class CudaTree {
  public:
    virtual gpuopt_status push(int64_t *start) = 0;
    virtual gpuopt_status pop(int32_t levels) = 0;
    virtual gpuopt_status keep() = 0;
    virtual gpuopt_status get_trail(gpuopt_propagator_trail &trail) = 0;
    virtual gpuopt_status get_changes(gpuopt_memory_space where, int64_t from, gpuopt_propagator_changes &changes) = 0;
    virtual gpuopt_status explain(int64_t change, gpuopt_propagator_reason &reason) = 0;
    virtual gpuopt_status add_rows(const gpuopt_matrix &rows, const double *lhs, const double *rhs, int32_t *row) = 0;
    virtual gpuopt_status remove_rows(int64_t count, const int32_t *row) = 0;
    virtual bool has_row(int32_t row) const = 0;

  protected:
    ~CudaTree() = default;
};
template <class Val, class Bound>
class TypedTree;

/* A handle of any storage types. */
class CudaPropagator {
  public:
    virtual ~CudaPropagator() = default;
    virtual gpuopt_status round(int32_t rounds, gpuopt_propagator_info *info) = 0;
    virtual gpuopt_status get_info(gpuopt_propagator_info *info) = 0;
    virtual gpuopt_status get_bounds(gpuopt_memory_space where, int64_t count, const int32_t *col, double *lb,
                                     double *ub) = 0;
    virtual gpuopt_status set_bounds(gpuopt_memory_space where, int64_t count, const int32_t *col, const double *lb,
                                     const double *ub) = 0;
    virtual gpuopt_status set_sides(gpuopt_memory_space where, int64_t count, const int32_t *row, const double *lhs,
                                    const double *rhs) = 0;
    virtual gpuopt_status get_rows(gpuopt_memory_space where, const gpuopt_propagator_row_report &report) = 0;
    virtual gpuopt_status device_view(gpuopt_device_view *view) = 0;
    virtual gpuopt_status get_kinds(uint8_t *kind) = 0;
    virtual gpuopt_status plan_batch(const gpuopt_propagator_batch_desc &desc, gpuopt_memory_plan *plan) const = 0;
    virtual gpuopt_status create_batch(gpuopt_propagator *base, const gpuopt_propagator_batch_desc &desc,
                                       gpuopt_propagator_batch **batch) const = 0;
    virtual CudaTree *tree() = 0; /* null: neither a trail nor spare rows */
    virtual void plan_fork(gpuopt_memory_plan *plan) const = 0;
    virtual gpuopt_status fork(const gpuopt_propagator &head, gpuopt_propagator **fork) const = 0;
};

struct CudaHandle {
    gpuopt_propagator head; /* first: the public handle points to it */
    CudaPropagator *object;
};

CudaPropagator *object_of(gpuopt_propagator *propagator) { return reinterpret_cast<CudaHandle *>(propagator)->object; }

template <class Val, class Bound>
class TypedPropagator final : public CudaPropagator {
  public:
    static void plan(const PropagatorShape &shape, bool fork, gpuopt_memory_plan *plan);
    static gpuopt_status create(gpuopt_context *context, const gpuopt__propagator_model &model,
                                const PropagatorShape &shape, RawModel &raw, gpuopt_propagator **propagator);
    ~TypedPropagator() override;
    gpuopt_status round(int32_t rounds, gpuopt_propagator_info *info) override;
    gpuopt_status get_info(gpuopt_propagator_info *info) override;
    gpuopt_status get_bounds(gpuopt_memory_space where, int64_t count, const int32_t *col, double *lb,
                             double *ub) override;
    gpuopt_status set_bounds(gpuopt_memory_space where, int64_t count, const int32_t *col, const double *lb,
                             const double *ub) override;
    gpuopt_status set_sides(gpuopt_memory_space where, int64_t count, const int32_t *row, const double *lhs,
                            const double *rhs) override;
    gpuopt_status get_rows(gpuopt_memory_space where, const gpuopt_propagator_row_report &report) override;
    gpuopt_status device_view(gpuopt_device_view *view) override;
    gpuopt_status get_kinds(uint8_t *kind) override;
    gpuopt_status plan_batch(const gpuopt_propagator_batch_desc &desc, gpuopt_memory_plan *plan) const override;
    gpuopt_status create_batch(gpuopt_propagator *base, const gpuopt_propagator_batch_desc &desc,
                               gpuopt_propagator_batch **batch) const override;
    CudaTree *tree() override { return tree_; }
    void plan_fork(gpuopt_memory_plan *memory) const override { plan(shape_, true, memory); }
    gpuopt_status fork(const gpuopt_propagator &head, gpuopt_propagator **fork) const override;

  private:
    using View = Propagator<Val, Bound>;
    enum { DEVICE_PIECE = 1 << 30 }; /* elements of device arrays in one launch, which indexes them with an int */

    TypedPropagator(const gpuopt_context *context, const PropagatorShape &shape) : queue_(context), shape_(shape) {}
    static uint64_t host_bytes(const PropagatorShape &shape);
    static uint64_t cut(const PropagatorShape &shape, bool is_fork, gpuopt__arena &arena, View &p, int *&slot_of,
                        char *&staging);
    static gpuopt_status make(const gpuopt_propagator &head, const PropagatorShape &shape, CudaHandle **handle,
                              TypedPropagator **object);
    static gpuopt_status finish(CudaHandle *handle, gpuopt_status status, gpuopt_propagator **propagator);
    gpuopt_status open(const gpuopt__propagator_model &model, RawModel &raw);
    gpuopt_status open_fork(const TypedPropagator &from);
    gpuopt_status take_memory(bool is_fork);
    gpuopt_status first_launch();
    gpuopt_status load_kernels();
    gpuopt_status build(RawModel &model);
    gpuopt_status build_sorted(RawModel &model);
    gpuopt_status build_by_rows(RawModel &model);
    auto resident_kernel() const {
        return shape_.split_rows ? run_rounds<RESIDENT_SPLIT, Val, Bound> : run_rounds<RESIDENT, Val, Bound>;
    }
    template <class Kernel>
    gpuopt_status fit(Kernel kernel, int *grid);
    gpuopt_status choose_driver(gpuopt_propagator_driver wanted);
    gpuopt_status choose_resident();
    gpuopt_status build_graph();
    void enqueue_round(const Queue &queue);
    gpuopt_status check_device_arrays(bool sides, int64_t count, const int32_t *index, const double *low,
                                      const double *high, const char *call);

    static int blocks(int64_t things) { return blocks_for(things); }
    static int fitted(int64_t blocks, int64_t most) {
        return static_cast<int>(blocks < 1 ? 1 : blocks < most ? blocks : most);
    }
    /* The staging area holds two arrays of doubles and one of indices, or a row report. */
    double *staged(int which) { return reinterpret_cast<double *>(staging_) + which * staging_count(shape_); }
    int *staged_index() { return reinterpret_cast<int *>(staged(2)); }

    Queue queue_;
    PropagatorShape shape_;
    gpuopt_propagator_driver wanted_ = GPUOPT_DRIVER_AUTO, driver_ = GPUOPT_DRIVER_HOST;
    int grid_ = 1, filter_grid_ = 1, tighten_grid_ = 1; /* blocks of the kernels that run rounds */
    int resident_items_ = 0, resident_entries_ = 0;     /* per warp; 0: the model does not fit into shared memory */
    void *device_ = nullptr;
    int *slot_of_ = nullptr;
    char *staging_ = nullptr;
    TypedTree<Val, Bound> *tree_ = nullptr;
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t graph_exec_ = nullptr;
    View p_ = {};
};

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_ROUNDS_HANDLE_CUH */
