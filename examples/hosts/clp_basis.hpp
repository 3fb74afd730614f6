/* SPDX-License-Identifier: MIT
 *
 * The inverse behind clp_factorization.hpp: a gpuopt_basis and the columns of its basis, so that CLP's dense
 * factorisation can take over at any time.
 */
#ifndef EXAMPLES_HOSTS_CLP_BASIS_HPP
#define EXAMPLES_HOSTS_CLP_BASIS_HPP

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CoinDenseFactorization.hpp"
#include "CoinIndexedVector.hpp"

#include "examples/hosts/clp_factorization.hpp"
#include "gpuopt.h"

/* What all copies of a factorisation share. */
struct GpuoptFactorization::Shared {
    std::string backend;
    int threads = 1;
    long lose_after = -1, calls = 0;
    gpuopt_context *context = nullptr;
    Figures figures;
    ~Shared();
    void fail(const char *what, gpuopt_status status); /* gives up the device for good */
    bool lost();                                       /* whether this call has to find the device lost */
};

/* A basis by columns. */
struct BasisColumns {
    const int *start, *row;
    const double *value;
};

typedef std::pair<std::vector<int>, std::vector<double>> SparseVector; /* indices and values */

/* Fills another factorisation's arrays with a basis. */
void fill_basis(CoinOtherFactorization *to, int rows, int most_lower, int most_upper, const BasisColumns &basis);

/* A basis and its inverse. Column k of the basis is position k of the inverse. */
class ClpBasis {
  public:
    explicit ClpBasis(std::shared_ptr<GpuoptFactorization::Shared> shared) : shared_(std::move(shared)) {}
    ClpBasis(const ClpBasis &original); /* loads the basis when it is used */
    ~ClpBasis();

    /* The arrays that CLP writes a basis to. */
    int rows = 0, most_lower = 0, most_upper = 0, most_updates = 0;
    std::vector<double> element;
    std::vector<int> row, start;
    double zero_tolerance = 1e-13;

    void begin();           /* the arrays will get a new basis */
    bool load();            /* false: the basis is singular, or the device has failed */
    BasisColumns present(); /* with the columns that have been replaced; valid until the next call */
    const double *forward(const SparseVector &a, bool enters); /* B^-1 a [rows]; enters: a replaces a column next */
    const double *backward(const SparseVector &c);             /* B^-T c [rows] */
    /* Replaces the column at a position by the one that entered last, whose FTRAN is alpha [rows]. Not 0: refused. */
    int replace(int position, const double *alpha);

  private:
    std::shared_ptr<GpuoptFactorization::Shared> shared_;
    gpuopt_basis *basis_ = nullptr;
    int basis_rows_ = -1;
    bool ready_ = false;                   /* the inverse, or dense_, has the present basis */
    bool fresh_ = false;                   /* the inverse's latest FTRAN is that of the column that enters */
    std::map<int, SparseVector> replaced_; /* by position: columns that replace those in the arrays */
    SparseVector entering_;
    std::unique_ptr<CoinDenseFactorization> dense_; /* in place of the inverse, if the device has failed */
    std::vector<int> place_;                        /* position p of dense_ has column place_[p] */
    std::vector<int> new_start_, new_row_;
    std::vector<double> new_value_, x_;
    std::vector<int64_t> start64_;
    CoinIndexedVector work_, vector_;
    bool open();
    void make_ready();
    void use_dense();
};

#endif /* EXAMPLES_HOSTS_CLP_BASIS_HPP */
