/* SPDX-License-Identifier: MIT
 *
 * A C caller that names the CUDA backend. Without a GPU it receives a status and a log message. Prints the result.
 */
#include <stdio.h>

#include "gpuopt.h"

static void count_message(void *user, int level, const char *message) {
    if (level == 0 && message[0]) ++*(int *)user;
}

int main(void) {
    int messages = 0;
    gpuopt_status status;
    gpuopt_context *context;
    gpuopt_context_desc desc;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.backend = gpuopt_backend_cuda();
    desc.user = &messages;
    desc.log = count_message;
    status = gpuopt_context_create(&desc, &context);
    printf("%s, %d error messages\n", gpuopt_status_string(status), messages);
    if (status == GPUOPT_OK) gpuopt_context_destroy(context);
    return !(status == GPUOPT_OK ? messages == 0
                                 : status == GPUOPT_ERROR_UNSUPPORTED && messages == 1 && context == NULL);
}
