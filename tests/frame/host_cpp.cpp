// SPDX-License-Identifier: MIT
//
// A caller as C++ programmers write it: handles in std::unique_ptr, arrays in std::vector, hooks as lambdas, all memory
// from the caller. The model of the README, a round at a time.
#include <cstdlib>
#include <memory>
#include <vector>

#include "gpuopt.h"

namespace {

struct Destroy {
    void operator()(gpuopt_context *context) const { gpuopt_context_destroy(context); }
    void operator()(gpuopt_propagator *propagator) const { gpuopt_propagator_destroy(propagator); }
};

template <class Handle>
using Owned = std::unique_ptr<Handle, Destroy>;

struct Counts {
    int allocations = 0, errors = 0;
};

// 2x + 3y <= 6 with x, y in [0, 10] and integer leaves x in [0, 3] and y in [0, 2].
bool propagates(gpuopt_context *context) {
    const std::vector<int64_t> start{0, 2};
    const std::vector<int32_t> index{0, 1};
    const std::vector<double> value{2, 3}, rhs{6}, lb{0, 0}, ub{10, 10};
    const std::vector<uint8_t> integer{1, 1};
    auto model = GPUOPT_INIT(gpuopt_propagator_desc);
    model.matrix.rows = 1;
    model.matrix.cols = 2;
    model.matrix.start = start.data();
    model.matrix.index = index.data();
    model.matrix.value = value.data();
    model.rhs = rhs.data();
    model.lb = lb.data();
    model.ub = ub.data();
    model.integer = integer.data();

    gpuopt_propagator *made = nullptr;
    if (gpuopt_propagator_create(context, &model, NULL, &made) != GPUOPT_OK) return false;
    const Owned<gpuopt_propagator> propagator(made);
    auto info = GPUOPT_INIT(gpuopt_propagator_info);
    while (info.outcome == GPUOPT_MORE)
        if (gpuopt_propagator_round(propagator.get(), 1, &info) != GPUOPT_OK) return false;
    std::vector<double> low(2), high(2);
    if (gpuopt_propagator_get_bounds(propagator.get(), GPUOPT_HOST, 0, NULL, low.data(), high.data()) != GPUOPT_OK)
        return false;
    return info.outcome == GPUOPT_CONVERGED && low == lb && high == std::vector<double>{3, 2};
}

} // namespace

int main() {
    Counts counts;
    auto desc = GPUOPT_INIT(gpuopt_context_desc);
    desc.user = &counts;
    desc.allocate = [](void *user, gpuopt_memory_space, size_t bytes) {
        static_cast<Counts *>(user)->allocations++;
        return std::malloc(bytes);
    };
    desc.release = [](void *, gpuopt_memory_space, void *memory) { std::free(memory); };
    desc.log = [](void *user, int level, const char *) { static_cast<Counts *>(user)->errors += level == 0; };

    gpuopt_context *made = nullptr;
    if (gpuopt_context_create(&desc, &made) != GPUOPT_OK) return 1;
    const Owned<gpuopt_context> context(made);
    if (!propagates(context.get()) || counts.allocations == 0 || counts.errors != 0) return 1;
    // A call that is refused says why.
    if (gpuopt_propagator_create(context.get(), nullptr, NULL, nullptr) != GPUOPT_ERROR_ARGUMENT) return 1;
    return counts.errors == 1 ? 0 : 1;
}
