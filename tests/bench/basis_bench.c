/* SPDX-License-Identifier: MIT
 *
 * Measures the basis inverse.
 *     basis_bench BACKEND [M...]      BACKEND: cpu, cpu-threads or cuda
 * First table: microseconds per update with each technique and, for comparison, of a copy of the matrix. Second table:
 * microseconds of FTRAN and BTRAN of dense vectors, of FTRAN of a column with 10 entries and of BTRAN of a unit vector.
 * With cuda, vectors are in device memory. Third table: milliseconds of a load of m dense columns, and of a load with
 * nine unit columns in ten, and the drift after the first load. With cuda also of the first load from page-locked
 * memory, and of a copy of its arrays to the device from both kinds. Last, for m = 6000 and for the last M: 1000
 * deferred updates in sequence with every K, and the share of the rank updates in the time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/bench/basis_job.h"
#include "tests/support/backends.h"
#ifdef TEST_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

static gpuopt_context *context;
static int on_gpu;

static void report(void *user, int level, const char *message) {
    (void)user;
    if (level == 0) fprintf(stderr, "gpuopt: %s\n", message);
}

/* ---- What is measured, besides updates ---- */

static void ftran(job *j) {
    job_demand(!gpuopt_basis_ftran(j->basis, j->where, 0, NULL, j->vector, j->result), "FTRAN");
}
static void btran(job *j) { job_demand(!gpuopt_basis_btran(j->basis, j->where, -1, j->vector, j->result), "BTRAN"); }
static void ftran_few(job *j) {
    job_demand(!gpuopt_basis_ftran(j->basis, GPUOPT_HOST, 10, j->row, j->val, NULL), "FTRAN of a sparse column");
}
static void btran_unit(job *j) {
    job_demand(!gpuopt_basis_btran(j->basis, j->where, j->next++ % j->m, NULL, j->result), "BTRAN of a unit vector");
}
static void load(job *j) { job_demand(!gpuopt_basis_load(j->basis, &j->columns), "load"); }

/* m dense columns to load, so that the inverse is dense, too. */
static gpuopt_matrix dense_columns(int32_t m) {
    int64_t k, entries = (int64_t)m * m;
    int64_t *start = calloc((size_t)m + 1, sizeof *start);
    int32_t *row = calloc((size_t)entries, sizeof *row);
    double *val = calloc((size_t)entries, sizeof *val);
    uint64_t state = 2;
    gpuopt_matrix columns = {0, 0, NULL, NULL, NULL, GPUOPT_LAYOUT_CSC};
    job_demand(start && row && val, "calloc");
    for (k = 0; k <= m; k++) start[k] = k * m;
    for (k = 0; k < entries; k++) {
        row[k] = (int32_t)(k % m);
        val[k] = job_draw(&state);
    }
    columns.rows = columns.cols = m;
    columns.start = start;
    columns.index = row;
    columns.value = val;
    return columns;
}

static void drop_columns(const gpuopt_matrix *columns) {
    free((void *)columns->start);
    free((void *)columns->index);
    free((void *)columns->value);
}

static job prepare(int32_t m) {
    job j = job_prepare(context, on_gpu, m);
    j.columns = dense_columns(m);
    return j;
}

static void finish(job *j) {
    job_finish(j);
    drop_columns(&j->columns);
}

/* ---- Tables ---- */

static void time_updates(int32_t m) {
    size_t bytes = sizeof(double) * (size_t)m * (size_t)m;
    job j = prepare(m);
    int t;
    j.from = job_place(&j, NULL, bytes);
    j.to = job_place(&j, NULL, bytes);
    printf("%6d %9.1f", (int)m, job_measure(job_copy, &j));
    job_drop(&j, j.from);
    job_drop(&j, j.to);
    for (t = 0; t < TECHNIQUES; t++) {
        j.basis = !on_gpu && t == GPUOPT_TECHNIQUE_PFI && m > 1000 ? NULL : job_create(&j, t, 0);
        if (j.basis) {
            load(&j);
            printf(" %9.1f", job_measure(job_update, &j));
        } else {
            printf(" %9s", "-");
        }
        fflush(stdout);
        gpuopt_basis_destroy(j.basis);
    }
    printf("\n");
    finish(&j);
}

