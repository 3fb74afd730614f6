/* SPDX-License-Identifier: MIT */
#include "examples/io/mip.h"

#include <stdlib.h>
#include <string.h>

int mip_load(const char *name, mip *model, char *error, size_t error_size) {
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
    free((void *)model->matrix.col);
    free((void *)model->matrix.val);
    free(model->lhs);
    free(model->rhs);
    free(model->lb);
    free(model->ub);
    free(model->integer);
    memset(model, 0, sizeof *model);
}

gpuopt_propagator_desc mip_propagator_desc(const mip *model) {
    gpuopt_propagator_desc desc;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.matrix = model->matrix;
    desc.lhs = model->lhs;
    desc.rhs = model->rhs;
    desc.lb = model->lb;
    desc.ub = model->ub;
    desc.integer = model->integer;
    return desc;
}
