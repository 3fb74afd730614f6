/* SPDX-License-Identifier: MIT
 *
 * CLP with its own factorisation or with gpuopt's, to compare the two. See clp_factorization.hpp.
 */
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "ClpFactorization.hpp"
#include "ClpSimplex.hpp"
#include "ClpSolve.hpp"

#include "examples/hosts/clp_factorization.hpp"
#include "examples/hosts/coin_model.hpp"

static const char usage[] =
    "usage: clp_solve MODEL alone|cpu|cuda [dual|primal|auto] [threads=N] [lose-after=N] [seconds=N]\n"
    "  MODEL       as for examples/solve_lp\n"
    "  alone       CLP's own factorisation; cpu, cuda: gpuopt's\n"
    "  auto        CLP's choice, with its presolve; alone only\n"
    "  lose-after  the device counts as lost after that many calls\n";

static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main(int argc, char **argv) {
    ClpSimplex model;
    const char *method = "dual";
    int threads = 1;
    long lose_after = -1;
    double seconds = 0, start;
    if (argc < 3) return std::fputs(usage, stderr), 2;
    for (int k = 3; k < argc; k++) {
        if (std::strncmp(argv[k], "threads=", 8) == 0) threads = std::atoi(argv[k] + 8);
        else if (std::strncmp(argv[k], "lose-after=", 11) == 0) lose_after = std::atol(argv[k] + 11);
        else if (std::strncmp(argv[k], "seconds=", 8) == 0) seconds = std::atof(argv[k] + 8);
        else method = argv[k];
    }
    bool alone = std::strcmp(argv[2], "alone") == 0;
    model.setLogLevel(0);
    mip source = load_model(argv[1], [&](const CoinPackedMatrix &matrix, const double *lb, const double *ub,
                                         const double *cost, const double *lhs,
                                         const double *rhs) { model.loadProblem(matrix, lb, ub, cost, lhs, rhs); });
    if (!source.columns.start) return 2;
    model.setObjectiveOffset(-source.offset);
    if (source.maximize) model.setOptimizationDirection(-1);
    if (seconds > 0) model.setMaximumSeconds(seconds);
    GpuoptFactorization basis(alone ? "cpu" : argv[2], threads, lose_after);
    if (!alone) {
        ClpFactorization factorization(basis);
        model.setFactorization(factorization);
    }
    start = now();
    if (std::strcmp(method, "auto") == 0) model.initialSolve();
    else if (std::strcmp(method, "primal") == 0) model.primal();
    else model.dual();
    std::printf("%s %s %s: status %d objective %.12g iterations %d seconds %.3f\n", argv[1], argv[2], method,
                model.status(), model.objectiveValue(), model.numberIterations(), now() - start);
    if (!alone) basis.figures().print(stdout);
    mip_free(&source);
    return model.status() == 0 ? 0 : 3;
}