static void time_solves(int32_t m) {
    static const int technique[] = {GPUOPT_TECHNIQUE_DEFERRED, GPUOPT_TECHNIQUE_ELEMENT_PROPOSED};
    int t, k;
    for (t = 0; t < 2; t++) {
        job j = prepare(m);
        gpuopt_basis_info info;
        gpuopt_desc_init(&info, sizeof info);
        j.basis = job_create(&j, technique[t], 0);
        job_demand(j.basis != NULL, "create");
        load(&j);
        /* Half of U is in use, the average. */
        job_demand(!gpuopt_basis_get_info(j.basis, &info), "get_info");
        for (k = 0; k < info.deferred_updates / 2; k++) job_update(&j);
        printf("%6d %9s", (int)m, t ? "rows" : "deferred");
        printf(" %9.1f", job_measure(ftran, &j));
        printf(" %9.1f", job_measure(btran, &j));
        printf(" %9.1f", job_measure(ftran_few, &j));
        printf(" %9.1f\n", job_measure(btran_unit, &j));
        fflush(stdout);
        gpuopt_basis_destroy(j.basis);
        finish(&j);
    }
}

/* The least milliseconds of three loads. */
static double time_load(job *j) {
    double least = 1e30;
    int k;
    load(j);
    for (k = 0; k < 3; k++) {
        double t = 1e-3 * job_time(load, j, 1);
        if (t < least) least = t;
    }
    return least;
}

#ifdef TEST_WITH_CUDA
static void send(job *j) {
    size_t entries = (size_t)j->m * (size_t)j->m;
    job_demand(!cudaMemcpy(j->to, j->columns.value, sizeof(double) * entries, cudaMemcpyHostToDevice), "copying");
    job_demand(!cudaMemcpy(j->to, j->columns.index, sizeof(int32_t) * entries, cudaMemcpyHostToDevice), "copying");
}

static void lock_pages(const gpuopt_matrix *columns, int lock) {
    size_t entries = (size_t)columns->rows * (size_t)columns->rows;
    void *index = (void *)columns->index, *value = (void *)columns->value;
    if (lock) {
        job_demand(!cudaHostRegister(index, sizeof(int32_t) * entries, cudaHostRegisterDefault), "locking pages");
        job_demand(!cudaHostRegister(value, sizeof(double) * entries, cudaHostRegisterDefault), "locking pages");
    } else {
        cudaHostUnregister(index);
        cudaHostUnregister(value);
    }
}
#endif

static void time_loads(int32_t m) {
    job j = prepare(m);
    gpuopt_matrix dense = j.columns, slacks = dense_columns(m);
    gpuopt_basis_drift drift;
    int64_t *start = (int64_t *)slacks.start;
    double whole;
    int32_t k;
    gpuopt_desc_init(&drift, sizeof drift);
    for (k = 0; k < m; k++) { /* a dense column, then nine unit columns of the rows behind its own */
        int64_t e, count = k % 10 ? 1 : m;
        if (count == 1) ((int32_t *)slacks.index)[start[k]] = k;
        for (e = 0; e < count && count > 1; e++) ((int32_t *)slacks.index)[start[k] + e] = (int32_t)e;
        start[k + 1] = start[k] + count;
    }
    j.basis = job_create(&j, GPUOPT_TECHNIQUE_DEFERRED, 0);
    job_demand(j.basis != NULL, "create");
    whole = time_load(&j);
    job_demand(!gpuopt_basis_get_drift(j.basis, &j.columns, 0, &drift), "get_drift");
    j.columns = slacks;
    printf("%6d %9.2f %9.2f %9.1e", (int)m, whole, time_load(&j), drift.estimate);
    j.columns = dense;
#ifdef TEST_WITH_CUDA
    if (on_gpu) {
        double locked, slow, fast;
        j.to = job_place(&j, NULL, sizeof(double) * (size_t)m * (size_t)m);
        slow = 1e-3 * job_measure(send, &j);
        lock_pages(&dense, 1);
        locked = time_load(&j);
        fast = 1e-3 * job_measure(send, &j);
        lock_pages(&dense, 0);
        job_drop(&j, j.to);
        printf(" %9.2f %9.2f %9.2f", locked, slow, fast);
    }
#endif
    printf("\n");
    fflush(stdout);
    gpuopt_basis_destroy(j.basis);
    drop_columns(&slacks);
    finish(&j);
}

