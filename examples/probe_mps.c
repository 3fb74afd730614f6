/* SPDX-License-Identifier: MIT
 *
 * Probes the binary columns of a mixed-integer program: sets each to 0 and to 1, propagates to the fixpoint, and counts
 * the implications, by one call.
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

#include "gpuopt/search.h"
#include "examples/common.h"
#include "examples/io/mip.h"

static const char usage[] =
    "usage: probe_mps MODEL [options]\n"
    "  MODEL              an MPS file (also by gzip; -: standard input), or gen:NAME as for propagate_mps\n"
    "  --backend B        cpu, cuda or auto: cuda where there is one (auto)\n"
    "  --threads N        of the CPU backend (1)\n"
    "  --solution FILE    write \"name lower upper\" for each column: bounds that hold in every solution\n" USAGE_SHARED
    "In the JSON:\n"
    "  binaries           integer columns between 0 and 1 where propagation of the whole model ends\n"
    "  probes             two for each of those that have been probed, each from there\n"
    "  outcome            converged: all have been probed; limit: stopped early; infeasible\n"
    "  infeasible         probes without a solution\n"
    "  fixings            binaries that have one value in all feasible probes of some binary\n"
    "  implications       pairs of a feasible probe and another binary that it fixes\n"
    "  equivalences       those of them that imply that the two binaries are equal, or opposite, counted for each of\n"
    "                     the two that says so\n"
    "  unfinished         probes that were not at a fixpoint after 1000 rounds\n"
    "exit status: 0 done, 1 infeasible, 2 bad input or a failed write,\n"
    "             3 stopped early, or anything else\n";

typedef struct options {
    const char *model, *backend, *solution;
    int64_t threads;
    int json;
} options;

/* See parse_options(). */
static const char *const values[] = {"backend", "solution", "threads", NULL};

static int take(void *options_of, const char *name, const char *value) {
    options *o = options_of;
    if (strcmp(name, "backend") == 0) return choice(o->backend = value, backends) >= 0;
    if (strcmp(name, "solution") == 0) return *(o->solution = value) != 0;
    if (strcmp(name, "threads") == 0) return whole_number(value, 1024, &o->threads);
    return 0;
}

enum { ROUNDS = 1000 };

/* The results. */
typedef struct found {
    gpuopt_outcome root; /* of the propagation of the whole model */
    int32_t binaries, fixings;
    double *lb, *ub; /* [columns] that hold in every solution */
    gpuopt_propagator_probe_info info;
    double seconds;
} found;

static int is_binary(const mip *model, const double *lb, const double *ub, int32_t j) {
    return model->integer && model->integer[j] && lb[j] == 0 && ub[j] == 1;
}

/* Takes the bounds that hold after the propagation of the whole model. */
static gpuopt_status take_root(gpuopt_propagator *base, const mip *model, found *r) {
    size_t cols = (size_t)model->matrix.cols + 1;
    gpuopt_status status = GPUOPT_ERROR_MEMORY;
    int32_t j;
    r->lb = malloc(cols * sizeof *r->lb);
    r->ub = malloc(cols * sizeof *r->ub);
    if (r->lb && r->ub) status = gpuopt_propagator_get_bounds(base, GPUOPT_HOST, 0, NULL, r->lb, r->ub);
    for (j = 0; !status && j < model->matrix.cols; j++) r->binaries += is_binary(model, r->lb, r->ub, j);
    return status;
}

/* Takes the bounds that probing has found, and counts the binaries that it has fixed. */
static gpuopt_status take_found(gpuopt_propagator_probe *probe, const mip *model, found *r) {
    size_t cols = (size_t)model->matrix.cols + 1;
    gpuopt_propagator_probe_bounds bounds = GPUOPT_INIT(gpuopt_propagator_probe_bounds);
    gpuopt_status status = GPUOPT_ERROR_MEMORY;
    int64_t k;
    bounds.capacity = model->matrix.cols;
    bounds.col = malloc(cols * sizeof *bounds.col);
    bounds.lb = malloc(cols * sizeof *bounds.lb);
    bounds.ub = malloc(cols * sizeof *bounds.ub);
    if (bounds.col && bounds.lb && bounds.ub) status = gpuopt_propagator_probe_get_bounds(probe, &bounds);
    for (k = 0; !status && k < bounds.count; k++) {
        int32_t j = bounds.col[k];
        r->fixings += is_binary(model, r->lb, r->ub, j);
        r->lb[j] = bounds.lb[k];
        r->ub[j] = bounds.ub[k];
    }
    free(bounds.col);
    free(bounds.lb);
    free(bounds.ub);
    return status;
}

