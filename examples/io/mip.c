/* SPDX-License-Identifier: MIT */
#include "examples/io/mip.h"

#include <math.h>
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

/* Turns a compressed matrix of `from` vectors into one of `to` vectors, with their entries in the order of `from`. */
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

/* Whether a row is an equation that forces its only continuous column, *col, to be an integer in every solution. */
static int implies_integer(const mip *model, int32_t i, int32_t *col) {
    const gpuopt_matrix *a = &model->matrix;
    int64_t k, alone = -1;
    if (model->lhs[i] != model->rhs[i]) return 0;
    for (k = a->start[i]; k < a->start[i + 1]; k++)
        if (!model->integer[a->index[k]]) {
            if (alone >= 0) return 0;
            alone = k;
        }
    if (alone < 0 || fmod(model->rhs[i], a->value[alone]) != 0) return 0;
    for (k = a->start[i]; k < a->start[i + 1]; k++)
        if (fmod(a->value[k], a->value[alone]) != 0) return 0;
    *col = a->index[alone];
    return 1;
}

double mip_cost_unit(const mip *model) {
    int32_t cols = model->matrix.cols, i, j;
    double unit = 0;
    uint8_t *integer = model->cost && model->integer ? calloc((size_t)cols + 1, 1) : NULL;
    if (!integer) return 0;
    for (i = 0; i < model->matrix.rows; i++)
        if (implies_integer(model, i, &j)) integer[j] = 1;
    for (j = 0; j < cols; j++) {
        double a = fabs(model->cost[j]), rest;
        if (a == 0) continue;
        unit = (integer[j] || model->integer[j]) && a == floor(a) && a <= 1e9 ? unit : -1;
        if (unit < 0) break;
        for (; unit > 0; rest = fmod(a, unit), a = unit, unit = rest) {} /* Euclid; the divisor ends up in a */
        unit = a;
    }
    free(integer);
    return fmax(unit, 0);
}
