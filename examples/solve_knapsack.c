/* SPDX-License-Identifier: MIT
 *
 * Solves a knapsack problem by branch and bound: reads a file or generates an instance and expands nodes in a loop as a
 * solver would. Prints the result, and checks the item set against the model.
 *
 * Build, from the repository's root; -fopenmp adds threads:
 *     cc -O2 -I. examples/solve_knapsack.c examples/common.c examples/interrupt.c examples/io/certificate.c \
 *         examples/io/knapsack.c examples/io/text.c examples/io/tokens.c gpuopt_impl/gpuopt.c -lz -llzma -lm \
 *         -o solve_knapsack
 * Reads: *.knapsack paper:* uncorrelated:* weak:* strong:* inverse-strong:* almost-strong:* subset-sum:* similar:*
 * Reads: span:* multiple-strong:* profit-ceiling:* circle:*
 * Try: paper:500:1
 * Try: strong:10000:1000000:1
 * Try: profit-ceiling:10000:1000000:1
 * Try: circle:3000:1000000:1
 * Try: circle:10000:1000000:1 --pool 40000000 --backend cuda
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "examples/common.h"
#include "examples/io/certificate.h"
#include "examples/io/knapsack.h"

static const char usage[] =
    "usage: solve_knapsack MODEL [options]\n"
    "  MODEL              a file (first line \"n C\", then n lines \"p w\"; -: standard input), paper:N:SEED, or\n"
    "                     CLASS:N:R:SEED with CLASS one of uncorrelated, weak, strong, inverse-strong, almost-strong, "
    "subset-sum, similar, span,\n"
    "                     multiple-strong, profit-ceiling, circle\n"
    "  --search S         dominance, breadth (the paper's tree) or hybrid (the paper's way)      (dominance)\n"
    "  --pool N           size of the pool in nodes (1048576, and it grows)\n"
    "  --incumbent Z      claim that a solution of profit Z exists, and search for nothing worse\n"
    "  --nodes N          stop after N nodes\n"
    "  --backend B        cpu, cuda or auto: cuda if there is a device (auto)\n"
    "  --threads N        of the CPU backend (1)\n"
    "  --solution FILE    write the numbers of the chosen items, from 0, one a line; also --items\n"
    "  --certificate FILE write the answer, for the checker in tests/check (doc/checking.md)\n" USAGE_SHARED
    "exit status: 0 solved, 1 no solution has the profit of --incumbent, 2 bad input or a failed write,\n"
    "             3 stopped early, or else\n";

static const char *const searches[] = {"dominance", "breadth", "hybrid", NULL};

typedef struct options {
    const char *model, *backend, *search, *items, *certificate;
    int64_t threads, pool, incumbent, nodes;
    int json;
} options;

typedef struct answer {
    gpuopt_knapsack_info info;
    int64_t *copies; /* [items] */
    int64_t profit, weight, chosen;
    double seconds;
    const char *stopped; /* the cause, in words */
    int unwritten;       /* not 0: the certificate could not be written */
} answer;

/* See parse_options(). */
static const char *const values[] = {"backend", "search", "solution",  "items", "certificate",
                                     "threads", "pool",   "incumbent", "nodes", NULL};

static int parse_option(void *options_of, const char *name, const char *value) {
    options *o = options_of;
    if (strcmp(name, "backend") == 0) return choice(o->backend = value, backends) >= 0;
    if (strcmp(name, "search") == 0) return choice(o->search = value, searches) >= 0;
    if (strcmp(name, "solution") == 0 || strcmp(name, "items") == 0) return *(o->items = value) != 0;
    if (strcmp(name, "certificate") == 0) return *(o->certificate = value) != 0;
    if (strcmp(name, "threads") == 0) return whole_number(value, 1024, &o->threads);
    if (strcmp(name, "pool") == 0) return whole_number(value, (int64_t)1 << 40, &o->pool);
    if (strcmp(name, "incumbent") == 0) return strcmp(value, "0") == 0 || whole_number(value, INT64_MAX, &o->incumbent);
    if (strcmp(name, "nodes") == 0) return whole_number(value, INT64_MAX, &o->nodes);
    return 0;
}

