/* SPDX-License-Identifier: MIT */
#include "examples/io/certificate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t most_entries = INT64_C(1) << 22; /* about 20 MB of text */

static int fail(const char *path, const char *why) {
    fprintf(stderr, "%s: cannot be written: %s\n", path, why);
    return -1;
}

static FILE *begin(const char *path, const char *kind, gpuopt_outcome outcome) {
    FILE *file = fopen(path, "w");
    if (!file) return fail(path, strerror(errno)), NULL;
    fprintf(file, "answer 1 %s\noutcome %s\n", kind, gpuopt_outcome_string(outcome));
    return file;
}

static int end(FILE *file, const char *path, gpuopt_status status) {
    int failed = ferror(file) | fclose(file);
    if (status) return fail(path, gpuopt_status_string(status));
    return failed ? fail(path, strerror(errno)) : 0;
}

/* ---- Linear programs ---- */

static void write_vector(FILE *file, const char *name, const char *part, const double *value, int32_t count) {
    int32_t k;
    fprintf(file, "%s%s %d\n", name, part, (int)count);
    for (k = 0; k < count; k++) fprintf(file, "%a\n", value[k]);
}

/* The Farkas vector or the ray [count], and its low part. */
static gpuopt_status write_proof(FILE *file, gpuopt_simplex *simplex, int farkas, int32_t count) {
    const char *name = farkas ? "farkas" : "ray";
    double *value = malloc(sizeof *value * 2 * ((size_t)count + 1)), *low = value + count;
    gpuopt_simplex_proof proof;
    gpuopt_status status = GPUOPT_ERROR_MEMORY;
    gpuopt_desc_init(&proof, sizeof proof);
    if (farkas) proof.farkas = value, proof.farkas_low = low;
    else proof.ray = value, proof.ray_low = low;
    if (value) status = gpuopt_simplex_get_proof(simplex, GPUOPT_HOST, &proof);
    if (!status) write_vector(file, name, "", value, count);
    if (!status) write_vector(file, name, "_low", low, count);
    free(value);
    return status;
}

int certificate_lp(const char *path, gpuopt_simplex *simplex, const gpuopt_simplex_desc *model) {
    int32_t m = model->matrix.rows, n = model->matrix.cols, k;
    uint8_t *basis = malloc((size_t)n + (size_t)m + 1);
    double *dual = malloc(sizeof(double) * ((size_t)m + 1)), *x = malloc(sizeof(double) * ((size_t)n + 1));
    gpuopt_simplex_info info;
    gpuopt_status status = GPUOPT_ERROR_MEMORY;
    FILE *file = NULL;
    int result;
    gpuopt_desc_init(&info, sizeof info);
    if (basis && dual && x) status = gpuopt_simplex_get_info(simplex, &info);
    if (!status) status = gpuopt_simplex_get_basis(simplex, GPUOPT_HOST, basis);
    if (!status)
        status = gpuopt_simplex_get_solution(
            simplex, GPUOPT_HOST,
            &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = x, .dual = dual});
    if (!status) file = begin(path, "lp", info.outcome);
    if (file) {
        fprintf(file, "sense %s\nbasis %d\n", model->maximize ? "max" : "min", (int)(n + m));
        for (k = 0; k < n + m; k++) fprintf(file, "%c\n", "bluz"[basis[k]]);
        if (info.outcome == GPUOPT_OPTIMAL) {
            fprintf(file, "objective %a\n", info.objective);
            write_vector(file, "dual", "", dual, m);
            write_vector(file, "point", "", x, n);
            fprintf(file, "certainty %s\n", gpuopt_certainty_string(info.certainty));
            if (isfinite(info.backward_error)) fprintf(file, "backward_error %a\n", info.backward_error);
        }
        if (info.outcome == GPUOPT_INFEASIBLE && info.crossing < 0) status = write_proof(file, simplex, 1, m);
        if (info.outcome == GPUOPT_UNBOUNDED) status = write_proof(file, simplex, 0, n);
    }
    result = file ? end(file, path, status) : status ? fail(path, gpuopt_status_string(status)) : -1;
    free(basis);
    free(dual);
    free(x);
    return result;
}

