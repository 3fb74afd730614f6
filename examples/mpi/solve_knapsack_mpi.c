/* SPDX-License-Identifier: MIT
 *
 * Solves a knapsack problem by processes that share the search. Each expands separate nodes, all use the best profit so
 * far, and a process without nodes receives some from another.
 *
 * Build, from the repository's root, with mpicc or MPI's flags:
 *     mpicc -O2 -I. examples/mpi/solve_knapsack_mpi.c examples/common.c examples/interrupt.c examples/io/knapsack.c \
 *         examples/io/knapsack_ranks.c examples/io/text.c examples/io/tokens.c transports/gpuopt_mpi.c \
 *         gpuopt_impl/gpuopt.c -lz -llzma -lm -o solve_knapsack_mpi
 * Run: mpirun -n 4 ./solve_knapsack_mpi strong:200:1000:1
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/common.h"
#include "examples/io/knapsack.h"
#include "examples/io/knapsack_ranks.h"
#include "transports/gpuopt_mpi.h"

static const char usage[] =
    "usage: solve_knapsack_mpi MODEL [options], by mpirun\n"
    "  MODEL              a file (first line \"n C\", then n lines \"p w\"), or a generated one as of solve_knapsack\n"
    "  --search S         dominance or breadth (dominance)\n"
    "  --pool N           size of each process's pool in nodes (1048576, and it grows)\n"
    "  --round N          nodes that a process expands before it hears from the others (100000)\n"
    "  --limit SECONDS    that a process waits for another one (60)\n"
    "  --backend B        cpu, cuda or auto: cuda where there is one (auto)\n"
    "  --threads N        of the CPU backend, in each process (1)\n"
    "  --json             one line of JSON on stdout, nothing else\n"
    "  --log              print everything that the library reports, not only errors and warnings, on stderr\n"
    "  --version          print the version and exit\n"
    "  --help             print this and exit\n"
    "exit status of a process: 0 solved, 2 bad input, 3 anything else, as a process that is lost, or has failed;\n"
    "                   mpirun returns that of one which is not 0\n";

static const char *const searches[] = {"dominance", "breadth", NULL};

typedef struct options {
    const char *model, *backend, *search;
    int64_t pool, round, limit, threads;
    int json;
} options;

/* See parse_options(). */
static const char *const values[] = {"seconds", "search", "backend", "pool", "round", "limit", "threads", NULL};

static int parse_option(void *options_of, const char *name, const char *value) {
    options *o = options_of;
    if (strcmp(name, "seconds") == 0) /* of all programs, but processes would not stop together */
        return fprintf(stderr, "there is no --seconds for processes: end them all by mpirun\n"), 0;
    if (strcmp(name, "search") == 0) return choice(o->search = value, searches) >= 0;
    if (strcmp(name, "backend") == 0) return choice(o->backend = value, backends) >= 0;
    if (strcmp(name, "pool") == 0) return whole_number(value, (int64_t)1 << 40, &o->pool);
    if (strcmp(name, "round") == 0) return whole_number(value, INT64_MAX, &o->round);
    if (strcmp(name, "limit") == 0) return whole_number(value, 1000000000, &o->limit);
    if (strcmp(name, "threads") == 0) return whole_number(value, 1024, &o->threads);
    return 0;
}

/* Whether the items fit, and have that profit. */
static int holds(const knapsack_model *m, const int64_t *copies, int64_t profit) {
    int64_t residual = m->capacity, sum = 0;
    int32_t j;
    for (j = 0; j < m->items; j++) {
        if (!copies[j]) continue;
        if (m->weight[j] > residual) return 0;
        residual -= m->weight[j];
        sum += m->profit[j];
    }
    return sum == profit;
}

static void print(const options *o, const knapsack_ranks_answer *a, int ranks, double seconds) {
    if (o->json) {
        printf("{\"model\": ");
        print_json_string(o->model);
        printf(", \"ranks\": %d, \"status\": \"optimal\", \"lower\": %lld, \"upper\": %lld, \"expanded\": %lld", ranks,
               (long long)a->profit, (long long)a->profit, (long long)a->expanded);
        printf(", \"least_expanded\": %lld, \"most_expanded\": %lld, \"moves\": %lld, \"rounds\": %lld",
               (long long)a->least, (long long)a->most, (long long)a->moves, (long long)a->rounds);
        printf(", \"seconds\": %.6f}\n", seconds);
        return;
    }
    printf("%s: profit %lld, optimal\n", o->model, (long long)a->profit);
    printf("%lld nodes by %d processes (%lld to %lld each) in %lld rounds, nodes moved %lld times, %.3f s\n",
           (long long)a->expanded, ranks, (long long)a->least, (long long)a->most, (long long)a->rounds,
           (long long)a->moves, seconds);
}

