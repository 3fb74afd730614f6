/* SPDX-License-Identifier: MIT
 *
 * Solves a weighted CSP or another graphical model that is too wide for elimination, by depth-first branch and bound
 * over the elimination tree. Bounds come from mini-buckets with shifted costs, for many nodes in each look-up. It ends
 * with the proven optimum, and checks the assignment against the model.
 *
 * Build, from the repository's root; -fopenmp adds threads:
 *     cc -O2 -I. examples/branch_wcsp.c examples/wcsp_[gst]*.c examples/common.c examples/interrupt.c \
 *         examples/io/c*.c examples/io/global*.c examples/io/graphical*.c examples/io/names.c examples/io/t*.c \
 *         examples/io/uai.c examples/io/wcsp.c gpuopt_impl/gpuopt.c -lz -llzma -lm -o branch_wcsp
 * Also reads: *.wcsp *.wcsp.gz *.wcsp.xz *.cfn *.cfn.gz *.cfn.xz *.uai *.uai.gz *.uai.xz random:* scalefree:* grid:*
 * Try: random:30:5:0.25:1 --z 7 --backend cpu
 * Try: grid:14:4:1 --reduce
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common.h"
#include "examples/wcsp_greedy.h"
#include "examples/wcsp_search.h"

/* Additions that take as long as to look up a bound, about. */
#define OPERATIONS_OF_BOUND 50

static const char usage[] =
    "usage: branch_wcsp MODEL [options]\n"
    "  MODEL              a file (.wcsp, .cfn, .uai, compressed as .gz or .xz or not; -: .wcsp from standard input),\n"
    "                     random:N:D:P1:SEED, scalefree:N:D:SEED or grid:N:D:SEED; of .uai, -ln of each factor, "
    "rounded to\n"
    "                     millionths, is the cost\n"
    "  --z N              mini-buckets of at most N variables (what fits into 8 MiB; one more up to 1 GiB whenever the "
    "search\n"
    "                     has taken longer than that would)\n"
    "  --relax N          shift costs between mini-buckets N times (10)\n"
    "  --reduce           reduce the model first, as solve_wcsp does\n"
    "  --order-work N     moves of annealing for the order (1000000)\n"
    "  --batch N          nodes in a look-up at most (64, on the GPU 2048)\n"
    "  --cache N          2^N solved states are remembered, 24 bytes each (22)\n"
    "  --backend B        cpu, cuda or auto: cuda where there is one (auto)\n"
    "  --threads N        of the CPU backend (1)\n"
    "  --solution FILE    write \"variable value\" for each variable, both numbered from 0\n" USAGE_SHARED
    "exit status: 0 solved, 1 no solution, 2 bad input or a failed write, 3 stopped early, with bounds, or anything\n"
    "             else\n";

typedef struct options {
    const char *model, *backend, *solution;
    int64_t z, relax, order_work, batch, cache, threads;
    int json, reduce;
} options;

/* See parse_options(). */
static const char *const values[] = {"solution", "backend", "z",       "relax", "order-work",
                                     "batch",    "cache",   "threads", NULL};
static const char *const flags[] = {"reduce", NULL};

static int parse_option(void *options_of, const char *name, const char *value) {
    options *o = options_of;
    if (strcmp(name, "solution") == 0) return *(o->solution = value) != 0;
    if (strcmp(name, "backend") == 0) return choice(o->backend = value, backends) >= 0;
    if (strcmp(name, "z") == 0) return whole_number(value, INT32_MAX, &o->z);
    if (strcmp(name, "reduce") == 0) return o->reduce = 1;
    if (strcmp(name, "relax") == 0)
        return strcmp(value, "0") == 0 ? (o->relax = 0, 1) : whole_number(value, 1000000, &o->relax);
    if (strcmp(name, "order-work") == 0) return whole_number(value, INT64_MAX / 2, &o->order_work);
    if (strcmp(name, "batch") == 0) return whole_number(value, 1 << 20, &o->batch);
    if (strcmp(name, "cache") == 0) return whole_number(value, 36, &o->cache);
    if (strcmp(name, "threads") == 0) return whole_number(value, 1024, &o->threads);
    return 0;
}