/* ---- Graphical models ---- */

static gpuopt_status write_message(FILE *file, gpuopt_elimination *elimination, int32_t k) {
    gpuopt_elimination_message_info info;
    gpuopt_status status;
    int64_t *cost, e;
    int32_t j;
    gpuopt_desc_init(&info, sizeof info);
    status = gpuopt_elimination_message_get_info(elimination, k, &info);
    cost = status ? NULL : malloc(sizeof *cost * ((size_t)info.entries + 1));
    if (!status && !cost) status = GPUOPT_ERROR_MEMORY;
    if (!status) status = gpuopt_elimination_message_get(elimination, GPUOPT_HOST, k, 0, cost, NULL, NULL);
    if (!status) {
        fprintf(file, "message %d %d", (int)info.variable, (int)info.arity);
        for (j = 0; j < info.arity; j++) fprintf(file, " %d", (int)info.scope[j]);
        fprintf(file, "\n");
        for (e = 0; e < info.entries; e++)
            if (cost[e] == INT64_MAX) fprintf(file, "forbidden\n");
            else fprintf(file, "%lld\n", (long long)cost[e]);
    }
    free(cost);
    return status;
}

/* Whether the messages belong to one exact elimination, and are few enough. */
static int has_messages(gpuopt_elimination *elimination, int32_t count) {
    gpuopt_elimination_message_info info;
    int64_t entries = 0;
    int32_t k;
    for (k = 0; elimination && k < count; k++) {
        gpuopt_desc_init(&info, sizeof info);
        if (gpuopt_elimination_message_get_info(elimination, k, &info) || !info.ready) return 0;
        if (info.entries > most_entries - entries) return 0;
        entries += info.entries;
    }
    return elimination != NULL;
}

int certificate_elimination(const char *path, gpuopt_elimination *elimination, const gpuopt_elimination_desc *model,
                            const int32_t *given, gpuopt_outcome outcome, int64_t bound, int64_t cost,
                            const int32_t *value) {
    gpuopt_status status = GPUOPT_OK;
    FILE *file = begin(path, "elimination", outcome);
    int32_t k;
    if (!file) return -1;
    if (outcome != GPUOPT_INFEASIBLE) fprintf(file, "bound %lld\n", (long long)bound);
    for (k = 0; k < model->evidence_count; k++) fprintf(file, "fixed %d %d\n", (int)model->evidence[k], (int)given[k]);
    if (value) {
        fprintf(file, "cost %lld\nvalue %d\n", (long long)cost, (int)model->variables);
        for (k = 0; k < model->variables; k++) fprintf(file, "%d\n", (int)value[k]);
    }
    if (has_messages(elimination, model->order_count))
        for (k = 0; k < model->order_count && !status; k++) status = write_message(file, elimination, k);
    return end(file, path, status);
}

/* ---- Knapsacks ---- */

int certificate_knapsack(const char *path, gpuopt_knapsack *knapsack, const gpuopt_knapsack_desc *model) {
    int64_t *copies = malloc(((size_t)model->items + 1) * sizeof *copies);
    gpuopt_knapsack_info info;
    gpuopt_status status = GPUOPT_ERROR_MEMORY;
    FILE *file = NULL;
    int64_t profit, weight;
    int32_t j, count = 0;
    int result;
    gpuopt_desc_init(&info, sizeof info);
    if (copies) status = gpuopt_knapsack_get_items(knapsack, GPUOPT_HOST, copies, &profit, &weight);
    if (!status) status = gpuopt_knapsack_get_info(knapsack, &info);
    if (!status) file = begin(path, "knapsack", info.outcome);
    if (file) {
        for (j = 0; j < model->items; j++) count += copies[j] > 0;
        fprintf(file, "profit %lld\nweight %lld\nitems %d\n", (long long)profit, (long long)weight, (int)count);
        for (j = 0; j < model->items; j++)
            if (copies[j]) fprintf(file, "%d\n", (int)j);
    }
    result = file ? end(file, path, status) : status ? fail(path, gpuopt_status_string(status)) : -1;
    free(copies);
    return result;
}
