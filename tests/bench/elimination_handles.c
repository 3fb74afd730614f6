/* SPDX-License-Identifier: MIT
 *
 * Handles of one context, one after the other: the time saved by memory that the context retains for the next one.
 */
#include <stdlib.h>
#include <string.h>

#include "examples/io/graphical.h"
#include "tests/bench/elimination_bench.h"
#include "tests/support/support.h"

static const char default_models[] = "spot5/42b,spot5/408b";

enum { HANDLES = 4 };
static const struct {
    uint64_t bytes;
    const char *name;
} keeps[] = {{(uint64_t)64 << 20, "64 MiB"}, {0, "default"}, {UINT64_MAX, "all"}};

/* From the model to its answer, with the context's memory in the state after the previous handle. */
static gpuopt_status run_handle(gpuopt_context *context, const graphical_model *m, int32_t *order, int32_t *value,
                                double at[6], int64_t *cost) {
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_estimate estimate = GPUOPT_INIT(gpuopt_elimination_estimate);
    gpuopt_elimination_assignment found = GPUOPT_INIT(gpuopt_elimination_assignment);
    gpuopt_elimination *elimination = NULL;
    gpuopt_status status;
    desc.variables = m->variables;
    desc.domain = m->domain;
    desc.functions = m->functions;
    desc.function = m->function;
    desc.type = m->type;
    desc.top = m->top;
    at[0] = now();
    status = gpuopt_elimination_order(context, &desc, order, NULL, &estimate);
    at[1] = now();
    desc.order = order;
    desc.order_count = desc.variables;
    if (!status) status = gpuopt_elimination_create(context, &desc, NULL, &elimination);
    at[2] = now();
    if (!status) status = gpuopt_elimination_step(elimination, INT32_MAX, NULL);
    if (!status) status = gpuopt_context_wait(context);
    at[3] = now();
    if (!status) status = gpuopt_elimination_assign(elimination, GPUOPT_HOST, 0, value, &found);
    at[4] = now();
    gpuopt_elimination_destroy(elimination);
    at[5] = now();
    *cost = found.cost;
    return status;
}

static int handles_of(const char *name, const machine *on, const graphical_model *m) {
    int32_t *order = calloc((size_t)m->variables + 1, sizeof *order),
            *value = calloc((size_t)m->variables + 1, sizeof *value);
    gpuopt_status status = order && value ? GPUOPT_OK : GPUOPT_ERROR_MEMORY;
    int k, handle, phase;
    for (k = 0; k < (int)(sizeof keeps / sizeof *keeps) && !status; k++) {
        gpuopt_context_desc desc = GPUOPT_INIT(gpuopt_context_desc);
        gpuopt_context *context = NULL;
#ifdef TEST_WITH_CUDA
        if (on->cuda) desc.backend = gpuopt_backend_cuda();
#endif
        desc.threads = on->threads;
        desc.keep_device_bytes = keeps[k].bytes;
        status = gpuopt_context_create(&desc, &context);
        for (handle = 1; handle <= HANDLES && !status; handle++) {
            double at[6];
            int64_t cost = 0;
            status = run_handle(context, m, order, value, at, &cost);
            if (status) break;
            printf("| %s | %s | %s | %d |", name, on->name, keeps[k].name, handle);
            for (phase = 1; phase < 6; phase++) printf(" %.2f |", 1e3 * (at[phase] - at[phase - 1]));
            printf(" %.2f | %lld |\n", 1e3 * (at[5] - at[0]), (long long)cost);
            fflush(stdout);
        }
        gpuopt_context_destroy(context);
    }
    free(order);
    free(value);
    return status ? failed(on, name, "handles", status) : 0;
}

int handles_table(const machine *on, const options *o) {
    const char *at = o->models ? o->models : default_models;
    char word[NAME], file[NAME + 16], error[1024];
    int bad = 0;
    printf("\nHandles of one context, one after the other, by what it keeps of their device memory; ms.\n\n"
           "| model | backend | keeps | handle | order | create | eliminate | assign | destroy | whole | cost |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    while (next_word(&at, word)) {
        graphical_model model;
        const char *path;
        snprintf(file, sizeof file, "wcsp/%s.wcsp", word);
        path = strpbrk(word, ":.") ? word : test_data(file);
        if (!path || graphical_load(path, 0, &model, error, sizeof error)) {
            fprintf(stderr, "%s: %s\n", word, path ? error : "not in GPUOPT_TEST_DATA/wcsp");
            bad = -1;
            continue;
        }
        bad |= handles_of(word, on, &model);
        graphical_free(&model);
    }
    return bad;
}