/* ---- Before the search ---- */

/* Makes costs from the factors of a .uai file. Returns -1 if there is no memory. */
static int round_factors(search *s) {
    graphical_model *m = &s->model;
    if (m->type == GPUOPT_COST_INT64) return 0;
    graphical_take_logs(m, -1);
    m->type = GPUOPT_COST_INT64;
    s->unit = 1e-6;
    for (int32_t k = 0; k < m->functions; k++) {
        gpuopt_elimination_function *f = &m->function[k];
        int64_t entries = f->tuples < 0 ? 1 : f->tuples, *cost;
        for (int32_t i = 0; f->tuples < 0 && i < f->arity; i++) entries *= m->domain[f->scope[i]];
        f->cost = cost = malloc(sizeof *cost * (size_t)entries + 1);
        if (!cost) return -1;
        for (int64_t i = 0; i < entries; i++)
            cost[i] = f->value[i] < HUGE_VAL ? llround(f->value[i] / s->unit) : INT64_MAX;
        f->default_cost = f->default_value < HUGE_VAL ? llround(f->default_value / s->unit) : INT64_MAX;
    }
    return 0;
}

/* More than any assignment costs. */
static int64_t above_all(const graphical_model *m) {
    int64_t sum = 1, most;
    for (int32_t k = 0; k < m->functions; k++) {
        const gpuopt_elimination_function *f = &m->function[k];
        int64_t entries = f->tuples < 0 ? 1 : f->tuples;
        for (int32_t i = 0; f->tuples < 0 && i < f->arity; i++) entries *= m->domain[f->scope[i]];
        most = f->tuples < 0 || f->default_cost == INT64_MAX ? INT64_MIN : f->default_cost;
        for (int64_t i = 0; i < entries; i++)
            if (f->cost[i] < INT64_MAX && f->cost[i] > most) most = f->cost[i];
        if (most > INT64_MIN) sum += most;
    }
    return m->top > 0 && m->top < sum ? m->top : sum;
}

/* Fills the descriptor of the model to search: the model that was read, or its reduced form. */
static gpuopt_status describe(search *s, const options *o, gpuopt_elimination_desc *desc) {
    graphical_model *m = &s->searched;
    gpuopt_elimination_preprocessing_info info = GPUOPT_INIT(gpuopt_elimination_preprocessing_info);
    gpuopt_status status = GPUOPT_OK;
    if (graphical_merge_values(&s->model, NULL, 0, &s->merge) < 0) return GPUOPT_ERROR_MEMORY;
    *m = s->merge.first ? s->merge.model : s->model;
    desc->variables = m->variables;
    desc->domain = m->domain;
    desc->functions = m->functions;
    desc->function = m->function;
    desc->top = m->top;
    if (!o->reduce) return GPUOPT_OK;
    status = gpuopt_elimination_preprocess(s->context, desc, 0, 0, &s->reduction);
    if (!status) status = gpuopt_elimination_preprocessing_get_info(s->reduction, &info);
    if (!status) status = gpuopt_elimination_preprocessing_get_desc(s->reduction, desc);
    if (status) return status;
    s->offset = info.offset;
    m->variables = desc->variables;
    m->functions = desc->functions;
    m->domain = (int32_t *)desc->domain;
    m->function = (gpuopt_elimination_function *)desc->function;
    m->top = desc->top;
    m->max_domain = 0;
    for (int32_t k = 0; k < m->variables; k++)
        if (m->domain[k] > m->max_domain) m->max_domain = m->domain[k];
    if (!s->json)
        printf("%8.2f s  reduced    to %d variables and %d functions\n", now() - s->start, (int)m->variables,
               (int)m->functions);
    return GPUOPT_OK;
}

/* Finds an order of elimination, makes the tree, and the other data that the search needs before a relaxation
 * exists. */
