/* SPDX-License-Identifier: MIT
 *
 * Times probing: all binaries of a model, both ways, from where propagation of the whole model ends.
 *     probe_bench BACKEND,... [--models "NAME;NAME..."] [--rounds N] [--repeat N]
 * BACKEND: cpu, cpu:THREADS or cuda; NAME: of a generated model (examples/io/mip.h) or a file. Medians of N passes
 * after one that is not counted, in ms:
 *     pass          a call that counts everything and stores only bounds
 *     kept          the same with implications and equivalences kept
 */
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "examples/io/mip.h"
#include "tests/bench/bench.h"

typedef struct options {
    const char *models;
    int64_t rounds, repeat;
} options;

/* The median time of a pass in ms, with capacity for this many implications and equivalences; below 0 after a
 * message. */
static double time_pass(const machine *on, gpuopt_propagator *base, int64_t implications, int64_t equivalences,
                        const options *o, gpuopt_propagator_probe_info *info) {
    gpuopt_propagator_probe_desc desc = GPUOPT_INIT(gpuopt_propagator_probe_desc);
    gpuopt_propagator_probe *probe;
    double taken[MOST_REPEATS];
    int k;
    gpuopt_status status;
    desc.implications = implications;
    desc.equivalences = equivalences;
    status = gpuopt_propagator_probe_create(base, &desc, NULL, &probe);
    if (status) return failed(on, "probe", "create", status);
    for (k = -1; k < (int)o->repeat && !status; k++) {
        double begin = now();
        status = gpuopt_propagator_probe_run(probe, 0, NULL, (int32_t)o->rounds, info);
        if (k >= 0) taken[k] = 1e3 * (now() - begin);
    }
    gpuopt_propagator_probe_destroy(probe);
    return status ? failed(on, "probe", "run", status) : median(taken, (int)o->repeat);
}

static int measure(const machine *on, const char *name, const mip *m, const options *o) {
    gpuopt_propagator_desc desc = mip_propagator_desc(m);
    gpuopt_propagator_info root = GPUOPT_INIT(gpuopt_propagator_info);
    gpuopt_propagator_probe_info info = GPUOPT_INIT(gpuopt_propagator_probe_info);
    gpuopt_propagator *base;
    double pass = -1, kept = -1;
    gpuopt_status status = gpuopt_propagator_create(on->context, &desc, NULL, &base);
    if (!status) status = gpuopt_propagator_round(base, 10000, &root);
    if (status) {
        failed(on, name, "create or round", status);
    } else {
        pass = time_pass(on, base, 0, 0, o, &info);
        if (pass >= 0 && info.implications <= 400000000)
            kept = time_pass(on, base, info.implications, info.equivalences, o, &info);
    }
    gpuopt_propagator_destroy(base);
    if (pass < 0) return -1;
    printf("| %s | %d | %lld | %s | %.3f | ", name, (int)info.probed, (long long)mip_nonzeros(m), on->name, pass);
    if (kept >= 0) printf("%.3f", kept);
    else printf("-");
    printf(" | %.3f | %d | %d | %d | %lld | %lld | %lld |\n", 5e2 * pass / (info.probed ? info.probed : 1),
           (int)info.infeasible, (int)info.bounds, (int)info.fixings, (long long)info.implications,
           (long long)info.implied_binaries, (long long)info.equivalences);
    fflush(stdout);
    return 0;
}

int main(int argc, char **argv) {
    machine machines[MOST_MACHINES];
    char name[MOST_MACHINES][NAME], model_name[NAME], error[512] = "out of memory";
    options o = {"gen:cover,42520,325000,1;gen:rand,10000,10000,10,1", 1000, 5};
    int count, k, result = 0;
    const char *at;
    for (k = 2; k + 1 < argc; k += 2) {
        if (strcmp(argv[k], "--models") == 0) o.models = argv[k + 1];
        else if (strcmp(argv[k], "--rounds") == 0 && whole_number(argv[k + 1], 1000000, &o.rounds)) continue;
        else if (strcmp(argv[k], "--repeat") != 0 || !whole_number(argv[k + 1], MOST_REPEATS, &o.repeat)) break;
    }
    if (argc < 2 || k != argc) {
        fprintf(stderr, "usage: probe_bench BACKEND,... [--models NAME;NAME...] [--rounds N] [--repeat N]\n");
        return EXIT_BAD_INPUT;
    }
    count = open_machines("probe_bench", argv[1], machines, name);
    if (count < 0) return EXIT_BAD_INPUT;
    printf(
        "| model | binaries | nonzeros | backend | pass, ms | kept, ms | us a probe | infeasible | bounds | fixings | "
        "implications | of binaries | equivalences |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | "
        "--- "
        "| --- | --- |\n");
    for (at = o.models; *at && !result;) {
        size_t length = strcspn(at, ";");
        mip m;
        snprintf(model_name, sizeof model_name, "%.*s", (int)length, at);
        at += length + (at[length] == ';');
        if (mip_load(model_name, &m, error, sizeof error)) {
            fprintf(stderr, "%s: %s\n", model_name, error);
            result = EXIT_BAD_INPUT;
            break;
        }
        for (k = 0; k < count; k++)
            if (measure(&machines[k], model_name, &m, &o)) result = EXIT_FAILED;
        mip_free(&m);
    }
    close_machines(machines, count);
    return finish_output(result);
}
