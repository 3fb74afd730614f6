/* SPDX-License-Identifier: MIT
 *
 * A short complete program: propagates two rows over three columns, one round per call.
 *
 * Build, from the repository's root:
 *     cc -O2 -I. examples/quickstart.c gpuopt_impl/gpuopt.c -lm -o quickstart
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "gpuopt.h"

static void print_log(void *user, int level, const char *message) {
    (void)user;
    fprintf(stderr, "gpuopt (%d): %s\n", level, message);
}

int main(int argc, char **argv) {
    /* 2x + 3y <= 6,  1 <= y + z <= 2;  x, y in [0, 10] and integer, z in [1.5, 10] */
    const int64_t start[] = {0, 2, 4};
    const int32_t col[] = {0, 1, 1, 2};
    const double val[] = {2, 3, 1, 1}, lhs[] = {-1e20, 1}, rhs[] = {6, 2};
    const double lb[] = {0, 0, 1.5}, ub[] = {10, 10, 10};
    const uint8_t integer[] = {1, 1, 0};
    gpuopt_context_desc host = GPUOPT_INIT(gpuopt_context_desc); /* zero means the default, everywhere */
    gpuopt_propagator_desc model = GPUOPT_INIT(gpuopt_propagator_desc);
    gpuopt_propagator_info found = GPUOPT_INIT(gpuopt_propagator_info);
    gpuopt_context *context = NULL;
    gpuopt_propagator *propagator = NULL;
    double new_lb[3], new_ub[3];
    int j, failed;

    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of writing */
    if (argc > 1) {           /* --help, or a mistake */
        printf("usage: quickstart\n");
        return fflush(stdout) ? 2 : strcmp(argv[1], "--help") != 0;
    }
    host.log = print_log; /* on the CPU; for the GPU: host.backend = gpuopt_backend_cuda() */
    model.matrix = (gpuopt_matrix){2, 3, start, col, val, GPUOPT_LAYOUT_CSR};
    model.lhs = lhs;
    model.rhs = rhs;
    model.lb = lb;
    model.ub = ub;
    model.integer = integer;

    failed = gpuopt_context_create(&host, &context) || gpuopt_propagator_create(context, &model, NULL, &propagator);
    while (!failed && found.outcome == GPUOPT_MORE) { /* this loop is yours */
        failed = gpuopt_propagator_round(propagator, 1, &found) != GPUOPT_OK;
        printf("%d bounds moved: %s\n", (int)found.changed, gpuopt_outcome_string(found.outcome));
    }
    failed = failed || gpuopt_propagator_get_bounds(propagator, GPUOPT_HOST, 0, NULL, new_lb, new_ub);
    for (j = 0; j < 3 && !failed; j++) printf("%c in [%g, %g]\n", "xyz"[j], new_lb[j], new_ub[j]);
    gpuopt_propagator_destroy(propagator);
    gpuopt_context_destroy(context);
    if (fflush(stdout) || ferror(stdout)) return 2; /* the result could not be written */
    return failed;
}