static gpuopt_status prepare(search *s, const options *o, gpuopt_elimination_desc *desc, int32_t *order) {
    const graphical_model *m = &s->searched;
    gpuopt_elimination_desc wanted = *desc;
    gpuopt_elimination_estimate estimate = GPUOPT_INIT(gpuopt_elimination_estimate);
    gpuopt_elimination_order_search work = GPUOPT_INIT(gpuopt_elimination_order_search);
    gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
    gpuopt_status status;
    work.work = o->order_work;
    wanted.order_search = &work;
    status = gpuopt_elimination_order(s->context, &wanted, order, NULL, NULL);
    if (status) return status;
    desc->order = order;
    desc->order_count = m->variables;
    desc->policy = GPUOPT_POLICY_MINI_BUCKET;
    desc->z = (int32_t)o->z;
    wanted = *desc;
    memory.bytes = (uint64_t)8 << 20;
    if (o->z == 0) wanted.memory = &memory;
    status = gpuopt_elimination_order(s->context, &wanted, NULL, NULL, &estimate);
    desc->z = estimate.z;
    if (!status && tree_make(&s->tree, m, order, (int32_t)o->batch)) status = GPUOPT_ERROR_MEMORY;
    return status;
}

/* About how many bounds can be looked up in the time of shifting costs between mini-buckets of one variable more;
 * INT64_MAX if these take too much memory, or are not wanted. */
static int64_t work_of_next(search *s, const options *o, const gpuopt_elimination_desc *now) {
    gpuopt_elimination_desc desc = *now;
    gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
    gpuopt_elimination_estimate estimate = GPUOPT_INIT(gpuopt_elimination_estimate);
    double bounds;
    if (o->z) return INT64_MAX;
    desc.z++;
    memory.bytes = (uint64_t)1 << 30;
    desc.memory = &memory;
    s->printer.quiet = 1; /* it logs if they do not fit */
    if (gpuopt_elimination_order(s->context, &desc, NULL, NULL, &estimate)) estimate.operations = HUGE_VAL;
    s->printer.quiet = 0;
    bounds = estimate.operations * (double)(o->relax + 2) / OPERATIONS_OF_BOUND;
    return bounds < 0x1p62 ? (int64_t)bounds + 1 : INT64_MAX;
}

/* Eliminates a model, and takes the resulting assignment. original: the variable of which each of its variables is a
 * copy; NULL: itself. */
static gpuopt_status eliminate(search *s, const gpuopt_elimination_desc *desc, const int32_t *original,
                               gpuopt_elimination_info *info) {
    int32_t *value = calloc((size_t)desc->variables + 1, sizeof *value);
    int found = 1;
    gpuopt_elimination_assignment assignment = GPUOPT_INIT(gpuopt_elimination_assignment);
    gpuopt_status status = value ? GPUOPT_OK : GPUOPT_ERROR_MEMORY;
    gpuopt_elimination_destroy(s->elimination);
    s->elimination = NULL;
    if (!status) status = gpuopt_elimination_create(s->context, desc, NULL, &s->elimination);
    if (!status) status = gpuopt_elimination_step(s->elimination, INT32_MAX, info);
    if (!status && info->outcome == GPUOPT_INFEASIBLE) {
        found = 0;
    } else if (!status && info->outcome == GPUOPT_MORE) {
        found = 0;
        s->stopped = 1;
    } else if (!status && original) {
        status = greedy_values(s->elimination, desc, original, value, &found);
    } else if (!status) {
        status = gpuopt_elimination_assign(s->elimination, GPUOPT_HOST, 0, value, &assignment);
        found = assignment.outcome != GPUOPT_INFEASIBLE;
    }
    if (!status && found) take(s, value);
    free(value);
    return status ? status : s->status;
}

