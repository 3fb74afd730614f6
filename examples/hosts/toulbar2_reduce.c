/* SPDX-License-Identifier: MIT
 *
 * toulbar2 with or without gpuopt before it. gpuopt reduces the model, shifts costs between mini-buckets for a bound
 * and an assignment, reduces the model again with the assignment's cost as upper bound, and hands over what is left as
 * a .wcsp file. toulbar2 then looks for something better. What it finds becomes an assignment of the model, and is
 * checked there.
 *
 * Build, from the repository's root; Debian has toulbar2:
 *     cc -O2 -I. examples/hosts/toulbar2_reduce.c examples/wcsp_greedy.c examples/common.c examples/interrupt.c \
 *         examples/io/c*.c examples/io/global*.c examples/io/graphical*.c examples/io/names.c examples/io/t*.c \
 *         examples/io/uai.c examples/io/wcsp*.c gpuopt_impl/gpuopt.c -lz -llzma -lm -o toulbar2_reduce
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "examples/common.h"
#include "examples/io/graphical.h"
#include "examples/io/wcsp_write.h"
#include "examples/wcsp_greedy.h"
#include "gpuopt.h"
#include "gpuopt/inference.h"

static const char usage[] =
    "usage: toulbar2_reduce MODEL [options]\n"
    "  MODEL              a .wcsp or .cfn file, compressed or not, or random:N:D:P1:SEED, scalefree:N:D:SEED,\n"
    "                     grid:N:D:SEED\n"
    "  --without          toulbar2 alone\n"
    "  --toulbar2 FILE    the program (toulbar2, on the path)\n"
    "  --timer N          stop toulbar2 after N seconds (no limit)\n"
    "  --relax N          shift costs N times (10); 0: no bound and no assignment\n"
    "  --memory BYTES     of the tables for that (8388608)\n"
    "  --work N           entries of tables that the reduction may read (2^31)\n"
    "  --file FILE        where the model for toulbar2 is written, and kept (a temporary file)\n"
    "  --backend B        cpu, cuda or auto (cpu)\n"
    "  --solution FILE    write \"variable value\" for each variable, both numbered from 0\n" USAGE_SHARED
    "                     S is the limit of what comes before toulbar2\n"
    "exit status: 0 solved, 1 no solution, 2 bad input or a failed write, 3 stopped early, or anything else\n";

typedef struct options {
    const char *model, *toulbar2, *file, *backend, *solution;
    int64_t relax, memory, work, timer;
    int without, json;
} options;

typedef struct answer {
    int has_value, proven, infeasible;
    int32_t *value; /* [variables] of the model */
    int64_t cost;
    int64_t lower; /* a bound; INT64_MIN: none */
    int64_t upper; /* of gpuopt's own assignment; INT64_MAX: none */
    int32_t variables, functions;
    int64_t entries; /* of the tables handed over */
    int searched;    /* toulbar2 was run */
    int64_t nodes, backtracks;
    double reduce_seconds, relax_seconds, search_seconds; /* of the processor */
} answer;

/* See parse_options(). */
static const char *const values[] = {"toulbar2", "file",  "backend", "solution", "relax",
                                     "memory",   "timer", "work",    NULL};
static const char *const flags[] = {"without", NULL};

static int take(void *options_of, const char *name, const char *value) {
    options *o = options_of;
    if (strcmp(name, "without") == 0) return o->without = 1;
    if (strcmp(name, "toulbar2") == 0) return *(o->toulbar2 = value) != 0;
    if (strcmp(name, "file") == 0) return *(o->file = value) != 0;
    if (strcmp(name, "backend") == 0) return choice(o->backend = value, backends) >= 0;
    if (strcmp(name, "solution") == 0) return *(o->solution = value) != 0;
    if (strcmp(name, "relax") == 0)
        return strcmp(value, "0") == 0 ? (o->relax = 0, 1) : whole_number(value, 1000000, &o->relax);
    if (strcmp(name, "memory") == 0) return whole_number(value, INT64_MAX / 2, &o->memory);
    if (strcmp(name, "timer") == 0) return whole_number(value, 1000000, &o->timer);
    if (strcmp(name, "work") == 0) return whole_number(value, INT64_MAX / 2, &o->work);
    return 0;
}

