/* SPDX-License-Identifier: MIT
 *
 * See cbc_branching.hpp. At a node the rule gives the LP with its cuts, bounds and basis to a handle that lives as long
 * as the tree, and both children of the candidates to one batch. What comes back is used in four ways: a node without a
 * feasible child is cut off, an infeasible side tightens a bound, gains feed the pseudo-costs, and the best product of
 * gains branches.
 *
 * How many candidates: all while the rule has taken less than its share of the time; otherwise those whose pseudo-costs
 * come from few observations, up to what the share allows; if there are none, Cbc's own rule decides. Where that has
 * taken less time for a candidate, the share is smaller.
 */
#include "examples/hosts/cbc_branching.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "CoinPackedMatrix.hpp"
#include "CoinWarmStartBasis.hpp"
#include "OsiBranchingObject.hpp"
#include "OsiSolverInterface.hpp"

#include "gpuopt.h"

extern "C" {
#include "examples/hosts/node_lp.h"
}

enum { MOST = 1000, FEWEST = 4, RELIABLE = 8, FEWEST_ITERATIONS = 20, FEWEST_OBSERVED = 50 };
static const double LEAST_GAIN = 1e-6;

static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* Of all copies. */
struct GpuoptChoose::Shared {
    GpuoptChooseSettings settings;
    std::mutex mutex; /* of the following */
    Figures figures;  /* of copies that no longer exist */
    bool failed = false;
    long calls = 0;
    bool ok() {
        std::lock_guard<std::mutex> lock(mutex);
        return !failed;
    }
    void fail(const char *message) {
        std::lock_guard<std::mutex> lock(mutex);
        if (!failed) std::fprintf(stderr, "%s\n", message);
        failed = true;
    }
    bool lost() {
        std::lock_guard<std::mutex> lock(mutex);
        return calls++ == settings.lose_after;
    }
    static void warn(void *shared, const char *message) { static_cast<Shared *>(shared)->fail(message); }
};

/* A candidate, and what strong branching found. */
struct Candidate {
    int object, col;
    double value;
};

struct GpuoptChoose::Own {
    node_lp *lp = nullptr;
    double start = 0; /* of the first call */
    int iterations = 0;
    double rule_seconds = 0; /* of Cbc's own rule, and its candidates */
    long rule_candidates = 0;
    Figures figures; /* without those of lp */
    std::vector<double> cost, lb, ub, value;
    std::vector<uint8_t> status;
    std::vector<Candidate> candidate;
    std::vector<int> col;
    std::vector<node_child> child;
    std::unordered_map<uint64_t, int> id; /* of rows, by their entries */
    std::vector<int> used;                /* by id: the latest node that has the row */
    int node = 0;
};

static void add(GpuoptChoose::Figures *sum, const GpuoptChoose::Figures &f) {
    sum->calls += f.calls, sum->children += f.children, sum->iterations += f.iterations, sum->handles += f.handles;
    sum->rows_added += f.rows_added, sum->rows_removed += f.rows_removed;
    sum->cut_off += f.cut_off, sum->tightened += f.tightened, sum->branched += f.branched, sum->own += f.own;
    sum->update += f.update, sum->branch += f.branch;
}

static GpuoptChoose::Figures with_times(GpuoptChoose::Figures f, const node_lp *lp) {
    if (!lp) return f;
    const node_lp_times *t = node_lp_cost(lp);
    f.calls += t->calls, f.children += t->children, f.iterations += t->iterations, f.handles += t->handles;
    f.rows_added += t->rows_added, f.rows_removed += t->rows_removed;
    f.update += t->update, f.branch += t->branch;
    return f;
}

void GpuoptChoose::Figures::print(std::FILE *file) const {
    std::fprintf(file,
                 "gpuopt: %lld calls, %lld children, %lld iterations, %lld handles, %lld rows added, %lld removed, ",
                 (long long)calls, (long long)children, (long long)iterations, (long long)handles,
                 (long long)rows_added, (long long)rows_removed);
    std::fprintf(file,
                 "%.3f s update, %.3f s children, %lld cut off, %lld tightened, %lld branched, %lld left to Cbc%s\n",
                 update, branch, (long long)cut_off, (long long)tightened, (long long)branched, (long long)own,
                 failed ? ", failed" : "");
}

