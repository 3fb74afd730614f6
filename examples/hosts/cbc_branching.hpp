/* SPDX-License-Identifier: MIT
 *
 * Strong branching for Cbc: the candidates of a node in one batch, by gpuopt on a GPU or on the cores.
 *
 *     GpuoptStrong strong({"cuda"});
 *     model.setProblemFeasibility(strong);          // a copy
 *     model.branchAndBound();
 *     strong.figures().print(stdout);               // of all copies together
 *
 * Cbc asks CbcFeasibilityBase whether a node is feasible, right before its own rule chooses a variable. The plug-in
 * solves the children there. It cuts the node off or fixes variables, feeds Cbc's pseudo-costs, and marks the best
 * variable, which Cbc's rule then takes. All else of Cbc stays as it is.
 *
 * Each copy opens a context of its own when it is first used, so Cbc may have several threads. If the GPU is missing or
 * lost, or memory does not suffice, Cbc's own rule goes on, and one line on stderr says so.
 */
#ifndef EXAMPLES_HOSTS_CBC_BRANCHING_HPP
#define EXAMPLES_HOSTS_CBC_BRANCHING_HPP

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "CbcFeasibilityBase.hpp"

class CbcModel;
class OsiSolverInterface;

struct GpuoptStrongSettings {
    std::string backend = "cpu"; /* or cuda */
    int threads = 1;             /* of the cpu */
    int iterations = 100;        /* most iterations of a child */
    double share = 0.02;         /* of the time, which calls may always take; 1: all candidates of all nodes */
    double worth = 3;            /* the most that a call may cost beyond that, in nodes; see node_budget.h */
    bool trust = false;          /* branch by pseudo-costs where all are reliable and a call does not pay */
    long lose_after = -1;        /* for tests: the device counts as lost after that many calls; -1: never */
};

class GpuoptStrong : public CbcFeasibilityBase {
  public:
    /* What all copies have done. */
    struct Figures {
        int64_t calls = 0, children = 0, iterations = 0, handles = 0, rows_added = 0, rows_removed = 0;
        int64_t cut_off = 0, tightened = 0, branched = 0; /* nodes; tightened: calls that fixed variables */
        int64_t trusted = 0;                              /* nodes at which reliable pseudo-costs decided */
        int64_t own = 0;                                  /* nodes at which Cbc's own rule decided */
        double update = 0, branch = 0;                    /* seconds: keeping the handle in step, and the children */
        bool failed = false;
        void print(std::FILE *file) const;
    };

    explicit GpuoptStrong(const GpuoptStrongSettings &settings);
    GpuoptStrong(const GpuoptStrong &original);
    GpuoptStrong &operator=(const GpuoptStrong &) = delete;
    ~GpuoptStrong() override;
    CbcFeasibilityBase *clone() const override;
    int feasible(CbcModel *model, int mode) override;
    /* Of the copies that no longer exist, and of this one. */
    Figures figures() const;

  private:
    struct Shared;
    struct Own;
    std::shared_ptr<Shared> shared_;
    std::unique_ptr<Own> own_; /* this copy's */
    int find_candidates(CbcModel *model);
    double give_lp(const OsiSolverInterface *solver);
    int solve(CbcModel *model, int most);
    void learn(CbcModel *model, int solved);
    int tighten(CbcModel *model, int solved);
    void mark(int solved);
    int strong(CbcModel *model);
    void close();
};

#endif /* EXAMPLES_HOSTS_CBC_BRANCHING_HPP */
