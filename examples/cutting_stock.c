/* SPDX-License-Identifier: MIT
 *
 * Cuts pieces from stock at the least cost, by column generation (Gilmore, Gomory: A linear programming approach to the
 * cutting-stock problem. Operations Research 9, 1961). A column is a pattern: how many of each piece are cut from one
 * stock. The master problem, a gpuopt_simplex on the CPU (on CUDA a handle has no spare columns), decides how often to
 * use each of the known patterns. Its duals y are the values of the pieces. Pricing looks for patterns with a value
 * above their cost, by a knapsack for each stock. One call of a gpuopt_knapsack_batch does so for several vectors of
 * duals, between the master's and the duals of the best bound so far.
 *
 * The bound is Farley's: if no pattern has a value above rho times its cost, y / rho is feasible for the dual of the
 * master problem of all patterns. Then no solution costs less than demand * y / rho. The bound is proven in integers:
 * duals are scaled and rounded to integers, which replace them from then on. At the end, the master's solution is
 * rounded in several ways, and the rest of the demand is cut greedily, again by knapsacks (cutting_round.c).
 *
 * Build, from the repository's root; -fopenmp adds threads:
 *     cc -O2 -I. examples/cutting_stock.c examples/cutting_round.c examples/common.c examples/interrupt.c \
 *         examples/io/cutting.c examples/io/text.c examples/io/tokens.c gpuopt_impl/gpuopt.c -lz -llzma -lm \
 *         -o cutting_stock
 * Reads: *.cutting cutgen:*
 * Try: cutgen:50:1:1
 * Try: cutgen:100:10:1
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "examples/common.h"
#include "examples/cutting_round.h"

static const char usage[] =
    "usage: cutting_stock MODEL [options]\n"
    "  MODEL              a file (\"pieces stocks\", a line \"length cost\" for each stock, then a line \"length "
    "demand\"\n"
    "                     for each piece; -: standard input), or cutgen:PIECES:STOCKS:SEED\n"
    "  --backend B        of pricing: cpu, cuda or auto: cuda if there is a device (auto)\n"
    "  --threads N        of the CPU backend (1)\n"
    "  --solution FILE    write the patterns that are cut: a line with how often, the number of the stock, from 0, "
    "and\n"
    "                     how many of each piece; also --patterns\n" USAGE_SHARED
    "exit status: 0 cut, and the bound says how far from the optimum that may be, 1 a piece is longer than all stock,\n"
    "             2 bad input or a failed write, 3 stopped early, or else\n";

typedef struct options {
    const char *model, *backend, *patterns;
    int64_t threads;
    int json;
} options;

/* See parse_options(). */
static const char *const values[] = {"backend", "solution", "patterns", "threads", NULL};

static int parse_option(void *options_of, const char *name, const char *value) {
    options *o = options_of;
    if (strcmp(name, "backend") == 0) return choice(o->backend = value, backends) >= 0;
    if (strcmp(name, "solution") == 0 || strcmp(name, "patterns") == 0) return *(o->patterns = value) != 0;
    if (strcmp(name, "threads") == 0) return whole_number(value, 1024, &o->threads);
    return 0;
}

/* ---- Columns ---- */

static double price(const cutter *c, const int32_t *cut) { /* the value of a pattern */
    double sum = 0;
    int32_t i;
    for (i = 0; i < c->model.pieces; i++) sum += c->y[i] * cut[i];
    return sum;
}

