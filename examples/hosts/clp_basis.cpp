/* SPDX-License-Identifier: MIT
 *
 * See clp_basis.hpp.
 */
#include "examples/hosts/clp_basis.hpp"

#include <chrono>
#include <cmath>
#include <cstring>

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/* Adds the time of its life. */
struct Watch {
    double &sum, start = now();
    explicit Watch(double &sum) : sum(sum) {}
    ~Watch() { sum += now() - start; }
};

} // namespace

GpuoptFactorization::Shared::~Shared() { gpuopt_context_destroy(context); }

void GpuoptFactorization::Shared::fail(const char *what, gpuopt_status status) {
    if (!figures.failure.empty()) return;
    figures.failure =
        std::string(what) + ": " + gpuopt_status_string(status) + ": " + gpuopt_context_last_error(context);
    std::fprintf(stderr, "gpuopt is not used any more: %s\n", figures.failure.c_str());
}

bool GpuoptFactorization::Shared::lost() { return calls++ == lose_after; }

void fill_basis(CoinOtherFactorization *to, int rows, int most_lower, int most_upper, const BasisColumns &basis) {
    size_t count = (size_t)basis.start[rows];
    to->getAreas(rows, rows, most_lower, most_upper);
    std::memset(to->numberInRow(), 0, sizeof(int) * (size_t)rows);
    std::memcpy(to->elements(), basis.value, sizeof(double) * count);
    std::memcpy(to->indices(), basis.row, sizeof(int) * count);
    std::memcpy(to->starts(), basis.start, sizeof(int) * (size_t)(rows + 1));
    for (int k = 0; k < rows; k++) {
        to->numberInColumn()[k] = basis.start[k + 1] - basis.start[k];
        for (int e = basis.start[k]; e < basis.start[k + 1]; e++) to->numberInRow()[basis.row[e]]++;
    }
    to->preProcess();
}

ClpBasis::ClpBasis(const ClpBasis &o)
    : rows(o.rows), most_lower(o.most_lower), most_upper(o.most_upper), most_updates(o.most_updates),
      element(o.element), row(o.row), start(o.start), zero_tolerance(o.zero_tolerance), shared_(o.shared_),
      replaced_(o.replaced_), entering_(o.entering_) {}

ClpBasis::~ClpBasis() { gpuopt_basis_destroy(basis_); }

void ClpBasis::begin() {
    replaced_.clear();
    dense_.reset();
    ready_ = false;
}

BasisColumns ClpBasis::present() {
    if (replaced_.empty()) return {start.data(), row.data(), element.data()};
    new_row_.clear();
    new_value_.clear();
    new_start_.assign((size_t)rows + 1, 0);
    for (int k = 0; k < rows; k++) {
        auto found = replaced_.find(k);
        if (found != replaced_.end()) {
            new_row_.insert(new_row_.end(), found->second.first.begin(), found->second.first.end());
            new_value_.insert(new_value_.end(), found->second.second.begin(), found->second.second.end());
        } else {
            new_row_.insert(new_row_.end(), row.begin() + start[k], row.begin() + start[k + 1]);
            new_value_.insert(new_value_.end(), element.begin() + start[k], element.begin() + start[k + 1]);
        }
        new_start_[k + 1] = (int)new_row_.size();
    }
    return {new_start_.data(), new_row_.data(), new_value_.data()};
}

/* Makes the context and the handle, if they are missing. */
bool ClpBasis::open() {
    GpuoptFactorization::Shared &s = *shared_;
    gpuopt_status status = GPUOPT_OK;
    if (!s.figures.failure.empty()) return false;
    if (!s.context) {
        gpuopt_context_desc desc = GPUOPT_INIT(gpuopt_context_desc);
        desc.threads = s.threads;
        if (s.backend == "cuda") {
#ifdef EXAMPLE_WITH_CUDA
            desc.backend = gpuopt_backend_cuda();
#else
            status = GPUOPT_ERROR_UNSUPPORTED;
#endif
        }
        if (!status) status = gpuopt_context_create(&desc, &s.context);
        if (status) return s.fail("opening a context", status), false;
    }
    if (basis_rows_ != rows) {
        gpuopt_basis_desc desc = GPUOPT_INIT(gpuopt_basis_desc);
        gpuopt_basis_destroy(basis_);
        basis_ = nullptr;
        basis_rows_ = -1;
        desc.m = rows;
        status = gpuopt_basis_create(s.context, &desc, nullptr, &basis_);
        if (status) return s.fail("making an inverse", status), false;
        basis_rows_ = rows;
    }
    return true;
}

bool ClpBasis::load() {
    GpuoptFactorization::Shared &s = *shared_;
    Watch watch(s.figures.load_seconds);
    BasisColumns columns;
    gpuopt_matrix matrix = {rows, rows, nullptr, nullptr, nullptr, GPUOPT_LAYOUT_CSC};
    gpuopt_status status;
    if (!open()) return false;
    columns = present();
    start64_.assign(columns.start, columns.start + rows + 1);
    matrix.start = start64_.data();
    matrix.index = columns.row;
    matrix.value = columns.value;
    x_.resize((size_t)rows);
    fresh_ = false;
    s.figures.loads++;
    status = s.lost() ? GPUOPT_ERROR_DEVICE : gpuopt_basis_load(basis_, &matrix);
    if (status == GPUOPT_ERROR_NUMERIC) s.figures.refused++;
    else if (status) s.fail("loading a basis", status);
    return ready_ = status == GPUOPT_OK;
}

