/* SPDX-License-Identifier: MIT
 *
 * Cbc with or without the rule of cbc_branching.hpp and the probing of cbc_probing.hpp, to compare them: presolve, the
 * cuts and heuristics of Cbc's command line, branch and bound.
 */
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "CbcBranchDefaultDecision.hpp"
#include "CbcHeuristic.hpp"
#include "CbcHeuristicFPump.hpp"
#include "CbcHeuristicGreedy.hpp"
#include "CbcHeuristicRINS.hpp"
#include "CbcModel.hpp"
#include "CbcSolver.hpp"
#include "CglClique.hpp"
#include "CglFlowCover.hpp"
#include "CglGomory.hpp"
#include "CglKnapsackCover.hpp"
#include "CglMixedIntegerRounding2.hpp"
#include "CglPreProcess.hpp"
#include "CglProbing.hpp"
#include "CglTwomir.hpp"
#include "OsiChooseVariable.hpp"
#include "OsiClpSolverInterface.hpp"

#include "examples/hosts/cbc_branching.hpp"
#include "examples/hosts/cbc_probing.hpp"
#include "examples/hosts/coin_model.hpp"

static const char usage[] =
    "usage: cbc_solve MODEL command|alone|osi|cpu|cuda [NAME=VALUE ...]\n"
    "  MODEL          as for examples/solve_mip\n"
    "  command        all that Cbc's command line does; the others: presolve, its cuts, and some of its heuristics\n"
    "  alone          Cbc's default rule: pseudo-costs, and strong branching where they are not reliable\n"
    "  osi            Cbc's OsiChooseStrong\n"
    "  cpu, cuda      gpuopt's strong branching\n"
    "  seconds=N      time limit\n"
    "  seed=N         of Cbc, and of the order of the columns; 0: as they are\n"
    "  cbc-threads=N  of Cbc\n"
    "  presolve=0     without presolve\n"
    "  probing=1      gpuopt probes the root, too\n"
    "  threads=N iterations=N share=X worth=X trust=0 lose-after=N: see cbc_branching.hpp\n"
    "After \"strong\": candidates, iterations and seconds of strong branching; the seconds are those of Cbc's own.\n";

struct Options {
    GpuoptStrongSettings rule;
    double seconds = 1e9;
    int seed = -1, cbc_threads = 0;
    bool presolve = true, probing = false;
};

static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* CLP, with the time that Cbc's own strong branching takes, of all threads together. */
class TimedSolver : public OsiClpSolverInterface {
  public:
    static std::atomic<long> microseconds;
    TimedSolver() = default;
    TimedSolver(const TimedSolver &) = default;
    OsiSolverInterface *clone(bool with_data) const override {
        return with_data ? new TimedSolver(*this) : new TimedSolver();
    }
    void markHotStart() override {
        timed([&] { OsiClpSolverInterface::markHotStart(); });
    }
    void solveFromHotStart() override {
        timed([&] { OsiClpSolverInterface::solveFromHotStart(); });
    }
    void unmarkHotStart() override {
        timed([&] { OsiClpSolverInterface::unmarkHotStart(); });
    }

  private:
    template <class Work>
    static void timed(Work work) {
        double start = now();
        work();
        microseconds += (long)(1e6 * (now() - start));
    }
};
std::atomic<long> TimedSolver::microseconds;

/* Takes an option; false: there is no such option. */
static bool take(const char *word, Options *o) {
    const char *value = std::strchr(word, '=');
    auto is = [&](const char *name) {
        return value && std::strlen(name) == (size_t)(value - word) && std::strncmp(word, name, value - word) == 0;
    };
    if (is("seconds")) o->seconds = std::atof(value + 1);
    else if (is("seed")) o->seed = std::atoi(value + 1);
    else if (is("cbc-threads")) o->cbc_threads = std::atoi(value + 1);
    else if (is("presolve")) o->presolve = value[1] != '0';
    else if (is("probing")) o->probing = value[1] == '1';
    else if (is("threads")) o->rule.threads = std::atoi(value + 1);
    else if (is("iterations")) o->rule.iterations = std::atoi(value + 1);
    else if (is("share")) o->rule.share = std::atof(value + 1);
    else if (is("worth")) o->rule.worth = std::atof(value + 1);
    else if (is("trust")) o->rule.trust = value[1] == '1';
    else if (is("lose-after")) o->rule.lose_after = std::atol(value + 1);
    else return false;
    return true;
}

