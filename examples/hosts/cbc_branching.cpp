/* SPDX-License-Identifier: MIT
 *
 * See cbc_branching.hpp. At a node the plug-in gives the LP with its cuts, bounds and basis to a handle that lives as
 * long as the tree, and both children of the candidates to one batch. What comes back is used in four ways: a node
 * without a feasible child is cut off, an infeasible side tightens a bound, gains feed Cbc's pseudo-costs, and the best
 * product of gains branches.
 *
 * node_budget.h decides how many candidates a node may have. Those with unreliable pseudo-costs come first. Where a
 * node has none, or no child raises the bound, Cbc decides by its own strong branching.
 */
#include "examples/hosts/cbc_branching.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "CbcModel.hpp"
#include "CbcNode.hpp"
#include "CbcObjectUpdateData.hpp"
#include "CbcSimpleIntegerDynamicPseudoCost.hpp"
#include "CoinPackedMatrix.hpp"
#include "CoinWarmStartBasis.hpp"
#include "OsiSolverInterface.hpp"

#include "gpuopt.h"

extern "C" {
#include "examples/hosts/node_budget.h"
#include "examples/hosts/node_lp.h"
}

enum { RELIABLE = 8, MOST_ROUNDS = 5, ALWAYS_TRUST = -1000000 };
static const double LEAST_GAIN = 1e-6;