/* Shifts costs between mini-buckets, and searches with the resulting bounds. */
static gpuopt_status search_with(search *s, const options *o, gpuopt_elimination_desc *desc) {
    gpuopt_elimination_desc relaxed = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_cost_shifting_info bound = GPUOPT_INIT(gpuopt_elimination_cost_shifting_info);
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    gpuopt_elimination_cost_shifting *relaxation = NULL;
    gpuopt_status status;
    if (s->feasible && s->upper > s->offset) desc->top = s->upper - s->offset; /* less is wanted */
    status = gpuopt_elimination_shift_costs(s->context, desc, (int32_t)o->relax, &relaxation);
    if (!status) status = gpuopt_elimination_cost_shifting_get_info(relaxation, &bound);
    if (!status) status = gpuopt_elimination_cost_shifting_get_desc(relaxation, &relaxed);
    if (!status) status = eliminate(s, &relaxed, bound.original, &info);
    free(s->row);
    s->row = status ? NULL : calloc((size_t)o->batch * (size_t)bound.variables + 1, sizeof *s->row);
    if (!status && !s->row) status = GPUOPT_ERROR_MEMORY;
    if (!status) {
        s->z = desc->z;
        s->relaxed = bound.variables;
        s->scale = bound.scale;
        if (bound.outcome != GPUOPT_MORE && bound.cost + s->offset > s->lower) s->lower = bound.cost + s->offset;
        for (int32_t k = 0; k < s->searched.variables; k++) s->copies[k] = 0;
        for (int32_t k = s->relaxed - 1; k >= 0; k--)
            s->first_copy[bound.original[k]] = k, s->copies[bound.original[k]]++;
        for (uint64_t i = 0; i <= s->mask; i++) s->cache[i].level = -1;
        s->proven = info.outcome == GPUOPT_INFEASIBLE || (s->feasible && s->lower >= s->upper);
    }
    if (!status && !s->proven && !s->stopped) {
        const int64_t most = (s->feasible ? s->upper - s->offset : above_all(&s->searched)) - 1;
        if (!s->json) printf("%8.2f s  z = %d\n", now() - s->start, (int)s->z);
        print_progress(s, "at least", s->lower);
        deepen(s, info.cost, most * s->scale - info.cost + 1);
        status = s->status;
    }
    gpuopt_elimination_cost_shifting_destroy(relaxation);
    return status;
}

/* Searches with small mini-buckets first, then with larger ones until the search ends. */
static gpuopt_status branch(search *s, const options *o, gpuopt_elimination_desc *desc, int32_t *order) {
    const size_t n = (size_t)s->model.variables + 1, batch = (size_t)o->batch;
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    gpuopt_status status;
    s->lifted = calloc(n, sizeof *s->lifted);
    s->best = calloc(n, sizeof *s->best);
    s->first_copy = calloc(n, sizeof *s->first_copy);
    s->copies = calloc(n, sizeof *s->copies);
    s->cache = malloc(sizeof *s->cache << o->cache);
    s->copy_rise = calloc(batch * (size_t)(s->searched.max_domain + 1), sizeof *s->copy_rise);
    s->mask = ((uint64_t)1 << o->cache) - 1;
    s->lower = INT64_MIN;
    if (!s->lifted || !s->best || !s->first_copy || !s->copies || !s->cache || !s->copy_rise)
        return GPUOPT_ERROR_MEMORY;
    status = prepare(s, o, desc, order);
    if (!status) status = eliminate(s, desc, NULL, &info);
    if (!status && info.outcome != GPUOPT_MORE && info.outcome != GPUOPT_INFEASIBLE) s->lower = info.cost + s->offset;
    while (!status && !s->proven && !interrupted(NULL)) {
        const int64_t work = work_of_next(s, o, desc);
        s->last_bound = work < INT64_MAX - s->bounds ? s->bounds + work : INT64_MAX;
        status = search_with(s, o, desc);
        if (work == INT64_MAX) break;
        s->stopped = 0;
        desc->z++;
    }
    if (s->proven && s->feasible) s->lower = s->upper;
    return status;
}

/* ---- The answer ---- */

static void print_bound(const search *s, const char *name, int64_t cost, int known) {
    char text[GRAPHICAL_COST_TEXT] = "null";
    if (known && s->unit == 1) graphical_cost_text(&s->model, cost, text);
    else if (known) snprintf(text, sizeof text, "%.6f", (double)cost * s->unit);
    printf(", \"%s\": %s", name, text);
}

