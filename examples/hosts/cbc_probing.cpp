/* SPDX-License-Identifier: MIT
 *
 * See cbc_probing.hpp. At the first pass of the root all binaries are probed. Tighter bounds of integer columns become
 * column cuts. Implications between two binaries are kept, and those that the LP's point violates become row cuts, at
 * that pass and at the later ones: if x = 1 implies y = 0, then x + y <= 1.
 */
#include "examples/hosts/cbc_probing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "CoinPackedMatrix.hpp"
#include "OsiCuts.hpp"
#include "OsiSolverInterface.hpp"

#include "gpuopt.h"
#include "gpuopt/search.h"

enum { ROUNDS = 100, MOST_IMPLICATIONS = 10000000, MOST_CUTS = 200 };
static const double LEAST_VIOLATION = 1e-3;

/* If binary `first` has the value first_is, then binary `second` has second_is. */
struct Implication {
    int first, second;
    bool first_is, second_is;
};

struct GpuoptProbing::Shared {
    std::string backend;
    int threads = 1;
    bool failed = false;
    Figures figures;
    std::vector<Implication> implication;
    int cols = 0; /* of the model that was probed */
    gpuopt_status probe(const OsiSolverInterface &solver, gpuopt_context *context, OsiCuts &cuts);
    gpuopt_status take_implications(gpuopt_propagator_probe *probe, int64_t count, int probed,
                                    const OsiSolverInterface &solver);
    void separate(const double *x, OsiCuts &cuts);
};

void GpuoptProbing::Figures::print(std::FILE *file) const {
    std::fprintf(file, "gpuopt probing: %ld binaries, %ld infeasible sides, %ld tightened, %ld cuts, %.3f s\n", probed,
                 infeasible, tightened, cuts, seconds);
}

GpuoptProbing::GpuoptProbing(const std::string &backend, int threads) : shared_(std::make_shared<Shared>()) {
    shared_->backend = backend;
    shared_->threads = threads;
}

CglCutGenerator *GpuoptProbing::clone() const { return new GpuoptProbing(*this); }
const GpuoptProbing::Figures &GpuoptProbing::figures() const { return shared_->figures; }

/* A cut that no point satisfies. */
static void say_infeasible(OsiCuts &cuts) {
    OsiRowCut cut;
    cut.setLb(COIN_DBL_MAX);
    cut.setUb(0.0);
    cuts.insert(cut);
}

static bool is_binary(const OsiSolverInterface &solver, int j) {
    return solver.isInteger(j) && solver.getColLower()[j] == 0 && solver.getColUpper()[j] == 1;
}

gpuopt_status GpuoptProbing::Shared::take_implications(gpuopt_propagator_probe *probe, int64_t count, int probed,
                                                       const OsiSolverInterface &solver) {
    gpuopt_propagator_probe_implications found = GPUOPT_INIT(gpuopt_propagator_probe_implications);
    std::vector<int32_t> binary((size_t)probed + 1), outcome(2 * (size_t)probed + 1), col((size_t)count + 1);
    std::vector<int64_t> start(2 * (size_t)probed + 1);
    std::vector<double> lb((size_t)count + 1), ub((size_t)count + 1);
    gpuopt_status status;
    found.capacity = count;
    found.binary = binary.data(), found.outcome = outcome.data(), found.start = start.data();
    found.col = col.data(), found.lb = lb.data(), found.ub = ub.data();
    status = gpuopt_propagator_probe_get_implications(probe, &found);
    for (int p = 0; !status && p < 2 * probed; p++)
        for (int64_t e = start[p]; e < start[p + 1]; e++)
            if (is_binary(solver, col[e]) && lb[e] == ub[e])
                implication.push_back({binary[p / 2], col[e], p % 2 == 1, lb[e] != 0});
    return status;
}

