/* SPDX-License-Identifier: MIT
 *
 * Dives for HiGHS by its callback for solutions of the user. HiGHS needs no patch.
 *
 *     HighsDives dives("cpu");
 *     Highs highs;
 *     highs.readModel("model.mps");
 *     dives.attach(highs);
 *     highs.run();
 *
 * A dive starts at the LP of the model, rounds columns, propagates, and solves the LP again until every integer column
 * has an integer value. A rounding that turns out infeasible is turned once. HiGHS checks what a dive proposes.
 */
#ifndef EXAMPLES_HOSTS_HIGHS_DIVES_HPP
#define EXAMPLES_HOSTS_HIGHS_DIVES_HPP

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "Highs.h"
#include "gpuopt.h"
#include "gpuopt/search.h"

class HighsDives {
  public:
    /* backend: "cpu", with so many threads, or "cuda". share: of the solving time that dives may take. */
    explicit HighsDives(const char *backend, int threads = 1, double share = 0.1);
    ~HighsDives();
    HighsDives(const HighsDives &) = delete;
    HighsDives &operator=(const HighsDives &) = delete;

    /* Must be done after the model was read, and must outlive run(). Replaces the callback. */
    void attach(Highs &highs);
    /* Prints one line of figures: dives, solutions, iterations, seconds. */
    void print(std::FILE *file) const;
    bool failed() const { return failed_; }

  private:
    enum Rule { NEAREST, UP, DOWN, RULES };
    bool open(const HighsLp &lp);
    bool check(gpuopt_status status, const char *what);
    bool try_bounds(int count, const int32_t *col, const double *lb, const double *ub, bool *feasible);
    bool solve(bool *feasible);
    bool round_some(Rule rule, bool *feasible);
    bool dive(Rule rule, double cutoff, std::vector<double> *solution);

    std::string backend_;
    int threads_;
    double share_;
    bool opened_ = false, failed_ = false;
    gpuopt_context *context_ = nullptr;
    gpuopt_simplex *simplex_ = nullptr;
    gpuopt_propagator *propagator_ = nullptr;
    std::vector<uint8_t> integer_, root_basis_;
    std::vector<double> x_, lb_, ub_, root_lb_, root_ub_;
    int levels_ = 0, next_ = 0;
    double last_cutoff_ = 0;
    std::chrono::steady_clock::time_point start_;
    double spent_ = 0;
    long dives_ = 0, solutions_ = 0, programs_ = 0;
    int64_t iterations_ = 0;
};

#endif /* EXAMPLES_HOSTS_HIGHS_DIVES_HPP */