/* Returns 0, or prints an error and returns -1. */
static int parse(int argc, char **argv, options *o) {
    memset(o, 0, sizeof *o);
    o->backend = "auto";
    o->search = "dominance";
    o->threads = 1;
    return parse_options(argc, argv, usage, values, NULL, parse_option, o, &o->model, &o->json);
}

/* ---- The loop ---- */

/* On a terminal in several calls, with a progress line that is overwritten; else in one call. */
static gpuopt_status expand(gpuopt_knapsack *knapsack, const options *o, answer *a) {
    int watched = !o->json && progress_is_seen();
    double start = now();
    gpuopt_status status = gpuopt_knapsack_get_info(knapsack, &a->info);
    while (!status && a->info.outcome == GPUOPT_MORE && !interrupted(NULL)) {
        status = gpuopt_knapsack_expand(knapsack, watched ? 1000000 : 0, 0, &a->info);
        if (watched && !status)
            progress("%lld nodes, %lld in the pool, level %d of %d, profit %lld to %lld, %.1f s",
                     (long long)a->info.expanded, (long long)a->info.alive, (int)a->info.level, (int)a->info.free_items,
                     (long long)a->info.primal_bound, (long long)a->info.dual_bound, now() - start);
    }
    progress_end();
    a->stopped = a->info.outcome == GPUOPT_MORE ? interrupt_cause() : "at the limit of nodes";
    if (!status && a->info.outcome == GPUOPT_MORE) a->info.outcome = GPUOPT_LIMIT;
    return status;
}

static gpuopt_status solve(gpuopt_context *context, const options *o, const knapsack_model *model, answer *a) {
    gpuopt_knapsack *knapsack = NULL;
    gpuopt_knapsack_desc desc;
    gpuopt_status status;
    double start = now();
    gpuopt_desc_init(&desc, sizeof desc);
    desc.items = model->items;
    desc.weight = model->weight;
    desc.profit = model->profit;
    desc.capacity = model->capacity;
    desc.search = (gpuopt_knapsack_search)choice(o->search, searches);
    desc.pool = o->pool;
    desc.node_limit = o->nodes;
    status = gpuopt_knapsack_create(context, &desc, NULL, &knapsack);
    if (!status && o->incumbent) status = gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_HOST, o->incumbent, NULL);
    if (!status) status = expand(knapsack, o, a);
    if (!status) status = gpuopt_knapsack_get_items(knapsack, GPUOPT_HOST, a->copies, &a->profit, &a->weight);
    a->seconds = now() - start;
    if (!status && o->certificate) a->unwritten = certificate_knapsack(o->certificate, knapsack, &desc);
    gpuopt_knapsack_destroy(knapsack);
    return status;
}

/* ---- Results ---- */

/* Adds up the items on the model as it was read. Returns 0, or prints that the answer is wrong and returns -1. */
static int check(const options *o, const knapsack_model *model, answer *a) {
    int64_t profit = 0, weight = 0;
    int32_t j;
    for (j = 0; j < model->items; j++) {
        if (!a->copies[j]) continue;
        a->chosen++;
        if (model->weight[j] > model->capacity - weight) break; /* also keeps the sum from overflowing */
        weight += model->weight[j];
        profit += model->profit[j];
    }
    if (j == model->items && weight == a->weight && profit == a->profit) return 0;
    fprintf(stderr, "%s: the answer is wrong: the items weigh %lld and have profit %lld%s\n", o->model,
            (long long)weight, (long long)profit, j < model->items ? ", and then one does not fit" : "");
    return -1;
}

