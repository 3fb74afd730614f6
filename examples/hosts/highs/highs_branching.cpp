/* SPDX-License-Identifier: MIT
 *
 * See highs_branching.hpp.
 */
#include "examples/hosts/highs/highs_branching.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "gpuopt.h"

static void warn(void *, const char *message) { std::fprintf(stderr, "%s\n", message); }

HighsBranching::HighsBranching(const char *backend, int threads, int iterations)
    : lp_(node_lp_open(backend, threads, warn, nullptr)), iterations_(iterations) {}

HighsBranching::~HighsBranching() {
    HighsSearch::branchFunction = nullptr;
    node_lp_close(lp_);
}

bool HighsBranching::failed() const { return !lp_ || node_lp_failed(lp_); }

void HighsBranching::attach() {
    HighsSearch::branchFunction = [this](const Highs &lp, const std::vector<std::pair<HighsInt, double>> &candidates,
                                         double cutoff, std::vector<HighsBranchChild> &child) {
        return branch(lp, candidates, cutoff, child);
    };
}

static uint8_t status_of(HighsBasisStatus status, double lower) {
    return status == HighsBasisStatus::kBasic                         ? GPUOPT_VARIABLE_BASIC
           : status == HighsBasisStatus::kUpper                       ? GPUOPT_VARIABLE_AT_UPPER
           : status == HighsBasisStatus::kZero                        ? GPUOPT_VARIABLE_AT_ZERO
           : status == HighsBasisStatus::kLower || lower > -kHighsInf ? GPUOPT_VARIABLE_AT_LOWER
                                                                      : GPUOPT_VARIABLE_AT_UPPER;
}

/* The LP of the node, with its cuts. HiGHS moves rows when it deletes some, so a row is known by its entries. */
bool HighsBranching::give_lp(const Highs &highs) {
    const HighsLp &lp = highs.getLp();
    const HighsBasis &basis = highs.getBasis();
    const HighsSparseMatrix &a = lp.a_matrix_;
    const int cols = lp.num_col_, rows = lp.num_row_;
    std::map<uint64_t, int> seen;
    if (!basis.valid || static_cast<int>(basis.row_status.size()) != rows) return false;
    status_.resize(cols);
    for (int j = 0; j < cols; j++) status_[j] = status_of(basis.col_status[j], lp.col_lower_[j]);
    node_lp_columns(lp_, cols, lp.col_cost_.data(), lp.col_lower_.data(), lp.col_upper_.data(), status_.data());
    if (a.isRowwise()) {
        start_.assign(a.start_.begin(), a.start_.begin() + rows + 1);
        index_.assign(a.index_.begin(), a.index_.begin() + start_[rows]);
        value_.assign(a.value_.begin(), a.value_.begin() + start_[rows]);
    } else {
        std::vector<int> next(rows + 1, 0);
        for (int k = 0; k < a.start_[cols]; k++) next[a.index_[k] + 1]++;
        for (int i = 0; i < rows; i++) next[i + 1] += next[i];
        start_ = next;
        index_.resize(start_[rows]);
        value_.resize(start_[rows]);
        for (int j = 0; j < cols; j++)
            for (int k = a.start_[j]; k < a.start_[j + 1]; k++) {
                const int at = next[a.index_[k]]++;
                index_[at] = j;
                value_[at] = a.value_[k];
            }
    }
    for (int i = 0; i < rows; i++) {
        const int first = start_[i], count = start_[i + 1] - first;
        uint64_t hash = 14695981039346656037u, bits;
        for (int k = first; k < first + count; k++) {
            std::memcpy(&bits, &value_[k], sizeof bits);
            hash = (hash ^ bits ^ static_cast<uint64_t>(index_[k]) << 40) * 1099511628211u;
        }
        const std::pair<uint64_t, int> key(hash, seen[hash]++);
        const int id = ids_.emplace(key, static_cast<int>(ids_.size())).first->second;
        node_lp_row(lp_, id, count, index_.data() + first, value_.data() + first, lp.row_lower_[i], lp.row_upper_[i],
                    status_of(basis.row_status[i], lp.row_lower_[i]));
    }
    return true;
}

bool HighsBranching::branch(const Highs &highs, const std::vector<std::pair<HighsInt, double>> &candidates,
                            double cutoff, std::vector<HighsBranchChild> &child) {
    std::unique_lock<std::mutex> lock(busy_, std::try_to_lock);
    if (!lock || failed() || highs.getLp().num_row_ == 0 || !give_lp(highs)) return false;
    const int count = static_cast<int>(candidates.size());
    std::vector<int> col(count);
    std::vector<double> value(count);
    std::vector<node_child> found(2 * count);
    for (int k = 0; k < count; k++) {
        col[k] = candidates[k].first;
        value[k] = candidates[k].second;
    }
    if (node_lp_branch(lp_, count, col.data(), value.data(), cutoff, iterations_, found.data())) return false;
    for (int k = 0; k < 2 * count; k++) {
        child[k].infeasible = found[k].infeasible != 0;
        child[k].bound = found[k].bound;
    }
    return true;
}

void HighsBranching::print(std::FILE *file) const {
    const node_lp_times none = {}, *t = lp_ ? node_lp_cost(lp_) : &none;
    std::fprintf(file,
                 "gpuopt: %lld calls, %lld children, %lld iterations, %lld handles, %lld rows added, %lld removed, "
                 "%.3f s update, %.3f s children%s\n",
                 static_cast<long long>(t->calls), static_cast<long long>(t->children),
                 static_cast<long long>(t->iterations), static_cast<long long>(t->handles),
                 static_cast<long long>(t->rows_added), static_cast<long long>(t->rows_removed), t->update, t->branch,
                 failed() ? ", failed" : "");
}
