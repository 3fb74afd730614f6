/* SPDX-License-Identifier: MIT
 *
 * Basis inverse on the GPU: the handle, its memory, create and destroy.
 */
#ifndef GPUOPT_CUDA_BASIS_CREATE_CUH
#define GPUOPT_CUDA_BASIS_CREATE_CUH

#include <cstring>
#include <new>

#include "factors.cuh"
#include "load.cuh"
#include "solve.cuh"
#include "update.cuh"
#include "../common/libraries.cuh"
#include "../common/queue.cuh"
#include "../common/rank_update.cuh"

namespace {

/* A handle of the CUDA backend. */
class CudaBasis {
  public:
    gpuopt_basis head = {}; /* first: the public handle points to it */

    CudaBasis(gpuopt_context *context, const gpuopt_basis_desc &desc);
    ~CudaBasis();
    gpuopt_status open(); /* takes device memory and loads the identity */
    /* Cuts the handle's arrays in host and device memory. Called twice, to measure and to assign, like gpuopt__cut. */
    void cut(gpuopt__arena &host, gpuopt__arena &device);

    gpuopt_status update(gpuopt_memory_space where, int position, const double *alpha, gpuopt_basis_info *info);
    gpuopt_status get_info(gpuopt_basis_info *info);
    gpuopt_status load(const gpuopt_matrix *columns);
    gpuopt_status ftran(gpuopt_memory_space where, const double *rhs, double *x);
    gpuopt_status ftran_sparse(gpuopt_memory_space where, int count, const int32_t *row, const double *val, double *x);
    gpuopt_status btran(gpuopt_memory_space where, const double *c, double *y);
    gpuopt_status btran_unit(gpuopt_memory_space where, int position, double *y);
    gpuopt_status get_drift(const gpuopt_matrix *columns, const double *rhs, int exact, gpuopt_basis_drift *drift);
    gpuopt_status get_inverse(gpuopt_memory_space where, double *inverse);

  private:
    /* Most entries of a sparse column in a kernel's arguments: CUDA allows 4 KB. */
    enum { FEW = 32, MANY = 240 };
    enum { BASIS_LIBRARIES = 512 }; /* the least m for which cuBLAS and cuSOLVER are used */

    int m() const { return head.m; }
    gpuopt_context *context() const { return head.context; }
    cudaStream_t stream() const { return queue_.stream(); }
    bool deferred() const { return head.technique == GPUOPT_TECHNIQUE_DEFERRED; }

    static unsigned blocks(int things, int of_block) {
        return static_cast<unsigned>((static_cast<long long>(things) + of_block - 1) / of_block);
    }
    int tiles() const { return static_cast<int>(blocks(m(), BASIS_LANES)); }
    int dot_blocks() const { return static_cast<int>(blocks(m(), BASIS_DOT_LINES)); }
    int prepare_blocks() const { return static_cast<int>(blocks(m(), BASIS_PREPARE)); }
    dim3 patches() const { return dim3(blocks(m(), BASIS_THREADS), blocks(m(), BASIS_PATCH)); }
    /* Pivots of an elimination between rank updates: above 64, reading more of U and V costs more than it saves. */
    int load_most() const { return head.most < 64 ? head.most : 64; }
    dim3 element_grid() const { return dim3(blocks(m(), BASIS_WIDE), blocks(m(), BASIS_ROWS)); }
    /* Parts of a linear combination: enough for one wave of blocks. */
    int parts() const {
        int chunks = static_cast<int>(blocks(m(), BASIS_WIDE)),
            parts = 4 * cuda_of(context())->multiprocessors / chunks;
        parts = parts < BASIS_PARTS ? parts : +BASIS_PARTS;
        return parts < 1 ? 1 : parts < m() ? parts : m();
    }

