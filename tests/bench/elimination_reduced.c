/* SPDX-License-Identifier: MIT
 *
 * Preprocessing: what the rules remove from whole models, and the operations planned before and after.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/inference.h"
#include "examples/io/graphical.h"
#include "tests/bench/elimination_bench.h"

static const char default_models[] =
    "reach/pedigree13.uai.xz,reach/pedigree7.uai.xz,reach/mastermind_03_08_04.wcsp.xz,"
    "reach/mastermind_04_08_04.wcsp.xz,reach/50-20-5.uai.xz,reach/75-26-5.uai.xz,reach/90-30-5.uai.xz,"
    "pedigree/pedigree1.uai,grid/50-12-5.uai,spot5/54.wcsp,spot5/503.wcsp,spot5/29.wcsp,spot5/404.wcsp,"
    "spot5/505b.wcsp,spot5/42b.wcsp,spot5/408b.wcsp,iscas89/c432.wcsp,iscas89/c499.wcsp,iscas89/c880.wcsp,"
    "iscas89/s1423.wcsp,iscas89/s386.wcsp,coloring/queen5-5-3.wcsp,coloring/myciel5g-3.wcsp,celar/CELAR6-SUB0.wcsp,"
    "random:20:10:0.3:1";

/* Eliminated if it takes fewer operations. */
#define FEW 0x1p29
/* Of the search for an order: some seconds. */
#define ORDER_WORK 4000000

typedef struct found {
    gpuopt_elimination_estimate estimate;
    double value;
    int solved, feasible;
} found;

/* Plans a model, with a search for an order; and solves it if that takes few operations. value: of its variables. */
static gpuopt_status plan(const machine *on, gpuopt_elimination_desc desc, int32_t *order, int32_t *value, found *f) {
    gpuopt_elimination *elimination = NULL;
    gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
    gpuopt_elimination_assignment best = GPUOPT_INIT(gpuopt_elimination_assignment);
    gpuopt_status status;
    memset(f, 0, sizeof *f);
    gpuopt_desc_init(&f->estimate, sizeof f->estimate);
    status = gpuopt_elimination_order(on->context, &desc, order, NULL, &f->estimate);
    desc.order = order;
    desc.order_count = desc.variables;
    desc.order_search = &search;
    search.work = 0;
    if (status || f->estimate.operations > FEW) return status;
    f->solved = 1;
    status = gpuopt_elimination_create(on->context, &desc, NULL, &elimination);
    if (!status) status = gpuopt_elimination_step(elimination, INT32_MAX, NULL);
    if (!status) status = gpuopt_elimination_assign(elimination, GPUOPT_HOST, 0, value, &best);
    gpuopt_elimination_destroy(elimination);
    f->feasible = best.outcome == GPUOPT_OPTIMAL;
    f->value = desc.type == GPUOPT_COST_DOUBLE ? best.value : (double)best.cost;
    return status;
}

static void print_log(const found *f) {
    printf(" %d, %.1f |", (int)f->estimate.width, f->estimate.operations > 0 ? log2(f->estimate.operations) : 0);
}

/* Whether the reduced model's assignment, as one of the model, is permitted and has its cost. */
static int lifts(const graphical_model *model, gpuopt_elimination_preprocessing *reduction, const int32_t *reduced,
                 int32_t *value, double expected) {
    int64_t cost;
    double real;
    int permitted;
    if (gpuopt_elimination_preprocessing_postsolve(reduction, reduced, value)) return 0;
    graphical_cost(model, value, &permitted, &cost, &real);
    if (model->type != GPUOPT_COST_DOUBLE) real = (double)cost;
    return permitted && fabs(real - expected) <= 1e-9 * (1 + fabs(expected));
}

