/* SPDX-License-Identifier: MIT
 *
 * See highs_dives.hpp.
 */
#include "examples/hosts/highs/highs_dives.hpp"

#include <algorithm>
#include <cmath>

static const double INTEGRAL = 1e-6;    /* distance from an integer */
static const int64_t ITERATIONS = 2000; /* most of one LP of a dive */
static const int ROUNDS = 100;          /* of propagation */

static double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

HighsDives::HighsDives(const char *backend, int threads, double share)
    : backend_(backend), threads_(threads), share_(share), start_(std::chrono::steady_clock::now()) {}

HighsDives::~HighsDives() {
    gpuopt_propagator_destroy(propagator_);
    gpuopt_simplex_destroy(simplex_);
    gpuopt_context_destroy(context_);
}

/* After an error there are no more dives. */
bool HighsDives::check(gpuopt_status status, const char *what) {
    if (status == GPUOPT_OK) return true;
    if (!failed_)
        std::fprintf(stderr, "gpuopt does not dive any more: %s: %s: %s\n", what, gpuopt_status_string(status),
                     gpuopt_context_last_error(context_));
    failed_ = true;
    return false;
}

/* Makes the handles, and solves the LP of the model. */
bool HighsDives::open(const HighsLp &lp) {
    gpuopt_context_desc context = GPUOPT_INIT(gpuopt_context_desc);
    gpuopt_simplex_desc program = GPUOPT_INIT(gpuopt_simplex_desc);
    gpuopt_propagator_desc model = GPUOPT_INIT(gpuopt_propagator_desc);
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    HighsSparseMatrix a = lp.a_matrix_;
    const int cols = lp.num_col_, rows = lp.num_row_;
    opened_ = true;
    a.ensureRowwise();
    std::vector<int64_t> start(a.start_.begin(), a.start_.end());
    integer_.assign(cols, 0);
    for (size_t j = 0; j < lp.integrality_.size(); j++) {
        if (lp.integrality_[j] != HighsVarType::kInteger && lp.integrality_[j] != HighsVarType::kContinuous)
            return failed_ = true, false; /* semi-continuous columns: no dives */
        integer_[j] = lp.integrality_[j] == HighsVarType::kInteger;
    }
    context.threads = threads_;
#ifdef EXAMPLE_WITH_CUDA
    if (backend_ == "cuda") context.backend = gpuopt_backend_cuda();
#else
    if (backend_ == "cuda") {
        std::fprintf(stderr, "gpuopt does not dive: this program was built without CUDA\n");
        return failed_ = true, false;
    }
#endif
    if (!check(gpuopt_context_create(&context, &context_), "opening a context")) return false;
    program.matrix.rows = rows;
    program.matrix.cols = cols;
    program.matrix.start = start.data();
    program.matrix.index = a.index_.data();
    program.matrix.value = a.value_.data();
    program.cost = lp.col_cost_.data();
    program.offset = lp.offset_;
    program.maximize = lp.sense_ == ObjSense::kMaximize;
    program.lhs = lp.row_lower_.data();
    program.rhs = lp.row_upper_.data();
    program.lb = lp.col_lower_.data();
    program.ub = lp.col_upper_.data();
    program.method = GPUOPT_METHOD_REVISED;
    model.matrix = program.matrix;
    model.lhs = program.lhs;
    model.rhs = program.rhs;
    model.lb = program.lb;
    model.ub = program.ub;
    model.integer = integer_.data();
    model.trail_capacity = 20 * static_cast<int64_t>(cols) + 100000;
    x_.resize(cols);
    lb_.resize(cols);
    ub_.resize(cols);
    root_basis_.resize(static_cast<size_t>(cols) + rows);
    if (!check(gpuopt_simplex_create(context_, &program, nullptr, &simplex_), "making the LP") ||
        !check(gpuopt_propagator_create(context_, &model, nullptr, &propagator_), "making the propagator") ||
        !check(gpuopt_propagator_round(propagator_, ROUNDS, nullptr), "propagating") ||
        !check(gpuopt_propagator_commit(propagator_), "propagating") ||
        !check(gpuopt_simplex_iterate(simplex_, 100 * ITERATIONS, &info), "solving the LP") ||
        !check(gpuopt_simplex_get_basis(simplex_, GPUOPT_HOST, root_basis_.data()), "solving the LP"))
        return false;
    iterations_ += info.iterations;
    root_lb_ = lp.col_lower_;
    root_ub_ = lp.col_upper_;
    if (info.outcome != GPUOPT_OPTIMAL) failed_ = true; /* too large to dive in, or without a solution */
    return !failed_;
}

/* One more level of the trail with these bounds, and what follows from them. An infeasible level is closed again. */
bool HighsDives::try_bounds(int count, const int32_t *col, const double *lb, const double *ub, bool *feasible) {
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    if (!check(gpuopt_propagator_push(propagator_, nullptr), "diving") ||
        !check(gpuopt_propagator_set_bounds(propagator_, GPUOPT_HOST, count, col, lb, ub), "diving") ||
        !check(gpuopt_propagator_round(propagator_, ROUNDS, &info), "propagating"))
        return false;
    levels_++;
    *feasible = info.outcome != GPUOPT_INFEASIBLE;
    if (*feasible) return true;
    levels_--;
    return check(gpuopt_propagator_pop(propagator_, 1), "diving");
}