static double processor_seconds(int who) {
    struct rusage used;
    getrusage(who, &used);
    return (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec;
}

/* ---- Before the search ---- */

/* Keeps an assignment of the model if it is better than the one that is known. */
static void keep(const graphical_model *model, const int32_t *value, answer *a) {
    int permitted;
    int64_t cost;
    double real;
    graphical_cost(model, value, &permitted, &cost, &real);
    if (!permitted || (a->has_value && cost >= a->cost)) return;
    a->has_value = 1;
    a->cost = cost;
    memcpy(a->value, value, sizeof *value * (size_t)model->variables);
}

/* A bound, and an assignment of the reduced model by the relaxation's own bounds. */
static gpuopt_status relax(gpuopt_context *context, const options *o, const graphical_model *model,
                           gpuopt_elimination_preprocessing *reduction, int64_t reduced_by, answer *a) {
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc), shifted = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
    gpuopt_elimination_cost_shifting_info info = GPUOPT_INIT(gpuopt_elimination_cost_shifting_info);
    gpuopt_elimination_cost_shifting *relaxation = NULL;
    gpuopt_elimination *elimination = NULL;
    gpuopt_elimination_estimate estimate = GPUOPT_INIT(gpuopt_elimination_estimate);
    int32_t *reduced = calloc((size_t)model->variables + 1, sizeof *reduced);
    int32_t *value = calloc((size_t)model->variables + 1, sizeof *value);
    int32_t *order = calloc((size_t)model->variables + 1, sizeof *order);
    int found = 0;
    gpuopt_status status = reduced && value && order ? GPUOPT_OK : GPUOPT_ERROR_MEMORY;
    if (!status) status = gpuopt_elimination_preprocessing_get_desc(reduction, &desc);
    memory.bytes = (uint64_t)o->memory;
    desc.memory = &memory;
    desc.policy = GPUOPT_POLICY_MINI_BUCKET;
    if (!status) status = gpuopt_elimination_order(context, &desc, order, NULL, &estimate);
    desc.order = order;
    desc.order_count = desc.variables;
    desc.z = estimate.z;
    desc.memory = NULL; /* shifted costs may take more bits */
    if (!status) status = gpuopt_elimination_shift_costs(context, &desc, (int32_t)o->relax, &relaxation);
    if (!status) status = gpuopt_elimination_cost_shifting_get_info(relaxation, &info);
    if (!status && info.outcome == GPUOPT_INFEASIBLE) a->infeasible = 1;
    if (!status && !a->infeasible) {
        a->lower = info.cost + reduced_by;
        status = gpuopt_elimination_cost_shifting_get_desc(relaxation, &shifted);
        if (!status) status = gpuopt_elimination_create(context, &shifted, NULL, &elimination);
        if (!status) status = gpuopt_elimination_step(elimination, INT32_MAX, NULL);
        if (!status) status = greedy_values(elimination, &shifted, info.original, reduced, &found);
        if (!status && found) status = gpuopt_elimination_preprocessing_postsolve(reduction, reduced, value);
        if (!status && found) keep(model, value, a);
        if (a->has_value) a->upper = a->cost;
    }
    gpuopt_elimination_destroy(elimination);
    gpuopt_elimination_cost_shifting_destroy(relaxation);
    free(reduced);
    free(value);
    free(order);
    return status;
}

/* Reduces the model. If no variable is left, or every assignment is forbidden, the answer is known. */
static gpuopt_status reduce(gpuopt_context *context, const options *o, const graphical_model *model,
                            const gpuopt_elimination_desc *desc, answer *a,
                            gpuopt_elimination_preprocessing **reduction, int64_t *reduced_by) {
    gpuopt_elimination_preprocessing_info info = GPUOPT_INIT(gpuopt_elimination_preprocessing_info);
    int32_t none = 0, *value = calloc((size_t)model->variables + 1, sizeof *value);
    gpuopt_status status = value ? GPUOPT_OK : GPUOPT_ERROR_MEMORY;
    gpuopt_elimination_preprocessing_destroy(*reduction);
    *reduction = NULL;
    if (!status) status = gpuopt_elimination_preprocess(context, desc, 0, o->work, reduction);
    if (!status) status = gpuopt_elimination_preprocessing_get_info(*reduction, &info);
    *reduced_by = info.offset;
    a->variables = info.variables;
    a->entries = info.entries;
    if (!status && info.outcome == GPUOPT_OPTIMAL) {
        status = gpuopt_elimination_preprocessing_postsolve(*reduction, &none, value);
        if (!status) keep(model, value, a);
    }
    a->proven = info.outcome == GPUOPT_OPTIMAL || info.outcome == GPUOPT_INFEASIBLE;
    free(value);
    return status;
}

static gpuopt_status prepare(gpuopt_context *context, const options *o, const graphical_model *model,
                             gpuopt_elimination_desc *desc, answer *a, gpuopt_elimination_preprocessing **reduction,
                             int64_t *reduced_by) {
    double start = processor_seconds(RUSAGE_SELF), before;
    gpuopt_status status = reduce(context, o, model, desc, a, reduction, reduced_by);
    before = processor_seconds(RUSAGE_SELF);
    a->reduce_seconds = before - start;
    if (status || a->proven || o->relax == 0) return status;
    status = relax(context, o, model, *reduction, *reduced_by, a);
    a->proven = a->infeasible || (a->has_value && a->lower >= a->cost);
    start = processor_seconds(RUSAGE_SELF);
    a->relax_seconds = start - before;
    if (status || a->proven || !a->has_value) return status;
    desc->top = a->cost; /* less is wanted */
    if (a->cost > 0) status = reduce(context, o, model, desc, a, reduction, reduced_by);
    a->reduce_seconds += processor_seconds(RUSAGE_SELF) - start;
    return status;
}

