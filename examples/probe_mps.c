/* SPDX-License-Identifier: MIT
 *
 * Probes the binary columns of a mixed-integer program: sets each to 0 and to 1, propagates to the fixpoint, and counts
 * what follows, by one call.
 *
 * Build, from the repository's root; -fopenmp adds threads:
 *     cc -O2 -I. examples/probe_mps.c examples/common.c examples/interrupt.c examples/io/m*.c \
 *         examples/io/lp_models.c examples/io/names.c examples/io/text.c examples/io/generate.cpp \
 *         gpuopt_impl/gpuopt.c -lz -llzma -lstdc++ -lm -o probe_mps
 * Also reads: *.mps *.mps.gz *.mps.xz gen:*
 * Try: gen:rand,10000,10000,10,1 --backend cpu
 * Try: gen:rand,10000,10000,10,1 --threads all
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common.h"
#include "examples/io/mip.h"

static const char usage[] =
    "usage: probe_mps MODEL [options]\n"
    "  MODEL              an MPS file (also by gzip; -: standard input), or gen:NAME as for propagate_mps\n"
    "  --backend B        cpu, cuda or auto: cuda where there is one (auto)\n"
    "  --threads N        of the CPU backend (1)\n"
    "  --json             one line of JSON on stdout, nothing else\n"
    "  --help             print this and exit\n"
    "In the JSON:\n"
    "  binaries           integer columns between 0 and 1 where propagation of the whole model ends\n"
    "  probes             two for each, each from there\n"
    "  infeasible         probes without a solution\n"
    "  fixings            binaries that have one value in all feasible probes of some binary\n"
    "  implications       pairs of a feasible probe and another binary that it fixes\n"
    "  equivalences       those of them that imply that the two binaries are equal, or opposite, counted for each of\n"
    "                     the two that says so\n"
    "  unfinished         probes that were not at a fixpoint after 1000 rounds\n"
    "exit status: 0 done, 1 infeasible, 2 bad input or a failed write, 3 anything else\n";

typedef struct options {
    const char *model, *backend;
    int64_t threads;
    int json;
} options;

/* See parse_words(). */
static int take(void *options_of, const char *name, const char *value) {
    options *o = options_of;
    if (strcmp(name, "--backend") == 0) return choice(o->backend = value, backends) >= 0;
    if (strcmp(name, "--threads") == 0) return whole_number(value, 1024, &o->threads);
    return -1;
}

enum { ROUNDS = 1000 };

/* What is found. */
typedef struct result {
    gpuopt_outcome root; /* of the propagation of the whole model */
    int32_t binaries, fixings;
    gpuopt_propagator_probe_info info;
    double seconds;
} result;

static int is_binary(const mip *model, const double *lb, const double *ub, int32_t j) {
    return model->integer && model->integer[j] && lb[j] == 0 && ub[j] == 1;
}

/* Counts the binaries, and those that probing has fixed. */
static gpuopt_status count_fixings(gpuopt_propagator *base, gpuopt_propagator_probe *probe, const mip *model,
                                   result *r) {
    size_t cols = (size_t)model->matrix.cols + 1;
    gpuopt_propagator_probe_bounds found = GPUOPT_INIT(gpuopt_propagator_probe_bounds);
    double *lb = malloc(cols * sizeof *lb), *ub = malloc(cols * sizeof *ub);
    gpuopt_status status = GPUOPT_ERROR_MEMORY;
    int32_t j;
    int64_t k;
    found.capacity = model->matrix.cols;
    found.col = malloc(cols * sizeof *found.col);
    if (lb && ub && found.col) status = gpuopt_propagator_get_bounds(base, GPUOPT_HOST, lb, ub);
    if (!status) status = gpuopt_propagator_probe_get_bounds(probe, &found);
    for (j = 0; !status && j < model->matrix.cols; j++) r->binaries += is_binary(model, lb, ub, j);
    for (k = 0; !status && k < found.count; k++) r->fixings += is_binary(model, lb, ub, found.col[k]);
    free(lb);
    free(ub);
    free(found.col);
    return status;
}

