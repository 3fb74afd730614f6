/* SPDX-License-Identifier: MIT
 *
 * The tables and figures of Meyer, Albuquerque and Chopard: A multi-GPU implementation and performance model for the
 * standard simplex method (2011). It has no tables of numbers. Columns of the paper say what its text does.
 *     simplex [--quick] [--data FOLDER] [--dat FOLDER] [--threads N]
 *   Fig. 2   time against size: CLP, and the paper's way and ours on the CPU and on 1, 2 and 4 GPUs
 *   5.3, 6   the model of the time beside it, its correlation, and predicted speed-ups up to 40 GPUs
 *   Fig. 3   time of an iteration against density, and how density grows during a run
 *   6        the NETLIB models, which need --data
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/papers/simplex.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A context for each rank loads the kernels of its device, and a first run of each way those that are still missing. */
static void warm(study *s) {
    mip model;
    int w, place;
    load_program(s, "plant:100:500:.1:1", &model);
    for (w = 0; w < WAYS; w++)
        for (place = CPU_ONE; place < PLACES; place++) solve_on(s, &model, &ways[w], place, 0, 10);
    mip_free(&model);
}

static int print_checks(const study *s) {
    static const char *const titles[CHECKS] = {
        "all optima are those of CLP, or the planted ones",
        "no bound, side or reduced cost is violated by more than 1e-6",
        "all CPU threads find the bits of one",
        "ranks find the bits of one rank",
        "the optima of NETLIB are the published ones",
        "the tableau of the first basis has the entries of A",
    };
    int k, broken = 0;
    puts("");
    for (k = 0; k < CHECKS; k++) {
        broken += s->broken[k];
        if (s->cases[k] == 0) printf("check: %s: no case here\n", titles[k]);
        else if (s->broken[k] == 0) printf("check: %s holds (%d cases)\n", titles[k], s->cases[k]);
        else printf("check: %s FAILS in %d of %d cases\n", titles[k], s->broken[k], s->cases[k]);
    }
    return broken > 0;
}

int main(int argc, char **argv) {
    static study s;
    double start = now();
    int status, broken;
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    memset(&s, 0, sizeof s);
    status = paper_open(&s.p, argc, argv);
    if (status) return status;
    if (s.p.gpu) s.on.devices = split_devices();
    s.on.cuda = s.on.devices > 0;
    printf("%d CUDA devices. Opening the contexts, which no time below contains: %.2f s.\n", s.on.devices,
           now() - start);
    warm(&s);
    print_sizes(&s);
    print_model(&s);
    print_densities(&s);
    print_netlib(&s);
    broken = print_checks(&s);
    printf("%.0f s in all\n", now() - start);
    paper_close(&s.p);
    return broken ? EXIT_FAILED : finish_output(0);
}