/* Adds the patterns from `first` on to the master problem, or creates it. */
static gpuopt_status add_columns(cutter *c, int32_t first) {
    const int32_t pieces = c->model.pieces, count = c->known.count - first;
    const size_t numbers = (size_t)pieces * (size_t)count + 1;
    int64_t *start = calloc((size_t)count + 1, sizeof *start);
    int32_t *index = calloc(numbers, sizeof *index), i, k;
    double *value = calloc(numbers, sizeof *value), *cost = calloc((size_t)count + 1, sizeof *cost),
           side[CUTTING_PIECES];
    gpuopt_simplex_desc desc = GPUOPT_INIT(gpuopt_simplex_desc);
    gpuopt_spare spare = GPUOPT_INIT(gpuopt_spare);
    gpuopt_status status = GPUOPT_ERROR_MEMORY;
    if (start && index && value && cost) {
        for (k = 0; k < count; k++) {
            const int32_t *cut = c->known.cut + (size_t)(first + k) * (size_t)pieces;
            cost[k] = (double)c->model.cost[c->known.stock[first + k]];
            start[k + 1] = start[k];
            for (i = 0; i < pieces; i++)
                if (cut[i]) index[start[k + 1]] = i, value[start[k + 1]++] = cut[i];
        }
        desc.matrix = (gpuopt_matrix){pieces, count, start, index, value, GPUOPT_LAYOUT_CSC};
        desc.cost = cost;
        desc.lhs = side;
        desc.method = GPUOPT_METHOD_REVISED;
        desc.algorithm = GPUOPT_ALGORITHM_PRIMAL; /* a basis stays primal feasible when columns come */
        desc.spare = &spare;
        spare.cols = MOST_COLUMNS - count;
        spare.nonzeros = (int64_t)MOST_COLUMNS * least(pieces, 64);
        for (i = 0; i < pieces; i++) side[i] = (double)c->model.demand[i];
        status = c->master ? gpuopt_simplex_add_cols(c->master, &desc.matrix, cost, NULL, NULL)
                           : gpuopt_simplex_create(c->context, &desc, NULL, &c->master);
    }
    free(cost), free(value), free(index), free(start);
    return status;
}

/* The first columns: of each piece as many as fit, from the cheapest stock for that. */
static gpuopt_status begin(cutter *c) {
    const cutting_model *m = &c->model;
    int32_t cut[CUTTING_PIECES], i, k;
    /* column i is piece i's, so equal columns are kept */
    for (i = 0; i < m->pieces; i++, c->known.count++) {
        int32_t best = 0;
        double cheapest = HUGE_VAL;
        for (k = 0; k < m->stocks; k++) {
            const double each = (double)m->cost[k] / (double)(m->stock_length[k] / m->length[i]);
            if (each < cheapest) cheapest = each, best = k;
        }
        memset(cut, 0, sizeof cut);
        cut[i] = (int32_t)least(m->stock_length[best] / m->length[i], m->demand[i] > 0 ? m->demand[i] : 1);
        c->known.stock[i] = best;
        memcpy(c->known.cut + (size_t)i * (size_t)m->pieces, cut, sizeof *cut * (size_t)m->pieces);
    }
    return add_columns(c, 0);
}

/* Farley's bound of a set of values, rounded up: the least over all stocks of demand * value * cost / worth. */
static int64_t bound_of(const cutter *c, int32_t set) {
    const cutting_model *m = &c->model;
    const int64_t *value = c->value + (size_t)set * (size_t)m->stocks * (size_t)m->pieces;
    int64_t sum = 0, bound = INT64_MAX;
    int32_t i, k;
    for (i = 0; i < m->pieces; i++) sum += value[i] * m->demand[i];
    for (k = 0; k < m->stocks; k++) {
        const int64_t worth = c->at_most[set * m->stocks + k], rest = worth > 0 ? sum % worth * m->cost[k] : 0;
        if (worth == 0 || sum / worth > INT64_MAX / 4 / m->cost[k]) continue;
        bound = least(bound, sum / worth * m->cost[k] + rest / worth + (rest % worth > 0));
    }
    return bound == INT64_MAX ? 0 : bound;
}

