/* SPDX-License-Identifier: MIT
 *
 * See clp_factorization.hpp. CLP writes the columns of a basis into the arrays that elements(), indices() and starts()
 * return, then calls factor(). Column k of the basis is position k of the inverse, so nothing is permuted.
 *
 * `other` is a factorisation of CLP's to which all calls go until the next basis: the dense one for a basis that is
 * singular, since it finds which slacks make the basis regular; the sparse one for every basis once the device has
 * failed.
 */
#include "examples/hosts/clp_factorization.hpp"

#include <cmath>
#include <cstring>

#include "CoinIndexedVector.hpp"
#include "CoinOslFactorization.hpp"

#include "examples/hosts/clp_basis.hpp"

enum { UPDATES = 500 }; /* before CLP loads the basis anew; CLP does so after rows / 2.45 + 20 at the latest */
static const double LEAST_PIVOT = 1e-9; /* relative to the column */

struct GpuoptFactorization::Body {
    ClpBasis basis;
    std::vector<double> work, alpha;
    std::vector<int> counts, pivot_row;
    std::unique_ptr<CoinOtherFactorization> other;
    int useful = 0;
    explicit Body(const ClpBasis &basis) : basis(basis) {}
};

void GpuoptFactorization::Figures::print(std::FILE *file) const {
    std::fprintf(file, "gpuopt: %ld loads, %ld refused, %ld ftran, %ld btran, %ld updates, ", loads, refused, ftran,
                 btran, updates);
    std::fprintf(file, "%.3f s loads, %.3f s others%s%s\n", load_seconds, seconds,
                 failure.empty() ? "" : ", failed: ", failure.c_str());
}

GpuoptFactorization::GpuoptFactorization(const std::string &backend, int threads, long lose_after)
    : shared_(std::make_shared<Shared>()), body_(new Body(ClpBasis(shared_))) {
    shared_->backend = backend;
    shared_->threads = threads;
    shared_->lose_after = lose_after;
    maximumPivots_ = UPDATES;
}

GpuoptFactorization::GpuoptFactorization(const GpuoptFactorization &original)
    : CoinOtherFactorization(original), shared_(original.shared_), body_(new Body(original.body_->basis)) {
    maximumPivots_ = original.maximumPivots_;
    numberPivots_ = original.numberPivots_;
    body_->work = original.body_->work;
    body_->counts = original.body_->counts;
    body_->pivot_row = original.body_->pivot_row;
    body_->useful = original.body_->useful;
    if (original.body_->other) body_->other.reset(original.body_->other->clone());
}

GpuoptFactorization::~GpuoptFactorization() = default;
CoinOtherFactorization *GpuoptFactorization::clone() const { return new GpuoptFactorization(*this); }
const GpuoptFactorization::Figures &GpuoptFactorization::figures() const { return shared_->figures; }

/* ---- The arrays that CLP fills ---- */

double *GpuoptFactorization::elements() const { return body_->basis.element.data(); }
int *GpuoptFactorization::indices() const { return body_->basis.row.data(); }
int *GpuoptFactorization::starts() const { return body_->basis.start.data(); }
int *GpuoptFactorization::numberInRow() const { return body_->counts.data(); }
int *GpuoptFactorization::numberInColumn() const { return body_->counts.data() + numberRows_; }
double *GpuoptFactorization::workArea() const { return body_->work.data(); }
int *GpuoptFactorization::intWorkArea() const { return reinterpret_cast<int *>(body_->work.data()); }
int *GpuoptFactorization::pivotRow() const { return body_->pivot_row.data(); }
int *GpuoptFactorization::permuteBack() const { return body_->pivot_row.data() + numberRows_; }
int *GpuoptFactorization::permute() const { return body_->other ? body_->other->permute() : nullptr; }

int GpuoptFactorization::numberElements() const {
    return body_->other ? body_->other->numberElements() : numberRows_ * (numberColumns_ + numberPivots_);
}

bool GpuoptFactorization::wantsTableauColumn() const {
    return body_->other ? body_->other->wantsTableauColumn() : true;
}

void GpuoptFactorization::setUsefulInformation(const int *info, int where) {
    body_->useful = *info;
    if (body_->other) body_->other->setUsefulInformation(info, where);
}

void GpuoptFactorization::maximumPivots(int value) {
    maximumPivots_ = value;
    if (body_->other) body_->other->maximumPivots(value);
}

void GpuoptFactorization::clearArrays() {
    body_.reset(new Body(ClpBasis(shared_)));
    numberRows_ = numberColumns_ = numberGoodU_ = numberPivots_ = 0;
    status_ = -1;
}

void GpuoptFactorization::getAreas(int rows, int columns, int most_lower, int most_upper) {
    Body &b = *body_;
    size_t lines = (size_t)rows + 1, most = (size_t)most_lower;
    numberRows_ = rows;
    numberColumns_ = columns;
    b.other.reset();
    b.basis.begin();
    b.basis.rows = rows;
    b.basis.most_lower = most_lower;
    b.basis.most_upper = most_upper;
    b.basis.most_updates = maximumPivots_;
    b.basis.zero_tolerance = zeroTolerance_;
    if (b.basis.element.size() < most) b.basis.element.resize(most), b.basis.row.resize(most);
    b.basis.start.resize(lines);
    b.counts.resize(2 * lines);
    b.work.resize(2 * lines);
    b.pivot_row.resize(2 * lines + (size_t)maximumPivots_);
}

