/* SPDX-License-Identifier: MIT
 *
 * What the public calls of all families ask of their arguments.
 */
#ifndef GPUOPT_IMPL_CHECKS_H
#define GPUOPT_IMPL_CHECKS_H

#include "backend.h"

/* Tells the log why a call is refused. */
static gpuopt_status gpuopt__refuse(const gpuopt_context *context, gpuopt_status status, const char *call,
                                    const char *fault) {
    gpuopt__log(context, 0, "%s: %s", call, fault);
    return status;
}

/* Whether a struct that is to be filled is there and says its size. */
#define GPUOPT__HAS_SIZE(result) ((result) && (result)->struct_size >= sizeof(result)->struct_size)

static int gpuopt__is_memory(gpuopt_memory where) { return where == GPUOPT_HOST || where == GPUOPT_DEVICE; }

#endif /* GPUOPT_IMPL_CHECKS_H */
