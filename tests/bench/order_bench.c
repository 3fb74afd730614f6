/* SPDX-License-Identifier: MIT
 *
 * Elimination orders: their quality and the time of the search, without and with a budget. Usage: order_bench
 * [--seconds S] [--threads N] [--repeat R] FILE...
 * A FILE is a .wcsp or .uai model, or a .txt with scopes alone (tests/support/orders.h). The first search is repeated R
 * times (5), and the least time counts; the second one has S seconds (10) of N threads (1). Times are the calling
 * thread's processor time.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "examples/common.h"
#include "examples/io/graphical.h"
#include "tests/support/orders.h"

typedef struct options {
    double seconds;
    int32_t threads, repeat;
} options;

/* Seconds of this thread's processor, so that other load on the machine matters little. */
static double clock_of_caller(void *user) {
    struct timespec t;
    (void)user;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Searches and prints a part of a row: the largest message and the joined rows, as log2. Returns the milliseconds, or a
 * negative number after an error message. */
static double measure(gpuopt_context *context, const gpuopt_elimination_desc *desc, int32_t *order, int32_t repeat) {
    double best = HUGE_VAL;
    order_cost c;
    int32_t k;
    for (k = 0; k < repeat; k++) {
        double start = clock_of_caller(NULL), taken;
        if (gpuopt_elimination_order(context, desc, order, NULL, NULL)) {
            fprintf(stderr, "gpuopt_elimination_order: %s\n", gpuopt_context_last_error(context));
            return -1;
        }
        taken = 1e3 * (clock_of_caller(NULL) - start);
        if (taken < best) best = taken;
    }
    c = order_cost_of(desc, order);
    if (c.width < 0) {
        fprintf(stderr, "that is no order of the variables\n");
        return -1;
    }
    printf(" %.1f | %.2f |", log2(c.largest), log2(c.rows));
    return best;
}

static int row(gpuopt_context *context, const options *o, const char *path, gpuopt_elimination_desc desc) {
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
    const int length = (int)(strrchr(name, '.') ? strrchr(name, '.') - name : (long)strlen(name));
    const order_known *known = order_published;
    int32_t *order = malloc(sizeof *order * ((size_t)desc.variables + 1));
    double taken;
    if (!order) return -1;
    printf("| %.*s | %d |", length, name, (int)desc.variables);
    taken = measure(context, &desc, order, o->repeat);
    if (taken >= 0) {
        printf(" %.1f |", taken);
        desc.order_search = &search;
        search.seconds = o->seconds;
        taken = measure(context, &desc, order, 1);
    }
    while (known->name && (strlen(known->name) != (size_t)length || strncmp(name, known->name, (size_t)length) != 0))
        known++;
    if (known->published) printf(" %d | %.1f |\n", (int)known->published, known->rows);
    else printf(" - | - |\n");
    fflush(stdout);
    free(order);
    return taken < 0 ? -1 : 0;
}

static int bench(gpuopt_context *context, const options *o, const char *path) {
    char error[512];
    const char *end = strrchr(path, '.');
    int result;
    if (end && strcmp(end, ".txt") == 0) {
        order_graph graph;
        if (order_graph_read(path, &graph)) {
            fprintf(stderr, "%s cannot be read\n", path);
            return -1;
        }
        result = row(context, o, path, order_graph_desc(&graph));
        order_graph_free(&graph);
    } else {
        graphical_model model;
        gpuopt_elimination_desc desc;
        if (graphical_load(path, 0, &model, error, sizeof error)) {
            fprintf(stderr, "%s\n", error);
            return -1;
        }
        gpuopt_desc_init(&desc, sizeof desc);
        desc.variables = model.variables;
        desc.domain = model.domain;
        desc.functions = model.functions;
        desc.function = model.function;
        desc.type = model.type;
        desc.top = model.top;
        if (model.type == GPUOPT_COST_DOUBLE) graphical_take_logs(&model, -1);
        result = row(context, o, path, desc);
        graphical_free(&model);
    }
    return result;
}

int main(int argc, char **argv) {
    options o = {10, 1, 5};
    gpuopt_context_desc desc;
    gpuopt_context *context;
    int k, result = 0;
    for (k = 1; k + 1 < argc && argv[k][0] == '-'; k += 2) {
        double value = atof(argv[k + 1]);
        if (strcmp(argv[k], "--seconds") == 0) o.seconds = value;
        else if (strcmp(argv[k], "--threads") == 0) o.threads = (int32_t)value;
        else if (strcmp(argv[k], "--repeat") == 0) o.repeat = (int32_t)value;
        else break;
    }
    if (k >= argc || argv[k][0] == '-' || !(o.seconds > 0) || o.threads < 1 || o.repeat < 1) {
        fprintf(stderr, "usage: order_bench [--seconds S] [--threads N] [--repeat R] FILE...\n");
        return 2;
    }
    gpuopt_desc_init(&desc, sizeof desc);
    desc.threads = o.threads;
    desc.seconds = clock_of_caller;
    if (gpuopt_context_create(&desc, &context)) return 3;
    printf("log2 of the entries of the largest message, and of the joined rows\n\n"
           "| graph | variables | largest | rows | ms | %g s: largest | rows | published: largest | rows |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
           o.seconds);
    for (; k < argc && !result; k++) result = bench(context, &o, argv[k]);
    gpuopt_context_destroy(context);
    return result ? 3 : 0;
}