/* Lets CLP's dense factorisation have the present basis. */
void ClpBasis::use_dense() {
    std::vector<int> identity((size_t)rows);
    for (int k = 0; k < rows; k++) identity[k] = k;
    dense_.reset(new CoinDenseFactorization);
    dense_->maximumPivots(most_updates + 1);
    dense_->zeroTolerance(zero_tolerance);
    dense_->setSolveMode(1);
    fill_basis(dense_.get(), rows, most_lower, most_upper, present());
    dense_->factor();
    place_.resize((size_t)rows);
    dense_->postProcess(identity.data(), place_.data());
    x_.resize((size_t)rows);
    work_.reserve(rows + most_updates + 1);
    vector_.reserve(rows + most_updates + 1);
    ready_ = true;
}

void ClpBasis::make_ready() {
    if (!ready_ && !load()) use_dense();
}

const double *ClpBasis::forward(const SparseVector &a, bool enters) {
    GpuoptFactorization::Shared &s = *shared_;
    int count = (int)a.first.size();
    make_ready();
    Watch watch(s.figures.seconds);
    if (!dense_) {
        gpuopt_status status = GPUOPT_OK;
        s.figures.ftran++;
        if (s.lost()) status = GPUOPT_ERROR_DEVICE;
        else if (count > 0)
            status = gpuopt_basis_ftran(basis_, GPUOPT_HOST, count, a.first.data(), a.second.data(), x_.data());
        else x_.assign((size_t)rows, 0);
        if (status) s.fail("an FTRAN", status), use_dense();
    }
    if (dense_) {
        vector_.clear();
        for (int k = 0; k < count; k++) vector_.insert(a.first[k], a.second[k]);
        dense_->updateColumn(&work_, &vector_, false);
        for (int p = 0; p < rows; p++) x_[place_[p]] = vector_.denseVector()[p];
    }
    fresh_ = enters && count > 0;
    if (enters) entering_ = a;
    return x_.data();
}

const double *ClpBasis::backward(const SparseVector &c) {
    GpuoptFactorization::Shared &s = *shared_;
    int count = (int)c.first.size();
    make_ready();
    Watch watch(s.figures.seconds);
    if (!dense_) {
        gpuopt_status status;
        s.figures.btran++;
        if (count == 1) {
            status = s.lost() ? GPUOPT_ERROR_DEVICE
                              : gpuopt_basis_btran(basis_, GPUOPT_HOST, c.first[0], nullptr, x_.data());
            for (int i = 0; i < rows && c.second[0] != 1; i++) x_[i] *= c.second[0];
        } else {
            x_.assign((size_t)rows, 0);
            for (int k = 0; k < count; k++) x_[c.first[k]] = c.second[k];
            status = s.lost() ? GPUOPT_ERROR_DEVICE : gpuopt_basis_btran(basis_, GPUOPT_HOST, -1, x_.data(), x_.data());
        }
        if (!status) return x_.data();
        s.fail("a BTRAN", status);
        use_dense();
    }
    x_.assign((size_t)rows, 0);
    for (int k = 0; k < count; k++) x_[c.first[k]] = c.second[k];
    vector_.clear();
    for (int p = 0; p < rows; p++)
        if (x_[place_[p]] != 0) vector_.insert(p, x_[place_[p]]);
    dense_->updateColumnTranspose(&work_, &vector_);
    std::memcpy(x_.data(), vector_.denseVector(), sizeof(double) * (size_t)rows);
    return x_.data();
}

int ClpBasis::replace(int position, const double *alpha) {
    GpuoptFactorization::Shared &s = *shared_;
    make_ready();
    Watch watch(s.figures.seconds);
    if (!dense_) {
        gpuopt_basis_info info = GPUOPT_INIT(gpuopt_basis_info);
        gpuopt_status status = GPUOPT_ERROR_DEVICE;
        s.figures.updates++;
        if (!s.lost()) /* the caller has checked the pivot, so there is no need to wait for an answer */
            status = fresh_ ? gpuopt_basis_update(basis_, GPUOPT_HOST, position, nullptr, nullptr)
                            : gpuopt_basis_update(basis_, GPUOPT_HOST, position, alpha, &info);
        fresh_ = false;
        if (status == GPUOPT_ERROR_NUMERIC) return 2;
        if (status) s.fail("an update", status), use_dense();
    }
    if (dense_) {
        int at = 0;
        vector_.clear();
        for (int p = 0; p < rows; p++) {
            if (alpha[place_[p]] != 0) vector_.insert(p, alpha[place_[p]]);
            if (place_[p] == position) at = p;
        }
        if (int result = dense_->replaceColumn(&vector_, at, alpha[position])) return result;
    }
    replaced_[position] = entering_;
    return 0;
}