/* Propagates the model, and probes all its binaries both ways. */
static gpuopt_status probe_all(gpuopt_context *context, const mip *model, result *r) {
    gpuopt_propagator_desc desc = mip_propagator_desc(model);
    gpuopt_propagator_probe_desc room = GPUOPT_INIT(gpuopt_propagator_probe_desc);
    gpuopt_propagator_info root = GPUOPT_INIT(gpuopt_propagator_info);
    gpuopt_propagator *base = NULL;
    gpuopt_propagator_probe *probe = NULL;
    gpuopt_status status = gpuopt_propagator_create(context, &desc, &base);
    if (!status) status = gpuopt_propagator_round(base, ROUNDS, &root);
    r->root = root.outcome;
    if (!status && root.outcome != GPUOPT_INFEASIBLE) {
        status = gpuopt_propagator_probe_create(base, &room, &probe); /* implications are counted, not kept */
        r->seconds = now();
        if (!status) status = gpuopt_propagator_probe_run(probe, 0, NULL, ROUNDS, &r->info);
        r->seconds = now() - r->seconds;
        if (!status) status = count_fixings(base, probe, model, r);
    }
    gpuopt_propagator_probe_destroy(probe);
    gpuopt_propagator_destroy(base);
    return status;
}

/* ---- The program ---- */

static void report(const options *o, const char *backend, const result *r) {
    const gpuopt_propagator_probe_info *c = &r->info;
    if (o->json) {
        printf("{\"model\": ");
        print_json_string(o->model);
        printf(", \"backend\": \"%s\", \"threads\": %d, \"binaries\": %d, \"probes\": %lld, \"infeasible\": %d",
               backend, (int)o->threads, (int)r->binaries, 2 * (long long)r->binaries, (int)c->infeasible);
        printf(", \"fixings\": %d, \"implications\": %lld, \"equivalences\": %lld, \"unfinished\": %d", (int)r->fixings,
               (long long)c->implied_binaries, (long long)c->equivalences, (int)c->unfinished);
        printf(", \"seconds\": %.6f}\n", r->seconds);
        return;
    }
    printf("%d binaries probed both ways on %s in %.3g s", (int)r->binaries, backend, r->seconds);
    printf(": %d probes are infeasible, %d binaries are fixed by that;\n", (int)c->infeasible, (int)r->fixings);
    printf("%lld implications between two binaries, %lld equivalences.\n", (long long)c->implied_binaries,
           (long long)c->equivalences);
    if (c->unfinished) printf("%d probes were not at a fixpoint after %d rounds.\n", (int)c->unfinished, ROUNDS);
    if (c->outcome == GPUOPT_INFEASIBLE)
        printf("Column %d can have no value: the model is infeasible.\n", (int)c->infeasible_col);
}

static int run(const options *o, const mip *model) {
    result r = {GPUOPT_MORE, 0, 0, GPUOPT_INIT(gpuopt_propagator_probe_info), 0};
    gpuopt_context *context = NULL;
    speaker speaker = {o->model, 0};
    const char *backend = "none";
    gpuopt_status status = open_context(o->backend, 1, (int)o->threads, &speaker, &context, &backend);
    if (!status) status = probe_all(context, model, &r);
    gpuopt_context_destroy(context);
    if (status) {
        fprintf(stderr, "%s: %s\n", o->model, gpuopt_status_string(status));
        return status == GPUOPT_ERROR_ARGUMENT ? EXIT_BAD_INPUT : EXIT_FAILED; /* the log has named the place */
    }
    report(o, backend, &r);
    return r.root == GPUOPT_INFEASIBLE || r.info.outcome == GPUOPT_INFEASIBLE ? EXIT_INFEASIBLE : 0;
}

int main(int argc, char **argv) {
    options o = {.backend = "auto", .threads = 1};
    mip model;
    char error[1024];
    int result;
    if (parse_words(argc, argv, usage, take, &o, &o.model, &o.json)) return EXIT_BAD_INPUT;
    if (mip_load(o.model, &model, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    result = run(&o, &model);
    mip_free(&model);
    return finish_output(result);
}