/* Propagates the model, and probes all its binaries both ways. */
static gpuopt_status probe_all(gpuopt_context *context, const mip *model, found *r) {
    gpuopt_propagator_desc desc = mip_propagator_desc(model);
    gpuopt_propagator_probe_desc limits = GPUOPT_INIT(gpuopt_propagator_probe_desc);
    gpuopt_propagator_info root = GPUOPT_INIT(gpuopt_propagator_info);
    gpuopt_propagator *base = NULL;
    gpuopt_propagator_probe *probe = NULL;
    gpuopt_status status = gpuopt_propagator_create(context, &desc, NULL, &base);
    if (!status) status = gpuopt_propagator_round(base, ROUNDS, &root);
    r->root = root.outcome;
    if (!status && root.outcome != GPUOPT_INFEASIBLE) status = take_root(base, model, r);
    if (!status && root.outcome != GPUOPT_INFEASIBLE && !interrupted(NULL)) {
        status = gpuopt_propagator_probe_create(base, &limits, NULL, &probe); /* implications are counted, not kept */
        r->seconds = now();
        if (!status) status = gpuopt_propagator_probe_run(probe, 0, NULL, ROUNDS, &r->info);
        r->seconds = now() - r->seconds;
        if (!status) status = take_found(probe, model, r);
    }
    gpuopt_propagator_probe_destroy(probe);
    gpuopt_propagator_destroy(base);
    return status;
}

/* ---- The program ---- */

/* INFEASIBLE, CONVERGED: all binaries have been probed, or LIMIT: stopped early. */
static gpuopt_outcome outcome_of(const found *r) {
    if (r->root == GPUOPT_INFEASIBLE) return GPUOPT_INFEASIBLE;
    return r->info.outcome == GPUOPT_MORE ? GPUOPT_LIMIT : r->info.outcome;
}

static void report(const options *o, const char *backend, const found *r) {
    const gpuopt_propagator_probe_info *c = &r->info;
    if (o->json) {
        printf("{\"model\": ");
        print_json_string(o->model);
        printf(", \"backend\": \"%s\", \"threads\": %d, \"outcome\": \"%s\"", backend, (int)o->threads,
               gpuopt_outcome_string(outcome_of(r)));
        printf(", \"binaries\": %d, \"probes\": %lld, \"infeasible\": %d", (int)r->binaries, 2 * (long long)c->probed,
               (int)c->infeasible);
        printf(", \"fixings\": %d, \"implications\": %lld, \"equivalences\": %lld, \"unfinished\": %d", (int)r->fixings,
               (long long)c->implied_binaries, (long long)c->equivalences, (int)c->unfinished);
        printf(", \"seconds\": %.6f}\n", r->seconds);
        return;
    }
    if (outcome_of(r) == GPUOPT_LIMIT) printf("Stopped %s: of %d binaries, ", interrupt_cause(), (int)r->binaries);
    printf("%d binaries probed both ways on %s in %.3g s", (int)c->probed, backend, r->seconds);
    printf(": %d probes are infeasible, %d binaries are fixed by that;\n", (int)c->infeasible, (int)r->fixings);
    printf("%lld implications between two binaries, %lld equivalences.\n", (long long)c->implied_binaries,
           (long long)c->equivalences);
    if (c->unfinished) printf("%d probes were not at a fixpoint after %d rounds.\n", (int)c->unfinished, ROUNDS);
    if (c->outcome == GPUOPT_INFEASIBLE)
        printf("Column %d can have no value: the model is infeasible.\n", (int)c->infeasible_col);
}

static int write_bounds(const char *path, const mip *model, const found *r) {
    FILE *file = fopen(path, "w");
    if (file) print_pairs(file, model->col_name, 'x', model->matrix.cols, r->lb, r->ub);
    return close_written(file, path);
}

/* The exit status, once everything has been printed. */
static int finish(const options *o, const mip *model, const found *r) {
    gpuopt_outcome outcome = outcome_of(r);
    if (o->solution && outcome != GPUOPT_INFEASIBLE && write_bounds(o->solution, model, r)) return EXIT_BAD_INPUT;
    return outcome == GPUOPT_INFEASIBLE ? EXIT_INFEASIBLE : outcome == GPUOPT_LIMIT ? EXIT_FAILED : 0;
}

static int run(const options *o, const mip *model) {
    found r = {.root = GPUOPT_MORE, .info = GPUOPT_INIT(gpuopt_propagator_probe_info)};
    gpuopt_context *context = NULL;
    log_printer printer = {o->model, 0};
    const char *backend = "none";
    int result;
    gpuopt_status status = open_context(o->backend, 1, (int)o->threads, &printer, &context, &backend);
    if (!status) status = probe_all(context, model, &r);
    gpuopt_context_destroy(context);
    if (!status) report(o, backend, &r);
    else fprintf(stderr, "%s: %s\n", o->model, gpuopt_status_string(status));
    if (!status) result = finish(o, model, &r);
    else result = status == GPUOPT_ERROR_ARGUMENT ? EXIT_BAD_INPUT : EXIT_FAILED; /* the log has named the place */
    free(r.lb);
    free(r.ub);
    return result;
}

int main(int argc, char **argv) {
    options o = {.backend = "auto", .threads = 1};
    mip model;
    char error[1024];
    int result;
    if (parse_options(argc, argv, usage, values, NULL, take, &o, &o.model, &o.json)) return EXIT_BAD_INPUT;
    if (mip_load(o.model, &model, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    interrupt_catch();
    result = run(&o, &model);
    mip_free(&model);
    return finish_output(result);
}
