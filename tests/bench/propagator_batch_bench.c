/* SPDX-License-Identifier: MIT
 *
 * Times batches of nodes: each fixes a few random columns at their upper bounds, and is propagated to its fixpoint.
 *     propagator_batch_bench BACKEND,... [--models "NAME;NAME..."] [--nodes N,...] [--decisions N,...] [--repeat N]
 * BACKEND: cpu, cpu:THREADS or cuda; NAME: as in propagator_batch.h. The base is propagated to its fixpoint first.
 * Medians of N runs after one that is not counted:
 *     run       _run with nodes and reports in host memory, us a node; on a GPU then the same in device memory
 *     changes   _get_changes with all arrays in host memory, us a node
 *     entries   of the rows of the columns that a node was given or changed, each row once: the work of a node without
 *               the rows' capacities; and G of them a second, by the faster of the two runs
 *     read      entries of the rows that the backend did evaluate
 */
#include <stdlib.h>
#include <string.h>

#include "tests/bench/propagator_batch.h"
#include "tests/bench/bench.h"

#ifdef TEST_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

typedef struct options {
    const char *models, *nodes, *decisions;
    int64_t repeat;
} options;

/* Entries in the rows of the columns that a node was given or changed: the mean over up to 1,000 nodes. */
static double entries_of(const mip *m, const work *w) {
    int32_t *seen = (int32_t *)work_memory((size_t)m->matrix.rows, sizeof *seen), node,
            nodes = w->nodes.count < 1000 ? w->nodes.count : 1000;
    int64_t sum = 0, k, e;
    int pass;
    for (node = 0; node < nodes; node++)
        for (pass = 0; pass < 2; pass++) {
            const int64_t *start = pass ? w->changes.start : w->nodes.start;
            const int32_t *col = pass ? w->changes.col : w->nodes.col;
            for (k = start[node]; k < start[node + 1]; k++)
                for (e = m->columns.start[col[k]]; e < m->columns.start[col[k] + 1]; e++) {
                    int32_t row = m->columns.index[e];
                    if (seen[row] == node + 1) continue;
                    seen[row] = node + 1;
                    sum += m->matrix.start[row + 1] - m->matrix.start[row];
                }
        }
    free(seen);
    return (double)sum / nodes;
}

/* ---- Measuring ---- */

/* The median time of a run from host or device memory, in seconds; below 0 after a message. */
static double time_run(const machine *on, gpuopt_propagator_batch *batch, gpuopt_memory_space where, const work *w,
                       int repeat) {
    double taken[MOST_REPEATS];
    int k;
    for (k = -1; k < repeat; k++) {
        double begin = now();
        gpuopt_status status = gpuopt_propagator_batch_run(batch, where, &w->nodes, 1000, &w->report);
        if (!status && where == GPUOPT_DEVICE) status = gpuopt_context_wait(on->context);
        if (status) return failed(on, "batch", "run", status);
        if (k >= 0) taken[k] = now() - begin;
    }
    return median(taken, repeat);
}

static double time_changes(const machine *on, gpuopt_propagator_batch *batch, work *w, int repeat) {
    double taken[MOST_REPEATS];
    int k;
    for (k = -1; k < repeat; k++) {
        double begin = now();
        gpuopt_status status = gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &w->changes);
        if (status) return failed(on, "batch", "get_changes", status);
        if (k >= 0) taken[k] = now() - begin;
    }
    return median(taken, repeat);
}