/* ---- Factoring ---- */

void GpuoptFactorization::preProcess() {}

/* Lets a factorisation of CLP's have the basis. */
void GpuoptFactorization::give_to_other() {
    Body &b = *body_;
    if (shared_->figures.failure.empty()) {
        b.other.reset(new CoinDenseFactorization);
        solveMode_ = 0; /* its own code, which finds what is singular; CLP need not try that again */
    } else {
        b.other.reset(new CoinOslFactorization);
    }
    b.other->maximumPivots(maximumPivots_);
    b.other->pivotTolerance(pivotTolerance_);
    b.other->zeroTolerance(zeroTolerance_);
    b.other->setUsefulInformation(&b.useful, 0);
    b.other->setSolveMode(solveMode_);
    fill_basis(b.other.get(), numberRows_, b.basis.most_lower, b.basis.most_upper, b.basis.present());
    b.other->factor();
    status_ = b.other->status();
    numberGoodU_ = b.other->numberGoodColumns();
    solveMode_ = b.other->solveMode();
}

int GpuoptFactorization::factor() {
    numberPivots_ = 0;
    status_ = 0;
    numberGoodU_ = numberRows_;
    if (!body_->basis.load()) give_to_other();
    return status_;
}

void GpuoptFactorization::postProcess(const int *sequence, int *pivot_variable) {
    if (body_->other) return body_->other->postProcess(sequence, pivot_variable);
    std::memcpy(pivot_variable, sequence, sizeof *sequence * (size_t)numberRows_);
}

void GpuoptFactorization::makeNonSingular(int *sequence, int columns) {
    if (body_->other) body_->other->makeNonSingular(sequence, columns);
}

/* ---- Products with the inverse ---- */

/* Takes the nonzeros out of a vector of CLP's, which is then zero. */
static SparseVector take(CoinIndexedVector *vector, int rows) {
    SparseVector taken;
    double *value = vector->denseVector();
    const int *index = vector->getIndices();
    bool packed = vector->packedMode();
    int count = packed ? vector->getNumElements() : rows;
    for (int k = 0; k < count; k++) {
        if (value[k] != 0) {
            taken.first.push_back(packed ? index[k] : k);
            taken.second.push_back(value[k]);
        }
        value[k] = 0;
    }
    return taken;
}

/* Puts what is not small into a vector of CLP's, whose number of elements still is the old one: 0 would change its
 * mode. */
static void put(CoinIndexedVector *vector, int rows, const double *from, double small) {
    double *value = vector->denseVector();
    int *index = vector->getIndices(), count = 0;
    bool packed = vector->packedMode();
    for (int k = 0; k < rows; k++)
        if (std::fabs(from[k]) > small) {
            value[packed ? count : k] = from[k];
            index[count++] = k;
        }
    vector->setNumElements(count);
}

void GpuoptFactorization::ftran(CoinIndexedVector *column, bool enters) const {
    put(column, numberRows_, body_->basis.forward(take(column, numberRows_), enters), zeroTolerance_);
}

int GpuoptFactorization::updateColumnFT(CoinIndexedVector *work, CoinIndexedVector *column, bool no_permute) {
    if (body_->other) return body_->other->updateColumnFT(work, column, no_permute);
    ftran(column, true);
    return 0;
}

int GpuoptFactorization::updateColumn(CoinIndexedVector *work, CoinIndexedVector *column, bool no_permute) const {
    if (body_->other) return body_->other->updateColumn(work, column, no_permute);
    ftran(column, false);
    return 0;
}

/* The entering column comes last, so that the update can use it where it is. */
int GpuoptFactorization::updateTwoColumnsFT(CoinIndexedVector *work, CoinIndexedVector *entering,
                                            CoinIndexedVector *other, bool no_permute) {
    if (body_->other) return body_->other->updateTwoColumnsFT(work, entering, other, no_permute);
    ftran(other, false);
    ftran(entering, true);
    return 0;
}

int GpuoptFactorization::updateColumnTranspose(CoinIndexedVector *work, CoinIndexedVector *row) const {
    if (body_->other) return body_->other->updateColumnTranspose(work, row);
    put(row, numberRows_, body_->basis.backward(take(row, numberRows_)), zeroTolerance_);
    return 0;
}

int GpuoptFactorization::replaceColumn(CoinIndexedVector *column, int position, double pivot, bool check_first,
                                       double acceptable) {
    Body &b = *body_;
    double largest = std::fabs(pivot);
    int result;
    if (b.other) {
        result = b.other->replaceColumn(column, position, pivot, check_first, acceptable);
        numberPivots_ = b.other->pivots();
        return result;
    }
    if (numberPivots_ == maximumPivots_) return 3;
    b.alpha.assign((size_t)numberRows_, 0);
    for (int k = 0; k < column->getNumElements(); k++) {
        int at = column->getIndices()[k];
        b.alpha[at] = column->denseVector()[column->packedMode() ? k : at];
        largest = std::fmax(largest, std::fabs(b.alpha[at]));
    }
    b.alpha[position] = pivot;
    if (std::fabs(pivot) < zeroTolerance_ || std::fabs(pivot) <= LEAST_PIVOT * largest) return 2;
    result = b.basis.replace(position, b.alpha.data());
    if (!result) numberPivots_++;
    return result;
}
