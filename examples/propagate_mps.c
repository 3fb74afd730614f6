/* SPDX-License-Identifier: MIT
 *
 * Propagates the bounds of a mixed-integer program: reads an MPS file or generates a model, makes rounds in a loop as a
 * caller would, and prints the result.
 *
 * Build, from the repository's root; -fopenmp adds threads:
 *     cc -O2 -I. examples/propagate_mps.c examples/common.c examples/interrupt.c examples/io/m*.c \
 *         examples/io/lp_models.c examples/io/names.c examples/io/text.c examples/io/generate.cpp \
 *         gpuopt_impl/gpuopt.c -lz -llzma -lstdc++ -lm -o propagate_mps
 * Reads: *.mps+integer *.mps.gz+integer *.mps.xz+integer gen:*
 * Try: gen:rand,1000000,1000000,10,1
 * Try: gen:rand,1000000,1000000,10,1 --threads all
 * Try: gen:band,2000000,8,1
 * Try: gen:band,2000000,8,1 --threads all
 * Try: gen:rand,10000,10000,10,1
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/common.h"
#include "examples/io/mip.h"

static const char usage[] =
    "usage: propagate_mps MODEL [options]\n"
    "  MODEL              an MPS file (also by gzip; -: standard input), or gen:NAME, NAME one of "
    "rand,M,N,LEN,SEED[,SLACK]\n"
    "                     skew,M,N,LEN,SEED[,SLACK] band,M,LEN,SEED[,SLACK] cascade,N twolines cflp,K emptyrows,E\n"
    "                     cover,N,NONZEROS,SEED\n"
    "  --backend B        cpu, cuda or auto: cuda where there is one and the model is large enough (auto)\n"
    "  --threads N        of the CPU backend (1)\n"
    "  --mode M           jacobi: the same bits everywhere; gauss-seidel: CPU only, fewest rounds (jacobi)\n"
    "  --driver D         how the GPU runs rounds: auto, host, cooperative or graph (auto)\n"
    "  --rounds N         at most this many (1000)\n"
    "  --solution FILE    write \"name lower upper\" for each column; also --bounds\n" USAGE_SHARED
    "exit status: 0 done, 1 infeasible, 2 bad input or a failed write,\n"
    "             3 stopped early, but for --rounds, or anything else\n";

typedef struct options {
    const char *model, *backend, *mode, *driver, *bounds;
    int64_t threads, rounds;
    int json;
} options;

/* ---- Command line ---- */

static const char *const modes[] = {"jacobi", "gauss-seidel", NULL};
static const char *const drivers[] = {"auto", "host", "cooperative", "graph", NULL}; /* as in gpuopt.h */

/* See parse_options(). */
static const char *const values[] = {"backend", "mode", "driver", "threads", "rounds", "solution", "bounds", NULL};

static int parse_option(void *options_of, const char *name, const char *value) {
    options *o = options_of;
    if (strcmp(name, "backend") == 0) return choice(o->backend = value, backends) >= 0;
    if (strcmp(name, "mode") == 0) return choice(o->mode = value, modes) >= 0;
    if (strcmp(name, "driver") == 0) return choice(o->driver = value, drivers) >= 0;
    if (strcmp(name, "threads") == 0) return whole_number(value, 1000000000, &o->threads);
    if (strcmp(name, "rounds") == 0) return whole_number(value, 1000000000, &o->rounds);
    if (strcmp(name, "solution") == 0 || strcmp(name, "bounds") == 0) return *(o->bounds = value) != 0;
    return 0;
}

/* Returns 0, or prints the fault and returns -1. */
static int parse(int argc, char **argv, options *o) {
    memset(o, 0, sizeof *o);
    o->backend = o->driver = "auto";
    o->mode = "jacobi";
    o->threads = 1;
    o->rounds = 1000;
    return parse_options(argc, argv, usage, values, NULL, parse_option, o, &o->model, &o->json);
}