static void time_deferred(int32_t m) {
    static const int32_t most[] = {0, 16, 32, 64, 96, 128, 160, 192, 256};
    job j = prepare(m);
    size_t n;
    for (n = 0; n < sizeof most / sizeof *most; n++) {
        gpuopt_basis_info info;
        double all, alone = 1e30;
        int k;
        j.basis = job_create(&j, GPUOPT_TECHNIQUE_DEFERRED, most[n]);
        job_demand(j.basis != NULL, "create");
        gpuopt_desc_init(&info, sizeof info);
        job_demand(!gpuopt_basis_get_info(j.basis, &info), "get_info");
        load(&j);
        job_time(job_update, &j, info.deferred_updates);
        job_demand(!gpuopt_basis_load(j.basis, NULL), "load");
        all = job_time(job_update, &j, 1000) / 1000;
        for (k = 0; k < 3; k++) { /* one fewer than fills U: no rank update */
            double t;
            job_demand(!gpuopt_basis_load(j.basis, NULL), "load");
            t = job_time(job_update, &j, info.deferred_updates - 1) / (info.deferred_updates - 1);
            if (t < alone) alone = t;
        }
        printf("m = %d, K = %d%s: %.2f us an update over 1000, of which rank updates %.2f us\n", (int)m,
               (int)info.deferred_updates, most[n] ? "" : " (the default)", all, all - alone);
        fflush(stdout);
        gpuopt_basis_destroy(j.basis);
    }
    finish(&j);
}

int main(int argc, char **argv) {
    static const int32_t gpu_sizes[] = {500, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 4500, 5000, 5500, 6000, 10000};
    static const int32_t cpu_sizes[] = {500, 1000, 2000};
    int32_t sizes[64];
    gpuopt_context_desc desc;
    int count, k;
    if (argc < 2 || !test_backend(argv[1], 4, &desc)) {
        fprintf(stderr, "basis_bench BACKEND [M...]\n");
        return 2;
    }
    on_gpu = strcmp(argv[1], "cuda") == 0;
    desc.log = report;
    if (gpuopt_context_create(&desc, &context)) return 1;
    count = argc > 2 ? argc - 2 : (int)(on_gpu ? sizeof gpu_sizes : sizeof cpu_sizes) / (int)sizeof *sizes;
    for (k = 0; k < count && k < 64; k++)
        sizes[k] = argc > 2 ? (int32_t)strtol(argv[k + 2], NULL, 10) : on_gpu ? gpu_sizes[k] : cpu_sizes[k];
    if (count > 64) count = 64;
    printf("us per update\n%6s %9s %9s %9s %9s %9s %9s %9s %9s\n", "m", "copy", "deferred", "pfi", "mpfi", "column",
           "element", "modified", "proposed");
    for (k = 0; k < count; k++) time_updates(sizes[k]);
    printf("us\n%6s %9s %9s %9s %9s %9s\n", "m", "kept as", "ftran", "btran", "ftran 10", "btran e_p");
    for (k = 0; k < count; k++) time_solves(sizes[k]);
    printf("ms\n%6s %9s %9s %9s %9s %9s %9s\n", "m", "load", "slacks", "drift", "locked", "copy", "locked");
    for (k = 0; k < count; k++) time_loads(sizes[k]);
    for (k = 0; k < count; k++)
        if (sizes[k] == 6000 || k == count - 1) time_deferred(sizes[k]);
    gpuopt_context_destroy(context);
    return 0;
}