    void find_libraries();
    int solver_size(const Cusolver &solver, int n, int *doubles) const;
    gpuopt_status load_kernels();
    gpuopt_status send_columns(const gpuopt_matrix &columns, BasisLayout layout);
    gpuopt_status send_order(const gpuopt_matrix &columns, BasisLayout layout, int *empty);
    gpuopt_status enqueue_elimination();
    int invert_triangle();
    gpuopt_status enqueue_factors();
    gpuopt_status enqueue_load(const gpuopt_matrix &columns, BasisLayout layout, int *empty);
    gpuopt_status load_identity();
    gpuopt_status refuse_load(int position);
    Target next_alpha(double *copy);
    gpuopt_status fetch(gpuopt_memory_space where, const double *vector, const double **found);
    gpuopt_status deliver(gpuopt_memory_space where, double *wanted, const double *there);
    void solve(const double *vector, const Target &target);
    template <int MOST>
    void solve_few(int count, const int32_t *row, const double *val, const Target &target);
    gpuopt_status solve_sparse(int count, const int32_t *row, const double *val, const Target &target);
    void combine(const double *vector, const double *other, int count);
    void apply(int count);
    void multiply_pfi();
    void prepare(const Pivot &pivot, int blocks, int threads, int steps);
    void update_pfi(const Pivot &pivot);
    void update_mpfi(const Pivot &pivot);
    void update_by_columns(const Pivot &pivot);