/* With at least this many nonzeros an H200 is faster than one core of its CPU: a launch then takes less time than a
 * round or two on that core. See tests/bench/results/propagation.md. */
static const int64_t cuda_from_nonzeros = 2200;

/* ---- Results ---- */

/* The result of all calls together, and their time. */
typedef struct summary {
    const char *backend, *stopped; /* stopped: the cause, in words; NULL: none */
    gpuopt_propagator_info info;   /* sums over all calls */
    int64_t tightened_lower, tightened_upper;
    double seconds, read_seconds;
} summary;

static void count_tightened(const mip *model, const double *lb, const double *ub, summary *s) {
    int j;
    for (j = 0; j < model->matrix.cols; j++) {
        s->tightened_lower += lb[j] > model->lb[j] && lb[j] > -1e20;
        s->tightened_upper += ub[j] < model->ub[j] && ub[j] < 1e20;
    }
}

static int write_bounds(const char *path, const mip *model, const double *lb, const double *ub) {
    FILE *file = fopen(path, "w");
    if (file) print_pairs(file, model->col_name, 'x', model->matrix.cols, lb, ub);
    return close_written(file, path);
}

static void print_json(const options *o, const mip *model, const summary *s) {
    printf("{\"model\": ");
    print_json_string(o->model);
    printf(", \"backend\": \"%s\", \"mode\": \"%s\", \"driver\": \"%s\", \"threads\": %d", s->backend, o->mode,
           o->driver, (int)o->threads);
    printf(", \"rows\": %d, \"cols\": %d, \"nonzeros\": %lld", (int)model->matrix.rows, (int)model->matrix.cols,
           (long long)mip_nonzeros(model));
    printf(", \"rounds\": %d, \"outcome\": \"%s\", \"changed\": %lld", (int)s->info.rounds,
           gpuopt_outcome_string(s->info.outcome), (long long)s->info.changed);
    printf(", \"infeasible_row\": %d, \"infeasible_col\": %d", (int)s->info.infeasible_row,
           (int)s->info.infeasible_col);
    printf(", \"tightened_lower\": %lld, \"tightened_upper\": %lld", (long long)s->tightened_lower,
           (long long)s->tightened_upper);
    printf(", \"seconds\": %.9f, \"read_seconds\": %.6f}\n", s->seconds, s->read_seconds);
}

static void print_words(const mip *model, const summary *s) {
    double nonzeros = (double)mip_nonzeros(model) * s->info.rounds;
    printf("%d rounds on %s in %.3g ms", (int)s->info.rounds, s->backend, 1e3 * s->seconds);
    if (s->info.rounds > 0) printf(" (%.3g billion nonzeros a second)", 1e-9 * nonzeros / s->seconds);
    switch (s->info.outcome) {
    case GPUOPT_CONVERGED: printf(": nothing more to tighten.\n"); break;
    case GPUOPT_LIMIT: printf(": stopped %s.\n", s->stopped ? s->stopped : "at the limit of rounds"); break;
    case GPUOPT_INFEASIBLE:
        if (s->info.infeasible_row >= 0) {
            printf(": infeasible: no point within the bounds satisfies row ");
            print_name(stdout, model->row_name, 'r', s->info.infeasible_row);
            printf(".\n");
        } else {
            printf(": infeasible: the bounds of column ");
            print_name(stdout, model->col_name, 'x', s->info.infeasible_col);
            printf(" cross.\n");
        }
        break;
    default: printf(": %s.\n", gpuopt_outcome_string(s->info.outcome));
    }
    printf("%lld of %d lower and %lld upper bounds are tighter than before.\n", (long long)s->tightened_lower,
           (int)model->matrix.cols, (long long)s->tightened_upper);
}

/* ---- The loop ---- */

/* On a terminal: one round per call, and a line for each; otherwise all rounds in one call, which takes fewer exchanges
 * with a GPU. */