/* ---- The search ---- */

/* Reads the counts from a line of progress, "... (N backtracks, N nodes ...", or from the last line, "Optimum: C in N
 * backtracks and N nodes ...", which says that the search has ended. */
static void take_line(const char *line, int *ended, answer *a) {
    const char *in = strstr(line, " in "), *progress = strchr(line, '(');
    int last = strncmp(line, "Optimum:", 8) == 0 || strncmp(line, "No solution", 11) == 0;
    long long backtracks, nodes;
    if ((!last || !in || sscanf(in, " in %lld backtracks and %lld nodes", &backtracks, &nodes) != 2) &&
        (last || !progress || sscanf(progress, "(%lld backtracks, %lld nodes", &backtracks, &nodes) != 2))
        return;
    a->backtracks = backtracks;
    a->nodes = nodes;
    *ended = last;
}

/* Runs toulbar2 on a file. solution: where it writes its best solution. Returns whether it could be run. */
static int search(const options *o, const char *file, const char *solution, answer *a) {
    char command[4096], line[4096], limit[32] = "";
    double start = processor_seconds(RUSAGE_CHILDREN);
    int ended = 0;
    FILE *output;
    if (o->timer) snprintf(limit, sizeof limit, "-timer=%lld", (long long)o->timer);
    if (strchr(file, '\'')) return 0;
    snprintf(command, sizeof command, "%s '%s' -w='%s' %s 2>&1", o->toulbar2, file, solution, limit);
    output = popen(command, "r");
    if (!output) return 0;
    while (fgets(line, sizeof line, output)) take_line(line, &ended, a);
    pclose(output);
    a->search_seconds = processor_seconds(RUSAGE_CHILDREN) - start;
    a->searched = 1;
    a->proven = ended;
    return ended || a->nodes > 0;
}

/* Reads toulbar2's solution: the values of all variables. Returns whether it is there. */
static int read_solution(const char *path, int32_t variables, int32_t *value) {
    FILE *file = fopen(path, "r");
    int32_t k = 0, v;
    while (file && k < variables && fscanf(file, "%d", &v) == 1) value[k++] = v;
    if (file) fclose(file);
    return k == variables;
}

/* Writes the model, runs toulbar2, and takes what it finds. */
static gpuopt_status hand_over(const options *o, const graphical_model *model, const gpuopt_elimination_desc *desc,
                               gpuopt_elimination_preprocessing *reduction, answer *a) {
    char file[] = "/tmp/toulbar2_XXXXXX.wcsp", solution[] = "/tmp/toulbar2_XXXXXX.sol";
    const char *path = o->file ? o->file : file;
    int fd = o->file ? -1 : mkstemps(file, 5), fd_solution = mkstemps(solution, 4);
    int32_t *reduced = calloc((size_t)desc->variables + 1, sizeof *reduced);
    int32_t *value = calloc((size_t)model->variables + 1, sizeof *value);
    int64_t raised;
    gpuopt_status status = GPUOPT_OK;
    if (fd >= 0) close(fd);
    if (fd_solution >= 0) close(fd_solution);
    if (!reduced || !value) status = GPUOPT_ERROR_MEMORY;
    if (!status && (fd_solution < 0 || (!o->file && fd < 0) || wcsp_write(path, desc, &raised))) {
        status = GPUOPT_ERROR_ARGUMENT;
    } else if (!status && !search(o, path, solution, a)) {
        fprintf(stderr, "%s: it could not be run, or has printed nothing about its search\n", o->toulbar2);
        status = GPUOPT_ERROR_ARGUMENT;
    }
    if (!status && read_solution(solution, desc->variables, reduced)) {
        if (reduction) status = gpuopt_elimination_preprocessing_postsolve(reduction, reduced, value);
        else memcpy(value, reduced, sizeof *value * (size_t)model->variables);
        if (!status) keep(model, value, a);
    }
    if (!o->file && fd >= 0) unlink(file);
    if (fd_solution >= 0) unlink(solution);
    free(reduced);
    free(value);
    return status;
}

/* ---- The program ---- */

