/* SPDX-License-Identifier: MIT
 *
 * A rule for Cbc that chooses the variable to branch on: strong branching of a node's candidates in one batch, by
 * gpuopt on a GPU or on the cores.
 *
 *     GpuoptChoose choose(model.solver(), {"cuda"});
 *     CbcBranchDefaultDecision decision;
 *     decision.setChooseMethod(choose);             // a copy
 *     model.setBranchingMethod(decision);           // and another one
 *     model.branchAndBound();
 *     choose.figures().print(stdout);               // of all copies together
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

#include "OsiChooseVariable.hpp"

struct GpuoptChooseSettings {
    std::string backend = "cpu"; /* or cuda */
    int threads = 1;             /* of the cpu */
    int iterations = 100;        /* most iterations of a child */
    double share = 0.5;          /* of the time since the first call that the rule may take */
    int own = 5;                 /* candidates of Cbc's own rule, where it decides */
    long lose_after = -1;        /* for tests: the device counts as lost after that many calls; -1: never */
};

class GpuoptChoose : public OsiChooseStrong {
  public:
    /* What all copies have done. */
    struct Figures {
        int64_t calls = 0, children = 0, iterations = 0, handles = 0, rows_added = 0, rows_removed = 0;
        int64_t cut_off = 0, tightened = 0, branched = 0; /* nodes */
        int64_t own = 0;                                  /* nodes at which Cbc's own rule decided */
        double update = 0, branch = 0;                    /* seconds: keeping the handle in step, and the children */
        bool failed = false;
        void print(std::FILE *file) const;
    };

    GpuoptChoose(const OsiSolverInterface *solver, const GpuoptChooseSettings &settings);
    GpuoptChoose(const GpuoptChoose &original);
    GpuoptChoose &operator=(const GpuoptChoose &) = delete;
    ~GpuoptChoose() override;
    OsiChooseVariable *clone() const override;
    int chooseVariable(OsiSolverInterface *solver, OsiBranchingInformation *info, bool fix) override;
    /* Of the copies that no longer exist, and of this one. */
    Figures figures() const;

  private:
    struct Shared;
    struct Own;
    std::shared_ptr<Shared> shared_;
    std::unique_ptr<Own> own_; /* this copy's */
    int own_rule(OsiSolverInterface *solver, OsiBranchingInformation *info, bool fix);
    int affordable(int candidates);
    bool choose(const OsiSolverInterface *solver, const OsiBranchingInformation *info);
    bool reliable(int object) const;
    double give_lp(const OsiSolverInterface *solver, const OsiBranchingInformation *info);
    int use(OsiSolverInterface *solver, const OsiBranchingInformation *info, bool fix);
    int tighten(OsiSolverInterface *solver, bool fix);
    void close();
};

#endif /* EXAMPLES_HOSTS_CBC_BRANCHING_HPP */
