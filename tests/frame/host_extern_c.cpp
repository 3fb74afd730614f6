// SPDX-License-Identifier: MIT
//
// A C++ caller that includes C headers in its own extern "C", as many do for all of them. Compiled with the header
// alone, and with GPUOPT_IMPLEMENTATION.
extern "C" {
#include "answer.h"
#include "transports/gpuopt_threads.h"
}

int main() {
    const auto desc = GPUOPT_INIT(gpuopt_context_desc);
    const auto model = GPUOPT_INIT(gpuopt_propagator_desc);
    return answer_is_wrong() || desc.struct_size != sizeof desc || model.struct_size != sizeof model;
}
