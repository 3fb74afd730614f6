/* SPDX-License-Identifier: MIT
 *
 * Opens a context. Prints the log, and exits with 0 if the context was created, 1 if it was refused as UNSUPPORTED.
 * With -DALONE only the frame is compiled, as in gpuopt_impl/all.h, with a backend that does nothing: a second instead
 * of half a minute.
 */
#include <stdio.h>

#include "gpuopt.h"

#ifdef ALONE
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
#include "gpuopt_impl/common/context.h"
const gpuopt_backend *gpuopt_backend_cpu(void) {
    static const gpuopt_backend nothing = {
        "nothing", gpuopt__cpu_open, gpuopt__cpu_close, gpuopt__cpu_wait, NULL, NULL, NULL, NULL, NULL, NULL};
    return &nothing;
}
#endif

static void show(void *user, int level, const char *message) {
    (void)user, (void)level;
    printf("%s\n", message);
}

int main(void) {
    gpuopt_context_desc desc = GPUOPT_INIT(gpuopt_context_desc);
    gpuopt_context *context;
    gpuopt_status status;
    desc.log = show;
    status = gpuopt_context_create(&desc, &context);
    gpuopt_context_destroy(context);
    return status == GPUOPT_OK ? 0 : status == GPUOPT_ERROR_UNSUPPORTED ? 1 : 2;
}
