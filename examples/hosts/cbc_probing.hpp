/* SPDX-License-Identifier: MIT
 *
 * A cut generator for Cbc that probes all binaries of the root at once: gpuopt sets each to 0 and to 1, propagates, and
 * finds bounds that hold in every solution.
 *
 *     GpuoptProbing probing("cuda");
 *     model.addCutGenerator(&probing, -99, "gpuopt");   // a copy; at the root only
 *
 * If the GPU is missing or lost, or memory does not suffice, it makes no cuts, and one line on stderr says so.
 */
#ifndef EXAMPLES_HOSTS_CBC_PROBING_HPP
#define EXAMPLES_HOSTS_CBC_PROBING_HPP

#include <cstdio>
#include <memory>
#include <string>

#include "CglCutGenerator.hpp"

class GpuoptProbing : public CglCutGenerator {
  public:
    /* What all copies have done. */
    struct Figures {
        long probed = 0, infeasible = 0, tightened = 0, cuts = 0;
        double seconds = 0;
        void print(std::FILE *file) const;
    };

    explicit GpuoptProbing(const std::string &backend, int threads = 1);
    CglCutGenerator *clone() const override;
    void generateCuts(const OsiSolverInterface &solver, OsiCuts &cuts, const CglTreeInfo info) override;
    bool mayGenerateRowCutsInTree() const override { return false; }
    bool needsOptimalBasis() const override { return false; }
    const Figures &figures() const;

  private:
    struct Shared;
    std::shared_ptr<Shared> shared_;
};

#endif /* EXAMPLES_HOSTS_CBC_PROBING_HPP */