/* Probes the model with its present bounds. */
gpuopt_status GpuoptProbing::Shared::probe(const OsiSolverInterface &solver, gpuopt_context *context, OsiCuts &cuts) {
    gpuopt_propagator_desc desc = GPUOPT_INIT(gpuopt_propagator_desc);
    gpuopt_propagator_info root = GPUOPT_INIT(gpuopt_propagator_info);
    gpuopt_propagator_probe_desc limits = GPUOPT_INIT(gpuopt_propagator_probe_desc);
    gpuopt_propagator_probe_info info = GPUOPT_INIT(gpuopt_propagator_probe_info);
    gpuopt_propagator *base = nullptr;
    gpuopt_propagator_probe *probe = nullptr;
    const CoinPackedMatrix *matrix = solver.getMatrixByRow();
    int rows = solver.getNumRows();
    std::vector<int64_t> start(1, 0);
    std::vector<int32_t> index;
    std::vector<double> value, lb((size_t)cols + 1), ub((size_t)cols + 1);
    std::vector<uint8_t> integer((size_t)cols + 1);
    bool infeasible = false;
    for (int i = 0; i < rows; i++) {
        CoinBigIndex first = matrix->getVectorFirst(i), last = matrix->getVectorLast(i);
        index.insert(index.end(), matrix->getIndices() + first, matrix->getIndices() + last);
        value.insert(value.end(), matrix->getElements() + first, matrix->getElements() + last);
        start.push_back((int64_t)index.size());
    }
    for (int j = 0; j < cols; j++) integer[j] = solver.isInteger(j);
    desc.matrix = {rows, cols, start.data(), index.data(), value.data(), GPUOPT_LAYOUT_CSR};
    desc.lhs = solver.getRowLower(), desc.rhs = solver.getRowUpper();
    desc.lb = solver.getColLower(), desc.ub = solver.getColUpper();
    desc.integer = integer.data();
    limits.implications = MOST_IMPLICATIONS;
    gpuopt_status status = gpuopt_propagator_create(context, &desc, nullptr, &base);
    if (!status) status = gpuopt_propagator_round(base, ROUNDS, &root);
    infeasible = root.outcome == GPUOPT_INFEASIBLE;
    if (!status && !infeasible)
        status = gpuopt_propagator_get_bounds(base, GPUOPT_HOST, 0, nullptr, lb.data(), ub.data());
    if (!status && !infeasible) status = gpuopt_propagator_probe_create(base, &limits, nullptr, &probe);
    if (!status && !infeasible) status = gpuopt_propagator_probe_run(probe, 0, nullptr, ROUNDS, &info);
    infeasible = infeasible || info.outcome == GPUOPT_INFEASIBLE;
    if (!status && !infeasible) {
        gpuopt_propagator_probe_bounds bounds = GPUOPT_INIT(gpuopt_propagator_probe_bounds);
        std::vector<int32_t> col((size_t)cols + 1);
        std::vector<double> low((size_t)cols + 1), high((size_t)cols + 1);
        bounds.capacity = cols;
        bounds.col = col.data(), bounds.lb = low.data(), bounds.ub = high.data();
        status = gpuopt_propagator_probe_get_bounds(probe, &bounds);
        for (int64_t k = 0; !status && k < bounds.count; k++) lb[col[k]] = low[k], ub[col[k]] = high[k];
        if (!status && info.implications <= MOST_IMPLICATIONS)
            status = take_implications(probe, info.implications, info.probed, solver);
    }
    gpuopt_propagator_probe_destroy(probe);
    gpuopt_propagator_destroy(base);
    if (status) return status;
    if (infeasible) return say_infeasible(cuts), GPUOPT_OK;
    figures.probed += info.probed;
    figures.infeasible += info.infeasible;
    OsiColCut cut;
    std::vector<int> col;
    std::vector<double> low, high;
    for (int j = 0; j < cols; j++)
        if (integer[j] && (lb[j] > desc.lb[j] + .5 || ub[j] < desc.ub[j] - .5))
            col.push_back(j), low.push_back(std::round(lb[j])), high.push_back(std::round(ub[j]));
    figures.tightened += (long)col.size();
    cut.setLbs((int)col.size(), col.data(), low.data());
    cut.setUbs((int)col.size(), col.data(), high.data());
    if (!col.empty()) cuts.insert(cut);
    return GPUOPT_OK;
}

/* Adds the implications that x violates most. With a = x or 1 - x, and b likewise, "a = 1 implies b = 0" is
 * a + b <= 1. */
void GpuoptProbing::Shared::separate(const double *x, OsiCuts &cuts) {
    std::vector<std::pair<double, const Implication *>> violated;
    for (const Implication &i : implication) {
        double a = i.first_is ? x[i.first] : 1 - x[i.first], b = i.second_is ? 1 - x[i.second] : x[i.second];
        if (a + b > 1 + LEAST_VIOLATION) violated.push_back({a + b, &i});
    }
    size_t count = std::min(violated.size(), (size_t)MOST_CUTS);
    std::partial_sort(violated.begin(), violated.begin() + (long)count, violated.end(),
                      [](const auto &a, const auto &b) { return a.first > b.first; });
    for (size_t k = 0; k < count; k++) {
        const Implication &i = *violated[k].second;
        int index[2] = {i.first, i.second};
        double value[2] = {i.first_is ? 1.0 : -1.0, i.second_is ? -1.0 : 1.0};
        OsiRowCut cut;
        cut.setRow(2, index, value);
        cut.setLb(-COIN_DBL_MAX);
        cut.setUb(1.0 - !i.first_is - i.second_is);
        cut.setGloballyValid(true);
        cuts.insertIfNotDuplicate(cut);
    }
    figures.cuts += (long)count;
}

void GpuoptProbing::generateCuts(const OsiSolverInterface &solver, OsiCuts &cuts, const CglTreeInfo info) {
    Shared &s = *shared_;
    auto start = std::chrono::steady_clock::now();
    if (info.inTree || s.failed) return;
    if (s.cols != solver.getNumCols()) { /* not probed yet */
        gpuopt_context_desc desc = GPUOPT_INIT(gpuopt_context_desc);
        gpuopt_context *context = nullptr;
        gpuopt_status status = GPUOPT_OK;
        desc.threads = s.threads;
        s.cols = solver.getNumCols();
        s.implication.clear();
        if (s.backend == "cuda") {
#ifdef EXAMPLE_WITH_CUDA
            desc.backend = gpuopt_backend_cuda();
#else
            status = GPUOPT_ERROR_UNSUPPORTED;
#endif
        }
        if (!status) status = gpuopt_context_create(&desc, &context);
        if (!status) status = s.probe(solver, context, cuts);
        if (status) {
            s.failed = true;
            std::fprintf(stderr, "gpuopt does not probe: %s: %s\n", gpuopt_status_string(status),
                         gpuopt_context_last_error(context));
        }
        gpuopt_context_destroy(context);
    }
    s.separate(solver.getColSolution(), cuts);
    s.figures.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