static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* Of all copies. */
struct GpuoptStrong::Shared {
    GpuoptStrongSettings settings;
    double start = now();
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

typedef CbcSimpleIntegerDynamicPseudoCost Object;

/* A fractional variable. */
struct Candidate {
    Object *object;
    int col;
    bool reliable;
    double value;
    double expected; /* score by pseudo-costs */
    double score;    /* by the children, if they were solved */
};

struct GpuoptStrong::Own {
    node_lp *lp = nullptr;
    node_budget budget = {};
    double objective = 0, constant = 0; /* of the node's LP, minimised; Cbc's constant is not in gpuopt's objective */
    double gain = 0;                    /* the largest one at the node */
    Object *marked = nullptr;           /* the variable that Cbc is to take */
    int priority = 0, trust = 0;        /* what it had before */
    Figures figures;                    /* without those of lp */
    std::vector<double> cost, lb, ub, value;
    std::vector<uint8_t> status;
    std::vector<Candidate> candidate;
    std::vector<int> col;
    std::vector<node_child> child;
    std::unordered_map<uint64_t, int> id; /* of rows, by their entries */
    std::vector<int> used;                /* by id: the latest node that has the row */
    int node = 0;
};

static void add(GpuoptStrong::Figures *sum, const GpuoptStrong::Figures &f) {
    sum->calls += f.calls, sum->children += f.children, sum->iterations += f.iterations, sum->handles += f.handles;
    sum->rows_added += f.rows_added, sum->rows_removed += f.rows_removed;
    sum->cut_off += f.cut_off, sum->tightened += f.tightened, sum->branched += f.branched, sum->trusted += f.trusted;
    sum->own += f.own;
    sum->update += f.update, sum->branch += f.branch;
}

static GpuoptStrong::Figures with_times(GpuoptStrong::Figures f, const node_lp *lp) {
    if (!lp) return f;
    const node_lp_times *t = node_lp_cost(lp);
    f.calls += t->calls, f.children += t->children, f.iterations += t->iterations, f.handles += t->handles;
    f.rows_added += t->rows_added, f.rows_removed += t->rows_removed;
    f.update += t->update, f.branch += t->branch;
    return f;
}

void GpuoptStrong::Figures::print(std::FILE *file) const {
    std::fprintf(file,
                 "gpuopt: %lld calls, %lld children, %lld iterations, %lld handles, %lld rows added, %lld removed, ",
                 (long long)calls, (long long)children, (long long)iterations, (long long)handles,
                 (long long)rows_added, (long long)rows_removed);
    std::fprintf(file,
                 "%.3f s update, %.3f s children, %lld cut off, %lld tightened, %lld branched, %lld by pseudo-costs, "
                 "%lld left to Cbc%s\n",
                 update, branch, (long long)cut_off, (long long)tightened, (long long)branched, (long long)trusted,
                 (long long)own, failed ? ", failed" : "");
}

GpuoptStrong::GpuoptStrong(const GpuoptStrongSettings &settings) : shared_(std::make_shared<Shared>()), own_(new Own) {
    shared_->settings = settings;
}

GpuoptStrong::GpuoptStrong(const GpuoptStrong &original)
    : CbcFeasibilityBase(original), shared_(original.shared_), own_(new Own) {}

GpuoptStrong::~GpuoptStrong() {
    close();
    std::lock_guard<std::mutex> lock(shared_->mutex);
    add(&shared_->figures, own_->figures);
}

CbcFeasibilityBase *GpuoptStrong::clone() const { return new GpuoptStrong(*this); }

GpuoptStrong::Figures GpuoptStrong::figures() const {
    std::lock_guard<std::mutex> lock(shared_->mutex);
    Figures sum = shared_->figures;
    add(&sum, with_times(own_->figures, own_->lp));
    sum.failed = shared_->failed;
    return sum;
}

void GpuoptStrong::close() {
    own_->figures = with_times(own_->figures, own_->lp);
    node_lp_close(own_->lp);
    own_->lp = nullptr;
}

/* ---- Which candidates ---- */

static double product(double down, double up) { return std::fmax(down, LEAST_GAIN) * std::fmax(up, LEAST_GAIN); }

/* Puts the fractional variables into own_->candidate, those with unreliable pseudo-costs first. Returns how many of
 * these there are; -1: Cbc has other objects, too. */
int GpuoptStrong::find_candidates(CbcModel *model) {
    Own &o = *own_;
    const double *x = model->solver()->getColSolution();
    double tolerance = model->getIntegerTolerance();
    int unreliable = 0;
    o.candidate.clear();
    for (int k = 0; k < model->numberObjects(); k++) {
        Object *object = dynamic_cast<Object *>(model->modifiableObject(k));
        if (!object) return -1;
        int col = object->columnNumber();
        if (std::fabs(x[col] - std::round(x[col])) <= tolerance) continue;
        double f = x[col] - std::floor(x[col]);
        bool reliable = object->numberTimesDown() >= RELIABLE && object->numberTimesUp() >= RELIABLE;
        double expected = product(f * object->downDynamicPseudoCost(), (1 - f) * object->upDynamicPseudoCost());
        o.candidate.push_back({object, col, reliable, x[col], expected, 0});
        unreliable += !reliable;
    }
    std::sort(o.candidate.begin(), o.candidate.end(), [](const Candidate &a, const Candidate &b) {
        if (a.reliable != b.reliable) return b.reliable;
        return a.expected != b.expected ? a.expected > b.expected : a.col < b.col;
    });
    return unreliable;
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
double GpuoptStrong::give_lp(const OsiSolverInterface *solver) {
    Own &o = *own_;
    int cols = solver->getNumCols(), rows = solver->getNumRows();
    const double *cost = solver->getObjCoefficients(), *activity = solver->getRowActivity();
    const double *x = solver->getColSolution(), *lb = solver->getColLower(), *ub = solver->getColUpper();
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
        o.cost[j] = solver->getObjSense() * cost[j];
        o.status[j] = basis && basis->getStructStatus(j) == CoinWarmStartBasis::basic ? (uint8_t)GPUOPT_VARIABLE_BASIC
                                                                                      : nonbasic(upper, lb[j], ub[j]);
        objective += o.cost[j] * x[j];
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

/* Solves the children of the first `most` candidates. Returns as node_lp_branch(). */
int GpuoptStrong::solve(CbcModel *model, int most) {
    Own &o = *own_;
    Shared &s = *shared_;
    const OsiSolverInterface *solver = model->solver();
    double begin = now(), cutoff = model->getCutoff();
    int64_t handles;
    int failed;
    o.objective = solver->getObjSense() * solver->getObjValue();
    o.constant = o.objective - give_lp(solver);
    o.col.clear(), o.value.clear();
    for (int q = 0; q < most; q++) o.col.push_back(o.candidate[q].col), o.value.push_back(o.candidate[q].value);
    o.child.resize(2 * (size_t)most);
    if (s.lost()) return s.fail("gpuopt is not used any more: a test has taken the device away"), -1;
    handles = node_lp_cost(o.lp)->handles;
    failed = node_lp_branch(o.lp, most, o.col.data(), o.value.data(), cutoff < 1e50 ? cutoff - o.constant : HUGE_VAL,
                            s.settings.iterations, o.child.data());
    node_budget_call(&o.budget, handles != node_lp_cost(o.lp)->handles ? 0 : most, now() - begin);
    for (node_child &child : o.child) child.bound += o.constant;
    return failed;
}

/* Turns the children's bounds into gains, scores and pseudo-costs, and learns how good the pseudo-costs were. */
void GpuoptStrong::learn(CbcModel *model, int solved) {
    Own &o = *own_;
    double cutoff = model->getCutoff(), best = 0, expected = -1, of_expected = 0;
    o.gain = cutoff < 1e50 ? std::fmax(cutoff - o.objective, 0) : 0;
    for (const node_child &child : o.child)
        if (!child.infeasible) o.gain = std::fmax(o.gain, child.bound - o.objective);
    for (int q = 0; q < solved; q++) {
        Candidate &c = o.candidate[q];
        double gain[2];
        for (int side = 0; side < 2; side++) {
            const node_child &child = o.child[2 * q + side];
            CbcObjectUpdateData data(c.object, 2 * side - 1, 0, child.infeasible ? 1 : 0, 0, c.value);
            gain[side] = child.infeasible ? o.gain : std::fmax(child.bound - o.objective, 0);
            data.change_ = gain[side];
            data.originalObjective_ = o.objective;
            data.cutoff_ = cutoff;
            c.object->updateInformation(data);
        }
        c.score = product(gain[0], gain[1]);
        best = std::fmax(best, c.score);
        if (c.expected > expected) expected = c.expected, of_expected = c.score;
    }
    if (best > 0) node_budget_learn(&o.budget, std::sqrt(of_expected / best));
}

/* Applies infeasible sides, and solves the LP again. Returns how many there are; -1: the node is infeasible. The node
 * gets the new objective: by the old one, Cbc's strong branching would overrate gains, and tighten bounds wrongly. */
int GpuoptStrong::tighten(CbcModel *model, int solved) {
    Own &o = *own_;
    OsiSolverInterface *solver = model->solver();
    int fixed = 0;
    for (int q = 0; q < solved; q++)
        if (o.child[2 * q].infeasible && o.child[2 * q + 1].infeasible) return -1;
    for (int q = 0; q < solved; q++) {
        const Candidate &c = o.candidate[q];
        if (o.child[2 * q].infeasible) solver->setColLower(c.col, std::floor(c.value) + 1), fixed++;
        if (o.child[2 * q + 1].infeasible) solver->setColUpper(c.col, std::floor(c.value)), fixed++;
    }
    if (fixed == 0) return 0;
    o.figures.tightened++;
    if (!model->resolve(nullptr, 11)) return -1;
    CbcNode *node = model->currentNode();
    node->setObjectiveValue(std::fmax(node->objectiveValue(), solver->getObjSense() * solver->getObjValue()));
    return fixed;
}

/* Marks the best candidate: those that were not solved count by their pseudo-costs. Cbc takes the object with the least
 * priority, and does no strong branching on an object that it trusts. */
void GpuoptStrong::mark(int solved) {
    Own &o = *own_;
    double best = -1;
    for (size_t q = 0; q < o.candidate.size(); q++) {
        double score = (int)q < solved ? o.candidate[q].score : o.candidate[q].expected;
        if (score > best) best = score, o.marked = o.candidate[q].object;
    }
    o.priority = o.marked->priority();
    o.trust = o.marked->numberBeforeTrust();
    o.marked->setPriority(o.priority - 1);
    o.marked->setNumberBeforeTrust(ALWAYS_TRUST);
    if (solved > 0) o.figures.branched++;
    else o.figures.trusted++;
}

/* ---- The rule ---- */

/* Returns as feasible(). */
int GpuoptStrong::strong(CbcModel *model) {
    Own &o = *own_;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        int unreliable = find_candidates(model), count = (int)o.candidate.size(), most, failed, fixed;
        if (unreliable < 0 || count < 2 || model->solver()->getNumRows() == 0) return 0;
        most = node_lp_ready(o.lp) || o.budget.share >= 1 ? node_budget_most(&o.budget, count, unreliable) : 0;
        if (most == 0 && unreliable == 0 && shared_->settings.trust) {
            mark(0);
            return 0;
        }
        if (most == 0) break;
        failed = solve(model, most);
        if (failed < 0) close(); /* for good */
        if (failed != 0) break;
        learn(model, most);
        fixed = tighten(model, most);
        if (fixed < 0) return o.figures.cut_off++, -1;
        if (fixed > 0) continue;
        if (o.gain <= 1e-9 * std::fmax(1, std::fabs(o.objective))) break;
        mark(most);
        return 0;
    }
    o.figures.own++;
    return 0;
}

int GpuoptStrong::feasible(CbcModel *model, int mode) {
    Own &o = *own_;
    Shared &s = *shared_;
    CbcNode *node = model->currentNode();
    int result;
    if (o.marked) o.marked->setPriority(o.priority), o.marked->setNumberBeforeTrust(o.trust);
    o.marked = nullptr;
    if (mode != 0 || !s.ok()) return 0;
    /* A GPU takes a moment, in which Cbc is busy with the root. */
    if (!o.lp) o.lp = node_lp_open(s.settings.backend.c_str(), s.settings.threads, Shared::warn, &s);
    /* Only Cbc's rule asks with a node that has no branch yet. */
    if (!o.lp || !node || node->branchingObject()) return 0;
    o.budget.share = s.settings.share;
    o.budget.worth = s.settings.worth;
    o.budget.start = s.start;
    node_budget_enter(&o.budget, now());
    result = strong(model);
    node_budget_leave(&o.budget, now());
    return result;
}