static gpuopt_status propagate(gpuopt_propagator *propagator, const options *o, summary *s) {
    int watched = !o->json && isatty(STDOUT_FILENO);
    gpuopt_propagator_info step;
    gpuopt_status status = GPUOPT_OK;
    double start;
    gpuopt_desc_init(&step, sizeof step);
    gpuopt_desc_init(&s->info, sizeof s->info);
    s->info.infeasible_row = s->info.infeasible_col = -1; /* printed after a stop before the first round */
    while (!status && step.outcome == GPUOPT_MORE && !interrupted(NULL)) {
        start = now();
        status = gpuopt_propagator_round(propagator, watched ? 1 : (int32_t)o->rounds, &step);
        s->seconds += now() - start;
        step.rounds += s->info.rounds;
        step.changed += s->info.changed;
        s->info = step;
        if (watched && !status)
            printf("round %4d: %10lld bounds moved so far, %.3f ms\n", (int)step.rounds, (long long)step.changed,
                   1e3 * s->seconds);
    }
    if (!status && step.outcome == GPUOPT_MORE) {
        s->stopped = interrupt_cause();
        s->info.outcome = GPUOPT_LIMIT;
    }
    return status;
}

static int run(const options *o, const mip *model, summary *s) {
    gpuopt_propagator_desc desc = mip_propagator_desc(model);
    gpuopt_context *context = NULL;
    gpuopt_propagator *propagator = NULL;
    size_t bytes = sizeof(double) * ((size_t)model->matrix.cols + 1);
    double *lb = malloc(bytes), *ub = malloc(bytes);
    gpuopt_status status;
    log_printer printer = {o->model, 0};
    int result = EXIT_FAILED, try_gpu;
    desc.mode = strcmp(o->mode, "gauss-seidel") == 0 ? GPUOPT_MODE_GAUSS_SEIDEL : GPUOPT_MODE_JACOBI;
    desc.driver = (gpuopt_propagator_driver)choice(o->driver, drivers);
    desc.round_limit = (int32_t)o->rounds;
    try_gpu = desc.mode == GPUOPT_MODE_JACOBI && mip_nonzeros(model) >= cuda_from_nonzeros;
    status = lb && ub ? open_context(o->backend, try_gpu, (int)o->threads, &printer, &context, &s->backend)
                      : GPUOPT_ERROR_MEMORY;
    if (!status && !o->json)
        printf("%s: %d rows, %d columns, %lld nonzeros; read in %.3g s\n", o->model, (int)model->matrix.rows,
               (int)model->matrix.cols, (long long)mip_nonzeros(model), s->read_seconds);
    if (!status) status = gpuopt_propagator_create(context, &desc, NULL, &propagator);
    if (status == GPUOPT_ERROR_ARGUMENT) result = EXIT_BAD_INPUT; /* the log has named the place in the model */
    if (!status) status = propagate(propagator, o, s);
    if (!status) status = gpuopt_propagator_get_bounds(propagator, GPUOPT_HOST, 0, NULL, lb, ub);
    if (status) {
        fprintf(stderr, "%s: %s\n", o->model, gpuopt_status_string(status));
    } else {
        count_tightened(model, lb, ub, s);
        if (o->json) print_json(o, model, s);
        else print_words(model, s);
        result = s->info.outcome == GPUOPT_INFEASIBLE ? EXIT_INFEASIBLE : s->stopped ? EXIT_FAILED : 0;
        if (o->bounds && write_bounds(o->bounds, model, lb, ub)) result = EXIT_BAD_INPUT;
    }
    gpuopt_propagator_destroy(propagator);
    gpuopt_context_destroy(context);
    free(lb);
    free(ub);
    return result;
}

int main(int argc, char **argv) {
    options o;
    mip model;
    summary s;
    char error[1024];
    int result;
    if (parse(argc, argv, &o)) return EXIT_BAD_INPUT;
    memset(&s, 0, sizeof s);
    s.read_seconds = now();
    if (mip_load(o.model, &model, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    s.read_seconds = now() - s.read_seconds;
    interrupt_catch();
    result = run(&o, &model, &s);
    mip_free(&model);
    return finish_output(result);
}