static void print_answer(const search *s, const options *o, const char *backend) {
    const char *status = !s->proven ? "bounded" : s->feasible ? "optimal" : "infeasible", *cause = interrupt_cause();
    const double seconds = now() - s->start;
    if (!s->json) {
        if (!s->proven && cause) printf("Stopped %s.\n", cause);
        if (!s->proven && s->lower > INT64_MIN) print_progress(s, "at least", s->lower);
        if (s->feasible) print_progress(s, status, s->upper);
        else printf("%s\n", s->proven ? "No solution: every assignment is forbidden." : "No solution was found.");
        printf("Largest table of an exact elimination: 2^%.1f entries; mini-buckets of %d variables. %lld nodes, %lld "
               "bounds in %lld calls, %lld states remembered; %.3g s on %s.\n",
               s->tree.largest, (int)s->z, (long long)s->nodes, (long long)s->bounds, (long long)s->calls,
               (long long)s->recalled, seconds, backend);
        return;
    }
    printf("{\"model\": ");
    print_json_string(o->model);
    printf(", \"backend\": \"%s\", \"status\": \"%s\"", backend, status);
    if (s->model.maximised) print_bound(s, "lower_bound", s->upper, s->feasible);
    print_bound(s, s->model.maximised ? "upper_bound" : "lower_bound", s->lower,
                s->lower > INT64_MIN && (s->feasible || !s->proven));
    if (!s->model.maximised) print_bound(s, "upper_bound", s->upper, s->feasible);
    printf(
        ", \"z\": %d, \"log2_largest\": %.1f, \"nodes\": %lld, \"bounds\": %lld, \"calls\": %lld, \"recalled\": %lld, "
        "\"seconds\": %.6f}\n",
        (int)s->z, s->tree.largest, (long long)s->nodes, (long long)s->bounds, (long long)s->calls,
        (long long)s->recalled, seconds);
}

int main(int argc, char **argv) {
    options o = {0};
    search s = {0};
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
    int32_t *order = NULL;
    const char *backend = NULL;
    char error[512];
    gpuopt_status status;
    int result;
    o.backend = "auto";
    o.relax = 10;
    o.order_work = 1000000;
    o.cache = 22;
    o.threads = 1;
    if (parse_options(argc, argv, usage, values, flags, parse_option, &o, &o.model, &o.json)) return EXIT_BAD_INPUT;
    s.printer.name = "branch_wcsp";
    s.json = o.json;
    s.unit = 1;
    s.start = now();
    if (graphical_load(o.model, 0, &s.model, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    interrupt_catch();
    status = round_factors(&s) ? GPUOPT_ERROR_MEMORY
                               : open_context(o.backend, 1, (int)o.threads, &s.printer, &s.context, &backend);
    if (o.batch == 0) o.batch = backend && strcmp(backend, "cuda") == 0 ? 2048 : 64;
    if (!status) status = describe(&s, &o, &desc);
    if (!status && !(order = calloc((size_t)s.searched.variables + 1, sizeof *order))) status = GPUOPT_ERROR_MEMORY;
    if (!status) status = branch(&s, &o, &desc, order);
    if (!status) print_answer(&s, &o, backend);
    else fprintf(stderr, "branch_wcsp: %s\n", gpuopt_status_string(status));
    result = status || !s.proven ? EXIT_FAILED : s.feasible ? 0 : EXIT_INFEASIBLE;
    if (!status && s.feasible && o.solution && graphical_write_solution(o.solution, &s.model, s.best))
        result = EXIT_BAD_INPUT;
    gpuopt_elimination_destroy(s.elimination);
    gpuopt_elimination_preprocessing_destroy(s.reduction);
    gpuopt_context_destroy(s.context);
    tree_free(&s.tree);
    graphical_free(&s.model);
    graphical_merge_free(&s.merge);
    free(order);
    free(s.lifted);
    free(s.best);
    free(s.first_copy);
    free(s.copies);
    free(s.row);
    free(s.copy_rise);
    free(s.cache);
    return finish_output(result);
}