/* Solves the LP with the bounds of the propagator, into x_. */
bool HighsDives::solve(bool *feasible) {
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    gpuopt_simplex_solution point = GPUOPT_INIT(gpuopt_simplex_solution);
    int64_t before;
    point.x = x_.data();
    *feasible = false;
    if (!check(gpuopt_propagator_get_bounds(propagator_, GPUOPT_HOST, 0, nullptr, lb_.data(), ub_.data()), "diving") ||
        !check(gpuopt_simplex_set_bounds(simplex_, GPUOPT_HOST, 0, nullptr, lb_.data(), ub_.data()), "diving") ||
        !check(gpuopt_simplex_get_info(simplex_, &info), "diving"))
        return false;
    before = info.iterations;
    if (!check(gpuopt_simplex_iterate(simplex_, ITERATIONS, &info), "solving the LP")) return false;
    iterations_ += info.iterations - before;
    programs_++;
    *feasible = info.outcome == GPUOPT_OPTIMAL;
    return !*feasible || check(gpuopt_simplex_get_solution(simplex_, GPUOPT_HOST, &point), "solving the LP");
}

/* Rounds a tenth of the fractional columns, the most promising ones first, each unless it was fixed by the ones before.
 * A rounding that propagation refutes is turned; if that is refuted, too, the dive is over. */
bool HighsDives::round_some(Rule rule, bool *feasible) {
    std::vector<std::pair<double, int>> order;
    for (size_t j = 0; j < x_.size(); j++) {
        const double fraction = x_[j] - std::floor(x_[j]);
        if (!integer_[j] || std::min(fraction, 1 - fraction) <= INTEGRAL) continue;
        const double distance = rule == UP ? 1 - fraction : rule == DOWN ? fraction : std::min(fraction, 1 - fraction);
        order.emplace_back(distance, static_cast<int>(j));
    }
    std::sort(order.begin(), order.end());
    order.resize((order.size() + 9) / 10);
    *feasible = true;
    for (const auto &entry : order) {
        const int32_t col = entry.second;
        double lb, ub;
        if (!check(gpuopt_propagator_get_bounds(propagator_, GPUOPT_HOST, 1, &col, &lb, &ub), "diving")) return false;
        if (lb == ub) continue;
        const double down = std::floor(x_[col]);
        bool up = rule == UP || (rule == NEAREST && x_[col] - down > 0.5);
        for (int turn = 0; turn < 2; turn++, up = !up) {
            const double low = up ? std::max(lb, down + 1) : lb, high = up ? ub : std::min(ub, down);
            *feasible = low <= high;
            if (*feasible && !try_bounds(1, &col, &low, &high, feasible)) return false;
            if (*feasible) break;
        }
        if (!*feasible) return true;
    }
    return true;
}

/* Returns whether there is a solution. */
bool HighsDives::dive(Rule rule, double cutoff, std::vector<double> *solution) {
    bool feasible = true, found = false;
    dives_++;
    if (!check(gpuopt_simplex_set_cutoff(simplex_, cutoff), "diving") ||
        !check(gpuopt_simplex_set_basis(simplex_, GPUOPT_HOST, root_basis_.data()), "diving"))
        return false;
    while (feasible && !found) {
        if (!solve(&feasible)) return false;
        if (!feasible) break;
        bool integral = true, exact = true;
        for (size_t j = 0; j < x_.size(); j++) {
            const double distance = std::fabs(x_[j] - std::round(x_[j]));
            if (integer_[j] && distance > INTEGRAL) integral = false;
            if (integer_[j] && distance > 0) exact = false;
        }
        if (!integral) {
            if (!round_some(rule, &feasible)) return false;
        } else if (exact) {
            found = true;
        } else { /* continuous columns have to follow the last digits of the integer ones */
            std::vector<int32_t> col;
            std::vector<double> value;
            for (size_t j = 0; j < x_.size(); j++)
                if (integer_[j]) {
                    col.push_back(static_cast<int32_t>(j));
                    value.push_back(std::round(x_[j]));
                }
            if (!try_bounds(static_cast<int>(col.size()), col.data(), value.data(), value.data(), &feasible))
                return false;
            if (feasible && !solve(&feasible)) return false;
            found = feasible;
            for (size_t k = 0; k < col.size(); k++) x_[col[k]] = value[k];
        }
    }
    if (found) *solution = x_;
    if (!check(gpuopt_propagator_pop(propagator_, levels_), "diving")) return false;
    levels_ = 0;
    return found;
}

void HighsDives::attach(Highs &highs) {
    highs.setCallback(
        [this, &highs](int type, const std::string &, const HighsCallbackOutput *out, HighsCallbackInput *in, void *) {
            const auto begin = std::chrono::steady_clock::now();
            std::vector<double> solution;
            if (type != kCallbackMipUserSolution || failed_) return;
            if (opened_ && spent_ > share_ * seconds_since(start_)) return;
            /* Each rule once for each incumbent: with the same cutoff a dive would go the same way. */
            if (opened_ && out->mip_primal_bound != last_cutoff_) next_ = 0;
            last_cutoff_ = out->mip_primal_bound;
            if (next_ < RULES && (opened_ || open(highs.getLp())) &&
                dive(static_cast<Rule>(next_++), out->mip_primal_bound, &solution) &&
                in->setSolution(static_cast<HighsInt>(solution.size()), solution.data()) == HighsStatus::kOk)
                solutions_++;
            spent_ += seconds_since(begin);
        });
    highs.startCallback(kCallbackMipUserSolution);
}

void HighsDives::print(std::FILE *file) const {
    std::fprintf(file, "gpuopt: %ld dives, %ld solutions, %ld LPs, %lld iterations, %.3f s%s\n", dives_, solutions_,
                 programs_, static_cast<long long>(iterations_), spent_, failed_ ? ", failed" : "");
}