/* A round of pricing. *added: columns with a value above their cost. */
static gpuopt_status price_patterns(cutter *c, int32_t *added) {
    const cutting_model *m = &c->model;
    const int32_t first = c->known.count, sets = c->rounds > 0 ? VARIANTS : 1;
    double y[CUTTING_PIECES];
    int32_t set, k, i, best = -1;
    gpuopt_status status;
    for (set = 0; set < sets; set++) { /* 0: the master's duals */
        for (i = 0; i < m->pieces; i++) y[i] = c->y[i] + (c->center[i] - c->y[i]) * set / VARIANTS;
        set_values(c, set, y, m->demand);
    }
    status = solve_knapsacks(c, sets);
    *added = 0;
    if (interrupted(NULL)) return status; /* some of them may have had no turn */
    for (set = 0; set < sets && !status; set++) {
        const int64_t bound = bound_of(c, set);
        if (bound > c->bound || c->rounds == 0) c->bound = bound, best = set;
        for (k = 0; k < m->stocks; k++) {
            const int32_t *cut = c->taken + (size_t)(set * m->stocks + k) * (size_t)m->pieces;
            if (price(c, cut) > (double)m->cost[k] * (1 + 1e-9)) know(c, k, cut);
        }
    }
    for (i = 0; i < m->pieces && best >= 0; i++)
        c->center[i] += (c->y[i] - c->center[i]) * (VARIANTS - best) / VARIANTS;
    c->rounds++;
    *added = c->known.count - first;
    return status || *added == 0 ? status : add_columns(c, first);
}

/* Column generation, until the bound equals the master's objective, rounded up, or no pattern is worth more than its
 * cost. */
static gpuopt_status generate(cutter *c) {
    const double start = now();
    int32_t added = 1;
    gpuopt_status status = begin(c);
    gpuopt_desc_init(&c->info, sizeof c->info);
    while (!status && added && c->known.count < MOST_COLUMNS) {
        status = solve_master(c);
        if (status || interrupted(NULL)) break;
        if (c->info.outcome != GPUOPT_OPTIMAL) status = GPUOPT_ERROR_NUMERIC;
        if (!status)
            status = gpuopt_simplex_get_solution(
                c->master, GPUOPT_HOST,
                &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = c->x, .dual = c->y});
        if (!status) status = price_patterns(c, &added);
        progress("%lld rounds, %d patterns, relaxation %.9g, bound %lld, %.1f s", (long long)c->rounds,
                 (int)c->known.count, c->info.objective, (long long)c->bound, now() - start);
        if ((double)c->bound >= ceil(c->info.objective - 1e-6)) break;
    }
    progress_end();
    return status;
}

/* ---- Results ---- */

static int write_patterns(const cutter *c, const char *path) {
    FILE *file = fopen(path, "w");
    int32_t k, i;
    for (k = 0; file && k < c->known.count; k++) {
        if (c->used[c->best][k] == 0) continue;
        fprintf(file, "%lld %d", (long long)c->used[c->best][k], (int)c->known.stock[k]);
        for (i = 0; i < c->model.pieces; i++)
            fprintf(file, " %d", (int)c->known.cut[(size_t)k * (size_t)c->model.pieces + (size_t)i]);
        fprintf(file, "\n");
    }
    return close_written(file, path);
}

/* A piece is longer than all stock. */
static void print_infeasible(const cutter *c, const options *o, int32_t piece) {
    fprintf(stderr, "%s: piece %d is longer than all stock\n", o->model, (int)piece);
    if (!o->json) return;
    printf("{\"model\": ");
    print_json_string(o->model);
    printf(", \"pieces\": %d, \"stocks\": %d, \"status\": \"infeasible\", \"cost\": null, \"bound\": null}\n",
           (int)c->model.pieces, (int)c->model.stocks);
}

