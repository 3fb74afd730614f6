/* SPDX-License-Identifier: MIT
 *
 * HiGHS with or without the strong branching and the dives of this folder, to compare them. Build: README.md.
 */
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>

#include "Highs.h"
#include "examples/hosts/highs/highs_branching.hpp"
#include "examples/hosts/highs/highs_dives.hpp"

static const char usage[] = "usage: highs_solve MODEL alone|branching|dives|both [backend=cpu|cuda] [NAME=VALUE ...]\n"
                            "  NAME=VALUE  options of HiGHS\n"
                            "exit status: 0 optimal, 1 infeasible, 2 bad input, 3 stopped or failed\n";

static double processor_seconds() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

int main(int argc, char **argv) {
    if (argc < 3) return std::fputs(usage, stderr), 2;
    const std::string what = argv[2];
    std::string backend = "cpu";
    std::unique_ptr<HighsBranching> branching;
    std::unique_ptr<HighsDives> dives;
    Highs highs;
    highs.setOptionValue("output_flag", false);
    highs.setOptionValue("threads", 1);
    highs.setOptionValue("mip_rel_gap", 0.0);
    for (int k = 3; k < argc; k++) {
        const char *value = std::strchr(argv[k], '=');
        if (!value) return std::fputs(usage, stderr), 2;
        const std::string name(argv[k], static_cast<size_t>(value - argv[k]));
        if (name == "backend") backend = value + 1;
        else if (highs.setOptionValue(name, std::string(value + 1)) != HighsStatus::kOk) return 2;
    }
    if (highs.readModel(argv[1]) != HighsStatus::kOk) return std::fprintf(stderr, "%s: cannot be read\n", argv[1]), 2;
    if (what == "branching" || what == "both") {
        branching.reset(new HighsBranching(backend.c_str()));
        branching->attach();
    }
    if (what == "dives" || what == "both") {
        dives.reset(new HighsDives(backend.c_str()));
        dives->attach(highs);
    }
    const double start = processor_seconds();
    highs.run();
    const double seconds = processor_seconds() - start;
    const HighsInfo &info = highs.getInfo();
    std::printf("%s %s: %s, objective %.12g, bound %.12g, nodes %lld, LP iterations %lld, processor seconds %.3f\n",
                argv[1], argv[2], highs.modelStatusToString(highs.getModelStatus()).c_str(),
                info.objective_function_value, info.mip_dual_bound, static_cast<long long>(info.mip_node_count),
                static_cast<long long>(info.simplex_iteration_count), seconds);
    if (branching) branching->print(stdout);
    if (dives) dives->print(stdout);
    return highs.getModelStatus() == HighsModelStatus::kOptimal      ? 0
           : highs.getModelStatus() == HighsModelStatus::kInfeasible ? 1
                                                                     : 3;
}