static void print_answer(const options *o, const graphical_model *model, const answer *a) {
    char cost[GRAPHICAL_COST_TEXT] = "null", lower[GRAPHICAL_COST_TEXT] = "null", upper[GRAPHICAL_COST_TEXT] = "null";
    const char *status = !a->proven ? "limit" : a->has_value ? "optimal" : "infeasible";
    if (a->has_value) graphical_cost_text(model, a->cost, cost);
    if (a->lower > INT64_MIN) graphical_cost_text(model, a->lower, lower);
    if (a->upper < INT64_MAX) graphical_cost_text(model, a->upper, upper);
    if (o->json) {
        printf("{\"model\": ");
        print_json_string(o->model);
        printf(", \"status\": \"%s\", \"cost\": %s, \"lower\": %s, \"upper\": %s, \"searched\": %d, "
               "\"nodes\": %lld, \"backtracks\": %lld, \"variables\": %d, \"entries\": %lld, "
               "\"reduce_seconds\": %.3f, \"relax_seconds\": %.3f, \"search_seconds\": %.3f}\n",
               status, cost, lower, upper, a->searched, (long long)a->nodes, (long long)a->backtracks,
               (int)a->variables, (long long)a->entries, a->reduce_seconds, a->relax_seconds, a->search_seconds);
        return;
    }
    printf("%s, cost %s\n", status, cost);
    if (!o->without)
        printf(
            "gpuopt: %d of %d variables are left, bound %s, assignment of cost %s; %.3f s reducing, %.3f s bounding\n",
            (int)a->variables, (int)model->variables, lower, upper, a->reduce_seconds, a->relax_seconds);
    if (a->searched)
        printf("toulbar2: %lld nodes, %lld backtracks, %.3f s\n", (long long)a->nodes, (long long)a->backtracks,
               a->search_seconds);
}

static int run(const options *o, graphical_model *model, answer *a) {
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc), reduced;
    gpuopt_elimination_preprocessing *reduction = NULL;
    gpuopt_context *context = NULL;
    log_printer printer = {o->model, 0};
    const char *backend;
    int64_t reduced_by = 0;
    gpuopt_status status = GPUOPT_OK;
    desc.variables = model->variables;
    desc.domain = model->domain;
    desc.functions = model->functions;
    desc.function = model->function;
    desc.top = model->top;
    a->variables = model->variables;
    a->lower = INT64_MIN;
    a->upper = INT64_MAX;
    a->value = calloc((size_t)model->variables + 1, sizeof *a->value);
    if (!a->value) status = GPUOPT_ERROR_MEMORY;
    if (!status && !o->without) {
        /* Without a GPU that works or enough memory, toulbar2 solves the model as it is. */
        status = open_context(o->backend, 0, 1, &printer, &context, &backend);
        if (!status) status = prepare(context, o, model, &desc, a, &reduction, &reduced_by);
        if (status == GPUOPT_ERROR_DEVICE || status == GPUOPT_ERROR_MEMORY || status == GPUOPT_ERROR_UNSUPPORTED) {
            fprintf(stderr, "%s: gpuopt is not used: %s\n", o->model, gpuopt_status_string(status));
            gpuopt_elimination_preprocessing_destroy(reduction);
            reduction = NULL;
            a->proven = a->infeasible = 0;
            status = GPUOPT_OK;
        }
    }
    reduced = desc;
    if (!status && reduction) status = gpuopt_elimination_preprocessing_get_desc(reduction, &reduced);
    if (!status && !a->proven) status = hand_over(o, model, &reduced, reduction, a);
    gpuopt_elimination_preprocessing_destroy(reduction);
    gpuopt_context_destroy(context);
    if (status) {
        fprintf(stderr, "%s: %s\n", o->model, gpuopt_status_string(status));
        return status == GPUOPT_ERROR_ARGUMENT || status == GPUOPT_ERROR_NUMERIC ? EXIT_BAD_INPUT : EXIT_FAILED;
    }
    print_answer(o, model, a);
    if (o->solution && a->has_value && graphical_write_solution(o->solution, model, a->value)) return EXIT_BAD_INPUT;
    return !a->proven ? EXIT_FAILED : a->has_value ? 0 : EXIT_INFEASIBLE;
}

int main(int argc, char **argv) {
    options o = {.toulbar2 = "toulbar2", .backend = "cpu", .relax = 10, .memory = 8 << 20};
    answer a;
    graphical_model model;
    char error[1024];
    int result;
    memset(&a, 0, sizeof a);
    if (parse_options(argc, argv, usage, values, flags, take, &o, &o.model, &o.json)) return EXIT_BAD_INPUT;
    if (graphical_load(o.model, 0, &model, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    interrupt_catch();
    if (model.type == GPUOPT_COST_INT64) {
        result = run(&o, &model, &a);
    } else {
        fprintf(stderr, "%s: toulbar2_reduce is for whole costs (.wcsp, .cfn and generated models)\n", o.model);
        result = EXIT_BAD_INPUT;
    }
    free(a.value);
    graphical_free(&model);
    return finish_output(result);
}
