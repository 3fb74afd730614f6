/* SPDX-License-Identifier: MIT
 *
 * A libFuzzer target over the reader of MPS files. For any bytes, either there is an error that names the file, with
 * nothing to free, or a model with all indices in range and distinct names. The library accepts this model unless a
 * row's sides cross, and a second reading gives it again.
 *
 * With: examples/io/mip.c examples/io/mps.c examples/io/mps_model.c examples/io/mps_scan.c examples/io/mps_take.c
 * With: examples/io/lp_models.c
 * With: examples/io/names.c examples/io/text.c -lz -llzma
 * Longest input: 2048
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include <math.h>

#include "examples/io/mip.h"
#include "tests/fuzz/fuzz_file.h"

enum { TEXT = 1 << 16 };

/* ---- Bytes to a file ---- */

/* Words and parts of lines instead of raw bytes, so that complete models arise. */
static size_t words(fuzz_bytes *b, char *text) {
    static const char *const word[] = {"\n",
                                       "\n ",
                                       " ",
                                       "\t",
                                       "\nNAME x",
                                       "\nNAME x FREE",
                                       "\nROWS\n ",
                                       "\nCOLUMNS\n ",
                                       "\nRHS\n ",
                                       "\nRANGES\n ",
                                       "\nBOUNDS\n ",
                                       "\nENDATA\n",
                                       "\nOBJSENSE\n ",
                                       "MAX",
                                       "min",
                                       "'MARKER'",
                                       "'INTORG'",
                                       "'INTEND'",
                                       "1e999",
                                       "nan",
                                       "-1e30",
                                       "0",
                                       "2.5",
                                       "-3",
                                       "1e-320",
                                       "0x10",
                                       "\r",
                                       "*",
                                       "SC",
                                       "\x1c"};
    static const char *const free_line[] = {
        " N o\n",     " L r\n",    " G s\n",       " E t\n",      " x r 1\n",     " x s 2 t 3\n", " y o 1 r -1\n",
        " z t 4\n",   " k r 5\n",  " k s 6 t 7\n", " UP k x 3\n", " LO k y -2\n", " FR k z\n",    " BV k x\n",
        " UP y -4\n", " MI k z\n", " FX k y 1\n",  " LI k x 2\n", " UI k x 9\n",  " r 8\n"};
    size_t at = 0;
    while (b->size > 0 && at < TEXT - 64) {
        unsigned tag = fuzz_take(b);
        if (tag < 120) at += (size_t)sprintf(text + at, "%s", free_line[tag % 20]);
        else if (tag < 210) at += (size_t)sprintf(text + at, "%s ", word[tag % (sizeof word / sizeof *word)]);
        else at += (size_t)sprintf(text + at, "%c%s", "xyzorstk"[tag % 8], tag & 8 ? " " : "");
    }
    return at;
}

/* The generator is C++, and never called. */
int mip_generate(const char *name, mip *model, char *error, size_t error_size) {
    (void)name, (void)model, (void)error, (void)error_size;
    return -1;
}

/* ---- What must hold ---- */

static void check_names(char **name, int32_t count) {
    int32_t k, j;
    for (k = 0; k < count; k++) {
        REQUIRE(name[k] && name[k][0] && !strpbrk(name[k], " \t\r\n"));
        for (j = 0; j < k; j++) REQUIRE(strcmp(name[k], name[j]) != 0);
    }
}

static void check_matrix(const gpuopt_matrix *a, int32_t lines, int32_t range) {
    int32_t last[256], j;
    int64_t k;
    REQUIRE(range <= 256 && a->start[0] == 0);
    for (j = 0; j < range; j++) last[j] = -1;
    for (j = 0; j < lines; j++) {
        REQUIRE(a->start[j + 1] >= a->start[j]);
        for (k = a->start[j]; k < a->start[j + 1]; k++) {
            REQUIRE(a->index[k] >= 0 && a->index[k] < range && last[a->index[k]] != j);
            REQUIRE(isfinite(a->value[k]) && (a->value[k] < 0 || a->value[k] > 0));
            last[a->index[k]] = j;
        }
    }
}

static void check_model(const mip *m) {
    gpuopt_propagator_desc desc = mip_propagator_desc(m);
    gpuopt_propagator *propagator = NULL;
    fuzz_host host;
    gpuopt_context *context;
    int32_t k, crossed = 0;
    int64_t e, huge = 0;
    REQUIRE(m->matrix.rows == m->columns.rows && m->matrix.cols == m->columns.cols && isfinite(m->offset));
    if (m->matrix.rows > 256 || m->matrix.cols > 256) return;
    check_names(m->row_name, m->matrix.rows);
    check_names(m->col_name, m->matrix.cols);
    check_matrix(&m->matrix, m->matrix.rows, m->matrix.cols);
    check_matrix(&m->columns, m->matrix.cols, m->matrix.rows);
    REQUIRE(m->matrix.start[m->matrix.rows] == m->columns.start[m->matrix.cols]);
    for (k = 0; k < m->matrix.cols; k++)
        REQUIRE(isfinite(m->cost[k]) && !isnan(m->lb[k]) && !isnan(m->ub[k]) && m->integer[k] <= 1);
    for (k = 0; k < m->matrix.rows; k++) {
        REQUIRE(!isnan(m->rhs[k]) && !isnan(m->lhs[k]));
        crossed |= m->lhs[k] > m->rhs[k];
    }
    for (e = 0; e < m->matrix.start[m->matrix.rows]; e++) huge |= fabs(m->matrix.value[e]) >= 1e20;
    memset(&host, 0, sizeof host);
    context = fuzz_context(&host);
    k = gpuopt_propagator_create(context, &desc, NULL, &propagator);
    REQUIRE(k == GPUOPT_OK || (k == GPUOPT_ERROR_ARGUMENT && (crossed || huge)));
    gpuopt_propagator_destroy(propagator);
    fuzz_context_end(context, &host);
}

/* Twice the same file: the same model, to the last byte. */
static void check_again(const char *path, const mip *m) {
    char error[300];
    mip again;
    size_t n = (size_t)m->matrix.cols, r = (size_t)m->matrix.rows;
    REQUIRE(mip_read_mps(path, &again, error, sizeof error) == 0);
    REQUIRE(again.matrix.cols == m->matrix.cols && again.matrix.rows == m->matrix.rows);
    REQUIRE(memcmp(again.lb, m->lb, n * sizeof *m->lb) == 0 && memcmp(again.ub, m->ub, n * sizeof *m->ub) == 0);
    REQUIRE(memcmp(again.lhs, m->lhs, r * sizeof *m->lhs) == 0 && memcmp(again.rhs, m->rhs, r * sizeof *m->rhs) == 0);
    mip_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char text[TEXT];
    fuzz_bytes b = {data, size};
    char path[32], error[300] = "";
    int raw = fuzz_take(&b) % 4 == 0, file;
    size_t length = raw ? b.size : words(&b, text);
    mip model;
    file = fuzz_file(raw ? (const char *)b.data : text, length, path);
    if (mip_read_mps(path, &model, error, sizeof error)) {
        REQUIRE(strncmp(error, path, strlen(path)) == 0 && strlen(error) > strlen(path) + 2 && !model.matrix.start);
    } else {
        check_model(&model);
        check_again(path, &model);
        mip_free(&model);
    }
    close(file);
    return 0;
}