static void print_result(const cutter *c, const options *o) {
    const char *status = c->cost == c->bound ? "optimal" : c->stopped ? "limit" : "feasible";
    if (o->json) {
        printf("{\"model\": ");
        print_json_string(o->model);
        printf(", \"backend\": \"%s\", \"pieces\": %d, \"stocks\": %d, \"status\": \"%s\", \"cost\": %lld, \"bound\": "
               "%lld",
               c->backend, (int)c->model.pieces, (int)c->model.stocks, status, (long long)c->cost, (long long)c->bound);
        print_json_number("relaxation", c->info.objective, c->info.outcome == GPUOPT_OPTIMAL);
        printf(", \"rounds\": %lld, \"knapsacks\": %lld, \"patterns\": %d, \"seconds\": %.6f}\n", (long long)c->rounds,
               (long long)c->priced, (int)c->known.count, c->seconds);
        return;
    }
    if (c->stopped) printf("Stopped %s. ", c->stopped);
    if (strcmp(status, "optimal") == 0) printf("Optimal: the cost is %lld.\n", (long long)c->cost);
    else printf("The cost is %lld, and at least %lld in any case.\n", (long long)c->cost, (long long)c->bound);
    printf("%lld rounds of pricing, %lld knapsacks (%s), %d patterns, ", (long long)c->rounds, (long long)c->priced,
           c->backend, (int)c->known.count);
    if (c->info.outcome == GPUOPT_OPTIMAL) printf("relaxation %.9g, ", c->info.objective);
    printf("%.3f s\n", c->seconds);
}

static int run(cutter *c, const options *o) {
    const cutting_model *m = &c->model;
    static log_printer pricing = {"pricing", 0}, master = {"master problem", 0};
    gpuopt_knapsack_batch_desc desc;
    const char *cpu;
    const double start = now();
    gpuopt_status status;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.items = m->pieces;
    desc.count = (VARIANTS > PASSES ? VARIANTS : PASSES) * m->stocks;
    c->known.cut = malloc(sizeof(int32_t) * MOST_COLUMNS * (size_t)m->pieces);
    status = c->known.cut ? open_context("cpu", 0, 1, &master, &c->context, &cpu) : GPUOPT_ERROR_MEMORY;
    if (!status) status = open_context(o->backend, 1, (int)o->threads, &pricing, &c->pricing, &c->backend);
    if (!status) status = gpuopt_knapsack_batch_create(c->pricing, &desc, NULL, &c->batch);
    if (!status) status = generate(c);
    if (!status) status = round_all(c);
    if (c->cost > c->bound) c->stopped = interrupt_cause();
    c->seconds = now() - start;
    gpuopt_knapsack_batch_destroy(c->batch);
    gpuopt_simplex_destroy(c->master);
    gpuopt_context_destroy(c->pricing);
    gpuopt_context_destroy(c->context);
    if (status) fprintf(stderr, "%s: %s\n", o->model, gpuopt_status_string(status));
    else if (!is_solution(c)) fprintf(stderr, "%s: the solution is wrong\n", o->model);
    else print_result(c, o);
    if (status || !is_solution(c)) return EXIT_FAILED;
    if (o->patterns && write_patterns(c, o->patterns)) return EXIT_BAD_INPUT;
    return c->stopped ? EXIT_FAILED : 0;
}

int main(int argc, char **argv) {
    options o = {NULL, "auto", NULL, 1, 0};
    cutter *c = calloc(1, sizeof *c);
    char error[256];
    int32_t i, k;
    int result = EXIT_BAD_INPUT;
    if (parse_options(argc, argv, usage, values, NULL, parse_option, &o, &o.model, &o.json) == 0) {
        if (!c) fprintf(stderr, "out of memory\n");
        else if (cutting_load(o.model, &c->model, error, sizeof error)) fprintf(stderr, "%s\n", error);
        else result = 0;
    }
    for (i = 0; result == 0 && i < c->model.pieces; i++) {
        for (k = 0; k < c->model.stocks && c->model.stock_length[k] < c->model.length[i]; k++) continue;
        if (k < c->model.stocks || c->model.demand[i] == 0) continue;
        print_infeasible(c, &o, i);
        result = EXIT_INFEASIBLE;
    }
    interrupt_catch();
    if (result == 0) result = run(c, &o);
    if (c) free(c->known.cut);
    free(c);
    return finish_output(result);
}