/* The same run with all arrays in device memory; 0: there is none. */
static double time_device_run(const machine *on, gpuopt_propagator_batch *batch, const work *w, int repeat) {
#ifdef TEST_WITH_CUDA
    size_t count = (size_t)w->nodes.count, given = (size_t)w->nodes.start[count], k, at = 0;
    struct {
        const void *from;
        size_t bytes;
        void *there;
    } array[] = {{w->nodes.start, 8 * (count + 1), NULL},
                 {w->nodes.col, 4 * given, NULL},
                 {w->nodes.lb, 8 * given, NULL},
                 {w->report.outcome, 4 * count, NULL},
                 {w->report.rounds, 4 * count, NULL}};
    work there = *w;
    double taken;
    char *device;
    if (!on->cuda) return 0;
    for (k = 0; k < sizeof array / sizeof *array; k++) at += (array[k].bytes + 255) & ~(size_t)255;
    if (cudaMalloc((void **)&device, at)) return -1;
    for (k = 0, at = 0; k < sizeof array / sizeof *array; at += (array[k].bytes + 255) & ~(size_t)255, k++) {
        array[k].there = device + at;
        cudaMemcpy(array[k].there, array[k].from, array[k].bytes, cudaMemcpyHostToDevice);
    }
    cudaDeviceSynchronize();
    there.nodes.start = (const int64_t *)array[0].there;
    there.nodes.col = (const int32_t *)array[1].there;
    there.nodes.lb = there.nodes.ub = (const double *)array[2].there;
    memset(&there.report, 0, sizeof there.report);
    there.report.struct_size = sizeof there.report;
    there.report.outcome = (int32_t *)array[3].there;
    there.report.rounds = (int32_t *)array[4].there;
    taken = time_run(on, batch, GPUOPT_DEVICE, &there, repeat);
    cudaFree(device);
    return taken;
#else
    (void)on, (void)batch, (void)w, (void)repeat;
    return 0;
#endif
}

/* A batch with capacity for exactly the nodes' changes, and result arrays of the same capacity; found by a run. NULL
 * after a message. */
static gpuopt_propagator_batch *make_batch(const machine *on, const mip *m, gpuopt_propagator *base, int32_t count,
                                           int32_t decisions, work **w) {
    gpuopt_propagator_batch_desc desc = GPUOPT_INIT(gpuopt_propagator_batch_desc);
    gpuopt_propagator_batch *batch = NULL;
    double *ub = (double *)work_memory((size_t)m->matrix.cols, sizeof *ub);
    int64_t changes = 0;
    int32_t k;
    int pass;
    gpuopt_status status = gpuopt_propagator_get_bounds(base, GPUOPT_HOST, 0, NULL, NULL, ub);
    *w = work_make(count, decisions, m->matrix.cols, ub, 0);
    for (pass = 0; pass < 2 && !status; pass++) {
        gpuopt_propagator_batch_destroy(batch);
        desc.nodes = count;
        desc.changes = (int64_t)count * decisions > changes ? (int64_t)count * decisions : changes;
        status = gpuopt_propagator_batch_create(base, &desc, NULL, &batch);
        if (!status && pass == 0)
            status = gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &(*w)->nodes, 1000, &(*w)->report);
        for (k = 0; k < count && !status && pass == 0; k++) changes += (*w)->report.columns[k];
    }
    work_free(*w);
    *w = work_make(count, decisions, m->matrix.cols, ub, changes);
    free(ub);
    if (!status) return batch;
    gpuopt_propagator_batch_destroy(batch);
    work_free(*w);
    failed(on, "batch", "create or run", status);
    return NULL;
}

static int measure(const machine *on, const char *name, const mip *m, gpuopt_propagator *base, int32_t count,
                   int32_t decisions, int repeat) {
    double host, device, changes, entries, best, rounds = 0, columns = 0, read = 0;
    int32_t infeasible = 0, k;
    int result = -1;
    work *w;
    gpuopt_propagator_batch *batch = make_batch(on, m, base, count, decisions, &w);
    if (!batch) return -1;
    device = time_device_run(on, batch, w, repeat); /* before the run from which changes are read */
    host = time_run(on, batch, GPUOPT_HOST, w, repeat);
    changes = host < 0 ? host : time_changes(on, batch, w, repeat);
    if (device >= 0 && changes >= 0) {
        for (k = 0; k < count; k++) {
            infeasible += w->report.outcome[k] == GPUOPT_INFEASIBLE;
            rounds += w->report.rounds[k];
            columns += w->report.columns[k];
            read += (double)w->report.nonzeros[k];
        }
        entries = entries_of(m, w);
        best = device > 0 && device < host ? device : host;
        printf("| %s | %d | %d | %s | %.4f | ", name, (int)decisions, (int)count, on->name, 1e6 * host / count);
        if (device > 0) printf("%.4f", 1e6 * device / count);
        else printf("-");
        printf(" | %.4f | %.0f | %.1f | %.0f | %.1f | %.1f | %d |\n", 1e6 * changes / count, entries,
               1e-9 * entries * count / best, read / count, columns / count, rounds / count, (int)infeasible);
        fflush(stdout);
        result = 0;
    }
    work_free(w);
    gpuopt_propagator_batch_destroy(batch);
    return result;
}