static int row(const char *name, const machine *on) {
    char file[1024], error[1024];
    const char *folder = getenv("GPUOPT_TEST_DATA"), *verdict = "not solved";
    graphical_model model;
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc), small = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
    gpuopt_elimination_preprocessing *reduction = NULL;
    gpuopt_elimination_preprocessing_info info = GPUOPT_INIT(gpuopt_elimination_preprocessing_info);
    found before, after;
    int32_t *order, *reduced, *value;
    gpuopt_status status;
    double start, seconds;
    snprintf(file, sizeof file, "%s/wcsp/%s", folder ? folder : "", name);
    if (graphical_load(strchr(name, ':') ? name : file, 0, &model, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return -1;
    }
    if (model.type == GPUOPT_COST_DOUBLE) graphical_take_logs(&model, -1);
    order = calloc((size_t)model.variables + 1, sizeof *order);
    reduced = calloc((size_t)model.variables + 1, sizeof *reduced);
    value = calloc((size_t)model.variables + 1, sizeof *value);
    desc.variables = model.variables;
    desc.domain = model.domain;
    desc.functions = model.functions;
    desc.function = model.function;
    desc.type = model.type;
    desc.top = model.top;
    desc.policy = GPUOPT_POLICY_EXACT;
    desc.order_search = &search;
    search.work = ORDER_WORK;
    status = order && reduced && value ? plan(on, desc, order, value, &before) : GPUOPT_ERROR_MEMORY;
    start = now();
    if (!status) status = gpuopt_elimination_preprocess(on->context, &desc, 0, 0, &reduction);
    seconds = now() - start;
    if (!status) status = gpuopt_elimination_preprocessing_get_info(reduction, &info);
    if (!status) status = gpuopt_elimination_preprocessing_get_desc(reduction, &small);
    if (!status) status = plan(on, small, order, reduced, &after);
    if (!status) after.value += (double)info.offset;
    if (!status) {
        printf("| %s | %d, %d | %d, %d |", name, (int)desc.variables, (int)desc.functions, (int)small.variables,
               (int)small.functions);
        print_log(&before);
        print_log(&after);
        printf(" %d | %d | %d | %d | %d | %lld | %lld | %lld, %lld | %.2g | %.2g |", (int)info.variables_fixed,
               (int)info.variables_degree, (int)info.variables_functional, (int)info.functions_joined,
               (int)info.functions_split, (long long)info.values_forbidden, (long long)info.values_dominated,
               (long long)info.values_bounded, (long long)info.entries_bounded, (double)info.work, seconds);
        if (after.solved && after.feasible)
            verdict = lifts(&model, reduction, reduced, value, after.value) ? "lifted" : "WRONG: lifted";
        if (after.solved && before.solved &&
            (before.feasible != after.feasible || fabs(before.value - after.value) > 1e-9 * (1 + fabs(before.value))))
            verdict = "WRONG: not the optimum of the original";
        if (after.solved && after.feasible) printf(" %.10g, %s |\n", after.value, verdict);
        else printf(" %s |\n", after.solved ? "infeasible" : verdict);
        fflush(stdout);
    } else fprintf(stderr, "%s: %s\n", name, gpuopt_context_last_error(on->context));
    gpuopt_elimination_preprocessing_destroy(reduction);
    free(order);
    free(reduced);
    free(value);
    graphical_free(&model);
    return status || strncmp(verdict, "WRONG", 5) == 0 ? -1 : 0;
}

int reduced_table(const machine *on, const options *o) {
    const char *at = o->models ? o->models : default_models;
    char word[NAME];
    int bad = 0;
    printf("\nReductions: variables and functions; width and log2 of the operations that are planned, with "
           "order_search->work %d "
           "each; what each rule did; seconds of the reduction.\n\n"
           "| model | before | after | planned before | after | fixed | degree | functional | joined | split | values "
           "forbidden | dominated | bounded, entries | work | s | optimum |\n"
           "|%s\n",
           ORDER_WORK,
           " --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    while (next_word(&at, word)) bad |= row(word, on);
    return bad ? -1 : 0;
}
