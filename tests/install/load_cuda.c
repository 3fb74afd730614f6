/* SPDX-License-Identifier: MIT
 *
 * For shared_test.sh: prints the name of the backend that gpuopt_backend_cuda_load returns for the file of the first
 * argument, or for NULL, and the reason. It asks twice, and without a reason.
 */
#include <stdio.h>
#include <string.h>

#include "gpuopt.h"

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : NULL, *reason = "", *reason_again = "";
    const gpuopt_backend *backend = gpuopt_backend_cuda_load(path, &reason);
    printf("%s: %s\n", gpuopt_backend_name(backend), reason ? reason : "-");
    if (gpuopt_backend_cuda_load(path, &reason_again) != backend) return 1;
    if (gpuopt_backend_cuda_load(path, NULL) != backend) return 2;
    if (!backend != !!reason || !reason != !reason_again) return 3;
    return reason && strcmp(reason, reason_again) != 0 ? 4 : 0;
}