    Queue queue_;
    const Cusolver *solver_ = nullptr; /* null: loads use this library's own kernels */
    gpuopt__basis_order order_ = {};
    Basis b_ = {};
    BasisLoad load_ = {};
    int *unrepresentable_ =
        nullptr; /* device: the first row of the inverse with an entry that is not finite; m: none */
    RankUpdate rank_;
    void *device_ = nullptr;
    LaunchKind behind_ = LAUNCH_PLAIN; /* for kernels that call wait_for_previous() */
    bool told_ = true;                 /* whether the report includes the latest update */
    int before_ = -1;                  /* position of the update in column slot_ - 1 of U */
    int earlier_ = -1;                 /* position of the update in column slot_ - 2 */
    int slot_ = 0;                     /* columns of U in use, including columns of refused updates */
    int parity_ = 0;                   /* which state->largest the latest FTRAN used */
    int load_grid_ = 1;                /* blocks of an elimination */
    int solver_size_ = 0;              /* workspace of cuSOLVER, in doubles */
};

CudaBasis *basis_object(gpuopt_basis *basis) { return reinterpret_cast<CudaBasis *>(basis); }

CudaBasis::CudaBasis(gpuopt_context *context, const gpuopt_basis_desc &desc) : queue_(context) {
    head.context = context;
    head.technique = desc.technique;
    head.m = desc.m;
    b_.pitch = (static_cast<long long>(desc.m) + 15) / 16 * 16;
    if (desc.m >= BASIS_LIBRARIES) find_libraries();
    /* Up to a rank of about 64, memory limits our own rank update. With cuBLAS a larger rank makes an update still
     * cheaper, but its FTRAN and BTRAN dearer. */
    head.most = desc.deferred_updates > 0 ? desc.deferred_updates : rank_.blas ? 192 : 64;
    head.pivot_tolerance = b_.tolerance = desc.pivot_tolerance;
    b_.m = desc.m;
    b_.most = head.most;
    int64_t entries = int64_t{desc.m} * desc.m;
    load_.stage = entries < BASIS_STAGE ? entries : static_cast<int64_t>(BASIS_STAGE);
}

/* cuBLAS for rank updates and, with cuSOLVER, for loads. */
void CudaBasis::find_libraries() {
    rank_.blas = cublas_of(context());
    const Cusolver *solver = rank_.blas ? cusolver_of(context()) : nullptr;
    if (solver && !solver_size(*solver, m(), &solver_size_)) solver_ = solver;
}

/* cuSOLVER's workspace for the factors of an n x n matrix, in doubles. Does not read the matrix. */
int CudaBasis::solver_size(const Cusolver &solver, int n, int *doubles) const {
    double any;
    DeviceScope scope(context());
    return solver.getrf_size(solver.handle, n, n, &any, static_cast<int>(b_.pitch), doubles);
}

void CudaBasis::cut(gpuopt__arena &host, gpuopt__arena &device) {
    int64_t pitch = b_.pitch, matrix = pitch * m(), lines = pitch * head.most;
    auto doubles = [&](int64_t count) { return static_cast<double *>(gpuopt__cut(&device, count, sizeof(double))); };
    auto ints = [&](int64_t count) { return static_cast<int *>(gpuopt__cut(&device, count, sizeof(int))); };
    gpuopt__basis_cut(&host, &head, &order_);
    b_.state = static_cast<BasisState *>(gpuopt__cut(&device, 1, sizeof(BasisState)));
    b_.matrix = doubles(matrix);
    b_.second = doubles(matrix);
    b_.factor = solver_ || head.technique == GPUOPT_TECHNIQUE_PFI ? doubles(matrix) : nullptr;
    load_.work = solver_ ? b_.factor : nullptr;
    b_.u = deferred() ? doubles(lines) : nullptr;
    b_.v = deferred() ? doubles(lines) : nullptr;
    b_.rows_u = deferred() ? doubles(lines) : nullptr;
    b_.load_u = solver_ ? nullptr : doubles(pitch * load_most());
    b_.load_v = solver_ ? nullptr : doubles(pitch * load_most());
    double **vectors[] = {&b_.alpha, &b_.input, &b_.output, &b_.omega, &b_.row, &load_.column};
    for (double **vector : vectors) *vector = doubles(pitch);
    b_.partial = doubles(pitch * BASIS_PARTS);
    b_.dots = doubles(BASIS_MOST);
    int **indices[] = {&load_.entries, &load_.only,      &load_.order,    &load_.row_of,
                       &load_.col_of,  &load_.row_scale, &load_.col_scale};
    for (int **index : indices) *index = ints(m());
    load_.row_pivot = doubles(m());
    load_.start = static_cast<long long *>(gpuopt__cut(&device, int64_t{m()} + 1, sizeof(long long)));
    load_.stage_index = ints(load_.stage);
    load_.stage_value = doubles(load_.stage);
    load_.candidates = static_cast<Candidate *>(gpuopt__cut(&device, BASIS_LOAD_BLOCKS, sizeof(Candidate)));
    unrepresentable_ = ints(1);
    if (rank_.blas) rank_.workspace = gpuopt__cut(&device, RANK_WORKSPACE, 1);
    if (!solver_) return;
    load_.row_at = ints(m());
    load_.swaps = ints(int64_t{m()} + 1);
    load_.solver_work = doubles(solver_size_);
}

CudaBasis::~CudaBasis() {
    if (device_) cudaStreamSynchronize(stream()); /* enqueued updates may still use it */
    gpuopt__release(context(), GPUOPT_DEVICE, device_);
    give_pinned(context(), b_.report);
}

/* The handle's host memory begins with this object; the arrays in host memory follow. */
gpuopt_status CudaBasis::open() {
    gpuopt__arena host = {reinterpret_cast<char *>(this + 1), 0}, device = {nullptr, 0};
    cut(host, device);
    gpuopt_status status = gpuopt__allocate(context(), GPUOPT_DEVICE, device.used, &device_);
    if (status) return status;
    host.used = 0;
    size_t bytes = static_cast<size_t>(device.used);
    device = {static_cast<char *>(device_), 0};
    cut(host, device);
    gpuopt__basis_clear_marks(&head);
    GPUOPT_CUDA(context(), cudaMemsetAsync(device_, 0, bytes, stream())); /* padding must be finite */
    status = take_pinned(context(), &b_.report);
    if (!status) status = load_kernels();
    if (!status) status = rank_update_open(context(), &rank_);
    if (status || m() == 0) return status ? status : load(nullptr);
    /* cuBLAS loads its kernels at their first use, so one product with zeros runs here. */
    if (deferred()) apply(head.most);
    if (head.technique == GPUOPT_TECHNIQUE_PFI) multiply_pfi();
    return load(nullptr);
}

gpuopt_status CudaBasis::load_kernels() {
    int version = 0, together = 0;
    gpuopt_status status =
        ::load_kernels(context(), combine_lines, add_lines, dot_lines, combine_few<FEW>, combine_few<MANY>,
                       dot_few<FEW>, dot_few<MANY>, scatter_column, read_row, transpose_lines, report_drift);
    if (!status)
        status = ::load_kernels(context(), update_deferred, report_state, prepare_update, update_elements_proposed,
                                update_elements, copy_back, outer_product, zero_row, add_second, update_columns,
                                make_factor);
    if (!status)
        status = ::load_kernels(context(), scatter_entries<BASIS_BY_COLUMNS>, scatter_entries<BASIS_BY_ROWS>,
                                scatter_entries<BASIS_WHOLE_COLUMNS>, scatter_entries<BASIS_WHOLE_ROWS>,
                                find_column_scales, find_row_pivots, scale_basis, eliminate, gather_left, end_factors,
                                invert_blocks, clear_beside, clear_rest);
    if (!status)
        status = ::load_kernels(context(), check_inverse, store_inverse<true>, store_inverse<false>, make_identity,
                                end_load);
    if (!status) status = code_version(context(), update_deferred, &version);
    if (status) return status;
    behind_ = version >= 90 ? LAUNCH_OVERLAPPING : LAUNCH_PLAIN; /* older code does not wait for the previous kernel */
    GPUOPT_CUDA(context(), cudaOccupancyMaxActiveBlocksPerMultiprocessor(&together, eliminate, BASIS_THREADS, 0));
    /* More blocks make a grid-wide barrier slower. */
    int most = (together < 2 ? together : 2) * cuda_of(context())->multiprocessors;
    most = most < BASIS_LOAD_BLOCKS ? most : +BASIS_LOAD_BLOCKS;
    load_grid_ = tiles() < most ? tiles() : most;
    return GPUOPT_OK;
}

/* ---- Life ---- */

/* Checks that the device can run this technique: COLUMN stores omega in the shared memory of a block. */
gpuopt_status cuda_basis_supports(const gpuopt_context *context, const gpuopt_basis_desc &desc) {
    const int limit = cuda_of(context)->block_memory;
    if (!cuda_of(context)->cooperative) {
        gpuopt__log(context, 0, "gpuopt_basis: the device has no cooperative launch");
        return GPUOPT_ERROR_UNSUPPORTED;
    }
    if (desc.technique != GPUOPT_TECHNIQUE_COLUMN) return GPUOPT_OK;
    /* 16 bytes to spare. */
    if (int64_t{desc.m} * static_cast<int64_t>(sizeof(double)) + 16 <= limit) return GPUOPT_OK;
    gpuopt__log(context, 0, "gpuopt_basis: COLUMN needs shared memory for %d doubles, and the device has %d bytes",
                static_cast<int>(desc.m), limit);
    return GPUOPT_ERROR_UNSUPPORTED;
}

gpuopt_status cuda_basis_plan(gpuopt_context *context, const gpuopt_basis_desc *desc, gpuopt_memory_plan *plan) {
    gpuopt_status status = cuda_basis_supports(context, *desc);
    if (status) return status;
    CudaBasis basis(context, *desc);
    gpuopt__arena host = {nullptr, 0}, device = {nullptr, 0};
    basis.cut(host, device);
    plan->host_bytes = sizeof basis + host.used;
    plan->device_bytes = device.used;
    return GPUOPT_OK;
}

gpuopt_status cuda_basis_create(gpuopt_context *context, const gpuopt_basis_desc *desc, gpuopt_basis **basis) {
    DeviceScope scope(context);
    gpuopt_memory_plan plan = {};
    void *memory;
    gpuopt_status status = cuda_basis_plan(context, desc, &plan);
    if (!status) status = gpuopt__allocate(context, GPUOPT_HOST, plan.host_bytes, &memory);
    if (status) return status;
    CudaBasis *object = new (memory) CudaBasis(context, *desc);
    status = object->open();
    if (!status) {
        *basis = &object->head;
        return GPUOPT_OK;
    }
    object->~CudaBasis();
    gpuopt__release(context, GPUOPT_HOST, memory);
    return status;
}

void cuda_basis_destroy(gpuopt_basis *basis) {
    gpuopt_context *context = basis->context;
    DeviceScope scope(context);
    basis_object(basis)->~CudaBasis();
    gpuopt__release(context, GPUOPT_HOST, basis);
}

} // namespace

#endif /* GPUOPT_CUDA_BASIS_CREATE_CUH */
