/* SPDX-License-Identifier: MIT */
#include "tests/bench/propagator_batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/bench.h"

static uint64_t drawn;
static uint32_t draw(uint32_t end) {
    drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((drawn >> 32) * end >> 32);
}

void *work_memory(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (!memory) fprintf(stderr, "no memory\n"), exit(EXIT_FAILED);
    return memory;
}

/* A model binary,ROWS,LEN. */
static void make_binary(int32_t rows, int32_t length, mip *m) {
    int64_t nonzeros = (int64_t)rows * length, k = 0, j,
            *start = (int64_t *)work_memory((size_t)rows + 1, sizeof *start);
    int32_t *col = (int32_t *)work_memory((size_t)nonzeros, sizeof *col), i;
    double *value = (double *)work_memory((size_t)nonzeros, sizeof *value);
    memset(m, 0, sizeof *m);
    drawn = 1;
    m->lhs = (double *)work_memory((size_t)rows, sizeof *m->lhs);
    m->rhs = (double *)work_memory((size_t)rows, sizeof *m->rhs);
    m->lb = (double *)work_memory((size_t)rows, sizeof *m->lb);
    m->ub = (double *)work_memory((size_t)rows, sizeof *m->ub);
    m->integer = (uint8_t *)work_memory((size_t)rows, 1);
    for (i = 0; i < rows; i++) {
        double sum = 0;
        start[i] = k;
        for (; k < start[i] + length; k++) {
            do {
                col[k] = (int32_t)draw((uint32_t)rows);
                for (j = start[i]; j < k && col[j] != col[k]; j++) continue;
            } while (j < k);
            value[k] = 1 + draw(9);
            sum += value[k];
        }
        m->lhs[i] = -INFINITY;
        m->rhs[i] = floor(0.35 * sum);
        m->ub[i] = m->integer[i] = 1;
    }
    start[rows] = k;
    m->matrix.rows = m->matrix.cols = m->columns.rows = m->columns.cols = rows;
    m->matrix.start = start, m->matrix.index = col, m->matrix.value = value;
}

int work_load(const char *name, mip *m) {
    char error[512] = "out of memory", word[NAME];
    const char *at = name + strlen("binary,");
    int64_t rows = 0, length = 0;
    int made = strncmp(name, "binary,", strlen("binary,")) == 0;
    if (made && next_word(&at, word) && whole_number(word, 10000000, &rows) && next_word(&at, word) &&
        whole_number(word, rows / 2, &length) && !*at)
        make_binary((int32_t)rows, (int32_t)length, m);
    else if (made || mip_load(name, m, error, sizeof error)) length = -1;
    if (length >= 0 && mip_rows(m) == 0 && mip_columns(m) == 0) return 0;
    fprintf(stderr, "%s: %s\n", name, made ? "not ROWS,LEN with LEN up to half of ROWS" : error);
    return -1;
}

work *work_make(int32_t count, int32_t decisions, int32_t cols, const double *ub, int64_t changes) {
    work *w = (work *)work_memory(1, sizeof *w);
    int64_t given = (int64_t)count * decisions, k, j, *start = (int64_t *)work_memory((size_t)count + 1, sizeof *start);
    int32_t *col = (int32_t *)work_memory((size_t)given, sizeof *col), node;
    double *value = (double *)work_memory((size_t)given, sizeof *value);
    gpuopt_desc_init(&w->nodes, sizeof w->nodes);
    gpuopt_desc_init(&w->report, sizeof w->report);
    gpuopt_desc_init(&w->changes, sizeof w->changes);
    drawn = 20; /* other rows than the model's own */
    for (node = 0; node <= count; node++) start[node] = (int64_t)node * decisions;
    for (k = 0; k < given; k++) {
        do {
            col[k] = (int32_t)draw((uint32_t)cols);
            for (j = k / decisions * decisions; j < k && col[j] != col[k]; j++) continue;
        } while (j < k);
        value[k] = ub[col[k]] < 1e20 ? ub[col[k]] : 1;
    }
    w->nodes.count = count;
    w->nodes.start = start;
    w->nodes.col = col;
    w->nodes.lb = w->nodes.ub = value;
    w->report.outcome = (int32_t *)work_memory((size_t)count, sizeof(int32_t));
    w->report.rounds = (int32_t *)work_memory((size_t)count, sizeof(int32_t));
    w->report.columns = (int32_t *)work_memory((size_t)count, sizeof(int32_t));
    w->report.nonzeros = (int64_t *)work_memory((size_t)count, sizeof(int64_t));
    w->changes.capacity = changes;
    w->changes.start = (int64_t *)work_memory((size_t)count + 1, sizeof(int64_t));
    w->changes.col = (int32_t *)work_memory((size_t)changes, sizeof(int32_t));
    w->changes.lb = (double *)work_memory((size_t)changes, sizeof(double));
    w->changes.ub = (double *)work_memory((size_t)changes, sizeof(double));
    return w;
}

void work_free(work *w) {
    free((void *)w->nodes.start), free((void *)w->nodes.col), free((void *)w->nodes.lb);
    free(w->report.outcome), free(w->report.rounds), free(w->report.columns), free(w->report.nonzeros);
    free(w->changes.start), free(w->changes.col), free(w->changes.lb), free(w->changes.ub);
    free(w);
}
