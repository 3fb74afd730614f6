/* SPDX-License-Identifier: MIT
 *
 * Launches, and queries about kernels: templates over the kernel's type.
 */
#ifndef EMULATED_LAUNCH_H
#define EMULATED_LAUNCH_H

#include "api.h"
#include "kernel.h"

namespace emulated {

/* call: the work of each thread. */
cudaError_t launch(const cudaLaunchConfig_t &config, const void *kernel, std::function<void()> call);
cudaError_t attributes(cudaFuncAttributes *attributes, const void *kernel);
cudaError_t set_attribute(const void *kernel, cudaFuncAttribute attribute, int value);
cudaError_t occupancy(int *blocks, const void *kernel, int threads, size_t bytes);

/* Enqueues the work of a library's kernels; they use all of their scratch memory. */
cudaError_t algorithm(const char *what, void *scratch, size_t bytes, size_t needed, cudaStream_t stream,
                      std::function<void()> work);

template <class... Parameter>
const void *address(void (*kernel)(Parameter...)) {
    return reinterpret_cast<const void *>(kernel);
}

} // namespace emulated

template <class... Parameter, class... Argument>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameter...), Argument &&...argument) {
    std::tuple<typename std::decay<Parameter>::type...> arguments(std::forward<Argument>(argument)...);
    return emulated::launch(*config, emulated::address(kernel), [kernel, arguments] { std::apply(kernel, arguments); });
}

template <class... Parameter>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, void (*kernel)(Parameter...)) {
    return emulated::attributes(attributes, emulated::address(kernel));
}

template <class... Parameter>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameter...), cudaFuncAttribute attribute, int value) {
    return emulated::set_attribute(emulated::address(kernel), attribute, value);
}

template <class... Parameter>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void (*kernel)(Parameter...), int threads,
                                                          size_t bytes) {
    return emulated::occupancy(blocks, emulated::address(kernel), threads, bytes);
}

#endif /* EMULATED_LAUNCH_H */