static void print_json(const options *o, const char *backend, const knapsack_model *model, const answer *a) {
    printf("{\"model\": ");
    print_json_string(o->model);
    printf(", \"backend\": \"%s\", \"search\": \"%s\", \"items\": %d, \"optimum\": %lld, \"upper_bound\": %lld, ",
           backend, o->search, (int)model->items, (long long)a->profit, (long long)a->info.dual_bound);
    printf("\"status\": \"%s\", \"nodes\": %lld, \"pruned\": %lld, \"dominated\": %lld, \"peak_nodes\": %lld, ",
           gpuopt_outcome_string(a->info.outcome), (long long)a->info.expanded, (long long)a->info.pruned,
           (long long)a->info.dominated, (long long)a->info.peak);
    printf("\"levels\": %lld, \"free_items\": %d, \"items_chosen\": %lld, \"weight\": %lld, \"seconds\": %.6f}\n",
           (long long)a->info.steps, (int)a->info.free_items, (long long)a->chosen, (long long)a->weight, a->seconds);
}

static void print_words(const char *backend, const knapsack_model *model, const answer *a) {
    printf("%d items, capacity %lld, on the backend %s; %d left to decide\n", (int)model->items,
           (long long)model->capacity, backend, (int)a->info.free_items);
    if (a->info.outcome == GPUOPT_OPTIMAL) printf("Optimal: the profit is %lld.\n", (long long)a->profit);
    else if (a->info.outcome == GPUOPT_INFEASIBLE)
        printf("No solution has the claimed profit; the best known solution has %lld.\n", (long long)a->profit);
    else
        printf("Stopped %s: the profit is %lld, and no solution has more than %lld.\n", a->stopped,
               (long long)a->profit, (long long)a->info.dual_bound);
    printf("%lld items are chosen, with weight %lld.\n", (long long)a->chosen, (long long)a->weight);
    printf("%lld nodes in %lld steps, at most %lld at once; %.3f s\n", (long long)a->info.expanded,
           (long long)a->info.steps, (long long)a->info.peak, a->seconds);
}

static int write_items(const char *path, const knapsack_model *model, const answer *a) {
    FILE *file = fopen(path, "w");
    int32_t j;
    for (j = 0; file && j < model->items; j++)
        if (a->copies[j]) fprintf(file, "%d\n", (int)j);
    return close_written(file, path);
}

static int run(const options *o, const knapsack_model *model, answer *a) {
    log_printer printer = {o->model, 0};
    gpuopt_context *context;
    const char *backend;
    gpuopt_status status = open_context(o->backend, 1, (int)o->threads, &printer, &context, &backend);
    if (!status) {
        status = solve(context, o, model, a);
        gpuopt_context_destroy(context);
    }
    if (status) {
        fprintf(stderr, "%s: %s\n", o->model, gpuopt_status_string(status));
        /* The log names the number of the model that is too large. */
        return status == GPUOPT_ERROR_NUMERIC ? EXIT_BAD_INPUT : EXIT_FAILED;
    }
    if (check(o, model, a)) return EXIT_FAILED;
    if (o->json) print_json(o, backend, model, a);
    else print_words(backend, model, a);
    if (o->items && write_items(o->items, model, a)) return EXIT_BAD_INPUT;
    if (a->unwritten) return EXIT_BAD_INPUT;
    if (a->info.outcome == GPUOPT_INFEASIBLE) return EXIT_INFEASIBLE;
    return a->info.outcome == GPUOPT_OPTIMAL ? 0 : EXIT_FAILED;
}

int main(int argc, char **argv) {
    options o;
    knapsack_model model;
    answer a;
    char error[512];
    int result = EXIT_FAILED;
    if (parse(argc, argv, &o)) return EXIT_BAD_INPUT;
    if (knapsack_load(o.model, &model, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    interrupt_catch();
    memset(&a, 0, sizeof a);
    gpuopt_desc_init(&a.info, sizeof a.info);
    a.copies = calloc((size_t)model.items + 1, sizeof *a.copies);
    if (a.copies) result = run(&o, &model, &a);
    else fprintf(stderr, "%s: out of memory\n", o.model);
    free(a.copies);
    knapsack_free(&model);
    return finish_output(result);
}