static gpuopt_status solve(const options *o, gpuopt_context *context, gpuopt_group *group, const knapsack_model *m,
                           int64_t *copies, knapsack_ranks_answer *answer) {
    gpuopt_knapsack_desc desc;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.items = m->items;
    desc.weight = m->weight;
    desc.profit = m->profit;
    desc.capacity = m->capacity;
    desc.search = (gpuopt_knapsack_search)choice(o->search, searches);
    desc.pool = o->pool;
    return knapsack_solve_ranks(context, group, &desc, o->round, copies, answer);
}

/* One process's part. Returns its exit status; *lost: the group is broken, or was never made, so that other processes
 * may be gone. */
static int run(const options *o, const gpuopt_transport *transport, int *lost) {
    gpuopt_context *context = NULL;
    gpuopt_group *group = NULL;
    gpuopt_group_desc desc;
    gpuopt_group_info info;
    knapsack_ranks_answer answer;
    knapsack_model model;
    const char *backend;
    char error[1024], name[64];
    log_printer printer;
    int64_t *copies = NULL;
    double start = now();
    int result = EXIT_FAILED, read = 0;
    gpuopt_status status;
    memset(&model, 0, sizeof model);
    memset(&printer, 0, sizeof printer);
    gpuopt_desc_init(&info, sizeof info);
    gpuopt_desc_init(&desc, sizeof desc);
    desc.time_limit = (double)o->limit;
    snprintf(name, sizeof name, "process %d", (int)transport->rank);
    printer.name = name;
    status = open_context(o->backend, 1, (int)o->threads, &printer, &context, &backend);
    if (status) transport->abort(transport->user);
    else status = gpuopt_group_create(context, transport, &desc, &group);
    if (!status) {
        read = knapsack_load(o->model, &model, error, sizeof error) == 0;
        if (!read) fprintf(stderr, "%s: %s\n", name, error), result = EXIT_BAD_INPUT;
        copies = malloc(((size_t)model.items + 1) * sizeof *copies);
        if (!copies) status = GPUOPT_ERROR_MEMORY;
    }
    if (group && (status || !read)) gpuopt_group_abort(group);
    if (!status && read) {
        status = solve(o, context, group, &model, copies, &answer);
        if (!status && holds(&model, copies, answer.profit)) {
            result = 0;
            if (transport->rank == 0) print(o, &answer, (int)transport->count, now() - start);
        } else if (!status) {
            fprintf(stderr, "%s: the answer does not hold on the model\n", name);
        }
    }
    if (status) fprintf(stderr, "%s: %s\n", name, gpuopt_status_string(status));
    *lost = gpuopt_group_get_info(group, &info) != GPUOPT_OK || info.broken;
    free(copies);
    if (read) knapsack_free(&model);
    gpuopt_group_destroy(group);
    gpuopt_context_destroy(context);
    return result;
}

int main(int argc, char **argv) {
    gpuopt_transport transport = GPUOPT_INIT(gpuopt_transport);
    options o;
    int result, lost = 0;
    memset(&o, 0, sizeof o);
    o.backend = "auto";
    o.search = "dominance";
    o.threads = 1;
    o.round = 100000;
    if (parse_options(argc, argv, usage, values, NULL, parse_option, &o, &o.model, &o.json)) return EXIT_BAD_INPUT;
    if (MPI_Init(&argc, &argv)) return EXIT_FAILED;
    if (gpuopt_mpi_open(MPI_COMM_WORLD, &transport)) return EXIT_FAILED;
    result = finish_output(run(&o, &transport, &lost));
    gpuopt_mpi_close(&transport);
    if (lost) _exit(result); /* in MPI_Finalize this process might wait for lost processes, or they for it */
    MPI_Finalize();
    return result;
}