/* Cbc's cuts and heuristics; all arguments are copied. */
static void set_up(CbcModel &model) {
    CglProbing probing;
    CglGomory gomory;
    CglKnapsackCover knapsack;
    CglClique clique;
    CglFlowCover flow;
    CglMixedIntegerRounding2 rounding(1, true, 1);
    CglTwomir twomir;
    probing.setUsingObjective(1);
    probing.setMaxPass(1);
    probing.setMaxPassRoot(1);
    probing.setMaxProbe(10);
    probing.setMaxProbeRoot(50);
    probing.setMaxLook(10);
    probing.setMaxLookRoot(50);
    probing.setMaxElements(200);
    probing.setMaxElementsRoot(300);
    probing.setRowCuts(3);
    gomory.setLimit(50);
    gomory.setLimitAtRoot(512);
    clique.setStarCliqueReport(false);
    clique.setRowCliqueReport(false);
    twomir.setMaxElements(250);
    model.addCutGenerator(&probing, -98, "Probing");
    model.addCutGenerator(&gomory, -98, "Gomory");
    model.addCutGenerator(&knapsack, -98, "Knapsack");
    model.addCutGenerator(&clique, -98, "Clique");
    model.addCutGenerator(&rounding, -98, "Rounding");
    model.addCutGenerator(&flow, -98, "FlowCover");
    model.addCutGenerator(&twomir, -99, "TwoMir");
    CbcRounding simple(model);
    CbcHeuristicFPump pump(model, .5, false);
    CbcHeuristicGreedyCover greedy(model);
    CbcHeuristicRINS rins(model);
    pump.setMaximumPasses(30);
    model.addHeuristic(&simple);
    model.addHeuristic(&pump);
    model.addHeuristic(&greedy);
    model.addHeuristic(&rins);
    model.setMaximumCutPassesAtRoot(-100);
    model.setMaximumCutPasses(10);
    model.setSpecialOptions(model.specialOptions() | 2);
    model.setFastNodeDepth(-1);
    model.setNumberStrong(5);
    model.setNumberBeforeTrust(10);
}

static void print(const CbcModel &model, const char *name, const char *rule, double seconds) {
    std::printf("%s %s: status %d %d primal %.12g dual %.12g nodes %d iterations %d strong %d %d %.3f seconds %.3f\n",
                name, rule, model.status(), model.secondaryStatus(), model.getObjValue(),
                model.getBestPossibleObjValue(), model.getNodeCount(), model.getIterationCount(), model.strongInfo()[0],
                model.numberStrongIterations(), 1e-6 * (double)TimedSolver::microseconds, seconds);
}

static int by_command(OsiClpSolverInterface &solver, const char *name, const Options &o) {
    CbcModel model(solver);
    double start = now();
    char seconds[32], seed[32], threads[32];
    std::snprintf(seconds, sizeof seconds, "%g", o.seconds);
    std::snprintf(seed, sizeof seed, "%d", o.seed);
    std::snprintf(threads, sizeof threads, "%d", o.cbc_threads);
    const char *words[] = {"cbc", "-log",     "0",     "-timeMode", "elapsed", "-seconds", seconds, "-randomCbcSeed",
                           seed,  "-threads", threads, "-solve",    "-quit"};
    CbcMain0(model);
    CbcMain1((int)(sizeof words / sizeof *words), words, model);
    print(model, name, "command", now() - start);
    return model.isProvenInfeasible() ? 1 : 0;
}