/* All numbers of nodes and decisions on one backend. */
static int measure_model(const machine *on, const char *name, const mip *m, const options *o) {
    gpuopt_propagator_desc desc = mip_propagator_desc(m);
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    gpuopt_propagator *base;
    const char *nodes, *decisions;
    char word[NAME];
    int64_t count, given;
    int result = 0;
    gpuopt_status status;
    desc.marking = GPUOPT_ON;
    status = gpuopt_propagator_create(on->context, &desc, NULL, &base);
    if (status) return failed(on, name, "create", status);
    status = gpuopt_propagator_round(base, 10000, &info);
    if (status || info.outcome != GPUOPT_CONVERGED) result = failed(on, name, "the base's rounds", status);
    for (nodes = o->nodes; !result && next_word(&nodes, word) && whole_number(word, MOST_NODES, &count);)
        for (decisions = o->decisions;
             !result && next_word(&decisions, word) && whole_number(word, MOST_DECISIONS, &given);)
            result = measure(on, name, m, base, (int32_t)count, (int32_t)given, (int)o->repeat);
    gpuopt_propagator_destroy(base);
    return result;
}

int main(int argc, char **argv) {
    machine machines[MOST_MACHINES];
    char name[MOST_MACHINES][NAME], model_name[NAME];
    options o = {"binary,10000,10;binary,100000,10;binary,10000,50;binary,100000,50;gen:rand,10000,10000,10,1;"
                 "gen:rand,100000,100000,10,1",
                 "1,1024,65536", "1,6,12", 5};
    int count, k, result = 0;
    const char *at;
    for (k = 2; k + 1 < argc; k += 2) {
        if (strcmp(argv[k], "--models") == 0) o.models = argv[k + 1];
        else if (strcmp(argv[k], "--nodes") == 0) o.nodes = argv[k + 1];
        else if (strcmp(argv[k], "--decisions") == 0) o.decisions = argv[k + 1];
        else if (strcmp(argv[k], "--repeat") != 0 || !whole_number(argv[k + 1], MOST_REPEATS, &o.repeat)) break;
    }
    if (argc < 2 || k != argc) {
        fprintf(stderr,
                "usage: propagator_batch_bench BACKEND,... [--models NAME;NAME...] [--nodes N,...] [--decisions N,...] "
                "[--repeat N]\n");
        return EXIT_BAD_INPUT;
    }
    count = open_machines("propagator_batch_bench", argv[1], machines, name);
    if (count < 0) return EXIT_BAD_INPUT;
    printf("| model | decisions | nodes | backend | run, us a node | device memory | changes | entries | G/s | read | "
           "columns | rounds | infeasible |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | "
           "--- |\n");
    for (at = o.models; *at && !result;) {
        size_t length = strcspn(at, ";");
        mip m;
        snprintf(model_name, sizeof model_name, "%.*s", (int)length, at);
        at += length + (at[length] == ';');
        if (work_load(model_name, &m)) {
            result = EXIT_BAD_INPUT;
            break;
        }
        for (k = 0; k < count; k++)
            if (measure_model(&machines[k], model_name, &m, &o)) result = EXIT_FAILED;
        mip_free(&m);
    }
    close_machines(machines, count);
    return finish_output(result);
}
