/* SPDX-License-Identifier: MIT
 *
 * MPS files through CLP's reader. Its complaints are kept from stdout and turned into file:line: what.
 */
#define _POSIX_C_SOURCE 200809L
#include <coin/Clp_C_Interface.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/io/mip.h"
#include "examples/io/mps_scan.h"

typedef struct complaints {
    char text[256]; /* of the first */
    int line, count;
    mps_crossings crossings;
} complaints;

/* CLP's codes: 3001..3006 and 6001..6005 (CoinMessage.cpp). */
static void COINLINKAGE listen(Clp_Simplex *lp, int code, int doubles, const double *value, int ints, const int *number,
                               int strings, char **string) {
    complaints *heard = (complaints *)Clp_getUserPointer(lp);
    const char *what;
    (void)doubles, (void)value;
    if (!heard) return;
    switch (code % 1000000) {
    case 3002: what = "not understood"; break;
    case 3003: what = "the objective has this column twice, or a range"; break;
    case 3004: what = "the row comes twice in this column"; break;
    case 3005: what = "no such row"; break;
    case 3006: what = "no such column"; break;
    case 6002: what = "unknown section"; break;
    default: return;
    }
    if (heard->count++ == heard->crossings.count && code % 1000000 == 3002 && strings > 0)
        mps_note_crossing(&heard->crossings, string[0]);
    if (heard->text[0]) return;
    heard->line = ints > 0 ? number[0] : 0;
    if (strings > 1 && code % 1000000 != 6002)
        snprintf(heard->text, sizeof heard->text, "%s: %s: <%s>", what, string[0], string[1]);
    else snprintf(heard->text, sizeof heard->text, "%s: <%s>", what, strings > 0 ? string[0] : "");
}

/* CLP prints its complaints; stdout belongs to the program. */
static int read_quietly(Clp_Simplex *lp, const char *path) {
    int saved, null = open("/dev/null", O_WRONLY), errors;
    fflush(stdout);
    saved = dup(STDOUT_FILENO);
    if (null >= 0) dup2(null, STDOUT_FILENO);
    errors = Clp_readMps(lp, path, 1, 0);
    fflush(stdout);
    if (saved >= 0) dup2(saved, STDOUT_FILENO), close(saved);
    if (null >= 0) close(null);
    return errors;
}

static void *copy_of(const void *from, size_t count, size_t size) {
    void *to = malloc(count * size + 1);
    if (to && from && count) memcpy(to, from, count * size);
    return to;
}

typedef void(COINLINKAGE *name_getter)(Clp_Simplex *, int, char *);

