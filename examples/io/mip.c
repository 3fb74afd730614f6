/* SPDX-License-Identifier: MIT */
#include "examples/io/mip.h"

#include <stdlib.h>
#include <string.h>

int mip_load(const char *name, mip *model, char *error, size_t error_size) {
    static const char *const programs[] = {"shah:", "meyer:", "plant:"};
    size_t k;
    for (k = 0; k < sizeof programs / sizeof *programs; k++)
        if (strncmp(name, programs[k], strlen(programs[k])) == 0)
            return mip_generate_lp(name, model, error, error_size);
    return strncmp(name, "gen:", 4) == 0 ? mip_generate(name + 4, model, error, error_size)
                                         : mip_read_mps(name, model, error, error_size);
}

static void free_names(char **name, int32_t count) {
    int32_t k;
    for (k = 0; name && k < count; k++) free(name[k]);
    free(name);
}

void mip_free(mip *model) {
    free_names(model->row_name, model->matrix.rows);
    free_names(model->col_name, model->matrix.cols);
    free((void *)model->matrix.start);
    free((void *)model->matrix.index);
    free((void *)model->matrix.value);
    free((void *)model->columns.start);
    free((void *)model->columns.index);
    free((void *)model->columns.value);
    free(model->cost);
    free(model->lhs);
    free(model->rhs);
    free(model->lb);
    free(model->ub);
    free(model->integer);
    memset(model, 0, sizeof *model);
}

/* A compressed matrix of `from` vectors turned into one of `to` vectors, whose entries come in the order of `from`. */
static int transpose(int32_t from, int32_t to, const int64_t *start, const int32_t *index, const double *val,
                     const int64_t **new_start, const int32_t **new_index, const double **new_val) {
    size_t count = (size_t)start[from];
    int64_t *first = calloc((size_t)to + 2, sizeof *first), *at, k;
    int32_t *place = malloc(sizeof *place * (count + 1)), i;
    double *value = malloc(sizeof *value * (count + 1));
    *new_start = first;
    *new_index = place;
    *new_val = value;
    if (!first || !place || !value) return -1;
    for (k = 0; k < start[from]; k++) first[index[k] + 2]++;
    for (i = 0; i < to; i++) first[i + 2] += first[i + 1];
    at = first + 1; /* where each vector's next entry goes; ends up as the starts */
    for (i = 0; i < from; i++)
        for (k = start[i]; k < start[i + 1]; k++) {
            place[at[index[k]]] = i;
            value[at[index[k]]++] = val[k];
        }
    return 0;
}

int mip_rows(mip *model) {
    const gpuopt_matrix *from = &model->columns;
    gpuopt_matrix *to = &model->matrix;
    if (to->start) return 0;
    return transpose(from->cols, from->rows, from->start, from->index, from->value, &to->start, &to->index, &to->value);
}

int mip_columns(mip *model) {
    const gpuopt_matrix *from = &model->matrix;
    gpuopt_matrix *to = &model->columns;
    if (to->start) return 0;
    to->rows = from->rows;
    to->cols = from->cols;
    to->layout = GPUOPT_LAYOUT_CSC;
    return transpose(from->rows, from->cols, from->start, from->index, from->value, &to->start, &to->index, &to->value);
}

int64_t mip_nonzeros(const mip *model) {
    return model->matrix.start ? model->matrix.start[model->matrix.rows] : model->columns.start[model->columns.cols];
}

gpuopt_propagator_desc mip_propagator_desc(const mip *model) {
    gpuopt_propagator_desc desc;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.matrix = model->matrix.start ? model->matrix : model->columns;
    desc.lhs = model->lhs;
    desc.rhs = model->rhs;
    desc.lb = model->lb;
    desc.ub = model->ub;
    desc.integer = model->integer;
    return desc;
}

gpuopt_simplex_desc mip_simplex_desc(const mip *model) {
    gpuopt_simplex_desc desc;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.matrix = model->columns;
    desc.cost = model->cost;
    desc.offset = model->offset;
    desc.maximize = model->maximize;
    desc.lhs = model->lhs;
    desc.rhs = model->rhs;
    desc.lb = model->lb;
    desc.ub = model->ub;
    return desc;
}