static int solve(OsiClpSolverInterface &solver, const char *name, const char *rule, const Options &o) {
    CglPreProcess process;
    double start = now();
    std::unique_ptr<GpuoptStrong> strong;
    GpuoptProbing probing(o.rule.backend, o.rule.threads);
    OsiSolverInterface *presolved = &solver;
    process.messageHandler()->setLogLevel(0);
    if (o.presolve) presolved = process.preProcess(solver, false, 5);
    if (!presolved) return std::printf("%s %s: infeasible seconds %.3f\n", name, rule, now() - start), 1;
    presolved->messageHandler()->setLogLevel(0);
    CbcModel model(*presolved);
    model.setLogLevel(0);
    model.setUseElapsedTime(true);
    model.setMaximumSeconds(o.seconds);
    if (o.seed >= 0) model.setRandomSeed(o.seed);
    if (o.cbc_threads > 0) model.setNumberThreads(o.cbc_threads);
    set_up(model);
    if (o.probing) model.addCutGenerator(&probing, -99, "gpuopt");
    model.initialSolve();
    if (std::strcmp(rule, "osi") == 0) {
        OsiChooseStrong choose(model.solver());
        CbcBranchDefaultDecision decision;
        model.findIntegers(true);
        choose.setNumberStrong(5);
        choose.setNumberBeforeTrusted(10);
        decision.setChooseMethod(choose);
        model.setBranchingMethod(decision);
    } else if (std::strcmp(rule, "alone") != 0) {
        strong.reset(new GpuoptStrong(o.rule));
        model.setProblemFeasibility(*strong);
    }
    model.branchAndBound();
    print(model, name, rule, now() - start);
    CbcFeasibilityBase plain;
    model.setProblemFeasibility(plain); /* the copies of `strong` end, and add their figures */
    if (strong) strong->figures().print(stdout);
    if (o.probing) probing.figures().print(stdout);
    return model.isProvenInfeasible() ? 1 : 0;
}

/* The columns in an order that depends on the seed, because Cbc's tree hardly depends on its own. */
static std::vector<int> in_order(int cols, int seed) {
    std::vector<int> order((size_t)cols);
    std::mt19937 random((unsigned)seed);
    std::iota(order.begin(), order.end(), 0);
    for (size_t k = order.size(); seed > 0 && k > 1; k--) std::swap(order[k - 1], order[random() % k]);
    return order;
}

int main(int argc, char **argv) {
    TimedSolver solver;
    Options o;
    int result;
    if (argc < 3) return std::fputs(usage, stderr), 2;
    for (int k = 3; k < argc; k++)
        if (!take(argv[k], &o)) return std::fputs(usage, stderr), 2;
    o.rule.backend = std::strcmp(argv[2], "cuda") == 0 ? "cuda" : "cpu";
    solver.messageHandler()->setLogLevel(0);
    std::vector<int> order;
    auto load = [&](const CoinPackedMatrix &matrix, const double *lb, const double *ub, const double *cost,
                    const double *lhs, const double *rhs) {
        std::vector<double> part[3];
        CoinPackedMatrix columns(true, 0, 0);
        columns.setDimensions(matrix.getNumRows(), 0);
        order = in_order(matrix.getNumCols(), o.seed);
        for (int j : order) columns.appendCol(matrix.getVector(j));
        for (int j : order) part[0].push_back(lb[j]), part[1].push_back(ub[j]), part[2].push_back(cost[j]);
        solver.loadProblem(columns, part[0].data(), part[1].data(), part[2].data(), lhs, rhs);
    };
    mip source = load_model(argv[1], load);
    if (!source.columns.start) return 2;
    solver.setDblParam(OsiObjOffset, -source.offset);
    if (source.maximize) solver.setObjSense(-1);
    for (int j = 0; j < source.columns.cols; j++)
        if (source.integer && source.integer[order[j]]) solver.setInteger(j);
    solver.setHintParam(OsiDoReducePrint, true, OsiHintTry);
    result = std::strcmp(argv[2], "command") == 0 ? by_command(solver, argv[1], o) : solve(solver, argv[1], argv[2], o);
    mip_free(&source);
    return result;
}
