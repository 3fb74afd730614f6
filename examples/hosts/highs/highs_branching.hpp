/* SPDX-License-Identifier: MIT
 *
 * Strong branching in HiGHS: the candidates of a node in one batch, by gpuopt on a GPU or on the cores. HiGHS needs
 * strong_branching.patch (README.md).
 *
 *     HighsBranching branching("cuda");
 *     branching.attach();
 *     Highs highs;
 *     highs.readModel("model.mps");
 *     highs.run();
 *
 * HiGHS asks for the columns whose pseudo-costs are not reliable yet, as it does for its own strong branching, and not
 * in the searches inside its heuristics. With a lost GPU or without memory, one warning appears on stderr, and HiGHS
 * goes on with its own rule.
 */
#ifndef EXAMPLES_HOSTS_HIGHS_BRANCHING_HPP
#define EXAMPLES_HOSTS_HIGHS_BRANCHING_HPP

#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "Highs.h"
#include "mip/HighsSearch.h"

extern "C" {
#include "examples/hosts/node_lp.h"
}

class HighsBranching {
  public:
    /* backend: "cpu", with so many threads, or "cuda". iterations: most of each child. */
    explicit HighsBranching(const char *backend, int threads = 1, int iterations = 100);
    ~HighsBranching();
    HighsBranching(const HighsBranching &) = delete;
    HighsBranching &operator=(const HighsBranching &) = delete;

    /* From now on until the end of this object it branches for every search in the process. */
    void attach();
    /* Prints one line of figures: calls, children, rows changed, seconds. */
    void print(std::FILE *file) const;
    bool failed() const;

  private:
    bool branch(const Highs &highs, const std::vector<std::pair<HighsInt, double>> &candidates, double cutoff,
                std::vector<HighsBranchChild> &child);
    bool give_lp(const Highs &highs);

    std::mutex busy_; /* HiGHS may search with several threads: those that find it locked use its own rule */
    node_lp *lp_;
    int iterations_;
    std::vector<uint8_t> status_;
    std::vector<int> start_, index_;
    std::vector<double> value_;
    std::map<std::pair<uint64_t, int>, int> ids_; /* of rows: a hash of the entries, and which of equal ones */
};

#endif /* EXAMPLES_HOSTS_HIGHS_BRANCHING_HPP */