static char **take_names(Clp_Simplex *lp, int count, name_getter get) {
    char **name = calloc((size_t)count + 1, sizeof *name);
    int k;
    for (k = 0; name && k < count; k++) {
        name[k] = malloc((size_t)Clp_lengthNames(lp) + 16);
        if (!name[k]) break;
        get(lp, k, name[k]);
    }
    if (!name || k == count) return name;
    while (k-- > 0) free(name[k]);
    free(name);
    return NULL;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* A name that occurs twice, which CLP accepts, or NULL. */
static const char *repeated_name(char **name, int count) {
    char **sorted = copy_of(name, (size_t)count, sizeof *name);
    const char *repeated = NULL;
    int k;
    if (sorted) qsort(sorted, (size_t)count, sizeof *sorted, by_name);
    for (k = 1; sorted && !repeated && k < count; k++)
        if (strcmp(sorted[k - 1], sorted[k]) == 0) repeated = sorted[k];
    free(sorted);
    return repeated;
}

/* CLP's columns, which may have gaps, and what goes with them; then the rows. */
static int take_model(Clp_Simplex *lp, mip *model) {
    int m = Clp_numberRows(lp), n = Clp_numberColumns(lp), j;
    const CoinBigIndex *first = n ? Clp_getVectorStarts(lp) : NULL;
    const int *length = n ? Clp_getVectorLengths(lp) : NULL, *index = n ? Clp_getIndices(lp) : NULL;
    const double *element = n ? Clp_getElements(lp) : NULL;
    const char *integer = Clp_integerInformation(lp);
    int64_t nonzeros = 0, *start = calloc((size_t)n + 1, sizeof *start);
    int32_t *row;
    double *val;
    for (j = 0; j < n; j++) nonzeros += length[j];
    row = malloc(sizeof *row * (size_t)(nonzeros + 1));
    val = malloc(sizeof *val * (size_t)(nonzeros + 1));
    model->matrix.rows = model->columns.rows = m;
    model->matrix.cols = model->columns.cols = n;
    model->columns.start = start;
    model->columns.index = row;
    model->columns.value = val;
    model->columns.layout = GPUOPT_LAYOUT_CSC;
    model->cost = copy_of(Clp_objective(lp), (size_t)n, sizeof(double));
    model->offset = 0 - Clp_objectiveOffset(lp); /* no -0 */
    model->lhs = copy_of(Clp_rowLower(lp), (size_t)m, sizeof(double));
    model->rhs = copy_of(Clp_rowUpper(lp), (size_t)m, sizeof(double));
    model->lb = copy_of(Clp_columnLower(lp), (size_t)n, sizeof(double));
    model->ub = copy_of(Clp_columnUpper(lp), (size_t)n, sizeof(double));
    model->integer = calloc((size_t)n + 1, 1);
    model->row_name = take_names(lp, m, Clp_rowName);
    model->col_name = take_names(lp, n, Clp_columnName);
    if (!start || !row || !val || !model->cost || !model->lhs || !model->rhs || !model->lb || !model->ub ||
        !model->integer || !model->row_name || !model->col_name)
        return -1;
    for (j = 0; j < n; j++) {
        start[j + 1] = start[j] + length[j];
        model->integer[j] = integer && integer[j];
        if (length[j] == 0) continue; /* there need not be any entries */
        memcpy(row + start[j], index + first[j], sizeof *row * (size_t)length[j]);
        memcpy(val + start[j], element + first[j], sizeof *val * (size_t)length[j]);
    }
    return mip_rows(model);
}

/* Reads the file, or a copy of it that CLP understands. Returns CLP's count of errors, or -1 and the error. */
static int read_with_clp(const char *path, const mps_scan *file, const mps_crossings *without, Clp_Simplex *lp,
                         complaints *heard, char *error, size_t error_size) {
    char temporary[] = "/tmp/gpuopt-mps-XXXXXX";
    int rewritten =
        (file->ambiguous && file->free_valid && !file->free_named) || !file->named || file->sense || without->count > 0;
    int errors;
    if (rewritten && mps_rewrite(path, file, without, temporary, error, error_size)) return -1;
    memset(heard, 0, sizeof *heard);
    Clp_setLogLevel(lp, 0);
    Clp_setUserPointer(lp, heard);
    Clp_registerCallBack(lp, listen);
    errors = read_quietly(lp, rewritten ? temporary : path);
    if (rewritten) unlink(temporary);
    if (errors && heard->text[0])
        snprintf(error, error_size, "%s:%d: %s", path, heard->line - !file->named, heard->text);
    else if (errors) snprintf(error, error_size, "%s: CLP's reader found %d errors", path, errors);
    return errors;
}

/* A model with crossing bounds is valid, and infeasible: puts back the bounds that CLP refused. */
static void put_crossings(mip *model, const mps_crossings *crossings) {
    int k, j;
    for (k = 0; k < crossings->count; k++)
        for (j = 0; j < model->matrix.cols; j++)
            if (strcmp(model->col_name[j], crossings->bound[k].col) == 0)
                (crossings->bound[k].upper ? model->ub : model->lb)[j] = crossings->bound[k].value;
}

int mip_read_mps(const char *path, mip *model, char *error, size_t error_size) {
    complaints *heard = malloc(sizeof *heard);
    mps_crossings *crossings = calloc(1, sizeof *crossings);
    Clp_Simplex *lp = Clp_newModel();
    mps_scan file;
    int errors = -1;
    memset(model, 0, sizeof *model);
    if (!heard || !crossings) snprintf(error, error_size, "%s: out of memory", path);
    else if (mps_look_over(path, &file, error, error_size) == 0)
        errors = read_with_clp(path, &file, crossings, lp, heard, error, error_size);
    if (errors > 0 && heard->crossings.count == heard->count) { /* nothing else was wrong */
        *crossings = heard->crossings;
        Clp_deleteModel(lp);
        lp = Clp_newModel();
        errors = read_with_clp(path, &file, crossings, lp, heard, error, error_size);
    }
    if (!errors && take_model(lp, model)) {
        errors = -1;
        snprintf(error, error_size, "%s: out of memory", path);
    } else if (!errors) {
        const char *row = repeated_name(model->row_name, model->matrix.rows);
        const char *col = repeated_name(model->col_name, model->matrix.cols);
        errors = row || col;
        if (errors)
            snprintf(error, error_size, "%s: two %s are named %s", path, row ? "rows" : "columns", row ? row : col);
        else put_crossings(model, crossings);
        model->maximize = file.sense > 0;
    }
    if (errors) mip_free(model);
    Clp_deleteModel(lp);
    free(heard);
    free(crossings);
    return errors ? -1 : 0;
}