GpuoptChoose::GpuoptChoose(const OsiSolverInterface *solver, const GpuoptChooseSettings &settings)
    : OsiChooseStrong(solver), shared_(std::make_shared<Shared>()), own_(new Own) {
    shared_->settings = settings;
    setNumberStrong(MOST);
    setNumberBeforeTrusted(RELIABLE);
}

GpuoptChoose::GpuoptChoose(const GpuoptChoose &original)
    : OsiChooseStrong(original), shared_(original.shared_), own_(new Own) {}

GpuoptChoose::~GpuoptChoose() {
    close();
    std::lock_guard<std::mutex> lock(shared_->mutex);
    add(&shared_->figures, own_->figures);
}

OsiChooseVariable *GpuoptChoose::clone() const { return new GpuoptChoose(*this); }

GpuoptChoose::Figures GpuoptChoose::figures() const {
    std::lock_guard<std::mutex> lock(shared_->mutex);
    Figures sum = shared_->figures;
    add(&sum, with_times(own_->figures, own_->lp));
    sum.failed = shared_->failed;
    return sum;
}

void GpuoptChoose::close() {
    own_->figures = with_times(own_->figures, own_->lp);
    node_lp_close(own_->lp);
    own_->lp = nullptr;
}

/* ---- Which candidates ---- */

/* How many candidates the rule may afford now. */
int GpuoptChoose::affordable(int candidates) {
    Own &o = *own_;
    Figures f = with_times(o.figures, o.lp);
    double left, per_candidate, share = shared_->settings.share;
    if (f.calls == 0) return candidates;
    per_candidate = 2 * f.branch / (double)f.children;
    if (o.rule_candidates >= FEWEST_OBSERVED) /* less, if Cbc's own strong branching is cheaper */
        share *=
            std::fmin(1, o.rule_seconds / (double)o.rule_candidates / (2 * (f.update + f.branch) / (double)f.children));
    left = share * (now() - o.start) + 0.5 - f.update - f.branch - f.update / (double)f.calls;
    return left <= 0 ? 0 : left > per_candidate * candidates ? candidates : (int)(left / per_candidate);
}

bool GpuoptChoose::reliable(int object) const {
    return pseudoCosts_.upNumber()[object] >= RELIABLE && pseudoCosts_.downNumber()[object] >= RELIABLE;
}

/* Puts candidates into own_->candidate; false: none. Only columns with an integer value can be given to the batch. */
bool GpuoptChoose::choose(const OsiSolverInterface *solver, const OsiBranchingInformation *info) {
    Own &o = *own_;
    int most = affordable(numberOnList_);
    bool all = most >= numberOnList_;
    o.candidate.clear();
    if (most < FEWEST && !all) return false;
    for (int k = 0; k < numberOnList_ && (int)o.candidate.size() < most; k++) {
        int object = list_[k], col = solver->object(object)->columnNumber();
        if (col < 0 || (!all && reliable(object))) continue;
        double x = info->solution_[col];
        if (std::fabs(x - std::round(x)) > info->integerTolerance_) o.candidate.push_back({object, col, x});
    }
    if (all) o.iterations = std::min(2 * o.iterations, shared_->settings.iterations);
    else o.iterations = std::max(o.iterations / 2, std::min((int)FEWEST_ITERATIONS, shared_->settings.iterations));
    return !o.candidate.empty();
}

/* ---- The node ---- */

static uint8_t nonbasic(bool at_upper, double lower, double upper) {
    if (lower <= -1e20 && upper >= 1e20) return GPUOPT_VARIABLE_AT_ZERO;
    return upper < 1e20 && (at_upper || lower <= -1e20) ? GPUOPT_VARIABLE_AT_UPPER : GPUOPT_VARIABLE_AT_LOWER;
}

