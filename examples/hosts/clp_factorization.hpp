/* SPDX-License-Identifier: MIT
 *
 * gpuopt_basis as the factorisation of CLP: the dense inverse of the basis, on a GPU or on the cores. It suits dense
 * models; for sparse ones, CLP's own LU factors are smaller than the inverse by far.
 *
 *     GpuoptFactorization basis("cuda");
 *     ClpFactorization factorization(basis);    // a copy, which belongs to CLP
 *     model.setFactorization(factorization);    // and another one
 *     model.dual();
 *     basis.figures().print(stdout);            // of all copies together
 *
 * If the GPU is missing or lost, or memory does not suffice, CLP's own factorisations take over, in the middle of the
 * solve if need be, and one line on stderr says so.
 *
 * All copies share a context, so they must not be used by two threads at a time.
 */
#ifndef EXAMPLES_HOSTS_CLP_FACTORIZATION_HPP
#define EXAMPLES_HOSTS_CLP_FACTORIZATION_HPP

#include <cstdio>
#include <memory>
#include <string>

#include "CoinDenseFactorization.hpp"

class GpuoptFactorization : public CoinOtherFactorization {
  public:
    /* What the calls of all copies have cost so far. */
    struct Figures {
        long loads = 0, refused = 0, ftran = 0, btran = 0, updates = 0; /* refused: singular bases */
        double load_seconds = 0, seconds = 0;                           /* seconds: of the other three */
        std::string failure;                                            /* empty: none */
        void print(std::FILE *file) const;
    };

    /* backend: cpu or cuda; threads: of the cpu. lose_after, for tests: the device counts as lost after that many
     * calls; -1: never. */
    explicit GpuoptFactorization(const std::string &backend, int threads = 1, long lose_after = -1);
    GpuoptFactorization(const GpuoptFactorization &original);
    GpuoptFactorization &operator=(const GpuoptFactorization &) = delete;
    ~GpuoptFactorization() override;
    const Figures &figures() const;

    CoinOtherFactorization *clone() const override;
    void maximumPivots(int value) override;
    double *elements() const override;
    int *pivotRow() const override;
    double *workArea() const override;
    int *intWorkArea() const override;
    int *numberInRow() const override;
    int *numberInColumn() const override;
    int *starts() const override;
    int *permuteBack() const override;
    int *indices() const override;
    int *permute() const override;
    int numberElements() const override;
    bool wantsTableauColumn() const override;
    void setUsefulInformation(const int *info, int where) override;
    void clearArrays() override;
    void getAreas(int rows, int columns, int most_lower, int most_upper) override;
    void preProcess() override;
    int factor() override;
    void postProcess(const int *sequence, int *pivot_variable) override;
    void makeNonSingular(int *sequence, int columns) override;
    int replaceColumn(CoinIndexedVector *column, int position, double pivot, bool check_first,
                      double acceptable) override;
    int updateColumnFT(CoinIndexedVector *work, CoinIndexedVector *column, bool no_permute) override;
    int updateColumn(CoinIndexedVector *work, CoinIndexedVector *column, bool no_permute) const override;
    int updateTwoColumnsFT(CoinIndexedVector *work, CoinIndexedVector *entering, CoinIndexedVector *other,
                           bool no_permute) override;
    int updateColumnTranspose(CoinIndexedVector *work, CoinIndexedVector *row) const override;

    struct Shared;

  private:
    struct Body;
    std::shared_ptr<Shared> shared_; /* by all copies: the context and the figures */
    std::unique_ptr<Body> body_;
    void ftran(CoinIndexedVector *column, bool enters) const;
    void give_to_other();
};

#endif /* EXAMPLES_HOSTS_CLP_FACTORIZATION_HPP */
