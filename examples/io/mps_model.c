/* SPDX-License-Identifier: MIT
 *
 * From the contents of an MPS file to a model.
 */
#include "examples/io/mps_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Names ---- */

/* Takes a name's blanks out, or puts '_' for them. */
static void without_blanks(char *name, int joined) {
    char *to = name;
    for (; *name; name++) {
        if (*name != ' ') *to++ = *name;
        else if (joined) *to++ = '_';
    }
    *to = 0;
}

static int same_names(mps_reader *r, long line, const char *name) {
    r->t->number = line;
    return mps_fail(r->t, "two names are the same but for their blanks", name);
}

/* Finds the names that are equal without their blanks. bare and owner [n->count]: such names, and the first name that
 * each belongs to; twin [n->count]: all 0. */
static int find_twins(mps_reader *r, const names *n, names *bare, int32_t *owner, char *twin) {
    int32_t k, number;
    for (k = 0; k < n->count; k++) {
        char *name = malloc(strlen(n->name[k]) + 1);
        if (!name) return mps_out_of_memory(r);
        strcpy(name, n->name[k]);
        without_blanks(name, 0);
        number = names_add(bare, name);
        if (number == NAMES_TWICE) twin[k] = twin[owner[names_find(bare, name)]] = 1;
        else if (number >= 0) owner[number] = k;
        free(name);
        if (number == NAMES_NO_MEMORY) return mps_out_of_memory(r);
    }
    return 0;
}

/* Names lose their blanks; names that are equal without them have '_' there instead. `line` is the declaration of each,
 * of a record of that size. */
static int settle_names(mps_reader *r, names *n, const long *line, size_t size) {
    names bare, settled;
    int32_t *owner = malloc(sizeof *owner * ((size_t)n->count + 1)), k;
    char *twin = calloc((size_t)n->count + 1, 1);
    int failed = 0, blanks = 0;
    memset(&bare, 0, sizeof bare);
    memset(&settled, 0, sizeof settled);
    for (k = 0; k < n->count && !blanks; k++) blanks = strchr(n->name[k], ' ') != NULL;
    if (!owner || !twin) failed = mps_out_of_memory(r);
    else if (blanks) failed = find_twins(r, n, &bare, owner, twin);
    for (k = 0; k < n->count && blanks && !failed; k++) {
        int32_t number;
        without_blanks(n->name[k], twin[k]);
        number = names_add(&settled, n->name[k]);
        if (number == NAMES_NO_MEMORY) failed = mps_out_of_memory(r);
        else if (number < 0) failed = same_names(r, *(const long *)((const char *)line + size * (size_t)k), n->name[k]);
    }
    names_free(&bare);
    names_free(&settled);
    free(owner);
    free(twin);
    return failed;
}

/* ---- The model ---- */

static int allocate_model(mps_reader *r, mip *model) {
    size_t n = (size_t)r->cols.count, m = (size_t)r->model_rows;
    model->matrix.rows = model->columns.rows = r->model_rows;
    model->matrix.cols = model->columns.cols = r->cols.count;
    model->columns.layout = GPUOPT_LAYOUT_CSC;
    model->columns.start = malloc(sizeof(int64_t) * (n + 1));
    model->columns.index = r->index ? r->index : calloc(1, sizeof *r->index);
    model->columns.value = r->value ? r->value : calloc(1, sizeof *r->value);
    r->index = NULL;
    r->value = NULL;
    model->cost = malloc(sizeof(double) * (n + 1));
    model->lb = malloc(sizeof(double) * (n + 1));
    model->ub = malloc(sizeof(double) * (n + 1));
    model->lhs = malloc(sizeof(double) * (m + 1));
    model->rhs = malloc(sizeof(double) * (m + 1));
    model->integer = malloc(n + 1);
    model->row_name = calloc(m + 1, sizeof(char *));
    model->col_name = calloc(n + 1, sizeof(char *));
    return model->columns.start && model->columns.index && model->columns.value && model->cost && model->lb &&
                   model->ub && model->lhs && model->rhs && model->integer && model->row_name && model->col_name
               ? 0
               : mps_out_of_memory(r);
}

int mps_make_model(mps_reader *r, mip *model) {
    int64_t *start;
    int32_t k;
    if (allocate_model(r, model) || settle_names(r, &r->rows, r->row ? &r->row->line : NULL, sizeof *r->row) ||
        settle_names(r, &r->cols, r->col ? &r->col->line : NULL, sizeof *r->col))
        return -1;
    model->offset = r->offset;
    model->maximize = r->sense > 0;
    start = (int64_t *)model->columns.start;
    start[r->cols.count] = r->entries;
    for (k = 0; k < r->cols.count; k++) {
        start[k] = r->col[k].first;
        model->cost[k] = r->col[k].cost;
        model->lb[k] = r->col[k].lb;
        model->ub[k] = r->col[k].integer && !r->col[k].has_bound ? 1 : r->col[k].ub;
        model->integer[k] = r->col[k].integer;
        model->col_name[k] = names_take(&r->cols, k);
    }
    for (k = 0; k < r->rows.count; k++) {
        int32_t i = r->row[k].index;
        if (i < 0) continue;
        mps_set_sides(&r->row[k], &model->lhs[i], &model->rhs[i]);
        model->row_name[i] = names_take(&r->rows, k);
    }
    return mip_rows(model) ? mps_out_of_memory(r) : 0;
}

static int same_numbers(const double *a, const double *b, int64_t count) {
    return memcmp(a, b, sizeof *a * (size_t)count) == 0;
}

int mps_same_model(const mip *a, const mip *b) {
    const int32_t n = a->columns.cols, m = a->columns.rows;
    const int64_t *start = a->columns.start;
    return n == b->columns.cols && m == b->columns.rows &&
           memcmp(start, b->columns.start, sizeof *start * ((size_t)n + 1)) == 0 &&
           memcmp(a->columns.index, b->columns.index, sizeof(int32_t) * (size_t)start[n]) == 0 &&
           same_numbers(a->columns.value, b->columns.value, start[n]) && same_numbers(a->cost, b->cost, n) &&
           same_numbers(a->lb, b->lb, n) && same_numbers(a->ub, b->ub, n) && same_numbers(a->lhs, b->lhs, m) &&
           same_numbers(a->rhs, b->rhs, m) && memcmp(a->integer, b->integer, (size_t)n) == 0 &&
           same_numbers(&a->offset, &b->offset, 1) && a->maximize == b->maximize;
}