/* The same for the same entries in another order. */
static uint64_t key_of(int count, const int *index, const double *value) {
    uint64_t key = (uint64_t)count, bits;
    for (int k = 0; k < count; k++) {
        std::memcpy(&bits, &value[k], sizeof bits);
        bits = (bits ^ (uint64_t)(uint32_t)index[k] * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
        key += bits ^ bits >> 29;
    }
    return key;
}

/* Gives the node's LP to the handle. Returns the objective of its solution without Cbc's constant. A row's number comes
 * from its entries, since cuts have other places at each node. */
double GpuoptChoose::give_lp(const OsiSolverInterface *solver, const OsiBranchingInformation *info) {
    Own &o = *own_;
    int cols = solver->getNumCols(), rows = solver->getNumRows();
    const double *cost = solver->getObjCoefficients(), *activity = solver->getRowActivity();
    const double *lb = solver->getColLower(), *ub = solver->getColUpper();
    const double *lhs = solver->getRowLower(), *rhs = solver->getRowUpper();
    const CoinPackedMatrix *matrix = solver->getMatrixByRow();
    std::unique_ptr<CoinWarmStart> start(solver->getWarmStart());
    const CoinWarmStartBasis *basis = dynamic_cast<const CoinWarmStartBasis *>(start.get());
    double objective = 0;
    o.cost.resize(cols);
    o.status.resize(cols);
    o.lb.assign(lb, lb + cols);
    o.ub.assign(ub, ub + cols);
    for (int j = 0; j < cols; j++) {
        bool upper = basis && basis->getStructStatus(j) == CoinWarmStartBasis::atUpperBound;
        o.cost[j] = info->direction_ * cost[j];
        o.status[j] = basis && basis->getStructStatus(j) == CoinWarmStartBasis::basic ? (uint8_t)GPUOPT_VARIABLE_BASIC
                                                                                      : nonbasic(upper, lb[j], ub[j]);
        objective += o.cost[j] * info->solution_[j];
    }
    node_lp_columns(o.lp, cols, o.cost.data(), o.lb.data(), o.ub.data(), o.status.data());
    o.node++;
    for (int i = 0; i < rows; i++) {
        int count = matrix->getVectorSize(i), id;
        const int *index = matrix->getIndices() + matrix->getVectorFirst(i);
        const double *value = matrix->getElements() + matrix->getVectorFirst(i);
        bool upper = std::fabs(activity[i] - rhs[i]) < std::fabs(activity[i] - lhs[i]);
        uint64_t key = key_of(count, index, value);
        for (;; key++) { /* the same entries a second time */
            id = o.id.emplace(key, (int)o.id.size()).first->second;
            if (id == (int)o.used.size()) o.used.push_back(0);
            if (o.used[id] != o.node) break;
        }
        o.used[id] = o.node;
        node_lp_row(o.lp, id, count, index, value, lhs[i], rhs[i],
                    basis && basis->getArtifStatus(i) == CoinWarmStartBasis::basic ? (uint8_t)GPUOPT_VARIABLE_BASIC
                                                                                   : nonbasic(upper, lhs[i], rhs[i]));
    }
    return objective;
}

/* ---- What comes back ---- */

/* Applies infeasible sides. Returns how many, or -1 if a candidate has two. */
int GpuoptChoose::tighten(OsiSolverInterface *solver, bool fix) {
    Own &o = *own_;
    int fixed = 0;
    for (size_t q = 0; q < o.candidate.size(); q++)
        if (o.child[2 * q].infeasible && o.child[2 * q + 1].infeasible) return -1;
    for (size_t q = 0; q < o.candidate.size(); q++) {
        const Candidate &c = o.candidate[q];
        for (int side = 0; side < 2; side++) {
            if (!o.child[2 * q + side].infeasible) continue;
            if (firstForcedObjectIndex_ < 0) firstForcedObjectIndex_ = c.object, firstForcedWhichWay_ = 1 - side;
            if (fix && side == 0) solver->setColLower(c.col, std::ceil(c.value));
            if (fix && side == 1) solver->setColUpper(c.col, std::floor(c.value));
            fixed++;
        }
    }
    return fixed;
}

/* Returns what chooseVariable() does. */
int GpuoptChoose::use(OsiSolverInterface *solver, const OsiBranchingInformation *info, bool fix) {
    Own &o = *own_;
    double best = -1;
    int fixed;
    numberStrongDone_ += (int)o.candidate.size();
    for (const node_child &child : o.child) numberStrongIterations_ += child.iterations;
    fixed = tighten(solver, fix);
    if (fixed < 0) return o.figures.cut_off++, -1;
    numberStrongFixed_ += fixed;
    for (size_t q = 0; q < o.candidate.size(); q++) {
        const Candidate &c = o.candidate[q];
        double gain[2], f = c.value - std::floor(c.value), step[2] = {f, 1 - f};
        double *sum[2] = {pseudoCosts_.downTotalChange(), pseudoCosts_.upTotalChange()};
        int *number[2] = {pseudoCosts_.downNumber(), pseudoCosts_.upNumber()};
        for (int side = 0; side < 2; side++) {
            const node_child &child = o.child[2 * q + side];
            gain[side] = std::fmax(child.bound - info->objectiveValue_, 0);
            if (child.infeasible) {
                gain[side] = 2 * (info->cutoff_ < 1e50 ? info->cutoff_ - info->objectiveValue_
                                                       : std::fabs(info->objectiveValue_) + 1);
            } else {
                if (!std::isfinite(gain[side])) gain[side] = 0;
                sum[side][c.object] += gain[side] / step[side];
                number[side][c.object]++;
            }
        }
        double score = std::fmax(gain[0], LEAST_GAIN) * std::fmax(gain[1], LEAST_GAIN);
        if (score > best) best = score, bestObjectIndex_ = c.object, bestWhichWay_ = gain[1] > gain[0] ? 0 : 1;
    }
    if (bestObjectIndex_ >= 0) {
        OsiObject *object = solver->objects()[bestObjectIndex_];
        if (object->preferredWay() >= 0 && object->infeasibility()) bestWhichWay_ = object->preferredWay();
        object->setWhichWay(bestWhichWay_);
    }
    if (fixed > 0) o.figures.tightened++;
    else o.figures.branched++;
    return fixed > 0 ? 2 : 0;
}

/* ---- The rule ---- */

int GpuoptChoose::own_rule(OsiSolverInterface *solver, OsiBranchingInformation *info, bool fix) {
    int result, done = numberStrongDone_;
    double start = now();
    own_->figures.own++;
    numberStrong_ = done + shared_->settings.own;
    result = OsiChooseStrong::chooseVariable(solver, info, fix);
    numberStrong_ = MOST;
    own_->rule_seconds += now() - start;
    own_->rule_candidates += numberStrongDone_ - done;
    return result;
}

int GpuoptChoose::chooseVariable(OsiSolverInterface *solver, OsiBranchingInformation *info, bool fix) {
    Own &o = *own_;
    Shared &s = *shared_;
    double constant;
    bool lost;
    int result;
    if (numberUnsatisfied_ <= 0 || !s.ok()) return own_rule(solver, info, fix);
    if (o.start == 0) o.start = now(), o.iterations = s.settings.iterations;
    if (solver->getNumRows() == 0 || !choose(solver, info)) return own_rule(solver, info, fix);
    if (!o.lp) o.lp = node_lp_open(s.settings.backend.c_str(), s.settings.threads, Shared::warn, &s);
    if (!o.lp) return own_rule(solver, info, fix);
    bestObjectIndex_ = bestWhichWay_ = firstForcedObjectIndex_ = firstForcedWhichWay_ = -1;
    constant = info->objectiveValue_ - give_lp(solver, info);
    o.col.clear(), o.value.clear();
    for (const Candidate &c : o.candidate) o.col.push_back(c.col), o.value.push_back(c.value);
    o.child.resize(2 * o.candidate.size());
    lost = s.lost();
    if (lost) s.fail("gpuopt is not used any more: a test has taken the device away");
    result =
        lost ? -1
             : node_lp_branch(o.lp, (int)o.candidate.size(), o.col.data(), o.value.data(),
                              info->cutoff_ < 1e50 ? info->cutoff_ - constant : HUGE_VAL, o.iterations, o.child.data());
    if (result < 0) close(); /* for good */
    if (result != 0) return own_rule(solver, info, fix);
    for (node_child &child : o.child) child.bound += constant;
    return use(solver, info, fix);
}
